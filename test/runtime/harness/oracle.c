/* Computes expected reductions one element at a time, independently of the library. */
#include "oracle.h"

#include "ranks.h"

#include <math.h>
#include <string.h>

typedef struct number {
  int64_t i;
  double f, im; /* floats; im: of a complex number */
} number;

static bool is_f8(tprt_dtype t) { return t == TPRT_F8E4M3 || t == TPRT_F8E5M2; }
static bool is_float(tprt_dtype t) { return (t >= TPRT_F32 && t <= TPRT_BF16) || is_f8(t); }
static bool is_complex(tprt_dtype t) { return t == TPRT_C64 || t == TPRT_C128; }
static bool is_unsigned(tprt_dtype t) { return (t >= TPRT_U8 && t <= TPRT_U64) || t == TPRT_BOOL; }

/* Constant sizes compile to moves, which is faster with a sanitizer that intercepts memcpy. */
void oracle_copy(tprt_dtype t, void *to, const void *from) {
  switch (tprt_dtype_size(t)) {
  case 1:
    memcpy(to, from, 1);
    break;
  case 2:
    memcpy(to, from, 2);
    break;
  case 4:
    memcpy(to, from, 4);
    break;
  case 8:
    memcpy(to, from, 8);
    break;
  default:
    memcpy(to, from, 16);
  }
}

/* Magnitudes of the f8 types by their bits: NaN if there is no number, infinity for f8e5m2 at
 * 0x7c. */
static double f8_values[2][128];

__attribute__((constructor)) static void fill_f8(void) {
  for (int format = 0; format < 2; format++) {
    int mantissa_bits = 3 - format, bias = format ? 15 : 7;
    for (int i = 0; i < 128; i++) {
      int mantissa = i & ((1 << mantissa_bits) - 1), exponent = i >> mantissa_bits;
      f8_values[format][i] =
          exponent ? ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)
                   : ldexp(mantissa, 1 - bias - mantissa_bits);
    }
    for (int i = format ? 0x7d : 0x7f; i < 128; i++)
      f8_values[format][i] = (double)NAN;
  }
  f8_values[1][0x7c] = (double)INFINITY;
}

static double f8_read(tprt_dtype t, unsigned char byte) {
  double value = f8_values[t == TPRT_F8E5M2][byte & 0x7f];
  return byte & 0x80 ? -value : value;
}

/* Rounds to nearest, ties to even. Infinity or NaN starts at the next number beyond the largest. */
static unsigned char f8_write(tprt_dtype t, double x) {
  const double *values = f8_values[t == TPRT_F8E5M2];
  int last = t == TPRT_F8E5M2 ? 0x7b : 0x7e, best = 0;
  unsigned char sign = signbit(x) ? 0x80 : 0;
  double size = fabs(x), beyond = 2 * values[last] - values[last - 1];
  if (isnan(x))
    return 0x7f;
  if (size > (values[last] + beyond) / 2 || (size == (values[last] + beyond) / 2 && last % 2))
    return (unsigned char)(sign | (last + 1));
  for (int i = 1; i <= last; i++) {
    double d = fabs(values[i] - size), least = fabs(values[best] - size);
    if (d < least || (d == least && i % 2 == 0))
      best = i;
  }
  return (unsigned char)(sign | best);
}

static number read_number(tprt_dtype t, const void *at) {
  number x = {0};
  uint16_t half;
  float f;
  int size = (int)tprt_dtype_size(t);
  switch (t) {
  case TPRT_F16:
    memcpy(&half, at, 2);
    x.f = (double)tprt_f16_to_f32(half);
    break;
  case TPRT_BF16:
    memcpy(&half, at, 2);
    x.f = (double)tprt_bf16_to_f32(half);
    break;
  case TPRT_F32:
    memcpy(&f, at, 4);
    x.f = (double)f;
    break;
  case TPRT_F64:
    memcpy(&x.f, at, 8);
    break;
  case TPRT_C64:
    memcpy(&f, at, 4);
    x.f = (double)f;
    memcpy(&f, (const char *)at + 4, 4);
    x.im = (double)f;
    break;
  case TPRT_C128:
    memcpy(&x.f, at, 8);
    memcpy(&x.im, (const char *)at + 8, 8);
    break;
  case TPRT_F8E4M3:
  case TPRT_F8E5M2:
    x.f = f8_read(t, *(const unsigned char *)at);
    break;
  default: /* little-endian, sign-extended unless unsigned */
    oracle_copy(t, &x.i, at);
    if (!is_unsigned(t))
      x.i = (int64_t)((uint64_t)x.i << (64 - 8 * size)) >> (64 - 8 * size);
  }
  return x;
}

static void write_number(tprt_dtype t, void *at, number x) {
  uint16_t half;
  float f = is_float(t) || t == TPRT_C64 ? (float)x.f : 0, im = t == TPRT_C64 ? (float)x.im : 0;
  switch (t) {
  case TPRT_F16:
    half = tprt_f32_to_f16(f);
    memcpy(at, &half, 2);
    break;
  case TPRT_BF16:
    half = tprt_f32_to_bf16(f);
    memcpy(at, &half, 2);
    break;
  case TPRT_F8E4M3:
  case TPRT_F8E5M2:
    *(unsigned char *)at = f8_write(t, x.f);
    break;
  case TPRT_F32:
    memcpy(at, &f, 4);
    break;
  case TPRT_F64:
    memcpy(at, &x.f, 8);
    break;
  case TPRT_C64:
    memcpy(at, &f, 4);
    memcpy((char *)at + 4, &im, 4);
    break;
  case TPRT_C128:
    memcpy(at, &x.f, 8);
    memcpy((char *)at + 8, &x.im, 8);
    break;
  default:
    oracle_copy(t, at, &x.i);
  }
}

static double combine_float(tprt_dtype t, tprt_reduction r, double a, double b) {
  bool wide = t == TPRT_F64;
  switch (r) {
  case TPRT_SUM:
  case TPRT_AVG:
  case TPRT_PREMUL_SUM:
    return wide ? a + b : (double)((float)a + (float)b);
  case TPRT_PRODUCT:
    return wide ? a * b : (double)((float)a * (float)b);
  case TPRT_MINNUM:
  case TPRT_MAXNUM:
    if (isnan(a))
      return b;
    if (isnan(b))
      return a;
    break;
  default:
    if (isnan(a) || isnan(b))
      return (double)NAN;
  }
  bool min = r == TPRT_MIN || r == TPRT_MINNUM;
  if (a == b)
    return (signbit(a) != 0) == min ? a : b;
  return (a < b) == min ? a : b;
}

/* Combines two complex numbers; every operation is rounded to the type of the parts. */
static number combine_complex(tprt_dtype t, tprt_reduction r, number a, number b) {
  tprt_dtype part = t == TPRT_C128 ? TPRT_F64 : TPRT_F32;
  if (r != TPRT_PRODUCT)
    return (number){.f = combine_float(part, r, a.f, b.f),
                    .im = combine_float(part, r, a.im, b.im)};
  return (number){.f = combine_float(part, TPRT_SUM, combine_float(part, r, a.f, b.f),
                                     -combine_float(part, r, a.im, b.im)),
                  .im = combine_float(part, TPRT_SUM, combine_float(part, r, a.f, b.im),
                                      combine_float(part, r, a.im, b.f))};
}

static int64_t combine_integer(tprt_dtype t, tprt_reduction r, int64_t a, int64_t b) {
  uint64_t mask =
      tprt_dtype_size(t) == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * tprt_dtype_size(t))) - 1;
  uint64_t x = (uint64_t)a & mask, y = (uint64_t)b & mask;
  bool by_sign = !is_unsigned(t);
  switch (r) {
  case TPRT_SUM:
  case TPRT_AVG:
  case TPRT_PREMUL_SUM:
    return (int64_t)(x + y);
  case TPRT_PRODUCT:
    return t == TPRT_BOOL ? (int64_t)(x & y) : (int64_t)(x * y);
  case TPRT_MIN:
    return by_sign ? (a < b ? a : b) : (int64_t)(x < y ? x : y);
  case TPRT_MAX:
    return by_sign ? (a > b ? a : b) : (int64_t)(x > y ? x : y);
  case TPRT_UMIN:
    return (int64_t)(x < y ? x : y);
  case TPRT_UMAX:
    return (int64_t)(x > y ? x : y);
  case TPRT_BAND:
    return a & b;
  case TPRT_BOR:
    return a | b;
  default:
    return a ^ b;
  }
}

/* Returns rank k's factor. */
static number scalar_of(tprt_dtype t, int rank) {
  if (is_complex(t))
    return (number){.f = rank - 0.5, .im = 0.25 * rank};
  return is_float(t) ? (number){.f = rank % 3 - 0.75}
                     : (number){.i = is_unsigned(t) ? 2 * rank + 1 : 3 - 2 * rank};
}

static tprt_dtype accumulator(tprt_dtype t) { return is_float(t) && t != TPRT_F64 ? TPRT_F32 : t; }

void oracle_scalar(tprt_dtype t, int rank, void *out) {
  write_number(accumulator(t), out, scalar_of(t, rank));
}

/* Reads an input in the accumulator's type, as it enters the reduction. */
static number read_input(tprt_dtype t, tprt_reduction r, const void *at, int rank) {
  number x = read_number(t, at), by = scalar_of(t, rank);
  if (r != TPRT_PREMUL_SUM)
    return x;
  if (is_float(t))
    return (number){.f = combine_float(t, TPRT_PRODUCT, x.f, by.f)};
  if (is_complex(t))
    return combine_complex(t, TPRT_PRODUCT, x, by);
  unsigned char wrapped[16];
  write_number(t, wrapped, (number){.i = combine_integer(t, TPRT_PRODUCT, x.i, by.i)});
  return read_number(t, wrapped);
}

static number combine(tprt_dtype t, tprt_reduction r, number a, number b) {
  unsigned char wrapped[16]; /* integers wrap to the width, with the resulting sign */
  if (is_complex(t))
    return combine_complex(t, r, a, b);
  if (is_float(t))
    return (number){.f = combine_float(t, r, a.f, b.f)};
  write_number(t, wrapped, (number){.i = combine_integer(t, r, a.i, b.i)});
  return read_number(t, wrapped);
}

/* Combines the inputs of the host of rank `first`, its lowest one. */
static number combine_host(tprt_dtype t, tprt_reduction r, unsigned char *const *inputs, int n,
                           const int *hosts, int first, size_t offset) {
  number acc = read_input(t, r, inputs[first] + offset, first);
  for (int k = first + 1; k < n; k++) {
    if (!hosts || hosts[k] == hosts[first])
      acc = combine(t, r, acc, read_input(t, r, inputs[k] + offset, k));
  }
  return acc;
}

void oracle_reduce(tprt_dtype t, tprt_reduction r, unsigned char *const *inputs, int n,
                   const int *hosts, size_t i, void *out) {
  size_t offset = i * tprt_dtype_size(t);
  number acc = combine_host(t, r, inputs, n, hosts, 0, offset);
  for (int k = 1; k < n && hosts; k++) {
    bool is_first = true;
    for (int j = 0; j < k; j++)
      is_first &= hosts[j] != hosts[k];
    if (is_first)
      acc = combine(t, r, acc, combine_host(t, r, inputs, n, hosts, k, offset));
  }
  if (r == TPRT_AVG) {
    if (t == TPRT_F64)
      acc.f /= n;
    else if (is_float(t))
      acc.f = (double)((float)acc.f / (float)n);
    else if (t == TPRT_C128)
      acc = (number){.f = acc.f / n, .im = acc.im / n};
    else if (t == TPRT_C64)
      acc = (number){.f = (double)((float)acc.f / (float)n),
                     .im = (double)((float)acc.im / (float)n)};
    else if (is_unsigned(t))
      acc.i = (int64_t)((uint64_t)acc.i / (uint64_t)n);
    else
      acc.i /= n;
  }
  write_number(t, out, acc);
}

/* Draws floats whose sums round, so that the order matters. */
static double draw_float(tprt_reduction r, uint64_t bits) {
  static const double special[] = {0.0,         -0.0,  (double)INFINITY, -(double)INFINITY,
                                   (double)NAN, 65504, -6.1e-5,          1e-7};
  return bits % 16 == 0 ? special[(bits >> 8) % 8]
                        : ((double)(bits >> 40) / (1 << 24) - 0.5) * (r == TPRT_PRODUCT ? 3 : 100);
}

void oracle_fill(tprt_dtype t, tprt_reduction r, unsigned char *at, int64_t count, uint64_t seed) {
  size_t size = tprt_dtype_size(t);
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits = test_random(&seed);
    number x = {0};
    if (is_complex(t))
      x.im = draw_float(r, test_random(&seed));
    if (is_float(t) || is_complex(t))
      x.f = draw_float(r, bits);
    else
      x.i = t == TPRT_BOOL ? (int64_t)(bits & 1) : (int64_t)bits;
    write_number(t, at + (size_t)i * size, x);
  }
}

bool oracle_same(tprt_dtype t, const void *a, const void *b) {
  if (memcmp(a, b, tprt_dtype_size(t)) == 0)
    return true;
  number x = read_number(t, a), y = read_number(t, b);
  if (is_complex(t))
    return (x.f == y.f || (isnan(x.f) && isnan(y.f))) &&
           (x.im == y.im || (isnan(x.im) && isnan(y.im)));
  return is_float(t) && isnan(x.f) && isnan(y.f);
}
