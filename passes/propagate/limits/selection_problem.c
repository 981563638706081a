/* Builds and solves the strategy-selection problem of a function. Edges connect producers and uses
 * and are priced by the reshard between their layouts. */
#include "passes/propagate/limits/layout_messages.h"
#include "passes/propagate/limits/reduced_planner.h"
#include "passes/propagate/limits/route_sketch.h"

#include "rules/attention.h"

/* ---- edges ---- */

/* Numbers the distinct specs of a column of `n` specs with the given stride; returns how many there
 * are. */
static int distinct(const tp_spec *specs, int n, int stride, tp_spec *list, int *number) {
  int count = 0;
  for (int s = 0; s < n; s++) {
    int i = 0;
    while (i < count && !tp_spec_equal(list[i], specs[s * stride]))
      i++;
    if (i == count)
      list[count++] = specs[s * stride];
    number[s] = i;
  }
  return count;
}

typedef struct edge_ends {
  int from, output, to, input; /* nodes, and the index of their output or input */
  uint8_t exposed;             /* of TP_EXPOSED_UNITS: the share of its reshards that is paid */
  const tp_use *use;           /* NULL: a copy */
} edge_ends;

static tp_cost exposed_part(tp_cost cost, uint8_t exposed) {
  return cost >= TP_COST_FORBIDDEN ? cost
                                   : cost / TP_EXPOSED_UNITS * exposed +
                                         cost % TP_EXPOSED_UNITS * exposed / TP_EXPOSED_UNITS;
}

/* Prices the reshards from one layout to all targets. */
static void price_reshards(tp_planner *p, const tp_planned_value *v, tp_spec from,
                           tp_reshard_targets *targets, tp_cost *costs) {
  int n = targets->n;
  if (p->messages && !v->keeps_layout &&
      tp__messages_price(p->messages, v, from, n, targets->to, costs))
    return;
  if (v->keeps_layout) {
    for (int k = 0; k < n; k++)
      costs[k] = tp_spec_equal(from, targets->to[k]) ? 0 : TP_COST_FORBIDDEN;
    return;
  }
  tp_reshard_costs(p->problem.reshards, targets, from, costs);
  for (int k = 0; k < n; k++)
    costs[k] = tp__cost_times(costs[k], v->trips);
}

static tp_status price_edge(tp_planner *p, tp_problem *problem, const tp_planned_value *v,
                            edge_ends ends) {
  const tp_node *a = &p->problem.nodes[ends.from], *b = &p->problem.nodes[ends.to];
  size_t na = (size_t)a->n, nb = (size_t)b->n;
  tp_spec *lists = tp__calloc(na + nb + 1, sizeof *lists);
  int *numbers = tp__calloc(na + 2 * nb + 1, sizeof *numbers);
  tp_cost *pairs = tp__calloc(na * nb + 1, sizeof *pairs),
          *table = tp__calloc(na * nb + 1, sizeof *table);
  tp_status status = TP_NO_MEMORY;
  if (lists && numbers && pairs && table) {
    int ca = distinct(a->out + ends.output, a->n, a->n_out, lists, numbers);
    int cb = distinct(b->in + ends.input, b->n, b->n_in, lists + na, numbers + na);
    tp_reshard_targets targets = {.rank = v->rank,
                                  .shape = v->shape,
                                  .element_size = v->element_size,
                                  .n = cb,
                                  .to = lists + na,
                                  .number = numbers + na + nb};
    for (int i = 0; i < ca && !tp__clock_gives_up(p); i++)
      price_reshards(p, v, lists[i], &targets, pairs + i * cb);
    for (int i = 0; i < ca * cb && ends.exposed < TP_EXPOSED_UNITS; i++)
      pairs[i] = exposed_part(pairs[i], ends.exposed);
    for (size_t k = 0; k < nb; k++)
      if (!ends.use || tp__serving_input(b, ends.use, (int)k) == ends.input)
        for (size_t i = 0; i < na; i++)
          table[i * nb + k] = pairs[numbers[i] * cb + numbers[na + k]];
    status = tp_problem_add_edge(problem, ends.from, ends.to, table);
  }
  tp__free(lists);
  tp__free(numbers);
  tp__free(pairs);
  tp__free(table);
  return status;
}

/* Adds an edge. Edges between the same lists of layouts, for values of one shape, share one table,
 * which is priced once. */
static tp_status add_edge(tp_planner *p, tp_problem *problem, const tp_planned_value *v,
                          edge_ends ends) {
  const tp_node *a = &p->problem.nodes[ends.from], *b = &p->problem.nodes[ends.to];
  tp_memo_key key;
  key.n = 0;
  tp__memo_key_add(&key, (int64_t)(intptr_t)(a->out + ends.output));
  tp__memo_key_add(&key, (int64_t)(intptr_t)(b->in + ends.input));
  tp__memo_key_add(&key, (int64_t)a->n << 32 | a->n_out);
  tp__memo_key_add(&key, (int64_t)b->n << 32 | b->n_in);
  tp__memo_key_add(&key, v->element_size);
  tp__memo_key_add(&key, (int64_t)v->trips);
  tp__memo_key_add(&key, ends.exposed | v->keeps_layout << 8);
  tp__memo_key_add(&key, ends.use ? (int64_t)ends.use->earlier : 0);
  for (int d = 0; d < v->rank; d++)
    tp__memo_key_add(&key, v->shape[d]);
  void **slot = tp__memo(&p->same_edges, p->problem.arena, key.words, key.n);
  if (!slot)
    return tp__plan_no_memory(p);
  tp_status status;
  if (*slot) {
    status = tp_problem_repeat_edge(problem, ends.from, ends.to, (int)((intptr_t)*slot - 1));
  } else {
    *slot = (void *)(intptr_t)(tp_problem_n_edges(problem) + 1); /* edge number + 1 */
    status = price_edge(p, problem, v, ends);
  }
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}

static tp_status add_edges(tp_planner *p, tp_problem *problem) {
  tp_status status = TP_OK;
  for (size_t k = 0; k < p->problem.n_values && status == TP_OK && !p->is_given_up; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    TP_TRY(tp__plan_cancelled(p));
    if (p->routes && tp__route(p->routes, v)->n_stations > 0)
      continue;
    if (v->copy >= 0)
      status =
          add_edge(p, problem, v, (edge_ends){v->node, v->output, v->copy, 0, v->exposed, NULL});
    for (int u = 0; u < v->n_uses && status == TP_OK; u++) {
      const tp_use *use = &v->uses[u];
      edge_ends ends = {v->copy >= 0 ? v->copy : v->node,
                        v->copy >= 0 ? 0 : v->output,
                        use->node,
                        use->input,
                        use->exposed,
                        use};
      /* a loop may yield the value it carries: both have one layout */
      if (ends.from != ends.to && use->served_by < 0)
        status = add_edge(p, problem, v, ends);
    }
  }
  return status;
}

/* ---- the plan ---- */

int64_t tp__block_bytes(const tp_planned_value *v, int64_t bytes) {
  int64_t block = v->in_kernel ? 0 : TP_BLOCK_SCORES * v->element_size;
  return bytes < block ? bytes : block;
}

tp_spec tp__plan_produced(const tp_planner *p, const tp_planned_value *v) {
  const tp_node *node = &p->problem.nodes[v->node];
  return node->out[node->chosen * node->n_out + v->output];
}

tp_spec tp__plan_wanted(const tp_planner *p, const tp_use *use) {
  const tp_node *node = &p->problem.nodes[use->node];
  return node->in[node->chosen * node->n_in + use->input];
}

/* ---- solving ---- */

/* Emits the error of an infeasible problem. It names a value whose annotations leave no choice, if
 * there is one. */
tp_status tp__plan_infeasible(tp_planner *p, const tp_solution *solution) {
  for (size_t k = 0; k < p->problem.n_values; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    const tp_node *from = &p->problem.nodes[v->node];
    for (int u = 0; u < v->n_uses; u++) {
      const tp_node *to = &p->problem.nodes[v->uses[u].node];
      bool possible = false;
      for (int s = 0; s < from->n && !possible; s++)
        for (int t = 0; t < to->n && !possible; t++)
          possible = tp_reshard_cost(p->problem.reshards, from->out[s * from->n_out + v->output],
                                     to->in[t * to->n_in + v->uses[u].input], v->rank, v->shape,
                                     v->element_size) < TP_COST_FORBIDDEN;
      if (!possible)
        return tp__error(v->uses[u].op, TP_INFEASIBLE,
                         "no layout of operand %d can be reached from the layouts that its "
                         "producer can give it: average has no identity element, so a partial "
                         "average cannot be created; relax the annotation of either",
                         v->uses[u].operand);
    }
  }
  if (p->routes)
    return tp__limit_exceeded(p, solution);
  return tp__error(
      p->problem.graph.func, TP_INFEASIBLE,
      "no plan satisfies the annotations, or every plan takes more than 26 days by the cost model");
}

/* Adds a node. Costs inside a loop count once per iteration. */
static int add_problem_node(const tp_planner *p, tp_problem *problem, size_t i) {
  const tp_node *node = &p->problem.nodes[i];
  double trips = tp__node_trips(p, node);
  bool pays = p->routes && p->routes->prices;
  bool hides = p->hides_rings && node->kind == TP_NODE_OP &&
               p->problem.graph.items[node->index].rule->ring.factors;
  if (trips == 1 && !pays && !hides)
    return tp_problem_add_node(problem, node->n, node->costs);
  tp_cost *costs = tp__calloc((size_t)node->n, sizeof *costs);
  for (int s = 0; costs && s < node->n; s++)
    costs[s] = tp_cost_add(
        tp__cost_times(node->costs[s] - (hides ? tp__ring_hidden(p, node, s) : 0), trips),
        pays ? tp__sketch_payment(p, (int)i, s) : 0);
  int number = costs ? tp_problem_add_node(problem, node->n, costs) : -1;
  tp__free(costs);
  return number;
}

tp_status tp__plan_make_problem(tp_planner *p, bool limited, tp_problem **made) {
  tp_status status = TP_OK;
  tp_problem *problem = *made = tp_problem_create();
  tp__memo_destroy(&p->same_edges); /* the memo has the edge numbers of one problem */
  if (!problem)
    return tp__plan_no_memory(p);
  for (size_t i = 0; i < p->problem.n_nodes && status == TP_OK; i++)
    if (add_problem_node(p, problem, i) != (int)i)
      status = tp__plan_no_memory(p);
  if (status == TP_OK)
    status = add_edges(p, problem);
  if (status == TP_OK)
    status = tp__tie_layouts(p, problem);
  if (status == TP_OK && p->routes)
    status = tp__routes_state(p, problem);
  if (status == TP_OK && p->routes && limited &&
      tp_problem_set_limit(problem, p->limits.memory - tp__routes_fixed_bytes(p->routes)) != TP_OK)
    status = tp__plan_no_memory(p);
  if (status == TP_OK && p->is_given_up) {
    tp_problem_destroy(problem);
    *made = NULL;
  }
  return status;
}

tp_status tp__solver_failed(const tp_planner *p, tp_status status) {
  return status == TP_NO_MEMORY ? tp__plan_no_memory(p)
                                : tp__error(p->problem.graph.func, status, "the solver failed: %s",
                                            tp_status_name(status));
}

/* Solves a problem without a memory limit. */
static tp_status solve(tp_planner *p, const tp_problem *problem, tp_solution *solution) {
  tp_solver_options options = {.size = sizeof options, .gap = p->limits.gap};
  tp__clock_limit_solver(p->limits.clock, &options);
  p->limits.clock->shows_plans = p->limits.clock->shows_bounds = !p->kept && !p->problem.overlaps;
  tp_status status = tp_solve(problem, &options, solution);
  p->limits.clock->shows_plans = p->limits.clock->shows_bounds = false;
  if (status != TP_OK && status != TP_INFEASIBLE)
    return tp__solver_failed(p, status);
  p->result.is_cut_short |= solution->stopped;
  if (status == TP_INFEASIBLE && solution->stopped && p->result.method)
    return TP_OK; /* keeps the existing plan */
  /* with few strategies, or too little time, it is not known that there is no plan */
  if (status == TP_INFEASIBLE && (p->kept || (solution->stopped && !solution->optimal)))
    return tp__clock_exceeded(p);
  if (status == TP_INFEASIBLE)
    return tp__plan_infeasible(p, solution);
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    p->problem.nodes[i].chosen = solution->choices[i];
  p->result.work += solution->work;
  return TP_OK;
}

tp_status tp__plan_state(tp_planner *p) {
  p->heeds_clock = true;
  tp_status status = tp__plan_make_problem(p, true, &p->stated);
  p->heeds_clock = false;
  return status;
}

tp_status tp__plan_stated(tp_planner *p) {
  tp_solution solution = {0};
  tp_status status = solve(p, p->stated, &solution);
  if (status == TP_OK) {
    p->result.cost = solution.cost;
    p->result.bound = solution.lower_bound;
    p->result.method = solution.method;
    p->result.width = solution.width;
  }
  tp_solution_clear(&solution);
  return status == TP_OK && p->problem.overlaps ? tp__plan_overlap(p) : status;
}

tp_status tp__plan_exposed(tp_planner *p) {
  tp_problem *problem = NULL;
  tp_solution solution = {0};
  p->hides_rings = true;
  tp_status status = tp__plan_make_problem(p, true, &problem);
  p->hides_rings = false;
  if (status == TP_OK)
    status = solve(p, problem, &solution);
  tp_solution_clear(&solution);
  tp_problem_destroy(problem);
  return status;
}
