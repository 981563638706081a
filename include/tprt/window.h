/* Windows: one-sided access. Each rank of a communicator contributes memory; the other ranks read,
 * write and signal it without its participation.
 *
 * An access is done when the call returns, or when its work is done (tprt_window_submit). If a rank
 * puts data and then signals, the data is visible to the rank that has waited for the signal.
 * Callers must avoid concurrent accesses to the same bytes. Any thread may use a window.
 *
 * If ranks share memory (shm, loopback), an access is a copy. Otherwise (tcp, fabric, mpi,
 * plug-ins) it is a message exchange that a thread of the owner answers, within a millisecond even
 * while the owner computes. An access that is not answered within the communicator's timeout, or
 * whose owner has ended, fails the communicator. */
#ifndef TPRT_WINDOW_H
#define TPRT_WINDOW_H

#include "tprt/comm.h"
#include "tprt/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_window tprt_window;

/* Makes `bytes` bytes at `memory` accessible to all ranks of `comm`, which the window borrows.
 * Collective; sizes may differ, and 0 bytes may be at NULL. The memory comes from one call of
 * tprt_mem_alloc, or tprt_mem_register accepts it. Otherwise all ranks get TPRT_UNSUPPORTED with
 * the rank and the reason, and the communicator is unchanged. */
TPRT_API tprt_status tprt_window_create(tprt_comm *comm, void *memory, size_t bytes,
                                        tprt_window **window);

/* Collective: returns when no rank uses the window any more. Always releases the handle, but not
 * the memory. If the communicator has failed, the other ranks need not take part: the call waits
 * for their accesses that are under way. On shm, a stopped rank may still write to the memory; such
 * memory is not reused after it is freed. */
TPRT_API tprt_status tprt_window_destroy(tprt_window *window);

/* Returns the size of `rank`'s part in bytes; -1 if there is no such rank. */
TPRT_API int64_t tprt_window_bytes(const tprt_window *window, int rank);

/* Copy `bytes` bytes to or from offset `offset` of `rank`'s part. */
TPRT_API tprt_status tprt_window_put(tprt_window *window, int rank, size_t offset, const void *from,
                                     size_t bytes);
TPRT_API tprt_status tprt_window_get(tprt_window *window, int rank, size_t offset, void *to,
                                     size_t bytes);

/* Returns the address of `rank`'s part in this process, for loads and stores; valid as long as the
 * window. For other ranks TPRT_UNSUPPORTED if the backend lacks TPRT_CAP_MAPPED. */
TPRT_API tprt_status tprt_window_map(tprt_window *window, int rank, void **memory);

/* Sends a signal to `rank`: increments its counter of signals from this rank. */
TPRT_API tprt_status tprt_window_signal(tprt_window *window, int rank);
/* Waits for n signals from `rank` that no earlier wait has consumed, and consumes them. Waits at
 * most timeout_ns (0: the communicator's timeout). If the signals do not arrive in time, the
 * communicator fails. */
TPRT_API tprt_status tprt_window_wait_signal(tprt_window *window, int rank, uint64_t n,
                                             int64_t timeout_ns);

/* ---- Accesses in the background ---- */

typedef enum tprt_access_kind {
  TPRT_PUT = 1,
  TPRT_GET = 2,
  TPRT_SIGNAL = 3,
  TPRT_WAIT_SIGNAL = 4,
} tprt_access_kind;

enum { TPRT_ACCESS_VERSION = 1 };

/* Description of an access. Start with
 * `tprt_access access = {.size = sizeof access, .version = TPRT_ACCESS_VERSION};`. */
typedef struct tprt_access {
  size_t size;
  uint32_t version;
  tprt_access_kind kind;
  int32_t rank;
  size_t offset, bytes; /* put, get: in the part of `rank` */
  const void *from;     /* put: unchanged until the access is done */
  void *to;             /* get: not read until the access is done */
  uint64_t n_signals;   /* wait_signal */
  /* a stream of the rank's device, with TPRT_CAP_STREAMS only; else NULL */
  void *stream;
  int64_t timeout_ns; /* from submission; 0: the communicator's timeout */
} tprt_access;

/* Starts an access; *work becomes its handle, see ops.h. Puts, gets and signals of a window run in
 * submission order, and the calls above wait for those before them; so a signal may follow a put
 * without a wait. Waits for signals run apart from them, one after the other in submission order.
 * An access that fails, or is not done in time, fails the communicator. With work NULL: returns
 * when the access is done. Destroying the window waits for its accesses; tprt_sync does not. */
TPRT_API tprt_status tprt_window_submit(tprt_window *window, const tprt_access *access,
                                        tprt_work **work);

/* Initializes an access; fields without a parameter become 0. */
static inline tprt_access tprt_access_of(tprt_access_kind kind, int rank) {
  tprt_access access;
  memset(&access, 0, sizeof access); /* not a designated initializer: the header is also C++ */
  access.size = sizeof access;
  access.version = TPRT_ACCESS_VERSION;
  access.kind = kind;
  access.rank = rank;
  return access;
}

static inline tprt_status tprt_window_put_async(tprt_window *window, int rank, size_t offset,
                                                const void *from, size_t bytes, void *stream,
                                                tprt_work **work) {
  tprt_access access = tprt_access_of(TPRT_PUT, rank);
  access.offset = offset;
  access.from = from;
  access.bytes = bytes;
  access.stream = stream;
  return tprt_window_submit(window, &access, work);
}

static inline tprt_status tprt_window_get_async(tprt_window *window, int rank, size_t offset,
                                                void *to, size_t bytes, void *stream,
                                                tprt_work **work) {
  tprt_access access = tprt_access_of(TPRT_GET, rank);
  access.offset = offset;
  access.to = to;
  access.bytes = bytes;
  access.stream = stream;
  return tprt_window_submit(window, &access, work);
}

static inline tprt_status tprt_window_signal_async(tprt_window *window, int rank, void *stream,
                                                   tprt_work **work) {
  tprt_access access = tprt_access_of(TPRT_SIGNAL, rank);
  access.stream = stream;
  return tprt_window_submit(window, &access, work);
}

static inline tprt_status tprt_window_wait_signal_async(tprt_window *window, int rank, uint64_t n,
                                                        int64_t timeout_ns, void *stream,
                                                        tprt_work **work) {
  tprt_access access = tprt_access_of(TPRT_WAIT_SIGNAL, rank);
  access.n_signals = n;
  access.timeout_ns = timeout_ns;
  access.stream = stream;
  return tprt_window_submit(window, &access, work);
}

/* ---- Memory of the user ---- */

/* Registers memory that is not from tprt_mem_alloc, so that peers can access it. Registrations
 * nest: it stays registered until it is deregistered as often. TPRT_UNSUPPORTED with the reason if
 * the backend cannot register it. Windows register their memory themselves. */
TPRT_API tprt_status tprt_mem_register(tprt_comm *comm, void *memory, size_t bytes);
/* Registers memory on all ranks, for operations whose buffers lie at the same offset from `memory`
 * on each rank. The caller guarantees this: until the memory is deregistered, operations must not
 * use it in any other way. Collective; sizes are equal. With backend nccl (NCCL 2.27 or later) and
 * memory from tprt_mem_alloc, it becomes an NCCL window, through which NCCL kernels access the
 * peers' memory directly. Otherwise the call equals tprt_mem_register. All ranks get the same
 * status. If one rank lacks valid arguments, memory or support, the communicator stays usable. */
TPRT_API tprt_status tprt_mem_register_all(tprt_comm *comm, void *memory, size_t bytes);
/* Ends a registration of either kind; a local call. Peers no longer access the memory. */
TPRT_API tprt_status tprt_mem_deregister(tprt_comm *comm, void *memory);

#ifdef __cplusplus
}
#endif
#endif
