/* Collectives of the loopback backend: the last rank to arrive runs the operation for all ranks. */
#define _GNU_SOURCE 1
#include "backends/loopback/loopback.h"

#include <stdio.h>
#include <string.h>

/* ---- execution, with the plans of all ranks ---- */

/* Reduces rank i's piece, in runs of `run_bytes` bytes, from all inputs into its recv. */
static void reduce_runs(loopback_hub *hub, int i, int64_t run_bytes) {
  const tprt__plan *plan = hub->plans[i];
  int n = hub->n_ranks;
  int64_t size = (int64_t)plan->type->size;
  for (int k = 0; k < n; k++)
    hub->sources[k] = (const char *)hub->plans[k]->send + i * run_bytes;
  void *destination = plan->recv;
  tprt__reduce_runs(plan->type, plan->reduction, &destination, 1, hub->sources, n, hub->scales,
                    &(tprt__runs){.count = plan->piece / size,
                                  .run = run_bytes / size,
                                  .stride = n * run_bytes / size},
                    0);
}

static void reduce_part(loopback_hub *hub, int i) {
  const tprt__plan *plan = hub->plans[i];
  void *destination = plan->recv;
  for (int k = 0; k < hub->n_ranks; k++)
    hub->sources[k] = hub->plans[k]->sends[i].at;
  tprt__reduce(plan->type, plan->reduction, &destination, 1, hub->sources, hub->n_ranks,
               hub->scales, plan->recv_bytes / (int64_t)plan->type->size, 0);
}

/* Reduces to all receiving ranks in one pass: in place, the first result overwrites an input. */
static void reduce_whole(loopback_hub *hub) {
  const tprt__plan *plan = hub->plans[0];
  int n_destinations = 0;
  for (int k = 0; k < hub->n_ranks; k++) {
    hub->sources[k] = hub->plans[k]->send;
    if (tprt__plan_receives(hub->plans[k]))
      hub->destinations[n_destinations++] = hub->plans[k]->recv;
  }
  tprt__reduce(plan->type, plan->reduction, hub->destinations, n_destinations, hub->sources,
               hub->n_ranks, hub->scales, plan->piece / (int64_t)plan->type->size, 0);
}

static void reduce(loopback_hub *hub) {
  const tprt__plan *plan = hub->plans[0];
  for (int k = 0; k < hub->n_ranks; k++)
    hub->scales[k] = hub->plans[k]->scale;
  if (!(plan->traits & TPRT__SCATTERS)) {
    if (plan->piece)
      reduce_whole(hub);
    return;
  }
  for (int i = 0; i < hub->n_ranks; i++) {
    if (plan->sends && hub->plans[i]->recv_bytes)
      reduce_part(hub, i);
    else if (!plan->sends && plan->piece)
      reduce_runs(hub, i, plan->send_map.run);
  }
}

/* Copies the piece that rank `from` sends to rank `to`. */
static void move_part(const tprt__plan *to, const tprt__plan *from) {
  tprt__part piece = to->recvs ? to->recvs[from->rank] : (tprt__part){to->recv, to->recv_bytes};
  const char *source = from->sends ? from->sends[to->rank].at : from->send;
  if (piece.bytes && piece.at != source)
    memcpy(piece.at, source, (size_t)piece.bytes);
}

static void move(const loopback_hub *hub) {
  int n = hub->n_ranks;
  for (int i = 0; i < n; i++) {
    const tprt__plan *plan = hub->plans[i];
    for (int k = 0; k < n; k++) {
      const tprt__plan *other = hub->plans[k];
      if (!tprt__plan_wants(plan, k))
        continue;
      if (plan->parts)
        move_part(plan, other);
      else if (plan->piece)
        tprt__piece_copy(plan->recv, tprt__place_in(plan->recv_map, k, 0), other->send,
                         tprt__place_in(other->send_map, i, 0), plan->piece, false);
    }
    if (plan->kind == TPRT_OP_PERMUTE && plan->source < 0 && plan->recv_bytes)
      memset(plan->recv, 0, (size_t)plan->recv_bytes);
  }
}

/* ---- comparison ---- */

static bool same_operation(const loopback_seat *a, const loopback_seat *b) {
  return a->sequence == b->sequence && memcmp(a->signature, b->signature, sizeof a->signature) == 0;
}

/* all_to_all_v: checks that every rank sends what the receiver expects. */
static tprt_status compare_parts(loopback_hub *hub, uint32_t sequence) {
  for (int i = 0; i < hub->n_ranks; i++) {
    for (int k = 0; k < hub->n_ranks; k++) {
      int64_t sent = hub->plans[i]->sends[k].bytes, expected = hub->plans[k]->recvs[i].bytes;
      int64_t size = (int64_t)hub->plans[i]->type->size;
      if (sent == expected)
        continue;
      snprintf(
          hub->text, sizeof hub->text,
          "operation %u, all_to_all_v: rank %d sends %lld elements to rank %d, which expects %lld",
          sequence, hub->seats[i].world_rank, (long long)(sent / size), hub->seats[k].world_rank,
          (long long)(expected / size));
      return TPRT_MISMATCH;
    }
  }
  return TPRT_OK;
}

/* Runs a round. The last rank to arrive calls this with the lock, which is released during the
 * work; the others wait for the end of the round. */
static void run_round(loopback_hub *hub) {
  hub->result = TPRT_OK;
  hub->text[0] = 0;
  for (int i = 0; i < hub->n_ranks; i++) {
    hub->plans[i] = hub->seats[i].plan;
    if (!same_operation(&hub->seats[i], &hub->seats[0]))
      hub->result = TPRT_MISMATCH;
    if (!hub->plans[i]->gpu != !hub->plans[0]->gpu) {
      hub->result = TPRT_MISMATCH;
      snprintf(hub->text, sizeof hub->text,
               "operation %u: rank %d and rank %d mix tensors in host memory and in GPU memory",
               hub->seats[0].sequence, hub->seats[0].world_rank, hub->seats[i].world_rank);
    }
  }
  hub->running = true;
  pthread_mutex_unlock(&hub->lock);
  if (!hub->result && hub->plans[0]->kind == TPRT_OP_ALL_TO_ALL_V)
    hub->result = compare_parts(hub, hub->seats[0].sequence);
  if (!hub->result && hub->plans[0]->gpu) {
    hub->result = tprt__loopback_enqueue(hub);
    snprintf(hub->text, sizeof hub->text, "%s", hub->result ? tprt_last_error() : "");
  } else if (!hub->result) {
    if (hub->plans[0]->reduction)
      reduce(hub);
    else
      move(hub);
  }
  pthread_mutex_lock(&hub->lock);
  hub->running = false;
  hub->round++;
  hub->n_arrived = 0;
  for (int i = 0; i < hub->n_ranks; i++)
    hub->seats[i].arrived = false;
  pthread_cond_broadcast(&hub->changed);
}

/* Describes a failed round. The seats keep their signatures until all ranks, including this one,
 * have arrived again. */
static tprt_status explain(const loopback_hub *hub, int rank, uint32_t sequence) {
  if (*hub->text || hub->result != TPRT_MISMATCH)
    return tprt__fail(hub->result, "%s", hub->text);
  const loopback_seat *own = &hub->seats[rank];
  int other = 0;
  while (other < hub->n_ranks - 1 && same_operation(own, &hub->seats[other]))
    other++;
  char difference[192];
  tprt__signature_explain(own->signature, hub->seats[other].signature, difference,
                          sizeof difference);
  return tprt__fail(TPRT_MISMATCH, "operation %u differs between rank %d and rank %d: %s", sequence,
                    own->world_rank, hub->seats[other].world_rank, difference);
}

/* Checks for reasons to stop waiting for ranks that have not arrived. */
static tprt_status check(loopback_hub *hub, const loopback_wait *wait) {
  if (hub->fault.status)
    return tprt__loopback_fail(hub);
  int absent = -1;
  for (int i = 0; i < hub->n_ranks; i++) {
    if (hub->seats[i].arrived)
      continue;
    if (hub->seats[i].left)
      return tprt__loopback_record_fault(hub, TPRT_PEER_DEAD, i, wait);
    absent = absent < 0 ? i : absent;
  }
  return tprt__now() >= wait->deadline
             ? tprt__loopback_record_fault(hub, TPRT_TIMEOUT, absent, wait)
             : TPRT_OK;
}

/* Takes this rank's seat. The last rank to do so works for all. */
static void arrive(loopback_hub *hub, int rank, const tprt__plan *plan, uint32_t sequence) {
  loopback_seat *own = &hub->seats[rank];
  own->plan = plan;
  own->sequence = sequence;
  memcpy(own->signature, plan->signature, sizeof own->signature);
  own->arrived = true;
  own->round = hub->round;
  if (++hub->n_arrived == hub->n_ranks)
    run_round(hub);
}

/* Waits until the round has ended, and returns its result. */
static tprt_status wait_round(loopback_hub *hub, int rank, const loopback_wait *wait) {
  loopback_seat *own = &hub->seats[rank];
  while (hub->round == own->round) {
    tprt_status status = hub->running ? TPRT_OK : check(hub, wait);
    if (status) {
      own->arrived = false;
      hub->n_arrived--;
      return status;
    }
    if (hub->running)
      pthread_cond_wait(&hub->changed, &hub->lock); /* copying always terminates */
    else
      tprt__loopback_sleep(hub, wait->deadline);
  }
  return hub->result ? explain(hub, rank, wait->sequence) : TPRT_OK;
}

/* Arrives early, so that the other ranks need not wait while this rank computes. */
void tprt__loopback_begin(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence) {
  loopback_hub *hub = ((loopback_transport *)transport)->hub;
  pthread_mutex_lock(&hub->lock);
  if (!hub->fault.status) {
    hub->seats[transport->rank].begun = true;
    arrive(hub, transport->rank, plan, sequence);
  }
  pthread_mutex_unlock(&hub->lock);
}

tprt_status tprt__loopback_submit(tprt__transport *transport, const tprt__plan *plan,
                                  uint32_t sequence, int64_t deadline) {
  loopback_hub *hub = ((loopback_transport *)transport)->hub;
  loopback_seat *own = &hub->seats[transport->rank];
  const loopback_wait wait = {.kind = plan->kind, .sequence = sequence, .deadline = deadline};
  tprt_status status = TPRT_OK;
  pthread_mutex_lock(&hub->lock);
  bool begun = own->begun;
  own->begun = false;
  if (!begun && hub->fault.status)
    status = tprt__loopback_fail(hub);
  else if (!begun)
    arrive(hub, transport->rank, plan, sequence);
  if (!status)
    status = wait_round(hub, transport->rank, &wait);
  pthread_mutex_unlock(&hub->lock);
  return status;
}
