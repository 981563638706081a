/* tp-keep-offsets: a position that the GPU computes, and at which a loop nest reads or writes, such
 * as that of a token in a key-value cache, stays on the GPU.
 *
 * The host would have to wait for the number, and a program that waits cannot become a graph. A
 * nest on a part of a buffer whose offset is loaded from another buffer therefore gets that other
 * buffer as an operand. The nest does not read it yet, but later passes see that it depends on it,
 * and keep it until the nest has run. When the nest becomes a function, the loads and the offset
 * move into it (outline.h). This is correct if nothing is written to that buffer between the load
 * and the nest.
 *
 * The body of a nest may also use a number that the host has loaded from such a buffer, such as the
 * position up to which a mask is true. The nest then reads it from the device itself. */
#include "passes/gpu/outline.h"
#include "passes/registry.h"
#include "passes/support/lower.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { MAX_OPERANDS = 16, STAT_KEPT = 0, STAT_TAKEN = 1 };

/* ---- where offsets come from ---- */

/* The loads on which offsets depend. */
typedef struct origin {
  MlirOperation nest;
  int n;
  MlirOperation loads[TP_OUTLINE_LOADS];
} origin;

static bool add_load(origin *from, MlirOperation load) {
  for (int i = 0; i < from->n; i++)
    if (mlirOperationEqual(from->loads[i], load))
      return true;
  if (from->n == TP_OUTLINE_LOADS)
    return false;
  from->loads[from->n++] = load;
  return true;
}

static bool reads_only(MlirOperation op, MlirValue buffer) {
  int64_t segments[2];
  if (tp__op_is(op, "memref.load"))
    return true;
  if (tp__op_is(op, "memref.copy"))
    return !mlirValueEqual(mlirOperationGetOperand(op, 1), buffer);
  if (!tp__op_is(op, "linalg.generic") ||
      tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) != 2)
    return false;
  for (int64_t i = segments[0]; i < segments[0] + segments[1]; i++)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), buffer))
      return false;
  return true;
}

static bool is_view(MlirOperation op) {
  static const char *const names[] = {"memref.subview", "memref.collapse_shape",
                                      "memref.expand_shape", "memref.cast"};
  return !mlirOperationIsNull(op) && tp__op_is_any(op, TP_LEN(names), names);
}

/* True if nothing can write to the buffer, or to a view of it, after the load. */
static bool stays_as_it_is(MlirValue buffer, MlirOperation load) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    bool is_before = mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(load)) &&
                     mlirOperationIsBeforeInBlock(op, load);
    bool writes_before =
        is_before && (tp__op_is(op, "linalg.generic") || tp__op_is(op, "memref.copy"));
    bool fits = is_view(op) ? stays_as_it_is(mlirOperationGetResult(op, 0), load)
                            : reads_only(op, buffer) || writes_before;
    if (!fits)
      return false;
  }
  return true;
}

/* The same for all of the memory of which the buffer is a view. */
static bool is_settled(MlirValue buffer, MlirOperation load) {
  MlirOperation made = tp__defining_op(buffer);
  for (; is_view(made); made = tp__defining_op(buffer))
    buffer = mlirOperationGetOperand(made, 0);
  return (mlirOperationIsNull(made) || tp__op_is(made, "memref.alloc")) &&
         stays_as_it_is(buffer, load);
}

/* Adds the loads on which a number depends. False if it depends on something else. */
static bool follow(MlirValue value, origin *from) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) ||
      !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(from->nest)))
    return !mlirOperationIsNull(op) && tp__op_is(op, "arith.constant");
  if (tp__op_is(op, "arith.constant"))
    return true;
  bool is_load = tp__op_is(op, "memref.load");
  if (is_load) {
    MlirValue buffer = mlirOperationGetOperand(op, 0);
    return mlirOperationGetNumOperands(op) == 1 && is_settled(buffer, op) && add_load(from, op);
  }
  if (!tp__op_has_dialect(op, "arith"))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!follow(mlirOperationGetOperand(op, i), from))
      return false;
  return true;
}

/* True if an operand is a part of a buffer at an offset that is loaded. */
static bool is_at_loaded_offset(MlirValue value, origin *from) {
  MlirOperation view = tp__defining_op(value);
  if (mlirOperationIsNull(view) || !tp__op_is(view, "memref.subview") ||
      mlirOperationGetNumOperands(view) < 2)
    return false;
  for (intptr_t i = 1; i < mlirOperationGetNumOperands(view); i++)
    if (!follow(mlirOperationGetOperand(view, i), from))
      return false;
  return from->n > 0;
}

/* ---- numbers that bodies take ---- */

typedef struct captured {
  MlirOperation nest;
  origin from;
} captured;

/* Adds the loads whose results an op of a body uses. */
static tp_status find_captured(MlirOperation op, void *data) {
  captured *c = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirOperation load = tp__defining_op(mlirOperationGetOperand(op, i));
    if (mlirOperationIsNull(load) || !tp__op_is(load, "memref.load") ||
        mlirOperationGetNumOperands(load) != 1 || tp__is_inside(load, c->nest) ||
        !mlirBlockEqual(mlirOperationGetBlock(load), mlirOperationGetBlock(c->nest)) ||
        !is_settled(mlirOperationGetOperand(load, 0), load))
      continue;
    (void)add_load(&c->from, load); /* without room, the host reads it */
  }
  return TP_OK;
}

/* ---- rewriting ---- */

static MlirOperation build_nest(MlirOperation op, const origin *from) {
  MlirContext context = mlirOperationGetContext(op);
  bool is_copy = tp__op_is(op, "memref.copy");
  MlirValue operands[MAX_OPERANDS + TP_OUTLINE_LOADS];
  MlirAttribute maps[MAX_OPERANDS + TP_OUTLINE_LOADS];
  int64_t segments[2] = {1, 1};
  MlirAttribute given = is_copy ? (MlirAttribute){NULL} : tp__inherent(op, "indexing_maps");
  int rank = is_copy ? (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(op, 0)))
                     : (int)mlirArrayAttrGetNumElements(tp__inherent(op, "iterator_types"));
  MlirAttribute identity = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, rank));
  if (!is_copy)
    (void)tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments);
  int n = 0;
  for (int64_t i = 0; i < segments[0] + segments[1]; i++) {
    for (int k = 0; i == segments[0] && k < from->n; k++) {
      operands[n] = mlirOperationGetOperand(from->loads[k], 0);
      maps[n++] = mlirAffineMapAttrGet(mlirAffineMapGet(context, rank, 0, 0, NULL));
    }
    operands[n] = mlirOperationGetOperand(op, i);
    maps[n++] = is_copy ? identity : mlirArrayAttrGetElement(given, i);
  }
  MlirOperation made = tp__build_generic(&(tp_generic){
      .where = op,
      .location = mlirOperationGetLocation(op),
      .n_inputs = (int)segments[0] + from->n,
      .n_inits = (int)segments[1],
      .operands = operands,
      .maps = maps,
      .iterators = is_copy ? (MlirAttribute){NULL} : tp__inherent(op, "iterator_types")});
  if (is_copy) {
    MlirOperation end = tp__build_generic_body(made);
    MlirValue element = mlirBlockGetArgument(mlirOperationGetBlock(end), 0);
    mlirOperationSetOperands(end, 1, &element);
  } else {
    mlirRegionTakeBody(mlirOperationGetRegion(made, 0), mlirOperationGetRegion(op, 0));
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(made, 0));
    for (int k = 0; k < from->n; k++)
      mlirBlockInsertArgument(body, segments[0] + k,
                              mlirValueGetType(mlirOperationGetResult(from->loads[k], 0)),
                              mlirOperationGetLocation(op));
  }
  return made;
}

static tp_status replace_captured(MlirOperation op, void *data) {
  const captured *c = data; /* with the nest that has the new operands */
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(c->nest, 0));
  int64_t segments[2] = {1, 1};
  (void)tp__int_list(tp__inherent(c->nest, "operandSegmentSizes"), 2, segments);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    for (int k = 0; k < c->from.n; k++)
      if (mlirValueEqual(mlirOperationGetOperand(op, i),
                         mlirOperationGetResult(c->from.loads[k], 0)))
        mlirOperationSetOperand(op, i, mlirBlockGetArgument(body, segments[0] - c->from.n + k));
  return TP_OK;
}

/* Gives a nest the buffers of the numbers that its body takes. */
static void take_captured(tp_pass *pass, MlirOperation *op) {
  captured c = {.nest = *op, .from = {.nest = *op}};
  if (!tp__op_is(*op, "linalg.generic") || mlirOperationGetNumOperands(*op) > MAX_OPERANDS)
    return;
  (void)tp__walk(*op, find_captured, &c); /* the visitor does not fail */
  if (c.from.n == 0)
    return;
  c.nest = build_nest(*op, &c.from);
  (void)tp__walk(c.nest, replace_captured, &c);
  mlirOperationDestroy(*op);
  for (int k = 0; k < c.from.n; k++)
    if (!tp__is_used(mlirOperationGetResult(c.from.loads[k], 0)))
      mlirOperationDestroy(c.from.loads[k]);
  *op = c.nest;
  pass->statistics[STAT_TAKEN]++;
}

static tp_status collect(MlirOperation op, void *data) {
  bool is_nest = tp__op_is(op, "linalg.generic") && mlirOperationGetNumResults(op) == 0;
  return is_nest || tp__op_is(op, "memref.copy") ? tp__op_list_add(data, op) : TP_OK;
}

static tp_status keep(MlirOperation func, void *data) {
  tp_pass *pass = data;
  tp_op_list list = {0};
  tp_status status = tp__walk(func, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    take_captured(pass, &list.items[i]);
    MlirOperation op = list.items[i];
    origin from = {.nest = op};
    bool is_kept = false, fits = mlirOperationGetNumOperands(op) <= MAX_OPERANDS;
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(op) && fits; k++) {
      origin more = from;
      if (is_at_loaded_offset(mlirOperationGetOperand(op, k), &more)) {
        from = more;
        is_kept = true;
      }
    }
    if (!is_kept)
      continue;
    tp__set(build_nest(op, &from), TP_ATTR_OFFSETS, mlirUnitAttrGet(pass->context));
    mlirOperationDestroy(op);
    pass->statistics[STAT_KEPT]++;
  }
  tp__free(list.items);
  return status;
}

static tp_status run(tp_pass *pass) { return tp__each_entry(pass->module, keep, pass); }

static const tp_statistic_row statistics[] = {
    {"kept", "loop nests and copies at offsets that the GPU computes"},
    {"taken", "loop nests that read numbers that the GPU computes"},
};

const tp_pass_row tp__keep_offsets_row = {
    .name = "tp-keep-offsets",
    .summary =
        "Keep the offsets that a GPU computes, and at which loop nests access buffers, there",
    .description =
        "Requires: linalg.generic and memref.copy on buffers without assigned addresses. "
        "Establishes: a nest, or a copy, that accesses a part of a buffer at an offset computed "
        "from numbers in other buffers has these as operands, and an attribute, so that outlining "
        "can move loads and offset into the kernel; copies become nests. A nest whose body uses a "
        "number that was loaded in front of it has its buffer as an operand. Buffers that may "
        "change between load and nest are left to the host. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
