/* Reductions that NCCL lacks, or that it computes differently: min and max that keep NaN, bits,
 * integers of 16 bits, products of complex numbers, averages and factors of 16-bit floats.
 *
 * Each rank reduces one part of the data. The ranks send each other these parts by NCCL, a kernel
 * of this library reduces them in the order of the ranks, rounding once, and for an all_reduce the
 * ranks send each other the results. So each rank sends as much as in NCCL's own algorithms,
 * results have the bits of the other backends, and scratch memory has about the size of the
 * data. */
#include "backends/nccl/nccl.h"

#include <string.h>

enum { SLOT_ALIGNMENT = 64, SCALE_BYTES = sizeof(tprt__scale) };

typedef struct reducing {
  nccl_transport *nccl;
  const tprt__plan *plan;
  cuda_stream stream;
  nccl_wait *wait;
  const char *packed; /* what this rank contributes; NULL: plan->sends has it */
  char *parts;        /* this rank's part from each rank, in slots */
  char *result;       /* this rank's part, reduced */
  char *scales;       /* the factor of each rank */
  int64_t slot;
} reducing;

/* ---- kernels ---- */

static tprt_status load_kernels(nccl_transport *nccl, const tprt__plan *plan) {
  tprt_status status = TPRT_OK;
  if (!nccl->gpu)
    status = tprt__gpu_create(nccl->base.rank, nccl->base.device, &nccl->gpu);
  return status ? status
                : tprt__gpu_load_reduction(nccl->gpu, plan->dtype, plan->reduction, plan->n_ranks);
}

tprt_status tprt__nccl_load_kernels(nccl_transport *nccl, const tprt__plan *plan) {
  nccl_mapping mapping = tprt__nccl_map_reduction(nccl, plan);
  bool *loaded = &nccl->loaded[plan->dtype][plan->reduction];
  tprt_status status = TPRT_OK;
  if (!mapping.is_ours && !mapping.divides)
    return TPRT_OK;
  pthread_mutex_lock(&nccl->kernels_lock);
  if (!*loaded) {
    nccl_pending *guard = tprt__nccl_guard(nccl);
    status = load_kernels(nccl, plan);
    tprt__nccl_unguard(nccl, guard);
    *loaded = !status;
  }
  pthread_mutex_unlock(&nccl->kernels_lock);
  return status;
}

tprt_status tprt__nccl_divide(nccl_transport *nccl, const tprt__plan *plan, void *sum,
                              int64_t bytes, cuda_stream stream) {
  const void *source = sum;
  int64_t count = bytes / (int64_t)plan->type->size;
  const tprt__gpu_reduction divide = {.dtype = plan->dtype,
                                      .reduction = TPRT_AVG,
                                      .sources = &source,
                                      .n = 1,
                                      .out = sum,
                                      .count = count,
                                      .run = count,
                                      .step = count,
                                      .divisor = plan->n_ranks};
  return tprt__gpu_reduce((tprt__gpu_queue){nccl->gpu, stream}, &divide);
}

/* ---- parts ---- */

/* The part that rank i reduces, at its place in the data that starts at `at`. */
static tprt__part part_at(const tprt__plan *plan, char *at, int i) {
  if (plan->kind == TPRT_OP_REDUCE_SCATTER)
    return (tprt__part){at + i * plan->piece, plan->piece};
  int64_t size = (int64_t)plan->type->size, all = plan->send_bytes / size,
          each = (all + plan->n_ranks - 1) / plan->n_ranks, begin = tprt__min(all, i * each),
          end = tprt__min(all, begin + each);
  return (tprt__part){at + begin * size, (end - begin) * size};
}

static tprt__part sent_to(const reducing *r, int i) {
  return r->packed ? part_at(r->plan, (char *)(uintptr_t)r->packed, i) : r->plan->sends[i];
}

static char *slot_of(const reducing *r, int i) { return r->parts + i * r->slot; }

/* ---- steps ---- */

static tprt_status take_memory(reducing *r) {
  const tprt__plan *plan = r->plan;
  bool packs = !plan->sends && !tprt__nccl_in_runs(plan->send_map, plan->piece);
  int64_t packed_bytes =
      packs ? (int64_t)tprt__round_up((size_t)plan->send_bytes, SLOT_ALIGNMENT) : 0;
  char *at;
  r->packed = plan->sends ? NULL : plan->send;
  r->slot = (int64_t)tprt__round_up((size_t)sent_to(r, plan->rank).bytes, SLOT_ALIGNMENT);
  tprt_status status = tprt__nccl_scratch(
      r->nccl, packed_bytes + (plan->n_ranks + 1) * r->slot + plan->n_ranks * SCALE_BYTES,
      r->stream, &at);
  if (status)
    return status;
  r->parts = at + packed_bytes;
  r->result = r->parts + plan->n_ranks * r->slot;
  r->scales = r->result + r->slot;
  if (!packs)
    return TPRT_OK;
  r->packed = at;
  return tprt__nccl_pack(r->nccl, plan, at, r->stream);
}

/* Sends each rank its part, and receives this rank's part from all. */
static tprt_status exchange_parts(const reducing *r) {
  const tprt__plan *plan = r->plan;
  tprt__part own = sent_to(r, plan->rank);
  nccl_group group;
  tprt_status status =
      tprt__nccl_copy(r->nccl, slot_of(r, plan->rank), own.at, own.bytes, r->stream);
  if (!status)
    status = tprt__nccl_group_begin(&group, r->nccl, r->stream);
  if (status)
    return status;
  for (int i = 0; i < plan->n_ranks; i++) {
    tprt__part part = sent_to(r, i);
    if (i == plan->rank)
      continue;
    tprt__nccl_group_send(&group, part.at, part.bytes, i);
    tprt__nccl_group_receive(&group, slot_of(r, i), own.bytes, i);
  }
  return tprt__nccl_group_end(&group, r->wait);
}

/* Gathers the factors, close to each other. They are written byte by byte: a copy from the host
 * would wait for the stream. */
static tprt_status gather_scales(const reducing *r) {
  nccl_transport *nccl = r->nccl;
  size_t bytes = r->plan->type->acc_size;
  char *own = r->scales + (size_t)r->plan->rank * bytes;
  tprt_status status = TPRT_OK;
  nccl_group group;
  for (size_t i = 0; i < bytes && !status; i++)
    status = tprt__device_check(nccl->device,
                                nccl->device->memory_set(tprt__cuda_address(own + i),
                                                         r->plan->scale.bytes[i], 1, r->stream),
                                "a factor");
  if (!status)
    status = tprt__nccl_group_begin(&group, nccl, r->stream);
  if (status)
    return status;
  tprt__nccl_group_add(
      &group, nccl->library->all_gather(own, r->scales, bytes, NCCL_TYPE_U8, nccl->comm, r->stream),
      "ncclAllGather");
  return tprt__nccl_group_end(&group, r->wait);
}

static tprt_status reduce_parts(const reducing *r) {
  const tprt__plan *plan = r->plan;
  int64_t count = sent_to(r, plan->rank).bytes / (int64_t)plan->type->size;
  const void **sources = tprt__alloc((size_t)plan->n_ranks * sizeof *sources);
  if (!sources)
    return tprt__fail_memory((size_t)plan->n_ranks * sizeof *sources);
  for (int i = 0; i < plan->n_ranks; i++)
    sources[i] = slot_of(r, i);
  const tprt__gpu_reduction reduction = {.dtype = plan->dtype,
                                         .reduction = plan->reduction,
                                         .sources = sources,
                                         .n = plan->n_ranks,
                                         .out = r->result,
                                         .count = count,
                                         .run = count,
                                         .step = count,
                                         .scales =
                                             plan->reduction == TPRT_PREMUL_SUM ? r->scales : NULL};
  tprt_status status = tprt__gpu_reduce((tprt__gpu_queue){r->nccl->gpu, r->stream}, &reduction);
  tprt__free(sources);
  return status;
}

/* Sends the results to the ranks that want them. */
static tprt_status exchange_results(const reducing *r) {
  const tprt__plan *plan = r->plan;
  bool is_scattered = plan->kind == TPRT_OP_REDUCE_SCATTER || plan->sends;
  bool is_wanted = is_scattered || plan->kind == TPRT_OP_ALL_REDUCE || plan->rank == plan->root;
  int64_t own_bytes = sent_to(r, plan->rank).bytes;
  tprt_status status = TPRT_OK;
  nccl_group group;
  if (is_wanted)
    status = tprt__nccl_copy(r->nccl,
                             is_scattered ? plan->recv : part_at(plan, plan->recv, plan->rank).at,
                             r->result, own_bytes, r->stream);
  if (status || is_scattered)
    return status;
  status = tprt__nccl_group_begin(&group, r->nccl, r->stream);
  if (status)
    return status;
  for (int i = 0; i < plan->n_ranks; i++) {
    if (i == plan->rank)
      continue;
    if (plan->kind == TPRT_OP_ALL_REDUCE || i == plan->root)
      tprt__nccl_group_send(&group, r->result, own_bytes, i);
    if (is_wanted) {
      tprt__part part = part_at(plan, plan->recv, i);
      tprt__nccl_group_receive(&group, part.at, part.bytes, i);
    }
  }
  return tprt__nccl_group_end(&group, r->wait);
}

tprt_status tprt__nccl_reduce(nccl_transport *nccl, const tprt__plan *plan, cuda_stream stream,
                              nccl_wait *wait) {
  reducing r = {.nccl = nccl, .plan = plan, .stream = stream, .wait = wait};
  tprt_status status = take_memory(&r);
  if (!status)
    status = exchange_parts(&r);
  if (!status && plan->reduction == TPRT_PREMUL_SUM)
    status = gather_scales(&r);
  if (!status)
    status = reduce_parts(&r);
  return status ? status : exchange_results(&r);
}
