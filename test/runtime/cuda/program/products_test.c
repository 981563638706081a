/* Tests contractions that run side by side in GPU programs. Each has the bits of the CPU; the
 * streams in which they run are ordered as they must be. */
#define _GNU_SOURCE 1
#include "blas_fakes.h"
#include "test/runtime/cuda/fake/fake_stream.h"
#include "test/runtime/harness/table.h"
#include "tprt/cuda_gemm.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LOOPS = 4, M = 16, K = 24 };

/* Products of A[16, 24], which the program makes: A = X Y. */
typedef struct row {
  const char *name;
  tprt_dtype dtype;
  int n, n_by_blas; /* products, and those of them by cuBLASLt */
  struct {
    int n_loops;
    int64_t loops[4 * MOST_LOOPS]; /* size, stride in A, B, C */
  } products[TPRT_MAX_MATMULS];
} row;

// clang-format off
static const row rows[] = {
    {"projections", TPRT_BF16, 3, 3, {{3, {16, 24, 0, 64, 64, 0, 1, 1, 24, 1, 64, 0}},
                                      {3, {16, 24, 0, 16, 16, 0, 1, 1, 24, 1, 16, 0}},
                                      {3, {16, 24, 0, 16, 16, 0, 24, 1, 24, 1, 1, 0}}}},
    {"two",         TPRT_F32,  2, 2, {{3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
                                      {3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}}}},
    {"four, two by kernels", TPRT_F32, 4, 2, {{3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
                                      {3, {24, 1, 0, 20, 20, 0, 1, 1, 16, 24, 20, 0}},
                                      {3, {16, 24, 0, 3, 20, 0, 2, 2, 24, 1, 20, 0}},
                                      {2, {16, 24, 0, 1, 24, 1, 1, 0}}}},
    {"a batch",     TPRT_F16,  2, 2, {{4, {2, 192, 0, 128, 8, 24, 0, 16, 16, 0, 1, 1, 24, 1, 16, 0}},
                                      {3, {16, 24, 0, 32, 32, 0, 1, 1, 24, 1, 32, 0}}}},
    {"by kernels",  TPRT_I32,  3, 0, {{3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
                                      {3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
                                      {3, {16, 24, 0, 9, 9, 0, 1, 1, 24, 1, 9, 0}}}},
    {"one",         TPRT_F64,  1, 1, {{3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}}}},
};
// clang-format on
enum { N_ROWS = sizeof rows / sizeof *rows };

/* A = X[16, 8] Y[8, 24]. */
static const int64_t first[] = {M, 8, 0, K, K, 0, 1, 1, 8, 1, K, 0};

static tprt_abi_fused_contractions words_of(const row *r) {
  tprt_abi_fused_contractions words = {.n = r->n};
  for (int i = 0; i < r->n; i++) {
    add_input(&words.operands, TPRT_IN_A);
    add_input(&words.operands, TPRT_IN_B);
    add_output(&words.operands, TPRT_OUT_TENSOR);
    words.n_loops[i] = r->products[i].n_loops;
    memcpy(words.loops[i], r->products[i].loops,
           (size_t)r->products[i].n_loops * sizeof(tprt_abi_loop));
  }
  return words;
}

static void add_products(test_table *t, const row *r) {
  const tprt_abi_fused_contractions words = words_of(r);
  table_site(t, TPRT_SITE_FUSED_CONTRACTIONS, r->dtype, TPRT_NO_REDUCTION, 0, NULL, 0, NULL, &words,
             N_WORDS_OF(tprt_abi_fused_contractions));
  table_header(t)->target = TPRT_TARGET_CUDA;
}

enum { X, Y, INPUT, B0, C0 = B0 + TPRT_MAX_MATMULS, N_BUFFERS = C0 + TPRT_MAX_MATMULS };

static int32_t call(tprt_context *context, const row *r, void *const at[N_BUFFERS]) {
  const tprt_abi_fused_contractions words = words_of(r);
  fused_pointers pointers = {{{NULL}}};
  for (int i = 0; i < r->n; i++) {
    pointers.of[TPRT_IN_A][i] = at[INPUT];
    pointers.of[TPRT_IN_B][i] = at[B0 + i];
    pointers.of[TPRT_OUT_TENSOR][i] = at[C0 + i];
  }
  int32_t status = tprt_abi_contract(context, 0, at[X], at[Y], at[INPUT]);
  return status ? status : call_fused(context, 1, &words.operands, &pointers);
}

static const char *mode = ""; /* what fails in the driver once there is a context */

/* Runs the row on copies of memory. */
static tprt_status run(const row *r, char *memory[N_BUFFERS], char error[256]) {
  int64_t one = 1;
  test_table program = table_make(1, &one);
  table_contract(&program, r->dtype, 3, first)->dim = 1;
  add_products(&program, r);
  tprt_comm *world = blas_world();
  tprt_context *context = blas_context(world, TPRT_TARGET_CUDA);
  size_t bytes = BLAS_ELEMENTS * tprt_dtype_size(r->dtype);
  void *at[N_BUFFERS];
  for (int i = 0; i < N_BUFFERS; i++) {
    assert_int_equal(tprt_context_alloc(context, bytes, &at[i]), TPRT_OK);
    assert_int_equal(tprt_context_upload(context, at[i], memory[i], bytes), TPRT_OK);
  }
  setenv("FAKE_CUDA", mode, 1);
  tprt_status status = (tprt_status)tprt_abi_enter(context, program.words);
  if (!status)
    status = (tprt_status)call(context, r, at);
  setenv("FAKE_CUDA", "", 1);
  for (int i = 0; i < r->n && !status; i++)
    assert_int_equal(tprt_context_download(context, memory[C0 + i], at[C0 + i], bytes), TPRT_OK);
  snprintf(error, 256, "%s", tprt_context_error(context));
  for (int i = 0; i < N_BUFFERS; i++)
    tprt_context_free(context, at[i]);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
  return status;
}

static void expect(const row *r, char *memory[N_BUFFERS]) {
  blas_on_host(r->dtype, true, 3, first, memory[X], memory[Y], memory[INPUT]);
  for (int i = 0; i < r->n; i++)
    blas_on_host(r->dtype, true, r->products[i].n_loops, r->products[i].loops, memory[INPUT],
                 memory[B0 + i], memory[C0 + i]);
}

/* True if all results have the bits of the host. */
static bool is_right(const row *r, char *memory[N_BUFFERS], char *expected[N_BUFFERS]) {
  bool equal = true;
  for (int i = 0; i < r->n; i++)
    equal &=
        memcmp(memory[C0 + i], expected[C0 + i], BLAS_ELEMENTS * tprt_dtype_size(r->dtype)) == 0;
  return equal;
}

static const char *const orders[] = {"", "1", "001", "010", "100", "011", "101", "110", "?"};

/* Right in any order of the streams; products that run at the same time share no workspace. */
static void test_rows(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; i++)
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
      const row *r = &rows[i];
      char *memory[N_BUFFERS], *expected[N_BUFFERS], error[256];
      blas_buffers(r->dtype, N_BUFFERS, 7, memory);
      blas_buffers(r->dtype, N_BUFFERS, 7, expected);
      expect(r, expected);
      setenv("FAKE_ORDER", orders[o], 1);
      blas_begin(&blas_without_faults);
      if (run(r, memory, error))
        fail_msg("%s: %s", r->name, error);
      unsetenv("FAKE_ORDER");
      fake_blaslt_report seen = blas_report();
      int n_first = r->n_by_blas > 0; /* A is a product of lane 0, too */
      if (seen.n_products != r->n_by_blas + n_first || seen.n_workspaces != r->n_by_blas ||
          seen.n_alive || seen.n_violations)
        fail_msg("%s: %ld products in %d workspaces, %ld alive, %d violations: %s", r->name,
                 seen.n_products, seen.n_workspaces, seen.n_alive, seen.n_violations,
                 seen.violation);
      if (!is_right(r, memory, expected))
        fail_msg("%s: other bits than the processor, order \"%s\"", r->name, orders[o]);
      blas_buffers_free(N_BUFFERS, memory);
      blas_buffers_free(N_BUFFERS, expected);
    }
}

/* Each wait between the streams is needed. */
static void test_lost_waits(void **state) {
  (void)state;
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL),
       *found = library ? dlsym(library, "fake_streams_of_thread") : NULL;
  fake_streams_of_thread_fn *streams;
  memcpy(&streams, &found, sizeof found);
  assert_non_null(found);
  const row *r = &rows[0];
  long n_waits = 2 * (r->n - 1);
  for (long lost = 0; lost <= n_waits; lost++) {
    bool right = true;
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
      char *memory[N_BUFFERS], *expected[N_BUFFERS], error[256];
      blas_buffers(r->dtype, N_BUFFERS, 7, memory);
      blas_buffers(r->dtype, N_BUFFERS, 7, expected);
      expect(r, expected);
      setenv("FAKE_ORDER", orders[o], 1);
      blas_begin(&blas_without_faults);
      *streams() = (fake_stream_plan){.lose_wait = lost};
      assert_int_equal(run(r, memory, error), TPRT_OK);
      assert_int_equal(streams()->n_waits, n_waits);
      *streams() = (fake_stream_plan){0};
      unsetenv("FAKE_ORDER");
      right &= is_right(r, memory, expected);
      blas_buffers_free(N_BUFFERS, memory);
      blas_buffers_free(N_BUFFERS, expected);
    }
    if (right != (lost == 0))
      fail_msg("wait %ld of %ld: %s", lost, n_waits, right ? "not needed" : "wrong");
  }
  dlclose(library);
}

/* Each call of cuBLASLt fails in turn; so do streams and events. */
static void test_failures(void **state) {
  (void)state;
  static const struct {
    const char *mode, *text;
    tprt_status status;
  } cases[] = {{"stream", "a stream", TPRT_DEVICE},
               {"event", "an event", TPRT_DEVICE},
               {"record", "an event", TPRT_DEVICE},
               {"wait", "waiting for an event", TPRT_DEVICE}};
  enum { STATUS = 13 };
  char *memory[N_BUFFERS], error[256];
  bool failed = true;
  long n_failed = 0;
  blas_buffers(rows[0].dtype, N_BUFFERS, 7, memory);
  for (long at = 1; failed; at++) {
    const fake_blaslt_plan fault = {.fail_at = at, .status = STATUS};
    blas_begin(&fault);
    tprt_status status = run(&rows[0], memory, error);
    fake_blaslt_report r = blas_report();
    failed = *r.failed;
    bool matters = failed && !strstr(r.failed, "Destroy");
    if (status != (matters ? TPRT_DEVICE : TPRT_OK) || r.n_alive)
      fail_msg("call %ld, %s: status %d, %ld alive: %s", at, r.failed, status, r.n_alive, error);
    n_failed += matters;
  }
  assert_true(n_failed > 40);
  blas_begin(&blas_without_faults);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mode = cases[i].mode;
    tprt_status status = run(&rows[0], memory, error);
    mode = "";
    if (status != cases[i].status || !strstr(error, cases[i].text))
      fail_msg("%s: status %d, \"%s\"", cases[i].mode, status, error);
  }
  blas_buffers_free(N_BUFFERS, memory);
}

/* ---- with epilogues ---- */

/* A[16, 24] times B[24, n], or B[n, 24]: what each product does to its elements. */
static const struct {
  int64_t n, transposed, function, bias;
} finishes[] = {
    {64, 0, TPRT_CUDA_GELU, 1}, {16, 1, TPRT_CUDA_NOTHING, 1}, {24, 0, TPRT_CUDA_RELU, 0}};
enum { N_FINISHES = sizeof finishes / sizeof *finishes };

static tprt_abi_fused_contractions finished_words(void) {
  tprt_abi_fused_contractions words = {.n = N_FINISHES};
  for (int i = 0; i < N_FINISHES; i++) {
    int64_t n = finishes[i].n;
    bool turned = finishes[i].transposed;
    add_input(&words.operands, TPRT_IN_A);
    add_input(&words.operands, TPRT_IN_B);
    if (finishes[i].bias)
      add_input(&words.operands, TPRT_IN_BIAS);
    add_output(&words.operands, TPRT_OUT_TENSOR);
    words.biases |= finishes[i].bias << i;
    words.functions[i] = finishes[i].function;
    words.n_loops[i] = 3;
    words.loops[i][0] = (tprt_abi_loop){M, {K, 0, n}};
    words.loops[i][1] = (tprt_abi_loop){n, {0, turned ? K : 1, 1}};
    words.loops[i][2] = (tprt_abi_loop){K, {1, turned ? 1 : n, 0}};
  }
  return words;
}

/* A site of all products, and with `alone` one of each. */
static test_table finished_program(tprt_dtype dtype, bool alone) {
  int64_t one = 1;
  test_table t = table_make(1, &one);
  const tprt_abi_fused_contractions words = finished_words();
  table_site(&t, TPRT_SITE_FUSED_CONTRACTIONS, dtype, TPRT_NO_REDUCTION, 0, NULL, 0, NULL, &words,
             N_WORDS_OF(tprt_abi_fused_contractions));
  for (int i = 0; i < N_FINISHES && alone; i++) {
    const int64_t shape[] = {M, finishes[i].n};
    tprt_abi_fused_matmul one_of = {
        .k = K, .transpose_b = finishes[i].transposed, .function = finishes[i].function};
    add_input(&one_of.operands, TPRT_IN_A);
    add_input(&one_of.operands, TPRT_IN_B);
    if (finishes[i].bias)
      add_input(&one_of.operands, TPRT_IN_BIAS);
    add_output(&one_of.operands, TPRT_OUT_TENSOR);
    table_site(&t, TPRT_SITE_FUSED_MATMUL, dtype, TPRT_NO_REDUCTION, 0, NULL, 2, shape, &one_of,
               N_WORDS_OF(tprt_abi_fused_matmul));
  }
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

/* Operands of product i: the rows, a matrix, a bias; its result alone, and beside the others. */
enum { FACTOR = 1, BIAS, ALONE, BESIDE, N_OPERANDS };

/* Calls each product alone, and all of them. */
static tprt_status call_finished(tprt_context *context, void *const at[N_FINISHES][N_OPERANDS]) {
  const void *inputs[TPRT_MAX_INPUTS];
  void *outputs[N_FINISHES];
  int n = 0;
  tprt_status status = TPRT_OK;
  for (int i = 0; i < N_FINISHES && !status; i++) {
    int begin = n;
    inputs[n++] = at[0][0];
    inputs[n++] = at[i][FACTOR];
    if (finishes[i].bias)
      inputs[n++] = at[i][BIAS];
    outputs[i] = at[i][BESIDE];
    status = (tprt_status)tprt_abi_fused(context, 1 + i, inputs + begin, &at[i][ALONE]);
  }
  return status ? status : (tprt_status)tprt_abi_fused(context, 0, inputs, outputs);
}

static void check_finished(tprt_dtype dtype) {
  test_table program = finished_program(dtype, true);
  tprt_comm *world = blas_world();
  tprt_context *context = blas_context(world, TPRT_TARGET_CUDA);
  size_t bytes = BLAS_ELEMENTS * tprt_dtype_size(dtype);
  void *at[N_FINISHES][N_OPERANDS];
  char *host[2] = {malloc(bytes), malloc(bytes)};
  for (int i = 0; i < N_FINISHES; i++)
    for (int x = 0; x < N_OPERANDS; x++) {
      blas_fill(dtype, host[0], 11 + (uint32_t)(x >= ALONE ? 0 : N_OPERANDS * i + x));
      assert_int_equal(tprt_context_alloc(context, bytes, &at[i][x]), TPRT_OK);
      assert_int_equal(tprt_context_upload(context, at[i][x], host[0], bytes), TPRT_OK);
    }
  assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
  if (call_finished(context, at))
    fail_msg("%s", tprt_context_error(context));
  for (int i = 0; i < N_FINISHES; i++) {
    assert_int_equal(tprt_context_download(context, host[0], at[i][ALONE], bytes), TPRT_OK);
    assert_int_equal(tprt_context_download(context, host[1], at[i][BESIDE], bytes), TPRT_OK);
    if (memcmp(host[0], host[1], bytes) != 0)
      fail_msg("%s: product %d has other bits than alone", tprt_dtype_name(dtype), i);
    for (int x = 0; x < N_OPERANDS; x++)
      tprt_context_free(context, at[i][x]);
  }
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
  free(host[0]);
  free(host[1]);
}

/* With cuBLASLt, and where it has no algorithm. */
static void test_epilogues(void **state) {
  (void)state;
  static const tprt_dtype types[] = {TPRT_F32, TPRT_F16, TPRT_BF16};
  static const fake_blaslt_plan nothing = {.knows_nothing = true};
  for (int i = 0; i < 6; i++) {
    blas_begin(i < 3 ? &blas_without_faults : &nothing);
    check_finished(types[i % 3]);
    fake_blaslt_report seen = blas_report();
    assert_int_equal(seen.n_products, i < 3 ? 2 * N_FINISHES : 0);
    assert_true(seen.n_alive == 0 && seen.n_violations == 0);
  }
}

/* ---- tables ---- */

#define WORD(member) EXTRA_WORD(tprt_abi_fused_contractions, member)

static void test_tables(void **state) {
  (void)state;
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
  } cases[] = {
      {HEADER_WORD(target), TPRT_TARGET_HOST, "fused sites are supported in GPU programs only"},
      {SITE_WORD(dtype), 0, "dtype is 0"},
      {SITE_WORD(reduction), TPRT_SUM, "fused contractions: a word is unused"},
      {SITE_WORD(rank), 1, "fused contractions: a word is unused"},
      {SITE_WORD(shape[0]), 1, "shape: a word is unused"},
      {SITE_WORD(n_axes), 1, "number of axes is 1"},
      {SITE_WORD(n_extra), 3, "fused contractions: has 3 words of extra data, expected 130"},
      {WORD(n), 0, "number of products is 0"},
      {WORD(n), 5, "number of products is 5"},
      {WORD(n), 2, "there are 2 products, and other operands and results"},
      {WORD(operands.inputs[1]), TPRT_IN_A, "there are 3 products, and other operands"},
      {WORD(operands.inputs[0]), TPRT_IN_TENSOR, "fused contractions: operands"},
      {WORD(operands.outputs[2]), TPRT_OUT_SCALE, "fused contractions: operands"},
      {WORD(factors[0]), TPRT_F16, "A is of type 3, B of 0, C of 4"},
      {WORD(factors[1]), -1, "type of B is -1"},
      {WORD(n_loops[0]), 7, "number of loops is 7; it must be from 0 to 6"},
      {WORD(n_loops[1]), -1, "number of loops is -1"},
      {WORD(n_loops[3]), 1, "number of loops is 1; it must be from 0 to 0"},
      {WORD(n_loops[2]), 2, "fused contractions: a word is unused"},
      {WORD(loops[3][0].size), 1, "fused contractions: a word is unused"},
      {WORD(loops[0][0].size), 0, "size of a loop is 0"},
      {WORD(loops[0][0].size), INT64_C(1) << 61, "contraction: loop"},
  };
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
  } finished[] = {
      {WORD(biases), 1, "there are 3 products, and other operands"},
      {WORD(biases), 8, "biases is 8; it must be from 0 to 7"},
      {WORD(functions[0]), TPRT_CUDA_RELU_GRADIENT, "function of a matmul is 3"},
      {WORD(functions[3]), 1, "function of a matmul is 1; it must be from 0 to 0"},
      {WORD(loops[1][1].stride[1]), 1, "product 1 has an epilogue, and is no matmul of dense"},
      {SITE_WORD(dtype), TPRT_F64, "product 0 has an epilogue"},
  };
  int64_t one = 1;
  test_table t = table_make(1, &one);
  add_products(&t, &rows[0]);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_true(table_refused(&t, cases[i].word, cases[i].value, cases[i].text));
  table_free(&t);
  t = finished_program(TPRT_F32, false);
  for (size_t i = 0; i < sizeof finished / sizeof *finished; i++)
    assert_true(table_refused(&t, finished[i].word, finished[i].value, finished[i].text));
  table_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),     cmocka_unit_test(test_lost_waits),
      cmocka_unit_test(test_failures), cmocka_unit_test(test_epilogues),
      cmocka_unit_test(test_tables),
  };
  return cmocka_run_group_tests(tests, blas_fakes_setup, NULL);
}
