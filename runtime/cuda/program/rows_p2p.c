/* Runs fused reductions with one kernel per GPU, which reads and writes the memory of the other
 * GPUs.
 *
 * Other ranks cannot use the program's buffers, because their addresses may differ between ranks:
 * the program may choose between buffers differently on each rank. So inputs are copied into an
 * exchange buffer, or a matmul writes its result there, or a sliced matmul writes each slice to the
 * rank that reduces it. Results that other ranks store arrive in a second exchange buffer and are
 * copied from there.
 *
 * Both exchange buffers are shared by all calls of a communicator; the context's stream orders the
 * calls. A kernel ends only when all ranks have finished reading and storing the data of its
 * call. */
#include "cuda/program/rows.h"

#include <string.h>

static int64_t whole_bytes(const tprt__site *site) {
  return site->rows.tokens * site->rows.hidden * (int64_t)tprt_dtype_size(site->op.dtype);
}

/* Returns the bytes of a result of all ranks together. */
static int64_t result_bytes(const tprt__site *site, tprt__rows_result which) {
  return site->rows.tokens * tprt__rows_result_width(&site->rows, which) *
         (int64_t)tprt_dtype_size(tprt__rows_result_dtype(site, which));
}

static size_t aligned(int64_t bytes) { return tprt__round_up((size_t)bytes, 256); }

/* Lays out the exchange buffer for results: the results in their order, then the residual sum.
 * Writes their offsets and returns the total bytes. */
enum { RESIDUAL_OUT = TPRT__ROWS_RESULTS, N_RESULTS };
static size_t lay_out(const tprt__site *site, size_t offset[N_RESULTS]) {
  size_t at = 0;
  for (int i = 0; i < N_RESULTS; i++) {
    bool has = i == RESIDUAL_OUT ? tprt__site_has(site, TPRT_OUT_RESIDUAL)
                                 : tprt__rows_has_result(site, i);
    offset[i] = at;
    if (has)
      at += aligned(i == RESIDUAL_OUT ? whole_bytes(site) : result_bytes(site, i));
  }
  return at;
}

/* Chooses the algorithm. It depends only on the shape and on the size of the staging, so all ranks
 * agree. */
static tprt_cuda_algorithm choose(const tprt__site *site, const tprt__gpu_peers *peers,
                                  int n_ranks) {
  const tprt__rows *rows = &site->rows;
  if (rows->layout != TPRT_ROWS_WHOLE || rows->algorithm == TPRT_CUDA_SLICES)
    return TPRT_CUDA_SLICES;
  tprt_cuda_algorithm fits = tprt_cuda_choose(site->op.dtype, rows->tokens, rows->hidden, n_ranks,
                                              tprt__gpu_peers_staging(peers));
  return rows->algorithm == TPRT_CUDA_AUTO || fits == TPRT_CUDA_PUSH ? fits : TPRT_CUDA_PULL;
}

tprt_status tprt__rows_bind_p2p(tprt_context *context, const tprt__site *site,
                                const tprt__site_state *state) {
  tprt__gpu_peers *peers = tprt__gpu_site_of(state)->rows->group->peers;
  int64_t input_bytes = 0;
  size_t offset[N_RESULTS];
  bool slices = choose(site, peers, tprt_comm_size(state->comm)) == TPRT_CUDA_SLICES;
  tprt_status status = tprt__rows_input_bytes(site, state, &input_bytes);
  if (!status)
    status = tprt__rows_reserve_p2p(context, peers, (size_t)input_bytes,
                                    slices ? lay_out(site, offset) : 0);
  return status;
}

tprt_status tprt__rows_bind_matmul_p2p(tprt_context *context, const tprt__site *site,
                                       const tprt__site_state *state) {
  bool slices = choose(site, tprt__gpu_site_of(state)->rows->group->peers,
                       tprt_comm_size(state->comm)) == TPRT_CUDA_SLICES;
  return slices ? tprt__rows_bind_slices(context, site, state) : TPRT_OK;
}

/* Makes the input available to the other ranks: computes the matmul into the exchange buffer, or
 * copies the input there. With PUSH, an input that is not a matmul result is used in place. */
static tprt_status publish_input(tprt_context *context, const tprt__site *site,
                                 const tprt__site_state *state, const tprt__rows_buffers *b,
                                 tprt_cuda_rows *rows) {
  int me = tprt_comm_rank(state->comm);
  void *room = tprt__gpu_peers_inputs(tprt__gpu_site_of(state)->rows->group->peers)[me];
  const tprt__gpu_queue queue = tprt__gpu_queue_of(context);
  if (site->rows.k)
    return tprt__gpu_contraction_run(queue, tprt__gpu_site_of(state)->rows->product, b->a, b->b,
                                     room);
  if (rows->algorithm != TPRT_CUDA_PUSH)
    return tprt__gpu_copy(tprt__gpu_of(context)->gpu, room, b->input, (size_t)whole_bytes(site));
  rows->input[me] = b->input;
  return TPRT_OK;
}

static tprt_status reduce(tprt_context *context, const tprt__site *site,
                          const tprt__site_state *state, const tprt__rows_buffers *b,
                          tprt_cuda_rows *rows) {
  const tprt__gpu_peers *peers = tprt__gpu_site_of(state)->rows->group->peers;
  void *const *rooms = tprt__gpu_peers_inputs(peers);
  for (int r = 0; r < tprt_comm_size(state->comm); r++)
    rows->input[r] = rooms[r];
  if (tprt__gpu_site_of(state)->rows->sliced)
    return tprt__rows_multiply_p2p(context, site, state, b, rows);
  tprt_status status = publish_input(context, site, state, b, rows);
  return status ? status : tprt__gpu_peers_reduce(tprt__gpu_of(context)->gpu, peers, rows);
}

/* A result of a call: where the kernels store it, and where the program wants it. */
typedef struct result {
  void *at; /* a member of tprt_cuda_rows: an array of pointers, by rank */
  void *to;
  bool stored; /* other ranks store into it too, so it goes through the exchange buffer */
  size_t bytes;
} result;

tprt_status tprt__rows_run_p2p(tprt_context *context, const tprt__site *site,
                               const tprt__site_state *state, const tprt__rows_buffers *b) {
  const tprt__gpu_peers *peers = tprt__gpu_site_of(state)->rows->group->peers;
  int n = tprt_comm_size(state->comm), me = tprt_comm_rank(state->comm);
  void *const *rooms = tprt__gpu_peers_outputs(peers);
  tprt_cuda_rows rows = tprt__rows_describe(site, b);
  rows.algorithm = choose(site, peers, n);
  bool slices = rows.algorithm == TPRT_CUDA_SLICES;
  rows.blocks = slices ? site->rows.blocks : 0;
  rows.residual_sharded = site->rows.layout != TPRT_ROWS_WHOLE;
  rows.out_sharded = site->rows.layout == TPRT_ROWS_SCATTERED;
  rows.residual[me] = b->residual;
  result results[N_RESULTS] = {[TPRT__ROWS_RESULT_OUT] = {.at = rows.out},
                               [TPRT__ROWS_RESULT_QUANTIZED] = {.at = rows.quantized},
                               [TPRT__ROWS_RESULT_SCALE] = {.at = rows.scale},
                               [RESIDUAL_OUT] = {rows.residual_out, b->residual_out,
                                                 slices && !rows.residual_sharded,
                                                 (size_t)whole_bytes(site)}};
  size_t offset[N_RESULTS];
  (void)lay_out(site, offset);
  for (int i = 0; i < N_RESULTS; i++) {
    result *made = &results[i];
    void *at[TPRT_CUDA_MAX_RANKS] = {NULL};
    if (i != RESIDUAL_OUT)
      *made = (result){made->at, tprt__rows_buffer(b, i), slices && !rows.out_sharded,
                       (size_t)result_bytes(site, i)};
    at[me] = made->to;
    for (int r = 0; r < n && made->to && made->stored; r++)
      at[r] = (char *)rooms[r] + offset[i];
    memcpy(made->at, at, sizeof at);
  }
  tprt_status status = reduce(context, site, state, b, &rows);
  for (int i = 0; i < N_RESULTS && !status; i++) {
    if (results[i].to && results[i].stored)
      status = tprt__gpu_copy(tprt__gpu_of(context)->gpu, results[i].to,
                              (char *)rooms[me] + offset[i], results[i].bytes);
  }
  return status;
}
