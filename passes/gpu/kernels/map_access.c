/* Builds accesses to a nest's operands, as scalars or vectors, and its body. */
#include "passes/gpu/kernels/map.h"
#include "passes/gpu/outline.h"

#include "ir/diagnostics.h"
#include "passes/support/lower.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <stdio.h>
#include <string.h>

/* ---- addresses ---- */

static MlirValue evaluate(MlirOperation where, MlirAffineExpr expr, const MlirValue *at) {
  if (mlirAffineExprIsADim(expr))
    return at[mlirAffineDimExprGetPosition(expr)];
  if (mlirAffineExprIsAConstant(expr))
    return tp__index_constant(where, mlirAffineConstantExprGetValue(expr));
  MlirValue a = evaluate(where, mlirAffineBinaryOpExprGetLHS(expr), at);
  MlirValue b = evaluate(where, mlirAffineBinaryOpExprGetRHS(expr), at);
  if (mlirAffineExprIsAMod(expr)) /* a - b * floor(a / b): never negative */
    return tp__binary(
        where, "arith.subi", a,
        tp__binary(where, "arith.muli", b, tp__binary(where, "arith.floordivsi", a, b)));
  return tp__binary(where,
                    mlirAffineExprIsAAdd(expr)        ? "arith.addi"
                    : mlirAffineExprIsAMul(expr)      ? "arith.muli"
                    : mlirAffineExprIsAFloorDiv(expr) ? "arith.floordivsi"
                                                      : "arith.ceildivsi",
                    a, b);
}

static int build_indices(MlirOperation where, const tp__map_operand *o, const MlirValue *at,
                         MlirValue *indices) {
  for (int d = 0; d < o->rank; d++)
    indices[d] = evaluate(where, mlirAffineMapGetResult(o->map, d), at);
  return o->rank;
}

MlirValue tp__map_load(const tp__map_nest *n, MlirOperation where, int operand,
                       const MlirValue *at) {
  const tp__map_operand *o = n->operands + operand;
  MlirValue operands[1 + TP_MAX_RANK] = {o->memref};
  if (o->is_scalar)
    return o->memref;
  int rank = build_indices(where, o, at, operands + 1);
  return tp__build_one(where, "memref.load", 1 + rank, operands, o->element);
}

void tp__map_store(const tp__map_nest *n, MlirOperation where, int operand, const MlirValue *at,
                   MlirValue value) {
  const tp__map_operand *o = n->operands + operand;
  MlirValue operands[2 + TP_MAX_RANK] = {value, o->memref};
  int rank = build_indices(where, o, at, operands + 2);
  tp__build(where, "memref.store", 2 + rank, operands, 0, NULL, 0, NULL);
}

/* ---- vectors ---- */

bool tp__map_depends(const tp__map_operand *o, int loop) {
  for (int d = 0; d < o->rank; d++)
    if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(o->map, d), loop))
      return true;
  return false;
}

/* True for types that LLVM packs into vectors with their memory layout. */
static bool has_vectors(MlirType element) {
  return mlirTypeIsAFloat(element) ||
         (mlirTypeIsAInteger(element) && mlirIntegerTypeIsSignless(element) &&
          mlirIntegerTypeGetWidth(element) >= 8);
}

/* True for a part of a buffer, at an offset that the kernel computes or will compute. */
static bool is_part(const tp__map_nest *n, const tp__map_operand *o) {
  MlirOperation view = tp__defining_op(o->memref);
  bool computes = n->is_inside || !mlirAttributeIsNull(tp__get(n->op, TP_ATTR_OFFSETS));
  return computes && !mlirOperationIsNull(view) && tp__op_is(view, "memref.subview");
}

/* True if neighbors along `loop` are contiguous in groups of `lanes` that are aligned to the
 * group. */
static bool is_packed(const tp__map_nest *n, const tp__map_operand *o, int loop, int lanes) {
  if (o->is_scalar || is_part(n, o) || !has_vectors(o->element))
    return false;
  bool found = false;
  for (int d = 0; d < o->rank; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(o->map, d);
    bool varies = mlirAffineExprIsFunctionOfDim(expr, loop);
    if (varies && (found || !mlirAffineExprIsADim(expr) || o->strides[d] != 1))
      return false;
    found |= varies;
    bool fixed =
        mlirAffineExprIsAConstant(expr)
            ? mlirAffineConstantExprGetValue(expr) == 0
            : mlirAffineExprIsADim(expr) && n->size[mlirAffineDimExprGetPosition(expr)] == 1;
    if (!varies && !fixed && o->strides[d] % lanes != 0)
      return false;
  }
  return found;
}

int tp__map_lanes(const tp__map_nest *n, int loop) {
  int64_t widest = TP_MAP_VECTOR_BYTES / TP_MAP_LANES;
  for (int i = 0; i < n->n_operands; i++)
    if (is_packed(n, n->operands + i, loop, 1) && tp__element_size(n->operands[i].element) > widest)
      widest = tp__element_size(n->operands[i].element);
  int lanes = (int)(TP_MAP_VECTOR_BYTES / widest);
  if (lanes > n->max_lanes)
    lanes = n->max_lanes;
  for (; lanes > 1; lanes /= 2) {
    int n_packed = 0;
    bool ok = n->size[loop] % lanes == 0;
    for (int i = 0; i < n->n_operands; i++) {
      bool packed = is_packed(n, n->operands + i, loop, lanes);
      n_packed += packed;
      if (i >= n->n_inputs) /* an output is written as whole vectors or not vectorized */
        ok &= packed || !tp__map_depends(n->operands + i, loop);
    }
    if (ok && n_packed > 0)
      return lanes;
  }
  return 1;
}

int64_t tp__map_alignment(const tp__map_nest *n, int operand, int loop, int lanes) {
  const tp__map_operand *o = n->operands + operand;
  return lanes > 1 && is_packed(n, o, loop, lanes) ? lanes * tp__element_size(o->element) : 1;
}

MlirType tp__map_stored(MlirType element) {
  MlirContext context = mlirTypeGetContext(element);
  if (tp__is_f8(element))
    return mlirIntegerTypeGet(context, 8);
  return mlirTypeIsAIndex(element) ? mlirIntegerTypeGet(context, 64) : element;
}

static MlirType vector_of(const tp__map_operand *o, int lanes) {
  int64_t shape = lanes;
  return mlirVectorTypeGet(1, &shape, tp__map_stored(o->element));
}

static MlirValue build_address(const tp__map_nest *n, MlirOperation where, const tp__map_operand *o,
                               const MlirValue *at) {
  MlirValue indices[TP_MAX_RANK], sum = tp__index_constant(where, 0);
  int rank = build_indices(where, o, at, indices);
  for (int d = 0; d < rank; d++)
    sum = tp__binary(
        where, "arith.addi", sum,
        tp__binary(where, "arith.muli", indices[d], tp__index_constant(where, o->strides[d])));
  MlirValue word =
      tp__build_one(where, "arith.index_cast", 1, &sum, mlirIntegerTypeGet(n->context, 64));
  const int32_t dynamic = INT32_MIN;
  MlirNamedAttribute attrs[] = {
      tp__named(n->context, "elem_type", mlirTypeAttrGet(tp__map_stored(o->element))),
      tp__named(n->context, "rawConstantIndices", mlirDenseI32ArrayGet(n->context, 1, &dynamic)),
      tp__named(n->context, "noWrapFlags", mlirIntegerAttrGet(n->i32, 0)),
  };
  MlirValue operands[] = {o->pointer, word};
  return mlirOperationGetResult(
      tp__build(where, "llvm.getelementptr", 2, operands, 1, &n->ptr, TP_LEN(attrs), attrs), 0);
}

static int memory_attributes(const tp__map_nest *n, const tp__map_operand *o, int lanes,
                             MlirNamedAttribute *attrs) {
  MlirType i64 = mlirIntegerTypeGet(n->context, 64);
  attrs[0] = tp__named(n->context, "ordering", mlirIntegerAttrGet(i64, 0));
  attrs[1] = tp__named(n->context, "alignment",
                       mlirIntegerAttrGet(i64, lanes * tp__element_size(o->element)));
  return 2;
}

static MlirValue load_vector(const tp__map_nest *n, MlirOperation where, const tp__map_operand *o,
                             int lanes, const MlirValue *at) {
  MlirNamedAttribute attrs[2];
  MlirValue address = build_address(n, where, o, at);
  MlirType type = vector_of(o, lanes);
  int n_attrs = memory_attributes(n, o, lanes, attrs);
  return mlirOperationGetResult(
      tp__build(where, "llvm.load", 1, &address, 1, &type, n_attrs, attrs), 0);
}

static void store_vector(const tp__map_nest *n, MlirOperation where, const tp__map_operand *o,
                         int lanes, const MlirValue *at, MlirValue value) {
  MlirNamedAttribute attrs[2];
  MlirValue operands[] = {value, build_address(n, where, o, at)};
  int n_attrs = memory_attributes(n, o, lanes, attrs);
  tp__build(where, "llvm.store", 2, operands, 0, NULL, n_attrs, attrs);
}

static MlirValue extract(const tp__map_nest *n, MlirOperation where, MlirValue vector, int lane,
                         MlirType element) {
  MlirValue operands[] = {vector, tp__build_int(where, n->i32, lane)};
  MlirValue value =
      tp__build_one(where, "llvm.extractelement", 2, operands, tp__map_stored(element));
  return tp__is_f8(element) ? tp__build_one(where, "arith.bitcast", 1, &value, element) : value;
}

static MlirValue insert(const tp__map_nest *n, MlirOperation where, MlirValue vector, int lane,
                        MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (tp__is_f8(type))
    value = tp__build_one(where, "arith.bitcast", 1, &value, tp__map_stored(type));
  MlirValue operands[] = {vector, value, tp__build_int(where, n->i32, lane)};
  return tp__build_one(where, "llvm.insertelement", 3, operands, mlirValueGetType(vector));
}

/* ---- the body ---- */

typedef struct replacement {
  const MlirValue *at;
  tp_op_list indices;
} replacement;

static tp_status replace_index(MlirOperation op, void *data) {
  replacement *r = data;
  if (!tp__op_is(op, "linalg.index"))
    return TP_OK;
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                r->at[mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"))]);
  return tp__op_list_add(&r->indices, op);
}

/* Builds the ops of the body before `where`, for one iteration. */
static tp_status inline_body(const tp__map_nest *n, MlirOperation where, const MlirValue *arguments,
                             const MlirValue *at, MlirValue *yielded) {
  MlirOperation copy = mlirOperationClone(n->op), next;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 0));
  tp__insert_before(where, copy);
  for (int i = 0; i < n->n_operands; i++)
    if (!mlirValueIsNull(arguments[i]))
      mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(block, i), arguments[i]);
  replacement r = {.at = at};
  tp_status status = tp__walk(copy, replace_index, &r);
  for (size_t i = 0; i < r.indices.n && status == TP_OK; i++)
    mlirOperationDestroy(r.indices.items[i]);
  tp__free(r.indices.items);
  MlirOperation end = mlirBlockGetTerminator(block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, end);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationMoveBefore(op, where);
  }
  for (int k = 0; k < tp__map_n_outputs(n); k++)
    yielded[k] = mlirOperationGetOperand(end, k);
  mlirOperationDestroy(copy);
  return status;
}

void tp__map_fetch(const tp__map_nest *n, MlirOperation where, int operand, int loop, int lanes,
                   const MlirValue *at, MlirValue *values) {
  const tp__map_operand *o = n->operands + operand;
  MlirValue here[TP_MAP_LOOPS], first = {NULL};
  bool packed = lanes > 1 && is_packed(n, o, loop, lanes);
  for (int l = 0; l < n->n_loops; l++)
    here[l] = at[l];
  if (packed)
    first = load_vector(n, where, o, lanes, at);
  else if (lanes == 1 || !tp__map_depends(o, loop))
    first = tp__map_load(n, where, operand, at);
  for (int lane = 0; lane < lanes; lane++) {
    if (lane > 0)
      here[loop] = tp__binary(where, "arith.addi", at[loop], tp__index_constant(where, lane));
    values[lane] = packed                   ? extract(n, where, first, lane, o->element)
                   : mlirValueIsNull(first) ? tp__map_load(n, where, operand, here)
                                            : first;
  }
}

void tp__map_put(const tp__map_nest *n, MlirOperation where, int operand, int loop, int lanes,
                 const MlirValue *at, const MlirValue *values) {
  const tp__map_operand *o = n->operands + operand;
  MlirValue here[TP_MAP_LOOPS], vector;
  bool packed = lanes > 1 && is_packed(n, o, loop, lanes);
  if (packed)
    vector = tp__build_one(where, "llvm.mlir.poison", 0, NULL, vector_of(o, lanes));
  for (int l = 0; l < n->n_loops; l++)
    here[l] = at[l];
  for (int lane = 0; lane < lanes; lane++) {
    if (lane > 0)
      here[loop] = tp__binary(where, "arith.addi", at[loop], tp__index_constant(where, lane));
    if (packed)
      vector = insert(n, where, vector, lane, values[lane]);
    else
      tp__map_store(n, where, operand, here, values[lane]);
  }
  if (packed)
    store_vector(n, where, o, lanes, at, vector);
}

tp_status tp__map_compute(const tp__map_nest *n, MlirOperation where, int loop, int lanes,
                          const MlirValue *at, tp__map_lanes_of *arguments, MlirValue *so_far,
                          tp__map_lanes_of *yielded) {
  MlirValue here[TP_MAP_LOOPS];
  for (int l = 0; l < n->n_loops; l++)
    here[l] = at[l];
  for (int lane = 0; lane < lanes; lane++) {
    MlirValue in[TP_MAP_OPERANDS], out[TP_MAP_OPERANDS];
    if (lane > 0)
      here[loop] = tp__binary(where, "arith.addi", at[loop], tp__index_constant(where, lane));
    for (int i = 0; i < n->n_operands; i++)
      in[i] = i >= n->n_inputs && so_far ? so_far[i - n->n_inputs] : arguments[i][lane];
    TP_TRY(inline_body(n, where, in, here, out));
    for (int k = 0; k < tp__map_n_outputs(n); k++)
      if (so_far)
        so_far[k] = out[k];
      else
        yielded[k][lane] = out[k];
  }
  return TP_OK;
}

tp_status tp__map_body(const tp__map_nest *n, MlirOperation where, int loop, int lanes,
                       const MlirValue *at, MlirValue *so_far) {
  tp__map_lanes_of arguments[TP_MAP_OPERANDS], yielded[TP_MAP_OPERANDS];
  for (int i = 0; i < n->n_operands; i++)
    if (tp__body_reads(&n->body, i) && (i < n->n_inputs || !so_far))
      tp__map_fetch(n, where, i, loop, lanes, at, arguments[i]);
    else
      memset(arguments[i], 0, sizeof arguments[i]);
  TP_TRY(tp__map_compute(n, where, loop, lanes, at, arguments, so_far, yielded));
  for (int k = 0; k < tp__map_n_outputs(n) && !so_far; k++)
    tp__map_put(n, where, n->n_inputs + k, loop, lanes, at, yielded[k]);
  return TP_OK;
}
