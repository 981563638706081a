/* The padding of a tensor.pad, as an op of its own or read in place by a window (in_place.h). */
#ifndef TP_RULES_PADDING_H
#define TP_RULES_PADDING_H

#include "tp/spec.h"

#include <mlir-c/IR.h>
#include <stdbool.h>

typedef struct tp_padding {
  int rank;
  /* mlirShapedTypeGetDynamicSize(): known only at run time */
  int64_t low[TP_MAX_RANK], high[TP_MAX_RANK];
} tp_padding;

/* Reads the padding attributes. False if the op has none. */
bool tp__padding_of(MlirOperation pad, tp_padding *padding);
/* True if the padding along dimension d is static. */
bool tp__padding_is_known(const tp_padding *padding, int d);
/* Returns the only padded dimension; -1 if there is none, or several, or if a width is dynamic. */
int tp__padded_dim(const tp_padding *padding);
/* Returns the padding value, which the body of the pad may compute. */
MlirValue tp__padding_value(MlirOperation pad);
/* True if the body computes the value from the index of the element. */
bool tp__padding_moves(MlirOperation pad);

#endif
