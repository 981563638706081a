/* Writes the chosen plan into the IR: layouts of arguments, results and ops, and a summary. */
#include "passes/propagate/model/memory_model.h"

#include <stdio.h>
#include <string.h>

static tp_annotation closed(tp_spec spec) { return (tp_annotation){.spec = spec}; }

/* ---- layouts of producers ---- */

/* Writes the layouts of arguments (from their nodes) or of results. */
static tp_status write_boundary(tp_planner *p, tp_node_kind kind) {
  tp_boundary boundary;
  if (tp__boundary_begin(p->problem.graph.func, kind == TP_NODE_ARG, &boundary) != TP_OK)
    return tp__out_of_memory(p->problem.graph.func);
  MlirType type = tp__func_type(p->problem.graph.func);
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    const tp_node *node = &p->problem.nodes[i];
    if (node->kind != kind)
      continue;
    MlirType value = kind == TP_NODE_ARG ? mlirFunctionTypeGetInput(type, node->index)
                                         : mlirFunctionTypeGetResult(type, node->index);
    tp_spec spec = (kind == TP_NODE_ARG ? node->out : node->in)[node->chosen];
    tp__boundary_set(&boundary, node->index, "tp.sharding",
                     tp__write_sharding(p->problem.pass->context, p->problem.mesh,
                                        (int)mlirShapedTypeGetRank(value), closed(spec)));
  }
  tp__boundary_end(&boundary);
  return TP_OK;
}

/* Writes the choice of factors if the layouts do not imply it, and always for a ring, because a
 * ring is considered only if it is named. */
static void write_factors(tp_planner *p, const tp_node *node) {
  const tp_rule *rule = p->problem.graph.items[node->index].rule;
  tp_strategy found = {0};
  tp_strategy *chosen = &node->strategies[node->chosen];
  int n = tp__strategy_match(rule, p->problem.mesh, node->in + node->chosen * node->n_in,
                             node->out + node->chosen * node->n_out, NULL, &found);
  bool differs = n == 0;
  for (int a = 0; a < p->problem.mesh->n_axes; a++)
    differs |= !tp__same_choice(found.choices[a], chosen->choices[a]);
  tp__remove(rule->op, "tp.factors");
  if ((n > 1 && differs) || tp__ring_parts(p->problem.mesh, chosen) > 1)
    tp__set(rule->op, "tp.factors",
            tp__write_factors(p->problem.pass->context, p->problem.mesh, chosen));
}

/* The plan's attributes of an op, and all its attributes before and after writing. */
typedef struct written {
  MlirAttribute sharding, factors, before, after;
} written;

static tp_status write_anew(tp_planner *p, const tp_node *node) {
  const tp_rule *rule = p->problem.graph.items[node->index].rule;
  tp_annotation annotations[64];
  bool has_layout = false; /* an op that reads one element has no layout */
  for (int i = 0; i < rule->n_results && i < TP_LEN(annotations); i++) {
    annotations[i] = closed(node->out[node->chosen * node->n_out + i]);
    has_layout |= rule->results[i].is_tensor;
  }
  if (has_layout)
    TP_TRY(tp__set_op_sharding(rule->op, p->problem.mesh, rule->n_results, annotations));
  write_factors(p, node);
  return TP_OK;
}

/* Writes the plan of an op. Equal ops with the same strategy get the same attributes. */
static tp_status write_op(tp_planner *p, const tp_node *node) {
  const tp_rule *rule = p->problem.graph.items[node->index].rule;
  int64_t key[] = {(int64_t)(intptr_t)rule->first, (int64_t)(intptr_t)node->strategies,
                   node->chosen};
  void **slot = rule->first ? tp__memo(&p->written_ops, p->problem.arena, key, TP_LEN(key)) : NULL;
  if (rule->first && !slot)
    return tp__out_of_memory(rule->op);
  const written *before = slot ? *slot : NULL;
  if (!before) {
    MlirAttribute was = tp__attributes(rule->op);
    TP_TRY(write_anew(p, node));
    written *now = slot ? tp__arena_alloc(p->problem.arena, sizeof *now) : NULL;
    if (slot && !now)
      return tp__out_of_memory(rule->op);
    if (now)
      *now = (written){tp__get(rule->op, "tp.sharding"), tp__get(rule->op, "tp.factors"), was,
                       tp__attributes(rule->op)};
    if (slot)
      *slot = now;
    return TP_OK;
  }
  if (mlirAttributeEqual(tp__attributes(rule->op), before->before)) {
    tp__set_attributes(rule->op, before->after);
    return TP_OK;
  }
  if (!mlirAttributeIsNull(before->sharding))
    tp__set(rule->op, "tp.sharding", before->sharding);
  if (mlirAttributeIsNull(before->factors))
    tp__remove(rule->op, "tp.factors");
  else
    tp__set(rule->op, "tp.factors", before->factors);
  return TP_OK;
}

/* The layout of a carried value or a result of control flow, replicated if it is not planned. */
static tp_annotation layout_of(const tp_planner *p, MlirValue value) {
  const tp_planned_value *v = tp__planned_value(p, value);
  return closed(v ? tp__plan_produced(p, v) : tp_spec_replicated());
}

/* The layouts of the arguments of a block; null when memory runs out. */
static MlirAttribute arguments_of(const tp_planner *p, MlirBlock block) {
  MlirContext context = p->problem.pass->context;
  intptr_t n = mlirBlockIsNull(block) ? 0 : mlirBlockGetNumArguments(block);
  MlirAttribute *entries = tp__arena_array(p->problem.arena, (size_t)n + 1, sizeof(MlirAttribute));
  for (intptr_t i = 0; i < n && entries; i++) {
    MlirValue arg = mlirBlockGetArgument(block, i);
    int rank = mlirTypeIsARankedTensor(mlirValueGetType(arg))
                   ? (int)mlirShapedTypeGetRank(mlirValueGetType(arg))
                   : 0;
    entries[i] = tp__write_sharding(context, p->problem.mesh, rank, layout_of(p, arg));
  }
  return entries ? mlirArrayAttrGet(context, n, entries) : (MlirAttribute){NULL};
}

static tp_status write_region(tp_planner *p, MlirOperation op) {
  int n_results = (int)mlirOperationGetNumResults(op),
      n_regions = (int)mlirOperationGetNumRegions(op);
  tp_annotation *results =
      tp__arena_array(p->problem.arena, (size_t)n_results + 1, sizeof *results);
  MlirAttribute *lists = tp__arena_array(p->problem.arena, (size_t)n_regions + 1, sizeof *lists);
  if (!results || !lists)
    return tp__plan_no_memory(p);
  for (int r = 0; r < n_regions; r++) {
    lists[r] = arguments_of(p, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)));
    if (mlirAttributeIsNull(lists[r]))
      return tp__plan_no_memory(p);
  }
  tp__set(op, "tp.region_args", mlirArrayAttrGet(p->problem.pass->context, n_regions, lists));
  for (int i = 0; i < n_results; i++)
    results[i] = layout_of(p, mlirOperationGetResult(op, i));
  return n_results > 0 ? tp__set_op_sharding(op, p->problem.mesh, n_results, results) : TP_OK;
}

static tp_status write_regions(tp_planner *p) {
  tp_status status = TP_OK;
  for (int i = 0; i < p->problem.graph.n_items && status == TP_OK; i++)
    if (p->problem.graph.items[i].kind == TP_ITEM_REGION)
      status = write_region(p, p->problem.graph.items[i].op);
  return status;
}

static tp_status write_producers(tp_planner *p) {
  tp_status status = TP_OK;
  for (size_t i = 0; i < p->problem.n_nodes && status == TP_OK; i++) {
    const tp_node *node = &p->problem.nodes[i];
    if (node->kind == TP_NODE_OP)
      tp__prefetch_items(&p->problem.graph, node->index, false);
    if (node->kind == TP_NODE_OP)
      status = write_op(p, node);
    if (node->kind == TP_NODE_LAYOUT) {
      tp_annotation annotation = closed(node->out[node->chosen]);
      TP_TRY(tp__set_op_sharding(p->problem.graph.items[node->index].op, p->problem.mesh, 1,
                                 &annotation));
    }
  }
  return status;
}

/* The modelled time of one run of an op, with the communication inside of it. Nodes that share
 * their strategies cost the same; without memory to remember their times they are priced again. */
static tp_cost op_time(tp_planner *p, const tp_node *node) {
  int64_t key[] = {(int64_t)(intptr_t)node->strategies, node->chosen};
  void **slot = tp__memo(&p->step_times, p->problem.arena, key, TP_LEN(key));
  tp_cost *kept = slot ? *slot : NULL;
  if (kept)
    return *kept;
  const tp_pricing pricing = {.mesh = p->problem.mesh, .topology = p->problem.machine};
  tp_cost inside = tp__strategy_communication(p->problem.graph.items[node->index].rule, &pricing,
                                              &node->strategies[node->chosen]);
  tp_cost time = tp_cost_add(tp__node_compute(p, node), inside);
  if (slot && (kept = *slot = tp__arena_alloc(p->problem.arena, sizeof *kept)))
    *kept = time;
  return time;
}

/* The modelled time of an execution of the written plan. */
static tp_cost step_time(tp_planner *p) {
  tp_cost time = p->result.reshards;
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    const tp_node *node = &p->problem.nodes[i];
    if (node->kind == TP_NODE_OP)
      time = tp_cost_add(time, tp__cost_times(op_time(p, node), tp__node_trips(p, node)));
  }
  return time;
}

/* Writes tp.plan on the function: modeled cost and certified bound in picoseconds (in the prices of
 * the objective, if one is named), the modelled time of a step where that is another number, peak
 * memory of a device in bytes, and whether the clock cut the search short, so that the plan is not
 * reproducible. */
static tp_status write_summary(tp_planner *p) {
  MlirContext context = p->problem.pass->context;
  tp_memory_peak peak;
  tp_status status = tp__plan_peak(p, &peak);
  if (status != TP_OK)
    return status;
  p->result.peak = peak.bytes;
  tp__memory_peak_destroy(&peak);
  MlirNamedAttribute entries[8] = {
      tp__named(context, "cost_ps", tp__attr_i64(context, p->result.cost)),
      tp__named(context, "bound_ps", tp__attr_i64(context, p->result.bound)),
      tp__named(context, "method", tp__attr_string(context, p->result.method)),
      tp__named(context, "peak_memory", tp__attr_i64(context, p->result.peak)),
  };
  int n = 4;
  if (p->problem.overlaps)
    entries[n++] = tp__named(context, "overlapped_ps", tp__attr_i64(context, p->result.overlapped));
  if (p->problem.options->objective != TP_OBJECTIVE_TIME)
    entries[n++] =
        tp__named(context, "objective",
                  tp__attr_string(context, tp_objective_name(p->problem.options->objective)));
  tp_cost step = step_time(p);
  if (step != p->result.cost)
    entries[n++] = tp__named(context, "step_ps", tp__attr_i64(context, step));
  if (p->result.is_cut_short)
    entries[n++] = tp__named(context, "stopped_by", tp__attr_string(context, tp__clock_ender()));
  tp__set(p->problem.graph.func, "tp.plan", mlirDictionaryAttrGet(context, n, entries));
  return TP_OK;
}

tp_status tp__plan_write(tp_planner *p) {
  tp_status status = write_regions(p);
  if (status == TP_OK)
    status = write_boundary(p, TP_NODE_ARG);
  if (status == TP_OK)
    status = write_boundary(p, TP_NODE_RESULT);
  if (status == TP_OK)
    status = write_producers(p);
  if (status == TP_OK)
    status = tp__write_reshards(p);
  return status == TP_OK ? write_summary(p) : status;
}
