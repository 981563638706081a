/* Memory over time: the usage of the strategies while their nodes live, and the remaining capacity.
 *
 * Only a time at which a maximal set of nodes lives can be the tightest. These times are numbered 0
 * .. n_times - 1. A load is the usage of a node, by strategy, over a range of them.
 *
 * Invariants of a settled node: its loads are disjoint, ascending and within [0, n_times). The
 * minimum usage of each load is 0 and its maximum is not, because usage common to all strategies is
 * subtracted from the capacity. Hence a node with one strategy has no loads, and a node whose
 * strategies all use the same memory can be eliminated. */
#ifndef TP_LIB_SOLVER_MEMORY_H
#define TP_LIB_SOLVER_MEMORY_H

#include "solver/problem.h"
#include "solver/wcsp.h"

/* Gives `g`, which consists of all nodes of `problem`, its times, capacities and loads. */
tp_status tp__memory_attach(tp__wcsp *g, const tp_problem *problem);

tp_status tp__memory_settle(tp__wcsp *g, int node);

/* Marks in `drop` the strategies of a settled node that exceed the capacity even if all other nodes
 * use their minimum. Returns their number. */
int tp__memory_mark_infeasible(const tp__wcsp *g, int node, bool *drop);

/* True if y never uses more than x. */
bool tp__memory_dominates(const tp__wcsp *g, int node, int y, int x);

/* The first function returns the maximum usage of a load. The second computes an upper bound on the
 * total usage, most[t] for 0 <= t <= n_times. */
int64_t tp__memory_max_load(const tp__wnode *v, const tp__live_usage *load);
void tp__memory_max_usage(const tp__wcsp *g, tp__int128 *most);

/* Moves the loads of `node` to `into`. Strategy x becomes partner[x]. */
tp_status tp__memory_merge(tp__wcsp *g, int node, int into, const tp_cost *partner);

/* Drops times whose capacity suffices for the maximum usage of all nodes, and times that are never
 * tighter than an adjacent one. All nodes are settled before and after. *infeasible: the capacity
 * at some time is less than the minimum usage. */
tp_status tp__memory_compact(tp__wcsp *g, bool *changed, bool *infeasible);

/* Gives `part`, extracted from `g` with all strategies of the members, the loads of `g` and the
 * capacity `room` (by time of `g`). The nodes of `part` are not settled. */
tp_status tp__memory_extract(const tp__wcsp *g, tp__wcsp *part, const int *members,
                             const tp__int128 *capacity);

/* used[t] += sign * usage of strategy x of `node` at t. */
static inline void tp__memory_add(const tp__wcsp *g, int node, int x, int sign, tp__int128 *used) {
  const tp__wnode *v = &g->nodes[node];
  for (int i = 0; i < v->n_loads; i++) {
    const tp__live_usage *load = &v->loads[i];
    tp__int128 more = sign * (tp__int128)load->usage[x];
    for (int t = load->first; more && t < load->last; t++)
      used[t] += more;
  }
}

#endif
