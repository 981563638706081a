/* Plans exchanges: all-gather and all-to-all. */
#include "cuda/fused/plan.h"

#include <string.h>

/* Number of elements of the dimensions [first, end). */
static int64_t size_of(const int64_t *shape, int first, int end) {
  int64_t size = 1;
  for (int d = first; d < end; d++)
    size *= shape[d];
  return size;
}

static tprt_status check_shape(tprt_dtype dtype, int n_dims, const int64_t *shape,
                               int64_t n_ranks) {
  if (tprt_dtype_size(dtype) == 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: type %d does not exist", (int)dtype);
  int64_t most = INT64_MAX / n_ranks / (int64_t)tprt_dtype_size(dtype);
  for (int d = 0; d < n_dims; d++) {
    if (shape[d] < 0 || (shape[d] > 0 && most / shape[d] == 0))
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "CUDA: dimension %d of the exchange has invalid size %lld", d,
                        (long long)shape[d]);
    most = shape[d] ? most / shape[d] : most;
  }
  return TPRT_OK;
}

static tprt_status check_dim(const char *name, int dim, int n_dims) {
  if (dim >= 0 && dim < n_dims)
    return TPRT_OK;
  return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: %s is %d, but the tensor has %d dimensions", name,
                    dim, n_dims);
}

/* Like fused_exchange, but in elements; converted to vectors later. */
typedef struct box {
  int64_t piece, place, send_step[2], recv_step[2], extent[3];
} box;

static tprt_status plan_exchange(const fused_group *group, tprt_dtype dtype, const box *b,
                                 const void *const *send, void *const *recv, fused_launch *launch) {
  fused_launch plan = {0};
  fused_exchange *e = &plan.args.of.exchange;
  const void *given[FUSED_RANKS], *to[FUSED_RANKS], *from[FUSED_RANKS];
  memcpy(given, recv, (size_t)group->config.n_ranks * sizeof *given);
  tprt_status status = tprt__fused_pointers(group, "send", send, FUSED_LOCAL, false, from);
  if (!status)
    status = tprt__fused_pointers(group, "recv", given, FUSED_SYMMETRIC, false, to);
  if (status)
    return status;
  int64_t size = (int64_t)tprt_dtype_size(dtype), run = b->extent[2] * size;
  if (run % 16)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "CUDA: contiguous runs have %lld bytes; the exchange needs multiples of 16",
                      (long long)run);
  long long bytes = (long long)b->extent[0] * b->extent[1] * run;
  if (bytes / 16 > UINT32_MAX) /* the kernel counts vectors in 32 bits */
    return tprt__fail(TPRT_UNSUPPORTED,
                      "CUDA: pieces have %lld bytes; the exchange supports less than 64 GiB",
                      bytes);
  /* all steps are multiples of the run */
  e->piece = (uint64_t)(b->piece * size / 16);
  e->place = (uint64_t)(b->place * size / 16);
  for (int i = 0; i < 2; i++) {
    e->send_step[i] = (uint64_t)(b->send_step[i] * size / 16);
    e->recv_step[i] = (uint64_t)(b->recv_step[i] * size / 16);
    e->extent[i] = (uint32_t)b->extent[i];
  }
  e->extent[2] = (uint32_t)(run / 16);
  memcpy(e->send, from, sizeof from);
  memcpy(e->recv, to, sizeof to);
  uint64_t n_vectors = (uint64_t)e->extent[0] * e->extent[1] * e->extent[2];
  tprt__fused_begin(group, FUSED_EXCHANGE, (n_vectors + FUSED_THREADS - 1) / FUSED_THREADS,
                    FUSED_THREADS, &plan);
  *launch = plan;
  return TPRT_OK;
}

tprt_status tprt__fused_plan_all_gather(const fused_group *group, tprt_dtype dtype, int n_dims,
                                        const int64_t *shape, int dim, const void *const *send,
                                        void *const *recv, fused_launch *launch) {
  int64_t n = group->config.n_ranks;
  tprt_status status = check_shape(dtype, n_dims, shape, n);
  if (!status)
    status = check_dim("dim", dim, n_dims);
  if (status)
    return status;
  int64_t outer = size_of(shape, 0, dim), run = size_of(shape, dim, n_dims);
  box b = {.piece = 0,
           .place = run,
           .send_step = {run, 0},
           .recv_step = {run * n, 0},
           .extent = {outer, 1, run}};
  return plan_exchange(group, dtype, &b, send, recv, launch);
}

tprt_status tprt__fused_plan_all_to_all(const fused_group *group, tprt_dtype dtype, int n_dims,
                                        const int64_t *shape, int split_dim, int concat_dim,
                                        const void *const *send, void *const *recv,
                                        fused_launch *launch) {
  int64_t n = group->config.n_ranks;
  tprt_status status = check_shape(dtype, n_dims, shape, n);
  if (!status)
    status = check_dim("split_dim", split_dim, n_dims);
  if (!status)
    status = check_dim("concat_dim", concat_dim, n_dims);
  if (status)
    return status;
  if (shape[split_dim] % n)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: %lld ranks do not divide dimension %d (size %lld)", (long long)n,
                      split_dim, (long long)shape[split_dim]);
  int first = split_dim < concat_dim ? split_dim : concat_dim,
      last = split_dim < concat_dim ? concat_dim : split_dim;
  int64_t outer = size_of(shape, 0, first), tail = size_of(shape, last, n_dims);
  /* distance of two outer indices, in send and in recv */
  int64_t whole = size_of(shape, first, n_dims);
  box b;
  if (split_dim < concat_dim) {
    /* a run consists of the joined dimension and those inside it; a piece is a range of the rows
     * before it */
    int64_t rows = size_of(shape, first, last) / n;
    b = (box){.piece = rows * tail,
              .place = tail,
              .send_step = {whole, tail},
              .recv_step = {whole, tail * n},
              .extent = {outer, rows, tail}};
  } else if (concat_dim < split_dim) {
    /* a run is a piece of a row; it is stored where the joined dimension has this rank */
    int64_t rows = size_of(shape, first, last);
    b = (box){.piece = tail / n,
              .place = rows * tail / n,
              .send_step = {whole, tail},
              .recv_step = {whole, tail / n},
              .extent = {outer, rows, tail / n}};
  } else {
    b = (box){.piece = tail / n,
              .place = tail / n,
              .send_step = {whole, 0},
              .recv_step = {whole, 0},
              .extent = {outer, 1, tail / n}};
  }
  return plan_exchange(group, dtype, &b, send, recv, launch);
}

void tprt__fused_plan_barrier(const fused_group *group, fused_launch *launch) {
  fused_launch plan = {0};
  tprt__fused_begin(group, FUSED_EXCHANGE, 1, FUSED_WARP, &plan);
  *launch = plan;
}
