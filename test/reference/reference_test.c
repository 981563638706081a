/* Tests the evaluator against numbers computed by hand. */
#include "evaluated.h"

#include <sys/resource.h>

/* Strides and diagonals keep the init in elements that they do not write; if the init is undefined,
 * these are unknown. */
static void test_places(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(&f, "func.func @main() -> (tensor<5xi32>, tensor<2x2xi32>) {\n"
               "  %a = arith.constant dense<[3, 4]> : tensor<2xi32>\n"
               "  %s = arith.constant dense<7> : tensor<5xi32>\n"
               "  %e = tensor.empty() : tensor<2x2xi32>\n"
               "  %0, %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, "
               "affine_map<(d0) -> (d0 * 2 + 1)>,\n"
               "      affine_map<(d0) -> (d0, d0)>], iterator_types = [\"parallel\"]}\n"
               "      ins(%a : tensor<2xi32>) outs(%s, %e : tensor<5xi32>, tensor<2x2xi32>) {\n"
               "  ^bb0(%in: i32, %o: i32, %p: i32):\n"
               "    %i = linalg.index 0 : index\n    %j = arith.index_cast %i : index to i32\n"
               "    %x = arith.addi %in, %o : i32\n    %y = arith.subi %in, %j : i32\n"
               "    linalg.yield %x, %y : i32, i32\n"
               "  } -> (tensor<5xi32>, tensor<2x2xi32>)\n"
               "  return %0, %1 : tensor<5xi32>, tensor<2x2xi32>\n}\n");
  expect_integers(&f, 0, 5, (int64_t[]){7, 10, 7, 11, 7});
  expect_integers(&f, 1, 4, (int64_t[]){3, INT64_MAX, INT64_MAX, 3});
  clear(&f);
}

/* Integers wrap at their width, and are signed or not as the op says. */
static void test_widths(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(&f, "func.func @main() -> (tensor<3xi8>, tensor<3xi8>, tensor<3xi32>) {\n"
               "  %a = arith.constant dense<[100, -100, -1]> : tensor<3xi8>\n"
               "  %0 = arith.addi %a, %a : tensor<3xi8>\n"
               "  %b = arith.constant dense<1> : tensor<3xi8>\n"
               "  %1 = arith.maxui %a, %b : tensor<3xi8>\n"
               "  %2 = arith.extui %a : tensor<3xi8> to tensor<3xi32>\n"
               "  return %0, %1, %2 : tensor<3xi8>, tensor<3xi8>, tensor<3xi32>\n}\n");
  expect_integers(&f, 0, 3, (int64_t[]){-56, 56, -2});
  expect_integers(&f, 1, 3, (int64_t[]){100, -100, -1});
  expect_integers(&f, 2, 3, (int64_t[]){100, 156, 255});
  clear(&f);
  evaluate(&f, "func.func @main() -> (tensor<3xi8>, tensor<2xi8>, tensor<3xf32>) {\n"
               "  %a = arith.constant dense<[100, -100, -1]> : tensor<3xi8>\n"
               "  %b = arith.constant dense<7> : tensor<3xi8>\n  %0 = arith.ceildivui %a, %b : "
               "tensor<3xi8>\n"
               "  %c = arith.constant dense<[200.7, -3.0]> : tensor<2xf32>\n"
               "  %1 = arith.fptoui %c : tensor<2xf32> to tensor<2xi8>\n"
               "  %d = arith.constant dense<[0.5, 1.0, 2.0]> : tensor<3xf32>\n  %2 = math.asin %d "
               ": tensor<3xf32>\n"
               "  return %0, %1, %2 : tensor<3xi8>, tensor<2xi8>, tensor<3xf32>\n}\n");
  expect_integers(&f, 0, 3, (int64_t[]){15, 23, 37});
  expect_integers(&f, 1, 2, (int64_t[]){-56, INT64_MAX});
  double value;
  assert_true(tp_reference_value(f.results, 2, 0, &value, NULL) &&
              fabs(value - 0.5235987755982989) < 1e-12);
  assert_true(tp_reference_value(f.results, 2, 2, &value, NULL) && isnan(value));
  clear(&f);
}

/* Counts of bits, powers, sums with a carry, products in two halves. */
static void test_bits(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(&f, "func.func @main() -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, "
               "tensor<4xi8>, tensor<4xi1>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {\n"
               "  %a = arith.constant dense<[0, 1, -128, 100]> : tensor<4xi8>\n"
               "  %b = arith.constant dense<[3, -2, 2, 3]> : tensor<4xi8>\n"
               "  %0 = math.ctlz %a : tensor<4xi8>\n  %1 = math.cttz %a : tensor<4xi8>\n"
               "  %2 = math.ctpop %b : tensor<4xi8>\n  %3 = math.ipowi %a, %b : tensor<4xi8>\n"
               "  %4, %5 = arith.addui_extended %a, %b : tensor<4xi8>, tensor<4xi1>\n"
               "  %6, %7 = arith.mulsi_extended %a, %b : tensor<4xi8>\n"
               "  %8, %9 = arith.mului_extended %a, %b : tensor<4xi8>\n"
               "  return %0, %1, %2, %3, %4, %5, %6, %7, %9 : tensor<4xi8>, tensor<4xi8>, "
               "tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi1>, tensor<4xi8>, "
               "tensor<4xi8>, tensor<4xi8>\n}\n");
  expect_integers(&f, 0, 4, (int64_t[]){8, 7, 0, 1});
  expect_integers(&f, 1, 4, (int64_t[]){8, 0, 7, 2});
  expect_integers(&f, 2, 4, (int64_t[]){2, 7, 1, 2});
  expect_integers(&f, 3, 4, (int64_t[]){0, 1, 0, 64}); /* 100^3 = 1,000,000 = 64 mod 256 */
  expect_integers(&f, 4, 4, (int64_t[]){3, -1, -126, 103});
  expect_integers(&f, 5, 4, (int64_t[]){0, 0, 0, 0});
  expect_integers(&f, 6, 4, (int64_t[]){0, -2, 0, 44});
  expect_integers(&f, 7, 4, (int64_t[]){0, -1, -1, 1});
  expect_integers(&f, 8, 4, (int64_t[]){0, 0, 1, 1});
  clear(&f);
  evaluate(&f, "func.func @main() -> (i8, i1, tensor<2xi32>, tensor<2xf32>, tensor<3xi16>) {\n"
               "  %a = arith.constant -1 : i8\n  %b = arith.constant 2 : i8\n"
               "  %0, %1 = arith.addui_extended %a, %b : i8, i1\n"
               "  %c = arith.constant dense<[1.0, -0.0]> : tensor<2xf32>\n"
               "  %2 = arith.bitcast %c : tensor<2xf32> to tensor<2xi32>\n"
               "  %3 = arith.bitcast %2 : tensor<2xi32> to tensor<2xf32>\n"
               "  %h = arith.constant dense<[1.5, -2.0, 6.1e-5]> : tensor<3xf16>\n"
               "  %4 = arith.bitcast %h : tensor<3xf16> to tensor<3xi16>\n"
               "  return %0, %1, %2, %3, %4 : i8, i1, tensor<2xi32>, tensor<2xf32>, "
               "tensor<3xi16>\n}\n");
  expect_integers(&f, 0, 1, (int64_t[]){1});
  expect_integers(&f, 1, 1, (int64_t[]){-1});
  expect_integers(&f, 2, 2, (int64_t[]){0x3f800000, INT32_MIN});
  expect_numbers(&f, 3, 2, (double[]){1, -0.0});
  expect_integers(&f, 4, 3, (int64_t[]){0x3e00, (int16_t)0xc000, 0x03ff});
  clear(&f);
}

/* Complex functions of exact numbers, clamping, both results of sincos, rounding by truncf. */
static void test_functions(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(&f, "func.func @main() -> (complex<f64>, complex<f64>, complex<f64>, f64, f64, "
               "complex<f64>, complex<f64>, i1, i1) {\n"
               "  %z = complex.constant [3.0, 4.0] : complex<f64>\n"
               "  %w = complex.constant [0.0, 3.141592653589793] : complex<f64>\n"
               "  %n = arith.constant -2 : i32\n"
               "  %0 = complex.exp %w : complex<f64>\n  %1 = complex.sqrt %z : complex<f64>\n"
               "  %2 = complex.div %z, %1 : complex<f64>\n  %3 = complex.abs %z : complex<f64>\n"
               "  %4 = complex.angle %w : complex<f64>\n  %5 = complex.sign %z : complex<f64>\n"
               "  %6 = complex.powi %z, %n : complex<f64>, i32\n"
               "  %7 = complex.eq %z, %z : complex<f64>\n  %8 = complex.neq %z, %z : "
               "complex<f64>\n"
               "  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : complex<f64>, complex<f64>, "
               "complex<f64>, f64, f64, complex<f64>, complex<f64>, i1, i1\n}\n");
  expect_numbers(&f, 0, 2, (double[]){-1, 0});
  expect_numbers(&f, 1, 2, (double[]){2, 1});
  expect_numbers(&f, 2, 2, (double[]){2, 1});
  expect_numbers(&f, 3, 1, (double[]){5});
  expect_numbers(&f, 4, 1, (double[]){1.5707963267948966});
  expect_numbers(&f, 5, 2, (double[]){0.6, 0.8});
  expect_numbers(&f, 6, 2, (double[]){-7.0 / 625, -24.0 / 625});
  expect_integers(&f, 7, 1, (int64_t[]){-1});
  expect_integers(&f, 8, 1, (int64_t[]){0});
  clear(&f);
  const tp_reference_options exact = {.size = sizeof exact, .without_bounds = true};
  assert_int_equal(
      evaluate_with(&f,
                    "func.func @main() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, "
                    "tensor<4xf8E4M3FN>, tensor<4xbf16>) {\n"
                    "  %x = arith.constant dense<[-2.0, 0.25, 465.0, 0x7FC00000]> : "
                    "tensor<4xf32>\n"
                    "  %l = arith.constant dense<-1.0> : tensor<4xf32>\n  %h = arith.constant "
                    "dense<0.5> : tensor<4xf32>\n"
                    "  %0 = math.clampf %x to [%l, %h] : tensor<4xf32>\n"
                    "  %1, %2 = math.sincos %l : tensor<4xf32>\n"
                    "  %3 = arith.truncf %x : tensor<4xf32> to tensor<4xf8E4M3FN>\n"
                    "  %m = arith.constant dense<[1.00390625, 1.01171875, 3.4e38, -1.0e-3]> : "
                    "tensor<4xf32>\n"
                    "  %4 = arith.truncf %m : tensor<4xf32> to tensor<4xbf16>\n"
                    "  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, "
                    "tensor<4xf8E4M3FN>, tensor<4xbf16>\n}\n",
                    NULL, &exact),
      TP_OK);
  expect_numbers(&f, 0, 4, (double[]){-1, 0.25, 0.5, NAN});
  const double s = -0.8414709848078965, c = 0.5403023058681398;
  expect_numbers(&f, 1, 4, (double[]){s, s, s, s});
  expect_numbers(&f, 2, 4, (double[]){c, c, c, c});
  expect_numbers(&f, 3, 4, (double[]){-2, 0.25, NAN, NAN}); /* 464 is the largest that rounds */
  expect_numbers(&f, 4, 4, (double[]){1, 1.015625, INFINITY, -0x1.06p-10}); /* ties to even */
  clear(&f);
}

/* The logarithm in atan2 makes relative errors absolute ones. 0 to a complex power is open. */
static void test_complex_errors(void **state) {
  (void)state;
  fixture f = {0};
  double value, error;
  evaluate(&f, "func.func @main() -> (complex<f32>, complex<f32>, complex<f32>) {\n"
               "  %y = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>\n"
               "  %x = complex.constant [3.0 : f32, 0.0 : f32] : complex<f32>\n"
               "  %c = complex.constant [2.0 : f32, 1.0 : f32] : complex<f32>\n"
               "  %0 = complex.atan2 %y, %x : complex<f32>\n"
               "  %1 = complex.pow %y, %c : complex<f32>\n"
               "  %2 = complex.pow %y, %x : complex<f32>\n"
               "  return %0, %1, %2 : complex<f32>, complex<f32>, complex<f32>\n}\n");
  assert_true(tp_reference_value(f.results, 0, 0, &value, &error));
  assert_true(value == 0 && error > 1e-7 && error < 1e-5);
  assert_false(tp_reference_value(f.results, 1, 0, &value, &error));
  assert_true(tp_reference_value(f.results, 2, 0, &value, &error) && value == 0);
  clear(&f);
}

/* Loops that carry two values and swap them; a branch on the counter. */
static void test_flow(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(
      &f,
      "func.func private @twice(%x: i32) -> i32 {\n  %0 = arith.addi %x, %x : i32\n  return %0 : "
      "i32\n}\n"
      "func.func @main() -> (i32, i32) {\n"
      "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
      "  %c3 = arith.constant 3 : index\n  %x = arith.constant 1 : i32\n  %y = arith.constant 10 : "
      "i32\n"
      "  %0, %1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (i32, i32) {\n"
      "    %is = arith.cmpi eq, %i, %c1 : index\n"
      "    %n = scf.if %is -> (i32) {\n      %t = func.call @twice(%a) : (i32) -> i32\n"
      "      scf.yield %t : i32\n    } else {\n      scf.yield %a : i32\n    }\n"
      "    scf.yield %b, %n : i32, i32\n  }\n"
      "  return %0, %1 : i32, i32\n}\n");
  expect_integers(&f, 0, 1, (int64_t[]){20}); /* (1, 10), (10, 1), (1, 20), (20, 1) */
  expect_integers(&f, 1, 1, (int64_t[]){1});
  clear(&f);
}

/* A switch takes the case with the value of its operand, wherever it stands, or the default. */
static void test_switch(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(&f, "func.func @main() -> i32 {\n"
               "  %cm = arith.constant -2 : index\n  %c1 = arith.constant 1 : index\n"
               "  %c3 = arith.constant 3 : index\n  %x = arith.constant 0 : i32\n"
               "  %ten = arith.constant 10 : i32\n  %d1 = arith.constant 1 : i32\n"
               "  %d2 = arith.constant 2 : i32\n  %d3 = arith.constant 3 : i32\n"
               "  %0 = scf.for %i = %cm to %c3 step %c1 iter_args(%a = %x) -> i32 {\n"
               "    %d = scf.index_switch %i -> i32\n"
               "    case 1 {\n      scf.yield %d1 : i32\n    }\n"
               "    case -2 {\n      scf.yield %d2 : i32\n    }\n"
               "    default {\n      scf.yield %d3 : i32\n    }\n"
               "    %b = arith.muli %a, %ten : i32\n    %c = arith.addi %b, %d : i32\n"
               "    scf.yield %c : i32\n  }\n"
               "  return %0 : i32\n}\n");
  expect_integers(&f, 0, 1, (int64_t[]){23313}); /* -2, -1, 0, 1, 2 */
  clear(&f);
}

/* Whole numbers are exact up to the precision of the significand; otherwise every addition may
 * round, relative to the operands. */
static void test_errors(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(&f, "func.func @main() -> (tensor<f32>, tensor<f32>, tensor<1xf16>) {\n"
               "  %a = arith.constant dense<[1.0, 2.0, -4.0]> : tensor<3xf32>\n"
               "  %b = arith.constant dense<[0.1, 1000.0, -1000.0]> : tensor<3xf32>\n"
               "  %z = arith.constant dense<0.0> : tensor<f32>\n"
               "  %0 = linalg.reduce { arith.addf } ins(%a : tensor<3xf32>) outs(%z : tensor<f32>) "
               "dimensions = [0]\n"
               "  %1 = linalg.reduce { arith.addf } ins(%b : tensor<3xf32>) outs(%z : tensor<f32>) "
               "dimensions = [0]\n"
               "  %h = arith.constant dense<2048.0> : tensor<1xf16>\n"
               "  %2 = arith.addf %h, %h : tensor<1xf16>\n"
               "  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<1xf16>\n}\n");
  double value, error;
  assert_true(tp_reference_value(f.results, 0, 0, &value, &error) && value == -1 && error == 0);
  assert_true(tp_reference_value(f.results, 1, 0, &value, &error) && error > 1000 * 0x1p-24 &&
              error < 1e-3);
  tp_reference_judgement judgement;
  tp_reference_judge(f.results, 1, &(float){0.1f + 3e-5f}, &judgement);
  assert_int_equal(judgement.first_wrong, -1);
  tp_reference_judge(f.results, 1, &(float){0.11f}, &judgement);
  assert_int_equal(judgement.first_wrong, 0);
  assert_non_null(strstr(judgement.text, "0.109999999, but the evaluator computes 0.1"));
  assert_true(fabs(judgement.error - 0.01) < 1e-6 && fabs(judgement.largest - 0.1) < 1e-6 &&
              judgement.n_known == 1);
  /* beyond 2^11, in f16 */
  assert_true(tp_reference_value(f.results, 2, 0, &value, &error) && value == 4096 && error > 0);
  clear(&f);
}

/* If a sum is divided before the all-reduce, twelfths are rounded, and quarters are not. */
static void test_quotients(void **state) {
  (void)state;
  fixture f;
  evaluate(&f, "func.func @main() -> (tensor<f32>, tensor<f32>) {\n"
               "  %a = arith.constant dense<-12.0> : tensor<f32>\n"
               "  %b = arith.constant dense<4.0> : tensor<f32>\n"
               "  %0 = arith.divf %a, %a : tensor<f32>\n  %1 = arith.divf %a, %b : tensor<f32>\n"
               "  return %0, %1 : tensor<f32>, tensor<f32>\n}\n");
  double value, error;
  assert_true(tp_reference_value(f.results, 0, 0, &value, &error) && value == 1 && error > 0 &&
              error < 1e-6);
  assert_true(tp_reference_value(f.results, 1, 0, &value, &error) && value == -3 && error == 0);
  clear(&f);
}

/* ---- Structured ops, in their three implementations ---- */

/* c = a b + c0 over data that round, where `body` computes a product %p of %x and %y. */
static void product(fixture *f, const char *body, const float *a, const float *b) {
  char program[2000];
  snprintf(
      program, sizeof program,
      "func.func @main(%%a: tensor<5x70xf32>, %%b: tensor<70x67xf32>) -> tensor<5x67xf32> {\n"
      "  %%z = arith.constant dense<0.5> : tensor<5x67xf32>\n  %%one = arith.constant 1.0 : f32\n"
      "  %%0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, "
      "k) -> (k, j)>,\n"
      "    affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", "
      "\"reduction\"]}\n"
      "    ins(%%a, %%b : tensor<5x70xf32>, tensor<70x67xf32>) outs(%%z : tensor<5x67xf32>) {\n"
      "  ^bb0(%%x: f32, %%y: f32, %%o: f32):\n%s    %%s = arith.addf %%o, %%p : f32\n    "
      "linalg.yield %%s : f32\n"
      "  } -> tensor<5x67xf32>\n  return %%0 : tensor<5x67xf32>\n}\n",
      body);
  assert_int_equal(evaluate_with(f, program, (const void *const[]){a, b}, NULL), TP_OK);
}

/* The matmul, lane and scalar implementations agree, with similar bounds. */
static void test_ways(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "    %p = arith.mulf %x, %y : f32\n",
      "    %q = arith.mulf %x, %one : f32\n    %p = arith.mulf %q, %y : f32\n",
      "    %t = arith.constant true\n    %p = scf.if %t -> f32 {\n"
      "      %q = arith.mulf %x, %y : f32\n      scf.yield %q : f32\n    } else {\n"
      "      scf.yield %one : f32\n    }\n"};
  float a[5 * 70], b[70 * 67];
  for (int i = 0; i < 5 * 70; i++)
    a[i] = (float)sin(i);
  for (int i = 0; i < 70 * 67; i++)
    b[i] = (float)cos(3 * i);
  for (int way = 0; way < 4; way++) {
    fixture f;
    /* an infinity in a matmul: the matmul implementation leaves it to the lanes */
    a[7] = way == 3 ? INFINITY : a[7];
    product(&f, bodies[way % 3], a, b);
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 67; j++) {
        double sum = 0.5, magnitudes = 0.5, value, error;
        for (int k = 0; k < 70; k++) {
          sum += (double)a[i * 70 + k] * b[k * 67 + j];
          magnitudes += fabs((double)a[i * 70 + k] * b[k * 67 + j]);
        }
        assert_true(tp_reference_value(f.results, 0, i * 67 + j, &value, &error));
        assert_true(value == sum || fabs(value - sum) < 1e-13);
        if (isfinite(sum))
          assert_true(error > 10 * 0x1p-24 * magnitudes && error < 150 * 0x1p-24 * magnitudes);
      }
    clear(&f);
  }
}

/* Batches, a window, and a permuted result, with whole numbers: exact. */
static void test_contractions(void **state) {
  (void)state;
  fixture f;
  float a[2 * 3 * 4], b[2 * 4 * 5];
  for (int i = 0; i < 2 * 3 * 4; i++)
    a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < 2 * 4 * 5; i++)
    b[i] = (float)(i % 5 - 2);
  assert_int_equal(
      evaluate_with(
          &f,
          "#a = affine_map<(h, i, j, k) -> (h, i, k)>\n#b = affine_map<(h, i, j, k) -> (h, k, j)>\n"
          "#c = affine_map<(h, i, j, k) -> (j, h, i)>\n"
          "#x = affine_map<(i, k) -> (i + k)>\n#w = affine_map<(i, k) -> (k)>\n#y = affine_map<(i, "
          "k) -> (i)>\n"
          "func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> (tensor<5x2x3xf32>, "
          "tensor<16xf32>) {\n"
          "  %z = arith.constant dense<1.0> : tensor<5x2x3xf32>\n  %v = arith.constant dense<0.0> "
          ": tensor<16xf32>\n"
          "  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<2x3x4xf32>, "
          "tensor<2x4x5xf32>)\n"
          "    outs(%z : tensor<5x2x3xf32>) -> tensor<5x2x3xf32>\n"
          "  %x = tensor.collapse_shape %a [[0, 1, 2]] : tensor<2x3x4xf32> into tensor<24xf32>\n"
          "  %s = tensor.extract_slice %x[0] [18] [1] : tensor<24xf32> to tensor<18xf32>\n"
          "  %w = arith.constant dense<[1.0, -2.0, 4.0]> : tensor<3xf32>\n"
          "  %1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = [\"parallel\", "
          "\"reduction\"]}\n"
          "    ins(%s, %w : tensor<18xf32>, tensor<3xf32>) outs(%v : tensor<16xf32>) {\n"
          "  ^bb0(%p: f32, %q: f32, %o: f32):\n    %m = arith.mulf %p, %q : f32\n    %n = "
          "arith.addf %m, %o : f32\n"
          "    linalg.yield %n : f32\n  } -> tensor<16xf32>\n"
          "  return %0, %1 : tensor<5x2x3xf32>, tensor<16xf32>\n}\n",
          (const void *const[]){a, b}, NULL),
      TP_OK);
  int64_t expected[30], windows[16];
  for (int h = 0; h < 2; h++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 5; j++) {
        double sum = 1;
        for (int k = 0; k < 4; k++)
          sum += (double)a[(h * 3 + i) * 4 + k] * (double)b[(h * 4 + k) * 5 + j];
        expected[(j * 2 + h) * 3 + i] = (int64_t)sum;
      }
  for (int i = 0; i < 16; i++)
    windows[i] = (int64_t)(a[i] - 2 * a[i + 1] + 4 * a[i + 2]);
  expect_integers(&f, 0, 30, expected);
  expect_integers(&f, 1, 16, windows);
  clear(&f);
}

/* Elements of all float types, of a resource, and a softmax. */
static void test_elements(void **state) {
  (void)state;
  fixture f;
  uint16_t half[] = {0x3c00, 0xc000, 0x0001}, brain[] = {0x3f80, 0xc000, 0x7f80};
  uint8_t eighth[] = {0x38, 0xc0, 0x01}, truth[] = {1, 0, 1};
  assert_int_equal(
      evaluate_with(
          &f,
          "func.func @main(%a: tensor<3xf16>, %b: tensor<3xbf16>, %c: tensor<3xf8E4M3FN>, %d: "
          "tensor<3xi1>, %e: i16)\n"
          "    -> (tensor<3xf16>, tensor<3xbf16>, tensor<3xf8E4M3FN>, tensor<3xi1>, i16, "
          "tensor<2xf32>, tensor<2x2xf32>) {\n"
          "  %r = arith.constant dense_resource<two> : tensor<2xf32>\n"
          "  %s = arith.constant dense<[[0.0, 1.0], [1000.0, 1000.0]]> : tensor<2x2xf32>\n"
          "  %n = tensor.empty() : tensor<2x2xf32>\n"
          "  %0 = linalg.softmax dimension(1) ins(%s : tensor<2x2xf32>) outs(%n : tensor<2x2xf32>) "
          "-> tensor<2x2xf32>\n"
          "  return %a, %b, %c, %d, %e, %r, %0 : tensor<3xf16>, tensor<3xbf16>, "
          "tensor<3xf8E4M3FN>, tensor<3xi1>, i16,\n"
          "    tensor<2xf32>, tensor<2x2xf32>\n}\n"
          "{-# dialect_resources: { builtin: { two: \"0x040000000000803F00000040\" } } #-}\n",
          (const void *const[]){half, brain, eighth, truth, &(int16_t){-5}}, NULL),
      TP_OK);
  const double expected[][4] = {{1, -2, 0x1p-24},
                                {1, -2, INFINITY},
                                {1, -2, 0x1p-9},
                                {-1, 0, -1},
                                {-5},
                                {1, 2},
                                {1 / (1 + exp(1)), exp(1) / (1 + exp(1)), 0.5, 0.5}};
  for (int k = 0; k < 7; k++)
    for (int64_t i = 0; i < tp_reference_count(f.results, k); i++) {
      double value;
      assert_true(tp_reference_value(f.results, k, i, &value, NULL));
      assert_true(value == expected[k][i] || fabs(value - expected[k][i]) < 1e-12);
    }
  tp_reference_judgement judgement;
  tp_reference_judge(f.results, 0, half, &judgement);
  assert_true(judgement.first_wrong == -1 && judgement.error == 0 && judgement.largest == 2);
  clear(&f);
}

/* A loop that creates far more tensors than are live at once: tensors without further uses are
 * freed. */
static void test_memory(void **state) {
  (void)state;
  fixture f;
  evaluate(&f, "func.func @main() -> tensor<1xf32> {\n"
               "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %n = "
               "arith.constant 100 : index\n"
               "  %x = arith.constant dense<1.0> : tensor<262144xf32>\n"
               "  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<262144xf32> {\n"
               "    %b = arith.addf %a, %x : tensor<262144xf32>\n    %c = arith.subf %b, %x : "
               "tensor<262144xf32>\n"
               "    %d = arith.addf %c, %x : tensor<262144xf32>\n    scf.yield %d : "
               "tensor<262144xf32>\n  }\n"
               "  %1 = tensor.extract_slice %0[5] [1] [1] : tensor<262144xf32> to tensor<1xf32>\n"
               "  return %1 : tensor<1xf32>\n}\n"); /* 300 tensors of 8 MiB */
  double value;
  assert_true(tp_reference_value(f.results, 0, 0, &value, NULL) && value == 101);
  clear(&f);
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  assert_true(use.ru_maxrss < 700 * 1024); /* KiB; all tensors together take 2.4 GiB */
  const char *large =
      "func.func @main() -> tensor<f32> {\n  %z = arith.constant 0.0 : f32\n"
      "  %e = tensor.splat %z : tensor<35184372088832xf32>\n  %i = arith.constant 0 : index\n"
      "  %x = tensor.extract %e[%i] : tensor<35184372088832xf32>\n  %0 = tensor.splat %x : "
      "tensor<f32>\n"
      "  return %0 : tensor<f32>\n}\n";
  assert_int_equal(evaluate_with(&f, large, NULL, NULL), TP_NO_MEMORY);
  assert_string_equal(f.why, "memory ran out");
  clear(&f);
}

static int stop_at(void *user, double steps) {
  *(double *)user = steps;
  return steps > 10e6;
}

static void test_limits(void **state) {
  (void)state;
  fixture f;
  double seen = 0;
  tp_reference_options options = {.size = sizeof options, .max_steps = 1000};
  const char *program =
      "func.func @main() -> tensor<1048576xf32> {\n"
      "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
      "  %n = arith.constant 1000000 : index\n  %x = arith.constant dense<1.0> : "
      "tensor<1048576xf32>\n"
      "  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<1048576xf32> {\n"
      "    %b = arith.mulf %a, %x : tensor<1048576xf32>\n    scf.yield %b : tensor<1048576xf32>\n  "
      "}\n"
      "  return %0 : tensor<1048576xf32>\n}\n";
  assert_int_equal(evaluate_with(&f, program, NULL, &options), TP_UNSUPPORTED);
  assert_string_equal(f.why, "arith.mulf: takes too many steps");
  clear(&f);
  options = (tp_reference_options){.size = sizeof options, .progress = stop_at, .user = &seen};
  assert_int_equal(evaluate_with(&f, program, NULL, &options), TP_UNSUPPORTED);
  assert_string_equal(f.why, "arith.mulf: was stopped");
  assert_true(seen > 10e6 && seen < 20e6);
  clear(&f);
  /* options of an older header, whose size ends before `progress`: there is no callback, and the
   * limit applies */
  seen = 0;
  options.max_steps = 20e6;
  options.size = offsetof(tp_reference_options, progress);
  assert_int_equal(evaluate_with(&f, program, NULL, &options), TP_UNSUPPORTED);
  assert_string_equal(f.why, "arith.mulf: takes too many steps");
  assert_true(seen == 0);
  clear(&f);
}

static void test_options(void **state) {
  (void)state;
  fixture f;
  const char *program = "func.func @main() {\n  return\n}\n";
  tp_reference_options options = {.size = sizeof options, .with_noise = TP_NOISES + 1};
  assert_int_equal(evaluate_with(&f, program, NULL, &options), TP_INVALID_ARGUMENT);
  assert_string_equal(f.why, "with_noise is 5; it must be 0 to 4");
  clear(&f);
  options.size = 0;
  assert_int_equal(evaluate_with(&f, program, NULL, &options), TP_INVALID_ARGUMENT);
  assert_string_equal(f.why,
                      "the size of the options is 0; set it to sizeof(tp_reference_options)");
  clear(&f);
}

/* The caller passes no data for an argument with tp.constant: the program holds its value. */
static void test_constant_argument(void **state) {
  (void)state;
  fixture f;
  const int32_t x[] = {1, 2};
  const void *const inputs[] = {x, NULL, NULL};
  const char *program =
      "func.func @main(%x: tensor<2xi32>, %c: tensor<2xi32> {tp.constant = dense<[3, 4]> : "
      "tensor<2xi32>}, %s: tensor<2xi32> {tp.constant = dense<5> : tensor<2xi32>}) -> "
      "tensor<2xi32> {\n"
      "  %0 = arith.addi %x, %c : tensor<2xi32>\n  %1 = arith.addi %0, %s : tensor<2xi32>\n"
      "  return %1 : tensor<2xi32>\n}\n";
  assert_int_equal(evaluate_with(&f, program, inputs, NULL), TP_OK);
  expect_integers(&f, 0, 2, (const int64_t[]){9, 11});
  clear(&f);
}

/* Undefined behavior of the program and unsupported programs are distinguished. */
static void test_open(void **state) {
  (void)state;
  fixture f = {0};
  const char *head =
      "func.func @main() -> tensor<2xi32> {\n  %a = arith.constant dense<1> : tensor<2xi32>\n";
  char program[600];
  snprintf(program, sizeof program,
           "%s  %%i = arith.constant 2 : index\n  %%x = tensor.extract %%a[%%i] : tensor<2xi32>\n"
           "  %%0 = tensor.splat %%x : tensor<2xi32>\n  return %%0 : tensor<2xi32>\n}\n",
           head);
  assert_int_equal(evaluate_with(&f, program, NULL, NULL), TP_INVALID_ARGUMENT);
  assert_string_equal(f.why, "tensor.extract: is outside of the tensor");
  clear(&f);
  snprintf(
      program, sizeof program,
      "%s  %%0 = bufferization.alloc_tensor() : tensor<2xi32>\n  return %%0 : tensor<2xi32>\n}\n",
      head);
  assert_int_equal(evaluate_with(&f, program, NULL, NULL), TP_UNSUPPORTED);
  assert_string_equal(f.why, "bufferization.alloc_tensor: copies no tensor");
  clear(&f);
  snprintf(program, sizeof program,
           "%s  %%0 = bufferization.materialize_in_destination %%a in %%a\n"
           "    : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>\n"
           "  return %%0 : tensor<2xi32>\n}\n",
           head);
  assert_int_equal(evaluate_with(&f, program, NULL, NULL), TP_UNSUPPORTED);
  assert_string_equal(f.why, "bufferization.materialize_in_destination: is not supported by the "
                             "evaluator");
  clear(&f);
  assert_int_equal(evaluate_with(&f, "func.func @other() {\n  return\n}\n", NULL, NULL),
                   TP_NOT_FOUND);
  assert_string_equal(f.why, "builtin.module: refers to function 'main', which is missing or does "
                             "not consist of one block");
  clear(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_widths),
      cmocka_unit_test(test_flow),
      cmocka_unit_test(test_switch),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_quotients),
      cmocka_unit_test(test_ways),
      cmocka_unit_test(test_contractions),
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_constant_argument),
      cmocka_unit_test(test_open),
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_complex_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
