/* Worlds whose ranks run a function, and numbers to fill buffers with, for tests and for programs
 * without cmocka. */
#ifndef TPRT_TEST_RANKS_H
#define TPRT_TEST_RANKS_H

#include "tprt/tprt.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The function of a rank; returns the number of errors. Ranks count errors because cmocka's asserts
 * use longjmp, which only the main thread may do. */
typedef int rank_fn(tprt_comm *comm, void *argument);

/* Counts a failed condition and prints its position. */
#define CHECK(errors, condition)                                                                   \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition,               \
              tprt_last_error());                                                                  \
      (errors)++;                                                                                  \
    }                                                                                              \
  } while (0)
#define CHECK_STATUS(errors, expression, status)                                                   \
  do {                                                                                             \
    tprt_status got_ = (expression);                                                               \
    if (got_ != (status)) {                                                                        \
      fprintf(stderr, "%s:%d: %s is %s: %s\n", __FILE__, __LINE__, #expression,                    \
              tprt_status_name(got_), tprt_last_error());                                          \
      (errors)++;                                                                                  \
    }                                                                                              \
  } while (0)

/* Small segments, and a timeout of 20 s: a test that hangs fails. */
tprt_config test_config(void);

/* Returns true if the default backend of worlds is shm. The tests also run with other backends in
 * TPRT_BACKEND; then parts about segments, their limits and processes that join through them are
 * skipped. */
bool test_on_shm(void);

/* Runs one thread per rank, then destroys the world; returns the sum of the ranks' results. */
int run_threads(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument);

/* Runs one process per rank, created by fork. wait_status[rank], if not NULL, receives the status
 * of waitpid. A rank that does not exit with 0 counts as one failure. */
int run_processes(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument,
                  int *wait_status);

/* Returns reproducible numbers. */
static inline uint64_t test_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

double test_seconds(void);

#endif
