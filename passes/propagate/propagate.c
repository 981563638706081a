/* tp-propagate: chooses a layout for every tensor value and writes the plan into the IR.
 *
 * Every op offers its strategies, every use costs the reshard between producer and consumer, and
 * the solver chooses. strategy=follow restricts the strategies to axes that flow from annotations;
 * strategy=plan offers all of them. */
#include "passes/propagate/limits/routes.h"

#include "passes/propagate/report/plan_report.h"
#include "passes/support/func_graphs.h"
#include "rules/attention.h"
#include "rules/collective.h"
#include "rules/rule_cache.h"

#include <stdlib.h>
#include <string.h>

/* ---- preparation ---- */

/* True if a structured op reads its first operand, a tensor, so that it is not free. Tells this
 * from the op alone, because reading the rule of every op takes long. */
static bool reads_first_operand(MlirOperation op) {
  if (!tp__op_has_dialect(op, "linalg") || mlirOperationGetNumRegions(op) != 1 ||
      mlirOperationGetNumOperands(op) == 0 ||
      !tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, 0))))
    return false;
  MlirBlock body = tp__region_block(op, 0);
  return !mlirBlockIsNull(body) && mlirBlockGetNumArguments(body) > 0 &&
         tp__is_used(mlirBlockGetArgument(body, 0));
}

static void reverse(tp_op_list *list, size_t start) {
  for (size_t i = start, k = list->n; i + 1 < k; i++) {
    MlirOperation op = list->items[i];
    list->items[i] = list->items[--k];
    list->items[k] = op;
  }
}

/* Clones an op without inputs (empty, fill, splat) for each of its uses; a shared one would tie the
 * layouts of all its users together. Ops are visited backwards, so that operands of clones are
 * cloned too. */
static tp_status clone_free_op(tp_planner *p, MlirOperation op, bool unknown_replicate,
                               tp_rule_cache *alike, tp_op_list *order) {
  tp_rule rule;
  if (mlirOperationGetNumResults(op) != 1 || !tp__is_used(mlirOperationGetResult(op, 0)) ||
      tp__is_used_once(mlirOperationGetResult(op, 0)) || mlirOperationGetNumRegions(op) > 1 ||
      tp__op_has_dialect(op, "shard") || tp__op_has_dialect(op, "scf") || reads_first_operand(op) ||
      !tp__op_has_tensors(op))
    return TP_OK;
  tp_status status = tp__rule_cached(alike, op, unknown_replicate, p->problem.arena, &rule);
  if (status != TP_OK || !rule.is_free)
    return status;
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirOpOperand use = mlirOpOperandGetNextUse(mlirValueGetFirstUse(result));
  size_t start = order->n;
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand next = mlirOpOperandGetNextUse(use);
    MlirOperation clone = mlirOperationClone(op);
    tp__insert_before(op, clone);
    TP_TRY(tp__op_list_add(order, clone));
    mlirOperationSetOperand(mlirOpOperandGetOwner(use), mlirOpOperandGetOperandNumber(use),
                            mlirOperationGetResult(clone, 0));
    use = next;
  }
  reverse(order, start);
  return TP_OK;
}

/* Lists all ops in program order, except those in the bodies of structured ops, and among them the
 * pads, the concats and what is read in place. */
static tp_status list_ops(MlirOperation parent, tp_op_list *list, tp_op_list *in_place) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(parent); r++)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
           op = mlirOperationGetNextInBlock(op)) {
        tp_status status = tp__op_list_add(list, op);
        if (status == TP_OK &&
            (tp__op_is(op, "tensor.pad") || tp__op_is(op, "tensor.concat") || tp__is_in_place(op)))
          status = tp__op_list_add(in_place, op);
        if (status == TP_OK && tp__op_has_dialect(op, "scf"))
          status = list_ops(op, list, in_place);
        if (status != TP_OK)
          return status;
      }
  return TP_OK;
}

/* Gives each user its own free ops, and its own pads and slices that it reads in place. Lists the
 * ops in program order in `order`, but for clones of those. */
static tp_status clone_shared_ops(tp_planner *p, MlirOperation func, bool unknown_replicate,
                                  tp_op_list *order) {
  enum { FAR = 10 }; /* ops ahead */
  tp_op_list list = {0}, in_place = {0};
  tp_rule_cache alike = {0};
  tp_status status = list_ops(func, &list, &in_place);
  for (size_t i = list.n; i > 0 && status == TP_OK; i--) {
    if (i > FAR)
      tp__prefetch_op(list.items[i - 1 - FAR], false);
    status = tp__op_list_add(order, list.items[i - 1]);
    if (status == TP_OK)
      status = clone_free_op(p, list.items[i - 1], unknown_replicate, &alike, order);
  }
  reverse(order, 0);
  if (status == TP_OK)
    status = tp__take_in_place(&in_place, p->problem.arena);
  tp__rule_cache_destroy(&alike);
  tp__free(list.items);
  tp__free(in_place.items);
  return status;
}

/* ---- one function ---- */

enum { STAT_NODES, STAT_STRATEGIES, STAT_LEFT_OUT, STAT_WORK };

static void destroy(tp_planner *p) {
  tp__free(p->problem.nodes);
  tp__memo_destroy(&p->same_rules);
  tp__memo_destroy(&p->first_rules);
  tp__memo_destroy(&p->same_ops);
  tp__memo_destroy(&p->same_surroundings);
  tp__memo_destroy(&p->same_layouts);
  tp__memo_destroy(&p->same_edges);
  tp__memo_destroy(&p->written_ops);
  tp__memo_destroy(&p->forms);
  tp__memo_destroy(&p->layout_changes);
  tp__memo_destroy(&p->reshard_times);
  tp__memo_destroy(&p->step_times);
  tp_problem_destroy(p->stated);
  tp__routes_destroy(p->routes);
}

static tp_status report_plan(tp_planner *p) {
  tp_memory_peak peak = {0};
  tp_status status = tp__plan_peak(p, &peak);
  if (status == TP_OK)
    status = tp__report_end(p, &peak);
  tp__memory_peak_destroy(&peak);
  return status;
}

static tp_status choose_plan(tp_planner *p) {
  tp__clock_share(p->limits.clock, p->limits.end, tp__report_makes_plans(p->report) ? 0.5 : 1);
  tp__clock_phase("listing strategies");
  tp_status status = p->problem.flow ? TP_OK : tp__flow_build(p);
  if (status == TP_OK)
    status = tp__plan_nodes(p);
  if (status == TP_OK)
    status = tp__plan(p);
  if (!p->report) { /* which prices other plans */
    tp_problem_destroy(p->stated);
    p->stated = NULL;
  }
  return status;
}

/* Writes and reports the plan that was chosen. */
static tp_status write_plan(tp_planner *p) {
  tp_status status = TP_OK;
  tp__clock_phase(p->report ? "writing the plan, pricing others" : "writing the plan");
  if (status == TP_OK)
    status = tp__plan_cancelled(p);
  if (status == TP_OK && p->result.is_cut_short)
    tp__clock_remark(p);
  else if (status == TP_OK)
    tp__limit_remark(p);
  if (status == TP_OK)
    status = tp__plan_remarks(p);
  if (status == TP_OK && p->report)
    status = tp__report_begin(p);
  if (status == TP_OK)
    status = tp__plan_write(p);
  tp__clock_share(p->limits.clock, p->limits.end, 1);
  if (status == TP_OK && p->report)
    status = report_plan(p);
  p->problem.pass->statistics[STAT_NODES] += (int64_t)p->problem.n_nodes;
  p->problem.pass->statistics[STAT_WORK] += p->result.work;
  int64_t offered = p->n_cut, left_out = 0;
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    offered += p->problem.nodes[i].n;
    left_out += p->problem.nodes[i].left_out;
  }
  p->problem.pass->statistics[STAT_STRATEGIES] += offered;
  p->problem.pass->statistics[STAT_LEFT_OUT] += left_out;
  if (status == TP_OK && left_out > 0)
    tp__remark(p->problem.graph.func,
               "planned with %lld strategies; %lld more were left out, because decisions are "
               "limited to %d each: cost and bound only cover the strategies that were kept; "
               "annotate values, or use a mesh of fewer axes, to have fewer",
               (long long)offered, (long long)left_out, TP_MAX_STRATEGIES);
  return status;
}

/* Creates an empty cache of reshards for the mesh of the planning, without the cuts that it does
 * not allow. */
static tp_status create_reshards(tp_planning *planning) {
  tp_reshard_cache_destroy(planning->reshards);
  planning->reshards = tp_reshard_cache_create(&planning->mesh, &planning->topology);
  planning->common.problem.reshards = planning->reshards;
  if (!planning->reshards)
    return tp__out_of_memory(planning->common.problem.pass->module);
  tp_reshard_cache_keep_whole(planning->reshards, planning->whole);
  return TP_OK;
}

/* Reads all functions before planning any, because their reshapes decide how the mesh is
 * refined. */
static tp_status read_functions(tp_planner *p, tp_mesh *mesh, bool unknown_replicate,
                                tp_func_list *list) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->problem.pass->module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (tp__op_is(op, "builtin.module"))
      return tp__error(op, TP_UNSUPPORTED,
                       "a module inside of a module is not planned; move its functions out of it, "
                       "or plan it by itself");
    if (!tp__is_planned_func(op))
      continue;
    tp_op_list order = {0};
    tp_status status = clone_shared_ops(p, op, unknown_replicate, &order);
    if (status == TP_OK && tp__grow((void **)&list->graphs, &list->capacity, list->n + 1,
                                    sizeof *list->graphs) != TP_OK)
      status = tp__out_of_memory(op);
    if (status == TP_OK)
      status = tp__func_graph_read(op, mesh, unknown_replicate, NULL, &order, p->problem.arena,
                                   &list->graphs[list->n++]);
    tp__free(order.items);
    if (status == TP_OK)
      status =
          tp__mark_attention(&list->graphs[list->n - 1], p->problem.machine->attention_features);
    if (status != TP_OK)
      return status;
  }
  return TP_OK;
}

static void start_function(const tp_planning *planning, size_t i, tp_planner *p) {
  const tp_func_list *functions = &planning->functions;
  *p = planning->common;
  p->problem.graph = functions->graphs[i];
  p->problem.number = i;
  if (!functions->flows)
    return;
  p->problem.flow = functions->flows[i].flow;
  p->problem.n_orders = functions->flows[i].n_orders;
  memcpy(p->problem.orders, functions->flows[i].orders, sizeof p->problem.orders);
}

/* Plans one function within a share of the remaining time. Where the plan counts on cuts of axes
 * that tp-partition cannot make, it is made again with these axes whole: so its cost is that of the
 * program. The bound of the first plan is that of all, since whole axes only make paths dearer. */
static tp_status plan_function(tp_planning *planning, size_t i, double share) {
  tp_planner p;
  start_function(planning, i, &p);
  double end = tp__clock_share(p.limits.clock, p.limits.clock->end, share);
  tp_cost bound = 0;
  for (;;) {
    p.limits.end = end;
    tp_status status = choose_plan(&p);
    bool may_cut = p.problem.topology->objective == TP_OBJECTIVE_BYTES && planning->reshards;
    unsigned wrong = status == TP_OK && may_cut ? tp__wrongly_cut_axes(&p) : 0;
    p.result.bound = bound > 0 ? bound : p.result.bound;
    if (!wrong) {
      status = status == TP_OK ? write_plan(&p) : status;
      destroy(&p);
      return status;
    }
    bound = p.result.bound;
    destroy(&p);
    planning->whole |= wrong;
    TP_TRY(create_reshards(planning));
    start_function(planning, i, &p);
  }
}

/* Each function gets a share of the remaining time, in proportion to its share of the remaining
 * ops. */
static tp_status plan_functions(tp_planning *planning) {
  const tp_func_list *functions = &planning->functions;
  double left = 0;
  for (size_t i = 0; i < functions->n; i++)
    left += 1 + functions->graphs[i].n_items;
  for (size_t i = 0; i < functions->n; i++) {
    TP_TRY(plan_function(planning, i, (1 + functions->graphs[i].n_items) / left));
    left -= 1 + functions->graphs[i].n_items;
  }
  return TP_OK;
}

/* ---- the pass ---- */

static tp_status check_options(tp_pass *pass, tp_mesh *mesh) {
  const tp_propagate_options *given = pass->options;
  if (given->overlap && given->memory_limit != TP_NO_VALUE)
    return tp__error(pass->module, TP_UNSUPPORTED,
                     "overlap and memory-limit cannot be combined: changes of layout that run "
                     "beside compute hold memory that is not planned; give one of them");
  if (given->overlap && given->objective != TP_OBJECTIVE_TIME)
    return tp__error(pass->module, TP_UNSUPPORTED,
                     "overlap and objective=%s cannot be combined: overlap only affects time; "
                     "use one of them",
                     tp_objective_name(given->objective));
  if (given->byte_flops != TP_BYTE_FLOPS && given->objective != TP_OBJECTIVE_BYTES)
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "byte-flops=%lld has no effect with objective=%s, which prices no bytes; give "
                     "objective=bytes, or leave it out",
                     (long long)given->byte_flops, tp_objective_name(given->objective));
  if (given->overlap && given->n_frontier > 0)
    return tp__error(pass->module, TP_UNSUPPORTED,
                     "overlap and report-frontier=%lld: plans with overlap have no memory "
                     "limit; give one of them",
                     (long long)given->n_frontier);
  if (tp__is_local(pass->module))
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "the module is already partitioned (tp.phase = \"local\"); shapes are per "
                     "device and planning again would "
                     "shard twice");
  tp_status status = tp__check_attribute_names(pass->module);
  if (status == TP_OK)
    status = tp__module_mesh(pass->module, given->mesh, mesh);
  if (status == TP_OK && mesh->n_axes == 0)
    return tp__error(pass->module, TP_NOT_FOUND,
                     "the module has no mesh; add shard.grid @mesh(shape = 2x4) {tp.axes = "
                     "[\"dp\", \"tp\"]} or give mesh=dp=2,tp=4");
  return status;
}

static tp_status load_topologies(tp_pass *pass, const tp_mesh *mesh, tp_planning *planning) {
  const tp_propagate_options *given = pass->options;
  tp_status status = tp__load_topology(pass->module, given->topology, mesh, &planning->machine);
  return status == TP_OK ? tp__load_prices(pass->module, given->topology, given->objective,
                                           (double)given->byte_flops, mesh, &planning->topology)
                         : status;
}

/* Switches the graphs and the topology to the mesh of the planning. `read` is the mesh of the
 * annotations. */
static tp_status take_mesh(tp_planner *p, const tp_mesh *read, tp_planning *planning) {
  const tp_mesh *mesh = &planning->mesh;
  tp_func_list *list = &planning->functions;
  tp_status status = TP_OK;
  p->problem.mesh = mesh;
  for (size_t i = 0; i < list->n; i++)
    list->graphs[i].mesh = mesh;
  for (size_t i = 0; i < list->n && status == TP_OK && mesh->n_axes != read->n_axes; i++)
    /* must be repeated, since its bits are those of the refined axes */
    status = tp__mark_divergent(&list->graphs[i]);
  return status == TP_OK ? load_topologies(p->problem.pass, mesh, planning) : status;
}

static bool same_axes(const tp_mesh *a, const tp_mesh *b) {
  bool same = a->n_axes == b->n_axes && a->n_parents == b->n_parents;
  for (int i = 0; same && i < a->n_axes; i++) {
    const tp_axis *x = &a->axes[i], *y = &b->axes[i];
    same = x->parent == y->parent && x->pre == y->pre && x->size == y->size &&
           strcmp(x->name, y->name) == 0;
  }
  return same;
}

/* Refines the mesh, and loads the topology for the refined mesh. */
static tp_status refine(tp_planner *p, const tp_mesh *read, tp_planning *planning) {
  tp_func_list *list = &planning->functions;
  p->problem.mesh = read;
  p->problem.mixes_sub_axes = tp_mesh_is_refined(read);
  list->flows = tp__arena_array(p->problem.arena, list->n + 1, sizeof *list->flows);
  tp_status status = list->flows ? load_topologies(p->problem.pass, read, planning)
                                 : tp__out_of_memory(p->problem.pass->module);
  if (status == TP_OK)
    status = tp__refine_mesh(p, list->n, list->graphs, list->flows, &planning->mesh);
  if (!same_axes(read, &planning->mesh))
    list->flows = NULL;
  return status == TP_OK ? take_mesh(p, read, planning) : status;
}

/* Reuses the reshard cache of `like` if it has the same mesh, since reshards then cost the same. */
static tp_status share_reshards(tp_planning *planning, const tp_planner *like) {
  bool is_shared = like && same_axes(like->problem.mesh, &planning->mesh);
  if (!is_shared)
    return create_reshards(planning);
  planning->common.problem.reshards = like->problem.reshards;
  return TP_OK;
}

/* Reads everything of a module that does not depend on a plan. `like` is a planner of the same
 * module with other annotations, or NULL; with `keep_mesh` its mesh is used unchanged. */
static tp_status begin(tp_pass *pass, const tp_planner *like, bool keep_mesh,
                       tp_planning *planning) {
  const tp_propagate_options *given = pass->options;
  tp_planner *common = &planning->common;
  tp_mesh *mesh = &planning->mesh, read;
  *planning = (tp_planning){0};
  *common = (tp_planner){.problem = {.pass = pass,
                                     .options = given,
                                     .follow = given->strategy == TP_STRATEGY_FOLLOW,
                                     .overlaps = given->overlap,
                                     .mesh = mesh,
                                     .topology = &planning->topology,
                                     .machine = &planning->machine,
                                     .arena = &planning->arena},
                         .limits = {.gap = given->gap,
                                    .effort = given->effort,
                                    .work = tp__limited_work(given->effort)}};
  common->limits.clock = like ? like->limits.clock : &planning->clock;
  if (!like)
    tp__clock_start(given->time_limit, common->limits.clock);
  tp_status status = check_options(pass, &read);
  if (status == TP_OK)
    status = tp__load_topology(pass->module, given->topology, &read, &planning->machine);
  if (status == TP_OK)
    status = read_functions(common, &read, given->unknown_ops == TP_UNKNOWN_REPLICATE,
                            &planning->functions);
  if (status == TP_OK && keep_mesh) {
    *mesh = *like->problem.mesh;
    common->problem.mixes_sub_axes = like->problem.mixes_sub_axes;
    status = take_mesh(common, &read, planning);
  } else if (status == TP_OK) {
    status = refine(common, &read, planning);
  }
  if (status == TP_OK)
    status = tp__read_whole_axes(pass->module, mesh, &planning->whole);
  if (status == TP_OK)
    status = tp__memory_limit(pass->module, given->memory_limit, common->problem.topology,
                              &common->limits.memory);
  return status == TP_OK ? share_reshards(planning, like) : status;
}

static void end(tp_planning *planning) {
  tp_reshard_cache_destroy(planning->reshards);
  tp__func_graphs_destroy(&(tp_func_graphs){planning->functions.n, planning->functions.graphs,
                                            planning->arena, planning->mesh});
}

/* Hands the functions as read to tp-partition. If memory runs out, tp-partition reads them
 * again. */
static void leave(tp_pass *pass, tp_planning *planning) {
  tp_func_list *functions = &planning->functions;
  pass->left = tp__func_graphs_leave(
      &(tp_func_graphs){functions->n, functions->graphs, planning->arena, planning->mesh});
  if (!pass->left.data)
    return;
  *functions = (tp_func_list){0};
  planning->arena = (tp__arena){0};
}

tp_status tp__replan_open(tp_pass *pass, const tp_planner *like, bool keep_mesh, tp_replan *again) {
  *again = (tp_replan){0};
  again->pass = *pass;
  tp_status status = begin(&again->pass, like, keep_mesh, &again->planning);
  again->planner = again->planning.common;
  if (status != TP_OK)
    return status;
  again->planner.problem.graph = again->planning.functions.graphs[like->problem.number];
  again->planner.problem.number = like->problem.number;
  status = tp__flow_build(&again->planner);
  return status == TP_OK ? tp__plan_nodes(&again->planner) : status;
}

void tp__replan_close(tp_replan *again) {
  destroy(&again->planner);
  end(&again->planning);
  *again = (tp_replan){0};
}

static tp_status run(tp_pass *pass) {
  tp_planning planning = {0};
  tp_report *report = NULL;
  tp__clock_phase("reading the program");
  tp_status status = tp__report_open(pass, &report);
  if (status == TP_OK)
    status = begin(pass, NULL, false, &planning);
  planning.common.report = report;
  if (status == TP_OK && report)
    status = tp__report_start(report, &planning.mesh, &planning.machine);
  if (status == TP_OK)
    status = plan_functions(&planning);
  if (status == TP_OK)
    tp__write_grids(pass->module, &planning.mesh);
  if (status == TP_OK)
    tp__write_whole_axes(pass->module, &planning.mesh, planning.whole);
  if (status == TP_OK && report)
    status = tp__report_write(report);
  tp__report_close(report);
  if (status == TP_OK)
    status = tp__report_layouts(pass->module);
  if (status == TP_OK)
    leave(pass, &planning);
  end(&planning);
  return status;
}

static const tp_option_row options[] = {
    {"mesh", "",
     "sizes of the mesh: dp=2,tp=4 by name, 2x4 in order, one size for the last axis; overrides "
     "the module's grid, "
     "axes not named get size 1",
     TP_TEXT(tp_propagate_options, mesh, "SIZES")},
    {"strategy", "plan",
     "plan: the cheapest of all plans; follow: axes only propagate from annotations",
     TP_CHOICE(tp_propagate_options, strategy, "plan|follow")},
    {"topology", "cpu",
     "cost model: a name (cpu, h100, h200, a100, pcie4, torus64k) or the path of a topology file",
     TP_TEXT(tp_propagate_options, topology, "NAME|FILE")},
    {"objective", "time",
     "time: minimize the modeled time; bytes: minimize the bytes that a device sends (byte-flops "
     "operations that devices repeat count as one byte), and among these plans the time",
     TP_CHOICE(tp_propagate_options, objective, "time|bytes")},
    {"byte-flops", "20",
     "with objective=bytes: as many operations of contractions, or half as many again of others, "
     "count as one byte; the more, the fewer bytes are sent, and the more work is repeated",
     TP_INT(tp_propagate_options, byte_flops, 1, 1000000000)},
    {"unknown-ops", "refuse",
     "refuse: ops without a rule are an error; replicate: they run on all devices, with a remark",
     TP_CHOICE(tp_propagate_options, unknown_ops, "refuse|replicate")},
    {"boundary", "any",
     "whole: arguments and results are split by whole axes of the mesh, unless their annotations "
     "name parts, so that a PartitionSpec of JAX can say their layouts; even: also only where the "
     "axes divide the dimension, as JAX requires of arguments and results; any: by parts of axes, "
     "too",
     TP_CHOICE(tp_propagate_options, boundary, "any|whole|even")},
    {"memory-limit", "",
     "bytes that a device may hold at any time: 512MiB, 80GB, ...; topology: what the topology "
     "file says",
     TP_BYTES_OR(tp_propagate_options, memory_limit, "topology", TP_LIMIT_OF_TOPOLOGY)},
    {"effort", "1",
     "maximum planning effort with a memory-limit: 1 is about five seconds; it counts work, so "
     "that plans are the same on every run",
     TP_NUMBER_ABOVE(tp_propagate_options, effort, 0, 10000)},
    {"gap", "0",
     "planning may end when the plan is proven to cost at most this fraction more than the "
     "cheapest: 0.001 for 0.1 %",
     TP_NUMBER_BELOW(tp_propagate_options, gap, 0, 1)},
    {"entries", "3e7",
     "largest number of entries of all different tables of reshards (strategies of one op times "
     "those of the next) with which a function is planned as a whole; with more it is planned in "
     "parts, and the bound still covers all strategies",
     TP_NUMBER_ABOVE(tp_propagate_options, entries, 0, 1e18)},
    {"time-limit", "",
     "seconds after which the best plan found so far is used; if that happens, a remark, tp.plan "
     "and the report say so, because another run may find a different plan",
     TP_NUMBER_ABOVE(tp_propagate_options, time_limit, 0, 10000000)},
    {"remark-bytes", "64MiB",
     "minimum bytes for remarks about replicated tensors and gathered weights; none: no remarks",
     TP_BYTES_OR(tp_propagate_options, remark_bytes, "none", INT64_MAX)},
    {"overlap", "false",
     "true: minimize the time with reshards that overlap compute, and record it in tp.plan; "
     "tp-schedule-collectives does the overlap",
     TP_BOOL(tp_propagate_options, overlap)},
    {"report", "",
     "file for the report of the plan: FILE.html is a page to look at, FILE.json is JSON, FILE.md "
     "and "
     "FILE.txt are text, FILE.model-explorer.json is for Model Explorer",
     TP_TEXT(tp_propagate_options, report, "FILE")},
    {"explain", "",
     "remarks about one value: its layout, why, what other layouts would cost; its name in the "
     "source or in a location, a tp.name, result 0, %name as printed before the pass, or FILE:LINE",
     TP_TEXT(tp_propagate_options, explain, "VALUE")},
    {"report-alternatives", "4",
     "number of the most expensive collectives, equal ones once, for which the report has the next "
     "best plan; 0: "
     "none",
     TP_INT(tp_propagate_options, n_alternatives, 0, 1000)},
    {"report-graph", "true",
     "whether the report has the ops of the written plan (graph), which can take longer to write "
     "than the plan takes to find",
     TP_BOOL(tp_propagate_options, has_graph)},
    {"report-frontier", "0",
     "number of memory limits within which the report also has a plan, to show what less memory "
     "costs; each is planned with the given effort",
     TP_INT(tp_propagate_options, n_frontier, 0, 1000)},
    {"report-against", "",
     "the JSON report of an older plan: remarks and the report say what differs",
     TP_TEXT(tp_propagate_options, against, "FILE.json")},
};

static const tp_statistic_row statistics[] = {
    {"nodes", "decisions of the planning problem"},
    {"strategies", "strategies offered, over all decisions"},
    {"left-out", "strategies left out because of the limit per decision"},
    {"solver-work", "table entries and messages the solver computed"},
};

const tp_pass_row tp__propagate_row = {
    .name = "tp-propagate",
    .summary = "Choose the layout of every tensor by cost, and write the plan into the IR",
    .description =
        "Requires: tensors of static shape; a mesh (shard.grid with tp.axes, or the mesh option). "
        "Establishes: every tensor argument, result and op has a closed tp.sharding; every reshard "
        "is a shard.shard; tp.plan on each function has the modelled cost and its certified lower "
        "bound; with objective=bytes, tp.whole_axes of the module are the axes that paths of "
        "reshards "
        "do not cut. Breaks: nothing; the plan may be edited by hand before tp-partition expands "
        "it.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(tp_propagate_options),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
