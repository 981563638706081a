/* Dead-end elimination with Goldstein's criterion, for all pairs of strategies of a node. */
#include "solver/dominance.h"

#include "solver/memory.h"
#include "support/support.h"
#include "support/vectors.h"

#include <math.h>
#include <string.h>

/* Below this number of strategies, calls of vector functions take longer than they save. */
enum { MIN_VECTOR = 8 };

static inline void find_least_inline(const tp_cost *column, int n_far, int n,
                                     tp_cost *restrict least, tp_cost *restrict at) {
  for (int x = 0; x < n; x++) {
    least[x] = column[x];
    at[x] = 0;
  }
  for (int k = 1; k < n_far; k++) {
    column += n;
    for (int x = 0; x < n; x++) {
      at[x] = column[x] < least[x] ? k : at[x];
      least[x] = column[x] < least[x] ? column[x] : least[x];
    }
  }
}

VECTORS static void find_least(const tp_cost *column, int n_far, int n, tp_cost *restrict least,
                               tp_cost *restrict at) {
  find_least_inline(column, n_far, n, least, at);
}

/* Adds the differences to of_x, `count` times. */
static inline void add_differences_inline(const tp_cost *column, tp_cost of_x, double count, int n,
                                          double *restrict gain, double *restrict size) {
  for (int y = 0; y < n; y++) {
    double more = count * (double)(column[y] - of_x);
    gain[y] += more;
    size[y] += fabs(more);
  }
}

VECTORS_OF_DOUBLES static void add_differences(const tp_cost *column, tp_cost of_x, double count,
                                               int n, double *restrict gain,
                                               double *restrict size) {
  add_differences_inline(column, of_x, count, n, gain, size);
}

/* Returns whether an entry is forbidden for y but not for x. Otherwise *most is the largest
 * difference of y to x among the entries that are allowed for x. */
VECTORS static bool compare_rows(const tp_cost *of_y, const tp_cost *of_x, int n, tp_cost *most) {
  tp_cost worst = -TP_COST_FORBIDDEN, dearest = 0;
  for (int k = 0; k < n; k++) {
    tp_cost more = of_x[k] < TP_COST_FORBIDDEN ? of_y[k] - of_x[k] : -TP_COST_FORBIDDEN,
            paid = of_x[k] < TP_COST_FORBIDDEN ? of_y[k] : 0;
    worst = more > worst ? more : worst;
    dearest = paid > dearest ? paid : dearest;
  }
  *most = worst;
  return dearest >= TP_COST_FORBIDDEN;
}

/* Copies the table from[n_rows][n_columns] transposed. */
static void transpose(const tp_cost *from, int n_rows, int n_columns, tp_cost *to) {
  for (int k = 0; k < n_columns; k++, to += n_rows)
    for (int x = 0; x < n_rows; x++)
      to[x] = from[(size_t)x * (size_t)n_columns + (size_t)k];
}

/* Lists the edges, those with one table once. Equal layers share tables, so the many edges of a
 * hub have few. */
static tp_status list_neighbors(tp__dominance *d) {
  const tp__wcsp *g = d->r->g;
  int n_edges = d->v->n_edges, n_slots = 4;
  bool is_hub = n_edges > TP__FEW_EDGES;
  while (n_slots < 2 * n_edges)
    n_slots *= 2;
  int *slots = is_hub ? tp__calloc((size_t)n_slots, sizeof *slots) : NULL;
  d->neighbors = is_hub ? tp__malloc((size_t)n_edges * sizeof *d->neighbors) : d->few;
  bool ok = d->neighbors && (slots || !is_hub);
  for (int i = 0; ok && i < n_edges; i++) {
    tp__wview w = tp__wcsp_view(g, d->v->edges[i], d->node);
    size_t at = is_hub ? (((size_t)w.table >> 4) * 0x9e3779b97f4a7c15u >> 32) : 0;
    int found = 0;
    while (is_hub && (found = slots[at &= (size_t)n_slots - 1]) &&
           (d->neighbors[found - 1].view.table != w.table ||
            d->neighbors[found - 1].view.self != w.self))
      at++;
    if (found) {
      d->neighbors[found - 1].count++;
      continue;
    }
    d->neighbors[d->n++] = (tp__neighbors){.view = w, .n_far = g->nodes[w.other].n, .count = 1};
    if (is_hub)
      slots[at] = d->n;
  }
  tp__free(slots);
  if (!ok)
    tp__dominance_close(d);
  return ok ? TP_OK : TP_NO_MEMORY;
}

tp_status tp__dominance_open(tp__reducer *r, int node, tp__dominance *d) {
  d->r = r;
  d->v = &r->g->nodes[node];
  d->node = node;
  d->n = 0;
  TP_TRY(list_neighbors(d));
  size_t n = (size_t)d->v->n, room = 2 * n;
  for (int i = 0; i < d->n; i++)
    room += n * (2 + (size_t)d->neighbors[i].n_far);
  tp_cost *scratch = tp__reducer_scratch(r, room);
  if (!scratch) {
    tp__dominance_close(d);
    return TP_NO_MEMORY;
  }
  d->gain = (double *)(void *)scratch;
  d->size = d->gain + n;
  scratch += 2 * n;
  for (int i = 0; i < d->n; i++) {
    tp__neighbors *e = &d->neighbors[i];
    e->least = scratch;
    e->at = scratch + n;
    e->room = scratch + 2 * n;
    scratch = e->room + n * (size_t)e->n_far;
    if (e->view.self == 1) {
      e->columns = e->view.table;
    } else {
      e->rows = e->view.table;
      transpose(e->rows, d->v->n, e->n_far, e->room);
      e->columns = e->room;
    }
    (d->v->n < MIN_VECTOR ? find_least_inline : find_least)(e->columns, e->n_far, d->v->n, e->least,
                                                            e->at);
  }
  return TP_OK;
}

void tp__dominance_close(tp__dominance *d) {
  if (d->neighbors != d->few)
    tp__free(d->neighbors);
}

/* For every strategy y, computes by how much it costs more than x if each neighbor chooses what is
 * cheapest for x (`gain`, negative if y is cheaper). It is a sum of doubles, whose rounding error
 * is at most a tiny part of the sum of the absolute values (`size`). */
void tp__dominance_compare(tp__dominance *d, int x) {
  const tp__wnode *v = d->v;
  size_t n = (size_t)v->n;
  memset(d->gain, 0, n * sizeof *d->gain);
  memset(d->size, 0, n * sizeof *d->size);
  void (*add)(const tp_cost *, tp_cost, double, int, double *restrict, double *restrict) =
      v->n < MIN_VECTOR ? add_differences_inline : add_differences;
  add(v->cost, v->cost[x], 1, v->n, d->gain, d->size);
  for (int i = 0; i < d->n; i++) {
    const tp__neighbors *e = &d->neighbors[i];
    add(e->columns + (size_t)e->at[x] * n, e->least[x], e->count, v->n, d->gain, d->size);
  }
}

/* The comparison in the cheapest column of x refutes most pairs at once. */
bool tp__dominates(tp__dominance *d, int y, int x) {
  const double error = 1e-9; /* far above that of a sum over a million edges */
  if (d->gain[y] > error * d->size[y] || !tp__memory_dominates(d->r->g, d->node, y, x))
    return false;
  /* Cost differences, summed over the edges of a hub, may exceed 64 bits. */
  tp__int128 gain = (tp__int128)d->v->cost[y] - d->v->cost[x];
  for (int i = 0; i < d->n; i++) {
    tp__neighbors *e = &d->neighbors[i];
    size_t n_far = (size_t)e->n_far;
    tp_cost worst;
    if (!e->rows) {
      transpose(e->columns, e->n_far, d->v->n, e->room);
      e->rows = e->room;
    }
    if (compare_rows(e->rows + (size_t)y * n_far, e->rows + (size_t)x * n_far, e->n_far, &worst))
      return false;
    *d->r->work += (int64_t)e->n_far * e->count;
    gain += (tp__int128)worst * e->count;
  }
  return gain <= 0;
}
