/* Masks of rows in groups: copies of the rows, one for each group, zero outside of the group; and
 * products and sums of such copies. */
#include "passes/prepare/raise/group_rows.h"

#include "ir/collectives.h"
#include "rules/body.h"
#include "rules/rows.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* ---- masks ---- */

static bool is_map(MlirAttribute maps, int i, int n, const int *loops) {
  MlirAffineMap map = tp__map_at(maps, i);
  if (mlirAffineMapGetNumResults(map) != n)
    return false;
  for (int d = 0; d < n; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    if (!mlirAffineExprIsADim(expr) || mlirAffineDimExprGetPosition(expr) != loops[d])
      return false;
  }
  return true;
}

/* The operand of a linalg.generic that only repeats it along the loops that `loops` lacks; null: it
 * does something else. */
static MlirValue repeated(MlirValue value, int n, const int *loops) {
  MlirOperation op = tp__defined_by(value, "linalg.generic");
  if (mlirOperationIsNull(op) || mlirOperationGetNumOperands(op) != 2)
    return (MlirValue){NULL};
  MlirAttribute maps = tp__inherent(op, "indexing_maps");
  MlirBlock body = tp__region_block(op, 0);
  MlirValue yielded = mlirOperationGetOperand(mlirBlockGetTerminator(body), 0);
  bool fits = mlirArrayAttrGetNumElements(maps) == 2 && is_map(maps, 0, n, loops) &&
              mlirAffineMapIsIdentity(tp__map_at(maps, 1)) &&
              mlirValueEqual(yielded, mlirBlockGetArgument(body, 0));
  return fits ? mlirOperationGetOperand(op, 0) : (MlirValue){NULL};
}

/* True if element [e, r, ...] of the value is r. */
static bool counts_rows(MlirValue value) {
  MlirOperation op = tp__defined_by(value, "linalg.generic");
  if (mlirOperationIsNull(op) || mlirOperationGetNumOperands(op) != 1 ||
      !mlirAffineMapIsIdentity(tp__map_at(tp__inherent(op, "indexing_maps"), 0)))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(tp__region_block(op, 0));
  MlirOperation cast = tp__defined_by(mlirOperationGetOperand(yield, 0), "arith.index_cast");
  if (mlirOperationIsNull(cast))
    return false;
  MlirOperation index = tp__defined_by(mlirOperationGetOperand(cast, 0), "linalg.index");
  return !mlirOperationIsNull(index) && tp__dim_of(index) == 1;
}

/* The bound of a comparison: `row < bound` if is_end, else `bound <= row`. Null if it is none. */
static MlirValue bound_of(MlirValue condition, bool is_end) {
  static const struct {
    tp_compare predicate;
    int row; /* operand that is the number of the row */
    bool is_end;
  } forms[] = {{TP_SLT, 0, true}, {TP_SGT, 1, true}, {TP_SLE, 1, false}, {TP_SGE, 0, false}};
  MlirOperation op = tp__defined_by(condition, "arith.cmpi");
  for (int i = 0; i < TP_LEN(forms) && !mlirOperationIsNull(op); i++) {
    if (forms[i].is_end != is_end ||
        mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate")) != forms[i].predicate ||
        !counts_rows(mlirOperationGetOperand(op, forms[i].row)))
      continue;
    return repeated(mlirOperationGetOperand(op, 1 - forms[i].row), 1, (int[]){0});
  }
  return (MlirValue){NULL};
}

static bool read_groups(MlirValue mask, tp_row_groups *g) {
  MlirOperation both = tp__defined_by(mask, "arith.andi");
  for (int i = 0; i < 2 && !mlirOperationIsNull(both); i++) {
    g->starts = bound_of(mlirOperationGetOperand(both, i), false);
    g->ends = bound_of(mlirOperationGetOperand(both, 1 - i), true);
    if (!mlirValueIsNull(g->starts) && !mlirValueIsNull(g->ends))
      return mlirTypeEqual(mlirValueGetType(g->starts), mlirValueGetType(g->ends));
  }
  return false;
}

bool tp__rows_read_mask(MlirOperation op, MlirValue *rows, tp_row_groups *g) {
  int loops[TP_MAX_RANK], rank;
  int64_t shape[TP_MAX_RANK];
  if (!tp__op_is(op, "arith.select") || !tp__static_tensor(tp__result_type(op), &rank, shape) ||
      rank < 2 || !tp__is_zero_tensor(mlirOperationGetOperand(op, 2)))
    return false;
  for (int d = 0; d < rank; d++)
    loops[d] = d + 1;
  *rows = repeated(mlirOperationGetOperand(op, 1), rank - 1, loops);
  return !mlirValueIsNull(*rows) && read_groups(mlirOperationGetOperand(op, 0), g);
}

static MlirAttribute loop_map(MlirContext context, int n_loops, int n, const int *loops) {
  MlirAffineExpr exprs[TP_MAX_RANK];
  for (int d = 0; d < n; d++)
    exprs[d] = mlirAffineDimExprGet(context, loops[d]);
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, n_loops, 0, n, exprs));
}

MlirOperation tp__rows_build_mask(MlirOperation op, MlirValue rows, const tp_row_groups *g) {
  MlirContext context = mlirOperationGetContext(op);
  MlirType type = tp__result_type(op);
  int rank = (int)mlirShapedTypeGetRank(type), all[TP_MAX_RANK];
  for (int d = 0; d < rank; d++)
    all[d] = d;
  MlirAttribute of_group = loop_map(context, rank, 1, all);
  MlirValue operands[] = {rows, g->starts, g->ends, tp__empty(op, type)};
  MlirAttribute maps[] = {loop_map(context, rank, rank - 1, all + 1), of_group, of_group,
                          loop_map(context, rank, rank, all)};
  MlirOperation made = tp__build_generic(&(tp_generic){.where = op,
                                                       .location = mlirOperationGetLocation(op),
                                                       .n_inputs = 3,
                                                       .n_inits = 1,
                                                       .operands = operands,
                                                       .maps = maps});
  MlirOperation yield = tp__build_generic_body(made);
  MlirBlock body = mlirOperationGetBlock(yield);
  MlirType index = mlirIndexTypeGet(context),
           number = tp__element_type(mlirValueGetType(g->starts)), element = tp__element_type(type);
  MlirNamedAttribute dim = tp__named(context, "dim", tp__attr_i64(context, 1));
  MlirOperation row = tp__create(&(tp_build){.name = "linalg.index",
                                             .location = mlirOperationGetLocation(op),
                                             .n_results = 1,
                                             .results = &index,
                                             .n_attributes = 1,
                                             .attributes = &dim});
  tp__insert_before(yield, row);
  MlirValue at = tp__index_cast(yield, mlirOperationGetResult(row, 0), number);
  MlirValue inside =
      tp__binary(yield, "arith.andi", tp__compare(yield, TP_SGE, at, mlirBlockGetArgument(body, 1)),
                 tp__compare(yield, TP_SLT, at, mlirBlockGetArgument(body, 2)));
  MlirAttribute zero = tp__identity_attr(element, TP_SUM);
  MlirValue value =
      tp__select(yield, inside, mlirBlockGetArgument(body, 0), tp__constant(yield, element, zero));
  mlirOperationSetOperands(yield, 1, &value);
  return made;
}

/* ---- what uses them ---- */

/* True for a contraction of two inputs. */
static bool is_contraction(MlirOperation op) {
  tp_body body;
  int64_t segments[2];
  return tp__op_is(op, "linalg.generic") &&
         tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) == 2 &&
         segments[0] == 2 && segments[1] == 1 && tp__body_of(op, 2, &body) &&
         tp__body_is_contraction(&body);
}

/* True if a result of the map depends on the loop. */
static bool depends_on(MlirAffineMap map, MlirAffineExpr loop) {
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d),
                                      mlirAffineDimExprGetPosition(loop)))
      return true;
  return false;
}

bool tp__rows_is_product(MlirOperation op) {
  if (!is_contraction(op))
    return false;
  MlirAttribute maps = tp__inherent(op, "indexing_maps");
  MlirAffineMap mask = tp__map_at(maps, 0), result = tp__map_at(maps, 2);
  MlirAffineExpr group = mlirAffineMapGetResult(mask, 0), row = mlirAffineMapGetResult(mask, 1);
  if (mlirAffineMapGetNumResults(result) < 1 || !mlirAffineExprIsADim(group) ||
      !mlirAffineExprIsADim(row) || !mlirAffineExprEqual(mlirAffineMapGetResult(result, 0), row))
    return false;
  return !depends_on(result, group);
}

/* The mask with groups that defines operand i of the op; null: something else does. */
static MlirOperation mask_of(MlirOperation op, int i) {
  MlirOperation mask = tp__defining_op(mlirOperationGetOperand(op, i));
  bool is = !mlirOperationIsNull(mask) && tp__rows_has_role(mask, TP_ROWS_MASK) &&
            !mlirAttributeIsNull(tp__get(mask, "tp.groups"));
  return is ? mask : (MlirOperation){NULL};
}

bool tp__rows_is_sum(MlirOperation op) {
  if (!is_contraction(op))
    return false;
  MlirOperation first = mask_of(op, 0), second = mask_of(op, 1);
  if (mlirOperationIsNull(first) || mlirOperationIsNull(second) ||
      !mlirAttributeEqual(tp__get(first, "tp.groups"), tp__get(second, "tp.groups")))
    return false;
  MlirAttribute maps = tp__inherent(op, "indexing_maps");
  MlirAffineMap result = tp__map_at(maps, 2);
  MlirAffineExpr row = mlirAffineMapGetResult(tp__map_at(maps, 0), 1);
  if (!mlirAffineExprIsADim(row) ||
      !mlirAffineExprEqual(mlirAffineMapGetResult(tp__map_at(maps, 1), 1), row))
    return false;
  return !depends_on(result, row);
}
