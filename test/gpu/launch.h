/* Ranks of a program with a GPU each: threads of it, or processes that it starts. */
#ifndef TPRT_TEST_GPU_LAUNCH_H
#define TPRT_TEST_GPU_LAUNCH_H

#include "tprt/tprt.h"

enum { RANKS_GIVEN_UP = 1, RANKS_SKIPPED = 77 };

/* A rank; its exit status. It may exit the program. */
typedef int rank_fn(tprt_comm *comm, void *user);

/* PROGRAM threads|processes N_RANKS FURTHER.. of n_words words, and the exit status of the first
 * rank that has one. A process is the program again with two more words, of which this makes a
 * rank, too. RANKS_SKIPPED with a word on stderr where there are fewer GPUs; -1 if the words are
 * others. */
int ranks_run(int argc, char **argv, int n_words, rank_fn *fn, void *user);

#endif
