/* Finds plans within a memory limit in little time.
 *
 * The problem without routes (time_limited.c) has no limit, but is planned in a fraction of the
 * time. So memory gets prices: values held at the peak of a plan get more expensive, separately as
 * produced and as expected by their uses, until a plan keeps the limit. Then all prices are lowered
 * as far as plans still keep it. The memory of a plan is measured, not estimated: the plan is
 * written into a copy of the module (unlimited_reshards.c). The strategies of all plans that were
 * tried are reported too, because their combinations contain more plans than were tried
 * (memory_limited.c). */
#include "passes/propagate/limits/memory_limited.h"
#include "passes/propagate/limits/reduced_planner.h"
#include "passes/propagate/limits/seed_strategies.h"

#include <string.h>

/* trials with raised prices; trials with lowered prices; improvement rounds per trial */
enum { TRIALS = 12, LOWERED = 4, ROUNDS = 2 };
/* First rise of all prices together, as a share of the cost of the first plan; and the factor by
 * which each rise exceeds the one before. */
#define FIRST_SHARE 0.3
#define GROWTH 1.2
#define LOWEST 0.4 /* lower end of the search for a common factor of all prices */

typedef struct lean {
  const tp_planner *p;
  tp_planner priced;      /* the planner without a limit, whose costs contain prices */
  const tp_cost **own;    /* by node: costs without prices */
  double *made, *changed; /* by value: price per byte as produced, and as its uses expect it */
  tp_at_peak at_peak;     /* of the last plan */
  tp_few few;
  bool **tried;       /* by node of the planner: strategies of all plans tried */
  const int *choices; /* of the last plan */
  tp_cost cost;       /* cost of the last plan as written */
  int64_t held;       /* bytes it holds at its peak */
  tp_late_plan best;
} lean;

static double bytes_of(const lean *l, size_t k, tp_spec spec) {
  const tp_planned_value *v = &l->priced.values[k];
  return v->in_blocks ? 0 : (double)tp__value_bytes(l->p, v, spec);
}

static void charge(lean *l, size_t k, int node, bool makes, int column, double price) {
  tp_node *n = &l->priced.nodes[node];
  for (int s = 0; s < n->n && price > 0; s++)
    n->costs[s] = tp_cost_add(
        n->costs[s], (tp_cost)(price * bytes_of(l, k, tp__node_spec(n, makes, column, s))));
}

/* Recomputes all costs with prices multiplied by `share`. */
static tp_status set_prices(lean *l, double share) {
  tp_planner *p = &l->priced;
  for (size_t i = 0; i < p->n_nodes; i++) {
    tp_node *node = &p->nodes[i];
    node->costs = tp__arena_array(p->arena, (size_t)node->n + 1, sizeof *node->costs);
    if (!node->costs)
      return TP_NO_MEMORY;
    memcpy(node->costs, l->own[i], (size_t)node->n * sizeof *node->costs);
  }
  for (size_t k = 0; k < p->n_values; k++) {
    const tp_planned_value *v = &p->values[k];
    charge(l, k, v->node, true, v->output, share * l->made[k]);
    if (v->copy >= 0)
      charge(l, k, v->copy, true, 0, share * l->changed[k]);
    for (int u = 0; u < v->n_uses; u++)
      charge(l, k, v->uses[u].node, false, v->uses[u].input, share * l->changed[k]);
  }
  return TP_OK;
}

/* Raises the prices of everything held at the peak, by `sum` in total. */
static void raise_prices(lean *l, double sum) {
  double bytes = 1;
  for (int pass = 0; pass < 2; pass++)
    for (size_t k = 0; k < l->priced.n_values; k++) {
      const tp_planned_value *v = &l->priced.values[k];
      double size = bytes_of(
          l, k, tp__node_spec(&l->priced.nodes[v->node], true, v->output, l->choices[v->node]));
      bytes += pass == 0 && (l->at_peak.made[k] || l->at_peak.changed[k]) ? size : 0;
      l->made[k] += pass == 1 && l->at_peak.made[k] ? sum / bytes : 0;
      l->changed[k] += pass == 1 && l->at_peak.changed[k] ? sum / bytes : 0;
    }
}

/* Plans with prices multiplied by `share`, starting from the previous plan, and measures the
 * result. */
static tp_status try_prices(lean *l, double share) {
  tp_status status = set_prices(l, share);
  const char *method = "";
  if (status == TP_OK && !l->choices)
    status = tp__few_choose(&l->few);
  for (int round = 0;
       round < ROUNDS && status == TP_OK && (round == 0 || !tp__clock_is_over(l->p->clock));
       round++) {
    tp_planner planned;
    if (l->choices)
      status = tp__few_around(&l->few, l->choices);
    if (status != TP_OK)
      break;
    status = tp__few_plan(&l->few, &planned);
    method = planned.method;
    if (status == TP_OK)
      status = (l->choices = tp__few_chosen(&l->priced, &planned)) ? TP_OK : TP_NO_MEMORY;
    tp__planner_drop(&planned);
  }
  if (status != TP_OK)
    return status;
  for (size_t i = 0; i < l->p->n_nodes; i++)
    l->tried[i][l->choices[i]] = true;
  l->best.tried = (const bool *const *)l->tried;
  tp_solution solution = {.choices = (int *)l->choices, .method = method};
  l->held = tp__plain_held(l->p, &solution, &l->cost, &l->at_peak);
  if (l->held <= l->p->memory_limit && l->cost < l->best.cost)
    l->best = (tp_late_plan){l->choices, l->cost, method, l->best.tried};
  return TP_OK;
}

static tp_status search_prices(lean *l) {
  tp_status status = try_prices(l, 0);
  double rise = FIRST_SHARE * (double)l->cost, share = 1, low = LOWEST, high = 1;
  bool has_one = l->best.choices;
  for (int trial = 1; trial < TRIALS && !has_one && status == TP_OK && l->held < INT64_MAX &&
                      !tp__clock_is_over(l->p->clock);
       trial++) {
    raise_prices(l, rise);
    status = try_prices(l, 1);
    rise *= GROWTH;
    has_one = l->best.choices;
  }
  tp__clock_extend(l->p->clock, 0);
  for (int trial = 0;
       trial < LOWERED && has_one && status == TP_OK && !tp__clock_is_over(l->p->clock); trial++) {
    bool keeps = l->held <= l->p->memory_limit;
    low = keeps ? low : share;
    high = keeps ? share : high;
    share = (low + high) / 2;
    status = try_prices(l, share);
  }
  return status;
}

tp_status tp__plan_lean(tp_planner *p, tp_late_plan *plan) {
  lean l = {.p = p, .best = {.cost = TP_COST_FORBIDDEN}};
  tp_status status = tp__planner_copy(p, &l.priced);
  l.priced.same_layouts = (tp_memo){0};
  l.priced.memory_limit = -1;
  if (status == TP_OK)
    status = tp__plan_copies(&l.priced);
  l.own = tp__arena_array(p->arena, l.priced.n_nodes + 1, sizeof(const tp_cost *));
  l.made = tp__arena_array(p->arena, p->n_values + 1, sizeof *l.made);
  l.changed = tp__arena_array(p->arena, p->n_values + 1, sizeof *l.changed);
  l.at_peak.made = tp__arena_array(p->arena, p->n_values + 1, sizeof *l.at_peak.made);
  l.at_peak.changed = tp__arena_array(p->arena, p->n_values + 1, sizeof *l.at_peak.changed);
  l.tried = tp__arena_array(p->arena, p->n_nodes + 1, sizeof(bool *));
  bool ok = l.own && l.made && l.changed && l.at_peak.made && l.at_peak.changed && l.tried;
  for (size_t i = 0; i < p->n_nodes && ok; i++)
    ok = (l.tried[i] = tp__arena_array(p->arena, (size_t)p->nodes[i].n + 1, sizeof **l.tried)) !=
         NULL;
  if (status == TP_OK && ok) {
    for (size_t i = 0; i < l.priced.n_nodes; i++)
      l.own[i] = l.priced.nodes[i].costs;
    MlirDiagnosticHandlerID handler =
        mlirContextAttachDiagnosticHandler(p->pass->context, tp__swallow, NULL, NULL);
    if (tp__few_open(&l.priced, &l.few) == TP_OK)
      search_prices(&l); /* failing is no error: other plans are searched for later */
    mlirContextDetachDiagnosticHandler(p->pass->context, handler);
    tp__few_close(&l.few);
  }
  tp__memo_destroy(&l.priced.same_layouts);
  tp__planner_drop(&l.priced);
  *plan = l.best;
  return status;
}
