/* Windows: memory of every rank of a communicator that the others read, write and signal without
 * its taking part.
 *
 * Accesses are done when the call returns. What a rank put before it signals is there for the rank
 * that has waited for that signal. Accesses to the same bytes at the same time are the callers' to
 * avoid. Any thread may use a window.
 *
 * Where ranks share memory (shm, loopback) an access is a copy. Elsewhere (tcp, mpi, plug-ins) it
 * is made of messages that a thread of the owner answers, within a millisecond when the owner
 * computes; one that is not answered within the communicator's timeout, or whose owner is gone,
 * fails the communicator. */
#ifndef TPRT_WINDOW_H
#define TPRT_WINDOW_H

#include "tprt/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_window tprt_window;

/* Makes `bytes` bytes at `memory` reachable for all ranks of `comm`, which the window borrows.
 * Collective; sizes may differ, 0 bytes may be at NULL. The memory is from tprt_mem_alloc, or such
 * that tprt_mem_register accepts it; otherwise all ranks get TPRT_UNSUPPORTED with the rank and the
 * reason, and the communicator is as before. */
TPRT_API tprt_status tprt_window_create(tprt_comm *comm, void *memory, size_t bytes,
                                        tprt_window **window);

/* Collective: returns when no rank uses the window any more, and releases the handle in any case.
 * The memory stays. Where the communicator has failed the others need not come: accesses of theirs
 * that are under way are waited for, and what a rank that was stopped may still write on shm is not
 * given out again when it is freed. */
TPRT_API tprt_status tprt_window_destroy(tprt_window *window);

/* Bytes of rank `rank`'s part; -1 if there is no such rank. */
TPRT_API int64_t tprt_window_bytes(const tprt_window *window, int rank);

/* Copies to and from byte `offset` of `rank`'s part. */
TPRT_API tprt_status tprt_window_put(tprt_window *window, int rank, size_t offset, const void *from,
                                     size_t bytes);
TPRT_API tprt_status tprt_window_get(tprt_window *window, int rank, size_t offset, void *to,
                                     size_t bytes);

/* The address of `rank`'s part in this process, for loads and stores; valid as long as the window.
 * TPRT_UNSUPPORTED for other ranks where the backend lacks TPRT_CAP_MAPPED. */
TPRT_API tprt_status tprt_window_map(tprt_window *window, int rank, void **memory);

/* Counts up at `rank` what this rank has signalled to it. */
TPRT_API tprt_status tprt_window_signal(tprt_window *window, int rank);
/* Waits until `rank` has signalled this rank `n` times more than waits have used up, and uses them
 * up. At most timeout_ns, 0: the communicator's; a rank that does not signal in time is a failure
 * of the communicator. */
TPRT_API tprt_status tprt_window_wait_signal(tprt_window *window, int rank, uint64_t n,
                                             int64_t timeout_ns);

/* Lets peers reach memory that is not from tprt_mem_alloc, until it is deregistered as often;
 * TPRT_UNSUPPORTED with the reason where the backend cannot. Windows register the memory that they
 * are made of themselves. */
TPRT_API tprt_status tprt_mem_register(tprt_comm *comm, void *memory, size_t bytes);
/* The same of all ranks, for operations whose buffers in it lie at the same offset from `memory` on
 * each, which the callers see to: until it is deregistered, nothing else of it is given to
 * operations. Collective; sizes are equal. With backend nccl from NCCL 2.27 on, and memory from
 * tprt_mem_alloc, it becomes a window through which kernels of NCCL work on the peers' memory
 * itself; else it is tprt_mem_register. All ranks get the same status; one that is short of
 * arguments, memory or support does no harm to the communicator. */
TPRT_API tprt_status tprt_mem_register_all(tprt_comm *comm, void *memory, size_t bytes);
/* Ends either; a local call. The memory is the caller's alone again. */
TPRT_API tprt_status tprt_mem_deregister(tprt_comm *comm, void *memory);

#ifdef __cplusplus
}
#endif
#endif
