/* Adds the nodes and edges of routes to the solver's problem. */
#include "passes/propagate/limits/route_sketch.h"

static int number_of(const tp_spec *specs, int n, tp_spec spec) {
  for (int i = 0; i < n; i++)
    if (tp_spec_equal(specs[i], spec))
      return i;
  return n - 1; /* not in a truncated list: callers compare the layouts again */
}

/* ---- the order of nodes ---- */

static void choose_places(int n_first, const int *first_of, const int *next, int *place) {
  int n = 0;
  for (int i = 0; i < n_first; i++) {
    place[i] = n++;
    for (int k = first_of[i]; k >= 0; k = next[k])
      place[k] = n++;
  }
}

static void renumber(struct tp_routes *r, const int *place, tp_node *nodes, tp_usage *usages,
                     const tp_station_table **tables) {
  tp_planner *p = r->p;
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    nodes[place[i]] = p->problem.nodes[i];
    usages[place[i]] = r->usages[i];
    tables[place[i]] = r->tables[i];
  }
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    p->problem.nodes[i] = nodes[i];
    if (nodes[i].kind == TP_NODE_HELD || nodes[i].kind == TP_NODE_SPACE)
      p->problem.nodes[i].slot = place[nodes[i].slot];
    r->usages[i] = usages[i];
    r->tables[i] = tables[i];
  }
  for (size_t k = 0; k < p->problem.n_values; k++) {
    tp_planned_value *v = &p->problem.values[k];
    v->node = place[v->node];
    for (int u = 0; u < v->n_uses; u++)
      v->uses[u].node = place[v->uses[u].node];
    for (int i = 0; i < r->routes[k].n_stations; i++)
      if (r->routes[k].stations[i].node >= 0)
        r->routes[k].stations[i].node = place[r->routes[k].stations[i].node];
  }
  for (size_t i = 0; i < r->n_spaces; i++) {
    r->spaces[i].node = place[r->spaces[i].node];
    r->spaces[i].before = r->spaces[i].before < 0 ? -1 : place[r->spaces[i].before];
  }
}

tp_status tp__routes_order(struct tp_routes *r) {
  tp_planner *p = r->p;
  size_t n = p->problem.n_nodes;
  int n_first = 0, *lists = tp__calloc(3 * n + 1, sizeof *lists), *next = lists + n;
  tp_node *nodes = tp__calloc(n + 1, sizeof *nodes);
  tp_usage *usages = tp__calloc(n + 1, sizeof *usages);
  const tp_station_table **tables = tp__calloc(n + 1, sizeof(const tp_station_table *));
  bool ok = lists && nodes && usages && tables;
  for (size_t i = 0; i < n && ok; i++) {
    lists[i] = -1;
    n_first += p->problem.nodes[i].kind != TP_NODE_CHANGE &&
               p->problem.nodes[i].kind != TP_NODE_HELD &&
               p->problem.nodes[i].kind != TP_NODE_SPACE;
  }
  for (size_t i = n; ok && i-- > (size_t)n_first;) {
    /* backwards, since each node is pushed to the front of its list */
    int producer = p->problem.values[p->problem.nodes[i].index].node;
    next[i] = lists[producer];
    lists[producer] = (int)i;
  }
  if (ok) {
    choose_places(n_first, lists, next, lists + 2 * n);
    renumber(r, lists + 2 * n, nodes, usages, tables);
  }
  tp__free(lists);
  tp__free(nodes);
  tp__free(usages);
  tp__free(tables);
  return ok ? TP_OK : tp__plan_no_memory(p);
}

/* ---- edges ---- */

typedef struct link {
  int from, output, to, input;
} link;

/* Fills the table of an edge from the node in front of a station to the station. */
static void fill_change(const tp_planner *p, const tp_station_table *t, const link *e,
                        tp_cost *table) {
  const tp_node *a = &p->problem.nodes[e->from], *b = &p->problem.nodes[e->to];
  tp_spec before[TP_MAX_STATION_LAYOUTS];
  int n = tp__add_outputs(p, e->from, e->output, before, 0);
  for (int x = 0; x < a->n; x++) {
    tp_spec spec = a->out[x * a->n_out + e->output];
    int i = number_of(before, n, spec);
    for (int y = 0; y < b->n; y++) {
      size_t at = (size_t)i * (size_t)t->n_layouts + (size_t)t->layout[y];
      tp_cost *cost = &table[(size_t)x * (size_t)b->n + (size_t)y];
      *cost = TP_COST_FORBIDDEN;
      if (!t->station_strategies[y].changed)
        *cost = tp_spec_equal(spec, t->specs[y]) ? 0 : TP_COST_FORBIDDEN;
      else if (t->excess[at] >= 0 && t->excess[at] <= t->station_strategies[y].excess &&
               tp_spec_equal(before[i], spec))
        *cost = t->costs[at];
    }
  }
}

/* Fills the table of an edge without a reshard: both layouts must be equal. */
static void fill_equal(const tp_planner *p, const link *e, tp_cost *table) {
  const tp_node *a = &p->problem.nodes[e->from], *b = &p->problem.nodes[e->to];
  for (int x = 0; x < a->n; x++)
    for (int y = 0; y < b->n; y++)
      table[(size_t)x * (size_t)b->n + (size_t)y] =
          tp_spec_equal(a->out[x * a->n_out + e->output], b->in[y * b->n_in + e->input])
              ? 0
              : TP_COST_FORBIDDEN;
}

/* Adds an edge; with `t` it is a reshard at that station. Equal links share their table. */
static tp_status add_link(struct tp_routes *r, tp_problem *problem, link e,
                          const tp_station_table *t) {
  tp_planner *p = r->p;
  const tp_node *a = &p->problem.nodes[e.from], *b = &p->problem.nodes[e.to];
  if (e.from == e.to)
    return TP_OK;
  const int64_t key[] = {t ? 1 : 2, (int64_t)(intptr_t)(a->out + e.output),
                         (int64_t)(intptr_t)(b->in + e.input), (int64_t)a->n << 32 | a->n_out,
                         (int64_t)b->n << 32 | b->n_in};
  void **slot = tp__memo(&p->same_edges, p->problem.arena, key, TP_LEN(key));
  if (!slot)
    return tp__plan_no_memory(p);
  tp_status status = TP_NO_MEMORY;
  if (*slot) {
    status = tp_problem_repeat_edge(problem, e.from, e.to, (int)((intptr_t)*slot - 1));
  } else {
    *slot = (void *)(intptr_t)(tp_problem_n_edges(problem) + 1); /* edge number + 1 */
    tp_cost *table = tp__calloc((size_t)a->n * (size_t)b->n + 1, sizeof *table);
    if (table && t)
      fill_change(p, t, &e, table);
    else if (table)
      fill_equal(p, &e, table);
    if (table)
      status = tp_problem_add_edge(problem, e.from, e.to, table);
    tp__free(table);
  }
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}

static tp_status link_value(struct tp_routes *r, tp_problem *problem, const tp_planned_value *v) {
  const tp_route *route = tp__route(r, v);
  tp_status status = TP_OK;
  for (int i = 0; i < route->n_stations && status == TP_OK; i++) {
    const tp_station *s = &route->stations[i];
    link e = {v->node, v->output, s->node, 0};
    if (s->before >= 0)
      e = (link){route->stations[s->before].node, 0, s->node, 0};
    status = add_link(r, problem, e, r->tables[s->node]);
  }
  for (int u = 0; u < v->n_uses && route->n_stations > 0 && status == TP_OK; u++)
    status = add_link(
        r, problem,
        (link){route->stations[route->of_use[u]].node, 0, v->uses[u].node, v->uses[u].input}, NULL);
  return status;
}

/* True if strategy y of a space matches strategy s of `node`. */
static bool goes_together(const tp_space *space, const tp_node *node, int node_number, int s,
                          int y) {
  if (space->before < 0)
    return y == space->strategy[s];
  if (node_number == space->before)
    return y == 0 || y == space->strategy[s];
  return node->station_strategies[s].changed == (y > 0);
}

static tp_status link_space_to(struct tp_routes *r, tp_problem *problem, const tp_space *space,
                               int number) {
  const tp_planner *p = r->p;
  const tp_node *node = &p->problem.nodes[number];
  int n = p->problem.nodes[space->node].n;
  tp_cost *table = tp__calloc((size_t)node->n * (size_t)n + 1, sizeof *table);
  if (!table)
    return tp__plan_no_memory(r->p);
  for (int s = 0; s < node->n; s++)
    for (int y = 0; y < n; y++)
      table[s * n + y] = goes_together(space, node, number, s, y) ? 0 : TP_COST_FORBIDDEN;
  tp_status status = tp_problem_add_edge(problem, number, space->node, table);
  tp__free(table);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(r->p);
}

static tp_status link_space(struct tp_routes *r, tp_problem *problem, const tp_space *space) {
  tp_status status = link_space_to(r, problem, space, r->p->problem.nodes[space->node].slot);
  return status == TP_OK && space->before >= 0 ? link_space_to(r, problem, space, space->before)
                                               : status;
}

tp_status tp__routes_state(tp_planner *p, tp_problem *problem) {
  struct tp_routes *r = p->routes;
  tp_status status = TP_OK;
  for (size_t k = 0; k < p->problem.n_values && status == TP_OK && !p->is_given_up; k++)
    status = r->is_sketch ? tp__sketch_value(r, problem, &p->problem.values[k])
                          : link_value(r, problem, &p->problem.values[k]);
  for (size_t i = 0; i < r->n_spaces && status == TP_OK; i++)
    status = link_space(r, problem, &r->spaces[i]);
  for (size_t i = 0; i < p->problem.n_nodes && status == TP_OK; i++) {
    if (p->problem.nodes[i].kind == TP_NODE_HELD)
      status = add_link(r, problem, (link){p->problem.nodes[i].slot, 0, (int)i, 0}, NULL);
    const tp_usage *u = &r->usages[i];
    for (int k = 0; k < u->n && status == TP_OK; k++)
      if (tp_problem_add_usage(problem, (int)i, u->spans[k].start, u->spans[k].end,
                               u->spans[k].bytes) != TP_OK)
        status = tp__plan_no_memory(p);
  }
  return status;
}
