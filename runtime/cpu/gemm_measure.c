/* Times OpenBLAS against the built-in GEMM kernels, and tests whether splitting a GEMM changes
 * OpenBLAS's bits. */
#include "cpu/gemm_choice.h"

#include <math.h>

/* Timing a class takes BUDGET_NS nanoseconds, or LEAST_ROUNDS rounds if these take longer. */
enum { ROUNDS = 5, MIN_ROUNDS = 2, BUDGET_NS = 30 * 1000 * 1000 };

enum { MAX_ROWS = 256, MAX_COLUMNS = 512, MAX_K = 1000 };

typedef struct probe {
  char *a, *b, *c, *whole;
  void *scratch;
} probe;

static void free_probe(probe *p) {
  tprt__free(p->a);
  tprt__free(p->b);
  tprt__free(p->c);
  tprt__free(p->whole);
  tprt__free_aligned(p->scratch);
}

/* Numbers in [-1, 1) that use all bits of their type: sums of products of shorter ones may be exact
 * in f64, in any order. The generator is that of Knuth, MMIX. */
static void fill(bool wide, char *to, int64_t n, uint64_t seed) {
  for (int64_t i = 0; i < n; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double value = (double)(seed >> 11) / (double)(INT64_C(1) << 52) - 1;
    if (wide) {
      ((double *)to)[i] = value;
    } else {
      ((float *)to)[i] = (float)value;
    }
  }
}

static bool make_probe(bool wide, probe *p) {
  size_t size = wide ? sizeof(double) : sizeof(float);
  *p = (probe){.a = tprt__alloc(MAX_ROWS * MAX_K * size),
               .b = tprt__alloc(MAX_COLUMNS * MAX_K * size),
               .c = tprt__alloc(MAX_ROWS * MAX_COLUMNS * size),
               .whole = tprt__alloc(MAX_ROWS * MAX_COLUMNS * size)};
  if (!p->a || !p->b || !p->c || !p->whole ||
      tprt__alloc_aligned(tprt__gemm_scratch() + 1, &p->scratch))
    return false;
  fill(wide, p->a, MAX_ROWS * MAX_K, 1);
  fill(wide, p->b, MAX_COLUMNS * MAX_K, 2);
  return true;
}

/* ---- bits ---- */

static bool is_shape_split_invariant(int threads, bool wide, const probe *p, int64_t k,
                                     bool transpose_a, bool transpose_b) {
  static const int64_t rows[] = {0, 1, 6, 131}, columns[] = {0, 1, 18, 203};
  enum { PARTS = 3 };
  size_t size = wide ? sizeof(double) : sizeof(float);
  int64_t m = rows[PARTS], n = columns[PARTS];
  tprt__gemm_args g = {
      .transpose_a = transpose_a, .transpose_b = transpose_b, .m = m, .n = n, .k = k, .ldc = n};
  g.a = p->a;
  g.b = p->b;
  g.c = p->whole;
  g.lda = transpose_a ? m : k;
  g.ldb = transpose_b ? k : n;
  g.overwrite = true;
  tprt__blas_gemm(threads, wide, &g);
  for (int i = 0; i < PARTS; i++) {
    for (int j = 0; j < PARTS; j++) {
      tprt__gemm_args part = g;
      part.m = rows[i + 1] - rows[i];
      part.n = columns[j + 1] - columns[j];
      part.a = p->a + (size_t)(transpose_a ? rows[i] : rows[i] * g.lda) * size;
      part.b = p->b + (size_t)(transpose_b ? columns[j] * g.ldb : columns[j]) * size;
      part.c = p->c + (size_t)(rows[i] * n + columns[j]) * size;
      tprt__blas_gemm(threads, wide, &part);
    }
  }
  return memcmp(p->c, p->whole, (size_t)(m * n) * size) == 0;
}

static bool is_split_invariant(int threads, bool wide, bool is_long, const probe *p) {
  static const int64_t lengths[2][3] = {{7, 64, TPRT__GEMM_SHORT},
                                        {TPRT__GEMM_SHORT + 1, 512, MAX_K}};
  for (int i = 0; i < 3; i++) {
    for (int form = 0; form < 4; form++) {
      if (!is_shape_split_invariant(threads, wide, p, lengths[is_long][i], form & 1, form & 2))
        return false;
    }
  }
  return true;
}

/* ---- times ---- */

static int64_t time_of(bool library, int threads, bool wide, const tprt__gemm_args *g) {
  int64_t begin = tprt__now();
  if (library) {
    tprt__blas_gemm(threads, wide, g);
  } else {
    tprt__gemm_on_threads(threads, tprt__gemm_vectors(), wide, g);
  }
  return tprt__now() - begin + 1;
}

/* Returns OpenBLAS's time divided by the built-in kernels' time: the geometric mean over a GEMM of
 * a model layer and a GEMM of a decoding step. Each time is the minimum over rounds in which the
 * two alternate. */
static double ratio(int threads, bool wide, bool is_long, const probe *p) {
  static const int64_t rows[] = {MAX_ROWS, 4};
  int64_t k = is_long ? 512 : TPRT__GEMM_SHORT;
  double product = 1;
  for (int i = 0; i < 2; i++) {
    const tprt__gemm_args g = {.m = rows[i],
                               .n = MAX_COLUMNS,
                               .k = k,
                               .a = p->a,
                               .b = p->b,
                               .c = p->c,
                               .lda = k,
                               .ldb = MAX_COLUMNS,
                               .ldc = MAX_COLUMNS,
                               .overwrite = true,
                               .scratch = p->scratch};
    int64_t least[2] = {INT64_MAX, INT64_MAX}, begin = tprt__now();
    for (int round = 0;
         round < ROUNDS && (round < MIN_ROUNDS || tprt__now() - begin < BUDGET_NS / 2); round++) {
      for (int library = 0; library < 2; library++)
        least[library] = tprt__min(least[library], time_of(library, threads, wide, &g));
    }
    product *= (double)least[true] / (double)least[false];
  }
  return sqrt(product);
}

/* At least 1, because 0 means not measured. */
static uint16_t percent_of(double part) { return (uint16_t)fmin(fmax(100 * part, 1), UINT16_MAX); }

bool tprt__gemm_measure(int threads, bool times, tprt__gemm_choice *choice) {
  choice->changes = 0;
  for (int wide = 0; wide < 2; wide++) {
    probe p;
    bool made = make_probe(wide, &p);
    for (int is_long = 0; is_long < 2 && made; is_long++) {
      int class = tprt__gemm_class(wide, is_long ? TPRT__GEMM_SHORT + 1 : 1);
      if (!is_split_invariant(threads, wide, is_long, &p))
        choice->changes |= 1u << class;
      if (times)
        choice->percent[class] = percent_of(ratio(threads, wide, is_long, &p));
    }
    free_probe(&p);
    if (!made)
      return false;
  }
  return true;
}
