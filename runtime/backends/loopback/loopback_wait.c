/* Waiting in a hub, the conditions that end a wait, and recovery after a failure. */
#define _GNU_SOURCE 1
#include "backends/loopback/loopback.h"

#include <string.h>
#include <time.h>

void tprt__loopback_sleep(loopback_hub *hub, int64_t deadline) {
  struct timespec until = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
  pthread_cond_timedwait(&hub->changed, &hub->lock, &until);
}

tprt_status tprt__loopback_fail(const loopback_hub *hub) {
  if (hub->fault.status == TPRT_MISMATCH && *hub->text)
    return tprt__fail(TPRT_MISMATCH, "%s", hub->text);
  return tprt__fault_fail(&hub->fault);
}

tprt_status tprt__loopback_record_fault(loopback_hub *hub, tprt_status status, int rank,
                                        const loopback_wait *wait) {
  if (!hub->fault.status) {
    hub->fault = (tprt__fault){.status = status,
                               .kind = wait->kind,
                               .rank = hub->seats[rank].world_rank,
                               .sequence = wait->sequence};
    pthread_cond_broadcast(&hub->changed);
  }
  return tprt__loopback_fail(hub);
}

void tprt__loopback_abort(tprt__transport *transport, const tprt__fault *fault) {
  loopback_hub *hub = ((loopback_transport *)transport)->hub;
  pthread_mutex_lock(&hub->lock);
  if (!hub->fault.status)
    hub->fault = *fault;
  pthread_cond_broadcast(&hub->changed);
  /* A running round still uses the buffers of ranks that have begun and now learn of the fault. */
  while (hub->running)
    pthread_cond_wait(&hub->changed, &hub->lock);
  pthread_mutex_unlock(&hub->lock);
}

tprt__fault tprt__loopback_fault(const tprt__transport *transport) {
  loopback_hub *hub = ((const loopback_transport *)transport)->hub;
  pthread_mutex_lock(&hub->lock);
  tprt__fault fault = hub->fault;
  pthread_mutex_unlock(&hub->lock);
  return fault;
}

tprt_status tprt__loopback_await(tprt__transport *transport, const _Atomic uint64_t *counter,
                                 uint64_t value, int rank, int64_t deadline) {
  loopback_hub *hub = ((loopback_transport *)transport)->hub;
  const loopback_wait wait = {.deadline = deadline};
  tprt_status status = TPRT_OK;
  pthread_mutex_lock(&hub->lock);
  while (atomic_load(counter) < value && !status) {
    if (hub->fault.status)
      status = tprt__loopback_fail(hub);
    else if (hub->seats[rank].left)
      status = tprt__loopback_record_fault(hub, TPRT_PEER_DEAD, rank, &wait);
    else if (tprt__now() >= deadline)
      status = tprt__loopback_record_fault(hub, TPRT_TIMEOUT, rank, &wait);
    else
      tprt__loopback_sleep(hub, deadline);
  }
  pthread_mutex_unlock(&hub->lock);
  return status;
}

/* A waiter checks the counter with the lock held. So it either sees the new value or is woken. */
/* ---- recovery ---- */

/* True if every rank either wants to continue or has left. */
static bool complete(const loopback_hub *hub) {
  bool all = true;
  for (int i = 0; i < hub->n_ranks; i++)
    all &= hub->seats[i].recovering || hub->seats[i].left;
  return all;
}

static void decide(loopback_hub *hub) {
  int n = 0;
  for (int i = 0; i < hub->n_ranks; i++)
    n += hub->seats[i].survives = hub->seats[i].recovering && !hub->seats[i].left;
  hub->next = tprt__loopback_invite(hub, n);
  hub->decided = true;
  pthread_cond_broadcast(&hub->changed);
}

static tprt_status read_decision(const loopback_hub *hub, int rank, tprt__token *token,
                                 int *members, int *n_members) {
  if (!hub->seats[rank].survives) {
    return tprt__fail(TPRT_INVALID_STATE,
                      "rank %d arrived too late: the others have continued without it",
                      hub->seats[rank].world_rank);
  }
  if (!hub->next)
    return tprt__fail_memory(sizeof hub->next);
  *n_members = 0;
  for (int i = 0; i < hub->n_ranks; i++) {
    if (hub->seats[i].survives)
      members[(*n_members)++] = i;
  }
  *token = (tprt__token){{0}};
  memcpy(token->bytes, &hub->next, sizeof hub->next);
  return TPRT_OK;
}

tprt_status tprt__loopback_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                                   int *members, int *n_members) {
  loopback_hub *hub = ((loopback_transport *)transport)->hub;
  loopback_seat *own = &hub->seats[transport->rank];
  tprt_status status;
  pthread_mutex_lock(&hub->lock);
  if (own->recovering) {
    status = tprt__fail(TPRT_INVALID_STATE,
                        "this communicator was already replaced; recover the new one if it fails");
  } else {
    own->recovering = true;
    pthread_cond_broadcast(&hub->changed);
    while (!hub->decided) {
      if (complete(hub) || tprt__now() >= deadline)
        decide(hub);
      else
        tprt__loopback_sleep(hub, deadline);
    }
    status = read_decision(hub, transport->rank, token, members, n_members);
  }
  pthread_mutex_unlock(&hub->lock);
  return status;
}
