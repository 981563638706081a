/* Shared code of the store tests: callback stores, processes, files. */
#define _GNU_SOURCE 1
#include "stores.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int store_free_port(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(fd, (struct sockaddr *)&at, size) != 0 ||
      getsockname(fd, (struct sockaddr *)&at, &size) != 0)
    abort();
  close(fd);
  return ntohs(at.sin_port);
}

void store_make_address(int kind, char *text, size_t room) {
  static int serial;
  serial++;
  if (kind == STORE_TCP)
    snprintf(text, room, "tcp://127.0.0.1:%d", store_free_port());
  else if (kind == STORE_UNIX)
    snprintf(text, room, "unix:tprt-test-%d-%d", (int)getpid(), serial);
  else if (kind == STORE_FILE)
    snprintf(text, room, "file:/tmp/tprt-test-%d-%d", (int)getpid(), serial);
  else
    snprintf(text, room, "fd:%d", memfd_create("tprt-test", MFD_CLOEXEC));
}

void store_drop_address(const char *text) {
  if (strncmp(text, "fd:", 3) == 0)
    close(atoi(text + 3));
}

tprt_store_config store_config_of(int n, int rank, const unsigned char *secret) {
  return (tprt_store_config){.size = sizeof(tprt_store_config),
                             .n_ranks = n,
                             .rank = rank,
                             .job = "job",
                             .timeout_ns = 5 * store_second,
                             .secret = secret};
}

tprt_store *store_open_rank(const char *address, int n, int rank, int *errors) {
  tprt_store_config config = store_config_of(n, rank, NULL);
  tprt_store *store = NULL;
  config.timeout_ns = 20 * store_second;
  CHECK_STATUS(*errors, tprt_store_open(address, &config, &store), TPRT_OK);
  return store;
}

tprt_comm *store_open_world(const char *address, const char *backend, int n, int rank,
                            tprt_store **store, int *errors) {
  tprt_config config = test_config();
  tprt_comm *comm = NULL;
  config.backend = backend;
  config.store = store_open_rank(address, n, rank, errors);
  if (config.store)
    CHECK_STATUS(*errors, tprt_world_create(n, rank, &config, &comm), TPRT_OK);
  if (!comm)
    tprt_store_destroy(config.store);
  *store = comm ? config.store : NULL;
  return comm;
}

/* ---- Callbacks ---- */

struct store_board {
  pthread_mutex_t lock;
  struct row {
    char key[TPRT_STORE_KEY_BYTES];
    unsigned char value[TPRT_STORE_VALUE_BYTES];
    size_t bytes;
  } rows[64];
  int n;
  store_seen_fn *seen;
  void *user;
};

static struct row *find_row(store_board *t, const char *key, bool make) {
  for (int i = 0; i < t->n; i++) {
    if (strcmp(t->rows[i].key, key) == 0)
      return &t->rows[i];
  }
  if (!make)
    return NULL;
  snprintf(t->rows[t->n].key, sizeof t->rows[t->n].key, "%s", key);
  return &t->rows[t->n++];
}

static tprt_status board_set(void *user, const char *key, const void *value, size_t bytes,
                             int64_t timeout_ns) {
  store_board *t = user;
  unsigned char own[TPRT_STORE_VALUE_BYTES];
  (void)timeout_ns;
  if (bytes)
    memcpy(own, value, bytes);
  if (t->seen)
    t->seen(t->user, key, own, bytes);
  pthread_mutex_lock(&t->lock);
  struct row *row = find_row(t, key, true);
  row->bytes = bytes;
  if (bytes)
    memcpy(row->value, own, bytes);
  pthread_mutex_unlock(&t->lock);
  return TPRT_OK;
}

static tprt_status board_get(void *user, const char *key, void *value, size_t *bytes,
                             int64_t timeout_ns) {
  store_board *t = user;
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

static tprt_status board_add(void *user, const char *key, int64_t delta, int64_t *sum,
                             int64_t timeout_ns) {
  store_board *t = user;
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

store_board *store_board_make(void) {
  store_board *made = calloc(1, sizeof *made);
  assert_non_null(made);
  pthread_mutex_init(&made->lock, NULL);
  return made;
}

void store_board_watch(store_board *board, store_seen_fn *seen, void *user) {
  board->seen = seen;
  board->user = user;
}

tprt_store_callbacks store_board_callbacks(store_board *board) {
  return (tprt_store_callbacks){.size = sizeof(tprt_store_callbacks),
                                .set = board_set,
                                .get = board_get,
                                .add = board_add,
                                .user = board};
}

void store_board_free(store_board *board) {
  pthread_mutex_destroy(&board->lock);
  free(board);
}

/* ---- Processes ---- */

int store_run_ranks(int n, store_rank_fn *fn, void *argument, int *status) {
  pid_t pids[STORE_MOST_RANKS];
  int errors = 0;
  for (int rank = 0; rank < n; rank++) {
    fflush(NULL);
    pids[rank] = fork();
    assert_true(pids[rank] >= 0);
    if (pids[rank] > 0)
      continue;
    int wrong = fn(rank, argument);
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

/* ---- Files ---- */

void store_write_file(const char *path, const char *text, size_t n, mode_t mode) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n && fchmod(fd, mode) == 0);
  close(fd);
}
