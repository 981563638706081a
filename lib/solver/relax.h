/* A problem without its limit of memory. */
#ifndef TP_LIB_SOLVER_RELAX_H
#define TP_LIB_SOLVER_RELAX_H

#include "solver/search.h"

/* Searches with `work` for the cheapest choice, whatever memory it uses: answer->bound is a bound
 * on what fits, too. *fits: so does what was found. answer->choices, labels by node, are those of
 * the problem. */
tp_status tp__relax(tp__search *s, const tp_problem *problem, const tp__code *code, int64_t work,
                    tp__answer *answer, bool *fits);

#endif
