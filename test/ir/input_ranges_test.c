/* Tests tp_input_ranges: deviations of weights, signs under roots, bounds of indices. */
#include "tp/inputs.h"
#include "tp/passes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_ARGUMENTS = 8 };

/* Fills the ranges of main's arguments. */
static void measure(const char *program, tp_input_range *ranges) {
  MlirContext context = mlirContextCreateWithThreading(false);
  tp_context_prepare(context);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(program));
  assert_false(mlirModuleIsNull(module));
  assert_int_equal(tp_input_ranges(module, "main", ranges), TP_OK);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

static void expect_fan_in(const tp_input_range *range, double fan_in) {
  assert_true(fabs(range->deviation - 1 / sqrt(fan_in)) < 1e-12);
}

/* The right operand is the weight, also if it is transposed and widened; with roles it is the
 * param, at any position. */
static void test_weights(void **state) {
  (void)state;
  tp_input_range r[MAX_ARGUMENTS];
  measure("#t = affine_map<(d0, d1) -> (d0, d1)>\n#s = affine_map<(d0, d1) -> (d1, d0)>\n"
          "func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %v: tensor<64x32xf16>) -> "
          "tensor<8x64xf32> {\n"
          "  %z = arith.constant dense<0.0> : tensor<8x32xf32>\n  %y = arith.constant dense<0.0> : "
          "tensor<8x64xf32>\n"
          "  %e = tensor.empty() : tensor<32x64xf32>\n"
          "  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%z : "
          "tensor<8x32xf32>) -> tensor<8x32xf32>\n"
          "  %1 = arith.extf %v : tensor<64x32xf16> to tensor<64x32xf32>\n"
          "  %2 = linalg.transpose ins(%1 : tensor<64x32xf32>) outs(%e : tensor<32x64xf32>) "
          "permutation = [1, 0]\n"
          "  %3 = linalg.matmul ins(%0, %2 : tensor<8x32xf32>, tensor<32x64xf32>) outs(%y : "
          "tensor<8x64xf32>) -> tensor<8x64xf32>\n"
          "  return %3 : tensor<8x64xf32>\n}\n",
          r);
  expect_fan_in(&r[0], 1);
  expect_fan_in(&r[1], 16);
  expect_fan_in(&r[2], 32);
  measure("func.func @main(%w: tensor<8x16xf32> {tp.role = \"param\"}, %x: tensor<16x32xf32>) -> "
          "tensor<8x32xf32> {\n"
          "  %z = arith.constant dense<0.0> : tensor<8x32xf32>\n"
          "  %0 = linalg.matmul ins(%w, %x : tensor<8x16xf32>, tensor<16x32xf32>) outs(%z : "
          "tensor<8x32xf32>) -> tensor<8x32xf32>\n"
          "  return %0 : tensor<8x32xf32>\n}\n",
          r);
  expect_fan_in(&r[0], 16);
  expect_fan_in(&r[1], 1);
}

/* Layers that a loop slices from a stack, in their own function; a window of a convolution. */
static void test_layers(void **state) {
  (void)state;
  tp_input_range r[MAX_ARGUMENTS];
  measure("func.func private @layer(%x: tensor<4x16xf32>, %w: tensor<16x16xf32>) -> "
          "tensor<4x16xf32> {\n"
          "  %z = arith.constant dense<0.0> : tensor<4x16xf32>\n"
          "  %0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%z : "
          "tensor<4x16xf32>) -> tensor<4x16xf32>\n"
          "  return %0 : tensor<4x16xf32>\n}\n"
          "func.func @main(%x: tensor<4x16xf32>, %w: tensor<6x16x16xf32>) -> tensor<4x16xf32> {\n"
          "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c6 = "
          "arith.constant 6 : index\n"
          "  %0 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x) -> tensor<4x16xf32> {\n"
          "    %l = tensor.extract_slice %w[%i, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<6x16x16xf32> "
          "to tensor<16x16xf32>\n"
          "    %y = func.call @layer(%h, %l) : (tensor<4x16xf32>, tensor<16x16xf32>) -> "
          "tensor<4x16xf32>\n"
          "    scf.yield %y : tensor<4x16xf32>\n  }\n  return %0 : tensor<4x16xf32>\n}\n",
          r);
  expect_fan_in(&r[0], 1);
  expect_fan_in(&r[1], 16);
  measure(
      "func.func @main(%x: tensor<2x6x6x3xf32>, %k: tensor<3x3x3x8xf32>) -> tensor<2x4x4x8xf32> {\n"
      "  %z = arith.constant dense<0.0> : tensor<2x4x4x8xf32>\n"
      "  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<2x6x6x3xf32>, tensor<3x3x3x8xf32>)\n"
      "    outs(%z : tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>\n  return %0 : "
      "tensor<2x4x4x8xf32>\n}\n",
      r);
  expect_fan_in(&r[0], 1);
  expect_fan_in(&r[1], 27);
}

/* An embedding, a position, a class, a sum of two, and a number that is not an index. */
static void test_indices(void **state) {
  (void)state;
  tp_input_range r[MAX_ARGUMENTS];
  measure(
      "#i = affine_map<(d0) -> (d0)>\n#o = affine_map<(d0, d1) -> (d0, d1)>\n#l = affine_map<(d0, "
      "d1) -> (d0)>\n"
      "func.func @main(%t: tensor<100x8xf32>, %ids: tensor<5xi64>, %at: index, %labels: "
      "tensor<5xi32>, %far: i32, %n: i32)\n"
      "    -> (tensor<5xf32>, tensor<20x8xf32>, tensor<5x7xf32>, i32, f32) {\n"
      "  %e = tensor.empty() : tensor<5xf32>\n  %z = arith.constant dense<0.0> : tensor<5x7xf32>\n"
      "  %c0 = arith.constant 0 : index\n  %one = arith.constant 1.0 : f32\n  %none = "
      "arith.constant 0.0 : f32\n"
      "  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = [\"parallel\"]} ins(%ids "
      ": tensor<5xi64>)\n"
      "    outs(%e : tensor<5xf32>) {\n  ^bb0(%id: i64, %x: f32):\n    %i = arith.index_cast %id : "
      "i64 to index\n"
      "    %v = tensor.extract %t[%i, %c0] : tensor<100x8xf32>\n    linalg.yield %v : f32\n  } -> "
      "tensor<5xf32>\n"
      "  %1 = tensor.extract_slice %t[%at, 0] [20, 8] [1, 1] : tensor<100x8xf32> to "
      "tensor<20x8xf32>\n"
      "  %2 = linalg.generic {indexing_maps = [#l, #o], iterator_types = [\"parallel\", "
      "\"parallel\"]}\n"
      "    ins(%labels : tensor<5xi32>) outs(%z : tensor<5x7xf32>) {\n  ^bb0(%c: i32, %x: f32):\n"
      "    %k = linalg.index 1 : index\n    %m = arith.index_cast %k : index to i32\n    %is = "
      "arith.cmpi eq, %c, %m : i32\n"
      "    %s = arith.select %is, %one, %none : f32\n    linalg.yield %s : f32\n  } -> "
      "tensor<5x7xf32>\n"
      "  %3 = arith.muli %n, %n : i32\n"
      "  %4 = arith.index_cast %far : i32 to index\n  %5 = arith.addi %4, %at : index\n"
      "  %6 = tensor.extract %t[%5, %c0] : tensor<100x8xf32>\n"
      "  return %0, %1, %2, %3, %6 : tensor<5xf32>, tensor<20x8xf32>, tensor<5x7xf32>, i32, "
      "f32\n}\n",
      r);
  const int64_t high[] = {-1, 99, 80, 6, 3, -1};
  for (int i = 1; i < 6; i++)
    assert_int_equal(r[i].high, high[i]);
}

/* A second moment is positive; a value that is squared before need not be. */
static void test_roots(void **state) {
  (void)state;
  tp_input_range r[MAX_ARGUMENTS];
  measure(
      "func.func @main(%v: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {\n"
      "  %b = arith.constant dense<0.9> : tensor<8xf32>\n  %0 = arith.mulf %v, %b : tensor<8xf32>\n"
      "  %1 = arith.mulf %g, %g : tensor<8xf32>\n  %2 = arith.addf %0, %1 : tensor<8xf32>\n"
      "  %3 = math.rsqrt %2 : tensor<8xf32>\n  %4 = arith.mulf %g, %3 : tensor<8xf32>\n  return %4 "
      ": tensor<8xf32>\n}\n",
      r);
  assert_true(r[0].is_positive);
  assert_false(r[1].is_positive);
}

static void test_missing(void **state) {
  (void)state;
  MlirContext context = mlirContextCreateWithThreading(false);
  tp_context_prepare(context);
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString("func.func private @main()\n"));
  tp_input_range r[MAX_ARGUMENTS];
  assert_int_equal(tp_input_ranges(module, "main", r), TP_NOT_FOUND);
  assert_int_equal(tp_input_ranges(module, NULL, r), TP_NOT_FOUND);
  mlirModuleDestroy(module);
  module = mlirModuleCreateParse(
      context,
      mlirStringRefCreateFromCString("func.func @only(%x: tensor<8xf32>) {\n  return\n}\n"));
  assert_int_equal(tp_input_ranges(module, NULL, r), TP_OK);
  assert_true(r[0].high < 0);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_weights), cmocka_unit_test(test_layers),
      cmocka_unit_test(test_indices), cmocka_unit_test(test_roots),
      cmocka_unit_test(test_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
