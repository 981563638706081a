/* tp-clone-inits: clones values without contents (empty, fill) to each op that overwrites them.
 *
 * Canonicalization merges equal fills into one at the start of the function. An op that accumulates
 * into a value with other users gets a copy during bufferization. That costs an additional buffer
 * with a long live range, and the copy is slower than a fill. Of a tensor.empty, bufferization
 * makes no copies: two values that a loop carries would share its buffer. The pass also lets an op
 * that maps each element to the same position overwrite its operand if it is the last reader: one
 * buffer in the cache is faster than two. */
#include "passes/prepare/raise/raise.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

/* A fill of a memref has no result. */
static tp_status collect(MlirOperation op, void *data) {
  bool makes_init = tp__op_is(op, "tensor.empty") ||
                    (tp__op_is(op, "linalg.fill") && mlirOperationGetNumResults(op) == 1);
  return makes_init ? tp__op_list_add(data, op) : TP_OK;
}

/* True if the use is an init of a structured op or of a loop. They are the last operands, one per
 * result; of scf.while, all. */
static bool is_init(MlirOpOperand use) {
  MlirOperation op = mlirOpOperandGetOwner(use);
  bool has_inits = tp__op_has_dialect(op, "linalg") || tp__op_is(op, "scf.for");
  if (tp__op_is(op, "scf.while"))
    return true;
  return has_inits && mlirOpOperandGetOperandNumber(use) >=
                          mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op);
}

/* The same, or the tensor that a slice is inserted into. */
static bool is_overwritten(MlirOpOperand use) {
  return is_init(use) || (tp__op_is(mlirOpOperandGetOwner(use), "tensor.insert_slice") &&
                          mlirOpOperandGetOperandNumber(use) == 1);
}

static bool is_dead(MlirOperation op) { return !tp__is_used(mlirOperationGetResult(op, 0)); }

static int64_t clone_for_uses(MlirOperation op) {
  int64_t n = 0;
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand next = mlirOpOperandGetNextUse(use);
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (is_overwritten(use)) {
      MlirOperation clone = mlirOperationClone(op);
      tp__insert_before(user, clone);
      mlirOperationSetOperand(user, mlirOpOperandGetOperandNumber(use),
                              mlirOperationGetResult(clone, 0));
      n++;
    }
    use = next;
  }
  return n;
}

/* ---- overwriting an operand ---- */

static bool is_identity(MlirOperation op, intptr_t operand) {
  /* an identity map of the result: no loop is a reduction */
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  return mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, operand)));
}

/* True if the value is an argument of the scf.for around the op, directly or as loop-carried
 * value. */
static bool is_carried(MlirValue value, MlirOperation op) {
  MlirBlock block = mlirBlockArgumentGetOwner(value);
  return mlirBlockEqual(block, mlirOperationGetBlock(op)) &&
         tp__op_is(mlirBlockGetParentOperation(block), "scf.for");
}

static bool is_reshape(MlirOperation op) {
  return !mlirOperationIsNull(op) &&
         (tp__op_is(op, "tensor.expand_shape") || tp__op_is(op, "tensor.collapse_shape"));
}

/* True if the user is a structured op before `op` that only reads the value, or a reshape for such
 * ops. */
static bool reads_before(MlirOpOperand use, MlirOperation op) {
  MlirOperation user = mlirOpOperandGetOwner(use);
  bool is_before =
      is_reshape(user) || (tp__op_has_dialect(user, "linalg") && !is_init(use) &&
                           mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(op)) &&
                           mlirOperationIsBeforeInBlock(user, op));
  for (MlirOpOperand next = is_reshape(user) ? mlirValueGetFirstUse(mlirOperationGetResult(user, 0))
                                             : (MlirOpOperand){NULL};
       !mlirOpOperandIsNull(next) && is_before; next = mlirOpOperandGetNextUse(next))
    is_before = reads_before(next, op);
  return is_before;
}

/* True if only `op` and `view` use the value, and readers before `op` if `is_own`. */
static bool has_no_other_use(MlirValue value, MlirOperation op, MlirOperation view, bool is_own) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!mlirOperationEqual(user, op) && !mlirOperationEqual(user, view) &&
        !(is_own && reads_before(use, op)))
      return false;
  }
  return true;
}

/* True if `op` is the last reader of the value, also through a reshape, and may overwrite it.
 * Results of collectives may not be overwritten. A value with earlier readers must be the result of
 * a structured op or loop-carried, because these have buffers of their own. */
static bool ends_here(MlirOperation op, MlirValue value) {
  MlirValue from = value;
  while (is_reshape(tp__defining_op(from)))
    from = mlirOperationGetOperand(tp__defining_op(from), 0);
  MlirOperation maker = tp__defining_op(from), view = op;
  if (mlirOperationIsNull(maker)
          ? !is_carried(from, op)
          : tp__op_is(maker, "arith.constant") || tp__op_is(maker, "func.call") ||
                tp__op_has_dialect(maker, "shard") ||
                !mlirBlockEqual(mlirOperationGetBlock(maker), mlirOperationGetBlock(op)))
    return false;
  bool is_own = mlirOperationIsNull(maker) || tp__op_has_dialect(maker, "linalg");
  for (; !mlirValueEqual(value, from); value = mlirOperationGetOperand(view, 0)) {
    if (!has_no_other_use(value, op, view, is_own))
      return false;
    view = tp__defining_op(value);
  }
  return has_no_other_use(from, op, view, is_own);
}

static bool overwrite_operand(MlirOperation op) {
  intptr_t init = mlirOperationGetNumOperands(op) - 1;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirOperationGetNumResults(op) != 1 || !is_identity(op, init) ||
      !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body, init))))
    return false;
  MlirOperation maker = tp__defining_op(mlirOperationGetOperand(op, init));
  for (intptr_t i = 0; i < init && !mlirOperationIsNull(maker) && tp__op_is(maker, "tensor.empty");
       i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (!is_identity(op, i) ||
        !mlirTypeEqual(mlirValueGetType(value), mlirValueGetType(mlirOperationGetResult(op, 0))) ||
        !ends_here(op, value))
      continue;
    mlirOperationSetOperand(op, init, value);
    return true;
  }
  return false;
}

static tp_status overwrite_operands(tp_pass *pass) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, tp__collect_generic, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    pass->statistics[1] += overwrite_operand(list.items[i]);
  tp__free(list.items);
  return status;
}

/* ---- the pass ---- */

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, tp__keep_inits, NULL);
  if (status == TP_OK)
    status = overwrite_operands(pass);
  if (status == TP_OK)
    status = tp__walk(pass->module, collect, &list);
  for (size_t i = list.n; i-- > 0 && status == TP_OK;) {
    /* users first: clones of a fill then use the tensor.empty that it fills */
    pass->statistics[0] += clone_for_uses(list.items[i]);
    if (is_dead(list.items[i]))
      mlirOperationDestroy(list.items[i]);
  }
  tp__free(list.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    {"clones", "inits created in front of the op that overwrites them"},
    {"overwritten", "elementwise ops that overwrite an operand"}};

const tp_pass_row tp__clone_inits_row = {
    .name = "tp-clone-inits",
    .summary = "Create empty and filled tensors in front of the op that overwrites them",
    .description =
        "Requires: tensors. Establishes: a tensor.empty or linalg.fill that a "
        "structured op, an inserted slice or a loop overwrites has only this use and stands in "
        "front of it, so that "
        "its buffer is neither kept nor copied; an elementwise op overwrites an operand "
        "that nothing reads after it; a body reads an init of which elements may stay in the "
        "result. Breaks: nothing; the cse pass would undo it.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
