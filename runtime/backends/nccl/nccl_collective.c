/* Collectives: those that NCCL has, and the others composed of its sends and receives. */
#include "backends/nccl/nccl.h"

#include <string.h>

/* An operation that is being enqueued into a stream. */
typedef struct launch {
  nccl_transport *nccl;
  const tprt__plan *plan;
  cuda_stream stream;
  nccl_wait *wait;
  nccl_group *group; /* an open group that the operation joins; NULL: it has one of its own */
} launch;

/* ---- tensors whose pieces are not contiguous ---- */

bool tprt__nccl_in_runs(tprt__map map, int64_t piece) {
  return map.n == 1 || map.run == piece || !piece;
}

static char *piece_at(const void *tensor, tprt__map map, int i) {
  return (char *)(uintptr_t)tensor + (map.n > 1 ? i * map.run : 0);
}

/* Packs all pieces of a tensor one after the other into `packed`, or unpacks them (`back`). */
static tprt_status pack(const launch *run, char *packed, const void *tensor, tprt__map map,
                        bool back) {
  int64_t piece = run->plan->piece, pitch = map.n * map.run, rows = piece / map.run;
  tprt_status status = TPRT_OK;
  for (int i = 0; i < map.n && !status; i++) {
    char *flat = packed + i * piece, *at = piece_at(tensor, map, i);
    status =
        back
            ? tprt__nccl_copy_rows(run->nccl, at, pitch, flat, map.run, map.run, rows, run->stream)
            : tprt__nccl_copy_rows(run->nccl, flat, map.run, at, pitch, map.run, rows, run->stream);
  }
  return status;
}

tprt_status tprt__nccl_pack(nccl_transport *nccl, const tprt__plan *plan, char *packed,
                            cuda_stream stream) {
  const launch run = {.nccl = nccl, .plan = plan, .stream = stream};
  return pack(&run, packed, plan->send, plan->send_map, false);
}

/* ---- kinds that NCCL has ---- */

/* Runs a single NCCL call in the group of the operation, and returns its status from the calling
 * function. */
#define CALL_ALONE(run, name, call)                                                                \
  do {                                                                                             \
    nccl_group group_;                                                                             \
    if ((run)->group) {                                                                            \
      tprt__nccl_group_add((run)->group, call, name);                                              \
      return (run)->group->status;                                                                 \
    }                                                                                              \
    tprt_status status_ = tprt__nccl_group_begin(&group_, (run)->nccl, (run)->stream);             \
    if (status_)                                                                                   \
      return status_;                                                                              \
    tprt__nccl_group_add(&group_, call, name);                                                     \
    return tprt__nccl_group_end(&group_, (run)->wait);                                             \
  } while (0)

static tprt_status barrier(const launch *run) {
  nccl_transport *nccl = run->nccl;
  void *word = (void *)(uintptr_t)nccl->word; /* NCCL ignores an all-reduce without elements */
  CALL_ALONE(run, "ncclAllReduce",
             nccl->library->all_reduce(word, word, 1, NCCL_TYPE_I32, NCCL_REDUCE_SUM, nccl->comm,
                                       run->stream));
}

static tprt_status broadcast(const launch *run) {
  const tprt__plan *plan = run->plan;
  nccl_transport *nccl = run->nccl;
  /* only the root's send is read */
  const void *from = plan->rank == plan->root ? plan->send : plan->recv;
  CALL_ALONE(run, "ncclBroadcast",
             nccl->library->broadcast(from, plan->recv, (size_t)plan->send_bytes, NCCL_TYPE_U8,
                                      plan->root, nccl->comm, run->stream));
}

static tprt_status all_gather(const launch *run) {
  const tprt__plan *plan = run->plan;
  nccl_transport *nccl = run->nccl;
  CALL_ALONE(run, "ncclAllGather",
             nccl->library->all_gather(plan->send, plan->recv, (size_t)plan->piece, NCCL_TYPE_U8,
                                       nccl->comm, run->stream));
}

/* True for all_to_all, gather and scatter if the library has them and the pieces are contiguous. */
static bool is_native(const launch *run) {
  const tprt__plan *plan = run->plan;
  const nccl_library *library = run->nccl->library;
  bool has = (plan->kind == TPRT_OP_ALL_TO_ALL && library->all_to_all) ||
             (plan->kind == TPRT_OP_GATHER && library->gather) ||
             (plan->kind == TPRT_OP_SCATTER && library->scatter);
  return has && tprt__nccl_since(library, NCCL_SINCE_PIECES) &&
         tprt__nccl_in_runs(plan->send_map, plan->piece) &&
         tprt__nccl_in_runs(plan->recv_map, plan->piece);
}

static tprt_status native(const launch *run) {
  const tprt__plan *plan = run->plan;
  nccl_transport *nccl = run->nccl;
  size_t n = (size_t)plan->piece;
  if (plan->kind == TPRT_OP_ALL_TO_ALL)
    CALL_ALONE(run, "ncclAlltoAll",
               nccl->library->all_to_all(plan->send, plan->recv, n, NCCL_TYPE_U8, nccl->comm,
                                         run->stream));
  if (plan->kind == TPRT_OP_GATHER)
    CALL_ALONE(run, "ncclGather",
               nccl->library->gather(plan->send, plan->recv, n, NCCL_TYPE_U8, plan->root,
                                     nccl->comm, run->stream));
  CALL_ALONE(run, "ncclScatter",
             nccl->library->scatter(plan->send, plan->recv, n, NCCL_TYPE_U8, plan->root, nccl->comm,
                                    run->stream));
}

/* Where NCCL reads and writes: the tensors, or scratch memory if they are in pieces or not aligned
 * as NCCL's kernels require. */
typedef struct places {
  const char *send; /* ..._V kinds: the packed parts; NULL: the parts are used in place */
  char *recv;
} places;

static tprt_status reduce_one(const launch *run, const nccl_mapping *mapping, const places *at) {
  const tprt__plan *plan = run->plan;
  nccl_transport *nccl = run->nccl;
  int64_t bytes = plan->kind == TPRT_OP_REDUCE_SCATTER ? plan->piece : plan->send_bytes;
  size_t n = (size_t)(bytes / (int64_t)plan->type->size) * (size_t)mapping->units;
  if (plan->kind == TPRT_OP_ALL_REDUCE)
    CALL_ALONE(run, "ncclAllReduce",
               nccl->library->all_reduce(at->send, at->recv, n, mapping->type, mapping->reduction,
                                         nccl->comm, run->stream));
  if (plan->kind == TPRT_OP_REDUCE)
    CALL_ALONE(run, "ncclReduce",
               nccl->library->reduce(at->send, at->recv, n, mapping->type, mapping->reduction,
                                     plan->root, nccl->comm, run->stream));
  CALL_ALONE(run, "ncclReduceScatter",
             nccl->library->reduce_scatter(at->send, at->recv, n, mapping->type, mapping->reduction,
                                           nccl->comm, run->stream));
}

/* One ncclReduce to each rank. */
static tprt_status reduce_parts(const launch *run, const nccl_mapping *mapping, const places *at) {
  const tprt__plan *plan = run->plan;
  nccl_transport *nccl = run->nccl;
  const char *packed = at->send;
  nccl_group group;
  tprt_status status = tprt__nccl_group_begin(&group, nccl, run->stream);
  if (status)
    return status;
  for (int i = 0; i < plan->n_ranks && !group.status; i++) {
    tprt__part part = plan->sends[i];
    size_t n = (size_t)(part.bytes / (int64_t)plan->type->size) * (size_t)mapping->units;
    if (n)
      tprt__nccl_group_add(
          &group,
          nccl->library->reduce(packed ? packed : part.at, i == plan->rank ? at->recv : NULL, n,
                                mapping->type, mapping->reduction, i, nccl->comm, run->stream),
          "ncclReduce");
    packed += packed ? part.bytes : 0;
  }
  return tprt__nccl_group_end(&group, run->wait);
}

static bool is_aligned(const void *at, size_t size) { return (uintptr_t)at % size == 0; }

/* Returns the bytes of the input if it must be copied before NCCL can read it; else 0. */
static int64_t bytes_to_stage(const tprt__plan *plan, size_t unit) {
  int64_t all = 0;
  bool stages = false;
  if (!plan->sends)
    return is_aligned(plan->send, unit) && tprt__nccl_in_runs(plan->send_map, plan->piece)
               ? 0
               : plan->send_bytes;
  for (int i = 0; i < plan->n_ranks; i++) {
    all += plan->sends[i].bytes;
    stages |= plan->sends[i].bytes && !is_aligned(plan->sends[i].at, unit);
  }
  return stages ? all : 0;
}

static tprt_status stage(const launch *run, char *to) {
  const tprt__plan *plan = run->plan;
  tprt_status status = TPRT_OK;
  if (!plan->sends && tprt__nccl_in_runs(plan->send_map, plan->piece))
    return tprt__nccl_copy(run->nccl, to, plan->send, plan->send_bytes, run->stream);
  if (!plan->sends)
    return pack(run, to, plan->send, plan->send_map, false);
  for (int i = 0; i < plan->n_ranks && !status; i++) {
    status = tprt__nccl_copy(run->nccl, to, plan->sends[i].at, plan->sends[i].bytes, run->stream);
    to += plan->sends[i].bytes;
  }
  return status;
}

/* Bytes of scratch memory that a reduction needs for its input and for its output. */
typedef struct scratch_need {
  int64_t in, out;
} scratch_need;

static scratch_need scratch_of(const tprt__plan *plan) {
  size_t unit = plan->type->size; /* at least the size of NCCL's type */
  /* NULL, if this rank receives nothing, counts as aligned */
  int64_t out = is_aligned(plan->recv, unit) ? 0 : plan->recv_bytes;
  return (scratch_need){(int64_t)tprt__round_up((size_t)bytes_to_stage(plan, unit), 64),
                        (int64_t)tprt__round_up((size_t)out, 64)};
}

/* Finds the places of a reduction, and copies its input to scratch memory if it must. */
static tprt_status find_places(const launch *run, char *scratch, places *at) {
  const tprt__plan *plan = run->plan;
  scratch_need need = scratch_of(plan);
  *at = (places){.send = plan->sends ? NULL : plan->send, .recv = plan->recv};
  if (need.out)
    at->recv = scratch + need.in;
  if (!need.in)
    return TPRT_OK;
  at->send = scratch;
  return stage(run, scratch);
}

/* Creates the NCCL operator of premul_sum, which holds the factor of this rank. */
static tprt_status make_factor(const launch *run, nccl_mapping *mapping) {
  nccl_transport *nccl = run->nccl;
  unsigned char scalar[16];
  memcpy(scalar, run->plan->scale.bytes, sizeof scalar);
  if (run->plan->type->narrow)
    run->plan->type->narrow(scalar, run->plan->scale.bytes, 1);
  pthread_mutex_lock(&nccl->lock);
  tprt_status status = nccl->comm ? tprt__nccl_check(nccl->library, nccl->comm,
                                                     nccl->library->premul_create(
                                                         &mapping->reduction, scalar, mapping->type,
                                                         NCCL_SCALAR_ON_HOST, nccl->comm),
                                                     "ncclRedOpCreatePreMulSum")
                                  : tprt__nccl_fail_ended();
  pthread_mutex_unlock(&nccl->lock);
  return status;
}

static void end_factor(const launch *run, const nccl_mapping *mapping) {
  nccl_transport *nccl = run->nccl;
  pthread_mutex_lock(&nccl->lock);
  if (nccl->comm)
    nccl->library->premul_destroy(mapping->reduction, nccl->comm);
  pthread_mutex_unlock(&nccl->lock);
}

/* What NCCL's reduction leaves to do. */
static tprt_status finish_reduction(const launch *run, const nccl_mapping *mapping,
                                    const places *at) {
  const tprt__plan *plan = run->plan;
  tprt_status status =
      mapping->divides ? tprt__nccl_divide(run->nccl, plan, at->recv, plan->recv_bytes, run->stream)
                       : TPRT_OK;
  if (!status && at->recv != plan->recv)
    status = tprt__nccl_copy(run->nccl, plan->recv, at->recv, plan->recv_bytes, run->stream);
  return status;
}

static tprt_status reduction(const launch *run) {
  const tprt__plan *plan = run->plan;
  nccl_mapping mapping = tprt__nccl_map_reduction(run->nccl, plan);
  scratch_need need = scratch_of(plan);
  char *scratch = NULL;
  places at;
  tprt_status status = TPRT_OK;
  if (mapping.is_ours)
    return tprt__nccl_reduce(run->nccl, plan, run->stream, run->wait);
  if (need.in || need.out)
    status = tprt__nccl_scratch(run->nccl, need.in + need.out, run->stream, &scratch);
  if (!status)
    status = find_places(run, scratch, &at);
  if (!status && plan->reduction == TPRT_PREMUL_SUM)
    status = make_factor(run, &mapping);
  if (status)
    return status;
  status = plan->sends ? reduce_parts(run, &mapping, &at) : reduce_one(run, &mapping, &at);
  if (plan->reduction == TPRT_PREMUL_SUM)
    end_factor(run, &mapping);
  return status ? status : finish_reduction(run, &mapping, &at);
}

/* ---- kinds composed of sends and receives ---- */

static bool is_wanted_by(const tprt__plan *plan, int i) {
  if (!tprt__plan_sends(plan))
    return false;
  if (plan->kind == TPRT_OP_PERMUTE) {
    for (int k = 0; k < plan->n_destinations; k++) {
      if (plan->destinations[k] == i)
        return true;
    }
    return false;
  }
  return !(plan->traits & TPRT__ROOT_RECEIVES) || i == plan->root;
}

/* The part that goes to rank i, and the place of the part that comes from rank i. */
static tprt__part source_of(const tprt__plan *plan, const char *packed, int i) {
  if (plan->sends)
    return plan->sends[i];
  if (plan->parts)
    return (tprt__part){(char *)(uintptr_t)plan->send, plan->send_bytes};
  return (tprt__part){packed ? (char *)(uintptr_t)packed + i * plan->piece
                             : piece_at(plan->send, plan->send_map, i),
                      plan->piece};
}

static tprt__part target_of(const tprt__plan *plan, char *received, int i) {
  if (plan->recvs)
    return plan->recvs[i];
  if (plan->parts)
    return (tprt__part){plan->recv, plan->recv_bytes};
  return (tprt__part){
      received ? received + i * plan->piece : piece_at(plan->recv, plan->recv_map, i), plan->piece};
}

static tprt_status move(const launch *run, const char *packed, char *received) {
  const tprt__plan *plan = run->plan;
  nccl_group group;
  tprt_status status = TPRT_OK;
  if (tprt__plan_wants(plan, plan->rank) && is_wanted_by(plan, plan->rank)) {
    tprt__part to = target_of(plan, received, plan->rank);
    status = tprt__nccl_copy(run->nccl, to.at, source_of(plan, packed, plan->rank).at, to.bytes,
                             run->stream);
  }
  if (!status)
    status = tprt__nccl_group_begin(&group, run->nccl, run->stream);
  if (status)
    return status;
  for (int i = 0; i < plan->n_ranks; i++) {
    tprt__part from = source_of(plan, packed, i), to = target_of(plan, received, i);
    if (i != plan->rank && is_wanted_by(plan, i))
      tprt__nccl_group_send(&group, from.at, from.bytes, i);
    if (i != plan->rank && tprt__plan_wants(plan, i))
      tprt__nccl_group_receive(&group, to.at, to.bytes, i);
  }
  return tprt__nccl_group_end(&group, run->wait);
}

static bool packs_sends(const tprt__plan *plan) {
  return !plan->parts && tprt__plan_sends(plan) && !tprt__nccl_in_runs(plan->send_map, plan->piece);
}

static bool unpacks_receives(const tprt__plan *plan) {
  return !plan->parts && tprt__plan_receives(plan) &&
         !tprt__nccl_in_runs(plan->recv_map, plan->piece);
}

static tprt_status pieces(const launch *run) {
  const tprt__plan *plan = run->plan;
  bool packs = packs_sends(plan), unpacks = unpacks_receives(plan);
  char *packed = NULL, *received = NULL;
  tprt_status status = TPRT_OK;
  int64_t all = plan->n_ranks * plan->piece;
  if (packs || unpacks)
    status = tprt__nccl_scratch(run->nccl, packs && unpacks ? 2 * all : all, run->stream, &packed);
  if (unpacks)
    received = packs ? packed + all : packed;
  if (!packs)
    packed = NULL;
  if (!status && packs)
    status = pack(run, packed, plan->send, plan->send_map, false);
  if (!status && plan->kind == TPRT_OP_PERMUTE && plan->source < 0 && plan->recv_bytes)
    status =
        tprt__device_check(run->nccl->device,
                           run->nccl->device->memory_set(tprt__cuda_address(plan->recv), 0,
                                                         (size_t)plan->recv_bytes, run->stream),
                           "clearing memory");
  if (!status)
    status = move(run, packed, received);
  if (!status && unpacks)
    status = pack(run, received, plan->recv, plan->recv_map, true);
  return status;
}

/* ---- comparison of the ranks ---- */

/* Finds the first pair of ranks whose sent and expected bytes differ. */
static tprt_status find_difference(nccl_transport *nccl, const tprt__plan *plan, const int64_t *all,
                                   uint32_t sequence) {
  int n = plan->n_ranks;
  int64_t size = (int64_t)plan->type->size;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) {
      int64_t sent = all[i * 2 * n + k], expected = all[k * 2 * n + n + i];
      if (sent != expected)
        return tprt__fail(TPRT_MISMATCH,
                          "operation %u, all_to_all_v: rank %d sends %lld elements to rank %d, "
                          "which expects %lld",
                          sequence, nccl->world_ranks[i], (long long)(sent / size),
                          nccl->world_ranks[k], (long long)(expected / size));
    }
  }
  return TPRT_OK;
}

/* Compares the counts of all_to_all_v, which the signature does not cover. */
static tprt_status compare_pieces(nccl_transport *nccl, const tprt__plan *plan,
                                  const nccl_wait *wait) {
  tprt__transport *host = nccl->base.host;
  size_t n = (size_t)plan->n_ranks, words = 2 * n;
  int64_t *all = tprt__alloc((n + 1) * words * sizeof *all), *mine = all + n * words;
  if (!all)
    return tprt__fail_memory((n + 1) * words * sizeof *all);
  for (size_t i = 0; i < n; i++) {
    mine[i] = plan->sends[i].bytes;
    mine[n + i] = plan->recvs[i].bytes;
  }
  const tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, mine, all, (int64_t)words, TPRT_I64, NULL);
  tprt__plan asked;
  tprt_status status = tprt__plan_make(&op, plan->n_ranks, plan->rank, &asked);
  if (!status)
    status = host->backend->submit(host, &asked, wait->sequence, wait->deadline);
  if (!status)
    status = find_difference(nccl, plan, all, wait->sequence);
  tprt__free(all);
  return status;
}

/* Compares signatures with a barrier on the companion, which carries this operation's signature and
 * identifies the rank that differs. */
static tprt_status compare(nccl_transport *nccl, const tprt__plan *plan, const nccl_wait *wait) {
  tprt__transport *host = nccl->base.host;
  tprt__plan asked = {
      .kind = TPRT_OP_BARRIER, .n_ranks = plan->n_ranks, .rank = plan->rank, .type = plan->type};
  memcpy(asked.signature, plan->signature, sizeof asked.signature);
  tprt_status status = host->backend->submit(host, &asked, wait->sequence, wait->deadline);
  return !status && plan->kind == TPRT_OP_ALL_TO_ALL_V ? compare_pieces(nccl, plan, wait) : status;
}

/* ---- dispatch ---- */

static tprt_status launch_kind(const launch *run) {
  const tprt__plan *plan = run->plan;
  if (plan->kind == TPRT_OP_BARRIER)
    return barrier(run);
  if (!plan->parts && !plan->send_bytes)
    return TPRT_OK; /* on all ranks, because they have the same shape */
  if (plan->reduction)
    return reduction(run);
  if (plan->kind == TPRT_OP_BROADCAST)
    return broadcast(run);
  if (plan->kind == TPRT_OP_ALL_GATHER && tprt__nccl_in_runs(plan->recv_map, plan->piece))
    return all_gather(run);
  return is_native(run) ? native(run) : pieces(run);
}

bool tprt__nccl_stages(const tprt__plan *plan) {
  if (plan->reduction)
    return bytes_to_stage(plan, plan->type->size) || !is_aligned(plan->recv, plan->type->size);
  return packs_sends(plan) || unpacks_receives(plan);
}

tprt_status tprt__nccl_enqueue(nccl_transport *nccl, const tprt__plan *plan, cuda_stream stream,
                               nccl_wait *wait) {
  const launch run = {.nccl = nccl, .plan = plan, .stream = stream, .wait = wait};
  tprt_status status = nccl->check ? compare(nccl, plan, wait) : TPRT_OK;
  if (!status)
    status = launch_kind(&run);
  tprt_status ended = status ? TPRT_OK : tprt__nccl_scratch_end(nccl, stream);
  nccl->scratch_taken = false;
  return status ? status : ended;
}

/* ---- several collectives in a group ---- */

/* True for a collective that is one call of NCCL, before and after which only this rank's own data
 * is copied. Says the same on all ranks: it does not look at addresses. */
static bool is_one_call(const nccl_transport *nccl, const tprt__plan *plan) {
  const launch run = {.nccl = (nccl_transport *)(uintptr_t)nccl, .plan = plan};
  if (plan->parts || plan->kind == TPRT_OP_BARRIER)
    return false;
  if (plan->reduction)
    return plan->reduction != TPRT_PREMUL_SUM && !tprt__nccl_map_reduction(nccl, plan).is_ours;
  return plan->kind == TPRT_OP_BROADCAST ||
         (plan->kind == TPRT_OP_ALL_GATHER && tprt__nccl_in_runs(plan->recv_map, plan->piece)) ||
         is_native(&run);
}

size_t tprt__nccl_joins(const tprt__transport *transport, const tprt__plan *plans, size_t n) {
  const nccl_transport *nccl = (const nccl_transport *)transport;
  size_t count = 0;
  while (count < n && !nccl->check && plans[count].independent && is_one_call(nccl, &plans[count]))
    count++;
  return count > 1 ? count : 1;
}

/* Where a collective of a group reads and writes. */
typedef struct joined {
  nccl_mapping mapping; /* of a reduction */
  places at;
} joined;

static tprt_status stage_all(launch *run, const tprt__plan *plans, size_t n, joined *all) {
  int64_t bytes = 0;
  char *scratch = NULL;
  tprt_status status = TPRT_OK;
  for (size_t i = 0; i < n; i++) {
    scratch_need need = plans[i].reduction ? scratch_of(&plans[i]) : (scratch_need){0};
    bytes += need.in + need.out;
  }
  if (bytes)
    status = tprt__nccl_scratch(run->nccl, bytes, run->stream, &scratch);
  for (size_t i = 0; i < n && !status; i++) {
    run->plan = &plans[i];
    if (!plans[i].reduction)
      continue;
    scratch_need need = scratch_of(&plans[i]);
    all[i].mapping = tprt__nccl_map_reduction(run->nccl, &plans[i]);
    status = find_places(run, scratch, &all[i].at);
    scratch += scratch ? need.in + need.out : 0;
  }
  return status;
}

static tprt_status call_all(launch *run, const tprt__plan *plans, size_t n, const joined *all) {
  nccl_group group;
  tprt_status status = tprt__nccl_group_begin(&group, run->nccl, run->stream);
  if (status)
    return status;
  run->group = &group;
  for (size_t i = 0; i < n && !group.status; i++) {
    run->plan = &plans[i];
    if (!plans[i].send_bytes)
      continue; /* on all ranks, because they have the same shape */
    if (plans[i].reduction)
      (void)reduce_one(run, &all[i].mapping, &all[i].at); /* the group keeps the status */
    else
      (void)launch_kind(run);
  }
  run->group = NULL;
  return tprt__nccl_group_end(&group, run->wait);
}

tprt_status tprt__nccl_enqueue_joined(nccl_transport *nccl, const tprt__plan *plans, size_t n,
                                      cuda_stream stream, nccl_wait *wait) {
  launch run = {.nccl = nccl, .stream = stream, .wait = wait};
  joined *all = tprt__alloc(n * sizeof *all);
  if (!all)
    return tprt__fail_memory(n * sizeof *all);
  tprt_status status = stage_all(&run, plans, n, all);
  if (!status)
    status = call_all(&run, plans, n, all);
  for (size_t i = 0; i < n && !status; i++) {
    run.plan = &plans[i];
    if (plans[i].reduction)
      status = finish_reduction(&run, &all[i].mapping, &all[i].at);
  }
  tprt__free(all);
  tprt_status ended = status ? TPRT_OK : tprt__nccl_scratch_end(nccl, stream);
  nccl->scratch_taken = false;
  return status ? status : ended;
}

tprt_status tprt__nccl_submit(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                              int64_t deadline) {
  nccl_transport *nccl = (nccl_transport *)transport;
  nccl_wait wait = {.kind = plan->kind, .sequence = sequence, .deadline = deadline};
  tprt_status status = tprt__nccl_begin(nccl, &wait);
  if (status)
    return status;
  return tprt__nccl_finish(nccl, tprt__nccl_enqueue(nccl, plan, nccl->stream, &wait), &wait);
}
