/* From the costs of a problem to those of a graph, and back.
 *
 * A graph wants costs whose sums stay far below TP_COST_FORBIDDEN. Problems with big costs
 * (tp_problem_set_big) have sums of more than 64 bits, so each is put in one of these forms. In all
 * but the first, only what exceeds the least of a node or an edge counts; all keep the order of
 * choices except the last:
 *   plain   forbidden costs are forbidden; all others, times a power of two
 *   avoid   big costs are forbidden
 *   count   the multiple of `big` that a cost contains is written as a multiple of a smaller
 *     weight, which still is more
 *           than all rests together
 *   shift   low bits are cut off: bounds stay bounds, the best choice may be missed by what was cut
 *     off */
#ifndef TP_LIB_SOLVER_ENCODE_H
#define TP_LIB_SOLVER_ENCODE_H

#include "solver/problem.h"
#include "solver/wcsp.h"

typedef enum tp__form { TP__FORM_PLAIN, TP__FORM_AVOID, TP__FORM_COUNT, TP__FORM_SHIFT } tp__form;

typedef struct tp__code {
  tp__form form;
  tp_cost big, weight, step;
  int shift;
  unsigned __int128 base;      /* left out of the graph, in its units before the shift */
  unsigned __int128 elsewhere; /* choices that are not in the graph (avoid) cost this or more */
  tp_cost most;                /* no choice of the graph that is not forbidden costs more */
} tp__code;

/* False if the costs do not fit that form. */
bool tp__code_choose(const tp_problem *problem, tp__form form, tp__code *code);

/* With the limit of the problem, if it has one, or without. NULL when memory runs out. */
tp__wcsp *tp__encode(const tp_problem *problem, const tp__code *code, bool limited);

/* A lower bound on the cost of all choices, given that of the graph; the exact cost of one, but for
 * the shift. */
unsigned __int128 tp__decode_bound(const tp__code *code, tp_cost bound);

#endif
