/* Backend "self": a world of one rank. Every operation is at most one copy. */
#define _GNU_SOURCE 1
#include "comm/backend.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

typedef struct self_transport {
  tprt__transport base;
  _Atomic int fault;       /* a tprt_status */
  tprt__transport *memory; /* the transport that provides registered memory; NULL: this one */
} self_transport;

static tprt_status self_probe(void) { return TPRT_OK; }

static tprt_status self_create(int n_ranks, int rank, const tprt__settings *settings,
                               tprt__transport **transport) {
  (void)settings;
  if (n_ranks != 1 || rank != 0) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "backend self is for one rank; for %d ranks use shm",
                      n_ranks);
  }
  self_transport *self = tprt__alloc(sizeof *self);
  if (!self)
    return tprt__fail_memory(sizeof *self);
  self->base = (tprt__transport){.backend = &tprt__backend_self, .n_ranks = 1, .host_ranks = 1};
  *transport = &self->base;
  return TPRT_OK;
}

static tprt_status self_create_threads(int n_ranks, const tprt__settings *settings,
                                       tprt__transport **transports) {
  return self_create(n_ranks, 0, settings, transports);
}

static tprt_status self_reserve(tprt__transport *parent, int n_users, const int *users,
                                tprt__token *token) {
  (void)parent;
  (void)n_users;
  (void)users;
  *token = (tprt__token){{0}};
  return TPRT_OK;
}

static tprt_status self_join(tprt__transport *parent, const tprt__token *token, int n_members,
                             const int *members, int index, const tprt__comm_settings *settings,
                             tprt__transport **child) {
  (void)token;
  (void)members;
  (void)settings;
  if (index < 0) {
    *child = NULL;
    return TPRT_OK;
  }
  tprt_status status = self_create(n_members, index, NULL, child);
  if (status)
    return status;
  (*child)->host_ranks = parent->host_ranks;
  /* A group of one rank in a world of another backend lives no longer than its parent, and uses the
   * parent's memory. */
  if (parent->backend != &tprt__backend_self)
    ((self_transport *)*child)->memory = parent;
  return TPRT_OK;
}

static tprt__fault self_fault(const tprt__transport *transport) {
  const self_transport *self = (const self_transport *)transport;
  return (tprt__fault){.status = (tprt_status)atomic_load(&self->fault)};
}

static tprt_status self_submit(tprt__transport *transport, const tprt__plan *plan,
                               uint32_t sequence, int64_t deadline) {
  (void)sequence;
  (void)deadline;
  tprt__fault fault = self_fault(transport);
  if (fault.status)
    return tprt__fault_fail(&fault);
  const void *send = plan->sends ? plan->sends[0].at : plan->send;
  void *recv = plan->recvs ? plan->recvs[0].at : plan->recv;
  size_t bytes = (size_t)(plan->recvs ? plan->recvs[0].bytes : plan->recv_bytes);
  if (!bytes)
    return TPRT_OK;
  if (plan->kind == TPRT_OP_PERMUTE && plan->source < 0) {
    memset(recv, 0, bytes);
  } else if (plan->reduction == TPRT_PREMUL_SUM) {
    int64_t count = (int64_t)(bytes / plan->type->size);
    tprt__reduce(plan->type, plan->reduction, &recv, 1, &send, 1, &plan->scale, count, 0);
  } else if (recv != send) {
    memcpy(recv, send, bytes);
  }
  return TPRT_OK;
}

/* Transfers of a rank with itself were done before, so nothing is left to do. */
static tprt_status self_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                 uint32_t sequence, int64_t deadline) {
  (void)plans;
  (void)n;
  (void)sequence;
  (void)deadline;
  tprt__fault fault = self_fault(transport);
  return fault.status ? tprt__fault_fail(&fault) : TPRT_OK;
}

static void self_abort(tprt__transport *transport, const tprt__fault *fault) {
  self_transport *self = (self_transport *)transport;
  int none = TPRT_OK;
  atomic_compare_exchange_strong(&self->fault, &none, (int)fault->status);
}

static bool self_is_peer_dead(const tprt__transport *transport, int rank) {
  (void)transport;
  (void)rank;
  return false;
}

static tprt_status self_alloc(tprt__transport *transport, size_t bytes, void **memory) {
  tprt__transport *other = ((self_transport *)transport)->memory;
  return other ? other->backend->alloc(other, bytes, memory) : tprt__alloc_aligned(bytes, memory);
}

static void self_free(tprt__transport *transport, void *memory) {
  tprt__transport *other = ((self_transport *)transport)->memory;
  if (other)
    other->backend->free(other, memory);
  else
    tprt__free_aligned(memory);
}

static uint64_t self_offset(const tprt__transport *transport, const void *memory) {
  const tprt__transport *other = ((const self_transport *)transport)->memory;
  return other ? other->backend->offset(other, memory) : 0;
}

/* All memory is accessible to the rank itself, so registration is unnecessary, also for a group of
 * one in another backend's world. */
static tprt_status self_register_memory(tprt__transport *transport, void *memory, uint64_t bytes,
                                        uint64_t *place) {
  (void)transport;
  (void)bytes;
  *place = (uint64_t)(uintptr_t)memory;
  return TPRT_OK;
}

static tprt_status self_deregister_memory(tprt__transport *transport, void *memory) {
  (void)transport;
  (void)memory;
  return TPRT_OK;
}

static tprt_status self_reach(const tprt__transport *transport, int rank, uint64_t place,
                              uint64_t bytes, void **memory) {
  (void)transport;
  (void)rank;
  (void)bytes;
  *memory = (void *)(uintptr_t)place;
  return TPRT_OK;
}

static tprt_status self_signal(tprt__transport *transport, int rank, uint64_t place) {
  (void)transport;
  (void)rank;
  atomic_fetch_add((_Atomic uint64_t *)(uintptr_t)place, 1);
  return TPRT_OK;
}

/* Polls, because another thread of this rank may signal. */
static tprt_status self_await(tprt__transport *transport, const _Atomic uint64_t *counter,
                              uint64_t value, int rank, int64_t deadline) {
  const struct timespec pause = {.tv_nsec = 50000};
  while (atomic_load(counter) < value) {
    tprt__fault fault = self_fault(transport);
    if (fault.status)
      return tprt__fault_fail(&fault);
    if (tprt__now() >= deadline)
      return tprt__fail(TPRT_TIMEOUT, "rank %d did not arrive in time", rank);
    nanosleep(&pause, NULL);
  }
  return TPRT_OK;
}

static tprt_status self_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                                int *members, int *n_members) {
  (void)transport;
  (void)deadline;
  *token = (tprt__token){{0}};
  members[0] = 0;
  *n_members = 1;
  return TPRT_OK;
}

static void self_constants(const tprt__transport *transport, int64_t *alpha_ps,
                           int64_t *beta_ps_per_kb) {
  (void)transport;
  *alpha_ps = 0;
  *beta_ps_per_kb = 100000; /* 10 GB/s */
}

static void self_cost(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost) {
  (void)transport;
  *cost = (tprt__cost){.algorithm = "copy",
                       .bytes = plan->recv == plan->send ? 0 : 2 * plan->recv_bytes};
}

static void self_leave(tprt__transport *transport) { (void)transport; }

static void self_destroy(tprt__transport *transport) { tprt__free(transport); }

const tprt__backend tprt__backend_self = {
    .size = sizeof(tprt__backend),
    .abi = TPRT__BACKEND_ABI,
    .capabilities = TPRT_CAP_THREADS | TPRT_CAP_PROCESSES | TPRT_CAP_REGISTERED |
                    TPRT_CAP_COLLECTIVES | TPRT_CAP_PIECES | TPRT_CAP_TRANSFERS | TPRT_CAP_TAGS |
                    TPRT_CAP_WINDOWS | TPRT_CAP_MAPPED | TPRT_CAP_USER_MEMORY | TPRT_CAP_RECOVERY |
                    TPRT_CAP_HOST_MEMORY | TPRT_CAP_GPU_PROGRAMS,
    .name = "self",
    .summary = "one rank, every operation is a copy",
    .lacks = {TPRT__LACK(TPRT_CAP_ELASTIC) = "it has one rank; use backend shm or tcp",
              TPRT__LACKS_STREAMS},
    .probe = self_probe,
    .create = self_create,
    .create_threads = self_create_threads,
    .reserve = self_reserve,
    .join = self_join,
    .begin = tprt__begin_noop,
    .quiesce = tprt__quiesce_noop,
    TPRT__NO_STREAMS,
    .submit = self_submit,
    .exchange = self_exchange,
    .abort = self_abort,
    .fault = self_fault,
    .peer_dead = self_is_peer_dead,
    .alloc = self_alloc,
    .free = self_free,
    .offset = self_offset,
    .register_memory = self_register_memory,
    .deregister_memory = self_deregister_memory,
    .register_memory_all = tprt__register_memory_each,
    .reach = self_reach,
    .put = tprt__mapped_put,
    .get = tprt__mapped_get,
    .signal = self_signal,
    .await = self_await,
    .recover = self_recover,
    .constants = self_constants,
    .cost = self_cost,
    .leave = self_leave,
    .destroy = self_destroy,
};
