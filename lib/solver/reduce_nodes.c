/* Removes nodes from the graph: by folding, elimination, or merging with an equal neighbor. */
#include "solver/reducer.h"

#include "solver/memory.h"
#include "support/vectors.h"

#include <string.h>

/* to[y] = the cost of y at the other endpoint of the edge, plus the best of `node`. */
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

/* Adds the best of `node` to the cost of the neighbor at `edge`. */
static tp_status absorb(tp__wcsp *g, int node, int edge) {
  const tp__wnode *v = &g->nodes[node];
  tp__wview w = tp__wcsp_view(g, edge, node);
  tp__wnode *u = &g->nodes[w.other];
  if (!g->cache) {
    best_of(v, u, &w, u->cost);
    return TP_OK;
  }
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_ABSORB);
  tp__hash_cons_add_array(&key, u->cost);
  tp__hash_cons_add_array(&key, v->cost);
  tp__hash_cons_add_array(&key, w.table);
  tp__hash_cons_add(&key, w.far == 1);
  void **slot = tp__hash_cons_find(g->cache, &key);
  tp_cost *cost = slot ? *slot : NULL;
  if (slot && !cost && (cost = tp__pool_alloc(&g->pool, (size_t)u->n, sizeof *cost))) {
    best_of(v, u, &w, cost);
    *slot = cost = tp__wcsp_share(g, cost, (size_t)u->n);
  }
  u->cost = cost;
  return cost ? TP_OK : TP_NO_MEMORY;
}

static void remove_edges(tp__reducer *r, int node) {
  tp__wnode *v = &r->g->nodes[node];
  tp__reducer_touch_neighbors(r, node);
  while (v->n_edges)
    tp__wcsp_remove_edge(r->g, v->edges[v->n_edges - 1]);
}

/* For n == 1 or no neighbors: the cost of `node` is known. */
tp_status tp__reducer_fold(tp__reducer *r, int node) {
  tp__wcsp *g = r->g;
  tp__wnode *v = &g->nodes[node];
  /* a single strategy then costs 0, so each neighbor absorbs only its table */
  tp_status status = tp__reducer_normalize(g, v);
  for (int i = 0; i < v->n_edges && status == TP_OK; i++)
    status = absorb(g, node, v->edges[i]);
  if (status || tp__wcsp_record(g, node, 0, NULL))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return TP_OK;
}

tp_status tp__reducer_eliminate_leaf(tp__reducer *r, int node) {
  int edge = r->g->nodes[node].edges[0];
  if (absorb(r->g, node, edge) || tp__wcsp_record(r->g, node, 1, &edge))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return TP_OK;
}

/* rows[y * n + x] = the table of `edge`, plus the node's cost if with_cost, with the strategies of
 * `node` innermost. */
static void gather_rows(const tp__wcsp *g, int node, int edge, bool with_cost, tp_cost *rows) {
  const tp__wnode *v = &g->nodes[node];
  tp__wview w = tp__wcsp_view(g, edge, node);
  for (int y = 0; y < g->nodes[w.other].n; y++)
    for (int x = 0; x < v->n; x++)
      *rows++ =
          tp_cost_add(with_cost ? v->cost[x] : 0, w.table[(size_t)x * w.self + (size_t)y * w.far]);
}

VECTORS static tp_cost min_sum(const tp_cost *a, const tp_cost *b, size_t n) {
  tp_cost best = TP_COST_FORBIDDEN;
  for (size_t x = 0; x < n; x++)
    best = a[x] + b[x] < best ? a[x] + b[x] : best;
  return best;
}

/* Moves the distinct rows to the front; of[i] is the new index of row i. n_slots is a power of two
 * and exceeds the number of rows. */
static size_t keep_distinct(tp_cost *rows, size_t n_rows, size_t n, tp_cost *of, tp_cost *slots,
                            size_t n_slots) {
  size_t kept = 0;
  memset(slots, 0, n_slots * sizeof *slots);
  for (size_t i = 0; i < n_rows; i++) {
    const tp_cost *row = rows + i * n;
    uint64_t hash = 0;
    for (size_t x = 0; x < n; x++) {
      hash = (hash ^ (uint64_t)row[x]) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    size_t k = hash & (n_slots - 1);
    while (slots[k] && memcmp(rows + (size_t)(slots[k] - 1) * n, row, n * sizeof *row) != 0)
      k = (k + 1) & (n_slots - 1);
    if (!slots[k]) {
      if (kept < i)
        memcpy(rows + kept * n, row, n * sizeof *row);
      slots[k] = (tp_cost)++kept;
    }
    of[i] = slots[k] - 1;
  }
  return kept;
}

/* Tables of up to this many entries are computed even after a stop request. */
enum { CHEAP = 1 << 16 };

/* table[i][j] = the best of `node` between strategy i of one neighbor and strategy j of the other.
 * Strategies that give a value the same layout have equal rows, and distinct layouts are few. */
static tp_status tabulate_between(tp__reducer *r, int node, const int *edges, size_t n_a,
                                  size_t n_b, tp_cost *table, bool *done) {
  enum { POLL_INTERVAL = 16 }; /* polls the clock once per this many rows */
  size_t n = (size_t)r->g->nodes[node].n, n_slots = 4;
  while (n_slots <= n_a || n_slots <= n_b)
    n_slots *= 2;
  tp_cost *rows_a = tp__reducer_scratch(r, (n + 1) * (n_a + n_b) + n_b + n_slots);
  if (!rows_a)
    return TP_NO_MEMORY;
  tp_cost *rows_b = rows_a + n * n_a, *of_a = rows_b + n * n_b, *of_b = of_a + n_a,
          *best = of_b + n_b, *slots = best + n_b;
  gather_rows(r->g, node, edges[0], true, rows_a);
  gather_rows(r->g, node, edges[1], false, rows_b);
  size_t n_different = keep_distinct(rows_b, n_b, n, of_b, slots, n_slots), n_done = 0;
  keep_distinct(rows_a, n_a, n, of_a, slots, n_slots);
  /* count all rows, so that skipping equal ones does not lengthen the search elsewhere */
  *r->work += (int64_t)(n_a * n_b * n);
  tp_cost *first = slots; /* first strategy with a given row */
  *done = false;
  for (size_t i = 0; i < n_a; i++) {
    if (n_a * n_b * n > CHEAP && i % POLL_INTERVAL == POLL_INTERVAL - 1 &&
        tp__control_poll_must_finish(r->control, *r->work))
      return TP_OK;
    if ((size_t)of_a[i] < n_done) {
      memcpy(table + i * n_b, table + (size_t)first[of_a[i]] * n_b, n_b * sizeof *table);
      continue;
    }
    first[n_done++] = (tp_cost)i;
    for (size_t j = 0; j < n_different; j++)
      best[j] = min_sum(rows_a + (size_t)of_a[i] * n, rows_b + j * n, n);
    for (size_t j = 0; j < n_b; j++)
      table[i * n_b + j] = best[of_b[j]];
  }
  *done = true;
  return TP_OK;
}

/* Returns the same table, cached or computed now, in the graph's pool. NULL after a stop request if
 * the table is expensive. */
static tp_status table_between(tp__reducer *r, int node, const int *edges, size_t n_a, size_t n_b,
                               tp_cost **made) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  void *unshelved = NULL, **slot = &unshelved;
  if (g->cache) {
    tp__hash_cons_key key;
    tp__hash_cons_begin(&key, TP__HASH_CONS_BETWEEN);
    tp__hash_cons_add_array(&key, v->cost);
    for (int i = 0; i < 2; i++) {
      tp__wview w = tp__wcsp_view(g, edges[i], node);
      tp__hash_cons_add_array(&key, w.table);
      tp__hash_cons_add(&key, w.far == 1);
    }
    slot = tp__hash_cons_find(g->cache, &key);
  }
  *made = slot ? *slot : NULL;
  if (!slot || *slot)
    return slot ? TP_OK : TP_NO_MEMORY;
  if (tp__control_must_finish(r->control) && n_a * n_b * (size_t)v->n > CHEAP)
    return TP_OK;
  bool done = false;
  tp_cost *table = tp__pool_alloc(&g->pool, n_a * n_b, sizeof *table);
  if (!table || tabulate_between(r, node, edges, n_a, n_b, table, &done))
    return TP_NO_MEMORY;
  if (!done)
    return TP_OK;
  *made = *slot = tp__wcsp_share(g, table, n_a * n_b);
  return *made ? TP_OK : TP_NO_MEMORY;
}

tp_status tp__reducer_eliminate_between(tp__reducer *r, int node) {
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  bool ordered =
      tp__wcsp_view(g, v->edges[0], node).other < tp__wcsp_view(g, v->edges[1], node).other;
  int edges[2] = {v->edges[ordered ? 0 : 1], v->edges[ordered ? 1 : 0]};
  int a = tp__wcsp_view(g, edges[0], node).other, b = tp__wcsp_view(g, edges[1], node).other;
  size_t n_a = (size_t)g->nodes[a].n, n_b = (size_t)g->nodes[b].n;
  if ((int64_t)(n_a * n_b) > r->table_budget)
    return TP_OK;
  tp_cost *table;
  if (table_between(r, node, edges, n_a, n_b, &table))
    return TP_NO_MEMORY;
  if (!table)
    return TP_OK;
  if (tp__wcsp_record(g, node, 2, edges))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return tp__wcsp_adopt_edge(g, a, b, table);
}

/* True if `edge` pairs the strategies of its endpoints one to one; partner[x] is then the strategy
 * of the other endpoint. */
static bool is_equality(const tp__reducer *r, int node, int edge, tp_cost *partner) {
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

/* Returns the table of the edge `moved` of `node` between `into` and the other endpoint of it, by
 * ascending numbers of these two. With a shelf, cached by the table of `edge`, which determines the
 * partners. NULL if memory runs out. */
static tp_cost *moved_table(tp__wcsp *g, int node, int edge, int moved, const tp_cost *partner) {
  tp__wview equal = tp__wcsp_view(g, edge, node), w = tp__wcsp_view(g, moved, node);
  size_t n = (size_t)g->nodes[node].n, n_far = (size_t)g->nodes[w.other].n;
  bool is_first = equal.other < w.other;
  size_t stride = is_first ? n_far : 1, stride_far = is_first ? 1 : n;
  void *unshelved = NULL, **slot = &unshelved;
  if (g->cache) {
    tp__hash_cons_key key;
    tp__hash_cons_begin(&key, TP__HASH_CONS_MOVE);
    tp__hash_cons_add_array(&key, equal.table);
    tp__hash_cons_add_array(&key, w.table);
    tp__hash_cons_add(&key, (int64_t)n << 3 | (equal.far == 1) << 2 | (w.far == 1) << 1 | is_first);
    slot = tp__hash_cons_find(g->cache, &key);
  }
  if (!slot || *slot)
    return slot ? *slot : NULL;
  tp_cost *table = tp__pool_alloc(&g->pool, n * n_far, sizeof *table);
  if (!table)
    return NULL;
  for (size_t x = 0; x < n; x++)
    for (size_t y = 0; y < n_far; y++)
      table[(size_t)partner[x] * stride + y * stride_far] = w.table[x * w.self + y * w.far];
  return *slot = tp__wcsp_share(g, table, n * n_far);
}

/* Moves the edges of `node`, permuted, to the other endpoint of `edge`, and removes `node`. */
static tp_status merge_into(tp__reducer *r, int node, int edge, const tp_cost *partner) {
  tp__wcsp *g = r->g;
  tp__wnode *v = &g->nodes[node];
  int into = tp__wcsp_view(g, edge, node).other;
  if (absorb(g, node, edge))
    return TP_NO_MEMORY;
  for (int i = 0; i < v->n_edges; i++) {
    if (v->edges[i] == edge)
      continue;
    int other = tp__wcsp_view(g, v->edges[i], node).other;
    tp_cost *table = moved_table(g, node, edge, v->edges[i], partner);
    if (!table ||
        tp__wcsp_adopt_edge(g, into < other ? into : other, into < other ? other : into, table))
      return TP_NO_MEMORY;
    *r->work += (int64_t)v->n * g->nodes[other].n;
  }
  if (tp__memory_merge(g, node, into, partner) || tp__wcsp_record(g, node, 1, &edge))
    return TP_NO_MEMORY;
  remove_edges(r, node);
  return TP_OK;
}

/* Inverts partner[], for the other endpoint. */
static void invert_partners(const tp_cost *partner, int n, tp_cost *turned) {
  for (int x = 0; x < n; x++)
    turned[partner[x]] = x;
}

tp_status tp__reducer_merge_equal(tp__reducer *r, int node) {
  enum { HUB = 64 };
  /* If the node has this many more edges than its partner, the partner is removed instead, because
   * every edge of the removed node is copied. */
  tp__wcsp *g = r->g;
  const tp__wnode *v = &g->nodes[node];
  tp_cost *partner = tp__reducer_scratch(r, 2 * (size_t)v->n),
          *turned = partner ? partner + v->n : NULL;
  if (!partner)
    return TP_NO_MEMORY;
  for (int i = 0; i < v->n_edges;) {
    int edge = v->edges[i];
    if (!is_equality(r, node, edge, partner)) {
      i++;
      continue;
    }
    int other = tp__wcsp_view(g, edge, node).other;
    if (v->n_edges - g->nodes[other].n_edges <= HUB)
      return merge_into(r, node, edge, partner);
    invert_partners(partner, v->n, turned);
    if (merge_into(r, other, edge, turned))
      return TP_NO_MEMORY;
  }
  return TP_OK;
}
