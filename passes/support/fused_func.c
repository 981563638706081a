/* Builds the private functions whose calls stand for fused ops, and their attributes. */
#include "passes/support/fused_func.h"

enum { MAX_OPERANDS = 16 };

MlirAttribute tp__fused_names(MlirContext context, int n, const char *const *names) {
  MlirAttribute texts[MAX_OPERANDS];
  for (int i = 0; i < n; i++)
    texts[i] = tp__attr_string(context, names[i]);
  return mlirArrayAttrGet(context, n, texts);
}

void tp__build_fused_func(MlirOperation module, const char *name, MlirLocation location,
                          MlirAttribute fused, int n_inputs, const MlirType *inputs, int n_results,
                          const MlirType *results, MlirBlock *block) {
  MlirContext context = mlirOperationGetContext(module);
  MlirLocation locations[MAX_OPERANDS];
  for (int i = 0; i < n_inputs && i < MAX_OPERANDS; i++)
    locations[i] = location;
  MlirOperation func = tp__create_private_func(
      location, name, mlirFunctionTypeGet(context, n_inputs, inputs, n_results, results));
  tp__set(func, "tp.fused", fused);
  *block = mlirBlockCreate(n_inputs, inputs, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(func, 0), *block);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(mlirModuleFromOperation(module)), func);
}
