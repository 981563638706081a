/* Message passing on 64-bit integer costs, decoding, and reduced costs. */
#include "solver/dual.h"

#include "solver/work.h"
#include "support/support.h"
#include "support/vectors.h"

#include <string.h>

/* Finite numbers of a pass stay within +-SAFE. Then table - message - message cannot overflow, and
 * stays well below TP_COST_FORBIDDEN - 2 * SAFE, from where an entry counts as forbidden. */
#define SAFE ((tp_cost)1 << 57)

static int end_of(const tp__wcsp *g, int edge, int node) {
  return g->edges[edge].node[0] == node ? 0 : 1;
}

/* False if the costs leave no headroom for messages. The bound then stays at the constant. */
static bool in_range(const tp__wcsp *g) {
  for (int v = 0; v < g->n_nodes; v++)
    for (int x = 0; g->nodes[v].alive && x < g->nodes[v].n; x++)
      if (g->nodes[v].cost[x] > SAFE)
        return false;
  for (int e = 0; e < g->n_edges; e++) {
    const tp__wedge *edge = &g->edges[e];
    if (edge->node[0] < 0)
      continue;
    size_t entries = (size_t)g->nodes[edge->node[0]].n * (size_t)g->nodes[edge->node[1]].n;
    for (size_t i = 0; i < entries; i++)
      if (edge->table[i] > SAFE && edge->table[i] < TP_COST_FORBIDDEN)
        return false;
  }
  return true;
}

/* Allocates zeroed arrays for the costs and messages of `g`. */
static tp_status allocate(tp__wcsp *g, tp__dual *dual) {
  tp__dual d = {.g = g, .bound = g->constant};
  int most = 1;
  d.cost = tp__pool_calloc(&d.pool, (size_t)g->n_nodes, sizeof *d.cost);
  d.taken = tp__pool_calloc(&d.pool, (size_t)g->n_edges, sizeof *d.taken);
  bool ok = d.cost && d.taken;
  for (int v = 0; ok && v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    if (!node->alive)
      continue;
    most = node->n > most ? node->n : most;
    d.cost[v] = tp__pool_alloc(&d.pool, (size_t)node->n, sizeof **d.cost);
    ok = d.cost[v] != NULL;
    for (int i = 0; ok && i < node->n_edges; i++) {
      tp_cost *taken = tp__pool_calloc(&d.pool, (size_t)node->n, sizeof *taken);
      d.taken[node->edges[i]][end_of(g, node->edges[i], v)] = taken;
      ok = taken != NULL;
    }
  }
  d.scratch = ok ? tp__pool_alloc(&d.pool, 2 * (size_t)most, sizeof *d.scratch) : NULL;
  d.far = d.scratch ? d.scratch + most : NULL;
  *dual = d;
  if (d.scratch)
    return TP_OK;
  tp__dual_clear(dual);
  return TP_NO_MEMORY;
}

tp_status tp__dual_create(tp__wcsp *g, tp__dual *dual) {
  TP_TRY(allocate(g, dual));
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      memcpy(dual->cost[v], g->nodes[v].cost, (size_t)g->nodes[v].n * sizeof **dual->cost);
  dual->exhausted = !in_range(g);
  return TP_OK;
}

tp_status tp__dual_view(tp__wcsp *g, tp__dual *dual) {
  tp__dual d = {.g = g, .bound = g->constant, .is_view = true};
  int most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    most = g->nodes[v].alive && g->nodes[v].n > most ? g->nodes[v].n : most;
  d.cost = tp__pool_alloc(&d.pool, (size_t)g->n_nodes, sizeof *d.cost);
  d.scratch = tp__pool_alloc(&d.pool, 2 * (size_t)most, sizeof *d.scratch);
  bool ok = d.cost && d.scratch;
  d.far = ok ? d.scratch + most : NULL;
  for (int v = 0; ok && v < g->n_nodes; v++)
    d.cost[v] = g->nodes[v].cost;
  *dual = d;
  if (!ok)
    tp__dual_clear(dual);
  return ok ? TP_OK : TP_NO_MEMORY;
}

tp_status tp__dual_clone(const tp__dual *from, tp__dual *dual) {
  tp__wcsp *g = from->g;
  TP_TRY(allocate(g, dual));
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      memcpy(dual->cost[v], from->cost[v], (size_t)g->nodes[v].n * sizeof **dual->cost);
  for (int e = 0; e < g->n_edges; e++)
    for (int end = 0; g->edges[e].node[0] >= 0 && end < 2; end++)
      memcpy(dual->taken[e][end], from->taken[e][end],
             (size_t)g->nodes[g->edges[e].node[end]].n * sizeof **dual->cost);
  dual->bound = from->bound;
  dual->exhausted = from->exhausted;
  dual->passed = from->passed;
  return TP_OK;
}

void tp__dual_clear(tp__dual *dual) {
  tp__pool_release(&dual->pool);
  *dual = (tp__dual){0};
}

/* least[x] = min over y of table(x, y) - far(y), for endpoint `end` of the edge. `row` is the first
 * row of its table. */
VECTORS static void min_by_strategy(const tp_cost *row, int rows, int columns, int end,
                                    const tp_cost *far, tp_cost *restrict least) {
  if (end == 0) {
    for (int x = 0; x < rows; x++, row += columns) {
      tp_cost best = INT64_MAX;
      for (int y = 0; y < columns; y++)
        best = row[y] - far[y] < best ? row[y] - far[y] : best;
      least[x] = best;
    }
    return;
  }
  for (int x = 0; x < columns; x++)
    least[x] = INT64_MAX;
  for (int y = 0; y < rows; y++, row += columns)
    for (int x = 0; x < columns; x++)
      least[x] = row[x] - far[y] < least[x] ? row[x] - far[y] : least[x];
}

static bool out_of_range(const tp_cost *values, int n) {
  tp_cost worst = 0;
  for (int x = 0; x < n; x++)
    worst |= values[x] > SAFE || values[x] < -SAFE;
  return worst != 0;
}

/* Moves all spare cost of the edge to `node`. Afterwards each strategy of the node has a partner at
 * 0. */
static void collect(tp__dual *d, int edge, int node) {
  int end = end_of(d->g, edge, node), n = d->g->nodes[node].n;
  tp_cost *taken = d->taken[edge][end], *cost = d->cost[node];
  const tp__wedge *e = &d->g->edges[edge];
  min_by_strategy(e->table, d->g->nodes[e->node[0]].n, d->g->nodes[e->node[1]].n, end,
                  d->taken[edge][1 - end], d->scratch);
  if (out_of_range(d->scratch, n)) {
    d->exhausted = true;
    return;
  }
  for (int x = 0; x < n; x++) {
    cost[x] += d->scratch[x] - taken[x];
    taken[x] = d->scratch[x];
  }
  d->exhausted |= out_of_range(cost, n);
}

/* Processes one node of a sweep: collects from the edges behind, adds the minimum to the bound, and
 * shares the rest among the edges ahead. */
static void visit(tp__dual *d, int node, bool forward) {
  const tp__wnode *v = &d->g->nodes[node];
  int n_behind = 0;
  for (int i = 0; i < v->n_edges; i++) {
    bool behind = (tp__wcsp_view(d->g, v->edges[i], node).other < node) == forward;
    n_behind += behind;
    if (behind)
      collect(d, v->edges[i], node);
    if (d->exhausted)
      return;
  }
  tp_cost *cost = d->cost[node], least = INT64_MAX;
  for (int x = 0; x < v->n; x++)
    least = cost[x] < least ? cost[x] : least;
  d->bound = tp_cost_add(d->bound, least);
  int n_ahead = v->n_edges - n_behind, shares = n_ahead > n_behind ? n_ahead : n_behind;
  for (int x = 0; x < v->n; x++) {
    tp_cost share = shares ? (cost[x] - least) / shares : 0;
    d->scratch[x] = share;
    cost[x] -= least + share * n_ahead;
  }
  for (int i = 0; i < v->n_edges; i++) {
    if ((tp__wcsp_view(d->g, v->edges[i], node).other < node) == forward)
      continue;
    tp_cost *taken = d->taken[v->edges[i]][end_of(d->g, v->edges[i], node)];
    for (int x = 0; x < v->n; x++)
      taken[x] -= d->scratch[x];
    d->exhausted |= out_of_range(taken, v->n);
  }
}

/* Sweeps over n nodes, or over the first n of the graph if `nodes` is NULL. */
static void sweep(tp__dual *d, const int *nodes, int n, tp__control *control, int64_t work) {
  enum { POLL_INTERVAL = 64 }; /* polls the clock once per this many nodes */
  d->passed = true;
  for (int i = 0;
       i < 2 * n && !d->exhausted &&
       !(i % POLL_INTERVAL == POLL_INTERVAL - 1 && tp__control_poll_must_finish(control, work));
       i++) {
    bool forward = i < n;
    int place = forward ? i : 2 * n - 1 - i, v = nodes ? nodes[place] : place;
    if (d->g->nodes[v].alive)
      visit(d, v, forward);
  }
}

void tp__dual_pass(tp__dual *d, tp__control *control, int64_t *work) {
  sweep(d, NULL, d->g->n_nodes, control, *work);
  *work += 2 * tp__wcsp_entries(d->g);
}

void tp__dual_pass_over(tp__dual *d, const int *nodes, int n, tp__control *control, int64_t *work) {
  sweep(d, nodes, n, control, *work);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < d->g->nodes[nodes[i]].n_edges; k++) {
      const int *ends = d->g->edges[d->g->nodes[nodes[i]].edges[k]].node;
      *work += 2 * (int64_t)d->g->nodes[ends[0]].n * d->g->nodes[ends[1]].n;
    }
}

static tp_cost entry(const tp__dual *d, int edge, int node, int x, int y) {
  tp__wview w = tp__wcsp_view(d->g, edge, node);
  tp_cost table = w.table[(size_t)x * w.self + (size_t)y * w.far];
  if (d->is_view)
    return table;
  int end = end_of(d->g, edge, node);
  return table >= TP_COST_FORBIDDEN ? table
                                    : table - d->taken[edge][end][x] - d->taken[edge][1 - end][y];
}

bool tp__dual_shift(tp__dual *d, int node, const tp_cost *by) {
  const tp__wnode *v = &d->g->nodes[node];
  tp_cost *cost = d->cost[node], least = INT64_MAX;
  for (int i = 0; i < v->n_edges && !d->exhausted; i++)
    collect(d, v->edges[i], node);
  for (int x = 0; x < v->n; x++) {
    cost[x] += by[x];
    least = cost[x] < least ? cost[x] : least;
  }
  for (int x = 0; x < v->n; x++)
    cost[x] -= least;
  d->exhausted |= out_of_range(cost, v->n);
  d->bound += least;
  return !d->exhausted;
}

void tp__dual_reduced_costs(const tp__dual *d, int node, tp_cost *more) {
  const tp__wnode *v = &d->g->nodes[node];
  memcpy(more, d->cost[node], (size_t)v->n * sizeof *more);
  for (int i = 0; i < v->n_edges; i++) {
    int edge = v->edges[i], end = end_of(d->g, edge, node);
    const tp__wedge *e = &d->g->edges[edge];
    int other = e->node[1 - end];
    for (int y = 0; y < d->g->nodes[other].n; y++)
      d->far[y] = d->taken[edge][1 - end][y] - d->cost[other][y];
    min_by_strategy(e->table, d->g->nodes[e->node[0]].n, d->g->nodes[e->node[1]].n, end, d->far,
                    d->scratch);
    for (int x = 0; x < v->n; x++)
      more[x] = d->scratch[x] < TP_COST_FORBIDDEN - 3 * SAFE
                    ? tp_cost_add(more[x], d->scratch[x] - d->taken[edge][end][x])
                    : TP_COST_FORBIDDEN;
  }
}

/* Copies the nodes with the strategies that are kept. */
static tp_status extract_nodes(const tp__dual *d, bool *const *kept, tp__wcsp *part, int *labels,
                               tp_cost *costs) {
  for (int v = 0; v < d->g->n_nodes; v++) {
    const tp__wnode *node = &d->g->nodes[v];
    int n = 0;
    for (int x = 0; node->alive && x < node->n; x++)
      if (kept[v][x]) {
        labels[n] = node->label[x];
        costs[n++] = d->cost[v][x];
      }
    if (node->alive && tp__wcsp_set_node(part, v, n, costs, labels))
      return TP_NO_MEMORY;
  }
  return TP_OK;
}

static tp_status extract_edge(const tp__dual *d, bool *const *kept, tp__wcsp *part, int e) {
  int a = d->g->edges[e].node[0], b = d->g->edges[e].node[1];
  if (a < 0)
    return TP_OK;
  tp_cost *table = tp__pool_alloc(&part->pool, (size_t)part->nodes[a].n * (size_t)part->nodes[b].n,
                                  sizeof *table),
          *to = table;
  if (!table)
    return TP_NO_MEMORY;
  for (int x = 0; x < d->g->nodes[a].n; x++)
    for (int y = 0; kept[a][x] && y < d->g->nodes[b].n; y++)
      if (kept[b][y])
        *to++ = entry(d, e, a, x, y);
  return tp__wcsp_adopt_edge(part, a, b, table);
}

tp__wcsp *tp__dual_extract(const tp__dual *d, bool *const *kept) {
  const tp__wcsp *g = d->g;
  size_t most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    most = g->nodes[v].alive && (size_t)g->nodes[v].n > most ? (size_t)g->nodes[v].n : most;
  tp__wcsp *part = tp__wcsp_create(g->n_nodes);
  int *labels = tp__malloc(most * sizeof *labels);
  tp_cost *costs = tp__malloc(most * sizeof *costs);
  bool ok = part && labels && costs && extract_nodes(d, kept, part, labels, costs) == TP_OK;
  for (int e = 0; ok && e < g->n_edges; e++)
    ok = extract_edge(d, kept, part, e) == TP_OK;
  tp__free(labels);
  tp__free(costs);
  if (ok) {
    part->constant = d->bound;
    return part;
  }
  tp__wcsp_destroy(part);
  return NULL;
}

/* After `node` chose x: bars the strategies of undecided neighbors without an allowed pair with
 * x. */
static void forward_check(const tp__dual *d, int node, int x, bool **barred) {
  const tp__wnode *v = &d->g->nodes[node];
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(d->g, v->edges[i], node);
    for (int y = 0; w.other > node && y < d->g->nodes[w.other].n; y++)
      barred[w.other][y] |= w.table[(size_t)x * w.self + (size_t)y * w.far] >= TP_COST_FORBIDDEN;
  }
}

/* True if x leaves every undecided neighbor a strategy that is not barred. */
static bool leaves_partners(const tp__dual *d, int node, int x, bool *const *barred) {
  const tp__wnode *v = &d->g->nodes[node];
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(d->g, v->edges[i], node);
    if (w.other < node)
      continue;
    bool found = false;
    for (int y = 0; !found && y < d->g->nodes[w.other].n; y++)
      found = !barred[w.other][y] &&
              w.table[(size_t)x * w.self + (size_t)y * w.far] < TP_COST_FORBIDDEN;
    if (!found)
      return false;
  }
  return true;
}

/* sum[x] = the cost of x, with what the neighbors behind have chosen. */
static void sum_behind(const tp__dual *d, int node, const int *at, tp_cost *sum) {
  const tp__wnode *v = &d->g->nodes[node];
  memcpy(sum, d->cost[node], (size_t)v->n * sizeof *sum);
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(d->g, v->edges[i], node);
    if (w.other >= node)
      continue;
    int y = at[w.other];
    const tp_cost *column = w.table + (size_t)y * w.far;
    if (d->is_view) { /* nothing was taken */
      for (int x = 0; x < v->n; x++)
        sum[x] = tp_cost_add(sum[x], column[(size_t)x * w.self]);
      continue;
    }
    int end = end_of(d->g, v->edges[i], node);
    const tp_cost *taken = d->taken[v->edges[i]][end];
    tp_cost far = d->taken[v->edges[i]][1 - end][y];
    for (int x = 0; x < v->n; x++) {
      tp_cost more = column[(size_t)x * w.self];
      more -= more < TP_COST_FORBIDDEN ? taken[x] + far : 0;
      sum[x] = more > 0 ? tp_cost_add(sum[x], more) : sum[x];
    }
  }
}

/* Chooses a strategy by rank, then by cost. Ranks: allowed and leaving partners (0), allowed (1),
 * barred (2). */
static int choose(const tp__dual *d, int node, const int *at, bool *const *barred) {
  const tp__wnode *v = &d->g->nodes[node];
  int best = 0, best_rank = 3;
  tp_cost best_sum = 0;
  sum_behind(d, node, at, d->scratch);
  for (int x = 0; x < v->n; x++) {
    tp_cost sum = d->scratch[x];
    int rank = barred[node][x] ? 2 : 0;
    if (rank == 0 && (best_rank > 0 || sum < best_sum) && !leaves_partners(d, node, x, barred))
      rank = 1;
    if (rank < best_rank || (rank == best_rank && sum < best_sum)) {
      best = x;
      best_rank = rank;
      best_sum = sum;
    }
  }
  return best;
}

/* Counts one random read per candidate pair, from both endpoints. */
static int64_t decoding_work(const tp__wcsp *g) {
  int64_t work = tp__work_of_visits(g);
  for (int v = 0; v < g->n_nodes; v++)
    work += g->nodes[v].alive ? (int64_t)g->nodes[v].n * (2 * g->nodes[v].n_edges + 1) : 0;
  return work;
}

tp_status tp__dual_decode(const tp__dual *d, int *at, int64_t *work) {
  tp__pool pool = {0};
  bool **barred = tp__pool_alloc(&pool, (size_t)d->g->n_nodes, sizeof *barred);
  bool *of_all = tp__pool_calloc(&pool, (size_t)tp__wcsp_strategies(d->g), sizeof *of_all);
  bool ok = barred && of_all;
  for (int v = 0; ok && v < d->g->n_nodes; v++) {
    barred[v] = of_all;
    of_all += d->g->nodes[v].alive ? d->g->nodes[v].n : 0;
  }
  for (int v = 0; ok && v < d->g->n_nodes; v++)
    if (d->g->nodes[v].alive) {
      at[v] = choose(d, v, at, barred);
      forward_check(d, v, at[v], barred);
    }
  *work += decoding_work(d->g);
  tp__pool_release(&pool);
  return ok ? TP_OK : TP_NO_MEMORY;
}

void tp__dual_tight(const tp__dual *d, const int *at, bool *tight) {
  for (int v = 0; v < d->g->n_nodes; v++)
    tight[v] = d->g->nodes[v].alive && d->cost[v][at[v]] == 0;
  for (int e = 0; e < d->g->n_edges; e++) {
    int a = d->g->edges[e].node[0], b = d->g->edges[e].node[1];
    if (a >= 0 && entry(d, e, a, at[a], at[b]) != 0)
      tight[a] = tight[b] = false;
  }
}

tp_status tp__dual_apply(tp__dual *d) {
  tp__wcsp *g = d->g;
  if (d->is_view || (g->cache && !d->passed))
    return TP_OK;
  if (tp__wcsp_unshare(g))
    return TP_NO_MEMORY;
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      memcpy(g->nodes[v].cost, d->cost[v], (size_t)g->nodes[v].n * sizeof *d->cost[v]);
  for (int e = 0; e < g->n_edges; e++) {
    tp__wedge *edge = &g->edges[e];
    if (edge->node[0] < 0)
      continue;
    tp_cost *at = edge->table;
    for (int x = 0; x < g->nodes[edge->node[0]].n; x++)
      for (int y = 0; y < g->nodes[edge->node[1]].n; y++, at++)
        if (*at < TP_COST_FORBIDDEN)
          *at -= d->taken[e][0][x] + d->taken[e][1][y];
  }
  g->constant = d->bound;
  return TP_OK;
}
