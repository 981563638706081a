/* Raises unused inits: an outs operand that the body never reads only provides a shape. It becomes
 * a tensor.empty, which keeps no other value alive. */
#include "passes/prepare/raise/raise.h"

#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

/* Producers of inits that have no contents, or that the user chose on purpose. Arguments also stay:
 * their storage belongs to the caller in any case. */
static const char *const kept_inits[] = {"tensor.empty", "bufferization.alloc_tensor",
                                         "shard.shard"};

static bool is_kept(MlirValue init) {
  MlirOperation op = tp__defining_op(init);
  bool kept = mlirOperationIsNull(op);
  for (int i = 0; i < TP_LEN(kept_inits) && !kept; i++)
    kept = tp__op_is(op, kept_inits[i]);
  return kept;
}

bool tp__writes_all(MlirOperation op, MlirAttribute maps, int operand) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!tp__is_tensor(type))
      continue;
    if (!tp__static_tensor(type, &rank, shape))
      return false;
    for (int d = 0; d < rank; d++)
      if (shape[d] == 0)
        return false;
  }
  return tp__map_covers(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, operand)),
                        mlirValueGetType(mlirOperationGetOperand(op, operand)));
}

void tp__raise_inits(tp__raise *raise, MlirOperation op) {
  int n_inits = (int)mlirOperationGetNumResults(op), n = (int)mlirOperationGetNumOperands(op);
  if (n_inits == 0 || n < n_inits || mlirOperationGetNumRegions(op) != 1)
    return;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirBlockIsNull(body) || mlirBlockGetNumArguments(body) != n || mlirAttributeIsNull(maps) ||
      mlirArrayAttrGetNumElements(maps) != n)
    return;
  for (int i = n - n_inits; i < n; i++) {
    MlirValue init = mlirOperationGetOperand(op, i);
    if (is_kept(init) || tp__is_used(mlirBlockGetArgument(body, i)) || !tp__writes_all(op, maps, i))
      continue;
    mlirOperationSetOperand(op, i, tp__empty(op, mlirValueGetType(init)));
    tp__erase_unused(raise, init);
    raise->statistics[TP_RAISED_INIT]++;
  }
}

static bool is_empty(MlirType type) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  bool empty = false;
  if (tp__static_tensor(type, &rank, shape))
    for (int d = 0; d < rank; d++)
      empty |= shape[d] == 0;
  return empty;
}

enum { MAX_USES = 1000 };

/* True if a value that the body yields depends on `value`, or if the search visits more than
 * MOST_USES ops. Reads by dead ops do not count: they vanish with these ops. */
static bool reaches_yield(MlirValue value, int *uses) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    intptr_t n = mlirOperationGetNumResults(user);
    if (n == 0 || ++*uses > MAX_USES)
      return true;
    for (intptr_t i = 0; i < n; i++)
      if (reaches_yield(mlirOperationGetResult(user, i), uses))
        return true;
  }
  return false;
}

/* True if result k may keep elements of an init that has contents and that the body does not
 * read. */
static bool loses_init(MlirOperation op, int n_results, int k) {
  int i = (int)mlirOperationGetNumOperands(op) - n_results + k, uses = 0;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirValue init = mlirOperationGetOperand(op, i);
  return mlirOperationIsNull(tp__defined_by(init, "tensor.empty")) &&
         !is_empty(mlirValueGetType(init)) &&
         !tp__writes_all(op, tp__inherent(op, "indexing_maps"), i) &&
         !reaches_yield(mlirBlockGetArgument(body, i), &uses);
}

bool tp__loses_init(MlirOperation op) {
  int n = (int)mlirOperationGetNumResults(op);
  for (int k = 0; k < n; k++)
    if (loses_init(op, n, k))
      return true;
  return false;
}

/* Builds an i1 before `where` that is true, which no pass of MLIR knows: index.sizeof gets its
 * value when code is generated. */
static MlirValue opaque_true(MlirOperation where) {
  MlirType index = mlirIndexTypeGet(mlirOperationGetContext(where));
  MlirOperation bits = tp__create(&(tp_build){.name = "index.sizeof",
                                              .location = mlirOperationGetLocation(where),
                                              .n_results = 1,
                                              .results = &index});
  tp__insert_before(where, bits);
  return tp__compare(where, TP_NE, mlirOperationGetResult(bits, 0), tp__index_constant(where, 0));
}

tp_status tp__read_lost_inits(MlirOperation op) {
  int n = (int)mlirOperationGetNumResults(op), first = (int)mlirOperationGetNumOperands(op) - n;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (int k = 0; k < n; k++)
    if (loses_init(op, n, k))
      mlirOperationSetOperand(yield, k,
                              tp__select(yield, opaque_true(yield),
                                         mlirOperationGetOperand(yield, k),
                                         mlirBlockGetArgument(body, first + k)));
  return TP_OK;
}

tp_status tp__keep_inits(MlirOperation op, void *data) {
  (void)data;
  return tp__op_is(op, "linalg.generic") ? tp__read_lost_inits(op) : TP_OK;
}
