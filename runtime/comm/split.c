/* Creates communicators from a communicator: by color and key, or by a list of ranks. */
#include "comm/comm.h"

#include <string.h>

/* Lists the ranks with this color, ordered by key, then by rank: insertion sort is stable. Returns
 * their number. */
static int gather_members(const int64_t *entries, int n, int64_t color, int *members) {
  int count = 0;
  for (int rank = 0; rank < n; rank++) {
    if (entries[2 * rank] != color)
      continue;
    int at = count++;
    for (; at > 0 && entries[2 * members[at - 1] + 1] > entries[2 * rank + 1]; at--)
      members[at] = members[at - 1];
    members[at] = rank;
  }
  return count;
}

/* Message from the rank that reserves the group to the others. */
typedef struct invitation {
  int32_t status; /* of the reservation; if there is no capacity left, the parent does not fail */
  tprt__token token;
} invitation;

static void invite(tprt_comm *comm, int n_users, const int *users, invitation *made) {
  tprt__transport *transport = comm->transport;
  *made = (invitation){.status = TPRT_OK};
  made->status = (int32_t)transport->backend->reserve(transport, n_users, users, &made->token);
}

tprt_status tprt__comm_join(tprt_comm *comm, const tprt__token *token, int n_members, int *members,
                            int index, const tprt__comm_settings *settings, tprt_comm **child) {
  tprt__transport *transport = comm->transport, *made;
  tprt_comm *wrapped = NULL;
  tprt_status status =
      transport->backend->join(transport, token, n_members, members, index, settings, &made);
  for (int i = 0; i < n_members && !status; i++)
    members[i] = comm->world_ranks[members[i]];
  if (!status && made)
    status = tprt__comm_wrap(made, members, settings, &wrapped);
  if (wrapped)
    wrapped->epoch = wrapped->tried_epoch = comm->epoch;
  for (int i = 0; i < n_members && wrapped && comm->epoch; i++)
    wrapped->joined[i] = comm->joined[tprt_comm_local_rank(comm, members[i])];
  if (!status)
    *child = wrapped;
  return status;
}

static tprt_status enter_group(tprt_comm *comm, const invitation *invited, int n_members,
                               int *members, int index, const tprt__comm_settings *settings,
                               tprt_comm **child) {
  if (invited->status && index < 0) { /* needs no place in a group */
    *child = NULL;
    return TPRT_OK;
  }
  if (invited->status == TPRT_NO_MEMORY)
    return tprt__fail(TPRT_NO_MEMORY,
                      "all communicators of the world are in use; raise TPRT_MAX_COMMS");
  if (invited->status)
    return tprt__fail((tprt_status)invited->status, "the group could not be reserved");
  tprt_status status =
      tprt__comm_join(comm, &invited->token, n_members, members, index, settings, child);
  return status ? tprt__comm_fail(comm, status, TPRT_OP_BARRIER) : TPRT_OK;
}

/* Runs an operation on bytes. The caller holds the lane. */
static tprt_status run_bytes(tprt_comm *comm, tprt_op_kind kind, const void *send, void *recv,
                             size_t bytes) {
  tprt_op op = tprt_op_flat(kind, send, recv, (int64_t)bytes, TPRT_U8, NULL);
  tprt__plan plan;
  tprt_status status = tprt__plan_make(&op, comm->transport->n_ranks, comm->transport->rank, &plan);
  plan.of_library = true;
  return status ? status : tprt__comm_run(comm, &plan, tprt__deadline(tprt__comm_timeout(comm)));
}

/* Splits with the lane held. `entries` (2n) and `members` (n) are scratch. */
static tprt_status split_in_lane(tprt_comm *comm, int color, int64_t key,
                                 const tprt__comm_settings *settings, int64_t *entries,
                                 int *members, tprt_comm **child) {
  tprt__transport *transport = comm->transport;
  int n = transport->n_ranks;
  int64_t mine[2] = {color < 0 ? -1 : color, key};
  tprt_status status = run_bytes(comm, TPRT_OP_ALL_GATHER, mine, entries, sizeof mine);
  if (status)
    return status;
  int n_members = color < 0 ? 0 : gather_members(entries, n, color, members);
  int index = -1;
  for (int i = 0; i < n_members; i++) {
    if (members[i] == transport->rank)
      index = i;
  }
  invitation invited;
  if (transport->rank == 0)
    invite(comm, n, NULL, &invited);
  status = run_bytes(comm, TPRT_OP_BROADCAST, &invited, &invited, sizeof invited);
  return status ? status : enter_group(comm, &invited, n_members, members, index, settings, child);
}

tprt_status tprt_comm_split_with(tprt_comm *comm, int color, int64_t key,
                                 const tprt_comm_config *config, tprt_comm **child) {
  TPRT__NEED(comm);
  TPRT__NEED(child);
  tprt__comm_settings settings;
  tprt_status status = tprt__comm_child_settings(comm, config, &settings);
  if (status)
    return status;
  size_t n = (size_t)comm->transport->n_ranks;
  int64_t *entries = tprt__alloc(2 * n * sizeof *entries);
  int *members = tprt__alloc(n * sizeof *members);
  tprt__lane_enter(comm);
  status = tprt__comm_check(comm);
  if (!status && (!entries || !members)) {
    status = tprt__comm_fail(comm, tprt__fail_memory(2 * n * sizeof *entries), TPRT_OP_ALL_GATHER);
  }
  if (!status)
    status = split_in_lane(comm, color, key, &settings, entries, members, child);
  tprt__lane_leave(comm);
  tprt__free(members);
  tprt__free(entries);
  return status;
}

tprt_status tprt_comm_split(tprt_comm *comm, int color, int64_t key, tprt_comm **child) {
  TPRT__NEED(comm);
  TPRT__NEED(child);
  return tprt_comm_split_with(comm, color, key, NULL, child);
}

/* ---- by a list of ranks, which only its members need to know ---- */

static tprt_status check_ranks(const tprt_comm *comm, const int *ranks, int n_ranks) {
  int n = comm->transport->n_ranks;
  if (n_ranks < 0 || (n_ranks && !ranks))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "a group of %d ranks%s", n_ranks,
                      ranks ? "" : " at NULL");
  for (int i = 0; i < n_ranks; i++) {
    if (ranks[i] < 0 || ranks[i] >= n)
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "rank %d of the group is %d; the communicator has %d ranks", i, ranks[i],
                        n);
    for (int j = 0; j < i; j++) {
      if (ranks[j] == ranks[i])
        return tprt__fail(TPRT_INVALID_ARGUMENT, "ranks %d and %d of the group are both %d", j, i,
                          ranks[i]);
    }
  }
  return TPRT_OK;
}

/* The first member invites the others with transfers. Their tag is derived from the list and
 * negative, so that no user can use it. */
static tprt_status invite_members(tprt_comm *comm, const int *ranks, int n_ranks, int index,
                                  invitation *invited) {
  int tag = -1 - (int)(tprt__hash(0, ranks, (size_t)n_ranks * sizeof *ranks) & 0x3fffffff);
  size_t n = index == 0 ? (size_t)n_ranks - 1 : 1;
  tprt__plan *plans = tprt__alloc(n * sizeof *plans);
  tprt_status status =
      plans ? TPRT_OK : tprt__comm_fail(comm, tprt__fail_memory(n * sizeof *plans), TPRT_OP_RECV);
  if (!status && index == 0)
    invite(comm, n_ranks, ranks, invited);
  for (size_t i = 0; i < n && !status; i++) {
    int64_t bytes = (int64_t)sizeof *invited;
    tprt_op op = index == 0 ? tprt_op_send(invited, bytes, TPRT_U8, ranks[i + 1], 0)
                            : tprt_op_recv(invited, bytes, TPRT_U8, ranks[0], 0);
    status = tprt__plan_make(&op, comm->transport->n_ranks, comm->transport->rank, &plans[i]);
    plans[i].tag = tag;
    plans[i].of_library = true;
  }
  if (!status)
    status = tprt__comm_run_list(comm, plans, n, tprt__deadline(tprt__comm_timeout(comm)));
  tprt__free(plans);
  return status;
}

tprt_status tprt_comm_split_ranks_with(tprt_comm *comm, const int *ranks, int n_ranks,
                                       const tprt_comm_config *config, tprt_comm **child) {
  TPRT__NEED(comm);
  TPRT__NEED(child);
  tprt__comm_settings settings;
  tprt_status status = check_ranks(comm, ranks, n_ranks);
  if (!status)
    status = tprt__comm_child_settings(comm, config, &settings);
  if (status)
    return status;
  int index = -1;
  for (int i = 0; i < n_ranks; i++)
    index = ranks[i] == comm->transport->rank ? i : index;
  if (index < 0) {
    status = tprt__comm_check(comm);
    if (!status)
      *child = NULL;
    return status;
  }
  int *members = tprt__alloc((size_t)n_ranks * sizeof *members);
  if (!members)
    return tprt__fail_memory((size_t)n_ranks * sizeof *members);
  memcpy(members, ranks, (size_t)n_ranks * sizeof *members);
  tprt__lane_enter(comm);
  invitation invited;
  status = tprt__comm_check(comm);
  if (!status)
    status = invite_members(comm, ranks, n_ranks, index, &invited);
  if (!status)
    status = enter_group(comm, &invited, n_ranks, members, index, &settings, child);
  tprt__lane_leave(comm);
  tprt__free(members);
  return status;
}

tprt_status tprt_comm_split_ranks(tprt_comm *comm, const int *ranks, int n_ranks,
                                  tprt_comm **child) {
  TPRT__NEED(comm);
  TPRT__NEED(child);
  return tprt_comm_split_ranks_with(comm, ranks, n_ranks, NULL, child);
}
