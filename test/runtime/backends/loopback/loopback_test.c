/* Tests features that only virtual ranks have: one thread that drives all of them, windows of any
 * memory; and what they reject. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5 };

static void create(tprt_comm **ranks) {
  tprt_config config = test_config();
  config.backend = "loopback";
  assert_int_equal(tprt_world_create_threads(N, &config, ranks), TPRT_OK);
}

static void destroy(tprt_comm **ranks) {
  for (int i = 0; i < N; i++)
    tprt_comm_destroy(ranks[i]);
}

/* Submits for every rank, then waits for every rank. */
static void test_one_thread(void **state) {
  (void)state;
  tprt_comm *ranks[N];
  tprt_work *works[N];
  int32_t values[N], sums[N], all[N][N];
  create(ranks);
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < N; i++) {
      values[i] = round * 10 + i;
      assert_int_equal(
          tprt_all_reduce(ranks[i], &values[i], &sums[i], 1, TPRT_I32, TPRT_SUM, NULL, &works[i]),
          TPRT_OK);
    }
    for (int i = 0; i < N; i++) {
      assert_int_equal(tprt_work_wait(works[i], 0), TPRT_OK);
      tprt_work_destroy(works[i]);
      assert_int_equal(sums[i], N * round * 10 + N * (N - 1) / 2);
      assert_int_equal(tprt_all_gather(ranks[i], &sums[i], all[i], 1, TPRT_I32, NULL, &works[i]),
                       TPRT_OK);
    }
    for (int i = 0; i < N; i++) {
      assert_int_equal(tprt_work_wait(works[i], 0), TPRT_OK);
      tprt_work_destroy(works[i]);
      assert_int_equal(all[i][N - 1 - i], sums[i]);
    }
  }
  destroy(ranks);
}

static int borrow(tprt_comm *comm, void *argument) {
  static int64_t numbers[N]; /* not registered memory */
  int errors = 0, me = tprt_comm_rank(comm), next = (me + 1) % N;
  int64_t value = 100 + me;
  tprt_window *window = NULL;
  void *mapped = NULL;
  (void)argument;
  CHECK_STATUS(errors, tprt_window_create(comm, &numbers[me], sizeof numbers[me], &window),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_window_put(window, next, 0, &value, sizeof value), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_signal(window, next), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_wait_signal(window, (me + N - 1) % N, 1, 0), TPRT_OK);
  CHECK(errors, numbers[me] == 100 + (me + N - 1) % N);
  CHECK_STATUS(errors, tprt_window_map(window, next, &mapped), TPRT_OK);
  CHECK(errors, mapped == &numbers[next]);
  CHECK_STATUS(errors, tprt_window_destroy(window), TPRT_OK);
  return errors;
}

static void test_any_memory(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = "loopback";
  assert_int_equal(run_threads(N, &config, borrow, NULL), 0);
}

/* A rank whose communicator has failed frees its memory alone: peers that have not noticed the
 * failure no longer access it. */
static int put_into_the_void(tprt_comm *comm, void *argument) {
  pthread_barrier_t *together = argument;
  int errors = 0, me = tprt_comm_rank(comm);
  int64_t value = 7, *memory = malloc(sizeof *memory);
  tprt_window *window = NULL;
  CHECK_STATUS(errors, tprt_window_create(comm, memory, sizeof *memory, &window), TPRT_OK);
  pthread_barrier_wait(together); /* all have the memory */
  if (me == 1) {
    tprt_comm_abort(comm);
    CHECK(errors, tprt_window_destroy(window) != TPRT_OK);
    free(memory);
    pthread_barrier_wait(together);
    return errors;
  }
  pthread_barrier_wait(together);
  tprt_status status = me == 0   ? tprt_window_put(window, 1, 0, &value, sizeof value)
                       : me == 2 ? tprt_window_get(window, 1, 0, &value, sizeof value)
                                 : tprt_window_signal(window, 1);
  CHECK(errors, status == TPRT_ABORTED);
  CHECK(errors, tprt_window_destroy(window) != TPRT_OK);
  free(memory);
  return errors;
}

static void test_withdrawn(void **state) {
  (void)state;
  tprt_config config = test_config();
  pthread_barrier_t together;
  config.backend = "loopback";
  pthread_barrier_init(&together, NULL, 4);
  assert_int_equal(run_threads(4, &config, put_into_the_void, &together), 0);
  pthread_barrier_destroy(&together);
}

static void test_refused(void **state) {
  (void)state;
  tprt_config config = {.size = sizeof config, .backend = "LoopBack"};
  tprt_comm *comm;
  assert_int_equal(tprt_world_create(3, 1, &config, &comm), TPRT_UNSUPPORTED);
  assert_non_null(strstr(tprt_last_error(), "rank 1 of 3 as a separate process needs shm or mpi"));
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_OK);
  assert_int_equal(tprt_barrier(comm, NULL, NULL), TPRT_OK);
  tprt_comm_destroy(comm);
  assert_int_equal(tprt_world_create_threads(70000, &config, &comm), TPRT_INVALID_ARGUMENT);
  assert_non_null(strstr(tprt_last_error(), "at most 65535 ranks, not 70000"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_thread),
      cmocka_unit_test(test_any_memory),
      cmocka_unit_test(test_withdrawn),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
