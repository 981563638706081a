/* Tests groups through the public interface, on a driver that emulates the device: virtual ranks in
 * one launch, one launch per rank, every failure of a group creation or a call, a missing rank. */
#define _GNU_SOURCE 1
#include "test/runtime/cuda/kernels/cases.h"
#include "tprt/tprt.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RANKS = 4 };

/* The memory of a group of ranks, for all cases. */
typedef struct world {
  tprt_cuda_group_config config;
  unsigned char *base[FUSED_RANKS], *constants;
  size_t buffer_bytes;
} world;

static void *zeroed(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  assert_non_null(memory);
  return memset(memory, 0, (bytes + 63) / 64 * 64);
}

static world make_world(int n_ranks) {
  world w = {.config = {.size = sizeof w.config, .n_ranks = n_ranks, .rank = TPRT_CUDA_ALL_RANKS}};
  for (int i = 0; i < n_fused_cases; i++) {
    size_t buffer = (case_buffer_bytes(&fused_cases[i], n_ranks) + 63) / 64 * 64;
    size_t staging = case_staging_bytes(&fused_cases[i], n_ranks);
    w.buffer_bytes = buffer > w.buffer_bytes ? buffer : w.buffer_bytes;
    w.config.staging_bytes = staging > w.config.staging_bytes ? staging : w.config.staging_bytes;
  }
  for (int r = 0; r < n_ranks; r++) {
    w.config.signals[r] = zeroed(tprt_cuda_signal_bytes());
    w.config.staging[r] = zeroed(w.config.staging_bytes);
    w.base[r] = zeroed(N_BUFFERS * w.buffer_bytes);
  }
  w.constants = zeroed(N_CONSTANTS * w.buffer_bytes);
  return w;
}

static void free_world(world *w) {
  for (int r = 0; r < w->config.n_ranks; r++) {
    free(w->config.signals[r]);
    free(w->config.staging[r]);
    free(w->base[r]);
  }
  free(w->constants);
}

static void prepare(world *w, int which) {
  case_constants(&fused_cases[which], w->constants, w->buffer_bytes);
  for (int r = 0; r < w->config.n_ranks; r++)
    case_fill(&fused_cases[which], w->config.n_ranks, r, (uint64_t)which, w->base[r],
              w->buffer_bytes);
}

static int errors_of(const world *w, int which) {
  int errors = 0;
  for (int r = 0; r < w->config.n_ranks; r++)
    errors += case_check(&fused_cases[which], w->config.n_ranks, r, (uint64_t)which, w->base[r],
                         w->buffer_bytes);
  return errors;
}

static tprt_status call(world *w, tprt_cuda_group *group, int which) {
  case_arguments a = case_arguments_of(&fused_cases[which], w->config.n_ranks, w->base,
                                       w->constants, w->buffer_bytes);
  return case_call(&fused_cases[which], group, &a, NULL);
}

static void test_virtual_ranks(void **state) {
  (void)state;
  for (int n = 1; n <= MOST_RANKS; n *= 2) {
    world w = make_world(n);
    tprt_cuda_group *group;
    assert_int_equal(tprt_cuda_group_create(&w.config, &group), TPRT_OK);
    for (int i = 0; i < n_fused_cases; i++) {
      prepare(&w, i);
      assert_int_equal(call(&w, group, i), TPRT_OK);
      assert_int_equal(errors_of(&w, i), 0);
    }
    assert_int_equal(tprt_cuda_group_check(group, NULL), TPRT_OK);
    tprt_cuda_group_destroy(group);
    free_world(&w);
  }
}

/* ---- Results of the other backends ---- */

static bool is_sum_alone(const fused_case *c) {
  return c->kind == CASE_ROWS && !c->norm && !c->quantize && !c->bias && !c->residual &&
         !c->out_sharded && !c->in_place && !c->input_sent;
}

static void test_bits_of_loopback(void **state) {
  (void)state;
  enum { N = 3 };
  world w = make_world(N);
  tprt_cuda_group *group;
  tprt_config config = {.size = sizeof config, .backend = "loopback"};
  tprt_comm *comms[N];
  unsigned char *sums[N];
  int n_compared = 0;
  assert_int_equal(tprt_cuda_group_create(&w.config, &group), TPRT_OK);
  assert_int_equal(tprt_world_create_threads(N, &config, comms), TPRT_OK);
  for (int r = 0; r < N; r++)
    sums[r] = zeroed(w.buffer_bytes);
  for (int i = 0; i < n_fused_cases; i++) {
    const fused_case *c = &fused_cases[i];
    tprt_work *works[N];
    if (!is_sum_alone(c))
      continue;
    prepare(&w, i);
    assert_int_equal(call(&w, group, i), TPRT_OK);
    for (int r = 0; r < N; r++)
      assert_int_equal(tprt_all_reduce(comms[r], w.base[r] + BUFFER_INPUT * w.buffer_bytes, sums[r],
                                       c->tokens * c->hidden, c->dtype, TPRT_SUM, NULL, &works[r]),
                       TPRT_OK);
    size_t bytes = (size_t)(c->tokens * c->hidden) * tprt_dtype_size(c->dtype);
    for (int r = 0; r < N; r++) {
      assert_int_equal(tprt_work_wait(works[r], 0), TPRT_OK);
      tprt_work_destroy(works[r]);
    }
    for (int r = 0; r < N; r++)
      assert_memory_equal(sums[r], w.base[r] + BUFFER_OUT * w.buffer_bytes, bytes);
    n_compared++;
  }
  assert_true(n_compared >= 4);
  for (int r = 0; r < N; r++) {
    tprt_comm_destroy(comms[r]);
    free(sums[r]);
  }
  tprt_cuda_group_destroy(group);
  free_world(&w);
}

/* ---- One group and one thread per rank ---- */

typedef struct rank_thread {
  world *w;
  pthread_barrier_t *barrier;
  int rank, errors;
} rank_thread;

static void *play_rank(void *argument) {
  rank_thread *t = argument;
  tprt_cuda_group_config config = t->w->config;
  tprt_cuda_group *group;
  config.rank = t->rank;
  config.max_ctas = 2;
  if (tprt_cuda_group_create(&config, &group) != TPRT_OK) {
    t->errors = 1;
    return NULL;
  }
  for (int i = 0; i < n_fused_cases; i++) {
    if (t->rank == 0)
      prepare(t->w, i);
    pthread_barrier_wait(t->barrier);
    t->errors += call(t->w, group, i) != TPRT_OK;
    pthread_barrier_wait(t->barrier);
    if (t->rank == 0)
      t->errors += errors_of(t->w, i);
  }
  t->errors += tprt_cuda_group_check(group, NULL) != TPRT_OK;
  tprt_cuda_group_destroy(group);
  return NULL;
}

static void test_grid_per_rank(void **state) {
  (void)state;
  for (int n = 2; n <= MOST_RANKS; n++) {
    world w = make_world(n);
    pthread_t threads[MOST_RANKS];
    rank_thread ranks[MOST_RANKS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    for (int r = 0; r < n; r++) {
      ranks[r] = (rank_thread){.w = &w, .barrier = &barrier, .rank = r};
      assert_int_equal(pthread_create(&threads[r], NULL, play_rank, &ranks[r]), 0);
    }
    for (int r = 0; r < n; r++) {
      pthread_join(threads[r], NULL);
      assert_int_equal(ranks[r].errors, 0);
    }
    pthread_barrier_destroy(&barrier);
    free_world(&w);
  }
}

/* ---- Errors ---- */

static void expect(tprt_status got, tprt_status status, const char *text) {
  if (got != status || !strstr(tprt_last_error(), text))
    fail_msg("%s: \"%s\"; expected %s: \"%s\"", tprt_status_name(got), tprt_last_error(),
             tprt_status_name(status), text);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *mode;
    tprt_status status;
    const char *text;
  } rows[] = {
      {"no context", TPRT_INVALID_STATE, "the thread has no current context"},
      {"context device", TPRT_DEVICE, "device of the context: CUDA_ERROR_STUB_LIBRARY (34)"},
      {"attributes", TPRT_DEVICE, "attributes of the device"},
      {"old", TPRT_UNSUPPORTED, "fused kernels need compute capability 8.0; the device has 7.5"},
      {"not cooperative", TPRT_UNSUPPORTED, "virtual ranks need cooperative launches"},
      {"load", TPRT_DEVICE, "loading the fused kernels"},
      {"function", TPRT_DEVICE, "CUDA: tprt_reduce_rows_f32: CUDA_ERROR_STUB_LIBRARY"},
      {"occupancy", TPRT_DEVICE, "occupancy of a kernel"},
      {"full", TPRT_UNSUPPORTED,
       "1 thread blocks of 2 ranks must run concurrently; the device can run 0"},
  };
  world w = make_world(2);
  tprt_cuda_group *group = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setenv("FAKE_CUDA", rows[i].mode, 1);
    expect(tprt_cuda_group_create(&w.config, &group), rows[i].status, rows[i].text);
    assert_null(group);
  }
  setenv("FAKE_CUDA", "", 1);
  tprt_cuda_group_config config = w.config;
  config.max_ctas = 5;
  expect(tprt_cuda_group_create(&config, &group), TPRT_UNSUPPORTED,
         "5 thread blocks of 2 ranks must run concurrently");
  config.n_ranks = 9;
  expect(tprt_cuda_group_create(&config, &group), TPRT_INVALID_ARGUMENT,
         "invalid group of 9 ranks");
  config.size = 0;
  expect(tprt_cuda_group_create(&config, &group), TPRT_INVALID_ARGUMENT,
         "tprt_cuda_group_config.size is 0");
  free_world(&w);
}

static void test_failing_calls(void **state) {
  (void)state;
  world w = make_world(2);
  tprt_cuda_group *group;
  assert_int_equal(tprt_cuda_group_create(&w.config, &group), TPRT_OK);
  prepare(&w, 0);
  setenv("FAKE_CUDA", "launch", 1);
  expect(call(&w, group, 0), TPRT_DEVICE,
         "CUDA: tprt_reduce_short_rows_bf16: CUDA_ERROR_STUB_LIBRARY");
  setenv("FAKE_CUDA", "synchronize", 1);
  expect(tprt_cuda_group_check(group, NULL), TPRT_DEVICE, "waiting for the stream");
  setenv("FAKE_CUDA", "copy", 1);
  expect(tprt_cuda_group_check(group, NULL), TPRT_DEVICE, "reading the signals");
  setenv("FAKE_CUDA", "", 1);
  tprt_cuda_rows nothing = {.size = 1};
  expect(tprt_cuda_reduce_rows(group, &nothing, NULL), TPRT_INVALID_ARGUMENT,
         "tprt_cuda_rows.size is 1");
  expect(tprt_cuda_reduce_rows(group, NULL, NULL), TPRT_INVALID_ARGUMENT,
         "tprt_cuda_reduce_rows: rows is NULL");
  expect(tprt_cuda_cross_entropy(group, NULL, NULL), TPRT_INVALID_ARGUMENT,
         "tprt_cuda_cross_entropy: entropy is NULL");
  const void *sends[2] = {NULL};
  void *receives[2] = {NULL};
  expect(tprt_cuda_all_gather(group, TPRT_F32, 1, NULL, 0, sends, receives, NULL),
         TPRT_INVALID_ARGUMENT, "tprt_cuda_all_gather: shape is NULL");
  expect(tprt_cuda_all_to_all(group, TPRT_F32, 0, NULL, 0, 0, sends, NULL, NULL),
         TPRT_INVALID_ARGUMENT, "tprt_cuda_all_to_all: recv is NULL");
  tprt_cuda_group_destroy(group);
  tprt_cuda_group_destroy(NULL);
  free_world(&w);
}

/* Rank 1 never calls: rank 0 gives up and reports it. */
static void test_missing_rank(void **state) {
  (void)state;
  world w = make_world(2);
  tprt_cuda_group_config config = w.config;
  config.rank = 0;
  config.spin_limit = 1000;
  tprt_cuda_group *group;
  assert_int_equal(tprt_cuda_group_create(&config, &group), TPRT_OK);
  prepare(&w, 1);
  assert_int_equal(tprt_cuda_group_check(group, NULL), TPRT_OK);
  assert_int_equal(call(&w, group, 1), TPRT_OK);
  expect(tprt_cuda_group_check(group, NULL), TPRT_TIMEOUT,
         "rank 0 gave up waiting for the others in fused call 1");
  tprt_cuda_group_destroy(group);
  free_world(&w);
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_virtual_ranks), cmocka_unit_test(test_bits_of_loopback),
      cmocka_unit_test(test_grid_per_rank), cmocka_unit_test(test_refused),
      cmocka_unit_test(test_failing_calls), cmocka_unit_test(test_missing_rank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
