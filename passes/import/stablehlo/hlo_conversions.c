/* Comparisons and conversions between element types. */
#include "passes/import/stablehlo/hlo_elementwise.h"

#include <math.h>

/* ---- compare ---- */

typedef struct predicate {
  const char *direction, *names[TP_HLO_KINDS]; /* NULL for complex numbers: not ordered */
} predicate;

static const predicate predicates[] = {
    {"EQ", {"oeq", "eq", "eq", "eq", "complex.eq"}},
    {"NE", {"une", "ne", "ne", "ne", "complex.neq"}},
    {"LT", {"olt", "slt", "ult", "ult", NULL}},
    {"LE", {"ole", "sle", "ule", "ule", NULL}},
    {"GT", {"ogt", "sgt", "ugt", "ugt", NULL}},
    {"GE", {"oge", "sge", "uge", "uge", NULL}},
};

/* IEEE 754 totalOrder: the bits below the sign are inverted in negative numbers. */
MlirValue tp__hlo_total_order(tp_hlo *hlo, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  unsigned width = (unsigned)(8 * tp__element_size(tp__number_type(type)));
  MlirType integer = tp__hlo_with_element(type, mlirIntegerTypeGet(hlo->context, width));
  MlirValue bits = tp__hlo_convert_to(hlo, "arith.bitcast", integer, value);
  MlirValue sign =
      tp__hlo_binary(hlo, "arith.shrsi", bits, tp__hlo_int_constant(hlo, integer, width - 1));
  MlirValue others =
      tp__hlo_binary(hlo, "arith.shrui", sign, tp__hlo_int_constant(hlo, integer, 1));
  return tp__hlo_binary(hlo, "arith.xori", bits, others);
}

tp_status tp__hlo_compare_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  char direction[16], type[16];
  tp_hlo_kind kind = tp__hlo_kind(tp__hlo_operand_element(op, 0));
  const predicate *found = NULL;
  TP_TRY(tp__hlo_keyword(op, "comparison_direction", sizeof direction, direction));
  TP_TRY(tp__hlo_keyword(op, "compare_type", sizeof type, type));
  for (int i = 0; i < TP_LEN(predicates); i++)
    if (strcmp(predicates[i].direction, direction) == 0)
      found = &predicates[i];
  if (!found || !found->names[kind])
    return tp__error(op, TP_INVALID_ARGUMENT, "comparison_direction '%s' is not supported for %s",
                     direction, tp__hlo_kind_text(kind));
  if (!mlirTypeEqual(tp__hlo_operand_type(op, 0), tp__hlo_operand_type(op, 1)) ||
      !tp__hlo_same_shape(tp__hlo_operand_type(op, 0), tp__result_type(op)))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "its operands must have equal types, and the result their shape");
  MlirValue operands[] = {tp__hlo_operand(hlo, op, 0), tp__hlo_operand(hlo, op, 1)};
  if (kind == TP_HLO_COMPLEX)
    return tp__hlo_replace(
        hlo, op,
        tp__hlo_build(hlo, found->names[kind], tp__hlo_result_type(hlo, op, 0), 2, operands));
  if (kind == TP_HLO_FLOAT && strcmp(type, "TOTALORDER") == 0) {
    kind = TP_HLO_SIGNED;
    for (int i = 0; i < 2; i++)
      operands[i] = tp__hlo_total_order(hlo, operands[i]);
  }
  return tp__hlo_replace(hlo, op,
                         tp__hlo_compare(hlo, found->names[kind], operands[0], operands[1]));
}

/* ---- convert ---- */

static MlirValue float_to_float(tp_hlo *hlo, MlirValue value, MlirType type) {
  MlirType from = tp__number_type(mlirValueGetType(value)), to = tp__number_type(type);
  int64_t a = tp__element_size(from), b = tp__element_size(to);
  if (mlirTypeEqual(from, to))
    return value;
  if (a == b) { /* bf16 and f16 */
    value = tp__hlo_convert_to(hlo, "arith.extf",
                               tp__hlo_with_element(type, mlirF32TypeGet(hlo->context)), value);
    a = 4;
  }
  return tp__hlo_convert_to(hlo, a < b ? "arith.extf" : "arith.truncf", type, value);
}

/* Saturates, and makes 0 of NaN, where arith leaves the result undefined. */
static MlirValue float_to_int(tp_hlo *hlo, MlirValue value, bool is_signed, MlirType type) {
  MlirType from = mlirValueGetType(value);
  if (tp__element_size(tp__number_type(from)) < 4) { /* the bounds must be exact */
    from = tp__hlo_with_element(from, mlirF32TypeGet(hlo->context));
    value = tp__hlo_convert_to(hlo, "arith.extf", from, value);
  }
  int width = (int)mlirIntegerTypeGetWidth(tp__number_type(type));
  int64_t most = is_signed ? (int64_t)(UINT64_MAX >> (65 - width)) : -1;
  MlirValue least = tp__hlo_int_constant(hlo, type, is_signed ? INT64_MIN >> (64 - width) : 0);
  MlirValue high = tp__hlo_float_constant(hlo, from, ldexp(1, width - is_signed));
  MlirValue low = tp__hlo_float_constant(hlo, from, is_signed ? -ldexp(1, width - 1) : 0);
  MlirValue now = tp__hlo_convert_to(hlo, is_signed ? "arith.fptosi" : "arith.fptoui", type, value);
  now = tp__hlo_select(hlo, tp__hlo_compare(hlo, "oge", value, high),
                       tp__hlo_int_constant(hlo, type, most), now);
  now = tp__hlo_select(hlo, tp__hlo_compare(hlo, "ole", value, low), least, now);
  return tp__hlo_select(hlo, tp__hlo_compare(hlo, "uno", value, value),
                        tp__hlo_int_constant(hlo, type, 0), now);
}

static MlirValue int_to_int(tp_hlo *hlo, MlirValue value, bool is_signed, MlirType type) {
  unsigned a = mlirIntegerTypeGetWidth(tp__number_type(mlirValueGetType(value)));
  unsigned b = mlirIntegerTypeGetWidth(tp__number_type(type));
  return a == b ? value
                : tp__hlo_convert_to(hlo,
                                     a > b       ? "arith.trunci"
                                     : is_signed ? "arith.extsi"
                                                 : "arith.extui",
                                     type, value);
}

static MlirValue to_bool(tp_hlo *hlo, MlirValue value, tp_hlo_kind from) {
  MlirType type = mlirValueGetType(value);
  if (from == TP_HLO_BOOL)
    return value;
  return from == TP_HLO_FLOAT
             ? tp__hlo_compare(hlo, "une", value, tp__hlo_float_constant(hlo, type, 0))
             : tp__hlo_compare(hlo, "ne", value, tp__hlo_int_constant(hlo, type, 0));
}

MlirValue tp__hlo_cast(tp_hlo *hlo, MlirValue value, tp_hlo_kind from, tp_hlo_kind to,
                       MlirType type) {
  if (from == to && mlirTypeEqual(mlirValueGetType(value), type))
    return value;
  if (from == TP_HLO_COMPLEX || to == TP_HLO_COMPLEX) {
    MlirType part = mlirComplexTypeGetElementType(
        tp__number_type(from == TP_HLO_COMPLEX ? mlirValueGetType(value) : type));
    MlirType parts = tp__hlo_with_element(type, part), wanted = type;
    MlirValue re = value, im;
    if (from == TP_HLO_COMPLEX && to != TP_HLO_COMPLEX) /* the real part */
      return tp__hlo_cast(hlo, tp__hlo_convert_to(hlo, "complex.re", parts, value), TP_HLO_FLOAT,
                          to, type);
    MlirType wanted_parts =
        tp__hlo_with_element(type, mlirComplexTypeGetElementType(tp__number_type(type)));
    if (from == TP_HLO_COMPLEX) {
      re = float_to_float(hlo, tp__hlo_convert_to(hlo, "complex.re", parts, value), wanted_parts);
      im = float_to_float(hlo, tp__hlo_convert_to(hlo, "complex.im", parts, value), wanted_parts);
    } else {
      re = tp__hlo_cast(hlo, value, from, TP_HLO_FLOAT, wanted_parts);
      im = tp__hlo_float_constant(hlo, wanted_parts, 0);
    }
    return tp__hlo_build(hlo, "complex.create", wanted, 2, (MlirValue[]){re, im});
  }
  if (to == TP_HLO_BOOL)
    return to_bool(hlo, value, from);
  if (to == TP_HLO_FLOAT)
    return from == TP_HLO_FLOAT
               ? float_to_float(hlo, value, type)
               : tp__hlo_convert_to(hlo, from == TP_HLO_SIGNED ? "arith.sitofp" : "arith.uitofp",
                                    type, value);
  return from == TP_HLO_FLOAT ? float_to_int(hlo, value, to == TP_HLO_SIGNED, type)
                              : int_to_int(hlo, value, from == TP_HLO_SIGNED, type);
}

static tp_status check_shape(MlirOperation op) {
  return tp__hlo_same_shape(tp__hlo_operand_type(op, 0), tp__result_type(op))
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT, "operand and result must have one shape");
}

tp_status tp__hlo_convert_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  TP_TRY(check_shape(op));
  return tp__hlo_replace(
      hlo, op,
      tp__hlo_cast(hlo, tp__hlo_operand(hlo, op, 0), tp__hlo_kind(tp__hlo_operand_element(op, 0)),
                   tp__hlo_kind(tp__hlo_result_element(op, 0)), tp__hlo_result_type(hlo, op, 0)));
}

/* ---- reduce_precision ---- */

/* Float types by their bits of exponent and mantissa. */
static bool float_type(MlirContext context, int64_t exponent, int64_t mantissa, MlirType *type) {
  *type = exponent == 8 && mantissa == 7     ? mlirBF16TypeGet(context)
          : exponent == 5 && mantissa == 10  ? mlirF16TypeGet(context)
          : exponent == 8 && mantissa == 23  ? mlirF32TypeGet(context)
          : exponent == 11 && mantissa == 52 ? mlirF64TypeGet(context)
                                             : (MlirType){NULL};
  return !mlirTypeIsNull(*type);
}

tp_status tp__hlo_reduce_precision(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int64_t exponent, mantissa;
  MlirType type = tp__hlo_result_type(hlo, op, 0), reduced;
  TP_TRY(tp__hlo_int(op, "exponent_bits", -1, &exponent));
  TP_TRY(tp__hlo_int(op, "mantissa_bits", -1, &mantissa));
  TP_TRY(check_shape(op));
  if (tp__hlo_kind(tp__hlo_operand_element(op, 0)) != TP_HLO_FLOAT ||
      !float_type(hlo->context, exponent, mantissa, &reduced))
    return tp__error(op, TP_UNSUPPORTED,
                     "rounds to %lld bits of exponent and %lld of mantissa; supported are the "
                     "formats of bf16 (8, 7), f16 (5, 10), f32 (8, 23) and f64 (11, 52)",
                     (long long)exponent, (long long)mantissa);
  MlirValue value = tp__hlo_operand(hlo, op, 0);
  bool is_narrower = tp__element_size(reduced) < tp__element_size(tp__hlo_operand_element(op, 0));
  if (is_narrower)
    value =
        float_to_float(hlo, float_to_float(hlo, value, tp__hlo_with_element(type, reduced)), type);
  return tp__hlo_replace(hlo, op, value);
}
