/* Tests GPU programs as graphs: captured at the second call, launched again with the same
 * addresses, on the fake driver, which orders a graph only by captured events. */
#define _GNU_SOURCE 1
#include "test/runtime/cuda/fake/fake_stream.h"
#include "test/runtime/harness/table.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* Two cache lines: each of two ranks reduces one. */
enum { COUNT = 32, BYTES = COUNT * 4, MOST_RANKS = 3, REDUCE = 0, MOST_CALLS = 40, N_BUFFERS = 10 };

/* a[i] = 8 a[i] + 0.5, one block. */
static const char kernels[] = ".version 7.8\n"
                              ".target sm_80\n"
                              ".address_size 64\n"
                              ".visible .entry tp_kernel0(.param .u64 p0)\n"
                              "{\n"
                              "  .reg .b32 %r<2>;\n"
                              "  .reg .b32 %f<5>;\n"
                              "  .reg .b64 %d<4>;\n"
                              "  ld.param.u64 %d1, [p0];\n"
                              "  mov.u32 %r1, %tid.x;\n"
                              "  mul.wide.u32 %d2, %r1, 4;\n"
                              "  add.s64 %d3, %d1, %d2;\n"
                              "  ld.global.f32 %f2, [%d3];\n"
                              "  mov.f32 %f1, 0f3F000000;\n"
                              "  mov.f32 %f3, 0f41000000;\n"
                              "  fma.rn.f32 %f4, %f2, %f3, %f1;\n"
                              "  st.global.f32 [%d3], %f4;\n"
                              "  ret;\n"
                              "}\n";

/* What the program does in addition to its all-reduce. */
typedef enum habit {
  NOTHING,
  READS,
  WRITES,
  ASSERTS,
  READS_LATER,
  READS_ON_RANK_1,
  FAILS_ON_RANK_1
} habit;

typedef struct rank {
  pthread_t thread;
  tprt_comm *world;
  const test_table *table;
  habit habit;
  int number, n_ranks, n_calls;
  int outputs[MOST_CALLS]; /* output buffer of call i */
  /* the rank that arrives last at the capture and continues first; -1: any */
  int ahead;
  bool loses; /* skips a wait of the capturing call, according to rank 0's plan */
  long lost;
  /* Observations. */
  int n_runs, runs_after[MOST_CALLS]; /* number of runs of the function */
  long launches[MOST_CALLS], replays[MOST_CALLS];
  float results[MOST_CALLS][COUNT];
  int capturing; /* the state of the stream after the last call */
  tprt_status status;
  char error[256], why[256];
  tprt_site_stats stats;
} rank;

static __thread rank *self;
static fake_streams_of_thread_fn *streams_of_thread;
static fake_waits_of_all_fn *waits_of_all;
static cuda_result (*stream_capturing)(cuda_stream stream, int *status);

static void set(const char *name, const char *value) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

static void nap(bool wanted) {
  const struct timespec some = {.tv_nsec = 2000000};
  if (wanted)
    nanosleep(&some, NULL);
}

/* ---- The program: the all-reduce of 8 x + 0.5 ---- */

static void do_habit(tprt_context *context, void *memory) {
  float number;
  habit h = self->habit;
  if (h == READS || (h == READS_LATER && self->n_runs > 1) ||
      (h == READS_ON_RANK_1 && self->number == 1))
    (void)tprt_abi_read(context, memory, &number, sizeof number);
  if (h == WRITES)
    (void)tprt_abi_write(context, memory, &(float){0}, sizeof number);
}

static int32_t program(tprt_context *context, void *const *inputs, void *const *outputs) {
  self->n_runs++;
  if (tprt_abi_enter(context, self->table->words) || tprt_abi_kernels(context, kernels))
    return tprt_abi_status(context);
  char *summand = tprt_abi_private(context), *other = summand + BYTES;
  void *sum = tprt_abi_registered(context);
  const uint64_t argument = (uint64_t)(uintptr_t)summand, further = (uint64_t)(uintptr_t)other;
  (void)tprt_abi_copy(context, inputs[0], summand, BYTES);
  (void)tprt_abi_launch(context, 0, 1, COUNT, &argument, 1);
  (void)tprt_abi_start(context, REDUCE, summand, sum);
  (void)tprt_abi_copy(context, inputs[0], other, BYTES);
  (void)tprt_abi_launch(context, 0, 1, COUNT, &further, 1);
  (void)tprt_abi_wait(context, REDUCE, summand, sum);
  /* overwrites the sent data, and later the received data */
  (void)tprt_abi_copy(context, other, summand, BYTES);
  do_habit(context, other);
  (void)tprt_abi_copy(context, sum, outputs[0], BYTES);
  (void)tprt_abi_copy(context, other, sum, BYTES);
  if (self->habit == ASSERTS && tprt_abi_asserted(context))
    return tprt_abi_fail(context, TPRT_PROGRAM, "asserted");
  if (self->habit == FAILS_ON_RANK_1 && self->n_runs == 2) {
    if (self->number == 1)
      return tprt_abi_fail(context, TPRT_PROGRAM, "wanted");
    for (int i = 0; i < 20; i++)
      nap(true);
  }
  return tprt_abi_status(context);
}

static test_table make_table(int64_t n) {
  static const int64_t axis[] = {0}, shape[] = {COUNT};
  test_table t = table_make(1, &n);
  table_site(&t, TPRT_SITE_ALL_REDUCE, TPRT_F32, TPRT_SUM, 1, axis, 1, shape, NULL, 0);
  t.words[12] = 2 * BYTES;
  t.words[13] = BYTES;
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

static float input_of(int number, int call, int i) { return (float)(100 * number + 10 * call + i); }

static float expected(const rank *r, int call, int i) {
  float sum = 0;
  for (int k = 0; k < r->n_ranks; k++)
    sum += 8 * input_of(k, call, i) + 0.5f;
  return sum;
}

/* ---- Runs ---- */

static tprt_status call(rank *r, tprt_context *context, int number, void *const *buffers) {
  void *const inputs[] = {buffers[0]}, *const outputs[] = {buffers[2 + r->outputs[number]]};
  const char *why;
  float x[COUNT];
  for (int i = 0; i < COUNT; i++)
    x[i] = input_of(r->number, number, i);
  fake_stream_plan *plan = streams_of_thread();
  *plan = (fake_stream_plan){.lose_wait = 0};
  tprt_status status = tprt_context_upload(context, buffers[1], x, BYTES);
  if (!status)
    status = (tprt_status)tprt_abi_copy(context, buffers[1], buffers[0], BYTES); /* executed late */
  bool captures = r->lost && number == 1;
  if (captures)
    (void)tprt_barrier(r->world, NULL, NULL);
  if (captures && r->number == 0) {
    waits_of_all()->n = 0;
    waits_of_all()->lose = r->lost;
  }
  if (captures)
    (void)tprt_barrier(r->world, NULL, NULL);
  nap(r->ahead == r->number);
  plan->n_launches = 0;
  if (!status)
    status = tprt_context_replay(context, program, 1, inputs, 1, outputs, &why);
  r->launches[number] = plan->n_launches;
  r->replays[number] = plan->n_replays;
  r->runs_after[number] = r->n_runs;
  if (captures)
    (void)tprt_barrier(r->world, NULL, NULL);
  if (captures && r->number == 0)
    r->lost = waits_of_all()->lose = 0;
  nap(r->ahead >= 0 && r->ahead != r->number);
  snprintf(r->why, sizeof r->why, "%s", status ? "" : why);
  return status ? status : tprt_context_download(context, r->results[number], outputs[0], BYTES);
}

static void *run_rank(void *argument) {
  rank *r = self = argument;
  tprt_context *context = NULL;
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  void *buffers[2 + N_BUFFERS], *stream = NULL;
  r->status = tprt_context_create(r->world, &config, &context);
  for (int i = 0; i < 2 + N_BUFFERS && !r->status; i++)
    r->status = tprt_context_alloc(context, BYTES, &buffers[i]);
  if (!r->status)
    r->status = tprt_context_stream(context, &stream);
  for (int i = 0; i < r->n_calls && !r->status; i++)
    r->status = call(r, context, i, buffers);
  if (stream && stream_capturing(stream, &r->capturing))
    r->capturing = -1;
  if (!r->status)
    r->status = tprt_context_site_stats(context, REDUCE, &r->stats);
  snprintf(r->error, sizeof r->error, "%s",
           context ? tprt_context_error(context) : tprt_last_error());
  if (!*r->error)
    snprintf(r->error, sizeof r->error, "%s", tprt_last_error());
  if (!r->status)
    (void)tprt_barrier(r->world, NULL, NULL);
  for (int i = 0; i < 2 + N_BUFFERS && context; i++)
    tprt_context_free(context, buffers[i]);
  tprt_context_destroy(context);
  return NULL;
}

/* Runs ranks like the given one, except for number and world. */
static void run(int n, const char *backend, const rank *like, rank *ranks) {
  tprt_comm *worlds[MOST_RANKS];
  const tprt_config config = {
      .size = sizeof config, .backend = backend, .timeout_ns = INT64_C(20000000000)};
  test_table table = make_table(n);
  assert_int_equal(tprt_world_create_threads(n, &config, worlds), TPRT_OK);
  for (int i = 0; i < n; i++) {
    ranks[i] = *like;
    ranks[i].world = worlds[i];
    ranks[i].table = &table;
    ranks[i].number = i;
    ranks[i].n_ranks = n;
    assert_int_equal(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]), 0);
  }
  for (int i = 0; i < n; i++)
    pthread_join(ranks[i].thread, NULL);
  for (int i = 0; i < n; i++)
    tprt_comm_destroy(worlds[i]);
  table_free(&table);
}

static bool is_right(const rank *ranks, int n) {
  bool right = true;
  for (int k = 0; k < n; k++) {
    right &= !ranks[k].status;
    for (int c = 0; c < ranks[k].n_calls; c++)
      for (int i = 0; i < COUNT; i++)
        right &= ranks[k].results[c][i] == expected(&ranks[k], c, i);
  }
  return right;
}

static void expect_right(const rank *ranks, int n) {
  for (int k = 0; k < n; k++)
    if (ranks[k].status)
      fail_msg("rank %d: %s", k, ranks[k].error);
  assert_true(is_right(ranks, n));
}

/* ---- Success ---- */

static const rank plain = {.n_calls = 5, .ahead = -1};

/* The first call runs directly, the second captures, the others launch the graph; rank 0 launches
 * for all. */
static void expect_graph(const rank *ranks, int n) {
  expect_right(ranks, n);
  for (int k = 0; k < n; k++) {
    const rank *r = &ranks[k];
    assert_string_equal(r->why, "");
    assert_int_equal(r->n_runs, 2);
    assert_int_equal(r->stats.calls, r->n_calls);
    assert_int_equal(r->stats.bytes, r->n_calls * 2 * (n - 1) * ((COUNT + n - 1) / n) * 4);
  }
  for (int c = 2; c < ranks[0].n_calls; c++) {
    long launches = 0, replays = 0;
    for (int k = 0; k < n; k++) {
      launches += ranks[k].launches[c];
      replays += ranks[k].replays[c];
    }
    assert_int_equal(launches, 0);
    assert_int_equal(replays, 1);
  }
}

static void test_alone(void **state) {
  static rank ranks[MOST_RANKS];
  (void)state;
  run(1, "self", &plain, ranks);
  expect_graph(ranks, 1);
  assert_int_equal(ranks[0].launches[0], 2);
}

static void test_virtual_ranks(void **state) {
  static const char *const orders[] = {"0", "1", "0011", "1100", "01", "?", "?1", "001"};
  static rank ranks[MOST_RANKS];
  (void)state;
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    for (int n = 2; n <= MOST_RANKS; n++) {
      set("FAKE_ORDER", orders[i]);
      run(n, "loopback", &plain, ranks);
      expect_graph(ranks, n);
    }
  set("FAKE_ORDER", NULL);
}

static void test_several_gpus(void **state) {
  static rank ranks[MOST_RANKS];
  (void)state;
  set("FAKE_DEVICES", "2"); /* so two of three ranks share a device */
  set("FAKE_NO_CONTEXT", "1");
  set("FAKE_ORDER", "?");
  run(MOST_RANKS, "loopback", &plain, ranks);
  expect_graph(ranks, MOST_RANKS);
  set("FAKE_ORDER", NULL);
  set("FAKE_NO_CONTEXT", NULL);
  set("FAKE_DEVICES", NULL);
}

/* New addresses on any rank cause a new capture; old graphs are kept until eight others have been
 * captured. */
static void test_addresses(void **state) {
  static const int outputs[] = {0, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 1, 0};
  static const int runs[] = {1, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 11};
  static rank ranks[MOST_RANKS];
  rank like = plain;
  (void)state;
  like.n_calls = sizeof outputs / sizeof *outputs;
  memcpy(like.outputs, outputs, sizeof outputs);
  for (int n = 1; n <= 2; n++) {
    run(n, n == 1 ? "self" : "loopback", &like, ranks);
    expect_right(ranks, n);
    for (int k = 0; k < n; k++)
      for (int c = 0; c < like.n_calls; c++)
        if (ranks[k].runs_after[c] != runs[c])
          fail_msg("call %d: rank %d of %d had run %d times, not %d", c, k, n,
                   ranks[k].runs_after[c], runs[c]);
  }
}

static tprt_comm *run_alone_worlds[2];
static int32_t never(tprt_context *context, void *const *inputs, void *const *outputs) {
  (void)inputs, (void)outputs;
  return tprt_abi_fail(context, TPRT_PROGRAM, "it failed");
}

/* ---- Programs that run without a graph ---- */

static void expect_none(int n, const char *backend, habit h, const char *why,
                        const char *why_of_rank_0) {
  static rank ranks[MOST_RANKS];
  rank like = plain;
  like.habit = h;
  run(n, backend, &like, ranks);
  expect_right(ranks, n);
  for (int k = 0; k < n; k++) {
    const char *text = k == 0 ? why_of_rank_0 : why;
    if (!strstr(ranks[k].why, text))
      fail_msg("habit %d, rank %d: \"%s\" does not say \"%s\"", h, k, ranks[k].why, text);
    assert_int_equal(ranks[k].replays[4], 0);
    assert_int_equal(ranks[k].stats.calls, like.n_calls);
    assert_true(ranks[k].n_runs <= like.n_calls + 1);
  }
}

static void test_refused(void **state) {
  static const char reads[] = "its host code reads values that the GPU computes",
                    asserts[] = "its host code checks assertions",
                    writes[] = "its host code writes to GPU memory",
                    staged[] = "its collectives go through host memory";
  (void)state;
  for (int n = 1; n <= 2; n++) {
    const char *backend = n == 1 ? "self" : "loopback";
    expect_none(n, backend, READS, reads, reads);
    expect_none(n, backend, WRITES, writes, writes);
    expect_none(n, backend, ASSERTS, asserts, asserts);
    expect_none(n, backend, READS_LATER, reads, reads); /* detected during the capture */
  }
  expect_none(2, "loopback", READS_ON_RANK_1, reads, "another rank cannot capture it");
  expect_none(2, "shm", NOTHING, staged, staged);
}

/* With a driver that predates graphs. */
static void test_old_driver(void **state) {
  static const char why[] = "has no cuStreamBeginCapture_v2";
  (void)state;
  expect_none(1, "self", NOTHING, why, why);
  expect_none(2, "loopback", NOTHING, why, why);
}

/* ---- Failures ---- */

static void test_driver_that_fails(void **state) {
  static const struct {
    const char *mode, *text;
    tprt_status status;
  } cases[] = {
      {"capture begin", "CUDA: beginning a capture: CUDA_ERROR_INVALID_VALUE", TPRT_DEVICE},
      {"capture end", "CUDA: ending a capture: CUDA_ERROR_STUB_LIBRARY", TPRT_DEVICE},
      {"instantiate", "CUDA: instantiating a graph: CUDA_ERROR_OUT_OF_MEMORY", TPRT_NO_MEMORY},
      {"graph launch", "CUDA: launching a graph: CUDA_ERROR_LAUNCH_FAILED", TPRT_DEVICE}};
  static rank ranks[MOST_RANKS];
  (void)state;
  for (int n = 1; n <= 2; n++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      bool said = false;
      set("FAKE_CUDA", cases[i].mode);
      run(n, n == 1 ? "self" : "loopback", &plain, ranks);
      for (int k = 0; k < n; k++) {
        said |= strstr(ranks[k].error, cases[i].text) != NULL;
        assert_int_equal(ranks[k].status, cases[i].status);
        assert_int_equal(ranks[k].runs_after[0], 1);
      }
      if (!said)
        fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].mode, ranks[0].error, cases[i].text);
    }
  set("FAKE_CUDA", "");
}

/* A rank fails while its stream is captured together with that of a rank that is still busy. The
 * capture has ended on both when the call returns. */
static void test_program_that_fails(void **state) {
  static rank ranks[MOST_RANKS];
  rank like = plain;
  (void)state;
  like.habit = FAILS_ON_RANK_1;
  run(2, "loopback", &like, ranks);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(ranks[k].status, TPRT_PROGRAM);
    assert_non_null(strstr(ranks[k].error, k ? "rank 1: wanted" : "rank 1"));
    assert_int_equal(ranks[k].capturing, CUDA_CAPTURE_NONE);
  }
}

static void test_arguments(void **state) {
  const tprt_config config = {.size = sizeof config, .backend = "self"};
  const char *why;
  (void)state;
  for (int target = 0; target < 2; target++) {
    const tprt_context_config of = {.size = sizeof of, .target = (tprt_target)target};
    tprt_context *context = NULL;
    assert_int_equal(tprt_world_create_threads(1, &config, run_alone_worlds), TPRT_OK);
    assert_int_equal(tprt_context_create(run_alone_worlds[0], &of, &context), TPRT_OK);
    assert_int_equal(tprt_context_replay(context, never, target ? -1 : 0, NULL, 0, NULL, &why),
                     TPRT_INVALID_ARGUMENT);
    assert_non_null(strstr(tprt_last_error(), target ? "a negative number of arguments"
                                                     : "the context was created for the host"));
    if (target) {
      assert_int_equal(tprt_context_replay(context, never, 0, NULL, 0, NULL, &why), TPRT_PROGRAM);
      assert_int_equal(tprt_context_replay(context, never, 0, NULL, 0, NULL, &why), TPRT_PROGRAM);
    }
    tprt_context_destroy(context);
    tprt_comm_destroy(run_alone_worlds[0]);
  }
}

/* Each wait of the capturing call is skipped in turn: then the call fails, or results are wrong in
 * some order. */
static void test_each_wait_counts(void **state) {
  static rank ranks[MOST_RANKS];
  enum {
    N_ORDERS = 16,
    N_ROUNDS = 4,
    N_WAITS = 4 /* start and wait */ + 6 /* synchronization of ranks */ + 2 /* capture */ + 2
  };
  rank like = plain;
  (void)state;
  like.n_calls = 4;
  for (like.lost = N_WAITS + 1; like.lost > 0; like.lost--) {
    bool right = true;
    for (int k = 0; k < N_ORDERS * N_ROUNDS && right; k++) {
      const char order[] = {k & 1 ? '1' : '0', k & 2 ? '1' : '0', k & 4 ? '1' : '0',
                            k & 8 ? '1' : '0', 0};
      set("FAKE_ORDER", order);
      like.ahead = k / N_ORDERS % 2;
      run(2, "loopback", &like, ranks);
      right = is_right(ranks, 2);
    }
    if (right != (like.lost > N_WAITS))
      fail_msg("wait %ld is lost: %s", like.lost,
               right ? "nobody sees it" : "there are more than were expected");
  }
  set("FAKE_ORDER", NULL);
}

int main(int argc, char **argv) {
  bool old = argc > 1 && strcmp(argv[1], "--old") == 0;
  const char *driver = old ? OLD_DRIVER : FAKE_DRIVER;
  set("FAKE_CUDA", "");
  set("TPRT_CUDA_LIBRARY", driver);
  const struct {
    const char *name;
    void *to;
  } found[] = {{"fake_streams_of_thread", &streams_of_thread},
               {"fake_waits_of_all", &waits_of_all},
               {"cuStreamIsCapturing", &stream_capturing}};
  void *library = dlopen(driver, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
    void *at = library ? dlsym(library, found[i].name) : NULL;
    if (!at)
      return 1;
    memcpy(found[i].to, &at, sizeof at);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alone),
      cmocka_unit_test(test_virtual_ranks),
      cmocka_unit_test(test_several_gpus),
      cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_driver_that_fails),
      cmocka_unit_test(test_program_that_fails),
      cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_each_wait_counts),
  };
  const struct CMUnitTest old_tests[] = {cmocka_unit_test(test_old_driver)};
  return old ? cmocka_run_group_tests(old_tests, NULL, NULL)
             : cmocka_run_group_tests(tests, NULL, NULL);
}
