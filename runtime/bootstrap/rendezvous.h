/* Rendezvous of separately started ranks through a store. */
#ifndef TPRT_BOOTSTRAP_MEET_H
#define TPRT_BOOTSTRAP_MEET_H

#include "base/base.h"
#include "tprt/bootstrap.h"

/* ---- rendezvous.c ---- */

/* A use of the store by all ranks. All ranks begin their meetings in the same order. */
typedef struct tprt__rendezvous {
  tprt_store *store;
  const char *backend;
  unsigned number; /* number of this meeting of the store */
  int n_ranks, rank;
  int64_t deadline, timeout_ns; /* the latter ends at the former */
} tprt__rendezvous;

tprt__rendezvous tprt__rendezvous_begin(tprt_store *store, const char *backend, int n_ranks,
                                        int rank, int64_t deadline);
/* Writes the key under which a rank stores a value of this meeting. */
void tprt__rendezvous_key(char key[TPRT_STORE_KEY_BYTES], const tprt__rendezvous *meeting,
                          const char *what, int rank);
/* Waits for a value of exactly this size, which rank `owner` sets. */
tprt_status tprt__rendezvous_fetch(const tprt__rendezvous *meeting, const char *key, int owner,
                                   void *value, size_t size);
/* Nanoseconds until the deadline, at least 1. */
int64_t tprt__rendezvous_time_left(const tprt__rendezvous *meeting);
/* TPRT_PEER_DEAD if a rank is known to have died: for waits that are not for the store. */
tprt_status tprt__rendezvous_check(const tprt__rendezvous *meeting);
/* Waits until all ranks have called it. If a rank dies before, the error names it. */
tprt_status tprt__rendezvous_end(const tprt__rendezvous *meeting);

/* Identifies a host. Processes with the same kernel, process namespace and network namespace count
 * as one host: for them shared memory and process ids mean the same. */
typedef struct tprt__host {
  char identity[64], name[64];
} tprt__host;
tprt_status tprt__host_describe(tprt__host *own);
bool tprt__host_is(const tprt__host *a, const tprt__host *b);

/* A rank's number among the ranks of its host, which are counted in the order of the world. */
typedef struct tprt__host_rank {
  int rank, n_ranks;
} tprt__host_rank;
tprt_status tprt__rendezvous_host_rank(const tprt__rendezvous *meeting, tprt__host_rank *local);

/* ---- descriptor_handoff.c: distributes a shared segment to the ranks of one host ---- */

/* Rank 0 sends a duplicate of `segment` to all other ranks, which get it in *received. If a rank is
 * on another host, all ranks get TPRT_UNSUPPORTED. */
tprt_status tprt__rendezvous_share_fd(const tprt__rendezvous *meeting, int segment, int *received);

#endif
