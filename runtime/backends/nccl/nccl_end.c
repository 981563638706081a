/* One rank's endpoint of a communicator: its device resources, and its rendezvous with other
 * ranks. */
#define _GNU_SOURCE 1
#include "backends/nccl/nccl.h"

#include <stdio.h>
#include <string.h>

/* ---- device resources ---- */

void tprt__nccl_close_endpoint(nccl_transport *nccl) {
  tprt__transport *host = nccl->base.host;
  tprt__nccl_deregister_all(nccl);
  tprt__nccl_end_comm(nccl);
  nccl_pending *guard = tprt__nccl_guard(nccl);
  if (nccl->context) {
    const cuda_device_calls *device = nccl->device;
    bool entered = !tprt__nccl_enter_device(nccl); /* if not, releasing may still succeed */
    tprt__nccl_scratch_free(nccl);
    if (nccl->word)
      device->memory_free(nccl->word); /* waits for the device, so no kernel runs any more */
    tprt__gpu_destroy(nccl->gpu);
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
  tprt__nccl_unguard(nccl, guard);
  tprt__nccl_watch_stop(&nccl->watch);
  tprt__nccl_ending_release(nccl->ending);
  if (host)
    host->backend->destroy(host);
  pthread_mutex_destroy(&nccl->kernels_lock);
  pthread_mutex_destroy(&nccl->lock);
  tprt__free(nccl->world_ranks);
  tprt__free(nccl);
}

/* Creates the stream of operations that name none, with the priority of the hint. */
static tprt_status create_stream(nccl_transport *nccl) {
  int64_t priority = nccl->settings.hints[TPRT__HINT_PRIORITY];
  if (priority == TPRT__UNSET || priority == TPRT__NORMAL)
    return tprt__device_check(nccl->device,
                              nccl->device->stream_create(&nccl->stream, CUDA_STREAM_NON_BLOCKING),
                              "a stream");
  const cuda_priority_calls *calls;
  int least, greatest;
  tprt_status status = tprt__priority_load(&calls);
  if (!status)
    status = tprt__device_check(nccl->device, calls->range(&least, &greatest),
                                "the priorities of streams");
  return status
             ? status
             : tprt__device_check(nccl->device,
                                  calls->stream_create(&nccl->stream, CUDA_STREAM_NON_BLOCKING,
                                                       priority == TPRT__HIGH ? greatest : least),
                                  "a stream with a priority");
}

static tprt_status open_device(nccl_transport *nccl) {
  enum { WORD_BYTES = 64 };
  const cuda_device_calls *device = nccl->device;
  int number;
  tprt_status status =
      tprt__device_check(device, device->device_get(&number, nccl->ordinal), "the device");
  if (!status)
    status = tprt__device_check(device, device->device_uuid(&nccl->uuid, number),
                                "the device's identity");
  if (!status)
    status = tprt__device_check(device, device->context_retain(&nccl->context, number),
                                "the context of the device");
  if (status)
    return status;
  status = tprt__nccl_enter_device(nccl);
  if (status)
    return status;
  status = create_stream(nccl);
  if (!status)
    status = tprt__device_check(
        device, device->event_create(&nccl->reached, CUDA_EVENT_DISABLE_TIMING), "an event");
  if (!status)
    status = tprt__device_check(
        device, device->event_create(&nccl->scratch_used, CUDA_EVENT_DISABLE_TIMING), "an event");
  if (!status)
    status = tprt__device_check(device, device->memory_alloc(&nccl->word, WORD_BYTES),
                                "memory of the device");
  if (!status)
    status = tprt__device_check(device, device->memory_set(nccl->word, 0, WORD_BYTES, nccl->stream),
                                "clearing memory");
  tprt__nccl_leave_device(nccl);
  return status;
}

/* Refuses hints that need a newer library. */
static tprt_status check_version(const nccl_transport *nccl) {
  int version = nccl->library->version;
  if (nccl->settings.hints[TPRT__HINT_TRAFFIC_CLASS] == TPRT__UNSET ||
      tprt__nccl_since(nccl->library, NCCL_SINCE_TRAFFIC_CLASS))
    return TPRT_OK;
  return tprt__fail(TPRT_UNSUPPORTED, "hint traffic_class: NCCL has it from 2.25 on; this is %d.%d",
                    version / 10000, version / 100 % 100);
}

static tprt_status configure(nccl_transport *nccl) {
  int64_t check = 0, relaxed = 0;
  tprt_status status = tprt__nccl_load(&nccl->library);
  if (!status) {
    nccl->device = nccl->library->device;
    status = tprt__env_number(TPRT__ENV_NCCL_CHECK, 0, &check);
  }
  if (!status)
    status = check_version(nccl);
  if (!status)
    status = tprt__env_number(TPRT__ENV_NCCL_RELAXED, 0, &relaxed);
  nccl->check = check;
  nccl->relaxed = relaxed;
  return status ? status : open_device(nccl);
}

tprt_status tprt__nccl_make_endpoint(tprt__transport *host, int ordinal, const int *members,
                                     const tprt__comm_settings *settings, tprt_status before,
                                     nccl_transport **made) {
  nccl_transport *nccl = tprt__alloc(sizeof *nccl);
  int *ranks = tprt__alloc((size_t)host->n_ranks * sizeof *ranks);
  nccl_ending *ending = tprt__nccl_ending_make();
  *made = NULL;
  if (!nccl || !ranks || !ending) {
    tprt__nccl_ending_release(ending);
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
  nccl->ending = ending;
  nccl->settings = *settings;
  nccl->ordinal = ordinal;
  pthread_mutex_init(&nccl->lock, NULL);
  pthread_mutex_init(&nccl->kernels_lock, NULL);
  tprt__nccl_watch_start(&nccl->watch);
  *made = nccl;
  return before ? before : configure(nccl);
}

/* ---- rendezvous ---- */

tprt_status tprt__nccl_host_all_gather(nccl_transport *nccl, const void *mine, void *all,
                                       size_t bytes, int64_t deadline) {
  tprt__transport *host = nccl->base.host;
  const tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, mine, all, (int64_t)bytes, TPRT_U8, NULL);
  tprt__plan plan;
  tprt_status status = tprt__plan_make(&op, host->n_ranks, host->rank, &plan);
  return status ? status : host->backend->submit(host, &plan, ++nccl->host_sequence, deadline);
}

/* Exchanged by the ranks of a new communicator. */
typedef struct hello {
  int32_t status; /* the failure if this rank cannot participate */
  cuda_uuid device;
  nccl_id id; /* valid from member 0 */
} hello;

/* Fails if two ranks share a device: NCCL allows one rank per device, but its own error depends on
 * its version and may come late. All ranks reach the same result. */
static tprt_status check_distinct(const nccl_transport *nccl, const hello *all, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      if (memcmp(&all[i].device, &all[j].device, sizeof all[i].device) == 0)
        return tprt__fail(TPRT_UNSUPPORTED,
                          "backend nccl: ranks %d and %d have the same device, but NCCL needs one "
                          "device per rank (select it with TPRT_DEVICE; for several ranks on one "
                          "device, use backend loopback)",
                          nccl->world_ranks[i], nccl->world_ranks[j]);
    }
  }
  return TPRT_OK;
}

/* Exchanges the messages of all ranks. If one rank failed, all ranks fail. */
static tprt_status agree(nccl_transport *nccl, const hello *mine, nccl_id *id,
                         const nccl_wait *wait) {
  int n = nccl->base.n_ranks;
  hello *all = tprt__alloc((size_t)n * sizeof *all);
  if (!all)
    return tprt__fail_memory((size_t)n * sizeof *all);
  char own[256];
  snprintf(own, sizeof own, "%s", tprt_last_error());
  tprt_status status = tprt__nccl_host_all_gather(nccl, mine, all, sizeof *mine, wait->deadline);
  for (int i = 0; i < n && !status; i++) {
    status = (tprt_status)all[i].status;
    if (status && i == nccl->base.rank)
      tprt__fail(status, "%s", own);
    else if (status)
      tprt__fail(status, "rank %d could not create its NCCL communicator", nccl->world_ranks[i]);
  }
  if (!status)
    status = check_distinct(nccl, all, n);
  *id = all[0].id;
  tprt__free(all);
  return status;
}

/* Says what was late, if no rank is known to be. */
static tprt_status explain(const nccl_transport *nccl, tprt_status status) {
  tprt__fault fault = nccl->base.host->backend->fault(nccl->base.host);
  if (status != TPRT_TIMEOUT || fault.rank != TPRT__NO_RANK)
    return status;
  return tprt__fail(status,
                    "NCCL did not create the communicator within %g s: a rank is late, or a device "
                    "is busy (TPRT_TIMEOUT allows more)",
                    (double)tprt__nccl_timeout(nccl) * 1e-9);
}

static tprt_status initialize(nccl_transport *nccl, nccl_id id, nccl_wait *wait) {
  nccl_config config = tprt__nccl_config(nccl->library, &nccl->settings);
  tprt_status status = tprt__nccl_enter_device(nccl);
  if (status)
    return status;
  pthread_mutex_lock(&nccl->lock);
  nccl_result result =
      nccl->library->init(&nccl->comm, nccl->base.n_ranks, id, nccl->base.rank, &config);
  pthread_mutex_unlock(&nccl->lock);
  status = tprt__nccl_check(nccl->library, NULL, result, "ncclCommInitRankConfig");
  if (!status)
    status = explain(nccl, tprt__nccl_ready(nccl, wait));
  tprt__nccl_leave_device(nccl);
  return status;
}

tprt_status tprt__nccl_init_comm(nccl_transport *nccl, tprt_status before, nccl_wait *wait) {
  hello mine = {.device = nccl->uuid};
  nccl_id id;
  tprt_status status = before;
  if (!status && nccl->base.rank == 0)
    status =
        tprt__nccl_check(nccl->library, NULL, nccl->library->get_id(&mine.id), "ncclGetUniqueId");
  mine.status = (int32_t)status;
  status = agree(nccl, &mine, &id, wait);
  return status ? status : initialize(nccl, id, wait);
}

/* True if the communicator failed after some rank had obtained it. The other ranks then keep it
 * too, and learn of the failure from it. */
static bool was_used(const nccl_transport *nccl) {
  tprt__fault fault = nccl->base.host->backend->fault(nccl->base.host);
  return fault.status && (fault.status == TPRT_ABORTED || fault.kind);
}

tprt_status tprt__nccl_give_up(nccl_transport *nccl, tprt_status status, const nccl_wait *wait) {
  char text[512];
  tprt__nccl_fail(nccl, status, wait);
  snprintf(text, sizeof text, "%s", tprt_last_error());
  tprt__nccl_close_endpoint(nccl);
  return tprt__fail(status, "%s", text);
}

tprt_status tprt__nccl_keep(nccl_transport *nccl, tprt_status status, const nccl_wait *wait,
                            tprt__transport **transport) {
  if (status && !was_used(nccl))
    return tprt__nccl_give_up(nccl, status, wait);
  *transport = &nccl->base;
  return TPRT_OK;
}

tprt_status tprt__nccl_open_endpoint(tprt__transport *host, int ordinal, const int *members,
                                     const tprt__comm_settings *settings, tprt_status before,
                                     tprt__transport **transport) {
  nccl_wait wait = {.deadline = tprt__deadline(settings->hints[TPRT__HINT_TIMEOUT])};
  nccl_transport *nccl;
  tprt_status status = tprt__nccl_make_endpoint(host, ordinal, members, settings, before, &nccl);
  if (!nccl)
    return status;
  return tprt__nccl_keep(nccl, tprt__nccl_init_comm(nccl, status, &wait), &wait, transport);
}
