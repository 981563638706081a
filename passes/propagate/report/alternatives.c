/* Computes the cost of other decisions. A decision is found and priced in the space of plans of the
 * function (plan_space.c). The annotation that forces it is read as the planner would read it, so
 * that a user who writes the annotation gets the reported cost. */
#include "passes/propagate/limits/reduced_planner.h"
#include "passes/propagate/report/plan_report.h"

#include <stdlib.h>
#include <string.h>

enum {
  /* solver work for the plan, up to which the problem is solved again if an annotation makes the
   * planner offer more */
  LITTLE_WORK = 100000000,
  /* how many plans from scratch in a row may find nothing; small problems may have more, up to
   * NODES_ANEW nodes in total */
  MAX_FRUITLESS = 2,
  NODES_ANEW = 1000,
};

const char tp__alternative_not_sought[] =
    "other collectives cost more, equal ones counted together (report-alternatives)";
const char tp__alternative_of_equal[] = "found or looked for at an equal collective";
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
  bool read = tp__other_read(r, p, false, &again);
  if (read && tp__other_is_near(p, space, &again, &covers) &&
      (covers || p->result.work > LITTLE_WORK)) {
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
    tp__other_solve(r, &again, price);
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
  const bool **rows =
      tp__arena_array(p->problem.arena, space->planner->problem.n_nodes + 1, sizeof *rows);
  if (!rows)
    return;
  rows[d.node] = among;
  tp_status status = tp__space_solve_among(space, rows, limit, &solution);
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
    tp_pin own = tp__other_pin(r, &other.pin);
    tp__other_annotate(r, &other.pin, other.pin.sharding, other.pin.factors);
    bool found = price_otherwise(r, p, space, d.node, among, limit, &solution, &other.price);
    tp__other_annotate(r, &own, own.sharding, own.factors);
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
                 tp__other_solve(r, again, &other->price);
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
  if (tp__other_read(r, p, true, &again) &&
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

/* Restricts what uses the value in layout `to` to strategies that take it in layout `from`. `rows`
 * has an entry for each node. False if there are none. */
static bool leave_unmoved(const tp_planner *p, const tp_space *space,
                          const tp_report_communication *c, bool **rows) {
  bool all = true;
  for (int u = 0; u < c->value->n_uses && all; u++) {
    const tp_use *use = &c->value->uses[u];
    const tp_node *n = &space->planner->problem.nodes[use->node];
    int now = space->chosen[use->node];
    bool *row = rows[use->node], any = false;
    if (!tp_spec_equal(n->in[now * n->n_in + use->input], c->to))
      continue;
    if (!row) {
      row = rows[use->node] = tp__arena_array(p->problem.arena, (size_t)n->n, sizeof *row);
      if (row)
        memcpy(row, space->base_rows[use->node], (size_t)n->n * sizeof *row);
    }
    for (int s = 0; row && s < n->n; s++)
      any |= row[s] &= tp_spec_equal(n->in[s * n->n_in + use->input], c->from);
    all = any;
  }
  return all;
}

/* Finds the cheapest plan without a change of layout. */
static tp_status price_unmoved(tp_report *r, const tp_planner *p, tp_space *space,
                               tp_report_communication *c) {
  if (c->node >= 0 || !space->planner)
    return TP_OK;
  bool **rows =
      tp__arena_array(p->problem.arena, space->planner->problem.n_nodes + 1, sizeof *rows);
  tp_solution solution;
  if (!rows)
    return tp__out_of_memory(p->problem.graph.func);
  if (leave_unmoved(p, space, c, rows) &&
      tp__space_solve_among(space, (const bool *const *)rows, TP_COST_FORBIDDEN, &solution) ==
          TP_OK) {
    r->function.is_cut_short |= solution.stopped;
    c->unmoved = (tp_price){true, false, solution.cost, solution.lower_bound};
    tp_solution_clear(&solution);
  }
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
  if (status == TP_OK)
    status = price_unmoved(r, p, space, c);
  if (c->alternative.price.found)
    c->alternative.missing = NULL;
  else if (!c->alternative.missing)
    c->alternative.missing = "annotations and rules leave no other choice";
  return status;
}

bool tp__report_out_of_time(tp_report *r, const tp_planner *p) {
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

/* Moves the most expensive single collective to place n_sought, if it stands there or behind.
 * Returns how many there then are up to it. */
static size_t add_dearest(alike *list, size_t n, size_t n_sought) {
  size_t dearest = 0;
  for (size_t i = 1; i < n; i++)
    if (list[i].first->cost - list[i].first->local >
        list[dearest].first->cost - list[dearest].first->local)
      dearest = i;
  if (n_sought >= n || dearest < n_sought)
    return n_sought < n ? n_sought : n;
  alike moved = list[dearest];
  list[dearest] = list[n_sought];
  list[n_sought] = moved;
  return n_sought + 1;
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
  n = r->n_alternatives > 0 ? add_dearest(list, n, (size_t)r->n_alternatives) : 0;
  for (size_t i = 0; i < n && status == TP_OK; i++)
    if (r->function.is_in_parts)
      list[i].first->alternative.missing = in_parts_text;
    else if (tp__report_out_of_time(r, p))
      list[i].first->alternative.missing = out_of_time_text();
    else
      status = find_alternative(r, p, space, list[i].first);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < f->n_changes; k++)
      if (&f->changes[k] != list[i].first && are_alike(list[i].first, &f->changes[k])) {
        f->changes[k].alternative.missing = tp__alternative_of_equal;
        f->changes[k].priced = list[i].first;
      }
  return status;
}

/* ---- entry point ---- */

/* Reads the function without annotations; false if its problem is not comparable to that of the
 * plan. */
static bool read_open(tp_report *r, const tp_planner *p, tp_replan *open) {
  tp__report_drop(r, 0, r->function.n_pin_groups, false);
  bool read = tp__other_read(r, p, true, open);
  tp__report_drop(r, 0, r->function.n_pin_groups, true);
  return read && p->limits.memory < 0 && !p->problem.overlaps;
}

tp_status tp__report_alternatives(tp_report *r, const tp_planner *p) {
  tp_replan open = {0};
  tp_space space = {0};
  /* every other plan would take as long as this one */
  r->function.is_in_parts =
      r->n_alternatives > 0 && p->kept && p->limits.memory < 0 && !p->result.is_cut_short;
  if (r->n_alternatives == 0 || r->function.is_in_parts || tp__report_out_of_time(r, p))
    return find_alternatives(r, p, NULL);
  bool is_open = r->function.n_pins > 0 && read_open(r, p, &open);
  tp_status status = tp__space_create(p, is_open ? &open.planner : NULL, &space);
  if (status == TP_OK)
    status = find_alternatives(r, p, &space);
  if (status == TP_OK && space.planner)
    tp__report_price_annotations(r, p, &space);
  if (status == TP_OK && space.planner)
    status = tp__report_decisions(r, p, &space);
  tp__space_destroy(&space);
  tp__replan_close(&open);
  return status;
}
