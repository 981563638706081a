/* Recognizes structured ops that scatter. */
#include "ir/scatter.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* ---- dependences ---- */

static uint32_t loops_of_map(MlirOperation op, int operand, int n_loops) {
  MlirAffineMap map = tp__map_at(tp__inherent(op, "indexing_maps"), operand);
  uint32_t loops = 0;
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    for (int l = 0; l < n_loops; l++)
      loops |=
          mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d), l) ? UINT32_C(1) << l : 0;
  return loops;
}

/* The loops that a value of the body depends on; false if it depends on a result, or if that is not
 * known. */
static bool depends_on(const tp_scatter *s, MlirOperation op, MlirValue value, int depth,
                       uint32_t *loops) {
  if (mlirValueIsABlockArgument(value)) {
    if (!mlirBlockEqual(mlirBlockArgumentGetOwner(value), s->body))
      return true; /* from outside */
    int number = (int)mlirBlockArgumentGetArgNumber(value);
    if (number >= s->n_inputs)
      return false;
    *loops |= loops_of_map(op, number, s->n_loops);
    return true;
  }
  MlirOperation maker = tp__defining_op(value);
  if (!mlirBlockEqual(mlirOperationGetBlock(maker), s->body))
    return true;
  if (mlirOperationGetNumRegions(maker) > 0 || depth > 32)
    return false;
  if (tp__op_is(maker, "linalg.index"))
    *loops |= UINT32_C(1) << tp__dim_of(maker);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(maker); i++)
    if (!depends_on(s, op, mlirOperationGetOperand(maker, i), depth + 1, loops))
      return false;
  return true;
}

/* ---- the condition ---- */

static bool is_outside(const tp_scatter *s, MlirValue value) {
  MlirOperation maker = tp__defining_op(value);
  return mlirOperationIsNull(maker) ? !mlirBlockEqual(mlirBlockArgumentGetOwner(value), s->body)
                                    : !mlirBlockEqual(mlirOperationGetBlock(maker), s->body);
}

/* Reads a linalg.index, or the sum of a linalg.index and a value that is defined outside of the
 * body. */
static bool read_index(const tp_scatter *s, MlirValue value, tp_scatter_target *target) {
  MlirOperation maker = tp__defining_op(value);
  target->offset = (MlirValue){NULL};
  if (mlirOperationIsNull(maker))
    return false;
  if (tp__op_is(maker, "arith.addi"))
    for (int i = 0; i < 2; i++) {
      MlirOperation index = tp__defined_by(mlirOperationGetOperand(maker, i), "linalg.index");
      MlirValue other = mlirOperationGetOperand(maker, 1 - i);
      if (mlirOperationIsNull(index) || !is_outside(s, other))
        continue;
      target->offset = other;
      maker = index;
      break;
    }
  if (!tp__op_is(maker, "linalg.index"))
    return false;
  target->index = maker;
  target->loop = tp__dim_of(maker);
  return true;
}

/* True if the loop indexes results alone, each by a dimension of its own. */
static bool is_target_loop(const tp_scatter *s, MlirOperation op, int loop) {
  MlirAttribute maps = tp__inherent(op, "indexing_maps");
  for (int i = 0; i < s->n_inputs + s->n_outputs; i++) {
    bool used = loops_of_map(op, i, s->n_loops) >> loop & 1;
    if (used != (i >= s->n_inputs))
      return false;
    for (intptr_t d = 0; used && d < mlirAffineMapGetNumResults(tp__map_at(maps, i)); d++)
      if (!mlirAffineExprIsADim(mlirAffineMapGetResult(tp__map_at(maps, i), d)))
        return false;
  }
  return true;
}

static void add_target(tp_scatter *s, MlirOperation op, MlirOperation compare) {
  for (int i = 0; i < 2 && s->n_targets < TP_SCATTER_MAX_LOOPS; i++) {
    tp_scatter_target target = {.compare = compare,
                                .position = mlirOperationGetOperand(compare, 1 - i)};
    bool is_new = read_index(s, mlirOperationGetOperand(compare, i), &target) &&
                  mlirTypeIsAIndex(mlirValueGetType(target.position)) &&
                  depends_on(s, op, target.position, 0, &target.depends) &&
                  is_target_loop(s, op, target.loop);
    for (int k = 0; k < s->n_targets; k++)
      is_new = is_new && s->targets[k].loop != target.loop;
    if (!is_new)
      continue;
    s->targets[s->n_targets++] = target;
    return;
  }
}

/* Collects the comparisons of a conjunction. */
static void read_condition(tp_scatter *s, MlirOperation op, MlirValue condition, int depth) {
  MlirOperation maker = tp__defining_op(condition);
  if (mlirOperationIsNull(maker) || depth > 32)
    return;
  if (tp__op_is(maker, "arith.andi")) {
    read_condition(s, op, mlirOperationGetOperand(maker, 0), depth + 1);
    read_condition(s, op, mlirOperationGetOperand(maker, 1), depth + 1);
  } else if (tp__op_is(maker, "arith.cmpi") &&
             mlirIntegerAttrGetValueInt(tp__inherent(maker, "predicate")) == TP_EQ) {
    add_target(s, op, maker);
  }
}

/* A position must be known before the loops that it replaces are. */
static void drop_circular(tp_scatter *s) {
  uint32_t loops = 0;
  int kept = 0;
  for (int i = 0; i < s->n_targets; i++)
    loops |= UINT32_C(1) << s->targets[i].loop;
  for (int i = 0; i < s->n_targets; i++)
    if (!(s->targets[i].depends & loops))
      s->targets[kept++] = s->targets[i];
  s->n_targets = kept;
}

bool tp__scatter_match(MlirOperation op, tp_scatter *s) {
  int64_t segments[2];
  *s = (tp_scatter){0};
  if (!tp__op_is(op, "linalg.generic") ||
      tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) != 2 || segments[1] < 1)
    return false;
  s->n_inputs = (int)segments[0];
  s->n_outputs = (int)segments[1];
  s->n_loops = (int)mlirArrayAttrGetNumElements(tp__inherent(op, "iterator_types"));
  s->body = tp__region_block(op, 0);
  MlirOperation yield = mlirBlockGetTerminator(s->body);
  if (s->n_loops > TP_SCATTER_MAX_LOOPS)
    return false;
  for (int k = 0; k < s->n_outputs; k++) {
    MlirOperation select = tp__defined_by(mlirOperationGetOperand(yield, k), "arith.select");
    if (mlirOperationIsNull(select) ||
        !mlirValueEqual(mlirOperationGetOperand(select, 2),
                        mlirBlockGetArgument(s->body, s->n_inputs + k)) ||
        (k > 0 && !mlirValueEqual(mlirOperationGetOperand(select, 0), s->condition)))
      return false;
    s->condition = mlirOperationGetOperand(select, 0);
  }
  read_condition(s, op, s->condition, 0);
  drop_circular(s);
  return s->n_targets > 0;
}
