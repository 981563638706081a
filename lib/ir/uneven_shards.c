/* Shards of unequal sizes: slices, and padding around collectives, whose shards are equal. */
#include "ir/collective_op.h"
#include "ir/work.h"

#include <mlir-c/AffineMap.h>

/* Pads or cuts a value to `size` along `dim`. The content of the padding is unspecified, as
 * always. */
static MlirValue resize(const tp__collective *c, MlirValue value, int dim, int64_t size) {
  MlirType type = mlirValueGetType(value);
  int rank;
  int64_t shape[TP_MAX_RANK], zeros[TP_MAX_RANK] = {0};
  tp__static_tensor(type, &rank, shape);
  bool grows = size > shape[dim];
  shape[dim] = size;
  return grows ? tp__insert_slice(c->where, value,
                                  tp__empty(c->where, tp__tensor_like(type, rank, shape)), zeros)
               : tp__extract_slice(c->where, value, zeros, shape);
}

/* Resizes every one of `parts` equal parts of a dimension. */
static MlirValue resize_parts(const tp__collective *c, MlirValue value, int dim, int64_t parts,
                              int64_t size) {
  int rank;
  int64_t shape[TP_MAX_RANK], split[TP_MAX_RANK + 1];
  tp__static_tensor(mlirValueGetType(value), &rank, shape);
  if (shape[dim] == parts * size)
    return value;
  if (parts == 1)
    return resize(c, value, dim, size);
  for (int d = 0; d < rank; d++)
    split[d < dim ? d : d + 1] = shape[d];
  split[dim] = parts;
  split[dim + 1] = shape[dim] / parts;
  value = tp__view(c->where, c->location, value, rank + 1, split);
  value = resize(c, value, dim + 1, size);
  shape[dim] = parts * size;
  return tp__view(c->where, c->location, value, rank, shape);
}

/* The sizes of a dimension when axes split it one after the other: parts[i] of sizes[i] after the
 * first i of them. */
typedef struct nest {
  int n;
  int64_t parts[TP_MAX_AXES + 1], sizes[TP_MAX_AXES + 1];
} nest;

/* The nest of the axes that `longer` has on the dimension beyond those of `shorter`. */
static nest nest_of(const tp__collective *c, tp_spec shorter, tp_spec longer, int dim,
                    int64_t size) {
  int axes[TP_MAX_AXES], kept = tp_spec_dim_axes(c->mesh, shorter, dim, axes);
  int n = tp_spec_dim_axes(c->mesh, longer, dim, axes);
  nest t = {.parts = {1}, .sizes = {size}};
  for (int i = kept; i < n; i++, t.n++) {
    int64_t count = c->mesh->axes[axes[i]].size, whole = t.sizes[t.n];
    t.parts[t.n + 1] = t.parts[t.n] * count;
    t.sizes[t.n + 1] = whole / count + (whole % count != 0);
  }
  return t;
}

/* Every axis pads its own parts. One element is the first of the first shard in any case. */
MlirValue tp__fill_up(const tp__collective *c, MlirValue value, int dim, int64_t size) {
  nest t = nest_of(c, c->step->from, c->step->to, dim, size);
  if (size <= 1)
    return resize(c, value, dim, t.parts[t.n] * t.sizes[t.n]);
  for (int i = 0; i < t.n; i++)
    value = resize_parts(c, value, dim, t.parts[i], t.parts[i + 1] / t.parts[i] * t.sizes[i + 1]);
  return value;
}

MlirValue tp__strip(const tp__collective *c, MlirValue value, int dim, int64_t size) {
  nest t = nest_of(c, c->step->to, c->step->from, dim, size);
  for (int i = t.n - 1; i >= 0 && size > 1; i--)
    value = resize_parts(c, value, dim, t.parts[i], t.sizes[i]);
  return value;
}

/* ---- slices ---- */

static nest slice_nest(const tp__collective *c, MlirValue value) {
  return nest_of(c, c->step->from, c->step->to, c->step->dim, tp__value_size(value, c->step->dim));
}

bool tp__is_even_slice(const tp__collective *c, MlirValue value) {
  nest t = slice_nest(c, value);
  return t.parts[t.n] * t.sizes[t.n] == t.sizes[0];
}

/* True if no shard has both elements of the value and padding. */
static bool is_whole_or_padding(const nest *t) {
  for (int i = 0; i < t->n; i++)
    if (t->sizes[t->n] == 0 || t->sizes[i] % t->sizes[t->n] != 0)
      return false;
  return true;
}

/* Where this device's shard begins: beyond the end of the value if it is padding alone. */
static MlirValue shard_start(const tp__collective *c, const nest *t) {
  int axes[TP_MAX_AXES], n = tp_spec_dim_axes(c->mesh, c->step->to, c->step->dim, axes);
  MlirValue start = tp__index_constant(c->where, 0);
  for (int i = 0; i < t->n; i++) {
    MlirValue index = tp__build_group_index(c->where, c->mesh, 1, &axes[n - t->n + i]);
    index =
        tp__binary(c->where, "arith.muli", index, tp__index_constant(c->where, t->sizes[i + 1]));
    start = tp__binary(c->where, "arith.addi", start, index);
  }
  return start;
}

/* Reads each element of the shard where it is in the value, and padding at the value's end. */
static MlirValue read_shard(const tp__collective *c, MlirValue value, MlirValue start,
                            int64_t size) {
  int rank = tp__value_rank(value), dim = c->step->dim;
  MlirValue empty = tp__empty(c->where, c->result), at[TP_MAX_RANK + 1] = {value};
  MlirAttribute map =
      mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(c->context, (intptr_t)rank));
  MlirOperation op = tp__build_generic(&(tp_generic){
      .where = c->where, .location = c->location, .n_inits = 1, .operands = &empty, .maps = &map});
  MlirOperation yield = tp__build_generic_body(op);
  MlirType index = mlirIndexTypeGet(c->context), element = tp__element_type(c->result);
  for (int d = 0; d < rank; d++) {
    MlirNamedAttribute number = tp__named(c->context, "dim", tp__attr_i64(c->context, d));
    MlirOperation loop = tp__create(&(tp_build){.name = "linalg.index",
                                                .location = c->location,
                                                .n_results = 1,
                                                .results = &index,
                                                .n_attributes = 1,
                                                .attributes = &number});
    tp__insert_before(yield, loop);
    at[1 + d] = mlirOperationGetResult(loop, 0);
  }
  at[1 + dim] = tp__binary(yield, "arith.addi", at[1 + dim], start);
  at[1 + dim] = tp__binary(yield, "arith.minsi", at[1 + dim], tp__index_constant(yield, size - 1));
  MlirOperation read = tp__create(&(tp_build){.name = "tensor.extract",
                                              .location = c->location,
                                              .n_operands = 1 + rank,
                                              .operands = at,
                                              .n_results = 1,
                                              .results = &element});
  tp__insert_before(yield, read);
  MlirValue number = mlirOperationGetResult(read, 0);
  mlirOperationSetOperands(yield, 1, &number);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__uneven_slice(const tp__collective *c, MlirValue value) {
  nest t = slice_nest(c, value);
  int rank;
  int64_t sizes[TP_MAX_RANK];
  tp__static_tensor(c->result, &rank, sizes);
  if (tp__n_elements(c->result) == 0)
    return tp__empty(c->where, c->result);
  MlirValue start = shard_start(c, &t);
  if (!is_whole_or_padding(&t))
    return read_shard(c, value, start, t.sizes[0]);
  MlirValue last = tp__index_constant(c->where, t.sizes[0] - t.sizes[t.n]);
  start = tp__binary(c->where, "arith.minsi", start, last);
  return tp__extract_slice_at(c->where, value, c->step->dim, start, sizes);
}
