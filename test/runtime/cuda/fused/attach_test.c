/* Tests symmetric memory and groups on it, with threads and processes, on the fake driver: written
 * data is read by peers, all cases of fused calls, and every failure of one rank, which all ranks
 * must return.
 *
 * attach_test --rank SEGMENT N_RANKS RANK MODE: a process that this program starts; MODE is
 * FAKE_CUDA of rank 1. */
#define _GNU_SOURCE 1
#include "test/runtime/cuda/fake/fake_driver.h"
#include "test/runtime/cuda/kernels/cases.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

enum { MOST = 9, SHARED_BYTES = 3 << 20 };

static struct {
  int (*retain)(cuda_context *context, int device);
  int (*set_current)(cuda_context context);
  fake_set_mode_fn *set_mode;
  size_t (*allocated)(void);
} driver;

static void open_driver(void) {
  const struct {
    const char *name;
    void *slot;
  } symbols[] = {{"cuDevicePrimaryCtxRetain", &driver.retain},
                 {"cuCtxSetCurrent", &driver.set_current},
                 {"fake_set_mode", &driver.set_mode},
                 {"fake_allocated", &driver.allocated}};
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW);
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *found = library ? dlsym(library, symbols[i].name) : NULL;
    if (!found)
      abort();
    memcpy(symbols[i].slot, &found, sizeof found);
  }
}

static void use_device(int number) {
  cuda_context context;
  if (driver.retain(&context, number) != 0 || driver.set_current(context) != 0)
    abort();
}

/* ---- The work of a rank ---- */

/* Each rank writes data that all others read. */
static int share(tprt_comm *comm) {
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  tprt_cuda_symmetric *memory;
  if (tprt_cuda_symmetric_create(comm, SHARED_BYTES, &memory) != TPRT_OK) {
    fprintf(stderr, "rank %d: %s\n", me, tprt_last_error());
    return 1;
  }
  void *const *at = tprt_cuda_symmetric_addresses(memory);
  const unsigned char *own = at[me];
  for (size_t i = 0; i < SHARED_BYTES; i++)
    errors += own[i] != 0;
  memset(at[me], me + 1, SHARED_BYTES);
  errors += tprt_barrier(comm, NULL, NULL) != TPRT_OK;
  for (int r = 0; r < n; r++)
    errors +=
        ((unsigned char *)at[r])[0] != r + 1 || ((unsigned char *)at[r])[SHARED_BYTES - 1] != r + 1;
  errors += tprt_cuda_symmetric_destroy(memory) != TPRT_OK;
  return errors;
}

/* Runs all cases of fused calls. */
static int call_all(tprt_comm *comm) {
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  tprt_cuda_group_config config = {.size = sizeof config, .spin_limit = 1u << 28};
  size_t buffer_bytes = 0;
  for (int i = 0; i < n_fused_cases; i++) {
    size_t buffer = (case_buffer_bytes(&fused_cases[i], n) + 63) / 64 * 64,
           staging = case_staging_bytes(&fused_cases[i], n);
    buffer_bytes = buffer > buffer_bytes ? buffer : buffer_bytes;
    config.staging_bytes = staging > config.staging_bytes ? staging : config.staging_bytes;
  }
  tprt_cuda_symmetric *memory;
  tprt_cuda_group *group;
  if (tprt_cuda_symmetric_create(comm, N_BUFFERS * buffer_bytes, &memory) != TPRT_OK ||
      tprt_cuda_group_attach(comm, &config, &group) != TPRT_OK) {
    fprintf(stderr, "rank %d: %s\n", me, tprt_last_error());
    return 1;
  }
  unsigned char *base[FUSED_RANKS], *constants = aligned_alloc(64, N_CONSTANTS * buffer_bytes);
  for (int r = 0; r < n; r++)
    base[r] = tprt_cuda_symmetric_addresses(memory)[r];
  for (int i = 0; i < n_fused_cases; i++) {
    const fused_case *c = &fused_cases[i];
    case_constants(c, constants, buffer_bytes);
    case_fill(c, n, me, (uint64_t)i, base[me], buffer_bytes);
    case_arguments a = case_arguments_of(c, n, base, constants, buffer_bytes);
    errors += case_call(c, group, &a, NULL) != TPRT_OK;
    errors += case_check(c, n, me, (uint64_t)i, base[me], buffer_bytes);
  }
  errors += tprt_cuda_group_check(group, NULL) != TPRT_OK;
  tprt_cuda_group_destroy(group);
  errors += tprt_cuda_symmetric_destroy(memory) != TPRT_OK;
  free(constants);
  return errors;
}

/* ---- Threads ---- */

typedef struct rank {
  tprt_comm *comm;
  int device;
  const char *mode;                     /* FAKE_CUDA of this rank only */
  int (*work)(tprt_comm *comm);         /* the work, or */
  size_t bytes;                         /* the size of symmetric memory, or */
  const tprt_cuda_group_config *config; /* the config of a group */
  int errors;
  tprt_status status;
  char text[512];
} rank;

static void *play(void *data) {
  rank *r = data;
  tprt_cuda_symmetric *memory;
  tprt_cuda_group *group;
  use_device(r->device);
  if (r->work) {
    r->errors = r->work(r->comm);
    return NULL;
  }
  driver.set_mode(r->mode);
  r->status = r->config ? tprt_cuda_group_attach(r->comm, r->config, &group)
                        : tprt_cuda_symmetric_create(r->comm, r->bytes, &memory);
  driver.set_mode(NULL);
  snprintf(r->text, sizeof r->text, "%s", tprt_last_error());
  if (!r->status && r->config)
    tprt_cuda_group_destroy(group);
  else if (!r->status)
    r->errors = tprt_cuda_symmetric_destroy(memory) != TPRT_OK;
  return NULL;
}

static void run(int n, rank *ranks) {
  tprt_config config = {.size = sizeof config, .backend = n > 1 ? "loopback" : "self"};
  tprt_comm *comms[MOST];
  pthread_t threads[MOST];
  assert_int_equal(tprt_world_create_threads(n, &config, comms), TPRT_OK);
  for (int r = 0; r < n; r++) {
    ranks[r].comm = comms[r];
    assert_int_equal(pthread_create(&threads[r], NULL, play, &ranks[r]), 0);
  }
  for (int r = 0; r < n; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n; r++) {
    tprt_comm_destroy(comms[r]);
    assert_int_equal(ranks[r].errors, 0);
  }
}

static void test_threads(void **state) {
  (void)state;
  static int (*const works[])(tprt_comm *) = {share, call_all};
  for (int n = 1; n <= 4; n++)
    for (int i = 0; i < 2; i++) {
      rank ranks[MOST] = {{0}};
      for (int r = 0; r < n; r++)
        ranks[r] = (rank){.device = r, .work = works[i]};
      run(n, ranks);
    }
  assert_int_equal(driver.allocated(), 0);
}

/* Checks that every rank has the status and the text; on the other ranks, the text names the failed
 * rank. */
static void expect(int n, rank *ranks, int culprit, tprt_status status, const char *text) {
  run(n, ranks);
  for (int r = 0; r < n; r++) {
    char from[24] = "";
    if (culprit >= 0 && r != culprit)
      snprintf(from, sizeof from, "rank %d: ", culprit);
    if (ranks[r].status != status || !strstr(ranks[r].text, text) || !strstr(ranks[r].text, from))
      fail_msg("rank %d: %s: \"%s\"; expected %s: \"%s%s\"", r, tprt_status_name(ranks[r].status),
               ranks[r].text, tprt_status_name(status), from, text);
  }
  assert_int_equal(driver.allocated(), 0);
}

static void test_failures(void **state) {
  (void)state;
  static const struct {
    const char *mode;
    tprt_status status;
    const char *text;
    bool of_groups;
  } rows[] = {
      {"no context", TPRT_INVALID_STATE,
       "the thread has no current context, which symmetric memory needs", false},
      {"context device", TPRT_DEVICE, "device of the context: CUDA_ERROR_STUB_LIBRARY (34)", false},
      {"uuid", TPRT_DEVICE, "identity of the device: CUDA_ERROR_STUB_LIBRARY", false},
      {"push", TPRT_DEVICE, "its context: CUDA_ERROR_STUB_LIBRARY", false},
      {"allocate", TPRT_NO_MEMORY, "symmetric memory: CUDA_ERROR_OUT_OF_MEMORY", false},
      {"set", TPRT_DEVICE, "clearing symmetric memory", false},
      {"synchronize", TPRT_DEVICE, "clearing symmetric memory", false},
      {"can reach", TPRT_DEVICE, "whether devices are peers", false},
      {"no peer", TPRT_UNSUPPORTED, "GPU 1 cannot access the memory of GPU 0: they are not peers",
       false},
      {"reach", TPRT_DEVICE, "access to a peer", false},
      {"attributes", TPRT_DEVICE, "attributes of the device", true},
      {"old", TPRT_UNSUPPORTED, "fused kernels need compute capability 8.0", true},
      {"load", TPRT_DEVICE, "loading the fused kernels", true},
      {"function", TPRT_DEVICE, "tprt_reduce_rows_f32", true},
      {"occupancy", TPRT_DEVICE, "occupancy of a kernel", true},
      {"full", TPRT_UNSUPPORTED, "must run concurrently", true},
  };
  static const tprt_cuda_group_config config = {.size = sizeof config, .staging_bytes = 1000};
  enum { N = 3, CULPRIT = 1 };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int group = rows[i].of_groups; group < 2; group++) {
      rank ranks[MOST] = {{0}};
      for (int r = 0; r < N; r++)
        ranks[r] = (rank){.device = r,
                          .bytes = 100,
                          .config = group ? &config : NULL,
                          .mode = r == CULPRIT ? rows[i].mode : NULL};
      expect(N, ranks, CULPRIT, rows[i].status, rows[i].text);
    }
}

static void test_refused(void **state) {
  (void)state;
  static const tprt_cuda_group_config good = {.size = sizeof good}, no_size = {0},
                                      with_ranks = {.size = sizeof good, .n_ranks = 3},
                                      more = {.size = sizeof good, .staging_bytes = 5};
  const tprt_cuda_group_config with_signals = {.size = sizeof good, .signals = {(void *)&good}},
                               with_staging = {.size = sizeof good,
                                               .staging = {NULL, (void *)&good}};
  const struct {
    /* of rank 1; NULL: allocate symmetric memory of this size */
    const tprt_cuda_group_config *config;
    size_t bytes;
    int culprit;
    tprt_status status;
    const char *text;
  } rows[] = {
      {&no_size, 0, 1, TPRT_INVALID_ARGUMENT, "tprt_cuda_group_config.size is 0"},
      {&with_ranks, 0, 1, TPRT_INVALID_ARGUMENT, "takes its ranks from the communicator"},
      {&with_signals, 0, 1, TPRT_INVALID_ARGUMENT, "leave these fields 0"},
      {&with_staging, 0, 1, TPRT_INVALID_ARGUMENT, "leave these fields 0"},
      {&more, 0, -1, TPRT_MISMATCH, "symmetric memory: rank 1 requests"},
      {NULL, 101, -1, TPRT_MISMATCH,
       "symmetric memory: rank 1 requests 101 bytes, but rank 0 requests 100"},
      {NULL, 0, 1, TPRT_INVALID_ARGUMENT, "invalid size of symmetric memory: 0 bytes"},
      {NULL, SIZE_MAX, 1, TPRT_INVALID_ARGUMENT,
       "invalid size of symmetric memory: 18446744073709551615 bytes"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    rank ranks[MOST] = {{0}};
    for (int r = 0; r < 3; r++)
      ranks[r] = (rank){.device = r,
                        .bytes = r == 1 ? rows[i].bytes : 100,
                        .config = r == 1           ? rows[i].config
                                  : rows[i].config ? &good
                                                   : NULL};
    expect(3, ranks, rows[i].culprit, rows[i].status, rows[i].text);
  }
  rank ranks[MOST] = {{0}};
  for (int r = 0; r < 9; r++)
    ranks[r] = (rank){.device = r, .bytes = 1};
  expect(9, ranks, -1, TPRT_UNSUPPORTED, "symmetric memory of 9 ranks; at most 8 are supported");
  for (int r = 0; r < 3; r++)
    ranks[r] = (rank){.device = r % 2, .config = &good};
  expect(3, ranks, 0, TPRT_UNSUPPORTED,
         "ranks 0 and 2 share a GPU, which may not run their kernels concurrently");
  for (int r = 0; r < 3; r++) /* symmetric memory needs no kernels */
    ranks[r] = (rank){.device = r % 2, .bytes = 1};
  run(3, ranks);
  assert_int_equal(ranks[2].status, TPRT_OK);
  assert_int_equal(tprt_cuda_symmetric_destroy(NULL), TPRT_OK);
}

/* If a rank cannot ask the others whether they have closed its memory, it leaks the memory. */
static pthread_barrier_t both;

static int break_off(tprt_comm *comm) {
  tprt_cuda_symmetric *memory;
  int errors = tprt_cuda_symmetric_create(comm, 1, &memory) != TPRT_OK;
  /* not a barrier of the communicator, because the abort would end it */
  pthread_barrier_wait(&both);
  if (tprt_comm_rank(comm) == 0)
    errors += tprt_comm_abort(comm) != TPRT_OK;
  errors += tprt_cuda_symmetric_destroy(memory) == TPRT_OK;
  return errors;
}

static void test_broken_off(void **state) {
  (void)state;
  rank ranks[MOST] = {{.device = 0, .work = break_off}, {.device = 1, .work = break_off}};
  assert_int_equal(pthread_barrier_init(&both, NULL, 2), 0);
  run(2, ranks);
  pthread_barrier_destroy(&both);
  assert_int_equal(driver.allocated(), 2);
}

/* ---- Processes ---- */

static int play_process(char **words) {
  int n = atoi(words[1]), me = atoi(words[2]);
  tprt_config config = {.size = sizeof config, .backend = "shm", .segment_fd = atoi(words[0])};
  tprt_comm *comm;
  tprt_cuda_symmetric *memory;
  use_device(me);
  if (tprt_world_create(n, me, &config, &comm) != TPRT_OK) {
    fprintf(stderr, "rank %d: %s\n", me, tprt_last_error());
    return 1;
  }
  int errors = 0;
  if (words[3][0]) {
    driver.set_mode(me == 1 ? words[3] : NULL);
    tprt_status status = tprt_cuda_symmetric_create(comm, 1, &memory);
    driver.set_mode(NULL);
    errors += status != TPRT_DEVICE;
    errors += !strstr(tprt_last_error(),
                      strcmp(words[3], "open") == 0
                          ? "opening memory of another process, whose GPU must be a peer"
                          : "exporting memory to another process");
    if (errors)
      fprintf(stderr, "rank %d: %s: %s\n", me, tprt_status_name(status), tprt_last_error());
  }
  errors += share(comm);
  errors += call_all(comm);
  errors += driver.allocated() != 0;
  tprt_comm_destroy(comm);
  return errors != 0;
}

static void run_processes(int n, const char *mode) {
  char program[] = "/proc/self/exe", what[] = "--rank", segment[16], of[16], numbers[MOST][16];
  pid_t children[MOST];
  int fd;
  assert_int_equal(tprt_shm_segment_create(n, NULL, &fd), TPRT_OK);
  int inherited = dup(fd); /* without close-on-exec */
  snprintf(segment, sizeof segment, "%d", inherited);
  snprintf(of, sizeof of, "%d", n);
  for (int r = 0; r < n; r++) {
    snprintf(numbers[r], sizeof numbers[r], "%d", r);
    char *arguments[] = {program, what, segment, of, numbers[r], (char *)(uintptr_t)mode, NULL};
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
  (void)state;
  for (int n = 2; n <= 4; n++)
    run_processes(n, "");
  run_processes(3, "open");
  run_processes(3, "export");
}

int main(int argc, char **argv) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("FAKE_DEVICES", "9", 1);
  open_driver();
  if (argc == 6 && strcmp(argv[1], "--rank") == 0)
    return play_process(argv + 2);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_threads),    cmocka_unit_test(test_failures),
      cmocka_unit_test(test_refused),    cmocka_unit_test(test_processes),
      cmocka_unit_test(test_broken_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
