/* Operations, and work that runs in the background. */
#ifndef TPRT_OPS_H
#define TPRT_OPS_H

#include "tprt/comm.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Operations ---- */

enum { TPRT_MAX_RANK = 14 }; /* dimensions of a tensor */

typedef struct tprt_pair {
  int32_t source, destination; /* ranks of the communicator */
} tprt_pair;

typedef struct tprt_op {
  size_t size; /* sizeof(tprt_op) */
  tprt_op_kind kind;
  tprt_dtype dtype;
  tprt_reduction reduction;
  int32_t root;   /* broadcast, reduce, gather, scatter */
  int32_t n_dims; /* 0 is a scalar */
  int32_t dim, split_dim;
  int64_t shape[TPRT_MAX_RANK]; /* of the send tensor of one rank; not read for barrier */
  /* may be NULL when there are no elements, and off root of a broadcast or scatter */
  const void *send;
  /* may be NULL when there are no elements, and off root of a reduce or gather */
  void *recv;
  /* permute; a destination occurs once; all ranks pass the same list; copied by submit */
  const tprt_pair *pairs;
  size_t n_pairs;
  /* of the rank's device (a cudaStream_t), with TPRT_CAP_STREAMS only; NULL: see tprt_submit */
  void *stream;
  int64_t timeout_ns; /* 0: the communicator's */
  /* premul_sum: this rank's factor, one element as it is accumulated (f32 for f16, bf16 and the f8
   * types, else dtype); copied by submit. */
  const void *scalar;
  /* The kinds ..._V. Counts of elements of the n pieces: send_counts for reduce_scatter_v,
   * scatter_v and all_to_all_v, recv_counts for all_gather_v, gather_v and all_to_all_v. All ranks
   * pass the same counts; in all_to_all_v rank i's send_counts[j] equals rank j's recv_counts[i].
   * NULL: all pieces have `shape` elements. The other side is one piece, of this rank's count.
   * Pieces lie packed in send or recv, or at these offsets in elements, or each at its own pointer.
   * All arrays are copied by submit. Ignored by other kinds. */
  const int64_t *send_counts, *recv_counts;
  const int64_t *send_offsets, *recv_offsets;
  const void *const *send_list;
  void *const *recv_list;
  int32_t peer, tag; /* send, recv; a tag is at least 0 */
} tprt_op;

/* A submitted operation. */
typedef struct tprt_work tprt_work;

/* Submits an operation. work == NULL: returns when it is done, after everything submitted before.
 * Otherwise it runs in the background, in submission order, and *work is a handle; send must not
 * change and recv not be read until it is done.
 *
 * With a stream: returns when the operation is in the stream, behind what the caller put there and
 * in front of what comes next; *work is done when the device has done it. Its deadline counts from
 * submission and is watched over whether or not somebody waits; without a handle a failure is found
 * by the next call. While the stream captures a graph the operation becomes part of it: it then has
 * no handle (TPRT_INVALID_STATE), signatures are compared when it is captured, replays have no
 * deadline, and what needs memory of the library's (pieces that do not lie in one run) is
 * TPRT_UNSUPPORTED. */
TPRT_API tprt_status tprt_submit(tprt_comm *comm, const tprt_op *op, tprt_work **work);

/* Submits n operations as one piece of work, which ends when all have ended or one has failed; n
 * may be 0. Sends and recvs that stand next to each other progress together: no order of them
 * deadlocks. Other operations run one after the other. All ops have the same `size` and name the
 * same stream. An op that is not valid refuses the whole batch. The batch has the longest timeout
 * of its ops. */
TPRT_API tprt_status tprt_submit_batch(tprt_comm *comm, const tprt_op *ops, size_t n,
                                       tprt_work **work);

/* TPRT_IN_PROGRESS, or the result. */
TPRT_API tprt_status tprt_work_test(const tprt_work *work);
/* Waits at most timeout_ns (0: for the operation's own deadline); TPRT_IN_PROGRESS if it is still
 * running. */
TPRT_API tprt_status tprt_work_wait(tprt_work *work, int64_t timeout_ns);
/* Releases the handle; the operation runs to its end. NULL is allowed. */
TPRT_API void tprt_work_destroy(tprt_work *work);
/* Completes everything submitted before; the sticky status. */
TPRT_API tprt_status tprt_sync(tprt_comm *comm);

/* Algorithmic bytes that one of n ranks sends for the op, whatever algorithm runs: with c =
 * ceil(elements / n) * size of the tensor that is spread over the group: all_gather,
 * reduce_scatter, all_to_all (n-1)*c, all_reduce 2*(n-1)*c; permute, broadcast, send, reduce and
 * gather their buffer, scatter (n-1)*c; barrier and recv 0. The kinds ..._V: (n-1) times the
 * longest piece, gather_v once. Negative for an op that is not valid. */
TPRT_API int64_t tprt_op_bytes(const tprt_op *op, int n_ranks);

/* ---- Wrappers. `count` is as in NCCL: elements of all_reduce and broadcast, of the send tensor of
 * all_gather and permute, of the recv tensor of reduce_scatter, and per peer of all_to_all. ---- */

/* Field by field: compilers clear and copy a whole struct of this size by instructions that take
 * longer than a small operation waits. What no field here says is 0; of `shape`, only n_dims
 * entries are read. */
static inline void tprt_op_fill(tprt_op *op, tprt_op_kind kind, const void *send, void *recv,
                                int64_t count, tprt_dtype dtype, void *stream) {
  op->size = sizeof *op;
  op->kind = kind;
  op->dtype = dtype;
  op->reduction = (tprt_reduction)0;
  op->root = 0;
  op->n_dims = 1;
  op->dim = 0;
  op->split_dim = 0;
  op->shape[0] = count;
  op->send = send;
  op->recv = recv;
  op->pairs = NULL;
  op->n_pairs = 0;
  op->stream = stream;
  op->timeout_ns = 0;
  op->scalar = NULL;
  op->send_counts = NULL;
  op->recv_counts = NULL;
  op->send_offsets = NULL;
  op->recv_offsets = NULL;
  op->send_list = NULL;
  op->recv_list = NULL;
  op->peer = 0;
  op->tag = 0;
}

static inline tprt_op tprt_op_flat(tprt_op_kind kind, const void *send, void *recv, int64_t count,
                                   tprt_dtype dtype, void *stream) {
  tprt_op op;
  memset(op.shape, 0, sizeof op.shape); /* not a designated initializer: the header is also C++ */
  tprt_op_fill(&op, kind, send, recv, count, dtype, stream);
  return op;
}

static inline tprt_status tprt_all_reduce(tprt_comm *comm, const void *send, void *recv,
                                          int64_t count, tprt_dtype dtype, tprt_reduction reduction,
                                          void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_ALL_REDUCE, send, recv, count, dtype, stream);
  op.reduction = reduction;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_all_gather(tprt_comm *comm, const void *send, void *recv,
                                          int64_t count, tprt_dtype dtype, void *stream,
                                          tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_ALL_GATHER, send, recv, count, dtype, stream);
  return tprt_submit(comm, &op, work);
}

/* The send tensors of the next two have a leading dimension for the ranks. */
static inline tprt_status tprt_reduce_scatter(tprt_comm *comm, const void *send, void *recv,
                                              int64_t count, tprt_dtype dtype,
                                              tprt_reduction reduction, void *stream,
                                              tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_REDUCE_SCATTER, send, recv, tprt_comm_size(comm), dtype, stream);
  op.n_dims = 2;
  op.shape[1] = count;
  op.reduction = reduction;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_all_to_all(tprt_comm *comm, const void *send, void *recv,
                                          int64_t count, tprt_dtype dtype, void *stream,
                                          tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_ALL_TO_ALL, send, recv, tprt_comm_size(comm), dtype, stream);
  op.n_dims = 2;
  op.shape[1] = count;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_broadcast(tprt_comm *comm, const void *send, void *recv,
                                         int64_t count, tprt_dtype dtype, int root, void *stream,
                                         tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_BROADCAST, send, recv, count, dtype, stream);
  op.root = root;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_permute(tprt_comm *comm, const void *send, void *recv, int64_t count,
                                       tprt_dtype dtype, const tprt_pair *pairs, size_t n_pairs,
                                       void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_PERMUTE, send, recv, count, dtype, stream);
  op.pairs = pairs;
  op.n_pairs = n_pairs;
  return tprt_submit(comm, &op, work);
}

static inline tprt_op tprt_op_transfer(tprt_op_kind kind, const void *send, void *recv,
                                       int64_t count, tprt_dtype dtype, int peer, int tag) {
  tprt_op op;
  tprt_op_fill(&op, kind, send, recv, count, dtype, NULL);
  op.peer = peer;
  op.tag = tag;
  return op;
}
/* For batches: tprt_op ops[] = {tprt_op_send(...), tprt_op_recv(...)}. */
static inline tprt_op tprt_op_send(const void *send, int64_t count, tprt_dtype dtype, int peer,
                                   int tag) {
  return tprt_op_transfer(TPRT_OP_SEND, send, NULL, count, dtype, peer, tag);
}
static inline tprt_op tprt_op_recv(void *recv, int64_t count, tprt_dtype dtype, int peer, int tag) {
  return tprt_op_transfer(TPRT_OP_RECV, NULL, recv, count, dtype, peer, tag);
}

static inline tprt_status tprt_send(tprt_comm *comm, const void *send, int64_t count,
                                    tprt_dtype dtype, int peer, int tag, void *stream,
                                    tprt_work **work) {
  tprt_op op = tprt_op_send(send, count, dtype, peer, tag);
  op.stream = stream;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_recv(tprt_comm *comm, void *recv, int64_t count, tprt_dtype dtype,
                                    int peer, int tag, void *stream, tprt_work **work) {
  tprt_op op = tprt_op_recv(recv, count, dtype, peer, tag);
  op.stream = stream;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_reduce(tprt_comm *comm, const void *send, void *recv, int64_t count,
                                      tprt_dtype dtype, tprt_reduction reduction, int root,
                                      void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_REDUCE, send, recv, count, dtype, stream);
  op.reduction = reduction;
  op.root = root;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_gather(tprt_comm *comm, const void *send, void *recv, int64_t count,
                                      tprt_dtype dtype, int root, void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_GATHER, send, recv, count, dtype, stream);
  op.root = root;
  return tprt_submit(comm, &op, work);
}

/* `count` elements for each rank. */
static inline tprt_status tprt_scatter(tprt_comm *comm, const void *send, void *recv, int64_t count,
                                       tprt_dtype dtype, int root, void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_SCATTER, send, recv, tprt_comm_size(comm), dtype, stream);
  op.n_dims = 2;
  op.shape[1] = count;
  op.root = root;
  return tprt_submit(comm, &op, work);
}

/* Sum of the inputs, each times its rank's *scalar. */
static inline tprt_status tprt_all_reduce_premul(tprt_comm *comm, const void *send, void *recv,
                                                 int64_t count, tprt_dtype dtype,
                                                 const void *scalar, void *stream,
                                                 tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_ALL_REDUCE, send, recv, count, dtype, stream);
  op.reduction = TPRT_PREMUL_SUM;
  op.scalar = scalar;
  return tprt_submit(comm, &op, work);
}

/* Pieces of `count` elements, each at its own pointer. */
static inline tprt_status tprt_all_gather_list(tprt_comm *comm, const void *send,
                                               void *const *recv_list, int64_t count,
                                               tprt_dtype dtype, void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_ALL_GATHER_V, send, NULL, count, dtype, stream);
  op.recv_list = recv_list;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_reduce_scatter_list(tprt_comm *comm, const void *const *send_list,
                                                   void *recv, int64_t count, tprt_dtype dtype,
                                                   tprt_reduction reduction, void *stream,
                                                   tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_REDUCE_SCATTER_V, NULL, recv, count, dtype, stream);
  op.reduction = reduction;
  op.send_list = send_list;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_all_to_all_list(tprt_comm *comm, const void *const *send_list,
                                               void *const *recv_list, int64_t count,
                                               tprt_dtype dtype, void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_ALL_TO_ALL_V, NULL, NULL, count, dtype, stream);
  op.send_list = send_list;
  op.recv_list = recv_list;
  return tprt_submit(comm, &op, work);
}

/* Pieces of different lengths. `offsets` in elements; NULL: packed. */
static inline tprt_status tprt_all_gather_v(tprt_comm *comm, const void *send, void *recv,
                                            const int64_t *counts, const int64_t *offsets,
                                            tprt_dtype dtype, void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_ALL_GATHER_V, send, recv, 0, dtype, stream);
  op.recv_counts = counts;
  op.recv_offsets = offsets;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_reduce_scatter_v(tprt_comm *comm, const void *send, void *recv,
                                                const int64_t *counts, const int64_t *offsets,
                                                tprt_dtype dtype, tprt_reduction reduction,
                                                void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_REDUCE_SCATTER_V, send, recv, 0, dtype, stream);
  op.reduction = reduction;
  op.send_counts = counts;
  op.send_offsets = offsets;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_all_to_all_v(tprt_comm *comm, const void *send,
                                            const int64_t *send_counts, const int64_t *send_offsets,
                                            void *recv, const int64_t *recv_counts,
                                            const int64_t *recv_offsets, tprt_dtype dtype,
                                            void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_ALL_TO_ALL_V, send, recv, 0, dtype, stream);
  op.send_counts = send_counts;
  op.send_offsets = send_offsets;
  op.recv_counts = recv_counts;
  op.recv_offsets = recv_offsets;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_gather_v(tprt_comm *comm, const void *send, void *recv,
                                        const int64_t *counts, const int64_t *offsets,
                                        tprt_dtype dtype, int root, void *stream,
                                        tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_GATHER_V, send, recv, 0, dtype, stream);
  op.root = root;
  op.recv_counts = counts;
  op.recv_offsets = offsets;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_scatter_v(tprt_comm *comm, const void *send, void *recv,
                                         const int64_t *counts, const int64_t *offsets,
                                         tprt_dtype dtype, int root, void *stream,
                                         tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_SCATTER_V, send, recv, 0, dtype, stream);
  op.root = root;
  op.send_counts = counts;
  op.send_offsets = offsets;
  return tprt_submit(comm, &op, work);
}

/* Completes everything submitted before on all ranks. */
static inline tprt_status tprt_barrier(tprt_comm *comm, void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, stream);
  op.n_dims = 0;
  return tprt_submit(comm, &op, work);
}

#ifdef __cplusplus
}
#endif
#endif
