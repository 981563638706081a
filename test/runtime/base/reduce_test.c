/* Reductions with each kind of vectors against a plain loop over elements: every type and
 * reduction, lengths around a block and a line, any alignment, results in place and apart, around
 * the cache and through it. Stores around the cache, alone and in operations. */
#include "base/nontemporal.h"
#include "base/types.h"
#include "test/runtime/harness/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCES = 5, MAX_COUNT = 2200, SLACK = 128, ARRAY = MAX_COUNT * 16 + SLACK };

static unsigned char arrays[2 * MAX_SOURCES][ARRAY], expected[ARRAY];

/* Fills a buffer with numbers, zeros of both signs, infinities and NaN among random bits; for f64
 * and wider types, random bits are almost always numbers. */
static void fill(const tprt__dtype_info *type, unsigned char *at, int64_t count, uint64_t *seed) {
  for (size_t i = 0; i < (size_t)count * type->size; i++)
    at[i] = (unsigned char)(test_random(seed) >> 13);
  for (int64_t i = 0; i < count && !strcmp(type->name, "bool"); i++)
    at[i] &= 1;
  static const float specials[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.5f, -1.5f, 1.5f};
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits = test_random(seed) >> 20;
    float number = bits % 4 ? (float)(bits % 1000) - 500.0f : specials[bits / 4 % 8];
    double wide = (double)number;
    if (!strcmp(type->name, "f32") || !strcmp(type->name, "c64"))
      for (size_t part = 0; part < type->size; part += 4)
        memcpy(at + (size_t)i * type->size + part, &number, 4);
    if (!strcmp(type->name, "f64") || !strcmp(type->name, "c128"))
      for (size_t part = 0; part < type->size; part += 8)
        memcpy(at + (size_t)i * type->size + part, &wide, 8);
  }
}

/* Reduces element by element, with the table of plain loops, which the conformance tests compare
 * with an oracle. */
static void reduce_plainly(const tprt__dtype_info *type, tprt_reduction reduction,
                           const void *const *sources, int n, const tprt__scale *scales,
                           int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    _Alignas(16) unsigned char sum[16], next[16], both[16];
    for (int s = 0; s < n; s++) {
      const char *at = (const char *)sources[s] + (size_t)i * type->size;
      if (type->widen)
        type->widen(next, at, 1);
      else
        memcpy(next, at, type->size);
      if (reduction == TPRT_PREMUL_SUM)
        type->scale(next, scales[s].bytes, 1);
      if (s > 0)
        type->combine[reduction](both, sum, next, 1);
      memcpy(sum, s > 0 ? both : next, sizeof sum);
    }
    if (reduction == TPRT_AVG && n > 1)
      type->divide(sum, n, 1);
    if (type->narrow)
      type->narrow(expected + (size_t)i * type->size, sum, 1);
    else
      memcpy(expected + (size_t)i * type->size, sum, type->size);
  }
}

/* Returns true if the float at these bytes, as an accumulator, is a NaN: its payload may differ. */
static bool is_nan(const tprt__dtype_info *type, const unsigned char *at, size_t part) {
  float number;
  double wide;
  if (type->widen) {
    type->widen(&number, at, 1);
    return isnan(number);
  }
  memcpy(&number, at + part / 4 * 4, 4);
  memcpy(&wide, at + part / 8 * 8, 8);
  return !strcmp(type->name, "f32") || !strcmp(type->name, "c64")
             ? isnan(number)
             : (!strcmp(type->name, "f64") || !strcmp(type->name, "c128")) && isnan(wide);
}

static void expect_equal(const tprt__dtype_info *type, const char *what, const unsigned char *got,
                         int64_t count) {
  for (size_t i = 0; i < (size_t)count * type->size; i++) {
    size_t element = i / type->size * type->size;
    if (got[i] != expected[i] && !(is_nan(type, got + element, i % type->size) &&
                                   is_nan(type, expected + element, i % type->size)))
      fail_msg("%s %s: element %zu of %lld differs in byte %zu", type->name, what, i / type->size,
               (long long)count, i % type->size);
  }
}

typedef struct layout {
  int n_sources, n_destinations;
  bool in_place;
  int shift; /* array i starts i * shift bytes behind a cache line */
  int n_streamed;
} layout;

static void check(tprt__vectors vectors, tprt_dtype dtype, tprt_reduction reduction, layout l,
                  int64_t count, uint64_t *seed) {
  const tprt__dtype_info *type = tprt__dtype_info_for(vectors, dtype),
                         *plain = tprt__dtype_info_for(TPRT__PLAIN, dtype);
  const void *sources[MAX_SOURCES];
  void *destinations[MAX_SOURCES];
  tprt__scale scales[MAX_SOURCES];
  memset(scales, 0, sizeof scales);
  for (int i = 0; i < MAX_SOURCES; i++) {
    unsigned char *from = arrays[i] + i * l.shift,
                  *to = l.in_place ? from : arrays[MAX_SOURCES + i] + i * l.shift;
    fill(type, from, count, seed);
    sources[i] = from;
    destinations[i] = to;
    if (type->scale)
      fill(type->widen ? tprt__dtype_info_for(TPRT__PLAIN, TPRT_F32) : type, scales[i].bytes, 1,
           seed);
    memset(to + (size_t)count * type->size, 0xa5, SLACK / 2);
  }
  reduce_plainly(plain, reduction, sources, l.n_sources, scales, count);
  tprt__reduce(type, reduction, destinations, l.n_destinations, sources, l.n_sources, scales, count,
               l.n_streamed);
  tprt__stream_end();
  for (int i = 0; i < l.n_destinations; i++) {
    unsigned char *to = destinations[i];
    expect_equal(type, tprt_reduction_name(reduction), to, count);
    for (int b = 0; b < SLACK / 2; b++)
      assert_int_equal(to[(size_t)count * type->size + (size_t)b], 0xa5);
  }
}

static void check_all(tprt__vectors vectors) {
  static const layout layouts[] = {{2, 2, false, 0, 2}, {2, 2, true, 0, 2},  {3, 1, false, 1, 0},
                                   {5, 5, false, 3, 5}, {4, 4, false, 8, 2}, {1, 1, false, 0, 1},
                                   {3, 3, true, 5, 0},  {4, 2, false, 0, 1}, {3, 2, false, 0, 0},
                                   {4, 3, true, 0, 0},  {5, 3, false, 4, 0}};
  static const int64_t counts[] = {0, 1, 15, 33, 513, MAX_COUNT};
  uint64_t seed = 11;
  int n = 0;
  if (!tprt__vectors_here(vectors))
    skip();
  for (int dtype = 1; dtype < TPRT_N_DTYPES; dtype++) {
    for (int reduction = 1; reduction < TPRT_N_REDUCTIONS; reduction++) {
      if (!tprt_reduction_supports((tprt_reduction)reduction, (tprt_dtype)dtype))
        continue;
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        layout l = layouts[n++ % (int)(sizeof layouts / sizeof *layouts)];
        check(vectors, (tprt_dtype)dtype, (tprt_reduction)reduction, l, counts[c], &seed);
      }
    }
  }
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
      check(vectors, TPRT_F32, TPRT_SUM, layouts[i], counts[c], &seed);
  }
  assert_true(n > 700);
}

static void test_plain(void **state) {
  (void)state;
  check_all(TPRT__PLAIN);
}

static void test_avx2(void **state) {
  (void)state;
  check_all(TPRT__AVX2);
}

static void test_avx512(void **state) {
  (void)state;
  check_all(TPRT__AVX512);
}

/* Sources that are read in runs give what the same elements give side by side. */
static void check_runs(tprt_dtype dtype, tprt_reduction reduction, layout l, tprt__runs runs,
                       uint64_t *seed) {
  const tprt__dtype_info *type = tprt__dtype_info_get(dtype);
  static unsigned char gathered[MAX_SOURCES][ARRAY];
  const void *sources[MAX_SOURCES], *apart[MAX_SOURCES];
  void *destination = arrays[MAX_SOURCES] + l.shift;
  tprt__scale scales[MAX_SOURCES];
  memset(scales, 0, sizeof scales);
  for (int s = 0; s < l.n_sources; s++) {
    sources[s] = arrays[s] + s * l.shift;
    apart[s] = gathered[s];
    fill(type, arrays[s] + s * l.shift, runs.count / runs.run * runs.stride, seed);
    if (type->scale)
      fill(type->widen ? tprt__dtype_info_for(TPRT__PLAIN, TPRT_F32) : type, scales[s].bytes, 1,
           seed);
    for (int64_t i = 0; i < runs.count; i++)
      memcpy(gathered[s] + (size_t)i * type->size,
             (const char *)sources[s] +
                 (size_t)(i / runs.run * runs.stride + i % runs.run) * type->size,
             type->size);
  }
  memset((char *)destination + (size_t)runs.count * type->size, 0xa5, SLACK / 2);
  reduce_plainly(tprt__dtype_info_for(TPRT__PLAIN, dtype), reduction, apart, l.n_sources, scales,
                 runs.count);
  tprt__reduce_runs(type, reduction, &destination, 1, sources, l.n_sources, scales, &runs,
                    l.n_streamed);
  tprt__stream_end();
  expect_equal(type, "in runs", destination, runs.count);
  for (int b = 0; b < SLACK / 2; b++)
    assert_int_equal(((unsigned char *)destination)[(size_t)runs.count * type->size + (size_t)b],
                     0xa5);
}

static void test_runs(void **state) {
  (void)state;
  static const layout layouts[] = {{2, 1, false, 0, 1},  {3, 1, false, 0, 0}, {2, 1, false, 1, 1},
                                   {4, 1, false, 16, 1}, {1, 1, false, 0, 0}, {5, 1, false, 32, 1}};
  static const tprt__runs runs[] = {{1, 1, 7},       {6, 2, 4},      {33, 11, 12},
                                    {512, 256, 512}, {960, 64, 128}, {1050, 525, 1050},
                                    {1040, 130, 260}};
  uint64_t seed = 5;
  size_t n = 0;
  for (int dtype = 1; dtype < TPRT_N_DTYPES; dtype++)
    for (int reduction = 1; reduction < TPRT_N_REDUCTIONS; reduction++)
      for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
        if (tprt_reduction_supports((tprt_reduction)reduction, (tprt_dtype)dtype))
          check_runs((tprt_dtype)dtype, (tprt_reduction)reduction,
                     layouts[n++ % (sizeof layouts / sizeof *layouts)], runs[r], &seed);
  assert_true(n > 500);
}

/* One destination and several, all at the same offset in their lines or not. */
static void test_stream(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 300, 4096};
  uint64_t seed = 3;
  for (int v = 0; v < TPRT__N_VECTORS; v++) {
    for (size_t i = 0;
         i < 200 * sizeof sizes / sizeof *sizes && tprt__vectors_here((tprt__vectors)v); i++) {
      size_t n = sizes[i % (sizeof sizes / sizeof *sizes)];
      void *to[3];
      const char *from = (const char *)arrays[4] + test_random(&seed) % 64;
      uint64_t together = test_random(&seed) % 2;
      for (size_t b = 0; b < n + 64; b++)
        arrays[4][b] = (unsigned char)(b * 7 + i);
      for (int t = 0; t < 3; t++) {
        to[t] = (char *)arrays[t] + 64 + (together ? i % 64 : test_random(&seed) % 64);
        memset(arrays[t], 0x5a, n + 256);
      }
      tprt__stream_copies((tprt__vectors)v, to, 1 + (int)(i % 3), from, n);
      tprt__stream_end();
      for (size_t t = 0; t < 3; t++) {
        bool written = t < 1 + i % 3;
        assert_memory_equal(to[t], written ? from : to[t], n);
        assert_int_equal(((unsigned char *)to[t])[-1], 0x5a);
        assert_int_equal(((unsigned char *)to[t])[n], 0x5a);
        assert_true(written || n == 0 || ((unsigned char *)to[t])[n - 1] == 0x5a);
      }
    }
  }
  assert_true(tprt__cache_bytes() >= 64 << 10);
}

/* ---- Operations larger than the cache ---- */

/* The two ranks together use at least 36 MiB, more than three quarters of most caches. With larger
 * caches this tests the ordinary stores. */
enum { N_RANKS = 2, PIECE = 3 << 19, WHOLE = N_RANKS * PIECE, COLUMNS = 1536 };

static float sent(int rank, int64_t i) { return (float)((i * 37 + rank * 11) % 1000); }

static float summed(int64_t i) { return sent(0, i) + sent(1, i); }

static int count_wrong(const float *got, int64_t count,
                       float (*wanted)(int rank, int rank_of, int64_t i), int rank) {
  int wrong = 0;
  for (int64_t i = 0; i < count; i++)
    wrong += got[i] != wanted(rank, (int)(i / PIECE), i);
  return wrong;
}

static float wanted_sum(int rank, int piece, int64_t i) {
  (void)rank, (void)piece;
  return summed(i);
}
static float wanted_own_sum(int rank, int piece, int64_t i) {
  (void)piece;
  return summed((int64_t)rank * PIECE + i);
}
/* Of rows of 2 * COLUMNS numbers, each rank gets the sums of its COLUMNS. */
static float wanted_columns(int rank, int piece, int64_t i) {
  (void)piece;
  return summed((i / COLUMNS * N_RANKS + rank) * COLUMNS + i % COLUMNS);
}
static float wanted_gather(int rank, int piece, int64_t i) {
  (void)rank;
  return sent(piece, i % PIECE);
}
static float wanted_exchange(int rank, int piece, int64_t i) {
  return sent(piece, (int64_t)rank * PIECE + i % PIECE);
}
static float wanted_root(int rank, int piece, int64_t i) {
  (void)rank, (void)piece;
  return sent(0, i);
}

static float *take(tprt_comm *comm, bool registered, int *errors) {
  void *memory = NULL;
  if (registered)
    CHECK_STATUS(*errors, tprt_mem_alloc(comm, WHOLE * sizeof(float), &memory), TPRT_OK);
  return registered ? memory : malloc(WHOLE * sizeof(float));
}

/* Also with one rank in place and the other not. */
static int run_large(tprt_comm *comm, void *argument) {
  bool registered = *(const bool *)argument;
  int rank = tprt_comm_rank(comm), errors = 0;
  float *send = take(comm, registered, &errors), *recv = take(comm, registered, &errors);
  if (!send || !recv)
    return 1;
  for (int64_t i = 0; i < WHOLE; i++)
    send[i] = sent(rank, i);
  CHECK_STATUS(errors, tprt_all_reduce(comm, send, recv, WHOLE, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, count_wrong(recv, WHOLE, wanted_sum, rank) == 0);
  CHECK_STATUS(errors, tprt_reduce_scatter(comm, send, recv, PIECE, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, count_wrong(recv, PIECE, wanted_own_sum, rank) == 0);
  tprt_op columns = {.size = sizeof columns,
                     .kind = TPRT_OP_REDUCE_SCATTER,
                     .dtype = TPRT_F32,
                     .reduction = TPRT_SUM,
                     .n_dims = 2,
                     .dim = 1,
                     .shape = {PIECE / COLUMNS, N_RANKS * COLUMNS},
                     .send = send,
                     .recv = recv};
  CHECK_STATUS(errors, tprt_submit(comm, &columns, NULL), TPRT_OK);
  CHECK(errors, count_wrong(recv, PIECE, wanted_columns, rank) == 0);
  CHECK_STATUS(errors, tprt_all_gather(comm, send, recv, PIECE, TPRT_F32, NULL, NULL), TPRT_OK);
  CHECK(errors, count_wrong(recv, WHOLE, wanted_gather, rank) == 0);
  CHECK_STATUS(errors, tprt_all_to_all(comm, send, recv, PIECE, TPRT_F32, NULL, NULL), TPRT_OK);
  CHECK(errors, count_wrong(recv, WHOLE, wanted_exchange, rank) == 0);
  CHECK_STATUS(errors, tprt_broadcast(comm, send, recv, WHOLE, TPRT_F32, 0, NULL, NULL), TPRT_OK);
  CHECK(errors, count_wrong(recv, WHOLE, wanted_root, rank) == 0);
  float *target = rank == 0 ? send : recv;
  CHECK_STATUS(errors, tprt_all_reduce(comm, send, target, WHOLE, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, count_wrong(target, WHOLE, wanted_sum, rank) == 0);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (registered) {
    tprt_mem_free(comm, send);
    tprt_mem_free(comm, recv);
  } else {
    free(send);
    free(recv);
  }
  return errors;
}

static void test_larger_than_the_cache(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.arena_bytes = 2 * WHOLE * sizeof(float) + (1 << 20);
  for (int registered = 0; registered < 2; registered++) {
    bool argument = registered;
    assert_int_equal(run_threads(N_RANKS, &config, run_large, &argument), 0);
    assert_int_equal(run_processes(N_RANKS, &config, run_large, &argument, NULL), 0);
  }
}

/* Sums of groups, of which the first does not fit the type of the elements, are rounded once. */
static void test_groups(void **state) {
  (void)state;
  enum { N = 700 }; /* more than a block */
  static uint16_t inputs[4][N], result[N + 1];
  _Alignas(64) static float sums[2][N];
  static const float values[4] = {60000, 50000, -60000, -20000};
  const tprt__dtype_info *type = tprt__dtype_info_get(TPRT_F16);
  const void *const groups[2] = {sums[0], sums[1]};
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < N; i++)
      inputs[k][i] = tprt_f32_to_f16(values[k]);
  for (int turn = 0; turn < 2; turn++) {
    tprt_reduction reduction = turn ? TPRT_AVG : TPRT_SUM;
    const float expected_sum = turn ? 30000.0f / 4 : 30000; /* nearly: inputs are rounded */
    for (int g = 0; g < 2; g++) {
      const void *const sources[2] = {inputs[2 * g], inputs[2 * g + 1]};
      tprt__reduce_group(type, reduction, sums[g], sources, 2, NULL, N);
    }
    uint16_t *to = (uint16_t *)(void *)((char *)result + 1); /* any alignment */
    tprt__reduce_groups(type, reduction, to, groups, 2, 4, N);
    for (int i = 0; i < N; i++) {
      uint16_t got;
      memcpy(&got, (char *)result + 1 + 2 * i, sizeof got);
      assert_true(fabsf(tprt_f16_to_f32(got) - expected_sum) <= 16);
    }
  }
}

/* Averages of integers are divided once, by the number of all inputs. */
static void test_groups_of_integers(void **state) {
  (void)state;
  static const int32_t inputs[3] = {7, 2, 4};
  _Alignas(64) int32_t sums[2][16];
  int32_t result;
  const tprt__dtype_info *type = tprt__dtype_info_get(TPRT_I32);
  const void *const first[2] = {&inputs[0], &inputs[1]}, *const second[1] = {&inputs[2]},
                    *const groups[2] = {sums[0], sums[1]};
  tprt__reduce_group(type, TPRT_AVG, sums[0], first, 2, NULL, 1);
  tprt__reduce_group(type, TPRT_AVG, sums[1], second, 1, NULL, 1);
  tprt__reduce_groups(type, TPRT_AVG, &result, groups, 2, 3, 1);
  assert_int_equal(result, 4); /* 13 / 3 */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain),  cmocka_unit_test(test_avx2),
      cmocka_unit_test(test_avx512), cmocka_unit_test(test_runs),
      cmocka_unit_test(test_stream), cmocka_unit_test(test_larger_than_the_cache),
      cmocka_unit_test(test_groups), cmocka_unit_test(test_groups_of_integers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
