/* Operations: their validation, and their geometry as backends see it. */
#ifndef TPRT_RUNTIME_OP_H
#define TPRT_RUNTIME_OP_H

#include "base/base.h"
#include "base/nontemporal.h"
#include "base/types.h"
#include "tprt/abi.h"

#include <string.h>

/* Layout of one of n equal pieces of a tensor. A piece consists of runs of contiguous bytes, and
 * two consecutive runs of a piece are separated by one run of each of the n-1 other pieces. If n is
 * 1, the piece is the whole tensor. This describes gather, scatter and all-to-all along any
 * dimension: a run covers the dimensions inside the split one, and the piece's share of the split
 * one. */
typedef struct tprt__map {
  int64_t run; /* bytes */
  int64_t n;
} tprt__map;

/* Properties of a kind of operation. The table in op.c lists them for each kind. */
enum tprt__trait {
  TPRT__DATA = 1 << 0, /* has tensors */
  TPRT__REDUCES = 1 << 1,
  TPRT__IN_PLACE = 1 << 2, /* send == recv is allowed */
  /* send may lie inside recv, or recv inside send, at the position of this rank's piece */
  TPRT__ALIASES = 1 << 3,
  TPRT__DIM = 1 << 4,
  TPRT__SPLIT = 1 << 5,
  TPRT__ROOT = 1 << 6,
  TPRT__ROOT_SENDS = 1 << 7,    /* only root has a send tensor */
  TPRT__ROOT_RECEIVES = 1 << 8, /* only root has a recv tensor */
  TPRT__PAIRS = 1 << 9,
  /* different data for different ranks: a tensor split along dim, or pieces */
  TPRT__SCATTERS = 1 << 10,
  TPRT__SEND_PIECES = 1 << 11, /* the ..._V kinds */
  TPRT__RECV_PIECES = 1 << 12,
  TPRT__PEER = 1 << 13,    /* point-to-point, with a tag */
  TPRT__NO_SEND = 1 << 14, /* has no send tensor */
  TPRT__NO_RECV = 1 << 15, /* has no recv tensor */
};

/* One piece of a ..._V kind. */
typedef struct tprt__part {
  char *at;
  int64_t bytes;
} tprt__part;

/* A validated operation. Every rank sends each peer, and itself, one piece of `piece` bytes, or one
 * of the parts. */
typedef struct tprt__plan {
  tprt_op_kind kind;
  uint32_t traits;
  tprt_reduction reduction;
  const tprt__dtype_info *type;
  tprt_dtype dtype;
  int n_ranks, rank, root;
  int source; /* permute: rank from which this rank receives; -1: none */
  /* send and recv; a rank's transfers with itself are paired inside a batch by tprt__batch_make */
  int peer, tag;
  int n_destinations;    /* permute: number of ranks to which this rank sends */
  int32_t *destinations; /* owned by the plan if tprt__plan_make made it; else NULL */
  void *stream;
  int64_t timeout_ns; /* of this operation; 0: the communicator's */
  bool deterministic;
  bool independent; /* of the other operations of its batch: may run together with them */
  /* GPU programs: the GPU that holds the tensors, and its stream; else NULL */
  struct tprt__gpu *gpu;
  tprt_together_fn *together; /* function that replaces the operation, see tprt_context_together */
  /* with `together`: the streams need not wait for each other, and the GPUs may differ */
  bool alone;
  /* Into a graph. Not counted in the communicator's sequence: it runs when the graph is launched,
   * and a rank that cannot capture its part leaves it out. */
  bool captured;
  bool of_library; /* operates on host memory, whatever memory the backend uses */
  int64_t piece;
  tprt__map send_map, recv_map;
  int64_t send_bytes, recv_bytes;
  int64_t traffic; /* algorithmic bytes, see tprt_op_bytes */
  const void *send;
  void *recv;
  uint64_t signature[4];     /* identical on all ranks, else the operations differ */
  tprt__scale scale;         /* premul_sum: this rank's factor */
  tprt__part *parts;         /* ..._V kinds: owned by the plan; the next two point into it */
  tprt__part *sends, *recvs; /* one part per rank; NULL: the side is one piece, send or recv */
  int64_t longest;           /* bytes of the longest part known to this rank */
  /* all_to_all_v: hashes of the (source, destination, bytes) of this rank's sends and receives.
   * Their sums over all ranks are equal if the counts match. */
  uint64_t sent, expected;
} tprt__plan;

/* Plans everything but the buffers. A plan owns nothing after a failure. */
tprt_status tprt__plan_shape(const tprt_op *op, int n_ranks, int rank, tprt__plan *plan);
tprt_status tprt__plan_buffers(tprt__plan *plan, const void *send, void *recv);
/* Records the ranks to which this one sends in a permute. The pairs belong to the caller, so those
 * needed later are copied. The plan owns the copy: clear the plan. */
tprt_status tprt__plan_destinations(const tprt_op *op, tprt__plan *plan);
/* Plans an operation with its buffers and its parts or destinations. The plan owns these: clear
 * it. */
tprt_status tprt__plan_make(const tprt_op *op, int n_ranks, int rank, tprt__plan *plan);
void tprt__plan_clear(tprt__plan *plan);

static inline bool tprt__plan_sends(const tprt__plan *plan) {
  return plan->traits & TPRT__ROOT_SENDS ? plan->rank == plan->root
                                         : !(plan->traits & TPRT__NO_SEND);
}
static inline bool tprt__plan_receives(const tprt__plan *plan) {
  return plan->traits & TPRT__ROOT_RECEIVES ? plan->rank == plan->root
                                            : !(plan->traits & TPRT__NO_RECV);
}
/* True if this rank receives a piece from rank i, for operations that do not reduce. */
static inline bool tprt__plan_wants(const tprt__plan *plan, int i) {
  if (plan->traits & TPRT__ROOT_SENDS)
    return i == plan->root;
  return plan->kind == TPRT_OP_PERMUTE ? i == plan->source : tprt__plan_receives(plan);
}
/* True if a reduction rounds, so that its result depends on the order. */
static inline bool tprt__plan_rounds(const tprt__plan *plan) {
  bool is_integer = plan->dtype >= TPRT_BOOL && plan->dtype <= TPRT_U64;
  tprt_reduction r = plan->reduction;
  return !is_integer &&
         (r == TPRT_SUM || r == TPRT_PRODUCT || r == TPRT_AVG || r == TPRT_PREMUL_SUM);
}
static inline bool tprt__plan_is_transfer(const tprt__plan *plan) {
  return plan->traits & TPRT__PEER;
}

/* ---- op_parts.c ---- */
/* Plans and checks the parts of a ..._V kind, and adds them to the signature. */
tprt_status tprt__plan_parts(const tprt_op *op, const char *name, tprt__plan *plan);
/* Returns the number of elements of the longest part. -1 if a count is negative, or if it exceeds
 * 2^50 for all ranks together. */
int64_t tprt__longest_count(const tprt_op *op, uint32_t traits, int n_ranks);
/* Hash of one transfer of an all_to_all_v. The sums of the hashes of all sends and of all receives
 * differ if the ranks disagree. */
uint64_t tprt__part_hash(int64_t from, int64_t to, int64_t bytes);

/* ---- op_batch.c ---- */
/* Plans n operations; release them with tprt__batch_clear. *timeout_ns is the timeout of operations
 * that have none of their own, and becomes the longest timeout. */
tprt_status tprt__batch_make(const tprt_op *ops, size_t n, int n_ranks, int rank,
                             int64_t *timeout_ns, tprt__plan **plans);
void tprt__batch_clear(tprt__plan *plans, size_t n);

bool tprt__overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes);

/* Returns where the share of rank `rank` of n begins, if n ranks reduce `bytes` bytes together.
 * Shares are multiples of a cache line, so that no two ranks write the same line. */
static inline int64_t tprt__slice_begin(int64_t bytes, int n, int rank) {
  int64_t slice = (int64_t)tprt__round_up((size_t)((bytes + n - 1) / n), 64);
  return tprt__min(bytes, rank * slice);
}

/* A position in a tensor: byte `at` of piece `index`. */
typedef struct tprt__place {
  tprt__map map;
  int64_t index, at;
} tprt__place;

/* The start of contiguous staging memory. */
static inline tprt__place tprt__place_flat(void) {
  return (tprt__place){.map = {.run = INT64_MAX, .n = 1}};
}

/* Byte `at` of piece `index` of a tensor with one piece, or with one piece per rank. */
static inline tprt__place tprt__place_in(tprt__map map, int index, int64_t at) {
  return (tprt__place){.map = map, .index = map.n > 1 ? index : 0, .at = at};
}

/* Copies `bytes` bytes of a piece. The tensors must not overlap, but a run may be copied onto
 * itself. `stream` selects non-temporal stores, for targets larger than the cache; the caller must
 * then call tprt__stream_end. */
void tprt__runs_copy(void *to, tprt__place to_place, const void *from, tprt__place from_place,
                     int64_t bytes, bool stream);

/* Like tprt__runs_copy, but inline for the common case of a single run. */
static inline void tprt__piece_copy(void *to, tprt__place to_place, const void *from,
                                    tprt__place from_place, int64_t bytes, bool stream) {
  if (bytes > to_place.map.run - to_place.at || bytes > from_place.map.run - from_place.at) {
    tprt__runs_copy(to, to_place, from, from_place, bytes, stream);
    return;
  }
  char *target = (char *)to + to_place.index * to_place.map.run + to_place.at;
  const char *source = (const char *)from + from_place.index * from_place.map.run + from_place.at;
  if (target != source && stream)
    tprt__stream_copy(target, source, (size_t)bytes);
  else if (target != source)
    memcpy(target, source, (size_t)bytes);
}

/* Writes to `text` how two signatures differ. */
void tprt__signature_explain(const uint64_t *mine, const uint64_t *other, char *text, size_t n);

#endif
