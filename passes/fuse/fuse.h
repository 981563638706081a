/* What the files of tp-fuse-collectives share: a sum over devices and what is fused with it. */
#ifndef TP_PASSES_FUSE_H
#define TP_PASSES_FUSE_H

#include "passes/fuse/rows/row_norm.h"
#include "passes/fuse/rows/row_quantize.h"

#include "ir/annotation.h"

/* ---- one collective after the other ---- */

typedef enum tp__fuse_outcome {
  TP_FUSE_NOTHING, /* it is none that is fused with anything */
  TP_FUSE_DONE,
  TP_FUSE_WITH_PRODUCT, /* a sum with the product in front of it */
  TP_FUSE_SLOWER,       /* by the model */
  TP_FUSE_OTHER,        /* something stands in the way */
} tp__fuse_outcome;

typedef struct tp__fuser {
  MlirOperation module;
  tp_mesh mesh;
  tp_topology topology;
  bool always;
  tp__rows rows; /* room */
  char name[32]; /* of the next function */
} tp__fuser;

/* Makes a function of a collective of a program and what is done with it, and calls it; a remark
 * says the times, or what stands in the way. `op` is
 *   a shard.all_reduce or shard.reduce_scatter of a sum, of rows: with what is done to them
 *     (fuse_sum.c);
 *   the shard.all_reduce of another reduction: if it is the largest of rows, with the rest of their
 *     softmax (fuse_softmax.c);
 *   a shard.all_gather of rows: with the products of them (fuse_gather.c). */
tp_status tp__fuse_sum(tp__fuser *fuser, MlirOperation op, tp__fuse_outcome *outcome);
tp_status tp__fuse_softmax(tp__fuser *fuser, MlirOperation op, tp__fuse_outcome *outcome);
tp_status tp__fuse_gather(tp__fuser *fuser, MlirOperation op, tp__fuse_outcome *outcome);

/* Does a collective add? */
bool tp__is_sum(MlirOperation op);

/* True for the element types that fused kernels and products read and write. In fuse_sum.c. */
bool tp__is_kernel_type(MlirType element);

/* ---- sums of rows ---- */

/* What makes the rows that are summed, if it is a product of matrices: a [tokens, k] b [k,
 * hidden]. */
typedef struct tp__product {
  MlirOperation op; /* null: none */
  MlirValue a, b;
  bool transpose_b; /* b is stored [hidden, k] */
  int64_t k;
  const char *obstacle; /* why it is not done in slices; NULL: nothing. Then a, b and k are set */
  bool is_fused;
} tp__product;

enum { TP_FUSED_OPERANDS = 8 }; /* input or a and b, residual, bias, gamma, beta, static_scale */

/* What a kernel makes, in the order of the function's results. */
typedef enum tp__fused_result {
  TP_RESULT_SUM,       /* r, residual_out */
  TP_RESULT_OUT,       /* y */
  TP_RESULT_QUANTIZED, /* q */
  TP_RESULT_SCALE,
  TP_FUSED_RESULTS
} tp__fused_result;

typedef struct tp__made {
  bool is_made;    /* it is read by something that stays, or kernels always make it */
  MlirValue value; /* of the program; null where it has none of them */
  MlirOperation
      /* all that reads it: what undoes the reduce_scatter; null: it is not gathered. All but r are,
       * or none */
      gather;
} tp__made;

typedef struct tp__fusion {
  MlirOperation collective; /* shard.all_reduce or shard.reduce_scatter of a sum */
  int dim;                  /* that the reduce_scatter cuts; -1 */
  const tp_mesh *mesh;
  int n_axes, axes[TP_MAX_AXES]; /* of the group, those of more than one device */
  /* the sum over devices: the collective's result, in the shape in which the program goes on */
  MlirValue root;
  tp__row_sum sum;               /* r = root + bias + residual */
  tp__row_norm norm;             /* y; r without norm */
  tp__row_quantization quantize; /* q, of y */
  tp__made made[TP_FUSED_RESULTS];
  /* why results that are gathered are not gathered here; NULL: none is, or all are */
  const char *gather_obstacle;
  tp_fused_price price;
  tp__product product;
} tp__fusion;

/* Devices of the group. */
int64_t tp__fusion_devices(const tp__fusion *fusion);
/* The number of pieces in which a dimension of a tensor lies. */
int64_t tp__n_pieces(MlirValue value, int dim);

/* ---- fuse_rows.c ---- */
/* Finds sum, norm and quantization behind the root of a fusion, whose rows are begun, and their
 * values. */
void tp__find_fused_rows(tp__rows *rows, tp__fusion *fusion);
/* Does the kernel compute scales? */
bool tp__makes_scales(const tp__fusion *fusion);

/* ---- fuse_uses.c ---- */
/* Which ops of rows nobody needs when the values of the results come from the fusion: TP_ROW_OPS of
 * them. */
void tp__find_dead(const tp__rows *rows, const tp__fusion *fusion, bool *dead);
/* Is every use of `value` by one of the dead ops? */
bool tp__is_read_by_dead(const tp__rows *rows, const bool *dead, MlirValue value);
/* Decides which results are made and which of them are gathered; `dead` as of then. */
void tp__find_made(const tp__rows *rows, tp__fusion *fusion, bool *dead);
/* Erases dead ops, the collective and, with the product, what made its operand. */
void tp__erase_fused(const tp__rows *rows, const bool *dead, const tp__fusion *fusion);
/* Brings what the function reads in front of `where`; false where that cannot be. */
bool tp__move_operands(const tp__rows *rows, const tp__fusion *fusion, MlirOperation where);
/* Ops that a value needs are moved in front of `where`, if they stand behind it; false where one of
 * them may not be moved, as those of `rows` (may be NULL) and what is made of `where` itself. */
bool tp__move_before(MlirOperation where, const tp__rows *rows, MlirValue value, int depth);

/* ---- fuse_product.c ---- */
/* A contraction as a product of `left` and a matrix; its obstacle, if it is none that is done in
 * slices of slice_rows rows of the left one. */
void tp__read_product(MlirOperation op, int64_t slice_rows, tp__product *product);
/* Looks for a product in front of a fusion in slices and decides whether it becomes part of it;
 * then `rows` and the price are those of both. Else a remark says why not. */
void tp__add_product(tp__fusion *fusion, const tp_topology *topology, bool always,
                     tp_fused_rows *rows);
/* Erases the product, and reshapes of it, that nobody reads any more; `rows` was the operand of the
 * collective, which is gone. */
void tp__erase_product(const tp__fusion *fusion, MlirValue rows);

/* ---- fuse_outline.c ---- */
/* A private function with tp.fused, its body empty. */
void tp__build_fused_func(MlirOperation module, const char *name, MlirLocation location,
                          MlirAttribute fused, int n_inputs, const MlirType *inputs, int n_results,
                          const MlirType *results, MlirBlock *block);
MlirAttribute tp__fused_axes(MlirContext context, const tp_mesh *mesh, int n, const int *axes);
MlirAttribute tp__fused_names(MlirContext context, int n, const char *const *names);

/* Makes the function `name` of the module that computes the fusion, and calls it in front of
 * `where`; every use of the results is one of the call's then. What is left without a use is the
 * caller's affair. */
void tp__outline_fusion(MlirOperation module, const char *name, MlirOperation where,
                        const tp__fusion *fusion);

#endif
