/* Tests worlds of separately started processes that meet in a store, and the error on the other
 * ranks if one dies meanwhile. */
#define _GNU_SOURCE 1
#include "stores.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const backends[] = {"shm", "tcp"}; /* the backends that use a store */
enum { N_BACKENDS = sizeof backends / sizeof *backends };

/* Ranks of a world, started like by a launcher. */
typedef struct apart {
  int n;
  const char *backend, *address;
  rank_fn *fn;
} apart;

static int join_apart(int rank, void *argument) {
  const apart *world = argument;
  char number[2][16];
  int wrong = 0;
  tprt_config config = test_config();
  tprt_comm *comm = NULL;
  snprintf(number[0], sizeof number[0], "%d", rank);
  snprintf(number[1], sizeof number[1], "%d", world->n);
  setenv("TPRT_RANK", number[0], 1);
  setenv("TPRT_SIZE", number[1], 1);
  setenv("TPRT_STORE", world->address, 1);
  config.backend = world->backend;
  CHECK_STATUS(wrong, tprt_world_create(0, 0, &config, &comm), TPRT_OK);
  if (comm) {
    CHECK(wrong, strcmp(tprt_comm_backend(comm), world->backend) == 0);
    wrong += world->fn(comm, NULL);
  }
  tprt_comm_destroy(comm);
  return wrong;
}

static int work_apart(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, n = tprt_comm_size(comm), value = tprt_comm_rank(comm) + 1, sum = 0;
  void *memory;
  CHECK(errors, tprt_comm_host_ranks(comm) == n);
  CHECK_STATUS(errors, tprt_all_reduce(comm, &value, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, sum == n * (n + 1) / 2);
  /* registered memory of separately started processes */
  CHECK_STATUS(errors, tprt_mem_alloc(comm, 100000, &memory), TPRT_OK);
  int32_t *data = memory;
  for (int i = 0; i < 25000; i++)
    data[i] = i * value;
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 25000, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  for (int i = 0; i < 25000; i++)
    errors += data[i] != i * sum;
  tprt_mem_free(comm, memory);
  return errors;
}

static void test_worlds(void **state) {
  (void)state;
  char address[128];
  for (int i = 0; i < N_BACKENDS * N_STORE_KINDS; i++) {
    for (int n = 1; n <= 5; n += 2) {
      store_make_address(i / N_BACKENDS, address, sizeof address);
      apart world = {n, backends[i % N_BACKENDS], address, work_apart};
      assert_int_equal(store_run_ranks(n, join_apart, &world, NULL), 0);
      store_drop_address(address);
    }
  }
}

/* One rank dies after it has joined: detected as in a launcher's world. */
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
  for (int i = 0; i < N_BACKENDS; i++) {
    char address[128];
    int status[3];
    store_make_address(STORE_UNIX, address, sizeof address);
    apart world = {3, backends[i], address, die_apart};
    double begin = test_seconds();
    assert_int_equal(store_run_ranks(3, join_apart, &world, status), 1);
    assert_true(WIFSIGNALED(status[2]));
    assert_true(test_seconds() - begin < 15); /* earlier than the deadline */
  }
}

/* ---- One rank dies before the world exists: the others are told at once, with its number ---- */

typedef struct meeting {
  char address[128];
  const char *backend;
  int victim; /* 3: none */
} meeting;

static bool names_victim(const meeting *m) {
  char who[32];
  snprintf(who, sizeof who, "rank %d", m->victim);
  return strstr(tprt_last_error(), who) != NULL;
}

static int die_in_store(int rank, void *argument) {
  const meeting *m = argument;
  int errors = 0;
  tprt_store *store = store_open_rank(m->address, 3, rank, &errors);
  tprt_status met = tprt_store_barrier(store, "all", 3, 0);
  if (rank == m->victim)
    raise(SIGKILL);
  if (met != TPRT_PEER_DEAD || m->victim != 0) {
    /* else the rank that serves the store died before it answered this one */
    CHECK_STATUS(errors, met, TPRT_OK);
    CHECK_STATUS(errors, tprt_store_wait(store, "never", 0), TPRT_PEER_DEAD);
  }
  CHECK(errors, names_victim(m));
  tprt_store_destroy(store);
  return errors;
}

/* The rank dies in the third of three worlds through one store. */
static int die_in_world(int rank, void *argument) {
  const meeting *m = argument;
  tprt_config config = test_config();
  int errors = 0;
  config.store = store_open_rank(m->address, 3, rank, &errors);
  config.backend = m->backend;
  for (int world = 0; world < 3; world++) {
    tprt_comm *comm = NULL;
    if (world == 2 && rank == m->victim)
      raise(SIGKILL);
    tprt_status status = tprt_world_create(3, rank, &config, &comm);
    CHECK(errors, status == (world == 2 && m->victim < 3 ? TPRT_PEER_DEAD : TPRT_OK));
    CHECK(errors, !status || names_victim(m));
    if (!status)
      errors += work_apart(comm, NULL);
    if (!status)
      tprt_comm_destroy(comm);
  }
  tprt_store_destroy(config.store);
  return errors;
}

static void run_deaths(store_rank_fn *fn, const char *backend, int n_victims) {
  for (int victim = 0; victim < n_victims; victim++) {
    meeting m = {.backend = backend, .victim = victim};
    int status[3];
    store_make_address(victim % 2 ? STORE_TCP : STORE_UNIX, m.address, sizeof m.address);
    double begin = test_seconds();
    assert_int_equal(store_run_ranks(3, fn, &m, status), victim < 3);
    assert_true(victim == 3 || WIFSIGNALED(status[victim]));
    assert_true(test_seconds() - begin < 15); /* earlier than the deadline */
  }
}

static void test_death_in_store(void **state) {
  (void)state;
  run_deaths(die_in_store, NULL, 3);
}

static void test_death_in_world(void **state) {
  (void)state;
  for (int i = 0; i < N_BACKENDS; i++)
    run_deaths(die_in_world, backends[i], 4);
}

/* ---- One rank may open few files: it joins the world, or says why not ---- */

enum { ENOUGH = 10 }; /* descriptors with which each backend can make a world of 3 ranks */

typedef struct shortage {
  char address[128];
  const char *backend;
  int n_left; /* descriptors that rank 1 may still open */
} shortage;

static int join_in_shortage(int rank, void *argument) {
  const shortage *s = argument;
  int errors = 0;
  tprt_config config = test_config();
  tprt_comm *comm = NULL;
  tprt_store *store = store_open_rank(s->address, 3, rank, &errors);
  config.store = store;
  config.backend = s->backend;
  config.timeout_ns = store_second / 2;
  if (rank == 1) {
    int next = dup(0);
    struct rlimit limit;
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)(next + s->n_left);
    CHECK(errors, setrlimit(RLIMIT_NOFILE, &limit) == 0);
  }
  bool made = tprt_world_create(3, rank, &config, &comm) == TPRT_OK;
  if (rank == 1 && !made && !strstr(tprt_last_error(), "Too many open files")) {
    fprintf(stderr, "%s, %d left: %s\n", s->backend, s->n_left, tprt_last_error());
    errors++;
  }
  CHECK(errors, made || s->n_left < ENOUGH);
  tprt_comm_destroy(comm);
  tprt_store_destroy(store);
  return errors;
}

static void test_few_descriptors(void **state) {
  (void)state;
  for (int i = 0; i < N_BACKENDS; i++) {
    for (int n_left = 0; n_left <= ENOUGH; n_left++) {
      shortage s = {.backend = backends[i], .n_left = n_left};
      store_make_address(STORE_UNIX, s.address, sizeof s.address);
      assert_int_equal(store_run_ranks(3, join_in_shortage, &s, NULL), 0);
      store_drop_address(s.address);
    }
  }
}

int main(void) {
  unsetenv("TPRT_SECRET_FILE");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_worlds),          cmocka_unit_test(test_death_apart),
      cmocka_unit_test(test_death_in_store),  cmocka_unit_test(test_death_in_world),
      cmocka_unit_test(test_few_descriptors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
