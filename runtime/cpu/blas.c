/* Loads and calls OpenBLAS, if it is installed.
 *
 * OpenBLAS has one thread count per process. With one thread, GEMMs of several ranks run
 * concurrently. With more threads, the library's own thread pool serves one call at a time, so the
 * calls are serialized. A change of the thread count waits for running GEMMs. */
#define _GNU_SOURCE 1
#include "cpu/blas.h"
#include "base/env.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 }; /* from cblas.h */

typedef void sgemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                      int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void dgemm_fn(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a,
                      int lda, const double *b, int ldb, double beta, double *c, int ldc);
typedef void set_threads_fn(int n);
typedef char *text_fn(void);

static struct {
  pthread_once_t once;
  tprt_status status;
  char message[256]; /* text for `status`; the first call may have been made by another thread */
  char config[256];
  sgemm_fn *sgemm;
  dgemm_fn *dgemm;
  set_threads_fn *set_threads;
  /* shared by single-threaded GEMMs; exclusive for all others and for changes of the thread
   * count */
  pthread_rwlock_t lock;
  int n_threads;
} blas = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_RWLOCK_INITIALIZER};

/* True if the address space is limited. If memory is refused, OpenBLAS retries forever. */
static bool has_limited_space(void) {
  struct rlimit space;
  return getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
}

/* Reports that a library that the user requested is unusable. */
static void refuse(const char *named, const char *path, const char *why) {
  blas.status = TPRT_INVALID_ARGUMENT;
  snprintf(blas.message, sizeof blas.message, "%s: %s %s",
           named ? "TPRT_BLAS_LIBRARY" : "TPRT_GEMM=openblas", path, why);
}

static const char *text_of(void *library, const char *name) {
  text_fn *fn = (text_fn *)(uintptr_t)dlsym(library, name);
  const char *text = fn ? fn() : NULL;
  return text ? text : "unknown";
}

static void load(void) {
  int64_t choice;
  const char *named = tprt__env_text(TPRT__ENV_BLAS_LIBRARY);
  blas.status = tprt__env_number(TPRT__ENV_GEMM, TPRT__GEMM_AUTO, &choice);
  if (blas.status)
    snprintf(blas.message, sizeof blas.message, "%s", tprt_last_error());
  bool asked = named || choice == TPRT__GEMM_OPENBLAS;
  if (blas.status || choice == TPRT__GEMM_BUILT_IN || (!asked && has_limited_space()))
    return;
  const char *path = named ? named : "libopenblas.so.0";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    if (asked)
      refuse(named, path, "cannot be loaded");
    return;
  }
  sgemm_fn *sgemm = (sgemm_fn *)(uintptr_t)dlsym(library, "cblas_sgemm");
  dgemm_fn *dgemm = (dgemm_fn *)(uintptr_t)dlsym(library, "cblas_dgemm");
  set_threads_fn *set_threads =
      (set_threads_fn *)(uintptr_t)dlsym(library, "openblas_set_num_threads");
  if (!sgemm || !dgemm || !set_threads) {
    if (asked)
      refuse(named, path, "lacks cblas_sgemm, cblas_dgemm or openblas_set_num_threads");
    dlclose(library);
    return;
  }
  set_threads(1);
  blas.n_threads = 1;
  snprintf(blas.config, sizeof blas.config, "%s, %s", text_of(library, "openblas_get_config"),
           text_of(library, "openblas_get_corename"));
  blas.sgemm = sgemm;
  blas.dgemm = dgemm;
  blas.set_threads = set_threads;
}

tprt_status tprt__blas_start(void) {
  pthread_once(&blas.once, load);
  return blas.status ? tprt__fail(blas.status, "%s", blas.message) : TPRT_OK;
}

bool tprt__blas_is_loaded(void) { return blas.sgemm; }
const char *tprt__blas_config(void) { return blas.config; }

static void call(bool wide, const tprt__gemm_args *g) {
  int ta = g->transpose_a ? TRANSPOSE : NO_TRANSPOSE,
      tb = g->transpose_b ? TRANSPOSE : NO_TRANSPOSE;
  int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = (int)g->lda, ldb = (int)g->ldb,
      ldc = (int)g->ldc;
  if (wide) {
    blas.dgemm(ROW_MAJOR, ta, tb, m, n, k, 1.0, g->a, lda, g->b, ldb, g->overwrite ? 0.0 : 1.0,
               g->c, ldc);
  } else {
    blas.sgemm(ROW_MAJOR, ta, tb, m, n, k, 1.0f, g->a, lda, g->b, ldb, g->overwrite ? 0.0f : 1.0f,
               g->c, ldc);
  }
}

/* Takes a read lock under which the library has one thread. Returns false if the GEMM is to use
 * more. */
static bool lock_for_one(int threads) {
  if (threads > 1)
    return false;
  pthread_rwlock_rdlock(&blas.lock);
  while (blas.n_threads != 1) {
    pthread_rwlock_unlock(&blas.lock);
    pthread_rwlock_wrlock(&blas.lock);
    blas.set_threads(1);
    blas.n_threads = 1;
    pthread_rwlock_unlock(&blas.lock);
    pthread_rwlock_rdlock(&blas.lock);
  }
  return true;
}

void tprt__blas_gemm(int threads, bool wide, const tprt__gemm_args *args) {
  if (!lock_for_one(threads)) {
    pthread_rwlock_wrlock(&blas.lock);
    if (blas.n_threads != threads)
      blas.set_threads(threads);
    blas.n_threads = threads;
  }
  call(wide, args);
  pthread_rwlock_unlock(&blas.lock);
}

static bool fits_int(const tprt__gemm_args *args) {
  return args->m <= INT_MAX && args->n <= INT_MAX && args->k <= INT_MAX && args->lda <= INT_MAX &&
         args->ldb <= INT_MAX && args->ldc <= INT_MAX;
}

bool tprt__gemm_uses_library(const tprt__gemm_settings *how, bool wide,
                             const tprt__gemm_args *args) {
  return how->library >> tprt__gemm_class(wide, args->k) & 1 && blas.sgemm && fits_int(args);
}

void tprt__gemm(const tprt__gemm_settings *how, bool wide, const tprt__gemm_args *args) {
  if (args->m == 0 || args->n == 0 || args->k == 0)
    return;
  if (tprt__gemm_uses_library(how, wide, args)) {
    tprt__blas_gemm(how->threads, wide, args);
    return;
  }
  tprt__gemm_args own = *args;
  own.scratch = how->scratch;
  tprt__gemm_on_threads(how->threads, tprt__gemm_vectors(), wide, &own);
}
