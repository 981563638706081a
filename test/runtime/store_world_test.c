/* Worlds of processes that were started apart and meet in a store, and what the others hear when one dies on the way. */
#define _GNU_SOURCE 1
#include "stores.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* n processes without anything in common but an address; `fn` gets the world. */
static int run_apart(int n, const char *address, rank_fn *fn, void *argument, int *status) {
  pid_t pids[STORE_MOST_RANKS];
  int errors = 0;
  for (int rank = 0; rank < n; rank++) {
    fflush(NULL);
    pids[rank] = fork();
    assert_true(pids[rank] >= 0);
    if (pids[rank] > 0)
      continue;
    char number[2][16];
    int wrong = 0;
    tprt_config config = test_config();
    tprt_comm *comm = NULL;
    snprintf(number[0], sizeof number[0], "%d", rank);
    snprintf(number[1], sizeof number[1], "%d", n);
    setenv("TPRT_RANK", number[0], 1);
    setenv("TPRT_SIZE", number[1], 1);
    setenv("TPRT_STORE", address, 1);
    CHECK_STATUS(wrong, tprt_world_create(0, 0, &config, &comm), TPRT_OK);
    if (comm)
      wrong += fn(comm, argument);
    tprt_comm_destroy(comm);
    fflush(NULL);
    _exit(wrong > 100 ? 100 : wrong);
  }
  for (int rank = 0; rank < n; rank++) {
    int how;
    waitpid(pids[rank], &how, 0);
    if (status)
      status[rank] = how;
    errors += !(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  }
  return errors;
}

static int work_apart(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, n = tprt_comm_size(comm), value = tprt_comm_rank(comm) + 1, sum = 0;
  void *memory;
  CHECK(errors, strcmp(tprt_comm_backend(comm), "shm") == 0);
  CHECK_STATUS(errors, tprt_all_reduce(comm, &value, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL), TPRT_OK);
  CHECK(errors, sum == n * (n + 1) / 2);
  CHECK_STATUS(errors, tprt_mem_alloc(comm, 100000, &memory), TPRT_OK); /* registered memory of processes started apart */
  int32_t *data = memory;
  for (int i = 0; i < 25000; i++)
    data[i] = i * value;
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 25000, TPRT_I32, TPRT_SUM, NULL, NULL), TPRT_OK);
  for (int i = 0; i < 25000; i++)
    errors += data[i] != i * sum;
  tprt_mem_free(comm, memory);
  return errors;
}

static void test_worlds(void **state) {
  (void)state;
  char address[128];
  for (int kind = 0; kind < N_STORE_KINDS; kind++) {
    for (int n = 1; n <= 5; n += 2) {
      store_make_address(kind, address, sizeof address);
      assert_int_equal(run_apart(n, address, work_apart, NULL, NULL), 0);
      store_drop_address(address);
    }
  }
}

/* One dies after it has joined: found as in a world of a launcher. */
static int die_apart(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (tprt_comm_rank(comm) == 2)
    raise(SIGKILL);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_PEER_DEAD);
  CHECK(errors, strstr(tprt_last_error(), "rank 2 ") != NULL);
  return errors;
}

static void test_death_apart(void **state) {
  (void)state;
  char address[128];
  int status[3];
  store_make_address(STORE_UNIX, address, sizeof address);
  assert_int_equal(run_apart(3, address, die_apart, NULL, status), 1);
  assert_true(WIFSIGNALED(status[2]));
}

/* A rank that dies while the others still wait for the world: they are told at once, and by number. Rank 0 as well. */
static void test_death_in_store(void **state) {
  (void)state;
  for (int victim = 0; victim < 3; victim++) {
    char address[128];
    pid_t pids[3];
    int how;
    store_make_address(victim % 2 ? STORE_TCP : STORE_UNIX, address, sizeof address);
    double begin = test_seconds();
    for (int rank = 0; rank < 3; rank++) {
      fflush(NULL);
      pids[rank] = fork();
      assert_true(pids[rank] >= 0);
      if (pids[rank] > 0)
        continue;
      tprt_store_config config = store_config_of(3, rank, NULL);
      tprt_store *store = NULL;
      int errors = 0;
      char who[32];
      config.timeout_ns = 20 * store_second;
      snprintf(who, sizeof who, "rank %d", victim);
      CHECK_STATUS(errors, tprt_store_open(address, &config, &store), TPRT_OK);
      CHECK_STATUS(errors, tprt_store_barrier(store, "all", 3, 0), TPRT_OK);
      if (rank == victim)
        raise(SIGKILL);
      CHECK_STATUS(errors, tprt_store_wait(store, "never", 0), TPRT_PEER_DEAD);
      CHECK(errors, strstr(tprt_last_error(), who) != NULL);
      tprt_store_destroy(store);
      fflush(NULL);
      _exit(errors);
    }
    for (int rank = 0; rank < 3; rank++) {
      waitpid(pids[rank], &how, 0);
      assert_true(rank == victim ? WIFSIGNALED(how) : WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    assert_true(test_seconds() - begin < 15); /* not by the deadline */
  }
}

/* The same while the world is made; and several worlds through one store. */
static void test_death_in_world(void **state) {
  (void)state;
  for (int victim = 0; victim < 4; victim++) { /* 3: nobody */
    char address[128];
    pid_t pids[3];
    int how;
    store_make_address(STORE_UNIX, address, sizeof address);
    double begin = test_seconds();
    for (int rank = 0; rank < 3; rank++) {
      fflush(NULL);
      pids[rank] = fork();
      assert_true(pids[rank] >= 0);
      if (pids[rank] > 0)
        continue;
      tprt_store_config store_config = store_config_of(3, rank, NULL);
      tprt_config config = test_config();
      tprt_store *store = NULL;
      tprt_comm *comm = NULL;
      int errors = 0;
      char who[32];
      snprintf(who, sizeof who, "rank %d", victim);
      store_config.timeout_ns = 20 * store_second;
      CHECK_STATUS(errors, tprt_store_open(address, &store_config, &store), TPRT_OK);
      config.store = store;
      for (int world = 0; world < 3; world++) {
        if (world == 2 && rank == victim)
          raise(SIGKILL);
        tprt_status status = tprt_world_create(3, rank, &config, &comm);
        CHECK(errors, status == (world == 2 && victim < 3 ? TPRT_PEER_DEAD : TPRT_OK));
        CHECK(errors, !status || strstr(tprt_last_error(), who) != NULL);
        if (!status)
          errors += work_apart(comm, NULL);
        if (!status)
          tprt_comm_destroy(comm);
      }
      tprt_store_destroy(store);
      fflush(NULL);
      _exit(errors);
    }
    for (int rank = 0; rank < 3; rank++) {
      waitpid(pids[rank], &how, 0);
      assert_true(rank == victim ? WIFSIGNALED(how) : WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    assert_true(test_seconds() - begin < 15);
  }
}

int main(void) {
  unsetenv("TPRT_SECRET_FILE");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_worlds),
      cmocka_unit_test(test_death_apart),
      cmocka_unit_test(test_death_in_store),
      cmocka_unit_test(test_death_in_world),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
