/* Imports sdy.manual_computation, whose body is written for the shards of one device along its
 * manual axes.
 *
 * Its semantics are those of user communication in a global program (docs/explanation/rules.md): an
 * all_slice gives each device its own part, values computed from the parts differ between devices,
 * and an all_gather combines the parts into one value. A value that is split in several dimensions
 * has one op for each of them, and the ops stand in one region. sdy.named_computation is the same
 * without manual axes. */
#include "passes/import/import.h"

#include "ir/collectives.h"
#include "support/support.h"

#include <stdio.h>

typedef struct computation {
  int n_manual;
  MlirStringRef manual[TP_MAX_AXES];
  int n_in, n_out;
  tp_sdy_sharding in[TP_SDY_MAX_VALUES], out[TP_SDY_MAX_VALUES];
} computation;

static bool is_manual(const computation *c, MlirStringRef axis) {
  for (int i = 0; i < c->n_manual; i++)
    if (mlirStringRefEqual(c->manual[i], axis))
      return true;
  return false;
}

/* ---- reading and verifying ---- */

static tp_status check_form(MlirOperation op) {
  MlirBlock body =
      mlirOperationGetNumRegions(op) == 1 ? tp__region_block(op, 0) : (MlirBlock){NULL};
  MlirOperation end = mlirBlockIsNull(body) ? (MlirOperation){NULL} : tp__last_op(body);
  if (mlirOperationIsNull(end) || !mlirBlockIsNull(mlirBlockGetNextInRegion(body)) ||
      !tp__op_is(end, "sdy.return"))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "needs one region of one block that ends in sdy.return");
  intptr_t n_in = mlirOperationGetNumOperands(op), n_out = mlirOperationGetNumResults(op);
  if (mlirBlockGetNumArguments(body) != n_in || mlirOperationGetNumOperands(end) != n_out)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d operands and %d results, but its body takes %d values and returns %d; "
                     "the numbers must match",
                     (int)n_in, (int)n_out, (int)mlirBlockGetNumArguments(body),
                     (int)mlirOperationGetNumOperands(end));
  if (n_in > TP_SDY_MAX_VALUES || n_out > TP_SDY_MAX_VALUES)
    return tp__error(op, TP_UNSUPPORTED,
                     "has %d operands and %d results; at most %d each are supported", (int)n_in,
                     (int)n_out, TP_SDY_MAX_VALUES);
  return TP_OK;
}

static tp_status read_list(MlirOperation op, const char *name, int n, const char *values,
                           tp_sdy_sharding *shardings) {
  MlirAttribute attr = tp__property(op, name);
  for (int i = 0; i < n; i++)
    shardings[i] = (tp_sdy_sharding){0};
  return mlirAttributeIsNull(attr) && tp__op_is(op, "sdy.named_computation")
             ? TP_OK
             : tp__sdy_read_list(op, name, attr, n, values, shardings);
}

static tp_status read_computation(MlirOperation op, computation *c) {
  c->n_in = (int)mlirOperationGetNumOperands(op);
  c->n_out = (int)mlirOperationGetNumResults(op);
  c->n_manual = 0;
  tp_status status = read_list(op, "in_shardings", c->n_in, "operands", c->in);
  if (status == TP_OK)
    status = read_list(op, "out_shardings", c->n_out, "results", c->out);
  if (status == TP_OK && tp__op_is(op, "sdy.manual_computation"))
    status = tp__sdy_read_manual_axes(op, tp__property(op, "manual_axes"), &c->n_manual, c->manual);
  return status;
}

/* Checks that `inner` is the type of a shard of `outer` along the manual axes of `s`. */
static tp_status check_value(tp_importer *im, MlirOperation op, const computation *c,
                             const char *what, const tp_sdy_sharding *s, MlirType outer,
                             MlirType inner) {
  int rank = 0, inner_rank = 0;
  int64_t shape[TP_MAX_RANK], local[TP_MAX_RANK];
  bool is_tensor = tp__static_tensor(outer, &rank, shape);
  if (!is_tensor && tp__is_tensor(outer))
    return tp__error(op, TP_UNSUPPORTED,
                     "%s is a tensor without static shape; make all shapes static before sharding",
                     what);
  tp_status status = s->mesh.length == 0 ? TP_OK : tp__sdy_check_sharding(im, op, what, rank, s);
  if (status == TP_OK)
    status = tp__sdy_check_free(im, op, what, s);
  for (int i = 0; i < s->n_axes && status == TP_OK; i++) {
    const tp_sdy_axis *axis = &s->axes[i];
    char name[TP_MAX_AXIS_NAME];
    int first;
    if (!is_manual(c, axis->name))
      continue;
    if (axis->pre != 0 || axis->place == TP_SDY_UNREDUCED)
      return tp__error(op, TP_UNSUPPORTED,
                       "%s: manual axis \"%.*s\" is %s; at the boundary of a manual computation "
                       "manual axes must be whole, and values must be reduced",
                       what, (int)axis->name.length, axis->name.data,
                       axis->pre != 0 ? "split into sub-axes" : "unreduced");
    if (axis->place < 0 || !tp__ref_copy(axis->name, name, sizeof name) ||
        tp_mesh_find(&im->mesh, name, 0, 0, &first) == 0)
      continue;
    int64_t size = im->mesh.axes[first].size, *extent = &shape[axis->place];
    if (*extent % size != 0)
      return tp__error(op, TP_UNSUPPORTED,
                       "%s: manual axis \"%s\" (%lld) does not divide dimension %d (size %lld of a "
                       "shard); pad it outside of the "
                       "manual computation",
                       what, name, (long long)size, axis->place, (long long)*extent);
    *extent /= size;
  }
  bool same = is_tensor ? tp__static_tensor(inner, &inner_rank, local) && inner_rank == rank &&
                              mlirTypeEqual(tp__element_type(inner), tp__element_type(outer))
                        : mlirTypeEqual(inner, outer);
  for (int d = 0; d < rank && same; d++)
    same = local[d] == shape[d];
  return status != TP_OK || same
             ? status
             : tp__error(
                   op, TP_INVALID_ARGUMENT,
                   "%s: its type in the body is not the type of a shard along the manual axes",
                   what);
}

static tp_status check_values(tp_importer *im, MlirOperation op, const computation *c) {
  MlirBlock body = tp__region_block(op, 0);
  MlirOperation end = tp__last_op(body);
  char what[32];
  tp_status status = TP_OK;
  for (int i = 0; i < c->n_in && status == TP_OK; i++) {
    snprintf(what, sizeof what, "operand %d", i);
    status =
        check_value(im, op, c, what, &c->in[i], mlirValueGetType(mlirOperationGetOperand(op, i)),
                    mlirValueGetType(mlirBlockGetArgument(body, i)));
  }
  for (int i = 0; i < c->n_out && status == TP_OK; i++) {
    snprintf(what, sizeof what, "result %d", i);
    status =
        check_value(im, op, c, what, &c->out[i], mlirValueGetType(mlirOperationGetResult(op, i)),
                    mlirValueGetType(mlirOperationGetOperand(end, i)));
  }
  return status;
}

tp_status tp__sdy_check_computation(tp_importer *im, MlirOperation op) {
  computation *c = tp__calloc(1, sizeof *c);
  if (!c)
    return tp__out_of_memory(op);
  tp_status status = check_form(op);
  if (status == TP_OK)
    status = read_computation(op, c);
  for (int i = 0; i < c->n_manual && status == TP_OK; i++) {
    char name[TP_MAX_AXIS_NAME], mesh[256];
    int first;
    tp__mesh_text(&im->mesh, mesh, sizeof mesh);
    if (!tp__ref_copy(c->manual[i], name, sizeof name) ||
        tp_mesh_find(&im->mesh, name, 0, 0, &first) == 0)
      status = tp__error(op, TP_NOT_FOUND,
                         "manual_axes names axis \"%.*s\", which mesh %s does not have",
                         (int)c->manual[i].length, c->manual[i].data, mesh);
  }
  if (status == TP_OK)
    status = check_values(im, op, c);
  tp__free(c);
  return status;
}

/* ---- annotations in the body ---- */

static MlirOperation enclosing(MlirOperation op) {
  do
    op = mlirOperationGetParentOperation(op);
  while (!mlirOperationIsNull(op) && !tp__op_is(op, "sdy.manual_computation"));
  return op;
}

bool tp__sdy_is_manual(MlirOperation op) { return !mlirOperationIsNull(enclosing(op)); }

tp_status tp__sdy_check_free(tp_importer *im, MlirOperation op, const char *what,
                             const tp_sdy_sharding *s) {
  (void)im;
  for (MlirOperation around = enclosing(op); !mlirOperationIsNull(around);
       around = enclosing(around)) {
    computation c = {0};
    TP_TRY(tp__sdy_read_manual_axes(around, tp__property(around, "manual_axes"), &c.n_manual,
                                    c.manual));
    for (int i = 0; i < s->n_axes; i++)
      if (is_manual(&c, s->axes[i].name))
        return tp__error(op, TP_INVALID_ARGUMENT,
                         "%s: sdy.sharding uses axis \"%.*s\", which is manual here; the value is "
                         "a shard along it already",
                         what, (int)s->axes[i].name.length, s->axes[i].name.data);
  }
  return TP_OK;
}

/* ---- replacing ---- */

/* The axes of the mesh by which a sharding splits dimension `dim` at the border. Returns their
 * number. Capacity: TP_MAX_AXES. */
static int axes_of_dim(const tp_mesh *mesh, const computation *c, const tp_sdy_sharding *s, int dim,
                       int *axes) {
  int n = 0;
  for (int i = 0; i < s->n_axes; i++) {
    char name[TP_MAX_AXIS_NAME];
    int first;
    if (s->axes[i].place != dim || !is_manual(c, s->axes[i].name) ||
        !tp__ref_copy(s->axes[i].name, name, sizeof name))
      continue;
    int count = tp_mesh_find(mesh, name, 0, 0, &first);
    for (int k = 0; k < count && n < TP_MAX_AXES; k++)
      axes[n++] = first + k;
  }
  return n;
}

/* Moves two or more ops that follow each other into a region, whose result is theirs: the border is
 * one op (lib/rules/border.h). */
static MlirValue enclose(MlirOperation where, int n, MlirOperation *steps) {
  MlirContext context = mlirOperationGetContext(where);
  MlirValue value = mlirOperationGetResult(steps[n - 1], 0);
  MlirType type = mlirValueGetType(value);
  MlirLocation location = mlirOperationGetLocation(where);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  for (int i = 0; i < n; i++)
    mlirBlockAppendOwnedOperation(block, steps[i]);
  mlirBlockAppendOwnedOperation(
      block, tp__create(&(tp_build){
                 .name = "scf.yield", .location = location, .n_operands = 1, .operands = &value}));
  MlirNamedAttribute no_inline = tp__named(context, "no_inline", mlirUnitAttrGet(context));
  MlirOperation region = tp__create(&(tp_build){.name = "scf.execute_region",
                                                .location = location,
                                                .n_results = 1,
                                                .results = &type,
                                                .n_attributes = 1,
                                                .attributes = &no_inline,
                                                .n_regions = 1});
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(region, 0), block);
  tp__insert_before(where, region);
  return mlirOperationGetResult(region, 0);
}

static MlirValue move_dims(MlirOperation where, const tp_mesh *mesh, const computation *c,
                           bool slice, const tp_sdy_sharding *s, MlirValue value) {
  MlirOperation steps[TP_MAX_RANK];
  int n_steps = 0;
  for (int d = 0; d < s->rank; d++) {
    int axes[TP_MAX_AXES], n = axes_of_dim(mesh, c, s, d, axes);
    if (n == 0)
      continue;
    steps[n_steps] =
        tp__create_border(mlirOperationGetLocation(where), mesh, slice, value, d, n, axes);
    value = mlirOperationGetResult(steps[n_steps++], 0);
  }
  if (n_steps > 1)
    return enclose(where, n_steps, steps);
  if (n_steps == 1)
    tp__insert_before(where, steps[0]);
  return value;
}

tp_status tp__sdy_replace_computation(tp_importer *im, const tp_mesh *refined, MlirOperation op) {
  computation *c = tp__calloc(1, sizeof *c);
  if (!c)
    return tp__out_of_memory(op);
  tp_status status = read_computation(op, c);
  MlirBlock body = tp__region_block(op, 0);
  MlirOperation end = tp__last_op(body), next;
  for (int i = 0; i < c->n_in && status == TP_OK; i++)
    mlirValueReplaceAllUsesOfWith(
        mlirBlockGetArgument(body, i),
        move_dims(op, refined, c, true, &c->in[i], mlirOperationGetOperand(op, i)));
  for (MlirOperation inner = mlirBlockGetFirstOperation(body);
       status == TP_OK && !mlirOperationEqual(inner, end); inner = next) {
    next = mlirOperationGetNextInBlock(inner);
    mlirOperationMoveBefore(inner, op);
  }
  for (int i = 0; i < c->n_out && status == TP_OK; i++)
    mlirValueReplaceAllUsesOfWith(
        mlirOperationGetResult(op, i),
        move_dims(op, refined, c, false, &c->out[i], mlirOperationGetOperand(end, i)));
  if (status == TP_OK)
    mlirOperationDestroy(op);
  im->pass->statistics[TP_IMPORT_SHARDINGS] += c->n_in + c->n_out;
  tp__free(c);
  return status;
}
