/* Raises tensor.extract and tensor.insert outside of linalg bodies to slices of one element, which
 * have a sharding rule (rules/slice.h). */
#include "passes/prepare/raise/raise.h"

#include "rules/slice.h"

/* True if the op is in a body other than structured control flow. Such reads run once per iteration
 * point and are left alone. */
static bool stands_in_body(MlirOperation op) {
  for (MlirOperation up = mlirOperationGetParentOperation(op);
       !mlirOperationIsNull(up) && !tp__op_is(up, "func.func");
       up = mlirOperationGetParentOperation(up))
    if (!tp__op_has_dialect(up, "scf"))
      return true;
  return false;
}

static MlirValue tensor_of(MlirOperation op) {
  return mlirOperationGetOperand(op, tp__op_is(op, "tensor.insert") ? 1 : 0);
}

static tp_status collect(MlirOperation op, void *list) {
  int rank;
  int64_t shape[TP_MAX_RANK], elements = 1;
  if ((!tp__op_is(op, "tensor.extract") && !tp__op_is(op, "tensor.insert")) ||
      !mlirAttributeIsNull(tp__get(op, "tp.rule")) ||
      !tp__static_tensor(mlirValueGetType(tensor_of(op)), &rank, shape))
    return TP_OK;
  for (int d = 0; d < rank; d++)
    elements *= shape[d];
  return elements > 1 && !stands_in_body(op) ? tp__op_list_add(list, op) : TP_OK;
}

/* Returns the slice of one element at the indices of the op. */
static tp_slice slice_at(MlirOperation op, MlirType tensor) {
  tp_slice s = {.is_insert = tp__op_is(op, "tensor.insert"),
                .rank = (int)mlirShapedTypeGetRank(tensor)};
  for (int d = 0; d < s.rank; d++) {
    s.offsets[d].value = mlirOperationGetOperand(op, d + (s.is_insert ? 2 : 1));
    s.strides[d].fixed = s.sizes[d] = 1;
  }
  return s;
}

static void raise_extract(MlirOperation op) {
  MlirValue operands[TP_MAX_RANK + 1], zero = tp__index_constant(op, 0);
  tp_slice s = slice_at(op, mlirValueGetType(tensor_of(op)));
  operands[0] = tp__slice_take(op, &s, tensor_of(op));
  for (int d = 0; d < s.rank; d++)
    operands[d + 1] = zero;
  mlirOperationSetOperands(op, s.rank + 1, operands);
}

static void raise_insert(MlirOperation op) {
  MlirValue tensor = tensor_of(op), scalar = mlirOperationGetOperand(op, 0);
  tp_slice s = slice_at(op, mlirValueGetType(tensor));
  MlirType one = tp__tensor_like(mlirValueGetType(tensor), s.rank, s.sizes);
  MlirOperation element = tp__create(&(tp_build){.name = "tensor.from_elements",
                                                 .location = mlirOperationGetLocation(op),
                                                 .n_operands = 1,
                                                 .operands = &scalar,
                                                 .n_results = 1,
                                                 .results = &one});
  tp__insert_before(op, element);
  MlirValue put = tp__slice_put(op, &s, mlirOperationGetResult(element, 0), tensor);
  tp__copy_discardable(op, mlirOpResultGetOwner(put));
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), put);
  mlirOperationDestroy(op);
}

tp_status tp__raise_elements(tp__raise *raise, MlirOperation module) {
  tp_op_list list = {0};
  tp_status status = tp__walk(module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    if (tp__op_is(list.items[i], "tensor.insert"))
      raise_insert(list.items[i]);
    else
      raise_extract(list.items[i]);
    raise->statistics[TP_RAISED_ELEMENT]++;
  }
  tp__free(list.items);
  return status;
}
