/* Tests backend nccl in streams of the caller: order on the device, works, events, graphs. For any
 * number of ranks; run on the emulated machine and on GPUs (test/gpu). */
#define _GNU_SOURCE 1
#include "streams.h"

#include <string.h>

enum { COUNT = 64, N_BUFFERS = 4, STEPS = 6, DELAY_MS = 100 };

typedef struct place {
  tprt_comm *comm;
  int me, n;
  float *data; /* N_BUFFERS of COUNT numbers on the device */
  cuda_stream streams[2];
} place;

/* Fills buffer `at`: element i is value + i. */
static void fill(const place *p, int at, float value) {
  float here[COUNT];
  for (int i = 0; i < COUNT; i++)
    here[i] = value + (float)i;
  nccl_write(p->comm, p->data + at * COUNT, here, sizeof here);
}

/* Returns the number of elements of buffer `at` that differ from offset + i * factor. */
static int wrong(const place *p, int at, float offset, float factor) {
  float here[COUNT];
  int errors = 0;
  nccl_read(p->comm, here, p->data + at * COUNT, sizeof here);
  for (int i = 0; i < COUNT; i++)
    errors += here[i] != offset + (float)i * factor;
  return errors;
}

static float power(int base, int exponent) {
  return exponent ? (float)base * power(base, exponent - 1) : 1;
}

static void delay(cuda_stream stream) { nccl_delay(stream, DELAY_MS); }

static tprt_status sum(const place *p, int at, cuda_stream stream, tprt_work **work) {
  float *data = p->data + at * COUNT;
  return tprt_all_reduce(p->comm, data, data, COUNT, TPRT_F32, TPRT_SUM, stream, work);
}

/* Submits many operations in order, without waiting on the host. */
static int chain(const place *p) {
  int errors = 0;
  float n = (float)p->n, later = power(p->n, STEPS - 1);
  tprt_work *work = NULL;
  fill(p, 0, (float)p->me);
  for (int i = 0; i < STEPS; i++)
    CHECK_STATUS(errors, sum(p, 0, p->streams[0], i == STEPS - 1 ? &work : NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(work), TPRT_OK);
  tprt_work_destroy(work);
  CHECK(errors, wrong(p, 0, n * (n - 1) / 2 * later, n * later) == 0);
  return errors;
}

/* A work is in progress as long as the device is busy; handles may be destroyed before; tprt_sync
 * waits for all. */
static int works(const place *p) {
  int errors = 0;
  tprt_work *work = NULL;
  float n = (float)p->n;
  fill(p, 0, 1);
  fill(p, 1, 2);
  delay(p->streams[0]);
  CHECK_STATUS(errors, sum(p, 0, p->streams[0], &work), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(work), TPRT_IN_PROGRESS);
  CHECK_STATUS(errors, tprt_work_wait(work, 1000000), TPRT_IN_PROGRESS);
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  CHECK(errors, wrong(p, 0, n, n) == 0);
  tprt_work_destroy(work);
  delay(p->streams[1]);
  CHECK_STATUS(errors, sum(p, 1, p->streams[1], &work), TPRT_OK);
  tprt_work_destroy(work);
  CHECK_STATUS(errors, tprt_barrier(p->comm, p->streams[1], &work), TPRT_OK);
  CHECK_STATUS(errors, tprt_sync(p->comm), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(work), TPRT_OK);
  CHECK(errors, wrong(p, 1, 2 * n, n) == 0);
  tprt_work_destroy(work);
  return errors;
}

/* An operation without a stream comes after everything submitted before it, in any stream. */
static int then_host(const place *p) {
  int errors = 0;
  float n = (float)p->n;
  for (int i = 0; i < 2; i++) {
    fill(p, 0, 1);
    fill(p, 1, 2);
    delay(p->streams[0]);
    CHECK_STATUS(errors, sum(p, 0, p->streams[0], NULL), TPRT_OK);
    CHECK_STATUS(errors, sum(p, 1, p->streams[1], NULL), TPRT_OK);
    CHECK_STATUS(errors, sum(p, i, NULL, NULL), TPRT_OK);
    CHECK(errors, wrong(p, i, (float)(i + 1) * n * n, n * n) == 0);
    CHECK(errors, wrong(p, 1 - i, (float)(2 - i) * n, n) == 0);
  }
  return errors;
}

/* An operation in one stream waits for another stream; the host waits for a stream. */
static int events(const place *p) {
  int errors = 0;
  float n = (float)p->n;
  tprt_event *event;
  fill(p, 0, 1);
  CHECK_STATUS(errors, tprt_event_create(&event), TPRT_OK);
  delay(p->streams[0]);
  CHECK_STATUS(errors, sum(p, 0, p->streams[0], NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_record(event, p->comm, p->streams[0]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_test(event), TPRT_IN_PROGRESS);
  /* returns at once, because the device waits */
  CHECK_STATUS(errors, tprt_event_wait(event, p->comm, p->streams[1]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_test(event), TPRT_IN_PROGRESS);
  CHECK_STATUS(errors, sum(p, 0, p->streams[1], NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_record(event, p->comm, p->streams[1]), TPRT_OK);
  CHECK_STATUS(errors, tprt_event_sync(event, 0), TPRT_OK);
  CHECK(errors, wrong(p, 0, n * n, n * n) == 0);
  tprt_event_destroy(event);
  return errors;
}

/* Pieces that are not contiguous each go through scratch memory, which operations of two streams
 * share in turn. */
static int scratch(const place *p) {
  enum { ROWS = 2, WIDTH = 3 };
  int errors = 0, n = p->n;
  float here[COUNT];
  tprt_work *works[N_BUFFERS];
  float *out = nccl_take(p->comm, (size_t)(N_BUFFERS * ROWS * WIDTH * n) * sizeof *out);
  for (int i = 0; i < N_BUFFERS; i++) {
    fill(p, i, (float)(100 * i + p->me));
    tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, p->data + i * COUNT, out + i * ROWS * WIDTH * n,
                              ROWS, TPRT_F32, p->streams[i % 2]);
    op.n_dims = 2;
    op.shape[1] = WIDTH;
    op.dim = 1;
    CHECK_STATUS(errors, tprt_submit(p->comm, &op, &works[i]), TPRT_OK);
  }
  for (int i = 0; i < N_BUFFERS && !errors; i++) {
    CHECK_STATUS(errors, tprt_work_wait(works[i], 0), TPRT_OK);
    tprt_work_destroy(works[i]);
    for (int row = 0; row < ROWS; row++) {
      for (int rank = 0; rank < n; rank++) {
        nccl_read(p->comm, here, out + ((i * ROWS + row) * n + rank) * WIDTH, WIDTH * sizeof *here);
        for (int k = 0; k < WIDTH; k++)
          errors += here[k] != (float)(100 * i + rank + row * WIDTH + k);
      }
    }
  }
  CHECK(errors, errors == 0);
  nccl_give(p->comm, out);
  return errors;
}

/* Transfers in a ring, all in one batch. */
static int transfers(const place *p) {
  int errors = 0, left = (p->me + p->n - 1) % p->n, right = (p->me + 1) % p->n;
  tprt_work *work;
  tprt_op ops[] = {tprt_op_send(p->data, COUNT, TPRT_F32, right, 0),
                   tprt_op_recv(p->data + COUNT, COUNT, TPRT_F32, left, 0)};
  if (p->n == 1) /* no peer */
    return 0;
  fill(p, 0, (float)p->me);
  ops[0].stream = ops[1].stream = p->streams[0];
  CHECK_STATUS(errors, tprt_submit_batch(p->comm, ops, 2, &work), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  tprt_work_destroy(work);
  CHECK(errors, wrong(p, 1, (float)left, 1) == 0);
  return errors;
}

/* Captures once and replays; an operation that cannot be captured is refused and does not
 * invalidate the capture. */
static int graph(const place *p, int replays) {
  enum { RELAXED = 2 };
  int errors = 0;
  float n = (float)p->n;
  cuda_graph captured;
  cuda_program program;
  tprt_work *work = NULL;
  fill(p, 0, 1);
  /* setup at first use is not captured */
  CHECK_STATUS(errors, tprt_barrier(p->comm, NULL, NULL), TPRT_OK);
  CHECK_STATUS(errors, sum(p, 1, p->streams[0], NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_sync(p->comm), TPRT_OK);
  DO(capture_begin, p->streams[0], RELAXED);
  CHECK_STATUS(errors, sum(p, 0, p->streams[0], &work), TPRT_INVALID_STATE);
  CHECK(errors, strstr(tprt_last_error(), "captured in a graph has no work handle"));
  CHECK_STATUS(errors,
               tprt_all_reduce(p->comm, p->data, p->data + COUNT, COUNT, TPRT_F32, TPRT_SUM,
                               p->streams[0], NULL),
               TPRT_OK);
  CHECK_STATUS(errors,
               tprt_all_gather(p->comm, p->data + COUNT, p->data + 2 * COUNT, COUNT / p->n,
                               TPRT_F32, p->streams[0], NULL),
               TPRT_OK);
  DO(capture_end, p->streams[0], &captured);
  DO(instantiate, &program, captured, 0);
  DO(graph_destroy, captured);
  for (int i = 0; i < replays && !errors; i++) {
    float gathered[COUNT];
    fill(p, 0, (float)i);
    fill(p, 1, -1);
    DO(replay, program, p->streams[0]);
    DO(stream_wait, p->streams[0]);
    CHECK(errors, wrong(p, 1, n * (float)i, n) == 0);
    nccl_read(p->comm, gathered, p->data + 2 * COUNT, sizeof gathered);
    for (int k = 0; k < COUNT / p->n * p->n; k++)
      errors += gathered[k] != n * (float)(i + k % (COUNT / p->n));
  }
  CHECK(errors, errors == 0);
  DO(program_destroy, program);
  CHECK_STATUS(errors, tprt_barrier(p->comm, NULL, NULL), TPRT_OK);
  return errors;
}

static place open_place(tprt_comm *comm) {
  place p = {.comm = comm, .me = tprt_comm_rank(comm), .n = tprt_comm_size(comm)};
  p.data = nccl_take(comm, N_BUFFERS * COUNT * sizeof *p.data);
  for (int i = 0; i < N_BUFFERS; i++)
    fill(&p, i, 0);
  for (int i = 0; i < 2; i++)
    p.streams[i] = nccl_stream(comm);
  return p;
}

static void close_place(place *p) {
  nccl_give(p->comm, p->data);
  for (int i = 0; i < 2; i++)
    nccl_stream_destroy(p->comm, p->streams[i]);
}

int nccl_streams(tprt_comm *comm, void *argument) {
  static int (*const cases[])(const place *p) = {chain,  works,   then_host,
                                                 events, scratch, transfers};
  place p = open_place(comm);
  int errors = 0;
  (void)argument;
  for (size_t i = 0; i < sizeof cases / sizeof *cases && !errors; i++)
    errors += cases[i](&p);
  close_place(&p);
  return errors;
}

int nccl_graph(tprt_comm *comm, void *argument) {
  place p = open_place(comm);
  int errors = graph(&p, *(const int *)argument);
  close_place(&p);
  return errors;
}
