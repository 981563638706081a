/* Large neighborhood search: local search whose single step is an exact elimination. */
#include "solver/eliminate.h"
#include "solver/local.h"
#include "solver/reduce.h"

#include <stdlib.h>
#include <string.h>

enum {
  FIRST_TABLES = 512, /* entries */
  GROWTH = 8,
  SLACK = 4,    /* reductions change the graph, and with it the greedy order */
  PATIENCE = 4, /* steps without success before the tables grow */
};

typedef struct neighborhood {
  const tp__wcsp *g;
  int *at;
  int *burden; /* by node: how often it was kept */
  bool *kept;
  int *members, n_members; /* the nodes to decide again */
  int *choices;            /* by member */
} neighborhood;

/* Solves a part for a cost < limit. *cost is TP_COST_FORBIDDEN if there is no such assignment, if
 * the tables do not fit after all, or if the search was stopped. */
static tp_status solve_part(tp__search *s, neighborhood *h, tp__wcsp *part, int64_t tables,
                            tp_cost limit, tp_cost *cost) {
  tp__control *control = tp__search_control(s);
  *cost = TP_COST_FORBIDDEN;
  tp_status status = tp__wcsp_reduce(part, limit, tables, control, &s->work);
  if (status == TP_INFEASIBLE)
    return TP_OK;
  tp__order order = {0};
  if (status == TP_OK)
    status = tp__wcsp_order(part, SLACK * tables, control, s->work, &order);
  if (status == TP_OK && order.complete) {
    bool done = false;
    status = tp__wcsp_eliminate(part, &order, control, s->work, cost, h->choices, &done);
    s->work += order.work;
    *cost = done ? *cost : TP_COST_FORBIDDEN;
    if (status == TP_OK && *cost < TP_COST_FORBIDDEN)
      tp__wcsp_complete(part, h->choices);
  }
  tp__order_clear(&order);
  return status;
}

static tp_status step_widely(tp__search *s, neighborhood *h, int64_t tables, tp_cost *cost) {
  const tp__wcsp *g = h->g;
  tp_cost found, present;
  tp_status status = tp__wcsp_cut(g, tables, h->burden, h->kept);
  h->n_members = 0;
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive && !h->kept[v])
      h->members[h->n_members++] = v;
  tp__wcsp *part =
      status == TP_OK ? tp__wcsp_condition(g, h->members, h->n_members, h->at, &present) : NULL;
  if (!part)
    return TP_NO_MEMORY;
  tp_cost limit = tp__limit_below(s, present);
  s->work += tp__wcsp_entries(g);
  status = solve_part(s, h, part, tables, limit, &found);
  if (status == TP_OK && found < limit) {
    for (int i = 0; i < h->n_members; i++)
      h->at[h->members[i]] = tp__wcsp_find(&g->nodes[h->members[i]], h->choices[i]);
    *cost -= present - found;
  }
  tp__wcsp_destroy(part);
  return status;
}

tp_status tp__wcsp_improve_lns(tp__search *s, const tp__wcsp *g, int64_t table_budget, int *at,
                               tp_cost *cost) {
  tp__pool pool = {0};
  size_t n = (size_t)g->n_nodes;
  neighborhood h = {.g = g, .at = at};
  h.burden = tp__pool_calloc(&pool, n, sizeof *h.burden);
  h.kept = tp__pool_calloc(&pool, n, sizeof *h.kept);
  h.members = tp__pool_alloc(&pool, n, sizeof *h.members);
  h.choices = tp__pool_calloc(&pool, n, sizeof *h.choices);
  tp_status status = h.burden && h.kept && h.members && h.choices ? TP_OK : TP_NO_MEMORY;
  int64_t tables = FIRST_TABLES < table_budget ? FIRST_TABLES : table_budget;
  for (int failed = 0; status == TP_OK && *cost > g->constant && !tp__search_spent(s);) {
    tp_cost before = *cost;
    status = step_widely(s, &h, tables, cost);
    failed = *cost < before ? 0 : failed + 1;
    if (failed == PATIENCE) {
      if (tables > table_budget / GROWTH)
        break;
      tables *= GROWTH;
      failed = 0;
    }
  }
  tp__pool_release(&pool);
  return status;
}
