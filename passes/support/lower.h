/* What the passes between the local form and LLVM share: the function being lowered, its sites, and
 * small builders.
 *
 * A site is a place where the program calls the runtime (tprt/abi.h). While a function is lowered
 * its sites are kept as attributes of the function: tp.sites holds the words of one tprt_abi_site
 * each, tp.extra their extra data; `extra` of a site counts from the start of tp.extra.
 * tp-assign-buffers turns both into the program table. */
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
  MlirValue device; /* number of this device, made on first use */
  MlirType ptr, i32, i64, index;
  tp__words sites, extra;
  bool no_memory; /* sticky, reported once at the end */
} tp__lowering;

/* Starts on `func`, whose sites so far are read from its attributes. ctx is its first argument when
 * it has one of pointer type. */
void tp__lowering_begin(tp__lowering *l, MlirOperation module, MlirOperation func);
/* Writes the sites to the function's attributes and frees. */
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
/* Calls the runtime function `callee`, declared in the module on first use. A null `result` type:
 * no result. */
MlirValue tp__build_call(tp__lowering *l, MlirOperation where, const char *callee, int n_operands,
                         const MlirValue *operands, MlirType result);
/* The address of the first element of a memref, as !llvm.ptr. */
MlirValue tp__build_pointer(tp__lowering *l, MlirOperation where, MlirValue memref);
/* Number of this device in the mesh, index type. */
MlirValue tp__build_device(tp__lowering *l, MlirOperation where);
/* Rank of this device in the group over `axes`, row-major in their order, index type. */
MlirValue tp__build_group_rank(tp__lowering *l, MlirOperation where, int n_axes, const int *axes);
/* Replaces all uses of the op's only result and erases it. */
void tp__replace_op(MlirOperation op, MlirValue with);

/* What a call of the runtime does. Starting and waiting, like running both at once, is for
 * collectives; all of them name a site. */
typedef enum tp__call {
  TP_CALL_NONE, /* no call, or of something else */
  TP_CALL_COLLECTIVE,
  TP_CALL_CONTRACT,
  /* a fused site: context, site, inputs, outputs; see tp__fused_callee */
  TP_CALL_FUSED,
  TP_CALL_ENTER,
  TP_CALL_QUERY,  /* tells something that stays the same */
  TP_CALL_DEVICE, /* has a GPU do something; of programs that are no longer changed */
} tp__call;
tp__call tp__runtime_call(MlirOperation op);
/* Until tp-return-errors, a call of a fused site passes each pointer as an operand: its callee is
 * "tprt_abi_fused.INPUTS.OUTPUTS", with their numbers. Then it becomes a call of tprt_abi_fused,
 * which takes them in arrays. Writes the name. */
enum { TP_FUSED_NAME = 32 };
void tp__fused_callee(int n_inputs, int n_outputs, char name[TP_FUSED_NAME]);
/* The numbers that such a callee states. */
bool tp__fused_counts(MlirStringRef callee, int *n_inputs, int *n_outputs);
/* Of a TP_CALL_FUSED; it reads all inputs before it writes. */
int tp__fused_outputs(MlirOperation call);
/* The number of its site, if it is a constant. */
bool tp__call_site(MlirOperation call, int64_t *site);

/* ---- sites on tensors ---- */
/* Starts a site of `kind` that sends a tensor of type `input`, in groups over `axes`: type and
 * shape. */
tp_status tp__site_begin(MlirOperation op, tprt_site_kind kind, int n_axes, const int *axes,
                         MlirType input, tprt_abi_site *site);
/* Calls the runtime for it before `op`; the value is what it receives. The receive buffer is a
 * memref.alloc of its own that becomes the value by to_tensor restrict; the send buffer is what
 * bufferization gives for `input` (to_buffer read_only directly before the call, so that the
 * analysis sees the read where it happens). */
MlirValue tp__site_call(tp__lowering *l, MlirOperation op, const tprt_abi_site *site, int n_extra,
                        const int64_t *extra, MlirValue input, MlirType result);
/* The parts of such a call: the address of what is sent; a new buffer, its address and, behind the
 * call, its value. */
MlirValue tp__site_send(tp__lowering *l, MlirOperation op, MlirValue input);
MlirValue tp__site_receive(tp__lowering *l, MlirOperation op, MlirType result, MlirValue *buffer);
MlirValue tp__site_value(tp__lowering *l, MlirOperation op, MlirType result, MlirValue buffer);

/* ---- tables ---- */
/* 0 when the runtime has no such type. */
tprt_dtype tp__runtime_dtype(MlirType element);
/* 0 when the reduction is not defined for the type. */
tprt_reduction tp__runtime_reduction(tp_combiner combiner, tprt_dtype dtype);

/* ---- the rewrites, by subject ---- */
/* Each rewrites `op` if it is one of its ops. */
tp_status tp__lower_collective(tp__lowering *l, MlirOperation op, bool *done); /* of groups */
/* calls of permutes */
tp_status tp__lower_permute(tp__lowering *l, MlirOperation op, bool *done);
/* calls of what tp-fuse-collectives wrote */
tp_status tp__lower_fused(tp__lowering *l, MlirOperation op, bool *done);
/* Is it the call of a function of tp-fuse-epilogues? */
bool tp__is_fused_product(MlirOperation module, MlirOperation op);
/* Does it ask for the place of the device? */
bool tp__is_index(MlirOperation op);
tp_status tp__lower_index(tp__lowering *l, MlirOperation op);

/* A visitor: a slice either has strides or drops dimensions. */
tp_status tp__split_slice(MlirOperation op, void *data);
/* A visitor: what enters a loop or leaves a region of one or of a branch is no slice of something
 * else, but a copy. */
tp_status tp__densify_carried(MlirOperation op, void *data);

/* Refuses a collective under control flow that may differ between the devices of its group. */
tp_status tp__check_uniform(MlirOperation func, const tp_mesh *mesh);

/* Public functions with a body: what becomes a program. Calls `visit` for each. */
tp_status tp__each_entry(MlirOperation module, tp_status (*visit)(MlirOperation func, void *data),
                         void *data);

#endif
