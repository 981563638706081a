/* tp-expand-math: exp, tanh, log and their kin on f32 without calls of libm.
 *
 * A loop with a call of libm is not vectorised. Here each function is arithmetic without branches, inlined where it is used, so the loop
 * around it becomes vector code; an element gets the same bits in a vector, in the rest of a loop behind it, and on every device. The
 * approximations are those of S. Moshier's Cephes library, for erf the rational one of Eigen; the forms of log1p and expm1 are W. Kahan's.
 * Nothing but additions, multiplications (in one where the processor has that), divisions, comparisons and bits: no processor needs a library for them. log1p and expm1 of f64, which
 * upstream lowers to log(1 + x) and exp(x) - 1, have the same forms here, over libm's log and exp.
 * Furthest from the exact value, in units of the last place: exp, log 0.7, tanh 1.0, log1p, expm1 1.5, erf 2.5. Infinities, NaN, denormals and signs of zero as in C. */
#include "passes/expand_math.h"
#include "passes/decompose.h"
#include "passes/table.h"

#include <string.h>

enum { STAT_EXPANDED };

/* x = n ln 2 + r with |r| <= ln(2)/2; n comes from an addition that leaves no bits behind the point. 2^n in two factors, since n may be out of
 * the range of one: results overflow, and become denormal, by rounding. ln 2 in two parts: n times the first is exact. Where 0 is the result, as in
 * masked places of a softmax, it is selected: to multiply until nothing is left takes processors longer than all the rest. */
static const char exp_text[] = "  %low = arith.constant -1.050000e+02 : f32\n"
                               "  %zero = arith.constant 0.0 : f32\n"
                               "  %high = arith.constant 9.000000e+01 : f32\n"
                               "  %below = arith.cmpf olt, %x, %low : f32\n"
                               "  %above = arith.cmpf ogt, %x, %high : f32\n"
                               "  %x0 = arith.select %below, %zero, %x : f32\n"
                               "  %x1 = arith.select %above, %high, %x0 : f32\n"
                               "  %log2e = arith.constant 1.44269504088896341 : f32\n"
                               "  %magic = arith.constant 1.258291200e+07 : f32\n"
                               "  %magic_bits = arith.constant 0x4B400000 : i32\n"
                               "  %scaled = arith.mulf %x1, %log2e : f32\n"
                               "  %shifted = arith.addf %scaled, %magic : f32\n"
                               "  %n = arith.subf %shifted, %magic : f32\n"
                               "  %shifted_bits = arith.bitcast %shifted : f32 to i32\n"
                               "  %k = arith.subi %shifted_bits, %magic_bits : i32\n"
                               "  %ln2_high = arith.constant 0.693359375 : f32\n"
                               "  %ln2_low = arith.constant -2.12194440e-4 : f32\n"
                               "  %m0 = arith.mulf %n, %ln2_high : f32\n"
                               "  %m1 = arith.mulf %n, %ln2_low : f32\n"
                               "  %r0 = arith.subf %x1, %m0 : f32\n"
                               "  %r = arith.subf %r0, %m1 : f32\n"
                               "  %c5 = arith.constant 1.9875691500E-4 : f32\n"
                               "  %c4 = arith.constant 1.3981999507E-3 : f32\n"
                               "  %c3 = arith.constant 8.3334519073E-3 : f32\n"
                               "  %c2 = arith.constant 4.1665795894E-2 : f32\n"
                               "  %c1 = arith.constant 1.6666665459E-1 : f32\n"
                               "  %c0 = arith.constant 5.0000001201E-1 : f32\n"
                               "  %p5 = arith.mulf %c5, %r : f32\n"
                               "  %q4 = arith.addf %p5, %c4 : f32\n"
                               "  %p4 = arith.mulf %q4, %r : f32\n"
                               "  %q3 = arith.addf %p4, %c3 : f32\n"
                               "  %p3 = arith.mulf %q3, %r : f32\n"
                               "  %q2 = arith.addf %p3, %c2 : f32\n"
                               "  %p2 = arith.mulf %q2, %r : f32\n"
                               "  %q1 = arith.addf %p2, %c1 : f32\n"
                               "  %p1 = arith.mulf %q1, %r : f32\n"
                               "  %q0 = arith.addf %p1, %c0 : f32\n"
                               "  %rr = arith.mulf %r, %r : f32\n"
                               "  %p0 = arith.mulf %q0, %rr : f32\n"
                               "  %y0 = arith.addf %p0, %r : f32\n"
                               "  %one = arith.constant 1.0 : f32\n"
                               "  %w = arith.addf %y0, %one : f32\n"
                               "  %i1 = arith.constant 1 : i32\n"
                               "  %bias = arith.constant 127 : i32\n"
                               "  %places = arith.constant 23 : i32\n"
                               "  %k0 = arith.shrsi %k, %i1 : i32\n"
                               "  %k1 = arith.subi %k, %k0 : i32\n"
                               "  %e0 = arith.addi %k0, %bias : i32\n"
                               "  %e1 = arith.addi %k1, %bias : i32\n"
                               "  %b0 = arith.shli %e0, %places : i32\n"
                               "  %b1 = arith.shli %e1, %places : i32\n"
                               "  %s0 = arith.bitcast %b0 : i32 to f32\n"
                               "  %s1 = arith.bitcast %b1 : i32 to f32\n"
                               "  %t = arith.mulf %w, %s0 : f32\n"
                               "  %z = arith.mulf %t, %s1 : f32\n"
                               "  %y = arith.select %below, %zero, %z : f32\n";

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)); denormals are scaled first. */
static const char log_text[] = "  %zero = arith.constant 0.0 : f32\n"
                               "  %one = arith.constant 1.0 : f32\n"
                               "  %normal = arith.constant 0x00800000 : f32\n"
                               "  %two23 = arith.constant 8388608.0 : f32\n"
                               "  %small = arith.cmpf olt, %x, %normal : f32\n"
                               "  %lifted = arith.mulf %x, %two23 : f32\n"
                               "  %v = arith.select %small, %lifted, %x : f32\n"
                               "  %minus23 = arith.constant -23.0 : f32\n"
                               "  %e_small = arith.select %small, %minus23, %zero : f32\n"
                               "  %bits = arith.bitcast %v : f32 to i32\n"
                               "  %half_bits = arith.constant 0x3F3504F3 : i32\n" /* sqrt(1/2) */
                               "  %places = arith.constant 23 : i32\n"
                               "  %above = arith.subi %bits, %half_bits : i32\n"
                               "  %e_int = arith.shrsi %above, %places : i32\n"
                               "  %e_bits = arith.shli %e_int, %places : i32\n"
                               "  %m_bits = arith.subi %bits, %e_bits : i32\n"
                               "  %m = arith.bitcast %m_bits : i32 to f32\n"
                               "  %e_float = arith.sitofp %e_int : i32 to f32\n"
                               "  %e = arith.addf %e_float, %e_small : f32\n"
                               "  %r = arith.subf %m, %one : f32\n"
                               "  %c8 = arith.constant 7.0376836292E-2 : f32\n"
                               "  %c7 = arith.constant -1.1514610310E-1 : f32\n"
                               "  %c6 = arith.constant 1.1676998740E-1 : f32\n"
                               "  %c5 = arith.constant -1.2420140846E-1 : f32\n"
                               "  %c4 = arith.constant 1.4249322787E-1 : f32\n"
                               "  %c3 = arith.constant -1.6668057665E-1 : f32\n"
                               "  %c2 = arith.constant 2.0000714765E-1 : f32\n"
                               "  %c1 = arith.constant -2.4999993993E-1 : f32\n"
                               "  %c0 = arith.constant 3.3333331174E-1 : f32\n"
                               "  %p8 = arith.mulf %c8, %r : f32\n"
                               "  %q7 = arith.addf %p8, %c7 : f32\n"
                               "  %p7 = arith.mulf %q7, %r : f32\n"
                               "  %q6 = arith.addf %p7, %c6 : f32\n"
                               "  %p6 = arith.mulf %q6, %r : f32\n"
                               "  %q5 = arith.addf %p6, %c5 : f32\n"
                               "  %p5 = arith.mulf %q5, %r : f32\n"
                               "  %q4 = arith.addf %p5, %c4 : f32\n"
                               "  %p4 = arith.mulf %q4, %r : f32\n"
                               "  %q3 = arith.addf %p4, %c3 : f32\n"
                               "  %p3 = arith.mulf %q3, %r : f32\n"
                               "  %q2 = arith.addf %p3, %c2 : f32\n"
                               "  %p2 = arith.mulf %q2, %r : f32\n"
                               "  %q1 = arith.addf %p2, %c1 : f32\n"
                               "  %p1 = arith.mulf %q1, %r : f32\n"
                               "  %q0 = arith.addf %p1, %c0 : f32\n"
                               "  %rr = arith.mulf %r, %r : f32\n"
                               "  %p0 = arith.mulf %q0, %r : f32\n"
                               "  %y0 = arith.mulf %p0, %rr : f32\n"
                               "  %ln2_low = arith.constant -2.12194440e-4 : f32\n"
                               "  %ln2_high = arith.constant 0.693359375 : f32\n"
                               "  %half = arith.constant 0.5 : f32\n"
                               "  %l0 = arith.mulf %e, %ln2_low : f32\n"
                               "  %y1 = arith.addf %y0, %l0 : f32\n"
                               "  %h = arith.mulf %rr, %half : f32\n"
                               "  %y2 = arith.subf %y1, %h : f32\n"
                               "  %y3 = arith.addf %r, %y2 : f32\n"
                               "  %l1 = arith.mulf %e, %ln2_high : f32\n"
                               "  %y4 = arith.addf %y3, %l1 : f32\n"
                               "  %inf = arith.constant 0x7F800000 : f32\n"
                               "  %minus_inf = arith.constant 0xFF800000 : f32\n"
                               "  %nan = arith.constant 0x7FC00000 : f32\n"
                               "  %is_finite = arith.cmpf olt, %x, %inf : f32\n"
                               "  %is_zero = arith.cmpf oeq, %x, %zero : f32\n"
                               "  %is_negative = arith.cmpf olt, %x, %zero : f32\n"
                               "  %a = arith.select %is_finite, %y4, %x : f32\n" /* infinity and NaN */
                               "  %b = arith.select %is_zero, %minus_inf, %a : f32\n"
                               "  %y = arith.select %is_negative, %nan, %b : f32\n";

/* A polynomial near 0, where 1 - 2/(exp(2x) + 1) would cancel. */
static const char tanh_text[] = "  %one = arith.constant 1.0 : f32\n"
                                "  %two = arith.constant 2.0 : f32\n"
                                "  %a = math.absf %x : f32\n"
                                "  %aa = arith.addf %a, %a : f32\n"
                                "  %e = math.exp %aa : f32\n"
                                "  %e1 = arith.addf %e, %one : f32\n"
                                "  %d = arith.divf %two, %e1 : f32\n"
                                "  %far0 = arith.subf %one, %d : f32\n"
                                "  %far = math.copysign %far0, %x : f32\n"
                                "  %s = arith.mulf %x, %x : f32\n"
                                "  %c4 = arith.constant -5.70498872745E-3 : f32\n"
                                "  %c3 = arith.constant 2.06390887954E-2 : f32\n"
                                "  %c2 = arith.constant -5.37397155531E-2 : f32\n"
                                "  %c1 = arith.constant 1.33314422036E-1 : f32\n"
                                "  %c0 = arith.constant -3.33332819422E-1 : f32\n"
                                "  %p4 = arith.mulf %c4, %s : f32\n"
                                "  %q3 = arith.addf %p4, %c3 : f32\n"
                                "  %p3 = arith.mulf %q3, %s : f32\n"
                                "  %q2 = arith.addf %p3, %c2 : f32\n"
                                "  %p2 = arith.mulf %q2, %s : f32\n"
                                "  %q1 = arith.addf %p2, %c1 : f32\n"
                                "  %p1 = arith.mulf %q1, %s : f32\n"
                                "  %q0 = arith.addf %p1, %c0 : f32\n"
                                "  %p0 = arith.mulf %q0, %s : f32\n"
                                "  %px = arith.mulf %p0, %x : f32\n"
                                "  %near = arith.addf %px, %x : f32\n"
                                "  %limit = arith.constant 0.625 : f32\n"
                                "  %is_near = arith.cmpf olt, %a, %limit : f32\n"
                                "  %y = arith.select %is_near, %near, %far : f32\n";

/* With u = 1 + x rounded, log(u) x / (u - 1): the error of u is in both and goes out. */
static const char log1p_text[] = "  %one = arith.constant 1.0 : $a\n"
                                 "  %inf = arith.constant $b : $a\n"
                                 "  %u = arith.addf %x, %one : $a\n"
                                 "  %d = arith.subf %u, %one : $a\n"
                                 "  %l = math.log %u : $a\n"
                                 "  %ratio = arith.divf %x, %d : $a\n"
                                 "  %corrected = arith.mulf %l, %ratio : $a\n"
                                 "  %is_tiny = arith.cmpf oeq, %u, %one : $a\n"
                                 "  %is_finite = arith.cmpf one, %u, %inf : $a\n"
                                 "  %a = arith.select %is_finite, %corrected, %u : $a\n"
                                 "  %y = arith.select %is_tiny, %x, %a : $a\n";

/* With u = exp(x), (u - 1) x / log(u); where u is 1, 0, or infinite, the limit. */
static const char expm1_text[] = "  %one = arith.constant 1.0 : $a\n"
                                 "  %minus_one = arith.constant -1.0 : $a\n"
                                 "  %inf = arith.constant $b : $a\n"
                                 "  %u = math.exp %x : $a\n"
                                 "  %d = arith.subf %u, %one : $a\n"
                                 "  %l = math.log %u : $a\n"
                                 "  %ratio = arith.divf %x, %l : $a\n"
                                 "  %corrected = arith.mulf %d, %ratio : $a\n"
                                 "  %is_tiny = arith.cmpf oeq, %u, %one : $a\n"
                                 "  %is_low = arith.cmpf oeq, %d, %minus_one : $a\n"
                                 "  %is_infinite = arith.cmpf oeq, %u, %inf : $a\n"
                                 "  %a = arith.select %is_tiny, %x, %corrected : $a\n"
                                 "  %b = arith.select %is_low, %minus_one, %a : $a\n"
                                 "  %y = arith.select %is_infinite, %u, %b : $a\n";

/* An odd rational function on [-4, 4], beyond which f32 has no other number than 1. */
static const char erf_text[] = "  %four = arith.constant 4.0 : f32\n"
                               "  %minus_four = arith.constant -4.0 : f32\n"
                               "  %below = arith.cmpf olt, %x, %minus_four : f32\n"
                               "  %above = arith.cmpf ogt, %x, %four : f32\n"
                               "  %x0 = arith.select %below, %minus_four, %x : f32\n"
                               "  %v = arith.select %above, %four, %x0 : f32\n"
                               "  %s = arith.mulf %v, %v : f32\n"
                               "  %a6 = arith.constant -2.72614225801306e-10 : f32\n"
                               "  %a5 = arith.constant 2.77068142495902e-08 : f32\n"
                               "  %a4 = arith.constant -2.10102402082508e-06 : f32\n"
                               "  %a3 = arith.constant -5.69250639462346e-05 : f32\n"
                               "  %a2 = arith.constant -7.34990630326855e-04 : f32\n"
                               "  %a1 = arith.constant -2.95459980854025e-03 : f32\n"
                               "  %a0 = arith.constant -1.60960333262415e-02 : f32\n"
                               "  %p6 = arith.mulf %a6, %s : f32\n"
                               "  %q5 = arith.addf %p6, %a5 : f32\n"
                               "  %p5 = arith.mulf %q5, %s : f32\n"
                               "  %q4 = arith.addf %p5, %a4 : f32\n"
                               "  %p4 = arith.mulf %q4, %s : f32\n"
                               "  %q3 = arith.addf %p4, %a3 : f32\n"
                               "  %p3 = arith.mulf %q3, %s : f32\n"
                               "  %q2 = arith.addf %p3, %a2 : f32\n"
                               "  %p2 = arith.mulf %q2, %s : f32\n"
                               "  %q1 = arith.addf %p2, %a1 : f32\n"
                               "  %p1 = arith.mulf %q1, %s : f32\n"
                               "  %q0 = arith.addf %p1, %a0 : f32\n"
                               "  %top = arith.mulf %q0, %v : f32\n"
                               "  %b4 = arith.constant -1.45660718464996e-05 : f32\n"
                               "  %b3 = arith.constant -2.13374055278905e-04 : f32\n"
                               "  %b2 = arith.constant -1.68282697438203e-03 : f32\n"
                               "  %b1 = arith.constant -7.37332916720468e-03 : f32\n"
                               "  %b0 = arith.constant -1.42647390514189e-02 : f32\n"
                               "  %u4 = arith.mulf %b4, %s : f32\n"
                               "  %w3 = arith.addf %u4, %b3 : f32\n"
                               "  %u3 = arith.mulf %w3, %s : f32\n"
                               "  %w2 = arith.addf %u3, %b2 : f32\n"
                               "  %u2 = arith.mulf %w2, %s : f32\n"
                               "  %w1 = arith.addf %u2, %b1 : f32\n"
                               "  %u1 = arith.mulf %w1, %s : f32\n"
                               "  %w0 = arith.addf %u1, %b0 : f32\n"
                               "  %y0 = arith.divf %top, %w0 : f32\n"
                               "  %one = arith.constant 1.0 : f32\n"
                               "  %limit = math.copysign %one, %x : f32\n"
                               "  %size = math.absf %y0 : f32\n"
                               "  %over = arith.cmpf ogt, %size, %one : f32\n"
                               "  %far = arith.select %over, %limit, %y0 : f32\n"
                               "  %slope = arith.constant 1.12837916709551257 : f32\n"
                               "  %near = arith.mulf %x, %slope : f32\n"
                               "  %a = math.absf %x : f32\n"
                               "  %tiny = arith.constant 2.44140625e-4 : f32\n"
                               "  %is_near = arith.cmpf olt, %a, %tiny : f32\n"
                               "  %y = arith.select %is_near, %near, %far : f32\n";

static const tp__function_row functions[] = {
    {"math.exp", "tp.exp.f32", mlirTypeIsAF32, exp_text},       {"math.log", "tp.log.f32", mlirTypeIsAF32, log_text},
    {"math.tanh", "tp.tanh.f32", mlirTypeIsAF32, tanh_text},    {"math.erf", "tp.erf.f32", mlirTypeIsAF32, erf_text},
    {"math.log1p", "tp.log1p.f32", mlirTypeIsAF32, log1p_text}, {"math.expm1", "tp.expm1.f32", mlirTypeIsAF32, expm1_text},
    {"math.log1p", "tp.log1p.f64", mlirTypeIsAF64, log1p_text}, {"math.expm1", "tp.expm1.f64", mlirTypeIsAF64, expm1_text},
};

/* Upstream would write these as comparisons, in which LLVM does not recognise a reduction. */
typedef struct intrinsic_row {
  const char *op, *intrinsic;
} intrinsic_row;

static const intrinsic_row intrinsics[] = {
    {"arith.maximumf", "llvm.intr.maximum"},
    {"arith.minimumf", "llvm.intr.minimum"},
};

static const intrinsic_row *find_intrinsic(MlirOperation op) {
  if (!tp__op_has_dialect(op, "arith") || mlirOperationGetNumResults(op) != 1)
    return NULL;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  for (int i = 0; i < TP_LEN(intrinsics); i++)
    if (tp__op_is(op, intrinsics[i].op) && (mlirTypeIsAF32(type) || mlirTypeIsAF64(type)))
      return &intrinsics[i];
  return NULL;
}

/* The tables that hold, and which of their functions the module has. */
typedef struct expansion {
  tp_pass *pass;
  struct {
    const tp__function_row *rows;
    int n;
  } tables[2];
  int n_tables;
  bool
      contracts; /* products and sums may become one operation; not in functions for GPUs, whose texts count on every rounding */
  bool added[2][32];
  tp_op_list ops;
} expansion;

static const tp__function_row *find_function(const expansion *e, MlirOperation op, int *table) {
  if (tp__op_has_dialect(op, "math") || tp__op_is(op, "arith.remf"))
    for (*table = 0; *table < e->n_tables; ++*table)
      for (int i = 0; i < e->tables[*table].n; i++) {
        const tp__function_row *row = e->tables[*table].rows + i;
        if (tp__op_is(op, row->op) && row->is_type(mlirValueGetType(mlirOperationGetResult(op, 0))))
          return row;
      }
  return NULL;
}

static tp_status collect(MlirOperation op, void *data) {
  expansion *e = data;
  int table;
  return !find_function(e, op, &table) && !find_intrinsic(op) ? TP_OK : tp__op_list_add(&e->ops, op);
}

static bool is_product(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  return !mlirOperationIsNull(op) && tp__op_is(op, "arith.mulf");
}

/* A product and a sum may become one operation where the processor has it: a quarter faster, and one rounding less. Not a sum of two products:
 * which of them is not rounded could depend on the loop around it. */
static tp_status allow_contraction(MlirOperation op, void *data) {
  bool is_sum = tp__op_is(op, "arith.addf") || tp__op_is(op, "arith.subf");
  if (is_sum && is_product(mlirOperationGetOperand(op, 0)) && is_product(mlirOperationGetOperand(op, 1)))
    return TP_OK;
  if (is_sum || tp__op_is(op, "arith.mulf"))
    mlirOperationSetInherentAttributeByName(op, tp__ref("fastmath"), *(MlirAttribute *)data);
  return TP_OK;
}

static tp_status add_function(const expansion *e, MlirOperation op, const tp__function_row *row) {
  tp__parts parts = {0};
  tp__string text = {0};
  bool is_f32 = row->is_type == mlirTypeIsAF32;
  tp__part_type(&parts, mlirValueGetType(mlirOperationGetResult(op, 0)));
  tp__string_append(tp__part(&parts), is_f32 ? "0x7F800000" : "0x7FF0000000000000");
  tp__string_printf(&text,
                    "func.func private @%s(%%x: $a%s) -> $a attributes {llvm.linkage = #llvm.linkage<internal>, "
                    "passthrough = [\"alwaysinline\"]} {\n%s  return %%y : $a\n}\n",
                    row->symbol, mlirOperationGetNumOperands(op) > 1 ? ", %x1: $a" : "", row->text);
  bool whole = !text.failed;
  MlirOperation func = tp__decomposition(op, tp__string_text(&text), &parts);
  tp__string_destroy(&text);
  if (mlirOperationIsNull(func))
    return whole ? TP_INTERNAL : TP_NO_MEMORY;
  mlirBlockAppendOwnedOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(e->pass->module, 0)), func);
  MlirAttribute contract = tp__parse_attr(e->pass->context, "#arith.fastmath<contract>");
  return e->contracts ? tp__walk(func, allow_contraction, &contract) : TP_OK;
}

/* Puts an op of this name, with the operands of `op`, in its place. */
static void replace(MlirOperation op, const char *name, int n_attributes, const MlirNamedAttribute *attributes) {
  MlirValue operands[2], result = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(result);
  int n = (int)mlirOperationGetNumOperands(op);
  for (int i = 0; i < n; i++)
    operands[i] = mlirOperationGetOperand(op, i);
  MlirOperation with = tp__create(&(tp_build){.name = name,
                                              .location = mlirOperationGetLocation(op),
                                              .n_operands = n,
                                              .operands = operands,
                                              .n_results = 1,
                                              .results = &type,
                                              .n_attributes = n_attributes,
                                              .attributes = attributes});
  tp__insert_before(op, with);
  mlirValueReplaceAllUsesOfWith(result, mlirOperationGetResult(with, 0));
  mlirOperationDestroy(op);
}

static tp_status expand(expansion *e, MlirOperation op) {
  const intrinsic_row *intrinsic = find_intrinsic(op);
  if (intrinsic) {
    replace(op, intrinsic->intrinsic, 0, NULL);
    return TP_OK;
  }
  int table;
  const tp__function_row *row = find_function(e, op, &table);
  bool *added = &e->added[table][row - e->tables[table].rows];
  tp_status status = *added ? TP_OK : add_function(e, op, row);
  *added = true;
  MlirAttribute symbol = mlirFlatSymbolRefAttrGet(e->pass->context, tp__ref(row->symbol));
  MlirNamedAttribute callee = tp__named(e->pass->context, "callee", symbol);
  replace(op, "func.call", 1, &callee);
  e->pass->statistics[STAT_EXPANDED]++;
  return status;
}

static tp_status run(tp_pass *pass) {
  const char *target = tp__pass_option(pass, "target");
  bool for_gpu = strcmp(target, "cuda") == 0;
  if (!for_gpu && strcmp(target, "host") != 0)
    return tp__error(pass->module, TP_INVALID_ARGUMENT, "option target is '%s'; it takes host or cuda", target);
  expansion e = {.pass = pass, .tables = {{functions, TP_LEN(functions)}}, .n_tables = for_gpu ? 2 : 1, .contracts = !for_gpu};
  if (for_gpu)
    e.tables[1].rows = tp__math_for_gpus(&e.tables[1].n);
  tp_status status;
  do { /* functions that are added use others */
    e.ops.n = 0;
    status = tp__walk(pass->module, collect, &e);
    for (size_t i = 0; i < e.ops.n && status == TP_OK; i++)
      status = expand(&e, e.ops.items[i]);
  } while (status == TP_OK && e.ops.n > 0);
  tp__free(e.ops.items);
  return status;
}

static const tp_option_row options[] = {
    {"target", "host",
     "host, or cuda: also pow, sin, cos, exp2, log2, log10, round of f32, exp, log, tanh, round of f64, and arith.remf"},
};

static const tp_statistic_row statistics[] = {{"expanded", "calls of libm avoided"}};

const tp_pass_row tp__expand_math_row = {
    .name = "tp-expand-math",
    .summary = "exp, log, tanh, erf, log1p and expm1 of f32 as arithmetic, so that loops around them are vectorised",
    .description =
        "Requires: math on numbers; narrower floats have been widened. Establishes: each such op is a call of a private "
        "function "
        "without branches, which the compiler inlines; arith.maximumf and minimumf are intrinsics of LLVM. Other functions and "
        "f64 stay calls of libm. Breaks: nothing; results "
        "differ from libm's by a few units of the last place, equally at every place of a tensor.",
    .options = options,
    .n_options = TP_LEN(options),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
