/* tp-expand-float8: expands conversions from and to f8E4M3FN to bit operations, because neither
 * LLVM nor CPUs support the type. The algorithm is that of runtime/float8.h: exact arithmetic
 * in f32 without branches, so that loops are vectorized. */
#include "passes/registry.h"
#include "passes/support/from_text.h"
#include "passes/support/lower.h"

#include "ir/diagnostics.h"

#include <string.h>

/* f8 -> f32: moves exponent and mantissa to their positions in f32 and multiplies by 2^120, because
 * the exponent is 120 too small. */
static const char *const widening =
    "func.func private @widen(%x: f8E4M3FN) -> f32 {\n"
    "  %sign_bit = arith.constant 128 : i32\n  %rest = arith.constant 127 : i32\n  %c20 = "
    "arith.constant 20 : i32\n"
    "  %c24 = arith.constant 24 : i32\n  %nan = arith.constant 2143289344 : i32\n  %scale = "
    "arith.constant 0x7B800000 : f32\n"
    "  %b = arith.bitcast %x : f8E4M3FN to i8\n  %w = arith.extui %b : i8 to i32\n"
    "  %s = arith.andi %w, %sign_bit : i32\n  %sign = arith.shli %s, %c24 : i32\n"
    "  %magnitude = arith.andi %w, %rest : i32\n  %shifted = arith.shli %magnitude, %c20 : i32\n"
    "  %small = arith.bitcast %shifted : i32 to f32\n  %f = arith.mulf %small, %scale : f32\n"
    "  %finite = arith.bitcast %f : f32 to i32\n  %is_nan = arith.cmpi eq, %magnitude, %rest : "
    "i32\n"
    "  %m = arith.select %is_nan, %nan, %finite : i32\n  %r = arith.ori %sign, %m : i32\n"
    "  %y = arith.bitcast %r : i32 to f32\n  return %y : f32\n}\n";

/* f32 -> f8: rounds to nearest, ties to even; magnitudes above 464 become NaN. For a normal result,
 * it adds half a unit of the last place, minus one bit if the result is even, and drops the other
 * mantissa bits. For a subnormal result, it adds 2^14, whose last place in f32 is the unit of f8
 * subnormals, so that the addition rounds. */
static const char *const narrowing =
    "func.func private @narrow(%x: f32) -> f8E4M3FN {\n"
    "  %rest = arith.constant 2147483647 : i32\n  %sign_bit = arith.constant 128 : i32\n  %c1 = "
    "arith.constant 1 : i32\n"
    "  %c20 = arith.constant 20 : i32\n  %c24 = arith.constant 24 : i32\n  %half = arith.constant "
    "524287 : i32\n"
    "  %bias = arith.constant 1006632960 : i32\n  %first = arith.constant 1015021568 : i32\n"
    "  %last = arith.constant 1139277824 : i32\n  %nan = arith.constant 127 : i32\n"
    "  %anchor = arith.constant 16384.0 : f32\n  %anchor_bits = arith.constant 1182793728 : i32\n"
    "  %bits = arith.bitcast %x : f32 to i32\n  %magnitude = arith.andi %bits, %rest : i32\n"
    "  %less = arith.subi %magnitude, %bias : i32\n  %up = arith.addi %less, %half : i32\n"
    "  %moved = arith.shrui %magnitude, %c20 : i32\n  %odd = arith.andi %moved, %c1 : i32\n"
    "  %sum = arith.addi %up, %odd : i32\n  %normal = arith.shrui %sum, %c20 : i32\n"
    "  %f = arith.bitcast %magnitude : i32 to f32\n  %g = arith.addf %f, %anchor : f32\n"
    "  %h = arith.bitcast %g : f32 to i32\n  %subnormal = arith.subi %h, %anchor_bits : i32\n"
    "  %is_small = arith.cmpi ult, %magnitude, %first : i32\n  %m = arith.select %is_small, "
    "%subnormal, %normal : i32\n"
    "  %is_large = arith.cmpi ugt, %magnitude, %last : i32\n  %n = arith.select %is_large, %nan, "
    "%m : i32\n"
    "  %t = arith.shrui %bits, %c24 : i32\n  %s = arith.andi %t, %sign_bit : i32\n  %r = arith.ori "
    "%s, %n : i32\n"
    "  %b = arith.trunci %r : i32 to i8\n  %y = arith.bitcast %b : i8 to f8E4M3FN\n  return %y : "
    "f8E4M3FN\n}\n";

static MlirType operand_type(MlirOperation op) {
  return mlirValueGetType(mlirOperationGetOperand(op, 0));
}
static tp_status collect(MlirOperation op, void *data) {
  bool widens = tp__op_is(op, "arith.extf") && mlirTypeIsAFloat8E4M3FN(operand_type(op));
  bool narrows = tp__op_is(op, "arith.truncf") && mlirTypeIsAFloat8E4M3FN(tp__result_type(op));
  return widens || narrows ? tp__op_list_add(data, op) : TP_OK;
}

static MlirValue convert(MlirOperation where, const char *name, MlirValue value, MlirType type) {
  return mlirTypeEqual(mlirValueGetType(value), type)
             ? value
             : mlirOperationGetResult(tp__build(where, name, 1, &value, 1, &type, 0, NULL), 0);
}

/* Expands a conversion by way of f32. f16 and bf16 can represent every f8 value. */
static tp_status expand(MlirOperation op) {
  MlirType f32 = mlirF32TypeGet(mlirOperationGetContext(op)), to = tp__result_type(op);
  bool widens = tp__op_is(op, "arith.extf"), made;
  MlirValue value = mlirOperationGetOperand(op, 0);
  if (!widens && mlirTypeIsAF64(operand_type(op)))
    return tp__error(op, TP_UNSUPPORTED,
                     "truncates f64 to f8E4M3FN, which would round twice; truncate to f32 first");
  if (!widens)
    value = convert(op, "arith.extf", value, f32);
  tp__string text = {0};
  tp__string_append(&text, widens ? widening : narrowing);
  MlirOperation func = tp__parse_function(op, &text);
  if (mlirOperationIsNull(func))
    return TP_NO_MEMORY;
  value = tp__inline_text(op, func, 1, &value, &made);
  if (widens)
    value = convert(op, mlirTypeIsAF64(to) ? "arith.extf" : "arith.truncf", value, to);
  tp__replace_op(op, value);
  return TP_OK;
}

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    status = expand(list.items[i]);
  pass->statistics[0] = (int64_t)list.n;
  tp__free(list.items);
  return status;
}

static const tp_statistic_row statistics[] = {{"expanded", "conversions from and to f8E4M3FN"}};

const tp_pass_row tp__expand_float8_row = {
    .name = "tp-expand-float8",
    .summary = "Expand conversions from and to f8E4M3FN into bit operations",
    .description = "Requires: scalar arithmetic on f8E4M3FN is done in f32 "
                   "(arith-emulate-unsupported-floats). Establishes: no arith.extf "
                   "or arith.truncf "
                   "of it; rounding is to nearest, ties to even, and NaN beyond 464. A truncf of "
                   "f64 is refused. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
