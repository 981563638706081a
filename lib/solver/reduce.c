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
#include "solver/vectors.h"

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
static tp_status apply_drop(reducer *r, int node, int n_drop) {
  if (n_drop == 0)
    return TP_OK;
  touch_neighbours(r, node);
  return tp__wcsp_drop(r->g, node, r->drop);
}

/* Adds what a step at the node sees: its costs and tables, with the costs of its neighbours if asked. */
static void add_surroundings(tp__shelf_key *key, const tp__wcsp *g, int node, bool neighbours) {
  const tp__wnode *v = &g->nodes[node];
  tp__shelf_add(key, (int64_t)v->n << 32 | v->n_edges);
  tp__shelf_add_array(key, v->cost);
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(g, v->edges[i], node);
    tp__shelf_add_array(key, w.table);
    tp__shelf_add(key, (int64_t)g->nodes[w.other].n << 1 | (w.far == 1));
    if (neighbours)
      tp__shelf_add_array(key, g->nodes[w.other].cost);
  }
}

/* ---- normalisation ---- */

typedef struct normal {
  tp_cost least, *cost;
} normal;

static tp_cost least_cost(const tp__wnode *v) {
  tp_cost least = TP_COST_FORBIDDEN;
  for (int x = 0; x < v->n; x++)
    least = v->cost[x] < least ? v->cost[x] : least;
  return least < TP_COST_FORBIDDEN ? least : 0;
}

static void subtract(const tp__wnode *v, tp_cost least, tp_cost *cost) {
  for (int x = 0; x < v->n; x++)
    cost[x] = v->cost[x] < TP_COST_FORBIDDEN ? v->cost[x] - least : v->cost[x];
}

static normal *shelved_normal(tp__wcsp *g, const tp__wnode *v) {
  tp__shelf_key key;
  tp__shelf_begin(&key, TP__SHELF_NORMALISE);
  tp__shelf_add_array(&key, v->cost);
  void **slot = tp__shelf_find(g->shelf, &key);
  if (!slot || *slot)
    return slot ? *slot : NULL;
  normal *n = *slot = tp__pool_take(&g->pool, 1, sizeof *n);
  if (!n)
    return NULL;
  n->least = least_cost(v);
  n->cost = n->least ? tp__pool_take(&g->pool, (size_t)v->n, sizeof *n->cost) : v->cost;
  if (n->cost && n->least)
    subtract(v, n->least, n->cost);
  return n->cost ? n : NULL;
}

/* Moves the least node cost into the constant. */
static tp_status normalise(tp__wcsp *g, tp__wnode *v) {
  normal own = {.cost = v->cost};
  const normal *n = &own;
  if (g->shelf)
    n = shelved_normal(g, v);
  else if ((own.least = least_cost(v)) != 0)
    subtract(v, own.least, v->cost);
  if (!n)
    return TP_NO_MEMORY;
  v->cost = n->cost;
  g->constant = tp_cost_add(g->constant, n->least);
  return TP_OK;
}

/* ---- star bound ---- */

/* least[x] = the least of table + neighbour's cost in row x, of entries for which that and base[x] stay below the slack. Returns whether some
 * entry that does not was allowed. `row`: the first row of the table, of which the node at hand is end `end`. */
VECTORS static bool least_below(const tp_cost *row, int rows, int columns, int end, const tp_cost *far, const tp_cost *base,
                                tp_cost slack, tp_cost *restrict least) {
  int64_t gone = 0;
  if (end == 0) {
    for (int x = 0; x < rows; x++, row += columns) {
      tp_cost best = TP_COST_FORBIDDEN, most = slack - base[x];
      for (int y = 0; y < columns; y++) {
        tp_cost sum = row[y] + far[y];
        best = sum < most && sum < best ? sum : best;
        gone |= sum >= most && row[y] < TP_COST_FORBIDDEN;
      }
      least[x] = best;
    }
    return gone != 0;
  }
  for (int x = 0; x < columns; x++)
    least[x] = TP_COST_FORBIDDEN;
  for (int y = 0; y < rows; y++, row += columns)
    for (int x = 0; x < columns; x++) {
      tp_cost sum = row[x] + far[y], most = slack - base[x];
      least[x] = sum < most && sum < least[x] ? sum : least[x];
      gone |= sum >= most && row[x] < TP_COST_FORBIDDEN;
    }
  return gone != 0;
}

/* Forbids the entries that do not stay below the slack; `to` may be the table. */
static void forbid(const tp__wview *w, int n, int n_far, const tp_cost *far, const tp_cost *base, tp_cost slack, tp_cost *to) {
  for (int x = 0; x < n; x++)
    for (int y = 0; y < n_far; y++) {
      size_t at = (size_t)x * w->self + (size_t)y * w->far;
      to[at] = w->table[at] + far[y] >= slack - base[x] ? TP_COST_FORBIDDEN : w->table[at];
    }
}

typedef struct star {
  int n_drop;
  bool *drop;
  tp_cost **table; /* by edge of the node: the table as it is from now on; NULL: changed in place */
} star;

/* With no limit known only forbidden costs count: on a shelf no other sum comes near them. */
static tp_cost slack_of(const reducer *r) {
  return r->g->shelf && r->limit >= TP_COST_FORBIDDEN ? TP_COST_FORBIDDEN : r->limit - r->g->constant;
}

/* Tightens one edge of the node, and adds the least of its rows to `sum`. */
static tp_status look_along(reducer *r, int node, int edge, tp_cost *least, tp_cost *sum, tp_cost **table) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  const tp__wedge *e = &g->edges[edge];
  tp__wview w = tp__wcsp_view(g, edge, node);
  const tp__wnode *u = &g->nodes[w.other];
  int rows = g->nodes[e->node[0]].n, columns = g->nodes[e->node[1]].n;
  *table = e->table;
  if (least_below(e->table, rows, columns, e->node[0] != node, u->cost, v->cost, slack_of(r), least)) {
    if (g->shelf)
      *table = tp__pool_take(&g->pool, (size_t)rows * (size_t)columns, sizeof **table);
    if (!*table)
      return TP_NO_MEMORY;
    forbid(&w, v->n, u->n, u->cost, v->cost, slack_of(r), *table);
    touch(r, w.other); /* it may have lost its last allowed partner */
  }
  for (int x = 0; x < v->n; x++)
    sum[x] = tp_cost_add(sum[x], least[x]);
  *r->work += (int64_t)rows * columns;
  return TP_OK;
}

static tp_status look_around(reducer *r, int node, star *s) {
  const tp__wnode *v = &r->g->nodes[node];
  tp_cost *sum = scratch(r, 2 * (size_t)v->n), slack = slack_of(r);
  tp_status status = sum ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK)
    memcpy(sum, v->cost, (size_t)v->n * sizeof *sum);
  for (int i = 0; i < v->n_edges && status == TP_OK; i++) {
    tp_cost *same;
    status = look_along(r, node, v->edges[i], sum + v->n, sum, s->table ? &s->table[i] : &same);
  }
  for (int x = 0; x < v->n && status == TP_OK; x++) {
    s->drop[x] = sum[x] >= slack;
    s->n_drop += s->drop[x];
  }
  return status;
}

static star *new_star(reducer *r, const tp__wnode *v) {
  tp__pool *pool = &r->g->pool;
  star *s = tp__pool_take_zeroed(pool, 1, sizeof *s);
  if (s) {
    s->drop = tp__pool_take(pool, (size_t)v->n, sizeof *s->drop);
    s->table = tp__pool_take(pool, (size_t)v->n_edges, sizeof *s->table);
  }
  return s && s->drop && s->table ? s : NULL;
}

/* What looking around comes to, done before or now. */
static tp_status shelved_star(reducer *r, int node) {
  tp__wcsp *g = r->g;
  tp__shelf_key key;
  tp__shelf_begin(&key, TP__SHELF_STAR);
  tp__shelf_add(&key, slack_of(r));
  add_surroundings(&key, g, node, true);
  void **slot = tp__shelf_find(g->shelf, &key);
  star *s = slot ? *slot : NULL;
  tp_status status = slot ? TP_OK : TP_NO_MEMORY;
  if (slot && !s) {
    s = *slot = new_star(r, &g->nodes[node]);
    status = s ? look_around(r, node, s) : TP_NO_MEMORY;
  }
  const tp__wnode *v = &g->nodes[node];
  for (int i = 0; status == TP_OK && i < v->n_edges; i++) {
    tp__wedge *e = &g->edges[v->edges[i]];
    if (e->table != s->table[i])
      touch(r, e->node[0] + e->node[1] - node);
    e->table = s->table[i];
  }
  if (status == TP_OK)
    memcpy(r->drop, s->drop, (size_t)v->n * sizeof *r->drop);
  return status == TP_OK ? apply_drop(r, node, s->n_drop) : status;
}

static tp_status star_bound(reducer *r, int node) {
  if (r->g->shelf)
    return shelved_star(r, node);
  star s = {.drop = r->drop};
  tp_status status = look_around(r, node, &s);
  return status == TP_OK ? apply_drop(r, node, s.n_drop) : status;
}

/* ---- dominance ---- */

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

/* Marks in r->drop. */
static tp_status find_dominated(reducer *r, int node, int *n_drop) {
  const tp__wnode *v = &r->g->nodes[node];
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

static tp_status shelved_dominated(reducer *r, int node, int *n_drop) {
  tp__wcsp *g = r->g;
  size_t n = (size_t)g->nodes[node].n;
  tp__shelf_key key;
  tp__shelf_begin(&key, TP__SHELF_DOMINATED);
  add_surroundings(&key, g, node, false);
  void **slot = tp__shelf_find(g->shelf, &key);
  if (!slot)
    return TP_NO_MEMORY;
  star *s = *slot;
  if (s) {
    memcpy(r->drop, s->drop, n * sizeof *r->drop);
    *n_drop = s->n_drop;
    return TP_OK;
  }
  s = *slot = new_star(r, &g->nodes[node]);
  tp_status status = s ? find_dominated(r, node, &s->n_drop) : TP_NO_MEMORY;
  if (status == TP_OK) {
    memcpy(s->drop, r->drop, n * sizeof *r->drop);
    *n_drop = s->n_drop;
  }
  return status;
}

static tp_status dominated(reducer *r, int node) {
  const tp__wnode *v = &r->g->nodes[node];
  int n_drop = 0;
  if (v->n < 2 || v->n > MAX_DOMINANCE)
    return TP_OK;
  tp_status status = r->g->shelf ? shelved_dominated(r, node, &n_drop) : find_dominated(r, node, &n_drop);
  return status == TP_OK ? apply_drop(r, node, n_drop) : status;
}

/* ---- elimination ---- */

/* to[y] = the cost of y at the other end of the edge, with the best of `node`. */
static void best_of(const tp__wnode *v, const tp__wnode *u, const tp__wview *w, tp_cost *to) {
  for (int y = 0; y < u->n; y++) {
    tp_cost best = TP_COST_FORBIDDEN;
    for (int x = 0; x < v->n; x++) {
      tp_cost sum = tp_cost_add(v->cost[x], w->table[(size_t)x * w->self + (size_t)y * w->far]);
      best = sum < best ? sum : best;
    }
    to[y] = tp_cost_add(u->cost[y], best);
  }
}

/* Adds the best of `node` to the cost of the neighbour at `edge`. */
static tp_status absorb(tp__wcsp *g, int node, int edge) {
  const tp__wnode *v = &g->nodes[node];
  tp__wview w = tp__wcsp_view(g, edge, node);
  tp__wnode *u = &g->nodes[w.other];
  if (!g->shelf) {
    best_of(v, u, &w, u->cost);
    return TP_OK;
  }
  tp__shelf_key key;
  tp__shelf_begin(&key, TP__SHELF_ABSORB);
  tp__shelf_add_array(&key, u->cost);
  tp__shelf_add_array(&key, v->cost);
  tp__shelf_add_array(&key, w.table);
  tp__shelf_add(&key, w.far == 1);
  void **slot = tp__shelf_find(g->shelf, &key);
  tp_cost *cost = slot ? *slot : NULL;
  if (slot && !cost && (cost = *slot = tp__pool_take(&g->pool, (size_t)u->n, sizeof *cost)))
    best_of(v, u, &w, cost);
  u->cost = cost;
  return cost ? TP_OK : TP_NO_MEMORY;
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
  tp_status status = normalise(g, v); /* a single strategy then costs 0, so that each neighbour takes up its table only */
  for (int i = 0; i < v->n_edges && status == TP_OK; i++)
    status = absorb(g, node, v->edges[i]);
  if (status || tp__wcsp_record(g, node, 0, NULL))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return TP_OK;
}

static tp_status eliminate_leaf(reducer *r, int node) {
  int edge = r->g->nodes[node].edges[0];
  if (absorb(r->g, node, edge) || tp__wcsp_record(r->g, node, 1, &edge))
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

VECTORS static tp_cost least_sum(const tp_cost *a, const tp_cost *b, size_t n) {
  tp_cost best = TP_COST_FORBIDDEN;
  for (size_t x = 0; x < n; x++)
    best = a[x] + b[x] < best ? a[x] + b[x] : best;
  return best;
}

/* table[i][j] = the best of `node` between strategy i of the one neighbour and j of the other. */
static tp_status tabulate_between(reducer *r, int node, const int *edges, size_t n_a, size_t n_b, tp_cost *table) {
  size_t n = (size_t)r->g->nodes[node].n;
  tp_cost *rows_a = scratch(r, n * n_a + n * n_b);
  if (!rows_a)
    return TP_NO_MEMORY;
  tp_cost *rows_b = rows_a + n * n_a;
  gather_rows(r->g, node, edges[0], true, rows_a);
  gather_rows(r->g, node, edges[1], false, rows_b);
  for (size_t i = 0; i < n_a; i++)
    for (size_t j = 0; j < n_b; j++)
      table[i * n_b + j] = least_sum(rows_a + i * n, rows_b + j * n, n);
  *r->work += (int64_t)(n_a * n_b * n);
  return TP_OK;
}

/* The same, done before or now, in the graph's pool; NULL when memory runs out. */
static tp_cost *table_between(reducer *r, int node, const int *edges, size_t n_a, size_t n_b) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  void *unshelved = NULL, **slot = &unshelved;
  if (g->shelf) {
    tp__shelf_key key;
    tp__shelf_begin(&key, TP__SHELF_BETWEEN);
    tp__shelf_add_array(&key, v->cost);
    for (int i = 0; i < 2; i++) {
      tp__wview w = tp__wcsp_view(g, edges[i], node);
      tp__shelf_add_array(&key, w.table);
      tp__shelf_add(&key, w.far == 1);
    }
    slot = tp__shelf_find(g->shelf, &key);
  }
  if (!slot || *slot)
    return slot ? *slot : NULL;
  tp_cost *table = *slot = tp__pool_take(&g->pool, n_a * n_b, sizeof *table);
  return table && tabulate_between(r, node, edges, n_a, n_b, table) == TP_OK ? table : NULL;
}

static tp_status eliminate_between(reducer *r, int node) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  bool ordered = tp__wcsp_view(g, v->edges[0], node).other < tp__wcsp_view(g, v->edges[1], node).other;
  int edges[2] = {v->edges[ordered ? 0 : 1], v->edges[ordered ? 1 : 0]};
  int a = tp__wcsp_view(g, edges[0], node).other, b = tp__wcsp_view(g, edges[1], node).other;
  size_t n_a = (size_t)g->nodes[a].n, n_b = (size_t)g->nodes[b].n;
  if ((int64_t)(n_a * n_b) > r->table_budget)
    return TP_OK;
  tp_cost *table = table_between(r, node, edges, n_a, n_b);
  if (!table || tp__wcsp_record(g, node, 2, edges))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return tp__wcsp_give(g, a, b, table);
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
  if (absorb(g, node, edge))
    return TP_NO_MEMORY;
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
  if (apply_drop(r, node, n_drop))
    return TP_NO_MEMORY;
  return r->g->nodes[node].n == 0 ? TP_INFEASIBLE : n_drop ? tp__memory_settle(r->g, node) : TP_OK;
}

/* What is left of the node's strategies; TP_INFEASIBLE if none. */
static tp_status thin_out(reducer *r, int node) {
  tp__wnode *v = &r->g->nodes[node];
  tp_status status = normalise(r->g, v);
  if (status == TP_OK)
    status = make_room(r, node);
  if (status == TP_OK)
    status = star_bound(r, node);
  if (status == TP_OK && v->n == 0)
    return TP_INFEASIBLE;
  if (status == TP_OK)
    status = dominated(r, node);
  if (status == TP_OK && v->n_loads && tp__memory_settle(r->g, node))
    return TP_NO_MEMORY;
  return status == TP_OK ? normalise(r->g, v) : status;
}

static tp_status simplify(reducer *r, int node) {
  const tp__wnode *v = &r->g->nodes[node];
  tp_status status = thin_out(r, node);
  if (status)
    return status;
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
  tp_status status = star_bound(r, node);
  return status || r->g->nodes[node].n ? status : TP_INFEASIBLE;
}

tp_status tp__wcsp_prune(tp__wcsp *g, tp_cost limit, int64_t *work) {
  reducer r = {.g = g, .limit = limit, .work = work, .step = prune};
  tp_status status = start(&r);
  if (status == TP_OK)
    status = drain(&r);
  end(&r);
  return status;
}
