/* tp-partition: turns an annotated plan into the per-device program.
 *
 * The pass first reads and checks everything (partition_plan.c), so that a refused module stays
 * unchanged. It then rewrites the ops in program order: reshards become collectives, and every
 * other op is localized by its rule and gets local types. */
#include "passes/partition/partition.h"

#include "rules/attention.h"
#include "rules/border.h"
#include "rules/regroup.h"
#include "rules/rows.h"

enum { STAT_COLLECTIVES, STAT_LOCAL_STEPS, STAT_OPS };

/* ---- rewriting ---- */

static MlirType local_type_anew(const tp_partitioner *p, MlirType type, tp_spec spec) {
  int rank;
  int64_t shape[TP_MAX_RANK], local[TP_MAX_RANK];
  if (!tp__static_tensor(type, &rank, shape))
    return type;
  tp_spec_local_shape(p->mesh, spec, rank, shape, local);
  return tp__tensor_like(type, rank, local);
}

static MlirType local_type(tp_partitioner *p, MlirType type, tp_spec spec) {
  int64_t key[] = {(int64_t)(intptr_t)type.ptr, (int64_t)spec.bits};
  void **slot = tp__memo(&p->local_types, &p->arena, key, TP_LEN(key));
  if (!slot)
    return local_type_anew(p, type, spec);
  if (!*slot)
    *slot = (void *)(uintptr_t)local_type_anew(p, type, spec).ptr;
  return (MlirType){*slot};
}

/* Moves the tensor.empty that makes operand i in front of the op and gives it the type, which takes
 * less time than a new one. False if it is another op, or others use it. */
static bool renew_in_place(MlirOperation op, int i, MlirType type) {
  MlirValue value = mlirOperationGetOperand(op, i);
  MlirOperation maker = tp__is_used_once(value) ? tp__defining_op(value) : (MlirOperation){NULL};
  if (mlirOperationIsNull(maker) || mlirOperationGetNumOperands(maker) > 0 ||
      mlirDictionaryAttrGetNumElements(tp__attributes(maker)) > 0 ||
      !tp__op_is(maker, "tensor.empty"))
    return false;
  mlirOperationMoveBefore(maker, op);
  mlirOperationSetLocation(maker, mlirOperationGetLocation(op));
  mlirValueSetType(value, type);
  return true;
}

/* Gives unused inits a buffer of the right local shape. */
static void renew_unused(tp_partitioner *p, const tp_rule *rule, const tp_planned_op *plan) {
  int n_own = (int)mlirOperationGetNumOperands(rule->op), first_init = n_own - rule->n_results;
  for (int i = 0; i < n_own; i++) {
    const tp_value_map *map = &rule->operands[i];
    int k = i - first_init;
    if (!map->is_unused || k < 0)
      continue;
    MlirType type = local_type(p, mlirValueGetType(rule->results[k].value), plan->results[k]);
    if (!mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(rule->op, i)), type) &&
        !renew_in_place(rule->op, i, type))
      mlirOperationSetOperand(rule->op, i, tp__empty(rule->op, type));
  }
}

/* Removes the plan from an op. Many ops carry equal attributes, so the result is memoized. */
static void drop_plan(tp_partitioner *p, MlirOperation op) {
  int64_t key = (int64_t)(intptr_t)tp__attributes(op).ptr;
  void **slot = tp__memo(&p->without_plan, &p->arena, &key, 1);
  if (slot && *slot) {
    tp__set_attributes(op, (MlirAttribute){*slot});
    return;
  }
  tp__remove(op, "tp.sharding");
  tp__remove(op, "tp.factors");
  if (slot)
    *slot = (void *)(uintptr_t)tp__attributes(op).ptr;
}

/* All-gathers the operand that travels in a ring and marks the gather with tp.ring.
 * tp-tile-attention later replaces this gather by an exchange of parts, because it creates the
 * matching blocks of attention. */
static tp_status gather_ring(const tp_local *local) {
  const tp_rule *rule = local->rule;
  tp_step step = {.kind = TP_STEP_ALL_GATHER, .dim = rule->ring.dim, .to_dim = -1};
  step.n_axes = tp__strategy_ring(local->mesh, local->strategy, step.axes);
  if (step.n_axes == 0)
    return TP_OK;
  const tp_value_map *map = &rule->operands[rule->ring.operand];
  step.from = step.to =
      tp__strategy_operand(rule, local->mesh, local->strategy, rule->ring.operand);
  for (int i = 0; i < step.n_axes; i++)
    tp_spec_clear(&step.to, step.axes[i]);
  MlirValue part = mlirOperationGetOperand(rule->op, rule->ring.operand);
  MlirValue whole =
      tp__build_step(rule->op, local->module, part, local->mesh, &step, map->rank, map->shape);
  if (mlirValueIsNull(whole))
    return tp__out_of_memory(rule->op);
  tp__set(tp__defining_op(whole), "tp.ring", mlirUnitAttrGet(mlirOperationGetContext(rule->op)));
  mlirOperationSetOperand(rule->op, rule->ring.operand, whole);
  return TP_OK;
}

static tp_status rewrite_op(tp_partitioner *p, const tp_item *item, const tp_planned_op *plan) {
  const tp_rule *rule = item->rule;
  MlirType types[64];
  for (int i = 0; i < rule->n_results && i < TP_LEN(types); i++)
    types[i] = local_type(p, mlirValueGetType(rule->results[i].value), plan->results[i]);
  renew_unused(p, rule, plan);
  tp_local local = {rule, p->mesh, &plan->strategy, p->pass->module};
  tp_status status = gather_ring(&local);
  if (status == TP_OK)
    status = tp__regroup_operands(&local);
  bool is_routed = false;
  if (status == TP_OK)
    status = tp__rows_localize(&local, &is_routed);
  if (status == TP_OK && !is_routed && rule->family && rule->family->localize)
    status = rule->family->localize(&local);
  if (status != TP_OK)
    return status;
  if (!rule->keeps_global) {
    for (int i = 0; i < rule->n_results; i++)
      mlirValueSetType(rule->results[i].value, types[i]);
    status = tp__regroup_results(&local);
  }
  drop_plan(p, item->op);
  p->pass->statistics[STAT_OPS]++;
  return status;
}

/* Copies tp.copy of `op` to the collectives between `behind` and `op`. It keeps them from being
 * merged with those of other copies of the value. */
static void mark_copy(MlirOperation behind, MlirOperation op) {
  MlirAttribute copy = tp__get(op, "tp.copy");
  MlirOperation o = mlirOperationIsNull(behind)
                        ? mlirBlockGetFirstOperation(mlirOperationGetBlock(op))
                        : mlirOperationGetNextInBlock(behind);
  for (; !mlirAttributeIsNull(copy) && !mlirOperationEqual(o, op);
       o = mlirOperationGetNextInBlock(o))
    tp__set(o, "tp.copy", copy);
}

static tp_status rewrite_layout(tp_partitioner *p, const tp_item *item,
                                const tp_planned_layout *plan) {
  MlirValue value = mlirOperationGetOperand(item->op, 0);
  MlirOperation before = mlirAttributeIsNull(tp__get(item->op, "tp.copy"))
                             ? (MlirOperation){NULL}
                             : tp__previous_op(item->op);
  for (int i = 0; i < plan->path.n_steps; i++) {
    const tp_step *step = &plan->path.steps[i];
    value =
        tp__build_step(item->op, p->pass->module, value, p->mesh, step, plan->rank, plan->shape);
    if (mlirValueIsNull(value))
      return tp__out_of_memory(item->op);
    p->pass->statistics[step->bytes > 0 ? STAT_COLLECTIVES : STAT_LOCAL_STEPS]++;
  }
  mark_copy(before, item->op);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(item->op, 0), value);
  return TP_OK;
}

static void rewrite_region(tp_partitioner *p, const tp_item *item) {
  for (int k = 0; k < item->n_carried; k++)
    for (int i = 0; i < item->carried[k].n_values; i++) {
      MlirValue value = item->carried[k].values[i];
      tp_spec spec = tp_spec_replicated();
      tp__planned_spec(p, value, &spec);
      mlirValueSetType(value, local_type(p, mlirValueGetType(value), spec));
    }
  tp__remove(item->op, "tp.sharding");
  tp__remove(item->op, "tp.region_args");
}

static void erase_layouts(tp_partitioner *p) {
  for (int i = p->graph.n_items - 1; i >= 0; i--) {
    const tp_item *item = &p->graph.items[i];
    if (item->kind != TP_ITEM_LAYOUT)
      continue;
    MlirOperation sharding = tp__defining_op(mlirOperationGetOperand(item->op, 1));
    mlirOperationDestroy(item->op);
    if (!mlirOperationIsNull(sharding) && !tp__is_used(mlirOperationGetResult(sharding, 0)))
      mlirOperationDestroy(sharding);
  }
}

/* Erases ops that were replaced: tensor.empty of global shape, borders, and exchanges of rows. */
static void erase_unused(tp_partitioner *p) {
  for (int i = 0; i < p->graph.n_items; i++) {
    const tp_item *item = &p->graph.items[i];
    tp__prefetch_items(&p->graph, i, false);
    if (item->kind != TP_ITEM_OP)
      continue;
    bool is_empty = item->rule->is_free && tp__op_is(item->op, "tensor.empty");
    if ((is_empty || item->rule->border || item->rule->rows->sends) &&
        !tp__is_used(mlirOperationGetResult(item->op, 0)))
      mlirOperationDestroy(item->op);
    else if (mlirDictionaryAttrGetNumElements(tp__attributes(item->op)) > 0 &&
             !tp__rows_has_role(item->op, TP_ROWS_OWN)) {
      tp__remove(item->op, "tp.rows");
      tp__remove(item->op, "tp.groups");
    }
  }
}

/* Writes canonical tp.sharding and the global types of arguments or results. */
static tp_status write_boundary(const tp_partitioner *p, bool is_args, int n, const MlirType *types,
                                const tp_spec *specs) {
  MlirContext context = p->pass->context;
  tp_boundary boundary;
  if (tp__boundary_begin(p->graph.func, is_args, &boundary) != TP_OK)
    return tp__out_of_memory(p->graph.func);
  for (int i = 0; i < n; i++) {
    if (!tp__is_tensor(types[i]))
      continue;
    tp_annotation layout = {.spec = specs[i]};
    tp__boundary_set(
        &boundary, i, "tp.sharding",
        tp__write_sharding(context, p->mesh, (int)mlirShapedTypeGetRank(types[i]), layout));
    tp__boundary_set(&boundary, i, "tp.global", mlirTypeAttrGet(types[i]));
  }
  tp__boundary_end(&boundary);
  return TP_OK;
}

static tp_status rewrite_signature(tp_partitioner *p) {
  MlirOperation func = p->graph.func;
  TP_TRY(write_boundary(p, true, p->graph.n_args, p->arg_types, p->arg_specs));
  TP_TRY(write_boundary(p, false, p->graph.n_results, p->result_types, p->result_specs));
  for (int i = 0; i < p->graph.n_args; i++)
    p->arg_types[i] = local_type(p, p->arg_types[i], p->arg_specs[i]);
  for (int i = 0; i < p->graph.n_results; i++)
    p->result_types[i] = local_type(p, p->result_types[i], p->result_specs[i]);
  MlirType type = mlirFunctionTypeGet(p->pass->context, p->graph.n_args, p->arg_types,
                                      p->graph.n_results, p->result_types);
  mlirOperationSetInherentAttributeByName(func, tp__ref("function_type"), mlirTypeAttrGet(type));
  return TP_OK;
}

static tp_status rewrite(tp_partitioner *p) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->graph.func, 0));
  for (int i = 0; i < p->graph.n_args; i++)
    mlirValueSetType(mlirBlockGetArgument(block, i),
                     local_type(p, p->arg_types[i], p->arg_specs[i]));
  for (int i = 0; i < p->graph.n_items; i++) {
    const tp_item *item = &p->graph.items[i];
    tp__prefetch_items(&p->graph, i, false);
    if (item->kind == TP_ITEM_OP)
      TP_TRY(rewrite_op(p, item, p->ops[i]));
    else if (item->kind == TP_ITEM_LAYOUT)
      TP_TRY(rewrite_layout(p, item, p->layouts[i]));
    else if (item->kind == TP_ITEM_REGION)
      rewrite_region(p, item);
  }
  erase_layouts(p);
  erase_unused(p);
  return rewrite_signature(p);
}

/* ---- the pass ---- */

static tp_status allocate(tp_partitioner *p) {
  size_t n_args = (size_t)p->graph.n_args + 1, n_results = (size_t)p->graph.n_results + 1;
  p->ops = tp__arena_array(&p->arena, (size_t)p->graph.n_items + 1, sizeof *p->ops);
  p->layouts = tp__arena_array(&p->arena, (size_t)p->graph.n_items + 1, sizeof *p->layouts);
  p->arg_types = tp__arena_array(&p->arena, n_args, sizeof *p->arg_types);
  p->result_types = tp__arena_array(&p->arena, n_results, sizeof *p->result_types);
  p->specs = tp__arena_array(&p->arena, (size_t)p->graph.n_values + 1, sizeof *p->specs);
  p->has_spec = tp__arena_array(&p->arena, (size_t)p->graph.n_values + 1, sizeof *p->has_spec);
  p->arg_specs = tp__arena_array(&p->arena, n_args, sizeof *p->arg_specs);
  p->result_specs = tp__arena_array(&p->arena, n_results, sizeof *p->result_specs);
  bool ok = p->ops && p->layouts && p->arg_types && p->result_types && p->specs && p->has_spec &&
            p->arg_specs && p->result_specs;
  return ok ? TP_OK : tp__out_of_memory(p->graph.func);
}

static tp_status partition_func(tp_pass *pass, MlirOperation func, const tp_mesh *mesh,
                                tp_reshard_cache *reshards, bool unknown_replicate) {
  tp_partitioner p = {.pass = pass, .mesh = mesh, .reshards = reshards};
  tp_status status =
      tp__func_graph_read(func, mesh, unknown_replicate,
                          tp__func_graphs_find(pass->inherited, func), NULL, &p.arena, &p.graph);
  if (status == TP_OK)
    status = allocate(&p);
  if (status == TP_OK && p.graph.names_ring) /* only attention has rings */
    status = tp__mark_attention(&p.graph, 0);
  if (status == TP_OK)
    status = tp__read_plan(&p);
  if (status == TP_OK)
    status = rewrite(&p);
  tp__memo_destroy(&p.same_ops);
  tp__memo_destroy(&p.same_layouts);
  tp__memo_destroy(&p.local_types);
  tp__memo_destroy(&p.without_plan);
  tp__func_graph_destroy(&p.graph);
  tp__arena_destroy(&p.arena);
  return status;
}

typedef struct settings {
  const char *topology;
  tp_objective objective;
  enum { UNKNOWN_REFUSE, UNKNOWN_REPLICATE } unknown_ops;
} settings;

static tp_status partition_functions(tp_pass *pass, const tp_mesh *mesh,
                                     tp_reshard_cache *reshards) {
  const settings *given = pass->options;
  bool unknown_replicate = given->unknown_ops == UNKNOWN_REPLICATE;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(pass->module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tp__is_planned_func(op))
      TP_TRY(partition_func(pass, op, mesh, reshards, unknown_replicate));
  return TP_OK;
}

/* Partitions on the mesh whose axes are cut as the paths of `planned`, a cache for `mesh`, need
 * it. */
static tp_status partition_on_cuts(tp_pass *pass, tp_mesh *mesh, tp_reshard_cache *planned) {
  const settings *given = pass->options;
  tp_topology topology;
  TP_TRY(tp__cut_for_paths(pass, planned, given->unknown_ops == UNKNOWN_REPLICATE, mesh));
  TP_TRY(tp__load_prices(pass->module, given->topology, given->objective, TP_BYTE_FLOPS, mesh,
                         &topology));
  tp_reshard_cache *reshards = tp_reshard_cache_create(mesh, &topology);
  if (!reshards)
    return tp__out_of_memory(pass->module);
  tp_reshard_cache_keep_axes(reshards, planned); /* the mesh of a per-device program is fixed */
  tp__write_grids(pass->module, mesh);
  tp_status status = partition_functions(pass, mesh, reshards);
  tp_reshard_cache_destroy(reshards);
  return status;
}

/* Reads the mesh. That of tp-propagate is taken over, unless it has sub-axes: where no axis is cut,
 * no annotation needs to be read. */
static tp_status read_mesh(const tp_pass *pass, tp_mesh *mesh) {
  const tp_func_graphs *left = pass->inherited;
  if (!left || tp_mesh_is_refined(&left->mesh))
    return tp__module_mesh(pass->module, NULL, mesh);
  *mesh = left->mesh;
  return TP_OK;
}

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  tp_mesh mesh;
  tp_topology topology;
  if (tp__is_local(pass->module))
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "the module is already partitioned (tp.phase = \"local\"); shapes are per "
                     "device and partitioning again "
                     "would shard twice");
  TP_TRY(read_mesh(pass, &mesh));
  if (mesh.n_axes == 0)
    return tp__error(pass->module, TP_NOT_FOUND,
                     "the module has no mesh; run tp-propagate first, or add a shard.grid");
  TP_TRY(tp__load_prices(pass->module, given->topology, given->objective, TP_BYTE_FLOPS, &mesh,
                         &topology));
  tp_reshard_cache *reshards = tp_reshard_cache_create(&mesh, &topology);
  if (!reshards)
    return tp__out_of_memory(pass->module);
  tp_status status;
  if (given->objective == TP_OBJECTIVE_BYTES) {
    status = partition_on_cuts(pass, &mesh, reshards);
  } else {
    tp__write_grids(pass->module, &mesh);
    status = partition_functions(pass, &mesh, reshards);
  }
  tp_reshard_cache_destroy(reshards);
  if (status == TP_OK)
    status = tp__localize_declarations(pass->module);
  tp__remove(pass->module, "tp.whole_axes");
  if (status == TP_OK)
    tp__set(pass->module, "tp.phase", tp__attr_string(pass->context, "local"));
  return status;
}

static const tp_option_row options[] = {
    {"topology", "cpu", "cost model that chooses among reshard paths, see tp-propagate",
     TP_TEXT(settings, topology, "NAME|FILE")},
    {"objective", "time", "that of the plan, see tp-propagate",
     TP_CHOICE(settings, objective, "time|bytes")},
    {"unknown-ops", "refuse",
     "refuse: ops without a rule are an error; replicate: they run on all devices, with a remark",
     TP_CHOICE(settings, unknown_ops, "refuse|replicate")},
};

static const tp_statistic_row statistics[] = {
    {"collectives", "collectives inserted"},
    {"local-steps", "slices and masks inserted"},
    {"ops", "ops rewritten for local shapes"},
};

const tp_pass_row tp__partition_row = {
    .name = "tp-partition",
    .summary = "Rewrite an annotated program as the per-device program with collectives",
    .description =
        "Requires: every tensor has a layout (tp.sharding on arguments, results, ops and "
        "shard.shard), as tp-propagate "
        "writes it. Establishes: local shapes, upstream shard.* collectives, tp.phase = \"local\" "
        "on the module, "
        "tp.global on arguments and results. Breaks: the plan's annotations on ops are consumed.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
