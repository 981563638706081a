/* Worlds and groups over a messenger, and the functions shared by all such backends. */
#define _GNU_SOURCE 1
#include "backends/message/message_engine.h"

#include <sched.h>
#include <string.h>
#include <time.h>

/* ---- transports ---- */

static void free_pending_notes(wire_pending_note *list) {
  while (list) {
    wire_pending_note *next = list->next;
    tprt__free(list);
    list = next;
  }
}

static void transport_free(wire_transport *wire) {
  for (int i = 0; i < wire->base.n_ranks; i++)
    free_pending_notes(wire->peers[i].asks);
  tprt__free(wire->scratch);
  tprt__free(wire->sources);
  tprt__free(wire->scales);
  tprt__wire_hosts_free(&wire->hosts);
  tprt__free(wire);
}

static void unlink_transport(wire_transport *wire) {
  wire_transport **at = &wire->world->transports;
  while (*at != wire)
    at = &(*at)->next;
  *at = wire->next;
}

void tprt__wire_reap(wire_transport *wire) {
  bool all = wire->closed;
  for (int i = 0; i < wire->base.n_ranks; i++)
    all &= wire->peers[i].left || i == wire->base.rank;
  if (!all)
    return;
  unlink_transport(wire);
  transport_free(wire);
}

/* `members` are ranks of the world. The caller holds the lock. */
static tprt_status transport_create(wire_world *world, uint64_t context, int n_members,
                                    const int *members, int index, tprt__transport **transport) {
  size_t n = (size_t)n_members;
  wire_transport *wire = tprt__alloc(sizeof *wire + n * sizeof *wire->peers);
  if (!wire)
    return tprt__fail_memory(sizeof *wire);
  wire->base = (tprt__transport){.backend = world->backend,
                                 .rank = index,
                                 .n_ranks = n_members,
                                 .host_ranks = world->host_ranks};
  wire->sources = tprt__alloc(n * sizeof *wire->sources);
  wire->scales = tprt__alloc(n * sizeof *wire->scales);
  if (!wire->sources || !wire->scales) {
    transport_free(wire);
    return tprt__fail_memory(n * sizeof *wire->scales);
  }
  tprt_status status = tprt__wire_hosts_make(world, n_members, members, index, &wire->hosts);
  if (status) {
    transport_free(wire);
    return status;
  }
  wire->world = world;
  wire->context = context;
  for (int i = 0; i < n_members; i++)
    wire->peers[i].world_rank = members[i];
  wire->next = world->transports;
  world->transports = wire;
  world->references++;
  tprt__wire_deliver_early(wire);
  *transport = &wire->base;
  return TPRT_OK;
}

/* ---- worlds ---- */

/* Waits briefly until the other ranks have announced that they leave too: some libraries complain
 * about messages that are never received. */
static void wait_for_leavers(wire_world *world) {
  enum { PART_NS = 5000000 };
  int64_t end = tprt__now() + PART_NS;
  for (bool waits = true; waits && tprt__now() < end; sched_yield()) {
    pthread_mutex_lock(&world->lock);
    waits = world->transports && !tprt__wire_progress(world);
    pthread_mutex_unlock(&world->lock);
  }
}

static void world_free(wire_world *world) {
  tprt__wire_stop_progress_thread(world);
  while (world->transports) {
    wire_transport *wire = world->transports;
    world->transports = wire->next;
    transport_free(wire);
  }
  for (int i = 0; i < world->n_ranks; i++) {
    if (world->inbox[i].request)
      world->messenger->cancel(world->end, world->inbox[i].request);
  }
  for (wire_pending_note *letter = world->outbox; letter;) {
    /* a send that cannot be canceled is still read, so its memory is not freed */
    wire_pending_note *next = letter->next;
    if (world->messenger->cancel(world->end, letter->request))
      tprt__free(letter);
    letter = next;
  }
  world->messenger->close(world->end);
  free_pending_notes(world->early);
  pthread_cond_destroy(&world->ended);
  pthread_mutex_destroy(&world->lock);
  tprt__free(world->inbox);
  tprt__free(world->first);
  tprt__free(world);
}

/* Takes ownership of the endpoint, also on failure. */
static tprt_status world_create(const tprt_messenger *messenger, const tprt__backend *backend,
                                void *end, uint32_t max_tag, int n_ranks, int rank, int host_ranks,
                                const int *first, tprt__transport **transport) {
  size_t n = (size_t)n_ranks;
  wire_world *world = tprt__alloc(sizeof *world);
  wire_pending_note *inbox = tprt__alloc(n * sizeof *inbox);
  int *members = tprt__alloc(n * sizeof *members);
  int *own_first = first ? tprt__alloc(n * sizeof *first) : NULL;
  if (!world || !inbox || !members || (first && !own_first)) {
    tprt__free(own_first);
    tprt__free(members);
    tprt__free(inbox);
    tprt__free(world);
    messenger->close(end);
    return tprt__fail_memory(n * sizeof *inbox);
  }
  *world = (wire_world){.messenger = messenger,
                        .end = end,
                        .backend = backend,
                        .n_ranks = n_ranks,
                        .rank = rank,
                        .host_ranks = host_ranks,
                        .first = own_first,
                        .max_tag = max_tag,
                        .next_tag = WIRE_FIRST_TAG,
                        .inbox = inbox};
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&world->lock, NULL);
  pthread_cond_init(&world->ended, &monotonic);
  pthread_condattr_destroy(&monotonic);
  tprt_status status = TPRT_OK;
  if (first)
    memcpy(own_first, first, n * sizeof *first);
  for (int i = 0; i < n_ranks; i++) {
    members[i] = i;
    inbox[i].peer = i;
    if (i != rank && !status)
      status = messenger->receive(end, i, WIRE_NOTE_TAG, &inbox[i].note, sizeof inbox[i].note,
                                  &inbox[i].request);
  }
  if (!status)
    status = transport_create(world, 0, n_ranks, members, rank, transport);
  if (!status && n_ranks > 1)
    status = tprt__wire_start_progress_thread(world);
  tprt__free(members);
  if (status)
    world_free(world);
  return status;
}

static tprt_status check_world(const char *name, int n_ranks, uint32_t max_tag) {
  if (n_ranks > WIRE_MAX_RANKS)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "backend %s has at most %d ranks, not %d", name,
                      WIRE_MAX_RANKS, n_ranks);
  if (max_tag < TPRT_MESSENGER_LEAST_TAG)
    return tprt__fail(TPRT_UNSUPPORTED, "backend %s has tags up to %u; at least %d are needed",
                      name, max_tag, TPRT_MESSENGER_LEAST_TAG);
  return TPRT_OK;
}

tprt_status tprt__wire_open_endpoint(const tprt_messenger *messenger, const tprt__backend *backend,
                                     void *end, uint32_t max_tag, int n_ranks, int rank,
                                     int host_ranks, const int *first,
                                     tprt__transport **transport) {
  tprt_status status = check_world(backend->name, n_ranks, max_tag);
  if (!status)
    return world_create(messenger, backend, end, max_tag, n_ranks, rank, host_ranks, first,
                        transport);
  messenger->close(end);
  return status;
}

tprt_status tprt__wire_open(const tprt_messenger *messenger, const tprt__backend *backend,
                            int n_ranks, int rank, int64_t timeout_ns,
                            tprt__transport **transport) {
  void *end;
  uint32_t max_tag;
  int host_ranks = 1;
  tprt_status status = messenger->open(n_ranks, rank, timeout_ns, &end, &max_tag, &host_ranks);
  return status ? status
                : tprt__wire_open_endpoint(messenger, backend, end, max_tag, n_ranks, rank,
                                           host_ranks, NULL, transport);
}

tprt_status tprt__wire_open_threads(const tprt_messenger *messenger, const tprt__backend *backend,
                                    int n_ranks, tprt__transport **transports) {
  uint32_t max_tag;
  void **ends = tprt__alloc((size_t)n_ranks * sizeof *ends);
  if (!ends)
    return tprt__fail_memory((size_t)n_ranks * sizeof *ends);
  tprt_status status = messenger->open_threads(n_ranks, ends, &max_tag);
  if (status) {
    tprt__free(ends);
    return status;
  }
  status = check_world(backend->name, n_ranks, max_tag);
  int n_open = 0;
  for (; n_open < n_ranks && !status; n_open++)
    status = world_create(messenger, backend, ends[n_open], max_tag, n_ranks, n_open, n_ranks, NULL,
                          &transports[n_open]);
  for (int i = n_open; i < n_ranks; i++)
    messenger->close(ends[i]);
  for (int i = 0; i < n_open - 1 && status; i++)
    transports[i]->backend->destroy(transports[i]);
  tprt__free(ends);
  return status;
}

/* ---- groups: identified by a unique number ---- */

uint64_t tprt__wire_new_context(wire_world *world) {
  return ((uint64_t)world->rank + 1) << 40 | ++world->next_context;
}

tprt_status tprt__wire_reserve(tprt__transport *parent, int n_users, const int *users,
                               tprt__token *token) {
  (void)n_users;
  (void)users;
  wire_world *world = ((wire_transport *)parent)->world;
  pthread_mutex_lock(&world->lock);
  uint64_t context = tprt__wire_new_context(world);
  pthread_mutex_unlock(&world->lock);
  *token = (tprt__token){{0}};
  memcpy(token->bytes, &context, sizeof context);
  return TPRT_OK;
}

tprt_status tprt__wire_join(tprt__transport *parent, const tprt__token *token, int n_members,
                            const int *members, int index, const tprt__comm_settings *settings,
                            tprt__transport **child) {
  wire_transport *wire = (wire_transport *)parent;
  uint64_t context;
  (void)settings;
  memcpy(&context, token->bytes, sizeof context);
  if (index < 0) {
    *child = NULL;
    return TPRT_OK;
  }
  int *world_ranks = tprt__alloc((size_t)n_members * sizeof *world_ranks);
  for (int i = 0; i < n_members && world_ranks; i++)
    world_ranks[i] = wire->peers[members[i]].world_rank;
  pthread_mutex_lock(&wire->world->lock);
  tprt_status status =
      world_ranks ? transport_create(wire->world, context, n_members, world_ranks, index, child)
                  : tprt__fail_memory((size_t)n_members * sizeof *world_ranks);
  if (status)
    tprt__wire_decline(wire, context, n_members, members);
  pthread_mutex_unlock(&wire->world->lock);
  tprt__free(world_ranks);
  return status;
}

/* ---- failure and destruction ---- */

void tprt__wire_abort(tprt__transport *transport, const tprt__fault *fault) {
  wire_transport *wire = (wire_transport *)transport;
  pthread_mutex_lock(&wire->world->lock);
  if (!wire->fault.status) /* else this thread's error text must not change either */
    tprt__wire_record_fault(wire, fault);
  tprt__wire_flush(wire->world);
  pthread_mutex_unlock(&wire->world->lock);
}

tprt__fault tprt__wire_fault(const tprt__transport *transport) {
  const wire_transport *wire = (const wire_transport *)transport;
  pthread_mutex_lock(&wire->world->lock);
  (void)tprt__wire_progress(wire->world); /* another rank may have reported a fault */
  tprt__fault fault = wire->fault;
  pthread_mutex_unlock(&wire->world->lock);
  return fault;
}

bool tprt__wire_is_peer_dead(const tprt__transport *transport, int rank) {
  const wire_transport *wire = (const wire_transport *)transport;
  pthread_mutex_lock(&wire->world->lock);
  (void)tprt__wire_progress(wire->world);
  bool peer_dead = tprt__wire_peer_dead(wire, rank);
  pthread_mutex_unlock(&wire->world->lock);
  return peer_dead;
}

static void announce_leaving(wire_transport *wire) {
  wire_note note = {.kind = WIRE_LEAVES};
  bool *left = &wire->peers[wire->base.rank].left;
  if (!*left)
    tprt__wire_notify_all(wire, &note);
  *left = true;
  tprt__wire_flush(wire->world);
}

void tprt__wire_leave(tprt__transport *transport) {
  wire_transport *wire = (wire_transport *)transport;
  pthread_mutex_lock(&wire->world->lock);
  announce_leaving(wire);
  pthread_mutex_unlock(&wire->world->lock);
}

void tprt__wire_destroy(tprt__transport *transport) {
  wire_transport *wire = (wire_transport *)transport;
  wire_world *world = wire->world;
  pthread_mutex_lock(&world->lock);
  announce_leaving(wire);
  wire->closed = true;
  tprt__wire_close_windows(wire);
  tprt__wire_reap(wire);
  bool last = --world->references == 0;
  pthread_mutex_unlock(&world->lock);
  if (!last)
    return;
  wait_for_leavers(world);
  world_free(world);
}

/* ---- cost ---- */

void tprt__wire_constants(const tprt__transport *transport, int64_t *alpha_ps,
                          int64_t *beta_ps_per_kb) {
  *alpha_ps = INT64_C(2000000) * transport->n_ranks; /* a note to every rank */
  *beta_ps_per_kb = 200000;                          /* 5 GB/s */
}

void tprt__wire_cost(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost) {
  const wire_transport *wire = (const wire_transport *)transport;
  bool gathers = plan->kind == TPRT_OP_ALL_REDUCE || plan->kind == TPRT_OP_REDUCE;
  if (tprt__wire_has_host_algorithm(wire, plan)) { /* notes; inside of a host, and between hosts */
    *cost =
        (tprt__cost){.algorithm = "by host",
                     .n_steps = gathers ? 5 : 3,
                     .bytes = (gathers ? 4 : 2) * tprt__max(plan->send_bytes, plan->recv_bytes)};
    return;
  }
  bool sliced = plan->reduction && !(plan->traits & TPRT__SCATTERS);
  *cost = (tprt__cost){.algorithm = sliced ? "slices" : "direct",
                       .n_steps = sliced ? 3 : 2,
                       .bytes = sliced ? 4 * plan->piece : plan->send_bytes + plan->recv_bytes};
}
