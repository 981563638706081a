/* tensor.pad with static padding: every dimension can be sharded. Along a padded one, each device
 * fetches the elements that its points of the result read, and fills in the padding value outside
 * of the operand. */
#include "rules/pad.h"
#include "rules/body.h"
#include "rules/families.h"
#include "rules/padding.h"
#include "rules/pointwise_builder.h"
#include "rules/shift.h"
#include "rules/window.h"

static bool matches(MlirOperation op) { return tp__op_is(op, "tensor.pad"); }

/* Upstream allows negative padding, but cannot lower it. */
static tp_status refuse_negative(MlirOperation op, const tp_padding *p, int d) {
  bool low = p->low[d] < 0;
  return tp__error(op, TP_UNSUPPORTED,
                   "dimension %d has negative padding, %s[%lld]; use tensor.extract_slice instead",
                   d, low ? "low" : "high", (long long)(low ? p->low[d] : p->high[d]));
}

/* Returns the window of a padded dimension, of the operand or of the tensor that is shifted. */
static tp_window window_of(const tp_padding *p, const tp_shift *shift, int d) {
  return (tp_window){
      .stride = 1, .offset = shift->n_slices ? shift->offset : -p->low[d], .extent = 1};
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_padding p;
  tp_shift shift = {0};
  tp_status status = tp__rule_begin(op, arena, rule);
  if (status != TP_OK)
    return status;
  if (!tp__padding_of(op, &p))
    return tp__error(op, TP_INTERNAL, "has no static padding attributes");
  if (tp__shift_in_place(op, &shift))
    TP_TRY(tp__shift_operands(rule, &shift, arena));
  if (tp__padding_moves(op))
    return tp__error(
        op, TP_UNSUPPORTED,
        "computes the padding value from the index; pad with one value, or use linalg.generic");
  for (int d = 0; d < p.rank && status == TP_OK; d++) {
    if (!tp__padding_is_known(&p, d))
      continue;
    if (p.low[d] < 0 || p.high[d] < 0)
      return refuse_negative(op, &p, d);
    if (rule->operands[0].shape[d] == 0) /* a window on an empty dimension has no plan */
      continue;
    int f = tp__rule_factor(rule, rule->results[0].shape[d], TP_PARALLEL);
    tp__dim_set(&rule->results[0], d, f);
    if (p.low[d] == 0 && p.high[d] == 0)
      tp__dim_set(&rule->operands[0], d, f);
    else
      status = tp__dim_window(rule, &rule->operands[0], d, f, window_of(&p, &shift, d), arena);
  }
  if (tp__is_identity(tp__padding_value(op), TP_SUM))
    tp__rule_variant(rule, TP_SUM, 1);
  rule->scalar_ops = (double)tp__shape_elements(p.rank, rule->results[0].shape);
  return status;
}

/* ---- localize ---- */

/* Moves the ops that compute the padding value before the pad. */
static void hoist_value(MlirOperation op) {
  MlirBlock block = tp__region_block(op, 0);
  MlirOperation yield = mlirBlockGetTerminator(block), next;
  for (MlirOperation inner = mlirBlockGetFirstOperation(block); !mlirOperationEqual(inner, yield);
       inner = next) {
    next = mlirOperationGetNextInBlock(inner);
    mlirOperationMoveBefore(inner, op);
  }
}

/* True if points along dimension d of operand i read elements outside of it. */
static bool leaves(const tp_rule *rule, int i, int d) {
  const tp_dim *dim = &rule->operands[i].dims[d];
  const tp_window *w = dim->window;
  int64_t last = w->stride * (rule->factors[dim->factors[0]].size - 1),
          from = w->offset + (last < 0 ? last : 0),
          to = w->offset + (last > 0 ? last : 0) + w->extent;
  return from < 0 || to > rule->operands[i].shape[d];
}

/* Builds the operand of `pad`, a run of operand i, with the padding value outside of the dimensions
 * in `split`. */
static MlirValue put_value(const tp_local *local, int i, MlirOperation pad, uint32_t split) {
  const tp_value_map *map = &local->rule->operands[i];
  MlirValue in = mlirOperationGetOperand(pad, 0), starts[TP_MAX_RANK], sizes[TP_MAX_RANK],
            all = {NULL};
  uint32_t outside = 0;
  for (int d = 0; d < map->rank; d++)
    if (split >> d & 1 && leaves(local->rule, i, d)) {
      outside |= UINT32_C(1) << d;
      starts[d] = tp__window_start(local, i, d);
      sizes[d] = tp__index_constant(local->rule->op, map->shape[d]);
    }
  if (!mlirOperationEqual(pad, local->rule->op)) /* after the fetched value */
    mlirOperationMoveBefore(pad, local->rule->op);
  hoist_value(pad);
  if (!outside)
    return in;
  tp_pointwise points = tp__pointwise_begin(pad, 1, &in, tp__empty(pad, mlirValueGetType(in)));
  for (int d = 0; d < map->rank; d++) {
    if (!(outside >> d & 1))
      continue;
    MlirValue at =
        tp__binary(points.yield, "arith.addi", tp__pointwise_index(&points, d), starts[d]);
    /* indices before the start wrap around */
    MlirValue inside = tp__compare(points.yield, TP_ULT, at, sizes[d]);
    all = mlirValueIsNull(all) ? inside : tp__binary(points.yield, "arith.andi", all, inside);
  }
  return tp__pointwise_end(&points, tp__select(points.yield, all, tp__pointwise_value(&points, 0),
                                               tp__padding_value(pad)));
}

tp_status tp__pad_run(const tp_local *local, int i, MlirOperation pad) {
  MlirContext context = mlirOperationGetContext(pad);
  uint32_t split = 0;
  tp_padding p;
  if (!tp__padding_of(pad, &p))
    return tp__error(pad, TP_INTERNAL, "has no static padding attributes");
  for (int d = 0; d < p.rank; d++)
    if (tp__window_is_split(local, i, d)) {
      split |= UINT32_C(1) << d;
      p.low[d] = p.high[d] = 0;
    }
  if (!split)
    return TP_OK;
  mlirOperationSetOperand(pad, 0, put_value(local, i, pad, split));
  mlirOperationSetInherentAttributeByName(pad, tp__ref("static_low"),
                                          tp__attr_i64s(context, p.rank, p.low));
  mlirOperationSetInherentAttributeByName(pad, tp__ref("static_high"),
                                          tp__attr_i64s(context, p.rank, p.high));
  return TP_OK;
}

static tp_status localize(const tp_local *local) {
  TP_TRY(tp__halo_fetch_windows(local));
  if (!mlirOperationIsNull(local->rule->operands[0].in_place))
    tp__shift_locally(local);
  return tp__pad_run(local, 0, local->rule->op);
}

const tp_family tp__pad_family = {
    .name = "pad",
    .ops = "tensor.pad",
    .summary = "Every dimension whose padding is static; the padding value must be the same "
               "everywhere. A pad in front of a windowed op is read in place.",
    .communication = "Permutes of parts that other devices hold, along padded dimensions.",
    .test = "test/rules/pad",
    .matches = matches,
    .rule = rule_of,
    .localize = localize,
};
