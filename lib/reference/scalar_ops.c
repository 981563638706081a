/* Table of the operations on floats and integers, and their error propagation. */
#include "reference/scalar_ops.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

static bool are_certain(const number *const *in, int n) {
  for (int i = 0; i < n; i++)
    if (!is_certain(in[i]))
      return false;
  return true;
}

/* ---- floats ---- */

static number min_or_max(const number *a, const number *b, bool most, bool quiet) {
  if (!is_known(a) || !is_known(b))
    return tp__unknown();
  if (isnan(a->value) || isnan(b->value)) {
    const number *other = isnan(a->value) ? b : a;
    return quiet ? *other : (number){.value = NAN};
  }
  const number *x = (a->value > b->value) == most ? a : b, *y = x == a ? b : a;
  if (x->value == y->value)
    return (number){.value = x->value, .reach = fabs(x->value), .error = fmax(a->error, b->error)};
  /* `y` can still win by the part of its interval that lies beyond x's value. */
  double beyond = y->error - fabs(x->value - y->value);
  return (number){.value = x->value, .reach = fabs(x->value), .error = fmax(x->error, beyond)};
}

static number maximum(const kind *k, const number *a, const number *b) {
  return (void)k, min_or_max(a, b, true, false);
}
static number minimum(const kind *k, const number *a, const number *b) {
  return (void)k, min_or_max(a, b, false, false);
}
static number maxnum(const kind *k, const number *a, const number *b) {
  return (void)k, min_or_max(a, b, true, true);
}
static number minnum(const kind *k, const number *a, const number *b) {
  return (void)k, min_or_max(a, b, false, true);
}

/* Known only for exact operands: a small error may change the remainder by a whole divisor. */
static number remainder_of(const kind *k, const number *a, const number *b) {
  double value = fmod(a->value, b->value);
  return is_certain(a) && is_certain(b) ? tp__rounded(k, value, fabs(value), 0, 1) : tp__unknown();
}

static number with_sign(const kind *k, const number *a, const number *b) {
  if (!is_known(a) || !is_known(b) || b->value == 0 || fabs(b->value) <= b->error)
    return tp__unknown();
  return tp__rounded(k, copysign(a->value, b->value), fabs(a->value), a->error, 0);
}

/* Applies a function that is monotone in each argument on the error intervals. Its largest error is
 * at one of their four corners. */
static number of_corners(const kind *k, const number *a, const number *b,
                         double (*f)(double, double)) {
  double value = f(a->value, b->value), error = 0;
  if (!is_known(a) || !is_known(b))
    return tp__unknown();
  for (int i = 0; i < 4 && (a->error > 0 || b->error > 0); i++) {
    double x =
        f(a->value + (i & 1 ? a->error : -a->error), b->value + (i & 2 ? b->error : -b->error));
    error = fmax(error, isnan(x) ? INFINITY : fabs(x - value));
  }
  number made = tp__rounded(k, value, fabs(value), error, 8);
  if (is_known(&made) && isfinite(value))
    made.error += 8 * k->unit * fabs(value);
  return made;
}

static number power(const kind *k, const number *a, const number *b) {
  bool crosses = a->error > 0 && !(a->value - a->error > 0);
  return crosses ? tp__unknown() : of_corners(k, a, b, pow);
}

static number arc(const kind *k, const number *a, const number *b) {
  /* the branch cut, where the angle jumps by a full turn */
  bool crosses = (a->error > 0 || b->error > 0) && fabs(a->value) <= a->error;
  return crosses || (a->value == 0 && b->value <= 0) ? tp__unknown() : of_corners(k, a, b, atan2);
}

static double rsqrt(double x) { return 1 / sqrt(x); }

/* Applies a function whose slope is at most 1, so that it does not amplify the error. */
static number wave(const scalar_types *t, const number *a, double (*f)(double)) {
  double value = f(a->value);
  number made = tp__rounded(t->to, value, fabs(value), a->error, 8);
  if (is_known(&made) && isfinite(value))
    made.error += 8 * t->to->unit;
  return made;
}
static void apply_sin(const scalar_types *t, const number *const *in, number *out) {
  *out = wave(t, in[0], sin);
}
static void apply_cos(const scalar_types *t, const number *const *in, number *out) {
  *out = wave(t, in[0], cos);
}
/* Applies a function whose largest deviation on the error interval is at one of its ends. */
static number of_ends(const scalar_types *t, const number *a, double (*f)(double)) {
  double value = f(a->value);
  double error = a->error > 0 ? fmax(fabs(f(a->value - a->error) - value),
                                     fabs(f(a->value + a->error) - value))
                              : 0;
  return tp__rounded(t->to, value, fabs(value), error, 8);
}
static void apply_tan(const scalar_types *t, const number *const *in, number *out) {
  const double pi = 3.14159265358979323846;
  double low = in[0]->value - in[0]->error, high = in[0]->value + in[0]->error;
  bool has_pole = is_known(in[0]) && floor(low / pi + 0.5) != floor(high / pi + 0.5);
  *out = has_pole || !is_known(in[0]) ? tp__unknown() : of_ends(t, in[0], tan);
}
/* cosh is convex and even, so its largest deviation is at an end of the interval. */
static void apply_cosh(const scalar_types *t, const number *const *in, number *out) {
  *out = is_known(in[0]) ? of_ends(t, in[0], cosh) : tp__unknown();
}
static void apply_abs(const scalar_types *t, const number *const *in, number *out) {
  *out = tp__rounded(t->to, fabs(in[0]->value), fabs(in[0]->value), in[0]->error, 0);
}
static void apply_neg(const scalar_types *t, const number *const *in, number *out) {
  *out = tp__number_negate(t->to, in[0]);
}
static void apply_fma(const scalar_types *t, const number *const *in, number *out) {
  number product = tp__number_multiply(t->to, in[0], in[1]);
  *out = tp__number_add(t->to, &product, in[2]);
}

static void apply_clamp(const scalar_types *t, const number *const *in, number *out) {
  number raised = maximum(t->to, in[0], in[1]);
  *out = minimum(t->to, &raised, in[2]);
}
static void apply_sincos(const scalar_types *t, const number *const *in, number *out) {
  out[0] = wave(t, in[0], sin);
  out[1] = wave(t, in[0], cos);
}

/* math.fpowi. Repeated squaring rounds up to n times. */
static void apply_fpowi(const scalar_types *t, const number *const *in, number *out) {
  number n = {.value = (double)in[1]->integer, .error = in[1]->error};
  bool crosses = in[0]->error > 0 && fabs(in[0]->value) <= in[0]->error;
  *out = crosses ? tp__unknown() : of_corners(t->to, in[0], &n, pow);
  if (is_known(out))
    out->error += fabs(n.value) * t->to->unit * fabs(out->value);
}

/* ---- comparisons, choices, conversions ---- */

/* arith.cmpf. Predicates 1 to 7 are ordered, 8 to 14 unordered; within each group, the bits mean 1
 * equal, 2 greater, 4 less. */
static void apply_cmpf(const scalar_types *t, const number *const *in, number *out) {
  const number *a = in[0], *b = in[1];
  int p = t->predicate;
  bool ordered = p >= 1 && p <= 7, nan = isnan(a->value) || isnan(b->value);
  int relation = ordered ? p : p - 7; /* 1 eq, 2 gt, 3 ge, 4 lt, 5 le, 6 ne, 7 ord or uno */
  if (!is_known(a) || !is_known(b)) {
    *out = p == 0 || p == 15 ? tp__whole(t->to, p == 15) : tp__unknown();
    return;
  }
  if (p == 0 || p == 15 || nan || relation == 7) {
    *out = tp__whole(t->to, p == 15 || (p != 0 && nan != ordered));
    return;
  }
  double apart = a->value == b->value ? 0 : a->value - b->value, error = a->error + b->error;
  if (a != b && error > 0 && fabs(apart) <= error) {
    /* a value equals itself, even an uncertain one; hence the test a != b */
    *out = tp__unknown();
    return;
  }
  int is = apart == 0 ? 1 : apart > 0 ? 2 : 4;
  *out = tp__whole(t->to, (relation & is) != 0);
}

static void apply_select(const scalar_types *t, const number *const *in, number *out) {
  for (int i = 0; i < t->to->parts; i++)
    out[i] = tp__number_select(t->to, in[0], in[1] + i, in[2] + i);
}

/* Converts to a wider float type. Linear, so it propagates the reach. */
static void apply_widen(const scalar_types *t, const number *const *in, number *out) {
  *out = tp__rounded(t->to, in[0]->value, in[0]->reach, in[0]->error, 1);
}
/* Converts to a narrower float type. An evaluation that otherwise ignores rounding does round here,
 * because the program asks for it: quantization is such a program. */
static void apply_narrow(const scalar_types *t, const number *const *in, number *out) {
  if (is_exact(t->to) && is_known(in[0]))
    *out = (number){.value = tp__narrowed(t->to, in[0]->value), .reach = fabs(in[0]->value)};
  else
    apply_widen(t, in, out);
}

/* Reinterprets the bits of a number that its type represents exactly. */
static void apply_bitcast(const scalar_types *t, const number *const *in, number *out) {
  uint64_t bits;
  bool fits = is_certain(in[0]) && tp__number_bits(t->of, in[0], &bits);
  *out = fits ? tp__number_read(t->to, &bits, 0) : tp__unknown();
}

static void apply_to_int(const scalar_types *t, const number *const *in, number *out) {
  double low = trunc(in[0]->value - in[0]->error), high = trunc(in[0]->value + in[0]->error);
  bool fits = low == high && fabs(low) < ldexp(1, t->to->bits - 1);
  *out = fits ? tp__whole(t->to, (int64_t)low) : tp__unknown();
}

static void apply_to_uint(const scalar_types *t, const number *const *in, number *out) {
  double low = trunc(in[0]->value - in[0]->error), high = trunc(in[0]->value + in[0]->error);
  bool fits = low == high && low >= 0 && low < ldexp(1, t->to->bits);
  *out = fits ? tp__whole(t->to, (int64_t)(uint64_t)low) : tp__unknown();
}

static void apply_from_int(const scalar_types *t, const number *const *in, number *out) {
  *out = is_known(in[0]) ? tp__real(t->to, (double)in[0]->integer) : tp__unknown();
}
static void apply_from_uint(const scalar_types *t, const number *const *in, number *out) {
  *out = is_known(in[0]) ? tp__real(t->to, (double)unsigned_of(t->of->bits, in[0]->integer))
                         : tp__unknown();
}
static void apply_extend(const scalar_types *t, const number *const *in, number *out) {
  *out = is_known(in[0]) ? tp__whole(t->to, in[0]->integer) : tp__unknown();
}
static void apply_extend_unsigned(const scalar_types *t, const number *const *in, number *out) {
  *out = is_known(in[0]) ? tp__whole(t->to, (int64_t)unsigned_of(t->of->bits, in[0]->integer))
                         : tp__unknown();
}

static void is_what(const scalar_types *t, const number *a, number *out, bool is) {
  *out = is_known(a) ? tp__whole(t->to, is) : tp__unknown();
}
static void apply_isnan(const scalar_types *t, const number *const *in, number *out) {
  is_what(t, in[0], out, isnan(in[0]->value));
}
static void apply_isinf(const scalar_types *t, const number *const *in, number *out) {
  is_what(t, in[0], out, isinf(in[0]->value));
}
/* Numbers around the smallest normal one may be flushed, or rounded to either side of it. */
static void apply_isnormal(const scalar_types *t, const number *const *in, number *out) {
  const kind *type = t->of->nominal ? t->of->nominal : t->of;
  double low = fabs(in[0]->value) - in[0]->error, high = fabs(in[0]->value) + in[0]->error;
  if (isfinite(in[0]->value) && low < type->min_normal && high >= type->min_normal)
    *out = tp__unknown();
  else
    is_what(t, in[0], out, isfinite(in[0]->value) && low >= type->min_normal);
}
static void apply_isfinite(const scalar_types *t, const number *const *in, number *out) {
  is_what(t, in[0], out, isfinite(in[0]->value));
}

/* ---- integer ops with two results ---- */

static void apply_add_carry(const scalar_types *t, const number *const *in, number *out) {
  uint64_t a = unsigned_of(t->of->bits, in[0]->integer), b = (uint64_t)in[1]->integer;
  number sum = tp__whole(t->to, (int64_t)(a + b));
  bool carries = unsigned_of(t->of->bits, sum.integer) < a, ok = are_certain(in, 2);
  out[0] = ok ? sum : tp__unknown();
  out[1] = ok ? (number){.integer = -(int64_t)carries} : tp__unknown();
}
static void multiply_extended(const scalar_types *t, const number *const *in, number *out,
                              bool is_signed) {
  int bits = t->of->bits;
  __int128 a = in[0]->integer, b = in[1]->integer;
  if (!is_signed)
    a = (__int128)unsigned_of(bits, in[0]->integer),
    b = (__int128)unsigned_of(bits, in[1]->integer);
  unsigned __int128 product = (unsigned __int128)a * (unsigned __int128)b;
  bool ok = are_certain(in, 2);
  out[0] = ok ? tp__whole(t->to, (int64_t)product) : tp__unknown();
  out[1] = ok ? tp__whole(t->to, (int64_t)(product >> bits)) : tp__unknown();
}
static void apply_mulsi_extended(const scalar_types *t, const number *const *in, number *out) {
  multiply_extended(t, in, out, true);
}
static void apply_mului_extended(const scalar_types *t, const number *const *in, number *out) {
  multiply_extended(t, in, out, false);
}

/* ---- integer ops that may be certain although an operand is not ---- */

static void apply_and(const scalar_types *t, const number *const *in, number *out) {
  bool a = is_certain(in[0]), b = is_certain(in[1]);
  if (a && b)
    *out = tp__whole(t->to, in[0]->integer & in[1]->integer);
  else
    *out = (a && in[0]->integer == 0) || (b && in[1]->integer == 0) ? tp__whole(t->to, 0)
                                                                    : tp__unknown();
}

static void apply_or(const scalar_types *t, const number *const *in, number *out) {
  bool a = is_certain(in[0]), b = is_certain(in[1]);
  if (a && b)
    *out = tp__whole(t->to, in[0]->integer | in[1]->integer);
  else
    *out = (a && in[0]->integer == -1) || (b && in[1]->integer == -1) ? tp__whole(t->to, -1)
                                                                      : tp__unknown();
}

static void apply_cmpi(const scalar_types *t, const number *const *in, number *out) {
  int64_t a = in[0]->integer, b = in[1]->integer;
  uint64_t ua = unsigned_of(t->of->bits, a), ub = unsigned_of(t->of->bits, b);
  bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, ua<ub, ua <= ub, ua> ub, ua >= ub};
  *out = is_certain(in[0]) && is_certain(in[1]) ? tp__whole(t->to, results[t->predicate])
                                                : tp__unknown();
}

static const scalar_op table[] = {
    {.name = "arith.addf", .binary = tp__number_add},
    {.name = "arith.subf", .binary = tp__number_subtract},
    {.name = "arith.mulf", .binary = tp__number_multiply},
    {.name = "arith.divf", .binary = tp__number_divide},
    {.name = "arith.remf", .binary = remainder_of},
    {.name = "arith.maximumf", .binary = maximum},
    {.name = "arith.minimumf", .binary = minimum},
    {.name = "arith.maxnumf", .binary = maxnum},
    {.name = "arith.minnumf", .binary = minnum},
    {.name = "arith.negf", .apply = apply_neg},
    {.name = "arith.cmpf", .apply = apply_cmpf},
    {.name = "arith.cmpi", .apply = apply_cmpi},
    {.name = "arith.select", .apply = apply_select},
    {.name = "arith.fptosi", .apply = apply_to_int},
    {.name = "arith.fptoui", .apply = apply_to_uint},
    {.name = "arith.sitofp", .apply = apply_from_int},
    {.name = "arith.uitofp", .apply = apply_from_uint},
    {.name = "arith.extf", .apply = apply_widen},
    {.name = "arith.truncf", .apply = apply_narrow},
    {.name = "arith.bitcast", .apply = apply_bitcast},
    {.name = "arith.extsi", .apply = apply_extend},
    {.name = "arith.trunci", .apply = apply_extend},
    {.name = "arith.index_cast", .apply = apply_extend},
    {.name = "arith.extui", .apply = apply_extend_unsigned},
    {.name = "arith.index_castui", .apply = apply_extend_unsigned},
    {.name = "arith.addi", .integers = tp__int_add},
    {.name = "arith.subi", .integers = tp__int_sub},
    {.name = "arith.muli", .integers = tp__int_mul},
    {.name = "arith.divsi", .integers = tp__int_divs},
    {.name = "arith.divui", .integers = tp__int_divu},
    {.name = "arith.remsi", .integers = tp__int_rems},
    {.name = "arith.remui", .integers = tp__int_remu},
    {.name = "arith.floordivsi", .integers = tp__int_floordiv},
    {.name = "arith.ceildivsi", .integers = tp__int_ceildiv},
    {.name = "arith.ceildivui", .integers = tp__int_ceildivu},
    {.name = "arith.maxsi", .integers = tp__int_maxs},
    {.name = "arith.minsi", .integers = tp__int_mins},
    {.name = "arith.maxui", .integers = tp__int_maxu},
    {.name = "arith.minui", .integers = tp__int_minu},
    {.name = "arith.andi", .apply = apply_and},
    {.name = "arith.ori", .apply = apply_or},
    {.name = "arith.xori", .integers = tp__int_xor},
    {.name = "arith.shli", .integers = tp__int_shl},
    {.name = "arith.shrsi", .integers = tp__int_shrs},
    {.name = "arith.shrui", .integers = tp__int_shru},
    {.name = "arith.addui_extended", .apply = apply_add_carry},
    {.name = "arith.mulsi_extended", .apply = apply_mulsi_extended},
    {.name = "arith.mului_extended", .apply = apply_mului_extended},
    {.name = "math.absi", .integers = tp__int_abs},
    {.name = "math.ctlz", .integers = tp__int_ctlz},
    {.name = "math.cttz", .integers = tp__int_cttz},
    {.name = "math.ctpop", .integers = tp__int_ctpop},
    {.name = "math.ipowi", .integers = tp__int_pow},
    {.name = "math.absf", .apply = apply_abs},
    {.name = "math.fma", .apply = apply_fma},
    {.name = "math.sin", .apply = apply_sin},
    {.name = "math.cos", .apply = apply_cos},
    {.name = "math.tan", .apply = apply_tan},
    {.name = "math.cosh", .apply = apply_cosh},
    {.name = "math.fpowi", .apply = apply_fpowi},
    {.name = "math.powf", .binary = power},
    {.name = "math.atan2", .binary = arc},
    {.name = "math.copysign", .binary = with_sign},
    {.name = "math.isnan", .apply = apply_isnan},
    {.name = "math.isinf", .apply = apply_isinf},
    {.name = "math.isfinite", .apply = apply_isfinite},
    {.name = "math.isnormal", .apply = apply_isnormal},
    {.name = "math.clampf", .apply = apply_clamp},
    {.name = "math.sincos", .apply = apply_sincos},
    {.name = "math.ceil", .function = ceil},
    {.name = "math.floor", .function = floor},
    {.name = "math.round", .function = round},
    {.name = "math.roundeven", .function = rint},
    {.name = "math.trunc", .function = trunc},
    {.name = "math.sqrt", .function = sqrt, .roundings = 1},
    {.name = "math.exp", .function = exp, .roundings = 8},
    {.name = "math.exp2", .function = exp2, .roundings = 8},
    {.name = "math.expm1", .function = expm1, .roundings = 8},
    {.name = "math.log", .function = log, .roundings = 8},
    {.name = "math.log2", .function = log2, .roundings = 8},
    {.name = "math.log10", .function = log10, .roundings = 8},
    {.name = "math.log1p", .function = log1p, .roundings = 8},
    {.name = "math.rsqrt", .function = rsqrt, .roundings = 8},
    {.name = "math.cbrt", .function = cbrt, .roundings = 8},
    {.name = "math.tanh", .function = tanh, .roundings = 8},
    {.name = "math.sinh", .function = sinh, .roundings = 8},
    {.name = "math.atan", .function = atan, .roundings = 8},
    {.name = "math.asin", .function = asin, .roundings = 8},
    {.name = "math.acos", .function = acos, .roundings = 8},
    {.name = "math.asinh", .function = asinh, .roundings = 8},
    {.name = "math.acosh", .function = acosh, .roundings = 8},
    {.name = "math.atanh", .function = atanh, .roundings = 8},
    {.name = "math.erf", .function = erf, .roundings = 8},
    {.name = "math.erfc", .function = erfc, .roundings = 8},
    {0},
};

const scalar_op *tp__scalar_find(MlirStringRef name) {
  const scalar_op *const tables[] = {table, tp__complex_ops};
  for (int i = 0; i < 2; i++)
    for (const scalar_op *op = tables[i]; op->name; op++)
      if (strlen(op->name) == name.length && memcmp(op->name, name.data, name.length) == 0)
        return op;
  return NULL;
}

int tp__scalar_predicate(MlirOperation op) {
  MlirAttribute predicate =
      mlirOperationGetInherentAttributeByName(op, mlirStringRefCreateFromCString("predicate"));
  return mlirAttributeIsNull(predicate) ? 0 : (int)mlirIntegerAttrGetValueInt(predicate);
}

void tp__scalar_apply(const scalar_op *op, const scalar_types *types, int n,
                      const number *const *operands, number *result) {
  if (op->binary) {
    *result = op->binary(types->to, operands[0], operands[1]);
  } else if (op->function) {
    *result = tp__number_monotone(types->to, operands[0], op->function, op->roundings);
  } else if (op->integers) {
    bool defined = is_certain(operands[0]) && is_certain(operands[n - 1]);
    integers x = {types->to->bits, operands[0]->integer, operands[n - 1]->integer};
    int64_t made = defined ? op->integers(&x, &defined) : 0;
    *result = defined ? tp__whole(types->to, made) : tp__unknown();
  } else {
    op->apply(types, operands, result);
  }
}

bool tp__scalar_is(const scalar_op *op, const char *name) {
  return op && strcmp(op->name, name) == 0;
}

void tp__scalar_apply_all(const scalar_op *op, const scalar_types *types, int n,
                          const number *const *operands, const int64_t *steps, int64_t count,
                          number *results) {
  const number *at[3] = {operands[0], n > 1 ? operands[1] : NULL, n > 2 ? operands[2] : NULL};
  if (op->binary) {
    for (int64_t i = 0; i < count; i++)
      results[i] = op->binary(types->to, at[0] + i * steps[0], at[1] + i * steps[1]);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    tp__scalar_apply(op, types, n, at, results + i * types->to->parts);
    for (int k = 0; k < n; k++)
      at[k] += steps[k];
  }
}
