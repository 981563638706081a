/* What tensor.pad as an op of its own, and one that windows read in place (in_place.h), have in
 * common. */
#ifndef TP_RULES_PAD_H
#define TP_RULES_PAD_H

#include "rules/rule.h"

typedef struct tp_padding {
  int rank;
  /* mlirShapedTypeGetDynamicSize(): known at run time only */
  int64_t low[TP_MAX_RANK], high[TP_MAX_RANK];
} tp_padding;

/* False when the op has no such attributes. */
bool tp__padding_of(MlirOperation pad, tp_padding *padding);
/* Is the padding along dimension d static? */
bool tp__padding_is_known(const tp_padding *padding, int d);
/* The value that it puts there; it may be computed in the body. */
MlirValue tp__padding_value(MlirOperation pad);
/* Does the body compute the value from the index of the element? */
bool tp__padding_moves(MlirOperation pad);

/* The operand of `pad` becomes the run of elements that this device reads (tp__fetch_windows) of
 * operand i of the op that is localized, with the padding value outside of the dimensions that are
 * split; what the op pads itself is the padding of the others. `pad` then stands in front of the
 * op, or is the op itself. Result types are the caller's. */
tp_status tp__pad_run(const tp_local *local, int i, MlirOperation pad);

#endif
