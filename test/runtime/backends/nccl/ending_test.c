/* Tests the end of communicators: failures while graphs hold operations, and while one is captured;
 * communicators that shrink beside a graph; messages that are on their way at a healthy end; ends
 * that would wait for ever, or last longer than the process. */
#define _GNU_SOURCE 1
#include "machine.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { N = 3, COUNT = 64 };

typedef struct place {
  tprt_comm *comm;
  int me;
  float *data;
  void *stream;
} place;

typedef int place_fn(place *p);

/* A rank, which destroys its communicator itself. */
typedef struct rank_thread {
  pthread_t thread;
  tprt_comm *comm;
  place_fn *fn;
  int errors;
} rank_thread;

static void *rank_main(void *argument) {
  rank_thread *own = argument;
  int me = tprt_comm_rank(own->comm);
  place p = {own->comm, me, machine_alloc(me, COUNT * sizeof(float)), machine_stream(me)};
  for (int i = 0; i < COUNT; i++)
    p.data[i] = (float)me;
  own->errors = own->fn(&p);
  tprt_comm_destroy(own->comm);
  machine_stream_destroy(me, p.stream);
  machine_free(me, p.data);
  return NULL;
}

static int run_ranks(int n, int64_t timeout_ns, place_fn *fn) {
  tprt_config config = machine_config();
  tprt_comm *comms[N];
  rank_thread ranks[N];
  int errors = 0;
  config.timeout_ns = timeout_ns;
  CHECK_STATUS(errors, tprt_world_create_threads(n, &config, comms), TPRT_OK);
  for (int i = 0; i < n && !errors; i++) {
    ranks[i] = (rank_thread){.comm = comms[i], .fn = fn};
    if (pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]) != 0)
      fail();
  }
  for (int i = 0; i < n && !errors; i++)
    pthread_join(ranks[i].thread, NULL);
  for (int i = 0; i < n; i++)
    errors += ranks[i].errors;
  return errors;
}

static void nap_ms(int ms) {
  const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

/* Communicators that graphs have held end in the background. */
static void await_clean(void) {
  for (int i = 0; i < 2000 && machine_look().n_comms; i++)
    nap_ms(1);
  machine_expect_clean();
}

/* Returns the milliseconds that it took. */
static int64_t run(int n, place_fn *fn, int64_t timeout_ns, int delay_us) {
  struct timespec begin, end;
  machine_begin((fake_plan){.most_delay_us = delay_us});
  clock_gettime(CLOCK_MONOTONIC, &begin);
  assert_int_equal(run_ranks(n, timeout_ns, fn), 0);
  clock_gettime(CLOCK_MONOTONIC, &end);
  await_clean();
  return (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
}

static const int64_t long_ns = INT64_C(20000000000);
static pthread_barrier_t all_here;

static tprt_status sum(const place *p, void *stream) {
  return tprt_all_reduce(p->comm, p->data, p->data, COUNT, TPRT_F32, TPRT_SUM, stream, NULL);
}

/* Captures a sum on all ranks, after an operation that connects them. */
static void *capture_sum(const place *p, int *errors) {
  CHECK_STATUS(*errors, sum(p, p->stream), TPRT_OK);
  CHECK_STATUS(*errors, tprt_sync(p->comm), TPRT_OK);
  machine_capture_begin(p->stream, MACHINE_THREAD_LOCAL);
  CHECK_STATUS(*errors, sum(p, p->stream), TPRT_OK);
  void *graph = machine_capture_end(p->stream);
  CHECK(*errors, graph != NULL);
  pthread_barrier_wait(&all_here); /* no rank fails before the others have come this far */
  return graph;
}

/* ---- Failures beside graphs ---- */

/* NCCL's abort waits for the graph, whose owner waits for the failure. */
static int fail_beside_graph(place *p) {
  int errors = 0;
  void *graph = capture_sum(p, &errors);
  machine_replay(graph, p->stream);
  machine_synchronize(p->stream);
  if (p->me == 1)
    CHECK_STATUS(errors, tprt_comm_abort(p->comm), TPRT_OK);
  else
    CHECK_STATUS(errors, sum(p, NULL), TPRT_ABORTED);
  machine_graph_free(graph);
  return errors;
}

/* A replay that a rank does not join: nobody waits on the host. */
static int replay_alone(place *p) {
  int errors = 0;
  void *graph = capture_sum(p, &errors);
  if (p->me)
    machine_replay(graph, p->stream);
  nap_ms(20);
  CHECK_STATUS(errors, p->me ? sum(p, NULL) : tprt_comm_abort(p->comm),
               p->me ? TPRT_ABORTED : TPRT_OK);
  machine_synchronize(p->stream); /* the abort has ended the replay */
  machine_graph_free(graph);
  return errors;
}

/* The same when the rank just ends, and the others wait for the device: to free memory, or to
 * destroy their communicators. */
static bool frees;
static int end_beside_replay(place *p) {
  int errors = 0;
  void *memory = NULL;
  if (frees)
    CHECK_STATUS(errors, tprt_mem_alloc(p->comm, 64, &memory), TPRT_OK);
  void *graph = capture_sum(p, &errors);
  if (p->me)
    machine_replay(graph, p->stream);
  tprt_mem_free(p->comm, memory);
  machine_graph_free(graph);
  return errors;
}

/* The user destroys the communicator before the graph. */
static int graph_outlives(place *p) {
  int errors = 0;
  tprt_comm *child;
  CHECK_STATUS(errors, tprt_comm_split(p->comm, 0, 0, &child), TPRT_OK);
  place q = *p;
  q.comm = child;
  void *graph = capture_sum(&q, &errors);
  tprt_comm_destroy(child);
  machine_graph_free(graph);
  CHECK_STATUS(errors, sum(p, NULL), TPRT_OK);
  return errors;
}

/* One rank fails while the others capture, in every mode. What ranks free afterwards would break
 * captures of the others. */
static int mode_now;
static int fail_in_capture(place *p) {
  int errors = 0;
  CHECK_STATUS(errors, sum(p, p->stream), TPRT_OK);
  CHECK_STATUS(errors, tprt_sync(p->comm), TPRT_OK);
  machine_capture_begin(p->stream, mode_now);
  CHECK_STATUS(errors, sum(p, p->stream), TPRT_OK);
  pthread_barrier_wait(&all_here);
  if (p->me == 2)
    CHECK_STATUS(errors, tprt_comm_abort(p->comm), TPRT_OK);
  for (int i = 0; i < 500 && !tprt_comm_status(p->comm) && p->me != 2; i++) {
    (void)sum(p, p->stream);
    nap_ms(1);
  }
  CHECK_STATUS(errors, tprt_comm_status(p->comm), TPRT_ABORTED);
  void *graph = machine_capture_end(p->stream);
  CHECK(errors, graph != NULL);
  if (graph)
    machine_graph_free(graph);
  pthread_barrier_wait(&all_here);
  return errors;
}

static int shrink_beside_graph(place *p) {
  int errors = 0;
  void *graph = capture_sum(p, &errors);
  place q = *p;
  if (p->me == 1) {
    CHECK_STATUS(errors, tprt_comm_abort(p->comm), TPRT_OK);
    machine_graph_free(graph);
    return errors;
  }
  CHECK_STATUS(errors, sum(p, NULL), TPRT_ABORTED);
  CHECK_STATUS(errors, tprt_comm_shrink(p->comm, 300000000, &q.comm), TPRT_OK);
  if (!errors) {
    p->data[0] = 1;
    CHECK_STATUS(errors, sum(&q, NULL), TPRT_OK);
    CHECK(errors, p->data[0] == 2);
    tprt_comm_destroy(q.comm);
  }
  machine_graph_free(graph);
  return errors;
}

static void test_graphs(void **state) {
  (void)state;
  assert_int_equal(pthread_barrier_init(&all_here, NULL, N), 0);
  for (int delay = 0; delay <= 100; delay += 100) {
    assert_true(run(N, fail_beside_graph, long_ns, delay) < 5000);
    assert_true(run(N, replay_alone, long_ns, delay) < 5000);
    for (int i = 0; i < 2; i++) {
      frees = i;
      assert_true(run(N, end_beside_replay, 500000000, delay) < 5000);
    }
    assert_true(run(N, graph_outlives, long_ns, delay) < 5000);
    assert_true(run(N, shrink_beside_graph, long_ns, delay) < 5000);
    for (mode_now = MACHINE_GLOBAL; mode_now <= MACHINE_RELAXED; mode_now++)
      assert_true(run(N, fail_in_capture, long_ns, delay) < 5000);
  }
  pthread_barrier_destroy(&all_here);
}

/* ---- Healthy ends ---- */

static tprt_status send_or_receive(const place *p, bool sends, int peer) {
  tprt_op op = sends ? tprt_op_send(p->data, COUNT, TPRT_F32, peer, 0)
                     : tprt_op_recv(p->data, COUNT, TPRT_F32, peer, 0);
  op.stream = p->stream;
  tprt_status status = tprt_submit(p->comm, &op, NULL);
  return status ? status : tprt_sync(p->comm);
}

/* Rank 0 sends and is done; rank 1 receives later. The first message connects them. */
static int send_and_leave(place *p) {
  int errors = 0;
  if (p->me < 2)
    CHECK_STATUS(errors, send_or_receive(p, p->me == 0, !p->me), TPRT_OK);
  p->data[0] = p->me == 0 ? 7 : -1;
  if (p->me == 0)
    CHECK_STATUS(errors, send_or_receive(p, true, 1), TPRT_OK);
  if (p->me == 1) {
    nap_ms(100);
    CHECK_STATUS(errors, send_or_receive(p, false, 0), TPRT_OK);
    CHECK(errors, p->data[0] == 7);
  }
  return errors;
}

/* The same for the root of a broadcast. */
static int broadcast_and_leave(place *p) {
  int errors = 0;
  CHECK_STATUS(errors, tprt_barrier(p->comm, NULL, NULL), TPRT_OK);
  if (p->me)
    nap_ms(100);
  p->data[0] = p->me == 0 ? 7 : -1;
  CHECK_STATUS(errors, tprt_broadcast(p->comm, p->data, p->data, COUNT, TPRT_F32, 0, NULL, NULL),
               TPRT_OK);
  CHECK(errors, p->data[0] == 7);
  return errors;
}

/* Nobody receives what rank 0 sends; it gives up when the others have ended. */
static int send_in_vain(place *p) {
  int errors = 0;
  if (p->me < 2)
    CHECK_STATUS(errors, send_or_receive(p, p->me == 0, !p->me), TPRT_OK);
  if (p->me == 0)
    CHECK_STATUS(errors, send_or_receive(p, true, 1), TPRT_OK);
  return errors;
}

static int send_in_vain_to_sleeper(place *p) {
  int errors = send_in_vain(p);
  if (p->me == 1)
    nap_ms(900);
  return errors;
}

static char logged[1000];
static void keep_log(void *user, const char *text) {
  (void)user;
  if (!*logged)
    strncpy(logged, text, sizeof logged - 1);
}

static void test_messages(void **state) {
  (void)state;
  for (int delay = 0; delay <= 100; delay += 100) {
    run(N, send_and_leave, long_ns, delay);
    run(N, broadcast_and_leave, long_ns, delay);
  }
}

static void test_lost_messages(void **state) {
  (void)state;
  const tprt_logger logger = {keep_log, NULL};
  tprt_set_logger(&logger);
  *logged = 0;
  assert_true(run(2, send_in_vain, long_ns, 0) < 5000);
  assert_non_null(strstr(logged, "rank 0 destroys its communicator world before what it has sent "
                                 "has arrived: the other ranks have ended"));
  *logged = 0;
  assert_true(run(2, send_in_vain_to_sleeper, 300000000, 0) < 5000);
  assert_non_null(
      strstr(logged, "before what it has sent has arrived: it was not received in time"));
  tprt_set_logger(NULL);
}

/* NCCL calls of the end that hang or fail. */
static int nothing(place *p) {
  int errors = 0;
  CHECK_STATUS(errors, sum(p, NULL), TPRT_OK);
  return errors;
}

static void test_hanging_finalize(void **state) {
  (void)state;
  machine_begin((fake_plan){.hang_on = "ncclCommFinalize"});
  assert_int_equal(run_ranks(N, 300000000, nothing), 0);
  assert_string_equal(machine_look().failed, "ncclCommFinalize");
  await_clean();
}

/* Communicators that NCCL does not create in time. */
static void test_late_creation(void **state) {
  (void)state;
  tprt_config config = machine_config();
  tprt_comm *comms[N];
  config.timeout_ns = 300000000;
  for (int n = 1; n <= N; n += N - 1) {
    machine_begin((fake_plan){.hang_on = "ncclCommInitRankConfig"});
    assert_int_equal(tprt_world_create_threads(n, &config, comms), TPRT_TIMEOUT);
    assert_non_null(strstr(tprt_last_error(), "NCCL did not create the communicator within 0.3 s"));
    await_clean();
  }
}

/* ---- Ends that take longer than the process ---- */

static int end_after_graph(place *p) {
  int errors = 0;
  machine_graph_free(capture_sum(p, &errors));
  return errors;
}

/* The graph is never destroyed, so the communicator does not end. */
static int end_in_graph(place *p) {
  int errors = 0;
  capture_sum(p, &errors);
  return errors;
}

/* The process exits while communicators end; the machine aborts it if a thread is in NCCL then. */
static int exit_early(const char *name) {
  static const struct {
    const char *name, *slow_on;
    int slow_ms;
    place_fn *fn;
  } ends[] = {
      {"destroy", "ncclCommDestroy", 2500, nothing},
      {"graph", "ncclCommDestroy", 1000, end_after_graph},
      {"finalize", "ncclCommFinalize", 500, end_after_graph},
      {"held", "ncclCommDestroy", 1000, end_in_graph},
  };
  enum { N_ENDS = sizeof ends / sizeof *ends };
  size_t i = 0;
  while (i < N_ENDS && strcmp(ends[i].name, name) != 0)
    i++;
  if (i == N_ENDS)
    return 2;
  machine_begin((fake_plan){.slow_on = ends[i].slow_on, .slow_ms = ends[i].slow_ms});
  pthread_barrier_init(&all_here, NULL, N);
  return run_ranks(N, long_ns, ends[i].fn);
}

/* No argument: the tests. Else one of the ends above. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages), cmocka_unit_test(test_graphs),
                                     cmocka_unit_test(test_lost_messages),
                                     cmocka_unit_test(test_hanging_finalize),
                                     cmocka_unit_test(test_late_creation)};
  machine_start();
  return argc > 1 ? exit_early(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
