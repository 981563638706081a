/* Tests races between two ranks, or two threads of one rank, at critical moments. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- A rank that gives up while a peer reads its memory ---- */

/* Rank 1 reads slowly from rank 0, which gives up waiting. Then rank 0 may change its memory, so
 * the data that rank 1 has read is invalid, and rank 1 must not report success. */
static int given_up(tprt_comm *comm, void *argument) {
  tprt_status *statuses = argument;
  int errors = 0, me = tprt_comm_rank(comm);
  enum { BYTES = 48 << 20 };
  void *send, *recv = malloc(BYTES);
  CHECK_STATUS(errors, tprt_mem_alloc(comm, BYTES, &send), TPRT_OK);
  if (errors)
    return errors;
  memset(send, 1, BYTES);
  const tprt_pair pair = {0, 1};
  tprt_op op = {.size = sizeof op,
                .kind = TPRT_OP_PERMUTE,
                .dtype = TPRT_U8,
                .n_dims = 1,
                .shape = {BYTES},
                .send = send,
                .recv = recv,
                .pairs = &pair,
                .n_pairs = 1,
                .timeout_ns = me == 0 ? 2000000 : 0};
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  statuses[me] = tprt_submit(comm, &op, NULL);
  tprt_mem_free(comm, send);
  free(recv);
  return errors;
}

static void test_given_up(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.arena_bytes = 64 << 20;
  for (int i = 0; i < 3; i++) { /* if rank 0 is the slower one by chance, both succeed */
    tprt_status statuses[2] = {TPRT_INTERNAL, TPRT_INTERNAL};
    assert_int_equal(run_threads(2, &config, given_up, statuses), 0);
    assert_true(statuses[0] == TPRT_OK || statuses[0] == TPRT_TIMEOUT);
    assert_int_equal(statuses[1], statuses[0]);
  }
}

/* ---- A rank that joined a world but gave up waiting for it ---- */

static void test_abandoned_world(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  tprt_comm *comm;
  int fd;
  assert_int_equal(tprt_shm_segment_create(2, &config, &fd), TPRT_OK);
  config.segment_fd = fd;
  config.timeout_ns = 10000000;
  assert_int_equal(tprt_world_create(2, 0, &config, &comm), TPRT_TIMEOUT);
  config.timeout_ns = 3000000000;
  assert_int_equal(tprt_world_create(2, 1, &config, &comm), TPRT_OK); /* all have joined by now */
  assert_int_equal(tprt_barrier(comm, NULL, NULL), TPRT_PEER_DEAD);   /* and one has left */
  assert_non_null(strstr(tprt_last_error(), "rank 0"));
  tprt_comm_destroy(comm);
  close(fd);
}

/* ---- Communicators over axes, from two threads of a rank ---- */

static const int64_t mesh[] = {2, 2};
static const int32_t rows[] = {0}, columns[] = {1};

static void *make_columns(void *comm) {
  tprt_comm *child;
  return (void *)(intptr_t)tprt_comm_axes(comm, 2, mesh, 1, columns, &child);
}

/* Rank 0 creates a communicator in a second thread, while the others first wait for a message on an
 * existing one. */
static int two_threads(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, one = 1, sum;
  tprt_comm *child;
  pthread_t thread;
  void *result = NULL;
  CHECK_STATUS(errors, tprt_comm_axes(comm, 2, mesh, 1, rows, &child), TPRT_OK);
  if (tprt_comm_rank(comm) == 0) {
    CHECK(errors, pthread_create(&thread, NULL, make_columns, comm) == 0);
    usleep(20000); /* it is now waiting for the others */
  }
  CHECK_STATUS(errors, tprt_comm_axes(comm, 2, mesh, 1, rows, &child), TPRT_OK);
  if (!errors)
    CHECK_STATUS(errors, tprt_all_reduce(child, &one, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
  if (tprt_comm_rank(comm) == 0)
    pthread_join(thread, &result);
  else
    result = make_columns(comm);
  CHECK(errors, (intptr_t)result == TPRT_OK);
  return errors;
}

static void test_two_threads(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.timeout_ns = 3000000000;
  assert_int_equal(run_threads(4, &config, two_threads, NULL), 0);
}

/* Two groups of every rank work concurrently, each in its own thread, on staged and registered
 * buffers. */
typedef struct axis_job {
  tprt_comm *comm;
  int errors;
} axis_job;

static void *work_on_axis(void *argument) {
  axis_job *job = argument;
  enum { COUNT = 6000 };
  int me = tprt_comm_world_rank(job->comm, tprt_comm_rank(job->comm));
  int expected = tprt_comm_world_rank(job->comm, 0) + tprt_comm_world_rank(job->comm, 1);
  int32_t *staged = malloc(COUNT * sizeof *staged);
  void *registered = NULL;
  CHECK_STATUS(job->errors, tprt_mem_alloc(job->comm, COUNT * sizeof *staged, &registered),
               TPRT_OK);
  for (int i = 0; i < 60 && !job->errors; i++) {
    int32_t *data = i % 2 ? staged : registered;
    for (int j = 0; j < COUNT; j++)
      data[j] = me;
    CHECK_STATUS(job->errors,
                 tprt_all_reduce(job->comm, data, data, COUNT, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
    for (int j = 0; j < COUNT; j++)
      job->errors += data[j] != expected;
  }
  tprt_mem_free(job->comm, registered);
  free(staged);
  return NULL;
}

static int both_axes(tprt_comm *comm, void *argument) {
  (void)argument;
  axis_job jobs[2] = {{NULL, 0}, {NULL, 0}};
  pthread_t thread;
  int errors = 0;
  CHECK_STATUS(errors, tprt_comm_axes(comm, 2, mesh, 1, rows, &jobs[0].comm), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_axes(comm, 2, mesh, 1, columns, &jobs[1].comm), TPRT_OK);
  if (errors)
    return errors;
  CHECK(errors, pthread_create(&thread, NULL, work_on_axis, &jobs[1]) == 0);
  work_on_axis(&jobs[0]);
  pthread_join(thread, NULL);
  return errors + jobs[0].errors + jobs[1].errors;
}

static void test_both_axes(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(4, &config, both_axes, NULL), 0);
}

/* ---- The lane of a communicator ---- */

/* Threads of every rank submit to one communicator, concurrently and in the background: operations
 * run one at a time, and in the order of their thread. All are identical, so any of them can
 * match. */
static void *share_lane(void *argument) {
  axis_job *job = argument;
  enum { N_TURNS = 400 };
  for (int i = 0; i < N_TURNS && !job->errors; i++) {
    int32_t one = 1, later = 0, now = 0;
    tprt_work *work = NULL;
    if (i % 2)
      CHECK_STATUS(job->errors,
                   tprt_all_reduce(job->comm, &one, &later, 1, TPRT_I32, TPRT_SUM, NULL, &work),
                   TPRT_OK);
    CHECK_STATUS(job->errors,
                 tprt_all_reduce(job->comm, &one, &now, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
    CHECK(job->errors, now == 2);
    if (work) {
      CHECK_STATUS(job->errors, tprt_work_test(work), TPRT_OK);
      CHECK(job->errors, later == 2);
      CHECK_STATUS(job->errors, tprt_work_wait(work, 0), TPRT_OK);
    }
    tprt_work_destroy(work);
  }
  return NULL;
}

static int lane(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { N_THREADS = 3 };
  axis_job jobs[N_THREADS];
  pthread_t threads[N_THREADS];
  int errors = 0;
  for (int i = 0; i < N_THREADS; i++) {
    jobs[i] = (axis_job){comm, 0};
    CHECK(errors, pthread_create(&threads[i], NULL, share_lane, &jobs[i]) == 0);
  }
  for (int i = 0; i < N_THREADS; i++) {
    pthread_join(threads[i], NULL);
    errors += jobs[i].errors;
  }
  return errors;
}

static void test_lane(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(2, &config, lane, NULL), 0);
}

/* An abort during the creation of axis communicators leaves none that works. */
static void *abort_world(void *comm) {
  usleep(500);
  tprt_comm_abort(comm);
  return NULL;
}

static int abort_while_made(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  pthread_t thread;
  bool aborts = tprt_comm_rank(comm) == 0;
  tprt_comm *child;
  if (aborts)
    CHECK(errors, pthread_create(&thread, NULL, abort_world, comm) == 0);
  for (int i = 0; !tprt_comm_status(comm); i++) {
    if (tprt_comm_axes(comm, 2, mesh, 1, i % 2 ? rows : columns, &child) ||
        tprt_barrier(child, NULL, NULL) || tprt_barrier(comm, NULL, NULL))
      break;
  }
  if (aborts) {
    /* its own communicators have ended with their parent; cached ones are still found */
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
      if (!tprt_comm_axes(comm, 2, mesh, 1, i ? rows : columns, &child))
        CHECK(errors, tprt_comm_status(child) != TPRT_OK);
    }
  }
  return errors;
}

static void test_abort_while_made(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int i = 0; i < 30; i++)
    assert_int_equal(run_threads(4, &config, abort_while_made, NULL), 0);
}

/* ---- Memory of a world, used through the communicator of a group of one ---- */

static int shared_memory(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  tprt_comm *alone;
  void *blocks[2];
  CHECK_STATUS(errors, tprt_comm_axes(comm, 2, mesh, 0, rows, &alone), TPRT_OK);
  if (errors)
    return errors;
  for (int i = 0; i < 8; i++) { /* twice as much as the arena holds, unless memory is returned */
    CHECK_STATUS(errors, tprt_mem_alloc(i % 2 ? comm : alone, 4 << 20, &blocks[0]), TPRT_OK);
    if (!errors)
      tprt_mem_free(i % 2 ? alone : comm, blocks[0]);
  }
  CHECK_STATUS(errors, tprt_mem_alloc(alone, 12 << 20, &blocks[0]), TPRT_OK);
  /* they share one arena of 16 MiB */
  CHECK_STATUS(errors, tprt_mem_alloc(comm, 12 << 20, &blocks[1]), TPRT_NO_MEMORY);
  return errors;
}

static void test_shared_memory(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  assert_int_equal(run_threads(4, &config, shared_memory, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_given_up),
      cmocka_unit_test(test_abandoned_world),
      cmocka_unit_test(test_two_threads),
      cmocka_unit_test(test_both_axes),
      cmocka_unit_test(test_abort_while_made),
      cmocka_unit_test(test_shared_memory),
      cmocka_unit_test(test_lane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
