/* Collectives on NVIDIA GPUs, fused with the row operations of transformer layers. The library
 * loads the CUDA driver when one of these functions first needs it. Neither building the library
 * nor using the rest of it requires the driver.
 *
 * A group has up to 8 ranks that can address each other's memory: peer GPUs with one rank each, or
 * all ranks on the same GPU ("virtual ranks", for tests and machines with one GPU).
 * tprt_cuda_symmetric_create allocates memory that all ranks of a communicator can address;
 * tprt_cuda_group_attach creates a group on a communicator. Addresses from other sources (virtual
 * memory management, NCCL windows, one GPU's own memory) work as well. Apart from these two
 * functions, the library allocates no device memory.
 *
 * Order. All ranks of a group make the same calls, with the same sizes, in the same order, each on
 * one stream of its own. With virtual ranks, one call acts for all ranks. Calls only enqueue work:
 * they neither wait for the device nor allocate. They may therefore be captured in a graph, which
 * may be replayed any number of times.
 *
 * Buffers. An array of pointers is indexed by rank. For "local" buffers, only the entries of this
 * process's ranks are read. "Symmetric" buffers are read or written by the kernels of other ranks:
 * every entry must be set, to the address at which this process's GPU accesses that rank's buffer.
 * Once a call has completed on a rank's stream, no rank accesses that rank's buffers any more.
 * Addresses and row sizes in bytes are multiples of 16.
 *
 * Results. Sums are computed in f32 in rank order and rounded once. They are bitwise equal on all
 * ranks, in all runs, with every algorithm, and equal to the results of backends shm and loopback
 * (except for NaN payloads).
 *
 * Errors. Each call checks its arguments; on TPRT_INVALID_ARGUMENT or TPRT_UNSUPPORTED nothing was
 * enqueued. If a rank does not arrive, the other ranks wait on the device: forever, or with
 * spin_limit until they give up; see tprt_cuda_group_check.
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
  /* 1000 * major + 10 * minor of the newest CUDA version that the driver supports */
  int driver_version;
  int n_devices;
} tprt_cuda_info;

/* Loads and initializes the driver. TPRT_UNSUPPORTED, with the reason in the error text, if there
 * is no driver or device, or if the driver is older than CUDA 11. Any thread. */
TPRT_API tprt_status tprt_cuda_probe(tprt_cuda_info *info);

/* ---- Symmetric memory ---- */

/* Memory of the same size on each rank of a communicator, and the addresses at which this rank's
 * GPU accesses it. */
typedef struct tprt_cuda_symmetric tprt_cuda_symmetric;

/* Allocates symmetric memory. Collective over `comm`, which it borrows: any backend, at most 8
 * ranks. Allocates `bytes`, zeroed and rounded up to 2 MiB, on the device of the thread's current
 * context, and makes it accessible to the other ranks: with peer access if they are threads of this
 * process, with CUDA IPC if they are other processes of this host (which must be in the same
 * container). All ranks get the same status: TPRT_UNSUPPORTED if GPUs are not peers or a rank is on
 * another host, TPRT_MISMATCH for different sizes, TPRT_DEVICE with the driver's error. */
TPRT_API tprt_status tprt_cuda_symmetric_create(tprt_comm *comm, size_t bytes,
                                                tprt_cuda_symmetric **memory);

/* Returns an array indexed by rank: the addresses at which this process's GPU accesses the memory.
 * Lives as long as `memory`. */
TPRT_API void *const *tprt_cuda_symmetric_addresses(const tprt_cuda_symmetric *memory);

/* Frees symmetric memory. Collective over the communicator; no work that uses the memory may be
 * pending. If the communicator has failed, returns its status. In that case the memory is leaked,
 * because peers may still read it. NULL is allowed. */
TPRT_API tprt_status tprt_cuda_symmetric_destroy(tprt_cuda_symmetric *memory);

/* ---- Groups ---- */

enum {
  TPRT_CUDA_MAX_RANKS = 8,
  TPRT_CUDA_ALL_RANKS = -1, /* as rank: this process acts for all ranks (virtual ranks) */
  TPRT_CUDA_MAX_HIDDEN = 16384,
  TPRT_CUDA_GROUP = 128, /* elements per scale with TPRT_CUDA_PER_GROUP */
};

/* A CUstream or cudaStream_t; NULL is the default stream. */
typedef void *tprt_cuda_stream;

typedef struct tprt_cuda_group tprt_cuda_group;

/* Start with `{.size = sizeof config}`. */
typedef struct tprt_cuda_group_config {
  size_t size;
  int32_t n_ranks; /* 1 to 8 */
  int32_t rank;    /* this process's rank in the group, or TPRT_CUDA_ALL_RANKS */
  /* symmetric: tprt_cuda_signal_bytes() bytes each, zeroed before any rank's first call */
  void *signals[TPRT_CUDA_MAX_RANKS];
  /* symmetric: needed by all_reduce with TPRT_CUDA_PUSH and by cross_entropy; else may be NULL */
  void *staging[TPRT_CUDA_MAX_RANKS];
  size_t staging_bytes; /* of each rank; a message takes 2 * n_ranks times its size */
  uint32_t spin_limit;  /* number of polls after which a wait gives up; 0: never */
  /* thread blocks per rank, the same on all ranks; 0: as many as can be resident at once, at most
   * 256. If ranks are on several GPUs, at most 64: kernels that wait for peers leave room for
   * kernels of other streams, which peers may be waiting for */
  int32_t max_ctas;
  /* for tests: blocks pause for up to this time at every step of a call */
  uint32_t skew_ns;
} tprt_cuda_group_config;

/* Returns the size of one rank's signals in bytes. */
TPRT_API size_t tprt_cuda_signal_bytes(void);

/* Creates a group: loads the kernels into the calling thread's current CUDA context, in which all
 * calls of the group must be made. The memory is borrowed until the group is destroyed; destroy it
 * after its last call has completed. */
TPRT_API tprt_status tprt_cuda_group_create(const tprt_cuda_group_config *config,
                                            tprt_cuda_group **group);
TPRT_API void tprt_cuda_group_destroy(tprt_cuda_group *group);

/* Creates a group of the ranks of a communicator, threads or processes, each with its own GPU.
 * Collective. tprt_cuda_group_destroy of such a group is collective too, and frees the signals and
 * staging buffers that this function allocates. In `config`, n_ranks, rank, signals and staging
 * stay 0; all ranks pass the same staging_bytes. Symmetric buffers of the calls come from
 * tprt_cuda_symmetric_create on the same communicator. Errors, the same on all ranks: those of
 * tprt_cuda_symmetric_create, and TPRT_UNSUPPORTED if two ranks share a GPU. */
TPRT_API tprt_status tprt_cuda_group_attach(tprt_comm *comm, const tprt_cuda_group_config *config,
                                            tprt_cuda_group **group);

/* Returns TPRT_TIMEOUT if a kernel of this process's ranks has ever given up waiting. All results
 * since then are invalid, and the group is unusable. Waits for `stream` and reads device memory, so
 * it cannot be captured. */
TPRT_API tprt_status tprt_cuda_group_check(tprt_cuda_group *group, tprt_cuda_stream stream);

/* ---- Reductions of rows ---- */

typedef enum tprt_cuda_algorithm {
  TPRT_CUDA_AUTO = 0, /* the result of tprt_cuda_choose */
  TPRT_CUDA_PUSH = 1, /* one-shot through staging: inputs are local; one round of signals */
  TPRT_CUDA_PULL = 2, /* one-shot: every rank reads all inputs */
  /* two-shot: every rank reduces a slice of ceil(tokens / n_ranks) rows and stores it at all
   * ranks */
  TPRT_CUDA_SLICES = 3,
  TPRT_CUDA_N_ALGORITHMS = 4,
} tprt_cuda_algorithm;

typedef enum tprt_cuda_norm {
  TPRT_CUDA_NO_NORM = 0,
  TPRT_CUDA_RMS_NORM = 1,
  TPRT_CUDA_LAYER_NORM = 2
} tprt_cuda_norm;

typedef enum tprt_cuda_quantize {
  TPRT_CUDA_NO_QUANTIZE = 0,
  TPRT_CUDA_STATIC = 1,    /* q = y / *static_scale */
  TPRT_CUDA_PER_TOKEN = 2, /* scale = max |y| of the row / 448; 1 for a row of zeros */
  /* like PER_TOKEN, for every 128 elements of a row; hidden is a multiple of 128 */
  TPRT_CUDA_PER_GROUP = 3,
} tprt_cuda_quantize;

/* An all-reduce or reduce-scatter of rows, fused with bias, residual, norm and quantization.
 *
 * Tensors are [tokens, hidden], row-major and dense. A sharded tensor holds only the rows of the
 * rank's slice, at the start of its buffer. With d the input of each rank:
 *     a = sum of d over the ranks
 *     r = round(a + bias + residual)            -> residual_out
 *     y = round(norm(r) * gamma + beta)         -> out           (without norm: y = r)
 *     q = f8e4m3(y / scale), clamped to +-448   -> quantized, scale
 *
 * RMS norm: r / sqrt(mean(r^2) + epsilon). Layer norm: (r - mean(r)) / sqrt(mean((r - mean(r))^2) +
 * epsilon). All arithmetic is in f32. r and y are rounded even if they are not stored.
 *
 * Symmetric buffers: with PULL and SLICES the input, unless input_sent; with SLICES and not sharded
 * also out, quantized, scale and residual_out. All other buffers are local. out may alias input
 * with SLICES or PUSH; residual_out may alias residual if both have the same layout. */
typedef struct tprt_cuda_rows {
  size_t size;
  tprt_dtype dtype; /* f32, f16 or bf16: type of all tensors except quantized and scale */
  int64_t tokens, hidden;
  /* 0 or 1: none. Else the tokens form this many blocks, and a rank's slice has ceil(tokens /
   * blocks / n_ranks) rows of every block. A sharded buffer concatenates them. This is the layout
   * of a tensor [blocks, .., hidden] that is sharded along its second dimension */
  int64_t blocks;
  tprt_cuda_algorithm algorithm;
  tprt_cuda_norm norm;
  tprt_cuda_quantize quantize;
  /* also round after the sum over the ranks and after the bias, as unfused kernels do */
  bool match_unfused;
  /* SLICES: residual and residual_out are sharded. In any case only the owner of a row reads its
   * residual */
  bool residual_sharded;
  bool out_sharded; /* SLICES: out, quantized and scale are sharded. This is the reduce-scatter */
  float epsilon;
  const float *static_scale;
  /* rows of `hidden` elements in the memory of this process's GPU; bias and beta may be NULL */
  const void *bias, *gamma, *beta;
  const void *input[TPRT_CUDA_MAX_RANKS];
  /* all entries NULL: none. The same holds for the arrays below */
  const void *residual[TPRT_CUDA_MAX_RANKS];
  void *residual_out[TPRT_CUDA_MAX_RANKS];
  void *out[TPRT_CUDA_MAX_RANKS];
  void *quantized[TPRT_CUDA_MAX_RANKS]; /* one byte per element */
  float *scale[TPRT_CUDA_MAX_RANKS];    /* [tokens] or [tokens, hidden / 128] */
  /* SLICES: the input has already been sent. input[r] holds the operands that rank r reduces: the
   * slices from all ranks, each laid out like a sharded tensor, in rank order. input is then local,
   * and free again once the call has completed */
  bool input_sent;
  /* Bounds of dynamic scales (PER_TOKEN, PER_GROUP): scale = max(max(max |y|, least_largest) / 448,
   * least_scale). If both are 0, there is no bound, and the scale of zeros is 1. */
  float least_largest, least_scale;
  /* true: q = f8e4m3(y / scale), rounded as a division. false: y is multiplied by 1 / scale, which
   * is faster */
  bool divides;
} tprt_cuda_rows;

/* Chooses the algorithm for a shape. The result depends only on the arguments, so all ranks agree.
 * `staging_bytes`: 0 if there is no staging. */
TPRT_API tprt_cuda_algorithm tprt_cuda_choose(tprt_dtype dtype, int64_t tokens, int64_t hidden,
                                              int n_ranks, size_t staging_bytes);

/* All-reduces or reduce-scatters rows, with the fused operations that tprt_cuda_rows describes. */
TPRT_API tprt_status tprt_cuda_reduce_rows(tprt_cuda_group *group, const tprt_cuda_rows *rows,
                                           tprt_cuda_stream stream);

/* ---- Data exchange without reduction, for any element type; sizes are counted in bytes ---- */

/* All-gather: recv is the concatenation of the sends of all ranks along `dim`. shape and dim
 * describe one rank's send. send is local; recv is symmetric and n_ranks times as large. The
 * contiguous run, shape[dim] * ... * shape[n_dims - 1] elements, is a multiple of 16 bytes. send
 * may alias its place in recv. */
TPRT_API tprt_status tprt_cuda_all_gather(tprt_cuda_group *group, tprt_dtype dtype, int n_dims,
                                          const int64_t *shape, int dim, const void *const *send,
                                          void *const *recv, tprt_cuda_stream stream);

/* All-to-all: piece r of split_dim goes to rank r; received pieces are concatenated along
 * concat_dim. With tokens sharded over the ranks, concat_dim = tokens and split_dim = heads, this
 * switches between the two shardings of attention. send is local; recv is symmetric and of the same
 * size; they must not overlap. The contiguous run is a multiple of 16 bytes. */
TPRT_API tprt_status tprt_cuda_all_to_all(tprt_cuda_group *group, tprt_dtype dtype, int n_dims,
                                          const int64_t *shape, int split_dim, int concat_dim,
                                          const void *const *send, void *const *recv,
                                          tprt_cuda_stream stream);

/* ---- Cross entropy over a vocabulary that is sharded over the ranks ---- */

/* Steps that a call performs. If kernels cannot access the memory of other ranks, run the two steps
 * as separate calls of a group of one rank, with an all-gather of 16 bytes per token between them:
 * the first call writes `parts`; the second reads the parts of all ranks, concatenated in rank
 * order. */
typedef enum tprt_cuda_entropy_step {
  /* one launch: the ranks exchange their parts through staging, 16 bytes per token and slot */
  TPRT_CUDA_ALL_STEPS = 0,
  TPRT_CUDA_PARTS = 1,
  TPRT_CUDA_FROM_PARTS = 2,
} tprt_cuda_entropy_step;

/* Meaning of the output `picked`. It is 0 if the target is not a column. */
typedef enum tprt_cuda_pick {
  TPRT_CUDA_LOGIT = 0,
  TPRT_CUDA_LESS_LARGEST = 1,    /* logit - largest */
  TPRT_CUDA_LOG_PROBABILITY = 2, /* (logit - largest) - log(sum) */
} tprt_cuda_pick;

/* Softmax statistics and loss of rows of logits x[t, v], over all columns v, in f32:
 *     largest[t] = max x[t, v]
 *     sum[t]     = sum of exp(x[t, v] - largest[t])
 *     log_sum[t] = log(sum[t]) + largest[t]
 *     loss[t]    = log_sum[t] - x[t, target[t]], and 0 where target[t] is `ignored`
 *     picked[t]  is computed from x[t, target[t]], see tprt_cuda_pick
 *
 * A row with a NaN logit gives NaN. If the largest logit is infinite, sum is NaN; with `finite` it
 * is the sum of exp(x[t, v]) instead. Rank r has the columns [r, r + 1) * columns. All buffers are
 * local. An array whose entries are all NULL is absent; loss and picked require target. */
typedef struct tprt_cuda_entropy {
  size_t size;
  tprt_dtype dtype; /* type of the logits: f32, f16 or bf16 */
  int64_t tokens, columns;
  int64_t ignored;                         /* e.g. -100 */
  const void *logits[TPRT_CUDA_MAX_RANKS]; /* [tokens, columns] */
  /* [tokens], the same on all ranks; a target that is not a column gives loss NaN */
  const void *target[TPRT_CUDA_MAX_RANKS];
  float *loss[TPRT_CUDA_MAX_RANKS]; /* [tokens], the same on all ranks; so are the outputs below */
  float *log_sum[TPRT_CUDA_MAX_RANKS];
  float *largest[TPRT_CUDA_MAX_RANKS], *sum[TPRT_CUDA_MAX_RANKS], *picked[TPRT_CUDA_MAX_RANKS];
  tprt_dtype target_dtype; /* i64 (0 means i64) or i32 */
  tprt_cuda_pick pick;
  /* picked is 0 if another rank has the column, so that its sum over the ranks gives the usual
   * value */
  bool own_picks;
  bool finite;
  /* the fields below are used by steps other than TPRT_CUDA_ALL_STEPS */
  tprt_cuda_entropy_step step;
  /* number of ranks over which the columns are sharded, and the index of this group's rank among
   * them */
  int n_parts, part;
  /* 16 bytes per token; for TPRT_CUDA_FROM_PARTS n_parts times that */
  void *parts[TPRT_CUDA_MAX_RANKS];
} tprt_cuda_entropy;

TPRT_API tprt_status tprt_cuda_cross_entropy(tprt_cuda_group *group,
                                             const tprt_cuda_entropy *entropy,
                                             tprt_cuda_stream stream);

#ifdef __cplusplus
}
#endif
#endif
