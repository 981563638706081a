/* The gradient of attention without tensor cores: any type, any strides. */
#ifndef TPRT_RUNTIME_CUDA_ATTENTION_GRADIENT_LANES_H
#define TPRT_RUNTIME_CUDA_ATTENTION_GRADIENT_LANES_H

#include "cuda/kernels/attention_gradient.cuh"
#include "cuda/kernels/attention_lanes.cuh"

enum { SCORES_PITCH = ATTENTION_COLUMNS + 1 };

/* The tiles of a block in shared memory, and the products of its scores. */
typedef struct gradient_tiles {
  float *queries, *keys, *values, *gradients, *weights, *slopes;
} gradient_tiles;

TPRT_INLINE gradient_tiles split_memory(float *memory) {
  enum { TILE = ATTENTION_ROWS * PITCH, SCORES = ATTENTION_ROWS * SCORES_PITCH };
  return {memory,
          memory + TILE,
          memory + 2 * TILE,
          memory + 3 * TILE,
          memory + 4 * TILE,
          memory + 4 * TILE + SCORES};
}

TPRT_INLINE float precise_exp(float x) { return expf(x); }

/* Products of a row `a` of one tile and rows j * LANES + lane of another one. */
TPRT_INLINE void multiply_rows(float products[COLUMNS_EACH], const float *a, const float *b,
                               uint32_t lane, uint32_t n_features) {
  _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) products[j] = 0;
  for (uint32_t f = 0; f < n_features; f++) {
    float x = a[f];
    _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) products[j] =
        __fmaf_rn(x, b[(j * LANES + lane) * PITCH + f], products[j]);
  }
}

/* Adds the rows of a tile, each times its factor, to the features of this lane. */
TPRT_INLINE void add_rows(float to[VALUES_EACH], const float *factors, const float *tile,
                          uint32_t lane, uint32_t n_features) {
  _Pragma("unroll 1") for (int r = 0; r < ATTENTION_ROWS; r++) {
    float factor = factors[r];
    _Pragma("unroll") for (int i = 0; i < VALUES_EACH; i++) if (i * LANES + lane < n_features)
        to[i] = __fmaf_rn(factor, tile[r * PITCH + i * LANES + lane], to[i]);
  }
}

/* Features of this lane. */
template <typename type>
TPRT_INLINE void store_features(const attention_args &args, int x, void *to, int64_t at,
                                const attention_loop &feature, const float values[VALUES_EACH],
                                float by) {
  uint32_t lane = threadIdx.x % LANES;
  _Pragma("unroll") for (int i = 0; i < VALUES_EACH; i++) {
    int64_t f = i * LANES + lane;
    if (f < feature.size)
      store_gradient<type>(args, x, to, at + f * feature.stride[x], by * values[i]);
  }
}

/* The product of a row's result and gradient, of which a tile has the latter. */
template <typename type>
TPRT_INLINE float find_delta(const attention_args &args, const block_place &p, int64_t row,
                             const float *gradient) {
  int64_t base = p.base[ATTENTION_OUT] + row_offset(args, row, ATTENTION_OUT);
  float sum = 0;
  for (uint32_t f = threadIdx.x % LANES; f < args.value.size && row < p.n_rows; f += LANES) {
    int64_t at = base + f * args.value.stride[ATTENTION_OUT];
    float out = args.wide >> ATTENTION_OUT & 1
                    ? ((const float *)args.out)[at]
                    : type::widen(((const typename type::stored *)args.out)[at]);
    sum = __fmaf_rn(gradient[f], out, sum);
  }
  return add_of_row(sum);
}

/* The gradient of the queries. LANES neighboring threads share a row. */
template <typename type> TPRT_INLINE void differentiate_rows(const attention_args &args) {
  extern __shared__ float memory[];
  gradient_tiles tiles = split_memory(memory);
  block_place p = place_block(args, ATTENTION_ROWS, ATTENTION_COLUMNS);
  uint32_t r = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  int64_t row = p.first + r;
  float result[VALUES_EACH];
  _Pragma("unroll") for (int i = 0; i < VALUES_EACH; i++) result[i] = 0;
  load_rows<type>(args, ATTENTION_Q, args.q, p.base[ATTENTION_Q], p.first, p.n_rows, args.feature,
                  tiles.queries);
  load_rows<type>(args, ATTENTION_GRADIENT, args.gradient, p.base[ATTENTION_GRADIENT], p.first,
                  p.n_rows, args.value, tiles.gradients);
  __syncthreads();
  row_state s = find_row(args, p, row);
  s.delta = find_delta<type>(args, p, row, tiles.gradients + r * PITCH);
  if (s.is_row && lane == 0)
    args.delta[number_of_row(p, row)] = s.delta;
  for (int32_t t = 0; t < p.n_tiles; t++) {
    if (t == p.n_visible && all_of_block(!needs_hidden(args, s)))
      break;
    int32_t first = t * ATTENTION_COLUMNS;
    __syncthreads(); /* the last tiles have been read */
    load_columns<type>(args, ATTENTION_K, args.k, p.base[ATTENTION_K], first, args.column.size,
                       args.feature, tiles.keys);
    load_columns<type>(args, ATTENTION_V, args.v, p.base[ATTENTION_V], first, args.column.size,
                       args.value, tiles.values);
    __syncthreads();
    float product[COLUMNS_EACH], direct[COLUMNS_EACH];
    multiply_rows(product, tiles.queries + r * PITCH, tiles.keys, lane, args.feature.size);
    multiply_rows(direct, tiles.gradients + r * PITCH, tiles.values, lane, args.value.size);
    _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) {
      uint32_t c = j * LANES + lane;
      tiles.slopes[r * SCORES_PITCH + c] =
          differentiate<type>(args, s, first + c, product[j], direct[j], precise_exp, tanhf).slope;
    }
    __syncwarp(); /* the threads of a row belong to one warp */
    add_rows(result, tiles.slopes + r * SCORES_PITCH, tiles.keys, lane, args.feature.size);
  }
  if (s.is_row)
    store_features<type>(args, ATTENTION_GRADIENT_Q, args.gradient_q,
                         p.base[ATTENTION_GRADIENT_Q] + row_offset(args, row, ATTENTION_GRADIENT_Q),
                         args.feature, result, args.scale);
}

/* The gradients of keys and values. LANES neighboring threads share a column. */
template <typename type> TPRT_INLINE void differentiate_columns(const attention_args &args) {
  extern __shared__ float memory[];
  __shared__ row_state rows[ATTENTION_ROWS];
  gradient_tiles tiles = split_memory(memory);
  block_place p = place_columns(args, ATTENTION_COLUMNS);
  uint32_t c = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  int32_t column = (int32_t)p.first + c;
  float of_key[VALUES_EACH], of_value[VALUES_EACH];
  _Pragma("unroll") for (int i = 0; i < VALUES_EACH; i++) of_key[i] = of_value[i] = 0;
  load_columns<type>(args, ATTENTION_K, args.k, p.base[ATTENTION_K], p.first, args.column.size,
                     args.feature, tiles.keys);
  load_columns<type>(args, ATTENTION_V, args.v, p.base[ATTENTION_V], p.first, args.column.size,
                     args.value, tiles.values);
  for (int64_t first = 0; first < p.n_rows; first += ATTENTION_ROWS) {
    bool sees = false;
    __syncthreads(); /* the last rows have been read */
    if (threadIdx.x < ATTENTION_ROWS) {
      int64_t row = first + threadIdx.x;
      row_state s = find_row(args, p, row);
      s.delta = s.is_row ? args.delta[number_of_row(p, row)] : 0;
      rows[threadIdx.x] = s;
      sees = (s.is_row && s.last >= p.first) || needs_hidden(args, s);
    }
    if (all_of_block(!sees))
      continue;
    load_rows<type>(args, ATTENTION_Q, args.q, p.base[ATTENTION_Q], first, p.n_rows, args.feature,
                    tiles.queries);
    load_rows<type>(args, ATTENTION_GRADIENT, args.gradient, p.base[ATTENTION_GRADIENT], first,
                    p.n_rows, args.value, tiles.gradients);
    __syncthreads();
    float product[COLUMNS_EACH], direct[COLUMNS_EACH];
    multiply_rows(product, tiles.keys + c * PITCH, tiles.queries, lane, args.feature.size);
    multiply_rows(direct, tiles.values + c * PITCH, tiles.gradients, lane, args.value.size);
    _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) {
      uint32_t r = j * LANES + lane;
      score_gradient g =
          differentiate<type>(args, rows[r], column, product[j], direct[j], precise_exp, tanhf);
      tiles.weights[c * SCORES_PITCH + r] = g.weight;
      tiles.slopes[c * SCORES_PITCH + r] = g.slope;
    }
    __syncwarp(); /* the threads of a column belong to one warp */
    add_rows(of_value, tiles.weights + c * SCORES_PITCH, tiles.gradients, lane, args.value.size);
    add_rows(of_key, tiles.slopes + c * SCORES_PITCH, tiles.queries, lane, args.feature.size);
  }
  if (column >= args.column.size)
    return;
  store_features<type>(args, ATTENTION_GRADIENT_K, args.gradient_k,
                       p.base[ATTENTION_GRADIENT_K] +
                           column * args.column.stride[ATTENTION_GRADIENT_K],
                       args.feature, of_key, args.scale);
  store_features<type>(args, ATTENTION_GRADIENT_V, args.gradient_v,
                       p.base[ATTENTION_GRADIENT_V] +
                           column * args.column.stride[ATTENTION_GRADIENT_V],
                       args.value, of_value, 1);
}

#endif
