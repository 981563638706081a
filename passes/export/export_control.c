/* Control flow and calls. */
#include "passes/export/export.h"

#include <stdio.h>

static MlirOperation build_region_op(tp_export *x, MlirOperation op, const char *name, int n,
                                     const MlirValue *operands, int n_regions) {
  int n_results = (int)mlirOperationGetNumResults(op);
  MlirType *types = tp__calloc((size_t)n_results + 1, sizeof *types);
  for (int i = 0; types && i < n_results; i++)
    types[i] = tp__export_type(mlirValueGetType(mlirOperationGetResult(op, i)));
  MlirOperation now = tp__export_build_op(x, &(tp_build){.name = name,
                                                         .n_operands = n,
                                                         .operands = operands,
                                                         .n_results = types ? n_results : 0,
                                                         .results = types,
                                                         .n_regions = n_regions});
  tp__free(types);
  return now;
}

/* Exports the region of the condition with these arguments in front of x->where. What the condition
 * passes on replaces the arguments of the body, or the results; it is computed again in each
 * place. */
static tp_status pass_on(tp_export *x, MlirOperation op, const MlirValue *values, bool to_results) {
  MlirBlock before = tp__region_block(op, 0);
  MlirOperation end;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(before); i++)
    TP_TRY(tp__export_map(x, op, mlirBlockGetArgument(before, i), values[i]));
  TP_TRY(tp__export_block(x, before, &end));
  for (intptr_t i = 0; i + 1 < mlirOperationGetNumOperands(end); i++) {
    MlirValue target = to_results ? mlirOperationGetResult(op, i)
                                  : mlirBlockGetArgument(tp__region_block(op, 1), i);
    TP_TRY(tp__export_map(x, op, target, tp__export_operand(x, end, (int)i + 1)));
  }
  return TP_OK;
}

/* The loop carries the values that the condition takes. */
static tp_status fill_while(tp_export *x, MlirOperation op, MlirOperation now, int n,
                            const MlirType *types, MlirValue *values) {
  MlirBlock condition = tp__export_region_block(x, now, 0, n, types);
  MlirBlock body = tp__export_region_block(x, now, 1, n, types);
  MlirOperation outer = x->where, last;
  TP_TRY(tp__export_region(x, op, 0, condition, -1));
  x->where = tp__create(&(tp_build){.name = "stablehlo.return", .location = x->location});
  mlirBlockAppendOwnedOperation(body, x->where);
  for (int i = 0; i < n; i++)
    values[i] = mlirBlockGetArgument(body, i);
  TP_TRY(pass_on(x, op, values, false));
  TP_TRY(tp__export_block(x, tp__region_block(op, 1), &last));
  for (int i = 0; i < n; i++)
    values[i] = tp__export_operand(x, last, i);
  mlirOperationSetOperands(x->where, n, values);
  x->where = outer;
  x->location = mlirOperationGetLocation(op);
  for (int i = 0; i < n; i++)
    values[i] = mlirOperationGetResult(now, i);
  return pass_on(x, op, values, true);
}

static tp_status while_op(tp_export *x, MlirOperation op) {
  int n = (int)mlirOperationGetNumOperands(op);
  if (n > TP_EXPORT_MAX_VALUES)
    return tp__error(op, TP_UNSUPPORTED, "carries more than %d values", TP_EXPORT_MAX_VALUES);
  MlirValue *values = tp__calloc((size_t)n + 1, sizeof *values);
  MlirType *types = tp__calloc((size_t)n + 1, sizeof *types);
  tp_status status = values && types ? TP_OK : tp__out_of_memory(op);
  for (int i = 0; i < n && status == TP_OK; i++) {
    values[i] = tp__export_operand(x, op, i);
    types[i] = tp__export_type(mlirValueGetType(mlirOperationGetOperand(op, i)));
  }
  if (status == TP_OK) {
    MlirOperation now = tp__export_build_op(x, &(tp_build){.name = "stablehlo.while",
                                                           .n_operands = n,
                                                           .operands = values,
                                                           .n_results = n,
                                                           .results = types,
                                                           .n_regions = 2});
    status = fill_while(x, op, now, n, types, values);
  }
  tp__free(values);
  tp__free(types);
  return status;
}

/* scf.for: a while loop whose first value is the counter. */
static tp_status build_for(tp_export *x, MlirOperation op, int n, MlirValue *operands,
                           MlirType *types) {
  MlirOperation now = tp__export_build_op(x, &(tp_build){.name = "stablehlo.while",
                                                         .n_operands = n,
                                                         .operands = operands,
                                                         .n_results = n,
                                                         .results = types,
                                                         .n_regions = 2});
  MlirBlock before = tp__export_region_block(x, now, 0, n, types);
  MlirBlock after = tp__export_region_block(x, now, 1, n, types);
  MlirOperation outer = x->where;
  MlirValue high = tp__export_operand(x, op, 1), step = tp__export_operand(x, op, 2);
  x->where = tp__create(&(tp_build){.name = "stablehlo.return", .location = x->location});
  mlirBlockAppendOwnedOperation(before, x->where);
  MlirValue counter = mlirBlockGetArgument(before, 0);
  if (!mlirAttributeIsNull(tp__inherent(op, "unsignedCmp"))) {
    MlirType number = tp__export_unsigned(tp__element_type(mlirValueGetType(counter)));
    counter = tp__export_bitcast(x, counter, number);
    high = tp__export_bitcast(x, high, number);
  }
  MlirValue more = tp__export_compare(x, "LT", counter, high);
  mlirOperationSetOperands(x->where, 1, &more);
  x->where = outer;
  TP_TRY(tp__export_region(x, op, 0, after, 0));
  MlirOperation end = mlirBlockGetFirstOperation(after), next;
  while (next = mlirOperationGetNextInBlock(end), !mlirOperationIsNull(next))
    end = next;
  x->where = end;
  operands[0] = tp__export_binary(x, "stablehlo.add", mlirBlockGetArgument(after, 0), step);
  for (int i = 1; i < n; i++)
    operands[i] = mlirOperationGetOperand(end, i - 1);
  mlirOperationSetOperands(end, n, operands);
  x->where = outer;
  for (int i = 0; i + 1 < n; i++)
    TP_TRY(
        tp__export_map(x, op, mlirOperationGetResult(op, i), mlirOperationGetResult(now, i + 1)));
  return TP_OK;
}

static tp_status for_op(tp_export *x, MlirOperation op) {
  int n = (int)mlirOperationGetNumOperands(op) - 2;
  MlirValue *operands = tp__calloc((size_t)n + 1, sizeof *operands);
  MlirType *types = tp__calloc((size_t)n + 1, sizeof *types);
  tp_status status = operands && types ? TP_OK : tp__out_of_memory(op);
  for (int i = 0; i < n && status == TP_OK; i++) {
    operands[i] = tp__export_operand(x, op, i == 0 ? 0 : i + 2);
    types[i] = mlirValueGetType(operands[i]);
  }
  if (status == TP_OK)
    status = build_for(x, op, n, operands, types);
  tp__free(operands);
  tp__free(types);
  return status;
}

static tp_status branches(tp_export *x, MlirOperation op, MlirOperation now, int n,
                          const int *regions) {
  for (int r = 0; r < n; r++) {
    MlirBlock block = tp__export_region_block(x, now, r, 0, NULL);
    TP_TRY(tp__export_region(x, op, regions[r], block, 0));
  }
  return tp__export_replace_all(x, op, now);
}

static tp_status if_op(tp_export *x, MlirOperation op) {
  MlirValue condition = tp__export_operand(x, op, 0);
  if (mlirOperationGetNumResults(op) == 0)
    return tp__error(op, TP_UNSUPPORTED, "has no results; its effects have no form in StableHLO");
  return branches(x, op, build_region_op(x, op, "stablehlo.if", 1, &condition, 2), 2,
                  (int[]){0, 1});
}

/* The cases must be 0, 1, 2, ...; the default is the last branch, and takes all other indices. */
static tp_status switch_op(tp_export *x, MlirOperation op) {
  enum { MAX_CASES = 256 };
  int regions[MAX_CASES + 1];
  int64_t cases[MAX_CASES];
  int n = tp__int_list(tp__inherent(op, "cases"), MAX_CASES, cases);
  for (int i = 0; i < n; i++) {
    regions[i] = 1 + i;
    if (cases[i] != i)
      return tp__error(op, TP_UNSUPPORTED, "its cases must be 0, 1, 2, ... to be exported");
  }
  if (n < 0)
    return tp__error(op, TP_UNSUPPORTED, "has more than %d cases", MAX_CASES);
  regions[n] = 0;
  MlirValue index = tp__export_operand(x, op, 0);
  MlirType i64 = mlirValueGetType(index);
  /* stays outside of the cases as an i32, too */
  MlirValue bounds[] = {tp__export_int(x, i64, -1), index, tp__export_int(x, i64, n)};
  index = tp__export_build(x, "stablehlo.clamp", i64, TP_LEN(bounds), bounds, 0, NULL);
  index = tp__export_convert(x, index, mlirIntegerTypeGet(x->context, 32));
  return branches(x, op, build_region_op(x, op, "stablehlo.case", 1, &index, n + 1), n + 1,
                  regions);
}

static tp_status call(tp_export *x, MlirOperation op) {
  int n = (int)mlirOperationGetNumOperands(op);
  MlirAttribute callee = tp__inherent(op, "callee");
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(callee);
  if (!mlirOperationIsNull(tp__declaration(op)))
    return tp__error(op, TP_UNSUPPORTED,
                     "calls @%.*s, which has no body, and has no form in StableHLO; give @%.*s a "
                     "body, or write the call as a stablehlo.custom_call, which is kept",
                     (int)name.length, name.data, (int)name.length, name.data);
  MlirValue *operands = tp__calloc((size_t)n + 1, sizeof *operands);
  int n_results = (int)mlirOperationGetNumResults(op);
  MlirType *types = tp__calloc((size_t)n_results + 1, sizeof *types);
  if (!operands || !types) {
    tp__free(operands);
    tp__free(types);
    return tp__out_of_memory(op);
  }
  for (int i = 0; i < n; i++)
    operands[i] = tp__export_operand(x, op, i);
  for (int i = 0; i < n_results; i++)
    types[i] = tp__export_type(mlirValueGetType(mlirOperationGetResult(op, i)));
  MlirNamedAttribute attr = tp__named(x->context, "callee", callee);
  MlirOperation now = tp__export_build_op(x, &(tp_build){.name = "func.call",
                                                         .n_operands = n,
                                                         .operands = operands,
                                                         .n_results = n_results,
                                                         .results = types,
                                                         .n_attributes = 1,
                                                         .attributes = &attr});
  tp__free(operands);
  tp__free(types);
  return tp__export_replace_all(x, op, now);
}

const tp_export_row tp__export_control_rows[] = {
    {"func.call", call},     {"scf.for", for_op},
    {"scf.if", if_op},       {"scf.index_switch", switch_op},
    {"scf.while", while_op}, {NULL, NULL},
};
