/* What runs on NVIDIA GPUs: collectives fused with what stands around them in a transformer. The
 * library loads the CUDA driver when one of these functions first needs it; it is neither needed to
 * build the library nor to use the rest of it.
 *
 * A group is up to 8 ranks whose memory all of them can address: GPUs that are peers, one rank
 * each, or, for tests and on a machine with one GPU, all ranks on the same GPU ("virtual ranks").
 * tprt_cuda_symmetric_create makes memory that all ranks of a communicator address,
 * tprt_cuda_group_attach a group on it; addresses from elsewhere (virtual memory management,
 * windows of NCCL, one GPU's own memory) are as good. Apart from these two the library allocates
 * nothing on the device.
 *
 * Order. All ranks of a group make the same calls, with the same numbers, in the same order, each
 * on one stream of its own. With virtual ranks one call is that of all ranks. Calls only enqueue:
 * they neither wait for the device nor allocate, so they may be captured in a graph, which may be
 * replayed any number of times.
 *
 * Buffers. An array of pointers is indexed by rank. "Local" buffers: only the entries of this
 * process's ranks are read. "Symmetric" ones are read or written by the kernels of other ranks:
 * every entry is set, with the address at which this process's GPU reaches that rank's buffer. When
 * the call has completed on a rank's stream, nobody touches its buffers any more. Addresses are
 * multiples of 16, and so are rows in bytes.
 *
 * Results. Sums are taken in f32 in rank order and rounded once: the same bits on all ranks, in all
 * runs, with every algorithm, and those that backends shm and loopback give (of a NaN, that it is
 * one).
 *
 * Errors. Arguments are checked by the call: TPRT_INVALID_ARGUMENT or TPRT_UNSUPPORTED, and nothing
 * was enqueued. A rank that does not come makes the others wait on the device, for ever or, with
 * spin_limit, until they give up: see tprt_cuda_group_check.
 *
 * Threads. A group is used by one thread at a time. */
#ifndef TPRT_CUDA_H
#define TPRT_CUDA_H

#include "tprt/comm.h"
#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_cuda_info {
  int driver_version; /* 1000 * major + 10 * minor, of the CUDA that the driver supports */
  int n_devices;
} tprt_cuda_info;

/* Loads and starts the driver. Without a driver or a device, or with a driver older than CUDA 11:
 * TPRT_UNSUPPORTED, and the text says why. Any thread. */
TPRT_API tprt_status tprt_cuda_probe(tprt_cuda_info *info);

/* ---- Memory that all ranks reach ---- */

/* Memory of the same size on each rank of a communicator, and where this rank's GPU finds that of
 * each. */
typedef struct tprt_cuda_symmetric tprt_cuda_symmetric;

/* Collective over `comm`, of any backend and at most 8 ranks, which it borrows. Takes `bytes`,
 * zeroed, rounded up to 2 MiB, on the device of the thread's current context, and makes it
 * reachable: for ranks that are threads of one process by access to peers, for those in other
 * processes of this host by CUDA IPC, which needs both in one container. All ranks get the same
 * status: TPRT_UNSUPPORTED where GPUs are no peers or a rank is on another host, TPRT_MISMATCH for
 * different sizes, TPRT_DEVICE with what the driver said. */
TPRT_API tprt_status tprt_cuda_symmetric_create(tprt_comm *comm, size_t bytes,
                                                tprt_cuda_symmetric **memory);

/* By rank: where this process's GPU reaches the memory. Lives as long as `memory`. */
TPRT_API void *const *tprt_cuda_symmetric_addresses(const tprt_cuda_symmetric *memory);

/* Collective over the communicator, when nothing that uses the memory is on its way. If that has
 * failed, its status; then peers may still read this rank's memory, and it is not given back. NULL
 * is allowed. */
TPRT_API tprt_status tprt_cuda_symmetric_destroy(tprt_cuda_symmetric *memory);

/* ---- Groups ---- */

enum {
  TPRT_CUDA_MAX_RANKS = 8,
  TPRT_CUDA_ALL_RANKS = -1, /* as rank: virtual ranks, all of them */
  TPRT_CUDA_MAX_HIDDEN = 16384,
  TPRT_CUDA_GROUP = 128, /* elements that have a scale with TPRT_CUDA_PER_GROUP */
};

/* A CUstream or cudaStream_t; NULL is the default stream. */
typedef void *tprt_cuda_stream;

typedef struct tprt_cuda_group tprt_cuda_group;

/* Start with `{.size = sizeof config}`. */
typedef struct tprt_cuda_group_config {
  size_t size;
  int32_t n_ranks; /* 1 to 8 */
  int32_t rank;    /* of this process in the group, or TPRT_CUDA_ALL_RANKS */
  /* symmetric: tprt_cuda_signal_bytes() bytes, zeroed before any rank's first call */
  void *signals[TPRT_CUDA_MAX_RANKS];
  /* symmetric: for all_reduce with TPRT_CUDA_PUSH and cross_entropy; else may be NULL */
  void *staging[TPRT_CUDA_MAX_RANKS];
  size_t staging_bytes; /* of each; a message takes 2 * n_ranks times its size */
  uint32_t spin_limit;  /* polls after which a wait is given up; 0: never */
  /* thread blocks of a rank, the same on all ranks; 0: as many as fit beside each other */
  int32_t max_ctas;
  /* for tests: blocks pause up to so long at every step of a call */
  uint32_t skew_ns;
} tprt_cuda_group_config;

/* Bytes of one rank's signals. */
TPRT_API size_t tprt_cuda_signal_bytes(void);

/* Loads the kernels into the calling thread's current CUDA context, in which all calls of the group
 * are to be made. The memory is borrowed until the group is destroyed, after its last call has
 * completed. */
TPRT_API tprt_status tprt_cuda_group_create(const tprt_cuda_group_config *config,
                                            tprt_cuda_group **group);
TPRT_API void tprt_cuda_group_destroy(tprt_cuda_group *group);

/* The same for the ranks of a communicator, of which each has a GPU of its own: threads or
 * processes. Collective; so is tprt_cuda_group_destroy of such a group, which frees the signals and
 * the staging that this takes. In `config`, n_ranks, rank, signals and staging stay 0; all ranks
 * give the same staging_bytes. Symmetric buffers of the calls come from tprt_cuda_symmetric_create
 * on the same communicator. Errors as there, and for two ranks on one GPU TPRT_UNSUPPORTED: the
 * same on all ranks. */
TPRT_API tprt_status tprt_cuda_group_attach(tprt_comm *comm, const tprt_cuda_group_config *config,
                                            tprt_cuda_group **group);

/* TPRT_TIMEOUT if a kernel of this process's ranks ever gave up waiting: all results since are
 * worthless, and so is the group. Waits for `stream` and reads device memory: not for captures. */
TPRT_API tprt_status tprt_cuda_group_check(tprt_cuda_group *group, tprt_cuda_stream stream);

/* ---- Reductions of rows ---- */

typedef enum tprt_cuda_algorithm {
  TPRT_CUDA_AUTO = 0, /* what tprt_cuda_choose says */
  TPRT_CUDA_PUSH = 1, /* one shot through staging: inputs are local; one round of signals */
  TPRT_CUDA_PULL = 2, /* one shot: every rank reads all inputs */
  /* two shots: every rank finishes a slice of ceil(tokens / n_ranks) rows and stores it at all
   * ranks */
  TPRT_CUDA_SLICES = 3,
  TPRT_CUDA_N_ALGORITHMS = 4,
} tprt_cuda_algorithm;

typedef enum tprt_cuda_norm {
  TPRT_CUDA_NO_NORM = 0,
  TPRT_CUDA_RMS_NORM = 1,
  TPRT_CUDA_LAYER_NORM = 2
} tprt_cuda_norm;

typedef enum tprt_cuda_quantise {
  TPRT_CUDA_NO_QUANTISE = 0,
  TPRT_CUDA_STATIC = 1,    /* q = y / *static_scale */
  TPRT_CUDA_PER_TOKEN = 2, /* scale = largest |y| of the row / 448; 1 for a row of zeros */
  /* the same for every 128 elements of a row; hidden is a multiple of 128 */
  TPRT_CUDA_PER_GROUP = 3,
} tprt_cuda_quantise;

/* Tensors [tokens, hidden], row-major and dense, unless they are sharded: then a rank has the rows
 * of its slice only, at the front of its buffer. From an input d on each rank:
 *     a = sum of d over the ranks
 *     r = round(a + bias + residual)            -> residual_out
 *     y = round(norm(r) * gamma + beta)         -> out           (without norm: y = r)
 *     q = f8e4m3(y / scale), at most 448        -> quantised, scale RMS norm: r / sqrt(mean(r^2) +
 *       epsilon). Layer norm: (r - mean(r)) / sqrt(mean((r - mean(r))^2) + epsilon). All in f32;
 *       what is not stored is rounded all the same.
 *
 * Symmetric with PULL and SLICES: input, unless it was sent. With SLICES, when not sharded: out,
 * quantised, scale, residual_out. All else is local. out may be input, with SLICES or PUSH;
 * residual_out may be residual, when both have the same layout. */
typedef struct tprt_cuda_rows {
  size_t size;
  tprt_dtype dtype; /* f32, f16, bf16: of all tensors but quantised and scale */
  int64_t tokens, hidden;
  int64_t
      /* 0 or 1: none. Else the tokens are so many blocks, and a rank's slice is one of each:
       * ceil(tokens / blocks / n_ranks) rows of every block, one behind the other where it is
       * sharded. So is a tensor [blocks, .., hidden] that is split along its second dimension */
      blocks;
  tprt_cuda_algorithm algorithm;
  tprt_cuda_norm norm;
  tprt_cuda_quantise quantise;
  /* round after the sum over the ranks and after adding the bias, as separate kernels would */
  bool match_unfused;
  /* SLICES: residual and residual_out. residual is read by the owner of a row only, in any case */
  bool residual_sharded;
  bool out_sharded; /* SLICES: out, quantised, scale. This is the reduce-scatter */
  float epsilon;
  const float *static_scale;
  /* rows of `hidden`; bias and beta may be NULL. Of this process's GPU */
  const void *bias, *gamma, *beta;
  const void *input[TPRT_CUDA_MAX_RANKS];
  const void *residual[TPRT_CUDA_MAX_RANKS]; /* all NULL: none. This and what follows likewise */
  void *residual_out[TPRT_CUDA_MAX_RANKS];
  void *out[TPRT_CUDA_MAX_RANKS];
  void *quantised[TPRT_CUDA_MAX_RANKS]; /* one byte per element */
  float *scale[TPRT_CUDA_MAX_RANKS];    /* [tokens] or [tokens, hidden / 128] */
  bool
      /* SLICES: input[r] already has what rank r reduces: its slices of every rank, laid out as
       * what is sharded, one rank behind the other. Then it is local, and free again when the call
       * has completed */
      input_sent;
  /* PER_TOKEN and PER_GROUP: scale = max(max(largest |y|, least_largest) / 448, least_scale). Both
   * 0: there is no least, and 1 is the scale of zeros. */
  float least_largest, least_scale;
  /* q = f8e4m3(y / scale), rounded as a division; else y is multiplied by 1 / scale, which is
   * faster */
  bool divides;
} tprt_cuda_rows;

/* The algorithm for a shape: the same on all ranks, whatever memory they have. `staging_bytes`: 0
 * if there is none. */
TPRT_API tprt_cuda_algorithm tprt_cuda_choose(tprt_dtype dtype, int64_t tokens, int64_t hidden,
                                              int n_ranks, size_t staging_bytes);

/* All-reduce or reduce-scatter of rows, with all that tprt_cuda_rows says. */
TPRT_API tprt_status tprt_cuda_reduce_rows(tprt_cuda_group *group, const tprt_cuda_rows *rows,
                                           tprt_cuda_stream stream);

/* ---- Exchanges, of any type of element, counted in bytes ---- */

/* recv = the sends of all ranks, joined along `dim`; shape and dim are those of a rank's send. send
 * is local, recv symmetric, and of n_ranks times the size. The innermost run that moves as one,
 * shape[dim] * ... * shape[n_dims - 1] elements, is a multiple of 16 bytes. send may be its place
 * in recv. */
TPRT_API tprt_status tprt_cuda_all_gather(tprt_cuda_group *group, tprt_dtype dtype, int n_dims,
                                          const int64_t *shape, int dim, const void *const *send,
                                          void *const *recv, tprt_cuda_stream stream);

/* Piece r of split_dim goes to rank r; pieces are joined along concat_dim. With tokens split over
 * the ranks and concat_dim tokens, split_dim heads, this is the transpose between the two shardings
 * of attention. send is local, recv symmetric, of the same size; they do not overlap. The innermost
 * run that moves as one is a multiple of 16 bytes. */
TPRT_API tprt_status tprt_cuda_all_to_all(tprt_cuda_group *group, tprt_dtype dtype, int n_dims,
                                          const int64_t *shape, int split_dim, int concat_dim,
                                          const void *const *send, void *const *recv,
                                          tprt_cuda_stream stream);

/* ---- Cross entropy over a vocabulary that is split over the ranks ---- */

/* What is done in a call. Where kernels do not reach the other ranks' memory the parts go there by
 * an all-gather of 16 bytes for each token, between two calls of a group of one rank: the first
 * makes `parts`, the second reads those of all ranks, one behind the other. */
typedef enum tprt_cuda_entropy_step {
  /* one launch: the ranks exchange their parts through staging, 16 bytes for each token and slot */
  TPRT_CUDA_ALL_STEPS = 0,
  TPRT_CUDA_PARTS = 1,
  TPRT_CUDA_FROM_PARTS = 2,
} tprt_cuda_entropy_step;

/* What `picked` is; 0 where the target is no column. */
typedef enum tprt_cuda_pick {
  TPRT_CUDA_LOGIT = 0,
  TPRT_CUDA_LESS_LARGEST = 1,    /* logit - largest */
  TPRT_CUDA_LOG_PROBABILITY = 2, /* (logit - largest) - log(sum) */
} tprt_cuda_pick;

/* Of rows of logits x[t, v], over all columns v, in f32:
 *     largest[t] = max x[t, v]
 *     sum[t]     = sum of exp(x[t, v] - largest[t])
 *     log_sum[t] = log(sum[t]) + largest[t]
 *     loss[t]    = log_sum[t] - x[t, target[t]], and 0 where target[t] is `ignored`
 *     picked[t], of x[t, target[t]] NaN where a logit is. An infinite largest logit makes sum NaN,
 *       unless `finite` says that it is then the sum of exp(x[t, v]). Rank r has the columns [r, r
 *       + 1) * columns. All local. All of an array NULL: it is not there; without target neither
 *       are loss and picked. */
typedef struct tprt_cuda_entropy {
  size_t size;
  tprt_dtype dtype; /* of the logits: f32, f16, bf16 */
  int64_t tokens, columns;
  int64_t ignored;                         /* e.g. -100 */
  const void *logits[TPRT_CUDA_MAX_RANKS]; /* [tokens, columns] */
  /* [tokens], the same on all ranks; one that is no column: loss NaN */
  const void *target[TPRT_CUDA_MAX_RANKS];
  float *loss[TPRT_CUDA_MAX_RANKS]; /* [tokens], the same on all ranks, as is what follows */
  float *log_sum[TPRT_CUDA_MAX_RANKS];
  float *largest[TPRT_CUDA_MAX_RANKS], *sum[TPRT_CUDA_MAX_RANKS], *picked[TPRT_CUDA_MAX_RANKS];
  tprt_dtype target_dtype; /* i64, which is meant by 0, or i32 */
  tprt_cuda_pick pick;
  /* picked is 0 where another rank has the column, so its sum over the ranks is what it is
   * otherwise */
  bool own_picks;
  bool finite;
  tprt_cuda_entropy_step step; /* others than TPRT_CUDA_ALL_STEPS: */
  /* ranks over which the columns are split, and which of them the group's rank is */
  int n_parts, part;
  /* 16 bytes for each token; for TPRT_CUDA_FROM_PARTS n_parts times that */
  void *parts[TPRT_CUDA_MAX_RANKS];
} tprt_cuda_entropy;

TPRT_API tprt_status tprt_cuda_cross_entropy(tprt_cuda_group *group,
                                             const tprt_cuda_entropy *entropy,
                                             tprt_cuda_stream stream);

#ifdef __cplusplus
}
#endif
#endif
