/* Fake BLAS libraries for tests of the choice: C becomes zeros at once, or (FAKE_CUTS) the number
 * of its columns, so that parts differ from the whole, or (FAKE_ROUNDS, in f64) the product, whose
 * sums run downwards where it has few rows, so that parts are rounded otherwise. */
#include <stddef.h>

typedef void sized_fn(int n);

#define EXPORTED __attribute__((visibility("default")))
#ifdef FAKE_CUTS
#define VALUE n
#define NAME "fake that cuts"
#elif defined FAKE_ROUNDS
#define VALUE 0
#define NAME "fake that rounds"
#else
#define VALUE 0
#define NAME "fake"
#endif

#define DEFINE_GEMM(name, type)                                                                    \
  EXPORTED void name(int order, int ta, int tb, int m, int n, int k, type alpha, const type *a,    \
                     int lda, const type *b, int ldb, type beta, type *c, int ldc);                \
  void name(int order, int ta, int tb, int m, int n, int k, type alpha, const type *a, int lda,    \
            const type *b, int ldb, type beta, type *c, int ldc) {                                 \
    (void)order, (void)ta, (void)tb, (void)k, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb, \
        (void)beta;                                                                                \
    for (int i = 0; i < m; i++) {                                                                  \
      for (int j = 0; j < n; j++)                                                                  \
        c[(ptrdiff_t)i * ldc + j] = VALUE;                                                         \
    }                                                                                              \
  }
DEFINE_GEMM(cblas_sgemm, float)
#ifdef FAKE_ROUNDS
EXPORTED void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha,
                          const double *a, int lda, const double *b, int ldb, double beta,
                          double *c, int ldc);
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a,
                 int lda, const double *b, int ldb, double beta, double *c, int ldc) {
  enum { TRANSPOSED = 112, FEW = 10 };
  (void)order, (void)alpha, (void)beta;
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) {
        ptrdiff_t at = m < FEW ? k - 1 - l : l;
        sum += a[ta == TRANSPOSED ? at * lda + i : i * (ptrdiff_t)lda + at] *
               b[tb == TRANSPOSED ? j * (ptrdiff_t)ldb + at : at * ldb + j];
      }
      c[(ptrdiff_t)i * ldc + j] = sum;
    }
  }
}
#else
DEFINE_GEMM(cblas_dgemm, double)
#endif

EXPORTED void openblas_set_num_threads(int n);
void openblas_set_num_threads(int n) { (void)n; }
EXPORTED const char *openblas_get_config(void);
const char *openblas_get_config(void) { return NAME; }
