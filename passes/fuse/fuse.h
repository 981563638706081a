/* Shared declarations of tp-fuse-collectives: a reduction over devices and the row operations fused
 * with it. */
#ifndef TP_PASSES_FUSE_H
#define TP_PASSES_FUSE_H

#include "passes/fuse/rows/row_norm.h"
#include "passes/fuse/rows/row_quantize.h"
#include "passes/support/fused_func.h"

#include "ir/annotation.h"

/* ---- fusing one collective ---- */

typedef enum tp__fuse_outcome {
  TP_FUSE_NO_CANDIDATE, /* no candidate for fusion */
  TP_FUSE_DONE,
  TP_FUSE_WITH_MATMUL, /* a reduction, together with the matmul that produces its operand */
  TP_FUSE_SLOWER,      /* slower than unfused, by the cost model */
  TP_FUSE_BLOCKED,     /* prevented by another obstacle */
} tp__fuse_outcome;

typedef struct tp__fuser {
  MlirOperation module;
  tp_mesh mesh;
  tp_topology topology;
  bool always;
  tp__rows rows; /* scratch: row expressions of the current collective */
  char name[32]; /* name of the next function */
} tp__fuser;

/* Outlines a collective and the ops around it to a function and calls it. A remark reports the
 * predicted times or the obstacle. `op` is one of:
 *   - a shard.all_reduce or shard.reduce_scatter that sums rows: fused with the row ops that use
 *     its result, such as a residual or a norm (fuse_sum.c);
 *   - a shard.all_reduce with another reduction: if it computes the max of rows, fused with the
 *     rest of their softmax (fuse_softmax.c);
 *   - a shard.all_gather of rows: fused with the matmuls that read them (fuse_gather.c). */
tp_status tp__fuse_sum(tp__fuser *fuser, MlirOperation op, tp__fuse_outcome *outcome);
tp_status tp__fuse_softmax(tp__fuser *fuser, MlirOperation op, tp__fuse_outcome *outcome);
tp_status tp__fuse_gather(tp__fuser *fuser, MlirOperation op, tp__fuse_outcome *outcome);

/* True if the collective is a sum. */
bool tp__is_sum(MlirOperation op);

/* True for the element types that fused kernels and products read and write. In fuse_sum.c. */
bool tp__is_kernel_type(MlirType element);

/* ---- sums of rows ---- */

/* The matmul that produces the summed rows, if there is one: a [tokens, k] b [k, hidden]. */
typedef struct tp__matmul {
  MlirOperation op; /* null: none */
  MlirValue a, b;
  bool transpose_b; /* b is stored as [hidden, k] */
  int64_t k;
  /* why the matmul cannot run in slices; NULL: it can, and a, b and k are set */
  const char *obstacle;
  bool is_fused;
} tp__matmul;

enum { TP_FUSED_OPERANDS = 8 }; /* input or a and b, residual, bias, gamma, beta, static_scale */

/* Results of a kernel, in the order of the function's results. */
typedef enum tp__fused_result {
  TP_RESULT_SUM,       /* r = root + bias + residual, residual_out */
  TP_RESULT_OUT,       /* y, out */
  TP_RESULT_QUANTIZED, /* q, quantized y */
  TP_RESULT_SCALE,
  TP_FUSED_RESULTS
} tp__fused_result;

typedef struct tp__fusion_output {
  bool is_made;    /* a remaining op reads it, or the kernel always computes it */
  MlirValue value; /* the program's value for it; null if the program has none */
  MlirOperation
      /* the only reader, an all-gather that undoes the reduce-scatter; null: not gathered. Either
       * all results except r are gathered, or none is */
      gather;
} tp__fusion_output;

typedef struct tp__fusion {
  MlirOperation collective; /* shard.all_reduce or shard.reduce_scatter with a sum */
  int dim;                  /* dimension that the reduce-scatter cuts; -1 for an all-reduce */
  const tp_mesh *mesh;
  int n_axes, axes[TP_MAX_AXES]; /* axes of the group with more than one device */
  /* the reduced value: the collective's result in the shape that the program uses afterwards */
  MlirValue root;
  tp__row_sum sum;               /* r = root + bias + residual */
  tp__row_norm norm;             /* y; y is r if there is no norm */
  tp__row_quantization quantize; /* q, computed from y */
  tp__fusion_output made[TP_FUSED_RESULTS];
  /* why gathered results are not gathered by the kernel; NULL: none is gathered, or all are */
  const char *gather_obstacle;
  tp_fused_price price;
  tp__matmul matmul;
} tp__fusion;

/* Returns the number of devices in the group. */
int64_t tp__fusion_devices(const tp__fusion *fusion);
/* Returns the number of contiguous pieces that one index range of dimension `dim` occupies in a
 * tensor. */
int64_t tp__n_pieces(MlirValue value, int dim);

/* ---- fuse_rows.c ---- */
/* Finds the sum, norm and quantization after the root of a fusion, and their values. tp__rows_begin
 * has been called for the root. */
void tp__find_fused_rows(tp__rows *rows, tp__fusion *fusion);
/* Does the kernel compute scales? */
bool tp__computes_scales(const tp__fusion *fusion);

/* ---- fuse_uses.c ---- */
/* Finds ops of `rows` that are dead once the fusion provides its results. `dead` has TP_ROW_OPS
 * entries. */
void tp__find_dead(const tp__rows *rows, const tp__fusion *fusion, bool *dead);
/* True if every use of `value` is by a dead op. */
bool tp__is_read_by_dead(const tp__rows *rows, const bool *dead, MlirValue value);
/* Decides which results the function returns and which of them it gathers. Updates `dead`
 * accordingly. */
void tp__find_outputs(const tp__rows *rows, tp__fusion *fusion, bool *dead);
/* Erases dead ops, the collective and, if it is fused, the matmul that produced its operand. */
void tp__erase_fused(const tp__rows *rows, const bool *dead, const tp__fusion *fusion);
/* Brings what the function reads in front of `where`; false where that cannot be. */
bool tp__move_operands(const tp__rows *rows, const tp__fusion *fusion, MlirOperation where);
/* Ops that a value needs are moved in front of `where`, if they stand behind it; false where one of
 * them may not be moved, as those of `rows` (may be NULL) and what is made of `where` itself. */
bool tp__move_before(MlirOperation where, const tp__rows *rows, MlirValue value, int depth);

/* ---- fuse_product.c ---- */
/* Matches a contraction as a matmul of rows and a matrix. Sets product->obstacle if it is not, or
 * if it cannot run in slices of slice_rows rows of the left operand. */
void tp__read_matmul(MlirOperation op, int64_t slice_rows, tp__matmul *matmul);
/* Looks for a matmul before a fusion that runs in slices and decides whether to fuse it too. If so,
 * updates `rows` and the price to include it; else a remark gives the reason. */
void tp__add_matmul(tp__fusion *fusion, const tp_topology *topology, bool always,
                    tp_fused_rows *rows);
/* Erases the matmul and the reshapes after it, which are now unused. `rows` was the operand of the
 * collective, which has been erased. */
void tp__erase_matmul(const tp__fusion *fusion, MlirValue rows);

/* ---- fuse_outline.c ---- */
MlirAttribute tp__fused_axes(MlirContext context, const tp_mesh *mesh, int n, const int *axes);

/* Builds the function `name` that computes the fusion, calls it before `where`, and replaces all
 * uses of the results by those of the call. The caller erases the ops that become unused. */
void tp__outline_fusion(MlirOperation module, const char *name, MlirOperation where,
                        const tp__fusion *fusion);

#endif
