/* Prices of memory and messages together, choices on the way, and what may be dropped by what they
 * prove. */
#ifndef TP_LIB_SOLVER_CLIMB_H
#define TP_LIB_SOLVER_CLIMB_H

#include "solver/prices.h"
#include "solver/search.h"

#define TP__LATER_STEP 0.1 /* of prices that are already good */

typedef struct tp__climber {
  tp__search *s;
  tp__wcsp *g;
  tp__answer *answer;
  tp_cost limit;
  tp__pool pool;
  tp__prices prices;
  int *at, *repaired;
  tp__wide *used;
  double *average, *best_price;
  tp_cost bound;    /* certified */
  double step;      /* of the prices, at first */
  tp__wide nearest; /* excess of answer->choices while nothing was found */
} tp__climber;

/* Better prices and messages, from those in c->g; then prunes c->g by c->bound. A repaired choice
 * that fits and costs less than c->limit becomes the answer, and lowers the limit. Called at the
 * root, with patience, and below it, where little has changed since the parent. TP_INFEASIBLE:
 * nothing costs less than the limit. */
tp_status tp__climb(tp__climber *c, bool is_root);

/* Labels of a choice for the alive nodes, and of the best for the eliminated ones. */
void tp__climb_keep(const tp__wcsp *g, const int *at, int *choices);

#endif
