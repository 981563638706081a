/* The evaluator against numbers that were computed by hand. */
#include "reference.h"

#include "tp/passes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
  MlirContext context;
  MlirModule module;
  reference *reference;
  char why[200];
  tensor *results[4];
} fixture;

/* Evaluates `main`, which has no arguments. */
static bool evaluate(fixture *f, const char *program) {
  f->context = mlirContextCreateWithThreading(false);
  tp_context_prepare(f->context);
  f->module = mlirModuleCreateParse(f->context, mlirStringRefCreateFromCString(program));
  assert_false(mlirModuleIsNull(f->module));
  f->reference = reference_create(f->module, sizeof f->why, f->why);
  return reference_run(f->reference, "main", 0, NULL, f->results);
}

static void clear(fixture *f) {
  reference_destroy(f->reference);
  mlirModuleDestroy(f->module);
  mlirContextDestroy(f->context);
}

static void expect_integers(const tensor *t, int n, const int64_t *expected) {
  assert_int_equal(t->n, n);
  for (int i = 0; i < n; i++)
    if (expected[i] == INT64_MAX)
      assert_false(is_known(t->numbers + i));
    else
      assert_true(is_certain(t->numbers + i) && t->numbers[i].integer == expected[i]);
}

/* Strides and diagonals leave what they do not write; where the init has nothing, nothing is known. */
static void test_places(void **state) {
  (void)state;
  fixture f = {0};
  assert_true(
      evaluate(&f, "func.func @main() -> (tensor<5xi32>, tensor<2x2xi32>) {\n"
                   "  %a = arith.constant dense<[3, 4]> : tensor<2xi32>\n"
                   "  %s = arith.constant dense<7> : tensor<5xi32>\n"
                   "  %e = tensor.empty() : tensor<2x2xi32>\n"
                   "  %0, %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 * 2 + 1)>,\n"
                   "      affine_map<(d0) -> (d0, d0)>], iterator_types = [\"parallel\"]}\n"
                   "      ins(%a : tensor<2xi32>) outs(%s, %e : tensor<5xi32>, tensor<2x2xi32>) {\n"
                   "  ^bb0(%in: i32, %o: i32, %p: i32):\n"
                   "    %i = linalg.index 0 : index\n    %j = arith.index_cast %i : index to i32\n"
                   "    %x = arith.addi %in, %o : i32\n    %y = arith.subi %in, %j : i32\n"
                   "    linalg.yield %x, %y : i32, i32\n"
                   "  } -> (tensor<5xi32>, tensor<2x2xi32>)\n"
                   "  return %0, %1 : tensor<5xi32>, tensor<2x2xi32>\n}\n"));
  expect_integers(f.results[0], 5, (int64_t[]){7, 10, 7, 11, 7});
  expect_integers(f.results[1], 4, (int64_t[]){3, INT64_MAX, INT64_MAX, 3});
  clear(&f);
}

/* Integers wrap at their width, and are signed or not as the op says. */
static void test_widths(void **state) {
  (void)state;
  fixture f = {0};
  assert_true(evaluate(&f, "func.func @main() -> (tensor<3xi8>, tensor<3xi8>, tensor<3xi32>) {\n"
                           "  %a = arith.constant dense<[100, -100, -1]> : tensor<3xi8>\n"
                           "  %0 = arith.addi %a, %a : tensor<3xi8>\n"
                           "  %b = arith.constant dense<1> : tensor<3xi8>\n"
                           "  %1 = arith.maxui %a, %b : tensor<3xi8>\n"
                           "  %2 = arith.extui %a : tensor<3xi8> to tensor<3xi32>\n"
                           "  return %0, %1, %2 : tensor<3xi8>, tensor<3xi8>, tensor<3xi32>\n}\n"));
  expect_integers(f.results[0], 3, (int64_t[]){-56, 56, -2});
  expect_integers(f.results[1], 3, (int64_t[]){100, -100, -1});
  expect_integers(f.results[2], 3, (int64_t[]){100, 156, 255});
  clear(&f);
}

/* Loops that carry two values, which change places; a branch on the counter. */
static void test_flow(void **state) {
  (void)state;
  fixture f = {0};
  assert_true(evaluate(&f, "func.func private @twice(%x: i32) -> i32 {\n  %0 = arith.addi %x, %x : i32\n  return %0 : i32\n}\n"
                           "func.func @main() -> (i32, i32) {\n"
                           "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
                           "  %c3 = arith.constant 3 : index\n  %x = arith.constant 1 : i32\n  %y = arith.constant 10 : i32\n"
                           "  %0, %1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (i32, i32) {\n"
                           "    %is = arith.cmpi eq, %i, %c1 : index\n"
                           "    %n = scf.if %is -> (i32) {\n      %t = func.call @twice(%a) : (i32) -> i32\n"
                           "      scf.yield %t : i32\n    } else {\n      scf.yield %a : i32\n    }\n"
                           "    scf.yield %b, %n : i32, i32\n  }\n"
                           "  return %0, %1 : i32, i32\n}\n"));
  expect_integers(f.results[0], 1, (int64_t[]){20}); /* (1, 10), (10, 1), (1, 20), (20, 1) */
  expect_integers(f.results[1], 1, (int64_t[]){1});
  clear(&f);
}

/* Whole numbers are exact as far as the significand goes; elsewhere every addition may round, relative to what is added. */
static void test_errors(void **state) {
  (void)state;
  fixture f = {0};
  assert_true(evaluate(&f,
                       "func.func @main() -> (tensor<f32>, tensor<f32>, tensor<1xf16>) {\n"
                       "  %a = arith.constant dense<[1.0, 2.0, -4.0]> : tensor<3xf32>\n"
                       "  %b = arith.constant dense<[0.1, 1000.0, -1000.0]> : tensor<3xf32>\n"
                       "  %z = arith.constant dense<0.0> : tensor<f32>\n"
                       "  %0 = linalg.reduce { arith.addf } ins(%a : tensor<3xf32>) outs(%z : tensor<f32>) dimensions = [0]\n"
                       "  %1 = linalg.reduce { arith.addf } ins(%b : tensor<3xf32>) outs(%z : tensor<f32>) dimensions = [0]\n"
                       "  %h = arith.constant dense<2048.0> : tensor<1xf16>\n"
                       "  %2 = arith.addf %h, %h : tensor<1xf16>\n"
                       "  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<1xf16>\n}\n"));
  const number *sum = f.results[0]->numbers, *rough = f.results[1]->numbers, *half = f.results[2]->numbers;
  assert_true(is_certain(sum) && sum->value == -1);
  assert_true(rough->error > 1000 * 0x1p-24 && rough->error < 1e-3);
  number off = {.value = 0.1 + 3e-5, .reach = 1}, far = {.value = 0.11, .reach = 1};
  assert_true(is_right(kind_find("f32"), rough, &off));
  assert_false(is_right(kind_find("f32"), rough, &far));
  assert_true(half->value == 4096 && half->error > 0); /* beyond the 2^11 whole numbers of f16 */
  clear(&f);
}

/* Where a sum is divided before devices add their parts of it, twelfths are rounded, and quarters are not. */
static void test_quotients(void **state) {
  (void)state;
  const kind *k = kind_find("f32");
  number sum = real(k, -12), twelve = real(k, 12), four = real(k, 4);
  number rounded = divide(k, &sum, &twelve), exact = divide(k, &sum, &four), by_hand = real(k, -7.0f / 12.0f - 5.0f / 12.0f);
  assert_true(is_certain(&sum) && is_certain(&exact) && exact.value == -3);
  assert_true(rounded.value == -1 && rounded.error > 0 && rounded.error < 1e-6);
  assert_true(is_right(k, &rounded, &by_hand));
}

/* What the program does not define, or what is not evaluated, is told apart. */
static void test_open(void **state) {
  (void)state;
  fixture f = {0};
  const char *head = "func.func @main() -> tensor<2xi32> {\n  %a = arith.constant dense<1> : tensor<2xi32>\n";
  char program[600];
  snprintf(program, sizeof program,
           "%s  %%i = arith.constant 2 : index\n  %%x = tensor.extract %%a[%%i] : tensor<2xi32>\n"
           "  %%0 = tensor.splat %%x : tensor<2xi32>\n  return %%0 : tensor<2xi32>\n}\n",
           head);
  assert_false(evaluate(&f, program));
  assert_string_equal(f.why, "tensor.extract: is outside of the tensor");
  assert_false(reference_lacks(f.reference));
  clear(&f);
  snprintf(program, sizeof program, "%s  %%0 = bufferization.alloc_tensor() : tensor<2xi32>\n  return %%0 : tensor<2xi32>\n}\n",
           head);
  assert_false(evaluate(&f, program));
  assert_string_equal(f.why, "bufferization.alloc_tensor: is not evaluated here");
  assert_true(reference_lacks(f.reference));
  clear(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places), cmocka_unit_test(test_widths),    cmocka_unit_test(test_flow),
      cmocka_unit_test(test_errors), cmocka_unit_test(test_quotients), cmocka_unit_test(test_open),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
