/* tp-export-stablehlo: writes a program as StableHLO. A per-device program becomes one
 * sdy.manual_computation in a function on global tensors, whose collectives are explicit. */
#include "passes/export/export.h"

#include "ir/collectives.h"
#include "ir/sort_call.h"

#include <stdio.h>

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
      mlirOperationGetNumRegions(op) > 0 || !mlirAttributeIsNull(tp__get(op, "channel_handle")))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return false;
  return true;
}

/* Destroys ops without use: pads that windows took over, contents that are written over. */
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

/* Exports the body of a function in place. Arguments that are numbers become tensors of rank 0. */
static tp_status export_body(tp_export *x, MlirOperation func) {
  MlirBlock block = tp__region_block(func, 0);
  MlirOperation end;
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tp__error(func, TP_UNSUPPORTED,
                     "has several blocks; only structured control flow can be "
                     "exported");
  TP_TRY(tp__export_block(x, block, &end));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++)
    mlirOperationSetOperand(end, i, tp__export_operand(x, end, (int)i));
  destroy_done(x);
  tp__value_map_destroy(&x->map);
  drop_unused(block);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    mlirValueSetType(argument, tp__export_type(mlirValueGetType(argument)));
  }
  return TP_OK;
}

static tp_status set_types(MlirOperation func, MlirType (*type_of)(MlirOperation, bool, int)) {
  MlirType type = tp__func_type(func);
  int n_in = (int)mlirFunctionTypeGetNumInputs(type);
  int n_out = (int)mlirFunctionTypeGetNumResults(type);
  MlirType *types = tp__calloc((size_t)(n_in + n_out) + 1, sizeof *types);
  if (!types)
    return tp__out_of_memory(func);
  for (int i = 0; i < n_in + n_out; i++)
    types[i] = type_of(func, i < n_in, i < n_in ? i : i - n_in);
  type = mlirFunctionTypeGet(mlirOperationGetContext(func), n_in, types, n_out, types + n_in);
  mlirOperationSetInherentAttributeByName(func, tp__ref("function_type"), mlirTypeAttrGet(type));
  tp__free(types);
  return TP_OK;
}

static MlirType old_type(MlirOperation func, bool is_arg, int i) {
  MlirType type = tp__func_type(func);
  return is_arg ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i);
}

static MlirAttribute value_attr(MlirOperation func, bool is_arg, int i, const char *name) {
  return (is_arg ? tp__arg_attr : tp__result_attr)(func, i, name);
}

static MlirType local_type(MlirOperation func, bool is_arg, int i) {
  return tp__export_type(old_type(func, is_arg, i));
}

/* The type of the whole tensor, with the sign that tp.unsigned says. */
static MlirType global_type(MlirOperation func, bool is_arg, int i) {
  MlirAttribute global = value_attr(func, is_arg, i, "tp.global");
  MlirType type = tp__export_type(mlirAttributeIsNull(global) ? old_type(func, is_arg, i)
                                                              : mlirTypeAttrGetValue(global));
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(type, &rank, sizes);
  return mlirAttributeIsNull(value_attr(func, is_arg, i, "tp.unsigned"))
             ? type
             : mlirRankedTensorTypeGet(rank, sizes, tp__export_unsigned(tp__element_type(type)),
                                       (MlirAttribute){NULL});
}

/* ---- the boundary ---- */

/* Appends [{"dp"}, {}] for a value; sub-axes are axes of the exported mesh. */
static tp_status append_sharding(tp_export *x, MlirOperation func, bool is_arg, int i,
                                 tp__string *text) {
  MlirAttribute attr = value_attr(func, is_arg, i, "tp.sharding");
  MlirType global = global_type(func, is_arg, i);
  tp_annotation annotation = {0};
  char what[32];
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  snprintf(what, sizeof what, "%s %d", is_arg ? "argument" : "result", i);
  (void)tp__static_tensor(global, &rank, sizes);
  if (!mlirAttributeIsNull(attr))
    TP_TRY(tp__read_sharding(func, what, attr, &x->mesh, global, &annotation));
  tp__string_append(text, "[");
  for (int d = 0; d < rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(&x->mesh, annotation.spec, d, axes);
    int64_t parts = 1;
    tp__string_append(text, d ? ", {" : "{");
    for (int k = 0; k < n; k++) {
      parts *= x->mesh.axes[axes[k]].size;
      tp__string_printf(text, "%s\"a%d\"", k ? ", " : "", axes[k]);
    }
    tp__string_append(text, "}");
    if (sizes[d] % parts != 0)
      return tp__error(func, TP_UNSUPPORTED,
                       "%s: %lld devices do not divide dimension %d (size %lld), but StableHLO has "
                       "no uneven shards at the boundary; pad it, or annotate it otherwise",
                       what, (long long)parts, d, (long long)sizes[d]);
  }
  tp__string_append(text, "]");
  return TP_OK;
}

/* #sdy.sharding_per_value of all arguments or results. */
static tp_status shardings(tp_export *x, MlirOperation func, bool is_args, int n,
                           MlirAttribute *attr) {
  tp__string text = {0};
  tp_status status = TP_OK;
  tp__string_append(&text, "#sdy.sharding_per_value<[");
  for (int i = 0; i < n && status == TP_OK; i++) {
    tp__string_append(&text, i ? ", <@mesh, " : "<@mesh, ");
    status = append_sharding(x, func, is_args, i, &text);
    tp__string_append(&text, ">");
  }
  tp__string_append(&text, "]>");
  if (status == TP_OK && text.failed)
    status = tp__out_of_memory(func);
  if (status == TP_OK)
    *attr = tp__parse_attr(x->context, text.text);
  tp__string_destroy(&text);
  return status;
}

/* Writes sdy.sharding at the boundary, and removes what only this library knows. */
static tp_status mark_boundary(tp_export *x, MlirOperation func, bool entry, bool is_args, int n) {
  static const char *const ours[] = {"tp.sharding", "tp.global", "tp.unsigned", "tp.role",
                                     "tp.updates"};
  tp_boundary boundary;
  MlirAttribute *attrs = tp__calloc((size_t)n + 1, sizeof *attrs);
  tp_status status = attrs ? TP_OK : tp__out_of_memory(func);
  for (int i = 0; i < n && status == TP_OK && entry && tp__is_local(x->module); i++) {
    tp__string text = {0};
    tp__string_append(&text, "#sdy.sharding<@mesh, ");
    status = append_sharding(x, func, is_args, i, &text);
    tp__string_append(&text, ">");
    if (status == TP_OK && !text.failed)
      attrs[i] = tp__parse_attr(x->context, text.text);
    tp__string_destroy(&text);
  }
  if (status == TP_OK && tp__boundary_begin(func, is_args, &boundary) != TP_OK)
    status = tp__out_of_memory(func);
  else if (status == TP_OK) {
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < TP_LEN(ours); k++)
        tp__boundary_set(&boundary, i, ours[k], (MlirAttribute){NULL});
      if (!mlirAttributeIsNull(attrs[i]))
        tp__boundary_set(&boundary, i, "sdy.sharding", attrs[i]);
    }
    tp__boundary_end(&boundary);
  }
  tp__free(attrs);
  return status;
}

/* Casts unsigned arguments to integers without sign, in which the body computes; results back. */
static void cast_boundary(tp_export *x, MlirOperation func, MlirBlock block, MlirOperation end) {
  MlirOperation first = mlirBlockGetFirstOperation(block);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    if (mlirAttributeIsNull(tp__arg_attr(func, (int)i, "tp.unsigned")))
      continue;
    MlirValue argument = mlirBlockGetArgument(block, i);
    MlirType type = mlirValueGetType(argument), element = tp__element_type(type);
    int rank = 0;
    int64_t sizes[TP_MAX_RANK];
    (void)tp__static_tensor(type, &rank, sizes);
    x->where = first;
    mlirValueSetType(argument, mlirRankedTensorTypeGet(rank, sizes, tp__export_unsigned(element),
                                                       (MlirAttribute){NULL}));
    MlirValue cast = tp__export_build(x, "stablehlo.bitcast_convert", type, 1, &argument, 0, NULL);
    tp__replace_uses_except(argument, cast, tp__defining_op(cast));
  }
  x->where = end;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++) {
    if (mlirAttributeIsNull(tp__result_attr(func, (int)i, "tp.unsigned")))
      continue;
    MlirValue value = mlirOperationGetOperand(end, i);
    int rank = 0;
    int64_t sizes[TP_MAX_RANK];
    (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
    MlirType element = tp__export_unsigned(tp__element_type(mlirValueGetType(value)));
    MlirType type = mlirRankedTensorTypeGet(rank, sizes, element, (MlirAttribute){NULL});
    mlirOperationSetOperand(
        end, i, tp__export_build(x, "stablehlo.bitcast_convert", type, 1, &value, 0, NULL));
  }
}

/* Replaces the terminator of a block by `name`. */
static MlirOperation end_with(tp_export *x, MlirBlock block, const char *name) {
  MlirOperation old = mlirBlockGetTerminator(block);
  intptr_t n = mlirOperationGetNumOperands(old);
  MlirOperation end = tp__create(&(tp_build){.name = name, .location = x->location});
  MlirValue *values = tp__calloc((size_t)n + 1, sizeof *values);
  for (intptr_t i = 0; values && i < n; i++)
    values[i] = mlirOperationGetOperand(old, i);
  mlirBlockAppendOwnedOperation(block, end);
  mlirOperationSetOperands(end, values ? n : 0, values);
  mlirOperationDestroy(old);
  tp__free(values);
  return end;
}

/* ---- the manual computation ---- */

static MlirAttribute manual_axes(tp_export *x) {
  tp__string text = {0};
  tp__string_append(&text, "#sdy<manual_axes{");
  for (int a = 0; a < x->mesh.n_axes; a++)
    tp__string_printf(&text, "%s\"a%d\"", a ? ", " : "", a);
  tp__string_append(&text, "}>");
  MlirAttribute attr = tp__parse_attr(x->context, text.failed ? "unit" : text.text);
  tp__string_destroy(&text);
  return attr;
}

/* Moves the body of an entry into a manual computation on its global arguments. */
static tp_status wrap(tp_export *x, MlirOperation func) {
  MlirType type = tp__func_type(func);
  int n_in = (int)mlirFunctionTypeGetNumInputs(type);
  int n_out = (int)mlirFunctionTypeGetNumResults(type);
  MlirAttribute in, out;
  TP_TRY(shardings(x, func, true, n_in, &in));
  TP_TRY(shardings(x, func, false, n_out, &out));
  MlirBlock body = tp__region_block(func, 0);
  x->location = mlirOperationGetLocation(func);
  cast_boundary(x, func, body, mlirBlockGetTerminator(body));
  (void)end_with(x, body, "sdy.return");
  mlirBlockDetach(body);
  MlirType *types = tp__calloc((size_t)(n_in + n_out) + 1, sizeof *types);
  MlirLocation *locations = tp__calloc((size_t)n_in + 1, sizeof *locations);
  MlirValue *values = tp__calloc((size_t)(n_in + n_out) + 1, sizeof *values);
  bool ok = types && locations && values;
  for (int i = 0; ok && i < n_in + n_out; i++)
    types[i] = global_type(func, i < n_in, i < n_in ? i : i - n_in);
  for (int i = 0; ok && i < n_in; i++)
    locations[i] = x->location;
  MlirBlock block = mlirBlockCreate(ok ? n_in : 0, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(func, 0), block);
  for (int i = 0; ok && i < n_in; i++)
    values[i] = mlirBlockGetArgument(block, i);
  MlirNamedAttribute attrs[] = {tp__named(x->context, "in_shardings", in),
                                tp__named(x->context, "manual_axes", manual_axes(x)),
                                tp__named(x->context, "out_shardings", out)};
  MlirOperation manual = tp__create(&(tp_build){.name = "sdy.manual_computation",
                                                .location = x->location,
                                                .n_operands = ok ? n_in : 0,
                                                .operands = values,
                                                .n_results = ok ? n_out : 0,
                                                .results = ok ? types + n_in : NULL,
                                                .n_attributes = TP_LEN(attrs),
                                                .attributes = attrs,
                                                .n_regions = 1});
  mlirBlockAppendOwnedOperation(block, manual);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(manual, 0), body);
  for (int i = 0; ok && i < n_out; i++)
    values[i] = mlirOperationGetResult(manual, i);
  mlirBlockAppendOwnedOperation(block, tp__create(&(tp_build){.name = "func.return",
                                                              .location = x->location,
                                                              .n_operands = ok ? n_out : 0,
                                                              .operands = values}));
  tp__free(types);
  tp__free(locations);
  tp__free(values);
  return ok ? TP_OK : tp__out_of_memory(func);
}

static bool is_entry(MlirOperation func) {
  MlirAttribute visibility = tp__inherent(func, "sym_visibility");
  return mlirAttributeIsNull(visibility) ||
         !tp__ref_is(mlirStringAttrGetValue(visibility), "private");
}

/* Private functions are called by exported ones alone, whose integers have no sign. */
static tp_status export_func(tp_export *x, MlirOperation func) {
  MlirType type = tp__func_type(func);
  int n_in = (int)mlirFunctionTypeGetNumInputs(type);
  int n_out = (int)mlirFunctionTypeGetNumResults(type);
  bool entry = is_entry(func);
  TP_TRY(export_body(x, func));
  x->location = mlirOperationGetLocation(func);
  if (entry && tp__is_local(x->module))
    TP_TRY(wrap(x, func));
  else if (entry)
    cast_boundary(x, func, tp__region_block(func, 0),
                  mlirBlockGetTerminator(tp__region_block(func, 0)));
  TP_TRY(set_types(func, entry ? global_type : local_type));
  TP_TRY(mark_boundary(x, func, entry, true, n_in));
  TP_TRY(mark_boundary(x, func, entry, false, n_out));
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
  if (tp__is_local(x->module)) {
    write_mesh(x, ops->funcs.items[0]);
    tp__set(x->module, "mhlo.num_partitions", mlirIntegerAttrGet(i32, tp_mesh_size(&x->mesh)));
    tp__set(x->module, "mhlo.num_replicas", mlirIntegerAttrGet(i32, 1));
    tp__remove(x->module, "tp.phase");
  }
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
        "shard dialect and permutes, on tensors. Establishes: StableHLO; print it with "
        "--mlir-print-op-generic. A per-device program is one sdy.manual_computation on a mesh of "
        "axes a0, a1, ... in a function on global tensors. Breaks: the program can no longer be "
        "lowered here.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
