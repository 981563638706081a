/* Assertions in kernels. A thread whose assertion fails writes the assertion's number to a word
 * that the host checks at the end of the program. It then skips all later ops, which may access
 * memory out of bounds. */
#include "passes/gpu/kernels/map_host.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <string.h>

/* ---- numbering ---- */

static tp_status number_of(tp__map_asserts *asserts, MlirOperation op, int *number) {
  MlirAttribute message = tp__inherent(op, "msg");
  for (size_t i = 0; i < asserts->n; i++)
    if (mlirAttributeEqual(asserts->messages[i], message)) {
      *number = (int)i + 1;
      return TP_OK;
    }
  if (tp__grow((void **)&asserts->messages, &asserts->capacity, asserts->n + 1,
               sizeof *asserts->messages) != TP_OK)
    return tp__out_of_memory(op);
  asserts->messages[asserts->n++] = message;
  *number = (int)asserts->n;
  return TP_OK;
}

/* ---- in a kernel ---- */

static MlirValue zero_of(MlirOperation where, MlirType type) {
  MlirContext context = mlirOperationGetContext(where);
  if (mlirTypeIsAComplex(type)) {
    MlirAttribute part = mlirFloatAttrDoubleGet(context, mlirComplexTypeGetElementType(type), 0);
    return tp__constant(where, type, mlirArrayAttrGet(context, 2, (MlirAttribute[]){part, part}));
  }
  return tp__constant(where, type,
                      mlirTypeIsAFloat(type) ? mlirFloatAttrDoubleGet(context, type, 0)
                                             : mlirIntegerAttrGet(type, 0));
}

/* Moves all ops after `op` in its block into the first region of an scf.if. The other region
 * reports the failure. */
static void guard(MlirOperation op, MlirValue word, int number) {
  enum { MAX_YIELDED = TP_MAP_OPERANDS };
  MlirBlock block = mlirOperationGetBlock(op);
  MlirOperation end = mlirBlockGetTerminator(block), next, ends[2];
  MlirLocation location = mlirOperationGetLocation(op);
  MlirType types[MAX_YIELDED], i32 = mlirIntegerTypeGet(mlirOperationGetContext(op), 32);
  int n = (int)mlirOperationGetNumOperands(end);
  for (int i = 0; i < n; i++)
    types[i] = mlirValueGetType(mlirOperationGetOperand(end, i));
  MlirValue condition = mlirOperationGetOperand(op, 0);
  MlirOperation choice = tp__create(&(tp_build){.name = "scf.if",
                                                .location = location,
                                                .n_operands = 1,
                                                .operands = &condition,
                                                .n_results = n,
                                                .results = types,
                                                .n_regions = 2});
  tp__insert_before(op, choice);
  for (int r = 0; r < 2; r++) {
    MlirBlock inside = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(mlirOperationGetRegion(choice, r), inside);
    ends[r] = tp__create(&(tp_build){.name = "scf.yield", .location = location});
    mlirBlockAppendOwnedOperation(inside, ends[r]);
  }
  for (MlirOperation rest = mlirOperationGetNextInBlock(op); !mlirOperationEqual(rest, end);
       rest = next) {
    next = mlirOperationGetNextInBlock(rest);
    mlirOperationMoveBefore(rest, ends[0]);
  }
  MlirNamedAttribute ordering =
      tp__named(mlirOperationGetContext(op), "ordering",
                mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 64), 0));
  MlirValue report[] = {tp__build_int(ends[1], i32, number), word};
  tp__build(ends[1], "llvm.store", 2, report, 0, NULL, 1, &ordering);
  MlirValue yielded[2][MAX_YIELDED];
  for (int i = 0; i < n; i++) {
    yielded[0][i] = mlirOperationGetOperand(end, i);
    yielded[1][i] = zero_of(ends[1], types[i]);
    mlirOperationSetOperand(end, i, mlirOperationGetResult(choice, i));
  }
  for (int r = 0; r < 2; r++)
    tp__map_yield(ends[r], n, yielded[r]);
  mlirOperationDestroy(op);
}

static tp_status collect(MlirOperation op, void *data) {
  return tp__op_is(op, "cf.assert") ? tp__op_list_add(data, op) : TP_OK;
}

bool tp__map_asserts_in(MlirOperation nest) {
  tp_op_list list = {0};
  (void)tp__walk(nest, collect, &list);
  bool found = list.n > 0;
  tp__free(list.items);
  return found;
}

tp_status tp__map_guard(tp__map_asserts *asserts, MlirOperation nest, MlirValue word) {
  tp_op_list list = {0};
  tp_status status = tp__walk(nest, collect, &list);
  for (size_t i = list.n; i > 0 && status == TP_OK; i--) {
    /* last first, because it moves into the regions of earlier ones */
    int number = 0;
    status = number_of(asserts, list.items[i - 1], &number);
    if (status == TP_OK)
      guard(list.items[i - 1], word, number);
  }
  tp__free(list.items);
  return status;
}

/* ---- on the host ---- */

void tp__map_check(tp__lowering *l, const tp__map_asserts *asserts) {
  MlirOperation end =
      mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(l->func, 0)));
  if (asserts->n == 0)
    return;
  MlirValue number = tp__build_call(l, end, "tprt_abi_asserted", 1, &l->ctx, l->i32);
  for (size_t i = 0; i < asserts->n; i++) {
    MlirValue holds = tp__compare(end, TP_NE, number, tp__build_int(end, l->i32, (int64_t)i + 1));
    MlirNamedAttribute message = tp__named(l->context, "msg", asserts->messages[i]);
    tp__build(end, "cf.assert", 1, &holds, 0, NULL, 1, &message);
  }
}
