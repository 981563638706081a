/* Drops strategies of a node and entries of its edges: those that cost too much, or that are
 * dominated. */
#include "solver/dominance.h"
#include "support/vectors.h"

#include <string.h>

enum { MAX_CACHED_EDGES = 16 };

/* Adds the inputs of a step at the node to the key: its costs and tables, and optionally the costs
 * of its neighbors. */
static void add_surroundings(tp__hash_cons_key *key, const tp__wcsp *g, int node, bool neighbors) {
  const tp__wnode *v = &g->nodes[node];
  tp__hash_cons_add(key, (int64_t)v->n << 32 | v->n_edges);
  tp__hash_cons_add_array(key, v->cost);
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(g, v->edges[i], node);
    tp__hash_cons_add_array(key, w.table);
    tp__hash_cons_add(key, (int64_t)g->nodes[w.other].n << 1 | (w.far == 1));
    if (neighbors)
      tp__hash_cons_add_array(key, g->nodes[w.other].cost);
  }
}

/* ---- normalization ---- */

static tp_cost min_node_cost(const tp__wnode *v) {
  tp_cost least = TP_COST_FORBIDDEN;
  for (int x = 0; x < v->n; x++)
    least = v->cost[x] < least ? v->cost[x] : least;
  return least < TP_COST_FORBIDDEN ? least : 0;
}

static void subtract(const tp__wnode *v, tp_cost least, tp_cost *cost) {
  for (int x = 0; x < v->n; x++)
    cost[x] = v->cost[x] < TP_COST_FORBIDDEN ? v->cost[x] - least : v->cost[x];
}

/* Returns the normalized costs, cached or computed now; NULL if memory runs out. */
static tp_cost *cached_normal(tp__wcsp *g, const tp__wnode *v, tp_cost least) {
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_NORMALIZE);
  tp__hash_cons_add_array(&key, v->cost);
  void **slot = tp__hash_cons_find(g->cache, &key);
  if (!slot || *slot)
    return slot ? *slot : NULL;
  tp_cost *cost = tp__pool_alloc(&g->pool, (size_t)v->n, sizeof *cost);
  if (cost)
    subtract(v, least, cost);
  return *slot = tp__wcsp_share(g, cost, (size_t)v->n);
}

/* Moves the minimum node cost into the constant. */
tp_status tp__reducer_normalize(tp__wcsp *g, tp__wnode *v) {
  tp_cost least = min_node_cost(v);
  if (least == 0)
    return TP_OK;
  if (g->cache)
    v->cost = cached_normal(g, v, least);
  else
    subtract(v, least, v->cost);
  g->constant = tp_cost_add(g->constant, least);
  return v->cost ? TP_OK : TP_NO_MEMORY;
}

/* ---- star bound ---- */

/* least[x] = the minimum of table + neighbor's cost in row x, over the entries whose sum with
 * base[x] is below the slack. Returns true if some allowed entry is not below it. `row` is the
 * first row of the table, of which the current node is endpoint `end`. */
VECTORS static bool min_below(const tp_cost *row, int rows, int columns, int end,
                              const tp_cost *far, const tp_cost *base, tp_cost slack,
                              tp_cost *restrict least) {
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

/* Forbids the entries that are not below the slack. `to` may be the table itself. */
static void forbid(const tp__wview *w, int n, int n_far, const tp_cost *far, const tp_cost *base,
                   tp_cost slack, tp_cost *to) {
  for (int x = 0; x < n; x++)
    for (int y = 0; y < n_far; y++) {
      size_t at = (size_t)x * w->self + (size_t)y * w->far;
      to[at] = w->table[at] + far[y] >= slack - base[x] ? TP_COST_FORBIDDEN : w->table[at];
    }
}

/* The result for one edge. */
typedef struct ray {
  const tp_cost *least; /* by strategy */
  tp_cost *table;       /* the new table */
} ray;

typedef struct star {
  int n_drop;
  bool *drop;
  /* by edge of the node: the new table; NULL: changed in place */
  tp_cost **table;
  /* the result of dominance if this changes nothing; NULL: not computed yet */
  struct star *dominated;
  /* what is left of the costs, of the tables by edge, and of the last labels; NULL: not computed
   * yet */
  tp_cost *left_cost, **left_table;
  int *label, *left_label;
} star;

/* Returns the slack below the limit. Without a known limit, only forbidden costs count; with a
 * shelf, no other sum comes near them. With a shelf, the slack keeps its initial value, so that
 * earlier results are found again. */
static tp_cost slack_of(const tp__reducer *r) {
  if (!r->g->cache)
    return r->limit - r->g->constant;
  return r->limit >= TP_COST_FORBIDDEN ? TP_COST_FORBIDDEN : r->limit - r->first_constant;
}

/* Tightens one edge of the node, and computes the minimum of its rows. */
static tp_status tighten_edge_uncached(tp__reducer *r, int node, int edge, tp_cost *least,
                                       tp_cost **table) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  const tp__wedge *e = &g->edges[edge];
  tp__wview w = tp__wcsp_view(g, edge, node);
  const tp__wnode *u = &g->nodes[w.other];
  int rows = g->nodes[e->node[0]].n, columns = g->nodes[e->node[1]].n;
  *table = e->table;
  if (min_below(e->table, rows, columns, e->node[0] != node, u->cost, v->cost, slack_of(r),
                least)) {
    size_t n = (size_t)rows * (size_t)columns;
    if (g->cache)
      *table = tp__pool_alloc(&g->pool, n, sizeof **table);
    if (*table)
      forbid(&w, v->n, u->n, u->cost, v->cost, slack_of(r), *table);
    if (!(*table = tp__wcsp_share(g, *table, n)))
      return TP_NO_MEMORY;
    tp__reducer_touch(r, w.other); /* it may have lost its last allowed partner */
  }
  *r->work += (int64_t)rows * columns;
  return TP_OK;
}

/* The same, cached or computed now. Nodes shared by many layers have too many edges to be cached as
 * a whole. */
static tp_status tighten_edge(tp__reducer *r, int node, int edge, tp_cost *least, tp_cost **table) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  tp__wview w = tp__wcsp_view(g, edge, node);
  if (v->n_edges < MAX_CACHED_EDGES || !g->cache)
    return tighten_edge_uncached(r, node, edge, least, table);
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_ALONG);
  tp__hash_cons_add(&key, slack_of(r));
  tp__hash_cons_add_array(&key, v->cost);
  tp__hash_cons_add_array(&key, w.table);
  tp__hash_cons_add_array(&key, g->nodes[w.other].cost);
  tp__hash_cons_add(&key, (int64_t)g->nodes[w.other].n << 1 | (w.far == 1));
  void **slot = tp__hash_cons_find(g->cache, &key);
  ray *found = slot ? *slot : NULL;
  if (slot && !found) {
    tp_cost *own = tp__pool_alloc(&g->pool, (size_t)v->n, sizeof *own);
    found = *slot = tp__pool_alloc(&g->pool, 1, sizeof *found);
    if (!own || !found || tighten_edge_uncached(r, node, edge, own, &found->table))
      return TP_NO_MEMORY;
    found->least = own;
  }
  if (!found)
    return TP_NO_MEMORY;
  memcpy(least, found->least, (size_t)v->n * sizeof *least);
  *table = found->table;
  return TP_OK;
}

static tp_status scan_star(tp__reducer *r, int node, star *s) {
  const tp__wnode *v = &r->g->nodes[node];
  tp_cost *sum = tp__reducer_scratch(r, 2 * (size_t)v->n), slack = slack_of(r);
  if (!sum)
    return TP_NO_MEMORY;
  memcpy(sum, v->cost, (size_t)v->n * sizeof *sum);
  for (int i = 0; i < v->n_edges; i++) {
    tp_cost *same;
    TP_TRY(tighten_edge(r, node, v->edges[i], sum + v->n, s->table ? &s->table[i] : &same));
    for (int x = 0; x < v->n; x++)
      sum[x] = tp_cost_add(sum[x], sum[v->n + x]);
  }
  for (int x = 0; x < v->n; x++) {
    s->drop[x] = sum[x] >= slack;
    s->n_drop += s->drop[x];
  }
  return TP_OK;
}

static star *new_star(tp__reducer *r, const tp__wnode *v) {
  tp__pool *pool = &r->g->pool;
  star *s = tp__pool_calloc(pool, 1, sizeof *s);
  if (s) {
    s->drop = tp__pool_alloc(pool, (size_t)v->n, sizeof *s->drop);
    s->table = tp__pool_alloc(pool, (size_t)v->n_edges, sizeof *s->table);
  }
  return s && s->drop && s->table ? s : NULL;
}

/* Applies a drop for the first time, and remembers what is left. */
static tp_status drop_anew(tp__reducer *r, int node, star *s) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  s->left_table = tp__pool_alloc(&g->pool, (size_t)v->n_edges, sizeof *s->left_table);
  s->label = v->label;
  if (!s->left_table || tp__wcsp_drop(g, node, s->drop))
    return TP_NO_MEMORY;
  s->left_cost = v->cost;
  s->left_label = v->label;
  for (int i = 0; i < v->n_edges; i++)
    s->left_table[i] = g->edges[v->edges[i]].table;
  return TP_OK;
}

/* Drops the strategies of a cached result. */
static tp_status drop_cached(tp__reducer *r, int node, star *s) {
  tp__wcsp *g = r->g;
  tp__wnode *v = &g->nodes[node];
  if (s->n_drop == 0)
    return TP_OK;
  tp__reducer_touch_neighbors(r, node);
  if (!s->left_cost || v->n_loads)
    return drop_anew(r, node, s);
  if (v->label != s->label) {
    s->label = v->label;
    if (!(s->left_label = tp__wcsp_drop_labels(g, v, s->drop)))
      return TP_NO_MEMORY;
  }
  v->label = s->left_label;
  v->cost = s->left_cost;
  v->n -= s->n_drop;
  for (int i = 0; i < v->n_edges; i++)
    g->edges[v->edges[i]].table = s->left_table[i];
  return TP_OK;
}

/* Applies the star bound, cached or computed now. */
static tp_status cached_star(tp__reducer *r, int node) {
  tp__wcsp *g = r->g;
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_STAR);
  tp__hash_cons_add(&key, slack_of(r));
  add_surroundings(&key, g, node, true);
  void **slot = tp__hash_cons_find(g->cache, &key);
  star *s = slot ? *slot : NULL;
  tp_status status = slot ? TP_OK : TP_NO_MEMORY;
  if (slot && !s) {
    s = *slot = new_star(r, &g->nodes[node]);
    status = s ? scan_star(r, node, s) : TP_NO_MEMORY;
  }
  const tp__wnode *v = &g->nodes[node];
  bool is_quiet = status == TP_OK && s->n_drop == 0;
  for (int i = 0; status == TP_OK && i < v->n_edges; i++) {
    tp__wedge *e = &g->edges[v->edges[i]];
    if (e->table != s->table[i]) {
      tp__reducer_touch(r, e->node[0] + e->node[1] - node);
      is_quiet = false;
    }
    e->table = s->table[i];
  }
  r->quiet = is_quiet ? s : NULL;
  return status == TP_OK ? drop_cached(r, node, s) : status;
}

tp_status tp__reducer_star_bound(tp__reducer *r, int node) {
  if (r->g->cache)
    return cached_star(r, node);
  star s = {.drop = r->drop};
  TP_TRY(scan_star(r, node, &s));
  return tp__reducer_apply_drop(r, node, s.n_drop);
}

/* ---- dominance ---- */

/* Marks dominated strategies in r->drop; not all of them after a stop request. */
static tp_status find_dominated(tp__reducer *r, int node, int *n_drop) {
  enum { POLL_INTERVAL = 16 }; /* polls the clock once per this many strategies */
  const tp__wnode *v = &r->g->nodes[node];
  tp__dominance s;
  if (tp__dominance_open(r, node, &s))
    return TP_NO_MEMORY;
  memset(r->drop, 0, (size_t)v->n * sizeof *r->drop);
  for (int x = 0; x < v->n && !(x % POLL_INTERVAL == POLL_INTERVAL - 1 &&
                                tp__control_poll_must_finish(r->control, *r->work));
       x++) {
    tp__dominance_compare(&s, x);
    for (int y = 0; y < v->n && !r->drop[x]; y++)
      if (y != x && !r->drop[y] && tp__dominates(&s, y, x)) {
        r->drop[x] = true;
        ++*n_drop;
      }
  }
  *r->work += (int64_t)v->n * v->n * (v->n_edges + 1);
  tp__dominance_close(&s);
  return TP_OK;
}

/* Finds the result by the key of the star bound, which covers all surroundings of the node, or by
 * the part of them that matters here. NULL if memory runs out. */
static star *cached_dominated(tp__reducer *r, int node) {
  tp__wcsp *g = r->g;
  if (r->quiet && r->quiet->dominated)
    return r->quiet->dominated;
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_DOMINATED);
  add_surroundings(&key, g, node, false);
  void **slot = tp__hash_cons_find(g->cache, &key);
  star *s = slot ? *slot : NULL;
  if (slot && !s) {
    s = *slot = new_star(r, &g->nodes[node]);
    if (!s || find_dominated(r, node, &s->n_drop))
      return NULL;
    memcpy(s->drop, r->drop, (size_t)g->nodes[node].n * sizeof *r->drop);
  }
  if (r->quiet)
    r->quiet->dominated = s;
  return s;
}

tp_status tp__reducer_dominated(tp__reducer *r, int node) {
  const tp__wnode *v = &r->g->nodes[node];
  if (v->n < 2 || v->n > TP__MAX_DOMINANCE)
    return TP_OK;
  if (r->g->cache) {
    star *s = cached_dominated(r, node);
    return s ? drop_cached(r, node, s) : TP_NO_MEMORY;
  }
  int n_drop = 0;
  TP_TRY(find_dominated(r, node, &n_drop));
  return tp__reducer_apply_drop(r, node, n_drop);
}
