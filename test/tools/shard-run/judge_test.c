/* Tests the evaluator's verdict on results of N ranks and of one device: ill-conditioned or
 * wrong. */
#include "tools/shard-run/run.h"

#include "tp/passes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Required by evaluate.c, which is tested without the command line. */
void progress(const char *what) { (void)what; }
void progress_detail(const char *detail, double left, bool is_most) {
  (void)detail;
  (void)left;
  (void)is_most;
}
double cli_seconds(void) { return 0; }

enum { N = 6 };

typedef struct fixture {
  MlirContext context;
  MlirModule module;
  tp_reference *reference;
} fixture;

static tp_reference *evaluate_as(const fixture *f, const void *input, bool without_bounds,
                                 int with_noise) {
  const tp_reference_options chosen = {
      .size = sizeof chosen, .without_bounds = without_bounds, .with_noise = with_noise};
  char why[200];
  tp_reference *made;
  assert_int_equal(tp_reference_evaluate(f->module, "main", (const void *const[]){input}, &chosen,
                                         sizeof why, why, &made),
                   TP_OK);
  return made;
}

/* Evaluates a function of one result. */
static void setup(fixture *f, const char *program, const void *input, bool without_bounds) {
  f->context = mlirContextCreateWithThreading(false);
  tp_context_prepare(f->context);
  f->module = mlirModuleCreateParse(f->context, mlirStringRefCreateFromCString(program));
  assert_false(mlirModuleIsNull(f->module));
  f->reference = evaluate_as(f, input, without_bounds, false);
}

static void teardown(fixture *f) {
  tp_reference_destroy(f->reference);
  mlirModuleDestroy(f->module);
  mlirContextDestroy(f->context);
}

static array array_of(const char *type, void *data) {
  return (array){.type = element_find(type), .rank = 1, .shape = {N}, .data = data};
}

/* The errors of N ranks and of one device, relative to the largest element 8, and the resulting
 * verdict. */
static void test_errors(void **state) {
  (void)state;
  const struct {
    double of_ranks, of_one; /* of_one < 0: one device was not run */
    bool ok, is_ill_conditioned;
  } cases[] = {
      {0, 0, true, false},         {9e-6, 0, true, false},         {1.1e-5, 0, false, false},
      {1.1e-5, -1, false, false},  {9e-6, -1, true, false},        {1.1e-5, 8e-6, true, false},
      {3.1e-5, 8e-6, true, false}, {3.3e-5, 8e-6, false, false},   {4.9e-4, 3e-4, true, false},
      {1e-3, 3e-4, false, true},   {1e-3, 1e-5, false, false},     {2e-3, 3e-4, false, false},
      {NAN, 0, false, false},      {INFINITY, 3e-4, false, false},
  };
  fixture f;
  float exact[N] = {1, 2, 4, 8, -3, 0.5f};
  setup(&f,
        "func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {\n  return %x : tensor<6xf32>\n}\n",
        exact, true);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float ranks[N], one[N];
    memcpy(ranks, exact, sizeof exact);
    memcpy(one, exact, sizeof exact);
    ranks[1] += (float)(8 * cases[i].of_ranks);
    one[4] += (float)(8 * cases[i].of_one);
    array a = array_of("f32", ranks), b = array_of("f32", one);
    comparison c =
        compare_with_evaluator(&a, cases[i].of_one < 0 ? NULL : &b, f.reference, NULL, 0, 0, 0);
    assert_true(c.done && c.ok == cases[i].ok &&
                c.is_ill_conditioned == cases[i].is_ill_conditioned);
    if (isfinite(cases[i].of_ranks))
      assert_true(fabs(c.error - cases[i].of_ranks) < 1e-7);
  }
  teardown(&f);
}

/* The exact result is almost 0, and rounding of its terms is left. Beside large terms that is
 * nothing. */
static void test_rounding_of_zero(void **state) {
  (void)state;
  const struct {
    double largest, factor; /* of the error of N ranks beside that of one device */
    bool ok, is_ill_conditioned;
  } cases[] = {{0, 1, false, true},
               {1e-6, 1, false, true},
               {10, 1, true, false},
               {0, 8, false, false},
               {10, 8, true, false}};
  float exact[N] = {1.1f, 2.3f, 4.7f, 7.9f, -3.3f, 0.7f}, left[N] = {1e-7f, 2e-7f, 0, 4e-7f, 0, 0};
  fixture f;
  setup(&f,
        "func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {\n"
        "  %c = arith.constant dense<0.1> : tensor<6xf32>\n"
        "  %n = arith.constant dense<3.0> : tensor<6xf32>\n"
        "  %a = arith.mulf %x, %c : tensor<6xf32>\n  %0 = arith.mulf %a, %n : tensor<6xf32>\n"
        "  %b = arith.mulf %x, %n : tensor<6xf32>\n  %1 = arith.mulf %b, %c : tensor<6xf32>\n"
        "  %2 = arith.subf %0, %1 : tensor<6xf32>\n"
        "  %d = arith.constant dense<1.0e-12> : tensor<6xf32>\n"
        "  %3 = arith.mulf %x, %d : tensor<6xf32>\n  %4 = arith.addf %2, %3 : tensor<6xf32>\n"
        "  return %4 : tensor<6xf32>\n}\n",
        exact, true);
  tp_reference *noisy = evaluate_as(&f, exact, false, 1);
  array one = array_of("f32", left);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float ranks[N];
    for (int k = 0; k < N; k++)
      ranks[k] = (float)(cases[i].factor * (double)left[k]);
    array a = array_of("f32", ranks);
    comparison c = compare_with_evaluator(&a, &one, f.reference, noisy, 0, 0, cases[i].largest);
    assert_true(c.ok == cases[i].ok && c.is_ill_conditioned == cases[i].is_ill_conditioned);
  }
  tp_reference_destroy(noisy);
  teardown(&f);
}

/* Numbers below the least normal one of their type may become 0. */
static void test_underflow(void **state) {
  (void)state;
  const struct {
    float factor;
    bool ok;
  } cases[] = {{1e-30f, true}, {1e-15f, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float exact[N] = {1e-20f, 1e-21f, 0, -1e-22f, -1e-20f, 1e-23f}, ranks[N] = {0};
    char program[300];
    snprintf(program, sizeof program,
             "func.func @main(%%x: tensor<6xf32>) -> tensor<6xf32> {\n"
             "  %%c = arith.constant dense<%.1e> : tensor<6xf32>\n"
             "  %%0 = arith.mulf %%x, %%c : tensor<6xf32>\n  return %%0 : tensor<6xf32>\n}\n",
             (double)cases[i].factor);
    fixture f;
    setup(&f, program, exact, true);
    array a = array_of("f32", ranks);
    comparison c = compare_with_evaluator(&a, &a, f.reference, NULL, 0, 0, 0);
    assert_true(c.ok == cases[i].ok);
    teardown(&f);
  }
}

/* Masks do not scale errors; large numbers that are not masks do. */
static void test_masks(void **state) {
  (void)state;
  const struct {
    float numbers[N];
    double scale;
  } cases[] = {{{1, 2, -1e9f, 0.5f, -1e9f, -3}, 3},
               {{1, 2, -1e9f, 0.5f, 0, -3}, 1e9f},
               /* occurs once: not a mask */
               {{1, 2, 1e3f, 1e3f, 1e3f, 0}, 1e3f},
               {{-1e9f, -1e9f, -1e9f, -1e9f, -1e9f, -1e9f}, 1e9f},
               {{1e9f, 1e9f, 3e4f, 3e4f, 1, 2}, 2}, /* two masks */
               {{1e9f, 1e9f, 2e4f, 1e4f, 1, 2}, 2e4f},
               {{0, 0, 0, 0, 0, 0}, 0},
               {{INFINITY, INFINITY, NAN, 1, 2, 3}, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float numbers[N];
    memcpy(numbers, cases[i].numbers, sizeof numbers);
    array a = array_of("f32", numbers);
    assert_true(compare_scale(&a) == cases[i].scale);
  }
  float one[N] = {1, 2, -1e9f, 0.5f, -1e9f, -3}, ranks[N] = {1, 2.01f, -1e9f, 0.5f, -1e9f, -3};
  array a = array_of("f32", ranks), b = array_of("f32", one);
  assert_false(compare_arrays(&a, &b, false, 0).ok);
}

/* For bf16 the tolerance is already large: 2e-2; the error of one device extends it to at most
 * 5e-2. */
static void test_narrow(void **state) {
  (void)state;
  fixture f;
  /* 1, 2, 4, 8, -3, 0.5 */
  uint16_t exact[N] = {0x3f80, 0x4000, 0x4080, 0x4100, 0xc040, 0x3f00}, one[N], ranks[N];
  setup(
      &f,
      "func.func @main(%x: tensor<6xbf16>) -> tensor<6xbf16> {\n  return %x : tensor<6xbf16>\n}\n",
      exact, true);
  memcpy(one, exact, sizeof exact);
  memcpy(ranks, exact, sizeof exact);
  one[3] = 0x4106, ranks[3] = 0x4106; /* 8.375, error 0.047 */
  array a = array_of("bf16", ranks), b = array_of("bf16", one);
  assert_true(compare_with_evaluator(&a, &b, f.reference, NULL, 0, 0, 0).ok);
  ranks[3] = 0x4107; /* 8.4375, error 0.055 */
  comparison far = compare_with_evaluator(&a, &b, f.reference, NULL, 0, 0, 0);
  assert_true(!far.ok && far.is_ill_conditioned);
  teardown(&f);
}

/* A f32 result that was computed from numbers in bf16 has the limit of bf16, if one device has such
 * an error too. An argument in bf16 is exact, and changes no limit. */
static void test_narrow_on_the_way(void **state) {
  (void)state;
  const struct {
    const char *program;
    bool ok;
  } cases[] = {
      {"func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {\n"
       "  %0 = arith.truncf %x : tensor<6xf32> to tensor<6xbf16>\n"
       "  %1 = arith.extf %0 : tensor<6xbf16> to tensor<6xf32>\n  return %1 : tensor<6xf32>\n}\n",
       true},
      {"func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {\n"
       "  %n = arith.constant 1 : index\n  %l = arith.constant 0 : index\n"
       "  %r = scf.for %i = %l to %n step %n iter_args(%y = %x) -> tensor<6xf32> {\n"
       "    %0 = arith.truncf %y : tensor<6xf32> to tensor<6xbf16>\n"
       "    %1 = arith.extf %0 : tensor<6xbf16> to tensor<6xf32>\n"
       "    scf.yield %1 : tensor<6xf32>\n  }\n  return %r : tensor<6xf32>\n}\n",
       true},
      {"func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {\n  return %x : tensor<6xf32>\n}\n",
       false},
  };
  float exact[N] = {1, 2, 4, 8, -3, 0.5f}, ranks[N], one[N];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    setup(&f, cases[i].program, exact, true);
    memcpy(one, exact, sizeof exact);
    memcpy(ranks, exact, sizeof exact);
    ranks[0] += 8 * 0.006f, one[0] += 8 * 0.005f;
    array a = array_of("f32", ranks), b = array_of("f32", one);
    assert_true(compare_with_evaluator(&a, &b, f.reference, NULL, 0, 0, 0).ok == cases[i].ok);
    ranks[0] = 1 + 8 * 0.006f, one[0] = 1; /* without an error of one device, as ever */
    assert_false(compare_with_evaluator(&a, &b, f.reference, NULL, 0, 0, 0).ok);
    teardown(&f);
  }
}

/* If one device has no such error by chance, noise of the size of the unit roundoff decides, within
 * the limit of bf16. Each sequence of noise changes the result by some 4e-3 of 8 at most. */
static void test_narrow_by_noise(void **state) {
  (void)state;
  const struct {
    double of_ranks;
    bool is_within, ok;
  } cases[] = {{3e-3, true, true}, {4e-2, true, false}, {6e-2, false, false}};
  float exact[N] = {1.1f, 2.3f, 4.7f, 8, -3.3f, 0.7f}, numbers[N];
  fixture f;
  setup(&f,
        "func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {\n"
        "  %0 = arith.truncf %x : tensor<6xf32> to tensor<6xbf16>\n"
        "  %1 = arith.mulf %0, %0 : tensor<6xbf16>\n"
        "  %2 = arith.extf %1 : tensor<6xbf16> to tensor<6xf32>\n  return %2 : tensor<6xf32>\n}\n",
        exact, true);
  double change = 0, last = 0;
  for (int i = 1; i <= TP_NOISES; i++) {
    tp_reference *noisy = evaluate_as(&f, exact, false, i);
    double one = change_by_noise(f.reference, noisy, 0);
    assert_true(one > 0 && one != last);
    change = fmax(change, last = one);
    tp_reference_destroy(noisy);
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float ranks[N];
    for (int k = 0; k < N; k++) {
      double value;
      assert_true(tp_reference_value(f.reference, 0, k, &value, NULL));
      numbers[k] = (float)value;
    }
    memcpy(ranks, numbers, sizeof ranks);
    ranks[0] += (float)(64 * cases[i].of_ranks);
    array a = array_of("f32", ranks), b = array_of("f32", numbers);
    comparison c = compare_with_evaluator(&a, &b, f.reference, NULL, 0, 0, 0);
    assert_false(c.ok);
    assert_true((c.rounding_tolerance > 0) == cases[i].is_within);
    if (c.rounding_tolerance > 0)
      compare_with_rounding(&c, change);
    assert_true(c.ok == cases[i].ok);
  }
  teardown(&f);
}

/* Where one device is as wrong as N ranks, noise of the size of the unit roundoff decides: if it
 * changes little, both are wrong. */
static void test_noise(void **state) {
  (void)state;
  const struct {
    const char *body;
    bool is_ill_conditioned;
  } cases[] = {
      /* relative to 8 the noise changes some 1e-7 */
      {"  %0 = arith.mulf %x, %c : tensor<6xf32>\n  return %0 : tensor<6xf32>\n}\n", false},
      /* 10000.1 x - 10000 x, where some 1e-3 of 0.1 x is lost */
      {"  %0 = arith.mulf %x, %c : tensor<6xf32>\n  %1 = arith.mulf %x, %d : tensor<6xf32>\n"
       "  %2 = arith.subf %0, %1 : tensor<6xf32>\n  return %2 : tensor<6xf32>\n}\n",
       true},
  };
  float exact[N] = {1.1f, 2.3f, 4.7f, 7.9f, -3.3f, 0.7f};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char program[600];
    snprintf(program, sizeof program,
             "func.func @main(%%x: tensor<6xf32>) -> tensor<6xf32> {\n"
             "  %%c = arith.constant dense<10000.1> : tensor<6xf32>\n"
             "  %%d = arith.constant dense<10000.0> : tensor<6xf32>\n%s",
             cases[i].body);
    fixture f;
    setup(&f, program, exact, true);
    tp_reference *noisy = evaluate_as(&f, exact, true, true);
    float ranks[N], one[N];
    for (int k = 0; k < N; k++) {
      double value;
      assert_true(tp_reference_value(f.reference, 0, k, &value, NULL));
      ranks[k] = (float)value;
    }
    ranks[3] *= 1.002f; /* the largest number */
    memcpy(one, ranks, sizeof ranks);
    array a = array_of("f32", ranks), b = array_of("f32", one);
    assert_true(compare_with_evaluator(&a, &b, f.reference, NULL, 0, 0, 0).is_ill_conditioned);
    comparison c = compare_with_evaluator(&a, &b, f.reference, noisy, 0, 0, 0);
    assert_true(!c.ok && c.is_ill_conditioned == cases[i].is_ill_conditioned);
    assert_true(c.error_of_rounding > 0);
    tp_reference_destroy(noisy);
    teardown(&f);
  }
}

/* Three times the argument, of which rounding may make one less. */
static const char times_three[] =
    "func.func @main(%x: tensor<6xf32>) -> tensor<6xi32> {\n"
    "  %k = arith.constant dense<0.1> : tensor<6xf32>\n  %n = arith.constant dense<30.0> : "
    "tensor<6xf32>\n"
    "  %0 = arith.mulf %x, %k : tensor<6xf32>\n  %1 = arith.mulf %0, %n : tensor<6xf32>\n"
    "  %2 = arith.fptosi %1 : tensor<6xf32> to tensor<6xi32>\n  return %2 : tensor<6xi32>\n}\n";

/* Integers must be equal, unless rounding decides them; if it decides most of them, the result is
 * not verified. */
static void test_integers(void **state) {
  (void)state;
  float few[N] = {0.5f, 1, 2.5f, 3.7f, 4.1f, 5.9f}, many[N] = {1, 2, 3, 4, 5.5f, 6};
  int32_t right[N] = {1, 3, 7, 11, 12, 17}, tie[N] = {1, 2, 7, 11, 12, 17},
          wrong[N] = {2, 3, 7, 11, 12, 17};
  fixture f;
  setup(&f, times_three, few, false);
  array a = array_of("i32", right), b = array_of("i32", tie), c = array_of("i32", wrong);
  comparison of_right = compare_with_evaluator(&a, NULL, f.reference, NULL, 0, 0, 0);
  assert_true(of_right.ok);
  assert_string_equal(of_right.what, "1 of 6 elements depend on rounding");
  assert_true(compare_with_evaluator(&b, NULL, f.reference, NULL, 0, 0, 0).ok);
  comparison of_wrong = compare_with_evaluator(&c, NULL, f.reference, NULL, 0, 0, 0);
  assert_false(of_wrong.ok);
  assert_string_equal(of_wrong.what, "element 0: 2, but the evaluator computes 1");
  teardown(&f);
  setup(&f, times_three, many, false);
  comparison of_many = compare_with_evaluator(&a, NULL, f.reference, NULL, 0, 0, 0);
  assert_false(of_many.ok || of_many.is_ill_conditioned || of_wrong.is_ill_conditioned);
  int32_t known[N] = {1, 2, 3, 4, 16, 6};
  array d = array_of("i32", known);
  comparison of_known = compare_with_evaluator(&d, NULL, f.reference, NULL, 0, 0, 0);
  assert_true(!of_known.ok && of_known.is_ill_conditioned);
  teardown(&f);
}

/* Expected integers: one that depends on rounding may differ. */
static void test_expected_integers(void **state) {
  (void)state;
  const struct {
    float input[N];
    int32_t expected[N];
    bool ok, is_ill_conditioned;
  } cases[] = {
      {{0.5f, 1, 2.5f, 3.7f, 4.1f, 5.9f}, {1, 3, 7, 11, 12, 17}, true, false},
      {{0.5f, 1, 2.5f, 3.7f, 4.1f, 5.9f}, {1, 2, 7, 11, 12, 17}, true, false},
      {{0.5f, 1, 2.5f, 3.7f, 4.1f, 5.9f}, {2, 3, 7, 11, 12, 17}, false, false},
      {{1, 2, 3, 4, 5.5f, 6}, {3, 6, 8, 12, 16, 18}, false, true},
      {{1, 2, 3, 4, 5.5f, 6}, {3, 6, 8, 12, 15, 18}, false, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    setup(&f, times_three, cases[i].input, false);
    int32_t expected[N];
    memcpy(expected, cases[i].expected, sizeof expected);
    array b = array_of("i32", expected);
    comparison c = {.done = true, .ok = false, .error = INFINITY};
    compare_expected_integers(&b, f.reference, 0, &c);
    assert_true(c.ok == cases[i].ok && c.is_ill_conditioned == cases[i].is_ill_conditioned);
    teardown(&f);
  }
}

/* Expected floats: what changes by noise as much as they differ is no fault. */
static void test_expected_floats(void **state) {
  (void)state;
  const struct {
    double change, error, largest;
    bool ok, is_ill_conditioned;
  } cases[] = {{1e-7, 2e-4, 0, false, false}, {1e-6, 9e-4, 0, false, true},
               {1e-4, 3e-4, 0, true, false},  {1e-4, 5e-4, 0, false, true},
               {1, 4e-3, 0, true, false},     {1, 6e-3, 0, false, true},
               {1e-7, 9e-5, 0, true, false}};
  float exact[N] = {1, 2, 4, 8, -3, 0.5f};
  fixture f;
  setup(&f,
        "func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {\n  return %x : tensor<6xf32>\n}\n",
        exact, true);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float expected[N];
    memcpy(expected, exact, sizeof exact);
    expected[1] += (float)(8 * cases[i].error);
    array a = array_of("f32", exact), b = array_of("f32", expected);
    comparison c = compare_arrays(&a, &b, true, 0);
    compare_expected_floats(&a, f.reference, 8 * cases[i].change, cases[i].largest, 0, &c);
    assert_true(c.ok == cases[i].ok && c.is_ill_conditioned == cases[i].is_ill_conditioned);
  }
  teardown(&f);
}

/* Undefined elements must equal those of one device; without one device they are reported. */
static void test_undefined(void **state) {
  (void)state;
  fixture f;
  float exact[N] = {1, 2, 4, 8, -3, 0.5f}, ranks[N] = {1, 2, 4, 7, 7, 7},
        one[N] = {1, 2, 4, 7, 7, 6};
  setup(&f,
        "func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {\n  %e = tensor.empty() : "
        "tensor<6xf32>\n"
        "  %s = tensor.extract_slice %x[0] [3] [1] : tensor<6xf32> to tensor<3xf32>\n"
        "  %0 = tensor.insert_slice %s into %e[0] [3] [1] : tensor<3xf32> into tensor<6xf32>\n  "
        "return %0 : tensor<6xf32>\n}\n",
        exact, true);
  array a = array_of("f32", ranks), b = array_of("f32", one);
  assert_true(compare_with_evaluator(&a, &a, f.reference, NULL, 0, 0, 0).ok);
  assert_false(compare_with_evaluator(&a, &b, f.reference, NULL, 0, 0, 0).ok);
  comparison alone = compare_with_evaluator(&a, NULL, f.reference, NULL, 0, 0, 0);
  assert_false(alone.ok);
  assert_string_equal(alone.what, "3 of 6 elements are not defined by the program");
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_errors),           cmocka_unit_test(test_underflow),
      cmocka_unit_test(test_rounding_of_zero), cmocka_unit_test(test_masks),
      cmocka_unit_test(test_narrow),           cmocka_unit_test(test_narrow_on_the_way),
      cmocka_unit_test(test_narrow_by_noise),  cmocka_unit_test(test_noise),
      cmocka_unit_test(test_integers),         cmocka_unit_test(test_expected_integers),
      cmocka_unit_test(test_expected_floats),  cmocka_unit_test(test_undefined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
