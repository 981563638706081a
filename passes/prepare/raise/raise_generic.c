/* Reads and edits linalg.generic in place. */
#include "passes/prepare/raise/raise.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* ---- reading ---- */

static MlirAttribute maps_of(const tp__generic *generic) {
  return tp__inherent(generic->op, "indexing_maps");
}

MlirAffineMap tp__generic_map(const tp__generic *generic, int operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps_of(generic), operand));
}

/* Computes loop ranges. The range of a loop is the size of any dimension that it indexes alone; the
 * op's verifier guarantees that these sizes agree. */
static void read_ranges(tp__generic *generic) {
  MlirAttribute maps = maps_of(generic);
  for (int l = 0; l < generic->n_loops; l++)
    generic->hi[l] = -1;
  for (int i = 0; i < generic->n_inputs + generic->n_inits; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(generic->op, i));
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    for (intptr_t d = 0; mlirTypeIsARankedTensor(type) && d < mlirAffineMapGetNumResults(map);
         d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(expr) && !mlirShapedTypeIsDynamicDim(type, d))
        generic->hi[mlirAffineDimExprGetPosition(expr)] = mlirShapedTypeGetDimSize(type, d) - 1;
    }
  }
}

bool tp__generic_read(MlirOperation op, tp__generic *generic) {
  int64_t segments[2];
  if (!tp__op_is(op, "linalg.generic") || !mlirAttributeIsNull(tp__inherent(op, "library_call")) ||
      !mlirAttributeIsNull(tp__get(op, "tp.factors")) || /* part of a plan for exactly this op */
      tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) != 2)
    return false;
  *generic = (tp__generic){.op = op, .n_inputs = (int)segments[0], .n_inits = (int)segments[1]};
  intptr_t n_operands = mlirOperationGetNumOperands(op);
  if (n_operands == 0 || n_operands >= TP_RAISE_MAX_OPERANDS ||
      mlirOperationGetNumResults(op) != generic->n_inits)
    return false; /* a generic without results works on buffers */
  generic->n_loops = (int)mlirAffineMapGetNumDims(tp__generic_map(generic, 0));
  generic->body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  generic->yield = mlirBlockGetTerminator(generic->body);
  if (generic->n_loops > TP_RAISE_MAX_LOOPS)
    return false;
  read_ranges(generic);
  return true;
}

bool tp__generic_is_static(const tp__generic *generic) {
  for (int l = 0; l < generic->n_loops; l++)
    if (generic->hi[l] < generic->lo[l])
      return false;
  return true;
}

bool tp__map_covers(MlirAffineMap map, MlirType type) {
  uint64_t seen = 0;
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    if (mlirAffineExprIsADim(expr)) {
      uint64_t bit = UINT64_C(1) << mlirAffineDimExprGetPosition(expr);
      if (seen & bit)
        return false; /* a diagonal */
      seen |= bit;
    } else if (!mlirAffineExprIsAConstant(expr) || mlirShapedTypeIsDynamicDim(type, d) ||
               mlirShapedTypeGetDimSize(type, d) != 1) {
      return false;
    }
  }
  return true;
}

bool tp__generic_has_ranges(const tp__generic *generic, uint64_t without) {
  uint64_t seen = 0;
  for (int i = 0; i < generic->n_inputs + generic->n_inits; i++) {
    MlirAffineMap map = tp__generic_map(generic, i);
    for (intptr_t d = 0; !(without >> i & 1) && d < mlirAffineMapGetNumResults(map); d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(expr))
        seen |= UINT64_C(1) << mlirAffineDimExprGetPosition(expr);
    }
  }
  return seen == (UINT64_C(1) << generic->n_loops) - 1;
}

/* ---- editing ---- */

/* Sets operands and maps. The first n_inputs are inputs. */
static void set_operands(tp__generic *generic, int n_inputs, int n, const MlirValue *values,
                         const MlirAttribute *maps) {
  MlirContext context = mlirOperationGetContext(generic->op);
  int32_t segments[] = {n_inputs, n - n_inputs};
  mlirOperationSetOperands(generic->op, n, values);
  mlirOperationSetInherentAttributeByName(generic->op, tp__ref("operandSegmentSizes"),
                                          mlirDenseI32ArrayGet(context, 2, segments));
  mlirOperationSetInherentAttributeByName(generic->op, tp__ref("indexing_maps"),
                                          mlirArrayAttrGet(context, n, maps));
  generic->n_inputs = n_inputs;
}

void tp__generic_drop_input(tp__generic *generic, int i) {
  MlirValue values[TP_RAISE_MAX_OPERANDS];
  MlirAttribute maps[TP_RAISE_MAX_OPERANDS];
  int n = 0;
  for (int k = 0; k < generic->n_inputs + generic->n_inits; k++) {
    if (k == i)
      continue;
    values[n] = mlirOperationGetOperand(generic->op, k);
    maps[n++] = mlirArrayAttrGetElement(maps_of(generic), k);
  }
  mlirBlockEraseArgument(generic->body, (unsigned)i);
  set_operands(generic, generic->n_inputs - 1, n, values, maps);
}

bool tp__generic_add_input(tp__generic *generic, MlirValue value, MlirAffineMap map,
                           MlirValue *argument) {
  MlirValue values[TP_RAISE_MAX_OPERANDS];
  MlirAttribute maps[TP_RAISE_MAX_OPERANDS];
  int n = generic->n_inputs + generic->n_inits, at = generic->n_inputs;
  for (int i = 0; i < at; i++)
    if (mlirValueEqual(mlirOperationGetOperand(generic->op, i), value) &&
        mlirAffineMapEqual(tp__generic_map(generic, i), map)) {
      *argument = mlirBlockGetArgument(generic->body, i);
      return true;
    }
  if (n + 1 >= TP_RAISE_MAX_OPERANDS)
    return false;
  for (int i = 0; i <= n; i++) {
    int from = i < at ? i : i - 1;
    values[i] = i == at ? value : mlirOperationGetOperand(generic->op, from);
    maps[i] = i == at ? mlirAffineMapAttrGet(map) : mlirArrayAttrGetElement(maps_of(generic), from);
  }
  *argument = mlirBlockInsertArgument(generic->body, at, tp__element_type(mlirValueGetType(value)),
                                      mlirOperationGetLocation(generic->op));
  set_operands(generic, at + 1, n + 1, values, maps);
  return true;
}

/* Returns an existing equal slice before `where`, or a null op. */
static MlirOperation find_slice(MlirOperation where, MlirValue value, MlirType type,
                                MlirAttribute offsets, MlirAttribute strides) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (tp__op_is(op, "tensor.extract_slice") &&
        mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(where)) &&
        mlirOperationIsBeforeInBlock(op, where) &&
        mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(op, 0)), type) &&
        mlirAttributeEqual(tp__inherent(op, "static_offsets"), offsets) &&
        mlirAttributeEqual(tp__inherent(op, "static_strides"), strides) &&
        mlirOperationGetNumDiscardableAttributes(op) == 0)
      return op;
  }
  return (MlirOperation){NULL};
}

MlirValue tp__slice(MlirOperation where, MlirValue value, const int64_t *offsets,
                    const int64_t *sizes) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType type = mlirValueGetType(value);
  int rank;
  int64_t shape[TP_MAX_RANK], ones[TP_MAX_RANK];
  bool whole = true;
  if (!tp__static_tensor(type, &rank, shape))
    return value;
  for (int d = 0; d < rank; d++) {
    ones[d] = 1;
    whole &= offsets[d] == 0 && sizes[d] == shape[d];
  }
  if (whole)
    return value;
  MlirType result = tp__tensor_like(type, rank, sizes);
  MlirAttribute starts = tp__attr_i64s(context, rank, offsets),
                strides = tp__attr_i64s(context, rank, ones);
  MlirOperation same = find_slice(where, value, result, starts, strides);
  if (!mlirOperationIsNull(same))
    return mlirOperationGetResult(same, 0);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "static_offsets", starts),
      tp__named(context, "static_sizes", tp__attr_i64s(context, rank, sizes)),
      tp__named(context, "static_strides", strides),
      tp__named(context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(context, 4, (int32_t[]){1, 0, 0, 0})),
  };
  MlirOperation op = tp__create(&(tp_build){.name = "tensor.extract_slice",
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 1,
                                            .operands = &value,
                                            .n_results = 1,
                                            .results = &result,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

void tp__copy_discardable(MlirOperation from, MlirOperation to) {
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(from); i++) {
    MlirNamedAttribute attr = mlirOperationGetDiscardableAttribute(from, i);
    mlirOperationSetDiscardableAttributeByName(to, mlirIdentifierStr(attr.name), attr.attribute);
  }
}

MlirValue tp__scalar_constant(MlirOperation where, MlirType type, int64_t value) {
  return tp__constant(where, type, mlirIntegerAttrGet(type, value));
}

bool tp__raise_each_read(tp__raise *raise, tp__generic *generic,
                         bool (*raise_one)(tp__raise *raise, tp__generic *generic,
                                           MlirOperation read)) {
  bool changed = false;
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(generic->body);
       !mlirOperationEqual(op, generic->yield); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (tp__op_is(op, "tensor.extract"))
      changed |= raise_one(raise, generic, op);
  }
  return changed;
}
