/* What the files of tp-fuse-collectives share: a sum over devices and what is fused with it. */
#ifndef TP_PASSES_FUSE_H
#define TP_PASSES_FUSE_H

#include "passes/row_norm.h"
#include "passes/row_quantise.h"

#include "ir/annotation.h"

/* What makes the rows that are summed, if it is a product of matrices: a [tokens, k] b [k, hidden]. */
typedef struct tp__product {
  MlirOperation op; /* null: none */
  MlirValue a, b;
  bool transpose_b; /* b is stored [hidden, k] */
  int64_t k;
  const char *obstacle; /* why it is not done in slices; NULL: nothing. Then a, b and k are set */
  bool is_fused;
} tp__product;

typedef struct tp__fusion {
  MlirOperation collective; /* shard.all_reduce or shard.reduce_scatter of a sum */
  int dim;                  /* that the reduce_scatter cuts; -1 */
  const tp_mesh *mesh;
  int n_axes, axes[TP_MAX_AXES]; /* of the group, those of more than one device */
  MlirValue root;                /* the sum over devices: the collective's result, in the shape in which the program goes on */
  tp__row_sum sum;               /* r = root + bias + residual */
  MlirValue sum_value;           /* r */
  tp__row_norm norm;
  MlirValue norm_value;          /* y; null without norm */
  MlirOperation gather;          /* of y, or of r without norm, along `dim` over the same devices; null: none */
  bool keeps_sum;                /* r is used elsewhere, too */
  tp__row_quantisation quantise; /* of y, or of r without norm; then there is no gather and no product */
  MlirValue quantised_value;
  MlirValue scale_value; /* computed: null where no tensor has it */
  bool keeps_out;        /* y, or r without norm, is used elsewhere, too; always without quantisation */
  tp_fused_price price;
  tp__product product;
} tp__fusion;

enum { TP_FUSED_OPERANDS = 8 }; /* input or a and b, residual, bias, gamma, beta, static_scale */
enum { TP_FUSED_RESULTS = 4 };  /* residual_out, out, quantised, scale */

/* Does the kernel compute scales? */
bool tp__makes_scales(const tp__fusion *fusion);
/* Devices of the group. */
int64_t tp__fusion_devices(const tp__fusion *fusion);
/* The number of pieces in which a dimension of a tensor lies. */
int64_t tp__n_pieces(MlirValue value, int dim);

/* Ops that a value needs are moved in front of `where`, if they stand behind it; false where one of them may not be moved, as those of `rows` (may be
 * NULL) and what is made of `where` itself. */
bool tp__move_before(MlirOperation where, const tp__rows *rows, MlirValue value, int depth);

/* ---- fuse_rows.c ---- */
/* Finds sum, norm and quantisation behind the root of a fusion, whose rows are begun. */
void tp__find_fused_rows(tp__rows *rows, tp__fusion *fusion);

/* ---- fuse_product.c ---- */
/* A contraction as a product of `left` and a matrix; its obstacle, if it is none that is done in slices of slice_rows rows of the left one. */
void tp__read_product(MlirOperation op, int64_t slice_rows, tp__product *product);
/* Looks for a product in front of a fusion in slices and decides whether it becomes part of it; then `rows` and the price are those of both. Else
 * a remark says why not. */
void tp__add_product(tp__fusion *fusion, const tp_topology *topology, bool always, tp_fused_rows *rows);
/* Erases the product, and reshapes of it, that nobody reads any more; `rows` was the operand of the collective, which is gone. */
void tp__erase_product(const tp__fusion *fusion, MlirValue rows);

/* ---- fuse_gather.c ---- */
typedef enum tp__gather_outcome { TP_GATHER_NOTHING, TP_GATHER_FUSED, TP_GATHER_SLOWER, TP_GATHER_OTHER } tp__gather_outcome;
typedef struct tp__gather_fuser {
  MlirOperation module;
  const tp_mesh *mesh;
  const tp_topology *topology;
  bool always;
  const char *name; /* of the function */
} tp__gather_fuser;
/* Makes a function of a shard.all_gather of rows and the products of them, and calls it. A remark says the times, or what stands in the way. */
tp_status tp__fuse_gather(const tp__gather_fuser *fuser, MlirOperation gather, tp__gather_outcome *outcome);

/* ---- fuse_outline.c ---- */
/* out [m, n] = a [m, k] b [k, n], or b [n, k], from 0, in their type, whose elements a and b have in any shape; before `end`. */
MlirValue tp__build_product(MlirOperation end, MlirValue a, MlirValue b, bool transpose_b, int64_t m, int64_t n, int64_t k);
/* A private function with tp.fused, its body empty. */
void tp__build_fused_func(MlirOperation module, const char *name, MlirLocation location, MlirAttribute fused, int n_inputs,
                          const MlirType *inputs, int n_results, const MlirType *results, MlirBlock *block);
MlirAttribute tp__fused_axes(MlirContext context, const tp_mesh *mesh, int n, const int *axes);
MlirAttribute tp__fused_names(MlirContext context, int n, const char *const *names);

/* The value that is y, or r without norm, gathered where there is a gather. */
MlirValue tp__fused_out(const tp__fusion *fusion);

/* Makes the function `name` of the module that computes the fusion, and calls it in front of `where`; every use of the results is one of the
 * call's then. What is left without a use is the caller's affair. */
void tp__outline_fusion(MlirOperation module, const char *name, MlirOperation where, const tp__fusion *fusion);

#endif
