/* Events: points in the order of a communicator's work, for others to wait for.
 *
 * An event marks what was submitted to a communicator when it was recorded; recording it again
 * gives it a new meaning, which does not concern those that wait for the old one. Any thread may
 * use an event. */
#ifndef TPRT_EVENT_H
#define TPRT_EVENT_H

#include "tprt/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_event tprt_event;

/* An event that marks nothing and counts as done. The caller destroys it, whether or not something
 * still waits for it. */
TPRT_API tprt_status tprt_event_create(tprt_event **event);
TPRT_API void tprt_event_destroy(tprt_event *event);

/* Marks everything submitted to `comm` so far; with a stream (TPRT_CAP_STREAMS) what is in that
 * stream instead, whoever put it there. */
TPRT_API tprt_status tprt_event_record(tprt_event *event, tprt_comm *comm, void *stream);

/* What is submitted to `comm` from now on starts when the event is done; returns at once. With a
 * stream what comes into that stream waits instead: on the device for an event that was recorded in
 * a stream, else the call waits. A failure of what the event marks, or the end of `comm`'s timeout
 * before it, is a failure of `comm`. */
TPRT_API tprt_status tprt_event_wait(tprt_event *event, tprt_comm *comm, void *stream);

/* TPRT_IN_PROGRESS, or the status of the communicator when it got there. */
TPRT_API tprt_status tprt_event_test(const tprt_event *event);
/* Waits at most timeout_ns (0: until the deadlines of the work have passed); TPRT_IN_PROGRESS if it
 * is not done. */
TPRT_API tprt_status tprt_event_sync(tprt_event *event, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif
