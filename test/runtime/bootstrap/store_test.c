/* Tests stores of every kind: operations, addresses, damaged files. */
#define _GNU_SOURCE 1
#include "stores.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Ranks as threads ---- */

typedef int store_fn(tprt_store *store, int n, int rank, void *argument);

typedef struct store_rank {
  pthread_t thread;
  const char *address;
  tprt_store_config config;
  store_fn *fn;
  void *argument;
  int errors;
} store_rank;

static void *store_main(void *data) {
  store_rank *r = data;
  tprt_store *store = NULL;
  CHECK_STATUS(r->errors, tprt_store_open(r->address, &r->config, &store), TPRT_OK);
  if (store)
    r->errors += r->fn(store, r->config.n_ranks, r->config.rank, r->argument);
  tprt_store_destroy(store);
  return NULL;
}

static int run_store(const char *address, int n, store_fn *fn, void *argument) {
  store_rank ranks[STORE_MOST_RANKS];
  int errors = 0;
  for (int i = 0; i < n; i++) {
    ranks[i] = (store_rank){.address = address, .fn = fn, .argument = argument};
    ranks[i].config = (tprt_store_config){
        .size = sizeof ranks[i].config, .n_ranks = n, .rank = i, .timeout_ns = 20 * store_second};
    if (pthread_create(&ranks[i].thread, NULL, store_main, &ranks[i]) != 0)
      abort();
  }
  for (int i = 0; i < n; i++) {
    pthread_join(ranks[i].thread, NULL);
    errors += ranks[i].errors;
  }
  return errors;
}

/* What one rank removes is gone for all, and can be set again. */
static int removals(tprt_store *store, int rank, int n) {
  int errors = 0;
  char value[8] = "";
  size_t bytes = sizeof value;
  int64_t sum;
  if (rank == n - 1) {
    CHECK_STATUS(errors, tprt_store_set(store, "brief", "first", 5), TPRT_OK);
    CHECK_STATUS(errors, tprt_store_add(store, "count", 7, &sum), TPRT_OK);
    CHECK_STATUS(errors, tprt_store_remove(store, "brief"), TPRT_OK);
    CHECK_STATUS(errors, tprt_store_remove(store, "count"), TPRT_OK);
    CHECK_STATUS(errors, tprt_store_remove(store, "brief"), TPRT_OK); /* there is none */
    CHECK_STATUS(errors, tprt_store_remove(store, ""), TPRT_INVALID_ARGUMENT);
  }
  CHECK_STATUS(errors, tprt_store_barrier(store, "removed", n, 0), TPRT_OK);
  CHECK_STATUS(errors, tprt_store_wait(store, "brief", 1), TPRT_TIMEOUT);
  CHECK_STATUS(errors, tprt_store_barrier(store, "seen", n, 0), TPRT_OK);
  if (rank == 0) {
    CHECK_STATUS(errors, tprt_store_set(store, "brief", "second", 6), TPRT_OK);
    CHECK_STATUS(errors, tprt_store_add(store, "count", 2, &sum), TPRT_OK);
    CHECK(errors, sum == 2);
  }
  CHECK_STATUS(errors, tprt_store_get(store, "brief", value, &bytes, 0), TPRT_OK);
  CHECK(errors, bytes == 6 && memcmp(value, "second", 6) == 0);
  CHECK_STATUS(errors, tprt_store_barrier(store, "read", n, 0), TPRT_OK);
  return errors;
}

/* Runs all operations of a store on all ranks at once. */
static int exchange(tprt_store *store, int n, int rank, void *argument) {
  (void)argument;
  int errors = 0;
  char key[32], value[64], got[TPRT_STORE_VALUE_BYTES];
  unsigned char large[TPRT_STORE_VALUE_BYTES + 1];
  size_t bytes;
  int64_t sum;
  snprintf(key, sizeof key, "rank %d", rank);
  snprintf(value, sizeof value, "the value of rank %d", rank);
  CHECK_STATUS(errors, tprt_store_set(store, key, value, strlen(value)), TPRT_OK);
  for (int i = 0; i < n; i++) {
    snprintf(key, sizeof key, "rank %d", i);
    snprintf(value, sizeof value, "the value of rank %d", i);
    bytes = sizeof got;
    CHECK_STATUS(errors, tprt_store_get(store, key, got, &bytes, 0), TPRT_OK);
    CHECK(errors, bytes == strlen(value) && memcmp(got, value, bytes) == 0);
  }
  bytes = 3; /* capacity too small; the store stays usable */
  CHECK_STATUS(errors, tprt_store_get(store, key, got, &bytes, 0), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "the buffer has 3") != NULL);
  for (int i = 1; i <= 10; i++)
    CHECK_STATUS(errors, tprt_store_add(store, "sum", i, &sum), TPRT_OK);
  CHECK_STATUS(errors, tprt_store_barrier(store, "added", n, 0), TPRT_OK);
  CHECK_STATUS(errors, tprt_store_add(store, "sum", 0, &sum), TPRT_OK);
  CHECK(errors, sum == 55 * n);
  /* the value is not a number */
  CHECK_STATUS(errors, tprt_store_add(store, key, 1, &sum), TPRT_INVALID_ARGUMENT);
  for (size_t i = 0; i < sizeof large; i++)
    large[i] = (unsigned char)(i * 7);
  snprintf(key, sizeof key, "large %d", rank);
  CHECK_STATUS(errors, tprt_store_set(store, key, large, sizeof large), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_store_set(store, key, large, sizeof large - 1), TPRT_OK);
  CHECK_STATUS(errors, tprt_store_set(store, "", large, 1), TPRT_INVALID_ARGUMENT);
  snprintf(key, sizeof key, "large %d", (rank + 1) % n);
  bytes = sizeof got;
  CHECK_STATUS(errors, tprt_store_get(store, key, got, &bytes, 0), TPRT_OK);
  CHECK(errors, bytes == sizeof got && memcmp(got, large, bytes) == 0);
  CHECK_STATUS(errors, tprt_store_set(store, "empty", NULL, 0), TPRT_OK);
  CHECK_STATUS(errors, tprt_store_wait(store, "empty", 0), TPRT_OK);
  double begin = test_seconds();
  CHECK_STATUS(errors, tprt_store_wait(store, "no rank sets this", 50000000), TPRT_TIMEOUT);
  CHECK(errors, strstr(tprt_last_error(), "no rank set") != NULL && test_seconds() - begin < 10);
  CHECK_STATUS(errors, tprt_store_wait(store, "empty", -1), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_store_barrier(store, "end", n, 0), TPRT_OK);
  return errors + removals(store, rank, n);
}

static void test_kinds(void **state) {
  (void)state;
  char address[128];
  for (int kind = 0; kind < N_STORE_KINDS; kind++) {
    for (int n = 1; n <= STORE_MOST_RANKS; n += n < 3 ? 1 : 5) {
      store_make_address(kind, address, sizeof address);
      assert_int_equal(run_store(address, n, exchange, NULL), 0);
      if (kind == STORE_FILE)
        assert_int_not_equal(access(address + 5, F_OK), 0); /* rank 0 removed it */
      store_drop_address(address);
    }
  }
}

/* ---- Open stores ---- */

/* Any number of processes enters as rank 1, and their ends concern nobody. */
static void test_open(void **state) {
  (void)state;
  for (int kind = STORE_TCP; kind <= STORE_FILE; kind++) {
    char address[128];
    tprt_store *server, *clients[3];
    tprt_store_config config = store_config_of(0, 0, NULL);
    store_make_address(kind, address, sizeof address);
    assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
    config.rank = 2;
    assert_int_equal(tprt_store_open(address, &config, &clients[0]), TPRT_INVALID_ARGUMENT);
    config.rank = 1;
    pid_t child = fork();
    if (child == 0) {
      if (tprt_store_open(address, &config, &clients[0]) == TPRT_OK)
        raise(SIGKILL);
      _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    for (int i = 0; i < 3; i++) {
      int64_t sum;
      assert_int_equal(tprt_store_open(address, &config, &clients[i]), TPRT_OK);
      assert_int_equal(tprt_store_add(clients[i], "sum", 1, &sum), TPRT_OK);
      assert_int_equal(sum, i + 1);
    }
    assert_int_equal(tprt_store_wait(clients[0], "nothing", 1000000), TPRT_TIMEOUT);
    tprt_store_destroy(clients[0]);
    double begin = test_seconds();
    tprt_store_destroy(server); /* does not wait for the others */
    assert_true(test_seconds() - begin < 4);
    if (kind != STORE_FILE)
      assert_int_equal(tprt_store_wait(clients[1], "sum", 0), TPRT_PEER_DEAD);
    tprt_store_destroy(clients[1]);
    tprt_store_destroy(clients[2]);
  }
}

/* More processes than an open store has places: those that leave make room. */
static void test_open_limit(void **state) {
  (void)state;
  enum { N = TPRT_STORE_OPEN_PROCESSES };
  char address[128];
  static tprt_store *clients[N];
  tprt_store *server, *more;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < 2 * N + 100) /* both ends are in this process */
    skip();
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  tprt_store_config config = store_config_of(0, 0, NULL);
  store_make_address(STORE_UNIX, address, sizeof address);
  assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
  config.rank = 1;
  for (int i = 0; i < N; i++)
    assert_int_equal(tprt_store_open(address, &config, &clients[i]), TPRT_OK);
  assert_int_equal(tprt_store_open(address, &config, &more), TPRT_NO_MEMORY);
  assert_non_null(strstr(tprt_last_error(), "has no memory for another process"));
  for (int i = 0; i < N; i++)
    tprt_store_destroy(clients[i]);
  assert_int_equal(tprt_store_open(address, &config, &more), TPRT_OK);
  tprt_store_destroy(more);
  tprt_store_destroy(server);
}

/* ---- Callbacks ---- */

typedef struct callback_rank {
  pthread_t thread;
  tprt_store *store;
  int rank, errors;
} callback_rank;

static void *callback_world(void *data) {
  callback_rank *r = data;
  tprt_config config = test_config();
  tprt_comm *comm = NULL;
  int value = r->rank + 1, sum = 0;
  config.store = r->store;
  CHECK_STATUS(r->errors, tprt_world_create(3, r->rank, &config, &comm), TPRT_OK);
  if (comm) {
    CHECK_STATUS(r->errors, tprt_all_reduce(comm, &value, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
    CHECK(r->errors, sum == 6);
    tprt_comm_destroy(comm);
  }
  return NULL;
}

static void test_callbacks(void **state) {
  (void)state;
  store_board *board = store_board_make();
  callback_rank ranks[3];
  tprt_store_callbacks calls = store_board_callbacks(board);
  tprt_store *store;
  calls.get = NULL;
  assert_int_equal(tprt_store_create(&calls, &store), TPRT_INVALID_ARGUMENT);
  calls = store_board_callbacks(board);
  assert_int_equal(tprt_store_create(&calls, &store), TPRT_OK);
  assert_int_equal(tprt_store_remove(store, "key"), TPRT_UNSUPPORTED);
  assert_non_null(strstr(tprt_last_error(), "the store has no callback remove"));
  tprt_store_destroy(store);
  for (int i = 0; i < 3; i++) {
    ranks[i] = (callback_rank){.rank = i};
    assert_int_equal(tprt_store_create(&calls, &ranks[i].store), TPRT_OK);
  }
  assert_int_equal(tprt_store_wait(ranks[0].store, "nothing", 2000000), TPRT_TIMEOUT);
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&ranks[i].thread, NULL, callback_world, &ranks[i]), 0);
  for (int i = 0; i < 3; i++) {
    pthread_join(ranks[i].thread, NULL);
    assert_int_equal(ranks[i].errors, 0);
    tprt_store_destroy(ranks[i].store);
  }
  store_board_free(board);
}

/* ---- Addresses ---- */

static void test_addresses(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "127.0.0.1:5000",
                                    "tcp://127.0.0.1",
                                    "tcp://127.0.0.1:0",
                                    "tcp://127.0.0.1:65536",
                                    "tcp://127.0.0.1:+80",
                                    "tcp://:80",
                                    "tcp://::1:80",
                                    "unix:",
                                    "fd:x",
                                    "fd:-1",
                                    "ftp://a:1"};
  tprt_store_config config = store_config_of(2, 0, NULL);
  tprt_store *store, *client;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(tprt_store_open(bad[i], &config, &store), TPRT_INVALID_ARGUMENT);
  config.rank = 2;
  assert_int_equal(tprt_store_open("unix:x", &config, &store), TPRT_INVALID_ARGUMENT);
  config = store_config_of(2, 0, NULL);
  char address[64];
  snprintf(address, sizeof address, "tcp://[::1]:%d", store_free_port());
  if (tprt_store_open(address, &config, &store) == TPRT_OK) { /* a machine may lack IPv6 */
    config.rank = 1;
    assert_int_equal(tprt_store_open(address, &config, &client), TPRT_OK);
    tprt_store_destroy(client);
    tprt_store_destroy(store);
  }
  /* Without a server, opening times out. */
  config = store_config_of(2, 1, NULL);
  config.timeout_ns = 100000000;
  snprintf(address, sizeof address, "tcp://127.0.0.1:%d", store_free_port());
  double begin = test_seconds();
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_TIMEOUT);
  assert_non_null(strstr(tprt_last_error(), "there was no answer in time"));
  assert_true(test_seconds() - begin < 5);
}

/* ---- Damaged files ---- */

static void test_files(void **state) {
  (void)state;
  char address[128];
  tprt_store *first, *store;
  tprt_store_config config = store_config_of(2, 1, NULL);
  store_make_address(STORE_FILE, address, sizeof address);
  const char *path = address + 5;
  assert_int_equal(tprt_store_open(address, &config, &first), TPRT_OK);
  /* from another run */
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_INVALID_STATE);
  assert_non_null(strstr(tprt_last_error(), "a file serves one job"));
  config.n_ranks = 3;
  config.rank = 2;
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_MISMATCH);
  assert_non_null(
      strstr(tprt_last_error(),
             "a job of 2 ranks in epoch 0, but the job of this rank has 3 ranks in epoch 0"));
  /* A writer that died has left half a record. */
  int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  assert_int_equal(write(fd, "\5\0\0\0\377\0\0\0garbage", 15), 15);
  close(fd);
  size_t bytes = 8;
  char got[8];
  assert_int_equal(tprt_store_wait(first, "key", 1000000), TPRT_TIMEOUT);
  assert_int_equal(tprt_store_set(first, "key", "value", 5), TPRT_OK);
  assert_int_equal(tprt_store_get(first, "key", got, &bytes, 0), TPRT_OK);
  assert_true(bytes == 5 && memcmp(got, "value", 5) == 0);
  tprt_store_destroy(first);
  assert_int_equal(access(path, F_OK), 0); /* rank 0 is to remove it */
  assert_int_equal(chmod(path, 0622), 0);
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_AUTH);
  unlink(path);
  store_write_file(path, "something else, something else, something else, something else", 62,
                   0600);
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_MISMATCH);
  assert_non_null(strstr(tprt_last_error(), "is not a store"));
  unlink(path);
  assert_int_equal(symlink("/dev/null", path), 0);
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_SYSTEM);
  unlink(path);
  config = store_config_of(2, 0, NULL);
  assert_int_equal(tprt_store_open("fd:9999", &config, &store), TPRT_SYSTEM);
}

int main(void) {
  unsetenv("TPRT_SECRET_FILE");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kinds),      cmocka_unit_test(test_open),
      cmocka_unit_test(test_open_limit), cmocka_unit_test(test_callbacks),
      cmocka_unit_test(test_addresses),  cmocka_unit_test(test_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
