/* Tests plug-ins: found by their absolute path, loaded once, rejected with a reason. The
 * conformance tests check their operations. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(const char *path, tprt_status status, const char *why) {
  tprt_config config = {.size = sizeof config, .backend = path};
  tprt_comm *comms[2];
  assert_int_equal(tprt_world_create_threads(2, &config, comms), status);
  if (!strstr(tprt_last_error(), why))
    fail_msg("\"%s\" is not in: %s", why, tprt_last_error());
}

static void test_refused(void **state) {
  (void)state;
  refuse("lib/backend.so", TPRT_INVALID_ARGUMENT, "name a plug-in by its absolute path");
  refuse("/nonexistent/backend.so", TPRT_INVALID_ARGUMENT, "plug-in /nonexistent/backend.so: ");
  refuse(HARNESS_LIBRARY, TPRT_INVALID_ARGUMENT, "exports no tprt_messenger_plugin");
  refuse(OLD_PLUGIN, TPRT_UNSUPPORTED, "is for version 77 of the messenger interface");
  refuse(OLD_PLUGIN, TPRT_UNSUPPORTED, "this library has version 1 ");
  refuse(INCOMPLETE_PLUGIN, TPRT_UNSUPPORTED, "lacks a required function, its name or its summary");
}

static int sum(tprt_comm *comm, void *argument) {
  int errors = 0, total = 0, one = 1;
  (void)argument;
  CHECK(errors, strcmp(tprt_comm_backend(comm), "mailbox") == 0);
  CHECK(errors, (tprt_comm_capabilities(comm) & (TPRT_CAP_THREADS | TPRT_CAP_PROCESSES)) ==
                    TPRT_CAP_THREADS);
  CHECK_STATUS(errors, tprt_all_reduce(comm, &one, &total, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, total == tprt_comm_size(comm));
  return errors;
}

static void test_works(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = MAILBOX_BACKEND;
  assert_int_equal(run_threads(3, &config, sum, NULL), 0);
  assert_int_equal(run_threads(2, &config, sum, NULL), 0);
  tprt_comm *comm;
  assert_int_equal(tprt_world_create(2, 0, &config, &comm), TPRT_UNSUPPORTED);
  assert_non_null(strstr(tprt_last_error(), "backend mailbox runs all ranks in one process"));
}

/* A rank frees its memory under a window: peers get an error, and their data is not written. */
static int withdrawn(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm);
  int32_t memory = 7, value = 1;
  tprt_window *window;
  bool gets = *(bool *)argument;
  CHECK_STATUS(errors, tprt_window_create(comm, &memory, sizeof memory, &window), TPRT_OK);
  if (errors)
    return errors;
  if (me == 1) {
    CHECK_STATUS(errors, tprt_mem_deregister(comm, &memory), TPRT_OK);
    CHECK_STATUS(errors, tprt_mem_deregister(comm, &memory), TPRT_INVALID_ARGUMENT);
    CHECK(errors, strstr(tprt_last_error(), "was not registered") != NULL);
  }
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (me == 0) {
    tprt_status status = gets ? tprt_window_get(window, 1, 0, &value, sizeof value)
                              : tprt_window_put(window, 1, 0, &value, sizeof value);
    CHECK_STATUS(errors, status, TPRT_INVALID_STATE);
    CHECK(errors, strstr(tprt_last_error(), "the memory of rank 1 is no longer available") != NULL);
  }
  CHECK(errors, tprt_window_destroy(window) != TPRT_OK);
  CHECK(errors, memory == 7 && value == 1);
  return errors;
}

static void test_withdrawn(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = MAILBOX_BACKEND;
  for (int i = 0; i < 2; i++) {
    bool gets = i;
    assert_int_equal(run_threads(2, &config, withdrawn, &gets), 0);
  }
}

/* ---- A rank that dies ---- */

typedef struct death {
  int victim;
  bool accesses; /* detects the death by accessing a window */
  _Atomic int *ended;
} death;

static int outlive(tprt_comm *comm, void *argument) {
  const death *d = argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm), finder = (d->victim + 1) % n,
      sum = 0;
  int32_t memory = 0;
  char who[16];
  tprt_window *window;
  tprt_comm *rest;
  CHECK_STATUS(errors, tprt_window_create(comm, &memory, sizeof memory, &window), TPRT_OK);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (errors)
    return errors;
  if (me == d->victim) {
    atomic_store(d->ended, me + 1);
    /* the dead rank's results are never seen */
    (void)tprt_window_destroy(window);
    return errors;
  }
  tprt_status status = TPRT_OK;
  while (me == finder && d->accesses && !status) /* until the victim has died */
    status = tprt_window_put(window, d->victim, 0, &me, sizeof me);
  if (!status)
    status = tprt_barrier(comm, NULL, NULL);
  CHECK_STATUS(errors, status, TPRT_PEER_DEAD);
  snprintf(who, sizeof who, "rank %d ended", d->victim);
  CHECK(errors, strstr(tprt_last_error(), who) != NULL);
  CHECK_STATUS(errors, tprt_comm_shrink(comm, 0, &rest), TPRT_OK);
  if (errors)
    return errors;
  CHECK(errors, tprt_comm_size(rest) == n - 1 && tprt_comm_local_rank(rest, d->victim) == -1);
  CHECK_STATUS(errors, tprt_all_reduce(rest, &me, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, sum == n * (n - 1) / 2 - d->victim);
  tprt_comm_destroy(rest);
  (void)tprt_window_destroy(window);
  return errors;
}

/* Covers also the rank that coordinates the recovery. */
static void test_death(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = MORTAL_PLUGIN;
  void *library = dlopen(MORTAL_PLUGIN, RTLD_NOW);
  assert_non_null(library);
  _Atomic int *ended = dlsym(library, "mortal_ended");
  assert_non_null(ended);
  for (int i = 0; i < 8; i++) {
    death d = {.victim = i % 4, .accesses = i >= 4, .ended = ended};
    atomic_store(ended, 0);
    assert_int_equal(run_threads(4, &config, outlive, &d), 0);
  }
  dlclose(library);
}

static int receive_last(tprt_comm *comm, void *argument) {
  enum { N = 25000 };
  static int32_t data[2][N];
  int errors = 0, me = tprt_comm_rank(comm);
  (void)argument;
  for (int i = 0; i < N; i++)
    data[me][i] = me * i;
  CHECK_STATUS(errors, tprt_broadcast(comm, data[me], data[me], N, TPRT_I32, 1, NULL, NULL),
               TPRT_OK);
  for (int i = 0; i < N; i++)
    errors += data[me][i] != i;
  return errors;
}

/* A message that a rank sent before it ended is received, even if both are detected at once. */
static void test_last_message(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = MORTAL_PLUGIN;
  void *library = dlopen(MORTAL_PLUGIN, RTLD_NOW);
  assert_non_null(library);
  _Atomic int *ended = dlsym(library, "mortal_ended"), *last = dlsym(library, "mortal_last");
  assert_true(ended && last);
  atomic_store(ended, 0);
  atomic_store(last, 2);
  assert_int_equal(run_threads(2, &config, receive_last, NULL), 0);
  atomic_store(last, 0);
  dlclose(library);
}

/* Without an MPI library; and threads cannot be MPI ranks. */
static void test_mpi(void **state) {
  (void)state;
  tprt_config config = {.size = sizeof config, .backend = "MPI"};
  tprt_comm *comm;
  assert_int_equal(setenv("TPRT_MPI_LIBRARY", "/nonexistent/libmpi.so", 1), 0);
  assert_int_equal(tprt_world_create(2, 0, &config, &comm), TPRT_UNSUPPORTED);
  assert_non_null(
      strstr(tprt_last_error(), "backend mpi: TPRT_MPI_LIBRARY: /nonexistent/libmpi.so"));
  assert_int_equal(setenv("TPRT_MPI_LIBRARY", HARNESS_LIBRARY, 1), 0);
  assert_int_equal(tprt_world_create(2, 0, &config, &comm), TPRT_UNSUPPORTED);
  assert_non_null(
      strstr(tprt_last_error(), "supports the ABIs of Open MPI and MPICH, but not that of \"\""));
  unsetenv("TPRT_MPI_LIBRARY");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),      cmocka_unit_test(test_works),
      cmocka_unit_test(test_withdrawn),    cmocka_unit_test(test_death),
      cmocka_unit_test(test_last_message), cmocka_unit_test(test_mpi),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
