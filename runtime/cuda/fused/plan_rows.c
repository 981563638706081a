/* Plans reductions of rows, and chooses their algorithm. */
#include "cuda/fused/plan.h"

#include <math.h>
#include <string.h>

_Static_assert((int)TPRT_CUDA_PUSH == (int)FUSED_PUSH && (int)TPRT_CUDA_PULL == (int)FUSED_PULL &&
                   (int)TPRT_CUDA_SLICES == (int)FUSED_SLICES,
               "algorithms are numbered as in the kernels");
_Static_assert((int)TPRT_CUDA_RMS_NORM == (int)FUSED_RMS_NORM &&
                   (int)TPRT_CUDA_LAYER_NORM == (int)FUSED_LAYER_NORM,
               "norms");
_Static_assert((int)TPRT_CUDA_STATIC == (int)FUSED_STATIC &&
                   (int)TPRT_CUDA_PER_TOKEN == (int)FUSED_PER_TOKEN &&
                   (int)TPRT_CUDA_PER_GROUP == (int)FUSED_PER_GROUP,
               "quantizations");
_Static_assert((int)TPRT_CUDA_GROUP == (int)FUSED_GROUP, "groups");

/* The limits are bytes of the tensor. One shot reads n_ranks times as much as two shots, which need
 * another round of signals and then the stores. The thresholds come from public measurements on
 * H100, not from measurements of this library. */
tprt_cuda_algorithm tprt_cuda_choose(tprt_dtype dtype, int64_t tokens, int64_t hidden, int n_ranks,
                                     size_t staging_bytes) {
  static const struct {
    int n_ranks;
    uint64_t most_of_pull;
  } rows[] = {{2, 64u << 20}, {4, 2u << 20}, {8, 512u << 10}};
  if (tokens <= 0 || hidden <= 0 || n_ranks <= 1)
    return TPRT_CUDA_PULL;
  uint64_t row_bytes = (uint64_t)hidden * tprt_dtype_size(dtype),
           bytes = row_bytes * (uint64_t)tokens;
  if (bytes <= (128u << 10) / (unsigned)n_ranks && bytes * 2 * (unsigned)n_ranks <= staging_bytes)
    return TPRT_CUDA_PUSH;
  if (tokens < n_ranks)
    return TPRT_CUDA_PULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (n_ranks <= rows[i].n_ranks)
      return bytes <= rows[i].most_of_pull ? TPRT_CUDA_PULL : TPRT_CUDA_SLICES;
  return TPRT_CUDA_SLICES;
}

/* True if `hidden` matters: a norm, a quantization or a bias depends on it. If not, the tensor is
 * one long row. */
static bool has_rows(const tprt_cuda_rows *r) { return r->norm || r->quantize || r->bias; }

static tprt_status check_shape(const tprt_cuda_rows *r) {
  if (r->tokens < 0 || r->hidden < 1 || r->tokens > INT64_MAX / 8 / r->hidden)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: invalid shape of rows: %lld x %lld",
                      (long long)r->tokens, (long long)r->hidden);
  int64_t lanes = 16 / (int64_t)tprt_dtype_size(r->dtype);
  if (r->hidden % lanes)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "CUDA: rows of %lld elements of %s; fused kernels need a multiple of %lld",
                      (long long)r->hidden, tprt_dtype_name(r->dtype), (long long)lanes);
  if (has_rows(r) && r->hidden > TPRT_CUDA_MAX_HIDDEN)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "CUDA: rows of %lld elements; at most %d are supported with norm, bias or quantization",
        (long long)r->hidden, TPRT_CUDA_MAX_HIDDEN);
  return TPRT_OK;
}

/* Checks blocks, which describe tensors that are split along a dimension other than the first. With
 * blocks, rows of the tensor are processed as rows. */
static tprt_status check_blocks(const tprt_cuda_rows *r, tprt_cuda_algorithm algorithm) {
  if (r->blocks < 0 || (r->blocks > 1 && r->tokens % r->blocks))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: %lld rows cannot be divided into %lld blocks",
                      (long long)r->tokens, (long long)r->blocks);
  if (r->blocks > 1 && algorithm != TPRT_CUDA_SLICES)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: blocks need algorithm TPRT_CUDA_SLICES");
  if (r->blocks > 1 && r->hidden > TPRT_CUDA_MAX_HIDDEN)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "CUDA: rows of %lld elements; at most %d are supported in blocks",
                      (long long)r->hidden, TPRT_CUDA_MAX_HIDDEN);
  return TPRT_OK;
}

static tprt_status check_options(const tprt_cuda_rows *r) {
  if (r->norm != TPRT_CUDA_NO_NORM && r->norm != TPRT_CUDA_RMS_NORM &&
      r->norm != TPRT_CUDA_LAYER_NORM)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: norm %d does not exist", (int)r->norm);
  if (r->norm && !r->gamma)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: a norm needs gamma");
  if (r->norm && !(r->epsilon >= 0 && isfinite(r->epsilon)))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: invalid epsilon %g of the norm",
                      (double)r->epsilon);
  if (!r->norm && (r->gamma || r->beta))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: gamma and beta need a norm");
  if (r->norm == TPRT_CUDA_RMS_NORM && r->beta)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: RMS norm has no beta");
  if ((unsigned)r->quantize > TPRT_CUDA_PER_GROUP)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: quantization %d does not exist",
                      (int)r->quantize);
  if (r->quantize == TPRT_CUDA_STATIC && !r->static_scale)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: static quantization needs static_scale");
  bool scales = r->quantize == TPRT_CUDA_PER_TOKEN || r->quantize == TPRT_CUDA_PER_GROUP;
  if (!(r->least_largest >= 0 && isfinite(r->least_largest) && r->least_scale >= 0 &&
        isfinite(r->least_scale)))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: invalid limits of scales: least_largest %g and least_scale %g",
                      (double)r->least_largest, (double)r->least_scale);
  if (!scales && (r->least_largest > 0 || r->least_scale > 0))
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "CUDA: least_largest and least_scale need computed scales (per token or per group)");
  if (!r->quantize && r->divides)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: divides needs quantization");
  if (r->quantize == TPRT_CUDA_PER_GROUP && r->hidden % FUSED_GROUP)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "CUDA: quantization by groups of %d needs rows of a multiple of that size, not of %lld",
        FUSED_GROUP, (long long)r->hidden);
  if ((uintptr_t)r->bias % 16 || (uintptr_t)r->gamma % 16 || (uintptr_t)r->beta % 16)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: bias, gamma and beta need addresses that are multiples of 16");
  return TPRT_OK;
}

static tprt_status check_algorithm(const fused_group *group, const tprt_cuda_rows *r,
                                   tprt_cuda_algorithm algorithm) {
  if ((unsigned)algorithm >= TPRT_CUDA_N_ALGORITHMS)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: algorithm %d does not exist", (int)algorithm);
  if ((r->residual_sharded || r->out_sharded || r->input_sent) && algorithm != TPRT_CUDA_SLICES)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: sharded tensors and input_sent need algorithm TPRT_CUDA_SLICES");
  for (int i = 0; i < group->config.n_ranks && algorithm == TPRT_CUDA_PULL; i++)
    if (r->input[i] && r->input[i] == r->out[i])
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "CUDA: out and input of rank %d are the same buffer, which other ranks "
                        "read; TPRT_CUDA_PULL needs separate buffers",
                        i);
  return TPRT_OK;
}

static tprt_status fill_pointers(const fused_group *group, const tprt_cuda_rows *r,
                                 tprt_cuda_algorithm algorithm, fused_rows *to) {
  bool slices = algorithm == TPRT_CUDA_SLICES;
  fused_reach residual = slices && !r->residual_sharded ? FUSED_SYMMETRIC : FUSED_LOCAL;
  fused_reach out = slices && !r->out_sharded ? FUSED_SYMMETRIC : FUSED_LOCAL;
  bool scales = r->quantize == TPRT_CUDA_PER_TOKEN || r->quantize == TPRT_CUDA_PER_GROUP;
  const struct {
    const char *name;
    const void *from;
    void *to;
    fused_reach reach;
    bool optional, used;
  } arrays[] = {
      {"input", r->input, to->input,
       algorithm == TPRT_CUDA_PUSH || r->input_sent ? FUSED_LOCAL : FUSED_SYMMETRIC, false, true},
      {"residual", r->residual, to->residual, FUSED_LOCAL, true, true},
      {"residual_out", r->residual_out, to->residual_out, residual, true, true},
      {"out", r->out, to->out, out, true, true},
      {"quantized", r->quantized, to->quantized, out, false, r->quantize != TPRT_CUDA_NO_QUANTIZE},
      {"scale", r->scale, to->scale, out, false, scales},
  };
  bool any_out = false;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    const void *from[FUSED_RANKS], *checked[FUSED_RANKS];
    memcpy(from, arrays[i].from, sizeof from);
    if (!arrays[i].used)
      continue;
    tprt_status status = tprt__fused_pointers(group, arrays[i].name, from, arrays[i].reach,
                                              arrays[i].optional, checked);
    if (status)
      return status;
    for (int rank = 0; rank < FUSED_RANKS; rank++)
      any_out = any_out || (i >= 2 && checked[rank]);
    memcpy(arrays[i].to, checked, sizeof checked);
  }
  return any_out ? TPRT_OK : tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: the rows have no outputs");
}

/* Returns a number of threads for which every thread has the same number of vectors, give or take
 * one. */
static uint32_t threads_for(uint32_t row_vectors) {
  uint32_t each = (row_vectors + FUSED_THREADS - 1) / FUSED_THREADS;
  uint32_t threads = (row_vectors + each - 1) / each;
  return (threads + FUSED_WARP - 1) / FUSED_WARP * FUSED_WARP;
}

/* Returns the row length for a tensor without rows: enough rows for all CTAs, and at most two
 * vectors per thread. */
static uint32_t piece_of(uint64_t vectors, int n_ctas) {
  enum { MAX_THREADS = 2 * FUSED_THREADS };
  uint64_t each = (vectors + (uint64_t)n_ctas - 1) / (uint64_t)n_ctas;
  each = (each + FUSED_WARP - 1) / FUSED_WARP * FUSED_WARP;
  return each < MAX_THREADS ? (uint32_t)each : MAX_THREADS;
}

tprt_status tprt__fused_plan_rows(const fused_group *group, const tprt_cuda_rows *given,
                                  fused_launch *launch) {
  tprt_cuda_rows copy = {0}, *r = &copy;
  tprt_status status = tprt__struct_copy(r, sizeof *r, given, "tprt_cuda_rows");
  if (status)
    return status;
  uint64_t n_ranks = (uint64_t)group->config.n_ranks;
  tprt_cuda_algorithm algorithm = r->algorithm;
  if (algorithm == TPRT_CUDA_AUTO)
    algorithm = r->residual_sharded || r->out_sharded || r->input_sent || r->blocks > 1
                    ? TPRT_CUDA_SLICES
                    : tprt_cuda_choose(r->dtype, r->tokens, r->hidden, (int)n_ranks,
                                       group->config.staging_bytes);
  bool has_lines = has_rows(r) || r->blocks > 1; /* otherwise the tensor is cut anyhow */
  bool is_short = !has_lines || r->hidden <= FUSED_FEW_VALUES * FUSED_THREADS;
  fused_kernel kernel;
  fused_launch plan = {0};
  fused_rows *rows = &plan.args.of.rows;
  status = check_algorithm(group, r, algorithm);
  if (!status)
    status = tprt__fused_kernel_for(is_short ? FUSED_REDUCE_SHORT_ROWS_F32 : FUSED_REDUCE_ROWS_F32,
                                    r->dtype, &kernel);
  if (!status)
    status = check_shape(r);
  if (!status)
    status = check_options(r);
  if (!status)
    status = check_blocks(r, algorithm);
  if (!status)
    status = fill_pointers(group, r, algorithm, rows);
  if (status)
    return status;

  bool slices = algorithm == TPRT_CUDA_SLICES;
  uint64_t line = (uint64_t)r->hidden * tprt_dtype_size(r->dtype) / 16,
           n_blocks = r->blocks > 1 ? (uint64_t)r->blocks : 1,
           block_rows = (uint64_t)r->tokens / n_blocks,
           slice_rows = slices ? (block_rows + n_ranks - 1) / n_ranks : block_rows;
  rows->n_vectors = line * (uint64_t)r->tokens;
  rows->block_vectors = line * block_rows;
  rows->slice_vectors = line * slice_rows;
  rows->row_vectors =
      has_lines ? (uint32_t)line : piece_of(rows->slice_vectors, group->n_ctas[kernel]);
  rows->algorithm = (uint8_t)algorithm;
  rows->norm = (uint8_t)r->norm;
  rows->quantize = (uint8_t)r->quantize;
  rows->match_unfused = r->match_unfused;
  rows->sharded = (r->residual_sharded ? FUSED_SHARDED_RESIDUAL : 0) |
                  (r->out_sharded ? FUSED_SHARDED_OUT : 0) | (r->input_sent ? FUSED_SENT_INPUT : 0);
  rows->epsilon = r->epsilon;
  rows->divides = r->divides;
  rows->least_largest = r->least_largest;
  rows->least_scale = r->least_scale;
  rows->static_scale = r->static_scale;
  rows->bias = r->bias;
  rows->gamma = r->gamma;
  rows->beta = r->beta;
  uint64_t n_mine = n_blocks * rows->slice_vectors,
           n_rows = n_mine ? (n_mine + rows->row_vectors - 1) / rows->row_vectors : 0;
  tprt__fused_begin(group, kernel, n_rows, n_rows ? threads_for(rows->row_vectors) : 0, &plan);
  if (algorithm == TPRT_CUDA_PUSH)
    status = tprt__fused_staging(group, rows->n_vectors * 16, &plan);
  if (!status)
    *launch = plan;
  return status;
}
