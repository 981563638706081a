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

/* Makes sure that all ranks of the meeting use the same backend: otherwise all get TPRT_MISMATCH
 * with a text that names two of them. Gives all the same random number. */
tprt_status tprt__rendezvous_agree(const tprt__rendezvous *meeting, const char *backend,
                                   uint64_t *number);

/* Identifies a host. Processes with the same kernel, process namespace and network namespace count
 * as one host: for them shared memory and process ids mean the same. */
typedef struct tprt__host {
  char identity[64], name[64];
} tprt__host;
tprt_status tprt__host_describe(tprt__host *own);
bool tprt__host_is(const tprt__host *a, const tprt__host *b);

/* Determines where the ranks of a meeting are: first[r] is the lowest rank on the host of rank r.
 * `trait` is a property of this rank; *is_common tells whether all ranks of its host have it. */
tprt_status tprt__rendezvous_hosts(const tprt__rendezvous *meeting, uint64_t trait, int *first,
                                   bool *is_common);

/* A rank's number among the ranks of its host, which are counted in the order of the world. */
typedef struct tprt__host_rank {
  int rank, n_ranks;
} tprt__host_rank;
tprt__host_rank tprt__host_rank_of(int n_ranks, const int *first, int rank);

/* ---- descriptor_handoff.c: distributes a shared segment to the ranks of one host ---- */

/* The first of the members (NULL: ranks 0, 1, ...) sends a duplicate of `segment` to the others,
 * which get it in *received. If one of them is on another host, all get TPRT_UNSUPPORTED. */
tprt_status tprt__rendezvous_share_fd(const tprt__rendezvous *meeting, int n_members,
                                      const int *members, int segment, int *received);

#endif
