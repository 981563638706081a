/* Skips blocks that a causal mask hides. A row attends to columns up to its own index, plus or
 * minus a constant. So for a block of rows, column blocks beyond the last visible column contribute
 * nothing and are skipped. The mask is recognized as a select between a score and a number, by the
 * comparison of two indices, as frameworks export it.
 *
 * If masked scores are -infinity, skipping is exact. If they are a large negative number, their
 * exponentials are zero only if every row has seen a far greater score, which is tested at run
 * time. */
#include "ir/value_range.h"
#include "passes/attention/tile.h"
#include "passes/support/from_text.h"

#include <math.h>
#include <string.h>

typedef tp_score_origin origin;

int tp__score_input(origin o) {
  bool is_argument = o.op->is_nest && o.op->nest.is_written && mlirValueIsABlockArgument(o.value) &&
                     mlirBlockEqual(mlirBlockArgumentGetOwner(o.value), o.op->nest.body.block);
  intptr_t input = is_argument ? mlirBlockArgumentGetArgNumber(o.value) : -1;
  return input < o.op->nest.n_inputs ? (int)input : -1;
}

/* Reshapes do not change elements. */
int tp__score_producer(const tp_attention *a, MlirValue value) {
  int maker = tp__attention_producer(a, value);
  while (maker >= 0 && !a->ops[maker].is_nest)
    maker = tp__attention_producer(a, mlirOperationGetOperand(a->ops[maker].op, 0));
  return maker;
}

tp_score_origin tp__score_origin(const tp_attention *a, origin o) {
  for (int input; (input = tp__score_input(o)) >= 0;) {
    int maker = tp__score_producer(a, mlirOperationGetOperand(o.op->op, input));
    if (maker < 0 || !a->ops[maker].is_nest || !a->ops[maker].nest.is_written ||
        a->ops[maker].nest.reduced)
      break;
    o = (origin){&a->ops[maker], mlirOperationGetOperand(a->ops[maker].nest.body.yield, 0)};
  }
  return o;
}

static origin origin_of(const tp_attention *a, origin o) { return tp__score_origin(a, o); }

static MlirOperation maker_of(origin o, const char *name) {
  MlirOperation op = tp__defining_op(o.value);
  return !mlirOperationIsNull(op) && tp__op_is(op, name) ? op : (MlirOperation){NULL};
}

static origin operand_of(const tp_attention *a, origin o, MlirOperation op, int i) {
  return origin_of(a, (origin){o.op, mlirOperationGetOperand(op, i)});
}

/* ---- indices ---- */

enum { NO_LOOP = -1, MAX_ADDED = 1 << 30 };

/* A sum of a loop index, a constant, and indices defined outside of the bodies. */
typedef struct place {
  int loop;
  int64_t add;
  int n_terms;
  MlirValue terms[TP_MAX_PLACE_TERMS];
} place;

typedef struct ranges {
  const tp_attention *a;
  const tp_mesh *mesh;
} ranges;

/* Reads the number that all elements of a tensor are, which a body has as an argument. */
static bool read_integer(origin o, int64_t *number) {
  int input = tp__score_input(o);
  MlirOperation op =
      input < 0 ? (MlirOperation){NULL} : tp__defining_op(mlirOperationGetOperand(o.op->op, input));
  MlirAttribute value = !mlirOperationIsNull(op) && tp__op_is(op, "arith.constant")
                            ? tp__inherent(op, "value")
                            : (MlirAttribute){NULL};
  if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseElements(value) ||
      !mlirDenseElementsAttrIsSplat(value))
    return false;
  value = mlirDenseElementsAttrGetSplatValue(value);
  if (!mlirAttributeIsAInteger(value))
    return false;
  *number = mlirIntegerAttrGetValueInt(value);
  return true;
}

/* Returns the ranges of loop indices, and of body arguments that other ops of the attention
 * compute. */
static bool range_in_body(void *data, MlirValue value, tp__range *range) {
  const ranges *r = data;
  MlirOperation index = tp__defining_op(value);
  for (int i = 0; i < r->a->n_ops; i++) {
    const tp_attention_op *op = &r->a->ops[i];
    if (!op->is_nest || !op->nest.is_written ||
        !mlirBlockEqual(tp__block_of(value), op->nest.body.block))
      continue;
    if (mlirOperationIsNull(index)) {
      origin o = origin_of(r->a, (origin){op, value});
      int64_t number;
      if (read_integer(o, &number)) {
        *range = (tp__range){number, number};
        return true;
      }
      return !mlirValueEqual(o.value, value) &&
             tp__value_range(o.value, r->mesh, range_in_body, data, range);
    }
    if (!tp__op_is(index, "linalg.index"))
      return false;
    tp_score_dim dim = op->loops[mlirIntegerAttrGetValueInt(tp__inherent(index, "dim"))];
    int64_t n = 1;
    for (int k = 0; k < dim.n; k++)
      n *= r->a->sizes[dim.loops[k]];
    *range = (tp__range){0, n - 1};
    return true;
  }
  return false;
}

/* True if the integer equals its formula: no cast or addition wraps around. */
static bool is_exact(const ranges *r, MlirValue value) {
  tp__range range;
  return mlirTypeIsAIndex(mlirValueGetType(value)) ||
         tp__value_range(value, r->mesh, range_in_body, (void *)r, &range);
}

static bool add_place(const ranges *r, origin o, place *p);

static bool add_index(const tp_attention_op *op, MlirOperation index, place *p) {
  tp_score_dim dim = op->loops[mlirIntegerAttrGetValueInt(tp__inherent(index, "dim"))];
  if (dim.n > 1 || (dim.n == 1 && p->loop != NO_LOOP))
    return false;
  if (dim.n == 1)
    p->loop = dim.loops[0];
  return true;
}

static bool is_inside(const tp_attention_op *op, MlirValue value) {
  MlirBlock block = tp__block_of(value);
  return op->is_nest && op->nest.is_written && mlirBlockEqual(block, op->nest.body.block);
}

/* Subtracts a constant. */
static bool subtract_number(const ranges *r, origin o, place *p) {
  place number = {.loop = NO_LOOP};
  bool is_number = add_place(r, o, &number) && number.loop == NO_LOOP && number.n_terms == 0;
  p->add -= number.add;
  return is_number && p->add > -MAX_ADDED && p->add < MAX_ADDED;
}

static bool add_place(const ranges *r, origin o, place *p) {
  const tp_attention *a = r->a;
  MlirOperation op = tp__defining_op(o.value);
  if (!is_exact(r, o.value))
    return false;
  int64_t number = MAX_ADDED;
  bool is_constant = !mlirOperationIsNull(op) && tp__op_is(op, "arith.constant");
  if (is_constant || read_integer(o, &number)) {
    MlirAttribute value = is_constant ? tp__inherent(op, "value") : (MlirAttribute){NULL};
    if (is_constant && mlirAttributeIsAInteger(value))
      number = mlirIntegerAttrGetValueInt(value);
    p->add += number;
    return number > -MAX_ADDED && number < MAX_ADDED && p->add > -MAX_ADDED && p->add < MAX_ADDED;
  }
  if (!is_inside(o.op, o.value)) {
    bool fits = mlirTypeIsAIndex(mlirValueGetType(o.value)) && p->n_terms < TP_MAX_PLACE_TERMS;
    if (fits)
      p->terms[p->n_terms++] = o.value;
    return fits;
  }
  if (mlirOperationIsNull(op))
    return false;
  if (tp__op_is(op, "linalg.index"))
    return add_index(o.op, op, p);
  if (tp__op_is(op, "arith.index_cast") || tp__op_is(op, "arith.extsi"))
    return add_place(r, operand_of(a, o, op, 0), p);
  if (tp__op_is(op, "arith.subi"))
    return subtract_number(r, operand_of(a, o, op, 1), p) &&
           add_place(r, operand_of(a, o, op, 0), p);
  return tp__op_is(op, "arith.addi") && add_place(r, operand_of(a, o, op, 0), p) &&
         add_place(r, operand_of(a, o, op, 1), p);
}

/* ---- comparisons ---- */

/* One side of a comparison: a value, and a number that is added. */
typedef struct compared {
  origin o;
  int64_t add;
} compared;

/* A difference that is compared with a number, x - y <= 2, is x <= y + 2: PyTorch compares the
 * distance of column and row with 0. */
static void split_difference(const ranges *r, compared sides[2]) {
  for (int i = 0; i < 2; i++) {
    MlirOperation difference = maker_of(sides[i].o, "arith.subi");
    place number = {.loop = NO_LOOP}, subtracted = number;
    if (mlirOperationIsNull(difference) || !is_exact(r, sides[i].o.value) ||
        !add_place(r, sides[1 - i].o, &number) || number.loop != NO_LOOP || number.n_terms > 0)
      continue;
    origin from = operand_of(r->a, sides[i].o, difference, 0),
           what = operand_of(r->a, sides[i].o, difference, 1);
    if (!add_place(r, what, &subtracted) || subtracted.loop == NO_LOOP)
      continue;
    sides[i] = (compared){from, 0};
    sides[1 - i] = (compared){what, number.add};
    return;
  }
}

bool tp__compares_places(const tp_attention *a, const tp_mesh *mesh, origin condition,
                         bool inverted, tp_tile_causal *causal) {
  const ranges all = {a, mesh}, *r = &all;
  MlirOperation op = maker_of(condition, "arith.cmpi");
  if (mlirOperationIsNull(op))
    return false;
  compared sides[] = {{operand_of(a, condition, op, 0), 0}, {operand_of(a, condition, op, 1), 0}};
  split_difference(r, sides);
  static const struct {
    int64_t predicate;
    bool inverted, left_is_row, strict;
  } forms[] = {
      {TP_SGE, false, true, false}, {TP_SGT, false, true, true}, {TP_SLE, false, false, false},
      {TP_SLT, false, false, true}, {TP_SLT, true, true, false}, {TP_SLE, true, true, true},
      {TP_SGT, true, false, false}, {TP_SGE, true, false, true},
  };
  int64_t predicate = mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate"));
  for (int i = 0; i < TP_LEN(forms); i++) {
    if (forms[i].predicate != predicate || forms[i].inverted != inverted)
      continue;
    const compared *of_row = &sides[!forms[i].left_is_row],
                   *of_column = &sides[forms[i].left_is_row];
    place row = {.loop = NO_LOOP, .add = of_row->add},
          column = {.loop = NO_LOOP, .add = of_column->add};
    if (!add_place(r, of_row->o, &row) || row.loop == NO_LOOP || !(a->rows >> row.loop & 1) ||
        !add_place(r, of_column->o, &column) || column.loop != a->column)
      continue;
    *causal = (tp_tile_causal){
        .found = true, .row = row.loop, .add = row.add - column.add + 1 - forms[i].strict};
    for (int k = 0; k < row.n_terms; k++)
      causal->more[causal->n_more++] = row.terms[k];
    for (int k = 0; k < column.n_terms; k++)
      causal->less[causal->n_less++] = column.terms[k];
    return true;
  }
  return false;
}

/* True if `condition`, or with `inverted` its negation, implies row + a >= column + b; sets
 * *causal. A conjunction does so if one of its operands does. */
static bool read_condition(const ranges *r, origin condition, bool inverted,
                           tp_tile_causal *causal) {
  MlirOperation both = maker_of(condition, inverted ? "arith.ori" : "arith.andi");
  for (int i = 0; i < 2 && !mlirOperationIsNull(both); i++)
    if (read_condition(r, operand_of(r->a, condition, both, i), inverted, causal))
      return true;
  return tp__compares_places(r->a, r->mesh, condition, inverted, causal);
}

/* ---- the score of masked columns ---- */

/* Rounds a number to the type. False if the result is not known here. */
static bool round_number(MlirType type, double *number) {
  float x = (float)*number;
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (mlirTypeIsABF16(type) && isfinite(x)) {
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u; /* ties to even */
    memcpy(&x, &bits, sizeof x);
  } else if (mlirTypeIsAF16(type)) {
    if (fabs(*number) < 65520 && !(x == rintf(x) && fabsf(x) <= 2048))
      return false;
    x = fabs(*number) < 65520 ? x : copysignf(INFINITY, x);
  } else if (!mlirTypeIsABF16(type) && !mlirTypeIsAF32(type)) {
    return false;
  }
  *number = x;
  return true;
}

bool tp__read_number(MlirValue value, double *number) {
  enum { FARTHEST = 16 };
  MlirType rounded = {NULL};
  for (int n = 0; n < FARTHEST; n++) {
    if (mlirValueIsABlockArgument(value)) {
      MlirOperation parent = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
      if (!tp__op_is(parent, "linalg.generic"))
        return false;
      value = mlirOperationGetOperand(parent, mlirBlockArgumentGetArgNumber(value));
      continue;
    }
    MlirOperation op = tp__defining_op(value);
    tp_nest nest;
    if (tp__op_is(op, "arith.constant")) {
      MlirAttribute attr = tp__inherent(op, "value");
      if (mlirAttributeIsADenseElements(attr) && mlirDenseElementsAttrIsSplat(attr))
        attr = mlirDenseElementsAttrGetSplatValue(attr);
      if (!mlirAttributeIsAFloat(attr))
        return false;
      *number = mlirFloatAttrGetValueDouble(attr);
      return mlirTypeIsNull(rounded) || round_number(rounded, number);
    }
    bool is_scalar = !tp__is_tensor(mlirValueGetType(value));
    if (tp__op_is(op, "linalg.fill") || tp__op_is(op, "tensor.extract")) {
      value = mlirOperationGetOperand(op, 0); /* of a tensor all of whose elements are the number */
    } else if (is_scalar && tp__op_is(op, "arith.truncf") && mlirTypeIsNull(rounded)) {
      rounded = mlirValueGetType(value);
      value = mlirOperationGetOperand(op, 0);
    } else if (tp__op_is(op, "linalg.generic") && tp__nest_of(op, &nest) && !nest.reduced) {
      value = mlirOperationGetOperand(nest.body.yield, 0);
    } else {
      return false;
    }
  }
  return false;
}

/* ---- the mask ---- */

/* The select must feed the row maximum directly, and there must be no other row reduction: it would
 * miss the skipped columns. */
void tp__find_causal(const tp_attention *a, const tp_mesh *mesh, tp_tile_causal *causal) {
  const ranges r = {a, mesh};
  int n_reductions = 0;
  *causal = (tp_tile_causal){.found = false};
  for (int i = 0; i < a->n_ops; i++)
    n_reductions += a->ops[i].role == TP_ROW_REDUCTION;
  int masked = tp__attention_producer(a, mlirOperationGetOperand(a->ops[a->maximum].op, 0));
  if (n_reductions != 1 || masked < 0 || a->ops[masked].role != TP_BEFORE ||
      !a->ops[masked].is_nest || !a->ops[masked].nest.is_written)
    return;
  origin yielded = {&a->ops[masked], mlirOperationGetOperand(a->ops[masked].nest.body.yield, 0)};
  MlirOperation select = maker_of(yielded, "arith.select");
  for (int hidden = 2; hidden > 0 && !mlirOperationIsNull(select) && !causal->found; hidden--) {
    double number;
    if (tp__read_number(mlirOperationGetOperand(select, hidden), &number) && number < 0 &&
        read_condition(&r, operand_of(a, yielded, select, 0), hidden == 1, causal))
      causal->hidden = number;
  }
}

MlirValue tp__visible_columns(tp_tiler *t, const tp_tile_causal *causal) {
  MlirOperation where = t->where;
  MlirValue end = tp__index_constant(where, t->now[causal->row] - 1 + causal->add);
  if (!mlirValueIsNull(t->offset[causal->row]))
    end = tp__binary(where, "arith.addi", end, t->offset[causal->row]);
  for (int i = 0; i < causal->n_more; i++)
    end = tp__binary(where, "arith.addi", end, causal->more[i]);
  for (int i = 0; i < causal->n_less; i++)
    end = tp__binary(where, "arith.subi", end, causal->less[i]);
  return end;
}

MlirValue tp__all_exceed(tp_tiler *t, MlirValue maxima, double hidden) {
  /* exp(x) and exp2(x) are 0 for x < -1100, in f64 too */
  const double far = 1100;
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(maxima));
  MlirType element = tp__element_type(mlirValueGetType(maxima)),
           bit = mlirIntegerTypeGet(mlirTypeGetContext(element), 1);
  MlirType result = mlirRankedTensorTypeGet(0, NULL, bit, (MlirAttribute){NULL});
  tp__string text = {0};
  tp__string_append(&text, "func.func private @exceed(%m: ");
  tp__append_type(&text, mlirValueGetType(maxima));
  tp__string_printf(&text, ") -> tensor<i1> {\n  %%far = arith.constant %.17e : ", hidden + far);
  tp__append_type(&text, element);
  tp__string_append(&text,
                    "\n  %true = arith.constant true\n  %e = tensor.empty() : tensor<i1>\n"
                    "  %f = linalg.fill ins(%true : i1) outs(%e : tensor<i1>) -> tensor<i1>\n"
                    "  %r = linalg.generic {indexing_maps = [affine_map<(");
  for (int side = 0; side < 2; side++) {
    for (int d = 0; d < rank; d++)
      tp__string_printf(&text, "%sd%d", d ? ", " : "", d);
    tp__string_append(&text, side == 0 ? ") -> (" : ")>, affine_map<(");
  }
  for (int d = 0; d < rank; d++)
    tp__string_printf(&text, "%sd%d", d ? ", " : "", d);
  tp__string_append(&text, ") -> ()>], iterator_types = [");
  for (int d = 0; d < rank; d++)
    tp__string_printf(&text, "%s\"reduction\"", d ? ", " : "");
  tp__string_append(&text, "]} ins(%m : ");
  tp__append_type(&text, mlirValueGetType(maxima));
  tp__string_append(&text, ") outs(%f : tensor<i1>) {\n  ^bb0(%x: ");
  tp__append_type(&text, element);
  tp__string_append(&text, ", %a: i1):\n    %c = arith.cmpf ogt, %x, %far : ");
  tp__append_type(&text, element);
  tp__string_append(
      &text, "\n    %b = arith.andi %a, %c : i1\n    linalg.yield %b : i1\n  } -> tensor<i1>\n"
             "  return %r : tensor<i1>\n}\n");
  MlirValue all = tp__tile_text(t, &text, 1, &maxima, result);
  MlirOperation read = tp__create(&(tp_build){.name = "tensor.extract",
                                              .location = mlirOperationGetLocation(t->where),
                                              .n_operands = 1,
                                              .operands = &all,
                                              .n_results = 1,
                                              .results = &bit});
  tp__insert_before(t->where, read);
  return mlirOperationGetResult(read, 0);
}
