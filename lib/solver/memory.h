/* Memory over time: what the strategies of nodes use while the nodes live, and how much room there
 * is.
 *
 * Only times at which a maximal set of nodes lives together can be the tightest; they are numbered
 * 0 .. n_times - 1. A load is what a node uses in a range of them, by strategy.
 *
 * Invariants of a settled node: its loads are disjoint, ascending and in [0, n_times), the least
 * usage of each is 0 and its largest is not: what every strategy uses is taken from the room. So a
 * node of one strategy has no loads, and the loads of a node without a choice of memory do not keep
 * it from being eliminated. */
#ifndef TP_LIB_SOLVER_MEMORY_H
#define TP_LIB_SOLVER_MEMORY_H

#include "solver/problem.h"
#include "solver/wcsp.h"

/* Gives `g`, made of all nodes of `problem`, its times, rooms and loads. */
tp_status tp__memory_attach(tp__wcsp *g, const tp_problem *problem);

tp_status tp__memory_settle(tp__wcsp *g, int node);

/* Marks in `drop` the strategies of a settled node for which there is no room even if all others
 * use their least. Returns their number. */
int tp__memory_overfull(const tp__wcsp *g, int node, bool *drop);

/* True if y uses nowhere more than x. */
bool tp__memory_no_more(const tp__wcsp *g, int node, int y, int x);

/* The largest usage of a load, and what the nodes can use at most together: most[t] for 0 <= t <=
 * n_times. */
int64_t tp__memory_largest(const tp__wnode *v, const tp__wload *load);
void tp__memory_most(const tp__wcsp *g, tp__wide *most);

/* Moves the loads of `node` over to `into`: its strategy x becomes partner[x]. */
tp_status tp__memory_merge(tp__wcsp *g, int node, int into, const tp_cost *partner);

/* Drops times with room for the most that all nodes can use, and times that are never tighter than
 * the one beside them. All nodes are settled before and after. *infeasible: some time has not even
 * room for the least. */
tp_status tp__memory_compact(tp__wcsp *g, bool *changed, bool *infeasible);

/* Gives `part`, extracted from `g` with all strategies of the members, the memory of `g`: its
 * loads, and `room` (by time of `g`) for them. The nodes of `part` are not settled. */
tp_status tp__memory_extract(const tp__wcsp *g, tp__wcsp *part, const int *members,
                             const tp__wide *room);

/* used[t] += sign * what strategy x of `node` uses at t. */
static inline void tp__memory_add(const tp__wcsp *g, int node, int x, int sign, tp__wide *used) {
  const tp__wnode *v = &g->nodes[node];
  for (int i = 0; i < v->n_loads; i++) {
    const tp__wload *load = &v->loads[i];
    tp__wide more = sign * (tp__wide)load->usage[x];
    for (int t = load->first; more && t < load->last; t++)
      used[t] += more;
  }
}

#endif
