/* The frontier of time and memory: the function is planned again within other memory limits. Each
 * plan is written into a copy, so that its peak is that of a program. */
#include "passes/propagate/report/plan_diff.h"
#include "passes/propagate/report/plan_graph.h"
#include "passes/propagate/report/plan_text.h"

#include <mlir-c/Diagnostics.h>
#include <stdlib.h>

/* One memory limit. */
typedef struct point {
  int64_t limit, peak; /* peak -1: no plan was found */
  tp_cost cost, bound;
  bool is_cut_short;
  json_t *plan; /* what of it is compared; NULL: no plan, or this plan */
} point;

/* ---- plans ---- */

/* Layouts of arguments or results, called as in the document of this plan. */
static json_t *layouts_json(tp_report *r, MlirOperation func, const json_t *own, bool is_args) {
  json_t *list = json_array();
  const json_t *like;
  size_t i;
  json_array_foreach(own, i, like) {
    const char *name = tp__text_of(like, "name");
    MlirAttribute layout = is_args ? tp__arg_attr(func, (int)i, "tp.sharding")
                                   : tp__result_attr(func, (int)i, "tp.sharding");
    json_array_append_new(
        list, json_pack("{s:s, s:s}", "name", *name ? name : tp__text_of(like, "value"), "sharding",
                        mlirAttributeIsNull(layout) ? "[]" : tp__report_attr(r, layout)));
  }
  return list;
}

/* What moves, called as in the document of this plan. */
static json_t *collectives_json(const tp_report *r) {
  json_t *list = json_array();
  for (size_t i = 0; i < r->function.n_changes; i++) {
    const tp_report_communication *c = &r->function.changes[i];
    const char *description = c->value ? tp__report_description(r, c->value->value) : "";
    for (size_t k = 0; k < c->n_collectives; k++)
      json_array_append_new(
          list,
          json_pack("{s:s, s:s, s:o, s:I, s:I}", "kind", tp_collective_name(c->collectives[k].kind),
                    "axes", c->collectives[k].over, "description", tp__report_string(description),
                    "count", (json_int_t)c->trips, "bytes_per_device",
                    (json_int_t)((double)c->collectives[k].bytes * c->trips)));
  }
  return list;
}

/* What is compared of the plan that was written into a copy. NULL when memory runs out. */
static json_t *plan_json(tp_report *r, const tp_planner *copy, const tp_memory_peak *peak,
                         const json_t *function) {
  const tp_function_report *f = &r->function;
  MlirOperation func = copy->problem.graph.func;
  return json_pack("{s:o, s:o, s:o, s:o, s:{s:f}, s:{s:I}, s:I}", "arguments",
                   layouts_json(r, func, json_object_get(function, "arguments"), true), "results",
                   layouts_json(r, func, json_object_get(function, "results"), false), "traffic",
                   tp__report_traffic(r), "collectives", collectives_json(r), "step", "seconds",
                   tp_cost_seconds(f->compute + f->communication + f->local), "memory",
                   "peak_bytes", (json_int_t)peak->bytes, "bytes_per_device", (json_int_t)f->bytes);
}

static tp_status plan_copy(tp_pass *pass, const tp_planner *p, const json_t *function,
                           point *found) {
  tp_replan again;
  tp_memory_peak peak = {0};
  tp_report own = {.pass = pass};
  tp_status status = tp__replan_open(pass, p, false, &again);
  own.mesh = again.planner.problem.mesh;
  own.topology = again.planner.problem.machine;
  if (status == TP_OK)
    status = tp__plan(&again.planner);
  if (status == TP_OK)
    status = tp__report_name_values(&own);
  if (status == TP_OK)
    status = tp__report_describe(&own, &again.planner);
  again.planner.report = &own; /* lists the changes of layout that are written */
  if (status == TP_OK)
    status = tp__plan_write(&again.planner);
  if (status == TP_OK)
    status = tp__plan_peak(&again.planner, &peak);
  if (status == TP_OK)
    status = tp__report_measure(&own, &again.planner);
  found->is_cut_short = again.planner.result.is_cut_short;
  if (status == TP_OK)
    found->plan = plan_json(&own, &again.planner, &peak, function);
  if (found->plan) {
    found->peak = peak.bytes;
    found->cost = again.planner.result.cost;
    found->bound = again.planner.result.bound;
  }
  tp__report_forget(&own);
  tp__report_forget_names(&own);
  tp__arena_destroy(&own.arena);
  tp__memory_peak_destroy(&peak);
  tp__replan_close(&again);
  return status;
}

/* Plans the function as its user would with memory-limit=LIMIT. */
static point plan_within(tp_report *r, const tp_planner *p, const json_t *function, int64_t limit) {
  point found = {.limit = limit, .peak = -1};
  MlirModule copy = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(r->before)));
  tp_propagate_options given = *(const tp_propagate_options *)r->pass->options;
  tp_pass pass = *r->pass;
  given.memory_limit = limit;
  pass.options = &given;
  pass.module = mlirModuleGetOperation(copy);
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(r->pass->context, tp__discard_diagnostic, NULL, NULL);
  (void)plan_copy(&pass, p, function, &found); /* without a plan the peak stays -1 */
  mlirContextDetachDiagnosticHandler(r->pass->context, handler);
  mlirModuleDestroy(copy);
  return found;
}

/* Says how far the search is, and what it found. */
static void tell(const tp_planner *p, const point *found, int number, int n) {
  char result[80] = "no plan was found";
  if (found->peak >= 0)
    snprintf(result, sizeof result, "cost %s, peak %s",
             tp__seconds_text(tp_cost_seconds(found->cost)).chars,
             tp__bytes_text(found->peak).chars);
  tp__remark(p->problem.graph.func, "report-frontier: plan %d of %d, within %s: %s", number, n,
             tp__bytes_text(found->limit).chars, result);
}

static int compare_points(const void *a, const void *b) {
  const point *x = a, *y = b;
  return (x->limit > y->limit) - (x->limit < y->limit);
}

/* What the plan changes against another one, in words: "wq: whole -> split over tp; 2 all_gathers
 * over tp more, 3.100 ms more". */
static json_t *changes_text(const point *found, const json_t *difference, tp_cost other_cost) {
  tp__string text = {0};
  tp__print_changes(&text, difference);
  bool is_same = found->cost == other_cost && tp__integer_of(difference, "peak_before") ==
                                                  tp__integer_of(difference, "peak_bytes");
  if (!*tp__string_text(&text))
    tp__string_append(&text, is_same ? "the same" : "other layouts of values inside the program");
  if (found->cost != other_cost)
    tp__string_printf(
        &text, ", %s %s",
        tp__seconds_text(tp_cost_seconds(found->cost > other_cost ? found->cost - other_cost
                                                                  : other_cost - found->cost))
            .chars,
        found->cost > other_cost ? "more" : "less");
  json_t *json = tp__report_string(tp__string_text(&text));
  tp__string_destroy(&text);
  return json;
}

/* A plan to compare with. */
typedef struct reference {
  const json_t *plan; /* a document; NULL: none */
  tp_cost cost;
} reference;

static json_t *changes_json(const point *found, reference own, reference next) {
  json_t *from_own = tp__report_difference_of(own.plan, found->plan);
  json_t *from_next = tp__report_difference_of(next.plan, found->plan);
  return json_pack("{s:o, s:o, s:o, s:o}", "changes", changes_text(found, from_next, next.cost),
                   "changes_from_this", changes_text(found, from_own, own.cost), "against_next",
                   from_next, "against_this", from_own);
}

/* `own` is this plan, `next` that within the next larger limit; without a plan in `next`, `found`
 * is this plan. */
static json_t *point_json(const point *found, reference own, reference next) {
  json_t *limit = next.plan ? json_integer((json_int_t)found->limit) : json_null();
  if (found->peak < 0)
    return json_pack("{s:o, s:n, s:n, s:n, s:b, s:s, s:s, s:n, s:n}", "limit_bytes", limit,
                     "peak_bytes", "cost_seconds", "bound_seconds", "cut_short",
                     found->is_cut_short, "changes", "", "changes_from_this", "", "against_next",
                     "against_this");
  json_t *json =
      json_pack("{s:o, s:I, s:f, s:f, s:b, s:s, s:s, s:n, s:n}", "limit_bytes", limit, "peak_bytes",
                (json_int_t)found->peak, "cost_seconds", tp_cost_seconds(found->cost),
                "bound_seconds", tp_cost_seconds(found->bound), "cut_short", found->is_cut_short,
                "changes", "", "changes_from_this", "", "against_next", "against_this");
  if (next.plan && json_object_update_new(json, changes_json(found, own, next)) != 0)
    json_object_clear(json);
  return json;
}

/* The middle of the widest gap between the limits of n points from `from` to `peak`. */
static int64_t middle_of_gap(const point *points, int n, int64_t from, int64_t peak) {
  int64_t start = from, widest = -1;
  for (int i = -1; i < n; i++) {
    int64_t a = i < 0 ? from : points[i].limit, b = peak;
    for (int k = 0; k < n; k++)
      if (points[k].limit > a && points[k].limit < b)
        b = points[k].limit;
    if (a >= from && b - a > widest) {
      start = a;
      widest = b - a;
    }
  }
  return start + widest / 2;
}

/* The first half of the plans looks for the smallest limit within which there is a plan, by halving
 * the interval. Each later plan halves the widest gap between the limits so far: those from that
 * smallest limit up to the peak of this plan, or, if there was no plan, from the largest limit that
 * was tried. */
static void find_points(tp_report *r, const tp_planner *p, const json_t *function, int64_t peak,
                        int n, point *points) {
  int64_t low = 0, high = peak;
  int searching = (n + 1) / 2;
  for (int i = 0; i < n; i++) {
    int64_t limit = i < searching ? low + (high - low) / 2
                                  : middle_of_gap(points, i, high < peak ? high : low, peak);
    points[i] = plan_within(r, p, function, limit);
    tell(p, &points[i], i + 1, n);
    if (i < searching && points[i].peak >= 0)
      high = limit;
    else if (i < searching)
      low = limit;
  }
}

/* What no plan within a limit undercuts, none within a smaller one does. */
static void raise_bounds(int n, point *points, tp_cost own) {
  for (int i = n - 1, above = n; i >= 0; i--) {
    tp_cost bound = above < n ? points[above].bound : own;
    if (points[i].peak < 0)
      continue;
    points[i].bound = points[i].bound < bound ? bound : points[i].bound;
    above = i;
  }
}

json_t *tp__report_frontier(tp_report *r, const tp_planner *p, const json_t *function) {
  const tp_propagate_options *given = r->pass->options;
  int64_t peak = tp__integer_of(json_object_get(function, "memory"), "peak_bytes");
  int n = (int)given->n_frontier;
  json_t *list = json_array();
  if (n == 0)
    return list;
  point own = {.limit = peak,
               .peak = peak,
               .cost = p->result.cost,
               .bound = p->result.bound,
               .is_cut_short = p->result.is_cut_short};
  point *points = tp__calloc((size_t)n, sizeof *points);
  if (!points) {
    json_decref(list);
    return NULL;
  }
  find_points(r, p, function, peak, n, points);
  qsort(points, (size_t)n, sizeof *points, compare_points);
  raise_bounds(n, points, own.bound);
  const reference this_plan = {.plan = function, .cost = own.cost};
  json_array_append_new(list, point_json(&own, this_plan, (reference){0}));
  reference next = this_plan;
  for (int i = n - 1; i >= 0; i--) {
    json_array_insert_new(list, 0, point_json(&points[i], this_plan, next));
    if (points[i].plan)
      next = (reference){.plan = points[i].plan, .cost = points[i].cost};
  }
  for (int i = 0; i < n; i++)
    json_decref(points[i].plan);
  tp__free(points);
  return list;
}
