/* Direct access between the GPUs of a communicator: buffers that peers map, and the group of fused
 * kernels that uses them. */
#include "cuda/gpu/gpu_peers.h"

#include "cuda/gemm/fused_gemm.h"
#include "cuda/gpu/gpu_inside.h"

/* A buffer on every rank, as large as any site has needed so far. */
typedef struct peer_buffer {
  tprt_cuda_symmetric *memory;
  size_t bytes;
} peer_buffer;

struct tprt__gpu_peers {
  tprt_comm *comm;
  tprt_cuda_group *group;
  tprt_cuda_copier *copier; /* NULL: no rows are gathered for GEMMs */
  size_t staging_bytes;
  /* Two buffers: while one rank still copies data out of `outputs`, another rank may already fill
   * `inputs` for the next call. */
  peer_buffer inputs, outputs;
};

/* A poll is a load that hits the GPU's cache: a quarter of a microsecond to one microsecond. */
static uint32_t polls_in(int64_t timeout_ns) {
  enum { POLL_NS = 500 };
  int64_t polls = timeout_ns / POLL_NS + 1;
  return polls < UINT32_MAX ? (uint32_t)polls : UINT32_MAX;
}

tprt_status tprt__gpu_peers_create(tprt__gpu *gpu, tprt_comm *comm, int64_t timeout_ns,
                                   tprt__gpu_peers **result) {
  /* tprt_cuda_choose pushes at most this much to all ranks together; there are two staging
   * buffers */
  enum { PUSHED_BYTES = 128 << 10 };
  const tprt_cuda_group_config config = {
      .size = sizeof config, .staging_bytes = 2 * PUSHED_BYTES, .spin_limit = polls_in(timeout_ns)};
  tprt__gpu_peers *peers = tprt__alloc(sizeof *peers);
  if (!peers)
    return tprt__fail_memory(sizeof *peers);
  tprt_status status = tprt__gpu_enter(gpu);
  if (!status) {
    status = tprt_cuda_group_attach(comm, &config, &peers->group);
    tprt__gpu_leave(gpu);
  }
  if (status) {
    tprt__free(peers);
    return status;
  }
  peers->comm = comm;
  peers->staging_bytes = config.staging_bytes;
  *result = peers;
  return TPRT_OK;
}

/* Enlarges a buffer if it is too small. Called in the GPU's context. */
static tprt_status grow(const tprt__gpu_peers *peers, size_t bytes, peer_buffer *grown) {
  tprt_cuda_symmetric *made;
  if (bytes <= grown->bytes)
    return TPRT_OK;
  tprt_status status = tprt_cuda_symmetric_create(peers->comm, bytes, &made);
  if (status)
    return status;
  status = tprt_cuda_symmetric_destroy(grown->memory);
  *grown = (peer_buffer){made, bytes};
  return status;
}

bool tprt__gpu_peers_fit(const tprt__gpu_peers *peers, size_t input_bytes, size_t output_bytes) {
  return input_bytes <= peers->inputs.bytes && output_bytes <= peers->outputs.bytes;
}

tprt_status tprt__gpu_peers_reserve(tprt__gpu *gpu, tprt__gpu_peers *peers, size_t input_bytes,
                                    size_t output_bytes) {
  tprt_status status = tprt__gpu_synchronize(gpu); /* no pending work may use the old buffers */
  if (!status)
    status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = grow(peers, input_bytes, &peers->inputs);
  if (!status)
    status = grow(peers, output_bytes, &peers->outputs);
  tprt__gpu_leave(gpu);
  return status;
}

void tprt__gpu_peers_destroy(tprt__gpu *gpu, tprt__gpu_peers *peers) {
  if (!peers)
    return;
  (void)tprt__gpu_synchronize(gpu);
  bool entered = !tprt__gpu_enter(gpu); /* if not, freeing may still succeed */
  (void)tprt_cuda_symmetric_destroy(peers->inputs.memory);
  (void)tprt_cuda_symmetric_destroy(peers->outputs.memory);
  tprt_cuda_copier_destroy(peers->copier);
  tprt_cuda_group_destroy(peers->group);
  if (entered)
    tprt__gpu_leave(gpu);
  tprt__free(peers);
}

static void *const *addresses(const peer_buffer *r) {
  return r->memory ? tprt_cuda_symmetric_addresses(r->memory) : NULL;
}

void *const *tprt__gpu_peers_inputs(const tprt__gpu_peers *peers) {
  return addresses(&peers->inputs);
}
void *const *tprt__gpu_peers_outputs(const tprt__gpu_peers *peers) {
  return addresses(&peers->outputs);
}
size_t tprt__gpu_peers_staging(const tprt__gpu_peers *peers) { return peers->staging_bytes; }

tprt_status tprt__gpu_peers_reduce(tprt__gpu *gpu, const tprt__gpu_peers *peers,
                                   const tprt_cuda_rows *rows) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt_cuda_reduce_rows(peers->group, rows, gpu->stream);
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_peers_multiply(tprt__gpu *gpu, const tprt__gpu_peers *peers,
                                     const tprt_cuda_gemm *gemm, const tprt_cuda_rows *rows) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt_cuda_multiply_reduce(peers->group, gpu->lanes[0].blas, gemm, rows, gpu->stream);
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_peers_prepare_gather(tprt__gpu *gpu, tprt__gpu_peers *peers) {
  tprt_status status = peers->copier ? TPRT_OK : tprt__gpu_enter(gpu);
  if (status || peers->copier)
    return status;
  status = tprt_cuda_copier_create(&peers->copier);
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_peers_gather(tprt__gpu *gpu, const tprt__gpu_peers *peers,
                                   const tprt_cuda_gather *rows, const tprt_cuda_gemm *gemms,
                                   int n_gemms) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = n_gemms ? tprt_cuda_gather_multiply(peers->group, peers->copier, gpu->lanes[0].blas,
                                               rows, gemms, n_gemms, gpu->stream)
                   : tprt__cuda_gather(peers->group, peers->copier, rows, gpu->stream);
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_peers_check(tprt__gpu *gpu, const tprt__gpu_peers *peers) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt_cuda_group_check(peers->group, gpu->stream);
  tprt__gpu_leave(gpu);
  return status;
}
