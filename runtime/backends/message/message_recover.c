/* Recovery: decides which ranks continue after a failure. Every rank that wants to continue tells
 * all others. The first rank that is not gone decides for all, whether or not it recovers itself.
 * It decides when every rank has asked or is gone, or when some rank waits no longer. Every rank
 * that knows the decision answers ranks that ask later. If the first rank ends before it has
 * decided, all ask the next one. */
#include "backends/message/message.h"

#include <string.h>

enum { BLOCK_RANKS = 256, WORD_RANKS = 64 };

static bool is_peer_dead(const wire_transport *wire, int i) {
  return i == wire->base.rank ? wire->closed : tprt__wire_peer_dead(wire, i);
}

static int decider(const wire_transport *wire) {
  int i = 0;
  while (i < wire->base.rank && is_peer_dead(wire, i))
    i++;
  return i;
}

static int n_blocks(const wire_transport *wire) {
  return (wire->base.n_ranks + BLOCK_RANKS - 1) / BLOCK_RANKS;
}

static wire_note block_of(const wire_transport *wire, int block) {
  wire_note note = {.kind = WIRE_DECIDES, .sequence = (uint32_t)block, .place = wire->next_context};
  for (int bit = 0; bit < BLOCK_RANKS && block * BLOCK_RANKS + bit < wire->base.n_ranks; bit++) {
    if (wire->peers[block * BLOCK_RANKS + bit].survives)
      note.signature[bit / WORD_RANKS] |= UINT64_C(1) << bit % WORD_RANKS;
  }
  return note;
}

void tprt__wire_settle(wire_transport *wire) {
  int n = wire->base.n_ranks;
  bool asked = false, complete = true, due = false;
  for (int i = 0; i < n; i++) {
    asked |= wire->peers[i].recovers;
    complete &= wire->peers[i].recovers || is_peer_dead(wire, i);
    due |= wire->peers[i].due;
  }
  if (wire->decided || !asked || !(complete || due) || decider(wire) != wire->base.rank ||
      wire->closed)
    return;
  for (int i = 0; i < n; i++)
    wire->peers[i].survives = wire->peers[i].recovers && !is_peer_dead(wire, i);
  wire->next_context = tprt__wire_new_context(wire->world);
  wire->decided = true;
  for (int block = 0; block < n_blocks(wire); block++) {
    wire_note note = block_of(wire, block);
    tprt__wire_notify_all(wire, &note);
  }
}

/* Takes one block of the decision. Blocks arrive in order, from a rank that has them all. */
static void take_block(wire_transport *wire, const wire_note *note) {
  if (wire->decided || (int)note->sequence != wire->n_blocks)
    return;
  for (int bit = 0; bit < BLOCK_RANKS && wire->n_blocks * BLOCK_RANKS + bit < wire->base.n_ranks;
       bit++)
    wire->peers[wire->n_blocks * BLOCK_RANKS + bit].survives =
        note->signature[bit / WORD_RANKS] >> bit % WORD_RANKS & 1;
  wire->next_context = note->place;
  wire->decided = ++wire->n_blocks == n_blocks(wire);
}

void tprt__wire_take_recovery(wire_transport *wire, int from, const wire_note *note) {
  if (note->kind == WIRE_DECIDES) {
    take_block(wire, note);
    return;
  }
  wire->peers[from].recovers = true;
  wire->peers[from].due |= note->status != TPRT_OK;
  for (int block = 0; block < n_blocks(wire) && wire->decided; block++) {
    wire_note answer = block_of(wire, block);
    (void)tprt__wire_note(wire, from, &answer); /* it asks again at its deadline */
  }
}

static tprt_status read_decision(const wire_transport *wire, tprt__token *token, int *members,
                                 int *n_members) {
  int me = wire->base.rank;
  if (!wire->peers[me].survives)
    return tprt__fail(TPRT_INVALID_STATE,
                      "rank %d arrived too late: the others have continued without it",
                      wire->peers[me].world_rank);
  *n_members = 0;
  for (int i = 0; i < wire->base.n_ranks; i++) {
    if (wire->peers[i].survives)
      members[(*n_members)++] = i;
  }
  *token = (tprt__token){{0}};
  memcpy(token->bytes, &wire->next_context, sizeof wire->next_context);
  return TPRT_OK;
}

static tprt_status await_decision(wire_transport *wire, int64_t deadline) {
  enum { GRACE_NS = 1000000000 }; /* extra time for the rank that decides at the deadline */
  wire_wait wait = {.deadline = deadline};
  wire_peer *own = &wire->peers[wire->base.rank];
  tprt_status status = TPRT_OK;
  int told = -1;
  own->recovers = true;
  while (!status) {
    int first = decider(wire);
    int64_t now = tprt__now();
    bool due = now >= deadline;
    if (first != told || due != own->due) {
      const wire_note note = {.kind = WIRE_RECOVERS, .status = due ? TPRT_TIMEOUT : TPRT_OK};
      own->due = due;
      told = first;
      tprt__wire_notify_all(wire, &note);
    }
    tprt__wire_settle(wire);
    if (wire->decided)
      break;
    if (now - GRACE_NS >= deadline)
      return tprt__fail(TPRT_TIMEOUT,
                        "rank %d, which decides which ranks continue, did not arrive in time",
                        wire->peers[first].world_rank);
    status = tprt__wire_idle(wire->world, &wait, false);
  }
  return status;
}

tprt_status tprt__wire_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                               int *members, int *n_members) {
  wire_transport *wire = (wire_transport *)transport;
  tprt_status status;
  pthread_mutex_lock(&wire->world->lock);
  if (wire->recovering) {
    status = tprt__fail(TPRT_INVALID_STATE,
                        "this communicator was already replaced; recover the new one if it fails");
  } else {
    wire->recovering = true;
    status = await_decision(wire, deadline);
    if (!status)
      status = read_decision(wire, token, members, n_members);
  }
  pthread_mutex_unlock(&wire->world->lock);
  return status;
}
