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

/* Computes an fma of bf16 or f8 in f32. Upstream widens the operands of all math ops except fma. On
 * a processor without bf16 instructions, fma then calls a function of the compiler's run-time
 * library, which JIT-compiled code does not find. */
tp_status tp__decompose_fma(MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirType f32 = mlirF32TypeGet(mlirOperationGetContext(op));
  int rank = 0;
  int64_t shape[TP_MAX_RANK];
  bool tensor = tp__is_tensor(type) && tp__static_tensor(type, &rank, shape);
  MlirValue values[3];
  for (int i = 0; i < 3; i++)
    values[i] = mlirOperationGetOperand(op, i);
  tp__parts parts = {0};
  tp__part_type(&parts, type);
  tp__part_type(&parts,
                tensor ? mlirRankedTensorTypeGet(rank, shape, f32, mlirAttributeGetNull()) : f32);
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
