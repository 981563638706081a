/* Reads a loop nest that is to become a kernel. */
#include "passes/gpu/kernels/map.h"

#include "ir/diagnostics.h"
#include "passes/support/lower.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <stdlib.h>

/* ---- ops ---- */

static tp_status refuse_unsafe(MlirOperation op, void *data) {
  static const char *const dialects[] = {"arith", "complex", "math", "linalg", "scf"};
  (void)data;
  for (int i = 0; i < TP_LEN(dialects); i++)
    if (tp__op_has_dialect(op, dialects[i]))
      return TP_OK;
  return TP_UNSUPPORTED;
}

bool tp__map_is_nest(MlirOperation op) {
  return tp__op_is(op, "linalg.generic") && mlirOperationGetNumResults(op) == 0 &&
         tp__walk(op, refuse_unsafe, NULL) == TP_OK;
}

bool tp__map_is_pure(MlirOperation op) {
  static const char *const names[] = {
      "memref.alloc",          "memref.cast",
      "memref.collapse_shape", "memref.expand_shape",
      "memref.get_global",     "memref.reinterpret_cast",
      "memref.subview",        "memref.extract_aligned_pointer_as_index",
      "llvm.inttoptr",         "memref.extract_strided_metadata"};
  for (int i = 0; i < TP_LEN(names); i++)
    if (tp__op_is(op, names[i]))
      return true;
  return tp__op_has_dialect(op, "arith") || tp__runtime_call(op) == TP_CALL_QUERY;
}

int tp__map_n_outputs(const tp__map_nest *nest) { return nest->n_operands - nest->n_inputs; }

int64_t tp__map_iterations(const tp__map_nest *nest, bool of_reduction) {
  int64_t n = 1;
  for (int l = 0; l < nest->n_loops; l++)
    if (nest->is_reduction[l] == of_reduction)
      n *= nest->size[l];
  return n;
}

/* ---- operands ---- */

static tp_status read_buffer(tp__map_nest *n, int i, MlirType type) {
  tp__map_operand *o = n->operands + i;
  int64_t offset;
  o->rank = (int)mlirShapedTypeGetRank(type);
  if (o->rank > TP_MAX_RANK)
    return tp__error(n->op, TP_UNSUPPORTED,
                     "operand %d has %d dimensions; a kernel takes at most %d", i, o->rank,
                     TP_MAX_RANK);
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, o->strides, &offset)))
    return tp__error(n->op, TP_UNSUPPORTED,
                     "operand %d has a layout without strides, which kernels do not support", i);
  for (int d = 0; d < o->rank; d++) {
    o->sizes[d] = mlirShapedTypeGetDimSize(type, d);
    if (o->sizes[d] < 0)
      return tp__error(n->op, TP_UNSUPPORTED, "operand %d has a dynamic size in dimension %d", i,
                       d);
    if (mlirShapedTypeIsDynamicStrideOrOffset(o->strides[d])) {
      o->strides[d] = TP_MAP_UNKNOWN_STRIDE;
      o->has_unknown_strides = true;
    }
  }
  if (tp__element_size(o->element) == 0)
    return tp__error(
        n->op, TP_UNSUPPORTED,
        "operand %d has an unsupported element type; kernels support " TP_ELEMENT_TYPES, i);
  return TP_OK;
}

static tp_status read_operand(tp__map_nest *n, int i) {
  tp__map_operand *o = n->operands + i;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(n->op, i));
  o->map =
      mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(tp__inherent(n->op, "indexing_maps"), i));
  o->is_scalar = !mlirTypeIsAMemRef(type);
  o->element = o->is_scalar ? type : tp__element_type(type);
  o->memref = mlirOperationGetOperand(n->op, i);
  return o->is_scalar ? TP_OK : read_buffer(n, i, type);
}

/* ---- loops ---- */

/* Reads loop sizes. linalg guarantees that each loop is a dimension of some operand. */
static void read_sizes(tp__map_nest *n, const tp__map_operand *o) {
  for (int d = 0; d < o->rank; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(o->map, d);
    if (mlirAffineExprIsADim(expr))
      n->size[mlirAffineDimExprGetPosition(expr)] = o->sizes[d];
  }
}

/* Reads `expr` as a sum of loops times constants, and adds each constant, times `scale`, to the
 * factor of its loop. False if it has another form. */
static bool add_factors(MlirAffineExpr expr, int64_t scale, int64_t *factors) {
  if (mlirAffineExprIsAConstant(expr))
    return true;
  if (mlirAffineExprIsADim(expr)) {
    int64_t *factor = factors + mlirAffineDimExprGetPosition(expr);
    return !__builtin_add_overflow(*factor, scale, factor);
  }
  if (!mlirAffineExprIsAAdd(expr) && !mlirAffineExprIsAMul(expr))
    return false;
  MlirAffineExpr a = mlirAffineBinaryOpExprGetLHS(expr), b = mlirAffineBinaryOpExprGetRHS(expr);
  if (mlirAffineExprIsAAdd(expr))
    return add_factors(a, scale, factors) && add_factors(b, scale, factors);
  return mlirAffineExprIsAConstant(b) &&
         !__builtin_mul_overflow(scale, mlirAffineConstantExprGetValue(b), &scale) &&
         add_factors(a, scale, factors);
}

/* True if `expr` depends on `loop`, and its value determines all loops that it depends on: 2 i + 1,
 * 5 - i, or 4 i + j where j has at most 4 iterations. */
static bool is_injective(const tp__map_nest *n, MlirAffineExpr expr, int loop) {
  int64_t factors[TP_MAP_LOOPS] = {0}, reach = 0, last = 0;
  if (!add_factors(expr, 1, factors) || factors[loop] == 0)
    return false;
  for (;;) { /* by growing factors: each is greater than all smaller ones together can reach */
    int next = -1;
    for (int l = 0; l < n->n_loops; l++)
      if (n->size[l] > 1 && llabs(factors[l]) > last &&
          (next < 0 || llabs(factors[l]) < llabs(factors[next])))
        next = l;
    if (next < 0)
      return true;
    last = llabs(factors[next]);
    for (int l = 0; l < n->n_loops; l++)
      if (l != next && n->size[l] > 1 && llabs(factors[l]) == last)
        return false;
    int64_t step;
    if (last <= reach || __builtin_mul_overflow(last, n->size[next] - 1, &step) ||
        __builtin_add_overflow(reach, step, &reach))
      return false;
  }
}

static bool writes_disjoint(const tp__map_nest *n, const tp__map_operand *o, int loop) {
  for (int d = 0; d < o->rank; d++)
    if (is_injective(n, mlirAffineMapGetResult(o->map, d), loop))
      return true;
  return false;
}

/* Classifies loops by the outputs, not by their iterator types: each iteration of a parallel
 * loop writes different elements; all iterations of a reduction loop update the same elements,
 * in order. A loop of one iteration may be of both kinds. An output that reads its index makes it
 * parallel: stores have no index of a reduction loop. */
static tp_status classify_loop(tp__map_nest *n, int loop) {
  int n_apart = 0, n_same = 0, n_outputs = tp__map_n_outputs(n);
  for (int i = n->n_inputs; i < n->n_operands; i++) {
    n_apart += writes_disjoint(n, n->operands + i, loop);
    n_same += !tp__map_depends(n->operands + i, loop);
  }
  if (n->size[loop] <= 1)
    n->is_reduction[loop] &= n_same == n_outputs;
  if (n->size[loop] <= 1 || (n->is_reduction[loop] ? n_same : n_apart) == n_outputs)
    return TP_OK;
  if (n_apart < n_outputs && n_same < n_outputs)
    return tp__error(n->op, TP_UNSUPPORTED,
                     "loop %d (size %lld) rewrites elements of some outputs, but not the same "
                     "elements of all outputs; threads of a kernel would race: compute these "
                     "outputs by separate ops",
                     loop, (long long)n->size[loop]);
  n->is_reduction[loop] = n_same == n_outputs;
  return TP_OK;
}

static tp_status read_loops(tp__map_nest *n) {
  MlirAttribute iterators = tp__inherent(n->op, "iterator_types");
  MlirAttribute parallel = tp__parse_attr(n->context, "#linalg.iterator_type<parallel>");
  n->n_loops = (int)mlirArrayAttrGetNumElements(iterators);
  if (n->n_loops > TP_MAP_LOOPS)
    return tp__error(n->op, TP_UNSUPPORTED, "has %d loops; a kernel takes at most %d", n->n_loops,
                     TP_MAP_LOOPS);
  for (int l = 0; l < n->n_loops; l++)
    n->is_reduction[l] = !mlirAttributeEqual(mlirArrayAttrGetElement(iterators, l), parallel);
  for (int i = 0; i < n->n_operands; i++)
    if (!n->operands[i].is_scalar)
      read_sizes(n, n->operands + i);
  return TP_OK;
}

tp_status tp__map_read(MlirOperation op, tp__map_nest *n) {
  MlirContext context = mlirOperationGetContext(op);
  int64_t segments[2];
  *n = (tp__map_nest){.op = op,
                      .context = context,
                      .index = mlirIndexTypeGet(context),
                      .i32 = mlirIntegerTypeGet(context, 32),
                      .ptr = mlirTypeParseGet(context, tp__ref("!llvm.ptr"))};
  if (!tp__op_is(op, "linalg.generic") ||
      tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) != 2)
    return tp__error(op, TP_UNSUPPORTED,
                     "cannot be written as linalg.generic; run linalg-generalize-named-ops first");
  n->n_inputs = (int)segments[0];
  n->n_operands = (int)(segments[0] + segments[1]);
  if (n->n_operands > TP_MAP_OPERANDS || !tp__body_of(op, n->n_inputs, &n->body))
    return tp__error(op, TP_UNSUPPORTED, "has %d operands; a kernel takes at most %d",
                     n->n_operands, TP_MAP_OPERANDS);
  for (int i = 0; i < n->n_operands; i++)
    TP_TRY(read_operand(n, i));
  TP_TRY(read_loops(n));
  for (int l = 0; l < n->n_loops; l++)
    TP_TRY(classify_loop(n, l));
  return TP_OK;
}
