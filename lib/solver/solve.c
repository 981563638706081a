#include "solver/problem.h"
#include "solver/reduce.h"
#include "solver/search.h"

#include <stdlib.h>
#include <string.h>

enum {
  DEFAULT_TABLE_BUDGET = 20000000,
  MAX_STEP = 1024,       /* integer messages round by a few units a node: scaled up, that is below one picosecond */
  WORK_PER_ENTRY = 2000, /* default work: so many looks at every table, ... */
  LEAST_WORK = 300000000 /* ... but at least this, ... */
};
#define MOST_WORK 6000000000 /* ... and at most this */
#define MOST_TABLE_BUDGET ((int64_t)1 << 32)
#define ROOM_FOR_MESSAGES ((tp_cost)1 << 50) /* scaled costs stay so small that messages cannot leave their range */

/* Costs are multiplied by a power of two if all of them together leave room for that. */
static tp_cost choose_step(const tp_problem *problem) {
  unsigned __int128 total = 0;
  for (int v = 0; v < problem->n_nodes; v++) {
    tp_cost most = 0;
    for (int x = 0; x < problem->nodes[v].n; x++)
      if (problem->nodes[v].costs[x] < TP_COST_FORBIDDEN && problem->nodes[v].costs[x] > most)
        most = problem->nodes[v].costs[x];
    total += (unsigned __int128)most;
  }
  for (int e = 0; e < problem->n_edges; e++)
    total += (unsigned __int128)problem->edges[e].most;
  tp_cost step = 1;
  while (step < MAX_STEP && total * (unsigned __int128)step * 2 <= (unsigned __int128)ROOM_FOR_MESSAGES)
    step *= 2;
  return step;
}

/* In range: the step was chosen so that all costs together are. */
static void scale(size_t n, tp_cost *costs, tp_cost step) {
  for (size_t i = 0; i < n; i++)
    if (costs[i] < TP_COST_FORBIDDEN)
      costs[i] *= step;
}

static tp__wcsp *make_graph(const tp_problem *problem, tp_cost step) {
  tp__wcsp *g = tp__wcsp_create(problem->n_nodes);
  bool ok = g != NULL;
  for (int v = 0; ok && v < problem->n_nodes; v++) {
    const tp__problem_node *node = &problem->nodes[v];
    ok = tp__wcsp_set_node(g, v, node->n, node->costs, NULL) == TP_OK;
    if (ok)
      scale((size_t)node->n, g->nodes[v].cost, step);
  }
  for (int e = 0; ok && e < problem->n_edges; e++) {
    const tp__problem_edge *edge = &problem->edges[e];
    ok = tp__wcsp_connect(g, edge->a, edge->b, edge->table, (size_t)problem->nodes[edge->b].n, 1) == TP_OK;
  }
  for (int e = 0; ok && e < g->n_edges; e++) {
    const tp__wedge *edge = &g->edges[e];
    scale((size_t)g->nodes[edge->node[0]].n * (size_t)g->nodes[edge->node[1]].n, edge->table, step);
  }
  if (ok)
    return g;
  tp__wcsp_destroy(g);
  return NULL;
}

static const char *method_name(const tp__search *s) {
  static const char *const names[2][2][2] = {
      /* [passed messages][eliminated][branched] */
      {{"reduction", "reduction"}, {"elimination", "elimination"}},
      {{"message passing + local search", "message passing + branch and bound"},
       {"message passing + elimination", "message passing + branch and bound + elimination"}}};
  return names[s->passed_messages][s->width >= 0][s->branched];
}

static void report(const tp_problem *problem, const tp__search *s, const tp__answer *answer, tp_solution *solution) {
  *solution = (tp_solution){.n_nodes = problem->n_nodes, .method = method_name(s), .work = s->work, .width = s->width};
  bool found = answer->cost < TP_COST_FORBIDDEN;
  solution->cost = found ? tp_problem_evaluate(problem, answer->choices) : TP_COST_FORBIDDEN;
  solution->lower_bound = answer->bound / s->step + (answer->bound % s->step != 0);
  if (answer->bound >= TP_COST_FORBIDDEN || solution->lower_bound > solution->cost)
    solution->lower_bound = solution->cost;
  solution->optimal = solution->lower_bound == solution->cost;
  if (found)
    solution->choices = answer->choices;
}

static int64_t default_work(const tp__wcsp *g) {
  int64_t work = WORK_PER_ENTRY * tp__wcsp_entries(g);
  work = work > LEAST_WORK ? work : LEAST_WORK;
  return work < MOST_WORK ? work : MOST_WORK;
}

tp_status tp_solve(const tp_problem *problem, const tp_solver_options *options, tp_solution *solution) {
  tp_solver_options o = {0};
  if (!problem || !solution || (options && options->size < sizeof options->size))
    return TP_INVALID_ARGUMENT;
  if (options)
    memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
  tp__search s = {.step = choose_step(problem), .width = -1};
  tp__wcsp *g = make_graph(problem, s.step);
  tp__answer answer = {0};
  answer.choices = calloc((size_t)problem->n_nodes + 1, sizeof *answer.choices);
  tp_status status = TP_NO_MEMORY;
  if (g && answer.choices) {
    s.table_budget = o.table_budget > 0 ? o.table_budget : DEFAULT_TABLE_BUDGET;
    s.table_budget = s.table_budget < MOST_TABLE_BUDGET ? s.table_budget : MOST_TABLE_BUDGET;
    s.work_limit = o.work_budget > 0 ? o.work_budget : default_work(g);
    status = tp__wcsp_search(&s, g, TP_COST_FORBIDDEN, 0, &answer);
  }
  tp__wcsp_destroy(g);
  if (status == TP_OK) {
    report(problem, &s, &answer, solution);
    if (solution->choices)
      return TP_OK;
    status = TP_INFEASIBLE;
  }
  free(answer.choices);
  return status;
}

void tp_solution_clear(tp_solution *solution) {
  free(solution->choices);
  *solution = (tp_solution){0};
}
