/* Sums over the group with what is done to the rows of them, and the products that are summed, in programs for GPUs.
 *
 * Where the ranks are virtual ones of one GPU, the last that comes launches one kernel for all of them. Elsewhere it is the collectives that it
 * stands for, and between them the same kernel for what is done to the rows, of a group of this rank alone.
 *
 * A product is computed in slices that are stored at the rank that reduces them, where one kernel reduces for all and cuBLASLt takes the slices; else it
 * is computed as a contraction, into memory of this rank, and then reduced. */
#include "context.h"

#include "backend.h"
#include "cuda/gpu_rows.h"

#include <string.h>

/* The virtual ranks of a communicator; its rank 0 has them. */
struct tprt__rows_group {
  struct tprt__rows_group *next;
  const tprt_comm *comm;
  tprt__gpu_ranks *ranks;
};

/* Of a site. */
struct tprt__rows_state {
  bool together;                  /* one kernel for all ranks */
  tprt__gpu_ranks *ranks;         /* then, of rank 0; else NULL */
  tprt__site_state gather;        /* TPRT_ROWS_GATHERED: of the slices of out */
  tprt__gpu_contraction *product; /* TPRT_SITE_MULTIPLY_ROWS, as it is done where it is not sliced */
};

/* ---- Binding ---- */

/* At least so many bytes of room. */
static tprt_status make_room(tprt_context *context, int64_t bytes, tprt__room *room) {
  size_t wanted = ((size_t)bytes + 255) / 256 * 256;
  if (wanted <= room->bytes)
    return TPRT_OK;
  void *made;
  tprt_status status = tprt__gpu_alloc(context->gpu, wanted, &made);
  if (status)
    return status;
  tprt__gpu_free(context->gpu, room->memory);
  *room = (tprt__room){made, wanted};
  return TPRT_OK;
}

/* Where the slice of out is in rows_room, behind the sum. */
static int64_t slice_offset(const tprt__site_state *state) { return (state->plan.recv_bytes + 255) / 256 * 256; }

tprt_status tprt__rows_prepare(tprt_context *context, int64_t bytes) {
  tprt_status status = make_room(context, bytes, &context->rows_room);
  return status || context->alone ? status : tprt__gpu_ranks_create(context->gpu, 1, &context->alone);
}

static tprt_status plan_gather(const tprt_context *context, const tprt__site *site, const tprt__site_state *state,
                               tprt__site_state *gather) {
  tprt_op op = site->op;
  int n = tprt_comm_size(state->comm);
  op.kind = TPRT_OP_ALL_GATHER;
  op.reduction = TPRT_NO_REDUCTION;
  op.shape[op.dim] /= n;
  gather->comm = state->comm;
  tprt_status status = tprt__plan_shape(&op, n, tprt_comm_rank(state->comm), &gather->plan);
  return status ? status : tprt__bind_to_gpu(context, gather);
}

static tprt_status find_ranks(tprt_context *context, const tprt_comm *comm, tprt__gpu_ranks **ranks) {
  for (const struct tprt__rows_group *at = context->rows_groups; at; at = at->next)
    if (at->comm == comm) {
      *ranks = at->ranks;
      return TPRT_OK;
    }
  struct tprt__rows_group *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  tprt_status status = tprt__gpu_ranks_create(context->gpu, tprt_comm_size(comm), &made->ranks);
  if (status) {
    tprt__free(made);
    return status;
  }
  made->comm = comm;
  made->next = context->rows_groups;
  context->rows_groups = made;
  *ranks = made->ranks;
  return TPRT_OK;
}

/* Whether all ranks are virtual ones of one GPU, on which blocks of all of them can run at the same time. All come to the same answer. */
static tprt_status decide(tprt_context *context, tprt_comm *comm, struct tprt__rows_state *rows) {
  int n = tprt_comm_size(comm);
  int64_t numbers[TPRT_CUDA_MAX_RANKS], own = tprt__gpu_number(context->gpu);
  tprt_status status = TPRT_OK;
  if (n > TPRT_CUDA_MAX_RANKS || (n > 1 && comm->transport->backend != &tprt__backend_loopback))
    return TPRT_OK;
  if (tprt_comm_rank(comm) == 0) {
    status = find_ranks(context, comm, &rows->ranks);
    if (status == TPRT_UNSUPPORTED) {
      own = -1;
      status = TPRT_OK;
    }
  }
  const tprt_op gather = tprt_op_flat(TPRT_OP_ALL_GATHER, &own, numbers, 1, TPRT_I64, NULL);
  if (!status)
    status = tprt__comm_tell(comm, &gather);
  rows->together = !status && numbers[0] >= 0;
  for (int r = 1; r < n && rows->together; r++)
    rows->together = numbers[r] == numbers[0];
  return status;
}

/* Rows of each block; 0 where there are none. */
static int64_t block_rows(const tprt__rows *rows) { return rows->blocks ? rows->tokens / rows->blocks : 0; }

/* Room for the product of this rank, or for the slices of all ranks that it reduces, whichever is larger. */
static tprt_status bind_product(tprt_context *context, const tprt__site *site, const tprt__site_state *state) {
  const tprt__rows *rows = &site->rows;
  int64_t n = tprt_comm_size(state->comm), bytes;
  int64_t row = rows->hidden * (int64_t)tprt_dtype_size(site->op.dtype);
  tprt_status status = tprt__gpu_contraction_plan(context->gpu, site->contraction, 3, rows->words, &state->rows->product);
  if (!status)
    status = tprt__gpu_prepare_products(context->gpu);
  if (status)
    return status;
  if (__builtin_mul_overflow((block_rows(rows) + n - 1) / n * n * rows->blocks, row, &bytes))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "rows: a product of more than 2^63 bytes");
  return make_room(context, bytes, &context->product_room);
}

tprt_status tprt__rows_bind(tprt_context *context, const tprt__site *site, tprt__site_state *state) {
  state->rows = tprt__alloc(sizeof *state->rows);
  if (!state->rows)
    return tprt__fail_memory(sizeof *state->rows);
  tprt_status status = decide(context, state->comm, state->rows);
  if (!status && site->rows.layout == TPRT_ROWS_GATHERED)
    status = plan_gather(context, site, state, &state->rows->gather);
  if (!status && site->rows.k)
    status = bind_product(context, site, state);
  return status || state->rows->together ? status : tprt__rows_prepare(context, 2 * slice_offset(state));
}

void tprt__rows_unbind(tprt__site_state *state) {
  if (state->rows)
    tprt__gpu_contraction_free(state->rows->product);
  tprt__free(state->rows);
}

void tprt__rows_end(tprt_context *context) {
  if (!context->gpu)
    return;
  while (context->rows_groups) {
    struct tprt__rows_group *group = context->rows_groups;
    context->rows_groups = group->next;
    tprt__gpu_ranks_destroy(context->gpu, group->ranks);
    tprt__free(group);
  }
  tprt__gpu_ranks_destroy(context->gpu, context->alone);
  tprt__gpu_free(context->gpu, context->rows_room.memory);
  tprt__gpu_free(context->gpu, context->product_room.memory);
}

/* ---- Calls ---- */

static tprt_status check_buffers(const tprt__rows *rows, const tprt__rows_buffers *b) {
  const struct {
    const char *name;
    const void *buffer;
    bool wanted;
  } all[] = {{"input", b->input, !rows->k},
             {"a", b->a, rows->k},
             {"b", b->b, rows->k},
             {"residual", b->residual, rows->operands & TPRT_ROWS_RESIDUAL},
             {"bias", b->bias, rows->operands & TPRT_ROWS_BIAS},
             {"gamma", b->gamma, rows->operands & TPRT_ROWS_GAMMA},
             {"beta", b->beta, rows->operands & TPRT_ROWS_BETA},
             {"residual_out", b->residual_out, rows->operands & TPRT_ROWS_RESIDUAL_OUT},
             {"out", b->out, true}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!all[i].buffer == all[i].wanted)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s is %p, and the site has %s", all[i].name, all[i].buffer,
                        all[i].wanted ? "one" : "none");
  return TPRT_OK;
}

/* All but what is of each rank. */
static tprt_cuda_rows describe(const tprt__site *site, const tprt__rows_buffers *b) {
  const tprt__rows *rows = &site->rows;
  return (tprt_cuda_rows){.size = sizeof(tprt_cuda_rows),
                          .dtype = site->op.dtype,
                          .tokens = rows->tokens,
                          .hidden = rows->hidden,
                          .algorithm = TPRT_CUDA_PULL,
                          .norm = (tprt_cuda_norm)rows->norm,
                          .epsilon = rows->epsilon,
                          .bias = b->bias,
                          .gamma = b->gamma,
                          .beta = b->beta};
}

/* ---- Together ---- */

/* What a rank gives. */
typedef struct rows_call {
  const tprt__site *site;
  tprt__gpu *gpu;
  tprt__gpu_ranks *ranks; /* of rank 0 */
  tprt__rows_buffers buffers;
  const tprt__gpu_contraction *product;
  void *room; /* of a product */
} rows_call;

/* Whether the product can be computed in slices, which begin at multiples of 16 bytes as all that cuBLASLt is given. */
static bool takes_slices(const void *const *arguments, int n_ranks) {
  const rows_call *first = arguments[0];
  const tprt__rows *rows = &first->site->rows;
  int64_t row = rows->k * (int64_t)tprt_dtype_size(first->site->op.dtype), block = block_rows(rows);
  int64_t slice = (block + n_ranks - 1) / n_ranks;
  uintptr_t bits = (uintptr_t)(slice * row) | (rows->blocks > 1 ? (uintptr_t)(block * row) : 0);
  for (int r = 0; r < n_ranks; r++) {
    const rows_call *call = arguments[r];
    bits |= (uintptr_t)call->buffers.a | (uintptr_t)call->buffers.b;
  }
  return bits % 16 == 0;
}

static tprt_status multiply_in_slices(const void *const *arguments, int n_ranks, const tprt_cuda_rows *rows, void *stream) {
  const rows_call *first = arguments[0];
  const tprt__rows *shape = &first->site->rows;
  tprt_cuda_gemm gemms[TPRT_CUDA_MAX_RANKS] = {{0}};
  for (int r = 0; r < n_ranks; r++) {
    const rows_call *call = arguments[r];
    gemms[r] = (tprt_cuda_gemm){.size = sizeof *gemms,
                                .dtype = rows->dtype,
                                .out_dtype = rows->dtype,
                                .m = shape->tokens,
                                .n = shape->hidden,
                                .k = shape->k,
                                .transpose_b = shape->transpose_b,
                                .alpha = 1,
                                .a = call->buffers.a,
                                .b = call->buffers.b};
  }
  return tprt__gpu_multiply_reduce(first->gpu, first->ranks, gemms, rows, stream);
}

/* What slices cannot do is computed whole. */
static tprt_status multiply_for_all(const void *const *arguments, int n_ranks, const tprt_cuda_rows *rows, void *stream) {
  const rows_call *first = arguments[0];
  tprt_status status = TPRT_UNSUPPORTED;
  if (rows->algorithm == TPRT_CUDA_SLICES && takes_slices(arguments, n_ranks))
    status = multiply_in_slices(arguments, n_ranks, rows, stream);
  if (status != TPRT_UNSUPPORTED) /* which is: cuBLASLt has no algorithm for a slice, and nothing was enqueued */
    return status;
  status = TPRT_OK;
  for (int r = 0; r < n_ranks && !status; r++) {
    const rows_call *call = arguments[r];
    status = tprt__gpu_contraction_run((tprt__gpu_queue){first->gpu, stream}, first->product, call->buffers.a, call->buffers.b,
                                       call->room);
  }
  return status ? status : tprt__gpu_reduce_rows(first->gpu, first->ranks, rows, stream);
}

static tprt_status reduce_for_all(const void *const *arguments, int n_ranks, void *stream) {
  const rows_call *first = arguments[0];
  const tprt__site *site = first->site;
  bool whole = site->rows.layout == TPRT_ROWS_WHOLE;
  tprt_cuda_rows rows = describe(site, &first->buffers);
  rows.blocks = site->rows.blocks;
  rows.residual_sharded = !whole;
  rows.out_sharded = site->rows.layout == TPRT_ROWS_SCATTERED;
  /* Nobody pushes where everybody reaches all inputs. */
  rows.algorithm = whole && site->rows.algorithm != TPRT_CUDA_SLICES ? TPRT_CUDA_PULL : TPRT_CUDA_SLICES;
  for (int r = 0; r < n_ranks; r++) {
    const rows_call *call = arguments[r];
    if (call->site->op.kind != site->op.kind || memcmp(&call->site->rows, &site->rows, sizeof site->rows) != 0)
      return tprt__fail(TPRT_MISMATCH, "ranks 0 and %d of the group reduce rows at different sites", r);
    rows.input[r] = site->rows.k ? call->room : call->buffers.input;
    rows.residual[r] = call->buffers.residual;
    rows.residual_out[r] = call->buffers.residual_out;
    rows.out[r] = call->buffers.out;
  }
  return site->rows.k ? multiply_for_all(arguments, n_ranks, &rows, stream)
                      : tprt__gpu_reduce_rows(first->gpu, first->ranks, &rows, stream);
}

/* ---- Apart ---- */

static tprt_status reduce_apart(tprt_context *context, const tprt__site *site, const tprt__site_state *state,
                                const tprt__rows_buffers *b) {
  bool gathers = site->rows.layout == TPRT_ROWS_GATHERED;
  char *sum = context->rows_room.memory, *slice = sum + slice_offset(state);
  const void *input = site->rows.k ? context->product_room.memory : b->input;
  tprt_cuda_rows rows = describe(site, b);
  rows.tokens /= site->rows.layout == TPRT_ROWS_WHOLE ? 1 : tprt_comm_size(state->comm);
  rows.input[0] = sum;
  rows.residual[0] = b->residual;
  rows.residual_out[0] = b->residual_out;
  rows.out[0] = gathers ? slice : b->out;
  tprt_status status = TPRT_OK;
  if (site->rows.k)
    status = tprt__gpu_contraction_run((tprt__gpu_queue){context->gpu, tprt__gpu_stream(context->gpu)}, state->rows->product,
                                       b->a, b->b, context->product_room.memory);
  if (!status)
    status = tprt__gpu_collective(context, state, input, sum);
  if (!status)
    status = tprt__gpu_reduce_rows(context->gpu, context->alone, &rows, tprt__gpu_stream(context->gpu));
  return status || !gathers ? status : tprt__gpu_collective(context, &state->rows->gather, slice, b->out);
}

tprt_status tprt__rows_run(tprt_context *context, const tprt__site *site, const tprt__site_state *state,
                           const tprt__rows_buffers *b, int64_t *traffic) {
  *traffic = state->plan.traffic + state->rows->gather.plan.traffic;
  tprt_status status = check_buffers(&site->rows, b);
  if (status || state->plan.recv_bytes == 0)
    return status;
  if (!state->rows->together)
    return reduce_apart(context, site, state, b);
  const rows_call call = {.site = site,
                          .gpu = context->gpu,
                          .ranks = state->rows->ranks,
                          .buffers = *b,
                          .product = state->rows->product,
                          .room = context->product_room.memory};
  status = tprt__gpu_await_started(context);
  return status ? status : tprt_context_together(context, state->comm, reduce_for_all, &call);
}
