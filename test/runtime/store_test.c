/* Stores of every kind, who gets in, and worlds of processes that were started apart. */
#define _GNU_SOURCE 1
#include "harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RANKS = 8 };
static const int64_t second = 1000000000;

/* A port that nobody has at the moment. */
static int free_port(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(fd, (struct sockaddr *)&at, size) != 0 || getsockname(fd, (struct sockaddr *)&at, &size) != 0)
    abort();
  close(fd);
  return ntohs(at.sin_port);
}

/* An address of each kind, new with every call. */
enum { TCP, UNIX, FILE_PATH, FD, N_KINDS };
static void make_address(int kind, char *text, size_t room) {
  static int serial;
  serial++;
  if (kind == TCP)
    snprintf(text, room, "tcp://127.0.0.1:%d", free_port());
  else if (kind == UNIX)
    snprintf(text, room, "unix:tprt-test-%d-%d", (int)getpid(), serial);
  else if (kind == FILE_PATH)
    snprintf(text, room, "file:/tmp/tprt-test-%d-%d", (int)getpid(), serial);
  else
    snprintf(text, room, "fd:%d", memfd_create("tprt-test", MFD_CLOEXEC));
}

static void drop_address(const char *text) {
  if (strncmp(text, "fd:", 3) == 0)
    close(atoi(text + 3));
}

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
  store_rank ranks[MOST_RANKS];
  int errors = 0;
  for (int i = 0; i < n; i++) {
    ranks[i] = (store_rank){.address = address, .fn = fn, .argument = argument};
    ranks[i].config = (tprt_store_config){.size = sizeof ranks[i].config, .n_ranks = n, .rank = i, .timeout_ns = 20 * second};
    if (pthread_create(&ranks[i].thread, NULL, store_main, &ranks[i]) != 0)
      abort();
  }
  for (int i = 0; i < n; i++) {
    pthread_join(ranks[i].thread, NULL);
    errors += ranks[i].errors;
  }
  return errors;
}

/* Everything that a store does, on all ranks at once. */
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
  bytes = 3; /* too little room; the store goes on */
  CHECK_STATUS(errors, tprt_store_get(store, key, got, &bytes, 0), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "there is room for 3") != NULL);
  for (int i = 1; i <= 10; i++)
    CHECK_STATUS(errors, tprt_store_add(store, "sum", i, &sum), TPRT_OK);
  CHECK_STATUS(errors, tprt_store_barrier(store, "added", n, 0), TPRT_OK);
  CHECK_STATUS(errors, tprt_store_add(store, "sum", 0, &sum), TPRT_OK);
  CHECK(errors, sum == 55 * n);
  CHECK_STATUS(errors, tprt_store_add(store, key, 1, &sum), TPRT_INVALID_ARGUMENT); /* no number */
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
  CHECK_STATUS(errors, tprt_store_wait(store, "nobody sets this", 50000000), TPRT_TIMEOUT);
  CHECK(errors, strstr(tprt_last_error(), "nobody set") != NULL && test_seconds() - begin < 10);
  CHECK_STATUS(errors, tprt_store_wait(store, "empty", -1), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_store_barrier(store, "end", n, 0), TPRT_OK);
  return errors;
}

static void test_kinds(void **state) {
  (void)state;
  char address[128];
  for (int kind = 0; kind < N_KINDS; kind++) {
    for (int n = 1; n <= MOST_RANKS; n += n < 3 ? 1 : 5) {
      make_address(kind, address, sizeof address);
      assert_int_equal(run_store(address, n, exchange, NULL), 0);
      if (kind == FILE_PATH)
        assert_int_not_equal(access(address + 5, F_OK), 0); /* rank 0 removed it */
      drop_address(address);
    }
  }
}

/* ---- Callbacks: a table behind a lock ---- */

typedef struct table {
  pthread_mutex_t lock;
  struct row {
    char key[TPRT_STORE_KEY_BYTES];
    unsigned char value[TPRT_STORE_VALUE_BYTES];
    size_t bytes;
  } rows[64];
  int n;
} table;

static struct row *find_row(table *t, const char *key, bool make) {
  for (int i = 0; i < t->n; i++) {
    if (strcmp(t->rows[i].key, key) == 0)
      return &t->rows[i];
  }
  if (!make)
    return NULL;
  snprintf(t->rows[t->n].key, sizeof t->rows[t->n].key, "%s", key);
  return &t->rows[t->n++];
}

static tprt_status table_set(void *user, const char *key, const void *value, size_t bytes, int64_t timeout_ns) {
  table *t = user;
  (void)timeout_ns;
  pthread_mutex_lock(&t->lock);
  struct row *row = find_row(t, key, true);
  row->bytes = bytes;
  if (bytes)
    memcpy(row->value, value, bytes);
  pthread_mutex_unlock(&t->lock);
  return TPRT_OK;
}

static tprt_status table_get(void *user, const char *key, void *value, size_t *bytes, int64_t timeout_ns) {
  table *t = user;
  for (int64_t waited = 0; waited < timeout_ns; waited += 1000000) {
    pthread_mutex_lock(&t->lock);
    struct row *row = find_row(t, key, false);
    size_t n = row ? row->bytes : 0;
    if (row && n <= *bytes)
      memcpy(value, row->value, n);
    pthread_mutex_unlock(&t->lock);
    if (row) {
      *bytes = n;
      return TPRT_OK;
    }
    usleep(1000);
  }
  return TPRT_TIMEOUT;
}

static tprt_status table_add(void *user, const char *key, int64_t delta, int64_t *sum, int64_t timeout_ns) {
  table *t = user;
  (void)timeout_ns;
  pthread_mutex_lock(&t->lock);
  struct row *row = find_row(t, key, true);
  int64_t number = 0;
  if (row->bytes)
    memcpy(&number, row->value, sizeof number);
  number += delta;
  row->bytes = sizeof number;
  memcpy(row->value, &number, sizeof number);
  pthread_mutex_unlock(&t->lock);
  *sum = number;
  return TPRT_OK;
}

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
    CHECK_STATUS(r->errors, tprt_all_reduce(comm, &value, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL), TPRT_OK);
    CHECK(r->errors, sum == 6);
    tprt_comm_destroy(comm);
  }
  return NULL;
}

static void test_callbacks(void **state) {
  (void)state;
  table *t = calloc(1, sizeof *t);
  callback_rank ranks[3];
  tprt_store_callbacks calls = {.size = sizeof calls, .set = table_set, .get = table_get, .add = table_add, .user = t};
  tprt_store *store;
  assert_non_null(t);
  pthread_mutex_init(&t->lock, NULL);
  calls.get = NULL;
  assert_int_equal(tprt_store_create(&calls, &store), TPRT_INVALID_ARGUMENT);
  calls.get = table_get;
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
  pthread_mutex_destroy(&t->lock);
  free(t);
}

/* ---- Who gets in ---- */

/* What rank 1 is told when it comes with `config` to a store of two ranks that rank 0 opened at `address`. */
typedef struct served {
  pthread_t thread;
  tprt_store *store;
} served;

static tprt_store_config config_of(int n, int rank, const unsigned char *secret) {
  return (tprt_store_config){
      .size = sizeof(tprt_store_config), .n_ranks = n, .rank = rank, .job = "job", .timeout_ns = 5 * second, .secret = secret};
}

static void test_admission(void **state) {
  (void)state;
  unsigned char right[TPRT_SECRET_BYTES] = {1, 2, 3}, wrong[TPRT_SECRET_BYTES] = {1, 2, 4};
  static const struct {
    bool server_secret;
    int client_secret; /* 0: none, 1: the right one, 2: another */
    int n, epoch;
    const char *job;
    tprt_status status;
    const char *text;
  } rows[] = {
      {false, 0, 2, 0, "job", TPRT_OK, ""},
      {true, 1, 2, 0, "job", TPRT_OK, ""},
      {true, 2, 2, 0, "job", TPRT_AUTH, "could not prove that it knows the secret of rank 1"},
      {true, 0, 2, 0, "job", TPRT_AUTH, "wants a proof of the job's secret"},
      {false, 1, 2, 0, "job", TPRT_AUTH, "could not prove"},
      {true, 1, 3, 0, "job", TPRT_MISMATCH, "rank 0 was started with 2 ranks, rank 1 with 3"},
      {true, 1, 2, 4, "job", TPRT_MISMATCH, "rank 0 is in epoch 0 of the job, rank 1 in epoch 4"},
      {false, 0, 2, 0, "another", TPRT_MISMATCH, "belongs to another job"},
  };
  for (int kind = TCP; kind <= UNIX; kind++) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      char address[128];
      tprt_store *server, *client = NULL;
      make_address(kind, address, sizeof address);
      tprt_store_config config = config_of(2, 0, rows[i].server_secret ? right : NULL);
      assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
      config = config_of(rows[i].n, 1, rows[i].client_secret == 1 ? right : rows[i].client_secret == 2 ? wrong : NULL);
      config.epoch = rows[i].epoch;
      config.job = rows[i].job;
      assert_int_equal(tprt_store_open(address, &config, &client), rows[i].status);
      assert_non_null(strstr(rows[i].status ? tprt_last_error() : "", rows[i].text));
      if (!rows[i].status) { /* a second rank 1, and one that says it is rank 0 */
        tprt_store *second_one;
        assert_int_equal(tprt_store_open(address, &config, &second_one), TPRT_INVALID_STATE);
        assert_non_null(strstr(tprt_last_error(), "rank 1 has already joined"));
        config.rank = 0;
        assert_int_not_equal(tprt_store_open(address, &config, &second_one), TPRT_OK); /* the address is in use */
      }
      tprt_store_destroy(client);
      tprt_store_destroy(server);
    }
  }
}

/* Addresses of other machines want a secret, or somebody who says that there is none. */
static void test_open_address(void **state) {
  (void)state;
  unsigned char secret[TPRT_SECRET_BYTES] = {9};
  tprt_store *store;
  tprt_store_config config = config_of(2, 0, NULL);
  config.timeout_ns = 50000000;
  for (int rank = 0; rank < 2; rank++) {
    config.rank = rank;
    assert_int_equal(tprt_store_open("tcp://192.0.2.77:29500", &config, &store), TPRT_AUTH);
    assert_non_null(strstr(tprt_last_error(), "set TPRT_SECRET_FILE"));
  }
  config.rank = 0;
  config.secret = secret;
  assert_int_equal(tprt_store_open("tcp://192.0.2.77:29500", &config, &store), TPRT_SYSTEM);
  assert_non_null(strstr(tprt_last_error(), "is no address of this host, where rank 0 runs"));
  config.secret = NULL;
  setenv("TPRT_INSECURE", "1", 1);
  assert_int_equal(tprt_store_open("tcp://192.0.2.77:29500", &config, &store), TPRT_SYSTEM);
  setenv("TPRT_INSECURE", "yes", 1);
  assert_int_equal(tprt_store_open("tcp://127.0.0.1:29500", &config, &store), TPRT_INVALID_ARGUMENT);
  assert_non_null(strstr(tprt_last_error(), "TPRT_INSECURE is \"yes\""));
  unsetenv("TPRT_INSECURE");
}

static void write_text(const char *path, const char *text, size_t n, mode_t mode) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n && fchmod(fd, mode) == 0);
  close(fd);
}

/* The secret's sources: a file in two notations, a descriptor, and files that cannot be trusted. */
static void test_secret(void **state) {
  (void)state;
  static const char hex[] = "000102030405060708090A0B0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
  unsigned char raw[TPRT_SECRET_BYTES];
  char path[64], address[128], number[16];
  tprt_store *server, *client;
  snprintf(path, sizeof path, "/tmp/tprt-secret-%d", (int)getpid());
  for (int i = 0; i < TPRT_SECRET_BYTES; i++)
    raw[i] = (unsigned char)i;
  static const struct {
    size_t bytes;
    mode_t mode;
    tprt_status status;
  } rows[] = {{65, 0600, TPRT_OK},   {64, 0400, TPRT_OK},   {63, 0600, TPRT_INVALID_ARGUMENT},
              {65, 0640, TPRT_AUTH}, {65, 0604, TPRT_AUTH}, {0, 0600, TPRT_INVALID_ARGUMENT}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    make_address(TCP, address, sizeof address);
    unlink(path);
    write_text(path, hex, rows[i].bytes, rows[i].mode);
    tprt_store_config config = config_of(2, 0, raw);
    assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
    setenv("TPRT_SECRET_FILE", path, 1);
    config = config_of(2, 1, NULL);
    assert_int_equal(tprt_store_open(address, &config, &client), rows[i].status);
    if (rows[i].status)
      assert_non_null(strstr(tprt_last_error(), "TPRT_SECRET_FILE"));
    else
      tprt_store_destroy(client);
    unsetenv("TPRT_SECRET_FILE");
    tprt_store_destroy(server);
  }
  unlink(path);
  setenv("TPRT_SECRET_FILE", path, 1);
  tprt_store_config config = config_of(2, 1, NULL);
  assert_int_equal(tprt_store_open(address, &config, &client), TPRT_SYSTEM);
  unsetenv("TPRT_SECRET_FILE");
  /* Both ranks read the same inherited descriptor. */
  int fd = memfd_create("secret", MFD_CLOEXEC);
  assert_int_equal(write(fd, raw, sizeof raw), sizeof raw);
  snprintf(number, sizeof number, "%d", fd);
  setenv("TPRT_SECRET_FD", number, 1);
  config = config_of(2, 0, NULL);
  assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
  config = config_of(2, 1, NULL);
  assert_int_equal(tprt_store_open(address, &config, &client), TPRT_OK);
  unsetenv("TPRT_SECRET_FD");
  tprt_store_destroy(client);
  tprt_store_destroy(server);
  close(fd);
}

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
  tprt_store_config config = config_of(2, 0, NULL);
  tprt_store *store, *client;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(tprt_store_open(bad[i], &config, &store), TPRT_INVALID_ARGUMENT);
  config.rank = 2;
  assert_int_equal(tprt_store_open("unix:x", &config, &store), TPRT_INVALID_ARGUMENT);
  config = config_of(2, 0, NULL);
  char address[64];
  snprintf(address, sizeof address, "tcp://[::1]:%d", free_port());
  if (tprt_store_open(address, &config, &store) == TPRT_OK) { /* a machine may be without IPv6 */
    config.rank = 1;
    assert_int_equal(tprt_store_open(address, &config, &client), TPRT_OK);
    tprt_store_destroy(client);
    tprt_store_destroy(store);
  }
  /* Nobody serves: in time. */
  config = config_of(2, 1, NULL);
  config.timeout_ns = 100000000;
  snprintf(address, sizeof address, "tcp://127.0.0.1:%d", free_port());
  double begin = test_seconds();
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_TIMEOUT);
  assert_non_null(strstr(tprt_last_error(), "no store answered in time"));
  assert_true(test_seconds() - begin < 5);
}

/* ---- Clients that mean no good ---- */

static int dial(const char *address) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  at.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
    abort();
  return fd;
}

/* Whether the server closes the connection within the time. */
static bool is_closed(int fd, int ms) {
  struct pollfd watched = {.fd = fd, .events = POLLIN};
  char byte;
  return poll(&watched, 1, ms) == 1 && recv(fd, &byte, 1, 0) <= 0;
}

/* 64 clients that say nothing, and that are more than the server keeps: the ranks come through at once. */
static void test_silent(void **state) {
  (void)state;
  enum { N_SILENT = 64 };
  double took[2];
  for (int silent = 0; silent < 2; silent++) {
    char address[128];
    int fds[N_SILENT];
    tprt_store *server, *clients[MOST_RANKS];
    make_address(TCP, address, sizeof address);
    tprt_store_config config = config_of(MOST_RANKS, 0, NULL);
    assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
    for (int i = 0; i < N_SILENT && silent; i++)
      fds[i] = dial(address);
    double begin = test_seconds();
    for (int rank = 1; rank < MOST_RANKS; rank++) {
      config.rank = rank;
      assert_int_equal(tprt_store_open(address, &config, &clients[rank]), TPRT_OK);
    }
    took[silent] = test_seconds() - begin;
    for (int i = 0; i < N_SILENT && silent; i++) {
      assert_true(is_closed(fds[i], 5000)); /* their time is up after a second */
      close(fds[i]);
    }
    for (int rank = 1; rank < MOST_RANKS; rank++)
      tprt_store_destroy(clients[rank]);
    tprt_store_destroy(server);
  }
  print_message("7 ranks join in %.2f ms, beside %d silent clients in %.2f ms\n", 1e3 * took[0], N_SILENT, 1e3 * took[1]);
  assert_true(took[1] < 1); /* one that waited for a silent client would take longer */
}

/* Half a message, noise, and one who goes on talking after he was refused. */
static void test_noise(void **state) {
  (void)state;
  unsigned char secret[TPRT_SECRET_BYTES] = {7}, noise[4096];
  char address[128];
  uint64_t seed = 1;
  tprt_store *server, *client;
  make_address(TCP, address, sizeof address);
  tprt_store_config config = config_of(2, 0, secret);
  assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
  for (int i = 0; i < 50; i++) {
    for (size_t k = 0; k < sizeof noise; k++)
      noise[k] = (unsigned char)test_random(&seed);
    int fd = dial(address);
    size_t n = i % 5 == 0 ? 40 : sizeof noise;
    (void)!send(fd, noise, n, MSG_NOSIGNAL);
    if (i % 5 == 0)
      shutdown(fd, SHUT_WR);
    assert_true(is_closed(fd, 5000));
    close(fd);
  }
  config.rank = 1;
  assert_int_equal(tprt_store_open(address, &config, &client), TPRT_OK);
  assert_int_equal(tprt_store_set(client, "still here", NULL, 0), TPRT_OK);
  tprt_store_destroy(client);
  tprt_store_destroy(server);
}

/* Something else serves the port, and says something else or nothing. */
static void *other_server(void *data) {
  int listener = *(int *)data;
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (fd < 0)
      return NULL;
    static const char text[200] = "220 mail.example.org ESMTP";
    (void)!send(fd, text, sizeof text, MSG_NOSIGNAL);
    usleep(10000);
    close(fd);
  }
}

static void test_other_server(void **state) {
  (void)state;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  char address[64];
  pthread_t thread;
  tprt_store *store;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
  assert_int_equal(listen(fd, 8), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
  snprintf(address, sizeof address, "tcp://127.0.0.1:%d", ntohs(at.sin_port));
  tprt_store_config config = config_of(2, 1, NULL);
  config.timeout_ns = 100000000;
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_TIMEOUT); /* silent: nobody accepts */
  assert_non_null(strstr(tprt_last_error(), "did not answer in time"));
  assert_int_equal(pthread_create(&thread, NULL, other_server, &fd), 0);
  config.timeout_ns = 5 * second;
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_MISMATCH);
  assert_non_null(strstr(tprt_last_error(), "is no store"));
  shutdown(fd, SHUT_RDWR);
  pthread_join(thread, NULL);
  close(fd);
}

/* ---- Files that are not what they should be ---- */

static void test_files(void **state) {
  (void)state;
  char address[128];
  tprt_store *first, *store;
  tprt_store_config config = config_of(2, 1, NULL);
  make_address(FILE_PATH, address, sizeof address);
  const char *path = address + 5;
  assert_int_equal(tprt_store_open(address, &config, &first), TPRT_OK);
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_INVALID_STATE); /* of another run */
  assert_non_null(strstr(tprt_last_error(), "a file serves one job"));
  config.n_ranks = 3;
  config.rank = 2;
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_MISMATCH);
  assert_non_null(strstr(tprt_last_error(), "a job of 2 ranks in epoch 0, this rank's has 3 in epoch 0"));
  /* A writer that died left half a record. */
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
  assert_int_equal(access(path, F_OK), 0); /* rank 0 removes it */
  assert_int_equal(chmod(path, 0622), 0);
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_AUTH);
  unlink(path);
  write_text(path, "something else, something else, something else, something else", 62, 0600);
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_MISMATCH);
  assert_non_null(strstr(tprt_last_error(), "is no store"));
  unlink(path);
  assert_int_equal(symlink("/dev/null", path), 0);
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_SYSTEM);
  unlink(path);
  config = config_of(2, 0, NULL);
  assert_int_equal(tprt_store_open("fd:9999", &config, &store), TPRT_SYSTEM);
}

/* ---- Processes ---- */

/* n processes without anything in common but an address; `fn` gets the world. */
static int run_apart(int n, const char *address, rank_fn *fn, void *argument, int *status) {
  pid_t pids[MOST_RANKS];
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
  for (int kind = 0; kind < N_KINDS; kind++) {
    for (int n = 1; n <= 5; n += 2) {
      make_address(kind, address, sizeof address);
      assert_int_equal(run_apart(n, address, work_apart, NULL, NULL), 0);
      drop_address(address);
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
  make_address(UNIX, address, sizeof address);
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
    make_address(victim % 2 ? TCP : UNIX, address, sizeof address);
    double begin = test_seconds();
    for (int rank = 0; rank < 3; rank++) {
      fflush(NULL);
      pids[rank] = fork();
      assert_true(pids[rank] >= 0);
      if (pids[rank] > 0)
        continue;
      tprt_store_config config = config_of(3, rank, NULL);
      tprt_store *store = NULL;
      int errors = 0;
      char who[32];
      config.timeout_ns = 20 * second;
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
    make_address(UNIX, address, sizeof address);
    double begin = test_seconds();
    for (int rank = 0; rank < 3; rank++) {
      fflush(NULL);
      pids[rank] = fork();
      assert_true(pids[rank] >= 0);
      if (pids[rank] > 0)
        continue;
      tprt_store_config store_config = config_of(3, rank, NULL);
      tprt_config config = test_config();
      tprt_store *store = NULL;
      tprt_comm *comm = NULL;
      int errors = 0;
      char who[32];
      snprintf(who, sizeof who, "rank %d", victim);
      store_config.timeout_ns = 20 * second;
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
      cmocka_unit_test(test_worlds), /* first: fork wants a process without threads */
      cmocka_unit_test(test_death_apart),  cmocka_unit_test(test_death_in_store), cmocka_unit_test(test_death_in_world),
      cmocka_unit_test(test_kinds),        cmocka_unit_test(test_callbacks),      cmocka_unit_test(test_admission),
      cmocka_unit_test(test_open_address), cmocka_unit_test(test_secret),         cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_silent),       cmocka_unit_test(test_noise),          cmocka_unit_test(test_other_server),
      cmocka_unit_test(test_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
