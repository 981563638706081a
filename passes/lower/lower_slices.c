/* Rewrites slices into forms that the upstream passes after tp-lower-to-runtime handle correctly.
 *
 * A slice may drop dimensions of size 1. Upstream infers the dropped dimensions from the strides of
 * the result. If a stride is not 1, no candidate matches, and expand-strided-metadata of LLVM 22
 * reads out of bounds. Therefore no slice has both: the strided slice keeps all dimensions, and a
 * second slice with unit strides drops them.
 *
 * Slices that enter or leave loops are copied to dense tensors. Where iterations swap loop-carried
 * values, bufferization of LLVM 22 infers different strides for one value, depending on where the
 * inference starts, and creates an invalid cast. */
#include "passes/support/lower.h"

typedef struct slice {
  bool insert;
  int rank, small_rank;
  MlirType small; /* type of the extracted or inserted part */
  int64_t sizes[TP_MAX_RANK], strides[TP_MAX_RANK];
} slice;

static bool read_slice(MlirOperation op, slice *s) {
  s->insert = tp__op_is(op, "tensor.insert_slice");
  if (!s->insert && !tp__op_is(op, "tensor.extract_slice"))
    return false;
  int64_t shape[TP_MAX_RANK];
  s->small =
      mlirValueGetType(s->insert ? mlirOperationGetOperand(op, 0) : mlirOperationGetResult(op, 0));
  s->rank = tp__int_list(tp__inherent(op, "static_sizes"), TP_MAX_RANK, s->sizes);
  if (s->rank < 0 ||
      tp__int_list(tp__inherent(op, "static_strides"), TP_MAX_RANK, s->strides) != s->rank ||
      !tp__static_tensor(s->small, &s->small_rank, shape))
    return false;
  for (int d = 0; d < s->rank; d++)
    if (s->sizes[d] < 0) /* dynamic */
      return false;
  return true;
}

/* Sets strides of dimensions of size 1 to 1, as they have no effect. True if other non-unit strides
 * remain. */
static bool settle_strides(MlirOperation op, slice *s) {
  bool changed = false, strided = false;
  for (int d = 0; d < s->rank; d++) {
    bool one = s->sizes[d] == 1 && s->strides[d] > 1; /* a dynamic stride is negative here */
    s->strides[d] = one ? 1 : s->strides[d];
    changed |= one;
    strided |= s->strides[d] != 1;
  }
  if (changed)
    mlirOperationSetInherentAttributeByName(
        op, tp__ref("static_strides"),
        tp__attr_i64s(mlirOperationGetContext(op), s->rank, s->strides));
  return strided;
}

/* Builds a slice with zero offsets and unit strides that only drops dimensions of size 1. For an
 * insert it inserts `small` into `large`, for an extract it reads all of `large`. */
static MlirOperation whole_slice(MlirOperation op, const slice *s, MlirValue small, MlirValue large,
                                 MlirType result) {
  MlirContext context = mlirOperationGetContext(op);
  int64_t zeros[TP_MAX_RANK] = {0}, ones[TP_MAX_RANK];
  for (int d = 0; d < s->rank; d++)
    ones[d] = 1;
  const int32_t segments[] = {1, 1, 0, 0, 0};
  const int skip = s->insert ? 0 : 1;
  const MlirNamedAttribute attributes[] = {
      tp__named(context, "static_offsets", tp__attr_i64s(context, s->rank, zeros)),
      tp__named(context, "static_sizes", tp__attr_i64s(context, s->rank, s->sizes)),
      tp__named(context, "static_strides", tp__attr_i64s(context, s->rank, ones)),
      tp__named(context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(context, 5 - skip, segments + skip)),
  };
  const MlirValue operands[] = {small, large};
  return tp__create(&(tp_build){.name = s->insert ? "tensor.insert_slice" : "tensor.extract_slice",
                                .location = mlirOperationGetLocation(op),
                                .n_operands = 2 - skip,
                                .operands = operands + skip,
                                .n_results = 1,
                                .results = &result,
                                .n_attributes = TP_LEN(attributes),
                                .attributes = attributes});
}

tp_status tp__split_slice(MlirOperation op, void *data) {
  slice s;
  (void)data;
  if (!read_slice(op, &s) || !settle_strides(op, &s) || s.small_rank == s.rank)
    return TP_OK;
  MlirType full = tp__tensor_like(s.small, s.rank, s.sizes);
  if (s.insert) {
    MlirOperation widened =
        whole_slice(op, &s, mlirOperationGetOperand(op, 0), tp__empty(op, full), full);
    tp__insert_before(op, widened);
    mlirOperationSetOperand(op, 0, mlirOperationGetResult(widened, 0));
    return TP_OK;
  }
  MlirValue result = mlirOperationGetResult(op, 0);
  mlirValueSetType(result, full);
  MlirOperation dropped = whole_slice(op, &s, (MlirValue){NULL}, result, s.small);
  tp__insert_after(op, dropped);
  tp__replace_uses_except(result, mlirOperationGetResult(dropped, 0), dropped);
  return TP_OK;
}

/* ---- loop-carried values ---- */

tp_status tp__densify_carried(MlirOperation op, void *data) {
  static const char *const names[] = {"scf.for", "scf.while", "scf.yield", "scf.condition"};
  bool carries = false;
  (void)data;
  for (int i = 0; i < TP_LEN(names); i++)
    carries |= tp__op_is(op, names[i]);
  for (intptr_t i = 0; carries && i < mlirOperationGetNumOperands(op); i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    MlirOperation source = tp__defining_op(value);
    if (!mlirOperationIsNull(source) && tp__op_is(source, "tensor.extract_slice"))
      mlirOperationSetOperand(op, i, tp__copy_of(op, mlirOperationGetLocation(op), value));
  }
  return TP_OK;
}
