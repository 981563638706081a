/* The gradient of attention of 16-bit types on tensor cores of sm_80 and later (FlashAttention-2:
 * Dao 2023). Tiles have 64 rows and 64 columns. The kernel of the queries' gradient has the scores
 * of 16 rows in each warp and goes over tiles of columns; that of keys and values has those of 16
 * columns, transposed, and goes over tiles of rows. So each result is added up by one warp, in
 * order, and no scores leave their warp.
 *
 * attention_mma.cuh says where a thread has its parts of the products. */
#ifndef TPRT_RUNTIME_CUDA_ATTENTION_GRADIENT_MMA_H
#define TPRT_RUNTIME_CUDA_ATTENTION_GRADIENT_MMA_H

#include "cuda/kernels/attention_gradient.cuh"
#include "cuda/kernels/attention_mma.cuh"

enum {
  GRADIENT_TILE = ATTENTION_MMA_ROWS, /* rows or columns of a tile */
  GRADIENT_PARTS = GRADIENT_TILE / 8, /* products of 8 of them */
  GRADIENT_STEPS = GRADIENT_TILE / 16,
};
static_assert((int)ATTENTION_MMA_ROWS == (int)ATTENTION_MMA_COLUMNS, "tiles are squares");

/* Tiles in shared memory, and products of them. */
template <typename type, int FEATURES> struct gradient_products {
  enum { PITCH_MMA = FEATURES + MMA_VECTOR, TILE = GRADIENT_TILE * PITCH_MMA };

  /* scores = rows 16 * warp to 16 * warp + 15 of `a`, times all rows of `b`. */
  static __device__ __forceinline__ void multiply_tiles(float scores[GRADIENT_PARTS][4],
                                                        const uint16_t *a, const uint16_t *b) {
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    _Pragma("unroll") for (int j = 0; j < GRADIENT_PARTS; j++)
        _Pragma("unroll") for (int e = 0; e < 4; e++) scores[j][e] = 0;
    _Pragma("unroll") for (int s = 0; s < FEATURES / 16; s++) {
      uint32_t left[4];
      load_matrices(left, a + (warp * 16 + lane % 16) * PITCH_MMA + s * 16 + lane / 16 * 8);
      _Pragma("unroll") for (int j = 0; j < GRADIENT_PARTS; j += 2) {
        uint32_t right[4];
        load_matrices(right, b + (j * 8 + lane / 16 * 8 + lane % 8) * PITCH_MMA + s * 16 +
                                 lane / 8 % 2 * 8);
        multiply(type(), scores[j], left, right[0], right[1]);
        multiply(type(), scores[j + 1], left, right[2], right[3]);
      }
    }
  }

  /* result += the packed scores of this warp, times the rows of `b`. */
  static __device__ __forceinline__ void add_product(float result[FEATURES / 8][4],
                                                     const uint32_t scores[GRADIENT_STEPS][4],
                                                     const uint16_t *b) {
    uint32_t lane = threadIdx.x % 32;
    _Pragma("unroll") for (int s = 0; s < GRADIENT_STEPS; s++)
        _Pragma("unroll") for (int i = 0; i < FEATURES / 8; i += 2) {
      uint32_t right[4];
      load_transposed(right, b + (s * 16 + lane % 16) * PITCH_MMA + i * 8 + lane / 16 * 8);
      multiply(type(), result[i], scores[s], right[0], right[1]);
      multiply(type(), result[i + 1], scores[s], right[2], right[3]);
    }
  }

  static __device__ __forceinline__ void clear(float result[FEATURES / 8][4]) {
    _Pragma("unroll") for (int i = 0; i < FEATURES / 8; i++)
        _Pragma("unroll") for (int e = 0; e < 4; e++) result[i][e] = 0;
  }

  /* Stores the results of row or column h of this thread, times `by`. */
  static __device__ __forceinline__ void store(const attention_args &args, int x, void *to,
                                               int64_t at, int64_t n_features,
                                               const float result[FEATURES / 8][4], int h,
                                               float by) {
    _Pragma("unroll") for (int i = 0; i < FEATURES / 8; i++) {
      int64_t f = i * 8 + threadIdx.x % 4 * 2;
      float low = result[i][2 * h] * by, high = result[i][2 * h + 1] * by;
      if (f >= n_features)
        continue;
      if (args.wide >> x & 1)
        *(float2 *)((float *)to + at + f) = make_float2(low, high);
      else
        *(uint32_t *)((uint16_t *)to + at + f) = pack(type(), low, high);
    }
  }
};

/* ---- the gradient of the queries ---- */

/* The sum of products of 8 elements of results and gradients. */
template <typename type>
TPRT_INLINE float multiply_vectors(const attention_args &args, int64_t out,
                                   const uint16_t *gradient) {
  union {
    uint4 words;
    uint16_t elements[MMA_VECTOR];
  } g, o;
  float sum = 0;
  g.words = *(const uint4 *)gradient;
  if (args.wide >> ATTENTION_OUT & 1) {
    const float *wide = (const float *)args.out + out;
    _Pragma("unroll") for (int i = 0; i < MMA_VECTOR; i++) sum =
        __fmaf_rn(type::widen(g.elements[i]), wide[i], sum);
    return sum;
  }
  o.words = *(const uint4 *)((const uint16_t *)args.out + out);
  _Pragma("unroll") for (int i = 0; i < MMA_VECTOR; i++) sum =
      __fmaf_rn(type::widen(g.elements[i]), type::widen(o.elements[i]), sum);
  return sum;
}

/* delta of the rows of a block, whose gradients are in shared memory: two threads have a row. */
template <typename type, int FEATURES>
TPRT_INLINE void find_deltas(const attention_args &args, const block_place &p,
                             const uint16_t *gradients, float deltas[GRADIENT_TILE]) {
  uint32_t r = threadIdx.x / 2;
  int64_t row = p.first + r, out = p.base[ATTENTION_OUT] + row_offset(args, row, ATTENTION_OUT);
  float sum = 0;
  for (int32_t f = threadIdx.x % 2 * MMA_VECTOR; f < args.value.size && row < p.n_rows;
       f += 2 * MMA_VECTOR)
    sum += multiply_vectors<type>(args, out + f, gradients + r * (FEATURES + MMA_VECTOR) + f);
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  if (threadIdx.x % 2 != 0)
    return;
  deltas[r] = sum;
  if (row < p.n_rows)
    args.delta[number_of_row(p, row)] = sum;
}

/* As for attention, FEATURES is at least the features of queries and of values, features lie next
 * to each other, and all addresses and other strides are multiples of 16 bytes. */
template <typename type, int FEATURES>
TPRT_INLINE void differentiate_rows_mma(const attention_args &args) {
  typedef gradient_products<type, FEATURES> products;
  extern __shared__ __align__(16) uint16_t tiles[];
  __shared__ float deltas[GRADIENT_TILE];
  uint16_t *queries = tiles, *gradients = tiles + products::TILE,
           *keys = tiles + 2 * products::TILE, *values = tiles + 3 * products::TILE;
  block_place p = place_block(args, GRADIENT_TILE, GRADIENT_TILE);
  uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int32_t n = (int32_t)args.column.size, n_features = (int32_t)args.feature.size,
          n_values = (int32_t)args.value.size;
  const uint16_t *from_keys = (const uint16_t *)args.k + p.base[ATTENTION_K],
                 *from_values = (const uint16_t *)args.v + p.base[ATTENTION_V];
  fetch_rows<FEATURES>(args, queries, ATTENTION_Q, (const uint16_t *)args.q + p.base[ATTENTION_Q],
                       p.first, p.n_rows, n_features);
  fetch_rows<FEATURES>(args, gradients, ATTENTION_GRADIENT,
                       (const uint16_t *)args.gradient + p.base[ATTENTION_GRADIENT], p.first,
                       p.n_rows, n_values);
  fetch_tile<FEATURES>(keys, from_keys, args.column.stride[ATTENTION_K], 0, n, n_features);
  fetch_tile<FEATURES>(values, from_values, args.column.stride[ATTENTION_V], 0, n, n_values);
  end_fetch_group();
  await_fetches();
  __syncthreads();
  find_deltas<type, FEATURES>(args, p, gradients, deltas);
  __syncthreads();
  row_state s[2];
  _Pragma("unroll") for (int h = 0; h < 2; h++) {
    uint32_t r = warp * 16 + lane / 4 + 8 * h;
    s[h] = find_row(args, p, p.first + r);
    s[h].delta = deltas[r];
  }

  float result[FEATURES / 8][4];
  products::clear(result);
  for (int32_t t = 0; t < p.n_tiles; t++) {
    if (t == p.n_visible && all_of_block(!needs_hidden(args, s[0]) && !needs_hidden(args, s[1])))
      break;
    int32_t first = t * GRADIENT_TILE;
    float score[GRADIENT_PARTS][4], direct[GRADIENT_PARTS][4];
    await_fetches();
    __syncthreads(); /* keys and values are there */
    products::multiply_tiles(score, queries, keys);
    products::multiply_tiles(direct, gradients, values);
    __syncthreads(); /* values have been read */
    bool is_last = t + 1 == p.n_tiles;
    if (!is_last)
      fetch_tile<FEATURES>(values, from_values, args.column.stride[ATTENTION_V],
                           first + GRADIENT_TILE, n, n_values);
    bool is_whole =
        sees_all(args, s[0], first, GRADIENT_TILE) && sees_all(args, s[1], first, GRADIENT_TILE);
    uint32_t slopes[GRADIENT_STEPS][4];
    auto differentiate_tile = [&](auto differentiate_score) {
      _Pragma("unroll") for (int j = 0; j < GRADIENT_PARTS; j++)
          _Pragma("unroll") for (int h = 0; h < 2; h++) {
        float slope[2];
        _Pragma("unroll") for (int e = 0; e < 2; e++) slope[e] =
            differentiate_score(s[h], first + j * 8 + lane % 4 * 2 + e, score[j][2 * h + e],
                                direct[j][2 * h + e])
                .slope;
        slopes[j / 2][j % 2 * 2 + h] = pack(type(), slope[0], slope[1]);
      }
    };
    if (is_whole)
      differentiate_tile([&](const row_state &row, int32_t, float product, float of_weight) {
        return differentiate_seen(args, row, product, of_weight, fast_exp, fast_tanh);
      });
    else
      differentiate_tile([&](const row_state &row, int32_t column, float product, float of_weight) {
        return differentiate<type>(args, row, column, product, of_weight, fast_exp, fast_tanh);
      });
    products::add_product(result, slopes, keys);
    __syncthreads(); /* keys have been read */
    if (!is_last)
      fetch_tile<FEATURES>(keys, from_keys, args.column.stride[ATTENTION_K], first + GRADIENT_TILE,
                           n, n_features);
    end_fetch_group();
  }
  await_fetches();
  _Pragma("unroll") for (int h = 0; h < 2; h++) {
    int64_t row = p.first + warp * 16 + lane / 4 + 8 * h;
    if (s[h].is_row)
      products::store(args, ATTENTION_GRADIENT_Q, args.gradient_q,
                      p.base[ATTENTION_GRADIENT_Q] + row_offset(args, row, ATTENTION_GRADIENT_Q),
                      n_features, result, h, args.scale);
  }
}

/* ---- the gradients of keys and values ---- */

template <typename type, int FEATURES>
TPRT_INLINE void differentiate_columns_mma(const attention_args &args) {
  typedef gradient_products<type, FEATURES> products;
  extern __shared__ __align__(16) uint16_t tiles[];
  __shared__ row_state rows[GRADIENT_TILE];
  uint16_t *queries = tiles, *gradients = tiles + products::TILE,
           *keys = tiles + 2 * products::TILE, *values = tiles + 3 * products::TILE;
  block_place p = place_columns(args, GRADIENT_TILE);
  uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int32_t n = (int32_t)args.column.size, n_features = (int32_t)args.feature.size,
          n_values = (int32_t)args.value.size;
  fetch_tile<FEATURES>(keys, (const uint16_t *)args.k + p.base[ATTENTION_K],
                       args.column.stride[ATTENTION_K], (int32_t)p.first, n, n_features);
  fetch_tile<FEATURES>(values, (const uint16_t *)args.v + p.base[ATTENTION_V],
                       args.column.stride[ATTENTION_V], (int32_t)p.first, n, n_values);

  float of_key[FEATURES / 8][4], of_value[FEATURES / 8][4];
  products::clear(of_key);
  products::clear(of_value);
  for (int64_t first = 0; first < p.n_rows; first += GRADIENT_TILE) {
    bool sees = false, all = true;
    __syncthreads(); /* the last rows have been read */
    if (threadIdx.x < GRADIENT_TILE) {
      int64_t row = first + threadIdx.x;
      row_state s = find_row(args, p, row);
      s.delta = s.is_row ? args.delta[number_of_row(p, row)] : 0;
      rows[threadIdx.x] = s;
      sees = (s.is_row && s.last >= p.first) || needs_hidden(args, s);
      all = sees_all(args, s, p.first, GRADIENT_TILE);
    }
    if (all_of_block(!sees))
      continue;
    bool is_whole = all_of_block(all);
    fetch_rows<FEATURES>(args, queries, ATTENTION_Q, (const uint16_t *)args.q + p.base[ATTENTION_Q],
                         first, p.n_rows, n_features);
    fetch_rows<FEATURES>(args, gradients, ATTENTION_GRADIENT,
                         (const uint16_t *)args.gradient + p.base[ATTENTION_GRADIENT], first,
                         p.n_rows, n_values);
    end_fetch_group();
    await_fetches();
    __syncthreads();
    float score[GRADIENT_PARTS][4], direct[GRADIENT_PARTS][4];
    products::multiply_tiles(score, keys, queries);
    products::multiply_tiles(direct, values, gradients);
    uint32_t weights[GRADIENT_STEPS][4], slopes[GRADIENT_STEPS][4];
    auto differentiate_tile = [&](auto differentiate_score) {
      _Pragma("unroll") for (int j = 0; j < GRADIENT_PARTS; j++)
          _Pragma("unroll") for (int h = 0; h < 2; h++) {
        int32_t column = (int32_t)p.first + warp * 16 + lane / 4 + 8 * h;
        score_gradient g[2];
        _Pragma("unroll") for (int e = 0; e < 2; e++) g[e] = differentiate_score(
            rows[j * 8 + lane % 4 * 2 + e], column, score[j][2 * h + e], direct[j][2 * h + e]);
        weights[j / 2][j % 2 * 2 + h] = pack(type(), g[0].weight, g[1].weight);
        slopes[j / 2][j % 2 * 2 + h] = pack(type(), g[0].slope, g[1].slope);
      }
    };
    if (is_whole)
      differentiate_tile([&](const row_state &s, int32_t, float product, float of_weight) {
        return differentiate_seen(args, s, product, of_weight, fast_exp, fast_tanh);
      });
    else
      differentiate_tile([&](const row_state &s, int32_t column, float product, float of_weight) {
        return differentiate<type>(args, s, column, product, of_weight, fast_exp, fast_tanh);
      });
    products::add_product(of_value, weights, gradients);
    products::add_product(of_key, slopes, queries);
  }
  await_fetches();
  _Pragma("unroll") for (int h = 0; h < 2; h++) {
    int64_t column = p.first + warp * 16 + lane / 4 + 8 * h;
    if (column >= n)
      continue;
    products::store(args, ATTENTION_GRADIENT_K, args.gradient_k,
                    p.base[ATTENTION_GRADIENT_K] +
                        column * args.column.stride[ATTENTION_GRADIENT_K],
                    n_features, of_key, h, args.scale);
    products::store(args, ATTENTION_GRADIENT_V, args.gradient_v,
                    p.base[ATTENTION_GRADIENT_V] +
                        column * args.column.stride[ATTENTION_GRADIENT_V],
                    n_values, of_value, h, 1);
  }
}

#endif
