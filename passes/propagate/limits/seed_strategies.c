/* Selects a few strategies of every node.
 *
 * Stating a problem spends most of its time on the prices of reshards between all layouts of all
 * values. Here a strategy is priced only against the few strategies that its neighbors keep. So
 * there are few reshards, and equal nodes, as in equal layers, are priced once. */
#include "passes/propagate/limits/seed_strategies.h"

#include "passes/propagate/limits/layout_column.h"
#include "passes/propagate/limits/reduced_planner.h"

#include <string.h>

enum { SEEDS = 8 };    /* strategies per node, of each kind */
#define SEED_GAP 0.002 /* accepted gap of a plan of few strategies */

/* ---- connections between nodes ---- */

static void add_end(tp_seeds *f, int *n, int node, tp_seed_end e) {
  if (f->ends)
    f->ends[f->first[node] + n[node]] = e;
  n[node]++;
}

static void add_edge(tp_seeds *f, int *n, const tp_planned_value *v, int from, int output, int to,
                     int input) {
  if (from == to)
    return;
  add_end(f, n, from, (tp_seed_end){to, v, true, output, input});
  add_end(f, n, to, (tp_seed_end){from, v, false, input, output});
}

/* Counts the endpoints of each node, or fills them in once `ends` is allocated. */
static void add_edges(tp_seeds *f, int *n) {
  const tp_planner *p = f->p;
  for (size_t k = 0; k < p->problem.n_values; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    if (v->copy >= 0)
      add_edge(f, n, v, v->node, v->output, v->copy, 0);
    for (int u = 0; u < v->n_uses; u++)
      add_edge(f, n, v, v->copy >= 0 ? v->copy : v->node, v->copy >= 0 ? 0 : v->output,
               v->uses[u].node, v->uses[u].input);
  }
}

tp_status tp__seeds_open(tp_planner *p, tp_seeds *f) {
  *f = (tp_seeds){.p = p};
  int *n = tp__calloc(p->problem.n_nodes + 1, sizeof *n);
  f->rows = tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof(const bool *));
  f->first = tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof *f->first);
  if (n && f->rows && f->first) {
    add_edges(f, n);
    for (size_t i = 0; i < p->problem.n_nodes; i++)
      f->first[i + 1] = f->first[i] + n[i];
    memset(n, 0, p->problem.n_nodes * sizeof *n);
    f->ends = tp__arena_array(p->problem.arena, (size_t)f->first[p->problem.n_nodes] + 1,
                              sizeof *f->ends);
    if (f->ends)
      add_edges(f, n);
  }
  tp__free(n);
  return f->ends ? TP_OK : tp__plan_no_memory(p);
}

void tp__seeds_close(tp_seeds *f) {
  tp__memo_destroy(&f->same_nodes);
  tp__memo_destroy(&f->same_columns);
}

/* ---- layouts ---- */

/* True if axes stand only where annotations propagate them. */
static bool is_propagated(const tp_planner *p, const tp_seed_end *e, tp_spec spec) {
  for (int d = 0; d < e->v->rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(p->problem.mesh, spec, d, axes);
    for (int i = 0; i < n; i++)
      if (!tp__flow_names(p, (int)(e->v - p->problem.values), d, axes[i]))
        return false;
  }
  return true;
}

/* NULL when memory runs out. */
static const tp_layout_column *find_column(tp_seeds *f, int number, bool makes, int at) {
  return tp__layout_column(&f->same_columns, f->p->problem.arena, &f->p->problem.nodes[number],
                           makes, at);
}

static int kept_layouts(const tp_node *node, const bool *row, bool makes, int at, tp_spec *specs) {
  int n = 0;
  for (int s = 0; s < node->n; s++) {
    if (!row[s])
      continue;
    specs[n] = tp__node_spec(node, makes, at, s);
    int i = 0;
    while (!tp_spec_equal(specs[i], specs[n]))
      i++;
    n += i == n;
  }
  return n;
}

/* ---- prices ---- */

static tp_cost change_cost(const tp_planner *p, const tp_planned_value *v, tp_spec from,
                           tp_spec to) {
  if (tp_spec_equal(from, to))
    return 0;
  return v->keeps_layout ? TP_COST_FORBIDDEN
                         : tp__cost_times(tp_reshard_cost(p->problem.reshards, from, to, v->rank,
                                                          v->shape, v->element_size),
                                          v->trips);
}

static tp_cost min_cost(tp_cost a, tp_cost b) { return a < b ? a : b; }

/* min[k]: the cheapest reshard between this node's layout k and the layouts that the other node
 * keeps. All targets of one source layout are queried together, which is fastest. */
static void price_changes(const tp_planner *p, const tp_seed_end *e, const tp_layout_column *own,
                          int n, const tp_spec *others, tp_cost *min) {
  for (int k = 0; k < own->n; k++)
    min[k] = n > 0 ? TP_COST_FORBIDDEN : 0;
  if (e->makes)
    for (int k = 0; k < own->n; k++)
      for (int i = 0; i < n && min[k] > 0; i++)
        min[k] = min_cost(min[k], change_cost(p, e->v, own->specs[k], others[i]));
  else
    for (int i = 0; i < n; i++)
      for (int k = 0; k < own->n; k++)
        if (min[k] > 0)
          min[k] = min_cost(min[k], change_cost(p, e->v, others[i], own->specs[k]));
}

/* Prices of the strategies of one node; scratch of `keep_best`. */
typedef struct prices {
  tp_cost *costs, *reshard; /* by strategy; by layout */
  /* by strategy: an axis stands where no annotation propagates it; NULL: not needed */
  bool *unnamed;
  tp_spec *others;
} prices;

/* Adds to every strategy the cost of its cheapest reshard to a strategy that the other node
 * keeps. */
static tp_status add_reshards(tp_seeds *f, int node, const tp_seed_end *e, bool with_reshards,
                              prices *q) {
  const tp_planner *p = f->p;
  const bool *row = with_reshards ? f->rows[e->other] : NULL;
  const tp_layout_column *own = find_column(f, node, e->makes, e->column);
  if (!own)
    return TP_NO_MEMORY;
  int n =
      row ? kept_layouts(&p->problem.nodes[e->other], row, !e->makes, e->other_column, q->others)
          : 0;
  price_changes(p, e, own, n, q->others, q->reshard);
  for (int s = 0; s < p->problem.nodes[node].n; s++)
    q->costs[s] = tp_cost_add(q->costs[s], q->reshard[own->number[s]]);
  if (!q->unnamed)
    return TP_OK;
  for (int k = 0; k < own->n; k++)
    q->reshard[k] = !is_propagated(p, e, own->specs[k]);
  for (int s = 0; s < p->problem.nodes[node].n; s++)
    q->unnamed[s] |= q->reshard[own->number[s]] > 0;
  return TP_OK;
}

/* ---- rows ---- */

static tp_status keep_cheapest(const tp_planner *p, int n, const tp_cost *costs, bool *row) {
  int *list;
  if (n <= SEEDS) {
    memset(row, true, (size_t)n * sizeof *row);
    return TP_OK;
  }
  tp_status status = tp__select_cheapest(p->problem.arena, costs, n, SEEDS, &list);
  for (int k = 0; k < SEEDS && status == TP_OK; k++)
    row[list[k]] = true;
  return status;
}

/* Adds the cheapest strategies of a node to `row`, with reshards to selected neighbors if
 * `with_reshards`. With `named` it also adds the cheapest strategies whose axes stand only where
 * annotations propagate them. Strategies already in `row` stay. */
static tp_status price_and_keep(tp_seeds *f, int node, bool with_reshards, bool named, bool *row) {
  const tp_planner *p = f->p;
  const tp_node *own = &p->problem.nodes[node];
  size_t n = (size_t)own->n;
  prices q = {tp__calloc(n + 1, sizeof *q.costs), tp__calloc(n + 1, sizeof *q.reshard),
              named ? tp__calloc(n + 1, sizeof *q.unnamed) : NULL,
              tp__calloc(TP_MAX_STRATEGIES, sizeof *q.others)};
  tp_status status =
      q.costs && q.reshard && q.others && (q.unnamed || !named) ? TP_OK : TP_NO_MEMORY;
  for (int s = 0; s < own->n && status == TP_OK; s++)
    q.costs[s] = tp__cost_times(own->costs[s], tp__node_trips(p, own));
  for (int i = f->first[node]; i < f->first[node + 1] && status == TP_OK && own->n > SEEDS; i++)
    status = add_reshards(f, node, &f->ends[i], with_reshards, &q);
  if (status == TP_OK)
    status = keep_cheapest(p, own->n, q.costs, row);
  for (int s = 0; s < own->n && status == TP_OK && named; s++)
    q.costs[s] = q.unnamed[s] ? TP_COST_FORBIDDEN : q.costs[s];
  if (status == TP_OK && named)
    status = keep_cheapest(p, own->n, q.costs, row);
  tp__free(q.costs);
  tp__free(q.reshard);
  tp__free(q.unnamed);
  tp__free(q.others);
  return status;
}

/* Adds everything that the row of a node depends on. */
static void add_node_words(const tp_seeds *f, int node, bool with_reshards, bool named,
                           tp_memo_key *key) {
  const tp_planner *p = f->p;
  const tp_node *own = &p->problem.nodes[node];
  key->n = 0;
  tp__memo_key_add(key, with_reshards | named << 1 | (int64_t)own->n << 2);
  tp__memo_key_add(key, (int64_t)(intptr_t)own->in);
  tp__memo_key_add(key, (int64_t)(intptr_t)own->out);
  tp__memo_key_add(key, (int64_t)(intptr_t)own->costs);
  tp__memo_key_add(key, (int64_t)tp__node_trips(p, own));
  tp__memo_key_add(key, (int64_t)(intptr_t)f->rows[node]);
  for (int i = f->first[node]; i < f->first[node + 1]; i++) {
    const tp_seed_end *e = &f->ends[i];
    const tp_node *other = &p->problem.nodes[e->other];
    tp__memo_key_add(key, e->makes | e->v->keeps_layout << 1 | e->v->rank << 2 |
                              (int64_t)e->column << 16 | (int64_t)e->other_column << 40);
    tp__memo_key_add(key, e->v->element_size);
    tp__memo_key_add(key, (int64_t)e->v->trips);
    tp__memo_key_add(key, (int64_t)(intptr_t)(with_reshards ? f->rows[e->other] : NULL));
    tp__memo_key_add(key, (int64_t)(intptr_t)(e->makes ? other->in : other->out));
    for (int d = 0; d < e->v->rank; d++) {
      uint8_t brought = 0, cut;
      if (named)
        tp__flow_axes(p, (int)(e->v - p->problem.values), d, &brought, &cut);
      tp__memo_key_add(key, e->v->shape[d]);
      tp__memo_key_add(key, brought);
    }
  }
}

/* Adds the best strategies to the row of a node. */
static tp_status keep_best(tp_seeds *f, int node, bool with_reshards, bool named) {
  const tp_planner *p = f->p;
  tp_memo_key key;
  add_node_words(f, node, with_reshards, named, &key);
  bool is_shared = key.n <= TP_MAX_KEY_WORDS;
  void **slot = is_shared ? tp__memo(&f->same_nodes, p->problem.arena, key.words, key.n) : NULL;
  if (is_shared && !slot)
    return TP_NO_MEMORY;
  if (slot && *slot) {
    f->rows[node] = *slot;
    return TP_OK;
  }
  size_t n = (size_t)p->problem.nodes[node].n;
  bool *row = tp__arena_array(p->problem.arena, n + 1, sizeof *row);
  if (!row)
    return TP_NO_MEMORY;
  if (f->rows[node])
    memcpy(row, f->rows[node], n * sizeof *row);
  if (slot)
    *slot = row;
  tp_status status = price_and_keep(f, node, with_reshards, named, row);
  f->rows[node] = row;
  return status;
}

/* Selects for ops alone first, then, in node order, for all other nodes. */
tp_status tp__seeds_choose(tp_seeds *f) {
  const tp_planner *p = f->p;
  tp_status status = TP_OK;
  for (int kind = 0; kind < 2; kind++)
    for (int i = 0; i < (int)p->problem.n_nodes && status == TP_OK; i++)
      if ((p->problem.nodes[i].kind == TP_NODE_OP) == (kind == 0))
        status = keep_best(f, i, kind == 1 && !tp__clock_is_over(p->limits.clock), true);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}

/* A row with one strategy. */
static const bool *chosen_row(tp_seeds *f, int node, int s) {
  const tp_planner *p = f->p;
  const int64_t key[] = {s, p->problem.nodes[node].n};
  void **slot = tp__memo(&f->same_nodes, p->problem.arena, key, TP_LEN(key));
  if (!slot || *slot)
    return slot ? *slot : NULL;
  bool *row = tp__arena_array(p->problem.arena, (size_t)p->problem.nodes[node].n + 1, sizeof *row);
  if (row)
    row[s] = true;
  return *slot = row;
}

/* Runs in node order, so that later nodes adapt to earlier ones and whole chains of values change
 * together. */
tp_status tp__seeds_around(tp_seeds *f, const int *choices) {
  const tp_planner *p = f->p;
  tp_status status = TP_OK;
  for (int i = 0; i < (int)p->problem.n_nodes && status == TP_OK; i++)
    status = (f->rows[i] = chosen_row(f, i, choices[i])) ? TP_OK : TP_NO_MEMORY;
  for (int i = 0;
       i < (int)p->problem.n_nodes && status == TP_OK && !tp__clock_is_over(p->limits.clock); i++)
    status = keep_best(f, i, true, false);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}

/* ---- plans ---- */

tp_cost tp__min_cost(const tp_planner *p) {
  tp_cost sum = 0;
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    const tp_node *node = &p->problem.nodes[i];
    tp_cost min = TP_COST_FORBIDDEN;
    for (int s = 0; s < node->n; s++)
      min = node->costs[s] < min ? node->costs[s] : min;
    sum = tp_cost_add(sum, tp__cost_times(min, tp__node_trips(p, node)));
  }
  return sum;
}

tp_status tp__seeds_plan(const tp_seeds *f, tp_planner *reduced) {
  const tp_planner *p = f->p;
  /* a copy, since rows in use must stay */
  const bool **rows =
      tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof(const bool *));
  tp_status status = tp__planner_copy(p, reduced);
  reduced->result = (tp_plan_result){0};
  reduced->limits.gap = p->limits.gap > SEED_GAP ? p->limits.gap : SEED_GAP;
  if (status == TP_OK && !rows)
    status = tp__plan_no_memory(p);
  if (status == TP_OK) {
    memcpy(rows, f->rows, p->problem.n_nodes * sizeof *rows);
    status = tp__planner_cut(reduced, rows);
  }
  if (status == TP_OK)
    status = tp__plan_make_problem(reduced, true, &reduced->stated);
  return status == TP_OK ? tp__plan_stated(reduced) : status;
}

int *tp__seeds_chosen(const tp_planner *p, const tp_planner *reduced) {
  int *choices = tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof *choices);
  for (size_t i = 0, k = 0; choices && i < p->problem.n_nodes; i++, k++) {
    while (tp__is_of_routes(&reduced->problem.nodes[k]))
      k++;
    choices[i] = tp__number_among_all(reduced->kept[i], reduced->problem.nodes[k].chosen);
  }
  return choices;
}
