/* What both kinds of attention kernels share: types, the place of a block, masks. */
#ifndef TPRT_RUNTIME_CUDA_ATTENTION_H
#define TPRT_RUNTIME_CUDA_ATTENTION_H

#define TPRT_INLINE static __device__ __forceinline__

#include "cuda/kernels/attention_args.h"
#include "cuda/kernels/numbers.cuh"

/* ---- types ---- */

typedef struct type_f32 {
  typedef float stored;
  TPRT_INLINE float widen(float x) { return x; }
  TPRT_INLINE float narrow(float x) { return x; }
} type_f32;

#define TYPE_OF_16_BITS(name)                                                                      \
  typedef struct type_##name {                                                                     \
    typedef uint16_t stored;                                                                       \
    TPRT_INLINE float widen(uint16_t x) { return name##_widen(x); }                                \
    TPRT_INLINE uint16_t narrow(float x) { return name##_narrow(x); }                              \
  } type_##name;
TYPE_OF_16_BITS(f16)
TYPE_OF_16_BITS(bf16)

/* ---- the place of a block ---- */

/* The rows of a block: rows of the members of the group one after the other, from `first` on. */
typedef struct block_place {
  int64_t base[ATTENTION_TENSORS]; /* elements before the block's iteration of the outer loops */
  uint32_t outer;                  /* the iteration of the outer loops */
  int64_t first, n_rows;           /* n_rows: of all members of the group */
  int32_t n_tiles;                 /* of columns */
  /* tiles before this one have columns that some row of the block sees */
  int32_t n_visible;
  int64_t shift; /* the last column that row r sees is r + shift */
} block_place;

TPRT_INLINE int64_t position_of(const attention_args &args) {
  if (!args.position)
    return 0;
  return args.position_bytes == 4 ? *(const int32_t *)args.position
                                  : *(const int64_t *)args.position;
}

/* Elements of each tensor before iteration `outer` of the outer loops. */
TPRT_INLINE void find_bases(const attention_args &args, uint32_t outer,
                            int64_t base[ATTENTION_TENSORS]) {
  for (int x = 0; x < ATTENTION_TENSORS; x++)
    base[x] = 0;
  _Pragma("unroll 1") for (int i = ATTENTION_OUTER; i > 0; i--) {
    for (int x = 0; x < ATTENTION_TENSORS; x++)
      base[x] += outer % (uint32_t)args.outer[i - 1].size * args.outer[i - 1].stride[x];
    outer /= (uint32_t)args.outer[i - 1].size;
  }
}

typedef struct tile_range {
  int32_t begin, end; /* at n_visible a block may stop early */
} tile_range;

/* Blocks that share the columns of a row have as many visible tiles each. The block of the last
 * visible one also has those behind it. */
TPRT_INLINE tile_range split_columns(const block_place &p) {
  int32_t each = (p.n_visible + (int32_t)gridDim.y - 1) / (int32_t)gridDim.y,
          owner = each > 0 ? (p.n_visible - 1) / each : 0, mine = (int32_t)blockIdx.y,
          begin = min(mine * each, p.n_visible);
  return {begin, mine == owner ? p.n_tiles : min(begin + each, p.n_visible)};
}

/* The number of a row among all of them. */
TPRT_INLINE int64_t number_of_row(const block_place &p, int64_t row) {
  return p.outer * p.n_rows + row;
}

/* Blocks of late rows, which see most columns, start first, and those with the same keys and values
 * one after the other, as far as blocks do not have rows of several members. */
TPRT_INLINE block_place place_block(const attention_args &args, int64_t rows, int64_t columns) {
  block_place p;
  p.n_rows = args.group.size * args.row.size;
  bool whole = args.row.size % rows == 0; /* blocks in each member */
  uint32_t n_members = whole ? (uint32_t)args.group.size : 1,
           n_blocks = (uint32_t)((p.n_rows + rows - 1) / rows), n_of_member = n_blocks / n_members,
           n_outer = gridDim.x / n_blocks, late = blockIdx.x / (n_outer * n_members),
           rest = blockIdx.x % (n_outer * n_members), outer = rest / n_members;
  p.first = ((int64_t)(rest % n_members) * n_of_member + (n_of_member - 1 - late)) * rows;
  p.n_tiles = p.n_visible = (int32_t)((args.column.size + columns - 1) / columns);
  p.shift = args.offset + position_of(args);
  p.outer = outer;
  find_bases(args, outer, p.base);
  if (args.causal) {
    int64_t end = p.first + rows < p.n_rows ? p.first + rows : p.n_rows;
    bool one_member = p.first / args.row.size == (end - 1) / args.row.size;
    int64_t last = (one_member ? (end - 1) % args.row.size : args.row.size - 1) + p.shift;
    int64_t visible = last < 0 ? 0 : last / columns + 1;
    p.n_visible = visible < p.n_tiles ? (int32_t)visible : p.n_tiles;
  }
  return p;
}

/* Elements of tensor x before row `row` of the block's rows, beside base. */
TPRT_INLINE int64_t row_offset(const attention_args &args, int64_t row, int x) {
  return row / args.row.size * args.group.stride[x] + row % args.row.size * args.row.stride[x];
}

/* The last column that a row of the block sees. */
TPRT_INLINE int32_t last_column(const attention_args &args, const block_place &p, int64_t row) {
  int64_t last = row % args.row.size + p.shift;
  return !args.causal || last > INT32_MAX ? INT32_MAX : last < 0 ? -1 : (int32_t)last;
}

/* ---- scores ---- */

/* `row_at`: first element of the row's mask; `last`: last column that the row sees. */
TPRT_INLINE bool is_hidden(const attention_args &args, int64_t row_at, int32_t column,
                           int32_t last) {
  bool hides = args.mask_kind == ATTENTION_HIDE;
  if (column > last)
    return true;
  if (!hides && args.mask_kind != ATTENTION_KEEP)
    return false;
  int64_t at = row_at + column * args.column.stride[ATTENTION_MASK];
  return (((const uint8_t *)args.mask)[at] != 0) == hides;
}

/* The soft cap of a scaled product. `tanh_of(x)` is the hyperbolic tangent. */
template <typename tanh_fn>
TPRT_INLINE float cap_score(const attention_args &args, float x, tanh_fn tanh_of) {
  return args.cap == 0 ? x : args.cap * tanh_of(x / args.cap);
}

/* The sum of exponentials by which a row is divided. `keeps`: a weight of the row is kept. */
TPRT_INLINE float divisor(const attention_args &args, float sum, bool keeps) {
  return (args.zeroes_hidden && sum == 0) || (args.zeroes_dropped && !keeps) ? 1 : sum;
}

/* Applies the masks to a score, which is scaled as `hidden` is. `add(score, number)` adds a number
 * of the mask. */
template <typename type, typename add_fn>
TPRT_INLINE float mask_score(const attention_args &args, float score, float hidden, int64_t row_at,
                             int32_t column, int32_t last, add_fn add) {
  bool hides = column > last;
  int64_t at = row_at + column * args.column.stride[ATTENTION_MASK];
  switch (args.mask_kind) {
  case ATTENTION_KEEP:
  case ATTENTION_HIDE:
    hides |= (((const uint8_t *)args.mask)[at] != 0) == (args.mask_kind == ATTENTION_HIDE);
    break;
  case ATTENTION_ADD:
    score = add(score, type::widen(((const typename type::stored *)args.mask)[at]));
    break;
  case ATTENTION_ADD_F32:
    score = add(score, ((const float *)args.mask)[at]);
    break;
  default:
    break;
  }
  return hides ? hidden : score;
}

/* Whether an element of a dropout of bytes keeps its weight. */
TPRT_INLINE bool is_kept(const attention_args &args, int64_t at) {
  return (((const uint8_t *)args.dropout)[at] != 0) == (args.dropout_kind == ATTENTION_KEEP_WEIGHT);
}

/* A weight, or its gradient, after the dropout. `row_at`: first element of the row's dropout. */
template <typename type>
TPRT_INLINE float drop_weight(const attention_args &args, float weight, int64_t row_at,
                              int32_t column) {
  int64_t at = row_at + column * args.column.stride[ATTENTION_DROPOUT];
  float scaled = weight * args.dropout_scale;
  switch (args.dropout_kind) {
  case ATTENTION_KEEP_WEIGHT:
  case ATTENTION_DROP_WEIGHT:
    return is_kept(args, at) ? scaled : args.zeroes_dropped ? 0 : weight * 0;
  case ATTENTION_MULTIPLY:
    return scaled * type::widen(((const typename type::stored *)args.dropout)[at]);
  case ATTENTION_MULTIPLY_F32:
    return scaled * ((const float *)args.dropout)[at];
  default:
    return weight;
  }
}

/* For scores that are scaled as in the program. */
template <typename type>
TPRT_INLINE float mask_score(const attention_args &args, float score, int64_t row_at,
                             int32_t column, int32_t last) {
  return mask_score<type>(args, score, args.hidden, row_at, column, last,
                          [](float x, float number) { return x + number; });
}

/* Elements of tensor x before a row, found without the block's bases: these need not stay in
 * registers until the end. */
TPRT_INLINE int64_t find_row_offset(const attention_args &args, const block_place &p, int64_t row,
                                    int x) {
  int64_t at = row_offset(args, row, x);
  uint32_t outer = p.outer;
  _Pragma("unroll 1") for (int i = ATTENTION_OUTER; i > 0; i--) {
    at += outer % (uint32_t)args.outer[i - 1].size * args.outer[i - 1].stride[x];
    outer /= (uint32_t)args.outer[i - 1].size;
  }
  return at;
}

/* Writes the statistics of a row. */
TPRT_INLINE void store_statistics(const attention_args &args, const block_place &p, int64_t row,
                                  float largest, float sum) {
  if (!args.max)
    return;
  args.max[find_row_offset(args, p, row, ATTENTION_MAX)] = largest;
  args.sum[find_row_offset(args, p, row, ATTENTION_SUM)] = sum;
}

/* ---- parts of rows ---- */

/* The values of part `part` of a row, and its other numbers, of n_parts parts of n_rows rows. */
TPRT_INLINE float *partial_values(const attention_args &args, int64_t part, int64_t row,
                                  int64_t n_rows) {
  return args.partial + (part * n_rows + row) * args.value.size;
}
TPRT_INLINE float *partial_numbers(const attention_args &args, int64_t part, int64_t n_parts,
                                   int64_t row, int64_t n_rows) {
  return args.partial + n_parts * n_rows * args.value.size +
         (part * n_rows + row) * ATTENTION_PARTIAL;
}

/* Rows of all iterations of the outer loops. */
TPRT_INLINE int64_t count_rows(const attention_args &args) {
  int64_t n = args.group.size * args.row.size;
  for (int i = 0; i < ATTENTION_OUTER; i++)
    n *= args.outer[i].size;
  return n;
}

TPRT_INLINE void store_numbers(const attention_args &args, const block_place &p, int64_t row,
                               float largest, float sum, bool keeps) {
  float *to = partial_numbers(args, blockIdx.y, gridDim.y, number_of_row(p, row), count_rows(args));
  to[0] = largest;
  to[1] = sum;
  to[2] = keeps;
}

/* The number from which the exponentials of a row count. -infinity: the row has no score yet, and
 * exponentials are 0. */
TPRT_INLINE float finite_largest(float largest) { return largest == -INFINITY ? 0 : largest; }

/* True if a hidden column adds nothing to a row with this largest score: the exponential of the
 * difference is 0 in f32. */
TPRT_INLINE bool outweighs_hidden(const attention_args &args, float largest) {
  return args.hidden == -INFINITY || largest - args.hidden > 110;
}

/* True if a row, with what this thread has of its sum, needs no hidden columns. Where its weights
 * are NaN and dropped ones are 0, it matters whether one of them is kept. */
TPRT_INLINE bool is_complete(const attention_args &args, float largest, float sum) {
  return outweighs_hidden(args, largest) &&
         (!args.zeroes_dropped || (isfinite(largest) && !isnan(sum)));
}

/* What sums are multiplied by when the largest score changes. It is 1 where both are infinite. */
template <typename exp_fn> TPRT_INLINE float rescaling(float before, float from, exp_fn exp_of) {
  return before == from ? 1 : exp_of(before - from);
}

/* True for all threads if it is for all of them. */
TPRT_INLINE bool all_of_block(bool mine) {
  __shared__ uint32_t of_warp[ATTENTION_THREADS / 32];
  __syncthreads();
  bool all = __all_sync(0xffffffffu, mine);
  if (threadIdx.x % 32 == 0)
    of_warp[threadIdx.x / 32] = all;
  __syncthreads();
  for (int w = 0; w < ATTENTION_THREADS / 32; w++)
    all &= of_warp[w] != 0;
  return all;
}

#endif
