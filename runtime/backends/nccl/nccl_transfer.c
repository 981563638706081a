/* Sends and recvs: one group of NCCL calls. */
#include "backends/nccl/nccl.h"

/* Copies the transfers of the rank with itself; send and recv were paired before. */
static tprt_status copy_own(nccl_transport *nccl, const tprt__plan *plans, size_t n,
                            cuda_stream stream) {
  tprt_status status = TPRT_OK;
  for (size_t i = 0; i < n && !status; i++) {
    if (plans[i].kind == TPRT_OP_RECV && plans[i].peer == plans[i].rank)
      status = tprt__nccl_copy(nccl, plans[i].recv, plans[i].send, plans[i].recv_bytes, stream);
  }
  return status;
}

static tprt_status move(nccl_transport *nccl, const tprt__plan *plans, size_t n, cuda_stream stream,
                        nccl_wait *wait) {
  nccl_group group;
  tprt_status status = tprt__nccl_group_begin(&group, nccl, stream);
  if (status)
    return status;
  for (size_t i = 0; i < n; i++) {
    if (plans[i].peer == plans[i].rank)
      continue;
    if (plans[i].kind == TPRT_OP_SEND)
      tprt__nccl_group_send(&group, plans[i].send, plans[i].send_bytes, plans[i].peer);
    else
      tprt__nccl_group_receive(&group, plans[i].recv, plans[i].recv_bytes, plans[i].peer);
  }
  return tprt__nccl_group_end(&group, wait);
}

tprt_status tprt__nccl_enqueue_transfers(nccl_transport *nccl, const tprt__plan *plans, size_t n,
                                         cuda_stream stream, nccl_wait *wait) {
  tprt_status status = copy_own(nccl, plans, n, stream);
  return status ? status : move(nccl, plans, n, stream, wait);
}

tprt_status tprt__nccl_enqueue_some(nccl_transport *nccl, const tprt__plan *plans, size_t n,
                                    cuda_stream stream, nccl_wait *wait) {
  if (tprt__plan_is_transfer(plans))
    return tprt__nccl_enqueue_transfers(nccl, plans, n, stream, wait);
  return n > 1 ? tprt__nccl_enqueue_joined(nccl, plans, n, stream, wait)
               : tprt__nccl_enqueue(nccl, plans, stream, wait);
}

tprt_status tprt__nccl_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                uint32_t sequence, int64_t deadline) {
  nccl_transport *nccl = (nccl_transport *)transport;
  nccl_wait wait = {.kind = plans[0].kind, .sequence = sequence, .deadline = deadline};
  tprt_status status = tprt__nccl_begin(nccl, &wait);
  if (status)
    return status;
  return tprt__nccl_finish(nccl, tprt__nccl_enqueue_some(nccl, plans, n, nccl->stream, &wait),
                           &wait);
}
