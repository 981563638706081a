/* Attention without tensor cores: any type, any strides. */
#ifndef TPRT_RUNTIME_CUDA_ATTENTION_ROWS_H
#define TPRT_RUNTIME_CUDA_ATTENTION_ROWS_H

#include "cuda/kernels/attention_lanes.cuh"

/* Drops weights of the row, those of this thread's columns, from `first` on. True if one of them is
 * kept. */
template <typename type>
TPRT_INLINE bool drop_tile(const attention_args &args, const block_place &p, int64_t row,
                           int32_t first, uint32_t lane, float weights[ATTENTION_COLUMNS]) {
  int64_t row_at = p.base[ATTENTION_DROPOUT] + row_offset(args, row, ATTENTION_DROPOUT);
  bool keeps = false;
  _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) {
    int32_t at = j * LANES + lane, column = first + at;
    if (column >= args.column.size)
      continue;
    weights[at] = drop_weight<type>(args, weights[at], row_at, column);
    keeps |= args.zeroes_dropped &&
             is_kept(args, row_at + column * args.column.stride[ATTENTION_DROPOUT]);
  }
  return keeps;
}

/* LANES neighboring threads share a row: each has every LANES-th column and every LANES-th feature
 * of the result. */
/* With IN_PARTS, blocks share the columns of a row. */
template <typename type, bool IN_PARTS> TPRT_INLINE void attend(const attention_args &args) {
  __shared__ float queries[ATTENTION_ROWS * PITCH], tile[ATTENTION_COLUMNS * PITCH];
  __shared__ float weights[ATTENTION_ROWS][ATTENTION_COLUMNS + 1];
  block_place p = place_block(args, ATTENTION_ROWS, ATTENTION_COLUMNS);
  const tile_range tiles = IN_PARTS ? split_columns(p) : tile_range{0, p.n_tiles};
  uint32_t r = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  int64_t row = p.first + r;
  int32_t last = last_column(args, p, row);
  int64_t mask_at = p.base[ATTENTION_MASK] + row_offset(args, row, ATTENTION_MASK);
  bool is_row = row < p.n_rows, keeps = false;
  float largest = -INFINITY, sum = 0, result[VALUES_EACH];
  _Pragma("unroll") for (int i = 0; i < VALUES_EACH; i++) result[i] = 0;
  load_rows<type>(args, ATTENTION_Q, args.q, p.base[ATTENTION_Q], p.first, p.n_rows, args.feature,
                  queries);
  for (int32_t t = tiles.begin; t < tiles.end; t++) {
    if (t == p.n_visible && all_of_block(!is_row || is_complete(args, largest, sum)))
      break;
    int32_t first = t * ATTENTION_COLUMNS;
    __syncthreads(); /* values of the last tile have been read */
    load_columns<type>(args, ATTENTION_K, args.k, p.base[ATTENTION_K], first, args.column.size,
                       args.feature, tile);
    __syncthreads();
    float score[COLUMNS_EACH], before = largest;
    _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) score[j] = 0;
    for (uint32_t f = 0; f < args.feature.size; f++) {
      float q = queries[r * PITCH + f];
      _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) score[j] =
          __fmaf_rn(q, tile[(j * LANES + lane) * PITCH + f], score[j]);
    }
    _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) {
      int32_t column = first + j * LANES + lane;
      bool is_inside = is_row && column < args.column.size; /* others count for nothing */
      score[j] = is_inside ? mask_score<type>(args, cap_score(args, score[j] * args.scale, tanhf),
                                              mask_at, column, last)
                           : -INFINITY;
      largest = fmaxf(largest, score[j]);
    }
    largest = largest_of_row(largest);
    float from = finite_largest(largest),
          factor = rescaling(before, from, [](float x) { return expf(x); });
    sum *= factor;
    _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) {
      float weight = expf(score[j] - from);
      sum += weight;
      weights[r][j * LANES + lane] = weight;
    }
    if (args.dropout_kind != ATTENTION_NO_DROPOUT && is_row)
      keeps |= drop_tile<type>(args, p, row, first, lane, weights[r]);
    _Pragma("unroll") for (int i = 0; i < VALUES_EACH; i++) result[i] *= factor;
    __syncthreads(); /* keys have been read, and weights are written */
    load_columns<type>(args, ATTENTION_V, args.v, p.base[ATTENTION_V], first, args.column.size,
                       args.value, tile);
    __syncthreads();
    _Pragma("unroll 1") for (int c = 0; c < ATTENTION_COLUMNS; c++) {
      float weight = weights[r][c];
      _Pragma("unroll") for (int i = 0; i < VALUES_EACH;
                             i++) if (i * LANES + lane < args.value.size) result[i] =
          __fmaf_rn(weight, tile[c * PITCH + i * LANES + lane], result[i]);
    }
  }
  sum = add_of_row(sum);
  keeps = largest_of_row(keeps) != 0;
  if (IN_PARTS) {
    float *to = partial_values(args, blockIdx.y, number_of_row(p, row), count_rows(args));
    if (is_row && lane == 0)
      store_numbers(args, p, row, largest, sum, keeps);
    _Pragma("unroll") for (int i = 0; i < VALUES_EACH;
                           i++) if (is_row && i * LANES + lane < args.value.size)
        to[i * LANES + lane] = result[i];
    return;
  }
  if (is_row && lane == 0)
    store_statistics(args, p, row, largest, sum);
  int64_t out = p.base[ATTENTION_OUT] + row_offset(args, row, ATTENTION_OUT);
  sum = divisor(args, sum, keeps);
  _Pragma("unroll") for (int i = 0; i < VALUES_EACH; i++) {
    int64_t f = i * LANES + lane, at = out + f * args.value.stride[ATTENTION_OUT];
    if (!is_row || f >= args.value.size)
      continue;
    if (args.wide >> ATTENTION_OUT & 1)
      ((float *)args.out)[at] = result[i] / sum;
    else
      ((typename type::stored *)args.out)[at] = type::narrow(result[i] / sum);
  }
}

#endif
