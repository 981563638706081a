/* Decides which attentions of programs are attentions of cuDNN. */
#include "cuda/cudnn/sdpa.h"

#include "base/float_bits.h"

#include <math.h>
#include <string.h>

enum { VECTOR = 8 /* 16-bit elements of 16 bytes */, MOST_OFFSET = INT32_MAX };

/* Hidden scores below this are like -infinity. */
static const float LEAST_SCORE = -1e30f;

/* Our tensor of each of cuDNN's. */
static const int tensor_of[SDPA_N_MEMORY] = {
    [SDPA_Q] = TPRT_ATTENTION_Q,     [SDPA_K] = TPRT_ATTENTION_K,
    [SDPA_V] = TPRT_ATTENTION_V,     [SDPA_OUT] = TPRT_ATTENTION_OUT,
    [SDPA_MAX] = TPRT_ATTENTION_MAX, [SDPA_SUM] = TPRT_ATTENTION_SUM};

static int n_tensors(const tprt__sdpa *sdpa) {
  return sdpa->has_statistics ? SDPA_N_MEMORY : SDPA_MAX;
}

/* A product beyond the range is the largest number, which no stride is. */
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* ---- loops ---- */

/* True if `outer` goes on where `inner` ends, so that both are one loop. */
static bool continues(const tprt_abi_attention_loop *outer, const tprt_abi_attention_loop *inner,
                      int n) {
  bool is_one = true;
  for (int x = 0; x < n; x++)
    is_one &= outer->stride[tensor_of[x]] == times(inner->size, inner->stride[tensor_of[x]]);
  return is_one;
}

/* Turns two loops of a list that are one loop into one. False if there are none. */
static bool merge(tprt_abi_attention_loop *loops, int *n_loops, int n) {
  for (int i = 0; i < *n_loops; i++)
    for (int j = 0; j < *n_loops; j++)
      if (i != j && continues(&loops[i], &loops[j], n)) {
        loops[j].size = times(loops[j].size, loops[i].size);
        memmove(&loops[i], &loops[i + 1], (size_t)(*n_loops - i - 1) * sizeof *loops);
        --*n_loops;
        return true;
      }
  return false;
}

/* The loops of the batch and of the heads of keys; false if there are more. */
static bool find_loops(const tprt_abi_fused_attention *words, int n,
                       tprt_abi_attention_loop found[2]) {
  tprt_abi_attention_loop loops[TPRT_ATTENTION_OUTER];
  int n_loops = 0;
  for (int i = 0; i < TPRT_ATTENTION_OUTER; i++)
    if (words->outer[i].size != 1)
      loops[n_loops++] = words->outer[i];
  while (n_loops > 2 && merge(loops, &n_loops, n))
    continue;
  for (int i = 0; i < 2; i++)
    found[i] = i < n_loops ? loops[i] : (tprt_abi_attention_loop){.size = 1};
  return n_loops <= 2;
}

/* True if the members of the group follow each other as heads do. */
static bool extends(const tprt_abi_attention_loop *heads, const tprt_abi_attention_loop *group,
                    bool has_statistics) {
  static const int of_rows[] = {TPRT_ATTENTION_Q, TPRT_ATTENTION_OUT, TPRT_ATTENTION_MAX,
                                TPRT_ATTENTION_SUM};
  bool fits = true;
  for (int i = 0; i < (has_statistics ? 4 : 2); i++)
    fits &= heads->stride[of_rows[i]] == times(group->size, group->stride[of_rows[i]]);
  return fits;
}

/* ---- strides ---- */

static int64_t size_of(const tprt__sdpa *s, int x, int dimension) {
  bool of_columns = x == SDPA_K || x == SDPA_V;
  return dimension == SDPA_BATCH  ? s->batch
         : dimension == SDPA_HEAD ? s->heads / (of_columns ? s->group : 1)
         : of_columns             ? s->columns
                                  : s->rows;
}

static int64_t width_of(const tprt__sdpa *s, int x) {
  return x == SDPA_Q || x == SDPA_K ? s->features : x == SDPA_V || x == SDPA_OUT ? s->values : 1;
}

/* Dimensions of size 1 have no stride of their own: they get one that no element is beyond. */
static void set_strides(tprt__sdpa *s, int x, const int64_t given[SDPA_N_STRIDES]) {
  int64_t beyond = width_of(s, x);
  for (int d = SDPA_ROW; d >= SDPA_BATCH; d--)
    if (size_of(s, x, d) > 1 && times(given[d], size_of(s, x, d)) > beyond)
      beyond = times(given[d], size_of(s, x, d));
  for (int d = SDPA_ROW; d >= SDPA_BATCH; d--)
    s->stride[x][d] = size_of(s, x, d) > 1 ? given[d] : beyond;
}

/* Operands and results: strides of whole vectors. Statistics: dense. */
static bool has_strides(const tprt__sdpa *s, int x) {
  const int64_t *stride = s->stride[x];
  if (x < SDPA_MAX)
    return stride[SDPA_BATCH] > 0 && stride[SDPA_HEAD] > 0 && stride[SDPA_ROW] > 0 &&
           (stride[SDPA_BATCH] | stride[SDPA_HEAD] | stride[SDPA_ROW]) % VECTOR == 0;
  return (s->rows == 1 || stride[SDPA_ROW] == 1) &&
         (s->heads == 1 || stride[SDPA_HEAD] == s->rows) &&
         (s->batch == 1 || stride[SDPA_BATCH] == s->heads * s->rows);
}

/* ---- what cuDNN has ---- */

static bool has_numbers(tprt_dtype dtype, const tprt_abi_fused_attention *w) {
  float scale = float_of((uint32_t)w->scale), hidden = float_of((uint32_t)w->hidden);
  return (dtype == TPRT_F16 || dtype == TPRT_BF16) && w->out_dtype == (int64_t)dtype && scale > 0 &&
         (!w->causal || (hidden <= LEAST_SCORE && w->offset >= 0));
}

static bool has_extras(const tprt_abi_fused_attention *w) {
  return w->mask || w->dropout || w->cap || w->position_dtype;
}

static bool has_features(const tprt_abi_attention_loop *loop, int x, int y) {
  return loop->size % VECTOR == 0 && loop->stride[x] == 1 && loop->stride[y] == 1;
}

static bool has_sizes(const tprt__sdpa *s) {
  return s->batch > 0 && s->heads > 0 && s->rows > 0 && s->batch <= INT32_MAX &&
         s->heads <= INT32_MAX && s->rows <= INT32_MAX;
}

/* Adds sizes and strides, with a loop of batches and one of heads. Members of the group have to
 * follow each other as heads do. */
static bool place_loops(const tprt_abi_fused_attention *w, const tprt_abi_attention_loop *batch,
                        const tprt_abi_attention_loop *heads, tprt__sdpa *s) {
  if (w->group.size > 1 && heads->size > 1 && !extends(heads, &w->group, s->has_statistics))
    return false;
  s->batch = batch->size;
  s->heads = times(heads->size, s->group);
  bool fits = has_sizes(s);
  for (int x = 0; x < n_tensors(s) && fits; x++) {
    int t = tensor_of[x];
    bool of_columns = x == SDPA_K || x == SDPA_V;
    const int64_t given[] = {batch->stride[t],
                             of_columns || s->group == 1 ? heads->stride[t] : w->group.stride[t],
                             of_columns ? w->column.stride[t] : w->row.stride[t]};
    set_strides(s, x, given);
    fits = has_strides(s, x);
  }
  return fits;
}

bool tprt__sdpa_of(tprt_dtype dtype, const tprt_abi_fused_attention *w, bool has_statistics,
                   tprt__sdpa *sdpa) {
  tprt_abi_attention_loop loops[2];
  tprt__sdpa s = {.dtype = dtype,
                  .group = w->group.size,
                  .rows = w->row.size,
                  .columns = w->column.size,
                  .features = w->feature.size,
                  .values = w->value.size,
                  .scale = float_of((uint32_t)w->scale),
                  .causal = w->causal && w->offset < w->column.size - 1,
                  .offset = w->offset,
                  .has_statistics = has_statistics};
  bool fits =
      has_numbers(dtype, w) && !has_extras(w) &&
      has_features(&w->feature, TPRT_ATTENTION_Q, TPRT_ATTENTION_K) &&
      has_features(&w->value, TPRT_ATTENTION_V, TPRT_ATTENTION_OUT) &&
      find_loops(w, n_tensors(&s), loops) &&
      (place_loops(w, &loops[0], &loops[1], &s) || place_loops(w, &loops[1], &loops[0], &s));
  if (fits)
    *sdpa = s;
  return fits;
}
