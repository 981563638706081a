/* Creates groups from a communicator.
 *
 * If all ranks of the parent take part, no operation is pending in a stream, and none was captured,
 * NCCL splits its communicator: over the existing connections, without a new rendezvous. The child
 * shares no resources with the parent, because communicators that share are aborted together.
 *
 * Groups known only to their members, and the survivors of a failure, rendezvous again through the
 * companion on the host. NCCL's split needs all ranks. NCCL's shrink needs a parent that was not
 * aborted, but only an abort frees resources held up by a rank that has ended. */
#include "backends/nccl/nccl.h"

#include <stdio.h>

/* Byte of a token, after the data of the companion: whether all ranks of the parent join. */
enum { ALL_JOIN_AT = sizeof(tprt__token) - 1 };

tprt_status tprt__nccl_reserve(tprt__transport *parent, int n_users, const int *users,
                               tprt__token *token) {
  tprt_status status = parent->host->backend->reserve(parent->host, n_users, users, token);
  if (!status)
    token->bytes[ALL_JOIN_AT] = !users;
  return status;
}

/* ---- splits by all ranks of the parent ---- */

/* Exchanged by the ranks of the parent. */
typedef struct answer {
  int32_t status; /* the failure if this rank cannot participate */
  /* no enqueued operation is pending: NCCL must not split concurrently with one */
  int32_t quiet;
} answer;

/* Launches of a user's graph are not watched: one may be under way. */
static bool is_quiet(nccl_transport *nccl) {
  pthread_mutex_lock(&nccl->watch.lock);
  bool quiet = !nccl->watch.n_pending && !atomic_load(&nccl->captured);
  pthread_mutex_unlock(&nccl->watch.lock);
  return quiet;
}

/* Exchanges the answers. If one rank failed, all ranks fail, before any rank waits for it in
 * NCCL. */
static tprt_status agree(nccl_transport *parent, tprt_status before, bool *split,
                         const nccl_wait *wait) {
  int n = parent->base.n_ranks;
  answer mine = {.status = (int32_t)before, .quiet = is_quiet(parent)};
  answer *all = tprt__alloc((size_t)n * sizeof *all);
  if (!all)
    return tprt__fail_memory((size_t)n * sizeof *all);
  char own[256];
  snprintf(own, sizeof own, "%s", before ? tprt_last_error() : "");
  tprt_status status = tprt__nccl_host_all_gather(parent, &mine, all, sizeof mine, wait->deadline);
  *split = true;
  for (int i = 0; i < n && !status; i++) {
    *split &= all[i].quiet != 0;
    status = (tprt_status)all[i].status;
    if (status && i == parent->base.rank)
      tprt__fail(status, "%s", own);
    else if (status)
      tprt__fail(status, "rank %d could not create its communicator of the group",
                 parent->world_ranks[i]);
  }
  tprt__free(all);
  return status;
}

/* Moves the child to its own endpoint, which ends it from here on. */
static tprt_status take_child(nccl_transport *parent, nccl_transport *end) {
  nccl_comm *child = tprt__nccl_child(parent);
  tprt_status status = TPRT_OK;
  pthread_mutex_lock(&parent->lock);
  if (parent->comm) {
    end->comm = *child;
    *child = NULL;
  } else { /* the thread that ends the parent ends the child */
    status = tprt__nccl_fail_ended();
  }
  pthread_mutex_unlock(&parent->lock);
  return status;
}

/* Splits NCCL's communicator. `end` is NULL if this rank is not a member of a group. */
static tprt_status split_parent(nccl_transport *parent, int color, int key, nccl_transport *end,
                                nccl_wait *wait) {
  tprt_status status = tprt__nccl_enter_device(parent);
  if (status)
    return status;
  /* a rank that gets no communicator needs no configuration */
  nccl_config config = {.size = 0};
  if (end)
    config = tprt__nccl_config(parent->library, &end->settings);
  pthread_mutex_lock(&parent->lock);
  status =
      parent->comm
          ? tprt__nccl_check(parent->library, parent->comm,
                             parent->library->split(parent->comm, color, key,
                                                    tprt__nccl_child(parent), end ? &config : NULL),
                             "ncclCommSplit")
          : tprt__nccl_fail_ended();
  pthread_mutex_unlock(&parent->lock);
  if (!status)
    status = tprt__nccl_ready(parent, wait);
  if (!status && end) {
    status = take_child(parent, end);
    if (!status)
      status = tprt__nccl_ready(end, wait);
  }
  tprt__nccl_leave_device(parent);
  return status;
}

/* ---- members ---- */

/* Joins when all ranks of the parent take part. Takes ownership of `host`, the companion of the
 * group; NULL: this rank is not a member. */
static tprt_status join_all(nccl_transport *parent, tprt_status before, tprt__transport *host,
                            int n_members, const int *members, const int *world, int index,
                            const tprt__comm_settings *settings, tprt__transport **child) {
  nccl_wait wait = {.deadline = tprt__deadline(tprt__nccl_timeout(parent))};
  nccl_transport *end = NULL;
  bool split = false;
  tprt_status status = before;
  if (host)
    status = tprt__nccl_make_endpoint(host, parent->ordinal, world, settings, before, &end);
  status = agree(parent, status, &split, &wait);
  if (!status && split)
    status = split_parent(parent, n_members ? members[0] : NCCL_SPLIT_NO_COLOR, index, end, &wait);
  else if (!status && end)
    status = tprt__nccl_init_comm(end, TPRT_OK, &wait);
  const tprt__fault fault = parent->base.backend->fault(&parent->base);
  *child = NULL;
  if (!end)
    return status;
  if (!status || !fault.status)
    return tprt__nccl_keep(end, status, &wait, child);
  /* the fault of the parent says more than the status of the group */
  return tprt__nccl_give_up(end, tprt__fault_fail(&fault), &wait);
}

tprt_status tprt__nccl_join(tprt__transport *transport, const tprt__token *token, int n_members,
                            const int *members, int index, const tprt__comm_settings *settings,
                            tprt__transport **child) {
  nccl_transport *parent = (nccl_transport *)transport;
  bool all_join = token->bytes[ALL_JOIN_AT];
  tprt__transport *host = NULL;
  int *world = tprt__alloc((size_t)(n_members + 1) * sizeof *world);
  tprt_status status = world ? TPRT_OK : tprt__fail_memory((size_t)(n_members + 1) * sizeof *world);
  for (int i = 0; i < n_members && world; i++)
    world[i] = parent->world_ranks[members[i]];
  if (!status)
    status = transport->host->backend->join(transport->host, token, n_members, members, index,
                                            settings, &host);
  if (status)
    host = NULL;
  if (all_join)
    status = join_all(parent, status, host, n_members, members, world, index, settings, child);
  else if (host)
    status = tprt__nccl_open_endpoint(host, parent->ordinal, world, settings, TPRT_OK, child);
  else
    *child = NULL;
  tprt__free(world);
  return status;
}
