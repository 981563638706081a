/* A world of three ranks that does a bit of everything: for tests in which something of it
 * fails. */
#ifndef TPRT_TEST_NCCL_EVERYTHING_H
#define TPRT_TEST_NCCL_EVERYTHING_H

#include "machine.h"

enum { N_EVERYTHING = 3, COUNT = 96 };

/* Of each rank, on its device, taken before anything counts. */
extern float *sends[4], *recvs[4];
extern void *streams[4];
void take_buffers(int n);
void give_buffers(int n);

typedef struct member {
  tprt_comm *comm;
  tprt_status status;
  char text[200];
} member;

typedef struct everything {
  tprt_status status; /* of making the world; the members have the rest */
  char text[200];
  int n_failed; /* ranks that failed, and say why */
  member members[N_EVERYTHING];
} everything;

/* Fails the test where a rank fails without a word, or gets a wrong result. */
void run_everything(int64_t timeout_ns, everything *result);

#endif
