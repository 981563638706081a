/* Tests that a plan says that an interrupt ended its search, whenever the interrupt comes: also
 * when one search has ended and the next one has not started. */
#include "tp/passes.h"
#include "tp/watch.h"

#include <mlir-c/Diagnostics.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FILE_BYTES = 1 << 20 };

/* Calls of the watch, of which there are about 20 per second, until the interrupt. The first
 * searches end after about 10. */
static const int waits[] = {0, 8, 9, 10, 11};

static char source[FILE_BYTES];

static void read_source(void) {
  FILE *file = fopen(TEST_SOURCE "/examples/models/llama_block_train.mlir", "r");
  assert_non_null(file);
  size_t n = fread(source, 1, sizeof source - 1, file);
  assert_true(n > 0 && n < sizeof source - 1);
  source[n] = '\0';
  assert_int_equal(fclose(file), 0);
}

/* ---- the interrupt ---- */

typedef struct interrupt {
  int left; /* calls of the watch while it searches, until the interrupt */
  bool has_come;
} interrupt;

static int press(void *data, const tp_progress *progress) {
  interrupt *i = data;
  if (!i->has_come && strcmp(progress->phase, "searching") == 0 && !progress->is_diagnostic)
    i->has_come = --i->left < 0;
  return i->has_come;
}

/* ---- what the plan says ---- */

typedef struct found {
  const char *text;
  size_t matched;
  bool is_there;
} found;

static void look(MlirStringRef part, void *data) {
  found *f = data;
  for (size_t i = 0; i < part.length && !f->is_there; i++) {
    f->matched = part.data[i] == f->text[f->matched] ? f->matched + 1
                 : part.data[i] == f->text[0]        ? 1
                                                     : 0;
    f->is_there = f->text[f->matched] == '\0';
  }
}

static bool has(MlirModule module, const char *text) {
  found f = {.text = text};
  mlirOperationPrint(mlirModuleGetOperation(module), look, &f);
  return f.is_there;
}

static MlirLogicalResult hide(MlirDiagnostic diagnostic, void *data) {
  (void)data;
  return mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticRemark ? mlirLogicalResultSuccess()
                                                                       : mlirLogicalResultFailure();
}

static void test_any_time(void **state) {
  (void)state;
  read_source();
  for (size_t n = 0; n < sizeof waits / sizeof *waits; n++) {
    MlirContext context = mlirContextCreateWithThreading(false);
    tp_register_passes();
    tp_context_prepare(context);
    (void)mlirContextAttachDiagnosticHandler(context, hide, NULL, NULL);
    MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(source));
    assert_false(mlirModuleIsNull(module));
    interrupt i = {.left = waits[n]};
    tp_watch_set(press, &i);
    assert_int_equal(
        tp_run_pipeline(module, "tp-decompose,tp-raise,tp-propagate{memory-limit=150000B}"), TP_OK);
    tp_watch_set(NULL, NULL);
    assert_true(has(module, "tp.plan = "));
    if (i.has_come && !has(module, "stopped_by = \"interrupt\""))
      fail_msg("an interrupt after %d more calls of the watch is not told", waits[n]);
    assert_true(i.has_come || n > 0); /* a fast search may end before the later ones */
    mlirModuleDestroy(module);
    mlirContextDestroy(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_time)};
  return cmocka_run_group_tests_name("interrupt", tests, NULL, NULL);
}
