/* Backend "nccl": worlds, groups, and the table. */
#define _GNU_SOURCE 1
#include "nccl/nccl.h"

#include "bootstrap/meet.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- Ends ---- */

static void close_end(nccl_transport *nccl) {
  tprt__transport *host = nccl->base.host;
  while (nccl->registrations)
    tprt__nccl_withdraw(&nccl->base, (void *)(uintptr_t)nccl->registrations->memory);
  tprt__nccl_drop(nccl);
  tprt__nccl_watch_stop(&nccl->watch);
  if (nccl->context) {
    const cuda_device_calls *device = nccl->device;
    bool entered = !tprt__nccl_enter_device(nccl); /* if not, giving back may still succeed */
    tprt__nccl_scratch_free(nccl);
    if (nccl->word)
      device->memory_free(nccl->word);
    if (nccl->reached)
      device->event_destroy(nccl->reached);
    if (nccl->scratch_used)
      device->event_destroy(nccl->scratch_used);
    if (nccl->stream)
      device->stream_destroy(nccl->stream);
    if (entered)
      tprt__nccl_leave_device(nccl);
    device->context_release(nccl->ordinal);
  }
  if (host)
    host->backend->destroy(host);
  pthread_mutex_destroy(&nccl->lock);
  tprt__free(nccl->world_ranks);
  tprt__free(nccl);
}

/* What this rank has on its device, and which that is. */
static tprt_status open_device(nccl_transport *nccl, cuda_uuid *uuid) {
  enum { WORD_BYTES = 64 };
  const cuda_device_calls *device = nccl->device;
  int number;
  tprt_status status = tprt__device_check(device, device->device_get(&number, nccl->ordinal), "the device");
  if (!status)
    status = tprt__device_check(device, device->device_uuid(uuid, number), "the device's identity");
  if (!status)
    status = tprt__device_check(device, device->context_retain(&nccl->context, number), "the context of the device");
  if (status)
    return status;
  status = tprt__nccl_enter_device(nccl);
  if (status)
    return status;
  status = tprt__device_check(device, device->stream_create(&nccl->stream, CUDA_STREAM_NON_BLOCKING), "a stream");
  if (!status)
    status = tprt__device_check(device, device->event_create(&nccl->reached, CUDA_EVENT_DISABLE_TIMING), "an event");
  if (!status)
    status = tprt__device_check(device, device->event_create(&nccl->scratch_used, CUDA_EVENT_DISABLE_TIMING), "an event");
  if (!status)
    status = tprt__device_check(device, device->memory_alloc(&nccl->word, WORD_BYTES), "memory of the device");
  if (!status)
    status = tprt__device_check(device, device->memory_set(nccl->word, 0, WORD_BYTES, nccl->stream), "clearing memory");
  tprt__nccl_leave_device(nccl);
  return status;
}

/* What the ranks of a new communicator tell each other. */
typedef struct hello {
  int32_t status; /* why this rank cannot take part */
  cuda_uuid device;
  nccl_id id; /* of member 0 */
} hello;

/* NCCL has one rank a device; what it says of two depends on its version, and may come late. All ranks see the same. */
static tprt_status check_distinct(const nccl_transport *nccl, const hello *all, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      if (memcmp(&all[i].device, &all[j].device, sizeof all[i].device) == 0)
        return tprt__fail(TPRT_UNSUPPORTED,
                          "backend nccl: ranks %d and %d have the same device, and NCCL has one rank a device (TPRT_DEVICE "
                          "chooses; several ranks on one device are virtual ranks: backend loopback)",
                          nccl->world_ranks[i], nccl->world_ranks[j]);
    }
  }
  return TPRT_OK;
}

/* All ranks tell all, through the host's communicator: a failure of one becomes that of all. */
static tprt_status agree(nccl_transport *nccl, const hello *mine, hello *first, nccl_wait *wait) {
  tprt__transport *host = nccl->base.host;
  size_t bytes = (size_t)host->n_ranks * sizeof *mine;
  hello *all = tprt__alloc(bytes);
  if (!all)
    return tprt__fail_memory(bytes);
  char own[256];
  snprintf(own, sizeof own, "%s", tprt_last_error());
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, mine, all, (int64_t)sizeof *mine, TPRT_U8, NULL);
  tprt__plan plan;
  tprt_status status = tprt__plan_make(&op, host->n_ranks, host->rank, &plan);
  if (!status)
    status = host->backend->submit(host, &plan, ++nccl->host_sequence, wait->deadline);
  for (int i = 0; i < host->n_ranks && !status; i++) {
    status = (tprt_status)all[i].status;
    if (status && i == host->rank)
      tprt__fail(status, "%s", own);
    else if (status)
      tprt__fail(status, "rank %d could not open its end of the communicator of NCCL", nccl->world_ranks[i]);
  }
  if (!status)
    status = check_distinct(nccl, all, host->n_ranks);
  *first = all[0];
  tprt__free(all);
  return status;
}

static tprt_status initialize(nccl_transport *nccl, nccl_id id, nccl_wait *wait) {
  nccl_config config = tprt__nccl_config();
  tprt_status status = tprt__nccl_enter_device(nccl);
  if (status)
    return status;
  pthread_mutex_lock(&nccl->lock);
  nccl_result result = nccl->library->init(&nccl->comm, nccl->base.n_ranks, id, nccl->base.rank, &config);
  pthread_mutex_unlock(&nccl->lock);
  status = tprt__nccl_check(nccl->library, NULL, result, "ncclCommInitRankConfig");
  if (!status)
    status = tprt__nccl_ready(nccl, wait);
  tprt__nccl_leave_device(nccl);
  return status;
}

/* Whether the communicator failed when some rank had it already: the others get it as well, and hear of that from it. */
static bool was_used(const nccl_transport *nccl) {
  tprt__fault fault = nccl->base.host->backend->fault(nccl->base.host);
  return fault.status && (fault.status == TPRT_ABORTED || fault.kind);
}

/* One rank's end around that of the host, which it takes over in any case; waits for the others. `members` are ranks of the
 * world; `before`: why this rank cannot take part, with the thread's error text, which the others are to learn. */
static tprt_status open_end(tprt__transport *host, int ordinal, const int *members, int64_t timeout_ns, tprt_status before,
                            tprt__transport **transport) {
  nccl_transport *nccl = tprt__alloc(sizeof *nccl);
  int *ranks = tprt__alloc((size_t)host->n_ranks * sizeof *ranks);
  if (!nccl || !ranks) {
    tprt__free(ranks);
    tprt__free(nccl);
    host->backend->destroy(host);
    return tprt__fail_memory(sizeof *nccl);
  }
  memcpy(ranks, members, (size_t)host->n_ranks * sizeof *ranks);
  nccl->base = (tprt__transport){.backend = &tprt__backend_nccl,
                                 .rank = host->rank,
                                 .n_ranks = host->n_ranks,
                                 .host_ranks = host->host_ranks,
                                 .device = ordinal + 1,
                                 .host = host};
  nccl->world_ranks = ranks;
  nccl->timeout_ns = timeout_ns;
  nccl->ordinal = ordinal;
  pthread_mutex_init(&nccl->lock, NULL);
  tprt__nccl_watch_start(&nccl->watch);
  nccl_wait wait = {.deadline = tprt__deadline(timeout_ns)};
  hello mine = {.status = TPRT_OK}, first;
  int64_t check = 0, relaxed = 0;
  tprt_status status = before ? before : tprt__nccl_load(&nccl->library);
  if (!status) {
    nccl->device = nccl->library->device;
    status = tprt__env_number(TPRT__ENV_NCCL_CHECK, 0, &check);
  }
  if (!status)
    status = tprt__env_number(TPRT__ENV_NCCL_RELAXED, 0, &relaxed);
  if (!status)
    status = open_device(nccl, &mine.device);
  if (!status && host->rank == 0)
    status = tprt__nccl_check(nccl->library, NULL, nccl->library->get_id(&mine.id), "ncclGetUniqueId");
  nccl->check = check;
  nccl->relaxed = relaxed;
  mine.status = (int32_t)status;
  status = agree(nccl, &mine, &first, &wait);
  if (!status)
    status = initialize(nccl, first.id, &wait);
  if (status && !was_used(nccl)) {
    char text[512];
    tprt__nccl_fail(nccl, status, &wait); /* those that wait for this rank in NCCL learn of it */
    snprintf(text, sizeof text, "%s", tprt_last_error());
    close_end(nccl);
    return tprt__fail(status, "%s", text);
  }
  *transport = &nccl->base;
  return TPRT_OK;
}

/* ---- Worlds ---- */

static tprt_status nccl_probe(void) {
  const nccl_library *library;
  return tprt__nccl_load(&library);
}

static tprt_status open_world(tprt__transport *host, int ordinal, int64_t timeout_ns, tprt_status before,
                              tprt__transport **transport) {
  size_t bytes = (size_t)host->n_ranks * sizeof(int);
  int *members = tprt__alloc(bytes);
  if (!members) {
    host->backend->destroy(host);
    return tprt__fail_memory(bytes);
  }
  for (int i = 0; i < host->n_ranks; i++)
    members[i] = i;
  tprt_status status = open_end(host, ordinal, members, timeout_ns, before, transport);
  tprt__free(members);
  return status;
}

/* The communicator on host memory, and which rank of its host this one is. The ranks of a segment are on one host; those that meet in
 * a store may be on several. */
static tprt_status open_host(int n_ranks, int rank, const tprt__settings *settings, int *local_rank, tprt__transport **host) {
  tprt__local local = {.rank = rank, .n_ranks = n_ranks};
  tprt_status status = TPRT_OK;
  if (n_ranks > 1 && settings->segment_fd < 0 && settings->store) {
    const tprt__meeting meeting =
        tprt__meeting_begin(settings->store, "nccl", n_ranks, rank, tprt__deadline(settings->timeout_ns));
    status = tprt__meeting_place(&meeting, &local);
  }
  if (status)
    return status;
  const tprt__backend *backend = n_ranks == 1               ? &tprt__backend_self
                                 : local.n_ranks == n_ranks ? &tprt__backend_shm
                                                            : &tprt__backend_tcp;
  *local_rank = local.rank;
  return backend->create(n_ranks, rank, settings, host);
}

static tprt_status nccl_create(int n_ranks, int rank, const tprt__settings *settings, tprt__transport **transport) {
  const nccl_library *library;
  tprt__transport *host;
  int local_rank, ordinal = -1;
  tprt_status status = tprt__nccl_load(&library);
  if (!status)
    status = open_host(n_ranks, rank, settings, &local_rank, &host);
  if (status)
    return status;
  status = tprt__device_choose(library->device, local_rank, &ordinal);
  return open_world(host, ordinal, settings->timeout_ns, status, transport);
}

/* A rank that waits for the others needs a thread. */
typedef struct opening {
  pthread_t thread;
  tprt__transport *host, *made;
  int64_t timeout_ns;
  tprt_status status;
  char text[512];
} opening;

static void *open_thread(void *argument) {
  opening *own = argument;
  own->status = open_world(own->host, own->host->rank, own->timeout_ns, TPRT_OK, &own->made);
  snprintf(own->text, sizeof own->text, "%s", own->status ? tprt_last_error() : "");
  return NULL;
}

/* Ranks whose thread cannot be started make the others fail: their ends of the host's communicator are destroyed. */
static tprt_status open_all(int n_ranks, opening *ranks, tprt__transport **transports) {
  int n_started = 0;
  while (n_started < n_ranks && pthread_create(&ranks[n_started].thread, NULL, open_thread, &ranks[n_started]) == 0)
    n_started++;
  for (int i = n_started; i < n_ranks; i++)
    ranks[i].host->backend->destroy(ranks[i].host);
  tprt_status status =
      n_started < n_ranks ? tprt__fail(TPRT_SYSTEM, "no thread for rank %d to join the world", n_started) : TPRT_OK;
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

static tprt_status nccl_create_threads(int n_ranks, const tprt__settings *settings, tprt__transport **transports) {
  const nccl_library *library;
  int n_devices = 0;
  tprt_status status = tprt__nccl_load(&library);
  if (!status)
    status = tprt__device_check(library->device, library->device->driver->device_count(&n_devices), "number of devices");
  if (!status && n_ranks > n_devices)
    status = tprt__fail(TPRT_UNSUPPORTED,
                        "backend nccl: %d ranks need as many devices; there are %d (several ranks on one device are "
                        "virtual ranks: backend loopback)",
                        n_ranks, n_devices);
  if (status)
    return status;
  opening *ranks = tprt__alloc((size_t)n_ranks * sizeof *ranks);
  tprt__transport **hosts = tprt__alloc((size_t)n_ranks * sizeof *hosts);
  status = ranks && hosts ? tprt__backend_loopback.create_threads(n_ranks, settings, hosts)
                          : tprt__fail_memory((size_t)n_ranks * sizeof *ranks);
  for (int i = 0; i < n_ranks && !status; i++) {
    ranks[i].host = hosts[i];
    ranks[i].timeout_ns = settings->timeout_ns;
  }
  if (!status)
    status = open_all(n_ranks, ranks, transports);
  tprt__free(hosts);
  tprt__free(ranks);
  return status;
}

/* ---- Groups ---- */

static tprt_status nccl_reserve(tprt__transport *parent, int n_users, const int *users, tprt__token *token) {
  return parent->host->backend->reserve(parent->host, n_users, users, token);
}

static tprt_status nccl_join(tprt__transport *parent, const tprt__token *token, int n_members, const int *members, int index,
                             tprt__transport **child) {
  nccl_transport *nccl = (nccl_transport *)parent;
  tprt__transport *host;
  tprt_status status = parent->host->backend->join(parent->host, token, n_members, members, index, &host);
  if (status || !host) {
    *child = NULL;
    return status;
  }
  int *ranks = tprt__alloc((size_t)n_members * sizeof *ranks);
  if (!ranks) {
    host->backend->destroy(host);
    return tprt__fail_memory((size_t)n_members * sizeof *ranks);
  }
  for (int i = 0; i < n_members; i++)
    ranks[i] = nccl->world_ranks[members[i]];
  status = open_end(host, nccl->ordinal, ranks, nccl->timeout_ns, TPRT_OK, child);
  tprt__free(ranks);
  return status;
}

/* ---- Ends and failures ---- */

static void nccl_abort(tprt__transport *transport, const tprt__fault *fault) {
  transport->host->backend->abort(transport->host, fault);
  tprt__nccl_drop((nccl_transport *)transport);
}

static tprt__fault nccl_fault(const tprt__transport *transport) { return transport->host->backend->fault(transport->host); }

static bool nccl_gone(const tprt__transport *transport, int rank) {
  return transport->host->backend->gone(transport->host, rank);
}

static tprt_status nccl_recover(tprt__transport *transport, int64_t deadline, tprt__token *token, int *members,
                                int *n_members) {
  tprt__nccl_drop((nccl_transport *)transport);
  return transport->host->backend->recover(transport->host, deadline, token, members, n_members);
}

static void nccl_leave(tprt__transport *transport) { transport->host->backend->leave(transport->host); }

/* What others still read of this rank's is theirs until they have got as far, too; they say so by leaving. */
static void part(const nccl_transport *nccl) {
  enum { PART_NS = 5000000, NAP_NS = 20000 };
  const struct timespec nap = {.tv_nsec = NAP_NS};
  const tprt__transport *host = nccl->base.host;
  int64_t end = tprt__now() + PART_NS;
  for (int i = 0; i < host->n_ranks && !nccl_fault(&nccl->base).status && tprt__now() < end;) {
    if (i == host->rank || host->backend->gone(host, i))
      i++;
    else
      nanosleep(&nap, NULL);
  }
}

static void nccl_destroy(tprt__transport *transport) {
  nccl_leave(transport);
  part((nccl_transport *)transport);
  close_end((nccl_transport *)transport);
}

/* ---- Memory of other ranks: only kernels reach it ---- */

static uint64_t nccl_offset(const tprt__transport *transport, const void *memory) {
  (void)transport;
  (void)memory;
  return 0;
}

static tprt_status no_window(void) {
  return tprt__fail(TPRT_UNSUPPORTED, "backend nccl: the host reaches no memory of other ranks");
}

static tprt_status nccl_reach(const tprt__transport *transport, int rank, uint64_t place, uint64_t bytes, void **memory) {
  (void)transport;
  (void)rank;
  (void)place;
  (void)bytes;
  (void)memory;
  return no_window();
}

static tprt_status nccl_put(tprt__transport *transport, int rank, uint64_t place, const void *from, uint64_t bytes,
                            int64_t deadline) {
  (void)transport;
  (void)rank;
  (void)place;
  (void)from;
  (void)bytes;
  (void)deadline;
  return no_window();
}

static tprt_status nccl_get(tprt__transport *transport, int rank, uint64_t place, void *to, uint64_t bytes, int64_t deadline) {
  return nccl_put(transport, rank, place, to, bytes, deadline);
}

static tprt_status nccl_signal(tprt__transport *transport, int rank, uint64_t place) {
  return nccl_put(transport, rank, place, NULL, 0, 0);
}

static tprt_status nccl_await(tprt__transport *transport, const _Atomic uint64_t *counter, uint64_t value, int rank,
                              int64_t deadline) {
  (void)counter;
  (void)value;
  return nccl_put(transport, rank, 0, NULL, 0, deadline);
}

/* ---- Costs ---- */

static void nccl_constants(const tprt__transport *transport, int64_t *alpha_ps, int64_t *beta_ps_per_kb) {
  (void)transport;
  *alpha_ps = 10000000;   /* 10 us: a launch and a meeting */
  *beta_ps_per_kb = 5120; /* 200 GB a second */
}

static void nccl_cost(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost) {
  (void)transport;
  *cost = (tprt__cost){.algorithm = "nccl", .n_steps = 1, .bytes = plan->traffic};
}

const tprt__backend tprt__backend_nccl = {
    .size = sizeof(tprt__backend),
    .abi = TPRT__BACKEND_ABI,
    .capabilities = TPRT_CAP_THREADS | TPRT_CAP_PROCESSES | TPRT_CAP_REGISTERED | TPRT_CAP_COLLECTIVES | TPRT_CAP_PIECES |
                    TPRT_CAP_TRANSFERS | TPRT_CAP_USER_MEMORY | TPRT_CAP_RECOVERY | TPRT_CAP_STREAMS | TPRT_CAP_GPU_PROGRAMS,
    .needs_store = true,
    .name = "nccl",
    .summary = "ranks with a GPU each, on memory of the GPUs",
    .lacks = {TPRT__LACK(TPRT_CAP_TAGS) = "NCCL has no tags",
              TPRT__LACK(TPRT_CAP_WINDOWS) = "the host reaches no memory of other ranks",
              TPRT__LACK(TPRT_CAP_MAPPED) = "the host reaches no memory of other ranks",
              TPRT__LACK(TPRT_CAP_HOST_MEMORY) = "NCCL moves memory of devices"},
    .probe = nccl_probe,
    .create = nccl_create,
    .create_threads = nccl_create_threads,
    .reserve = nccl_reserve,
    .join = nccl_join,
    .begin = tprt__begin_nothing,
    .accept = tprt__nccl_accept,
    .submit = tprt__nccl_submit,
    .exchange = tprt__nccl_exchange,
    .launch = tprt__nccl_launch,
    .settle = tprt__nccl_settle,
    .record = tprt__nccl_record,
    .hold = tprt__nccl_hold,
    .abort = nccl_abort,
    .fault = nccl_fault,
    .gone = nccl_gone,
    .alloc = tprt__nccl_alloc,
    .free = tprt__nccl_free,
    .offset = nccl_offset,
    .expose = tprt__nccl_expose,
    .withdraw = tprt__nccl_withdraw,
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
