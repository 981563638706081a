/* Selects a few strategies of every node.
 *
 * Stating a problem spends most of its time on the prices of reshards between all layouts of all
 * values. Here a strategy is priced only against the few strategies that its neighbors keep. So
 * there are few reshards, and equal nodes, as in equal layers, are priced once. */
#include "passes/propagate/limits/seed_strategies.h"

#include <string.h>

enum { FEW = 8 }; /* strategies per node, of each kind */

/* The distinct layouts of a node at one endpoint. */
typedef struct column {
  int n;
  tp_spec *specs;
  int *number; /* by strategy: index of its layout */
} column;

static double trips_of(const tp_planner *p, const tp_node *node) {
  return node->kind == TP_NODE_OP ? p->graph.items[node->index].trips : 1;
}

/* ---- connections between nodes ---- */

static void add_end(tp_few *f, int *n, int node, tp_few_end e) {
  if (f->ends)
    f->ends[f->first[node] + n[node]] = e;
  n[node]++;
}

static void add_way(tp_few *f, int *n, const tp_planned_value *v, int from, int output, int to,
                    int input) {
  if (from == to)
    return;
  add_end(f, n, from, (tp_few_end){to, v, true, output, input});
  add_end(f, n, to, (tp_few_end){from, v, false, input, output});
}

/* Counts the endpoints of each node, or fills them in once `ends` is allocated. */
static void add_ways(tp_few *f, int *n) {
  const tp_planner *p = f->p;
  for (size_t k = 0; k < p->n_values; k++) {
    const tp_planned_value *v = &p->values[k];
    if (v->copy >= 0)
      add_way(f, n, v, v->node, v->output, v->copy, 0);
    for (int u = 0; u < v->n_uses; u++)
      add_way(f, n, v, v->copy >= 0 ? v->copy : v->node, v->copy >= 0 ? 0 : v->output,
              v->uses[u].node, v->uses[u].input);
  }
}

tp_status tp__few_open(tp_planner *p, tp_few *f) {
  *f = (tp_few){.p = p};
  int *n = tp__calloc(p->n_nodes + 1, sizeof *n);
  f->rows = tp__arena_array(p->arena, p->n_nodes + 1, sizeof(const bool *));
  f->first = tp__arena_array(p->arena, p->n_nodes + 1, sizeof *f->first);
  if (n && f->rows && f->first) {
    add_ways(f, n);
    for (size_t i = 0; i < p->n_nodes; i++)
      f->first[i + 1] = f->first[i] + n[i];
    memset(n, 0, p->n_nodes * sizeof *n);
    f->ends = tp__arena_array(p->arena, (size_t)f->first[p->n_nodes] + 1, sizeof *f->ends);
    if (f->ends)
      add_ways(f, n);
  }
  tp__free(n);
  return f->ends ? TP_OK : tp__plan_no_memory(p);
}

void tp__few_close(tp_few *f) {
  tp__memo_destroy(&f->same_nodes);
  tp__memo_destroy(&f->same_columns);
}

/* ---- layouts ---- */

/* True if axes stand only where annotations propagate them. */
static bool is_named(const tp_planner *p, const tp_few_end *e, tp_spec spec) {
  for (int d = 0; d < e->v->rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(p->mesh, spec, d, axes);
    for (int i = 0; i < n; i++)
      if (!tp__flow_names(p, (int)(e->v - p->values), d, axes[i]))
        return false;
  }
  return true;
}

static column *make_column(const tp_planner *p, const tp_node *node, bool makes, int at) {
  column *c = tp__arena_array(p->arena, 1, sizeof *c);
  if (!c || !(c->specs = tp__arena_array(p->arena, (size_t)node->n, sizeof *c->specs)) ||
      !(c->number = tp__arena_array(p->arena, (size_t)node->n, sizeof *c->number)))
    return NULL;
  for (int s = 0; s < node->n; s++) {
    tp_spec spec = tp__node_spec(node, makes, at, s);
    int i = 0;
    while (i < c->n && !tp_spec_equal(c->specs[i], spec))
      i++;
    if (i == c->n)
      c->specs[c->n++] = spec;
    c->number[s] = i;
  }
  return c;
}

/* NULL when memory runs out. */
static const column *find_column(tp_few *f, int number, bool makes, int at) {
  const tp_node *node = &f->p->nodes[number];
  const int64_t key[] = {(int64_t)(intptr_t)(makes ? node->out : node->in), node->n,
                         makes ? node->n_out : node->n_in, at};
  void **slot = tp__memo(&f->same_columns, f->p->arena, key, TP_LEN(key));
  if (slot && !*slot)
    *slot = make_column(f->p, node, makes, at);
  return slot ? *slot : NULL;
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
                         : tp__cost_times(tp_reshard_cost(p->reshards, from, to, v->rank, v->shape,
                                                          v->element_size),
                                          v->trips);
}

static tp_cost lesser(tp_cost a, tp_cost b) { return a < b ? a : b; }

/* least[k]: the cheapest reshard between this node's layout k and the layouts that the other node
 * keeps. All targets of one source layout are queried together, which is fastest. */
static void price_changes(const tp_planner *p, const tp_few_end *e, const column *own, int n,
                          const tp_spec *others, tp_cost *least) {
  for (int k = 0; k < own->n; k++)
    least[k] = n > 0 ? TP_COST_FORBIDDEN : 0;
  if (e->makes)
    for (int k = 0; k < own->n; k++)
      for (int i = 0; i < n && least[k] > 0; i++)
        least[k] = lesser(least[k], change_cost(p, e->v, own->specs[k], others[i]));
  else
    for (int i = 0; i < n; i++)
      for (int k = 0; k < own->n; k++)
        if (least[k] > 0)
          least[k] = lesser(least[k], change_cost(p, e->v, others[i], own->specs[k]));
}

/* Prices of the strategies of one node; scratch of `keep_best`. */
typedef struct prices {
  tp_cost *costs, *least; /* by strategy; by layout */
  /* by strategy: an axis stands where no annotation propagates it; NULL: not needed */
  bool *unnamed;
  tp_spec *others;
} prices;

/* Adds to every strategy the cost of its cheapest reshard to a strategy that the other node
 * keeps. */
static tp_status add_least(tp_few *f, int node, const tp_few_end *e, bool with_ways, prices *q) {
  const tp_planner *p = f->p;
  const bool *row = with_ways ? f->rows[e->other] : NULL;
  const column *own = find_column(f, node, e->makes, e->column);
  if (!own)
    return TP_NO_MEMORY;
  int n = row ? kept_layouts(&p->nodes[e->other], row, !e->makes, e->other_column, q->others) : 0;
  price_changes(p, e, own, n, q->others, q->least);
  for (int s = 0; s < p->nodes[node].n; s++)
    q->costs[s] = tp_cost_add(q->costs[s], q->least[own->number[s]]);
  if (!q->unnamed)
    return TP_OK;
  for (int k = 0; k < own->n; k++)
    q->least[k] = !is_named(p, e, own->specs[k]);
  for (int s = 0; s < p->nodes[node].n; s++)
    q->unnamed[s] |= q->least[own->number[s]] > 0;
  return TP_OK;
}

/* ---- rows ---- */

static tp_status keep_cheapest(const tp_planner *p, int n, const tp_cost *costs, bool *row) {
  int *list;
  if (n <= FEW) {
    memset(row, true, (size_t)n * sizeof *row);
    return TP_OK;
  }
  tp_status status = tp__keep_cheapest(p->arena, costs, n, FEW, &list);
  for (int k = 0; k < FEW && status == TP_OK; k++)
    row[list[k]] = true;
  return status;
}

/* Adds the cheapest strategies of a node to `row`, with reshards to selected neighbors if
 * `with_ways`. With `named` it also adds the cheapest strategies whose axes stand only where
 * annotations propagate them. Strategies already in `row` stay. */
static tp_status price_and_keep(tp_few *f, int node, bool with_ways, bool named, bool *row) {
  const tp_planner *p = f->p;
  const tp_node *own = &p->nodes[node];
  size_t n = (size_t)own->n;
  prices q = {tp__calloc(n + 1, sizeof *q.costs), tp__calloc(n + 1, sizeof *q.least),
              named ? tp__calloc(n + 1, sizeof *q.unnamed) : NULL,
              tp__calloc(TP_MAX_STRATEGIES, sizeof *q.others)};
  tp_status status = q.costs && q.least && q.others && (q.unnamed || !named) ? TP_OK : TP_NO_MEMORY;
  for (int s = 0; s < own->n && status == TP_OK; s++)
    q.costs[s] = tp__cost_times(own->costs[s], trips_of(p, own));
  for (int i = f->first[node]; i < f->first[node + 1] && status == TP_OK && own->n > FEW; i++)
    status = add_least(f, node, &f->ends[i], with_ways, &q);
  if (status == TP_OK)
    status = keep_cheapest(p, own->n, q.costs, row);
  for (int s = 0; s < own->n && status == TP_OK && named; s++)
    q.costs[s] = q.unnamed[s] ? TP_COST_FORBIDDEN : q.costs[s];
  if (status == TP_OK && named)
    status = keep_cheapest(p, own->n, q.costs, row);
  tp__free(q.costs);
  tp__free(q.least);
  tp__free(q.unnamed);
  tp__free(q.others);
  return status;
}

/* Adds everything that the row of a node depends on. */
static void add_node_words(const tp_few *f, int node, bool with_ways, bool named, tp_words *key) {
  const tp_planner *p = f->p;
  const tp_node *own = &p->nodes[node];
  key->n = 0;
  tp__words_add(key, with_ways | named << 1 | (int64_t)own->n << 2);
  tp__words_add(key, (int64_t)(intptr_t)own->in);
  tp__words_add(key, (int64_t)(intptr_t)own->out);
  tp__words_add(key, (int64_t)(intptr_t)own->costs);
  tp__words_add(key, (int64_t)trips_of(p, own));
  tp__words_add(key, (int64_t)(intptr_t)f->rows[node]);
  for (int i = f->first[node]; i < f->first[node + 1]; i++) {
    const tp_few_end *e = &f->ends[i];
    const tp_node *other = &p->nodes[e->other];
    tp__words_add(key, e->makes | e->v->keeps_layout << 1 | e->v->rank << 2 |
                           (int64_t)e->column << 16 | (int64_t)e->other_column << 40);
    tp__words_add(key, e->v->element_size);
    tp__words_add(key, (int64_t)e->v->trips);
    tp__words_add(key, (int64_t)(intptr_t)(with_ways ? f->rows[e->other] : NULL));
    tp__words_add(key, (int64_t)(intptr_t)(e->makes ? other->in : other->out));
    for (int d = 0; d < e->v->rank; d++) {
      uint8_t brought = 0, cut;
      if (named)
        tp__flow_axes(p, (int)(e->v - p->values), d, &brought, &cut);
      tp__words_add(key, e->v->shape[d]);
      tp__words_add(key, brought);
    }
  }
}

/* Adds the best strategies to the row of a node. */
static tp_status keep_best(tp_few *f, int node, bool with_ways, bool named) {
  const tp_planner *p = f->p;
  tp_words key;
  add_node_words(f, node, with_ways, named, &key);
  bool is_shared = key.n <= TP_MAX_WORDS;
  void **slot = is_shared ? tp__memo(&f->same_nodes, p->arena, key.words, key.n) : NULL;
  if (is_shared && !slot)
    return TP_NO_MEMORY;
  if (slot && *slot) {
    f->rows[node] = *slot;
    return TP_OK;
  }
  size_t n = (size_t)p->nodes[node].n;
  bool *row = tp__arena_array(p->arena, n + 1, sizeof *row);
  if (!row)
    return TP_NO_MEMORY;
  if (f->rows[node])
    memcpy(row, f->rows[node], n * sizeof *row);
  if (slot)
    *slot = row;
  tp_status status = price_and_keep(f, node, with_ways, named, row);
  f->rows[node] = row;
  return status;
}

/* Selects for ops alone first, then, in node order, for all other nodes. */
tp_status tp__few_choose(tp_few *f) {
  const tp_planner *p = f->p;
  tp_status status = TP_OK;
  for (int kind = 0; kind < 2; kind++)
    for (int i = 0; i < (int)p->n_nodes && status == TP_OK; i++)
      if ((p->nodes[i].kind == TP_NODE_OP) == (kind == 0))
        status = keep_best(f, i, kind == 1 && !tp__clock_is_over(p->limits.clock), true);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}

/* A row with one strategy. */
static const bool *chosen_row(tp_few *f, int node, int s) {
  const tp_planner *p = f->p;
  const int64_t key[] = {s, p->nodes[node].n};
  void **slot = tp__memo(&f->same_nodes, p->arena, key, TP_LEN(key));
  if (!slot || *slot)
    return slot ? *slot : NULL;
  bool *row = tp__arena_array(p->arena, (size_t)p->nodes[node].n + 1, sizeof *row);
  if (row)
    row[s] = true;
  return *slot = row;
}

/* Runs in node order, so that later nodes adapt to earlier ones and whole chains of values change
 * together. */
tp_status tp__few_around(tp_few *f, const int *choices) {
  const tp_planner *p = f->p;
  tp_status status = TP_OK;
  for (int i = 0; i < (int)p->n_nodes && status == TP_OK; i++)
    status = (f->rows[i] = chosen_row(f, i, choices[i])) ? TP_OK : TP_NO_MEMORY;
  for (int i = 0; i < (int)p->n_nodes && status == TP_OK && !tp__clock_is_over(p->limits.clock);
       i++)
    status = keep_best(f, i, true, false);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}
