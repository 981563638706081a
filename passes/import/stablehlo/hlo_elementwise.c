/* Elementwise ops of StableHLO and CHLO: to arith, math and complex. */
#include "passes/import/stablehlo/hlo_elementwise.h"

#include <stdio.h>

enum {
  FLOATS = 1 << TP_HLO_FLOAT,
  SIGNED = 1 << TP_HLO_SIGNED,
  UNSIGNED = 1 << TP_HLO_UNSIGNED,
  BOOLS = 1 << TP_HLO_BOOL,
  COMPLEX = 1 << TP_HLO_COMPLEX,
  INTS = SIGNED | UNSIGNED,
};

/* ---- ops of several ops ---- */

static MlirValue same(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)hlo, (void)kind, (void)result;
  return a[0];
}

/* 1 / (1 + exp(-x)) */
static MlirValue logistic(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind;
  MlirValue e = tp__hlo_unary(hlo, "math.exp", tp__hlo_unary(hlo, "arith.negf", a[0]));
  MlirValue number = tp__hlo_float_constant(hlo, result, 1);
  return tp__hlo_binary(hlo, "arith.divf", number, tp__hlo_binary(hlo, "arith.addf", number, e));
}

/* x * x */
static MlirValue square(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)result;
  return tp__hlo_binary(hlo,
                        kind == TP_HLO_FLOAT     ? "arith.mulf"
                        : kind == TP_HLO_COMPLEX ? "complex.mul"
                                                 : "arith.muli",
                        a[0], a[0]);
}

static const char *extremum(tp_hlo_kind kind, bool max) {
  static const char *const names[2][TP_HLO_KINDS] = {
      {[TP_HLO_FLOAT] = "arith.minimumf",
       [TP_HLO_SIGNED] = "arith.minsi",
       [TP_HLO_UNSIGNED] = "arith.minui",
       [TP_HLO_BOOL] = "arith.andi"},
      {[TP_HLO_FLOAT] = "arith.maximumf",
       [TP_HLO_SIGNED] = "arith.maxsi",
       [TP_HLO_UNSIGNED] = "arith.maxui",
       [TP_HLO_BOOL] = "arith.ori"},
  };
  return names[max][kind];
}

/* True where x is infinity of this sign. */
static MlirValue is_infinity(tp_hlo *hlo, MlirValue x, double sign) {
  return tp__hlo_compare(hlo, "oeq", x,
                         tp__hlo_float_constant(hlo, mlirValueGetType(x), sign / 0.0));
}

static MlirValue is_inf(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind, (void)result;
  return is_infinity(hlo, tp__hlo_unary(hlo, "math.absf", a[0]), 1);
}

static MlirValue is_pos_inf(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind, (void)result;
  return is_infinity(hlo, a[0], 1);
}

static MlirValue is_neg_inf(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind, (void)result;
  return is_infinity(hlo, a[0], -1);
}

/* |x| < infinity, which is false for NaN */
static MlirValue is_finite(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind, (void)result;
  MlirValue infinity = tp__hlo_float_constant(hlo, mlirValueGetType(a[0]), 1 / 0.0);
  return tp__hlo_compare(hlo, "olt", tp__hlo_unary(hlo, "math.absf", a[0]), infinity);
}

static MlirValue conjugate(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)result;
  return kind == TP_HLO_COMPLEX ? tp__hlo_unary(hlo, "complex.conj", a[0]) : a[0];
}

/* The imaginary part of a real number. */
static MlirValue zero(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind, (void)a;
  return tp__hlo_float_constant(hlo, result, 0);
}

/* ---- the conversion ---- */

/* A number becomes a tensor of the shape of the others: predicates of select, bounds of clamp. */
static MlirValue spread(tp_hlo *hlo, MlirOperation op, int i, MlirType shape) {
  MlirValue value = tp__hlo_operand(hlo, op, i);
  MlirType type = mlirValueGetType(value);
  tp_hlo_shape to = tp__hlo_shape(shape);
  if (!tp__is_tensor(type) || !tp__is_tensor(shape) || tp__value_rank(value) > 0 || to.rank == 0)
    return value;
  return tp__hlo_broadcast(
      hlo, value,
      mlirRankedTensorTypeGet(to.rank, to.sizes, tp__element_type(type), (MlirAttribute){NULL}),
      NULL);
}

static tp_status check_shapes(MlirOperation op, int n, unsigned numbers) {
  char text[64], other[64];
  MlirType result = tp__result_type(op);
  for (int i = 0; i < n; i++) {
    MlirType type = tp__hlo_operand_type(op, i);
    if (tp__hlo_same_shape(type, result) || ((numbers >> i & 1) && tp__hlo_shape(type).rank == 0))
      continue;
    tp__type_text(type, sizeof text, text);
    tp__type_text(result, sizeof other, other);
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "operand %d is %s, but the result is %s; their shapes must be equal", i, text,
                     other);
  }
  return TP_OK;
}

static tp_status check_elements(MlirOperation op, int a, int b) {
  char text[64], other[64];
  if (mlirTypeEqual(tp__hlo_operand_element(op, a), tp__hlo_operand_element(op, b)))
    return TP_OK;
  tp__type_text(tp__hlo_operand_type(op, a), sizeof text, text);
  tp__type_text(tp__hlo_operand_type(op, b), sizeof other, other);
  return tp__error(op, TP_INVALID_ARGUMENT,
                   "operand %d is %s and operand %d is %s; their element types must be equal", a,
                   text, b, other);
}

static tp_status check_result(MlirOperation op, MlirType emitted) {
  tp_hlo plain = {0};
  MlirType wanted = tp__hlo_type(&plain, tp__hlo_result_element(op, 0));
  MlirType has = tp__hlo_type(&plain, tp__number_type(emitted));
  char text[64], other[64];
  if (mlirTypeEqual(has, wanted))
    return TP_OK;
  tp__type_text(tp__result_type(op), sizeof text, text);
  tp__type_text(has, sizeof other, other);
  return tp__error(op, TP_INVALID_ARGUMENT,
                   "the result is %s, but the op computes elements of type %s from its operands",
                   text, other);
}

/* The elements that an op of this name computes: of the type of operand 0, but for complex numbers
 * and their parts. */
static MlirType named_element(MlirOperation op, const char *name) {
  static const char *const parts[] = {"complex.abs", "complex.re", "complex.im"};
  MlirType element = tp__hlo_operand_element(op, 0);
  for (int i = 0; i < TP_LEN(parts); i++)
    if (strcmp(name, parts[i]) == 0)
      return mlirComplexTypeGetElementType(element);
  return strcmp(name, "complex.create") == 0 ? mlirComplexTypeGet(element) : element;
}

tp_status tp__hlo_elementwise(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  const tp_hlo_elementwise *how = row->detail;
  MlirValue operands[3];
  MlirType result = tp__hlo_result_type(hlo, op, 0);
  int n = (int)mlirOperationGetNumOperands(op);
  tp_hlo_kind kind = tp__hlo_kind(tp__hlo_operand_element(op, 0));
  TP_TRY(check_shapes(op, n, 0));
  for (int i = 1; i < n; i++)
    TP_TRY(check_elements(op, 0, i));
  if (!how->names[kind] && !(how->kinds >> kind & 1))
    return tp__error(op, TP_UNSUPPORTED, "is not supported for %s; convert the operands",
                     tp__hlo_kind_text(kind));
  for (int i = 0; i < n; i++)
    operands[i] = tp__hlo_operand(hlo, op, i);
  MlirValue now = how->names[kind] ? tp__hlo_build(hlo, how->names[kind], result, n, operands)
                                   : how->emit(hlo, kind, operands, result);
  TP_TRY(check_result(op, how->names[kind] ? named_element(op, how->names[kind])
                                           : mlirValueGetType(now)));
  return tp__hlo_replace(hlo, op, now);
}

static tp_status select_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  MlirType result = tp__result_type(op);
  TP_TRY(check_shapes(op, 3, 1));
  TP_TRY(check_elements(op, 1, 2));
  if (tp__hlo_kind(tp__hlo_operand_element(op, 0)) != TP_HLO_BOOL)
    return tp__error(op, TP_INVALID_ARGUMENT, "operand 0 must have elements of type i1");
  MlirValue condition = spread(hlo, op, 0, result);
  return tp__hlo_replace(
      hlo, op,
      tp__hlo_select(hlo, condition, tp__hlo_operand(hlo, op, 1), tp__hlo_operand(hlo, op, 2)));
}

/* min(max(x, low), high) */
static tp_status clamp(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  MlirType result = tp__result_type(op);
  tp_hlo_kind kind = tp__hlo_kind(tp__hlo_result_element(op, 0));
  TP_TRY(check_shapes(op, 3, 1 << 0 | 1 << 2));
  TP_TRY(check_elements(op, 0, 1));
  TP_TRY(check_elements(op, 1, 2));
  if (kind == TP_HLO_COMPLEX)
    return tp__error(op, TP_UNSUPPORTED, "is not supported for complex numbers");
  MlirValue low = spread(hlo, op, 0, result), high = spread(hlo, op, 2, result);
  MlirValue raised = tp__hlo_binary(hlo, extremum(kind, true), tp__hlo_operand(hlo, op, 1), low);
  return tp__hlo_replace(hlo, op, tp__hlo_binary(hlo, extremum(kind, false), raised, high));
}

/* ---- complex numbers ---- */

bool tp__hlo_needs_body(const tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  bool is_elementwise = row->convert == tp__hlo_elementwise || row->convert == select_op ||
                        row->convert == tp__hlo_compare_op || row->convert == tp__hlo_convert_op;
  if (!is_elementwise || hlo->scalar)
    return false;
  bool is_complex = mlirTypeIsAComplex(tp__hlo_result_element(op, 0));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    is_complex |= mlirTypeIsAComplex(tp__hlo_operand_element(op, (int)i));
  return is_complex;
}

tp_status tp__hlo_in_body(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  int n = (int)mlirOperationGetNumOperands(op), all[TP_MAX_RANK];
  MlirType type = tp__hlo_result_type(hlo, op, 0);
  int rank = tp__hlo_shape(type).rank;
  MlirValue operands[4], now;
  MlirAttribute maps[4];
  TP_TRY(check_shapes(op, n, row->convert == select_op));
  for (int d = 0; d < rank; d++)
    all[d] = d;
  for (int i = 0; i <= n; i++) {
    operands[i] =
        i < n ? tp__hlo_operand(hlo, op, i) : tp__hlo_build(hlo, "tensor.empty", type, 0, NULL);
    maps[i] = tp__hlo_loop_map(hlo, rank, tp__value_rank(operands[i]), all);
  }
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, n, 1, operands, maps, &yield);
  for (int i = 0; i < n; i++)
    TP_TRY(tp__hlo_map(hlo, op, mlirOperationGetOperand(op, i), tp__hlo_body_arg(generic, i)));
  hlo->where = yield;
  hlo->scalar = hlo->pointwise = true;
  tp_status status = row->convert(hlo, op, row);
  now = status == TP_OK ? tp__hlo_value(hlo, mlirOperationGetResult(op, 0)) : (MlirValue){NULL};
  hlo->scalar = hlo->pointwise = false;
  hlo->where = outer;
  for (int i = 0; i < n && status == TP_OK; i++)
    status = tp__hlo_map(hlo, op, mlirOperationGetOperand(op, i), operands[i]);
  TP_TRY(status);
  mlirOperationSetOperands(yield, 1, &now);
  return tp__hlo_replace(hlo, op, mlirOperationGetResult(generic, 0));
}

/* ---- the table ---- */

#define F(name) [TP_HLO_FLOAT] = (name)
#define S(name) [TP_HLO_SIGNED] = (name)
#define U(name) [TP_HLO_UNSIGNED] = (name)
#define I(name) [TP_HLO_SIGNED] = (name), [TP_HLO_UNSIGNED] = (name)
#define B(name) [TP_HLO_BOOL] = (name)
#define C(name) [TP_HLO_COMPLEX] = (name)
#define NAMES(...) &(const tp_hlo_elementwise){.names = {__VA_ARGS__}}
#define EMIT(function, set, ...)                                                                   \
  &(const tp_hlo_elementwise){.names = {__VA_ARGS__}, .emit = (function), .kinds = (set)}
#define ROW(name, n, how, text) {name, n, 1, 0, tp__hlo_elementwise, how, text}

/* clang-format off */
const tp_hlo_row tp__hlo_elementwise_rows[] = {
    ROW("stablehlo.abs", 1, EMIT(same, UNSIGNED, F("math.absf"), S("math.absi"), C("complex.abs")), "math.absf, absi; complex.abs"),
    ROW("stablehlo.add", 2, NAMES(F("arith.addf"), I("arith.addi"), B("arith.ori"), C("complex.add")), "arith.addf, addi, ori; complex.add"),
    ROW("stablehlo.and", 2, NAMES(I("arith.andi"), B("arith.andi")), "arith.andi"),
    ROW("stablehlo.atan2", 2, NAMES(F("math.atan2"), C("complex.atan2")), "math.atan2; complex.atan2"),
    {"stablehlo.bitcast_convert", 1, 1, 0, tp__hlo_bitcast, NULL, "arith.bitcast; shifts between elements of different widths"},
    ROW("stablehlo.cbrt", 1, NAMES(F("math.cbrt")), "math.cbrt"),
    ROW("stablehlo.ceil", 1, NAMES(F("math.ceil")), "math.ceil"),
    {"stablehlo.clamp", 3, 1, 0, clamp, NULL, "a maximum and a minimum"},
    {"stablehlo.compare", 2, 1, 0, tp__hlo_compare_op, NULL, "arith.cmpf, cmpi; complex.eq, neq"},
    ROW("stablehlo.complex", 2, NAMES(F("complex.create")), "complex.create"),
    {"stablehlo.convert", 1, 1, 0, tp__hlo_convert_op, NULL, "arith conversions; floats to integers saturate, NaN becomes 0"},
    ROW("stablehlo.cosine", 1, NAMES(F("math.cos"), C("complex.cos")), "math.cos; complex.cos"),
    ROW("stablehlo.count_leading_zeros", 1, NAMES(I("math.ctlz")), "math.ctlz"),
    ROW("stablehlo.divide", 2, EMIT(tp__hlo_divide, INTS, F("arith.divf"), C("complex.div")), "arith.divf, divsi, divui; by 0: all bits"),
    ROW("stablehlo.exponential", 1, NAMES(F("math.exp"), C("complex.exp")), "math.exp; complex.exp"),
    ROW("stablehlo.exponential_minus_one", 1, NAMES(F("math.expm1"), C("complex.expm1")), "math.expm1; complex.expm1"),
    ROW("stablehlo.floor", 1, NAMES(F("math.floor")), "math.floor"),
    ROW("stablehlo.imag", 1, EMIT(zero, FLOATS, C("complex.im")), "complex.im"),
    ROW("stablehlo.is_finite", 1, EMIT(is_finite, FLOATS), "a comparison with infinity"),
    ROW("stablehlo.log", 1, NAMES(F("math.log"), C("complex.log")), "math.log; complex.log"),
    ROW("stablehlo.log_plus_one", 1, NAMES(F("math.log1p"), C("complex.log1p")), "math.log1p; complex.log1p"),
    ROW("stablehlo.logistic", 1, EMIT(logistic, FLOATS), "1 / (1 + exp(-x))"),
    ROW("stablehlo.maximum", 2, NAMES(F("arith.maximumf"), S("arith.maxsi"), U("arith.maxui"), B("arith.ori")), "arith.maximumf, maxsi, maxui, ori"),
    ROW("stablehlo.minimum", 2, NAMES(F("arith.minimumf"), S("arith.minsi"), U("arith.minui"), B("arith.andi")), "arith.minimumf, minsi, minui, andi"),
    ROW("stablehlo.multiply", 2, NAMES(F("arith.mulf"), I("arith.muli"), B("arith.andi"), C("complex.mul")), "arith.mulf, muli, andi; complex.mul"),
    ROW("stablehlo.negate", 1, EMIT(tp__hlo_negate, INTS, F("arith.negf"), C("complex.neg")), "arith.negf, 0 - x; complex.neg"),
    ROW("stablehlo.not", 1, EMIT(tp__hlo_not, INTS | BOOLS), "arith.xori"),
    ROW("stablehlo.or", 2, NAMES(I("arith.ori"), B("arith.ori")), "arith.ori"),
    ROW("stablehlo.popcnt", 1, NAMES(I("math.ctpop")), "math.ctpop"),
    ROW("stablehlo.power", 2, EMIT(tp__hlo_power, INTS, F("math.powf"), C("complex.pow")), "math.powf; products for integers; complex.pow"),
    ROW("stablehlo.real", 1, EMIT(same, FLOATS, C("complex.re")), "complex.re"),
    {"stablehlo.reduce_precision", 1, 1, 0, tp__hlo_reduce_precision, NULL, "a conversion to a float type and back"},
    ROW("stablehlo.remainder", 2, EMIT(tp__hlo_remainder, INTS, F("arith.remf")), "arith.remf, remsi, remui; by 0: the dividend"),
    ROW("stablehlo.round_nearest_afz", 1, NAMES(F("math.round")), "math.round"),
    ROW("stablehlo.round_nearest_even", 1, NAMES(F("math.roundeven")), "math.roundeven"),
    ROW("stablehlo.rsqrt", 1, NAMES(F("math.rsqrt"), C("complex.rsqrt")), "math.rsqrt; complex.rsqrt"),
    {"stablehlo.select", 3, 1, 0, select_op, NULL, "arith.select"},
    ROW("stablehlo.shift_left", 2, EMIT(tp__hlo_shift_left, INTS), "arith.shli; 0 for amounts of the width and above"),
    ROW("stablehlo.shift_right_arithmetic", 2, EMIT(tp__hlo_shift_right_arithmetic, INTS), "arith.shrsi; the sign for amounts of the width and above"),
    ROW("stablehlo.shift_right_logical", 2, EMIT(tp__hlo_shift_right_logical, INTS), "arith.shrui; 0 for amounts of the width and above"),
    ROW("stablehlo.sign", 1, EMIT(tp__hlo_sign, FLOATS | INTS, C("complex.sign")), "selections; complex.sign"),
    ROW("stablehlo.sine", 1, NAMES(F("math.sin"), C("complex.sin")), "math.sin; complex.sin"),
    ROW("stablehlo.sqrt", 1, NAMES(F("math.sqrt"), C("complex.sqrt")), "math.sqrt; complex.sqrt"),
    ROW("stablehlo.subtract", 2, NAMES(F("arith.subf"), I("arith.subi"), C("complex.sub")), "arith.subf, subi; complex.sub"),
    ROW("stablehlo.tan", 1, NAMES(F("math.tan"), C("complex.tan")), "math.tan; complex.tan"),
    ROW("stablehlo.tanh", 1, NAMES(F("math.tanh"), C("complex.tanh")), "math.tanh; complex.tanh"),
    ROW("stablehlo.xor", 2, NAMES(I("arith.xori"), B("arith.xori")), "arith.xori"),
    ROW("chlo.acos", 1, NAMES(F("math.acos")), "math.acos"),
    ROW("chlo.acosh", 1, NAMES(F("math.acosh")), "math.acosh"),
    ROW("chlo.asin", 1, NAMES(F("math.asin")), "math.asin"),
    ROW("chlo.asinh", 1, NAMES(F("math.asinh")), "math.asinh"),
    ROW("chlo.atan", 1, NAMES(F("math.atan")), "math.atan"),
    ROW("chlo.atanh", 1, NAMES(F("math.atanh")), "math.atanh"),
    ROW("chlo.bessel_i1e", 1, EMIT(tp__hlo_bessel_i1e, FLOATS), "Chebyshev polynomials"),
    ROW("chlo.conj", 1, EMIT(conjugate, FLOATS | COMPLEX), "complex.conj"),
    ROW("chlo.cosh", 1, NAMES(F("math.cosh")), "math.cosh"),
    ROW("chlo.digamma", 1, EMIT(tp__hlo_digamma, FLOATS), "Lanczos' approximation"),
    ROW("chlo.erf", 1, NAMES(F("math.erf")), "math.erf"),
    ROW("chlo.erfc", 1, NAMES(F("math.erfc")), "math.erfc"),
    ROW("chlo.erf_inv", 1, EMIT(tp__hlo_erf_inv, FLOATS), "polynomials; two steps of Halley's method for f64"),
    ROW("chlo.is_inf", 1, EMIT(is_inf, FLOATS), "a comparison with infinity"),
    ROW("chlo.is_neg_inf", 1, EMIT(is_neg_inf, FLOATS), "a comparison with infinity"),
    ROW("chlo.is_pos_inf", 1, EMIT(is_pos_inf, FLOATS), "a comparison with infinity"),
    ROW("chlo.lgamma", 1, EMIT(tp__hlo_lgamma, FLOATS), "Lanczos' approximation"),
    ROW("chlo.mulhi", 2, EMIT(tp__hlo_mulhi, INTS), "arith.mulsi_extended, mului_extended"),
    ROW("chlo.next_after", 2, EMIT(tp__hlo_next_after, FLOATS), "bitcasts and integer arithmetic"),
    ROW("chlo.polygamma", 2, EMIT(tp__hlo_polygamma, FLOATS), "zeta, lgamma and digamma"),
    ROW("chlo.sinh", 1, NAMES(F("math.sinh")), "math.sinh"),
    ROW("chlo.square", 1, EMIT(square, FLOATS | INTS | COMPLEX), "a product"),
    ROW("chlo.tan", 1, NAMES(F("math.tan"), C("complex.tan")), "math.tan; complex.tan"),
    ROW("chlo.zeta", 2, EMIT(tp__hlo_zeta, FLOATS), "sums by the formula of Euler and Maclaurin"),
    {NULL},
};
/* clang-format on */
