/* Every allocation of whole pipelines fails in turn: one error that says so, no leak, and the
 * context works as before. */
#include "support/support.h"
#include "test/runtime/harness/long.h"
#include "tp/passes.h"
#include "tp/text.h"

#include <mlir-c/Diagnostics.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The programs of a file of the source tree, which are separated by lines of dashes. `before`
 * prepares them, and `pipeline` runs while allocations fail. */
typedef struct pipeline_case {
  const char *file, *before, *pipeline;
} pipeline_case;

typedef struct fixture {
  MlirContext context;
  const pipeline_case *c;
  int program, n_errors, n_wrong;
  char error[400]; /* the last one */
} fixture;

static void append(MlirStringRef part, void *data) {
  char *text = data;
  size_t n = strlen(text);
  snprintf(text + n, 400 - n, "%.*s", (int)part.length, part.data);
}

static MlirLogicalResult keep(MlirDiagnostic diagnostic, void *data) {
  fixture *f = data;
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  f->n_errors++;
  f->error[0] = 0;
  mlirDiagnosticPrint(diagnostic, append, f->error);
  return mlirLogicalResultSuccess();
}

static void wrong(fixture *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void wrong(fixture *f, const char *format, ...) {
  char text[300];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  f->n_wrong++;
  print_error("%s, program %d, %s: %s: %d errors, the last: %s\n", f->c->file, f->program,
              f->c->pipeline, text, f->n_errors, f->error);
}

static void append_output(MlirStringRef part, void *output) {
  (void)tp__string_append_bytes(output, part.data, part.length);
}

/* Runs the pipeline on a copy of `input` while allocations k .. k + n - 1 fail. `output` may be
 * NULL. Returns the number of allocations. */
static int64_t run(fixture *f, MlirOperation input, int64_t k, int64_t n, tp_status *status,
                   tp__string *output) {
  MlirModule module = mlirModuleFromOperation(mlirOperationClone(input));
  f->n_errors = 0;
  f->error[0] = 0;
  tp__alloc_fail(k, n);
  *status = tp_run_pipeline(module, f->c->pipeline);
  int64_t count = tp__alloc_count();
  tp__alloc_fail(0, 0);
  if (*status == TP_OK && output)
    mlirOperationPrint(mlirModuleGetOperation(module), append_output, output);
  mlirModuleDestroy(module);
  return count;
}

/* Lets allocation k fail, alone or with all later ones. */
static void fail_at(fixture *f, MlirOperation input, int64_t k, int64_t n) {
  tp_status status;
  int64_t live = tp__alloc_live();
  (void)run(f, input, k, n, &status, NULL);
  const char *what = n == 1 ? "alone" : "and all later ones";
  if (tp__alloc_live() != live)
    wrong(f, "allocation %lld fails %s: %lld blocks leak", (long long)k, what,
          (long long)(tp__alloc_live() - live));
  if (status != TP_NO_MEMORY || f->n_errors != 1 || !strstr(f->error, "out of memory"))
    wrong(f, "allocation %lld fails %s: status '%s'", (long long)k, what, tp_status_name(status));
}

/* All of the first few, in both ways; then larger and larger steps, in turn in one way. TP_LONG=1:
 * small steps, in both ways. */
enum { FIRST_ALLOCATIONS = 24 };
static int64_t next_of(int64_t k) { return k + 1 + k / (test_is_long() ? 400 : 6); }
static bool fails_alone(int64_t k, int64_t turn) {
  return test_is_long() || k <= FIRST_ALLOCATIONS || turn % 2 == 0;
}
static bool fails_on(int64_t k, int64_t turn) {
  return test_is_long() || k <= FIRST_ALLOCATIONS || turn % 2 != 0;
}

static void fail_each(fixture *f, MlirOperation input) {
  tp__string first = {0}, last = {0};
  tp_status status;
  int64_t count = run(f, input, 0, 0, &status, &first);
  if (status != TP_OK)
    wrong(f, "without failures: status '%s'", tp_status_name(status));
  for (int64_t k = 1, turn = 0; status == TP_OK && k <= count; k = next_of(k), turn++) {
    if (fails_alone(k, turn))
      fail_at(f, input, k, 1);
    if (fails_on(k, turn))
      fail_at(f, input, k, INT64_MAX);
  }
  (void)run(f, input, 0, 0, &status, &last);
  if (strcmp(tp__string_text(&first), tp__string_text(&last)) != 0)
    wrong(f, "another output after the failures");
  tp__string_destroy(&first);
  tp__string_destroy(&last);
}

static void try_program(fixture *f, const char *program) {
  f->context = mlirContextCreateWithThreading(false);
  mlirContextSetAllowUnregisteredDialects(f->context, true);
  tp_context_prepare(f->context);
  (void)mlirContextAttachDiagnosticHandler(f->context, keep, f, NULL);
  MlirModule module = mlirModuleCreateParse(f->context, mlirStringRefCreateFromCString(program));
  if (mlirModuleIsNull(module))
    wrong(f, "cannot be parsed");
  else if (f->c->before && tp_run_pipeline(module, f->c->before) != TP_OK)
    wrong(f, "cannot be prepared");
  else
    fail_each(f, mlirModuleGetOperation(module));
  mlirModuleDestroy(module);
  mlirContextDestroy(f->context);
}

static void read_file(const char *name, tp__string *text) {
  char path[1000], part[4096];
  snprintf(path, sizeof path, "%s/%s", TEST_SOURCE, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
    assert_int_equal(tp__string_append_bytes(text, part, n), TP_OK);
  fclose(file);
}

static void try_all(const pipeline_case *cases, size_t n_cases) {
  static const char separator[] = "// -----";
  int n_wrong = 0;
  for (size_t i = 0; i < n_cases; i++) {
    tp__string text = {0};
    fixture f = {.c = &cases[i]};
    read_file(cases[i].file, &text);
    for (char *next = text.text, *program; (program = next) != NULL; f.program++) {
      next = strstr(program, separator);
      if (next) {
        *next = 0;
        next += sizeof separator - 1;
      }
      try_program(&f, program);
    }
    n_wrong += f.n_wrong;
    tp__string_destroy(&text);
  }
  assert_int_equal(n_wrong, 0);
}

#define CASES(name, ...)                                                                           \
  static void name(void **state) {                                                                 \
    static const pipeline_case cases[] = {__VA_ARGS__};                                            \
    (void)state;                                                                                   \
    try_all(cases, sizeof cases / sizeof *cases);                                                  \
  }

#define PREPARE "tp-import,tp-decompose,tp-inline-calls,tp-raise,tp-hoist-invariants"
#define MODELS "examples/models/"
#define PASSES "test/passes/"

CASES(import_annotations, {PASSES "import/import_shardy.mlir", NULL, "tp-import"},
      {PASSES "import/import_upstream.mlir", NULL, "tp-import"})
CASES(prepare, {PASSES "prepare/decompose/decompose.mlir", NULL, "tp-decompose"},
      {PASSES "prepare/inline_calls.mlir", NULL, "tp-inline-calls"},
      {PASSES "prepare/raise/raise_concat.mlir", NULL, "tp-raise"},
      {PASSES "prepare/hoist_invariants.mlir", NULL, "tp-hoist-invariants"},
      {MODELS "attention.mlir", NULL, PREPARE}, {MODELS "moe_dense.mlir", NULL, PREPARE},
      {PASSES "prepare/raise/raise_iota.mlir", NULL, "tp-raise"},
      {PASSES "prepare/raise/raise_reads.mlir", NULL, "tp-raise"},
      {PASSES "prepare/normalize.mlir", NULL, "tp-normalize"})
CASES(propagate, {MODELS "mlp_fwd.mlir", PREPARE, "tp-propagate"},
      {MODELS "scan_train.mlir", PREPARE, "tp-propagate"},
      {MODELS "attention.mlir", PREPARE, "tp-propagate{strategy=follow}"},
      {MODELS "softmax_ce.mlir", PREPARE, "tp-propagate{report=/dev/null}"},
      {MODELS "conv_net.mlir", PREPARE, "tp-propagate{gap=0.1 overlap=true}"},
      {PASSES "propagate/report/explain.mlir", NULL, "tp-propagate{explain=w1}"})
CASES(limits, {MODELS "mlp_fwd.mlir", PREPARE, "tp-propagate{memory-limit=60KB}"},
      {PASSES "propagate/limits/propagate_memory_limit_loops.mlir", NULL, "tp-propagate"},
      {MODELS "scan_decoder.mlir", PREPARE, "tp-propagate{time-limit=1e-9 memory-limit=1MB}"},
      {PASSES "propagate/limits/propagate_memory_limit_places.mlir", NULL,
       "tp-propagate{memory-limit=9216B}"},
      {PASSES "propagate/model/propagate_attention_ring.mlir", NULL,
       "tp-decompose,tp-propagate{mesh=tp=4 topology=h100 memory-limit=2700000}"})
CASES(partition, {MODELS "mlp_fwd.mlir", PREPARE ",tp-propagate", "tp-partition"},
      {MODELS "scan_train.mlir", PREPARE ",tp-propagate", "tp-partition"},
      {MODELS "uneven.mlir", PREPARE ",tp-propagate", "tp-partition"},
      {MODELS "conv_net.mlir", PREPARE ",tp-propagate", "tp-partition"},
      {PASSES "partition/expand_messages.mlir", NULL, "tp-expand-messages"},
      {PASSES "partition/simplify_collectives.mlir", NULL, "tp-simplify-collectives"},
      {PASSES "partition/stage_collectives.mlir", NULL, "tp-stage-collectives{topology=h100}"})
CASES(fuse,
      {MODELS "layernorm_gelu_bf16.mlir", PREPARE ",tp-propagate,tp-partition",
       "tp-simplify-collectives,tp-stage-collectives{topology=h100},tp-fuse-collectives{fuse="
       "always}"},
      {PASSES "fuse/fuse_quantize.mlir", NULL, "tp-fuse-collectives{fuse=always}"},
      {PASSES "fuse/fuse_softmax.mlir", NULL, "tp-fuse-collectives{fuse=always}"},
      {PASSES "fuse/fuse_epilogues.mlir", NULL, "tp-fuse-epilogues{fused=keep}"},
      {PASSES "fuse/fuse_products.mlir", NULL, "tp-fuse-collectives{fuse=always}"},
      {PASSES "fuse/fuse_gathers.mlir", NULL, "tp-fuse-collectives{fuse=always}"},
      {PASSES "attention/tile_attention_ring.mlir", NULL, "tp-tile-attention"})
CASES(lower, {MODELS "attention.mlir", "tp-spmd", "tp-to-runtime{overlap=true}"},
      {MODELS "conv_net.mlir", "tp-spmd", "tp-to-runtime"},
      {MODELS "kv_decode.mlir", "tp-spmd", "tp-to-runtime{overlap=true}"},
      {PASSES "lower/lower_to_runtime_fused.mlir", NULL,
       "tp-inline-calls{fused=keep},tp-lower-to-runtime"},
      {PASSES "bufferize/keep_scalars.mlir", NULL, "tp-keep-scalars"},
      {PASSES "bufferize/clone_inits.mlir", NULL, "tp-clone-inits"},
      {PASSES "bufferize/prepare_fusion.mlir", NULL, "tp-prepare-fusion"},
      {PASSES "bufferize/name_contractions.mlir", NULL, "tp-name-contractions"},
      {PASSES "bufferize/schedule/schedule_collectives.mlir", NULL,
       "tp-schedule-collectives{least=0}"},
      {PASSES "bufferize/assign_buffers.mlir", NULL, "tp-assign-buffers"},
      {PASSES "bufferize/order_loops.mlir", NULL, "tp-order-loops"},
      {PASSES "bufferize/tile_transposes.mlir", NULL, "tp-tile-transposes"},
      {PASSES "lower/lower_contractions.mlir", NULL, "tp-lower-contractions"},
      {PASSES "lower/return_errors.mlir", NULL, "tp-return-errors"},
      {PASSES "math/widen_sums.mlir", NULL, "tp-widen-sums"},
      {PASSES "math/expand_math.mlir", NULL, "tp-expand-math"})
CASES(gpu, {MODELS "layernorm_gelu_bf16.mlir", "tp-spmd{fuse=always}", "tp-to-cuda{overlap=true}"},
      {MODELS "llama_block_train.mlir",
       "tp-spmd{mesh=1},tp-decompose,tp-inline-calls,tp-raise,canonicalize,cse,"
       "convert-elementwise-to-linalg",
       "tp-fuse-attention{fused=keep}"},
      {PASSES "gpu/nests/keep_offsets.mlir", NULL,
       "tp-keep-offsets,tp-outline-kernels{asserts=true}"},
      {PASSES "gpu/nests/split_reductions.mlir", NULL, "tp-split-reductions"},
      {PASSES "gpu/nests/fuse_nests.mlir", NULL, "tp-fuse-nests"},
      {PASSES "gpu/kernels/map_kernels.mlir", NULL,
       "tp-outline-kernels{asserts=true},tp-map-kernels"},
      {PASSES "gpu/kernels/map_kernels_groups.mlir", NULL,
       "tp-fuse-nests,tp-outline-kernels,tp-map-kernels"})

/* A run of text on which allocations k .. k + n - 1 fail. Returns the number of allocations. */
static int64_t run_text(const char *program, int64_t k, int64_t n, tp_status *status) {
  static const char *const options[] = {"mesh=tp=2"};
  tp_text_request request = {.size = sizeof request,
                             .program = program,
                             .pipeline = "tp-plan",
                             .options = options,
                             .n_options = 1,
                             .wants_report = 1};
  tp_text_result *result;
  tp__alloc_fail(k, n);
  *status = tp_text_run(&request, &result);
  int64_t count = tp__alloc_count();
  tp__alloc_fail(0, 0);
  assert_true((*status == TP_NO_MEMORY) == (result == NULL));
  tp_text_result_destroy(result);
  return count;
}

/* Programs as text. The first and the third are planned. The second is refused, by a diagnostic
 * that has a location. */
static void text(void **state) {
  static const char refused[] =
      "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
      "  %y = \"stablehlo.cholesky\"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> "
      "loc(fused[\"cholesky\", \"a.py\":1:2])\n"
      "  return %y : tensor<8x8xf32>\n"
      "}\n";
  static const char imported[] =
      "func.func @main(%x: tensor<8x80xcomplex<f32>>, %u: tensor<3x8xi32>, %i: tensor<3x1xi64>, "
      "%y: tensor<4x8xi32>) -> (tensor<8x80xcomplex<f32>>, tensor<4x8xi32>) {\n"
      "  %0 = \"stablehlo.fft\"(%x) {fft_length = array<i64: 80>, fft_type = #stablehlo<fft_type "
      "FFT>} : (tensor<8x80xcomplex<f32>>) -> tensor<8x80xcomplex<f32>>\n"
      "  %1 = \"tm_tensor.scatter\"(%u, %i, %y) ({\n"
      "  ^bb0(%a: i32, %b: i32):\n"
      "    \"tm_tensor.yield\"(%a) : (i32) -> ()\n"
      "  }) {dimension_map = array<i64: 0>} : (tensor<3x8xi32>, tensor<3x1xi64>, "
      "tensor<4x8xi32>) -> tensor<4x8xi32>\n"
      "  return %0, %1 : tensor<8x80xcomplex<f32>>, tensor<4x8xi32>\n"
      "}\n";
  (void)state;
  tp__string planned = {0};
  read_file(MODELS "mlp_fwd.mlir", &planned);
  const char *const programs[] = {planned.text, refused, imported};
  const tp_status expected[] = {TP_OK, TP_UNSUPPORTED, TP_OK};
  for (int i = 0; i < 3; i++) {
    tp_status status;
    int64_t count = run_text(programs[i], 0, 0, &status), live = tp__alloc_live();
    assert_int_equal(status, expected[i]);
    for (int64_t k = 1, turn = 0; k <= count; k = next_of(k), turn++)
      for (int on = 0; on < 2; on++) {
        if (!(on ? fails_on(k, turn) : fails_alone(k, turn)))
          continue;
        run_text(programs[i], k, on ? INT64_MAX : 1, &status);
        assert_int_equal(status, TP_NO_MEMORY);
        assert_int_equal(tp__alloc_live(), live);
      }
  }
  tp__string_destroy(&planned);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(import_annotations),
      cmocka_unit_test(prepare),
      cmocka_unit_test(propagate),
      cmocka_unit_test(limits),
      cmocka_unit_test(partition),
      cmocka_unit_test(fuse),
      cmocka_unit_test(lower),
      cmocka_unit_test(gpu),
      cmocka_unit_test(text),
  };
  tp_register_passes();
  if (argc > 1)
    cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests_name("no memory", tests, NULL, NULL);
}
