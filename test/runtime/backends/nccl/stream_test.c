/* Tests streams of the caller: order on the device, work completion, events, capture, failures
 * without a waiter. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "streams.h"

#include <string.h>
#include <time.h>

enum { N = 3, COUNT = 64 };

typedef int stream_fn(tprt_comm *comm, int me, float *data, void **streams);

/* Runs a function on every rank with a buffer and two streams. */
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

/* Transfers and a collective in one batch; different streams in one batch are rejected. */
static int batch(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *handle;
  tprt_op ops[] = {tprt_op_send(data, 1, TPRT_F32, (me + 1) % N, 0),
                   tprt_op_recv(data + 1, 1, TPRT_F32, (me + N - 1) % N, 0),
                   tprt_op_flat(TPRT_OP_ALL_REDUCE, data + 1, data + 2, 1, TPRT_F32, streams[0])};
  ops[2].reduction = TPRT_SUM;
  ops[0].stream = streams[0];
  ops[1].stream = streams[1];
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, 3, &handle), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "op 0 and op 1 of the batch use different streams"));
  ops[1].stream = streams[0];
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, 3, &handle), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait(handle, 0), TPRT_OK);
  tprt_work_destroy(handle);
  CHECK(errors, data[1] == (float)((me + N - 1) % N) && data[2] == 3);
  return errors;
}

/* A communicator waits for a stream, and a stream for everything submitted. */
static int events(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_event *event;
  CHECK_STATUS(errors, tprt_event_create(&event), TPRT_OK);
  machine_delay(streams[0], 20);
  CHECK_STATUS(errors, tprt_broadcast(comm, data, data, 1, TPRT_F32, 1, streams[0], NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_record(event, comm, streams[0]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_wait(event, comm, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_event_test(event), TPRT_OK);
  CHECK(errors, data[0] == N && me < N);
  machine_delay(streams[0], 20);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], NULL),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_event_record(event, comm, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_wait(event, comm, streams[1]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_sync(event, 0), TPRT_OK);
  CHECK(errors, data[0] == N * N);
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
  CHECK_STATUS(errors,
               tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, streams[0], NULL),
               TPRT_OK);
  CHECK(errors, data[0] == (float)me); /* no work has run */
  machine_capture(streams[0], false);
  CHECK_STATUS(errors,
               tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, streams[0], &handle),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait(handle, 0), TPRT_OK);
  tprt_work_destroy(handle);
  CHECK(errors, data[0] == 9);
  return errors;
}

/* A capture with a work handle is rejected, without side effects. */
static int capture_work(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *handle;
  machine_capture(streams[0], true);
  CHECK_STATUS(errors,
               tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], &handle),
               TPRT_INVALID_STATE);
  CHECK(errors, strstr(tprt_last_error(), "captured in a graph has no work handle") && me < N);
  machine_capture(streams[0], false);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK); /* no side effects */
  return errors;
}

/* A missing rank is detected without a waiter: by the work, and by the next call. */
static int timeout(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *handle;
  const struct timespec later = {.tv_nsec = 600000000};
  if (me == 2) {
    nanosleep(&later, NULL);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_TIMEOUT);
    return errors;
  }
  CHECK_STATUS(errors,
               tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], &handle),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait(handle, 0), TPRT_TIMEOUT);
  CHECK(errors, strstr(tprt_last_error(), "did not finish in time"));
  tprt_work_destroy(handle);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], NULL),
               TPRT_TIMEOUT);
  CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_TIMEOUT);
  return errors;
}

/* ---- Tests that also run on GPUs ---- */

static int ordinal_of(const tprt_comm *comm) {
  return tprt_comm_world_rank(comm, tprt_comm_rank(comm));
}
void *nccl_take(tprt_comm *comm, size_t bytes) { return machine_alloc(ordinal_of(comm), bytes); }
void nccl_give(tprt_comm *comm, void *block) { machine_free(ordinal_of(comm), block); }
void *nccl_stream(tprt_comm *comm) { return machine_stream(ordinal_of(comm)); }
void nccl_stream_destroy(tprt_comm *comm, void *stream) {
  machine_stream_destroy(ordinal_of(comm), stream);
}
void nccl_delay(void *stream, int ms) { machine_delay(stream, ms); }

void nccl_write(tprt_comm *comm, void *to, const void *from, size_t bytes) {
  (void)comm;
  memcpy(to, from, bytes);
}

void nccl_read(tprt_comm *comm, void *to, const void *from, size_t bytes) {
  nccl_write(comm, to, from, bytes);
}

static void test_common(void **state) {
  (void)state;
  tprt_config config = machine_config();
  config.timeout_ns = long_ns;
  for (int delay = 0; delay <= 200; delay += 200) {
    for (int n = 1; n <= 4; n++) {
      machine_begin((fake_plan){.most_delay_us = delay});
      assert_int_equal(run_threads(n, &config, nccl_streams, NULL), 0);
      machine_expect_clean();
    }
  }
}

/* ---- Tests that need this machine ---- */

static void test_batch(void **state) { (void)state, run(batch, long_ns); }
static void test_events(void **state) { (void)state, run(events, long_ns); }
static void test_capture(void **state) {
  (void)state;
  run(capture, long_ns);
  run(capture_work, long_ns);
}
static void test_timeout(void **state) { (void)state, run(timeout, 200000000); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_common), cmocka_unit_test(test_batch),
                                     cmocka_unit_test(test_events), cmocka_unit_test(test_capture),
                                     cmocka_unit_test(test_timeout)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
