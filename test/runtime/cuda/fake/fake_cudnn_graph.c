/* The graphs of the fake cuDNN: which ones have a kernel, and what they compute. */
#include "fake_cudnn.h"

#include "cuda/cudnn/cudnn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what has a kernel: the pattern of attention ---- */

static bool is_16_bit(int type) { return type == DNN_F16 || type == DNN_BF16; }

static int count(const fake_graph *g, int descriptor, int mode) {
  int n = 0;
  for (int i = 0; i < g->n_operations; i++)
    n += g->operations[i].descriptor == descriptor &&
         (descriptor == DNN_MATMUL_OPERATION || g->operations[i].mode == mode);
  return n;
}

static const fake_tensor *tensor(const fake_graph *g, int i) { return &g->tensors[i]; }

/* Max and sum of rows are stored, both, or their logarithm is computed. */
static bool has_statistics(const fake_graph *g) {
  int n_stored = 0;
  for (int i = 0; i < g->n_operations; i++)
    n_stored += g->operations[i].descriptor == DNN_REDUCTION_OPERATION &&
                !tensor(g, g->operations[i].y)->is_virtual;
  return n_stored == 2 || (n_stored == 0 && count(g, DNN_POINTWISE_OPERATION, DNN_LOG) == 1);
}

const char *fake_graph_refusal(const fake_graph *g) {
  const fake_operation *first = &g->operations[0], *last = &g->operations[g->n_operations - 1];
  if (count(g, DNN_MATMUL_OPERATION, 0) != 2 || first->descriptor != DNN_MATMUL_OPERATION ||
      last->descriptor != DNN_MATMUL_OPERATION)
    return "an attention begins and ends with a matmul";
  const fake_tensor *q = tensor(g, first->x), *k = tensor(g, first->b), *v = tensor(g, last->b),
                    *out = tensor(g, last->y), *weights = tensor(g, last->x);
  if (count(g, DNN_REDUCTION_OPERATION, DNN_REDUCE_MAX) != 1 ||
      count(g, DNN_REDUCTION_OPERATION, DNN_REDUCE_ADD) != 1 ||
      count(g, DNN_POINTWISE_OPERATION, DNN_EXP) != 1 ||
      count(g, DNN_POINTWISE_OPERATION, DNN_DIVIDE) != 1 || !has_statistics(g))
    return "there is no softmax";
  if (!is_16_bit(q->type) || k->type != q->type || v->type != q->type || out->type != q->type ||
      weights->type != q->type)
    return "operands, weights and results are of one 16-bit type";
  if (q->size[3] % 8 || v->size[3] % 8 || q->size[3] > 256 || v->size[3] > 256)
    return "features are multiples of 8";
  if (q->stride[3] != 1 || k->stride[2] != 1 || v->stride[3] != 1 || out->stride[3] != 1)
    return "features are contiguous";
  return q->size[1] % k->size[1] || k->size[1] != v->size[1] ? "heads are in groups" : NULL;
}

/* ---- computing ---- */

typedef struct values {
  double *of[FAKE_MOST_TENSORS]; /* of virtual tensors */
} values;

static int64_t index_in(const fake_tensor *t, const int64_t at[FAKE_DIMENSIONS]) {
  int64_t index = 0;
  for (int d = 0; d < FAKE_DIMENSIONS; d++)
    index += (t->size[d] == 1 ? 0 : at[d]) * t->stride[d];
  return index;
}

static double rounded(int type, double x) {
  return type == DNN_F16    ? (double)tprt_f16_to_f32(tprt_f32_to_f16((float)x))
         : type == DNN_BF16 ? (double)tprt_bf16_to_f32(tprt_f32_to_bf16((float)x))
                            : x;
}

static double load(const fake_run *run, const values *v, int i, const int64_t *at) {
  const fake_tensor *t = &run->graph.tensors[i];
  int64_t index = index_in(t, at);
  if (t->is_virtual)
    return v->of[i][index];
  const unsigned char *from = t->is_value ? run->value[i] : run->at[i];
  if (t->type == DNN_F32 || t->type == DNN_I32) {
    union {
      float real;
      int32_t integer;
    } read;
    memcpy(&read, from + 4 * index, sizeof read);
    return t->type == DNN_I32 ? (double)read.integer : (double)read.real;
  }
  uint16_t bits;
  memcpy(&bits, from + 2 * index, sizeof bits);
  return (double)(t->type == DNN_F16 ? tprt_f16_to_f32(bits) : tprt_bf16_to_f32(bits));
}

static void store(const fake_run *run, const values *v, int i, const int64_t *at, double x) {
  const fake_tensor *t = &run->graph.tensors[i];
  int64_t index = index_in(t, at);
  if (t->is_virtual)
    v->of[i][index] = rounded(t->type, x);
  else if (t->type == DNN_F32)
    ((float *)run->at[i])[index] = (float)x;
  else
    ((uint16_t *)run->at[i])[index] =
        t->type == DNN_F16 ? tprt_f32_to_f16((float)x) : tprt_f32_to_bf16((float)x);
}

/* Advances an index through all elements; false at the end. */
static bool next(const fake_tensor *t, int64_t at[FAKE_DIMENSIONS]) {
  for (int d = FAKE_DIMENSIONS - 1; d >= 0; d--) {
    if (++at[d] < t->size[d])
      return true;
    at[d] = 0;
  }
  return false;
}

/* Returns a matrix of a tensor, in f64. The caller frees it. */
static double *matrix(const fake_run *run, const values *v, int i, int64_t outer, int64_t head,
                      int64_t rows, int64_t columns) {
  double *made = calloc((size_t)(rows * columns), sizeof *made);
  if (!made)
    abort();
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++)
      made[r * columns + c] = load(run, v, i, (int64_t[]){outer, head, r, c});
  return made;
}

static void multiply(const fake_run *run, const values *v, const fake_operation *o, int64_t outer,
                     int64_t head) {
  const fake_tensor *a = tensor(&run->graph, o->x), *b = tensor(&run->graph, o->b),
                    *y = tensor(&run->graph, o->y);
  int64_t rows = y->size[2], columns = y->size[3], depth = a->size[3];
  double *left = matrix(run, v, o->x, outer, head, rows, depth),
         *right = matrix(run, v, o->b, outer, head / (a->size[1] / b->size[1]), depth, columns),
         *sum = calloc((size_t)columns, sizeof *sum);
  if (!sum)
    abort();
  for (int64_t r = 0; r < rows; r++) {
    memset(sum, 0, (size_t)columns * sizeof *sum);
    for (int64_t k = 0; k < depth; k++)
      for (int64_t c = 0; c < columns; c++)
        sum[c] += left[r * depth + k] * right[k * columns + c];
    for (int64_t c = 0; c < columns; c++)
      store(run, v, o->y, (int64_t[]){outer, head, r, c}, sum[c]);
  }
  free(left);
  free(right);
  free(sum);
}

/* Of a row; a NaN remains one. */
static double reduced(const fake_run *run, const values *v, const fake_operation *o,
                      const int64_t at[FAKE_DIMENSIONS]) {
  double total = o->mode == DNN_REDUCE_MAX ? -INFINITY : 0;
  for (int64_t c = 0; c < tensor(&run->graph, o->x)->size[3]; c++) {
    double x = load(run, v, o->x, (int64_t[]){at[0], at[1], at[2], c});
    total = o->mode == DNN_REDUCE_ADD ? total + x : isnan(x) || x > total ? x : total;
  }
  return total;
}

static double applied(const fake_run *run, const values *v, const fake_operation *o,
                      const int64_t at[FAKE_DIMENSIONS]) {
  double x = load(run, v, o->x, at), b = o->b < 0 ? 0 : load(run, v, o->b, at);
  switch (o->mode) {
  case DNN_ADD:
    return x + b;
  case DNN_SUBTRACT:
    return x - b;
  case DNN_MULTIPLY:
    return x * b;
  case DNN_DIVIDE:
    return x / b;
  case DNN_EXP:
    return exp(x);
  case DNN_LOG:
    return log(x);
  case DNN_INDEX:
    return (double)at[o->axis];
  case DNN_GREATER_EQUAL:
    return x >= b;
  default: /* a selection */
    return load(run, v, o->t, at) != 0 ? x : b;
  }
}

static void compute(const fake_run *run, const values *v, const fake_operation *o) {
  const fake_tensor *y = tensor(&run->graph, o->y);
  int64_t at[FAKE_DIMENSIONS] = {0};
  if (o->descriptor == DNN_MATMUL_OPERATION) {
    for (int64_t i = 0; i < y->size[0] * y->size[1]; i++)
      multiply(run, v, o, i / y->size[1], i % y->size[1]);
    return;
  }
  do
    store(run, v, o->y, at,
          o->descriptor == DNN_REDUCTION_OPERATION ? reduced(run, v, o, at)
                                                   : applied(run, v, o, at));
  while (next(y, at));
}

void fake_graph_compute(const fake_run *run) {
  const fake_graph *g = &run->graph;
  values v = {{NULL}};
  for (int i = 0; i < g->n_tensors; i++) {
    const int64_t *size = g->tensors[i].size;
    if (!g->tensors[i].is_virtual)
      continue;
    v.of[i] = calloc((size_t)(size[0] * size[1] * size[2] * size[3]), sizeof(double));
    if (!v.of[i])
      abort();
  }
  for (int i = 0; i < g->n_operations; i++)
    compute(run, &v, &g->operations[i]);
  for (int i = 0; i < g->n_tensors; i++)
    free(v.of[i]);
}
