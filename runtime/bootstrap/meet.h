/* Ranks of one host that were started apart get the same shared segment. */
#ifndef TPRT_BOOTSTRAP_MEET_H
#define TPRT_BOOTSTRAP_MEET_H

#include "base.h"
#include "tprt/bootstrap.h"

/* Rank 0 gives a duplicate of `segment` to all others, who get it in *received. All ranks call it with the same timeout. A rank
 * on another host is UNSUPPORTED, on all ranks; `what` is the backend, for the message. */
tprt_status tprt__meet(tprt_store *store, const char *what, int n_ranks, int rank, int64_t deadline, int segment,
                       int *received);

#endif
