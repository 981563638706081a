/* Names loops by what they do: a parallel loop on which a result does not depend writes its
 * elements again and again. Each iteration continues from the one before, as in a reduction; fusion
 * and partitioning would take the iterations for independent. */
#include "passes/prepare/raise/raise.h"

static bool rewrites_a_result(const tp__generic *generic, int loop) {
  for (int i = 0; i < generic->n_inits; i++)
    if (!tp__map_has_loop(tp__generic_map(generic, generic->n_inputs + i), loop))
      return true;
  return false;
}

bool tp__raise_loops(tp__raise *raise, const tp__generic *generic) {
  MlirContext context = mlirOperationGetContext(generic->op);
  MlirAttribute kinds[TP_RAISE_MAX_LOOPS], all = tp__inherent(generic->op, "iterator_types");
  int n_renamed = 0;
  for (int l = 0; l < generic->n_loops; l++) {
    kinds[l] = mlirArrayAttrGetElement(all, l);
    bool repeats = generic->hi[l] > 0; /* a loop of one iteration may be of both kinds */
    if (!repeats || !mlirAttributeEqual(kinds[l], raise->parallel) ||
        !rewrites_a_result(generic, l))
      continue;
    kinds[l] = raise->reduction;
    n_renamed++;
  }
  if (n_renamed == 0)
    return false;
  mlirOperationSetInherentAttributeByName(generic->op, tp__ref("iterator_types"),
                                          mlirArrayAttrGet(context, generic->n_loops, kinds));
  raise->statistics[TP_RAISED_LOOP] += n_renamed;
  return true;
}
