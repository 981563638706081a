/* The kernels of the sites of compiled programs; see site_args.h. Each thread loops over elements,
 * in an order that depends only on the shape. */
#define TPRT_INLINE static __device__ __forceinline__

#include "base/float8.h"
#include "cuda/kernels/numbers.cuh"
#include "cuda/kernels/site_args.h"
#include "tprt/types.h"

#define KERNEL extern "C" __global__ void __launch_bounds__(SITE_THREADS)

typedef struct __align__(SITE_VECTOR_BYTES) vector {
  uint32_t word[4];
} vector;

TPRT_INLINE uint64_t first_item(void) { return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; }
TPRT_INLINE uint64_t n_threads(void) { return (uint64_t)gridDim.x * blockDim.x; }

/* ---- reductions: the same results as those of elements.h ---- */

TPRT_INLINE bool has_sign(float x) { return __float_as_uint(x) >> 31; }
TPRT_INLINE bool has_sign(double x) { return (uint64_t)__double_as_longlong(x) >> 63; }

/* min and max: equal numbers may still be zeros of different sign. If an operand is NaN, a + x is
 * NaN. */
#define DEFINE_COMBINE_FLOAT(type)                                                                 \
  TPRT_INLINE type combine_##type(uint32_t reduction, type a, type x) {                            \
    switch (reduction) {                                                                           \
    case TPRT_PRODUCT:                                                                             \
      return a * x;                                                                                \
    case TPRT_MIN:                                                                                 \
      return a < x ? a : x < a ? x : a == x ? (has_sign(a) ? a : x) : a + x;                       \
    case TPRT_MAX:                                                                                 \
      return a > x ? a : x > a ? x : a == x ? (has_sign(a) ? x : a) : a + x;                       \
    case TPRT_MINNUM:                                                                              \
      return a < x ? a : x < a ? x : a == x ? (has_sign(a) ? a : x) : a != a ? x : a;              \
    case TPRT_MAXNUM:                                                                              \
      return a > x ? a : x > a ? x : a == x ? (has_sign(a) ? x : a) : a != a ? x : a;              \
    default:                                                                                       \
      return a + x;                                                                                \
    }                                                                                              \
  }
DEFINE_COMBINE_FLOAT(float)
DEFINE_COMBINE_FLOAT(double)

/* TPRT_MIN and TPRT_MAX compare signed numbers; all other operations are the same for signed and
 * unsigned ones. */
#define DEFINE_COMBINE_INTEGER(type, signed_type)                                                  \
  TPRT_INLINE type combine_##type(uint32_t reduction, type a, type x) {                            \
    switch (reduction) {                                                                           \
    case TPRT_PRODUCT:                                                                             \
      return (type)(1u * a * x);                                                                   \
    case TPRT_MIN:                                                                                 \
      return (signed_type)x < (signed_type)a ? x : a;                                              \
    case TPRT_MAX:                                                                                 \
      return (signed_type)x > (signed_type)a ? x : a;                                              \
    case TPRT_UMIN:                                                                                \
      return x < a ? x : a;                                                                        \
    case TPRT_UMAX:                                                                                \
      return x > a ? x : a;                                                                        \
    case TPRT_BAND:                                                                                \
      return a & x;                                                                                \
    case TPRT_BOR:                                                                                 \
      return a | x;                                                                                \
    case TPRT_BXOR:                                                                                \
      return a ^ x;                                                                                \
    default:                                                                                       \
      return (type)(a + x);                                                                        \
    }                                                                                              \
  }
DEFINE_COMBINE_INTEGER(uint8_t, int8_t)
DEFINE_COMBINE_INTEGER(uint16_t, int16_t)
DEFINE_COMBINE_INTEGER(uint32_t, int32_t)
DEFINE_COMBINE_INTEGER(uint64_t, int64_t)

/* Complex numbers. Products, and sums with factors, combine pairs; other sums work on real and
 * imaginary parts separately. */
#define DEFINE_COMPLEX(name, part)                                                                 \
  typedef struct name {                                                                            \
    part re, im;                                                                                   \
  } name;                                                                                          \
  TPRT_INLINE name combine_##name(uint32_t reduction, name a, name x) {                            \
    name sum = {a.re + x.re, a.im + x.im};                                                         \
    name product = {a.re * x.re - a.im * x.im, a.re * x.im + a.im * x.re};                         \
    return reduction == TPRT_PRODUCT ? product : sum;                                              \
  }
DEFINE_COMPLEX(complex_float, float)
DEFINE_COMPLEX(complex_double, double)

#define SAME(x) (x)

/* Reduces LANES adjacent elements from element i on. */
#define REDUCE_AT(STORED, ACC, LANES, PACK, WIDEN, NARROW, FINISH)                                 \
  {                                                                                                \
    uint64_t at = args.run == args.step ? i : i / args.run * args.step + i % args.run;             \
    ACC acc[LANES];                                                                                \
    _Pragma("unroll 1") for (uint32_t s = 0; s < args.n_sources; s++) {                            \
      union {                                                                                      \
        PACK all;                                                                                  \
        STORED one[LANES];                                                                         \
      } in;                                                                                        \
      in.all = *(const PACK *)((const STORED *)args.source[s] + at);                               \
      _Pragma("unroll") for (int lane = 0; lane < LANES; lane++) {                                 \
        ACC x = (ACC)WIDEN(in.one[lane]);                                                          \
        if (args.scales)                                                                           \
          x = combine_##ACC(TPRT_PRODUCT, x, ((const ACC *)args.scales)[s]);                       \
        acc[lane] = s == 0 ? x : combine_##ACC(args.reduction, acc[lane], x);                      \
      }                                                                                            \
    }                                                                                              \
    union {                                                                                        \
      PACK all;                                                                                    \
      STORED one[LANES];                                                                           \
    } out;                                                                                         \
    _Pragma("unroll") for (int lane = 0; lane < LANES; lane++) {                                   \
      ACC x = acc[lane];                                                                           \
      FINISH                                                                                       \
      out.one[lane] = (STORED)NARROW(x);                                                           \
    }                                                                                              \
    *(PACK *)((STORED *)args.out + i) = out.all;                                                   \
  }

#define REDUCE(NAME, STORED, ACC, WIDEN, NARROW, FINISH)                                           \
  KERNEL tprt_reduce_##NAME(const __grid_constant__ site_reduce args) {                            \
    enum { LANES = SITE_VECTOR_BYTES / sizeof(STORED) };                                           \
    if (args.vectors) {                                                                            \
      _Pragma("unroll 1") for (uint64_t i = first_item() * LANES; i < args.n;                      \
                               i += n_threads() * LANES)                                           \
          REDUCE_AT(STORED, ACC, LANES, vector, WIDEN, NARROW, FINISH)                             \
    } else {                                                                                       \
      _Pragma("unroll 1") for (uint64_t i = first_item(); i < args.n; i += n_threads())            \
          REDUCE_AT(STORED, ACC, 1, STORED, WIDEN, NARROW, FINISH)                                 \
    }                                                                                              \
  }

#define AVERAGE_FLOAT                                                                              \
  if (args.reduction == TPRT_AVG)                                                                  \
    x = x / args.divisor;
#define AVERAGE_INTEGER(signed_type)                                                               \
  if (args.reduction == TPRT_AVG)                                                                  \
    x = args.is_unsigned ? x / args.divisor : (signed_type)x / (int64_t)args.divisor;
REDUCE(f32, float, float, SAME, SAME, AVERAGE_FLOAT)
REDUCE(f64, double, double, SAME, SAME, AVERAGE_FLOAT)
REDUCE(f16, uint16_t, float, f16_widen, f16_narrow, AVERAGE_FLOAT)
REDUCE(bf16, uint16_t, float, bf16_widen, bf16_narrow, AVERAGE_FLOAT)
REDUCE(f8e4m3, uint8_t, float, f8e4m3_to_f32, f32_to_f8e4m3, AVERAGE_FLOAT)
REDUCE(f8e5m2, uint8_t, float, f8e5m2_to_f32, f32_to_f8e5m2, AVERAGE_FLOAT)
REDUCE(i8, uint8_t, uint8_t, SAME, SAME, AVERAGE_INTEGER(int8_t))
REDUCE(i16, uint16_t, uint16_t, SAME, SAME, AVERAGE_INTEGER(int16_t))
REDUCE(i32, uint32_t, uint32_t, SAME, SAME, AVERAGE_INTEGER(int32_t))
REDUCE(i64, uint64_t, uint64_t, SAME, SAME, AVERAGE_INTEGER(int64_t))
REDUCE(c64, complex_float, complex_float, SAME, SAME, )
REDUCE(c128, complex_double, complex_double, SAME, SAME, )

/* ---- moves ---- */

/* Position of word `at` of piece `index` in a tensor of n pieces. */
TPRT_INLINE uint64_t place(uint64_t at, uint64_t run, uint32_t n, uint32_t index) {
  return n == 1 ? at : (at / run * n + index) * run + at % run;
}

#define MOVE(BYTES, WORD)                                                                          \
  KERNEL tprt_move_##BYTES(const __grid_constant__ site_move args) {                               \
    const WORD *from = (const WORD *)args.source[blockIdx.y];                                      \
    WORD *to = (WORD *)args.out;                                                                   \
    if (!from)                                                                                     \
      return;                                                                                      \
    for (uint64_t i = first_item(); i < args.n; i += n_threads()) {                                \
      uint64_t at = place(i, args.recv_run, args.recv_n, blockIdx.y);                              \
      if (at < args.limit)                                                                         \
        to[at] = from[place(i, args.send_run, args.send_n, args.send_index)];                      \
    }                                                                                              \
  }
MOVE(1, uint8_t)
MOVE(2, uint16_t)
MOVE(4, uint32_t)
MOVE(8, uint64_t)
MOVE(16, vector)

/* ---- contractions ---- */

/* Adds the offsets in A, B and C of one iteration of a loop nest. */
TPRT_INLINE void locate(const site_loop *loops, uint32_t n, uint64_t iteration, int64_t at[3]) {
  _Pragma("unroll 1") for (uint32_t i = n; i > 0; i--) {
    uint64_t size = (uint64_t)loops[i - 1].size;
    for (int x = 0; x < 3; x++)
      at[x] += (int64_t)(iteration % size) * loops[i - 1].stride[x];
    iteration /= size;
  }
}

TPRT_INLINE uint64_t iterations(const site_loop *loops, uint32_t n) {
  uint64_t product = 1;
  _Pragma("unroll 1") for (uint32_t i = 0; i < n; i++) product *= (uint64_t)loops[i].size;
  return product;
}

/* Adds a product to a sum. Floats are rounded once per term. */
TPRT_INLINE float add_product(float sum, float a, float b) { return __fmaf_rn(a, b, sum); }
TPRT_INLINE double add_product(double sum, double a, double b) { return __fma_rn(a, b, sum); }
TPRT_INLINE uint8_t add_product(uint8_t sum, uint8_t a, uint8_t b) {
  return (uint8_t)(sum + 1u * a * b);
}
TPRT_INLINE uint16_t add_product(uint16_t sum, uint16_t a, uint16_t b) {
  return (uint16_t)(sum + 1u * a * b);
}
TPRT_INLINE uint32_t add_product(uint32_t sum, uint32_t a, uint32_t b) { return sum + a * b; }
TPRT_INLINE uint64_t add_product(uint64_t sum, uint64_t a, uint64_t b) { return sum + a * b; }

/* Loads rows [row, row + SITE_TILE) and columns [column, column + SITE_TILE_K) of a matrix into
 * shared memory, transposed, with zeros beyond its end. Adjacent threads read adjacent elements. */
#define LOAD_TILE(TO, FROM, STORED, WIDEN, ROWS, ROW_STRIDE, COLUMNS, COLUMN_STRIDE)               \
  for (uint32_t t = threadIdx.x; t < SITE_TILE * SITE_TILE_K; t += SITE_THREADS) {                 \
    bool along = COLUMN_STRIDE == 1;                                                               \
    uint32_t row = along ? t / SITE_TILE_K : t % SITE_TILE,                                        \
             column = along ? t % SITE_TILE_K : t / SITE_TILE;                                     \
    int64_t i = first_row + row, j = first_column + column;                                        \
    bool inside = i < ROWS && j < COLUMNS;                                                         \
    TO[column][row] =                                                                              \
        inside ? WIDEN(((const STORED *)FROM)[i * ROW_STRIDE + j * COLUMN_STRIDE]) : 0;            \
  }

/* Applies the function of the epilogue. ReLU of NaN is 0; that of cuBLASLt, which computes most
 * sites, is NaN or 0. GELU uses the tanh form. */
TPRT_INLINE float finish(float x, uint32_t function) {
  if (function == SITE_RELU)
    return x > 0 ? x : 0;
  return function == SITE_GELU ? 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)))
                               : x;
}
#define FINISH(STORED, WIDEN)                                                                      \
  finish(args.bias ? sum[p][q] + WIDEN(((const STORED *)args.bias)[j]) : sum[p][q], args.function)
#define LEAVE(STORED, WIDEN) sum[p][q]

/* Each thread computes one element of C in each quarter of the tile, at the same position. */
#define CONTRACT_OF(NAME, OF_A, WIDEN_A, OF_B, WIDEN_B, STORED, ACC, WIDEN, NARROW, END)           \
  KERNEL tprt_contract_##NAME(const __grid_constant__ site_contract args) {                        \
    enum { HALF = SITE_TILE / 2 };                                                                 \
    __shared__ ACC tile_a[SITE_TILE_K][SITE_TILE + 1], tile_b[SITE_TILE_K][SITE_TILE + 1];         \
    uint32_t x = threadIdx.x % HALF, y = threadIdx.x / HALF;                                       \
    uint64_t n_rows = (uint64_t)(args.m.size + SITE_TILE - 1) / SITE_TILE;                         \
    uint64_t n_columns = (uint64_t)(args.n.size + SITE_TILE - 1) / SITE_TILE;                      \
    uint64_t n_inner = iterations(args.loops + args.n_outer, args.n_inner);                        \
    uint64_t n_tiles = n_rows * n_columns * iterations(args.loops, args.n_outer);                  \
    for (uint64_t tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {                          \
      int64_t outer[3] = {0, 0, 0};                                                                \
      locate(args.loops, args.n_outer, tile / n_columns / n_rows, outer);                          \
      int64_t first_m = (int64_t)(tile / n_columns % n_rows) * SITE_TILE,                          \
              first_n = (int64_t)(tile % n_columns) * SITE_TILE;                                   \
      STORED *c = (STORED *)args.c + outer[2];                                                     \
      ACC sum[2][2];                                                                               \
      for (int p = 0; p < 2; p++)                                                                  \
        for (int q = 0; q < 2; q++) {                                                              \
          int64_t i = first_m + y + p * HALF, j = first_n + x + q * HALF;                          \
          bool reads = !args.overwrite && i < args.m.size && j < args.n.size;                      \
          sum[p][q] = reads ? WIDEN(c[i * args.m.stride[2] + j * args.n.stride[2]]) : 0;           \
        }                                                                                          \
      for (uint64_t inner = 0; inner < n_inner; inner++) {                                         \
        int64_t at[3] = {outer[0], outer[1], 0};                                                   \
        locate(args.loops + args.n_outer, args.n_inner, inner, at);                                \
        const OF_A *a = (const OF_A *)args.a + at[0];                                              \
        const OF_B *b = (const OF_B *)args.b + at[1];                                              \
        for (int64_t first_column = 0; first_column < args.k.size; first_column += SITE_TILE_K) {  \
          int64_t first_row = first_m;                                                             \
          LOAD_TILE(tile_a, a, OF_A, WIDEN_A, args.m.size, args.m.stride[0], args.k.size,          \
                    args.k.stride[0])                                                              \
          first_row = first_n;                                                                     \
          LOAD_TILE(tile_b, b, OF_B, WIDEN_B, args.n.size, args.n.stride[1], args.k.size,          \
                    args.k.stride[1])                                                              \
          __syncthreads();                                                                         \
          int64_t left = args.k.size - first_column;                                               \
          for (int64_t k = 0; k < (left < SITE_TILE_K ? left : SITE_TILE_K); k++)                  \
            for (int p = 0; p < 2; p++)                                                            \
              for (int q = 0; q < 2; q++)                                                          \
                sum[p][q] =                                                                        \
                    add_product(sum[p][q], tile_a[k][y + p * HALF], tile_b[k][x + q * HALF]);      \
          __syncthreads();                                                                         \
        }                                                                                          \
      }                                                                                            \
      for (int p = 0; p < 2; p++)                                                                  \
        for (int q = 0; q < 2; q++) {                                                              \
          int64_t i = first_m + y + p * HALF, j = first_n + x + q * HALF;                          \
          if (i < args.m.size && j < args.n.size)                                                  \
            c[i * args.m.stride[2] + j * args.n.stride[2]] = (STORED)NARROW(END(STORED, WIDEN));   \
        }                                                                                          \
    }                                                                                              \
  }
/* A, B and C of one type. */
#define CONTRACT(NAME, STORED, ACC, WIDEN, NARROW, END)                                            \
  CONTRACT_OF(NAME, STORED, WIDEN, STORED, WIDEN, STORED, ACC, WIDEN, NARROW, END)
/* Factors of f8, each of either type. */
TPRT_INLINE float f8_widen(uint8_t x, bool is_e5m2) {
  return is_e5m2 ? f8e5m2_to_f32(x) : f8e4m3_to_f32(x);
}
#define WIDEN_F8_A(X) f8_widen(X, args.a_is_e5m2)
#define WIDEN_F8_B(X) f8_widen(X, args.b_is_e5m2)
/* A and B of narrower types, C of f32. */
#define CONTRACT_INTO_F32(NAME, OF_A, WIDEN_A, OF_B, WIDEN_B)                                      \
  CONTRACT_OF(NAME, OF_A, WIDEN_A, OF_B, WIDEN_B, float, float, SAME, SAME, LEAVE)
CONTRACT(f32, float, float, SAME, SAME, FINISH)
CONTRACT(f64, double, double, SAME, SAME, LEAVE)
CONTRACT(f16, uint16_t, float, f16_widen, f16_narrow, FINISH)
CONTRACT(bf16, uint16_t, float, bf16_widen, bf16_narrow, FINISH)
CONTRACT(i8, uint8_t, uint8_t, SAME, SAME, LEAVE)
CONTRACT(i16, uint16_t, uint16_t, SAME, SAME, LEAVE)
CONTRACT(i32, uint32_t, uint32_t, SAME, SAME, LEAVE)
CONTRACT(i64, uint64_t, uint64_t, SAME, SAME, LEAVE)
CONTRACT_INTO_F32(f16_f32, uint16_t, f16_widen, uint16_t, f16_widen)
CONTRACT_INTO_F32(bf16_f32, uint16_t, bf16_widen, uint16_t, bf16_widen)
CONTRACT_INTO_F32(f8_f32, uint8_t, WIDEN_F8_A, uint8_t, WIDEN_F8_B)
