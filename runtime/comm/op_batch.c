/* Batches: plans of several operations, including transfers of a rank with itself. */
#include "comm/coalesce.h"

#include <string.h>

void tprt__batch_clear(tprt__plan *plans, size_t n) {
  for (size_t i = 0; plans && i < n; i++)
    tprt__plan_clear(&plans[i]);
  tprt__free(plans);
}

/* Pairs a recv from this rank with the first unpaired send that has the same tag, and copies the
 * address of its buffer. */
static tprt_status pair_recv(tprt__plan *plans, size_t n, tprt__plan *recv) {
  for (size_t i = 0; i < n; i++) {
    tprt__plan *send = &plans[i];
    if (send->kind != TPRT_OP_SEND || send->peer != send->rank || send->tag != recv->tag ||
        send->source >= 0)
      continue;
    if (send->type != recv->type || send->send_bytes != recv->recv_bytes) {
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "rank %d sends itself %lld bytes of %s with tag %d and expects %lld of %s",
                        recv->rank, (long long)send->send_bytes, send->type->name, recv->tag,
                        (long long)recv->recv_bytes, recv->type->name);
    }
    if (tprt__overlap(send->send, send->send_bytes, recv->recv, recv->recv_bytes) &&
        send->send != recv->recv)
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "rank %d sends to itself from memory that overlaps the receive buffer",
                        recv->rank);
    send->source = recv->rank;
    recv->send = send->send;
    return TPRT_OK;
  }
  return tprt__fail(
      TPRT_INVALID_ARGUMENT,
      "rank %d has a recv from itself with tag %d, but no matching send in the same batch",
      recv->rank, recv->tag);
}

/* Pairs all transfers of this rank with itself. `source` of a send marks it as paired. */
static tprt_status pair_own(tprt__plan *plans, size_t n) {
  tprt_status status = TPRT_OK;
  for (size_t i = 0; i < n && !status; i++) {
    if (plans[i].kind == TPRT_OP_RECV && plans[i].peer == plans[i].rank)
      status = pair_recv(plans, n, &plans[i]);
  }
  for (size_t i = 0; i < n && !status; i++) {
    if (plans[i].kind == TPRT_OP_SEND && plans[i].peer == plans[i].rank && plans[i].source < 0) {
      status = tprt__fail(
          TPRT_INVALID_ARGUMENT,
          "rank %d has a send to itself with tag %d, but no matching recv in the same batch",
          plans[i].rank, plans[i].tag);
    }
  }
  return status;
}

tprt_status tprt__batch_make(const tprt_op *ops, size_t n, int n_ranks, int rank,
                             int64_t *timeout_ns, tprt__plan **result) {
  size_t stride = n ? ops[0].size : 0;
  tprt__plan *plans = n > SIZE_MAX / sizeof *plans ? NULL : tprt__alloc(n * sizeof *plans);
  if (!plans)
    return tprt__fail_memory(n);
  tprt_status status = TPRT_OK;
  int64_t longest = 0;
  for (size_t i = 0; i < n && !status; i++) {
    const void *from = (const char *)ops + i * stride;
    tprt_op op = {.size = stride};
    status = tprt__struct_copy(&op, sizeof op, from, "tprt_op");
    if (!status && op.size != stride) {
      status =
          tprt__fail(TPRT_INVALID_ARGUMENT,
                     "all ops of a batch must have the same size: op 0 has %zu, op %zu has %zu",
                     stride, i, op.size);
    }
    if (!status)
      status = tprt__plan_make(&op, n_ranks, rank, &plans[i]);
    int64_t timeout = !status && plans[i].timeout_ns ? plans[i].timeout_ns : *timeout_ns;
    longest = timeout > longest ? timeout : longest;
    if (status && n > 1)
      tprt__fail(status, "op %zu of the batch: %s", i, tprt_last_error());
  }
  for (size_t begin = 0, end = 0; begin < n && !status; begin = end + 1) {
    /* every run of adjacent transfers is paired separately */
    for (end = begin; end < n && tprt__plan_is_transfer(&plans[end]);)
      end++;
    status = pair_own(plans + begin, end - begin);
  }
  if (!status)
    status = tprt__check_independent(plans, n);
  if (status) {
    tprt__batch_clear(plans, n);
    return status;
  }
  if (n)
    *timeout_ns = longest;
  *result = plans;
  return TPRT_OK;
}
