/* The frontier of time and memory: the function is planned again within other memory limits. Each
 * plan is written into a copy, so that its peak is that of a program. */
#include "passes/propagate/report/plan_graph.h"

#include <mlir-c/Diagnostics.h>
#include <stdlib.h>

/* One memory limit. */
typedef struct point {
  int64_t limit, peak; /* peak -1: no plan was found */
  tp_cost cost, bound;
  bool is_cut_short;
} point;

static tp_status plan_copy(tp_pass *pass, const tp_planner *p, point *found) {
  tp_replan again;
  tp_memory_peak peak = {0};
  tp_status status = tp__replan_open(pass, p, false, &again);
  if (status == TP_OK)
    status = tp__plan(&again.planner);
  if (status == TP_OK)
    status = tp__plan_write(&again.planner);
  if (status == TP_OK)
    status = tp__plan_peak(&again.planner, &peak);
  found->is_cut_short = again.planner.result.is_cut_short;
  if (status == TP_OK) {
    found->peak = peak.bytes;
    found->cost = again.planner.result.cost;
    found->bound = again.planner.result.bound;
  }
  tp__memory_peak_destroy(&peak);
  tp__replan_close(&again);
  return status;
}

/* Plans the function as its user would with memory-limit=LIMIT. */
static point plan_within(tp_report *r, const tp_planner *p, int64_t limit) {
  point found = {.limit = limit, .peak = -1};
  MlirModule copy = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(r->before)));
  tp_propagate_options given = *(const tp_propagate_options *)r->pass->options;
  tp_pass pass = *r->pass;
  given.memory_limit = limit;
  pass.options = &given;
  pass.module = mlirModuleGetOperation(copy);
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(r->pass->context, tp__discard_diagnostic, NULL, NULL);
  (void)plan_copy(&pass, p, &found); /* without a plan the peak stays -1 */
  mlirContextDetachDiagnosticHandler(r->pass->context, handler);
  mlirModuleDestroy(copy);
  return found;
}

/* Says how far the search is, and what it found. */
static void tell(const tp_planner *p, const point *found, int number, int n) {
  char result[80] = "no plan was found";
  if (found->peak >= 0)
    snprintf(result, sizeof result, "%s, peak %s",
             tp__seconds_text(tp_cost_seconds(found->cost)).chars,
             tp__bytes_text(found->peak).chars);
  tp__remark(p->problem.graph.func, "report-frontier: plan %d of %d, within %s: %s", number, n,
             tp__bytes_text(found->limit).chars, result);
}

static int compare_points(const void *a, const void *b) {
  const point *x = a, *y = b;
  return (x->limit > y->limit) - (x->limit < y->limit);
}

static json_t *point_json(const point *found, bool is_own) {
  json_t *limit = is_own ? json_null() : json_integer((json_int_t)found->limit);
  if (found->peak < 0)
    return json_pack("{s:o, s:n, s:n, s:n, s:b}", "limit_bytes", limit, "peak_bytes",
                     "cost_seconds", "bound_seconds", "cut_short", found->is_cut_short);
  return json_pack("{s:o, s:I, s:f, s:f, s:b}", "limit_bytes", limit, "peak_bytes",
                   (json_int_t)found->peak, "cost_seconds", tp_cost_seconds(found->cost),
                   "bound_seconds", tp_cost_seconds(found->bound), "cut_short",
                   found->is_cut_short);
}

/* The first half of the plans looks for the smallest limit within which there is a plan, by halving
 * the interval. The second half lies evenly between that and the peak of this plan, or below the
 * peak if there was none. */
static void find_points(tp_report *r, const tp_planner *p, int64_t peak, int n, point *points) {
  int64_t low = 0, high = peak;
  int searching = (n + 1) / 2, others = n - searching;
  for (int i = 0; i < n; i++) {
    int64_t from = high < peak ? high : low;
    int64_t limit =
        i < searching
            ? low + (high - low) / 2
            : from + (int64_t)((double)(peak - from) * (i - searching + 1) / (others + 1));
    points[i] = plan_within(r, p, limit);
    tell(p, &points[i], i + 1, n);
    if (i < searching && points[i].peak >= 0)
      high = limit;
    else if (i < searching)
      low = limit;
  }
}

json_t *tp__report_frontier(tp_report *r, const tp_planner *p, const tp_memory_peak *peak) {
  const tp_propagate_options *given = r->pass->options;
  int n = (int)given->n_frontier;
  json_t *list = json_array();
  if (n == 0)
    return list;
  point own = {.limit = peak->bytes,
               .peak = peak->bytes,
               .cost = p->result.cost,
               .bound = p->result.bound,
               .is_cut_short = p->result.is_cut_short};
  point *points = tp__calloc((size_t)n, sizeof *points);
  if (!points) {
    json_decref(list);
    return NULL;
  }
  find_points(r, p, peak->bytes, n, points);
  qsort(points, (size_t)n, sizeof *points, compare_points);
  /* what no plan within a limit undercuts, none within a smaller one does */
  for (int i = n - 1, above = n; i >= 0; i--) {
    tp_cost bound = above < n ? points[above].bound : own.bound;
    if (points[i].peak < 0)
      continue;
    points[i].bound = points[i].bound < bound ? bound : points[i].bound;
    above = i;
  }
  for (int i = 0; i < n; i++)
    json_array_append_new(list, point_json(&points[i], false));
  json_array_append_new(list, point_json(&own, true));
  tp__free(points);
  return list;
}
