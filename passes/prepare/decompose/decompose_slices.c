/* Splits rank-reducing slices that canonicalize of LLVM 22 rewrites incorrectly.
 *
 * When a dynamic offset becomes a constant, canonicalize rebuilds the op and infers the dropped
 * dimensions again: it takes the first dimensions of size 1. If the op drops others (for example
 * [1, 5, 1] to 1x5), sizes and offsets no longer match, and the verifier rejects the result. Here,
 * such a slice keeps all dimensions, and a second, fully static slice drops them. */
#include "passes/prepare/decompose/decompose.h"

#include "rules/slice.h"

static bool has_values(const tp_slice *s) {
  for (int d = 0; d < s->rank; d++)
    if (!mlirValueIsNull(s->offsets[d].value) || !mlirValueIsNull(s->strides[d].value))
      return true;
  return false;
}

/* True if the dropped dimensions are the first n dimensions of size 1. */
static bool drops_first(const tp_slice *s, int n) {
  for (int d = 0; d < s->rank && n > 0; d++) {
    if (s->sizes[d] != 1)
      continue;
    if (s->small_dim[d] >= 0)
      return false;
    n--;
  }
  return true;
}

tp_status tp__decompose_slice(MlirOperation op, void *data) {
  tp_pass *pass = data;
  tp_slice s;
  int64_t shape[TP_MAX_RANK];
  int rank;
  if (!tp__op_is(op, "tensor.extract_slice") ||
      !tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &rank, shape))
    return TP_OK;
  tp_value_map small = {.rank = (uint8_t)rank, .shape = shape};
  if (!tp__slice_read(op, &small, &s) || !has_values(&s) || drops_first(&s, s.rank - rank))
    return TP_OK;
  MlirValue taken = tp__slice_take(op, &s, mlirOperationGetOperand(op, 0));
  MlirAttribute factors = tp__get(op, "tp.factors");
  if (!mlirAttributeIsNull(factors)) { /* the factors refer to the dimensions of the first slice */
    tp__set(mlirOpResultGetOwner(taken), "tp.factors", factors);
    tp__remove(op, "tp.factors");
  }
  for (int d = 0; d < s.rank; d++) {
    s.offsets[d] = (tp_mixed){0};
    s.strides[d] = (tp_mixed){.fixed = 1};
  }
  tp__slice_write(op, &s, &taken);
  pass->statistics[TP_DECOMPOSED]++;
  return TP_OK;
}
