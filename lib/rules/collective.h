/* Communication that a user wrote in a program that is still global. What it means there stands in
 * docs/explanation/rules.md: every device holds its own copy of a value, and the op runs on these
 * copies. Values may then differ between devices: they are not sharded. */
#ifndef TP_RULES_COLLECTIVE_H
#define TP_RULES_COLLECTIVE_H

#include "rules/program.h"

/* What an op makes of the axes along which its operands may differ between devices. */
typedef enum tp_equality {
  TP_EQUAL,  /* the same value on all devices of a group */
  TP_DIFFER, /* another value on each */
  TP_INDEX,  /* the place of the device */
  TP_KEEP,   /* what its operands do */
} tp_equality;

typedef struct tp_effect {
  tp_equality equality;
  /* along which it does so, as bits: those of the group, or of the coordinates of the device */
  uint32_t axes;
  uint32_t waits; /* along which the others wait for a device that does not come to it */
} tp_effect;

/* The effect of `op` on its result `result`; ops of other dialects keep. What is wrong with
 * communication (sizes that do not fit the group, an op of the shard dialect that nothing can make
 * sense of) is said here. */
tp_status tp__collective_effect(MlirOperation op, const tp_mesh *mesh, int result,
                                tp_effect *effect);

/* Which values may differ between devices: an analysis of a function to a fixed point. */
typedef struct tp_difference {
  const tp_mesh *mesh;
  tp_value_table sets; /* value -> axes, as bits; absent: none */
  bool changed, report;
  bool in_call; /* of a fused function, which calls no other */
  tp_status status;
} tp_difference;

/* Starts from what tp__difference_add has said about arguments. Refuses communication under a
 * condition that may differ between devices of its group. tp__table_destroy(&d->sets) ends it, also
 * after an error. */
tp_status tp__difference_run(tp_difference *d, MlirOperation func);
void tp__difference_add(tp_difference *d, MlirValue value, uint32_t axes);
uint32_t tp__difference_of(const tp_difference *d, MlirValue value);

/* Finds what differs between devices, and bars axes from it (tp_rule.barred_axes,
 * tp_carried.differs). Refuses communication that could wait forever, and values that differ where
 * all devices have to agree. */
tp_status tp__mark_differing(tp_program *program);

#endif
