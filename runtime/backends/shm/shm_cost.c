/* Cost model of the shm backend: the number of steps in which ranks synchronize, and the bytes that
 * one rank reads and writes. */
#include "backends/shm/shm.h"

void tprt__shm_constants(const tprt__transport *transport, int64_t *alpha_ps,
                         int64_t *beta_ps_per_kb) {
  const shm_transport *shm = (const shm_transport *)transport;
  /* With a processor per rank, a step takes half a microsecond. With fewer processors the ranks run
   * one after the other. */
  *alpha_ps = shm->n_spins ? 500000 : INT64_C(3000000) * transport->n_ranks;
  *beta_ps_per_kb = 100000; /* 10 GB/s */
}

static int64_t chunks(int64_t bytes, int64_t capacity) {
  return bytes <= capacity ? 1 : (bytes + capacity - 1) / capacity;
}

static void transfer_cost(const tprt__plan *plan, tprt__cost *cost) {
  int64_t bytes = plan->kind == TPRT_OP_SEND ? plan->send_bytes : plan->recv_bytes;
  *cost = (tprt__cost){
      .algorithm = "pipe", .n_steps = 1 + chunks(bytes, SHM_PIPE_BYTES), .bytes = 2 * bytes};
}

/* Either every rank reads all inputs of its share and writes the result to all ranks, or it reads
 * the data that it receives. */
static void in_place_cost(const tprt__plan *plan, tprt__cost *cost) {
  bool shared = plan->reduction && !(plan->traits & TPRT__SCATTERS);
  int64_t bytes = shared            ? 2 * plan->send_bytes
                  : plan->reduction ? plan->send_bytes + plan->recv_bytes
                                    : 2 * plan->recv_bytes;
  *cost = (tprt__cost){.algorithm = "in place", .n_steps = 2, .bytes = bytes};
}

void tprt__shm_cost(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost) {
  const shm_wait wait = {.kind = plan->kind};
  shm_engine run = tprt__shm_engine((shm_transport *)(uintptr_t)transport, plan, &wait);
  shm_notice notice = {0};
  int64_t n = plan->n_ranks, piece = plan->piece;
  bool in_parts = plan->traits & (TPRT__SEND_PIECES | TPRT__RECV_PIECES);
  if (!in_parts && (plan->send || run.shm->segment->one_process))
    tprt__shm_locate(&run, &notice);
  if (tprt__plan_is_transfer(plan)) {
    transfer_cost(plan, cost);
  } else if (notice.access != SHM_STAGED) {
    in_place_cost(plan, cost);
  } else if (run.two_phase) {
    /* pack; read and write a share of all inputs; copy the other shares out */
    int64_t bytes = 2 * piece + piece + 2 * (piece / n) + 2 * piece;
    *cost = (tprt__cost){
        .algorithm = "two phases", .n_steps = 1 + chunks(piece, run.capacity), .bytes = bytes};
  } else {
    int64_t in = 2 * plan->send_bytes,
            out = plan->reduction ? n * piece + piece : 2 * plan->recv_bytes;
    const char *algorithm = chunks(piece, run.capacity) > 1 ? "chunks" : "one shot";
    *cost = (tprt__cost){
        .algorithm = algorithm, .n_steps = chunks(piece, run.capacity), .bytes = in + out};
  }
}
