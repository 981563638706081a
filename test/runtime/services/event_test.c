/* Tests the order between communicators: events, and the fate of work when its communicator
 * ends. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 5000 };

/* Sums over the first communicator are inputs of sums over the second, all in the background. */
static int chain(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, n = tprt_comm_size(comm);
  tprt_comm *other;
  tprt_event *there, *back;
  tprt_work *work = NULL;
  static _Thread_local int32_t data[COUNT];
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &other), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_create(&there), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_create(&back), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_test(there), TPRT_OK); /* marks nothing */
  int32_t expected = 1;
  for (int i = 0; i < COUNT; i++)
    data[i] = 1;
  for (int round = 0; round < 6; round++) {
    CHECK_STATUS(errors, tprt_event_wait(back, comm, NULL), TPRT_OK);
    CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_I32, TPRT_SUM, NULL, &work),
                 TPRT_OK);
    tprt_work_destroy(work);
    CHECK_STATUS(errors, tprt_event_record(there, comm, NULL), TPRT_OK);
    CHECK_STATUS(errors, tprt_event_wait(there, other, NULL), TPRT_OK);
    CHECK_STATUS(errors, tprt_all_reduce(other, data, data, COUNT, TPRT_I32, TPRT_SUM, NULL, &work),
                 TPRT_OK);
    tprt_work_destroy(work);
    CHECK_STATUS(errors, tprt_event_record(back, other, NULL), TPRT_OK);
    expected *= n * n;
  }
  CHECK_STATUS(errors, tprt_event_sync(back, 0), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_test(back), TPRT_OK);
  for (int i = 0; i < COUNT; i++)
    errors += data[i] != expected;
  CHECK(errors, errors == 0);
  CHECK_STATUS(errors, tprt_event_record(back, comm, data), TPRT_UNSUPPORTED);
  CHECK_STATUS(errors, tprt_event_wait(back, comm, data), TPRT_UNSUPPORTED);
  tprt_event_destroy(there);
  tprt_event_destroy(back);
  tprt_comm_destroy(other);
  return errors;
}

static void test_chain(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int n = 1; n <= 3; n++)
    assert_int_equal(run_threads(n, &config, chain, NULL), 0);
}

/* If the work that an event marks fails or does not finish, the waiting communicator fails too. */
static int failing(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm), value = 0;
  bool late = *(bool *)argument;
  tprt_comm *first, *second;
  tprt_event *event;
  tprt_work *barrier, *work;
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &first), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_split(comm, me, 0, &second), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_create(&event), TPRT_OK);
  if (me == 0) { /* the other ranks are missing */
    tprt_op op = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, NULL);
    op.timeout_ns = late ? 1000000000 : 50000000;
    CHECK_STATUS(errors, tprt_submit(first, &op, &barrier), TPRT_OK);
    CHECK_STATUS(errors, tprt_event_record(event, first, NULL), TPRT_OK);
    CHECK_STATUS(errors, tprt_event_test(event), TPRT_IN_PROGRESS);
    CHECK_STATUS(errors, tprt_event_sync(event, 1000000), TPRT_IN_PROGRESS);
    CHECK_STATUS(errors, tprt_event_wait(event, second, NULL), TPRT_OK);
    CHECK_STATUS(errors, tprt_broadcast(second, &value, &value, 1, TPRT_I32, 0, NULL, &work),
                 TPRT_OK);
    if (late) { /* the abort of the waiting communicator takes effect at once */
      usleep(10000);
      tprt_comm_abort(second);
      CHECK_STATUS(errors, tprt_work_wait(work, 500000000), TPRT_INVALID_STATE);
    } else {
      CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_TIMEOUT);
      CHECK_STATUS(errors, tprt_comm_status(second), TPRT_TIMEOUT);
      CHECK_STATUS(errors, tprt_event_test(event), TPRT_TIMEOUT);
      CHECK_STATUS(errors, tprt_event_record(event, first, NULL), TPRT_TIMEOUT);
    }
    tprt_work_destroy(work);
    tprt_work_destroy(barrier);
  }
  tprt_event_destroy(event);
  if (me == 0) /* keeps the others in the world until rank 0 has had its timeout */
    tprt_comm_destroy(first);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (me)
    tprt_comm_destroy(first);
  tprt_comm_destroy(second);
  return errors;
}

static void test_failing(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int late = 0; late < 2; late++) {
    bool argument = late;
    assert_int_equal(run_threads(2, &config, failing, &argument), 0);
  }
}

/* ---- The end of a communicator ---- */

static char logged[2048];
static _Atomic int n_logged;

static void keep(void *user, const char *text) {
  (void)user;
  if (atomic_fetch_add(&n_logged, 1) == 0)
    strncpy(logged, text, sizeof logged - 1);
}

/* Pending work is completed; failures are logged; the work handle outlives the communicator. */
static int pending(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), one = 1, sum = 0;
  tprt_comm *child;
  tprt_work *work;
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_OK);
  CHECK_STATUS(errors, tprt_all_reduce(child, &one, &sum, 1, TPRT_I32, TPRT_SUM, NULL, &work),
               TPRT_OK);
  tprt_comm_destroy(child);
  CHECK_STATUS(errors, tprt_work_test(work), TPRT_OK);
  CHECK(errors, sum == tprt_comm_size(comm));
  tprt_work_destroy(work);
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_OK);
  if (me == 0) {
    tprt_op op = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, NULL);
    op.timeout_ns = 50000000;
    CHECK_STATUS(errors, tprt_submit(child, &op, &work), TPRT_OK);
    double begin = test_seconds();
    tprt_comm_destroy(child);
    CHECK(errors, test_seconds() - begin < 10);
    CHECK_STATUS(errors, tprt_work_test(work), TPRT_TIMEOUT);
    tprt_work_destroy(work);
  }
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (me)
    tprt_comm_destroy(child);
  return errors;
}

static void test_pending(void **state) {
  (void)state;
  const tprt_logger logger = {keep, NULL};
  tprt_config config = test_config();
  tprt_set_logger(&logger);
  assert_int_equal(run_threads(3, &config, pending, NULL), 0);
  tprt_set_logger(NULL);
  assert_int_equal(atomic_load(&n_logged), 1);
  assert_non_null(strstr(
      logged,
      "work was pending when rank 0 destroyed its communicator: rank 1 did not arrive in time"));
}

/* Several threads of one rank submit at once; the operations are identical, so their order does not
 * matter. */
static void *submit_some(void *argument) {
  tprt_comm *comm = argument;
  long errors = 0;
  for (int i = 0; i < 50; i++) {
    int32_t value = 1, sum = 0;
    tprt_work *work = NULL;
    errors += tprt_all_reduce(comm, &value, &sum, 1, TPRT_I32, TPRT_SUM, NULL,
                              i % 2 ? &work : NULL) != TPRT_OK;
    errors += work && tprt_work_wait(work, 0) != TPRT_OK;
    tprt_work_destroy(work);
    errors += sum != tprt_comm_size(comm);
  }
  return (void *)errors;
}

static int many_threads(tprt_comm *comm, void *argument) {
  (void)argument;
  pthread_t threads[4];
  long errors = 0;
  for (int i = 0; i < 4; i++) {
    if (pthread_create(&threads[i], NULL, submit_some, comm) != 0)
      abort();
  }
  for (int i = 0; i < 4; i++) {
    void *result;
    pthread_join(threads[i], &result);
    errors += (long)result;
  }
  return (int)errors;
}

static void test_threads(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(2, &config, many_threads, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain),
      cmocka_unit_test(test_failing),
      cmocka_unit_test(test_pending),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
