/* Values that a loop carries although no iteration changes them, as JAX writes what the body of a
 * scan reads. */
#ifndef TP_PASSES_PREPARE_HOIST_CARRIED_H
#define TP_PASSES_PREPARE_HOIST_CARRIED_H

#include "ir/ir.h"

/* Replaces each such value of an scf.for or scf.while by its initial value, and the loop by one
 * that does not carry it. Adds their number to *n. Loops with attributes, such as annotations of
 * their values, stay. */
tp_status tp__hoist_carried(MlirOperation loop, int64_t *n);

#endif
