/* Builds the stations of routes under a memory limit: their strategies, with cost and memory use of
 * each.
 *
 * A strategy is a layout, whether it differs from the preceding layout, and the extra bytes that
 * the reshard holds besides its result. The extra bytes of reshards in several steps are rounded up
 * to one of a few amounts. */
#include "passes/propagate/limits/route_stations.h"

#include <string.h>

enum { MAX_AMOUNTS = 3, MAX_SPACES = 16 };

/* ---- nodes and their memory use ---- */

tp_status tp__routes_node(struct tp_routes *r, tp_node_kind kind, int index, int *number) {
  tp_planner *p = r->p;
  if (tp__grow((void **)&p->problem.nodes, &p->problem.node_capacity, p->problem.n_nodes + 1,
               sizeof *p->problem.nodes) != TP_OK ||
      tp__grow((void **)&r->usages, &r->usage_capacity, p->problem.n_nodes + 1,
               sizeof *r->usages) != TP_OK ||
      tp__grow((void **)&r->tables, &r->table_capacity, p->problem.n_nodes + 1,
               sizeof(const tp_station_table *)) != TP_OK)
    return tp__plan_no_memory(p);
  p->problem.nodes[p->problem.n_nodes] =
      (tp_node){.kind = kind, .index = index, .n_in = 1, .n_out = 1};
  r->usages[p->problem.n_nodes] = (tp_usage){0};
  r->tables[p->problem.n_nodes] = NULL;
  *number = (int)p->problem.n_nodes++;
  return TP_OK;
}

/* Node `node` holds `bytes` (by strategy) at start <= t < end, in addition to what it already
 * holds. */
static tp_status hold(struct tp_routes *r, int node, int64_t start, int64_t end,
                      const int64_t *bytes) {
  tp_usage *u = &r->usages[node];
  if (start >= end)
    return TP_OK;
  if (u->n == u->capacity) {
    int capacity = u->capacity ? 2 * u->capacity : 2;
    tp_span *spans = tp__arena_array(r->p->problem.arena, (size_t)capacity, sizeof *spans);
    if (!spans)
      return tp__plan_no_memory(r->p);
    if (u->n > 0)
      memcpy(spans, u->spans, (size_t)u->n * sizeof *spans);
    u->spans = spans;
    u->capacity = capacity;
  }
  u->spans[u->n++] = (tp_span){start, end, bytes};
  return TP_OK;
}

int64_t tp__usage_at(const tp_usage *u, int64_t time, int s) {
  int64_t bytes = 0;
  for (int i = 0; i < u->n; i++)
    bytes += u->spans[i].start <= time && time < u->spans[i].end ? u->spans[i].bytes[s] : 0;
  return bytes;
}

int64_t tp__change_end(const tp_station_plan *plan) {
  return plan->anchor >= 0 ? plan->start + 1 : plan->end;
}

int64_t tp__change_start(const tp_station_plan *plan) {
  return plan->keeps ? plan->keep_start : plan->start;
}

/* A value computed in blocks holds one block. */
static int64_t held_bytes(const tp_planner *p, const tp_planned_value *v, tp_spec spec) {
  int64_t bytes = tp__value_bytes(p, v, spec);
  return v->in_blocks ? tp__block_bytes(v, bytes) : bytes;
}

tp_status tp__hold_output(struct tp_routes *r, int node, const tp_planned_value *v, int64_t start,
                          int64_t end) {
  const tp_node *n = &r->p->problem.nodes[node];
  int64_t *bytes = tp__arena_array(r->p->problem.arena, (size_t)n->n + 1, sizeof *bytes);
  if (!bytes)
    return tp__plan_no_memory(r->p);
  const tp_spec *specs = n->n_out ? n->out : n->in; /* a function result has no output */
  for (int s = 0; s < n->n; s++)
    bytes[s] = held_bytes(r->p, v, specs[n->n_out ? s * n->n_out + v->output : s]);
  return hold(r, node, start, end, bytes);
}

/* Inserts into an ascending list of distinct amounts. Returns the new length. */
static int add_amount(int64_t *list, int n, int64_t amount) {
  int at = 0;
  while (at < n && list[at] < amount)
    at++;
  if (at < n && list[at] == amount)
    return n;
  memmove(list + at + 1, list + at, (size_t)(n - at) * sizeof *list);
  list[at] = amount;
  return n + 1;
}

/* Reduces the list to `max` amounts, with the smallest and the largest among them. Returns the new
 * length. */
static int thin_out(int64_t *list, int n, int max) {
  for (int i = 1; i < max && n > max; i++)
    list[i] = list[i * (n - 1) / (max - 1)];
  return n < max ? n : max;
}

/* Adds a TP_NODE_SPACE with `n` amounts, for node `tied`. */
static tp_status add_space(struct tp_routes *r, int value, int tied, tp_space made, int n,
                           int64_t *amounts, int64_t start, int64_t end) {
  tp_planner *p = r->p;
  if (tp__routes_node(r, TP_NODE_SPACE, value, &made.node) != TP_OK ||
      tp__grow((void **)&r->spaces, &r->space_capacity, r->n_spaces + 1, sizeof *r->spaces) !=
          TP_OK)
    return tp__plan_no_memory(p);
  tp_node *space = &p->problem.nodes[made.node];
  *space = (tp_node){.kind = TP_NODE_SPACE, .index = value, .slot = tied, .n = n};
  space->costs = tp__arena_array(p->problem.arena, (size_t)n, sizeof *space->costs);
  if (!space->costs)
    return tp__plan_no_memory(p);
  r->spaces[r->n_spaces++] = made;
  return hold(r, made.node, start, end, amounts);
}

/* Lists the amounts of `bytes`, thinned out to at most MAX_SPACES; number[s] becomes the index of
 * the next amount >= bytes[s]. Returns the number of amounts. */
static int number_amounts(const int64_t *bytes, int n_bytes, int64_t *list, int *number) {
  int n = 0;
  for (int s = 0; s < n_bytes; s++)
    n = add_amount(list, n, bytes[s]);
  n = thin_out(list, n, MAX_SPACES);
  for (int s = 0; s < n_bytes; s++)
    while (list[number[s]] < bytes[s])
      number[s]++;
  return n;
}

tp_status tp__hold_space(struct tp_routes *r, int value, int node, const int64_t *bytes,
                         int64_t start, int64_t end) {
  tp_planner *p = r->p;
  int n_tied = p->problem.nodes[node].n;
  tp_space made = {
      .before = -1,
      .strategy = tp__arena_array(p->problem.arena, (size_t)n_tied + 1, sizeof *made.strategy)};
  int64_t *list = tp__arena_array(p->problem.arena, (size_t)n_tied + 1, sizeof *list);
  if (!list || !made.strategy)
    return tp__plan_no_memory(p);
  int n = number_amounts(bytes, n_tied, list, made.strategy);
  return n == 0 || list[n - 1] == 0 ? TP_OK : add_space(r, value, node, made, n, list, start, end);
}

tp_status tp__hold_source(struct tp_routes *r, int value, int station, int before, int output,
                          int64_t start, int64_t end) {
  tp_planner *p = r->p;
  const tp_node *from = &p->problem.nodes[before];
  tp_space made = {
      .before = before,
      .strategy = tp__arena_array(p->problem.arena, (size_t)from->n + 1, sizeof *made.strategy)};
  int64_t *bytes = tp__arena_array(p->problem.arena, 2 * (size_t)from->n + 2, sizeof *bytes),
          *list = bytes + from->n;
  if (!bytes || !made.strategy)
    return tp__plan_no_memory(p);
  for (int s = 0; s < from->n; s++)
    bytes[s] = tp__value_bytes(p, &p->problem.values[value], from->out[s * from->n_out + output]);
  /* list[0] = 0 is the amount if no layout changes */
  int n = number_amounts(bytes, from->n, list + 1, made.strategy);
  for (int s = 0; s < from->n; s++)
    made.strategy[s]++;
  return add_space(r, value, station, made, n + 1, list, start, end);
}

/* ---- lists of layouts ---- */

int tp__add_distinct(tp_spec *specs, int n, tp_spec spec) {
  for (int i = 0; i < n; i++)
    if (tp_spec_equal(specs[i], spec))
      return n;
  if (n < TP_MAX_STATION_LAYOUTS)
    specs[n++] = spec;
  return n;
}

int tp__add_outputs(const tp_planner *p, int node, int output, tp_spec *specs, int n) {
  const tp_node *from = &p->problem.nodes[node];
  for (int s = 0; s < from->n; s++)
    n = tp__add_distinct(specs, n, from->out[s * from->n_out + output]);
  return n;
}

int tp__add_inputs(const tp_planner *p, const tp_use *use, tp_spec *specs, int n) {
  const tp_node *to = &p->problem.nodes[use->node];
  for (int s = 0; s < to->n; s++)
    n = tp__add_distinct(specs, n, to->in[s * to->n_in + use->input]);
  return n;
}

/* ---- stations ---- */

/* Lists the excess bytes of all reshards into one layout: at most MAX_AMOUNTS amounts, with the
 * largest among them. */
static int amounts(const int64_t *excess, int stride, const tp_cost *costs, int n, int64_t *list) {
  int count = 0;
  for (int i = 0; i < n; i++)
    if (excess[i * stride] >= 0 && costs[i * stride] < TP_COST_FORBIDDEN)
      count = add_amount(list, count, excess[i * stride]);
  return thin_out(list, count, MAX_AMOUNTS);
}

/* Computes costs and excess bytes of all reshards; the excess is -1 if the layout does not change.
 * `keeps` adds the source of the reshard. */
static void price_changes(struct tp_routes *r, const tp_planned_value *v, const tp_spec *before,
                          const tp_spec *layouts, bool keeps, tp_station_table *t) {
  tp_planner *p = r->p;
  for (int i = 0; i < t->n_before && !tp__clock_gives_up(p); i++)
    for (int k = 0; k < t->n_layouts; k++) {
      size_t at = (size_t)i * (size_t)t->n_layouts + (size_t)k;
      tp_reshard path;
      t->excess[at] = -1;
      if (tp_spec_equal(before[i], layouts[k]))
        continue;
      t->costs[at] = tp__cost_times(tp_reshard_cost(p->problem.reshards, before[i], layouts[k],
                                                    v->rank, v->shape, v->element_size),
                                    v->trips);
      if (t->costs[at] < TP_COST_FORBIDDEN &&
          tp_reshard_path(p->problem.reshards, before[i], layouts[k], v->rank, v->shape,
                          v->element_size, &path) == TP_OK)
        t->excess[at] = tp__reshard_excess(&path, v->rank, v->shape, v->element_size) +
                        keeps * tp__value_bytes(p, v, before[i]);
    }
}

static tp_station_table *allocate_table(tp_planner *p, int n_before, int n_layouts) {
  tp_station_table *t = tp__arena_alloc(p->problem.arena, sizeof *t);
  size_t max = (size_t)n_layouts * (MAX_AMOUNTS + 1), pairs = (size_t)n_before * (size_t)n_layouts;
  if (!t)
    return NULL;
  *t = (tp_station_table){.n_before = n_before, .n_layouts = n_layouts};
  t->specs = tp__arena_array(p->problem.arena, max, sizeof *t->specs);
  t->station_strategies = tp__arena_array(p->problem.arena, max, sizeof *t->station_strategies);
  t->layout = tp__arena_array(p->problem.arena, max, sizeof *t->layout);
  t->costs = tp__arena_array(p->problem.arena, pairs, sizeof *t->costs);
  t->excess = tp__arena_array(p->problem.arena, pairs, sizeof *t->excess);
  return t->specs && t->station_strategies && t->layout && t->costs && t->excess ? t : NULL;
}

static tp_station_table *make_table(struct tp_routes *r, const tp_planned_value *v, int n_before,
                                    const tp_spec *before, int n_layouts, const tp_spec *layouts,
                                    bool keeps) {
  tp_station_table *t = allocate_table(r->p, n_before, n_layouts);
  int64_t list[TP_MAX_STATION_LAYOUTS + 1];
  if (!t)
    return NULL;
  price_changes(r, v, before, layouts, keeps, t);
  for (int k = 0; k < n_layouts; k++) {
    for (int i = 0; i < n_before; i++)
      if (tp_spec_equal(before[i], layouts[k])) {
        t->specs[t->n] = layouts[k];
        t->layout[t->n++] = k;
        break;
      }
    int n = amounts(t->excess + k, n_layouts, t->costs + k, n_before, list);
    for (int i = 0; i < n; i++) {
      t->specs[t->n] = layouts[k];
      t->station_strategies[t->n] = (tp_station_strategy){true, list[i]};
      t->layout[t->n++] = k;
    }
  }
  return t;
}

static tp_station_table *find_table(struct tp_routes *r, const tp_planned_value *v, int n_before,
                                    const tp_spec *before, int n_layouts, const tp_spec *layouts,
                                    bool keeps) {
  tp_memo_key key;
  key.n = 0;
  tp__memo_key_add(&key, n_before);
  tp__memo_key_add(&key, keeps);
  tp__memo_key_add(&key, v->element_size);
  tp__memo_key_add(&key, (int64_t)v->trips);
  tp__memo_key_add(&key, v->rank);
  for (int d = 0; d < v->rank; d++)
    tp__memo_key_add(&key, v->shape[d]);
  for (int i = 0; i < n_before; i++)
    tp__memo_key_add(&key, (int64_t)before[i].bits);
  for (int i = 0; i < n_layouts; i++)
    tp__memo_key_add(&key, (int64_t)layouts[i].bits);
  if (key.n > TP_MAX_KEY_WORDS)
    return make_table(r, v, n_before, before, n_layouts, layouts, keeps);
  void **slot = tp__memo(&r->same_stations, r->p->problem.arena, key.words, key.n);
  if (slot && !*slot)
    *slot = make_table(r, v, n_before, before, n_layouts, layouts, keeps);
  return slot ? *slot : NULL;
}

/* Adds a station of a sketch. Its node has one strategy per layout. The edges account for the
 * memory of reshards, so the node holds none. */
static tp_status sketch_station(struct tp_routes *r, int value, int n_layouts,
                                const tp_spec *layouts, const tp_station_plan *plan, int *station) {
  tp_planner *p = r->p;
  tp_route *route = &r->routes[value];
  int number = -1;
  tp_station_plan *kept = tp__arena_alloc(p->problem.arena, sizeof *kept);
  if (!kept || (!plan->is_alone && tp__routes_node(r, TP_NODE_CHANGE, value, &number) != TP_OK))
    return tp__plan_no_memory(p);
  *kept = *plan;
  *station = route->n_stations++;
  route->stations[*station] = (tp_station){number, plan->before, plan->anchor, plan->in_op, kept};
  if (number < 0)
    return TP_OK;
  int64_t key[TP_MAX_STATION_LAYOUTS];
  for (int i = 0; i < n_layouts; i++)
    key[i] = (int64_t)layouts[i].bits;
  void **slot = tp__memo(&r->same_stations, p->problem.arena, key, (size_t)n_layouts);
  if (slot && !*slot &&
      (*slot = tp__arena_array(p->problem.arena, (size_t)n_layouts + 1, sizeof *layouts)))
    memcpy(*slot, layouts, (size_t)n_layouts * sizeof *layouts);
  tp_node *node = &p->problem.nodes[number];
  node->n = n_layouts;
  node->in = node->out = slot ? *slot : NULL;
  node->costs = tp__arena_array(p->problem.arena, (size_t)n_layouts + 1, sizeof *node->costs);
  return node->in && node->costs ? TP_OK : tp__plan_no_memory(p);
}

/* Adds the memory use of a station: the result of a reshard, a second copy if its user cannot
 * overwrite it, and the steps. */
static tp_status hold_change(struct tp_routes *r, int value, int station,
                             const tp_station_plan *plan) {
  const tp_planned_value *v = &r->p->problem.values[value];
  const tp_node *node = &r->p->problem.nodes[station];
  int64_t *steps = tp__arena_array(r->p->problem.arena, 2 * (size_t)node->n + 1, sizeof *steps),
          *made = steps + node->n;
  if (!steps)
    return tp__plan_no_memory(r->p);
  for (int s = 0; s < node->n; s++)
    if (node->station_strategies[s].changed) {
      steps[s] = node->station_strategies[s].excess;
      made[s] = tp__value_bytes(r->p, v, node->out[s]);
    }
  tp_status status = hold(r, station, tp__change_start(plan), tp__change_end(plan), steps);
  if (status == TP_OK && !plan->elsewhere)
    status = hold(r, station, plan->start, plan->end, made);
  if (status == TP_OK && !plan->elsewhere && plan->twice)
    status = hold(r, station, plan->twice_start, plan->end, made);
  return status;
}

tp_status tp__add_station(struct tp_routes *r, int value, int n_layouts, const tp_spec *layouts,
                          const tp_station_plan *plan, int *station) {
  tp_planner *p = r->p;
  const tp_planned_value *v = &p->problem.values[value];
  tp_route *route = &r->routes[value];
  tp_spec before[TP_MAX_STATION_LAYOUTS];
  int number;
  if (r->is_sketch)
    return sketch_station(r, value, n_layouts, layouts, plan, station);
  int n_before = plan->before < 0
                     ? tp__add_outputs(p, v->node, v->output, before, 0)
                     : tp__add_outputs(p, route->stations[plan->before].node, 0, before, 0);
  tp_station_table *t = find_table(r, v, n_before, before, n_layouts, layouts, plan->keeps);
  if (!t || tp__routes_node(r, TP_NODE_CHANGE, value, &number) != TP_OK)
    return tp__plan_no_memory(p);
  tp_node *node = &p->problem.nodes[number];
  node->n = t->n;
  node->in = node->out = t->specs;
  node->station_strategies = t->station_strategies;
  node->costs = tp__arena_array(p->problem.arena, (size_t)t->n + 1, sizeof *node->costs);
  if (!node->costs)
    return tp__plan_no_memory(p);
  if (hold_change(r, value, number, plan) != TP_OK)
    return TP_NO_MEMORY;
  r->tables[number] = t;
  *station = route->n_stations++;
  route->stations[*station] = (tp_station){number, plan->before, plan->anchor, plan->in_op, NULL};
  if (plan->source_end <= plan->source_start)
    return TP_OK;
  bool is_first = plan->before < 0;
  return tp__hold_source(
      r, value, number,
      is_first ? p->problem.values[value].node : route->stations[plan->before].node,
      is_first ? p->problem.values[value].output : 0, plan->source_start, plan->source_end);
}
