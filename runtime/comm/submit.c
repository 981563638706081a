/* Submission: executes operations and notifies observers. */
#include "comm/coalesce.h"
#include "comm/comm.h"
#include "comm/observe.h"

#include <string.h>

static tprt__transport *endpoint_for(const tprt_comm *comm, const tprt__plan *plan) {
  tprt__transport *host = comm->transport->host;
  return plan->of_library && host ? host : comm->transport;
}

static tprt_status run_one(tprt_comm *comm, const tprt__plan *plan, size_t n, int64_t deadline) {
  (void)n;
  tprt__transport *end = endpoint_for(comm, plan);
  return end->backend->submit(end, plan, comm->sequence, deadline);
}

/* Runs n plans as one step, between the notifications of the observer, if there is one. */
static tprt_status
run_observed(tprt_comm *comm, const tprt__plan *plans, size_t n, int64_t deadline,
             tprt_status (*run)(tprt_comm *, const tprt__plan *, size_t, int64_t)) {
  if (!atomic_load_explicit(&comm->observer, memory_order_acquire))
    return run(comm, plans, n, deadline);
  tprt__observation seen;
  tprt_status status = tprt__observe_begin(comm, plans, n, &seen);
  if (!status)
    status = run(comm, plans, n, deadline);
  tprt__observe_post(&seen, status);
  tprt__observe_end(&seen, status);
  tprt__observe_clear(&seen);
  return status;
}

tprt_status tprt__comm_run(tprt_comm *comm, const tprt__plan *plan, int64_t deadline) {
  tprt_status status = tprt__comm_check(comm);
  if (!status) {
    comm->sequence++;
    status = run_observed(comm, plan, 1, deadline, run_one);
    if (status)
      tprt__comm_fail(comm, status, plan->kind);
  }
  if (status) {
    tprt__transport *end = endpoint_for(comm, plan);
    end->backend->quiesce(end);
  }
  return status;
}

/* Runs n collectives as one, on packed copies in host memory. */
static tprt_status run_coalesced(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                 int64_t deadline) {
  tprt__coalesced as_one;
  if (!comm->packed) /* kept, since fresh pages cost more than the operation */
    comm->packed = tprt__alloc(TPRT__PACKED_BYTES);
  tprt_status status = comm->packed ? tprt__coalesce(plans, n, comm->packed, &as_one)
                                    : tprt__fail_memory(TPRT__PACKED_BYTES);
  if (status)
    return tprt__comm_fail(comm, status, plans->kind);
  status = tprt__comm_run(comm, &as_one.whole, deadline);
  if (!status)
    tprt__coalesced_deliver(&as_one);
  tprt__coalesced_clear(&as_one);
  return status;
}

size_t tprt__comm_joins(const tprt_comm *comm, const tprt__plan *plans, size_t n) {
  const tprt__transport *end = endpoint_for(comm, plans);
  if (!end->host)
    return tprt__coalescible(plans, n);
  return end->backend->joins ? end->backend->joins(end, plans, n) : 1;
}

static tprt_status run_exchange(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                int64_t deadline) {
  tprt__transport *end = endpoint_for(comm, plans);
  return end->backend->exchange(end, plans, n, comm->sequence, deadline);
}

/* Runs n collectives that the backend puts together. */
static tprt_status run_joined(tprt_comm *comm, const tprt__plan *plans, size_t n,
                              int64_t deadline) {
  tprt_status status = tprt__comm_check(comm);
  if (status)
    return status;
  comm->sequence++;
  status = run_observed(comm, plans, n, deadline, run_exchange);
  return status ? tprt__comm_fail(comm, status, plans->kind) : TPRT_OK;
}

/* Runs n transfers. Transfers of a rank with itself are copies; they were paired before. */
static tprt_status run_transfers(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                 int64_t deadline) {
  tprt__transport *end = endpoint_for(comm, &plans[0]);
  for (size_t i = 0; i < n && !end->host; i++) {
    const tprt__plan *plan = &plans[i];
    if (plan->kind == TPRT_OP_RECV && plan->peer == plan->rank && plan->recv_bytes &&
        plan->recv != plan->send)
      memcpy(plan->recv, plan->send, (size_t)plan->recv_bytes);
  }
  return run_exchange(comm, plans, n, deadline);
}

tprt_status tprt__comm_run_list(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                int64_t deadline) {
  tprt_status status = n ? TPRT_OK : tprt__comm_check(comm);
  for (size_t i = 0; i < n && !status;) {
    size_t end = i;
    while (end < n && tprt__plan_is_transfer(&plans[end]))
      end++;
    if (end > i) {
      status = tprt__comm_check(comm);
      if (status)
        break;
      status = run_observed(comm, plans + i, end - i, deadline, run_transfers);
      if (status)
        tprt__comm_fail(comm, status, plans[i].kind);
      i = end;
    } else {
      size_t together = tprt__comm_joins(comm, plans + i, n - i);
      if (together == 1)
        status = tprt__comm_run(comm, &plans[i], deadline);
      else if (endpoint_for(comm, plans + i)->host)
        status = run_joined(comm, plans + i, together, deadline);
      else
        status = run_coalesced(comm, plans + i, together, deadline);
      i += together;
    }
  }
  return status;
}

tprt_status tprt__comm_submit(tprt_comm *comm, const tprt__plan *plan, int64_t deadline) {
  return tprt__comm_submit_list(comm, plan, 1, deadline, NULL);
}

tprt_status tprt__comm_submit_list(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                   int64_t deadline, tprt_work **work) {
  if (n && plans[0].stream)
    return tprt__comm_launch(comm, plans, n, deadline, work);
  if (work)
    return tprt__work_start(comm, (tprt__plan *)(uintptr_t)plans, n, true, deadline, work);
  tprt__lane_enter(comm);
  tprt_status status = tprt__comm_run_list(comm, plans, n, deadline);
  tprt__lane_leave(comm);
  return status;
}

tprt_status tprt__comm_accept(const tprt_comm *comm, tprt__plan *plans, size_t n, bool told) {
  bool deterministic =
      atomic_load_explicit(&comm->hints[TPRT__HINT_DETERMINISTIC], memory_order_relaxed) > 0;
  tprt_status status = TPRT_OK;
  for (size_t i = 0; i < n && !status; i++) {
    plans[i].deterministic |= deterministic;
    if (!plans[i].stream)
      plans[i].stream = comm->stream;
    if (plans[i].stream != plans[0].stream)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "op 0 and op %zu of the batch use different streams",
                        i);
    status = comm->transport->backend->accept(comm->transport, &plans[i], told);
  }
  return status;
}

tprt_status tprt__comm_run_internal(tprt_comm *comm, const tprt_op *op) {
  tprt__plan plan;
  tprt_status status = tprt__plan_make(op, comm->transport->n_ranks, comm->transport->rank, &plan);
  plan.of_library = true;
  return status ? status : tprt__comm_submit(comm, &plan, tprt__deadline(tprt__comm_timeout(comm)));
}

/* Most users forget to check the status of the function that creates the communicator. */
static tprt_status fail_without_comm(const char *what) {
  return tprt__fail(TPRT_INVALID_ARGUMENT,
                    "%s: the communicator is NULL; check the status of the call that creates it",
                    what);
}

tprt_status tprt_submit(tprt_comm *comm, const tprt_op *op, tprt_work **work) {
  TPRT__NEED(op);
  tprt_op own;
  tprt__plan plan;
  tprt_status status = TPRT_OK;
  if (!comm) {
    const char *kind = op->size ? tprt_op_kind_name(op->kind) : NULL;
    return fail_without_comm(kind ? kind : "tprt_submit");
  }
  if (op->size != sizeof own) { /* a struct of the current size needs no copy */
    status = tprt__struct_copy(&own, sizeof own, op, "tprt_op");
    op = &own;
  }
  if (status)
    return status;
  status = tprt__plan_make(op, comm->transport->n_ranks, comm->transport->rank, &plan);
  if (!status && tprt__plan_is_transfer(&plan) && plan.peer == plan.rank) {
    status = tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "%s: rank %d is this rank itself; submit its send and its recv in one tprt_submit_batch",
        tprt_op_kind_name(plan.kind), plan.rank);
  }
  if (!status)
    status = tprt__comm_accept(comm, &plan, 1, work);
  if (status) {
    tprt__plan_clear(&plan);
    return status;
  }
  int64_t deadline = tprt__deadline(plan.timeout_ns ? plan.timeout_ns : tprt__comm_timeout(comm));
  bool runs_later = work && !plan.stream;
  status = runs_later ? tprt__work_start(comm, &plan, 1, false, deadline, work)
                      : tprt__comm_submit_list(comm, &plan, 1, deadline, work);
  if (status || !runs_later)
    tprt__plan_clear(&plan);
  return status;
}

tprt_status tprt_submit_batch(tprt_comm *comm, const tprt_op *ops, size_t n, tprt_work **work) {
  tprt__plan *plans;
  if (!comm)
    return fail_without_comm("tprt_submit_batch");
  if (n)
    TPRT__NEED(ops);
  int64_t timeout = tprt__comm_timeout(comm);
  tprt_status status =
      tprt__batch_make(ops, n, comm->transport->n_ranks, comm->transport->rank, &timeout, &plans);
  if (status)
    return status;
  status = tprt__comm_accept(comm, plans, n, work);
  if (status) {
    tprt__batch_clear(plans, n);
    return status;
  }
  int64_t deadline = tprt__deadline(timeout);
  if (!work || (n && plans[0].stream)) {
    status = tprt__comm_submit_list(comm, plans, n, deadline, work);
    tprt__batch_clear(plans, n);
    return status;
  }
  status = tprt__work_start(comm, plans, n, false, deadline, work);
  if (status)
    tprt__batch_clear(plans, n);
  else if (n == 1)
    tprt__free(plans); /* the work has a copy */
  return status;
}

tprt_status tprt_sync(tprt_comm *comm) {
  TPRT__NEED(comm);
  tprt__lane_enter(comm);
  tprt_status status = tprt__comm_settle(comm);
  tprt__lane_leave(comm);
  return status;
}
