/* Loops over the elements of every type: conversions and the steps of reductions.
 *
 * elements.c includes this file once for each kind of vectors, with three macros defined: TARGET is
 * the target attribute of the functions, UNFUSED is the target attribute of the functions that must
 * not use fused multiply-add, and NAMED(name) adds the prefix of the vector kind to a name. All
 * kinds produce the same bits, except for the payload of a NaN that results from two NaNs. Every
 * cell of the table is a function, or NULL if the reduction is not defined for the type. */

/* ---- combine and scale ---- */

#define DEFINE_COMBINE(name, type, expression)                                                     \
  TARGET static void NAMED(name)(void *restrict to, const void *restrict left,                     \
                                 const void *restrict right, size_t n) {                           \
    type *restrict out = to;                                                                       \
    const type *restrict as = left, *restrict xs = right;                                          \
    for (size_t i = 0; i < n; i++) {                                                               \
      const type a = as[i], x = xs[i];                                                             \
      out[i] = (type)(expression);                                                                 \
    }                                                                                              \
  }

#define DEFINE_SCALE(t, type, expression)                                                          \
  TARGET static void NAMED(t##_scale)(void *a, const void *factor, size_t n) {                     \
    type *acc = a, by;                                                                             \
    memcpy(&by, factor, sizeof by);                                                                \
    for (size_t i = 0; i < n; i++)                                                                 \
      acc[i] = (type)(expression);                                                                 \
  }

/* Types smaller than int are promoted to int, where a product may overflow: 65535 * 65535. The
 * factor 1u forces unsigned arithmetic. */
#define DEFINE_UNSIGNED(t, type)                                                                   \
  DEFINE_COMBINE(t##_sum, type, 1u * a + x)                                                        \
  DEFINE_COMBINE(t##_product, type, 1u * a * x)                                                    \
  DEFINE_COMBINE(t##_min, type, x < a ? x : a)                                                     \
  DEFINE_COMBINE(t##_max, type, x > a ? x : a)                                                     \
  DEFINE_COMBINE(t##_band, type, a &x)                                                             \
  DEFINE_COMBINE(t##_bor, type, a | x)                                                             \
  DEFINE_COMBINE(t##_bxor, type, a ^ x)                                                            \
  DEFINE_SCALE(t, type, 1u * acc[i] * by)                                                          \
  TARGET static void NAMED(t##_divide)(void *a, int ranks, size_t n) {                             \
    type *acc = a;                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
      acc[i] = (type)(acc[i] / (unsigned)ranks);                                                   \
  }

#define DEFINE_SIGNED(t, type)                                                                     \
  DEFINE_COMBINE(t##_min, type, x < a ? x : a)                                                     \
  DEFINE_COMBINE(t##_max, type, x > a ? x : a)                                                     \
  TARGET static void NAMED(t##_divide)(void *a, int ranks, size_t n) {                             \
    type *acc = a;                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
      acc[i] = (type)(acc[i] / ranks);                                                             \
  }

/* min and max: equal numbers may still be zeros of different sign, hence signbit. If an operand is
 * NaN, a + x is NaN. */
#define DEFINE_FLOAT(t, type)                                                                      \
  DEFINE_COMBINE(t##_sum, type, a + x)                                                             \
  DEFINE_COMBINE(t##_product, type, a *x)                                                          \
  DEFINE_SCALE(t, type, acc[i] * by)                                                               \
  DEFINE_COMBINE(t##_min, type, a < x ? a : x < a ? x : a == x ? (signbit(a) ? a : x) : a + x)     \
  DEFINE_COMBINE(t##_max, type, a > x ? a : x > a ? x : a == x ? (signbit(a) ? x : a) : a + x)     \
  DEFINE_COMBINE(t##_minnum, type,                                                                 \
                 a < x    ? a                                                                      \
                 : x < a  ? x                                                                      \
                 : a == x ? (signbit(a) ? a : x)                                                   \
                 : a != a ? x                                                                      \
                          : a)                                                                     \
  DEFINE_COMBINE(t##_maxnum, type,                                                                 \
                 a > x    ? a                                                                      \
                 : x > a  ? x                                                                      \
                 : a == x ? (signbit(a) ? x : a)                                                   \
                 : a != a ? x                                                                      \
                          : a)                                                                     \
  TARGET static void NAMED(t##_divide)(void *a, int ranks, size_t n) {                             \
    type *acc = a;                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
      acc[i] /= (type)ranks;                                                                       \
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

/* Sums and averages work on real and imaginary parts separately. A product uses the plain formula,
 * like compiled programs: an infinite factor may produce NaN. */
#define DEFINE_COMPLEX(t, part, type)                                                              \
  TARGET static void NAMED(t##_sum)(void *restrict to, const void *restrict left,                  \
                                    const void *restrict right, size_t n) {                        \
    NAMED(part##_sum)(to, left, right, 2 * n);                                                     \
  }                                                                                                \
  TARGET static void NAMED(t##_divide)(void *a, int ranks, size_t n) {                             \
    NAMED(part##_divide)(a, ranks, 2 * n);                                                         \
  }                                                                                                \
  UNFUSED static void NAMED(t##_product)(void *restrict to, const void *restrict left,             \
                                         const void *restrict right, size_t n) {                   \
    type *restrict out = to;                                                                       \
    const type *restrict as = left, *restrict xs = right;                                          \
    for (size_t i = 0; i < 2 * n; i += 2) {                                                        \
      const type re = as[i], im = as[i + 1];                                                       \
      out[i] = re * xs[i] - im * xs[i + 1];                                                        \
      out[i + 1] = re * xs[i + 1] + im * xs[i];                                                    \
    }                                                                                              \
  }                                                                                                \
  UNFUSED static void NAMED(t##_scale)(void *a, const void *factor, size_t n) {                    \
    type *acc = a, by[2];                                                                          \
    memcpy(by, factor, sizeof by);                                                                 \
    for (size_t i = 0; i < 2 * n; i += 2) {                                                        \
      const type re = acc[i], im = acc[i + 1];                                                     \
      acc[i] = re * by[0] - im * by[1];                                                            \
      acc[i + 1] = re * by[1] + im * by[0];                                                        \
    }                                                                                              \
  }

DEFINE_COMPLEX(c64, f32, float)
DEFINE_COMPLEX(c128, f64, double)

/* ---- conversions ---- */

#define DEFINE_CONVERSIONS(name, type)                                                             \
  TARGET static void NAMED(widen_##name)(void *out, const void *in, size_t n) {                    \
    float *to = out;                                                                               \
    const unsigned char *from = in;                                                                \
    for (size_t i = 0; i < n; i++) {                                                               \
      type narrow;                                                                                 \
      memcpy(&narrow, from + sizeof narrow * i, sizeof narrow);                                    \
      to[i] = name##_to_f32(narrow);                                                               \
    }                                                                                              \
  }                                                                                                \
  TARGET static void NAMED(narrow_##name)(void *out, const void *in, size_t n) {                   \
    unsigned char *to = out;                                                                       \
    const float *from = in;                                                                        \
    for (size_t i = 0; i < n; i++) {                                                               \
      type narrow = f32_to_##name(from[i]);                                                        \
      memcpy(to + sizeof narrow * i, &narrow, sizeof narrow);                                      \
    }                                                                                              \
  }

DEFINE_CONVERSIONS(f16, uint16_t)
DEFINE_CONVERSIONS(bf16, uint16_t)
DEFINE_CONVERSIONS(f8e4m3, uint8_t)
DEFINE_CONVERSIONS(f8e5m2, uint8_t)

/* ---- table ---- */

#define COMPLEX_COMBINE(t)                                                                         \
  {[TPRT_SUM] = NAMED(t##_sum),                                                                    \
   [TPRT_PRODUCT] = NAMED(t##_product),                                                            \
   [TPRT_AVG] = NAMED(t##_sum),                                                                    \
   [TPRT_PREMUL_SUM] = NAMED(t##_sum)}
#define FLOAT_COMBINE(t)                                                                           \
  {[TPRT_SUM] = NAMED(t##_sum),       [TPRT_PRODUCT] = NAMED(t##_product),                         \
   [TPRT_MIN] = NAMED(t##_min),       [TPRT_MAX] = NAMED(t##_max),                                 \
   [TPRT_MINNUM] = NAMED(t##_minnum), [TPRT_MAXNUM] = NAMED(t##_maxnum),                           \
   [TPRT_AVG] = NAMED(t##_sum),       [TPRT_PREMUL_SUM] = NAMED(t##_sum)}
/* `s` is the type for min and max with the signedness of the element type. `u` is the unsigned type
 * of the same width, for all operations that do not depend on the sign. */
#define INTEGER_COMBINE(s, u)                                                                      \
  {[TPRT_SUM] = NAMED(u##_sum),       [TPRT_PRODUCT] = NAMED(u##_product),                         \
   [TPRT_MIN] = NAMED(s##_min),       [TPRT_MAX] = NAMED(s##_max),                                 \
   [TPRT_UMIN] = NAMED(u##_min),      [TPRT_UMAX] = NAMED(u##_max),                                \
   [TPRT_BAND] = NAMED(u##_band),     [TPRT_BOR] = NAMED(u##_bor),                                 \
   [TPRT_BXOR] = NAMED(u##_bxor),     [TPRT_AVG] = NAMED(u##_sum),                                 \
   [TPRT_PREMUL_SUM] = NAMED(u##_sum)}
#define FLOAT_ROW(name, t, size)                                                                   \
  {name, size, size, NULL, NULL, NAMED(t##_scale), NAMED(t##_divide), FLOAT_COMBINE(t)}
#define NARROW_ROW(name, t, size)                                                                  \
  {name,                                                                                           \
   size,                                                                                           \
   4,                                                                                              \
   NAMED(widen_##t),                                                                               \
   NAMED(narrow_##t),                                                                              \
   NAMED(f32_scale),                                                                               \
   NAMED(f32_divide),                                                                              \
   FLOAT_COMBINE(f32)}
#define INTEGER_ROW(name, s, u, size)                                                              \
  {name, size, size, NULL, NULL, NAMED(u##_scale), NAMED(s##_divide), INTEGER_COMBINE(s, u)}
#define COMPLEX_ROW(name, t, size)                                                                 \
  {name, size, size, NULL, NULL, NAMED(t##_scale), NAMED(t##_divide), COMPLEX_COMBINE(t)}

static const tprt__dtype_info NAMED(table)[TPRT_N_DTYPES] = {
    [TPRT_F32] = FLOAT_ROW("f32", f32, 4),
    [TPRT_F64] = FLOAT_ROW("f64", f64, 8),
    [TPRT_F16] = NARROW_ROW("f16", f16, 2),
    [TPRT_BF16] = NARROW_ROW("bf16", bf16, 2),
    [TPRT_F8E4M3] = NARROW_ROW("f8e4m3", f8e4m3, 1),
    [TPRT_F8E5M2] = NARROW_ROW("f8e5m2", f8e5m2, 1),
    [TPRT_BOOL] = {"bool",
                   1,
                   1,
                   NULL,
                   NULL,
                   NULL,
                   NULL,
                   {[TPRT_PRODUCT] = NAMED(u8_band),
                    [TPRT_MIN] = NAMED(u8_min),
                    [TPRT_MAX] = NAMED(u8_max),
                    [TPRT_UMIN] = NAMED(u8_min),
                    [TPRT_UMAX] = NAMED(u8_max),
                    [TPRT_BAND] = NAMED(u8_band),
                    [TPRT_BOR] = NAMED(u8_bor),
                    [TPRT_BXOR] = NAMED(u8_bxor)}},
    [TPRT_I8] = INTEGER_ROW("i8", i8, u8, 1),
    [TPRT_I16] = INTEGER_ROW("i16", i16, u16, 2),
    [TPRT_I32] = INTEGER_ROW("i32", i32, u32, 4),
    [TPRT_I64] = INTEGER_ROW("i64", i64, u64, 8),
    [TPRT_U8] = INTEGER_ROW("u8", u8, u8, 1),
    [TPRT_U16] = INTEGER_ROW("u16", u16, u16, 2),
    [TPRT_U32] = INTEGER_ROW("u32", u32, u32, 4),
    [TPRT_U64] = INTEGER_ROW("u64", u64, u64, 8),
    [TPRT_C64] = COMPLEX_ROW("c64", c64, 8),
    [TPRT_C128] = COMPLEX_ROW("c128", c128, 16),
};

#undef DEFINE_COMBINE
#undef DEFINE_SCALE
#undef DEFINE_UNSIGNED
#undef DEFINE_SIGNED
#undef DEFINE_FLOAT
#undef DEFINE_COMPLEX
#undef DEFINE_CONVERSIONS
#undef COMPLEX_COMBINE
#undef FLOAT_COMBINE
#undef INTEGER_COMBINE
#undef FLOAT_ROW
#undef NARROW_ROW
#undef INTEGER_ROW
#undef COMPLEX_ROW
