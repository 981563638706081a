/* Tests programs of ranks connected by NCCL as graphs, on the emulated machine: launched again with
 * other data and other addresses; programs that cannot be captured run directly, with the reason; a
 * collective in a graph that never ends. */
#define _GNU_SOURCE 1
#include "machine.h"

#include "test/runtime/cuda/program/rows_cases.h"
#include "tprt/abi.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { REDUCE, GATHER, SHIFT, COLUMNS, N_SITES, COUNT = 8, MOST_RANKS = 4, N_CALLS = 8 };

/* a[i] = 2 a[i], one block. */
static const char kernels[] = ".version 7.8\n"
                              ".target sm_80\n"
                              ".address_size 64\n"
                              ".visible .entry tp_kernel0(.param .u64 p0)\n"
                              "{\n"
                              "  .reg .b32 %r<2>;\n"
                              "  .reg .b32 %f<3>;\n"
                              "  .reg .b64 %d<4>;\n"
                              "  ld.param.u64 %d1, [p0];\n"
                              "  mov.u32 %r1, %tid.x;\n"
                              "  mul.wide.u32 %d2, %r1, 4;\n"
                              "  add.s64 %d3, %d1, %d2;\n"
                              "  ld.global.f32 %f1, [%d3];\n"
                              "  add.rn.f32 %f2, %f1, %f1;\n"
                              "  st.global.f32 [%d3], %f2;\n"
                              "  ret;\n"
                              "}\n";

static test_table make_table(int64_t n, bool has_rows) {
  static const int64_t axis[] = {0}, shape[] = {COUNT}, columns[] = {COUNT, 1};
  const int64_t pair[] = {0, n - 1};
  test_table t = table_make(1, &n);
  table_site(&t, TPRT_SITE_ALL_REDUCE, TPRT_F32, TPRT_SUM, 1, axis, 1, shape, NULL, 0);
  table_site(&t, TPRT_SITE_ALL_GATHER, TPRT_F32, TPRT_NO_REDUCTION, 1, axis, 1, shape, NULL, 0);
  table_site(&t, TPRT_SITE_PERMUTE, TPRT_F32, TPRT_NO_REDUCTION, 0, axis, 1, shape, pair, 2);
  table_site(&t, TPRT_SITE_ALL_GATHER, TPRT_F32, TPRT_NO_REDUCTION, 1, axis, 2, columns, NULL, 0)
      ->dim = 1;
  if (has_rows)
    add_case(&t, &shape_cases[1]); /* of f32 with a residual */
  table_header(&t)->private_bytes = 2 * sizeof(float) * COUNT;
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

/* ---- The program, for 2 x: the sum, all parts, and the first rank's sum at the last ---- */

typedef enum habit { PLAIN, SPLIT, PIECES, ROWS_ACROSS } habit;

typedef struct graph_run {
  const test_table *table;
  habit habit;
  const char *why;
} graph_run;

static _Thread_local const graph_run *current;
static _Thread_local int n_runs;

static int32_t program(tprt_context *context, void *const *inputs, void *const *outputs) {
  n_runs++;
  if (tprt_abi_enter(context, current->table->words) || tprt_abi_kernels(context, kernels))
    return tprt_abi_status(context);
  float *x = tprt_abi_private(context);
  const uint64_t argument = (uint64_t)(uintptr_t)x;
  bool splits = current->habit == SPLIT;
  (void)tprt_abi_copy(context, inputs[0], x, COUNT * sizeof *x);
  (void)tprt_abi_launch(context, 0, 1, COUNT, &argument, 1);
  for (int site = 0; site <= SHIFT; site++)
    (void)(splits ? tprt_abi_start(context, site, x, outputs[site])
                  : tprt_abi_collective(context, site, x, outputs[site]));
  for (int site = 0; site <= SHIFT && splits; site++)
    (void)tprt_abi_wait(context, site, x, outputs[site]);
  if (current->habit == PIECES)
    (void)tprt_abi_collective(context, COLUMNS, x, outputs[COLUMNS]);
  const tprt_abi_operands operands = operands_of(&shape_cases[1]);
  const fused_pointers pointers = {{[TPRT_IN_TENSOR] = {inputs[1]},
                                    [TPRT_IN_RESIDUAL] = {inputs[1]},
                                    [TPRT_OUT_TENSOR] = {outputs[COLUMNS]}}};
  if (current->habit == ROWS_ACROSS)
    (void)call_fused(context, N_SITES, &operands, &pointers);
  (void)tprt_abi_copy(context, inputs[0], x, COUNT * sizeof *x); /* what was sent is spoiled */
  return tprt_abi_status(context);
}

static float number(int rank, int call, int i) { return (float)(100 * rank + 10 * call + i); }

static int check_call(tprt_context *context, int n, int me, int call, void *const *outputs) {
  int errors = 0;
  float got[N_SITES][MOST_RANKS * COUNT];
  for (int site = 0; site <= SHIFT; site++)
    CHECK_STATUS(errors,
                 tprt_context_download(context, got[site], outputs[site],
                                       (size_t)n * sizeof *got / MOST_RANKS),
                 TPRT_OK);
  for (int i = 0; i < COUNT; i++) {
    float sum = 0;
    for (int r = 0; r < n; r++) {
      sum += 2 * number(r, call, i);
      CHECK(errors, got[GATHER][r * COUNT + i] == 2 * number(r, call, i));
    }
    CHECK(errors, got[REDUCE][i] == sum);
    CHECK(errors, got[SHIFT][i] == (me == n - 1 ? 2 * number(0, call, i) : 0.0f));
  }
  return errors;
}

/* Calls with different data each; from call 5 on, rank 1 has its sum at another address. */
static int run_calls(tprt_comm *comm, void *argument) {
  const graph_run *run = current = argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  tprt_context *context = make_context(comm);
  void *inputs[2], *outputs[N_SITES + 1];
  size_t bytes = N * sizeof(float) * MOST_RANKS;
  n_runs = 0;
  for (int i = 0; i < 2; i++)
    CHECK_STATUS(errors, tprt_context_alloc(context, bytes, &inputs[i]), TPRT_OK);
  for (int i = 0; i <= N_SITES; i++)
    CHECK_STATUS(errors, tprt_context_alloc(context, bytes, &outputs[i]), TPRT_OK);
  for (int call = 0; call < N_CALLS && !errors; call++) {
    float x[COUNT];
    const char *why = "?";
    void *moved[N_SITES];
    memcpy(moved, outputs, sizeof moved);
    if (me == 1 && call >= 5)
      moved[REDUCE] = outputs[N_SITES];
    for (int i = 0; i < COUNT; i++)
      x[i] = number(me, call, i);
    CHECK_STATUS(errors, tprt_context_upload(context, inputs[0], x, sizeof x), TPRT_OK);
    CHECK_STATUS(errors, tprt_context_replay(context, program, 2, inputs, N_SITES, moved, &why),
                 TPRT_OK);
    errors += check_call(context, n, me, call, moved);
    if (call > 0)
      CHECK(errors, *run->why ? strstr(why, run->why) != NULL : !*why);
  }
  CHECK(errors, *run->why ? n_runs >= N_CALLS : n_runs == (n > 1 ? 3 : 2));
  tprt_site_stats stats = {0};
  CHECK_STATUS(errors, tprt_context_site_stats(context, REDUCE, &stats), TPRT_OK);
  CHECK(errors,
        stats.calls == N_CALLS && stats.bytes == N_CALLS * 2 * (n - 1) * ((COUNT + n - 1) / n) * 4);
  for (int i = 0; i < 2; i++)
    tprt_context_free(context, inputs[i]);
  for (int i = 0; i <= N_SITES; i++)
    tprt_context_free(context, outputs[i]);
  tprt_context_destroy(context);
  return errors;
}

static void run_on(int n, habit h, const char *why, int delay) {
  const tprt_config config = machine_config();
  test_table table = make_table(n, h == ROWS_ACROSS);
  graph_run run = {.table = &table, .habit = h, .why = why};
  machine_begin((fake_plan){.most_delay_us = delay});
  assert_int_equal(run_threads(n, &config, run_calls, &run), 0);
  machine_expect_clean();
  table_free(&table);
}

static void test_replays(void **state) {
  (void)state;
  for (int n = 1; n <= MOST_RANKS; n++)
    for (int delay = 0; delay <= 300; delay += 300) {
      run_on(n, PLAIN, "", delay);
      run_on(n, SPLIT, "", delay);
      if (n == 2 || n == 4) /* these divide the rows */
        run_on(n, ROWS_ACROSS, "", delay);
    }
}

static void test_refused(void **state) {
  (void)state;
  run_on(2, PIECES,
         "all_gather: pieces that are not contiguous, or elements that are not aligned, "
         "cannot be captured",
         0);
}

/* ---- A collective in a graph that never ends ---- */

static pthread_barrier_t both;

static int run_for_ever(tprt_comm *comm, void *argument) {
  int errors = 0;
  tprt_context *context = make_context(comm);
  void *inputs[2], *outputs[N_SITES];
  current = argument;
  const char *why;
  for (int i = 0; i < 2; i++)
    CHECK_STATUS(errors, tprt_context_alloc(context, N * sizeof(float), &inputs[i]), TPRT_OK);
  for (int i = 0; i < N_SITES; i++)
    CHECK_STATUS(errors, tprt_context_alloc(context, N * sizeof(float) * MOST_RANKS, &outputs[i]),
                 TPRT_OK);
  CHECK_STATUS(errors, tprt_context_replay(context, program, 2, inputs, N_SITES, outputs, &why),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_context_synchronize(context), TPRT_OK);
  pthread_barrier_wait(&both);
  if (tprt_comm_rank(comm) == 0)
    machine_begin((fake_plan){.hang_on = "ncclAllReduce"});
  pthread_barrier_wait(&both);
  CHECK_STATUS(errors, tprt_context_replay(context, program, 2, inputs, N_SITES, outputs, &why),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_context_synchronize(context), TPRT_TIMEOUT);
  CHECK(
      errors,
      strstr(tprt_last_error(),
             "a launched graph, a split or a window did not finish in time; it is not known which "
             "rank is late"));
  for (int i = 0; i < 2; i++)
    tprt_context_free(context, inputs[i]);
  for (int i = 0; i < N_SITES; i++)
    tprt_context_free(context, outputs[i]);
  tprt_context_destroy(context);
  return errors;
}

static void test_without_end(void **state) {
  tprt_config config = machine_config();
  test_table table = make_table(2, false);
  graph_run run = {.table = &table};
  (void)state;
  config.timeout_ns = 500000000;
  assert_int_equal(pthread_barrier_init(&both, NULL, 2), 0);
  machine_begin((fake_plan){.most_delay_us = 0});
  assert_int_equal(run_threads(2, &config, run_for_ever, &run), 0);
  machine_expect_clean();
  pthread_barrier_destroy(&both);
  table_free(&table);
}

/* ---- Memory of another device, at one rank, in a capture ---- */

static int run_wrongly(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_context *context = make_context(comm);
  void *inputs[2], *outputs[N_SITES], *wrong = machine_alloc(0, N * sizeof(float));
  current = argument;
  const char *why;
  for (int i = 0; i < 2; i++)
    CHECK_STATUS(errors, tprt_context_alloc(context, N * sizeof(float), &inputs[i]), TPRT_OK);
  for (int i = 0; i < N_SITES; i++)
    CHECK_STATUS(errors, tprt_context_alloc(context, N * sizeof(float) * MOST_RANKS, &outputs[i]),
                 TPRT_OK);
  CHECK_STATUS(errors, tprt_context_replay(context, program, 2, inputs, N_SITES, outputs, &why),
               TPRT_OK);
  void *moved[N_SITES];
  memcpy(moved, outputs, sizeof moved);
  if (me == 1)
    moved[REDUCE] = wrong;
  tprt_status status = tprt_context_replay(context, program, 2, inputs, N_SITES, moved, &why);
  CHECK(errors, status != TPRT_OK);
  CHECK(errors, strstr(tprt_context_error(context),
                       me == 1 ? "all_reduce: recv is memory of device 0; this rank has device 1"
                               : "rank 1"));
  for (int i = 0; i < 2; i++)
    tprt_context_free(context, inputs[i]);
  for (int i = 0; i < N_SITES; i++)
    tprt_context_free(context, outputs[i]);
  tprt_context_destroy(context);
  machine_free(0, wrong);
  return errors;
}

static void test_wrong_memory(void **state) {
  const tprt_config config = machine_config();
  test_table table = make_table(2, false);
  graph_run run = {.table = &table};
  (void)state;
  machine_begin((fake_plan){.most_delay_us = 0});
  assert_int_equal(run_threads(2, &config, run_wrongly, &run), 0);
  machine_expect_clean();
  table_free(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_replays), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_without_end),
                                     cmocka_unit_test(test_wrong_memory)};
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
