/* tp-hoist-invariants: moves loop-invariant computations in front of the loop.
 *
 * The planner then decides about their sharding once. The program pays once, and not in each
 * iteration, for the gather of a weight that a constraint in the loop requires, or for the
 * all-reduce of partial products of two weights. Only ops that cannot trap move, because a loop may
 * run zero times. Of these, only ops worth keeping move: sharding annotations, reductions, and ops
 * whose result is not larger than their inputs. An op that makes a large result from small inputs
 * (a fill, a broadcast) is cheaper to recompute. It moves only if another moved op needs it.
 * Before, values that a loop carries unchanged become those from outside of it. */
#include "passes/prepare/hoist_carried.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "ir/value_table.h"
#include "ir/work.h"
#include "support/support.h"

#include <mlir-c/Dialect/Linalg.h>

/* ---- candidate ops ---- */

/* True for arithmetic that may trap. */
static bool may_trap(MlirOperation op) {
  static const char *const names[] = {"arith.divsi",      "arith.divui",     "arith.remsi",
                                      "arith.remui",      "arith.ceildivsi", "arith.ceildivui",
                                      "arith.floordivsi", "math.ipowi"};
  return tp__op_is_any(op, TP_LEN(names), names);
}

static bool is_arithmetic(MlirOperation op) {
  return (tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math") ||
          tp__op_has_dialect(op, "complex")) &&
         !may_trap(op);
}

static tp_status check_inner(MlirOperation op, void *data) {
  static const char *const names[] = {"linalg.yield", "linalg.index", "tensor.yield"};
  (void)data;
  return is_arithmetic(op) || tp__op_is_any(op, TP_LEN(names), names) ? TP_OK : TP_UNSUPPORTED;
}

/* True if the op may run even if the loop runs zero times. */
static bool may_move(MlirOperation op) {
  static const char *const names[] = {
      "tensor.empty",        "tensor.splat",          "tensor.from_elements",
      "tensor.expand_shape", "tensor.collapse_shape", "tensor.concat",
      "tensor.pad",          "shard.shard",           "shard.sharding"};
  static const char *const slices[] = {"tensor.extract_slice", "tensor.insert_slice"};
  /* a computed offset may be out of bounds if the loop runs zero times */
  if (tp__op_is_any(op, TP_LEN(slices), slices))
    return mlirOperationGetNumOperands(op) == (tp__op_is(op, slices[0]) ? 1 : 2);
  bool known = is_arithmetic(op) || tp__op_is_any(op, TP_LEN(names), names) ||
               (tp__op_has_dialect(op, "linalg") && mlirOperationGetNumResults(op) > 0);
  return known && tp__walk(op, check_inner, NULL) == TP_OK;
}

static bool reduces(MlirOperation op) {
  MlirAttribute types = tp__op_has_dialect(op, "linalg") ? mlirLinalgGetIndexingMapsAttribute(op)
                                                         : (MlirAttribute){NULL};
  if (mlirAttributeIsNull(types))
    return false;
  MlirAttribute output = mlirArrayAttrGetElement(types, mlirArrayAttrGetNumElements(types) - 1);
  MlirAffineMap map = mlirAffineMapAttrGetValue(output);
  return mlirAffineMapGetNumResults(map) < mlirAffineMapGetNumDims(map);
}

static bool is_worth_it(MlirOperation op) {
  if (tp__op_is(op, "shard.shard") || reduces(op))
    return true;
  intptr_t n_results = mlirOperationGetNumResults(op), n_inputs = mlirOperationGetNumOperands(op);
  /* inits do not count: they are not read or are cheap to make */
  if (tp__op_has_dialect(op, "linalg"))
    n_inputs -= n_results;
  int64_t in = 0, out = 0;
  for (intptr_t i = 0; i < n_inputs; i++)
    in += tp__n_elements(mlirValueGetType(mlirOperationGetOperand(op, i)));
  for (intptr_t i = 0; i < n_results; i++)
    out += tp__n_elements(mlirValueGetType(mlirOperationGetResult(op, i)));
  return out > 0 && out <= in;
}

/* ---- one loop ---- */

typedef struct hoister {
  MlirOperation loop;
  tp_op_list ops;       /* invariant ops of one block, in order */
  tp_value_table place; /* op -> index in `ops` */
  bool *needed;
  bool varies; /* result of check_use for the current op */
} hoister;

/* Returns the index in `ops` of the op that defines `value`, or -1. */
static int place_of(const hoister *h, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  return mlirOperationIsNull(op) ? -1 : tp__table_get(&h->place, op.ptr);
}

typedef struct uses {
  hoister *h;
  MlirOperation of; /* the op whose uses, and those in its regions, are visited */
  void (*visit)(hoister *h, MlirValue value);
} uses;

static tp_status visit_operands(MlirOperation op, void *data) {
  const uses *u = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (mlirOperationEqual(op, u->of) || tp__is_captured(u->of, value))
      u->visit(u->h, value);
  }
  return TP_OK;
}

static void each_use(hoister *h, MlirOperation op, void (*visit)(hoister *h, MlirValue value)) {
  uses u = {h, op, visit};
  visit_operands(op, &u);
  tp__walk(op, visit_operands, &u);
}

static void check_use(hoister *h, MlirValue value) {
  h->varies |= !tp__is_captured(h->loop, value) && place_of(h, value) < 0;
}

static void need(hoister *h, MlirValue value) {
  int place = place_of(h, value);
  if (place >= 0)
    h->needed[place] = true;
}

static tp_status collect_invariants(hoister *h, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!may_move(op))
      continue;
    h->varies = false;
    each_use(h, op, check_use);
    if (h->varies)
      continue;
    TP_TRY(tp__op_list_add(&h->ops, op));
    if (tp__table_put(&h->place, op.ptr, (int)h->ops.n - 1) != TP_OK)
      return tp__out_of_memory(op);
  }
  return TP_OK;
}

static tp_status hoist_from(MlirOperation loop, MlirBlock block, int64_t *n_moved) {
  hoister h = {.loop = loop};
  tp_status status = collect_invariants(&h, block);
  h.needed = tp__calloc(h.ops.n + 1, sizeof *h.needed);
  if (status == TP_OK && !h.needed)
    status = tp__out_of_memory(loop);
  for (size_t i = h.ops.n; i-- > 0 && status == TP_OK;)
    if (h.needed[i] || is_worth_it(h.ops.items[i])) {
      h.needed[i] = true;
      each_use(&h, h.ops.items[i], need);
    }
  for (size_t i = 0; i < h.ops.n && status == TP_OK; i++)
    if (h.needed[i]) {
      mlirOperationMoveBefore(h.ops.items[i], loop);
      ++*n_moved;
    }
  tp__free(h.ops.items);
  tp__free(h.needed);
  tp__table_destroy(&h.place);
  return status;
}

/* ---- the pass ---- */

enum { STAT_OPS, STAT_CARRIED };

/* Of nested loops the inner ones first: what they do not change, outer ones may carry unchanged. */
static tp_status hoist_carried(tp_pass *pass) {
  tp_op_list loops = {0};
  tp_status status = tp__walk(pass->module, tp__collect_loops, &loops);
  for (size_t i = loops.n; i-- > 0 && status == TP_OK;)
    status = tp__hoist_carried(loops.items[i], &pass->statistics[STAT_CARRIED]);
  tp__free(loops.items);
  return status;
}

static tp_status run(tp_pass *pass) {
  tp_op_list loops = {0};
  TP_TRY(hoist_carried(pass));
  tp_status status = tp__walk(pass->module, tp__collect_loops, &loops);
  /* innermost loops first: an op that leaves one loop may leave the next */
  for (size_t i = loops.n; i-- > 0 && status == TP_OK;)
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(loops.items[i]) && status == TP_OK; r++) {
      MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(loops.items[i], r));
      status = hoist_from(loops.items[i], block, &pass->statistics[STAT_OPS]);
    }
  tp__free(loops.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_OPS] = {"ops", "ops moved in front of a loop"},
    [STAT_CARRIED] = {"carried",
                      "values that a loop no longer carries, because no iteration changes them"},
};

const tp_pass_row tp__hoist_invariants_row = {
    .name = "tp-hoist-invariants",
    .summary = "Hoist loop-invariant ops out of loops",
    .description =
        "Requires: nothing. Establishes: no block of scf.for or scf.while contains a reshard, a "
        "reduction, or an op that makes no more elements than it reads, whose operands do not "
        "change in the loop, unless it may trap (division, reads at computed indices); the ops "
        "that these need are hoisted too; no loop without annotations carries a value that no "
        "iteration changes, unless it carries no other. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
