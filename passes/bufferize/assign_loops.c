/* Assigns loop-carried buffers, so that a loop's block argument is the same buffer in every
 * iteration.
 *
 * After bufferization a loop may yield a buffer that the iteration allocated. With static memory,
 * the next iteration would overwrite the buffer that it reads. Each carried value that is not the
 * loop's own argument therefore gets a separate buffer outside the loop. The initial value is
 * copied into it before the loop, the yielded value at the end of each iteration. A yielded value
 * that may alias another carried buffer is first copied to a temporary, so that swaps work. */
#include "passes/bufferize/assign.h"

#include "support/support.h"

typedef struct carried {
  int index; /* operand number in the yield */
  MlirValue buffer;
} carried;

/* Allocates a dense buffer with the shape of `type`. */
static MlirValue dense_like(MlirOperation where, MlirType type) {
  int64_t shape[TP_MAX_RANK];
  for (int64_t d = 0; d < mlirShapedTypeGetRank(type); d++)
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  return tp__build_alloc(where, mlirMemRefTypeContiguousGet(tp__element_type(type),
                                                            mlirShapedTypeGetRank(type), shape,
                                                            mlirMemRefTypeGetMemorySpace(type)));
}

static tp_status check_carried(MlirOperation loop, int k, MlirType type) {
  if (!mlirShapedTypeHasStaticShape(type) || mlirShapedTypeGetRank(type) > TP_MAX_RANK)
    return tp__error(
        loop, TP_UNSUPPORTED,
        "loop-carried value %d has a buffer of dynamic shape, or of more than %d dimensions", k,
        TP_MAX_RANK);
  return TP_OK;
}

/* True if operand `k` of the yield is always the buffer of the corresponding argument. */
static bool is_invariant(MlirOperation loop, MlirOperation yield, int k) {
  MlirValue value = mlirOperationGetOperand(yield, k);
  MlirBlock first = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
  if (tp__op_is(loop, "scf.for"))
    return mlirValueEqual(value, mlirBlockGetArgument(first, k + 1));
  MlirBlock second = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 1));
  if (!mlirValueIsABlockArgument(value) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(value), second))
    return false;
  MlirValue passed = mlirOperationGetOperand(mlirBlockGetTerminator(first),
                                             1 + mlirBlockArgumentGetArgNumber(value));
  return mlirValueEqual(passed, mlirBlockGetArgument(first, k));
}

/* True for an allocation inside the loop, which cannot alias a carried buffer. */
static bool is_fresh(MlirOperation loop, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  return !mlirOperationIsNull(op) && tp__op_is(op, "memref.alloc") && !tp__is_captured(loop, value);
}

static tp_status carry(MlirOperation loop) {
  MlirOperation yield = mlirBlockGetTerminator(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, tp__op_is(loop, "scf.for") ? 0 : 1)));
  int n = (int)mlirOperationGetNumOperands(yield), first_init = tp__op_is(loop, "scf.for") ? 3 : 0,
      n_carried = 0;
  carried *list = tp__calloc((size_t)n, sizeof *list);
  if (!list)
    return tp__out_of_memory(loop);
  tp_status status = TP_OK;
  for (int k = 0; k < n && status == TP_OK; k++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(yield, k));
    if (!mlirTypeIsAMemRef(type) || is_invariant(loop, yield, k))
      continue;
    status = check_carried(loop, k, type);
    if (status != TP_OK)
      break;
    MlirValue buffer = dense_like(loop, type);
    if (!mlirTypeEqual(mlirValueGetType(buffer), type)) /* the loop accepts any layout */
      buffer = tp__build_one(loop, "memref.cast", 1, &buffer, type);
    tp__build_copy(loop, mlirOperationGetOperand(loop, first_init + k), buffer);
    mlirOperationSetOperand(loop, first_init + k, buffer);
    list[n_carried++] = (carried){k, buffer};
  }
  for (int i = 0; i < n_carried && n_carried > 1; i++) {
    MlirValue value = mlirOperationGetOperand(yield, list[i].index);
    if (is_fresh(loop, value))
      continue;
    MlirValue aside = dense_like(yield, mlirValueGetType(value));
    tp__build_copy(yield, value, aside);
    mlirOperationSetOperand(yield, list[i].index, aside);
  }
  for (int i = 0; i < n_carried; i++) {
    tp__build_copy(yield, mlirOperationGetOperand(yield, list[i].index), list[i].buffer);
    mlirOperationSetOperand(yield, list[i].index, list[i].buffer);
  }
  tp__free(list);
  return status;
}

static tp_status visit(MlirOperation op, void *data) {
  (void)data;
  return tp__op_is(op, "scf.for") || tp__op_is(op, "scf.while") ? carry(op) : TP_OK;
}

tp_status tp__carry_loops(MlirOperation func) { return tp__walk(func, visit, NULL); }
