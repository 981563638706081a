/* Shortens the results of sorts (ir/sort_call.h) of which only the first elements of each row are
 * used, as a sort of all elements and a slice spell top-k: fewer elements are selected faster than
 * sorted, and where the row is split, fewer are sent. */
#include "passes/prepare/raise/raise.h"

#include "ir/annotation.h"
#include "ir/sort_call.h"

/* Returns how many elements of each row a use takes, if it takes the first ones and nothing else; 0
 * for other uses. */
static int64_t prefix_taken(MlirOperation use, const tp_sort *sort) {
  int rank;
  int64_t shape[TP_MAX_RANK], offsets[TP_MAX_RANK], sizes[TP_MAX_RANK], strides[TP_MAX_RANK];
  if (!tp__op_is(use, "tensor.extract_slice") ||
      !tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(use, 0)), &rank, shape) ||
      mlirShapedTypeGetRank(tp__result_type(use)) != rank ||
      tp__int_list(tp__inherent(use, "static_offsets"), TP_MAX_RANK, offsets) != rank ||
      tp__int_list(tp__inherent(use, "static_sizes"), TP_MAX_RANK, sizes) != rank ||
      tp__int_list(tp__inherent(use, "static_strides"), TP_MAX_RANK, strides) != rank)
    return 0;
  for (int d = 0; d < rank; d++) /* what is known only at run time is none of these numbers */
    if (offsets[d] != 0 || strides[d] != 1 || (d != sort->dim && sizes[d] != shape[d]))
      return 0;
  return sizes[sort->dim] > 0 ? sizes[sort->dim] : 0;
}

/* Returns how many elements of each row are used at most; all of them if a use is no prefix. */
static int64_t elements_used(MlirOperation op, const tp_sort *sort) {
  int64_t most = 0;
  for (int i = 0; i < sort->n; i++) {
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, i));
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
      int64_t taken = prefix_taken(mlirOpOperandGetOwner(use), sort);
      if (taken == 0)
        return sort->kept;
      most = taken > most ? taken : most;
    }
  }
  return most;
}

/* Slices of all that is kept are the result itself. */
static void move_uses(MlirValue from, MlirValue to) {
  MlirOpOperand use = mlirValueGetFirstUse(from);
  while (!mlirOpOperandIsNull(use)) {
    MlirOperation slice = mlirOpOperandGetOwner(use);
    use = mlirOpOperandGetNextUse(use);
    if (mlirTypeEqual(tp__result_type(slice), mlirValueGetType(to))) {
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(slice, 0), to);
      mlirOperationDestroy(slice);
    } else {
      mlirOperationSetOperand(slice, 0, to);
    }
  }
}

tp_status tp__raise_sorts(tp__raise *raise, MlirOperation module) {
  tp_op_list list = {0};
  tp_status status = tp__walk(module, tp__collect_sort, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    MlirOperation op = list.items[i];
    tp_sort sort;
    status = tp__sort_read(op, &sort);
    int64_t used = status == TP_OK ? elements_used(op, &sort) : 0;
    /* a layout that the user chose is one of the results as they are */
    if (used == 0 || used == sort.kept || tp__is_annotated(op))
      continue;
    MlirValue operands[TP_MAX_SORTED];
    for (int k = 0; k < sort.n; k++)
      operands[k] = mlirOperationGetOperand(op, k);
    MlirOperation now = tp__sort_build(op, mlirOperationGetLocation(op), module, sort.n, operands,
                                       sort.dim, used, tp__sort_less(op));
    for (int k = 0; k < sort.n; k++)
      move_uses(mlirOperationGetResult(op, k), mlirOperationGetResult(now, k));
    mlirOperationDestroy(op);
    raise->statistics[TP_RAISED_SORT]++;
  }
  tp__free(list.items);
  return status;
}
