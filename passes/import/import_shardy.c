/* Imports Shardy's annotations: sdy.mesh ops, sdy.sharding attributes, and the ops that carry a
 * sharding. */
#include "passes/import/import.h"

#include "ir/collectives.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

static MlirOperation first_op(tp_importer *im) {
  return mlirBlockGetFirstOperation(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(im->pass->module, 0)));
}

/* ---- meshes ---- */

static tp_status mesh_of(MlirOperation op, char *symbol, tp_sdy_mesh *mesh) {
  MlirAttribute name = tp__property(op, "sym_name");
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name) ||
      !tp__ref_copy(mlirStringAttrGetValue(name), symbol, TP_MAX_AXIS_NAME))
    return tp__error(op, TP_INVALID_ARGUMENT, "sym_name must be a string of at most %d bytes",
                     TP_MAX_AXIS_NAME - 1);
  return tp__sdy_read_mesh(op, tp__property(op, "mesh"), mesh);
}

static tp_status create_mesh(MlirOperation op, const char *symbol, const tp_sdy_mesh *from,
                             tp_mesh *mesh) {
  const char *names[TP_MAX_AXES];
  for (int i = 0; i < from->n; i++)
    names[i] = from->names[i];
  TP_TRY(tp__mesh_of_axes(op, symbol, from->n, names, from->sizes, mesh));
  if (from->n_devices > 0 && from->n_devices != tp_mesh_size(mesh))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "device_ids has %lld entries, but the mesh has %lld devices",
                     (long long)from->n_devices, (long long)tp_mesh_size(mesh));
  return TP_OK;
}

/* Refuses an sdy.mesh that cannot be read or is not supported, even if nothing names it. */
static tp_status check_mesh(MlirOperation op, char *symbol, tp_sdy_mesh *mesh) {
  *mesh = (tp_sdy_mesh){0};
  TP_TRY(mesh_of(op, symbol, mesh));
  if (mesh->n == 0 && mesh->n_devices > 0)
    return tp__error(op, TP_UNSUPPORTED,
                     "@%s is a maximal mesh (values on a single device), which is not supported; "
                     "replicate the values on a mesh with axes instead",
                     symbol);
  return TP_OK;
}

/* A tp__mesh_reader: grids, and the sdy.mesh ops with axes. Values annotated with an empty mesh are
 * replicated. The ops were checked. */
static bool is_mesh(MlirOperation op, MlirStringRef *symbol) {
  char text[TP_MAX_AXIS_NAME];
  tp_sdy_mesh mesh;
  if (!tp__op_is(op, "sdy.mesh"))
    return tp__is_main_grid(op, symbol);
  if (check_mesh(op, text, &mesh) != TP_OK || mesh.n == 0)
    return false;
  *symbol = mlirStringAttrGetValue(tp__property(op, "sym_name"));
  return true;
}

tp_status tp__sdy_import_mesh(tp_importer *im) {
  char symbol[TP_MAX_AXIS_NAME];
  tp_sdy_mesh read;
  tp_mesh mesh;
  MlirOperation chosen;
  for (MlirOperation op = first_op(im); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "sdy.mesh"))
      TP_TRY(check_mesh(op, symbol, &read));
  TP_TRY(tp__choose_mesh(im->pass->module, is_mesh, &chosen));
  if (mlirOperationIsNull(chosen) || !tp__op_is(chosen, "sdy.mesh"))
    return TP_OK;
  TP_TRY(check_mesh(chosen, symbol, &read));
  if (read.wrong >= 0)
    return tp__error(chosen, TP_UNSUPPORTED,
                     "@%s has an unsupported device order in device_ids: entry %lld is device "
                     "%lld; remove device_ids and place the ranks in the order of the mesh",
                     symbol, (long long)read.wrong, (long long)read.wrong_id);
  TP_TRY(create_mesh(chosen, symbol, &read, &mesh));
  tp__write_grids(im->pass->module, &mesh);
  return TP_OK;
}

/* True if there is an sdy.mesh of that name, which an annotation uses. It has no axes, otherwise it
 * would be the module's mesh. */
static bool is_empty_mesh(tp_importer *im, MlirStringRef symbol) {
  for (MlirOperation op = first_op(im); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!tp__op_is(op, "sdy.mesh"))
      continue;
    MlirAttribute name = tp__property(op, "sym_name");
    if (!mlirAttributeIsNull(name) && mlirAttributeIsAString(name) &&
        mlirStringRefEqual(mlirStringAttrGetValue(name), symbol))
      return true;
  }
  return false;
}

/* ---- one sharding ---- */

static int axis_text(const tp_sdy_axis *axis, char *text, size_t size) {
  if (axis->pre == 0)
    return snprintf(text, size, "%.*s", (int)axis->name.length, axis->name.data);
  return snprintf(text, size, "%.*s:(%lld)%lld", (int)axis->name.length, axis->name.data,
                  (long long)axis->pre, (long long)axis->size);
}

static bool overlap(const tp_sdy_axis *a, const tp_sdy_axis *b) {
  if (!mlirStringRefEqual(a->name, b->name))
    return false;
  return a->pre == 0 || b->pre == 0 || (a->pre < b->pre * b->size && b->pre < a->pre * a->size);
}

/* Checks that every axis exists and is used only once. */
static tp_status check_axes(tp_importer *im, MlirOperation at, const char *what,
                            const tp_sdy_sharding *s, bool empty_mesh) {
  for (int i = 0; i < s->n_axes; i++) {
    const tp_sdy_axis *axis = &s->axes[i];
    char name[TP_MAX_AXIS_NAME], mesh[256];
    int first;
    if (empty_mesh)
      return tp__error(at, TP_NOT_FOUND,
                       "%s: sdy.sharding names axis \"%.*s\", but mesh @%.*s has no axes", what,
                       (int)axis->name.length, axis->name.data, (int)s->mesh.length, s->mesh.data);
    tp__mesh_text(&im->mesh, mesh, sizeof mesh);
    if (!tp__ref_copy(axis->name, name, sizeof name) ||
        tp_mesh_find(&im->mesh, name, 0, 0, &first) == 0)
      return tp__error(at, TP_NOT_FOUND,
                       "%s: sdy.sharding names axis \"%.*s\", which mesh %s does not have", what,
                       (int)axis->name.length, axis->name.data, mesh);
    for (int k = 0; k < i; k++)
      if (overlap(axis, &s->axes[k]))
        return tp__error(at, TP_INVALID_ARGUMENT,
                         "%s: sdy.sharding uses axis \"%s\" twice; an axis may be used once", what,
                         name);
  }
  return TP_OK;
}

/* The open dimensions. tp.sharding cannot express "open, but not for this axis", so if an axis is
 * explicitly replicated, open dimensions are closed. */
static uint32_t open_dims(tp_importer *im, const tp_sdy_sharding *s) {
  for (int i = 0; i < s->n_axes && s->open != 0; i++)
    if (s->axes[i].place == TP_SDY_REPLICATED) {
      im->pass->statistics[TP_IMPORT_CLOSED]++;
      return 0;
    }
  return s->open;
}

static MlirAttribute sharding_attr(tp_importer *im, const tp_sdy_sharding *s) {
  MlirContext context = im->pass->context;
  MlirAttribute dims[TP_MAX_RANK], tokens[TP_SDY_MAX_AXES + 1];
  MlirNamedAttribute partial[TP_SDY_MAX_AXES];
  uint32_t open = open_dims(im, s);
  int n_partial = 0;
  for (int d = 0; d < s->rank; d++) {
    int n = 0;
    for (int i = 0; i < s->n_axes; i++) {
      char text[3 * TP_MAX_AXIS_NAME];
      axis_text(&s->axes[i], text, sizeof text);
      if (s->axes[i].place == d)
        tokens[n++] = tp__attr_string(context, text);
    }
    if (open >> d & 1)
      tokens[n++] = tp__attr_string(context, "?");
    dims[d] = mlirArrayAttrGet(context, n, tokens);
  }
  for (int i = 0; i < s->n_axes; i++) {
    char text[3 * TP_MAX_AXIS_NAME];
    axis_text(&s->axes[i], text, sizeof text);
    if (s->axes[i].place == TP_SDY_UNREDUCED)
      partial[n_partial++] = tp__named(context, text, tp__attr_string(context, "sum"));
  }
  MlirAttribute list = mlirArrayAttrGet(context, s->rank, dims);
  if (n_partial == 0)
    return list;
  return mlirDictionaryAttrGet(
      context, 2,
      (MlirNamedAttribute[]){
          tp__named(context, "dims", list),
          tp__named(context, "partial", mlirDictionaryAttrGet(context, n_partial, partial))});
}

tp_status tp__sdy_check_sharding(tp_importer *im, MlirOperation at, const char *what, int rank,
                                 const tp_sdy_sharding *s) {
  bool empty = is_empty_mesh(im, s->mesh);
  if (!empty && (im->mesh.n_axes == 0 || !tp__ref_is(s->mesh, im->mesh.name)))
    return tp__error(at, TP_NOT_FOUND,
                     "%s: sdy.sharding names mesh @%.*s, which the module does not have", what,
                     (int)s->mesh.length, s->mesh.data);
  TP_TRY(check_axes(im, at, what, s, empty && !tp__ref_is(s->mesh, im->mesh.name)));
  if (s->rank != rank)
    return tp__error(at, TP_INVALID_ARGUMENT,
                     "%s: sdy.sharding has %d dimensions, but the value has %d", what, s->rank,
                     rank);
  return TP_OK;
}

/* True if all dimensions are open and no axis is named: JAX writes this behind many ops of a
 * shard_map over a part of the axes, and in the functions that it calls. */
static bool is_empty_statement(const tp_sdy_sharding *s) {
  return s->n_axes == 0 && s->open == (1u << s->rank) - 1;
}

/* Converts to the tp.sharding of a value of type `type`. The result is null if there is nothing to
 * state: without a mesh, for a value that is not a tensor, or in a manual computation, whose values
 * differ between devices and cannot be sharded. */
static tp_status convert(tp_importer *im, MlirOperation at, const char *what, MlirType type,
                         const tp_sdy_sharding *s, MlirAttribute *attr) {
  *attr = (MlirAttribute){NULL};
  bool is_tensor = mlirTypeIsARankedTensor(type);
  tp_status status =
      tp__sdy_check_sharding(im, at, what, is_tensor ? (int)mlirShapedTypeGetRank(type) : 0, s);
  if (status != TP_OK)
    return status;
  if (tp__sdy_is_manual(at)) {
    im->pass->statistics[TP_IMPORT_FREE]++;
    return tp__sdy_check_free(im, at, what, s);
  }
  if (s->has_priority)
    im->pass->statistics[TP_IMPORT_PRIORITIES]++;
  im->pass->statistics[TP_IMPORT_SHARDINGS]++;
  if (is_tensor && im->mesh.n_axes > 0)
    *attr = sharding_attr(im, s);
  return TP_OK;
}

/* ---- attributes ---- */

static tp_status refuse_both(MlirOperation at, const char *what) {
  return tp__error(at, TP_INVALID_ARGUMENT, "%s has sdy.sharding and also tp.sharding; keep one",
                   what);
}

tp_status tp__sdy_boundary(tp_importer *im, MlirOperation func, bool is_arg, int i, MlirType type,
                           MlirAttribute *attr) {
  MlirAttribute text = (is_arg ? tp__arg_attr : tp__result_attr)(func, i, "sdy.sharding");
  char what[32];
  tp_sdy_sharding sharding;
  *attr = (MlirAttribute){NULL};
  if (mlirAttributeIsNull(text))
    return TP_OK;
  snprintf(what, sizeof what, "%s %d", is_arg ? "argument" : "result", i);
  if (!mlirAttributeIsNull((is_arg ? tp__arg_attr : tp__result_attr)(func, i, "tp.sharding")))
    return refuse_both(func, what);
  TP_TRY(tp__sdy_read_sharding(func, what, text, &sharding));
  return convert(im, func, what, type, &sharding, attr);
}

static tp_status import_results(tp_importer *im, MlirOperation op, MlirAttribute text) {
  tp_sdy_sharding shardings[TP_SDY_MAX_VALUES];
  MlirAttribute attrs[TP_SDY_MAX_VALUES];
  int n = (int)mlirOperationGetNumResults(op), n_tensors = 0;
  if (!mlirAttributeIsNull(tp__get(op, "tp.sharding")))
    return refuse_both(op, "the op");
  if (n > TP_SDY_MAX_VALUES)
    return tp__error(op, TP_UNSUPPORTED,
                     "sdy.sharding on an op with %d results; at most %d are supported", n,
                     TP_SDY_MAX_VALUES);
  tp_status status = tp__sdy_read_list(op, "sdy.sharding", text, n, "results", shardings);
  for (int i = 0; i < n && status == TP_OK; i++) {
    char what[32];
    snprintf(what, sizeof what, "result %d", i);
    status = convert(im, op, what, mlirValueGetType(mlirOperationGetResult(op, i)), &shardings[i],
                     &attrs[i]);
    n_tensors += status == TP_OK && !mlirAttributeIsNull(attrs[i]);
    if (status == TP_OK && mlirAttributeIsNull(attrs[i]))
      /* not a tensor, but the list needs an entry */
      attrs[i] = mlirArrayAttrGet(im->pass->context, 0, NULL);
  }
  if (status != TP_OK)
    return status;
  tp__remove(op, "sdy.sharding");
  if (n_tensors > 0)
    tp__set(op, "tp.sharding", n == 1 ? attrs[0] : mlirArrayAttrGet(im->pass->context, n, attrs));
  return TP_OK;
}

/* ---- ops ---- */

typedef enum sdy_action { CONSTRAIN, FORWARD, GROUP, MESH, COMPUTATION, RETURN } sdy_action;

typedef struct sdy_row {
  const char *name;
  sdy_action action;
  int n_operands, n_results;
  const char *sharding; /* name of the attribute with the layout */
} sdy_row;

/* Shardy's collectives describe how a layout changes, not a computation: operand and result are the
 * same global value. */
static const sdy_row *row_of(MlirOperation op) {
  static const sdy_row rows[] = {
      {"sdy.sharding_constraint", CONSTRAIN, 1, 1, "sharding"},
      {"sdy.reshard", CONSTRAIN, 1, 1, "sharding"},
      {"sdy.all_gather", CONSTRAIN, 1, 1, "out_sharding"},
      {"sdy.all_slice", CONSTRAIN, 1, 1, "out_sharding"},
      {"sdy.all_to_all", CONSTRAIN, 1, 1, "out_sharding"},
      {"sdy.collective_permute", CONSTRAIN, 1, 1, "out_sharding"},
      {"sdy.all_reduce", CONSTRAIN, 1, 1, "out_sharding"},
      {"sdy.reduce_scatter", CONSTRAIN, 1, 1, "out_sharding"},
      {"sdy.propagation_barrier", FORWARD, 1, 1, NULL},
      {"sdy.sharding_group", GROUP, 1, 0, NULL},
      {"sdy.mesh", MESH, 0, 0, NULL},
      {"sdy.manual_computation", COMPUTATION, 0, 0, NULL},
      {"sdy.named_computation", COMPUTATION, 0, 0, NULL},
      {"sdy.return", RETURN, 0, 0, NULL},
  };
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].name))
      return &rows[i];
  return NULL;
}

static tp_status import_constraint(tp_importer *im, MlirOperation op, const char *name) {
  tp_sdy_sharding sharding;
  MlirAttribute attr;
  tp_status status = tp__sdy_read_sharding(op, name, tp__property(op, name), &sharding);
  if (status == TP_OK)
    status =
        convert(im, op, name, mlirValueGetType(mlirOperationGetResult(op, 0)), &sharding, &attr);
  if (status == TP_OK && !mlirAttributeIsNull(attr) && !is_empty_statement(&sharding))
    tp__set(op, "tp.sharding", attr);
  return status;
}

/* Verifies the form of the op, because MLIR cannot: its dialect is not registered. */
static tp_status check_form(tp_importer *im, MlirOperation op, int n_operands, int n_results,
                            bool on_top) {
  intptr_t operands = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
  if (operands != n_operands || results != n_results || mlirOperationGetNumRegions(op) != 0)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d operands, %d results and %d regions, but takes %d, %d and none",
                     (int)operands, (int)results, (int)mlirOperationGetNumRegions(op), n_operands,
                     n_results);
  if (results == 1 && !mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(op, 0)),
                                     mlirValueGetType(mlirOperationGetResult(op, 0))))
    return tp__error(op, TP_INVALID_ARGUMENT, "the result has another type than the operand");
  if (!mlirAttributeIsNull(tp__get(op, "sdy.sharding")))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has an sdy.sharding, which is only allowed on ops that compute a value");
  if (on_top && !mlirOperationEqual(mlirOperationGetParentOperation(op), im->pass->module))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "is nested in another op; a mesh must be at module level");
  return TP_OK;
}

tp_status tp__sdy_import_op(tp_importer *im, MlirOperation op) {
  MlirAttribute text = tp__get(op, "sdy.sharding");
  TP_TRY(tp__sdy_import_rule(im, op));
  if (!tp__op_has_dialect(op, "sdy"))
    return mlirAttributeIsNull(text) ? TP_OK : import_results(im, op, text);
  const sdy_row *row = row_of(op);
  if (!row)
    return tp__error(
        op, TP_UNSUPPORTED,
        "is not supported; the supported Shardy ops are mesh, sharding_constraint, reshard, the "
        "collectives, manual_computation, propagation_barrier and sharding_group");
  if (row->action == COMPUTATION)
    return tp__sdy_check_computation(im, op);
  if (row->action == RETURN) {
    const sdy_row *parent = row_of(mlirOperationGetParentOperation(op));
    return parent && parent->action == COMPUTATION
               ? TP_OK
               : tp__error(op, TP_INVALID_ARGUMENT,
                           "must end an sdy.manual_computation or sdy.named_computation");
  }
  TP_TRY(check_form(im, op, row->n_operands, row->n_results, row->action == MESH));
  return row->action == CONSTRAIN ? import_constraint(im, op, row->sharding) : TP_OK;
}

/* ---- replacing ops ---- */

/* Collects the ops to replace. An sdy.return is erased with the computation it ends. */
static tp_status collect(MlirOperation op, void *data) {
  return tp__op_has_dialect(op, "sdy") && row_of(op)->action != RETURN ? tp__op_list_add(data, op)
                                                                       : TP_OK;
}

static tp_status replace(tp_importer *im, const tp_mesh *refined, MlirOperation op) {
  if (row_of(op)->action == COMPUTATION)
    return tp__sdy_replace_computation(im, refined, op);
  if (mlirOperationGetNumResults(op) == 1) {
    MlirValue value = mlirOperationGetOperand(op, 0);
    tp_annotation annotation;
    bool present;
    TP_TRY(tp__op_sharding(op, 0, refined, &annotation, &present));
    if (present)
      value = tp__build_reshard(op, mlirOperationGetLocation(op), value, refined, annotation);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), value);
  } else if (row_of(op)->action == GROUP) {
    im->pass->statistics[TP_IMPORT_GROUPS]++;
  }
  mlirOperationDestroy(op);
  return TP_OK;
}

tp_status tp__sdy_finish(tp_importer *im, const tp_mesh *refined) {
  tp_op_list list = {0};
  tp_status status = tp__walk(im->pass->module, collect, &list);
  /* a computation comes before the ops in it */
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    status = replace(im, refined, list.items[i]);
  tp__free(list.items);
  return status;
}
