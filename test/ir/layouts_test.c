/* Tests tp_layouts_read: layouts of arguments, results and ops are those of the partitioned
 * program. */
#include "tp/passes.h"
#include "tp/plan.h"

#include <mlir-c/Diagnostics.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Uneven rows, an axis split in two, a scalar, a loop, an op with two results. */
static const char program[] =
    "shard.grid @mesh(shape = 2x4) {tp.axes = [\"dp\", \"tp\"]}\n"
    "func.func @main(%x: tensor<7x16xf32> {tp.name = \"x\", tp.sharding = [[\"dp\"], []]},\n"
    "    %w: tensor<16x16xbf16> {tp.sharding = [[], [\"tp:(1)2\"]]}, %s: f32)\n"
    "    -> (tensor<7x16xf32> {tp.name = \"y\"}, f32) {\n"
    "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
    "  %c3 = arith.constant 3 : index\n"
    "  %f = arith.extf %w : tensor<16x16xbf16> to tensor<16x16xf32>\n"
    "  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<7x16xf32>) {\n"
    "    %e = tensor.empty() : tensor<7x16xf32>\n"
    "    %z = linalg.fill ins(%s : f32) outs(%e : tensor<7x16xf32>) -> tensor<7x16xf32>\n"
    "    %m = linalg.matmul ins(%a, %f : tensor<7x16xf32>, tensor<16x16xf32>)\n"
    "        outs(%z : tensor<7x16xf32>) -> tensor<7x16xf32>\n"
    "    scf.yield %m : tensor<7x16xf32>\n  }\n"
    "  return %y, %s : tensor<7x16xf32>, f32\n}\n";

typedef struct fixture {
  MlirContext context;
  MlirModule module;
  char message[1000];
} fixture;

static void append(MlirStringRef part, void *text) {
  size_t n = strlen(text);
  snprintf((char *)text + n, sizeof((fixture *)NULL)->message - n, "%.*s", (int)part.length,
           part.data);
}

static MlirLogicalResult receive(MlirDiagnostic diagnostic, void *f) {
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError)
    mlirDiagnosticPrint(diagnostic, append, ((fixture *)f)->message);
  return mlirLogicalResultSuccess();
}

static int open(void **state) {
  static fixture f;
  f = (fixture){.context = mlirContextCreateWithThreading(false)};
  tp_register_passes();
  tp_context_prepare(f.context);
  (void)mlirContextAttachDiagnosticHandler(f.context, receive, &f, NULL);
  f.module = mlirModuleCreateParse(f.context, mlirStringRefCreateFromCString(program));
  *state = &f;
  return mlirModuleIsNull(f.module);
}

static int close(void **state) {
  fixture *f = *state;
  mlirModuleDestroy(f->module);
  mlirContextDestroy(f->context);
  return 0;
}

static const tp_layout *find(const tp_layouts *all, tp_layout_kind kind, const char *op, int i) {
  for (int k = 0; k < all->n; k++)
    if (all->items[k].kind == kind && all->items[k].index == i && strcmp(all->items[k].op, op) == 0)
      return &all->items[k];
  fail();
  return NULL;
}

/* Arguments and results have the layouts of the per-device program, which tp-partition made. */
static void compare(const tp_layouts *all, const tp_plan *plan, tp_layout_kind kind, int n,
                    const tp_plan_value *values) {
  for (int i = 0; i < n; i++) {
    const tp_layout *l = find(all, kind, "", i);
    assert_string_equal(l->function, "main");
    assert_string_equal(l->name, values[i].name);
    assert_string_equal(l->element, values[i].element);
    assert_string_equal(l->sharding, values[i].sharding);
    assert_int_equal(l->element_size, values[i].element_size);
    assert_int_equal(l->rank, values[i].rank);
    assert_memory_equal(l->shape, values[i].shape, (size_t)l->rank * sizeof *l->shape);
    assert_memory_equal(l->local, values[i].local, (size_t)l->rank * sizeof *l->local);
    assert_true(tp_spec_equal(l->spec, values[i].spec));
    assert_int_equal(all->mesh.n_axes, plan->mesh.n_axes);
  }
}

static void test_boundary(void **state) {
  fixture *f = *state;
  tp_layouts *all;
  tp_plan *plan;
  assert_int_equal(tp_run_pipeline(f->module, "tp-propagate"), TP_OK);
  assert_int_equal(tp_layouts_read(f->module, &all), TP_OK);
  assert_int_equal(tp_run_pipeline(f->module, "tp-partition"), TP_OK);
  assert_int_equal(tp_plan_measure(f->module, NULL, NULL, &plan), TP_OK);
  assert_int_equal(plan->n_arguments, 3);
  assert_int_equal(plan->n_results, 2);
  compare(all, plan, TP_LAYOUT_ARGUMENT, plan->n_arguments, plan->arguments);
  compare(all, plan, TP_LAYOUT_RESULT, plan->n_results, plan->results);
  assert_int_equal(find(all, TP_LAYOUT_ARGUMENT, "", 0)->bytes, 4 * 16 * 4);
  assert_int_equal(find(all, TP_LAYOUT_ARGUMENT, "", 1)->bytes, 16 * 8 * 2);
  tp_plan_destroy(plan);
  tp_layouts_destroy(all);
}

static void print(MlirStringRef part, void *file) {
  assert_int_equal(fwrite(part.data, 1, part.length, file), part.length);
}

/* The line of the op in the text of the program has the sharding. */
static void check_line(MlirModule module, const tp_layout *l) {
  char *text = NULL, expected[300];
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  assert_non_null(file);
  mlirOperationPrint(mlirModuleGetOperation(module), print, file);
  fclose(file);
  const char *line = strstr(text, l->op), *end = line ? strchr(line, '\n') : NULL;
  snprintf(expected, sizeof expected, "tp.sharding = %s", l->sharding);
  const char *found = line ? strstr(line, expected) : NULL;
  assert_true(found && found < end);
  free(text);
}

static void test_ops(void **state) {
  fixture *f = *state;
  tp_layouts *all;
  assert_int_equal(tp_run_pipeline(f->module, "tp-propagate{strategy=follow}"), TP_OK);
  assert_int_equal(tp_layouts_read(f->module, &all), TP_OK);
  assert_int_equal(all->mesh.n_axes, 3); /* dp, tp:(1)2, tp:(2)2 */
  const tp_layout *widened = find(all, TP_LAYOUT_OP_RESULT, "arith.extf", 0),
                  *product = find(all, TP_LAYOUT_OP_RESULT, "linalg.matmul", 0);
  check_line(f->module, widened);
  check_line(f->module, product);
  assert_string_equal(widened->element, "f32");
  assert_int_equal(widened->bytes, 4 * widened->local[0] * widened->local[1]);
  assert_int_equal(product->local[0], 4); /* of 7 rows on 2 devices */
  assert_true(widened->n_op < product->n_op);
  for (int i = 0; i < all->n; i++)
    assert_true(*all->items[i].location != '\0');
  tp_layouts_destroy(all);
}

static void test_errors(void **state) {
  fixture *f = *state;
  tp_layouts *all;
  assert_int_equal(tp_layouts_read(f->module, &all), TP_INVALID_ARGUMENT);
  assert_non_null(strstr(f->message, "result 0 (y) has no tp.sharding, so the program is not "
                                     "planned; run tp-propagate"));
  assert_int_equal(tp_run_pipeline(f->module, "tp-propagate,tp-partition"), TP_OK);
  *f->message = '\0';
  assert_int_equal(tp_layouts_read(f->module, &all), TP_INVALID_ARGUMENT);
  assert_non_null(strstr(f->message, "the module is already partitioned"));
  MlirModule empty = mlirModuleCreateEmpty(mlirLocationUnknownGet(f->context));
  *f->message = '\0';
  assert_int_equal(tp_layouts_read(empty, &all), TP_INVALID_ARGUMENT);
  assert_non_null(strstr(f->message, "the module has no mesh"));
  mlirModuleDestroy(empty);
  tp_layouts_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_boundary, open, close),
      cmocka_unit_test_setup_teardown(test_ops, open, close),
      cmocka_unit_test_setup_teardown(test_errors, open, close),
  };
  return cmocka_run_group_tests_name("layouts", tests, NULL, NULL);
}
