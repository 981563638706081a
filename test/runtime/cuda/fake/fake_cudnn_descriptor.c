/* Descriptors of the fake cuDNN: their attributes, and what is wrong with them. */
#define _GNU_SOURCE 1
#include "fake_cudnn_inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

typedef struct rule {
  int descriptor, attribute, type;
  int64_t least, most; /* elements; least 0: need not be set */
  int part;            /* the type of elements that are descriptors; -1: operations */
} rule;

enum { OPERATIONS = -1 };
static const rule rules[] = {
    {DNN_POINTWISE, DNN_POINTWISE_MODE, DNN_OF_POINTWISE_MODE, 1, 1, 0},
    {DNN_POINTWISE, DNN_POINTWISE_PRECISION, DNN_OF_DATA_TYPE, 1, 1, 0},
    {DNN_POINTWISE, DNN_POINTWISE_AXIS, DNN_OF_I64, 0, 1, 0},
    {DNN_POINTWISE_OPERATION, DNN_OPERATION_POINTWISE, DNN_OF_DESCRIPTOR, 1, 1, DNN_POINTWISE},
    {DNN_POINTWISE_OPERATION, DNN_OPERATION_POINTWISE_X, DNN_OF_DESCRIPTOR, 1, 1, DNN_TENSOR},
    {DNN_POINTWISE_OPERATION, DNN_OPERATION_POINTWISE_B, DNN_OF_DESCRIPTOR, 0, 1, DNN_TENSOR},
    {DNN_POINTWISE_OPERATION, DNN_OPERATION_POINTWISE_T, DNN_OF_DESCRIPTOR, 0, 1, DNN_TENSOR},
    {DNN_POINTWISE_OPERATION, DNN_OPERATION_POINTWISE_Y, DNN_OF_DESCRIPTOR, 1, 1, DNN_TENSOR},
    {DNN_MATMUL, DNN_MATMUL_PRECISION, DNN_OF_DATA_TYPE, 1, 1, 0},
    {DNN_MATMUL_OPERATION, DNN_OPERATION_MATMUL, DNN_OF_DESCRIPTOR, 1, 1, DNN_MATMUL},
    {DNN_MATMUL_OPERATION, DNN_OPERATION_MATMUL_A, DNN_OF_DESCRIPTOR, 1, 1, DNN_TENSOR},
    {DNN_MATMUL_OPERATION, DNN_OPERATION_MATMUL_B, DNN_OF_DESCRIPTOR, 1, 1, DNN_TENSOR},
    {DNN_MATMUL_OPERATION, DNN_OPERATION_MATMUL_C, DNN_OF_DESCRIPTOR, 1, 1, DNN_TENSOR},
    {DNN_REDUCTION, DNN_REDUCTION_KIND, DNN_OF_REDUCTION, 1, 1, 0},
    {DNN_REDUCTION, DNN_REDUCTION_PRECISION, DNN_OF_DATA_TYPE, 1, 1, 0},
    {DNN_REDUCTION_OPERATION, DNN_OPERATION_REDUCTION, DNN_OF_DESCRIPTOR, 1, 1, DNN_REDUCTION},
    {DNN_REDUCTION_OPERATION, DNN_OPERATION_REDUCTION_X, DNN_OF_DESCRIPTOR, 1, 1, DNN_TENSOR},
    {DNN_REDUCTION_OPERATION, DNN_OPERATION_REDUCTION_Y, DNN_OF_DESCRIPTOR, 1, 1, DNN_TENSOR},
    {DNN_TENSOR, DNN_TENSOR_ID, DNN_OF_I64, 1, 1, 0},
    {DNN_TENSOR, DNN_TENSOR_TYPE, DNN_OF_DATA_TYPE, 1, 1, 0},
    {DNN_TENSOR, DNN_TENSOR_SIZES, DNN_OF_I64, FAKE_DIMENSIONS, FAKE_DIMENSIONS, 0},
    {DNN_TENSOR, DNN_TENSOR_STRIDES, DNN_OF_I64, FAKE_DIMENSIONS, FAKE_DIMENSIONS, 0},
    {DNN_TENSOR, DNN_TENSOR_ALIGNMENT, DNN_OF_I64, 1, 1, 0},
    {DNN_TENSOR, DNN_TENSOR_IS_VIRTUAL, DNN_OF_BOOL, 0, 1, 0},
    {DNN_TENSOR, DNN_TENSOR_IS_VALUE, DNN_OF_BOOL, 0, 1, 0},
    {DNN_GRAPH, DNN_GRAPH_HANDLE, DNN_OF_HANDLE, 1, 1, 0}, /* before 9.8 */
    {DNN_GRAPH, DNN_GRAPH_OPERATIONS, DNN_OF_DESCRIPTOR, 1, FAKE_MOST_OPERATIONS, OPERATIONS},
    {DNN_HEURISTIC, DNN_HEURISTIC_GRAPH, DNN_OF_DESCRIPTOR, 1, 1, DNN_GRAPH},
    {DNN_HEURISTIC, DNN_HEURISTIC_MODE, DNN_OF_HEURISTIC, 1, 1, 0},
    {DNN_PLAN, DNN_PLAN_HANDLE, DNN_OF_HANDLE, 1, 1, 0},
    {DNN_PLAN, DNN_PLAN_CONFIG, DNN_OF_DESCRIPTOR, 1, 1, DNN_ENGINE_CONFIG},
    {DNN_VARIANT_PACK, DNN_PACK_IDS, DNN_OF_I64, 1, FAKE_MOST_TENSORS, 0},
    {DNN_VARIANT_PACK, DNN_PACK_POINTERS, DNN_OF_POINTER, 1, FAKE_MOST_TENSORS, 0},
    {DNN_VARIANT_PACK, DNN_PACK_WORKSPACE, DNN_OF_POINTER, 0, 1, 0},
};
enum { N_RULES = sizeof rules / sizeof *rules };

static size_t bytes_of(int type) {
  return type == DNN_OF_BOOL ? sizeof(bool)
         : type == DNN_OF_I64 || type == DNN_OF_POINTER || type == DNN_OF_DESCRIPTOR ||
                 type == DNN_OF_HANDLE
             ? 8
             : sizeof(int);
}

static const rule *rule_of(int type, int name) {
  for (int i = 0; i < N_RULES; i++)
    if (rules[i].descriptor == type && rules[i].attribute == name)
      return &rules[i];
  return NULL;
}

const fake_attribute *fake_cudnn_find(const fake_descriptor *d, int name) {
  for (int i = 0; i < d->n_attributes; i++)
    if (d->attributes[i].name == name)
      return &d->attributes[i];
  return NULL;
}

static const fake_descriptor *part_of(const fake_descriptor *d, int name) {
  const fake_attribute *found = fake_cudnn_find(d, name);
  return found ? ((fake_descriptor *const *)found->elements)[0] : NULL;
}

static int64_t i64_of(const fake_descriptor *d, int name, int64_t absent) {
  const fake_attribute *found = fake_cudnn_find(d, name);
  return found ? ((const int64_t *)found->elements)[0] : absent;
}

static int enum_of(const fake_descriptor *d, int name) {
  const fake_attribute *found = fake_cudnn_find(d, name);
  return found ? ((const int *)found->elements)[0] : -1;
}

static bool bool_of(const fake_descriptor *d, int name) {
  const fake_attribute *found = fake_cudnn_find(d, name);
  return found && ((const bool *)found->elements)[0];
}

static bool is_operation(int type) {
  return type == DNN_POINTWISE_OPERATION || type == DNN_MATMUL_OPERATION ||
         type == DNN_REDUCTION_OPERATION;
}

/* ---- descriptors ---- */

cudnn_status dnn_descriptor_create(int type, cudnn_descriptor *made) {
  ENTER("cudnnBackendCreateDescriptor");
  fake_descriptor *d = calloc(1, sizeof *d);
  if (!d)
    abort();
  d->type = type;
  fake_cudnn_state.n_alive++;
  *made = d;
  return DNN_SUCCESS;
}

/* The object is released even if the call must fail. */
cudnn_status dnn_descriptor_destroy(cudnn_descriptor given) {
  HOLD;
  fake_descriptor *d = given;
  if (!d)
    return fake_cudnn_violation("the end of no descriptor");
  for (int i = 0; i < d->n_attributes; i++)
    free(d->attributes[i].elements);
  free(d);
  fake_cudnn_state.n_alive--;
  return fake_cudnn_called("cudnnBackendDestroyDescriptor");
}

cudnn_status dnn_set(cudnn_descriptor given, int name, int type, int64_t n, const void *elements) {
  ENTER("cudnnBackendSetAttribute");
  fake_descriptor *d = given;
  const rule *r = d ? rule_of(d->type, name) : NULL;
  if (!r || d->is_final || fake_cudnn_find(d, name))
    return fake_cudnn_violation("attribute %d is set%s", name,
                                !r            ? ", which the descriptor lacks"
                                : d->is_final ? " behind its end"
                                              : " twice");
  if (r->type != type || n < 1 || n < r->least || n > r->most || !elements)
    return fake_cudnn_violation("attribute %d: %lld elements of type %d", name, (long long)n, type);
  for (int64_t i = 0; i < n && type == DNN_OF_DESCRIPTOR; i++) {
    const fake_descriptor *part = ((fake_descriptor *const *)elements)[i];
    if (!part || !part->is_final ||
        (r->part == OPERATIONS ? !is_operation(part->type) : part->type != r->part))
      return fake_cudnn_violation("attribute %d: a part that is not final, or of another type",
                                  name);
  }
  fake_attribute *to = &d->attributes[d->n_attributes++];
  *to = (fake_attribute){name, n, malloc((size_t)n * bytes_of(type))};
  if (!to->elements)
    abort();
  memcpy(to->elements, elements, (size_t)n * bytes_of(type));
  return DNN_SUCCESS;
}

/* ---- graphs ---- */

static cudnn_status check_tensor(const fake_descriptor *d) {
  const int64_t *size = fake_cudnn_find(d, DNN_TENSOR_SIZES)->elements,
                *stride = fake_cudnn_find(d, DNN_TENSOR_STRIDES)->elements;
  bool fits = true;
  for (int i = 0; i < FAKE_DIMENSIONS; i++)
    fits &= size[i] > 0 && stride[i] > 0;
  if (!fits || (bool_of(d, DNN_TENSOR_IS_VIRTUAL) && bool_of(d, DNN_TENSOR_IS_VALUE)))
    return fake_cudnn_violation("sizes, strides or place of tensor %lld",
                                (long long)i64_of(d, DNN_TENSOR_ID, 0));
  return DNN_SUCCESS;
}

/* Returns the index of a tensor, which is added if it is new; -1: there is none. */
static int add_tensor(fake_graph *g, const fake_descriptor *d) {
  if (!d)
    return -1;
  int64_t id = i64_of(d, DNN_TENSOR_ID, 0);
  for (int i = 0; i < g->n_tensors; i++)
    if (g->tensors[i].id == id)
      return i;
  fake_tensor *t = &g->tensors[g->n_tensors];
  *t = (fake_tensor){.id = id,
                     .alignment = i64_of(d, DNN_TENSOR_ALIGNMENT, 0),
                     .type = enum_of(d, DNN_TENSOR_TYPE),
                     .is_virtual = bool_of(d, DNN_TENSOR_IS_VIRTUAL),
                     .is_value = bool_of(d, DNN_TENSOR_IS_VALUE)};
  memcpy(t->size, fake_cudnn_find(d, DNN_TENSOR_SIZES)->elements, sizeof t->size);
  memcpy(t->stride, fake_cudnn_find(d, DNN_TENSOR_STRIDES)->elements, sizeof t->stride);
  return g->n_tensors++;
}

static fake_operation operation_of(fake_graph *g, const fake_descriptor *d) {
  static const struct {
    int type, what, mode, x, b, t, y;
  } names[] = {{DNN_POINTWISE_OPERATION, DNN_OPERATION_POINTWISE, DNN_POINTWISE_MODE,
                DNN_OPERATION_POINTWISE_X, DNN_OPERATION_POINTWISE_B, DNN_OPERATION_POINTWISE_T,
                DNN_OPERATION_POINTWISE_Y},
               {DNN_MATMUL_OPERATION, DNN_OPERATION_MATMUL, -1, DNN_OPERATION_MATMUL_A,
                DNN_OPERATION_MATMUL_B, -1, DNN_OPERATION_MATMUL_C},
               {DNN_REDUCTION_OPERATION, DNN_OPERATION_REDUCTION, DNN_REDUCTION_KIND,
                DNN_OPERATION_REDUCTION_X, -1, -1, DNN_OPERATION_REDUCTION_Y}};
  int i = 0;
  while (names[i].type != d->type)
    i++;
  const fake_descriptor *what = part_of(d, names[i].what);
  return (fake_operation){.descriptor = d->type,
                          .mode = enum_of(what, names[i].mode),
                          .axis = i64_of(what, DNN_POINTWISE_AXIS, -1),
                          .x = add_tensor(g, part_of(d, names[i].x)),
                          .b = add_tensor(g, part_of(d, names[i].b)),
                          .t = add_tensor(g, part_of(d, names[i].t)),
                          .y = add_tensor(g, part_of(d, names[i].y))};
}

fake_graph fake_cudnn_graph_of(const fake_descriptor *d) {
  const fake_attribute *operations = fake_cudnn_find(d, DNN_GRAPH_OPERATIONS);
  fake_graph g = {.n_operations = (int)operations->n};
  for (int64_t i = 0; i < operations->n; i++)
    g.operations[i] = operation_of(&g, ((fake_descriptor *const *)operations->elements)[i]);
  return g;
}

/* Sizes of products and results; what an operation reads and is virtual was written before. */
static cudnn_status check_graph(const fake_descriptor *d) {
  const fake_graph g = fake_cudnn_graph_of(d);
  bool written[FAKE_MOST_TENSORS] = {false};
  fake_cudnn_state.n_graphs++;
  for (int i = 0; i < g.n_operations; i++) {
    const fake_operation *o = &g.operations[i];
    const int operands[] = {o->x, o->b, o->t};
    const int64_t *y = g.tensors[o->y].size;
    for (int j = 0; j < 3; j++) {
      const fake_tensor *t = operands[j] < 0 ? NULL : &g.tensors[operands[j]];
      if (t && t->is_virtual && !written[operands[j]])
        return fake_cudnn_violation("tensor %lld is read before it is written", (long long)t->id);
      for (int k = 0; t && o->descriptor == DNN_POINTWISE_OPERATION && k < FAKE_DIMENSIONS; k++)
        if (t->size[k] != 1 && t->size[k] != y[k])
          return fake_cudnn_violation("operand %lld does not fit the result", (long long)t->id);
    }
    if (o->descriptor == DNN_MATMUL_OPERATION) {
      const int64_t *a = g.tensors[o->x].size, *b = g.tensors[o->b].size;
      if (a[3] != b[2] || y[2] != a[2] || y[3] != b[3] || y[0] != a[0] || y[1] != a[1] ||
          b[0] != a[0])
        return fake_cudnn_violation("sizes of a matmul");
    }
    written[o->y] = true;
  }
  return DNN_SUCCESS;
}

static cudnn_status check_pack(const fake_descriptor *d) {
  return fake_cudnn_find(d, DNN_PACK_IDS)->n == fake_cudnn_find(d, DNN_PACK_POINTERS)->n
             ? DNN_SUCCESS
             : fake_cudnn_violation("as many addresses as tensors");
}

static cudnn_status check_plan(fake_descriptor *d) {
  const fake_descriptor *config = part_of(d, DNN_PLAN_CONFIG);
  d->engine = config->engine;
  d->graph = config->graph;
  return config->engine < fake_cudnn_planned.n_unfit ? fake_cudnn_refuse("the kernel does not fit")
                                                     : DNN_SUCCESS;
}

cudnn_status dnn_finalize(cudnn_descriptor given) {
  ENTER("cudnnBackendFinalize");
  fake_descriptor *d = given;
  for (int i = 0; i < N_RULES; i++)
    if (rules[i].descriptor == d->type && rules[i].least && !fake_cudnn_find(d, rules[i].attribute))
      return fake_cudnn_violation("attribute %d of descriptor %d is missing", rules[i].attribute,
                                  d->type);
  cudnn_status status = d->is_final                   ? fake_cudnn_violation("a second end")
                        : d->type == DNN_TENSOR       ? check_tensor(d)
                        : d->type == DNN_GRAPH        ? check_graph(d)
                        : d->type == DNN_PLAN         ? check_plan(d)
                        : d->type == DNN_VARIANT_PACK ? check_pack(d)
                                                      : DNN_SUCCESS;
  d->is_final = !status;
  return status;
}

/* ---- kernels ---- */

/* Engines of a heuristic that support its graph. */
static cudnn_status list_engines(const fake_descriptor *d, int64_t n_wanted, int64_t *n,
                                 fake_descriptor *const *configs) {
  const fake_descriptor *graph = part_of(d, DNN_HEURISTIC_GRAPH);
  const fake_graph g = fake_cudnn_graph_of(graph);
  bool is_a = enum_of(d, DNN_HEURISTIC_MODE) == DNN_HEURISTIC_A;
  const fake_cudnn_plan *plan = &fake_cudnn_planned;
  const char *why = plan->knows_nothing || (is_a && plan->falls_back) ||
                            (plan->n_graphs && fake_cudnn_state.n_graphs > plan->n_graphs)
                        ? "it knows nothing"
                        : fake_graph_refusal(&g);
  *n = FAKE_ENGINES;
  if (n_wanted == 0)
    return DNN_SUCCESS;
  *n = why ? 0 : n_wanted < FAKE_ENGINES ? n_wanted : FAKE_ENGINES;
  for (int64_t i = 0; i < *n; i++) {
    if (!configs[i] || configs[i]->type != DNN_ENGINE_CONFIG || configs[i]->is_final)
      return fake_cudnn_violation("place for an engine");
    configs[i]->engine = (int)i;
    configs[i]->graph = graph;
    configs[i]->is_final = true;
  }
  return DNN_SUCCESS;
}

cudnn_status dnn_get(cudnn_descriptor given, int name, int type, int64_t n_wanted, int64_t *n,
                     void *elements) {
  ENTER("cudnnBackendGetAttribute");
  fake_descriptor *d = given;
  if (!d || !d->is_final)
    return fake_cudnn_violation("attribute %d of a descriptor that is not final", name);
  if (name == DNN_HEURISTIC_RESULTS && d->type == DNN_HEURISTIC && type == DNN_OF_DESCRIPTOR)
    return list_engines(d, n_wanted, n, elements);
  if (n_wanted < 1)
    return fake_cudnn_violation("no place for attribute %d", name);
  if (name == DNN_CONFIG_ENGINE && d->type == DNN_ENGINE_CONFIG && type == DNN_OF_DESCRIPTOR) {
    fake_descriptor *engine = ((fake_descriptor **)elements)[0];
    *n = 1;
    engine->engine = d->engine;
    engine->is_final = true;
    return engine->type == DNN_ENGINE ? DNN_SUCCESS : fake_cudnn_violation("place for an engine");
  }
  if (name == DNN_ENGINE_NUMERICAL_NOTES && d->type == DNN_ENGINE &&
      type == DNN_OF_NUMERICAL_NOTE) {
    *n = 1;
    ((int *)elements)[0] =
        fake_cudnn_planned.varies && d->engine == 0 ? DNN_NOTE_NONDETERMINISTIC : 0;
    return DNN_SUCCESS;
  }
  if (name == DNN_PLAN_WORKSPACE && d->type == DNN_PLAN && type == DNN_OF_I64) {
    *n = 1;
    ((int64_t *)elements)[0] = fake_cudnn_planned.workspace;
    return DNN_SUCCESS;
  }
  return fake_cudnn_violation("attribute %d of descriptor %d", name, d->type);
}
