/* Communication that a user wrote in a program that is still global. What it means there stands in docs/design/rules.md: every device holds
 * its own copy of a value, and the op runs on these copies. Values may then differ between devices: they are not sharded. */
#ifndef TP_RULES_COLLECTIVE_H
#define TP_RULES_COLLECTIVE_H

#include "rules/program.h"

/* What an op of the shard dialect makes of the axes along which its operand may differ between devices. */
typedef enum tp_equality {
  TP_EQUAL,  /* the same value on all devices of a group */
  TP_DIFFER, /* another value on each */
  TP_INDEX,  /* the place of the device: tp__index_axes */
  TP_KEEP,   /* what its operands do; not communication */
} tp_equality;

/* The axes of the group of `op`, as bits, and what it does along them. An op that is none of the known ones: a diagnostic with the way out. */
tp_status tp__collective_effect(MlirOperation op, const tp_mesh *mesh, tp_equality *equality, uint32_t *axes);

/* The axes along which result `result` of process_multi_index or process_linear_index differs. */
uint32_t tp__index_axes(MlirOperation op, const tp_mesh *mesh, int result);

/* Finds what differs between devices, and bars axes from it (tp_rule.barred_axes, tp_carried.differs). Refuses communication that could
 * wait forever, and values that differ where all devices have to agree. */
tp_status tp__mark_differing(tp_program *program);

#endif
