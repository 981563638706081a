/* How ranks that were started apart meet: through a store. */
#ifndef TPRT_BOOTSTRAP_MEET_H
#define TPRT_BOOTSTRAP_MEET_H

#include "base/base.h"
#include "tprt/bootstrap.h"

/* ---- rendezvous.c ---- */

/* A use of the store by all ranks, in the same order. */
typedef struct tprt__meeting {
  tprt_store *store;
  const char *backend;
  unsigned number; /* of the store's meetings */
  int n_ranks, rank;
  int64_t deadline;
} tprt__meeting;

tprt__meeting tprt__meeting_begin(tprt_store *store, const char *backend, int n_ranks, int rank,
                                  int64_t deadline);
/* What a rank puts into the store under this name. */
void tprt__meeting_key(char key[TPRT_STORE_KEY_BYTES], const tprt__meeting *meeting,
                       const char *what, int rank);
/* Waits for a value of exactly this size. */
tprt_status tprt__meeting_fetch(const tprt__meeting *meeting, const char *key, void *value,
                                size_t size);
/* Nanoseconds until the deadline, at least 1. */
int64_t tprt__meeting_left(const tprt__meeting *meeting);
/* Waits until all ranks have come this far. A rank that dies before is named. */
tprt_status tprt__meeting_end(const tprt__meeting *meeting);

/* Shared memory and process numbers mean the same where kernel, process and network name spaces are
 * the same: that is a host. */
typedef struct tprt__host {
  char identity[64], name[64];
} tprt__host;
tprt_status tprt__host_describe(tprt__host *own);
bool tprt__host_is(const tprt__host *a, const tprt__host *b);

/* A rank among those of its host, which count in the order of the world. */
typedef struct tprt__local {
  int rank, n_ranks;
} tprt__local;
tprt_status tprt__meeting_place(const tprt__meeting *meeting, tprt__local *local);

/* ---- descriptor_handoff.c: ranks of one host get the same shared segment ---- */

/* Rank 0 gives a duplicate of `segment` to all others, who get it in *received. A rank on another
 * host is UNSUPPORTED, on all ranks. */
tprt_status tprt__meeting_share(const tprt__meeting *meeting, int segment, int *received);

#endif
