/* Sums of products: what dot_general and convolution share. */
#ifndef TP_PASSES_IMPORT_STABLEHLO_CONTRACTION_H
#define TP_PASSES_IMPORT_STABLEHLO_CONTRACTION_H

#include "passes/import/stablehlo/hlo.h"

typedef struct tp_hlo_contraction {
  int n_loops; /* those of the result in its order, then those that are summed over */
  MlirValue operands[2];
  MlirAttribute maps[2];
  tp_hlo_shape result;
} tp_hlo_contraction;

/* The element type in which products are made and added: that of the result of `op`, or of an
 * operand that is wider. */
MlirType tp__hlo_sum_element(MlirOperation op);
/* Writes on the module that its matmuls of f32 need more than the default precision: HIGH, HIGHEST
 * or that of an algorithm, whichever is in the text. The most that is asked for stays. Option tf32
 * of the code generation then does nothing, and an export asks for it again. */
void tp__hlo_ask_precision(tp_hlo *hlo, const char *text);
/* Builds the contraction. Element types are those of operands and result 0 of `op`. */
MlirValue tp__hlo_contract(tp_hlo *hlo, MlirOperation op, const tp_hlo_contraction *c);

#endif
