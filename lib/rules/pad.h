/* Helpers shared by tensor.pad as an op of its own and by pads that windows read in place
 * (in_place.h). */
#ifndef TP_RULES_PAD_H
#define TP_RULES_PAD_H

#include "rules/rule.h"

typedef struct tp_padding {
  int rank;
  /* mlirShapedTypeGetDynamicSize(): known only at run time */
  int64_t low[TP_MAX_RANK], high[TP_MAX_RANK];
} tp_padding;

/* Reads the padding attributes. False if the op has none. */
bool tp__padding_of(MlirOperation pad, tp_padding *padding);
/* True if the padding along dimension d is static. */
bool tp__padding_is_known(const tp_padding *padding, int d);
/* Returns the padding value, which the body of the pad may compute. */
MlirValue tp__padding_value(MlirOperation pad);
/* True if the body computes the value from the index of the element. */
bool tp__padding_moves(MlirOperation pad);

/* Replaces the operand of `pad` by the run of elements that this device reads
 * (tp__halo_fetch_windows) of operand i of the localized op. Along split dimensions, the run holds
 * the padding value outside of the operand; along the others, the pad itself adds the padding.
 * `pad` is moved before the op, unless it is the op itself. The caller sets the result types. */
tp_status tp__pad_run(const tp_local *local, int i, MlirOperation pad);

#endif
