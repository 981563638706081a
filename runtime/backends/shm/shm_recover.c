/* Recovery: decides which ranks continue after a failure. Only the shared memory of the failed
 * communicator is usable. Every rank that wants to continue sets a flag. When all others have
 * ended, or at the deadline, the first rank to notice decides for all. If it dies while deciding,
 * another rank replaces it. */
#include "backends/shm/shm.h"

#include <string.h>

enum { RECOVERY_OPEN = 0, RECOVERY_DECIDED = 0x7fffffff };

static bool wants(const shm_transport *shm, int i) {
  return atomic_load(&shm->lines[i]->recovering) != 0;
}

/* True if every rank either wants to continue or has ended. */
static bool complete(const shm_transport *shm) {
  for (int i = 0; i < shm->base.n_ranks; i++) {
    if (!wants(shm, i) && !tprt__shm_peer_dead(shm, i))
      return false;
  }
  return true;
}

static void decide(shm_transport *shm, int *survivors) {
  int n = 0;
  for (int i = 0; i < shm->base.n_ranks; i++) {
    bool survives = wants(shm, i) && !tprt__shm_peer_dead(shm, i);
    atomic_store(&shm->lines[i]->survives, survives);
    if (survives)
      survivors[n++] = shm->members[i];
  }
  int channel = tprt__shm_channel_take(shm->segment, shm->world_rank, n, survivors, shm->channel);
  atomic_store(&shm->lines[0]->next_channel, channel);
  atomic_store(&shm->lines[0]->decision, RECOVERY_DECIDED);
  for (int i = 0; i < shm->base.n_ranks; i++)
    tprt__shm_ring(shm->lines[i]);
}

/* True if this rank becomes the one that decides. */
static bool become_decider(shm_transport *shm, uint32_t seen, bool due) {
  bool vacant = seen == RECOVERY_OPEN ||
                (seen <= (uint32_t)shm->base.n_ranks && tprt__shm_peer_dead(shm, (int)seen - 1));
  return due && vacant &&
         atomic_compare_exchange_strong(&shm->lines[0]->decision, &seen,
                                        (uint32_t)shm->base.rank + 1);
}

static tprt_status read_decision(const shm_transport *shm, tprt__token *token, int *members,
                                 int *n_members) {
  int32_t channel = atomic_load(&shm->lines[0]->next_channel);
  if (!atomic_load(&shm->lines[shm->base.rank]->survives)) {
    return tprt__fail(TPRT_INVALID_STATE,
                      "rank %d arrived too late: the others have continued without it",
                      shm->world_rank);
  }
  if (channel < 0)
    return tprt__fail(TPRT_NO_MEMORY, "all %d communicators are in use; raise TPRT_MAX_COMMS",
                      shm->segment->sizes.n_channels);
  *n_members = 0;
  for (int i = 0; i < shm->base.n_ranks; i++) {
    if (atomic_load(&shm->lines[i]->survives))
      members[(*n_members)++] = i;
  }
  *token = (tprt__token){{0}};
  memcpy(token->bytes, &channel, sizeof channel);
  return TPRT_OK;
}

tprt_status tprt__shm_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                              int *members, int *n_members) {
  enum { GRACE_NS = 1000000000 }; /* extra time for the rank that decides at the deadline */
  shm_transport *shm = (shm_transport *)transport;
  shm_line *own = shm->lines[transport->rank];
  uint32_t fresh = 0;
  if (!atomic_compare_exchange_strong(&own->recovering, &fresh, 1))
    return tprt__fail(TPRT_INVALID_STATE,
                      "this communicator was already replaced; recover the new one if it fails");
  for (int i = 0; i < transport->n_ranks; i++)
    tprt__shm_ring(shm->lines[i]);
  for (int rounds = 0;;) {
    uint32_t heard = atomic_load(&own->bell), seen = atomic_load(&shm->lines[0]->decision);
    if (seen == RECOVERY_DECIDED)
      return read_decision(shm, token, members, n_members);
    int64_t now = tprt__now();
    if (become_decider(shm, seen, now >= deadline || complete(shm)))
      decide(shm, members);
    else if (now - GRACE_NS >= deadline)
      return tprt__fail(TPRT_TIMEOUT,
                        "rank %u, which decides which ranks continue, did not arrive in time",
                        seen - 1);
    else
      tprt__shm_listen(shm, heard, &rounds);
  }
}
