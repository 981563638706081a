/* Arithmetic on values with error bounds. */
#include "reference/number.h"

#include <float.h>
#include <string.h>

static const kind kinds[] = {
    {"f8E4M3FN", true, 1, 8, 0x1p-4, 448, 0x1p-6, NULL, 0},
    {"f8E5M2", true, 1, 8, 0x1p-3, 57344, 0x1p-14, NULL, 0},
    {"f16", true, 1, 16, 0x1p-11, 65504, 0x1p-14, NULL, 0},
    {"bf16", true, 1, 16, 0x1p-8, 0x1.FEp127, 0x1p-126, NULL, 0},
    {"f32", true, 1, 32, 0x1p-24, FLT_MAX, FLT_MIN, NULL, 0},
    {"f64", true, 1, 64, 0x1p-53, DBL_MAX, DBL_MIN, NULL, 0},
    {"i1", false, 1, 1, 0, 0, 0, NULL, 0},
    {"i8", false, 1, 8, 0, 0, 0, NULL, 0},
    {"i16", false, 1, 16, 0, 0, 0, NULL, 0},
    {"i32", false, 1, 32, 0, 0, 0, NULL, 0},
    {"i64", false, 1, 64, 0, 0, 0, NULL, 0},
    {"index", false, 1, 64, 0, 0, 0, NULL, 0},
    {"complex<f32>", true, 2, 32, 0x1p-24, FLT_MAX, FLT_MIN, NULL, 0},
    {"complex<f64>", true, 2, 64, 0x1p-53, DBL_MAX, DBL_MIN, NULL, 0},
};

/* The same float kinds without rounding; `row` is their row in `kinds`. */
#define EXACT(name, parts, bits, most, row, noise)                                                 \
  {name, true, parts, bits, 0, most, 0, kinds + row, noise}
#define EXACT_KINDS(noisy)                                                                         \
  {                                                                                                \
      EXACT("f8E4M3FN", 1, 8, 448, 0, noisy),                                                      \
      EXACT("f8E5M2", 1, 8, 57344, 1, noisy),                                                      \
      EXACT("f16", 1, 16, 65504, 2, noisy),                                                        \
      EXACT("bf16", 1, 16, 0x1.FEp127, 3, noisy),                                                  \
      EXACT("f32", 1, 32, FLT_MAX, 4, noisy),                                                      \
      EXACT("f64", 1, 64, DBL_MAX, 5, noisy),                                                      \
      EXACT("complex<f32>", 2, 32, FLT_MAX, 12, noisy),                                            \
      EXACT("complex<f64>", 2, 64, DBL_MAX, 13, noisy),                                            \
  }
static const kind exact_kinds[] = EXACT_KINDS(0);
static const kind noisy_kinds[TP_NOISES][sizeof exact_kinds / sizeof *exact_kinds] = {
    EXACT_KINDS(1), EXACT_KINDS(2), EXACT_KINDS(3), EXACT_KINDS(4)};

static const kind *find(size_t n, const kind *list, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(list[i].name, name) == 0)
      return list + i;
  return NULL;
}

const kind *tp__kind_find(const char *name, precision wanted) {
  const kind *list =
      wanted >= PRECISION_NOISY ? noisy_kinds[wanted - PRECISION_NOISY] : exact_kinds;
  const kind *exact = wanted == PRECISION_BOUNDS
                          ? NULL
                          : find(sizeof exact_kinds / sizeof *exact_kinds, list, name);
  return exact ? exact : find(sizeof kinds / sizeof *kinds, kinds, name);
}

bool tp__kind_has_infinity(const kind *k) { return strcmp(k->name, "f8E4M3FN") != 0; }

number tp__unknown(void) { return (number){.error = INFINITY}; }

number tp__whole(const kind *k, int64_t integer) {
  uint64_t left = 64 - (uint64_t)k->bits;
  return (number){.integer = (int64_t)((uint64_t)integer << left) >> left};
}

/* Changes a number by at most the unit roundoff of its type, in a way that depends on the number
 * alone. Integers that the type represents stay as they are: they may be counts or positions. */
static double with_noise(const kind *k, double value) {
  double unit = unit_of(k);
  if (value == rint(value) && fabs(value) <= 1 / unit)
    return value;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits ^= (uint64_t)(k->noise - 1) * UINT64_C(0xD6E8FEB86659FD93);
  bits = (bits ^ bits >> 31) * UINT64_C(0x9E3779B97F4A7C15);
  bits = (bits ^ bits >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
  return value * (1 + unit * ((double)(bits >> 11) * 0x1p-52 - 1));
}

number tp__rounded(const kind *k, double value, double reach, double error, int roundings) {
  if (!(error < INFINITY))
    return tp__unknown();
  /* Rounding does not change NaN or infinity, and operand errors are too small to matter. */
  if (!isfinite(value))
    return (number){.value = value, .reach = fabs(value)};
  if (k->noise && roundings > 0)
    value = with_noise(k, value);
  if (is_exact(k))
    return (number){.value = fabs(value) > k->most ? copysign(INFINITY, value) : value,
                    .reach = fabs(value)};
  bool is_whole = value == rint(value) && error == 0 && reach <= 1 / k->unit;
  /* The sum may overflow in some order of additions. A value less than half a rounding step above
   * the largest finite number still rounds to that number. */
  if (!(reach + error <= k->most * (1 + k->unit / 2)))
    return tp__unknown();
  if (!is_whole && roundings > 0)
    error += roundings * k->unit * (reach + error) + k->min_normal;
  return (number){.value = value, .reach = fmax(reach, fabs(value)), .error = error};
}

double tp__nearest(const kind *k, double value) {
  const kind *type = k->nominal ? k->nominal : k;
  bool has_infinity = tp__kind_has_infinity(type);
  if (!isfinite(value))
    return has_infinity ? value : NAN;
  if (value == 0 || type->bits == 64)
    return value;
  int exponent;
  (void)frexp(fmax(fabs(value), type->min_normal), &exponent);
  double spacing = ldexp(type->unit, exponent), nearest = rint(value / spacing) * spacing;
  if (fabs(nearest) <= type->most)
    return nearest;
  return has_infinity ? copysign(INFINITY, value) : NAN;
}

double tp__narrowed(const kind *k, double value) {
  double nearest = tp__nearest(k, value);
  /* devices may round their parts of a sum, each */
  return k->noise && nearest != value && isfinite(nearest) ? tp__nearest(k, with_noise(k, value))
                                                           : nearest;
}

number tp__real(const kind *k, double value) {
  return tp__rounded(k, value, fabs(value), 0, tp__nearest(k, value) == value ? 0 : 1);
}

static double error_of(const number *a, const number *b) { return a->error + b->error; }

number tp__number_add(const kind *k, const number *a, const number *b) {
  return tp__rounded(k, a->value + b->value, a->reach + b->reach, error_of(a, b), 1);
}

number tp__number_negate(const kind *k, const number *a) {
  return tp__rounded(k, -a->value, a->reach, a->error, 0);
}

number tp__number_subtract(const kind *k, const number *a, const number *b) {
  return tp__rounded(k, a->value - b->value, a->reach + b->reach, error_of(a, b), 1);
}

/* True if the product needs no rounding because the element type represents it exactly. Neither
 * factor may be a sum: devices may multiply partial sums instead. */
static bool is_exact_product(const kind *k, const number *a, const number *b, double value) {
  return a->error == 0 && b->error == 0 && a->reach == fabs(a->value) &&
         b->reach == fabs(b->value) && k->bits == 32 && (double)(float)value == value;
}

number tp__number_multiply(const kind *k, const number *a, const number *b) {
  if (!is_known(a) || !is_known(b))
    return tp__unknown();
  if ((isinf(a->value) && b->error > 0 && fabs(b->value) <= b->error) ||
      (isinf(b->value) && a->error > 0 && fabs(a->value) <= a->error))
    return tp__unknown(); /* the sign is unknown, or the result is NaN */
  double error = a->error == 0 && b->error == 0
                     ? 0
                     : fabs(a->value) * b->error + fabs(b->value) * a->error + a->error * b->error;
  if (isinf(a->value) || isinf(b->value))
    error = 0;
  double value = a->value * b->value;
  return tp__rounded(k, value, a->reach * b->reach, error,
                     is_exact_product(k, a, b, value) ? 0 : 1);
}

static bool is_power_of_two(double x) {
  int exponent;
  return fabs(frexp(x, &exponent)) == 0.5;
}

number tp__number_divide(const kind *k, const number *a, const number *b) {
  double least = fabs(b->value) - b->error;
  if (!is_known(a) || !is_known(b) || (b->error > 0 && !(least > 0) && !isnan(b->value)))
    return tp__unknown();
  if (b->value == 0 && !is_exact(k) && !isnan(a->value) && (a->error == 0 ? a->value != 0 : true))
    return tp__unknown(); /* the sign of a zero depends on the order of additions */
  double value = a->value / b->value,
         reach = isfinite(b->value) ? a->reach / fabs(b->value) : fabs(value);
  double error = a->error == 0 && b->error == 0 ? 0 : (a->error + fabs(value) * b->error) / least;
  if (isfinite(value) && isfinite(b->value) && !is_power_of_two(b->value))
    /* Devices may divide their partial sums separately: -7 / 12 - 5 / 12 is not exactly -1. */
    error += k->unit * reach;
  return tp__rounded(k, value, reach, isinf(b->value) ? 0 : error, 1);
}

number tp__number_monotone(const kind *k, const number *a, double (*f)(double), int roundings) {
  double value = f(a->value), error = 0;
  if (!is_known(a))
    return tp__unknown();
  if (a->error > 0 && isfinite(a->value)) {
    error = fmax(fabs(f(a->value + a->error) - value), fabs(f(a->value - a->error) - value));
    if (!(error < INFINITY))
      return tp__unknown();
  }
  number made = tp__rounded(k, value, fabs(value), error, roundings);
  /* an approximation need not be exact where the result is integral */
  if (roundings > 1 && is_known(&made) && isfinite(value))
    made.error += roundings * k->unit * fabs(value);
  return made;
}

number tp__number_select(const kind *k, const number *condition, const number *yes,
                         const number *no) {
  if (is_certain(condition))
    return condition->integer ? *yes : *no;
  if (!k->is_float)
    return yes->integer == no->integer && is_certain(yes) && is_certain(no) ? *yes : tp__unknown();
  double apart = fabs(yes->value - no->value) + fmax(yes->error, no->error);
  if (yes->value == no->value)
    apart = fmax(yes->error, no->error);
  return apart < INFINITY ? (number){yes->value, fmax(yes->reach, no->reach), apart, 0}
                          : tp__unknown();
}

/* The bounds hold for sums in sequential order. Other orders, and sums that start from identity
 * elements on each device, have up to twice that error. */
enum { SLACK = 4 };

bool tp__number_is_right(const kind *k, const number *expected, const number *actual) {
  if (!is_known(expected))
    return true;
  if (!k->is_float)
    return expected->integer == actual->integer;
  if (isnan(expected->value) || isnan(actual->value))
    return isnan(expected->value) && isnan(actual->value);
  if (expected->value == actual->value)
    return true;
  return fabs(expected->value - actual->value) <= SLACK * expected->error;
}
