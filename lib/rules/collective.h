/* Communication that a user wrote in a program that is still global. What it means there stands in
 * docs/explanation/rules.md: every device holds its own copy of a value, and the op runs on these
 * copies. Values may then differ between devices: they are not sharded. */
#ifndef TP_RULES_COLLECTIVE_H
#define TP_RULES_COLLECTIVE_H

#include "rules/func_graph.h"

/* How the result of an op varies between devices. */
typedef enum tp_equality {
  TP_EQUAL,  /* equal on all devices of a group */
  TP_DIFFER, /* different on each device */
  TP_INDEX,  /* the index of the device */
  TP_KEEP,   /* varies as the operands do */
} tp_equality;

typedef struct tp_effect {
  tp_equality equality;
  /* bits: the axes along which this holds, which are those of the group or of the device's
   * coordinates */
  uint32_t axes;
  uint32_t waits; /* bits: the axes along which the op blocks until every device reaches it */
} tp_effect;

/* Computes the effect of `op` on its result `result`. Ops of other dialects have TP_KEEP. Reports
 * invalid communication: sizes that do not fit the group, and unsupported ops of the shard
 * dialect. */
tp_status tp__collective_effect(MlirOperation op, const tp_mesh *mesh, int result,
                                tp_effect *effect);

/* Fixed-point analysis of a function: which values may differ between devices. */
typedef struct tp_divergence {
  const tp_mesh *mesh;
  tp_value_table sets; /* value -> axes, as bits; absent: none */
  bool changed, report;
  bool in_call; /* inside of a fused function, which calls no other function */
  tp_status status;
} tp_divergence;

/* Runs the analysis, starting from the arguments recorded with tp__divergence_add. Reports
 * communication under a condition that may differ between devices of its group. Free d->sets with
 * tp__table_destroy, also after an error. */
tp_status tp__divergence_run(tp_divergence *d, MlirOperation func);
void tp__divergence_add(tp_divergence *d, MlirValue value, uint32_t axes);
uint32_t tp__divergence_of(const tp_divergence *d, MlirValue value);

/* Finds the values that differ between devices, and bars axes from splitting them
 * (tp_rule.barred_axes, tp_carried.differs). Reports communication that could wait forever, and
 * values that differ where all devices have to agree. */
tp_status tp__mark_divergent(tp_func_graph *graph);

#endif
