/* Moves data between ranks, in messages of bounded size, one message per move at a time. */
#include "backends/message/message.h"

/* Starts the next message of a move. A move without bytes still sends one empty message. */
static tprt_status start(wire_transport *wire, wire_move *move) {
  wire_world *world = wire->world;
  int peer = wire->peers[move->peer].world_rank;
  size_t bytes = (size_t)tprt__min(move->bytes - move->started, WIRE_MAX_BYTES);
  char *at = move->bytes ? move->at + move->started : NULL;
  tprt_status status =
      move->sends
          ? world->messenger->send(world->end, peer, move->tag, at, bytes, &move->request)
          : world->messenger->receive(world->end, peer, move->tag, at, bytes, &move->request);
  if (!status)
    move->started += (int64_t)bytes;
  return status;
}

tprt_status tprt__wire_push(wire_transport *wire, wire_move *move, bool *moved) {
  if (!move->request) {
    *moved = true;
    tprt_status status = start(wire, move);
    if (status)
      return status;
  }
  tprt_status status = wire->world->messenger->test(wire->world->end, move->request);
  if (status == TPRT_IN_PROGRESS)
    return TPRT_OK;
  move->request = NULL;
  *moved = true;
  move->done = move->started == move->bytes;
  return status;
}

void tprt__wire_give_up(wire_transport *wire, wire_move *moves, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (moves[i].request && !wire->world->messenger->cancel(wire->world->end, moves[i].request))
      tprt__log("rank %d abandoned a message whose memory may still be in use", wire->world->rank);
    moves[i].request = NULL;
  }
}

/* Checks for reasons to stop waiting for a move. `peer_dead`: its peer had ended before the
 * unsuccessful check for its message. */
static tprt_status check(wire_transport *wire, const wire_move *move, bool peer_dead,
                         const wire_wait *wait) {
  if (tprt__now() >= wait->deadline)
    return tprt__wire_record_peer_fault(wire, TPRT_TIMEOUT, move->peer, wait);
  return peer_dead ? tprt__wire_record_peer_fault(wire, TPRT_PEER_DEAD, move->peer, wait) : TPRT_OK;
}

static bool is_ready(const wire_move *moves, const wire_move *move) {
  return !move->after || moves[move->after - 1].done;
}

static bool has_ended(const wire_transport *wire, const wire_move *move) {
  return wire->world->messenger->ended(wire->world->end, wire->peers[move->peer].world_rank);
}

tprt_status tprt__wire_move(wire_transport *wire, wire_move *moves, int n, wire_wait *wait) {
  tprt_status status = TPRT_OK;
  for (int first = 0;;) { /* index of the first unfinished move */
    bool moved = false, peer_dead = first < n && has_ended(wire, &moves[first]);
    int left = n;
    for (int i = n - 1; i >= 0 && !status; i--) {
      if (!moves[i].done && is_ready(moves, &moves[i]))
        status = tprt__wire_push(wire, &moves[i], &moved);
      if (!moves[i].done)
        left = i;
    }
    if (status || left == n)
      break;
    status = tprt__wire_poll(wire, wait, moved);
    if (!status && !moved)
      status = check(wire, &moves[left], peer_dead && left == first, wait);
    if (status)
      break;
    first = left;
  }
  if (status)
    tprt__wire_give_up(wire, moves, (size_t)n);
  return status;
}
