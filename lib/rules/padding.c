/* Reads the padding of a tensor.pad. */
#include "rules/padding.h"

#include "ir/ir.h"

MlirValue tp__padding_value(MlirOperation pad) {
  return mlirOperationGetOperand(mlirBlockGetTerminator(tp__region_block(pad, 0)), 0);
}

static tp_status find_use_of_index(MlirOperation op, void *data) {
  MlirBlock block = *(MlirBlock *)data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    if (mlirValueIsABlockArgument(v) && mlirBlockEqual(mlirBlockArgumentGetOwner(v), block))
      return TP_UNSUPPORTED;
  }
  return TP_OK;
}

bool tp__padding_moves(MlirOperation pad) {
  MlirBlock block = tp__region_block(pad, 0);
  return tp__walk(pad, find_use_of_index, &block) != TP_OK;
}

bool tp__padding_of(MlirOperation pad, tp_padding *p) {
  p->rank = tp__int_list(tp__inherent(pad, "static_low"), TP_MAX_RANK, p->low);
  return p->rank >= 0 &&
         tp__int_list(tp__inherent(pad, "static_high"), TP_MAX_RANK, p->high) == p->rank;
}

bool tp__padding_is_known(const tp_padding *p, int d) {
  int64_t dynamic = mlirShapedTypeGetDynamicSize();
  return p->low[d] != dynamic && p->high[d] != dynamic;
}

int tp__padded_dim(const tp_padding *p) {
  int dim = -1;
  for (int d = 0; d < p->rank; d++) {
    bool is_known = tp__padding_is_known(p, d);
    if (is_known && p->low[d] == 0 && p->high[d] == 0)
      continue;
    if (!is_known || dim >= 0)
      return -1;
    dim = d;
  }
  return dim;
}
