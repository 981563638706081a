/* What both kinds of kernels for the gradient of attention share: the place of a block of columns,
 * statistics of rows, and the gradient of a score (attention_args.h has the formulas). */
#ifndef TPRT_RUNTIME_CUDA_ATTENTION_GRADIENT_H
#define TPRT_RUNTIME_CUDA_ATTENTION_GRADIENT_H

#include "cuda/kernels/attention.cuh"

/* ---- rows ---- */

/* What a row needs to make its weights again: exp(score - from) * by. */
typedef struct row_state {
  float from, by, delta;
  int32_t last;                /* the last column that it sees */
  bool is_row;                 /* weights of others are 0 */
  int64_t mask_at, dropout_at; /* first elements of the row */
} row_state;

/* All but `delta`. */
TPRT_INLINE row_state find_row(const attention_args &args, const block_place &p, int64_t row) {
  row_state s = {.last = last_column(args, p, row), .is_row = row < p.n_rows};
  s.mask_at = p.base[ATTENTION_MASK] + row_offset(args, row, ATTENTION_MASK);
  s.dropout_at = p.base[ATTENTION_DROPOUT] + row_offset(args, row, ATTENTION_DROPOUT);
  if (s.is_row) {
    s.from = finite_largest(args.max[p.base[ATTENTION_MAX] + row_offset(args, row, ATTENTION_MAX)]);
    s.by = 1 / args.sum[p.base[ATTENTION_SUM] + row_offset(args, row, ATTENTION_SUM)];
  }
  return s;
}

/* True if columns that the causal mask hides from the row have weights. Where all its scores are
 * -infinity, weights are NaN. */
TPRT_INLINE bool needs_hidden(const attention_args &args, const row_state &s) {
  return s.is_row && !(outweighs_hidden(args, s.from) && isfinite(s.by));
}

/* The derivative of the soft cap, of a capped score. */
TPRT_INLINE float slope_of_cap(const attention_args &args, float capped) {
  return args.cap == 0 ? 1 : 1 - capped / args.cap * (capped / args.cap);
}

/* The weight of a column, and the gradient of its score without its scale. `product`: the product
 * of query and key; `direct`: the product of gradient and value; `exp_of(x)` is the exponential,
 * `tanh_of(x)` the hyperbolic tangent. */
typedef struct score_gradient {
  float weight, slope;
} score_gradient;

template <typename type, typename exp_fn, typename tanh_fn>
TPRT_INLINE score_gradient differentiate(const attention_args &args, const row_state &s,
                                         int32_t column, float product, float direct, exp_fn exp_of,
                                         tanh_fn tanh_of) {
  if (!s.is_row || column >= args.column.size)
    return {0, 0};
  float capped = cap_score(args, product * args.scale, tanh_of);
  float score = mask_score<type>(args, capped, s.mask_at, column, s.last);
  float weight = exp_of(score - s.from) * s.by;
  bool stops = !args.passes_hidden && is_hidden(args, s.mask_at, column, s.last);
  direct = drop_weight<type>(args, direct, s.dropout_at, column);
  return {drop_weight<type>(args, weight, s.dropout_at, column),
          stops ? 0 : weight * (direct - s.delta) * slope_of_cap(args, capped)};
}

/* The same for a column that the row sees, and that neither mask nor dropout changes. */
template <typename exp_fn, typename tanh_fn>
TPRT_INLINE score_gradient differentiate_seen(const attention_args &args, const row_state &s,
                                              float product, float direct, exp_fn exp_of,
                                              tanh_fn tanh_of) {
  float score = cap_score(args, product * args.scale, tanh_of);
  float weight = exp_of(score - s.from) * s.by;
  return {weight, weight * (direct - s.delta) * slope_of_cap(args, score)};
}

/* True if the row sees `n` columns from `first` on, and neither mask nor dropout changes them. */
TPRT_INLINE bool sees_all(const attention_args &args, const row_state &s, int64_t first,
                          int64_t n) {
  return s.is_row && first + n <= args.column.size && first + n - 1 <= s.last &&
         args.mask_kind == ATTENTION_NO_MASK && args.dropout_kind == ATTENTION_NO_DROPOUT;
}

/* ---- columns ---- */

/* Blocks of columns: early ones, which most rows see, start first. */
TPRT_INLINE block_place place_columns(const attention_args &args, int64_t columns) {
  block_place p;
  uint32_t n_blocks = (uint32_t)((args.column.size + columns - 1) / columns),
           n_outer = gridDim.x / n_blocks;
  p.n_rows = args.group.size * args.row.size;
  p.first = (int64_t)(blockIdx.x / n_outer) * columns;
  p.outer = blockIdx.x % n_outer;
  p.shift = args.offset + position_of(args);
  find_bases(args, p.outer, p.base);
  return p;
}

/* ---- results ---- */

template <typename type>
TPRT_INLINE void store_gradient(const attention_args &args, int x, void *to, int64_t at,
                                float value) {
  if (args.wide >> x & 1)
    ((float *)to)[at] = value;
  else
    ((typename type::stored *)to)[at] = type::narrow(value);
}

#endif
