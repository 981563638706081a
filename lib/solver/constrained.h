/* The search under a memory limit: reduce, bound by memory prices, prune, search neighborhoods,
 * branch. */
#ifndef TP_LIB_SOLVER_CONSTRAINED_H
#define TP_LIB_SOLVER_CONSTRAINED_H

#include "solver/search.h"

/* Like tp__wcsp_search, for a graph with memory: looks for an assignment of cost < limit that fits
 * at all times. On entry, answer->bound is a known lower bound; on return it is TP_COST_FORBIDDEN
 * if there is no such assignment. If none was found, answer->choices may still hold the assignment
 * with the least excess (answer->nearest). `near` has the labels, by node, of an assignment that is
 * cheap but need not fit, or is NULL. */
tp_status tp__constrained_search(tp__search *s, tp__wcsp *g, tp_cost limit, const int *near,
                                 tp__answer *answer);

/* Looks for an assignment of cost < limit in a graph that omits strategies. If the answer has a
 * cost on entry, which is not below the limit, the search starts from its choices. Computes no
 * bound. */
tp_status tp__constrained_restricted(tp__search *s, tp__wcsp *g, tp_cost limit, tp__answer *answer);

/* The same for a part, without neighborhoods. As in tp__wcsp_search, answer->bound == limit means
 * that there is none. */
tp_status tp__constrained_part(tp__search *s, tp__wcsp *g, tp_cost limit, int depth,
                               tp__answer *answer);

/* Improves `at`, which fits and costs *cost. Repeatedly solves for a small set of nodes with all
 * others fixed, on s->threads threads. *complete: the set has grown to the whole graph, so no
 * assignment costs less. */
tp_status tp__neighborhoods(tp__search *s, const tp__wcsp *g, int *at, tp_cost *cost,
                            bool *complete);

#endif
