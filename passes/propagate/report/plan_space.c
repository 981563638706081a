/* The space of plans of a function: a problem that also contains the strategies ruled out by
 * annotations, provided that the mesh is the same. The plan's own problem, and those of the program
 * with one annotation more or some less, are subproblems. They are found by comparing strategies,
 * and solved incrementally from the solution of the plan. */
#include "passes/propagate/report/plan_report.h"

#include <string.h>

/* Solver work for each other plan without a memory limit. */
enum { OTHER_PLAN_WORK = 200000000 };

/* ---- matching strategies of two nodes ---- */

static bool same_strategy(const tp_node *a, int s, const tp_node *b, int t) {
  bool same = a->costs[s] == b->costs[t];
  for (int i = 0; same && i < a->n_in; i++)
    same = tp_spec_equal(a->in[s * a->n_in + i], b->in[t * b->n_in + i]);
  for (int i = 0; same && i < a->n_out; i++)
    same = tp_spec_equal(a->out[s * a->n_out + i], b->out[t * b->n_out + i]);
  return same;
}

/* Lists mostly have the same order, so the search starts where the previous one ended. */
static int find_strategy(const tp_node *in, const tp_node *node, int s, int from) {
  for (int k = 0; k < in->n; k++) {
    int t = from + k < in->n ? from + k : from + k - in->n;
    if (same_strategy(in, t, node, s))
      return t;
  }
  return -1;
}

/* Writes what two nodes must share with two others so that their strategies compare alike. */
enum { LISTS = 6, KEYS = LISTS + 2 };
static void key_of(const tp_node *a, const tp_node *b, int64_t key[KEYS]) {
  const void *lists[LISTS] = {a->in, a->out, a->costs, b->in, b->out, b->costs};
  for (int i = 0; i < LISTS; i++)
    key[i] = (int64_t)(intptr_t)lists[i];
  key[LISTS] = a->n;
  key[LISTS + 1] = b->n;
}

static bool same_decision(const tp_node *a, const tp_node *b) {
  return a->kind == b->kind && a->index == b->index && a->slot == b->slot && a->n_in == b->n_in &&
         a->n_out == b->n_out;
}

static bool same_decisions(const tp_planner *a, const tp_planner *b) {
  bool same = a->problem.n_nodes == b->problem.n_nodes;
  for (size_t i = 0; same && i < a->problem.n_nodes; i++)
    same = same_decision(&a->problem.nodes[i], &b->problem.nodes[i]);
  return same;
}

/* Marks the strategies of a node that `other` also has; true if these are all of `other`. */
static bool mark_node(const tp_node *node, const tp_node *other, bool *allowed) {
  bool all = true;
  for (int s = 0, t = 0; s < other->n; s++) {
    int found = find_strategy(node, other, s, t);
    all &= found >= 0;
    t = found >= 0 ? found + 1 : t;
    if (found >= 0)
      allowed[found] = true;
  }
  return all;
}

/* Marks the strategies that `p` also has; true if these are all strategies of `p`. Nodes of equal
 * layers share the arrays of their strategies, and each pair of such arrays is compared once. */
static bool mark(const tp_planner *space, const tp_planner *p, const size_t *offset,
                 bool *allowed) {
  tp_memo seen = {0};
  bool all = true;
  memset(allowed, 0, offset[space->problem.n_nodes] * sizeof *allowed);
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    const tp_node *node = &space->problem.nodes[i], *other = &p->problem.nodes[i];
    int64_t key[KEYS];
    key_of(node, other, key);
    void **slot = tp__memo(&seen, p->problem.arena, key, KEYS);
    const bool *first = slot ? *slot : NULL;
    if (first) {
      memcpy(allowed + offset[i], first, (size_t)node->n * sizeof *allowed);
      continue; /* `all` knows already */
    }
    all &= mark_node(node, other, allowed + offset[i]);
    if (slot)
      *slot = allowed + offset[i];
  }
  tp__memo_destroy(&seen);
  return all;
}

/* ---- union of strategies ---- */

/* True if the node has all strategies of `other`. */
static bool has_all(const tp_node *node, const tp_node *other) {
  bool all = true;
  for (int s = 0, t = 0; all && s < other->n; s++, t++)
    all = (t = find_strategy(node, other, s, t)) >= 0;
  return all;
}

static void copy_strategy(const tp_node *from, int s, tp_node *to) {
  memcpy(to->in + to->n * to->n_in, from->in + s * from->n_in, (size_t)from->n_in * sizeof *to->in);
  memcpy(to->out + to->n * to->n_out, from->out + s * from->n_out,
         (size_t)from->n_out * sizeof *to->out);
  if (to->strategies)
    to->strategies[to->n] = from->strategies[s];
  to->costs[to->n++] = from->costs[s];
}

static tp_status join(tp_planner *p, const tp_node *a, const tp_node *b, tp_node *to) {
  *to = *a;
  tp_status status = tp__node_allocate(p, to, a->n + b->n, a->n_in, a->n_out);
  to->strategies =
      a->strategies && b->strategies
          ? tp__arena_array(p->problem.arena, (size_t)(a->n + b->n), sizeof *to->strategies)
          : NULL;
  if (status != TP_OK || (a->strategies && b->strategies && !to->strategies))
    return TP_NO_MEMORY;
  to->n = 0;
  for (int s = 0; s < a->n; s++)
    copy_strategy(a, s, to);
  for (int s = 0, t = 0; s < b->n; s++, t++) {
    int found = find_strategy(a, b, s, t);
    if (found < 0)
      copy_strategy(b, s, to);
    else
      t = found;
  }
  return TP_OK;
}

/* Adds to each node of `open` the strategies that only `p` has. Equal lists share one array, so
 * that edges between them stay equal. */
static tp_status add_strategies(tp_planner *open, const tp_planner *p) {
  tp_memo joined = {0};
  tp_status status = TP_OK;
  for (size_t i = 0; i < p->problem.n_nodes && status == TP_OK; i++) {
    tp_node *a = &open->problem.nodes[i];
    const tp_node *b = &p->problem.nodes[i];
    if (has_all(a, b))
      continue;
    int64_t key[KEYS];
    key_of(a, b, key);
    void **slot = tp__memo(&joined, open->problem.arena, key, KEYS);
    tp_node *both = slot ? *slot : NULL;
    if (slot && !both && (both = *slot = tp__arena_array(open->problem.arena, 1, sizeof *both)))
      status = join(open, a, b, both);
    if (!both || status != TP_OK) {
      status = TP_NO_MEMORY;
      break;
    }
    a->n = both->n;
    a->in = both->in;
    a->out = both->out;
    a->costs = both->costs;
    a->strategies = both->strategies;
  }
  tp__memo_destroy(&joined);
  return status;
}

/* ---- the space ---- */

static tp_status allocate(tp_space *space) {
  const tp_planner *p = space->planner;
  space->offset = tp__calloc(p->problem.n_nodes + 1, sizeof *space->offset);
  space->chosen = tp__calloc(p->problem.n_nodes + 1, sizeof *space->chosen);
  space->base_rows = tp__calloc(p->problem.n_nodes + 1, sizeof *space->base_rows);
  space->rows = tp__calloc(p->problem.n_nodes + 1, sizeof *space->rows);
  if (!space->offset || !space->chosen || !space->base_rows || !space->rows)
    return TP_NO_MEMORY;
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    space->offset[i + 1] = space->offset[i] + (size_t)p->problem.nodes[i].n;
  size_t n = space->offset[p->problem.n_nodes];
  space->base = tp__calloc(n + 1, sizeof *space->base);
  space->allowed = tp__calloc(n + 1, sizeof *space->allowed);
  if (!space->base || !space->allowed)
    return TP_NO_MEMORY;
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    space->base_rows[i] = space->base + space->offset[i];
    space->rows[i] = space->allowed + space->offset[i];
  }
  return TP_OK;
}

/* Fills the space with the strategies of `of`, which include those of the plan. */
static tp_status fill(const tp_planner *p, const tp_planner *of, tp_space *space) {
  space->planner = of;
  TP_TRY(allocate(space));
  mark(of, p, space->offset, space->base);
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    space->chosen[i] = find_strategy(&of->problem.nodes[i], &p->problem.nodes[i],
                                     p->problem.nodes[i].chosen, p->problem.nodes[i].chosen);
  return TP_OK;
}

int64_t tp__other_plans_work(const tp_planner *p) {
  return p->limits.memory >= 0 ? p->limits.work / TP_OTHER_PLANS_SHARE + 1 : p->limits.work;
}

tp_solver_options tp__other_plans_options(const tp_planner *p) {
  double gap = p->result.bound > 0 && !p->problem.overlaps
                   ? (double)(p->result.cost - p->result.bound) / (double)p->result.bound
                   : 0;
  tp_solver_options options = {.size = sizeof options,
                               .gap = gap > p->limits.gap ? gap : p->limits.gap,
                               .work_budget = p->limits.memory >= 0 ? tp__other_plans_work(p)
                                                                    : OTHER_PLAN_WORK};
  tp__clock_limit_solver(p->limits.clock, &options);
  return options;
}

tp_status tp__space_create(const tp_planner *p, tp_planner *open, tp_space *space) {
  bool is_open = open && same_decisions(open, p);
  tp_solver_options options = tp__other_plans_options(p);
  tp_status status = is_open ? add_strategies(open, p) : TP_OK;
  if (status == TP_OK)
    status = fill(p, is_open ? open : p, space);
  if (status == TP_OK && is_open)
    status = tp__plan_state(open);
  if (status == TP_OK && !space->planner->stated) {
    tp__space_destroy(space);
    return TP_OK;
  }
  if (status == TP_OK)
    status = tp_sensitivity_create(space->planner->stated, &options, space->base_rows,
                                   p->problem.overlaps ? TP_COST_FORBIDDEN : p->result.cost,
                                   &space->sensitivity);
  if (status == TP_OK && !p->problem.overlaps)
    status = tp_sensitivity_start(space->sensitivity, space->chosen, p->result.bound);
  if (status != TP_OK)
    tp__space_destroy(space);
  return status == TP_OK ? TP_OK : tp__out_of_memory(p->problem.graph.func);
}

void tp__space_destroy(tp_space *space) {
  tp_sensitivity_destroy(space->sensitivity);
  tp__free(space->offset);
  tp__free(space->chosen);
  tp__free(space->base_rows);
  tp__free(space->rows);
  tp__free(space->base);
  tp__free(space->allowed);
  *space = (tp_space){0};
}

bool tp__space_match(tp_space *space, const tp_planner *other, bool *covers) {
  if (!same_decisions(space->planner, other))
    return false;
  *covers = mark(space->planner, other, space->offset, space->allowed);
  return true;
}

bool tp__space_has(const tp_space *space, const int *choices) {
  bool has = true;
  for (size_t i = 0; has && i < space->planner->problem.n_nodes; i++)
    has = space->rows[i][choices[i]];
  return has;
}

bool tp__space_is_within(const tp_space *space, int node, const bool *among) {
  bool within = true;
  for (size_t i = 0; within && i < space->planner->problem.n_nodes; i++) {
    const bool *row = (int)i == node ? among : space->base_rows[i];
    for (int s = 0; within && s < space->planner->problem.nodes[i].n; s++)
      within = !space->rows[i][s] || row[s];
  }
  return within;
}

tp_status tp__space_solve(const tp_space *space, tp_cost limit, tp_solution *solution) {
  return tp_sensitivity_solve(space->sensitivity, space->rows, limit, solution);
}

tp_status tp__space_bound(const tp_space *space, tp_cost limit, tp_cost *bound) {
  return tp_sensitivity_bound(space->sensitivity, space->rows, limit, bound);
}

tp_status tp__space_solve_among(const tp_space *space, const bool *const *among, tp_cost limit,
                                tp_solution *solution) {
  return tp_sensitivity_solve(space->sensitivity, among, limit, solution);
}
