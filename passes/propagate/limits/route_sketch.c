/* Edges of route sketches, and the memory use of a choice of layouts (route_sketch.h). */
#include "passes/propagate/limits/route_sketch.h"

#include "passes/propagate/limits/reduced_planner.h"

#include <string.h>

tp_status tp__sketch_open(const tp_planner *p, tp_planner *sketch) {
  tp_status status = tp__planner_copy(p, sketch);
  sketch->heeds_clock = true;
  return status == TP_OK ? tp__routes_build(sketch, true) : status;
}

size_t tp__sketch_times(const tp_planner *p) { return 2 * p->routes->timeline.n + 2; }

/* ---- reshards ---- */

/* The layouts of one output or input of a node, by strategy. */
typedef struct column {
  const tp_spec *specs;
  int n, stride;
} column;

#define NOTHING_CHANGES ((tp_cost) - 1)

/* All reshards between two columns. */
typedef struct moves {
  int n_from, n_to;
  int *from, *to; /* by strategy: index of its layout */
  /* [n_from][n_to]; NOTHING_CHANGES for equal layouts, TP_COST_FORBIDDEN if impossible */
  tp_cost *costs;
  int64_t *from_bytes, *to_bytes; /* by layout */
} moves;

static column output_of(const tp_planner *p, int node, int output) {
  const tp_node *n = &p->problem.nodes[node];
  return (column){n->out + output, n->n, n->n_out};
}

static column input_of(const tp_planner *p, int node, int input) {
  const tp_node *n = &p->problem.nodes[node];
  return (column){n->in + input, n->n, n->n_in};
}

/* Numbers the distinct layouts of a column; returns how many there are. */
static int distinct(const column *c, tp_spec *list, int *number) {
  int count = 0;
  for (int s = 0; s < c->n; s++) {
    int i = 0;
    while (i < count && !tp_spec_equal(list[i], c->specs[s * c->stride]))
      i++;
    if (i == count)
      list[count++] = c->specs[s * c->stride];
    number[s] = i;
  }
  return count;
}

static void price_moves(tp_planner *p, const tp_planned_value *v, const tp_spec *from,
                        tp_reshard_targets *targets, moves *m) {
  const tp_spec *to = targets->to;
  for (int i = 0; i < m->n_from; i++)
    m->from_bytes[i] = tp__value_bytes(p, v, from[i]);
  for (int k = 0; k < m->n_to; k++)
    m->to_bytes[k] = tp__value_bytes(p, v, to[k]);
  for (int i = 0; i < m->n_from && !tp__clock_gives_up(p); i++) {
    tp_cost *costs = m->costs + (size_t)i * (size_t)m->n_to;
    tp_reshard_costs(p->problem.reshards, targets, from[i], costs);
    for (int k = 0; k < m->n_to; k++)
      costs[k] =
          tp_spec_equal(from[i], to[k]) ? NOTHING_CHANGES : tp__cost_times(costs[k], v->trips);
  }
}

static moves *make_moves(tp_planner *p, const tp_planned_value *v, const column *a,
                         const column *b) {
  moves *m = tp__arena_alloc(p->problem.arena, sizeof *m);
  tp_spec *lists = tp__calloc((size_t)a->n + (size_t)b->n + 1, sizeof *lists);
  int *numbers = tp__calloc((size_t)b->n + 1, sizeof *numbers);
  if (m) {
    *m = (moves){.from = tp__arena_array(p->problem.arena, (size_t)a->n, sizeof *m->from),
                 .to = tp__arena_array(p->problem.arena, (size_t)b->n, sizeof *m->to)};
    if (lists && numbers && m->from && m->to) {
      m->n_from = distinct(a, lists, m->from);
      m->n_to = distinct(b, lists + a->n, m->to);
    }
    size_t pairs = (size_t)m->n_from * (size_t)m->n_to;
    m->costs = tp__arena_array(p->problem.arena, pairs + 1, sizeof *m->costs);
    m->from_bytes = tp__arena_array(p->problem.arena, (size_t)m->n_from + 1, sizeof *m->from_bytes);
    m->to_bytes = tp__arena_array(p->problem.arena, (size_t)m->n_to + 1, sizeof *m->to_bytes);
    bool ok = m->n_from > 0 && m->costs && m->from_bytes && m->to_bytes;
    tp_reshard_targets targets = {.rank = v->rank,
                                  .shape = v->shape,
                                  .element_size = v->element_size,
                                  .n = m->n_to,
                                  .to = lists + a->n,
                                  .number = numbers};
    if (ok)
      price_moves(p, v, lists, &targets, m);
    m = ok ? m : NULL;
  }
  tp__free(lists);
  tp__free(numbers);
  return m;
}

/* Equal columns have equal reshards: they are computed once and reused at all prices. */
static const moves *find_moves(struct tp_routes *r, const tp_planned_value *v, const column *a,
                               const column *b) {
  tp_memo_key key;
  key.n = 0;
  tp__memo_key_add(&key, (int64_t)(intptr_t)a->specs);
  tp__memo_key_add(&key, (int64_t)(intptr_t)b->specs);
  tp__memo_key_add(&key, (int64_t)a->n << 32 | a->stride);
  tp__memo_key_add(&key, (int64_t)b->n << 32 | b->stride);
  tp__memo_key_add(&key, v->element_size);
  tp__memo_key_add(&key, (int64_t)v->trips);
  for (int d = 0; d < v->rank; d++)
    tp__memo_key_add(&key, v->shape[d]);
  void **slot = tp__memo(&r->same_moves, r->p->problem.arena, key.words, key.n);
  if (slot && !*slot)
    *slot = make_moves(r->p, v, a, b);
  return slot ? *slot : NULL;
}

static uint64_t weight_of(const struct tp_routes *r, int64_t start, int64_t end) {
  return r->prices && start < end ? r->prices[end] - r->prices[start] : 0;
}

/* Sums of prices over the times at which a reshard holds memory, except for its steps. */
typedef struct weights {
  uint64_t from, made; /* of its source, and of its result */
} weights;

static weights weights_of(const struct tp_routes *r, const tp_station_plan *plan) {
  weights w = {.from = weight_of(r, plan->source_start, plan->source_end)};
  if (plan->keeps)
    w.from += weight_of(r, tp__change_start(plan), tp__change_end(plan));
  if (!plan->elsewhere)
    w.made = weight_of(r, plan->start, plan->end);
  if (!plan->elsewhere && plan->twice)
    w.made += weight_of(r, plan->twice_start, plan->end);
  return w;
}

/* ---- edges ---- */

static tp_status add_moves(struct tp_routes *r, tp_problem *problem, const moves *m, weights w,
                           int from, int to) {
  const tp_planner *p = r->p;
  size_t rows = (size_t)p->problem.nodes[from].n, columns = (size_t)p->problem.nodes[to].n;
  size_t pairs = (size_t)m->n_from * (size_t)m->n_to;
  tp_cost *priced = tp__calloc(pairs + 1, sizeof *priced),
          *table = tp__calloc(rows * columns + 1, sizeof *table);
  tp_status status = priced && table ? TP_OK : TP_NO_MEMORY;
  for (size_t at = 0; at < pairs && status == TP_OK; at++) {
    tp_cost paid = tp__memory_payment(w.from, m->from_bytes[at / (size_t)m->n_to]) +
                   tp__memory_payment(w.made, m->to_bytes[at % (size_t)m->n_to]);
    priced[at] = m->costs[at] == NOTHING_CHANGES ? 0 : tp_cost_add(m->costs[at], paid);
  }
  for (size_t x = 0; x < rows && status == TP_OK; x++)
    for (size_t y = 0; y < columns; y++)
      table[x * columns + y] = priced[(size_t)m->from[x] * (size_t)m->n_to + (size_t)m->to[y]];
  if (status == TP_OK)
    status = tp_problem_add_edge(problem, from, to, table);
  tp__free(priced);
  tp__free(table);
  return status;
}

/* Adds the edge from node `from` to node `to`, through a station. Equal reshards at equal prices
 * share their table. */
static tp_status add_edge(struct tp_routes *r, tp_problem *problem, const tp_planned_value *v,
                          const tp_station_plan *plan, int from, int output, int to, int input) {
  tp_planner *p = r->p;
  column a = output_of(p, from, output), b = input_of(p, to, input);
  const moves *m = find_moves(r, v, &a, &b);
  if (!m)
    return tp__plan_no_memory(p);
  weights w = weights_of(r, plan);
  const int64_t key[] = {(int64_t)(intptr_t)m, (int64_t)w.from, (int64_t)w.made};
  void **slot = from == to ? NULL : tp__memo(&p->same_edges, p->problem.arena, key, TP_LEN(key));
  if (from == to) /* a loop that yields the value it carries */
    return TP_OK;
  if (!slot)
    return tp__plan_no_memory(p);
  tp_status status;
  if (*slot) {
    status = tp_problem_repeat_edge(problem, from, to, (int)((intptr_t)*slot - 1));
  } else {
    *slot = (void *)(intptr_t)(tp_problem_n_edges(problem) + 1); /* edge number + 1 */
    status = add_moves(r, problem, m, w, from, to);
  }
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}

/* The node and output in front of a station. */
static void before(const tp_planned_value *v, const tp_route *route, const tp_station *s, int *node,
                   int *output) {
  *node = s->before >= 0 ? route->stations[s->before].node : v->node;
  *output = s->before >= 0 ? 0 : v->output;
}

tp_status tp__sketch_value(struct tp_routes *r, tp_problem *problem, const tp_planned_value *v) {
  const tp_route *route = tp__route(r, v);
  tp_status status = TP_OK;
  int node, output;
  for (int i = 0; i < route->n_stations && status == TP_OK; i++) {
    const tp_station *s = &route->stations[i];
    before(v, route, s, &node, &output);
    if (s->node >= 0)
      status = add_edge(r, problem, v, s->plan, node, output, s->node, 0);
  }
  for (int u = 0; u < v->n_uses && route->n_stations > 0 && status == TP_OK; u++) {
    if (v->uses[u].served_by >= 0)
      continue;
    const tp_station *s = &route->stations[route->of_use[u]];
    before(v, route, s, &node, &output);
    status = add_edge(r, problem, v, s->plan, node, output, v->uses[u].node, v->uses[u].input);
  }
  return status;
}

tp_cost tp__sketch_payment(const tp_planner *p, int node, int s) {
  const tp_usage *u = tp__usage(p->routes, node);
  tp_cost paid = 0;
  for (int i = 0; i < u->n; i++)
    paid = tp_cost_add(paid,
                       tp__memory_payment(weight_of(p->routes, u->spans[i].start, u->spans[i].end),
                                          u->spans[i].bytes[s]));
  return paid;
}

/* ---- memory use of a choice ---- */

static void hold(int64_t *used, int64_t start, int64_t end, int64_t bytes) {
  used[start] += bytes;
  used[end] -= bytes;
}

static tp_spec chosen_output(const tp_planner *p, const int *choices, int node, int output) {
  return p->problem.nodes[node].out[choices[node] * p->problem.nodes[node].n_out + output];
}

/* Bytes that the steps of a reshard hold besides its result, while its source is kept. */
static int64_t excess_of(const tp_planner *p, const tp_planned_value *v, tp_spec from, tp_spec to) {
  tp_reshard path;
  if (tp_reshard_path(p->problem.reshards, from, to, v->rank, v->shape, v->element_size, &path) !=
      TP_OK)
    return 0; /* no path exists, so no choice uses it */
  return tp__reshard_excess(&path, v->rank, v->shape, v->element_size);
}

static void use_station(const tp_planner *p, const tp_planned_value *v, const tp_station *s,
                        tp_spec to, const int *choices, int64_t *used) {
  int node, output;
  before(v, tp__route(p->routes, v), s, &node, &output);
  tp_spec from = chosen_output(p, choices, node, output);
  if (tp_spec_equal(from, to))
    return;
  const tp_station_plan *plan = s->plan;
  int64_t start = tp__value_bytes(p, v, from),
          made = plan->elsewhere ? 0 : tp__value_bytes(p, v, to);
  hold(used, tp__change_start(plan), tp__change_end(plan),
       excess_of(p, v, from, to) + plan->keeps * start);
  hold(used, plan->start, plan->end, made);
  hold(used, plan->twice_start, plan->end, plan->twice * made);
  hold(used, plan->source_start, plan->source_end, start);
}

void tp__sketch_used(const tp_planner *p, const int *choices, int64_t *used) {
  size_t n_times = tp__sketch_times(p);
  memset(used, 0, (n_times + 1) * sizeof *used);
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    const tp_usage *u = tp__usage(p->routes, (int)i);
    for (int k = 0; k < u->n; k++) {
      const tp_span *span = &u->spans[k];
      int64_t bytes = span->bytes[choices ? choices[i] : 0];
      for (int s = 1; !choices && s < p->problem.nodes[i].n; s++)
        bytes = span->bytes[s] < bytes ? span->bytes[s] : bytes;
      hold(used, span->start, span->end, bytes);
    }
  }
  for (size_t k = 0; k < p->problem.n_values && choices; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    const tp_route *route = tp__route(p->routes, v);
    for (int i = 0; i < route->n_stations; i++)
      if (route->stations[i].node >= 0)
        use_station(p, v, &route->stations[i],
                    chosen_output(p, choices, route->stations[i].node, 0), choices, used);
    for (int u = 0; u < v->n_uses && route->n_stations > 0; u++) {
      if (v->uses[u].served_by >= 0)
        continue;
      const tp_node *to = &p->problem.nodes[v->uses[u].node];
      use_station(p, v, &route->stations[route->of_use[u]],
                  to->in[choices[v->uses[u].node] * to->n_in + v->uses[u].input], choices, used);
    }
  }
  for (size_t t = 1; t <= n_times; t++)
    used[t] += used[t - 1];
}
