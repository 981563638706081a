/* Solves variants of a problem that was solved before.
 *
 * The messages of the base are kept. A variant with other strategies differs from it at a few
 * nodes: newly forbidden strategies get a price there, newly allowed ones lose it, and after a few
 * passes the bound is certified again. By that bound, most strategies cost more than the best
 * assignment does. The rest is searched, at first only for assignments that cost little more than
 * the bound.
 *
 * If the best assignment of the base is known, the nodes around those that differ are decided again
 * before all that. Mostly this finds the best assignment of the variant, and the bound proves
 * it. */
#include "solver/sensitivity.h"

#include "solver/lift.h"
#include "solver/reduce.h"
#include "support/support.h"

#include <string.h>

enum {
  BASE_PASSES = 80, /* maximum number of message passes over the base */
  /* a pass over the base that gains less than 2^-17 of the bound is the last one */
  BASE_STALLED = 17,
  BOUND_PASSES = 4, /* maximum number over a variant, if only a bound is requested */
  PRICE_SHIFT = 1,  /* price of a strategy that is not allowed: half of the base's cost */
};
#define MAX_PRICE ((tp_cost)1 << 52)

/* ---- sets of strategies ---- */

/* Flattens the allowed strategies. For allowed[node] NULL, uses `others` (NULL: all). `flat` has
 * one entry per strategy. */
static void flatten(const tp_sensitivity *s, const bool *const *allowed, const bool *others,
                    bool *flat) {
  for (int v = 0; v < s->problem->n_nodes; v++)
    for (size_t i = s->offset[v]; i < s->offset[v + 1]; i++)
      flat[i] = allowed && allowed[v] ? allowed[v][i - s->offset[v]] : others ? others[i] : true;
}

bool tp__sensitivity_allows(const tp_sensitivity *s, const bool *flat, int node, int x) {
  return flat[s->offset[node] + (size_t)s->g->nodes[node].label[x]];
}

/* ---- the base ---- */

/* Does for one node what tp__sensitivity_charge does for all. */
static bool charge(const tp_sensitivity *s, tp__dual *dual, int node, const bool *allowed,
                   tp_cost *by) {
  const tp__wnode *v = &s->g->nodes[node];
  bool any = false;
  for (int x = 0; x < v->n; x++) {
    bool was = tp__sensitivity_allows(s, s->base, node, x),
         is = tp__sensitivity_allows(s, allowed, node, x);
    by[x] = was == is ? 0 : was ? s->price : -s->price;
    any |= was != is;
  }
  return !any || tp__dual_shift(dual, node, by);
}

bool tp__sensitivity_charge(const tp_sensitivity *s, tp__dual *dual, const bool *allowed,
                            tp_cost *by) {
  bool ok = true;
  for (int v = 0; ok && v < s->g->n_nodes; v++)
    if (s->g->nodes[v].alive)
      ok = charge(s, dual, v, allowed, by);
  return ok;
}

void tp__sensitivity_pass(tp__dual *dual, const tp__passing *until, tp__control *control,
                          int64_t *work) {
  bool stalls = false;
  for (int i = 0;
       i < until->most && !stalls && dual->bound < until->enough && !dual->exhausted &&
       !(until->work_limit > 0 && *work >= until->work_limit) && !tp__control_poll(control, *work);
       i++) {
    tp_cost before = dual->bound;
    if (until->nodes)
      tp__dual_pass_over(dual, until->nodes, until->n_nodes, control, work);
    else
      tp__dual_pass(dual, control, work);
    tp_cost gain = dual->bound - before;
    /* each pass mostly gains less than half of what the one before did */
    stalls =
        gain < dual->bound >> until->stalled || (until->all && until->enough - dual->bound > gain);
  }
}

tp_cost tp__sensitivity_encode(const tp_sensitivity *s, tp_cost cost) {
  return cost >= TP_COST_FORBIDDEN / s->code.step ? TP_COST_FORBIDDEN : cost * s->code.step;
}

/* Computes the reduced costs of the base. */
static tp_status measure(tp_sensitivity *s) {
  const tp__wcsp *g = s->g;
  s->least = tp__pool_calloc(&s->pool, (size_t)g->n_nodes, sizeof *s->least);
  bool ok = s->least != NULL;
  for (int v = 0; ok && v < g->n_nodes; v++) {
    s->least[v] = tp__pool_alloc(&s->pool, (size_t)g->nodes[v].n, sizeof **s->least);
    ok = s->least[v] != NULL;
    if (ok)
      tp__dual_reduced_costs(&s->dual, v, s->least[v]);
  }
  return ok ? TP_OK : TP_NO_MEMORY;
}

/* Creates a graph of all strategies that have partners. */
static tp_status encode(const tp_sensitivity *s, tp__wcsp **g) {
  int64_t work = 0;
  *g = tp__encode(s->problem, &s->code, false);
  return *g ? tp__wcsp_prune(*g, TP_COST_FORBIDDEN, &work) : TP_NO_MEMORY;
}

/* Adds the price to the strategies that are not in the base. */
static tp_status add_prices(tp_sensitivity *s) {
  tp__wcsp *g = s->priced;
  for (int v = 0; v < g->n_nodes; v++) {
    tp__wnode *node = &g->nodes[v];
    tp_cost *cost = tp__pool_alloc(&g->pool, (size_t)node->n, sizeof *cost);
    for (int x = 0; cost && x < node->n; x++)
      cost[x] = node->cost[x] + (tp__sensitivity_allows(s, s->base, v, x) ? 0 : s->price);
    node->cost = tp__wcsp_share(g, cost, (size_t)node->n);
    if (!node->cost)
      return TP_NO_MEMORY;
  }
  return TP_OK;
}

/* Creates the graph, and messages for the strategies of the base. */
static tp_status begin(tp_sensitivity *s, tp_cost known) {
  int64_t work = 0;
  tp__control control;
  bool lifted;
  tp__control_start(&control, &s->options);
  known = tp__sensitivity_encode(s, known);
  s->price = (known < s->code.most ? known : s->code.most) >> PRICE_SHIFT;
  s->price = s->price < MAX_PRICE ? s->price + 1 : MAX_PRICE;
  tp_status status = encode(s, &s->g);
  bool hopeless = status == TP_INFEASIBLE;
  if (status == TP_OK)
    status = encode(s, &s->priced);
  if (status == TP_OK)
    status = add_prices(s);
  if (status == TP_OK)
    status = tp__lift(s->priced, &control, &work, &lifted);
  if (status == TP_OK)
    status = tp__dual_create(s->priced, &s->dual);
  if (status == TP_OK) {
    hopeless = s->dual.exhausted;
    tp__passing until = {.most = BASE_PASSES, .stalled = BASE_STALLED, .enough = known};
    tp__sensitivity_pass(&s->dual, &until, &control, &work);
    status = measure(s);
  }
  s->gap = known > s->dual.bound ? known - s->dual.bound : 0;
  if (hopeless) { /* nothing to start from */
    tp__dual_clear(&s->dual);
    tp__wcsp_destroy(s->priced);
    tp__wcsp_destroy(s->g);
    s->priced = s->g = NULL;
    return status == TP_NO_MEMORY ? status : TP_OK;
  }
  return status;
}

tp_status tp_sensitivity_create(const tp_problem *problem, const tp_solver_options *options,
                                const bool *const *allowed, tp_cost known,
                                tp_sensitivity **sensitivity) {
  if (!problem || !sensitivity || problem->big || known < 0 ||
      (options && options->size < sizeof options->size))
    return TP_INVALID_ARGUMENT;
  tp_sensitivity *s = tp__calloc(1, sizeof *s);
  if (!s)
    return TP_NO_MEMORY;
  s->problem = problem;
  if (options)
    memcpy(&s->options, options,
           options->size < sizeof s->options ? options->size : sizeof s->options);
  s->options.size = sizeof s->options;
  s->options.time_limit = 0;
  tp_status status = TP_NO_MEMORY;
  s->offset = tp__calloc((size_t)problem->n_nodes + 1, sizeof *s->offset);
  for (int v = 0; s->offset && v < problem->n_nodes; v++)
    s->offset[v + 1] = s->offset[v] + (size_t)problem->nodes[v].n;
  if (s->offset)
    s->base = tp__malloc(s->offset[problem->n_nodes] + 1);
  if (s->base) {
    flatten(s, allowed, NULL, s->base);
    tp__code_choose(problem, TP__FORM_PLAIN, &s->code);
    status = problem->limit < 0 && problem->n_nodes > 0 ? begin(s, known) : TP_OK;
  }
  if (status == TP_OK)
    *sensitivity = s;
  else
    tp_sensitivity_destroy(s);
  return status;
}

tp_status tp_sensitivity_start(tp_sensitivity *s, const int *choices, tp_cost bound) {
  if (!s || !choices || bound < 0)
    return TP_INVALID_ARGUMENT;
  if (!s->g)
    return TP_OK;
  int *start = tp__malloc(((size_t)s->g->n_nodes + 1) * sizeof *start);
  if (!start)
    return TP_NO_MEMORY;
  bool valid = true, all = true; /* all: the graph has all of these strategies */
  for (int v = 0; v < s->g->n_nodes; v++) {
    valid &= choices[v] >= 0 && choices[v] < s->problem->nodes[v].n;
    start[v] = tp__wcsp_find(&s->g->nodes[v], choices[v]);
    all &= start[v] >= 0;
  }
  tp_cost cost = all ? tp__wcsp_evaluate(s->g, start) : TP_COST_FORBIDDEN;
  tp__free(cost < TP_COST_FORBIDDEN ? s->start : start);
  if (cost < TP_COST_FORBIDDEN) {
    s->start = start;
    s->start_cost = cost;
    s->floor = tp__sensitivity_encode(s, bound);
  }
  return valid ? TP_OK : TP_INVALID_ARGUMENT;
}

void tp_sensitivity_destroy(tp_sensitivity *s) {
  if (!s)
    return;
  tp__free(s->start);
  tp__pool_release(&s->pool);
  tp__dual_clear(&s->dual);
  tp__wcsp_destroy(s->priced);
  tp__wcsp_destroy(s->g);
  tp__free(s->offset);
  tp__free(s->base);
  tp__free(s);
}

tp_cost tp__sensitivity_decode(const tp_sensitivity *s, tp_cost bound) {
  unsigned __int128 cost =
      bound < TP_COST_FORBIDDEN ? tp__decode_bound(&s->code, bound) : TP_COST_FORBIDDEN;
  return cost < TP_COST_FORBIDDEN ? (tp_cost)cost : TP_COST_FORBIDDEN;
}

tp_status tp_sensitivity_bounds(const tp_sensitivity *s, int node, tp_cost *bounds) {
  if (!s || !bounds || node < 0 || node >= s->problem->n_nodes)
    return TP_INVALID_ARGUMENT;
  for (int x = 0; x < s->problem->nodes[node].n; x++)
    bounds[x] = s->g || !s->base[s->offset[node] + (size_t)x] ? TP_COST_FORBIDDEN
                                                              : s->problem->nodes[node].costs[x];
  if (!s->g)
    return TP_OK;
  for (int x = 0; x < s->g->nodes[node].n; x++)
    if (tp__sensitivity_allows(s, s->base, node, x))
      bounds[s->g->nodes[node].label[x]] =
          tp__sensitivity_decode(s, tp_cost_add(s->least[node][x], s->dual.bound));
  return TP_OK;
}

/* Solves the problem from scratch with all strategies forbidden that are not allowed. */
static tp_status solve_from_scratch(const tp_sensitivity *s, const bool *allowed,
                                    tp_solution *solution) {
  const tp_problem *problem = s->problem;
  size_t bytes = (size_t)problem->n_nodes * sizeof *problem->nodes;
  tp_problem shared = *problem;
  tp_cost *costs = tp__malloc((s->offset[problem->n_nodes] + 1) * sizeof *costs);
  shared.nodes = tp__malloc(bytes + 1);
  tp_status status = shared.nodes && costs ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK && bytes)
    memcpy(shared.nodes, problem->nodes, bytes);
  for (int v = 0; status == TP_OK && v < problem->n_nodes; v++) {
    shared.nodes[v].costs = costs + s->offset[v];
    for (int x = 0; x < problem->nodes[v].n; x++)
      shared.nodes[v].costs[x] =
          allowed[s->offset[v] + (size_t)x] ? problem->nodes[v].costs[x] : TP_COST_FORBIDDEN;
  }
  if (status == TP_OK)
    status = tp_solve(&shared, &s->options, solution);
  tp__free(shared.nodes);
  tp__free(costs);
  return status;
}

static tp_status bound_from_dual(const tp_sensitivity *s, const bool *allowed, tp_cost limit,
                                 tp_cost *bound) {
  tp__dual dual;
  tp__control control;
  tp__control_start(&control, &s->options);
  int64_t work = 0;
  tp_cost *by = tp__malloc((s->offset[s->problem->n_nodes] + 1) * sizeof *by);
  tp_status status = by ? tp__dual_clone(&s->dual, &dual) : TP_NO_MEMORY;
  if (status == TP_OK) {
    tp__passing until = {.most = BOUND_PASSES,
                         .stalled = TP__VARIANT_STALLED,
                         .enough = tp__sensitivity_encode(s, limit),
                         .all = true};
    if (tp__sensitivity_charge(s, &dual, allowed, by))
      tp__sensitivity_pass(&dual, &until, &control, &work);
    else
      dual.bound = 0;
    *bound = tp__sensitivity_decode(s, dual.bound);
    tp__dual_clear(&dual);
  }
  tp__free(by);
  return status;
}

tp_status tp_sensitivity_bound(const tp_sensitivity *s, const bool *const *allowed, tp_cost limit,
                               tp_cost *bound) {
  if (!s || !bound || limit < 0)
    return TP_INVALID_ARGUMENT;
  bool *flat = tp__malloc(s->offset[s->problem->n_nodes] + 1);
  if (!flat)
    return TP_NO_MEMORY;
  flatten(s, allowed, s->base, flat);
  tp_status status = TP_OK;
  *bound = 0;
  if (s->g)
    status = bound_from_dual(s, flat, limit, bound);
  tp__free(flat);
  return status;
}

tp_status tp_sensitivity_solve(const tp_sensitivity *s, const bool *const *allowed, tp_cost limit,
                               tp_solution *solution) {
  if (!s || !solution || limit < 0)
    return TP_INVALID_ARGUMENT;
  bool *flat = tp__malloc(s->offset[s->problem->n_nodes] + 1);
  if (!flat)
    return TP_NO_MEMORY;
  flatten(s, allowed, s->base, flat);
  bool solved = false;
  tp_status status = s->g ? tp__variant_solve(s, flat, limit, &solved, solution) : TP_OK;
  if (status == TP_OK && !solved)
    status = solve_from_scratch(s, flat, solution);
  tp__free(flat);
  return status;
}
