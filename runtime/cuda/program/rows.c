/* Runs all-reduces and reduce-scatters with fused row epilogues, optionally after a matmul, in
 * programs for GPUs (TPRT_SITE_FUSED_REDUCE).
 *
 * Virtual ranks of one GPU: the last rank that arrives launches one kernel for all ranks. Ranks
 * with one GPU each that can access each other's memory: every rank launches its own kernel
 * (rows_p2p.c). Otherwise the site runs unfused: as collectives, and between them the same kernel
 * on a group of this rank only, which applies the row epilogues.
 *
 * If the kernels can access all ranks and cuBLASLt supports the slices, a matmul is computed in
 * slices, each stored at the rank that reduces it. Otherwise it is computed whole, as a
 * contraction, into memory of this rank, and reduced afterwards. */
#include "cuda/program/rows.h"

#include <stdio.h>
#include <string.h>

/* ---- Binding ---- */

tprt_status tprt__rows_prepare(tprt_context *context, int64_t bytes) {
  tprt_status status =
      tprt__gpu_buffer_reserve(context, bytes, &tprt__gpu_of(context)->rows_scratch);
  return status || tprt__gpu_of(context)->alone
             ? status
             : tprt__gpu_ranks_create(tprt__gpu_of(context)->gpu, 1, &tprt__gpu_of(context)->alone);
}

/* ---- Mode of a communicator: all ranks choose the same one ---- */

/* Selects the unfused mode, with the thread's error text as the reason. */
static void use_unfused(struct tprt__rows_group *group) {
  group->mode = TPRT__ROWS_UNFUSED;
  snprintf(group->why, sizeof group->why, "%s", tprt_last_error());
}

/* Selects the shared-GPU mode if all ranks are virtual ranks of one GPU on which their blocks can
 * run concurrently. */
static tprt_status try_shared_gpu(tprt_context *context, struct tprt__rows_group *group) {
  tprt_comm *comm = group->comm;
  int n = tprt_comm_size(comm);
  int64_t numbers[TPRT_CUDA_MAX_RANKS], own = tprt__gpu_number(tprt__gpu_of(context)->gpu);
  tprt_status status = TPRT_OK;
  if (n > 1 && comm->transport->backend != &tprt__backend_loopback)
    return TPRT_OK;
  if (tprt_comm_rank(comm) == 0) {
    status = tprt__gpu_ranks_create(tprt__gpu_of(context)->gpu, n, &group->ranks);
    if (status == TPRT_UNSUPPORTED) {
      own = -1;
      status = TPRT_OK;
    }
  }
  const tprt_op gather = tprt_op_flat(TPRT_OP_ALL_GATHER, &own, numbers, 1, TPRT_I64, NULL);
  if (!status)
    status = tprt__comm_run_internal(comm, &gather);
  bool together = !status && numbers[0] >= 0;
  for (int r = 1; r < n && together; r++)
    together = numbers[r] == numbers[0];
  group->mode = together ? TPRT__ROWS_SHARED_GPU : TPRT__ROWS_UNFUSED;
  return status;
}

/* Selects the peer-to-peer mode if each rank has its own GPU that can access the others; else the
 * unfused mode. Fails only if the communicator has failed. */
static tprt_status try_p2p(tprt_context *context, struct tprt__rows_group *group) {
  tprt_status status = tprt__gpu_peers_create(tprt__gpu_of(context)->gpu, group->comm,
                                              tprt__comm_timeout(group->comm), &group->peers);
  if (status && tprt_comm_status(group->comm))
    return status;
  if (status)
    use_unfused(group);
  else
    group->mode = TPRT__ROWS_P2P;
  return TPRT_OK;
}

/* Chooses the mode of a communicator. */
static tprt_status decide(tprt_context *context, struct tprt__rows_group *group) {
  int n = tprt_comm_size(group->comm);
  if (n > TPRT_CUDA_MAX_RANKS) {
    (void)tprt__fail(TPRT_UNSUPPORTED, "the group has %d ranks; one kernel supports at most %d", n,
                     TPRT_CUDA_MAX_RANKS);
    use_unfused(group);
    return TPRT_OK;
  }
  tprt_status status = try_shared_gpu(context, group);
  return status || group->mode == TPRT__ROWS_SHARED_GPU || n == 1 ? status
                                                                  : try_p2p(context, group);
}

tprt_status tprt__rows_find_group(tprt_context *context, tprt_comm *comm,
                                  struct tprt__rows_group **group) {
  struct tprt__rows_group *at = tprt__gpu_of(context)->rows_groups;
  while (at && at->comm != comm)
    at = at->next;
  *group = at;
  if (at)
    return TPRT_OK;
  at = tprt__alloc(sizeof *at);
  if (!at)
    return tprt__fail_memory(sizeof *at);
  at->comm = comm;
  at->next = tprt__gpu_of(context)->rows_groups;
  /* freed with the context, even if the next step fails */
  tprt__gpu_of(context)->rows_groups = *group = at;
  return decide(context, at);
}

/* ---- Sites ---- */

int64_t tprt__rows_block(const tprt__rows *rows) {
  return rows->blocks ? rows->tokens / rows->blocks : 0;
}

tprt_status tprt__rows_input_bytes(const tprt__site *site, const tprt__site_state *state,
                                   int64_t *bytes) {
  const tprt__rows *rows = &site->rows;
  int64_t n = tprt_comm_size(state->comm),
          row = rows->hidden * (int64_t)tprt_dtype_size(site->op.dtype);
  if (__builtin_mul_overflow((tprt__rows_block(rows) + n - 1) / n * n * rows->blocks, row, bytes))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "rows of more than 2^63 bytes");
  return TPRT_OK;
}

static tprt_status bind_matmul(tprt_context *context, const tprt__site *site,
                               const tprt__site_state *state) {
  const tprt__gpu_product product = {.of = site->contraction,
                                     .n_loops = TPRT__MATMUL_LOOPS,
                                     .loops = site->rows.loops,
                                     .tf32 = site->tf32};
  tprt_status status = tprt__gpu_contraction_plan(tprt__gpu_of(context)->gpu, &product,
                                                  &tprt__gpu_site_of(state)->rows->product);
  return status ? status : tprt__gpu_prepare_gemms(tprt__gpu_of(context)->gpu);
}

/* Reserves the buffers of this rank: for the reduced rows and a slice of the results (unfused mode
 * only), and for the matmul result. */
static tprt_status bind_unfused(tprt_context *context, const tprt__site *site,
                                const tprt__site_state *state) {
  int64_t bytes = 0;
  tprt_status status = TPRT_OK;
  if (site->rows.k)
    status = tprt__rows_input_bytes(site, state, &bytes);
  if (!status)
    status = tprt__gpu_buffer_reserve(context, bytes, &tprt__gpu_of(context)->matmul_scratch);
  return status || tprt__gpu_site_of(state)->rows->mode == TPRT__ROWS_SHARED_GPU
             ? status
             : tprt__rows_prepare(context, tprt__gpu_site_of(state)->rows->room);
}

tprt_status tprt__rows_fall_back(const tprt_comm *comm, tprt_status status, tprt__rows_mode *mode,
                                 char why[TPRT__WHY_BYTES]) {
  if (!status || tprt_comm_status(comm))
    return status;
  *mode = TPRT__ROWS_UNFUSED;
  snprintf(why, TPRT__WHY_BYTES, "%s", tprt_last_error());
  return TPRT_OK;
}

/* Binds a peer-to-peer site. If the exchange buffers cannot be allocated, the site becomes
 * unfused. */
static tprt_status bind_p2p(tprt_context *context, const tprt__site *site,
                            const tprt__site_state *state) {
  tprt_status status = tprt__rows_bind_p2p(context, site, state);
  return tprt__rows_fall_back(state->comm, status, &tprt__gpu_site_of(state)->rows->mode,
                              tprt__gpu_site_of(state)->rows->why);
}

tprt_status tprt__rows_bind(tprt_context *context, const tprt__site *site,
                            tprt__site_state *state) {
  struct tprt__rows_state *rows = tprt__gpu_site_of(state)->rows = tprt__alloc(sizeof *rows);
  if (!rows)
    return tprt__fail_memory(sizeof *rows);
  tprt_status status = tprt__rows_find_group(context, state->comm, &rows->group);
  if (status)
    return status;
  rows->mode = rows->group->mode;
  memcpy(rows->why, rows->group->why, sizeof rows->why);
  status = tprt__rows_plan_scratch(context, site, state);
  if (!status && site->rows.k)
    status = bind_matmul(context, site, state);
  if (!status && rows->mode == TPRT__ROWS_P2P)
    status = bind_p2p(context, site, state);
  if (!status && rows->mode == TPRT__ROWS_P2P && site->rows.k)
    status = tprt__rows_bind_matmul_p2p(context, site, state);
  return status || rows->mode == TPRT__ROWS_P2P ? status : bind_unfused(context, site, state);
}

void tprt__rows_unbind(tprt__gpu_site *site) {
  if (!site->rows)
    return;
  tprt__rows_unbind_slices(site->rows);
  tprt__gpu_contraction_free(site->rows->product);
  tprt__free(site->rows);
}

void tprt__rows_end(tprt_context *context) {
  while (tprt__gpu_of(context)->rows_groups) {
    struct tprt__rows_group *group = tprt__gpu_of(context)->rows_groups;
    tprt__gpu_of(context)->rows_groups = group->next;
    tprt__gpu_ranks_destroy(tprt__gpu_of(context)->gpu, group->ranks);
    tprt__gpu_peers_destroy(tprt__gpu_of(context)->gpu, group->peers);
    tprt__free(group);
  }
  tprt__gpu_ranks_destroy(tprt__gpu_of(context)->gpu, tprt__gpu_of(context)->alone);
  tprt__gpu_free(tprt__gpu_of(context)->gpu, tprt__gpu_of(context)->rows_scratch.memory);
  tprt__gpu_free(tprt__gpu_of(context)->gpu, tprt__gpu_of(context)->matmul_scratch.memory);
  tprt__gpu_free(tprt__gpu_of(context)->gpu, tprt__gpu_of(context)->gathered_scratch.memory);
}

/* ---- Shared GPU ---- */

/* The contribution of one rank to a call. */
typedef struct rows_call {
  const tprt__site *site;
  tprt__gpu *gpu;
  tprt__gpu_ranks *ranks; /* set on rank 0 only */
  tprt__rows_buffers buffers;
  const tprt__gpu_contraction *product;
  void *room; /* for the matmul result */
} rows_call;

/* True if the matmul can be computed in slices: all operands of cuBLASLt must begin at multiples of
 * 16 bytes. */
static bool takes_slices(const void *const *arguments, int n_ranks) {
  const rows_call *first = arguments[0];
  uintptr_t bits = 0;
  for (int r = 0; r < n_ranks; r++) {
    const rows_call *call = arguments[r];
    bits |= (uintptr_t)call->buffers.a | (uintptr_t)call->buffers.b;
  }
  return bits % 16 == 0 && tprt__rows_has_slices(first->site, n_ranks);
}

static tprt_status multiply_in_slices(const void *const *arguments, int n_ranks,
                                      const tprt_cuda_rows *rows, void *stream) {
  const rows_call *first = arguments[0];
  tprt_cuda_gemm gemms[TPRT_CUDA_MAX_RANKS] = {{0}};
  for (int r = 0; r < n_ranks; r++)
    gemms[r] = tprt__rows_gemm(first->site, &((const rows_call *)arguments[r])->buffers);
  return tprt__gpu_multiply_reduce(first->gpu, first->ranks, gemms, rows, stream);
}

/* Computes the matmul and reduces it: in slices if possible, else whole. */
static tprt_status multiply_for_all(const void *const *arguments, int n_ranks,
                                    const tprt_cuda_rows *rows, void *stream) {
  const rows_call *first = arguments[0];
  tprt_status status = TPRT_UNSUPPORTED;
  if (rows->algorithm == TPRT_CUDA_SLICES && takes_slices(arguments, n_ranks))
    status = multiply_in_slices(arguments, n_ranks, rows, stream);
  /* TPRT_UNSUPPORTED means that cuBLASLt has no algorithm for a slice, and nothing was enqueued */
  if (status != TPRT_UNSUPPORTED)
    return status;
  status = TPRT_OK;
  for (int r = 0; r < n_ranks && !status; r++) {
    const rows_call *call = arguments[r];
    status = tprt__gpu_contraction_run((tprt__gpu_queue){first->gpu, stream}, first->product,
                                       call->buffers.a, call->buffers.b, call->room);
  }
  return status ? status : tprt__gpu_reduce_rows(first->gpu, first->ranks, rows, stream);
}

/* Enqueues a call for all ranks. Runs once, in the last rank that arrives. */
static tprt_status reduce_for_all(const void *const *arguments, int n_ranks, void *stream) {
  const rows_call *first = arguments[0];
  const tprt__site *site = first->site;
  bool whole = site->rows.layout == TPRT_ROWS_WHOLE;
  tprt_cuda_rows rows = tprt__rows_describe(site, &first->buffers);
  rows.blocks = site->rows.blocks;
  rows.residual_sharded = !whole;
  rows.out_sharded = site->rows.layout == TPRT_ROWS_SCATTERED;
  /* The kernel can read the inputs of all ranks, so PUSH is never used. */
  rows.algorithm =
      whole && site->rows.algorithm != TPRT_CUDA_SLICES ? TPRT_CUDA_PULL : TPRT_CUDA_SLICES;
  for (int r = 0; r < n_ranks; r++) {
    const rows_call *call = arguments[r];
    if (call->site->op.kind != site->op.kind ||
        memcmp(&call->site->rows, &site->rows, sizeof site->rows) != 0 ||
        memcmp(&call->site->operands, &site->operands, sizeof site->operands) != 0)
      return tprt__fail(TPRT_MISMATCH, "ranks 0 and %d of the group reduce rows at different sites",
                        r);
    rows.input[r] = site->rows.k ? call->room : call->buffers.input;
    rows.residual[r] = call->buffers.residual;
    rows.residual_out[r] = call->buffers.residual_out;
    rows.out[r] = call->buffers.out;
    rows.quantized[r] = call->buffers.quantized;
    rows.scale[r] = call->buffers.scale;
  }
  return site->rows.k ? multiply_for_all(arguments, n_ranks, &rows, stream)
                      : tprt__gpu_reduce_rows(first->gpu, first->ranks, &rows, stream);
}

/* ---- Unfused ---- */

/* Enqueues a call as [matmul,] collective, epilogue kernel [, all-gather of each result]. */
static tprt_status reduce_unfused(tprt_context *context, const tprt__site *site,
                                  const tprt__site_state *state, const tprt__rows_buffers *b) {
  bool gathers = site->rows.layout == TPRT_ROWS_GATHERED;
  char *sum = tprt__gpu_of(context)->rows_scratch.memory;
  const void *input = site->rows.k ? tprt__gpu_of(context)->matmul_scratch.memory : b->input;
  void *made[TPRT__ROWS_RESULTS]; /* the outputs of the kernel */
  for (int i = 0; i < TPRT__ROWS_RESULTS; i++)
    made[i] = gathers && tprt__rows_has_result(site, i)
                  ? sum + tprt__gpu_site_of(state)->rows->slice[i]
                  : tprt__rows_buffer(b, i);
  tprt_cuda_rows rows = tprt__rows_describe(site, b);
  rows.algorithm = TPRT_CUDA_PULL;
  rows.tokens /= site->rows.layout == TPRT_ROWS_WHOLE ? 1 : tprt_comm_size(state->comm);
  rows.input[0] = sum;
  rows.residual[0] = b->residual;
  rows.residual_out[0] = b->residual_out;
  rows.out[0] = made[TPRT__ROWS_RESULT_OUT];
  rows.quantized[0] = made[TPRT__ROWS_RESULT_QUANTIZED];
  rows.scale[0] = made[TPRT__ROWS_RESULT_SCALE];
  tprt_status status = TPRT_OK;
  if (site->rows.k)
    status = tprt__gpu_contraction_run(tprt__gpu_queue_of(context),
                                       tprt__gpu_site_of(state)->rows->product, b->a, b->b,
                                       tprt__gpu_of(context)->matmul_scratch.memory);
  if (!status)
    status = tprt__gpu_collective(context, state, input, sum);
  if (!status)
    status = tprt__gpu_reduce_rows(tprt__gpu_of(context)->gpu, tprt__gpu_of(context)->alone, &rows,
                                   tprt__gpu_stream(tprt__gpu_of(context)->gpu));
  for (int i = 0; i < TPRT__ROWS_RESULTS && gathers && !status; i++)
    if (made[i])
      status = tprt__gpu_collective(context, &tprt__gpu_site_of(state)->rows->gather[i], made[i],
                                    tprt__rows_buffer(b, i));
  return status;
}

/* Makes the stream wait for started collectives: kernels that wait for each other could keep a
 * concurrent collective off a GPU, which would deadlock. */
tprt_status tprt__rows_begin_p2p(tprt_context *context) {
  tprt_status status = tprt__gpu_await_started(context);
  /* a shared graph may start its kernels one after the other */
  if (!status && tprt__graphs_are_shared(context))
    tprt__graph_refuse(
        context, "its kernels on different GPUs wait for each other, but its ranks share a graph");
  return status ? status : context->status;
}

tprt_status tprt__rows_reserve_p2p(tprt_context *context, tprt__gpu_peers *peers,
                                   size_t input_bytes, size_t output_bytes) {
  if (tprt__gpu_peers_fit(peers, input_bytes, output_bytes))
    return TPRT_OK;
  tprt__graphs_forget(context); /* captured graphs contain the old addresses */
  return tprt__gpu_peers_reserve(tprt__gpu_of(context)->gpu, peers, input_bytes, output_bytes);
}

static tprt__rows_buffers find_buffers(const tprt__site *site, const void *const *inputs,
                                       void *const *outputs) {
  return (tprt__rows_buffers){
      .input = tprt__site_input(site, inputs, TPRT_IN_TENSOR, 0),
      .a = tprt__site_input(site, inputs, TPRT_IN_A, 0),
      .b = tprt__site_input(site, inputs, TPRT_IN_B, 0),
      .residual = tprt__site_input(site, inputs, TPRT_IN_RESIDUAL, 0),
      .bias = tprt__site_input(site, inputs, TPRT_IN_BIAS, 0),
      .gamma = tprt__site_input(site, inputs, TPRT_IN_GAMMA, 0),
      .beta = tprt__site_input(site, inputs, TPRT_IN_BETA, 0),
      .static_scale = tprt__site_input(site, inputs, TPRT_IN_STATIC_SCALE, 0),
      .residual_out = tprt__site_output(site, outputs, TPRT_OUT_RESIDUAL, 0),
      .out = tprt__site_output(site, outputs, TPRT_OUT_TENSOR, 0),
      .quantized = tprt__site_output(site, outputs, TPRT_OUT_QUANTIZED, 0),
      .scale = tprt__site_output(site, outputs, TPRT_OUT_SCALE, 0),
  };
}

tprt_status tprt__rows_run(tprt_context *context, const tprt__site *site,
                           const tprt__site_state *state, const void *const *inputs,
                           void *const *outputs, int64_t *traffic) {
  for (int i = 0; i < TPRT__ROWS_RESULTS; i++)
    *traffic += tprt__gpu_site_of(state)->rows->gather[i].plan.traffic;
  tprt_status status = TPRT_OK;
  const tprt__rows_buffers buffers = find_buffers(site, inputs, outputs), *b = &buffers;
  if (tprt__gpu_site_of(state)->rows->mode == TPRT__ROWS_UNFUSED)
    return reduce_unfused(context, site, state, b);
  if (tprt__gpu_site_of(state)->rows->mode == TPRT__ROWS_P2P) {
    status = tprt__rows_begin_p2p(context);
    return status ? status : tprt__rows_run_p2p(context, site, state, b);
  }
  status = tprt__gpu_await_started(context);
  if (status)
    return status;
  const rows_call call = {.site = site,
                          .gpu = tprt__gpu_of(context)->gpu,
                          .ranks = tprt__gpu_site_of(state)->rows->group->ranks,
                          .buffers = *b,
                          .product = tprt__gpu_site_of(state)->rows->product,
                          .room = tprt__gpu_of(context)->matmul_scratch.memory};
  return tprt_context_together(context, state->comm, reduce_for_all, &call);
}

tprt_status tprt__rows_check(const tprt_context *context) {
  tprt_status status = TPRT_OK;
  for (const struct tprt__rows_group *at = tprt__gpu_of(context)->rows_groups; at && !status;
       at = at->next)
    status = at->peers ? tprt__gpu_peers_check(tprt__gpu_of(context)->gpu, at->peers) : TPRT_OK;
  return status;
}

const char *tprt_context_rows(const tprt_context *context, int32_t site, const char **why) {
  TPRT__NEED_OR(context, NULL);
  static const char *const of_rows[] = {
      [TPRT__ROWS_UNFUSED] = "collectives and a kernel on each GPU",
      [TPRT__ROWS_SHARED_GPU] = "one kernel for all ranks",
      [TPRT__ROWS_P2P] = "a kernel on each GPU that accesses the other GPUs"};
  static const char *const of_gathers[] = {
      [TPRT__ROWS_UNFUSED] = "an all_gather, then the matmuls",
      [TPRT__ROWS_SHARED_GPU] = "matmuls in slices, for all ranks",
      [TPRT__ROWS_P2P] = "matmuls in slices, which each GPU copies from the others"};
  const tprt__bound *program = tprt__gpu_of(context) ? context->current : NULL;
  bool is_there = program && site >= 0 && site < program->program.n_sites;
  const tprt__gpu_site *of = is_there ? program->sites[site].own : NULL;
  const struct tprt__rows_state *rows = of ? of->rows : NULL;
  const struct tprt__gather_state *gather = of ? of->gather : NULL;
  if (why)
    *why = rows ? rows->why : gather ? gather->why : "";
  return rows ? of_rows[rows->mode] : gather ? of_gathers[gather->mode] : NULL;
}
