/* bitcast_convert. Between elements of different widths the narrower tensor has one more dimension,
 * the last, whose first element has the lowest bits. */
#include "passes/import/stablehlo/hlo_elementwise.h"

/* The bits of a value as integers, or integers as a value of another type. */
static MlirValue as(tp_hlo *hlo, MlirValue value, MlirType type) {
  return mlirTypeEqual(mlirValueGetType(value), type)
             ? value
             : tp__hlo_convert_to(hlo, "arith.bitcast", type, value);
}

static MlirType integer_of(tp_hlo *hlo, MlirType element) {
  return mlirIntegerTypeGet(hlo->context, 8 * (unsigned)tp__element_size(element));
}

/* Parts of the elements: the loop over the last dimension selects the bits. */
static MlirValue narrow(tp_hlo *hlo, MlirValue value, MlirType type) {
  MlirType element = tp__element_type(type), from = tp__element_type(mlirValueGetType(value));
  int rank = tp__hlo_shape(type).rank, all[TP_MAX_RANK];
  for (int d = 0; d < rank; d++)
    all[d] = d;
  MlirValue operands[] = {value, tp__hlo_build(hlo, "tensor.empty", type, 0, NULL)};
  MlirAttribute maps[] = {tp__hlo_loop_map(hlo, rank, rank - 1, all),
                          tp__hlo_loop_map(hlo, rank, rank, all)};
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 1, 1, operands, maps, &yield);
  hlo->where = yield;
  MlirType wide = integer_of(hlo, from), part = integer_of(hlo, element);
  MlirValue place =
      tp__hlo_convert_to(hlo, "arith.index_cast", wide, tp__hlo_loop_index(hlo, rank - 1));
  MlirValue width = tp__hlo_int_constant(hlo, wide, mlirIntegerTypeGetWidth(part));
  MlirValue bits = tp__hlo_binary(hlo, "arith.shrui", as(hlo, tp__hlo_body_arg(generic, 0), wide),
                                  tp__hlo_binary(hlo, "arith.muli", place, width));
  MlirValue now = as(hlo, tp__hlo_convert_to(hlo, "arith.trunci", part, bits), element);
  mlirOperationSetOperands(yield, 1, &now);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

/* The slices along the last dimension, each shifted to its place. */
static MlirValue widen(tp_hlo *hlo, MlirValue value, MlirType type, int64_t n) {
  tp_hlo_shape from = tp__hlo_shape(mlirValueGetType(value)), to = tp__hlo_shape(type);
  MlirType part = integer_of(hlo, tp__element_type(mlirValueGetType(value)));
  MlirType wide = tp__hlo_with_element(type, integer_of(hlo, tp__element_type(type)));
  int64_t offsets[TP_MAX_RANK] = {0}, sizes[TP_MAX_RANK], ones[TP_MAX_RANK];
  MlirValue bits = as(hlo, value, tp__hlo_with_element(mlirValueGetType(value), part));
  MlirValue all = tp__hlo_int_constant(hlo, wide, 0);
  for (int d = 0; d < from.rank; d++) {
    sizes[d] = d < from.rank - 1 ? from.sizes[d] : 1;
    ones[d] = 1;
  }
  for (int64_t i = 0; i < n; i++) {
    offsets[from.rank - 1] = i;
    MlirValue slice = tp__hlo_reshape(hlo, tp__hlo_slice(hlo, bits, offsets, sizes, ones), &to);
    slice = tp__hlo_convert_to(hlo, "arith.extui", wide, slice);
    MlirValue place = tp__hlo_int_constant(hlo, wide, i * mlirIntegerTypeGetWidth(part));
    all = tp__hlo_binary(hlo, "arith.ori", all, tp__hlo_binary(hlo, "arith.shli", slice, place));
  }
  return as(hlo, all, type);
}

static tp_status check(MlirOperation op, int64_t from, int64_t to) {
  tp_hlo_shape a = tp__hlo_shape(tp__hlo_operand_type(op, 0)),
               b = tp__hlo_shape(tp__result_type(op));
  const tp_hlo_shape *small = a.rank < b.rank ? &a : &b, *large = a.rank < b.rank ? &b : &a;
  int64_t n = from > to ? from / to : to / from;
  bool fits = from == to ? a.rank == b.rank
                         : large->rank == small->rank + 1 && (from > to) == (a.rank < b.rank) &&
                               large->sizes[large->rank - 1] == n;
  for (int d = 0; d < small->rank && fits; d++)
    fits = small->sizes[d] == large->sizes[d];
  return fits ? TP_OK
              : tp__error(op, TP_INVALID_ARGUMENT,
                          "the shapes of operand and result do not fit: elements of %lld and %lld "
                          "bytes; the narrower one has one more dimension, the last, for the parts "
                          "of an element",
                          (long long)from, (long long)to);
}

tp_status tp__hlo_bitcast(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  tp_hlo plain = {0};
  tp_hlo_kind from = tp__hlo_kind(tp__hlo_operand_element(op, 0));
  tp_hlo_kind to = tp__hlo_kind(tp__hlo_result_element(op, 0));
  int64_t a = tp__element_size(tp__hlo_type(&plain, tp__hlo_operand_element(op, 0)));
  int64_t b = tp__element_size(tp__hlo_type(&plain, tp__hlo_result_element(op, 0)));
  if (from == TP_HLO_COMPLEX || to == TP_HLO_COMPLEX ||
      (from == TP_HLO_BOOL) != (to == TP_HLO_BOOL))
    return tp__error(op, TP_UNSUPPORTED, "is not supported for %s; convert the operands",
                     tp__hlo_kind_text(from == TP_HLO_COMPLEX || from == TP_HLO_BOOL ? from : to));
  TP_TRY(check(op, a, b));
  if (a != b && hlo->scalar)
    return tp__error(op, TP_UNSUPPORTED, "changes the shape, which a body of another op must not");
  MlirValue value = tp__hlo_operand(hlo, op, 0);
  MlirType type = tp__hlo_result_type(hlo, op, 0);
  return tp__hlo_replace(hlo, op,
                         a == b  ? as(hlo, value, type)
                         : a > b ? narrow(hlo, value, type)
                                 : widen(hlo, value, type, b / a));
}
