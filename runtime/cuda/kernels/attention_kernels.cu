/* Attention in one kernel: scores stay in registers and shared memory, tile by tile, and each row
 * carries its largest score, the sum of its exponentials and their product with the values (online
 * softmax: Milakov and Gimelshein 2018; Dao et al. 2022). Tiles that a causal mask hides from all
 * rows of a block are skipped, if what they add is 0: where hidden scores are -infinity, or where
 * all rows have far greater ones.
 *
 * Columns are added in order, so results depend on the shape alone. */
#include "cuda/kernels/attention.cuh"
#include "cuda/kernels/attention_lanes.cuh"
#include "cuda/kernels/attention_mma.cuh"

/* ---- without tensor cores: any type, any strides ---- */

/* LANES neighboring threads share a row: each has every LANES-th column and every LANES-th feature
 * of the result. */
template <typename type> TPRT_INLINE void attend(const attention_args &args) {
  __shared__ float queries[ATTENTION_ROWS * PITCH], tile[ATTENTION_COLUMNS * PITCH];
  __shared__ float weights[ATTENTION_ROWS][ATTENTION_COLUMNS + 1];
  block_place p = place_block(args, ATTENTION_ROWS, ATTENTION_COLUMNS);
  uint32_t r = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  int64_t row = p.first + r;
  int32_t last = last_column(args, p, row);
  int64_t mask_at = p.base[ATTENTION_MASK] + row_offset(args, row, ATTENTION_MASK);
  bool is_row = row < p.n_rows;
  float largest = -INFINITY, sum = 0, result[VALUES_EACH];
  _Pragma("unroll") for (int i = 0; i < VALUES_EACH; i++) result[i] = 0;
  load_rows<type>(args, ATTENTION_Q, args.q, p.base[ATTENTION_Q], p.first, p.n_rows, args.feature,
                  queries);
  for (int32_t t = 0; t < p.n_tiles; t++) {
    if (t == p.n_visible && all_of_block(!is_row || outweighs_hidden(args, largest)))
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
    float from = finite_largest(largest), factor = expf(before - from);
    sum *= factor;
    _Pragma("unroll") for (int j = 0; j < COLUMNS_EACH; j++) {
      float weight = expf(score[j] - from);
      sum += weight;
      weights[r][j * LANES + lane] = weight;
    }
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
  if (is_row && lane == 0)
    store_statistics(args, p, row, largest, sum);
  int64_t out = p.base[ATTENTION_OUT] + row_offset(args, row, ATTENTION_OUT);
  sum = divisor(args, sum);
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

#define KERNEL extern "C" __global__ void

/* Two blocks on a multiprocessor: for three, ptxas spills. */
#define ATTENTION(name)                                                                            \
  KERNEL __launch_bounds__(ATTENTION_THREADS, 2)                                                   \
      tprt_attention_##name(const __grid_constant__ attention_args args) {                         \
    attend<type_##name>(args);                                                                     \
  }
ATTENTION(f32)
ATTENTION(f16)
ATTENTION(bf16)

/* ---- with tensor cores ---- */

#define ATTENTION_MMA(name, features)                                                              \
  KERNEL __launch_bounds__(ATTENTION_THREADS, features == 64 ? 4 : 3)                              \
      tprt_attention_##name##_##features(const __grid_constant__ attention_args args) {            \
    attend_mma<type_##name, features>(args);                                                       \
  }
#define ATTENTION_MMA_ALL(name)                                                                    \
  ATTENTION_MMA(name, 64)                                                                          \
  ATTENTION_MMA(name, 80)                                                                          \
  ATTENTION_MMA(name, 96)                                                                          \
  ATTENTION_MMA(name, 128)
ATTENTION_MMA_ALL(f16)
ATTENTION_MMA_ALL(bf16)
