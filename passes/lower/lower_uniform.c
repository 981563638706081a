/* Proof that no collective hangs: none stands under a condition that may differ along an axis of
 * its group.
 *
 * Sources of difference in the program of one device are its arguments (along the axes of their
 * sharding), the place of the device and its own slices of values; the rest is the analysis of
 * lib/rules/divergence.c. */
#include "passes/support/lower.h"

#include "rules/collective.h"

/* A tensor argument differs along the axes that its sharding uses; one without sharding along all.
 * Scalars are equal. */
static tp_status seed_arguments(tp_divergence *d, MlirOperation func) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(entry, i));
    uint32_t axes = 0;
    if (!mlirTypeIsARankedTensor(type))
      continue;
    MlirAttribute attr = tp__arg_attr(func, (int)i, "tp.sharding");
    tp_annotation annotation = {0};
    if (!mlirAttributeIsNull(attr)) {
      tp_status status = tp__read_sharding(func, "an argument", attr, d->mesh, type, &annotation);
      if (status != TP_OK)
        return status;
    }
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
