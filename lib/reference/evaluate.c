/* The evaluator's public functions. */
#include "reference/devices.h"
#include "support/support.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

struct tp_reference {
  int n;
  tensor **results;
  double *units;         /* one per result: the largest unit roundoff on the way to it */
  evaluation evaluation; /* owns the results */
};

static void read_data(tensor *t, const void *data) {
  for (int64_t i = 0; i < t->n * t->kind->parts; i++)
    t->numbers[i] = tp__number_read(t->kind, data, i);
}

/* The value of an argument that is a constant of the program (tp.constant); null for others. */
static MlirAttribute constant_of(MlirOperation op, int i) {
  MlirAttribute all = tp__eval_attribute(op, "arg_attrs");
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) ||
      i >= mlirArrayAttrGetNumElements(all))
    return mlirAttributeGetNull();
  MlirAttribute own = mlirArrayAttrGetElement(all, i);
  return mlirAttributeIsADictionary(own) ? mlirDictionaryAttrGetElementByName(
                                               own, mlirStringRefCreateFromCString("tp.constant"))
                                         : mlirAttributeGetNull();
}

/* Converts the input data into one cell per function argument. */
static cell *read_arguments(evaluation *r, MlirOperation op, const void *const *inputs, int *n) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  *n = (int)mlirBlockGetNumArguments(body);
  cell *cells = tp__eval_allocate(r, (size_t)*n * sizeof *cells);
  for (int i = 0; i < *n; i++) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(body, i));
    const kind *k = tp__kind_of(r, type);
    if (!k || mlirTypeIsAMemRef(type)) {
      (void)tp__eval_unsupported(r, op,
                                 "has an argument of a type that the evaluator does not support");
      return NULL;
    }
    tensor *t =
        mlirTypeIsAShaped(type) ? tp__tensor_of(r, op, type) : tp__eval_tensor(r, k, 0, NULL);
    if (!t)
      return NULL;
    MlirAttribute constant = constant_of(op, i);
    if (mlirAttributeIsNull(constant))
      read_data(t, inputs[i]);
    else if (!tp__eval_elements(r, op, constant, t))
      return NULL;
    if (mlirTypeIsAShaped(type))
      cells[i].tensor = t;
    else
      tp__cell_get(t, 0, cells + i);
  }
  return cells;
}

/* Stores the results as tensors; a scalar becomes a tensor of rank 0. */
static bool keep_results(evaluation *r, MlirOperation op, int n, const cell *cells,
                         tensor **results) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation end = mlirBlockGetTerminator(body);
  for (int i = 0; i < n; i++) {
    const kind *k = tp__kind_of(r, mlirValueGetType(mlirOperationGetOperand(end, i)));
    if (!k)
      return tp__eval_unsupported(r, op,
                                  "has a result of a type that the evaluator does not support");
    results[i] = cells[i].tensor ? cells[i].tensor : tp__eval_tensor(r, k, 0, NULL);
    if (!cells[i].tensor)
      tp__cell_put(results[i], 0, cells + i);
  }
  return true;
}

static bool is_same_value(const number *a, const number *b) {
  return a->integer == b->integer && (a->value == b->value || (isnan(a->value) && isnan(b->value)));
}

static bool is_same_result(const cell *a, const cell *b) {
  bool same = true;
  int64_t n = a->tensor ? a->tensor->n * a->tensor->kind->parts : 2;
  const number *x = a->tensor ? a->tensor->numbers : a->scalar;
  const number *y = b->tensor ? b->tensor->numbers : b->scalar;
  for (int64_t i = 0; x != y && i < n && same; i++)
    same = is_same_value(x + i, y + i);
  return same;
}

/* Runs the function on all devices. They have to agree on the results. */
static bool run_on_all(evaluation *r, const struct function *f, int n, cell *arguments,
                       int n_results, cell *results) {
  cell **of_all = tp__eval_allocate(r, (size_t)r->n_devices * sizeof *of_all);
  cell **made = tp__eval_allocate(r, (size_t)r->n_devices * sizeof *made);
  devices all = tp__no_devices(r);
  for (int d = 0; d < r->n_devices; d++) {
    all.numbers[all.n++] = d;
    of_all[d] = arguments;
    made[d] = tp__eval_allocate(r, (size_t)n_results * sizeof **made);
  }
  if (!tp__run_function_on(r, f, &all, n, of_all, made))
    return false;
  for (int d = 0; d < r->n_devices; d++)
    for (int i = 0; i < n_results; i++)
      if (!is_same_result(made[0] + i, made[d] + i))
        return tp__eval_fail(r, f->op, "has a result %d that differs between devices 0 and %d", i,
                             d);
  memcpy(results, made[0], (size_t)n_results * sizeof *results);
  return true;
}

static bool evaluate(tp_reference *made, const char *name, const void *const *inputs) {
  evaluation *r = &made->evaluation;
  MlirOperation module = mlirModuleGetOperation(r->module);
  if (!tp__find_devices(r))
    return false;
  const struct function *f = tp__eval_function(r, module, mlirStringRefCreateFromCString(name));
  if (!f)
    return false;
  MlirOperation op = f->op;
  int n;
  cell *arguments = read_arguments(r, op, inputs, &n);
  if (!arguments)
    return false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  made->n = (int)mlirOperationGetNumOperands(mlirBlockGetTerminator(body));
  made->results = tp__eval_allocate(r, (size_t)made->n * sizeof *made->results);
  cell *results = tp__eval_allocate(r, (size_t)made->n * sizeof *results);
  made->units = tp__eval_allocate(r, (size_t)made->n * sizeof *made->units);
  if (r->n_devices > 0 ? !run_on_all(r, f, n, arguments, made->n, results)
                       : !tp__run_function(r, f, n, arguments, results))
    return false;
  for (int i = 0; i < made->n; i++)
    made->units[i] = results[i].unit;
  return keep_results(r, op, made->n, results, made->results);
}

/* Frees every tensor except the results. */
static void keep_only_results(tp_reference *made) {
  evaluation *r = &made->evaluation;
  cell *cells = tp__eval_allocate(r, (size_t)made->n * sizeof *cells);
  for (int i = 0; i < made->n; i++)
    cells[i].tensor = made->results[i];
  active last = {.cells = cells, .n = made->n};
  r->frames = &last;
  r->collect_at = 0;
  tp__eval_collect(r);
  r->frames = NULL;
}

/* Copies the options; says what is wrong with them. */
static bool read_options(const tp_reference_options *options, tp_reference_options *own,
                         size_t why_size, char *why) {
  /* a caller built with an older header passes fewer fields; the rest stays zero */
  if (options)
    memcpy(own, options, options->size < sizeof *own ? options->size : sizeof *own);
  if (options && options->size == 0)
    snprintf(why, why_size, "the size of the options is 0; set it to sizeof(tp_reference_options)");
  else if (own->with_noise < 0 || own->with_noise > TP_NOISES)
    snprintf(why, why_size, "with_noise is %d; it must be 0 to %d", own->with_noise, TP_NOISES);
  return why[0] == 0;
}

tp_status tp_reference_evaluate(MlirModule module, const char *function, const void *const *inputs,
                                const tp_reference_options *options, size_t why_size, char *why,
                                tp_reference **reference) {
  tp_reference *made = tp__calloc(1, sizeof *made);
  why[0] = 0;
  if (!made)
    return TP_NO_MEMORY;
  made->evaluation.module = module;
  if (!read_options(options, &made->evaluation.options, why_size, why)) {
    tp__free(made);
    return TP_INVALID_ARGUMENT;
  }
  made->evaluation.why = why;
  made->evaluation.why_size = why_size;
  if (setjmp(made->evaluation.no_memory) != 0) {
    snprintf(why, why_size, "memory ran out");
    tp_reference_destroy(made);
    return TP_NO_MEMORY;
  }
  if (!evaluate(made, function, inputs)) {
    tp_status status = made->evaluation.status;
    tp_reference_destroy(made);
    return status;
  }
  keep_only_results(made);
  *reference = made;
  return TP_OK;
}

void tp_reference_destroy(tp_reference *reference) {
  if (!reference)
    return;
  tp__eval_clear(&reference->evaluation);
  tp__free(reference);
}

int64_t tp_reference_count(const tp_reference *reference, int result) {
  const tensor *t = reference->results[result];
  return t->n * t->kind->parts;
}

bool tp_reference_value(const tp_reference *reference, int result, int64_t n, double *value,
                        double *error) {
  const tensor *t = reference->results[result];
  const number *x = t->numbers + n;
  *value = t->kind->is_float ? x->value : (double)x->integer;
  if (error)
    *error = x->error;
  return is_known(x);
}

static void print_number(const kind *k, const number *x, size_t size, char *out) {
  int n = k->is_float ? snprintf(out, size, "%.9g", x->value)
                      : snprintf(out, size, "%lld", (long long)x->integer);
  if (x->error > 0 && n > 0 && (size_t)n < size)
    snprintf(out + n, size - (size_t)n, " (error at most %.2g)", x->error);
}

static void measure(double expected, double actual, tp_reference_judgement *judgement) {
  if (isfinite(expected) && isfinite(actual)) {
    judgement->largest = fmax(judgement->largest, fabs(expected));
    judgement->error = fmax(judgement->error, fabs(expected - actual));
  } else if (expected != actual && !(isnan(expected) && isnan(actual))) {
    judgement->error = INFINITY;
  }
}

void tp_reference_judge(const tp_reference *reference, int result, const void *data,
                        tp_reference_judgement *judgement) {
  const tensor *t = reference->results[result];
  *judgement = (tp_reference_judgement){
      .n_numbers = t->n * t->kind->parts, .first_wrong = -1, .unit = reference->units[result]};
  for (int64_t i = 0; i < judgement->n_numbers; i++) {
    const number *expected = t->numbers + i;
    number actual = tp__number_read(t->kind, data, i);
    judgement->n_known += is_known(expected);
    if (is_known(expected) && t->kind->is_float)
      measure(expected->value, actual.value, judgement);
    if (judgement->first_wrong >= 0 || tp__number_is_right(t->kind, expected, &actual))
      continue;
    char is[64], should[64];
    judgement->first_wrong = i;
    print_number(t->kind, &actual, sizeof is, is);
    print_number(t->kind, expected, sizeof should, should);
    snprintf(judgement->text, sizeof judgement->text, "%s, but the evaluator computes %s", is,
             should);
  }
}
