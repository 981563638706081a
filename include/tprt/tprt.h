/* tprt: communication between the ranks of a sharded program.
 *
 * A communicator (tprt_comm) joins n ranks, numbered 0 .. n-1. Every rank holds its own handle. A rank is a thread or a
 * process; the same calls serve both. An operation is described by a tprt_op and handed to tprt_submit; the functions
 * tprt_all_reduce, tprt_all_gather, ... are thin wrappers around that.
 *
 * Shapes. Tensors are dense and row-major. `shape` of an op is the shape of the send tensor of one rank; all ranks pass
 * the same one. Pointers need no alignment. Counts are elements, sizes are bytes, times are nanoseconds.
 *
 * Order. All ranks submit the same operations in the same order on one communicator. Each op carries a signature
 * (sequence number, kind, dtype, reduction, root, shape); ranks that disagree all get TPRT_MISMATCH before data moves.
 *
 * Results. Reductions run in rank order 0 .. n-1, f16 and bf16 are accumulated in f32 and rounded once: the bits of a
 * result are the same on all ranks and do not depend on how messages were cut.
 *
 * Errors. A function that can fail returns a tprt_status; outputs come last and are written only on success.
 * tprt_last_error() has the text. Invalid arguments leave a communicator as it was; every other failure of an operation
 * is sticky: the communicator stays failed, the peers learn of it, and later calls return the first status
 * (TPRT_INVALID_STATE after an abort). Nothing here exits, aborts the process or prints.
 *
 * Time. Every wait ends by the op's timeout, else the communicator's, else TPRT_TIMEOUT of the environment, else 600 s,
 * counted from submission.
 *
 * Threads. All functions on a tprt_comm may be called from any thread; submissions of one communicator are executed one
 * after the other. Destroying an object is for one thread, when no other uses it.
 *
 * Ownership. ..._create and ..._split give an object that the caller destroys; a function that says "borrowed" does not. */
#ifndef TPRT_TPRT_H
#define TPRT_TPRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TPRT_API __attribute__((visibility("default")))
#else
#define TPRT_API
#endif

#define TPRT_VERSION_MAJOR 0
#define TPRT_VERSION_MINOR 1
#define TPRT_VERSION_PATCH 0
/* Version of the loaded library, "major.minor.patch". Static storage. */
TPRT_API const char *tprt_version(void);

/* ---- Status ---- */

/* By what the caller can do about it. The numbers are part of the ABI of compiled programs. */
typedef enum tprt_status {
  TPRT_OK = 0,
  TPRT_IN_PROGRESS = 1,      /* not an error: ask again or wait */
  TPRT_INVALID_ARGUMENT = 2, /* fix the call; nothing was done */
  TPRT_INVALID_STATE = 3,    /* the object was aborted, or is not in the state that the call needs */
  TPRT_UNSUPPORTED = 4,      /* valid, but not with this backend, dtype or version; the text says which */
  TPRT_MISMATCH = 5,         /* the ranks disagree about the operation or program; no data moved */
  TPRT_TIMEOUT = 6,          /* a peer did not come in time */
  TPRT_PEER_DEAD = 7,        /* a peer's process ended, or it destroyed its communicator; the text names the rank */
  TPRT_ABORTED = 8,          /* some rank called tprt_comm_abort */
  TPRT_AUTH = 9,             /* a peer could not prove that it belongs to the job */
  TPRT_SYSTEM = 10,          /* a system call failed; the text has its error */
  TPRT_DEVICE = 11,          /* an accelerator failed */
  TPRT_NO_MEMORY = 12,       /* memory or a configured limit ran out */
  TPRT_INTERNAL = 13,        /* a defect of this library: please report */
  TPRT_PROGRAM = 14,         /* the program's own assertion failed on some rank */
} tprt_status;

/* The code's name in lower case, e.g. "invalid argument"; "unknown status" for other numbers. Static storage. */
TPRT_API const char *tprt_status_name(tprt_status status);

/* Text of the last failure on the calling thread, "" if there was none. Valid until the thread's next tprt call. */
TPRT_API const char *tprt_last_error(void);

/* ---- Types of elements, reductions, operations. Zero is never a valid value; the numbers are ABI. ---- */

typedef enum tprt_dtype {
  TPRT_F32 = 1,
  TPRT_F64 = 2,
  TPRT_F16 = 3,
  TPRT_BF16 = 4,
  TPRT_BOOL = 5, /* one byte, 0 or 1; what i1 tensors are in memory */
  TPRT_I8 = 6,
  TPRT_I16 = 7,
  TPRT_I32 = 8,
  TPRT_I64 = 9,
  TPRT_U8 = 10,
  TPRT_U16 = 11,
  TPRT_U32 = 12,
  TPRT_U64 = 13,
  TPRT_C64 = 14, /* complex: the real part, then the imaginary one, each an f32 */
  TPRT_C128 = 15,
  TPRT_N_DTYPES = 16,
} tprt_dtype;

typedef enum tprt_reduction {
  TPRT_NO_REDUCTION = 0, /* for operations that do not reduce */
  TPRT_SUM = 1,          /* integers wrap; not for bool (use bor for "any", bxor for parity) */
  TPRT_PRODUCT = 2,      /* integers wrap; bool: and */
  TPRT_MIN = 3,          /* IEEE 754 minimum: NaN if one is NaN, -0 < +0; bool: false < true; complex numbers have no order */
  TPRT_MAX = 4,          /* IEEE 754 maximum */
  TPRT_MINNUM = 5,       /* floats only: a NaN loses against a number */
  TPRT_MAXNUM = 6,
  TPRT_UMIN = 7, /* integers and bool: compared as unsigned */
  TPRT_UMAX = 8,
  TPRT_BAND = 9, /* integers and bool */
  TPRT_BOR = 10,
  TPRT_BXOR = 11,
  TPRT_AVG = 12, /* sum divided by the number of ranks; integers truncate; not for bool */
  TPRT_N_REDUCTIONS = 13,
} tprt_reduction;

typedef enum tprt_op_kind {
  TPRT_OP_ALL_REDUCE = 1,     /* recv = reduction of all sends; in place when send == recv */
  TPRT_OP_ALL_GATHER = 2,     /* along dim: recv shape = shape with dim * n */
  TPRT_OP_REDUCE_SCATTER = 3, /* along dim: recv shape = shape with dim / n, rank r keeps piece r; n divides dim */
  TPRT_OP_ALL_TO_ALL = 4,     /* split_dim / n, dim * n: piece r of split_dim goes to rank r, pieces are joined along dim */
  TPRT_OP_PERMUTE = 5,        /* recv = send of the pair's source; zeros on ranks that are no destination */
  TPRT_OP_BROADCAST = 6,      /* recv = send of root; send is read on root only; in place when send == recv */
  TPRT_OP_BARRIER = 7,        /* no data */
  TPRT_N_OP_KINDS = 8,
} tprt_op_kind;

/* Names as printed ("bf16", "maxnum", "all_reduce"); NULL for an invalid value. Static storage. */
TPRT_API const char *tprt_dtype_name(tprt_dtype dtype);
TPRT_API const char *tprt_reduction_name(tprt_reduction reduction);
TPRT_API const char *tprt_op_kind_name(tprt_op_kind kind);
/* The inverse; 0 for an unknown name. */
TPRT_API tprt_dtype tprt_dtype_parse(const char *name);
TPRT_API tprt_reduction tprt_reduction_parse(const char *name);
/* Bytes of one element; 0 for an invalid value. */
TPRT_API size_t tprt_dtype_size(tprt_dtype dtype);
/* Whether the reduction is defined for the type. */
TPRT_API bool tprt_reduction_supports(tprt_reduction reduction, tprt_dtype dtype);

/* Conversions, round to nearest even; a NaN becomes a quiet NaN. */
TPRT_API float tprt_f16_to_f32(uint16_t bits);
TPRT_API uint16_t tprt_f32_to_f16(float value);
TPRT_API float tprt_bf16_to_f32(uint16_t bits);
TPRT_API uint16_t tprt_f32_to_bf16(float value);

/* ---- Configuration ---- */

/* Start with `tprt_config config = {.size = sizeof config};`. A zero field means: the environment variable, else the
 * default. A larger size than the library knows is accepted while the unknown rest is zero. */
typedef struct tprt_config {
  size_t size;
  const char *backend; /* name, case ignored: "shm" (default), "self" */
  int64_t timeout_ns;  /* of every operation                                          TPRT_TIMEOUT       600 s */
  size_t slot_bytes;   /* shm: staging per rank; longer messages go in pieces          TPRT_SLOT_BYTES   128K */
  size_t arena_bytes;  /* shm: address space for registered memory of one rank         TPRT_ARENA_BYTES  4G */
  int32_t max_comms;   /* shm: communicators alive at once, splits included            TPRT_MAX_COMMS    64 */
  int32_t segment_fd;  /* shm, processes: descriptor from tprt_shm_segment_create      TPRT_SEGMENT_FD   */
} tprt_config;

/* The environment variables that the library reads, for documentation. They are parsed strictly (a malformed value is
 * TPRT_INVALID_ARGUMENT where it is needed) and ignored in set-user-id programs. */
typedef struct tprt_env_var {
  const char *name, *type, *default_value, *help;
} tprt_env_var;
/* The table, with its length in *n. Static storage. */
TPRT_API const tprt_env_var *tprt_env(size_t *n);

/* The name of the i-th backend; NULL behind the last. */
TPRT_API const char *tprt_backend_name(size_t i);

/* All memory that the library takes from the heap goes through these. `release` gets what `allocate` returned; alignment
 * is at least 16. Set it before the first other call; NULL restores malloc and free. */
typedef struct tprt_allocator {
  void *(*allocate)(void *user, size_t bytes);
  void (*release)(void *user, void *memory);
  void *user;
} tprt_allocator;
TPRT_API void tprt_set_allocator(const tprt_allocator *allocator);

/* ---- Communicators ---- */

typedef struct tprt_comm tprt_comm;

/* Makes a world of n ranks inside this process and writes its n handles; handle r is for the thread that plays rank r.
 * Backend "shm", or "self" when n is 1. `config` may be NULL. */
TPRT_API tprt_status tprt_world_create_threads(int n_ranks, const tprt_config *config, tprt_comm **comms);

/* For a launcher of processes: a shared memory segment for n ranks. The descriptor is close-on-exec; the launcher lets
 * every worker inherit it (or a duplicate) and closes its own. The sizes in `config` decide for all ranks. */
TPRT_API tprt_status tprt_shm_segment_create(int n_ranks, const tprt_config *config, int *fd);

/* Joins a world as one of its ranks and waits, within the timeout, for the others. n_ranks == 0 takes number and rank
 * from TPRT_SIZE and TPRT_RANK. "shm" needs a segment descriptor, which stays the caller's; "self" needs n_ranks 1. */
TPRT_API tprt_status tprt_world_create(int n_ranks, int rank, const tprt_config *config, tprt_comm **comm);

/* Completes pending work within the timeout and releases the handle. The peers need not do it at the same time; one that
 * still waits for this rank gets TPRT_PEER_DEAD. NULL is allowed. */
TPRT_API void tprt_comm_destroy(tprt_comm *comm);

TPRT_API int tprt_comm_rank(const tprt_comm *comm);
TPRT_API int tprt_comm_size(const tprt_comm *comm);
TPRT_API const char *tprt_comm_backend(const tprt_comm *comm);
/* Ranks of the whole world on this host; what threads of a rank should be divided by. */
TPRT_API int tprt_comm_host_ranks(const tprt_comm *comm);
/* The rank in the world of local rank `rank`; -1 if there is none. */
TPRT_API int tprt_comm_world_rank(const tprt_comm *comm, int rank);

/* Collective over `comm`. Ranks of equal color >= 0 form a new communicator, ordered by key, then by rank. A negative
 * color gives NULL. */
TPRT_API tprt_status tprt_comm_split(tprt_comm *comm, int color, int64_t key, tprt_comm **child);

/* Collective over `comm`, whose ranks are a mesh of `n_axes` axes of these sizes, numbered row-major: the communicator of
 * the ranks that differ from this one only in the `n_group` axes named by `group`; the rank in it counts row-major in
 * that order. Cached and borrowed: it lives as long as `comm`. */
TPRT_API tprt_status tprt_comm_axes(tprt_comm *comm, int n_axes, const int64_t *sizes, int n_group, const int32_t *group,
                                    tprt_comm **child);

/* From any thread: every waiting or later operation of all ranks of this communicator ends with TPRT_ABORTED. */
TPRT_API tprt_status tprt_comm_abort(tprt_comm *comm);
/* The sticky status, and the text of the failure that caused it ("" if none; valid while the communicator lives). */
TPRT_API tprt_status tprt_comm_status(const tprt_comm *comm);
TPRT_API const char *tprt_comm_error(const tprt_comm *comm);

/* Memory that peers can reach: operations whose send and recv lie in it on all ranks move data without staging copies.
 * Zeroed, 64-byte aligned, local call. Zero bytes give NULL. Free it before the world is destroyed; children of a world
 * share its memory. After an operation failed, peers may still read and write its buffers until they have noticed; they do
 * not report success then. */
TPRT_API tprt_status tprt_mem_alloc(tprt_comm *comm, size_t bytes, void **memory);
TPRT_API void tprt_mem_free(tprt_comm *comm, void *memory);

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
  int32_t root;   /* broadcast */
  int32_t n_dims; /* 0 is a scalar */
  int32_t dim, split_dim;
  int64_t shape[TPRT_MAX_RANK]; /* of the send tensor of one rank; not read for barrier */
  const void *send;             /* may be NULL when there are no elements, and off root of a broadcast */
  void *recv;
  const tprt_pair *pairs; /* permute; a destination occurs once; all ranks pass the same list; copied by submit */
  size_t n_pairs;
  void *stream;       /* NULL; the backends of this version work on host memory */
  int64_t timeout_ns; /* 0: the communicator's */
} tprt_op;

/* A submitted operation. */
typedef struct tprt_work tprt_work;

/* Submits an operation. work == NULL: returns when it is done, after everything submitted before. Otherwise it
 * runs in the background, in submission order, and *work is a handle; send must not change and recv not be read until
 * it is done. */
TPRT_API tprt_status tprt_submit(tprt_comm *comm, const tprt_op *op, tprt_work **work);

/* TPRT_IN_PROGRESS, or the result. */
TPRT_API tprt_status tprt_work_test(const tprt_work *work);
/* Waits at most timeout_ns (0: for the operation's own deadline); TPRT_IN_PROGRESS if it is still running. */
TPRT_API tprt_status tprt_work_wait(tprt_work *work, int64_t timeout_ns);
/* Releases the handle; the operation runs to its end. NULL is allowed. */
TPRT_API void tprt_work_destroy(tprt_work *work);
/* Completes everything submitted before; the sticky status. */
TPRT_API tprt_status tprt_sync(tprt_comm *comm);

/* Algorithmic bytes that one of n ranks sends for the op, whatever algorithm runs: with c = ceil(elements / n) * size of
 * the tensor that is spread over the group: all_gather, reduce_scatter, all_to_all (n-1)*c, all_reduce 2*(n-1)*c; permute
 * and broadcast their buffer; barrier 0. Negative for an op that is not valid. */
TPRT_API int64_t tprt_op_bytes(const tprt_op *op, int n_ranks);

/* ---- Wrappers. `count` is as in NCCL: elements of all_reduce and broadcast, of the send tensor of all_gather and permute,
 * of the recv tensor of reduce_scatter, and per peer of all_to_all. ---- */

static inline tprt_op tprt_op_flat(tprt_op_kind kind, const void *send, void *recv, int64_t count, tprt_dtype dtype,
                                   void *stream) {
  tprt_op op;
  memset(&op, 0, sizeof op); /* not a designated initializer: the header is also C++ */
  op.size = sizeof op;
  op.kind = kind;
  op.dtype = dtype;
  op.n_dims = 1;
  op.shape[0] = count;
  op.send = send;
  op.recv = recv;
  op.stream = stream;
  return op;
}

static inline tprt_status tprt_all_reduce(tprt_comm *comm, const void *send, void *recv, int64_t count, tprt_dtype dtype,
                                          tprt_reduction reduction, void *stream, tprt_work **work) {
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, send, recv, count, dtype, stream);
  op.reduction = reduction;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_all_gather(tprt_comm *comm, const void *send, void *recv, int64_t count, tprt_dtype dtype,
                                          void *stream, tprt_work **work) {
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, send, recv, count, dtype, stream);
  return tprt_submit(comm, &op, work);
}

/* The send tensors of the next two have a leading dimension for the ranks. */
static inline tprt_status tprt_reduce_scatter(tprt_comm *comm, const void *send, void *recv, int64_t count, tprt_dtype dtype,
                                              tprt_reduction reduction, void *stream, tprt_work **work) {
  tprt_op op = tprt_op_flat(TPRT_OP_REDUCE_SCATTER, send, recv, tprt_comm_size(comm), dtype, stream);
  op.n_dims = 2;
  op.shape[1] = count;
  op.reduction = reduction;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_all_to_all(tprt_comm *comm, const void *send, void *recv, int64_t count, tprt_dtype dtype,
                                          void *stream, tprt_work **work) {
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_TO_ALL, send, recv, tprt_comm_size(comm), dtype, stream);
  op.n_dims = 2;
  op.shape[1] = count;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_broadcast(tprt_comm *comm, const void *send, void *recv, int64_t count, tprt_dtype dtype,
                                         int root, void *stream, tprt_work **work) {
  tprt_op op = tprt_op_flat(TPRT_OP_BROADCAST, send, recv, count, dtype, stream);
  op.root = root;
  return tprt_submit(comm, &op, work);
}

static inline tprt_status tprt_permute(tprt_comm *comm, const void *send, void *recv, int64_t count, tprt_dtype dtype,
                                       const tprt_pair *pairs, size_t n_pairs, void *stream, tprt_work **work) {
  tprt_op op = tprt_op_flat(TPRT_OP_PERMUTE, send, recv, count, dtype, stream);
  op.pairs = pairs;
  op.n_pairs = n_pairs;
  return tprt_submit(comm, &op, work);
}

/* Completes everything submitted before on all ranks. */
static inline tprt_status tprt_barrier(tprt_comm *comm, void *stream, tprt_work **work) {
  tprt_op op = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, stream);
  op.n_dims = 0;
  return tprt_submit(comm, &op, work);
}

#ifdef __cplusplus
}
#endif
#endif
