/* tp-normalize: reads and verifies every annotation and writes it back in canonical form. */
#include "passes/registry.h"

#include "ir/annotation.h"
#include "rules/rule.h"

#include <stdio.h>

static tp_status normalize_value(tp_boundary *boundary, int i, MlirType type, const tp_mesh *mesh) {
  MlirOperation func = boundary->func;
  bool is_arg = boundary->is_args;
  MlirAttribute attr =
      is_arg ? tp__arg_attr(func, i, "tp.sharding") : tp__result_attr(func, i, "tp.sharding");
  if (mlirAttributeIsNull(attr))
    return TP_OK;
  char what[32];
  snprintf(what, sizeof what, "%s %d", is_arg ? "argument" : "result", i);
  if (!mlirTypeIsARankedTensor(type))
    return tp__error(func, TP_INVALID_ARGUMENT, "%s has tp.sharding, but is not a ranked tensor",
                     what);
  int rank = (int)mlirShapedTypeGetRank(type);
  tp_annotation annotation;
  TP_TRY(tp__read_sharding(func, what, attr, mesh, type, &annotation));
  tp__boundary_set(boundary, i, "tp.sharding",
                   tp__write_sharding(mlirOperationGetContext(func), mesh, rank, annotation));
  return TP_OK;
}

static tp_status normalize_boundary(MlirOperation func, bool is_args, const tp_mesh *mesh) {
  MlirType type = tp__func_type(func);
  tp_boundary boundary;
  tp_status status = tp__boundary_begin(func, is_args, &boundary);
  if (status != TP_OK)
    return tp__out_of_memory(func);
  for (int i = 0; i < boundary.n && status == TP_OK; i++)
    status = normalize_value(
        &boundary, i,
        is_args ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i), mesh);
  tp__boundary_end(&boundary);
  return status;
}

/* Checks the text of a user-defined rule (tp.rule) and that it fits the op. A rule on a declaration
 * is checked at its calls. */
static tp_status check_rule(MlirOperation op) {
  bool is_func = tp__op_is(op, "func.func"),
       has_rule = !mlirAttributeIsNull(tp__get(op, "tp.rule"));
  MlirOperation called = tp__declaration(op);
  tp_rule rule;
  tp__arena arena = {0};
  TP_TRY(tp__check_rule_place(op));
  if (!mlirOperationIsNull(called))
    has_rule |= !mlirAttributeIsNull(tp__get(called, "tp.rule"));
  tp_status status = has_rule && !is_func ? tp__rule_of(op, false, &arena, &rule) : TP_OK;
  tp__arena_destroy(&arena);
  return status;
}

static tp_status normalize_op(MlirOperation op, void *data) {
  const tp_mesh *mesh = data;
  tp_status status = tp__check_plan_attributes(op, mesh);
  if (status == TP_OK)
    status = check_rule(op);
  if (status != TP_OK)
    return status;
  if (tp__op_is(op, "func.func")) {
    status = normalize_boundary(op, true, mesh);
    return status == TP_OK ? normalize_boundary(op, false, mesh) : status;
  }
  int n = (int)mlirOperationGetNumResults(op);
  if (mlirAttributeIsNull(tp__get(op, "tp.sharding")))
    return TP_OK;
  if (n == 0)
    return tp__error(op, TP_INVALID_ARGUMENT, "tp.sharding on an op without results");
  tp_annotation *annotations = tp__calloc((size_t)n, sizeof *annotations);
  if (!annotations)
    return tp__out_of_memory(op);
  bool all = true;
  for (int i = 0; i < n && status == TP_OK; i++) {
    bool present;
    status = tp__op_sharding(op, i, mesh, &annotations[i], &present);
    all &= present;
  }
  if (status == TP_OK && all)
    status = tp__set_op_sharding(op, mesh, n, annotations);
  tp__free(annotations);
  return status;
}

typedef struct settings {
  const char *mesh;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  tp_mesh mesh;
  TP_TRY(tp__check_attribute_names(pass->module));
  TP_TRY(tp__check_phase(pass->module));
  TP_TRY(tp__module_mesh(pass->module, given->mesh, &mesh));
  TP_TRY(tp__walk(pass->module, normalize_op, &mesh));
  if (mesh.n_axes > 0)
    tp__write_grids(pass->module, &mesh);
  return TP_OK;
}

static const tp_option_row options[] = {
    {"mesh", "", "sizes of the mesh, e.g. dp=2,tp=4; overrides the module's grid",
     TP_TEXT(settings, mesh, "SIZES")},
};

const tp_pass_row tp__normalize_row = {
    .name = "tp-normalize",
    .summary = "Verify all sharding annotations and print them canonically",
    .description = "Requires: nothing. Establishes: every tp.sharding is valid for its value and "
                   "the mesh and is in canonical "
                   "form; every tp.rule "
                   "can be read and fits its op; "
                   "the grids of the module are @mesh and, where sub-axes are used, @mesh.sub. "
                   "Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .run = run,
};
