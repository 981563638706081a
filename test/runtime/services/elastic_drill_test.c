/* Drills of elasticity: a job under load in which one rank after the other is killed, and a spare
 * replaces it. All results are checked. TP_LONG=1: 1,000 rounds each.
 *
 * In the first drill the survivors of each round must be told which rank was killed. It prints how
 * long detection and replacement took. In the second half of its rounds rank 0 is spared: what its
 * process has open must not grow. In the second drill a second process is killed while the first
 * one is replaced: another rank, or the spare that joins. */
#define _GNU_SOURCE 1
#include "jobs.h"

#include "test/runtime/harness/long.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 4, MOST_ROUNDS = 1000, LARGE = 40000, PATIENCE_S = 60 };

/* One place per rank; each process writes that of its rank. */
typedef struct place {
  _Atomic int pid;
  _Atomic int epoch;          /* in which it runs its load */
  _Atomic int64_t operations; /* that it has completed in this epoch */
  _Atomic int64_t told_ns, ready_ns;
  _Atomic int told_rank, told_status;
  job_holdings held;
} place;

typedef struct drill {
  place places[N];
  _Atomic int errors, left_out;
  _Atomic int opened; /* number of spares that have opened the store */
  _Atomic bool over;  /* ranks leave after their next operation */
} drill;

static drill *board;

static int64_t now_ns(void) { return (int64_t)(test_seconds() * 1e9); }

/* ---- a rank ---- */

typedef struct load {
  int32_t *data, *all;
  int64_t step; /* the same on all ranks */
} load;

/* Runs the next operation and counts wrong results. Nothing is lost silently: if the operation
 * succeeds, it has the contributions of all ranks. */
static tprt_status run_load(tprt_comm *comm, load *l, int *wrong) {
  static const int64_t counts[] = {1, 500, 6000, LARGE};
  int me = tprt_comm_rank(comm), step = (int)(l->step % 1000);
  int64_t count = counts[l->step % 4];
  for (int64_t i = 0; i < count; i++)
    l->data[i] = (int32_t)(me + step + i % 7);
  if (l->step % 3 == 2) {
    int64_t each = count > LARGE / N ? LARGE / N : count;
    tprt_status status = tprt_all_gather(comm, l->data, l->all, each, TPRT_I32, NULL, NULL);
    for (int64_t i = 0; i < N * each && !status; i++)
      *wrong += l->all[i] != (int32_t)(i / each + step + i % each % 7);
    return status;
  }
  tprt_status status =
      tprt_all_reduce(comm, l->data, l->all, count, TPRT_I32, TPRT_SUM, NULL, NULL);
  for (int64_t i = 0; i < count && !status; i++)
    *wrong += l->all[i] != N * (N - 1) / 2 + N * (int32_t)(step + i % 7);
  return status;
}

/* The ranks that were there before tell the new one which step is next: the smallest that some rank
 * has not completed. */
static tprt_status agree_on_step(tprt_comm *comm, load *l) {
  int me = tprt_comm_rank(comm);
  bool is_new = tprt_comm_joined(comm, me) == tprt_comm_epoch(comm) && tprt_comm_epoch(comm) > 0;
  int64_t mine = is_new ? INT64_MAX : l->step;
  return tprt_all_reduce(comm, &mine, &l->step, 1, TPRT_I64, TPRT_MIN, NULL, NULL);
}

/* Runs the load until the communicator fails, or the drill is over. Rank 0 decides the latter for
 * all in the operation of each step. */
static tprt_status work(tprt_comm *comm, load *l) {
  place *own = &board->places[tprt_comm_rank(comm)];
  tprt_status status = agree_on_step(comm, l);
  atomic_store(&own->operations, 0);
  atomic_store(&own->ready_ns, now_ns());
  own->held = job_holds();
  atomic_store(&own->pid, getpid());
  atomic_store(&own->epoch, tprt_comm_epoch(comm));
  for (int32_t over = 0; !status && !over;) {
    int wrong = 0;
    over = atomic_load(&board->over);
    status = run_load(comm, l, &wrong);
    if (!status)
      status = tprt_broadcast(comm, &over, &over, 1, TPRT_I32, 0, NULL, NULL);
    if (wrong)
      atomic_fetch_add(&board->errors, 1);
    l->step += !status;
    atomic_fetch_add(&own->operations, 1);
  }
  return status;
}

static void note_failure(tprt_comm *comm, tprt_status status) {
  place *own = &board->places[tprt_comm_rank(comm)];
  int rank = -1;
  (void)sscanf(tprt_last_error(), "rank %d ended", &rank);
  atomic_store(&own->told_rank, rank);
  atomic_store(&own->told_status, (int)status);
  atomic_store(&own->told_ns, now_ns());
}

/* Continues after a failure: in the next epoch, or, if the others have begun it without this rank,
 * as a spare. That is possible if several ranks end at once. Destroys `comm`. */
static tprt_status go_on(tprt_comm *comm, tprt_config *config, tprt_comm **next) {
  tprt_status status = tprt_comm_reconfigure(comm, NULL, 0, config, 0, next);
  tprt_comm_destroy(comm);
  if (status != TPRT_INVALID_STATE)
    return status;
  atomic_fetch_add(&board->left_out, 1);
  return tprt_comm_join(config, 0, next);
}

/* Runs from epoch to epoch. Returns the number of errors. */
static int live(tprt_comm *comm, tprt_config *config) {
  load l = {.data = malloc(LARGE * sizeof(int32_t)), .all = malloc(N * LARGE * sizeof(int32_t))};
  int errors = 0;
  tprt_status status;
  while ((status = work(comm, &l)) != TPRT_OK && !errors) {
    tprt_comm *next = NULL;
    note_failure(comm, status);
    CHECK_STATUS(errors, go_on(comm, config, &next), TPRT_OK);
    comm = next;
    if (!comm)
      break;
  }
  tprt_comm_destroy(comm);
  free(l.data);
  free(l.all);
  return errors;
}

static void process_main(const test_job *job, int rank) {
  int errors = 0;
  tprt_comm *comm = NULL;
  tprt_config config = test_config();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  CHECK_STATUS(errors, job_open(job, NULL, &config.store), TPRT_OK);
  if (!errors && rank < 0)
    atomic_fetch_add(&board->opened, 1);
  if (!errors && rank >= 0)
    CHECK_STATUS(errors, tprt_world_create(N, rank, &config, &comm), TPRT_OK);
  if (!errors && rank < 0) {
    tprt_status status = tprt_comm_join(&config, 600 * store_second, &comm);
    if (status && atomic_load(&board->over))
      _exit(0); /* the store is closed */
    CHECK(errors, status == TPRT_OK);
  }
  if (comm)
    errors += live(comm, &config);
  tprt_store_destroy(config.store);
  fflush(NULL);
  _exit(errors != 0);
}

/* ---- the drill ---- */

typedef struct samples {
  int64_t ns[MOST_ROUNDS * N];
  int n;
} samples;

static int n_started; /* that were started in this job */

/* Starts a rank, or a spare with rank -1. */
static pid_t start(const test_job *job, int rank) {
  n_started += rank < 0;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0)
    abort();
  if (child == 0)
    process_main(job, rank);
  return child;
}

/* Waits until all ranks run their load in a later epoch than this, and have completed some
 * operations. Returns false if they do not: a hang. */
static bool await_load(int after, int operations) {
  double end = test_seconds() + PATIENCE_S;
  for (int i = 0; i < N && test_seconds() < end;) {
    const place *p = &board->places[i];
    bool runs = atomic_load(&p->epoch) > after && atomic_load(&p->operations) >= operations;
    i += runs;
    if (!runs)
      usleep(200);
  }
  return test_seconds() < end;
}

/* Waits until all spares that were started have opened the store: one that opens it when it has
 * closed fails. */
static bool await_spares(void) {
  double end = test_seconds() + PATIENCE_S;
  while (atomic_load(&board->opened) < n_started && test_seconds() < end)
    usleep(200);
  return test_seconds() < end;
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void print_times(const char *what, samples *s) {
  qsort(s->ns, (size_t)s->n, sizeof *s->ns, compare);
  printf("%s: median %.2f, p99 %.2f, most %.2f ms (%d samples)\n", what,
         (double)s->ns[s->n / 2] * 1e-6, (double)s->ns[s->n * 99 / 100] * 1e-6,
         (double)s->ns[s->n - 1] * 1e-6, s->n);
}

/* Checks what the survivors were told, and adds the times. */
static int collect(int victim, int64_t killed_ns, samples *detection, samples *replacement) {
  int errors = 0;
  int64_t last_told = 0, last_ready = 0;
  for (int i = 0; i < N; i++) {
    const place *p = &board->places[i];
    last_ready = p->ready_ns > last_ready ? p->ready_ns : last_ready;
    if (i == victim)
      continue;
    if (p->told_status != TPRT_PEER_DEAD || p->told_rank != victim) {
      fprintf(stderr, "rank %d was told of rank %d, %s, when rank %d was killed\n", i, p->told_rank,
              tprt_status_name((tprt_status)p->told_status), victim);
      errors++;
    }
    detection->ns[detection->n++] = p->told_ns - killed_ns;
    last_told = p->told_ns > last_told ? p->told_ns : last_told;
  }
  replacement->ns[replacement->n++] = last_ready - last_told;
  return errors;
}

/* Kills one rank. Returns false if the job hangs afterwards. */
static bool run_round(const test_job *job, int victim, uint64_t *random, samples *detection,
                      samples *replacement, int *errors) {
  place *killed = &board->places[victim];
  int epoch = atomic_load(&killed->epoch);
  usleep((useconds_t)(test_random(random) % 4000)); /* somewhere in an operation */
  int64_t begin = now_ns();
  kill(atomic_load(&killed->pid), SIGKILL);
  start(job, -1);
  if (!await_load(epoch, 3) || !await_spares())
    return false;
  *errors += collect(victim, begin, detection, replacement);
  while (waitpid(-1, NULL, WNOHANG) > 0)
    ;
  return true;
}

/* Reaps all children; returns the number that failed or hung. The ones that were killed in rounds
 * are reaped there. */
static int reap(pid_t server) {
  int errors = 0, status;
  double end = test_seconds() + PATIENCE_S;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) >= 0;) {
    if (pid > 0 && pid != server)
      errors += WIFEXITED(status) && WEXITSTATUS(status) != 0;
    if (pid == 0)
      usleep(1000);
    if (test_seconds() > end)
      return errors + 1;
  }
  return errors;
}

static int check_holdings(const job_holdings *before, const job_holdings *after) {
  printf("rank 0 holds %d descriptors, %d maps, %d threads; halfway it held %d, %d, %d\n",
         after->descriptors, after->maps, after->threads, before->descriptors, before->maps,
         before->threads);
  /* the allocator of the system may keep a few maps for threads that have ended; sanitizers keep
   * many for themselves */
  return after->descriptors > before->descriptors || after->threads > before->threads ||
         (!JOB_SANITIZED && after->maps > before->maps + 8);
}

/* Starts a job with waiting spares. Returns the process that serves its store. */
static pid_t start_job(test_job *job, int n_spares) {
  board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(board != MAP_FAILED);
  pid_t server = job_serve(job);
  n_started = 0;
  for (int rank = 0; rank < N; rank++) {
    atomic_store(&board->places[rank].epoch, -1);
    start(job, rank);
  }
  for (int i = 0; i < n_spares; i++)
    start(job, -1);
  return server;
}

/* Lets the ranks leave, then closes the store on the spares. Returns the number of processes that
 * failed or hung. */
static int end_job(pid_t server) {
  double end = test_seconds() + PATIENCE_S;
  atomic_store(&board->over, true);
  for (int i = 0; i < N && test_seconds() < end;) {
    pid_t pid = atomic_load(&board->places[i].pid);
    bool runs = kill(pid, 0) == 0 && waitpid(pid, NULL, WNOHANG) == 0;
    i += !runs;
    if (runs)
      usleep(1000);
  }
  kill(server, SIGTERM);
  int errors = reap(server) + atomic_load(&board->errors);
  munmap(board, sizeof *board);
  return errors;
}

static void test_drill(void **state) {
  (void)state;
  static samples detection, replacement;
  int rounds = test_is_long() ? MOST_ROUNDS : 30, hangs = 0, errors = 0, done = 0;
  uint64_t random = 1;
  test_job job = {.kind = STORE_UNIX};
  job_holdings half = {0};
  pid_t server = start_job(&job, 1);
  hangs += !await_load(-1, 3);
  for (; done < rounds && !hangs; done++) {
    int victim = (int)(test_random(&random) % N);
    if (done >= rounds / 2 && victim == 0)
      victim = 1 + done % (N - 1);
    if (done == rounds / 2)
      half = board->places[0].held;
    hangs += !run_round(&job, victim, &random, &detection, &replacement, &errors);
  }
  job_holdings last = board->places[0].held;
  int left_out = atomic_load(&board->left_out);
  errors += end_job(server);
  printf("%d kills in %d ranks: %d hangs, %d errors\n", done, N, hangs, errors);
  print_times("detection", &detection);
  print_times("replacement", &replacement);
  assert_int_equal(hangs, 0);
  assert_int_equal(errors + left_out, 0);
  assert_int_equal(check_holdings(&half, &last), 0);
}

/* Kills a rank, and soon after that another one, or the spare that was there first. New spares come
 * for them. */
static bool run_double_round(const test_job *job, pid_t spares[2], uint64_t *random) {
  int first = (int)(test_random(random) % N), second = (int)(test_random(random) % (N + 1));
  int epoch = atomic_load(&board->places[first].epoch);
  pid_t pids[2] = {atomic_load(&board->places[first].pid),
                   second < N ? atomic_load(&board->places[second].pid) : spares[0]};
  kill(pids[0], SIGKILL);
  usleep((useconds_t)(test_random(random) % 12000)); /* somewhere in the replacement */
  kill(pids[1], SIGKILL);
  for (int i = 0; i < 2; i++) {
    if (waitpid(pids[i], NULL, 0) != pids[i])
      continue; /* it had already been killed */
    spares[0] = spares[1];
    spares[1] = start(job, -1);
  }
  return await_load(epoch, 3) && await_spares();
}

static void test_double_kills(void **state) {
  (void)state;
  int rounds = test_is_long() ? MOST_ROUNDS : 15, hangs = 0, done = 0;
  uint64_t random = 2;
  test_job job = {.kind = STORE_UNIX};
  pid_t server = start_job(&job, 0), spares[2] = {start(&job, -1), start(&job, -1)};
  hangs += !await_load(-1, 3) || !await_spares();
  for (; done < rounds && !hangs; done++)
    hangs += !run_double_round(&job, spares, &random);
  int left_out = atomic_load(&board->left_out), errors = end_job(server);
  printf("%d double kills in %d ranks: %d hangs, %d errors, %d came back as spares\n", done, N,
         hangs, errors, left_out);
  assert_int_equal(hangs, 0);
  assert_int_equal(errors, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_drill),
                                     cmocka_unit_test(test_double_kills)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
