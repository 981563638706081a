/* Tests rules registered through the C API: planning and partitioning use them, and wrong ones are
 * rejected. */
#include "tp/passes.h"
#include "tp/rules.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
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
  char errors[4096];  /* all diagnostics */
  char program[4096]; /* output of a pipeline */
} fixture;

static void append(MlirStringRef part, void *data) {
  char *text = data;
  size_t n = strlen(text);
  snprintf(text + n, 4096 - n, "%.*s", (int)part.length, part.data);
}

static MlirLogicalResult keep_diagnostic(MlirDiagnostic diagnostic, void *data) {
  fixture *f = data;
  mlirDiagnosticPrint(diagnostic, append, f->errors);
  return mlirLogicalResultSuccess();
}

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  if (!f)
    return -1;
  tp_register_passes();
  f->context = mlirContextCreate();
  tp_context_prepare(f->context);
  mlirContextSetAllowUnregisteredDialects(f->context, true);
  mlirContextAttachDiagnosticHandler(f->context, keep_diagnostic, f, NULL);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  mlirContextDestroy(f->context);
  free(f);
  return 0;
}

static MlirStringRef ref(const char *text) { return mlirStringRefCreateFromCString(text); }

/* Runs tp-spmd on the function; the output is in f->program. */
static tp_status shard(fixture *f, const char *function) {
  char text[2048];
  snprintf(text, sizeof text, "shard.grid @mesh(shape = 4) {tp.axes = [\"x\"]}\n%s", function);
  f->errors[0] = f->program[0] = 0;
  MlirModule module = mlirModuleCreateParse(f->context, ref(text));
  assert_false(mlirModuleIsNull(module));
  tp_status status = tp_run_pipeline(module, "tp-spmd{strategy=follow}");
  mlirOperationPrint(mlirModuleGetOperation(module), append, f->program);
  mlirModuleDestroy(module);
  return status;
}

static tp_status add_text(const char *op, const char *rule, char *why, size_t why_size) {
  return tp_rule_register(
      &(tp_rule_registration){.size = sizeof(tp_rule_registration), .op = op, .rule = rule}, why,
      why_size);
}

static void assert_contains(const char *text, const char *part) {
  if (!strstr(text, part))
    print_error("\"%s\" is not in:\n%s\n", part, text);
  assert_non_null(strstr(text, part));
}

/* ---- Rule text of a registration ---- */

static const char double_it[] = "func.func @main(%a: tensor<8x4xf32> {tp.sharding = [[\"x\"], "
                                "[]]}) -> (tensor<8x4xf32> {tp.sharding = "
                                "[[\"x\"], []]}) {\n"
                                "  %r = \"my.double\"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>\n"
                                "  return %r : tensor<8x4xf32>\n"
                                "}\n";

static void text_is_honoured(void **state) {
  fixture *f = *state;
  assert_int_equal(shard(f, double_it), TP_INVALID_ARGUMENT);
  assert_contains(f->errors, "'my.double': no sharding rule for this op");
  assert_int_equal(add_text("my.double", "([i,j])->([i,j])", NULL, 0), TP_OK);
  assert_int_equal(shard(f, double_it), TP_OK);
  assert_contains(f->program, "(tensor<2x4xf32>) -> tensor<2x4xf32>");
  assert_int_equal(tp_rule_unregister("my.double"), TP_OK);
  assert_int_equal(shard(f, double_it), TP_INVALID_ARGUMENT);
}

/* The attribute on an op takes precedence over the registration of its name. */
static void attribute_counts_first(void **state) {
  fixture *f = *state;
  assert_int_equal(add_text("my.double", "([i,j])->([i,j])", NULL, 0), TP_OK);
  assert_int_equal(shard(f, "func.func @main(%a: tensor<8x4xf32> {tp.sharding = [[\"x\"], []]}) -> "
                            "(tensor<8x4xf32> {tp.sharding = [[], []]}) {\n"
                            "  %r = \"my.double\"(%a) {tp.rule = \"([_,j])->([_,j])\"} : "
                            "(tensor<8x4xf32>) -> tensor<8x4xf32>\n"
                            "  return %r : tensor<8x4xf32>\n"
                            "}\n"),
                   TP_OK);
  assert_contains(f->program, "(tensor<8x4xf32>) -> tensor<8x4xf32>");
  assert_int_equal(tp_rule_unregister("my.double"), TP_OK);
}

static void registrations_are_checked(void **state) {
  (void)state;
  char why[256];
  assert_int_equal(add_text("my.double", "([i,j)->([i,j])", why, sizeof why), TP_INVALID_ARGUMENT);
  assert_string_equal(
      why,
      "the rule of 'my.double': column 6: expected ',' or ']', found ')'; a rule is written as in "
      "([i,k],[k,j])->([i,j])");
  assert_int_equal(add_text("my.double", NULL, why, sizeof why), TP_INVALID_ARGUMENT);
  assert_string_equal(why, "'my.double' sets neither of rule and describe; set exactly one");
  assert_int_equal(add_text("double", "()->()", why, sizeof why), TP_INVALID_ARGUMENT);
  assert_string_equal(
      why, "a registration must set its size and the full name of an op, such as \"my.matmul\"");
  assert_int_equal(tp_rule_register(&(tp_rule_registration){.op = "my.double"}, why, sizeof why),
                   TP_INVALID_ARGUMENT);
  assert_int_equal(tp_rule_register(NULL, why, sizeof why), TP_INVALID_ARGUMENT);
  assert_int_equal(add_text("my.double", "()->()", why, sizeof why), TP_OK);
  assert_int_equal(add_text("my.double", "()->()", why, sizeof why), TP_INVALID_ARGUMENT);
  assert_string_equal(why, "'my.double' has a registered rule already; unregister it first");
  assert_int_equal(tp_rule_unregister("my.double"), TP_OK);
  assert_int_equal(tp_rule_unregister("my.double"), TP_NOT_FOUND);
  assert_int_equal(tp_rule_unregister(NULL), TP_NOT_FOUND);
}

static void known_ops_are_refused(void **state) {
  fixture *f = *state;
  assert_int_equal(add_text("arith.negf", "([i])->([i])", NULL, 0), TP_OK);
  assert_int_equal(shard(f, "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
                            "  %r = arith.negf %a : tensor<8xf32>\n"
                            "  return %r : tensor<8xf32>\n"
                            "}\n"),
                   TP_INVALID_ARGUMENT);
  assert_contains(f->errors,
                  "'arith.negf': has a built-in rule of family \"elementwise\", so it needs no "
                  "other; remove the registered rule");
  assert_int_equal(tp_rule_unregister("arith.negf"), TP_OK);
}

/* ---- Callbacks ---- */

/* Rule of "my.count"(%first): [first, first + 1, ...]. The op depends on positions, so its first
 * number must be adjusted. */
typedef struct counted {
  int n_localized;
  int64_t shards, missing;
  bool missing_index, missing_offset, replicated_operand;
  tp_place place;
  bool refuse;
} counted;

static tp_status describe_count(MlirOperation op, char *text, size_t text_size, char *why,
                                size_t why_size, void *data) {
  (void)data;
  if (mlirAttributeIsNull(mlirOperationGetDiscardableAttributeByName(op, ref("whole")))) {
    snprintf(text, text_size, "(())->([i])");
    return TP_OK;
  }
  snprintf(why, why_size, "it is whole");
  return TP_UNSUPPORTED;
}

static MlirValue binary(MlirOperation where, const char *name, MlirValue a, MlirValue b) {
  MlirOperationState state = mlirOperationStateGet(ref(name), mlirOperationGetLocation(where));
  MlirType type = mlirIndexTypeGet(mlirOperationGetContext(where));
  mlirOperationStateAddOperands(&state, 2, (MlirValue[]){a, b});
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(where), where, op);
  return mlirOperationGetResult(op, 0);
}

static tp_status localize_count(const tp_local_op *local, char *why, size_t why_size, void *data) {
  counted *count = data;
  MlirOperation op = tp_local_op_get(local);
  count->n_localized++;
  count->shards = tp_local_op_shards(local, "i");
  count->missing = tp_local_op_shards(local, "k");
  count->missing_index = mlirValueIsNull(tp_local_op_shard_index(local, "k"));
  count->missing_offset = mlirValueIsNull(tp_local_op_offset(local, "k"));
  count->place = tp_spec_place(tp_local_op_result(local, 0), 0);
  count->replicated_operand = tp_spec_equal(tp_local_op_operand(local, 0), tp_spec_replicated()) &&
                              tp_spec_equal(tp_local_op_operand(local, 7), tp_spec_replicated());
  if (count->refuse || tp_local_op_mesh(local)->n_axes != 1) {
    snprintf(why, why_size, "not today");
    return TP_UNSUPPORTED;
  }
  MlirValue offset = tp_local_op_offset(local, "i");
  if (!mlirValueIsNull(offset))
    mlirOperationSetOperand(op, 0,
                            binary(op, "arith.addi", mlirOperationGetOperand(op, 0), offset));
  return TP_OK;
}

static void count_function(char text[512], const char *attribute) {
  snprintf(text, 512,
           "func.func @main(%%n: index) -> (tensor<8xf32> {tp.sharding = [[\"x\"]]}) {\n"
           "  %%r = \"my.count\"(%%n) {%s} : (index) -> tensor<8xf32>\n"
           "  return %%r : tensor<8xf32>\n"
           "}\n",
           attribute);
}

static void callbacks_are_called(void **state) {
  fixture *f = *state;
  counted count = {0};
  char text[512];
  tp_rule_registration registration = {.size = sizeof registration,
                                       .op = "my.count",
                                       .describe = describe_count,
                                       .localize = localize_count,
                                       .data = &count};
  assert_int_equal(tp_rule_register(&registration, NULL, 0), TP_OK);
  count_function(text, "");
  assert_int_equal(shard(f, text), TP_OK);
  assert_int_equal(count.n_localized, 1);
  assert_int_equal(count.shards, 4);
  assert_int_equal(count.missing, 0);
  assert_true(count.missing_index);
  assert_true(count.missing_offset);
  assert_true(count.replicated_operand);
  assert_int_equal(count.place.kind, TP_DIM);
  assert_contains(f->program, "shard.process_multi_index on @mesh axes = [0]");
  assert_contains(f->program, "(index) -> tensor<2xf32>");

  count.refuse = true;
  assert_int_equal(shard(f, text), TP_INVALID_ARGUMENT);
  assert_contains(f->errors,
                  "'my.count': the rule registered for this op cannot localize it: not today");
  count_function(text, "whole");
  assert_int_equal(shard(f, text), TP_INVALID_ARGUMENT);
  assert_contains(f->errors, "'my.count': the rule registered for this op rejects it: it is whole");
  assert_int_equal(tp_rule_unregister("my.count"), TP_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(text_is_honoured, set_up, tear_down),
      cmocka_unit_test_setup_teardown(attribute_counts_first, set_up, tear_down),
      cmocka_unit_test(registrations_are_checked),
      cmocka_unit_test_setup_teardown(known_ops_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(callbacks_are_called, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
