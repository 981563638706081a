/* Pads that windows read in place: which pads qualify, their rule, and their local form. Checks
 * also the slices that shifts (shift.h) read in place. */
#include "rules/in_place.h"

#include "rules/body.h"
#include "rules/families.h"
#include "rules/pad.h"
#include "rules/padding.h"
#include "rules/shift.h"
#include "rules/window.h"

/* ---- which pads qualify ---- */

static bool is_padded(const tp_padding *padding, int d) {
  return padding->low[d] != 0 || padding->high[d] != 0;
}

/* True if the pad has one padding value, a static width, and a non-empty operand. */
static bool is_plain(MlirOperation pad, tp_padding *padding) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  bool plain = tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(pad, 0)), &rank, shape) &&
               tp__padding_of(pad, padding) && !tp__padding_moves(pad);
  for (int d = 0; plain && d < rank; d++)
    plain = tp__padding_is_known(padding, d) && padding->low[d] >= 0 && padding->high[d] >= 0 &&
            shape[d] > 0;
  return plain;
}

/* True if the operand is read through a window along a padded dimension. The rule already looks
 * through pads that are in place. */
static bool reads_window(const tp_value_map *map, const tp_padding *padding) {
  for (int d = 0; d < map->rank; d++)
    if (is_padded(padding, d) && map->dims[d].window &&
        (map->dims[d].window->extent > 1 || map->dims[d].window->stride != 1))
      return true;
  return false;
}

/* True if a slice cuts a padded dimension, and takes at least half of the pad's operand along each
 * padded one. If it takes less, a result that is whole needs only the slice, not all of the
 * operand. */
static bool cuts_padding(const tp_rule *rule, MlirOperation pad, const tp_padding *padding) {
  const tp_value_map *map = &rule->operands[0];
  int rank;
  int64_t shape[TP_MAX_RANK];
  bool cuts = false;
  tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(pad, 0)), &rank, shape);
  for (int d = 0; d < map->rank; d++) {
    const tp_dim *dim = &map->dims[d];
    if (!is_padded(padding, d))
      continue;
    if (dim->n_factors != 1 || rule->factors[dim->factors[0]].kind != TP_PARALLEL ||
        2 * rule->factors[dim->factors[0]].size < shape[d])
      return false;
    cuts |= dim->window != NULL;
  }
  return cuts;
}

tp_status tp__can_read_in_place(MlirOperation pad, MlirOperation user, int i, tp__arena *arena,
                                bool *can) {
  tp_padding padding;
  tp_rule rule;
  *can = (tp__op_has_dialect(user, "linalg") || tp__op_is(user, "tensor.extract_slice")) &&
         !tp__is_in_place(user) &&
         mlirBlockEqual(mlirOperationGetBlock(pad), mlirOperationGetBlock(user)) &&
         !tp__has_decision(pad) && mlirOperationIsNull(tp__read_in_place(pad, 0)) &&
         is_plain(pad, &padding);
  if (!*can)
    return TP_OK;
  TP_TRY(tp__rule_of(user, false, arena, &rule));
  *can = rule.family == &tp__linalg_family  ? reads_window(&rule.operands[i], &padding)
         : rule.family == &tp__slice_family ? cuts_padding(&rule, pad, &padding)
                                            : false;
  return TP_OK;
}

static tp_status check_slice(MlirOperation slice) {
  MlirValue result = mlirOperationGetResult(slice, 0);
  tp_shift shift;
  bool can = tp__is_used_once(result) &&
             tp__shift_in_place(mlirOpOperandGetOwner(mlirValueGetFirstUse(result)), &shift);
  return can ? TP_OK
             : tp__error(slice, TP_INVALID_ARGUMENT,
                         "tp.in_place requires a slice without annotations whose only user, in the "
                         "same block, is a concat of the end and the beginning of one tensor, or a "
                         "pad that shifts a tensor by half of it or less; all slices of the user "
                         "must have the attribute; remove it");
}

static tp_status check_pad(MlirOperation pad, tp__arena *arena) {
  MlirValue result = mlirOperationGetResult(pad, 0);
  bool can = tp__is_used_once(result);
  if (can) {
    MlirOpOperand use = mlirValueGetFirstUse(result);
    TP_TRY(tp__can_read_in_place(pad, mlirOpOperandGetOwner(use),
                                 (int)mlirOpOperandGetOperandNumber(use), arena, &can));
  }
  return can ? TP_OK
             : tp__error(pad, TP_INVALID_ARGUMENT,
                         "tp.in_place requires a pad of static width with one padding value and no "
                         "annotations, whose only user, in the same block, is a structured op that "
                         "reads a padded dimension through a window, or a slice that cuts one and "
                         "takes at least half of the tensor; remove the attribute");
}

tp_status tp__check_in_place(MlirOperation op, tp__arena *arena) {
  return tp__op_is(op, "tensor.pad") ? check_pad(op, arena) : check_slice(op);
}

/* ---- the rule ---- */

/* Shifts the window of a padded dimension so that it counts from the first element of the pad's
 * operand. */
static tp_status fold_pad_dim(tp_rule *rule, tp_value_map *map, int d, int64_t low,
                              tp__arena *arena) {
  const tp_dim *dim = &map->dims[d];
  if (dim->n_factors == 0) /* read as a whole */
    return TP_OK;
  tp_window window = dim->window ? *dim->window : (tp_window){.stride = 1, .extent = 1};
  window.offset -= low;
  return tp__dim_window(rule, map, d, dim->factors[0], window, arena);
}

static tp_status fold_pad(tp_rule *rule, tp_value_map *map, MlirOperation pad, tp__arena *arena) {
  tp_padding padding;
  int64_t shape[TP_MAX_RANK], *copy = tp__arena_array(arena, (size_t)map->rank + 1, sizeof *copy);
  if (!copy)
    return tp__out_of_memory(rule->op);
  if (!is_plain(pad, &padding))
    return tp__check_in_place(pad, arena);
  map->in_place = pad;
  map->value = mlirOperationGetOperand(pad, 0);
  int rank = 0;
  tp__static_tensor(mlirValueGetType(map->value), &rank, shape);
  map->rank = (uint8_t)rank;
  map->shape = copy;
  for (int d = 0; d < map->rank; d++) {
    copy[d] = shape[d];
    tp_status status =
        is_padded(&padding, d) ? fold_pad_dim(rule, map, d, padding.low[d], arena) : TP_OK;
    if (status != TP_OK)
      return status;
  }
  return TP_OK;
}

tp_status tp__rule_in_place(tp_rule *rule, tp__arena *arena) {
  for (int i = 0; i < mlirOperationGetNumOperands(rule->op); i++) {
    MlirOperation pad = tp__read_in_place(rule->op, i);
    if (!mlirOperationIsNull(pad))
      TP_TRY(fold_pad(rule, &rule->operands[i], pad, arena));
  }
  return TP_OK;
}

void tp__drop_padded_variants(tp_rule *rule) {
  uint64_t padded = 0;
  int kept = 0;
  for (int i = 0; i < rule->n_operands; i++)
    if (!mlirOperationIsNull(rule->operands[i].in_place) &&
        !tp__is_identity(tp__padding_value(rule->operands[i].in_place), TP_SUM))
      padded |= UINT64_C(1) << i;
  for (int v = 0; v < rule->n_variants; v++)
    if (!(rule->variants[v].operands & padded))
      rule->variants[kept++] = rule->variants[v];
  rule->n_variants = kept;
}

/* ---- localize ---- */

/* Returns the type of a pad of this width. */
static MlirType padded_type(MlirOperation pad, const tp_padding *padding) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(pad, 0));
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(type, &rank, shape);
  for (int d = 0; d < rank; d++)
    shape[d] += padding->low[d] + padding->high[d];
  return tp__tensor_like(type, rank, shape);
}

static tp_status pad_locally(const tp_local *local, int i, MlirOperation pad) {
  tp_padding padding;
  TP_TRY(tp__pad_run(local, i, pad));
  if (!tp__padding_of(pad, &padding))
    return tp__error(pad, TP_INTERNAL, "has no static padding attributes");
  tp__remove(pad, "tp.in_place");
  for (int d = 0; d < padding.rank; d++)
    if (is_padded(&padding, d)) {
      mlirValueSetType(mlirOperationGetResult(pad, 0), padded_type(pad, &padding));
      return TP_OK;
    }
  mlirOperationSetOperand(local->rule->op, i, mlirOperationGetOperand(pad, 0));
  mlirOperationDestroy(pad);
  return TP_OK;
}

tp_status tp__pads_in_place_locally(const tp_local *local) {
  for (int i = 0; i < local->rule->n_operands; i++)
    if (!mlirOperationIsNull(local->rule->operands[i].in_place))
      TP_TRY(pad_locally(local, i, local->rule->operands[i].in_place));
  return TP_OK;
}
