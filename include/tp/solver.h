/* The strategy-selection problem: choose one strategy for every node so that node costs plus edge
 * costs are least, and that the memory in use never exceeds a limit.
 *
 * Nodes have a vector of costs, edges a table cost[strategy of a][strategy of b]. TP_COST_FORBIDDEN
 * (tp/cost.h) marks an impossible combination. Costs are int64 picoseconds >= 0. A node may also
 * live for a time and use memory meanwhile, so much for each strategy. Every solution comes with a
 * certified lower bound on the optimum: gap = cost - lower_bound, 0 when proven optimal.
 *
 * Deterministic: the effort is counted in solver work, not in seconds, so the same input gives the
 * same answer, with any number of threads. A time limit and an interrupt, which are opt-in, give
 * that up. Thread rule: one problem belongs to one thread at a time. */
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
 * number (0, 1, ...), or -1 when memory runs out or an argument is out of range. */
TP_API int tp_problem_add_node(tp_problem *problem, int n, const tp_cost *costs);

/* Adds an edge between different nodes a and b; `table` is row-major [strategies of a][strategies
 * of b] and is copied. Parallel and reversed edges add up. Errors: TP_INVALID_ARGUMENT (no such
 * node, a == b, a negative cost), TP_NO_MEMORY. */
TP_API tp_status tp_problem_add_edge(tp_problem *problem, int a, int b, const tp_cost *table);

/* Adds an edge between a and b with the table of edge `edge` (edges are numbered 0, 1, ... as they
 * are added), which is kept once for both. Errors: TP_INVALID_ARGUMENT (no such edge or node, a ==
 * b, other numbers of strategies than the edge's ends), TP_NO_MEMORY. */
TP_API tp_status tp_problem_repeat_edge(tp_problem *problem, int a, int b, int edge);

/* Node `node` lives at the times start <= t < end, and uses usages[x] there with strategy x (>= 0,
 * any unit; copied). A call replaces what was said of the node before. Errors: TP_INVALID_ARGUMENT
 * (no such node, start > end, a negative usage), TP_NO_MEMORY. */
TP_API tp_status tp_problem_set_usage(tp_problem *problem, int node, int64_t start, int64_t end,
                                      const int64_t *usages);

/* At the times start <= t < end, node `node` uses usages[x] besides what it uses already: a
 * decision may need memory at several times, and different amounts. Errors: as above. */
TP_API tp_status tp_problem_add_usage(tp_problem *problem, int node, int64_t start, int64_t end,
                                      const int64_t *usages);

/* At no time may the nodes that live use more than `limit` together, 0 <= limit < INT64_MAX. Sums
 * do not overflow. */
TP_API tp_status tp_problem_set_limit(tp_problem *problem, int64_t limit);

/* For files that write infinity as a number: from now on no cost is forbidden. Choices with costs
 * of `big` >= 1 or more are avoided while there are others, and else count in full; see
 * tp_solution.exact_cost. Only before the first node. */
TP_API tp_status tp_problem_set_big(tp_problem *problem, tp_cost big);

TP_API int tp_problem_n_nodes(const tp_problem *problem);
TP_API int tp_problem_n_edges(const tp_problem *problem);

/* A cost of 128 bits: high * 2^64 + low. */
typedef struct tp_exact_cost {
  uint64_t high, low;
} tp_exact_cost;

/* Decimal digits in `text`, ended by 0. */
TP_API void tp_exact_cost_print(tp_exact_cost cost, char text[40]);
/* To the nearest double, or one beside it. */
static inline double tp_exact_cost_value(tp_exact_cost cost) {
  return (double)cost.high * 0x1p64 + (double)cost.low;
}

/* How far a solver is. */
typedef struct tp_solver_progress {
  bool found; /* `cost` is that of a choice that could be returned */
  tp_exact_cost cost, lower_bound;
  int64_t work;
  double seconds; /* since tp_solve was called */
} tp_solver_progress;

typedef struct tp_solver_options {
  /* sizeof(tp_solver_options), set by the caller; a zeroed rest means defaults */
  size_t size;
  int64_t table_budget; /* largest table of the exact elimination, entries; 0: 2e7; at most 2^32 */
  /* Of the heuristic, in table entries looked at one by one (about 2.5 ns each; in rows they take
   * less) and what takes as long. 0: 2000 looks at every table, at least 3e8, at most 6e9; under a
   * memory limit at least 5e10, and at most 5e11. Reductions, and an exact elimination that fits,
   * are not cut short. */
  int64_t work_budget;
  /* seconds of wall clock after which the best so far is returned, and without a work_budget not
   * before, unless it is optimal; 0: none. Gives up determinism. Everything is cut short by it;
   * what is done later is a few looks at the tables for a choice, if there is none yet, with a
   * bound that may be weak */
  double time_limit;
  double gap;  /* (cost - bound) / bound that is good enough; 0: go on to the optimum */
  int threads; /* 0: 1; the answer does not depend on it */
  /* Asked many times a second, from the calling thread: true ends the search with the best so far.
   * NULL: never. It may also show the progress. */
  bool (*interrupted)(const tp_solver_progress *progress, void *data);
  void *data;
} tp_solver_options;

typedef struct tp_solution {
  int *choices; /* one per node; freed by tp_solution_clear; NULL if none was found */
  int n_nodes;
  /* of `choices`; TP_COST_FORBIDDEN if no feasible choice was found, or if it is beyond that */
  tp_cost cost;
  tp_cost lower_bound; /* certified: no choice costs less */
  bool optimal;        /* cost == lower_bound; without choices: it is proven that there are none */
  const char *method;  /* "elimination", "message passing + local search", ...; static storage */
  int64_t work;        /* solver work spent, in units of work_budget */
  /* Largest number of neighbours of a node eliminated exactly; nodes with two or fewer are reduced
   * away and do not count. -1 if none was. */
  int width;
  tp_exact_cost exact_cost, exact_bound; /* the same in full, for problems with big costs */
  bool stopped;                          /* by the time limit, or interrupted */
  double seconds;
  /* Memory, in the units of the usages: the most that `choices` use and a time when they do;
   * without choices, the same of the choices found that exceed the limit least (0 if none were
   * tried). At no time does any choice use less than least_peak at least_peak_time. 0 without a
   * limit. */
  tp_exact_cost peak, least_peak;
  int64_t peak_time, least_peak_time;
  /* What a unit of memory is worth, at n_prices times: cost per unit, with which messages found the
   * best bound. No other times have a price that is known. Freed by tp_solution_clear; NULL without
   * a limit, or where prices were not sought. */
  int n_prices;
  int64_t *price_times;
  double *prices;
  tp_cost
      /* certified: no choice costs less, whatever memory it uses; 0 if that is not known, or there
       * is no limit */
      unlimited_bound;
} tp_solution;

/* Solves. TP_INFEASIBLE when it is proven that every choice is forbidden, or when none was found;
 * `solution` is written then too and `optimal` tells the two apart. Other errors
 * (TP_INVALID_ARGUMENT, TP_NO_MEMORY) leave it alone. `options` may be NULL. */
TP_API tp_status tp_solve(const tp_problem *problem, const tp_solver_options *options,
                          tp_solution *solution);
TP_API void tp_solution_clear(tp_solution *solution);

/* Solves with the strategies x of `node` for which allowed[x] is true (one entry per strategy), as
 * tp_solve does: the cheapest choice in which this one decision is another. Errors: those of
 * tp_solve; TP_INVALID_ARGUMENT also for problems with big costs. */
TP_API tp_status tp_solve_allowing(const tp_problem *problem, const tp_solver_options *options,
                                   int node, const bool *allowed, tp_solution *solution);

/* What it costs to choose otherwise: bounds[x] is a certified lower bound on the cost of all
 * choices with strategy x at `node`, TP_COST_FORBIDDEN if there is none. `bounds` has an entry per
 * strategy. Solves the problem once for each strategy, with the given options. Errors:
 * TP_INVALID_ARGUMENT (also for problems with big costs), TP_NO_MEMORY. */
TP_API tp_status tp_solve_each(const tp_problem *problem, const tp_solver_options *options,
                               int node, tp_cost *bounds);

/* A problem that was solved, to solve others beside it: the same nodes, edges and costs with fewer
 * or other strategies. What was learnt of the base, the problem whose nodes choose among `allowed`,
 * stays, and problems near it take a fraction of its time. allowed[node] has an entry per strategy;
 * NULL for a node: all of them; NULL instead of the array: all of all nodes. */
typedef struct tp_sensitivity tp_sensitivity;

/* `problem` has to outlive the sensitivity. `known` is the cost of the best choice of the base, as
 * far as it is known, else TP_COST_FORBIDDEN: no more is learnt than proves it. Of `options` (which
 * may be NULL, and whose `data` has to outlive the sensitivity) the time limit is not used; an
 * interrupt ends what is going on, with bounds that are certified and maybe less. A problem with a
 * memory limit is taken too, but nothing is learnt of it. Errors: TP_INVALID_ARGUMENT (a NULL
 * argument, a problem with big costs), TP_NO_MEMORY. */
TP_API tp_status tp_sensitivity_create(const tp_problem *problem, const tp_solver_options *options,
                                       const bool *const *allowed, tp_cost known,
                                       tp_sensitivity **sensitivity);
TP_API void tp_sensitivity_destroy(tp_sensitivity *sensitivity);

/* Reduced costs: every choice of the base with strategy x at `node` costs bounds[x] or more;
 * TP_COST_FORBIDDEN where there is none. `bounds` has an entry per strategy. Errors:
 * TP_INVALID_ARGUMENT (no such node), TP_NO_MEMORY. */
TP_API tp_status tp_sensitivity_bounds(const tp_sensitivity *sensitivity, int node,
                                       tp_cost *bounds);

/* A certified bound, soon: no choice among `allowed` (NULL for a node: as in the base) costs less.
 * It is not sought beyond `limit`; 0 where nothing was learnt of the base. Errors:
 * TP_INVALID_ARGUMENT (a NULL argument, a negative limit), TP_NO_MEMORY. */
TP_API tp_status tp_sensitivity_bound(const tp_sensitivity *sensitivity, const bool *const *allowed,
                                      tp_cost limit, tp_cost *bound);

/* Solves with the strategies in `allowed`, as tp_solve does; NULL for a node: those of the base.
 * Only choices of cost < limit are looked for, as far as that saves time: without choices and with
 * `optimal`, no choice costs less than min(lower_bound, limit). Errors: those of tp_solve. */
TP_API tp_status tp_sensitivity_solve(const tp_sensitivity *sensitivity, const bool *const *allowed,
                                      tp_cost limit, tp_solution *solution);

/* Cost of given choices (n_nodes entries), evaluated from the problem itself. Choices out of range
 * are forbidden. */
TP_API tp_cost tp_problem_evaluate(const tp_problem *problem, const int *choices);

#ifdef __cplusplus
}
#endif
#endif
