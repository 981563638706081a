/* Passes messages between the layouts of nodes. */
#include "passes/propagate/limits/layout_messages.h"

#include "ir/run_hooks.h"

#include <string.h>

/* ---- layouts ---- */

typedef struct builder {
  tp_layout_messages *m;
  tp_memo columns, lists, specs;
  int n_edges;
  tp_cost *moved; /* the rest of the messages' */
} builder;

static const tp_layout_column *find_column(builder *b, int number, bool makes, int at) {
  return tp__layout_column(&b->columns, &b->m->arena, &b->m->p->problem.nodes[number], makes, at);
}

/* Adds the layouts of a column, whose values have this order of dimensions, to those of a
 * tensor. */
static tp_status add_layouts(builder *b, tp_layout_tensor *c, uint64_t order,
                             const tp_layout_column *column) {
  for (int i = 0; i < column->n; i++) {
    tp_spec spec = tp__layout_sorted(order, column->specs[i]);
    const int64_t key[] = {(int64_t)(intptr_t)c, (int64_t)spec.bits};
    void **slot = tp__memo(&b->specs, &b->m->arena, key, TP_LEN(key));
    void *specs = c->specs;
    if (!slot)
      return TP_NO_MEMORY;
    if (*slot)
      continue;
    *slot = c;
    TP_TRY(tp__grow(&specs, &c->capacity, c->n + 1, sizeof *c->specs));
    c->specs = specs;
    c->specs[c->n++] = spec;
  }
  return TP_OK;
}

/* The places of a column's layouts. */
static const int *find_places(builder *b, const tp_layout_tensor *c, uint64_t order,
                              const tp_layout_column *column) {
  const int64_t key[] = {(int64_t)(intptr_t)c, (int64_t)order, (int64_t)(intptr_t)column};
  void **slot = tp__memo(&b->lists, &b->m->arena, key, TP_LEN(key));
  if (!slot || *slot)
    return slot ? *slot : NULL;
  int *list = tp__arena_array(&b->m->arena, (size_t)column->n, sizeof *list);
  for (int i = 0; list && i < column->n; i++)
    list[i] = tp__layout_tensor_place(c, order, column->specs[i]);
  return *slot = list;
}

/* A message that was computed: from `far` to `near`, relative to the least of `far`. Equal layers
 * have equal messages. */
typedef struct tp_known_message {
  const int *far_places, *near_places;
  int end;
  size_t capacity;
  tp_cost *costs; /* those of `far`, then those of `near` */
} known_message;

enum { N_KNOWN = 1 << 13 };

/* ---- edges ---- */

typedef tp_status edge_fn(builder *b, const tp_planned_value *v, tp_layout_edge e);

/* Visits the edges between arguments and results that get one layout. */
static tp_status for_each_tie(builder *b, edge_fn *visit) {
  const tp_planner *p = b->m->p;
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->problem.graph.func, 0));
  for (int i = 0; i < (int)p->problem.n_nodes; i++) {
    const tp_node *node = &p->problem.nodes[i];
    int k = node->kind == TP_NODE_RESULT ? p->problem.tie_of_result[node->index] : -1;
    for (; k >= 0; k = p->problem.ties[k].next[1]) {
      MlirValue arg = mlirBlockGetArgument(entry, p->problem.ties[k].arg);
      const tp_planned_value *v = tp__planned_value(p, arg);
      tp_layout_edge e = {.node = {v->node, i}, .keeps_layout = true};
      e.column[0] = find_column(b, v->node, true, v->output);
      e.column[1] = find_column(b, i, false, 0);
      TP_TRY(e.column[0] && e.column[1] ? visit(b, v, e) : TP_NO_MEMORY);
    }
  }
  return TP_OK;
}

static tp_status for_each_edge(builder *b, edge_fn *visit) {
  const tp_planner *p = b->m->p;
  for (size_t k = 0; k < p->problem.n_values; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    int from = v->copy >= 0 ? v->copy : v->node, output = v->copy >= 0 ? 0 : v->output;
    for (int u = v->copy >= 0 ? -1 : 0; u < v->n_uses; u++) {
      tp_layout_edge e = {.node = {u < 0 ? v->node : from, u < 0 ? from : v->uses[u].node},
                          .keeps_layout = v->keeps_layout};
      if (e.node[0] == e.node[1] || /* a loop that yields the value it carries */
          (u >= 0 && v->uses[u].earlier))
        continue;
      e.column[0] = find_column(b, e.node[0], true, u < 0 ? v->output : output);
      e.column[1] = find_column(b, e.node[1], false, u < 0 ? 0 : v->uses[u].input);
      TP_TRY(e.column[0] && e.column[1] ? visit(b, v, e) : TP_NO_MEMORY);
    }
  }
  return for_each_tie(b, visit);
}

static tp_status count_edge(builder *b, const tp_planned_value *v, tp_layout_edge e) {
  tp_layout_tensor *c = tp__layout_tensor(&b->m->tensors, v, true);
  b->n_edges++;
  b->m->n_moved += (size_t)(e.column[0]->n + e.column[1]->n);
  if (!c)
    return TP_NO_MEMORY;
  uint64_t order = tp__layout_order(v);
  TP_TRY(add_layouts(b, c, order, e.column[0]));
  return add_layouts(b, c, order, e.column[1]);
}

static tp_status add_edge(builder *b, const tp_planned_value *v, tp_layout_edge e) {
  tp_layout_messages *m = b->m;
  const tp_layout_tensor *c = tp__layout_tensor(&m->tensors, v, false);
  e.tensor = c;
  for (int end = 0; end < 2; end++) {
    e.place[end] = c->field ? find_places(b, c, tp__layout_order(v), e.column[end]) : NULL;
    e.moved[end] = b->moved;
    b->moved += e.column[end]->n;
    if (c->field && !e.place[end])
      return TP_NO_MEMORY;
  }
  m->edges[m->n_edges++] = e;
  return TP_OK;
}

/* Lists the edges of each node. While the lists are filled, first[i + 1] is the end of list i. */
static tp_status index_edges(tp_layout_messages *m) {
  size_t n = m->p->problem.n_nodes;
  m->first = tp__arena_array(&m->arena, n + 2, sizeof *m->first);
  m->of_node = tp__arena_array(&m->arena, 2 * (size_t)m->n_edges + 1, sizeof *m->of_node);
  if (!m->first || !m->of_node)
    return TP_NO_MEMORY;
  for (int e = 0; e < m->n_edges; e++)
    for (int end = 0; end < 2; end++)
      m->first[m->edges[e].node[end] + 2]++;
  for (size_t i = 2; i < n + 2; i++)
    m->first[i] += m->first[i - 1];
  for (int e = 0; e < m->n_edges; e++)
    for (int end = 0; end < 2; end++)
      m->of_node[m->first[m->edges[e].node[end] + 1]++] = e;
  return TP_OK;
}

static int end_of(const tp_layout_edge *e, int node) { return e->node[0] == node ? 0 : 1; }

void tp__messages_charge(tp_layout_messages *m) {
  const tp_plan_problem *problem = &m->p->problem;
  for (int i = 0; i < (int)problem->n_nodes; i++) {
    const tp_node *node = &problem->nodes[i];
    double trips = tp__node_trips(m->p, node);
    tp_cost *costs = m->cost + m->offset[i];
    for (int s = 0; s < node->n; s++) {
      tp_cost cost = tp__cost_times(node->costs[s], trips);
      bool is_possible = costs[s] < TP_IMPOSSIBLE && cost < TP_IMPOSSIBLE;
      for (int k = m->first[i]; k < m->first[i + 1] && is_possible; k++) {
        const tp_layout_edge *e = &m->edges[m->of_node[k]];
        int end = end_of(e, i);
        tp_cost moved = e->moved[end][e->column[end]->number[s]];
        is_possible = moved > -TP_IMPOSSIBLE;
        cost += is_possible ? moved : 0;
      }
      costs[s] = is_possible ? cost : TP_IMPOSSIBLE;
    }
  }
  m->bound = 0;
}

static tp_status set_costs(tp_layout_messages *m) {
  const tp_plan_problem *problem = &m->p->problem;
  size_t most = 1;
  m->offset = tp__arena_array(&m->arena, problem->n_nodes + 1, sizeof *m->offset);
  if (!m->offset)
    return TP_NO_MEMORY;
  for (size_t i = 0; i < problem->n_nodes; i++) {
    size_t n = (size_t)problem->nodes[i].n;
    m->offset[i + 1] = m->offset[i] + n;
    most = n > most ? n : most;
  }
  m->cost = tp__arena_array(&m->arena, m->offset[problem->n_nodes] + 1, sizeof *m->cost);
  m->near = tp__arena_array(&m->arena, most, sizeof *m->near);
  m->far = tp__arena_array(&m->arena, most, sizeof *m->far);
  m->given = tp__arena_array(&m->arena, most, sizeof *m->given);
  m->known = tp__arena_array(&m->arena, N_KNOWN, sizeof *m->known);
  if (!m->cost || !m->near || !m->far || !m->given || !m->known)
    return TP_NO_MEMORY;
  tp__messages_charge(m);
  return TP_OK;
}

static tp_status build(builder *b) {
  tp_layout_messages *m = b->m;
  TP_TRY(for_each_edge(b, count_edge));
  TP_TRY(tp__layout_tensors_measure(&m->tensors, m->p));
  m->edges = tp__arena_array(&m->arena, (size_t)b->n_edges + 1, sizeof *m->edges);
  b->moved = m->moved = tp__arena_array(&m->arena, m->n_moved + 1, sizeof *m->moved);
  TP_TRY(m->edges && m->moved ? for_each_edge(b, add_edge) : TP_NO_MEMORY);
  TP_TRY(index_edges(m));
  return set_costs(m);
}

tp_status tp__messages_open(tp_planner *p, tp_layout_messages *m) {
  *m = (tp_layout_messages){.p = p, .tensors.arena = &m->arena};
  builder b = {.m = m};
  tp_status status = build(&b);
  tp__memo_destroy(&b.columns);
  tp__memo_destroy(&b.lists);
  tp__memo_destroy(&b.specs);
  return status == TP_NO_MEMORY ? tp__plan_no_memory(p) : status;
}

void tp__messages_close(tp_layout_messages *m) {
  tp__layout_tensors_destroy(&m->tensors);
  for (int i = 0; m->known && i < N_KNOWN; i++)
    tp__free(m->known[i].costs);
  tp__arena_destroy(&m->arena);
  *m = (tp_layout_messages){0};
}

/* ---- messages ---- */

/* Makes the costs of `far` relative to the least of them, and returns that. */
static tp_cost normalize(tp_cost *far, int n) {
  tp_cost least = TP_IMPOSSIBLE;
  for (int y = 0; y < n; y++)
    least = far[y] < least ? far[y] : least;
  for (int y = 0; y < n; y++)
    far[y] = far[y] < TP_IMPOSSIBLE ? far[y] - least : TP_IMPOSSIBLE;
  return least;
}

/* Returns the place of the message from `far`. *is_known: the place has it. */
static known_message *find_message(const tp_layout_messages *m, const tp_layout_edge *e, int end,
                                   bool *is_known) {
  const tp_layout_column *far = e->column[1 - end];
  uint64_t hash =
      tp__hash_words(m->far, (size_t)far->n) ^
      ((uint64_t)(uintptr_t)e->place[end] ^ (uint64_t)(uintptr_t)e->place[1 - end] << 1) *
          UINT64_C(0x9e3779b97f4a7c15);
  known_message *k = &m->known[(hash ^ hash >> 32) & (N_KNOWN - 1)];
  *is_known = k->far_places == e->place[1 - end] && k->near_places == e->place[end] &&
              k->end == end && memcmp(k->costs, m->far, (size_t)far->n * sizeof *m->far) == 0;
  return k;
}

/* Replaces what the place has by this message. Without memory nothing is known. */
static void remember(const tp_layout_messages *m, const tp_layout_edge *e, int end,
                     known_message *k) {
  size_t n_far = (size_t)e->column[1 - end]->n, n_near = (size_t)e->column[end]->n;
  void *costs = k->costs;
  *k = (known_message){.capacity = k->capacity, .costs = costs};
  if (tp__grow(&costs, &k->capacity, n_far + n_near, sizeof *k->costs) != TP_OK)
    return;
  k->costs = costs;
  k->far_places = e->place[1 - end];
  k->near_places = e->place[end];
  k->end = end;
  memcpy(k->costs, m->far, n_far * sizeof *k->costs);
  memcpy(k->costs + n_far, m->near, n_near * sizeof *k->costs);
}

/* near[x]: far[y] of the same layout. */
static void keep_layouts(const tp_layout_messages *m, const tp_layout_edge *e, int end) {
  tp_cost *costs = m->tensors.costs;
  for (int i = 0; i < e->tensor->n_places; i++)
    costs[i] = TP_IMPOSSIBLE;
  for (int y = 0; y < e->column[1 - end]->n; y++) {
    tp_cost *at = &costs[e->place[1 - end][y]];
    *at = m->far[y] < *at ? m->far[y] : *at;
  }
  for (int x = 0; x < e->column[end]->n; x++)
    m->near[x] = costs[e->place[end][x]];
}

/* near[x]: the minimum over the layouts y at the other end of far[y] plus the distance. */
static void compute_message(const tp_layout_messages *m, const tp_layout_edge *e, int end) {
  tp__layout_tensor_spread(&m->tensors, e->tensor, end == 0, e->column[1 - end]->n,
                           e->place[1 - end], m->far, e->column[end]->n, e->place[end], m->near);
}

/* The same, with what is known. Changes `far`. */
static void spread(const tp_layout_messages *m, const tp_layout_edge *e, int end) {
  int n = e->column[end]->n;
  tp_cost least = normalize(m->far, e->column[1 - end]->n);
  bool is_known = false;
  if (!e->tensor->field) {
    memset(m->near, 0, (size_t)n * sizeof *m->near);
  } else if (e->keeps_layout) {
    keep_layouts(m, e, end);
  } else {
    known_message *k = find_message(m, e, end, &is_known);
    if (is_known) {
      memcpy(m->near, k->costs + e->column[1 - end]->n, (size_t)n * sizeof *m->near);
    } else {
      compute_message(m, e, end);
      remember(m, e, end, k);
    }
  }
  for (int x = 0; x < n; x++)
    m->near[x] =
        m->near[x] < TP_IMPOSSIBLE && least < TP_IMPOSSIBLE ? m->near[x] + least : TP_IMPOSSIBLE;
}

/* least[i]: the minimum cost of the node's strategies with layout i. */
static void min_by_layout(const tp_layout_messages *m, int node, const tp_layout_column *c,
                          tp_cost *least) {
  const tp_cost *cost = m->cost + m->offset[node];
  for (int i = 0; i < c->n; i++)
    least[i] = TP_IMPOSSIBLE;
  for (int s = 0; s < m->p->problem.nodes[node].n; s++)
    if (cost[s] < least[c->number[s]])
      least[c->number[s]] = cost[s];
}

/* Charges all of the edge's cost to the node at `end`. */
static void collect(tp_layout_messages *m, tp_layout_edge *e, int end) {
  const tp_layout_column *c = e->column[end];
  int node = e->node[end], n = m->p->problem.nodes[node].n;
  tp_cost *cost = m->cost + m->offset[node], *moved = e->moved[end];
  for (int y = 0; y < e->column[1 - end]->n; y++)
    m->far[y] = -e->moved[1 - end][y];
  spread(m, e, end);
  for (int i = 0; i < c->n; i++) {
    tp_cost now = m->near[i];
    m->near[i] = now < TP_IMPOSSIBLE && moved[i] > -TP_IMPOSSIBLE ? now - moved[i] : TP_IMPOSSIBLE;
    moved[i] = m->near[i] < TP_IMPOSSIBLE ? now : -TP_IMPOSSIBLE;
  }
  for (int s = 0; s < n; s++) {
    tp_cost more = m->near[c->number[s]];
    cost[s] = cost[s] < TP_IMPOSSIBLE && more < TP_IMPOSSIBLE ? cost[s] + more : TP_IMPOSSIBLE;
  }
}

/* Charges a share of what the node's strategies cost more than `least` to the edge again. */
static void give(tp_layout_messages *m, tp_layout_edge *e, int end, tp_cost least, int shares) {
  const tp_layout_column *c = e->column[end];
  int node = e->node[end];
  min_by_layout(m, node, c, m->near);
  for (int i = 0; i < c->n; i++) {
    bool is_possible = m->near[i] < TP_IMPOSSIBLE && e->moved[end][i] > -TP_IMPOSSIBLE;
    m->near[i] = is_possible ? (m->near[i] - least) / shares : 0;
    e->moved[end][i] = is_possible ? e->moved[end][i] - m->near[i] : -TP_IMPOSSIBLE;
  }
  for (int s = 0; s < m->p->problem.nodes[node].n; s++)
    m->given[s] += m->near[c->number[s]];
}

/* Collects from the edges behind, adds the minimum to the bound, and shares the rest among the
 * edges ahead. */
static void visit(tp_layout_messages *m, int node, bool forward) {
  int n = m->p->problem.nodes[node].n, n_edges = m->first[node + 1] - m->first[node], n_behind = 0;
  tp_cost *cost = m->cost + m->offset[node], least = TP_IMPOSSIBLE;
  for (int i = m->first[node]; i < m->first[node + 1]; i++) {
    tp_layout_edge *e = &m->edges[m->of_node[i]];
    int end = end_of(e, node);
    if ((e->node[1 - end] < node) != forward)
      continue;
    collect(m, e, end);
    n_behind++;
  }
  for (int s = 0; s < n; s++) {
    least = cost[s] < least ? cost[s] : least;
    m->given[s] = 0;
  }
  m->bound = least < TP_IMPOSSIBLE ? tp_cost_add(m->bound, least) : TP_COST_FORBIDDEN;
  int n_ahead = n_edges - n_behind, shares = n_ahead > n_behind ? n_ahead : n_behind;
  for (int i = m->first[node]; i < m->first[node + 1]; i++) {
    tp_layout_edge *e = &m->edges[m->of_node[i]];
    int end = end_of(e, node);
    if ((e->node[1 - end] < node) != forward)
      give(m, e, end, least, shares);
  }
  for (int s = 0; s < n; s++)
    cost[s] = cost[s] < TP_IMPOSSIBLE ? cost[s] - least - m->given[s] : TP_IMPOSSIBLE;
}

void tp__messages_pass(tp_layout_messages *m) {
  int n = (int)m->p->problem.n_nodes;
  /* a cancelled pass may end early, since messages are valid at any time */
  for (int i = 0; i < 2 * n && m->bound < TP_COST_FORBIDDEN && !tp__run_is_cancelled(); i++)
    visit(m, i < n ? i : 2 * n - 1 - i, i < n);
}

void tp__messages_reduced_costs(const tp_layout_messages *m, int node, tp_cost *reduced) {
  int n = m->p->problem.nodes[node].n;
  memcpy(reduced, m->cost + m->offset[node], (size_t)n * sizeof *reduced);
  for (int i = m->first[node]; i < m->first[node + 1]; i++) {
    const tp_layout_edge *e = &m->edges[m->of_node[i]];
    int end = end_of(e, node);
    const tp_layout_column *far = e->column[1 - end];
    min_by_layout(m, e->node[1 - end], far, m->far);
    for (int y = 0; y < far->n; y++)
      if (m->far[y] < TP_IMPOSSIBLE)
        m->far[y] -= e->moved[1 - end][y];
    spread(m, e, end);
    for (int s = 0; s < n; s++) {
      int x = e->column[end]->number[s];
      tp_cost more = m->near[x];
      reduced[s] = reduced[s] < TP_IMPOSSIBLE && more < TP_IMPOSSIBLE
                       ? reduced[s] + more - e->moved[end][x]
                       : TP_COST_FORBIDDEN;
    }
  }
}

void tp__messages_costs_beside(const tp_layout_messages *m, int node, const int *choices,
                               tp_cost *costs) {
  const tp_node *of = &m->p->problem.nodes[node];
  double trips = tp__node_trips(m->p, of);
  for (int s = 0; s < of->n; s++)
    costs[s] = tp__cost_times(of->costs[s], trips);
  for (int i = m->first[node]; i < m->first[node + 1]; i++) {
    const tp_layout_edge *e = &m->edges[m->of_node[i]];
    int end = end_of(e, node), other = e->node[1 - end];
    const tp_layout_column *far = e->column[1 - end];
    for (int y = 0; y < far->n; y++)
      m->far[y] = y == far->number[choices[other]] ? 0 : TP_IMPOSSIBLE;
    spread(m, e, end);
    for (int s = 0; s < of->n; s++) {
      tp_cost more = m->near[e->column[end]->number[s]];
      costs[s] = more < TP_IMPOSSIBLE ? tp_cost_add(costs[s], more) : TP_COST_FORBIDDEN;
    }
  }
}

void tp__messages_decode(const tp_layout_messages *m, int *choices) {
  for (int node = 0; node < (int)m->p->problem.n_nodes; node++) {
    int n = m->p->problem.nodes[node].n;
    memcpy(m->given, m->cost + m->offset[node], (size_t)n * sizeof *m->given);
    for (int i = m->first[node]; i < m->first[node + 1]; i++) {
      const tp_layout_edge *e = &m->edges[m->of_node[i]];
      int end = end_of(e, node), other = e->node[1 - end];
      if (other > node)
        continue;
      const tp_layout_column *far = e->column[1 - end];
      int at = far->number[choices[other]];
      for (int y = 0; y < far->n; y++)
        m->far[y] = y == at ? -e->moved[1 - end][y] : TP_IMPOSSIBLE;
      spread(m, e, end);
      for (int s = 0; s < n; s++) {
        int x = e->column[end]->number[s];
        bool is_possible = m->given[s] < TP_IMPOSSIBLE && m->near[x] < TP_IMPOSSIBLE;
        m->given[s] = is_possible ? m->given[s] + m->near[x] - e->moved[end][x] : TP_IMPOSSIBLE;
      }
    }
    choices[node] = 0;
    for (int s = 1; s < n; s++)
      if (m->given[s] < m->given[choices[node]])
        choices[node] = s;
  }
}

/* True if the reshard may be cheaper in a field, which does not know combiners, than it is. */
static bool changes_combiner(const tp_mesh *mesh, tp_spec from, tp_spec to) {
  for (int a = 0; a < mesh->n_axes; a++)
    for (int b = 0; b < mesh->n_axes; b++) {
      tp_place x = tp_spec_place(from, a), y = tp_spec_place(to, b);
      if (tp_place_is_rows(x) || tp_place_is_rows(y))
        return true;
      if (y.kind == TP_PARTIAL &&
          (y.combiner == TP_AVERAGE || (x.kind == TP_PARTIAL && x.combiner != y.combiner)))
        return true;
    }
  return false;
}

bool tp__messages_price(tp_layout_messages *m, const tp_planned_value *v, tp_spec from, int n,
                        const tp_spec *to, tp_cost *costs) {
  const tp_layout_tensor *c = tp__layout_tensor(&m->tensors, v, false);
  if (!c || !c->field)
    return false;
  for (int k = 0; k < n; k++)
    if (changes_combiner(m->p->problem.mesh, from, to[k]))
      return false;
  tp__layout_tensor_distances(&m->tensors, c, tp__layout_order(v), from, n, to, costs);
  return true;
}
