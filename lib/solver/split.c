/* Chooses a branching node and the groups of its strategies. */
#include "solver/split.h"

#include "support/support.h"

/* Returns a lower bound on the cost of strategy x: the node cost and the minimum entry of each
 * edge. */
static tp_cost reduced_cost(const tp__wcsp *g, int node, int x) {
  const tp__wnode *v = &g->nodes[node];
  tp_cost sum = v->cost[x];
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(g, v->edges[i], node);
    tp_cost best = TP_COST_FORBIDDEN;
    for (int y = 0; y < g->nodes[w.other].n; y++) {
      tp_cost entry = w.table[(size_t)x * w.self + (size_t)y * w.far];
      best = entry < best ? entry : best;
    }
    sum = tp_cost_add(sum, best);
  }
  return sum;
}

/* Returns the payment of strategy x at the current prices. */
static double payment(const tp__wcsp *g, const tp__wnode *v, int x) {
  double sum = 0;
  for (int i = 0; i < v->n_loads; i++) {
    double price = 0;
    for (int t = v->loads[i].first; t < v->loads[i].last; t++)
      price += g->memory->price[t];
    sum += price * (double)v->loads[i].usage[x];
  }
  return sum;
}

/* Splits the node whose strategies differ most in their payments into low and high payments,
 * because either group changes the prices of other nodes. False if no memory has a price. */
static bool split_by_memory(const tp__wcsp *g, tp__split *how) {
  double most = 0, middle = 0;
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    double low = 0, high = 0;
    for (int x = 0; node->alive && node->n_loads && x < node->n; x++) {
      double paid = payment(g, node, x);
      low = x == 0 || paid < low ? paid : low;
      high = x == 0 || paid > high ? paid : high;
    }
    if (high - low > most) {
      most = high - low;
      middle = low + most / 2;
      how->node = v;
    }
  }
  if (most <= 0)
    return false;
  how->n_groups = 2;
  for (int x = 0; x < g->nodes[how->node].n; x++)
    how->group[x] = payment(g, &g->nodes[how->node], x) > middle;
  return true;
}

/* Splits the node that decides most, into single strategies. The weight is the bits of its
 * neighbors' combinations per strategy; the bits are integers, so there is no rounding. */
static void split_by_strategy(const tp__wcsp *g, tp__split *how) {
  double best_weight = -1;
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    if (!node->alive)
      continue;
    double weight = node->n_loads ? 2 : 1;
    for (int i = 0; i < node->n_edges; i++)
      for (int n = g->nodes[tp__wcsp_view(g, node->edges[i], v).other].n; n > 1; n /= 2)
        weight += 1;
    weight /= node->n;
    if (weight > best_weight) {
      how->node = v;
      best_weight = weight;
    }
  }
  how->n_groups = g->nodes[how->node].n;
  for (int x = 0; x < how->n_groups; x++)
    how->group[x] = x;
}

static tp_status rank_groups(const tp__wcsp *g, tp__split *how) {
  tp_cost *least = tp__malloc((size_t)how->n_groups * sizeof *least);
  if (!least)
    return TP_NO_MEMORY;
  for (int k = 0; k < how->n_groups; k++)
    least[k] = TP_COST_FORBIDDEN;
  for (int x = 0; x < g->nodes[how->node].n; x++) {
    tp_cost reduced = reduced_cost(g, how->node, x);
    least[how->group[x]] = reduced < least[how->group[x]] ? reduced : least[how->group[x]];
  }
  for (int k = 0; k < how->n_groups; k++) {
    int i = k;
    for (; i > 0 && least[how->rank[i - 1]] > least[k]; i--)
      how->rank[i] = how->rank[i - 1];
    how->rank[i] = k;
  }
  tp__free(least);
  return TP_OK;
}

tp_status tp__split_create(const tp__wcsp *g, tp__split *how) {
  size_t most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    most = (size_t)g->nodes[v].n > most ? (size_t)g->nodes[v].n : most;
  how->group = tp__malloc(2 * most * sizeof *how->group);
  if (!how->group)
    return TP_NO_MEMORY;
  how->rank = how->group + most;
  if (!split_by_memory(g, how))
    split_by_strategy(g, how);
  tp_status status = rank_groups(g, how);
  if (status)
    tp__split_clear(how);
  return status;
}

void tp__split_clear(tp__split *how) { tp__free(how->group); }
