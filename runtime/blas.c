/* OpenBLAS, if it is there.
 *
 * Its thread count is one number per process. With one thread, products of several ranks run side by side; with more, the
 * library's own pool is one resource that calls have to take in turn, so they do. A change of the number waits for the
 * products that run. */
#define _GNU_SOURCE 1
#include "blas.h"
#include "env.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 }; /* of cblas.h */

typedef void sgemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                      int ldb, float beta, float *c, int ldc);
typedef void dgemm_fn(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b,
                      int ldb, double beta, double *c, int ldc);
typedef void set_threads_fn(int n);
typedef char *corename_fn(void);

static struct {
  pthread_once_t once;
  tprt_status status;
  char message[256]; /* of status; the text of the first call may be another thread's */
  sgemm_fn *sgemm;
  dgemm_fn *dgemm;
  set_threads_fn *set_threads;
  bool has_avx512;       /* kernels for it */
  pthread_rwlock_t lock; /* shared by products that run alone in their thread; exclusive for all else */
  int n_threads;
} blas = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_RWLOCK_INITIALIZER};

/* A library that does not know the processor, or that was told to, takes kernels of an older one. */
static bool has_avx512_kernels(void *library) {
  static const char *const names[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
  corename_fn *corename = (corename_fn *)(uintptr_t)dlsym(library, "openblas_get_corename");
  for (size_t i = 0; corename && i < sizeof names / sizeof *names; i++) {
    if (strcmp(corename(), names[i]) == 0)
      return true;
  }
  return false;
}

/* Where memory is refused, OpenBLAS asks again without end. */
static bool has_limited_space(void) {
  struct rlimit space;
  return getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
}

/* A library that was asked for by name has to be there. */
static void refuse(const char *path, const char *why) {
  blas.status = TPRT_INVALID_ARGUMENT;
  snprintf(blas.message, sizeof blas.message, "TPRT_BLAS_LIBRARY: %s %s", path, why);
}

static void load(void) {
  int64_t enabled;
  const char *named = tprt__env_text(TPRT__ENV_BLAS_LIBRARY);
  blas.status = tprt__env_number(TPRT__ENV_BLAS, 1, &enabled);
  if (blas.status)
    snprintf(blas.message, sizeof blas.message, "TPRT_BLAS must be 0 or 1");
  if (blas.status || !enabled || (!named && has_limited_space()))
    return;
  void *library = dlopen(named ? named : "libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    if (named)
      refuse(named, "cannot be loaded");
    return;
  }
  sgemm_fn *sgemm = (sgemm_fn *)(uintptr_t)dlsym(library, "cblas_sgemm");
  dgemm_fn *dgemm = (dgemm_fn *)(uintptr_t)dlsym(library, "cblas_dgemm");
  set_threads_fn *set_threads = (set_threads_fn *)(uintptr_t)dlsym(library, "openblas_set_num_threads");
  if (!sgemm || !dgemm || !set_threads) {
    if (named)
      refuse(named, "lacks cblas_sgemm, cblas_dgemm or openblas_set_num_threads");
    dlclose(library);
    return;
  }
  set_threads(1);
  blas.n_threads = 1;
  blas.sgemm = sgemm;
  blas.dgemm = dgemm;
  blas.set_threads = set_threads;
  blas.has_avx512 = has_avx512_kernels(library);
}

tprt_status tprt__blas_start(void) {
  pthread_once(&blas.once, load);
  return blas.status ? tprt__fail(blas.status, "%s", blas.message) : TPRT_OK;
}

const char *tprt__blas_name(void) { return blas.sgemm ? "openblas" : "built-in"; }

void tprt__blas_set_threads(int n) {
  if (!blas.set_threads)
    return;
  pthread_rwlock_wrlock(&blas.lock);
  if (blas.n_threads != n) {
    blas.set_threads(n);
    blas.n_threads = n;
  }
  pthread_rwlock_unlock(&blas.lock);
}

static bool fits_int(const tprt__gemm_args *args) {
  return args->m <= INT_MAX && args->n <= INT_MAX && args->k <= INT_MAX && args->lda <= INT_MAX && args->ldb <= INT_MAX &&
         args->ldc <= INT_MAX;
}

static void call(bool wide, const tprt__gemm_args *g) {
  int ta = g->transpose_a ? TRANSPOSE : NO_TRANSPOSE, tb = g->transpose_b ? TRANSPOSE : NO_TRANSPOSE;
  int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
  if (wide) {
    blas.dgemm(ROW_MAJOR, ta, tb, m, n, k, 1.0, g->a, lda, g->b, ldb, g->overwrite ? 0.0 : 1.0, g->c, ldc);
  } else {
    blas.sgemm(ROW_MAJOR, ta, tb, m, n, k, 1.0f, g->a, lda, g->b, ldb, g->overwrite ? 0.0f : 1.0f, g->c, ldc);
  }
}

/* Measured against the library's kernels for AVX-512: those win where a product is small, or its last columns fill little of a strip. */
static bool prefers_blocked(const tprt__gemm_args *g) {
  enum { MIN_WORK = 1 << 19, COLUMNS = 32 };
  if (!blas.sgemm || !blas.has_avx512)
    return true;
  int64_t columns = (g->n + COLUMNS - 1) / COLUMNS * COLUMNS;
  return g->m * g->n * g->k >= MIN_WORK && columns - g->n <= columns / 16;
}

/* One thread. */
static bool multiply_ourselves(const tprt__gemm_args *g) {
  return tprt__gemm_skinny_f32(TPRT__AVX512, g) || (prefers_blocked(g) && tprt__gemm_blocked_f32(g));
}

static void multiply(bool wide, const tprt__gemm_args *args) {
  /* Below this the call costs more than the product. */
  bool tiny = args->m * args->n <= 64 && args->k <= 16;
  if (!blas.sgemm || tiny || !fits_int(args)) {
    (wide ? tprt__gemm_loops_f64 : tprt__gemm_loops_f32)(args);
  } else {
    call(wide, args);
  }
}

void tprt__gemm(bool wide, const tprt__gemm_args *args) {
  if (args->m == 0 || args->n == 0 || args->k == 0)
    return;
  pthread_rwlock_rdlock(&blas.lock);
  bool alone = blas.n_threads <= 1; /* 0: no library */
  if (alone && (wide || !multiply_ourselves(args)))
    multiply(wide, args);
  pthread_rwlock_unlock(&blas.lock);
  if (alone)
    return;
  pthread_rwlock_wrlock(&blas.lock);
  multiply(wide, args);
  pthread_rwlock_unlock(&blas.lock);
}
