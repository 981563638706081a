/* Builds an exchange between more than two dimensions as one upstream all_to_all, which supports
 * only two. The group gets a dimension of its own, with one slice per device.
 *
 * One dimension to several: the parts that the other dimensions are split into move to the front.
 * [..., s, ..., a, ..., b] becomes [n][..., s, ..., a', ..., b'], with slice r for device r. The
 * received slices are concatenated along s.
 *
 * Several dimensions to one: s is split. The slices arrive as [n][..., s', ..., a, ..., b], with
 * slice r from device r. The axes of the group then move to the dimensions that they split. */
#include "ir/collective_op.h"

#include <mlir-c/AffineMap.h>

/* A shape that splits off the parts of dimensions along the step's axes. tag >= 0: a part along
 * axis `tag` of the step. tag < 0: a run of all dimensions between such parts. */
typedef struct pieces {
  int n;
  int64_t sizes[TP_MAX_RANK];
  int tags[TP_MAX_RANK];
} pieces;

static void add_piece(pieces *p, int64_t size, int tag) {
  if (tag < 0 && p->n > 0 && p->tags[p->n - 1] < 0) {
    p->sizes[p->n - 1] *= size;
    return;
  }
  p->sizes[p->n] = size;
  p->tags[p->n++] = tag;
}

/* Returns the local shape with the split parts as separate dimensions: each dimension becomes its
 * parts along the step's axes in `spec`, followed by its size in `local`. */
static pieces in_pieces(const tp__collective *c, tp_spec spec, int rank, const int64_t *local) {
  pieces p = {0};
  for (int d = 0; d < rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(c->mesh, spec, d, axes);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < c->step->n_axes; k++)
        if (c->step->axes[k] == axes[i])
          add_piece(&p, c->mesh->axes[axes[i]].size, k);
    add_piece(&p, local[d], -1);
  }
  return p;
}

/* ---- local ops ---- */

/* Returns a copy whose dimension d is dimension from[d] of the value. */
static MlirValue transpose(const tp__collective *c, MlirValue value, int rank, const int *from) {
  int64_t before[TP_MAX_RANK], after[TP_MAX_RANK];
  MlirAffineExpr reads[TP_MAX_RANK];
  bool same = true;
  tp__static_tensor(mlirValueGetType(value), &rank, before);
  for (int d = 0; d < rank; d++) {
    after[d] = before[from[d]];
    reads[from[d]] = mlirAffineDimExprGet(c->context, d);
    same &= from[d] == d;
  }
  if (same)
    return value;
  MlirAttribute maps[] = {mlirAffineMapAttrGet(mlirAffineMapGet(c->context, rank, 0, rank, reads)),
                          mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(c->context, rank))};
  MlirValue operands[] = {
      value, tp__empty(c->where, tp__tensor_like(mlirValueGetType(value), rank, after))};
  MlirOperation op = tp__build_generic(&(tp_generic){.where = c->where,
                                                     .location = c->location,
                                                     .n_inputs = 1,
                                                     .n_inits = 1,
                                                     .operands = operands,
                                                     .maps = maps});
  MlirOperation yield = tp__build_generic_body(op);
  MlirValue read = mlirBlockGetArgument(mlirOperationGetBlock(yield), 0);
  mlirOperationSetOperands(yield, 1, &read);
  return mlirOperationGetResult(op, 0);
}

/* ---- the exchange ---- */

/* Collapses a shape to [before dim][dim][after dim]. */
static void around(int rank, const int64_t *shape, int dim, int64_t sizes[3]) {
  sizes[0] = sizes[1] = sizes[2] = 1;
  for (int d = 0; d < rank; d++)
    sizes[d < dim ? 0 : d == dim ? 1 : 2] *= shape[d];
}

static MlirValue all_to_all(const tp__collective *c, MlirValue value, const int64_t result[4],
                            int concat, int split) {
  tp__collective here = *c;
  here.result = tp__tensor_like(mlirValueGetType(value), 4, result);
  return tp__build_collective(&here, "shard.all_to_all", value, "concat_axis", concat, "split_axis",
                              split, false);
}

/* Orders the pieces so that those of the group come first, in the order of the step's axes.
 * order[i] is the piece at position i. */
static void group_first(const pieces *p, int n_axes, int *order) {
  int n = 0;
  for (int k = 0; k < n_axes; k++)
    for (int i = 0; i < p->n; i++)
      if (p->tags[i] == k)
        order[n++] = i;
  for (int i = 0; i < p->n; i++)
    if (p->tags[i] < 0)
      order[n++] = i;
}

static MlirValue to_several(const tp__collective *c, MlirValue value, int rank,
                            const int64_t *before, const int64_t *after) {
  const tp_step *step = c->step;
  int64_t n = tp_step_group_size(c->mesh, step), rest[TP_MAX_RANK], sizes[3];
  int order[TP_MAX_RANK];
  for (int d = 0; d < rank; d++)
    rest[d] = d == step->dim ? before[d] : after[d];
  pieces p = in_pieces(c, step->to, rank, rest);
  group_first(&p, step->n_axes, order);
  value = transpose(c, tp__view(c->where, c->location, value, p.n, p.sizes), p.n, order);
  around(rank, rest, step->dim, sizes);
  value = tp__view(c->where, c->location, value, 4, (int64_t[]){n, sizes[0], sizes[1], sizes[2]});
  value = all_to_all(c, value, (int64_t[]){1, sizes[0], n * sizes[1], sizes[2]}, 2, 0);
  return tp__view(c->where, c->location, value, rank, after);
}

static MlirValue from_several(const tp__collective *c, MlirValue value, int rank,
                              const int64_t *before, const int64_t *after) {
  const tp_step *step = c->step;
  int64_t n = tp_step_group_size(c->mesh, step), rest[TP_MAX_RANK], sizes[3], grouped[TP_MAX_RANK];
  int order[TP_MAX_RANK], back[TP_MAX_RANK];
  around(rank, before, step->to_dim, sizes);
  value = tp__view(c->where, c->location, value, 4, (int64_t[]){1, sizes[0], sizes[1], sizes[2]});
  value = all_to_all(c, value, (int64_t[]){n, sizes[0], sizes[1] / n, sizes[2]}, 0, 2);
  for (int d = 0; d < rank; d++)
    rest[d] = d == step->to_dim ? after[d] : before[d];
  pieces p = in_pieces(c, step->from, rank, rest);
  group_first(&p, step->n_axes, order);
  for (int i = 0; i < p.n; i++) {
    grouped[i] = p.sizes[order[i]];
    back[order[i]] = i;
  }
  value = transpose(c, tp__view(c->where, c->location, value, p.n, grouped), p.n, back);
  return tp__view(c->where, c->location, value, rank, after);
}

MlirValue tp__build_exchange(const tp__collective *c, MlirValue value, int rank,
                             const int64_t *before, const int64_t *after) {
  return (c->step->to_dim < 0 ? to_several : from_several)(c, value, rank, before, after);
}
