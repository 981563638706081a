/* Tests connections of backend tcp: strangers that connect, impostors in place of ranks, ranks that
 * end or do not answer. Ranks are threads, and their store lets the test observe and change their
 * addresses. */
#define _GNU_SOURCE 1
#include "test/runtime/bootstrap/stores.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { N = 3, MOST_STRANGERS = 64, HELLO_BYTES = 96 };

/* ---- Worlds of threads ---- */

typedef struct rank {
  pthread_t thread;
  store_board *board;
  int number, n, sum, n_marked;
  int64_t timeout_ns;
  tprt_status status;
  char text[256];
} rank;

/* Counts the descriptors of this process that are sockets whose packets have this class. */
static int count_marked(int traffic_class) {
  int n = 0;
  for (int fd = 0; fd < 1024; fd++) {
    int value = 0;
    socklen_t size = sizeof value;
    n += getsockopt(fd, IPPROTO_IP, IP_TOS, &value, &size) == 0 && value == traffic_class;
  }
  return n;
}

/* All worlds have this class; its lowest two bits are not for users. */
enum { TRAFFIC_CLASS = 0x48 };

static void *rank_main(void *data) {
  rank *own = data;
  const tprt_hint hint = {"traffic_class", "72"};
  const tprt_comm_config of_comm = {
      .size = sizeof of_comm, .version = TPRT_COMM_CONFIG_VERSION, .hints = &hint, .n_hints = 1};
  const tprt_store_callbacks calls = store_board_callbacks(own->board);
  tprt_config config = test_config();
  tprt_comm *comm = NULL;
  int value = own->number + 1;
  config.backend = "tcp";
  config.comm = &of_comm;
  config.timeout_ns = own->timeout_ns;
  own->status = tprt_store_create(&calls, &config.store);
  if (!own->status)
    own->status = tprt_world_create(own->n, own->number, &config, &comm);
  if (!own->status)
    own->status = tprt_all_reduce(comm, &value, &own->sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL);
  snprintf(own->text, sizeof own->text, "%s", own->status ? tprt_last_error() : "");
  if (!own->status)
    own->n_marked = count_marked(TRAFFIC_CLASS);
  tprt_comm *child;
  if (!own->status && tprt_comm_split_with(comm, 0, 0, &of_comm, &child) != TPRT_UNSUPPORTED)
    own->n_marked = -1; /* its connections are those of the world */
  tprt_comm_destroy(comm);
  tprt_store_destroy(config.store);
  return NULL;
}

/* Runs the ranks from `first` on, of n. */
static void run_world(rank *ranks, int first, int n, store_board *board, int64_t timeout_ns) {
  for (int i = first; i < n; i++) {
    ranks[i] = (rank){.board = board, .number = i, .n = n, .timeout_ns = timeout_ns};
    assert_int_equal(pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]), 0);
  }
  for (int i = first; i < n; i++)
    pthread_join(ranks[i].thread, NULL);
}

/* ---- Strangers that connect ---- */

typedef struct strangers {
  pthread_mutex_t mutex; /* ranks publish their addresses concurrently */
  int fds[MOST_STRANGERS], n;
} strangers;

/* Connects many silent clients, one that sends noise, and one that disconnects, before the rank's
 * address is published. */
static void intrude(void *user, const char *key, unsigned char *value, size_t bytes) {
  strangers *s = user;
  int port;
  char nonsense[HELLO_BYTES];
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (!strstr(key, "/where/") || bytes == 0 ||
      sscanf((const char *)value, "tcp://127.0.0.1:%d", &port) != 1)
    return;
  at.sin_port = htons((uint16_t)port);
  memset(nonsense, 'x', sizeof nonsense);
  pthread_mutex_lock(&s->mutex);
  for (int i = 0; i < 20 && s->n < MOST_STRANGERS; i++) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)&at, sizeof at) != 0)
      abort();
    if (i == 3 && send(fd, nonsense, sizeof nonsense, MSG_NOSIGNAL) != sizeof nonsense)
      abort();
    s->fds[s->n++] = fd;
  }
  close(s->fds[--s->n]);
  pthread_mutex_unlock(&s->mutex);
}

static void test_strangers(void **state) {
  (void)state;
  store_board *board = store_board_make();
  strangers s = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  rank ranks[N];
  store_board_watch(board, intrude, &s);
  double begin = test_seconds();
  run_world(ranks, 0, N, board, 20 * store_second);
  assert_true(test_seconds() - begin < 10); /* no rank waits for them */
  for (int i = 0; i < N; i++) {
    assert_int_equal(ranks[i].status, TPRT_OK);
    assert_int_equal(ranks[i].sum, N * (N + 1) / 2);
    assert_in_range(ranks[i].n_marked, N - 1, N * (N - 1)); /* others may have left */
  }
  assert_true(s.n >= 50);
  while (s.n > 0)
    close(s.fds[--s.n]);
  store_board_free(board);
}

/* ---- An impostor in place of a rank ---- */

typedef enum conduct { TALKS, GOES, IS_SILENT } conduct;

typedef struct impostor {
  pthread_t thread;
  int listener, port;
  conduct conduct;
} impostor;

static void *impostor_main(void *data) {
  const impostor *own = data;
  char nonsense[HELLO_BYTES];
  int fd = accept4(own->listener, NULL, NULL, SOCK_CLOEXEC);
  memset(nonsense, 'y', sizeof nonsense);
  if (own->conduct == TALKS)
    (void)!send(fd, nonsense, sizeof nonsense, MSG_NOSIGNAL);
  if (own->conduct != GOES)
    (void)!recv(fd, nonsense, sizeof nonsense, 0); /* the rank's greeting */
  if (own->conduct != GOES)
    (void)!recv(fd, nonsense, sizeof nonsense, 0); /* until it disconnects */
  close(fd);
  return NULL;
}

static void replace(void *user, const char *key, unsigned char *value, size_t bytes) {
  const impostor *other = user;
  if (strstr(key, "/where/0"))
    snprintf((char *)value, bytes, "tcp://127.0.0.1:%d", other->port);
}

static void test_impostors(void **state) {
  (void)state;
  static const struct {
    conduct conduct;
    tprt_status status;
    const char *text;
  } rows[] = {
      {TALKS, TPRT_AUTH, "the process at the address of rank 0 is not a rank of this world"},
      {GOES, TPRT_TIMEOUT, "rank 0 did not accept a connection in time"},
      {IS_SILENT, TPRT_TIMEOUT, "rank 0 did not accept a connection in time"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    store_board *board = store_board_make();
    impostor other = {.conduct = rows[i].conduct};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    rank ranks[2];
    other.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(other.listener, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(other.listener, 8), 0);
    assert_int_equal(getsockname(other.listener, (struct sockaddr *)&at, &size), 0);
    other.port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&other.thread, NULL, impostor_main, &other), 0);
    store_board_watch(board, replace, &other);
    run_world(ranks, 0, 2, board, store_second / 2);
    pthread_join(other.thread, NULL);
    close(other.listener);
    store_board_free(board);
    assert_int_equal(ranks[1].status, rows[i].status);
    assert_non_null(strstr(ranks[1].text, rows[i].text));
    assert_int_equal(ranks[0].status, TPRT_TIMEOUT);
    assert_non_null(strstr(ranks[0].text, "rank 1 did not connect in time"));
  }
}

/* ---- Missing ranks, and stores ---- */

static void test_missing(void **state) {
  (void)state;
  store_board *board = store_board_make();
  rank ranks[N];
  double begin = test_seconds();
  run_world(ranks, 1, N, board, store_second / 5); /* without rank 0 */
  assert_true(test_seconds() - begin < 10);
  assert_int_equal(ranks[1].status, TPRT_TIMEOUT);
  assert_int_equal(ranks[2].status, TPRT_TIMEOUT);
  store_board_free(board);
}

/* Rank 2 ends after it has said on which host it is, and before it connects: the others are told at
 * once. */
static int dies_before_connecting(int number, void *argument) {
  /* as large as what a rank says of its host */
  const char *address = argument, nobody[136] = "another host", backend[32] = "tcp";
  int errors = 0;
  tprt_store *store = store_open_rank(address, N, number, &errors);
  if (!store)
    return errors;
  if (number == 2) {
    CHECK_STATUS(errors, tprt_store_set(store, "tprt/world/0/backend/2", backend, sizeof backend),
                 TPRT_OK);
    CHECK_STATUS(errors, tprt_store_set(store, "tprt/tcp/1/host/2", nobody, sizeof nobody),
                 TPRT_OK);
    CHECK_STATUS(errors, tprt_store_wait(store, "tprt/tcp/1/where/1", 0), TPRT_OK);
    usleep(300000); /* the others have connected */
    _exit(errors);
  }
  tprt_config config = test_config();
  tprt_comm *comm;
  config.backend = "tcp";
  config.store = store;
  double begin = test_seconds();
  CHECK_STATUS(errors, tprt_world_create(N, number, &config, &comm), TPRT_PEER_DEAD);
  CHECK(errors, strstr(tprt_last_error(), "rank 2 ended") != NULL);
  CHECK(errors, test_seconds() - begin < 10);
  tprt_store_destroy(store);
  return errors;
}

static void test_death_before_connecting(void **state) {
  (void)state;
  char address[128];
  store_make_address(STORE_TCP, address, sizeof address);
  assert_int_equal(store_run_ranks(N, dies_before_connecting, address, NULL), 0);
}

static void test_no_store(void **state) {
  (void)state;
  tprt_config config = test_config();
  tprt_comm *comm;
  config.backend = "tcp";
  assert_int_equal(tprt_world_create(2, 0, &config, &comm), TPRT_INVALID_ARGUMENT);
  assert_non_null(strstr(tprt_last_error(), "backend tcp: 2 ranks need a store"));
  assert_int_equal(tprt_world_create_threads(2, &config, &comm), TPRT_UNSUPPORTED);
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_OK);
  int value = 5;
  assert_int_equal(tprt_all_reduce(comm, &value, &value, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                   TPRT_OK);
  assert_int_equal(value, 5);
  tprt_comm_destroy(comm);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_strangers), cmocka_unit_test(test_impostors),
      cmocka_unit_test(test_missing), cmocka_unit_test(test_death_before_connecting),
      cmocka_unit_test(test_no_store)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
