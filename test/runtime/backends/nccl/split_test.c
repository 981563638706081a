/* Tests splits of communicators: by NCCL's split if possible, else with an id of their own;
 * failures during the creation, and independent failures of parent and child. */
#define _GNU_SOURCE 1
#include "machine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 4 };
static const int64_t long_ns = INT64_C(20000000000);

static void nap_ms(int ms) {
  const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

/* Sums the world ranks over a communicator. */
static tprt_status sum(tprt_comm *comm, float *result) {
  int ordinal = tprt_comm_world_rank(comm, tprt_comm_rank(comm));
  float *data = machine_alloc(ordinal, sizeof *data);
  *data = (float)ordinal;
  tprt_status status = tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, NULL, NULL);
  *result = *data;
  machine_free(ordinal, data);
  return status;
}

static int expect_sum(tprt_comm *comm, float expected) {
  int errors = 0;
  float result;
  CHECK_STATUS(errors, sum(comm, &result), TPRT_OK);
  CHECK(errors, result == expected);
  return errors;
}

static fake_report run(rank_fn *fn, int64_t timeout_ns, int delay_us) {
  tprt_config config = machine_config();
  config.timeout_ns = timeout_ns;
  machine_begin((fake_plan){.most_delay_us = delay_us});
  assert_int_equal(run_threads(N, &config, fn, NULL), 0);
  machine_expect_clean();
  return machine_look();
}

/* ---- Members ---- */

/* Ranks 3, 1, 0 in this order; 2 alone; then rank 0 of each is split off, and the others get no
 * communicator. */
static int by_key(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_comm *child, *grandchild = NULL;
  CHECK_STATUS(errors, tprt_comm_split(comm, me == 2 ? 7 : 5, -me, &child), TPRT_OK);
  if (errors)
    return errors;
  CHECK(errors, tprt_comm_size(child) == (me == 2 ? 1 : 3));
  CHECK(errors, tprt_comm_world_rank(child, 0) == (me == 2 ? 2 : 3));
  errors += expect_sum(child, me == 2 ? 2 : 4);
  CHECK_STATUS(errors, tprt_comm_split(child, tprt_comm_rank(child) ? -1 : 0, 0, &grandchild),
               TPRT_OK);
  CHECK(errors, (grandchild == NULL) == (tprt_comm_rank(child) > 0));
  if (grandchild)
    errors += expect_sum(grandchild, (float)me);
  errors += expect_sum(comm, 6);
  tprt_comm_destroy(grandchild);
  tprt_comm_destroy(child);
  return errors;
}

static void test_by_key(void **state) {
  (void)state;
  for (int delay = 0; delay <= 200; delay += 200) {
    fake_report report = run(by_key, long_ns, delay);
    assert_int_equal(report.n_by_id, N);
    assert_int_equal(report.n_by_split, N + 2);
  }
}

/* The other ranks are not involved. */
static int by_list(tprt_comm *comm, void *argument) {
  (void)argument;
  static const int ranks[] = {3, 1};
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_comm *child;
  CHECK_STATUS(errors, tprt_comm_split_ranks(comm, ranks, 2, &child), TPRT_OK);
  CHECK(errors, (child != NULL) == (me % 2 == 1));
  if (child)
    errors += expect_sum(child, 4);
  tprt_comm_destroy(child);
  return errors;
}

/* A send in a stream whose recv comes after the split: NCCL's split would never start. */
static int beside_stream(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  float *data = machine_alloc(me, sizeof *data);
  void *stream = machine_stream(me);
  tprt_comm *child;
  tprt_op send = tprt_op_send(data, 1, TPRT_F32, 3, 0),
          receive = tprt_op_recv(data, 1, TPRT_F32, 0, 0);
  send.stream = receive.stream = stream;
  if (me == 0) /* the first message connects the ranks, and waits for the recv */
    CHECK_STATUS(errors, tprt_submit(comm, &send, NULL), TPRT_OK);
  if (me == 3)
    CHECK_STATUS(errors, tprt_submit(comm, &receive, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_sync(comm), TPRT_OK);
  *data = (float)me + 5;
  machine_delay(stream, 100); /* a send that finds room would end without its recv */
  if (me == 0)
    CHECK_STATUS(errors, tprt_submit(comm, &send, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_OK);
  errors += expect_sum(child, 6);
  if (me == 3)
    CHECK_STATUS(errors, tprt_submit(comm, &receive, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_sync(comm), TPRT_OK);
  CHECK(errors, *data == (float)(me == 3 ? 5 : me + 5));
  tprt_comm_destroy(child);
  machine_stream_destroy(me, stream);
  machine_free(me, data);
  return errors;
}

static void test_by_id(void **state) {
  (void)state;
  fake_report report = run(by_list, long_ns, 50);
  assert_int_equal(report.n_by_id, N + 2);
  assert_int_equal(report.n_by_split, 0);
  report = run(beside_stream, long_ns, 0);
  assert_int_equal(report.n_by_id, 2 * N);
  assert_int_equal(report.n_by_split, 0);
}

/* ---- One fails, the other continues ---- */

static int apart(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  float unused;
  tprt_comm *first, *second;
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &first), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_split(comm, me / 2, 0, &second), TPRT_OK);
  if (errors)
    return errors;
  if (me == 1)
    CHECK_STATUS(errors, tprt_comm_abort(first), TPRT_OK);
  else
    CHECK_STATUS(errors, sum(first, &unused), TPRT_ABORTED);
  errors += expect_sum(second, me / 2 ? 5 : 1);
  errors += expect_sum(comm, 6);
  if (me == 2)
    nap_ms(100); /* until the others have completed their sum, too */
  if (me == 2)
    CHECK_STATUS(errors, tprt_comm_abort(comm), TPRT_OK);
  else
    CHECK_STATUS(errors, sum(comm, &unused), TPRT_ABORTED);
  errors += expect_sum(second, me / 2 ? 5 : 1);
  tprt_comm_destroy(first);
  tprt_comm_destroy(second);
  return errors;
}

static void test_apart(void **state) {
  (void)state;
  run(apart, long_ns, 50);
}

/* ---- Failures during a split ---- */

static int without_one(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_comm *child = NULL;
  if (me == 3)
    nap_ms(600);
  tprt_status status = tprt_comm_split(comm, me / 2, 0, &child);
  CHECK(errors, status == TPRT_TIMEOUT && !child);
  return errors;
}

static void *abort_soon(void *comm) {
  nap_ms(100);
  tprt_comm_abort(comm);
  return NULL;
}

/* NCCL does not finish; an abort by another thread ends the call. */
static int stopped(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  pthread_t thread;
  tprt_comm *child = NULL;
  if (me == 1 && pthread_create(&thread, NULL, abort_soon, comm) != 0)
    abort();
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_ABORTED);
  CHECK(errors, strstr(tprt_last_error(), "rank 1 aborted the communicator") && !child);
  if (me == 1)
    pthread_join(thread, NULL);
  return errors;
}

static void run_hanging(rank_fn *fn, int64_t timeout_ns) {
  tprt_config config = machine_config();
  config.timeout_ns = timeout_ns;
  machine_begin((fake_plan){.hang_on = "ncclCommSplit"});
  assert_int_equal(run_threads(N, &config, fn, NULL), 0);
  assert_string_equal(machine_look().failed, "ncclCommSplit");
  machine_expect_clean();
}

static int timed_out(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  tprt_comm *child = NULL;
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_TIMEOUT);
  CHECK(errors, !child);
  return errors;
}

static void test_failures(void **state) {
  (void)state;
  run(without_one, 200000000, 0);
  run_hanging(timed_out, 200000000);
  run_hanging(stopped, long_ns);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_key), cmocka_unit_test(test_by_id),
                                     cmocka_unit_test(test_apart), cmocka_unit_test(test_failures)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
