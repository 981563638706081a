/* Ops of StableHLO and CHLO that the import kept (passes/import/stablehlo/hlo_kept.c): they are
 * written as they were, on local shapes. */
#include "passes/export/export.h"

/* The functions that such an op names are converted, and may have been inlined. */
static tp_status check_symbols(MlirOperation op) {
  static const char *const names[] = {"called_computations", "decomposition"};
  for (int i = 0; i < TP_LEN(names); i++) {
    MlirAttribute attr = tp__property(op, names[i]);
    if (mlirAttributeIsNull(attr))
      continue;
    if (mlirAttributeIsAArray(attr) && mlirArrayAttrGetNumElements(attr) > 0)
      attr = mlirArrayAttrGetElement(attr, 0);
    if (!mlirAttributeIsASymbolRef(attr))
      continue;
    MlirStringRef symbol = mlirSymbolRefAttrGetRootReference(attr);
    return tp__error(op, TP_UNSUPPORTED,
                     "cannot be exported: its %s has @%.*s, a function that is not exported as it "
                     "was; use an op without %s, or compute it outside of the program",
                     names[i], (int)symbol.length, symbol.data, names[i]);
  }
  return TP_OK;
}

/* True for the operands and results whose numbers tp.unsigned has. */
static bool was_unsigned(MlirOperation op, int64_t number) {
  MlirAttribute numbers = tp__get(op, "tp.unsigned");
  bool is_list = !mlirAttributeIsNull(numbers) && mlirAttributeIsADenseI64Array(numbers);
  intptr_t n = is_list ? mlirDenseArrayGetNumElements(numbers) : 0;
  for (intptr_t i = 0; i < n; i++)
    if (mlirDenseI64ArrayGetElement(numbers, i) == number)
      return true;
  return false;
}

static MlirType unsigned_type(MlirType type) {
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(type, &rank, sizes);
  return tp__export_tensor(tp__export_unsigned(tp__element_type(type)), rank, sizes);
}

static MlirValue as_type(tp_export *x, MlirValue value, MlirType type) {
  return tp__export_build(x, "stablehlo.bitcast_convert", type, 1, &value, 0, NULL);
}

/* Gives the clone the regions that tp.regions holds as text. */
static tp_status restore_regions(tp_export *x, MlirOperation op, MlirOperation clone) {
  MlirAttribute text = tp__get(op, "tp.regions");
  if (mlirAttributeIsNull(text))
    return TP_OK;
  MlirOperation holder = {NULL};
  if (mlirAttributeIsAString(text))
    holder = mlirOperationCreateParse(x->context, mlirStringAttrGetValue(text), tp__ref(""));
  if (mlirOperationIsNull(holder) ||
      mlirOperationGetNumRegions(holder) != mlirOperationGetNumRegions(clone)) {
    if (!mlirOperationIsNull(holder))
      mlirOperationDestroy(holder);
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "its tp.regions does not hold its %d regions; keep what "
                     "tp-import-stablehlo wrote",
                     (int)mlirOperationGetNumRegions(clone));
  }
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(clone); r++)
    mlirRegionTakeBody(mlirOperationGetRegion(clone, r), mlirOperationGetRegion(holder, r));
  mlirOperationDestroy(holder);
  return TP_OK;
}

static void remove_own_attributes(MlirOperation op) {
  static const char *const ours[] = {"tp.rule",   "tp.sharding", "tp.factors",
                                     "tp.global", "tp.unsigned", "tp.regions"};
  for (int i = 0; i < TP_LEN(ours); i++)
    tp__remove(op, ours[i]);
}

static tp_status map_results(tp_export *x, MlirOperation op, MlirOperation clone) {
  intptr_t n = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(clone, i);
    MlirType plain = tp__export_type(mlirValueGetType(result));
    bool is_unsigned = was_unsigned(op, n + i);
    mlirValueSetType(result, is_unsigned ? unsigned_type(plain) : plain);
    TP_TRY(tp__export_map(x, op, mlirOperationGetResult(op, i),
                          is_unsigned ? as_type(x, result, plain) : result));
  }
  return TP_OK;
}

tp_status tp__export_kept(tp_export *x, MlirOperation op) {
  TP_TRY(check_symbols(op));
  MlirOperation clone = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue value = tp__export_operand(x, op, (int)i);
    if (was_unsigned(op, i))
      value = as_type(x, value, unsigned_type(mlirValueGetType(value)));
    mlirOperationSetOperand(clone, i, value);
  }
  tp__insert_before(x->where, clone);
  TP_TRY(restore_regions(x, op, clone));
  remove_own_attributes(clone);
  return map_results(x, op, clone);
}
