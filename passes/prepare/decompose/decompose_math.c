/* Decomposes math ops that upstream does not lower, or lowers wrongly: math.isinf and math.isnormal
 * become comparisons of the magnitude, math.clampf becomes a maximum and a minimum, and math.fma of
 * bf16 and f8 is computed in f32. */
#include "passes/prepare/decompose/decompose.h"

/* Bit patterns of infinity and of the smallest normal number, in MLIR's hexadecimal notation. */
typedef struct bounds {
  const char *infinity, *normal;
} bounds;

static bounds bounds_of(MlirType element) {
  return mlirTypeIsAF64(element)    ? (bounds){"0x7FF0000000000000", "0x0010000000000000"}
         : mlirTypeIsAF32(element)  ? (bounds){"0x7F800000", "0x00800000"}
         : mlirTypeIsAF16(element)  ? (bounds){"0x7C00", "0x0400"}
         : mlirTypeIsABF16(element) ? (bounds){"0x7F80", "0x0080"}
                                    : (bounds){NULL, NULL};
}

static void part_constant(tp__parts *parts, MlirType type, const char *bits) {
  tp__string_printf(tp__part(parts), tp__is_tensor(type) ? "dense<%s>" : "%s", bits);
}

/* $a: operand type, $b: result type, $c: infinity, $d: smallest normal number. */
static tp_status decompose(MlirOperation op, const char *format) {
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(x),
           element = tp__is_tensor(type) ? tp__element_type(type) : type;
  bounds b = bounds_of(element);
  if (!b.infinity) {
    char text[64];
    tp__type_text(type, sizeof text, text);
    return tp__error(
        op, TP_UNSUPPORTED,
        "has unsupported type %s; convert it to a number or tensor of f16, bf16, f32 or f64", text);
  }
  tp__parts parts = {0};
  tp__part_type(&parts, type);
  tp__part_type(&parts, mlirValueGetType(mlirOperationGetResult(op, 0)));
  part_constant(&parts, type, b.infinity);
  part_constant(&parts, type, b.normal);
  return tp__decompose_by(op, format, &parts, 1, &x);
}

tp_status tp__decompose_isinf(MlirOperation op) {
  return decompose(op, "func.func private @isinf(%x: $a) -> $b {\n"
                       "  %i = arith.constant $c : $a\n"
                       "  %m = math.absf %x : $a\n"
                       "  %r = arith.cmpf oeq, %m, %i : $a\n"
                       "  return %r : $b\n"
                       "}\n");
}

tp_status tp__decompose_isnormal(MlirOperation op) {
  return decompose(op, "func.func private @isnormal(%x: $a) -> $b {\n"
                       "  %i = arith.constant $c : $a\n"
                       "  %n = arith.constant $d : $a\n"
                       "  %m = math.absf %x : $a\n"
                       "  %finite = arith.cmpf olt, %m, %i : $a\n"
                       "  %large = arith.cmpf oge, %m, %n : $a\n"
                       "  %r = arith.andi %finite, %large : $b\n"
                       "  return %r : $b\n"
                       "}\n");
}

/* Upstream's math-expand-ops takes the minimum with the lower bound and then the maximum with the
 * upper one, whose result is the upper bound whatever the value is. */
tp_status tp__decompose_clamp(MlirOperation op) {
  MlirValue values[3];
  for (int i = 0; i < 3; i++)
    values[i] = mlirOperationGetOperand(op, i);
  tp__parts parts = {0};
  tp__part_type(&parts, mlirValueGetType(values[0]));
  return tp__decompose_by(op,
                          "func.func private @clamp(%x: $a, %low: $a, %high: $a) -> $a {\n"
                          "  %m = arith.maximumf %x, %low : $a\n"
                          "  %r = arith.minimumf %m, %high : $a\n"
                          "  return %r : $a\n"
                          "}\n",
                          &parts, 3, values);
}

/* The type with other elements, of a tensor or a number. */
static MlirType with_element(MlirType type, MlirType element) {
  int rank = 0;
  int64_t shape[TP_MAX_RANK];
  return tp__is_tensor(type) && tp__static_tensor(type, &rank, shape)
             ? mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull())
             : element;
}

/* Truncates from f64 to bf16 or f8, for which no instruction exists, nor a library function on
 * every system. It goes through f32, where numbers that are not exact are rounded to an odd last
 * bit: so the second rounding sees on which side of a tie they lie (Boldo and Melquiond 2008). The
 * nearest f32 is known; where it is beyond the number, the one before it is taken, which as bits is
 * one less. */
tp_status tp__decompose_truncf(MlirOperation op) {
  MlirContext context = mlirOperationGetContext(op);
  MlirValue wide = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(wide);
  tp__parts parts = {0};
  tp__part_type(&parts, type);
  tp__part_type(&parts, mlirValueGetType(mlirOperationGetResult(op, 0)));
  tp__part_type(&parts, with_element(type, mlirF32TypeGet(context)));
  tp__part_type(&parts, with_element(type, mlirIntegerTypeGet(context, 32)));
  tp__part_type(&parts, with_element(type, mlirIntegerTypeGet(context, 1)));
  return tp__decompose_by(op,
                          "func.func private @truncf(%x: $a) -> $b {\n"
                          "  %near = arith.truncf %x : $a to $c\n"
                          "  %back = arith.extf %near : $c to $a\n"
                          "  %inexact = arith.cmpf une, %back, %x : $a\n"
                          "  %far = math.absf %back : $a\n"
                          "  %size = math.absf %x : $a\n"
                          "  %beyond = arith.cmpf ogt, %far, %size : $a\n"
                          "  %bits = arith.bitcast %near : $c to $d\n"
                          "  %one = arith.extui %beyond : $e to $d\n"
                          "  %before = arith.subi %bits, %one : $d\n"
                          "  %odd = arith.extui %inexact : $e to $d\n"
                          "  %sticky = arith.ori %before, %odd : $d\n"
                          "  %rounded = arith.bitcast %sticky : $d to $c\n"
                          "  %r = arith.truncf %rounded : $c to $b\n"
                          "  return %r : $b\n"
                          "}\n",
                          &parts, 1, &wide);
}

/* Computes an fma of bf16 or f8 in f32. Upstream widens the operands of all math ops except fma. On
 * a processor without bf16 instructions, fma then calls a function of the compiler's run-time
 * library, which JIT-compiled code does not find. */
tp_status tp__decompose_fma(MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirValue values[3];
  for (int i = 0; i < 3; i++)
    values[i] = mlirOperationGetOperand(op, i);
  tp__parts parts = {0};
  tp__part_type(&parts, type);
  tp__part_type(&parts, with_element(type, mlirF32TypeGet(mlirOperationGetContext(op))));
  return tp__decompose_by(op,
                          "func.func private @fma(%x: $a, %y: $a, %z: $a) -> $a {\n"
                          "  %u = arith.extf %x : $a to $b\n"
                          "  %v = arith.extf %y : $a to $b\n"
                          "  %w = arith.extf %z : $a to $b\n"
                          "  %s = math.fma %u, %v, %w : $b\n"
                          "  %r = arith.truncf %s : $b to $a\n"
                          "  return %r : $a\n"
                          "}\n",
                          &parts, 3, values);
}
