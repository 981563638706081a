/* Queues of accesses of windows. */
#ifndef TPRT_RUNTIME_ACCESS_H
#define TPRT_RUNTIME_ACCESS_H

#include "comm/comm.h"
#include "tprt/window.h"

typedef struct tprt__access_queue tprt__access_queue;

/* Returns NULL if memory is exhausted. */
tprt__access_queue *tprt__access_queue_create(tprt_window *window);
/* Runs all accesses to their end first. NULL is allowed. */
void tprt__access_queue_destroy(tprt__access_queue *queue);
/* Waits until all accesses have ended. */
void tprt__access_queue_drain(tprt__access_queue *queue);
/* Appends a checked access. `wanted` is the value of the counter for which a wait_signal waits. */
tprt_status tprt__access_queue_add(tprt__access_queue *queue, tprt_comm *comm,
                                   const tprt_access *access, uint64_t wanted, int64_t deadline,
                                   tprt_work **work);

/* window.c: runs an access to its end. A failure fails the communicator. */
tprt_status tprt__window_access(tprt_window *window, const tprt_access *access, uint64_t wanted,
                                int64_t deadline);

#endif
