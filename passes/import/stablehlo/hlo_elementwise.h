/* Elementwise ops: on tensors, or on numbers in a body. */
#ifndef TP_PASSES_IMPORT_STABLEHLO_ELEMENTWISE_H
#define TP_PASSES_IMPORT_STABLEHLO_ELEMENTWISE_H

#include "passes/import/stablehlo/hlo.h"

/* What an elementwise op becomes, by the kind of its operands. */
typedef MlirValue tp_hlo_emit(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *operands,
                              MlirType result);
typedef struct tp_hlo_elementwise {
  const char *names[TP_HLO_KINDS]; /* one op on all operands; NULL: see emit */
  tp_hlo_emit *emit;               /* for the kinds in `kinds` */
  unsigned kinds;                  /* bit set of tp_hlo_kind */
} tp_hlo_elementwise;

/* Converts an op by its row's tp_hlo_elementwise: operands and results have one shape. */
tp_hlo_convert tp__hlo_elementwise;

/* integers.c: ops on integers that are defined for all operands. */
tp_hlo_emit tp__hlo_divide, tp__hlo_remainder, tp__hlo_negate, tp__hlo_not, tp__hlo_shift_left,
    tp__hlo_shift_right_logical, tp__hlo_shift_right_arithmetic, tp__hlo_power, tp__hlo_sign,
    tp__hlo_mulhi;

/* special.c */
tp_hlo_emit tp__hlo_erf_inv, tp__hlo_next_after, tp__hlo_bessel_i1e;

/* gamma.c */
tp_hlo_emit tp__hlo_lgamma, tp__hlo_digamma, tp__hlo_zeta, tp__hlo_polygamma;

/* conversions.c */
tp_hlo_convert tp__hlo_compare_op, tp__hlo_convert_op, tp__hlo_reduce_precision;
/* bitcast.c */
tp_hlo_convert tp__hlo_bitcast;
/* The bits of floats as signed integers in the order -NaN < -inf < ... < -0 < +0 < ... < NaN. */
MlirValue tp__hlo_total_order(tp_hlo *hlo, MlirValue value);
/* Converts a number or a tensor to another element type. `from` and `to` are the kinds. */
MlirValue tp__hlo_cast(tp_hlo *hlo, MlirValue value, tp_hlo_kind from, tp_hlo_kind to,
                       MlirType type);

#endif
