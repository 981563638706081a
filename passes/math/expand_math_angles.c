/* Sine, cosine and tangent for GPUs, for all arguments.
 *
 * Argument reduction: |x| = n pi/2 + r, |r| <= pi/4. Small arguments use pi/2 in parts, so that the
 * difference with n times the first part is exact. Large arguments multiply the mantissa by the
 * bits of 2/pi that the exponent selects (M. H. Payne and R. N. Hanek). Sine and cosine of r use
 * their Taylor series. Maximum errors in ULP: f32 0.51; f64 sin and cos 0.79, tan 2.3. */
#include "passes/math/expand_math.h"

/* Reduces an f32 argument modulo pi/2, in f64. pi/2 is split into its leading 33 bits and the rest,
 * so that the products with the leading part are exact. For large arguments,
 * 96 bits of 2/pi are multiplied by the 24 bits of x, in the form of Arm's optimized routines. */
#define REDUCED_F32                                                                                \
  "size = abs(wide(x));"                                                                           \
  "q = size * 6.36619772367581382e-01 + 6755399441055744.0 - 6755399441055744.0;"                  \
  "near_r = size - q * 1.57079631090164185 - q * 1.58932547735281961e-08;"                         \
  "is_near = size < 1048576.0;"                                                                    \
  "near_n = int(is_near ? q : 0.0);"                                                               \
  "word = long(bits(x));"                                                                          \
  "byte = shru(word, 26) & 15;"                                                                    \
  "by = (byte & 7) << 3; back = 63 - by;"                                                          \
  "is_second = byte >= 8;"                                                                         \
  "w0 = is_second ? i64(4905873532058587637) : 699970842190;"                                      \
  "w1 = is_second ? i64(3809412908309649724) : 4905873532058587637;"                               \
  "w2 = is_second ? i64(4868462665443311616) : 3809412908309649724;"                               \
  "first = (w0 << by) | shru(shru(w1, 1), back);"                                                  \
  "last = (w1 << by) | shru(shru(w2, 1), back);"                                                   \
  "m = ((word & 0x007FFFFF) | 0x00800000) << (shru(word, 23) & 7);"                                \
  "turns = (((m * shru(first, 32)) << 32) | shru(m * shru(last, 32), 32)) + m * (first & "         \
  "0xFFFFFFFF);"                                                                                   \
  "far_n = shru(turns + 0x2000000000000000, 62);"                                                  \
  "far_r = float(turns - (far_n << 62)) * 3.40612158008655446e-19;"                                \
  "r = is_near ? near_r : far_r;"                                                                  \
  "n = is_near ? near_n : far_n;"                                                                  \
  "z = r * r;"                                                                                     \
  "s = r * poly(z, 1.60590438368216133e-10, -2.50521083854417202e-08, 2.75573192239858925e-06, "   \
  "-1.98412698412698413e-04, "                                                                     \
  "  8.33333333333333322e-03, -1.66666666666666657e-01, 1.0);"                                     \
  "c = poly(z, -1.14707455977297245e-11, 2.08767569878681002e-09, -2.75573192239858883e-07, "      \
  "2.48015873015873016e-05, "                                                                      \
  "  -1.38888888888888894e-03, 4.16666666666666644e-02, -0.5, 1.0);"                               \
  "is_odd = (n & 1) != 0;"

/* Argument reduction for f64. pi/2 is split into three numbers, and r is a pair, r + r_low. Beyond
 * 2^27, r is computed from 192 bits of 2/pi: the words w0 to w3 from `place` on, in a table that
 * starts with a zero word. They are selected by one bit of `place` after the other. */
#define REDUCED_F64                                                                                \
  "size = abs(x);"                                                                                 \
  "q = size * 6.36619772367581382e-01 + 6755399441055744.0 - 6755399441055744.0;"                  \
  "r0 = fma(-q, 1.57079632679489656, size);"                                                       \
  "p = q * 6.12323399573676604e-17;"                                                               \
  "near_r = r0 - p;"                                                                               \
  "near_low = sum_error(r0, -p) - product_error(q, 6.12323399573676604e-17) - q * "                \
  "-1.49738490485916983e-33;"                                                                      \
  "is_near = size < 134217728.0;"                                                                  \
  "near_n = int(is_near ? q : 0.0);"                                                               \
  "place = (bits(size) >> 52) - 1013;"                                                             \
  "m = (bits(size) & 0x000FFFFFFFFFFFFF) | 0x0010000000000000;"                                    \
  "w0 = i64(0x0000000000000000); w1 = i64(0xA2F9836E4E441529); w2 = i64(0xFC2757D1F534DDC0); w3 "  \
  "= i64(0xDB6295993C439041);"                                                                     \
  "w4 = i64(0xFE5163ABDEBBC561); w5 = i64(0xB7246E3A424DD2E0); w6 = i64(0x06492EEA09D1921C); w7 "  \
  "= i64(0xFE1DEB1CB129A73E);"                                                                     \
  "w8 = i64(0xE88235F52EBB4484); w9 = i64(0xE99C7026B45F7E41); w10 = i64(0x3991D639835339F4); "    \
  "w11 = i64(0x9C845F8BBDF9283B);"                                                                 \
  "w12 = i64(0x1FF897FFDE05980F); w13 = i64(0xEF2F118B5A0A6D1F); w14 = i64(0x6D367ECF27CB09B7); "  \
  "w15 = "                                                                                         \
  "i64(0x4F463F669E5FEA2D);"                                                                       \
  "w16 = i64(0x7527BAC7EBE5F17B); w17 = i64(0x3D0739F78A5292EA); w18 = i64(0x6BFB5FB11F8D5D08); "  \
  "w19 = "                                                                                         \
  "i64(0x56033046FC7B6BAB);"                                                                       \
  "by = (place & 1024) != 0;"                                                                      \
  "w0 = by ? w16 : w0; w1 = by ? w17 : w1; w2 = by ? w18 : w2; w3 = by ? w19 : w3;"                \
  "by = (place & 512) != 0;"                                                                       \
  "w0 = by ? w8 : w0; w1 = by ? w9 : w1; w2 = by ? w10 : w2; w3 = by ? w11 : w3; w4 = by ? w12 : " \
  "w4; w5 = by ? w13 : w5;"                                                                        \
  "w6 = by ? w14 : w6; w7 = by ? w15 : w7; w8 = by ? w16 : w8; w9 = by ? w17 : w9; w10 = by ? "    \
  "w18 : w10;"                                                                                     \
  "by = (place & 256) != 0;"                                                                       \
  "w0 = by ? w4 : w0; w1 = by ? w5 : w1; w2 = by ? w6 : w2; w3 = by ? w7 : w3; w4 = by ? w8 : "    \
  "w4; w5 = by ? w9 : w5;"                                                                         \
  "w6 = by ? w10 : w6;"                                                                            \
  "by = (place & 128) != 0;"                                                                       \
  "w0 = by ? w2 : w0; w1 = by ? w3 : w1; w2 = by ? w4 : w2; w3 = by ? w5 : w3; w4 = by ? w6 : w4;" \
  "by = (place & 64) != 0;"                                                                        \
  "w0 = by ? w1 : w0; w1 = by ? w2 : w1; w2 = by ? w3 : w2; w3 = by ? w4 : w3;"                    \
  "by = place & 63; back = 63 - by;"                                                               \
  "first = (w0 << by) | shru(shru(w1, 1), back);"                                                  \
  "second = (w1 << by) | shru(shru(w2, 1), back);"                                                 \
  "third = (w2 << by) | shru(shru(w3, 1), back);"                                                  \
  "below_turns = m * second + high(m, third);"                                                     \
  "carry = below(below_turns, m * second) ? i64(1) : 0;"                                           \
  "turns = m * first + high(m, second) + carry;"                                                   \
  "far_n = shru(turns + 0x2000000000000000, 62);"                                                  \
  "rest = turns - (far_n << 62);"                                                                  \
  "d0 = float(rest >> 32) * 9.31322574615478516e-10;" /* 2^-30, 2^-62, 2^-94, 2^-126 */            \
  "d1 = float(rest & 0xFFFFFFFF) * 2.16840434497100887e-19;"                                       \
  "d2 = float(shru(below_turns, 32)) * 5.04870979341447555e-29;"                                   \
  "d3 = float(below_turns & 0xFFFFFFFF) * 1.17549435082228751e-38;"                                \
  "d01 = d0 + d1; d012 = d01 + d2;"                                                                \
  "d_low = sum_error(d0, d1) + sum_error(d01, d2) + d3;"                                           \
  "part = d012 + d_low; part_low = d012 - part + d_low;"                                           \
  "far_r = part * 1.57079632679489656;"                                                            \
  "far_low = product_error(part, 1.57079632679489656)"                                             \
  "  + (part * 6.12323399573676604e-17 + part_low * 1.57079632679489656);"                         \
  "r = is_near ? near_r : far_r;"                                                                  \
  "r_low = is_near ? near_low : far_low;"                                                          \
  "n = is_near ? near_n : far_n;"                                                                  \
  "z = r * r;"                                                                                     \
  "s = r + (z * r * poly(z, 2.81145725434552060e-15, -7.64716373181981641e-13, "                   \
  "1.60590438368216133e-10, "                                                                      \
  "  -2.50521083854417202e-08, 2.75573192239858925e-06, -1.98412698412698413e-04, "                \
  "8.33333333333333322e-03, "                                                                      \
  "  -1.66666666666666657e-01) + r_low * (1.0 - 0.5 * z));"                                        \
  "less = 0.5 * z; w = 1.0 - less;"                                                                \
  "c = w + (1.0 - w - less + (z * z * poly(z, -1.56192069685862253e-16, 4.77947733238738525e-14, " \
  "  -1.14707455977297245e-11, 2.08767569878681002e-09, -2.75573192239858883e-07, "                \
  "2.48015873015873016e-05, "                                                                      \
  "  -1.38888888888888894e-03, 4.16666666666666644e-02) - r * r_low));"                            \
  "is_odd = (n & 1) != 0;"

/* Select the function and its sign by quadrant. IF_FINITE gives NaN for infinite arguments and
 * NaN. */
#define SIGNED_SIN                                                                                 \
  "v = is_odd ? c : s;"                                                                            \
  "v = (n & 2) != 0 ? -v : v;"
#define SIGNED_COS                                                                                 \
  "v = is_odd ? s : c;"                                                                            \
  "v = ((n + 1) & 2) != 0 ? -v : v;"
#define SIGNED_TAN "v = is_odd ? -(c / s) : s / c;"
#define IF_FINITE(value) "gone = x - x; y = unordered(gone, gone) ? gone : " value ";"

static const char sin_f32[] = REDUCED_F32 SIGNED_SIN IF_FINITE("narrow(v) * copysign(1.0, x)");
static const char cos_f32[] = REDUCED_F32 SIGNED_COS IF_FINITE("narrow(v)");
static const char tan_f32[] = REDUCED_F32 SIGNED_TAN IF_FINITE("narrow(v) * copysign(1.0, x)");
static const char sin_f64[] = REDUCED_F64 SIGNED_SIN IF_FINITE("v * copysign(1.0, x)");
static const char cos_f64[] = REDUCED_F64 SIGNED_COS IF_FINITE("v");
static const char tan_f64[] = REDUCED_F64 SIGNED_TAN IF_FINITE("v * copysign(1.0, x)");

static const tp__function_row rows[] = {
    {"math.sin", "tp.sin.f32", mlirTypeIsAF32, sin_f32, NULL},
    {"math.cos", "tp.cos.f32", mlirTypeIsAF32, cos_f32, NULL},
    {"math.tan", "tp.tan.f32", mlirTypeIsAF32, tan_f32, NULL},
    {"math.sin", "tp.sin.f64", mlirTypeIsAF64, sin_f64, NULL},
    {"math.cos", "tp.cos.f64", mlirTypeIsAF64, cos_f64, NULL},
    {"math.tan", "tp.tan.f64", mlirTypeIsAF64, tan_f64, NULL},
};

const tp__function_table tp__math_angles = {rows, TP__COUNT(rows), true};
