/* Slices in the form that upstream's passes behind tp-lower-to-runtime can read. */
#include "passes/lower.h"

/* A stride along a dimension of one element says nothing. Upstream tells by strides which dimensions a slice drops, and finds none to
 * blame when such a stride is not 1 (expand-strided-metadata of LLVM 22 then reads past the end). */
tp_status tp__settle_strides(MlirOperation op, void *data) {
  (void)data;
  if (!tp__op_is(op, "tensor.extract_slice") && !tp__op_is(op, "tensor.insert_slice"))
    return TP_OK;
  int64_t sizes[TP_MAX_RANK], strides[TP_MAX_RANK];
  int n = tp__int_list(tp__inherent(op, "static_sizes"), TP_MAX_RANK, sizes);
  if (n < 0 || tp__int_list(tp__inherent(op, "static_strides"), TP_MAX_RANK, strides) != n)
    return TP_OK;
  bool changed = false;
  for (int d = 0; d < n; d++)
    if (sizes[d] == 1 && strides[d] > 1) { /* a dynamic stride is a negative number */
      strides[d] = 1;
      changed = true;
    }
  if (changed)
    mlirOperationSetInherentAttributeByName(op, tp__ref("static_strides"),
                                            tp__attr_i64s(mlirOperationGetContext(op), n, strides));
  return TP_OK;
}
