/* Launches operations into streams of an accelerator. */
#include "comm/comm.h"
#include "comm/observe.h"

/* Launches one collective, or a run of adjacent transfers. With a `work`, its end completes it. */
static tprt_status launch_some(tprt_comm *comm, const tprt__plan *plans, size_t n, int64_t deadline,
                               tprt_work *work) {
  tprt__transport *transport = comm->transport;
  uint64_t first = 0;
  int64_t begin_ns = 0;
  bool observed = atomic_load_explicit(&comm->observer, memory_order_acquire);
  tprt_status status = tprt__comm_check(comm);
  if (status)
    return status;
  comm->sequence += !tprt__plan_is_transfer(plans);
  if (observed)
    status = tprt__observe_begin(comm, plans, n, &first, &begin_ns);
  if (!status)
    status = transport->backend->launch(transport, plans, n, comm->sequence, deadline,
                                        work ? tprt__work_end : NULL, work);
  if (observed)
    tprt__observe_end(comm, plans, n, first, begin_ns, status);
  return status && !tprt_comm_status(comm) ? tprt__comm_fail(comm, status, plans->kind) : status;
}

tprt_status tprt__comm_launch(tprt_comm *comm, const tprt__plan *plans, size_t n, int64_t deadline,
                              tprt_work **handle) {
  tprt_work *work = handle ? tprt__work_create(comm, deadline) : NULL;
  tprt_status status =
      work || !handle ? TPRT_OK : tprt__fail(TPRT_NO_MEMORY, "no memory for a work handle");
  tprt__lane_enter(comm);
  for (size_t i = 0, end; i < n && !status; i = end) {
    for (end = i; end < n && tprt__plan_is_transfer(&plans[end]);)
      end++;
    end += end == i;
    status = launch_some(comm, plans + i, end - i, deadline, end == n ? work : NULL);
  }
  tprt__lane_leave(comm);
  if (!status && work) {
    *handle = work;
  } else if (work) {
    tprt__work_release(work);
    tprt__work_release(work);
  }
  return status;
}
