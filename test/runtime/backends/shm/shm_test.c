/* Tests data paths of shared memory that the cases of all backends do not reach. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"
#include "test/runtime/harness/long.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Two ranks that the scheduler put on one processor ---- */

/* Returns the processor on which a thread ran last; -1: unknown. */
static int processor_of(int64_t thread) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%lld/stat", (long long)thread);
  FILE *file = fopen(path, "re");
  size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  text[n] = 0;
  if (file)
    fclose(file);
  char *at = strrchr(text, ')'); /* the end of field 2; the processor is field 39 */
  for (int field = 2; field < 39 && at; field++)
    at = strchr(at + 1, ' ');
  return at ? atoi(at) : -1;
}

/* Puts both ranks on one processor. Rank 1 then waits there for rank 0, which is known to be there
 * from its last step. Returns whether rank 0 sees rank 1 on another processor. */
static bool parts(tprt_comm *comm, const cpu_set_t *all, const int64_t *threads, int *errors) {
  int home = 0;
  float value = 1, sum;
  bool apart = false;
  cpu_set_t one;
  while (!CPU_ISSET(home, all))
    home++;
  CPU_ZERO(&one);
  CPU_SET(home, &one);
  CHECK(*errors, sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK_STATUS(*errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (tprt_comm_rank(comm) == 0) {
    usleep(5000);
    int processor = processor_of(threads[1]);
    apart = processor >= 0 && processor != home;
  }
  CHECK(*errors, sched_setaffinity(0, sizeof *all, all) == 0);
  CHECK_STATUS(*errors, tprt_all_reduce(comm, &value, &sum, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  return apart;
}

static int share_processor(tprt_comm *comm, void *argument) {
  int errors = 0, n_apart = 0;
  const cpu_set_t *all = argument;
  int64_t threads[2], own = gettid();
  cpu_set_t now;
  CHECK_STATUS(errors, tprt_all_gather(comm, &own, threads, 1, TPRT_I64, NULL, NULL), TPRT_OK);
  for (int i = 0; i < 20; i++)
    n_apart += parts(comm, all, threads, &errors);
  CHECK(errors, n_apart > 0 || tprt_comm_rank(comm) != 0);
  CHECK(errors, sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, all));
  return errors;
}

static void test_shared_processor(void **state) {
  (void)state;
  tprt_config config = test_config();
  cpu_set_t all;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2)
    skip();
  assert_int_equal(run_threads(2, &config, share_processor, &all), 0);
  assert_int_equal(run_processes(2, &config, share_processor, &all, NULL), 0);
}

/* ---- The same bits on every path ---- */

enum { COUNT = 40003, MAX_RANKS = 8, N_KINDS = 7 };

typedef int run_fn(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument);

static int run_as_processes(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument) {
  return run_processes(n_ranks, config, fn, argument, NULL);
}

/* Runs two threads' ranks in two processes: the second is forked after the world was created. */
static int run_forked(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument) {
  tprt_comm *comms[MAX_RANKS];
  int errors = 0, status = 0;
  CHECK_STATUS(errors, tprt_world_create_threads(n_ranks, config, comms), TPRT_OK);
  for (int i = 1; i < n_ranks && !errors; i++) {
    if (fork() == 0)
      _exit(fn(comms[i], argument) != 0);
  }
  errors += fn(comms[0], argument);
  for (int i = 1; i < n_ranks; i++) {
    CHECK(errors, wait(&status) > 0);
    errors += status != 0;
  }
  for (int i = 0; i < n_ranks; i++)
    tprt_comm_destroy(comms[i]);
  return errors;
}

typedef struct path {
  const char *name;
  run_fn *run;
  bool registered, in_place;
  int64_t shift; /* bytes by which buffers are misaligned */
} path;

static const path paths[] = {
    {"processes, staged", run_as_processes, false, false, 0},
    {"processes, staged, misaligned", run_as_processes, false, false, 1},
    {"processes, staged, one buffer", run_as_processes, false, true, 0},
    {"processes, registered", run_as_processes, true, false, 0},
    {"threads", run_threads, false, false, 0},
    {"threads, misaligned", run_threads, false, false, 1},
    {"threads, one buffer", run_threads, false, true, 0},
    {"threads, registered", run_threads, true, false, 0},
    {"threads of a world that was forked", run_forked, false, false, 0},
};

typedef struct hashes {
  const path *path;
  int64_t count;
  uint64_t of[MAX_RANKS][N_KINDS];
} hashes;

static tprt_status run_kind(tprt_comm *comm, int kind, const void *send, void *recv,
                            int64_t count) {
  int64_t share = count / tprt_comm_size(comm);
  switch (kind) {
  case 0:
    return tprt_all_reduce(comm, send, recv, count, TPRT_BF16, TPRT_SUM, NULL, NULL);
  case 1:
    return tprt_broadcast(comm, send, recv, count, TPRT_BF16, 1, NULL, NULL);
  case 2:
    return tprt_reduce(comm, send, tprt_comm_rank(comm) == 1 ? recv : NULL, count, TPRT_BF16,
                       TPRT_AVG, 1, NULL, NULL);
  case 3:
    return tprt_all_gather(comm, send, recv, share, TPRT_BF16, NULL, NULL);
  case 4:
    return tprt_reduce_scatter(comm, send, recv, share, TPRT_BF16, TPRT_SUM, NULL, NULL);
  case 5:
    return tprt_all_to_all(comm, send, recv, share, TPRT_BF16, NULL, NULL);
  default: {
    float factor = 0.3f + (float)tprt_comm_rank(comm);
    return tprt_all_reduce_premul(comm, send, recv, count, TPRT_BF16, &factor, NULL, NULL);
  }
  }
}
static int hash_kinds(tprt_comm *comm, void *argument) {
  hashes *h = argument;
  const path *p = h->path;
  int errors = 0, me = tprt_comm_rank(comm);
  int64_t count = h->count / tprt_comm_size(comm) * tprt_comm_size(comm);
  size_t bytes = (size_t)count * sizeof(uint16_t), room = bytes + 64;
  void *blocks[2];
  for (int i = 0; i < 2; i++) {
    if (p->registered)
      CHECK_STATUS(errors, tprt_mem_alloc(comm, room, &blocks[i]), TPRT_OK);
    else
      blocks[i] = malloc(room);
  }
  for (int kind = 0; kind < N_KINDS; kind++) {
    char *send = (char *)blocks[0] + p->shift, *recv = (char *)blocks[1] + p->shift;
    uint64_t seed = (uint64_t)(me * N_KINDS + kind), hash = 1;
    bool one_buffer = p->in_place && (kind < 2 || kind == 6);
    memset(recv, 0, bytes);
    for (int64_t i = 0; i < count; i++) {
      uint16_t value = tprt_f32_to_bf16((float)(test_random(&seed) % 10007) * 0.37f);
      memcpy(send + 2 * i, &value, sizeof value);
    }
    CHECK_STATUS(errors, run_kind(comm, kind, send, one_buffer ? send : recv, count), TPRT_OK);
    for (size_t i = 0; i < bytes; i++)
      hash = hash * 31 + (unsigned char)(one_buffer ? send : recv)[i];
    h->of[me][kind] = hash;
  }
  for (int i = 0; i < 2; i++) {
    if (p->registered)
      tprt_mem_free(comm, blocks[i]);
    else
      free(blocks[i]);
  }
  return errors;
}

static void test_paths(void **state) {
  (void)state;
  static const int64_t counts[] = {0, 8, 8197, COUNT};
  tprt_config config = test_config();
  hashes *h = mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(h != MAP_FAILED);
  for (int n = 2; n <= MAX_RANKS; n++) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      hashes first;
      for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        h->path = &paths[i];
        h->count = counts[c];
        if (paths[i].run(n, &config, hash_kinds, h))
          fail_msg("%s, %d ranks, %lld elements", h->path->name, n, (long long)h->count);
        if (i == 0)
          first = *h;
        if (memcmp(h->of, first.of, sizeof h->of) != 0)
          fail_msg("%s, %d ranks: other bits", h->path->name, n);
      }
    }
  }
  munmap(h, sizeof *h);
}

/* ---- Ranks that give up while peers access their buffers ---- */

enum { BUFFER_BYTES = 48 << 20 };

static void *abort_later(void *comm) {
  usleep(1000 + (useconds_t)(getpid() * 7 + rand()) % 9000);
  tprt_comm_abort(comm);
  return NULL;
}

/* Unmaps its buffers as soon as an operation fails. If a peer still accessed them, it would
 * crash. */
static int give_up(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm), kind = *(const int *)argument;
  int64_t count = BUFFER_BYTES / 2;
  pthread_t thread;
  char *buffers[2];
  for (int i = 0; i < 2; i++) {
    buffers[i] =
        mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(errors, buffers[i] != MAP_FAILED);
    memset(buffers[i], 0, BUFFER_BYTES);
  }
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (me == 0)
    CHECK(errors, pthread_create(&thread, NULL, abort_later, comm) == 0);
  tprt_status status;
  while (!(status = run_kind(comm, kind, buffers[0], buffers[1], count)))
    continue;
  for (int i = 0; i < 2; i++)
    munmap(buffers[i], BUFFER_BYTES);
  CHECK(errors, status == TPRT_ABORTED || status == TPRT_INVALID_STATE);
  if (me == 0)
    pthread_join(thread, NULL);
  return errors;
}

static void test_give_up(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int i = 0; i < (test_is_long() ? 40 : 12); i++) {
    int kind = i % 6;
    assert_int_equal(run_threads(3, &config, give_up, &kind), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shared_processor),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_give_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
