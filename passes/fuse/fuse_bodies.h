/* Builds the bodies of functions with tp.fused: the computations of fused kernels, as linalg. */
#ifndef TP_PASSES_FUSE_BODIES_H
#define TP_PASSES_FUSE_BODIES_H

#include "passes/fuse/fuse.h"

/* State while the body of a function over rows is built. Everything is computed in the shape of
 * these rows; other operands broadcast along their last dimension. */
typedef struct tp__body {
  MlirContext context;
  MlirLocation location;
  MlirOperation end; /* the func.return; ops are inserted before it */
  MlirType tensor, element, f32;
  int rank;
  int64_t shape[TP_MAX_RANK];
} tp__body;

/* Returns the value reshaped to another type. A null value stays null. */
MlirValue tp__body_view(const tp__body *body, MlirValue value, MlirType as);

/* round(a + bias + residual), in that order. bias and residual may be null. */
MlirValue tp__build_sum(const tp__body *body, MlirValue a, MlirValue bias, MlirValue residual);
/* Returns the norm of rows r, rounded to their type. */
MlirValue tp__build_norm(const tp__body *body, MlirValue r, const tp__row_norm *norm,
                         MlirValue gamma, MlirValue beta);
/* Quantizes rows y to f8 by `static_scale` or, if it is null, by computed scales that are returned
 * in *scales. With scales per group, y and the scales have an additional group dimension. */
MlirValue tp__build_quantized(const tp__body *body, MlirValue y,
                              const tp__row_quantization *quantization, MlirValue static_scale,
                              MlirValue *scales);
/* Builds out [m, n] = a [m, k] b [k, n], or b [n, k] if transpose_b, before `end`, with
 * accumulators that start at 0. a and b may have any shape with these elements; the element type is
 * theirs. */
MlirValue tp__build_matmul(MlirOperation end, MlirValue a, MlirValue b, bool transpose_b, int64_t m,
                           int64_t n, int64_t k);

#endif
