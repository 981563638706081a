/* Worlds whose ranks run a function, and numbers to fill buffers with: for tests and for programs
 * that have no cmocka. */
#ifndef TPRT_TEST_RANKS_H
#define TPRT_TEST_RANKS_H

#include "tprt/tprt.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a rank does; it returns the number of things that were wrong. cmocka's asserts jump, which
 * only the main thread may do, so ranks count instead. */
typedef int rank_fn(tprt_comm *comm, void *argument);

/* Counts a failed condition and says where. */
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

/* Small segments, 20 s: a test that hangs fails. */
tprt_config test_config(void);

/* Whether worlds are of backend shm unless they say otherwise. The programs run with other backends
 * in TPRT_BACKEND, too, where what is about segments, their limits and processes that join through
 * them is left out. */
bool test_on_shm(void);

/* One thread a rank; destroys the world; returns the sum of what the ranks returned. */
int run_threads(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument);

/* One process a rank, made by fork. wait_status[rank], if not NULL, gets what waitpid said. Ranks
 * that did not exit with 0 count as one failure each. */
int run_processes(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument,
                  int *wait_status);

/* Reproducible numbers. */
uint64_t test_random(uint64_t *state);

double test_seconds(void);

#endif
