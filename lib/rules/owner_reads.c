/* Combiners, neutral values and sizes for reads of owned elements. */
#include "rules/owner_reads.h"

#include "rules/mask.h"

static bool has_sum(MlirType element) {
  return mlirTypeIsAFloat(element) || mlirTypeIsAInteger(element) || mlirTypeIsAComplex(element);
}

bool tp__owner_combiner(MlirType element, tp_combiner *combiner) {
  *combiner = tp__is_bool(element) ? TP_OR : TP_SUM;
  return has_sum(element);
}

/* Returns a neutral element for addition. For floats it is -0.0: -0.0 + x is x for every x
 * including -0.0, but 0.0 + -0.0 is 0.0. */
static MlirAttribute neutral_element(MlirType element) {
  MlirContext context = mlirTypeGetContext(element);
  if (mlirTypeIsAComplex(element)) {
    MlirAttribute part = neutral_element(mlirComplexTypeGetElementType(element));
    return mlirArrayAttrGet(context, 2, (MlirAttribute[]){part, part});
  }
  return mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(context, element, -0.0)
                                   : mlirIntegerAttrGet(element, 0);
}

MlirValue tp__neutral_value(MlirOperation where, MlirType element) {
  return tp__constant(where, element, neutral_element(element));
}

MlirValue tp__owner_read_size(const tp_local *local, int f) {
  MlirOperation op = local->rule->op;
  return tp__binary(op, "arith.maxsi", tp__valid_size(local, f), tp__index_constant(op, 0));
}
