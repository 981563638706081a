/* Random schedules of operations, captures, replays, splits and failures on the emulated machine:
 * nothing hangs, nothing forbidden is called, nothing is left, and no capture is broken. Results of
 * operations are the subject of other tests; here they may fail. TP_LONG=1: 1,000 schedules.
 * DRILL_SEED: only this one. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "test/runtime/harness/cases.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { N = 3, COUNT = 32, MOST_STEPS = 8, MOST_CALLS = 900, SHORT = 60, LONG = 1000 };
/* A schedule has at most this time. Operations have 100 ms, ranks that have ended are given 1 s. */
enum { LIMIT_S = 60 };

typedef enum step {
  SUM_ON_HOST,
  SUM_IN_STREAM,
  SUM_WITH_WORK,
  MAX_IN_STREAM,
  RING,
  STRIDED,
  SPLIT,
  ALLOCATE,
  CAPTURE,
  REPLAY,
  SYNC,
  N_STEPS
} step;

typedef enum fault { NOTHING, ABORTS, LEAVES, SKIPS, CALL_FAILS, CALL_HANGS, N_FAULTS } fault;

typedef struct schedule {
  int n_steps;
  step steps[MOST_STEPS];
  int modes[MOST_STEPS]; /* of captures */
  fault fault;
  int rank, at; /* of the fault: the rank and the step */
  bool goes_on; /* ranks continue after a failure */
  bool shrinks;
  bool frees_first; /* graphs are freed before the communicator */
} schedule;

typedef struct rank_thread {
  pthread_t thread;
  const schedule *plan;
  tprt_comm *comm;
  float *data;
  void *stream;
  void *graphs[MOST_STEPS];
  int n_graphs, n_broken;
} rank_thread;

/* ---- Schedules ---- */

static int draw(uint64_t *state, int n) { return (int)(test_random(state) >> 33) % n; }

static schedule make_schedule(uint64_t seed) {
  uint64_t state = seed * 7919 + 1;
  schedule s = {.n_steps = 2 + draw(&state, MOST_STEPS - 1)};
  for (int i = 0; i < s.n_steps; i++) {
    s.steps[i] = (step)draw(&state, N_STEPS);
    s.modes[i] = draw(&state, MACHINE_RELAXED + 1);
  }
  s.fault = (fault)draw(&state, N_FAULTS);
  s.rank = draw(&state, N);
  s.at = draw(&state, s.n_steps);
  s.goes_on = draw(&state, 2);
  s.shrinks = draw(&state, 2);
  s.frees_first = draw(&state, 2);
  return s;
}

/* ---- Steps ---- */

static tprt_status reduce(rank_thread *own, tprt_reduction reduction, void *stream,
                          tprt_work **work) {
  return tprt_all_reduce(own->comm, own->data, own->data, COUNT, TPRT_F32, reduction, stream, work);
}

static tprt_status with_work(rank_thread *own) {
  tprt_work *work;
  tprt_status status = reduce(own, TPRT_SUM, own->stream, &work);
  if (status)
    return status;
  status = tprt_work_wait(work, 0);
  tprt_work_destroy(work);
  return status;
}

static tprt_status ring(rank_thread *own) {
  int me = tprt_comm_rank(own->comm);
  tprt_op ops[] = {tprt_op_send(own->data, COUNT, TPRT_F32, (me + 1) % N, 0),
                   tprt_op_recv(own->data + COUNT, COUNT, TPRT_F32, (me + N - 1) % N, 0)};
  ops[0].stream = ops[1].stream = own->stream;
  return tprt_submit_batch(own->comm, ops, 2, NULL);
}

static tprt_status strided(rank_thread *own) {
  tprt_op op =
      tprt_op_flat(TPRT_OP_ALL_GATHER, own->data, own->data + COUNT, 2, TPRT_F32, own->stream);
  op.n_dims = 2;
  op.shape[1] = 3;
  op.dim = 1;
  return tprt_submit(own->comm, &op, NULL);
}

static tprt_status split(const rank_thread *own) {
  tprt_comm *child;
  tprt_status status = tprt_comm_split(own->comm, 0, 0, &child);
  if (status)
    return status;
  status = tprt_all_reduce(child, own->data, own->data, 1, TPRT_F32, TPRT_SUM, NULL, NULL);
  tprt_comm_destroy(child);
  return status;
}

static tprt_status allocate(const rank_thread *own) {
  void *memory;
  tprt_status status = tprt_mem_alloc(own->comm, 64, &memory);
  if (!status)
    tprt_mem_free(own->comm, memory);
  return status;
}

static tprt_status capture(rank_thread *own, int mode) {
  machine_capture_begin(own->stream, mode);
  tprt_status status = reduce(own, TPRT_SUM, own->stream, NULL);
  if (!status)
    status = ring(own);
  void *graph = machine_capture_end(own->stream);
  if (graph)
    own->graphs[own->n_graphs++] = graph;
  own->n_broken += graph == NULL;
  return status;
}

static tprt_status run_step(rank_thread *own, int i) {
  switch (own->plan->steps[i]) {
  case SUM_ON_HOST:
    return reduce(own, TPRT_SUM, NULL, NULL);
  case SUM_IN_STREAM:
    return reduce(own, TPRT_SUM, own->stream, NULL);
  case SUM_WITH_WORK:
    return with_work(own);
  case MAX_IN_STREAM:
    return reduce(own, TPRT_MAX, own->stream, NULL);
  case RING:
    return ring(own);
  case STRIDED:
    return strided(own);
  case SPLIT:
    return split(own);
  case ALLOCATE:
    return allocate(own);
  case CAPTURE:
    return capture(own, own->plan->modes[i]);
  case REPLAY:
    if (own->n_graphs)
      machine_replay(own->graphs[own->n_graphs - 1], own->stream);
    return TPRT_OK;
  default:
    return tprt_sync(own->comm);
  }
}

/* ---- Ranks ---- */

static void run_steps(rank_thread *own) {
  const schedule *plan = own->plan;
  bool is_faulty = tprt_comm_rank(own->comm) == plan->rank;
  tprt_status status = TPRT_OK;
  for (int i = 0; i < plan->n_steps && (!status || plan->goes_on); i++) {
    if (is_faulty && i == plan->at && plan->fault == LEAVES)
      return;
    if (is_faulty && i == plan->at && plan->fault == ABORTS)
      tprt_comm_abort(own->comm);
    if (is_faulty && i == plan->at && plan->fault == SKIPS)
      continue;
    status = run_step(own, i);
  }
}

static void free_graphs(rank_thread *own) {
  while (own->n_graphs)
    machine_graph_free(own->graphs[--own->n_graphs]);
}

static void *rank_main(void *argument) {
  rank_thread *own = argument;
  tprt_comm *child;
  run_steps(own);
  if (own->plan->shrinks && tprt_comm_status(own->comm) &&
      !tprt_comm_shrink(own->comm, 50000000, &child)) {
    (void)tprt_barrier(child, NULL, NULL);
    tprt_comm_destroy(child);
  }
  if (own->plan->frees_first)
    free_graphs(own);
  tprt_comm_destroy(own->comm);
  free_graphs(own);
  return NULL;
}

/* ---- The watch over schedules ---- */

static _Atomic uint64_t seed_now;
static _Atomic int64_t begun_s; /* 0: no schedule runs */

static int64_t now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

static void *watch_main(void *unused) {
  const struct timespec nap = {.tv_sec = 1};
  for (;;) {
    nanosleep(&nap, NULL);
    int64_t begun = atomic_load(&begun_s);
    if (begun && now_s() - begun > LIMIT_S) {
      print_error("schedule %llu hangs\n", (unsigned long long)atomic_load(&seed_now));
      abort();
    }
  }
  return unused;
}

static void run_schedule(uint64_t seed) {
  const schedule plan = make_schedule(seed);
  uint64_t state = seed;
  tprt_config config = machine_config();
  config.timeout_ns = 100000000;
  tprt_comm *comms[N];
  rank_thread ranks[N];
  atomic_store(&seed_now, seed);
  atomic_store(&begun_s, now_s());
  for (int i = 0; i < N; i++)
    ranks[i] = (rank_thread){.plan = &plan,
                             .data = machine_alloc(i, 16 * COUNT * sizeof(float)),
                             .stream = machine_stream(i)};
  long call = 1 + draw(&state, MOST_CALLS);
  machine_begin((fake_plan){.most_delay_us = draw(&state, 2) * 100,
                            .fail_at = plan.fault == CALL_FAILS ? call : 0,
                            .hang_at = plan.fault == CALL_HANGS ? call : 0});
  bool has_world = !tprt_world_create_threads(N, &config, comms);
  for (int i = 0; i < N && has_world; i++) {
    ranks[i].comm = comms[i];
    if (pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]) != 0)
      abort();
  }
  for (int i = 0; i < N && has_world; i++)
    pthread_join(ranks[i].thread, NULL);
  fake_report report = machine_look();
  machine_begin((fake_plan){.most_delay_us = 0});
  for (int i = 0; i < N; i++) {
    machine_stream_destroy(i, ranks[i].stream);
    machine_free(i, ranks[i].data);
    if (ranks[i].n_broken)
      fail_msg("schedule %llu: a capture of rank %d is broken", (unsigned long long)seed, i);
  }
  if (report.n_violations)
    fail_msg("schedule %llu (%s): %s", (unsigned long long)seed, report.failed, report.violation);
  const struct timespec nap = {.tv_nsec = 1000000};
  for (int i = 0; i < 5000 && machine_look().n_comms; i++)
    nanosleep(&nap, NULL);
  print_message(machine_look().n_comms ? "schedule %llu leaves communicators\n" : "",
                (unsigned long long)seed);
  machine_expect_clean();
  atomic_store(&begun_s, 0);
}

static void drop_log(void *user, const char *text) {
  (void)user;
  (void)text;
}

static void test_schedules(void **state) {
  (void)state;
  const tprt_logger logger = {drop_log, NULL};
  const char *only = getenv("DRILL_SEED");
  pthread_t watch;
  assert_int_equal(pthread_create(&watch, NULL, watch_main, NULL), 0);
  pthread_detach(watch);
  tprt_set_logger(&logger);
  if (only)
    run_schedule(strtoull(only, NULL, 10));
  for (uint64_t i = 0; i < (cases_are_long() ? LONG : SHORT) && !only; i++)
    run_schedule(i);
  tprt_set_logger(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_schedules)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
