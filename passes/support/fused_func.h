/* Functions with the attribute tp.fused: what a call of the runtime computes. The attribute, a
 * dictionary, says what the call is; the body computes the same. */
#ifndef TP_PASSES_FUSED_FUNC_H
#define TP_PASSES_FUSED_FUNC_H

#include "ir/ir.h"

/* Builds a private function with the attribute tp.fused and an empty body. */
void tp__build_fused_func(MlirOperation module, const char *name, MlirLocation location,
                          MlirAttribute fused, int n_inputs, const MlirType *inputs, int n_results,
                          const MlirType *results, MlirBlock *block);
/* A list of names. At most 16. */
MlirAttribute tp__fused_names(MlirContext context, int n, const char *const *names);

#endif
