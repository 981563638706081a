/* Windows of backend "shm". The arena of a rank is mapped by all peers anyway, so registering
 * memory only checks that it was allocated, and computes its offset in the arena.
 *
 * A rank whose communicator has failed destroys its windows and frees their memory without the
 * other ranks, and may allocate the memory again for another purpose. Therefore each rank counts
 * its running accesses, and checks for a fault after it has incremented the count. A rank that
 * deregisters memory after a fault waits until the accesses of all others have ended. */
#define _GNU_SOURCE 1
#include "backends/shm/shm.h"

#include <string.h>
#include <time.h>

tprt_status tprt__shm_register_memory(tprt__transport *transport, void *memory, uint64_t bytes,
                                      uint64_t *place) {
  const shm_transport *shm = (const shm_transport *)transport;
  if (bytes <= shm->segment->sizes.arena_bytes &&
      tprt__shm_arena_offset(shm, memory, (int64_t)bytes, place) &&
      tprt__shm_is_allocated(shm, *place, bytes))
    return TPRT_OK;
  return tprt__fail(TPRT_UNSUPPORTED,
                    "backend shm: peers can access only memory from tprt_mem_alloc, and the %llu "
                    "bytes at %p are not from one call of it",
                    (unsigned long long)bytes, memory);
}

/* True if all peers have ended the accesses that they began before the fault. Peers that are gone
 * have. */
static bool await_accesses(const shm_transport *shm) {
  enum { MAX_NS = 2000000000, NAP_NS = 50000 };
  const struct timespec nap = {.tv_nsec = NAP_NS};
  int64_t deadline = tprt__deadline(MAX_NS);
  for (int i = 0; i < shm->base.n_ranks;) {
    if (i == shm->base.rank || !atomic_load(&shm->lines[i]->n_accesses) ||
        tprt__shm_peer_dead(shm, i))
      i++;
    else if (tprt__now() < deadline)
      nanosleep(&nap, NULL);
    else
      return false;
  }
  return true;
}

tprt_status tprt__shm_deregister_memory(tprt__transport *transport, void *memory) {
  shm_transport *shm = (shm_transport *)transport;
  uint64_t place;
  tprt_status status = tprt__shm_register_memory(transport, memory, 1, &place);
  if (!status && tprt__shm_fault(transport).status && !await_accesses(shm))
    /* a peer was stopped during an access and may still resume it */
    tprt__shm_pin(shm->segment, shm->world_rank, place);
  return status;
}

tprt_status tprt__shm_reach(const tprt__transport *transport, int rank, uint64_t place,
                            uint64_t bytes, void **memory) {
  const shm_transport *shm = (const shm_transport *)transport;
  uint64_t arena = shm->segment->sizes.arena_bytes;
  if (bytes > arena || place > arena - bytes)
    return tprt__fail(TPRT_INTERNAL, "rank %d named memory outside its arena", shm->members[rank]);
  *memory = tprt__shm_arena(shm->segment, shm->members[rank]) + place;
  return TPRT_OK;
}

void tprt__shm_access_end(const shm_transport *shm) {
  atomic_fetch_sub(&shm->lines[shm->base.rank]->n_accesses, 1);
}

/* Keeps a rank that gives up from freeing buffers that this rank reads. This rank first counts its
 * access, then looks for a fault. The rank that gives up first records its fault, then reads the
 * count. So either this rank sees the fault and does not read, or the other sees the count and
 * waits. */
tprt__fault tprt__shm_access_begin(const shm_transport *shm) {
  atomic_fetch_add(&shm->lines[shm->base.rank]->n_accesses, 1);
  tprt__fault fault = tprt__shm_fault(&shm->base);
  if (fault.status)
    tprt__shm_access_end(shm);
  return fault;
}

/* Begins an access. If it fails, there is no access to end. */
static tprt_status begin_access(const shm_transport *shm, int rank, uint64_t place, uint64_t bytes,
                                void **memory) {
  tprt__fault fault = tprt__shm_access_begin(shm);
  if (fault.status)
    return tprt__fault_fail(&fault);
  tprt_status status = tprt__shm_reach(&shm->base, rank, place, bytes, memory);
  if (status)
    tprt__shm_access_end(shm);
  return status;
}

tprt_status tprt__shm_put(tprt__transport *transport, int rank, uint64_t place, const void *from,
                          uint64_t bytes, int64_t deadline) {
  (void)deadline; /* never waits */
  const shm_transport *shm = (const shm_transport *)transport;
  void *memory = NULL;
  tprt_status status = begin_access(shm, rank, place, bytes, &memory);
  if (status)
    return status;
  memmove(memory, from, bytes);
  tprt__shm_access_end(shm);
  return TPRT_OK;
}

tprt_status tprt__shm_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                          uint64_t bytes, int64_t deadline) {
  (void)deadline;
  const shm_transport *shm = (const shm_transport *)transport;
  void *memory = NULL;
  tprt_status status = begin_access(shm, rank, place, bytes, &memory);
  if (status)
    return status;
  memmove(to, memory, bytes);
  tprt__shm_access_end(shm);
  return TPRT_OK;
}

tprt_status tprt__shm_signal(tprt__transport *transport, int rank, uint64_t place) {
  const shm_transport *shm = (const shm_transport *)transport;
  void *counter = NULL;
  tprt_status status = begin_access(shm, rank, place, sizeof(uint64_t), &counter);
  if (status)
    return status;
  atomic_fetch_add((_Atomic uint64_t *)counter, 1);
  tprt__shm_ring(shm->lines[rank]);
  tprt__shm_access_end(shm);
  return TPRT_OK;
}
