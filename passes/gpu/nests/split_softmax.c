/* Softmax, or log-sum-exp, of few long rows: computes the row max and the sum of exp(x - max) in
 * one pass over the data.
 *
 * One kernel reads the elements of each part once and computes its max m_p and the sum s_p of exp(x
 * - m_p). The row max m is the max of all m_p, and the sum is that of s_p exp(m_p - m) (M. Milakov
 * and N. Gimelshein). A part that contains only -inf has the sum 0, because its max is clamped to
 * the lowest finite number. If the exponentials are stored, they are computed afterwards, together
 * with their readers. */
#include "passes/gpu/nests/split_reductions.h"

#include "passes/support/lower.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <float.h>
#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { MAX_BETWEEN = 16 }; /* nests between the max and the sum */

typedef struct softmax {
  const tp__map_nest *maximum;
  MlirValue x, m, sum, exponentials; /* exponentials: null if they are not stored */
  MlirOperation exp, reduce;
} softmax;

/* ---- matching ---- */

static int segments_of(MlirOperation op, int64_t *n) {
  return tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, n);
}

static bool has_map(MlirOperation op, int operand, MlirAttribute map) {
  return mlirAttributeEqual(mlirArrayAttrGetElement(tp__inherent(op, "indexing_maps"), operand),
                            map);
}

static MlirAttribute map_of(MlirOperation op, int operand) {
  return mlirArrayAttrGetElement(tp__inherent(op, "indexing_maps"), operand);
}

/* Returns the op of the body that produces the yielded value. */
static MlirOperation yielding(MlirOperation op) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  return tp__defining_op(mlirOperationGetOperand(mlirBlockGetTerminator(block), 0));
}

static int argument_of(MlirOperation nest, MlirOperation op, int operand) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(nest, 0));
  for (int i = 0; i < mlirBlockGetNumArguments(block); i++)
    if (mlirValueEqual(mlirOperationGetOperand(op, operand), mlirBlockGetArgument(block, i)))
      return i;
  return -1;
}

/* True if the value is exp(x - m), with x and m indexed like the input and output of the max. */
static bool is_exponential(const softmax *f, MlirOperation nest, MlirOperation exp) {
  MlirOperation subtract;
  if (mlirOperationIsNull(exp) || !tp__op_is(exp, "math.exp"))
    return false;
  subtract = tp__defining_op(mlirOperationGetOperand(exp, 0));
  if (mlirOperationIsNull(subtract) || !tp__op_is(subtract, "arith.subf"))
    return false;
  int x = argument_of(nest, subtract, 0), m = argument_of(nest, subtract, 1);
  return x >= 0 && m >= 0 && mlirValueEqual(mlirOperationGetOperand(nest, x), f->x) &&
         mlirValueEqual(mlirOperationGetOperand(nest, m), f->m) &&
         has_map(nest, x, map_of(f->maximum->op, 0)) && has_map(nest, m, map_of(f->maximum->op, 1));
}

static bool is_all_parallel(MlirOperation op) {
  MlirAttribute kinds = tp__inherent(op, "iterator_types");
  MlirAttribute parallel =
      tp__parse_attr(mlirOperationGetContext(op), "#linalg.iterator_type<parallel>");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(kinds); i++)
    if (!mlirAttributeEqual(mlirArrayAttrGetElement(kinds, i), parallel))
      return false;
  return true;
}

static bool match_exp(softmax *f, MlirOperation op) {
  int64_t n[2];
  if (!mlirOperationIsNull(f->exp) || segments_of(op, n) != 2 || n[0] != 2 || n[1] != 1 ||
      !is_all_parallel(op) || !is_exponential(f, op, yielding(op)))
    return false;
  f->exp = op;
  f->exponentials = mlirOperationGetOperand(op, 2);
  return true;
}

/* Matches out + exp(x - m), or out + e with stored exponentials e. */
static bool match_sum(softmax *f, MlirOperation op) {
  int64_t n[2];
  if (segments_of(op, n) != 2 || n[1] != 1 || n[0] > 2 ||
      !mlirAttributeEqual(tp__inherent(op, "iterator_types"),
                          tp__inherent(f->maximum->op, "iterator_types")) ||
      !has_map(op, (int)n[0], map_of(f->maximum->op, 1)))
    return false;
  MlirOperation add = yielding(op);
  if (mlirOperationIsNull(add) || !tp__op_is(add, "arith.addf"))
    return false;
  int which = argument_of(op, add, 0) == n[0] ? 1 : 0;
  if (argument_of(op, add, 1 - which) != n[0])
    return false;
  bool of_stored = n[0] == 1 && !mlirOperationIsNull(f->exp) && argument_of(op, add, which) == 0 &&
                   mlirValueEqual(mlirOperationGetOperand(op, 0), f->exponentials) &&
                   has_map(op, 0, map_of(f->exp, 2));
  bool of_row = mlirOperationIsNull(f->exp) && n[0] == 2 &&
                is_exponential(f, op, tp__defining_op(mlirOperationGetOperand(add, which)));
  if (of_stored || of_row) {
    f->reduce = op;
    f->sum = mlirOperationGetOperand(op, (intptr_t)n[0]);
  }
  return of_stored || of_row;
}

static bool same_class(tp__splitting *s, MlirValue a, MlirValue b) {
  int64_t class = tp__memory_class(&s->classes, a);
  return mlirValueEqual(a, b) || (class >= 0 && class == tp__memory_class(&s->classes, b));
}

/* True if the op changes neither x nor the max and does not access the exponentials. */
static bool is_indifferent(tp__splitting *s, const softmax *f, MlirOperation op) {
  int64_t n[2];
  if (!tp__map_is_nest(op) || segments_of(op, n) != 2)
    return false;
  for (int64_t i = 0; i < n[0] + n[1]; i++) {
    MlirValue operand = mlirOperationGetOperand(op, (intptr_t)i);
    if (i >= n[0] && (same_class(s, operand, f->x) || same_class(s, operand, f->m)))
      return false;
    if (!mlirOperationIsNull(f->exp) && same_class(s, operand, f->exponentials))
      return false;
  }
  return true;
}

/* Finds the nests of a softmax whose max is `n`. */
static bool find_softmax(tp__splitting *s, const tp__map_nest *n, softmax *f) {
  tp_combiner combiners[TP_MAP_OPERANDS];
  MlirOperation largest = yielding(n->op);
  *f = (softmax){.maximum = n, .x = n->operands[0].memref, .m = n->operands[n->n_inputs].memref};
  MlirType element = n->operands[0].element;
  if (n->n_inputs != 1 || tp__map_n_outputs(n) != 1 || !tp__map_combiners(n, combiners) ||
      (combiners[0] != TP_MAX && combiners[0] != TP_MAXNUM) ||
      (!mlirTypeIsAF32(element) && !mlirTypeIsAF64(element)) ||
      argument_of(n->op, largest, 0) + argument_of(n->op, largest, 1) != 1)
    return false;
  int between = 0;
  for (MlirOperation op = mlirOperationGetNextInBlock(n->op);
       !mlirOperationIsNull(op) && between < MAX_BETWEEN; op = mlirOperationGetNextInBlock(op)) {
    if (tp__map_is_pure(op))
      continue;
    between++;
    if (!tp__map_is_nest(op))
      return false;
    if (match_sum(f, op))
      return !same_class(s, f->sum, f->x) && !same_class(s, f->sum, f->m) &&
             mlirTypeEqual(element, tp__element_type(mlirValueGetType(f->sum))) &&
             (mlirOperationIsNull(f->exp) || !same_class(s, f->sum, f->exponentials));
    /* a nest that overwrites x may only run after x was read */
    if (!match_exp(f, op) && !is_indifferent(s, f, op))
      return false;
  }
  return false;
}

/* ---- rewriting ---- */

/* Builds out + exp(x - m) in place of the sum. If m is -inf, all x are -inf, and the clamped max
 * makes each term 0. */
static MlirOperation build_sum(const softmax *f) {
  MlirContext context = f->maximum->context;
  MlirAttribute of_row = map_of(f->maximum->op, 1),
                maps[] = {map_of(f->maximum->op, 0), of_row, of_row};
  MlirValue operands[] = {f->x, f->m, f->sum};
  MlirOperation op =
      tp__build_generic(&(tp_generic){.where = f->reduce,
                                      .location = mlirOperationGetLocation(f->reduce),
                                      .n_inputs = 2,
                                      .n_inits = 1,
                                      .operands = operands,
                                      .maps = maps,
                                      .iterators = tp__inherent(f->maximum->op, "iterator_types")});
  MlirOperation end = tp__build_generic_body(op);
  MlirBlock block = mlirOperationGetBlock(end);
  MlirType type = f->maximum->operands[0].element;
  double lowest = mlirTypeIsAF32(type) ? (double)-FLT_MAX : -DBL_MAX;
  MlirValue least = tp__constant(end, type, mlirFloatAttrDoubleGet(context, type, lowest));
  MlirValue m = tp__binary(end, "arith.maxnumf", mlirBlockGetArgument(block, 1), least);
  MlirValue less = tp__binary(end, "arith.subf", mlirBlockGetArgument(block, 0), m);
  MlirValue value = tp__build_one(end, "math.exp", 1, &less, type);
  value = tp__binary(end, "arith.addf", mlirBlockGetArgument(block, 2), value);
  mlirOperationSetOperands(end, 1, &value);
  return op;
}

/* Adds s_p exp(m_p - m) to the sum, before `where`. */
static void combine_sums(const softmax *f, const tp__map_nest *n, MlirOperation where,
                         MlirValue of_parts, MlirValue largest) {
  int rank = n->operands[n->n_inputs].rank;
  MlirAffineExpr exprs[TP_MAX_RANK + 1];
  MlirAttribute kinds[TP_MAX_RANK + 1];
  MlirValue operands[] = {of_parts, largest, f->m, f->sum};
  for (int d = 0; d <= rank; d++) {
    exprs[d] = mlirAffineDimExprGet(n->context, d);
    kinds[d] = tp__parse_attr(n->context, d == rank ? "#linalg.iterator_type<reduction>"
                                                    : "#linalg.iterator_type<parallel>");
  }
  MlirAttribute all =
      mlirAffineMapAttrGet(mlirAffineMapGet(n->context, rank + 1, 0, rank + 1, exprs));
  MlirAttribute of_row =
      mlirAffineMapAttrGet(mlirAffineMapGet(n->context, rank + 1, 0, rank, exprs));
  MlirAttribute maps[] = {all, all, of_row, of_row};
  MlirOperation op =
      tp__build_generic(&(tp_generic){.where = where,
                                      .location = mlirOperationGetLocation(n->op),
                                      .n_inputs = 3,
                                      .n_inits = 1,
                                      .operands = operands,
                                      .maps = maps,
                                      .iterators = mlirArrayAttrGet(n->context, rank + 1, kinds)});
  MlirOperation end = tp__build_generic_body(op);
  MlirBlock block = mlirOperationGetBlock(end);
  MlirValue less =
      tp__binary(end, "arith.subf", mlirBlockGetArgument(block, 1), mlirBlockGetArgument(block, 2));
  MlirValue value = tp__build_one(end, "math.exp", 1, &less, n->operands[0].element);
  value = tp__binary(end, "arith.mulf", mlirBlockGetArgument(block, 0), value);
  value = tp__binary(end, "arith.addf", mlirBlockGetArgument(block, 3), value);
  mlirOperationSetOperands(end, 1, &value);
}

static void move_before(MlirOperation op, MlirOperation where) {
  if (!mlirOperationIsNull(op))
    mlirOperationMoveBefore(op, where);
}

/* Splits the max and the sum. `n` is the sum from build_sum. */
static tp_status split_both(const softmax *f, const tp__map_nest *n, const tp__cut *c) {
  tp_combiner of_maximum[TP_MAP_OPERANDS];
  const tp__map_nest *maximum = f->maximum;
  MlirOperation where = maximum->op, first, second, behind = mlirOperationGetNextInBlock(f->reduce);
  MlirOperation begin = tp__split_begin(maximum), begin_sum = tp__split_begin(n);
  (void)tp__map_combiners(maximum, of_maximum); /* find_softmax has checked that it is known */
  MlirValue largest = tp__split_partial(where, maximum->operands + 1, c);
  tp__split_identity(maximum, 0, of_maximum[0], where, largest);
  TP_TRY(tp__split_parts(maximum, c, where, &largest, -1, (MlirValue){NULL}, &first));
  MlirValue sums = tp__split_partial(where, n->operands + 2, c);
  tp__split_identity(n, 0, TP_SUM, where, sums);
  TP_TRY(tp__split_parts(n, c, where, &sums, 1, largest, &second));
  /* share the view of the parts */
  mlirOperationSetOperand(second, 0, mlirOperationGetOperand(first, 0));
  move_before(begin, where);
  tp__split_combine(maximum, c, of_maximum, &largest);
  move_before(begin_sum, n->op);
  combine_sums(f, n, n->op, sums, largest);
  tp_status status = tp__split_rest(maximum, c);
  if (status == TP_OK)
    status = tp__split_rest(n, c);
  mlirOperationDestroy(f->reduce);
  move_before(f->exp, behind);
  return status;
}

tp_status tp__split_softmax(tp__splitting *s, const tp__map_nest *n, const tp__cut *c,
                            size_t number, bool *done) {
  softmax f;
  tp__cut of_sum;
  *done = false;
  if (!c->rows || !find_softmax(s, n, &f))
    return TP_OK;
  tp__map_nest *sum = tp__calloc(1, sizeof *sum);
  if (!sum)
    return tp__out_of_memory(n->op);
  MlirOperation made = build_sum(&f);
  tp_status status = tp__map_read(made, sum);
  sum->max_lanes = TP_MAP_LANES;
  *done = status == TP_OK && tp__split_choose(s, sum, &of_sum) && of_sum.loop == c->loop &&
          of_sum.n_parts == c->n_parts && of_sum.size == c->size && of_sum.rows;
  if (*done) {
    for (size_t i = number; i < s->nests.n; i++)
      if (!mlirOperationIsNull(s->nests.items[i]) &&
          mlirOperationEqual(s->nests.items[i], f.reduce))
        s->nests.items[i] = (MlirOperation){NULL};
    status = split_both(&f, sum, c);
    s->pass->statistics[TP_STAT_SPLIT] += 2;
  } else {
    mlirOperationDestroy(made);
  }
  tp__free(sum);
  return status;
}
