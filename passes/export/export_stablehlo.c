/* tp-export-stablehlo: writes a program as StableHLO. A per-device program becomes one
 * sdy.manual_computation in a function on global tensors, whose collectives are explicit. */
#include "passes/export/export.h"

#include "ir/collectives.h"
#include "ir/sort_call.h"

enum { STAT_OPS };

static const tp_export_row *const tables[] = {tp__export_linalg_rows, tp__export_tensor_rows,
                                              tp__export_control_rows, tp__export_collective_rows};

/* ---- ops ---- */

static tp_status elementwise(tp_export *x, MlirOperation op) {
  MlirValue operands[3], now;
  int n = (int)mlirOperationGetNumOperands(op);
  for (int i = 0; i < n && i < 3; i++)
    operands[i] = tp__export_operand(x, op, i);
  TP_TRY(tp__export_elementwise(x, op, n, operands, &now));
  if (mlirValueIsNull(now))
    return tp__error(op, TP_UNSUPPORTED,
                     "has no form in StableHLO; tp-export-stablehlo exports linalg, tensor, arith, "
                     "math, scf, and collectives of the shard dialect");
  return tp__export_replace(x, op, now);
}

tp_status tp__export_op(tp_export *x, MlirOperation op) {
  x->location = mlirOperationGetLocation(op);
  x->pass->statistics[STAT_OPS]++;
  if (tp__is_permute(op))
    return tp__export_permute(x, op);
  if (tp__is_sort(op))
    return tp__export_sort(x, op);
  if (tp__op_has_dialect(op, "stablehlo") || tp__op_has_dialect(op, "chlo"))
    return tp__export_kept(x, op);
  for (int t = 0; t < TP_LEN(tables); t++)
    for (const tp_export_row *row = tables[t]; row->name; row++)
      if (tp__op_is(op, row->name))
        return row->run(x, op);
  return tp__op_has_dialect(op, "linalg") ? tp__export_structured(x, op) : elementwise(x, op);
}

/* True for ops that are parts of an op that is destroyed as a whole. */
static bool is_nested(MlirOperation op) {
  return !tp__op_is(mlirOperationGetParentOperation(op), "func.func");
}

tp_status tp__export_block(tp_export *x, MlirBlock block, MlirOperation *end) {
  MlirOperation outer = x->where, next;
  for (MlirOperation op = mlirBlockGetFirstOperation(block);; op = next) {
    next = mlirOperationGetNextInBlock(op);
    *end = op;
    if (mlirOperationIsNull(next))
      return TP_OK;
    if (!is_nested(op))
      x->where = op;
    TP_TRY(tp__export_op(x, op));
    if (!is_nested(op))
      TP_TRY(tp__op_list_add(&x->done, op));
    x->where = outer;
  }
}

tp_status tp__export_region(tp_export *x, MlirOperation op, int region, MlirBlock block,
                            int first) {
  MlirBlock from = tp__region_block(op, region);
  MlirOperation outer = x->where, last;
  MlirLocation location = mlirOperationGetLocation(op);
  MlirOperation end = tp__create(&(tp_build){.name = "stablehlo.return", .location = location});
  MlirValue values[TP_EXPORT_MAX_VALUES];
  mlirBlockAppendOwnedOperation(block, end);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(from); i++)
    TP_TRY(tp__export_map(x, op, mlirBlockGetArgument(from, i), mlirBlockGetArgument(block, i)));
  x->where = end;
  TP_TRY(tp__export_block(x, from, &last));
  /* of a condition, the first operand alone */
  intptr_t n = first < 0 ? 1 : mlirOperationGetNumOperands(last) - first;
  if (n > TP_EXPORT_MAX_VALUES)
    return tp__error(op, TP_UNSUPPORTED, "region %d passes on more than %d values", region,
                     TP_EXPORT_MAX_VALUES);
  for (intptr_t i = 0; i < n; i++)
    values[i] = tp__export_operand(x, last, (int)i + (first < 0 ? 0 : first));
  mlirOperationSetOperands(end, n, values);
  x->where = outer;
  x->location = location;
  return TP_OK;
}

/* ---- functions ---- */

static void destroy_done(tp_export *x) {
  for (size_t i = x->done.n; i-- > 0;)
    mlirOperationDestroy(x->done.items[i]);
  x->done.n = 0;
}

static bool is_unused(MlirOperation op) {
  if (!tp__op_has_dialect(op, "stablehlo") || mlirOperationGetNumResults(op) == 0 ||
      mlirOperationGetNumRegions(op) > 0 || tp__op_is(op, "stablehlo.custom_call") ||
      !mlirAttributeIsNull(tp__get(op, "channel_handle")))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return false;
  return true;
}

/* Destroys ops without use: pads that windows took over, contents that are written over. A custom
 * call may have effects. */
static void drop_unused(MlirBlock block) {
  tp_op_list ops = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
      if (!mlirBlockIsNull(tp__region_block(op, (int)r)))
        drop_unused(tp__region_block(op, (int)r));
    /* what does not fit in the list stays */
    (void)tp__op_list_add(&ops, op);
  }
  for (size_t i = ops.n; i-- > 0;)
    if (is_unused(ops.items[i]))
      mlirOperationDestroy(ops.items[i]);
  tp__free(ops.items);
}

/* Adds arguments of exported types behind those of other types, numbers and indices, which ops that
 * are not exported yet still read. */
static tp_status add_arguments(tp_export *x, MlirOperation func, MlirBlock block) {
  for (intptr_t i = mlirBlockGetNumArguments(block); i-- > 0;) {
    MlirValue old = mlirBlockGetArgument(block, i);
    MlirType type = tp__export_type(mlirValueGetType(old));
    if (!mlirTypeEqual(mlirValueGetType(old), type))
      TP_TRY(tp__export_map(
          x, func, old, mlirBlockInsertArgument(block, i + 1, type, mlirValueGetLocation(old))));
  }
  return TP_OK;
}

static void erase_old_arguments(MlirBlock block) {
  for (intptr_t i = mlirBlockGetNumArguments(block); i-- > 0;) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(block, i));
    if (!mlirTypeEqual(type, tp__export_type(type)))
      mlirBlockEraseArgument(block, (unsigned)i);
  }
}

/* Exports the body of a function in place. */
static tp_status export_body(tp_export *x, MlirOperation func) {
  MlirBlock block = tp__region_block(func, 0);
  MlirOperation end;
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tp__error(func, TP_UNSUPPORTED,
                     "has several blocks; only structured control flow can be "
                     "exported");
  TP_TRY(add_arguments(x, func, block));
  TP_TRY(tp__export_block(x, block, &end));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++)
    mlirOperationSetOperand(end, i, tp__export_operand(x, end, (int)i));
  destroy_done(x);
  tp__value_map_destroy(&x->map);
  drop_unused(block);
  erase_old_arguments(block);
  return TP_OK;
}

static bool is_entry(MlirOperation func) {
  MlirAttribute visibility = tp__inherent(func, "sym_visibility");
  return mlirAttributeIsNull(visibility) ||
         !tp__ref_is(mlirStringAttrGetValue(visibility), "private");
}

/* Private functions are called by exported ones alone, whose integers have no sign. */
static tp_status export_func(tp_export *x, MlirOperation func) {
  TP_TRY(export_body(x, func));
  TP_TRY(tp__export_boundary(x, func, is_entry(func)));
  tp__remove(func, "tp.plan");
  return TP_OK;
}

/* ---- the module ---- */

typedef struct module_ops {
  /* comparators of sorts count as declarations */
  tp_op_list funcs, grids, declarations;
} module_ops;

static tp_status collect(MlirOperation op, void *data) {
  module_ops *ops = data;
  if (tp__is_planned_func(op))
    return tp__op_list_add(&ops->funcs, op);
  if (tp__op_is(op, "shard.grid"))
    return tp__op_list_add(&ops->grids, op);
  return tp__op_is(op, "func.func") ? tp__op_list_add(&ops->declarations, op) : TP_OK;
}

bool tp__export_is_split(const tp_export *x) {
  return tp__is_local(x->module) && tp_mesh_size(&x->mesh) > 1;
}

/* The mesh of the exported program has an axis "aN" for each axis of ours, sub-axes included. */
static void write_mesh(tp_export *x, MlirOperation first) {
  tp__string text = {0};
  tp__string_append(&text, "#sdy.mesh<[");
  for (int a = 0; a < x->mesh.n_axes; a++)
    tp__string_printf(&text, "%s\"a%d\"=%lld", a ? ", " : "", a, (long long)x->mesh.axes[a].size);
  tp__string_append(&text, "]>");
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "mesh", tp__parse_attr(x->context, text.failed ? "unit" : text.text)),
      tp__named(x->context, "sym_name", tp__attr_string(x->context, "mesh"))};
  tp__string_destroy(&text);
  tp__insert_before(first, tp__create(&(tp_build){.name = "sdy.mesh",
                                                  .location = mlirOperationGetLocation(x->module),
                                                  .n_attributes = TP_LEN(attrs),
                                                  .attributes = attrs}));
}

static void write_module(tp_export *x, const module_ops *ops) {
  MlirType i32 = mlirIntegerTypeGet(x->context, 32);
  if (tp__export_is_split(x)) {
    write_mesh(x, ops->funcs.items[0]);
    tp__set(x->module, "mhlo.num_partitions", mlirIntegerAttrGet(i32, tp_mesh_size(&x->mesh)));
    tp__set(x->module, "mhlo.num_replicas", mlirIntegerAttrGet(i32, 1));
  }
  tp__remove(x->module, "tp.phase");
  tp__remove(x->module, "tp.precision");
  for (size_t i = 0; i < ops->grids.n; i++)
    mlirOperationDestroy(ops->grids.items[i]);
  for (size_t i = 0; i < ops->declarations.n; i++)
    mlirOperationDestroy(ops->declarations.items[i]);
}

static tp_status export_module(tp_pass *pass, const module_ops *ops) {
  tp_export x = {.pass = pass, .module = pass->module, .context = pass->context};
  tp_status status = tp__module_mesh(pass->module, "", &x.mesh);
  /* the dialects of the exported ops and attributes are not registered */
  mlirContextSetAllowUnregisteredDialects(pass->context, true);
  for (size_t i = 0; i < ops->funcs.n && status == TP_OK; i++)
    status = export_func(&x, ops->funcs.items[i]);
  tp__value_map_destroy(&x.map);
  tp__free(x.done.items);
  if (status == TP_OK)
    write_module(&x, ops);
  return status;
}

static tp_status run(tp_pass *pass) {
  module_ops ops = {0};
  TP_TRY(tp__export_expand_routes(pass->module));
  tp_status status = tp__walk(pass->module, collect, &ops);
  if (status == TP_OK && ops.funcs.n > 0)
    status = export_module(pass, &ops);
  tp__free(ops.funcs.items);
  tp__free(ops.grids.items);
  tp__free(ops.declarations.items);
  return status;
}

static const tp_statistic_row statistics[] = {[STAT_OPS] = {"ops", "ops exported"}};

const tp_pass_row tp__export_stablehlo_row = {
    .name = "tp-export-stablehlo",
    .summary = "Write a program as StableHLO, with explicit collectives if it is per device",
    .description =
        "Requires: linalg, tensor, arith, math, scf, collectives of the "
        "shard dialect and permutes, on tensors, and the ops that tp-import-stablehlo kept, which "
        "are written as they were, on local shapes. Establishes: StableHLO; print it with "
        "--mlir-print-op-generic. A per-device program is one sdy.manual_computation on a mesh of "
        "axes a0, a1, ... in a function on global tensors; values with uneven shards cross its "
        "boundary whole. Exchanges of rows, for which StableHLO has no op, gather all rows on all "
        "devices of the group. Breaks: the program can no longer be lowered here.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
