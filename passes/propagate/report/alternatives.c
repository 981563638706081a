/* Computes the cost of other decisions. A decision is found and priced in the space of plans of the
 * function (plan_space.c). The annotation that forces it is read as the planner would read it, so
 * that a user who writes the annotation gets the reported cost. */
#include "passes/propagate/limits/reduced_planner.h"
#include "passes/propagate/report/plan_report.h"

#include <mlir-c/Diagnostics.h>
#include <stdlib.h>
#include <string.h>

enum {
  COSTLY_PERCENT = 1, /* of the cost; annotations that cost less are not reported */
  /* solver work for the plan, up to which the problem is solved again if an annotation makes the
   * planner offer more */
  LITTLE_WORK = 100000000,
  /* plans made to find costly annotations, for each alternative that may be reported ... */
  PLANS_PER_ALTERNATIVE = 4,
  /* ... but at least one, and no more than have this many nodes in total: reading a program again
   * takes time that grows with it */
  NODES_PER_ALTERNATIVE = 40000,
  /* plans from scratch that may be in vain, one after the other: so many, and more of small
   * problems, up to NODES_ANEW nodes in total */
  MAX_FRUITLESS = 2,
  NODES_ANEW = 1000,
  PLANS_WITH_OVERLAP = 1, /* instead of 4: each is made anew, and takes as long as the plan */
};

/* ---- planning again ---- */

/* Reads the copy with its current annotations. `again` must be closed also when it fails. */
static bool read_copy(const tp_report *r, const tp_planner *p, bool keep_mesh, tp_replan *again) {
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(r->pass->context, tp__discard_diagnostic, NULL, NULL);
  tp_pass pass = *r->pass;
  pass.module = mlirModuleGetOperation(r->before);
  tp_status status = tp__replan_open(&pass, p, keep_mesh, again);
  again->planner.limits.work = tp__other_plans_work(p);
  again->planner.limits.effort = p->limits.effort / TP_OTHER_PLANS_SHARE;
  mlirContextDetachDiagnosticHandler(r->pass->context, handler);
  return status == TP_OK;
}

static bool solve_copy(tp_report *r, tp_replan *again, tp_price *price) {
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(r->pass->context, tp__discard_diagnostic, NULL, NULL);
  tp_status status = tp__plan(&again->planner);
  mlirContextDetachDiagnosticHandler(r->pass->context, handler);
  *price =
      (tp_price){status == TP_OK, true, again->planner.result.cost, again->planner.result.bound};
  r->function.is_cut_short |= again->planner.result.is_cut_short;
  return price->found;
}

/* True if the problem of `again` has strategies and costs comparable to those of the plan. Then the
 * space selects it. */
static bool is_near(const tp_planner *p, tp_space *space, const tp_replan *again, bool *covers) {
  return p->limits.memory < 0 && !p->problem.overlaps &&
         again->planner.problem.reshards == p->problem.reshards &&
         tp__space_match(space, &again->planner, covers);
}

static MlirOperation copied(const tp_report *r, MlirOperation op) {
  return r->ops.items[tp__table_get(&r->op_place, op.ptr)];
}

static void set_boundary(MlirOperation func, bool is_arg, int i, MlirAttribute value) {
  tp_boundary boundary;
  if (tp__boundary_begin(func, is_arg, &boundary) != TP_OK)
    return;
  tp__boundary_set(&boundary, i, "tp.sharding", value);
  tp__boundary_end(&boundary);
}

static void set_or_remove(MlirOperation op, const char *name, MlirAttribute value) {
  if (mlirAttributeIsNull(value))
    tp__remove(op, name);
  else
    tp__set(op, name, value);
}

/* The annotation that the copy has at the position of this one. */
static tp_pin current(const tp_report *r, const tp_pin *pin) {
  tp_pin now = *pin;
  MlirOperation op = copied(r, pin->op);
  bool is_op = pin->place == TP_PIN_OP;
  now.sharding = is_op                      ? tp__get(op, "tp.sharding")
                 : pin->place == TP_PIN_ARG ? tp__arg_attr(op, pin->number, "tp.sharding")
                                            : tp__result_attr(op, pin->number, "tp.sharding");
  now.factors = is_op ? tp__get(op, "tp.factors") : (MlirAttribute){NULL};
  return now;
}

/* Writes the annotation into the copy; null attributes remove it. */
static void annotate(const tp_report *r, const tp_pin *pin, MlirAttribute sharding,
                     MlirAttribute factors) {
  MlirOperation op = copied(r, pin->op);
  if (pin->place != TP_PIN_OP) {
    set_boundary(op, pin->place == TP_PIN_ARG, pin->number, sharding);
    return;
  }
  set_or_remove(op, "tp.sharding", sharding);
  set_or_remove(op, "tp.factors", factors);
}

/* The attribute that replaces a dropped annotation. A constraint cannot be removed because its
 * value has users; with all dimensions open it demands nothing. */
static MlirAttribute without(const tp_report *r, const tp_pin *pin) {
  if (!pin->is_constraint)
    return (MlirAttribute){NULL};
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(pin->value));
  return tp__write_sharding(
      r->pass->context, r->mesh, rank,
      (tp_annotation){.spec = tp_spec_replicated(), .open = (1u << rank) - 1});
}

static const MlirAttribute none = {NULL};
const char tp__alternative_not_sought[] =
    "not among the most expensive collectives (report-alternatives)";
const char tp__alternative_of_equal[] = "looked for at an equal collective (report-alternatives)";
static const char *out_of_time_text(void) {
  return strcmp(tp__clock_ender(), "interrupt") == 0
             ? "an interrupt ended the search before one was found"
             : "the time limit ended the search before one was found (time-limit)";
}
static const char fruitless_text[] =
    "plans that were made anew within the memory limit for more expensive collectives led to "
    "none, and no more were made";
static const char in_parts_text[] =
    "none is sought in functions that are planned in parts (entries)";

/* ---- alternatives of a reshard ---- */

typedef enum subject { OUTPUT, INPUT, STRATEGY } subject;

/* A decision of a node: the layout of an output or an input, or its strategy. */
typedef struct decision {
  int node;
  subject what;
  int at; /* index of the output or input */
} decision;

/* True if strategy s of the node decides as strategy k in another list of the same node's
 * strategies. */
static bool decides_as(const tp_node *n, int s, const tp_node *other, int k, decision d) {
  if (d.what != STRATEGY)
    return d.what == INPUT
               ? tp_spec_equal(n->in[s * n->n_in + d.at], other->in[k * n->n_in + d.at])
               : tp_spec_equal(n->out[s * n->n_out + d.at], other->out[k * n->n_out + d.at]);
  bool same = true;
  for (int i = 0; same && i < n->n_in; i++)
    same = tp_spec_equal(n->in[s * n->n_in + i], other->in[k * n->n_in + i]);
  for (int i = 0; same && i < n->n_out; i++)
    same = tp_spec_equal(n->out[s * n->n_out + i], other->out[k * n->n_out + i]);
  return same;
}

/* Builds the annotation that forces strategy s of node n. */
static bool pin_of_strategy(const tp_report *r, const tp_planner *p, const tp_node *n, decision d,
                            int s, tp_pin *pin) {
  MlirContext context = r->pass->context;
  MlirOperation func = p->problem.graph.func;
  if (n->kind == TP_NODE_ARG || n->kind == TP_NODE_RESULT) {
    bool is_arg = n->kind == TP_NODE_ARG;
    tp_spec spec = is_arg ? n->out[s] : n->in[s];
    MlirType type = tp__func_type(func);
    MlirType value = is_arg ? mlirFunctionTypeGetInput(type, n->index)
                            : mlirFunctionTypeGetResult(type, n->index);
    int rank = (int)mlirShapedTypeGetRank(value);
    *pin = (tp_pin){.place = is_arg ? TP_PIN_ARG : TP_PIN_RESULT,
                    .number = n->index,
                    .op = func,
                    .sharding =
                        tp__write_sharding(context, r->mesh, rank, (tp_annotation){.spec = spec})};
    if (is_arg)
      pin->value =
          mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)), n->index);
    return true;
  }
  enum { MAX_RESULTS = 64 };
  const tp_rule *rule = p->problem.graph.items[n->index].rule;
  MlirAttribute entries[MAX_RESULTS];
  /* do the result layouts alone rule out the old decision? */
  bool decides = false;
  if (rule->n_results == 0 || rule->n_results > MAX_RESULTS ||
      rule->n_results != mlirOperationGetNumResults(rule->op))
    return false;
  for (int i = 0; i < rule->n_results; i++) {
    tp_spec result = n->out[s * n->n_out + i];
    decides |= d.what == OUTPUT && i == d.at;
    entries[i] = tp__write_sharding(context, r->mesh, rule->results[i].rank,
                                    (tp_annotation){.spec = result});
  }
  *pin = (tp_pin){.place = TP_PIN_OP,
                  .number = -1,
                  .op = rule->op,
                  .value = mlirOperationGetResult(rule->op, 0),
                  .sharding = rule->n_results == 1
                                  ? entries[0]
                                  : mlirArrayAttrGet(context, rule->n_results, entries)};
  if (!decides)
    pin->factors = tp__write_factors(context, r->mesh, &n->strategies[s]);
  return true;
}

/* Prices the copy with its current annotations, in which the decision differs. `other` is the
 * cheapest plan that decides otherwise. */
static bool price_otherwise(tp_report *r, const tp_planner *p, tp_space *space, int node,
                            const bool *among, tp_cost limit, const tp_solution *other,
                            tp_price *price) {
  tp_replan again;
  bool covers = false;
  if (p->kept) { /* the problem has few strategies, and the annotation may offer more */
    *price = (tp_price){true, false, other->cost, other->lower_bound};
    return true;
  }
  bool read = read_copy(r, p, false, &again);
  if (read && is_near(p, space, &again, &covers) && (covers || p->result.work > LITTLE_WORK)) {
    *price = (tp_price){true, covers, other->cost, other->lower_bound};
    if (!tp__space_has(space, other->choices) || !tp__space_is_within(space, node, among)) {
      tp_solution solution;
      price->found = tp__space_solve(space, limit, &solution) == TP_OK;
      if (price->found) {
        r->function.is_cut_short |= solution.stopped;
        price->cost = solution.cost;
        price->bound = solution.lower_bound;
        tp_solution_clear(&solution);
      }
    }
  } else if (read) {
    solve_copy(r, &again, price);
  }
  tp__replan_close(&again);
  return price->found;
}

/* Finds the cheapest plan in which the node decides otherwise, with the annotation that forces
 * it. */
static void try_plan(tp_report *r, const tp_planner *p, tp_space *space, decision d,
                     const bool *among, tp_alternative *best) {
  tp_alternative other = {0};
  tp_cost limit = best->price.found ? best->price.cost : TP_COST_FORBIDDEN;
  tp_solution solution;
  if (limit <= p->result.bound)
    return; /* an alternative that costs no more than the plan is known */
  tp_status status = tp__space_solve_among(space, d.node, among, limit, &solution);
  if (status != TP_OK && status != TP_INFEASIBLE)
    return;
  r->function.is_cut_short |= solution.stopped;
  if (status == TP_INFEASIBLE && !solution.optimal)
    best->missing = solution.stopped ? out_of_time_text()
                                     : "none was found, and it is not proven that there is none";
  if (status == TP_INFEASIBLE)
    return;
  if (solution.lower_bound < limit && pin_of_strategy(r, p, &space->planner->problem.nodes[d.node],
                                                      d, solution.choices[d.node], &other.pin)) {
    tp_pin own = current(r, &other.pin);
    annotate(r, &other.pin, other.pin.sharding, other.pin.factors);
    bool found = price_otherwise(r, p, space, d.node, among, limit, &solution, &other.price);
    annotate(r, &own, own.sharding, own.factors);
    if (found && other.price.cost < limit)
      *best = other;
  }
  tp_solution_clear(&solution);
}

/* ---- problems in which most strategies have no routes ---- */

/* The index of a node, nodes of routes left out. */
static int first_place(const tp_planner *p, int node) {
  int place = 0;
  for (int i = 0; i < node; i++)
    place += !tp__is_of_routes(&p->problem.nodes[i]);
  return place;
}

static const tp_node *at_place(const tp_planner *p, int place) {
  size_t i = 0;
  for (; i < p->problem.n_nodes && (place > 0 || tp__is_of_routes(&p->problem.nodes[i])); i++)
    place -= !tp__is_of_routes(&p->problem.nodes[i]);
  return i < p->problem.n_nodes ? &p->problem.nodes[i] : NULL;
}

/* Plans the function of `again` with only those strategies of a node that decide otherwise. */
static bool plan_otherwise(tp_report *r, const tp_node *own, decision d, int place,
                           tp_replan *again, tp_alternative *other) {
  const tp_node *n = at_place(&again->planner, place);
  if (!n || n->kind != own->kind || n->index != own->index)
    return false;
  bool *among = tp__calloc((size_t)n->n + 1, sizeof *among), any = false;
  for (int s = 0; among && s < n->n; s++)
    any |= among[s] = !decides_as(n, s, own, own->chosen, d);
  other->missing = any ? "none was found, and it is not proven that there is none" : NULL;
  bool planned = any && tp__planner_restrict(&again->planner, place, among) == TP_OK &&
                 solve_copy(r, again, &other->price);
  other->price.exact = false; /* the annotation might offer more */
  tp__free(among);
  return planned;
}

/* Plans the function from scratch, since all strategies that were kept for the plan decide the same
 * way. Each such plan takes seconds, so few are made in vain. */
static void replan_from_scratch(tp_report *r, const tp_planner *p, decision d,
                                tp_alternative *best) {
  tp_replan again;
  tp_alternative other = {0};
  int place = first_place(p, d.node);
  if ((size_t)r->function.n_fruitless >= MAX_FRUITLESS + NODES_ANEW / p->problem.n_nodes) {
    best->missing = best->price.found ? NULL : fruitless_text;
    return;
  }
  if (read_copy(r, p, true, &again) &&
      plan_otherwise(r, &p->problem.nodes[d.node], d, place, &again, &other)) {
    const tp_node *n = at_place(&again.planner, place);
    bool is_better = !best->price.found || other.price.cost < best->price.cost;
    if (is_better && pin_of_strategy(r, p, n, d, n->chosen, &other.pin))
      *best = other;
  } else if (!best->price.found && other.missing) {
    best->missing = other.missing;
  }
  r->function.n_fruitless = best->price.found ? 0 : r->function.n_fruitless + 1;
  tp__replan_close(&again);
}

static tp_status try_decision(tp_report *r, const tp_planner *p, tp_space *space, decision d,
                              tp_alternative *best) {
  const tp_planner *of = space->planner ? space->planner : p;
  const tp_node *n = &of->problem.nodes[d.node];
  /* can it carry an annotation? */
  bool has_place = n->kind == TP_NODE_ARG || n->kind == TP_NODE_RESULT || n->kind == TP_NODE_OP;
  if (has_place && !space->planner) {
    replan_from_scratch(r, p, d, best);
    return TP_OK;
  }
  if (!has_place || (p->problem.nodes[d.node].n < 2 && !p->kept))
    return TP_OK;
  bool *among = tp__calloc((size_t)n->n, sizeof *among), any = false;
  if (!among)
    return tp__out_of_memory(p->problem.graph.func);
  for (int s = 0; s < n->n; s++)
    any |= among[s] = space->base_rows[d.node][s] &&
                      (d.what == STRATEGY ? s != space->chosen[d.node]
                                          : !decides_as(n, s, n, space->chosen[d.node], d));
  if (any)
    try_plan(r, p, space, d, among, best);
  else if (p->kept)
    replan_from_scratch(r, p, d, best);
  tp__free(among);
  return TP_OK;
}

static tp_status find_alternative(tp_report *r, const tp_planner *p, tp_space *space,
                                  tp_report_communication *c) {
  tp_status status;
  if (c->node >= 0) {
    status = try_decision(r, p, space, (decision){c->node, STRATEGY, 0}, &c->alternative);
  } else {
    const tp_planned_value *v = c->value;
    const tp_use *use = &v->uses[c->use < 0 ? 0 : c->use];
    /* mostly the reader can take what there is at little cost, and then the maker is not asked */
    status = try_decision(r, p, space, (decision){use->node, INPUT, use->input}, &c->alternative);
    if (status == TP_OK)
      status = try_decision(r, p, space, (decision){v->node, OUTPUT, v->output}, &c->alternative);
  }
  if (c->alternative.price.found)
    c->alternative.missing = NULL;
  else if (!c->alternative.missing)
    c->alternative.missing = "annotations and rules leave no other choice";
  return status;
}

/* True if the time is over; the report then says that something was left out. */
static bool out_of_time(tp_report *r, const tp_planner *p) {
  bool over = tp__clock_is_over(p->limits.clock);
  r->function.is_cut_short |= over;
  return over;
}

/* True if two collectives differ only in the values that they change: those of equal layers, or of
 * equal weights. */
static bool are_alike(const tp_report_communication *a, const tp_report_communication *b) {
  const tp_planned_value *x = a->value, *y = b->value;
  return a->cost == b->cost && tp_spec_equal(a->from, b->from) && tp_spec_equal(a->to, b->to) &&
         x && y && x->rank == y->rank && x->element_size == y->element_size &&
         memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape) == 0;
}

/* The first of collectives that are alike, with what all of them cost. */
typedef struct alike {
  tp_report_communication *first;
  tp_cost cost;
} alike;

static int compare_costs(const void *a, const void *b) {
  const alike *x = a, *y = b;
  return x->cost != y->cost                        ? (x->cost > y->cost ? -1 : 1)
         : x->first->position < y->first->position ? -1
                                                   : 1;
}

/* Lists the collectives, those that are alike once, the most expensive first. Returns how many. */
static size_t list_alike(tp_function_report *f, alike *list) {
  size_t n = 0;
  for (size_t i = 0; i < f->n_changes; i++) {
    tp_report_communication *c = &f->changes[i];
    size_t k = 0;
    if (c->n_collectives == 0)
      continue;
    c->alternative.missing = tp__alternative_not_sought;
    while (k < n && !are_alike(list[k].first, c))
      k++;
    if (k == n)
      list[n++] = (alike){c, 0};
    list[k].cost = tp_cost_add(list[k].cost, c->cost - c->local);
  }
  qsort(list, n, sizeof *list, compare_costs);
  return n;
}

static tp_status find_alternatives(tp_report *r, const tp_planner *p, tp_space *space) {
  tp_function_report *f = &r->function;
  tp_status status = TP_OK;
  alike *list = tp__arena_array(p->problem.arena, f->n_changes + 1, sizeof *list);
  if (!list)
    return tp__out_of_memory(p->problem.graph.func);
  size_t n = list_alike(f, list);
  for (size_t i = 0; i < n && i < (size_t)r->n_alternatives && status == TP_OK; i++)
    if (r->function.is_in_parts)
      list[i].first->alternative.missing = in_parts_text;
    else if (out_of_time(r, p))
      list[i].first->alternative.missing = out_of_time_text();
    else
      status = find_alternative(r, p, space, list[i].first);
  for (size_t i = 0; i < n && i < (size_t)r->n_alternatives; i++)
    for (size_t k = 0; k < f->n_changes; k++)
      if (&f->changes[k] != list[i].first && are_alike(list[i].first, &f->changes[k]))
        f->changes[k].alternative.missing = tp__alternative_of_equal;
  return status;
}

/* ---- annotations that increase the cost ---- */

typedef struct dropping {
  tp_report *r;
  const tp_planner *p;
  tp_space *space;
  int plans; /* number of plans that may still be made */
} dropping;

/* Removes annotations from the copy, or restores them. */
static void drop(const tp_report *r, size_t first, size_t n, bool back) {
  const tp_function_report *f = &r->function;
  for (size_t i = first; i < first + n; i++)
    annotate(r, &f->pins[i], back ? f->pins[i].sharding : without(r, &f->pins[i]),
             back ? f->pins[i].factors : none);
}

/* Prices the plan without these annotations: for one annotation the cheapest plan if it costs less
 * than the limit, for several only a bound. */
static bool price_without(const dropping *d, size_t n, tp_cost limit, tp_price *price) {
  tp_solution solution;
  *price = (tp_price){.exact = true};
  if (n > 1)
    return tp__space_bound(d->space, limit, &price->bound) == TP_OK;
  tp_status status = tp__space_solve(d->space, limit, &solution);
  if (status != TP_OK && status != TP_INFEASIBLE)
    return false;
  d->r->function.is_cut_short |= solution.stopped;
  price->found = status == TP_OK;
  price->cost = solution.cost;
  price->bound = solution.lower_bound;
  tp_solution_clear(&solution);
  return true;
}

static bool plan_without(dropping *d, size_t first, size_t n, tp_cost limit, tp_price *price) {
  tp_replan again;
  bool covers = false;
  if (d->plans == 0 || out_of_time(d->r, d->p))
    return false;
  d->plans--;
  drop(d->r, first, n, false);
  bool known = read_copy(d->r, d->p, false, &again);
  if (known && is_near(d->p, d->space, &again, &covers) && covers)
    known = price_without(d, n, limit, price);
  else if (known)
    known = solve_copy(d->r, &again, price);
  tp__replan_close(&again);
  drop(d->r, first, n, true);
  return known;
}

/* Examines a group of annotations. If the plan without them costs about the same, none of them is
 * costly; else both halves are examined. */
static void examine(dropping *d, size_t first, size_t n) {
  tp_function_report *f = &d->r->function;
  tp_price price = {0};
  tp_cost limit = d->p->result.cost - d->p->result.cost / 100 * COSTLY_PERCENT;
  if (n == 0 || !plan_without(d, first, n, limit, &price))
    return;
  if (price.bound >= limit || n == 1) {
    f->n_examined += (int)n;
    if (price.found && price.cost < limit)
      f->costly[f->n_costly++] = (tp_costly_pin){f->pins[first], price};
    return;
  }
  examine(d, first, n / 2);
  examine(d, first + n / 2, n - n / 2);
}

static tp_status find_costly(tp_report *r, const tp_planner *p, tp_space *space) {
  tp_function_report *f = &r->function;
  size_t plans = NODES_PER_ALTERNATIVE / (p->problem.n_nodes + 1);
  size_t most = p->problem.overlaps ? PLANS_WITH_OVERLAP : PLANS_PER_ALTERNATIVE;
  plans = plans < most ? plans : most;
  plans = plans * (size_t)r->n_alternatives;
  size_t anew = 1 + NODES_ANEW / p->problem.n_nodes;
  if (p->kept && plans > anew) /* each is made anew, and from more strategies than the plan */
    plans = anew;
  dropping d = {r, p, space, plans > 0 ? (int)plans : 1};
  f->costly = tp__calloc(f->n_pins + 1, sizeof *f->costly);
  if (!f->costly)
    return tp__out_of_memory(p->problem.graph.func);
  examine(&d, 0, f->n_pins);
  return TP_OK;
}

/* ---- entry point ---- */

/* Reads the function without annotations; false if its problem is not comparable to that of the
 * plan. */
static bool read_open(tp_report *r, const tp_planner *p, tp_replan *open) {
  drop(r, 0, r->function.n_pins, false);
  bool read = read_copy(r, p, true, open);
  drop(r, 0, r->function.n_pins, true);
  return read && p->limits.memory < 0 && !p->problem.overlaps;
}

tp_status tp__report_alternatives(tp_report *r, const tp_planner *p) {
  tp_replan open = {0};
  tp_space space = {0};
  /* every other plan would take as long as this one */
  r->function.is_in_parts =
      r->n_alternatives > 0 && p->kept && p->limits.memory < 0 && !p->result.is_cut_short;
  if (r->n_alternatives == 0 || r->function.is_in_parts || out_of_time(r, p))
    return find_alternatives(r, p, NULL);
  bool is_open = r->function.n_pins > 0 && read_open(r, p, &open);
  tp_status status = tp__space_create(p, is_open ? &open.planner : NULL, &space);
  if (status == TP_OK)
    status = find_alternatives(r, p, &space);
  if (status == TP_OK && space.planner)
    status = find_costly(r, p, &space);
  if (status == TP_OK && space.planner)
    status = tp__report_decisions(r, p, &space);
  tp__space_destroy(&space);
  tp__replan_close(&open);
  return status;
}
