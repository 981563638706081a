/* Sends and recvs of the loopback backend: the rank that finds the counterpart in the hub's list
 * copies. */
#define _GNU_SOURCE 1
#include "backends/loopback/loopback.h"

#include <stdio.h>
#include <string.h>

/* Removes and returns the oldest listed counterpart of `mine`; NULL if there is none yet. */
static loopback_transfer *take_other(loopback_hub *hub, const loopback_transfer *mine) {
  const tprt__plan *plan = mine->plan;
  for (loopback_transfer **at = &hub->posted; *at; at = &(*at)->next) {
    const tprt__plan *other = (*at)->plan;
    if (other->rank != plan->peer || other->peer != plan->rank || other->kind == plan->kind ||
        other->tag != plan->tag)
      continue;
    loopback_transfer *found = *at;
    *at = found->next;
    return found;
  }
  return NULL;
}

static void append(loopback_hub *hub, loopback_transfer *transfer) {
  loopback_transfer **at = &hub->posted;
  while (*at)
    at = &(*at)->next;
  transfer->next = NULL;
  *at = transfer;
}

static void unlink_transfer(loopback_hub *hub, const loopback_transfer *transfer) {
  loopback_transfer **at = &hub->posted;
  while (*at && *at != transfer)
    at = &(*at)->next;
  if (*at)
    *at = transfer->next;
}

static void describe_mismatch(loopback_hub *hub, const tprt__plan *send, const tprt__plan *recv) {
  snprintf(hub->text, sizeof hub->text,
           "rank %d sends %lld %s to rank %d with tag %d, which expects %lld %s",
           hub->seats[send->rank].world_rank,
           (long long)(send->send_bytes / (int64_t)send->type->size), send->type->name,
           hub->seats[recv->rank].world_rank, send->tag,
           (long long)(recv->recv_bytes / (int64_t)recv->type->size), recv->type->name);
}

/* Copies between two matching transfers, without the lock. */
static tprt_status move(loopback_hub *hub, loopback_transfer *mine, loopback_transfer *other) {
  bool sends = mine->plan->kind == TPRT_OP_SEND;
  const tprt__plan *send = sends ? mine->plan : other->plan,
                   *recv = sends ? other->plan : mine->plan;
  if (send->type != recv->type || send->send_bytes != recv->recv_bytes) {
    const loopback_wait wait = {.kind = mine->plan->kind};
    describe_mismatch(hub, send, recv);
    append(hub, other); /* its owner fails with the recorded fault */
    return tprt__loopback_record_fault(hub, TPRT_MISMATCH, mine->plan->rank, &wait);
  }
  other->state = LOOPBACK_MOVING;
  pthread_mutex_unlock(&hub->lock);
  if (recv->recv_bytes)
    memcpy(recv->recv, send->send, (size_t)recv->recv_bytes);
  pthread_mutex_lock(&hub->lock);
  mine->state = other->state = LOOPBACK_DONE;
  pthread_cond_broadcast(&hub->changed);
  return TPRT_OK;
}

static tprt_status start(loopback_hub *hub, loopback_transfer *transfer) {
  if (hub->fault.status)
    return tprt__loopback_fail(hub);
  loopback_transfer *other = take_other(hub, transfer);
  if (other)
    return move(hub, transfer, other);
  append(hub, transfer);
  return TPRT_OK;
}

/* Returns the first transfer that is not done, or n. */
static size_t first_left(const loopback_transfer *transfers, size_t n) {
  size_t i = 0;
  while (i < n && transfers[i].state == LOOPBACK_DONE)
    i++;
  return i;
}

/* Checks for reasons to stop waiting. */
static tprt_status check(loopback_hub *hub, const loopback_transfer *transfers, size_t n,
                         loopback_wait *wait) {
  if (hub->fault.status)
    return tprt__loopback_fail(hub);
  bool late = tprt__now() >= wait->deadline;
  for (size_t i = 0; i < n; i++) {
    const tprt__plan *plan = transfers[i].plan;
    if (transfers[i].state != LOOPBACK_POSTED || !(hub->seats[plan->peer].left || late))
      continue;
    wait->kind = plan->kind;
    return tprt__loopback_record_fault(
        hub, hub->seats[plan->peer].left ? TPRT_PEER_DEAD : TPRT_TIMEOUT, plan->peer, wait);
  }
  return TPRT_OK;
}

static tprt_status run_all(loopback_hub *hub, loopback_transfer *transfers, size_t n,
                           loopback_wait *wait) {
  tprt_status status = TPRT_OK;
  for (size_t i = 0; i < n && !status; i++)
    status = start(hub, &transfers[i]);
  while (!status && first_left(transfers, n) < n) {
    status = check(hub, transfers, n, wait);
    if (!status)
      tprt__loopback_sleep(hub, wait->deadline);
  }
  for (size_t i = 0; i < n; i++) {
    if (transfers[i].state == LOOPBACK_POSTED)
      unlink_transfer(hub, &transfers[i]);
    while (transfers[i].state == LOOPBACK_MOVING) /* copying always terminates */
      pthread_cond_wait(&hub->changed, &hub->lock);
  }
  return status;
}

tprt_status tprt__loopback_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                    uint32_t sequence, int64_t deadline) {
  loopback_hub *hub = ((loopback_transport *)transport)->hub;
  enum { FEW = 8 };
  loopback_transfer few[FEW], *transfers = n > FEW ? tprt__alloc(n * sizeof *transfers) : few;
  if (!transfers)
    return tprt__fail_memory(n * sizeof *transfers);
  size_t n_transfers = 0;
  for (size_t i = 0; i < n; i++) {
    if (plans[i].peer != transport->rank) /* transfers with itself are done already */
      transfers[n_transfers++] = (loopback_transfer){.plan = &plans[i], .state = LOOPBACK_POSTED};
  }
  loopback_wait wait = {
      .kind = n ? plans[0].kind : (tprt_op_kind)0, .sequence = sequence, .deadline = deadline};
  pthread_mutex_lock(&hub->lock);
  tprt_status status =
      hub->fault.status ? tprt__loopback_fail(hub) : run_all(hub, transfers, n_transfers, &wait);
  pthread_mutex_unlock(&hub->lock);
  if (transfers != few)
    tprt__free(transfers);
  return status;
}
