/* How all programs of this comparison measure: the same messages, the same number of rounds, out of place, operations back
 * to back, and the result is looked at. C and C++. */
#ifndef BENCH_PROTOCOL_H
#define BENCH_PROTOCOL_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FIRST_BYTES = 1 << 10, LAST_BYTES = 16 << 20, N_ROUNDS = 9 };

/* Sums `count` floats over the ranks. */
typedef void sum_fn(void *state, const float *send, float *recv, size_t count);

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Operations of one round, about 20 ms. The ranks agree on their number by the operation itself. */
static int agree_on_calls(sum_fn *sum, void *state, const float *send, float *recv, size_t count, int n_ranks) {
  float mine, all;
  sum(state, send, recv, count); /* touches the memory */
  double begin = seconds();
  for (int i = 0; i < 3; i++)
    sum(state, send, recv, count);
  mine = (float)((seconds() - begin) / 3);
  sum(state, &mine, &all, 1);
  double calls = 0.02 * n_ranks / (double)all;
  return calls < 1 ? 1 : calls > 5000 ? 5000 : (int)calls;
}

/* Prints "bytes microseconds", the median of the rounds, from rank 0. */
static void measure(sum_fn *sum, void *state, float *send, float *recv, size_t bytes, int n_ranks, int rank) {
  size_t count = bytes / sizeof(float);
  double rounds[N_ROUNDS];
  for (size_t i = 0; i < count; i++)
    send[i] = (float)(i % 1000); /* sums are exact */
  int n_calls = agree_on_calls(sum, state, send, recv, count, n_ranks);
  for (int round = 0; round < N_ROUNDS; round++) {
    float one = 1, ready;
    sum(state, &one, &ready, 1); /* nobody is late because of what came before */
    double begin = seconds();
    for (int i = 0; i < n_calls; i++)
      sum(state, send, recv, count);
    rounds[round] = (seconds() - begin) / n_calls;
  }
  for (size_t i = 0; i < count; i++) {
    if (recv[i] != (float)n_ranks * (float)(i % 1000)) {
      fprintf(stderr, "rank %d: element %zu of %zu is %g\n", rank, i, count, (double)recv[i]);
      exit(1);
    }
  }
  qsort(rounds, N_ROUNDS, sizeof *rounds, by_value);
  if (rank == 0)
    printf("%zu %.3f\n", bytes, rounds[N_ROUNDS / 2] * 1e6);
}

#endif
