/* The pieces of the ..._V kinds: positions, lengths, overlap checks, and the signature that ranks
 * compare. */
#include "comm/op.h"

static const int64_t max_elements = INT64_C(1) << 50;

/* One side of an operation as described by the caller. */
typedef struct side {
  const char *name; /* "send" or "recv" */
  char *base;
  const int64_t *counts, *offsets;
  const void *const *list;
} side;

static side side_of(const tprt_op *op, bool send) {
  if (send)
    return (side){"send", (char *)(uintptr_t)op->send, op->send_counts, op->send_offsets,
                  op->send_list};
  return (side){"recv", op->recv, op->recv_counts, op->recv_offsets,
                (const void *const *)op->recv_list};
}

/* Number of elements of a piece without a count. The shape has been checked. */
static int64_t shape_count(const tprt_op *op) {
  int64_t count = 1;
  for (int i = 0; i < op->n_dims; i++)
    count *= op->shape[i];
  return count;
}

int64_t tprt__longest_count(const tprt_op *op, uint32_t traits, int n_ranks) {
  const int64_t *counts = traits & TPRT__SEND_PIECES ? op->send_counts : op->recv_counts;
  int64_t longest = counts ? 0 : shape_count(op);
  for (int i = 0; counts && i < n_ranks; i++) {
    /* keeps the bytes of all ranks within int64 */
    if (counts[i] < 0 || counts[i] > max_elements / n_ranks)
      return -1;
    longest = counts[i] > longest ? counts[i] : longest;
  }
  return longest;
}

uint64_t tprt__part_hash(int64_t from, int64_t to, int64_t bytes) {
  int64_t words[] = {from, to, bytes};
  return tprt__hash(0, words, sizeof words);
}

/* Reads the pieces of one side. `look`: this rank uses that side, so its pointers are checked. */
static tprt_status read_side(const tprt_op *op, const char *kind, const tprt__plan *plan,
                             const side *from, bool look, tprt__part *parts) {
  int64_t size = (int64_t)plan->type->size, end = 0, each = from->counts ? 0 : shape_count(op);
  if (from->list && from->offsets)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: %s_list and %s_offsets exclude each other", kind,
                      from->name, from->name);
  for (int i = 0; i < plan->n_ranks; i++) {
    int64_t count = from->counts ? from->counts[i] : each,
            offset = from->offsets ? from->offsets[i] : end;
    if (count < 0 || offset < 0 || count > max_elements || offset > max_elements) {
      return tprt__fail(
          TPRT_INVALID_ARGUMENT,
          "%s: the piece of rank %d has %lld elements at %lld; both must be from 0 to 2^50", kind,
          i, (long long)count, (long long)offset);
    }
    const char *at = NULL;
    if (look && count) {
      const char *base = from->list ? from->list[i] : from->base;
      if (!base)
        return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: %s of the piece of rank %d is NULL", kind,
                          from->name, i);
      at = from->list ? base : base + offset * size;
    }
    parts[i] = (tprt__part){(char *)(uintptr_t)at, count * size};
    end += count;
    if (end > max_elements)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: the pieces have more than 2^50 elements", kind);
  }
  return TPRT_OK;
}

/* Reads the single piece of the other side. */
static tprt_status read_single(const char *kind, tprt__plan *plan, const side *from, bool look,
                               int64_t bytes) {
  if (look && bytes && !from->base)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: %s is NULL", kind, from->name);
  if (from->name[0] == 's') {
    plan->send = from->base;
    plan->send_bytes = bytes;
  } else {
    plan->recv = look ? from->base : NULL;
    plan->recv_bytes = bytes;
  }
  return TPRT_OK;
}

static tprt_status fail_overlap(const char *kind, int a, int b) {
  return tprt__fail(TPRT_INVALID_ARGUMENT,
                    "%s: pieces of ranks %d and %d overlap; results must not overlap%s", kind, a, b,
                    " anything, except this rank's own piece in place");
}

/* Checks that destination pieces do not overlap. If their addresses ascend, one pass is enough. */
static tprt_status check_written(const char *kind, const tprt__part *parts, int n) {
  bool ascending = true;
  const char *end = NULL;
  for (int i = 0; i < n; i++) {
    if (!parts[i].bytes)
      continue;
    ascending &= !end || parts[i].at >= end;
    end = parts[i].at + parts[i].bytes;
  }
  for (int i = 0; i < n && !ascending; i++) {
    for (int j = 0; j < i; j++) {
      if (tprt__overlap(parts[i].at, parts[i].bytes, parts[j].at, parts[j].bytes))
        return fail_overlap(kind, j, i);
    }
  }
  return TPRT_OK;
}

/* Returns the smallest range that contains all parts. */
static tprt__part hull(const tprt__part *parts, int n) {
  uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < n; i++) {
    uintptr_t at = (uintptr_t)parts[i].at;
    if (!parts[i].bytes)
      continue;
    begin = at < begin ? at : begin;
    end = at + (uintptr_t)parts[i].bytes > end ? at + (uintptr_t)parts[i].bytes : end;
  }
  return (tprt__part){(char *)begin, end > begin ? (int64_t)(end - begin) : 0};
}

/* Checks that sources and destinations do not overlap. A single piece may be this rank's own piece
 * of the other side. */
static tprt_status check_aliases(const char *kind, const tprt__plan *plan) {
  tprt__part one_send = {(char *)(uintptr_t)plan->send, plan->send_bytes},
             one_recv = {plan->recv, plan->recv_bytes};
  const tprt__part *sends = plan->sends ? plan->sends : &one_send,
                   *recvs = plan->recvs ? plan->recvs : &one_recv;
  int n_sends = plan->sends ? plan->n_ranks : 1, n_recvs = plan->recvs ? plan->n_ranks : 1;
  tprt__part all_sends = hull(sends, n_sends), all_recvs = hull(recvs, n_recvs);
  if (!tprt__overlap(all_sends.at, all_sends.bytes, all_recvs.at, all_recvs.bytes))
    return TPRT_OK;
  for (int i = 0; i < n_sends; i++) {
    for (int j = 0; j < n_recvs; j++) {
      int own = plan->sends ? i : j;
      bool in_place =
          (!plan->sends || !plan->recvs) && own == plan->rank && sends[i].at == recvs[j].at;
      if (!in_place && tprt__overlap(sends[i].at, sends[i].bytes, recvs[j].at, recvs[j].bytes))
        return fail_overlap(kind, i, j);
    }
  }
  return TPRT_OK;
}

/* Completes the signature: the lengths of the pieces and, for all_to_all_v, the hashes of
 * transfers. */
static void sign(const tprt_op *op, tprt__plan *plan) {
  const tprt__part *parts = plan->sends ? plan->sends : plan->recvs;
  int64_t total = 0;
  uint64_t hash = 0;
  bool between_pairs = op->kind == TPRT_OP_ALL_TO_ALL_V;
  for (int i = 0; i < plan->n_ranks; i++) {
    plan->longest = parts[i].bytes > plan->longest ? parts[i].bytes : plan->longest;
    total += parts[i].bytes;
    if (between_pairs) {
      plan->sent += tprt__part_hash(plan->rank, i, plan->sends[i].bytes);
      plan->expected += tprt__part_hash(i, plan->rank, plan->recvs[i].bytes);
    } else {
      hash = tprt__hash(hash, &parts[i].bytes, sizeof parts[i].bytes);
    }
  }
  plan->signature[2] = between_pairs ? 0 : (uint64_t)(total / (int64_t)plan->type->size);
  plan->signature[3] = hash;
}

tprt_status tprt__plan_parts(const tprt_op *op, const char *name, tprt__plan *plan) {
  size_t n = (size_t)plan->n_ranks;
  bool several[2] = {plan->traits & TPRT__RECV_PIECES, plan->traits & TPRT__SEND_PIECES};
  plan->parts = tprt__alloc(2 * n * sizeof *plan->parts);
  if (!plan->parts)
    return tprt__fail_memory(2 * n * sizeof *plan->parts);
  tprt__part *made[2] = {plan->parts, plan->parts + n};
  tprt_status status = TPRT_OK;
  for (int send = 0; send < 2 && !status; send++) {
    side from = side_of(op, send);
    bool look = send ? tprt__plan_sends(plan) : tprt__plan_receives(plan);
    if (several[send])
      status = read_side(op, name, plan, &from, look, made[send]);
  }
  plan->recvs = several[0] ? made[0] : NULL;
  plan->sends = several[1] ? made[1] : NULL;
  for (int send = 0; send < 2 && !status; send++) {
    side from = side_of(op, send);
    bool look = send ? tprt__plan_sends(plan) : tprt__plan_receives(plan);
    if (!several[send])
      status = read_single(name, plan, &from, look, made[!send][plan->rank].bytes);
  }
  if (!status && plan->sends && plan->recvs &&
      plan->sends[plan->rank].bytes != plan->recvs[plan->rank].bytes) {
    status = tprt__fail(
        TPRT_INVALID_ARGUMENT, "%s: this rank sends itself %lld bytes and expects %lld", name,
        (long long)plan->sends[plan->rank].bytes, (long long)plan->recvs[plan->rank].bytes);
  }
  if (!status && plan->recvs && tprt__plan_receives(plan))
    status = check_written(name, plan->recvs, plan->n_ranks);
  if (!status && tprt__plan_sends(plan) && tprt__plan_receives(plan))
    status = check_aliases(name, plan);
  if (status) {
    tprt__plan_clear(plan);
    return status;
  }
  sign(op, plan);
  return TPRT_OK;
}
