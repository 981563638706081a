/* Shifts: which ops are shifts, their operands, and their local form. */
#include "rules/shift.h"

#include "rules/padding.h"
#include "rules/window.h"

/* ---- which ops are shifts ---- */

/* A slice [from, to) along the shifted dimension. */
typedef struct part {
  MlirValue source;
  int64_t from, to, size; /* size: of the source */
} part;

/* Reads operand i as a slice that cuts no dimension but `dim`. */
static bool read_part(MlirOperation op, int i, int dim, part *p) {
  MlirOperation slice = tp__defined_by(mlirOperationGetOperand(op, i), "tensor.extract_slice");
  int64_t offsets[TP_MAX_RANK], strides[TP_MAX_RANK], sizes[TP_MAX_RANK], shape[TP_MAX_RANK];
  int rank;
  if (mlirOperationIsNull(slice) || mlirOperationGetNumOperands(slice) != 1 ||
      !mlirBlockEqual(mlirOperationGetBlock(slice), mlirOperationGetBlock(op)) ||
      tp__has_decision(slice) || !mlirOperationIsNull(tp__read_in_place(slice, 0)))
    return false;
  p->source = mlirOperationGetOperand(slice, 0);
  if (!tp__static_tensor(mlirValueGetType(p->source), &rank, shape) ||
      mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(slice, 0))) != rank ||
      tp__int_list(tp__inherent(slice, "static_offsets"), TP_MAX_RANK, offsets) != rank ||
      tp__int_list(tp__inherent(slice, "static_strides"), TP_MAX_RANK, strides) != rank ||
      tp__int_list(tp__inherent(slice, "static_sizes"), TP_MAX_RANK, sizes) != rank)
    return false;
  for (int d = 0; d < rank; d++)
    if (strides[d] != 1 || (d != dim && sizes[d] != shape[d]))
      return false;
  p->from = offsets[dim];
  p->to = offsets[dim] + sizes[dim];
  p->size = shape[dim];
  return p->from < p->to && p->to - p->from < p->size;
}

/* concat(x[k:], x[:k]) */
static bool is_rotation(MlirOperation op, tp_shift *shift) {
  part end, start;
  int dim = tp__dim_of(op);
  if (mlirOperationGetNumOperands(op) != 2 || !read_part(op, 0, dim, &end) ||
      !read_part(op, 1, dim, &start) || !mlirValueEqual(end.source, start.source) ||
      end.to != end.size || start.from != 0 || start.to != end.from)
    return false;
  *shift = (tp_shift){
      .dim = dim, .offset = end.from, .cyclic = true, .n_slices = 2, .source = end.source};
  return true;
}

/* pad(x[:n-k]) in front, or pad(x[k:]) behind, by k elements. A shift by more than half is left
 * alone: where the result is whole, only the slice needs to be gathered. */
static bool is_filled(MlirOperation op, tp_shift *shift) {
  tp_padding padding;
  part p;
  int dim = tp__padding_of(op, &padding) && !tp__padding_moves(op) ? tp__padded_dim(&padding) : -1;
  if (dim < 0 || !read_part(op, 0, dim, &p) || padding.low[dim] != p.size - p.to ||
      padding.high[dim] != p.from || 2 * (p.to - p.from) < p.size)
    return false;
  *shift = (tp_shift){
      .dim = dim, .offset = p.from - padding.low[dim], .n_slices = 1, .source = p.source};
  return p.from == 0 || p.to == p.size;
}

bool tp__shift_of(MlirOperation op, tp_shift *shift) {
  if (!mlirAttributeIsNull(tp__get(op, "tp.rule")))
    return false;
  return tp__op_is(op, "tensor.concat") ? is_rotation(op, shift)
                                        : tp__op_is(op, "tensor.pad") && is_filled(op, shift);
}

bool tp__shift_in_place(MlirOperation op, tp_shift *shift) {
  bool in_place = tp__shift_of(op, shift);
  for (int i = 0; in_place && i < shift->n_slices; i++)
    in_place = !mlirOperationIsNull(tp__read_in_place(op, i));
  return in_place;
}

void tp__shift_rewire(MlirOperation op, MlirValue source) {
  for (int i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirOperation slice = tp__read_in_place(op, i);
    mlirOperationSetOperand(slice, 0, source);
    mlirOperationMoveBefore(slice, op);
  }
}

/* ---- the rule ---- */

tp_status tp__shift_operands(tp_rule *rule, const tp_shift *shift, tp__arena *arena) {
  int rank;
  int64_t shape[TP_MAX_RANK], *copy;
  tp__static_tensor(mlirValueGetType(shift->source), &rank, shape);
  copy = tp__arena_array(arena, (size_t)rank + 1, sizeof *copy);
  if (!copy)
    return tp__out_of_memory(rule->op);
  for (int d = 0; d < rank; d++)
    copy[d] = shape[d];
  for (int i = 0; i < shift->n_slices; i++) {
    tp_value_map *map = &rule->operands[i];
    map->in_place = tp__read_in_place(rule->op, i);
    map->value = shift->source;
    map->shape = copy;
    map->is_unused = i > 0;
  }
  return TP_OK;
}

/* ---- localize ---- */

/* Returns the part of `source` that the slice takes along `dim`; the other dimensions are whole. */
static MlirValue take(MlirOperation op, MlirOperation slice, MlirValue source, int dim) {
  int rank;
  int64_t offsets[TP_MAX_RANK], cut[TP_MAX_RANK], sizes[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(source), &rank, sizes);
  tp__int_list(tp__inherent(slice, "static_offsets"), TP_MAX_RANK, offsets);
  tp__int_list(tp__inherent(slice, "static_sizes"), TP_MAX_RANK, cut);
  sizes[dim] = cut[dim];
  return tp__extract_slice(op, source, offsets, sizes);
}

void tp__shift_locally(const tp_local *local) {
  const tp_rule *rule = local->rule;
  MlirOperation op = rule->op;
  int dim = 0;
  while (!rule->operands[0].dims[dim].window)
    dim++;
  MlirValue source = mlirOperationGetOperand(rule->operands[0].in_place, 0);
  bool is_split = tp__window_is_split(local, 0, dim);
  for (int i = 0; i < rule->n_operands && !mlirOperationIsNull(rule->operands[i].in_place); i++) {
    MlirOperation slice = rule->operands[i].in_place;
    mlirOperationSetOperand(op, i, is_split ? source : take(op, slice, source, dim));
    mlirOperationDestroy(slice);
  }
  if (is_split && rule->operands[0].dims[dim].window->cyclic)
    mlirOperationSetOperands(op, 1, &source); /* a concat of one tensor is that tensor */
}
