/* Windows and user-registered memory. Ranks exchange the places of their memory; the backend
 * implements the accesses. */
#include "tprt/window.h"

#include "services/access.h"

#include <stdio.h>
#include <string.h>

enum { SIGNAL_BYTES = 64 }; /* each counter has its own cache line */

/* Description of a rank's part that is sent to all ranks. */
typedef struct part {
  int32_t status; /* the failure if the rank has no part */
  int32_t unused;
  uint64_t bytes;
  uint64_t memory, signals; /* the backend's identifiers of the memory and the counters */
} part;

struct tprt_window {
  tprt_comm *comm;
  int n_ranks, rank;
  void *memory;   /* of this rank; NULL: none is registered */
  void *counters; /* of this rank, one per peer; NULL: none are registered */
  part *parts;
  _Atomic uint64_t *used; /* for each peer, the number of its signals consumed by waits */
  tprt__access_queue *accesses, *waits;
};

static tprt__transport *transport_of(const tprt_comm *comm) { return comm->transport; }

static void release(tprt_window *window) {
  tprt__access_queue_destroy(window->accesses);
  tprt__access_queue_destroy(window->waits);
  tprt__transport *transport = transport_of(window->comm);
  if (window->memory)
    (void)transport->backend->deregister_memory(transport, window->memory);
  if (window->counters) {
    (void)transport->backend->deregister_memory(transport, window->counters);
    tprt_mem_free(window->comm, window->counters);
  }
  tprt__free(window->parts);
  tprt__free(window->used);
  tprt__free(window);
}

static tprt_window *allocate(tprt_comm *comm) {
  size_t n = (size_t)tprt_comm_size(comm);
  tprt_window *window = tprt__alloc(sizeof *window);
  if (!window)
    return NULL;
  *window = (tprt_window){.comm = comm, .n_ranks = (int)n, .rank = tprt_comm_rank(comm)};
  window->parts = tprt__alloc(n * sizeof *window->parts);
  window->used = tprt__alloc(n * sizeof *window->used);
  window->accesses = tprt__access_queue_create(window);
  window->waits = tprt__access_queue_create(window);
  if (window->parts && window->used && window->accesses && window->waits)
    return window;
  release(window);
  return NULL;
}

/* Registers this rank's memory and counters, and describes them. */
static part describe(tprt_window *window, void *memory, size_t bytes) {
  tprt__transport *transport = transport_of(window->comm);
  part mine = {.bytes = bytes};
  void *counters;
  uint64_t counter_bytes = (uint64_t)window->n_ranks * SIGNAL_BYTES;
  tprt_status status = tprt_mem_alloc(window->comm, counter_bytes, &counters);
  if (!status) {
    status = transport->backend->register_memory(transport, counters, counter_bytes, &mine.signals);
    if (status)
      tprt_mem_free(window->comm, counters);
    else
      window->counters = counters;
  }
  if (!status && bytes) {
    status = transport->backend->register_memory(transport, memory, bytes, &mine.memory);
    window->memory = status ? NULL : memory;
  }
  mine.status = (int32_t)status;
  return mine;
}

tprt_status tprt_window_create(tprt_comm *comm, void *memory, size_t bytes, tprt_window **window) {
  TPRT__NEED(comm);
  TPRT__NEED(window);
  if (!(tprt_comm_capabilities(comm) & TPRT_CAP_WINDOWS))
    return tprt__fail(TPRT_UNSUPPORTED, "backend %s does not support windows",
                      tprt_comm_backend(comm));
  tprt_window *made = allocate(comm);
  if (!made) /* not only local: the others are about to wait */
    return tprt__comm_fail(comm, tprt__fail_memory(sizeof *made), TPRT_OP_ALL_GATHER);
  part mine = describe(made, memory, bytes);
  tprt_status status = tprt_all_gather(comm, &mine, made->parts, sizeof mine, TPRT_U8, NULL, NULL);
  for (int i = 0; i < made->n_ranks && !status; i++) {
    status = (tprt_status)made->parts[i].status;
    if (status) {
      tprt__fail(status, "window: rank %d %s", comm->world_ranks[i],
                 status == TPRT_UNSUPPORTED
                     ? "passed memory that peers cannot access; allocate it with tprt_mem_alloc, "
                       "all of it at once"
                     : "has no memory left");
    }
  }
  if (status) {
    release(made);
    return status;
  }
  *window = made;
  return TPRT_OK;
}

tprt_status tprt_window_destroy(tprt_window *window) {
  if (!window)
    return TPRT_OK;
  tprt__access_queue_drain(window->accesses);
  tprt__access_queue_drain(window->waits);
  tprt_status status = tprt_barrier(window->comm, NULL, NULL);
  release(window);
  return status;
}

int64_t tprt_window_bytes(const tprt_window *window, int rank) {
  TPRT__NEED_OR(window, -1);
  return rank < 0 || rank >= window->n_ranks ? -1 : (int64_t)window->parts[rank].bytes;
}

static tprt_status check(const tprt_window *window, int rank) {
  tprt_status status = tprt__comm_check(window->comm);
  if (!status && (rank < 0 || rank >= window->n_ranks))
    status =
        tprt__fail(TPRT_INVALID_ARGUMENT, "window: rank %d is out of range; there are %d ranks",
                   rank, window->n_ranks);
  return status;
}

static tprt_status check_range(const tprt_window *window, int rank, size_t offset, size_t bytes) {
  tprt_status status = check(window, rank);
  if (status)
    return status;
  uint64_t size = window->parts[rank].bytes;
  if (offset <= size && bytes <= size - offset)
    return TPRT_OK;
  return tprt__fail(TPRT_INVALID_ARGUMENT,
                    "window: access to %zu bytes at offset %zu; the part of rank %d has %llu bytes",
                    bytes, offset, rank, (unsigned long long)size);
}

/* ---- accesses ---- */

static tprt_status put(tprt_window *window, const tprt_access *access, uint64_t wanted,
                       int64_t deadline) {
  (void)wanted;
  if (!access->bytes)
    return TPRT_OK;
  if (access->rank == window->rank) {
    memmove((char *)window->memory + access->offset, access->from, access->bytes);
    return TPRT_OK;
  }
  tprt__transport *transport = transport_of(window->comm);
  uint64_t place = window->parts[access->rank].memory + access->offset;
  return transport->backend->put(transport, access->rank, place, access->from, access->bytes,
                                 deadline);
}

static tprt_status get(tprt_window *window, const tprt_access *access, uint64_t wanted,
                       int64_t deadline) {
  (void)wanted;
  if (!access->bytes)
    return TPRT_OK;
  if (access->rank == window->rank) {
    memmove(access->to, (const char *)window->memory + access->offset, access->bytes);
    return TPRT_OK;
  }
  tprt__transport *transport = transport_of(window->comm);
  uint64_t place = window->parts[access->rank].memory + access->offset;
  return transport->backend->get(transport, access->rank, place, access->to, access->bytes,
                                 deadline);
}

static tprt_status send_signal(tprt_window *window, const tprt_access *access, uint64_t wanted,
                               int64_t deadline) {
  (void)wanted;
  (void)deadline;
  tprt__transport *transport = transport_of(window->comm);
  uint64_t place = window->parts[access->rank].signals + (uint64_t)window->rank * SIGNAL_BYTES;
  return transport->backend->signal(transport, access->rank, place);
}

static tprt_status wait_signal(tprt_window *window, const tprt_access *access, uint64_t wanted,
                               int64_t deadline) {
  tprt__transport *transport = transport_of(window->comm);
  _Atomic uint64_t *counter =
      (_Atomic uint64_t *)(void *)((unsigned char *)window->counters + access->rank * SIGNAL_BYTES);
  return transport->backend->await(transport, counter, wanted, access->rank, deadline);
}

static const struct {
  const char *name;
  bool moves; /* bytes */
  tprt_status (*run)(tprt_window *window, const tprt_access *access, uint64_t wanted,
                     int64_t deadline);
} kinds[] = {
    [TPRT_PUT] = {"put", true, put},
    [TPRT_GET] = {"get", true, get},
    [TPRT_SIGNAL] = {"signal", false, send_signal},
    [TPRT_WAIT_SIGNAL] = {"wait_signal", false, wait_signal},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

tprt_status tprt__window_access(tprt_window *window, const tprt_access *access, uint64_t wanted,
                                int64_t deadline) {
  tprt_status status = tprt__comm_check(window->comm);
  if (status)
    return status;
  status = kinds[access->kind].run(window, access, wanted, deadline);
  return status ? tprt__comm_fail(window->comm, status, (tprt_op_kind)0) : TPRT_OK;
}

static tprt_status check_access(const tprt_window *window, const tprt_access *access) {
  if ((unsigned)access->kind >= N_KINDS || !kinds[access->kind].run)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "window: %d is not a kind of access",
                      (int)access->kind);
  const char *name = kinds[access->kind].name;
  if (access->timeout_ns < 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "window: timeout_ns is %lld; it must be >= 0",
                      (long long)access->timeout_ns);
  if (access->stream)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "window: %s: backend %s works on host memory and takes no stream", name,
                      tprt_comm_backend(window->comm));
  if (!kinds[access->kind].moves)
    return check(window, access->rank);
  tprt_status status = check_range(window, access->rank, access->offset, access->bytes);
  if (!status && access->bytes && !(access->kind == TPRT_PUT ? access->from : access->to))
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "window: %s: %s is NULL", name,
                        access->kind == TPRT_PUT ? "from" : "to");
  return status;
}

/* Submits an access of the current version of the struct. */
static tprt_status submit(tprt_window *window, const tprt_access *access, tprt_work **work) {
  tprt_status status = check_access(window, access);
  if (status)
    return status;
  tprt_comm *comm = window->comm;
  int64_t deadline =
      tprt__deadline(access->timeout_ns ? access->timeout_ns : tprt__comm_timeout(comm));
  bool waits = access->kind == TPRT_WAIT_SIGNAL;
  uint64_t wanted = 0;
  if (waits)
    wanted = atomic_fetch_add(&window->used[access->rank], access->n_signals) + access->n_signals;
  if (work) {
    status = tprt__access_queue_add(waits ? window->waits : window->accesses, comm, access, wanted,
                                    deadline, work);
    if (status && waits)
      atomic_fetch_sub(&window->used[access->rank], access->n_signals);
    return status;
  }
  if (!waits)
    tprt__access_queue_drain(window->accesses);
  return tprt__window_access(window, access, wanted, deadline);
}

tprt_status tprt_window_submit(tprt_window *window, const tprt_access *access, tprt_work **work) {
  TPRT__NEED(window);
  TPRT__NEED(access);
  tprt_access own;
  tprt_status status = tprt__struct_copy(&own, sizeof own, access, "tprt_access");
  if (!status && own.version != TPRT_ACCESS_VERSION)
    status = tprt__fail(own.version ? TPRT_UNSUPPORTED : TPRT_INVALID_ARGUMENT,
                        "tprt_access.version is %u; this library knows %d", own.version,
                        TPRT_ACCESS_VERSION);
  return status ? status : submit(window, &own, work);
}

tprt_status tprt_window_put(tprt_window *window, int rank, size_t offset, const void *from,
                            size_t bytes) {
  TPRT__NEED(window);
  const tprt_access access = {
      .kind = TPRT_PUT, .rank = rank, .offset = offset, .from = from, .bytes = bytes};
  return submit(window, &access, NULL);
}

tprt_status tprt_window_get(tprt_window *window, int rank, size_t offset, void *to, size_t bytes) {
  TPRT__NEED(window);
  const tprt_access access = {
      .kind = TPRT_GET, .rank = rank, .offset = offset, .to = to, .bytes = bytes};
  return submit(window, &access, NULL);
}

tprt_status tprt_window_signal(tprt_window *window, int rank) {
  TPRT__NEED(window);
  const tprt_access access = {.kind = TPRT_SIGNAL, .rank = rank};
  return submit(window, &access, NULL);
}

tprt_status tprt_window_wait_signal(tprt_window *window, int rank, uint64_t n, int64_t timeout_ns) {
  TPRT__NEED(window);
  const tprt_access access = {
      .kind = TPRT_WAIT_SIGNAL, .rank = rank, .n_signals = n, .timeout_ns = timeout_ns};
  return submit(window, &access, NULL);
}

tprt_status tprt__mapped_put(tprt__transport *transport, int rank, uint64_t place, const void *from,
                             uint64_t bytes, int64_t deadline) {
  (void)deadline; /* never waits */
  void *memory;
  tprt_status status = transport->backend->reach(transport, rank, place, bytes, &memory);
  if (!status)
    memmove(memory, from, bytes);
  return status;
}

tprt_status tprt__mapped_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                             uint64_t bytes, int64_t deadline) {
  (void)deadline;
  void *memory;
  tprt_status status = transport->backend->reach(transport, rank, place, bytes, &memory);
  if (!status)
    memmove(to, memory, bytes);
  return status;
}

tprt_status tprt_window_map(tprt_window *window, int rank, void **memory) {
  TPRT__NEED(window);
  TPRT__NEED(memory);
  tprt_status status = check(window, rank);
  if (status)
    return status;
  tprt__transport *transport = transport_of(window->comm);
  const part *at = &window->parts[rank];
  /* stays NULL if the part has no bytes */
  void *mapped = rank == window->rank ? window->memory : NULL;
  if (rank != window->rank && at->bytes)
    status = transport->backend->reach(transport, rank, at->memory, at->bytes, &mapped);
  if (!status)
    *memory = mapped;
  return status;
}

/* ---- memory of the user ---- */

tprt_status tprt_mem_register(tprt_comm *comm, void *memory, size_t bytes) {
  TPRT__NEED(comm);
  uint64_t place;
  tprt__transport *transport = transport_of(comm);
  if (!memory || !bytes)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "registration of %zu bytes%s", bytes,
                      memory ? "" : " at NULL");
  return transport->backend->register_memory(transport, memory, bytes, &place);
}

tprt_status tprt__register_memory_each(tprt__transport *transport, void *memory, uint64_t bytes,
                                       int64_t deadline) {
  (void)deadline;
  uint64_t place;
  return transport->backend->register_memory(transport, memory, bytes, &place);
}

/* Description of a registration that is sent to all ranks. */
typedef struct claim {
  int32_t status;
  int32_t unused;
  uint64_t bytes;
} claim;

/* Returns TPRT_OK if all ranks succeeded with the same size; else the error of the first rank that
 * differs, on all ranks. */
static tprt_status compare_claims(tprt_comm *comm, tprt_status mine, uint64_t bytes) {
  size_t n = (size_t)tprt_comm_size(comm);
  int me = tprt_comm_rank(comm);
  claim own = {.status = (int32_t)mine, .bytes = bytes}, *all = tprt__alloc(n * sizeof *all);
  char text[256];
  if (!all) /* not only local: the others are about to wait */
    return tprt__comm_fail(comm, tprt__fail_memory(n * sizeof *all), TPRT_OP_ALL_GATHER);
  snprintf(text, sizeof text, "%s", mine ? tprt_last_error() : "");
  const tprt_op gather =
      tprt_op_flat(TPRT_OP_ALL_GATHER, &own, all, (int64_t)sizeof own, TPRT_U8, NULL);
  tprt_status status = tprt__comm_run_internal(comm, &gather);
  for (int r = 0; r < (int)n && !status; r++) {
    status = (tprt_status)all[r].status;
    if (status && r == me)
      tprt__fail(status, "%s", text);
    else if (status)
      tprt__fail(status, "registration: rank %d could not register its memory",
                 comm->world_ranks[r]);
    else if (all[r].bytes != all[0].bytes)
      status = tprt__fail(TPRT_MISMATCH, "registration: rank %d has %llu bytes, rank %d %llu",
                          comm->world_ranks[r], (unsigned long long)all[r].bytes,
                          comm->world_ranks[0], (unsigned long long)all[0].bytes);
  }
  tprt__free(all);
  return status;
}

tprt_status tprt_mem_register_all(tprt_comm *comm, void *memory, size_t bytes) {
  TPRT__NEED(comm);
  tprt__transport *transport = transport_of(comm);
  tprt_status status = memory && bytes
                           ? TPRT_OK
                           : tprt__fail(TPRT_INVALID_ARGUMENT, "registration of %zu bytes%s", bytes,
                                        memory ? "" : " at NULL");
  status = compare_claims(comm, status, bytes);
  if (status)
    return status;
  tprt__lane_enter(comm);
  status = tprt__comm_check(comm);
  if (!status)
    status = transport->backend->register_memory_all(transport, memory, bytes,
                                                     tprt__deadline(tprt__comm_timeout(comm)));
  tprt__lane_leave(comm);
  /* the other ranks will see the fault */
  if (status && transport->backend->fault(transport).status)
    return tprt__comm_fail(comm, status, (tprt_op_kind)0);
  tprt_status agreed = compare_claims(comm, status, bytes);
  if (agreed && !status)
    (void)transport->backend->deregister_memory(transport, memory);
  return agreed;
}

tprt_status tprt_mem_deregister(tprt_comm *comm, void *memory) {
  TPRT__NEED(comm);
  tprt__transport *transport = transport_of(comm);
  if (!memory)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "no memory to deregister at NULL");
  return transport->backend->deregister_memory(transport, memory);
}
