/* Coalescing: small collectives of a batch that are independent (the hint of that name) run as one,
 * on packed buffers. Each pays for its bytes and a copy, but the ranks meet only once. */
#include "comm/coalesce.h"

#include <string.h>

/* The packed bytes of a meeting beyond which a copy costs more than a meeting of its own. */
enum { MOST_BYTES = TPRT__PACKED_BYTES / 2 };

/* How the tensors of a kind lie in a packed buffer: whether they consist of one piece per rank. */
static const struct {
  bool coalesces, sends_pieces, receives_pieces;
} kinds[TPRT_N_OP_KINDS] = {
    [TPRT_OP_ALL_REDUCE] = {true, false, false},    [TPRT_OP_ALL_GATHER] = {true, false, true},
    [TPRT_OP_REDUCE_SCATTER] = {true, true, false}, [TPRT_OP_ALL_TO_ALL] = {true, true, true},
    [TPRT_OP_BROADCAST] = {true, false, false},
};

/* The decision depends only on what is equal on all ranks. */
static bool may_join(const tprt__plan *first, const tprt__plan *plan) {
  return plan->independent && kinds[plan->kind].coalesces && plan->kind == first->kind &&
         plan->dtype == first->dtype && plan->reduction == first->reduction &&
         plan->reduction != TPRT_PREMUL_SUM && plan->root == first->root &&
         plan->deterministic == first->deterministic && !plan->together && !plan->gpu &&
         !plan->of_library;
}

size_t tprt__coalescible(const tprt__plan *plans, size_t n) {
  int64_t bytes = 0;
  size_t count = 0;
  while (count < n && may_join(plans, &plans[count])) {
    bytes += tprt__max(plans[count].send_bytes, plans[count].recv_bytes);
    if (bytes > MOST_BYTES)
      break;
    count++;
  }
  return count > 1 ? count : 1;
}

/* Copies all pieces of one side between the tensors and the packed buffer. Piece r of all tensors
 * comes before piece r + 1 of any. */
static void copy(const tprt__plan *plans, size_t n, char *packed, bool in) {
  bool by_rank = in ? kinds[plans->kind].sends_pieces : kinds[plans->kind].receives_pieces;
  for (int r = 0; r < (by_rank ? plans->n_ranks : 1); r++)
    for (size_t i = 0; i < n; i++) {
      const tprt__plan *plan = &plans[i];
      int64_t bytes = (in ? plan->send_bytes : plan->recv_bytes) / (by_rank ? plan->n_ranks : 1);
      tprt__place in_tensor = tprt__place_in(in ? plan->send_map : plan->recv_map, r, 0);
      if (bytes > 0 && in)
        tprt__piece_copy(packed, tprt__place_flat(), plan->send, in_tensor, bytes, false);
      else if (bytes > 0)
        tprt__piece_copy(plan->recv, in_tensor, packed, tprt__place_flat(), bytes, false);
      packed += bytes;
    }
}

tprt_status tprt__coalesce(const tprt__plan *plans, size_t n, void *memory, tprt__coalesced *made) {
  int64_t sent = 0;
  char *send = memory, *recv = send + MOST_BYTES;
  *made = (tprt__coalesced){.plans = plans, .n = n};
  for (size_t i = 0; i < n; i++)
    sent += plans[i].send_bytes;
  tprt_op op =
      tprt_op_flat(plans->kind, send, recv, sent / (int64_t)plans->type->size, plans->dtype, NULL);
  if (kinds[plans->kind].sends_pieces) {
    op.n_dims = 2;
    op.shape[1] = op.shape[0] / plans->n_ranks;
    op.shape[0] = plans->n_ranks;
  }
  op.reduction = plans->reduction;
  op.root = plans->root;
  tprt_status status = tprt__plan_make(&op, plans->n_ranks, plans->rank, &made->whole);
  if (status)
    return status;
  made->whole.deterministic = plans->deterministic;
  if (tprt__plan_sends(plans))
    copy(plans, n, send, true);
  return TPRT_OK;
}

void tprt__coalesced_deliver(const tprt__coalesced *made) {
  copy(made->plans, made->n, made->whole.recv, false);
}

void tprt__coalesced_clear(tprt__coalesced *made) { tprt__plan_clear(&made->whole); }

tprt_status tprt__check_independent(const tprt__plan *plans, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n && plans[i].independent; k++) {
      const tprt__plan *a = &plans[i], *b = &plans[k];
      if (i == k || !b->independent || !tprt__plan_receives(a))
        continue;
      bool reads =
          tprt__plan_sends(b) && tprt__overlap(a->recv, a->recv_bytes, b->send, b->send_bytes);
      bool writes = k > i && tprt__plan_receives(b) &&
                    tprt__overlap(a->recv, a->recv_bytes, b->recv, b->recv_bytes);
      if (reads || writes)
        return tprt__fail(
            TPRT_INVALID_ARGUMENT,
            "ops %zu and %zu of the batch have the hint independent, but op %zu %s what op "
            "%zu writes",
            i < k ? i : k, i < k ? k : i, k, reads ? "reads" : "writes", i);
    }
  return TPRT_OK;
}
