/* Finds plans within a memory limit in little time.
 *
 * The problem without routes (seed_search.c) has no limit, but is planned in a fraction of the
 * time. So memory gets prices: values held at the peak of a plan get more expensive, separately as
 * produced and as expected by their uses, until a plan keeps the limit. Then all prices are lowered
 * as far as plans still keep it. The memory of a plan is measured, not estimated: the plan is
 * written into a copy of the module (unrouted_plan.c). The strategies of all plans that were
 * tried are reported too, because their combinations contain more plans than were tried. */
#include "passes/propagate/limits/search.h"

#include <string.h>

/* trials with raised prices; trials with lowered prices; improvement rounds per trial */
enum { TRIALS = 12, LOWERED = 4, ROUNDS = 2 };
/* First rise of all prices together, as a share of the cost of the first plan; and the factor by
 * which each rise exceeds the one before. */
#define FIRST_SHARE 0.3
#define GROWTH 1.2
#define PRICE_SHARE 0.5 /* share of a time limit for prices */
#define GRACE 2.5 /* at most this many seconds of processor time more, until there is a plan */
#define TRIED_SHARE 0.9  /* share of the rest for the strategies of the plans tried */
#define TRIED_GRACE 0.3  /* at least this many seconds of processor time for them; */
#define FIRST_GRACE 2.5  /* and so many if no plan has been found yet */
#define TRIED_GAP 0.0005 /* accepted gap for those */
#define LOWEST 0.4       /* lower end of the search for a common factor of all prices */

/* A plan without routes. */
typedef struct price_plan {
  const int *choices; /* by node of the planner; NULL: no plan */
  tp_cost cost;       /* TP_COST_FORBIDDEN: no plan */
  const char *method;
  /* by node of the planner: the strategies of all plans tried; NULL: none were tried */
  const bool *const *tried;
} price_plan;

typedef struct price_search {
  const tp_planner *p;
  tp_planner priced;      /* the planner without a limit, whose costs contain prices */
  const tp_cost **own;    /* by node: costs without prices */
  double *made, *changed; /* by value: price per byte as produced, and as its uses expect it */
  tp_at_peak at_peak;     /* of the last plan */
  tp_seeds seeds;
  bool **tried;       /* by node of the planner: strategies of all plans tried */
  const int *choices; /* of the last plan */
  tp_cost cost;       /* cost of the last plan as written */
  int64_t held;       /* bytes it holds at its peak */
  price_plan best;
} price_search;

static double bytes_of(const price_search *l, size_t k, tp_spec spec) {
  const tp_planned_value *v = &l->priced.problem.values[k];
  return v->in_blocks ? 0 : (double)tp__value_bytes(l->p, v, spec);
}

static void charge(price_search *l, size_t k, int node, bool makes, int column, double price) {
  tp_node *n = &l->priced.problem.nodes[node];
  for (int s = 0; s < n->n && price > 0; s++)
    n->costs[s] = tp_cost_add(
        n->costs[s], (tp_cost)(price * bytes_of(l, k, tp__node_spec(n, makes, column, s))));
}

/* Recomputes all costs with prices multiplied by `share`. */
static tp_status set_prices(price_search *l, double share) {
  tp_planner *p = &l->priced;
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    tp_node *node = &p->problem.nodes[i];
    node->costs = tp__arena_array(p->problem.arena, (size_t)node->n + 1, sizeof *node->costs);
    if (!node->costs)
      return TP_NO_MEMORY;
    memcpy(node->costs, l->own[i], (size_t)node->n * sizeof *node->costs);
  }
  for (size_t k = 0; k < p->problem.n_values; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    charge(l, k, v->node, true, v->output, share * l->made[k]);
    if (v->copy >= 0)
      charge(l, k, v->copy, true, 0, share * l->changed[k]);
    for (int u = 0; u < v->n_uses; u++)
      charge(l, k, v->uses[u].node, false, v->uses[u].input, share * l->changed[k]);
  }
  return TP_OK;
}

/* Raises the prices of everything held at the peak, by `sum` in total. */
static void raise_prices(price_search *l, double sum) {
  double bytes = 1;
  for (int pass = 0; pass < 2; pass++)
    for (size_t k = 0; k < l->priced.problem.n_values; k++) {
      const tp_planned_value *v = &l->priced.problem.values[k];
      double size = bytes_of(
          l, k,
          tp__node_spec(&l->priced.problem.nodes[v->node], true, v->output, l->choices[v->node]));
      bytes += pass == 0 && (l->at_peak.made[k] || l->at_peak.changed[k]) ? size : 0;
      l->made[k] += pass == 1 && l->at_peak.made[k] ? sum / bytes : 0;
      l->changed[k] += pass == 1 && l->at_peak.changed[k] ? sum / bytes : 0;
    }
}

/* Plans with prices multiplied by `share`, starting from the previous plan, and measures the
 * result. */
static tp_status try_prices(price_search *l, double share) {
  tp_status status = set_prices(l, share);
  const char *method = "";
  if (status == TP_OK && !l->choices)
    status = tp__seeds_choose(&l->seeds);
  for (int round = 0;
       round < ROUNDS && status == TP_OK && (round == 0 || !tp__clock_is_over(l->p->limits.clock));
       round++) {
    tp_planner planned;
    if (l->choices)
      status = tp__seeds_around(&l->seeds, l->choices);
    if (status != TP_OK)
      break;
    status = tp__seeds_plan(&l->seeds, &planned);
    method = planned.result.method;
    if (status == TP_OK)
      status = (l->choices = tp__seeds_chosen(&l->priced, &planned)) ? TP_OK : TP_NO_MEMORY;
    tp__planner_drop(&planned);
  }
  if (status != TP_OK)
    return status;
  for (size_t i = 0; i < l->p->problem.n_nodes; i++)
    l->tried[i][l->choices[i]] = true;
  l->best.tried = (const bool *const *)l->tried;
  tp_solution solution = {.choices = (int *)l->choices, .method = method};
  l->held = tp__unrouted_peak(l->p, &solution, &l->cost, &l->at_peak);
  if (l->held <= l->p->limits.memory && l->cost < l->best.cost)
    l->best = (price_plan){l->choices, l->cost, method, l->best.tried};
  return TP_OK;
}

static tp_status try_all_prices(price_search *l) {
  tp_status status = try_prices(l, 0);
  double rise = FIRST_SHARE * (double)l->cost, share = 1, low = LOWEST, high = 1;
  bool has_one = l->best.choices;
  for (int trial = 1; trial < TRIALS && !has_one && status == TP_OK && l->held < INT64_MAX &&
                      !tp__clock_is_over(l->p->limits.clock);
       trial++) {
    raise_prices(l, rise);
    status = try_prices(l, 1);
    rise *= GROWTH;
    has_one = l->best.choices;
  }
  tp__clock_extend(l->p->limits.clock, 0);
  for (int trial = 0;
       trial < LOWERED && has_one && status == TP_OK && !tp__clock_is_over(l->p->limits.clock);
       trial++) {
    bool keeps = l->held <= l->p->limits.memory;
    low = keeps ? low : share;
    high = keeps ? share : high;
    share = (low + high) / 2;
    status = try_prices(l, share);
  }
  return status;
}

/* Searches for a plan that keeps the memory limit until the clock is over. The grace of the clock
 * ends once a plan is found. */
static tp_status search(tp_planner *p, price_plan *plan) {
  price_search l = {.p = p, .best = {.cost = TP_COST_FORBIDDEN}};
  tp_status status = tp__planner_copy(p, &l.priced);
  l.priced.same_layouts = (tp_memo){0};
  l.priced.limits.memory = -1;
  if (status == TP_OK)
    status = tp__plan_copies(&l.priced);
  l.own = tp__arena_array(p->problem.arena, l.priced.problem.n_nodes + 1, sizeof(const tp_cost *));
  l.made = tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *l.made);
  l.changed = tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *l.changed);
  l.at_peak.made =
      tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *l.at_peak.made);
  l.at_peak.changed =
      tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *l.at_peak.changed);
  l.tried = tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof(bool *));
  bool ok = l.own && l.made && l.changed && l.at_peak.made && l.at_peak.changed && l.tried;
  for (size_t i = 0; i < p->problem.n_nodes && ok; i++)
    ok = (l.tried[i] = tp__arena_array(p->problem.arena, (size_t)p->problem.nodes[i].n + 1,
                                       sizeof **l.tried)) != NULL;
  if (status == TP_OK && ok) {
    for (size_t i = 0; i < l.priced.problem.n_nodes; i++)
      l.own[i] = l.priced.problem.nodes[i].costs;
    MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(
        p->problem.pass->context, tp__discard_diagnostic, NULL, NULL);
    if (tp__seeds_open(&l.priced, &l.seeds) == TP_OK)
      try_all_prices(&l); /* failing is no error: other plans are searched for later */
    mlirContextDetachDiagnosticHandler(p->problem.pass->context, handler);
    tp__seeds_close(&l.seeds);
  }
  tp__memo_destroy(&l.priced.same_layouts);
  tp__planner_drop(&l.priced);
  *plan = l.best;
  return status;
}

/* ---- searches ---- */

static bool price_applies(const tp_search *s) {
  return s->p->limits.memory >= 0 && s->is_large && tp__has_little_time(s) && !s->p->is_restricted;
}

static tp_status run_price(tp_search *s) {
  tp_clock *clock = s->p->limits.clock;
  price_plan plan;
  tp__clock_share(clock, s->end, PRICE_SHARE);
  tp__clock_extend(clock, GRACE);
  tp_status status = search(s->p, &plan);
  tp__clock_extend(clock, 0);
  clock->deadline = s->end;
  s->tried = plan.tried;
  if (plan.choices) {
    tp__found_keep_unrouted(s, plan.choices, plan.cost, plan.method);
    s->best.is_early = true;
  }
  return status;
}

/* Prices of memory in the problem without routes, with few strategies: Lagrange multipliers, raised
 * for what is held at the peak until a plan keeps the limit (Everett 1963). */
const tp_search_row tp__price_row = {"prices", price_applies, run_price};

static bool tried_applies(const tp_search *s) { return s->tried; }

static tp_status run_tried(tp_search *s) {
  tp_planner reduced, *p = s->p;
  tp_solution solution = {0};
  tp_solver_options options = {.size = sizeof options,
                               .gap = p->limits.gap > TRIED_GAP ? p->limits.gap : TRIED_GAP,
                               .work_budget = p->limits.work / 2};
  tp__clock_share(p->limits.clock, s->end, TRIED_SHARE);
  tp__clock_extend(p->limits.clock, s->best.cost < TP_COST_FORBIDDEN ? TRIED_GRACE : FIRST_GRACE);
  tp__clock_limit_solver(p->limits.clock, &options);
  tp_status status = tp__state_strategies(p, s->tried, true, &reduced);
  if (status == TP_OK) {
    status = tp_solve(reduced.stated, &options, &solution);
    p->result.work += solution.work;
    if (status != TP_OK && status != TP_INFEASIBLE)
      status = tp__plan_no_memory(p);
  }
  if (status == TP_OK && solution.cost < s->best.cost) {
    tp__choose(&reduced, &solution);
    tp__found_keep(s, &reduced);
    s->best.is_early = true;
  }
  tp__clock_extend(p->limits.clock, 0);
  p->limits.clock->deadline = s->end;
  tp_solution_clear(&solution);
  tp__planner_drop(&reduced);
  return status == TP_INFEASIBLE ? TP_OK : status;
}

/* The problem of the routes for the strategies of all plans tried by prices: if each of them holds
 * too much, a combination may hold less. It is the restricted problem of column generation (Dantzig
 * and Wolfe 1960). */
const tp_search_row tp__tried_row = {"tried", tried_applies, run_tried};
