/* Applies memory prices to a dual in fixed point. */
#include "solver/prices.h"

#include "solver/memory.h"
#include "solver/reduce.h"
#include "solver/work.h"

#include <stdlib.h>
#include <string.h>

enum { FINE = 12, MAX_SHIFT = 54 };
/* Bound on the payments of all nodes together and on the refund. It keeps costs and bounds far from
 * 64-bit overflow, and products of prices and usages from 128-bit overflow. */
#define MAX_PAID ((double)((int64_t)1 << 55))

static int bits_of(tp__int128 value) {
  int n = 0;
  for (; value > 0; value >>= 1)
    n++;
  return n;
}

tp_status tp__prices_create(tp__wcsp *g, int64_t *work, tp__prices *p) {
  *p = (tp__prices){
      .g = g, .sweep = tp__work_of_visits(g) + tp__wcsp_entries(g) / TP__WORK_SEQUENTIAL_READS};
  tp__int128 most = 1;
  for (int t = 0; t < g->memory->n_times; t++)
    most = g->memory->capacity[t] > most ? g->memory->capacity[t] : most;
  p->shift = bits_of(most) + FINE < MAX_SHIFT ? bits_of(most) + FINE : MAX_SHIFT;
  p->until = tp__pool_calloc(&p->pool, (size_t)g->memory->n_times + 1, sizeof *p->until);
  p->paid = tp__pool_calloc(&p->pool, (size_t)g->n_nodes, sizeof *p->paid);
  p->most = tp__pool_alloc(&p->pool, (size_t)g->memory->n_times + 1, sizeof *p->most);
  bool ok = p->until && p->paid && p->most;
  if (ok)
    tp__memory_max_usage(g, p->most);
  for (int t = 0; ok && t < g->memory->n_times; t++)
    p->most[t] = p->most[t] > g->memory->capacity[t] ? p->most[t] : g->memory->capacity[t];
  for (int v = 0; ok && v < g->n_nodes; v++)
    if (g->nodes[v].alive && g->nodes[v].n_loads) {
      p->paid[v] = tp__pool_calloc(&p->pool, (size_t)g->nodes[v].n, sizeof **p->paid);
      ok = p->paid[v] != NULL;
    }
  if (ok && tp__dual_create(g, &p->dual) == TP_OK) {
    tp__prices_set(p, work);
    return TP_OK;
  }
  tp__prices_clear(p);
  return TP_NO_MEMORY;
}

void tp__prices_clear(tp__prices *p) {
  tp__dual_clear(&p->dual);
  tp__pool_release(&p->pool);
}

/* Returns the payment of strategy x of the node. */
static tp_cost payment(const tp__prices *p, const tp__wnode *v, int x) {
  tp_cost sum = 0;
  for (int i = 0; i < v->n_loads; i++) {
    const tp__live_usage *load = &v->loads[i];
    sum += (tp_cost)((p->until[load->last] - p->until[load->first]) *
                         (unsigned __int128)load->usage[x] >>
                     p->shift);
  }
  return sum;
}

void tp__prices_set(tp__prices *p, int64_t *work) {
  tp__wmemory *memory = p->g->memory;
  double paid = 0, unit = (double)((int64_t)1 << p->shift);
  for (int t = 0; t < memory->n_times; t++)
    paid += memory->price[t] * (double)p->most[t];
  unsigned __int128 sum = 0;
  for (int t = 0; t < memory->n_times; t++) {
    if (paid > MAX_PAID)
      memory->price[t] *= MAX_PAID / paid;
    unsigned __int128 fixed = (unsigned __int128)(memory->price[t] * unit);
    p->until[t + 1] = p->until[t] + fixed;
    sum += fixed * (unsigned __int128)memory->capacity[t];
  }
  p->refund = (tp_cost)((sum + (((unsigned __int128)1 << p->shift) - 1)) >> p->shift);
  for (int v = 0; v < p->g->n_nodes; v++) {
    const tp__wnode *node = &p->g->nodes[v];
    for (int x = 0; p->paid[v] && x < node->n; x++) {
      tp_cost now = payment(p, node, x);
      p->dual.cost[v][x] += now - p->paid[v][x];
      p->paid[v][x] = now;
    }
    *work += p->paid[v] ? (int64_t)TP__WORK_PAYMENT * node->n_loads * node->n : 1;
  }
}

/* Removes the payments from the node costs, and moves the minimum of each node into the constant,
 * which may become negative. */
static void take_out(const tp__prices *p) {
  tp__wcsp *g = p->g;
  for (int v = 0; v < g->n_nodes; v++) {
    tp__wnode *node = &g->nodes[v];
    if (!node->alive || node->n_loads == 0)
      continue;
    tp_cost least = INT64_MAX;
    for (int x = 0; x < node->n; x++) {
      node->cost[x] -= payment(p, node, x);
      least = node->cost[x] < least ? node->cost[x] : least;
    }
    for (int x = 0; x < node->n; x++)
      node->cost[x] -= least;
    g->constant += least;
  }
}

bool tp__prices_pass(tp__prices *p, tp__control *control, int64_t *work) {
  int64_t before = *work;
  tp__dual_pass(&p->dual, control, work);
  *work = before + p->sweep;
  return !p->dual.exhausted;
}

tp_status tp__prices_prune(tp__prices *p, tp_cost limit, int64_t *work) {
  TP_TRY(tp__dual_apply(&p->dual));
  tp_cost priced = limit < TP_COST_FORBIDDEN - p->refund ? limit + p->refund : TP_COST_FORBIDDEN;
  TP_TRY(tp__wcsp_prune(p->g, priced, work));
  take_out(p);
  return TP_OK;
}
