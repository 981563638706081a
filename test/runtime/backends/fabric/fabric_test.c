/* Tests what is special in backend fabric: a library that is missing or wrong, providers, the
 * secret of the world, and ranks that die. The cases of all backends run with attached ranks. Far
 * ranks are ranks of this host with TPRT_TCP_MEMORY=0. */
#define _GNU_SOURCE 1
#include "test/runtime/bootstrap/stores.h"
#include "test/runtime/harness/long.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 3, LARGE = 300000 };

/* ---- the library ---- */

static void refuses(const char *library, const char *text) {
  tprt_config config = test_config();
  tprt_comm *comm;
  config.backend = "fabric";
  setenv("TPRT_FABRIC_LIBRARY", library, 1);
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_UNSUPPORTED);
  if (!strstr(tprt_last_error(), text))
    fail_msg("%s", tprt_last_error());
  unsetenv("TPRT_FABRIC_LIBRARY");
}

static void test_library(void **state) {
  (void)state;
  refuses("/nonexistent/libfabric.so", "backend fabric: libfabric was not found: /nonexistent/");
  refuses("libc.so.6", "backend fabric: libc.so.6 has no fi_getinfo");
}

/* ---- ranks that are threads, so that the test can change what they read in the store ---- */

typedef struct rank {
  pthread_t thread;
  store_board *board;
  int number, sum;
  int64_t timeout_ns;
  tprt_status status;
  char text[256];
} rank;

static void *rank_main(void *data) {
  rank *own = data;
  const tprt_store_callbacks calls = store_board_callbacks(own->board);
  tprt_config config = test_config();
  tprt_comm *comm = NULL;
  int value = own->number + 1;
  config.backend = "fabric";
  config.timeout_ns = own->timeout_ns;
  own->status = tprt_store_create(&calls, &config.store);
  if (!own->status)
    own->status = tprt_world_create(2, own->number, &config, &comm);
  if (!own->status)
    own->status = tprt_all_reduce(comm, &value, &own->sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL);
  snprintf(own->text, sizeof own->text, "%s", own->status ? tprt_last_error() : "");
  tprt_comm_destroy(comm);
  tprt_store_destroy(config.store);
  return NULL;
}

static void run_two(rank ranks[2], store_seen_fn *seen, int64_t timeout_ns) {
  store_board *board = store_board_make();
  store_board_watch(board, seen, NULL);
  for (int i = 0; i < 2; i++) {
    ranks[i] = (rank){.board = board, .number = i, .timeout_ns = timeout_ns};
    assert_int_equal(pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]), 0);
  }
  for (int i = 0; i < 2; i++)
    pthread_join(ranks[i].thread, NULL);
  store_board_free(board);
}

static void ends(const rank *own, tprt_status status, const char *text) {
  if (own->status != status || !strstr(own->text, text))
    fail_msg("rank %d: %s: %s", own->number, tprt_status_name(own->status), own->text);
}

static void see_nothing(void *user, const char *key, unsigned char *value, size_t bytes) {
  (void)user;
  (void)key;
  (void)value;
  (void)bytes;
}

static void test_unknown_provider(void **state) {
  (void)state;
  rank ranks[2];
  setenv("TPRT_FABRIC_PROVIDER", "pigeons", 1);
  run_two(ranks, see_nothing, 20 * store_second);
  unsetenv("TPRT_FABRIC_PROVIDER");
  ends(&ranks[0], TPRT_UNSUPPORTED, "libfabric has no provider \"pigeons\" with tagged messages");
  ends(&ranks[1], TPRT_UNSUPPORTED, "rank 0 found no provider of libfabric that can be used");
}

static void rename_provider(void *user, const char *key, unsigned char *value, size_t bytes) {
  (void)user;
  if (strstr(key, "/provider/"))
    snprintf((char *)value, bytes, "pigeons");
}

/* The host of rank 1 lacks what rank 0 chose. */
static void test_other_provider(void **state) {
  (void)state;
  rank ranks[2];
  run_two(ranks, rename_provider, 20 * store_second);
  ends(&ranks[0], TPRT_UNSUPPORTED, "rank 1 has no endpoint of libfabric");
  ends(
      &ranks[1], TPRT_UNSUPPORTED,
      "rank 0 chose the provider \"pigeons\" of libfabric, which the host of rank 1 does not have");
}

/* The secret ends what rank 0 stores; its upper bits are used. */
static void change_secret(void *user, const char *key, unsigned char *value, size_t bytes) {
  (void)user;
  if (strstr(key, "/provider/"))
    value[bytes - 1] ^= 0x10;
}

static void test_secret(void **state) {
  (void)state;
  rank ranks[2];
  run_two(ranks, see_nothing, 20 * store_second);
  for (int i = 0; i < 2; i++) {
    ends(&ranks[i], TPRT_OK, "");
    assert_int_equal(ranks[i].sum, 3);
  }
  run_two(ranks, change_secret, 3 * store_second); /* with other secrets, their tags do not match */
  ends(&ranks[0], TPRT_TIMEOUT, "rank 1 did not arrive in time");
  ends(&ranks[1], TPRT_TIMEOUT, "rank 0 did not arrive in time");
}

/* ---- ranks that die ---- */

typedef struct death {
  char address[128];
  int victim, operation;
} death;

/* The victim dies before an operation, or inside of one. The others are told which it was, and
 * continue. */
static int survives(int number, void *argument) {
  const death *d = argument;
  int errors = 0, sum = 0;
  float *data = calloc(LARGE, sizeof *data);
  tprt_comm *fewer;
  tprt_store *store;
  tprt_status status = TPRT_OK;
  tprt_comm *comm = store_open_world(d->address, "fabric", N, number, &store, &errors);
  if (!comm) {
    free(data);
    return errors;
  }
  for (int i = 0; !status; i++) {
    if (number == d->victim && i == d->operation) {
      tprt_work *work;
      if (i % 2)
        (void)tprt_all_reduce(comm, data, data, LARGE, TPRT_F32, TPRT_SUM, NULL, &work);
      raise(SIGKILL);
    }
    status = tprt_all_reduce(comm, data, data, i % 2 ? LARGE : 4, TPRT_F32, TPRT_SUM, NULL, NULL);
  }
  char text[32];
  snprintf(text, sizeof text, "rank %d ended", d->victim);
  CHECK_STATUS(errors, status, TPRT_PEER_DEAD);
  CHECK(errors, strstr(tprt_last_error(), text) != NULL);
  CHECK_STATUS(errors, tprt_comm_shrink(comm, 0, &fewer), TPRT_OK);
  if (!errors) {
    int one = 1;
    CHECK_STATUS(errors, tprt_all_reduce(fewer, &one, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
    CHECK(errors, sum == N - 1);
    tprt_comm_destroy(fewer);
  }
  tprt_comm_destroy(comm);
  tprt_store_destroy(store);
  free(data);
  return errors;
}

static void test_deaths(void **state) {
  (void)state;
  int n_operations = test_is_long() ? 40 : 2;
  for (int i = 0; i < n_operations; i++) {
    /* not rank 0, which serves the store */
    death d = {.victim = 1 + i % (N - 1), .operation = i};
    int how[N];
    store_make_address(STORE_UNIX, d.address, sizeof d.address);
    assert_int_equal(store_run_ranks(N, survives, &d, how), 1);
    assert_true(WIFSIGNALED(how[d.victim]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_library),
                                     cmocka_unit_test(test_unknown_provider),
                                     cmocka_unit_test(test_other_provider),
                                     cmocka_unit_test(test_secret), cmocka_unit_test(test_deaths)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
