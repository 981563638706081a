/* Axes flow from annotations along factors. strategy=follow offers no other axes. Uneven shards
 * that an annotation requests are offered to all ops that the annotation reaches.
 *
 * The dimensions of all values that share a factor of some op form one class (union-find). The axes
 * of a class are those that annotations put on its dimensions. */
#include "passes/propagate/model/planner.h"
#include "rules/border.h"

#include <string.h>

typedef struct tp_flow {
  int *first_slot; /* by value number: the slot of its dimension 0 */
  int n;
  int *parent; /* by slot, while classes are joined: another slot of the class, the root its own */
  /* by root of a class, in the end by slot: the axes of the class, and the sub-axes that are cut
   * for one of its sizes */
  uint8_t *axes, *cuts;
  uint8_t uneven; /* axes that an annotation puts on a dimension whose size they do not divide */
} tp_flow;

static int find(tp_flow *flow, int slot) {
  while (flow->parent[slot] != slot)
    slot = flow->parent[slot] = flow->parent[flow->parent[slot]];
  return slot;
}

/* Slot of a dimension of a value; -1 if `value` is none (< 0). */
static int slot_of(const tp_flow *flow, int value, int dim) {
  return value < 0 ? -1 : flow->first_slot[value] + dim;
}

static void join(tp_flow *flow, int a, int b) {
  if (a < 0 || b < 0)
    return;
  a = find(flow, a);
  b = find(flow, b);
  if (a == b)
    return;
  flow->parent[b] = a;
  flow->axes[a] |= flow->axes[b];
  flow->cuts[a] |= flow->cuts[b];
}

/* If an annotation or border lists axes in another order than the mesh, all ops may use that
 * order. */
static void note_order(tp_planner *p, tp_spec spec, int rank) {
  uint8_t order[TP_MAX_AXES];
  unsigned seen = 0;
  int n = 0, axes[TP_MAX_AXES];
  if (tp_spec_is_canonical(p->problem.mesh, spec) || p->problem.n_orders == TP_MAX_ORDERS)
    return;
  for (int d = 0; d < rank; d++) {
    int n_axes = tp_spec_dim_axes(p->problem.mesh, spec, d, axes);
    for (int i = 0; i < n_axes; i++) {
      order[n++] = (uint8_t)axes[i];
      seen |= 1u << axes[i];
    }
  }
  for (int a = 0; a < TP_MAX_AXES; a++)
    if (!(seen >> a & 1))
      order[n++] = (uint8_t)a;
  for (int i = 0; i < p->problem.n_orders; i++)
    if (memcmp(p->problem.orders[i], order, sizeof order) == 0)
      return;
  memcpy(p->problem.orders[p->problem.n_orders++], order, sizeof order);
}

static void mark(tp_planner *p, MlirValue value, tp_spec spec) {
  int axes[TP_MAX_AXES];
  note_order(p, spec, (int)mlirShapedTypeGetRank(mlirValueGetType(value)));
  int number = tp__func_graph_number(&p->problem.graph, value);
  for (int d = 0; d < mlirShapedTypeGetRank(mlirValueGetType(value)); d++) {
    int n = tp_spec_dim_axes(p->problem.mesh, spec, d, axes),
        slot = slot_of(p->problem.flow, number, d);
    bool divides = mlirShapedTypeGetDimSize(mlirValueGetType(value), d) %
                       tp_spec_dim_shards(p->problem.mesh, spec, d) ==
                   0;
    for (int i = 0; i < n && slot >= 0; i++) {
      p->problem.flow->axes[find(p->problem.flow, slot)] |= (uint8_t)(1u << axes[i]);
      p->problem.flow->uneven |= (uint8_t)((divides ? 0u : 1u) << axes[i]);
    }
  }
}

/* The sub-axes, as bits, that were cut for the size of the factor. */
static uint8_t cuts_of(const tp_mesh *mesh, const tp_factor *factor) {
  uint8_t cuts = 0;
  if (!tp_mesh_is_refined(mesh))
    return 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    int64_t at = tp__size_cut(factor, mesh->axes[a].parent_size);
    if (mesh->axes[a].pre * mesh->axes[a].size != at)
      continue;
    for (int b = 0; b < mesh->n_axes; b++)
      cuts |= (uint8_t)((mesh->axes[b].parent == mesh->axes[a].parent) << b);
  }
  return cuts;
}

static void join_factors(tp_planner *p, const tp_rule *rule) {
  tp_flow *flow = p->problem.flow;
  int of_factor[TP_MAX_FACTORS];
  for (int f = 0; f < rule->n_factors; f++)
    of_factor[f] = -1;
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    const tp_value_map *map =
        i < rule->n_operands ? &rule->operands[i] : &rule->results[i - rule->n_operands];
    for (int d = 0; map->is_tensor && d < map->rank; d++)
      for (int k = 0; k < map->dims[d].n_factors; k++) {
        int f = map->dims[d].factors[k], slot = slot_of(flow, map->number, d);
        if (of_factor[f] >= 0)
          join(flow, of_factor[f], slot);
        of_factor[f] = slot;
      }
  }
  for (int f = 0; f < rule->n_factors; f++)
    if (of_factor[f] >= 0)
      flow->cuts[find(flow, of_factor[f])] |= cuts_of(p->problem.mesh, &rule->factors[f]);
}

static void join_values(tp_planner *p, MlirValue a, MlirValue b) {
  int x = tp__func_graph_number(&p->problem.graph, a),
      y = tp__func_graph_number(&p->problem.graph, b);
  for (int d = 0; d < tp__value_rank(a); d++)
    join(p->problem.flow, slot_of(p->problem.flow, x, d), slot_of(p->problem.flow, y, d));
}

/* All values of a carried tensor share one layout. */
static void join_carried(tp_planner *p, const tp_carried *c) {
  for (int i = 1; i < c->n_values; i++)
    join_values(p, c->values[0], c->values[i]);
  for (int i = 0; i < c->n_uses; i++)
    join_values(p, c->values[0], mlirOperationGetOperand(c->uses[i].op, c->uses[i].operand));
}

static MlirBlock entry(const tp_planner *p) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(p->problem.graph.func, 0));
}

/* Gives the value with the next number its slots. */
static void add_slots(tp_flow *flow, int *number, int rank) {
  flow->first_slot[(*number)++] = flow->n;
  flow->n += rank;
}

/* Adds slots in the order of value numbers (func_graph.h). */
static void add_values(tp_planner *p) {
  int n = 0;
  for (int i = 0; i < p->problem.graph.n_args; i++) {
    MlirValue arg = mlirBlockGetArgument(entry(p), i);
    if (mlirTypeIsARankedTensor(mlirValueGetType(arg)))
      add_slots(p->problem.flow, &n, tp__value_rank(arg));
  }
  for (int i = 0; i < p->problem.graph.n_items; i++) {
    const tp_item *item = &p->problem.graph.items[i];
    for (int r = 0; item->kind == TP_ITEM_OP && r < item->rule->n_results; r++)
      if (item->rule->results[r].number >= 0)
        add_slots(p->problem.flow, &n, item->rule->results[r].rank);
    if (item->kind == TP_ITEM_LAYOUT &&
        mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(item->op, 0))))
      add_slots(p->problem.flow, &n, tp__value_rank(mlirOperationGetResult(item->op, 0)));
    for (int k = 0; k < item->n_carried; k++)
      for (int v = 0; v < item->carried[k].n_values; v++)
        if (mlirTypeIsARankedTensor(mlirValueGetType(item->carried[k].values[v])))
          add_slots(p->problem.flow, &n, tp__value_rank(item->carried[k].values[v]));
  }
}

/* A border names an order of axes, but asks for no layout: without annotations, a plan that follows
 * them replicates every value. */
static tp_status mark_annotations(tp_planner *p) {
  tp_annotation a;
  bool present;
  tp_status status = TP_OK;
  for (int i = 0; i < p->problem.graph.n_args && status == TP_OK; i++)
    if ((status = tp__func_graph_arg(&p->problem.graph, i, &a, &present)) == TP_OK && present)
      mark(p, mlirBlockGetArgument(entry(p), i), a.spec);
  for (int i = 0; i < p->problem.graph.n_items && status == TP_OK; i++) {
    const tp_item *item = &p->problem.graph.items[i];
    if (item->kind == TP_ITEM_RETURN) {
      for (int r = 0; r < p->problem.graph.n_results && status == TP_OK; r++)
        if ((status = tp__func_graph_result(&p->problem.graph, r, &a, &present)) == TP_OK &&
            present)
          mark(p, mlirOperationGetOperand(item->op, r), a.spec);
      continue;
    }
    if (item->kind == TP_ITEM_OP && item->rule->border) {
      tp_spec spec;
      MlirValue value = tp__border_spec(item->rule, &spec);
      note_order(p, spec, tp__value_rank(value));
    }
    if (item->is_bare)
      continue;
    for (int r = 0; r < mlirOperationGetNumResults(item->op) && status == TP_OK; r++)
      if ((status = tp__func_graph_op(&p->problem.graph, item->op, r, &a, &present)) == TP_OK &&
          present)
        mark(p, mlirOperationGetResult(item->op, r), a.spec);
  }
  return status;
}

/* Gives all slots what their class has, so that no query follows links. */
static void spread(tp_flow *flow) {
  for (int i = 0; i < flow->n; i++) {
    int root = find(flow, i);
    flow->axes[i] = flow->axes[root];
    flow->cuts[i] = flow->cuts[root];
  }
}

tp_status tp__flow_build(tp_planner *p) {
  tp_flow *flow = p->problem.flow = tp__arena_alloc(p->problem.arena, sizeof *flow);
  if (!flow ||
      !(flow->first_slot = tp__arena_array(p->problem.arena, (size_t)p->problem.graph.n_values + 1,
                                           sizeof *flow->first_slot)))
    return tp__out_of_memory(p->problem.graph.func);
  add_values(p);
  flow->axes = tp__arena_array(p->problem.arena, (size_t)flow->n + 1, sizeof *flow->axes);
  flow->cuts = tp__arena_array(p->problem.arena, (size_t)flow->n + 1, sizeof *flow->cuts);
  if (!flow->axes || !flow->cuts ||
      !(flow->parent = tp__calloc((size_t)flow->n + 1, sizeof *flow->parent)))
    return tp__out_of_memory(p->problem.graph.func);
  for (int i = 0; i < flow->n; i++)
    flow->parent[i] = i;
  p->problem.n_orders = 1;
  for (int a = 0; a < TP_MAX_AXES; a++)
    p->problem.orders[0][a] = (uint8_t)a;
  for (int i = 0; i < p->problem.graph.n_items; i++) {
    const tp_item *item = &p->problem.graph.items[i];
    if (item->kind == TP_ITEM_OP)
      join_factors(p, item->rule);
    for (int k = 0; k < item->n_carried; k++)
      join_carried(p, &item->carried[k]);
    if (item->kind == TP_ITEM_LAYOUT)
      join_values(p, mlirOperationGetOperand(item->op, 0), mlirOperationGetResult(item->op, 0));
  }
  tp_status status = mark_annotations(p);
  spread(flow);
  tp__free(flow->parent);
  flow->parent = NULL;
  return status;
}

bool tp__flow_is_uneven(const tp_planner *p, int axis) {
  return p->problem.flow->uneven >> axis & 1;
}

bool tp__flow_allows(const tp_planner *p, int value, int dim, int axis) {
  return !p->problem.follow || tp__flow_names(p, value, dim, axis);
}

bool tp__flow_names(const tp_planner *p, int value, int dim, int axis) {
  int slot = slot_of(p->problem.flow, value, dim);
  return slot >= 0 && (p->problem.flow->axes[slot] >> axis & 1);
}

void tp__flow_axes(const tp_planner *p, int value, int dim, uint8_t *named, uint8_t *cut) {
  int slot = slot_of(p->problem.flow, value, dim);
  *named = slot < 0 ? 0 : p->problem.flow->axes[slot];
  *cut = slot < 0 ? 0 : p->problem.flow->cuts[slot];
}
