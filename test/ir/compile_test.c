/* Tests that tp_compile rejects unsupported input, with one error each. */
#include "tp/compile.h"
#include "tp/passes.h"

#include <mlir-c/Diagnostics.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
  MlirContext context;
  MlirModule module;
  int n_errors;
  char error[400]; /* the last one */
} fixture;

static void append(MlirStringRef part, void *data) {
  char *text = data;
  size_t n = strlen(text);
  snprintf(text + n, 400 - n, "%.*s", (int)part.length, part.data);
}

static MlirLogicalResult keep(MlirDiagnostic diagnostic, void *data) {
  fixture *f = data;
  f->n_errors += mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError;
  f->error[0] = 0;
  mlirDiagnosticPrint(diagnostic, append, f->error);
  return mlirLogicalResultSuccess();
}

static void set_up(fixture *f, const char *program) {
  *f = (fixture){.context = mlirContextCreateWithThreading(false)};
  tp_context_prepare(f->context);
  (void)mlirContextAttachDiagnosticHandler(f->context, keep, f, NULL);
  f->module = mlirModuleCreateParse(f->context, mlirStringRefCreateFromCString(program));
  assert_false(mlirModuleIsNull(f->module));
}

static void tear_down(fixture *f) {
  mlirModuleDestroy(f->module);
  mlirContextDestroy(f->context);
}

static void expect_refusal(const char *program, const tp_compile_options *options, tp_emit emit,
                           const char *message) {
  fixture f;
  tp_bytes bytes = {0};
  set_up(&f, program);
  assert_int_equal(tp_compile(f.module, options, emit, &bytes), TP_INVALID_ARGUMENT);
  assert_int_equal(f.n_errors, 1);
  assert_string_equal(f.error, message);
  assert_null(bytes.data);
  tear_down(&f);
}

static const char lowered[] = "llvm.func @f() {\n  llvm.return\n}\n";

static void test_options_without_size(void **state) {
  (void)state;
  const tp_compile_options options = {.opt_level = 1};
  expect_refusal(lowered, &options, TP_EMIT_OBJECT,
                 "cannot be compiled: the size of the options is 0; set it to "
                 "sizeof(tp_compile_options)");
}

/* This test has no runtime. */
static void test_load_without_runtime(void **state) {
  (void)state;
  fixture f;
  tp_bytes bytes = {0};
  tp_program *program = NULL;
  char why[200] = "";
  set_up(&f, lowered);
  assert_int_equal(tp_compile(f.module, NULL, TP_EMIT_OBJECT, &bytes), TP_OK);
  assert_int_equal(tp_program_load(bytes.data, bytes.size, why, sizeof why, &program),
                   TP_NOT_FOUND);
  assert_string_equal(why, "this process has no libtprt, which compiled programs call; link it "
                           "with -Wl,--no-as-needed -ltprt");
  assert_null(program);
  tp_bytes_clear(&bytes);
  tear_down(&f);
}

static void test_not_lowered(void **state) {
  (void)state;
  expect_refusal(
      "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n",
      NULL, TP_EMIT_OBJECT,
      "'func.func': is not in the LLVM dialect; run the pipeline tp-to-runtime first");
}

static void test_form(void **state) {
  (void)state;
  expect_refusal(lowered, NULL, (tp_emit)3,
                 "cannot be emitted: invalid tp_emit value 3, expected a value below 3");
  expect_refusal(lowered, NULL, (tp_emit)-1,
                 "cannot be emitted: invalid tp_emit value -1, expected a value below 3");
}

static void test_level(void **state) {
  (void)state;
  tp_compile_options options = {.size = sizeof options, .opt_level = 4};
  expect_refusal(lowered, &options, TP_EMIT_OBJECT, "optimization level 4 is not between 0 and 3");
}

static void test_level_of_the_environment(void **state) {
  (void)state;
  setenv("TP_OPT_LEVEL", "4", 1);
  expect_refusal(lowered, NULL, TP_EMIT_OBJECT,
                 "TP_OPT_LEVEL is '4', which is not between 1 and 3");
  setenv("TP_OPT_LEVEL", "1s", 1);
  expect_refusal(lowered, NULL, TP_EMIT_OBJECT,
                 "TP_OPT_LEVEL is '1s', which is not between 1 and 3");
  unsetenv("TP_OPT_LEVEL");
}

/* Compiles a loop of additions, which only levels 2 and 3 turn into vector code. */
static bool makes_vectors(int level, const char *variable) {
  fixture f;
  tp_bytes bytes = {0};
  tp_compile_options options = {.size = sizeof options, .opt_level = level, .generic = 1};
  set_up(&f, "llvm.func @g(%p: !llvm.ptr) {\n"
             "  %zero = llvm.mlir.constant(0 : i64) : i64\n"
             "  %one = llvm.mlir.constant(1 : i64) : i64\n"
             "  %n = llvm.mlir.constant(4096 : i64) : i64\n"
             "  llvm.br ^loop(%zero : i64)\n"
             "^loop(%i: i64):\n"
             "  %at = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
             "  %x = llvm.load %at : !llvm.ptr -> f32\n"
             "  %y = llvm.fadd %x, %x : f32\n"
             "  llvm.store %y, %at : f32, !llvm.ptr\n"
             "  %next = llvm.add %i, %one : i64\n"
             "  %more = llvm.icmp \"ult\" %next, %n : i64\n"
             "  llvm.cond_br %more, ^loop(%next : i64), ^end\n"
             "^end:\n"
             "  llvm.return\n}\n");
  if (variable)
    setenv("TP_OPT_LEVEL", variable, 1);
  assert_int_equal(tp_compile(f.module, &options, TP_EMIT_LLVM, &bytes), TP_OK);
  unsetenv("TP_OPT_LEVEL");
  bool are_vectors = memmem(bytes.data, bytes.size, " x float>", 9) != NULL;
  tp_bytes_clear(&bytes);
  tear_down(&f);
  return are_vectors;
}

static void test_levels(void **state) {
  (void)state;
  assert_true(makes_vectors(0, NULL));
  assert_false(makes_vectors(0, "1"));
  assert_false(makes_vectors(1, NULL));
  assert_false(makes_vectors(1, "3"));
  assert_true(makes_vectors(3, "1"));
}

static void test_lowered(void **state) {
  (void)state;
  fixture f;
  tp_bytes bytes = {0};
  set_up(&f, lowered);
  assert_int_equal(tp_compile(f.module, NULL, TP_EMIT_LLVM, &bytes), TP_OK);
  assert_int_equal(f.n_errors, 0);
  assert_true(bytes.size > 0 && memmem(bytes.data, bytes.size, "@f()", 4));
  tp_bytes_clear(&bytes);
  tear_down(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_options_without_size),
                                     cmocka_unit_test(test_load_without_runtime),
                                     cmocka_unit_test(test_not_lowered),
                                     cmocka_unit_test(test_form),
                                     cmocka_unit_test(test_level),
                                     cmocka_unit_test(test_level_of_the_environment),
                                     cmocka_unit_test(test_levels),
                                     cmocka_unit_test(test_lowered)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
