/* Runs sorts: calls of a function without a body that have tp.sort = {dim = ..., less = @less}.
 * Each row is brought into the order of the comparator, which takes two numbers of each operand. A
 * result has the first elements of each row. The sort is stable.
 *
 * Each row is sorted by the values of its numbers; their error bounds are ignored at first. Then
 * elements that are at most MAX_APART places apart are compared again, with their error bounds. If
 * a bound permits both orders of two elements, each place from the one to the other may hold any of
 * the elements of these places, and the error bounds of the results grow to cover all of them. */
#include "reference/evaluator.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* Elements that are more places apart are compared without errors only. */
enum { MAX_APART = 64 };

typedef struct sorting {
  evaluation *r;
  const node *n;
  const cell *frame;
  const struct function *less;
  cell *less_frame, *arguments;
  bool *is_key;          /* by operand: the comparator uses it */
  int64_t first, stride; /* of the row in the numbers of the operands, counted in elements */
  int64_t size;
  bool is_doubtful; /* a comparison of the row had no certain result, as of the bits of a NaN */
  double n_compared;
} sorting;

static const tensor *operand(const sorting *s, int i) { return s->frame[s->n->operands[i]].tensor; }

static const number *element(const sorting *s, int i, int64_t e) {
  const tensor *t = operand(s, i);
  return t->numbers + (s->first + e * s->stride) * t->kind->parts;
}

/* ---- comparing ---- */

/* The number with `errors` times its error, as a number of its type without error. */
static number moved(const kind *k, const number *x, int errors) {
  number y = *x;
  if (k->is_float && is_known(x))
    y.value = tp__nearest(k, y.value + 2 * errors * y.error);
  y.error = 0;
  return y;
}

/* The result of the comparator. LESS_UNKNOWN: it depends on more than the values. */
typedef enum order_of { LESS_NOT, LESS, LESS_UNKNOWN } order_of;

static bool run_less(sorting *s, int64_t a, int errors_a, int64_t b, int errors_b, order_of *less) {
  cell result;
  for (int i = 0; i < s->n->n_operands; i++)
    for (int side = 0; side < 2; side++) {
      const kind *k = operand(s, i)->kind;
      const number *x = element(s, i, side ? b : a);
      cell *c = s->arguments + 2 * i + side;
      *c = (cell){0};
      for (int p = 0; p < k->parts; p++)
        c->scalar[p] = moved(k, x + p, side ? errors_b : errors_a);
    }
  s->n_compared++;
  if (!tp__run_in_frame(s->r, s->less, s->less_frame, 2 * s->n->n_operands, s->arguments, &result))
    return false;
  *less = !is_certain(result.scalar) ? LESS_UNKNOWN : result.scalar->integer ? LESS : LESS_NOT;
  s->is_doubtful |= *less == LESS_UNKNOWN;
  return true;
}

/* True if a number of a key of the element has an error; if it is unknown. */
static bool has_error(const sorting *s, int64_t e, bool *unknown) {
  bool found = false;
  for (int i = 0; i < s->n->n_operands; i++)
    for (int p = 0; s->is_key[i] && p < operand(s, i)->kind->parts; p++) {
      found |= !is_certain(element(s, i, e) + p);
      *unknown |= !is_known(element(s, i, e) + p);
    }
  return found;
}

/* *sure: the comparison has the same result at the ends of the intervals of both elements. */
static bool is_sure(sorting *s, int64_t a, int64_t b, bool *sure) {
  order_of less, other;
  bool unknown = false, errors = has_error(s, a, &unknown) || has_error(s, b, &unknown);
  if (!run_less(s, a, 0, b, 0, &less))
    return false;
  *sure = less != LESS_UNKNOWN;
  for (int ends = 0; ends < 4 && *sure && errors; ends++) {
    if (!run_less(s, a, ends & 1 ? 1 : -1, b, ends & 2 ? 1 : -1, &other))
      return false;
    *sure = other == less;
  }
  return true;
}

/* ---- one row ---- */

static bool insert(sorting *s, int64_t e, int64_t *order) {
  int64_t low = 0, high = e;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    order_of less;
    if (!run_less(s, e, 0, order[middle], 0, &less))
      return false;
    low = less == LESS ? low : middle + 1;
    high = less == LESS ? middle : high;
  }
  memmove(order + low + 1, order + low, (size_t)(e - low) * sizeof *order);
  order[low] = e;
  return true;
}

/* last[p]: the last place whose element may precede the one at place p. */
static bool find_unsure(sorting *s, const int64_t *order, int64_t *last) {
  bool unknown = false, any = s->is_doubtful;
  for (int64_t e = 0; e < s->size; e++)
    any |= has_error(s, e, &unknown);
  for (int64_t p = 0; p < s->size; p++) {
    last[p] = unknown ? s->size - 1 : p;
    int64_t end = p + MAX_APART < s->size ? p + MAX_APART : s->size - 1;
    for (int64_t q = end; q > p && any && !unknown && last[p] == p; q--) {
      bool sure;
      if (!is_sure(s, order[q], order[p], &sure))
        return false;
      last[p] = sure ? p : q;
    }
  }
  return true;
}

/* Writes the number that covers those of all elements at the places [from, to]. */
static void cover(const sorting *s, int i, const int64_t *order, int64_t from, int64_t to,
                  number *out) {
  const kind *k = operand(s, i)->kind;
  number unsure = tp__unknown();
  for (int p = 0; p < k->parts; p++) {
    out[p] = element(s, i, order[from])[p];
    for (int64_t at = from + 1; at <= to; at++)
      out[p] = tp__number_select(k, &unsure, out + p, element(s, i, order[at]) + p);
  }
}

/* Groups of places that unsure comparisons connect share one number. */
static void store_row(const sorting *s, const int64_t *order, const int64_t *last, int64_t first,
                      int64_t kept, tensor *const *results) {
  for (int64_t from = 0, to; from < kept; from = to + 1) {
    to = last[from];
    for (int64_t p = from; p <= to; p++)
      to = last[p] > to ? last[p] : to;
    for (int i = 0; i < s->n->n_operands; i++) {
      number covering[2];
      int parts = results[i]->kind->parts;
      cover(s, i, order, from, to, covering);
      for (int64_t p = from; p <= to && p < kept; p++)
        memcpy(results[i]->numbers + (first + p * s->stride) * parts, covering,
               (size_t)parts * sizeof *covering);
    }
  }
}

/* ---- all rows ---- */

static bool sort_rows(sorting *s, int64_t kept, tensor *const *results) {
  int64_t *order = tp__eval_allocate(s->r, (size_t)(2 * s->size + 1) * sizeof *order);
  int64_t *last = order + s->size, n = operand(s, 0)->n, rows = s->size * s->stride;
  for (int64_t outer = 0; rows > 0 && outer < n / rows; outer++)
    for (int64_t inner = 0; inner < s->stride; inner++) {
      s->first = outer * rows + inner;
      s->is_doubtful = false;
      for (int64_t e = 0; e < s->size; e++)
        if (!insert(s, e, order))
          return false;
      if (!find_unsure(s, order, last))
        return false;
      store_row(s, order, last, outer * kept * s->stride + inner, kept, results);
    }
  return tp__eval_count(s->r, s->n, s->n_compared);
}

MlirAttribute tp__sort_attribute(MlirOperation op) {
  return mlirOperationGetDiscardableAttributeByName(op, mlirStringRefCreateFromCString("tp.sort"));
}

static bool begin(evaluation *r, const cell *frame, const node *n, sorting *s, int64_t *dim) {
  MlirAttribute sort = tp__sort_attribute(n->op);
  MlirAttribute less =
      mlirDictionaryAttrGetElementByName(sort, mlirStringRefCreateFromCString("less"));
  *dim = mlirIntegerAttrGetValueInt(
      mlirDictionaryAttrGetElementByName(sort, mlirStringRefCreateFromCString("dim")));
  *s = (sorting){.r = r, .n = n, .frame = frame, .stride = 1};
  s->less = tp__eval_function(r, n->op, mlirFlatSymbolRefAttrGetValue(less));
  if (!s->less)
    return false;
  s->less_frame = tp__eval_frame(r, s->less);
  s->arguments = tp__eval_allocate(r, 2 * (size_t)n->n_operands * sizeof *s->arguments);
  s->is_key = tp__eval_allocate(r, (size_t)n->n_operands * sizeof *s->is_key);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(s->less->op, 0));
  for (int i = 0; i < 2 * n->n_operands; i++)
    s->is_key[i / 2] |= !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body, i)));
  const tensor *t = operand(s, 0);
  s->size = t->shape[*dim];
  for (int d = (int)*dim + 1; d < t->rank; d++)
    s->stride *= t->shape[d];
  return true;
}

bool tp__run_sort(evaluation *r, cell *frame, const node *n) {
  sorting s;
  int64_t dim;
  if (!begin(r, frame, n, &s, &dim))
    return false;
  tensor **results = tp__eval_allocate(r, (size_t)n->n_results * sizeof *results);
  for (int i = 0; i < n->n_results; i++) {
    results[i] = tp__tensor_of(r, n->op, mlirValueGetType(mlirOperationGetResult(n->op, i)));
    if (!results[i])
      return false;
  }
  if (!sort_rows(&s, results[0]->shape[dim], results))
    return false;
  for (int i = 0; i < n->n_results; i++)
    frame[n->results[i]].tensor = results[i];
  return true;
}
