/* The graph of a weighted constraint problem: nodes, edges, elimination records and extraction. */
#include "solver/wcsp.h"

#include "support/compare.h"
#include "support/support.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

tp__wcsp *tp__wcsp_create(int n_nodes) {
  tp__wcsp *g = tp__calloc(1, sizeof *g);
  if (!g)
    return NULL;
  g->n_nodes = n_nodes;
  g->nodes = tp__pool_calloc(&g->pool, (size_t)n_nodes, sizeof *g->nodes);
  g->records = tp__pool_alloc(&g->pool, (size_t)n_nodes, sizeof *g->records);
  g->record_sides = tp__pool_alloc(&g->pool, 2 * (size_t)n_nodes, sizeof *g->record_sides);
  if (g->nodes && g->records && g->record_sides)
    return g;
  tp__wcsp_destroy(g);
  return NULL;
}

void tp__wcsp_destroy(tp__wcsp *g) {
  if (!g)
    return;
  tp__hash_cons_destroy(g->cache);
  tp__pool_release(&g->pool);
  tp__free(g);
}

tp_status tp__wcsp_reserve_edges(tp__wcsp *g, const int *degree, int n_edges) {
  int *lists = tp__pool_alloc(&g->pool, 2 * (size_t)n_edges, sizeof *lists);
  /* an elimination replaces two edges by one */
  size_t capacity = (size_t)n_edges + (size_t)n_edges / 2;
  g->edges = tp__pool_alloc(&g->pool, capacity, sizeof *g->edges);
  if (!lists || !g->edges || capacity > INT_MAX / 2)
    return TP_NO_MEMORY;
  g->edge_capacity = (int)capacity;
  for (int v = 0; v < g->n_nodes; v++) {
    g->nodes[v].edges = lists;
    g->nodes[v].edge_capacity = degree[v];
    lists += degree[v];
  }
  return TP_OK;
}

tp_cost *tp__wcsp_share(tp__wcsp *g, tp_cost *array, size_t n) {
  return g->cache && array ? tp__hash_cons_unify(g->cache, array, n) : array;
}

static void enliven(tp__wcsp *g, int node, int n, tp_cost *cost, int *label) {
  tp__wnode *v = &g->nodes[node];
  v->cost = cost;
  v->label = label;
  v->n = n;
  v->alive = true;
  g->n_alive++;
}

tp_status tp__wcsp_set_node(tp__wcsp *g, int node, int n, const tp_cost *cost, const int *label) {
  tp_cost *own_cost = tp__pool_alloc(&g->pool, (size_t)n, sizeof *own_cost);
  int *own_label = tp__pool_alloc(&g->pool, (size_t)n, sizeof *own_label);
  if (!own_cost || !own_label)
    return TP_NO_MEMORY;
  for (int x = 0; x < n; x++) {
    own_cost[x] = cost[x];
    own_label[x] = label ? label[x] : x;
  }
  enliven(g, node, n, own_cost, own_label);
  return TP_OK;
}

tp_status tp__wcsp_adopt_node(tp__wcsp *g, int node, int n, tp_cost *cost) {
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_LABELS);
  tp__hash_cons_add(&key, n);
  void *unshelved = NULL, **slot = g->cache ? tp__hash_cons_find(g->cache, &key) : &unshelved;
  if (!slot)
    return TP_NO_MEMORY;
  int *label = *slot;
  if (!label) {
    label = *slot = tp__pool_alloc(&g->pool, (size_t)n, sizeof *label);
    for (int x = 0; label && x < n; x++)
      label[x] = x;
  }
  if (!label)
    return TP_NO_MEMORY;
  enliven(g, node, n, cost, label);
  return TP_OK;
}

/* Returns the edge between a and b, or -1. Searches the shorter list, so hubs are cheap. */
static int find_edge(const tp__wcsp *g, int a, int b) {
  int from = g->nodes[a].n_edges <= g->nodes[b].n_edges ? a : b, to = a + b - from;
  const tp__wnode *v = &g->nodes[from];
  for (int i = 0; i < v->n_edges; i++) {
    const tp__wedge *e = &g->edges[v->edges[i]];
    if (e->node[0] == to || e->node[1] == to)
      return v->edges[i];
  }
  return -1;
}

static tp_status attach(tp__wcsp *g, int node, int edge) {
  tp__wnode *v = &g->nodes[node];
  if (v->n_edges == v->edge_capacity) {
    int capacity = v->edge_capacity ? v->edge_capacity * 2 : 4;
    int *edges = tp__pool_alloc(&g->pool, (size_t)capacity, sizeof *edges);
    if (!edges)
      return TP_NO_MEMORY;
    if (v->n_edges)
      memcpy(edges, v->edges, (size_t)v->n_edges * sizeof *edges);
    v->edges = edges;
    v->edge_capacity = capacity;
  }
  v->edges[v->n_edges++] = edge;
  return TP_OK;
}

/* The edges of a node are ascending, because each is attached when it is created. */
static void detach(tp__wcsp *g, int node, int edge) {
  tp__wnode *v = &g->nodes[node];
  int low = 0, high = v->n_edges - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (v->edges[middle] < edge)
      low = middle + 1;
    else
      high = middle;
  }
  memmove(&v->edges[low], &v->edges[low + 1], (size_t)(v->n_edges - low - 1) * sizeof *v->edges);
  v->n_edges--;
}

static tp_status new_edge(tp__wcsp *g, int a, int b, tp_cost *table) {
  if (g->n_edges == g->edge_capacity) {
    if (g->edge_capacity > INT_MAX / 4)
      return TP_NO_MEMORY;
    int capacity = g->edge_capacity ? g->edge_capacity * 2 : 256;
    tp__wedge *edges = tp__pool_alloc(&g->pool, (size_t)capacity, sizeof *edges);
    if (!edges)
      return TP_NO_MEMORY;
    if (g->n_edges)
      memcpy(edges, g->edges, (size_t)g->n_edges * sizeof *edges);
    g->edges = edges;
    g->edge_capacity = capacity;
  }
  g->edges[g->n_edges] = (tp__wedge){{a, b}, table};
  if (attach(g, a, g->n_edges) || attach(g, b, g->n_edges))
    return TP_NO_MEMORY;
  g->n_edges++;
  return TP_OK;
}

/* out = x + y; out may be one of them. */
static void add_tables(size_t n, const tp_cost *x, const tp_cost *y, tp_cost *out) {
  for (size_t i = 0; i < n; i++)
    out[i] = tp_cost_add(x[i], y[i]);
}

tp_status tp__wcsp_adopt_edge(tp__wcsp *g, int a, int b, tp_cost *table) {
  int edge = find_edge(g, a, b);
  if (edge < 0)
    return new_edge(g, a, b, table);
  tp__wedge *e = &g->edges[edge];
  size_t n = (size_t)g->nodes[a].n * (size_t)g->nodes[b].n;
  if (!g->cache) {
    add_tables(n, e->table, table, e->table);
    return TP_OK;
  }
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_SUM);
  tp__hash_cons_add_array(&key, e->table);
  tp__hash_cons_add_array(&key, table);
  tp__hash_cons_add(&key, (int64_t)n);
  void **slot = tp__hash_cons_find(g->cache, &key);
  tp_cost *sum = slot ? *slot : NULL;
  if (slot && !sum && (sum = tp__pool_alloc(&g->pool, n, sizeof *sum))) {
    add_tables(n, e->table, table, sum);
    *slot = sum = tp__wcsp_share(g, sum, n);
  }
  e->table = sum;
  return sum ? TP_OK : TP_NO_MEMORY;
}

tp_status tp__wcsp_add_transposed(tp__wcsp *g, int a, int b, const tp_cost *table) {
  size_t rows = (size_t)g->nodes[a].n, columns = (size_t)g->nodes[b].n;
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_TRANSPOSE);
  tp__hash_cons_add_array(&key, table);
  tp__hash_cons_add(&key, (int64_t)rows);
  void *unshelved = NULL, **slot = g->cache ? tp__hash_cons_find(g->cache, &key) : &unshelved;
  tp_cost *turned = slot ? *slot : NULL;
  if (slot && !turned && (turned = tp__pool_alloc(&g->pool, rows * columns, sizeof *turned))) {
    for (size_t x = 0; x < rows; x++)
      for (size_t y = 0; y < columns; y++)
        turned[x * columns + y] = table[y * rows + x];
    *slot = turned = tp__wcsp_share(g, turned, rows * columns);
  }
  return turned ? tp__wcsp_adopt_edge(g, a, b, turned) : TP_NO_MEMORY;
}

tp_status tp__wcsp_connect(tp__wcsp *g, int a, int b, const tp_cost *table, size_t stride_a,
                           size_t stride_b) {
  if (a > b)
    return tp__wcsp_connect(g, b, a, table, stride_b, stride_a);
  size_t rows = (size_t)g->nodes[a].n, columns = (size_t)g->nodes[b].n;
  tp_cost *copy = tp__pool_alloc(&g->pool, rows * columns, sizeof *copy);
  if (!copy)
    return TP_NO_MEMORY;
  if (stride_b == 1 && stride_a == columns)
    memcpy(copy, table, rows * columns * sizeof *copy);
  else
    for (size_t x = 0; x < rows; x++)
      for (size_t y = 0; y < columns; y++)
        copy[x * columns + y] = table[x * stride_a + y * stride_b];
  copy = tp__wcsp_share(g, copy, rows * columns);
  return copy ? tp__wcsp_adopt_edge(g, a, b, copy) : TP_NO_MEMORY;
}

void tp__wcsp_remove_edge(tp__wcsp *g, int edge) {
  tp__wedge *e = &g->edges[edge];
  detach(g, e->node[0], edge);
  detach(g, e->node[1], edge);
  e->node[0] = -1;
}

tp_status tp__wcsp_record(tp__wcsp *g, int node, int n, const int *edges) {
  tp__wnode *v = &g->nodes[node];
  g->records[g->n_records] = (tp__wrecord){.node = node,
                                           .n = (unsigned)v->n,
                                           .n_sides = (unsigned)n,
                                           .cost = v->cost,
                                           .label = v->label};
  for (int i = 0; i < n; i++) {
    tp__wview view = tp__wcsp_view(g, edges[i], node);
    const tp__wnode *u = &g->nodes[view.other];
    /* The neighbor may lose strategies later, but the table of this edge keeps them, so the current
     * labels are recorded. */
    int *label = g->cache ? u->label : tp__pool_alloc(&g->pool, (size_t)u->n, sizeof *label);
    if (!label)
      return TP_NO_MEMORY;
    if (!g->cache)
      memcpy(label, u->label, (size_t)u->n * sizeof *label);
    g->record_sides[g->n_record_sides + i] = (tp__wrecord_side){.label = label,
                                                                .table = view.table,
                                                                .node = view.other,
                                                                .n = (unsigned)u->n,
                                                                .is_inner = view.far == 1};
  }
  g->n_record_sides += n;
  v->alive = false;
  g->n_alive--;
  g->n_records++;
  return TP_OK;
}

void tp__wcsp_record_choice(tp__wcsp *g, int node, int x) {
  tp__wnode *v = &g->nodes[node];
  g->records[g->n_records++] =
      (tp__wrecord){.node = node, .n = 1, .cost = v->cost + x, .label = v->label + x};
  v->alive = false;
  g->n_alive--;
}

static void *own_copy(tp__wcsp *g, const void *array, size_t n, size_t size) {
  void *copy = tp__pool_alloc(&g->pool, n, size);
  if (copy && n)
    memcpy(copy, array, n * size);
  return copy;
}

tp_status tp__wcsp_unshare(tp__wcsp *g) {
  bool ok = true;
  for (int i = 0; g->cache && ok && i < g->n_nodes; i++) {
    tp__wnode *v = &g->nodes[i];
    if (!v->alive)
      continue;
    v->cost = own_copy(g, v->cost, (size_t)v->n, sizeof *v->cost);
    v->label = own_copy(g, v->label, (size_t)v->n, sizeof *v->label);
    ok = v->cost && v->label;
  }
  for (int i = 0; g->cache && ok && i < g->n_edges; i++) {
    tp__wedge *e = &g->edges[i];
    if (e->node[0] < 0)
      continue;
    e->table =
        own_copy(g, e->table, (size_t)g->nodes[e->node[0]].n * (size_t)g->nodes[e->node[1]].n,
                 sizeof *e->table);
    ok = e->table != NULL;
  }
  tp__hash_cons_destroy(g->cache);
  g->cache = NULL;
  return ok ? TP_OK : TP_NO_MEMORY;
}

/* Unifies equal masks, so that the results of applying them are found again. */
static const bool *cached_mask(tp__wcsp *g, int n, const bool *drop) {
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_MASK);
  tp__hash_cons_add(&key, n);
  for (int x = 0; x < n; x += 63) {
    int64_t bits = 0;
    for (int k = x; k < n && k < x + 63; k++)
      bits |= (int64_t)drop[k] << (k - x);
    tp__hash_cons_add(&key, bits);
  }
  void **slot = tp__hash_cons_find(g->cache, &key);
  if (slot && !*slot)
    *slot = own_copy(g, drop, (size_t)n, sizeof *drop);
  return slot ? *slot : NULL;
}

/* Returns the slot for the array without the entries that `mask` drops. `shape` tells which
 * dimension the mask applies to. */
static void **compacted(tp__wcsp *g, const void *array, int64_t shape, const bool *mask) {
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_DROP);
  tp__hash_cons_add_array(&key, array);
  tp__hash_cons_add_array(&key, mask);
  tp__hash_cons_add(&key, shape);
  return tp__hash_cons_find(g->cache, &key);
}

static void compact(const tp_cost *from, int rows, int columns, bool is_row, const bool *mask,
                    tp_cost *to) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++, from++)
      if (!mask[is_row ? r : c])
        *to++ = *from; /* in place: `to` is never ahead */
}

/* Drops rows (or columns) of rows x columns costs. NULL if memory runs out. */
static tp_cost *compact_costs(tp__wcsp *g, tp_cost *costs, int rows, int columns, bool is_row,
                              const bool *mask, size_t kept) {
  if (!g->cache) {
    compact(costs, rows, columns, is_row, mask, costs);
    return costs;
  }
  void **slot = compacted(g, costs, (int64_t)rows << 32 | columns << 1 | is_row, mask);
  if (!slot || *slot)
    return slot ? *slot : NULL;
  tp_cost *to = tp__pool_alloc(&g->pool, kept, sizeof *to);
  if (to)
    compact(costs, rows, columns, is_row, mask, to);
  return *slot = tp__wcsp_share(g, to, kept);
}

static tp_status compact_table(tp__wcsp *g, tp__wedge *e, bool is_row, const bool *mask,
                               int n_kept) {
  int rows = g->nodes[e->node[0]].n, columns = g->nodes[e->node[1]].n;
  size_t kept = (size_t)n_kept * (size_t)(is_row ? columns : rows);
  e->table = compact_costs(g, e->table, rows, columns, is_row, mask, kept);
  return e->table ? TP_OK : TP_NO_MEMORY;
}

static int *compact_labels(tp__wcsp *g, int *label, int n, const bool *mask, size_t kept) {
  void *in_place = NULL, **slot = g->cache ? compacted(g, label, n, mask) : &in_place;
  if (!slot || *slot)
    return slot ? *slot : NULL;
  int *to = *slot = g->cache ? tp__pool_alloc(&g->pool, kept, sizeof *to) : label;
  for (int x = 0, k = 0; to && x < n; x++)
    if (!mask[x])
      to[k++] = label[x];
  return to;
}

static tp_status compact_node(tp__wcsp *g, tp__wnode *v, const bool *mask, int n_kept) {
  v->cost = compact_costs(g, v->cost, 1, v->n, false, mask, (size_t)n_kept);
  v->label = v->cost ? compact_labels(g, v->label, v->n, mask, (size_t)n_kept) : NULL;
  return v->label ? TP_OK : TP_NO_MEMORY;
}

static int n_kept_of(int n, const bool *drop) {
  int n_kept = 0;
  for (int x = 0; x < n; x++)
    n_kept += !drop[x];
  return n_kept;
}

int *tp__wcsp_drop_labels(tp__wcsp *g, const tp__wnode *v, const bool *drop) {
  const bool *mask = cached_mask(g, v->n, drop);
  return mask ? compact_labels(g, v->label, v->n, mask, (size_t)n_kept_of(v->n, drop)) : NULL;
}

tp_status tp__wcsp_drop(tp__wcsp *g, int node, const bool *drop) {
  tp__wnode *v = &g->nodes[node];
  const bool *mask = g->cache ? cached_mask(g, v->n, drop) : drop;
  int n_kept = n_kept_of(v->n, drop);
  if (!mask)
    return TP_NO_MEMORY;
  tp_status status = TP_OK;
  for (int i = 0; i < v->n_edges && status == TP_OK; i++)
    status = compact_table(g, &g->edges[v->edges[i]], g->edges[v->edges[i]].node[0] == node, mask,
                           n_kept);
  for (int i = 0; i < v->n_loads; i++)
    for (int x = 0, to = 0; x < v->n; x++)
      if (!mask[x])
        v->loads[i].usage[to++] = v->loads[i].usage[x];
  if (status == TP_OK)
    status = compact_node(g, v, mask, n_kept);
  v->n = n_kept;
  return status;
}

/* Copies the edges between members, which `place` maps to >= 0. */
static tp_status copy_edges(const tp__wcsp *g, tp__wcsp *part, const int *members, const int *place,
                            int fixed, int strategy) {
  for (int i = 0; i < part->n_nodes; i++) {
    const tp__wnode *v = &g->nodes[members[i]];
    for (int k = 0; k < v->n_edges; k++) {
      tp__wview view = tp__wcsp_view(g, v->edges[k], members[i]);
      int j = place[view.other];
      if (j <= i) /* not a member, or copied from the other endpoint */
        continue;
      const tp_cost *table = view.table;
      if (members[i] == fixed)
        table += (size_t)strategy * view.self;
      else if (view.other == fixed)
        table += (size_t)strategy * view.far;
      if (tp__wcsp_connect(part, i, j, table, view.self, view.far))
        return TP_NO_MEMORY;
    }
  }
  return TP_OK;
}

tp__wcsp *tp__wcsp_extract(const tp__wcsp *g, const int *members, int n, int fixed, int strategy) {
  tp__wcsp *part = tp__wcsp_create(n);
  int *place = tp__malloc((size_t)g->n_nodes * sizeof *place + 1);
  bool ok = part && place;
  for (int v = 0; ok && v < g->n_nodes; v++)
    place[v] = -1;
  for (int i = 0; ok && i < n; i++) {
    const tp__wnode *v = &g->nodes[members[i]];
    bool whole = members[i] != fixed;
    int from = whole ? 0 : strategy;
    place[members[i]] = i;
    ok = tp__wcsp_set_node(part, i, whole ? v->n : 1, v->cost + from, v->label + from) == TP_OK;
  }
  ok = ok && copy_edges(g, part, members, place, fixed, strategy) == TP_OK;
  tp__free(place);
  if (ok)
    return part;
  tp__wcsp_destroy(part);
  return NULL;
}

tp_cost tp__wcsp_evaluate(const tp__wcsp *g, const int *at) {
  tp_cost sum = g->constant;
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      sum = tp_cost_add(sum, g->nodes[v].cost[at[v]]);
  for (int e = 0; e < g->n_edges; e++) {
    const tp__wedge *edge = &g->edges[e];
    if (edge->node[0] < 0)
      continue;
    size_t row = (size_t)at[edge->node[0]] * (size_t)g->nodes[edge->node[1]].n;
    sum = tp_cost_add(sum, edge->table[row + (size_t)at[edge->node[1]]]);
  }
  return sum;
}

int tp__wcsp_find(const tp__wnode *v, int label) {
  int low = 0, high = v->n - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (v->label[middle] < label)
      low = middle + 1;
    else
      high = middle;
  }
  return v->label[low] == label ? low : -1;
}

/* Adds the tables to neighbors that are not members to the costs of the member. Returns its share
 * of the present cost. */
static tp_cost add_fixed(const tp__wcsp *g, int node, const bool *is_member, const int *at,
                         tp_cost *cost) {
  const tp__wnode *v = &g->nodes[node];
  tp_cost present = 0;
  for (int k = 0; k < v->n_edges; k++) {
    tp__wview w = tp__wcsp_view(g, v->edges[k], node);
    const tp_cost *column = w.table + (size_t)at[w.other] * w.far;
    for (int x = 0; !is_member[w.other] && x < v->n; x++)
      cost[x] = tp_cost_add(cost[x], column[(size_t)x * w.self]);
    if (is_member[w.other] && w.other > node)
      present = tp_cost_add(present, column[(size_t)at[node] * w.self]);
  }
  return tp_cost_add(present, cost[at[node]]);
}

tp__wcsp *tp__wcsp_condition(const tp__wcsp *g, const int *members, int n, const int *at,
                             tp_cost *present) {
  tp__wcsp *part = tp__wcsp_extract(g, members, n, -1, 0);
  bool *is_member = tp__calloc((size_t)g->n_nodes + 1, sizeof *is_member);
  *present = 0;
  for (int i = 0; is_member && i < n; i++)
    is_member[members[i]] = true;
  for (int i = 0; part && is_member && i < n; i++)
    *present = tp_cost_add(*present, add_fixed(g, members[i], is_member, at, part->nodes[i].cost));
  bool ok = part && is_member;
  tp__free(is_member);
  if (ok)
    return part;
  tp__wcsp_destroy(part);
  return NULL;
}

/* Returns the first entry of the table for the neighbor's choice, and the stride between the
 * entries of the recorded node. */
static const tp_cost *chosen_row(const tp__wrecord *r, const tp__wrecord_side *s,
                                 const int *choices, size_t *stride) {
  const int *hit = bsearch(&choices[s->node], s->label, s->n, sizeof *s->label, tp__compare_ints);
  /* A choice among remaining labels is always found. Index 0 prevents an out-of-bounds read if
   * there is a defect elsewhere. */
  size_t at = hit ? (size_t)(hit - s->label) : 0;
  *stride = s->is_inner ? s->n : 1;
  return s->table + (s->is_inner ? at : at * r->n);
}

void tp__wcsp_complete(const tp__wcsp *g, int *choices) {
  const tp__wrecord_side *side = g->record_sides + g->n_record_sides;
  for (int i = g->n_records - 1; i >= 0; i--) {
    const tp__wrecord *r = &g->records[i];
    const tp_cost *row[2] = {NULL, NULL};
    size_t stride[2] = {0, 0};
    side -= r->n_sides;
    for (unsigned k = 0; k < r->n_sides; k++)
      row[k] = chosen_row(r, &side[k], choices, &stride[k]);
    tp_cost best = INT64_MAX;
    for (unsigned x = 0; x < r->n; x++) {
      tp_cost sum = r->cost[x];
      for (unsigned k = 0; k < r->n_sides; k++)
        sum = tp_cost_add(sum, row[k][x * stride[k]]);
      if (sum < best) {
        best = sum;
        choices[r->node] = r->label[x];
      }
    }
  }
}

int64_t tp__wcsp_entries(const tp__wcsp *g) {
  int64_t sum = 0;
  for (int e = 0; e < g->n_edges; e++)
    if (g->edges[e].node[0] >= 0)
      sum += (int64_t)g->nodes[g->edges[e].node[0]].n * g->nodes[g->edges[e].node[1]].n;
  return sum;
}

int64_t tp__wcsp_strategies(const tp__wcsp *g) {
  int64_t sum = 0;
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      sum += g->nodes[v].n;
  return sum;
}
