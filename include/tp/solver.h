/* The strategy-selection problem: choose one strategy per node so that the sum of node costs and
 * edge costs is minimal and memory use never exceeds a limit.
 *
 * A node has a vector of costs, an edge a table cost[strategy of a][strategy of b].
 * TP_COST_FORBIDDEN (tp/cost.h) marks an impossible combination. Costs are int64 picoseconds >= 0.
 * A node may also have a live range with a memory use per strategy. Every solution comes with a
 * certified lower bound on the optimum: gap = cost - lower_bound, 0 if proven optimal.
 *
 * Deterministic: effort is counted in solver work, not in seconds, so equal inputs give equal
 * answers, with any number of threads. A time limit and an interrupt, both opt-in, give up this
 * property. Thread rule: one problem belongs to one thread at a time. */
#ifndef TP_SOLVER_H
#define TP_SOLVER_H

#include "tp/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_problem tp_problem;

TP_API tp_problem *tp_problem_create(void);
TP_API void tp_problem_destroy(tp_problem *problem);

/* Adds a node with 1 <= n <= 65535 strategies; `costs` has n entries and is copied. Returns its
 * number (0, 1, ...), or -1 if memory runs out or an argument is out of range. */
TP_API int tp_problem_add_node(tp_problem *problem, int n, const tp_cost *costs);

/* Adds an edge between different nodes a and b; `table` is row-major [strategies of a][strategies
 * of b] and is copied. Parallel and reversed edges add up. Errors: TP_INVALID_ARGUMENT (no such
 * node, a == b, a negative cost), TP_NO_MEMORY. */
TP_API tp_status tp_problem_add_edge(tp_problem *problem, int a, int b, const tp_cost *table);

/* Adds an edge between a and b that shares the table of edge `edge` (edges are numbered 0, 1, ...
 * in the order they are added). Errors: TP_INVALID_ARGUMENT (no such edge or node, a == b, numbers
 * of strategies that differ from those of the edge), TP_NO_MEMORY. */
TP_API tp_status tp_problem_repeat_edge(tp_problem *problem, int a, int b, int edge);

/* Sets the live range of node `node` to start <= t < end. With strategy x it uses usages[x] >= 0
 * there, in any unit; copied. A call replaces earlier live ranges of the node. Errors:
 * TP_INVALID_ARGUMENT (no such node, start > end, a negative usage), TP_NO_MEMORY. */
TP_API tp_status tp_problem_set_usage(tp_problem *problem, int node, int64_t start, int64_t end,
                                      const int64_t *usages);

/* Adds a live range to node `node`: it uses usages[x] in start <= t < end in addition to its other
 * ranges. A decision may need different amounts of memory at several times. Errors: as above. */
TP_API tp_status tp_problem_add_usage(tp_problem *problem, int node, int64_t start, int64_t end,
                                      const int64_t *usages);

/* Limits the total usage of live nodes at any time to `limit`, 0 <= limit < INT64_MAX. Sums do not
 * overflow. */
TP_API tp_status tp_problem_set_limit(tp_problem *problem, int64_t limit);

/* For files that encode infinity as a number: from now on no cost is forbidden. Choices with costs
 * of `big` >= 1 or more are avoided if there are others, and count in full otherwise; see
 * tp_solution.exact_cost. Only before the first node. */
TP_API tp_status tp_problem_set_big(tp_problem *problem, tp_cost big);

TP_API int tp_problem_n_nodes(const tp_problem *problem);
TP_API int tp_problem_n_edges(const tp_problem *problem);

/* A 128-bit cost: high * 2^64 + low. */
typedef struct tp_exact_cost {
  uint64_t high, low;
} tp_exact_cost;

/* Writes the decimal digits to `text`, terminated by 0. */
TP_API void tp_exact_cost_print(tp_exact_cost cost, char text[40]);
/* Returns the nearest double, or an adjacent one. */
static inline double tp_exact_cost_value(tp_exact_cost cost) {
  return (double)cost.high * 0x1p64 + (double)cost.low;
}

/* Progress of a running solver. */
typedef struct tp_solver_progress {
  bool found; /* `cost` is the cost of a choice that could be returned */
  tp_exact_cost cost, lower_bound;
  int64_t work;
  double seconds; /* since tp_solve was called */
  /* `work` at which the current search ends at the latest; 0: unknown */
  int64_t work_limit;
} tp_solver_progress;

typedef struct tp_solver_options {
  /* sizeof(tp_solver_options), set by the caller; zeroed fields mean defaults */
  size_t size;
  int64_t table_budget; /* max entries of a table in the exact elimination; 0: 2e7; at most 2^32 */
  /* Work budget of the heuristic. The unit is one random access to a table entry, about 2.5 ns
   * (accesses to whole rows count less), or other work of that duration. 0: 2000 visits of every
   * table entry, at least 3e8, at most 6e9; with a memory limit at least 5e10, at most 5e11. The
   * budget does not interrupt reductions, nor an exact elimination that fits. */
  int64_t work_budget;
  /* wall-clock seconds after which the best choice so far is returned; 0: none. Without a
   * work_budget, the search uses all of this time unless it proves optimality. Gives up
   * determinism. The limit interrupts every phase. If no choice was found by then, a few more
   * passes over the tables construct one; its bound may be weak */
  double time_limit;
  double gap;  /* (cost - bound) / bound at which the search stops; 0: continue to the optimum */
  int threads; /* 0 means 1; the answer does not depend on it */
  /* Called many times per second, from the calling thread: true ends the search with the best
   * choice so far. NULL: never. It may also display the progress. */
  bool (*interrupted)(const tp_solver_progress *progress, void *data);
  void *data;
  /* Within a memory limit: choices that cost this much or more need not be found, and the lower
   * bound is no higher than this; 0: all are wanted. It should be the cost of a known choice: the
   * search then excludes much from the start. */
  tp_cost known_cost;
} tp_solver_options;

typedef struct tp_solution {
  int *choices; /* one per node; freed by tp_solution_clear; NULL if no choice was found */
  int n_nodes;
  /* cost of `choices`; TP_COST_FORBIDDEN if no feasible choice was found, or if the cost is
   * larger */
  tp_cost cost;
  tp_cost lower_bound; /* certified: no choice costs less */
  bool optimal;        /* cost == lower_bound; without choices: the problem is proven infeasible */
  const char *method;  /* "elimination", "message passing + local search", ...; static storage */
  int64_t work;        /* solver work spent, in the units of work_budget */
  /* Largest number of neighbors of a node that was eliminated exactly. Nodes with two or fewer are
   * reduced away and do not count. -1 if there was none. */
  int width;
  /* cost and lower_bound in full, for problems with big costs */
  tp_exact_cost exact_cost, exact_bound;
  bool stopped; /* ended by the time limit or an interrupt */
  double seconds;
  /* Memory, in the units of the usages. peak is the peak use of `choices`, peak_time a time at
   * which it occurs. Without choices, they describe the choice found that exceeds the limit least
   * (0 if none was tried). Every choice uses at least least_peak at least_peak_time. 0 without a
   * limit. */
  tp_exact_cost peak, least_peak;
  int64_t peak_time, least_peak_time;
  /* Dual prices of memory at n_prices times: the cost per unit of memory, from the messages that
   * gave the best bound before strategies were dropped by it. The prices at other times are
   * unknown. Freed by tp_solution_clear; NULL without a limit, or if prices were not computed. */
  int n_prices;
  int64_t *price_times;
  double *prices;
  /* certified: no choice costs less, whatever memory it uses; 0 if unknown or if there is no
   * limit */
  tp_cost unlimited_bound;
} tp_solution;

/* Solves a problem. TP_INFEASIBLE if every choice is proven forbidden, or if none was found; in
 * that case `solution` is written too, and `optimal` distinguishes the two. Other errors
 * (TP_INVALID_ARGUMENT, TP_NO_MEMORY) leave it unchanged. `options` may be NULL. */
TP_API tp_status tp_solve(const tp_problem *problem, const tp_solver_options *options,
                          tp_solution *solution);
TP_API void tp_solution_clear(tp_solution *solution);

/* Like tp_solve, but `node` may only use the strategies x with allowed[x] (one entry per strategy).
 * Gives the cheapest choice in which this one decision differs. Errors: those of tp_solve;
 * TP_INVALID_ARGUMENT also for problems with big costs. */
TP_API tp_status tp_solve_allowing(const tp_problem *problem, const tp_solver_options *options,
                                   int node, const bool *allowed, tp_solution *solution);

/* Computes the cost of alternatives: bounds[x] is a certified lower bound on the cost of all
 * choices with strategy x at `node`, TP_COST_FORBIDDEN if there is none. `bounds` has one entry per
 * strategy. Solves the problem once per strategy, with the given options. Errors:
 * TP_INVALID_ARGUMENT (also for problems with big costs), TP_NO_MEMORY. */
TP_API tp_status tp_solve_each(const tp_problem *problem, const tp_solver_options *options,
                               int node, tp_cost *bounds);

/* Sensitivity analysis: solves variants of a problem that was solved before, with the same nodes,
 * edges and costs but fewer or other strategies. The base is the problem restricted to the
 * strategies in `allowed`. Results learned from the base are reused, so similar problems take a
 * fraction of its time. allowed[node] has one entry per strategy; NULL for a node: all its
 * strategies; NULL instead of the array: all strategies of all nodes. */
typedef struct tp_sensitivity tp_sensitivity;

/* Creates a sensitivity analysis. `problem` must outlive it. `known` is the best known cost of the
 * base, or TP_COST_FORBIDDEN; learning stops when it proves that cost. `options` may be NULL, and
 * its `data` must outlive the sensitivity. The time limit is ignored. An interrupt ends the current
 * computation; bounds stay certified but may be weaker. A problem with a memory limit is accepted,
 * but nothing is learned from it. Errors: TP_INVALID_ARGUMENT (a NULL argument, a problem with big
 * costs), TP_NO_MEMORY. */
TP_API tp_status tp_sensitivity_create(const tp_problem *problem, const tp_solver_options *options,
                                       const bool *const *allowed, tp_cost known,
                                       tp_sensitivity **sensitivity);
TP_API void tp_sensitivity_destroy(tp_sensitivity *sensitivity);

/* Tells the best known choices of the base (n_nodes entries), and a certified lower bound on its
 * cost; `choices` is copied. tp_sensitivity_solve then looks first for choices that differ from
 * these only near the nodes whose strategies differ, which is much faster in a large problem.
 * Errors: TP_INVALID_ARGUMENT (a NULL argument, a negative bound, choices out of range),
 * TP_NO_MEMORY. */
TP_API tp_status tp_sensitivity_start(tp_sensitivity *sensitivity, const int *choices,
                                      tp_cost bound);

/* Computes reduced costs: every choice of the base with strategy x at `node` costs at least
 * bounds[x]; TP_COST_FORBIDDEN if there is none. `bounds` has one entry per strategy. Errors:
 * TP_INVALID_ARGUMENT (no such node), TP_NO_MEMORY. */
TP_API tp_status tp_sensitivity_bounds(const tp_sensitivity *sensitivity, int node,
                                       tp_cost *bounds);

/* Quickly computes a certified lower bound: no choice within `allowed` (NULL for a node: as in the
 * base) costs less. Stops at `limit`. The bound is 0 if nothing was learned from the base. Errors:
 * TP_INVALID_ARGUMENT (a NULL argument, a negative limit), TP_NO_MEMORY. */
TP_API tp_status tp_sensitivity_bound(const tp_sensitivity *sensitivity, const bool *const *allowed,
                                      tp_cost limit, tp_cost *bound);

/* Like tp_solve, with the strategies in `allowed`; NULL for a node: those of the base. Searches
 * only for choices of cost < limit where this saves time: without choices and with `optimal`, no
 * choice costs less than min(lower_bound, limit). Errors: those of tp_solve. */
TP_API tp_status tp_sensitivity_solve(const tp_sensitivity *sensitivity, const bool *const *allowed,
                                      tp_cost limit, tp_solution *solution);

/* Selects strategies around selected ones. kept[node] has an entry per strategy: true if it is
 * selected; NULL: all strategies of the node are, and none can be added. Of each other node, in the
 * order of nodes, the n strategies are selected that cost least: their cost, plus for each edge the
 * least entry with a selected strategy at its other endpoint. On ties, the lower number is. Memory
 * is not considered. Errors: TP_INVALID_ARGUMENT, TP_NO_MEMORY. */
TP_API tp_status tp_problem_keep_nearest(const tp_problem *problem, int n, bool *const *kept);

/* Returns the cost of given choices (n_nodes entries), evaluated from the problem itself. Choices
 * out of range are forbidden. */
TP_API tp_cost tp_problem_evaluate(const tp_problem *problem, const int *choices);

#ifdef __cplusplus
}
#endif
#endif
