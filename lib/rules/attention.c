#include "rules/attention.h"

#include "rules/attention_loops.h"

#include <string.h>

int tp__attention_maker(const tp_attention *a, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  for (int i = 0; i < a->n_ops && !mlirOperationIsNull(op); i++)
    if (mlirOperationEqual(a->ops[i].op, op))
      return i;
  return -1;
}

bool tp__attention_is_inner(tp_attention_role role) {
  return role != TP_ROW_REDUCTION && role != TP_ROW_SUM && role != TP_OUTPUT;
}

/* ---- the scan: from the scores through the block to the output ---- */

typedef struct finder {
  tp_attention *a;
  tp_value_table dependent; /* values outside of the blocks that follow from the scores, and so come behind them */
  tp_value_table users; /* ops beside the scores that read, or have ops that read, what is known: the others are passed by */
  int n_noted;          /* ops of the attention whose users these are */
  MlirOperation last;   /* as far as the scan goes; null: to the end of the block */
  bool strays;          /* a value of the blocks is read where no op of the attention can be */
  bool failed;          /* memory ran out */
} finder;

static bool is_behind(const finder *f, MlirValue value) { return tp__table_get(&f->dependent, value.ptr) >= 0; }

static bool is_out_of_reach(const finder *f, MlirOperation op) {
  return !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(f->a->ops[0].op)) ||
         (!mlirOperationIsNull(f->last) && mlirOperationIsBeforeInBlock(f->last, op));
}

/* Of an op whose results are made in blocks, or of another one. */
static void note_users(finder *f, MlirOperation op, bool is_inner) {
  MlirBlock block = mlirOperationGetBlock(f->a->ops[0].op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, i));
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      f->strays |= is_inner && is_out_of_reach(f, user);
      while (!mlirOperationIsNull(user) && !mlirBlockEqual(mlirOperationGetBlock(user), block))
        user = mlirOperationGetParentOperation(user);
      if (!mlirOperationIsNull(user))
        f->failed |= tp__table_put(&f->users, user.ptr, 1) != TP_OK;
    }
  }
}

static void put_behind(finder *f, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    f->failed |= tp__table_put(&f->dependent, mlirOperationGetResult(op, i).ptr, 1) != TP_OK;
  note_users(f, op, false);
}

typedef struct reader {
  const finder *f;
  bool reads;
} reader;

static tp_status look_behind(MlirOperation op, void *data) {
  reader *r = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    int maker = tp__attention_maker(r->f->a, mlirOperationGetOperand(op, i));
    r->reads |=
        is_behind(r->f, mlirOperationGetOperand(op, i)) || (maker >= 0 && tp__attention_is_inner(r->f->a->ops[maker].role));
  }
  return TP_OK;
}

static bool reads_behind(const finder *f, MlirOperation op) {
  reader r = {f, false};
  (void)look_behind(op, &r);
  (void)tp__walk(op, look_behind, &r); /* the visitor does not fail */
  return r.reads;
}

/* Is operand `i` an init whose elements are overwritten unseen? */
static bool is_overwritten(MlirOperation op, int i) {
  tp_nest nest;
  return i + 1 == mlirOperationGetNumOperands(op) && tp__nest_of(op, &nest) && nest.is_written && i == nest.n_inputs &&
         !tp__body_reads(&nest.body, i);
}

/* The op of the blocks that makes what is read as operand `i`, -1: none. */
static int inner_maker(const tp_attention *a, MlirOperation op, int i) {
  int maker = tp__attention_maker(a, mlirOperationGetOperand(op, i));
  return maker >= 0 && tp__attention_is_inner(a->ops[maker].role) && !is_overwritten(op, i) ? maker : -1;
}

static bool is_past_exponential(tp_attention_role role) {
  return role == TP_EXPONENTIAL || role == TP_SCALE || role == TP_AFTER;
}

/* Notes who reads the ops that were added. What repeats rows may stand outside of a loop that the scores are in. */
static void note_added(finder *f) {
  for (; f->n_noted < f->a->n_ops; f->n_noted++) {
    const tp_attention_op *op = &f->a->ops[f->n_noted];
    note_users(f, op->op, tp__attention_is_inner(op->role) && op->role != TP_SPREAD);
  }
}

/* ---- the scores ---- */

static bool add_scores(finder *f, MlirOperation op) {
  tp_attention *a = f->a;
  tp_attention_op *made = tp__attention_add(a, op, TP_SCORES);
  const tp_nest *nest = &made->nest;
  note_added(f);
  if (f->strays || !made->is_nest || !nest->is_written || !nest->reduced || !tp__body_is_contraction(&nest->body))
    return false;
  made->n_loops = nest->n_loops;
  for (int i = 0; i < 3; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    for (int d = 0; mlirTypeIsARankedTensor(type) && d < mlirShapedTypeGetRank(type); d++) {
      int loop = tp__nest_loop(nest, i, d);
      int64_t size = mlirShapedTypeGetDimSize(type, d);
      if (loop == TP_WHOLE_DIM ? size != 1 : made->loops[loop].n == 0 && size > 1) {
        int number = loop == TP_WHOLE_DIM ? -1 : tp__attention_loop(a, size);
        if (number < 0)
          return false;
        made->loops[loop] = (tp_score_dim){1, {(uint8_t)number}};
        a->whole |= (nest->reduced >> loop & 1) << number;
      }
    }
  }
  return true;
}

/* Once the columns are known: which of the operands has them, and what the other one has beside. */
static bool find_rows(tp_attention *a) {
  tp_score_dim dims[2][TP_MAX_RANK];
  int ranks[2];
  for (int i = 0; i < 2; i++) {
    tp__attention_operand_dims(&a->ops[0], i, dims[i]);
    ranks[i] = (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(a->ops[0].op, i)));
  }
  bool first = tp__has_loop(dims[0], ranks[0], a->column), second = tp__has_loop(dims[1], ranks[1], a->column);
  int keys = first ? 0 : 1;
  for (int l = 0; l < a->n_loops; l++)
    if (tp__has_loop(dims[1 - keys], ranks[1 - keys], l) && !tp__has_loop(dims[keys], ranks[keys], l))
      a->rows |= UINT32_C(1) << l;
  return first != second;
}

/* ---- rows that meet scores ---- */

/* Takes `value`, which an op has along the loops of `dims`, for rows: where it has columns, what was repeated along them. */
static bool take_rows(finder *f, tp_attention_op *op, MlirValue value, const tp_score_dim *dims, int n) {
  tp_attention *a = f->a;
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return false;
  op->rows = value;
  op->n_rows = n;
  memcpy(op->row_dims, dims, (size_t)n * sizeof *dims);
  if (a->column >= 0 && !tp__has_loop(dims, n, a->column))
    return true;
  MlirOperation maker = tp__defining_op(value);
  if (a->column < 0 || mlirOperationIsNull(maker))
    return false;
  int n_ops = a->n_ops;
  uint32_t known = 0;
  tp_attention_op *spread = tp__attention_add(a, maker, TP_SPREAD);
  if (!spread)
    return false;
  const tp_nest *nest = &spread->nest;
  if (!spread->is_nest || !tp__nest_copies(nest) || !tp__nest_is_elementwise(nest)) {
    a->n_ops = n_ops;
    return false;
  }
  spread->n_loops = nest->n_loops;
  for (int d = 0; d < n; d++) {
    int loop = tp__nest_loop(nest, 1, d);
    if (loop == TP_WHOLE_DIM)
      return false;
    spread->loops[loop] = dims[d];
    known |= UINT32_C(1) << loop;
  }
  tp_score_dim from[TP_MAX_RANK];
  MlirValue source = mlirOperationGetOperand(maker, 0);
  if (known != (UINT32_C(1) << nest->n_loops) - 1 || !mlirTypeIsARankedTensor(mlirValueGetType(source)))
    return false;
  tp__attention_operand_dims(spread, 0, from);
  return take_rows(f, op, source, from, (int)mlirShapedTypeGetRank(mlirValueGetType(source)));
}

static bool take_rows_of(finder *f, tp_attention_op *op, int operand) {
  tp_score_dim dims[TP_MAX_RANK];
  MlirValue value = mlirOperationGetOperand(op->op, operand);
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return false;
  tp__attention_operand_dims(op, operand, dims);
  return take_rows(f, op, value, dims, (int)mlirShapedTypeGetRank(mlirValueGetType(value)));
}

/* ---- kinds of ops ---- */

/* An op that reads values of the blocks, and how. */
typedef struct step {
  MlirOperation op;
  tp_nest nest;       /* if it is one */
  int n_inner, inner; /* operands that are made in blocks; the first one, and what makes it */
  int maker;
  bool past; /* behind the exponential */
} step;

/* Gives the op the loops of its inner operands; those that it has beside are of one iteration, or `beside` (bits) of them new ones. */
static bool assign_loops(finder *f, const step *s, tp_attention_op *op, uint32_t *beside) {
  tp_score_dim dims[TP_MAX_RANK];
  uint32_t known = 0;
  for (int i = 0; i < s->nest.n_inputs; i++) {
    int maker = inner_maker(f->a, s->op, i);
    if (maker < 0)
      continue;
    tp__attention_result_dims(&f->a->ops[maker], dims);
    if (!tp__attention_assign(f->a, op, &s->nest, i, dims, &known))
      return false;
  }
  *beside = 0;
  for (int i = 0; i <= s->nest.n_inputs; i++) {
    MlirType type =
        i < s->nest.n_inputs || s->nest.is_written ? mlirValueGetType(mlirOperationGetOperand(s->op, i)) : (MlirType){0};
    for (int d = 0; !mlirTypeIsNull(type) && mlirTypeIsARankedTensor(type) && d < mlirShapedTypeGetRank(type); d++) {
      int loop = tp__nest_loop(&s->nest, i, d);
      if (loop != TP_WHOLE_DIM && !(known >> loop & 1) && mlirShapedTypeGetDimSize(type, d) != 1)
        *beside |= UINT32_C(1) << loop;
    }
  }
  return true;
}

static bool is_op_of(MlirOperation op, const char *const *names, int n) {
  for (int i = 0; i < n && !mlirOperationIsNull(op); i++)
    if (tp__op_is(op, names[i]))
      return true;
  return false;
}

static const char *exponential_name(MlirOperation scalar) {
  static const char *const names[] = {"math.exp", "math.exp2"};
  for (int i = 0; i < TP_LEN(names); i++)
    if (is_op_of(scalar, &names[i], 1))
      return names[i];
  return NULL;
}

/* Is `scalar` a subtraction of an input from the inner one? The number of that input, or -1. */
static int subtracted(const step *s, MlirOperation scalar) {
  if (mlirOperationIsNull(scalar) || !tp__op_is(scalar, "arith.subf"))
    return -1;
  int minuend = tp__nest_input(&s->nest, scalar, 0), rows = tp__nest_input(&s->nest, scalar, 1);
  return minuend == s->inner && rows != s->inner ? rows : -1;
}

/* Is the op the only user, and an exponential of what it is given? */
static bool feeds_exponential(MlirOperation op) {
  MlirValue value = mlirOperationGetResult(op, 0);
  MlirOpOperand use = mlirValueGetFirstUse(value);
  tp_nest nest;
  if (mlirOpOperandIsNull(use))
    return false;
  MlirOperation user = mlirOpOperandGetOwner(use);
  for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) /* it may be overwritten, too */
    if (!mlirOperationEqual(mlirOpOperandGetOwner(use), user))
      return false;
  if (!tp__nest_of(user, &nest) || !tp__nest_is_elementwise(&nest))
    return false;
  MlirOperation scalar = tp__nest_scalar(&nest);
  int input = exponential_name(scalar) ? tp__nest_input(&nest, scalar, 0) : -1;
  return input >= 0 && mlirValueEqual(mlirOperationGetOperand(user, input), value);
}

static bool add_exponential(finder *f, const step *s, tp_attention_op *op) {
  tp_attention *a = f->a;
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  int inside = tp__nest_input(&s->nest, scalar, 0);
  op->role = TP_EXPONENTIAL;
  a->exp = exponential_name(scalar);
  a->exponential = (int)(op - a->ops);
  if (inside == s->inner)
    return a->ops[s->maker].role == TP_SHIFT;
  int rows = s->nest.is_written ? subtracted(s, tp__defining_op(mlirOperationGetOperand(scalar, 0))) : -1;
  return rows >= 0 && take_rows_of(f, op, rows);
}

/* In front of the exponential. Rows that were found in the scores may only be subtracted, and only there. */
static bool add_before(finder *f, const step *s, tp_attention_op *op) {
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  if (!mlirOperationIsNull(scalar) && exponential_name(scalar) && f->a->exponential == 0) {
    bool is_shifted = f->a->ops[s->maker].role == TP_SHIFT;
    MlirOperation inside = s->nest.is_written ? tp__defining_op(mlirOperationGetOperand(scalar, 0)) : (MlirOperation){NULL};
    if (is_shifted || subtracted(s, inside) >= 0)
      return s->n_inner == 1 && add_exponential(f, s, op);
  }
  int rows = subtracted(s, scalar);
  if (rows >= 0 && s->n_inner == 1 && feeds_exponential(s->op)) {
    op->role = TP_SHIFT;
    return take_rows_of(f, op, rows);
  }
  op->role = TP_BEFORE;
  return f->a->ops[s->maker].role != TP_SHIFT;
}

/* Does the body only leave away columns, by their number and nothing else? Padding is masked so. */
static bool masks_columns(const step *s, const tp_attention *a, const tp_attention_op *op) {
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  if (!s->nest.is_written || mlirOperationIsNull(scalar) || !tp__op_is(scalar, "arith.select") ||
      tp__nest_input(&s->nest, scalar, 1) != s->inner || !tp__is_identity(mlirOperationGetOperand(scalar, 2), TP_SUM) ||
      tp__body_depends(&s->nest.body, mlirOperationGetOperand(scalar, 0), UINT64_MAX))
    return false;
  for (MlirOperation o = mlirBlockGetFirstOperation(s->nest.body.block); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o)) {
    int loop = tp__op_is(o, "linalg.index") ? (int)mlirIntegerAttrGetValueInt(tp__inherent(o, "dim")) : -1;
    if (loop >= 0 && (op->loops[loop].n != 1 || op->loops[loop].loops[0] != a->column))
      return false;
  }
  return true;
}

static bool is_zero(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op))
    return false;
  if (tp__op_is(op, "linalg.fill"))
    return tp__is_identity(mlirOperationGetOperand(op, 0), TP_SUM);
  MlirAttribute dense = tp__op_is(op, "arith.constant") ? tp__inherent(op, "value") : (MlirAttribute){NULL};
  return !mlirAttributeIsNull(dense) && mlirAttributeIsADenseElements(dense) && mlirDenseElementsAttrIsSplat(dense) &&
         tp__attr_is_identity(mlirDenseElementsAttrGetSplatValue(dense), TP_SUM);
}

/* Is operand `i` of a scalar op of the body zero, by itself or as an element of zeros? */
static bool reads_zero(const step *s, MlirOperation scalar, int i) {
  int input = tp__nest_input(&s->nest, scalar, i);
  return input >= 0 ? is_zero(mlirOperationGetOperand(s->op, input))
                    : s->nest.is_written && tp__is_identity(mlirOperationGetOperand(scalar, i), TP_SUM);
}

/* A select by a condition of rows between the inner value and zero: how exporters make zero what sees nothing ("safe" softmax). */
static bool add_selection(finder *f, const step *s, tp_attention_op *op) {
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  if (mlirOperationIsNull(scalar) || !tp__op_is(scalar, "arith.select"))
    return false;
  int condition = tp__nest_input(&s->nest, scalar, 0);
  bool keeps_first = tp__nest_input(&s->nest, scalar, 1) == s->inner,
       keeps_second = tp__nest_input(&s->nest, scalar, 2) == s->inner;
  if (condition < 0 || condition == s->inner || keeps_first == keeps_second || !reads_zero(s, scalar, keeps_first ? 2 : 1))
    return false;
  op->role = TP_SCALE;
  op->scale = keeps_first ? TP_ZERO_UNLESS : TP_ZERO_IF;
  op->is_scaled = true;
  return take_rows_of(f, op, condition);
}

/* Behind the exponential only what goes through sums: a factor of rows is applied to what comes out, all else to the blocks. */
static bool add_after(finder *f, const step *s, tp_attention_op *op) {
  static const char *const conversions[] = {"arith.extf", "arith.truncf"};
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  if (s->n_inner != 1)
    return false;
  op->role = TP_AFTER;
  if (tp__nest_copies(&s->nest) || masks_columns(s, f->a, op))
    return true;
  if (is_op_of(scalar, conversions, TP_LEN(conversions)))
    return tp__nest_input(&s->nest, scalar, 0) == s->inner;
  if (!mlirOperationIsNull(scalar) && tp__op_is(scalar, "arith.select"))
    return add_selection(f, s, op);
  bool divides = !mlirOperationIsNull(scalar) && tp__op_is(scalar, "arith.divf");
  if (!divides && (mlirOperationIsNull(scalar) || !tp__op_is(scalar, "arith.mulf")))
    return false;
  int x = tp__nest_input(&s->nest, scalar, 0), y = tp__nest_input(&s->nest, scalar, 1);
  int other = x == s->inner ? y : x;
  if (x < 0 || y < 0 || x == y || (divides && x != s->inner))
    return false;
  int n_ops = f->a->n_ops;
  op->scale = divides ? TP_OVER : TP_TIMES;
  if (take_rows_of(f, op, other)) {
    op->role = TP_SCALE;
    op->is_scaled = true;
    return true;
  }
  f->a->n_ops = n_ops; /* a factor for each score: no rows were found */
  op->rows = (MlirValue){NULL};
  op->n_rows = 0;
  return true;
}

static bool add_reduction(finder *f, const step *s, tp_attention_op *op) {
  tp_attention *a = f->a;
  tp_combiner combiner = TP_N_COMBINERS;
  int column = -1;
  for (int l = 0; l < s->nest.n_loops; l++)
    if (s->nest.reduced >> l & 1 && op->loops[l].n > 0) {
      if (column >= 0 || op->loops[l].n != 1)
        return false;
      column = op->loops[l].loops[0];
    }
  if (s->nest.n_inputs != 1 || column < 0 || (a->column >= 0 && column != a->column))
    return false;
  if (a->column < 0) {
    a->column = column;
    if (!find_rows(a))
      return false;
  }
  bool known = tp__body_combiner(&s->nest.body, 0, &combiner);
  op->role = s->past ? TP_ROW_SUM : TP_ROW_REDUCTION;
  put_behind(f, s->op);
  if (s->past)
    return known && combiner == TP_SUM && is_zero(mlirOperationGetOperand(s->op, 1)) && !a->ops[s->maker].is_scaled;
  if (known && (combiner == TP_MAX || combiner == TP_MAXNUM) && a->maximum == 0)
    a->maximum = (int)(op - a->ops);
  return a->ops[s->maker].role != TP_SHIFT && !is_behind(f, mlirOperationGetOperand(s->op, 1));
}

static bool add_output(finder *f, const step *s, tp_attention_op *op, uint32_t beside) {
  tp_attention *a = f->a;
  tp_score_dim dims[TP_MAX_RANK];
  op->role = TP_OUTPUT;
  a->output = (int)(op - a->ops);
  if (s->n_inner != 1 || s->inner > 1 || !s->past ||
      !is_zero(mlirOperationGetOperand(s->op, 2))) /* 2: scores that it adds to */
    return false;
  MlirValue values = mlirOperationGetOperand(s->op, 1 - s->inner);
  for (int l = 0; l < s->nest.n_loops; l++) {
    bool reduced = s->nest.reduced >> l & 1;
    if (!(beside >> l & 1)) {
      if (reduced && op->loops[l].n > 0 && (op->loops[l].n != 1 || op->loops[l].loops[0] != a->column))
        return false;
      continue;
    }
    int64_t size = 0; /* features of the values */
    for (int d = 0; d < mlirShapedTypeGetRank(mlirValueGetType(values)); d++)
      if (tp__nest_loop(&s->nest, 1 - s->inner, d) == l)
        size = mlirShapedTypeGetDimSize(mlirValueGetType(values), d);
    int number = reduced ? -1 : tp__attention_loop(a, size);
    if (number < 0 || size == 0)
      return false;
    op->loops[l] = (tp_score_dim){1, {(uint8_t)number}};
    a->whole |= UINT32_C(1) << number;
  }
  tp__attention_result_dims(op, dims);
  if (tp__has_loop(dims, (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(s->op, 0))), a->column))
    return false;
  tp__attention_operand_dims(op, 1 - s->inner, dims);
  return tp__has_loop(dims, (int)mlirShapedTypeGetRank(mlirValueGetType(values)), a->column);
}

/* ---- one op ---- */

static bool follows_from_scores(const finder *f, MlirValue value) {
  return is_behind(f, value) || tp__attention_maker(f->a, value) >= 0;
}

/* What enters the blocks beside scores and rows must be there before them. */
static bool has_all_before(const finder *f, const step *s, const tp_attention_op *op) {
  for (int i = 0; i < mlirOperationGetNumOperands(s->op); i++) {
    MlirValue value = mlirOperationGetOperand(s->op, i);
    bool are_rows = !mlirValueIsNull(op->rows) && i < s->nest.n_inputs && i != s->inner;
    if (!are_rows && !is_overwritten(s->op, i) && inner_maker(f->a, s->op, i) < 0 && follows_from_scores(f, value))
      return false;
  }
  return true;
}

static bool add_op(finder *f, step *s) {
  tp_attention *a = f->a;
  tp_score_dim dims[TP_MAX_RANK];
  uint32_t beside = 0;
  tp_attention_op *op = tp__attention_add(a, s->op, s->past ? TP_AFTER : TP_BEFORE);
  if (!op)
    return false;
  op->is_scaled = a->ops[s->maker].is_scaled;
  if (tp__is_reshape(s->op)) {
    tp__attention_result_dims(&a->ops[s->maker], dims);
    return a->ops[s->maker].role != TP_SHIFT && tp__attention_reshape(a, op, dims);
  }
  s->nest = op->nest;
  if (!op->is_nest || !assign_loops(f, s, op, &beside))
    return false;
  if (s->nest.is_written && s->nest.reduced && tp__body_is_contraction(&s->nest.body))
    return add_output(f, s, op, beside) && has_all_before(f, s, op);
  if (beside)
    return false;
  if (s->nest.reduced)
    return add_reduction(f, s, op);
  if (!tp__nest_is_elementwise(&s->nest))
    return false;
  return (s->past ? add_after(f, s, op) : add_before(f, s, op)) && has_all_before(f, s, op);
}

/* Does nothing but ops of the attention use what is made in blocks? */
static bool stays_inside(const tp_attention *a) {
  for (int i = 0; i < a->n_ops; i++) {
    if (!tp__attention_is_inner(a->ops[i].role) || a->ops[i].role == TP_MASK)
      continue;
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(a->ops[i].op, 0));
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
      bool inside = false;
      for (int k = 0; k < a->n_ops && !inside; k++)
        inside = mlirOperationEqual(a->ops[k].op, mlirOpOperandGetOwner(use));
      if (!inside)
        return false;
    }
  }
  return true;
}

/* The ops of an attention stand together. What a backward pass reads stands anywhere behind, and looking for it from every product of a long
 * program would take quadratic time: there is a limit. */
enum { FARTHEST = 256 };

static MlirOperation next_in_block(MlirOperation op) { return mlirOperationIsNull(op) ? op : mlirOperationGetNextInBlock(op); }

/* As far as the limit goes from `scores`; null: to the end of the block. From those before it is not counted anew. */
static MlirOperation farthest(tp_attention_reach *reach, MlirOperation scores) {
  tp_attention_reach moved = *reach;
  for (int n = 0; n < FARTHEST && !mlirOperationIsNull(moved.scores) && !mlirOperationEqual(moved.scores, scores); n++) {
    moved.scores = next_in_block(moved.scores);
    moved.last = next_in_block(moved.last);
  }
  if (mlirOperationIsNull(moved.scores) || !mlirOperationEqual(moved.scores, scores)) {
    moved = (tp_attention_reach){scores, scores};
    for (int n = 0; n < FARTHEST; n++)
      moved.last = next_in_block(moved.last);
  }
  *reach = moved;
  return moved.last;
}

/* Goes on from the scores until the output is found; false where something does not fit. */
static bool scan(finder *f) {
  tp_attention *a = f->a;
  MlirOperation op = a->ops[0].op;
  while (a->output == 0 && !f->failed && !mlirOperationEqual(op, f->last)) {
    op = mlirOperationGetNextInBlock(op);
    if (mlirOperationIsNull(op))
      break;
    note_added(f);
    if (f->strays)
      return false;
    if (tp__table_get(&f->users, op.ptr) < 0)
      continue;
    step s = {.op = op, .inner = -1};
    for (int i = 0; i < mlirOperationGetNumOperands(op); i++) {
      int maker = inner_maker(a, op, i);
      if (maker < 0 || a->ops[maker].role == TP_SPREAD)
        continue;
      bool past = is_past_exponential(a->ops[maker].role);
      if (s.n_inner > 0 && past != s.past)
        return false;
      if (s.n_inner++ == 0) {
        s.inner = i;
        s.maker = maker;
        s.past = past;
      }
    }
    if (s.n_inner > 0 && !add_op(f, &s))
      return false;
    if (s.n_inner == 0 && reads_behind(f, op))
      put_behind(f, op);
  }
  return a->output > 0 && a->exponential > 0 && a->maximum > 0 && !f->failed;
}

/* The maximum is that of what the rows are subtracted from: the exponential is at most 1, whatever comes between. */
static bool is_stable(const tp_attention *a) {
  const tp_attention_op *exponential = &a->ops[a->exponential];
  MlirValue x = mlirOperationGetOperand(a->ops[a->maximum].op, 0);
  for (int i = 0; i < mlirOperationGetNumOperands(exponential->op); i++) {
    int maker = tp__attention_maker(a, mlirOperationGetOperand(exponential->op, i));
    if (maker >= 0 && a->ops[maker].role == TP_SHIFT)
      exponential = &a->ops[maker];
  }
  for (int i = 0; i < mlirOperationGetNumOperands(exponential->op); i++)
    if (mlirValueEqual(mlirOperationGetOperand(exponential->op, i), x))
      return true;
  return false;
}

static bool is_float(MlirOperation op) {
  MlirType element = tp__element_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  return mlirTypeIsAF32(element) || mlirTypeIsAF64(element) || mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
}

/* Can it be computed in blocks: of these types, with as many sums and loops as there is room for? */
static bool fits_blocks(const tp_attention *a) {
  int n_sums = 0, n_scales = 0;
  bool floats = true;
  for (int i = 0; i < a->n_ops; i++) {
    tp_attention_role role = a->ops[i].role;
    n_sums += !tp__attention_is_inner(role);
    n_scales += role == TP_SCALE;
    if (role == TP_ROW_SUM || role == TP_OUTPUT || i == a->maximum || i == a->exponential)
      floats &= is_float(a->ops[i].op);
  }
  return floats && n_sums <= TP_MAX_ATTENTION_SUMS && n_scales <= TP_MAX_ATTENTION_SCALES && a->n_loops <= TP_MAX_RANK;
}

tp_status tp__attention_followers(const tp_attention *a, tp_op_list *list) {
  tp_attention copy = *a;
  finder f = {.a = &copy};
  tp_status status = TP_OK;
  for (MlirOperation op = a->ops[0].op; !mlirOperationEqual(op, a->ops[a->output].op) && status == TP_OK;
       op = mlirOperationGetNextInBlock(op)) {
    int k = 0;
    while (k < a->n_ops && !mlirOperationEqual(a->ops[k].op, op))
      k++;
    bool is_sum = k < a->n_ops && a->ops[k].role == TP_ROW_SUM, is_part = k < a->n_ops && !is_sum;
    if (is_part ? a->ops[k].role != TP_ROW_REDUCTION : !is_sum && !reads_behind(&f, op))
      continue;
    put_behind(&f, op);
    if (!is_part)
      status = tp__op_list_add(list, op);
  }
  if (status == TP_OK && f.failed)
    status = tp__error(a->ops[0].op, TP_NO_MEMORY, "out of memory");
  tp__table_destroy(&f.dependent);
  tp__table_destroy(&f.users);
  return status;
}

bool tp__attention_next(tp_attention_reach *reach, MlirOperation scores, tp_attention *a) {
  memset(a, 0, offsetof(tp_attention, ops)); /* what is added to `ops` is cleared then */
  a->column = -1;
  finder f = {.a = a, .last = farthest(reach, scores)};
  bool found = add_scores(&f, scores) && scan(&f) && stays_inside(a) && is_stable(a) && fits_blocks(a);
  tp__table_destroy(&f.dependent);
  tp__table_destroy(&f.users);
  if (found)
    tp__attention_add_masks(a);
  return found;
}

bool tp__attention_at(MlirOperation scores, tp_attention *a) {
  tp_attention_reach reach = {0};
  return tp__attention_next(&reach, scores, a);
}
