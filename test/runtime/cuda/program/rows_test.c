/* Tests sites that reduce rows, given or GEMM results, in programs of virtual ranks on the fake
 * driver: every layout, norm and type against sums in f64; invalid tables; failing calls. */
#define _GNU_SOURCE 1
#include "test/runtime/cuda/fake/fake_blaslt.h"
#include "test/runtime/cuda/fake/fake_stream.h"

#include "rows_cases.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RANKS = 4 };
static fake_streams_of_thread_fn *streams_of_thread;
static fake_blaslt_begin_fn *blaslt_begin;
static fake_blaslt_look_fn *blaslt_look;
/* ---- Ranks ---- */

typedef struct player {
  tprt_comm *world;
  const test_table *program;
  int errors;
  long n_launches; /* of this rank's thread */
} player;

static void *play(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  p->errors = !context || tprt_abi_enter(context, p->program->words) != TPRT_OK;
  streams_of_thread()->n_launches = 0;
  for (int i = 0; i < n_shape_cases && !p->errors; i++)
    p->errors += run_case(context, p->world, i, NULL);
  if (context && *tprt_context_error(context))
    fprintf(stderr, "wrong: %s\n", tprt_context_error(context));
  if (!p->errors)
    p->errors += check_bytes(context, tprt_comm_size(p->world));
  p->n_launches = streams_of_thread()->n_launches;
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

/* together: each call is one launch for all ranks; slices: each call has as many GEMMs as there are
 * slices of all ranks. */
static int play_all(int n_ranks, const char *backend, bool together, bool slices) {
  tprt_comm *worlds[MOST_RANKS];
  player players[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  test_table program = make_program(n_ranks);
  const tprt_config config = {.size = sizeof config, .backend = backend};
  const fake_blaslt_plan none = {0};
  int errors = 0;
  long n_launches = 0, n_products = 0;
  blaslt_begin(&none);
  assert_int_equal(tprt_world_create_threads(n_ranks, &config, worlds), TPRT_OK);
  for (int r = 0; r < n_ranks; r++) {
    players[r] = (player){.world = worlds[r], .program = &program};
    assert_int_equal(pthread_create(&threads[r], NULL, play, &players[r]), 0);
  }
  for (int r = 0; r < n_ranks; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n_ranks; r++) {
    errors += players[r].errors;
    n_launches += players[r].n_launches;
    tprt_comm_destroy(worlds[r]);
  }
  table_free(&program);
  for (int i = 0; i < n_shape_cases; i++)
    n_products += shape_cases[i].k
                      ? 2 * n_ranks * (slices && is_sliced(&shape_cases[i], n_ranks) ? n_ranks : 1)
                      : 0;
  fake_blaslt_report report;
  blaslt_look(&report);
  assert_int_equal(report.n_violations, 0);
  assert_int_equal(report.n_products, n_products);
  assert_true(together ? n_launches == 2 * n_shape_cases
                       : n_launches >= 2 * n_shape_cases * n_ranks);
  return errors;
}

static void test_ranks(void **state) {
  static const char *const late[] = {"0", "3"};
  (void)state;
  for (int l = 0; l < 2; l++) { /* streams whose work runs only when it is waited for */
    setenv("FAKE_LATE", late[l], 1);
    assert_int_equal(play_all(1, "self", true, true), 0);
    assert_int_equal(play_all(2, "loopback", true, true), 0);
    assert_int_equal(play_all(4, "loopback", true, true), 0);
    assert_int_equal(play_all(2, "shm", false, false), 0);
  }
  setenv("FAKE_LATE", "0", 1);
  /* Ranks on several GPUs have their own kernels, and use collectives if two of them share a
   * GPU. */
  setenv("FAKE_NO_CONTEXT", "1", 1);
  setenv("FAKE_DEVICES", "2", 1);
  assert_int_equal(play_all(2, "loopback", false, true), 0);
  assert_int_equal(play_all(4, "loopback", false, false), 0);
  setenv("FAKE_DEVICES", "1", 1);
  unsetenv("FAKE_NO_CONTEXT");
}

/* If cuBLASLt has no algorithm, kernels of the runtime compute the GEMMs, before the rows are
 * reduced. */
static void test_no_algorithm(void **state) {
  enum { FIRST = 8 };
  const fake_blaslt_plan plan = {.knows_nothing = true};
  tprt_comm *world;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table program = make_program(1);
  (void)state;
  blaslt_begin(&plan);
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  tprt_context *context = make_context(world);
  assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
  for (int i = FIRST; i < n_shape_cases; i++)
    assert_int_equal(run_case(context, world, i, NULL), 0);
  fake_blaslt_report report;
  blaslt_look(&report);
  assert_int_equal(report.n_products, 0);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

/* ---- Invalid tables ---- */

static void test_tables(void **state) {
  (void)state;
  enum { QUANTIZES = 13 };
#define REDUCE_WORD(member) EXTRA_WORD(tprt_abi_fused_reduce, member)
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
    int of; /* index of the case; 0: one with a norm */
  } rows[] = {
      {HEADER_WORD(target), TPRT_TARGET_HOST, "fused sites are supported in GPU programs only", 0},
      {SITE_WORD(dtype), TPRT_F64,
       "fused reduction: sum of f64; it must be a sum of f32, f16 or bf16", 0},
      {SITE_WORD(reduction), TPRT_MAX, "fused reduction: max of f32", 0},
      {SITE_WORD(rank), 0, "shape: a word is unused and must be 0", 0},
      {SITE_WORD(shape[2]), 23,
       "fused reduction: 23 elements of f32 are not a multiple of 16 bytes", 0},
      {SITE_WORD(shape[2]), 0, "fused reduction: 0 elements of f32", 0},
      {SITE_WORD(shape[2]), 16388, "rows of 16388 elements; at most 16384", 0},
      {SITE_WORD(dim), 2, "fused reduction: dimension 2 of a tensor of rank 3 cannot be scattered",
       0},
      {SITE_WORD(n_extra), 27, "fused reduction: has 27 words of extra data, expected 32", 0},
      {SITE_WORD(kind), TPRT_SITE_FUSED_GATHER,
       "fused all-gather: has 32 words of extra data, expected 31", 0},
      {REDUCE_WORD(layout), 3, "layout of rows is 3; it must be from 0 to 2", 0},
      {REDUCE_WORD(layout), TPRT_ROWS_WHOLE,
       "fused reduction: dimension 1 of a tensor of rank 3 cannot be scattered", 0},
      {REDUCE_WORD(operands.inputs[0]), TPRT_IN_TARGET, "fused reduction: operands 0x", 0},
      {REDUCE_WORD(operands.inputs[0]), TPRT_IN_A,
       "the input must be a tensor, or both operands of a matmul", 0},
      {REDUCE_WORD(operands.inputs[3]), TPRT_IN_BETA,
       "fused reduction: norm 1 does not match its operands: without gamma and with beta", 0},
      {REDUCE_WORD(operands.inputs[1]), TPRT_IN_BETA,
       "fused reduction: norm 1 does not match its operands: with gamma and with beta", 0},
      {REDUCE_WORD(operands.outputs[1]), TPRT_OUT_QUANTIZED,
       "quantization 0 does not match its operands", 0},
      {REDUCE_WORD(norm), 3, "norm of rows is 3", 0},
      {REDUCE_WORD(norm), 0, "epsilon is", 0},
      {REDUCE_WORD(epsilon), -1, "epsilon is -1", 0},
      {REDUCE_WORD(algorithm), TPRT_CUDA_N_ALGORITHMS, "algorithm of rows is 4", 0},
      {REDUCE_WORD(k), 8, "k of a matmul is 8; it must be from 0 to 0", 0},
      {REDUCE_WORD(transpose_b), 1, "transposed operand is 1; it must be from 0 to 0", 0},
      {REDUCE_WORD(operands.inputs[0]), TPRT_IN_TENSOR,
       "the input must be a tensor, or both operands of a matmul", 8},
      {REDUCE_WORD(k), 0, "k of a matmul is 0", 8},
      {REDUCE_WORD(k), INT64_C(1) << 60, "contraction: loop 0 of size 16 has stride", 8},
      {REDUCE_WORD(transpose_b), 2, "transposed operand is 2", 8},
      {SITE_WORD(shape[2]), 16392, "rows of 16392 elements; at most 16384", QUANTIZES + 3},
      {SITE_WORD(shape[2]), 192, "rows of 192 elements cannot be divided into groups of 128",
       QUANTIZES + 2},
      {REDUCE_WORD(quantize), 0, "lower limit of the max is", QUANTIZES},
      {REDUCE_WORD(quantize), 4, "quantization is 4", QUANTIZES},
      {REDUCE_WORD(quantize), TPRT_CUDA_PER_TOKEN, "quantization 2 does not match its operands",
       QUANTIZES + 4},
      {REDUCE_WORD(least_max), 0x7f800000, "lower limit of the max is 2139095040", QUANTIZES},
      {REDUCE_WORD(least_scale), -1, "lower limit of scales is -1; it must be from 0 to 2139095039",
       QUANTIZES},
      {REDUCE_WORD(least_scale), 1, "lower limit of scales is 1; it must be from 0 to 0",
       QUANTIZES + 4},
      {REDUCE_WORD(divides), 2, "division by scales is 2", QUANTIZES},
      {REDUCE_WORD(k), 0, "k of a matmul is 0", QUANTIZES + 7},
      {REDUCE_WORD(transpose_b), 2, "transposed operand is 2", QUANTIZES + 7},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t two = 2;
    test_table t = table_make(1, &two);
    add_case(&t, &shape_cases[rows[i].of ? rows[i].of : 3]);
    table_header(&t)->target = TPRT_TARGET_CUDA;
    assert_true(table_refused(&t, rows[i].word, rows[i].value, rows[i].text));
    table_free(&t);
  }
  /* More rows than there are numbers, of which none has elements. */
  static const int64_t axis[] = {0}, shape[] = {INT64_C(1) << 31, INT64_C(1) << 31, 4, 0, 24};
  tprt_abi_fused_reduce extra = {.layout = TPRT_ROWS_WHOLE};
  add_input(&extra.operands, TPRT_IN_TENSOR);
  add_output(&extra.operands, TPRT_OUT_TENSOR);
  int64_t two = 2;
  test_table t = table_make(1, &two);
  table_site(&t, TPRT_SITE_FUSED_REDUCE, TPRT_F32, TPRT_SUM, 1, axis, 5, shape, &extra,
             N_WORDS_OF(tprt_abi_fused_reduce));
  table_header(&t)->target = TPRT_TARGET_CUDA;
  assert_int_equal(tprt_abi_check(t.words, t.n_words), TPRT_INVALID_ARGUMENT);
  table_free(&t);
}

/* ---- Failing calls ---- */

/* Runs one rank, with a new context per failure. */
static void expect_failure(const char *mode, int site, bool has_out, tprt_status status,
                           const char *text) {
  tprt_comm *world;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table program = make_program(1);
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  tprt_context *context = make_context(world);
  float *memory = NULL;
  assert_int_equal(tprt_context_alloc(context, 4 * N * sizeof(float), (void **)&memory), TPRT_OK);
  bool at_call = strcmp(mode, "launch") == 0 || !*mode;
  setenv("FAKE_CUDA", at_call ? "" : mode, 1);
  int32_t got = tprt_abi_enter(context, program.words);
  setenv("FAKE_CUDA", mode, 1);
  const tprt_abi_operands operands = operands_of(&shape_cases[1]);
  fused_pointers pointers = {{[TPRT_IN_TENSOR] = {memory},
                              [TPRT_IN_RESIDUAL] = {memory + N},
                              [TPRT_OUT_TENSOR] = {has_out ? memory + 2 * N : NULL}}};
  if (!got)
    got = call_fused(context, site, &operands, &pointers);
  setenv("FAKE_CUDA", "", 1);
  assert_int_equal(got, status);
  if (!strstr(tprt_context_error(context), text))
    fail_msg("%s: \"%s\" does not say \"%s\"", mode, tprt_context_error(context), text);
  pointers.of[TPRT_OUT_TENSOR][0] = memory;
  assert_int_equal(call_fused(context, 1, &operands, &pointers), status);
  tprt_context_free(context, memory);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

static void test_failures(void **state) {
  (void)state;
  expect_failure("", 1, false, TPRT_INVALID_ARGUMENT, "site 1: output 0 of the site is NULL");
  expect_failure("", n_shape_cases, true, TPRT_INVALID_ARGUMENT,
                 "site 23 of the bound program is not of kind fused site");
  expect_failure("launch", 1, true, TPRT_DEVICE, "tprt_reduce_short_rows_f32");
  expect_failure("not cooperative", 1, true, TPRT_UNSUPPORTED,
                 "virtual ranks need cooperative launches");
  expect_failure("full", 1, true, TPRT_UNSUPPORTED, "must run concurrently");
  expect_failure("attributes", 1, true, TPRT_DEVICE, "attributes of the device");
  expect_failure("load", 1, true, TPRT_DEVICE, "loading the fused kernels");
}

static void *play_other(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  float *memory = NULL;
  int site = tprt_comm_rank(p->world) ? 1 : 7; /* with a residual, and without */
  (void)tprt_context_alloc(context, 3 * N * sizeof(float), (void **)&memory);
  p->errors = tprt_abi_enter(context, p->program->words) != TPRT_OK;
  const tprt_abi_operands operands = operands_of(&shape_cases[site]);
  const fused_pointers pointers = {{[TPRT_IN_TENSOR] = {memory},
                                    [TPRT_IN_RESIDUAL] = {memory + N},
                                    [TPRT_OUT_TENSOR] = {memory + 2 * N}}};
  int32_t got = call_fused(context, site, &operands, &pointers);
  p->errors +=
      got != TPRT_MISMATCH || !strstr(tprt_context_error(context),
                                      "ranks 0 and 1 of the group reduce rows at different sites");
  if (p->errors)
    fprintf(stderr, "wrong: status %d: %s\n", (int)got, tprt_context_error(context));
  tprt_context_free(context, memory);
  tprt_context_destroy(context);
  return NULL;
}

/* Ranks that arrive at different sites, as after a divergent branch. */
static void test_different_sites(void **state) {
  tprt_comm *worlds[2];
  player players[2];
  pthread_t threads[2];
  test_table program = make_program(2);
  const tprt_config config = {.size = sizeof config, .backend = "loopback"};
  (void)state;
  assert_int_equal(tprt_world_create_threads(2, &config, worlds), TPRT_OK);
  for (int r = 0; r < 2; r++) {
    players[r] = (player){.world = worlds[r], .program = &program};
    assert_int_equal(pthread_create(&threads[r], NULL, play_other, &players[r]), 0);
  }
  for (int r = 0; r < 2; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < 2; r++) {
    assert_int_equal(players[r].errors, 0);
    tprt_comm_destroy(worlds[r]);
  }
  table_free(&program);
}

/* A site of rows is not a collective, and one of given rows has no GEMM operands; and vice
 * versa. */
static void test_other_calls(void **state) {
  static const char *const texts[] = {"site 0 of the bound program is not of kind collective",
                                      "site 8 of the bound program is not of kind contraction"};
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table program = make_program(1);
  (void)state;
  for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++) {
    tprt_comm *world;
    assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
    tprt_context *context = make_context(world);
    void *any = context;
    assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
    int32_t got = i == 0 ? tprt_abi_collective(context, 0, any, any)
                         : tprt_abi_contract(context, 8, any, any, any);
    assert_int_equal(got, TPRT_INVALID_ARGUMENT);
    assert_non_null(strstr(tprt_context_error(context), texts[i]));
    tprt_context_destroy(context);
    tprt_comm_destroy(world);
  }
  table_free(&program);
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL),
       *found = library ? dlsym(library, "fake_streams_of_thread") : NULL;
  memcpy(&streams_of_thread, &found, sizeof found);
  void *blaslt = dlopen(FAKE_BLASLT, RTLD_NOW | RTLD_LOCAL),
       *begin = blaslt ? dlsym(blaslt, "fake_blaslt_begin") : NULL,
       *look = blaslt ? dlsym(blaslt, "fake_blaslt_look") : NULL;
  memcpy(&blaslt_begin, &begin, sizeof begin);
  memcpy(&blaslt_look, &look, sizeof look);
  if (!found || !begin || !look)
    return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranks),           cmocka_unit_test(test_no_algorithm),
      cmocka_unit_test(test_tables),          cmocka_unit_test(test_failures),
      cmocka_unit_test(test_different_sites), cmocka_unit_test(test_other_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
