/* The next epoch of a communicator, with other processes: tprt_comm_reconfigure.
 *
 * 1. The ranks that are left agree on who they are, as after a failure (recover.c). The first of
 *    them with a place leads.
 * 2. The leader claims the epoch, serves its store, and invites spares to places that no rank
 *    takes. A spare that does not enter soon is passed over.
 * 3. The leader tells the others the plan. All that have a place create a world like at the start
 *    of a job, in the store of the epoch: nothing of the old epoch can arrive there.
 * 4. The ranks that are left tell each other how that went: either all continue or all fail, and if
 *    a process ended, all try again. If one ends while they do, those who have the new world keep
 *    it: it has failed, and its next reconfiguration replaces that rank. */
#include "services/epoch.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TEXT_BYTES = 320 };

/* How a part went for a rank. */
typedef struct outcome {
  int32_t status;
  char text[TEXT_BYTES];
} outcome;

/* What the leader tells the others. */
typedef struct plan {
  outcome outcome;
  int32_t is_claimed, unused;
  tprt__invitation next;
} plan;

/* What each rank contributes when the ranks that are left meet. */
typedef struct proposal {
  uint64_t set; /* hash of the wanted places */
  int32_t tried_epoch, unused;
  int64_t next;                         /* the claim, if this rank leads */
  int64_t known[TPRT__MOST_CLAIMS + 1]; /* as in tprt_comm: `claim`, `tried`; 0: none */
} proposal;

/* A call of tprt_comm_reconfigure. Ranks are those of the old communicator. */
typedef struct change {
  tprt_comm *comm;
  const int *ranks; /* NULL: place i is for rank i */
  int n_places;
  tprt__settings settings; /* of the new world */
  int64_t deadline;        /* for late ranks and for spares */
  proposal *proposals;     /* of the ranks that are left */
} change;

static outcome outcome_of(tprt_status status) {
  outcome made = {.status = (int32_t)status};
  if (status)
    snprintf(made.text, sizeof made.text, "%s", tprt_last_error());
  return made;
}

static tprt_status fail_as(outcome *other) {
  other->text[sizeof other->text - 1] = 0;
  return other->status ? tprt__fail((tprt_status)other->status, "%s", other->text) : TPRT_OK;
}

/* ---- places ---- */

static int wanted_rank(const change *c, int place) {
  int n = tprt_comm_size(c->comm);
  return c->ranks ? c->ranks[place] : place < n ? place : TPRT_SPARE;
}

/* Returns the rank that takes a place; TPRT_SPARE if a spare does. */
static int rank_of_place(const change *c, int place) {
  int rank = wanted_rank(c, place);
  return rank >= 0 && tprt_comm_local_rank(c->comm->survivors, c->comm->world_ranks[rank]) >= 0
             ? rank
             : TPRT_SPARE;
}

/* Returns the place of a rank; -1: none. */
static int place_of_rank(const change *c, int rank) {
  int place = 0;
  while (place < c->n_places && wanted_rank(c, place) != rank)
    place++;
  return place < c->n_places ? place : -1;
}

/* Returns the number that the i-th survivor has in the old communicator. */
static int survivor(const change *c, int i) {
  return tprt_comm_local_rank(c->comm, c->comm->survivors->world_ranks[i]);
}

/* Returns the first of the ranks that are left which has a place; -1: none. */
static int find_leader(const change *c) {
  int n = tprt_comm_size(c->comm->survivors), i = 0;
  while (i < n && place_of_rank(c, survivor(c, i)) < 0)
    i++;
  return i < n ? i : -1;
}

/* ---- 1. the ranks that are left ---- */

/* Lets all ranks finish what they have submitted before the communicator ends. A failure means that
 * there is something to recover from. */
static void finish_work(const change *c) {
  tprt_op op = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, TPRT_U8, NULL);
  tprt__plan barrier;
  if (tprt__plan_make(&op, tprt_comm_size(c->comm), tprt_comm_rank(c->comm), &barrier))
    return;
  barrier.of_library = true;
  (void)tprt__comm_submit(c->comm, &barrier, c->deadline);
}

/* Waits for late ranks for half of the time, so that spares get the rest. */
static tprt_status find_survivors(const change *c) {
  tprt_comm *from = c->comm->survivors ? c->comm->survivors : c->comm, *left;
  tprt__comm_settings settings = {.aborts = false}; /* failures of it are dealt with here */
  for (int i = 0; i < TPRT__N_HINTS; i++)
    settings.hints[i] = TPRT__UNSET;
  settings.hints[TPRT__HINT_TIMEOUT] = tprt__comm_timeout(c->comm);
  settings.hints[TPRT__HINT_FLIGHT] = settings.hints[TPRT__HINT_NAN_CHECK] = 0;
  int64_t now = tprt__now();
  from->aborts = false; /* it is replaced */
  if (!tprt_comm_status(from) && from == c->comm)
    finish_work(c);
  tprt_status status =
      tprt__comm_recover(from, now + tprt__max(c->deadline - now, 0) / 2, &settings, &left);
  if (status)
    return status;
  if (from != c->comm)
    tprt_comm_destroy(from);
  c->comm->survivors = left;
  return TPRT_OK;
}

/* Runs an operation of the ranks that are left. They wait longer than any of them has for what it
 * does before, so that they learn its reason. */
static tprt_status run_among_survivors(const change *c, tprt_op *op) {
  enum { GRACE_NS = 2 * TPRT__EPOCH_NS };
  tprt_comm *left = c->comm->survivors;
  int64_t time = tprt__max(c->deadline - tprt__now(), 0) + GRACE_NS;
  atomic_store(&left->hints[TPRT__HINT_TIMEOUT], time);
  return tprt__comm_run_internal(left, op);
}

static tprt_status gather_among_survivors(const change *c, const void *mine, void *all,
                                          size_t bytes) {
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, mine, all, (int64_t)bytes, TPRT_U8, NULL);
  return run_among_survivors(c, &op);
}

static uint64_t hash_of_set(const change *c) {
  uint64_t hash = tprt__hash(1, &c->n_places, sizeof c->n_places);
  for (int i = 0; i < c->n_places; i++) {
    int rank = wanted_rank(c, i);
    hash = tprt__hash(hash, &rank, sizeof rank);
  }
  return hash;
}

/* Remembers a claim that the leader may make, or not any more if it ends. */
static void note_claim(tprt_comm *comm, int64_t claim) {
  if (comm->n_tried == TPRT__MOST_CLAIMS) /* without the oldest, this group loses at worst */
    memmove(comm->tried, comm->tried + 1, (size_t)--comm->n_tried * sizeof *comm->tried);
  comm->tried[comm->n_tried++] = claim;
}

/* Compares the proposals. All know from here on what the leader claims. */
static tprt_status agree(const change *c) {
  tprt_comm *comm = c->comm;
  const proposal *all = c->proposals;
  int n = tprt_comm_size(comm->survivors), leader = find_leader(c);
  for (int i = 0; i < n; i++) {
    if (all[i].set != all[0].set)
      return tprt__fail(TPRT_MISMATCH,
                        "ranks %d and %d want other sets of ranks for the next epoch",
                        comm->world_ranks[survivor(c, 0)], comm->world_ranks[survivor(c, i)]);
    comm->tried_epoch = (int)tprt__max(comm->tried_epoch, all[i].tried_epoch);
  }
  if (leader < 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "none of the ranks that are left has a place in the next epoch");
  comm->tried_epoch++;
  comm->claim = comm->claim ? comm->claim : all[leader].known[0];
  note_claim(comm, all[leader].next);
  return TPRT_OK;
}

/* Meets the ranks that are left; again, without those that end meanwhile. */
static tprt_status meet(const change *c) {
  tprt_comm *comm = c->comm;
  proposal mine = {.set = hash_of_set(c),
                   .tried_epoch = comm->tried_epoch,
                   .next = tprt__epoch_draw_claim(),
                   .known = {comm->claim ? comm->claim : tprt__epoch_draw_claim()}};
  memcpy(mine.known + 1, comm->tried, (size_t)comm->n_tried * sizeof *comm->tried);
  tprt_status status;
  do {
    status = TPRT_OK;
    if (!comm->survivors || tprt_comm_status(comm->survivors))
      status = find_survivors(c);
    if (status)
      break;
    status = gather_among_survivors(c, &mine, c->proposals, sizeof mine);
  } while (status == TPRT_PEER_DEAD && tprt__now() < c->deadline);
  return status ? status : agree(c);
}

/* ---- 2. the leader ---- */

static tprt_status fail_without_spare(const change *c, tprt_status status, int place) {
  int rank = wanted_rank(c, place);
  char why[64] = "a new rank";
  if (rank >= 0)
    snprintf(why, sizeof why, "in place of rank %d, which has ended or is late",
             c->comm->world_ranks[rank]);
  if (!c->settings.store)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "rank %d of the next epoch, %s, must be a spare: set the store in which "
                      "spares wait, or leave the place out",
                      place, why);
  if (status != TPRT_TIMEOUT)
    return status;
  return tprt__fail(TPRT_TIMEOUT,
                    "no spare came for rank %d of communicator \"%s\", %s; spares come with "
                    "tprt_comm_join, and tprt_comm_shrink continues without",
                    place, c->settings.comm.name, why);
}

/* TPRT_PEER_DEAD if a rank that is left has ended meanwhile, or if another one waits no longer:
 * then all meet again. */
static tprt_status check_survivors(const change *c) {
  const tprt__transport *transport = c->comm->survivors->transport;
  const tprt__fault fault = transport->backend->fault(transport);
  if (fault.status) {
    tprt__fault_fail(&fault); /* sets the error text */
    return TPRT_PEER_DEAD;
  }
  for (int i = 0; i < transport->n_ranks; i++) {
    if (i != transport->rank && transport->backend->peer_dead(transport, i))
      return tprt__fail(TPRT_PEER_DEAD, "rank %d ended before the next epoch began",
                        c->comm->survivors->world_ranks[i]);
  }
  return TPRT_OK;
}

/* Waits until all ranks that are left and have a place are in the store of the epoch. From then on
 * the store notices if they end. */
static tprt_status await_entries(const change *c, tprt_store *meeting, int64_t deadline) {
  enum { CHECK_NS = 10000000 };
  tprt_status status = TPRT_OK;
  for (int place = 0; place < c->n_places && !status;) {
    int rank = rank_of_place(c, place);
    if (rank >= 0 && rank != tprt_comm_rank(c->comm))
      status = tprt__epoch_await(meeting, place, CHECK_NS);
    place += !status;
    if (status == TPRT_TIMEOUT && tprt__now() < deadline)
      status = check_survivors(c);
  }
  return status;
}

/* Invites the next spare to a place, unless none comes soon, and waits until one is there: this
 * one, or an earlier one that was slow. */
static tprt_status invite_one(const change *c, tprt__invitation *invitation, tprt_store *meeting) {
  enum { CHECK_NS = 50000000, ENTER_NS = 1000000000 };
  const char *name = c->settings.comm.name;
  tprt_store *job = c->settings.store;
  int64_t number, until = tprt__min(c->deadline, tprt__deadline(CHECK_NS));
  tprt_status status = tprt__spares_take(job, name, until, &number);
  bool is_invited = !status;
  invitation->timeout_ns = tprt__max(c->deadline - tprt__now(), 1);
  if (is_invited)
    status = tprt__spares_invite(job, name, number, invitation);
  if (!status || status == TPRT_TIMEOUT)
    status = tprt__epoch_await(meeting, invitation->rank, is_invited ? ENTER_NS : 1);
  if (is_invited && status == TPRT_TIMEOUT)
    tprt__spares_withdraw(job, name, number);
  return status;
}

/* Invites spares to a place until one enters the store of the epoch. */
static tprt_status fill_place(const change *c, int place, tprt__invitation invitation,
                              tprt_store *meeting) {
  tprt_status status = c->settings.store ? TPRT_TIMEOUT : TPRT_INVALID_ARGUMENT;
  invitation.rank = place;
  while (status == TPRT_TIMEOUT && tprt__now() < c->deadline) {
    status = check_survivors(c);
    if (!status)
      status = invite_one(c, &invitation, meeting);
  }
  return status ? fail_without_spare(c, status, place) : TPRT_OK;
}

static tprt__epoch_reach find_reach(const change *c) {
  const tprt__transport *transport = c->comm->transport;
  if (transport->backend->capabilities & TPRT_CAP_MAPPED) /* the ranks share memory */
    return TPRT__FROM_HERE;
  return transport->host_ranks < transport->n_ranks ? TPRT__FROM_OTHER_HOSTS : TPRT__FROM_ANYWHERE;
}

/* Claims the next epoch, with what the ranks that are left know of claims. */
static tprt_status claim_epoch(const change *c, int64_t claim) {
  enum { EACH = TPRT__MOST_CLAIMS + 1 };
  size_t n = (size_t)tprt_comm_size(c->comm->survivors) * EACH;
  int64_t *known = tprt__alloc(n * sizeof *known);
  if (!known)
    return tprt__fail_memory(n * sizeof *known);
  for (size_t i = 0; i < n; i++)
    known[i] = c->proposals[i / EACH].known[i % EACH];
  tprt_status status = tprt__epoch_claim(c->settings.store, c->comm->claim, known, n, claim);
  tprt__free(known);
  return status;
}

/* Serves the store of the next epoch and fills the places that no rank takes. */
static tprt_status lead(const change *c, plan *made, tprt_store **meeting) {
  tprt_comm *comm = c->comm;
  int place = place_of_rank(c, tprt_comm_rank(comm));
  tprt__invitation *next = &made->next;
  *next = (tprt__invitation){.epoch = comm->tried_epoch,
                             .n_ranks = c->n_places,
                             .rank = place,
                             .server = place,
                             .claim = comm->tried[comm->n_tried - 1]};
  snprintf(next->backend, sizeof next->backend, "%s", tprt_comm_backend(comm));
  tprt_status status = c->settings.store ? claim_epoch(c, next->claim) : TPRT_OK;
  made->is_claimed = !status;
  if (!status)
    status = tprt__epoch_serve(next, c->settings.store, find_reach(c), c->deadline, meeting);
  for (int i = 0; i < c->n_places && !status; i++) {
    if (rank_of_place(c, i) < 0)
      status = fill_place(c, i, *next, *meeting);
  }
  return status;
}

/* ---- 3. the new world ---- */

/* Enters the store of the next epoch, if the leader lives. */
static tprt_status enter_store(const change *c, const tprt__invitation *own, int64_t deadline,
                               tprt_store **meeting) {
  enum { CHECK_NS = 1000000000 };
  tprt_status status;
  do {
    status = tprt__epoch_enter(own, c->settings.store, CHECK_NS, deadline, meeting);
    tprt_status others = status == TPRT_TIMEOUT ? check_survivors(c) : TPRT_OK;
    status = others ? others : status;
  } while (status == TPRT_TIMEOUT && tprt__now() < deadline);
  return status ? status : tprt__epoch_report(*meeting, own->rank);
}

/* Enters the next epoch, if this rank has a place there. */
static tprt_status enter(const change *c, tprt__invitation next, tprt_store **meeting,
                         tprt_comm **made) {
  int place = place_of_rank(c, tprt_comm_rank(c->comm));
  int64_t deadline = tprt__max(c->deadline, tprt__deadline(TPRT__EPOCH_NS));
  tprt_status status;
  if (place < 0)
    return TPRT_OK;
  next.rank = place;
  status =
      *meeting ? await_entries(c, *meeting, deadline) : enter_store(c, &next, deadline, meeting);
  if (!status)
    status = tprt__epoch_world(&next, &c->settings, c->comm->joined[tprt_comm_rank(c->comm)],
                               *meeting, deadline, made);
  return status;
}

/* ---- 4. agreement ---- */

static tprt_status compare_outcomes(const change *c, const outcome *mine) {
  size_t n = (size_t)tprt_comm_size(c->comm->survivors);
  outcome *all = tprt__alloc(n * sizeof *all);
  if (!all)
    return tprt__fail_memory(n * sizeof *all);
  tprt_status status = gather_among_survivors(c, mine, all, sizeof *mine);
  for (size_t i = 0; i < n && !status; i++)
    status = fail_as(&all[i]);
  tprt__free(all);
  return status;
}

/* Runs one attempt, after the ranks that are left have met. */
static tprt_status attempt(const change *c, tprt_comm **result) {
  tprt_comm *left = c->comm->survivors, *made = NULL;
  tprt_store *meeting = NULL;
  int leader = find_leader(c);
  plan said = {.outcome = {.status = TPRT_OK}};
  if (tprt_comm_rank(left) == leader)
    said.outcome = outcome_of(lead(c, &said, &meeting));
  tprt_op op = tprt_op_flat(TPRT_OP_BROADCAST, &said, &said, (int64_t)sizeof said, TPRT_U8, NULL);
  op.root = leader;
  tprt_status status = run_among_survivors(c, &op);
  if (!status && said.is_claimed) {
    c->comm->claim = said.next.claim;
    c->comm->n_tried = 0;
  }
  if (!status)
    status = fail_as(&said.outcome);
  if (status) {
    tprt__epoch_leave(meeting, true);
    return status;
  }
  const outcome mine = outcome_of(enter(c, said.next, &meeting, &made));
  tprt__epoch_leave(meeting, mine.status != TPRT_OK);
  status = compare_outcomes(c, &mine);
  bool is_told = !tprt_comm_status(left);
  if (status && (is_told || !made)) {
    tprt_comm_destroy(made);
    return status;
  }
  c->comm->survivors = NULL;
  tprt_comm_destroy(left);
  if (made) /* a failure also fails the new communicator, whose next call returns the reason */
    (void)tprt__epoch_exchange(made);
  *result = made;
  return TPRT_OK;
}

/* ---- the call of a rank ---- */

static tprt_status check_places(const tprt_comm *comm, const int *ranks, int n_ranks) {
  int n = tprt_comm_size(comm), n_kept = 0;
  if (n_ranks < 0 || (ranks && !n_ranks))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "the next epoch has %d ranks; it must have at least 1",
                      n_ranks);
  if (!ranks && n_ranks && n_ranks < n)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the next epoch has %d ranks, this one %d: list those that stay", n_ranks, n);
  for (int i = 0; i < n_ranks && ranks; i++) {
    if (ranks[i] < TPRT_SPARE || ranks[i] >= n)
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "rank %d of the next epoch is %d; the communicator has %d ranks, and "
                        "TPRT_SPARE is %d",
                        i, ranks[i], n, TPRT_SPARE);
    n_kept += ranks[i] >= 0;
    for (int j = 0; j < i && ranks[i] >= 0; j++) {
      if (ranks[j] == ranks[i])
        return tprt__fail(TPRT_INVALID_ARGUMENT, "ranks %d and %d of the next epoch are both %d", j,
                          i, ranks[i]);
    }
  }
  if (ranks && !n_kept)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the next epoch has only spares; at least one rank must stay");
  return TPRT_OK;
}

static tprt_status find_settings(const tprt_comm *comm, const tprt_config *config,
                                 tprt__settings *settings) {
  const tprt__backend *backend = comm->transport->backend;
  tprt__comm_settings inherited = {.aborts = comm->aborts};
  tprt_status status = tprt__settings_resolve(config, settings);
  if (!status && config && config->backend && strcasecmp(config->backend, backend->name) != 0)
    status = tprt__fail(TPRT_INVALID_ARGUMENT,
                        "the next epoch of a communicator of backend %s cannot be of backend %s",
                        backend->name, config->backend);
  if (status)
    return status;
  for (int i = 0; i < TPRT__N_HINTS; i++)
    inherited.hints[i] = atomic_load(&comm->hints[i]);
  memcpy(inherited.flight_dir, comm->flight_dir, sizeof inherited.flight_dir);
  status = tprt__comm_settings_apply(config ? config->comm : NULL, comm->name, &inherited);
  if (!status)
    status = tprt__backend_obeys(backend, &inherited, false);
  settings->backend = backend->name;
  settings->comm = inherited;
  return status;
}

static tprt_status repeat(change *c, tprt_comm **next) {
  tprt_status status;
  do {
    status = meet(c);
    if (!status)
      status = attempt(c, next);
  } while (status == TPRT_PEER_DEAD && tprt__now() < c->deadline);
  return status;
}

tprt_status tprt_comm_reconfigure(tprt_comm *comm, const int *ranks, int n_ranks,
                                  const tprt_config *config, int64_t timeout_ns, tprt_comm **next) {
  TPRT__NEED(comm);
  TPRT__NEED(next);
  change c = {.comm = comm, .ranks = ranks, .n_places = n_ranks ? n_ranks : tprt_comm_size(comm)};
  if (timeout_ns < 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "timeout_ns is %lld; it must be >= 0",
                      (long long)timeout_ns);
  tprt_status status = tprt__epoch_check(comm->transport->backend);
  if (!status)
    status = check_places(comm, ranks, n_ranks);
  if (!status)
    status = find_settings(comm, config, &c.settings);
  if (!status && sodium_init() < 0)
    status = tprt__fail(TPRT_SYSTEM, "libsodium cannot be initialized");
  if (status)
    return status;
  c.deadline = tprt__deadline(timeout_ns ? timeout_ns : tprt__comm_timeout(comm));
  tprt_store *spares = NULL;
  if (!c.settings.store) {
    status = tprt__launched_spares(c.settings.timeout_ns, &spares);
    c.settings.store = spares;
  }
  size_t bytes = (size_t)tprt_comm_size(comm) * sizeof *c.proposals;
  c.proposals = tprt__alloc(bytes);
  if (!status && !c.proposals)
    status = tprt__fail_memory(bytes);
  if (!status)
    status = repeat(&c, next);
  tprt__free(c.proposals);
  tprt_store_destroy(spares);
  return status;
}
