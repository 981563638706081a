/* Ops of arith, math and complex as ops of StableHLO on tensors of any shape. Integers have no sign
 * in arith; where an op reads them as unsigned, they are cast to unsigned types and back. */
#include "passes/export/export.h"

#include <math.h>

typedef enum how {
  PLAIN,    /* one op of StableHLO on the same operands */
  UNSIGNED, /* the same, on unsigned integers */
  CONVERT,  /* stablehlo.convert to the type of the result */
  SPECIAL,  /* a function of this file */
} how;

typedef MlirValue special(tp_export *x, MlirOperation op, MlirValue *operands, MlirType result);

typedef struct row {
  const char *name;
  how how;
  const char *becomes;
  /* of i1: another op, or a function; NULL: the same. Poison may become anything: booleans are
   * shifted by 0, and divided by true, which is -1 as a signed number. */
  const char *of_bools;
  special *run;
} row;

static MlirType shape_like(MlirValue value, MlirType element) {
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
  return tp__export_tensor(element, rank, sizes);
}

static MlirValue unary(tp_export *x, const char *name, MlirType type, MlirValue a) {
  return tp__export_build(x, name, type, 1, &a, 0, NULL);
}

static MlirValue number(tp_export *x, MlirValue like, double value) {
  MlirType type = mlirValueGetType(like);
  return tp__export_splat(x, type,
                          mlirFloatAttrDoubleGet(x->context, tp__element_type(type), value));
}

static MlirValue select(tp_export *x, MlirValue condition, MlirValue yes, MlirValue no) {
  return tp__export_build(x, "stablehlo.select", mlirValueGetType(yes), 3,
                          (MlirValue[]){condition, yes, no}, 0, NULL);
}

static bool has_bools(MlirValue value) {
  return tp__is_bool(tp__element_type(mlirValueGetType(value)));
}

/* Reads integers as unsigned; i1 is unsigned already. */
static MlirValue to_unsigned(tp_export *x, MlirValue value) {
  MlirType element = tp__element_type(mlirValueGetType(value));
  bool has_sign = mlirTypeIsAInteger(element) && !tp__is_bool(element);
  return tp__export_bitcast(x, value, has_sign ? tp__export_unsigned(element) : element);
}

/* ---- ops that take more than one ---- */

static MlirValue compare_ints(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  static const char *const directions[] = {"EQ", "NE", "LT", "LE", "GT",
                                           "GE", "LT", "LE", "GT", "GE"};
  int64_t predicate = mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate"));
  const char *direction = directions[predicate];
  MlirValue floats[] = {tp__export_total_order_of(a[0]), tp__export_total_order_of(a[1])};
  (void)result;
  if (predicate < 6 && !mlirValueIsNull(floats[0]) && !mlirValueIsNull(floats[1]))
    return tp__export_compare_total(x, direction, floats[0], floats[1]);
  if (predicate >= 2 && predicate < 6 && has_bools(a[0])) /* as signed numbers, true is -1 */
    return tp__export_compare(x, direction, a[1], a[0]);
  if (predicate >= 6)
    for (int i = 0; i < 2; i++)
      a[i] = to_unsigned(x, a[i]);
  return tp__export_compare(x, direction, a[0], a[1]);
}

/* Predicates 1 to 7 are false for NaN, 8 to 14 are true. */
static MlirValue compare_floats(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  static const char *const ordered[] = {"", "EQ", "GT", "GE", "LT", "LE"};
  static const char *const opposite[] = {"", "NE", "LE", "LT", "GE", "GT"};
  int64_t predicate = mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate"));
  MlirType bit = mlirIntegerTypeGet(x->context, 1);
  if (predicate == 0 || predicate == 15)
    return tp__export_splat(x, result, mlirIntegerAttrGet(bit, predicate == 15));
  if (predicate >= 1 && predicate <= 5)
    return tp__export_compare(x, ordered[predicate], a[0], a[1]);
  if (predicate >= 9 && predicate <= 12) /* ugt is: not (<=) */
    return unary(x, "stablehlo.not", result,
                 tp__export_compare(x, opposite[predicate - 7], a[0], a[1]));
  if (predicate == 13)
    return tp__export_compare(x, "NE", a[0], a[1]);
  MlirValue is_nan = tp__export_compare(x, "NE", a[0], a[0]);
  if (!mlirValueEqual(a[0], a[1]))
    is_nan = tp__export_binary(x, "stablehlo.or", is_nan, tp__export_compare(x, "NE", a[1], a[1]));
  MlirValue is_ordered = unary(x, "stablehlo.not", result, is_nan);
  switch (predicate) {
  case 6: /* one */
    return tp__export_binary(x, "stablehlo.and", is_ordered,
                             tp__export_compare(x, "NE", a[0], a[1]));
  case 7:
    return is_ordered;
  case 8: /* ueq */
    return tp__export_binary(x, "stablehlo.or", is_nan, tp__export_compare(x, "EQ", a[0], a[1]));
  default:
    return is_nan;
  }
}

static MlirValue selected(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op, (void)result;
  return tp__export_saturated(x, select(x, a[0], a[1], a[2]));
}

/* The other number where one is NaN. */
static MlirValue number_extremum(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  bool max = tp__op_is(op, "arith.maxnumf");
  (void)result;
  MlirValue best =
      tp__export_binary(x, max ? "stablehlo.maximum" : "stablehlo.minimum", a[0], a[1]);
  best = select(x, tp__export_compare(x, "NE", a[1], a[1]), a[0], best);
  return select(x, tp__export_compare(x, "NE", a[0], a[0]), a[1], best);
}

/* To an integer: as signed numbers, true is -1; to i1, the lowest bit. */
static MlirValue to_integer(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  MlirType type = mlirValueGetType(a[0]);
  (void)op;
  if (tp__is_bool(tp__element_type(result)) && !has_bools(a[0])) {
    MlirValue bit = tp__export_binary(x, "stablehlo.and", a[0], tp__export_int(x, type, 1));
    return tp__export_compare(x, "NE", bit, tp__export_int(x, type, 0));
  }
  MlirValue value = unary(x, "stablehlo.convert", result, a[0]);
  return has_bools(a[0]) ? unary(x, "stablehlo.negate", result, value) : value;
}

/* To a wider integer, or to a float. */
static MlirValue extend_unsigned(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op;
  return unary(x, "stablehlo.convert", result, to_unsigned(x, a[0]));
}

/* To an integer that may be narrower. */
static MlirValue cast_unsigned(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  MlirValue value = to_unsigned(x, a[0]);
  return (has_bools(value) ? extend_unsigned : to_integer)(x, op, &value, result);
}

static MlirValue signed_to_float(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op;
  if (!has_bools(a[0]))
    return unary(x, "stablehlo.convert", result, a[0]);
  MlirValue zero =
      tp__export_splat(x, result, tp__export_identity(tp__element_type(result), TP_SUM));
  return select(x, a[0], number(x, zero, -1), zero);
}

/* StableHLO converts all but 0 to true, and 0.5, too. */
static MlirValue float_to_bool(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  MlirType type = shape_like(a[0], mlirIntegerTypeGet(x->context, 32));
  MlirValue whole = unary(x, "stablehlo.convert", type, a[0]);
  return to_integer(x, op, &whole, result);
}

static MlirValue float_to_signed(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  return tp__is_bool(tp__element_type(result)) ? float_to_bool(x, op, a, result)
                                               : unary(x, "stablehlo.convert", result, a[0]);
}

static MlirValue float_to_unsigned(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  MlirType element = tp__element_type(result);
  if (tp__is_bool(element))
    return float_to_bool(x, op, a, result);
  MlirType type = shape_like(a[0], tp__export_unsigned(element));
  return tp__export_bitcast(x, unary(x, "stablehlo.convert", type, a[0]), element);
}

/* Rounded down or up, where StableHLO rounds towards zero. */
static MlirValue divide_rounded(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  if (has_bools(a[0]))
    return tp__export_binary(x, "stablehlo.and", a[0], a[1]);
  bool is_up = !tp__op_is(op, "arith.floordivsi"), has_sign = !tp__op_is(op, "arith.ceildivui");
  MlirValue zero = tp__export_int(x, result, 0), one = tp__export_int(x, result, 1), n[2];
  for (int i = 0; i < 2; i++)
    n[i] = has_sign ? a[i] : to_unsigned(x, a[i]);
  MlirValue whole = tp__export_binary(x, "stablehlo.divide", n[0], n[1]);
  MlirValue rest = tp__export_binary(x, "stablehlo.remainder", n[0], n[1]);
  MlirType element = tp__element_type(result);
  whole = tp__export_bitcast(x, whole, element);
  rest = tp__export_bitcast(x, rest, element);
  MlirValue rounds = tp__export_compare(x, "NE", rest, zero);
  if (has_sign) {
    MlirValue differ = tp__export_compare(x, "NE", tp__export_compare(x, "LT", rest, zero),
                                          tp__export_compare(x, "LT", a[1], zero));
    if (is_up)
      differ = unary(x, "stablehlo.not", mlirValueGetType(differ), differ);
    rounds = tp__export_binary(x, "stablehlo.and", rounds, differ);
  }
  return select(x, rounds,
                tp__export_binary(x, is_up ? "stablehlo.add" : "stablehlo.subtract", whole, one),
                whole);
}

/* ---- ops on booleans ---- */

static MlirValue invert(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op;
  return unary(x, "stablehlo.not", result, a[0]);
}

static MlirValue unchanged(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)x, (void)op, (void)result;
  return a[0];
}

static MlirValue and_not(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  return tp__export_binary(x, "stablehlo.and", a[0], invert(x, op, a + 1, result));
}

static MlirValue or_not(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  return tp__export_binary(x, "stablehlo.or", a[0], invert(x, op, a + 1, result));
}

/* ---- ops that take more than one, of floats ---- */

static MlirValue copy_sign(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op;
  /* the sign of zeros and NaN counts, too: it is the highest bit */
  MlirType element = tp__element_type(result);
  MlirType integer = mlirIntegerTypeGet(x->context, (unsigned)(8 * tp__element_size(element)));
  MlirType type = shape_like(a[0], integer);
  MlirValue bits = unary(x, "stablehlo.bitcast_convert", type, a[1]);
  MlirValue negative = tp__export_compare(x, "LT", bits, tp__export_int(x, type, 0));
  MlirValue size = unary(x, "stablehlo.abs", result, a[0]);
  return select(x, negative, unary(x, "stablehlo.negate", result, size), size);
}

static MlirValue multiply_add(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op, (void)result;
  return tp__export_binary(x, "stablehlo.add",
                           tp__export_binary(x, "stablehlo.multiply", a[0], a[1]), a[2]);
}

static MlirValue is_nan(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op, (void)result;
  return tp__export_compare(x, "NE", a[0], a[0]);
}

static MlirValue is_infinite(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op, (void)result;
  MlirValue size = unary(x, "stablehlo.abs", mlirValueGetType(a[0]), a[0]);
  return tp__export_compare(x, "EQ", size, number(x, size, INFINITY));
}

/* Towards zero. */
static MlirValue without_fraction(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op;
  MlirValue negative = tp__export_compare(x, "LT", a[0], number(x, a[0], 0));
  MlirValue up = unary(x, "stablehlo.ceil", result, a[0]);
  MlirValue down = unary(x, "stablehlo.floor", result, a[0]);
  return select(x, negative, up, down);
}

static MlirValue power_of_two(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op, (void)result;
  return tp__export_binary(x, "stablehlo.power", number(x, a[0], 2), a[0]);
}

/* log2 and log10: the logarithm divided by that of the base. */
static MlirValue logarithm(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  double base = tp__op_is(op, "math.log2") ? M_LN2 : M_LN10;
  return tp__export_binary(x, "stablehlo.multiply", unary(x, "stablehlo.log", result, a[0]),
                           number(x, a[0], 1 / base));
}

static MlirValue conjugate(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)op;
  MlirType part = shape_like(a[0], mlirComplexTypeGetElementType(tp__element_type(result)));
  MlirValue real = unary(x, "stablehlo.real", part, a[0]);
  MlirValue imaginary = unary(x, "stablehlo.imag", part, a[0]);
  MlirValue parts[] = {real, unary(x, "stablehlo.negate", part, imaginary)};
  return tp__export_build(x, "stablehlo.complex", result, 2, parts, 0, NULL);
}

static MlirValue compare_complex(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  (void)result;
  return tp__export_compare(x, tp__op_is(op, "complex.eq") ? "EQ" : "NE", a[0], a[1]);
}

/* An exponent that is an integer. */
static MlirValue power_by_int(tp_export *x, MlirOperation op, MlirValue *a, MlirType result) {
  return tp__export_binary(x, "stablehlo.power", a[0], signed_to_float(x, op, a + 1, result));
}

/* clang-format off */
static const row rows[] = {
    {"arith.addf", PLAIN, "stablehlo.add", NULL, NULL},
    {"arith.addi", PLAIN, "stablehlo.add", "stablehlo.xor", NULL},
    {"arith.andi", PLAIN, "stablehlo.and", NULL, NULL},
    {"arith.bitcast", PLAIN, "stablehlo.bitcast_convert", NULL, NULL},
    {"arith.ceildivsi", SPECIAL, NULL, NULL, divide_rounded},
    {"arith.ceildivui", SPECIAL, NULL, NULL, divide_rounded},
    {"arith.cmpf", SPECIAL, NULL, NULL, compare_floats},
    {"arith.cmpi", SPECIAL, NULL, NULL, compare_ints},
    {"arith.divf", PLAIN, "stablehlo.divide", NULL, NULL},
    {"arith.divsi", PLAIN, "stablehlo.divide", "stablehlo.and", NULL},
    {"arith.divui", UNSIGNED, "stablehlo.divide", "stablehlo.and", NULL},
    {"arith.extf", CONVERT, NULL, NULL, NULL},
    {"arith.extsi", SPECIAL, NULL, NULL, to_integer},
    {"arith.extui", SPECIAL, NULL, NULL, extend_unsigned},
    {"arith.floordivsi", SPECIAL, NULL, NULL, divide_rounded},
    {"arith.fptosi", SPECIAL, NULL, NULL, float_to_signed},
    {"arith.fptoui", SPECIAL, NULL, NULL, float_to_unsigned},
    {"arith.index_cast", SPECIAL, NULL, NULL, to_integer},
    {"arith.index_castui", SPECIAL, NULL, NULL, cast_unsigned},
    {"arith.maximumf", PLAIN, "stablehlo.maximum", NULL, NULL},
    {"arith.maxnumf", SPECIAL, NULL, NULL, number_extremum},
    {"arith.maxsi", PLAIN, "stablehlo.maximum", "stablehlo.and", NULL},
    {"arith.maxui", UNSIGNED, "stablehlo.maximum", "stablehlo.or", NULL},
    {"arith.minimumf", PLAIN, "stablehlo.minimum", NULL, NULL},
    {"arith.minnumf", SPECIAL, NULL, NULL, number_extremum},
    {"arith.minsi", PLAIN, "stablehlo.minimum", "stablehlo.or", NULL},
    {"arith.minui", UNSIGNED, "stablehlo.minimum", "stablehlo.and", NULL},
    {"arith.mulf", PLAIN, "stablehlo.multiply", NULL, NULL},
    {"arith.muli", PLAIN, "stablehlo.multiply", "stablehlo.and", NULL},
    {"arith.negf", PLAIN, "stablehlo.negate", NULL, NULL},
    {"arith.ori", PLAIN, "stablehlo.or", NULL, NULL},
    {"arith.remf", PLAIN, "stablehlo.remainder", NULL, NULL},
    {"arith.remsi", PLAIN, "stablehlo.remainder", NULL, and_not},
    {"arith.remui", UNSIGNED, "stablehlo.remainder", NULL, and_not},
    {"arith.select", SPECIAL, NULL, NULL, selected},
    {"arith.shli", PLAIN, "stablehlo.shift_left", NULL, and_not},
    {"arith.shrsi", PLAIN, "stablehlo.shift_right_arithmetic", NULL, and_not},
    {"arith.shrui", PLAIN, "stablehlo.shift_right_logical", NULL, and_not},
    {"arith.sitofp", SPECIAL, NULL, NULL, signed_to_float},
    {"arith.subf", PLAIN, "stablehlo.subtract", NULL, NULL},
    {"arith.subi", PLAIN, "stablehlo.subtract", "stablehlo.xor", NULL},
    {"arith.truncf", CONVERT, NULL, NULL, NULL},
    {"arith.trunci", SPECIAL, NULL, NULL, to_integer},
    {"arith.uitofp", SPECIAL, NULL, NULL, extend_unsigned},
    {"arith.xori", PLAIN, "stablehlo.xor", NULL, NULL},
    {"complex.abs", PLAIN, "stablehlo.abs", NULL, NULL},
    {"complex.add", PLAIN, "stablehlo.add", NULL, NULL},
    {"complex.atan2", PLAIN, "stablehlo.atan2", NULL, NULL},
    {"complex.conj", SPECIAL, NULL, NULL, conjugate},
    {"complex.cos", PLAIN, "stablehlo.cosine", NULL, NULL},
    {"complex.create", PLAIN, "stablehlo.complex", NULL, NULL},
    {"complex.div", PLAIN, "stablehlo.divide", NULL, NULL},
    {"complex.eq", SPECIAL, NULL, NULL, compare_complex},
    {"complex.exp", PLAIN, "stablehlo.exponential", NULL, NULL},
    {"complex.expm1", PLAIN, "stablehlo.exponential_minus_one", NULL, NULL},
    {"complex.im", PLAIN, "stablehlo.imag", NULL, NULL},
    {"complex.log", PLAIN, "stablehlo.log", NULL, NULL},
    {"complex.log1p", PLAIN, "stablehlo.log_plus_one", NULL, NULL},
    {"complex.mul", PLAIN, "stablehlo.multiply", NULL, NULL},
    {"complex.neg", PLAIN, "stablehlo.negate", NULL, NULL},
    {"complex.neq", SPECIAL, NULL, NULL, compare_complex},
    {"complex.pow", PLAIN, "stablehlo.power", NULL, NULL},
    {"complex.re", PLAIN, "stablehlo.real", NULL, NULL},
    {"complex.rsqrt", PLAIN, "stablehlo.rsqrt", NULL, NULL},
    {"complex.sign", PLAIN, "stablehlo.sign", NULL, NULL},
    {"complex.sin", PLAIN, "stablehlo.sine", NULL, NULL},
    {"complex.sqrt", PLAIN, "stablehlo.sqrt", NULL, NULL},
    {"complex.sub", PLAIN, "stablehlo.subtract", NULL, NULL},
    {"complex.tan", PLAIN, "stablehlo.tan", NULL, NULL},
    {"complex.tanh", PLAIN, "stablehlo.tanh", NULL, NULL},
    {"math.absf", PLAIN, "stablehlo.abs", NULL, NULL},
    {"math.absi", PLAIN, "stablehlo.abs", NULL, unchanged},
    {"math.acos", PLAIN, "chlo.acos", NULL, NULL},
    {"math.acosh", PLAIN, "chlo.acosh", NULL, NULL},
    {"math.asin", PLAIN, "chlo.asin", NULL, NULL},
    {"math.asinh", PLAIN, "chlo.asinh", NULL, NULL},
    {"math.atan", PLAIN, "chlo.atan", NULL, NULL},
    {"math.atan2", PLAIN, "stablehlo.atan2", NULL, NULL},
    {"math.atanh", PLAIN, "chlo.atanh", NULL, NULL},
    {"math.cbrt", PLAIN, "stablehlo.cbrt", NULL, NULL},
    {"math.ceil", PLAIN, "stablehlo.ceil", NULL, NULL},
    {"math.copysign", SPECIAL, NULL, NULL, copy_sign},
    {"math.cos", PLAIN, "stablehlo.cosine", NULL, NULL},
    {"math.cosh", PLAIN, "chlo.cosh", NULL, NULL},
    {"math.ctlz", PLAIN, "stablehlo.count_leading_zeros", NULL, invert},
    {"math.ctpop", PLAIN, "stablehlo.popcnt", NULL, unchanged},
    {"math.erf", PLAIN, "chlo.erf", NULL, NULL},
    {"math.erfc", PLAIN, "chlo.erfc", NULL, NULL},
    {"math.exp", PLAIN, "stablehlo.exponential", NULL, NULL},
    {"math.exp2", SPECIAL, NULL, NULL, power_of_two},
    {"math.expm1", PLAIN, "stablehlo.exponential_minus_one", NULL, NULL},
    {"math.floor", PLAIN, "stablehlo.floor", NULL, NULL},
    {"math.fma", SPECIAL, NULL, NULL, multiply_add},
    {"math.fpowi", SPECIAL, NULL, NULL, power_by_int},
    {"math.ipowi", PLAIN, "stablehlo.power", NULL, or_not},
    {"math.isfinite", PLAIN, "stablehlo.is_finite", NULL, NULL},
    {"math.isinf", SPECIAL, NULL, NULL, is_infinite},
    {"math.isnan", SPECIAL, NULL, NULL, is_nan},
    {"math.log", PLAIN, "stablehlo.log", NULL, NULL},
    {"math.log10", SPECIAL, NULL, NULL, logarithm},
    {"math.log1p", PLAIN, "stablehlo.log_plus_one", NULL, NULL},
    {"math.log2", SPECIAL, NULL, NULL, logarithm},
    {"math.powf", PLAIN, "stablehlo.power", NULL, NULL},
    {"math.round", PLAIN, "stablehlo.round_nearest_afz", NULL, NULL},
    {"math.roundeven", PLAIN, "stablehlo.round_nearest_even", NULL, NULL},
    {"math.rsqrt", PLAIN, "stablehlo.rsqrt", NULL, NULL},
    {"math.sin", PLAIN, "stablehlo.sine", NULL, NULL},
    {"math.sinh", PLAIN, "chlo.sinh", NULL, NULL},
    {"math.sqrt", PLAIN, "stablehlo.sqrt", NULL, NULL},
    {"math.tan", PLAIN, "stablehlo.tan", NULL, NULL},
    {"math.tanh", PLAIN, "stablehlo.tanh", NULL, NULL},
    {"math.trunc", SPECIAL, NULL, NULL, without_fraction},
};
/* clang-format on */

static MlirValue run_row(tp_export *x, const row *r, MlirOperation op, int n, MlirValue *operands,
                         MlirType result) {
  bool is_bool = has_bools(operands[0]);
  const char *name = is_bool && r->of_bools ? r->of_bools : r->becomes;
  if (r->how == SPECIAL || (is_bool && r->run))
    return r->run(x, op, operands, result);
  if (r->how == CONVERT)
    return unary(x, "stablehlo.convert", result, operands[0]);
  if (r->how == PLAIN || is_bool)
    return tp__export_build(x, name, result, n, operands, 0, NULL);
  for (int i = 0; i < n; i++)
    operands[i] = to_unsigned(x, operands[i]);
  return tp__export_bitcast(
      x, tp__export_build(x, name, mlirValueGetType(operands[0]), n, operands, 0, NULL),
      tp__element_type(result));
}

tp_status tp__export_elementwise(tp_export *x, MlirOperation op, int n, MlirValue *operands,
                                 MlirValue *now) {
  const row *r = tp__op_row(op, rows, TP_LEN(rows), sizeof *rows);
  *now = (MlirValue){NULL};
  if (!r || n < 1 || n > 3)
    return TP_OK;
  int widest = 0;
  for (int i = 1; i < n; i++)
    widest = tp__value_rank(operands[i]) > tp__value_rank(operands[widest]) ? i : widest;
  for (int i = 0; i < n; i++)
    if (tp__value_rank(operands[i]) == 0)
      operands[i] = tp__export_broadcast(
          x, operands[i],
          shape_like(operands[widest], tp__element_type(mlirValueGetType(operands[i]))), NULL);
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirType result = shape_like(operands[widest], tp__number_type(type));
  *now = run_row(x, r, op, n, operands, result);
  return TP_OK;
}
