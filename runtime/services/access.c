/* Accesses of windows in the background. A window has two queues, each with a thread that starts
 * with the first access: puts, gets and signals run in one, in submission order; waits for signals
 * in the other, so that they hold up no signal for which another rank waits. */
#include "services/access.h"

#include <stdio.h>

typedef struct pending {
  struct pending *next;
  tprt_access access;
  uint64_t wanted; /* wait_signal: value of the counter */
  int64_t deadline;
  tprt_work *work;
} pending;

struct tprt__access_queue {
  tprt_window *window;
  pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t changed;
  pthread_t thread;
  bool runs, stopping;
  pending *first, **last;
  size_t n_pending; /* includes the one that runs */
};

static void *queue_main(void *argument) {
  tprt__access_queue *queue = argument;
  pthread_mutex_lock(&queue->lock);
  for (;;) {
    while (!queue->first && !queue->stopping)
      pthread_cond_wait(&queue->changed, &queue->lock);
    pending *own = queue->first;
    if (!own)
      break;
    queue->first = own->next;
    if (!queue->first)
      queue->last = &queue->first;
    pthread_mutex_unlock(&queue->lock);
    tprt__work_begin(own->work);
    tprt_status status =
        tprt__window_access(queue->window, &own->access, own->wanted, own->deadline);
    tprt__work_end(own->work, status);
    tprt__free(own);
    pthread_mutex_lock(&queue->lock);
    queue->n_pending--;
    pthread_cond_broadcast(&queue->changed);
  }
  pthread_mutex_unlock(&queue->lock);
  return NULL;
}

tprt__access_queue *tprt__access_queue_create(tprt_window *window) {
  tprt__access_queue *queue = tprt__alloc(sizeof *queue);
  if (!queue)
    return NULL;
  queue->window = window;
  queue->last = &queue->first;
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->changed, NULL);
  return queue;
}

void tprt__access_queue_destroy(tprt__access_queue *queue) {
  if (!queue)
    return;
  pthread_mutex_lock(&queue->lock);
  queue->stopping = true;
  bool runs = queue->runs;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  if (runs)
    pthread_join(queue->thread, NULL);
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->lock);
  tprt__free(queue);
}

void tprt__access_queue_drain(tprt__access_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  while (queue->n_pending)
    pthread_cond_wait(&queue->changed, &queue->lock);
  pthread_mutex_unlock(&queue->lock);
}

tprt_status tprt__access_queue_add(tprt__access_queue *queue, tprt_comm *comm,
                                   const tprt_access *access, uint64_t wanted, int64_t deadline,
                                   tprt_work **work) {
  pending *made = tprt__alloc(sizeof *made);
  tprt_work *handle = made ? tprt__work_create(comm, deadline) : NULL;
  if (!handle) {
    tprt__free(made);
    return tprt__fail_memory(sizeof *made);
  }
  *made = (pending){.access = *access, .wanted = wanted, .deadline = deadline, .work = handle};
  pthread_mutex_lock(&queue->lock);
  int error = queue->runs ? 0 : pthread_create(&queue->thread, NULL, queue_main, queue);
  queue->runs |= !error;
  if (!error) {
    *queue->last = made;
    queue->last = &made->next;
    queue->n_pending++;
    pthread_cond_broadcast(&queue->changed);
  }
  pthread_mutex_unlock(&queue->lock);
  if (error) {
    tprt__work_release(handle);
    tprt__work_release(handle);
    tprt__free(made);
    return tprt__fail(TPRT_SYSTEM, "cannot start a thread for accesses of windows: error %d",
                      error);
  }
  *work = handle;
  return TPRT_OK;
}
