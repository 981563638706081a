/* Recovery after a failure: tprt_comm_shrink and tprt_comm_rebuild. */
#include "comm/comm.h"

#include <string.h>

static tprt_status recover(tprt_comm *comm, int64_t deadline, const tprt__comm_settings *settings,
                           int *members, tprt_comm **child) {
  tprt__transport *transport = comm->transport;
  tprt__token token;
  int n_members = 0, index = -1;
  tprt_status status =
      transport->backend->recover(transport, deadline, &token, members, &n_members);
  for (int i = 0; i < n_members; i++)
    index = members[i] == transport->rank ? i : index;
  return status ? status
                : tprt__comm_join(comm, &token, n_members, members, index, settings, child);
}

tprt_status tprt__comm_recover(tprt_comm *comm, int64_t deadline,
                               const tprt__comm_settings *settings, tprt_comm **child) {
  size_t n = (size_t)tprt_comm_size(comm);
  int *members = tprt__alloc(n * sizeof *members);
  if (!members)
    return tprt__fail_memory(n * sizeof *members);
  if (!tprt_comm_status(comm))
    /* makes ranks that still wait for the lost ones return, so that they get here too */
    tprt_comm_abort(comm);
  tprt__lane_enter(comm); /* pending operations have failed by now */
  tprt_status status = recover(comm, deadline, settings, members, child);
  tprt__lane_leave(comm);
  tprt__free(members);
  return status;
}

tprt_status tprt_comm_shrink(tprt_comm *comm, int64_t timeout_ns, tprt_comm **child) {
  TPRT__NEED(comm);
  TPRT__NEED(child);
  tprt__comm_settings settings;
  if (timeout_ns < 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "timeout_ns is %lld; it must be >= 0",
                      (long long)timeout_ns);
  tprt_status status = tprt__comm_child_settings(comm, NULL, &settings);
  /* a reconfiguration that failed has already replaced the communicator */
  tprt_comm *from = comm->survivors ? comm->survivors : comm;
  int64_t deadline = tprt__deadline(timeout_ns ? timeout_ns : tprt__comm_timeout(comm));
  return status ? status : tprt__comm_recover(from, deadline, &settings, child);
}

tprt_status tprt_comm_rebuild(tprt_comm *comm, int64_t timeout_ns, tprt_comm **child) {
  TPRT__NEED(comm);
  TPRT__NEED(child);
  tprt_comm *made;
  tprt_status status = tprt_comm_shrink(comm, timeout_ns, &made);
  if (status)
    return status;
  for (int i = 0; i < tprt_comm_size(comm); i++) {
    if (tprt_comm_local_rank(made, comm->world_ranks[i]) >= 0)
      continue;
    tprt_comm_destroy(made);
    return tprt__fail(
        TPRT_PEER_DEAD,
        "rank %d ended or did not arrive in time; use tprt_comm_shrink to continue without it",
        comm->world_ranks[i]);
  }
  *child = made;
  return TPRT_OK;
}
