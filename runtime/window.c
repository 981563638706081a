/* Windows: the exchange of where memory is, and accesses, which are copies through addresses that the backend gives. */
#include "tprt/window.h"

#include "comm.h"

#include <string.h>

enum { SIGNAL_BYTES = 64 }; /* a counter has a cache line of its own */

/* What a rank says about its part. */
typedef struct part {
  int32_t status; /* why it has none */
  int32_t unused;
  uint64_t bytes;
  uint64_t offset, signals; /* of the memory and of the counters, for the backend */
} part;

struct tprt_window {
  tprt_comm *comm;
  int n_ranks, rank;
  unsigned char *memory;
  void *counters; /* of this rank: one a peer */
  part *parts;
  unsigned char **addresses;
  _Atomic uint64_t **signals; /* of this rank in the counters of each peer */
  _Atomic uint64_t *used;     /* signals of each peer that waits have used up */
};

static tprt__transport *transport_of(const tprt_comm *comm) { return comm->transport; }

static void release(tprt_window *window) {
  tprt_mem_free(window->comm, window->counters);
  tprt__free(window->parts);
  tprt__free(window->addresses);
  tprt__free(window->signals);
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
  window->addresses = tprt__alloc(n * sizeof *window->addresses);
  window->signals = tprt__alloc(n * sizeof *window->signals);
  window->used = tprt__alloc(n * sizeof *window->used);
  if (window->parts && window->addresses && window->signals && window->used)
    return window;
  release(window);
  return NULL;
}

/* This rank's own word on its part. */
static part describe(tprt_window *window, void *memory, size_t bytes) {
  tprt__transport *transport = transport_of(window->comm);
  part mine = {.bytes = bytes};
  tprt_status status = tprt_mem_alloc(window->comm, (size_t)window->n_ranks * SIGNAL_BYTES, &window->counters);
  if (!status)
    status = transport->backend->locate(transport, window->counters, SIGNAL_BYTES, &mine.signals);
  if (!status && bytes)
    status = transport->backend->locate(transport, memory, bytes, &mine.offset);
  mine.status = (int32_t)status;
  window->memory = memory;
  return mine;
}

/* Addresses of all parts, from what the ranks said. */
static tprt_status reach_all(tprt_window *window) {
  tprt__transport *transport = transport_of(window->comm);
  for (int i = 0; i < window->n_ranks; i++) {
    const part *at = &window->parts[i];
    void *memory = window->memory, *counters = window->counters;
    tprt_status status = TPRT_OK;
    if (i != window->rank && at->bytes)
      status = transport->backend->reach(transport, i, at->offset, at->bytes, &memory);
    if (!status && i != window->rank) {
      uint64_t bytes = (uint64_t)window->n_ranks * SIGNAL_BYTES;
      status = transport->backend->reach(transport, i, at->signals, bytes, &counters);
    }
    if (status)
      return status;
    window->addresses[i] = memory;
    window->signals[i] = (_Atomic uint64_t *)(void *)((unsigned char *)counters + window->rank * SIGNAL_BYTES);
  }
  return TPRT_OK;
}

tprt_status tprt_window_create(tprt_comm *comm, void *memory, size_t bytes, tprt_window **result) {
  if (!(tprt_comm_capabilities(comm) & TPRT_CAP_WINDOWS))
    return tprt__fail(TPRT_UNSUPPORTED, "backend %s has no windows: its ranks reach no memory of each other",
                      tprt_comm_backend(comm));
  tprt_window *window = allocate(comm);
  if (!window) /* the others are about to wait */
    return tprt__comm_fail(comm, tprt__fail_memory(sizeof *window), TPRT_OP_ALL_GATHER);
  part mine = describe(window, memory, bytes);
  tprt_status status = tprt_all_gather(comm, &mine, window->parts, sizeof mine, TPRT_U8, NULL, NULL);
  for (int i = 0; i < window->n_ranks && !status; i++) {
    status = (tprt_status)window->parts[i].status;
    if (status) {
      tprt__fail(status, "window: rank %d %s", comm->world_ranks[i],
                 status == TPRT_UNSUPPORTED ? "gave memory that peers cannot reach; take it from tprt_mem_alloc"
                                            : "has no registered memory left");
    }
  }
  if (!status)
    status = reach_all(window);
  if (status) {
    release(window);
    return status;
  }
  *result = window;
  return TPRT_OK;
}

tprt_status tprt_window_destroy(tprt_window *window) {
  if (!window)
    return TPRT_OK;
  tprt_status status = tprt_barrier(window->comm, NULL, NULL);
  release(window);
  return status;
}

int64_t tprt_window_bytes(const tprt_window *window, int rank) {
  return rank < 0 || rank >= window->n_ranks ? -1 : (int64_t)window->parts[rank].bytes;
}

static tprt_status check(const tprt_window *window, int rank) {
  tprt_status status = tprt__comm_check(window->comm);
  if (!status && (rank < 0 || rank >= window->n_ranks))
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "window: rank %d; there are %d", rank, window->n_ranks);
  return status;
}

static tprt_status check_range(const tprt_window *window, int rank, size_t offset, size_t bytes) {
  tprt_status status = check(window, rank);
  if (status)
    return status;
  uint64_t size = window->parts[rank].bytes;
  if (offset <= size && bytes <= size - offset)
    return TPRT_OK;
  return tprt__fail(TPRT_INVALID_ARGUMENT, "window: %zu bytes at %zu; the part of rank %d has %llu", bytes, offset, rank,
                    (unsigned long long)size);
}

tprt_status tprt_window_put(tprt_window *window, int rank, size_t offset, const void *from, size_t bytes) {
  tprt_status status = check_range(window, rank, offset, bytes);
  if (!status && bytes)
    memmove(window->addresses[rank] + offset, from, bytes);
  return status;
}

tprt_status tprt_window_get(tprt_window *window, int rank, size_t offset, void *to, size_t bytes) {
  tprt_status status = check_range(window, rank, offset, bytes);
  if (!status && bytes)
    memmove(to, window->addresses[rank] + offset, bytes);
  return status;
}

tprt_status tprt_window_map(tprt_window *window, int rank, void **memory) {
  tprt_status status = check(window, rank);
  if (!status)
    *memory = window->addresses[rank];
  return status;
}

tprt_status tprt_window_signal(tprt_window *window, int rank) {
  tprt_status status = check(window, rank);
  if (status)
    return status;
  tprt__transport *transport = transport_of(window->comm);
  atomic_fetch_add(window->signals[rank], 1);
  transport->backend->notify(transport, rank);
  return TPRT_OK;
}

tprt_status tprt_window_wait_signal(tprt_window *window, int rank, uint64_t n, int64_t timeout_ns) {
  tprt_status status = check(window, rank);
  if (!status && timeout_ns < 0)
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "window: timeout_ns is %lld", (long long)timeout_ns);
  if (status)
    return status;
  tprt_comm *comm = window->comm;
  tprt__transport *transport = transport_of(comm);
  int64_t deadline = tprt__deadline(timeout_ns ? timeout_ns : comm->timeout_ns);
  uint64_t wanted = atomic_fetch_add(&window->used[rank], n) + n;
  _Atomic uint64_t *counter = (_Atomic uint64_t *)(void *)((unsigned char *)window->counters + rank * SIGNAL_BYTES);
  status = transport->backend->await(transport, counter, wanted, rank, deadline);
  return status ? tprt__comm_fail(comm, status, (tprt_op_kind)0) : TPRT_OK;
}

/* ---- Memory of the user ---- */

tprt_status tprt_mem_register(tprt_comm *comm, void *memory, size_t bytes) {
  uint64_t offset;
  tprt__transport *transport = transport_of(comm);
  if (!memory || !bytes)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "registration of %zu bytes%s", bytes, memory ? "" : " at NULL");
  return transport->backend->locate(transport, memory, bytes, &offset);
}

tprt_status tprt_mem_deregister(tprt_comm *comm, void *memory) { return tprt_mem_register(comm, memory, 1); }
