#include "rules/body.h"

#include <math.h>
#include <string.h>

bool tp__body_of(MlirOperation op, int n_inputs, tp_body *body) {
  if (mlirOperationGetNumRegions(op) != 1)
    return false;
  body->block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body->block))
    return false;
  body->n_args = (int)mlirBlockGetNumArguments(body->block);
  body->n_inputs = n_inputs;
  body->yield = mlirBlockGetTerminator(body->block);
  return !mlirOperationIsNull(body->yield) && body->n_args >= n_inputs;
}

bool tp__body_reads(const tp_body *body, int i) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body->block, i)));
}

/* ---- combiners ---- */

static const struct {
  const char *op;
  tp_combiner combiner;
} combiners[] = {
    {"arith.addf", TP_SUM},       {"arith.addi", TP_SUM},       {"arith.mulf", TP_PRODUCT}, {"arith.muli", TP_PRODUCT},
    {"arith.maximumf", TP_MAX},   {"arith.maxsi", TP_MAX},      {"arith.minimumf", TP_MIN}, {"arith.minsi", TP_MIN},
    {"arith.maxnumf", TP_MAXNUM}, {"arith.minnumf", TP_MINNUM}, {"arith.maxui", TP_MAXU},   {"arith.minui", TP_MINU},
    {"arith.andi", TP_AND},       {"arith.ori", TP_OR},         {"arith.xori", TP_XOR},     {"complex.add", TP_SUM},
    {"complex.mul", TP_PRODUCT},
};

static bool op_combiner(MlirOperation op, tp_combiner *combiner) {
  for (int i = 0; i < TP_LEN(combiners); i++)
    if (tp__op_is(op, combiners[i].op)) {
      *combiner = combiners[i].combiner;
      return true;
    }
  return false;
}

static bool depends_on(MlirValue value, MlirValue on, MlirBlock block) {
  if (mlirValueEqual(value, on))
    return true;
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) || !mlirBlockEqual(mlirOperationGetBlock(op), block))
    return false;
  if (mlirOperationGetNumRegions(op) > 0)
    return true; /* cannot see through: assume it does */
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (depends_on(mlirOperationGetOperand(op, i), on, block))
      return true;
  return false;
}

/* value == init (+) x, through a chain of one combiner. */
static bool chain(const tp_body *body, MlirValue value, MlirValue init, tp_combiner want) {
  if (mlirValueEqual(value, init))
    return true;
  MlirOperation op = tp__defining_op(value);
  tp_combiner c;
  if (mlirOperationIsNull(op) || !op_combiner(op, &c) || c != want)
    return false;
  MlirValue a = mlirOperationGetOperand(op, 0), b = mlirOperationGetOperand(op, 1);
  bool in_a = depends_on(a, init, body->block), in_b = depends_on(b, init, body->block);
  return in_a != in_b && chain(body, in_a ? a : b, init, want);
}

bool tp__body_combiner(const tp_body *body, int k, tp_combiner *combiner) {
  MlirValue init = mlirBlockGetArgument(body->block, body->n_inputs + k);
  MlirValue value = mlirOperationGetOperand(body->yield, k);
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) || !op_combiner(op, combiner) || !chain(body, value, init, *combiner))
    return false;
  /* No other output may look at this init: it would see a partial value. */
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(body->yield); i++)
    if (i != k && depends_on(mlirOperationGetOperand(body->yield, i), init, body->block))
      return false;
  return true;
}

/* ---- linearity ---- */

typedef enum degree { CONSTANT, LINEAR, NONLINEAR } degree;

static degree degree_of(const tp_body *body, MlirValue value, uint64_t set);

static degree max_degree(degree a, degree b) { return a > b ? a : b; }

/* Rules by op name; operands 0 and 1 have degrees a and b. */
static degree combine(MlirOperation op, const tp_body *body, uint64_t set) {
  intptr_t n = mlirOperationGetNumOperands(op);
  degree d[3] = {CONSTANT, CONSTANT, CONSTANT}, all = CONSTANT;
  for (intptr_t i = 0; i < n; i++) {
    degree x = degree_of(body, mlirOperationGetOperand(op, i), set);
    if (i < 3)
      d[i] = x;
    all = max_degree(all, x);
  }
  if (all != LINEAR)
    return all;
  if (tp__op_is(op, "arith.addf") || tp__op_is(op, "arith.subf") || tp__op_is(op, "arith.addi") || tp__op_is(op, "arith.subi"))
    return d[0] == LINEAR && d[1] == LINEAR ? LINEAR : NONLINEAR; /* x + constant is affine, not linear */
  if (tp__op_is(op, "arith.mulf") || tp__op_is(op, "arith.muli"))
    return d[0] == CONSTANT || d[1] == CONSTANT ? LINEAR : NONLINEAR;
  if (tp__op_is(op, "arith.divf"))
    return d[1] == CONSTANT ? LINEAR : NONLINEAR;
  if (tp__op_is(op, "arith.negf") || tp__op_is(op, "arith.extf") || tp__op_is(op, "arith.truncf") ||
      tp__op_is(op, "arith.trunci"))
    return LINEAR;
  if (tp__op_is(op, "arith.select"))
    return d[0] == CONSTANT && d[1] == LINEAR && d[2] == LINEAR ? LINEAR : NONLINEAR;
  return NONLINEAR;
}

static degree degree_of(const tp_body *body, MlirValue value, uint64_t set) {
  if (mlirValueIsABlockArgument(value)) {
    if (!mlirBlockEqual(mlirBlockArgumentGetOwner(value), body->block))
      return CONSTANT;
    return set >> mlirBlockArgumentGetArgNumber(value) & 1 ? LINEAR : CONSTANT;
  }
  MlirOperation op = tp__defining_op(value);
  if (!mlirBlockEqual(mlirOperationGetBlock(op), body->block))
    return CONSTANT;
  if (mlirOperationGetNumRegions(op) > 0)
    return NONLINEAR;
  return combine(op, body, set);
}

bool tp__body_linear(const tp_body *body, uint64_t set) {
  intptr_t n = mlirOperationGetNumOperands(body->yield);
  for (intptr_t k = 0; k < n; k++)
    if (degree_of(body, mlirOperationGetOperand(body->yield, k), set) != LINEAR)
      return false;
  return n > 0;
}

/* ---- contractions and work ---- */

static MlirValue strip_extension(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  while (!mlirOperationIsNull(op) && (tp__op_is(op, "arith.extf") || tp__op_is(op, "arith.extsi"))) {
    value = mlirOperationGetOperand(op, 0);
    op = tp__defining_op(value);
  }
  return value;
}

bool tp__body_is_contraction(const tp_body *body) {
  if (mlirOperationGetNumOperands(body->yield) != 1 || body->n_inputs != 2)
    return false;
  MlirOperation add = tp__defining_op(mlirOperationGetOperand(body->yield, 0));
  if (mlirOperationIsNull(add) ||
      !(tp__op_is(add, "arith.addf") || tp__op_is(add, "arith.addi") || tp__op_is(add, "complex.add")))
    return false;
  MlirValue init = mlirBlockGetArgument(body->block, 2);
  for (int side = 0; side < 2; side++) {
    MlirOperation mul = tp__defining_op(mlirOperationGetOperand(add, 1 - side));
    if (!mlirValueEqual(mlirOperationGetOperand(add, side), init) || mlirOperationIsNull(mul) ||
        !(tp__op_is(mul, "arith.mulf") || tp__op_is(mul, "arith.muli") || tp__op_is(mul, "complex.mul")))
      continue;
    MlirValue a = strip_extension(mlirOperationGetOperand(mul, 0)), b = strip_extension(mlirOperationGetOperand(mul, 1));
    return mlirValueIsABlockArgument(a) && mlirValueIsABlockArgument(b) && !mlirValueEqual(a, b);
  }
  return false;
}

static tp_status add_work(MlirOperation op, void *data) {
  double *work = data;
  if (tp__op_has_dialect(op, "math"))
    *work += 15; /* a transcendental in scalar code costs about that many adds */
  else if (tp__op_is(op, "arith.divf") || tp__op_is(op, "arith.divsi") || tp__op_is(op, "arith.remsi"))
    *work += 4;
  else if (tp__op_has_dialect(op, "complex"))
    *work += 6; /* a multiplication is 4 of reals and 2 additions */
  else if (tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "tensor"))
    *work += 1;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    *work += 1;
  return TP_OK;
}

double tp__body_work(const tp_body *body) {
  double work = 0.5; /* loads and stores, most of which fusion removes */
  for (MlirOperation op = mlirBlockGetFirstOperation(body->block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    add_work(op, &work);
  return work;
}

/* ---- identities ---- */

static bool float_identity(double v, tp_combiner c) {
  switch (c) {
  case TP_SUM:
    return v == 0;
  case TP_PRODUCT:
    return v == 1;
  case TP_MAX:
  case TP_MAXNUM:
    return isinf(v) && v < 0;
  case TP_MIN:
  case TP_MINNUM:
    return isinf(v) && v > 0;
  default:
    return false;
  }
}

static bool integer_identity(int64_t v, unsigned width, tp_combiner c) {
  int64_t min = width >= 64 ? INT64_MIN : -((int64_t)1 << (width - 1));
  int64_t max = width >= 64 ? INT64_MAX : ((int64_t)1 << (width - 1)) - 1;
  switch (c) {
  case TP_SUM:
  case TP_OR:
  case TP_XOR:
  case TP_MAXU:
    return v == 0;
  case TP_PRODUCT:
    return v == 1 || (width == 1 && v == -1);
  case TP_AND:
  case TP_MINU:
    return v == -1 || (width == 1 && v == 1);
  case TP_MAX:
    return v == min;
  case TP_MIN:
    return v == max;
  default:
    return false;
  }
}

bool tp__attr_is_identity(MlirAttribute attr, tp_combiner c) {
  if (mlirAttributeIsNull(attr))
    return false;
  if (mlirAttributeIsAFloat(attr))
    return float_identity(mlirFloatAttrGetValueDouble(attr), c);
  if (mlirAttributeIsAInteger(attr)) {
    MlirType type = mlirAttributeGetType(attr);
    unsigned width = mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 64;
    return integer_identity(mlirIntegerAttrGetValueInt(attr), width, c);
  }
  if (mlirAttributeIsAArray(attr) && mlirArrayAttrGetNumElements(attr) == 2) /* the parts of a complex number */
    return c <= TP_PRODUCT && tp__attr_is_identity(mlirArrayAttrGetElement(attr, 0), c) &&
           tp__attr_is_identity(mlirArrayAttrGetElement(attr, 1), TP_SUM);
  return false;
}

bool tp__is_identity(MlirValue scalar, tp_combiner c) {
  MlirOperation op = tp__defining_op(scalar);
  return !mlirOperationIsNull(op) && (tp__op_is(op, "arith.constant") || tp__op_is(op, "complex.constant")) &&
         tp__attr_is_identity(tp__inherent(op, "value"), c);
}
