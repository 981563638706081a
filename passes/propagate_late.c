/* Plans for when the time limit is over before the problem is stated.
 *
 * Pricing the changes between all layouts of all values takes longest. So every node keeps a few strategies, those that cost least by themselves and the
 * one that splits least, and the problem of these is stated, whatever the clock says, and solved for a moment. The plan is valid and may be far from the cheapest. What is
 * proven of all strategies is that a plan costs no less than the least of every node. */
#include "passes/propagate_limited.h"

enum { FEW = 8 }; /* strategies of a node */
#define GRACE 0.1 /* seconds beyond the limit, to solve their problem */

static tp_status out_of_memory(const tp_planner *p) { return tp__error(p->program.func, TP_NO_MEMORY, "out of memory"); }

static tp_cost least_cost(const tp_planner *p) {
  tp_cost sum = 0;
  for (size_t i = 0; i < p->n_nodes; i++) {
    const tp_node *node = &p->nodes[i];
    tp_cost least = TP_COST_FORBIDDEN;
    for (int s = 0; s < node->n; s++)
      least = node->costs[s] < least ? node->costs[s] : least;
    sum = tp_cost_add(sum, tp__cost_times(least, node->kind == TP_NODE_OP ? p->program.items[node->index].trips : 1));
  }
  return sum;
}

/* By node: which strategies it keeps. NULL when memory runs out. */
static const bool *const *choose_few(const tp_planner *p) {
  const bool **rows = tp__arena_array(p->arena, p->n_nodes + 1, sizeof(const bool *));
  for (size_t i = 0; rows && i < p->n_nodes; i++) {
    const tp_node *node = &p->nodes[i];
    int *list = NULL;
    bool *row = tp__arena_array(p->arena, (size_t)node->n + 1, sizeof *row);
    bool keeps_all = node->n <= FEW;
    if (!row || (!keeps_all && tp__keep_cheapest(p->arena, node->costs, node->n, FEW, &list) != TP_OK))
      return NULL;
    for (int k = 0; k < (keeps_all ? node->n : FEW); k++)
      row[keeps_all ? k : list[k]] = true;
    rows[i] = row;
  }
  return rows;
}

tp_status tp__plan_late(tp_planner *p) {
  tp_cost bound = least_cost(p);
  const bool *const *kept = choose_few(p);
  p->is_cut_short = true;
  p->heeds_clock = p->is_given_up = false;
  tp_status status = kept ? tp__planner_cut(p, kept) : out_of_memory(p);
  if (status == TP_OK && p->memory_limit >= 0)
    status = tp__routes_build(p, false);
  if (status == TP_OK)
    status = tp__plan_make_problem(p, true, &p->problem);
  tp__clock_extend(p->clock, GRACE);
  if (status == TP_OK)
    status = tp__plan_solve(p);
  p->bound = bound < p->cost ? bound : p->cost;
  return status;
}
