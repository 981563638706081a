/* Encodes the costs of a problem as costs of a graph, and decodes bounds.
 *
 * A graph needs costs whose sums stay far below TP_COST_FORBIDDEN. Problems with big costs
 * (tp_problem_set_big) have sums of more than 64 bits, so their costs get one of these forms. In
 * all but the first, the minimum of each node and edge is subtracted. All forms but the last
 * preserve the order of assignments:
 *   plain   forbidden costs stay forbidden; all others are scaled by a power of two
 *   avoid   big costs are forbidden
 *   count   the multiple of `big` in a cost becomes a multiple of a smaller weight, which still
 *           exceeds the sum of all remainders
 *   shift   low bits are dropped: bounds stay valid, but the best assignment may be missed by the
 *           dropped amount */
#ifndef TP_LIB_SOLVER_ENCODE_H
#define TP_LIB_SOLVER_ENCODE_H

#include "solver/problem.h"
#include "solver/wcsp.h"

typedef enum tp__form { TP__FORM_PLAIN, TP__FORM_AVOID, TP__FORM_COUNT, TP__FORM_SHIFT } tp__form;

typedef struct tp__code {
  tp__form form;
  tp_cost big, weight, step;
  int shift;
  unsigned __int128 base;          /* left out of the graph, in its units before the shift */
  unsigned __int128 avoided_bound; /* lower bound for assignments outside of the graph (avoid) */
  tp_cost most; /* maximum cost of an assignment of the graph that is not forbidden */
} tp__code;

/* False if the costs do not fit the form. */
bool tp__code_choose(const tp_problem *problem, tp__form form, tp__code *code);

/* Encodes the problem, with its memory limit (if any) or without. NULL if memory runs out. */
tp__wcsp *tp__encode(const tp_problem *problem, const tp__code *code, bool limited);

/* Converts a lower bound of the graph into one for the problem. For the cost of an assignment,
 * gives its exact cost, except after a shift. */
unsigned __int128 tp__decode_bound(const tp__code *code, tp_cost bound);

#endif
