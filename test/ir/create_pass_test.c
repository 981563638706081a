/* Tests the constructors of passes: each creates the pass of its name, with options, and what they
 * create runs as the text of a pipeline does. */
#include "tp/passes.h"

#include <mlir-c/Diagnostics.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT = 1 << 16 };

static void append(MlirStringRef part, void *text) {
  size_t n = strlen(text);
  assert_true(n + part.length < TEXT);
  memcpy((char *)text + n, part.data, part.length);
  ((char *)text)[n + part.length] = '\0';
}

static MlirContext create_context(void) {
  MlirContext context = mlirContextCreateWithThreading(false);
  tp_register_passes();
  tp_context_prepare(context);
  return context;
}

typedef MlirPass (*constructor)(MlirContext context, const char *options);

static const struct {
  const char *name;
  constructor create;
} constructors[] = {
#define ROW(name) {#name, tp_create_##name},
    TP_PASS_LIST(ROW)
#undef ROW
};
enum { CONSTRUCTORS = sizeof constructors / sizeof *constructors };

/* The constructors are those of the table of passes, in its order. */
static void test_names(void **state) {
  (void)state;
  static char text[TEXT];
  MlirContext context = create_context();
  for (int i = 0; i < CONSTRUCTORS; i++) {
    char name[100], start[200];
    snprintf(name, sizeof name, "tp-%s", constructors[i].name);
    for (char *c = name; *c; c++)
      *c = *c == '_' ? '-' : *c;
    assert_string_equal(tp_pass_get(i).name, name);
    MlirPassManager manager =
        mlirPassManagerCreateOnOperation(context, mlirStringRefCreateFromCString("builtin.module"));
    MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
    MlirPass pass = constructors[i].create(context, NULL);
    assert_non_null(pass.ptr);
    mlirOpPassManagerAddOwnedPass(passes, pass);
    *text = '\0';
    mlirPrintPassPipeline(passes, append, text);
    snprintf(start, sizeof start, "builtin.module(%s", name);
    assert_memory_equal(text, start, strlen(start));
    assert_non_null(strchr(")({", text[strlen(start)]));
    mlirPassManagerDestroy(manager);
  }
  assert_null(tp_pass_get(CONSTRUCTORS - 1).pipeline);
  assert_non_null(tp_pass_get(CONSTRUCTORS).pipeline);
  mlirContextDestroy(context);
}

static const char mlp[] =
    "func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> {\n"
    "  %z = arith.constant dense<0.0> : tensor<8x32xf32>\n"
    "  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%z : "
    "tensor<8x32xf32>) -> tensor<8x32xf32>\n"
    "  return %0 : tensor<8x32xf32>\n}\n";

static MlirModule parse(MlirContext context) {
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(mlp));
  assert_false(mlirModuleIsNull(module));
  return module;
}

/* Options reach the pass; the program is that of the pipeline as text. */
static void test_run(void **state) {
  (void)state;
  static char made[TEXT], expected[TEXT];
  MlirContext context = create_context();
  MlirModule module = parse(context), other = parse(context);
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
  mlirOpPassManagerAddOwnedPass(passes, tp_create_propagate(context, "mesh=tp=4 topology=h100"));
  mlirOpPassManagerAddOwnedPass(passes, tp_create_partition(context, NULL));
  MlirLogicalResult ran = mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module));
  assert_true(mlirLogicalResultIsSuccess(ran));
  mlirPassManagerDestroy(manager);
  assert_int_equal(tp_run_pipeline(other, "tp-propagate{mesh=tp=4 topology=h100},tp-partition"),
                   TP_OK);
  *made = *expected = '\0';
  mlirOperationPrint(mlirModuleGetOperation(module), append, made);
  mlirOperationPrint(mlirModuleGetOperation(other), append, expected);
  assert_string_equal(made, expected);
  assert_non_null(strstr(made, "tp.phase = \"local\""));
  mlirModuleDestroy(module);
  mlirModuleDestroy(other);
  mlirContextDestroy(context);
}

static MlirLogicalResult receive(MlirDiagnostic diagnostic, void *text) {
  mlirDiagnosticPrint(diagnostic, append, text);
  return mlirLogicalResultSuccess();
}

static void test_unknown_option(void **state) {
  (void)state;
  static char text[TEXT];
  MlirContext context = create_context();
  (void)mlirContextAttachDiagnosticHandler(context, receive, text, NULL);
  assert_null(tp_create_propagate(context, "mash=tp=4").ptr);
  assert_non_null(strstr(text, "tp-propagate: "));
  assert_non_null(strstr(text, "mash"));
  mlirContextDestroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_unknown_option),
  };
  return cmocka_run_group_tests_name("create_pass", tests, NULL, NULL);
}
