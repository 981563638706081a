/* Operations: validation, and their geometry as backends see it. */
#ifndef TPRT_RUNTIME_OP_H
#define TPRT_RUNTIME_OP_H

#include "base/base.h"
#include "base/nontemporal.h"
#include "base/types.h"
#include "tprt/abi.h"

#include <string.h>

/* How a piece lies in a tensor: cut into runs, and between two of its runs lie the runs of the n-1
 * other pieces. With n == 1 the piece is the whole tensor. Gathering, scattering and all-to-all
 * along any dimensions are nothing more: the dimensions behind the cut one, and its share of the
 * cut one, make the run. */
typedef struct tprt__map {
  int64_t run; /* bytes */
  int64_t n;
} tprt__map;

/* What a kind has and allows; the table in op.c says it of each. */
enum tprt__trait {
  TPRT__DATA = 1 << 0, /* has tensors */
  TPRT__REDUCES = 1 << 1,
  TPRT__IN_PLACE = 1 << 2, /* send == recv is allowed */
  /* send may lie inside recv, or recv inside send, at the place of this rank's piece */
  TPRT__ALIASES = 1 << 3,
  TPRT__DIM = 1 << 4,
  TPRT__SPLIT = 1 << 5,
  TPRT__ROOT = 1 << 6,
  TPRT__ROOT_SENDS = 1 << 7,    /* only root has a send tensor */
  TPRT__ROOT_RECEIVES = 1 << 8, /* only root has a recv tensor */
  TPRT__PAIRS = 1 << 9,
  /* different data for different ranks: a tensor that is cut along dim, or pieces */
  TPRT__SCATTERS = 1 << 10,
  TPRT__SEND_PIECES = 1 << 11, /* the kinds ..._V */
  TPRT__RECV_PIECES = 1 << 12,
  TPRT__PEER = 1 << 13,    /* between two ranks, with a tag */
  TPRT__NO_SEND = 1 << 14, /* has no send, or no recv tensor */
  TPRT__NO_RECV = 1 << 15,
};

/* One of the pieces of a kind ..._V. */
typedef struct tprt__part {
  char *at;
  int64_t bytes;
} tprt__part;

/* A validated operation. Every rank sends to every peer (and itself) a piece of `piece` bytes, or
 * one of parts. */
typedef struct tprt__plan {
  tprt_op_kind kind;
  uint32_t traits;
  tprt_reduction reduction;
  const tprt__dtype_info *type;
  tprt_dtype dtype;
  int n_ranks, rank, root;
  int source; /* permute: the rank that this rank receives from; -1: none */
  /* send, recv; a peer that is this rank: paired inside a batch, see tprt__batch_pair */
  int peer, tag;
  int n_destinations;    /* permute: ranks that get what this rank sends */
  int32_t *destinations; /* which the plan owns, if tprt__plan_make made it; else NULL */
  void *stream;
  /* of a program on a GPU: where the tensors are, and the stream; else NULL */
  struct tprt__gpu *gpu;
  tprt_together_fn *together; /* in place of the operation: see tprt_context_together */
  /* together: no stream waits for another around it, and the GPUs may differ */
  bool alone;
  bool of_library; /* on memory of the host, whatever the backend works on */
  int64_t piece;
  tprt__map send_map, recv_map;
  int64_t send_bytes, recv_bytes;
  int64_t traffic; /* algorithmic bytes, see tprt_op_bytes */
  const void *send;
  void *recv;
  uint64_t signature[4];     /* equal on all ranks, or the operations differ */
  tprt__scale scale;         /* premul_sum: this rank's factor */
  tprt__part *parts;         /* kinds ..._V: what the plan owns; the next two point into it */
  tprt__part *sends, *recvs; /* one a rank; NULL: the side is one piece, send or recv */
  int64_t longest;           /* bytes of the longest part that this rank knows of */
  /* all_to_all_v: hashes of what goes between whom; their sums over all ranks are equal */
  uint64_t sent, expected;
} tprt__plan;

/* Everything but the buffers. What a failure leaves in the plan owns nothing. */
tprt_status tprt__plan_shape(const tprt_op *op, int n_ranks, int rank, tprt__plan *plan);
tprt_status tprt__plan_buffers(tprt__plan *plan, const void *send, void *recv);
/* Of a permute, which ranks this one sends to: the pairs are the caller's, and what is read later
 * is copied. The plan owns it: clear it. */
tprt_status tprt__plan_destinations(const tprt_op *op, tprt__plan *plan);
/* Both, and the parts or destinations, which the plan owns: clear it. */
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
/* Whether this rank gets a piece of rank i, for operations that do not reduce. */
static inline bool tprt__plan_wants(const tprt__plan *plan, int i) {
  if (plan->traits & TPRT__ROOT_SENDS)
    return i == plan->root;
  return plan->kind == TPRT_OP_PERMUTE ? i == plan->source : tprt__plan_receives(plan);
}
static inline bool tprt__plan_is_transfer(const tprt__plan *plan) {
  return plan->traits & TPRT__PEER;
}

/* ---- op_parts.c ---- */
/* The parts of a kind ..._V, their checks and their share of the signature. */
tprt_status tprt__plan_parts(const tprt_op *op, const char *name, tprt__plan *plan);
/* Elements of the longest part; -1 if a count is negative, or more than 2^50 for all ranks. */
int64_t tprt__longest_count(const tprt_op *op, uint32_t traits, int n_ranks);
/* Which ranks disagree about what goes from one to the other, given all send counts and receive
 * counts in bytes. */
uint64_t tprt__part_hash(int64_t from, int64_t to, int64_t bytes);

/* ---- op_batch.c ---- */
/* Plans of n operations, for tprt__batch_clear. *timeout_ns is that of operations that have none,
 * and becomes the longest. */
tprt_status tprt__batch_make(const tprt_op *ops, size_t n, int n_ranks, int rank,
                             int64_t *timeout_ns, tprt__plan **plans);
void tprt__batch_clear(tprt__plan *plans, size_t n);

bool tprt__overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes);

/* Where the share of rank `rank` of n begins, if they reduce `bytes` bytes together: shares are
 * multiples of a cache line, so that no two ranks write one. */
static inline int64_t tprt__slice_begin(int64_t bytes, int n, int rank) {
  int64_t slice = (int64_t)tprt__round_up((size_t)((bytes + n - 1) / n), 64);
  return tprt__min(bytes, rank * slice);
}

/* A place in a tensor: byte `at` of piece `index`. */
typedef struct tprt__place {
  tprt__map map;
  int64_t index, at;
} tprt__place;

/* Staging memory: bytes in a row. */
static inline tprt__place tprt__place_flat(void) {
  return (tprt__place){.map = {.run = INT64_MAX, .n = 1}};
}

/* Byte `at` of piece `index` of a tensor that has one piece or one for each rank. */
static inline tprt__place tprt__place_in(tprt__map map, int index, int64_t at) {
  return (tprt__place){.map = map, .index = map.n > 1 ? index : 0, .at = at};
}

/* Copies `bytes` bytes of a piece. The tensors do not overlap, except that a run may be copied onto
 * itself. `stream`: the target is too large for the cache; tprt__stream_end has to come after
 * this. */
void tprt__runs_copy(void *to, tprt__place to_place, const void *from, tprt__place from_place,
                     int64_t bytes, bool stream);

/* The same, at once where it is one run: the usual case, in which places are passed nowhere. */
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

/* Describes in `text` how two signatures differ. */
void tprt__signature_explain(const uint64_t *mine, const uint64_t *other, char *text, size_t n);

#endif
