/* tp-import: converts annotations of Shardy and of upstream's sharding-propagation to tp.sharding.
 *
 * First it converts every attribute; sub-axes named by the attributes refine the mesh. Then it
 * replaces the ops that carry a sharding by shard.shard, and reads all annotations, so that errors
 * in them are reported here. */
#include "passes/import/import.h"
#include "passes/import/python_call.h"

#include <stdio.h>

/* ---- detection ---- */

static bool has_sdy(MlirOperation func, const char *list) {
  MlirAttribute attrs = tp__inherent(func, list);
  for (intptr_t i = 0; !mlirAttributeIsNull(attrs) && i < mlirArrayAttrGetNumElements(attrs); i++)
    if (!mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(attrs, i),
                                                                tp__ref("sdy.sharding"))))
      return true;
  return false;
}

static tp_status find_foreign(MlirOperation op, void *data) {
  bool *found = data;
  bool is_func = tp__op_is(op, "func.func");
  *found |= tp__op_has_dialect(op, "sdy") || tp__is_upstream_shard(op) ||
            !mlirAttributeIsNull(tp__get(op, "sdy.sharding")) ||
            !mlirAttributeIsNull(tp__get(op, "sdy.sharding_rule")) || tp__is_python_call(op) ||
            (is_func && (has_sdy(op, "arg_attrs") || has_sdy(op, "res_attrs")));
  return TP_OK;
}

static tp_status check_python_call(MlirOperation op, void *data) {
  (void)data;
  return tp__is_python_call(op) ? tp__refuse_python_call(op) : TP_OK;
}

/* ---- converting ---- */

static tp_status import_boundary(tp_importer *im, MlirOperation func, bool is_args) {
  MlirType type = tp__func_type(func);
  tp_boundary boundary;
  tp_status status = TP_OK;
  if (tp__boundary_begin(func, is_args, &boundary) != TP_OK)
    return tp__out_of_memory(func);
  for (int i = 0; i < boundary.n && status == TP_OK; i++) {
    MlirType value =
        is_args ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i);
    MlirAttribute attr, old = (is_args ? tp__arg_attr : tp__result_attr)(func, i, "tp.sharding");
    status = tp__sdy_boundary(im, func, is_args, i, value, &attr);
    tp__boundary_set(&boundary, i, "sdy.sharding", (MlirAttribute){NULL});
    if (status == TP_OK && mlirAttributeIsNull(attr) && mlirAttributeIsNull(old))
      status = tp__upstream_boundary(im, func, is_args, i, &attr);
    if (status == TP_OK && !mlirAttributeIsNull(attr))
      tp__boundary_set(&boundary, i, "tp.sharding", attr);
  }
  tp__boundary_end(&boundary);
  return status;
}

static tp_status import_op(MlirOperation op, void *data) {
  tp_importer *im = data;
  MlirAttribute attr;
  if (tp__is_upstream_shard(op)) {
    TP_TRY(tp__upstream_sharding(im, op, &attr));
    tp__set(op, "tp.sharding", attr);
    im->pass->statistics[TP_IMPORT_SHARDINGS]++;
    return TP_OK;
  }
  if (!tp__op_is(op, "func.func"))
    return tp__sdy_import_op(im, op);
  TP_TRY(import_boundary(im, op, true));
  return import_boundary(im, op, false);
}

/* ---- verifying ---- */

static tp_status check_boundary(MlirOperation func, const tp_mesh *mesh, bool is_args) {
  MlirType type = tp__func_type(func);
  int n = (int)(is_args ? mlirFunctionTypeGetNumInputs(type) : mlirFunctionTypeGetNumResults(type));
  for (int i = 0; i < n; i++) {
    MlirType value =
        is_args ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i);
    MlirAttribute attr = (is_args ? tp__arg_attr : tp__result_attr)(func, i, "tp.sharding");
    tp_annotation annotation;
    char what[32];
    snprintf(what, sizeof what, "%s %d", is_args ? "argument" : "result", i);
    if (!mlirAttributeIsNull(attr) && mlirTypeIsARankedTensor(value))
      TP_TRY(tp__read_sharding(func, what, attr, mesh, value, &annotation));
  }
  return TP_OK;
}

static tp_status check_op(MlirOperation op, void *data) {
  const tp_mesh *mesh = data;
  tp_annotation annotation;
  bool present;
  if (tp__op_is(op, "func.func")) {
    TP_TRY(check_boundary(op, mesh, true));
    return check_boundary(op, mesh, false);
  }
  for (int i = 0; i < mlirOperationGetNumResults(op); i++)
    TP_TRY(tp__op_sharding(op, i, mesh, &annotation, &present));
  return TP_OK;
}

/* ---- the pass ---- */

/* Adds names to the module's grid if it has none: "d0", "d1", ... */
static tp_status name_axes(MlirOperation op, void *data) {
  const tp_mesh *mesh = data;
  MlirStringRef symbol;
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute names[TP_MAX_AXES];
  for (int i = 0; i < mesh->n_axes; i++)
    names[i] = tp__attr_string(context, mesh->axes[i].name);
  if (tp__is_main_grid(op, &symbol) && tp__ref_is(symbol, mesh->name) &&
      mlirAttributeIsNull(tp__get(op, "tp.axes")))
    tp__set(op, "tp.axes", mlirArrayAttrGet(context, mesh->n_axes, names));
  return TP_OK;
}

static tp_status import_module(tp_importer *im) {
  MlirOperation module = im->pass->module;
  tp_mesh refined;
  /* first, because JAX annotates them by meshes that are refused, too */
  TP_TRY(tp__walk(module, check_python_call, NULL));
  TP_TRY(tp__sdy_import_mesh(im));
  TP_TRY(tp__module_mesh(module, "", &refined));
  im->mesh = refined.n_axes > 0 ? tp_mesh_parent(&refined) : refined;
  TP_TRY(tp__walk(module, import_op, im));
  TP_TRY(tp__module_mesh(module, "", &refined));
  TP_TRY(tp__sdy_finish(im, &refined));
  if (refined.n_axes > 0)
    TP_TRY(tp__walk(module, check_op, &refined));
  return refined.n_axes > 0 ? tp__walk(module, name_axes, &im->mesh) : TP_OK;
}

static tp_status run(tp_pass *pass) {
  tp_importer im = {.pass = pass};
  bool found = false;
  tp__walk(pass->module, find_foreign, &found);
  if (!found)
    return TP_OK;
  if (tp__is_local(pass->module))
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "the module is already partitioned (tp.phase = \"local\") but still has "
                     "annotations to import; run tp-import before tp-partition");
  return import_module(&im);
}

static const tp_statistic_row statistics[] = {
    [TP_IMPORT_SHARDINGS] = {"shardings", "annotations converted"},
    [TP_IMPORT_PRIORITIES] = {"priorities", "annotations whose priorities were dropped"},
    [TP_IMPORT_CLOSED] =
        {"closed",
         "annotations whose open dimensions were closed because an axis is explicitly replicated"},
    [TP_IMPORT_GROUPS] = {"groups", "sdy.sharding_group ops dropped"},
    [TP_IMPORT_FREE] = {"free",
                        "annotations on non-manual axes dropped inside manual computations"},
    [TP_IMPORT_RULES] = {"rules", "sharding rules of custom calls converted"},
};

const tp_pass_row tp__import_row = {
    .name = "tp-import",
    .summary =
        "Convert annotations of Shardy and of upstream's sharding-propagation to tp.sharding",
    .description = "Requires: nothing; sdy ops and attributes in generic form. "
                   "Establishes: sdy.mesh is a "
                   "shard.grid with tp.axes, sdy.sharding is tp.sharding, "
                   "sdy.sharding_rule of a custom call is tp.rule, sdy.sharding_constraint, "
                   "Shardy's collectives and upstream's "
                   "shard.shard are shard.shard with tp.sharding, the body of an "
                   "sdy.manual_computation stands between shard.all_slice "
                   "and "
                   "shard.all_gather; no op of the sdy dialect is left. Breaks: nothing; does "
                   "nothing on a module without "
                   "such annotations.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .takes_comparators = true,
    .run = run,
};
