/* Plans for a runtime that communicates while it computes.
 *
 * The solver minimizes a sum of costs. Here its plan is simulated in two streams: one computes, op
 * by op; the other reshards, and of the ready reshards runs the one whose op comes first. The
 * exposed part of a reshard is the time for which an op waits for it. Then each reshard is priced
 * by its exposed share, the problem is solved again, and the plan with the least simulated time is
 * kept.
 *
 * Communication inside ops counts as compute, except for rings: the next part arrives while the
 * current one is computed with. A loop is simulated as a straight line of ops. Reshards of
 * arguments start at once; the memory they hold meanwhile is not counted. */
#include "passes/propagate/model/planner.h"

#include <string.h>

/* A reshard that takes time: of a value into its copy, or into the layout that a use expects. */
typedef struct reshard {
  int value, use; /* index of the use; -1 for the copy */
  int at;         /* the first node that waits for it; n_nodes: the end of the function */
  int after;      /* the reshard it starts from; -1: the value as produced */
  int made;       /* the node behind which the value exists */
  int next;       /* next reshard of a value that exists behind the same node; -1: none */
  tp_cost cost;
  tp_cost ready, start, end; /* -1: not known yet */
} reshard;

typedef struct wait {
  int reshard;
  int next; /* next wait of the same node; -1: none */
} wait;

typedef struct streams {
  tp_planner *p;
  size_t n_changes, change_capacity, n_waits, wait_capacity;
  reshard *changes;
  wait *waits;
  int *produced;             /* by node: the first reshard of a value made there, -1: none */
  int *waited;               /* by node, and the end: its first wait, -1: none */
  tp_cost computed, changed; /* when each stream becomes free */
} streams;

static tp_cost max_time(tp_cost a, tp_cost b) { return a > b ? a : b; }

/* ---- the reshards of a plan ---- */

static tp_cost price(const tp_planner *p, const tp_planned_value *v, tp_spec from, tp_spec to) {
  return tp__cost_times(
      tp_reshard_cost(p->problem.reshards, from, to, v->rank, v->shape, v->element_size), v->trips);
}

/* Uses that close an iteration or the function wait at the very end. */
static int waits_at(const tp_planner *p, const tp_planned_value *v, const tp_use *use) {
  bool closes = p->problem.nodes[use->node].kind == TP_NODE_RESULT || use->node <= v->node;
  return closes ? (int)p->problem.n_nodes : use->node;
}

/* The node behind which the value exists: its producer, or behind control flow the last node of the
 * bodies. */
static int made_at(const tp_planner *p, const tp_planned_value *v) {
  const tp_plan_problem *problem = &p->problem;
  int at = v->node;
  if (problem->nodes[at].kind != TP_NODE_CARRIED || mlirValueIsABlockArgument(v->value))
    return at;
  MlirOperation around = problem->graph.items[problem->nodes[at].index].op;
  for (size_t n = (size_t)at + 1; n < problem->n_nodes; n++) {
    const tp_node *node = &problem->nodes[n];
    bool is_item =
        node->kind == TP_NODE_OP || node->kind == TP_NODE_LAYOUT || node->kind == TP_NODE_CARRIED;
    if (is_item && !tp__is_inside(problem->graph.items[node->index].op, around))
      break;
    at = is_item ? (int)n : at;
  }
  return at;
}

static tp_status add_reshard(streams *s, reshard c, int *number) {
  if (tp__grow((void **)&s->changes, &s->change_capacity, s->n_changes + 1, sizeof *s->changes) !=
      TP_OK)
    return TP_NO_MEMORY;
  c.next = s->produced[c.made];
  c.ready = c.start = c.end = -1;
  *number = (int)s->n_changes;
  s->produced[c.made] = *number;
  s->changes[s->n_changes++] = c;
  return TP_OK;
}

static tp_status add_wait(streams *s, int at, int number) {
  if (number < 0)
    return TP_OK;
  if (tp__grow((void **)&s->waits, &s->wait_capacity, s->n_waits + 1, sizeof *s->waits) != TP_OK)
    return TP_NO_MEMORY;
  s->waits[s->n_waits] = (wait){number, s->waited[at]};
  s->waited[at] = (int)s->n_waits++;
  return TP_OK;
}

/* True if the reshard for an earlier use of the same op serves this one. */
static bool is_served(const tp_planner *p, const tp_use *use) {
  const tp_node *node = &p->problem.nodes[use->node];
  return use->earlier && tp__serving_input(node, use, node->chosen) != use->input;
}

static tp_status add_reshards_of(streams *s, int k) {
  tp_planner *p = s->p;
  tp_planned_value *v = &p->problem.values[k];
  tp_spec from = tp__plan_produced(p, v);
  int copy = -1, made = v->n_uses > 0 ? made_at(p, v) : v->node;
  tp_status status = TP_OK;
  v->exposed = TP_EXPOSED_UNITS;
  if (v->copy >= 0) {
    const tp_node *node = &p->problem.nodes[v->copy];
    tp_spec to = node->in[node->chosen];
    reshard c = {.value = k,
                 .use = -1,
                 .at = (int)p->problem.n_nodes,
                 .after = -1,
                 .made = made,
                 .cost = price(p, v, from, to)};
    for (int u = 0; u < v->n_uses; u++)
      c.at = waits_at(p, v, &v->uses[u]) < c.at ? waits_at(p, v, &v->uses[u]) : c.at;
    if (c.cost > 0)
      status = add_reshard(s, c, &copy);
    from = to;
  }
  for (int u = 0; u < v->n_uses && status == TP_OK; u++) {
    reshard c = {
        .value = k, .use = u, .at = waits_at(p, v, &v->uses[u]), .after = copy, .made = made};
    tp_spec wanted = tp__plan_wanted(p, &v->uses[u]);
    tp_cost direct = price(p, v, tp__plan_produced(p, v), wanted);
    c.cost = price(p, v, from, wanted);
    if (direct <= c.cost) { /* so it is written: not from the copy */
      c.cost = direct;
      c.after = -1;
    }
    int number = c.after;
    c.cost = is_served(p, &v->uses[u]) ? 0 : c.cost;
    v->uses[u].exposed = TP_EXPOSED_UNITS;
    if (c.cost > 0)
      status = add_reshard(s, c, &number);
    if (status == TP_OK)
      status = add_wait(s, c.at, number);
  }
  return status;
}

/* ---- the streams ---- */

/* Marks the reshards that start from a value of the node as ready at time `now`. */
static void set_ready(streams *s, int node, tp_cost now) {
  for (int c = s->produced[node]; c >= 0; c = s->changes[c].next)
    if (s->changes[c].after < 0)
      s->changes[c].ready = now;
}

/* True if `a` runs before `b` when the stream is free at `now`. */
static bool precedes(const reshard *a, const reshard *b, tp_cost now) {
  tp_cost x = max_time(a->ready, now), y = max_time(b->ready, now);
  return x != y ? x < y : a->at < b->at;
}

/* Runs the next reshard. */
static void run_next(streams *s) {
  reshard *best = NULL;
  for (size_t i = 0; i < s->n_changes; i++) {
    reshard *c = &s->changes[i];
    if (c->ready >= 0 && c->end < 0 && (!best || precedes(c, best, s->changed)))
      best = c;
  }
  best->start = max_time(s->changed, best->ready);
  best->end = s->changed = tp_cost_add(best->start, best->cost);
  if (best->use >= 0)
    return;
  for (int c = s->produced[best->made]; c >= 0; c = s->changes[c].next)
    if (s->changes[c].after >= 0 && &s->changes[s->changes[c].after] == best)
      s->changes[c].ready = best->end;
}

/* Sets the share of a reshard that runs after `base`, in units of 1/TP_EXPOSED_UNITS: rounded to
 * the nearest unit, and at least 1. */
static void set_exposed_share(tp_planner *p, const reshard *c, tp_cost base) {
  tp_cost exposed = max_time(c->end - max_time(c->start, base), 0);
  tp_planned_value *v = &p->problem.values[c->value];
  double part = (double)exposed / (double)c->cost * TP_EXPOSED_UNITS;
  *(c->use < 0 ? &v->exposed : &v->uses[c->use].exposed) = (uint8_t)(part <= 1 ? 1 : part + 0.5);
}

/* Lets the compute stream wait for all reshards that the node needs. */
static void wait_for(streams *s, int node) {
  tp_cost base = s->computed;
  for (int w = s->waited[node]; w >= 0; w = s->waits[w].next) {
    reshard *c = &s->changes[s->waits[w].reshard];
    while (c->end < 0)
      run_next(s);
    s->computed = max_time(s->computed, c->end);
    if (c->at == node)
      set_exposed_share(s->p, c, base);
    if (c->after >= 0 && s->changes[c->after].at == node)
      set_exposed_share(s->p, &s->changes[c->after], base);
  }
}

static tp_cost run_streams(streams *s) {
  tp_planner *p = s->p;
  for (size_t n = 0; n < p->problem.n_nodes; n++)
    if (p->problem.nodes[n].kind == TP_NODE_ARG)
      set_ready(s, (int)n, 0);
  for (size_t n = 0; n < p->problem.n_nodes; n++) {
    const tp_node *node = &p->problem.nodes[n];
    if (node->kind == TP_NODE_ARG || node->kind == TP_NODE_COPY || node->kind == TP_NODE_RESULT)
      continue;
    double trips = tp__node_trips(p, node);
    wait_for(s, (int)n);
    tp_cost cost = node->costs[node->chosen] - tp__ring_hidden(p, node, node->chosen);
    s->computed = tp_cost_add(s->computed, tp__cost_times(cost, trips));
    set_ready(s, (int)n, s->computed);
  }
  wait_for(s, (int)p->problem.n_nodes);
  return s->computed;
}

/* Simulates the chosen plan in two streams; sets *time and the exposed share of every reshard. */
static tp_status simulate(tp_planner *p, tp_cost *time) {
  streams s = {.p = p};
  s.produced = tp__calloc(2 * p->problem.n_nodes + 1, sizeof *s.produced);
  tp_status status = s.produced ? TP_OK : TP_NO_MEMORY;
  s.waited = s.produced + p->problem.n_nodes;
  for (size_t i = 0; i < 2 * p->problem.n_nodes + 1 && status == TP_OK; i++)
    s.produced[i] = -1;
  for (size_t k = 0; k < p->problem.n_values && status == TP_OK; k++)
    status = add_reshards_of(&s, (int)k);
  if (status == TP_OK)
    *time = run_streams(&s);
  tp__free(s.produced);
  tp__free(s.changes);
  tp__free(s.waits);
  return status == TP_OK ? TP_OK : tp__out_of_memory(p->problem.graph.func);
}

/* ---- solving again ---- */

static void choose(tp_planner *p, const int *choices) {
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    p->problem.nodes[i].chosen = choices[i];
}

tp_status tp__plan_overlap(tp_planner *p) {
  enum { MAX_AGAIN = 3 };
  tp_cost time = 0;
  int *best = tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof *best);
  if (!best)
    return tp__out_of_memory(p->problem.graph.func);
  tp_status status = simulate(p, &p->result.overlapped);
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    best[i] = p->problem.nodes[i].chosen;
  for (int round = 0; round < MAX_AGAIN && status == TP_OK && !p->result.is_cut_short; round++) {
    p->result.is_cut_short = tp__clock_is_over(p->limits.clock);
    if (p->result.is_cut_short)
      break;
    status = tp__plan_exposed(p);
    if (status == TP_OK)
      status = simulate(p, &time);
    if (status != TP_OK || time >= p->result.overlapped)
      break;
    p->result.overlapped = time;
    for (size_t i = 0; i < p->problem.n_nodes; i++)
      best[i] = p->problem.nodes[i].chosen;
  }
  choose(p, best);
  p->result.cost = tp_problem_evaluate(p->stated, best);
  return status;
}
