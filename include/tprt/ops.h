/* Operations: their description (tprt_op), submission, and handles of background work. */
#ifndef TPRT_OPS_H
#define TPRT_OPS_H

#include "tprt/comm.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Operations ---- */

enum { TPRT_MAX_RANK = 14 }; /* max number of dimensions of a tensor */

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
  int64_t shape[TPRT_MAX_RANK]; /* shape of one rank's send tensor; ignored for barrier */
  /* may be NULL if there are no elements, and on non-root ranks of a broadcast or scatter */
  const void *send;
  /* may be NULL if there are no elements, and on non-root ranks of a reduce or gather */
  void *recv;
  /* permute: every destination occurs at most once; all ranks pass the same list; copied by
   * submit */
  const tprt_pair *pairs;
  size_t n_pairs;
  /* a stream of the rank's device (a cudaStream_t), with TPRT_CAP_STREAMS only; NULL: see
   * tprt_submit */
  void *stream;
  int64_t timeout_ns; /* 0: the communicator's timeout */
  /* premul_sum: this rank's factor, one element of the accumulation type (f32 for f16, bf16 and the
   * f8 types, else dtype). Copied by submit. */
  const void *scalar;
  /* For the kinds ..._V: element counts of the n pieces. reduce_scatter_v, scatter_v and
   * all_to_all_v use send_counts; all_gather_v, gather_v and all_to_all_v use recv_counts. All
   * ranks pass the same counts; in all_to_all_v rank i's send_counts[j] equals rank j's
   * recv_counts[i]. NULL: every piece has `shape` elements. The other side is one piece, of this
   * rank's count. Pieces are packed in send or recv, or start at these offsets (in elements), or
   * each has its own pointer. Submit copies all arrays. Other kinds ignore them. */
  const int64_t *send_counts, *recv_counts;
  const int64_t *send_offsets, *recv_offsets;
  const void *const *send_list;
  void *const *recv_list;
  int32_t peer, tag; /* send and recv only; a tag is at least 0 */
  /* settings of this operation, see tprt_hint; a hint `timeout` has precedence over timeout_ns.
   * Read by submit */
  const tprt_hint *hints;
  size_t n_hints;
} tprt_op;

/* Handle of a submitted operation. */
typedef struct tprt_work tprt_work;

/* Submits an operation. If work is NULL, returns when the operation is done, after everything
 * submitted before it, also in streams. Otherwise the operation runs in the background, in
 * submission order, and *work becomes its handle. Until it is done, the caller must not change send
 * or read recv.
 *
 * With a stream: returns when the operation is enqueued in the stream, after the caller's earlier
 * work and before its later work; *work is done when the device has finished. The deadline counts
 * from submission and is enforced even if no thread waits. Without a handle, the next call reports
 * a failure. While the stream captures a graph, the operation becomes part of the graph. It then
 * has no handle (TPRT_INVALID_STATE), signatures are compared at capture time, and replays have no
 * deadline. Operations that need memory of the library (pieces that are not contiguous) are
 * TPRT_UNSUPPORTED in a capture. */
TPRT_API tprt_status tprt_submit(tprt_comm *comm, const tprt_op *op, tprt_work **work);

/* Submits n operations as one work item, which ends when all have ended or one has failed; n may be
 * 0. Adjacent sends and recvs progress together, so no order of them deadlocks. Other operations
 * run one after the other, but adjacent ones with the hint `independent` may run as one: on host
 * memory, up to 64 KiB of all_reduces, all_gathers, reduce_scatters, all_to_alls or broadcasts of
 * one type (and reduction, and root) are packed, so that the ranks meet once. The recorder and
 * hooks then see one operation. On nccl any number of them is one group of NCCL calls, except those
 * that take more than one call, and with TPRT_NCCL_CHECK. All ranks give equal hints. All ops have
 * the same `size` and the same stream. One invalid op makes the whole batch invalid. The timeout of
 * the batch is the longest of its ops. */
TPRT_API tprt_status tprt_submit_batch(tprt_comm *comm, const tprt_op *ops, size_t n,
                                       tprt_work **work);

/* Returns TPRT_IN_PROGRESS, or the result. */
TPRT_API tprt_status tprt_work_test(const tprt_work *work);
/* Waits at most timeout_ns (0: until the operation's own deadline). Returns TPRT_IN_PROGRESS if it
 * is still running. */
TPRT_API tprt_status tprt_work_wait(tprt_work *work, int64_t timeout_ns);
/* Returns for how long the operation has run, in nanoseconds: until its end, or until now. 0 before
 * it begins. In a stream it counts as begun when it is enqueued. */
TPRT_API int64_t tprt_work_elapsed(const tprt_work *work);
/* Makes later work of a stream (TPRT_CAP_STREAMS) wait for the operation, without blocking the
 * caller if it was submitted in a stream, otherwise by waiting here. May also wait for work that
 * the caller has put into that stream since. TPRT_UNSUPPORTED on backends without streams. */
TPRT_API tprt_status tprt_work_wait_stream(tprt_work *work, void *stream);
/* Calls `fn` once with the result, in the thread that ends the operation, or at once if it has
 * ended. The callback must not use the communicator and must return soon: later operations wait for
 * it. tprt_last_error returns the text of a failure. A work has one callback: a second one is
 * TPRT_INVALID_STATE. It is also called after tprt_work_destroy. */
TPRT_API tprt_status tprt_work_on_end(tprt_work *work, void (*fn)(void *user, tprt_status status),
                                      void *user);
/* Releases the handle; the operation still runs to completion. NULL is allowed. */
TPRT_API void tprt_work_destroy(tprt_work *work);
/* Completes everything submitted before and returns the sticky status. */
TPRT_API tprt_status tprt_sync(tprt_comm *comm);

/* Returns the algorithmic bytes that one of n ranks sends for the op, whatever algorithm runs. With
 * c = ceil(elements / n) * element size of the tensor that is distributed over the group:
 *   all_gather, reduce_scatter, all_to_all, scatter   (n-1)*c
 *   all_reduce                                        2*(n-1)*c
 *   permute, broadcast, send, reduce, gather          the buffer
 *   barrier, recv                                     0
 *   the kinds ..._V                                   (n-1) times the longest piece; gather_v: once
 *
 * Negative for an invalid op. */
TPRT_API int64_t tprt_op_bytes(const tprt_op *op, int n_ranks);

/* ---- Wrappers. `count` follows NCCL: elements of all_reduce and broadcast, of the send tensor of
 * all_gather and permute, of the recv tensor of reduce_scatter, and per peer of all_to_all. ---- */

/* Initializes an op field by field. A struct initializer would be slower: compilers clear and copy
 * the whole struct, which takes longer than a small operation waits. Fields without a parameter
 * become 0; of `shape`, only n_dims entries are read. */
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
  op->hints = NULL;
  op->n_hints = 0;
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

/* The send tensors of the next two have a leading dimension of size n_ranks. */
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

/* `count` elements per rank. */
static inline tprt_status tprt_scatter(tprt_comm *comm, const void *send, void *recv, int64_t count,
                                       tprt_dtype dtype, int root, void *stream, tprt_work **work) {
  tprt_op op;
  tprt_op_fill(&op, TPRT_OP_SCATTER, send, recv, tprt_comm_size(comm), dtype, stream);
  op.n_dims = 2;
  op.shape[1] = count;
  op.root = root;
  return tprt_submit(comm, &op, work);
}

/* Sum of the inputs, each multiplied by its rank's *scalar. */
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

/* Pieces of different lengths. `offsets` are in elements; NULL: packed. */
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

/* Barrier: done when all ranks have completed everything they submitted before. */
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
