/* tp-group-rows: finds rows that are sorted into groups, such as tokens sorted by expert, and marks
 * the ops that work on them with tp.rows (rules/rows.h).
 *
 * It begins at sums over masked copies of the rows, one copy for each group, zero outside of the
 * group: what jax.lax.ragged_dot becomes. JAX writes the mask as a tensor, which would be split
 * apart from the rows; it becomes part of one op. From the rows of these sums, marks spread through
 * row-wise ops to the gathers and scatters of whole rows at the ends, which take the bounds of the
 * groups as inputs: there, rows are exchanged between devices. All rows that are connected in this
 * way must have the same groups; else nothing is marked. */
#include "passes/prepare/raise/group_rows.h"
#include "passes/prepare/raise/raise.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "ir/op_equivalence.h"
#include "passes/support/value_map.h"
#include "rules/rows.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { STAT_MASKS, STAT_EXCHANGES, MAX_DEPTH = 24 };

/* ---- equal values ---- */

static bool same_op(MlirOperation x, MlirOperation y) {
  uint64_t first, second;
  return mlirOperationGetNumOperands(x) == mlirOperationGetNumOperands(y) &&
         mlirAttributeEqual(tp__attributes(x), tp__attributes(y)) &&
         tp__op_structure_hash(x, &first) && tp__op_structure_hash(y, &second) &&
         tp__ops_equivalent(x, y);
}

/* True if the values are computed alike from the same values. */
static bool same_value(MlirValue a, MlirValue b, int depth) {
  if (mlirValueEqual(a, b))
    return true;
  MlirOperation x = tp__defining_op(a), y = tp__defining_op(b);
  if (mlirOperationIsNull(x) || mlirOperationIsNull(y) || depth == 0 ||
      mlirOpResultGetResultNumber(a) != mlirOpResultGetResultNumber(b) || !same_op(x, y))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(x); i++)
    if (!same_value(mlirOperationGetOperand(x, i), mlirOperationGetOperand(y, i), depth - 1))
      return false;
  return true;
}

/* ---- rows of groups ---- */

/* An op that gets a role. */
typedef struct marked_op {
  MlirOperation op;
  const char *role;
  int64_t of; /* index of the groups; -1: any */
} marked_op;

typedef struct marker {
  tp_pass *pass;
  tp_op_list masks;    /* ops with tp.rows = "mask" */
  tp__value_map seen;  /* rows of groups -> index of the groups */
  tp_op_list products; /* ops with tp.rows = "product" */
  marked_op *marks;
  size_t n_marks, marks_capacity;
  MlirValue *queue;
  size_t n, queue_capacity, n_groups, groups_capacity;
  tp_row_groups *groups;
  bool conflicts; /* rows with two kinds of groups */
  bool is_marked; /* an earlier run of the pass has marked the module */
  tp_status status;
} marker;

static void failed(marker *m) {
  if (m->status == TP_OK)
    m->status = tp__out_of_memory(m->pass->module);
}

static void set_role(marker *m, MlirOperation op, const char *role, int64_t of) {
  for (size_t i = 0; i < m->n_marks; i++)
    if (mlirOperationEqual(m->marks[i].op, op))
      return;
  if (tp__grow((void **)&m->marks, &m->marks_capacity, m->n_marks + 1, sizeof *m->marks) != TP_OK)
    failed(m);
  else
    m->marks[m->n_marks++] = (marked_op){op, role, of};
}

/* Adds rows of the groups to the queue. */
static void add_rows(marker *m, MlirValue value, int64_t of) {
  int64_t *known = tp__value_add(&m->seen, value, -1);
  if (!known) {
    failed(m);
    return;
  }
  m->conflicts |= *known >= 0 && *known != of;
  if (*known >= 0)
    return;
  *known = of;
  if (tp__grow((void **)&m->queue, &m->queue_capacity, m->n + 1, sizeof *m->queue) != TP_OK)
    failed(m);
  else
    m->queue[m->n++] = value;
}

static int64_t number_of_groups(marker *m, const tp_row_groups *g) {
  for (size_t i = 0; i < m->n_groups; i++)
    if (same_value(m->groups[i].starts, g->starts, MAX_DEPTH) &&
        same_value(m->groups[i].ends, g->ends, MAX_DEPTH))
      return (int64_t)i;
  if (tp__grow((void **)&m->groups, &m->groups_capacity, m->n_groups + 1, sizeof *m->groups) !=
      TP_OK) {
    failed(m);
    return 0;
  }
  m->groups[m->n_groups] = *g;
  return (int64_t)m->n_groups++;
}

/* The op that uses a value, or that contains the op that does. */
static MlirOperation user_of(MlirOpOperand use, MlirBlock block) {
  MlirOperation op = mlirOpOperandGetOwner(use);
  while (!mlirOperationIsNull(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

/* True for ops that may be row-wise, and whose rules report no errors. */
static bool may_be_row_wise(MlirOperation op) {
  static const char *const dialects[] = {"arith", "math", "complex", "linalg"};
  int rank;
  int64_t shape[TP_MAX_RANK];
  bool known = tp__is_reshape(op);
  for (int i = 0; i < TP_LEN(dialects); i++)
    known |= tp__op_has_dialect(op, dialects[i]);
  return known && mlirOperationGetNumResults(op) == 1 &&
         tp__static_tensor(tp__result_type(op), &rank, shape) &&
         mlirAttributeIsNull(tp__get(op, "tp.rule"));
}

static bool is_row_wise(marker *m, MlirOperation op, uint64_t *operands) {
  tp_rule rule;
  tp__arena arena = {0};
  if (!may_be_row_wise(op))
    return false;
  tp_status status = tp__rule_of(op, false, &arena, &rule);
  if (status != TP_OK && m->status == TP_OK)
    m->status = status;
  bool is = status == TP_OK && tp__is_row_wise(&rule, operands);
  tp__arena_destroy(&arena);
  return is;
}

/* True for values that have no rows of their own: all are equal. */
static bool is_free(MlirOperation op) {
  return tp__op_is(op, "tensor.empty") || tp__op_is(op, "tensor.splat") ||
         tp__op_is(op, "linalg.fill") ||
         (tp__op_is(op, "arith.constant") && !tp__is_stored_constant(op));
}

static void add_operands(marker *m, MlirOperation op, uint64_t operands, int64_t of) {
  for (int i = 0; i < mlirOperationGetNumOperands(op) && i < 64; i++) {
    if (!(operands >> i & 1))
      continue;
    MlirValue value = mlirOperationGetOperand(op, i);
    MlirOperation maker = tp__defining_op(value);
    if (!mlirOperationIsNull(maker) && is_free(maker)) /* shared by ops of any groups */
      set_role(m, maker, TP_ROWS_EACH, -1);
    else
      add_rows(m, value, of);
  }
}

/* True if the rows of the result follow from those of the value, which is an operand. */
static bool has_rows_of(MlirOperation op, uint64_t operands, MlirValue value) {
  for (int i = 0; i < mlirOperationGetNumOperands(op) && i < 64; i++)
    if ((operands >> i & 1) && mlirValueEqual(mlirOperationGetOperand(op, i), value))
      return true;
  return false;
}

/* `value`: an operand, or the result, that has rows of the groups. */
static void visit_each(marker *m, MlirOperation op, MlirValue value, int64_t of) {
  uint64_t operands;
  if (!is_row_wise(m, op, &operands) ||
      !(mlirValueEqual(mlirOperationGetResult(op, 0), value) || has_rows_of(op, operands, value)))
    return;
  set_role(m, op, TP_ROWS_EACH, of);
  add_operands(m, op, operands, of);
  add_rows(m, mlirOperationGetResult(op, 0), of);
}

static void add_init(marker *m, MlirOperation op, int64_t of) {
  int last = (int)mlirOperationGetNumOperands(op) - 1;
  add_operands(m, op, UINT64_C(1) << last, of);
}

static void visit_user(marker *m, MlirOperation op, MlirValue value, int64_t of) {
  tp_row_access access;
  if (tp__rows_has_role(op, TP_ROWS_MASK))
    return;
  if (!tp__row_access_of(op, &access)) {
    visit_each(m, op, value, of);
    return;
  }
  bool is_table = !access.scatters && mlirValueEqual(access.table, value);
  bool is_update =
      access.scatters && mlirValueEqual(mlirOperationGetOperand(op, access.updates), value);
  if (is_table || is_update)
    set_role(m, op, is_table ? TP_ROWS_GATHER_FROM : TP_ROWS_SCATTER_FROM, of);
}

static void visit_maker(marker *m, MlirOperation op, MlirValue value, int64_t of) {
  tp_row_access access;
  if (mlirOperationIsNull(op) || tp__rows_has_role(op, TP_ROWS_MASK))
    return;
  if (tp__rows_has_role(op, TP_ROWS_PRODUCT)) {
    add_init(m, op, of);
  } else if (!tp__row_access_of(op, &access)) {
    visit_each(m, op, value, of);
  } else {
    set_role(m, op, access.scatters ? TP_ROWS_SCATTER_TO : TP_ROWS_GATHER_TO, of);
    if (access.scatters)
      add_init(m, op, of);
  }
}

static void spread(marker *m) {
  for (size_t i = 0; i < m->n && m->status == TP_OK && !m->conflicts; i++) {
    MlirValue value = m->queue[i];
    int64_t of = *tp__value_find(&m->seen, value);
    visit_maker(m, tp__defining_op(value), value, of);
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = user_of(use, tp__block_of(value));
      if (!mlirOperationIsNull(user))
        visit_user(m, user, value, of);
    }
  }
}

/* ---- rewriting ---- */

static tp_status collect(MlirOperation op, void *data) {
  marker *m = data;
  MlirValue rows;
  tp_row_groups g;
  bool is_imported = tp__rows_has_role(op, TP_ROWS_MASK);
  m->is_marked |= !is_imported && !mlirAttributeIsNull(tp__get(op, "tp.rows"));
  return is_imported || tp__rows_read_mask(op, &rows, &g) ? tp__op_list_add(&m->masks, op) : TP_OK;
}

/* Replaces masks that JAX writes as tensors. */
static void join_masks(marker *m) {
  for (size_t i = 0; i < m->masks.n; i++) {
    MlirOperation op = m->masks.items[i];
    MlirValue rows;
    tp_row_groups g;
    if (!tp__rows_read_mask(op, &rows, &g))
      continue;
    MlirOperation made = tp__rows_build_mask(op, rows, &g);
    tp__set(made, "tp.rows", tp__attr_string(m->pass->context, TP_ROWS_MASK));
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetResult(made, 0));
    m->masks.items[i] = made;
    tp__raise raise = {.statistics = m->pass->statistics};
    tp__destroy(&raise, op);
    tp__table_destroy(&raise.gone);
    m->pass->statistics[STAT_MASKS]++;
  }
}

/* Begins at the rows of masks and of their products. */
static void begin(marker *m) {
  for (size_t i = 0; i < m->masks.n && m->status == TP_OK; i++) {
    MlirOperation mask = m->masks.items[i];
    tp_row_groups g = {mlirOperationGetOperand(mask, 1), mlirOperationGetOperand(mask, 2)};
    int64_t of = number_of_groups(m, &g);
    MlirValue result = mlirOperationGetResult(mask, 0);
    tp__set(mask, "tp.groups", tp__attr_i64(m->pass->context, of));
    add_rows(m, mlirOperationGetOperand(mask, 0), of);
    for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      if (mlirOpOperandGetOperandNumber(use) != 0 || !tp__rows_is_product(user))
        continue;
      tp__set(user, "tp.rows", tp__attr_string(m->pass->context, TP_ROWS_PRODUCT));
      tp__set(user, "tp.groups", tp__attr_i64(m->pass->context, of));
      if (tp__op_list_add(&m->products, user) != TP_OK)
        failed(m);
      add_rows(m, mlirOperationGetResult(user, 0), of);
    }
  }
}

/* Marks the sums of masks, which all have their groups. */
static void mark_sums(marker *m) {
  for (size_t i = 0; i < m->masks.n && m->status == TP_OK; i++) {
    MlirOperation mask = m->masks.items[i];
    int64_t of = mlirIntegerAttrGetValueInt(tp__get(mask, "tp.groups"));
    MlirValue result = mlirOperationGetResult(mask, 0);
    for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
      if (tp__rows_is_sum(mlirOpOperandGetOwner(use)))
        set_role(m, mlirOpOperandGetOwner(use), TP_ROWS_SUM, of);
  }
}

typedef struct availability {
  MlirOperation root, where;
  int depth;
  bool all;
} availability;

static bool make_available(MlirValue value, MlirOperation where, int depth);

/* Makes the operands of an op available that come from outside of `root`, which contains it. */
static tp_status visit_operands(MlirOperation op, void *data) {
  availability *a = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && a->all; i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (mlirOperationEqual(op, a->root) || tp__is_captured(a->root, value))
      a->all = make_available(value, a->where, a->depth);
  }
  return TP_OK;
}

/* Makes a value available in front of `where`, which may move the ops that compute it. False if
 * that cannot be. */
static bool make_available(MlirValue value, MlirOperation where, int depth) {
  static const char *const dialects[] = {"arith", "linalg", "tensor"};
  MlirBlock block = tp__block_of(value);
  MlirOperation at = where, op = tp__defining_op(value);
  while (!mlirOperationIsNull(at) && !mlirBlockEqual(mlirOperationGetBlock(at), block))
    at = mlirOperationGetParentOperation(at);
  if (mlirOperationIsNull(at) || mlirOperationIsNull(op))
    return !mlirOperationIsNull(at);
  if (mlirOperationIsBeforeInBlock(op, at))
    return true;
  bool movable = false;
  for (int i = 0; i < TP_LEN(dialects); i++)
    movable |= tp__op_has_dialect(op, dialects[i]);
  if (!movable || depth == 0 || mlirOperationEqual(op, at))
    return false;
  availability inner = {op, at, depth - 1, true};
  (void)visit_operands(op, &inner);
  (void)tp__walk(op, visit_operands, &inner); /* the visitor does not fail */
  if (inner.all)
    mlirOperationMoveBefore(op, at);
  return inner.all;
}

static bool is_exchange(const marked_op *mark) {
  static const char *const roles[] = {TP_ROWS_GATHER_TO, TP_ROWS_GATHER_FROM, TP_ROWS_SCATTER_TO,
                                      TP_ROWS_SCATTER_FROM};
  for (int i = 0; i < TP_LEN(roles); i++)
    if (strcmp(mark->role, roles[i]) == 0)
      return true;
  return false;
}

/* Adds the bounds of the groups to an exchange. False if they are not known there. */
static bool add_bounds(const marker *m, const marked_op *mark) {
  tp__generic generic;
  MlirValue unused;
  const tp_row_groups *g = &m->groups[mark->of];
  if (!make_available(g->starts, mark->op, MAX_DEPTH) ||
      !make_available(g->ends, mark->op, MAX_DEPTH) || !tp__generic_read(mark->op, &generic))
    return false;
  MlirAffineExpr first = mlirAffineConstantExprGet(m->pass->context, 0);
  MlirAffineMap map = mlirAffineMapGet(m->pass->context, generic.n_loops, 0, 1, &first);
  return tp__generic_add_input(&generic, g->starts, map, &unused) &&
         tp__generic_add_input(&generic, g->ends, map, &unused);
}

/* True if rows come from one device and go to another. */
static bool has_both_ends(const marker *m) {
  bool begins = false, ends = false;
  for (size_t i = 0; i < m->n_marks; i++) {
    const char *role = m->marks[i].role;
    begins |= strcmp(role, TP_ROWS_GATHER_TO) == 0 || strcmp(role, TP_ROWS_SCATTER_TO) == 0;
    ends |= strcmp(role, TP_ROWS_GATHER_FROM) == 0 || strcmp(role, TP_ROWS_SCATTER_FROM) == 0;
  }
  return begins && ends;
}

static void drop_roles(const tp_op_list *list) {
  for (size_t i = 0; i < list->n; i++) {
    tp__remove(list->items[i], "tp.rows");
    tp__remove(list->items[i], "tp.groups");
  }
}

static void write_marks(marker *m) {
  if (m->conflicts || !has_both_ends(m)) {
    drop_roles(&m->masks);
    drop_roles(&m->products);
    return;
  }
  for (size_t i = 0; i < m->n_marks; i++) {
    const marked_op *mark = &m->marks[i];
    if (is_exchange(mark)) {
      if (!add_bounds(m, mark))
        continue;
      m->pass->statistics[STAT_EXCHANGES]++;
    }
    tp__set(mark->op, "tp.rows", tp__attr_string(m->pass->context, mark->role));
    if (mark->of >= 0)
      tp__set(mark->op, "tp.groups", tp__attr_i64(m->pass->context, mark->of));
  }
}

static tp_status mark_rows(marker *m) {
  TP_TRY(tp__walk(m->pass->module, collect, m));
  if (m->is_marked)
    return TP_OK;
  join_masks(m);
  begin(m);
  mark_sums(m);
  spread(m);
  if (m->status == TP_OK)
    write_marks(m);
  return m->status;
}

static tp_status run(tp_pass *pass) {
  marker m = {.pass = pass};
  tp_status status = mark_rows(&m);
  tp__value_map_destroy(&m.seen);
  tp__free(m.masks.items);
  tp__free(m.products.items);
  tp__free(m.marks);
  tp__free(m.queue);
  tp__free(m.groups);
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_MASKS] = {"masks", "masked copies of rows, written as a mask of its own, that became one "
                             "op"},
    [STAT_EXCHANGES] = {"exchanges", "gathers and scatters at which rows may be exchanged"},
};

const tp_pass_row tp__group_rows_row = {
    .name = "tp-group-rows",
    .summary = "Find rows that are sorted into groups, such as tokens sorted by expert, and mark "
               "the ops on them",
    .description =
        "Requires: tensors, and no plan yet; tp-raise. Establishes: the masked copies of rows from "
        "which jax.lax.ragged_dot makes its sums are one linalg.generic each. If rows are gathered "
        "or scattered to places sorted by group, and back, then these ops, the sums, and the "
        "row-wise ops between them have tp.rows, which offers to split the groups over devices "
        "and to exchange the rows by an all-to-all whose sizes are known at run time. Values stay "
        "equal bit for bit. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
