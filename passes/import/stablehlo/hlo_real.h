/* Builders for functions of real numbers. */
#ifndef TP_PASSES_IMPORT_STABLEHLO_REAL_H
#define TP_PASSES_IMPORT_STABLEHLO_REAL_H

#include "passes/import/stablehlo/hlo_elementwise.h"

/* A constant of the type of `like`. */
static inline MlirValue tp__hlo_real(tp_hlo *hlo, MlirValue like, double value) {
  return tp__hlo_float_constant(hlo, mlirValueGetType(like), value);
}

static inline MlirValue tp__hlo_mul(tp_hlo *hlo, MlirValue a, MlirValue b) {
  return tp__hlo_binary(hlo, "arith.mulf", a, b);
}

static inline MlirValue tp__hlo_add(tp_hlo *hlo, MlirValue a, MlirValue b) {
  return tp__hlo_binary(hlo, "arith.addf", a, b);
}

static inline MlirValue tp__hlo_sub(tp_hlo *hlo, MlirValue a, MlirValue b) {
  return tp__hlo_binary(hlo, "arith.subf", a, b);
}

static inline MlirValue tp__hlo_div(tp_hlo *hlo, MlirValue a, MlirValue b) {
  return tp__hlo_binary(hlo, "arith.divf", a, b);
}

/* A polynomial by Horner's scheme, the highest coefficient first. */
static inline MlirValue tp__hlo_polynomial(tp_hlo *hlo, MlirValue x, int n,
                                           const double *coefficients) {
  MlirValue sum = tp__hlo_real(hlo, x, coefficients[0]);
  for (int i = 1; i < n; i++)
    sum = tp__hlo_add(hlo, tp__hlo_mul(hlo, sum, x), tp__hlo_real(hlo, x, coefficients[i]));
  return sum;
}

/* Narrower floats than f32 are computed in f32. */
static inline MlirValue tp__hlo_to_single(tp_hlo *hlo, tp_hlo_kind kind, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  bool is_narrow = tp__element_size(tp__number_type(type)) < 4;
  MlirType single = tp__hlo_with_element(type, mlirF32TypeGet(hlo->context));
  return is_narrow ? tp__hlo_cast(hlo, x, kind, kind, single) : x;
}

static inline MlirValue tp__hlo_from_single(tp_hlo *hlo, tp_hlo_kind kind, MlirValue x,
                                            MlirType type) {
  return mlirTypeEqual(mlirValueGetType(x), type) ? x : tp__hlo_cast(hlo, x, kind, kind, type);
}

#endif
