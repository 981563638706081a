/* Windows of backend "loopback": peers copy to and from a rank's memory at its address while the
 * memory is registered. A rank whose communicator has failed deregisters and frees its memory
 * without the other ranks. So every access first looks up the registration, and holds the lock
 * during the copy. */
#define _GNU_SOURCE 1
#include "backends/loopback/loopback.h"

#include <string.h>

struct loopback_registration {
  loopback_registration *next;
  uint64_t place, bytes; /* place: address of the memory */
  int rank;
};

static loopback_hub *hub_of(const tprt__transport *transport) {
  return ((const loopback_transport *)transport)->hub;
}

tprt_status tprt__loopback_register_memory(tprt__transport *transport, void *memory, uint64_t bytes,
                                           uint64_t *place) {
  loopback_hub *hub = hub_of(transport);
  loopback_registration *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  *place = (uint64_t)(uintptr_t)memory;
  pthread_rwlock_wrlock(&hub->registrations_lock);
  *made = (loopback_registration){
      .next = hub->registrations, .place = *place, .bytes = bytes, .rank = transport->rank};
  hub->registrations = made;
  pthread_rwlock_unlock(&hub->registrations_lock);
  return TPRT_OK;
}

tprt_status tprt__loopback_deregister_memory(tprt__transport *transport, void *memory) {
  loopback_hub *hub = hub_of(transport);
  pthread_rwlock_wrlock(&hub->registrations_lock);
  loopback_registration **at = &hub->registrations, *found;
  while (*at && ((*at)->rank != transport->rank || (*at)->place != (uint64_t)(uintptr_t)memory))
    at = &(*at)->next;
  found = *at;
  if (found)
    *at = found->next;
  pthread_rwlock_unlock(&hub->registrations_lock);
  tprt__free(found);
  return TPRT_OK;
}

void tprt__loopback_deregister_all(loopback_hub *hub) {
  while (hub->registrations) {
    loopback_registration *first = hub->registrations;
    hub->registrations = first->next;
    tprt__free(first);
  }
}

/* Keeps these bytes registered until end_access. If the rank has deregistered them, the access
 * fails and no lock is held. */
static tprt_status begin_access(loopback_hub *hub, int rank, uint64_t place, uint64_t bytes) {
  pthread_rwlock_rdlock(&hub->registrations_lock);
  for (const loopback_registration *e = hub->registrations; e; e = e->next) {
    if (e->rank == rank && place >= e->place && place - e->place <= e->bytes &&
        bytes <= e->bytes - (place - e->place))
      return TPRT_OK;
  }
  pthread_rwlock_unlock(&hub->registrations_lock);
  pthread_mutex_lock(&hub->lock);
  tprt_status status = hub->fault.status
                           ? tprt__loopback_fail(hub)
                           : tprt__fail(TPRT_PEER_DEAD, "window: rank %d has destroyed it",
                                        hub->seats[rank].world_rank);
  pthread_mutex_unlock(&hub->lock);
  return status;
}

static void end_access(loopback_hub *hub) { pthread_rwlock_unlock(&hub->registrations_lock); }

tprt_status tprt__loopback_reach(const tprt__transport *transport, int rank, uint64_t place,
                                 uint64_t bytes, void **memory) {
  loopback_hub *hub = hub_of(transport);
  tprt_status status = begin_access(hub, rank, place, bytes);
  if (status)
    return status;
  *memory = (void *)(uintptr_t)place;
  end_access(hub);
  return TPRT_OK;
}

tprt_status tprt__loopback_put(tprt__transport *transport, int rank, uint64_t place,
                               const void *from, uint64_t bytes, int64_t deadline) {
  (void)deadline; /* never waits */
  loopback_hub *hub = hub_of(transport);
  tprt_status status = begin_access(hub, rank, place, bytes);
  if (status)
    return status;
  memmove((void *)(uintptr_t)place, from, bytes);
  end_access(hub);
  return TPRT_OK;
}

tprt_status tprt__loopback_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                               uint64_t bytes, int64_t deadline) {
  (void)deadline;
  loopback_hub *hub = hub_of(transport);
  tprt_status status = begin_access(hub, rank, place, bytes);
  if (status)
    return status;
  memmove(to, (const void *)(uintptr_t)place, bytes);
  end_access(hub);
  return TPRT_OK;
}

tprt_status tprt__loopback_signal(tprt__transport *transport, int rank, uint64_t place) {
  loopback_hub *hub = hub_of(transport);
  tprt_status status = begin_access(hub, rank, place, sizeof(uint64_t));
  if (status)
    return status;
  pthread_mutex_lock(&hub->lock);
  atomic_fetch_add((_Atomic uint64_t *)(uintptr_t)place, 1);
  pthread_cond_broadcast(&hub->changed);
  pthread_mutex_unlock(&hub->lock);
  end_access(hub);
  return TPRT_OK;
}
