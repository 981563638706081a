/* Builds the local form of an extract_slice. */
#include "rules/in_place.h"
#include "rules/owner_reads.h"
#include "rules/pointwise_builder.h"
#include "rules/slice.h"
#include "rules/window.h"

/* Builds start + stride * index in the body. */
static MlirValue position(const tp_pointwise *points, MlirValue start, MlirValue stride, int d) {
  MlirValue steps = tp__binary(points->yield, "arith.muli", tp__pointwise_index(points, d), stride);
  return tp__binary(points->yield, "arith.addi", start, steps);
}

/* Extracts the slice from this device's shard point by point. The result has the local sizes of the
 * slice. */
static MlirValue take_owned(const tp_local *local, const tp_slice *s, const tp_cut *cuts) {
  const tp_rule *rule = local->rule;
  MlirOperation op = rule->op;
  const tp_dim *dims = rule->operands[0].dims;
  MlirValue large = mlirOperationGetOperand(op, 0), starts[TP_MAX_RANK], strides[TP_MAX_RANK],
            counts[TP_MAX_RANK];
  MlirType type = tp__tensor_like(mlirValueGetType(large), s->rank, s->sizes);
  MlirValue other = tp__neutral_value(op, tp__element_type(type)), zero = tp__index_constant(op, 0),
            here = {NULL}, indices[TP_MAX_RANK];
  for (int d = 0; d < s->rank; d++) {
    starts[d] = tp__mixed_value(op, s->offsets[d]);
    strides[d] = tp__mixed_value(op, s->strides[d]);
    if (cuts[d] == TP_CUT_OWNED) {
      starts[d] =
          tp__binary(op, "arith.subi", starts[d], tp__shard_offset(local, dims[d].factors[0]));
      counts[d] = tp__owner_read_size(local, dims[d].factors[0]);
    }
  }
  tp_pointwise points = tp__pointwise_begin(op, 0, NULL, tp__empty(op, type));
  for (int d = 0; d < s->rank; d++) {
    indices[d] = position(&points, starts[d], strides[d], d);
    if (cuts[d] != TP_CUT_OWNED)
      continue;
    /* indices before the start wrap around */
    MlirValue inside = tp__compare(points.yield, TP_ULT, indices[d], counts[d]);
    indices[d] = tp__select(points.yield, inside, indices[d], zero);
    here = mlirValueIsNull(here) ? inside : tp__binary(points.yield, "arith.andi", here, inside);
  }
  MlirValue value = tp__pointwise_read(&points, large, s->rank, indices);
  return tp__pointwise_end(&points, tp__select(points.yield, here, value, other));
}

tp_status tp__slice_localize_extract(const tp_local *local, tp_slice *s) {
  const tp_rule *rule = local->rule;
  tp_cut cuts[TP_MAX_RANK];
  bool owned = false;
  TP_TRY(tp__halo_fetch_windows(local));
  TP_TRY(tp__pads_in_place_locally(local));
  for (int d = 0; d < s->rank; d++) {
    cuts[d] = tp__slice_cut(local, s, d);
    owned |= cuts[d] == TP_CUT_OWNED;
  }
  for (int d = 0; d < s->rank; d++) {
    if (cuts[d] == TP_CUT_WHOLE || cuts[d] == TP_CUT_WINDOW)
      s->sizes[d] = tp__strategy_local(rule, local->mesh, local->strategy,
                                       rule->operands[0].dims[d].factors[0]);
    if (cuts[d] == TP_CUT_WINDOW)
      s->offsets[d] = (tp_mixed){0};
  }
  MlirValue large = mlirOperationGetOperand(rule->op, 0);
  if (owned) { /* the op itself then only drops dimensions */
    large = take_owned(local, s, cuts);
    for (int d = 0; d < s->rank; d++) {
      s->offsets[d] = (tp_mixed){0};
      s->strides[d] = (tp_mixed){.fixed = 1};
    }
  }
  tp__slice_write(rule->op, s, &large);
  return TP_OK;
}
