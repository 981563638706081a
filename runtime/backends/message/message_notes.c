/* Notes: sending, receiving and delivery to their communicators; and the attendant thread, which
 * handles them while a rank computes. */
#define _GNU_SOURCE 1
#include "backends/message/message.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FLUSH_NS = 100000000 };

static wire_transport *find(const wire_world *world, uint64_t context) {
  wire_transport *at = world->transports;
  while (at && at->context != context)
    at = at->next;
  return at;
}

static int member(const wire_transport *wire, int world_rank) {
  int i = 0;
  while (i < wire->base.n_ranks && wire->peers[i].world_rank != world_rank)
    i++;
  return i < wire->base.n_ranks ? i : -1;
}

/* Appends a copy of the letter to a list. */
static tprt_status keep(wire_pending_note **list, const wire_pending_note *letter) {
  wire_pending_note *copy = tprt__alloc(sizeof *copy);
  if (!copy)
    return tprt__fail_memory(sizeof *copy);
  *copy = (wire_pending_note){.peer = letter->peer, .note = letter->note};
  while (*list)
    list = &(*list)->next;
  *list = copy;
  return TPRT_OK;
}

static tprt_status deliver(wire_transport *wire, const wire_pending_note *letter) {
  const wire_note *note = &letter->note;
  int from = member(wire, letter->peer);
  if (from < 0)
    return tprt__fail(TPRT_INTERNAL, "rank %d sent a note to a communicator that it is not in",
                      letter->peer);
  wire_peer *peer = &wire->peers[from];
  switch (note->kind) {
  case WIRE_ARRIVES:
    peer->n_arrived++;
    peer->arrived[peer->n_arrived & 1] = *note;
    return TPRT_OK;
  case WIRE_ASKS:
    return wire->closed ? TPRT_OK : keep(&peer->asks, letter);
  case WIRE_FAILED:
    if (!wire->fault.status)
      wire->fault = (tprt__fault){.status = (tprt_status)note->status,
                                  .kind = (tprt_op_kind)note->op,
                                  .rank = note->rank,
                                  .sequence = note->sequence};
    return TPRT_OK;
  case WIRE_PUTS:
  case WIRE_GETS:
  case WIRE_READY:
  case WIRE_SERVED:
  case WIRE_SIGNALS:
    return tprt__wire_take_access(wire, from, note);
  case WIRE_RECOVERS:
  case WIRE_DECIDES:
    tprt__wire_take_recovery(wire, from, note);
    return TPRT_OK;
  case WIRE_ANSWERS:
    peer->answered = true;
    return TPRT_OK;
  case WIRE_LEAVES:
    peer->left = true;
    tprt__wire_reap(wire);
    return TPRT_OK;
  default:
    return tprt__fail(TPRT_INTERNAL, "rank %d sent a note of unknown kind %u", letter->peer,
                      note->kind);
  }
}

void tprt__wire_deliver_early(wire_transport *wire) {
  wire_pending_note **at = &wire->world->early;
  while (*at) {
    wire_pending_note *letter = *at;
    if (letter->note.context != wire->context) {
      at = &letter->next;
      continue;
    }
    *at = letter->next;
    /* an invalid note is ignored: the wait for it will time out */
    (void)deliver(wire, letter);
    tprt__free(letter);
  }
}

static tprt_status post(wire_world *world, uint64_t context, int world_rank,
                        const wire_note *note) {
  wire_pending_note *letter = tprt__alloc(sizeof *letter);
  if (!letter)
    return tprt__fail_memory(sizeof *letter);
  letter->note = *note;
  letter->note.context = context;
  letter->peer = world_rank;
  tprt_status status = world->messenger->send(world->end, world_rank, WIRE_NOTE_TAG, &letter->note,
                                              sizeof letter->note, &letter->request);
  if (status) {
    tprt__free(letter);
    return status;
  }
  letter->next = world->outbox;
  world->outbox = letter;
  return TPRT_OK;
}

static tprt_status take_in(wire_world *world, const wire_pending_note *letter) {
  const wire_note answer = {.kind = WIRE_ANSWERS};
  if (letter->note.kind == WIRE_PINGS) /* answered even before the communicator exists here */
    return post(world, letter->note.context, letter->peer, &answer);
  wire_transport *wire = find(world, letter->note.context);
  bool is_late = letter->note.kind == WIRE_ANSWERS; /* the communicator is gone */
  return wire ? deliver(wire, letter) : is_late ? TPRT_OK : keep(&world->early, letter);
}

/* Reads all arrived notes of one peer. If memory is exhausted, a note stays in the inbox and is
 * delivered at the next call: it must not be lost. */
static tprt_status read_inbox(wire_world *world, wire_pending_note *letter) {
  const tprt_messenger *messenger = world->messenger;
  for (;;) {
    tprt_status status = TPRT_OK;
    if (letter->request) {
      status = messenger->test(world->end, letter->request);
      if (status == TPRT_IN_PROGRESS)
        return TPRT_OK;
      letter->request = NULL;
      letter->unread = !status;
      world->lively = true;
    }
    if (!status && letter->unread)
      status = take_in(world, letter);
    letter->unread &= status == TPRT_NO_MEMORY;
    if (!status)
      status = messenger->receive(world->end, letter->peer, WIRE_NOTE_TAG, &letter->note,
                                  sizeof letter->note, &letter->request);
    if (status)
      return status == TPRT_NO_MEMORY ? TPRT_OK : status;
  }
}

static tprt_status sweep_outbox(wire_world *world) {
  for (wire_pending_note **at = &world->outbox; *at;) {
    wire_pending_note *letter = *at;
    tprt_status status = world->messenger->test(world->end, letter->request);
    if (status == TPRT_IN_PROGRESS) {
      at = &letter->next;
      continue;
    }
    *at = letter->next;
    tprt__free(letter);
    if (status)
      return status;
  }
  return TPRT_OK;
}

/* Serves the requests of peers. */
static tprt_status serve_peers(wire_world *world) {
  tprt_status status = TPRT_OK;
  for (wire_transport *wire = world->transports; wire && !status; wire = wire->next) {
    status = tprt__wire_serve(wire);
    if (wire->fault.status)
      tprt__wire_settle(wire);
  }
  return status;
}

tprt_status tprt__wire_progress(wire_world *world) {
  /* the thread may have noticed it */
  tprt_status status =
      world->broken ? tprt__fail(world->broken, "%s", world->broken_reason) : TPRT_OK;
  for (int i = 0; i < world->n_ranks && !status; i++) {
    if (i != world->rank)
      status = read_inbox(world, &world->inbox[i]);
  }
  if (!status)
    status = serve_peers(world);
  if (!status)
    status = sweep_outbox(world);
  if (status && !world->broken) {
    world->broken = status;
    snprintf(world->broken_reason, sizeof world->broken_reason, "%s", tprt_last_error());
  }
  return status;
}

tprt_status tprt__wire_note(wire_transport *wire, int peer, const wire_note *note) {
  return post(wire->world, wire->context, wire->peers[peer].world_rank, note);
}

/* Sends a note, and tries again if that fails, for instance for lack of memory: the others would
 * wait in vain. */
static void send_until_accepted(wire_world *world, uint64_t context, int world_rank,
                                const wire_note *note) {
  if (post(world, context, world_rank, note))
    (void)post(world, context, world_rank, note);
}

void tprt__wire_notify_all(wire_transport *wire, const wire_note *note) {
  for (int i = 0; i < wire->base.n_ranks; i++) {
    if (i != wire->base.rank && !wire->peers[i].left)
      send_until_accepted(wire->world, wire->context, wire->peers[i].world_rank, note);
  }
}

void tprt__wire_decline(wire_transport *parent, uint64_t context, int n_members,
                        const int *members) {
  const wire_note note = {.kind = WIRE_LEAVES};
  for (int i = 0; i < n_members; i++) {
    if (members[i] != parent->base.rank)
      send_until_accepted(parent->world, context, parent->peers[members[i]].world_rank, &note);
  }
}

void tprt__wire_flush(wire_world *world) {
  int64_t end = tprt__now() + FLUSH_NS;
  while (world->outbox && !tprt__wire_progress(world) && tprt__now() < end)
    ;
}

/* Returns tags in turn, so that a tag is reused only after all others. */
uint32_t tprt__wire_tags(wire_world *world, int n) {
  if (world->max_tag - world->next_tag < (uint32_t)n - 1)
    world->next_tag = WIRE_FIRST_TAG;
  uint32_t tag = world->next_tag;
  world->next_tag = world->max_tag - tag == (uint32_t)n - 1 ? WIRE_FIRST_TAG : tag + (uint32_t)n;
  return tag;
}

/* ---- attendant ---- */

enum { SHORT_NAP_NS = 50000, WINDOW_NAP_NS = 1000000, LONG_NAP_NS = 10000000 };

/* The attendant's next nap. Naps grow while no note arrives, but stay short if there are windows,
 * so that peers do not wait long for a rank that computes. */
static int64_t next_nap(const wire_world *world, int64_t nap) {
  int64_t most = world->n_regions ? WINDOW_NAP_NS : LONG_NAP_NS;
  return world->lively ? SHORT_NAP_NS : tprt__min(2 * nap, most);
}

static void *progress_main(void *argument) {
  wire_world *world = argument;
  pthread_mutex_lock(&world->lock);
  for (int64_t nap = SHORT_NAP_NS; !world->closing; nap = next_nap(world, nap)) {
    int64_t until_ns = tprt__now() + nap;
    struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
    world->lively = false;
    pthread_cond_timedwait(&world->ended, &world->lock, &until);
    if (!world->broken && !world->closing)
      (void)tprt__wire_progress(world); /* the rank's next call reports a failure */
  }
  pthread_mutex_unlock(&world->lock);
  return NULL;
}

tprt_status tprt__wire_start_progress_thread(wire_world *world) {
  int error = pthread_create(&world->attendant, NULL, progress_main, world);
  world->has_progress_thread = error == 0;
  return error ? tprt__fail(TPRT_SYSTEM,
                            "backend %s: cannot start the thread that handles messages: error %d",
                            world->backend->name, error)
               : TPRT_OK;
}

void tprt__wire_stop_progress_thread(wire_world *world) {
  if (!world->has_progress_thread)
    return;
  pthread_mutex_lock(&world->lock);
  world->closing = true;
  pthread_cond_broadcast(&world->ended);
  pthread_mutex_unlock(&world->lock);
  pthread_join(world->attendant, NULL);
}
