/* Events: points in the submission order of a communicator that other work can wait for.
 *
 * An event marks the work that was submitted to a communicator when the event was recorded.
 * Recording it again gives it a new meaning, without effect on waiters of the old one. Any thread
 * may use an event. */
#ifndef TPRT_EVENT_H
#define TPRT_EVENT_H

#include "tprt/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_event tprt_event;

/* Creates an event that marks nothing and counts as done. The caller destroys it; it may do so
 * while something still waits for it. */
TPRT_API tprt_status tprt_event_create(tprt_event **event);
TPRT_API void tprt_event_destroy(tprt_event *event);

/* Marks everything submitted to `comm` so far. With a stream (TPRT_CAP_STREAMS), marks everything
 * in that stream instead, including work of the caller. */
TPRT_API tprt_status tprt_event_record(tprt_event *event, tprt_comm *comm, void *stream);

/* Makes work that is submitted to `comm` from now on start only when the event is done; returns at
 * once. With a stream, later work in that stream waits instead: on the device if the event was
 * recorded in a stream, else this call blocks. If the marked work fails, or `comm`'s timeout
 * expires before it is done, `comm` fails. */
TPRT_API tprt_status tprt_event_wait(tprt_event *event, tprt_comm *comm, void *stream);

/* Returns TPRT_IN_PROGRESS, or the status that the communicator had when it reached the event. */
TPRT_API tprt_status tprt_event_test(const tprt_event *event);
/* Waits at most timeout_ns (0: until the deadlines of the work have passed). Returns
 * TPRT_IN_PROGRESS if the event is not done by then. */
TPRT_API tprt_status tprt_event_sync(tprt_event *event, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif
