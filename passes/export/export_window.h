/* Windows of loop nests: operands that are read at at + stride * point + dilation * element, where
 * `point` is a loop of the result and `element` one of the window. */
#ifndef TP_PASSES_EXPORT_WINDOW_H
#define TP_PASSES_EXPORT_WINDOW_H

#include "passes/export/export_nest.h"

typedef struct tp_window {
  int point, element;           /* loops; -1: none */
  int64_t at, stride, dilation; /* of no loop: 1 */
  int64_t n_points, n_elements; /* of no loop: 1 */
  int64_t low, high, between;   /* padding of the operand (tp__windows_operand) */
} tp_window;

typedef struct tp_windows {
  int rank;
  tp_window dims[TP_MAX_RANK];
} tp_windows;

/* The set of loops that a map uses. */
uint32_t tp__nest_loops_of(const tp_nest *n, MlirAffineMap map);
/* Reads the windows of operand i. `points` are the loops of the result. False if a dimension is
 * indexed in another way, or a loop indexes several. */
bool tp__windows_read(const tp_nest *n, int i, uint32_t points, tp_windows *w);
/* Exports operand i without the padding in front of it, if that has the identity of the combiner,
 * and sets low, high and between. Elements that no window reads are cut off. */
MlirValue tp__windows_operand(tp_export *x, const tp_nest *n, int i, tp_combiner combiner,
                              tp_windows *w);
/* The attribute `padding`: low and high of n dimensions. */
MlirNamedAttribute tp__windows_padding(tp_export *x, int n, const tp_window *const *dims);

#endif
