/* Backend "nccl": worlds, failure handling and the backend table. */
#define _GNU_SOURCE 1
#include "backends/nccl/nccl.h"

#include "bootstrap/rendezvous.h"

#include <stdio.h>
#include <string.h>

/* ---- worlds ---- */

static tprt_status nccl_probe(void) {
  const nccl_library *library;
  return tprt__nccl_load(&library);
}

static tprt_status open_world(tprt__transport *host, int ordinal,
                              const tprt__comm_settings *settings, tprt_status before,
                              tprt__transport **transport) {
  size_t bytes = (size_t)host->n_ranks * sizeof(int);
  int *members = tprt__alloc(bytes);
  if (!members) {
    host->backend->destroy(host);
    return tprt__fail_memory(bytes);
  }
  for (int i = 0; i < host->n_ranks; i++)
    members[i] = i;
  tprt_status status =
      tprt__nccl_open_endpoint(host, ordinal, members, settings, before, transport);
  tprt__free(members);
  return status;
}

/* Determines the number of this rank among those of its host. */
static tprt_status find_host_rank(const tprt__rendezvous *meeting, tprt__host_rank *local) {
  bool is_common;
  int *first = tprt__alloc((size_t)meeting->n_ranks * sizeof *first);
  if (!first)
    return tprt__fail_memory((size_t)meeting->n_ranks * sizeof *first);
  tprt_status status = tprt__rendezvous_hosts(meeting, 0, first, &is_common);
  if (!status)
    *local = tprt__host_rank_of(meeting->n_ranks, first, meeting->rank);
  tprt__free(first);
  return status;
}

/* Opens the companion communicator on host memory, and determines this rank's number on its host.
 * The ranks of a segment are on one host; ranks that meet in a store may be on several. */
static tprt_status open_host(int n_ranks, int rank, const tprt__settings *settings, int *local_rank,
                             tprt__transport **host) {
  tprt__host_rank local = {.rank = rank, .n_ranks = n_ranks};
  tprt_status status = TPRT_OK;
  if (n_ranks > 1 && settings->segment_fd < 0 && settings->store) {
    const tprt__rendezvous meeting = tprt__rendezvous_begin(settings->store, "nccl", n_ranks, rank,
                                                            tprt__deadline(settings->timeout_ns));
    status = find_host_rank(&meeting, &local);
  }
  if (status)
    return status;
  const tprt__backend *backend = n_ranks == 1               ? &tprt__backend_self
                                 : local.n_ranks == n_ranks ? &tprt__backend_shm
                                                            : &tprt__backend_tcp;
  *local_rank = local.rank;
  return backend->create(n_ranks, rank, settings, host);
}

static tprt_status nccl_create(int n_ranks, int rank, const tprt__settings *settings,
                               tprt__transport **transport) {
  const nccl_library *library;
  tprt__transport *host;
  int local_rank, ordinal = -1;
  tprt_status status = tprt__nccl_load(&library);
  if (!status)
    status = open_host(n_ranks, rank, settings, &local_rank, &host);
  if (status)
    return status;
  status = tprt__device_choose(library->device, settings->comm.hints[TPRT__HINT_DEVICE], local_rank,
                               &ordinal);
  return open_world(host, ordinal, &settings->comm, status, transport);
}

/* State of a thread that opens one rank. Each rank needs a thread because it waits for the
 * others. */
typedef struct opening {
  pthread_t thread;
  tprt__transport *host, *made;
  const tprt__comm_settings *settings;
  tprt_status status;
  char text[512];
} opening;

static void *open_thread(void *argument) {
  opening *own = argument;
  own->status = open_world(own->host, own->host->rank, own->settings, TPRT_OK, &own->made);
  snprintf(own->text, sizeof own->text, "%s", own->status ? tprt_last_error() : "");
  return NULL;
}

/* Opens all ranks. If a thread cannot be started, the companions of the missing ranks are
 * destroyed, which makes the other ranks fail. */
static tprt_status open_all(int n_ranks, opening *ranks, tprt__transport **transports) {
  int n_started = 0;
  while (n_started < n_ranks &&
         pthread_create(&ranks[n_started].thread, NULL, open_thread, &ranks[n_started]) == 0)
    n_started++;
  for (int i = n_started; i < n_ranks; i++)
    ranks[i].host->backend->destroy(ranks[i].host);
  tprt_status status =
      n_started < n_ranks
          ? tprt__fail(TPRT_SYSTEM, "cannot start a thread in which rank %d joins the world",
                       n_started)
          : TPRT_OK;
  for (int i = 0; i < n_started; i++) {
    pthread_join(ranks[i].thread, NULL);
    if (ranks[i].status && !status)
      status = tprt__fail(ranks[i].status, "%s", ranks[i].text);
    transports[i] = ranks[i].made;
  }
  for (int i = 0; i < n_started && status; i++) {
    if (!ranks[i].status)
      transports[i]->backend->destroy(transports[i]);
  }
  return status;
}

static tprt_status nccl_create_threads(int n_ranks, const tprt__settings *settings,
                                       tprt__transport **transports) {
  const nccl_library *library;
  int n_devices = 0;
  tprt_status status = tprt__nccl_load(&library);
  if (!status)
    status = tprt__device_check(library->device, library->device->driver->device_count(&n_devices),
                                "number of devices");
  if (!status && n_ranks > n_devices)
    status = tprt__fail(TPRT_UNSUPPORTED,
                        "backend nccl: %d ranks need as many devices; there are %d (for several "
                        "ranks on one device, use backend loopback)",
                        n_ranks, n_devices);
  if (status)
    return status;
  opening *ranks = tprt__alloc((size_t)n_ranks * sizeof *ranks);
  tprt__transport **hosts = tprt__alloc((size_t)n_ranks * sizeof *hosts);
  status = ranks && hosts ? tprt__backend_loopback.create_threads(n_ranks, settings, hosts)
                          : tprt__fail_memory((size_t)n_ranks * sizeof *ranks);
  for (int i = 0; i < n_ranks && !status; i++) {
    ranks[i].host = hosts[i];
    ranks[i].settings = &settings->comm;
  }
  if (!status)
    status = open_all(n_ranks, ranks, transports);
  tprt__free(hosts);
  tprt__free(ranks);
  return status;
}

/* ---- failure and destruction ---- */

static void nccl_abort(tprt__transport *transport, const tprt__fault *fault) {
  transport->host->backend->abort(transport->host, fault);
  tprt__nccl_abort_comm((nccl_transport *)transport);
}

static tprt__fault nccl_fault(const tprt__transport *transport) {
  return transport->host->backend->fault(transport->host);
}

static bool nccl_is_peer_dead(const tprt__transport *transport, int rank) {
  return transport->host->backend->peer_dead(transport->host, rank);
}

static tprt_status nccl_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                                int *members, int *n_members) {
  tprt__nccl_abort_comm((nccl_transport *)transport);
  return transport->host->backend->recover(transport->host, deadline, token, members, n_members);
}

static void nccl_leave(tprt__transport *transport) {
  transport->host->backend->leave(transport->host);
}

static void nccl_destroy(tprt__transport *transport) {
  nccl_leave(transport);
  tprt__nccl_close_endpoint((nccl_transport *)transport);
}

/* ---- memory of other ranks: accessible to kernels only ---- */

static tprt_status no_window(void) {
  return tprt__fail(TPRT_UNSUPPORTED, "backend nccl: the host cannot access memory of other ranks");
}

static tprt_status nccl_reach(const tprt__transport *transport, int rank, uint64_t place,
                              uint64_t bytes, void **memory) {
  (void)transport;
  (void)rank;
  (void)place;
  (void)bytes;
  (void)memory;
  return no_window();
}

static tprt_status nccl_put(tprt__transport *transport, int rank, uint64_t place, const void *from,
                            uint64_t bytes, int64_t deadline) {
  (void)transport;
  (void)rank;
  (void)place;
  (void)from;
  (void)bytes;
  (void)deadline;
  return no_window();
}

static tprt_status nccl_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                            uint64_t bytes, int64_t deadline) {
  return nccl_put(transport, rank, place, to, bytes, deadline);
}

static tprt_status nccl_signal(tprt__transport *transport, int rank, uint64_t place) {
  return nccl_put(transport, rank, place, NULL, 0, 0);
}

static tprt_status nccl_await(tprt__transport *transport, const _Atomic uint64_t *counter,
                              uint64_t value, int rank, int64_t deadline) {
  (void)counter;
  (void)value;
  return nccl_put(transport, rank, 0, NULL, 0, deadline);
}

/* ---- cost ---- */

static void nccl_constants(const tprt__transport *transport, int64_t *alpha_ps,
                           int64_t *beta_ps_per_kb) {
  (void)transport;
  *alpha_ps = 10000000;   /* 10 us: a launch and a synchronization */
  *beta_ps_per_kb = 5120; /* 200 GB/s */
}

static void nccl_cost(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost) {
  (void)transport;
  *cost = (tprt__cost){.algorithm = "nccl", .n_steps = 1, .bytes = plan->traffic};
}

enum {
  NCCL_HINTS = 1 << TPRT__HINT_PRIORITY | 1 << TPRT__HINT_TRAFFIC_CLASS | 1 << TPRT__HINT_MIN_CTAS |
               1 << TPRT__HINT_MAX_CTAS
};

const tprt__backend tprt__backend_nccl = {
    .size = sizeof(tprt__backend),
    .abi = TPRT__BACKEND_ABI,
    .capabilities = TPRT_CAP_THREADS | TPRT_CAP_PROCESSES | TPRT_CAP_REGISTERED |
                    TPRT_CAP_COLLECTIVES | TPRT_CAP_PIECES | TPRT_CAP_TRANSFERS |
                    TPRT_CAP_USER_MEMORY | TPRT_CAP_RECOVERY | TPRT_CAP_STREAMS |
                    TPRT_CAP_GPU_PROGRAMS,
    .hints = NCCL_HINTS | 1 << TPRT__HINT_DEVICE,
    .child_hints = NCCL_HINTS,
    .needs_store = true,
    .name = "nccl",
    .summary = "ranks with one GPU each, operating on GPU memory",
    .lacks = {TPRT__LACK(TPRT_CAP_TAGS) = "NCCL has no tags",
              TPRT__LACK(TPRT_CAP_WINDOWS) =
                  ("up to 2.28, NCCL offers put, get and signal only inside kernels; the host "
                   "calls of 2.29 are not used"),
              TPRT__LACK(TPRT_CAP_MAPPED) =
                  "the host cannot access memory of other ranks; NCCL maps it for kernels only",
              TPRT__LACK(TPRT_CAP_HOST_MEMORY) = "NCCL operates on device memory only",
              TPRT__LACK(TPRT_CAP_ELASTIC) =
                  "it does not use NCCL's grow, of 2.29; let all ranks create a new world"},
    .probe = nccl_probe,
    .create = nccl_create,
    .create_threads = nccl_create_threads,
    .reserve = tprt__nccl_reserve,
    .join = tprt__nccl_join,
    .begin = tprt__begin_noop,
    .quiesce = tprt__quiesce_noop,
    .accept = tprt__nccl_accept,
    .submit = tprt__nccl_submit,
    .exchange = tprt__nccl_exchange,
    .joins = tprt__nccl_joins,
    .launch = tprt__nccl_launch,
    .settle = tprt__nccl_settle,
    .record = tprt__nccl_record,
    .hold = tprt__nccl_hold,
    .abort = nccl_abort,
    .fault = nccl_fault,
    .peer_dead = nccl_is_peer_dead,
    .alloc = tprt__nccl_alloc,
    .free = tprt__nccl_free,
    .offset = tprt__no_offset,
    .register_memory = tprt__nccl_register_memory,
    .deregister_memory = tprt__nccl_deregister_memory,
    .register_memory_all = tprt__nccl_register_memory_all,
    .reach = nccl_reach,
    .put = nccl_put,
    .get = nccl_get,
    .signal = nccl_signal,
    .await = nccl_await,
    .recover = nccl_recover,
    .constants = nccl_constants,
    .cost = nccl_cost,
    .leave = nccl_leave,
    .destroy = nccl_destroy,
};
