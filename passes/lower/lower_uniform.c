/* Proves that no collective can hang: none is under a condition that may differ along an axis of
 * its group.
 *
 * In the per-device program, values can differ through tensor arguments (along the axes of their
 * sharding), through the position of the device, and through slices that depend on it.
 * lib/rules/divergence.c computes which other values differ as a result. */
#include "passes/support/lower.h"

#include "rules/collective.h"

/* Seeds the analysis with the function's arguments. A tensor differs along the axes that its
 * sharding uses, or along all axes if it has no sharding. Scalars are equal on all devices. */
static tp_status seed_arguments(tp_divergence *d, MlirOperation func) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(entry, i));
    uint32_t axes = 0;
    if (!mlirTypeIsARankedTensor(type))
      continue;
    MlirAttribute attr = tp__arg_attr(func, (int)i, "tp.sharding");
    tp_annotation annotation = {0};
    if (!mlirAttributeIsNull(attr))
      TP_TRY(tp__read_sharding(func, "an argument", attr, d->mesh, type, &annotation));
    for (int k = 0; k < d->mesh->n_axes; k++)
      if (d->mesh->axes[k].size > 1 &&
          (mlirAttributeIsNull(attr) || tp_spec_place(annotation.spec, k).kind != TP_REPLICATED))
        axes |= 1u << k;
    tp__divergence_add(d, mlirBlockGetArgument(entry, i), axes);
  }
  return TP_OK;
}

tp_status tp__check_uniform(MlirOperation func, const tp_mesh *mesh) {
  tp_divergence d = {.mesh = mesh};
  tp_status status = seed_arguments(&d, func);
  if (status == TP_OK)
    status = tp__divergence_run(&d, func);
  tp__table_destroy(&d.sets);
  return status;
}
