/* Memory prices (Lagrange multipliers): every unit of memory used at a time has a price, and the
 * price of the whole capacity is refunded. For any prices >= 0, the minimum priced cost is a lower
 * bound on the cost of the assignments that fit (Geoffrion 1974). Message passing bounds the priced
 * problem; prices and messages improve together.
 *
 * Prices are in fixed point. Payments are rounded down and the refund is rounded up, so the bound
 * is certified in integers. */
#ifndef TP_LIB_SOLVER_PRICES_H
#define TP_LIB_SOLVER_PRICES_H

#include "solver/dual.h"

typedef struct tp__prices {
  tp__wcsp *g;
  tp__dual dual; /* of the priced graph */
  tp__pool pool;
  int shift;                /* fractional bits */
  unsigned __int128 *until; /* by time: sum of the prices before it, in fixed point */
  tp__int128 *most;         /* by time: the maximum usage, or the capacity if that is larger */
  tp_cost **paid;           /* by node and strategy: payments contained in the dual's costs */
  tp_cost refund;
  int64_t sweep; /* work of one sweep */
} tp__prices;

/* Requires a `g` as for tp__dual_create, with memory and with all nodes settled. Starts from
 * g->memory->price. */
tp_status tp__prices_create(tp__wcsp *g, int64_t *work, tp__prices *p);
void tp__prices_clear(tp__prices *p);

/* Applies g->memory->price. Scales the prices down if payments would leave the safe range. */
void tp__prices_set(tp__prices *p, int64_t *work);

/* Makes a forward and a backward sweep of messages, like tp__dual_pass. False if numbers left the
 * safe range: then there is no bound, and nothing to prune by. */
bool tp__prices_pass(tp__prices *p, tp__control *control, int64_t *work);

/* The lower bound; valid after a pass. */
static inline tp_cost tp__prices_bound(const tp__prices *p) { return p->dual.bound - p->refund; }

/* After a pass: writes the reparametrized costs to `g`, drops all strategies and entries that
 * cannot be part of an assignment of cost < limit, and removes the payments again, so that the true
 * cost of every assignment is unchanged. Uses up the dual. TP_INFEASIBLE as for tp__wcsp_prune. */
tp_status tp__prices_prune(tp__prices *p, tp_cost limit, int64_t *work);

#endif
