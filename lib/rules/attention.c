/* Recognizes attention: scans from the scores to the output. */
#include "rules/attention.h"

#include "rules/attention_scan.h"

#include <string.h>

int tp__attention_producer(const tp_attention *a, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  for (int i = 0; i < a->n_ops && !mlirOperationIsNull(op); i++)
    if (mlirOperationEqual(a->ops[i].op, op))
      return i;
  return -1;
}

bool tp__attention_is_inner(tp_attention_role role) {
  return role != TP_ROW_REDUCTION && role != TP_ROW_SUM && role != TP_OUTPUT;
}
/* ---- the scan: from the scores through the blocks to the output ---- */

bool tp__depends_on_scores(const tp_attention_finder *f, MlirValue value) {
  return tp__table_get(&f->dependent, value.ptr) >= 0;
}

static bool is_out_of_reach(const tp_attention_finder *f, MlirOperation op) {
  return !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(f->a->ops[0].op)) ||
         (!mlirOperationIsNull(f->last) && mlirOperationIsBeforeInBlock(f->last, op));
}

/* Records the users of an op's results. is_inner: the results are computed in blocks. */
static void note_users(tp_attention_finder *f, MlirOperation op, bool is_inner) {
  MlirBlock block = mlirOperationGetBlock(f->a->ops[0].op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, i));
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      f->escapes |= is_inner && !f->is_shared && is_out_of_reach(f, user);
      while (!mlirOperationIsNull(user) && !mlirBlockEqual(mlirOperationGetBlock(user), block))
        user = mlirOperationGetParentOperation(user);
      if (!mlirOperationIsNull(user))
        f->failed |= tp__table_put(&f->users, user.ptr, 1) != TP_OK;
    }
  }
}

void tp__mark_depends_on_scores(tp_attention_finder *f, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    f->failed |= tp__table_put(&f->dependent, mlirOperationGetResult(op, i).ptr, 1) != TP_OK;
  note_users(f, op, false);
}

typedef struct reader {
  const tp_attention_finder *f;
  bool reads;
} reader;

static tp_status visit_dependent(MlirOperation op, void *data) {
  reader *r = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    int maker = tp__attention_producer(r->f->a, mlirOperationGetOperand(op, i));
    tp_attention_role role = maker < 0 ? TP_MASK : r->f->a->ops[maker].role;
    r->reads |= tp__depends_on_scores(r->f, mlirOperationGetOperand(op, i)) ||
                (role != TP_MASK && tp__attention_is_inner(role));
  }
  return TP_OK;
}

static bool reads_dependent(const tp_attention_finder *f, MlirOperation op) {
  reader r = {f, false};
  (void)visit_dependent(op, &r);
  (void)tp__walk(op, visit_dependent, &r); /* the visitor does not fail */
  return r.reads;
}

/* True if operand `i` is an init that the op overwrites without reading it. */
bool tp__is_unread_init(MlirOperation op, int i) {
  tp_nest nest;
  return i + 1 == mlirOperationGetNumOperands(op) && tp__nest_of(op, &nest) && nest.is_written &&
         i == nest.n_inputs && !tp__body_reads(&nest.body, i);
}

int tp__inner_producer(const tp_attention *a, MlirOperation op, int i) {
  int maker = tp__attention_producer(a, mlirOperationGetOperand(op, i));
  return maker >= 0 && tp__attention_is_inner(a->ops[maker].role) && !tp__is_unread_init(op, i)
             ? maker
             : -1;
}

static bool is_past_exponential(tp_attention_role role) {
  return role == TP_EXPONENTIAL || role == TP_SCALE || role == TP_AFTER;
}

void tp__record_users(tp_attention_finder *f) {
  for (; f->n_noted < f->a->n_ops; f->n_noted++) {
    const tp_attention_op *op = &f->a->ops[f->n_noted];
    note_users(f, op->op, tp__attention_is_inner(op->role) && op->role != TP_ROW_BROADCAST);
  }
}

/* ---- one op ---- */

/* Gives the op the loops of its inner operands. `beside` (bits) receives the op's other loops of
 * more than one iteration. */
static bool assign_loops(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op,
                         uint32_t *beside) {
  tp_score_dim dims[TP_MAX_RANK];
  uint32_t known = 0;
  for (int i = 0; i < s->nest.n_inputs; i++) {
    int maker = tp__inner_producer(f->a, s->op, i);
    if (maker < 0)
      continue;
    tp__attention_result_dims(&f->a->ops[maker], dims);
    if (!tp__attention_assign(f->a, op, &s->nest, i, dims, &known))
      return false;
  }
  *beside = 0;
  for (int i = 0; i <= s->nest.n_inputs; i++) {
    MlirType type = i < s->nest.n_inputs || s->nest.is_written
                        ? mlirValueGetType(mlirOperationGetOperand(s->op, i))
                        : (MlirType){0};
    for (int d = 0;
         !mlirTypeIsNull(type) && mlirTypeIsARankedTensor(type) && d < mlirShapedTypeGetRank(type);
         d++) {
      int loop = tp__nest_loop(&s->nest, i, d);
      if (loop != TP_WHOLE_DIM && !(known >> loop & 1) && mlirShapedTypeGetDimSize(type, d) != 1)
        *beside |= UINT32_C(1) << loop;
    }
  }
  return true;
}

static bool follows_from_scores(const tp_attention_finder *f, MlirValue value) {
  return tp__depends_on_scores(f, value) || tp__attention_producer(f->a, value) >= 0;
}

/* True if all inputs other than scores and row values are available before the blocks. */
static bool has_all_before(const tp_attention_finder *f, const tp_attention_step *s,
                           const tp_attention_op *op) {
  for (int i = 0; i < mlirOperationGetNumOperands(s->op); i++) {
    MlirValue value = mlirOperationGetOperand(s->op, i);
    bool are_rows = !mlirValueIsNull(op->rows) && i < s->nest.n_inputs && i != s->inner;
    if (!are_rows && !tp__is_unread_init(s->op, i) && tp__inner_producer(f->a, s->op, i) < 0 &&
        follows_from_scores(f, value))
      return false;
  }
  return true;
}

static bool add_op(tp_attention_finder *f, tp_attention_step *s) {
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
    return tp__attention_output(f, s, op, beside) && has_all_before(f, s, op);
  if (beside)
    return false;
  if (s->nest.reduced)
    return tp__attention_reduction(f, s, op);
  if (!tp__nest_is_elementwise(&s->nest))
    return false;
  return (s->past ? tp__attention_after(f, s, op) : tp__attention_before(f, s, op)) &&
         has_all_before(f, s, op);
}

/* True if only ops of the attention use the values that are computed in blocks. */
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

/* The ops of an attention are close together. A backward pass may use their values much later, but
 * searching that far from every contraction of a long program would take quadratic time, so the
 * search is limited to this many ops. */
enum { FARTHEST = 2048 };

static MlirOperation next_in_block(MlirOperation op) {
  return mlirOperationIsNull(op) ? op : mlirOperationGetNextInBlock(op);
}

/* Returns the last op within the limit, counted from `scores`; null: to the end of the block.
 * Advances from the previous scores instead of counting again. */
static MlirOperation farthest(tp_attention_reach *reach, MlirOperation scores) {
  tp_attention_reach moved = *reach;
  for (int n = 0; n < FARTHEST && !mlirOperationIsNull(moved.scores) &&
                  !mlirOperationEqual(moved.scores, scores);
       n++) {
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

bool tp__leads_nowhere(MlirOperation op, int depth) {
  enum { FAR = 8 };
  bool dead =
      depth < FAR && mlirOperationGetNumResults(op) > 0 &&
      (tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "linalg") || tp__is_reshape(op));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && dead; i++) {
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, i));
    for (; !mlirOpOperandIsNull(use) && dead; use = mlirOpOperandGetNextUse(use))
      dead = tp__leads_nowhere(mlirOpOperandGetOwner(use), depth + 1);
  }
  return dead;
}

/* Continues from the scores until the output is found. False if an op does not fit. */
static bool scan(tp_attention_finder *f) {
  tp_attention *a = f->a;
  MlirOperation op = a->ops[0].op;
  while (a->output == 0 && !f->failed && !mlirOperationEqual(op, f->last)) {
    op = mlirOperationGetNextInBlock(op);
    if (mlirOperationIsNull(op))
      break;
    tp__record_users(f);
    if (f->escapes)
      return false;
    if (tp__table_get(&f->users, op.ptr) < 0)
      continue;
    tp_attention_step s = {.op = op, .inner = -1};
    for (int i = 0; i < mlirOperationGetNumOperands(op); i++) {
      int maker = tp__inner_producer(a, op, i);
      if (maker < 0 || a->ops[maker].role == TP_ROW_BROADCAST)
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
    if (s.n_inner > 0 && tp__leads_nowhere(op, 0))
      continue;
    if (s.n_inner > 0 && !add_op(f, &s))
      return false;
    if (s.n_inner == 0 && reads_dependent(f, op))
      tp__mark_depends_on_scores(f, op);
  }
  return a->output > 0 && a->exponential > 0 && a->maximum > 0 && !f->failed;
}

/* True if the op makes a tensor of the same elements: a reshape, or a copy of score values in
 * another order. */
static bool rearranges(const tp_attention *a, MlirOperation op) {
  int i = 0;
  if (tp__is_reshape(op))
    return true;
  while (i < a->n_ops && !mlirOperationEqual(a->ops[i].op, op))
    i++;
  return i < a->n_ops && a->ops[i].role == TP_BEFORE && a->ops[i].is_nest &&
         tp__nest_copies(&a->ops[i].nest);
}

MlirValue tp__attention_arranged(const tp_attention *a, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  for (; !mlirOperationIsNull(op) && rearranges(a, op); op = tp__defining_op(value))
    value = mlirOperationGetOperand(op, 0);
  return value;
}

/* True if the maximum is taken over the same value from which the rows are subtracted, perhaps
 * arranged in another way. The exponential is then at most 1, whatever ops lie between the two. */
static bool is_stable(const tp_attention *a) {
  const tp_attention_op *exponential = &a->ops[a->exponential];
  MlirValue x = tp__attention_arranged(a, mlirOperationGetOperand(a->ops[a->maximum].op, 0));
  for (int i = 0; i < mlirOperationGetNumOperands(exponential->op); i++) {
    int maker = tp__attention_producer(a, mlirOperationGetOperand(exponential->op, i));
    if (maker >= 0 && a->ops[maker].role == TP_SHIFT)
      exponential = &a->ops[maker];
  }
  for (int i = 0; i < mlirOperationGetNumOperands(exponential->op); i++)
    if (mlirValueEqual(tp__attention_arranged(a, mlirOperationGetOperand(exponential->op, i)), x))
      return true;
  return false;
}

static bool is_float(MlirOperation op) {
  MlirType element = tp__element_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  return mlirTypeIsAF32(element) || mlirTypeIsAF64(element) || mlirTypeIsAF16(element) ||
         mlirTypeIsABF16(element);
}

/* True if the attention can be computed in blocks: the element types are supported, and sums and
 * loops are within the limits. */
static bool fits_blocks(const tp_attention *a) {
  int n_sums = 0, n_scales = 0;
  bool floats = true;
  for (int i = 0; i < a->n_ops; i++) {
    tp_attention_role role = a->ops[i].role;
    n_sums += !tp__attention_is_inner(role);
    n_scales += role == TP_SCALE || a->ops[i].drops;
    if (role == TP_ROW_SUM || role == TP_OUTPUT || i == a->maximum || i == a->exponential)
      floats &= is_float(a->ops[i].op);
  }
  return floats && n_sums <= TP_MAX_ATTENTION_SUMS && n_scales <= TP_MAX_ATTENTION_SCALES &&
         a->n_loops <= TP_MAX_RANK;
}

tp_status tp__attention_followers(const tp_attention *a, tp_op_list *list) {
  tp_attention copy = *a;
  tp_attention_finder f = {.a = &copy};
  tp_status status = TP_OK;
  for (MlirOperation op = a->ops[0].op;
       !mlirOperationEqual(op, a->ops[a->output].op) && status == TP_OK;
       op = mlirOperationGetNextInBlock(op)) {
    int k = 0;
    while (k < a->n_ops && !mlirOperationEqual(a->ops[k].op, op))
      k++;
    bool is_sum = k < a->n_ops && a->ops[k].role == TP_ROW_SUM, is_part = k < a->n_ops && !is_sum;
    if (is_part ? a->ops[k].role != TP_ROW_REDUCTION : !is_sum && !reads_dependent(&f, op))
      continue;
    tp__mark_depends_on_scores(&f, op);
    if (!is_part)
      status = tp__op_list_add(list, op);
  }
  if (status == TP_OK && f.failed)
    status = tp__out_of_memory(a->ops[0].op);
  tp__table_destroy(&f.dependent);
  tp__table_destroy(&f.users);
  return status;
}

static bool find(tp_attention_reach *reach, MlirOperation scores, bool is_shared, tp_attention *a) {
  memset(a, 0, offsetof(tp_attention, ops)); /* elements of `ops` are cleared when they are added */
  a->column = -1;
  tp_attention_finder f = {.a = a, .is_shared = is_shared};
  bool found = tp__attention_scores(&f, scores);
  f.last = found ? farthest(reach, scores) : f.last;
  found = found && scan(&f) && (is_shared || stays_inside(a)) && is_stable(a) && fits_blocks(a);
  tp__table_destroy(&f.dependent);
  tp__table_destroy(&f.users);
  if (found)
    tp__attention_add_masks(a);
  return found;
}

bool tp__attention_next(tp_attention_reach *reach, MlirOperation scores, tp_attention *a) {
  return find(reach, scores, false, a);
}

bool tp__attention_next_shared(tp_attention_reach *reach, MlirOperation scores, tp_attention *a) {
  return find(reach, scores, true, a);
}

bool tp__attention_at(MlirOperation scores, tp_attention *a) {
  tp_attention_reach reach = {0};
  return find(&reach, scores, false, a);
}

bool tp__attention_shared(MlirOperation scores, tp_attention *a) {
  tp_attention_reach reach = {0};
  return find(&reach, scores, true, a);
}
