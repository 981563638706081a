/* Lists the communication of a plan in program order, and sums up the time of a step. */
#include "passes/propagate/report/plan_report.h"

#include <stdlib.h>
#include <string.h>

/* ---- annotations of the input ---- */

static tp_status add_pin(tp_report *r, int node, tp_pin pin) {
  tp_function_report *f = &r->function;
  if (tp__grow((void **)&f->pins, &f->pin_capacity, f->n_pins + 1, sizeof *f->pins) != TP_OK)
    return tp__report_no_memory(r);
  f->pin_of_node[node] = (int)f->n_pins;
  f->pins[f->n_pins++] = pin;
  return TP_OK;
}

static tp_status add_boundary_pin(tp_report *r, const tp_planner *p, int n, bool is_arg) {
  int i = p->problem.nodes[n].index;
  MlirOperation func = p->problem.graph.func;
  MlirAttribute sharding =
      is_arg ? tp__arg_attr(func, i, "tp.sharding") : tp__result_attr(func, i, "tp.sharding");
  if (mlirAttributeIsNull(sharding))
    return TP_OK;
  tp_pin pin = {
      .place = is_arg ? TP_PIN_ARG : TP_PIN_RESULT, .number = i, .op = func, .sharding = sharding};
  if (is_arg)
    pin.value = mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)), i);
  return add_pin(r, n, pin);
}

static tp_status add_op_pin(tp_report *r, const tp_planner *p, int n) {
  const tp_item *item = &p->problem.graph.items[p->problem.nodes[n].index];
  MlirAttribute sharding = tp__get(item->op, "tp.sharding");
  if (mlirAttributeIsNull(sharding) || mlirOperationGetNumResults(item->op) == 0)
    return TP_OK;
  return add_pin(r, n,
                 (tp_pin){.place = TP_PIN_OP,
                          .number = -1,
                          .op = item->op,
                          .value = mlirOperationGetResult(item->op, 0),
                          .is_constraint = item->kind == TP_ITEM_LAYOUT,
                          .sharding = sharding,
                          .factors = tp__get(item->op, "tp.factors")});
}

tp_status tp__report_pins(tp_report *r, const tp_planner *p) {
  r->function.pin_of_node =
      tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof *r->function.pin_of_node);
  if (!r->function.pin_of_node)
    return tp__report_no_memory(r);
  tp_status status = TP_OK;
  for (size_t i = 0; i < p->problem.n_nodes && status == TP_OK; i++) {
    r->function.pin_of_node[i] = -1;
    switch (p->problem.nodes[i].kind) {
    case TP_NODE_ARG:
    case TP_NODE_RESULT:
      status = add_boundary_pin(r, p, (int)i, p->problem.nodes[i].kind == TP_NODE_ARG);
      break;
    case TP_NODE_OP:
    case TP_NODE_LAYOUT:
      status = add_op_pin(r, p, (int)i);
      break;
    default:
      break;
    }
  }
  return status;
}

/* ---- reshards ---- */

void tp__report_reshard(const tp_planner *p, const tp_planned_value *v, int use, tp_spec from,
                        tp_spec to, MlirOperation op) {
  tp_function_report *f = &p->report->function;
  if (tp__grow((void **)&f->changes, &f->change_capacity, f->n_changes + 1, sizeof *f->changes) ==
      TP_OK)
    f->changes[f->n_changes++] = (tp_report_communication){
        .op = op, .node = -1, .value = v, .use = use, .from = from, .to = to};
  else
    f->failed = true;
}

static int compare_positions(const void *a, const void *b) {
  const tp_report_communication *x = a, *y = b;
  return x->position < y->position ? -1 : x->position > y->position;
}

typedef struct counting {
  tp_value_table places;
  int n;
} counting;

static tp_status count_op(MlirOperation op, void *data) {
  counting *c = data;
  return tp__table_put(&c->places, op.ptr, c->n++);
}

static tp_status sort_changes(tp_report *r, const tp_planner *p) {
  tp_function_report *f = &r->function;
  counting c = {0};
  tp_status status = tp__walk(p->problem.graph.func, count_op, &c);
  for (size_t i = 0; i < f->n_changes && status == TP_OK; i++)
    f->changes[i].position = tp__table_get(&c.places, f->changes[i].op.ptr);
  tp__table_destroy(&c.places);
  if (status != TP_OK)
    return tp__report_no_memory(r);
  if (f->n_changes > 0)
    qsort(f->changes, f->n_changes, sizeof *f->changes, compare_positions);
  return TP_OK;
}

/* ---- collectives of reshards ---- */

static const struct {
  tp_step_kind step;
  tp_collective kind;
} kinds[] = {
    {TP_STEP_ALL_GATHER, TP_ALL_GATHER},
    {TP_STEP_ALL_REDUCE, TP_ALL_REDUCE},
    {TP_STEP_REDUCE_SCATTER, TP_REDUCE_SCATTER},
    {TP_STEP_ALL_TO_ALL, TP_ALL_TO_ALL},
    {TP_STEP_PERMUTE, TP_PERMUTE},
};

static void add_collective(tp_report *r, tp_report_communication *c,
                           tp_report_collective collective) {
  if (tp__grow((void **)&c->collectives, &c->collective_capacity, c->n_collectives + 1,
               sizeof *c->collectives) == TP_OK)
    c->collectives[c->n_collectives++] = collective;
  else
    r->function.failed = true;
}

/* Returns the axis of `mesh` that contains `part`, an axis of a refinement of it. */
static int containing_axis(const tp_mesh *mesh, const tp_axis *part) {
  int a = 0;
  while (a < mesh->n_axes - 1 &&
         (mesh->axes[a].parent != part->parent || part->pre < mesh->axes[a].pre ||
          part->pre * part->size > mesh->axes[a].pre * mesh->axes[a].size))
    a++;
  return a;
}

/* Lists the axes of the plan's mesh that contain those of a step, whose mesh may have cut them. */
static void find_axes(const tp_mesh *mesh, const tp_mesh *cut, const tp_step *step,
                      tp_report_collective *o) {
  for (int i = 0; i < step->n_axes; i++) {
    int axis = containing_axis(mesh, &cut->axes[step->axes[i]]);
    bool known = false;
    for (int k = 0; k < o->n_axes; k++)
      known |= o->axes[k] == axis;
    if (!known)
      o->axes[o->n_axes++] = axis;
  }
}

static void add_step(tp_report *r, tp_report_communication *c, const tp_reshard *path, int number) {
  const tp_planned_value *v = c->value;
  const tp_step *step = &path->steps[number];
  tp_cost cost =
      tp_step_cost(r->mesh, r->topology, path, number, v->rank, v->shape, v->element_size);
  c->cost = tp_cost_add(c->cost, tp__cost_times(cost, c->trips));
  for (int i = 0; i < TP_LEN(kinds); i++) {
    if (kinds[i].step != step->kind)
      continue;
    int64_t local[TP_MAX_RANK];
    char type[512];
    tp_spec_local_shape(&path->mesh, step->from, v->rank, v->shape, local);
    tp__type_text(tp__tensor_like(mlirValueGetType(v->value), v->rank, local), sizeof type, type);
    bool reduces = kinds[i].kind == TP_ALL_REDUCE || kinds[i].kind == TP_REDUCE_SCATTER;
    tp_report_collective o = {.kind = kinds[i].kind,
                              .over = tp__report_axes(r, &path->mesh, step->n_axes, step->axes),
                              .tensor = tp__report_text(r, "%s", type),
                              .reduction = reduces ? tp_combiner_name(step->combiner) : "",
                              .group = tp_step_group_size(&path->mesh, step),
                              .bytes = step->bytes,
                              .cost = cost};
    find_axes(r->mesh, &path->mesh, step, &o);
    add_collective(r, c, o);
    return;
  }
  c->local = tp_cost_add(c->local, tp__cost_times(cost, c->trips));
}

static tp_status measure_change(tp_report *r, const tp_planner *p, tp_report_communication *c) {
  const tp_planned_value *v = c->value;
  MlirValue result = mlirOperationGetResult(c->op, 0);
  tp_reshard path;
  tp_status status = tp_reshard_path(p->problem.reshards, c->from, c->to, v->rank, v->shape,
                                     v->element_size, &path);
  if (status != TP_OK)
    return tp__error(c->op, TP_INTERNAL, "the plan has a reshard without a path");
  c->trips = tp__func_graph_trips(&p->problem.graph, result);
  c->n_consumers = tp__n_uses(result);
  r->function.price = tp_cost_add(r->function.price, tp__cost_times(path.cost, c->trips));
  for (int i = 0; i < path.n_steps; i++)
    add_step(r, c, &path, i);
  return TP_OK;
}

/* ---- communication inside ops ---- */

typedef struct inside {
  tp_report *r;
  tp_report_communication *change;
} inside;

static void record_collective(tp_collective kind, int n_axes, const int *axes, int64_t elements,
                              int64_t element_size, void *data) {
  inside *in = data;
  tp_report *r = in->r;
  tp_report_collective o = {
      .kind = kind, .n_axes = n_axes, .tensor = NULL, .reduction = "", .group = 1};
  o.over = tp__report_axes(r, r->mesh, n_axes, axes);
  for (int i = 0; i < n_axes; i++) {
    o.axes[i] = axes[i];
    o.group *= r->mesh->axes[axes[i]].size;
  }
  if (o.group == 1)
    return;
  o.bytes = tp_cost_bytes(kind, o.group, elements, element_size);
  o.cost = tp_cost_collective(r->topology, r->mesh, kind, n_axes, axes, elements, element_size);
  add_collective(r, in->change, o);
}

static void add_inside(tp_report *r, const tp_planner *p, int n) {
  tp_function_report *f = &r->function;
  const tp_node *node = &p->problem.nodes[n];
  const tp_item *item = &p->problem.graph.items[node->index];
  tp_report_communication change = {
      .op = item->op, .node = n, .trips = item->trips, .n_consumers = 1};
  inside in = {r, &change};
  tp_pricing pricing = {
      .mesh = r->mesh, .topology = r->topology, .seen = record_collective, .data = &in};
  tp_cost cost = tp__strategy_communication(item->rule, &pricing, &node->strategies[node->chosen]);
  change.cost = tp__cost_times(cost, item->trips);
  f->compute = tp_cost_add(f->compute, tp__cost_times(tp__node_compute(p, node), item->trips));
  f->price = tp_cost_add(f->price, tp__cost_times(node->costs[node->chosen], item->trips));
  if (change.n_collectives == 0)
    return;
  if (tp__grow((void **)&f->changes, &f->change_capacity, f->n_changes + 1, sizeof *f->changes) ==
      TP_OK)
    f->changes[f->n_changes++] = change;
  else
    f->failed = true;
}

/* ---- sums ---- */

tp_status tp__report_measure(tp_report *r, const tp_planner *p) {
  tp_function_report *f = &r->function;
  for (size_t i = 0; i < f->n_changes; i++)
    if (measure_change(r, p, &f->changes[i]) != TP_OK)
      return TP_INTERNAL;
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    if (p->problem.nodes[i].kind == TP_NODE_OP)
      add_inside(r, p, (int)i);
  for (size_t i = 0; i < f->n_changes; i++) {
    const tp_report_communication *c = &f->changes[i];
    f->local = tp_cost_add(f->local, c->local);
    f->communication = tp_cost_add(f->communication, c->cost - c->local);
    for (size_t k = 0; k < c->n_collectives; k++)
      f->bytes += (int64_t)((double)c->collectives[k].bytes * c->trips);
  }
  return f->failed ? tp__report_no_memory(r) : sort_changes(r, p);
}
