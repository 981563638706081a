/* Improves memory prices and messages together, finds assignments on the way, and prunes by the
 * resulting bounds. */
#ifndef TP_LIB_SOLVER_PRICE_ASCENT_H
#define TP_LIB_SOLVER_PRICE_ASCENT_H

#include "solver/prices.h"
#include "solver/search.h"

#define TP__WARM_START_STEP 0.1 /* initial step of prices that are already good */

typedef struct tp__price_ascent {
  tp__search *s;
  tp__wcsp *g;
  tp__answer *answer;
  tp_cost limit;
  tp__pool pool;
  tp__prices prices;
  int *at, *repaired;
  tp__int128 *used;
  double *average, *best_price;
  tp_cost bound;      /* certified lower bound */
  double step;        /* initial step of the prices */
  tp__int128 nearest; /* excess of answer->choices while no assignment that fits is known */
} tp__price_ascent;

/* Improves prices and messages, starting from those in c->g, and then prunes c->g by c->bound. An
 * assignment that fits after repair and costs less than c->limit becomes the answer and lowers the
 * limit. At the root (is_root) it runs many rounds. Below the root it runs few, because little has
 * changed since the parent. TP_INFEASIBLE: no assignment costs less than the limit. */
tp_status tp__price_ascent_run(tp__price_ascent *c, bool is_root);

/* Writes the labels of `at` for alive nodes, and the best labels for eliminated ones. */
void tp__price_ascent_keep(const tp__wcsp *g, const int *at, int *choices);

#endif
