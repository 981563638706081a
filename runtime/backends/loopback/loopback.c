/* Backend "loopback": worlds, groups, memory and the backend table. */
#define _GNU_SOURCE 1
#include "backends/loopback/loopback.h"

#include "cuda/gpu/gpu_context.h"

#include <string.h>
#include <time.h>

/* Rendezvous of the members of new groups; one invitation serves all groups of a split. The first
 * member of a group to arrive creates its hub. The invitation lives until all invited ranks have
 * arrived, or as long as the parent if some never do. */
struct loopback_invitation {
  loopback_invitation *next;
  int n_users, n_hubs;
  bool failed; /* creating a hub failed for lack of memory, so no rank may create and wait in one */
  loopback_hub *hubs[]; /* at most n_users; a hub is identified by its first member */
};

static void hub_release(loopback_hub *hub);

static void invitation_free(loopback_invitation *invitation) {
  for (int i = 0; i < invitation->n_hubs; i++)
    hub_release(invitation->hubs[i]);
  tprt__free(invitation);
}

static void hub_free(loopback_hub *hub) {
  while (hub->invitations) {
    loopback_invitation *invitation = hub->invitations;
    hub->invitations = invitation->next;
    invitation_free(invitation);
  }
  tprt__loopback_deregister_all(hub);
  pthread_rwlock_destroy(&hub->registrations_lock);
  pthread_cond_destroy(&hub->changed);
  pthread_mutex_destroy(&hub->lock);
  tprt__free(hub->plans);
  tprt__free(hub->sources);
  tprt__free(hub->destinations);
  tprt__free(hub->scales);
  tprt__free(hub->queues);
  tprt__free(hub);
}

static loopback_hub *hub_create(int n_ranks) {
  size_t n = (size_t)n_ranks;
  loopback_hub *hub = tprt__alloc(sizeof *hub + n * sizeof *hub->seats);
  if (!hub)
    return NULL;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&hub->lock, NULL);
  pthread_rwlock_init(&hub->registrations_lock, NULL);
  pthread_cond_init(&hub->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  hub->n_ranks = n_ranks;
  hub->plans = tprt__alloc(n * sizeof *hub->plans);
  hub->sources = tprt__alloc(n * sizeof *hub->sources);
  hub->destinations = tprt__alloc(n * sizeof *hub->destinations);
  hub->scales = tprt__alloc(n * sizeof *hub->scales);
  hub->queues = tprt__alloc(n * sizeof *hub->queues);
  if (hub->plans && hub->sources && hub->destinations && hub->scales && hub->queues)
    return hub;
  hub_free(hub);
  return NULL;
}

/* Creates an endpoint, which holds a reference to the hub. */
static tprt_status endpoint_create(loopback_hub *hub, int rank, tprt__transport **transport) {
  loopback_transport *end = tprt__alloc(sizeof *end);
  if (!end)
    return tprt__fail_memory(sizeof *end);
  end->base = (tprt__transport){.backend = &tprt__backend_loopback,
                                .rank = rank,
                                .n_ranks = hub->n_ranks,
                                .host_ranks = hub->host_ranks};
  end->hub = hub;
  pthread_mutex_lock(&hub->lock);
  hub->references++;
  pthread_mutex_unlock(&hub->lock);
  *transport = &end->base;
  return TPRT_OK;
}

static void hub_release(loopback_hub *hub) {
  pthread_mutex_lock(&hub->lock);
  bool last = --hub->references == 0;
  pthread_mutex_unlock(&hub->lock);
  if (last)
    hub_free(hub);
}

static void mark_left(loopback_hub *hub, int rank) {
  pthread_mutex_lock(&hub->lock);
  hub->seats[rank].left = true;
  pthread_cond_broadcast(&hub->changed);
  pthread_mutex_unlock(&hub->lock);
}

static bool loopback_is_peer_dead(const tprt__transport *transport, int rank) {
  loopback_hub *hub = ((const loopback_transport *)transport)->hub;
  pthread_mutex_lock(&hub->lock);
  bool peer_dead = hub->seats[rank].left;
  pthread_mutex_unlock(&hub->lock);
  return peer_dead;
}

static void loopback_leave(tprt__transport *transport) {
  mark_left(((loopback_transport *)transport)->hub, transport->rank);
}

static void loopback_destroy(tprt__transport *transport) {
  loopback_leave(transport);
  hub_release(((loopback_transport *)transport)->hub);
  tprt__free(transport);
}

/* ---- worlds ---- */

static tprt_status loopback_probe(void) { return TPRT_OK; }

static tprt_status loopback_create_threads(int n_ranks, const tprt__settings *settings,
                                           tprt__transport **transports) {
  (void)settings;
  if (n_ranks > 0xffff)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "backend loopback has at most 65535 ranks, not %d",
                      n_ranks);
  loopback_hub *hub = hub_create(n_ranks);
  if (!hub)
    return tprt__fail_memory(sizeof *hub);
  hub->references = 1; /* reference of this function */
  hub->host_ranks = n_ranks;
  tprt_status status = TPRT_OK;
  int n_open = 0;
  for (; n_open < n_ranks && !status; n_open++) {
    hub->seats[n_open].world_rank = n_open;
    status = endpoint_create(hub, n_open, &transports[n_open]);
  }
  for (int i = 0; status && i < n_open - 1; i++)
    loopback_destroy(transports[i]);
  hub_release(hub);
  return status;
}

static tprt_status loopback_create(int n_ranks, int rank, const tprt__settings *settings,
                                   tprt__transport **transport) {
  if (n_ranks == 1)
    return loopback_create_threads(1, settings, transport);
  return tprt__fail(TPRT_UNSUPPORTED,
                    "backend loopback runs all ranks in one process (tprt_world_create_threads); "
                    "rank %d of %d as a separate process needs shm or mpi",
                    rank, n_ranks);
}

/* ---- groups ---- */

loopback_invitation *tprt__loopback_invite(loopback_hub *parent, int n_users) {
  loopback_invitation *made = tprt__alloc(sizeof *made + (size_t)n_users * sizeof(loopback_hub *));
  if (!made)
    return NULL;
  made->n_users = n_users;
  made->next = parent->invitations;
  parent->invitations = made;
  return made;
}

static tprt_status loopback_reserve(tprt__transport *parent, int n_users, const int *users,
                                    tprt__token *token) {
  (void)users;
  loopback_hub *hub = ((loopback_transport *)parent)->hub;
  pthread_mutex_lock(&hub->lock);
  loopback_invitation *made = tprt__loopback_invite(hub, n_users);
  pthread_mutex_unlock(&hub->lock);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  *token = (tprt__token){{0}};
  memcpy(token->bytes, &made, sizeof made);
  return TPRT_OK;
}

static loopback_hub *find_hub(loopback_invitation *invitation, const loopback_hub *parent,
                              int n_members, const int *members) {
  int first = parent->seats[members[0]].world_rank;
  for (int i = 0; i < invitation->n_hubs; i++) {
    if (invitation->hubs[i]->seats[0].world_rank == first)
      return invitation->hubs[i];
  }
  loopback_hub *hub = invitation->failed ? NULL : hub_create(n_members);
  invitation->failed = !hub;
  if (!hub)
    return NULL;
  hub->references = 1; /* reference of the invitation */
  hub->host_ranks = parent->host_ranks;
  for (int i = 0; i < n_members; i++)
    hub->seats[i].world_rank = parent->seats[members[i]].world_rank;
  return invitation->hubs[invitation->n_hubs++] = hub;
}

/* Consumes one use of the invitation. The caller holds the parent's lock. */
static void use_up(loopback_hub *parent, loopback_invitation *invitation) {
  if (--invitation->n_users)
    return;
  loopback_invitation **at = &parent->invitations;
  while (*at != invitation)
    at = &(*at)->next;
  *at = invitation->next;
  invitation_free(invitation);
}

static tprt_status loopback_join(tprt__transport *parent, const tprt__token *token, int n_members,
                                 const int *members, int index, const tprt__comm_settings *settings,
                                 tprt__transport **child) {
  loopback_hub *from = ((loopback_transport *)parent)->hub;
  loopback_invitation *invitation;
  (void)settings;
  memcpy(&invitation, token->bytes, sizeof invitation);
  tprt_status status = TPRT_OK;
  pthread_mutex_lock(&from->lock);
  if (index < 0) {
    *child = NULL;
  } else {
    loopback_hub *hub = find_hub(invitation, from, n_members, members);
    status = hub ? endpoint_create(hub, index, child) : tprt__fail_memory(sizeof *hub);
    if (status && hub) /* its peers must not wait for it */
      mark_left(hub, index);
  }
  use_up(from, invitation);
  pthread_mutex_unlock(&from->lock);
  return status;
}

/* ---- cost: one thread works for all ranks ---- */

static void loopback_constants(const tprt__transport *transport, int64_t *alpha_ps,
                               int64_t *beta_ps_per_kb) {
  *alpha_ps = INT64_C(3000000) * transport->n_ranks;
  *beta_ps_per_kb = 100000; /* 10 GB/s */
}

static void loopback_cost(const tprt__transport *transport, const tprt__plan *plan,
                          tprt__cost *cost) {
  int64_t n = tprt__plan_is_transfer(plan) ? 1 : transport->n_ranks;
  int64_t in = plan->reduction ? plan->send_bytes : plan->recv_bytes;
  *cost = (tprt__cost){.algorithm = "direct", .n_steps = 1, .bytes = n * (in + plan->recv_bytes)};
}

const tprt__backend tprt__backend_loopback = {
    .size = sizeof(tprt__backend),
    .abi = TPRT__BACKEND_ABI,
    .capabilities = TPRT_CAP_THREADS | TPRT_CAP_REGISTERED | TPRT_CAP_COLLECTIVES |
                    TPRT_CAP_PIECES | TPRT_CAP_TRANSFERS | TPRT_CAP_TAGS | TPRT_CAP_WINDOWS |
                    TPRT_CAP_MAPPED | TPRT_CAP_USER_MEMORY | TPRT_CAP_RECOVERY |
                    TPRT_CAP_HOST_MEMORY | TPRT_CAP_GPU_PROGRAMS,
    .name = "loopback",
    .summary = "virtual ranks of one process; the last rank to arrive does the work of all",
    .lacks = {TPRT__LACK(TPRT_CAP_PROCESSES) =
                  "the ranks access each other's memory directly, so they must share one process",
              TPRT__LACK(TPRT_CAP_ELASTIC) =
                  "its ranks are created together; use backend shm or tcp",
              TPRT__LACKS_STREAMS},
    .probe = loopback_probe,
    .create = loopback_create,
    .create_threads = loopback_create_threads,
    .reserve = loopback_reserve,
    .join = loopback_join,
    .begin = tprt__loopback_begin,
    .quiesce = tprt__quiesce_noop,
    .accept = tprt__loopback_accept,
    .launch = tprt__loopback_launch,
    .settle = tprt__settle_noop,
    .record = tprt__no_record,
    .hold = tprt__no_hold,
    .submit = tprt__loopback_submit,
    .exchange = tprt__loopback_exchange,
    .abort = tprt__loopback_abort,
    .fault = tprt__loopback_fault,
    .peer_dead = loopback_is_peer_dead,
    .alloc = tprt__heap_alloc,
    .free = tprt__heap_free,
    .offset = tprt__no_offset,
    .register_memory = tprt__loopback_register_memory,
    .deregister_memory = tprt__loopback_deregister_memory,
    .register_memory_all = tprt__register_memory_each,
    .reach = tprt__loopback_reach,
    .put = tprt__loopback_put,
    .get = tprt__loopback_get,
    .signal = tprt__loopback_signal,
    .await = tprt__loopback_await,
    .recover = tprt__loopback_recover,
    .constants = loopback_constants,
    .cost = loopback_cost,
    .leave = loopback_leave,
    .destroy = loopback_destroy,
};
