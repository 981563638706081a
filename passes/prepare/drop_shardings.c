/* tp-drop-shardings: removes all annotated and planned shardings. A later plan that only follows
 * annotations then replicates every value. */
#include "passes/registry.h"

#include "ir/annotation.h"
#include "support/support.h"

enum { STAT_SHARDINGS };

typedef struct dropper {
  tp_pass *pass;
  tp_op_list changes, layouts; /* shard.shard ops; shard.sharding ops */
} dropper;

static tp_status drop_boundary(dropper *d, MlirOperation func, bool is_args) {
  tp_boundary boundary;
  if (tp__boundary_begin(func, is_args, &boundary) != TP_OK)
    return tp__out_of_memory(func);
  for (int i = 0; i < boundary.n; i++) {
    d->pass->statistics[STAT_SHARDINGS] +=
        !mlirAttributeIsNull((is_args ? tp__arg_attr : tp__result_attr)(func, i, "tp.sharding"));
    tp__boundary_set(&boundary, i, "tp.sharding", (MlirAttribute){NULL});
  }
  tp__boundary_end(&boundary);
  return TP_OK;
}

static tp_status drop(MlirOperation op, void *data) {
  static const char *const attributes[] = {"tp.sharding", "tp.factors", "tp.region_args",
                                           "tp.in_place", "tp.plan"};
  dropper *d = data;
  d->pass->statistics[STAT_SHARDINGS] += !mlirAttributeIsNull(tp__get(op, attributes[0]));
  for (int i = 0; i < TP_LEN(attributes); i++)
    if (!mlirAttributeIsNull(tp__get(op, attributes[i])))
      tp__remove(op, attributes[i]);
  if (tp__op_is(op, "shard.shard"))
    return tp__op_list_add(&d->changes, op);
  if (tp__op_is(op, "shard.sharding"))
    return tp__op_list_add(&d->layouts, op);
  if (!tp__op_is(op, "func.func"))
    return TP_OK;
  TP_TRY(drop_boundary(d, op, true));
  return drop_boundary(d, op, false);
}

static tp_status run(tp_pass *pass) {
  dropper d = {.pass = pass};
  if (tp__is_local(pass->module))
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "the module is already partitioned (tp.phase = \"local\"); its shapes follow "
                     "from its layouts");
  tp_status status = tp__walk(pass->module, drop, &d);
  for (size_t i = 0; i < d.changes.n && status == TP_OK; i++) {
    MlirOperation op = d.changes.items[i];
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetOperand(op, 0));
    mlirOperationDestroy(op);
  }
  for (size_t i = 0; i < d.layouts.n && status == TP_OK; i++)
    if (!tp__is_used(mlirOperationGetResult(d.layouts.items[i], 0)))
      mlirOperationDestroy(d.layouts.items[i]);
  tp__free(d.changes.items);
  tp__free(d.layouts.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_SHARDINGS] = {"shardings", "annotations dropped"}};

const tp_pass_row tp__drop_shardings_row = {
    .name = "tp-drop-shardings",
    .summary = "Drop all shardings: with strategy=follow every value is then replicated",
    .description = "Requires: a module that is not partitioned. Establishes: no tp.sharding, no "
                   "plan, no shard.shard. The result is the reference that a sharded program must "
                   "agree with, also if the user's program contains communication, which has no "
                   "meaning on one device. Breaks: the plan.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
