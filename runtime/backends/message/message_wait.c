/* Waiting for messages, and the conditions that end a wait. */
#define _GNU_SOURCE 1
#include "backends/message/message.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
  SPINS = 20,     /* rounds before yielding the processor, which a peer may need */
  SPIN_NS = 5000, /* or this time: a round looks at every peer, and may take microseconds */
  /* after which a rank sleeps: this time if the messenger wakes it, and so many rounds if not. On
   * processors that ranks share, most of this time is that of others */
  YIELD_NS = 200000,
  YIELDS = 2200,
  NAP_NS = 50000,
  /* bounded, because another thread may handle the note for which this one waits */
  WAIT_NS = 1000000,
};

tprt_status tprt__wire_fail(const wire_transport *wire) {
  if (*wire->text)
    return tprt__fail(wire->fault.status, "%s", wire->text);
  return tprt__fault_fail(&wire->fault);
}

tprt_status tprt__wire_record_fault(wire_transport *wire, const tprt__fault *fault) {
  if (!wire->fault.status) {
    wire->fault = *fault;
    if (!fault->kind)
      wire->fault.sequence = wire->finished;
    snprintf(wire->text, sizeof wire->text, "%s", tprt_last_error());
    wire_note note = {.kind = WIRE_FAILED,
                      .sequence = wire->fault.sequence,
                      .status = (int32_t)fault->status,
                      .op = (int32_t)fault->kind,
                      .rank = fault->rank};
    tprt__wire_notify_all(wire, &note);
  }
  return tprt__wire_fail(wire);
}

/* Returns a member that has not answered; -1: all have. */
static int find_silent(const wire_transport *wire, int from) {
  for (int i = from; i < wire->base.n_ranks; i++) {
    if (i != wire->base.rank && !wire->peers[i].answered && !tprt__wire_peer_dead(wire, i))
      return i;
  }
  return -1;
}

/* Asks all members for an answer, and waits for a while. */
static void ask_members(wire_transport *wire) {
  enum { ANSWER_NS = 200000000 };
  const wire_note question = {.kind = WIRE_PINGS};
  wire_wait wait = {.deadline = tprt__deadline(ANSWER_NS)};
  for (int i = 0; i < wire->base.n_ranks; i++)
    wire->peers[i].answered = false;
  tprt__wire_notify_all(wire, &question);
  while (find_silent(wire, 0) >= 0 && !wire->fault.status && tprt__now() < wait.deadline &&
         !tprt__wire_idle(wire->world, &wait, false))
    ;
}

/* Adds the members that give no answer to the error text, if there are several. */
static void list_silent(const wire_transport *wire, tprt_status status) {
  char list[96] = "";
  int n = 0;
  for (int i = find_silent(wire, 0); i >= 0; i = find_silent(wire, i + 1), n++) {
    size_t length = strlen(list);
    snprintf(list + length, sizeof list - length, "%s%d", n ? ", " : "", wire->peers[i].world_rank);
  }
  if (n > 1) {
    char text[160];
    snprintf(text, sizeof text, "%s", tprt_last_error());
    tprt__fail(status, "%s; ranks %s do not answer", text, list);
  }
}

tprt_status tprt__wire_record_peer_fault(wire_transport *wire, tprt_status status, int peer,
                                         const wire_wait *wait) {
  bool late = status == TPRT_TIMEOUT && !wire->fault.status;
  if (late)
    ask_members(wire);
  int silent = late ? find_silent(wire, 0) : -1;
  /* another rank may have found the reason meanwhile; the first fault counts */
  bool is_other = silent >= 0 && wire->peers[peer].answered;
  tprt__fault fault = {.status = status,
                       .kind = wait->kind,
                       .rank = wire->peers[is_other ? silent : peer].world_rank,
                       .sequence = wait->sequence};
  tprt__fault_fail(&fault); /* sets the error text */
  if (silent >= 0)
    list_silent(wire, status);
  return tprt__wire_record_fault(wire, &fault);
}

tprt_status tprt__wire_begin(wire_transport *wire) {
  tprt_status status = tprt__wire_progress(wire->world);
  return !status && wire->fault.status ? tprt__wire_fail(wire) : status;
}

bool tprt__wire_peer_dead(const wire_transport *wire, int peer) {
  const wire_world *world = wire->world;
  return wire->peers[peer].left ||
         world->messenger->ended(world->end, wire->peers[peer].world_rank);
}

/* Looks at the clock now and then, which takes as long as a round of few peers. */
static void count_round(wire_wait *wait, bool moved) {
  enum { CLOCK_ROUNDS = 4 };
  wait->rounds = moved ? 0 : wait->rounds + 1;
  if (moved)
    wait->waited_ns = 0;
  if (wait->rounds % CLOCK_ROUNDS || !wait->rounds)
    return;
  int64_t now = tprt__now();
  if (wait->rounds == CLOCK_ROUNDS)
    wait->since = now;
  wait->waited_ns = now - wait->since;
}

/* If the messenger cannot wake threads, a waiting rank polls. */
tprt_status tprt__wire_idle(wire_world *world, wire_wait *wait, bool moved) {
  const struct timespec nap = {.tv_nsec = NAP_NS};
  count_round(wait, moved);
  if (wait->rounds > SPINS || wait->waited_ns > SPIN_NS) {
    pthread_mutex_unlock(&world->lock);
    if (world->messenger->wait ? wait->waited_ns < YIELD_NS : wait->rounds < YIELDS)
      sched_yield();
    else if (world->messenger->wait)
      world->messenger->wait(world->end, WAIT_NS);
    else
      nanosleep(&nap, NULL);
    pthread_mutex_lock(&world->lock);
  }
  return tprt__wire_progress(world);
}

static bool is_collective(tprt_op_kind kind) {
  return kind && kind != TPRT_OP_SEND && kind != TPRT_OP_RECV;
}

/* True if the fault ends this wait. Notes can overtake data, so a fault may be known before the
 * data of an earlier operation has arrived. A rank that failed in a later operation has already
 * sent all that this operation needs, and so have the ranks that it heard from. A rank that is
 * comparing signatures will still receive all notes, so it finds a mismatch itself. Transfers carry
 * the number of the collective before them, and so do faults outside of operations, such as an
 * abort or a failed window access. */
static bool concerns(const wire_transport *wire, const wire_wait *wait) {
  const tprt__fault *fault = &wire->fault;
  int32_t ahead = (int32_t)(fault->sequence - wait->sequence); /* sequence numbers wrap around */
  if (!fault->status || !is_collective(wait->kind))
    return fault->status != TPRT_OK;
  if (!is_collective(fault->kind))
    return ahead < 0;
  return ahead < 0 || (ahead == 0 && !(wait->comparing && fault->status == TPRT_MISMATCH));
}

tprt_status tprt__wire_check(const wire_transport *wire, const wire_wait *wait) {
  return concerns(wire, wait) ? tprt__wire_fail(wire) : TPRT_OK;
}

tprt_status tprt__wire_poll(wire_transport *wire, wire_wait *wait, bool moved) {
  tprt_status status = tprt__wire_idle(wire->world, wait, moved);
  return status ? status : tprt__wire_check(wire, wait);
}
