/* Groups of NCCL calls. NCCL keeps an open group per thread, so a group left open would absorb all
 * later calls. */
#include "backends/nccl/nccl.h"

tprt_status tprt__nccl_group_begin(nccl_group *group, nccl_transport *nccl, cuda_stream stream) {
  *group = (nccl_group){.nccl = nccl, .stream = stream};
  pthread_mutex_lock(&nccl->lock);
  tprt_status status = nccl->comm ? tprt__nccl_check(nccl->library, NULL,
                                                     nccl->library->group_start(), "ncclGroupStart")
                                  : tprt__nccl_fail_ended();
  if (status)
    pthread_mutex_unlock(&nccl->lock);
  return status;
}

void tprt__nccl_group_add(nccl_group *group, nccl_result result, const char *what) {
  if (!group->status)
    group->status = tprt__nccl_check(group->nccl->library, group->nccl->comm, result, what);
}

void tprt__nccl_group_send(nccl_group *group, const void *data, int64_t bytes, int peer) {
  nccl_transport *nccl = group->nccl;
  if (bytes && !group->status)
    tprt__nccl_group_add(
        group,
        nccl->library->send(data, (size_t)bytes, NCCL_TYPE_U8, peer, nccl->comm, group->stream),
        "ncclSend");
}

void tprt__nccl_group_receive(nccl_group *group, void *data, int64_t bytes, int peer) {
  nccl_transport *nccl = group->nccl;
  if (bytes && !group->status)
    tprt__nccl_group_add(
        group,
        nccl->library->recv(data, (size_t)bytes, NCCL_TYPE_U8, peer, nccl->comm, group->stream),
        "ncclRecv");
}

tprt_status tprt__nccl_group_end(nccl_group *group, nccl_wait *wait) {
  nccl_transport *nccl = group->nccl;
  nccl_result result = nccl->library->group_end();
  tprt__nccl_group_add(group, result, "ncclGroupEnd");
  pthread_mutex_unlock(&nccl->lock);
  return group->status ? group->status : tprt__nccl_ready(nccl, wait);
}
