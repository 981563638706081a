/* Builds the local form of an insert_slice: extracts the part of the shard that may overlap the
 * slice, updates the owned elements, and inserts the part again. The rest of the large tensor is
 * not touched, so the update happens in place. A dynamic offset moves the part. */
#include "rules/pointwise_builder.h"
#include "rules/slice.h"
#include "rules/window.h"

/* One dimension in which membership in the slice is tested point by point. */
typedef struct part {
  MlirValue base;   /* of the part's first point, relative to the slice's first */
  MlirValue extent; /* of the slice */
  int64_t stride;
} part;

/* Clamps the position of the slice in this device's shard, which may be anywhere, so that the part
 * starts inside the shard. */
static MlirValue part_start(MlirOperation op, MlirValue at, int64_t last) {
  if (last == 0)
    return tp__index_constant(op, 0);
  MlirValue low = tp__binary(op, "arith.minsi", at, tp__index_constant(op, last));
  return tp__binary(op, "arith.maxsi", low, tp__index_constant(op, 0));
}

/* Replaces dimension d of `s` by the part. For a slice with strides, and for one that is split like
 * the shard, the part is the whole shard. */
static part find_part(const tp_local *local, tp_slice *s, int d, tp_cut cut) {
  const tp_rule *rule = local->rule;
  MlirOperation op = rule->op;
  int f = rule->operands[1].dims[d].factors[0];
  int64_t shard = tp__strategy_local(rule, local->mesh, local->strategy, f),
          stride = s->strides[d].fixed, size = s->sizes[d];
  bool all = cut == TP_CUT_WINDOW || stride > 1 || size >= shard;
  MlirValue at =
      tp__binary(op, "arith.subi", tp__mixed_value(op, s->offsets[d]), tp__shard_offset(local, f));
  MlirValue start = part_start(op, at, all ? 0 : shard - size);
  s->offsets[d] = all ? (tp_mixed){0} : (tp_mixed){.value = start};
  s->sizes[d] = all ? shard : size;
  s->strides[d] = (tp_mixed){.fixed = 1};
  return (part){tp__binary(op, "arith.subi", start, at), tp__index_constant(op, size * stride),
                stride};
}

/* In the body: tests whether the point belongs to the slice, and computes its index in the small
 * tensor, or 0 if it does not belong. */
static MlirValue find_point(const tp_pointwise *points, const part *p, MlirValue zero,
                            MlirValue *index) {
  MlirOperation where = points->yield;
  MlirValue at = tp__binary(where, "arith.addi", p->base, *index);
  MlirValue inside = tp__compare(where, TP_ULT, at, p->extent); /* earlier positions wrap around */
  if (p->stride > 1) {
    MlirValue stride = tp__index_constant(points->op, p->stride);
    MlirValue rest = tp__binary(where, "arith.remui", at, stride);
    inside = tp__binary(where, "arith.andi", inside, tp__compare(where, TP_EQ, rest, zero));
    at = tp__binary(where, "arith.divui", at, stride);
  }
  *index = tp__select(where, inside, at, zero);
  return inside;
}

/* Builds the part with the small tensor inserted. */
static MlirValue change_part(const tp_local *local, const tp_slice *s, const tp_cut *cuts,
                             const part *parts) {
  MlirOperation op = local->rule->op;
  MlirValue small = mlirOperationGetOperand(op, 0), zero = tp__index_constant(op, 0), all = {NULL},
            indices[TP_MAX_RANK];
  MlirValue old = tp__slice_take(op, s, mlirOperationGetOperand(op, 1));
  tp_pointwise points = tp__pointwise_begin(op, 0, NULL, old);
  int rank = 0;
  for (int d = 0; d < s->rank; d++) {
    MlirValue index = tp__pointwise_index(&points, d), place = index;
    if (cuts[d] == TP_CUT_OWNED || cuts[d] == TP_CUT_WINDOW) {
      MlirValue inside = find_point(&points, &parts[d], zero, &place);
      all = mlirValueIsNull(all) ? inside : tp__binary(points.yield, "arith.andi", all, inside);
    }
    if (s->small_dim[d] >= 0)
      /* a fetched window has one element per point */
      indices[rank++] = cuts[d] == TP_CUT_WINDOW ? index : place;
  }
  MlirValue value = tp__pointwise_read(&points, small, rank, indices);
  return tp__pointwise_end(&points,
                           tp__select(points.yield, all, value, tp__pointwise_value(&points, 0)));
}

tp_status tp__slice_localize_insert(const tp_local *local, tp_slice *s) {
  const tp_rule *rule = local->rule;
  tp_cut cuts[TP_MAX_RANK];
  part parts[TP_MAX_RANK];
  bool found = false;
  tp_status status = tp__halo_fetch_windows(local);
  for (int d = 0; d < s->rank; d++) {
    cuts[d] = tp__slice_cut(local, s, d);
    if (cuts[d] == TP_CUT_WHOLE)
      s->sizes[d] = tp__strategy_local(rule, local->mesh, local->strategy,
                                       rule->operands[1].dims[d].factors[0]);
    if (cuts[d] != TP_CUT_OWNED && cuts[d] != TP_CUT_WINDOW)
      continue;
    parts[d] = find_part(local, s, d, cuts[d]);
    found = true;
  }
  MlirValue tensors[] = {mlirOperationGetOperand(rule->op, 0),
                         mlirOperationGetOperand(rule->op, 1)};
  if (found)
    tensors[0] = change_part(local, s, cuts, parts);
  tp__slice_write(rule->op, s, tensors);
  return status;
}
