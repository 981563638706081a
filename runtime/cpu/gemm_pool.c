/* Jobs on several threads: parts, which the threads take from a shared counter. A GEMM is divided
 * into bands of columns or rows of C. Each element is computed within one part, so its bits depend
 * neither on the division nor on the thread.
 *
 * One pool serves the whole process. The first large job creates its threads, which sleep between
 * jobs. The pool serves one job at a time; a caller that finds it busy computes on its own thread
 * only. The caller takes parts like the other threads and waits only for parts that were taken, so
 * a thread that is not scheduled delays nobody. */
#define _GNU_SOURCE 1
#include "cpu/blas.h"

#include <pthread.h>
#include <sched.h>
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
  /* the same for GEMMs with few rows, whose time is that of reading B: whole pages of its rows */
  MIN_READ = 1024,
  FEW_ROWS = 16,
};
enum { SPINS = 2000 }; /* polls before a thread sleeps */

typedef struct job {
  tprt__part_fn *part;
  const void *data;
  int64_t n_parts;
} job;

static struct {
  pthread_mutex_t turn; /* held by the caller that the pool serves */
  pthread_mutex_t lock;
  pthread_cond_t posted, done;
  job current;
  bool open, ends;
  int n_busy;
  _Atomic uint64_t n_jobs; /* posted so far */
  _Atomic int64_t next;    /* part to take next */
  pthread_t threads[MAX_THREADS];
  void *scratch[MAX_THREADS];
  int n_threads;
  int n_placed, kept_off; /* so many threads are kept off this processor, that of the last caller */
  pid_t owner;            /* the process that created the threads */
} pool = {.turn = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

static void rest(void) {
#if TPRT__HAS_TARGETS
  __builtin_ia32_pause();
#endif
}

/* Takes and computes parts until none are left. */
static void work(const job *j, void *scratch) {
  for (int64_t part; (part = atomic_fetch_add(&pool.next, 1)) < j->n_parts;)
    j->part(j->data, part, scratch);
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
    pool.n_threads = pool.n_busy = pool.n_placed = 0;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.posted, NULL);
    pthread_cond_init(&pool.done, NULL);
  }
  while (pool.n_threads < n - 1 && add_thread())
    continue;
}

/* Keeps the threads off the caller's processor. Schedulers wake a thread where its waker runs: then
 * the caller computes everything, and the thread waits for it, although other processors are
 * idle. */
static void place(void) {
  cpu_set_t others;
  int here = sched_getcpu();
  if (here < 0 || (pool.n_placed == pool.n_threads && pool.kept_off == here) ||
      sched_getaffinity(0, sizeof others, &others) != 0)
    return;
  CPU_CLR(here, &others);
  for (int i = 0; i < pool.n_threads && CPU_COUNT(&others); i++)
    pthread_setaffinity_np(pool.threads[i], sizeof others, &others);
  pool.n_placed = pool.n_threads;
  pool.kept_off = here;
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

bool tprt__pool_run(int threads, tprt__part_fn *part, const void *data, int64_t n_parts,
                    void *scratch) {
  if (threads <= 1 || pthread_mutex_trylock(&pool.turn))
    return false;
  prepare(threads);
  place();
  const job j = {.part = part, .data = data, .n_parts = n_parts};
  pthread_mutex_lock(&pool.lock);
  pool.current = j;
  atomic_store(&pool.next, 0);
  pool.open = true;
  atomic_fetch_add(&pool.n_jobs, 1);
  pthread_cond_broadcast(&pool.posted);
  pthread_mutex_unlock(&pool.lock);
  work(&j, scratch);
  pthread_mutex_lock(&pool.lock);
  pool.open = false;
  while (pool.n_busy)
    pthread_cond_wait(&pool.done, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
  pthread_mutex_unlock(&pool.turn);
  return true;
}

/* ---- bands of a GEMM ---- */

typedef struct bands {
  tprt__vectors vectors;
  bool wide, by_rows;
  tprt__gemm_args args;
  int64_t n_units, unit, n_bands; /* in units of so many columns or rows */
} bands;

static void run_band(const void *data, int64_t band, void *scratch) {
  const bands *all = data;
  size_t size = all->wide ? sizeof(double) : sizeof(float);
  tprt__gemm_args g = all->args;
  int64_t begin = band * all->n_units / all->n_bands * all->unit,
          end = (band + 1) * all->n_units / all->n_bands * all->unit,
          *length = all->by_rows ? &g.m : &g.n;
  *length = tprt__min(end, *length) - begin;
  if (all->by_rows) {
    g.a = (const char *)g.a + (size_t)(g.transpose_a ? begin : begin * g.lda) * size;
    g.c = (char *)g.c + (size_t)(begin * g.ldc) * size;
  } else {
    g.b = (const char *)g.b + (size_t)(g.transpose_b ? begin * g.ldb : begin) * size;
    g.c = (char *)g.c + (size_t)begin * size;
  }
  g.scratch = scratch;
  tprt__gemm_own(all->vectors, all->wide, &g);
}

/* Divides the longer of columns and rows, in multiples of the kernels' strip width or tile height,
 * into about as many bands for each thread. */
static void divide(int threads, bands *all) {
  enum { STRIP = 32, ROWS = 28 };
  const tprt__gemm_args *g = &all->args;
  all->by_rows = g->m > g->n;
  all->unit = all->by_rows ? ROWS : STRIP;
  int64_t length = all->by_rows ? g->m : g->n,
          n = tprt__min(BANDS_A_THREAD, length / threads / (g->m > FEW_ROWS ? MIN_BAND : MIN_READ));
  all->n_units = (length + all->unit - 1) / all->unit;
  all->n_bands = tprt__min((n > 0 ? n : 1) * threads, all->n_units);
}

void tprt__gemm_on_threads(int threads, tprt__vectors vectors, bool wide,
                           const tprt__gemm_args *args) {
  bands all = {.vectors = vectors, .wide = wide, .args = *args};
  divide(threads, &all);
  if (args->m * args->n * args->k < TPRT__POOL_WORK ||
      !tprt__pool_run(threads, run_band, &all, all.n_bands, args->scratch))
    tprt__gemm_own(vectors, wide, args);
}
