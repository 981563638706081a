/* The world of the next epoch; see epoch.h. */
#include "services/epoch.h"

tprt_status tprt__epoch_check(const tprt__backend *backend) {
  if (backend->capabilities & TPRT_CAP_ELASTIC)
    return TPRT_OK;
  return tprt__fail(TPRT_UNSUPPORTED, "backend %s cannot take in processes: %s", backend->name,
                    backend->lacks[__builtin_ctz(TPRT_CAP_ELASTIC)]);
}

tprt_status tprt__epoch_world(const tprt__invitation *own, const tprt__settings *settings,
                              int joined, tprt_store *meeting, int64_t deadline, tprt_comm **next) {
  tprt__settings adapted = *settings;
  tprt_comm *made;
  adapted.store = meeting;
  adapted.segment_fd = -1;
  adapted.timeout_ns = tprt__max(deadline - tprt__now(), 1);
  tprt_status status = tprt__world_join(own->n_ranks, own->rank, &adapted, &made);
  if (status)
    return status;
  made->epoch = made->tried_epoch = own->epoch;
  made->claim = own->claim;
  made->joined[own->rank] = joined;
  *next = made;
  return TPRT_OK;
}

tprt_status tprt__epoch_exchange(tprt_comm *next) {
  int mine = next->joined[tprt_comm_rank(next)];
  tprt_op op =
      tprt_op_flat(TPRT_OP_ALL_GATHER, &mine, next->joined, (int64_t)sizeof mine, TPRT_U8, NULL);
  return tprt__comm_run_internal(next, &op);
}

int tprt_comm_epoch(const tprt_comm *comm) {
  TPRT__NEED_OR(comm, -1);
  return comm->epoch;
}

int tprt_comm_joined(const tprt_comm *comm, int rank) {
  TPRT__NEED_OR(comm, -1);
  return rank >= 0 && rank < tprt_comm_size(comm) ? comm->joined[rank] : -1;
}
