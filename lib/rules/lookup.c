/* Lookups: a linalg.generic that reads captured tensors with tensor.extract, as embeddings and
 * gathers do.
 *
 * The rule is that of the generic, with additional factors for the captured tensors. A dimension
 * that every read indexes by the same loop is sharded with that loop. Dimensions indexed by data
 * may be split as well: every device reads the rows that it owns and yields zero for the others,
 * and the results are summed. The sum is exact, since all terms but one are zero. Ownership is
 * decided by the global row number, so padding is never read.
 *
 * This applies only to a generic that yields the element that it reads. tp-raise extracts other
 * reads at computed indices from larger bodies. */
#include "rules/families.h"
#include "rules/mask.h"
#include "rules/owner_reads.h"
#include "rules/rule.h"

#include <string.h>

enum { MAX_READS = 32 };

typedef struct reads {
  MlirOperation root;
  MlirValue tensor;
  int n;
  MlirOperation ops[MAX_READS]; /* tensor.extract */
  bool other;                   /* has other uses, or too many */
} reads;

static tp_status collect(MlirOperation op, void *data) {
  reads *r = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    if (!mlirValueEqual(mlirOperationGetOperand(op, i), r->tensor))
      continue;
    if (i > 0 || !tp__op_is(op, "tensor.extract") || r->n == MAX_READS)
      r->other = true;
    else
      r->ops[r->n++] = op;
  }
  return TP_OK;
}

static reads reads_of(MlirOperation op, MlirValue tensor) {
  reads r = {.root = op, .tensor = tensor};
  tp__walk(op, collect, &r);
  return r;
}

static int n_own(const tp_rule *rule) { return (int)mlirOperationGetNumOperands(rule->op); }

typedef struct search {
  MlirOperation root;
  bool found;
} search;

static tp_status find_capture(MlirOperation op, void *data) {
  search *s = data;
  s->found |=
      tp__op_is(op, "tensor.extract") && tp__is_captured(s->root, mlirOperationGetOperand(op, 0));
  return TP_OK;
}

static bool matches(MlirOperation op) {
  search s = {.root = op};
  if (tp__op_is(op, "linalg.generic"))
    tp__walk(op, find_capture, &s);
  return s.found;
}

/* ---- the rule ---- */

/* Returns the loop whose plain index all reads use for dimension d; -1 if there is none. */
static int loop_of(const reads *r, int d) {
  int loop = -1;
  for (int i = 0; i < r->n; i++) {
    MlirOperation index = tp__defining_op(mlirOperationGetOperand(r->ops[i], 1 + d));
    if (mlirOperationIsNull(index) || !tp__op_is(index, "linalg.index"))
      return -1;
    int k = (int)mlirIntegerAttrGetValueInt(tp__inherent(index, "dim"));
    if (loop >= 0 && k != loop)
      return -1;
    loop = k;
  }
  return loop;
}

static void read_loops(tp_rule *rule, tp_value_map *table, const reads *r) {
  for (int d = 0; d < table->rank; d++) {
    int loop = loop_of(r, d);
    if (loop >= 0 && rule->factors[loop].kind == TP_PARALLEL &&
        rule->factors[loop].size == table->shape[d])
      tp__dim_set(table, d, loop);
  }
}

static MlirOperation yield_of(MlirOperation op) {
  return mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

/* True if the op yields exactly one read per point and nothing else. Only then is a sum over shards
 * of the table correct. */
static bool yields_read(const tp_rule *rule, const reads *r) {
  if (rule->n_results != 1 || r->n != 1 || rule->results[0].has_combiner)
    return false;
  for (int f = 0; f < rule->n_factors; f++)
    if (rule->factors[f].kind == TP_REDUCTION)
      return false;
  tp_combiner combiner;
  return mlirValueEqual(mlirOperationGetOperand(yield_of(rule->op), 0),
                        mlirOperationGetResult(r->ops[0], 0)) &&
         tp__owner_combiner(tp__element_type(mlirValueGetType(rule->results[0].value)), &combiner);
}

/* Adds a factor for each dimension that is indexed by data. */
static void read_rows(tp_rule *rule, tp_value_map *table) {
  tp_value_map *result = &rule->results[0];
  for (int d = 0; d < table->rank; d++) {
    if (table->dims[d].n_factors > 0 || table->shape[d] <= 1)
      continue;
    int f = tp__rule_factor(rule, table->shape[d], TP_REDUCTION);
    if (f < 0)
      return;
    rule->factors[f].repeats_work = true; /* every device looks up all points */
    tp__dim_set(table, d, f);
    tp_combiner combiner = TP_SUM;
    result->has_combiner =
        tp__owner_combiner(tp__element_type(mlirValueGetType(result->value)), &combiner);
    result->combiner = (uint8_t)combiner;
  }
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  TP_TRY(tp__linalg_family.rule(op, arena, rule));
  for (int i = n_own(rule); i < rule->n_operands; i++) {
    reads r = reads_of(op, rule->operands[i].value);
    if (r.other || r.n == 0)
      continue;
    read_loops(rule, &rule->operands[i], &r);
    if (yields_read(rule, &r))
      read_rows(rule, &rule->operands[i]);
  }
  return TP_OK;
}

/* ---- localize ---- */

/* The plain loop index of a read, before the generic's indices were shifted to global ones. */
typedef struct local_index {
  MlirOperation read;
  int operand;
  MlirValue index;
} local_index;

enum { MAX_INDICES = 256 };

typedef struct local_indices {
  int n;
  local_index list[MAX_INDICES];
} local_indices;

/* Returns the reads of captured operand `i` of the rule. By now the body may read another value in
 * its place, with the right sharding. */
static reads reads_now(const tp_rule *rule, int i) {
  MlirValue tensors[64];
  int n = tp__captured_tensors(rule->op, TP_LEN(tensors), tensors);
  return i - n_own(rule) < n ? reads_of(rule->op, tensors[i - n_own(rule)])
                             : (reads){.other = true};
}

static void remember(const tp_local *local, local_indices *keep) {
  const tp_rule *rule = local->rule;
  for (int i = n_own(rule); i < rule->n_operands; i++) {
    const tp_value_map *table = &rule->operands[i];
    reads r = reads_now(rule, i);
    for (int d = 0; d < table->rank && !r.other; d++) {
      int f = table->dims[d].n_factors ? table->dims[d].factors[0] : -1;
      bool is_loop = f >= 0 && !rule->factors[f].repeats_work &&
                     tp__strategy_shards(rule, local->mesh, local->strategy, f) > 1;
      for (int k = 0; k < r.n && is_loop && keep->n < MAX_INDICES; k++)
        keep->list[keep->n++] =
            (local_index){r.ops[k], 1 + d, mlirOperationGetOperand(r.ops[k], 1 + d)};
    }
  }
}

/* Restricts a read to the device's own rows: read(row) becomes here ? read(here ? row - offset : 0)
 * : nothing. A row before the offset wraps around to a large unsigned value. */
static void localize_read(const tp_local *local, MlirOperation read, int operand, MlirValue offset,
                          MlirValue count) {
  MlirOperation op = local->rule->op, next = mlirOperationGetNextInBlock(read);
  MlirValue value = mlirOperationGetResult(read, 0);
  MlirType type = mlirValueGetType(value);
  MlirValue zero = tp__index_constant(op, 0), other = tp__neutral_value(op, type);
  MlirValue shifted =
      tp__binary(read, "arith.subi", mlirOperationGetOperand(read, operand), offset);
  MlirValue here = tp__compare(read, TP_ULT, shifted, count);
  mlirOperationSetOperand(read, operand, tp__select(read, here, shifted, zero));
  MlirValue selected = tp__select(next, here, value, other);
  tp__replace_uses_except(value, selected, mlirOpResultGetOwner(selected));
}

static void localize_rows(const tp_local *local) {
  const tp_rule *rule = local->rule;
  for (int i = n_own(rule); i < rule->n_operands; i++) {
    const tp_value_map *table = &rule->operands[i];
    for (int d = 0; d < table->rank; d++) {
      int f = table->dims[d].n_factors ? table->dims[d].factors[0] : -1;
      if (f < 0 || !rule->factors[f].repeats_work)
        continue;
      MlirValue offset = tp__shard_offset(local, f);
      if (mlirValueIsNull(offset))
        continue;
      MlirValue count = tp__owner_read_size(local, f);
      reads r = reads_now(rule, i);
      for (int k = 0; k < r.n; k++)
        localize_read(local, r.ops[k], 1 + d, offset, count);
    }
  }
}

static tp_status localize(const tp_local *local) {
  local_indices keep = {0};
  remember(local, &keep);
  TP_TRY(tp__linalg_family.localize(local));
  for (int i = 0; i < keep.n; i++)
    mlirOperationSetOperand(keep.list[i].read, keep.list[i].operand, keep.list[i].index);
  localize_rows(local);
  return TP_OK;
}

const tp_family tp__lookup_family = {
    .name = "lookup",
    .ops = "linalg.generic that reads captured tensors with tensor.extract",
    .summary = "As linalg; also dimensions of the captured tensors that a single loop indexes, and "
               "dimensions indexed by data if the op yields the elements that it reads: each "
               "device looks up its own rows, and the results are summed.",
    .communication = "Rows split: the results are summed by an all_reduce or reduce_scatter. "
                     "Columns split: none.",
    .test = "test/rules/lookup",
    .matches = matches,
    .rule = rule_of,
    .localize = localize,
};
