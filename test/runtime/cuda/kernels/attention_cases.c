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
    {"f32 hidden row, finite", TPRT_F32, 1, 1, 1, 5, 45, 7, 3, .passes_hidden = true, .mask = TPRT_ATTENTION_HIDE, .mask_dtype = TPRT_BOOL, .hidden = LOWEST, .hides_a_row = true},
    {"f32 added", TPRT_F32, 2, 2, 1, 33, 65, 128, 128, .mask = TPRT_ATTENTION_ADD, .mask_dtype = TPRT_F32, .hidden = -INFINITY},
    /* rows before the first column see nothing, so hidden scores are all equal */
    {"f32 before the first", TPRT_F32, 1, 1, 1, 40, 70, 8, 8, .causal = true, .offset = -3, .hidden = LOWEST},
    {"f32 nothing seen", TPRT_F32, 1, 1, 1, 40, 70, 8, 8, .causal = true, .offset = -3, .hidden = -INFINITY},
    {"f32 nothing seen, zero", TPRT_F32, 1, 1, 1, 40, 70, 8, 8, .zeroes_hidden = true, .causal = true, .offset = -3, .hidden = -INFINITY},
    {"f32 cap", TPRT_F32, 1, 2, 2, 37, 53, 24, 16, .cap = 1.5f, .causal = true, .offset = 16, .hidden = LOWEST},
    {"bf16 cap", TPRT_BF16, 1, 2, 1, 70, 150, 64, 64, .cap = 1.5f, .causal = true, .offset = 80, .hidden = -INFINITY, .by_tensor_core = true},
    {"f16 cap, added", TPRT_F16, 1, 1, 2, 40, 70, 80, 80, .cap = 2, .mask = TPRT_ATTENTION_ADD, .mask_dtype = TPRT_F32, .hidden = -INFINITY, .by_tensor_core = true},
    {"bf16 hidden row, zero", TPRT_BF16, 1, 2, 1, 20, 130, 64, 64, .zeroes_hidden = true, .mask = TPRT_ATTENTION_KEEP, .mask_dtype = TPRT_BOOL, .hidden = -INFINITY, .hides_a_row = true, .by_tensor_core = true},
    {"f32 dropout", TPRT_F32, 2, 2, 2, 37, 53, 24, 16, .layout = HEADS_INSIDE, .dropout = TPRT_ATTENTION_KEEP_WEIGHT, .dropout_dtype = TPRT_BOOL, .causal = true, .offset = 16, .hidden = LOWEST},
    /* a row sees nothing, and keeps nothing: it is 0 if dropped weights are; other rows that see nothing are NaN */
    {"f32 nothing kept", TPRT_F32, 1, 2, 1, 40, 70, 8, 8, .dropout = TPRT_ATTENTION_KEEP_WEIGHT, .dropout_dtype = TPRT_BOOL, .drops_a_row = true, .zeroes_dropped = true, .causal = true, .offset = -3, .hidden = -INFINITY},
    {"f32 nothing kept, multiplied", TPRT_F32, 1, 2, 1, 40, 70, 8, 8, .dropout = TPRT_ATTENTION_KEEP_WEIGHT, .dropout_dtype = TPRT_BOOL, .drops_a_row = true, .causal = true, .offset = -3, .hidden = -INFINITY},
    {"bf16 nothing kept", TPRT_BF16, 1, 2, 1, 140, 200, 64, 64, .dropout = TPRT_ATTENTION_DROP_WEIGHT, .dropout_dtype = TPRT_BOOL, .drops_a_row = true, .zeroes_dropped = true, .causal = true, .offset = -3, .hidden = -INFINITY, .by_tensor_core = true},
    {"f32 hidden row, dropout", TPRT_F32, 1, 2, 1, 5, 45, 7, 3, .passes_hidden = true, .dropout = TPRT_ATTENTION_MULTIPLY, .dropout_dtype = TPRT_F32, .mask = TPRT_ATTENTION_HIDE, .mask_dtype = TPRT_BOOL, .hidden = LOWEST, .hides_a_row = true},
    {"bf16 dropout", TPRT_BF16, 1, 2, 4, 75, 139, 64, 64, .dropout = TPRT_ATTENTION_DROP_WEIGHT, .dropout_dtype = TPRT_BOOL, .causal = true, .offset = 64, .hidden = -INFINITY, .by_tensor_core = true},
    {"f16 dropout, mask", TPRT_F16, 2, 1, 2, 70, 100, 80, 80, .layout = HEADS_INSIDE, .dropout = TPRT_ATTENTION_MULTIPLY, .dropout_dtype = TPRT_F16, .mask = TPRT_ATTENTION_KEEP, .mask_dtype = TPRT_BOOL, .cap = 2, .hidden = LOWEST, .by_tensor_core = true},
    {"bf16 dropout, 128", TPRT_BF16, 1, 2, 1, 70, 70, 128, 120, .dropout = TPRT_ATTENTION_MULTIPLY, .dropout_dtype = TPRT_F32, .mask = TPRT_ATTENTION_ADD, .mask_dtype = TPRT_F32, .hidden = -INFINITY, .wide = true, .by_tensor_core = true},
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
    /* blocks share the columns of a row */
    {"bf16 long decode", TPRT_BF16, 1, 2, 8, 1, 1100, 64, 64, .layout = HEADS_INSIDE, .causal = true, .position_dtype = TPRT_I32, .position = 900, .hidden = LOWEST, .by_tensor_core = true},
    {"f32 long decode", TPRT_F32, 1, 2, 4, 1, 600, 16, 16, .causal = true, .position_dtype = TPRT_I64, .position = 70, .hidden = -INFINITY},
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
    {"f16 near hidden, many tiles", TPRT_F16, 1, 1, 1, 140, 800, 64, 64, .passes_hidden = true, .causal = true, .hidden = -9, .by_tensor_core = true, .large = true},
    {"bf16 before the first, many tiles", TPRT_BF16, 1, 1, 1, 260, 660, 64, 64, .passes_hidden = true, .causal = true, .offset = -130, .hidden = LOWEST, .by_tensor_core = true, .large = true},
    {"f16 nothing seen", TPRT_F16, 1, 1, 1, 140, 300, 64, 64, .causal = true, .offset = -130, .hidden = -INFINITY, .by_tensor_core = true, .large = true},
    {"bf16 hidden add nothing", TPRT_BF16, 1, 1, 1, 130, 600, 64, 64, .causal = true, .hidden = LOWEST, .by_tensor_core = true, .large = true},
};
/* clang-format on */
const int n_attention_cases = sizeof attention_cases / sizeof *attention_cases;

enum {
  Q = TPRT_ATTENTION_Q,
  K,
  V,
  MASK,
  DROPOUT,
  OUT,
  MAX,
  SUM,
  GRADIENT,
  GRADIENT_Q,
  GRADIENT_K,
  GRADIENT_V
};
enum { HIDDEN_ROW = 1 };

static float scale_of(const attention_case *c) { return 1.5f / sqrtf((float)c->features); }

static float dropout_scale_of(const attention_case *c) { return c->dropout ? 1.25f : 0; }

static int64_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* What a tensor is indexed by: rows of queries or columns, features of queries or values. */
static const struct {
  bool rows, columns, features, values;
  bool other_layout; /* heads are where the case's layout does not have them */
} indexed[TPRT_ATTENTION_TENSORS] = {
    [Q] = {.rows = true, .features = true},
    [K] = {.columns = true, .features = true},
    [V] = {.columns = true, .values = true},
    [OUT] = {.rows = true, .values = true},
    [MAX] = {.rows = true, .other_layout = true},
    [SUM] = {.rows = true},
    [GRADIENT] = {.rows = true, .values = true, .other_layout = true},
    [GRADIENT_Q] = {.rows = true, .features = true, .other_layout = true},
    [GRADIENT_K] = {.columns = true, .features = true, .other_layout = true},
    [GRADIENT_V] = {.columns = true, .values = true},
};

static int64_t width_of(const attention_case *c, int x) {
  return indexed[x].features ? c->features : indexed[x].values ? c->values : 1;
}

static int64_t elements_of(const attention_case *c, int x) {
  return c->batch * c->heads * width_of(c, x) * (indexed[x].rows ? c->group * c->rows : c->columns);
}

/* Strides of a tensor with rows of queries for each member of the group, or with columns. */
static void set_strides(const attention_case *c, tprt_abi_fused_attention *w, int x) {
  bool is_dense = c->dense_statistics && (x == MAX || x == SUM);
  bool outside = is_dense || (c->layout == HEADS_OUTSIDE) != indexed[x].other_layout,
       is_row = indexed[x].rows;
  int64_t n = is_row ? c->rows : c->columns, group = is_row ? c->group : 1, width = width_of(c, x);
  int64_t member = outside ? n * width : width, head = member * group,
          row = outside ? width : head * c->heads;
  w->outer[0].stride[x] = c->heads * group * n * width;
  w->outer[1].stride[x] = head;
  w->group.stride[x] = is_row ? member : 0;
  (is_row ? &w->row : &w->column)->stride[x] = row;
  w->feature.stride[x] = indexed[x].features;
  w->value.stride[x] = indexed[x].values;
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
                                .cap = bits_of(c->cap),
                                .zeroes_hidden = c->zeroes_hidden,
                                .mask = c->mask,
                                .mask_dtype = c->mask_dtype,
                                .dropout = c->dropout,
                                .dropout_dtype = c->dropout_dtype,
                                .zeroes_dropped = c->zeroes_dropped,
                                .dropout_scale = bits_of(dropout_scale_of(c)),
                                .causal = c->causal,
                                .offset = c->offset,
                                .position_dtype = c->position_dtype,
                                .out_dtype = c->wide ? TPRT_F32 : c->dtype};
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    if (x != MASK && x != DROPOUT)
      set_strides(c, &w, x);
  if (c->mask) {
    w.outer[0].stride[MASK] = c->rows * c->columns;
    w.row.stride[MASK] = c->columns;
    w.column.stride[MASK] = 1;
  }
  if (c->dropout) {
    w.outer[0].stride[DROPOUT] = c->heads * c->group * c->rows * c->columns;
    w.outer[1].stride[DROPOUT] = c->group * c->rows * c->columns;
    w.group.stride[DROPOUT] = c->rows * c->columns;
    w.row.stride[DROPOUT] = c->columns;
    w.column.stride[DROPOUT] = 1;
  }
  return w;
}

static tprt_dtype dtype_of(const attention_case *c, int x) {
  bool is_wide =
      x == MAX || x == SUM || (c->wide && (x == OUT || x == GRADIENT_Q || x == GRADIENT_V));
  return is_wide ? TPRT_F32 : c->dtype;
}

tprt_abi_fused_attention attention_gradient_words(const attention_case *c) {
  tprt_abi_fused_attention w = attention_words(c);
  for (int x = GRADIENT_Q; x <= GRADIENT_V; x++)
    w.gradient_dtypes[x - GRADIENT_Q] = dtype_of(c, x);
  w.passes_hidden = c->passes_hidden;
  w.zeroes_hidden = 0;
  return w;
}

tprt_operand attention_role(int x, bool is_gradient) {
  static const tprt_operand roles[][2] = {[Q] = {TPRT_IN_QUERIES, TPRT_IN_QUERIES},
                                          [K] = {TPRT_IN_KEYS, TPRT_IN_KEYS},
                                          [V] = {TPRT_IN_VALUES, TPRT_IN_VALUES},
                                          [MASK] = {TPRT_IN_MASK, TPRT_IN_MASK},
                                          [DROPOUT] = {TPRT_IN_DROPOUT, TPRT_IN_DROPOUT},
                                          [OUT] = {TPRT_OUT_TENSOR, TPRT_IN_ATTENDED},
                                          [MAX] = {TPRT_OUT_MAX, TPRT_IN_MAX},
                                          [SUM] = {TPRT_OUT_SUM, TPRT_IN_SUM},
                                          [GRADIENT] = {0, TPRT_IN_GRADIENT},
                                          [GRADIENT_Q] = {0, TPRT_OUT_GRADIENT_QUERIES},
                                          [GRADIENT_K] = {0, TPRT_OUT_GRADIENT_KEYS},
                                          [GRADIENT_V] = {0, TPRT_OUT_GRADIENT_VALUES}};
  return roles[x][is_gradient];
}

void attention_add_role(tprt_abi_operands *operands, int x, bool statistics, bool is_gradient) {
  tprt_operand role = attention_role(x, is_gradient);
  if (!role || (!statistics && (x == MAX || x == SUM)))
    return;
  if (role < TPRT_OUT_TENSOR)
    operands->inputs[operands->n_inputs++] = role;
  else
    operands->outputs[operands->n_outputs++] = role;
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

static void fill_dropout(const attention_case *c, attention_memory *memory, uint32_t *state) {
  int64_t n = c->batch * c->heads * c->group * c->rows * c->columns;
  void *dropout = make(memory, DROPOUT, n, c->dropout_dtype);
  for (int64_t i = 0; i < n; i++) {
    bool drops = number(state) < -1 || (c->drops_a_row && i / c->columns % c->rows == HIDDEN_ROW);
    if (c->dropout_dtype == TPRT_BOOL)
      ((uint8_t *)dropout)[i] = drops == (c->dropout == TPRT_ATTENTION_DROP_WEIGHT);
    else
      put(c->dropout_dtype, dropout, i, drops ? 0 : 1 + number(state) / 8);
  }
}

static bool is_input(int x) { return x <= V || x == GRADIENT; }

static double *allocate(int64_t n) {
  double *made = calloc((size_t)n, sizeof *made);
  if (!made)
    abort();
  return made;
}

static void note_exact(attention_memory *memory, int x, tprt_dtype dtype) {
  int64_t n = (int64_t)(memory->bytes[x] / tprt_dtype_size(dtype));
  memory->exact[x] = allocate(n);
  for (int64_t i = 0; i < n; i++)
    memory->exact[x][i] = get(dtype, memory->of[x], i);
}

void attention_fill(const attention_case *c, attention_memory *memory) {
  uint32_t state = 12345;
  *memory = (attention_memory){.position = c->position};
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++) {
    if (x == MASK || x == DROPOUT)
      continue;
    void *made = make(memory, x, elements_of(c, x), dtype_of(c, x));
    memset(made, 0xff, memory->bytes[x]);
    for (int64_t i = 0; is_input(x) && i < elements_of(c, x); i++)
      put(c->dtype, made, i, number(&state));
    if (is_input(x))
      note_exact(memory, x, c->dtype);
  }
  if (c->mask)
    fill_mask(c, memory, &state);
  if (c->mask == TPRT_ATTENTION_ADD)
    note_exact(memory, MASK, c->mask_dtype);
  if (c->dropout)
    fill_dropout(c, memory, &state);
  if (c->dropout == TPRT_ATTENTION_MULTIPLY)
    note_exact(memory, DROPOUT, c->dropout_dtype);
  memory->workspace_bytes = memory->bytes[SUM];
  memory->workspace = malloc(memory->workspace_bytes);
  if (!memory->workspace)
    abort();
  memset(memory->workspace, 0xff, memory->workspace_bytes);
  memory->partial_bytes = ATTENTION_MOST_PARTS * memory->bytes[SUM] * (size_t)(c->values + 3);
  memory->partial = malloc(memory->partial_bytes);
  if (!memory->partial)
    abort();
  memset(memory->partial, 0xff, memory->partial_bytes);
}

void attention_free(attention_memory *memory) {
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++) {
    free(memory->of[x]);
    free(memory->exact[x]);
  }
  free(memory->workspace);
  free(memory->partial);
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

static bool is_hidden(const attention_case *c, const tprt_abi_fused_attention *w,
                      const attention_memory *m, row_place p, int64_t column) {
  bool by_mask = (c->mask == TPRT_ATTENTION_KEEP || c->mask == TPRT_ATTENTION_HIDE) &&
                 (((const uint8_t *)m->of[MASK])[start(w, MASK, p, column)] != 0) ==
                     (c->mask == TPRT_ATTENTION_HIDE);
  return by_mask || (c->causal && column > p.r + c->offset + c->position);
}

/* Sums products of n numbers; *size: their magnitudes, unless it is NULL. Sums of every eighth one
 * vectorize, since they do not wait for each other. */
static double sum_of_products(const double *a, const double *b, int64_t n, double *size) {
  enum { LANES = 8 };
  double sums[LANES] = {0}, sizes[LANES] = {0}, sum = 0, all_sizes = 0;
  int64_t whole = n / LANES * LANES;
  for (int64_t i = 0; i < whole; i += LANES)
    for (int k = 0; k < LANES; k++)
      sums[k] += a[i + k] * b[i + k];
  for (int64_t i = 0; size && i < whole; i += LANES)
    for (int k = 0; k < LANES; k++)
      sizes[k] += fabs(a[i + k] * b[i + k]);
  for (int64_t i = whole; i < n; i++) {
    sum += a[i] * b[i];
    all_sizes += fabs(a[i] * b[i]);
  }
  for (int k = 0; k < LANES; k++) {
    sum += sums[k];
    all_sizes += sizes[k];
  }
  if (size)
    *size = all_sizes;
  return sum;
}

static double score(const attention_case *c, const tprt_abi_fused_attention *w,
                    const attention_memory *m, row_place p, int64_t column) {
  double sum = (double)scale_of(c) * sum_of_products(m->exact[Q] + start(w, Q, p, 0),
                                                     m->exact[K] + start(w, K, p, column),
                                                     c->features, NULL);
  if (c->cap > 0)
    sum = (double)c->cap * tanh(sum / (double)c->cap);
  if (c->mask == TPRT_ATTENTION_ADD)
    sum += m->exact[MASK][start(w, MASK, p, column)];
  return is_hidden(c, w, m, p, column) ? (double)c->hidden : sum;
}

/* The derivative of the cap. */
static double slope_of_cap(const attention_case *c, const tprt_abi_fused_attention *w,
                           const attention_memory *m, row_place p, int64_t column) {
  attention_case plain = *c;
  plain.mask = TPRT_ATTENTION_NO_MASK;
  plain.causal = false;
  double capped = c->cap > 0 ? score(&plain, w, m, p, column) / (double)c->cap : 0;
  return 1 - capped * capped;
}

/* The weight of a column, or its gradient, behind the dropout. */
static double dropout(const attention_case *c, const tprt_abi_fused_attention *w,
                      const attention_memory *m, row_place p, int64_t column, double weight) {
  int64_t at = start(w, DROPOUT, p, column);
  if (!c->dropout)
    return weight;
  bool keeps =
      c->dropout != TPRT_ATTENTION_MULTIPLY &&
      (((const uint8_t *)m->of[DROPOUT])[at] != 0) == (c->dropout == TPRT_ATTENTION_KEEP_WEIGHT);
  if (c->zeroes_dropped && !keeps)
    return 0;
  return weight * (double)dropout_scale_of(c) *
         (c->dropout == TPRT_ATTENTION_MULTIPLY ? m->exact[DROPOUT][at] : keeps);
}

static row_place place_of(const attention_case *c, int64_t i) {
  return (row_place){i / c->rows / c->group / c->heads, i / c->rows / c->group % c->heads,
                     i / c->rows % c->group, i % c->rows};
}

/* Exponentials of a row, less its largest score, of which it returns the sum. */
static double exponentials(const attention_case *c, const tprt_abi_fused_attention *w,
                           const attention_memory *m, row_place p, double *of, double *largest) {
  double sum = 0;
  *largest = -INFINITY;
  for (int64_t j = 0; j < c->columns; j++)
    *largest = fmax(*largest, of[j] = score(c, w, m, p, j));
  for (int64_t j = 0; j < c->columns; j++)
    sum += of[j] = exp(of[j] - *largest);
  return sum;
}

/* Half of the last place of a result, and of a weight. */
static double half_ulp_of(const attention_case *c) {
  return c->dtype == TPRT_F32 ? 0 : c->dtype == TPRT_F16 ? 0x1p-11 : 0x1p-8;
}

/* Compares element `at` of tensor x. `most`: the error before the result is rounded. */
static int compare(const attention_case *c, const attention_memory *m, int x, int64_t at,
                   double wanted, double most, bool prints, const char *what) {
  static const char *const names[] = {[OUT] = "result",
                                      [MAX] = "max",
                                      [SUM] = "sum",
                                      [GRADIENT_Q] = "gradient of queries",
                                      [GRADIENT_K] = "gradient of keys",
                                      [GRADIENT_V] = "gradient of values"};
  double got = get(dtype_of(c, x), m->of[x], at);
  most += dtype_of(c, x) == TPRT_F32 ? 0 : half_ulp_of(c) * fabs(wanted);
  bool same = isnan(wanted) ? isnan(got) : got == wanted || fabs(got - wanted) <= most;
  if (!same && prints && what)
    fprintf(stderr, "wrong: %s, %s, element %lld of %s: %g, expected %g +- %g\n", what, c->name,
            (long long)at, names[x], got, wanted, most);
  return !same;
}

int attention_errors(const attention_case *c, const attention_memory *m, const char *what) {
  const tprt_abi_fused_attention w = attention_words(c);
  double *weights = allocate(c->columns), *wanted = allocate(c->values),
         *size = allocate(c->values), largest;
  int errors = 0;
  for (int64_t i = 0; i < c->batch * c->heads * c->group * c->rows; i++) {
    row_place p = place_of(c, i);
    double total = exponentials(c, &w, m, p, weights, &largest);
    if (c->zeroes_hidden && largest == -INFINITY) {
      memset(weights, 0, (size_t)c->columns * sizeof *weights);
      total = 1;
    }
    memset(wanted, 0, (size_t)c->values * sizeof *wanted);
    memset(size, 0, (size_t)c->values * sizeof *size);
    for (int64_t j = 0; j < c->columns; j++) {
      const double weight = dropout(c, &w, m, p, j, weights[j] / total),
                   *value = m->exact[V] + start(&w, V, p, j);
      for (int64_t f = 0; f < c->values; f++) {
        wanted[f] += weight * value[f];
        size[f] += fabs(weight * value[f]);
      }
    }
    for (int64_t f = 0; f < c->values; f++)
      errors += compare(c, m, OUT, start(&w, OUT, p, 0) + f, wanted[f],
                        (half_ulp_of(c) + 5e-6) * size[f], errors == 0, what);
  }
  free(weights);
  free(wanted);
  free(size);
  return errors;
}

int attention_statistics_errors(const attention_case *c, const attention_memory *m,
                                const char *what) {
  const tprt_abi_fused_attention w = attention_words(c);
  double *weights = allocate(c->columns), largest;
  int errors = 0;
  for (int64_t i = 0; i < c->batch * c->heads * c->group * c->rows; i++) {
    row_place p = place_of(c, i);
    double total = exponentials(c, &w, m, p, weights, &largest);
    /* exponentials of nothing but -infinity count for nothing */
    total = largest == -INFINITY ? 0 : total;
    errors += compare(c, m, MAX, start(&w, MAX, p, 0), largest, 1e-5 * (1 + fabs(largest)),
                      errors == 0, what);
    errors += compare(c, m, SUM, start(&w, SUM, p, 0), total, 5e-5 * total, errors == 0, what);
  }
  free(weights);
  return errors;
}

/* ---- the gradients in f64 ---- */

/* A tensor of f64, and bounds of errors before rounding, laid out as a result. */
typedef struct exact {
  double *value, *error;
} exact;

static exact make_exact(const attention_case *c, int x) {
  return (exact){allocate(elements_of(c, x)), allocate(elements_of(c, x))};
}

/* Adds a multiple of n numbers to those from `at` on. */
static void add(exact *to, int64_t at, double factor, double factor_error, const double *by,
                int64_t n) {
  for (int64_t f = 0; f < n; f++) {
    to->value[at + f] += factor * by[f];
    to->error[at + f] += factor_error * fabs(by[f]);
  }
}

/* Adds what a row gives to all gradients, of which `to` begins with that of the queries. Errors are
 * those of weights and of gradients of scores: rounding to the type of the operands, and that of
 * the result, from which the kernels make `delta`. */
static void add_row(const attention_case *c, const tprt_abi_fused_attention *w,
                    const attention_memory *m, row_place p, double *weights, exact to[3]) {
  double largest, total = exponentials(c, w, m, p, weights, &largest), delta = 0, delta_size = 0;
  const double *query = m->exact[Q] + start(w, Q, p, 0),
               *gradient = m->exact[GRADIENT] + start(w, GRADIENT, p, 0);
  double half_ulp = half_ulp_of(c), scale = (double)scale_of(c), *direct = allocate(c->columns),
         *size = allocate(c->columns);
  for (int64_t j = 0; j < c->columns; j++) {
    direct[j] = sum_of_products(gradient, m->exact[V] + start(w, V, p, j), c->values, &size[j]);
    direct[j] = dropout(c, w, m, p, j, direct[j]);
    size[j] = dropout(c, w, m, p, j, size[j]);
    weights[j] /= total;
    delta += weights[j] * direct[j];
    delta_size += weights[j] * size[j];
  }
  for (int64_t j = 0; j < c->columns; j++) {
    double weight = weights[j], slope = weight * (direct[j] - delta) * slope_of_cap(c, w, m, p, j);
    double slope_error = (half_ulp + 2e-5) * fabs(slope) +
                         weight * ((2 * half_ulp + 2e-5) * delta_size + 2e-5 * size[j]);
    if (!c->passes_hidden && is_hidden(c, w, m, p, j))
      slope = slope_error = 0;
    add(&to[0], start(w, GRADIENT_Q, p, 0), scale * slope, scale * slope_error,
        m->exact[K] + start(w, K, p, j), c->features);
    add(&to[1], start(w, GRADIENT_K, p, j), scale * slope, scale * slope_error, query, c->features);
    double kept = dropout(c, w, m, p, j, weight);
    add(&to[2], start(w, GRADIENT_V, p, j), kept, (half_ulp + 2e-5) * kept, gradient, c->values);
  }
  free(direct);
  free(size);
}

int attention_gradient_errors(const attention_case *c, const attention_memory *m, int n,
                              const char *what) {
  const tprt_abi_fused_attention w = attention_words(c);
  double *weights = allocate(c->columns);
  exact all[3];
  int errors = 0;
  for (int i = 0; i < 3; i++)
    all[i] = make_exact(c, GRADIENT_Q + i);
  for (int64_t i = 0; i < c->batch * c->heads * c->group * c->rows; i++)
    add_row(c, &w, m, place_of(c, i), weights, all);
  for (int i = 0; i < 3; i++) {
    for (int64_t at = 0; i < n && at < elements_of(c, GRADIENT_Q + i); at++)
      errors += compare(c, m, GRADIENT_Q + i, at, all[i].value[at], all[i].error[at] + 1e-6,
                        errors == 0, what);
    free(all[i].value);
    free(all[i].error);
  }
  free(weights);
  return errors;
}
