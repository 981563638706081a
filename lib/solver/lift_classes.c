/* Finds the classes by a few rounds of color refinement. The color of a node hashes its costs and
 * the tables and colors around it. Equal colors only suggest equality; members of a class are
 * compared. */
#include "solver/lift_classes.h"

#include "support/compare.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  hash ^= hash >> 29;
  hash *= UINT64_C(0xbf58476d1ce4e5b9);
  return hash ^ (hash >> 32);
}

/* ---- colors ---- */

static uint64_t address(const void *array) { return (uint64_t)(uintptr_t)array; }

/* Returns the colors by node; NULL if memory runs out. */
static const uint64_t *colors(const tp__wcsp *g, int radius, tp__pool *pool) {
  uint64_t *now = tp__pool_calloc(pool, (size_t)g->n_nodes, sizeof *now);
  uint64_t *next = tp__pool_calloc(pool, (size_t)g->n_nodes, sizeof *next);
  if (!now || !next)
    return NULL;
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      now[v] = mix((uint64_t)g->nodes[v].n, address(g->nodes[v].cost));
  for (int round = 0; round < radius; round++) {
    memset(next, 0, (size_t)g->n_nodes * sizeof *next);
    for (int e = 0; e < g->n_edges; e++) {
      const tp__wedge *edge = &g->edges[e];
      if (edge->node[0] < 0)
        continue;
      next[edge->node[0]] += mix(address(edge->table), now[edge->node[1]]);
      next[edge->node[1]] += mix(address(edge->table) + 1, now[edge->node[0]]);
    }
    for (int v = 0; v < g->n_nodes; v++)
      next[v] = mix(now[v], next[v]);
    uint64_t *spare = now;
    now = next;
    next = spare;
  }
  return now;
}

/* ---- classes ---- */

/* Returns the number of the class with this key, from 0; -1 if memory runs out. A key that does not
 * fit gets a class of its own. */
static int number(tp__hash_cons *cache, const tp__hash_cons_key *key, int *n) {
  void **slot = tp__hash_cons_find(cache, key);
  if (slot && !*slot)
    *slot = (void *)(intptr_t)++*n;
  return slot ? (int)(intptr_t)*slot - 1 : -1;
}

/* Ensures room for class number `n` in an array of zeroed classes that doubles. Classes are few, so
 * the array is not as large as the graph. False if memory runs out. */
static bool reserve(tp__pool *pool, void **array, int *capacity, int n, size_t size) {
  if (n < *capacity)
    return true;
  int more = *capacity ? 2 * *capacity : 256;
  void *grown = tp__pool_calloc(pool, (size_t)more, size);
  if (!grown)
    return false;
  if (*capacity)
    memcpy(grown, *array, (size_t)*capacity * size);
  *array = grown;
  *capacity = more;
  return true;
}

static tp_status classify_edges(const tp__wcsp *g, tp__hash_cons *cache, const uint64_t *color,
                                tp__pool *pool, tp__lift_classes *c) {
  int capacity = 0;
  for (int e = 0; e < g->n_edges; e++) {
    const tp__wedge *edge = &g->edges[e];
    if (edge->node[0] < 0)
      continue;
    int rows = g->nodes[edge->node[0]].n, columns = g->nodes[edge->node[1]].n;
    tp__hash_cons_key key;
    tp__hash_cons_begin(&key, 0);
    tp__hash_cons_add_array(&key, edge->table);
    tp__hash_cons_add(&key, (int64_t)rows << 32 | columns);
    tp__hash_cons_add(&key, (int64_t)color[edge->node[0]]);
    tp__hash_cons_add(&key, (int64_t)color[edge->node[1]]);
    int class = number(cache, &key, &c->n_edges);
    void *edges = c->edges;
    if (class < 0 || !reserve(pool, &edges, &capacity, class, sizeof *c->edges))
      return TP_NO_MEMORY;
    c->edges = edges;
    tp__lift_edges *l = &c->edges[c->edge_class[e] = class];
    l->count++;
    l->rows = rows;
    l->columns = columns;
    l->table = edge->table;
  }
  return TP_OK;
}

static void sort(int64_t *words, size_t n) {
  if (n > 32) {
    qsort(words, n, sizeof *words, tp__compare_i64s);
    return;
  }
  for (size_t i = 1; i < n; i++)
    for (size_t k = i; k > 0 && words[k - 1] > words[k]; k--) {
      int64_t word = words[k];
      words[k] = words[k - 1];
      words[k - 1] = word;
    }
}

/* Lists the classes of the node's edges with its endpoints in them, in ascending order. */
static void list_ends(const tp__wcsp *g, const tp__lift_classes *c, int node, int64_t *ends) {
  const tp__wnode *v = &g->nodes[node];
  for (int i = 0; i < v->n_edges; i++)
    ends[i] = (int64_t)c->edge_class[v->edges[i]] << 1 | (g->edges[v->edges[i]].node[1] == node);
  sort(ends, (size_t)v->n_edges);
}

static tp_status classify_nodes(const tp__wcsp *g, tp__hash_cons *cache, int64_t *ends,
                                tp__pool *pool, tp__lift_classes *c) {
  int capacity = 0;
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    if (!node->alive)
      continue;
    tp__hash_cons_key key;
    tp__hash_cons_begin(&key, 1);
    tp__hash_cons_add_array(&key, node->cost);
    tp__hash_cons_add(&key, node->n);
    list_ends(g, c, v, ends);
    for (int i = 0; i < node->n_edges; i++)
      tp__hash_cons_add(&key, ends[i]);
    int class = number(cache, &key, &c->n_nodes);
    void *nodes = c->nodes;
    if (class < 0 || !reserve(pool, &nodes, &capacity, class, sizeof *c->nodes))
      return TP_NO_MEMORY;
    c->nodes = nodes;
    c->node_class[v] = class;
    c->nodes[class].count++;
  }
  return TP_OK;
}

/* Chooses the middle node of each class, and sorts the classes by these nodes. */
static tp_status order_classes(const tp__wcsp *g, tp__pool *pool, tp__lift_classes *c) {
  size_t n = (size_t)c->n_nodes;
  int64_t *seen = tp__pool_calloc(pool, n, sizeof *seen);
  int *to = tp__pool_alloc(pool, n, sizeof *to);
  tp__lift_nodes *ordered = tp__pool_calloc(pool, n, sizeof *ordered);
  if (!seen || !to || !ordered)
    return TP_NO_MEMORY;
  int next = 0;
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    int class = c->node_class[v];
    if (!node->alive || seen[class]++ != c->nodes[class].count / 2)
      continue;
    ordered[next] = (tp__lift_nodes){
        .node = v, .count = c->nodes[class].count, .n = node->n, .cost = node->cost};
    to[class] = next++;
  }
  c->nodes = ordered;
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      c->node_class[v] = to[c->node_class[v]];
  return TP_OK;
}

static tp_status list_items(const tp__wcsp *g, tp__pool *pool, int64_t *ends, tp__lift_classes *c) {
  for (int k = 0; k < c->n_nodes; k++) {
    tp__lift_nodes *l = &c->nodes[k];
    int n = g->nodes[l->node].n_edges;
    l->items = tp__pool_alloc(pool, (size_t)n, sizeof *l->items);
    if (!l->items)
      return TP_NO_MEMORY;
    list_ends(g, c, l->node, ends);
    for (int i = 0; i < n; i++) {
      if (i == 0 || ends[i] != ends[i - 1])
        l->items[l->n_items++] = (tp__lift_item){(int)(ends[i] >> 1), (int)(ends[i] & 1), 0};
      l->items[l->n_items - 1].times++;
    }
  }
  return TP_OK;
}

static tp_status classify(const tp__wcsp *g, int radius, tp__hash_cons *cache, tp__pool *pool,
                          tp__lift_classes *c) {
  size_t most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    most = (size_t)g->nodes[v].n_edges > most ? (size_t)g->nodes[v].n_edges : most;
  int64_t *ends = tp__pool_alloc(pool, most, sizeof *ends);
  const uint64_t *color = colors(g, radius, pool);
  c->node_class = tp__pool_alloc(pool, (size_t)g->n_nodes, sizeof *c->node_class);
  c->edge_class = tp__pool_alloc(pool, (size_t)g->n_edges, sizeof *c->edge_class);
  if (!ends || !color || !c->node_class || !c->edge_class)
    return TP_NO_MEMORY;
  TP_TRY(classify_edges(g, cache, color, pool, c));
  TP_TRY(classify_nodes(g, cache, ends, pool, c));
  TP_TRY(order_classes(g, pool, c));
  return list_items(g, pool, ends, c);
}

tp_status tp__lift_classify(const tp__wcsp *g, int radius, tp__pool *pool,
                            tp__lift_classes *classes) {
  *classes = (tp__lift_classes){0};
  tp__hash_cons *cache = tp__hash_cons_create();
  tp_status status = cache ? classify(g, radius, cache, pool, classes) : TP_NO_MEMORY;
  tp__hash_cons_destroy(cache);
  return status;
}
