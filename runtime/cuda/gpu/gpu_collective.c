/* The steps of collectives, on streams of GPUs. */
#include "cuda/gpu/gpu_inside.h"

#include "cuda/kernels/site_args.h"

/* ---- supported operations ---- */

/* How a type is reduced: the kernel, and the number of parts of an element that it combines
 * separately. Unsigned types use the unsigned comparisons. */
// clang-format off
static const struct {
  /* pairs: the kernel for products and factors, which for complex numbers combines pairs */
  gpu_site_kernel kernel, pairs;
  int parts;
  bool is_unsigned;
} types[TPRT_N_DTYPES] = {
    [TPRT_F32]    = {GPU_REDUCE_F32,    GPU_REDUCE_F32,    1, false},
    [TPRT_F64]    = {GPU_REDUCE_F64,    GPU_REDUCE_F64,    1, false},
    [TPRT_F16]    = {GPU_REDUCE_F16,    GPU_REDUCE_F16,    1, false},
    [TPRT_BF16]   = {GPU_REDUCE_BF16,   GPU_REDUCE_BF16,   1, false},
    [TPRT_BOOL]   = {GPU_REDUCE_I8,     GPU_REDUCE_I8,     1, true},
    [TPRT_I8]     = {GPU_REDUCE_I8,     GPU_REDUCE_I8,     1, false},
    [TPRT_I16]    = {GPU_REDUCE_I16,    GPU_REDUCE_I16,    1, false},
    [TPRT_I32]    = {GPU_REDUCE_I32,    GPU_REDUCE_I32,    1, false},
    [TPRT_I64]    = {GPU_REDUCE_I64,    GPU_REDUCE_I64,    1, false},
    [TPRT_U8]     = {GPU_REDUCE_I8,     GPU_REDUCE_I8,     1, true},
    [TPRT_U16]    = {GPU_REDUCE_I16,    GPU_REDUCE_I16,    1, true},
    [TPRT_U32]    = {GPU_REDUCE_I32,    GPU_REDUCE_I32,    1, true},
    [TPRT_U64]    = {GPU_REDUCE_I64,    GPU_REDUCE_I64,    1, true},
    [TPRT_C64]    = {GPU_REDUCE_F32,    GPU_REDUCE_C64,    2, false},
    [TPRT_C128]   = {GPU_REDUCE_F64,    GPU_REDUCE_C128,   2, false},
    [TPRT_F8E4M3] = {GPU_REDUCE_F8E4M3, GPU_REDUCE_F8E4M3, 1, false},
    [TPRT_F8E5M2] = {GPU_REDUCE_F8E5M2, GPU_REDUCE_F8E5M2, 1, false},
};
// clang-format on

static bool is_of_programs(tprt_op_kind kind) {
  return kind == TPRT_OP_ALL_REDUCE || kind == TPRT_OP_ALL_GATHER ||
         kind == TPRT_OP_REDUCE_SCATTER || kind == TPRT_OP_ALL_TO_ALL || kind == TPRT_OP_PERMUTE ||
         kind == TPRT_OP_BROADCAST || kind == TPRT_OP_BARRIER;
}

tprt_status tprt__gpu_accept(const tprt__plan *plan) {
  const char *kind = tprt_op_kind_name(plan->kind);
  if (!is_of_programs(plan->kind))
    return tprt__fail(TPRT_UNSUPPORTED, "%s: GPU programs do not support this operation", kind);
  if (plan->n_ranks > SITE_RANKS)
    return tprt__fail(TPRT_UNSUPPORTED, "%s: a group of %d ranks on GPUs; at most %d are supported",
                      kind, plan->n_ranks, SITE_RANKS);
  return TPRT_OK;
}

/* ---- synchronization of streams ---- */

static bool reaches(const tprt__gpu *gpu, const tprt__gpu *peer) {
  int i = 0;
  while (i < gpu->n_reached && gpu->reached[i] != peer->identity)
    i++;
  return gpu->context == peer->context || i < gpu->n_reached;
}

static tprt_status note_reached(tprt__gpu *gpu, const tprt__gpu *peer) {
  if (gpu->n_reached == gpu->reached_capacity) {
    int reached_capacity = gpu->reached_capacity ? 2 * gpu->reached_capacity : 8;
    uint64_t *grown = tprt__alloc((size_t)reached_capacity * sizeof *grown);
    if (!grown)
      return tprt__fail_memory((size_t)reached_capacity * sizeof *grown);
    for (int i = 0; i < gpu->n_reached; i++)
      grown[i] = gpu->reached[i];
    tprt__free(gpu->reached);
    gpu->reached = grown;
    gpu->reached_capacity = reached_capacity;
  }
  gpu->reached[gpu->n_reached++] = peer->identity;
  return TPRT_OK;
}

static tprt_status reach(tprt__gpu *gpu, const tprt__gpu *peer) {
  int can = 0;
  if (reaches(gpu, peer))
    return TPRT_OK;
  tprt_status status = tprt__gpu_check(gpu, gpu->calls->can_reach(&can, gpu->number, peer->number),
                                       "whether a GPU reaches another's memory");
  if (!status && !can)
    status = tprt__fail(
        TPRT_UNSUPPORTED,
        "GPU %d cannot access the memory of GPU %d; ranks on these GPUs need backend nccl",
        gpu->number, peer->number);
  if (!status)
    status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  cuda_result result = gpu->calls->reach(peer->context, 0);
  if (result != CUDA_RESULT_PEER_ACCESS_ALREADY_ENABLED)
    status = tprt__gpu_check(gpu, result, "reaching another GPU's memory");
  tprt__gpu_leave(gpu);
  return status ? status : note_reached(gpu, peer);
}

static tprt_status record(tprt__gpu_queue queue) {
  tprt_status status = tprt__gpu_enter(queue.gpu);
  if (status)
    return status;
  status = tprt__gpu_check(
      queue.gpu, queue.gpu->device->event_record(queue.gpu->join_event, queue.stream), "an event");
  tprt__gpu_leave(queue.gpu);
  return status;
}

static tprt_status await(tprt__gpu_queue queue, const tprt__gpu *other) {
  tprt_status status = tprt__gpu_enter(queue.gpu);
  if (status)
    return status;
  status =
      tprt__gpu_check(queue.gpu, queue.gpu->device->stream_wait(queue.stream, other->join_event, 0),
                      "waiting for an event");
  tprt__gpu_leave(queue.gpu);
  return status;
}

tprt_status tprt__gpu_follow(tprt__gpu_queue behind, tprt__gpu_queue before) {
  tprt_status status = record(before);
  return status ? status : await(behind, before.gpu);
}

/* The first stream waits for all others, and they wait for the first. A wait refers to the
 * recording of an event that was the latest when the wait was enqueued. */
tprt_status tprt__gpu_join_streams(const tprt__gpu_queue *queues, int n) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < n && !status; i++)
    for (int k = 0; k < n && !status; k++)
      status = reach(queues[i].gpu, queues[k].gpu);
  for (int i = 1; i < n && !status; i++)
    status = tprt__gpu_follow(queues[0], queues[i]);
  if (!status && n > 1)
    status = record(queues[0]);
  for (int i = 1; i < n && !status; i++)
    status = await(queues[i], queues[0].gpu);
  return status;
}

/* ---- kernels ---- */

static tprt_status launch(tprt__gpu_queue queue, gpu_site_kernel kernel, uint64_t n_items,
                          int n_rows, const void *arguments) {
  tprt_status status = tprt__gpu_enter(queue.gpu);
  if (status)
    return status;
  status = tprt__gpu_site_kernel(queue.gpu, kernel);
  if (!status)
    status = tprt__gpu_site_launch(queue.gpu, queue.stream, kernel, n_items, (unsigned)n_rows,
                                   arguments);
  tprt__gpu_leave(queue.gpu);
  return status;
}

static tprt_reduction reduction_of(tprt_dtype dtype, tprt_reduction reduction) {
  if (dtype == TPRT_BOOL && reduction == TPRT_PRODUCT)
    return TPRT_BAND;
  if (types[dtype].is_unsigned && reduction == TPRT_MIN)
    return TPRT_UMIN;
  return types[dtype].is_unsigned && reduction == TPRT_MAX ? TPRT_UMAX : reduction;
}

static bool combines_pairs(tprt_reduction reduction) {
  return reduction == TPRT_PRODUCT || reduction == TPRT_PREMUL_SUM;
}

static gpu_site_kernel kernel_of(tprt_dtype dtype, tprt_reduction reduction) {
  return combines_pairs(reduction) ? types[dtype].pairs : types[dtype].kernel;
}

tprt_status tprt__gpu_load_reduction(tprt__gpu *gpu, tprt_dtype dtype, tprt_reduction reduction,
                                     int n_sources) {
  if (n_sources > SITE_RANKS)
    return tprt__fail(TPRT_UNSUPPORTED, "a reduction by %d ranks on GPUs; at most %d are supported",
                      n_sources, SITE_RANKS);
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt__gpu_site_kernel(gpu, kernel_of(dtype, reduction));
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_reduce(tprt__gpu_queue queue, const tprt__gpu_reduction *r) {
  uint64_t size = tprt_dtype_size(r->dtype), parts = (uint64_t)types[r->dtype].parts;
  gpu_site_kernel kernel = kernel_of(r->dtype, r->reduction);
  if (r->count == 0)
    return TPRT_OK;
  if (combines_pairs(r->reduction))
    parts = 1;
  site_reduce arguments = {.n = (uint64_t)r->count * parts,
                           .run = (uint64_t)r->run * parts,
                           .step = (uint64_t)r->step * parts,
                           .n_sources = (uint32_t)r->n,
                           .reduction = (uint32_t)reduction_of(r->dtype, r->reduction),
                           .divisor = (uint32_t)(r->divisor ? r->divisor : r->n),
                           .is_unsigned = types[r->dtype].is_unsigned,
                           .scales = r->scales,
                           .out = r->out};
  uint64_t bits = (uintptr_t)r->out | (uint64_t)r->run * size | (uint64_t)r->step * size |
                  (uint64_t)r->count * size;
  for (int k = 0; k < r->n; k++) {
    arguments.source[k] = r->sources[k];
    bits |= (uintptr_t)r->sources[k];
  }
  arguments.vectors = bits % SITE_VECTOR_BYTES == 0;
  uint64_t lanes = arguments.vectors ? SITE_VECTOR_BYTES * parts / size : 1;
  return launch(queue, kernel, arguments.n / lanes, 1, &arguments);
}

/* Returns the largest word size that divides all addresses and lengths. */
static uint64_t word_of(const tprt__gpu_move *m) {
  uint64_t bits = (uintptr_t)m->out | (uint64_t)m->piece | (uint64_t)m->limit | SITE_VECTOR_BYTES;
  bits |= m->send_map.n > 1 ? (uint64_t)m->send_map.run : 0;
  bits |= m->recv_map.n > 1 ? (uint64_t)m->recv_map.run : 0;
  for (int k = 0; k < m->n; k++)
    bits |= (uintptr_t)m->sources[k];
  return bits & (~bits + 1);
}

tprt_status tprt__gpu_move_pieces(tprt__gpu_queue queue, const tprt__gpu_move *m) {
  static const gpu_site_kernel kernels[] = {
      [1] = GPU_MOVE_1, [2] = GPU_MOVE_2, [4] = GPU_MOVE_4, [8] = GPU_MOVE_8, [16] = GPU_MOVE_16};
  if (m->piece == 0)
    return TPRT_OK;
  uint64_t word = word_of(m);
  site_move arguments = {.n = (uint64_t)m->piece / word,
                         .send_run = (uint64_t)m->send_map.run / word,
                         .recv_run = (uint64_t)m->recv_map.run / word,
                         .send_n = (uint32_t)m->send_map.n,
                         .recv_n = (uint32_t)m->recv_map.n,
                         .limit = (uint64_t)m->limit / word,
                         .send_index = (uint32_t)m->index,
                         .out = m->out};
  for (int k = 0; k < m->n; k++)
    arguments.source[k] = m->sources[k];
  return launch(queue, kernels[word], arguments.n, m->n, &arguments);
}

tprt_status tprt__gpu_zero(tprt__gpu_queue queue, void *memory, int64_t bytes) {
  tprt_status status = bytes ? tprt__gpu_enter(queue.gpu) : TPRT_OK;
  if (status || !bytes)
    return status;
  status = tprt__gpu_check(
      queue.gpu,
      queue.gpu->device->memory_set(tprt__cuda_address(memory), 0, (size_t)bytes, queue.stream),
      "zeros");
  tprt__gpu_leave(queue.gpu);
  return status;
}

/* ---- one call for all ranks ---- */

int tprt__gpu_number(const tprt__gpu *gpu) { return gpu->number; }

bool tprt__gpu_is_same(const tprt__gpu *a, const tprt__gpu *b) { return a->context == b->context; }

tprt_status tprt__gpu_together(tprt__gpu_queue queue, tprt_together_fn *fn,
                               const void *const *arguments, int n_ranks) {
  tprt_status status = tprt__gpu_enter(queue.gpu);
  if (status)
    return status;
  status = fn(arguments, n_ranks, queue.stream);
  tprt__gpu_leave(queue.gpu);
  return status;
}
