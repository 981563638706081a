/* Collectives of GPU programs. The ranks synchronize only on the host: the last rank to arrive
 * enqueues the work into the streams of all ranks, where it waits for their earlier work. So no
 * kernel waits for another kernel, and ranks that share a GPU cannot block each other. A step is
 * one kernel per rank, which reads its inputs from the memory of the other ranks. All streams
 * synchronize between steps, and after the last step, before any tensor may change again. */
#define _GNU_SOURCE 1
#include "backends/loopback/loopback.h"

#include "cuda/gpu/gpu_context.h"

tprt_status tprt__loopback_accept(const tprt__transport *transport, const tprt__plan *plan,
                                  bool told) {
  return plan->gpu ? tprt__gpu_accept(plan) : tprt__accept_host(transport, plan, told);
}

tprt_status tprt__loopback_launch(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                  uint32_t sequence, int64_t deadline, tprt__done_fn *done,
                                  void *user) {
  if (!plans->gpu)
    return tprt__no_launch(transport, plans, n, sequence, deadline, done, user);
  tprt_status status = tprt__loopback_submit(transport, plans, sequence, deadline);
  if (!status && done) /* all ranks have arrived; the GPU itself has no deadline */
    done(user, TPRT_OK);
  return status;
}

static tprt__gpu_queue queue_of(const tprt__plan *plan) {
  return (tprt__gpu_queue){plan->gpu, plan->stream};
}

static tprt_status join_streams(const loopback_hub *hub) {
  return tprt__gpu_join_streams(hub->queues, hub->n_ranks);
}

/* ---- reductions ---- */

static tprt__gpu_reduction reduction_of(const loopback_hub *hub, const tprt__plan *plan) {
  return (tprt__gpu_reduction){.dtype = plan->dtype,
                               .reduction = plan->reduction,
                               .sources = hub->sources,
                               .n = hub->n_ranks,
                               .out = plan->recv};
}

/* Reduces each rank's share into its own memory. Only that rank reads and writes this share, so the
 * operation may be in place. */
static tprt_status reduce_shares(loopback_hub *hub) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < hub->n_ranks && !status; i++) {
    const tprt__plan *plan = hub->plans[i];
    tprt__gpu_reduction r = reduction_of(hub, plan);
    int64_t begin = tprt__slice_begin(plan->piece, hub->n_ranks, i),
            end = tprt__slice_begin(plan->piece, hub->n_ranks, i + 1);
    for (int k = 0; k < hub->n_ranks; k++)
      hub->sources[k] = (const char *)hub->plans[k]->send + begin;
    r.out = (char *)plan->recv + begin;
    r.count = r.run = r.step = (end - begin) / (int64_t)plan->type->size;
    status = tprt__gpu_reduce(queue_of(plan), &r);
  }
  return status;
}

/* Copies the shares of the other ranks. The shares have equal length, except that the last ones end
 * with the tensor. */
static tprt_status share(loopback_hub *hub) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < hub->n_ranks && !status; i++) {
    const tprt__plan *plan = hub->plans[i];
    int64_t slice = tprt__slice_begin(plan->piece, hub->n_ranks, 1);
    for (int k = 0; k < hub->n_ranks; k++)
      hub->sources[k] = k == i ? NULL
                               : (const char *)hub->plans[k]->recv +
                                     tprt__slice_begin(plan->piece, hub->n_ranks, k);
    const tprt__gpu_move m = {.sources = hub->sources,
                              .n = hub->n_ranks,
                              .out = plan->recv,
                              .piece = slice,
                              .limit = plan->piece,
                              .send_map = {.run = slice, .n = 1},
                              .recv_map = {.run = slice, .n = hub->n_ranks}};
    status = tprt__gpu_move_pieces(queue_of(plan), &m);
  }
  return status;
}

static tprt_status all_reduce(loopback_hub *hub) {
  tprt_status status = reduce_shares(hub);
  if (!status)
    status = join_streams(hub);
  return status ? status : share(hub);
}

/* Reduces each rank's piece of all inputs. If the result is inside the rank's own input, it is at
 * this piece, which no other rank reads. */
static tprt_status reduce_scatter(loopback_hub *hub) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < hub->n_ranks && !status; i++) {
    const tprt__plan *plan = hub->plans[i];
    int64_t size = (int64_t)plan->type->size;
    tprt__gpu_reduction r = reduction_of(hub, plan);
    for (int k = 0; k < hub->n_ranks; k++)
      hub->sources[k] = (const char *)hub->plans[k]->send + i * plan->send_map.run;
    r.count = plan->piece / size;
    r.run = plan->send_map.run / size;
    r.step = r.count == r.run ? r.run : r.run * hub->n_ranks;
    status = tprt__gpu_reduce(queue_of(plan), &r);
  }
  return status;
}

/* ---- moves ---- */

/* True if piece k of the data that this rank receives is already in place. */
static bool is_there(const tprt__plan *plan, const tprt__plan *from, int k) {
  bool one_run = plan->recv_map.n == 1 || plan->recv_map.run == plan->piece;
  const char *at = (const char *)plan->recv + (plan->recv_map.n == 1 ? 0 : k * plan->piece);
  return one_run && from->send_map.n == 1 && (const char *)from->send == at;
}

static tprt_status move(loopback_hub *hub) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < hub->n_ranks && !status; i++) {
    const tprt__plan *plan = hub->plans[i];
    tprt__gpu_move m = {.sources = hub->sources,
                        .index = i,
                        .out = plan->recv,
                        .piece = plan->piece,
                        .limit = plan->recv_bytes,
                        .send_map = plan->send_map,
                        .recv_map = plan->recv_map};
    bool moves = false;
    for (int k = 0; k < hub->n_ranks; k++) {
      const tprt__plan *from = hub->plans[k];
      bool wanted = tprt__plan_wants(plan, k) && !is_there(plan, from, k);
      if (wanted || plan->recv_map.n > 1)
        hub->sources[m.n++] = wanted ? from->send : NULL;
      moves |= wanted;
    }
    if (moves)
      status = tprt__gpu_move_pieces(queue_of(plan), &m);
    else if (plan->kind == TPRT_OP_PERMUTE && plan->source < 0)
      status = tprt__gpu_zero(queue_of(plan), plan->recv, plan->recv_bytes);
  }
  return status;
}

/* ---- dispatch ---- */

static tprt_status together(loopback_hub *hub) {
  bool alone = hub->plans[0]->alone;
  for (int i = 0; i < hub->n_ranks; i++) {
    hub->sources[i] = hub->plans[i]->send;
    if (!alone && !tprt__gpu_is_same(hub->queues[i].gpu, hub->queues[0].gpu))
      return tprt__fail(TPRT_UNSUPPORTED,
                        "ranks %d and %d are on different GPUs, but one kernel must serve both",
                        hub->seats[0].world_rank, hub->seats[i].world_rank);
  }
  return tprt__gpu_together(hub->queues[0], hub->plans[0]->together, hub->sources, hub->n_ranks);
}

tprt_status tprt__loopback_enqueue(loopback_hub *hub) {
  const tprt__plan *plan = hub->plans[0];
  for (int i = 0; i < hub->n_ranks; i++)
    hub->queues[i] = queue_of(hub->plans[i]);
  if (plan->together && plan->alone)
    return together(hub);
  tprt_status status = join_streams(hub);
  if (status)
    return status;
  if (plan->together)
    status = together(hub);
  else if (plan->kind == TPRT_OP_ALL_REDUCE)
    status = all_reduce(hub);
  else if (plan->kind == TPRT_OP_REDUCE_SCATTER)
    status = reduce_scatter(hub);
  else
    status = move(hub);
  return status ? status : join_streams(hub);
}
