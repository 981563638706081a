/* Gathers rows and multiplies them in a pipeline: a slice is copied while the slice before it is
 * multiplied. */
#include "cuda/fused/fused_group.h"
#include "cuda/gemm/copier.h"
#include "cuda/gemm/fused_gemm.h"

/* A checked call. */
typedef struct gathering {
  tprt_cuda_gather rows;
  int64_t n_blocks, block; /* `block`: rows of a block */
  int64_t slice;           /* rows of a rank in a block */
  int n_ranks, first_rank, n_here;
  int n_gemms; /* per rank */
  const tprt_cuda_gemm *gemms;
  const void *input[TPRT_CUDA_MAX_RANKS], *gathered[TPRT_CUDA_MAX_RANKS];
} gathering;

static tprt_status refuse(int rank, const char *what) {
  return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: matmul of rank %d with gathered rows %s", rank,
                    what);
}

/* ---- slices ---- */

static int64_t rows_of(const gathering *g, int owner) {
  int64_t left = g->block - owner * g->slice;
  return left < g->slice ? (left > 0 ? left : 0) : g->slice;
}

static size_t slice_bytes(const gathering *g) {
  return (size_t)(g->slice * g->rows.width) * tprt_dtype_size(g->rows.dtype);
}

static char *place_of(const gathering *g, int rank, int owner) {
  return (char *)(uintptr_t)g->gathered[rank] + (size_t)owner * slice_bytes(g);
}

/* Returns the bytes of a row of aux. */
static size_t aux_row(const tprt_cuda_gemm *gemm) {
  size_t n = (size_t)tprt_cuda_aux_row(gemm->epilogue, gemm->n);
  bool bits = gemm->epilogue == TPRT_CUDA_RELU || gemm->epilogue == TPRT_CUDA_RELU_GRADIENT;
  return bits ? n / 8 : n * tprt_dtype_size(gemm->out_dtype);
}

/* Returns the part of a GEMM of `rank` for the rows of `owner`. A rank's own rows are read in
 * place. */
static tprt_cuda_gemm slice_of(const gathering *g, const tprt_cuda_gemm *gemm, int rank,
                               int owner) {
  int64_t first = owner * g->slice, row_out = gemm->row_out ? gemm->row_out : gemm->n;
  size_t before = (size_t)(first * row_out) * tprt_dtype_size(gemm->out_dtype);
  tprt_cuda_gemm part = *gemm;
  part.m = rows_of(g, owner);
  part.batch = g->n_blocks;
  part.step_a = (rank == owner ? g->slice : g->block) * g->rows.width;
  part.step_b = 0;
  part.step_out = g->block * row_out;
  part.a = rank == owner ? g->input[owner] : place_of(g, rank, owner);
  part.out = gemm->out ? (char *)gemm->out + before : NULL;
  part.c = gemm->c ? (const char *)gemm->c + before : NULL;
  part.aux = gemm->aux ? (char *)gemm->aux + (size_t)first * aux_row(gemm) : NULL;
  return part;
}

/* Runs `step` for all GEMMs of pipeline step i: each rank multiplies the rows of the i-th rank
 * after it. */
static tprt_status each_gemm(const gathering *g, int i, tprt__cuda_gemm_step *step,
                             tprt_cuda_blas *blas, tprt_cuda_stream stream) {
  tprt_status status = TPRT_OK;
  for (int p = 0; p < g->n_here * g->n_gemms && !status; p++) {
    int rank = g->first_rank + p / g->n_gemms, owner = (rank + i) % g->n_ranks;
    tprt_cuda_gemm slice = slice_of(g, &g->gemms[p], rank, owner);
    status = slice.m ? step(blas, &slice, stream) : TPRT_OK;
  }
  return status;
}

/* Enqueues all copies of pipeline step i. */
static tprt_status copy_slices(const gathering *g, int i, tprt_cuda_copier *copier) {
  tprt_status status = TPRT_OK;
  for (int rank = g->first_rank; rank < g->first_rank + g->n_here && !status; rank++) {
    int owner = (rank + i) % g->n_ranks;
    size_t row = (size_t)g->rows.width * tprt_dtype_size(g->rows.dtype),
           bytes = (size_t)rows_of(g, owner) * row;
    const tprt__copier_runs runs = {.to = place_of(g, rank, owner),
                                    .from = g->input[owner],
                                    .to_step = (size_t)g->block * row,
                                    .from_step = (size_t)g->slice * row,
                                    .bytes = bytes,
                                    .n = (size_t)g->n_blocks};
    if (bytes && runs.from != runs.to)
      status = tprt__copier_copy(copier, &runs);
  }
  return status;
}

/* ---- checks ---- */

/* Keeps sizes below 2^60 bytes for any type, so that no product of sizes overflows. */
static bool is_size(const gathering *g, int64_t row) {
  return row >= 1 && row <= (INT64_C(1) << 57) / (g->rows.tokens + g->n_ranks);
}

static tprt_status check_rows(gathering *g) {
  const tprt_cuda_gather *r = &g->rows;
  size_t size = tprt_dtype_size(r->dtype);
  if (r->dtype != TPRT_F32 && r->dtype != TPRT_F16 && r->dtype != TPRT_BF16)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "CUDA: rows of %s cannot be gathered for matmuls; supported are f32, f16 and bf16",
        tprt_dtype_name(r->dtype));
  if (r->tokens < 0 || r->tokens > INT64_C(1) << 57 || !is_size(g, r->width))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: invalid sizes: %lld rows of %lld elements cannot be gathered",
                      (long long)r->tokens, (long long)r->width);
  g->n_blocks = r->blocks > 1 ? r->blocks : 1;
  g->block = r->tokens / g->n_blocks;
  if (r->blocks < 0 ||
      (r->blocks > 1 && (r->blocks > r->tokens || r->tokens % (r->blocks * g->n_ranks))))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: %lld rows in %lld blocks cannot be gathered from %d ranks",
                      (long long)r->tokens, (long long)r->blocks, g->n_ranks);
  g->slice = (g->block + g->n_ranks - 1) / g->n_ranks;
  if ((size_t)(g->slice * r->width) * size % 16)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "CUDA: the %lld rows of a rank, of %lld elements of %s, are not a multiple of 16 bytes",
        (long long)g->slice, (long long)r->width, tprt_dtype_name(r->dtype));
  return TPRT_OK;
}

static tprt_status check_pointers(const tprt_cuda_group *group, gathering *g) {
  const void *gathered[TPRT_CUDA_MAX_RANKS];
  for (int i = 0; i < TPRT_CUDA_MAX_RANKS; i++)
    gathered[i] = g->rows.gathered[i];
  tprt_status status =
      tprt__cuda_pointers(group, "input", g->rows.input, FUSED_SYMMETRIC, g->input);
  return status ? status
                : tprt__cuda_pointers(group, "gathered", gathered, FUSED_LOCAL, g->gathered);
}

static tprt_status check_gemm(const gathering *g, int rank, const tprt_cuda_gemm *gemm) {
  int64_t row_out = gemm->row_out ? gemm->row_out : gemm->n;
  if (gemm->m != g->rows.tokens || gemm->k != g->rows.width)
    return refuse(rank, "does not have the shape of the rows");
  if (gemm->dtype != g->rows.dtype)
    return refuse(rank, "has a different dtype than the rows");
  if (gemm->batch > 1 || gemm->transpose_a)
    return refuse(rank, "has a batch or a transposed a");
  if (gemm->a || gemm->row_a)
    return refuse(rank, "sets a or row_a");
  if (gemm->n != 0 && (!is_size(g, gemm->n) || !is_size(g, row_out)))
    return refuse(rank, "has rows of out that are too large");
  if (gemm->aux && g->n_blocks > 1)
    return refuse(rank, "has aux, which is not supported for rows in blocks");
  if (gemm->bias_gradient)
    return refuse(rank, "has a bias_gradient");
  if ((uint64_t)g->slice * (uint64_t)row_out * tprt_dtype_size(gemm->out_dtype) % 16)
    return refuse(rank, "has slices of out that do not begin at multiples of 16 bytes");
  return TPRT_OK;
}

/* Checks everything that can be refused, so that a refused call enqueues nothing. */
static tprt_status check(const tprt_cuda_group *group, tprt_cuda_blas *blas, gathering *g) {
  tprt_status status = check_rows(g);
  if (!status)
    status = check_pointers(group, g);
  for (int p = 0; p < g->n_here * g->n_gemms && !status; p++)
    status = check_gemm(g, g->first_rank + p / g->n_gemms, &g->gemms[p]);
  for (int i = 0; i < g->n_ranks && !status; i++)
    status = each_gemm(g, i, tprt__cuda_gemm_check, blas, NULL);
  return status;
}

/* ---- the call ---- */

/* Copies the rows of step i while those of step i - 1 are multiplied. All ranks synchronize before
 * the first copy, when all have their rows, and after the last copy from another rank. A rank's own
 * rows are copied last, for later readers of `gathered`. */
static tprt_status enqueue(const gathering *g, tprt_cuda_group *group, tprt_cuda_copier *copier,
                           tprt_cuda_blas *blas, tprt_cuda_stream stream) {
  tprt_status status = tprt__cuda_barrier(group, tprt__copier_stream(copier));
  for (int i = 1; i < g->n_ranks && !status; i++) {
    status = copy_slices(g, i, copier);
    if (!status)
      status = each_gemm(g, i - 1, tprt_cuda_multiply, blas, stream);
    if (!status)
      status = tprt__copier_join(copier, stream);
  }
  if (!status)
    status = tprt__cuda_barrier(group, tprt__copier_stream(copier));
  if (!status)
    status = copy_slices(g, 0, copier);
  return status ? status : each_gemm(g, g->n_ranks - 1, tprt_cuda_multiply, blas, stream);
}

/* Enqueues the call: the copier starts after the work in the stream, and in the end the stream
 * waits for the copier. */
static tprt_status run(const gathering *g, tprt_cuda_group *group, tprt_cuda_copier *copier,
                       tprt_cuda_blas *blas, tprt_cuda_stream stream) {
  tprt_status status = tprt__copier_fork(copier, stream);
  if (status)
    return status;
  status = enqueue(g, group, copier, blas, stream);
  /* also after a failure: otherwise a capture could not be ended */
  tprt_status joined = tprt__copier_join(copier, stream);
  return status ? status : joined;
}

static gathering gathering_of(const tprt_cuda_group *group, int n_gemms) {
  const tprt_cuda_group_config *config = tprt__cuda_group_config(group);
  bool all = config->rank == TPRT_CUDA_ALL_RANKS;
  return (gathering){.n_ranks = config->n_ranks,
                     .first_rank = all ? 0 : config->rank,
                     .n_here = all ? config->n_ranks : 1,
                     .n_gemms = n_gemms};
}

tprt_status tprt__cuda_gather(tprt_cuda_group *group, tprt_cuda_copier *copier,
                              const tprt_cuda_gather *rows, tprt_cuda_stream stream) {
  gathering g = gathering_of(group, 0);
  g.rows = *rows;
  tprt_status status = check_rows(&g);
  for (int r = 0; r < g.n_ranks; r++) {
    g.input[r] = rows->input[r];
    g.gathered[r] = rows->gathered[r];
  }
  return status ? status : run(&g, group, copier, NULL, stream);
}

tprt_status tprt_cuda_gather_multiply(tprt_cuda_group *group, tprt_cuda_copier *copier,
                                      tprt_cuda_blas *blas, const tprt_cuda_gather *rows,
                                      const tprt_cuda_gemm *gemms, int n_gemms,
                                      tprt_cuda_stream stream) {
  TPRT__NEED(group);
  TPRT__NEED(copier);
  TPRT__NEED(blas);
  TPRT__NEED(rows);
  TPRT__NEED(gemms);
  gathering g = gathering_of(group, n_gemms);
  tprt_status status = tprt__struct_copy(&g.rows, sizeof g.rows, rows, "tprt_cuda_gather");
  if (status)
    return status;
  if (n_gemms < 1 || n_gemms > TPRT_CUDA_MAX_GATHERED)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: %d matmuls with gathered rows; 1 to %d are supported", n_gemms,
                      TPRT_CUDA_MAX_GATHERED);
  tprt_cuda_gemm read[TPRT_CUDA_MAX_RANKS * TPRT_CUDA_MAX_GATHERED] = {{0}};
  for (int p = 0; p < g.n_here * n_gemms && !status; p++)
    status = tprt__struct_copy(&read[p], sizeof read[p], &gemms[p], "tprt_cuda_gemm");
  g.gemms = read;
  if (!status)
    status = check(group, blas, &g);
  return status ? status : run(&g, group, copier, blas, stream);
}
