/* Tests spares that a launcher starts: it passes the address of an open store, and all of its
 * processes call tprt_world_create with 0 ranks. */
#define _GNU_SOURCE 1
#include "jobs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 3, VICTIM = 1 };

static void set_number(const char *name, int value, const char *prefix) {
  char text[32];
  snprintf(text, sizeof text, "%s%d", prefix, value);
  setenv(name, text, 1);
}

/* The ranks lose one, and continue with a spare. */
static int play(int rank, bool is_spare) {
  int errors = 0;
  tprt_comm *comm, *next = NULL;
  tprt_config config = test_config();
  CHECK_STATUS(errors, tprt_world_create(0, 0, &config, &comm), TPRT_OK);
  if (errors)
    return errors;
  if (!is_spare) {
    CHECK(errors, tprt_comm_joined(comm, VICTIM) == 0);
    errors += job_check(comm);
    if (rank == VICTIM)
      raise(SIGKILL);
    CHECK(errors, tprt_barrier(comm, NULL, NULL) != TPRT_OK);
    CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 0, NULL, 0, &next), TPRT_OK);
    tprt_comm_destroy(comm);
    if (!next)
      return errors + 1;
    comm = next;
  }
  CHECK(errors, tprt_comm_rank(comm) == rank && tprt_comm_size(comm) == N);
  for (int i = 0; i < N; i++)
    CHECK(errors, tprt_comm_joined(comm, i) == (i == VICTIM));
  errors += job_check(comm);
  tprt_comm_destroy(comm);
  return errors;
}

static pid_t start(int rank, bool is_spare, int store, int spares) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child)
    return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_number("TPRT_RANK", rank, "");
  set_number("TPRT_SIZE", N, "");
  set_number("TPRT_STORE", store, "fd:");
  set_number("TPRT_SPARES", spares, "fd:");
  set_number("TPRT_SPARE", is_spare, "");
  int errors = play(rank, is_spare);
  fflush(NULL);
  _exit(errors);
}

static bool is_member(tprt_store *spares, pid_t pid) {
  char key[TPRT_STORE_KEY_BYTES];
  snprintf(key, sizeof key, TPRT_MEMBER_KEY, (int)pid);
  return tprt_store_wait(spares, key, 1) == TPRT_OK;
}

static void test_replaced(void **state) {
  (void)state;
  int store = memfd_create("store", 0), spares = memfd_create("spares", 0), status, n_killed = 0;
  const tprt_store_config config = {.size = sizeof config, .rank = 1};
  char address[32];
  tprt_store *open;
  pid_t first[N], spare = 0;
  snprintf(address, sizeof address, "fd:%d", spares);
  assert_int_equal(tprt_store_open(address, &config, &open), TPRT_OK);
  for (int r = 0; r < N; r++)
    first[r] = start(r, false, store, spares);
  for (int i = 0; i < N + 1; i++) {
    pid_t ended = wait(&status);
    bool is_victim = ended == first[VICTIM];
    assert_true(ended > 0 && is_member(open, ended));
    assert_true(is_victim ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                          : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (is_victim)
      spare = start(VICTIM, true, store, spares);
    n_killed += is_victim;
  }
  assert_true(n_killed == 1 && spare > 0);
  tprt_store_destroy(open);
  close(store);
  close(spares);
}

static void test_settings(void **state) {
  (void)state;
  tprt_launch launch = {.size = sizeof launch};
  setenv("TPRT_RANK", "1", 1);
  setenv("TPRT_SIZE", "2", 1);
  setenv("TPRT_SPARE", "1", 1);
  assert_int_equal(tprt_launch_find(&launch), TPRT_INVALID_ARGUMENT);
  assert_int_equal(job_says("TPRT_SPARE is set without TPRT_SPARES"), 0);
  setenv("TPRT_SPARES", "unix:spares", 1);
  assert_int_equal(tprt_launch_find(&launch), TPRT_OK);
  assert_string_equal(launch.spares, "unix:spares");
  assert_int_equal(launch.is_spare, 1);
  char longer[sizeof launch.spares + 1];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = 0;
  setenv("TPRT_SPARES", longer, 1);
  assert_int_equal(tprt_launch_find(&launch), TPRT_INVALID_ARGUMENT);
  assert_int_equal(job_says("TPRT_SPARES has 320 bytes; at most 319 are allowed"), 0);
  unsetenv("TPRT_SPARE");
  unsetenv("TPRT_SPARES");
  assert_int_equal(tprt_launch_find(&launch), TPRT_OK);
  assert_true(!*launch.spares && !launch.is_spare);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_replaced),
                                     cmocka_unit_test(test_settings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
