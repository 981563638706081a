/* Functions for GPUs with exact results: round and remainder. */
#include "passes/math/expand_math.h"

/* Rounds halves away from zero. */
static const char round_formula[] = "whole = trunc(x);"
                                    "far = whole + copysign(1.0, x);"
                                    "y = copysign(abs(x - whole) >= 0.5 ? far : whole, x);";

/* The exact remainder of |x| by |y|, with the sign of x. NVPTX itself divides only once, which is
 * wrong if the quotient is rounded. The loop subtracts multiples of 2^20k |y|, the largest first.
 * Each quotient has at most 21 bits. The fma is exact, because its result is a multiple of the last
 * places of both operands and is smaller than they are. A quotient that was rounded up is one too
 * large; its multiple is added back. */
#define REMAINDER(type, x, y, r)                                                                   \
  "  %size_x = math.absf " x " : " type "\n"                                                       \
  "  %size_y = math.absf " y " : " type "\n"                                                       \
  "  %nothing = arith.constant 0.0 : " type "\n"                                                   \
  "  %unit = arith.constant 1.0 : " type "\n"                                                      \
  "  %infinity = arith.divf %unit, %nothing : " type "\n"                                          \
  "  %nan = arith.subf %infinity, %infinity : " type "\n"                                          \
  "  %up = arith.constant 1048576.0 : " type "\n"                                                  \
  "  %down = arith.divf %unit, %up : " type "\n"                                                   \
  "  %x_ends = arith.cmpf olt, %size_x, %infinity : " type "\n"                                    \
  "  %y_counts = arith.cmpf ogt, %size_y, %nothing : " type "\n"                                   \
  "  %is_number = arith.andi %x_ends, %y_counts : i1\n"                                            \
  "  %y_ends = arith.cmpf olt, %size_y, %infinity : " type "\n"                                    \
  "  %divides = arith.andi %is_number, %y_ends : i1\n"                                             \
  "  %from = arith.select %divides, %size_x, %nothing : " type "\n"                                \
  "  %by = arith.select %divides, %size_y, %unit : " type "\n"                                     \
  "  %far = arith.mulf %from, %down : " type "\n"                                                  \
  "  %top = scf.while (%t = %by) : (" type ") -> " type " {\n"                                     \
  "    %is_low = arith.cmpf ole, %t, %far : " type "\n"                                            \
  "    scf.condition(%is_low) %t : " type "\n"                                                     \
  "  } do {\n"                                                                                     \
  "  ^bb0(%t: " type "):\n"                                                                        \
  "    %raised = arith.mulf %t, %up : " type "\n"                                                  \
  "    scf.yield %raised : " type "\n"                                                             \
  "  }\n"                                                                                          \
  "  %rest:2 = scf.while (%r0 = %from, %t = %top) : (" type ", " type ") -> (" type ", " type      \
  ") {\n"                                                                                          \
  "    %quotient = arith.divf %r0, %t : " type "\n"                                                \
  "    %times = math.trunc %quotient : " type "\n"                                                 \
  "    %less = arith.negf %times : " type "\n"                                                     \
  "    %left = math.fma %less, %t, %r0 : " type "\n"                                               \
  "    %is_under = arith.cmpf olt, %left, %nothing : " type "\n"                                   \
  "    %back = arith.addf %left, %t : " type "\n"                                                  \
  "    %kept = arith.select %is_under, %back, %left : " type "\n"                                  \
  "    %is_more = arith.cmpf ogt, %t, %by : " type "\n"                                            \
  "    %lower = arith.mulf %t, %down : " type "\n"                                                 \
  "    scf.condition(%is_more) %kept, %lower : " type ", " type "\n"                               \
  "  } do {\n"                                                                                     \
  "  ^bb0(%r1: " type ", %t: " type "):\n"                                                         \
  "    scf.yield %r1, %t : " type ", " type "\n"                                                   \
  "  }\n"                                                                                          \
  "  %finite = arith.select %y_ends, %rest#0, %size_x : " type "\n"                                \
  "  %signed = math.copysign %finite, " x " : " type "\n"                                          \
  "  " r " = arith.select %is_number, %signed, %nan : " type "\n"

static const char remainder_f16_body[] =
    "  %wide_x = arith.extf %v0 : f16 to f32\n"
    "  %wide_y = arith.extf %v1 : f16 to f32\n" REMAINDER(
        "f32", "%wide_x", "%wide_y", "%wide") "  %y = arith.truncf %wide : f32 to f16\n"
                                              "  return %y : f16\n";
static const char remainder_f32_body[] = REMAINDER("f32", "%v0", "%v1", "%y") "  return %y : f32\n";
static const char remainder_f64_body[] = REMAINDER("f64", "%v0", "%v1", "%y") "  return %y : f64\n";

static const tp__function_row rows[] = {
    {"math.round", "tp.round.f32", mlirTypeIsAF32, round_formula, NULL},
    {"math.round", "tp.round.f64", mlirTypeIsAF64, round_formula, NULL},
    {"arith.remf", "tp.remainder.f16", mlirTypeIsAF16, NULL, remainder_f16_body},
    {"arith.remf", "tp.remainder.f32", mlirTypeIsAF32, NULL, remainder_f32_body},
    {"arith.remf", "tp.remainder.f64", mlirTypeIsAF64, NULL, remainder_f64_body},
};

const tp__function_table tp__math_exact = {rows, TP__COUNT(rows), true};
