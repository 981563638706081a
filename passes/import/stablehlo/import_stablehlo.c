/* tp-import-stablehlo: converts StableHLO and CHLO to linalg, tensor, arith, math and scf.
 *
 * Functions are converted one by one, from top to bottom. Ops of other dialects stay where they
 * are; only their operands change. At the end the old ops are destroyed, and unsigned integers
 * become integers without sign everywhere. */
#include "passes/import/stablehlo/hlo.h"

#include "passes/import/keep_shardings.h"

enum { STAT_OPS };

static bool is_hlo(MlirOperation op) {
  return tp__op_has_dialect(op, "stablehlo") || tp__op_has_dialect(op, "chlo");
}

/* ---- one op ---- */

static tp_status check_count(MlirOperation op, const char *what, intptr_t have, int wanted) {
  return wanted == TP_HLO_ANY || have == wanted
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT, "has %d %s, but the op takes %d", (int)have, what,
                         wanted);
}

/* Unsigned types that are not supported without sign, either, are named as they are. */
static tp_status check_value(MlirOperation op, const char *what, intptr_t i, MlirType type) {
  tp_hlo plain = {0};
  MlirType now = tp__hlo_type(&plain, type);
  bool is_supported = tp__element_size(tp__number_type(now)) > 0;
  if (tp__is_tensor(type) && mlirTypeIsAIndex(tp__element_type(type)))
    return tp__error(op, TP_UNSUPPORTED,
                     "%s %d has elements of type index; numbers of StableHLO have a width, such as "
                     "i64",
                     what, (int)i);
  return tp__check_tensor(op, what, (int)i, is_supported ? now : type);
}

tp_status tp__hlo_check_values(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    TP_TRY(check_value(op, "operand", i, tp__hlo_operand_type(op, (int)i)));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    TP_TRY(check_value(op, "result", i, mlirValueGetType(mlirOperationGetResult(op, i))));
  return TP_OK;
}

/* In a body, values are numbers. */
static tp_status check_scalar(const tp_hlo *hlo, MlirOperation op) {
  for (intptr_t i = 0; hlo->scalar && i < mlirOperationGetNumResults(op); i++)
    if (tp__hlo_shape(mlirValueGetType(mlirOperationGetResult(op, i))).rank > 0)
      return tp__error(op, TP_UNSUPPORTED,
                       "computes a tensor in the body of another op; only numbers (tensors of rank "
                       "0) are supported there");
  return TP_OK;
}

tp_status tp__hlo_not_in_body(const tp_hlo *hlo, MlirOperation op) {
  return hlo->scalar ? tp__error(op, TP_UNSUPPORTED, "is not supported in the body of another op")
                     : TP_OK;
}

tp_status tp__hlo_convert_one(tp_hlo *hlo, MlirOperation op) {
  const tp_hlo_row *row = tp__hlo_row(op);
  if (!row)
    return tp__error(op, TP_UNSUPPORTED,
                     "is not an op that tp-import-stablehlo knows; docs/reference/stablehlo.md "
                     "lists them");
  if (!row->convert)
    return tp__error(op, TP_UNSUPPORTED, "%s%s", row->becomes,
                     row->detail ? (const char *)row->detail : "");
  TP_TRY(check_count(op, "operands", mlirOperationGetNumOperands(op), row->n_operands));
  TP_TRY(check_count(op, "results", mlirOperationGetNumResults(op), row->n_results));
  TP_TRY(check_count(op, "regions", mlirOperationGetNumRegions(op), row->n_regions));
  TP_TRY(tp__hlo_check_values(op));
  TP_TRY(check_scalar(hlo, op));
  hlo->location = mlirOperationGetLocation(op);
  hlo->pass->statistics[STAT_OPS]++;
  TP_TRY(tp__hlo_needs_body(hlo, op, row) ? tp__hlo_in_body(hlo, op, row)
                                          : row->convert(hlo, op, row));
  /* ops in a region are destroyed with the op around them */
  return is_hlo(mlirOperationGetParentOperation(op)) ? TP_OK : tp__op_list_add(&hlo->done, op);
}

/* Bodies may compute numbers by arith and math. They are copied, as a body may be converted more
 * than once. */
static tp_status copy_into_body(tp_hlo *hlo, MlirOperation op) {
  bool is_scalar = tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math");
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    is_scalar &= !tp__is_tensor(mlirValueGetType(mlirOperationGetResult(op, i)));
  if (!is_scalar)
    return tp__error(op, TP_UNSUPPORTED,
                     "stands in the body of a StableHLO op; only ops of StableHLO and CHLO are "
                     "supported there, and those of arith and math on numbers");
  MlirOperation copy = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    mlirOperationSetOperand(copy, i, tp__hlo_operand(hlo, op, (int)i));
  tp__insert_before(hlo->where, copy);
  return tp__hlo_replace_all(hlo, op, copy);
}

static tp_status keep_op(tp_hlo *hlo, MlirOperation op) {
  if (hlo->scalar)
    return copy_into_body(hlo, op);
  hlo->location = mlirOperationGetLocation(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    mlirOperationSetOperand(op, i, tp__hlo_operand(hlo, op, (int)i));
  MlirOperation end;
  if (is_hlo(mlirOperationGetParentOperation(op)))
    mlirOperationMoveBefore(op, hlo->where);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      TP_TRY(tp__hlo_block(hlo, block, &end));
  return TP_OK;
}

/* True for ops in whose place no others are built: those of other dialects, and those that stay. */
static bool stays(MlirOperation op) {
  return !is_hlo(op) || !mlirAttributeIsNull(tp__get(op, "tp.rule"));
}

static tp_status visit_op(tp_hlo *hlo, MlirOperation op) {
  bool kept = true;
  if (is_hlo(op))
    TP_TRY(tp__hlo_keep(hlo, op, &kept));
  return kept ? keep_op(hlo, op) : tp__hlo_convert_one(hlo, op);
}

/* ---- blocks ---- */

tp_status tp__hlo_block(tp_hlo *hlo, MlirBlock block, MlirOperation *end) {
  MlirOperation outer = hlo->where, next;
  *end = (MlirOperation){NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    *end = op;
    if (tp__op_is(op, "stablehlo.return"))
      return TP_OK;
    if (stays(mlirBlockGetParentOperation(block)))
      hlo->where = op;
    TP_TRY(visit_op(hlo, op));
    hlo->where = outer;
  }
  return TP_OK;
}

static tp_status check_region(MlirOperation op, int region, intptr_t n_arguments,
                              MlirBlock *block) {
  *block = tp__region_block(op, region);
  MlirOperation end = {NULL};
  for (MlirOperation inner = mlirBlockIsNull(*block) ? end : mlirBlockGetFirstOperation(*block);
       !mlirOperationIsNull(inner); inner = mlirOperationGetNextInBlock(inner))
    end = inner;
  if (mlirOperationIsNull(end) || !mlirBlockIsNull(mlirBlockGetNextInRegion(*block)) ||
      !tp__op_is(end, "stablehlo.return"))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "region %d must be one block that ends in stablehlo.return", region);
  if (mlirBlockGetNumArguments(*block) != n_arguments)
    return tp__error(op, TP_INVALID_ARGUMENT, "region %d has %d arguments, but the op gives it %d",
                     region, (int)mlirBlockGetNumArguments(*block), (int)n_arguments);
  return TP_OK;
}

/* Converts a region, whose arguments are `values`, in front of `end`, and gives `end` the values
 * that it returns. */
static tp_status convert_region(tp_hlo *hlo, MlirOperation op, int region, MlirOperation end, int n,
                                const MlirValue *arguments) {
  MlirBlock block;
  MlirOperation outer = hlo->where, last;
  MlirValue values[TP_HLO_MAX_VALUES];
  TP_TRY(check_region(op, region, n, &block));
  for (int i = 0; i < n; i++)
    TP_TRY(tp__hlo_map(hlo, op, mlirBlockGetArgument(block, i), arguments[i]));
  hlo->where = end;
  TP_TRY(tp__hlo_block(hlo, block, &last));
  intptr_t n_values = mlirOperationGetNumOperands(last);
  if (n_values > TP_HLO_MAX_VALUES)
    return tp__error(op, TP_UNSUPPORTED, "region %d returns %d values; at most %d are supported",
                     region, (int)n_values, TP_HLO_MAX_VALUES);
  for (intptr_t i = 0; i < n_values; i++)
    values[i] = tp__hlo_operand(hlo, last, (int)i);
  mlirOperationSetOperands(end, n_values, values);
  hlo->where = outer;
  hlo->location = mlirOperationGetLocation(op);
  return TP_OK;
}

tp_status tp__hlo_region(tp_hlo *hlo, MlirOperation op, int region, MlirBlock block,
                         const char *end_name, MlirOperation *terminator) {
  MlirValue arguments[TP_HLO_MAX_VALUES];
  int n = (int)mlirBlockGetNumArguments(block);
  MlirOperation end =
      tp__create(&(tp_build){.name = end_name, .location = mlirOperationGetLocation(op)});
  mlirBlockAppendOwnedOperation(block, end);
  for (int i = 0; i < n; i++)
    arguments[i] = mlirBlockGetArgument(block, i);
  if (terminator)
    *terminator = end;
  return convert_region(hlo, op, region, end, n, arguments);
}

tp_status tp__hlo_body(tp_hlo *hlo, MlirOperation op, int region, MlirOperation yield, int n,
                       const MlirValue *arguments) {
  bool outer = hlo->scalar;
  hlo->scalar = true;
  tp_status status = convert_region(hlo, op, region, yield, n, arguments);
  hlo->scalar = outer;
  return status;
}

/* ---- functions ---- */

/* Gives the values of an op types without sign, behind the conversion. */
static tp_status retype(MlirOperation op, void *data) {
  const tp_hlo *hlo = data;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    mlirValueSetType(mlirOperationGetResult(op, i), tp__hlo_result_type(hlo, op, (int)i));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
        MlirValue argument = mlirBlockGetArgument(block, i);
        mlirValueSetType(argument, tp__hlo_type(hlo, mlirValueGetType(argument)));
      }
  return TP_OK;
}

/* Gives arguments or results types without sign; tp.unsigned keeps what they were. */
static tp_status retype_boundary(const tp_hlo *hlo, MlirOperation func, bool is_args, int n,
                                 MlirType *types) {
  tp_boundary boundary;
  if (tp__boundary_begin(func, is_args, &boundary) != TP_OK)
    return tp__out_of_memory(func);
  for (int i = 0; i < n; i++) {
    MlirType now = tp__hlo_type(hlo, types[i]);
    if (!mlirTypeEqual(now, types[i]))
      tp__boundary_set(&boundary, i, "tp.unsigned", mlirUnitAttrGet(hlo->context));
    types[i] = now;
  }
  tp__boundary_end(&boundary);
  return TP_OK;
}

static tp_status retype_values(const tp_hlo *hlo, MlirOperation func, int n_in, int n_out,
                               MlirType *types) {
  MlirType type = tp__func_type(func);
  for (int i = 0; i < n_in; i++)
    types[i] = mlirFunctionTypeGetInput(type, i);
  for (int i = 0; i < n_out; i++)
    types[n_in + i] = mlirFunctionTypeGetResult(type, i);
  TP_TRY(retype_boundary(hlo, func, true, n_in, types));
  TP_TRY(retype_boundary(hlo, func, false, n_out, types + n_in));
  MlirType now = mlirFunctionTypeGet(hlo->context, n_in, types, n_out, types + n_in);
  if (!mlirTypeEqual(now, type))
    mlirOperationSetInherentAttributeByName(func, tp__ref("function_type"), mlirTypeAttrGet(now));
  return TP_OK;
}

static tp_status retype_func(const tp_hlo *hlo, MlirOperation func) {
  MlirType type = tp__func_type(func);
  int n_in = (int)mlirFunctionTypeGetNumInputs(type),
      n_out = (int)mlirFunctionTypeGetNumResults(type);
  MlirType *types = tp__calloc((size_t)(n_in + n_out), sizeof *types);
  if (!types)
    return tp__out_of_memory(func);
  tp_status status = retype_values(hlo, func, n_in, n_out, types);
  tp__free(types);
  return status;
}

/* Old ops are destroyed from the last one on, since each may use those before it. */
static void destroy_done(tp_hlo *hlo) {
  for (size_t i = hlo->done.n; i-- > 0;)
    mlirOperationDestroy(hlo->done.items[i]);
  hlo->done.n = 0;
}

static void remove_casts(tp_hlo *hlo) {
  for (size_t i = 0; i < hlo->casts.n; i++) {
    MlirOperation cast = hlo->casts.items[i];
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(cast, 0),
                                  mlirOperationGetOperand(cast, 0));
    mlirOperationDestroy(cast);
  }
  hlo->casts.n = 0;
}

static tp_status convert_func(tp_hlo *hlo, MlirOperation func) {
  MlirOperation end;
  hlo->where = (MlirOperation){NULL};
  for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
       !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
    TP_TRY(tp__hlo_block(hlo, block, &end));
  destroy_done(hlo);
  tp__value_map_destroy(&hlo->map);
  TP_TRY(retype_func(hlo, func));
  TP_TRY(retype(func, hlo));
  TP_TRY(tp__walk(func, retype, hlo));
  remove_casts(hlo);
  return TP_OK;
}

/* ---- the module ---- */

/* The ops that a comparator is of have copies of it. */
static tp_status remove_comparator(const tp_hlo *hlo, MlirOperation func) {
  bool is_read = false;
  for (size_t i = 0; i < hlo->comparators.n; i++)
    is_read |= mlirOperationEqual(hlo->comparators.items[i], func);
  if (!is_read)
    return tp__error(func, TP_INVALID_ARGUMENT,
                     "ends in stablehlo.return, but is the comparator of no approximate top-k; end "
                     "it in func.return");
  mlirOperationDestroy(func);
  return TP_OK;
}

typedef struct found {
  bool any;
  tp_op_list funcs, annotated, torch;
} found;

static tp_status collect(MlirOperation op, void *data) {
  found *all = data;
  if (tp__op_is(op, "func.func"))
    return tp__op_list_add(&all->funcs, op);
  if (tp__hlo_is_tm_tensor(op))
    return tp__op_list_add(&all->torch, op);
  if (!is_hlo(op))
    return TP_OK;
  all->any = true;
  return mlirAttributeIsNull(tp__get(op, "tp.sharding")) ? TP_OK
                                                         : tp__op_list_add(&all->annotated, op);
}

typedef struct settings {
  const char *mesh;
  enum { UNKNOWN_REFUSE, UNKNOWN_REPLICATE } unknown_ops;
} settings;

static tp_status import(tp_pass *pass, const found *all) {
  const settings *given = pass->options;
  tp_hlo hlo = {.pass = pass,
                .module = pass->module,
                .context = pass->context,
                .keeps_unknown = given->unknown_ops == UNKNOWN_REPLICATE};
  tp_status status = TP_OK;
  TP_TRY(tp__hlo_inline_calls(pass->module));
  TP_TRY(tp__module_mesh(pass->module, given->mesh, &hlo.mesh));
  TP_TRY(tp__keep_shardings(pass->module, &all->annotated, &hlo.mesh));
  for (size_t i = 0; i < all->funcs.n && status == TP_OK; i++)
    if (!tp__ends_as_body(all->funcs.items[i]))
      status = convert_func(&hlo, all->funcs.items[i]);
  for (size_t i = 0; i < all->funcs.n && status == TP_OK; i++)
    if (tp__ends_as_body(all->funcs.items[i]))
      status = remove_comparator(&hlo, all->funcs.items[i]);
  if (hlo.uses_grid)
    tp__write_grids(pass->module, &hlo.mesh);
  tp__value_map_destroy(&hlo.map);
  tp__free(hlo.done.items);
  tp__free(hlo.casts.items);
  tp__free(hlo.comparators.items);
  return status;
}

static tp_status run(tp_pass *pass) {
  found all = {0};
  tp_status status = tp__walk(pass->module, collect, &all);
  for (size_t i = 0; i < all.torch.n && status == TP_OK; i++)
    status = tp__hlo_from_tm_tensor(all.torch.items[i]);
  if (status == TP_OK && (all.any || all.torch.n > 0))
    status = import(pass, &all);
  tp__free(all.funcs.items);
  tp__free(all.annotated.items);
  tp__free(all.torch.items);
  return status;
}

static const tp_option_row options[] = {
    {"mesh", "", "sizes of the mesh, see tp-propagate; needed to read the annotations of ops",
     TP_TEXT(settings, mesh, "SIZES")},
    {"unknown-ops", "refuse",
     "refuse: ops without a translation are an error; replicate: they stay for "
     "tp-export-stablehlo, "
     "and run on all devices, with a remark",
     TP_CHOICE(settings, unknown_ops, "refuse|replicate")},
};

static const tp_statistic_row statistics[] = {
    [STAT_OPS] = {"ops", "ops of StableHLO and CHLO converted"},
};

const tp_pass_row tp__import_stablehlo_row = {
    .name = "tp-import-stablehlo",
    .summary = "Convert StableHLO and CHLO to linalg, tensor, arith, math and scf",
    .description =
        "Requires: StableHLO in generic form, of static shapes (docs/reference/stablehlo.md). "
        "Establishes: no ops of stablehlo and chlo, but those with a tp.rule, which only "
        "tp-export-stablehlo takes; integers without "
        "sign; tp.sharding of these ops are shard.shard constraints. Breaks: nothing; does nothing "
        "on a module without such ops. Sorts, scans and scatters of torch-mlir's dialect tm_tensor "
        "count "
        "as ops of StableHLO.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .takes_comparators = true,
    .run = run,
};
