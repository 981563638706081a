/* Tests recovery after a failure, with all ranks or with the remaining ones. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Checks sums of the ranks' world numbers over the remaining ranks. */
static int check_sum(tprt_comm *comm, int expected) {
  int errors = 0, mine = tprt_comm_world_rank(comm, tprt_comm_rank(comm)), sum = 0;
  CHECK_STATUS(errors, tprt_all_reduce(comm, &mine, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, sum == expected);
  return errors;
}

/* Ranks 1 and then 3 of five are killed; the others continue each time, also with registered
 * memory. */
static int killed(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = check_sum(comm, 10), me = tprt_comm_rank(comm);
  tprt_comm *four, *three, *none;
  if (me == 1)
    raise(SIGKILL);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_PEER_DEAD);
  CHECK_STATUS(errors, tprt_comm_shrink(comm, 0, &four), TPRT_OK);
  if (errors)
    return errors;
  CHECK(errors, tprt_comm_size(four) == 4 && tprt_comm_local_rank(four, 1) == -1 &&
                    tprt_comm_world_rank(four, 1) == 2);
  errors += check_sum(four, 9);
  CHECK_STATUS(errors, tprt_comm_shrink(comm, 0, &none), TPRT_INVALID_STATE);
  CHECK(errors, strstr(tprt_last_error(), "was already replaced") != NULL);
  if (me == 3)
    raise(SIGKILL);
  CHECK_STATUS(errors, tprt_barrier(four, NULL, NULL), TPRT_PEER_DEAD);
  CHECK_STATUS(errors, tprt_comm_shrink(four, 0, &three), TPRT_OK);
  if (errors)
    return errors;
  errors += check_sum(three, 6);
  void *memory;
  CHECK_STATUS(errors, tprt_mem_alloc(three, 100000, &memory), TPRT_OK);
  int32_t *data = memory;
  for (int i = 0; i < 25000; i++)
    data[i] = i;
  CHECK_STATUS(errors, tprt_all_reduce(three, data, data, 25000, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  for (int i = 0; i < 25000; i++)
    errors += data[i] != 3 * i;
  tprt_mem_free(three, memory);
  tprt_comm_destroy(three);
  tprt_comm_destroy(four);
  return errors;
}

static void test_killed(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  int status[5];
  assert_int_equal(run_processes(5, &config, killed, NULL, status), 2);
  for (int i = 0; i < 5; i++)
    assert_true(i == 1 || i == 3 ? WIFSIGNALED(status[i])
                                 : WIFEXITED(status[i]) && WEXITSTATUS(status[i]) == 0);
}

/* Communicators of a killed rank, and groups that it created but no rank joined, can be reused.
 * With a limit of 6 communicators, four rounds leave four of each kind. */
static int no_leak(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  tprt_comm *current = comm, *next, *children[3], *group;
  for (int round = 0; n > 2; round++, n--) {
    for (int i = 0; i < 2; i++)
      CHECK_STATUS(errors, tprt_comm_split(current, 0, 0, &children[i]), TPRT_OK);
    static const int first[] = {0, 1, 2};
    if (me == round + 1)
      raise(SIGKILL);
    /* Rank 0 reserves a slot before it waits for the dead rank. */
    if (me == 0)
      CHECK_STATUS(errors, tprt_comm_split_ranks(current, first, 3, &group), TPRT_PEER_DEAD);
    else
      CHECK_STATUS(errors, tprt_barrier(current, NULL, NULL), TPRT_PEER_DEAD);
    for (int i = 0; i < 2; i++)
      tprt_comm_destroy(children[i]);
    CHECK_STATUS(errors, tprt_comm_shrink(current, 0, &next), TPRT_OK);
    if (errors)
      return errors;
    if (current != comm)
      tprt_comm_destroy(current);
    current = next;
    /* all others have released theirs */
    CHECK_STATUS(errors, tprt_barrier(current, NULL, NULL), TPRT_OK);
  }
  /* In use are the world, the reserved slot, and the last communicator. */
  for (int i = 0; i < 3; i++)
    CHECK_STATUS(errors, tprt_comm_split(current, 0, 0, &children[i]), TPRT_OK);
  for (int i = 0; i < 3 && !errors; i++)
    tprt_comm_destroy(children[i]);
  tprt_comm_destroy(current);
  return errors;
}

static void test_no_leak(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  config.max_comms = 6;
  int status[6];
  assert_int_equal(run_processes(6, &config, no_leak, NULL, status), 4);
  for (int i = 0; i < 6; i++)
    assert_true(i >= 1 && i <= 4 ? WIFSIGNALED(status[i])
                                 : WIFEXITED(status[i]) && WEXITSTATUS(status[i]) == 0);
}

/* With the other policy the first failure ends the process; a malformed policy is rejected. */
static void test_policy(void **state) {
  (void)state;
  tprt_config config = test_config();
  tprt_comm *comm;
  setenv("TPRT_ON_FAILURE", "explode", 1);
  assert_int_equal(tprt_world_create_threads(1, &config, &comm), TPRT_INVALID_ARGUMENT);
  assert_non_null(
      strstr(tprt_last_error(), "TPRT_ON_FAILURE is \"explode\"; it must be return or abort"));
  for (int aborts = 0; aborts < 2; aborts++) {
    setenv("TPRT_ON_FAILURE", aborts ? "abort" : "return", 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      signal(SIGABRT, SIG_DFL);
      if (tprt_world_create_threads(1, &config, &comm) || tprt_comm_abort(comm))
        _exit(1);
      tprt_comm_destroy(comm);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(aborts ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT
                       : WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  unsetenv("TPRT_ON_FAILURE");
}

/* All ranks are alive, but disagreed: the same ranks continue. None needs to have noticed. */
static int rebuilt(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  int32_t data[2] = {me, 0};
  tprt_comm *again;
  if (me > 0 || n == 1) {
    tprt_status status = tprt_broadcast(comm, data, data, me == 1 ? 2 : 1, TPRT_I32, 0, NULL, NULL);
    CHECK(errors, (status == TPRT_OK) == (n == 1));
  }
  if (!(tprt_comm_capabilities(comm) & TPRT_CAP_RECOVERY)) {
    CHECK_STATUS(errors, tprt_comm_rebuild(comm, 0, &again), TPRT_UNSUPPORTED);
    CHECK(errors,
          strstr(tprt_last_error(), "a communicator that failed cannot be replaced") != NULL);
    return errors;
  }
  CHECK_STATUS(errors, tprt_comm_rebuild(comm, 0, &again), TPRT_OK);
  if (errors)
    return errors;
  CHECK(errors, tprt_comm_size(again) == n && tprt_comm_rank(again) == me);
  errors += check_sum(again, n * (n - 1) / 2);
  CHECK(errors, tprt_comm_status(comm) != TPRT_OK);
  tprt_comm_destroy(again);
  return errors;
}

/* Rank 2 arrives after the others have continued. */
static int too_late(tprt_comm *comm, void *argument) {
  _Atomic int *n_gone_on = argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  tprt_comm *child, *last;
  if (!(tprt_comm_capabilities(comm) & TPRT_CAP_RECOVERY))
    return 0;
  tprt_comm_abort(comm);
  if (me == 2) {
    while (atomic_load(n_gone_on) < n - 1)
      usleep(1000);
    CHECK_STATUS(errors, tprt_comm_shrink(comm, 0, &child), TPRT_INVALID_STATE);
    CHECK(errors, strstr(tprt_last_error(), "rank 2 arrived too late") != NULL);
    return errors;
  }
  CHECK_STATUS(errors, tprt_comm_shrink(comm, 200000000, &child), TPRT_OK);
  CHECK(errors, tprt_comm_size(child) == n - 1);
  atomic_fetch_add(n_gone_on, 1);
  errors += check_sum(child, n * (n - 1) / 2 - 2);
  /* One rank leaves silently; a rebuild reports the missing rank. */
  if (me == 0)
    CHECK_STATUS(errors, tprt_comm_finalize(child), TPRT_OK);
  else
    CHECK_STATUS(errors, tprt_comm_rebuild(child, 0, &last), TPRT_PEER_DEAD);
  CHECK(errors,
        me == 0 || strstr(tprt_last_error(),
                          "rank 0 ended or did not arrive in time; use tprt_comm_shrink") != NULL);
  CHECK_STATUS(errors, tprt_comm_shrink(comm, -1, &child), TPRT_INVALID_ARGUMENT);
  tprt_comm_destroy(child);
  return errors;
}

static void test_threads(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int n = 1; n <= 4; n++)
    assert_int_equal(run_threads(n, &config, rebuilt, NULL), 0);
  config.backend = "self";
  assert_int_equal(run_threads(1, &config, rebuilt, NULL), 0);
  config.backend = NULL;
  for (int i = 0; i < 5; i++) {
    _Atomic int n_gone_on = 0;
    assert_int_equal(run_threads(4, &config, too_late, &n_gone_on), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_killed),
      cmocka_unit_test(test_no_leak), /* first, because fork requires a process without threads */
      cmocka_unit_test(test_policy),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
