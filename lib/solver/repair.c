/* Local search with weighted excess of memory. A unit beyond the capacity costs a weight, initially
 * the price of the time. If a local optimum still exceeds the capacity, the weights grow. Once the
 * assignment fits, excess is worse than a forbidden entry. */
#include "solver/repair.h"

#include "solver/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
  MAX_ROUNDS = 24,
  POLL_INTERVAL = 256, /* nodes or edges between two polls of the clock */
  MAX_PAIRED = 256,    /* neighbors */
  BLOCK = 32           /* times; in most blocks the capacity suffices for every strategy */
};
#define GROWTH 3.0

/* Forbidden entries are counted separately, so that repairing one of several is an improvement. */
typedef struct score {
  double cost;
  int64_t n_forbidden;
} score;

/* Once the assignment fits, any excess is worse than any number of forbidden entries. Remaining
 * forbidden entries must not be repaired by exceeding the capacity. */
#define BARRED ((int64_t)1 << 32)

typedef struct settler {
  const tp__wcsp *g;
  int *at;
  tp__int128 *used;
  tp__int128 *min_left; /* by block of times: minimum of the capacity minus usage */
  double *weight;       /* by time */
  bool strict;          /* excess counts as forbidden */
  tp__search *search;
  score *mine, *theirs; /* by strategy, for the two endpoints of an edge */
  bool *settled;        /* by node: no change near it since changes of it last failed to help */
  bool *settled_pair;   /* by edge */
} settler;

static bool better(score a, score b) {
  return a.n_forbidden != b.n_forbidden ? a.n_forbidden < b.n_forbidden : a.cost < b.cost - 1e-9;
}

static score plus(score a, tp_cost entry) {
  if (entry >= TP_COST_FORBIDDEN)
    return (score){a.cost, a.n_forbidden + 1};
  return (score){a.cost + (double)entry, a.n_forbidden};
}

static score sum_of(score a, score b) {
  return (score){a.cost + b.cost, a.n_forbidden + b.n_forbidden};
}

/* Updates the minimum free capacity of each block of times from `first` to `last`. */
static void refresh(settler *s, int first, int last) {
  const tp__wmemory *memory = s->g->memory;
  for (int from = first / BLOCK * BLOCK; from < last; from += BLOCK) {
    int end = from + BLOCK < memory->n_times ? from + BLOCK : memory->n_times;
    tp__int128 least = memory->capacity[from] - s->used[from];
    for (int t = from + 1; t < end; t++)
      least = memory->capacity[t] - s->used[t] < least ? memory->capacity[t] - s->used[t] : least;
    s->min_left[from / BLOCK] = least;
  }
}

static void move(settler *s, int node, int x, int sign) {
  const tp__wnode *v = &s->g->nodes[node];
  tp__memory_add(s->g, node, x, sign, s->used);
  for (int i = 0; i < v->n_loads; i++)
    refresh(s, v->loads[i].first, v->loads[i].last);
}

/* Charges one time of a load. `left` is the free capacity without the node. */
static void charge_time(const settler *s, const tp__live_usage *load, int n, int t, tp__int128 left,
                        score *out) {
  tp__int128 over = left < 0 ? -left : 0; /* exceeded in any case */
  for (int x = 0; x < n; x++) {
    tp__int128 more = load->usage[x] - left - over;
    if (more <= 0)
      continue;
    out[x].cost += s->weight[t] * (double)more;
    out[x].n_forbidden += s->strict ? BARRED : 0;
  }
  s->search->work += n;
}

/* Adds to out[x] the cost of the excess that strategy x of the node causes. `own` is its strategy
 * in `used`; -1: not in it. */
static void charge(const settler *s, int node, int own, score *out) {
  const tp__wnode *v = &s->g->nodes[node];
  for (int i = 0; i < v->n_loads; i++) {
    const tp__live_usage *load = &v->loads[i];
    int64_t most = tp__memory_max_load(v, load), mine = own < 0 ? 0 : load->usage[own];
    for (int t = load->first; t < load->last;) {
      int end = (t / BLOCK + 1) * BLOCK < load->last ? (t / BLOCK + 1) * BLOCK : load->last;
      s->search->work++;
      if (s->min_left[t / BLOCK] + mine >= most) {
        t = end;
        continue;
      }
      for (; t < end; t++) {
        tp__int128 left = s->g->memory->capacity[t] - s->used[t] + mine;
        if (most > left)
          charge_time(s, load, v->n, t, left, out);
      }
    }
  }
}

/* out[x]: the cost of x, of its tables to the neighbors' current strategies except along `except`,
 * and of its memory. */
static void rate(settler *s, int node, int own, int except, score *out) {
  const tp__wnode *v = &s->g->nodes[node];
  for (int x = 0; x < v->n; x++)
    out[x] = plus((score){0}, v->cost[x]);
  for (int i = 0; i < v->n_edges; i++) {
    if (v->edges[i] == except)
      continue;
    tp__wview w = tp__wcsp_view(s->g, v->edges[i], node);
    const tp_cost *column = w.table + (size_t)s->at[w.other] * w.far;
    for (int x = 0; x < v->n; x++)
      out[x] = plus(out[x], column[(size_t)x * w.self]);
  }
  s->search->work += (int64_t)v->n * (v->n_edges + 1);
  charge(s, node, own, out);
}

/* Marks the node, its edges and its neighbors for another attempt. The other edges of the neighbors
 * are not marked: around a hub, that would cost more than it finds. */
static void unsettle(settler *s, int node) {
  const tp__wnode *v = &s->g->nodes[node];
  s->settled[node] = false;
  for (int i = 0; i < v->n_edges; i++)
    s->settled[tp__wcsp_view(s->g, v->edges[i], node).other] = s->settled_pair[v->edges[i]] = false;
}

static bool change_one(settler *s, int node) {
  int best = s->at[node];
  rate(s, node, best, -1, s->mine);
  for (int x = 0; x < s->g->nodes[node].n; x++)
    if (better(s->mine[x], s->mine[best]))
      best = x;
  if (best == s->at[node])
    return false;
  tp__memory_add(s->g, node, s->at[node], -1, s->used);
  move(s, node, best, 1);
  s->at[node] = best;
  unsettle(s, node);
  return true;
}

/* Returns the exact score of strategies x and y at both endpoints of an edge. Neither is in
 * `used`. */
static score rate_pair(settler *s, int a, int b, int x, int y, tp_cost entry, int edge) {
  rate(s, a, -1, edge, s->mine);
  move(s, a, x, 1);
  rate(s, b, -1, edge, s->theirs);
  move(s, a, x, -1);
  return plus(sum_of(s->mine[x], s->theirs[y]), entry);
}

/* The least cost, and the least number of forbidden entries, of n scores. */
static score least_of(const score *scores, int n) {
  score least = scores[0];
  for (int i = 1; i < n; i++) {
    least.cost = scores[i].cost < least.cost ? scores[i].cost : least.cost;
    least.n_forbidden =
        scores[i].n_forbidden < least.n_forbidden ? scores[i].n_forbidden : least.n_forbidden;
  }
  return least;
}

/* Finds the best pair of strategies by their separate current scores. Skips a strategy that is not
 * better even beside the least score at the other end: entries are not negative. */
static void best_pair(settler *s, const tp__wedge *e, int *best_a, int *best_b) {
  int rows = s->g->nodes[e->node[0]].n, columns = s->g->nodes[e->node[1]].n;
  score best = {0, INT64_MAX}, least = least_of(s->theirs, columns);
  for (int x = 0; x < rows; x++) {
    if (!better(sum_of(s->mine[x], least), best))
      continue;
    const tp_cost *row = e->table + (size_t)x * (size_t)columns;
    s->search->work += columns;
    for (int y = 0; y < columns; y++) {
      score sum = plus(sum_of(s->mine[x], s->theirs[y]), row[y]);
      if (better(sum, best)) {
        best = sum;
        *best_a = x;
        *best_b = y;
      }
    }
  }
  s->search->work += rows;
}

/* Changes both endpoints of an edge at once. Their memory is first scored separately, which is
 * inaccurate where they live at the same time, so the best pair is then scored exactly. Skips hubs,
 * where this costs more than it finds. */
static bool change_pair(settler *s, int edge) {
  const tp__wedge *e = &s->g->edges[edge];
  int a = e->node[0], b = e->node[1], now_a = s->at[a], now_b = s->at[b], best_a = now_a,
      best_b = now_b;
  size_t columns = (size_t)s->g->nodes[b].n;
  if (s->g->nodes[a].n_edges > MAX_PAIRED || s->g->nodes[b].n_edges > MAX_PAIRED)
    return false;
  rate(s, a, now_a, edge, s->mine);
  rate(s, b, now_b, edge, s->theirs);
  best_pair(s, e, &best_a, &best_b);
  if (best_a == now_a && best_b == now_b)
    return false;
  move(s, a, now_a, -1);
  move(s, b, now_b, -1);
  score now =
      rate_pair(s, a, b, now_a, now_b, e->table[(size_t)now_a * columns + (size_t)now_b], edge);
  score then =
      rate_pair(s, a, b, best_a, best_b, e->table[(size_t)best_a * columns + (size_t)best_b], edge);
  bool moves = better(then, now);
  if (moves) {
    s->at[a] = best_a;
    s->at[b] = best_b;
    unsettle(s, a);
    unsettle(s, b);
  }
  move(s, a, s->at[a], 1);
  move(s, b, s->at[b], 1);
  return moves;
}

/* Runs to a local optimum. */
static void settle(settler *s) {
  const tp__wcsp *g = s->g;
  memset(s->settled, 0, (size_t)g->n_nodes * sizeof *s->settled);
  memset(s->settled_pair, 0, (size_t)g->n_edges * sizeof *s->settled_pair);
  for (bool changed = true; changed && !tp__search_spent(s->search);) {
    changed = false;
    s->search->work += g->n_nodes + g->n_edges;
    for (int v = 0;
         v < g->n_nodes && !(v % POLL_INTERVAL == POLL_INTERVAL - 1 && tp__search_spent(s->search));
         v++)
      if (g->nodes[v].alive && !s->settled[v]) {
        s->settled[v] = true; /* change_one resets it if the node changes */
        changed |= change_one(s, v);
      }
    for (int e = 0; e < g->n_edges && !changed &&
                    !(e % POLL_INTERVAL == POLL_INTERVAL - 1 && tp__search_spent(s->search));
         e++)
      if (g->edges[e].node[0] >= 0 && !s->settled_pair[e]) {
        s->settled_pair[e] = true;
        changed |= change_pair(s, e);
      }
  }
}

void tp__usage_of(const tp__wcsp *g, const int *at, tp__int128 *used) {
  /* First computes the change at each time. A load may end after the last time. */
  int n_times = g->memory->n_times;
  memset(used, 0, (size_t)n_times * sizeof *used);
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    for (int i = 0; node->alive && i < node->n_loads; i++) {
      const tp__live_usage *load = &node->loads[i];
      used[load->first] += load->usage[at[v]];
      if (load->last < n_times)
        used[load->last] -= load->usage[at[v]];
    }
  }
  for (int t = 1; t < n_times; t++)
    used[t] += used[t - 1];
}

tp__int128 tp__excess_of(const tp__wcsp *g, const tp__int128 *used) {
  tp__int128 excess = 0;
  for (int t = 0; t < g->memory->n_times; t++)
    if (used[t] > g->memory->capacity[t])
      excess += used[t] - g->memory->capacity[t];
  return excess;
}

/* Sets the weights to the prices, plus a term of the size of the costs for the whole capacity, in
 * case there are no prices yet. */
static void first_weights(settler *s) {
  const tp__wcsp *g = s->g;
  double most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    for (int x = 0; g->nodes[v].alive && x < g->nodes[v].n; x++)
      if (g->nodes[v].cost[x] < TP_COST_FORBIDDEN && (double)g->nodes[v].cost[x] > most)
        most = (double)g->nodes[v].cost[x];
  for (int t = 0; t < g->memory->n_times; t++) {
    double capacity = g->memory->capacity[t] > 0 ? (double)g->memory->capacity[t] : 1;
    s->weight[t] = g->memory->price[t] * 1.5 + most * 1e-3 / capacity;
  }
}

tp_status tp__repair(tp__search *search, const tp__wcsp *g, int *at, tp__int128 *used,
                     tp__int128 *excess) {
  int most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    most = g->nodes[v].n > most ? g->nodes[v].n : most;
  tp__pool pool = {0};
  settler s = {.g = g, .at = at, .used = used, .search = search};
  s.min_left = tp__pool_alloc(&pool, (size_t)g->memory->n_times / BLOCK + 1, sizeof *s.min_left);
  s.weight = tp__pool_alloc(&pool, (size_t)g->memory->n_times, sizeof *s.weight);
  s.mine = tp__pool_alloc(&pool, (size_t)most, sizeof *s.mine);
  s.theirs = tp__pool_alloc(&pool, (size_t)most, sizeof *s.theirs);
  s.settled = tp__pool_alloc(&pool, (size_t)g->n_nodes, sizeof *s.settled);
  s.settled_pair = tp__pool_alloc(&pool, (size_t)g->n_edges, sizeof *s.settled_pair);
  bool ok = s.min_left && s.weight && s.mine && s.theirs && s.settled && s.settled_pair;
  if (ok) {
    tp__usage_of(g, at, used);
    refresh(&s, 0, g->memory->n_times);
    first_weights(&s);
    *excess = tp__excess_of(g, used);
    for (int round = 0; *excess > 0 && round < MAX_ROUNDS && !tp__search_spent(search); round++) {
      settle(&s);
      *excess = tp__excess_of(g, used);
      for (int t = 0; t < g->memory->n_times; t++)
        if (used[t] > g->memory->capacity[t])
          s.weight[t] *= GROWTH;
    }
    s.strict = *excess == 0;
    if (s.strict)
      settle(&s);
  }
  tp__pool_release(&pool);
  return ok ? TP_OK : TP_NO_MEMORY;
}
