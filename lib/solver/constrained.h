/* The search under a memory limit: reduce, bound by prices of memory, prune, look in
 * neighbourhoods, branch. */
#ifndef TP_LIB_SOLVER_CONSTRAINED_H
#define TP_LIB_SOLVER_CONSTRAINED_H

#include "solver/search.h"

/* As tp__wcsp_search, for a graph with memory: looks for a choice of cost < limit for which there
 * is room at all times. answer->bound is a bound at first, and TP_COST_FORBIDDEN in the end if
 * there is none. Without a cost answer->choices may still be those that exceed the room least
 * (answer->nearest). `near` has labels, by node, of a choice that is cheap but need not fit; or
 * NULL. */
tp_status tp__constrained_search(tp__search *s, tp__wcsp *g, tp_cost limit, const int *near,
                                 tp__answer *answer);

/* Looks for a choice of cost < limit in a graph that leaves strategies out. A cost in the answer,
 * not below the limit, is that of its choices, which are where the search starts. There is no
 * bound. */
tp_status tp__constrained_core(tp__search *s, tp__wcsp *g, tp_cost limit, tp__answer *answer);

/* The same for a part, without neighbourhoods: as tp__wcsp_search, answer->bound == limit says that
 * there is none. */
tp_status tp__constrained_part(tp__search *s, tp__wcsp *g, tp_cost limit, int depth,
                               tp__answer *answer);

/* Improves `at`, which fits and costs *cost, by solving for small sets of nodes at a time with all
 * others as they are, on s->threads threads. *complete: the set was the whole graph in the end, so
 * nothing costs less. */
tp_status tp__neighbourhoods(tp__search *s, const tp__wcsp *g, int *at, tp_cost *cost,
                             bool *complete);

#endif
