/* tp-lower-tosa: lowers TOSA to linalg, tensor, arith and scf by upstream's passes. They replace
 * ops and drop their attributes, so a tp.sharding becomes a shard.shard first. */
#include "passes/registry.h"

#include "ir/annotation.h"
#include "passes/import/keep_shardings.h"
#include "support/support.h"

typedef struct tosa_ops {
  int64_t n;
  tp_op_list annotated, funcs; /* ops with tp.sharding; functions with TOSA ops */
} tosa_ops;

static tp_status collect(MlirOperation op, void *data) {
  tosa_ops *ops = data;
  if (!tp__op_has_dialect(op, "tosa"))
    return TP_OK;
  if (!mlirAttributeIsNull(tp__get(op, "tp.rule")))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has tp.rule, but is lowered to ops with rules of their own; remove it");
  MlirOperation func = tp__enclosing_func(op);
  ops->n++;
  if (ops->funcs.n == 0 || !mlirOperationEqual(ops->funcs.items[ops->funcs.n - 1], func))
    TP_TRY(tp__op_list_add(&ops->funcs, func));
  return mlirAttributeIsNull(tp__get(op, "tp.sharding")) ? TP_OK
                                                         : tp__op_list_add(&ops->annotated, op);
}

/* Shapes were operands of ops that are lowered now. */
static tp_status collect_unused(MlirOperation op, void *data) {
  bool unused = tp__op_is(op, "tosa.const_shape") && !tp__is_used(mlirOperationGetResult(op, 0));
  return unused ? tp__op_list_add(data, op) : TP_OK;
}

static tp_status erase_shapes(MlirOperation module) {
  tp_op_list unused = {0};
  tp_status status = tp__walk(module, collect_unused, &unused);
  for (size_t i = 0; i < unused.n && status == TP_OK; i++)
    mlirOperationDestroy(unused.items[i]);
  tp__free(unused.items);
  return status;
}

enum { STAT_OPS };

/* The op that upstream's passes cannot lower is at the place of their first error. */
typedef struct refused_op {
  MlirLocation at; /* null: no error yet */
  MlirOperation op;
} refused_op;

static MlirLogicalResult note_place(MlirDiagnostic diagnostic, void *data) {
  refused_op *refused = data;
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError &&
      mlirLocationIsNull(refused->at))
    refused->at = mlirDiagnosticGetLocation(diagnostic);
  return tp__discard_diagnostic(diagnostic, NULL);
}

static tp_status find_refused(MlirOperation op, void *data) {
  refused_op *refused = data;
  if (mlirOperationIsNull(refused->op) && tp__op_has_dialect(op, "tosa") &&
      mlirLocationEqual(mlirOperationGetLocation(op), refused->at))
    refused->op = op;
  return TP_OK;
}

/* tosa-to-scf is first, because tosa-to-linalg does not know the ends of regions. */
static tp_status lower_func(const tp_pass *pass, MlirOperation func) {
  refused_op refused = {{NULL}, {NULL}};
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(pass->context, note_place, &refused, NULL);
  bool lowered = tp__run_nested(pass, func,
                                "tosa-to-scf,tosa-to-linalg-named,tosa-to-linalg,"
                                "tosa-to-arith{include-apply-rescale=true},tosa-to-tensor");
  mlirContextDetachDiagnosticHandler(pass->context, handler);
  if (lowered)
    return TP_OK;
  if (!mlirLocationIsNull(refused.at))
    TP_TRY(tp__walk(func, find_refused, &refused));
  return tp__error(mlirOperationIsNull(refused.op) ? func : refused.op, TP_UNSUPPORTED,
                   "upstream's passes cannot lower this TOSA op; run "
                   "func.func(tosa-optional-decompositions) before, which decomposes "
                   "tosa.transpose_conv2d, or write the op with linalg and tensor ops");
}

static tp_status lower(tp_pass *pass, const tosa_ops *ops, const tp_mesh *mesh) {
  TP_TRY(tp__keep_shardings(pass->module, &ops->annotated, mesh));
  pass->statistics[STAT_OPS] = ops->n;
  for (size_t i = 0; i < ops->funcs.n; i++)
    TP_TRY(lower_func(pass, ops->funcs.items[i]));
  return erase_shapes(pass->module);
}

typedef struct settings {
  const char *mesh;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  tosa_ops ops = {0};
  tp_mesh mesh;
  tp_status status = tp__walk(pass->module, collect, &ops);
  if (status == TP_OK && ops.n > 0)
    status = tp__module_mesh(pass->module, given->mesh, &mesh);
  if (status == TP_OK && ops.n > 0)
    status = lower(pass, &ops, &mesh);
  tp__free(ops.funcs.items);
  tp__free(ops.annotated.items);
  return status;
}

static const tp_option_row options[] = {
    {"mesh", "", "sizes of the mesh, see tp-propagate; needed to read the annotations of TOSA ops",
     TP_TEXT(settings, mesh, "SIZES")},
};

static const tp_statistic_row statistics[] = {
    [STAT_OPS] = {"ops", "TOSA ops lowered"},
};

const tp_pass_row tp__lower_tosa_row = {
    .name = "tp-lower-tosa",
    .summary = "Lower TOSA to linalg by upstream's passes, keeping annotations",
    .description =
        "Requires: nothing. Establishes: TOSA ops are ops of linalg, tensor, arith, math "
        "and scf; their tp.sharding are shard.shard constraints. Breaks: nothing; does "
        "nothing on a module without TOSA ops.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
