/* The functions of NCCL, from a library that is found at run time; RCCL exports the same functions.
 * The declarations match nccl.h, which is not needed to build; if it is present, a test compares
 * them. */
#ifndef TPRT_RUNTIME_NCCL_LIBRARY_H
#define TPRT_RUNTIME_NCCL_LIBRARY_H

#include "base/hints.h"
#include "cuda/driver/device.h"

typedef struct ncclComm *nccl_comm;
typedef int nccl_result;
typedef int nccl_type;
typedef int nccl_reduction;

enum {
  NCCL_RESULT_SUCCESS = 0,
  NCCL_RESULT_INTERNAL = 3,
  NCCL_RESULT_INVALID_ARGUMENT = 4,
  NCCL_RESULT_INVALID_USAGE = 5,
  NCCL_RESULT_REMOTE = 6,
  NCCL_RESULT_IN_PROGRESS = 7,

  NCCL_TYPE_I8 = 0,
  NCCL_TYPE_U8 = 1,
  NCCL_TYPE_I32 = 2,
  NCCL_TYPE_U32 = 3,
  NCCL_TYPE_I64 = 4,
  NCCL_TYPE_U64 = 5,
  NCCL_TYPE_F16 = 6,
  NCCL_TYPE_F32 = 7,
  NCCL_TYPE_F64 = 8,
  NCCL_TYPE_BF16 = 9,
  NCCL_TYPE_F8E4M3 = 10,
  NCCL_TYPE_F8E5M2 = 11,

  NCCL_REDUCE_SUM = 0,
  NCCL_REDUCE_PRODUCT = 1,
  NCCL_REDUCE_MAX = 2,
  NCCL_REDUCE_MIN = 3,
  NCCL_REDUCE_AVG = 4,

  NCCL_WINDOW_SYMMETRIC = 1, /* offsets of operands in the window are equal on all ranks */
  NCCL_WINDOW_ALIGNMENT = 4096,

  NCCL_SPLIT_NO_COLOR = -1, /* participates but gets no communicator */

  NCCL_SCALAR_ON_HOST = 1, /* the scalar is read before the call returns */
  NCCL_ID_BYTES = 128,
};

typedef struct nccl_id {
  char bytes[NCCL_ID_BYTES];
} nccl_id;

typedef struct ncclWindow_vidmem *nccl_window;

/* ncclConfig_t, up to the last field that is used. It states its size and version, so a newer
 * library treats later fields as unset. */
typedef struct nccl_config {
  size_t size;
  unsigned magic, version;
  int blocking, cga_cluster_size, min_ctas, max_ctas;
  const char *net_name;
  int split_share;
  int traffic_class;     /* since 2.25 */
  const char *comm_name; /* since 2.27 */
} nccl_config;
enum { NCCL_MIN_VERSION = 21800 };

/* X(member, symbol, parameters): functions that every library since 2.18 has. All return a
 * nccl_result. */
#define NCCL_CALLS(X)                                                                              \
  X(get_version, "ncclGetVersion", (int *version))                                                 \
  X(get_id, "ncclGetUniqueId", (nccl_id * id))                                                     \
  X(init, "ncclCommInitRankConfig",                                                                \
    (nccl_comm * comm, int n_ranks, nccl_id id, int rank, nccl_config *config))                    \
  X(split, "ncclCommSplit",                                                                        \
    (nccl_comm comm, int color, int key, nccl_comm *child, nccl_config *config))                   \
  X(finalize, "ncclCommFinalize", (nccl_comm comm))                                                \
  X(destroy, "ncclCommDestroy", (nccl_comm comm))                                                  \
  X(abort, "ncclCommAbort", (nccl_comm comm))                                                      \
  X(async_error, "ncclCommGetAsyncError", (nccl_comm comm, nccl_result * error))                   \
  X(group_start, "ncclGroupStart", (void))                                                         \
  X(group_end, "ncclGroupEnd", (void))                                                             \
  X(all_reduce, "ncclAllReduce",                                                                   \
    (const void *send, void *recv, size_t n, nccl_type type, nccl_reduction op, nccl_comm comm,    \
     cuda_stream stream))                                                                          \
  X(reduce, "ncclReduce",                                                                          \
    (const void *send, void *recv, size_t n, nccl_type type, nccl_reduction op, int root,          \
     nccl_comm comm, cuda_stream stream))                                                          \
  X(reduce_scatter, "ncclReduceScatter",                                                           \
    (const void *send, void *recv, size_t n, nccl_type type, nccl_reduction op, nccl_comm comm,    \
     cuda_stream stream))                                                                          \
  X(all_gather, "ncclAllGather",                                                                   \
    (const void *send, void *recv, size_t n, nccl_type type, nccl_comm comm, cuda_stream stream))  \
  X(broadcast, "ncclBroadcast",                                                                    \
    (const void *send, void *recv, size_t n, nccl_type type, int root, nccl_comm comm,             \
     cuda_stream stream))                                                                          \
  X(send, "ncclSend",                                                                              \
    (const void *data, size_t n, nccl_type type, int peer, nccl_comm comm, cuda_stream stream))    \
  X(recv, "ncclRecv",                                                                              \
    (void *data, size_t n, nccl_type type, int peer, nccl_comm comm, cuda_stream stream))          \
  X(premul_create, "ncclRedOpCreatePreMulSum",                                                     \
    (nccl_reduction * op, void *scalar, nccl_type type, int residence, nccl_comm comm))            \
  X(premul_destroy, "ncclRedOpDestroy", (nccl_reduction op, nccl_comm comm))

/* Later functions; NULL in an older library. */
#define NCCL_LATER_CALLS(X)                                                                        \
  X(memory_alloc, "ncclMemAlloc", (void **memory, size_t bytes))                                   \
  X(memory_free, "ncclMemFree", (void *memory))                                                    \
  X(register_memory, "ncclCommRegister",                                                           \
    (const nccl_comm comm, void *memory, size_t bytes, void **handle))                             \
  X(deregister_memory, "ncclCommDeregister", (const nccl_comm comm, void *handle))                 \
  X(register_window, "ncclCommWindowRegister",                                                     \
    (nccl_comm comm, void *memory, size_t bytes, nccl_window *window, int flags))                  \
  X(deregister_window, "ncclCommWindowDeregister", (nccl_comm comm, nccl_window window))           \
  X(all_to_all, "ncclAlltoAll",                                                                    \
    (const void *send, void *recv, size_t n, nccl_type type, nccl_comm comm, cuda_stream stream))  \
  X(gather, "ncclGather",                                                                          \
    (const void *send, void *recv, size_t n, nccl_type type, int root, nccl_comm comm,             \
     cuda_stream stream))                                                                          \
  X(scatter, "ncclScatter",                                                                        \
    (const void *send, void *recv, size_t n, nccl_type type, int root, nccl_comm comm,             \
     cuda_stream stream))

typedef struct nccl_library {
  const cuda_device_calls *device;
  int version;
  const char *(*error_text)(nccl_result result);
  const char *(*last_error)(nccl_comm comm);
#define MEMBER(member, symbol, parameters) nccl_result(*member) parameters;
  NCCL_CALLS(MEMBER)
  NCCL_LATER_CALLS(MEMBER)
#undef MEMBER
} nccl_library;

/* Loads driver and library once. TPRT_UNSUPPORTED, with the reason, if one is missing or too old. A
 * failed load is tried again by the next call. */
tprt_status tprt__nccl_load(const nccl_library **library);

/* Versions that introduced a feature, in the format of ncclGetVersion. */
enum {
  NCCL_SINCE_MEMORY = 21900,
  NCCL_SINCE_F8 = 22400,
  NCCL_SINCE_TRAFFIC_CLASS = 22500,
  NCCL_SINCE_WINDOWS = 22700,
  NCCL_SINCE_PIECES = 22800
};

/* A configuration for this library: not blocking, with the hints that are set, and with the name,
 * which it borrows, if the library takes one. */
nccl_config tprt__nccl_config(const nccl_library *library, const tprt__comm_settings *settings);

/* True if the library has this version or a newer one. */
static inline bool tprt__nccl_since(const nccl_library *library, int version) {
  return library->version >= version;
}

/* Returns TPRT_OK, or a status and text for the result of a call; `what` names the call. `comm` may
 * be NULL. */
tprt_status tprt__nccl_check(const nccl_library *library, nccl_comm comm, nccl_result result,
                             const char *what);

#endif
