/* tp-order-loops: reorders the loops of structured ops on buffers to match the memory layout.
 *
 * The innermost loop becomes the one along which the most operands are contiguous or constant. A
 * sum over rows then adds whole rows instead of one column after the other. Floating-point sums and
 * products may be reassociated if nothing else prevents it, so that a row is summed in vector
 * lanes. Loops move only if each result is combined in the same order, or if the combiner may be
 * reordered. */
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { MAX_OPERANDS = 64, MAX_LOOPS = 16, STAT_MOVED = 0, STAT_REASSOCIATED };

typedef struct nest {
  MlirOperation op;
  MlirContext context;
  MlirBlock body;
  int n_operands, n_inputs, n_loops;
  MlirAffineMap maps[MAX_OPERANDS];
  bool is_reduction[MAX_LOOPS];
  int64_t size[MAX_LOOPS]; /* number of iterations; 0: unknown */
} nest;

static bool read_nest(MlirOperation op, nest *n) {
  int64_t segments[2];
  if (!tp__op_is(op, "linalg.generic") || mlirOperationGetNumResults(op) != 0 ||
      tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) != 2 ||
      segments[0] + segments[1] > MAX_OPERANDS)
    return false;
  *n = (nest){.op = op,
              .context = mlirOperationGetContext(op),
              .n_operands = (int)(segments[0] + segments[1]),
              .n_inputs = (int)segments[0]};
  n->body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirAttribute maps = tp__inherent(op, "indexing_maps"),
                iterators = tp__inherent(op, "iterator_types");
  n->n_loops = (int)mlirArrayAttrGetNumElements(iterators);
  if (n->n_loops > MAX_LOOPS || n->n_operands == 0)
    return false;
  MlirAttribute parallel = tp__parse_attr(n->context, "#linalg.iterator_type<parallel>");
  for (int l = 0; l < n->n_loops; l++)
    n->is_reduction[l] = !mlirAttributeEqual(mlirArrayAttrGetElement(iterators, l), parallel);
  for (int i = 0; i < n->n_operands; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    n->maps[i] = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    for (intptr_t d = 0; d < mlirAffineMapGetNumResults(n->maps[i]); d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(n->maps[i], d);
      if (mlirAffineExprIsADim(expr) && !mlirShapedTypeIsDynamicDim(type, d))
        n->size[mlirAffineDimExprGetPosition(expr)] = mlirShapedTypeGetDimSize(type, d);
    }
  }
  return true;
}

/* ---- combiners ---- */

/* Returns the op that combines result k over the reduction loops. Null unless it is the only use of
 * the accumulator. */
static MlirOperation combiner(const nest *n, int k) {
  MlirValue so_far = mlirBlockGetArgument(n->body, n->n_inputs + k);
  MlirOperation op = tp__defining_op(mlirOperationGetOperand(mlirBlockGetTerminator(n->body), k));
  if (mlirOperationIsNull(op) || !tp__is_used_once(so_far) ||
      !tp__is_used_once(mlirOperationGetResult(op, 0)) || mlirOperationGetNumOperands(op) != 2)
    return (MlirOperation){NULL};
  for (int i = 0; i < 2; i++)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), so_far))
      return op;
  return (MlirOperation){NULL};
}

static bool is_float_sum(MlirOperation op) {
  static const char *const names[] = {"arith.addf", "arith.mulf"};
  return tp__op_is_any(op, TP_LEN(names), names);
}

static bool may_reorder(MlirOperation op) {
  static const char *const names[] = {
      "arith.addi",  "arith.muli",  "arith.andi",  "arith.ori",      "arith.xori",    "arith.minsi",
      "arith.maxsi", "arith.minui", "arith.maxui", "arith.minimumf", "arith.maximumf"};
  return is_float_sum(op) || tp__op_is_any(op, TP_LEN(names), names);
}

/* True if result k is a reduction. */
static bool is_reduced(const nest *n, int k) {
  uint64_t seen = 0;
  MlirAffineMap map = n->maps[n->n_inputs + k];
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    for (int l = 0; l < n->n_loops; l++)
      if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d), l))
        seen |= UINT64_C(1) << l;
  for (int l = 0; l < n->n_loops; l++)
    if (n->is_reduction[l] && !(seen >> l & 1))
      return true;
  return false;
}

static bool all_may_reorder(const nest *n) {
  for (int k = 0; k < n->n_operands - n->n_inputs; k++) {
    MlirOperation op = is_reduced(n, k) ? combiner(n, k) : (MlirOperation){NULL};
    if (is_reduced(n, k) && (mlirOperationIsNull(op) || !may_reorder(op)))
      return false;
  }
  return true;
}

static int64_t reassociate(const nest *n) {
  int64_t count = 0;
  for (int k = 0; k < n->n_operands - n->n_inputs; k++) {
    MlirOperation op = is_reduced(n, k) ? combiner(n, k) : (MlirOperation){NULL};
    if (mlirOperationIsNull(op) || !is_float_sum(op))
      continue;
    mlirOperationSetInherentAttributeByName(op, tp__ref("fastmath"),
                                            tp__parse_attr(n->context, "#arith.fastmath<reassoc>"));
    count++;
  }
  return count;
}

/* ---- loop order ---- */

/* Returns the number of operands that loop l accesses with a stride larger than one element. */
static int n_strided(const nest *n, int l) {
  int count = 0;
  for (int i = 0; i < n->n_operands; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(n->op, i));
    intptr_t rank = mlirAffineMapGetNumResults(n->maps[i]);
    bool strided = false;
    /* a dynamic size is negative */
    while (rank > 0 && mlirShapedTypeGetDimSize(type, rank - 1) == 1)
      rank--;
    for (intptr_t d = 0; d + 1 < rank; d++)
      strided |= mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(n->maps[i], d), l);
    count += strided;
  }
  return count;
}

/* Computes order[i], the loop at position i. Loops of one iteration go first, the best innermost
 * loop goes last, and the others keep their order. False if the order does not change. */
static bool find_order(const nest *n, int *order) {
  bool movable = all_may_reorder(n);
  int best = -1, best_strided = 0, count = 0;
  for (int l = 0; l < n->n_loops; l++) {
    bool reorders = false; /* moving this loop last would reorder reduction loops */
    for (int m = l + 1; m < n->n_loops; m++)
      reorders |= n->is_reduction[l] && n->is_reduction[m] && n->size[m] != 1;
    if (n->size[l] == 1 || (reorders && !movable))
      continue;
    int strided = n_strided(n, l);
    if (best < 0 || strided <= best_strided) { /* among equals, the innermost one */
      best = l;
      best_strided = strided;
    }
  }
  for (int l = 0; l < n->n_loops; l++)
    if (n->size[l] == 1)
      order[count++] = l;
  for (int l = 0; l < n->n_loops; l++)
    if (n->size[l] != 1 && l != best)
      order[count++] = l;
  if (best >= 0)
    order[count++] = best;
  for (int l = 0; l < n->n_loops; l++)
    if (order[l] != l)
      return true;
  return false;
}

static tp_status renumber_index(MlirOperation op, void *data) {
  const int *place = data;
  if (tp__op_is(op, "linalg.index")) {
    int64_t old = mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
    mlirOperationSetInherentAttributeByName(op, tp__ref("dim"),
                                            tp__attr_i64(mlirOperationGetContext(op), place[old]));
  }
  return TP_OK;
}

static void permute(const nest *n, const int *order) {
  MlirAffineExpr dims[MAX_LOOPS];
  MlirAttribute maps[MAX_OPERANDS], iterators[MAX_LOOPS];
  int place[MAX_LOOPS];
  MlirAttribute old = tp__inherent(n->op, "iterator_types");
  for (int i = 0; i < n->n_loops; i++) {
    place[order[i]] = i;
    iterators[i] = mlirArrayAttrGetElement(old, order[i]);
  }
  for (int l = 0; l < n->n_loops; l++)
    dims[l] = mlirAffineDimExprGet(n->context, place[l]);
  for (int i = 0; i < n->n_operands; i++) {
    MlirAffineExpr results[TP_MAX_RANK];
    intptr_t rank = mlirAffineMapGetNumResults(n->maps[i]);
    for (intptr_t d = 0; d < rank; d++)
      results[d] =
          mlirAffineExprCompose(mlirAffineMapGetResult(n->maps[i], d),
                                mlirAffineMapGet(n->context, n->n_loops, 0, n->n_loops, dims));
    maps[i] = mlirAffineMapAttrGet(mlirAffineMapGet(n->context, n->n_loops, 0, rank, results));
  }
  mlirOperationSetInherentAttributeByName(n->op, tp__ref("indexing_maps"),
                                          mlirArrayAttrGet(n->context, n->n_operands, maps));
  mlirOperationSetInherentAttributeByName(n->op, tp__ref("iterator_types"),
                                          mlirArrayAttrGet(n->context, n->n_loops, iterators));
  tp__walk(n->op, renumber_index, place);
}

/* ---- the pass ---- */

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, tp__collect_generic, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    int order[MAX_LOOPS];
    nest n;
    if (!read_nest(list.items[i], &n))
      continue;
    pass->statistics[STAT_REASSOCIATED] += reassociate(&n);
    if (find_order(&n, order)) {
      permute(&n, order);
      pass->statistics[STAT_MOVED]++;
    }
  }
  tp__free(list.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    {"moved", "loop nests whose order changed"},
    {"reassociated", "float sums and products marked as reassociable"},
};

const tp_pass_row tp__order_loops_row = {
    .name = "tp-order-loops",
    .summary = "Order loops by memory layout and allow vectorized reductions",
    .description =
        "Requires: structured ops on buffers. Establishes: the innermost loop of a linalg.generic "
        "is the one along which the most operands are contiguous or constant; float sums and "
        "products have fastmath<reassoc>. Breaks: nothing; the last bits of such reductions depend "
        "on the vector width, in the same way on all devices.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
