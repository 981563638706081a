/* The state of a sensitivity analysis (tp/solver.h), shared by the files that solve its base
 * (sensitivity.c) and its variants (variant.c). */
#ifndef TP_SOLVER_SENSITIVITY_H
#define TP_SOLVER_SENSITIVITY_H

#include "solver/control.h"
#include "solver/dual.h"

struct tp_sensitivity {
  const tp_problem *problem;
  tp_solver_options options;
  size_t *offset; /* by node, and the end: offset of its strategies among those of all nodes */
  bool *base;     /* by strategy of all nodes */
  tp__wcsp *g;    /* NULL: variants are solved from scratch */
  tp__code code;
  tp__wcsp *priced; /* the graph with the price, after lifted messages */
  tp__dual dual;    /* of it */
  tp_cost **least;  /* by node: tp__dual_reduced_costs of the dual */
  tp__pool pool;    /* of `least` */
  tp_cost price;    /* of a strategy outside of the base */
  tp_cost gap;      /* known cost of the base minus its bound */
  /* from tp_sensitivity_start: strategies in `g` by node (NULL: unknown), their cost, and a bound
   * on the cost of the base */
  int *start;
  tp_cost start_cost, floor;
};

/* True if `flat`, with an entry for each strategy of all nodes, has strategy x of the node in the
 * graph. */
bool tp__sensitivity_allows(const tp_sensitivity *s, const bool *flat, int node, int x);
/* Charges the price for strategies that are in the base but not in `allowed`, and refunds it for
 * those in `allowed` but not in the base. `by` has room for the strategies of any node. False if
 * numbers left their range. */
bool tp__sensitivity_charge(const tp_sensitivity *s, tp__dual *dual, const bool *allowed,
                            tp_cost *by);

/* When to stop passing messages. */
typedef struct tp__passing {
  int most;           /* number of passes */
  int stalled;        /* a pass that gains less than 2^-stalled of the bound is the last one */
  tp_cost enough;     /* bound that is enough */
  bool all;           /* a bound below the goal is useless: stop once the goal is out of reach */
  int64_t work_limit; /* 0: none */
  const int *nodes;   /* passes over these n_nodes in ascending order; NULL: over all */
  int n_nodes;
} tp__passing;

/* Passes messages until that says so, or a stop is requested. */
void tp__sensitivity_pass(tp__dual *dual, const tp__passing *until, tp__control *control,
                          int64_t *work);

/* A pass over a variant that gains less than 2^-14 of the bound is the last one. */
enum { TP__VARIANT_STALLED = 14 };

/* Costs of the problem as those of the graph, and bounds of the graph as those of the problem. */
tp_cost tp__sensitivity_encode(const tp_sensitivity *s, tp_cost cost);
tp_cost tp__sensitivity_decode(const tp_sensitivity *s, tp_cost bound);

/* Solves the variant with these strategies from the messages of the base, for assignments that cost
 * less than `limit`. *solved is false if numbers left their range: then it must be solved from
 * scratch. TP_INFEASIBLE if there is no such assignment. */
tp_status tp__variant_solve(const tp_sensitivity *s, const bool *allowed, tp_cost limit,
                            bool *solved, tp_solution *solution);

#endif
