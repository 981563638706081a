/* Verifies results of the fuzzer with the reference evaluator. */
#include "opinion.h"

#include "tp/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 100000000, MAX_VALUES = 128 };

struct opinion {
  int n;
  tp_reference *reference;
};

opinion *opinion_form(MlirModule module, const tp_plan *signature, const array *inputs, report *r) {
  const tp_reference_options options = {.size = sizeof options, .max_steps = MAX_STEPS};
  const void *data[MAX_VALUES];
  opinion *o = calloc(1, sizeof *o);
  if (!o || signature->n_arguments > MAX_VALUES)
    abort();
  for (int i = 0; i < signature->n_arguments; i++)
    data[i] = inputs[i].data;
  o->n = signature->n_results;
  tp_status status = tp_reference_evaluate(module, signature->function, data, &options,
                                           sizeof r->open, r->open, &o->reference);
  if (status == TP_OK)
    return o;
  r->lacks = status == TP_UNSUPPORTED;
  if (r->lacks)
    snprintf(r->message, sizeof r->message, "the evaluator: %s", r->open);
  free(o);
  return NULL;
}

bool opinion_agrees(const opinion *o, const array *results, const char *who, report *r) {
  for (int k = 0; k < o->n; k++) {
    tp_reference_judgement judgement;
    tp_reference_judge(o->reference, k, results[k].data, &judgement);
    r->n_numbers += judgement.n_numbers;
    r->n_judged += judgement.n_known;
    if (judgement.first_wrong < 0)
      continue;
    snprintf(r->message, sizeof r->message, "result %d, element %lld: on %s %s", k,
             (long long)(judgement.first_wrong / results[k].type->parts), who, judgement.text);
    return false;
  }
  return true;
}
