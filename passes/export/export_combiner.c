/* Combiners of reductions. */
#include "passes/export/export.h"

#include "ir/collectives.h"

static const char *op_of(tp_combiner combiner) {
  switch (combiner) {
  case TP_SUM:
    return "stablehlo.add";
  case TP_PRODUCT:
    return "stablehlo.multiply";
  case TP_MAX:
  case TP_MAXU:
    return "stablehlo.maximum";
  case TP_MIN:
  case TP_MINU:
    return "stablehlo.minimum";
  case TP_AND:
    return "stablehlo.and";
  case TP_OR:
    return "stablehlo.or";
  case TP_XOR:
    return "stablehlo.xor";
  default:
    return NULL;
  }
}

static MlirValue bitcast(tp_export *x, MlirValue value, MlirType element) {
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
  return tp__export_build(x, "stablehlo.bitcast_convert", tp__export_tensor(element, rank, sizes),
                          1, &value, 0, NULL);
}

/* The other number where one is NaN. */
static MlirValue number_extremum(tp_export *x, const char *name, MlirValue a, MlirValue b) {
  MlirValue best = tp__export_binary(x, name, a, b);
  MlirType type = mlirValueGetType(a);
  best = tp__export_build(x, "stablehlo.select", type, 3,
                          (MlirValue[]){tp__export_compare(x, "NE", b, b), a, best}, 0, NULL);
  return tp__export_build(x, "stablehlo.select", type, 3,
                          (MlirValue[]){tp__export_compare(x, "NE", a, a), b, best}, 0, NULL);
}

MlirValue tp__export_combine(tp_export *x, tp_combiner combiner, MlirValue a, MlirValue b) {
  MlirType element = tp__element_type(mlirValueGetType(a));
  if (combiner == TP_MAXNUM || combiner == TP_MINNUM)
    return number_extremum(x, combiner == TP_MAXNUM ? "stablehlo.maximum" : "stablehlo.minimum", a,
                           b);
  if ((combiner == TP_MAXU || combiner == TP_MINU) && mlirIntegerTypeGetWidth(element) > 1) {
    MlirType unsigned_element = tp__export_unsigned(element);
    MlirValue best = tp__export_binary(x, op_of(combiner), bitcast(x, a, unsigned_element),
                                       bitcast(x, b, unsigned_element));
    return bitcast(x, best, element);
  }
  return tp__export_binary(x, op_of(combiner), a, b);
}

tp_status tp__export_combiner(tp_export *x, MlirOperation op, tp_combiner combiner,
                              MlirBlock block) {
  MlirOperation outer = x->where;
  MlirOperation end = tp__create(&(tp_build){.name = "stablehlo.return", .location = x->location});
  mlirBlockAppendOwnedOperation(block, end);
  bool known = op_of(combiner) || combiner == TP_MAXNUM || combiner == TP_MINNUM;
  if (!known)
    return tp__error(op, TP_UNSUPPORTED, "its combiner '%s' has no form in StableHLO",
                     tp_combiner_name(combiner));
  x->where = end;
  MlirValue value = tp__export_combine(x, combiner, mlirBlockGetArgument(block, 0),
                                       mlirBlockGetArgument(block, 1));
  mlirOperationSetOperands(end, 1, &value);
  x->where = outer;
  return TP_OK;
}

MlirAttribute tp__export_identity(MlirType element, tp_combiner combiner) {
  return tp__identity_attr(element, combiner);
}
