/* Tests sites that all-gather rows and multiply them, on ranks with one GPU each, threads and
 * processes, on the fake driver. Each rank copies the rows of the others while it multiplies, and
 * is bitwise equal to virtual ranks, in any order that events allow. Each wait is shown to be
 * needed. If a rank cannot use this path, the reason is reported. Also tests a missing rank.
 *
 * gathering_across_test --rank SEGMENT N_RANKS RANK MODE DIGEST: a process that this program
 * starts, as in across_test. */
#define _GNU_SOURCE 1
#include "gathering_cases.h"
#include "test/runtime/cuda/fake/across_fakes.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

enum { MOST_RANKS = 4 };
static const char together[] = "matmuls in slices, for all ranks",
                  across[] = "matmuls in slices, which each GPU copies from the others",
                  apart[] = "an all_gather, then the matmuls",
                  unaligned[] = "rows of 3 elements of bf16 are not multiples of 16 bytes";

/* ---- A rank ---- */

/* The work and the expected reports of ranks; mode, offset and lost wait apply to one of them. */
typedef struct game {
  int n_ranks, n_devices;
  const char *backend, *way, *why;
  const char *mode; /* of rank 1 while it binds */
  size_t offset;    /* of rank 1's buffers */
  /* of rank 0's streams, in the second call of the first site; if set, nothing else runs */
  long lost_wait;
  long most_pause_us; /* in total, and of each copy */
  int64_t timeout_ns;
} game;

typedef struct player {
  tprt_comm *world;
  const test_table *program;
  const game *of;
  int errors;
  bool unbound; /* the program could not be bound in time */
  uint64_t digest;
  long n_launches, n_waits;
} player;

/* Checks the paths that the sites use, on a freshly bound context. */
static int check_ways(const player *p, const tprt_context *context) {
  int errors = 0;
  for (int i = 0; i < n_gather_cases; i++) {
    bool sliced = strcmp(p->of->way, apart) != 0 && has_slices(&gather_cases[i], p->of->n_ranks);
    const char *why = NULL, *way = tprt_context_rows(context, i, &why);
    const char *wanted = sliced ? p->of->way : apart, *reason = strcmp(p->of->way, apart) == 0
                                                                    ? p->of->why
                                                                : sliced ? ""
                                                                         : unaligned;
    if (way && strcmp(way, wanted) == 0 && strstr(why, reason) && !*why == !*reason)
      continue;
    fprintf(stderr, "wrong: site %d: \"%s\", because \"%s\"; expected \"%s\", \"%s\"\n", i,
            way ? way : "", why, wanted, reason);
    errors++;
  }
  return errors;
}

static void *play(void *argument) {
  player *p = argument;
  const game *g = p->of;
  int rank = tprt_comm_rank(p->world);
  tprt_context *context = make_context(p->world);
  gather_program = p->program;
  set_mode(rank == 1 ? g->mode : NULL);
  p->errors = !context || tprt_abi_enter(context, p->program->words) != TPRT_OK;
  set_mode(NULL);
  if (!p->errors)
    p->errors += check_ways(p, context);
  *streams_of_thread() = (fake_stream_plan){.copy_us = g->most_pause_us / (rank + 1)};
  buffer_offset = rank == 1 ? g->offset : 0;
  most_pause_us = g->most_pause_us;
  for (int i = 0; i < n_gather_cases && !p->errors; i++)
    p->errors += run_gather_case(context, p->world, i, 3, NULL, &p->digest);
  p->n_launches = streams_of_thread()->n_launches;
  *streams_of_thread() = (fake_stream_plan){.lose_wait = 0};
  buffer_offset = 0;
  most_pause_us = 0;
  if (context && *tprt_context_error(context))
    fprintf(stderr, "wrong: %s\n", tprt_context_error(context));
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

/* Runs the ranks as threads; returns the errors of all. */
static int play_threads(const game *g, void *(*how)(void *), player *players) {
  tprt_comm *worlds[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  char devices[16];
  int errors = 0;
  test_table program = make_gather_program(g->n_ranks);
  const tprt_config config = {
      .size = sizeof config, .backend = g->backend, .timeout_ns = g->timeout_ns};
  snprintf(devices, sizeof devices, "%d", g->n_devices);
  setenv("FAKE_DEVICES", devices, 1);
  assert_int_equal(tprt_world_create_threads(g->n_ranks, &config, worlds), TPRT_OK);
  for (int r = 0; r < g->n_ranks; r++) {
    players[r] = (player){.world = worlds[r], .program = &program, .of = g};
    assert_int_equal(pthread_create(&threads[r], NULL, how, &players[r]), 0);
  }
  for (int r = 0; r < g->n_ranks; r++) {
    pthread_join(threads[r], NULL);
    errors += players[r].errors;
  }
  for (int r = 0; r < g->n_ranks; r++)
    tprt_comm_destroy(worlds[r]);
  table_free(&program);
  return errors;
}

static void expect(const game *g, uint64_t digests[MOST_RANKS]) {
  player players[MOST_RANKS];
  assert_int_equal(play_threads(g, play, players), 0);
  assert_int_equal(allocated(), 0);
  for (int r = 0; r < g->n_ranks && digests; r++)
    digests[r] = players[r].digest;
}

/* ---- Threads ---- */

static void test_same_bits(void **state) {
  static const struct {
    int n_ranks;
    const char *order;
    long most_pause_us;
  } rows[] = {{2, "", 0}, {2, "1", 0}, {2, "01", 300}, {2, "?", 300}, {4, "?", 300}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t one[MOST_RANKS], each[MOST_RANKS];
    game g = {.n_ranks = rows[i].n_ranks, .n_devices = 1, .backend = "loopback", .way = together};
    expect(&g, one);
    setenv("FAKE_ORDER", rows[i].order, 1);
    g.n_devices = g.n_ranks;
    g.way = across;
    g.most_pause_us = rows[i].most_pause_us;
    expect(&g, each);
    unsetenv("FAKE_ORDER");
    assert_memory_equal(each, one, (size_t)g.n_ranks * sizeof *one);
  }
}

/* In cuBLASLt, slice by slice. Sites without slices, or with an unaligned buffer on a rank,
 * multiply all rows at once, in cuBLASLt if it supports them. */
static void test_slices(void **state) {
  enum { BY_BLAS, ONE_ANYWHERE, NO_ALGORITHM, WAYS };
  (void)state;
  for (int n = 2; n <= 4; n += 2)
    for (int way = BY_BLAS; way < (n == 2 ? WAYS : ONE_ANYWHERE); way++) {
      const fake_blaslt_plan plan = {.knows_nothing = way == NO_ALGORITHM};
      fake_blaslt_report report;
      long n_products = 0;
      blaslt_begin(&plan);
      expect(&(game){.n_ranks = n,
                     .n_devices = n,
                     .backend = "loopback",
                     .way = across,
                     .offset = way == ONE_ANYWHERE ? 4 : 0},
             NULL);
      blaslt_look(&report);
      assert_int_equal(report.n_violations, 0);
      for (int i = 0; i < n_gather_cases && way != NO_ALGORITHM; i++) {
        enum { LEAST_WORK = 512, TURNS = 3 };
        const gather_case *c = &gather_cases[i];
        bool large = ALL_ROWS * WIDTH * c->columns[0] >= LEAST_WORK;
        n_products += TURNS * (n - way) * (has_slices(c, n) ? c->n * n : large);
      }
      assert_int_equal(report.n_products, n_products);
    }
  blaslt_begin(&(const fake_blaslt_plan){.fail_at = 0});
}

/* Ranks that are threads would share one graph, whose kernels may be started one after the
 * other. */
static void *refuse_graph(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  gather_program = p->program;
  p->errors = !context || run_gather_case(context, p->world, 0, 4, "ranks share a graph", NULL) ||
              n_runs != 4;
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

static void test_no_graph(void **state) {
  player players[MOST_RANKS];
  (void)state;
  assert_int_equal(play_threads(&(game){.n_ranks = 2, .n_devices = 2, .backend = "loopback"},
                                refuse_graph, players),
                   0);
}

static void test_reasons(void **state) {
  static const char one_gpu[] = "share a GPU, which may not run their kernels concurrently";
  (void)state;
  expect(&(game){.n_ranks = 2, .n_devices = 1, .backend = "shm", .way = apart, .why = one_gpu},
         NULL);
  expect(&(game){.n_ranks = 4,
                 .n_devices = 2,
                 .backend = "loopback",
                 .way = apart,
                 .why = "ranks 0 and 2 share a GPU"},
         NULL);
  expect(&(game){.n_ranks = 2,
                 .n_devices = 2,
                 .backend = "loopback",
                 .mode = "no peer",
                 .way = apart,
                 .why = "GPU 1 cannot access the memory of GPU 0: they are not peers"},
         NULL);
}

/* ---- Missing waits are detected ---- */

/* Runs the first site twice; rank 0 skips a wait in the second call. */
static void *play_without(void *argument) {
  player *p = argument;
  fake_stream_plan *plan = streams_of_thread();
  tprt_context *context = make_context(p->world);
  gather_program = p->program;
  p->errors = !context || tprt_abi_enter(context, p->program->words) != TPRT_OK;
  *plan = (fake_stream_plan){.lose_wait = tprt_comm_rank(p->world) == 0 ? p->of->lost_wait : 0};
  if (!p->errors)
    p->errors += run_gather_case(context, p->world, 0, 2, NULL, NULL);
  p->n_waits = plan->n_waits;
  *plan = (fake_stream_plan){.lose_wait = 0};
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

static int errors_without_wait(long lost, const char *order, long *n_waits) {
  const game g = {.n_ranks = 2,
                  .n_devices = 2,
                  .backend = "loopback",
                  .lost_wait = lost,
                  .timeout_ns = 300000000};
  player players[MOST_RANKS];
  setenv("FAKE_ORDER", order, 1);
  int errors = play_threads(&g, play_without, players);
  unsetenv("FAKE_ORDER");
  *n_waits = players[0].n_waits;
  return errors;
}

static void test_waits(void **state) {
  enum { OF_A_CALL = 3 /* by the copier; by the stream, for the copy and at the end */ };
  static const char *const orders[] = {
      "1", "1100", "0110", "0011",
      /* the first two streams are those of the ranks, then come their copiers */
      "1001"};
  long n_waits;
  (void)state;
  assert_int_equal(errors_without_wait(0, "1", &n_waits), 0);
  assert_int_equal(n_waits, 2 * OF_A_CALL);
  for (long lost = OF_A_CALL + 1; lost <= 2 * OF_A_CALL; lost++) {
    int errors = 0;
    long n;
    for (size_t i = 0; i < sizeof orders / sizeof *orders && !errors; i++)
      errors += errors_without_wait(lost, orders[i], &n);
    if (errors == 0)
      fail_msg("wait %ld of %d may be missing, and nobody sees it", lost - OF_A_CALL, OF_A_CALL);
  }
}

/* ---- A late rank ---- */

static pthread_barrier_t over;

static void *come_late(void *argument) {
  enum { BYTES = 4096 };
  player *p = argument;
  tprt_context *context = make_context(p->world);
  char *memory = NULL;
  int32_t got = tprt_abi_enter(context, p->program->words);
  p->unbound = got != TPRT_OK;
  (void)tprt_context_alloc(context, 4 * BYTES, (void **)&memory);
  if (!got && tprt_comm_rank(p->world) == 0) {
    const tprt_abi_operands operands = gather_operands_of(&gather_cases[1]);
    const fused_pointers pointers = {{[TPRT_IN_TENSOR] = {memory},
                                      [TPRT_IN_B] = {memory + BYTES},
                                      [TPRT_OUT_TENSOR] = {memory + 2 * BYTES}}};
    got = call_fused(context, 1, &operands, &pointers);
    p->errors += got != TPRT_OK || tprt_context_synchronize(context) != TPRT_TIMEOUT ||
                 !strstr(tprt_last_error(), "rank 0 gave up waiting for the others in fused call");
  }
  p->errors += got != TPRT_OK;
  if (p->errors)
    fprintf(stderr, "wrong: %s\n", tprt_last_error());
  pthread_barrier_wait(&over);
  tprt_context_free(context, memory);
  tprt_context_destroy(context);
  return NULL;
}

static void test_late(void **state) {
  const game g = {.n_ranks = 2, .n_devices = 2, .backend = "loopback", .timeout_ns = 300000000};
  enum { MOST_TRIES = 5 };
  player players[MOST_RANKS];
  int tries = 0, errors = 0;
  (void)state;
  assert_int_equal(pthread_barrier_init(&over, NULL, 2), 0);
  do {
    /* repeated if the machine is so busy that the ranks' timeout expires before the program is
     * bound */
    errors = play_threads(&g, come_late, players);
  } while ((players[0].unbound || players[1].unbound) && ++tries < MOST_TRIES);
  assert_int_equal(errors, 0);
  pthread_barrier_destroy(&over);
}

/* ---- Processes ---- */

static int play_process(char **words) {
  int n = atoi(words[1]), me = atoi(words[2]);
  uint64_t wanted = strtoull(words[4], NULL, 16);
  bool reach = !*words[3];
  const tprt_config config = {
      .size = sizeof config, .backend = "shm", .segment_fd = atoi(words[0])};
  const game g = {.n_ranks = n,
                  .mode = reach ? NULL : words[3],
                  .way = reach ? across : apart,
                  .why = "opening memory of another process, whose GPU must be a peer",
                  .most_pause_us = 300};
  test_table program = make_gather_program(n);
  player p = {.program = &program, .of = &g};
  if (tprt_world_create(n, me, &config, &p.world) != TPRT_OK) {
    fprintf(stderr, "rank %d: %s\n", me, tprt_last_error());
    return 1;
  }
  play(&p);
  if (wanted && p.digest != wanted) {
    fprintf(stderr, "wrong: rank %d has not the bits of threads\n", me);
    p.errors++;
  }
  tprt_comm_destroy(p.world);
  table_free(&program);
  return p.errors + (allocated() != 0) != 0;
}

static void run_processes(int n, const char *mode, const uint64_t *digests) {
  char program[] = "/proc/self/exe", what[] = "--rank", segment[16], of[16],
       numbers[MOST_RANKS][16], wanted[MOST_RANKS][24];
  pid_t children[MOST_RANKS];
  int fd;
  assert_int_equal(tprt_shm_segment_create(n, NULL, &fd), TPRT_OK);
  int inherited = dup(fd); /* without close-on-exec */
  snprintf(segment, sizeof segment, "%d", inherited);
  snprintf(of, sizeof of, "%d", n);
  for (int r = 0; r < n; r++) {
    snprintf(numbers[r], sizeof numbers[r], "%d", r);
    snprintf(wanted[r], sizeof wanted[r], "%" PRIx64, digests ? digests[r] : 0);
    char *arguments[] = {program,   what, segment, of, numbers[r], (char *)(uintptr_t)mode,
                         wanted[r], NULL};
    assert_int_equal(posix_spawn(&children[r], program, NULL, NULL, arguments, environ), 0);
  }
  for (int r = 0; r < n; r++) {
    int status;
    assert_int_equal(waitpid(children[r], &status, 0), children[r]);
    assert_int_equal(status, 0);
  }
  close(inherited);
  close(fd);
}

static void test_processes(void **state) {
  uint64_t digests[MOST_RANKS];
  (void)state;
  expect(&(game){.n_ranks = 2, .n_devices = 4, .backend = "loopback", .way = across}, digests);
  run_processes(2, "", digests);
  run_processes(2, "open", NULL);
}

int main(int argc, char **argv) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  setenv("FAKE_NO_CONTEXT", "1", 1);
  open_libraries();
  if (argc == 7 && strcmp(argv[1], "--rank") == 0)
    return play_process(argv + 2);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_bits), cmocka_unit_test(test_slices),
      cmocka_unit_test(test_no_graph),  cmocka_unit_test(test_reasons),
      cmocka_unit_test(test_waits),     cmocka_unit_test(test_late),
      cmocka_unit_test(test_processes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
