/* Builds the nodes of a function's strategy-selection problem from its ops, and its values with
 * their uses. */
#include "passes/propagate/model/planner.h"

#include <string.h>

tp_status tp__plan_no_memory(const tp_planner *p) {
  return tp__out_of_memory(p->problem.graph.func);
}

tp_planned_value *tp__planned_value(const tp_planner *p, MlirValue value) {
  int i = tp__func_graph_number(&p->problem.graph, value);
  return i < 0 || (size_t)i >= p->problem.n_values ? NULL : &p->problem.values[i];
}

static tp_status new_node(tp_planner *p, int *index) {
  if (tp__grow((void **)&p->problem.nodes, &p->problem.node_capacity, p->problem.n_nodes + 1,
               sizeof *p->problem.nodes) != TP_OK)
    return tp__plan_no_memory(p);
  memset(&p->problem.nodes[p->problem.n_nodes], 0, sizeof *p->problem.nodes);
  *index = (int)p->problem.n_nodes++;
  return TP_OK;
}

/* Appends a value that is defined `trips` times. Values must be added in the order of their
 * numbers. */
static tp_planned_value *new_value(tp_planner *p, MlirValue value, int node, int output,
                                   double trips) {
  tp_planned_value *v = &p->problem.values[p->problem.n_values++];
  *v = (tp_planned_value){.value = value,
                          .node = node,
                          .output = output,
                          .copy = -1,
                          .exposed = TP_EXPOSED_UNITS,
                          .trips = trips};
  return v;
}

/* Appends a value that no rule describes. */
static tp_status new_value_without_rule(tp_planner *p, MlirValue value, int node) {
  int64_t shape[TP_MAX_RANK], *kept = tp__arena_array(p->problem.arena, TP_MAX_RANK, sizeof *kept);
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return TP_OK;
  if (!kept)
    return tp__plan_no_memory(p);
  tp_planned_value *v =
      new_value(p, value, node, 0, tp__func_graph_trips(&p->problem.graph, value));
  if (tp__static_tensor(mlirValueGetType(value), &v->rank, shape))
    memcpy(kept, shape, (size_t)v->rank * sizeof *kept);
  v->shape = kept;
  v->element_size = tp__element_size(tp__element_type(mlirValueGetType(value)));
  return TP_OK;
}

/* Appends a result of an item, which runs as often as the op itself. */
static void new_result(tp_planner *p, const tp_item *item, int node, int output) {
  const tp_value_map *map = &item->rule->results[output];
  tp_planned_value *v = new_value(p, map->value, node, output, item->trips);
  v->rank = map->rank;
  v->shape = map->shape;
  v->element_size = map->element_size;
  v->in_blocks = v->keeps_layout = map->in_blocks;
  v->in_kernel = map->in_kernel;
}

static tp_status add_use(tp_planner *p, int value, tp_use use) {
  enum { FEW_USES = 2 };
  if (value < 0 || (size_t)value >= p->problem.n_values)
    return tp__error(use.op, TP_INTERNAL, "uses a tensor that the planner has not seen");
  tp_planned_value *v = &p->problem.values[value];
  if (v->n_uses == v->use_capacity) {
    int capacity = v->use_capacity ? 2 * v->use_capacity : FEW_USES;
    tp_use *uses = tp__arena_array(p->problem.arena, (size_t)capacity, sizeof *uses);
    if (!uses)
      return tp__plan_no_memory(p);
    if (v->n_uses > 0)
      memcpy(uses, v->uses, (size_t)v->n_uses * sizeof *uses);
    v->uses = uses;
    v->use_capacity = capacity;
  }
  v->uses[v->n_uses++] = use;
  return TP_OK;
}

static int number_of(const tp_planner *p, MlirValue value) {
  return tp__func_graph_number(&p->problem.graph, value);
}

static tp_status add_arg(tp_planner *p, int i) {
  MlirValue arg = mlirBlockGetArgument(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(p->problem.graph.func, 0)), i);
  int node = 0;
  if (!tp__is_tensor(mlirValueGetType(arg)))
    return TP_OK;
  tp_status status = new_node(p, &node);
  if (status == TP_OK)
    status = tp__node_for_arg(p, i, &p->problem.nodes[node]);
  return status == TP_OK ? new_value_without_rule(p, arg, node) : status;
}

/* A use by a node with one input. */
static tp_use use_of(int node, MlirOperation op, int operand) {
  return (tp_use){
      .node = node, .served_by = -1, .op = op, .operand = operand, .exposed = TP_EXPOSED_UNITS};
}

/* The use of a tensor by operand i of the node's op. */
static tp_use op_use(const tp_node *node, int number, const tp_rule *rule, int i, int operand) {
  tp_use use = {
      .node = number, .input = i, .op = rule->op, .operand = operand, .exposed = TP_EXPOSED_UNITS};
  for (int k = 0; k < i && k < 64; k++) {
    const tp_value_map *other = &rule->operands[k];
    if (other->is_tensor && !other->is_unused && other->number == rule->operands[i].number)
      use.earlier |= UINT64_C(1) << k;
  }
  use.served_by = use.earlier ? tp__serving_input(node, &use, 0) : i;
  for (int s = 1; s < node->n && use.served_by != i; s++)
    if (tp__serving_input(node, &use, s) != use.served_by)
      use.served_by = i;
  use.served_by = use.served_by == i ? -1 : use.served_by;
  return use;
}

static tp_status add_op(tp_planner *p, int item) {
  const tp_rule *rule = p->problem.graph.items[item].rule;
  int node = 0;
  /* ops that share a rule capture no tensors */
  int n_own = rule->first ? rule->n_operands : (int)mlirOperationGetNumOperands(rule->op);
  tp_status status = new_node(p, &node);
  if (status == TP_OK)
    status = tp__node_for_op(p, item, &p->problem.nodes[node]);
  for (int i = 0; i < rule->n_operands && status == TP_OK; i++)
    if (rule->operands[i].is_tensor && !rule->operands[i].is_unused)
      status = add_use(p, rule->operands[i].number,
                       op_use(&p->problem.nodes[node], node, rule, i, i < n_own ? i : -1));
  for (int i = 0; i < rule->n_results && status == TP_OK; i++)
    if (rule->results[i].number >= 0)
      new_result(p, &p->problem.graph.items[item], node, i);
  return status;
}

static tp_status add_layout(tp_planner *p, int item) {
  MlirOperation op = p->problem.graph.items[item].op;
  int node = 0;
  tp_status status = new_node(p, &node);
  if (status == TP_OK)
    status = tp__node_for_layout(p, item, &p->problem.nodes[node]);
  if (status == TP_OK)
    status = add_use(p, number_of(p, mlirOperationGetOperand(op, 0)), use_of(node, op, 0));
  return status == TP_OK ? new_value_without_rule(p, mlirOperationGetResult(op, 0), node) : status;
}

/* Equal lists of layouts share one array, so that edges between them are recognized as equal. */
static tp_status copy_specs(tp_planner *p, tp_node *node, const tp_layout_set *set, bool is_copy) {
  int64_t key[TP_MAX_STRATEGIES];
  const tp_spec *specs;
  int n;
  if (tp__layout_set_list(p, set, &specs, &n, &node->left_out) != TP_OK)
    return tp__plan_no_memory(p);
  for (int i = 0; i < n; i++)
    key[i] = (int64_t)specs[i].bits;
  void **slot = tp__memo(&p->same_layouts, p->problem.arena, key, (size_t)n);
  if (slot && !*slot) {
    *slot = tp__arena_array(p->problem.arena, (size_t)n + 1, sizeof *specs);
    if (*slot)
      memcpy(*slot, specs, (size_t)n * sizeof *specs);
  }
  node->n = n;
  node->n_in = 1;
  node->n_out = is_copy;
  node->in = slot ? *slot : NULL;
  if (!p->no_costs)
    p->no_costs = tp__arena_array(p->problem.arena, TP_MAX_STRATEGIES, sizeof *p->no_costs);
  node->costs = p->no_costs;
  if (!node->in || !node->costs)
    return tp__plan_no_memory(p);
  node->out = node->in;
  return TP_OK;
}

/* An unannotated result takes any layout without partial sums that may cross the boundary: first
 * those that its producer can make, then all others. */
static tp_status add_made(tp_planner *p, const tp_planned_value *v, MlirType type, tp_node *node) {
  const tp_node *producer = &p->problem.nodes[v->node];
  tp_layout_set *set = tp__layout_set_empty(p);
  if (!set)
    return tp__plan_no_memory(p);
  for (int s = 0; s < producer->n; s++) {
    tp_spec spec = producer->out[s * producer->n_out + v->output];
    if (!tp_spec_has_partial(spec) && tp__may_cross_boundary(p, type, spec))
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
    status = tp__node_for_result(p, i, value, &p->problem.nodes[node], &pinned);
  if (status == TP_OK && !pinned)
    status = add_made(p, v, mlirValueGetType(value), &p->problem.nodes[node]);
  p->problem.nodes[node].kind = TP_NODE_RESULT;
  p->problem.nodes[node].index = i;
  return status == TP_OK ? add_use(p, number_of(p, value), use_of(node, ret, i)) : status;
}

/* Adds one node for each carried tensor. Its uses are added when all values are known. */
static tp_status add_carried(tp_planner *p, int item) {
  tp_status status = TP_OK;
  for (int k = 0; k < p->problem.graph.items[item].n_carried && status == TP_OK; k++) {
    const tp_carried *c = &p->problem.graph.items[item].carried[k];
    int node = 0;
    status = new_node(p, &node);
    if (status == TP_OK)
      status = tp__node_for_carried(p, item, k, &p->problem.nodes[node]);
    for (int i = 0; i < c->n_values && status == TP_OK; i++)
      status = new_value_without_rule(p, c->values[i], node);
  }
  return status;
}

static tp_status add_carried_uses(tp_planner *p) {
  tp_status status = TP_OK;
  for (size_t i = 0; i < p->problem.n_nodes && status == TP_OK; i++) {
    if (p->problem.nodes[i].kind != TP_NODE_CARRIED)
      continue;
    const tp_carried *c =
        &p->problem.graph.items[p->problem.nodes[i].index].carried[p->problem.nodes[i].slot];
    for (int u = 0; u < c->n_uses && status == TP_OK; u++)
      status = add_use(p, number_of(p, mlirOperationGetOperand(c->uses[u].op, c->uses[u].operand)),
                       use_of((int)i, c->uses[u].op, c->uses[u].operand));
  }
  return status;
}

static void mark_stored(tp_planner *p, int value) {
  if (value >= 0 && value < p->problem.graph.n_values)
    p->problem.stored[value] = true;
}

static bool is_stored(const tp_planner *p, MlirValue value) {
  int number = number_of(p, value);
  return number >= 0 && p->problem.stored[number];
}

/* Elementwise ops read values of others in registers. */
static void mark_operands(tp_planner *p, const tp_rule *rule) {
  for (int i = 0; i < rule->n_operands && !rule->is_elementwise; i++)
    if (rule->operands[i].is_tensor && !rule->operands[i].is_unused)
      mark_stored(p, rule->operands[i].number);
}

static tp_status find_stored(tp_planner *p) {
  const tp_func_graph *graph = &p->problem.graph;
  p->problem.stored =
      tp__arena_array(p->problem.arena, (size_t)graph->n_values + 1, sizeof *p->problem.stored);
  if (!p->problem.stored)
    return tp__plan_no_memory(p);
  for (int i = graph->n_items; i-- > 0;) { /* users first */
    const tp_item *item = &graph->items[i];
    if (item->kind == TP_ITEM_OP)
      mark_operands(p, item->rule);
    if (item->kind == TP_ITEM_LAYOUT && is_stored(p, mlirOperationGetResult(item->op, 0)))
      mark_stored(p, number_of(p, mlirOperationGetOperand(item->op, 0)));
    for (int k = 0; item->kind == TP_ITEM_REGION && k < item->n_carried; k++)
      for (int u = 0; u < item->carried[k].n_uses; u++) {
        const tp_carried_use *use = &item->carried[k].uses[u];
        mark_stored(p, number_of(p, mlirOperationGetOperand(use->op, use->operand)));
      }
    for (int r = 0; item->kind == TP_ITEM_RETURN && r < graph->n_results; r++)
      mark_stored(p, number_of(p, mlirOperationGetOperand(item->op, r)));
  }
  return TP_OK;
}

static tp_status add_items(tp_planner *p) {
  p->problem.values = tp__arena_array(p->problem.arena, (size_t)p->problem.graph.n_values + 1,
                                      sizeof *p->problem.values);
  tp_status status = p->problem.values ? find_stored(p) : tp__plan_no_memory(p);
  for (int i = 0; i < p->problem.graph.n_args && status == TP_OK; i++)
    status = add_arg(p, i);
  for (int i = 0; i < p->problem.graph.n_items && status == TP_OK; i++) {
    const tp_item *item = &p->problem.graph.items[i];
    TP_TRY(tp__plan_cancelled(p));
    if (item->kind == TP_ITEM_OP)
      status = add_op(p, i);
    else if (item->kind == TP_ITEM_LAYOUT)
      status = add_layout(p, i);
    else if (item->kind == TP_ITEM_REGION)
      status = add_carried(p, i);
    else
      for (int r = 0; r < p->problem.graph.n_results && status == TP_OK; r++)
        status = add_result(p, item->op, r);
  }
  return status == TP_OK ? add_carried_uses(p) : status;
}

/* The layout of what two layouts have in common: the leading axes of each dimension, and equal
 * partials. */
static tp_spec meet(const tp_mesh *mesh, tp_spec a, tp_spec b, int rank) {
  tp_spec both = tp_spec_replicated();
  for (int d = 0; d < rank; d++) {
    int of_a[TP_MAX_AXES], of_b[TP_MAX_AXES];
    int n_a = tp_spec_dim_axes(mesh, a, d, of_a), n_b = tp_spec_dim_axes(mesh, b, d, of_b);
    for (int i = 0; i < n_a && i < n_b && of_a[i] == of_b[i]; i++)
      (void)tp_spec_append(&both, of_a[i], d); /* as valid as in `a` */
  }
  for (int i = 0; i < mesh->n_axes; i++) {
    tp_place x = tp_spec_place(a, i), y = tp_spec_place(b, i);
    if (x.kind == TP_PARTIAL && y.kind == TP_PARTIAL && x.combiner == y.combiner)
      (void)tp_spec_set_partial(&both, i, x.combiner);
  }
  return both;
}

/* Adds what pairs of layouts have in common: reshards to both share the path to it. Where layouts
 * are many, these are mostly among them. */
static tp_status add_meets(tp_planner *p, const tp_planned_value *v, tp_layout_set *set) {
  enum { MOST = 8 };
  tp_spec list[MOST];
  const tp_spec *specs;
  int n, left_out;
  if (tp__layout_set_list(p, set, &specs, &n, &left_out) != TP_OK)
    return tp__plan_no_memory(p);
  if (n > MOST)
    return TP_OK;
  memcpy(list, specs, (size_t)n * sizeof *list);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      tp__layout_set_add(set, meet(p->problem.mesh, list[i], list[k], v->rank));
  return TP_OK;
}

/* Fills the node of a copy with the layouts that the producer or a consumer can have. */
static tp_status list_copies(tp_planner *p, const tp_planned_value *v, tp_node *node) {
  tp_layout_set *set = tp__layout_set_empty(p);
  if (!set)
    return tp__plan_no_memory(p);
  for (int u = -1; u < v->n_uses; u++) {
    const tp_node *other = &p->problem.nodes[u < 0 ? v->node : v->uses[u].node];
    for (int s = 0; s < other->n; s++)
      tp__layout_set_add(set, u < 0 ? other->out[s * other->n_out + v->output]
                                    : other->in[s * other->n_in + v->uses[u].input]);
  }
  TP_TRY(add_meets(p, v, set));
  return copy_specs(p, node, set, true);
}

/* The same, where most values have the same producers and consumers as an earlier one. */
static tp_status share_copies(tp_planner *p, const tp_planned_value *v, tp_memo *known,
                              tp_node *node) {
  enum { MOST_USES = 16 };
  int64_t key[2 * (MOST_USES + 1)];
  size_t n = 0;
  if (v->n_uses > MOST_USES)
    return list_copies(p, v, node);
  for (int u = -1; u < v->n_uses; u++) {
    const tp_node *other = &p->problem.nodes[u < 0 ? v->node : v->uses[u].node];
    key[n++] = (int64_t)(intptr_t)(u < 0 ? other->out + v->output : other->in + v->uses[u].input);
    key[n++] = (int64_t)other->n << 32 | (u < 0 ? other->n_out : other->n_in);
  }
  void **slot = tp__memo(known, p->problem.arena, key, n);
  tp_node *first = slot ? *slot : NULL;
  if (first) {
    *node = *first;
    return TP_OK;
  }
  if (!slot || !(first = tp__arena_alloc(p->problem.arena, sizeof *first)))
    return tp__plan_no_memory(p);
  *slot = first;
  TP_TRY(list_copies(p, v, node));
  *first = *node;
  return TP_OK;
}

static tp_status add_copy(tp_planner *p, size_t value, tp_memo *known) {
  tp_planned_value *v = &p->problem.values[value];
  int node = 0;
  TP_TRY(new_node(p, &node));
  TP_TRY(share_copies(p, v, known, &p->problem.nodes[node]));
  p->problem.nodes[node].kind = TP_NODE_COPY;
  p->problem.nodes[node].index = (int)value;
  v->copy = node;
  return TP_OK;
}

static bool is_read_twice(const tp_planned_value *v) {
  int n = 0;
  for (int u = 0; u < v->n_uses && n < 2; u++)
    n += v->uses[u].served_by < 0;
  return n > 1;
}

tp_status tp__plan_copies(tp_planner *p) {
  tp_memo known = {0};
  tp_status status = TP_OK;
  for (size_t k = 0; k < p->problem.n_values && status == TP_OK; k++)
    if (is_read_twice(&p->problem.values[k]))
      status = add_copy(p, k, &known);
  tp__memo_destroy(&known);
  return status;
}

tp_status tp__plan_nodes(tp_planner *p) {
  tp_status status = tp__read_ties(p);
  if (status == TP_OK)
    status = add_items(p);
  if (status == TP_OK && p->limits.memory < 0)
    status = tp__plan_copies(p);
  return status == TP_OK ? tp__order_nodes(p) : status;
}
