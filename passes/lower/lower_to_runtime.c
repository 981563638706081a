/* tp-lower-to-runtime: lowers communication on tensors to calls of the runtime's ABI. */
#include "passes/registry.h"
#include "passes/support/lower.h"

#include "ir/route_call.h"
#include "ir/symbols.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

/* The ops to rewrite, in order of rewriting. Sites of collectives come before those of fused
 * ops that do not communicate, as in a tp_plan. Index ops follow, because the lowering of a root
 * reads them. A shard.sharding is erased after its users. */
typedef struct body_ops {
  MlirOperation module;
  tp_op_list ops, products, indices, shardings;
} body_ops;

static tp_status collect_op(MlirOperation op, void *data) {
  body_ops *body = data;
  if (tp__op_is(op, "shard.sharding"))
    return tp__op_list_add(&body->shardings, op);
  if (tp__is_index(op))
    return tp__op_list_add(&body->indices, op);
  if (tp__is_fused_compute(body->module, op))
    return tp__op_list_add(&body->products, op);
  bool wanted = tp__op_has_dialect(op, "shard") || tp__op_is(op, "func.call");
  return wanted ? tp__op_list_add(&body->ops, op) : TP_OK;
}

/* Refuses ops that bufferization and the conversions to LLVM after this pass do not support. They
 * would remain in the middle of these conversions. */
static tp_status check_known(MlirOperation op, void *data) {
  static const char *const dialects[] = {
      "arith",  "math",          "complex", "tensor", "linalg", "scf", "func", "cf",     "shard",
      "affine", "bufferization", "memref",  "vector", "index",  "ub",  "llvm", "builtin"};
  (void)data;
  for (int i = 0; i < TP_LEN(dialects); i++)
    if (tp__op_has_dialect(op, dialects[i]))
      return TP_OK;
  if (tp__op_has_dialect(op, "stablehlo") || tp__op_has_dialect(op, "chlo")) {
    MlirAttribute target = tp__inherent(op, "call_target_name");
    bool is_named = !mlirAttributeIsNull(target) && mlirAttributeIsAString(target);
    MlirStringRef name = is_named ? mlirStringAttrGetValue(target) : tp__ref("");
    return tp__error(op, TP_UNSUPPORTED,
                     "%s%.*s%sruns only with XLA: it was kept for an export "
                     "to StableHLO; run the exported program with XLA, or lower the op between "
                     "tp-partition and tp-to-runtime",
                     is_named ? "the call of " : "", (int)name.length, name.data,
                     is_named ? " " : "");
  }
  return tp__error(op, TP_UNSUPPORTED,
                   "cannot be lowered to machine code; rewrite it with linalg, tensor, scf and "
                   "arith ops between tp-partition and tp-to-runtime (its rule says how it is "
                   "sharded, not what it computes)");
}

/* ---- signatures ---- */

/* Checks that an argument or result of a program is a dense tensor of static shape or a scalar. */
static tp_status check_type(MlirOperation func, const char *what, int i, MlirType type) {
  if (tp__is_tensor(type))
    return tp__check_tensor(func, what, i, type);
  if (tp__element_size(type) == 0)
    return tp__error(func, TP_UNSUPPORTED, "%s %d is neither a tensor nor a number", what, i);
  return TP_OK;
}

static tp_status check_signature(MlirOperation func, MlirType type) {
  for (int i = 0; i < mlirFunctionTypeGetNumInputs(type); i++)
    TP_TRY(check_type(func, "argument", i, mlirFunctionTypeGetInput(type, i)));
  for (int i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    TP_TRY(check_type(func, "result", i, mlirFunctionTypeGetResult(type, i)));
  return TP_OK;
}

/* Prepends the runtime context to the arguments and marks tensor arguments as not writable: a
 * program leaves its inputs unchanged. */
static tp_status add_context(tp__lowering *l) {
  MlirType type = tp__func_type(l->func);
  int n = (int)mlirFunctionTypeGetNumInputs(type),
      n_results = (int)mlirFunctionTypeGetNumResults(type);
  MlirType *types = tp__calloc((size_t)(n + n_results + 1), sizeof *types);
  if (!types)
    return tp__out_of_memory(l->func);
  types[0] = l->ptr;
  for (int i = 0; i < n; i++)
    types[1 + i] = mlirFunctionTypeGetInput(type, i);
  for (int i = 0; i < n_results; i++)
    types[1 + n + i] = mlirFunctionTypeGetResult(type, i);
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(l->func, 0));
  l->ctx = mlirBlockInsertArgument(entry, 0, l->ptr, mlirOperationGetLocation(l->func));
  mlirOperationSetInherentAttributeByName(
      l->func, tp__ref("function_type"),
      mlirTypeAttrGet(mlirFunctionTypeGet(l->context, n + 1, types, n_results, types + 1 + n)));
  mlirOperationRemoveAttributeByName(l->func, tp__ref("arg_attrs"));
  mlirOperationRemoveAttributeByName(l->func, tp__ref("res_attrs"));
  tp_boundary boundary;
  tp_status status = tp__boundary_begin(l->func, true, &boundary);
  for (int i = 0; i < n && status == TP_OK; i++)
    if (tp__is_tensor(types[1 + i]))
      tp__boundary_set(&boundary, i + 1, "bufferization.writable", mlirBoolAttrGet(l->context, 0));
  if (status == TP_OK)
    tp__boundary_end(&boundary);
  tp__free(types);
  return status == TP_OK ? TP_OK : tp__out_of_memory(l->func);
}

/* ---- bodies ---- */

static tp_status check_call(tp__lowering *l, MlirOperation op) {
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "callee"));
  bool defined = !mlirOperationIsNull(tp__callee(l->module, op));
  return tp__error(op, TP_UNSUPPORTED,
                   defined ? "cannot inline the call of @%.*s (recursion, or control flow that is "
                             "not scf); programs are compiled without calls"
                           : "@%.*s has no body; a compiled program can only call the runtime, so "
                             "define the function in the module",
                   (int)callee.length, callee.data);
}

static tp_status refuse_global(MlirOperation op) {
  return tp__error(op, TP_UNSUPPORTED,
                   "is a communication op in a module that is not partitioned; run tp-spmd first, "
                   "with a mesh of several devices (on one device it has no meaning)");
}

static tp_status lower_op(tp__lowering *l, MlirOperation op, bool local) {
  if (!local && tp__op_is(op, "shard.shard")) {
    /* a sharding annotation has no effect in a program for one device */
    tp__replace_op(op, mlirOperationGetOperand(op, 0));
    return TP_OK;
  }
  if (!local && tp__op_has_dialect(op, "shard"))
    return refuse_global(op);
  bool done;
  TP_TRY(tp__lower_collective(l, op, &done));
  if (!done)
    TP_TRY(tp__lower_permute(l, op, &done));
  if (!done)
    TP_TRY(tp__lower_route(l, op, &done));
  if (!done)
    TP_TRY(tp__lower_fused(l, op, &done));
  if (done)
    return TP_OK;
  if (tp__op_is(op, "func.call"))
    return check_call(l, op);
  return tp__error(op, TP_UNSUPPORTED,
                   "is lowered as a permute; run tp-expand-messages first, as tp-to-runtime does");
}

/* ---- names ---- */

/* Renames a function whose name generated code could refer to, such as @sin, so that a call of
 * libm's sin does not call this function. No other function calls it, since calls were inlined. */
static tp_status rename_reserved(MlirOperation func) {
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(func, "sym_name"));
  if (!tp__is_reserved_symbol(name.data, name.length))
    return TP_OK;
  char *renamed = tp__malloc(sizeof TP_ENTRY_PREFIX + name.length);
  if (!renamed)
    return tp__out_of_memory(func);
  sprintf(renamed, TP_ENTRY_PREFIX "%.*s", (int)name.length, name.data);
  mlirOperationSetInherentAttributeByName(func, tp__ref("sym_name"),
                                          tp__attr_string(mlirOperationGetContext(func), renamed));
  tp__free(renamed);
  return TP_OK;
}

typedef struct run_data {
  tp_pass *pass;
  tp_mesh mesh;
  bool local;
} run_data;

static tp_status lower_body(tp__lowering *l, body_ops *body, bool is_local) {
  TP_TRY(add_context(l));
  TP_TRY(tp__walk(l->func, collect_op, body));
  for (size_t i = 0; i < body->ops.n; i++)
    TP_TRY(lower_op(l, body->ops.items[i], is_local));
  for (size_t i = 0; i < body->products.n; i++)
    if (!mlirOperationIsNull(body->products.items[i]))
      TP_TRY(tp__lower_fused_product(l, body->products.n - i, body->products.items + i));
  for (size_t i = 0; i < body->indices.n; i++)
    TP_TRY(is_local ? tp__lower_index(l, body->indices.items[i])
                    : refuse_global(body->indices.items[i]));
  for (size_t i = 0; i < body->shardings.n; i++)
    if (!tp__is_used(mlirOperationGetResult(body->shardings.items[i], 0)))
      mlirOperationDestroy(body->shardings.items[i]);
  return TP_OK;
}

static tp_status lower_entry(MlirOperation func, void *data) {
  run_data *run = data;
  MlirType type = tp__func_type(func);
  TP_TRY(check_signature(func, type));
  TP_TRY(tp__walk(func, check_known, NULL));
  TP_TRY(tp__walk(func, tp__split_slice, NULL));
  TP_TRY(tp__walk(func, tp__densify_carried, NULL));
  if (run->local)
    TP_TRY(tp__check_uniform(func, &run->mesh));
  TP_TRY(rename_reserved(func));
  body_ops body = {.module = run->pass->module};
  tp__lowering l;
  tp__lowering_begin(&l, run->pass->module, func);
  l.mesh = run->mesh;
  tp_status status = lower_body(&l, &body, run->local);
  if (status == TP_OK)
    status = tp__own_slices(func);
  tp__free(body.ops.items);
  tp__free(body.products.items);
  tp__free(body.indices.items);
  tp__free(body.shardings.items);
  int64_t sizes[TP_MAX_AXES];
  for (int a = 0; a < run->mesh.n_axes; a++)
    sizes[a] = run->mesh.axes[a].size;
  tp__set(func, "tp.mesh", tp__attr_i64s(l.context, run->mesh.n_axes, sizes));
  run->pass->statistics[0] += (int64_t)(l.sites.n / TPRT_SITE_WORDS);
  tp_status end = tp__lowering_end(&l);
  return status == TP_OK ? end : status;
}

/* Erases module contents that a compiled program does not need: grids, declarations of permutes and
 * routes, bodies of fused functions, and the phase attribute. */
static void clean_module(MlirOperation module) {
  MlirOperation next;
  for (MlirOperation op =
           mlirBlockGetFirstOperation(mlirModuleGetBody(mlirModuleFromOperation(module)));
       !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    MlirAttribute name =
        tp__op_is(op, "func.func") ? tp__inherent(op, "sym_name") : (MlirAttribute){NULL};
    bool permute = !mlirAttributeIsNull(name) && mlirStringAttrGetValue(name).length >= 10 &&
                   memcmp(mlirStringAttrGetValue(name).data, "tp.permute", 10) == 0;
    bool fused = !mlirAttributeIsNull(tp__get(op, "tp.fused"));
    if (permute || fused || tp__is_route_symbol(op) || tp__op_is(op, "shard.grid"))
      mlirOperationDestroy(op);
  }
  tp__remove(module, "tp.phase");
}

static tp_status run(tp_pass *pass) {
  static const char *const axis[] = {"all"};
  run_data data = {.pass = pass, .local = tp__is_local(pass->module)};
  if (data.local)
    TP_TRY(tp__module_mesh(pass->module, NULL, &data.mesh));
  if (data.mesh.n_axes == 0) /* one device */
    TP_TRY(tp_mesh_create("mesh", 1, axis, (const int64_t[]){1}, &data.mesh));
  TP_TRY(tp__each_entry(pass->module, lower_entry, &data));
  clean_module(pass->module);
  return TP_OK;
}

static const tp_statistic_row statistics[] = {
    {"sites", "runtime calls with a table entry: communication, and matmuls with fused ops"}};

const tp_pass_row tp__lower_to_runtime_row = {
    .name = "tp-lower-to-runtime",
    .summary = "Lower collectives to runtime calls",
    .description =
        "Requires: a local module (tp.phase), or one without communication, on tensors; calls "
        "inlined. Bufferization must follow directly, because the new calls read buffers where "
        "tensors are meant, and folding in between would break this. Establishes: public functions "
        "take the runtime's context first and leave their arguments unchanged; every collective, "
        "permute and process index is a call of tprt/abi.h, listed in tp.sites; no collective is "
        "under control flow that may differ between the ranks of its group. Breaks: grids, "
        "shardings of arguments and results.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
