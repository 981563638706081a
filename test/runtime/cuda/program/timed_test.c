/* Tests matmuls by timed algorithms (TPRT_TIMED_GEMM): the fastest one is used, on all ranks the
 * same, and stored in a file; what happens to files that are broken, and without a folder. */
#define _GNU_SOURCE 1
#include "blas_fakes.h"
#include "cache_folder.h"
#include "test/runtime/harness/device.h"
#include "test/runtime/harness/table.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ELEMENTS = 1024, ALGORITHMS = 8, FASTEST = 5, OTHER = 2 };

/* C[16, 20] = A[16, 24] B[24, 20]; and A[16, 28]. */
static const int64_t loops[][12] = {{16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0},
                                    {16, 28, 0, 20, 20, 0, 1, 1, 28, 1, 20, 0}};

static fake_blaslt_report report(void) {
  fake_blaslt_report r = blas_report();
  if (r.n_violations)
    fail_msg("%s", r.violation);
  return r;
}

static void begin_with(int fastest) {
  const fake_blaslt_plan plan = {.n_algorithms = ALGORITHMS, .fastest = fastest};
  blas_begin(&plan);
}

/* ---- Ranks ---- */

typedef struct rank {
  pthread_t thread;
  tprt_comm *world;
  tprt_context *context;
  const test_table *programs;
  int n_programs;
  tprt_status status;
  float out[ELEMENTS];
  char gemm[256], error[256];
} rank;

static tprt_status run_program(rank *r, const test_table *program) {
  tprt_status status = (tprt_status)tprt_abi_enter(r->context, program->words);
  void *at[3] = {NULL};
  float numbers[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++)
    numbers[i] = 1 / (float)(1 + i % 29);
  for (int i = 0; i < 3 && !status; i++) {
    status = tprt_context_alloc(r->context, sizeof numbers, &at[i]);
    if (!status)
      status = tprt_context_upload(r->context, at[i], numbers, sizeof numbers);
  }
  if (!status)
    status = (tprt_status)tprt_abi_contract(r->context, 0, at[0], at[1], at[2]);
  if (!status)
    status = tprt_context_download(r->context, r->out, at[2], sizeof r->out);
  for (int i = 0; i < 3; i++)
    tprt_context_free(r->context, at[i]);
  return status;
}

static void *run_rank(void *data) {
  rank *r = data;
  for (int i = 0; i < r->n_programs && !r->status; i++)
    r->status = run_program(r, &r->programs[i]);
  snprintf(r->gemm, sizeof r->gemm, "%s", tprt_context_gemm(r->context));
  snprintf(r->error, sizeof r->error, "%s", tprt_context_error(r->context));
  return NULL;
}

static test_table make_program(int n_ranks, int which) {
  int64_t size = n_ranks;
  test_table made = table_make(1, &size);
  table_contract(&made, TPRT_F32, 3, loops[which])->dim = 1;
  table_header(&made)->target = TPRT_TARGET_CUDA;
  return made;
}

/* Creates the contexts, the last of them with TPRT_TIMED_GEMM=`of_last`. */
static void make_ranks(int n, const char *of_last, rank *ranks, tprt_comm **worlds) {
  const tprt_config config = {.size = sizeof config, .backend = n > 1 ? "loopback" : "self"};
  const tprt_context_config on_gpu = {.size = sizeof on_gpu, .target = TPRT_TARGET_CUDA};
  assert_int_equal(tprt_world_create_threads(n, &config, worlds), TPRT_OK);
  for (int i = 0; i < n; i++) {
    ranks[i] = (rank){.world = worlds[i]};
    if (i == n - 1)
      set_variable("TPRT_TIMED_GEMM", of_last);
    if (getenv("FAKE_DEVICES"))
      set_variable("TPRT_DEVICE", i ? "1" : "0");
    assert_int_equal(tprt_context_create(worlds[i], &on_gpu, &ranks[i].context), TPRT_OK);
  }
  set_variable("TPRT_TIMED_GEMM", "1");
  set_variable("TPRT_DEVICE", NULL);
}

static void end_ranks(int n, rank *ranks) {
  for (int i = 0; i < n; i++) {
    tprt_context_destroy(ranks[i].context);
    tprt_comm_destroy(ranks[i].world);
  }
}

/* Runs a program of one matmul. */
static void run_ranks(int n, const char *of_last, rank *ranks) {
  tprt_comm *worlds[2];
  test_table program = make_program(n, 0);
  make_ranks(n, of_last, ranks, worlds);
  for (int i = 0; i < n; i++) {
    ranks[i].programs = &program;
    ranks[i].n_programs = 1;
    assert_int_equal(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]), 0);
  }
  for (int i = 0; i < n; i++)
    pthread_join(ranks[i].thread, NULL);
  end_ranks(n, ranks);
  assert_int_equal(report().n_alive, 0);
  table_free(&program);
}

/* Runs one rank, and checks the report line and the algorithm of the product. */
static rank run_one(const char *gemm, int algorithm) {
  rank r;
  long before = report().n_by[algorithm];
  run_ranks(1, "1", &r);
  if (r.status)
    fail_msg("%s", r.error);
  assert_string_equal(r.gemm, gemm);
  assert_true(report().n_by[algorithm] > before);
  return r;
}

static const char measured[] =
    "cuBLASLt (timed by rank 0: 1 measured, 0 from the cache, 0 not timed)",
                  cached[] =
                      "cuBLASLt (timed by rank 0: 0 measured, 1 from the cache, 0 not timed)",
                  not_timed[] =
                      "cuBLASLt (timed by rank 0: 0 measured, 0 from the cache, 1 not timed)";

/* ---- Tests ---- */

/* Without the option nothing is measured, and the report line is empty. */
static void test_off(void **state) {
  rank r;
  char path[CACHE_PATH];
  (void)state;
  cache_files_clear();
  begin_with(FASTEST);
  run_ranks(1, NULL, &r);
  assert_int_equal(r.status, TPRT_OK);
  assert_string_equal(r.gemm, "");
  assert_int_equal(report().n_by[0], 1);
  assert_int_equal(cache_files(path), 0);
}

static void test_measured(void **state) {
  char path[CACHE_PATH];
  (void)state;
  cache_files_clear();
  begin_with(FASTEST);
  rank first = run_one(measured, FASTEST);
  assert_int_equal(cache_files(path), 1);
  assert_int_equal(report().n_by[0], 6);
  /* the file holds: the fastest one is another one now, which would give other bits */
  begin_with(OTHER);
  rank second = run_one(cached, FASTEST);
  assert_memory_equal(first.out, second.out, sizeof first.out);
  assert_int_equal(report().n_products, 1);
  assert_true(report().n_checks > 0);
  /* another version of the library has a file of its own */
  const fake_blaslt_plan newer = {.n_algorithms = ALGORITHMS, .fastest = OTHER, .version = 140000};
  blas_begin(&newer);
  rank third = run_one(measured, OTHER);
  assert_memory_not_equal(first.out, third.out, sizeof first.out);
  assert_int_equal(cache_files(path), 2);
}

/* Equally fast algorithms: the first. Those with an error are left out, and a single one is not
 * timed. */
static void test_first_of_equals(void **state) {
  static const fake_blaslt_plan plans[] = {
      {.n_algorithms = ALGORITHMS, .fastest = ALGORITHMS},
      {.n_algorithms = ALGORITHMS, .fastest = 4, .n_unusable = 3},
      {.n_algorithms = 4, .n_unusable = 3}};
  static const int expected[] = {0, 4, 0}, products[] = {8 * 6 + 1, 5 * 6 + 1, 1};
  (void)state;
  for (int i = 0; i < 3; i++) {
    cache_files_clear();
    blas_begin(&plans[i]);
    run_one(measured, expected[i]);
    assert_int_equal(report().n_products, products[i]);
  }
}

/* Files that are broken, of something else, or whose algorithm is refused, are measured again. */
static void test_broken_files(void **state) {
  static const char *const cases[] = {"", "tpshard gpu gemm 1\n", "something else\n"};
  char path[CACHE_PATH], content[2048];
  (void)state;
  cache_files_clear();
  begin_with(FASTEST);
  run_one(measured, FASTEST);
  assert_int_equal(cache_files(path), 1);
  FILE *file = fopen(path, "r");
  size_t n = fread(content, 1, sizeof content, file);
  fclose(file);
  enum { N_CASES = sizeof cases / sizeof *cases };
  for (int i = 0; i < N_CASES + 3; i++) {
    file = fopen(path, "w");
    if (i < N_CASES) {
      fputs(cases[i], file);
    } else {
      char changed[sizeof content];
      memcpy(changed, content, n);
      if (i == N_CASES) /* a digit of the algorithm */
        changed[n - 160] = changed[n - 160] == '0' ? '1' : '0';
      if (i == N_CASES + 1) /* a character of the key */
        changed[sizeof "tpshard gpu gemm 1\n" + 8] ^= 1;
      fwrite(changed, 1, i == N_CASES + 2 ? n - 3 : n, file);
    }
    fclose(file);
    begin_with(OTHER);
    run_one(measured, OTHER);
    begin_with(FASTEST);
    run_one(cached, OTHER);
  }
  const fake_blaslt_plan plan = {
      .n_algorithms = ALGORITHMS, .fastest = FASTEST, .refused = OTHER + 1};
  blas_begin(&plan);
  run_one(measured, FASTEST);
  assert_int_equal(cache_files(path), 1);
}

/* If nothing can be stored, nothing is measured, because bits must not change from run to run. */
static void test_no_folder(void **state) {
  (void)state;
  set_variable("XDG_CACHE_HOME", "/dev/null");
  begin_with(FASTEST);
  run_one(not_timed, 0);
  assert_int_equal(report().n_products, 1);
  set_variable("XDG_CACHE_HOME", NULL);
  set_variable("HOME", NULL);
  run_one(not_timed, 0);
  cache_folder_use();
}

/* Both ranks use the algorithm that rank 0 measures once. */
static void test_ranks(void **state) {
  static const struct {
    const char *of_last, *names, *gemm;
    int algorithm;
  } cases[] = {
      {"1", NULL, measured, FASTEST},
      {"0", NULL, "cuBLASLt (first choices: TPRT_TIMED_GEMM is not 1 on all ranks)", 0},
      {"1", "1", "cuBLASLt (first choices: the ranks have different GPUs or libraries)", 0},
  };
  char path[CACHE_PATH];
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rank ranks[2];
    cache_files_clear();
    set_variable("FAKE_DEVICES", cases[i].names ? "2" : NULL);
    set_variable("FAKE_NAMES", cases[i].names);
    begin_with(FASTEST);
    run_ranks(2, cases[i].of_last, ranks);
    for (int r = 0; r < 2; r++) {
      if (ranks[r].status)
        fail_msg("%s", ranks[r].error);
      assert_string_equal(ranks[r].gemm, cases[i].gemm);
    }
    assert_memory_equal(ranks[0].out, ranks[1].out, sizeof ranks[0].out);
    bool timed = cases[i].algorithm != 0;
    assert_int_equal(report().n_by[cases[i].algorithm], timed ? 6 + 2 : 2);
    assert_int_equal(cache_files(path), timed);
  }
  set_variable("FAKE_DEVICES", NULL);
  set_variable("FAKE_NAMES", NULL);
}

/* The memory for operands is missing: the first choice. Not while the stream is captured. */
static void test_not_measured(void **state) {
  cuda_result (*capture)(cuda_stream, int), (*end)(cuda_stream, void **), (*destroy)(void *);
  void *driver = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL),
       *from[] = {dlsym(driver, "cuStreamBeginCapture_v2"), dlsym(driver, "cuStreamEndCapture"),
                  dlsym(driver, "cuGraphDestroy")};
  (void)state;
  memcpy(&capture, &from[0], sizeof capture);
  memcpy(&end, &from[1], sizeof end);
  memcpy(&destroy, &from[2], sizeof destroy);
  for (int i = 0; i < 2; i++) {
    rank r;
    tprt_comm *world;
    void *stream, *graph;
    test_table programs[] = {make_program(1, 0), make_program(1, 1)};
    cache_files_clear();
    begin_with(FASTEST);
    make_ranks(1, "1", &r, &world);
    assert_int_equal(tprt_abi_enter(r.context, programs[0].words), TPRT_OK);
    assert_string_equal(tprt_context_gemm(r.context), measured);
    long n = report().n_products;
    assert_int_equal(tprt_context_stream(r.context, &stream), TPRT_OK);
    if (i)
      assert_int_equal(capture(stream, 2), 0);
    set_variable("FAKE_CUDA", i ? "" : "allocate");
    assert_int_equal(tprt_abi_enter(r.context, programs[1].words), TPRT_OK);
    set_variable("FAKE_CUDA", "");
    if (i) {
      assert_int_equal(end(stream, &graph), 0);
      destroy(graph);
    }
    assert_string_equal(tprt_context_gemm(r.context),
                        "cuBLASLt (timed by rank 0: 1 measured, 0 from the cache, 1 not timed)");
    assert_int_equal(report().n_products, n);
    end_ranks(1, &r);
    table_free(&programs[0]);
    table_free(&programs[1]);
  }
}

/* Each call of cuBLASLt fails in turn: an error, or another choice, and no object is left. */
static void test_faults(void **state) {
  enum { STATUS = 13 };
  bool failed = true;
  int n_errors = 0;
  (void)state;
  for (long at = 1; failed; at++) {
    const fake_blaslt_plan fault = {
        .n_algorithms = 2, .fastest = 1, .fail_at = at, .status = STATUS};
    rank r;
    cache_files_clear();
    blas_begin(&fault);
    run_ranks(1, "1", &r);
    fake_blaslt_report seen = report();
    failed = *seen.failed;
    n_errors += r.status != TPRT_OK;
    if (r.status && r.status != TPRT_DEVICE && r.status != TPRT_UNSUPPORTED)
      fail_msg("%s: %s", seen.failed, r.error);
    if (!r.status && failed && !strstr(seen.failed, "Destroy") &&
        strcmp(seen.failed, "cublasLtMatmul") != 0)
      fail_msg("%s fails, and nothing is reported", seen.failed);
  }
  assert_true(n_errors > 30);
  cache_files_clear();
  const fake_blaslt_plan refusing = {
      .n_algorithms = ALGORITHMS, .fastest = FASTEST, .refused = FASTEST + 1};
  rank r;
  blas_begin(&refusing);
  run_ranks(1, "1", &r);
  assert_int_equal(r.status, TPRT_UNSUPPORTED);
  assert_non_null(strstr(r.error, "the algorithm that rank 0 chose: cuBLASLt: an algorithm cannot "
                                  "be used here: not supported"));
}

static void test_bad_value(void **state) {
  const tprt_config config = {.size = sizeof config, .backend = "self"};
  tprt_comm *world = NULL;
  (void)state;
  set_variable("TPRT_TIMED_GEMM", "yes");
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_INVALID_ARGUMENT);
  assert_non_null(strstr(tprt_last_error(), "TPRT_TIMED_GEMM"));
  set_variable("TPRT_TIMED_GEMM", "1");
}

static int setup(void **state) {
  set_variable("TPRT_TIMED_GEMM", "1");
  cache_folder_begin();
  return blas_fakes_setup(state);
}

static int teardown(void **state) {
  (void)state;
  cache_folder_end();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_off),          cmocka_unit_test(test_measured),
      cmocka_unit_test(test_broken_files), cmocka_unit_test(test_first_of_equals),
      cmocka_unit_test(test_no_folder),    cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_not_measured), cmocka_unit_test(test_faults),
      cmocka_unit_test(test_bad_value),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
