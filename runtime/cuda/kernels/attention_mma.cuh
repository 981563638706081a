/* Attention of 16-bit types on tensor cores of sm_80 and later. Four warps have 16 rows each; tiles
 * of keys and values are fetched asynchronously: values while scores are computed, the next keys
 * while the values are multiplied (FlashAttention-2: Dao 2023).
 *
 * Products are mma.sync.m16n8k16 with f32 accumulators. Of the 16 x 8 results a thread has, with
 * g = lane / 4 and t = lane % 4, columns 2t and 2t + 1 of rows g and g + 8. Those of two
 * neighboring products, packed in pairs, are the left operand of the product with the values. */
#ifndef TPRT_RUNTIME_CUDA_ATTENTION_MMA_H
#define TPRT_RUNTIME_CUDA_ATTENTION_MMA_H

#include "cuda/kernels/attention.cuh"

/* ---- instructions ---- */

TPRT_INLINE uint32_t shared_address(const void *at) {
  return (uint32_t)__cvta_generic_to_shared(at);
}

/* Starts to copy 16 bytes; with `is_inside` false it writes zeros. */
TPRT_INLINE void fetch(void *to, const void *from, bool is_inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(is_inside ? 16 : 0)
               : "memory");
}
TPRT_INLINE void end_fetch_group(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }
TPRT_INLINE void await_fetches(void) { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

/* Four 8 x 8 matrices, of which lanes 0-7, 8-15, 16-23, 24-31 give the addresses of the rows. */
TPRT_INLINE void load_matrices(uint32_t to[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}
TPRT_INLINE void load_transposed(uint32_t to[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}

#define MULTIPLY(name)                                                                             \
  TPRT_INLINE void multiply(type_##name, float c[4], const uint32_t a[4], uint32_t b0,             \
                            uint32_t b1) {                                                         \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." #name "." #name ".f32 "                           \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                          \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                           \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                           \
  }
MULTIPLY(f16)
MULTIPLY(bf16)

TPRT_INLINE uint32_t pack(type_f16, float low, float high) {
  uint32_t both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
TPRT_INLINE uint32_t pack(type_bf16, float low, float high) {
  uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

/* exp(x) within 2 ulp for x <= 0; denormal results are 0. Weights are rounded to 16 bits anyway. */
TPRT_INLINE float fast_exp(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
}

/* tanh(x) within 2e-7. */
TPRT_INLINE float fast_tanh(float x) { return 1 - 2 / (fast_exp(2 * x) + 1); }

/* ---- tiles ---- */

enum { MMA_VECTOR = 8 /* elements of 16 bytes */ };

/* Starts to fetch rows of `n_features` elements, with zeros behind their end and behind row n. Rows
 * of FEATURES elements are MMA_VECTOR elements apart: ldmatrix reads 8 of them from different
 * banks. */
template <int FEATURES>
TPRT_INLINE void fetch_tile(uint16_t *to, const uint16_t *from, int64_t stride, int32_t first,
                            int32_t n, int32_t n_features) {
  enum { VECTORS = FEATURES / MMA_VECTOR };
  for (uint32_t i = threadIdx.x; i < ATTENTION_MMA_COLUMNS * VECTORS; i += ATTENTION_THREADS) {
    uint32_t r = i / VECTORS, f = i % VECTORS * MMA_VECTOR;
    bool is_inside = first + (int32_t)r < n && (int32_t)f < n_features;
    fetch(to + r * (FEATURES + MMA_VECTOR) + f,
          is_inside ? from + (first + (int32_t)r) * stride + f : from, is_inside);
  }
}

/* The same for rows of all members of the group, of queries or of the gradient (x). */
template <int FEATURES>
TPRT_INLINE void fetch_rows(const attention_args &args, uint16_t *to, int x, const uint16_t *from,
                            int64_t first, int64_t n, int32_t n_features) {
  enum { VECTORS = FEATURES / MMA_VECTOR };
  for (uint32_t i = threadIdx.x; i < ATTENTION_MMA_ROWS * VECTORS; i += ATTENTION_THREADS) {
    uint32_t r = i / VECTORS, f = i % VECTORS * MMA_VECTOR;
    bool is_inside = first + r < n && (int32_t)f < n_features;
    fetch(to + r * (FEATURES + MMA_VECTOR) + f,
          is_inside ? from + row_offset(args, first + r, x) + f : from, is_inside);
  }
}

/* ---- the kernel ---- */

/* Drops weights of rows r and r + 8 of the block, those of this thread in a tile of which it has
 * `column` first, and sets bit 0 or 1 of *keeps for a row of which one is kept. The offsets of rows
 * are found anew: without dropout they need no registers. */
template <typename type>
TPRT_INLINE void drop_scores(const attention_args &args, const block_place &p, uint32_t r,
                             int32_t column, float weights[ATTENTION_MMA_COLUMNS / 8][4],
                             uint32_t *keeps) {
  for (int h = 0; h < 2; h++) {
    int64_t row = p.first + r + 8 * h;
    if (row >= p.n_rows)
      continue;
    int64_t row_at = find_row_offset(args, p, row, ATTENTION_DROPOUT);
    _Pragma("unroll") for (int j = 0; j < ATTENTION_MMA_COLUMNS / 8; j++)
        _Pragma("unroll") for (int e = 0; e < 2; e++) {
      int32_t at = column + j * 8 + e;
      if (at >= args.column.size)
        continue;
      weights[j][2 * h + e] = drop_weight<type>(args, weights[j][2 * h + e], row_at, at);
      *keeps |= (uint32_t)(args.zeroes_dropped &&
                           is_kept(args, row_at + at * args.column.stride[ATTENTION_DROPOUT]))
                << h;
    }
  }
}

/* Stores what a block has of row h of this thread, where blocks share its columns. */
template <int PARTS>
TPRT_INLINE void store_part(const attention_args &args, const block_place &p, int64_t row,
                            float largest, float sum, bool keeps, int h,
                            const float result[PARTS][4]) {
  if (row >= p.n_rows)
    return;
  if (threadIdx.x % 4 == 0)
    store_numbers(args, p, row, largest, sum, keeps);
  float *to = partial_values(args, blockIdx.y, number_of_row(p, row), count_rows(args));
  _Pragma("unroll") for (int i = 0; i < PARTS; i++) {
    int32_t f = i * 8 + threadIdx.x % 4 * 2;
    if (f < args.value.size)
      *(float2 *)(to + f) = make_float2(result[i][2 * h], result[i][2 * h + 1]);
  }
}

/* FEATURES: at least the features of queries and of values, a multiple of 16. Their strides are 1,
 * and all addresses and other strides multiples of 16 bytes. With IN_PARTS, blocks share the
 * columns of a row. */
template <typename type, int FEATURES, bool IN_PARTS>
TPRT_INLINE void attend_mma(const attention_args &args) {
  enum {
    PITCH_MMA = FEATURES + MMA_VECTOR,
    STEPS = FEATURES / 16,                    /* of the sum over features */
    COLUMN_PARTS = ATTENTION_MMA_COLUMNS / 8, /* products of 8 columns */
    COLUMN_STEPS = ATTENTION_MMA_COLUMNS / 16,
    VALUE_PARTS = FEATURES / 8
  };
  __shared__ __align__(16) uint16_t keys[ATTENTION_MMA_COLUMNS * PITCH_MMA],
      values[ATTENTION_MMA_COLUMNS * PITCH_MMA];
  const type as = {};
  block_place p = place_block(args, ATTENTION_MMA_ROWS, ATTENTION_MMA_COLUMNS);
  const tile_range tiles = IN_PARTS ? split_columns(p) : tile_range{0, p.n_tiles};
  uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int64_t row[2], mask_at[2];
  int32_t last[2], n = (int32_t)args.column.size, n_features = (int32_t)args.feature.size,
                   n_values = (int32_t)args.value.size;
  bool is_row[2];
  uint32_t keeps = 0; /* bit h: a weight of row h is kept */
  for (int h = 0; h < 2; h++) {
    row[h] = p.first + warp * 16 + lane / 4 + 8 * h;
    last[h] = last_column(args, p, row[h]);
    mask_at[h] = p.base[ATTENTION_MASK] + row_offset(args, row[h], ATTENTION_MASK);
    is_row[h] = row[h] < p.n_rows;
  }
  const uint16_t *from_keys = (const uint16_t *)args.k + p.base[ATTENTION_K],
                 *from_values = (const uint16_t *)args.v + p.base[ATTENTION_V];

  uint32_t queries[STEPS][4];
  fetch_rows<FEATURES>(args, keys, ATTENTION_Q, (const uint16_t *)args.q + p.base[ATTENTION_Q],
                       p.first, p.n_rows, n_features);
  end_fetch_group();
  await_fetches();
  __syncthreads();
  _Pragma("unroll") for (int s = 0; s < STEPS; s++) load_matrices(
      queries[s], keys + (warp * 16 + lane % 16) * PITCH_MMA + s * 16 + lane / 16 * 8);
  __syncthreads();

  float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0}, result[VALUE_PARTS][4];
  _Pragma("unroll") for (int i = 0; i < VALUE_PARTS; i++)
      _Pragma("unroll") for (int e = 0; e < 4; e++) result[i][e] = 0;
  fetch_tile<FEATURES>(keys, from_keys, args.column.stride[ATTENTION_K],
                       tiles.begin * ATTENTION_MMA_COLUMNS, n, n_features);
  end_fetch_group();
  for (int32_t t = tiles.begin; t < tiles.end; t++) {
    if (t == p.n_visible && all_of_block((!is_row[0] || is_complete(args, largest[0], sum[0])) &&
                                         (!is_row[1] || is_complete(args, largest[1], sum[1]))))
      break;
    int32_t first = t * ATTENTION_MMA_COLUMNS;
    await_fetches();
    __syncthreads(); /* keys are there, and values of the last tile have been read */
    fetch_tile<FEATURES>(values, from_values, args.column.stride[ATTENTION_V], first, n, n_values);
    end_fetch_group();

    float score[COLUMN_PARTS][4];
    _Pragma("unroll") for (int j = 0; j < COLUMN_PARTS; j++)
        _Pragma("unroll") for (int e = 0; e < 4; e++) score[j][e] = 0;
    _Pragma("unroll") for (int s = 0; s < STEPS; s++)
        _Pragma("unroll") for (int j = 0; j < COLUMN_PARTS; j += 2) {
      /* keys of columns 8j to 8j + 15, features of this step: b0, b1 of either product */
      uint32_t b[4];
      load_matrices(b, keys + (j * 8 + lane / 16 * 8 + lane % 8) * PITCH_MMA + s * 16 +
                           lane / 8 % 2 * 8);
      multiply(as, score[j], queries[s], b[0], b[1]);
      multiply(as, score[j + 1], queries[s], b[2], b[3]);
    }

    bool is_whole = first + ATTENTION_MMA_COLUMNS <= n && args.mask_kind == ATTENTION_NO_MASK &&
                    first + ATTENTION_MMA_COLUMNS - 1 <= last[0] &&
                    first + ATTENTION_MMA_COLUMNS - 1 <= last[1];
    float before[2] = {largest[0], largest[1]};
    _Pragma("unroll") for (int j = 0; j < COLUMN_PARTS; j++)
        _Pragma("unroll") for (int e = 0; e < 4; e++) score[j][e] *= args.scale;
    if (args.cap != 0) {
      _Pragma("unroll") for (int j = 0; j < COLUMN_PARTS; j++)
          _Pragma("unroll") for (int e = 0; e < 4; e++) score[j][e] =
              cap_score(args, score[j][e], fast_tanh);
    }
    if (!is_whole) {
      _Pragma("unroll") for (int j = 0; j < COLUMN_PARTS; j++)
          _Pragma("unroll") for (int e = 0; e < 4; e++) {
        int32_t column = first + j * 8 + lane % 4 * 2 + e % 2;
        bool is_inside = is_row[e / 2] && column < n; /* others count for nothing */
        score[j][e] = is_inside
                          ? mask_score<type>(args, score[j][e], mask_at[e / 2], column, last[e / 2])
                          : -INFINITY;
      }
    }
    _Pragma("unroll") for (int j = 0; j < COLUMN_PARTS; j++)
        _Pragma("unroll") for (int e = 0; e < 4; e++) largest[e / 2] =
            fmaxf(largest[e / 2], score[j][e]);
    float from[2];
    _Pragma("unroll") for (int h = 0; h < 2; h++) {
      largest[h] = fmaxf(largest[h], __shfl_xor_sync(0xffffffffu, largest[h], 1));
      largest[h] = fmaxf(largest[h], __shfl_xor_sync(0xffffffffu, largest[h], 2));
      from[h] = finite_largest(largest[h]);
      float factor = rescaling(before[h], from[h], fast_exp);
      sum[h] *= factor;
      _Pragma("unroll") for (int i = 0; i < VALUE_PARTS; i++) {
        result[i][2 * h] *= factor;
        result[i][2 * h + 1] *= factor;
      }
    }
    _Pragma("unroll") for (int j = 0; j < COLUMN_PARTS; j++)
        _Pragma("unroll") for (int h = 0; h < 2; h++) {
      score[j][2 * h] = fast_exp(score[j][2 * h] - from[h]);
      score[j][2 * h + 1] = fast_exp(score[j][2 * h + 1] - from[h]);
      sum[h] += score[j][2 * h] + score[j][2 * h + 1];
    }
    if (args.dropout_kind != ATTENTION_NO_DROPOUT)
      drop_scores<type>(args, p, warp * 16 + lane / 4, first + lane % 4 * 2, score, &keeps);
    uint32_t weights[COLUMN_STEPS][4];
    _Pragma("unroll") for (int j = 0; j < COLUMN_PARTS; j++)
        _Pragma("unroll") for (int h = 0; h < 2; h++) weights[j / 2][j % 2 * 2 + h] =
            pack(as, score[j][2 * h], score[j][2 * h + 1]);

    await_fetches();
    __syncthreads(); /* values are there, and keys have been read */
    if (t + 1 < tiles.end) {
      fetch_tile<FEATURES>(keys, from_keys, args.column.stride[ATTENTION_K],
                           first + ATTENTION_MMA_COLUMNS, n, n_features);
      end_fetch_group();
    }
    _Pragma("unroll") for (int s = 0; s < COLUMN_STEPS; s++)
        _Pragma("unroll") for (int i = 0; i < VALUE_PARTS; i += 2) {
      /* values of the columns of this step, features 8i to 8i + 15 */
      uint32_t b[4];
      load_transposed(b, values + (s * 16 + lane % 16) * PITCH_MMA + i * 8 + lane / 16 * 8);
      multiply(as, result[i], weights[s], b[0], b[1]);
      multiply(as, result[i + 1], weights[s], b[2], b[3]);
    }
  }
  await_fetches();

  keeps |= __shfl_xor_sync(0xffffffffu, keeps, 1);
  keeps |= __shfl_xor_sync(0xffffffffu, keeps, 2);
  _Pragma("unroll") for (int h = 0; h < 2; h++) {
    sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 1);
    sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 2);
    int64_t out = p.base[ATTENTION_OUT] + row_offset(args, row[h], ATTENTION_OUT);
    if (IN_PARTS) {
      store_part<VALUE_PARTS>(args, p, row[h], largest[h], sum[h], keeps >> h & 1, h, result);
      continue;
    }
    if (is_row[h] && lane % 4 == 0)
      store_statistics(args, p, row[h], largest[h], sum[h]);
    sum[h] = divisor(args, sum[h], keeps >> h & 1);
    _Pragma("unroll") for (int i = 0; i < VALUE_PARTS; i++) {
      int64_t f = i * 8 + lane % 4 * 2, at = out + f;
      float low = result[i][2 * h] / sum[h], high = result[i][2 * h + 1] / sum[h];
      if (!is_row[h] || f >= n_values)
        continue;
      if (args.wide >> ATTENTION_OUT & 1)
        *(float2 *)((float *)args.out + at) = make_float2(low, high);
      else
        *(uint32_t *)((uint16_t *)args.out + at) = pack(as, low, high);
    }
  }
}

#endif
