/* Shared by the passes that lower per-device programs to LLVM: the function being lowered, its
 * sites, and small builders.
 *
 * A site is a place where the program calls the runtime (tprt/abi.h). While a function is lowered,
 * its sites are kept as attributes of the function: tp.sites holds the words of one tprt_abi_site
 * per site, tp.extra the extra data of all sites; `extra` of a site counts from the start of
 * tp.extra. tp-assign-buffers turns both into the program table. */
#ifndef TP_PASSES_LOWER_H
#define TP_PASSES_LOWER_H

#include "ir/annotation.h"
#include "tp/mesh.h"
#include "tprt/abi.h"

typedef struct tp__words {
  int64_t *items;
  size_t n, capacity;
} tp__words;

typedef struct tp__lowering {
  MlirOperation module, func;
  MlirContext context;
  tp_mesh mesh;
  MlirValue ctx;    /* the runtime context: first argument of func */
  MlirValue device; /* number of this device, created on first use */
  MlirType ptr, i32, i64, index;
  tp__words sites, extra;
  bool no_memory; /* sticky, reported once at the end */
} tp__lowering;

/* Starts lowering `func` and reads its existing sites from its attributes. Sets ctx to the first
 * argument if that has pointer type. */
void tp__lowering_begin(tp__lowering *l, MlirOperation module, MlirOperation func);
/* Writes the sites to the function's attributes and frees memory. */
tp_status tp__lowering_end(tp__lowering *l);

/* Appends a site with n_extra words of extra data; returns its number. */
int tp__lowering_site(tp__lowering *l, const tprt_abi_site *site, int n_extra,
                      const int64_t *extra);

/* ---- builders; all insert before `where` ---- */
MlirOperation tp__build(MlirOperation where, const char *name, int n_operands,
                        const MlirValue *operands, int n_results, const MlirType *results,
                        int n_attributes, const MlirNamedAttribute *attributes);
MlirValue tp__build_one(MlirOperation where, const char *name, int n_operands,
                        const MlirValue *operands, MlirType result);
MlirValue tp__build_int(MlirOperation where, MlirType type, int64_t value);
/* Calls the runtime function `callee`, and declares it in the module on first use. A null `result`
 * type means no result. */
MlirValue tp__build_call(tp__lowering *l, MlirOperation where, const char *callee, int n_operands,
                         const MlirValue *operands, MlirType result);
/* Returns the address of the first element of a memref, as !llvm.ptr. */
MlirValue tp__build_pointer(tp__lowering *l, MlirOperation where, MlirValue memref);
/* Returns the number of this device in the mesh, of index type. */
MlirValue tp__build_device(tp__lowering *l, MlirOperation where);
/* Returns the rank of this device in the group over `axes`, row-major in their order, of index
 * type. */
MlirValue tp__build_group_rank(tp__lowering *l, MlirOperation where, int n_axes, const int *axes);
/* Views dimension `dim` of a memref as two, n_parts parts and their elements; dim -1 returns the
 * memref itself. n_parts divides the dimension, and the memref has static sizes and strides. */
MlirValue tp__build_parts(MlirOperation where, MlirValue memref, int dim, int64_t n_parts);
/* Replaces all uses of the op's only result and erases the op. */
void tp__replace_op(MlirOperation op, MlirValue with);

/* Kinds of runtime calls. Start and wait calls count as collectives, like calls that run a whole
 * collective. All collectives have a site. */
typedef enum tp__call {
  TP_CALL_NONE, /* not a call of the runtime */
  TP_CALL_COLLECTIVE,
  TP_CALL_CONTRACT,
  /* a collective or contraction fused with adjacent ops; operands: context, site, inputs, outputs;
   * pointers may be NULL */
  TP_CALL_FUSED,
  TP_CALL_ENTER,
  TP_CALL_QUERY,  /* returns a value that does not change during a run */
  TP_CALL_DEVICE, /* controls a GPU; occurs only in programs that are no longer transformed */
} tp__call;
tp__call tp__runtime_call(MlirOperation op);
/* Writes the name of the callee that fused sites use until tp-return-errors:
 * "tprt_abi_fused.INPUTS.OUTPUTS", with the numbers of inputs and outputs. Such a call passes each
 * pointer as an operand. tp-return-errors replaces it by a call of tprt_abi_fused, which takes the
 * pointers in arrays. */
enum { TP_FUSED_NAME = 32 };
void tp__fused_callee(int n_inputs, int n_outputs, char name[TP_FUSED_NAME]);
/* Reads both numbers from such a name. False if the name has another form. */
bool tp__fused_counts(MlirStringRef callee, int *n_inputs, int *n_outputs);
/* Returns the number of outputs of such a call; 0 for other calls. For dependence analysis, the
 * call reads all inputs before it writes outputs. */
int tp__fused_outputs(MlirOperation call);
/* Gets the site number of a call. False if it is not a constant. */
bool tp__call_site(MlirOperation call, int64_t *site);

/* ---- sites on tensors ---- */
/* Starts a site of `kind` that sends a tensor of type `input`, in groups over `axes`. Fills in
 * element type and shape. */
tp_status tp__site_begin(MlirOperation op, tprt_site_kind kind, int n_axes, const int *axes,
                         MlirType input, tprt_abi_site *site);
/* Calls the runtime for a site before `op`; returns the received tensor. The receive buffer is a
 * new memref.alloc that becomes the tensor by to_tensor restrict. The send buffer is whatever
 * bufferization assigns to `input`: to_buffer read_only stands directly before the call, so that
 * the analysis sees the read where it happens. */
MlirValue tp__site_call(tp__lowering *l, MlirOperation op, const tprt_abi_site *site, int n_extra,
                        const int64_t *extra, MlirValue input, MlirType result);
/* The parts of such a call. send returns the address of the sent data. receive creates a buffer and
 * returns its address. value, called after the call has been built, returns the buffer as a
 * tensor. */
MlirValue tp__site_send(tp__lowering *l, MlirOperation op, MlirValue input);
MlirValue tp__site_receive(tp__lowering *l, MlirOperation op, MlirType result, MlirValue *buffer);
MlirValue tp__site_value(tp__lowering *l, MlirOperation op, MlirType result, MlirValue buffer);

/* ---- tables ---- */
/* Returns 0 if the runtime has no such type. */
tprt_dtype tp__runtime_dtype(MlirType element);
/* Returns TPRT_NO_REDUCTION (0) if the reduction is not defined for the type. */
tprt_reduction tp__runtime_reduction(tp_combiner combiner, tprt_dtype dtype);

/* ---- rewrites, by subject ---- */
/* Each one rewrites `op` if it handles it, and sets *done. */
/* group collectives */
tp_status tp__lower_collective(tp__lowering *l, MlirOperation op, bool *done);
/* permutes */
tp_status tp__lower_permute(tp__lowering *l, MlirOperation op, bool *done);
/* exchanges of rows */
tp_status tp__lower_route(tp__lowering *l, MlirOperation op, bool *done);
/* Replaces a call by a runtime call for fused site `site` with n_extra words of extra data. The
 * extra data begin with tprt_abi_operands, which this function fills in: input_of and output_of
 * give the role of each operand and result of the call, of which there are at most TPRT_MAX_INPUTS
 * and TPRT_MAX_OUTPUTS. */
tp_status tp__fused_call_site(tp__lowering *l, MlirOperation op, const tprt_abi_site *site,
                              int n_extra, int64_t *extra, const tprt_operand *input_of,
                              const tprt_operand *output_of);
/* The operands of a fused site, by role. */
typedef struct tp__site_operands {
  int n_inputs, n_outputs;
  MlirValue inputs[TPRT_MAX_INPUTS];
  MlirType outputs[TPRT_MAX_OUTPUTS];
  tprt_operand input_of[TPRT_MAX_INPUTS], output_of[TPRT_MAX_OUTPUTS];
} tp__site_operands;
/* Builds the same call in front of `where`; fills in the results. */
void tp__fused_build_site(tp__lowering *l, MlirOperation where, const tprt_abi_site *site,
                          int n_extra, int64_t *extra, const tp__site_operands *operands,
                          MlirValue *results);
/* Lowers products[0], a call of a function that has tp.fused and does not communicate. Of the n - 1
 * other ones, products with an epilogue that may run beside it are lowered with it; these entries
 * become null. */
tp_status tp__lower_fused_product(tp__lowering *l, size_t n, MlirOperation *products);
/* calls of functions that have tp.fused */
tp_status tp__lower_fused(tp__lowering *l, MlirOperation op, bool *done);
/* True if the op calls a function of tp-fuse-epilogues or tp-fuse-attention, which do not
 * communicate. */
bool tp__is_fused_compute(MlirOperation module, MlirOperation op);
/* True if the op queries the position of the device. */
bool tp__is_index(MlirOperation op);
tp_status tp__lower_index(tp__lowering *l, MlirOperation op);

/* A visitor: splits a slice that both has strides and drops dimensions into two. */
tp_status tp__split_slice(MlirOperation op, void *data);
/* A visitor: copies slices that enter a loop or leave a region of a loop or branch, so that no
 * carried value is a slice of another one. */
tp_status tp__densify_carried(MlirOperation op, void *data);
/* own_slices.c: copies slices that outlive the tensor they are cut from. */
tp_status tp__own_slices(MlirOperation func);

/* Rejects a collective under control flow that may differ between the devices of its group. */
tp_status tp__check_uniform(MlirOperation func, const tp_mesh *mesh);

/* Returns the name that the source gave to a function. tp-lower-to-runtime renames a function whose
 * name is reserved (ir/symbols.h) to tp.entry.NAME. */
MlirStringRef tp__entry_name(MlirOperation func);

/* Calls `visit` for each public function with a body; these become programs. */
tp_status tp__each_entry(MlirOperation module, tp_status (*visit)(MlirOperation func, void *data),
                         void *data);

#endif
