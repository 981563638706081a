/* Evaluates programs and compares the results with numbers computed by hand. */
#ifndef TP_TEST_EVALUATED_H
#define TP_TEST_EVALUATED_H

#include "tp/passes.h"
#include "tp/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
  MlirContext context;
  MlirModule module;
  tp_reference *results;
  char why[200];
} fixture;

/* Evaluates `main` with these arguments. */
static inline tp_status evaluate_with(fixture *f, const char *program, const void *const *inputs,
                                      const tp_reference_options *options) {
  *f = (fixture){.context = mlirContextCreateWithThreading(false)};
  tp_context_prepare(f->context);
  f->module = mlirModuleCreateParse(f->context, mlirStringRefCreateFromCString(program));
  assert_false(mlirModuleIsNull(f->module));
  return tp_reference_evaluate(f->module, "main", inputs, options, sizeof f->why, f->why,
                               &f->results);
}

/* `main` has no arguments. */
static inline void evaluate(fixture *f, const char *program) {
  assert_int_equal(evaluate_with(f, program, NULL, NULL), TP_OK);
}

static inline void clear(fixture *f) {
  tp_reference_destroy(f->results);
  mlirModuleDestroy(f->module);
  mlirContextDestroy(f->context);
}

static inline void expect_integers(const fixture *f, int result, int n, const int64_t *expected) {
  assert_int_equal(tp_reference_count(f->results, result), n);
  for (int i = 0; i < n; i++) {
    double value, error;
    bool is_known = tp_reference_value(f->results, result, i, &value, &error);
    assert_int_equal(is_known, expected[i] != INT64_MAX);
    if (is_known)
      assert_true(error == 0 && value == (double)expected[i]);
  }
}

static inline void expect_numbers(const fixture *f, int result, int n, const double *expected) {
  assert_int_equal(tp_reference_count(f->results, result), n);
  for (int i = 0; i < n; i++) {
    double value;
    assert_true(tp_reference_value(f->results, result, i, &value, NULL));
    if (!(fabs(value - expected[i]) <= 1e-12 || (isnan(value) && isnan(expected[i])) ||
          value == expected[i]))
      fail_msg("number %d of result %d is %.17g, not %.17g", i, result, value, expected[i]);
  }
}

#endif
