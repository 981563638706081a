/* Runs the ops of the tensor dialect. */
#include "reference/evaluator.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* Allocates a tensor of the type of the op's result. */
static tensor *result_of(evaluation *r, const node *n) {
  return tp__tensor_of(r, n->op, mlirValueGetType(mlirOperationGetResult(n->op, 0)));
}

static bool put(cell *frame, const node *n, tensor *t) {
  frame[n->results[0]].tensor = t;
  return t != NULL;
}

static void put_integer(cell *frame, const node *n, int64_t value) {
  frame[n->results[0]] = (cell){.scalar = {{.integer = value}}};
}

static void copy_element(const tensor *from, int64_t i, tensor *to, int64_t j) {
  size_t parts = (size_t)from->kind->parts;
  memcpy(to->numbers + (size_t)j * parts, from->numbers + (size_t)i * parts,
         parts * sizeof *to->numbers);
}

static bool run_empty(evaluation *r, cell *frame, const node *n) {
  tensor *t = result_of(r, n);
  for (int64_t i = 0; t && i < t->n * t->kind->parts; i++)
    t->numbers[i] = tp__unknown();
  return put(frame, n, t);
}

/* Copies the elements into another shape: reshapes and casts. */
static bool run_reshape(evaluation *r, cell *frame, const node *n) {
  tensor *t = result_of(r, n);
  const tensor *from = frame[n->operands[0]].tensor;
  if (!t || t->n != from->n)
    return t ? tp__eval_fail(r, n->op, "changes the number of elements") : false;
  memcpy(t->numbers, from->numbers, (size_t)(t->n * t->kind->parts) * sizeof *t->numbers);
  return put(frame, n, t);
}

static bool run_copy(evaluation *r, cell *frame, const node *n) {
  if (n->n_operands != 1)
    return tp__eval_unsupported(r, n->op, "copies no tensor");
  return run_reshape(r, frame, n);
}

/* Reads a list of integers such as the offsets of a slice. Dynamic entries come from the operands,
 * starting at *first, which advances past them. */
static bool mixed(evaluation *r, const cell *frame, const node *n, const char *name, int *first,
                  int64_t *list) {
  int count = tp__eval_integers(n->op, name, TP__EVAL_MAX_RANK, list);
  for (int i = 0; i < count; i++)
    if (list[i] == INT64_MIN) { /* ShapedType::kDynamic */
      if (!tp__integer_in(r, n, frame + n->operands[*first], list + i))
        return false;
      ++*first;
    }
  return true;
}

typedef struct slice {
  int64_t offsets[TP__EVAL_MAX_RANK], sizes[TP__EVAL_MAX_RANK], strides[TP__EVAL_MAX_RANK];
} slice;

static bool read_slice(evaluation *r, const cell *frame, const node *n, int first, slice *s) {
  return mixed(r, frame, n, "static_offsets", &first, s->offsets) &&
         mixed(r, frame, n, "static_sizes", &first, s->sizes) &&
         mixed(r, frame, n, "static_strides", &first, s->strides);
}

/* Returns the linear index in `whole` of the slice's element at index `at`; -1: out of bounds. */
static int64_t in_slice(const tensor *whole, const slice *s, const int64_t *at) {
  int64_t place[TP__EVAL_MAX_RANK];
  for (int d = 0; d < whole->rank; d++)
    place[d] = s->offsets[d] + at[d] * s->strides[d];
  return tp__linear_index(whole, place);
}

static bool run_extract_slice(evaluation *r, cell *frame, const node *n) {
  const tensor *from = frame[n->operands[0]].tensor;
  tensor *t = result_of(r, n);
  slice s;
  if (!t || !read_slice(r, frame, n, 1, &s))
    return false;
  int64_t at[TP__EVAL_MAX_RANK] = {0};
  for (int64_t i = 0; i < t->n; i++, tp__next_index(from->rank, s.sizes, at)) {
    int64_t place = in_slice(from, &s, at);
    if (place < 0)
      return tp__eval_fail(r, n->op, "reads out of bounds");
    copy_element(from, place, t, i);
  }
  return put(frame, n, t);
}

static bool run_insert_slice(evaluation *r, cell *frame, const node *n) {
  const tensor *part = frame[n->operands[0]].tensor;
  tensor *t = tp__tensor_copy(r, frame[n->operands[1]].tensor);
  slice s;
  if (!read_slice(r, frame, n, 2, &s))
    return false;
  int64_t at[TP__EVAL_MAX_RANK] = {0};
  for (int64_t i = 0; i < part->n; i++, tp__next_index(t->rank, s.sizes, at)) {
    int64_t place = in_slice(t, &s, at);
    if (place < 0)
      return tp__eval_fail(r, n->op, "writes out of bounds");
    copy_element(part, i, t, place);
  }
  return put(frame, n, t);
}

/* Runs a body whose arguments are the indices of an element. `out` receives the value that it
 * yields. */
static bool run_at(evaluation *r, cell *frame, const block *body, const int64_t *at, cell *out) {
  for (int d = 0; d < body->n_arguments; d++)
    frame[body->arguments[d]] = (cell){.scalar = {{.integer = at[d]}}};
  if (!tp__run_block(r, frame, body))
    return false;
  *out = frame[terminator(body)->operands[0]];
  return true;
}

static bool run_pad(evaluation *r, cell *frame, const node *n) {
  const tensor *from = frame[n->operands[0]].tensor;
  tensor *t = result_of(r, n);
  int64_t low[TP__EVAL_MAX_RANK], at[TP__EVAL_MAX_RANK] = {0};
  int first = 1;
  if (!t || !mixed(r, frame, n, "static_low", &first, low))
    return false;
  for (int64_t i = 0; i < t->n; i++, tp__next_index(t->rank, t->shape, at)) {
    int64_t inside[TP__EVAL_MAX_RANK];
    for (int d = 0; d < t->rank; d++)
      inside[d] = at[d] - low[d];
    int64_t place = tp__linear_index(from, inside);
    cell c;
    if (place >= 0)
      tp__cell_get(from, place, &c);
    else if (!run_at(r, frame, n->blocks, at, &c))
      return false;
    tp__cell_put(t, i, &c);
  }
  return put(frame, n, t);
}

static bool run_generate(evaluation *r, cell *frame, const node *n) {
  tensor *t = result_of(r, n);
  int64_t at[TP__EVAL_MAX_RANK] = {0};
  cell c;
  for (int64_t i = 0; t && i < t->n; i++, tp__next_index(t->rank, t->shape, at)) {
    if (!run_at(r, frame, n->blocks, at, &c))
      return false;
    tp__cell_put(t, i, &c);
  }
  return put(frame, n, t);
}

static bool run_concat(evaluation *r, cell *frame, const node *n) {
  tensor *t = result_of(r, n);
  int64_t along = mlirIntegerAttrGetValueInt(tp__eval_attribute(n->op, "dim")), before = 0;
  for (int k = 0; t && k < n->n_operands; k++) {
    const tensor *part = frame[n->operands[k]].tensor;
    int64_t at[TP__EVAL_MAX_RANK] = {0};
    for (int64_t i = 0; i < part->n; i++, tp__next_index(part->rank, part->shape, at)) {
      int64_t place[TP__EVAL_MAX_RANK];
      memcpy(place, at, sizeof place);
      place[along] += before;
      copy_element(part, i, t, tp__linear_index(t, place));
    }
    before += part->shape[along];
  }
  return put(frame, n, t);
}

/* Reads the operands from `first` on as the indices of an element of t. */
static bool place_of(evaluation *r, const cell *frame, const node *n, int first, const tensor *t,
                     int64_t *place) {
  int64_t at[TP__EVAL_MAX_RANK];
  for (int d = 0; d < t->rank; d++)
    if (!tp__integer_in(r, n, frame + n->operands[first + d], at + d))
      return false;
  *place = tp__linear_index(t, at);
  return *place >= 0 || tp__eval_fail(r, n->op, "is outside of the tensor");
}

static bool run_extract(evaluation *r, cell *frame, const node *n) {
  const tensor *t = frame[n->operands[0]].tensor;
  int64_t place;
  if (!place_of(r, frame, n, 1, t, &place))
    return false;
  tp__cell_get(t, place, frame + n->results[0]);
  return true;
}

static bool run_insert(evaluation *r, cell *frame, const node *n) {
  tensor *t = tp__tensor_copy(r, frame[n->operands[1]].tensor);
  int64_t place;
  if (!place_of(r, frame, n, 2, t, &place))
    return false;
  tp__cell_put(t, place, frame + n->operands[0]);
  return put(frame, n, t);
}

static bool run_splat(evaluation *r, cell *frame, const node *n) {
  tensor *t = result_of(r, n);
  for (int64_t i = 0; t && i < t->n; i++)
    tp__cell_put(t, i, frame + n->operands[0]);
  return put(frame, n, t);
}

static bool run_from_elements(evaluation *r, cell *frame, const node *n) {
  tensor *t = result_of(r, n);
  for (int64_t i = 0; t && i < t->n; i++)
    tp__cell_put(t, i, frame + n->operands[i]);
  return put(frame, n, t);
}

static bool run_dim(evaluation *r, cell *frame, const node *n) {
  const tensor *t = frame[n->operands[0]].tensor;
  int64_t d;
  if (!tp__integer_in(r, n, frame + n->operands[1], &d))
    return false;
  if (d < 0 || d >= t->rank)
    return tp__eval_fail(r, n->op, "has a dimension index out of range");
  put_integer(frame, n, t->shape[d]);
  return true;
}

static bool run_rank(evaluation *r, cell *frame, const node *n) {
  (void)r;
  put_integer(frame, n, frame[n->operands[0]].tensor->rank);
  return true;
}

/* Computes the index in `whole` of every element of `rows`, for gather and scatter. `rows` holds
 * one slice of `whole` per row of `coordinates`. */
static bool walk_rows(evaluation *r, const node *n, const char *dims, const tensor *rows,
                      const tensor *coordinates, const tensor *whole, int64_t *places) {
  int64_t along[TP__EVAL_MAX_RANK], size[TP__EVAL_MAX_RANK], at[TP__EVAL_MAX_RANK] = {0};
  int n_along = tp__eval_integers(n->op, dims, TP__EVAL_MAX_RANK, along);
  memcpy(size, whole->shape, sizeof size);
  int64_t n_rows = 1, n_row = 1;
  for (int k = 0; k < n_along; k++)
    size[along[k]] = 1;
  for (int d = 0; d < whole->rank; d++)
    n_row *= size[d];
  n_rows = n_along ? coordinates->n / n_along : 1;
  if (n_rows * n_row != rows->n)
    return tp__eval_fail(r, n->op, "has slices whose size does not match");
  for (int64_t i = 0; i < rows->n; i++, tp__next_index(whole->rank, size, at)) {
    int64_t place[TP__EVAL_MAX_RANK];
    memcpy(place, at, sizeof place);
    for (int k = 0; k < n_along; k++) {
      const number *c = coordinates->numbers + i / n_row * n_along + k;
      if (!is_certain(c))
        return tp__eval_fail(r, n->op, "its effect depends on rounding");
      place[along[k]] = c->integer;
    }
    places[i] = tp__linear_index(whole, place);
    if (places[i] < 0)
      return tp__eval_fail(r, n->op, "is outside of the tensor");
  }
  return true;
}

static bool run_gather(evaluation *r, cell *frame, const node *n) {
  const tensor *from = frame[n->operands[0]].tensor, *coordinates = frame[n->operands[1]].tensor;
  tensor *t = result_of(r, n);
  int64_t *places = t ? tp__eval_allocate(r, (size_t)t->n * sizeof *places) : NULL;
  if (!t || !walk_rows(r, n, "gather_dims", t, coordinates, from, places))
    return false;
  for (int64_t i = 0; i < t->n; i++)
    copy_element(from, places[i], t, i);
  return put(frame, n, t);
}

static bool run_scatter(evaluation *r, cell *frame, const node *n) {
  const tensor *rows = frame[n->operands[0]].tensor, *coordinates = frame[n->operands[2]].tensor;
  tensor *t = tp__tensor_copy(r, frame[n->operands[1]].tensor);
  int64_t *places = tp__eval_allocate(r, (size_t)rows->n * sizeof *places);
  if (!walk_rows(r, n, "scatter_dims", rows, coordinates, t, places))
    return false;
  for (int64_t i = 0; i < rows->n; i++)
    copy_element(rows, i, t, places[i]);
  return put(frame, n, t);
}

const op_row tp__tensor_rows[] = {
    {"tensor.empty", run_empty, NULL},
    {"tensor.expand_shape", run_reshape, NULL},
    {"tensor.collapse_shape", run_reshape, NULL},
    {"tensor.reshape", run_reshape, NULL},
    {"tensor.cast", run_reshape, NULL},
    {"bufferization.alloc_tensor", run_copy, NULL},
    {"tensor.extract_slice", run_extract_slice, NULL},
    {"tensor.insert_slice", run_insert_slice, NULL},
    {"tensor.pad", run_pad, NULL},
    {"tensor.generate", run_generate, NULL},
    {"tensor.concat", run_concat, NULL},
    {"tensor.extract", run_extract, NULL},
    {"tensor.insert", run_insert, NULL},
    {"tensor.splat", run_splat, NULL},
    {"tensor.from_elements", run_from_elements, NULL},
    {"tensor.dim", run_dim, NULL},
    {"tensor.rank", run_rank, NULL},
    {"tensor.gather", run_gather, NULL},
    {"tensor.scatter", run_scatter, NULL},
    {NULL, NULL, NULL},
};
