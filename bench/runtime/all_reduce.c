/* Time of an operation over message sizes and ranks: threads, private ("staged") and registered buffers.
 *   tprt_bench_all_reduce [ranks ...]
 * Prints the best of several rounds (others may use the machine) in microseconds, and the bytes that all ranks
 * together move at least with registered buffers (read n inputs, write n outputs), per second. */
#define _GNU_SOURCE 1
#include "tprt/tprt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N_ROUNDS = 7 };

typedef struct bench {
  tprt_comm *comm;
  int64_t count;
  bool registered;
  double seconds; /* out, on rank 0 */
} bench;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void expect(tprt_status status) {
  if (!status)
    return;
  fprintf(stderr, "%s: %s\n", tprt_status_name(status), tprt_last_error());
  exit(1);
}

static void *run(void *argument) {
  bench *b = argument;
  size_t bytes = (size_t)b->count * sizeof(float);
  void *memory = NULL;
  if (b->registered)
    expect(tprt_mem_alloc(b->comm, 2 * bytes + 128, &memory));
  else
    memory = malloc(2 * bytes + 128);
  float *send = memory, *recv = send + (b->count + 15) / 16 * 16;
  int n_calls = (int)(4e6 / (double)(bytes + 4000)) + 1;
  double rounds[N_ROUNDS];
  for (int round = -1; round < N_ROUNDS; round++) { /* the first touches the memory */
    for (int64_t i = 0; i < b->count; i++)
      send[i] = (float)i;
    expect(tprt_barrier(b->comm, NULL, NULL));
    double begin = now();
    for (int i = 0; i < n_calls; i++) {
      expect(tprt_all_reduce(b->comm, send, recv, b->count, TPRT_F32, TPRT_SUM, NULL, NULL));
    }
    if (round >= 0)
      rounds[round] = (now() - begin) / n_calls;
  }
  qsort(rounds, N_ROUNDS, sizeof *rounds, by_value);
  b->seconds = rounds[0];
  expect(tprt_barrier(b->comm, NULL, NULL));
  if (b->registered)
    tprt_mem_free(b->comm, memory);
  else
    free(memory);
  return NULL;
}

static double measure(tprt_comm **comms, int n, int64_t count, bool registered) {
  pthread_t threads[64];
  bench ranks[64];
  for (int i = 0; i < n; i++) {
    ranks[i] = (bench){.comm = comms[i], .count = count, .registered = registered};
    if (pthread_create(&threads[i], NULL, run, &ranks[i]) != 0)
      exit(1);
  }
  for (int i = 0; i < n; i++)
    pthread_join(threads[i], NULL);
  return ranks[0].seconds;
}

int main(int argc, char **argv) {
  for (int a = 1; a < (argc > 1 ? argc : 2); a++) {
    int n = argc > 1 ? atoi(argv[a]) : 2;
    tprt_comm *comms[64];
    if (n < 1 || n > 64)
      return 1;
    expect(tprt_world_create_threads(n, NULL, comms));
    printf("%d ranks: all_reduce of f32, microseconds\n%12s %12s %12s %12s\n", n, "bytes", "staged", "registered", "GB/s reg.");
    for (int64_t bytes = 1024; bytes <= 64 << 20; bytes *= 4) {
      double staged = measure(comms, n, bytes / 4, false), registered = measure(comms, n, bytes / 4, true);
      printf("%12lld %12.1f %12.1f %12.1f\n", (long long)bytes, staged * 1e6, registered * 1e6,
             2.0 * n * (double)bytes / registered * 1e-9);
    }
    for (int i = 0; i < n; i++)
      tprt_comm_destroy(comms[i]);
  }
  return 0;
}
