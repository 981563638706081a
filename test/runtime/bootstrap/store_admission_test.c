/* Tests the admission to a store: proofs of the secret and its sources, jobs and epochs, malicious
 * clients. */
#define _GNU_SOURCE 1
#include "stores.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

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
      {true, 0, 2, 0, "job", TPRT_AUTH, "requires a proof of the job's secret"},
      {false, 1, 2, 0, "job", TPRT_AUTH, "could not prove"},
      {true, 1, 3, 0, "job", TPRT_MISMATCH, "rank 0 was started with 2 ranks, rank 1 with 3"},
      {true, 1, 2, 4, "job", TPRT_MISMATCH, "rank 0 is in epoch 0 of the job, rank 1 in epoch 4"},
      {false, 0, 2, 0, "another", TPRT_MISMATCH, "belongs to another job"},
  };
  for (int kind = STORE_TCP; kind <= STORE_UNIX; kind++) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      char address[128];
      tprt_store *server, *client = NULL;
      store_make_address(kind, address, sizeof address);
      tprt_store_config config = store_config_of(2, 0, rows[i].server_secret ? right : NULL);
      assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
      config = store_config_of(rows[i].n, 1,
                               rows[i].client_secret == 1   ? right
                               : rows[i].client_secret == 2 ? wrong
                                                            : NULL);
      config.epoch = rows[i].epoch;
      config.job = rows[i].job;
      assert_int_equal(tprt_store_open(address, &config, &client), rows[i].status);
      assert_non_null(strstr(rows[i].status ? tprt_last_error() : "", rows[i].text));
      if (!rows[i].status) { /* a second process as rank 1, and one that claims to be rank 0 */
        tprt_store *second_one;
        assert_int_equal(tprt_store_open(address, &config, &second_one), TPRT_INVALID_STATE);
        assert_non_null(strstr(tprt_last_error(), "rank 1 has already joined"));
        config.rank = 0;
        /* the address is in use */
        assert_int_not_equal(tprt_store_open(address, &config, &second_one), TPRT_OK);
      }
      tprt_store_destroy(client);
      tprt_store_destroy(server);
    }
  }
}

/* Addresses of other machines require a secret, or the explicit permission to run without one. */
static void test_open_address(void **state) {
  (void)state;
  unsigned char secret[TPRT_SECRET_BYTES] = {9};
  tprt_store *store;
  tprt_store_config config = store_config_of(2, 0, NULL);
  config.timeout_ns = 50000000;
  for (int rank = 0; rank < 2; rank++) {
    config.rank = rank;
    assert_int_equal(tprt_store_open("tcp://192.0.2.77:29500", &config, &store), TPRT_AUTH);
    assert_non_null(strstr(tprt_last_error(), "set TPRT_SECRET_FILE"));
  }
  config.rank = 0;
  config.secret = secret;
  assert_int_equal(tprt_store_open("tcp://192.0.2.77:29500", &config, &store), TPRT_SYSTEM);
  assert_non_null(strstr(tprt_last_error(), "is not an address of this host, where rank 0 runs"));
  config.secret = NULL;
  setenv("TPRT_INSECURE", "1", 1);
  assert_int_equal(tprt_store_open("tcp://192.0.2.77:29500", &config, &store), TPRT_SYSTEM);
  setenv("TPRT_INSECURE", "yes", 1);
  assert_int_equal(tprt_store_open("tcp://127.0.0.1:29500", &config, &store),
                   TPRT_INVALID_ARGUMENT);
  assert_non_null(strstr(tprt_last_error(), "TPRT_INSECURE is \"yes\""));
  unsetenv("TPRT_INSECURE");
}

/* Sources of the secret: a file in two notations, a descriptor, and untrusted files. */
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
    store_make_address(STORE_TCP, address, sizeof address);
    unlink(path);
    store_write_file(path, hex, rows[i].bytes, rows[i].mode);
    tprt_store_config config = store_config_of(2, 0, raw);
    assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
    setenv("TPRT_SECRET_FILE", path, 1);
    config = store_config_of(2, 1, NULL);
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
  tprt_store_config config = store_config_of(2, 1, NULL);
  assert_int_equal(tprt_store_open(address, &config, &client), TPRT_SYSTEM);
  unsetenv("TPRT_SECRET_FILE");
  /* Both ranks read the same inherited descriptor. */
  int fd = memfd_create("secret", MFD_CLOEXEC);
  assert_int_equal(write(fd, raw, sizeof raw), sizeof raw);
  snprintf(number, sizeof number, "%d", fd);
  setenv("TPRT_SECRET_FD", number, 1);
  config = store_config_of(2, 0, NULL);
  assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
  config = store_config_of(2, 1, NULL);
  assert_int_equal(tprt_store_open(address, &config, &client), TPRT_OK);
  unsetenv("TPRT_SECRET_FD");
  tprt_store_destroy(client);
  tprt_store_destroy(server);
  close(fd);
}

/* ---- Malicious clients ---- */

static int dial(const char *address) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  at.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
    abort();
  return fd;
}

/* Returns true if the server closes the connection within the time. */
static bool is_closed(int fd, int ms) {
  struct pollfd watched = {.fd = fd, .events = POLLIN};
  char byte;
  return poll(&watched, 1, ms) == 1 && recv(fd, &byte, 1, 0) <= 0;
}

/* 64 silent clients, more than the server keeps: the ranks still connect at once. */
static void test_silent(void **state) {
  (void)state;
  enum { N_SILENT = 64 };
  double took[2];
  for (int silent = 0; silent < 2; silent++) {
    char address[128];
    int fds[N_SILENT];
    tprt_store *server, *clients[STORE_MOST_RANKS];
    store_make_address(STORE_TCP, address, sizeof address);
    tprt_store_config config = store_config_of(STORE_MOST_RANKS, 0, NULL);
    assert_int_equal(tprt_store_open(address, &config, &server), TPRT_OK);
    for (int i = 0; i < N_SILENT && silent; i++)
      fds[i] = dial(address);
    double begin = test_seconds();
    for (int rank = 1; rank < STORE_MOST_RANKS; rank++) {
      config.rank = rank;
      assert_int_equal(tprt_store_open(address, &config, &clients[rank]), TPRT_OK);
    }
    took[silent] = test_seconds() - begin;
    for (int i = 0; i < N_SILENT && silent; i++) {
      assert_true(is_closed(fds[i], 5000)); /* their timeout is one second */
      close(fds[i]);
    }
    for (int rank = 1; rank < STORE_MOST_RANKS; rank++)
      tprt_store_destroy(clients[rank]);
    tprt_store_destroy(server);
  }
  print_message("7 ranks join in %.2f ms, beside %d silent clients in %.2f ms\n", 1e3 * took[0],
                N_SILENT, 1e3 * took[1]);
  assert_true(took[1] < 1); /* waiting for a silent client would take longer */
}

/* Half a message, noise, and a client that continues after its refusal. */
static void test_noise(void **state) {
  (void)state;
  unsigned char secret[TPRT_SECRET_BYTES] = {7}, noise[4096];
  char address[128];
  uint64_t seed = 1;
  tprt_store *server, *client;
  store_make_address(STORE_TCP, address, sizeof address);
  tprt_store_config config = store_config_of(2, 0, secret);
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

/* Another server on the port that answers something else or nothing. */
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
  tprt_store_config config = store_config_of(2, 1, NULL);
  config.timeout_ns = 100000000;
  /* silent: connections are not accepted */
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_TIMEOUT);
  assert_non_null(strstr(tprt_last_error(), "did not answer in time"));
  assert_int_equal(pthread_create(&thread, NULL, other_server, &fd), 0);
  config.timeout_ns = 5 * store_second;
  assert_int_equal(tprt_store_open(address, &config, &store), TPRT_MISMATCH);
  assert_non_null(strstr(tprt_last_error(), "is not a store"));
  shutdown(fd, SHUT_RDWR);
  pthread_join(thread, NULL);
  close(fd);
}

int main(void) {
  unsetenv("TPRT_SECRET_FILE");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_admission), cmocka_unit_test(test_open_address),
      cmocka_unit_test(test_secret),    cmocka_unit_test(test_silent),
      cmocka_unit_test(test_noise),     cmocka_unit_test(test_other_server),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
