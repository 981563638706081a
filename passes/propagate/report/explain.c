/* Implements explain=...: a remark at the op that makes a value, with its layout, the reasons for
 * it, and the cost of other layouts. */
#include "ir/location.h"
#include "passes/propagate/report/plan_report.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NEAR = 5, MAX_ALIKE = 8 };

/* ---- the requested value ---- */

static MlirOperation op_of(const tp_planner *p, const tp_planned_value *v) {
  MlirOperation op = tp__defining_op(v->value);
  if (!mlirOperationIsNull(op))
    return op;
  op = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v->value));
  return mlirOperationIsNull(op) ? p->problem.graph.func : op;
}

/* True if FILE:LINE matches some position in the location of the op. FILE may be the end of a
 * path. */
static bool is_at(tp_report *r, MlirOperation op, const char *wanted) {
  char *text = tp__arena_strdup(&r->arena, tp__report_location(r, op)), *to = text;
  size_t n = strlen(wanted);
  for (const char *from = text; from && *from; from++)
    if (*from != '"')
      *to++ = *from;
  if (to)
    *to = 0;
  for (const char *at = text; at && (at = strstr(at, wanted)); at++)
    if (at[n] == ':' && (at == text || strchr("/([, ", at[-1])))
      return true;
  return false;
}

/* Where a remark about the value points: an argument has a place of its own, unless a tool made
 * it. */
static MlirLocation place_of(const tp_planner *p, const tp_planned_value *v) {
  MlirLocation own = mlirValueGetLocation(v->value), file;
  return mlirValueIsABlockArgument(v->value) && tp__location_file(own, &file)
             ? own
             : mlirOperationGetLocation(op_of(p, v));
}

static bool is_place(const char *text) {
  const char *colon = strrchr(text, ':');
  return colon && colon != text && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

/* What is wanted, without the % of names. */
static const char *wanted_text(const tp_report *r) { return r->explain + (r->explain[0] == '%'); }

static bool is_described(const tp_report *r, const tp_planned_value *v) {
  return strcmp(wanted_text(r), tp__report_description(r, v->value)) == 0;
}

/* A description is accepted if it is that of one value: `n_described` have it. */
static bool is_wanted(tp_report *r, const tp_planner *p, const tp_planned_value *v,
                      const tp_value_names *names, int n_described) {
  const char *wanted = wanted_text(r);
  if (n_described == 1 && is_described(r, v))
    return true;
  if (names->n > 0 && is_place(wanted))
    return !mlirValueIsABlockArgument(v->value) && is_at(r, op_of(p, v), wanted);
  for (int i = 0; i < names->n; i++)
    if (strcmp(wanted, names->items[i]) == 0)
      return true;
  return false;
}

static tp_status keep_known(tp_report *r, const char *name) {
  if (tp__grow((void **)&r->known, &r->known_capacity, r->n_known + 1, sizeof *r->known) != TP_OK)
    return tp__out_of_memory(r->pass->module);
  r->known[r->n_known++] = name;
  return TP_OK;
}

/* ---- other layouts ---- */

/* A value may have hundreds of layouts, and a bound or a plan for each takes a while. So bounds are
 * computed for the first ones, layouts with whole axes before others, and plans for those with the
 * lowest bounds. For the rest, the report states the bounds from the proof of the plan. */
enum { MAX_BOUNDED = 32, MAX_SOLVED = 12 };

typedef struct other_layout {
  tp_spec spec;
  bool in_parts; /* it names parts of axes that were split */
  bool possible;
  tp_cost cost, bound;
} other_layout;

static int compare_layouts(const void *a, const void *b) {
  const other_layout *x = a, *y = b;
  if (x->bound != y->bound)
    return x->bound < y->bound ? -1 : 1;
  return (x->spec.bits > y->spec.bits) - (x->spec.bits < y->spec.bits);
}

static int compare_candidates(const void *a, const void *b) {
  const other_layout *x = a, *y = b;
  bool xout = x->bound >= TP_COST_FORBIDDEN, yout = y->bound >= TP_COST_FORBIDDEN;
  if (xout != yout || x->in_parts == y->in_parts)
    return xout != yout ? (xout ? 1 : -1) : compare_layouts(a, b);
  return x->in_parts ? 1 : -1;
}

static void sort(other_layout *list, int n, int (*compare)(const void *, const void *)) {
  if (n > 1)
    qsort(list, (size_t)n, sizeof *list, compare);
}

/* Lists other layouts of the value, each with its lowest bound among `bounds` by strategy. */
static int list_layouts(tp_report *r, const tp_planner *p, const tp_planned_value *v,
                        const tp_cost *bounds, other_layout *list) {
  const tp_node *node = &p->problem.nodes[v->node];
  int n = 0;
  for (int s = 0; s < node->n; s++) {
    tp_spec spec = node->out[s * node->n_out + v->output];
    int i = 0;
    while (i < n && !tp_spec_equal(spec, list[i].spec))
      i++;
    if (tp_spec_equal(spec, tp__plan_produced(p, v)))
      continue;
    if (i == n)
      list[n++] = (other_layout){spec, strstr(tp__report_spec(r, spec, v->rank), ":("), true,
                                 TP_COST_FORBIDDEN, bounds[s]};
    else if (bounds[s] < list[i].bound)
      list[i].bound = bounds[s];
  }
  sort(list, n, compare_candidates);
  return n;
}

static void allow(const tp_planner *p, const tp_planned_value *v, tp_spec spec, bool *allowed) {
  const tp_node *node = &p->problem.nodes[v->node];
  for (int s = 0; s < node->n; s++)
    allowed[s] = tp_spec_equal(node->out[s * node->n_out + v->output], spec);
}

/* Tightens the bounds of the first n layouts, and sorts them by bound. */
static tp_status bound_layouts(const tp_planner *p, const tp_sensitivity *beside,
                               const tp_planned_value *v, bool *allowed, const bool **rows, int n,
                               other_layout *list) {
  tp_status status = TP_OK;
  rows[v->node] = allowed;
  for (int i = 0; i < n && status == TP_OK; i++) {
    tp_cost bound = 0;
    allow(p, v, list[i].spec, allowed);
    if (list[i].bound < TP_COST_FORBIDDEN)
      status = tp_sensitivity_bound(beside, rows, TP_COST_FORBIDDEN, &bound);
    list[i].bound = bound > list[i].bound ? bound : list[i].bound;
  }
  sort(list, n, compare_layouts);
  return status;
}

/* Plans with this layout. `allowed` must have an element per strategy of the producer; `rows` must
 * be NULL for all other nodes. */
static tp_status solve_layout(const tp_planner *p, const tp_sensitivity *beside,
                              const tp_planned_value *v, bool *allowed, const bool **rows,
                              other_layout *other) {
  tp_solution solution;
  allow(p, v, other->spec, allowed);
  rows[v->node] = allowed;
  tp_status status = tp_sensitivity_solve(beside, rows, TP_COST_FORBIDDEN, &solution);
  if (status != TP_OK && status != TP_INFEASIBLE)
    return status;
  other->possible = status == TP_OK || !solution.optimal;
  other->bound = solution.lower_bound;
  if (status == TP_OK)
    other->cost = solution.cost;
  tp_solution_clear(&solution);
  return TP_OK;
}

static double us(tp_cost cost) { return 1e6 * tp_cost_seconds(cost); }

static void print_layout(tp_report *r, const tp_planner *p, const tp_planned_value *v,
                         const other_layout *other, tp__string *text) {
  const char *layout = tp__report_spec(r, other->spec, v->rank);
  if (!other->possible)
    tp__string_printf(text, "\n    %s: impossible", layout);
  else if (other->cost >= TP_COST_FORBIDDEN)
    tp__string_printf(text, "\n    %s: at least %+.3f us", layout,
                      us(other->bound - p->result.cost));
  else if (other->cost == other->bound)
    tp__string_printf(text, "\n    %s: %+.3f us", layout, us(other->cost - p->result.cost));
  else
    tp__string_printf(text, "\n    %s: at least %+.3f us, at most %+.3f us", layout,
                      us(other->bound - p->result.cost), us(other->cost - p->result.cost));
}

/* Summarizes the layouts for which no plan was made. */
static void print_others(const tp_planner *p, int n, const other_layout *others, tp__string *text) {
  int possible = 0;
  tp_cost least = TP_COST_FORBIDDEN;
  for (int i = 0; i < n; i++) {
    possible += others[i].bound < TP_COST_FORBIDDEN;
    least = others[i].bound < least ? others[i].bound : least;
  }
  if (possible > 0 && least > p->result.cost)
    tp__string_printf(text, "\n    %d more: at least %+.3f us", possible,
                      us(least - p->result.cost));
  else if (possible > 0)
    tp__string_printf(text, "\n    %d more, of unknown cost", possible);
  if (possible < n)
    tp__string_printf(text, "\n    %d more: impossible", n - possible);
}

/* Reports the cost of other layouts. All of them reuse one tp_sensitivity of the plan. */
static tp_status print_layouts(tp_report *r, const tp_planner *p, const tp_planned_value *v,
                               tp__string *text) {
  if (p->kept && p->limits.memory < 0) {
    tp__string_printf(text, "\n  other layouts are not priced: %s",
                      !p->result.is_cut_short ? "the function has too many strategies (entries)"
                      : strcmp(tp__clock_ender(), "interrupt") == 0
                          ? "an interrupt ended the search"
                          : "the time limit ended the search (time-limit)");
    return TP_OK;
  }
  if (p->kept) {
    tp__string_append(text, "\n  other layouts are not priced in a function of this size under a "
                            "memory limit; annotate one to see what it costs");
    return TP_OK;
  }
  size_t n_strategies = (size_t)p->problem.nodes[v->node].n;
  tp_solver_options options = tp__other_plans_options(p);
  tp_sensitivity *beside = NULL;
  other_layout *list = tp__calloc(n_strategies + 1, sizeof *list);
  bool *allowed = tp__calloc(n_strategies + 1, sizeof *allowed);
  tp_cost *bounds = tp__calloc(n_strategies + 1, sizeof *bounds);
  const bool **rows = tp__calloc(p->problem.n_nodes + 1, sizeof *rows);
  int n = 0, solved = 0;
  tp_status status = list && allowed && bounds && rows ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK)
    status =
        tp_sensitivity_create(p->stated, &options, NULL,
                              p->problem.overlaps ? TP_COST_FORBIDDEN : p->result.cost, &beside);
  if (status == TP_OK)
    status = tp_sensitivity_bounds(beside, v->node, bounds);
  if (status == TP_OK) {
    n = list_layouts(r, p, v, bounds, list);
    status = bound_layouts(p, beside, v, allowed, rows, n < MAX_BOUNDED ? n : MAX_BOUNDED, list);
  }
  for (; solved < n && solved < MAX_SOLVED && status == TP_OK &&
         list[solved].bound < TP_COST_FORBIDDEN;
       solved++)
    status = solve_layout(p, beside, v, allowed, rows, &list[solved]);
  if (status == TP_OK && n > 0) {
    tp__string_append(text, "\n  other layouts, by what the plan would cost:");
    sort(list, solved, compare_layouts);
    for (int i = 0; i < solved; i++)
      print_layout(r, p, v, &list[i], text);
    print_others(p, n - solved, list + solved, text);
  } else if (status == TP_OK) {
    tp__string_append(text, r->function.pin_of_node[v->node] < 0
                                ? "\n  it can have no other layout"
                                : "\n  its annotation leaves no other layout");
  }
  tp_sensitivity_destroy(beside);
  tp__free(list);
  tp__free(allowed);
  tp__free(bounds);
  tp__free(rows);
  return status == TP_OK ? TP_OK : tp__out_of_memory(p->problem.graph.func);
}

/* ---- the value ---- */

static void print_why(tp_report *r, const tp_planner *p, const tp_planned_value *v,
                      tp__string *text) {
  tp_spec spec = tp__plan_produced(p, v);
  for (int a = 0; a < r->mesh->n_axes; a++) {
    const char *texts[TP_MAX_CAUSES];
    char axis[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(r->mesh, a, 1, axis, sizeof axis);
    if (r->mesh->axes[a].size == 1)
      continue;
    if (tp_spec_place(spec, a).kind == TP_REPLICATED) {
      tp__string_printf(text, "\n  not along %s: all devices along it hold the same data", axis);
      continue;
    }
    int n = tp__report_why(r, v, a, texts);
    tp__string_printf(text, "\n  %s:", axis);
    for (int i = 0; i < n; i++)
      tp__string_printf(text, "%s%s", n > 1 ? "\n    " : " ", texts[i]);
  }
}

static void print_collectives(tp_report *r, const tp_planned_value *v, tp__string *text) {
  int said = 0;
  for (size_t i = 0; i < r->function.n_changes; i++) {
    const tp_report_communication *c = &r->function.changes[i];
    for (size_t k = 0;
         k < c->n_collectives && (c->value == v || (c->node >= 0 && c->node == v->node)); k++) {
      const tp_report_collective *o = &c->collectives[k];
      MlirOperation op = c->node >= 0 ? c->op : v->uses[c->use < 0 ? 0 : c->use].op;
      tp__string_printf(text, "%s\n    %s over %s: %s, %.3f us, for %s",
                        said++ ? "" : "\n  collectives:", tp_collective_name(o->kind), o->over,
                        tp__bytes_text((int64_t)((double)o->bytes * c->trips)).chars,
                        us(tp__cost_times(o->cost, c->trips)), tp__report_op(r, op));
    }
  }
  if (said == 0)
    tp__string_append(text, "\n  it causes no collective");
}

static tp_status explain(tp_report *r, const tp_planner *p, const tp_planned_value *v,
                         const tp_value_names *names) {
  tp__string text = {0};
  const char *number = "";
  for (int i = 0; i < names->n; i++)
    if (strncmp(names->items[i], "result ", strlen("result ")) == 0)
      number = names->items[i];
  tp__string_printf(&text, "%s has layout %s; the plan costs %.3f us",
                    tp__report_label_with(r, v->value, number),
                    tp__report_spec(r, tp__plan_produced(p, v), v->rank), us(p->result.cost));
  print_why(r, p, v, &text);
  print_collectives(r, v, &text);
  tp_status status = print_layouts(r, p, v, &text);
  if (status == TP_OK)
    tp__emit(place_of(p, v), TP_REMARK, tp__string_text(&text), NULL);
  tp__string_destroy(&text);
  r->n_explained++;
  return status;
}

/* Nothing is said of values that have no names: they are made in place. */
static bool has_name(const tp_value_names *names, const char *text) {
  bool found = names->n == 0 || !*text;
  for (int i = 0; i < names->n; i++)
    found |= strcmp(names->items[i], text) == 0;
  return found;
}

tp_status tp__report_explain(tp_report *r, const tp_planner *p) {
  tp_status status = TP_OK;
  int n_described = 0;
  for (size_t k = 0; k < p->problem.n_values; k++)
    if (is_described(r, &p->problem.values[k])) {
      const char *name = tp__report_name(r, p->problem.values[k].value);
      n_described++;
      if (r->n_alike++ == 0)
        r->alike = name;
      else if (r->n_alike <= MAX_ALIKE)
        r->alike = tp__report_text(r, "%s, %s", r->alike, name);
    }
  for (size_t k = 0; k < p->problem.n_values && status == TP_OK; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    tp_value_names names;
    tp__report_value_names(r, p, v, &names);
    const char *printed = tp__report_printed_name(r, v->value);
    for (int i = 0; i < names.n && status == TP_OK; i++)
      if (i == 0 || strcmp(names.items[i], printed + (*printed == '%')) != 0)
        status = keep_known(r, i == 0 ? tp__report_name(r, v->value) : names.items[i]);
    if (status == TP_OK && !has_name(&names, tp__report_description(r, v->value)))
      status = keep_known(r, tp__report_description(r, v->value));
    if (status == TP_OK && is_wanted(r, p, v, &names, n_described))
      status = explain(r, p, v, &names);
  }
  return status;
}

/* ---- similar names ---- */

typedef struct near_name {
  const char *name;
  int distance;
} near_name;

/* Inserts a name behind those that are as near, unless it is there. */
static void insert(near_name *nearest, int *n, const char *name, int distance) {
  int at = *n;
  for (int i = 0; i < *n; i++)
    if (strcmp(nearest[i].name, name) == 0)
      return;
  while (at > 0 && nearest[at - 1].distance > distance)
    at--;
  if (at == MAX_NEAR)
    return;
  *n += *n < MAX_NEAR;
  memmove(nearest + at + 1, nearest + at, (size_t)(*n - 1 - at) * sizeof *nearest);
  nearest[at] = (near_name){name, distance};
}

tp_status tp__report_explained(tp_report *r) {
  near_name nearest[MAX_NEAR];
  const char *wanted = wanted_text(r);
  int n = 0;
  if (r->n_explained > 0)
    return TP_OK;
  if (r->n_alike > 1)
    return tp__error(r->pass->module, TP_NOT_FOUND,
                     "explain: '%s' describes %d values: %s%s; give the name of one", wanted,
                     r->n_alike, r->alike, r->n_alike > MAX_ALIKE ? ", ..." : "");
  tp__string near = {0};
  for (size_t i = 0; i < r->n_known && !is_place(wanted); i++)
    insert(nearest, &n, r->known[i],
           tp__word_distance(wanted, r->known[i] + (r->known[i][0] == '%')));
  for (int i = 0; i < n; i++)
    tp__string_printf(&near, "%s%s", i ? ", " : "; similar names: ", nearest[i].name);
  tp_status status = tp__error(
      r->pass->module, TP_NOT_FOUND,
      "explain: there is no tensor %s '%s'%s; names are those of arguments and results (tp.name, "
      "result 0), of the source, what a report calls a value, and those that "
      "--mlir-print-ir-before=tp-propagate prints",
      is_place(wanted) ? "made at" : "named", r->explain, tp__string_text(&near));
  tp__string_destroy(&near);
  return status;
}
