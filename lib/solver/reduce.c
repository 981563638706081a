/* Runs the reduction rules. Each rule is sound on its own, so one FIFO queue holds the nodes whose
 * surroundings changed.
 *   capacity       drops a strategy that exceeds the memory even if all others use their minimum
 *   star bound     drops a strategy whose cost, with the cheapest neighbor for each edge, reaches
 *                  the limit; without a known limit this is arc consistency on forbidden entries
 *   dominance      dead-end elimination with Goldstein's criterion: drops x if some y is never
 *                  worse, for all choices of the neighbors, and never uses more memory
 *   folding        turns a node with one strategy into a cost of its neighbors
 *   elimination    turns a node with at most two neighbors and no choice of memory into a cost of
 *                  them (series-parallel reduction)
 *   equality       merges two nodes whose edge pairs their strategies one to one */
#include "solver/reduce.h"

#include "solver/memory.h"
#include "solver/reducer.h"
#include "solver/work.h"
#include "support/support.h"

void tp__reducer_touch(tp__reducer *r, int node) {
  if (r->queued[node] || !r->g->nodes[node].alive)
    return;
  r->queued[node] = true;
  r->queue[(int)(((int64_t)r->head + r->n_queued++) % r->g->n_nodes)] = node;
}

void tp__reducer_touch_neighbors(tp__reducer *r, int node) {
  const tp__wnode *v = &r->g->nodes[node];
  for (int i = 0; i < v->n_edges; i++)
    tp__reducer_touch(r, tp__wcsp_view(r->g, v->edges[i], node).other);
}

tp_cost *tp__reducer_scratch(tp__reducer *r, size_t n) {
  if (n <= r->scratch_capacity)
    return r->scratch;
  tp_cost *more = tp__malloc(n * sizeof *more);
  if (!more)
    return NULL;
  tp__free(r->scratch);
  r->scratch = more;
  r->scratch_capacity = n;
  return more;
}

/* Drops the strategies in r->drop, if there are any. */
tp_status tp__reducer_apply_drop(tp__reducer *r, int node, int n_drop) {
  if (n_drop == 0)
    return TP_OK;
  tp__reducer_touch_neighbors(r, node);
  return tp__wcsp_drop(r->g, node, r->drop);
}

/* Drops strategies that exceed the capacity, and subtracts usage common to all remaining ones from
 * it. */
static tp_status fit_capacity(tp__reducer *r, int node) {
  if (r->g->nodes[node].n_loads == 0)
    return TP_OK;
  if (tp__memory_settle(r->g, node))
    return TP_NO_MEMORY;
  for (int i = 0; i < r->g->nodes[node].n_loads; i++) {
    const tp__live_usage *load = &r->g->nodes[node].loads[i];
    *r->work += (int64_t)TP__WORK_PAYMENT * r->g->nodes[node].n + load->last - load->first;
  }
  int n_drop = tp__memory_mark_infeasible(r->g, node, r->drop);
  if (tp__reducer_apply_drop(r, node, n_drop))
    return TP_NO_MEMORY;
  return r->g->nodes[node].n == 0 ? TP_INFEASIBLE : n_drop ? tp__memory_settle(r->g, node) : TP_OK;
}

/* Applies all rules that drop strategies of the node; TP_INFEASIBLE if none is left. */
static tp_status drop_strategies(tp__reducer *r, int node) {
  tp__wnode *v = &r->g->nodes[node];
  TP_TRY(tp__reducer_normalize(r->g, v));
  const tp_cost *normal = v->cost;
  TP_TRY(fit_capacity(r, node));
  TP_TRY(tp__reducer_star_bound(r, node));
  if (v->n == 0)
    return TP_INFEASIBLE;
  if (!r->must_finish)
    TP_TRY(tp__reducer_dominated(r, node));
  if (v->n_loads && tp__memory_settle(r->g, node))
    return TP_NO_MEMORY;
  return r->g->cache && v->cost == normal ? TP_OK : tp__reducer_normalize(r->g, v);
}

static tp_status simplify(tp__reducer *r, int node) {
  const tp__wnode *v = &r->g->nodes[node];
  if (v->n == 1 && v->n_loads == 0) /* nothing can be dropped */
    return v->cost[0] < TP_COST_FORBIDDEN ? tp__reducer_fold(r, node) : TP_INFEASIBLE;
  TP_TRY(drop_strategies(r, node));
  if (v->n == 1 || (v->n_edges == 0 && v->n_loads == 0))
    return tp__reducer_fold(r, node);
  if (v->n_edges == 1 && v->n_loads == 0)
    return tp__reducer_eliminate_leaf(r, node);
  if (v->n_edges == 2 && v->n_loads == 0)
    return tp__reducer_eliminate_between(r, node);
  return tp__reducer_merge_equal(r, node);
}

static tp_status drain(tp__reducer *r) {
  enum { POLL_INTERVAL = 16 }; /* polls the clock once per this many nodes */
  while (r->n_queued) {
    if (r->control && r->n_steps++ % POLL_INTERVAL == 0)
      r->must_finish = tp__control_poll(r->control, *r->work);
    int node = r->queue[r->head];
    r->head = (r->head + 1) % r->g->n_nodes;
    r->n_queued--;
    r->queued[node] = false;
    *r->work += TP__WORK_STEP;
    if (r->g->nodes[node].alive)
      TP_TRY(r->step(r, node));
  }
  return TP_OK;
}

/* Dropped times free nodes of their loads, and reduced capacities may rule out strategies, so this
 * repeats until neither happens. */
static tp_status drain_with_memory(tp__reducer *r) {
  tp__wcsp *g = r->g;
  for (;;) {
    bool changed, infeasible;
    tp_status status = drain(r);
    for (int v = 0; status == TP_OK && v < g->n_nodes; v++) {
      int before = g->nodes[v].n;
      status = g->nodes[v].alive ? fit_capacity(r, v) : TP_OK;
      if (g->nodes[v].n < before)
        tp__reducer_touch(r, v);
    }
    if (status == TP_OK)
      status = tp__memory_compact(g, &changed, &infeasible);
    if (status || infeasible)
      return status ? status : TP_INFEASIBLE;
    for (int v = 0; changed && v < g->n_nodes; v++)
      tp__reducer_touch(r, v);
    if (r->n_queued == 0)
      return TP_OK;
  }
}

/* Chooses the cheapest strategy of a node that has no edges and counts for no memory limit: the
 * last one of equal cost, as the dominance rule would. False, and nothing is chosen, for other
 * nodes. Programs have many such nodes: tensors that are only read for their shape. */
static bool settle_alone(tp__reducer *r, int node) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  if (!v->alive || v->n_edges || v->n_loads || v->n > TP__MAX_DOMINANCE)
    return false;
  int best = 0;
  for (int x = 1; x < v->n; x++)
    best = v->cost[x] <= v->cost[best] ? x : best;
  if (v->n == 0 || v->cost[best] >= TP_COST_FORBIDDEN)
    return false;
  *r->work += TP__WORK_STEP + (v->n > 1 && !g->cache ? (int64_t)v->n * v->n : 0); /* as they do */
  g->constant = tp_cost_add(g->constant, v->cost[best]);
  tp__wcsp_record_choice(g, node, best);
  return true;
}

static tp_status start(tp__reducer *r) {
  tp__wcsp *g = r->g;
  int most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    most = g->nodes[v].n > most ? g->nodes[v].n : most;
  r->queue = tp__malloc((size_t)g->n_nodes * sizeof *r->queue + 1);
  r->queued = tp__calloc((size_t)g->n_nodes + 1, sizeof *r->queued);
  r->drop = tp__calloc((size_t)most, sizeof *r->drop);
  r->taken = tp__calloc((size_t)most, sizeof *r->taken);
  if (!r->queue || !r->queued || !r->drop || !r->taken)
    return TP_NO_MEMORY;
  for (int v = 0; v < g->n_nodes; v++)
    if (r->step != simplify || !settle_alone(r, v))
      tp__reducer_touch(r, v);
  return TP_OK;
}

static void end(tp__reducer *r) {
  tp__free(r->queue);
  tp__free(r->queued);
  tp__free(r->drop);
  tp__free(r->taken);
  tp__free(r->scratch);
}

tp_status tp__wcsp_reduce(tp__wcsp *g, tp_cost limit, int64_t table_budget, tp__control *control,
                          int64_t *work) {
  tp__reducer r = {.g = g,
                   .limit = limit,
                   .first_constant = g->constant,
                   .table_budget = table_budget,
                   .control = control,
                   .work = work,
                   .step = simplify};
  tp_status status = start(&r);
  if (status == TP_OK)
    status = g->memory ? drain_with_memory(&r) : drain(&r);
  if (status == TP_OK && g->constant >= limit)
    status = TP_INFEASIBLE;
  end(&r);
  return status;
}

static tp_status prune(tp__reducer *r, int node) {
  tp_status status = tp__reducer_star_bound(r, node);
  return status || r->g->nodes[node].n ? status : TP_INFEASIBLE;
}

tp_status tp__wcsp_prune(tp__wcsp *g, tp_cost limit, int64_t *work) {
  tp__reducer r = {
      .g = g, .limit = limit, .first_constant = g->constant, .work = work, .step = prune};
  tp_status status = start(&r);
  if (status == TP_OK)
    status = drain(&r);
  end(&r);
  return status;
}
