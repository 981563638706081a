/* Tests tp_text_run: programs, reports and diagnostics as data. */
#include "tp/text.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char mlp[] = "func.func @main(%x: tensor<8x16xf32> {tp.name = \"x\"}, "
                          "%w: tensor<16x32xf32> {tp.name = \"w\", tp.sharding = [[], [\"tp\"]]}) "
                          "-> tensor<8x32xf32> {\n"
                          "  %e = tensor.empty() : tensor<8x32xf32>\n"
                          "  %z = arith.constant 0.0 : f32\n"
                          "  %i = linalg.fill ins(%z : f32) outs(%e : tensor<8x32xf32>) -> "
                          "tensor<8x32xf32>\n"
                          "  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) "
                          "outs(%i : tensor<8x32xf32>) -> tensor<8x32xf32>\n"
                          "  return %y : tensor<8x32xf32>\n"
                          "}\n";
static const char *const tp4[] = {"mesh=tp=4"};

static tp_text_request request_of(const char *program) {
  return (tp_text_request){.size = sizeof(tp_text_request),
                           .program = program,
                           .pipeline = "tp-plan",
                           .options = tp4,
                           .n_options = 1};
}

/* Expects one error, and returns it. */
static const tp_diagnostic *error_of(const tp_text_result *result) {
  assert_non_null(result);
  assert_string_equal(result->program, "");
  assert_string_equal(result->report, "");
  assert_int_equal(result->n_diagnostics, 1);
  assert_int_equal(result->diagnostics[0].severity, TP_ERROR);
  return result->diagnostics;
}

static void test_plan(void **state) {
  (void)state;
  tp_text_result *result;
  tp_text_request request = request_of(mlp);
  request.wants_report = 1;
  assert_int_equal(tp_text_run(&request, &result), TP_OK);
  assert_non_null(strstr(result->program, "tp.sharding"));
  assert_null(strstr(result->program, "loc("));
  assert_int_equal(strlen(result->program), result->program_size);
  assert_int_equal(strlen(result->report), result->report_size);
  assert_non_null(strstr(result->report, "\"schema\": \"tpshard.plan/1\""));
  assert_non_null(strstr(result->report, "\"name\": \"w\""));
  assert_non_null(strstr(result->report, "\"value\": \"%x\"")); /* its name in the text */
  assert_int_equal(result->n_diagnostics, 0);
  tp_text_result_destroy(result);
}

static void test_no_report(void **state) {
  (void)state;
  tp_text_result *result;
  tp_text_request request = request_of(mlp);
  request.wants_locations = 1;
  assert_int_equal(tp_text_run(&request, &result), TP_OK);
  assert_string_equal(result->report, "");
  assert_non_null(strstr(result->program, "loc("));
  tp_text_result_destroy(result);
  tp_text_result_destroy(NULL);
}

/* What shard-opt prints before it has the text of a program again. */
static void test_planned_text_is_a_program(void **state) {
  (void)state;
  tp_text_result *first, *second;
  tp_text_request request = request_of(mlp);
  assert_int_equal(tp_text_run(&request, &first), TP_OK);
  request.program = first->program;
  request.program_size = first->program_size;
  assert_int_equal(tp_text_run(&request, &second), TP_OK);
  assert_string_equal(first->program, second->program);
  tp_text_result_destroy(first);
  tp_text_result_destroy(second);
}

/* The innermost place in a file: of the callee; of the caller where the callee has only a name. */
static void test_refused(void **state) {
  (void)state;
  static const char *const places[][2] = {
      {"callsite(\"f\"(\"model.py\":12:5) at \"g\"(\"main.py\":7:1))", "model.py"},
      {"callsite(\"fft\" at \"jit(f)/g\"(\"main.py\":12:5))", "main.py"},
      {"fused[\"fft\", \"fused.py\":12:5]", "fused.py"},
  };
  for (int i = 0; i < 3; i++) {
    char program[1024];
    snprintf(program, sizeof program,
             "func.func @main(%%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
             "  %%y = \"stablehlo.cholesky\"(%%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> "
             "loc(%s)\n"
             "  return %%y : tensor<8x8xf32>\n}\n",
             places[i][0]);
    tp_text_result *result;
    tp_text_request request = request_of(program);
    assert_int_equal(tp_text_run(&request, &result), TP_UNSUPPORTED);
    const tp_diagnostic *d = error_of(result);
    assert_string_equal(d->op, "stablehlo.cholesky");
    assert_string_equal(d->message, "is a factorization, which has no implementation here; "
                                    "compute it outside of the program, or keep it by "
                                    "unknown-ops=replicate for an export to StableHLO");
    assert_string_equal(d->file, places[i][1]);
    assert_int_equal(d->line, 12);
    assert_int_equal(d->column, 5);
    assert_non_null(strstr(d->location, places[i][1]));
    tp_text_result_destroy(result);
  }
}

/* Options of the import are options of the pipelines. */
static void test_kept(void **state) {
  (void)state;
  tp_text_result *result;
  tp_text_request request =
      request_of("func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {\n"
                 "  %y = \"stablehlo.fft\"(%x) : (tensor<8xcomplex<f32>>) -> "
                 "tensor<8xcomplex<f32>>\n"
                 "  return %y : tensor<8xcomplex<f32>>\n}\n");
  request.options = (const char *const[]){"mesh=tp=4", "unknown-ops=replicate"};
  request.n_options = 2;
  assert_int_equal(tp_text_run(&request, &result), TP_OK);
  assert_int_equal(result->n_diagnostics, 1);
  assert_int_equal(result->diagnostics[0].severity, TP_REMARK);
  assert_non_null(strstr(result->program, "\"stablehlo.fft\""));
  tp_text_result_destroy(result);
}

/* Ops of a function of a framework have no place in a file; the function has that of its call. */
static void test_place_of_function(void **state) {
  (void)state;
  static const char program[] =
      "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
      "  %y = call @fft(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
      "  return %y : tensor<8x8xf32>\n"
      "}\n"
      "func.func private @fft(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
      "  %y = \"stablehlo.cholesky\"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> "
      "loc(\"fft\")\n"
      "  return %y : tensor<8x8xf32>\n"
      "} loc(\"jit:\"(\"model.py\":12:5))\n";
  tp_text_result *result;
  tp_text_request request = request_of(program);
  assert_int_equal(tp_text_run(&request, &result), TP_UNSUPPORTED);
  const tp_diagnostic *d = error_of(result);
  assert_string_equal(d->file, "model.py");
  assert_int_equal(d->line, 12);
  assert_string_equal(d->location, "loc(callsite(\"fft\" at \"jit:\"(\"model.py\":12:5)))");
  tp_text_result_destroy(result);
}

/* MLIR's own errors may have notes. */
static void test_no_program(void **state) {
  (void)state;
  tp_text_result *result;
  tp_text_request request = request_of("func.func @f() { return }\nfunc.func @f() { return }\n");
  assert_int_equal(tp_text_run(&request, &result), TP_INVALID_ARGUMENT);
  const tp_diagnostic *d = error_of(result);
  assert_string_equal(d->message, "redefinition of symbol named 'f'");
  assert_int_equal(d->line, 2);
  assert_int_equal(d->n_notes, 1);
  assert_int_equal(d->notes[0].severity, TP_NOTE);
  assert_string_equal(d->notes[0].message, "see existing symbol definition here");
  assert_int_equal(d->notes[0].line, 1);
  tp_text_result_destroy(result);
  request.program = NULL;
  assert_int_equal(tp_text_run(&request, &result), TP_INVALID_ARGUMENT);
  assert_string_equal(error_of(result)->message, "the request has no program");
  tp_text_result_destroy(result);
  request.program = "module {}";
  request.size = 0;
  assert_int_equal(tp_text_run(&request, &result), TP_INVALID_ARGUMENT);
  assert_string_equal(error_of(result)->message,
                      "the size of the request is 0; set it to sizeof(tp_text_request)");
  tp_text_result_destroy(result);
  assert_int_equal(tp_text_run(&request, NULL), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_text_run(NULL, &result), TP_INVALID_ARGUMENT);
  assert_null(result);
}

static void test_options(void **state) {
  (void)state;
  static const char *const wrong[] = {"mesh=tp='4'"};
  tp_text_result *result;
  tp_text_request request = request_of(mlp);
  request.options = wrong;
  assert_int_equal(tp_text_run(&request, &result), TP_INVALID_ARGUMENT);
  assert_string_equal(error_of(result)->message,
                      "option 0, \"mesh=tp='4'\", is not NAME=VALUE without quotes and braces; "
                      "give other values in the text of the pipeline");
  tp_text_result_destroy(result);
  request.options = (const char *const[]){"stratgy=follow"};
  assert_int_equal(tp_text_run(&request, &result), TP_INVALID_ARGUMENT);
  assert_string_equal(error_of(result)->message,
                      "tp-plan has no option 'stratgy' (did you mean 'strategy'?); "
                      "docs/reference/passes.md lists its options");
  tp_text_result_destroy(result);
  request.n_options = 0;
  request.pipeline = "builtin.module(tp-plan{mesh=tp=4})";
  assert_int_equal(tp_text_run(&request, &result), TP_OK);
  tp_text_result_destroy(result);
}

/* A pin and a memory limit that no plan keeps. */
static void test_infeasible(void **state) {
  (void)state;
  static const char *const options[] = {"mesh=tp=4", "memory-limit=100B"};
  tp_text_result *result;
  tp_text_request request = request_of(mlp);
  request.options = options;
  request.n_options = 2;
  assert_int_equal(tp_text_run(&request, &result), TP_INFEASIBLE);
  error_of(result);
  tp_text_result_destroy(result);
}

typedef struct watch {
  int n;
  const char *cancel_at; /* NULL: never */
} watch;

static int progress(void *data, const char *pass) {
  watch *w = data;
  w->n++;
  return w->cancel_at && strcmp(pass, w->cancel_at) == 0;
}

static void test_progress(void **state) {
  (void)state;
  watch w = {0}, cancelled = {.cancel_at = "tp-propagate"};
  tp_text_result *result;
  tp_text_request request = request_of(mlp);
  request.progress = progress;
  request.data = &w;
  assert_int_equal(tp_text_run(&request, &result), TP_OK);
  tp_text_result_destroy(result);
  request.data = &cancelled;
  assert_int_equal(tp_text_run(&request, &result), TP_CANCELLED);
  assert_string_equal(error_of(result)->message, "cancelled before tp-propagate");
  assert_int_equal(cancelled.n, w.n);
  tp_text_result_destroy(result);
}

/* The callback is asked while a pass runs: it cancels when it is asked the second time after
 * tp-propagate began. */
typedef struct late {
  bool is_planning;
  int n;
} late;

static int begins(void *data, const char *pass) {
  ((late *)data)->is_planning = strcmp(pass, "tp-propagate") == 0;
  return 0;
}

static int cancels(void *data) {
  late *l = data;
  l->n += l->is_planning;
  return l->n == 2;
}

static int never(void *data) {
  (void)data;
  return 0;
}

static void test_cancelled_while_planning(void **state) {
  (void)state;
  late l = {0};
  tp_text_result *result, *plain;
  tp_text_request request = request_of(mlp);
  request.progress = begins;
  request.cancelled = cancels;
  request.data = &l;
  assert_int_equal(tp_text_run(&request, &result), TP_CANCELLED);
  assert_string_equal(error_of(result)->message, "cancelled by the caller");
  assert_int_equal(l.n, 2);
  tp_text_result_destroy(result);

  request = request_of(mlp);
  request.wants_report = 1;
  assert_int_equal(tp_text_run(&request, &plain), TP_OK);
  request.cancelled = never;
  assert_int_equal(tp_text_run(&request, &result), TP_OK);
  assert_string_equal(result->program, plain->program);
  assert_string_equal(result->report, plain->report);
  tp_text_result_destroy(plain);
  tp_text_result_destroy(result);
}

/* What the text of the program says about a value, as data. */
static void test_layouts(void **state) {
  (void)state;
  tp_text_result *result;
  tp_text_request request = request_of(mlp);
  assert_int_equal(tp_text_run(&request, &result), TP_OK);
  assert_null(result->layouts);
  tp_text_result_destroy(result);
  request.wants_layouts = 1;
  assert_int_equal(tp_text_run(&request, &result), TP_OK);
  const tp_layouts *all = result->layouts;
  assert_non_null(all);
  int n_arguments = 0, n_results = 0, n_ops = 0;
  for (int i = 0; i < all->n; i++) {
    const tp_layout *l = &all->items[i];
    char expected[200];
    int64_t bytes = l->element_size;
    for (int d = 0; d < l->rank; d++)
      bytes *= l->local[d];
    assert_int_equal(l->bytes, bytes);
    assert_string_equal(l->element, "f32");
    n_arguments += l->kind == TP_LAYOUT_ARGUMENT;
    n_results += l->kind == TP_LAYOUT_RESULT;
    n_ops += l->kind == TP_LAYOUT_OP_RESULT;
    assert_int_equal(*l->op != 0, l->kind == TP_LAYOUT_OP_RESULT);
    snprintf(expected, sizeof expected, "tp.sharding = %s", l->sharding);
    assert_non_null(strstr(result->program, expected));
  }
  assert_true(n_arguments > 0 && n_results > 0 && n_ops > 0);
  tp_text_result_destroy(result);
}

/* Layouts and errors call an argument as the text does. */
static void test_source_names(void **state) {
  (void)state;
  tp_text_result *result;
  tp_text_request request = request_of(mlp);
  request.wants_layouts = 1;
  assert_int_equal(tp_text_run(&request, &result), TP_OK);
  assert_string_equal(result->layouts->items[0].name, "x");
  tp_text_result_destroy(result);
  request = request_of("func.func @f(%x: tensor<8xf32>,\n  %w2 : tensor<8xi4>) { return }\n");
  assert_int_equal(tp_text_run(&request, &result), TP_UNSUPPORTED);
  assert_non_null(strstr(error_of(result)->message, "argument 1 (%w2) has elements of type i4"));
  tp_text_result_destroy(result);
}

static void *plan_often(void *texts) {
  for (int i = 0; i < 4; i++) {
    tp_text_request request = request_of(mlp);
    request.wants_report = 1;
    if (tp_text_run(&request, (tp_text_result **)texts + i) != TP_OK)
      return texts;
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  tp_text_result *results[THREADS][4] = {{0}};
  void *failed;
  for (int t = 0; t < THREADS; t++)
    assert_int_equal(pthread_create(&threads[t], NULL, plan_often, results[t]), 0);
  for (int t = 0; t < THREADS; t++) {
    assert_int_equal(pthread_join(threads[t], &failed), 0);
    assert_null(failed);
  }
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < 4; i++) {
      assert_string_equal(results[t][i]->report, results[0][0]->report);
      if (t + i > 0)
        tp_text_result_destroy(results[t][i]);
    }
  tp_text_result_destroy(results[0][0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plan),
      cmocka_unit_test(test_no_report),
      cmocka_unit_test(test_planned_text_is_a_program),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_kept),
      cmocka_unit_test(test_no_program),
      cmocka_unit_test(test_place_of_function),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_infeasible),
      cmocka_unit_test(test_progress),
      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_source_names),
      cmocka_unit_test(test_cancelled_while_planning),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
