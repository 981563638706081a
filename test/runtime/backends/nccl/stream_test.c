/* Tests streams of the caller: order on the device, work completion, events, capture, failures
 * without a waiter. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "streams.h"

#include <stdatomic.h>
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
               tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_MAX, streams[0], NULL),
               TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "all_reduce: NCCL does not compute max of f32 as tprt"));
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

/* A user's capture in GLOBAL mode, which prohibits unsafe calls to all threads of the process,
 * while the device still works for the library, and while the library is used for other things. */
static int undisturbed(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *work;
  void *memory;
  const struct timespec soon = {.tv_nsec = 20000000};
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  machine_delay(streams[1], 60);
  CHECK_STATUS(errors,
               tprt_all_reduce(comm, data + 1, data + 1, 1, TPRT_F32, TPRT_SUM, streams[1], &work),
               TPRT_OK);
  machine_capture_begin(streams[0], MACHINE_GLOBAL);
  nanosleep(&soon, NULL); /* the operation above is watched meanwhile */
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], NULL),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_alloc(comm, 64, &memory), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(work), TPRT_IN_PROGRESS);
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  tprt_mem_free(comm, memory);
  void *graph = machine_capture_end(streams[0]);
  CHECK(errors, graph != NULL);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK); /* all captures have ended */
  tprt_work_destroy(work);
  if (!graph)
    return errors;
  machine_replay(graph, streams[0]);
  machine_synchronize(streams[0]);
  CHECK(errors, data[0] == 3 && me < N);
  machine_graph_free(graph);
  return errors;
}

/* A missing rank is detected without a waiter: by the work, and by the next call. */
static int timeout(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *handle;
  const struct timespec later = {.tv_nsec = 600000000};
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK); /* connects the ranks */
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

/* The first operation connects the ranks: it waits for them on the host. */
static int timeout_of_first(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  const struct timespec later = {.tv_nsec = 600000000};
  if (me == 2)
    nanosleep(&later, NULL);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], NULL),
               TPRT_TIMEOUT);
  return errors;
}

/* A failure without a handle is the result of tprt_sync. */
static int timeout_at_sync(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (me != 2)
    CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], NULL),
                 TPRT_OK);
  const struct timespec later = {.tv_nsec = 600000000};
  if (me == 2)
    nanosleep(&later, NULL);
  CHECK_STATUS(errors, tprt_sync(comm), TPRT_TIMEOUT);
  return errors;
}

/* ---- The end of operations ---- */

enum { DELAY_MS = 60, TEXT_BYTES = 1 << 14 };

static void append(void *user, const char *text, size_t n) {
  char *all = user;
  size_t length = strlen(all);
  if (length + n < TEXT_BYTES)
    memcpy(all + length, text, n);
}

/* Returns true if the flight recorder has the text. */
static bool flight_has(tprt_comm *comm, const char *text) {
  char all[TEXT_BYTES] = "";
  return tprt_comm_flight(comm, TPRT_FLIGHT_JSON, append, all) == TPRT_OK && strstr(all, text);
}

typedef struct seen {
  _Atomic int n_post, n_start, n_end, status;
  _Atomic int64_t ns;
} seen;

static void on_start(void *user, tprt_comm *comm, const tprt_op_info *op) {
  (void)comm;
  atomic_fetch_add(&((seen *)user)->n_start, op->stream != NULL);
}

static void on_post(void *user, tprt_comm *comm, const tprt_op_info *op, tprt_status status,
                    int64_t ns) {
  (void)comm;
  (void)op;
  (void)ns;
  atomic_fetch_add(&((seen *)user)->n_post, status == TPRT_OK);
}

static void on_end(void *user, tprt_comm *comm, const tprt_op_info *op, tprt_status status,
                   int64_t ns) {
  seen *s = user;
  (void)comm;
  (void)op;
  atomic_store(&s->ns, ns);
  atomic_store(&s->status, (int)status);
  atomic_fetch_add(&s->n_end, 1);
}

/* The record and the hook `end` of an operation come when the device has finished it, with and
 * without a handle. */
static int ends(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *work;
  seen s = {0};
  const tprt_hooks hooks = {
      .size = sizeof hooks, .start = on_start, .post = on_post, .end = on_end, .user = &s};
  (void)me;
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "flight", "8"), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_set_hooks(comm, &hooks), TPRT_OK);
  for (int i = 1; i <= 2; i++) {
    machine_delay(streams[0], DELAY_MS);
    CHECK_STATUS(
        errors,
        tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], i == 1 ? &work : NULL),
        TPRT_OK);
    CHECK(errors, atomic_load(&s.n_start) == i && atomic_load(&s.n_post) == i);
    CHECK(errors, atomic_load(&s.n_end) == i - 1 &&
                      flight_has(comm, "\"status\": \"in progress\", \"begin_ns\""));
    if (i == 1) {
      CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
      CHECK(errors, tprt_work_elapsed(work) > DELAY_MS * 500000);
      tprt_work_destroy(work);
    } else {
      CHECK_STATUS(errors, tprt_sync(comm), TPRT_OK);
    }
    CHECK(errors, atomic_load(&s.n_end) == i && atomic_load(&s.ns) > DELAY_MS * 500000);
    CHECK(errors, !flight_has(comm, "in progress"));
  }
  machine_capture(streams[0], true); /* a captured operation is recorded when it is captured */
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], NULL),
               TPRT_OK);
  CHECK(errors, atomic_load(&s.n_end) == 3 && !flight_has(comm, "in progress"));
  machine_capture(streams[0], false);
  machine_delay(streams[1], DELAY_MS);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[1], NULL),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_set_hooks(comm, NULL), TPRT_OK); /* waits for it */
  CHECK(errors, atomic_load(&s.n_end) == 4 && atomic_load(&s.status) == TPRT_OK);
  return errors;
}

/* Another stream, and thereby its work, waits for an operation. */
static int chained(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  tprt_work *work, *host;
  float before = data[0];
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  machine_delay(streams[0], DELAY_MS);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], &work),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait_stream(work, streams[1]), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(work), TPRT_IN_PROGRESS); /* the host did not wait */
  tprt_event *event;
  CHECK_STATUS(errors, tprt_event_create(&event), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_record(event, comm, streams[1]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_sync(event, 0), TPRT_OK);
  CHECK(errors, data[0] != before || before * N == before); /* the sum is there */
  tprt_event_destroy(event);
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait_stream(work, streams[1]), TPRT_OK);
  tprt_work_destroy(work);
  /* of the communicator's own order, which the host waits for */
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, &host), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait_stream(host, streams[1]), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(host), TPRT_OK);
  tprt_work_destroy(host);
  (void)me;
  return errors;
}

/* A failure without a handle becomes sticky by itself if there is an observer, with its record. */
static int unobserved(tprt_comm *comm, int me, float *data, void **streams) {
  int errors = 0;
  const struct timespec later = {.tv_nsec = 600000000};
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "flight", "8"), TPRT_OK);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (me != 2)
    CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_SUM, streams[0], NULL),
                 TPRT_OK);
  nanosleep(&later, NULL);
  if (me != 2) {
    CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_TIMEOUT);
    CHECK(errors, flight_has(comm, "\"status\": \"timeout\", \"begin_ns\""));
  }
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
  run(undisturbed, long_ns);
}
static void test_timeout(void **state) {
  (void)state;
  run(timeout, 200000000);
  run(timeout_of_first, 200000000);
  run(timeout_at_sync, 200000000);
}
static void test_end(void **state) {
  (void)state;
  run(ends, long_ns);
  run(chained, long_ns);
  run(unobserved, 200000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_common),  cmocka_unit_test(test_batch),
                                     cmocka_unit_test(test_events),  cmocka_unit_test(test_capture),
                                     cmocka_unit_test(test_timeout), cmocka_unit_test(test_end)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
