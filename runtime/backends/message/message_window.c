/* Windows built from messages. Get: the requesting rank names a tag and the owner sends the bytes
 * with it. Put: the requesting rank asks; the owner answers with a tag when it is ready to receive,
 * and again when it has received. A signal is one note. The owner's side runs in any thread that
 * handles the owner's messages. It checks the addresses named by peers against the registered
 * memory. */
#include "backends/message/message.h"

#include <string.h>

struct wire_service {
  struct wire_service *next;
  uint32_t number; /* of the access, as numbered by the requesting rank */
  enum { ASKED, MOVING, MOVED, REFUSED } state;
  wire_move move;
};

/* ---- memory ---- */

tprt_status tprt__wire_register_memory(tprt__transport *transport, void *memory, uint64_t bytes,
                                       uint64_t *place) {
  wire_transport *wire = (wire_transport *)transport;
  wire_region *region = tprt__alloc(sizeof *region);
  if (!region)
    return tprt__fail_memory(sizeof *region);
  *place = (uint64_t)(uintptr_t)memory;
  pthread_mutex_lock(&wire->world->lock);
  *region = (wire_region){.next = wire->regions, .memory = memory, .bytes = bytes};
  wire->regions = region;
  wire->world->n_regions++;
  pthread_mutex_unlock(&wire->world->lock);
  return TPRT_OK;
}

static bool is_registered(const wire_transport *wire, uint64_t place, uint64_t bytes) {
  for (const wire_region *at = wire->regions; at; at = at->next) {
    uint64_t begin = (uint64_t)(uintptr_t)at->memory;
    if (place >= begin && bytes <= at->bytes && place - begin <= at->bytes - bytes)
      return true;
  }
  return false;
}

static void give_up(wire_transport *wire, wire_service *service) {
  tprt__wire_give_up(wire, &service->move, 1);
  tprt__free(service);
}

static bool is_deregistered(const wire_transport *wire, const wire_service *service) {
  const wire_move *move = &service->move;
  return service->state != REFUSED &&
         !is_registered(wire, (uint64_t)(uintptr_t)move->at, (uint64_t)move->bytes);
}

static bool has_deregistered(const wire_transport *wire) {
  const wire_service *at = wire->services;
  while (at && !is_deregistered(wire, at))
    at = at->next;
  return at != NULL;
}

/* Ends the accesses to memory that is no longer registered. Data already being sent from it gets a
 * short time to finish; other accesses can exist only after a failure. */
static void drop_services(wire_transport *wire) {
  enum { OVER_NS = 100000000 };
  int64_t end = tprt__now() + OVER_NS;
  while (has_deregistered(wire) && !wire->fault.status && tprt__now() < end &&
         !tprt__wire_progress(wire->world))
    ;
  for (wire_service **at = &wire->services; *at;) {
    wire_service *service = *at;
    if (!is_deregistered(wire, service)) {
      at = &service->next;
      continue;
    }
    *at = service->next;
    give_up(wire, service);
  }
}

tprt_status tprt__wire_deregister_memory(tprt__transport *transport, void *memory) {
  wire_transport *wire = (wire_transport *)transport;
  pthread_mutex_lock(&wire->world->lock);
  wire_region **at = &wire->regions;
  while (*at && (*at)->memory != memory)
    at = &(*at)->next;
  wire_region *region = *at;
  if (region) {
    *at = region->next;
    wire->world->n_regions--;
    drop_services(wire);
  }
  pthread_mutex_unlock(&wire->world->lock);
  tprt__free(region);
  return region ? TPRT_OK
                : tprt__fail(TPRT_INVALID_ARGUMENT, "the memory at %p was not registered", memory);
}

void tprt__wire_close_windows(wire_transport *wire) {
  while (wire->services) {
    wire_service *service = wire->services;
    wire->services = service->next;
    give_up(wire, service);
  }
  while (wire->regions) {
    wire_region *region = wire->regions;
    wire->regions = region->next;
    wire->world->n_regions--;
    tprt__free(region);
  }
}

tprt_status tprt__wire_reach(const tprt__transport *transport, int rank, uint64_t place,
                             uint64_t bytes, void **memory) {
  (void)place;
  (void)bytes;
  (void)memory;
  return tprt__fail(
      TPRT_UNSUPPORTED,
      "backend %s: memory of rank %d cannot be mapped; use tprt_window_get and tprt_window_put",
      transport->backend->name, ((const wire_transport *)transport)->peers[rank].world_rank);
}

/* ---- owner's side ---- */

static tprt_status take_request(wire_transport *wire, int from, const wire_note *note) {
  wire_service *service = tprt__alloc(sizeof *service);
  if (!service)
    return tprt__fail_memory(sizeof *service);
  bool puts = note->kind == WIRE_PUTS;
  *service =
      (wire_service){.number = note->sequence, .state = puts ? ASKED : MOVING, .move.peer = from};
  if (wire->closed || wire->fault.status || note->elements < 1 ||
      !is_registered(wire, note->place, (uint64_t)note->elements))
    service->state = REFUSED;
  service->move.sends = !puts;
  service->move.tag = puts ? tprt__wire_tags(wire->world, 1) : note->tag;
  service->move.at = (char *)(uintptr_t)note->place;
  service->move.bytes = note->elements;
  wire_service **at = &wire->services;
  while (*at)
    at = &(*at)->next;
  *at = service;
  return TPRT_OK;
}

static void count_signal(wire_transport *wire, const wire_note *note) {
  if (note->place % sizeof(uint64_t) == 0 && is_registered(wire, note->place, sizeof(uint64_t)))
    atomic_fetch_add((_Atomic uint64_t *)(uintptr_t)note->place, 1);
}

static tprt_status answer(wire_transport *wire, const wire_service *service, wire_note_kind kind,
                          tprt_status outcome) {
  const wire_note note = {.kind = kind,
                          .tag = service->move.tag,
                          .sequence = service->number,
                          .status = (int32_t)outcome};
  return tprt__wire_note(wire, service->move.peer, &note);
}

/* Advances one access. Sets *over when it is finished. */
static tprt_status step(wire_transport *wire, wire_service *service, bool *over) {
  tprt_status status = TPRT_OK;
  bool moved = false;
  if (service->state == ASKED) {
    status = answer(wire, service, WIRE_READY, TPRT_OK);
    service->state = status ? ASKED : MOVING;
  }
  if (service->state == MOVING && !status)
    status = tprt__wire_push(wire, &service->move, &moved);
  if (service->state == MOVING && service->move.done)
    service->state = MOVED;
  wire->world->lively |= moved;
  if (status)
    return status;
  if (service->state == REFUSED)
    status = answer(wire, service, WIRE_SERVED, TPRT_INVALID_STATE);
  else if (service->state == MOVED && !service->move.sends)
    status = answer(wire, service, WIRE_SERVED, TPRT_OK);
  *over = !status && (service->state == REFUSED || service->state == MOVED);
  return status;
}

tprt_status tprt__wire_serve(wire_transport *wire) {
  for (wire_service **at = &wire->services; *at;) {
    wire_service *service = *at;
    bool over = tprt__wire_peer_dead(wire, service->move.peer);
    tprt_status status = over ? TPRT_OK : step(wire, service, &over);
    if (status && status != TPRT_NO_MEMORY) /* for lack of memory, the next call tries again */
      return status;
    if (!over) {
      at = &service->next;
      continue;
    }
    *at = service->next;
    give_up(wire, service);
  }
  return TPRT_OK;
}

/* ---- requesting side ---- */

static void take_answer(wire_transport *wire, const wire_note *note) {
  wire_access *at = wire->accesses;
  while (at && at->number != note->sequence)
    at = at->next;
  if (!at) /* already given up */
    return;
  if (note->kind == WIRE_READY)
    at->tag = note->tag;
  else
    at->status = (tprt_status)note->status;
}

tprt_status tprt__wire_take_access(wire_transport *wire, int from, const wire_note *note) {
  switch (note->kind) {
  case WIRE_PUTS:
  case WIRE_GETS:
    return take_request(wire, from, note);
  case WIRE_SIGNALS:
    count_signal(wire, note);
    return TPRT_OK;
  default:
    take_answer(wire, note);
    return TPRT_OK;
  }
}

/* True if the access has ended; *status is the reason if it failed. */
static bool finished(wire_transport *wire, const wire_access *access, wire_move *move, bool *moved,
                     tprt_status *status) {
  *moved = false;
  move->tag = access->tag;
  if (access->tag && !move->done)
    *status = tprt__wire_push(wire, move, moved);
  if (*status || access->status == TPRT_IN_PROGRESS)
    return *status != TPRT_OK;
  if (access->status)
    *status = tprt__fail(
        access->status,
        "the memory of rank %d is no longer available: its window was destroyed, or failed",
        wire->peers[move->peer].world_rank);
  return access->status || move->done;
}

static tprt_status run(wire_transport *wire, wire_access *access, wire_move *move,
                       int64_t deadline) {
  wire_wait wait = {.deadline = deadline};
  tprt_status status = TPRT_OK;
  bool moved, peer_dead = false;
  while (!finished(wire, access, move, &moved, &status)) {
    if (peer_dead && !moved)
      status = tprt__wire_record_peer_fault(wire, TPRT_PEER_DEAD, move->peer, &wait);
    else if (!moved && tprt__now() >= deadline)
      status = tprt__wire_record_peer_fault(wire, TPRT_TIMEOUT, move->peer, &wait);
    /* before handling notes: those from before its end still count */
    peer_dead = tprt__wire_peer_dead(wire, move->peer);
    if (!status)
      status = tprt__wire_poll(wire, &wait, moved);
    if (status)
      break;
  }
  tprt__wire_give_up(wire, move, 1);
  return status;
}

static tprt_status access_memory(tprt__transport *transport, wire_note_kind kind, uint64_t place,
                                 wire_move move, int64_t deadline) {
  wire_transport *wire = (wire_transport *)transport;
  bool gets = kind == WIRE_GETS;
  pthread_mutex_lock(&wire->world->lock);
  wire_access access = {.next = wire->accesses,
                        .number = ++wire->last_access,
                        .tag = gets ? tprt__wire_tags(wire->world, 1) : 0,
                        .status = gets ? TPRT_OK : TPRT_IN_PROGRESS};
  const wire_note note = {.kind = kind,
                          .tag = access.tag,
                          .sequence = access.number,
                          .place = place,
                          .elements = move.bytes};
  tprt_status status = tprt__wire_begin(wire);
  if (!status)
    status = tprt__wire_note(wire, move.peer, &note);
  if (!status) {
    wire->accesses = &access;
    status = run(wire, &access, &move, deadline);
    wire_access **at = &wire->accesses; /* newer accesses may precede it in the list */
    while (*at != &access)
      at = &(*at)->next;
    *at = access.next;
  }
  pthread_mutex_unlock(&wire->world->lock);
  return status;
}

tprt_status tprt__wire_put(tprt__transport *transport, int rank, uint64_t place, const void *from,
                           uint64_t bytes, int64_t deadline) {
  const wire_move move = {
      .peer = rank, .sends = true, .at = (char *)(uintptr_t)from, .bytes = (int64_t)bytes};
  return access_memory(transport, WIRE_PUTS, place, move, deadline);
}

tprt_status tprt__wire_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                           uint64_t bytes, int64_t deadline) {
  const wire_move move = {.peer = rank, .at = to, .bytes = (int64_t)bytes};
  return access_memory(transport, WIRE_GETS, place, move, deadline);
}

/* ---- signals ---- */

tprt_status tprt__wire_signal(tprt__transport *transport, int rank, uint64_t place) {
  wire_transport *wire = (wire_transport *)transport;
  const wire_note note = {.kind = WIRE_SIGNALS, .place = place};
  pthread_mutex_lock(&wire->world->lock);
  tprt_status status = tprt__wire_begin(wire);
  if (!status && rank == transport->rank)
    count_signal(wire, &note);
  else if (!status)
    status = tprt__wire_note(wire, rank, &note);
  pthread_mutex_unlock(&wire->world->lock);
  return status;
}

tprt_status tprt__wire_await(tprt__transport *transport, const _Atomic uint64_t *counter,
                             uint64_t value, int rank, int64_t deadline) {
  wire_transport *wire = (wire_transport *)transport;
  wire_wait wait = {.deadline = deadline};
  bool peer_dead = false;
  pthread_mutex_lock(&wire->world->lock);
  tprt_status status = tprt__wire_begin(wire);
  while (!status && atomic_load(counter) < value) {
    if (peer_dead)
      status = tprt__wire_record_peer_fault(wire, TPRT_PEER_DEAD, rank, &wait);
    else if (tprt__now() >= deadline)
      status = tprt__wire_record_peer_fault(wire, TPRT_TIMEOUT, rank, &wait);
    peer_dead = rank != transport->rank && tprt__wire_peer_dead(wire, rank);
    if (!status)
      status = tprt__wire_poll(wire, &wait, false);
  }
  pthread_mutex_unlock(&wire->world->lock);
  return status;
}
