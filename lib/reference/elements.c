/* Converts elements in memory into numbers with error bounds. */
#include "reference/evaluator.h"
#include "reference/integer.h"

#include <string.h>

/* Decodes a float of `bits` bits with `exponent_bits` bits of exponent. `finite`: the format has no
 * infinities (f8E4M3FN); its largest exponent encodes numbers too, and only the all-ones pattern is
 * NaN. */
static double decode(uint32_t pattern, int bits, int exponent_bits, bool finite) {
  int fraction_bits = bits - 1 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  uint32_t fraction = pattern & ((1u << fraction_bits) - 1);
  int exponent = (int)(pattern >> fraction_bits & ((1u << exponent_bits) - 1));
  double sign = pattern >> (bits - 1) & 1 ? -1 : 1, unit = ldexp(1, -fraction_bits);
  bool is_last = exponent == (1 << exponent_bits) - 1;
  if (is_last && finite && fraction == (1u << fraction_bits) - 1)
    return NAN;
  if (is_last && !finite)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * ldexp(fraction * unit, 1 - bias);
  return sign * ldexp(1 + fraction * unit, exponent - bias);
}

static int exponent_bits(const kind *k) {
  return !tp__kind_has_infinity(k) ? 4 : strcmp(k->name, "bf16") == 0 ? 8 : 5;
}

size_t tp__kind_bytes(const kind *k) { return (size_t)(k->bits + 7) / 8 * (size_t)k->parts; }

number tp__number_read(const kind *k, const void *data, int64_t i) {
  size_t size = (size_t)(k->bits + 7) / 8;
  const char *at = (const char *)data + (size_t)i * size;
  uint64_t bits = 0; /* little endian: memcpy fills the low bytes */
  memcpy(&bits, at, size);
  if (!k->is_float)
    return tp__whole(k, (int64_t)bits);
  double value;
  if (k->bits == 64) {
    memcpy(&value, at, sizeof value);
  } else if (k->bits == 32) {
    float narrow;
    memcpy(&narrow, at, sizeof narrow);
    value = narrow;
  } else {
    value = decode((uint32_t)bits, k->bits, exponent_bits(k), !tp__kind_has_infinity(k));
  }
  return (number){.value = value, .reach = fabs(value)};
}

bool tp__number_bits(const kind *k, const number *x, uint64_t *bits) {
  *bits = 0;
  if (!k->is_float) {
    *bits = unsigned_of(k->bits, x->integer);
    return true;
  }
  if (isnan(x->value))
    return false; /* which NaN it is, is not known */
  if (k->bits == 64) {
    memcpy(bits, &x->value, sizeof x->value);
    return true;
  }
  float value = (float)x->value;
  memcpy(bits, &value, sizeof value);
  if (k->bits == 32)
    return (double)value == x->value;
  /* a narrow type has few enough patterns to try them all */
  for (uint64_t pattern = 0; pattern < UINT64_C(1) << k->bits; pattern++) {
    double tried = decode((uint32_t)pattern, k->bits, exponent_bits(k), !tp__kind_has_infinity(k));
    if (tried == x->value && signbit(tried) == signbit(x->value)) {
      *bits = pattern;
      return true;
    }
  }
  return false;
}
