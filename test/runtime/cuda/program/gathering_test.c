/* Tests sites that all-gather rows and multiply them, in programs of virtual ranks on the fake
 * driver: results against sums in f64; invalid tables; failing calls. */
#define _GNU_SOURCE 1
#include "gathering_cases.h"
#include "test/runtime/cuda/fake/fake_blaslt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RANKS = 4 };
static fake_blaslt_begin_fn *blaslt_begin;
static fake_blaslt_look_fn *blaslt_look;

/* ---- Ranks ---- */

typedef struct player {
  tprt_comm *world;
  const test_table *program;
  int errors;
} player;

/* Checks the counted bytes: each rank sends its rows to the others. */
static int check_bytes(tprt_context *context, int n_ranks) {
  int errors = 0;
  for (int i = 0; i < n_gather_cases; i++) {
    tprt_site_stats stats;
    errors += tprt_context_site_stats(context, i, &stats) != TPRT_OK || stats.calls != 2 ||
              stats.bytes != 2 * (n_ranks - 1) * (ALL_ROWS / n_ranks) * WIDTH *
                                 (int64_t)tprt_dtype_size(gather_cases[i].dtype);
  }
  return errors;
}

static void *play(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  gather_program = p->program;
  p->errors = !context || tprt_abi_enter(context, p->program->words) != TPRT_OK;
  for (int i = 0; i < n_gather_cases && !p->errors; i++)
    p->errors += run_gather_case(context, p->world, i, 2, NULL, NULL);
  if (context && *tprt_context_error(context))
    fprintf(stderr, "wrong: %s\n", tprt_context_error(context));
  if (!p->errors)
    p->errors += check_bytes(context, tprt_comm_size(p->world));
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

/* Each case runs once directly, is captured, and is launched again. */
static void *replay(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  gather_program = p->program;
  p->errors = !context;
  for (int i = 0; i < n_gather_cases && !p->errors; i++) {
    p->errors += run_gather_case(context, p->world, i, 5, "", NULL);
    p->errors += n_runs != 2;
  }
  if (context && *tprt_context_error(context))
    fprintf(stderr, "wrong: %s\n", tprt_context_error(context));
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

static void *play_other(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  bool first = tprt_comm_rank(p->world) == 0;
  char *memory = NULL;
  (void)tprt_context_alloc(context, 8192, (void **)&memory);
  char *b = memory + 1024, *out = memory + 4096;
  p->errors = tprt_abi_enter(context, p->program->words) != TPRT_OK;
  int site = first ? 0 : 2;
  const tprt_abi_operands operands = gather_operands_of(&gather_cases[site]);
  const fused_pointers pointers = {{[TPRT_IN_TENSOR] = {memory},
                                    [TPRT_IN_B] = {b, b, b, b},
                                    [TPRT_OUT_GATHERED] = {out},
                                    [TPRT_OUT_TENSOR] = {out, out + 1024, out + 2048, out + 3072}}};
  int32_t got = call_fused(context, site, &operands, &pointers);
  p->errors += got != TPRT_MISMATCH ||
               !strstr(tprt_context_error(context),
                       "ranks 0 and 1 of the group multiply gathered rows at different sites");
  if (p->errors)
    fprintf(stderr, "wrong: status %d: %s\n", (int)got, tprt_context_error(context));
  tprt_context_free(context, memory);
  tprt_context_destroy(context);
  return NULL;
}

static int play_all(int n_ranks, const char *backend, void *(*how)(void *)) {
  tprt_comm *worlds[MOST_RANKS];
  player players[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  test_table program = make_gather_program(n_ranks);
  const tprt_config config = {.size = sizeof config, .backend = backend};
  int errors = 0;
  assert_int_equal(tprt_world_create_threads(n_ranks, &config, worlds), TPRT_OK);
  for (int r = 0; r < n_ranks; r++) {
    players[r] = (player){.world = worlds[r], .program = &program};
    assert_int_equal(pthread_create(&threads[r], NULL, how, &players[r]), 0);
  }
  for (int r = 0; r < n_ranks; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n_ranks; r++) {
    errors += players[r].errors;
    tprt_comm_destroy(worlds[r]);
  }
  table_free(&program);
  return errors;
}

/* Returns the GEMM calls of cuBLASLt on a rank: one per slice, or large ones. */
static long products_of(const gather_case *c, int n_ranks, bool sliced) {
  enum { LEAST_WORK = 512 };
  long n = 0;
  sliced = sliced && has_slices(c, n_ranks);
  for (int i = 0; i < c->n; i++)
    n += sliced ? n_ranks : ALL_ROWS * WIDTH * c->columns[i] >= LEAST_WORK;
  return n;
}

static void expect_products(int n_ranks, const char *backend, bool sliced) {
  const fake_blaslt_plan none = {0};
  fake_blaslt_report report;
  blaslt_begin(&none);
  assert_int_equal(play_all(n_ranks, backend, play), 0);
  blaslt_look(&report);
  assert_int_equal(report.n_violations, 0);
  long n = 0;
  for (int i = 0; i < n_gather_cases; i++)
    n += products_of(&gather_cases[i], n_ranks, sliced);
  assert_int_equal(report.n_products, 2 * n_ranks * n);
}

static void test_ranks(void **state) {
  static const char *const late[] = {"0", "3"};
  (void)state;
  for (int l = 0; l < 2; l++) { /* streams whose work runs only when it is waited for */
    setenv("FAKE_LATE", late[l], 1);
    expect_products(1, "self", true);
    expect_products(2, "loopback", true);
    expect_products(4, "loopback", true);
    expect_products(2, "shm", false);
  }
  setenv("FAKE_LATE", "0", 1);
  setenv("FAKE_NO_CONTEXT", "1", 1);
  setenv("FAKE_DEVICES", "2", 1);
  expect_products(2, "loopback", true);
  setenv("FAKE_DEVICES", "1", 1);
  unsetenv("FAKE_NO_CONTEXT");
}

/* Captured work is ordered only by events captured with it. */
static void test_graphs(void **state) {
  static const char *const orders[] = {"0", "1", "01", "10", "?", "?1"};
  const fake_blaslt_plan none = {0};
  (void)state;
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    setenv("FAKE_ORDER", orders[i], 1);
    for (int n = 1; n <= 4; n *= 2) {
      blaslt_begin(&none);
      assert_int_equal(play_all(n, n == 1 ? "self" : "loopback", replay), 0);
    }
  }
  unsetenv("FAKE_ORDER");
}

static void test_no_algorithm(void **state) {
  const fake_blaslt_plan plan = {.knows_nothing = true};
  fake_blaslt_report report;
  (void)state;
  blaslt_begin(&plan);
  assert_int_equal(play_all(2, "loopback", play), 0);
  blaslt_look(&report);
  assert_int_equal(report.n_products, 0);
}

static void test_different_sites(void **state) {
  const fake_blaslt_plan none = {0};
  (void)state;
  blaslt_begin(&none);
  assert_int_equal(play_all(2, "loopback", play_other), 0);
}

/* ---- Errors ---- */

static void test_tables(void **state) {
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
  } rows[] = {
      {HEADER_WORD(target), TPRT_TARGET_HOST,
       "fused all-gather: fused sites are supported in GPU programs only"},
      {SITE_WORD(dtype), TPRT_F64, "fused all-gather: reduction none of f64"},
      {SITE_WORD(shape[2]), 0, "width of gathered rows is 0"},
      {SITE_WORD(dim), 2, "fused all-gather: dimension 2 of a tensor of rank 3 cannot be gathered"},
      {SITE_WORD(n_extra), 0, "fused all-gather: has 0 words of extra data, expected 31"},
      {EXTRA_WORD(tprt_abi_fused_gather, n_matmuls), 5,
       "number of matmuls is 5; it must be from 1 to 4"},
      {EXTRA_WORD(tprt_abi_fused_gather, n_matmuls), 3,
       "there are 3 matmuls, but not as many right operands"},
      {EXTRA_WORD(tprt_abi_fused_gather, n_matmuls), 1,
       "there are 1 matmuls, but not as many right operands"},
      {EXTRA_WORD(tprt_abi_operands, outputs[2]), 0, "outputs is 0"},
      {EXTRA_WORD(tprt_abi_fused_gather, columns[0]), 0, "columns of a matmul is 0"},
      {EXTRA_WORD(tprt_abi_fused_gather, columns[0]), INT64_C(1) << 60, "contraction: loop"},
      {EXTRA_WORD(tprt_abi_fused_gather, columns[2]), 4, "words of an unused matmul"},
      {EXTRA_WORD(tprt_abi_fused_gather, transpose_b[1]), 2, "transposed operand is 2"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t two = 2;
    test_table t = table_make(1, &two);
    add_gather_case(&t, &gather_cases[0], two);
    table_header(&t)->target = TPRT_TARGET_CUDA;
    assert_true(table_refused(&t, rows[i].word, rows[i].value, rows[i].text));
    table_free(&t);
  }
}

static void test_calls(void **state) {
  static const char *const texts[] = {"site 4 of the bound program is not of kind fused site",
                                      "site 0: input 0 of the site is NULL",
                                      "site 0: input 2 of the site is NULL",
                                      "site 0: output 1 of the site is NULL"};
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table program = make_gather_program(1);
  (void)state;
  for (int i = 0; i < 4; i++) {
    tprt_comm *world;
    assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
    tprt_context *context = make_context(world);
    void *any = context;
    assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
    const tprt_abi_operands operands = gather_operands_of(&gather_cases[0]);
    const fused_pointers pointers = {{[TPRT_IN_TENSOR] = {i == 1 ? NULL : any},
                                      [TPRT_IN_B] = {any, i == 2 ? NULL : any},
                                      [TPRT_OUT_GATHERED] = {any},
                                      [TPRT_OUT_TENSOR] = {i == 3 ? NULL : any, any}}};
    assert_int_equal(call_fused(context, i == 0 ? n_gather_cases : 0, &operands, &pointers),
                     TPRT_INVALID_ARGUMENT);
    if (!strstr(tprt_context_error(context), texts[i]))
      fail_msg("\"%s\" does not say \"%s\"", tprt_context_error(context), texts[i]);
    tprt_context_destroy(context);
    tprt_comm_destroy(world);
  }
  table_free(&program);
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  void *blaslt = dlopen(FAKE_BLASLT, RTLD_NOW | RTLD_LOCAL),
       *begin = blaslt ? dlsym(blaslt, "fake_blaslt_begin") : NULL,
       *look = blaslt ? dlsym(blaslt, "fake_blaslt_look") : NULL;
  memcpy(&blaslt_begin, &begin, sizeof begin);
  memcpy(&blaslt_look, &look, sizeof look);
  if (!begin || !look)
    return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranks),        cmocka_unit_test(test_graphs),
      cmocka_unit_test(test_no_algorithm), cmocka_unit_test(test_different_sites),
      cmocka_unit_test(test_tables),       cmocka_unit_test(test_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
