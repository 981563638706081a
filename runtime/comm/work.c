/* Works: the lane of a communicator, the queue of what runs in the background, and who runs it. */
#define _GNU_SOURCE 1
#include "comm/comm.h"

#include <stdio.h>
#include <time.h>

struct tprt_work {
  tprt_work *next;
  tprt_comm *comm;
  tprt__plan one;
  tprt__plan *plans; /* &one, an array that the work owns, or one that is borrowed */
  size_t n;
  bool borrowed;
  tprt__marker_fn *marker; /* instead of plans */
  void *data;
  int64_t deadline;
  /* no worker is there for it: run by whoever wants the lane next, or waits for it */
  bool on_demand;
  bool announced; /* the backend has begun it; belongs to the lane */
  bool done;      /* under the communicator's lock, as the next two */
  int64_t begin_ns, end_ns;
  pthread_mutex_t lock;
  pthread_cond_t finished;
  int references; /* the user's handle and the queue's; under lock, as the next two */
  tprt_status status;
  char error[512];
};

/* ---- The lane ---- Who finds it open takes it and gives it back by one exchange of a word each,
 * since a mutex and a condition take a quarter of the time of a short operation. Everybody else
 * holds the lock and closes it first: then `busy` and `head` say all, until lane_free opens it
 * again. It is closed while anything waits for it or is in the queue. */
enum { LANE_OPEN, LANE_QUICK, LANE_CLOSED };

static void run_head(tprt_comm *comm);

/* With the lock. Who has taken the lane the quick way finds it closed and gives it back by the
 * lock. */
static void lane_close(tprt_comm *comm) {
  if (atomic_exchange(&comm->lane, LANE_CLOSED) == LANE_QUICK)
    comm->busy = true;
}

/* With the lock, by whoever has the lane. */
static void lane_free(tprt_comm *comm) {
  comm->busy = false;
  if (!comm->head && !comm->n_wanting)
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
  comm->n_wanting++;
  while (comm->busy || comm->head) {
    if (!comm->busy && comm->head->on_demand)
      run_head(comm);
    else
      pthread_cond_wait(&comm->changed, &comm->lock);
  }
  comm->n_wanting--;
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

/* ---- Works ---- */

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

/* Lets the backend begin an operation that runs on demand, so that peers do not wait for this rank
 * when it comes to it. Nothing stands before it in the queue; the caller holds the lane. */
static void announce(tprt_comm *comm, tprt_work *work) {
  if (work->announced || !work->on_demand || atomic_load(&comm->status))
    return;
  work->announced = true;
  comm->transport->backend->begin(comm->transport, work->plans, comm->sequence + 1);
}

/* With the thread's error text. */
static void set_result(tprt_work *work, tprt_status status) {
  pthread_mutex_lock(&work->lock);
  work->status = status;
  if (status)
    snprintf(work->error, sizeof work->error, "%s", tprt_last_error());
  pthread_cond_broadcast(&work->finished);
  pthread_mutex_unlock(&work->lock);
}

/* Runs the first work of the queue. The caller has found the lane free and holds the communicator's
 * lock, which is given away meanwhile. */
static void run_head(tprt_comm *comm) {
  tprt_work *work = comm->head;
  comm->head = work->next;
  comm->busy = true;
  pthread_mutex_unlock(&comm->lock);
  int64_t begin = tprt__now();
  tprt_status status = work->marker
                           ? work->marker(comm, work->data, work->deadline)
                           : tprt__comm_run_list(comm, work->plans, work->n, work->deadline);
  set_result(work, status);
  pthread_mutex_lock(&comm->lock);
  work->done = true;
  work->begin_ns = begin;
  work->end_ns = tprt__now();
  tprt_work *next = comm->head;
  pthread_mutex_unlock(&comm->lock);
  tprt__work_release(work);
  if (next) /* stays the first while the lane is held */
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
  tprt__lane_enter(comm); /* every operation has a deadline, so this ends */
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
  work->begin_ns = tprt__now();
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
  work->end_ns = tprt__now();
  pthread_cond_broadcast(&comm->changed);
  pthread_mutex_unlock(&comm->lock);
  tprt__work_release(work);
}

/* Takes over the queue's reference in any case. */
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
  return tprt__fail(TPRT_SYSTEM, "no thread for background operations: error %d", error);
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
  if (status) { /* the last reference gives nothing back that the caller still has */
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
  int64_t deadline = tprt__deadline(comm->timeout_ns);
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

/* The status, read by the caller under the lock; a failure brings its text to this thread. */
static tprt_status report(const tprt_work *work, tprt_status status) {
  return status && status != TPRT_IN_PROGRESS ? tprt__fail(status, "%s", work->error) : status;
}

tprt_status tprt_work_test(const tprt_work *work) {
  /* locking does not change what the handle stands for */
  pthread_mutex_t *lock = (pthread_mutex_t *)&work->lock;
  pthread_mutex_lock(lock);
  tprt_status status = work->status;
  pthread_mutex_unlock(lock);
  return report(work, status);
}

/* Waits for the work, and runs what stands before it, and the work itself, where nobody else has
 * come to it yet. */
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
  tprt_status before = tprt_work_test(work);
  if (before != TPRT_IN_PROGRESS) /* its communicator may be gone */
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
  pthread_mutex_lock(&work->comm->lock);
  *begin_ns = work->begin_ns;
  *end_ns = work->end_ns;
  pthread_mutex_unlock(&work->comm->lock);
}

void tprt_work_destroy(tprt_work *work) {
  if (work)
    tprt__work_release(work);
}
