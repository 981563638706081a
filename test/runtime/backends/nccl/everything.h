/* A world of three ranks that uses a bit of everything, for tests that inject failures. */
#ifndef TPRT_TEST_NCCL_EVERYTHING_H
#define TPRT_TEST_NCCL_EVERYTHING_H

#include "machine.h"

enum { N_EVERYTHING = 3, COUNT = 96 };

/* Buffers of each rank on its device, allocated before calls are counted. */
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
  tprt_status status; /* result of the world's creation; the members have the other results */
  char text[200];
  int n_failed; /* ranks that failed and reported a reason */
  member members[N_EVERYTHING];
} everything;

/* Fails the test if a rank fails without a reason, or gets a wrong result. */
void run_everything(int64_t timeout_ns, everything *result);

#endif
