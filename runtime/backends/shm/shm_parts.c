/* The ..._V kinds of the shm backend: pieces of different lengths move in chunks through the slots.
 * A slot holds a chunk of the rank's single piece. If every rank receives a different piece, the
 * slot is divided into equal shares, one per rank. */
#include "backends/shm/shm.h"

#include <string.h>

static bool scatters(const shm_engine *run) { return run->plan->traits & TPRT__SCATTERS; }

/* Number of bytes of a piece that are in the chunk at `begin`. */
static int64_t bytes_in_chunk(const shm_engine *run, int64_t begin, int64_t bytes) {
  return bytes <= begin ? 0 : tprt__min(run->capacity, bytes - begin);
}

static void pack(const shm_engine *run, int64_t begin) {
  const tprt__plan *plan = run->plan;
  unsigned char *slot = tprt__shm_next_slot(run->shm);
  if (!tprt__plan_sends(plan))
    return;
  if (!plan->sends) {
    int64_t bytes = bytes_in_chunk(run, begin, plan->send_bytes);
    if (bytes)
      memcpy(slot, (const char *)plan->send + begin, (size_t)bytes);
    return;
  }
  for (int i = 0; i < plan->n_ranks; i++) {
    int64_t bytes = bytes_in_chunk(run, begin, plan->sends[i].bytes);
    if (bytes && i != plan->rank)
      memcpy(slot + i * run->capacity, plan->sends[i].at + begin, (size_t)bytes);
  }
}

static void reduce(const shm_engine *run, int64_t begin) {
  const tprt__plan *plan = run->plan;
  shm_transport *shm = run->shm;
  int64_t bytes = bytes_in_chunk(run, begin, plan->recv_bytes);
  if (!bytes)
    return;
  for (int i = 0; i < plan->n_ranks; i++)
    shm->sources[i] = tprt__shm_peer_slot(shm, i) + plan->rank * run->capacity;
  shm->sources[plan->rank] = plan->sends[plan->rank].at + begin;
  void *destination = (char *)plan->recv + begin;
  tprt__reduce(plan->type, plan->reduction, &destination, 1, shm->sources, plan->n_ranks,
               shm->scales, bytes / (int64_t)plan->type->size, 0);
}

static void unpack(const shm_engine *run, int64_t begin) {
  const tprt__plan *plan = run->plan;
  if (plan->reduction) {
    reduce(run, begin);
    return;
  }
  for (int i = 0; i < plan->n_ranks; i++) {
    tprt__part piece = plan->recvs ? plan->recvs[i] : (tprt__part){plan->recv, plan->recv_bytes};
    int64_t bytes = tprt__plan_wants(plan, i) ? bytes_in_chunk(run, begin, piece.bytes) : 0;
    if (!bytes)
      continue;
    const void *from =
        tprt__shm_peer_slot(run->shm, i) + (scatters(run) ? plan->rank * run->capacity : 0);
    if (i == plan->rank) /* not through the slot */
      from = (plan->sends ? plan->sends[i].at : (const char *)plan->send) + begin;
    if (from != piece.at + begin)
      memcpy(piece.at + begin, from, (size_t)bytes);
  }
}

/* Finds the ranks that disagree. Every rank publishes all its counts, which fit into a slot, so all
 * ranks reach the same result. */
static tprt_status explain(const shm_engine *run) {
  const tprt__plan *plan = run->plan;
  shm_transport *shm = run->shm;
  int n = plan->n_ranks;
  int64_t bytes[2], *words = (int64_t *)(void *)tprt__shm_next_slot(shm);
  for (int i = 0; i < n; i++) {
    words[2 * i] = plan->sends[i].bytes;
    words[2 * i + 1] = plan->recvs[i].bytes;
  }
  tprt__shm_publish(shm);
  tprt_status status = tprt__shm_await(shm, &run->wait);
  for (int i = 0; i < n && !status; i++) {
    for (int j = 0; j < n && !status; j++) {
      memcpy(&bytes[0], tprt__shm_peer_slot(shm, i) + (size_t)(2 * j) * sizeof(int64_t),
             sizeof(int64_t));
      memcpy(&bytes[1], tprt__shm_peer_slot(shm, j) + (size_t)(2 * i + 1) * sizeof(int64_t),
             sizeof(int64_t));
      if (bytes[0] == bytes[1])
        continue;
      int64_t size = (int64_t)plan->type->size;
      status = tprt__fail(
          TPRT_MISMATCH,
          "operation %u, all_to_all_v: rank %d sends %lld elements to rank %d, which expects %lld",
          run->wait.sequence, shm->members[i], (long long)(bytes[0] / size), shm->members[j],
          (long long)(bytes[1] / size));
    }
  }
  return status ? status
                : tprt__fail(TPRT_INTERNAL, "operation %u: the counts changed while it ran",
                             run->wait.sequence);
}

/* Determines the longest piece of all ranks, and thereby the number of chunks. Fails if the counts
 * of an all_to_all_v do not match. */
static tprt_status agree(const shm_engine *run, int64_t *longest) {
  const shm_transport *shm = run->shm;
  uint64_t sent = 0, expected = 0;
  *longest = run->plan->longest;
  if (run->plan->kind != TPRT_OP_ALL_TO_ALL_V)
    return TPRT_OK;
  for (int i = 0; i < run->plan->n_ranks; i++) {
    shm_extra extra = shm->lines[i]->extra[shm->step & 1];
    sent += extra.sent;
    expected += extra.expected;
    *longest = extra.longest > *longest ? extra.longest : *longest;
  }
  return sent == expected ? TPRT_OK : explain(run);
}

tprt_status tprt__shm_submit_parts(const shm_engine *run) {
  const tprt__plan *plan = run->plan;
  shm_transport *shm = run->shm;
  shm_notice mine = {.sequence = run->wait.sequence};
  shm_extra *extra = &shm->lines[plan->rank]->extra[(shm->step + 1) & 1];
  memcpy(mine.signature, plan->signature, sizeof mine.signature);
  extra->sent = plan->sent;
  extra->expected = plan->expected;
  extra->longest = plan->longest;
  pack(run, 0);
  tprt_status status = tprt__shm_arrive(run, &mine);
  int64_t longest;
  if (!status)
    status = agree(run, &longest);
  if (status)
    return status;
  unpack(run, 0);
  for (int64_t begin = run->capacity; begin < longest; begin += run->capacity) {
    pack(run, begin);
    tprt__shm_publish(shm);
    status = tprt__shm_await(shm, &run->wait);
    if (status)
      return status;
    unpack(run, begin);
  }
  return TPRT_OK;
}
