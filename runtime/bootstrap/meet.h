/* Ranks of one host that were started apart get the same shared segment. */
#ifndef TPRT_BOOTSTRAP_MEET_H
#define TPRT_BOOTSTRAP_MEET_H

#include "base.h"
#include "tprt/bootstrap.h"

/* A use of the store by all ranks, in the same order. */
typedef struct tprt__meeting {
  tprt_store *store;
  const char *backend;
  unsigned number; /* of the store's meetings */
  int n_ranks, rank;
  int64_t deadline;
} tprt__meeting;

tprt__meeting tprt__meeting_begin(tprt_store *store, const char *backend, int n_ranks, int rank, int64_t deadline);
/* Rank 0 gives a duplicate of `segment` to all others, who get it in *received. A rank on another host is UNSUPPORTED, on all
 * ranks. */
tprt_status tprt__meeting_share(const tprt__meeting *meeting, int segment, int *received);
/* Waits until all ranks have come this far. A rank that dies before is named. */
tprt_status tprt__meeting_end(const tprt__meeting *meeting);

#endif
