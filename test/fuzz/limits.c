/* Plans random programs within memory limits and checks the planner's claims. */
#include "limits.h"

#include "errors.h"

#include "tp/passes.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Contents of the attribute tp.plan of `main`. */
typedef struct summary {
  bool planned;
  int64_t cost, bound, peak;
} summary;

static int64_t entry(MlirAttribute plan, const char *name) {
  return mlirIntegerAttrGetValueInt(
      mlirDictionaryAttrGetElementByName(plan, mlirStringRefCreateFromCString(name)));
}

/* Plans a copy of `source`. `limit`: -1 for none. Diagnostics go to the handler of the context. */
static summary plan(MlirModule source, const char *strategy, int64_t limit) {
  summary s = {0};
  char pipeline[200], within[40] = "";
  if (limit >= 0)
    snprintf(within, sizeof within, " memory-limit=%lldB", (long long)limit);
  snprintf(pipeline, sizeof pipeline,
           "tp-import,tp-decompose,tp-inline-calls,tp-raise,tp-hoist-invariants,tp-propagate{"
           "strategy=%s%s}",
           strategy, within);
  MlirModule module = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(source)));
  s.planned = tp_run_pipeline(module, pipeline) == TP_OK;
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
       s.planned && !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute attr =
        mlirOperationGetDiscardableAttributeByName(op, mlirStringRefCreateFromCString("tp.plan"));
    if (mlirAttributeIsNull(attr))
      continue;
    int64_t peak = entry(attr, "peak_memory"); /* the max over all functions */
    if (peak >= s.peak)
      s = (summary){true, entry(attr, "cost_ps"), entry(attr, "bound_ps"), peak};
  }
  mlirModuleDestroy(module);
  return s;
}

static bool fails(report *r, verdict outcome, const char *what, const summary *a,
                  const summary *b) {
  char why[400];
  snprintf(why, sizeof why, "%.300s", r->n_errors ? r->message : "");
  snprintf(r->message, sizeof r->message,
           "%s: within %lld costs %lld .. %lld and holds %lld, not %lld .. %lld and %lld %s", what,
           (long long)r->limit, (long long)b->bound, (long long)b->cost, (long long)b->peak,
           (long long)a->bound, (long long)a->cost, (long long)a->peak, why);
  r->outcome = outcome;
  return false;
}

/* Checks the planner's claims about a limit that the plan `known` satisfies. The planner may
 * overestimate memory and refuse; this is only counted. */
static bool is_true_of(MlirModule module, const char *strategy, const summary *known, report *r) {
  int64_t drawn = r->limit;
  r->limit = known->peak;
  summary again = plan(module, strategy, known->peak);
  r->counted_more |= !again.planned || again.bound > known->cost;
  if (!again.planned && !strstr(r->message, "no plan was found that fits"))
    return fails(r, LOST, "a plan is known", known, &again);
  if (again.planned && (again.peak > known->peak || again.bound > again.cost))
    return fails(r, EXCEEDED, "within what a plan holds", known, &again);
  r->limit = drawn;
  r->n_errors = 0; /* ignores errors so far */
  r->message[0] = 0;
  return true;
}

/* Returns the smallest peak memory of any plan, as the planner estimates it. */
static int64_t least_counted(MlirModule module, const char *strategy, report *r) {
  long long least = 0;
  if (!plan(module, strategy, 0).planned) {
    const char *at = strstr(r->message, "counts at least ");
    if (at)
      least = atoll(at + strlen("counts at least "));
  }
  r->n_errors = 0;
  r->message[0] = 0;
  return least;
}

bool limit_draw(MlirModule module, const char *strategy, uint64_t seed, report *r) {
  rng random = {seed};
  summary free = plan(module, strategy, -1);
  if (!free.planned) {
    r->outcome = judge_refusal(r, REFUSED);
    return false;
  }
  r->free_peak = free.peak;
  if (!is_true_of(module, strategy, &free, r))
    return false;
  int64_t least = least_counted(module, strategy, r);
  r->limit =
      free.peak <= least ? free.peak : least + rng_below(&random, (int)(free.peak - least + 1));
  summary within = plan(module, strategy, r->limit);
  if (!within.planned) {
    bool said = strstr(r->message, "memory-limit: a device may hold") != NULL;
    r->outcome = said ? judge_refusal(r, REFUSED) : SILENT;
    return false;
  }
  if (within.peak > r->limit || within.bound > within.cost)
    return fails(r, EXCEEDED, "a plan within a limit", &free, &within);
  return is_true_of(module, strategy, &within, r);
}
