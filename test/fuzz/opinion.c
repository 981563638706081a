#include "opinion.h"

#include "test/reference/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opinion {
  int n;
  reference *reference;
  tensor *results[128];
};

static void to_number(const array *a, int64_t i, const kind *k, number *x) {
  if (k->is_float) {
    *x = real(k, array_get(a, i));
    x->error = 0; /* a number of the type, as it is */
    return;
  }
  int64_t integer = 0; /* little endian: the low bytes; array_get would round 64 bits */
  memcpy(&integer, (const char *)a->data + i * a->type->size, (size_t)a->type->size);
  *x = whole(k, integer);
}

opinion *opinion_form(MlirModule module, const tp_plan *signature, const array *inputs, report *r) {
  tensor *arguments[128];
  opinion *o = calloc(1, sizeof *o);
  if (!o)
    abort();
  o->reference = reference_create(module, sizeof r->open, r->open);
  o->n = signature->n_results;
  for (int i = 0; i < signature->n_arguments; i++) {
    const array *a = inputs + i;
    const kind *k = kind_find(a->type->name);
    arguments[i] = reference_tensor(o->reference, k, a->rank, a->shape);
    for (int64_t e = 0; e < array_numbers(a); e++)
      to_number(a, e, k, arguments[i]->numbers + e);
  }
  if (reference_run(o->reference, signature->function, signature->n_arguments, arguments, o->results))
    return o;
  r->lacks = reference_lacks(o->reference);
  if (r->lacks)
    snprintf(r->message, sizeof r->message, "the evaluator: %s", r->open);
  reference_destroy(o->reference);
  free(o);
  return NULL;
}

static void print_number(const kind *k, const number *x, size_t size, char *out) {
  int n = k->is_float ? snprintf(out, size, "%.9g", x->value) : snprintf(out, size, "%lld", (long long)x->integer);
  if (x->error > 0)
    snprintf(out + n, size - (size_t)n, " (at most %.2g off)", x->error);
}

bool opinion_agrees(const opinion *o, const array *results, const char *who, report *r) {
  for (int k = 0; k < o->n; k++) {
    const tensor *t = o->results[k];
    for (int64_t i = 0; i < array_numbers(results + k); i++) {
      number actual;
      to_number(results + k, i, t->kind, &actual);
      r->n_numbers++;
      r->n_judged += is_known(t->numbers + i);
      if (is_right(t->kind, t->numbers + i, &actual))
        continue;
      char is[80], should[80];
      print_number(t->kind, &actual, sizeof is, is);
      print_number(t->kind, t->numbers + i, sizeof should, should);
      snprintf(r->message, sizeof r->message, "result %d, element %lld: %s on %s, but the program says %s", k,
               (long long)(i / t->kind->parts), is, who, should);
      return false;
    }
  }
  return true;
}
