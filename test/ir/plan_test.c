/* Tests tp_plan_constant: constants that are arguments, of every way to store them; and the compute
 * that tp_plan_measure counts of ops that touch only some elements of a tensor. */
#include "tp/passes.h"
#include "tp/plan.h"

#include <mlir-c/Diagnostics.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char program[] =
    "func.func @main(%x: tensor<2xf32> {tp.constant = dense<[1.0, 2.0]> : tensor<2xf32>},\n"
    "  %y: tensor<2xf32>,\n"
    "  %a: tensor<2x2xf32> {tp.constant = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>},\n"
    "  %b: tensor<3xi8> {tp.constant = dense<7> : tensor<3xi8>},\n"
    "  %c: tensor<10xi1> {tp.constant = dense<[true, false, true, true, false, false, true, false, "
    "true, true]> : tensor<10xi1>},\n"
    "  %d: tensor<4xi1> {tp.constant = dense<true> : tensor<4xi1>},\n"
    "  %e: tensor<3xi1> {tp.constant = dense_resource<truths> : tensor<3xi1>},\n"
    "  %f: tensor<2xbf16> {tp.constant = dense<[1.5, -2.0]> : tensor<2xbf16>},\n"
    "  %g: tensor<0xf32> {tp.constant = dense<> : tensor<0xf32>},\n"
    "  %h: tensor<2xi32> {tp.constant = dense_resource<none> : tensor<2xi32>},\n"
    "  %i: tensor<2xi32> {tp.constant = sparse<0, 1> : tensor<2xi32>}) {\n"
    "  return\n}\n"
    "{-# dialect_resources: { builtin: { truths: \"0x01000000010001\" } } #-}\n";
enum { N_CONSTANTS = 9, FIRST = 2 };

typedef struct errors {
  int n;
  char text[512];
} errors;

static void keep(MlirStringRef part, void *data) {
  errors *e = data;
  size_t n = strlen(e->text);
  snprintf(e->text + n, sizeof e->text - n, "%.*s", (int)part.length, part.data);
}

static MlirLogicalResult count(MlirDiagnostic diagnostic, void *data) {
  errors *e = data;
  e->n++;
  e->text[0] = 0;
  mlirDiagnosticPrint(diagnostic, keep, e);
  return mlirLogicalResultSuccess();
}

static void expect(MlirModule module, const tp_plan *plan, int i, size_t n, const void *bytes) {
  unsigned char data[64];
  memset(data, 0xaa, sizeof data);
  assert_int_equal(tp_plan_constant(module, plan, FIRST + i, n, data), TP_OK);
  assert_memory_equal(data, bytes, n);
  assert_int_equal(data[n], 0xaa);
}

static void refuse(MlirModule module, const tp_plan *plan, int i, size_t n, errors *e,
                   const char *text) {
  unsigned char data[64];
  e->n = 0;
  assert_int_equal(tp_plan_constant(module, plan, i, n, data), TP_INVALID_ARGUMENT);
  assert_int_equal(e->n, 1);
  assert_non_null(strstr(e->text, text));
}

static void test_constants(void **state) {
  (void)state;
  errors e = {0};
  MlirContext context = mlirContextCreateWithThreading(false);
  tp_context_prepare(context);
  mlirContextAttachDiagnosticHandler(context, count, &e, NULL);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(program));
  assert_false(mlirModuleIsNull(module));
  tp_plan *plan;
  assert_int_equal(tp_plan_measure(module, "main", NULL, &plan), TP_OK);
  /* the first argument is not one of the last ones */
  assert_int_equal(plan->n_constants, N_CONSTANTS);
  expect(module, plan, 0, 16, (const float[]){1, 2, 3, 4});
  expect(module, plan, 1, 3, (const char[]){7, 7, 7});
  expect(module, plan, 2, 10, (const char[]){1, 0, 1, 1, 0, 0, 1, 0, 1, 1});
  expect(module, plan, 3, 4, (const char[]){1, 1, 1, 1});
  expect(module, plan, 4, 3, (const char[]){1, 0, 1});
  expect(module, plan, 5, 4, (const uint16_t[]){0x3fc0, 0xc000});
  expect(module, plan, 6, 0, "");
  refuse(module, plan, 1, 8, &e, "argument 1 of @main is no constant of the program");
  refuse(module, plan, FIRST, 12, &e,
         "argument 2: its tp.constant has no data, or not the 12 bytes");
  refuse(module, plan, FIRST + 7, 8, &e, "argument 9: its tp.constant has no data");
  refuse(module, plan, FIRST + 8, 8, &e, "argument 10: its tp.constant has no data");
  tp_plan_destroy(plan);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

/* A lookup of 8 rows of a table of 100 MB, and an addition to 8 of its rows. */
static const char touching[] =
    "#i = affine_map<(d0, d1) -> (d0)>\n#o = affine_map<(d0, d1) -> (d0, d1)>\n"
    "#index = affine_map<(r, c, u) -> (u)>\n#update = affine_map<(r, c, u) -> (u, c)>\n"
    "#result = affine_map<(r, c, u) -> (r, c)>\n"
    "func.func @lookup(%x: tensor<50000x500xf32>, %i: tensor<8xindex>) -> tensor<8x500xf32> {\n"
    "  %e = tensor.empty() : tensor<8x500xf32>\n"
    "  %y = linalg.generic {indexing_maps = [#i, #o], iterator_types = [\"parallel\", "
    "\"parallel\"]} ins(%i : tensor<8xindex>) outs(%e : tensor<8x500xf32>) {\n"
    "  ^bb0(%row: index, %out: f32):\n"
    "    %column = linalg.index 1 : index\n"
    "    %v = tensor.extract %x[%row, %column] : tensor<50000x500xf32>\n"
    "    linalg.yield %v : f32\n  } -> tensor<8x500xf32>\n"
    "  return %y : tensor<8x500xf32>\n}\n"
    "func.func @add(%x: tensor<50000x500xf32>, %i: tensor<8xindex>, %u: tensor<8x500xf32>)\n"
    "    -> (tensor<50000x500xf32> {tp.updates = 0}) {\n"
    "  %y = linalg.generic {indexing_maps = [#index, #update, #result], iterator_types = "
    "[\"parallel\", \"parallel\", \"reduction\"]}\n"
    "      ins(%i, %u : tensor<8xindex>, tensor<8x500xf32>) outs(%x : tensor<50000x500xf32>) {\n"
    "  ^bb0(%p: index, %value: f32, %old: f32):\n"
    "    %sum = arith.addf %old, %value : f32\n    %row = linalg.index 0 : index\n"
    "    %same = arith.cmpi eq, %p, %row : index\n"
    "    %z = arith.select %same, %sum, %old : f32\n"
    "    linalg.yield %z : f32\n  } -> tensor<50000x500xf32>\n"
    "  return %y : tensor<50000x500xf32>\n}\n";

static void expect_microseconds(MlirModule module, const char *function) {
  tp_plan *plan;
  assert_int_equal(tp_plan_measure(module, function, "cpu", &plan), TP_OK);
  assert_in_range(plan->compute, 1000 * 1000, 100 * 1000 * 1000);
  tp_plan_destroy(plan);
}

static void test_touching(void **state) {
  (void)state;
  MlirContext context = mlirContextCreateWithThreading(false);
  tp_context_prepare(context);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(touching));
  assert_false(mlirModuleIsNull(module));
  expect_microseconds(module, "lookup");
  expect_microseconds(module, "add");
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_constants),
                                     cmocka_unit_test(test_touching)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
