/* Operations in streams of callers. A thread polls them, because no caller waits for them. */
#define _GNU_SOURCE 1
#include "backends/nccl/nccl.h"

#include <time.h>

/* A recorded position in a stream. */
typedef struct nccl_mark {
  tprt__stream_mark base;
  const cuda_device_calls *device;
  cuda_event event;
} nccl_mark;

/* ---- polling thread ---- */

/* Removes an operation from the list and reports its end. The caller holds the lock, which is
 * released in the meantime. */
static void end(nccl_transport *nccl, nccl_pending **at, tprt_status status) {
  nccl_watch *watch = &nccl->watch;
  nccl_pending *pending = *at;
  *at = pending->next;
  if (!*at)
    watch->last = at;
  if (!pending->event) { /* its owner frees it */
    pending->removed = true;
    watch->n_pending--;
    pthread_cond_broadcast(&watch->changed);
    return;
  }
  pthread_mutex_unlock(&watch->lock);
  nccl->device->event_destroy(pending->event);
  if (pending->done)
    pending->done(pending->user, status);
  else if (status)
    tprt__log("an operation in a stream failed: %s", tprt_last_error());
  tprt__free(pending);
  pthread_mutex_lock(&watch->lock);
  watch->n_pending--;
  pthread_cond_broadcast(&watch->changed);
}

/* Polls one operation: TPRT_OK if the device has completed it, TPRT_IN_PROGRESS, or the reason why
 * it never will. */
static tprt_status poll_pending(nccl_transport *nccl, const nccl_pending *pending,
                                nccl_wait *wait) {
  cuda_result result = pending->event                    ? nccl->device->event_query(pending->event)
                       : atomic_load(&pending->released) ? CUDA_RESULT_SUCCESS
                                                         : CUDA_RESULT_NOT_READY;
  if (!result)
    return TPRT_OK;
  /* a mark, which waits for other work in the stream */
  if (pending->event && !pending->kind && tprt__now() >= pending->deadline)
    return tprt__fail(TPRT_TIMEOUT, "the stream did not reach the event in time");
  wait->kind = pending->kind;
  wait->sequence = pending->sequence;
  wait->deadline = pending->deadline;
  tprt_status status = TPRT_OK;
  if (result != CUDA_RESULT_NOT_READY)
    status = tprt__device_check(nccl->device, result, "an operation on the device");
  if (!status)
    status = tprt__nccl_check_fault(nccl, wait);
  if (!status && pending->event)
    status = tprt__nccl_poll(nccl, wait);
  if (status && status != TPRT_IN_PROGRESS)
    return tprt__nccl_fail(nccl, status, wait);
  return TPRT_IN_PROGRESS;
}

/* Polls all pending operations, oldest first. Operations of one stream end in order, and those
 * after a failure fail with it. Returns true if an operation has ended. */
static bool sweep(nccl_transport *nccl, nccl_wait *wait) {
  nccl_watch *watch = &nccl->watch;
  bool moved = false;
  for (nccl_pending **at = &watch->first; *at;) {
    nccl_pending *pending = *at;
    pthread_mutex_unlock(&watch->lock); /* only this thread removes entries */
    tprt_status status = poll_pending(nccl, pending, wait);
    pthread_mutex_lock(&watch->lock);
    if (status == TPRT_IN_PROGRESS) {
      at = &pending->next;
      continue;
    }
    end(nccl, at, status);
    moved = true;
  }
  return moved;
}

static void *watch_main(void *argument) {
  enum { NAP_NS = 50000 };
  const struct timespec nap = {.tv_nsec = NAP_NS};
  nccl_transport *nccl = argument;
  nccl_watch *watch = &nccl->watch;
  nccl_wait wait = {.rounds = 0};
  bool entered = !tprt__nccl_enter_device(nccl);
  pthread_mutex_lock(&watch->lock);
  while (watch->first || !watch->stopping) {
    if (!watch->first) {
      wait = (nccl_wait){.rounds = 0};
      pthread_cond_wait(&watch->changed, &watch->lock);
    } else if (!sweep(nccl, &wait)) {
      pthread_mutex_unlock(&watch->lock);
      nanosleep(&nap, NULL);
      pthread_mutex_lock(&watch->lock);
    }
  }
  pthread_mutex_unlock(&watch->lock);
  if (entered)
    tprt__nccl_leave_device(nccl);
  return NULL;
}

void tprt__nccl_watch_start(nccl_watch *watch) {
  pthread_mutex_init(&watch->lock, NULL);
  pthread_cond_init(&watch->changed, NULL);
  watch->last = &watch->first;
}

void tprt__nccl_watch_stop(nccl_watch *watch) {
  pthread_mutex_lock(&watch->lock);
  watch->stopping = true;
  bool runs = watch->runs;
  pthread_cond_broadcast(&watch->changed);
  pthread_mutex_unlock(&watch->lock);
  if (runs)
    pthread_join(watch->thread, NULL);
  pthread_cond_destroy(&watch->changed);
  pthread_mutex_destroy(&watch->lock);
}

void tprt__nccl_settle(tprt__transport *transport) {
  nccl_watch *watch = &((nccl_transport *)transport)->watch;
  pthread_mutex_lock(&watch->lock);
  while (watch->n_pending)
    pthread_cond_wait(&watch->changed, &watch->lock);
  pthread_mutex_unlock(&watch->lock);
}

/* ---- enqueueing ---- */

static tprt_status start_thread(nccl_transport *nccl) {
  nccl_watch *watch = &nccl->watch;
  pthread_mutex_lock(&watch->lock);
  int error = watch->runs ? 0 : pthread_create(&watch->thread, NULL, watch_main, nccl);
  watch->runs |= !error;
  pthread_mutex_unlock(&watch->lock);
  return error ? tprt__fail(TPRT_SYSTEM, "cannot start the thread that watches streams: error %d",
                            error)
               : TPRT_OK;
}

/* Allocates the entry and its event and starts the thread, before the operation is enqueued and can
 * no longer be undone. */
static tprt_status prepare(nccl_transport *nccl, const nccl_pending *what, nccl_pending **made) {
  nccl_pending *pending = tprt__alloc(sizeof *pending);
  if (!pending)
    return tprt__fail_memory(sizeof *pending);
  *pending = *what;
  tprt_status status = start_thread(nccl);
  if (!status)
    status = tprt__device_check(
        nccl->device, nccl->device->event_create(&pending->event, CUDA_EVENT_DISABLE_TIMING),
        "an event");
  if (status)
    tprt__free(pending);
  else
    *made = pending;
  return status;
}

/* Appends an entry to the list. */
static void append(nccl_watch *watch, nccl_pending *pending) {
  pthread_mutex_lock(&watch->lock);
  *watch->last = pending;
  watch->last = &pending->next;
  watch->n_pending++;
  pthread_cond_broadcast(&watch->changed);
  pthread_mutex_unlock(&watch->lock);
}

/* Appends the operation to the list, with an event after all work in the stream. */
static tprt_status watch_for(nccl_transport *nccl, nccl_pending *pending, cuda_stream stream) {
  tprt_status status = tprt__device_check(
      nccl->device, nccl->device->event_record(pending->event, stream), "an event");
  if (!status)
    append(&nccl->watch, pending);
  return status;
}

static void give_up(nccl_transport *nccl, nccl_pending *pending) {
  if (pending)
    nccl->device->event_destroy(pending->event);
  tprt__free(pending);
}

tprt_status tprt__nccl_find_capture(const nccl_transport *nccl, cuda_stream stream,
                                    bool *captured) {
  int capturing = CUDA_CAPTURE_NONE;
  tprt_status status = tprt__device_check(
      nccl->device, nccl->device->stream_capturing(stream, &capturing), "the state of a stream");
  *captured = capturing != CUDA_CAPTURE_NONE;
  return status;
}

tprt_status tprt__nccl_launch(tprt__transport *transport, const tprt__plan *plans, size_t n,
                              uint32_t sequence, int64_t deadline, tprt__done_fn *done,
                              void *user) {
  nccl_transport *nccl = (nccl_transport *)transport;
  nccl_wait wait = {.kind = plans->kind, .sequence = sequence, .deadline = deadline};
  const nccl_pending what = {
      .kind = plans->kind, .sequence = sequence, .deadline = deadline, .done = done, .user = user};
  nccl_pending *pending = NULL;
  bool captured = false;
  tprt_status status = tprt__nccl_check_fault(nccl, &wait);
  if (!status)
    status = tprt__nccl_enter_device(nccl);
  if (status)
    return status;
  status = tprt__nccl_find_capture(nccl, plans->stream, &captured);
  if (captured)
    atomic_store(&nccl->captured, true);
  else if (!status)
    status = prepare(nccl, &what, &pending);
  if (!status)
    status = tprt__nccl_enqueue_some(nccl, plans, n, plans->stream, &wait);
  if (!status && pending)
    status = watch_for(nccl, pending, plans->stream);
  if (status)
    give_up(nccl, pending);
  tprt__nccl_leave_device(nccl);
  if (!status && captured && done)
    done(user, TPRT_OK);
  return status;
}

tprt_status tprt__nccl_follow_launched(nccl_transport *nccl) {
  nccl_watch *watch = &nccl->watch;
  tprt_status status = TPRT_OK;
  pthread_mutex_lock(&watch->lock); /* the events of the list exist as long as they are in it */
  for (const nccl_pending *at = watch->first; at && !status; at = at->next) {
    if (at->kind)
      status =
          tprt__device_check(nccl->device, nccl->device->stream_wait(nccl->stream, at->event, 0),
                             "waiting for operations in streams");
  }
  pthread_mutex_unlock(&watch->lock);
  return status;
}

/* ---- guards ---- */

nccl_pending *tprt__nccl_guard(nccl_transport *nccl) {
  nccl_pending *guard =
      atomic_load(&nccl->captured) && !start_thread(nccl) ? tprt__alloc(sizeof *guard) : NULL;
  if (!guard)
    return NULL;
  guard->deadline = tprt__deadline(tprt__nccl_timeout(nccl));
  append(&nccl->watch, guard);
  return guard;
}

void tprt__nccl_unguard(nccl_transport *nccl, nccl_pending *guard) {
  nccl_watch *watch = &nccl->watch;
  if (!guard)
    return;
  atomic_store(&guard->released, true);
  pthread_mutex_lock(&watch->lock);
  while (!guard->removed)
    pthread_cond_wait(&watch->changed, &watch->lock);
  pthread_mutex_unlock(&watch->lock);
  tprt__free(guard);
}

/* ---- marks ---- */

static void forget(tprt__stream_mark *base) {
  nccl_mark *mark = (nccl_mark *)base;
  mark->device->event_destroy(mark->event);
  tprt__free(mark);
}

tprt_status tprt__nccl_record(tprt__transport *transport, void *stream, int64_t deadline,
                              tprt__done_fn *done, void *user, tprt__stream_mark **result) {
  nccl_transport *nccl = (nccl_transport *)transport;
  const nccl_pending what = {.deadline = deadline, .done = done, .user = user};
  nccl_pending *pending = NULL;
  nccl_mark *mark = tprt__alloc(sizeof *mark);
  if (!mark)
    return tprt__fail_memory(sizeof *mark);
  tprt_status status = tprt__nccl_enter_device(nccl);
  if (status) {
    tprt__free(mark);
    return status;
  }
  *mark = (nccl_mark){.base = {forget}, .device = nccl->device};
  status = tprt__device_check(nccl->device,
                              nccl->device->event_create(&mark->event, CUDA_EVENT_DISABLE_TIMING),
                              "an event");
  if (!status) {
    status = tprt__device_check(nccl->device, nccl->device->event_record(mark->event, stream),
                                "an event");
    if (!status)
      status = prepare(nccl, &what, &pending);
    if (!status)
      status = watch_for(nccl, pending, stream);
    if (status) {
      give_up(nccl, pending);
      nccl->device->event_destroy(mark->event);
    }
  }
  tprt__nccl_leave_device(nccl);
  if (status)
    tprt__free(mark);
  else
    *result = &mark->base;
  return status;
}

tprt_status tprt__nccl_hold(tprt__transport *transport, void *stream,
                            const tprt__stream_mark *base) {
  nccl_transport *nccl = (nccl_transport *)transport;
  const nccl_mark *mark = (const nccl_mark *)base;
  return tprt__device_check(nccl->device, nccl->device->stream_wait(stream, mark->event, 0),
                            "waiting for an event");
}
