/* Turns annotations of ops that a pass replaces into constraints on their results. */
#include "passes/import/keep_shardings.h"

#include "ir/collectives.h"

static tp_status keep(MlirOperation op, const tp_mesh *mesh) {
  if (mesh->n_axes == 0)
    return tp__error(op, TP_NOT_FOUND,
                     "has tp.sharding, but the module has no mesh; add shard.grid @mesh(shape = "
                     "2x4) {tp.axes = [\"dp\", \"tp\"]} or give mesh=dp=2,tp=4");
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    tp_annotation annotation;
    bool present;
    TP_TRY(tp__op_sharding(op, (int)i, mesh, &annotation, &present));
    if (!present)
      continue;
    MlirValue kept = tp__build_reshard(mlirOperationGetNextInBlock(op),
                                       mlirOperationGetLocation(op), result, mesh, annotation);
    MlirOperation user = tp__defining_op(kept);
    mlirValueReplaceAllUsesExcept(result, kept, 1, &user);
  }
  tp__remove(op, "tp.sharding");
  return TP_OK;
}

tp_status tp__keep_shardings(MlirOperation module, const tp_op_list *ops, const tp_mesh *mesh) {
  for (size_t i = 0; i < ops->n; i++)
    TP_TRY(keep(ops->items[i], mesh));
  if (ops->n > 0)
    tp__write_grids(module, mesh); /* the new ops name the grid */
  return TP_OK;
}
