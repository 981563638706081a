/* Tests sites that reduce rows on ranks with one GPU each, threads and processes, on the fake
 * driver. Peer-to-peer kernels must give bitwise the same results as one kernel for virtual ranks.
 * If a rank cannot use them, the reason is reported and collectives are used instead. Also tests
 * missing ranks.
 *
 * across_test --rank SEGMENT N_RANKS RANK MODE DIGEST: a process that this program starts. MODE is
 * FAKE_CUDA of rank 1 while the program is bound; DIGEST is the expected digest, 0: not
 * compared. */
#define _GNU_SOURCE 1
#include "rows_cases.h"
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
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

enum { MOST_RANKS = 4 };
static const char together[] = "one kernel for all ranks",
                  across[] = "a kernel on each GPU that accesses the other GPUs",
                  apart[] = "collectives and a kernel on each GPU";

/* ---- A rank ---- */

typedef struct player {
  tprt_comm *world;
  const test_table *program;
  /* mode of this rank while it binds; the path and the reason it then reports */
  const char *mode, *way, *why;
  size_t offset; /* of its operands */
  bool unbound;  /* the program could not be bound in time */
  int errors;
  uint64_t digest, digest_f32; /* of all cases; of the f32 cases */
  long n_launches;
} player;

/* Runs all cases on a freshly bound context. */
static void run_cases(player *p, tprt_context *context) {
  for (int i = 0; i < n_shape_cases && !p->errors; i++) {
    const char *why = NULL, *way = tprt_context_rows(context, i, &why);
    if (!is_possible(&shape_cases[i], tprt_comm_size(p->world)))
      continue;
    bool whole =
        strcmp(p->way, across) == 0 && !is_sliced(&shape_cases[i], tprt_comm_size(p->world));
    const char *expected =
        whole ? "not sliced: slices of 2 rows of 3 elements of f32 are not multiples of 16 bytes"
              : p->why;
    if (!way || strcmp(way, p->way) != 0 || !strstr(why, expected) || !*why != !*expected) {
      fprintf(stderr, "wrong: site %d: \"%s\", because \"%s\"; expected \"%s\", \"%s\"\n", i,
              way ? way : "", why, p->way, expected);
      p->errors++;
    }
    uint64_t digest = 0;
    p->errors += run_case(context, p->world, i, &digest);
    p->digest = p->digest * 31 + digest;
    if (shape_cases[i].dtype == TPRT_F32)
      p->digest_f32 = p->digest_f32 * 31 + digest;
  }
}

static void *play(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  set_mode(p->mode);
  p->errors = !context || tprt_abi_enter(context, p->program->words) != TPRT_OK;
  set_mode(NULL);
  streams_of_thread()->n_launches = 0;
  factor_offset = p->offset;
  if (!p->errors)
    run_cases(p, context);
  factor_offset = 0;
  p->n_launches = streams_of_thread()->n_launches;
  if (context && *tprt_context_error(context))
    fprintf(stderr, "wrong: %s\n", tprt_context_error(context));
  p->errors += tprt_context_rows(context, -1, NULL) != NULL ||
               tprt_context_rows(context, n_shape_cases, NULL) != NULL;
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

/* Runs the ranks; the first has the digests of all. `offset` is that of rank 1. */
static player play_with_offset(int n_ranks, int n_devices, const char *backend, const char *mode,
                               const char *way, const char *why, size_t offset) {
  tprt_comm *worlds[MOST_RANKS];
  player players[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  char devices[16];
  test_table program = make_program(n_ranks);
  const tprt_config config = {.size = sizeof config, .backend = backend};
  snprintf(devices, sizeof devices, "%d", n_devices);
  setenv("FAKE_DEVICES", devices, 1);
  assert_int_equal(tprt_world_create_threads(n_ranks, &config, worlds), TPRT_OK);
  for (int r = 0; r < n_ranks; r++) {
    players[r] = (player){.world = worlds[r],
                          .program = &program,
                          .mode = r == 1 ? mode : NULL,
                          .way = way,
                          .why = why,
                          .offset = r == 1 ? offset : 0};
    assert_int_equal(pthread_create(&threads[r], NULL, play, &players[r]), 0);
  }
  player all = {.errors = 0};
  for (int r = 0; r < n_ranks; r++) {
    pthread_join(threads[r], NULL);
    tprt_comm_destroy(worlds[r]);
    all.errors += players[r].errors;
    all.digest = all.digest * 31 + players[r].digest;
    all.digest_f32 = all.digest_f32 * 31 + players[r].digest_f32;
    all.n_launches += players[r].n_launches;
  }
  table_free(&program);
  assert_int_equal(all.errors, 0);
  assert_int_equal(allocated(), 0);
  return all;
}

static player play_threads(int n_ranks, int n_devices, const char *backend, const char *mode,
                           const char *way, const char *why) {
  return play_with_offset(n_ranks, n_devices, backend, mode, way, why, 0);
}

/* ---- Threads ---- */

static void test_same_bits(void **state) {
  static const char *const late[] = {"0", "3"};
  (void)state;
  for (int n = 2; n <= 4; n += 2)
    for (int l = 0; l < (n == 2 ? 2 : 1); l++) {
      setenv("FAKE_LATE", late[l], 1);
      player one = play_threads(n, 1, "loopback", NULL, together, "");
      player each = play_threads(n, n, "loopback", NULL, across, "");
      player host = play_threads(n, 1, "shm", NULL, apart,
                                 "share a GPU, which may not run their kernels concurrently");
      assert_true(one.digest == each.digest);
      assert_true(one.digest_f32 == host.digest_f32);
      /* GEMMs run in cuBLASLt, and no other launches move data */
      assert_int_equal(each.n_launches, 2 * n_shape_cases * n);
    }
  setenv("FAKE_LATE", "0", 1);
}

/* GEMMs run in slices, in cuBLASLt on each rank that can: not if an operand is unaligned, nor if
 * cuBLASLt has no algorithm. */
static void test_slices(void **state) {
  enum { BY_BLAS, ONE_ANYWHERE, NO_ALGORITHM, WAYS };
  (void)state;
  for (int n = 2; n <= 4; n += 2)
    for (int way = BY_BLAS; way < (n == 2 ? WAYS : ONE_ANYWHERE); way++) {
      const fake_blaslt_plan plan = {.knows_nothing = way == NO_ALGORITHM};
      fake_blaslt_report report;
      long n_products = 0;
      blaslt_begin(&plan);
      (void)play_with_offset(n, n, "loopback", NULL, across, "", way == ONE_ANYWHERE ? 4 : 0);
      blaslt_look(&report);
      assert_int_equal(report.n_violations, 0);
      for (int i = 0; i < n_shape_cases && way != NO_ALGORITHM; i++)
        n_products +=
            shape_cases[i].k ? 2 * (n - way) * (is_sliced(&shape_cases[i], n) ? n : 1) : 0;
      assert_int_equal(report.n_products, n_products);
    }
  blaslt_begin(&(const fake_blaslt_plan){.fail_at = 0});
}

/* Three ranks, the last with a smaller slice of unsharded rows. */
static void test_uneven(void **state) {
  (void)state;
  player one = play_threads(3, 1, "loopback", NULL, together, "");
  player each = play_threads(3, 3, "loopback", NULL, across, "");
  assert_true(one.digest == each.digest);
  (void)play_with_offset(3, 3, "loopback", NULL, across, "", 4);
}

static void test_reasons(void **state) {
  (void)state;
  (void)play_threads(4, 2, "loopback", NULL, apart, "ranks 0 and 2 share a GPU");
  (void)play_threads(2, 2, "loopback", "no peer", apart,
                     "GPU 1 cannot access the memory of GPU 0: they are not peers");
  (void)play_threads(2, 2, "loopback", "can reach", apart,
                     "whether devices are peers: CUDA_ERROR_STUB_LIBRARY");
  (void)play_threads(2, 2, "loopback", "reach", apart, "access to a peer: CUDA_ERROR_STUB_LIBRARY");
  (void)play_threads(2, 2, "loopback", "uuid", apart,
                     "identity of the device: CUDA_ERROR_STUB_LIBRARY");
}

/* ---- Failures that collectives cannot avoid either: the rank whose driver fails reports it, and
 * the other does not wait ---- */

static void *fail_to_bind(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  set_mode(p->mode);
  int32_t got = context ? tprt_abi_enter(context, p->program->words) : TPRT_INTERNAL;
  set_mode(NULL);
  p->errors = p->mode && (!got || !context || !strstr(tprt_context_error(context), p->why));
  if (p->errors)
    fprintf(stderr, "wrong: %s: status %d: %s\n", p->mode, (int)got,
            context ? tprt_context_error(context) : "");
  tprt_context_destroy(context);
  return NULL;
}

static void test_failures(void **state) {
  static const struct {
    const char *mode, *why;
  } rows[] = {{"push", "its context: CUDA_ERROR_STUB_LIBRARY"},
              {"load", "loading the fused kernels: CUDA_ERROR_STUB_LIBRARY"},
              {"function", "tprt_reduce_rows_f32: CUDA_ERROR_STUB_LIBRARY"},
              {"occupancy", "occupancy of a kernel: CUDA_ERROR_STUB_LIBRARY"},
              {"full", "must run concurrently"},
              {"old", "fused kernels need compute capability 8.0"},
              {"context device", "device of the context: CUDA_ERROR_STUB_LIBRARY"},
              {"attributes", "attributes of the device: CUDA_ERROR_STUB_LIBRARY"},
              {"allocate", "CUDA_ERROR_OUT_OF_MEMORY"},
              {"synchronize", "CUDA_ERROR_STUB_LIBRARY"}};
  (void)state;
  setenv("FAKE_DEVICES", "2", 1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tprt_comm *worlds[2];
    player players[2];
    pthread_t threads[2];
    test_table program = make_program(2);
    const tprt_config config = {.size = sizeof config, .backend = "loopback"};
    assert_int_equal(tprt_world_create_threads(2, &config, worlds), TPRT_OK);
    for (int r = 0; r < 2; r++) {
      players[r] = (player){.world = worlds[r],
                            .program = &program,
                            .mode = r ? rows[i].mode : NULL,
                            .why = rows[i].why};
      assert_int_equal(pthread_create(&threads[r], NULL, fail_to_bind, &players[r]), 0);
    }
    for (int r = 0; r < 2; r++) {
      pthread_join(threads[r], NULL);
      assert_int_equal(players[r].errors, 0);
      tprt_comm_destroy(worlds[r]);
    }
    table_free(&program);
  }
}

/* ---- A late rank ---- */

static pthread_barrier_t over;

static void *come_late(void *argument) {
  enum { SITE = 6 }; /* slices */
  player *p = argument;
  tprt_context *context = make_context(p->world);
  bool comes = tprt_comm_rank(p->world) == 0;
  float *memory = NULL;
  int32_t got = tprt_abi_enter(context, p->program->words);
  p->unbound = got != TPRT_OK;
  (void)tprt_context_alloc(context, 3 * N * sizeof *memory, (void **)&memory);
  if (!got && comes) {
    const tprt_abi_operands operands = operands_of(&shape_cases[SITE]);
    const fused_pointers pointers = {{[TPRT_IN_TENSOR] = {memory},
                                      [TPRT_IN_GAMMA] = {memory},
                                      [TPRT_OUT_TENSOR] = {memory + N}}};
    got = call_fused(context, SITE, &operands, &pointers);
    p->errors +=
        got != TPRT_OK || tprt_context_synchronize(context) != TPRT_TIMEOUT ||
        !strstr(tprt_last_error(), "rank 0 gave up waiting for the others in fused call 1");
  }
  p->errors += got != TPRT_OK;
  if (p->errors)
    fprintf(stderr, "wrong: %s\n", tprt_last_error());
  pthread_barrier_wait(&over);
  tprt_context_free(context, memory);
  tprt_context_destroy(context);
  return NULL;
}

/* Returns whether the late rank was detected. The ranks' timeout may expire before the program is
 * bound. */
static bool play_late(int64_t timeout_ns) {
  tprt_comm *worlds[2];
  player players[2];
  pthread_t threads[2];
  test_table program = make_program(2);
  const tprt_config config = {
      .size = sizeof config, .backend = "loopback", .timeout_ns = timeout_ns};
  bool unbound = false;
  setenv("FAKE_DEVICES", "2", 1);
  assert_int_equal(pthread_barrier_init(&over, NULL, 2), 0);
  assert_int_equal(tprt_world_create_threads(2, &config, worlds), TPRT_OK);
  for (int r = 0; r < 2; r++) {
    players[r] = (player){.world = worlds[r], .program = &program};
    assert_int_equal(pthread_create(&threads[r], NULL, come_late, &players[r]), 0);
  }
  for (int r = 0; r < 2; r++) {
    pthread_join(threads[r], NULL);
    unbound = unbound || players[r].unbound;
    tprt_comm_destroy(worlds[r]);
  }
  for (int r = 0; r < 2 && !unbound; r++)
    assert_int_equal(players[r].errors, 0);
  table_free(&program);
  pthread_barrier_destroy(&over);
  return !unbound;
}

static void test_late(void **state) {
  enum { MOST_TRIES = 5 };
  int64_t timeout_ns = 300000000; /* a busy machine needs more */
  int tries = 1;
  (void)state;
  for (; !play_late(timeout_ns); timeout_ns *= 2)
    assert_in_range(++tries, 1, MOST_TRIES);
}

/* ---- Processes ---- */

static int play_process(char **words) {
  int n = atoi(words[1]), me = atoi(words[2]);
  uint64_t wanted = strtoull(words[4], NULL, 16);
  const tprt_config config = {
      .size = sizeof config, .backend = "shm", .segment_fd = atoi(words[0])};
  test_table program = make_program(n);
  bool reach = !*words[3];
  player p = {.program = &program,
              .mode = me == 1 && !reach ? words[3] : NULL,
              .way = reach ? across : apart,
              .why = reach ? ""
                     : strcmp(words[3], "open") == 0
                         ? "opening memory of another process, whose GPU must be a peer"
                         : "exporting memory to another process"};
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

/* Computes the digest of each rank, run as a thread. */
static void digests_of(int n_ranks, uint64_t *digests) {
  tprt_comm *worlds[MOST_RANKS];
  player players[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  test_table program = make_program(n_ranks);
  const tprt_config config = {.size = sizeof config, .backend = "loopback"};
  setenv("FAKE_DEVICES", "4", 1);
  assert_int_equal(tprt_world_create_threads(n_ranks, &config, worlds), TPRT_OK);
  for (int r = 0; r < n_ranks; r++) {
    players[r] = (player){.world = worlds[r], .program = &program, .way = across, .why = ""};
    assert_int_equal(pthread_create(&threads[r], NULL, play, &players[r]), 0);
  }
  for (int r = 0; r < n_ranks; r++) {
    pthread_join(threads[r], NULL);
    tprt_comm_destroy(worlds[r]);
    digests[r] = players[r].digest;
  }
  table_free(&program);
}

static void run_processes(int n, const char *mode, const uint64_t *digests) {
  char program[] = "/proc/self/exe", what[] = "--rank", segment[16], of[16],
       numbers[MOST_RANKS][16], wanted[MOST_RANKS][24];
  pid_t children[MOST_RANKS];
  int fd;
  setenv("FAKE_DEVICES", "4", 1);
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
  digests_of(2, digests);
  run_processes(2, "", digests);
  run_processes(2, "open", NULL);
  run_processes(2, "export", NULL);
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
      cmocka_unit_test(test_uneven),    cmocka_unit_test(test_reasons),
      cmocka_unit_test(test_failures),  cmocka_unit_test(test_late),
      cmocka_unit_test(test_processes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
