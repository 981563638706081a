/* What fused kernels compute, as linalg: the bodies of functions with tp.fused. */
#ifndef TP_PASSES_FUSE_BODIES_H
#define TP_PASSES_FUSE_BODIES_H

#include "passes/fuse/fuse.h"

/* A function of rows in the making. Everything is computed in the shape of its rows; what is read
 * of others goes along the last dimension of them. */
typedef struct tp__body {
  MlirContext context;
  MlirLocation location;
  MlirOperation end; /* func.return: everything is inserted before it */
  MlirType tensor, element, f32;
  int rank;
  int64_t shape[TP_MAX_RANK];
} tp__body;

/* The value in the shape of another type; null where it is. */
MlirValue tp__body_view(const tp__body *body, MlirValue value, MlirType as);

/* round(a + bias + residual), in that order; these may be null. */
MlirValue tp__build_sum(const tp__body *body, MlirValue a, MlirValue bias, MlirValue residual);
/* The norm of rows r, rounded. */
MlirValue tp__build_norm(const tp__body *body, MlirValue r, const tp__row_norm *norm,
                         MlirValue gamma, MlirValue beta);
/* f8 of rows y by `static_scale` or, where that is null, by `scales`, which are computed. Groups
 * are a dimension more of both. */
MlirValue tp__build_quantized(const tp__body *body, MlirValue y,
                              const tp__row_quantization *quantization, MlirValue static_scale,
                              MlirValue *scales);
/* out [m, n] = a [m, k] b [k, n], or b [n, k], from 0, in their type, whose elements a and b have
 * in any shape; before `end`. */
MlirValue tp__build_product(MlirOperation end, MlirValue a, MlirValue b, bool transpose_b,
                            int64_t m, int64_t n, int64_t k);

#endif
