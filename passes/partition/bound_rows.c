/* tp-bound-rows: limits work on rows of groups (rules/rows.h) to the rows that a device has.
 *
 * The buffers have the size of all rows, but a device has only those of its groups, from a first to
 * a last row that it knows at run time. Ops on such rows that follow each other become a segment,
 * and then a loop over blocks of rows, from the block of the first row to that of the last one; with
 * masks, it is in a loop over the groups of the device, and the rows are those of the group. Blocks
 * begin at multiples of their size, which divides the number of rows, so that no block is cut. Rows
 * of other devices in these blocks are computed from unspecified values, and are unspecified
 * themselves; rows of other groups in them are not stored. */
#include "passes/partition/bound_rows.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "rules/rows.h"
#include "support/support.h"

enum { STAT_LOOPS, STAT_OPS, MAX_KINDS = 64 };

typedef struct bounding {
  tp_pass *pass;
  int n_kinds;
  int64_t kinds[MAX_KINDS];        /* numbers of groups */
  tp_row_bounds bounds[MAX_KINDS]; /* of these */
  tp_row_segment now;
} bounding;

/* The number of the groups of an op; -1: it has none. */
static int64_t groups_of(MlirOperation op) {
  MlirAttribute number = tp__get(op, "tp.groups");
  return mlirAttributeIsNull(number) || !mlirAttributeIsAInteger(number)
             ? -1
             : mlirIntegerAttrGetValueInt(number);
}

/* The bounds of groups; NULL: there are too many kinds. */
static tp_row_bounds *bounds_of(bounding *b, int64_t of) {
  int k = 0;
  while (k < b->n_kinds && b->kinds[k] != of)
    k++;
  if (k == MAX_KINDS)
    return NULL;
  if (k == b->n_kinds) {
    b->kinds[b->n_kinds++] = of;
    b->bounds[k] = (tp_row_bounds){{NULL}, {NULL}};
  }
  return &b->bounds[k];
}

/* ---- segments ---- */

static tp_status close_segment(bounding *b, MlirOperation where) {
  tp_row_segment *s = &b->now;
  const tp_row_bounds *bounds = s->ops.n > 0 ? bounds_of(b, s->of) : NULL;
  int64_t n_ops = (int64_t)s->ops.n;
  bool done = false;
  tp_status status = bounds ? tp__bound_segment(s, bounds, where, &done) : TP_OK;
  if (done) {
    b->pass->statistics[STAT_LOOPS]++;
    b->pass->statistics[STAT_OPS] += n_ops;
  }
  s->ops.n = 0;
  tp__value_map_destroy(&s->results);
  s->results = (tp__value_map){0};
  return status;
}

typedef struct reading {
  const tp_row_segment *of;
  bool reads;
} reading;

static tp_status visit_reads(MlirOperation op, void *data) {
  reading *r = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    r->reads |= tp__value_find(&r->of->results, mlirOperationGetOperand(op, i)) != NULL;
  return TP_OK;
}

/* True if the op, or one in its regions, reads a result of the segment. */
static bool reads_segment(const tp_row_segment *s, MlirOperation op) {
  reading r = {s, false};
  if (s->ops.n == 0)
    return false;
  (void)visit_reads(op, &r);
  (void)tp__walk(op, visit_reads, &r); /* the visitor does not fail */
  return r.reads;
}

/* True if the op reads a sum of the segment. */
static bool reads_sum(const tp_row_segment *s, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    MlirOperation maker = tp__defining_op(value);
    if (tp__value_find(&s->results, value) && tp__rows_own(maker) == TP_OWN_SUM)
      return true;
  }
  return false;
}

/* True if masks in the segment make both operands of the sum. */
static bool has_masks(const tp_row_segment *s, MlirOperation sum) {
  for (int i = 0; i < 2; i++) {
    MlirValue value = mlirOperationGetOperand(sum, i);
    if (!tp__value_find(&s->results, value) || tp__rows_own(tp__defining_op(value)) != TP_OWN_MASK)
      return false;
  }
  return true;
}

static tp_status add_to_segment(bounding *b, MlirOperation op, int64_t of) {
  tp_row_segment *s = &b->now;
  /* a loop over rows completes its sums behind it */
  bool closes = reads_sum(s, op);
  if (s->ops.n > 0 &&
      (closes || s->of != of || tp__n_rows_of(s->ops.items[0]) != tp__n_rows_of(op)))
    TP_TRY(close_segment(b, op));
  s->of = of;
  TP_TRY(tp__op_list_add(&s->ops, op));
  return tp__value_add(&s->results, mlirOperationGetResult(op, 0), 0) ? TP_OK
                                                                      : tp__out_of_memory(op);
}

static tp_status visit_block(bounding *b, MlirBlock block) {
  b->n_kinds = 0;
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    int64_t of = groups_of(op);
    tp_row_bounds *bounds = of < 0 ? NULL : bounds_of(b, of);
    bool is_own = bounds && tp__rows_has_role(op, TP_ROWS_OWN) &&
                  (tp__rows_own(op) != TP_OWN_SUM || (b->now.of == of && has_masks(&b->now, op)));
    if (bounds && tp__rows_has_role(op, TP_ROWS_FIRST)) {
      bounds->first = mlirOperationGetResult(op, 0);
    } else if (bounds && tp__rows_has_role(op, TP_ROWS_LAST)) {
      bounds->last = mlirOperationGetResult(op, 0);
    } else if (is_own) {
      TP_TRY(add_to_segment(b, op, of));
      continue;
    } else if (reads_segment(&b->now, op)) {
      TP_TRY(close_segment(b, op));
    }
  }
  return TP_OK;
}

static tp_status collect_blocks(MlirOperation op, void *data) {
  return tp__rows_has_role(op, TP_ROWS_OWN) ? tp__op_list_add(data, op) : TP_OK;
}

static tp_status visit_marks(MlirOperation op, void *data) {
  (void)data;
  tp__rows_drop_marks(op);
  return TP_OK;
}

static tp_status visit_blocks(bounding *b, const tp_op_list *owned) {
  MlirBlock blocks[MAX_KINDS];
  int n = 0;
  for (size_t i = 0; i < owned->n; i++) {
    MlirBlock block = mlirOperationGetBlock(owned->items[i]);
    bool is_new = n < MAX_KINDS;
    for (int k = 0; k < n; k++)
      is_new &= !mlirBlockEqual(blocks[k], block);
    if (is_new)
      blocks[n++] = block;
  }
  for (int i = 0; i < n; i++)
    TP_TRY(visit_block(b, blocks[i]));
  return TP_OK;
}

static tp_status run(tp_pass *pass) {
  bounding b = {.pass = pass};
  tp_op_list owned = {0};
  tp_status status = tp__walk(pass->module, collect_blocks, &owned);
  if (status == TP_OK)
    status = visit_blocks(&b, &owned);
  tp__free(owned.items);
  tp__free(b.now.ops.items);
  tp__value_map_destroy(&b.now.results);
  return status == TP_OK ? tp__walk(pass->module, visit_marks, NULL) : status;
}

static const tp_statistic_row statistics[] = {
    [STAT_LOOPS] = {"loops", "loops over the rows that a device has"},
    [STAT_OPS] = {"ops", "ops that these loops compute"},
};

const tp_pass_row tp__bound_rows_row = {
    .name = "tp-bound-rows",
    .summary = "Limit work on rows of groups to the rows that a device has",
    .description =
        "Requires: a per-device program; tp-partition has marked ops on rows of groups with "
        "tp.rows "
        "= \"own\". Establishes: such ops that follow each other are a loop over the groups of the "
        "device, and in it over blocks of rows, from the first to the last row of the group. No op "
        "has tp.rows. Breaks: nothing; sums over rows are rounded in another order.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
