/* Streams of the caller: order on the device, work that the device ends, events, capture, failures that nobody waits for. */
#define _GNU_SOURCE 1
#include "machine.h"

#include <string.h>
#include <time.h>

enum { N = 3, COUNT = 64 };

typedef int stream_fn(tprt_comm *comm, int me, float *data, void **streams);

/* Every rank with a buffer and two streams. */
static int with_streams(tprt_comm *comm, void *argument) {
  int me = tprt_comm_rank(comm);
  float *data = machine_alloc(me, 8 * COUNT * sizeof *data);
  void *streams[2] = {machine_stream(me), machine_stream(me)};
  for (int i = 0; i < 8 * COUNT; i++)
    data[i] = (float)(me + i);
  int errors = (*(stream_fn **)argument)(comm, me, data, streams);
  machine_stream_destroy(me, streams[0]);
  machine_stream_destroy(me, streams[1]);
  machine_free(me, data);
  return errors;
}

static void run(stream_fn *fn, int64_t timeout_ns) {
  tprt_config config = machine_config();
  config.timeout_ns = timeout_ns;
  for (int delay = 0; delay <= 200; delay += 200) {
    machine_begin((fake_plan){.most_delay_us = delay});
    assert_int_equal(run_threads(N, &config, with_streams, (void *)(uintptr_t)&fn), 0);
    machine_expect_clean();
  }
}

static const int64_t long_ns = INT64_C(20000000000);

/* Many at once, in order, without waiting in between: each doubles what the one before left. */
static int chain(tprt_comm *comm, int me, float *data, void **streams) {
  enum { STEPS = 8 };
  int errors = 0;
  tprt_work *work = NULL;
  for (int i = 0; i < STEPS; i++) {
    bool last = i == STEPS - 1;
    CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, streams[0], last ? &work : NULL),
                 TPRT_OK);
  }
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(work), TPRT_OK);
  tprt_work_destroy(work);
  for (int i = 0; i < COUNT; i++) /* the first sums ranks, the others are times N */
    errors += data[i] != (float)((N * i + N * (N - 1) / 2) * 2187);
  CHECK(errors, errors == 0 && me < N);
  return errors;
}

/* A work is in progress as long as the device is, and the host goes on meanwhile. */
static int work(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *handle = NULL;
  machine_delay(streams[0], 60);
  CHECK_STATUS(errors, tprt_all_gather(comm, data + COUNT * 4, data, 4, TPRT_F32, streams[0], &handle), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(handle), TPRT_IN_PROGRESS);
  CHECK_STATUS(errors, tprt_work_wait(handle, 1000000), TPRT_IN_PROGRESS);
  CHECK_STATUS(errors, tprt_work_wait(handle, 0), TPRT_OK);
  CHECK(errors, data[0] == COUNT * 4 && data[4] == COUNT * 4 + 1 && data[8] == COUNT * 4 + 2);
  tprt_work_destroy(handle);
  /* Handles may go before, and tprt_sync waits for all. */
  machine_delay(streams[1], 30);
  CHECK_STATUS(errors, tprt_broadcast(comm, data, data, 1, TPRT_F32, 0, streams[1], &handle), TPRT_OK);
  tprt_work_destroy(handle);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data + COUNT, 1, TPRT_F32, TPRT_SUM, streams[1], NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_barrier(comm, streams[1], &handle), TPRT_OK);
  CHECK_STATUS(errors, tprt_sync(comm), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(handle), TPRT_OK);
  CHECK(errors, data[COUNT] == 3 * data[0] && me < N);
  tprt_work_destroy(handle);
  return errors;
}

/* All kinds at once in two streams; those that need scratch memory share it in turn. */
static int scratch(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *works[8];
  float *out = machine_alloc(me, 8 * 6 * N * sizeof *out);
  for (int i = 0; i < 8; i++) {
    tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, data + i * 6, out + i * 6 * N, 2, TPRT_F32, streams[i % 2]);
    op.n_dims = 2;
    op.shape[1] = 3;
    op.dim = 1;
    CHECK_STATUS(errors, tprt_submit(comm, &op, &works[i]), TPRT_OK);
  }
  for (int i = 0; i < 8 && !errors; i++) {
    CHECK_STATUS(errors, tprt_work_wait(works[i], 0), TPRT_OK);
    tprt_work_destroy(works[i]);
    for (int row = 0; row < 2; row++) {
      for (int column = 0; column < 3 * N; column++)
        errors += out[i * 6 * N + row * 3 * N + column] != (float)(column / 3 + i * 6 + row * 3 + column % 3);
    }
  }
  CHECK(errors, errors == 0);
  machine_free(me, out);
  return errors;
}

/* Transfers and a collective in one batch; different streams in one are refused. */
static int batch(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *handle;
  tprt_op ops[] = {tprt_op_send(data, 1, TPRT_F32, (me + 1) % N, 0), tprt_op_recv(data + 1, 1, TPRT_F32, (me + N - 1) % N, 0),
                   tprt_op_flat(TPRT_OP_ALL_REDUCE, data + 1, data + 2, 1, TPRT_F32, streams[0])};
  ops[2].reduction = TPRT_SUM;
  ops[0].stream = streams[0];
  ops[1].stream = streams[1];
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, 3, &handle), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "op 0 and op 1 of the batch name different streams"));
  ops[1].stream = streams[0];
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, 3, &handle), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait(handle, 0), TPRT_OK);
  tprt_work_destroy(handle);
  CHECK(errors, data[1] == (float)((me + N - 1) % N) && data[2] == 3);
  return errors;
}

/* An operation in one stream behind another stream; the host, and a communicator, behind a stream. */
static int events(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_event *event;
  CHECK_STATUS(errors, tprt_event_create(&event), TPRT_OK);
  machine_delay(streams[0], 40);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, streams[0], NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_record(event, comm, streams[0]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_test(event), TPRT_IN_PROGRESS);
  CHECK_STATUS(errors, tprt_event_wait(event, comm, streams[1]), TPRT_OK); /* at once, for the device waits */
  CHECK_STATUS(errors, tprt_event_test(event), TPRT_IN_PROGRESS);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data + COUNT, 1, TPRT_F32, TPRT_SUM, streams[1], NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_record(event, comm, streams[1]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_sync(event, 0), TPRT_OK);
  CHECK(errors, data[0] == 3 && data[COUNT] == 9);
  machine_delay(streams[0], 20);
  CHECK_STATUS(errors, tprt_broadcast(comm, data, data, 1, TPRT_F32, 1, streams[0], NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_record(event, comm, streams[0]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_wait(event, comm, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, NULL, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_test(event), TPRT_OK);
  CHECK(errors, data[0] == 9 && me < N);
  /* Everything submitted, in whatever stream. */
  machine_delay(streams[0], 20);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_record(event, comm, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_wait(event, comm, streams[1]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_sync(event, 0), TPRT_OK);
  CHECK(errors, data[0] == 27);
  tprt_event_destroy(event);
  return errors;
}

static int capture(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *handle;
  tprt_op strided = tprt_op_flat(TPRT_OP_ALL_GATHER, data, data + COUNT, 2, TPRT_F32, streams[0]);
  strided.n_dims = 2;
  strided.shape[1] = 2;
  strided.dim = 1;
  machine_capture(streams[0], true);
  CHECK_STATUS(errors, tprt_submit(comm, &strided, NULL), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "cannot be captured in a graph"));
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, streams[0], NULL), TPRT_OK);
  CHECK(errors, data[0] == (float)me); /* nothing has run */
  machine_capture(streams[0], false);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, streams[0], &handle), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait(handle, 0), TPRT_OK);
  tprt_work_destroy(handle);
  CHECK(errors, data[0] == 9);
  return errors;
}

/* With a work it is refused, and does no harm. */
static int capture_work(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *handle;
  machine_capture(streams[0], true);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], &handle), TPRT_INVALID_STATE);
  CHECK(errors, strstr(tprt_last_error(), "captured in a graph has no work to wait for") && me < N);
  machine_capture(streams[0], false);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK); /* no harm done */
  return errors;
}

/* Nobody waits, and yet a rank that does not come is noticed: by the work, and by whatever comes next. */
static int timeout(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *handle;
  const struct timespec later = {.tv_nsec = 600000000};
  if (me == 2) {
    nanosleep(&later, NULL);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_TIMEOUT);
    return errors;
  }
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], &handle), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait(handle, 0), TPRT_TIMEOUT);
  CHECK(errors, strstr(tprt_last_error(), "did not end in time"));
  tprt_work_destroy(handle);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], NULL), TPRT_TIMEOUT);
  CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_TIMEOUT);
  return errors;
}

static void test_chain(void **state) { (void)state, run(chain, long_ns); }
static void test_work(void **state) { (void)state, run(work, long_ns); }
static void test_scratch(void **state) { (void)state, run(scratch, long_ns); }
static void test_batch(void **state) { (void)state, run(batch, long_ns); }
static void test_events(void **state) { (void)state, run(events, long_ns); }
static void test_capture(void **state) {
  (void)state;
  run(capture, long_ns);
  run(capture_work, long_ns);
}
static void test_timeout(void **state) { (void)state, run(timeout, 200000000); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chain),   cmocka_unit_test(test_work),
                                     cmocka_unit_test(test_scratch), cmocka_unit_test(test_batch),
                                     cmocka_unit_test(test_events),  cmocka_unit_test(test_capture),
                                     cmocka_unit_test(test_timeout)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
