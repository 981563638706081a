/* Sends and recvs: the receiver sends a request with a note, and the sender answers the oldest
 * request with its tag. */
#include "backends/message/message.h"

enum { GONE_NS = 50000000 }; /* messages sent by a rank before it ended arrive within this time */

typedef struct transfer {
  const tprt__plan *plan;
  enum { WAITING, MOVING, DONE } state;
  wire_move move;
} transfer;

typedef struct exchange {
  wire_transport *wire;
  transfer *transfers;
  size_t n;
  wire_wait wait;
  int64_t dead_since; /* when a required peer was first seen gone; 0: none */
} exchange;

static int64_t elements(const tprt__plan *plan) {
  int64_t bytes = plan->kind == TPRT_OP_SEND ? plan->send_bytes : plan->recv_bytes;
  return bytes / (int64_t)plan->type->size;
}

static tprt_dtype dtype_of(const tprt__plan *plan) { return tprt_dtype_parse(plan->type->name); }

static tprt_status send_request(exchange *run, transfer *t) {
  const tprt__plan *plan = t->plan;
  t->move = (wire_move){.peer = plan->peer,
                        .tag = tprt__wire_tags(run->wire->world, 1),
                        .at = plan->recv,
                        .bytes = plan->recv_bytes};
  t->state = MOVING;
  wire_note note = {.kind = WIRE_ASKS,
                    .tag = t->move.tag,
                    .elements = elements(plan),
                    .user_tag = plan->tag,
                    .dtype = (int32_t)dtype_of(plan)};
  return tprt__wire_note(run->wire, plan->peer, &note);
}

/* True if an earlier send of the batch, to the same rank with the same tag, still waits for its
 * request. */
static bool has_earlier(const exchange *run, size_t index) {
  const tprt__plan *plan = run->transfers[index].plan;
  for (size_t i = 0; i < index; i++) {
    const transfer *other = &run->transfers[i];
    if (other->state == WAITING && other->plan->peer == plan->peer && other->plan->tag == plan->tag)
      return true;
  }
  return false;
}

/* Removes and returns the peer's oldest request with this tag; NULL if there is none yet. The
 * caller owns it. */
static wire_pending_note *take_request(wire_peer *peer, int tag) {
  wire_pending_note **at = &peer->asks;
  while (*at && (*at)->note.user_tag != tag)
    at = &(*at)->next;
  wire_pending_note *found = *at;
  if (found)
    *at = found->next;
  return found;
}

static tprt_status answer(exchange *run, size_t index, bool *moved) {
  transfer *t = &run->transfers[index];
  const tprt__plan *plan = t->plan;
  wire_transport *wire = run->wire;
  wire_pending_note *question =
      has_earlier(run, index) ? NULL : take_request(&wire->peers[plan->peer], plan->tag);
  if (!question)
    return TPRT_OK;
  wire_note note = question->note;
  tprt__free(question);
  if (note.dtype != (int32_t)dtype_of(plan) || note.elements != elements(plan)) {
    const char *theirs = tprt_dtype_name((tprt_dtype)note.dtype);
    tprt__fault fault = {.status = TPRT_MISMATCH,
                         .kind = plan->kind,
                         .rank = wire->peers[plan->rank].world_rank,
                         .sequence = run->wait.sequence};
    tprt__fail(TPRT_MISMATCH, "rank %d sends %lld %s to rank %d with tag %d, which expects %lld %s",
               fault.rank, (long long)elements(plan), plan->type->name,
               wire->peers[plan->peer].world_rank, plan->tag, (long long)note.elements,
               theirs ? theirs : "?");
    return tprt__wire_record_fault(wire, &fault);
  }
  t->move = (wire_move){.peer = plan->peer,
                        .tag = note.tag,
                        .sends = true,
                        .at = (char *)(uintptr_t)plan->send,
                        .bytes = plan->send_bytes};
  t->state = MOVING;
  *moved = true;
  return TPRT_OK;
}

/* Tries to advance every transfer once. *left is the first unfinished one, or n if all are done. */
static tprt_status run_round(exchange *run, size_t *left, bool *moved) {
  *left = run->n;
  *moved = false;
  tprt_status status = TPRT_OK;
  for (size_t i = 0; i < run->n && !status; i++) {
    transfer *t = &run->transfers[i];
    if (t->state == WAITING)
      status = answer(run, i, moved);
    if (t->state == MOVING && !status)
      status = tprt__wire_push(run->wire, &t->move, moved);
    if (t->state == MOVING && t->move.done)
      t->state = DONE;
    if (t->state != DONE && *left == run->n)
      *left = i;
  }
  return status;
}

/* Checks for reasons to stop waiting. */
static tprt_status check(exchange *run, size_t left) {
  int64_t now = tprt__now();
  for (size_t i = left; i < run->n; i++) {
    const transfer *t = &run->transfers[i];
    if (t->state == DONE || !tprt__wire_peer_dead(run->wire, t->plan->peer))
      continue;
    if (!run->dead_since)
      run->dead_since = now;
    run->wait.kind = t->plan->kind;
    return now - run->dead_since < GONE_NS
               ? TPRT_OK
               : tprt__wire_record_peer_fault(run->wire, TPRT_PEER_DEAD, t->plan->peer, &run->wait);
  }
  if (now < run->wait.deadline)
    return TPRT_OK;
  run->wait.kind = run->transfers[left].plan->kind;
  return tprt__wire_record_peer_fault(run->wire, TPRT_TIMEOUT, run->transfers[left].plan->peer,
                                      &run->wait);
}

static tprt_status run_all(exchange *run) {
  tprt_status status = TPRT_OK;
  for (size_t i = 0; i < run->n && !status; i++) {
    if (run->transfers[i].plan->kind == TPRT_OP_RECV)
      status = send_request(run, &run->transfers[i]);
  }
  while (!status) {
    size_t left;
    bool moved;
    status = run_round(run, &left, &moved);
    if (status || left == run->n)
      break;
    status = tprt__wire_poll(run->wire, &run->wait, moved);
    if (!status && !moved)
      status = check(run, left);
  }
  for (size_t i = 0; i < run->n && status; i++)
    tprt__wire_give_up(run->wire, &run->transfers[i].move, 1);
  return status;
}

tprt_status tprt__wire_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                uint32_t sequence, int64_t deadline) {
  wire_transport *wire = (wire_transport *)transport;
  exchange run = {.wire = wire, .transfers = tprt__alloc(n * sizeof *run.transfers)};
  if (!run.transfers)
    return tprt__fail_memory(n * sizeof *run.transfers);
  run.wait =
      /* the kind becomes that of the transfer at fault */
      (wire_wait){.kind = TPRT_OP_SEND, .sequence = sequence, .deadline = deadline};
  for (size_t i = 0; i < n; i++) {
    if (plans[i].peer != transport->rank) /* transfers with itself are done already */
      run.transfers[run.n++].plan = &plans[i];
  }
  pthread_mutex_lock(&wire->world->lock);
  tprt_status status = tprt__wire_begin(wire);
  if (!status)
    status = run_all(&run);
  pthread_mutex_unlock(&wire->world->lock);
  tprt__free(run.transfers);
  return status;
}
