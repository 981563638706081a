/* Memory by prices (Lagrange multipliers): every unit of memory in use at a time costs something,
 * and all the room there is is paid back. Whatever the prices >= 0, the least priced cost is a
 * lower bound on the cost of the choices that fit (Geoffrion 1974). Message passing bounds the
 * priced problem; prices and messages improve together.
 *
 * Prices are in fixed point, what a strategy pays is rounded down and what is paid back is rounded
 * up, so the bound is certified in integers. */
#ifndef TP_LIB_SOLVER_PRICES_H
#define TP_LIB_SOLVER_PRICES_H

#include "solver/dual.h"

typedef struct tp__prices {
  tp__wcsp *g;
  tp__dual dual; /* of the priced graph */
  tp__pool pool;
  int shift;                /* fractional bits */
  unsigned __int128 *until; /* sum of the prices before each time, in fixed point */
  tp__wide *most;           /* by time: the most that can be used, or the room if that is more */
  tp_cost **paid;           /* by node and strategy: contained in the dual's costs */
  tp_cost refund;
  int64_t sweep; /* work of one */
} tp__prices;

/* `g` as for tp__dual_create, with memory, all nodes settled. Starts from g->memory->price. */
tp_status tp__prices_create(tp__wcsp *g, int64_t *work, tp__prices *p);
void tp__prices_clear(tp__prices *p);

/* Takes over g->memory->price, which it scales down if what is paid would leave the safe range. */
void tp__prices_set(tp__prices *p, int64_t *work);

/* A sweep of messages forward and backward, as tp__dual_pass. False if the numbers left the safe
 * range: then there is no bound, and nothing to prune by. */
bool tp__prices_pass(tp__prices *p, tp__control *control, int64_t *work);

/* After a pass. */
static inline tp_cost tp__prices_bound(const tp__prices *p) { return p->dual.bound - p->refund; }

/* After a pass. Writes the reparametrised costs to `g`, drops what cannot be part of a choice of
 * cost < limit, and takes the prices out again: what `g` says of the true cost of a choice stays
 * the same. Uses up the dual. TP_INFEASIBLE as for tp__wcsp_prune. */
tp_status tp__prices_prune(tp__prices *p, tp_cost limit, int64_t *work);

#endif
