/* Cases of attention, and their results in double precision (attention_cases.h). */
#include "attention_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOWEST (-3.38953139e38f) /* of bf16 */

/* clang-format off */
const attention_case attention_cases[] = {
    /* name, type, batch, heads, group, rows, columns, features, values */
    {"f32", TPRT_F32, 2, 2, 1, 40, 40, 16, 16, .hidden = -INFINITY},
    {"f32 causal", TPRT_F32, 1, 2, 2, 70, 70, 64, 64, .causal = true, .hidden = -INFINITY},
    {"f32 strided, uneven", TPRT_F32, 2, 1, 4, 37, 53, 80, 24, .layout = HEADS_INSIDE, .causal = true, .offset = 16, .hidden = LOWEST},
    {"f32 hidden row", TPRT_F32, 1, 1, 1, 5, 45, 7, 3, .mask = TPRT_ATTENTION_KEEP, .mask_dtype = TPRT_BOOL, .hidden = -INFINITY, .hides_a_row = true},
    {"f32 hidden row, finite", TPRT_F32, 1, 1, 1, 5, 45, 7, 3, .mask = TPRT_ATTENTION_HIDE, .mask_dtype = TPRT_BOOL, .hidden = LOWEST, .hides_a_row = true},
    {"f32 added", TPRT_F32, 2, 2, 1, 33, 65, 128, 128, .mask = TPRT_ATTENTION_ADD, .mask_dtype = TPRT_F32, .hidden = -INFINITY},
    /* rows before the first column see nothing, so hidden scores are all equal */
    {"f32 before the first", TPRT_F32, 1, 1, 1, 40, 70, 8, 8, .causal = true, .offset = -3, .hidden = LOWEST},
    {"f32 nothing seen", TPRT_F32, 1, 1, 1, 40, 70, 8, 8, .causal = true, .offset = -3, .hidden = -INFINITY},
    {"f32 near hidden", TPRT_F32, 1, 1, 1, 40, 100, 8, 8, .causal = true, .hidden = -9},
    {"f16 odd features", TPRT_F16, 1, 2, 1, 20, 50, 72, 40, .layout = HEADS_INSIDE, .causal = true, .hidden = LOWEST, .by_tensor_core = true},
    {"f16 12 features", TPRT_F16, 1, 2, 1, 20, 50, 12, 12, .hidden = LOWEST},
    {"bf16 64", TPRT_BF16, 2, 2, 1, 128, 128, 64, 64, .causal = true, .hidden = LOWEST, .by_tensor_core = true},
    {"bf16 64 uneven", TPRT_BF16, 1, 2, 4, 75, 139, 64, 64, .layout = HEADS_INSIDE, .causal = true, .offset = 64, .hidden = -INFINITY, .by_tensor_core = true},
    {"bf16 80", TPRT_BF16, 1, 1, 8, 50, 70, 80, 80, .causal = true, .offset = 20, .hidden = LOWEST, .by_tensor_core = true},
    {"bf16 96", TPRT_BF16, 1, 2, 1, 65, 65, 96, 88, .layout = HEADS_INSIDE, .hidden = LOWEST, .wide = true, .by_tensor_core = true},
    {"bf16 128", TPRT_BF16, 1, 2, 4, 100, 100, 128, 128, .layout = HEADS_INSIDE, .causal = true, .hidden = LOWEST, .by_tensor_core = true},
    {"f16 128", TPRT_F16, 1, 1, 2, 70, 200, 128, 128, .hidden = -INFINITY, .by_tensor_core = true},
    {"bf16 decode", TPRT_BF16, 2, 2, 8, 1, 200, 64, 64, .layout = HEADS_INSIDE, .causal = true, .position_dtype = TPRT_I32, .position = 130, .hidden = LOWEST, .by_tensor_core = true},
    {"f32 decode", TPRT_F32, 1, 2, 4, 1, 100, 16, 16, .causal = true, .position_dtype = TPRT_I64, .position = 40, .hidden = -INFINITY},
    {"bf16 hidden row", TPRT_BF16, 1, 2, 1, 20, 130, 64, 64, .mask = TPRT_ATTENTION_KEEP, .mask_dtype = TPRT_BOOL, .causal = true, .offset = 100, .hidden = -INFINITY, .hides_a_row = true, .by_tensor_core = true},
    {"bf16 hidden row, finite", TPRT_BF16, 1, 2, 1, 20, 130, 80, 80, .mask = TPRT_ATTENTION_HIDE, .mask_dtype = TPRT_BOOL, .hidden = LOWEST, .hides_a_row = true, .by_tensor_core = true},
    {"bf16 added", TPRT_BF16, 2, 1, 1, 70, 70, 64, 64, .mask = TPRT_ATTENTION_ADD, .mask_dtype = TPRT_BF16, .hidden = -INFINITY, .by_tensor_core = true},
    {"f16 added f32", TPRT_F16, 1, 1, 2, 30, 70, 80, 64, .mask = TPRT_ATTENTION_ADD, .mask_dtype = TPRT_F32, .hidden = -INFINITY, .hides_a_row = true, .by_tensor_core = true},
    {"bf16 near hidden", TPRT_BF16, 1, 1, 1, 70, 150, 64, 64, .causal = true, .hidden = -9, .by_tensor_core = true},
    /* more columns than two tiles of any kernel hold, and more rows than a block */
    {"bf16 many tiles", TPRT_BF16, 1, 1, 1, 200, 650, 64, 64, .causal = true, .offset = 450, .hidden = -INFINITY, .by_tensor_core = true, .large = true},
    {"f16 many tiles", TPRT_F16, 1, 1, 3, 50, 700, 128, 128, .layout = HEADS_INSIDE, .mask = TPRT_ATTENTION_KEEP, .mask_dtype = TPRT_BOOL, .hidden = LOWEST, .hides_a_row = true, .wide = true, .by_tensor_core = true, .large = true},
    {"bf16 104, many tiles", TPRT_BF16, 1, 1, 2, 70, 640, 104, 64, .causal = true, .offset = 600, .hidden = LOWEST, .by_tensor_core = true, .large = true},
    /* hidden columns count: after visible ones, and where rows see nothing; then none do */
    {"f16 near hidden, many tiles", TPRT_F16, 1, 1, 1, 140, 800, 64, 64, .causal = true, .hidden = -9, .by_tensor_core = true, .large = true},
    {"bf16 before the first, many tiles", TPRT_BF16, 1, 1, 1, 260, 660, 64, 64, .causal = true, .offset = -130, .hidden = LOWEST, .by_tensor_core = true, .large = true},
    {"f16 nothing seen", TPRT_F16, 1, 1, 1, 140, 300, 64, 64, .causal = true, .offset = -130, .hidden = -INFINITY, .by_tensor_core = true, .large = true},
    {"bf16 hidden add nothing", TPRT_BF16, 1, 1, 1, 130, 600, 64, 64, .causal = true, .hidden = LOWEST, .by_tensor_core = true, .large = true},
};
/* clang-format on */
const int n_attention_cases = sizeof attention_cases / sizeof *attention_cases;

enum { Q = TPRT_ATTENTION_Q, K, V, MASK, OUT };
enum { HIDDEN_ROW = 1 };

static float scale_of(const attention_case *c) { return 1.5f / sqrtf((float)c->features); }

static int64_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Strides of a tensor with `n` rows of `width` elements, for each head and member of the group. */
static void set_strides(const attention_case *c, tprt_abi_fused_attention *w, int x, int64_t n,
                        int64_t width, int64_t group) {
  bool outside = c->layout == HEADS_OUTSIDE;
  int64_t member = outside ? n * width : width, head = member * group,
          row = outside ? width : head * c->heads;
  w->outer[0].stride[x] = c->heads * group * n * width;
  w->outer[1].stride[x] = head;
  w->group.stride[x] = x == Q || x == OUT ? member : 0;
  (x == Q || x == OUT ? &w->row : &w->column)->stride[x] = row;
  (x == Q || x == K ? &w->feature : &w->value)->stride[x] = 1;
}

tprt_abi_fused_attention attention_words(const attention_case *c) {
  tprt_abi_fused_attention w = {.outer = {{c->batch, {0}}, {c->heads, {0}}, {1, {0}}, {1, {0}}},
                                .group = {c->group, {0}},
                                .row = {c->rows, {0}},
                                .column = {c->columns, {0}},
                                .feature = {c->features, {0}},
                                .value = {c->values, {0}},
                                .scale = bits_of(scale_of(c)),
                                .hidden = bits_of(c->hidden),
                                .mask = c->mask,
                                .mask_dtype = c->mask_dtype,
                                .causal = c->causal,
                                .offset = c->offset,
                                .position_dtype = c->position_dtype,
                                .out_dtype = c->wide ? TPRT_F32 : c->dtype};
  set_strides(c, &w, Q, c->rows, c->features, c->group);
  set_strides(c, &w, K, c->columns, c->features, 1);
  set_strides(c, &w, V, c->columns, c->values, 1);
  set_strides(c, &w, OUT, c->rows, c->values, c->group);
  if (c->mask) {
    w.outer[0].stride[MASK] = c->rows * c->columns;
    w.row.stride[MASK] = c->columns;
    w.column.stride[MASK] = 1;
  }
  return w;
}

/* ---- operands ---- */

static void put(tprt_dtype dtype, void *memory, int64_t i, float value) {
  if (dtype == TPRT_F32)
    ((float *)memory)[i] = value;
  else
    ((uint16_t *)memory)[i] = dtype == TPRT_F16 ? tprt_f32_to_f16(value) : tprt_f32_to_bf16(value);
}

static double get(tprt_dtype dtype, const void *memory, int64_t i) {
  uint16_t half = dtype == TPRT_F32 ? 0 : ((const uint16_t *)memory)[i];
  return (double)(dtype == TPRT_F32   ? ((const float *)memory)[i]
                  : dtype == TPRT_F16 ? tprt_f16_to_f32(half)
                                      : tprt_bf16_to_f32(half));
}

/* From -2 to 2, different for neighbors in any dimension. */
static float number(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / (float)(1 << 22) - 2;
}

static void *make(attention_memory *memory, int x, int64_t n, tprt_dtype dtype) {
  memory->bytes[x] = (size_t)n * tprt_dtype_size(dtype);
  memory->of[x] = aligned_alloc(64, (memory->bytes[x] + 63) / 64 * 64);
  if (!memory->of[x])
    abort();
  return memory->of[x];
}

static void fill_mask(const attention_case *c, attention_memory *memory, uint32_t *state) {
  int64_t n = c->batch * c->rows * c->columns;
  void *mask = make(memory, MASK, n, c->mask_dtype);
  for (int64_t i = 0; i < n; i++) {
    bool hides = number(state) < -0.5f;
    if (c->hides_a_row && i / c->columns % c->rows == HIDDEN_ROW)
      hides = true;
    if (c->mask_dtype == TPRT_BOOL)
      ((uint8_t *)mask)[i] = hides == (c->mask == TPRT_ATTENTION_HIDE);
    else
      put(c->mask_dtype, mask, i, hides && c->hides_a_row ? -INFINITY : number(state));
  }
}

void attention_fill(const attention_case *c, attention_memory *memory) {
  uint32_t state = 12345;
  const int64_t n[] = {[Q] = c->batch * c->heads * c->group * c->rows * c->features,
                       [K] = c->batch * c->heads * c->columns * c->features,
                       [V] = c->batch * c->heads * c->columns * c->values};
  *memory = (attention_memory){.position = c->position};
  for (int x = Q; x <= V; x++) {
    void *made = make(memory, x, n[x], c->dtype);
    for (int64_t i = 0; i < n[x]; i++)
      put(c->dtype, made, i, number(&state));
  }
  if (c->mask)
    fill_mask(c, memory, &state);
  make(memory, OUT, c->batch * c->heads * c->group * c->rows * c->values,
       c->wide ? TPRT_F32 : c->dtype);
  memset(memory->of[OUT], 0xff, memory->bytes[OUT]);
}

void attention_free(attention_memory *memory) {
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    free(memory->of[x]);
}

/* ---- the result in f64 ---- */

typedef struct row_place {
  int64_t b, h, g, r;
} row_place;

/* First element of a row of a tensor. */
static int64_t start(const tprt_abi_fused_attention *w, int x, row_place p, int64_t column) {
  return p.b * w->outer[0].stride[x] + p.h * w->outer[1].stride[x] + p.g * w->group.stride[x] +
         p.r * w->row.stride[x] + column * w->column.stride[x];
}

static double score(const attention_case *c, const tprt_abi_fused_attention *w,
                    const attention_memory *m, row_place p, int64_t column) {
  double sum = 0;
  for (int64_t f = 0; f < c->features; f++)
    sum += get(c->dtype, m->of[Q], start(w, Q, p, 0) + f) *
           get(c->dtype, m->of[K], start(w, K, p, column) + f);
  sum *= (double)scale_of(c);
  bool hides = c->causal && column > p.r + c->offset + c->position;
  int64_t at = start(w, MASK, p, column);
  if (c->mask == TPRT_ATTENTION_ADD)
    sum += get(c->mask_dtype, m->of[MASK], at);
  else if (c->mask)
    hides |= (((const uint8_t *)m->of[MASK])[at] != 0) == (c->mask == TPRT_ATTENTION_HIDE);
  return hides ? (double)c->hidden : sum;
}

int attention_errors(const attention_case *c, const attention_memory *m, const char *what) {
  const tprt_abi_fused_attention w = attention_words(c);
  /* half of the last place of the result, and of a weight */
  double half_ulp = c->dtype == TPRT_F32 ? 0 : c->dtype == TPRT_F16 ? 0x1p-11 : 0x1p-8;
  double *weights = malloc((size_t)c->columns * sizeof *weights);
  int errors = 0;
  if (!weights)
    abort();
  for (int64_t i = 0; i < c->batch * c->heads * c->group * c->rows; i++) {
    row_place p = {i / c->rows / c->group / c->heads, i / c->rows / c->group % c->heads,
                   i / c->rows % c->group, i % c->rows};
    double largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < c->columns; j++)
      largest = fmax(largest, weights[j] = score(c, &w, m, p, j));
    for (int64_t j = 0; j < c->columns; j++)
      sum += weights[j] = exp(weights[j] - largest);
    for (int64_t f = 0; f < c->values; f++) {
      double wanted = 0, size = 0;
      for (int64_t j = 0; j < c->columns; j++) {
        double term = weights[j] / sum * get(c->dtype, m->of[V], start(&w, V, p, j) + f);
        wanted += term;
        size += fabs(term);
      }
      double got = get(c->wide ? TPRT_F32 : c->dtype, m->of[OUT], start(&w, OUT, p, 0) + f);
      double most = half_ulp * (size + (c->wide ? 0 : fabs(wanted))) + 5e-6 * size;
      bool same = isnan(wanted) ? isnan(got) : fabs(got - wanted) <= most;
      if (!same && errors++ == 0 && what)
        fprintf(stderr,
                "wrong: %s, %s, batch %lld, head %lld, member %lld, row %lld, feature %lld: %g, "
                "expected %g +- %g\n",
                what, c->name, (long long)p.b, (long long)p.h, (long long)p.g, (long long)p.r,
                (long long)f, got, wanted, most);
    }
  }
  free(weights);
  return errors;
}
