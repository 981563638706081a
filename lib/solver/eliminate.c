/* Bucket elimination. Eliminating node v replaces all functions that mention it by one table over
 * its scope: the minimum, over the strategies of v, of their sum. A table is laid out with its
 * scope latest-eliminated first. The node that will consume it is therefore innermost, and every
 * function of a bucket is read contiguously along x, the strategy of its node.
 *
 * The scope is iterated like an odometer, outermost position first. Partial sums acc[d][x] hold the
 * functions fixed by the positions before d, so the innermost loop adds only the functions that
 * mention the innermost position. */
#include "solver/eliminate.h"

#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { POLL_INTERVAL = 1 << 20 }; /* entries between two polls of the clock */

typedef struct function {
  const tp_cost *at;    /* entry at the current scope values; contiguous along x */
  const size_t *stride; /* by scope position; 0 if the function does not depend on it */
  int level;            /* deepest position it depends on; -1: none */
} function;

typedef struct bucket {
  int n; /* strategies of the node */
  int n_scope;
  int *sizes; /* strategies by scope position */
  int n_functions;
  function *functions; /* sorted by level */
  size_t *first;       /* n_scope + 1 entries: functions of level l are first[l] .. first[l + 1] */
  tp_cost *acc;        /* (n_scope + 2) rows of n: row d + 1 holds the sums of position d */
  tp_cost *out;
  unsigned char *argmin; /* one byte per entry, two if n > 256 */
  struct elimination *whole;
} bucket;

typedef struct elimination {
  const tp__wcsp *g;
  const tp__order *order;
  tp_cost **table;        /* by elimination position: produced there, not consumed yet */
  unsigned char **argmin; /* by elimination position */
  /* by elimination position: the positions whose tables it consumes */
  int **pending, *n_pending, *pending_capacity;
  tp__control *control;
  int64_t work, since; /* spent; and since the last poll of the clock */
  bool stopped;        /* by the clock */
} elimination;

static inline void add_clamped(int n, const tp_cost *a, const tp_cost *b, tp_cost *sum) {
  for (int x = 0; x < n; x++) {
    tp_cost s = a[x] + b[x];
    sum[x] = s < TP_COST_FORBIDDEN ? s : TP_COST_FORBIDDEN;
  }
}

/* Returns the sum of acc and the functions [from, to), computed in `sum`; acc itself if there are
 * none. */
static const tp_cost *accumulate(bucket *b, const tp_cost *acc, size_t from, size_t to,
                                 tp_cost *sum) {
  for (size_t f = from; f < to; f++) {
    add_clamped(b->n, acc, b->functions[f].at, sum);
    acc = sum;
  }
  return acc;
}

static void emit(bucket *b, const tp_cost *acc, const tp_cost *last) {
  tp_cost best = TP_COST_FORBIDDEN;
  int arg = 0;
  for (int x = 0; x < b->n; x++) {
    tp_cost s = acc[x] + last[x];
    arg = s < best ? x : arg;
    best = s < best ? s : best;
  }
  *b->out++ = best;
  *b->argmin++ = (unsigned char)(arg & 255);
  if (b->n > 256)
    *b->argmin++ = (unsigned char)(arg >> 8);
}

/* True if the search must stop. `entries` is the work that comes next. */
static bool is_stopped(elimination *e, int64_t entries) {
  e->since += entries;
  if (e->since < POLL_INTERVAL)
    return e->stopped;
  e->work += e->since;
  e->since = 0;
  return e->stopped |= tp__control_poll_must_finish(e->control, e->work);
}

/* Iterates over all values of the positions from `d` on. `acc` is the sum of all functions fixed by
 * earlier positions. */
static void walk(bucket *b, int d, const tp_cost *acc) {
  size_t from = b->first[d], to = b->first[d + 1];
  bool innermost = d == b->n_scope - 1;
  if (is_stopped(b->whole, innermost ? (int64_t)b->sizes[d] * b->n : 0))
    return;
  for (int i = 0; i < b->sizes[d]; i++) {
    tp_cost *row = b->acc + (size_t)(d + 1) * (size_t)b->n;
    if (innermost) /* some function mentions every position, so to > from */
      emit(b, accumulate(b, acc, from, to - 1, row), b->functions[to - 1].at);
    else
      walk(b, d + 1, accumulate(b, acc, from, to, row));
    /* functions of lower levels do not depend on d */
    for (size_t f = from; f < (size_t)b->n_functions; f++)
      b->functions[f].at += b->functions[f].stride[d];
  }
  for (size_t f = from; f < (size_t)b->n_functions; f++)
    b->functions[f].at -= b->functions[f].stride[d] * (size_t)b->sizes[d];
}

/* Adds the edges to later nodes as functions. The bucket then also gets the pending tables.
 * Everything but `out` and `argmin` is in `pool`. */
static tp_status add_edges(const elimination *e, int node, const int *place, bucket *b,
                           tp__pool *pool) {
  const tp__wnode *v = &e->g->nodes[node];
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(e->g, v->edges[i], node);
    if (e->order->position[w.other] < e->order->position[node])
      continue;
    size_t *stride = tp__pool_calloc(pool, (size_t)b->n_scope, sizeof *stride);
    if (!stride)
      return TP_NO_MEMORY;
    int level = place[w.other];
    const tp_cost *table = w.table;
    stride[level] = w.far;
    if (w.self != 1) { /* transpose, because x must be innermost */
      size_t far = (size_t)e->g->nodes[w.other].n, n = (size_t)b->n;
      tp_cost *turned = tp__pool_alloc(pool, far * n, sizeof *turned);
      if (!turned)
        return TP_NO_MEMORY;
      for (size_t y = 0; y < far; y++)
        for (size_t x = 0; x < n; x++)
          turned[y * n + x] = table[x * w.self + y * w.far];
      table = turned;
      stride[level] = n;
    }
    b->functions[b->n_functions++] = (function){table, stride, level};
  }
  return TP_OK;
}

static tp_status add_tables(const elimination *e, int position, const int *place, bucket *b,
                            tp__pool *pool) {
  const tp__order *o = e->order;
  for (int i = 0; i < e->n_pending[position]; i++) {
    int from = e->pending[position][i];
    size_t *stride = tp__pool_calloc(pool, (size_t)b->n_scope, sizeof *stride);
    if (!stride)
      return TP_NO_MEMORY;
    size_t step = (size_t)b->n; /* its innermost position is this bucket's node */
    int level = -1;
    for (size_t k = o->scope_at[from + 1] - 1; k-- > o->scope_at[from];) {
      int at = place[o->scope[k]];
      stride[at] = step;
      level = at > level ? at : level;
      step *= (size_t)e->g->nodes[o->scope[k]].n;
    }
    b->functions[b->n_functions++] = (function){e->table[from], stride, level};
  }
  return TP_OK;
}

static int compare_levels(const void *a, const void *b) {
  const function *f = a, *g = b;
  return (f->level > g->level) - (f->level < g->level);
}

static tp_status fill_bucket(const elimination *e, int position, int *place, bucket *b,
                             tp__pool *pool) {
  const tp__order *o = e->order;
  int node = o->node[position];
  const tp__wnode *v = &e->g->nodes[node];
  const int *scope = o->scope + o->scope_at[position];
  b->n = v->n;
  b->n_scope = (int)(o->scope_at[position + 1] - o->scope_at[position]);
  b->sizes = tp__pool_alloc(pool, (size_t)b->n_scope, sizeof *b->sizes);
  b->functions = tp__pool_alloc(pool, (size_t)v->n_edges + (size_t)e->n_pending[position] + 1,
                                sizeof *b->functions);
  b->first = tp__pool_alloc(pool, (size_t)b->n_scope + 1, sizeof *b->first);
  b->acc = tp__pool_alloc(pool, ((size_t)b->n_scope + 2) * (size_t)b->n, sizeof *b->acc);
  if (!b->sizes || !b->functions || !b->first || !b->acc)
    return TP_NO_MEMORY;
  for (int d = 0; d < b->n_scope; d++) {
    b->sizes[d] = e->g->nodes[scope[d]].n;
    place[scope[d]] = d;
  }
  if (add_edges(e, node, place, b, pool) || add_tables(e, position, place, b, pool))
    return TP_NO_MEMORY;
  if (b->n_functions)
    qsort(b->functions, (size_t)b->n_functions, sizeof *b->functions, compare_levels);
  for (int f = 0, level = 0; level <= b->n_scope; level++) {
    while (f < b->n_functions && b->functions[f].level < level)
      f++;
    b->first[level] = (size_t)f;
  }
  return TP_OK;
}

/* Queues the finished table at the node that consumes it, or adds it to the total. */
static tp_status queue_table(elimination *e, int position, tp_cost *total) {
  const tp__order *o = e->order;
  size_t end = o->scope_at[position + 1];
  if (end == o->scope_at[position]) {
    *total = tp_cost_add(*total, e->table[position][0]);
    tp__free(e->table[position]);
    e->table[position] = NULL;
    return TP_OK;
  }
  int to = o->position[o->scope[end - 1]];
  if (e->n_pending[to] == e->pending_capacity[to]) {
    int capacity = e->pending_capacity[to] ? e->pending_capacity[to] * 2 : 4;
    int *more = tp__realloc(e->pending[to], (size_t)capacity, sizeof *more);
    if (!more)
      return TP_NO_MEMORY;
    e->pending[to] = more;
    e->pending_capacity[to] = capacity;
  }
  e->pending[to][e->n_pending[to]++] = position;
  return TP_OK;
}

static tp_status process(elimination *e, int position, int *place, tp_cost *total) {
  tp__pool pool = {0};
  bucket b = {.whole = e};
  tp_status status = fill_bucket(e, position, place, &b, &pool);
  size_t entries = 1;
  for (int d = 0; status == TP_OK && d < b.n_scope; d++)
    entries *= (size_t)b.sizes[d];
  if (status == TP_OK) {
    e->table[position] = b.out = tp__malloc(entries * sizeof *b.out);
    e->argmin[position] = b.argmin = tp__malloc(entries * (b.n > 256 ? 2 : 1));
    status = b.out && b.argmin ? TP_OK : TP_NO_MEMORY;
  }
  if (status == TP_OK) {
    const tp_cost *cost = e->g->nodes[e->order->node[position]].cost;
    tp_cost *base = b.acc;
    memcpy(base, cost, (size_t)b.n * sizeof *base);
    accumulate(&b, base, 0, b.first[0], base); /* level -1: tables over this node alone */
    if (b.n_scope) {
      walk(&b, 0, base);
    } else {
      tp_cost *zero = base + b.n;
      memset(zero, 0, (size_t)b.n * sizeof *zero);
      emit(&b, base, zero);
    }
    status = queue_table(e, position, total);
    is_stopped(e, (int64_t)entries);
  }
  for (int i = 0; i < e->n_pending[position]; i++) {
    tp__free(e->table[e->pending[position][i]]);
    e->table[e->pending[position][i]] = NULL;
  }
  tp__pool_release(&pool);
  return status;
}

/* Recovers the assignment backwards: the scope of a node is decided before the node. `at` has
 * strategies by node of the graph. */
static void recover(const elimination *e, int *at, int *choices) {
  const tp__order *o = e->order;
  for (int p = o->n - 1; p >= 0; p--) {
    const tp__wnode *v = &e->g->nodes[o->node[p]];
    size_t entry = 0;
    for (size_t k = o->scope_at[p]; k < o->scope_at[p + 1]; k++)
      entry = entry * (size_t)e->g->nodes[o->scope[k]].n + (size_t)at[o->scope[k]];
    const unsigned char *arg = e->argmin[p] + entry * (v->n > 256 ? 2 : 1);
    at[o->node[p]] = arg[0] + (v->n > 256 ? arg[1] * 256 : 0);
    choices[o->node[p]] = v->label[at[o->node[p]]];
  }
}

tp_status tp__wcsp_eliminate(const tp__wcsp *g, const tp__order *order, tp__control *control,
                             int64_t work, tp_cost *cost, int *choices, bool *done) {
  size_t n = (size_t)order->n + 1;
  elimination e = {.g = g, .order = order, .control = control, .work = work};
  e.table = tp__calloc(n, sizeof *e.table);
  e.argmin = tp__calloc(n, sizeof *e.argmin);
  e.pending = tp__calloc(n, sizeof *e.pending);
  e.n_pending = tp__calloc(n, sizeof *e.n_pending);
  e.pending_capacity = tp__calloc(n, sizeof *e.pending_capacity);
  /* by node: its position in the current scope, later its strategy */
  int *place = tp__calloc((size_t)g->n_nodes + 1, sizeof *place);
  bool ready = e.table && e.argmin && e.pending && e.n_pending && e.pending_capacity && place;
  tp_status status = ready ? TP_OK : TP_NO_MEMORY;
  tp_cost total = g->constant;
  for (int p = 0; status == TP_OK && !e.stopped && p < order->n; p++)
    status = process(&e, p, place, &total);
  if (status == TP_OK) {
    *done = !e.stopped;
    if (*done && total < TP_COST_FORBIDDEN)
      recover(&e, place, choices);
    *cost = *done ? total : g->constant;
  }
  for (int p = 0; ready && p < order->n; p++) {
    tp__free(e.table[p]);
    tp__free(e.argmin[p]);
    tp__free(e.pending[p]);
  }
  tp__free(e.table);
  tp__free(e.argmin);
  tp__free(e.pending);
  tp__free(e.n_pending);
  tp__free(e.pending_capacity);
  tp__free(place);
  return status;
}
