/* GEMMs in slices of rows, whose results are reduced over the ranks. */
#include "base/base.h"
#include "cuda/fused/fused_group.h"
#include "cuda/gemm/fused_gemm.h"

bool tprt_cuda_choose_slices(tprt_dtype dtype, int64_t tokens, int64_t hidden, int64_t k,
                             int n_ranks, double flops, double bandwidth) {
  if (n_ranks < 2 || tokens < 4096 || tokens / n_ranks < 512 || !(flops > 0) || !(bandwidth > 0))
    return false;
  double sent = (double)tokens * (double)hidden * (double)tprt_dtype_size(dtype) * (n_ranks - 1) /
                n_ranks / bandwidth;
  double computed = 2 * (double)tokens * (double)hidden * (double)k / flops;
  return sent >= 0.05 * computed && sent <= 2 * computed;
}

static tprt_status refuse(int rank, const char *what) {
  return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: matmul of rank %d with reduced rows %s", rank,
                    what);
}

static int64_t blocks_of(const tprt_cuda_rows *rows) { return rows->blocks > 1 ? rows->blocks : 1; }

/* Returns the number of rows of each block that a rank reduces. */
static int64_t slice_of(const tprt_cuda_rows *rows, int n_ranks) {
  return (rows->tokens / blocks_of(rows) + n_ranks - 1) / n_ranks;
}

static tprt_status check_gemm(int rank, const tprt_cuda_gemm *g, const tprt_cuda_rows *rows,
                              int n_ranks) {
  uint64_t row_a = (uint64_t)(g->row_a ? g->row_a : g->k);
  if (g->m != rows->tokens || g->n != rows->hidden)
    return refuse(rank, "does not have the shape of the rows");
  if (g->out_dtype != rows->dtype)
    return refuse(rank, "has a different dtype than the rows");
  if (g->batch > 1 || g->transpose_a)
    return refuse(rank, "has a batch or a transposed a");
  if (g->out || g->c || g->beta != 0 || g->row_out)
    return refuse(rank, "sets out, c, beta or row_out");
  if (g->epilogue || g->bias || g->bias_gradient || g->aux)
    return refuse(rank, "has an epilogue or a bias; only the rows may have a bias");
  uint64_t row_bytes = row_a * tprt_dtype_size(g->dtype),
           block_bytes = (uint64_t)(rows->tokens / blocks_of(rows)) * row_bytes;
  if ((uint64_t)slice_of(rows, n_ranks) * row_bytes % 16 ||
      (blocks_of(rows) > 1 && block_bytes % 16))
    return refuse(rank, "has slices of a that do not begin at multiples of 16 bytes");
  return TPRT_OK;
}

/* Runs `step` for each slice of the GEMM of `rank`, whose result goes to the slice's owner. It
 * starts with the next rank, so that not all ranks send to the same one. The slices of blocks are a
 * batch. */
static tprt_status each_slice(tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                              const tprt_cuda_rows *rows, int n_ranks, int rank,
                              tprt__cuda_gemm_step *step, tprt_cuda_stream stream) {
  int64_t slice = slice_of(rows, n_ranks), n_blocks = blocks_of(rows),
          block = rows->tokens / n_blocks;
  int64_t row_a = gemm->row_a ? gemm->row_a : gemm->k;
  size_t size = tprt_dtype_size(gemm->dtype), out_size = tprt_dtype_size(rows->dtype);
  tprt_status status = TPRT_OK;
  for (int i = 1; i <= n_ranks && !status; i++) {
    int owner = (rank + i) % n_ranks;
    int64_t first = owner * slice, left = block - first;
    tprt_cuda_gemm part = *gemm;
    part.m = left < slice ? (left > 0 ? left : 0) : slice;
    part.a = (const char *)gemm->a + (size_t)(first * row_a) * size;
    part.row_a = row_a;
    part.batch = n_blocks;
    part.step_a = block * row_a;
    part.step_b = 0;
    part.step_out = slice * rows->hidden;
    part.out = (char *)(uintptr_t)rows->input[owner] +
               (size_t)(rank * n_blocks * slice * rows->hidden) * out_size;
    status = part.m ? step(blas, &part, stream) : TPRT_OK;
  }
  return status;
}

tprt_status tprt_cuda_multiply_reduce(tprt_cuda_group *group, tprt_cuda_blas *blas,
                                      const tprt_cuda_gemm *gemms, const tprt_cuda_rows *rows,
                                      tprt_cuda_stream stream) {
  TPRT__NEED(group);
  TPRT__NEED(blas);
  TPRT__NEED(gemms);
  TPRT__NEED(rows);
  const tprt_cuda_group_config *config = tprt__cuda_group_config(group);
  int first = config->rank == TPRT_CUDA_ALL_RANKS ? 0 : config->rank;
  int n_here = config->rank == TPRT_CUDA_ALL_RANKS ? config->n_ranks : 1;
  tprt_cuda_rows own = {0};
  tprt_status status = tprt__struct_copy(&own, sizeof own, rows, "tprt_cuda_rows");
  own.size = sizeof own;
  own.input_sent = true;
  if (!status)
    status = tprt__cuda_check_rows(group, &own);
  for (int r = 0; r < config->n_ranks && !status; r++)
    if (!own.input[r] || (uintptr_t)own.input[r] % 16)
      status =
          tprt__fail(TPRT_INVALID_ARGUMENT,
                     "CUDA: input of rank %d is at %p; aligned addresses of all ranks are needed",
                     r, own.input[r]);
  tprt_cuda_gemm read[TPRT_CUDA_MAX_RANKS] = {{0}};
  for (int i = 0; i < n_here && !status; i++) {
    status = tprt__struct_copy(&read[i], sizeof read[i], &gemms[i], "tprt_cuda_gemm");
    if (!status)
      status = check_gemm(first + i, &read[i], &own, config->n_ranks);
  }
  for (int i = 0; i < n_here && !status; i++)
    status =
        each_slice(blas, &read[i], &own, config->n_ranks, first + i, tprt__cuda_gemm_check, stream);
  for (int i = 0; i < n_here && !status; i++)
    status =
        each_slice(blas, &read[i], &own, config->n_ranks, first + i, tprt_cuda_multiply, stream);
  return status ? status : tprt_cuda_reduce_rows(group, &own, stream);
}
