/* Strides of the tensors of attention. Operands are often transposed, repeated for the queries of a
 * group, or reshaped before they are used; the kernel reads the original by strides. */
#include "passes/attention/form.h"

#include "rules/attention_loops.h"

#include <string.h>

/* Distributes the loops of `from` over dimensions of these sizes, in order. Dimensions of size 1
 * have none. */
static bool regroup(const tp_attention *a, const tp_score_dim *from, int n_from, int n_to,
                    const int64_t *to_shape, tp_score_dim *to) {
  int d = 0, k = 0;
  for (int t = 0; t < n_to; t++) {
    int64_t left = to_shape[t];
    to[t].n = 0;
    while (left > 1) {
      for (; d < n_from && k == from[d].n; d++)
        k = 0;
      if (d == n_from || left % a->sizes[from[d].loops[k]] != 0 || to[t].n == TP_MAX_DIM_FACTORS)
        return false;
      left /= a->sizes[from[d].loops[k]];
      to[t].loops[to[t].n++] = from[d].loops[k++];
    }
    if (left == 0)
      return false;
  }
  for (; d < n_from; d++, k = 0)
    for (; k < from[d].n; k++)
      if (a->sizes[from[d].loops[k]] != 1)
        return false;
  return true;
}

bool tp__form_reshaped(const tp_attention *a, MlirOperation op, const tp_score_dim *dims,
                       tp_score_dim *to) {
  int64_t shape[TP_MAX_RANK];
  int n = (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  int rank = tp__shape_of(mlirOperationGetResult(op, 0), shape);
  return regroup(a, dims, n, rank, shape, to);
}

/* True if all dimensions of more than one element are made of loops. */
static bool is_made_of_loops(const tp_attention *a, MlirValue value, const tp_score_dim *dims) {
  int64_t shape[TP_MAX_RANK];
  int rank = tp__shape_of(value, shape);
  for (int d = 0; d < rank; d++) {
    int64_t n = 1;
    for (int k = 0; k < dims[d].n; k++)
      n *= a->sizes[dims[d].loops[k]];
    if (n != shape[d])
      return false;
  }
  return true;
}

static bool note(tp_attention_form *form, MlirOperation op) {
  if (form->n_seen_through == TP_MAX_SEEN_THROUGH)
    return false;
  form->seen_through[form->n_seen_through++] = op;
  return true;
}

bool tp__form_see_through(const tp_attention *a, MlirOperation op, const tp_score_dim *dims,
                          bool converts, tp_score_dim *from) {
  tp_nest nest;
  int64_t shape[TP_MAX_RANK];
  if (mlirOperationGetNumOperands(op) == 0 ||
      !tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, 0))))
    return false; /* a constant, or a number that fills a tensor */
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(op, 0)));
  if (tp__is_reshape(op)) {
    int n = tp__shape_of(mlirOperationGetOperand(op, 0), shape);
    return regroup(a, dims, rank, n, shape, from);
  }
  if (!tp__nest_of(op, &nest) || nest.n_inputs != 1 || !tp__nest_is_elementwise(&nest) ||
      !(tp__nest_copies(&nest) || (converts && tp__form_converts(&nest))))
    return false;
  int n = tp__shape_of(mlirOperationGetOperand(op, 0), shape);
  for (int d = 0; d < n; d++) {
    int loop = tp__nest_loop(&nest, 0, d);
    from[d].n = 0;
    if (loop == TP_WHOLE_DIM && shape[d] != 1)
      return false; /* its first element only */
    for (int r = 0; r < rank && loop != TP_WHOLE_DIM; r++)
      if (tp__nest_loop(&nest, 1, r) == loop)
        from[d] = dims[r];
  }
  return true;
}

void tp__form_set_tensor(tp_attention_form *form, int x, MlirValue value,
                         const tp_score_dim *dims) {
  int64_t shape[TP_MAX_RANK], stride = 1;
  form->tensor[x] = value;
  memset(form->stride[x], 0, sizeof form->stride[x]);
  for (int d = tp__shape_of(value, shape); d-- > 0;)
    for (int k = dims[d].n; k-- > 0;) {
      form->stride[x][dims[d].loops[k]] = stride;
      stride *= form->a->sizes[dims[d].loops[k]];
    }
}

/* The loops of more than one iteration, as bits. */
static uint32_t loops_of(const tp_attention *a, const tp_score_dim *dims, int rank) {
  uint32_t loops = 0;
  for (int d = 0; d < rank; d++)
    for (int k = 0; k < dims[d].n; k++)
      if (a->sizes[dims[d].loops[k]] != 1)
        loops |= UINT32_C(1) << dims[d].loops[k];
  return loops;
}

bool tp__form_operand(tp_attention_form *form, int x, MlirValue value, const tp_score_dim *dims) {
  tp_score_dim now[TP_MAX_RANK], before[TP_MAX_RANK];
  memcpy(now, dims, (size_t)mlirShapedTypeGetRank(mlirValueGetType(value)) * sizeof *now);
  if (!is_made_of_loops(form->a, value, now))
    return false;
  for (;;) {
    MlirOperation op = tp__defining_op(value);
    if (mlirOperationIsNull(op) || !tp__form_see_through(form->a, op, now, false, before) ||
        !is_made_of_loops(form->a, mlirOperationGetOperand(op, 0), before))
      break;
    MlirValue from = mlirOperationGetOperand(op, 0);
    bool repeats = loops_of(form->a, now, tp__value_rank(value)) !=
                   loops_of(form->a, before, tp__value_rank(from));
    if ((repeats && form->keeps_copies) || !note(form, op))
      break;
    value = from;
    memcpy(now, before, sizeof now);
  }
  tp__form_set_tensor(form, x, value, now);
  return true;
}

/* The dimensions of the result of a reshape, of a copy that keeps all elements, or of a conversion
 * from or to f32. All loops of the operand are in it: the kernel writes each element. */
static bool see_forward(const tp_attention *a, MlirOperation op, const tp_score_dim *dims,
                        tp_score_dim *to) {
  tp_nest nest;
  MlirValue from = mlirOperationGetOperand(op, 0);
  int64_t shape[TP_MAX_RANK];
  int n = tp__shape_of(from, shape);
  if (tp__is_reshape(op))
    return tp__form_reshaped(a, op, dims, to);
  if (!tp__nest_of(op, &nest) || !nest.is_written || nest.n_inputs != 1 ||
      !tp__nest_is_elementwise(&nest))
    return false;
  MlirOperation scalar = tp__nest_scalar(&nest);
  bool rounds = !mlirOperationIsNull(scalar) && tp__op_is(scalar, "arith.truncf") &&
                tp__nest_input(&nest, scalar, 0) == 0;
  if (!tp__nest_copies(&nest) && !rounds)
    return false;
  for (int d = 0; d < n; d++)
    if (tp__nest_loop(&nest, 0, d) == TP_WHOLE_DIM && shape[d] != 1)
      return false; /* its first element only */
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(op, 0)));
  for (int r = 0; r < rank; r++) {
    to[r].n = 0;
    for (int d = 0; d < n; d++)
      if (tp__nest_loop(&nest, 0, d) != TP_WHOLE_DIM &&
          tp__nest_loop(&nest, 0, d) == tp__nest_loop(&nest, 1, r))
        to[r] = dims[d];
  }
  return true;
}

bool tp__form_result(tp_attention_form *form, int x, MlirValue value, const tp_score_dim *dims) {
  tp_score_dim now[TP_MAX_RANK], after[TP_MAX_RANK];
  memcpy(now, dims, (size_t)mlirShapedTypeGetRank(mlirValueGetType(value)) * sizeof *now);
  if (!is_made_of_loops(form->a, value, now))
    return false;
  MlirType queries = tp__element_type(mlirValueGetType(form->tensor[TPRT_ATTENTION_Q]));
  while (tp__is_used_once(value)) {
    MlirOperation op = mlirOpOperandGetOwner(mlirValueGetFirstUse(value));
    if (mlirOperationGetNumResults(op) != 1 ||
        !mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, 0))) ||
        !mlirValueEqual(mlirOperationGetOperand(op, 0), value) ||
        !see_forward(form->a, op, now, after))
      break;
    MlirValue made = mlirOperationGetResult(op, 0);
    MlirType element = tp__element_type(mlirValueGetType(made));
    bool fits = mlirTypeIsAF32(element) || mlirTypeEqual(element, queries);
    if (!fits || !is_made_of_loops(form->a, made, after) || !note(form, op))
      break;
    value = made;
    memcpy(now, after, sizeof now);
  }
  tp__form_set_tensor(form, x, value, now);
  return true;
}
