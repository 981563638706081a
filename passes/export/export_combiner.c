/* Combiners of reductions. */
#include "passes/export/export.h"

#include "ir/collectives.h"

/* The ops of combiners. Booleans are integers of one bit in arith, so that true is -1 as a signed
 * number and sums are modulo 2; in StableHLO they are truth values, whose sum is "or". */
static const struct {
  const char *name, *of_bools;
} ops[TP_N_COMBINERS] = {
    [TP_SUM] = {"stablehlo.add", "stablehlo.xor"},
    [TP_PRODUCT] = {"stablehlo.multiply", "stablehlo.and"},
    [TP_MAX] = {"stablehlo.maximum", "stablehlo.and"},
    [TP_MIN] = {"stablehlo.minimum", "stablehlo.or"},
    [TP_MAXU] = {"stablehlo.maximum", "stablehlo.or"},
    [TP_MINU] = {"stablehlo.minimum", "stablehlo.and"},
    [TP_MAXNUM] = {"stablehlo.maximum", NULL},
    [TP_MINNUM] = {"stablehlo.minimum", NULL},
    [TP_AND] = {"stablehlo.and", "stablehlo.and"},
    [TP_OR] = {"stablehlo.or", "stablehlo.or"},
    [TP_XOR] = {"stablehlo.xor", "stablehlo.xor"},
};

MlirType tp__export_combined(MlirType element, tp_combiner combiner) {
  bool is_unsigned = combiner == TP_MAXU || combiner == TP_MINU;
  return is_unsigned && !tp__is_bool(element) ? tp__export_unsigned(element) : element;
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
  MlirType combined = tp__export_combined(element, combiner);
  const char *name = tp__is_bool(element) ? ops[combiner].of_bools : ops[combiner].name;
  if (combiner == TP_MAXNUM || combiner == TP_MINNUM)
    return number_extremum(x, name, a, b);
  a = tp__export_bitcast(x, a, combined);
  b = tp__export_bitcast(x, b, combined);
  return tp__export_bitcast(x, tp__export_binary(x, name, a, b), element);
}

tp_status tp__export_combiner(tp_export *x, MlirOperation op, tp_combiner combiner,
                              MlirBlock block) {
  MlirOperation outer = x->where;
  MlirOperation end = tp__create(&(tp_build){.name = "stablehlo.return", .location = x->location});
  mlirBlockAppendOwnedOperation(block, end);
  if (!ops[combiner].name)
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
