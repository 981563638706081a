/* Nodes that accept every layout their annotation leaves open: arguments, constraints, carried
 * values, results. */
#include "passes/propagate/model/planner.h"

#include "ir/annotation.h"

#include <string.h>

tp_status tp__node_allocate(tp_planner *p, tp_node *node, int n, int n_in, int n_out) {
  node->n = n;
  node->n_in = n_in;
  node->n_out = n_out;
  node->in = tp__arena_array(p->problem.arena, (size_t)n * (size_t)n_in + 1, sizeof *node->in);
  node->out = tp__arena_array(p->problem.arena, (size_t)n * (size_t)n_out + 1, sizeof *node->out);
  node->costs = tp__arena_array(p->problem.arena, (size_t)n + 1, sizeof *node->costs);
  return node->in && node->out && node->costs ? TP_OK : tp__plan_no_memory(p);
}

/* True if the set has, for each axis, either all of its parts or none. */
static bool is_complete(const tp_mesh *mesh, unsigned axes) {
  for (int a = 0; a < mesh->n_axes; a++)
    for (int b = 0; b < mesh->n_axes; b++)
      if ((axes >> a & 1) && !(axes >> b & 1) && mesh->axes[a].parent == mesh->axes[b].parent)
        return false;
  return true;
}

bool tp__is_offered(const tp_planner *p, int64_t size, unsigned axes, bool named) {
  int64_t shards = 1;
  for (int a = 0; a < p->problem.mesh->n_axes; a++)
    shards *= axes >> a & 1 ? p->problem.mesh->axes[a].size : 1;
  if (size % shards == 0 || (named && p->problem.mixes_sub_axes))
    return true;
  return (named || size > shards) && is_complete(p->problem.mesh, axes);
}

bool tp__may_be_offered(const tp_planner *p, int64_t size, int axis, bool named) {
  const tp_axis *a = &p->problem.mesh->axes[axis];
  return size % a->size == 0 || named || size > a->parent_size;
}

/* All layouts of a value: those that extend `pin` on its open dimensions, by every axis that is
 * allowed there. */
typedef struct layout_list {
  tp_planner *planner;
  int value; /* its number in the graph */
  int rank;
  int64_t shape[TP_MAX_RANK];
  uint32_t open;
  bool is_boundary;           /* of an argument or a result */
  const tp_combiner *partial; /* also partial by this; NULL: no layout is partial */
  const uint8_t *order;       /* order in which axes are appended */
  int n, left_out;
  tp_spec specs[TP_MAX_FOUND];
} layout_list;

/* True if the axes of a dimension print as names of axes, without parts. */
static bool are_whole(const tp_mesh *mesh, int n, const int *axes) {
  for (int i = 0; i < n;) {
    int run = tp__ordered_axes(mesh, n - i, axes + i);
    int64_t size = 1;
    for (int k = i; k < i + run; k++)
      size *= mesh->axes[axes[k]].size;
    if (size != mesh->axes[axes[i]].parent_size)
      return false;
    i += run;
  }
  return true;
}

/* True if the option `boundary` lets these axes split a dimension of an argument or result. */
static bool may_cross(const tp_planner *p, int64_t size, int n, const int *axes) {
  int64_t parts = 1;
  for (int i = 0; i < n; i++)
    parts *= p->problem.mesh->axes[axes[i]].size;
  switch (p->problem.options->boundary) {
  case TP_BOUNDARY_ANY:
    return true;
  case TP_BOUNDARY_WHOLE:
    return are_whole(p->problem.mesh, n, axes);
  case TP_BOUNDARY_EVEN:
    return are_whole(p->problem.mesh, n, axes) && size % parts == 0;
  }
  return false;
}

bool tp__may_cross_boundary(const tp_planner *p, MlirType type, tp_spec spec) {
  int rank = 0;
  int64_t shape[TP_MAX_RANK];
  (void)tp__static_tensor(type, &rank, shape);
  for (int d = 0; d < rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(p->problem.mesh, spec, d, axes);
    if (!may_cross(p, shape[d], n, axes))
      return false;
  }
  return true;
}

static bool is_offered(const layout_list *list, tp_spec spec) {
  const tp_planner *p = list->planner;
  for (int d = 0; d < list->rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(p->problem.mesh, spec, d, axes);
    unsigned set = 0;
    bool named = true;
    for (int i = 0; i < n; i++) {
      set |= 1u << axes[i];
      named &= tp__flow_names(p, list->value, d, axes[i]);
    }
    if ((list->open >> d & 1) && !tp__is_offered(p, list->shape[d], set, named))
      return false;
    if ((list->open >> d & 1) && list->is_boundary && !may_cross(p, list->shape[d], n, axes))
      return false;
  }
  return true;
}

static bool is_listed(const layout_list *list, tp_spec spec) {
  for (int i = 0; i < list->n && list->planner->problem.n_orders > 1; i++)
    if (tp_spec_equal(list->specs[i], spec))
      return true;
  return false;
}

static void extend(layout_list *list, tp_spec spec, int done) {
  const tp_mesh *mesh = list->planner->problem.mesh;
  if (done == TP_MAX_AXES) {
    if (list->n < TP_MAX_FOUND && is_offered(list, spec) && !is_listed(list, spec))
      list->specs[list->n++] = spec;
    return;
  }
  int axis = list->order[done];
  extend(list, spec, done + 1);
  if (axis >= mesh->n_axes)
    return;
  if (mesh->axes[axis].size == 1 || tp_spec_place(spec, axis).kind != TP_REPLICATED)
    return;
  tp_spec partial = spec;
  if (list->partial && tp_spec_set_partial(&partial, axis, *list->partial) == TP_OK)
    extend(list, partial, done + 1);
  for (int d = 0; d < list->rank; d++) {
    tp_spec next = spec;
    if (!(list->open >> d & 1) || !tp__flow_allows(list->planner, list->value, d, axis))
      continue;
    if (tp_spec_append(&next, axis, d) == TP_OK &&
        tp__may_be_offered(list->planner, list->shape[d], axis,
                           tp__flow_names(list->planner, list->value, d, axis)))
      extend(list, next, done + 1);
  }
}

/* Keeps the layout that splits least, and of the others those that take the least memory. */
static tp_status limit(layout_list *list) {
  tp_planner *p = list->planner;
  int *kept;
  tp_cost *sizes = tp__arena_array(p->problem.arena, (size_t)list->n, sizeof *sizes);
  for (int i = 0; sizes && i < list->n; i++)
    sizes[i] = tp_spec_local_elements(p->problem.mesh, list->specs[i], list->rank, list->shape);
  if (!sizes ||
      tp__select_cheapest(p->problem.arena, sizes, list->n, TP_MAX_STRATEGIES, &kept) != TP_OK)
    return tp__plan_no_memory(p);
  for (int i = 0; i < TP_MAX_STRATEGIES; i++)
    list->specs[i] = list->specs[kept[i]];
  list->left_out = list->n - TP_MAX_STRATEGIES;
  list->n = TP_MAX_STRATEGIES;
  return TP_OK;
}

static tp_status layouts_of(tp_planner *p, MlirValue value, bool is_boundary,
                            const tp_combiner *partial, bool pinned, tp_annotation pin,
                            layout_list **out) {
  layout_list *list = p->layout_scratch;
  if (!list && !(list = p->layout_scratch = tp__arena_alloc(p->problem.arena, sizeof *list)))
    return tp__plan_no_memory(p);
  list->planner = p;
  list->n = list->left_out = 0;
  list->value = tp__func_graph_number(&p->problem.graph, value);
  list->open = pinned ? pin.open : UINT32_MAX;
  list->is_boundary = is_boundary;
  list->partial = partial;
  tp_spec start = pinned ? pin.spec : tp_spec_replicated();
  bool is_tensor = tp__static_tensor(mlirValueGetType(value), &list->rank, list->shape);
  for (int i = 0; i < p->problem.n_orders && is_tensor; i++) {
    list->order = p->problem.orders[i];
    extend(list, start, 0);
  }
  if (!is_tensor)
    list->specs[list->n++] = tp_spec_replicated();
  *out = list;
  return list->n > TP_MAX_STRATEGIES ? limit(list) : TP_OK;
}

tp_status tp__node_for_arg(tp_planner *p, int i, tp_node *node) {
  MlirValue arg = mlirBlockGetArgument(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(p->problem.graph.func, 0)), i);
  tp_annotation pin = {0};
  bool pinned = false;
  layout_list *list;
  tp_status status = TP_OK;
  if (tp__is_tensor(mlirValueGetType(arg)))
    status = tp__check_tensor(p->problem.graph.func, "argument", i, mlirValueGetType(arg));
  if (status == TP_OK)
    status = tp__pin_of_argument(p, i, &pin, &pinned);
  if (status == TP_OK)
    status = layouts_of(p, arg, true, NULL, pinned, pin, &list);
  if (status == TP_OK)
    status = tp__node_allocate(p, node, list->n, 0, 1);
  if (status != TP_OK)
    return status;
  node->kind = TP_NODE_ARG;
  node->index = i;
  memcpy(node->out, list->specs, (size_t)list->n * sizeof *node->out);
  node->left_out = list->left_out;
  return TP_OK;
}

tp_status tp__node_for_layout(tp_planner *p, int item, tp_node *node) {
  MlirOperation op = p->problem.graph.items[item].op;
  tp_annotation pin = {0};
  bool pinned;
  layout_list *list;
  tp_status status = tp__func_graph_op(&p->problem.graph, op, 0, &pin, &pinned);
  if (status == TP_OK && !pinned)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has no tp.sharding; a constraint must specify the layout of its value");
  if (status == TP_OK)
    status = layouts_of(p, mlirOperationGetResult(op, 0), false, NULL, true, pin, &list);
  if (status == TP_OK)
    status = tp__node_allocate(p, node, list->n, 1, 1);
  if (status != TP_OK)
    return status;
  node->kind = TP_NODE_LAYOUT;
  node->index = item;
  memcpy(node->in, list->specs, (size_t)list->n * sizeof *node->in);
  memcpy(node->out, list->specs, (size_t)list->n * sizeof *node->out);
  node->left_out = list->left_out;
  return TP_OK;
}

tp_status tp__node_for_carried(tp_planner *p, int item, int slot, tp_node *node) {
  const tp_carried *carried = &p->problem.graph.items[item].carried[slot];
  tp_combiner combiner;
  tp_annotation pin = {0};
  bool pinned;
  layout_list *list;
  MlirOperation op = p->problem.graph.items[item].op;
  tp_status status =
      tp__check_tensor(op, "carried value", slot, mlirValueGetType(carried->values[0]));
  if (status == TP_OK)
    status = tp__func_graph_carried(&p->problem.graph, op, carried, &pin, &pinned);
  if (carried->differs) {
    pin = (tp_annotation){0};
    pinned = true;
  }
  if (status == TP_OK)
    status = layouts_of(
        p, carried->values[0], false,
        !pinned && tp__accumulates(&p->problem.graph, carried, &combiner) ? &combiner : NULL,
        pinned, pin, &list);
  if (status == TP_OK)
    status = tp__node_allocate(p, node, list->n, 1, 1);
  if (status != TP_OK)
    return status;
  node->kind = TP_NODE_CARRIED;
  node->index = item;
  node->slot = slot;
  memcpy(node->in, list->specs, (size_t)list->n * sizeof *node->in);
  memcpy(node->out, list->specs, (size_t)list->n * sizeof *node->out);
  node->left_out = list->left_out;
  return TP_OK;
}

tp_status tp__node_for_result(tp_planner *p, int i, MlirValue value, tp_node *node, bool *pinned) {
  tp_annotation pin = {0};
  layout_list *list;
  tp_status status = tp__pin_of_result(p, i, &pin, pinned);
  if (status == TP_OK)
    status = layouts_of(p, value, true, NULL, *pinned, pin, &list);
  if (status == TP_OK)
    status = tp__node_allocate(p, node, list->n, 1, 0);
  if (status != TP_OK)
    return status;
  memcpy(node->in, list->specs, (size_t)list->n * sizeof *node->in);
  node->left_out = list->left_out;
  return TP_OK;
}
