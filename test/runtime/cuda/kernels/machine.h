/* Emulated GPUs: every CTA of every rank is a thread. The calls of a rank run in sequence as in a
 * stream: the next begins when all CTAs of the previous one have ended. Ranks synchronize only by
 * the signals of their kernels. */
#ifndef TPRT_TEST_CUDA_MACHINE_H
#define TPRT_TEST_CUDA_MACHINE_H

#include "cuda/fused/plan.h"

/* The stream program of a rank, by turn. */
typedef struct machine_program {
  uint64_t n_turns;
  const fused_launch *(*launch)(void *user, uint64_t turn); /* the call of the turn; any thread */
  /* run on the rank's stream, before and after the call */
  void (*before)(void *user, int rank, uint64_t turn);
  void (*after)(void *user, int rank, uint64_t turn);
  void *user;
} machine_program;

/* Runs the program with n_ctas threads per rank; calls have at most that many CTAs. */
void machine_run(int n_ranks, int n_ctas, const machine_program *program);

/* Runs one grid of n_ctas x n_ranks, of which each CTA is a thread, and waits for it. */
void machine_grid(fused_kernel kernel, const fused_args *args, uint32_t n_ctas, uint32_t n_ranks,
                  uint32_t n_threads);

#endif
