/* Each rule is sound on its own, so they run from one queue of nodes whose surroundings changed, first come first
 * served.
 *   room           a strategy goes for which there is no memory even if all others use their least
 *   star bound     a strategy whose cost, with the cheapest neighbour for each edge, reaches the limit goes; with no limit
 *                  known this is arc consistency on forbidden entries
 *   dominance      dead-end elimination, Goldstein's criterion: x goes when some y is never worse, whatever the
 *                  neighbours choose, and uses nowhere more memory
 *   folding        a node with one strategy becomes a cost of its neighbours
 *   elimination    a node with at most two neighbours, and no choice of memory, becomes a cost of them (series-parallel
 *                  reduction)
 *   equality       an edge that pairs strategies one to one makes its two nodes one */
#include "solver/reduce.h"

#include "solver/memory.h"

#include <stdlib.h>
#include <string.h>

/* Dominance compares all pairs of strategies; beyond this number that is not worth its time. */
enum { MAX_DOMINANCE = 512 };

typedef struct reducer {
  tp__wcsp *g;
  tp_cost limit;
  int64_t table_budget, *work;
  int *queue; /* ring of n_nodes places: a node is queued at most once */
  int head, n_queued;
  bool *queued;
  bool *drop;  /* by strategy of the node at hand */
  bool *taken; /* the same, for columns of an equality */
  tp_cost *scratch;
  size_t room_scratch;
  tp_status (*step)(struct reducer *r, int node); /* what is done at a node */
} reducer;

static void touch(reducer *r, int node) {
  if (r->queued[node] || !r->g->nodes[node].alive)
    return;
  r->queued[node] = true;
  r->queue[(int)(((int64_t)r->head + r->n_queued++) % r->g->n_nodes)] = node;
}

static void touch_neighbours(reducer *r, int node) {
  const tp__wnode *v = &r->g->nodes[node];
  for (int i = 0; i < v->n_edges; i++)
    touch(r, tp__wcsp_view(r->g, v->edges[i], node).other);
}

static tp_cost *scratch(reducer *r, size_t n) {
  if (n <= r->room_scratch)
    return r->scratch;
  tp_cost *more = malloc(n * sizeof *more);
  if (!more)
    return NULL;
  free(r->scratch);
  r->scratch = more;
  r->room_scratch = n;
  return more;
}

/* Drops r->drop if it names any strategy. */
static void apply_drop(reducer *r, int node, int n_drop) {
  if (n_drop == 0)
    return;
  tp__wcsp_drop(r->g, node, r->drop);
  touch_neighbours(r, node);
}

/* Moves the least node cost into the constant. */
static void normalise(tp__wcsp *g, tp__wnode *v) {
  tp_cost least = TP_COST_FORBIDDEN;
  for (int x = 0; x < v->n; x++)
    least = v->cost[x] < least ? v->cost[x] : least;
  if (least == 0 || least >= TP_COST_FORBIDDEN)
    return;
  for (int x = 0; x < v->n; x++)
    if (v->cost[x] < TP_COST_FORBIDDEN)
      v->cost[x] -= least;
  g->constant = tp_cost_add(g->constant, least);
}

/* Least of table + neighbour's cost in row x. Entries that alone reach the limit become forbidden on the way. */
static tp_cost tightened_row_min(reducer *r, const tp__wview *view, int x, tp_cost base) {
  const tp__wnode *u = &r->g->nodes[view->other];
  tp_cost best = TP_COST_FORBIDDEN;
  for (int y = 0; y < u->n; y++) {
    tp_cost *entry = &view->table[(size_t)x * view->self + (size_t)y * view->far];
    tp_cost sum = tp_cost_add(*entry, u->cost[y]);
    if (tp_cost_add(sum, base) >= r->limit) {
      if (*entry < TP_COST_FORBIDDEN)
        touch(r, view->other); /* it may have lost its last allowed partner */
      *entry = TP_COST_FORBIDDEN;
    } else if (sum < best)
      best = sum;
  }
  return best;
}

static int star_bound(reducer *r, int node) {
  tp__wcsp *g = r->g;
  tp__wnode *v = &g->nodes[node];
  int n_drop = 0;
  for (int x = 0; x < v->n; x++) {
    tp_cost base = tp_cost_add(g->constant, v->cost[x]), sum = base;
    for (int i = 0; i < v->n_edges && sum < r->limit; i++) {
      tp__wview view = tp__wcsp_view(g, v->edges[i], node);
      sum = tp_cost_add(sum, tightened_row_min(r, &view, x, base));
      *r->work += g->nodes[view.other].n;
    }
    r->drop[x] = sum >= r->limit;
    n_drop += r->drop[x];
  }
  return n_drop;
}

/* True if y is at least as good as x whatever the neighbours choose. hint[i * n + x] is the cheapest column of row x in
 * edge i: trying only that column refutes most pairs at once. */
static bool dominates(const reducer *r, int node, int y, int x, const tp_cost *hint) {
  const tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  /* Differences of costs, summed over the edges of a hub, may leave 64 bits. */
  tp__wide gain = (tp__wide)v->cost[y] - v->cost[x];
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(g, v->edges[i], node);
    const tp_cost *column = w.table + (size_t)hint[(size_t)i * (size_t)v->n + (size_t)x] * w.far;
    gain += (tp__wide)column[(size_t)y * w.self] - column[(size_t)x * w.self];
  }
  if (gain > 0 || !tp__memory_no_more(g, node, y, x))
    return false;
  gain = (tp__wide)v->cost[y] - v->cost[x];
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(g, v->edges[i], node);
    tp_cost worst = -TP_COST_FORBIDDEN;
    for (int k = 0; k < g->nodes[w.other].n; k++) {
      tp_cost of_x = w.table[(size_t)x * w.self + (size_t)k * w.far];
      tp_cost of_y = w.table[(size_t)y * w.self + (size_t)k * w.far];
      if (of_x >= TP_COST_FORBIDDEN)
        continue;
      if (of_y >= TP_COST_FORBIDDEN)
        return false;
      worst = of_y - of_x > worst ? of_y - of_x : worst;
    }
    *r->work += g->nodes[w.other].n;
    gain += worst;
  }
  return gain <= 0;
}

static tp_status dominated(reducer *r, int node, int *n_drop) {
  const tp__wnode *v = &r->g->nodes[node];
  *n_drop = 0;
  if (v->n < 2 || v->n > MAX_DOMINANCE)
    return TP_OK;
  tp_cost *hint = scratch(r, (size_t)v->n_edges * (size_t)v->n + 1);
  if (!hint)
    return TP_NO_MEMORY;
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(r->g, v->edges[i], node);
    for (int x = 0; x < v->n; x++) {
      const tp_cost *row = w.table + (size_t)x * w.self;
      int best = 0;
      for (int k = 1; k < r->g->nodes[w.other].n; k++)
        best = row[(size_t)k * w.far] < row[(size_t)best * w.far] ? k : best;
      hint[(size_t)i * (size_t)v->n + (size_t)x] = best;
    }
  }
  memset(r->drop, 0, (size_t)v->n * sizeof *r->drop);
  for (int x = 0; x < v->n; x++)
    for (int y = 0; y < v->n && !r->drop[x]; y++)
      if (y != x && !r->drop[y] && dominates(r, node, y, x, hint)) {
        r->drop[x] = true;
        ++*n_drop;
      }
  *r->work += (int64_t)v->n * v->n * (v->n_edges + 1);
  return TP_OK;
}

/* Adds the best of `node` to the cost of the neighbour at `edge`. */
static void absorb(tp__wcsp *g, int node, int edge) {
  const tp__wnode *v = &g->nodes[node];
  tp__wview w = tp__wcsp_view(g, edge, node);
  tp__wnode *u = &g->nodes[w.other];
  for (int y = 0; y < u->n; y++) {
    tp_cost best = TP_COST_FORBIDDEN;
    for (int x = 0; x < v->n; x++) {
      tp_cost sum = tp_cost_add(v->cost[x], w.table[(size_t)x * w.self + (size_t)y * w.far]);
      best = sum < best ? sum : best;
    }
    u->cost[y] = tp_cost_add(u->cost[y], best);
  }
}

static void remove_edges(reducer *r, int node) {
  tp__wnode *v = &r->g->nodes[node];
  touch_neighbours(r, node);
  while (v->n_edges)
    tp__wcsp_remove_edge(r->g, v->edges[v->n_edges - 1]);
}

/* n == 1, or no neighbour: the cost of `node` is known. */
static tp_status fold(reducer *r, int node) {
  tp__wcsp *g = r->g;
  tp__wnode *v = &g->nodes[node];
  normalise(g, v); /* a single strategy then costs 0, so that each neighbour takes up its table only */
  for (int i = 0; i < v->n_edges; i++)
    absorb(g, node, v->edges[i]);
  if (tp__wcsp_record(g, node, 0, NULL))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return TP_OK;
}

static tp_status eliminate_leaf(reducer *r, int node) {
  int edge = r->g->nodes[node].edges[0];
  absorb(r->g, node, edge);
  if (tp__wcsp_record(r->g, node, 1, &edge))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return TP_OK;
}

/* rows[y * n + x] = the table of `edge` (plus the node's cost if asked), strategies of `node` innermost. */
static void gather_rows(const tp__wcsp *g, int node, int edge, bool with_cost, tp_cost *rows) {
  const tp__wnode *v = &g->nodes[node];
  tp__wview w = tp__wcsp_view(g, edge, node);
  for (int y = 0; y < g->nodes[w.other].n; y++)
    for (int x = 0; x < v->n; x++)
      *rows++ = tp_cost_add(with_cost ? v->cost[x] : 0, w.table[(size_t)x * w.self + (size_t)y * w.far]);
}

static tp_status eliminate_between(reducer *r, int node) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  int edges[2] = {v->edges[0], v->edges[1]};
  int a = tp__wcsp_view(g, edges[0], node).other, b = tp__wcsp_view(g, edges[1], node).other;
  size_t n = (size_t)v->n, n_a = (size_t)g->nodes[a].n, n_b = (size_t)g->nodes[b].n;
  if ((int64_t)(n_a * n_b) > r->table_budget)
    return TP_OK;
  tp_cost *rows_a = scratch(r, n * n_a + n * n_b + n_a * n_b);
  if (!rows_a)
    return TP_NO_MEMORY;
  tp_cost *rows_b = rows_a + n * n_a, *table = rows_b + n * n_b;
  gather_rows(g, node, edges[0], true, rows_a);
  gather_rows(g, node, edges[1], false, rows_b);
  for (size_t i = 0; i < n_a; i++)
    for (size_t j = 0; j < n_b; j++) {
      tp_cost best = TP_COST_FORBIDDEN;
      for (size_t x = 0; x < n; x++) {
        tp_cost sum = rows_a[i * n + x] + rows_b[j * n + x];
        best = sum < best ? sum : best;
      }
      table[i * n_b + j] = best;
    }
  *r->work += (int64_t)(n_a * n_b * n);
  if (tp__wcsp_record(g, node, 2, edges))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return tp__wcsp_connect(g, a, b, table, n_b, 1);
}

/* If `edge` pairs the strategies of its ends one to one, partner[x] is the strategy of the other end. */
static bool is_equality(const reducer *r, int node, int edge, tp_cost *partner) {
  const tp__wcsp *g = r->g;
  tp__wview w = tp__wcsp_view(g, edge, node);
  int n = g->nodes[node].n;
  if (n != g->nodes[w.other].n)
    return false;
  memset(r->taken, 0, (size_t)n * sizeof *r->taken);
  for (int x = 0; x < n; x++) {
    int n_allowed = 0, at = 0;
    for (int y = 0; y < n && n_allowed < 2; y++)
      if (w.table[(size_t)x * w.self + (size_t)y * w.far] < TP_COST_FORBIDDEN) {
        n_allowed++;
        at = y;
      }
    if (n_allowed != 1 || r->taken[at])
      return false;
    r->taken[at] = true;
    partner[x] = at;
  }
  return true;
}

/* Hands the edges of `node` over to the other end of `edge`, permuted, and takes `node` out. */
static tp_status merge_into(reducer *r, int node, int edge, const tp_cost *partner) {
  tp__wcsp *g = r->g;
  tp__wnode *v = &g->nodes[node];
  int into = tp__wcsp_view(g, edge, node).other;
  absorb(g, node, edge);
  for (int i = 0; i < v->n_edges; i++) {
    if (v->edges[i] == edge)
      continue;
    tp__wview w = tp__wcsp_view(g, v->edges[i], node);
    size_t columns = (size_t)g->nodes[w.other].n;
    tp_cost *table = tp__pool_take(&g->pool, (size_t)v->n * columns, sizeof *table);
    if (!table)
      return TP_NO_MEMORY;
    for (size_t x = 0; x < (size_t)v->n; x++)
      for (size_t y = 0; y < columns; y++)
        table[(size_t)partner[x] * columns + y] = w.table[x * w.self + y * w.far];
    if (tp__wcsp_connect(g, into, w.other, table, columns, 1))
      return TP_NO_MEMORY;
    *r->work += (int64_t)columns * v->n;
  }
  if (tp__memory_merge(g, node, into, partner) || tp__wcsp_record(g, node, 1, &edge))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return TP_OK;
}

static tp_status merge_equal(reducer *r, int node) {
  const tp__wnode *v = &r->g->nodes[node];
  tp_cost *partner = scratch(r, (size_t)v->n);
  if (!partner)
    return TP_NO_MEMORY;
  for (int i = 0; i < v->n_edges; i++)
    if (is_equality(r, node, v->edges[i], partner))
      return merge_into(r, node, v->edges[i], partner);
  return TP_OK;
}

/* Strategies without room go, and what all others use is taken from the room. */
static tp_status make_room(reducer *r, int node) {
  if (r->g->nodes[node].n_loads == 0)
    return TP_OK;
  if (tp__memory_settle(r->g, node))
    return TP_NO_MEMORY;
  int n_drop = tp__memory_overfull(r->g, node, r->drop);
  apply_drop(r, node, n_drop);
  return r->g->nodes[node].n == 0 ? TP_INFEASIBLE : n_drop ? tp__memory_settle(r->g, node) : TP_OK;
}

static tp_status simplify(reducer *r, int node) {
  tp__wnode *v = &r->g->nodes[node];
  normalise(r->g, v);
  tp_status status = make_room(r, node);
  if (status)
    return status;
  apply_drop(r, node, star_bound(r, node));
  if (v->n == 0)
    return TP_INFEASIBLE;
  int n_drop;
  if (dominated(r, node, &n_drop))
    return TP_NO_MEMORY;
  apply_drop(r, node, n_drop);
  if (v->n_loads && tp__memory_settle(r->g, node))
    return TP_NO_MEMORY;
  normalise(r->g, v);
  if (v->n == 1 || (v->n_edges == 0 && v->n_loads == 0))
    return fold(r, node);
  if (v->n_edges == 1 && v->n_loads == 0)
    return eliminate_leaf(r, node);
  if (v->n_edges == 2 && v->n_loads == 0)
    return eliminate_between(r, node);
  return merge_equal(r, node);
}

static tp_status drain(reducer *r) {
  tp_status status = TP_OK;
  while (status == TP_OK && r->n_queued) {
    int node = r->queue[r->head];
    r->head = (r->head + 1) % r->g->n_nodes;
    r->n_queued--;
    r->queued[node] = false;
    if (r->g->nodes[node].alive)
      status = r->step(r, node);
  }
  return status;
}

/* Times that became irrelevant free nodes of their loads, and rooms that shrank may rule out strategies: around again
 * until neither happens. */
static tp_status drain_with_memory(reducer *r) {
  tp__wcsp *g = r->g;
  for (;;) {
    bool changed, infeasible;
    tp_status status = drain(r);
    for (int v = 0; status == TP_OK && v < g->n_nodes; v++) {
      int before = g->nodes[v].n;
      status = g->nodes[v].alive ? make_room(r, v) : TP_OK;
      if (g->nodes[v].n < before)
        touch(r, v);
    }
    if (status == TP_OK)
      status = tp__memory_compact(g, &changed, &infeasible);
    if (status || infeasible)
      return status ? status : TP_INFEASIBLE;
    for (int v = 0; changed && v < g->n_nodes; v++)
      touch(r, v);
    if (r->n_queued == 0)
      return TP_OK;
  }
}

static tp_status start(reducer *r) {
  tp__wcsp *g = r->g;
  int most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    most = g->nodes[v].n > most ? g->nodes[v].n : most;
  r->queue = malloc((size_t)g->n_nodes * sizeof *r->queue + 1);
  r->queued = calloc((size_t)g->n_nodes + 1, sizeof *r->queued);
  r->drop = calloc((size_t)most, sizeof *r->drop);
  r->taken = calloc((size_t)most, sizeof *r->taken);
  if (!r->queue || !r->queued || !r->drop || !r->taken)
    return TP_NO_MEMORY;
  for (int v = 0; v < g->n_nodes; v++)
    touch(r, v);
  return TP_OK;
}

static void end(reducer *r) {
  free(r->queue);
  free(r->queued);
  free(r->drop);
  free(r->taken);
  free(r->scratch);
}

tp_status tp__wcsp_reduce(tp__wcsp *g, tp_cost limit, int64_t table_budget, int64_t *work) {
  reducer r = {.g = g, .limit = limit, .table_budget = table_budget, .work = work, .step = simplify};
  tp_status status = start(&r);
  if (status == TP_OK)
    status = g->memory ? drain_with_memory(&r) : drain(&r);
  if (status == TP_OK && g->constant >= limit)
    status = TP_INFEASIBLE;
  end(&r);
  return status;
}

static tp_status prune(reducer *r, int node) {
  apply_drop(r, node, star_bound(r, node));
  return r->g->nodes[node].n ? TP_OK : TP_INFEASIBLE;
}

tp_status tp__wcsp_prune(tp__wcsp *g, tp_cost limit, int64_t *work) {
  reducer r = {.g = g, .limit = limit, .work = work, .step = prune};
  tp_status status = start(&r);
  if (status == TP_OK)
    status = drain(&r);
  end(&r);
  return status;
}
