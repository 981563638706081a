/* Sequential message passing as in dual.c, but visits one node per class. Near the border of the
 * repeated part, the edges of a node may belong to the same class as edges farther inside. The
 * nodes farther inside then send those messages. */
#include "solver/lift.h"

#include "solver/lift_classes.h"
#include "support/vectors.h"

#include <stdlib.h>
#include <string.h>

enum {
  MIN_NODES = 500, /* smaller graphs are solved quickly without lifting */
  REPEATED = 2,    /* minimum average number of nodes per class */
  MAX_PASSES = 200,
  /* stop after this many passes that gain less than a hundredth of the total gain */
  IDLE_PASSES = 2,
  MAX_SWEEPS = 8 /* in one direction, before the other direction */
};

/* Radii of the surroundings, in edges, that make nodes equal, tried in this order. The smaller one
 * has a few classes, whose messages soon gain most of the bound; the larger one tells the layers
 * near the borders apart, and starts from these messages. */
enum { N_RADII = 2 };
static const int RADII[N_RADII] = {3, 5};

/* Finite numbers stay within +-SAFE, so sums of a few of them stay clear of forbidden costs. */
#define SAFE ((tp_cost)1 << 54)

/* The cost moved from the tables of a class of edges to the strategies of one endpoint. */
typedef struct messages {
  /* the class of nodes that sends them: the largest one with such edges */
  int owner;
  tp_cost *taken, *best;
} messages;

typedef struct lift {
  tp__wcsp *g;
  tp__pool pool;
  tp__lift_classes classes;
  messages (*messages)[2]; /* by class of edges */
  tp_cost **turned;        /* by class of edges: the transposed table */
  /* by class of nodes that sends all its messages: the current result of add_up; NULL: other
   * classes send some of them */
  tp_cost **kept;
  bool *still;             /* by class of nodes: it neither collects nor sends messages */
  tp_cost *cost, *scratch; /* of the current node */
  bool exhausted;          /* numbers left the safe range */
  bool left_range;         /* the last passes ended for that reason */
} lift;

VECTORS static bool out_of_range(const tp_cost *values, int n, tp_cost most) {
  tp_cost wrong = 0;
  for (int x = 0; x < n; x++)
    wrong |= (tp_cost)(values[x] > most) | (tp_cost)(values[x] < -most);
  return wrong != 0;
}

static bool in_range(const tp__lift_classes *c) {
  bool in = true;
  for (int k = 0; k < c->n_nodes && in; k++)
    in = !out_of_range(c->nodes[k].cost, c->nodes[k].n, SAFE);
  for (int k = 0; k < c->n_edges && in; k++)
    for (int64_t i = 0; i < (int64_t)c->edges[k].rows * c->edges[k].columns && in; i++)
      in = c->edges[k].table[i] <= SAFE || c->edges[k].table[i] >= TP_COST_FORBIDDEN;
  return in;
}

/* Initializes the kept costs, before any message is sent. */
static tp_status keep_costs(lift *l) {
  for (int k = 0; k < l->classes.n_nodes; k++) {
    const tp__lift_nodes *v = &l->classes.nodes[k];
    bool sends_all = true;
    for (int i = 0; i < v->n_items; i++)
      sends_all &= l->messages[v->items[i].edge_class][v->items[i].end].owner == k;
    if (!sends_all)
      continue;
    if (!(l->kept[k] = tp__pool_alloc(&l->pool, (size_t)v->n, sizeof **l->kept)))
      return TP_NO_MEMORY;
    memcpy(l->kept[k], v->cost, (size_t)v->n * sizeof **l->kept);
  }
  return TP_OK;
}

static tp_status transpose_tables(lift *l) {
  for (int k = 0; k < l->classes.n_edges; k++) {
    const tp__lift_edges *e = &l->classes.edges[k];
    tp_cost *to = l->turned[k] =
        tp__pool_alloc(&l->pool, (size_t)e->rows * (size_t)e->columns, sizeof *to);
    for (int y = 0; to && y < e->columns; y++)
      for (int x = 0; x < e->rows; x++)
        *to++ = e->table[(size_t)x * (size_t)e->columns + (size_t)y];
    if (!to)
      return TP_NO_MEMORY;
  }
  return TP_OK;
}

/* Marks the classes whose costs may leave the safe range, from their tables: nodes that thousands
 * of layers use. Returns whether there are any. */
static bool mark_still(lift *l) {
  bool found = false;
  for (int k = 0; k < l->classes.n_nodes; k++) {
    const tp__lift_nodes *v = &l->classes.nodes[k];
    tp__int128 most = 0;
    for (int i = 0; i < v->n_items; i++) {
      const tp__lift_edges *e = &l->classes.edges[v->items[i].edge_class];
      tp_cost largest = 0;
      for (int64_t x = 0; x < (int64_t)e->rows * e->columns; x++)
        if (e->table[x] < TP_COST_FORBIDDEN && e->table[x] > largest)
          largest = e->table[x];
      most += (tp__int128)largest * v->items[i].times;
    }
    l->still[k] = most > SAFE;
    found |= l->still[k];
  }
  return found;
}

static tp_status start(lift *l) {
  const tp__lift_classes *c = &l->classes;
  int most = 1;
  l->messages = tp__pool_alloc(&l->pool, (size_t)c->n_edges, sizeof *l->messages);
  for (int k = 0; l->messages && k < c->n_edges; k++)
    for (int end = 0; end < 2; end++) {
      size_t n = (size_t)(end ? c->edges[k].columns : c->edges[k].rows);
      messages *m = &l->messages[k][end];
      *m = (messages){-1, tp__pool_calloc(&l->pool, n, sizeof *m->taken),
                      tp__pool_calloc(&l->pool, n, sizeof *m->best)};
      if (!m->taken || !m->best)
        return TP_NO_MEMORY;
    }
  for (int k = 0; l->messages && k < c->n_nodes; k++) {
    const tp__lift_nodes *v = &c->nodes[k];
    most = v->n > most ? v->n : most;
    for (int i = 0; i < v->n_items; i++) {
      int *owner = &l->messages[v->items[i].edge_class][v->items[i].end].owner;
      if (*owner < 0 || v->count > c->nodes[*owner].count)
        *owner = k;
    }
  }
  l->kept = tp__pool_calloc(&l->pool, (size_t)c->n_nodes, sizeof *l->kept);
  l->still = tp__pool_calloc(&l->pool, (size_t)c->n_nodes, sizeof *l->still);
  l->turned = tp__pool_alloc(&l->pool, (size_t)c->n_edges, sizeof *l->turned);
  if (!l->messages || !l->kept || !l->still || !l->turned || keep_costs(l) || transpose_tables(l))
    return TP_NO_MEMORY;
  l->cost = tp__pool_alloc(&l->pool, (size_t)most, sizeof *l->cost);
  l->scratch = tp__pool_alloc(&l->pool, (size_t)most, sizeof *l->scratch);
  l->exhausted = !in_range(c);
  return l->cost && l->scratch ? TP_OK : TP_NO_MEMORY;
}

/* ---- passes ---- */

/* cost += times * taken. Returns true if a number left its range. */
VECTORS static bool add_times(tp_cost *restrict cost, const tp_cost *restrict taken, int n,
                              int64_t times) {
  tp_cost most = SAFE / times, wrong = 0;
  for (int x = 0; x < n; x++)
    wrong |= (tp_cost)(taken[x] > most) | (tp_cost)(taken[x] < -most);
  if (wrong)
    return true;
  if (times == 1) /* 64-bit products are slow */
    for (int x = 0; x < n; x++)
      cost[x] += taken[x];
  else
    for (int x = 0; x < n; x++)
      cost[x] += times * taken[x];
  for (int x = 0; x < n; x++)
    wrong |= (tp_cost)(cost[x] > SAFE) | (tp_cost)(cost[x] < -SAFE);
  return wrong != 0;
}

/* l->cost = the costs of the class's strategies after all messages. */
static void add_up(lift *l, const tp__lift_nodes *v) {
  memcpy(l->cost, v->cost, (size_t)v->n * sizeof *l->cost);
  for (int i = 0; i < v->n_items; i++) {
    const tp_cost *taken = l->messages[v->items[i].edge_class][v->items[i].end].taken;
    if (add_times(l->cost, taken, v->n, v->items[i].times)) {
      l->exhausted = true;
      return;
    }
  }
}

/* Returns the same, from the kept costs or in l->cost. */
static tp_cost *costs(lift *l, int class) {
  if (l->kept[class])
    return l->kept[class];
  add_up(l, &l->classes.nodes[class]);
  return l->cost;
}

/* least[x] = min over y of table[y][x] - far[y] */
VECTORS static void min_by_strategy(const tp_cost *restrict row, int n, int n_far,
                                    const tp_cost *restrict far, tp_cost *restrict least) {
  for (int x = 0; x < n; x++)
    least[x] = row[x] - far[0];
  for (int y = 1; y < n_far; y++) {
    row += n;
    for (int x = 0; x < n; x++)
      least[x] = row[x] - far[y] < least[x] ? row[x] - far[y] : least[x];
  }
}

/* Replaces `taken` by `by` and adds the change to the cost. */
VECTORS static void replace(tp_cost *restrict cost, tp_cost *restrict taken,
                            const tp_cost *restrict by, int n, int64_t times) {
  for (int x = 0; x < n && times == 1; x++)
    cost[x] += by[x] - taken[x];
  for (int x = 0; x < n && times > 1; x++)
    cost[x] += times * (by[x] - taken[x]);
  memcpy(taken, by, (size_t)n * sizeof *taken);
}

/* Moves all spare cost of the edges to the node with costs `cost`. */
static void collect(lift *l, const tp__lift_nodes *v, const tp__lift_item *item, tp_cost *cost) {
  messages *m = l->messages[item->edge_class];
  tp_cost *taken = m[item->end].taken;
  const tp__lift_edges *e = &l->classes.edges[item->edge_class];
  const messages *far = &m[1 - item->end];
  if (item->end == 0)
    min_by_strategy(l->turned[item->edge_class], e->rows, e->columns, far->taken, l->scratch);
  else
    min_by_strategy(e->table, e->columns, e->rows, far->taken, l->scratch);
  if (out_of_range(l->scratch, v->n, SAFE / item->times)) {
    l->exhausted = true;
    return;
  }
  replace(cost, taken, l->scratch, v->n, item->times);
}

VECTORS static tp_cost min_of(const tp_cost *values, int64_t n) {
  tp_cost least = INT64_MAX;
  for (int64_t i = 0; i < n; i++)
    least = values[i] < least ? values[i] : least;
  return least;
}

/* share[x] = (cost[x] - least) / shares. The numerator is at most 2 * SAFE. For few shares,
 * multiplication with the reciprocal, rounded up, is exact and much faster than division. */
static void divide(const tp_cost *cost, int n, tp_cost least, int64_t shares,
                   tp_cost *restrict share) {
  enum { FEW = 128 };
  _Static_assert(2 * SAFE <= INT64_MAX / FEW, "numerator times shares fits into 64 bits");
  uint64_t reciprocal = UINT64_MAX / (uint64_t)shares + 1;
  if (shares == 1)
    for (int x = 0; x < n; x++)
      share[x] = cost[x] - least;
  else if (shares < FEW)
    for (int x = 0; x < n; x++)
      share[x] = (tp_cost)((unsigned __int128)reciprocal * (uint64_t)(cost[x] - least) >> 64);
  else
    for (int x = 0; x < n; x++)
      share[x] = (cost[x] - least) / shares;
}

/* Distributes `share` over the edges of an item. */
VECTORS static bool queue_table(tp_cost *restrict taken, const tp_cost *restrict share, int n,
                                tp_cost most) {
  tp_cost wrong = 0;
  for (int x = 0; x < n; x++) {
    taken[x] -= share[x];
    wrong |= (tp_cost)(taken[x] < -most);
  }
  return wrong != 0;
}

/* Collects from the edges behind, and shares the cost above the minimum among the edges ahead. */
static void visit(lift *l, int class, bool forward) {
  const tp__lift_nodes *v = &l->classes.nodes[class];
  int64_t n_behind = 0, n_ahead = 0;
  tp_cost *cost = costs(l, class);
  for (int i = 0; i < v->n_items && !l->exhausted; i++) {
    const tp__lift_item *item = &v->items[i];
    bool behind = (item->end == 1) == forward;
    n_behind += behind ? item->times : 0;
    n_ahead += behind ? 0 : item->times;
    if (behind && l->messages[item->edge_class][item->end].owner == class)
      collect(l, v, item, cost);
  }
  l->exhausted |= out_of_range(cost, v->n, SAFE);
  if (l->exhausted || n_ahead == 0)
    return;
  divide(cost, v->n, min_of(cost, v->n), n_ahead > n_behind ? n_ahead : n_behind, l->scratch);
  for (int i = 0; i < v->n_items; i++) {
    const tp__lift_item *item = &v->items[i];
    messages *m = &l->messages[item->edge_class][item->end];
    if ((item->end == 0) == forward && m->owner == class)
      l->exhausted |= queue_table(m->taken, l->scratch, v->n, SAFE / item->times);
  }
  for (int x = 0; x < v->n; x++) /* kept costs imply that the class sends all its messages */
    cost[x] -= n_ahead * l->scratch[x];
}

/* ---- results ---- */

/* to = the table after messages; forbidden entries stay forbidden. Returns its minimum. */
VECTORS static tp_cost take_from(const tp__lift_edges *e, const tp_cost *of_rows,
                                 const tp_cost *restrict of_columns, tp_cost *restrict to) {
  const tp_cost *row = e->table;
  tp_cost least = TP_COST_FORBIDDEN;
  for (int x = 0; x < e->rows; x++, row += e->columns, to += e->columns)
    for (int y = 0; y < e->columns; y++) {
      tp_cost entry = row[y] < TP_COST_FORBIDDEN ? row[y] - of_rows[x] - of_columns[y] : row[y];
      least = entry < least ? entry : least;
      to[y] = entry;
    }
  return least;
}

/* Returns only the minimum. Messages are so small beside a forbidden cost that the least entry is
 * an allowed one without asking. */
VECTORS static tp_cost min_after(const tp__lift_edges *e, const tp_cost *of_rows,
                                 const tp_cost *restrict of_columns) {
  const tp_cost *row = e->table;
  tp_cost least = TP_COST_FORBIDDEN;
  for (int x = 0; x < e->rows; x++, row += e->columns) {
    tp_cost of_row = TP_COST_FORBIDDEN;
    for (int y = 0; y < e->columns; y++)
      of_row = row[y] - of_columns[y] < of_row ? row[y] - of_columns[y] : of_row;
    least = of_row - of_rows[x] < least ? of_row - of_rows[x] : least;
  }
  return least;
}

/* Returns the constant after all messages, which is the bound. */
static tp__int128 bound(lift *l) {
  tp__int128 sum = l->g->constant;
  for (int k = 0; k < l->classes.n_nodes && !l->exhausted; k++) {
    const tp_cost *cost = costs(l, k);
    sum += (tp__int128)l->classes.nodes[k].count * min_of(cost, l->classes.nodes[k].n);
  }
  for (int k = 0; k < l->classes.n_edges; k++)
    sum += (tp__int128)l->classes.edges[k].count *
           min_after(&l->classes.edges[k], l->messages[k][0].taken, l->messages[k][1].taken);
  return sum;
}

static void copy_messages(lift *l, bool keep) {
  for (int k = 0; k < l->classes.n_edges; k++)
    for (int end = 0; end < 2; end++) {
      messages *m = &l->messages[k][end];
      size_t n = (size_t)(end ? l->classes.edges[k].columns : l->classes.edges[k].rows);
      memcpy(keep ? m->best : m->taken, keep ? m->taken : m->best, n * sizeof *m->taken);
    }
}

/* Sweeps from the first class to the last, or back. An unlifted sweep carries messages through all
 * layers of the graph. A class represents one node per layer, so it takes one sweep over the
 * classes for each layer that messages are to cross. */
static void sweep(lift *l, bool forward, int times) {
  int n = l->classes.n_nodes;
  for (int i = 0; i < times; i++)
    for (int k = 0; k < n && !l->exhausted; k++) {
      int class = forward ? k : n - 1 - k;
      if (!l->still[class])
        visit(l, class, forward);
    }
}

/* Passes messages until they gain nothing more. Leaves the best messages and returns their
 * bound. */
static tp__int128 pass_messages(lift *l, tp__control *control, int64_t *work) {
  tp__int128 first = l->g->constant, best = first;
  int layers = l->g->n_alive / l->classes.n_nodes,
      sweeps = layers < MAX_SWEEPS ? layers : MAX_SWEEPS;
  int64_t entries = 0;
  for (int k = 0; k < l->classes.n_edges; k++)
    entries += (int64_t)l->classes.edges[k].rows * l->classes.edges[k].columns;
  for (int pass = 0, idle = 0; pass < MAX_PASSES && idle < IDLE_PASSES && !l->exhausted &&
                               !tp__control_poll_must_finish(control, *work);
       pass++) {
    sweep(l, true, sweeps);
    sweep(l, false, sweeps);
    tp__int128 now = bound(l);
    *work += (2 * sweeps + 1) * entries;
    idle = now - best > (best - first) / 100 ? 0 : idle + 1;
    if (l->exhausted || now <= best)
      continue;
    best = now;
    copy_messages(l, true);
  }
  l->left_range = l->exhausted;
  l->exhausted = false; /* the best messages are in range */
  copy_messages(l, false);
  return best;
}

/* Restarts after messages that left the safe range before they gained anything, without the classes
 * whose sums are too large. Where there are none, the bound stays that of no messages. */
static tp__int128 pass_small_messages(lift *l, tp__control *control, int64_t *work) {
  for (int k = 0; k < l->classes.n_edges; k++)
    for (int end = 0; end < 2; end++) {
      size_t n = (size_t)(end ? l->classes.edges[k].columns : l->classes.edges[k].rows);
      memset(l->messages[k][end].taken, 0, n * sizeof(tp_cost));
    }
  for (int k = 0; k < l->classes.n_nodes; k++)
    if (l->kept[k])
      memcpy(l->kept[k], l->classes.nodes[k].cost,
             (size_t)l->classes.nodes[k].n * sizeof **l->kept);
  return mark_still(l) ? pass_messages(l, control, work) : l->g->constant;
}

/* ---- the graph ---- */

static tp_status new_costs(lift *l, tp_cost **of_class) {
  for (int k = 0; k < l->classes.n_nodes; k++) {
    const tp__lift_nodes *v = &l->classes.nodes[k];
    tp_cost *cost = tp__pool_alloc(&l->g->pool, (size_t)v->n, sizeof *cost);
    if (!cost)
      return TP_NO_MEMORY;
    add_up(l, v);
    tp_cost least = min_of(l->cost, v->n);
    for (int x = 0; x < v->n; x++)
      cost[x] = l->cost[x] - least;
    if (!(of_class[k] = tp__wcsp_share(l->g, cost, (size_t)v->n)))
      return TP_NO_MEMORY;
  }
  return TP_OK;
}

static tp_status new_tables(lift *l, tp_cost **of_class) {
  for (int k = 0; k < l->classes.n_edges; k++) {
    size_t n = (size_t)l->classes.edges[k].rows * (size_t)l->classes.edges[k].columns;
    tp_cost *table = tp__pool_alloc(&l->g->pool, n, sizeof *table);
    if (!table)
      return TP_NO_MEMORY;
    tp_cost least =
        take_from(&l->classes.edges[k], l->messages[k][0].taken, l->messages[k][1].taken, table);
    for (size_t i = 0; i < n; i++)
      table[i] = table[i] < TP_COST_FORBIDDEN ? table[i] - least : table[i];
    if (!(of_class[k] = tp__wcsp_share(l->g, table, n)))
      return TP_NO_MEMORY;
  }
  return TP_OK;
}

static tp_status apply(lift *l, tp_cost constant) {
  tp__wcsp *g = l->g;
  tp_cost **cost = tp__pool_alloc(&l->pool, (size_t)l->classes.n_nodes, sizeof *cost);
  tp_cost **table = tp__pool_alloc(&l->pool, (size_t)l->classes.n_edges, sizeof *table);
  if (!cost || !table || new_costs(l, cost) || new_tables(l, table))
    return TP_NO_MEMORY;
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      g->nodes[v].cost = cost[l->classes.node_class[v]];
  for (int e = 0; e < g->n_edges; e++)
    if (g->edges[e].node[0] >= 0)
      g->edges[e].table = table[l->classes.edge_class[e]];
  g->constant = constant;
  return TP_OK;
}

static tp_status lift_within(tp__wcsp *g, int radius, tp__control *control, int64_t *work,
                             bool *lifted) {
  if (tp__control_poll_must_finish(control, *work))
    return TP_OK;
  lift l = {.g = g};
  tp_status status = tp__lift_classify(g, radius, &l.pool, &l.classes);
  if (status == TP_OK && l.classes.n_nodes <= g->n_alive / REPEATED) {
    status = start(&l);
    bool starts_in_range = !l.exhausted;
    tp__int128 best = status == TP_OK ? pass_messages(&l, control, work) : 0;
    if (status == TP_OK && starts_in_range && l.left_range && best <= g->constant)
      best = pass_small_messages(&l, control, work);
    if (status == TP_OK && best > g->constant) {
      *lifted = true;
      status = apply(&l, best < TP_COST_FORBIDDEN ? (tp_cost)best : TP_COST_FORBIDDEN);
    }
  }
  tp__pool_release(&l.pool);
  return status;
}

tp_status tp__lift(tp__wcsp *g, tp__control *control, int64_t *work, bool *lifted) {
  *lifted = false;
  if (g->n_alive < MIN_NODES)
    return TP_OK;
  for (int i = 0; i < N_RADII; i++)
    TP_TRY(lift_within(g, RADII[i], control, work, lifted));
  return TP_OK;
}
