/* Waiting for NCCL and for the device, and the conditions that end a wait. */
#define _GNU_SOURCE 1
#include "backends/nccl/nccl.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

enum {
  SPINS = 200,
  YIELDS = 2000,
  NAP_NS = 50000,
};

tprt_status tprt__nccl_enter_device(const nccl_transport *nccl) {
  return tprt__device_check(nccl->device, tprt__device_enter(nccl->device, nccl->context),
                            "making the device current");
}

void tprt__nccl_leave_device(const nccl_transport *nccl) { tprt__device_leave(nccl->device); }

/* ---- failure ---- */

static tprt__fault fault_of(const nccl_transport *nccl) {
  return nccl->base.host->backend->fault(nccl->base.host);
}

tprt_status tprt__nccl_record_fault(nccl_transport *nccl, const tprt__fault *fault) {
  tprt__transport *host = nccl->base.host;
  tprt__fault first = fault_of(nccl);
  if (!first.status) {
    host->backend->abort(host, fault);
    first = fault_of(nccl);
  }
  tprt__nccl_abort_comm(nccl);
  return tprt__fault_fail(&first);
}

tprt_status tprt__nccl_fail(nccl_transport *nccl, tprt_status status, const nccl_wait *wait) {
  const tprt__fault fault = {.status = status,
                             .kind = wait->kind,
                             .rank = nccl->world_ranks[nccl->base.rank],
                             .sequence = wait->sequence};
  char text[512];
  snprintf(text, sizeof text, "%s", tprt_last_error());
  tprt__nccl_record_fault(nccl, &fault);
  return tprt__fail(status, "%s", text);
}

/* Returns the first member that has ended or left; -1: none. */
static int find_dead_peer(const nccl_transport *nccl) {
  const tprt__transport *host = nccl->base.host;
  int i = 0;
  while (i < host->n_ranks && (i == host->rank || !host->backend->peer_dead(host, i)))
    i++;
  return i < host->n_ranks ? i : -1;
}

static tprt_status record_member_fault(nccl_transport *nccl, tprt_status status, int member,
                                       const nccl_wait *wait) {
  const tprt__fault fault = {.status = status,
                             .kind = wait->kind,
                             .rank = member < 0 ? TPRT__NO_RANK : nccl->world_ranks[member],
                             .sequence = wait->sequence};
  return tprt__nccl_record_fault(nccl, &fault);
}

tprt_status tprt__nccl_fail_ended(void) {
  return tprt__fail(TPRT_INVALID_STATE, "the NCCL communicator was already aborted");
}

tprt_status tprt__nccl_check_fault(nccl_transport *nccl, nccl_wait *wait) {
  tprt__fault fault = fault_of(nccl);
  if (fault.status) {
    tprt__nccl_abort_comm(nccl);
    return tprt__fault_fail(&fault);
  }
  int64_t now = tprt__now();
  int peer_dead = find_dead_peer(nccl);
  if (peer_dead < 0) {
    wait->dead_since = 0;
  } else if (!wait->dead_since) {
    wait->dead_since = now;
  } else if (now - wait->dead_since >= NCCL_GONE_NS) {
    return record_member_fault(nccl, TPRT_PEER_DEAD, peer_dead, wait);
  }
  return now < wait->deadline ? TPRT_OK : record_member_fault(nccl, TPRT_TIMEOUT, peer_dead, wait);
}

/* ---- waiting ---- */

static tprt_status turn(nccl_transport *nccl, nccl_wait *wait) {
  const struct timespec nap = {.tv_nsec = NAP_NS};
  int round = wait->rounds++;
  if (round < SPINS)
    return TPRT_OK;
  if (round < SPINS + YIELDS)
    sched_yield();
  else
    nanosleep(&nap, NULL);
  return tprt__nccl_check_fault(nccl, wait);
}

/* Translates an asynchronous error of NCCL. Usually a peer has ended, and the companion on the host
 * identifies it. */
static tprt_status fail_result(nccl_transport *nccl, nccl_result result, nccl_wait *wait) {
  tprt_status status = tprt__nccl_check(nccl->library, NULL, result, "asynchronous error");
  int peer_dead = result == NCCL_RESULT_REMOTE ? find_dead_peer(nccl) : -1;
  return peer_dead < 0 ? status : record_member_fault(nccl, TPRT_PEER_DEAD, peer_dead, wait);
}

tprt_status tprt__nccl_poll(nccl_transport *nccl, nccl_wait *wait) {
  nccl_result state = NCCL_RESULT_SUCCESS, result = NCCL_RESULT_SUCCESS;
  pthread_mutex_lock(&nccl->lock);
  bool dropped = !nccl->comm;
  if (!dropped)
    result = nccl->library->async_error(nccl->comm, &state);
  pthread_mutex_unlock(&nccl->lock);
  if (dropped) {
    tprt__fault fault = fault_of(nccl);
    return fault.status ? tprt__fault_fail(&fault) : tprt__nccl_fail_ended();
  }
  result = result ? result : state;
  if (result == NCCL_RESULT_IN_PROGRESS)
    return TPRT_IN_PROGRESS;
  return result ? fail_result(nccl, result, wait) : TPRT_OK;
}

tprt_status tprt__nccl_ready(nccl_transport *nccl, nccl_wait *wait) {
  tprt_status status = tprt__nccl_poll(nccl, wait);
  for (wait->rounds = 0; status == TPRT_IN_PROGRESS;) {
    status = turn(nccl, wait);
    if (!status)
      status = tprt__nccl_poll(nccl, wait);
  }
  return status;
}

tprt_status tprt__nccl_wait_event(nccl_transport *nccl, cuda_event event, nccl_wait *wait) {
  for (wait->rounds = 0;;) {
    cuda_result result = nccl->device->event_query(event);
    if (result != CUDA_RESULT_NOT_READY)
      return tprt__device_check(nccl->device, result, "an operation on the device");
    tprt_status status = turn(nccl, wait);
    if (!status && wait->rounds > SPINS) {
      status = tprt__nccl_poll(nccl, wait);
      status = status == TPRT_IN_PROGRESS ? TPRT_OK : status;
    }
    if (status)
      return status;
  }
}

tprt_status tprt__nccl_begin(nccl_transport *nccl, nccl_wait *wait) {
  tprt_status status = tprt__nccl_check_fault(nccl, wait);
  if (!status)
    status = tprt__nccl_enter_device(nccl);
  if (status)
    return status;
  status = tprt__nccl_follow_launched(nccl);
  if (status)
    tprt__nccl_leave_device(nccl);
  return status;
}

tprt_status tprt__nccl_finish(nccl_transport *nccl, tprt_status put, nccl_wait *wait) {
  tprt_status status = put;
  if (!status)
    status = tprt__device_check(
        nccl->device, nccl->device->event_record(nccl->reached, nccl->stream), "an event");
  if (!status)
    status = tprt__nccl_wait_event(nccl, nccl->reached, wait);
  tprt__nccl_leave_device(nccl);
  return status;
}
