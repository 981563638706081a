/* Recognizes structured ops that scatter: nests over all elements of the result and all updates, in
 * which an element changes only if its position equals one that the update gives.
 *
 *   result[r, c] = for u: if position[u] == r then f(result[r, c], update[u, c])
 *
 * Such a nest need not visit the loop r: the position says which element an update changes. */
#ifndef TP_IR_SCATTER_H
#define TP_IR_SCATTER_H

#include "ir/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TP_SCATTER_MAX_LOOPS = 32 };

typedef struct tp_scatter_target {
  int loop;
  MlirOperation index;   /* the linalg.index of the loop */
  MlirOperation compare; /* the arith.cmpi of both */
  MlirValue position;    /* the side that does not depend on the loop, of index type */
  MlirValue offset;      /* added to the index of the loop, from outside of the op; may be null */
  uint32_t depends;      /* loops that the position depends on */
} tp_scatter_target;

typedef struct tp_scatter {
  int n_loops, n_inputs, n_outputs;
  MlirBlock body;
  MlirValue condition; /* under which the results change */
  int n_targets;
  tp_scatter_target targets[TP_SCATTER_MAX_LOOPS];
} tp_scatter;

/* Reads a linalg.generic on tensors or buffers. False if it does not scatter. */
bool tp__scatter_match(MlirOperation op, tp_scatter *scatter);

#ifdef __cplusplus
}
#endif
#endif
