/* Collectives of the shm backend: one engine for all kinds.
 *
 * Arrival: every rank publishes a notice with the signature of its operation, usually together with
 * the first chunk in its slot. When all ranks have arrived, a difference in the signatures ends the
 * operation on all ranks. Then the engine takes one of two paths:
 *   staged    The data moves in chunks through the slots: pack, publish, await, unpack.
 *             In a longer all-reduce, each rank reduces one slice, and the next step exchanges
 *             the results.
 *   in place  All buffers are in arenas, or all ranks are threads of one process, so the ranks
 *             access the buffers of their peers. A closing step then permits the buffers to change.
 */
#include "backends/shm/shm.h"
#include "base/nontemporal.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

enum {
  /* up to this size latency dominates: in one step every rank reduces everything */
  ONE_SHOT_BYTES = 16 << 10,
  /* the same limit for two ranks, which save less by sharing the work (measured) */
  ONE_SHOT_PAIR = 32 << 10,
  MIN_RUN_BYTES = 256,    /* staging is faster for shorter runs */
  PART_BYTES = 1 << 20,   /* of accesses in place between two checks for a fault */
  BLOCK_BYTES = 16 << 10, /* of results that are copied while they are in the L1 cache */
};

static bool scatters(const tprt__plan *plan) { return plan->traits & TPRT__SCATTERS; }

/* ---- staged ---- */

/* True if a rank reads its own contribution from the user's buffer, so that it need not be packed
 * into the slot. Otherwise a reduction needs the contribution contiguous in the slot. */
static bool keeps_own(const tprt__plan *plan) {
  return !plan->reduction || !scatters(plan) || plan->send_map.run == plan->piece;
}

/* In two phases, a slot is n parts: the slices of the chunk that the peers reduce, and this rank's
 * result. Returns where rank r puts its input for rank i. */
static int64_t input_at(const shm_engine *run, int r, int i) {
  return (i - (i > r)) * (run->capacity / run->plan->n_ranks);
}
static int64_t result_at(const shm_engine *run) {
  return (run->plan->n_ranks - 1) * (run->capacity / run->plan->n_ranks);
}

static void pack(const shm_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  unsigned char *slot = tprt__shm_next_slot(run->shm);
  if (!bytes || !tprt__plan_sends(plan))
    return;
  if (run->two_phase) {
    for (int i = 0; i < plan->n_ranks; i++) {
      int64_t from = tprt__slice_begin(bytes, plan->n_ranks, i),
              to = tprt__slice_begin(bytes, plan->n_ranks, i + 1);
      if (i != plan->rank)
        memcpy(slot + input_at(run, plan->rank, i), (const char *)plan->send + begin + from,
               (size_t)(to - from));
    }
    return;
  }
  int n = scatters(plan) ? plan->n_ranks : 1;
  for (int i = 0; i < n; i++) {
    if (n > 1 && i == plan->rank && keeps_own(plan))
      continue;
    tprt__piece_copy(slot + i * run->capacity, tprt__place_flat(), plan->send,
                     tprt__place_in(plan->send_map, i, begin), bytes, false);
  }
}

/* Reduces a chunk into recv. This rank's data comes from the user's buffer if possible. */
static void reduce_chunk(const shm_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  shm_transport *shm = run->shm;
  bool scatter = scatters(plan);
  for (int i = 0; i < plan->n_ranks; i++)
    shm->sources[i] = tprt__shm_peer_slot(shm, i) + (scatter ? plan->rank * run->capacity : 0);
  if (keeps_own(plan))
    shm->sources[plan->rank] =
        (const char *)plan->send + (scatter ? plan->rank * plan->piece : 0) + begin;
  void *destination = (char *)plan->recv + begin;
  tprt__reduce(plan->type, plan->reduction, &destination, 1, shm->sources, plan->n_ranks,
               shm->scales, bytes / (int64_t)plan->type->size, run->stream);
}

static void unpack_from(const shm_engine *run, int peer, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  int me = run->shm->base.rank;
  tprt__place target = tprt__place_in(plan->recv_map, peer, begin);
  if (peer == me) { /* not through the slot: a gather may be in place */
    tprt__piece_copy(plan->recv, target, plan->send, tprt__place_in(plan->send_map, me, begin),
                     bytes, run->stream);
  } else {
    const unsigned char *slot =
        tprt__shm_peer_slot(run->shm, peer) + (scatters(plan) ? me * run->capacity : 0);
    tprt__piece_copy(plan->recv, target, slot, tprt__place_flat(), bytes, run->stream);
  }
}

static void unpack(const shm_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  if (plan->reduction) {
    if (plan->recv)
      reduce_chunk(run, begin, bytes);
    return;
  }
  for (int i = 0; i < plan->n_ranks; i++) {
    if (tprt__plan_wants(plan, i))
      unpack_from(run, i, begin, bytes);
  }
}

/* Publishes what was packed into the slot, and waits for the slots of the others. */
static tprt_status next_step(const shm_engine *run) {
  tprt__shm_publish(run->shm);
  return tprt__shm_await(run->shm, &run->wait);
}

/* Moves the pieces, chunk by chunk. The first chunk is in the slots if `arrived`. */
static tprt_status run_chunks(const shm_engine *run, bool arrived) {
  for (int64_t begin = 0; begin < run->plan->piece; begin += run->capacity) {
    int64_t bytes = tprt__min(run->capacity, run->plan->piece - begin);
    if (!arrived || begin) {
      pack(run, begin, bytes);
      tprt_status status = next_step(run);
      if (status)
        return status;
    }
    unpack(run, begin, bytes);
  }
  return TPRT_OK;
}

/* ---- staged, in two phases ---- */

/* Reduces this rank's slice of a chunk into recv, if there is one, and into the slot.
 *
 * The peers have read the slot, so their caches hold its lines. Ordinary stores would wait for each
 * line in turn, where the copy of a block requests many at once (measured: twice as fast, if the
 * processors are far apart). */
static void reduce_slice(const shm_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  shm_transport *shm = run->shm;
  int n = plan->n_ranks, me = plan->rank;
  int64_t from = tprt__slice_begin(bytes, n, me), to = tprt__slice_begin(bytes, n, me + 1);
  _Alignas(SHM_CACHE_LINE) unsigned char block[BLOCK_BYTES];
  /* sums that remain in the cache need no block */
  bool to_recv = plan->recv && !run->stream;
  int64_t block_bytes = to_recv ? to - from : BLOCK_BYTES;
  unsigned char *slot = tprt__shm_next_slot(shm) + result_at(run);
  for (int i = 0; i < n; i++)
    shm->sources[i] = tprt__shm_peer_slot(shm, i) + input_at(run, i, me);
  shm->sources[me] = (const char *)plan->send + begin + from;
  for (int64_t at = from; at < to; at += block_bytes) {
    int64_t part = tprt__min(block_bytes, to - at);
    char *recv = plan->recv ? (char *)plan->recv + begin + at : NULL;
    void *sums = to_recv ? (void *)recv : block;
    tprt__reduce(plan->type, plan->reduction, &sums, 1, shm->sources, n, shm->scales,
                 part / (int64_t)plan->type->size, 0);
    memcpy(slot + (at - from), sums, (size_t)part);
    if (recv && !to_recv)
      tprt__stream_copy(recv, sums, (size_t)part);
    for (int i = 0; i < n; i++)
      shm->sources[i] = (const char *)shm->sources[i] + part;
  }
}

/* Copies the results of the peers for a chunk. */
static void copy_results(const shm_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  int n = plan->n_ranks;
  for (int i = 0; i < n && plan->recv; i++) {
    if (i == plan->rank)
      continue;
    int64_t from = tprt__slice_begin(bytes, n, i), to = tprt__slice_begin(bytes, n, i + 1);
    char *recv = (char *)plan->recv + begin + from;
    const unsigned char *slot = tprt__shm_peer_slot(run->shm, i) + result_at(run);
    if (run->stream)
      tprt__stream_copy(recv, slot, (size_t)(to - from));
    else
      memcpy(recv, slot, (size_t)(to - from));
  }
}

/* A slot has the inputs of one chunk and this rank's result for the chunk before it, so a chunk
 * costs one step, and one more step ends the operation. */
static tprt_status run_two_phase(const shm_engine *run, bool arrived) {
  int64_t piece = run->plan->piece, before = 0, after;
  if (!arrived) {
    pack(run, 0, tprt__min(run->capacity, piece));
    tprt_status status = next_step(run);
    if (status)
      return status;
  }
  for (int64_t begin = 0; begin < piece; begin += run->capacity) {
    int64_t bytes = tprt__min(run->capacity, piece - begin);
    reduce_slice(run, begin, bytes);
    after = tprt__min(run->capacity, piece - begin - bytes);
    pack(run, begin + bytes, after);
    copy_results(run, begin - before, before);
    before = bytes;
    tprt_status status = next_step(run);
    if (status)
      return status;
  }
  copy_results(run, (piece - 1) / run->capacity * run->capacity, before);
  return TPRT_OK;
}

static tprt_status run_staged(const shm_engine *run, bool arrived) {
  tprt_status status = run->two_phase ? run_two_phase(run, arrived) : run_chunks(run, arrived);
  if (!status && run->stream)
    tprt__stream_end();
  return status;
}

/* ---- in place ---- */

/* Only all_reduce and reduce write into buffers of peers. The other kinds only read, so only their
 * send buffers must be accessible. */
void tprt__shm_locate(const shm_engine *run, shm_notice *notice) {
  const tprt__plan *plan = run->plan;
  const shm_transport *shm = run->shm;
  notice->access = SHM_STAGED;
  if (plan->send_bytes <= ONE_SHOT_BYTES)
    return;
  if (plan->kind == TPRT_OP_REDUCE_SCATTER && plan->send_map.run < MIN_RUN_BYTES)
    return;
  if (shm->segment->one_process) {
    notice->send = (uintptr_t)plan->send;
    notice->recv = (uintptr_t)plan->recv;
    notice->access = SHM_ADDRESS | (uint32_t)getpid() << SHM_ACCESS_BITS;
    return;
  }
  bool written = plan->kind == TPRT_OP_ALL_REDUCE || (plan->kind == TPRT_OP_REDUCE && plan->recv);
  bool found = !tprt__plan_sends(plan) || /* only the root's notice counts */
               tprt__shm_arena_offset(shm, plan->send, plan->send_bytes, &notice->send);
  if (found && written)
    found = tprt__shm_arena_offset(shm, plan->recv, plan->recv_bytes, &notice->recv);
  if (found)
    notice->access = SHM_ARENA;
}

/* Computes the addresses of the peers' buffers, after checking their offsets. */
static tprt_status find_buffers(const shm_engine *run) {
  const tprt__plan *plan = run->plan;
  shm_transport *shm = run->shm;
  uint64_t arena = shm->segment->sizes.arena_bytes, bytes = (uint64_t)plan->send_bytes;
  for (int i = 0; i < plan->n_ranks; i++) {
    if (plan->traits & TPRT__ROOT_SENDS && i != plan->root)
      continue;
    shm_notice notice = shm->lines[i]->halves[shm->step & 1].notice;
    unsigned char *base = NULL;
    if (notice.access == SHM_ARENA) {
      base = tprt__shm_arena(shm->segment, shm->members[i]);
      if (bytes > arena || notice.send > arena - bytes || notice.recv > arena - bytes) {
        return tprt__fail(TPRT_INTERNAL, "rank %d published a buffer outside its arena",
                          shm->members[i]);
      }
    }
    shm->sources[i] = (const void *)((uintptr_t)base + notice.send);
    shm->destinations[i] = (void *)((uintptr_t)base + notice.recv);
  }
  return TPRT_OK;
}

/* Returns the length of the next part, 0 at the end or after a fault. A rank that gives up waits
 * until its peers have finished the part at which they are. */
static int64_t next_part(const shm_engine *run, int64_t left) {
  bool failed = atomic_load_explicit(&run->shm->lines[0]->fault, memory_order_relaxed) != 0;
  return failed ? 0 : tprt__min(PART_BYTES, left);
}

/* Reduces `bytes` bytes at `from` of the sources into the destinations, at the same place. */
static void reduce_slice_in_place(const shm_engine *run, void *const *destinations,
                                  int n_destinations, int64_t from, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  shm_transport *shm = run->shm;
  int n = plan->n_ranks;
  for (int64_t at = from, part; (part = next_part(run, from + bytes - at)); at += part) {
    for (int i = 0; i < n; i++)
      shm->sources_at[i] = (const char *)shm->sources[i] + at;
    for (int i = 0; i < n_destinations; i++)
      shm->destinations_at[i] = (char *)destinations[i] + at;
    tprt__reduce(plan->type, plan->reduction, shm->destinations_at, n_destinations, shm->sources_at,
                 n, shm->scales, part / (int64_t)plan->type->size,
                 run->stream ? n_destinations : 0);
  }
}

/* Reduces this rank's runs of the sources into its recv: many short runs at once, or a part of a
 * long one. */
static void reduce_runs_in_place(const shm_engine *run) {
  const tprt__plan *plan = run->plan;
  shm_transport *shm = run->shm;
  int n = plan->n_ranks;
  int64_t run_bytes = plan->send_map.run, size = (int64_t)plan->type->size;
  for (int64_t at = 0, part; (part = next_part(run, plan->piece - at)); at += part) {
    part = part > run_bytes ? part / run_bytes * run_bytes
                            : tprt__min(part, run_bytes - at % run_bytes);
    for (int i = 0; i < n; i++)
      shm->sources_at[i] = (const char *)shm->sources[i] +
                           (at / run_bytes * n + plan->rank) * run_bytes + at % run_bytes;
    tprt__reduce_runs(plan->type, plan->reduction, (void *const[]){(char *)plan->recv + at}, 1,
                      shm->sources_at, n, shm->scales,
                      &(tprt__runs){.count = part / size,
                                    .run = tprt__min(part, run_bytes) / size,
                                    .stride = n * run_bytes / size},
                      run->stream);
  }
}

static void reduce_in_place(const shm_engine *run) {
  const tprt__plan *plan = run->plan;
  shm_transport *shm = run->shm;
  int n = plan->n_ranks, me = shm->base.rank;
  if (scatters(plan)) {
    reduce_runs_in_place(run);
    return;
  }
  /* every rank reduces one slice and writes it to all receivers */
  int64_t from = tprt__slice_begin(plan->piece, n, me),
          to = tprt__slice_begin(plan->piece, n, me + 1);
  bool one = plan->kind == TPRT_OP_REDUCE;
  reduce_slice_in_place(run, shm->destinations + (one ? plan->root : 0), one ? 1 : n, from,
                        to - from);
}

static void copy_in_place(const shm_engine *run) {
  const tprt__plan *plan = run->plan;
  for (int i = 0; i < plan->n_ranks; i++) {
    int64_t bytes = tprt__plan_wants(plan, i) ? plan->piece : 0;
    for (int64_t at = 0, part; (part = next_part(run, bytes - at)); at += part)
      tprt__piece_copy(plan->recv, tprt__place_in(plan->recv_map, i, at), run->shm->sources[i],
                       tprt__place_in(plan->send_map, plan->rank, at), part, run->stream);
  }
}

static tprt_status run_in_place(const shm_engine *run) {
  shm_transport *shm = run->shm;
  tprt_status status = find_buffers(run);
  if (status)
    return status;
  tprt__fault fault = tprt__shm_access_begin(shm);
  if (fault.status)
    return tprt__fault_fail(&fault);
  if (run->plan->reduction)
    reduce_in_place(run);
  else
    copy_in_place(run);
  if (run->stream)
    tprt__stream_end();
  tprt__shm_access_end(shm);
  status = next_step(run);
  if (status)
    return status;
  /* A peer that gave up between arrival and this point may have changed its buffers while they were
   * read. It recorded the fault before it returned, so if there is no fault now, all reads were in
   * time. */
  fault = tprt__shm_fault(&shm->base);
  return fault.status ? tprt__fault_fail(&fault) : TPRT_OK;
}

void tprt__shm_quiesce(tprt__transport *transport) {
  shm_transport *shm = (shm_transport *)transport;
  if (!shm->segment->one_process || !tprt__shm_fault(transport).status)
    return;
  for (int i = 0; i < transport->n_ranks; i++) {
    while (i != transport->rank && atomic_load(&shm->lines[i]->n_accesses))
      sched_yield();
  }
}

/* ---- arrival ---- */

/* Compares all notices with this rank's own. Either all are equal, or every rank sees one that
 * differs from its own. */
static tprt_status compare(const shm_engine *run, const shm_notice *mine) {
  const shm_transport *shm = run->shm;
  for (int i = 0; i < run->plan->n_ranks && TPRT__CHECKS; i++) {
    shm_notice notice = shm->lines[i]->halves[shm->step & 1].notice;
    if (memcmp(notice.signature, mine->signature, sizeof notice.signature) != 0 ||
        notice.sequence != mine->sequence) {
      char difference[192];
      tprt__signature_explain(mine->signature, notice.signature, difference, sizeof difference);
      return tprt__fail(TPRT_MISMATCH, "operation %u differs between rank %d and rank %d: %s",
                        run->wait.sequence, shm->world_rank, shm->members[i], difference);
    }
  }
  return TPRT_OK;
}

static void publish_notice(const shm_engine *run, const shm_notice *mine) {
  shm_transport *shm = run->shm;
  if (run->plan->reduction == TPRT_PREMUL_SUM)
    shm->lines[shm->base.rank]->extra[(shm->step + 1) & 1].scale = run->plan->scale;
  shm->lines[shm->base.rank]->halves[(shm->step + 1) & 1].notice = *mine;
  tprt__shm_publish(shm);
}

/* Prefetches for writing the cache lines that the next operation will write, if it resembles this
 * one. The peers have read these lines by now and hold them in their caches. The transfers overlap
 * with reading the peers' data, instead of delaying the next operation. A processor supports about
 * thirty such requests at a time; more would delay the reads (measured). */
static void claim_next(const shm_engine *run) {
  enum { MAX_BYTES = 2048 };
  const shm_transport *shm = run->shm;
  const unsigned char *next = tprt__shm_next_slot(shm);
  tprt__claim(&shm->lines[shm->base.rank]->halves[(shm->step + 1) & 1]);
  for (int64_t at = 0; at < run->plan->piece && run->plan->piece <= MAX_BYTES; at += SHM_CACHE_LINE)
    tprt__claim(next + at);
}

static tprt_status arrive_and_wait(const shm_engine *run, const shm_notice *mine) {
  shm_transport *shm = run->shm;
  tprt_status status = tprt__shm_await(shm, &run->wait);
  claim_next(run);
  if (!status)
    status = compare(run, mine);
  if (status || run->plan->reduction != TPRT_PREMUL_SUM)
    return status;
  for (int i = 0; i < run->plan->n_ranks; i++)
    shm->scales[i] = shm->lines[i]->extra[shm->step & 1].scale;
  return TPRT_OK;
}

tprt_status tprt__shm_arrive(const shm_engine *run, const shm_notice *mine) {
  publish_notice(run, mine);
  return arrive_and_wait(run, mine);
}

/* True if the ranks access each other's buffers in place. Addresses have a meaning in one process
 * only, and after a fork ranks may be in several. */
static bool all_in_place(const shm_engine *run, int *n_in_place) {
  const tprt__plan *plan = run->plan;
  const shm_transport *shm = run->shm;
  bool root_only = plan->traits & TPRT__ROOT_SENDS, same = true;
  uint32_t access = shm->lines[root_only ? plan->root : 0]->halves[shm->step & 1].notice.access;
  *n_in_place = 0;
  for (int i = 0; i < plan->n_ranks; i++) {
    uint32_t other = shm->lines[i]->halves[shm->step & 1].notice.access;
    bool counts = !root_only || i == plan->root;
    *n_in_place += counts && other != SHM_STAGED;
    same &= other == access || (!counts && access == SHM_ARENA);
  }
  return same && access != SHM_STAGED;
}

shm_engine tprt__shm_engine(shm_transport *shm, const tprt__plan *plan, const shm_wait *wait) {
  int n = plan->n_ranks;
  int64_t slot = (int64_t)shm->segment->sizes.slot_bytes;
  bool two_phase =
      plan->reduction && !scatters(plan) && plan->piece > (n > 2 ? ONE_SHOT_BYTES : ONE_SHOT_PAIR);
  int64_t share = slot / n / SHM_CACHE_LINE * SHM_CACHE_LINE;
  return (shm_engine){
      .shm = shm,
      .plan = plan,
      .wait = *wait,
      .capacity = scatters(plan) ? share
                  : two_phase    ? share * n
                                 : slot,
      .two_phase = two_phase,
      .stream = plan->recv != plan->send &&
                n * (plan->send_bytes + plan->recv_bytes) > shm->segment->cache_bytes / 4 * 3,
  };
}

/* Publishes this rank's notice. Unless peers access the buffers in place, first packs the first
 * chunk into the slot. */
static void come(const shm_engine *run) {
  shm_transport *shm = run->shm;
  const tprt__plan *plan = run->plan;
  shm_notice mine = {.sequence = run->wait.sequence};
  memcpy(mine.signature, plan->signature, sizeof mine.signature);
  tprt__shm_locate(run, &mine);
  if (mine.access == SHM_STAGED)
    pack(run, 0, tprt__min(run->capacity, plan->piece));
  shm->notice = mine;
  publish_notice(run, &mine);
}

void tprt__shm_begin(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence) {
  shm_transport *shm = (shm_transport *)transport;
  const shm_wait wait = {.kind = plan->kind, .sequence = sequence};
  if (plan->parts || tprt__shm_fault(transport).status)
    return;
  shm_engine run = tprt__shm_engine(shm, plan, &wait);
  come(&run);
  shm->has_begun = true;
}

tprt_status tprt__shm_submit(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                             int64_t deadline) {
  shm_transport *shm = (shm_transport *)transport;
  const shm_wait wait = {.kind = plan->kind, .sequence = sequence, .deadline = deadline};
  shm_engine run = tprt__shm_engine(shm, plan, &wait);
  bool has_begun = shm->has_begun;
  shm->has_begun = false;
  tprt__fault fault = tprt__shm_fault(transport);
  if (fault.status)
    return tprt__fault_fail(&fault);
  if (plan->parts)
    return tprt__shm_submit_parts(&run);
  if (!has_begun)
    come(&run);
  tprt_status status = arrive_and_wait(&run, &shm->notice);
  if (status)
    return status;
  int n_in_place;
  bool in_place = all_in_place(&run, &n_in_place);
  status = in_place ? run_in_place(&run) : run_staged(&run, n_in_place == 0);
  if (!status && plan->kind == TPRT_OP_PERMUTE && plan->source < 0 && plan->recv_bytes) {
    memset(plan->recv, 0, (size_t)plan->recv_bytes);
  }
  return status;
}
