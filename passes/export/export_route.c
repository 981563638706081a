/* Expands exchanges of rows (ir/route_call.h), for which StableHLO has no op: rows are gathered on
 * all devices of the group, and each device takes those that it needs. */
#include "passes/export/export.h"

#include "ir/collectives.h"
#include "ir/route_call.h"
#include "rules/pointwise_builder.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

typedef struct expansion {
  MlirOperation op, module;
  const tp_mesh *mesh;
  tp_route route;
  MlirValue rank; /* of the device in its group, an index */
} expansion;

/* ---- collectives ---- */

/* A layout in which the axes of the route split dimension 0, or are partial sums. */
static tp_spec layout(const expansion *e, bool is_partial) {
  tp_spec spec = tp_spec_replicated();
  for (int i = 0; i < e->route.n_axes; i++)
    if (is_partial)
      tp_spec_set_partial(&spec, e->route.axes[i], TP_SUM);
    else
      tp_spec_append(&spec, e->route.axes[i], 0);
  return spec;
}

/* Builds a step from or to the layout without axes; the tensor has n rows on all devices. */
static MlirValue build_step(const expansion *e, tp_step_kind kind, MlirValue value, int64_t n) {
  tp_spec split = layout(e, kind == TP_STEP_ALL_REDUCE);
  bool gathers = kind != TP_STEP_SLICE;
  tp_step step = {.kind = kind,
                  .n_axes = e->route.n_axes,
                  .dim = kind == TP_STEP_ALL_REDUCE ? -1 : 0,
                  .to_dim = -1,
                  .combiner = TP_SUM,
                  .from = gathers ? split : tp_spec_replicated(),
                  .to = gathers ? tp_spec_replicated() : split};
  memcpy(step.axes, e->route.axes, sizeof step.axes);
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(value), &rank, shape);
  shape[0] = n;
  return tp__build_step(e->op, e->module, value, e->mesh, &step, rank, shape);
}

/* ---- rows on the side of groups ---- */

/* All rows, each from the device that has it. */
static MlirValue collect_rows(const expansion *e) {
  MlirOperation op = e->op;
  MlirValue rows = mlirOperationGetOperand(op, TP_ROUTE_ROWS);
  int axes[TP_MAX_AXES], n_axes;
  int64_t n, n_parts, n_rows = tp__value_size(rows, 0),
                      n_groups = tp__value_size(mlirOperationGetOperand(op, TP_ROUTE_STARTS), 0);
  n_axes = tp__route_axes(&e->route, e->mesh, false, axes, &n);
  MlirValue per_device = tp__index_constant(op, n_groups / n), zero = tp__index_constant(op, 0),
            one = tp__index_constant(op, 1);
  MlirValue holder = tp__build_group_index(op, e->mesh, n_axes, axes);
  MlirValue first_group = tp__binary(op, "arith.muli", holder, per_device);
  MlirValue last_group =
      tp__binary(op, "arith.subi", tp__binary(op, "arith.addi", first_group, per_device), one);
  MlirValue is_first = tp__compare(op, TP_EQ, holder, zero),
            is_last = tp__compare(op, TP_EQ, holder, tp__index_constant(op, n - 1));
  MlirValue first =
      tp__select(op, is_first, zero,
                 tp__index_at(op, mlirOperationGetOperand(op, TP_ROUTE_STARTS), first_group));
  MlirValue end =
      tp__select(op, is_last, tp__index_constant(op, n_rows),
                 tp__index_at(op, mlirOperationGetOperand(op, TP_ROUTE_ENDS), last_group));
  n_axes = tp__route_axes(&e->route, e->mesh, true, axes, &n_parts);
  if (n_axes > 0)
    tp__route_build_part(op, e->mesh, n_axes, axes, &first, &end);
  MlirType type = mlirValueGetType(rows), element = tp__element_type(type);
  tp_pointwise points = tp__pointwise_begin(op, 1, &rows, tp__empty(op, type));
  MlirValue at = tp__pointwise_index(&points, 0);
  MlirValue inside =
      tp__binary(points.yield, "arith.andi", tp__compare(points.yield, TP_SGE, at, first),
                 tp__compare(points.yield, TP_SLT, at, end));
  MlirValue other = tp__constant(points.yield, element, tp__identity_attr(element, TP_SUM));
  MlirValue own = tp__pointwise_end(
      &points, tp__select(points.yield, inside, tp__pointwise_value(&points, 0), other));
  return build_step(e, TP_STEP_ALL_REDUCE, own, n_rows);
}

/* ---- gathers and scatters ---- */

static MlirAttribute map_of(MlirContext context, int n_loops, int n, const int *loops,
                            bool padded) {
  MlirAffineExpr exprs[TP_MAX_RANK + 1];
  for (int d = 0; d < n; d++)
    exprs[d] = mlirAffineDimExprGet(context, loops[d]);
  exprs[n] = mlirAffineConstantExprGet(context, 0);
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, n_loops, 0, n + padded, exprs));
}

static MlirValue loop_index(MlirOperation where, int dim) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType index = mlirIndexTypeGet(context);
  MlirNamedAttribute of = tp__named(context, "dim", tp__attr_i64(context, dim));
  MlirOperation op = tp__create(&(tp_build){.name = "linalg.index",
                                            .location = mlirOperationGetLocation(where),
                                            .n_results = 1,
                                            .results = &index,
                                            .n_attributes = 1,
                                            .attributes = &of});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

static MlirValue build_gather(const expansion *e, MlirValue rows, MlirValue positions) {
  MlirContext context = mlirOperationGetContext(e->op);
  MlirType type = tp__result_type(e->op), index = mlirIndexTypeGet(context);
  int rank = (int)mlirShapedTypeGetRank(type), all[TP_MAX_RANK];
  for (int d = 0; d < rank; d++)
    all[d] = d;
  MlirValue operands[] = {positions, tp__empty(e->op, type)};
  MlirAttribute maps[] = {map_of(context, rank, 1, all, tp__value_rank(positions) == 2),
                          map_of(context, rank, rank, all, false)};
  MlirOperation op = tp__build_generic(&(tp_generic){.where = e->op,
                                                     .location = mlirOperationGetLocation(e->op),
                                                     .n_inputs = 1,
                                                     .n_inits = 1,
                                                     .operands = operands,
                                                     .maps = maps});
  MlirOperation yield = tp__build_generic_body(op);
  MlirValue at =
      tp__index_cast(yield, mlirBlockGetArgument(mlirOperationGetBlock(yield), 0), index);
  at = tp__binary(yield, "arith.maxsi", at, tp__index_constant(yield, 0));
  at = tp__binary(yield, "arith.minsi", at, tp__index_constant(yield, tp__value_size(rows, 0) - 1));
  MlirValue read[TP_MAX_RANK + 1] = {rows, at};
  for (int d = 1; d < rank; d++)
    read[1 + d] = loop_index(yield, d);
  MlirType element = tp__element_type(type);
  MlirOperation extract = tp__create(&(tp_build){.name = "tensor.extract",
                                                 .location = mlirOperationGetLocation(e->op),
                                                 .n_operands = 1 + rank,
                                                 .operands = read,
                                                 .n_results = 1,
                                                 .results = &element});
  tp__insert_before(yield, extract);
  MlirValue value = mlirOperationGetResult(extract, 0);
  mlirOperationSetOperands(yield, 1, &value);
  return mlirOperationGetResult(op, 0);
}

static MlirValue build_scatter(const expansion *e, MlirValue rows, MlirValue positions) {
  MlirContext context = mlirOperationGetContext(e->op);
  MlirType type = tp__result_type(e->op), element = tp__element_type(type);
  int rank = (int)mlirShapedTypeGetRank(type), to[TP_MAX_RANK], from[TP_MAX_RANK];
  for (int d = 0; d < rank; d++)
    to[d] = from[d] = d;
  from[0] = rank; /* the loop over the rows */
  MlirValue operands[] = {positions, rows, mlirOperationGetOperand(e->op, TP_ROUTE_INIT)};
  MlirAttribute maps[] = {map_of(context, rank + 1, 1, from, tp__value_rank(positions) == 2),
                          map_of(context, rank + 1, rank, from, false),
                          map_of(context, rank + 1, rank, to, false)};
  MlirOperation op = tp__build_generic(&(tp_generic){.where = e->op,
                                                     .location = mlirOperationGetLocation(e->op),
                                                     .n_inputs = 2,
                                                     .n_inits = 1,
                                                     .operands = operands,
                                                     .maps = maps});
  MlirOperation yield = tp__build_generic_body(op);
  MlirBlock body = mlirOperationGetBlock(yield);
  MlirValue update = mlirBlockGetArgument(body, 1), old = mlirBlockGetArgument(body, 2);
  const char *sum = mlirTypeIsAFloat(element) ? "arith.addf" : "arith.addi";
  if (e->route.form == TP_ROUTE_ADD)
    update = tp__binary(yield, sum, old, update);
  MlirValue at = tp__index_cast(yield, mlirBlockGetArgument(body, 0), mlirIndexTypeGet(context));
  MlirValue is_here = tp__compare(yield, TP_EQ, at, loop_index(yield, 0));
  MlirValue value = tp__select(yield, is_here, update, old);
  mlirOperationSetOperands(yield, 1, &value);
  return mlirOperationGetResult(op, 0);
}

/* Positions in this device's block, instead of in all of them. */
static MlirValue shifted(const expansion *e, MlirValue positions, int64_t block) {
  MlirType type = mlirValueGetType(positions);
  MlirValue first = tp__binary(e->op, "arith.muli", e->rank, tp__index_constant(e->op, block));
  first = tp__index_cast(e->op, first, tp__element_type(type));
  tp_pointwise points = tp__pointwise_begin(e->op, 1, &positions, tp__empty(e->op, type));
  return tp__pointwise_end(
      &points, tp__binary(points.yield, "arith.subi", tp__pointwise_value(&points, 0), first));
}

static tp_status expand(MlirOperation op, MlirOperation module, const tp_mesh *mesh) {
  expansion e = {.op = op, .module = module, .mesh = mesh};
  TP_TRY(tp__route_read(op, mesh, &e.route));
  e.rank = tp__build_group_index(op, mesh, e.route.n_axes, e.route.axes);
  bool is_gather = e.route.form == TP_ROUTE_GATHER;
  MlirValue positions = mlirOperationGetOperand(op, TP_ROUTE_POSITIONS),
            rows = e.route.to_groups
                       ? build_step(&e, TP_STEP_ALL_GATHER,
                                    mlirOperationGetOperand(op, TP_ROUTE_ROWS), e.route.blocks)
                       : collect_rows(&e);
  if (!e.route.to_groups)
    positions = is_gather
                    ? build_step(&e, TP_STEP_SLICE, positions, e.route.blocks)
                    : shifted(&e, positions, tp__value_size(mlirOperationGetResult(op, 0), 0));
  if (mlirValueIsNull(rows) || mlirValueIsNull(positions))
    return tp__out_of_memory(op);
  MlirValue result = (is_gather ? build_gather : build_scatter)(&e, rows, positions);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), result);
  mlirOperationDestroy(op);
  return TP_OK;
}

static tp_status collect(MlirOperation op, void *data) {
  return tp__is_route(op) ? tp__op_list_add(data, op) : TP_OK;
}

static void erase_declarations(MlirOperation module) {
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(module, 0));
       !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (tp__is_route_symbol(op))
      mlirOperationDestroy(op);
  }
}

tp_status tp__export_expand_routes(MlirOperation module) {
  tp_op_list routes = {0};
  tp_mesh mesh;
  tp_status status = tp__walk(module, collect, &routes);
  if (status == TP_OK && routes.n > 0)
    status = tp__module_mesh(module, NULL, &mesh);
  for (size_t i = 0; i < routes.n && status == TP_OK; i++)
    status = expand(routes.items[i], module, &mesh);
  if (status == TP_OK && routes.n > 0)
    erase_declarations(module);
  tp__free(routes.items);
  return status;
}
