/* GEMM on several threads. C is divided into bands of columns or rows, which the threads take from
 * a shared counter. Each element is computed within one band, so its bits depend neither on the
 * division nor on the thread.
 *
 * The threads belong to the process. They are created by the first large GEMM and sleep between
 * GEMMs. The pool serves one GEMM at a time; a caller that finds it busy computes on its own thread
 * only. The caller takes bands like the other threads and waits only for bands that were taken, so
 * a thread that is not scheduled delays nobody. */
#define _GNU_SOURCE 1
#include "cpu/blas.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  MAX_THREADS = 64,
  BANDS_A_THREAD = 4, /* several, so that a late thread takes fewer of them */
  /* in rows or columns, because each band packs the other operand again; smaller if some thread
   * would otherwise get none */
  MIN_BAND = 192,
  MIN_WORK = 1 << 20 /* GEMMs with fewer multiply-adds run on the caller only */
};
enum { SPINS = 2000 }; /* polls before a thread sleeps */

typedef struct job {
  tprt__vectors vectors;
  bool wide, by_rows;
  tprt__gemm_args args;
  int64_t band, n_bands; /* `band`: rows or columns of one band */
} job;

static struct {
  pthread_mutex_t turn; /* held by the caller that the pool serves */
  pthread_mutex_t lock;
  pthread_cond_t posted, done;
  job current;
  bool open, ends;
  int n_busy;
  _Atomic uint64_t n_jobs; /* posted so far */
  _Atomic int64_t next;    /* band to take next */
  pthread_t threads[MAX_THREADS];
  void *scratch[MAX_THREADS];
  int n_threads;
  pid_t owner; /* the process that created the threads */
} pool = {.turn = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

static void rest(void) {
#if TPRT__HAS_TARGETS
  __builtin_ia32_pause();
#endif
}

/* Takes and computes bands until none are left. */
static void work(const job *j, void *scratch) {
  size_t size = j->wide ? sizeof(double) : sizeof(float);
  for (;;) {
    int64_t band = atomic_fetch_add(&pool.next, 1);
    if (band >= j->n_bands)
      return;
    tprt__gemm_args g = j->args;
    int64_t begin = band * j->band, *length = j->by_rows ? &g.m : &g.n;
    *length = tprt__min(j->band, *length - begin);
    if (j->by_rows) {
      g.a = (const char *)g.a + (size_t)(g.transpose_a ? begin : begin * g.lda) * size;
      g.c = (char *)g.c + (size_t)(begin * g.ldc) * size;
    } else {
      g.b = (const char *)g.b + (size_t)(g.transpose_b ? begin * g.ldb : begin) * size;
      g.c = (char *)g.c + (size_t)begin * size;
    }
    g.scratch = scratch;
    tprt__gemm_own(j->vectors, j->wide, &g);
  }
}

static void *serve(void *scratch) {
  uint64_t seen = 0;
  for (;;) {
    for (int i = 0; i < SPINS && atomic_load(&pool.n_jobs) == seen; i++)
      rest();
    pthread_mutex_lock(&pool.lock);
    while (!pool.ends && (!pool.open || atomic_load(&pool.n_jobs) == seen))
      pthread_cond_wait(&pool.posted, &pool.lock);
    if (pool.ends) {
      pthread_mutex_unlock(&pool.lock);
      return NULL;
    }
    seen = atomic_load(&pool.n_jobs);
    job j = pool.current;
    pool.n_busy++;
    pthread_mutex_unlock(&pool.lock);
    work(&j, scratch);
    pthread_mutex_lock(&pool.lock);
    if (--pool.n_busy == 0)
      pthread_cond_signal(&pool.done);
    pthread_mutex_unlock(&pool.lock);
  }
}

/* Starts one more thread, with all signals blocked. Returns false if memory or threads run out. */
static bool add_thread(void) {
  void *scratch = pool.n_threads < MAX_THREADS
                      ? aligned_alloc(64, tprt__round_up(tprt__gemm_scratch() + 1, 64))
                      : NULL;
  if (!scratch)
    return false;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool made = pthread_create(&pool.threads[pool.n_threads], NULL, serve, scratch) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!made) {
    free(scratch);
    return false;
  }
  pool.scratch[pool.n_threads++] = scratch;
  return true;
}

/* Creates the missing threads. The caller holds `turn`. A forked child has none of its parent's
 * threads, so locks and conditions are initialized again. */
static void prepare(int n) {
  if (pool.owner != getpid()) {
    pool.owner = getpid();
    pool.n_threads = pool.n_busy = 0;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.posted, NULL);
    pthread_cond_init(&pool.done, NULL);
  }
  while (pool.n_threads < n - 1 && add_thread())
    continue;
}

/* Ends the threads, because the library may be unloaded before the program exits. */
__attribute__((destructor)) static void end(void) {
  if (pool.owner != getpid())
    return;
  pthread_mutex_lock(&pool.lock);
  pool.ends = true;
  pthread_cond_broadcast(&pool.posted);
  pthread_mutex_unlock(&pool.lock);
  for (int i = 0; i < pool.n_threads; i++) {
    pthread_join(pool.threads[i], NULL);
    free(pool.scratch[i]);
  }
  pool.n_threads = 0;
}

static void run(const job *j) {
  pthread_mutex_lock(&pool.lock);
  pool.current = *j;
  atomic_store(&pool.next, 0);
  pool.open = true;
  atomic_fetch_add(&pool.n_jobs, 1);
  pthread_cond_broadcast(&pool.posted);
  pthread_mutex_unlock(&pool.lock);
  work(j, j->args.scratch);
  pthread_mutex_lock(&pool.lock);
  pool.open = false;
  while (pool.n_busy)
    pthread_cond_wait(&pool.done, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
}

/* Divides the longer of columns and rows, in multiples of the kernels' strip width or tile
 * height. */
static void divide(int threads, job *j) {
  enum { STRIP = 32, ROWS = 28 };
  const tprt__gemm_args *g = &j->args;
  j->by_rows = g->m > g->n;
  int64_t length = j->by_rows ? g->m : g->n, unit = j->by_rows ? ROWS : STRIP;
  int64_t n = tprt__min((int64_t)threads * BANDS_A_THREAD, length / MIN_BAND),
          n_units = (length + unit - 1) / unit;
  n = n < threads ? threads : n;
  j->band = (n_units + n - 1) / n * unit;
  j->n_bands = (length + j->band - 1) / j->band;
}

void tprt__gemm_on_threads(int threads, tprt__vectors vectors, bool wide,
                           const tprt__gemm_args *args) {
  bool alone =
      threads <= 1 || args->m * args->n * args->k < MIN_WORK || pthread_mutex_trylock(&pool.turn);
  if (alone) {
    tprt__gemm_own(vectors, wide, args);
    return;
  }
  prepare(threads);
  job j = {.vectors = vectors, .wide = wide, .args = *args};
  divide((int)tprt__min(threads, pool.n_threads + 1), &j);
  run(&j);
  pthread_mutex_unlock(&pool.turn);
}
