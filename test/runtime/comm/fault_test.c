/* Tests failures: mismatches, late and dead peers, abort. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Mismatch: one rank's operation differs in one field ---- */

static void mutate(tprt_op *op, int field) {
  switch (field) {
  case 0:
    op->kind = TPRT_OP_BROADCAST;
    op->reduction = TPRT_NO_REDUCTION;
    break;
  case 1:
    op->dtype = TPRT_I32;
    break;
  case 2:
    op->reduction = TPRT_MAX;
    break;
  case 3:
    op->shape[0]++;
    break;
  case 4:
    op->n_dims = 2;
    op->shape[1] = 1;
    break;
  default:
    break;
  }
}
enum { N_MUTATIONS = 5 };

typedef struct mutation {
  int field, odd_rank;
  int64_t count;
} mutation;

static int mismatch(tprt_comm *comm, void *argument) {
  const mutation *m = argument;
  int errors = 0, n = tprt_comm_size(comm);
  float *send = calloc(20001, 4), *recv = calloc(20001, 4);
  tprt_op op = {.size = sizeof op,
                .kind = TPRT_OP_ALL_REDUCE,
                .dtype = TPRT_F32,
                .reduction = TPRT_SUM,
                .n_dims = 1,
                .shape = {m->count},
                .send = send,
                .recv = recv};
  for (int i = 0; i < 20001; i++)
    recv[i] = 7;
  if (tprt_comm_rank(comm) == m->odd_rank % n)
    mutate(&op, m->field);
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_MISMATCH);
  CHECK(errors, strstr(tprt_last_error(), "operation 1 differs") != NULL);
  for (int i = 0; i < 20001; i++)
    errors += recv[i] != 7;                                            /* no data moved */
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_MISMATCH); /* sticky */
  CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_MISMATCH);
  free(send);
  free(recv);
  return errors;
}

/* The text has what an operation has: a barrier no data, an all-gather no reduction. */
static int mismatch_barrier(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  float own[6] = {0}, all[6 * 8];
  tprt_status status = tprt_comm_rank(comm) == 0
                           ? tprt_barrier(comm, NULL, NULL)
                           : tprt_all_gather(comm, own, all, 6, TPRT_F32, NULL, NULL);
  CHECK_STATUS(errors, status, TPRT_MISMATCH);
  CHECK(errors, strstr(tprt_last_error(), "barrier here, all_gather f32 of 6 elements there") ||
                    strstr(tprt_last_error(), "all_gather f32 of 6 elements here, barrier there") ||
                    !strstr(tprt_last_error(), " here, "));
  return errors;
}

static int mismatch_permute(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, rank = tprt_comm_rank(comm), value = rank, out;
  tprt_pair pairs[] = {{0, 1}, {rank == 2 ? 2 : 1, 0}};
  CHECK_STATUS(errors, tprt_permute(comm, &value, &out, 1, TPRT_I32, pairs, 2, NULL, NULL),
               TPRT_MISMATCH);
  return errors;
}

/* One pair of ranks disagrees about its piece; all ranks are told which. */
static int mismatch_pieces(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  int64_t sends[8], recvs[8];
  int32_t send[64] = {0}, recv[64] = {0};
  for (int i = 0; i < n; i++)
    sends[i] = recvs[i] = 2;
  sends[2] += me == 1;
  CHECK_STATUS(errors,
               tprt_all_to_all_v(comm, send, sends, NULL, recv, recvs, NULL, TPRT_I32, NULL, NULL),
               TPRT_MISMATCH);
  CHECK(errors,
        strstr(tprt_last_error(), "rank 1 sends 3 elements to rank 2, which expects 2") != NULL);
  return errors;
}

/* Counts, roots and factors that are not part of the shape. */
static int mismatch_counts(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm), which = *(int *)argument;
  int64_t counts[] = {3, 2, 4}, other[] = {3, 3, 3};
  int32_t send[64] = {0}, recv[64] = {0};
  const int64_t *mine = me == 2 && which == 0 ? other : counts;
  int root = me == 1 && which == 1 ? 1 : 0;
  tprt_status status = which
                           ? tprt_gather_v(comm, send, recv, mine, NULL, TPRT_I32, root, NULL, NULL)
                           : tprt_all_gather_v(comm, send, recv, mine, NULL, TPRT_I32, NULL, NULL);
  CHECK_STATUS(errors, status, TPRT_MISMATCH);
  CHECK(errors, strstr(tprt_last_error(), which ? "root" : "counts differ") != NULL);
  return errors;
}

/* Every field of a kind, changed on one rank: all ranks report it, and no data moves. */
static int mismatch_fields(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { ROOT = 1, DIM = 2, SPLIT = 4, COUNT = 8, KIND = 16, DTYPE = 32, N_FIELDS = 6 };
  static const struct {
    tprt_op_kind kind, like; /* another kind with the same fields */
    int fields;
  } rows[] = {
      {TPRT_OP_REDUCE, TPRT_OP_ALL_REDUCE, ROOT | COUNT | KIND | DTYPE},
      {TPRT_OP_GATHER, TPRT_OP_ALL_GATHER, ROOT | DIM | COUNT | KIND | DTYPE},
      {TPRT_OP_SCATTER, TPRT_OP_ALL_TO_ALL, ROOT | DIM | COUNT | KIND | DTYPE},
      {TPRT_OP_BROADCAST, TPRT_OP_ALL_GATHER, ROOT | COUNT | KIND | DTYPE},
      {TPRT_OP_ALL_TO_ALL, TPRT_OP_SCATTER, DIM | SPLIT | COUNT | KIND | DTYPE},
      {TPRT_OP_ALL_GATHER_V, TPRT_OP_GATHER_V, COUNT | KIND | DTYPE},
      {TPRT_OP_SCATTER_V, TPRT_OP_REDUCE_SCATTER_V, ROOT | COUNT | DTYPE},
  };
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  float send[256] = {0}, recv[256];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int field = 0; field < N_FIELDS; field++) {
      if (!(rows[i].fields >> field & 1))
        continue;
      tprt_comm *child;
      CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_OK);
      tprt_op op = {.size = sizeof op,
                    .kind = rows[i].kind,
                    .dtype = TPRT_F32,
                    .n_dims = 2,
                    .shape = {n, 2 * n}};
      op.reduction = op.kind == TPRT_OP_REDUCE ? TPRT_SUM : TPRT_NO_REDUCTION;
      op.send = send;
      op.recv = recv;
      if (me == n - 1) {
        op.root = 1 << field == ROOT;
        op.dim = 1 << field == DIM;
        op.split_dim = 1 << field == SPLIT;
        op.shape[1] += 1 << field == COUNT ? n : 0;
        op.kind = 1 << field == KIND ? rows[i].like : op.kind;
        op.dtype = 1 << field == DTYPE ? TPRT_I32 : op.dtype;
      }
      for (int e = 0; e < 256; e++)
        recv[e] = 7;
      CHECK_STATUS(errors, tprt_submit(child, &op, NULL), TPRT_MISMATCH);
      for (int e = 0; e < 256; e++)
        errors += recv[e] != 7;
      tprt_comm_destroy(child);
    }
  }
  CHECK(errors, errors == 0);
  return errors;
}

static void test_mismatch(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int n = 2; n <= 4; n++) {
    for (int field = 0; field < N_MUTATIONS; field++) {
      mutation m = {.field = field, .odd_rank = field + n, .count = field % 2 ? 20000 : 5};
      assert_int_equal(run_threads(n, &config, mismatch, &m), 0);
    }
  }
  assert_int_equal(run_threads(3, &config, mismatch_permute, NULL), 0);
  assert_int_equal(run_threads(2, &config, mismatch_barrier, NULL), 0);
  assert_int_equal(run_threads(4, &config, mismatch_pieces, NULL), 0);
  assert_int_equal(run_threads(3, &config, mismatch_fields, NULL), 0);
  for (int which = 0; which < 2; which++)
    assert_int_equal(run_threads(3, &config, mismatch_counts, &which), 0);
}

/* ---- Failing transfers; `argument` is the kind of failure ---- */

static int bad_transfer(tprt_comm *comm, void *argument) {
  static const struct {
    tprt_status status;
    int64_t sent, expected;
    tprt_dtype dtype;
    const char *text;
  } cases[] = {
      {TPRT_MISMATCH, 5, 4, TPRT_F32,
       "rank 0 sends 5 f32 to rank 1 with tag 9, which expects 4 f32"},
      {TPRT_MISMATCH, 5, 5, TPRT_I32, "which expects 5 i32"},
      {TPRT_TIMEOUT, 5, -1, TPRT_F32, "rank 1 did not arrive in time"},
      {TPRT_PEER_DEAD, 5, -2, TPRT_F32, "rank 1 ended or destroyed its communicator"},
  };
  int errors = 0, me = tprt_comm_rank(comm), i = *(int *)argument;
  float data[8] = {0};
  tprt_comm *child;
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_OK);
  if (me == 0) {
    tprt_op op = tprt_op_send(data, cases[i].sent, TPRT_F32, 1, 9);
    op.timeout_ns = cases[i].status == TPRT_TIMEOUT ? 50000000 : 0;
    CHECK_STATUS(errors, tprt_submit(child, &op, NULL), cases[i].status);
    CHECK(errors, strstr(tprt_last_error(), cases[i].text) != NULL);
    CHECK_STATUS(errors, tprt_comm_status(child), cases[i].status);
  } else if (me == 1 && cases[i].expected >= 0) {
    CHECK_STATUS(errors,
                 tprt_recv(child, data, cases[i].expected, cases[i].dtype, 0, 9, NULL, NULL),
                 TPRT_MISMATCH);
  } else if (cases[i].status == TPRT_TIMEOUT) {
    /* of rank 0, which has given up */
    CHECK_STATUS(errors, tprt_barrier(child, NULL, NULL), TPRT_TIMEOUT);
  }
  tprt_comm_destroy(child);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  return errors;
}

static void test_transfers(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int i = 0; i < 4; i++)
    assert_int_equal(run_threads(3, &config, bad_transfer, &i), 0);
}

/* A pending transfer ends when another rank gives up one of its own. */
static int given_up_elsewhere(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm);
  int32_t data = 0;
  double begin = test_seconds();
  (void)argument;
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  tprt_op op = tprt_op_recv(&data, 1, TPRT_I32, 2, 4);
  op.timeout_ns = me == 0 ? 50000000 : 0;
  if (me < 2) {
    CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_TIMEOUT);
    CHECK(errors, strstr(tprt_last_error(), "rank 2 did not arrive in time") != NULL);
    CHECK(errors, test_seconds() - begin < 10); /* the others' timeout is 20 seconds */
  } else {
    while (!tprt_comm_status(comm) && test_seconds() - begin < 10)
      /* without a receiver: ends with the others */
      (void)tprt_send(comm, &data, 1, TPRT_I32, 0, 5, NULL, NULL);
    CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_TIMEOUT);
  }
  return errors;
}

static void test_given_up_elsewhere(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(3, &config, given_up_elsewhere, NULL), 0);
}

/* A missing signal, from a rank that is late or has left. */
static int no_signal(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm);
  bool leaves = *(bool *)argument;
  tprt_comm *child;
  tprt_window *window;
  if (!(tprt_comm_capabilities(comm) & TPRT_CAP_WINDOWS))
    return 0;
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_create(child, NULL, 0, &window), TPRT_OK);
  if (me == 0) {
    tprt_status expected = leaves ? TPRT_PEER_DEAD : TPRT_TIMEOUT;
    CHECK_STATUS(errors, tprt_window_wait_signal(window, 1, 1, leaves ? 0 : 30000000), expected);
    CHECK(errors, strstr(tprt_last_error(), "rank 1 ") != NULL);
    CHECK_STATUS(errors, tprt_window_signal(window, 1), expected); /* sticky */
  } else if (leaves) {
    CHECK_STATUS(errors, tprt_comm_finalize(child), TPRT_OK);
  }
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  CHECK(errors, tprt_window_destroy(window) != TPRT_OK);
  tprt_comm_destroy(child);
  return errors;
}

static void test_no_signal(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int i = 0; i < 2; i++) {
    bool leaves = i;
    assert_int_equal(run_threads(2, &config, no_signal, &leaves), 0);
  }
}

/* ---- Timeouts ---- */

static int too_late(tprt_comm *comm, void *argument) {
  _Atomic int *n_done = argument;
  int errors = 0;
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (tprt_comm_rank(comm) == 1) { /* arrives after all others have given up */
    while (atomic_load(n_done) < tprt_comm_size(comm) - 1)
      usleep(1000);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_TIMEOUT);
    return errors;
  }
  tprt_op op = {.size = sizeof op, .kind = TPRT_OP_BARRIER, .timeout_ns = 50000000};
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_TIMEOUT);
  CHECK(errors, strstr(tprt_last_error(), "rank 1 did not arrive in time") != NULL);
  atomic_fetch_add(n_done, 1);
  return errors;
}

static void test_timeout(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int n = 2; n <= 4; n++) {
    _Atomic int n_done = 0;
    assert_int_equal(run_threads(n, &config, too_late, &n_done), 0);
  }
}

/* ---- Death of a process ---- */

typedef struct death {
  int rank, point;
} death;

static int die(tprt_comm *comm, void *argument) {
  const death *d = argument;
  int errors = 0, me = tprt_comm_rank(comm);
  float data[9000];
  /* otherwise the world may detect the death during its creation */
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  for (int i = 0; i < 4; i++) {
    if (i == d->point && me == d->rank)
      raise(SIGKILL);
    for (int j = 0; j < 9000; j++)
      data[j] = 1;
    tprt_status status = tprt_all_reduce(comm, data, data, 9000, TPRT_F32, TPRT_SUM, NULL, NULL);
    if (!status)
      continue;
    CHECK_STATUS(errors, status, TPRT_PEER_DEAD);
    CHECK(errors, i == d->point);
    char who[32] = "rank 0 ended";
    who[5] = (char)('0' + d->rank);
    CHECK(errors, strstr(tprt_last_error(), who) != NULL);
    return errors;
  }
  return 1; /* no rank died */
}

static void test_peer_dead(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  for (int rank = 0; rank < 3; rank++) {
    for (int point = 0; point < 3; point++) {
      death d = {rank, point};
      int status[3];
      double begin = test_seconds();
      assert_int_equal(run_processes(3, &config, die, &d, status), 1);
      for (int i = 0; i < 3; i++)
        assert_true(i == rank ? WIFSIGNALED(status[i])
                              : WIFEXITED(status[i]) && WEXITSTATUS(status[i]) == 0);
      assert_true(test_seconds() - begin < 15); /* well before the timeout of the world */
    }
  }
}

/* A rank that leaves early is detected as well. */
static int leave(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  tprt_comm *child;
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_OK);
  if (tprt_comm_rank(comm) != 1)
    CHECK_STATUS(errors, tprt_barrier(child, NULL, NULL), TPRT_PEER_DEAD);
  tprt_comm_destroy(child);
  /* the parent communicator is intact */
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  return errors;
}

static void test_leave(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(3, &config, leave, NULL), 0);
}

/* A worker that never joins. */
static int join_alone(tprt_comm *comm, void *argument) {
  (void)comm;
  (void)argument;
  return 0;
}

static void test_join(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  config.timeout_ns = 30000000;
  tprt_comm *comm;
  int fd;
  assert_int_equal(tprt_shm_segment_create(2, &config, &fd), TPRT_OK);
  config.segment_fd = fd;
  assert_int_equal(tprt_world_create(2, 0, &config, &comm), TPRT_TIMEOUT);
  assert_non_null(strstr(tprt_last_error(), "rank 1 did not"));
  assert_int_equal(tprt_world_create(2, 0, &config, &comm), TPRT_INVALID_STATE); /* taken */
  assert_int_equal(tprt_world_create(3, 2, &config, &comm), TPRT_INVALID_ARGUMENT);
  close(fd);
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  config.segment_fd = pipes[0];
  assert_int_not_equal(tprt_world_create(2, 0, &config, &comm), TPRT_OK); /* no segment */
  close(pipes[0]);
  close(pipes[1]);
  config = test_config();
  assert_int_equal(run_threads(1, &config, join_alone, NULL), 0);
}

/* A rank that has no descriptor left to watch the other with: it would not notice its death. */
static void test_unwatched(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  config.timeout_ns = 20000000000;
  tprt_comm *comm;
  int fd;
  assert_int_equal(tprt_shm_segment_create(2, &config, &fd), TPRT_OK);
  config.segment_fd = fd;
  pid_t peer = fork();
  assert_true(peer >= 0);
  if (peer == 0) {
    int errors = 0;
    CHECK_STATUS(errors, tprt_world_create(2, 1, &config, &comm), TPRT_OK);
    if (!errors) {
      CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_PEER_DEAD);
      tprt_comm_destroy(comm);
    }
    _exit(errors);
  }
  struct rlimit all, few;
  int next = dup(fd), status;
  close(next);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
  few = (struct rlimit){.rlim_cur = (rlim_t)next + 1, .rlim_max = all.rlim_max}; /* the segment */
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  tprt_status made = tprt_world_create(2, 0, &config, &comm);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
  assert_int_equal(made, TPRT_SYSTEM);
  assert_string_equal(tprt_last_error(),
                      "the process of rank 1 cannot be watched: Too many open files");
  assert_int_equal(waitpid(peer, &status, 0), peer);
  assert_int_equal(status, 0);
  close(fd);
}

/* ---- Abort ---- */

static void *abort_soon(void *comm) {
  usleep(20000);
  tprt_comm_abort(comm);
  return NULL;
}

static int aborted(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  pthread_t thread;
  if (tprt_comm_rank(comm) == 0) { /* does not wait; another thread aborts */
    CHECK(errors, pthread_create(&thread, NULL, abort_soon, comm) == 0);
    pthread_join(thread, NULL);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_INVALID_STATE);
  } else {
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_ABORTED);
    CHECK(errors, strstr(tprt_last_error(), "rank 0 aborted") != NULL);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_INVALID_STATE);
  }
  return errors;
}

static void test_abort(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(2, &config, aborted, NULL), 0);
  assert_int_equal(run_threads(5, &config, aborted, NULL), 0);
}

/* A rank that has its results aborts the communicator: the others still get the results it
 * contributed to. */
static int aborted_after(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm), sum = 0;
  CHECK_STATUS(errors, tprt_all_reduce(comm, &me, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, sum == n * (n - 1) / 2);
  CHECK_STATUS(errors, tprt_comm_abort(comm), TPRT_OK);
  return errors;
}

static void test_aborted_after(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int i = 0; i < 20; i++)
    assert_int_equal(run_threads(4, &config, aborted_after, NULL), 0);
}

/* ---- Memory of a window that its rank frees after a failure, while a peer is still writing to it
 * ---- */

enum { LARGE_BYTES = 128 << 20 };

typedef struct putting {
  char *source;
  bool stops; /* ranks are processes, and the writing one is stopped */
} putting;

/* Polls memory to detect an unannounced put: an intended race. */
__attribute__((no_sanitize("thread"))) static char look(const void *memory, size_t at) {
  return ((const volatile char *)memory)[at];
}

static int put_while_failing(tprt_comm *world, void *argument) {
  const putting *p = argument;
  int errors = 0, me = tprt_comm_rank(world), pid = (int)getpid();
  tprt_comm *comm;
  tprt_window *window;
  void *memory, *again;
  CHECK_STATUS(errors, tprt_comm_split(world, 0, 0, &comm), TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_alloc(comm, LARGE_BYTES, &memory), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_create(comm, memory, LARGE_BYTES, &window), TPRT_OK);
  CHECK_STATUS(errors, tprt_broadcast(world, &pid, &pid, 1, TPRT_I32, 0, NULL, NULL), TPRT_OK);
  if (errors)
    return errors;
  if (me == 0) {
    tprt_status status = tprt_window_put(window, 1, 0, p->source, LARGE_BYTES);
    CHECK(errors, status == TPRT_OK || status == TPRT_ABORTED);
    CHECK_STATUS(errors, tprt_barrier(world, NULL, NULL), TPRT_OK); /* the other rank has ended */
    CHECK_STATUS(errors, tprt_window_destroy(window), TPRT_ABORTED);
  } else {
    /* the other rank has written half, in either direction of memmove */
    while (!look(memory, LARGE_BYTES / 2))
      sched_yield();
    if (p->stops)
      kill(pid, SIGSTOP);
    tprt_comm_abort(comm);
    CHECK(errors, tprt_window_destroy(window) != TPRT_OK);
    tprt_mem_free(comm, memory);
    CHECK_STATUS(errors, tprt_mem_alloc(world, LARGE_BYTES, &again), TPRT_OK);
    /* memory that the stopped rank may still write is not reused */
    CHECK(errors, (again == memory) == !p->stops);
    volatile char *last = (volatile char *)again + LARGE_BYTES - 1;
    *last = 1;
    if (p->stops)
      kill(pid, SIGCONT);
    CHECK_STATUS(errors, tprt_barrier(world, NULL, NULL), TPRT_OK);
    CHECK(errors, *last == 1);
    memory = again;
  }
  tprt_mem_free(world, memory);
  tprt_comm_destroy(comm);
  return errors;
}

static void test_put_while_failing(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  config.arena_bytes = 4 * (size_t)LARGE_BYTES;
  putting p = {.source = malloc(LARGE_BYTES)};
  assert_non_null(p.source);
  memset(p.source, 7, LARGE_BYTES);
  for (int i = 0; i < 3; i++)
    assert_int_equal(run_threads(2, &config, put_while_failing, &p), 0);
  p.stops = true;
  assert_int_equal(run_processes(2, &config, put_while_failing, &p, NULL), 0);
  free(p.source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_put_while_failing),
      cmocka_unit_test(test_peer_dead), /* first, because fork requires a process without threads */
      cmocka_unit_test(test_mismatch),
      cmocka_unit_test(test_transfers),
      cmocka_unit_test(test_given_up_elsewhere),
      cmocka_unit_test(test_no_signal),
      cmocka_unit_test(test_timeout),
      cmocka_unit_test(test_leave),
      cmocka_unit_test(test_join),
      cmocka_unit_test(test_unwatched),
      cmocka_unit_test(test_abort),
      cmocka_unit_test(test_aborted_after),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
