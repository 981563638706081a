/* Removes unused results: a generic loses results without uses that no other result needs, together
 * with their inits and the ops that compute them. */
#include "passes/prepare/raise/raise.h"

#include "support/support.h"

#include <mlir-c/AffineMap.h>

typedef struct live {
  const tp__generic *generic;
  uint64_t kept;          /* results that stay, as bits */
  tp_value_table *needed; /* body ops that a kept result or a side effect needs */
} live;

/* True if bit i is set. There are fewer than TP_RAISE_MAX_OPERANDS results. */
static bool has(uint64_t set, int i) { return i < TP_RAISE_MAX_OPERANDS && (set >> i & 1); }

/* Returns the top-level op of the body that contains `op`. */
static MlirOperation top_of(const tp__generic *generic, MlirOperation op) {
  while (!mlirBlockEqual(mlirOperationGetBlock(op), generic->body))
    op = mlirOperationGetParentOperation(op);
  return op;
}

static bool is_needed(const live *l, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = top_of(l->generic, mlirOpOperandGetOwner(use));
    bool yields = mlirOperationEqual(user, l->generic->yield);
    if (yields ? has(l->kept, (int)mlirOpOperandGetOperandNumber(use))
               : tp__table_get(l->needed, user.ptr) >= 0)
      return true;
  }
  return false;
}

/* Marks needed ops, last first: an op is needed if a needed later op uses it. */
static tp_status mark(live *l, MlirOperation *ops, int n) {
  for (int i = n - 1; i >= 0; i--) {
    bool needed = !tp__is_erasable(ops[i]);
    for (intptr_t r = 0; r < mlirOperationGetNumResults(ops[i]) && !needed; r++)
      needed = is_needed(l, mlirOperationGetResult(ops[i], r));
    if (needed && tp__table_put(l->needed, ops[i].ptr, 1) != TP_OK)
      return TP_NO_MEMORY;
  }
  return TP_OK;
}

/* Removes from `unused` the results whose accumulators the body still needs, until nothing
 * changes. */
static tp_status find_unused(const tp__generic *generic, MlirOperation *ops, int n,
                             uint64_t *unused) {
  bool changed = true;
  tp_status status = TP_OK;
  while (changed && status == TP_OK) {
    tp_value_table needed = {0};
    live l = {generic, ~*unused, &needed};
    changed = false;
    status = mark(&l, ops, n);
    for (int i = 0; i < generic->n_inits && status == TP_OK; i++)
      if (has(*unused, i) &&
          is_needed(&l, mlirBlockGetArgument(generic->body, generic->n_inputs + i))) {
        *unused &= ~(UINT64_C(1) << i);
        changed = true;
      }
    tp__table_destroy(&needed);
  }
  return status;
}

/* Returns tp.sharding for the kept results. It is a list for several results and a single entry for
 * one. */
static MlirAttribute kept_shardings(const tp__generic *generic, uint64_t kept) {
  MlirAttribute list = tp__get(generic->op, "tp.sharding"), entries[TP_RAISE_MAX_OPERANDS];
  int n = 0;
  if (mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list) ||
      mlirArrayAttrGetNumElements(list) != generic->n_inits)
    return list;
  for (int i = 0; i < generic->n_inits; i++)
    if (has(kept, i))
      entries[n++] = mlirArrayAttrGetElement(list, i);
  return n == 1 ? entries[0] : mlirArrayAttrGet(mlirOperationGetContext(generic->op), n, entries);
}

/* Builds a generic with the kept results and the attributes of the old one. */
static MlirOperation build(const tp__generic *generic, uint64_t kept) {
  MlirValue operands[TP_RAISE_MAX_OPERANDS];
  MlirAttribute maps[TP_RAISE_MAX_OPERANDS];
  int n = 0;
  for (int i = 0; i < generic->n_inputs + generic->n_inits; i++)
    if (i < generic->n_inputs || has(kept, i - generic->n_inputs)) {
      operands[n] = mlirOperationGetOperand(generic->op, i);
      maps[n++] = mlirAffineMapAttrGet(tp__generic_map(generic, i));
    }
  MlirOperation op =
      tp__build_generic(&(tp_generic){.location = mlirOperationGetLocation(generic->op),
                                      .n_inputs = generic->n_inputs,
                                      .n_inits = n - generic->n_inputs,
                                      .operands = operands,
                                      .maps = maps,
                                      .iterators = tp__inherent(generic->op, "iterator_types")});
  tp__copy_discardable(generic->op, op);
  MlirAttribute sharding = kept_shardings(generic, kept);
  if (!mlirAttributeIsNull(sharding))
    tp__set(op, "tp.sharding", sharding);
  return op;
}

/* Removes the yielded values and block arguments of dropped results, and then the unused ops, from
 * the body. */
static void shrink_body(const tp__generic *generic, MlirOperation *ops, int n_ops, uint64_t kept) {
  MlirValue values[TP_RAISE_MAX_OPERANDS];
  int n = 0;
  for (int i = 0; i < generic->n_inits; i++)
    if (has(kept, i))
      values[n++] = mlirOperationGetOperand(generic->yield, i);
  mlirOperationSetOperands(generic->yield, n, values);
  for (int i = n_ops - 1; i >= 0; i--) {
    bool used = false;
    for (intptr_t r = 0; r < mlirOperationGetNumResults(ops[i]); r++)
      used |= tp__is_used(mlirOperationGetResult(ops[i], r));
    if (!used && tp__is_erasable(ops[i]))
      mlirOperationDestroy(ops[i]);
  }
  for (int i = generic->n_inits - 1; i >= 0; i--)
    if (!has(kept, i))
      mlirBlockEraseArgument(generic->body, (unsigned)(generic->n_inputs + i));
}

static void replace(tp__raise *raise, const tp__generic *generic, uint64_t kept) {
  MlirOperation op = build(generic, kept);
  mlirRegionTakeBody(mlirOperationGetRegion(op, 0), mlirOperationGetRegion(generic->op, 0));
  tp__insert_before(generic->op, op);
  for (int i = 0, k = 0; i < generic->n_inits; i++) {
    if (has(kept, i))
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(generic->op, i),
                                    mlirOperationGetResult(op, k++));
    else
      raise->statistics[TP_RAISED_RESULT]++;
  }
  tp__destroy(raise, generic->op);
}

bool tp__raise_results(tp__raise *raise, const tp__generic *generic) {
  uint64_t all = (UINT64_C(1) << generic->n_inits) - 1, unused = 0, inits = 0;
  for (int i = 0; i < generic->n_inits; i++)
    if (!tp__is_used(mlirOperationGetResult(generic->op, i)))
      unused |= UINT64_C(1) << i;
  if (unused == 0 || generic->n_inits < 2)
    return false;
  if (unused == all)
    unused &= all - 1; /* at least one result must stay */
  size_t capacity = 0;
  int n = 0;
  MlirOperation *ops = NULL;
  for (MlirOperation op = mlirBlockGetFirstOperation(generic->body);
       raise->status == TP_OK && !mlirOperationEqual(op, generic->yield);
       op = mlirOperationGetNextInBlock(op)) {
    raise->status = tp__grow((void **)&ops, &capacity, (size_t)n + 1, sizeof *ops);
    if (raise->status == TP_OK)
      ops[n++] = op;
  }
  if (raise->status == TP_OK)
    raise->status = find_unused(generic, ops, n, &unused);
  inits = unused << generic->n_inputs;
  bool fires = raise->status == TP_OK && unused != 0 && tp__generic_has_ranges(generic, inits);
  if (fires) {
    shrink_body(generic, ops, n, all & ~unused);
    replace(raise, generic, all & ~unused);
  }
  tp__free(ops);
  return fires;
}
