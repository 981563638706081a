/* Solves a problem without its memory limit. */
#ifndef TP_LIB_SOLVER_RELAX_H
#define TP_LIB_SOLVER_RELAX_H

#include "solver/search.h"

/* Searches with `work` for the cheapest assignment, regardless of memory. answer->bound is a lower
 * bound also for assignments that fit. *fits: the assignment found fits. answer->choices has labels
 * by node of the problem. */
tp_status tp__relax(tp__search *s, const tp_problem *problem, const tp__code *code, int64_t work,
                    tp__answer *answer, bool *fits);

#endif
