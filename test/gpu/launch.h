/* Ranks with one GPU each: threads of the program, or processes that it starts. */
#ifndef TPRT_TEST_GPU_LAUNCH_H
#define TPRT_TEST_GPU_LAUNCH_H

#include "tprt/tprt.h"

enum { RANKS_GIVEN_UP = 1, RANKS_SKIPPED = 77 };

/* The function of a rank; returns its exit status. It may exit the program. */
typedef int rank_fn(tprt_comm *comm, void *user);

/* Runs PROGRAM threads|processes N_RANKS FURTHER.., which has n_words words, and returns the exit
 * status of the first rank with one. A process runs the program again with two more words, from
 * which this function creates its rank. RANKS_SKIPPED, with a message on stderr, if there are fewer
 * GPUs; -1 for other words. */
int ranks_run(int argc, char **argv, int n_words, rank_fn *fn, void *user);

#endif
