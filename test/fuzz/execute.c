/* Runs one module through the whole pipeline in a sandbox, with functions of shard-run. */
#define _GNU_SOURCE 1
#include "execute.h"

#include "coverage.h"
#include "errors.h"
#include "limits.h"
#include "opinion.h"

#include "tools/shard-run/run.h"

#include <math.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Replacements of functions that the sources of shard-run call ---- */

static report *running; /* report of this child */

void complain(const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (running && !running->message[0])
    vsnprintf(running->message, sizeof running->message, format, args);
  va_end(args);
}

void progress(const char *what) { (void)what; }

/* ---- Data ---- */

static array *draw_inputs(const job *j, const tp_plan *plan) {
  array *made = calloc((size_t)plan->n_arguments + 1, sizeof *made);
  rng random = {j->seed};
  for (int i = 0; made && i < plan->n_arguments; i++) {
    const tp_plan_value *value = plan->arguments + i;
    array_create(made + i, element_find(value->element), value->rank, value->shape);
    double low = fmax(j->arguments[i].low, -3), high = fmin(j->arguments[i].high, fmax(low, 0) + 6);
    if (low > high)
      low = high = j->arguments[i].high;
    for (int64_t e = 0; e < array_numbers(made + i); e++) {
      double x = low + (double)rng_below(&random, (int)(high - low) + 1);
      x = j->is_identity ? (double)(e + 1) : x;
      array_set(made + i, e, made[i].type->kind == 'b' ? x != 0 : x);
    }
  }
  return made;
}

/* Returns the rounding unit, relative to the largest magnitude. */
static double rounding_of(const element *type) {
  return type->size == 8                  ? 1e-12
         : type->size == 4                ? 2e-5
         : strcmp(type->name, "f16") == 0 ? 1e-2
                                          : 8e-2;
}

/* Compares results: exactly if no rounding can have occurred, else within the rounding error of
 * another summation order. */
static bool same(const job *j, int k, const array *a, const array *b, report *r) {
  double limit = j->results[k].exact || a->type->kind != 'f' ? 0 : rounding_of(a->type);
  double scale = fmax(j->results[k].scale, 1e-30);
  if (a->type->kind != 'f') {
    comparison c = compare_arrays(a, b, false, 0);
    snprintf(r->message, sizeof r->message, "result %d: %s", k, c.what);
    return c.ok;
  }
  for (int64_t i = 0; i < array_count(a); i++)
    scale = limit > 0 && isfinite(array_get(b, i)) ? fmax(scale, fabs(array_get(b, i))) : scale;
  for (int64_t i = 0; i < array_count(a); i++) {
    double x = array_get(a, i), y = array_get(b, i);
    if (x == y || (isnan(x) && isnan(y)) || (limit > 0 && fabs(x - y) <= limit * scale))
      continue;
    snprintf(r->message, sizeof r->message,
             "result %d, element %lld: %.9g on all ranks, %.9g on one (%s)", k, (long long)i, x, y,
             limit > 0 ? "beyond rounding" : "whole numbers, nothing rounds");
    return false;
  }
  return true;
}

/* ---- Steps ---- */

typedef struct state {
  const job *j;
  report *r;
  const char *strategy;
  MlirModule module;
  opinion *opinion; /* NULL: none */
} state;

/* Fills the padding of uneven shards, which is unspecified, with values that reveal any use. */
static void poison(const tp_plan *plan, const launch *l) {
  for (int n = 0; n < l->n_ranks * l->n_inputs; n++) {
    int rank = n / l->n_inputs, i = n % l->n_inputs;
    const tp_plan_value *value = plan->arguments + i;
    array *a = l->inputs[rank] + i;
    int64_t valid[TP_MAX_RANK], at, elements = array_count(a);
    for (int d = 0; d < a->rank; d++)
      tp_spec_shard(&plan->mesh, value->spec, d, value->shape[d], rank, &at, &valid[d]);
    for (int64_t e = 0; e < elements; e++) {
      bool inside = true;
      int64_t rest = e;
      for (int d = a->rank - 1; d >= 0; d--) {
        inside &= rest % a->shape[d] < valid[d];
        rest /= a->shape[d];
      }
      if (!inside)
        for (int p = 0; p < a->type->parts; p++)
          array_set(a, e * a->type->parts + p,
                    a->type->kind == 'f' ? (double)NAN
                    : e % 2              ? 0
                                         : 1 << 30);
    }
  }
}

static bool run_build(state *s, const build *b, const array *inputs, array **outputs) {
  launch l = {.function = b->shape->function, .object = &b->object, .timeout = 40, .repeat = 0};
  s->r->message[0] = 0;
  bool ok = shards_create(b, inputs, &l);
  if (ok)
    poison(b->shape, &l);
  s->r->running = true;
  ok = ok && (s->j->processes && l.n_ranks > 1 ? launch_processes : launch_threads)(&l) &&
       outputs_join(b->shape, &l, outputs);
  s->r->running = false;
  if (!ok)
    s->r->outcome = strstr(s->r->message, "should hold the same data") ? MISMATCH : RUN_FAILED;
  return ok;
}

static const char on_host[] = "tp-local-to-runtime", on_gpu[] = "tp-local-to-cuda",
                  /* overlaps every collective that can be overlapped */
    overlapped[] = "tp-local-to-runtime{overlap=true least=0}";

/* Compiles a program of one device, or an unpartitioned one, to an object. */
static bool compile(MlirModule source, const char *lowering, build *b) {
  tp_compile_options level = {.size = sizeof level, .opt_level = 1};
  *b = (build){.module =
                   mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(source)))};
  return tp_plan_measure(b->module, NULL, NULL, &b->shape) == TP_OK &&
         (b->constants = constants_load(b->module, b->shape)) != NULL &&
         tp_run_pipeline(b->module, "tp-optimize-local") == TP_OK &&
         tp_plan_measure(b->module, NULL, NULL, &b->plan) == TP_OK &&
         tp_run_pipeline(b->module, lowering) == TP_OK &&
         tp_compile(b->module, &level, TP_EMIT_OBJECT, &b->object) == TP_OK;
}

/* Runs tp-spmd as a separate step first: an error there is a refusal, an error later is a gap in
 * the lowering. */
static bool compile_sharded(state *s, build *b) {
  char pipeline[200], limit[40] = "";
  if (s->j->limited && !limit_draw(s->module, s->strategy, s->j->seed, s->r))
    return false;
  if (s->j->limited)
    snprintf(limit, sizeof limit, " memory-limit=%lldB", (long long)s->r->limit);
  snprintf(pipeline, sizeof pipeline, "tp-spmd{strategy=%s%s%s%s}", s->strategy, limit,
           s->j->seed % 3 == 0 ? " shard-constants=0B" : "",
           s->j->fused ? " fuse=always topology=h100" : "");
  if (tp_run_pipeline(s->module, pipeline) != TP_OK) {
    s->r->outcome = judge_refusal(s->r, REFUSED);
    return false;
  }
  if (!compile(s->module, s->j->on_gpu ? on_gpu : s->j->seed % 2 == 1 ? overlapped : on_host, b)) {
    s->r->outcome = judge_refusal(s->r, UNLOWERED);
    return false;
  }
  s->r->n_collectives = b->plan->n_collectives;
  return true;
}

static void run_and_compare(state *s, const array *inputs, const array *expected) {
  build sharded = {0};
  array *outputs = NULL;
  if (!compile_sharded(s, &sharded) || !run_build(s, &sharded, inputs, &outputs))
    return;
  s->r->outcome = VERIFIED;
  for (int k = 0; k < sharded.shape->n_results && !s->j->is_text; k++)
    if (!same(s->j, k, outputs + k, expected + k, s->r)) {
      s->r->outcome = MISMATCH;
      return;
    }
  if (s->opinion && !opinion_agrees(s->opinion, outputs, "all ranks", s->r))
    s->r->outcome = MISMATCH;
}

static bool run_whole(state *s, const array *inputs, array **outputs) {
  build whole;
  if (!compile(s->module, on_host, &whole)) {
    s->r->outcome = judge_refusal(s->r, UNLOWERED);
    return false;
  }
  if (!run_build(s, &whole, inputs, outputs))
    return false;
  bool right = !s->opinion || opinion_agrees(s->opinion, *outputs, "one device", s->r);
  s->r->outcome = right ? VERIFIED : WRONG;
  return right;
}

void execute(void *data, report *r) {
  const job *j = data;
  running = r;
  MlirContext context = mlirContextCreateWithThreading(false);
  tp_context_prepare(context);
  watch_errors(r, context.ptr);
  state s = {.j = j, .r = r, .strategy = j->follow ? "follow" : "plan"};
  s.module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(j->source));
  r->outcome = INVALID;
  tp_plan *signature;
  if (mlirModuleIsNull(s.module) || tp_plan_measure(s.module, NULL, NULL, &signature) != TP_OK)
    return;
  coverage_measure(s.module, s.strategy, r);
  array *inputs = draw_inputs(j, signature), *expected = inputs;
  r->n_errors = 0; /* ignores errors of the coverage measurement */
  r->message[0] = 0;
  if (!j->is_identity) {
    s.opinion = opinion_form(s.module, signature, inputs, r);
    if (r->lacks || (j->is_text && !s.opinion) || !run_whole(&s, inputs, &expected))
      return;
  }
  run_and_compare(&s, inputs, expected);
}
