/* Local search by changes of one node or of both endpoints of an edge. */
#include "solver/local.h"

#include "support/support.h"

/* The cost of a strategy, given the rest. Forbidden entries are counted separately, so that
 * repairing one of several is an improvement. */
typedef struct score {
  tp_cost cost;
  int n_forbidden;
} score;

typedef struct searcher {
  const tp__wcsp *g;
  int *at;
  int64_t *work;
  tp__control *control;
  int n_steps;
  bool is_over;         /* a stop was requested and the assignment is allowed */
  score *mine, *theirs; /* by strategy, for the two endpoints of an edge */
  bool *settled;        /* by node: no change near it since changes of it last failed to help */
  int64_t now;
  int64_t *changed; /* by node: when it or a neighbor last changed */
  int64_t *tried;   /* by edge: when its endpoints were last changed together in vain */
  score **sums;     /* by node: its scores over all edges, if it is a hub that was rated; or NULL */
  int64_t *summed;  /* by node: when its sums were made */
} searcher;

/* A node with at least this many edges is a hub. Each of its edges is tried, so adding up all of
 * them each time would take the square of their number. */
enum { HUB_EDGES = 16 };

static bool better(score a, score b) {
  return a.n_forbidden != b.n_forbidden ? a.n_forbidden < b.n_forbidden : a.cost < b.cost;
}

static score plus(score a, tp_cost entry) {
  if (entry >= TP_COST_FORBIDDEN)
    return (score){a.cost, a.n_forbidden + 1};
  return (score){tp_cost_add(a.cost, entry), a.n_forbidden};
}

/* out[x]: the cost of strategy x and of its tables to the neighbors' current strategies, without
 * the edge `except`. */
static void add_up(const searcher *s, int node, int except, score *out) {
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
}

/* Returns the sums of a hub over all edges. NULL if memory is short, or if a sum is saturated, from
 * which no term can be subtracted. */
static const score *sums_of(searcher *s, int node) {
  int n = s->g->nodes[node].n;
  bool is_new = !s->sums[node];
  if (is_new)
    s->sums[node] = tp__malloc((size_t)n * sizeof **s->sums);
  if (s->sums[node] && (is_new || s->summed[node] < s->changed[node])) {
    add_up(s, node, -1, s->sums[node]);
    s->summed[node] = s->now;
  }
  bool is_exact = s->sums[node] != NULL;
  for (int x = 0; x < n && is_exact; x++)
    is_exact = s->sums[node][x].cost < TP_COST_FORBIDDEN;
  return is_exact ? s->sums[node] : NULL;
}

/* Like add_up. The work counted does not depend on whether the sums of a hub were known. */
static void rate(searcher *s, int node, int except, score *out) {
  const tp__wnode *v = &s->g->nodes[node];
  *s->work += (int64_t)v->n * (v->n_edges + 1);
  const score *sums = v->n_edges >= HUB_EDGES && except >= 0 ? sums_of(s, node) : NULL;
  if (!sums) {
    add_up(s, node, except, out);
    return;
  }
  tp__wview w = tp__wcsp_view(s->g, except, node);
  const tp_cost *column = w.table + (size_t)s->at[w.other] * w.far;
  for (int x = 0; x < v->n; x++) {
    tp_cost entry = column[(size_t)x * w.self];
    bool is_forbidden = entry >= TP_COST_FORBIDDEN;
    out[x].cost = sums[x].cost - (is_forbidden ? 0 : entry);
    out[x].n_forbidden = sums[x].n_forbidden - is_forbidden;
  }
}

static void unsettle(searcher *s, int node) {
  const tp__wnode *v = &s->g->nodes[node];
  s->settled[node] = false;
  s->changed[node] = ++s->now;
  for (int i = 0; i < v->n_edges; i++) {
    int other = tp__wcsp_view(s->g, v->edges[i], node).other;
    s->settled[other] = false;
    s->changed[other] = s->now;
  }
}

static bool change_one(searcher *s, int node) {
  int best = s->at[node];
  rate(s, node, -1, s->mine);
  for (int x = 0; x < s->g->nodes[node].n; x++)
    if (better(s->mine[x], s->mine[best]))
      best = x;
  if (best == s->at[node])
    return false;
  s->at[node] = best;
  unsettle(s, node);
  return true;
}

/* Returns the minimum of `scores`: no sum with any of them is better than the sum with this one. */
static score min_score(const score *scores, int n) {
  score least = scores[0];
  for (int y = 1; y < n; y++)
    if (better(scores[y], least))
      least = scores[y];
  return least;
}

/* True if a row may contain a better sum. Table entries are not negative, so `mine` plus the
 * minimum of the other endpoint is a lower bound. */
static bool may_improve(score mine, score least, score best) {
  score sum = plus(mine, least.cost);
  sum.n_forbidden += least.n_forbidden;
  return better(sum, best);
}

/* True if the pair was tried before and none of its inputs has changed. Counts the same work as
 * then, so that skipping does not lengthen the search elsewhere. */
static bool tried_before(searcher *s, int edge) {
  const tp__wnode *a = &s->g->nodes[s->g->edges[edge].node[0]],
                  *b = &s->g->nodes[s->g->edges[edge].node[1]];
  if (s->tried[edge] <= s->changed[s->g->edges[edge].node[0]] ||
      s->tried[edge] <= s->changed[s->g->edges[edge].node[1]])
    return false;
  *s->work +=
      (int64_t)a->n * (a->n_edges + 1) + (int64_t)b->n * (b->n_edges + 1) + (int64_t)a->n * b->n;
  return true;
}

static bool change_pair(searcher *s, int edge) {
  const tp__wedge *e = &s->g->edges[edge];
  int a = e->node[0], b = e->node[1], best_a = s->at[a], best_b = s->at[b];
  if (tried_before(s, edge))
    return false;
  rate(s, a, edge, s->mine);
  rate(s, b, edge, s->theirs);
  int columns = s->g->nodes[b].n;
  const tp_cost *entry = e->table;
  score least = min_score(s->theirs, columns);
  score best = plus(plus(s->mine[best_a], s->theirs[best_b].cost),
                    entry[(size_t)best_a * (size_t)columns + (size_t)best_b]);
  best.n_forbidden += s->theirs[best_b].n_forbidden;
  for (int x = 0; x < s->g->nodes[a].n; x++) {
    entry = e->table + (size_t)x * (size_t)columns;
    bool may = may_improve(s->mine[x], least, best);
    for (int y = 0; y < columns && may; y++) {
      score sum = plus(plus(s->mine[x], s->theirs[y].cost), entry[y]);
      sum.n_forbidden += s->theirs[y].n_forbidden;
      if (better(sum, best)) {
        best = sum;
        best_a = x;
        best_b = y;
      }
    }
  }
  *s->work += (int64_t)s->g->nodes[a].n * columns;
  if (best_a == s->at[a] && best_b == s->at[b]) {
    s->tried[edge] = ++s->now;
    return false;
  }
  s->at[a] = best_a;
  s->at[b] = best_b;
  unsettle(s, a);
  unsettle(s, b);
  return true;
}

/* True if the search must stop. Called before every node and edge. */
static bool is_over(searcher *s) {
  enum { POLL_INTERVAL = 256 }; /* polls the clock once per this many calls */
  if (s->n_steps++ % POLL_INTERVAL == 0 && tp__control_poll_must_finish(s->control, *s->work))
    s->is_over |= tp__wcsp_evaluate(s->g, s->at) < TP_COST_FORBIDDEN;
  return s->is_over;
}

static bool sweep_nodes(searcher *s) {
  bool changed = false;
  for (int v = 0; v < s->g->n_nodes && !is_over(s); v++) {
    if (!s->g->nodes[v].alive || s->settled[v])
      continue;
    s->settled[v] = true; /* change_one resets it if the node changes */
    changed |= change_one(s, v);
  }
  return changed;
}

/* Marks changes that are known not to help as tried. */
static void skip_tight(searcher *s, const bool *tight) {
  for (int v = 0; v < s->g->n_nodes; v++)
    s->settled[v] = tight[v];
  for (int e = 0; e < s->g->n_edges; e++) {
    const tp__wedge *edge = &s->g->edges[e];
    s->tried[e] = edge->node[0] >= 0 && tight[edge->node[0]] && tight[edge->node[1]];
  }
  s->now = 1;
}

tp_status tp__wcsp_improve(const tp__wcsp *g, const bool *tight, int64_t work_limit,
                           tp__control *control, int64_t *work, int *at) {
  int most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    most = g->nodes[v].n > most ? g->nodes[v].n : most;
  searcher s = {.g = g, .at = at, .work = work, .control = control};
  s.mine = tp__malloc((size_t)most * sizeof *s.mine);
  s.theirs = tp__malloc((size_t)most * sizeof *s.theirs);
  s.settled = tp__calloc((size_t)g->n_nodes + 1, sizeof *s.settled);
  s.changed = tp__calloc((size_t)g->n_nodes + 1, sizeof *s.changed);
  s.tried = tp__calloc((size_t)g->n_edges + 1, sizeof *s.tried);
  s.sums = tp__calloc((size_t)g->n_nodes + 1, sizeof *s.sums);
  s.summed = tp__calloc((size_t)g->n_nodes + 1, sizeof *s.summed);
  bool ok = s.mine && s.theirs && s.settled && s.changed && s.tried && s.sums && s.summed;
  tp_status status = ok ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK)
    skip_tight(&s, tight);
  for (bool changed = status == TP_OK; changed && *work < work_limit && !is_over(&s);) {
    while (sweep_nodes(&s) && *work < work_limit) {
    }
    changed = false;
    for (int e = 0; e < g->n_edges && *work < work_limit && !is_over(&s); e++)
      if (g->edges[e].node[0] >= 0)
        changed |= change_pair(&s, e);
  }
  tp__free(s.mine);
  tp__free(s.theirs);
  tp__free(s.settled);
  tp__free(s.changed);
  tp__free(s.tried);
  for (int v = 0; s.sums && v < g->n_nodes; v++)
    tp__free(s.sums[v]);
  tp__free(s.sums);
  tp__free(s.summed);
  return status;
}
