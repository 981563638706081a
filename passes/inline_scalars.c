/* tp-inline-scalars: what holds one number everywhere is read as that number.
 *
 * Frontends broadcast every scalar to the shape of what it is combined with. Fusion takes such an op into its one user; with several users it
 * stays, and becomes a buffer that is written, and read by each of them. */
#include "passes/raise.h"
#include "passes/table.h"

#include "ir/diagnostics.h"
#include "support/support.h"

static tp_status collect(MlirOperation op, void *data) {
  return tp__op_is(op, "linalg.generic") ? tp__op_list_add(data, op) : TP_OK;
}

/* The number that every element of `value` is, in a form that `where` can use; false if it is none. */
static bool find_scalar(MlirValue value, MlirOperation where, MlirValue *scalar) {
  MlirOperation maker = tp__defining_op(value);
  tp__generic generic;
  if (mlirOperationIsNull(maker))
    return false;
  if (tp__op_is(maker, "linalg.fill")) {
    *scalar = mlirOperationGetOperand(maker, 0);
    return mlirTypeEqual(mlirValueGetType(*scalar), tp__element_type(mlirValueGetType(value)));
  }
  if (!tp__generic_read(maker, &generic) || generic.n_inputs > 0 || generic.n_inits != 1)
    return false;
  *scalar = mlirOperationGetOperand(generic.yield, 0);
  if (tp__is_captured(maker, *scalar))
    return true;
  MlirOperation inside = tp__defining_op(*scalar);
  if (mlirOperationIsNull(inside) || !tp__op_is(inside, "arith.constant"))
    return false;
  MlirOperation clone = mlirOperationClone(inside);
  tp__insert_before(where, clone);
  *scalar = mlirOperationGetResult(clone, 0);
  return true;
}

static int64_t inline_scalars(MlirOperation op) {
  tp__generic generic;
  int64_t n = 0;
  if (!tp__generic_read(op, &generic))
    return 0;
  for (int i = generic.n_inputs; i-- > 0;) {
    MlirValue scalar;
    if (!tp__generic_has_ranges(&generic, UINT64_C(1) << i) || !find_scalar(mlirOperationGetOperand(op, i), op, &scalar))
      continue;
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(generic.body, i), scalar);
    tp__generic_drop_input(&generic, i);
    n++;
  }
  return n;
}

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    pass->statistics[0] += inline_scalars(list.items[i]);
  tp__free(list.items);
  return status;
}

static const tp_statistic_row statistics[] = {{"inlined", "operands replaced by a number"}};

const tp_pass_row tp__inline_scalars_row = {
    .name = "tp-inline-scalars",
    .summary = "Operands that hold one number everywhere are read as that number",
    .description = "Requires: tensors. Establishes: no linalg.generic reads a linalg.fill, or another op that yields one "
                   "number, as an input. "
                   "Breaks: nothing; ops without users are left to canonicalize.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
