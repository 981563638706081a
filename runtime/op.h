/* Operations: validation, and their geometry as backends see it. */
#ifndef TPRT_RUNTIME_OP_H
#define TPRT_RUNTIME_OP_H

#include "base.h"
#include "types.h"

/* How a piece lies in a tensor: cut into runs, and between two of its runs lie the runs of the n-1 other pieces. With
 * n == 1 the piece is the whole tensor. Gathering, scattering and all-to-all along any dimensions are nothing more: the
 * dimensions behind the cut one, and its share of the cut one, make the run. */
typedef struct tprt__map {
  int64_t run; /* bytes */
  int64_t n;
} tprt__map;

/* A validated operation. Every rank sends to every peer (and itself) a piece of `piece` bytes. */
typedef struct tprt__plan {
  tprt_op_kind kind;
  tprt_reduction reduction;
  const tprt__dtype_info *type;
  int n_ranks, root;
  int source; /* permute: the rank that this rank receives from; -1: none */
  int64_t piece;
  tprt__map send_map, recv_map;
  int64_t send_bytes, recv_bytes;
  int64_t traffic; /* algorithmic bytes, see tprt_op_bytes */
  const void *send;
  void *recv;
  uint64_t signature[4]; /* equal on all ranks, or the operations differ */
} tprt__plan;

/* Everything but the buffers. */
tprt_status tprt__plan_shape(const tprt_op *op, int n_ranks, int rank, tprt__plan *plan);
tprt_status tprt__plan_buffers(tprt__plan *plan, int rank, const void *send, void *recv);
/* Both. */
tprt_status tprt__plan_make(const tprt_op *op, int n_ranks, int rank, tprt__plan *plan);

/* A place in a tensor: byte `at` of piece `index`. */
typedef struct tprt__place {
  tprt__map map;
  int64_t index, at;
} tprt__place;

/* Staging memory: bytes in a row. */
static inline tprt__place tprt__place_flat(void) { return (tprt__place){.map = {.run = INT64_MAX, .n = 1}}; }

/* Copies `bytes` bytes of a piece. The tensors do not overlap, except that a run may be copied onto itself. */
void tprt__piece_copy(void *to, tprt__place to_place, const void *from, tprt__place from_place, int64_t bytes);

/* Describes in `text` how two signatures differ. */
void tprt__signature_explain(const uint64_t *mine, const uint64_t *other, char *text, size_t n);

uint64_t tprt__hash(uint64_t seed, const void *bytes, size_t n);

#endif
