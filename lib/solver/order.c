/* Greedy: always eliminate the node whose bag (the node and its neighbours) has the fewest combinations. The graph is
 * played through on neighbour lists; a heap holds (weight, node), stale entries are recognised by their weight. */
#include "solver/order.h"

#include <stdlib.h>
#include <string.h>

typedef struct list {
  int n, room;
  int *item;
} list;

typedef struct entry {
  int64_t weight;
  int node;
} entry;

typedef struct heap {
  size_t n, room;
  entry *at; /* at[0] is least */
} heap;

typedef struct play {
  const tp__wcsp *g;
  list *adjacent;
  int64_t *weight;
  int *mark, stamp;
  heap heap;
  list scopes; /* of all eliminated nodes, one after the other */
} play;

static bool append(list *l, int item) {
  if (l->n == l->room) {
    int room = l->room ? l->room * 2 : 8;
    int *more = realloc(l->item, (size_t)room * sizeof *more);
    if (!more)
      return false;
    l->item = more;
    l->room = room;
  }
  l->item[l->n++] = item;
  return true;
}

static bool before(entry a, entry b) { return a.weight != b.weight ? a.weight < b.weight : a.node < b.node; }

static bool push(heap *h, entry e) {
  if (h->n == h->room) {
    size_t room = h->room ? h->room * 2 : 256;
    entry *more = realloc(h->at, room * sizeof *more);
    if (!more)
      return false;
    h->at = more;
    h->room = room;
  }
  size_t i = h->n++;
  for (; i > 0 && before(e, h->at[(i - 1) / 2]); i = (i - 1) / 2)
    h->at[i] = h->at[(i - 1) / 2];
  h->at[i] = e;
  return true;
}

static entry pop(heap *h) {
  entry top = h->at[0], last = h->at[--h->n];
  size_t i = 0;
  for (size_t child = 1; child < h->n; child = 2 * i + 1) {
    if (child + 1 < h->n && before(h->at[child + 1], h->at[child]))
      child++;
    if (!before(h->at[child], last))
      break;
    h->at[i] = h->at[child];
    i = child;
  }
  if (h->n)
    h->at[i] = last;
  return top;
}

static int64_t times(int64_t a, int64_t b) { return a > INT64_MAX / 4 / b ? INT64_MAX / 4 : a * b; }

/* Combinations of the neighbours alone: the entries of the table that elimination makes. */
static int64_t table_entries(const play *p, int node) {
  int64_t product = 1;
  for (int i = 0; i < p->adjacent[node].n; i++)
    product = times(product, p->g->nodes[p->adjacent[node].item[i]].n);
  return product;
}

static bool weigh(play *p, int node) {
  int64_t weight = times(table_entries(p, node), p->g->nodes[node].n);
  if (weight == p->weight[node])
    return true;
  p->weight[node] = weight;
  return push(&p->heap, (entry){weight, node});
}

/* Takes `node` out of the list of u and makes u adjacent to all others of `around`. */
static bool update_neighbour(play *p, int u, int node, const list *around) {
  list *l = &p->adjacent[u];
  p->stamp++;
  p->mark[u] = p->stamp;
  int kept = 0;
  for (int i = 0; i < l->n; i++) {
    p->mark[l->item[i]] = p->stamp;
    if (l->item[i] != node)
      l->item[kept++] = l->item[i];
  }
  l->n = kept;
  for (int i = 0; i < around->n; i++)
    if (p->mark[around->item[i]] != p->stamp && !append(l, around->item[i]))
      return false;
  return true;
}

static tp_status play_out(play *p, int64_t budget, tp__order *order) {
  while (p->heap.n) {
    entry e = pop(&p->heap);
    if (order->position[e.node] >= 0 || e.weight != p->weight[e.node])
      continue;
    int64_t entries = table_entries(p, e.node);
    if (entries > budget)
      return TP_OK; /* every other bag weighs at least as much; order->complete stays false */
    list around = p->adjacent[e.node];
    order->position[e.node] = order->n;
    order->node[order->n] = e.node;
    order->scope_at[order->n++] = (size_t)p->scopes.n;
    order->width = around.n > order->width ? around.n : order->width;
    order->largest = entries > order->largest ? entries : order->largest;
    order->work += e.weight;
    order->argmins += entries;
    for (int i = 0; i < around.n; i++)
      if (!append(&p->scopes, around.item[i]) || !update_neighbour(p, around.item[i], e.node, &around))
        return TP_NO_MEMORY;
    for (int i = 0; i < around.n; i++)
      if (!weigh(p, around.item[i]))
        return TP_NO_MEMORY;
  }
  order->scope_at[order->n] = (size_t)p->scopes.n;
  order->complete = true;
  return TP_OK;
}

/* Sorts each scope, latest eliminated first, and follows which tables are alive when. */
static tp_status arrange(const tp__wcsp *g, tp__order *order) {
  int64_t *freed = calloc((size_t)order->n + 1, sizeof *freed); /* entries consumed at each position */
  if (!freed)
    return TP_NO_MEMORY;
  int64_t alive = 0;
  for (int p = 0; p < order->n; p++) {
    int *scope = order->scope + order->scope_at[p];
    size_t n = order->scope_at[p + 1] - order->scope_at[p];
    int64_t entries = 1;
    for (size_t i = 0; i < n; i++) {
      int node = scope[i];
      size_t j = i;
      for (; j > 0 && order->position[scope[j - 1]] < order->position[node]; j--)
        scope[j] = scope[j - 1];
      scope[j] = node;
      entries *= g->nodes[node].n;
    }
    alive += entries;
    order->peak = alive > order->peak ? alive : order->peak;
    alive -= freed[p];
    if (n)
      freed[order->position[scope[n - 1]]] += entries;
    else
      alive -= entries;
  }
  free(freed);
  return TP_OK;
}

static tp_status prepare(play *p, tp__order *order) {
  const tp__wcsp *g = p->g;
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    order->position[v] = -1;
    for (int i = 0; node->alive && i < node->n_edges; i++)
      if (!append(&p->adjacent[v], tp__wcsp_view(g, node->edges[i], v).other))
        return TP_NO_MEMORY;
  }
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive && !weigh(p, v))
      return TP_NO_MEMORY;
  return TP_OK;
}

tp_status tp__wcsp_order(const tp__wcsp *g, int64_t budget, tp__order *order) {
  size_t n = (size_t)g->n_nodes;
  *order = (tp__order){0};
  order->node = malloc(n * sizeof *order->node + 1);
  order->position = malloc(n * sizeof *order->position + 1);
  order->scope_at = malloc((n + 1) * sizeof *order->scope_at);
  play p = {.g = g};
  p.adjacent = calloc(n + 1, sizeof *p.adjacent);
  p.weight = calloc(n + 1, sizeof *p.weight); /* 0: not weighed yet; real weights are >= 1 */
  p.mark = calloc(n + 1, sizeof *p.mark);
  tp_status status = TP_NO_MEMORY;
  if (order->node && order->position && order->scope_at && p.adjacent && p.weight && p.mark)
    status = prepare(&p, order);
  if (status == TP_OK)
    status = play_out(&p, budget, order);
  order->scope = p.scopes.item;
  if (status == TP_OK && order->complete)
    status = arrange(g, order);
  for (size_t v = 0; p.adjacent && v < n; v++)
    free(p.adjacent[v].item);
  free(p.adjacent);
  free(p.weight);
  free(p.mark);
  free(p.heap.at);
  if (status)
    tp__order_clear(order);
  return status;
}

void tp__order_clear(tp__order *order) {
  free(order->node);
  free(order->position);
  free(order->scope_at);
  free(order->scope);
  *order = (tp__order){0};
}
