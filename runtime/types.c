/* The tables of element types and reductions. Every cell is a function or NULL ("not defined for this type"); names,
 * sizes and validity are read from here and nowhere else. */
#include "types.h"
#include "stream.h"

#include <math.h>
#include <string.h>

#define DEFINE_COMBINE(name, type, expression)                                                                                 \
  static void name(void *restrict accumulator, const void *restrict in, size_t n) {                                            \
    type *restrict acc = accumulator;                                                                                          \
    const type *restrict from = in;                                                                                            \
    for (size_t i = 0; i < n; i++) {                                                                                           \
      const type a = acc[i], x = from[i];                                                                                      \
      acc[i] = (type)(expression);                                                                                             \
    }                                                                                                                          \
  }

#define DEFINE_SCALE(t, type, expression)                                                                                      \
  static void t##_scale(void *a, const void *factor, size_t n) {                                                               \
    type *acc = a, by;                                                                                                         \
    memcpy(&by, factor, sizeof by);                                                                                            \
    for (size_t i = 0; i < n; i++)                                                                                             \
      acc[i] = (type)(expression);                                                                                             \
  }

/* A smaller type is promoted to int, whose product may overflow: 65535 * 65535. Times 1u it is unsigned arithmetic. */
#define DEFINE_UNSIGNED(t, type)                                                                                               \
  DEFINE_COMBINE(t##_sum, type, 1u * a + x)                                                                                    \
  DEFINE_COMBINE(t##_product, type, 1u * a * x)                                                                                \
  DEFINE_COMBINE(t##_min, type, x < a ? x : a)                                                                                 \
  DEFINE_COMBINE(t##_max, type, x > a ? x : a)                                                                                 \
  DEFINE_COMBINE(t##_band, type, a &x)                                                                                         \
  DEFINE_COMBINE(t##_bor, type, a | x)                                                                                         \
  DEFINE_COMBINE(t##_bxor, type, a ^ x)                                                                                        \
  DEFINE_SCALE(t, type, 1u * acc[i] * by)                                                                                      \
  static void t##_divide(void *a, int ranks, size_t n) {                                                                       \
    type *acc = a;                                                                                                             \
    for (size_t i = 0; i < n; i++)                                                                                             \
      acc[i] = (type)(acc[i] / (unsigned)ranks);                                                                               \
  }

#define DEFINE_SIGNED(t, type)                                                                                                 \
  DEFINE_COMBINE(t##_min, type, x < a ? x : a)                                                                                 \
  DEFINE_COMBINE(t##_max, type, x > a ? x : a)                                                                                 \
  static void t##_divide(void *a, int ranks, size_t n) {                                                                       \
    type *acc = a;                                                                                                             \
    for (size_t i = 0; i < n; i++)                                                                                             \
      acc[i] = (type)(acc[i] / ranks);                                                                                         \
  }

/* Equal numbers may still be zeros of different sign. a + x of a NaN and anything is a NaN. */
#define DEFINE_FLOAT(t, type)                                                                                                  \
  DEFINE_COMBINE(t##_sum, type, a + x)                                                                                         \
  DEFINE_COMBINE(t##_product, type, a *x)                                                                                      \
  DEFINE_SCALE(t, type, acc[i] * by)                                                                                           \
  DEFINE_COMBINE(t##_min, type, a < x ? a : x < a ? x : a == x ? (signbit(a) ? a : x) : a + x)                                 \
  DEFINE_COMBINE(t##_max, type, a > x ? a : x > a ? x : a == x ? (signbit(a) ? x : a) : a + x)                                 \
  DEFINE_COMBINE(t##_minnum, type, a < x ? a : x < a ? x : a == x ? (signbit(a) ? a : x) : a != a ? x : a)                     \
  DEFINE_COMBINE(t##_maxnum, type, a > x ? a : x > a ? x : a == x ? (signbit(a) ? x : a) : a != a ? x : a)                     \
  static void t##_divide(void *a, int ranks, size_t n) {                                                                       \
    type *acc = a;                                                                                                             \
    for (size_t i = 0; i < n; i++)                                                                                             \
      acc[i] /= (type)ranks;                                                                                                   \
  }

DEFINE_UNSIGNED(u8, uint8_t)
DEFINE_UNSIGNED(u16, uint16_t)
DEFINE_UNSIGNED(u32, uint32_t)
DEFINE_UNSIGNED(u64, uint64_t)
DEFINE_SIGNED(i8, int8_t)
DEFINE_SIGNED(i16, int16_t)
DEFINE_SIGNED(i32, int32_t)
DEFINE_SIGNED(i64, int64_t)
DEFINE_FLOAT(f32, float)
DEFINE_FLOAT(f64, double)

/* Sums and averages go part by part. A product is the plain formula, as in compiled programs: an infinite factor may give NaN. */
#define DEFINE_COMPLEX(t, part)                                                                                                \
  static void t##_sum(void *restrict accumulator, const void *restrict in, size_t n) { part##_sum(accumulator, in, 2 * n); }   \
  static void t##_divide(void *a, int ranks, size_t n) { part##_divide(a, ranks, 2 * n); }

#define DEFINE_COMPLEX_PRODUCT(t, type)                                                                                        \
  static void t##_product(void *restrict accumulator, const void *restrict in, size_t n) {                                     \
    type *restrict acc = accumulator;                                                                                          \
    const type *restrict from = in;                                                                                            \
    for (size_t i = 0; i < 2 * n; i += 2) {                                                                                    \
      const type re = acc[i], im = acc[i + 1];                                                                                 \
      acc[i] = re * from[i] - im * from[i + 1];                                                                                \
      acc[i + 1] = re * from[i + 1] + im * from[i];                                                                            \
    }                                                                                                                          \
  }

#define DEFINE_COMPLEX_SCALE(t, type)                                                                                          \
  static void t##_scale(void *a, const void *factor, size_t n) {                                                               \
    type *acc = a, by[2];                                                                                                      \
    memcpy(by, factor, sizeof by);                                                                                             \
    for (size_t i = 0; i < 2 * n; i += 2) {                                                                                    \
      const type re = acc[i], im = acc[i + 1];                                                                                 \
      acc[i] = re * by[0] - im * by[1];                                                                                        \
      acc[i + 1] = re * by[1] + im * by[0];                                                                                    \
    }                                                                                                                          \
  }

DEFINE_COMPLEX(c64, f32)
DEFINE_COMPLEX(c128, f64)
DEFINE_COMPLEX_PRODUCT(c64, float)
DEFINE_COMPLEX_PRODUCT(c128, double)
DEFINE_COMPLEX_SCALE(c64, float)
DEFINE_COMPLEX_SCALE(c128, double)

#define COMPLEX_COMBINE(t)                                                                                                     \
  {[TPRT_SUM] = t##_sum, [TPRT_PRODUCT] = t##_product, [TPRT_AVG] = t##_sum, [TPRT_PREMUL_SUM] = t##_sum}
#define FLOAT_COMBINE(t)                                                                                                       \
  {[TPRT_SUM] = t##_sum,       [TPRT_PRODUCT] = t##_product, [TPRT_MIN] = t##_min, [TPRT_MAX] = t##_max,                       \
   [TPRT_MINNUM] = t##_minnum, [TPRT_MAXNUM] = t##_maxnum,   [TPRT_AVG] = t##_sum, [TPRT_PREMUL_SUM] = t##_sum}
/* s: signedness of min and max; u: the unsigned type of that width, for everything where the sign does not matter. */
#define INTEGER_COMBINE(s, u)                                                                                                  \
  {[TPRT_SUM] = u##_sum,   [TPRT_PRODUCT] = u##_product, [TPRT_MIN] = s##_min,       [TPRT_MAX] = s##_max,                     \
   [TPRT_UMIN] = u##_min,  [TPRT_UMAX] = u##_max,        [TPRT_BAND] = u##_band,     [TPRT_BOR] = u##_bor,                     \
   [TPRT_BXOR] = u##_bxor, [TPRT_AVG] = u##_sum,         [TPRT_PREMUL_SUM] = u##_sum}

// clang-format off
static const tprt__dtype_info dtypes[TPRT_N_DTYPES] = {
    [TPRT_F32] = {"f32", 4, 4, NULL, NULL, f32_scale, f32_divide, FLOAT_COMBINE(f32)},
    [TPRT_F64] = {"f64", 8, 8, NULL, NULL, f64_scale, f64_divide, FLOAT_COMBINE(f64)},
    [TPRT_F16] = {"f16", 2, 4, tprt__widen_f16, tprt__narrow_f16, f32_scale, f32_divide, FLOAT_COMBINE(f32)},
    [TPRT_BF16] = {"bf16", 2, 4, tprt__widen_bf16, tprt__narrow_bf16, f32_scale, f32_divide, FLOAT_COMBINE(f32)},
    [TPRT_BOOL] = {"bool", 1, 1, NULL, NULL, NULL, NULL,
                   {[TPRT_PRODUCT] = u8_band, [TPRT_MIN] = u8_min, [TPRT_MAX] = u8_max, [TPRT_UMIN] = u8_min,
                    [TPRT_UMAX] = u8_max, [TPRT_BAND] = u8_band, [TPRT_BOR] = u8_bor, [TPRT_BXOR] = u8_bxor}},
    [TPRT_I8] = {"i8", 1, 1, NULL, NULL, u8_scale, i8_divide, INTEGER_COMBINE(i8, u8)},
    [TPRT_I16] = {"i16", 2, 2, NULL, NULL, u16_scale, i16_divide, INTEGER_COMBINE(i16, u16)},
    [TPRT_I32] = {"i32", 4, 4, NULL, NULL, u32_scale, i32_divide, INTEGER_COMBINE(i32, u32)},
    [TPRT_I64] = {"i64", 8, 8, NULL, NULL, u64_scale, i64_divide, INTEGER_COMBINE(i64, u64)},
    [TPRT_U8] = {"u8", 1, 1, NULL, NULL, u8_scale, u8_divide, INTEGER_COMBINE(u8, u8)},
    [TPRT_U16] = {"u16", 2, 2, NULL, NULL, u16_scale, u16_divide, INTEGER_COMBINE(u16, u16)},
    [TPRT_U32] = {"u32", 4, 4, NULL, NULL, u32_scale, u32_divide, INTEGER_COMBINE(u32, u32)},
    [TPRT_U64] = {"u64", 8, 8, NULL, NULL, u64_scale, u64_divide, INTEGER_COMBINE(u64, u64)},
    [TPRT_C64] = {"c64", 8, 8, NULL, NULL, c64_scale, c64_divide, COMPLEX_COMBINE(c64)},
    [TPRT_C128] = {"c128", 16, 16, NULL, NULL, c128_scale, c128_divide, COMPLEX_COMBINE(c128)},
    [TPRT_F8E4M3] = {"f8e4m3", 1, 4, tprt__widen_f8e4m3, tprt__narrow_f8e4m3, f32_scale, f32_divide, FLOAT_COMBINE(f32)},
    [TPRT_F8E5M2] = {"f8e5m2", 1, 4, tprt__widen_f8e5m2, tprt__narrow_f8e5m2, f32_scale, f32_divide, FLOAT_COMBINE(f32)},
};
// clang-format on

static const char *const reduction_names[TPRT_N_REDUCTIONS] = {
    [TPRT_NO_REDUCTION] = "none", [TPRT_SUM] = "sum",
    [TPRT_PRODUCT] = "product",   [TPRT_MIN] = "min",
    [TPRT_MAX] = "max",           [TPRT_MINNUM] = "minnum",
    [TPRT_MAXNUM] = "maxnum",     [TPRT_UMIN] = "umin",
    [TPRT_UMAX] = "umax",         [TPRT_BAND] = "band",
    [TPRT_BOR] = "bor",           [TPRT_BXOR] = "bxor",
    [TPRT_AVG] = "avg",           [TPRT_PREMUL_SUM] = "premul_sum",
};

const tprt__dtype_info *tprt__dtype_info_get(int64_t dtype) {
  return dtype > 0 && dtype < TPRT_N_DTYPES ? &dtypes[dtype] : NULL;
}

const char *tprt_dtype_name(tprt_dtype dtype) {
  const tprt__dtype_info *info = tprt__dtype_info_get((int64_t)dtype);
  return info ? info->name : NULL;
}

size_t tprt_dtype_size(tprt_dtype dtype) {
  const tprt__dtype_info *info = tprt__dtype_info_get((int64_t)dtype);
  return info ? info->size : 0;
}

const char *tprt_reduction_name(tprt_reduction reduction) {
  return (size_t)reduction < TPRT_N_REDUCTIONS ? reduction_names[reduction] : NULL;
}

tprt_dtype tprt_dtype_parse(const char *name) {
  for (int i = 1; i < TPRT_N_DTYPES; i++) {
    if (strcmp(name, dtypes[i].name) == 0)
      return (tprt_dtype)i;
  }
  return (tprt_dtype)0;
}

tprt_reduction tprt_reduction_parse(const char *name) {
  for (int i = 1; i < TPRT_N_REDUCTIONS; i++) {
    if (strcmp(name, reduction_names[i]) == 0)
      return (tprt_reduction)i;
  }
  return TPRT_NO_REDUCTION;
}

bool tprt_reduction_supports(tprt_reduction reduction, tprt_dtype dtype) {
  const tprt__dtype_info *info = tprt__dtype_info_get((int64_t)dtype);
  return info && (size_t)reduction < TPRT_N_REDUCTIONS && info->combine[reduction];
}

/* One block of accumulators stays in the first-level cache while all sources pass by, and every source is read before the
 * first destination is written, which is what allows destinations that are sources. */
enum { BLOCK_BYTES = 8192 };

static bool aligned(const void *pointer, size_t size) { return ((uintptr_t)pointer & (size - 1)) == 0; }

/* Block of a source as accumulators: in place if it can be read as it stands, else converted, copied or scaled in `buffer`. */
static const void *load(const tprt__dtype_info *type, const void *source, void *buffer, size_t n, const tprt__scale *scale) {
  if (type->widen) {
    type->widen(buffer, source, n);
  } else if (scale || !aligned(source, type->size)) {
    memcpy(buffer, source, n * type->size);
  } else {
    return source;
  }
  if (scale)
    type->scale(buffer, scale->bytes, n);
  return buffer;
}

void tprt__reduce(const tprt__dtype_info *type, tprt_reduction reduction, void *const *destinations, int n_destinations,
                  const void *const *sources, int n_sources, const tprt__scale *scales, int64_t count, bool stream) {
  _Alignas(64) unsigned char acc[BLOCK_BYTES];
  _Alignas(64) unsigned char buffer[BLOCK_BYTES];
  const bool scaled = reduction == TPRT_PREMUL_SUM;
  int64_t block = BLOCK_BYTES / (int64_t)type->acc_size;
  for (int64_t begin = 0; begin < count; begin += block) {
    size_t n = (size_t)tprt__min(block, count - begin);
    size_t offset = (size_t)begin * type->size;
    const void *first = load(type, (const char *)sources[0] + offset, acc, n, scaled ? &scales[0] : NULL);
    if (first != acc)
      memcpy(acc, first, n * type->acc_size);
    for (int s = 1; s < n_sources; s++) {
      const void *next = load(type, (const char *)sources[s] + offset, buffer, n, scaled ? &scales[s] : NULL);
      type->combine[reduction](acc, next, n);
    }
    if (reduction == TPRT_AVG)
      type->divide(acc, n_sources, n);
    const void *result = acc;
    if (type->narrow) {
      type->narrow(buffer, acc, n);
      result = buffer;
    }
    for (int d = 0; d < n_destinations; d++) {
      char *to = (char *)destinations[d] + offset;
      size_t bytes = n * type->size;
      bool fetches = d < n_sources && begin + 2 * block <= count; /* else memory would wait while this is written */
      if (stream)
        tprt__stream_copy(to, result, bytes, fetches ? (const char *)sources[d] + offset + bytes : NULL);
      else
        memcpy(to, result, bytes);
    }
  }
  if (stream)
    tprt__stream_end();
}
