/* Tests the library's own GEMM kernels. Every kernel, with every kind of vectors and on several
 * threads, must be bitwise equal to the order that blas.h specifies, computed here element by
 * element; so must every part of a whole. Also tests which GEMMs a kernel declines, and rounding
 * errors. */
#define _GNU_SOURCE 1
#include "cpu/blas.h"
#include "test/runtime/harness/harness.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct shape {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  int64_t slack; /* padding of leading dimensions */
  bool overwrite;
} shape;

/* Arrays that end with their last element, for the address sanitizer. */
typedef struct operands {
  bool wide;
  tprt__gemm_args g;
  char *a, *b, *c, *before; /* before: initial C */
  int64_t n_c;
} operands;

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  assert_non_null(memory);
  return memory;
}

static void put(bool wide, void *to, int64_t i, double value) {
  if (wide) {
    ((double *)to)[i] = value;
  } else {
    ((float *)to)[i] = (float)value;
  }
}

static double get(bool wide, const void *from, int64_t i) {
  return wide ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

static char *random_numbers(bool wide, int64_t n, uint64_t *seed) {
  char *x = allocate((size_t)n * (wide ? sizeof(double) : sizeof(float)));
  for (int64_t i = 0; i < n; i++)
    put(wide, x, i, (double)(test_random(seed) % 2000003) / 1000001.0 - 1.0);
  return x;
}

static operands make_operands(bool wide, shape s, uint64_t seed) {
  operands o = {.wide = wide};
  int64_t rows_a = s.transpose_a ? s.k : s.m, columns_a = s.transpose_a ? s.m : s.k;
  int64_t rows_b = s.transpose_b ? s.n : s.k, columns_b = s.transpose_b ? s.k : s.n;
  o.g = (tprt__gemm_args){
      .transpose_a = s.transpose_a, .transpose_b = s.transpose_b, .m = s.m, .n = s.n, .k = s.k};
  o.g.overwrite = s.overwrite;
  o.g.lda = columns_a + s.slack;
  o.g.ldb = columns_b + s.slack;
  o.g.ldc = s.n + s.slack;
  o.n_c = (s.m - 1) * o.g.ldc + s.n;
  o.a = random_numbers(wide, (rows_a - 1) * o.g.lda + columns_a, &seed);
  o.b = random_numbers(wide, (rows_b - 1) * o.g.ldb + columns_b, &seed);
  o.c = random_numbers(wide, o.n_c, &seed);
  o.before = random_numbers(wide, o.n_c, &seed);
  for (int64_t i = 0; s.overwrite && i < o.n_c; i++) { /* the contents must not be read */
    if (i % o.g.ldc < s.n)
      put(wide, o.before, i, NAN);
  }
  o.g.a = o.a;
  o.g.b = o.b;
  o.g.c = o.c;
  o.g.scratch = aligned_alloc(64, tprt__round_up(tprt__gemm_scratch() + 1, 64));
  assert_non_null(o.g.scratch);
  return o;
}

static void free_operands(operands *o) {
  free(o->a);
  free(o->b);
  free(o->c);
  free(o->before);
  free(o->g.scratch);
}

static size_t size_of(const operands *o) { return o->wide ? sizeof(double) : sizeof(float); }
static void begin(operands *o) { memcpy(o->c, o->before, (size_t)o->n_c * size_of(o)); }

static int64_t at_a(const tprt__gemm_args *g, int64_t row, int64_t q) {
  return g->transpose_a ? q * g->lda + row : row * g->lda + q;
}
static int64_t at_b(const tprt__gemm_args *g, int64_t q, int64_t column) {
  return g->transpose_b ? column * g->ldb + q : q * g->ldb + column;
}

/* Returns x * y + sum in the element type, with one rounding or with two. */
static double step(bool wide, bool fused, double x, double y, double sum) {
  if (wide)
    return fused ? fma(x, y, sum) : sum + x * y;
  float product = (float)x * (float)y;
  return (double)(fused ? fmaf((float)x, (float)y, (float)sum) : (float)sum + product);
}

static double add(bool wide, double x, double y) {
  return wide ? x + y : (double)((float)x + (float)y);
}

/* Computes C in the order of blas.h. */
static char *expected_c(const operands *o, bool fused) {
  const tprt__gemm_args *g = &o->g;
  char *c = allocate((size_t)o->n_c * size_of(o));
  memcpy(c, o->before, (size_t)o->n_c * size_of(o));
  for (int64_t i = 0; i < g->m; i++) {
    for (int64_t j = 0; j < g->n; j++) {
      double total = get(o->wide, c, i * g->ldc + j);
      for (int64_t q = 0; q < g->k;) {
        bool first = q == 0;
        double sum = 0;
        for (int64_t end = tprt__min(q + TPRT__SUM_STEPS, g->k); q < end; q++)
          sum = step(o->wide, fused, get(o->wide, o->a, at_a(g, i, q)),
                     get(o->wide, o->b, at_b(g, q, j)), sum);
        total = first && g->overwrite ? sum : add(o->wide, total, sum);
      }
      put(o->wide, c, i * g->ldc + j, total);
    }
  }
  return c;
}

typedef bool kernel_fn(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

static bool loops(tprt__vectors vectors, bool wide, const tprt__gemm_args *args) {
  tprt__gemm_loops(vectors, wide, args);
  return true;
}

static bool own(tprt__vectors vectors, bool wide, const tprt__gemm_args *args) {
  tprt__gemm_own(vectors, wide, args);
  return true;
}

static bool on_threads(tprt__vectors vectors, bool wide, const tprt__gemm_args *args) {
  tprt__gemm_on_threads(3, vectors, wide, args);
  return true;
}

enum { LOOPS, SKINNY, BLOCKED, OWN, ON_THREADS, N_KERNELS };
static const struct {
  const char *name;
  kernel_fn *fn;
} kernels[N_KERNELS] = {[LOOPS] = {"loops", loops},
                        [SKINNY] = {"skinny", tprt__gemm_skinny},
                        [BLOCKED] = {"blocked", tprt__gemm_blocked},
                        [OWN] = {"own", own},
                        [ON_THREADS] = {"threads", on_threads}};

/* Number of GEMMs per kernel. */
static _Atomic int n_done[N_KERNELS][TPRT__N_VECTORS];

#if defined(__FP_FAST_FMAF)
static bool is_fused(tprt__vectors vectors) { return (void)vectors, true; }
#else
static bool is_fused(tprt__vectors vectors) { return vectors != TPRT__PLAIN; }
#endif

static void check_kernels(bool wide, shape s, uint64_t seed) {
  operands o = make_operands(wide, s, seed);
  char *expected[] = {expected_c(&o, false), expected_c(&o, true)};
  for (int v = tprt__gemm_vectors(); v < TPRT__N_VECTORS; v++) {
    for (int k = 0; k < N_KERNELS; k++) {
      begin(&o);
      bool done = kernels[k].fn((tprt__vectors)v, wide, &o.g);
      n_done[k][v] += done;
      if (memcmp(o.c, done ? expected[is_fused((tprt__vectors)v)] : o.before,
                 (size_t)o.n_c * size_of(&o)))
        fail_msg("%s, vectors %d, f%d: %lld x %lld x %lld%s%s%s has other bits", kernels[k].name, v,
                 wide ? 64 : 32, (long long)s.m, (long long)s.n, (long long)s.k,
                 s.transpose_a ? ", A transposed" : "", s.transpose_b ? ", B transposed" : "",
                 s.overwrite ? ", overwritten" : "");
    }
  }
  free(expected[0]);
  free(expected[1]);
  free_operands(&o);
}

/* Shapes at the boundaries of tiles, strips, squares and blocks, in all forms. */
static void test_edges(void **state) {
  (void)state;
  static const shape shapes[] = {
      {1, 1, 1, 0, 0, 0, 0},      {1, 400, 70, 0, 0, 0, 0},   {27, 64, 40, 0, 0, 0, 0},
      {97, 33, 600, 0, 0, 3, 0},  {257, 40, 513, 0, 0, 0, 0}, {60, 95, 96, 0, 0, 1, 0},
      {40, 31, 1200, 0, 0, 0, 0}, {14, 256, 16, 0, 0, 0, 0},  {15, 160, 17, 0, 0, 16, 0},
      {300, 16, 31, 0, 0, 2, 0},  {22, 128, 530, 0, 0, 0, 0}, {3, 515, 71, 0, 0, 0, 0},
      {8, 33, 1030, 0, 0, 1, 0},  {32, 640, 130, 0, 0, 0, 0}, {5, 300, 257, 0, 0, 0, 0},
      {2, 33, 4099, 0, 0, 0, 0},  {1, 70, 2048, 0, 0, 0, 0},  {4, 1040, 256, 0, 0, 0, 0}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    for (int form = 0; form < 8; form++) {
      shape s = shapes[i];
      s.transpose_a = form & 1;
      s.transpose_b = form & 2;
      s.overwrite = form & 4;
      check_kernels(i & 1, s, i);
      check_kernels(!(i & 1), s, i);
    }
  }
  for (int64_t rows = 1; rows <= 30; rows++)
    check_kernels(rows & 1, (shape){rows, 1200, 33, false, false, 0, rows & 2}, 1);
  for (int v = tprt__gemm_vectors(); v < TPRT__PLAIN; v++)
    assert_true(n_done[SKINNY][v] > 50 && n_done[BLOCKED][v] > 100);
}

static void test_random_shapes(void **state) {
  (void)state;
  uint64_t seed = 11;
  int n = getenv("TP_LONG") ? 2000 : 60;
  for (int i = 0; i < n; i++) {
    static const int64_t limits[] = {4, 40, 300};
    shape s = {.m = 1 + (int64_t)(test_random(&seed) % (uint64_t)limits[test_random(&seed) % 3]),
               .n = 1 + (int64_t)(test_random(&seed) % (uint64_t)limits[test_random(&seed) % 3]),
               .k = 1 +
                    (int64_t)(test_random(&seed) % (uint64_t)(2 * limits[test_random(&seed) % 3]))};
    uint64_t form = test_random(&seed);
    s.transpose_a = form & 1;
    s.transpose_b = form & 2;
    s.overwrite = form & 4;
    s.slack = (int64_t)(form >> 3) % 3;
    check_kernels(form >> 10 & 1, s, form);
  }
}

/* Rows and columns of a GEMM are bitwise equal to those of the whole, wherever it is split: ranks
 * that share one agree with a single rank. */
static void test_parts(void **state) {
  (void)state;
  static const int64_t rows[] = {0, 1, 9, 130, 139, 300}, columns[] = {0, 77, 78, 90, 200};
  for (int form = 0; form < 8; form++) {
    bool wide = form & 4;
    shape s = {300, 200, 1100, form & 1, form & 2, 0, false};
    operands o = make_operands(wide, s, 5);
    begin(&o);
    tprt__gemm_own(tprt__gemm_vectors(), wide, &o.g);
    char *whole = allocate((size_t)o.n_c * size_of(&o));
    memcpy(whole, o.c, (size_t)o.n_c * size_of(&o));
    begin(&o);
    for (int i = 0; i < 5; i++) {
      for (int j = 0; j < 4; j++) {
        tprt__gemm_args g = o.g;
        g.m = rows[i + 1] - rows[i];
        g.n = columns[j + 1] - columns[j];
        g.a = o.a + (size_t)at_a(&o.g, rows[i], 0) * size_of(&o);
        g.b = o.b + (size_t)at_b(&o.g, 0, columns[j]) * size_of(&o);
        g.c = o.c + (size_t)(rows[i] * g.ldc + columns[j]) * size_of(&o);
        tprt__gemm_on_threads(1 + (i + j) % 2, tprt__gemm_vectors(), wide, &g);
      }
    }
    assert_memory_equal(o.c, whole, (size_t)o.n_c * size_of(&o));
    free(whole);
    free_operands(&o);
  }
}

/* Blocked sums keep errors small: a single chain of 512 fused steps has an error of 1.1e-6 of the
 * largest element. */
static void test_accuracy(void **state) {
  (void)state;
  enum { N = 512 };
  for (uint64_t seed = 1; seed <= 2; seed++) {
    operands o = make_operands(false, (shape){N, N, N, false, seed == 2, 0, true}, seed);
    uint64_t random = seed;
    for (int64_t i = 0; i < N * N; i++) { /* standard normal (Box-Muller) */
      double radius = sqrt(-2 * log(((double)(test_random(&random) % 1000003) + 1) / 1000004));
      double angle =
          2 * 3.14159265358979323846 * (double)(test_random(&random) % 1000003) / 1000003;
      put(false, o.a, i, radius * cos(angle));
      put(false, o.b, i, radius * sin(angle));
    }
    for (int64_t i = N * N - 1; i > 0; i--) { /* otherwise A and B would have the same radii */
      float *b = (float *)o.b, kept = b[i];
      int64_t other = (int64_t)(test_random(&random) % (uint64_t)(i + 1));
      b[i] = b[other];
      b[other] = kept;
    }
    tprt__gemm_own(tprt__gemm_vectors(), false, &o.g);
    double error = 0, largest = 0;
    for (int64_t i = 0; i < N; i++) {
      for (int64_t j = 0; j < N; j++) {
        double sum = 0;
        for (int64_t q = 0; q < N; q++)
          sum += get(false, o.a, at_a(&o.g, i, q)) * get(false, o.b, at_b(&o.g, q, j));
        error = fmax(error, fabs(sum - get(false, o.c, i * N + j)));
        largest = fmax(largest, fabs(sum));
      }
    }
    if (!(error <= 5.1e-7 * largest))
      fail_msg("the largest error is %.2g of the largest element", error / largest);
    free_operands(&o);
  }
}

static void test_left_to_others(void **state) {
  (void)state;
  static const struct {
    kernel_fn *fn;
    shape s;
  } cases[] = {{tprt__gemm_skinny, {33, 600, 300, false, false, 0, false}},
               {tprt__gemm_skinny, {9, 600, 300, false, true, 0, false}},
               {tprt__gemm_skinny, {8, 4000, 63, false, false, 0, false}},
               {tprt__gemm_skinny, {8, 100, 100, false, false, 0, false}},
               {tprt__gemm_blocked, {30, 30, 30, false, false, 0, false}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    operands o = make_operands(false, cases[i].s, 1);
    assert_false(cases[i].fn(tprt__gemm_vectors(), false, &o.g));
    free_operands(&o);
  }
  operands o = make_operands(false, (shape){64, 64, 64, false, false, 0, false}, 1);
  assert_false(tprt__gemm_blocked(TPRT__PLAIN, false, &o.g));
  void *scratch = o.g.scratch;
  o.g.scratch = NULL;
  assert_false(tprt__gemm_blocked(tprt__gemm_vectors(), false, &o.g));
  o.g.scratch = scratch;
  free_operands(&o);
}

/* Several callers at once: one uses the pool, the others compute alone. */
static void *call_often(void *unused) {
  (void)unused;
  for (uint64_t seed = 0; seed < 10; seed++)
    check_kernels(seed & 1, (shape){150, 130, 140, seed & 2, seed & 4, 0, true}, seed);
  return NULL;
}

static void test_callers(void **state) {
  (void)state;
  enum { N = 3 };
  pthread_t threads[N];
  for (int i = 0; i < N; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, NULL), 0);
  for (int i = 0; i < N; i++)
    pthread_join(threads[i], NULL);
}

/* A forked child has no pool threads, and creates its own. */
static void test_fork(void **state) {
  (void)state;
#if defined(__SANITIZE_THREAD__)
  skip(); /* the sanitizer does not support fork with several threads */
#endif
  call_often(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60);
    call_often(NULL);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* A scheduler may wake a thread of the pool on its caller's processor, where it waits for the
 * caller to end. So threads may run on all processors but that one. */
static void test_placement(void **state) {
  (void)state;
  cpu_set_t all, now;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2)
    skip();
  call_often(NULL);
  DIR *threads = opendir("/proc/self/task");
  assert_non_null(threads);
  int n_placed = 0;
  for (struct dirent *entry; (entry = readdir(threads));) {
    int thread = atoi(entry->d_name);
    if (thread > 0 && sched_getaffinity(thread, sizeof now, &now) == 0)
      n_placed += CPU_COUNT(&now) == CPU_COUNT(&all) - 1;
  }
  closedir(threads);
  assert_true(n_placed > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_edges),          cmocka_unit_test(test_random_shapes),
      cmocka_unit_test(test_parts),          cmocka_unit_test(test_accuracy),
      cmocka_unit_test(test_left_to_others), cmocka_unit_test(test_callers),
      cmocka_unit_test(test_fork),           cmocka_unit_test(test_placement),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
