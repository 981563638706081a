/* Work handles: the lane of a communicator, the queue of background operations, and the threads
 * that run them. */
#define _GNU_SOURCE 1
#include "comm/comm.h"

#include <stdio.h>
#include <time.h>

struct tprt_work {
  tprt_work *next;
  tprt_comm *comm;
  tprt__plan one;
  tprt__plan *plans; /* &one, an array owned by the work, or a borrowed array */
  size_t n;
  bool borrowed;
  tprt__marker_fn *marker; /* replaces the plans */
  void *data;
  int64_t deadline;
  /* not run by a worker: the next thread that needs the lane, or waits for this work, runs it */
  bool on_demand;
  bool announced; /* the backend has begun it; guarded by the lane */
  bool done;      /* guarded by the communicator's lock */
  void *stream;   /* in which it was launched; NULL: none */
  pthread_mutex_t lock;
  pthread_cond_t finished;
  int references; /* of the user's handle and of the queue; guarded by `lock`, like the rest */
  tprt_status status;
  int64_t begin_ns, end_ns; /* 0: not yet */
  void (*on_end)(void *user, tprt_status status);
  void *on_end_user;
  char error[512];
};

/* ---- the lane ----
 *
 * Fast path: a thread that finds the lane open takes it with one atomic exchange and returns it
 * with another. A mutex and a condition variable would take a quarter of the time of a short
 * operation. Slow path: all other threads hold the lock and first close the lane. While it is
 * closed, `busy` and `head` describe its state, until lane_free opens it again. The lane stays
 * closed while a thread waits for it or the queue is not empty. */
enum { LANE_OPEN, LANE_QUICK, LANE_CLOSED };

static void run_head(tprt_comm *comm);

/* Closes the lane; the caller holds the lock. A thread that has taken the lane by the fast path
 * then returns it by the slow path. */
static void lane_close(tprt_comm *comm) {
  if (atomic_exchange(&comm->lane, LANE_CLOSED) == LANE_QUICK)
    comm->busy = true;
}

/* Returns the lane; the caller has the lane and holds the lock. */
static void lane_free(tprt_comm *comm) {
  comm->busy = false;
  if (!comm->head && !comm->n_lane_waiters)
    atomic_store(&comm->lane, LANE_OPEN);
  pthread_cond_broadcast(&comm->changed);
}

void tprt__lane_enter(tprt_comm *comm) {
  int open = LANE_OPEN;
  if (atomic_compare_exchange_strong_explicit(&comm->lane, &open, LANE_QUICK, memory_order_acquire,
                                              memory_order_relaxed))
    return;
  pthread_mutex_lock(&comm->lock);
  lane_close(comm);
  comm->n_lane_waiters++;
  while (comm->busy || comm->head) {
    if (!comm->busy && comm->head->on_demand)
      run_head(comm);
    else
      pthread_cond_wait(&comm->changed, &comm->lock);
  }
  comm->n_lane_waiters--;
  comm->busy = true;
  pthread_mutex_unlock(&comm->lock);
}

void tprt__lane_leave(tprt_comm *comm) {
  int quick = LANE_QUICK;
  if (atomic_compare_exchange_strong_explicit(&comm->lane, &quick, LANE_OPEN, memory_order_release,
                                              memory_order_relaxed))
    return;
  pthread_mutex_lock(&comm->lock);
  lane_free(comm);
  pthread_mutex_unlock(&comm->lock);
}

/* ---- works ---- */

void tprt__work_release(tprt_work *work) {
  pthread_mutex_lock(&work->lock);
  bool last = --work->references == 0;
  pthread_mutex_unlock(&work->lock);
  if (!last)
    return;
  pthread_cond_destroy(&work->finished);
  pthread_mutex_destroy(&work->lock);
  tprt__plan_clear(&work->one);
  if (!work->borrowed && work->plans != &work->one)
    tprt__batch_clear(work->plans, work->n);
  tprt__free(work);
}

/* Lets the backend begin an on-demand operation, so that peers do not wait until this rank runs it.
 * The work is the first of the queue, and the caller holds the lane. */
static void announce(tprt_comm *comm, tprt_work *work) {
  bool as_one = tprt__comm_joins(comm, work->plans, work->n) > 1;
  if (work->announced || !work->on_demand || as_one || atomic_load(&comm->status))
    return;
  work->announced = true;
  comm->transport->backend->begin(comm->transport, work->plans, comm->sequence + 1);
}

void tprt__work_begin(tprt_work *work) {
  pthread_mutex_lock(&work->lock);
  work->begin_ns = tprt__now();
  pthread_mutex_unlock(&work->lock);
}

/* Completes the work, with the thread's error text, and calls its callback. */
static void set_result(tprt_work *work, tprt_status status) {
  pthread_mutex_lock(&work->lock);
  work->status = status;
  work->end_ns = tprt__now();
  if (status)
    snprintf(work->error, sizeof work->error, "%s", tprt_last_error());
  void (*on_end)(void *user, tprt_status result) = work->on_end;
  void *user = work->on_end_user;
  pthread_cond_broadcast(&work->finished);
  pthread_mutex_unlock(&work->lock);
  if (on_end)
    on_end(user, status);
}

/* Runs the first work of the queue. The caller has found the lane free and holds the communicator's
 * lock, which is released in the meantime. */
static void run_head(tprt_comm *comm) {
  tprt_work *work = comm->head;
  comm->head = work->next;
  comm->busy = true;
  pthread_mutex_unlock(&comm->lock);
  tprt__work_begin(work);
  tprt_status status = work->marker
                           ? work->marker(comm, work->data, work->deadline)
                           : tprt__comm_run_list(comm, work->plans, work->n, work->deadline);
  set_result(work, status);
  pthread_mutex_lock(&comm->lock);
  work->done = true;
  tprt_work *next = comm->head;
  pthread_mutex_unlock(&comm->lock);
  tprt__work_release(work);
  if (next) /* remains the first of the queue while the lane is held */
    announce(comm, next);
  pthread_mutex_lock(&comm->lock);
  lane_free(comm);
}

static void *worker_main(void *argument) {
  tprt_comm *comm = argument;
  pthread_mutex_lock(&comm->lock);
  for (;;) {
    while (comm->busy || (!comm->head && !comm->stopping))
      pthread_cond_wait(&comm->changed, &comm->lock);
    if (!comm->head)
      break;
    run_head(comm);
  }
  pthread_mutex_unlock(&comm->lock);
  return NULL;
}

void tprt__worker_stop(tprt_comm *comm) {
  tprt__lane_enter(comm); /* terminates: every operation has a deadline */
  pthread_mutex_lock(&comm->lock);
  lane_close(comm);
  comm->busy = false;
  comm->stopping = true;
  bool join = comm->has_worker;
  pthread_cond_broadcast(&comm->changed);
  pthread_mutex_unlock(&comm->lock);
  if (join)
    pthread_join(comm->worker, NULL);
}

tprt_work *tprt__work_launch(tprt_comm *comm, int64_t deadline, void *stream) {
  tprt_work *work = tprt__work_create(comm, deadline);
  if (!work)
    return NULL;
  work->stream = stream;
  work->begin_ns = tprt__now();
  return work;
}

tprt_work *tprt__work_create(tprt_comm *comm, int64_t deadline) {
  tprt_work *work = tprt__alloc(sizeof *work);
  if (!work)
    return NULL;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&work->lock, NULL);
  pthread_cond_init(&work->finished, &monotonic);
  pthread_condattr_destroy(&monotonic);
  work->comm = comm;
  work->plans = &work->one;
  work->deadline = deadline;
  work->references = 2;
  work->status = TPRT_IN_PROGRESS;
  return work;
}

void tprt__work_end(void *user, tprt_status status) {
  tprt_work *work = user;
  tprt_comm *comm = work->comm;
  if (status && !tprt_comm_status(comm))
    tprt__comm_fail(comm, status, (tprt_op_kind)0);
  set_result(work, status);
  pthread_mutex_lock(&comm->lock);
  work->done = true;
  pthread_cond_broadcast(&comm->changed);
  pthread_mutex_unlock(&comm->lock);
  tprt__work_release(work);
}

/* Appends the work to the queue. Consumes the queue's reference, also on failure. */
static tprt_status enqueue(tprt_comm *comm, tprt_work *work) {
  pthread_mutex_lock(&comm->lock);
  lane_close(comm);
  int error = comm->has_worker || work->on_demand
                  ? 0
                  : pthread_create(&comm->worker, NULL, worker_main, comm);
  if (!error) {
    comm->has_worker |= !work->on_demand;
    if (comm->head) {
      comm->tail->next = work;
    } else {
      comm->head = work;
    }
    comm->tail = work;
    pthread_cond_broadcast(&comm->changed);
  }
  pthread_mutex_unlock(&comm->lock);
  if (!error)
    return TPRT_OK;
  tprt__work_release(work);
  return tprt__fail(TPRT_SYSTEM, "cannot start a thread for background operations: error %d",
                    error);
}

tprt_status tprt__work_start(tprt_comm *comm, tprt__plan *plans, size_t n, bool borrowed,
                             int64_t deadline, tprt_work **handle) {
  tprt_work *work = tprt__work_create(comm, deadline);
  if (!work)
    return tprt__fail_memory(sizeof *work);
  work->n = n;
  work->borrowed = borrowed;
  if (n == 1 && !borrowed)
    work->one = plans[0];
  else
    work->plans = plans;
  tprt_status status = enqueue(comm, work);
  if (status) { /* make the last release free nothing that still belongs to the caller */
    work->one = (tprt__plan){.parts = NULL};
    work->borrowed = true;
    tprt__work_release(work);
    return status;
  }
  *handle = work;
  return TPRT_OK;
}

tprt_status tprt__comm_start(tprt_comm *comm, const tprt__plan *plan, int64_t deadline,
                             bool on_demand, tprt_work **handle) {
  tprt_work *work = tprt__work_create(comm, deadline);
  if (!work)
    return tprt__fail_memory(sizeof *work);
  work->n = 1;
  work->one = *plan;
  work->on_demand = on_demand;
  tprt_status status = enqueue(comm, work);
  if (status) {
    tprt__work_release(work);
    return status;
  }
  *handle = work;
  if (!on_demand)
    return TPRT_OK;
  pthread_mutex_lock(&comm->lock);
  bool first = !comm->busy && comm->head == work;
  comm->busy |= first;
  pthread_mutex_unlock(&comm->lock);
  if (first) {
    announce(comm, work);
    tprt__lane_leave(comm);
  }
  return TPRT_OK;
}

tprt_status tprt__comm_mark(tprt_comm *comm, tprt__marker_fn *fn, void *data, bool is_short) {
  int64_t deadline = tprt__deadline(tprt__comm_timeout(comm));
  pthread_mutex_lock(&comm->lock);
  lane_close(comm);
  bool idle = is_short && !comm->busy && !comm->head;
  comm->busy |= idle;
  pthread_mutex_unlock(&comm->lock);
  if (idle) {
    tprt_status status = fn(comm, data, deadline);
    tprt__lane_leave(comm);
    return status;
  }
  tprt_work *work = tprt__work_create(comm, deadline);
  tprt_status status = work ? TPRT_OK : tprt__fail_memory(sizeof *work);
  if (work) {
    work->marker = fn;
    work->data = data;
    status = enqueue(comm, work);
    tprt__work_release(work);
  }
  if (status) { /* out of order, but the communicator has failed by then */
    tprt__comm_fail(comm, status, (tprt_op_kind)0);
    fn(comm, data, deadline);
  }
  return status;
}

/* Returns a status that the caller has read under the lock. For a failure, copies its text to this
 * thread. */
static tprt_status report(const tprt_work *work, tprt_status status) {
  return status && status != TPRT_IN_PROGRESS ? tprt__fail(status, "%s", work->error) : status;
}

tprt_status tprt_work_test(const tprt_work *work) {
  TPRT__NEED(work);
  /* the lock does not change the logical state of the handle */
  pthread_mutex_t *lock = (pthread_mutex_t *)&work->lock;
  pthread_mutex_lock(lock);
  tprt_status status = work->status;
  pthread_mutex_unlock(lock);
  return report(work, status);
}

/* Waits for the work. Runs works before it, and the work itself, if no other thread has started
 * them. */
static void wait_or_run(tprt_work *work) {
  tprt_comm *comm = work->comm;
  pthread_mutex_lock(&comm->lock);
  while (!work->done) {
    if (!comm->busy && comm->head)
      run_head(comm);
    else
      pthread_cond_wait(&comm->changed, &comm->lock);
  }
  pthread_mutex_unlock(&comm->lock);
}

tprt_status tprt_work_wait(tprt_work *work, int64_t timeout_ns) {
  TPRT__NEED(work);
  tprt_status before = tprt_work_test(work);
  if (before != TPRT_IN_PROGRESS) /* the communicator of a completed work may be destroyed */
    return before;
  if (timeout_ns <= 0) {
    wait_or_run(work);
    return tprt_work_test(work);
  }
  struct timespec until;
  int64_t end = tprt__deadline(timeout_ns);
  until = (struct timespec){.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};
  int error = 0;
  pthread_mutex_lock(&work->lock);
  while (work->status == TPRT_IN_PROGRESS && !error) {
    error = pthread_cond_timedwait(&work->finished, &work->lock, &until);
  }
  tprt_status status = work->status;
  pthread_mutex_unlock(&work->lock);
  return report(work, status);
}

void tprt__work_times(const tprt_work *work, int64_t *begin_ns, int64_t *end_ns) {
  /* the lock does not change the logical state of the handle */
  pthread_mutex_t *lock = (pthread_mutex_t *)&work->lock;
  pthread_mutex_lock(lock);
  *begin_ns = work->begin_ns;
  *end_ns = work->end_ns;
  pthread_mutex_unlock(lock);
}

int64_t tprt_work_elapsed(const tprt_work *work) {
  TPRT__NEED_OR(work, -1);
  int64_t begin, end;
  tprt__work_times(work, &begin, &end);
  return begin ? (end ? end : tprt__now()) - begin : 0;
}

/* Makes a stream wait for what is now in another one. */
static tprt_status chain_streams(tprt_comm *comm, void *before, void *after) {
  tprt__transport *transport = comm->transport;
  tprt__stream_mark *mark;
  tprt_status status = transport->backend->record(
      transport, before, tprt__deadline(tprt__comm_timeout(comm)), NULL, NULL, &mark);
  if (status)
    return status;
  status = transport->backend->hold(transport, after, mark);
  mark->forget(mark);
  return status;
}

tprt_status tprt_work_wait_stream(tprt_work *work, void *stream) {
  TPRT__NEED(work);
  tprt_status status = tprt_work_test(work);
  if (status != TPRT_IN_PROGRESS)
    return status;
  const tprt__backend *backend = work->comm->transport->backend;
  if (!(backend->capabilities & TPRT_CAP_STREAMS))
    return backend->hold(work->comm->transport, stream, NULL); /* sets the error */
  return work->stream ? chain_streams(work->comm, work->stream, stream) : tprt_work_wait(work, 0);
}

tprt_status tprt_work_on_end(tprt_work *work, void (*fn)(void *user, tprt_status status),
                             void *user) {
  TPRT__NEED(work);
  TPRT__NEED(fn);
  pthread_mutex_lock(&work->lock);
  tprt_status status = work->status;
  bool taken = work->on_end != NULL;
  if (!taken) {
    work->on_end = fn;
    work->on_end_user = user;
  }
  pthread_mutex_unlock(&work->lock);
  if (taken)
    return tprt__fail(TPRT_INVALID_STATE, "the work has a callback already");
  if (status != TPRT_IN_PROGRESS) {
    (void)report(work, status); /* sets the error text */
    fn(user, status);
  }
  return TPRT_OK;
}

void tprt_work_destroy(tprt_work *work) {
  if (work)
    tprt__work_release(work);
}
