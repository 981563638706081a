/* Waiting, and everything that ends a wait. */
#define _GNU_SOURCE 1
#include "backends/message/message.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
  SPINS = 200, /* turns before the processor is given away */
  YIELDS = 2000,
  NAP_NS = 50000,
  WAIT_NS = 1000000, /* another thread may have taken what has come */
};

tprt_status tprt__wire_fail(const wire_transport *wire) {
  if (*wire->text)
    return tprt__fail(wire->fault.status, "%s", wire->text);
  return tprt__fault_fail(&wire->fault);
}

tprt_status tprt__wire_blame(wire_transport *wire, const tprt__fault *fault) {
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
    tprt__wire_tell(wire, &note);
  }
  return tprt__wire_fail(wire);
}

tprt_status tprt__wire_blame_peer(wire_transport *wire, tprt_status status, int peer,
                                  const wire_wait *wait) {
  tprt__fault fault = {.status = status,
                       .kind = wait->kind,
                       .rank = wire->peers[peer].world_rank,
                       .sequence = wait->sequence};
  tprt__fault_fail(&fault); /* the text */
  return tprt__wire_blame(wire, &fault);
}

tprt_status tprt__wire_begin(wire_transport *wire) {
  tprt_status status = tprt__wire_progress(wire->world);
  return !status && wire->fault.status ? tprt__wire_fail(wire) : status;
}

bool tprt__wire_gone(const wire_transport *wire, int peer) {
  const wire_world *world = wire->world;
  return wire->peers[peer].left ||
         world->messenger->ended(world->end, wire->peers[peer].world_rank);
}

/* Where the messenger wakes nobody, a rank has to look. */
tprt_status tprt__wire_rest(wire_world *world, wire_wait *wait, bool moved) {
  const struct timespec nap = {.tv_nsec = NAP_NS};
  wait->rounds = moved ? 0 : wait->rounds + 1;
  if (wait->rounds > SPINS) {
    pthread_mutex_unlock(&world->lock);
    if (world->messenger->wait)
      world->messenger->wait(world->end, WAIT_NS);
    else if (wait->rounds < SPINS + YIELDS)
      sched_yield();
    else
      nanosleep(&nap, NULL);
    pthread_mutex_lock(&world->lock);
  }
  return tprt__wire_progress(world);
}

static bool is_collective(tprt_op_kind kind) {
  return kind && kind != TPRT_OP_SEND && kind != TPRT_OP_RECV;
}

/* Notes overtake data. A rank that failed in a later operation has given all that this one needs,
 * as have those that it heard from; and a rank that is about to see itself how operations differ
 * will have all notes. Transfers have the number of the collective before them, as has what
 * happened in no operation: an abort, a window. */
static bool concerns(const wire_transport *wire, const wire_wait *wait) {
  const tprt__fault *fault = &wire->fault;
  int32_t ahead = (int32_t)(fault->sequence - wait->sequence); /* wraps */
  if (!fault->status || !is_collective(wait->kind))
    return fault->status != TPRT_OK;
  if (!is_collective(fault->kind))
    return ahead < 0;
  return ahead < 0 || (ahead == 0 && !(wait->comparing && fault->status == TPRT_MISMATCH));
}

tprt_status tprt__wire_check(const wire_transport *wire, const wire_wait *wait) {
  return concerns(wire, wait) ? tprt__wire_fail(wire) : TPRT_OK;
}

tprt_status tprt__wire_turn(wire_transport *wire, wire_wait *wait, bool moved) {
  tprt_status status = tprt__wire_rest(wire->world, wait, moved);
  return status ? status : tprt__wire_check(wire, wait);
}
