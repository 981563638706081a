/* A machine of GPUs without one: every CTA of every rank is a thread. A rank's calls follow each
 * other as on a stream: the next begins when all CTAs of the last have ended. Ranks wait for each
 * other by nothing but their kernels' signals. */
#ifndef TPRT_TEST_CUDA_MACHINE_H
#define TPRT_TEST_CUDA_MACHINE_H

#include "cuda/fused/plan.h"

/* What a stream does at turn i of a rank. */
typedef struct machine_program {
  uint64_t n_turns;
  const fused_launch *(*launch)(void *user, uint64_t turn); /* the call of the turn; any thread */
  /* on the rank's stream, before and after it */
  void (*before)(void *user, int rank, uint64_t turn);
  void (*after)(void *user, int rank, uint64_t turn);
  void *user;
} machine_program;

/* Runs it with n_ctas threads for each rank; calls have at most so many CTAs. */
void machine_run(int n_ranks, int n_ctas, const machine_program *program);

/* Runs one grid of n_ctas x n_ranks, of which each CTA is a thread, and waits for it. */
void machine_grid(fused_kernel kernel, const fused_args *args, uint32_t n_ctas, uint32_t n_ranks,
                  uint32_t n_threads);

#endif
