/* Events. Each recording creates a separate mark, which is shared by the event, the queue that will
 * reach it, and the threads that wait for it. */
#define _GNU_SOURCE 1
#include "tprt/event.h"

#include "comm/comm.h"

#include <stdio.h>
#include <time.h>

typedef struct mark {
  pthread_mutex_t lock;
  pthread_cond_t reached;
  int references; /* guarded by `lock`, like the rest */
  tprt_status status;
  char error[512];
  /* The mark in a stream of `backend`. NULL: the mark is in the order of a communicator. Written
   * before the mark is shared. */
  tprt__stream_mark *in_stream;
  const tprt__backend *backend;
} mark;

struct tprt_event {
  pthread_mutex_t lock;
  mark *mark; /* NULL: never recorded */
};

static mark *mark_create(void) {
  mark *made = tprt__alloc(sizeof *made);
  if (!made)
    return NULL;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->reached, &monotonic);
  pthread_condattr_destroy(&monotonic);
  made->references = 1;
  made->status = TPRT_IN_PROGRESS;
  return made;
}

static mark *mark_retain(mark *at) {
  pthread_mutex_lock(&at->lock);
  at->references++;
  pthread_mutex_unlock(&at->lock);
  return at;
}

static void mark_release(mark *at) {
  if (!at)
    return;
  pthread_mutex_lock(&at->lock);
  bool last = --at->references == 0;
  pthread_mutex_unlock(&at->lock);
  if (!last)
    return;
  if (at->in_stream)
    at->in_stream->forget(at->in_stream);
  pthread_cond_destroy(&at->reached);
  pthread_mutex_destroy(&at->lock);
  tprt__free(at);
}

/* Waits at most until `end`, a time of tprt__now. */
static tprt_status mark_wait(mark *at, int64_t end) {
  struct timespec until = {.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};
  int error = 0;
  pthread_mutex_lock(&at->lock);
  while (at->status == TPRT_IN_PROGRESS && !error)
    error = pthread_cond_timedwait(&at->reached, &at->lock, &until);
  tprt_status status = at->status;
  pthread_mutex_unlock(&at->lock);
  /* at->error was written before the status */
  return status && status != TPRT_IN_PROGRESS ? tprt__fail(status, "%s", at->error) : status;
}

/* Returns the event's current mark; NULL if it has none. */
static mark *current(const tprt_event *event) {
  /* the lock does not change the logical state of the event */
  pthread_mutex_t *lock = (pthread_mutex_t *)&event->lock;
  pthread_mutex_lock(lock);
  mark *at = event->mark ? mark_retain(event->mark) : NULL;
  pthread_mutex_unlock(lock);
  return at;
}

tprt_status tprt_event_create(tprt_event **event) {
  TPRT__NEED(event);
  tprt_event *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  pthread_mutex_init(&made->lock, NULL);
  *event = made;
  return TPRT_OK;
}

void tprt_event_destroy(tprt_event *event) {
  if (!event)
    return;
  mark_release(event->mark);
  pthread_mutex_destroy(&event->lock);
  tprt__free(event);
}

/* Marks the position as reached, with the thread's error text, and drops the reference. */
static void reach(void *user, tprt_status status) {
  mark *at = user;
  pthread_mutex_lock(&at->lock);
  if (status)
    snprintf(at->error, sizeof at->error, "%s", tprt_last_error());
  at->status = status;
  pthread_cond_broadcast(&at->reached);
  pthread_mutex_unlock(&at->lock);
  mark_release(at);
}

/* Marker function that runs in the lane of the communicator on which the event was recorded. */
static tprt_status complete_mark_in_lane(tprt_comm *comm, void *data, int64_t deadline) {
  (void)deadline;
  comm->transport->backend->settle(comm->transport);
  tprt_status status = tprt__comm_check(comm);
  reach(data, status);
  return status;
}

static tprt_status record(tprt_comm *comm, void *stream, mark *made) {
  tprt__transport *transport = comm->transport;
  if (!stream) /* streams need not be drained here */
    return tprt__comm_mark(comm, complete_mark_in_lane, mark_retain(made), !transport->host);
  made->backend = transport->backend;
  tprt_status status =
      transport->backend->record(transport, stream, tprt__deadline(tprt__comm_timeout(comm)), reach,
                                 mark_retain(made), &made->in_stream);
  if (status)
    mark_release(made);
  return status;
}

tprt_status tprt_event_record(tprt_event *event, tprt_comm *comm, void *stream) {
  TPRT__NEED(event);
  TPRT__NEED(comm);
  tprt_status status = tprt__comm_check(comm);
  if (status)
    return status;
  mark *made = mark_create();
  if (!made)
    return tprt__fail_memory(sizeof *made);
  status = record(comm, stream, made);
  if (status) {
    mark_release(made);
    return status;
  }
  pthread_mutex_lock(&event->lock);
  mark *old = event->mark;
  event->mark = made;
  pthread_mutex_unlock(&event->lock);
  mark_release(old);
  return TPRT_OK;
}

/* Marker function that blocks the lane of the waiting communicator. It waits in slices, because an
 * abort does not wake the mark. */
static tprt_status hold(tprt_comm *comm, void *data, int64_t deadline) {
  enum { SLICE_NS = 2000000 };
  mark *at = data;
  tprt_status status = tprt__comm_check(comm);
  while (!status) {
    int64_t now = tprt__now();
    status = mark_wait(at, tprt__min(deadline, now + SLICE_NS));
    if (status != TPRT_IN_PROGRESS)
      break;
    status = now >= deadline ? tprt__fail(TPRT_TIMEOUT, "the awaited event did not arrive in time")
                             : TPRT_OK;
    if (!status)
      status = tprt__comm_check(comm);
  }
  mark_release(at);
  return status && !tprt_comm_status(comm) ? tprt__comm_fail(comm, status, (tprt_op_kind)0)
                                           : status;
}

/* Makes later work of the stream wait for the mark. If the mark is not in a stream of this backend,
 * the host waits. */
static tprt_status make_stream_wait(tprt_comm *comm, void *stream, mark *at) {
  tprt__transport *transport = comm->transport;
  if (at->backend == transport->backend)
    return transport->backend->hold(transport, stream, at->in_stream);
  tprt_status status = mark_wait(at, tprt__deadline(tprt__comm_timeout(comm)));
  return status == TPRT_IN_PROGRESS
             ? tprt__fail(TPRT_TIMEOUT, "the awaited event did not arrive in time")
             : status;
}

tprt_status tprt_event_wait(tprt_event *event, tprt_comm *comm, void *stream) {
  TPRT__NEED(event);
  TPRT__NEED(comm);
  tprt_status status = tprt__comm_check(comm);
  if (!status && stream && !(tprt_comm_capabilities(comm) & TPRT_CAP_STREAMS))
    status = comm->transport->backend->hold(comm->transport, stream, NULL); /* sets the error */
  mark *at = status ? NULL : current(event);
  if (!at)
    return status;
  status = mark_wait(at, 0);
  if (!status) {
    mark_release(at);
    return TPRT_OK;
  }
  if (!stream)
    return tprt__comm_mark(comm, hold, at, false);
  status = make_stream_wait(comm, stream, at);
  mark_release(at);
  return status;
}

tprt_status tprt_event_test(const tprt_event *event) {
  TPRT__NEED(event);
  mark *at = current(event);
  tprt_status status = at ? mark_wait(at, 0) : TPRT_OK;
  mark_release(at);
  return status;
}

tprt_status tprt_event_sync(tprt_event *event, int64_t timeout_ns) {
  TPRT__NEED(event);
  mark *at = current(event);
  tprt_status status =
      at ? mark_wait(at, timeout_ns > 0 ? tprt__deadline(timeout_ns) : INT64_MAX) : TPRT_OK;
  mark_release(at);
  return status;
}
