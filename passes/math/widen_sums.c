/* tp-widen-sums: computes sums of numbers narrower than f32 in f32 and rounds once.
 *
 * A sum that rounds after each step depends on the order and stops growing once the next number is
 * less than half of its last place. For example, 3000 numbers around 1/2, added one by one in bf16,
 * give 256 instead of 1500. A processor and a GPU, or one device and several, add in different
 * orders. With f32 they agree up to the last place of the result.
 *
 * Reductions of bools are accumulated in bytes, which LLVM vectorizes, unlike bools. */
#include "passes/registry.h"
#include "passes/support/contraction.h"

#include "ir/diagnostics.h"
#include "passes/support/lower.h"
#include "rules/body.h"
#include "support/support.h"

static bool is_narrow_float(MlirType type) {
  return mlirTypeIsABF16(type) || mlirTypeIsAF16(type) || tp__is_f8(type);
}

static MlirType byte_type(MlirContext context) { return mlirIntegerTypeGet(context, 8); }

/* Elements that are accumulated in a wider type, the ops that combine them, and the conversions. */
typedef struct widening {
  bool (*is_narrow)(MlirType type);
  MlirType (*wide)(MlirContext context);
  const char *combine[2], *widen, *narrow;
} widening;

static const widening widenings[] = {
    {is_narrow_float, mlirF32TypeGet, {"arith.addf"}, "arith.extf", "arith.truncf"},
    {tp__is_bool, byte_type, {"arith.ori", "arith.andi"}, "arith.extui", "arith.trunci"},
};

static const widening *widening_of(MlirType element) {
  for (int i = 0; i < TP_LEN(widenings); i++)
    if (widenings[i].is_narrow(element))
      return &widenings[i];
  return NULL;
}

static bool has_reduction(MlirOperation op) {
  MlirAttribute kinds = tp__inherent(op, "iterator_types");
  MlirAttribute reduction =
      tp__parse_attr(mlirOperationGetContext(op), "#linalg.iterator_type<reduction>");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(kinds); i++)
    if (mlirAttributeEqual(mlirArrayAttrGetElement(kinds, i), reduction))
      return true;
  return false;
}

/* A sum in a body: the accumulator, the addition, and the number added. */
typedef struct narrow_sum {
  const widening *kind;
  MlirValue accumulator;
  MlirOperation add, choice; /* choice: a select between the sum and the accumulator; null: none */
  int added;                 /* operand number in `add` */
} narrow_sum;

static bool is_sum(const narrow_sum *s, MlirOperation op) {
  bool combines = false;
  for (int i = 0; i < 2 && s->kind->combine[i] && !mlirOperationIsNull(op); i++)
    combines |= tp__op_is(op, s->kind->combine[i]);
  return combines && (mlirValueEqual(mlirOperationGetOperand(op, 0), s->accumulator) ||
                      mlirValueEqual(mlirOperationGetOperand(op, 1), s->accumulator));
}

static bool has_one_use(MlirOperation op) {
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

/* Matches result k = acc + x or select(c, acc + x, acc), where acc and the sum have no other
 * readers. */
static bool find_sum(MlirOperation op, intptr_t k, narrow_sum *s) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  intptr_t first = mlirBlockGetNumArguments(body) - mlirOperationGetNumResults(op);
  MlirOperation last = tp__defining_op(mlirOperationGetOperand(mlirBlockGetTerminator(body), k));
  *s = (narrow_sum){.accumulator = mlirBlockGetArgument(body, first + k)};
  s->kind = widening_of(mlirValueGetType(s->accumulator));
  if (!s->kind)
    return false;
  if (!mlirOperationIsNull(last) && tp__op_is(last, "arith.select") &&
      mlirValueEqual(mlirOperationGetOperand(last, 2), s->accumulator)) {
    if (!has_one_use(last))
      return false;
    s->choice = last;
    last = tp__defining_op(mlirOperationGetOperand(last, 1));
  }
  if (!is_sum(s, last))
    return false;
  s->add = last;
  s->added = mlirValueEqual(mlirOperationGetOperand(last, 0), s->accumulator) ? 1 : 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(s->accumulator); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!mlirOperationEqual(user, s->add) &&
        (mlirOperationIsNull(s->choice) || !mlirOperationEqual(user, s->choice)))
      return false;
  }
  return has_one_use(s->add) &&
         !mlirValueEqual(mlirOperationGetOperand(s->add, s->added), s->accumulator);
}

static tp_status collect(MlirOperation op, void *data) {
  narrow_sum s;
  bool is_sum = false, is_reduce = tp__op_is(op, "linalg.reduce");
  if (is_reduce || (tp__op_is(op, "linalg.generic") && has_reduction(op)))
    for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++)
      is_sum |= find_sum(op, k, &s);
  return is_sum ? tp__op_list_add(data, op) : TP_OK;
}

static void replace_other_uses(MlirValue value, MlirOperation kept, MlirValue by) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand next = mlirOpOperandGetNextUse(use);
    if (!mlirOperationEqual(mlirOpOperandGetOwner(use), kept))
      mlirOperationSetOperand(mlirOpOperandGetOwner(use), mlirOpOperandGetOperandNumber(use), by);
    use = next;
  }
}

/* Widens result k of the op. */
static void widen(MlirOperation op, intptr_t k, const narrow_sum *s) {
  intptr_t init = mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op) + k;
  MlirValue result = mlirOperationGetResult(op, k);
  MlirType narrow = mlirValueGetType(result);
  MlirType element = s->kind->wide(mlirOperationGetContext(op)),
           wide = tp__type_with(narrow, element);
  mlirOperationSetOperand(
      op, init, tp__widened_init(op, mlirOperationGetOperand(op, init), wide, s->kind->widen));
  MlirValue added = mlirOperationGetOperand(s->add, s->added);
  mlirOperationSetOperand(s->add, s->added,
                          tp__build_one(s->add, s->kind->widen, 1, &added, element));
  mlirValueSetType(s->accumulator, element);
  mlirValueSetType(mlirOperationGetResult(s->add, 0), element);
  if (!mlirOperationIsNull(s->choice))
    mlirValueSetType(mlirOperationGetResult(s->choice, 0), element);
  mlirValueSetType(result, wide);
  MlirValue rounded =
      tp__build_one(mlirOperationGetNextInBlock(op), s->kind->narrow, 1, &result, narrow);
  replace_other_uses(result, mlirOpResultGetOwner(rounded), rounded);
}

static void widen_sums(MlirOperation op) {
  narrow_sum s;
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++)
    if (find_sum(op, k, &s))
      widen(op, k, &s);
}

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    widen_sums(list.items[i]);
  pass->statistics[0] = (int64_t)list.n;
  tp__free(list.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    {"sums", "ops with sums accumulated in f32, or reductions of bools in bytes"}};

const tp_pass_row tp__widen_sums_row = {
    .name = "tp-widen-sums",
    .summary = "Accumulate sums of f8, f16 and bf16 in f32, and round once; reductions of bools in "
               "bytes",
    .description =
        "Requires: tensors; linalg-generalize-named-ops for named ops. Establishes: a "
        "linalg.generic that sums numbers narrower than f32 has an f32 accumulator, and "
        "an arith.truncf rounds its result, so that the order of additions changes at "
        "most the last place. Reductions of i1 by and or or have an i8 accumulator, so "
        "that they are vectorized. Breaks: nothing; results are closer to the exact ones "
        "than those of the original program.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
