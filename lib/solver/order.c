/* Greedy elimination order: always eliminates the node whose bag (the node and its neighbors) has
 * the fewest combinations. Simulates the elimination on neighbor lists. A heap holds (weight,
 * node); stale entries are recognized by their weight.
 *
 * A value that all layers use is a hub: a node with as many neighbors as there are layers. The list
 * of a hub is not read each time that one of its neighbors is eliminated, since that would take
 * quadratic time. So a list may contain nodes that are gone. They are removed when they are met.
 * The order of a list does not matter. */
#include "solver/order.h"

#include "support/support.h"

#include <string.h>

typedef struct list {
  int n, capacity;
  int *item;
} list;

typedef struct entry {
  int64_t weight;
  int node;
} entry;

typedef struct heap {
  size_t n, capacity;
  entry *at; /* at[0] is the minimum */
} heap;

typedef struct simulation {
  const tp__wcsp *g;
  list *adjacent;
  int *degree; /* by node: its neighbors that are not gone */
  bool *gone;  /* by node: eliminated or fixed */
  int64_t *weight;
  int *mark, stamp;
  int *joined, round; /* by node: the elimination in which it was connected as a hub */
  heap heap;
  list scopes; /* of all eliminated nodes, concatenated */
} simulation;

static bool append(list *l, int item) {
  if (l->n == l->capacity) {
    int capacity = l->capacity ? l->capacity * 2 : 8;
    int *more = tp__realloc(l->item, (size_t)capacity, sizeof *more);
    if (!more)
      return false;
    l->item = more;
    l->capacity = capacity;
  }
  l->item[l->n++] = item;
  return true;
}

static bool before(entry a, entry b) {
  return a.weight != b.weight ? a.weight < b.weight : a.node < b.node;
}

static bool push(heap *h, entry e) {
  if (h->n == h->capacity) {
    size_t capacity = h->capacity ? h->capacity * 2 : 256;
    entry *more = tp__realloc(h->at, capacity, sizeof *more);
    if (!more)
      return false;
    h->at = more;
    h->capacity = capacity;
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

static const int64_t MAX_ENTRIES = INT64_MAX / 4; /* saturation value */

static int64_t times(int64_t a, int64_t b) { return a > MAX_ENTRIES / b ? MAX_ENTRIES : a * b; }

/* Removes item i, and moves the last item there. */
static void drop_item(list *l, int i) { l->item[i] = l->item[--l->n]; }

/* Returns the neighbors of a node that are not gone. */
static const list *neighbors(simulation *p, int node) {
  list *l = &p->adjacent[node];
  for (int i = l->n; i-- > 0;)
    if (p->gone[l->item[i]])
      drop_item(l, i);
  return l;
}

/* Returns the number of combinations of the neighbors alone, which is the size of the table that
 * elimination creates. */
static int64_t table_entries(simulation *p, int node) {
  list *l = &p->adjacent[node];
  int64_t product = 1;
  for (int i = 0; i < l->n && product < MAX_ENTRIES;)
    if (p->gone[l->item[i]])
      drop_item(l, i);
    else
      product = times(product, p->g->nodes[l->item[i++]].n);
  return product;
}

static bool weigh(simulation *p, int node) {
  int64_t weight = times(table_entries(p, node), p->g->nodes[node].n);
  if (weight == p->weight[node])
    return true;
  p->weight[node] = weight;
  return push(&p->heap, (entry){weight, node});
}

static bool connect(simulation *p, int from, int to) {
  p->degree[from]++;
  return append(&p->adjacent[from], to);
}

/* True if a is in the list of b and the reverse. Reads the shorter list. What is found moves to its
 * front, because two hubs with many common neighbors are looked up for each of these. */
static bool are_adjacent(simulation *p, int a, int b) {
  int from = p->adjacent[a].n <= p->adjacent[b].n ? a : b, to = a + b - from;
  list *l = &p->adjacent[from];
  for (int i = 0; i < l->n; i++)
    if (l->item[i] == to) {
      l->item[i] = l->item[0];
      l->item[0] = to;
      return true;
    }
  return false;
}

static bool is_hub(const simulation *p, int u, const list *around) {
  enum { HUB = 256, FACTOR = 8 };
  return p->adjacent[u].n > HUB && p->adjacent[u].n / FACTOR > around->n;
}

/* Makes u adjacent to all other nodes of `around`, and these to u. Does not read the list of u. */
static bool join_hub(simulation *p, int u, const list *around) {
  p->joined[u] = p->round;
  for (int i = 0; i < around->n; i++) {
    int w = around->item[i];
    if (w != u && !are_adjacent(p, u, w) && (!connect(p, u, w) || !connect(p, w, u)))
      return false;
  }
  return true;
}

/* Makes u adjacent to all other nodes of `around`. */
static bool join_node(simulation *p, int u, const list *around) {
  const list *l = neighbors(p, u);
  p->stamp++;
  p->mark[u] = p->stamp;
  for (int i = 0; i < l->n; i++)
    p->mark[l->item[i]] = p->stamp;
  for (int i = 0; i < around->n; i++)
    if (p->mark[around->item[i]] != p->stamp && !connect(p, u, around->item[i]))
      return false;
  return true;
}

/* Takes the node out of the graph. Returns its neighbors. */
static const list *leave(simulation *p, int node) {
  const list *around = neighbors(p, node);
  p->gone[node] = true;
  for (int i = 0; i < around->n; i++)
    p->degree[around->item[i]]--;
  return around;
}

static bool weigh_all(simulation *p, const list *nodes) {
  for (int i = 0; i < nodes->n; i++)
    if (!weigh(p, nodes->item[i]))
      return false;
  return true;
}

/* Makes the neighbors of an eliminated node adjacent to each other. Hubs come first, because they
 * change the lists of the others too. */
static bool connect_neighbors(simulation *p, const list *around) {
  p->round++;
  for (int i = 0; i < around->n; i++)
    if (is_hub(p, around->item[i], around) && !join_hub(p, around->item[i], around))
      return false;
  for (int i = 0; i < around->n; i++)
    if (p->joined[around->item[i]] != p->round && !join_node(p, around->item[i], around))
      return false;
  return weigh_all(p, around);
}

static tp_status simulate(simulation *p, int64_t budget, tp__control *control, int64_t work,
                          tp__order *order) {
  enum { POLL_INTERVAL = 64 }; /* polls the clock once per this many nodes */
  while (p->heap.n) {
    if (order->n % POLL_INTERVAL == POLL_INTERVAL - 1 &&
        tp__control_poll_must_finish(control, work))
      return TP_OK;
    entry e = pop(&p->heap);
    if (p->gone[e.node] || e.weight != p->weight[e.node])
      continue;
    int64_t entries = table_entries(p, e.node);
    if (entries > budget)
      return TP_OK; /* all other bags weigh at least as much; order->complete stays false */
    const list *around = leave(p, e.node);
    order->position[e.node] = order->n;
    order->node[order->n] = e.node;
    order->scope_at[order->n++] = (size_t)p->scopes.n;
    order->width = around->n > order->width ? around->n : order->width;
    order->largest = entries > order->largest ? entries : order->largest;
    order->work += e.weight;
    order->argmins += entries;
    for (int i = 0; i < around->n; i++)
      if (!append(&p->scopes, around->item[i]))
        return TP_NO_MEMORY;
    if (!connect_neighbors(p, around))
      return TP_NO_MEMORY;
  }
  order->scope_at[order->n] = (size_t)p->scopes.n;
  order->complete = true;
  return TP_OK;
}

/* Returns the position that consumes the table of position p, which is the earliest position of its
 * scope; -1 if the scope is empty. The positions form a forest, in which a scope lies on the path
 * to the root. */
static int consumer(const tp__order *o, int p) {
  int first = -1;
  for (size_t k = o->scope_at[p]; k < o->scope_at[p + 1]; k++) {
    int at = o->position[o->scope[k]];
    first = first < 0 || at < first ? at : first;
  }
  return first;
}

/* Reorders depth first. Any order in which consumers come last produces the same tables. Depth
 * first, with the largest subtree before the smaller ones, keeps few tables alive at once. to[p] is
 * the new position of p. */
static tp_status depth_first(const tp__wcsp *g, const tp__order *o, int *to) {
  tp__pool pool = {0};
  size_t n_positions = (size_t)o->n;
  int *child = tp__pool_alloc(&pool, n_positions, sizeof *child),
      *next = tp__pool_alloc(&pool, n_positions, sizeof *next);
  int *parent = tp__pool_alloc(&pool, n_positions, sizeof *parent);
  /* entries of the subtree */
  double *total = tp__pool_calloc(&pool, n_positions, sizeof *total);
  if (!child || !next || !parent || !total) {
    tp__pool_release(&pool);
    return TP_NO_MEMORY;
  }
  for (int p = 0; p < o->n; p++) {
    child[p] = -1;
    parent[p] = consumer(o, p);
    double entries = 1;
    for (size_t k = o->scope_at[p]; k < o->scope_at[p + 1]; k++)
      entries *= g->nodes[o->scope[k]].n;
    total[p] += entries;
    if (parent[p] >= 0)
      total[parent[p]] += total[p];
  }
  int root = -1, n = 0;
  for (int p = o->n - 1; p >= 0; p--) { /* each list starts with its largest subtree */
    int *first = parent[p] < 0 ? &root : &child[parent[p]];
    int *at = *first >= 0 && total[p] < total[*first] ? &next[*first] : first;
    next[p] = *at;
    *at = p;
  }
  for (int p = root; p >= 0;) {
    if (child[p] >= 0) { /* descend, and do not return to this child */
      int down = child[p];
      child[p] = next[down];
      p = down;
      continue;
    }
    to[p] = n++;
    p = parent[p] >= 0 ? parent[p] : next[p];
  }
  tp__pool_release(&pool);
  return TP_OK;
}

/* Sorts the scope at `p`, latest eliminated first. Returns the entries of its table. */
static int64_t sort_scope(const tp__wcsp *g, const tp__order *o, int p) {
  int *scope = o->scope + o->scope_at[p];
  size_t n = o->scope_at[p + 1] - o->scope_at[p];
  int64_t entries = 1;
  for (size_t i = 0; i < n; i++) {
    int node = scope[i];
    size_t j = i;
    for (; j > 0 && o->position[scope[j - 1]] < o->position[node]; j--)
      scope[j] = scope[j - 1];
    scope[j] = node;
    entries *= g->nodes[node].n;
  }
  return entries;
}

static void reposition(tp__order *o, const int *to, const int *old_node, const size_t *old_at,
                       const int *old_scope, int *from) {
  for (int p = 0; p < o->n; p++)
    from[to[p]] = p;
  size_t at = 0;
  for (int p = 0; p < o->n; p++) {
    int was = from[p];
    size_t n = old_at[was + 1] - old_at[was];
    o->node[p] = old_node[was];
    o->position[o->node[p]] = p;
    o->scope_at[p] = at;
    if (n)
      memcpy(o->scope + at, old_scope + old_at[was], n * sizeof *o->scope);
    at += n;
  }
  o->scope_at[o->n] = at;
}

/* Finalizes the order and computes how many entries are alive at once. */
static tp_status arrange(const tp__wcsp *g, tp__order *o) {
  tp__pool pool = {0};
  size_t n = (size_t)o->n, n_scope = o->scope_at[n];
  int *to = tp__pool_alloc(&pool, n, sizeof *to), *from = tp__pool_alloc(&pool, n, sizeof *from);
  int *node = tp__pool_alloc(&pool, n, sizeof *node),
      *scope = tp__pool_alloc(&pool, n_scope, sizeof *scope);
  size_t *at = tp__pool_alloc(&pool, n + 1, sizeof *at);
  /* entries consumed at each position */
  int64_t *freed = tp__pool_calloc(&pool, n, sizeof *freed);
  tp_status status =
      to && from && node && scope && at && freed ? depth_first(g, o, to) : TP_NO_MEMORY;
  if (status == TP_OK) {
    memcpy(node, o->node, n * sizeof *node);
    memcpy(at, o->scope_at, (n + 1) * sizeof *at);
    if (n_scope)
      memcpy(scope, o->scope, n_scope * sizeof *scope);
    reposition(o, to, node, at, scope, from);
  }
  int64_t alive = 0;
  for (int p = 0; status == TP_OK && p < o->n; p++) {
    int64_t entries = sort_scope(g, o, p);
    int used_at = consumer(o, p);
    alive += entries;
    o->peak = alive > o->peak ? alive : o->peak;
    alive -= freed[p] + (used_at < 0 ? entries : 0);
    if (used_at >= 0)
      freed[used_at] += entries;
  }
  tp__pool_release(&pool);
  return status;
}

static tp_status start_simulation(const tp__wcsp *g, simulation *p) {
  size_t n = (size_t)g->n_nodes;
  *p = (simulation){.g = g};
  p->adjacent = tp__calloc(n + 1, sizeof *p->adjacent);
  p->weight = tp__calloc(n + 1, sizeof *p->weight); /* 0: not weighed yet; real weights are >= 1 */
  p->mark = tp__calloc(n + 1, sizeof *p->mark);
  p->joined = tp__calloc(n + 1, sizeof *p->joined);
  p->degree = tp__calloc(n + 1, sizeof *p->degree);
  p->gone = tp__calloc(n + 1, sizeof *p->gone);
  if (!p->adjacent || !p->weight || !p->mark || !p->joined || !p->degree || !p->gone)
    return TP_NO_MEMORY;
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    for (int i = 0; node->alive && i < node->n_edges; i++)
      if (!connect(p, v, tp__wcsp_view(g, node->edges[i], v).other))
        return TP_NO_MEMORY;
  }
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive && !weigh(p, v))
      return TP_NO_MEMORY;
  return TP_OK;
}

static void end_simulation(simulation *p) {
  for (int v = 0; p->adjacent && v < p->g->n_nodes; v++)
    tp__free(p->adjacent[v].item);
  tp__free(p->adjacent);
  tp__free(p->weight);
  tp__free(p->mark);
  tp__free(p->joined);
  tp__free(p->degree);
  tp__free(p->gone);
  tp__free(p->heap.at);
}

tp_status tp__wcsp_order(const tp__wcsp *g, int64_t budget, tp__control *control, int64_t work,
                         tp__order *order) {
  size_t n = (size_t)g->n_nodes;
  *order = (tp__order){0};
  order->node = tp__malloc(n * sizeof *order->node + 1);
  order->position = tp__malloc(n * sizeof *order->position + 1);
  order->scope_at = tp__malloc((n + 1) * sizeof *order->scope_at);
  simulation p = {.g = g};
  tp_status status = TP_NO_MEMORY;
  if (order->node && order->position && order->scope_at)
    status = start_simulation(g, &p);
  for (size_t v = 0; status == TP_OK && v < n; v++)
    order->position[v] = -1;
  if (status == TP_OK)
    status = simulate(&p, budget, control, work, order);
  order->scope = p.scopes.item;
  if (status == TP_OK && order->complete)
    status = arrange(g, order);
  end_simulation(&p);
  if (status)
    tp__order_clear(order);
  return status;
}

/* Returns the node to fix, among a node and its neighbors: smallest burden, then most neighbors,
 * then lowest number. */
static int choose_fixed_node(simulation *p, int node, const int *burden) {
  const list *around = neighbors(p, node);
  int best = node;
  for (int i = 0; i < around->n; i++) {
    int u = around->item[i], more = p->degree[u] - p->degree[best];
    if (burden[u] != burden[best] ? burden[u] < burden[best] : more != 0 ? more > 0 : u < best)
      best = u;
  }
  return best;
}

tp_status tp__wcsp_cut(const tp__wcsp *g, int64_t budget, int *burden, bool *cut) {
  simulation p;
  tp_status status = start_simulation(g, &p);
  memset(cut, 0, (size_t)g->n_nodes * sizeof *cut);
  while (status == TP_OK && p.heap.n) {
    entry e = pop(&p.heap);
    if (p.gone[e.node] || e.weight != p.weight[e.node])
      continue;
    if (table_entries(&p, e.node) <= budget) {
      status = connect_neighbors(&p, leave(&p, e.node)) ? TP_OK : TP_NO_MEMORY;
      continue;
    }
    int fixed = choose_fixed_node(&p, e.node, burden);
    cut[fixed] = true;
    burden[fixed]++;
    bool ok = weigh_all(&p, leave(&p, fixed)) &&
              (fixed == e.node || push(&p.heap, (entry){p.weight[e.node], e.node}));
    status = ok ? TP_OK : TP_NO_MEMORY;
  }
  end_simulation(&p);
  return status;
}

void tp__order_clear(tp__order *order) {
  tp__free(order->node);
  tp__free(order->position);
  tp__free(order->scope_at);
  tp__free(order->scope);
  *order = (tp__order){0};
}
