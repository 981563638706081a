/* The strategy-selection problem of a function: nodes from ops, edges from uses, priced by the reshard between them. */
#include "passes/propagate_limited.h"
#include "passes/propagate_sketch.h"

#include "rules/attention.h"

#include <stdio.h>
#include <string.h>

static tp_status out_of_memory(tp_planner *p) { return tp__error(p->program.func, TP_NO_MEMORY, "out of memory"); }

tp_planned_value *tp__planned_value(const tp_planner *p, MlirValue value) {
  int i = tp__program_number(&p->program, value);
  return i < 0 || (size_t)i >= p->n_values ? NULL : &p->values[i];
}

/* ---- nodes and values ---- */

static tp_status new_node(tp_planner *p, int *index) {
  if (tp__grow((void **)&p->nodes, &p->node_capacity, p->n_nodes + 1, sizeof *p->nodes) != TP_OK)
    return out_of_memory(p);
  memset(&p->nodes[p->n_nodes], 0, sizeof *p->nodes);
  *index = (int)p->n_nodes++;
  return TP_OK;
}

/* Values come in the order of their numbers. */
static tp_planned_value *new_value(tp_planner *p, MlirValue value, int node, int output) {
  tp_planned_value *v = &p->values[p->n_values++];
  *v = (tp_planned_value){.value = value,
                          .node = node,
                          .output = output,
                          .copy = -1,
                          .exposed = TP_EXPOSED,
                          .trips = tp__program_trips(&p->program, value)};
  return v;
}

/* One that no rule describes. */
static tp_status new_plain_value(tp_planner *p, MlirValue value, int node) {
  int64_t shape[TP_MAX_RANK], *kept = tp__arena_array(p->arena, TP_MAX_RANK, sizeof *kept);
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return TP_OK;
  if (!kept)
    return out_of_memory(p);
  tp_planned_value *v = new_value(p, value, node, 0);
  if (tp__static_tensor(mlirValueGetType(value), &v->rank, shape))
    memcpy(kept, shape, (size_t)v->rank * sizeof *kept);
  v->shape = kept;
  v->element_size = tp__element_size(tp__element_type(mlirValueGetType(value)));
  return TP_OK;
}

static void new_result(tp_planner *p, const tp_value_map *map, int node, int output) {
  tp_planned_value *v = new_value(p, map->value, node, output);
  v->rank = map->rank;
  v->shape = map->shape;
  v->element_size = map->element_size;
  v->in_blocks = v->keeps_layout = map->in_blocks;
}

static tp_status add_use(tp_planner *p, int value, tp_use use) {
  enum { FEW_USES = 2 };
  if (value < 0 || (size_t)value >= p->n_values)
    return tp__error(use.op, TP_INTERNAL, "uses a tensor that the planner has not seen");
  tp_planned_value *v = &p->values[value];
  if (v->n_uses == v->use_capacity) {
    int capacity = v->use_capacity ? 2 * v->use_capacity : FEW_USES;
    tp_use *uses = tp__arena_array(p->arena, (size_t)capacity, sizeof *uses);
    if (!uses)
      return out_of_memory(p);
    if (v->n_uses > 0)
      memcpy(uses, v->uses, (size_t)v->n_uses * sizeof *uses);
    v->uses = uses;
    v->use_capacity = capacity;
  }
  v->uses[v->n_uses++] = use;
  return TP_OK;
}

static int number_of(const tp_planner *p, MlirValue value) { return tp__program_number(&p->program, value); }

static tp_status add_arg(tp_planner *p, int i) {
  MlirValue arg = mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(p->program.func, 0)), i);
  int node = 0;
  if (!tp__is_tensor(mlirValueGetType(arg)))
    return TP_OK;
  tp_status status = new_node(p, &node);
  if (status == TP_OK)
    status = tp__node_for_arg(p, i, &p->nodes[node]);
  return status == TP_OK ? new_plain_value(p, arg, node) : status;
}

static tp_status add_op(tp_planner *p, int item) {
  const tp_rule *rule = p->program.items[item].rule;
  int node = 0, n_own = (int)mlirOperationGetNumOperands(rule->op);
  tp_status status = new_node(p, &node);
  if (status == TP_OK)
    status = tp__node_for_op(p, item, &p->nodes[node]);
  for (int i = 0; i < rule->n_operands && status == TP_OK; i++)
    if (rule->operands[i].is_tensor && !rule->operands[i].is_unused)
      status = add_use(p, rule->operands[i].number, (tp_use){node, i, rule->op, i < n_own ? i : -1, TP_EXPOSED});
  for (int i = 0; i < rule->n_results && status == TP_OK; i++)
    if (rule->results[i].number >= 0)
      new_result(p, &rule->results[i], node, i);
  return status;
}

static tp_status add_layout(tp_planner *p, int item) {
  MlirOperation op = p->program.items[item].op;
  int node = 0;
  tp_status status = new_node(p, &node);
  if (status == TP_OK)
    status = tp__node_for_layout(p, item, &p->nodes[node]);
  if (status == TP_OK)
    status = add_use(p, number_of(p, mlirOperationGetOperand(op, 0)), (tp_use){node, 0, op, 0, TP_EXPOSED});
  return status == TP_OK ? new_plain_value(p, mlirOperationGetResult(op, 0), node) : status;
}

/* Equal lists of layouts are one array, so that edges between them are known to be equal. */
static tp_status copy_specs(tp_planner *p, tp_node *node, const tp_layout_set *set, bool is_copy) {
  int64_t key[TP_MAX_STRATEGIES];
  const tp_spec *specs;
  int n;
  if (tp__layout_set_list(p, set, &specs, &n, &node->left_out) != TP_OK)
    return out_of_memory(p);
  for (int i = 0; i < n; i++)
    key[i] = (int64_t)specs[i].bits;
  void **slot = tp__memo(&p->same_layouts, p->arena, key, (size_t)n);
  if (slot && !*slot) {
    *slot = tp__arena_array(p->arena, (size_t)n + 1, sizeof *specs);
    if (*slot)
      memcpy(*slot, specs, (size_t)n * sizeof *specs);
  }
  node->n = n;
  node->n_in = 1;
  node->n_out = is_copy;
  node->in = slot ? *slot : NULL;
  node->costs = tp__arena_array(p->arena, (size_t)n + 1, sizeof *node->costs);
  if (!node->in || !node->costs)
    return out_of_memory(p);
  node->out = node->in;
  return TP_OK;
}

/* A result that is not annotated takes any layout without partials: those that its producer can give it, and all others. */
static tp_status add_made(tp_planner *p, const tp_planned_value *v, tp_node *node) {
  const tp_node *producer = &p->nodes[v->node];
  tp_layout_set *set = tp__layout_set_empty(p);
  if (!set)
    return out_of_memory(p);
  for (int s = 0; s < producer->n; s++) {
    tp_spec spec = producer->out[s * producer->n_out + v->output];
    if (!tp_spec_has_partial(spec))
      tp__layout_set_add(set, spec);
  }
  for (int s = 0; s < node->n; s++)
    tp__layout_set_add(set, node->in[s]);
  return copy_specs(p, node, set, false);
}

static tp_status add_result(tp_planner *p, MlirOperation ret, int i) {
  MlirValue value = mlirOperationGetOperand(ret, i);
  tp_planned_value *v = tp__planned_value(p, value);
  bool pinned;
  int node = 0;
  if (!v)
    return TP_OK;
  tp_status status = new_node(p, &node);
  if (status == TP_OK)
    status = tp__node_for_result(p, i, value, &p->nodes[node], &pinned);
  if (status == TP_OK && !pinned)
    status = add_made(p, v, &p->nodes[node]);
  p->nodes[node].kind = TP_NODE_RESULT;
  p->nodes[node].index = i;
  return status == TP_OK ? add_use(p, number_of(p, value), (tp_use){node, 0, ret, i, TP_EXPOSED}) : status;
}

/* One node for each carried tensor; where it comes from is added when all values are known. */
static tp_status add_carried(tp_planner *p, int item) {
  tp_status status = TP_OK;
  for (int k = 0; k < p->program.items[item].n_carried && status == TP_OK; k++) {
    const tp_carried *c = &p->program.items[item].carried[k];
    int node = 0;
    status = new_node(p, &node);
    if (status == TP_OK)
      status = tp__node_for_carried(p, item, k, &p->nodes[node]);
    for (int i = 0; i < c->n_values && status == TP_OK; i++)
      status = new_plain_value(p, c->values[i], node);
  }
  return status;
}

static tp_status add_carried_uses(tp_planner *p) {
  tp_status status = TP_OK;
  for (size_t i = 0; i < p->n_nodes && status == TP_OK; i++) {
    if (p->nodes[i].kind != TP_NODE_CARRIED)
      continue;
    const tp_carried *c = &p->program.items[p->nodes[i].index].carried[p->nodes[i].slot];
    for (int u = 0; u < c->n_uses && status == TP_OK; u++)
      status = add_use(p, number_of(p, mlirOperationGetOperand(c->uses[u].op, c->uses[u].operand)),
                       (tp_use){(int)i, 0, c->uses[u].op, c->uses[u].operand, TP_EXPOSED});
  }
  return status;
}

static tp_status add_items(tp_planner *p) {
  p->values = tp__arena_array(p->arena, (size_t)p->program.n_values + 1, sizeof *p->values);
  tp_status status = p->values ? TP_OK : out_of_memory(p);
  for (int i = 0; i < p->program.n_args && status == TP_OK; i++)
    status = add_arg(p, i);
  for (int i = 0; i < p->program.n_items && status == TP_OK; i++) {
    const tp_item *item = &p->program.items[i];
    if (item->kind == TP_ITEM_OP)
      status = add_op(p, i);
    else if (item->kind == TP_ITEM_LAYOUT)
      status = add_layout(p, i);
    else if (item->kind == TP_ITEM_REGION)
      status = add_carried(p, i);
    else
      for (int r = 0; r < p->program.n_results && status == TP_OK; r++)
        status = add_result(p, item->op, r);
  }
  return status == TP_OK ? add_carried_uses(p) : status;
}

/* A value with several uses gets a node for its shared copy: the layouts that its producer or a consumer can have. */
static tp_status add_copies(tp_planner *p) {
  for (size_t k = 0; k < p->n_values; k++) {
    tp_planned_value *v = &p->values[k];
    int node = 0;
    if (v->n_uses < 2)
      continue;
    tp_layout_set *set = tp__layout_set_empty(p);
    if (!set)
      return out_of_memory(p);
    for (int u = -1; u < v->n_uses; u++) {
      const tp_node *other = &p->nodes[u < 0 ? v->node : v->uses[u].node];
      for (int s = 0; s < other->n; s++)
        tp__layout_set_add(set,
                           u < 0 ? other->out[s * other->n_out + v->output] : other->in[s * other->n_in + v->uses[u].input]);
    }
    tp_status status = new_node(p, &node);
    if (status == TP_OK)
      status = copy_specs(p, &p->nodes[node], set, true);
    if (status != TP_OK)
      return status;
    p->nodes[node].kind = TP_NODE_COPY;
    p->nodes[node].index = (int)k;
    v->copy = node;
  }
  return TP_OK;
}

/* ---- edges ---- */

/* Numbers the distinct specs of a column of `n` specs with the given stride. */
static int distinct(const tp_spec *specs, int n, int stride, tp_spec *list, int *number) {
  int count = 0;
  for (int s = 0; s < n; s++) {
    int i = 0;
    while (i < count && !tp_spec_equal(list[i], specs[s * stride]))
      i++;
    if (i == count)
      list[count++] = specs[s * stride];
    number[s] = i;
  }
  return count;
}

typedef struct edge_ends {
  int from, output, to, input; /* nodes, and their value */
  uint8_t exposed;             /* of TP_EXPOSED: the share of its changes that is paid */
} edge_ends;

static tp_cost exposed_part(tp_cost cost, uint8_t exposed) {
  return cost >= TP_COST_FORBIDDEN ? cost : cost / TP_EXPOSED * exposed + cost % TP_EXPOSED * exposed / TP_EXPOSED;
}

static tp_status price_edge(tp_planner *p, tp_problem *problem, const tp_planned_value *v, edge_ends ends) {
  const tp_node *a = &p->nodes[ends.from], *b = &p->nodes[ends.to];
  size_t na = (size_t)a->n, nb = (size_t)b->n;
  tp_spec *lists = tp__calloc(na + nb + 1, sizeof *lists);
  int *numbers = tp__calloc(na + nb + 1, sizeof *numbers);
  tp_cost *pairs = tp__calloc(na * nb + 1, sizeof *pairs), *table = tp__calloc(na * nb + 1, sizeof *table);
  tp_status status = TP_NO_MEMORY;
  if (lists && numbers && pairs && table) {
    int ca = distinct(a->out + ends.output, a->n, a->n_out, lists, numbers);
    int cb = distinct(b->in + ends.input, b->n, b->n_in, lists + na, numbers + na);
    for (int i = 0; i < ca && !tp__clock_gives_up(p); i++)
      for (int k = 0; k < cb; k++)
        pairs[i * cb + k] = v->keeps_layout
                                ? tp_spec_equal(lists[i], lists[na + (size_t)k]) ? 0 : TP_COST_FORBIDDEN
                                : exposed_part(tp__cost_times(tp_reshard_cost(p->reshards, lists[i], lists[na + (size_t)k],
                                                                              v->rank, v->shape, v->element_size),
                                                              v->trips),
                                               ends.exposed);
    for (size_t i = 0; i < na; i++)
      for (size_t k = 0; k < nb; k++)
        table[i * nb + k] = pairs[numbers[i] * cb + numbers[na + k]];
    status = tp_problem_add_edge(problem, ends.from, ends.to, table);
  }
  tp__free(lists);
  tp__free(numbers);
  tp__free(pairs);
  tp__free(table);
  return status;
}

/* Between the same lists of layouts, for values of one shape, the table is the same: priced once, and kept once. */
static tp_status add_edge(tp_planner *p, tp_problem *problem, const tp_planned_value *v, edge_ends ends) {
  const tp_node *a = &p->nodes[ends.from], *b = &p->nodes[ends.to];
  tp_words key;
  key.n = 0;
  tp__words_add(&key, (int64_t)(intptr_t)(a->out + ends.output));
  tp__words_add(&key, (int64_t)(intptr_t)(b->in + ends.input));
  tp__words_add(&key, (int64_t)a->n << 32 | a->n_out);
  tp__words_add(&key, (int64_t)b->n << 32 | b->n_in);
  tp__words_add(&key, v->element_size);
  tp__words_add(&key, (int64_t)v->trips);
  tp__words_add(&key, ends.exposed | v->keeps_layout << 8);
  for (int d = 0; d < v->rank; d++)
    tp__words_add(&key, v->shape[d]);
  void **slot = tp__memo(&p->same_edges, p->arena, key.words, key.n);
  if (!slot)
    return out_of_memory(p);
  tp_status status;
  if (*slot) {
    status = tp_problem_repeat_edge(problem, ends.from, ends.to, (int)((intptr_t)*slot - 1));
  } else {
    *slot = (void *)(intptr_t)(tp_problem_n_edges(problem) + 1); /* its number, from 1 */
    status = price_edge(p, problem, v, ends);
  }
  return status == TP_OK ? TP_OK : out_of_memory(p);
}

static tp_status add_edges(tp_planner *p, tp_problem *problem) {
  tp_status status = TP_OK;
  for (size_t k = 0; k < p->n_values && status == TP_OK && !p->is_given_up; k++) {
    const tp_planned_value *v = &p->values[k];
    if (p->routes && tp__route(p->routes, v)->n_stations > 0)
      continue;
    if (v->copy >= 0)
      status = add_edge(p, problem, v, (edge_ends){v->node, v->output, v->copy, 0, v->exposed});
    for (int u = 0; u < v->n_uses && status == TP_OK; u++) {
      const tp_use *use = &v->uses[u];
      edge_ends ends = {v->copy >= 0 ? v->copy : v->node, v->copy >= 0 ? 0 : v->output, use->node, use->input, use->exposed};
      if (ends.from != ends.to) /* a loop that yields what it carries: one layout */
        status = add_edge(p, problem, v, ends);
    }
  }
  return status;
}

/* ---- the plan ---- */

int64_t tp__block_bytes(int64_t bytes, int64_t element_size) {
  int64_t block = TP_BLOCK_SCORES * element_size;
  return bytes < block ? bytes : block;
}

tp_spec tp__plan_produced(const tp_planner *p, const tp_planned_value *v) {
  const tp_node *node = &p->nodes[v->node];
  return node->out[node->chosen * node->n_out + v->output];
}

tp_spec tp__plan_wanted(const tp_planner *p, const tp_use *use) {
  const tp_node *node = &p->nodes[use->node];
  return node->in[node->chosen * node->n_in + use->input];
}

/* ---- solving ---- */

/* Names a value whose annotations leave no choice, for the message of an infeasible problem. */
tp_status tp__plan_infeasible(tp_planner *p, const tp_solution *solution) {
  for (size_t k = 0; k < p->n_values; k++) {
    const tp_planned_value *v = &p->values[k];
    const tp_node *from = &p->nodes[v->node];
    for (int u = 0; u < v->n_uses; u++) {
      const tp_node *to = &p->nodes[v->uses[u].node];
      bool possible = false;
      for (int s = 0; s < from->n && !possible; s++)
        for (int t = 0; t < to->n && !possible; t++)
          possible =
              tp_reshard_cost(p->reshards, from->out[s * from->n_out + v->output], to->in[t * to->n_in + v->uses[u].input],
                              v->rank, v->shape, v->element_size) < TP_COST_FORBIDDEN;
      if (!possible)
        return tp__error(
            v->uses[u].op, TP_INFEASIBLE,
            "no layout of operand %d can be reached from the layouts its producer can give it: an average has no identity, so "
            "nothing makes a partial one; relax the annotation of one of both",
            v->uses[u].operand);
    }
  }
  if (p->routes)
    return tp__limit_exceeded(p, solution);
  return tp__error(p->program.func, TP_INFEASIBLE, "no plan satisfies the annotations");
}

/* What a loop repeats is paid as often as it runs. */
static int add_problem_node(const tp_planner *p, tp_problem *problem, size_t i) {
  const tp_node *node = &p->nodes[i];
  double trips = node->kind == TP_NODE_OP ? p->program.items[node->index].trips : 1;
  bool pays = p->routes && p->routes->prices;
  bool hides = p->hides_rings && node->kind == TP_NODE_OP && p->program.items[node->index].rule->ring.factors;
  if (trips == 1 && !pays && !hides)
    return tp_problem_add_node(problem, node->n, node->costs);
  tp_cost *costs = tp__calloc((size_t)node->n, sizeof *costs);
  for (int s = 0; costs && s < node->n; s++)
    costs[s] = tp_cost_add(tp__cost_times(node->costs[s] - (hides ? tp__ring_hidden(p, node, s) : 0), trips),
                           pays ? tp__sketch_payment(p, (int)i, s) : 0);
  int number = costs ? tp_problem_add_node(problem, node->n, costs) : -1;
  tp__free(costs);
  return number;
}

tp_status tp__plan_make_problem(tp_planner *p, bool limited, tp_problem **made) {
  tp_status status = TP_OK;
  tp_problem *problem = *made = tp_problem_create();
  tp__memo_destroy(&p->same_edges); /* it numbers the edges of one problem */
  if (!problem)
    return out_of_memory(p);
  for (size_t i = 0; i < p->n_nodes && status == TP_OK; i++)
    if (add_problem_node(p, problem, i) != (int)i)
      status = out_of_memory(p);
  if (status == TP_OK)
    status = add_edges(p, problem);
  if (status == TP_OK)
    status = tp__tie_updates(p, problem);
  if (status == TP_OK && p->routes)
    status = tp__routes_state(p, problem);
  if (status == TP_OK && p->routes && limited &&
      tp_problem_set_limit(problem, p->memory_limit - tp__routes_numbers(p->routes)) != TP_OK)
    status = out_of_memory(p);
  if (status == TP_OK && p->is_given_up) {
    tp_problem_destroy(problem);
    *made = NULL;
  }
  return status;
}

static tp_status solve(tp_planner *p, const tp_problem *problem, tp_solution *solution) {
  tp_solver_options options = {.size = sizeof options, .work_budget = p->routes ? p->limited_work : 0, .gap = p->gap};
  tp__clock_heed(p->clock, &options);
  tp_status solved = tp_solve(problem, &options, solution);
  p->is_cut_short |= (solved == TP_OK || solved == TP_INFEASIBLE) && solution->stopped;
  bool knows_all = solution->optimal && !p->kept; /* of all strategies, not of some */
  if (solved == TP_INFEASIBLE && !knows_all && solution->stopped)
    return p->method ? TP_OK /* the plan that there is stays */ : tp__clock_exceeded(p);
  if (p->routes && (solved == TP_OK || solved == TP_INFEASIBLE))
    solved = tp__solve_beyond(p, &options, solution);
  if (solved != TP_OK)
    return solved == TP_INFEASIBLE  ? tp__plan_infeasible(p, solution)
           : solved == TP_NO_MEMORY ? out_of_memory(p)
                                    : tp__error(p->program.func, solved, "the solver failed: %s", tp_status_name(solved));
  for (size_t i = 0; i < p->n_nodes; i++)
    p->nodes[i].chosen = solution->choices[i];
  p->work += solution->work;
  return TP_OK;
}

tp_status tp__plan_nodes(tp_planner *p) {
  tp_status status = add_items(p);
  if (status == TP_OK && p->memory_limit < 0)
    status = add_copies(p);
  return status == TP_OK ? tp__order_nodes(p) : status;
}

tp_status tp__plan_problem(tp_planner *p) {
  if (p->memory_limit >= 0 && tp__is_large(p))
    return TP_OK;                       /* it is stated in parts, while it is solved */
  p->heeds_clock = p->memory_limit < 0; /* else it is small */
  tp_status status = p->memory_limit >= 0 ? tp__routes_build(p, false) : TP_OK;
  if (status == TP_OK)
    status = tp__plan_make_problem(p, true, &p->problem);
  p->heeds_clock = false;
  return status;
}

tp_status tp__plan_solve(tp_planner *p) {
  tp_solution solution = {0};
  if (!p->problem && !p->is_given_up)
    return tp__plan_limited(p);
  if (!p->problem)
    return tp__plan_late(p);
  tp_status status = solve(p, p->problem, &solution);
  if (status != TP_OK)
    return status;
  p->cost = solution.cost;
  p->bound = solution.lower_bound;
  p->method = solution.method;
  p->width = solution.width;
  tp_solution_clear(&solution);
  return p->overlaps ? tp__plan_overlap(p) : TP_OK;
}

tp_status tp__plan_exposed(tp_planner *p) {
  tp_problem *problem = NULL;
  tp_solution solution = {0};
  p->hides_rings = true;
  tp_status status = tp__plan_make_problem(p, true, &problem);
  p->hides_rings = false;
  if (status == TP_OK)
    status = solve(p, problem, &solution);
  tp_solution_clear(&solution);
  tp_problem_destroy(problem);
  return status;
}
