/* Kills or stops processes at many points: every survivor must soon be told which rank it was.
 * Prints how soon; TP_LONG=1 takes more samples. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"
#include "test/runtime/harness/long.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  N_RANKS = 4,
  N_STEPS = 24,
  N_INSIDE = 8,
  N_POINTS = N_STEPS + N_INSIDE,
  LARGE = 200000,
  MOST_SAMPLES = 1 << 16
};

/* Memory shared by the processes of a run and the parent. */
typedef struct board {
  _Atomic int64_t died_ns;          /* 0: not yet */
  _Atomic int64_t told_ns[N_RANKS]; /* 0: not told, or told something wrong */
  _Atomic int pid[N_RANKS];
} board;

typedef struct death {
  int victim, point;
  board *board;
} death;

static int64_t now_ns(void) { return (int64_t)(test_seconds() * 1e9); }

static void die(board *b) {
  atomic_store(&b->died_ns, now_ns());
  raise(SIGKILL);
}

/* ---- Points of death: before an operation, or some time inside a large one ---- */

static _Thread_local int step;

static void count_step(void *user, tprt_comm *comm, const tprt_op_info *op) {
  const death *d = user;
  (void)op;
  if (step++ == d->point && tprt_comm_rank(comm) == d->victim)
    die(d->board);
}

static void *die_later(void *data) {
  const death *d = data;
  usleep((useconds_t)(150 * (d->point - N_STEPS + 1)));
  die(d->board);
  return NULL;
}

/* Runs operation `i` of a round; covers all kinds of operations: small, in pieces, and in
 * registered memory. */
static tprt_status run_step(tprt_comm *comm, int i, float *data, float *more, void *registered) {
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  static const int64_t counts[N_RANKS] = {3, 1, 4, 1};
  int64_t shape[] = {n, 64};
  tprt_pair ring[N_RANKS];
  for (int r = 0; r < n; r++)
    ring[r] = (tprt_pair){r, (r + 1) % n};
  switch (i % 12) {
  case 0:
    return tprt_all_reduce(comm, data, more, 1, TPRT_F32, TPRT_SUM, NULL, NULL);
  case 1:
    return tprt_all_reduce(comm, data, more, LARGE, TPRT_F32, TPRT_SUM, NULL, NULL);
  case 2:
    return tprt_all_reduce(comm, registered, registered, LARGE, TPRT_F32, TPRT_MAX, NULL, NULL);
  case 3:
    return tprt_all_gather(comm, data, more, 1000, TPRT_F32, NULL, NULL);
  case 4:
    return tprt_reduce_scatter(comm, data, more, 1000, TPRT_F32, TPRT_SUM, NULL, NULL);
  case 5:
    return tprt_all_to_all(comm, data, more, 1000, TPRT_F32, NULL, NULL);
  case 6:
    return tprt_permute(comm, data, more, 500, TPRT_F32, ring, (size_t)n, NULL, NULL);
  case 7:
    return tprt_broadcast(comm, data, more, LARGE, TPRT_F32, i / 12, NULL, NULL);
  case 8:
    return tprt_barrier(comm, NULL, NULL);
  case 9:
    return tprt_all_gather_v(comm, data, more, counts, NULL, TPRT_F32, NULL, NULL);
  case 10: {
    tprt_op ops[] = {tprt_op_send(data, LARGE, TPRT_F32, (me + 1) % n, 1),
                     tprt_op_recv(more, LARGE, TPRT_F32, (me + n - 1) % n, 1)};
    return tprt_submit_batch(comm, ops, 2, NULL);
  }
  default: {
    tprt_op op = tprt_op_flat(TPRT_OP_GATHER, data, more, 0, TPRT_F32, NULL);
    op.n_dims = 2;
    memcpy(op.shape, shape, sizeof shape);
    tprt_work *work;
    tprt_status status = tprt_submit(comm, &op, &work); /* in the background */
    status = status ? status : tprt_work_wait(work, 0);
    if (!status)
      tprt_work_destroy(work);
    return status;
  }
  }
}

/* Runs rounds of all operations until a rank dies; with a barrier after each, because otherwise
 * only the root of a gather may wait. */
static int work_until_death(tprt_comm *comm, void *argument) {
  const death *d = argument;
  int errors = 0, me = tprt_comm_rank(comm);
  float *data = calloc(LARGE, sizeof *data), *more = calloc((size_t)LARGE * N_RANKS, sizeof *more);
  void *registered;
  tprt_hooks hooks = {.size = sizeof hooks, .pre = count_step, .user = argument};
  pthread_t thread;
  tprt_status status;
  CHECK_STATUS(errors, tprt_mem_alloc(comm, LARGE * sizeof(float), &registered), TPRT_OK);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_set_hooks(comm, &hooks), TPRT_OK);
  if (me == d->victim && d->point >= N_STEPS)
    CHECK(errors, pthread_create(&thread, NULL, die_later, argument) == 0);
  for (int i = 0; !(status = run_step(comm, i % 24, data, more, registered));)
    i++;
  int64_t told = now_ns();
  char who[32];
  snprintf(who, sizeof who, "rank %d ended", d->victim);
  CHECK_STATUS(errors, status, TPRT_PEER_DEAD);
  CHECK(errors, strstr(tprt_last_error(), who) != NULL);
  if (!errors)
    atomic_store(&d->board->told_ns[me], told);
  tprt_mem_free(comm, registered);
  free(data);
  free(more);
  return errors;
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Sorts and prints the samples. */
static void print_times(int64_t *samples, int n) {
  qsort(samples, (size_t)n, sizeof *samples, compare);
  print_message("median %.2f ms, p99 %.2f ms, longest %.2f ms\n", 1e-6 * (double)samples[n / 2],
                1e-6 * (double)samples[n * 99 / 100], 1e-6 * (double)samples[n - 1]);
}

static board *make_board(void) {
  board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(b != MAP_FAILED);
  return b;
}

static void test_killed(void **state) {
  (void)state;
  tprt_config config = test_config();
  int rounds = test_is_long() ? 10 : 1, n = 0, n_told = 0, n_survivors = 0;
  int64_t *samples = calloc(MOST_SAMPLES, sizeof *samples);
  assert_non_null(samples);
  for (int i = 0; i < rounds * N_RANKS * N_POINTS; i++) {
    int status[N_RANKS];
    death d = {.victim = i % N_RANKS, .point = i / N_RANKS % N_POINTS, .board = make_board()};
    run_processes(N_RANKS, &config, work_until_death, &d, status);
    for (int rank = 0; rank < N_RANKS; rank++) {
      if (rank == d.victim) {
        assert_true(WIFSIGNALED(status[rank]) && WTERMSIG(status[rank]) == SIGKILL);
        continue;
      }
      int64_t told = atomic_load(&d.board->told_ns[rank]);
      n_survivors++;
      n_told += told != 0;
      if (told && n < MOST_SAMPLES)
        samples[n++] = told - atomic_load(&d.board->died_ns);
    }
    munmap(d.board, sizeof *d.board);
  }
  print_message("SIGKILL of each of %d ranks at %d points: %d of %d survivors name it; ", N_RANKS,
                N_POINTS, n_told, n_survivors);
  print_times(samples, n);
  free(samples);
  assert_int_equal(n_told, n_survivors);
}

/* ---- Stopped, not dead ---- */

enum { STOP_TIMEOUT_NS = 100000000 };

static int wait_for_stopped(tprt_comm *comm, void *argument) {
  const death *d = argument;
  int errors = 0, me = tprt_comm_rank(comm);
  float data[4] = {0};
  char who[48];
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (me == d->victim) {
    raise(SIGSTOP); /* the parent ends the process */
    return 1;
  }
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, data, data, 4, TPRT_F32, NULL);
  op.reduction = TPRT_SUM;
  op.timeout_ns = STOP_TIMEOUT_NS;
  int64_t begin = now_ns();
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_TIMEOUT);
  int64_t late = now_ns() - begin - STOP_TIMEOUT_NS;
  snprintf(who, sizeof who, "rank %d did not arrive in time", d->victim);
  CHECK(errors, strstr(tprt_last_error(), who) != NULL);
  /* may be early: told by a rank that began before */
  atomic_store(&d->board->told_ns[me], late ? late : 1);
  return errors;
}

/* Ends the victim after it has stopped. */
static int stop_and_end(tprt_comm *comm, void *argument) {
  const death *d = argument;
  if (tprt_comm_rank(comm) != d->victim)
    return wait_for_stopped(comm, argument);
  pid_t own = getpid(), helper = fork();
  if (helper == 0) {
    usleep(400000);
    kill(own, SIGKILL);
    _exit(0);
  }
  return wait_for_stopped(comm, argument);
}

/* Prints the duration of a plain sleep at this moment: no waiting rank can be told sooner. */
static void print_sleeps(int n) {
  enum { SLEEP_NS = 2000000 };
  const struct timespec nap = {.tv_nsec = SLEEP_NS};
  int64_t *samples = calloc((size_t)n, sizeof *samples);
  assert_non_null(samples);
  for (int i = 0; i < n; i++) {
    int64_t begin = now_ns();
    nanosleep(&nap, NULL);
    samples[i] = now_ns() - begin - SLEEP_NS;
  }
  print_message("a sleep of 2 ms: of %d, late by ", n);
  print_times(samples, n);
  free(samples);
}

static void test_stopped(void **state) {
  (void)state;
  tprt_config config = test_config();
  int rounds = test_is_long() ? 25 : 1, n = 0;
  int64_t *samples = calloc(MOST_SAMPLES, sizeof *samples);
  assert_non_null(samples);
  for (int i = 0; i < rounds * N_RANKS; i++) {
    int status[N_RANKS];
    death d = {.victim = i % N_RANKS, .board = make_board()};
    assert_int_equal(run_processes(N_RANKS, &config, stop_and_end, &d, status), 1);
    for (int rank = 0; rank < N_RANKS; rank++) {
      if (rank == d.victim)
        continue;
      int64_t late = atomic_load(&d.board->told_ns[rank]);
      assert_int_not_equal(late, 0);
      samples[n++] = late;
    }
    munmap(d.board, sizeof *d.board);
  }
  print_message("SIGSTOP: %d of %d survivors time out; after the deadline ", n, n);
  print_times(samples, n);
  free(samples);
  print_sleeps(n * 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_killed),
      cmocka_unit_test(test_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
