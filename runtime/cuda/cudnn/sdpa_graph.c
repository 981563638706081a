/* The graph of an attention. cuDNN knows attention by its pattern of operations:
 *
 *     scores = scale * (queries x transposed keys)
 *     scores = row + added - subtracted >= column ? scores : hidden        if it is causal
 *     max = the largest score, sum = sum(exp(scores - max))
 *     out = (exp(scores - max) / sum) x values
 *
 * A graph that does not store max and sum has to compute max + log(sum), which it does not store
 * either. */
#include "cuda/cudnn/sdpa.h"

#include <assert.h>

enum { N_DIMENSIONS = 4, MOST_OPERATIONS = 20 };

/* The graph while it is made. */
typedef struct sdpa_making {
  tprt__sdpa_graph *to;
  const tprt__sdpa *of;
  int64_t n_ids;
  cudnn_descriptor operations[MOST_OPERATIONS];
  int n_operations;
} sdpa_making;

/* ---- descriptors ---- */

cudnn_descriptor tprt__sdpa_create(tprt__sdpa_graph *graph, int type) {
  cudnn_descriptor made = NULL;
  if (graph->status)
    return NULL;
  assert(graph->n_parts < SDPA_MOST_DESCRIPTORS);
  graph->status =
      tprt__cudnn_check(graph->cudnn, graph->cudnn->descriptor_create(type, &made), "a descriptor");
  if (!graph->status)
    graph->parts[graph->n_parts++] = made;
  return made;
}

void tprt__sdpa_set(tprt__sdpa_graph *graph, cudnn_descriptor descriptor, int attribute, int type,
                    int64_t n, const void *elements) {
  if (!graph->status)
    graph->status = tprt__cudnn_check(
        graph->cudnn, graph->cudnn->set(descriptor, attribute, type, n, elements), "an attribute");
}

void tprt__sdpa_finalize(tprt__sdpa_graph *graph, cudnn_descriptor descriptor) {
  if (!graph->status)
    graph->status = tprt__cudnn_check(graph->cudnn, graph->cudnn->finalize(descriptor),
                                      "the end of a descriptor");
}

static void set_i64(tprt__sdpa_graph *graph, cudnn_descriptor descriptor, int attribute,
                    int64_t value) {
  tprt__sdpa_set(graph, descriptor, attribute, DNN_OF_I64, 1, &value);
}

/* Sets an attribute whose value is an enum. */
static void set_enum(tprt__sdpa_graph *graph, cudnn_descriptor descriptor, int attribute, int type,
                     int value) {
  tprt__sdpa_set(graph, descriptor, attribute, type, 1, &value);
}

static void set_part(tprt__sdpa_graph *graph, cudnn_descriptor descriptor, int attribute,
                     cudnn_descriptor part) {
  if (part)
    tprt__sdpa_set(graph, descriptor, attribute, DNN_OF_DESCRIPTOR, 1, &part);
}

/* ---- tensors ---- */

typedef enum tensor_place { IN_MEMORY, VIRTUAL, OF_HOST } tensor_place;

static cudnn_descriptor tensor(sdpa_making *m, int64_t id, int type, const int64_t *sizes,
                               const int64_t *strides, tensor_place place) {
  tprt__sdpa_graph *to = m->to;
  cudnn_descriptor made = tprt__sdpa_create(to, DNN_TENSOR);
  bool is_virtual = place == VIRTUAL, is_value = place == OF_HOST;
  set_i64(to, made, DNN_TENSOR_ID, id);
  set_enum(to, made, DNN_TENSOR_TYPE, DNN_OF_DATA_TYPE, type);
  tprt__sdpa_set(to, made, DNN_TENSOR_SIZES, DNN_OF_I64, N_DIMENSIONS, sizes);
  tprt__sdpa_set(to, made, DNN_TENSOR_STRIDES, DNN_OF_I64, N_DIMENSIONS, strides);
  set_i64(to, made, DNN_TENSOR_ALIGNMENT, SDPA_ALIGNMENT);
  tprt__sdpa_set(to, made, DNN_TENSOR_IS_VIRTUAL, DNN_OF_BOOL, 1, &is_virtual);
  tprt__sdpa_set(to, made, DNN_TENSOR_IS_VALUE, DNN_OF_BOOL, 1, &is_value);
  tprt__sdpa_finalize(to, made);
  return made;
}

static int type_of(const tprt__sdpa *sdpa) { return sdpa->dtype == TPRT_F16 ? DNN_F16 : DNN_BF16; }

/* A tensor of rows or of columns, each with `width` features. */
static cudnn_descriptor operand(sdpa_making *m, sdpa_tensor x, int64_t heads, int64_t n,
                                int64_t width) {
  const int64_t *s = m->of->stride[x], sizes[] = {m->of->batch, heads, n, width},
                strides[] = {s[SDPA_BATCH], s[SDPA_HEAD], s[SDPA_ROW], 1};
  return tensor(m, x, type_of(m->of), sizes, strides, IN_MEMORY);
}

static cudnn_descriptor transposed_keys(sdpa_making *m) {
  const tprt__sdpa *of = m->of;
  const int64_t *s = of->stride[SDPA_K],
                sizes[] = {of->batch, of->heads / of->group, of->features, of->columns},
                strides[] = {s[SDPA_BATCH], s[SDPA_HEAD], 1, s[SDPA_ROW]};
  return tensor(m, SDPA_K, type_of(of), sizes, strides, IN_MEMORY);
}

/* A virtual tensor with `columns` columns: all, or 1 that is a number of the row. */
static cudnn_descriptor scores(sdpa_making *m, int type, int64_t columns) {
  const tprt__sdpa *of = m->of;
  const int64_t sizes[] = {of->batch, of->heads, of->rows, columns},
                strides[] = {of->heads * of->rows * columns, of->rows * columns, columns, 1};
  return tensor(m, m->n_ids++, type, sizes, strides, VIRTUAL);
}

static cudnn_descriptor statistic(sdpa_making *m, sdpa_tensor x) {
  const tprt__sdpa *of = m->of;
  if (!of->has_statistics)
    return scores(m, DNN_F32, 1);
  const int64_t sizes[] = {of->batch, of->heads, of->rows, 1},
                strides[] = {of->heads * of->rows, of->rows, 1, 1};
  return tensor(m, x, DNN_F32, sizes, strides, IN_MEMORY);
}

static cudnn_descriptor value(sdpa_making *m, sdpa_tensor x, int type) {
  static const int64_t ones[N_DIMENSIONS] = {1, 1, 1, 1};
  return tensor(m, x, type, ones, ones, OF_HOST);
}

/* ---- operations ---- */

static cudnn_descriptor operation(sdpa_making *m, int type) {
  cudnn_descriptor made = tprt__sdpa_create(m->to, type);
  m->operations[m->n_operations++] = made;
  return made;
}

static void multiply(sdpa_making *m, cudnn_descriptor a, cudnn_descriptor b, cudnn_descriptor c) {
  cudnn_descriptor what = tprt__sdpa_create(m->to, DNN_MATMUL);
  set_enum(m->to, what, DNN_MATMUL_PRECISION, DNN_OF_DATA_TYPE, DNN_F32);
  tprt__sdpa_finalize(m->to, what);
  cudnn_descriptor made = operation(m, DNN_MATMUL_OPERATION);
  set_part(m->to, made, DNN_OPERATION_MATMUL_A, a);
  set_part(m->to, made, DNN_OPERATION_MATMUL_B, b);
  set_part(m->to, made, DNN_OPERATION_MATMUL_C, c);
  set_part(m->to, made, DNN_OPERATION_MATMUL, what);
  tprt__sdpa_finalize(m->to, made);
}

static cudnn_descriptor reduce(sdpa_making *m, int kind, cudnn_descriptor x, cudnn_descriptor y) {
  cudnn_descriptor what = tprt__sdpa_create(m->to, DNN_REDUCTION);
  set_enum(m->to, what, DNN_REDUCTION_KIND, DNN_OF_REDUCTION, kind);
  set_enum(m->to, what, DNN_REDUCTION_PRECISION, DNN_OF_DATA_TYPE, DNN_F32);
  tprt__sdpa_finalize(m->to, what);
  cudnn_descriptor made = operation(m, DNN_REDUCTION_OPERATION);
  set_part(m->to, made, DNN_OPERATION_REDUCTION_X, x);
  set_part(m->to, made, DNN_OPERATION_REDUCTION_Y, y);
  set_part(m->to, made, DNN_OPERATION_REDUCTION, what);
  tprt__sdpa_finalize(m->to, made);
  return y;
}

/* y = x, x MODE b, or x MODE b by t. `axis` is that of an index, or -1. */
static cudnn_descriptor apply(sdpa_making *m, int mode, int precision, int64_t axis,
                              const cudnn_descriptor xbt[3], cudnn_descriptor y) {
  cudnn_descriptor what = tprt__sdpa_create(m->to, DNN_POINTWISE);
  set_enum(m->to, what, DNN_POINTWISE_MODE, DNN_OF_POINTWISE_MODE, mode);
  set_enum(m->to, what, DNN_POINTWISE_PRECISION, DNN_OF_DATA_TYPE, precision);
  if (axis >= 0)
    set_i64(m->to, what, DNN_POINTWISE_AXIS, axis);
  tprt__sdpa_finalize(m->to, what);
  cudnn_descriptor made = operation(m, DNN_POINTWISE_OPERATION);
  set_part(m->to, made, DNN_OPERATION_POINTWISE, what);
  set_part(m->to, made, DNN_OPERATION_POINTWISE_X, xbt[0]);
  set_part(m->to, made, DNN_OPERATION_POINTWISE_B, xbt[1]);
  set_part(m->to, made, DNN_OPERATION_POINTWISE_T, xbt[2]);
  set_part(m->to, made, DNN_OPERATION_POINTWISE_Y, y);
  tprt__sdpa_finalize(m->to, made);
  return y;
}

/* The same in f32, to a new virtual tensor. */
static cudnn_descriptor apply_f32(sdpa_making *m, int mode, cudnn_descriptor x, cudnn_descriptor b,
                                  int64_t columns) {
  return apply(m, mode, DNN_F32, -1, (cudnn_descriptor[]){x, b, NULL}, scores(m, DNN_F32, columns));
}

/* ---- attention ---- */

static cudnn_descriptor index_of(sdpa_making *m, cudnn_descriptor of, int64_t axis) {
  return apply(m, DNN_INDEX, DNN_F32, axis, (cudnn_descriptor[]){of, NULL, NULL},
               scores(m, DNN_I32, m->of->columns));
}

static cudnn_descriptor shift(sdpa_making *m, int mode, cudnn_descriptor row, sdpa_tensor by) {
  cudnn_descriptor shifts = value(m, by, DNN_I32);
  return apply(m, mode, DNN_I32, -1, (cudnn_descriptor[]){row, shifts, NULL},
               scores(m, DNN_I32, m->of->columns));
}

static cudnn_descriptor hide(sdpa_making *m, cudnn_descriptor visible) {
  enum { ROW_AXIS = 2, COLUMN_AXIS = 3 };
  const tprt__sdpa *of = m->of;
  cudnn_descriptor row = index_of(m, visible, ROW_AXIS), column = index_of(m, visible, COLUMN_AXIS);
  if (of->offset != 0)
    row = shift(m, DNN_ADD, row, SDPA_ADDED);
  if (tprt__sdpa_ends_with_columns(of))
    row = shift(m, DNN_SUBTRACT, row, SDPA_SUBTRACTED);
  cudnn_descriptor keeps = apply(m, DNN_GREATER_EQUAL, DNN_BOOL, -1,
                                 (cudnn_descriptor[]){row, column, NULL},
                                 scores(m, DNN_BOOL, of->columns)),
                   hidden = value(m, SDPA_HIDDEN, DNN_F32);
  return apply(m, DNN_SELECT, DNN_F32, -1, (cudnn_descriptor[]){visible, hidden, keeps},
               scores(m, DNN_F32, of->columns));
}

static void attend(sdpa_making *m) {
  const tprt__sdpa *of = m->of;
  int64_t key_heads = of->heads / of->group, n = of->columns;
  cudnn_descriptor queries = operand(m, SDPA_Q, of->heads, of->rows, of->features),
                   keys = transposed_keys(m), values = operand(m, SDPA_V, key_heads, n, of->values),
                   out = operand(m, SDPA_OUT, of->heads, of->rows, of->values),
                   scale = value(m, SDPA_SCALE, DNN_F32), x = scores(m, DNN_F32, n);
  multiply(m, queries, keys, x);
  x = apply_f32(m, DNN_MULTIPLY, x, scale, n);
  if (of->causal)
    x = hide(m, x);
  cudnn_descriptor max = reduce(m, DNN_REDUCE_MAX, x, statistic(m, SDPA_MAX));
  x = apply_f32(m, DNN_EXP, apply_f32(m, DNN_SUBTRACT, x, max, n), NULL, n);
  cudnn_descriptor sum = reduce(m, DNN_REDUCE_ADD, x, statistic(m, SDPA_SUM));
  if (!of->has_statistics)
    apply_f32(m, DNN_ADD, max, apply_f32(m, DNN_LOG, sum, NULL, 1), 1);
  x = apply(m, DNN_DIVIDE, DNN_F32, -1, (cudnn_descriptor[]){x, sum, NULL},
            scores(m, type_of(of), n));
  multiply(m, x, values, out);
}

tprt_status tprt__sdpa_graph_make(const tprt__cudnn *cudnn, cudnn_handle handle,
                                  const tprt__sdpa *sdpa, tprt__sdpa_graph *graph) {
  *graph = (tprt__sdpa_graph){.cudnn = cudnn};
  sdpa_making m = {.to = graph, .of = sdpa, .n_ids = SDPA_N_TENSORS};
  attend(&m);
  graph->graph = tprt__sdpa_create(graph, DNN_GRAPH);
  if (handle)
    tprt__sdpa_set(graph, graph->graph, DNN_GRAPH_HANDLE, DNN_OF_HANDLE, 1, &handle);
  tprt__sdpa_set(graph, graph->graph, DNN_GRAPH_OPERATIONS, DNN_OF_DESCRIPTOR, m.n_operations,
                 m.operations);
  tprt__sdpa_finalize(graph, graph->graph);
  return graph->status;
}

void tprt__sdpa_graph_free(tprt__sdpa_graph *graph) {
  while (graph->n_parts > 0)
    graph->cudnn->descriptor_destroy(graph->parts[--graph->n_parts]);
}
