/* Replaces values that a loop carries unchanged by their initial values. */
#include "passes/prepare/hoist_carried.h"

#include "ir/diagnostics.h"
#include "support/support.h"

/* A loop, with the places of its carried values: operand first_operand + i, argument first_arg + i
 * of each region, operand i of the yield, operand 1 + i of the condition, and result i. */
typedef struct carrying_loop {
  MlirOperation op, condition, yield; /* condition: null for scf.for */
  MlirBlock before, body;             /* before: null for scf.for */
  int first_operand, first_arg, n;
} carrying_loop;

/* False for an scf.while that passes on other values than it gets. */
static bool read_loop(MlirOperation op, carrying_loop *loop) {
  bool is_while = tp__op_is(op, "scf.while");
  *loop = (carrying_loop){.op = op,
                          .body = tp__region_block(op, is_while ? 1 : 0),
                          .first_operand = is_while ? 0 : 3,
                          .first_arg = is_while ? 0 : 1,
                          .n = (int)mlirOperationGetNumResults(op)};
  loop->yield = mlirBlockGetTerminator(loop->body);
  if (!is_while)
    return true;
  loop->before = tp__region_block(op, 0);
  loop->condition = mlirBlockGetTerminator(loop->before);
  return mlirOperationGetNumOperands(op) == loop->n;
}

static bool is_unchanged(const carrying_loop *loop, int i) {
  MlirValue own = mlirBlockGetArgument(loop->body, loop->first_arg + i);
  return mlirValueEqual(mlirOperationGetOperand(loop->yield, i), own) &&
         (mlirOperationIsNull(loop->condition) ||
          mlirValueEqual(mlirOperationGetOperand(loop->condition, 1 + i),
                         mlirBlockGetArgument(loop->before, i)));
}

static void use_init(const carrying_loop *loop, int i) {
  MlirValue init = mlirOperationGetOperand(loop->op, loop->first_operand + i);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(loop->op, i), init);
  mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(loop->body, loop->first_arg + i), init);
  if (!mlirBlockIsNull(loop->before))
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(loop->before, i), init);
}

/* Keeps the first operands of an op, and of the others those that `gone` does not name. */
static void keep_operands(MlirOperation op, int first, int n, const bool *gone, MlirValue *values) {
  int kept = 0;
  for (int i = 0; i < first + n; i++)
    if (i < first || !gone[i - first])
      values[kept++] = mlirOperationGetOperand(op, i);
  mlirOperationSetOperands(op, kept, values);
}

static void erase_args(MlirBlock block, int first, int n, const bool *gone) {
  for (int i = n - 1; i >= 0; i--)
    if (gone[i])
      mlirBlockEraseArgument(block, (unsigned)(first + i));
}

/* Puts a loop that carries the others in the place of `loop`. */
static void shrink(const carrying_loop *loop, const bool *gone, MlirValue *values,
                   MlirType *types) {
  int n_operands = 0, n_types = 0, n_regions = (int)mlirOperationGetNumRegions(loop->op);
  keep_operands(loop->yield, 0, loop->n, gone, values);
  erase_args(loop->body, loop->first_arg, loop->n, gone);
  if (!mlirBlockIsNull(loop->before)) {
    keep_operands(loop->condition, 1, loop->n, gone, values);
    erase_args(loop->before, 0, loop->n, gone);
  }
  for (int i = 0; i < loop->first_operand; i++)
    values[n_operands++] = mlirOperationGetOperand(loop->op, i);
  for (int i = 0; i < loop->n; i++)
    if (!gone[i]) {
      values[n_operands++] = mlirOperationGetOperand(loop->op, loop->first_operand + i);
      types[n_types++] = mlirValueGetType(mlirOperationGetResult(loop->op, i));
    }
  MlirAttribute is_unsigned =
      tp__op_is(loop->op, "scf.for") ? tp__inherent(loop->op, "unsignedCmp") : (MlirAttribute){0};
  MlirNamedAttribute attribute;
  if (!mlirAttributeIsNull(is_unsigned))
    attribute = tp__named(mlirOperationGetContext(loop->op), "unsignedCmp", is_unsigned);
  MlirOperation op =
      tp__create(&(tp_build){.name = mlirBlockIsNull(loop->before) ? "scf.for" : "scf.while",
                             .location = mlirOperationGetLocation(loop->op),
                             .n_operands = n_operands,
                             .operands = values,
                             .n_results = n_types,
                             .results = types,
                             .n_attributes = !mlirAttributeIsNull(is_unsigned),
                             .attributes = &attribute,
                             .n_regions = n_regions});
  for (int r = 0; r < n_regions; r++)
    mlirRegionTakeBody(mlirOperationGetRegion(op, r), mlirOperationGetRegion(loop->op, r));
  tp__insert_before(loop->op, op);
  for (int i = 0, k = 0; i < loop->n; i++)
    if (!gone[i])
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(loop->op, i),
                                    mlirOperationGetResult(op, k++));
  mlirOperationDestroy(loop->op);
}

tp_status tp__hoist_carried(MlirOperation op, int64_t *n) {
  carrying_loop loop;
  if (!read_loop(op, &loop) || mlirOperationGetNumDiscardableAttributes(op) > 0)
    return TP_OK;
  bool *gone = tp__calloc((size_t)loop.n + 1, sizeof *gone);
  MlirValue *values = tp__calloc((size_t)loop.n + 4, sizeof *values);
  MlirType *types = tp__calloc((size_t)loop.n + 1, sizeof *types);
  tp_status status = gone && values && types ? TP_OK : tp__out_of_memory(op);
  int n_gone = 0;
  for (int i = 0; i < loop.n && status == TP_OK; i++)
    n_gone += gone[i] = is_unchanged(&loop, i);
  if (n_gone == loop.n) /* a loop without results has no reason to be there */
    n_gone = 0;
  for (int i = 0; i < loop.n && n_gone > 0; i++)
    if (gone[i])
      use_init(&loop, i);
  if (n_gone > 0)
    shrink(&loop, gone, values, types);
  *n += n_gone;
  tp__free(types);
  tp__free(values);
  tp__free(gone);
  return status;
}
