/* What the files of tp-fuse-collectives share: a sum over devices and what is fused with it. */
#ifndef TP_PASSES_FUSE_H
#define TP_PASSES_FUSE_H

#include "passes/row_norm.h"

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
  MlirValue norm_value; /* y; null without norm */
  MlirOperation gather; /* of y, or of r without norm, along `dim` over the same devices; null: none */
  bool keeps_sum;       /* r is used elsewhere, too */
  tp_fused_price price;
  tp__product product;
} tp__fusion;

enum { TP_FUSED_OPERANDS = 7 }; /* input or a and b, residual, bias, gamma, beta */

/* Devices of the group. */
int64_t tp__fusion_devices(const tp__fusion *fusion);
/* The number of pieces in which a dimension of a tensor lies. */
int64_t tp__n_pieces(MlirValue value, int dim);

/* ---- fuse_product.c ---- */
/* Looks for a product in front of a fusion in slices and decides whether it becomes part of it; then `rows` and the price are those of both. Else
 * a remark says why not. */
void tp__add_product(tp__fusion *fusion, const tp_topology *topology, bool always, tp_fused_rows *rows);
/* Erases the product, and reshapes of it, that nobody reads any more; `rows` was the operand of the collective, which is gone. */
void tp__erase_product(const tp__fusion *fusion, MlirValue rows);

/* ---- fuse_outline.c ---- */
/* The value that is y, or r without norm, gathered where there is a gather. */
MlirValue tp__fused_out(const tp__fusion *fusion);

/* Makes the function `name` of the module that computes the fusion, and calls it in front of `where`; every use of the results is one of the
 * call's then. What is left without a use is the caller's affair. */
void tp__outline_fusion(MlirOperation module, const char *name, MlirOperation where, const tp__fusion *fusion);

#endif
