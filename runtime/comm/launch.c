/* Launches operations into streams of an accelerator. */
#include "comm/comm.h"
#include "comm/observe.h"

#include <stdio.h>

/* Observed operations in a stream. They end in a thread of the backend, maybe before the launch
 * returns. */
typedef struct launched {
  _Atomic int references; /* of the launch and of the end */
  tprt__observation seen;
  tprt_work *work; /* NULL: none */
} launched;

static void release(launched *own) {
  if (atomic_fetch_sub(&own->references, 1) > 1)
    return;
  tprt__observe_clear(&own->seen);
  tprt__free(own);
}

/* Called when the operations have ended. */
static void end_launched(void *user, tprt_status status) {
  launched *own = user;
  tprt_comm *comm = own->seen.comm;
  char text[512];
  snprintf(text, sizeof text, "%s", status ? tprt_last_error() : "");
  tprt__observe_end(&own->seen, status);
  if (status)
    tprt__fail(status, "%s", text); /* a hook may have changed the text */
  if (own->work)
    tprt__work_end(own->work, status);
  else if (status && !tprt_comm_status(comm))
    tprt__comm_fail(comm, status, own->seen.n ? own->seen.ops->kind : (tprt_op_kind)0);
  release(own);
}

static tprt_status launch_observed(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                   int64_t deadline, tprt_work *work) {
  tprt__transport *transport = comm->transport;
  launched *own = tprt__alloc(sizeof *own);
  if (!own)
    return tprt__fail_memory(sizeof *own);
  atomic_init(&own->references, 2);
  own->work = work;
  tprt_status status = tprt__observe_begin(comm, plans, n, &own->seen);
  if (!status)
    status = transport->backend->launch(transport, plans, n, comm->sequence, deadline, end_launched,
                                        own);
  tprt__observe_post(&own->seen, status);
  if (status) {
    tprt__observe_end(&own->seen, status);
    release(own);
  }
  release(own);
  return status;
}

/* Launches one collective, some that run together, or a run of adjacent transfers. With a `work`,
 * its end completes it. */
static tprt_status launch_some(tprt_comm *comm, const tprt__plan *plans, size_t n, int64_t deadline,
                               tprt_work *work) {
  tprt__transport *transport = comm->transport;
  tprt_status status = tprt__comm_check(comm);
  if (status)
    return status;
  comm->sequence += !tprt__plan_is_transfer(plans) && !plans->captured;
  if (atomic_load_explicit(&comm->observer, memory_order_acquire))
    status = launch_observed(comm, plans, n, deadline, work);
  else
    status = transport->backend->launch(transport, plans, n, comm->sequence, deadline,
                                        work ? tprt__work_end : NULL, work);
  return status && !tprt_comm_status(comm) ? tprt__comm_fail(comm, status, plans->kind) : status;
}

tprt_status tprt__comm_launch(tprt_comm *comm, const tprt__plan *plans, size_t n, int64_t deadline,
                              tprt_work **handle) {
  tprt_work *work = handle ? tprt__work_launch(comm, deadline, n ? plans[0].stream : NULL) : NULL;
  tprt_status status =
      work || !handle ? TPRT_OK : tprt__fail(TPRT_NO_MEMORY, "no memory for a work handle");
  tprt__lane_enter(comm);
  for (size_t i = 0, end; i < n && !status; i = end) {
    for (end = i; end < n && tprt__plan_is_transfer(&plans[end]);)
      end++;
    end += end == i ? tprt__comm_joins(comm, plans + i, n - i) : 0;
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
