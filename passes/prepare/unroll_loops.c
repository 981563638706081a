/* tp-unroll-loops: replaces short loops of elementwise ops by their iterations.
 *
 * JAX exports the rounds of its random number generator (threefry) as a loop with five iterations
 * over tensors as large as the random numbers. As a loop, each op of each iteration goes through
 * memory. Unrolled, fusion makes one loop nest of all of them, and a GPU needs no host for it. */
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "ir/work.h"
#include "rules/nest.h"
#include "support/support.h"

#include <string.h>

enum { MAX_TRIPS = 8, MAX_OPS = 192, STAT_LOOPS = 0 };

/* ---- which loops ---- */

typedef struct body_check {
  MlirOperation loop;
  int n_ops;
} body_check;

/* True for an op whose elements depend on a few elements of its operands. */
static bool is_elementwise(MlirOperation op) {
  static const char *const names[] = {
      "tensor.empty",          "tensor.splat",     "tensor.from_elements", "tensor.expand_shape",
      "tensor.collapse_shape", "tensor.extract",   "tensor.extract_slice", "tensor.cast",
      "linalg.fill",           "linalg.broadcast", "linalg.transpose"};
  tp_nest nest;
  return tp__op_is_any(op, TP_LEN(names), names) || tp__op_has_dialect(op, "arith") ||
         tp__op_has_dialect(op, "math") ||
         (tp__nest_of(op, &nest) && tp__nest_is_elementwise(&nest));
}

/* True if somebody has said something about the op, such as a layout. */
static bool is_annotated(MlirOperation op) {
  bool is = false;
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(op); i++) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetDiscardableAttribute(op, i).name);
    is |= name.length > 3 && memcmp(name.data, "tp.", 3) == 0;
  }
  return is;
}

static tp_status check_op(MlirOperation op, void *data) {
  body_check *check = data;
  static const char *const ends[] = {"scf.yield", "scf.condition"};
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (!mlirOperationEqual(parent, check->loop)) /* in the body of an op that was checked */
    return tp__op_has_dialect(parent, "linalg") ? TP_OK : TP_UNSUPPORTED;
  check->n_ops++;
  return tp__op_is_any(op, TP_LEN(ends), ends) ||
                 (check->n_ops <= MAX_OPS && !is_annotated(op) && is_elementwise(op))
             ? TP_OK
             : TP_UNSUPPORTED;
}

/* The number of iterations of a loop that is to be unrolled; 0: it stays. */
static int trips_of(MlirOperation loop) {
  double trips;
  body_check check = {.loop = loop};
  bool fits = !is_annotated(loop) && tp__loop_trips(loop, &trips) && trips >= 1 &&
              trips <= MAX_TRIPS && tp__walk(loop, check_op, &check) == TP_OK;
  return fits ? (int)trips : 0;
}

/* ---- unrolling ---- */

typedef struct unroller {
  MlirOperation loop;
  MlirValue *values; /* that the loop carries */
  int n;
  tp_op_list made;
} unroller;

/* Moves the ops of a block of a copy of the loop in front of the loop. Its last n arguments are the
 * values; afterwards these are what the block ends with, from operand `from` on. */
static tp_status move_block(unroller *u, MlirBlock block, intptr_t from) {
  MlirOperation end = mlirBlockGetTerminator(block), op;
  intptr_t first = mlirBlockGetNumArguments(block) - u->n;
  for (int i = 0; i < u->n; i++)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(block, first + i), u->values[i]);
  while (!mlirOperationEqual(op = mlirBlockGetFirstOperation(block), end)) {
    TP_TRY(tp__op_list_add(&u->made, op));
    mlirOperationMoveBefore(op, u->loop);
  }
  for (int i = 0; i < u->n; i++)
    u->values[i] = mlirOperationGetOperand(end, from + i);
  return TP_OK;
}

/* The counter of an scf.for in iteration `trip`. */
static MlirValue counter_at(MlirOperation loop, int trip) {
  MlirValue low = mlirOperationGetOperand(loop, 0), step = mlirOperationGetOperand(loop, 2);
  for (int i = 0; i < trip; i++) {
    MlirType type = mlirValueGetType(low);
    MlirOperation add = tp__create(&(tp_build){.name = "arith.addi",
                                               .location = mlirOperationGetLocation(loop),
                                               .n_operands = 2,
                                               .operands = (MlirValue[]){low, step},
                                               .n_results = 1,
                                               .results = &type});
    tp__insert_before(loop, add);
    low = mlirOperationGetResult(add, 0);
  }
  return low;
}

static tp_status unroll_trip(unroller *u, MlirOperation copy, int trip, bool is_end) {
  MlirBlock first = mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 0));
  if (tp__op_is(copy, "scf.for")) {
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(first, 0), counter_at(u->loop, trip));
    return move_block(u, first, 0);
  }
  TP_TRY(move_block(u, first, 1));
  return is_end ? TP_OK
                : move_block(u, mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 1)), 0);
}

/* An element of a constant that is taken by a slice becomes a constant: amounts of shifts are such
 * elements, from tables that the loop carries. */
static MlirOperation fold_slice(MlirOperation op) {
  MlirValue from = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirOperation constant = tp__defined_by(from, "arith.constant");
  int64_t n = tp__n_elements(mlirValueGetType(from)), offset;
  int size = (int)tp__element_size(tp__element_type(type));
  char bytes[1024];
  if (mlirOperationIsNull(constant) || mlirOperationGetNumOperands(op) != 1 ||
      tp__value_rank(from) != 1 || tp__n_elements(type) != 1 || n * size > (int64_t)sizeof bytes ||
      tp__int_list(tp__inherent(op, "static_offsets"), 1, &offset) != 1 ||
      !tp__constant_data(tp__inherent(constant, "value"), (size_t)(n * size), bytes))
    return op;
  MlirAttribute value =
      mlirDenseElementsAttrRawBufferGet(type, (size_t)size, bytes + offset * size);
  if (mlirAttributeIsNull(value))
    return op;
  MlirNamedAttribute attr = tp__named(mlirOperationGetContext(op), "value", value);
  MlirOperation made = tp__create(&(tp_build){.name = "arith.constant",
                                              .location = mlirOperationGetLocation(op),
                                              .n_results = 1,
                                              .results = &type,
                                              .n_attributes = 1,
                                              .attributes = &attr});
  tp__insert_before(op, made);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetResult(made, 0));
  mlirOperationDestroy(op);
  return made;
}

static tp_status unroll(unroller *u, int trips) {
  bool is_for = tp__op_is(u->loop, "scf.for");
  for (int trip = 0; trip < trips + !is_for; trip++) {
    MlirOperation copy = mlirOperationClone(u->loop);
    tp__insert_before(u->loop, copy);
    tp_status status = unroll_trip(u, copy, trip, trip == trips);
    mlirOperationDestroy(copy);
    TP_TRY(status);
  }
  for (int i = 0; i < u->n; i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(u->loop, i), u->values[i]);
  mlirOperationDestroy(u->loop);
  for (size_t i = 0; i < u->made.n; i++)
    if (tp__op_is(u->made.items[i], "tensor.extract_slice"))
      u->made.items[i] = fold_slice(u->made.items[i]);
  for (size_t i = u->made.n; i-- > 0;) { /* such as comparisons of the counter */
    bool is_used = false;
    for (intptr_t r = 0; r < mlirOperationGetNumResults(u->made.items[i]); r++)
      is_used |= tp__is_used(mlirOperationGetResult(u->made.items[i], r));
    if (!is_used)
      mlirOperationDestroy(u->made.items[i]);
  }
  return TP_OK;
}

static tp_status unroll_loop(tp_pass *pass, MlirOperation loop) {
  int trips = trips_of(loop), first = tp__op_is(loop, "scf.for") ? 3 : 0;
  unroller u = {.loop = loop, .n = (int)mlirOperationGetNumResults(loop)};
  /* an scf.while may pass other values to its body than it carries */
  if (trips == 0 || mlirOperationGetNumOperands(loop) != first + u.n)
    return TP_OK;
  u.values = tp__calloc((size_t)u.n + 1, sizeof *u.values);
  if (!u.values)
    return tp__out_of_memory(loop);
  for (int i = 0; i < u.n; i++)
    u.values[i] = mlirOperationGetOperand(loop, first + i);
  tp_status status = unroll(&u, trips);
  pass->statistics[STAT_LOOPS] += status == TP_OK;
  tp__free(u.values);
  tp__free(u.made.items);
  return status;
}

/* ---- the pass ---- */

static tp_status run(tp_pass *pass) {
  tp_op_list loops = {0};
  tp_status status = tp__walk(pass->module, tp__collect_loops, &loops);
  for (size_t i = loops.n; i-- > 0 && status == TP_OK;) /* innermost loops first */
    status = unroll_loop(pass, loops.items[i]);
  tp__free(loops.items);
  return status;
}

static const tp_statistic_row statistics[] = {{"loops", "loops that were unrolled"}};

const tp_pass_row tp__unroll_loops_row = {
    .name = "tp-unroll-loops",
    .summary = "Unroll short loops of elementwise ops",
    .description =
        "Requires: calls inlined. Establishes: there is no scf.for or scf.while of at most 8 "
        "iterations, a number that constants say, whose body has at most 192 ops, all of them "
        "elementwise, slices or reshapes, without layouts of their own; elements that they take "
        "from constants are constants. JAX's random numbers are "
        "such loops. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
