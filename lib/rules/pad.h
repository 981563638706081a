/* Helpers shared by tensor.pad as an op of its own and by pads that windows read in place
 * (in_place.h). */
#ifndef TP_RULES_PAD_H
#define TP_RULES_PAD_H

#include "rules/rule.h"

/* Replaces the operand of `pad` by the run of elements that this device reads
 * (tp__halo_fetch_windows) of operand i of the localized op. Along split dimensions, the run holds
 * the padding value outside of the operand; along the others, the pad itself adds the padding.
 * `pad` is moved before the op, unless it is the op itself. The caller sets the result types. */
tp_status tp__pad_run(const tp_local *local, int i, MlirOperation pad);

#endif
