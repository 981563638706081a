/* Recorded schedules of operations, the cost estimate of operations, and its calibration. */
#include "tprt/schedule.h"

#include "comm/observe.h"

#include <stdatomic.h>
#include <string.h>

struct tprt_schedule {
  tprt_comm *comm;
  tprt__plan *plans;
  size_t n;
  int64_t timeout_ns;
  uint64_t hash;
  _Atomic uint64_t n_runs;
};

/* Hashes the operations that all ranks share. Transfers are skipped: their endpoints differ between
 * ranks. */
static uint64_t hash_plans(const tprt__plan *plans, size_t n) {
  uint64_t hash = 0;
  for (size_t i = 0; i < n; i++) {
    if (!tprt__plan_is_transfer(&plans[i]))
      hash = tprt__hash(hash, plans[i].signature, sizeof plans[i].signature);
  }
  return hash;
}

static tprt_status compare_hashes(tprt_comm *comm, uint64_t hash) {
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  uint64_t *all = tprt__alloc((size_t)n * sizeof *all);
  if (!all)
    return tprt__comm_fail(comm, tprt__fail_memory((size_t)n * sizeof *all), TPRT_OP_ALL_GATHER);
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, &hash, all, 1, TPRT_U64, NULL);
  tprt_status status = tprt__comm_run_internal(comm, &op);
  for (int i = 0; i < n && !status; i++) {
    if (all[i] != all[0]) {
      status = tprt__fail(
          TPRT_MISMATCH,
          "schedule: rank %d records different operations than rank %d (this is rank %d)",
          comm->world_ranks[i], comm->world_ranks[0], comm->world_ranks[me]);
    }
  }
  tprt__free(all);
  return status;
}

tprt_status tprt_schedule_create(tprt_comm *comm, const tprt_op *ops, size_t n,
                                 tprt_schedule **schedule) {
  TPRT__NEED(comm);
  TPRT__NEED(schedule);
  if (n)
    TPRT__NEED(ops);
  tprt_schedule *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__comm_fail(comm, tprt__fail_memory(sizeof *made), TPRT_OP_ALL_GATHER);
  made->comm = comm;
  made->n = n;
  made->timeout_ns = tprt__comm_timeout(comm);
  tprt_status status = tprt__batch_make(ops, n, tprt_comm_size(comm), tprt_comm_rank(comm),
                                        &made->timeout_ns, &made->plans);
  if (status) {
    tprt__free(made);
    return status;
  }
  made->hash = hash_plans(made->plans, n);
  status = tprt__comm_accept(comm, made->plans, n, false);
  if (!status)
    status = compare_hashes(comm, made->hash);
  if (status) {
    tprt_schedule_destroy(made);
    return status;
  }
  *schedule = made;
  return TPRT_OK;
}

tprt_status tprt_schedule_run(tprt_schedule *schedule, tprt_work **work) {
  TPRT__NEED(schedule);
  tprt_comm *comm = schedule->comm;
  int64_t deadline = tprt__deadline(schedule->timeout_ns);
  if (work && schedule->n && schedule->plans->stream) { /* it may be capturing a graph now */
    tprt_status status = comm->transport->backend->accept(comm->transport, schedule->plans, true);
    if (status)
      return status;
  }
  tprt__observe_replay(comm, schedule->hash, atomic_fetch_add(&schedule->n_runs, 1) + 1);
  return tprt__comm_submit_list(schedule->comm, schedule->plans, schedule->n, deadline, work);
}

uint64_t tprt_schedule_hash(const tprt_schedule *schedule) {
  TPRT__NEED_OR(schedule, 0);
  return schedule->hash;
}

void tprt_schedule_destroy(tprt_schedule *schedule) {
  if (!schedule)
    return;
  tprt__batch_clear(schedule->plans, schedule->n);
  tprt__free(schedule);
}

/* ---- cost ---- */

/* Plans an operation whose buffers need not be set. Pieces of different lengths all count as the
 * longest. */
static tprt_status plan_without_buffers(const tprt_comm *comm, const tprt_op *op,
                                        tprt__plan *plan) {
  int n = tprt_comm_size(comm);
  tprt_status status = tprt__plan_shape(op, n, tprt_comm_rank(comm), plan);
  if (status)
    return status;
  plan->send = op->send;
  plan->recv = op->recv;
  if (plan->traits & (TPRT__SEND_PIECES | TPRT__RECV_PIECES)) {
    int64_t longest = tprt__longest_count(op, plan->traits, n);
    if (longest < 0)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: a count is negative or larger than 2^50",
                        tprt_op_kind_name(op->kind));
    plan->piece = longest * (int64_t)plan->type->size;
    plan->send_bytes = plan->piece * (plan->traits & TPRT__SEND_PIECES ? n : 1);
    plan->recv_bytes = plan->piece * (plan->traits & TPRT__RECV_PIECES ? n : 1);
  }
  return TPRT_OK;
}

/* bytes / 1024 * per_kb without overflow; saturates at INT64_MAX. */
static int64_t scale(int64_t bytes, int64_t per_kb) {
  int64_t whole, part = bytes % 1024 * per_kb / 1024;
  if (__builtin_mul_overflow(bytes / 1024, per_kb, &whole) ||
      __builtin_add_overflow(whole, part, &whole))
    return INT64_MAX;
  return whole;
}

tprt_status tprt_estimate_ops(const tprt_comm *comm, const tprt_op *ops, size_t n,
                              tprt_estimate *estimate) {
  TPRT__NEED(comm);
  TPRT__NEED(estimate);
  if (n)
    TPRT__NEED(ops);
  tprt_estimate made;
  tprt_status status = tprt__struct_copy(&made, sizeof made, estimate, "tprt_estimate");
  if (status)
    return status;
  const tprt__transport *transport = comm->transport;
  made = (tprt_estimate){.size = made.size, .algorithm = "nothing"};
  transport->backend->constants(transport, &made.alpha_ps, &made.beta_ps_per_kb);
  if (comm->alpha_ps) {
    made.alpha_ps = comm->alpha_ps;
    made.beta_ps_per_kb = comm->beta_ps_per_kb;
  }
  for (size_t i = 0; i < n && !status; i++) {
    tprt_op op;
    tprt__plan plan;
    tprt__cost cost = {.algorithm = NULL};
    status = tprt__struct_copy(&op, sizeof op, (const char *)ops + i * ops[0].size, "tprt_op");
    if (!status)
      status = plan_without_buffers(comm, &op, &plan);
    if (status)
      break;
    transport->backend->cost(transport, &plan, &cost);
    made.algorithm = cost.algorithm;
    made.n_steps += cost.n_steps;
    made.bytes += cost.bytes;
  }
  if (status)
    return status;
  int64_t moving = scale(made.bytes, made.beta_ps_per_kb), meeting;
  if (__builtin_mul_overflow(made.n_steps, made.alpha_ps, &meeting) ||
      __builtin_add_overflow(meeting, moving, &meeting))
    meeting = INT64_MAX;
  made.ns = meeting / 1000;
  memcpy(estimate, &made, estimate->size < sizeof made ? estimate->size : sizeof made);
  return TPRT_OK;
}

enum { CALIBRATION_ROUNDS = 20, CALIBRATION_BYTES = 1 << 20 };

/* Times an operation: the fastest of several rounds on each rank, then the maximum over the ranks,
 * in nanoseconds. */
static tprt_status time_op(tprt_comm *comm, const tprt_op *op, int64_t *ns) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
    int64_t begin = tprt__now();
    tprt_status status = tprt_submit(comm, op, NULL);
    if (status)
      return status;
    best = tprt__min(best, tprt__now() - begin);
  }
  *ns = best;
  tprt_op slowest = tprt_op_flat(TPRT_OP_ALL_REDUCE, ns, ns, 1, TPRT_I64, NULL);
  slowest.reduction = TPRT_MAX;
  return tprt__comm_run_internal(comm, &slowest);
}

tprt_status tprt_comm_calibrate(tprt_comm *comm) {
  TPRT__NEED(comm);
  tprt_op barrier = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, NULL);
  void *data;
  tprt_status status = tprt__comm_memory(comm, CALIBRATION_BYTES, &data);
  if (status)
    return tprt__comm_fail(comm, status, TPRT_OP_ALL_REDUCE);
  tprt_op sum = tprt_op_flat(TPRT_OP_ALL_REDUCE, data, data, CALIBRATION_BYTES / 4, TPRT_I32, NULL);
  sum.reduction = TPRT_SUM;
  int64_t step_ns, sum_ns;
  tprt__cost cost;
  tprt__plan plan;
  status = plan_without_buffers(comm, &sum, &plan);
  if (!status)
    status = time_op(comm, &barrier, &step_ns);
  if (!status)
    status = time_op(comm, &sum, &sum_ns);
  tprt__comm_memory_free(comm, data);
  if (status)
    return status;
  comm->transport->backend->cost(comm->transport, &plan, &cost);
  int64_t moving_ns = sum_ns - cost.n_steps * step_ns;
  tprt__lane_enter(comm);
  comm->alpha_ps = step_ns > 0 ? step_ns * 1000 : 1;
  comm->beta_ps_per_kb = moving_ns > 0 && cost.bytes ? moving_ns * 1000 / (cost.bytes / 1024) : 1;
  tprt__lane_leave(comm);
  return TPRT_OK;
}
