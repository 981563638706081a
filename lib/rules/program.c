#include "rules/program.h"

#include <stdio.h>

static MlirType func_type(MlirOperation func) { return mlirTypeAttrGetValue(tp__inherent(func, "function_type")); }

/* Ops that make the attribute value of a shard.shard; they have no tensors and vanish when partitioned. */
static bool is_layout_value(MlirOperation op) { return tp__op_is(op, "shard.sharding"); }

static tp_status read_item(MlirOperation op, bool unknown_replicate, tp__arena *arena, tp_item *item) {
  item->op = op;
  if (tp__op_is(op, "func.return")) {
    item->kind = TP_ITEM_RETURN;
    return TP_OK;
  }
  if (tp__op_is(op, "shard.shard")) {
    item->kind = TP_ITEM_LAYOUT;
    return TP_OK;
  }
  if (tp__op_has_dialect(op, "shard"))
    return tp__error(op, TP_UNSUPPORTED,
                     "a collective written by hand cannot be planned around yet; remove it and state the layout with "
                     "tp.sharding or shard.shard");
  item->kind = TP_ITEM_OP;
  item->rule = tp__arena_alloc(arena, sizeof *item->rule);
  if (!item->rule)
    return tp__error(op, TP_NO_MEMORY, "out of memory");
  return tp__rule_of(op, unknown_replicate, arena, item->rule);
}

tp_status tp__program_read(MlirOperation func, const tp_mesh *mesh, bool unknown_replicate, tp__arena *arena,
                           tp_program *program) {
  MlirRegion region = mlirOperationGetRegion(func, 0);
  MlirBlock block = mlirRegionGetFirstBlock(region);
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tp__error(func, TP_UNSUPPORTED, "has several blocks; sharding needs structured control flow (scf) or a straight line");
  int n = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    n++;
  program->func = func;
  program->mesh = mesh;
  program->n_args = (int)mlirFunctionTypeGetNumInputs(func_type(func));
  program->n_results = (int)mlirFunctionTypeGetNumResults(func_type(func));
  program->n_items = 0;
  program->items = tp__arena_array(arena, (size_t)n + 1, sizeof *program->items);
  if (!program->items)
    return tp__error(func, TP_NO_MEMORY, "out of memory");
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (is_layout_value(op) || (!tp__op_has_tensors(op) && !tp__op_is(op, "func.return")))
      continue;
    tp_status status = read_item(op, unknown_replicate, arena, &program->items[program->n_items++]);
    if (status != TP_OK)
      return status;
  }
  return TP_OK;
}

/* ---- annotations ---- */

/* Axes of size 1 split nothing; without them equal layouts are equal specs. */
static void drop_trivial_axes(const tp_mesh *mesh, tp_spec *spec) {
  for (int a = 0; a < mesh->n_axes; a++)
    if (mesh->axes[a].size == 1)
      tp_spec_clear(spec, a);
}

tp_status tp__check_divides(MlirOperation at, const char *what, const tp_mesh *mesh, tp_spec spec, MlirType type) {
  for (int d = 0; d < mlirShapedTypeGetRank(type); d++) {
    int axes[TP_MAX_AXES];
    int n = tp_spec_dim_axes(mesh, spec, d, axes);
    int64_t size = mlirShapedTypeGetDimSize(type, d), shards = tp_spec_dim_shards(mesh, spec, d);
    if (size % shards == 0)
      continue;
    char name[8 * TP_MAX_AXIS_NAME] = "";
    size_t used = 0;
    for (int i = 0; i < n && used < sizeof name;) {
      char axis[2 * TP_MAX_AXIS_NAME];
      int run = tp__joined_axes(mesh, n - i, axes + i);
      tp_mesh_axis_text(mesh, axes[i], run, axis, sizeof axis);
      used += (size_t)snprintf(name + used, sizeof name - used, "%s\"%s\"", i ? " and " : "", axis);
      i += run;
    }
    return tp__error(at, TP_UNSUPPORTED,
                     "%s: axis %s (%lld) does not divide dimension %d (size %lld); pad the dimension, use a mesh that divides "
                     "it, or leave it replicated",
                     what, name, (long long)shards, d, (long long)size);
  }
  return TP_OK;
}

static tp_status read_boundary(const tp_program *program, bool is_arg, int i, tp_annotation *annotation, bool *present) {
  char what[32];
  MlirType type = is_arg ? mlirFunctionTypeGetInput(func_type(program->func), i)
                         : mlirFunctionTypeGetResult(func_type(program->func), i);
  MlirAttribute attr = is_arg ? tp__arg_attr(program->func, i, "tp.sharding") : tp__result_attr(program->func, i, "tp.sharding");
  *present = !mlirAttributeIsNull(attr);
  if (!*present)
    return TP_OK;
  snprintf(what, sizeof what, "%s %d", is_arg ? "argument" : "result", i);
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (!tp__static_tensor(type, &rank, shape))
    return tp__error(program->func, TP_INVALID_ARGUMENT, "%s has tp.sharding, but is not a tensor of static shape", what);
  tp_status status = tp__read_sharding(program->func, what, attr, program->mesh, rank, annotation);
  if (status != TP_OK)
    return status;
  drop_trivial_axes(program->mesh, &annotation->spec);
  return tp__check_divides(program->func, what, program->mesh, annotation->spec, type);
}

tp_status tp__program_arg(const tp_program *program, int i, tp_annotation *annotation, bool *present) {
  return read_boundary(program, true, i, annotation, present);
}

tp_status tp__program_result(const tp_program *program, int i, tp_annotation *annotation, bool *present) {
  return read_boundary(program, false, i, annotation, present);
}

tp_status tp__program_op(const tp_program *program, MlirOperation op, int i, tp_annotation *annotation, bool *present) {
  tp_status status = tp__op_sharding(op, i, program->mesh, annotation, present);
  if (status != TP_OK || !*present)
    return status;
  char what[32];
  snprintf(what, sizeof what, "result %d", i);
  drop_trivial_axes(program->mesh, &annotation->spec);
  return tp__check_divides(op, what, program->mesh, annotation->spec, mlirValueGetType(mlirOperationGetResult(op, i)));
}
