/* Values, types and shapes of the conversion. */
#include "passes/import/stablehlo/hlo.h"

/* ---- types ---- */

static bool is_unsigned(MlirType element) {
  return mlirTypeIsAInteger(element) && mlirIntegerTypeIsUnsigned(element);
}

static MlirType signless(MlirType element) {
  return is_unsigned(element)
             ? mlirIntegerTypeGet(mlirTypeGetContext(element), mlirIntegerTypeGetWidth(element))
             : element;
}

MlirType tp__hlo_type(const tp_hlo *hlo, MlirType old) {
  const int64_t *sizes;
  int rank = tp__tensor_sizes(old, &sizes);
  if (rank < 0)
    return signless(old);
  MlirType element = tp__element_type(old);
  if (hlo->pointwise || (hlo->scalar && rank == 0))
    return signless(element);
  return is_unsigned(element) ? mlirRankedTensorTypeGet(rank, sizes, signless(element),
                                                        mlirRankedTensorTypeGetEncoding(old))
                              : old;
}

MlirType tp__hlo_result_type(const tp_hlo *hlo, MlirOperation op, int i) {
  return tp__hlo_type(hlo, mlirValueGetType(mlirOperationGetResult(op, i)));
}

MlirType tp__hlo_operand_type(MlirOperation op, int i) {
  return mlirValueGetType(mlirOperationGetOperand(op, i));
}

MlirType tp__hlo_operand_element(MlirOperation op, int i) {
  return tp__element_type(tp__hlo_operand_type(op, i));
}

MlirType tp__hlo_result_element(MlirOperation op, int i) {
  return tp__element_type(mlirValueGetType(mlirOperationGetResult(op, i)));
}

tp_hlo_kind tp__hlo_kind(MlirType element) {
  if (mlirTypeIsAComplex(element))
    return TP_HLO_COMPLEX;
  if (!mlirTypeIsAInteger(element))
    return TP_HLO_FLOAT;
  return is_unsigned(element)                    ? TP_HLO_UNSIGNED
         : mlirIntegerTypeGetWidth(element) == 1 ? TP_HLO_BOOL
                                                 : TP_HLO_SIGNED;
}

const char *tp__hlo_kind_text(tp_hlo_kind kind) {
  static const char *const texts[TP_HLO_KINDS] = {
      [TP_HLO_FLOAT] = "floating-point numbers", [TP_HLO_SIGNED] = "signed integers",
      [TP_HLO_UNSIGNED] = "unsigned integers",   [TP_HLO_BOOL] = "booleans",
      [TP_HLO_COMPLEX] = "complex numbers",
  };
  return texts[kind];
}

/* ---- shapes ---- */

tp_hlo_shape tp__hlo_shape(MlirType type) {
  tp_hlo_shape shape = {0};
  if (!tp__static_tensor(type, &shape.rank, shape.sizes))
    shape.rank = 0; /* a number */
  return shape;
}

int64_t tp__hlo_elements(const tp_hlo_shape *shape) {
  int64_t n = 1;
  for (int d = 0; d < shape->rank; d++)
    n *= shape->sizes[d];
  return n;
}

bool tp__hlo_same_shape(MlirType a, MlirType b) {
  tp_hlo_shape x = tp__hlo_shape(a), y = tp__hlo_shape(b);
  return x.rank == y.rank && memcmp(x.sizes, y.sizes, (size_t)x.rank * sizeof *x.sizes) == 0;
}

/* ---- values ---- */

/* Arguments and results of ops that stay keep their unsigned types until the end, since signs are
 * read off them. Until then a cast stands for the value without sign. */
static MlirValue without_sign(tp_hlo *hlo, MlirValue value) {
  tp_hlo plain = {0};
  MlirType type = tp__hlo_type(&plain, mlirValueGetType(value));
  if (mlirTypeEqual(type, mlirValueGetType(value)))
    return value;
  MlirOperation cast = tp__create(&(tp_build){.name = "builtin.unrealized_conversion_cast",
                                              .location = hlo->location,
                                              .n_operands = 1,
                                              .operands = &value,
                                              .n_results = 1,
                                              .results = &type});
  if (mlirValueIsABlockArgument(value))
    mlirBlockInsertOwnedOperation(tp__block_of(value), 0, cast);
  else
    tp__insert_after(tp__defining_op(value), cast);
  MlirValue now = mlirOperationGetResult(cast, 0);
  /* when memory runs out, the pass fails */
  (void)tp__op_list_add(&hlo->casts, cast);
  (void)tp__hlo_map(hlo, cast, value, now);
  return now;
}

MlirValue tp__hlo_value(tp_hlo *hlo, MlirValue old) {
  int64_t *now = tp__value_find(&hlo->map, old);
  MlirValue value = now ? (MlirValue){(const void *)(uintptr_t)*now} : without_sign(hlo, old);
  bool is_number = !tp__is_tensor(mlirValueGetType(value));
  return hlo->scalar && !is_number && tp__value_rank(value) == 0 ? tp__hlo_number(hlo, value)
                                                                 : value;
}

MlirValue tp__hlo_operand(tp_hlo *hlo, MlirOperation op, int i) {
  return tp__hlo_value(hlo, mlirOperationGetOperand(op, i));
}

tp_status tp__hlo_map(tp_hlo *hlo, MlirOperation op, MlirValue old, MlirValue now) {
  int64_t *entry = tp__value_add(&hlo->map, old, 0);
  if (!entry)
    return tp__out_of_memory(op);
  *entry = (int64_t)(uintptr_t)now.ptr;
  return TP_OK;
}

tp_status tp__hlo_replace(tp_hlo *hlo, MlirOperation op, MlirValue now) {
  return tp__hlo_map(hlo, op, mlirOperationGetResult(op, 0), now);
}

tp_status tp__hlo_replace_all(tp_hlo *hlo, MlirOperation op, MlirOperation now) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    TP_TRY(tp__hlo_map(hlo, op, mlirOperationGetResult(op, i), mlirOperationGetResult(now, i)));
  return TP_OK;
}
