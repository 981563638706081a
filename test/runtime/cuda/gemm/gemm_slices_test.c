/* Tests GEMMs followed by a reduction over the ranks, with the fake driver and the fake cuBLASLt:
 * virtual ranks and one thread per rank, against sums in f64; rejected arguments;
 * tprt_cuda_choose_slices. */
#define _GNU_SOURCE 1
#include "gemm_blas.h"

#include "tprt/cuda_gemm.h"
#include "tprt/tprt.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RANKS = 4, HIDDEN = 24, K = 5, PAD = 3, MOST_TOKENS = 9, WORKSPACE = 1024 };

typedef struct world {
  int n_ranks;
  int64_t tokens;
  tprt_dtype dtype, factors;
  bool sharded;
  int64_t blocks;
  tprt_cuda_group_config config;
  tprt_cuda_rows rows;
  tprt_cuda_gemm gemms[MOST_RANKS];
} world;

static void *zeroed(size_t bytes) {
  void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  assert_non_null(memory);
  return memset(memory, 0, (bytes + 255) / 256 * 256);
}

static float load(tprt_dtype dtype, const void *from, int64_t i) {
  return dtype == TPRT_F32 ? ((const float *)from)[i]
                           : tprt_bf16_to_f32(((const uint16_t *)from)[i]);
}

static void *numbers(tprt_dtype dtype, int64_t n, int seed) {
  void *memory = zeroed((size_t)n * tprt_dtype_size(dtype));
  for (int64_t i = 0; i < n; i++) {
    float x = (float)((i * 5 + seed * 7 + i / 13) % 19 - 9) / 8;
    if (dtype == TPRT_F32)
      ((float *)memory)[i] = x;
    else
      ((uint16_t *)memory)[i] = tprt_f32_to_bf16(x);
  }
  return memory;
}

/* Returns the number of rows of each block that a rank reduces. */
static int64_t slice_of(const world *w) {
  return (w->tokens / w->blocks + w->n_ranks - 1) / w->n_ranks;
}

static world make_world(int n_ranks, int64_t tokens, int64_t blocks, tprt_dtype dtype,
                        tprt_dtype factors, bool sharded) {
  world w = {.n_ranks = n_ranks,
             .tokens = tokens,
             .dtype = dtype,
             .factors = factors,
             .sharded = sharded,
             .blocks = blocks};
  size_t bytes = (size_t)(slice_of(&w) * blocks * n_ranks * HIDDEN) * tprt_dtype_size(dtype);
  w.config = (tprt_cuda_group_config){.size = sizeof w.config,
                                      .n_ranks = n_ranks,
                                      .rank = TPRT_CUDA_ALL_RANKS,
                                      .max_ctas = 2,
                                      .spin_limit = 1u << 24};
  w.rows = (tprt_cuda_rows){.size = sizeof w.rows,
                            .dtype = dtype,
                            .tokens = tokens,
                            .hidden = HIDDEN,
                            .blocks = blocks,
                            .out_sharded = sharded,
                            .bias = numbers(dtype, HIDDEN, 9)};
  w.rows.algorithm = TPRT_CUDA_SLICES;
  for (int r = 0; r < n_ranks; r++) {
    w.config.signals[r] = zeroed(tprt_cuda_signal_bytes());
    w.rows.input[r] = memset(zeroed(bytes), 0xff, bytes);
    w.rows.out[r] = memset(zeroed(bytes), 0xff, bytes);
    w.gemms[r] = (tprt_cuda_gemm){.size = sizeof *w.gemms,
                                  .dtype = factors,
                                  .out_dtype = dtype,
                                  .m = tokens,
                                  .n = HIDDEN,
                                  .k = K,
                                  .row_a = 8,
                                  .alpha = 1,
                                  .a = numbers(factors, tokens * 8, r),
                                  .b = numbers(factors, K * HIDDEN, 10 + r)};
  }
  return w;
}

static void free_world(world *w) {
  for (int r = 0; r < w->n_ranks; r++) {
    const void *all[] = {w->config.signals[r], w->rows.input[r], w->rows.out[r], w->gemms[r].a,
                         w->gemms[r].b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      free((void *)(uintptr_t)all[i]);
  }
  free((void *)(uintptr_t)w->rows.bias);
}

/* Counts the errors of a rank, in every row or in those of its slice. Each GEMM result is rounded
 * before the sum. */
static int errors_of(const world *w, int rank) {
  int64_t slice = slice_of(w), block = w->tokens / w->blocks;
  double unit = w->dtype == TPRT_BF16 ? 0x1p-7 : 0x1p-20;
  for (int64_t t = 0; t < w->tokens; t++)
    for (int64_t h = 0; h < HIDDEN; h++) {
      double sum = (double)load(w->dtype, w->rows.bias, h), size = fabs(sum);
      for (int r = 0; r < w->n_ranks; r++) {
        double x = 0;
        for (int64_t k = 0; k < K; k++)
          x += (double)load(w->factors, w->gemms[r].a, t * 8 + k) *
               (double)load(w->factors, w->gemms[r].b, k * HIDDEN + h);
        sum += x;
        size += fabs(x);
      }
      int64_t row = t, in_slice = t % block - rank * slice;
      if (w->sharded && (in_slice < 0 || in_slice >= slice))
        continue;
      if (w->sharded)
        row = t / block * slice + in_slice;
      double got = (double)load(w->dtype, w->rows.out[rank], row * HIDDEN + h);
      if (!(fabs(got - sum) <= unit * size)) {
        fprintf(stderr, "wrong: rank %d of %d: [%lld, %lld] is %g, expected %g\n", rank, w->n_ranks,
                (long long)t, (long long)h, got, sum);
        return 1;
      }
    }
  return 0;
}

static const struct {
  int64_t tokens, blocks;
  tprt_dtype dtype, factors;
  bool sharded;
} shapes[] = {{8, 1, TPRT_F32, TPRT_F32, false},  {9, 1, TPRT_F32, TPRT_BF16, true},
              {6, 1, TPRT_BF16, TPRT_BF16, true}, {5, 1, TPRT_BF16, TPRT_BF16, false},
              {1, 1, TPRT_F32, TPRT_F32, false},  {8, 2, TPRT_F32, TPRT_F32, true},
              {9, 3, TPRT_BF16, TPRT_BF16, true}, {12, 3, TPRT_F32, TPRT_F32, false}};

static void test_virtual_ranks(void **state) {
  void *workspace = zeroed(WORKSPACE);
  (void)state;
  for (int n = 1; n <= MOST_RANKS; n++)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
      world w = make_world(n, shapes[i].tokens, shapes[i].blocks, shapes[i].dtype,
                           shapes[i].factors, shapes[i].sharded);
      tprt_cuda_group *group;
      tprt_cuda_blas *blas = make_blas(workspace, WORKSPACE);
      assert_int_equal(tprt_cuda_group_create(&w.config, &group), TPRT_OK);
      for (int turn = 0; turn < 2; turn++) {
        if (tprt_cuda_multiply_reduce(group, blas, w.gemms, &w.rows, NULL) != TPRT_OK)
          fail_msg("%s", tprt_last_error());
        for (int r = 0; r < n; r++)
          assert_int_equal(errors_of(&w, r), 0);
      }
      tprt_cuda_blas_destroy(blas);
      tprt_cuda_group_destroy(group);
      free_world(&w);
    }
  free(workspace);
}

/* ---- One thread per rank ---- */

typedef struct player {
  world *w;
  int rank, errors;
} player;

static void *play(void *argument) {
  player *p = argument;
  world *w = p->w;
  tprt_cuda_group_config config = w->config;
  tprt_cuda_group *group = NULL;
  void *workspace = aligned_alloc(256, WORKSPACE);
  tprt_cuda_blas *blas = make_blas(workspace, WORKSPACE);
  config.rank = p->rank;
  config.max_ctas = 1;
  p->errors = !blas || tprt_cuda_group_create(&config, &group) != TPRT_OK;
  for (int turn = 0; turn < 20 && !p->errors; turn++) {
    if (tprt_cuda_multiply_reduce(group, blas, &w->gemms[p->rank], &w->rows, NULL) != TPRT_OK) {
      fprintf(stderr, "wrong: %s\n", tprt_last_error());
      p->errors++;
    }
    p->errors += errors_of(w, p->rank);
  }
  p->errors += group && tprt_cuda_group_check(group, NULL) != TPRT_OK;
  tprt_cuda_group_destroy(group);
  tprt_cuda_blas_destroy(blas);
  free(workspace);
  return NULL;
}

static void test_grid_per_rank(void **state) {
  (void)state;
  for (int n = 2; n <= MOST_RANKS; n++) {
    world w = make_world(n, MOST_TOKENS, 1, TPRT_F32, TPRT_F32, true);
    pthread_t threads[MOST_RANKS];
    player players[MOST_RANKS];
    for (int r = 0; r < n; r++) {
      players[r] = (player){.w = &w, .rank = r};
      assert_int_equal(pthread_create(&threads[r], NULL, play, &players[r]), 0);
    }
    for (int r = 0; r < n; r++) {
      pthread_join(threads[r], NULL);
      assert_int_equal(players[r].errors, 0);
    }
    free_world(&w);
  }
}

/* ---- Rejected arguments ---- */

static void expect(tprt_status got, tprt_status status, const char *text) {
  if (got != status || !strstr(tprt_last_error(), text))
    fail_msg("%s: \"%s\"; expected %s: \"%s\"", tprt_status_name(got), tprt_last_error(),
             tprt_status_name(status), text);
}

static void test_refused(void **state) {
  world w = make_world(2, 8, 1, TPRT_F32, TPRT_F32, false);
  tprt_cuda_group *group;
  void *workspace = zeroed(WORKSPACE);
  tprt_cuda_blas *blas = make_blas(workspace, WORKSPACE);
  (void)state;
  assert_int_equal(tprt_cuda_group_create(&w.config, &group), TPRT_OK);
#define REFUSED(change, text)                                                                      \
  do {                                                                                             \
    tprt_cuda_gemm gemms[2] = {w.gemms[0], w.gemms[1]}, *g = &gemms[1];                            \
    tprt_cuda_rows rows = w.rows;                                                                  \
    (void)g;                                                                                       \
    change;                                                                                        \
    expect(tprt_cuda_multiply_reduce(group, blas, gemms, &rows, NULL), TPRT_INVALID_ARGUMENT,      \
           text);                                                                                  \
  } while (0)
  REFUSED(rows.blocks = 3, "8 rows cannot be divided into 3 blocks");
  REFUSED(rows.size = 1, "tprt_cuda_rows.size is 1");
  REFUSED(g->size = 1, "tprt_cuda_gemm.size is 1");
  REFUSED(rows.algorithm = TPRT_CUDA_PULL, "input_sent need algorithm TPRT_CUDA_SLICES");
  REFUSED(rows.input[1] = NULL, "CUDA: input is set for 1 of 2 ranks");
  REFUSED(g->m = 7, "matmul of rank 1 with reduced rows does not have the shape of the rows");
  REFUSED(g->n = 7, "does not have the shape of the rows");
  REFUSED(g->out_dtype = TPRT_BF16, "has a different dtype than the rows");
  REFUSED(g->batch = 2, "has a batch or a transposed a");
  REFUSED(g->transpose_a = true, "has a batch or a transposed a");
  REFUSED(g->out = workspace, "sets out, c, beta or row_out");
  REFUSED(g->beta = 1, "sets out, c, beta or row_out");
  REFUSED(g->bias = workspace, "has an epilogue or a bias");
  REFUSED(g->epilogue = TPRT_CUDA_RELU, "has an epilogue or a bias");
  REFUSED((g->row_a = 5, rows.tokens = 2, gemms[0].m = g->m = 2),
          "has slices of a that do not begin at multiples of 16 bytes");
  REFUSED((g->row_a = 6, rows.blocks = 4),
          "has slices of a that do not begin at multiples of 16 bytes");
  REFUSED(g->b = NULL, "cuBLASLt: b is NULL");
  expect(tprt_cuda_multiply_reduce(group, blas, w.gemms, NULL, NULL), TPRT_INVALID_ARGUMENT,
         "tprt_cuda_multiply_reduce: rows is NULL");
  expect(tprt_cuda_multiply_reduce(group, blas, NULL, &w.rows, NULL), TPRT_INVALID_ARGUMENT,
         "tprt_cuda_multiply_reduce: gemms is NULL");
  tprt_cuda_group_destroy(group);
  /* Even with a single local rank, the addresses of the others are needed. */
  w.config.rank = 0;
  assert_int_equal(tprt_cuda_group_create(&w.config, &group), TPRT_OK);
  REFUSED(rows.input[1] = NULL,
          "CUDA: input of rank 1 is at (nil); aligned addresses of all ranks are needed");
  tprt_cuda_group_destroy(group);
  tprt_cuda_blas_destroy(blas);
  free(workspace);
  free_world(&w);
}

static void test_choice(void **state) {
  const double flops = 800e12, link = 450e9;
  (void)state;
  assert_true(tprt_cuda_choose_slices(TPRT_BF16, 8192, 8192, 8192, 8, flops, link));
  assert_false(tprt_cuda_choose_slices(TPRT_BF16, 8192, 8192, 8192, 1, flops, link));
  /* too few tokens */
  assert_false(tprt_cuda_choose_slices(TPRT_BF16, 2048, 8192, 8192, 2, flops, link));
  assert_false(tprt_cuda_choose_slices(TPRT_BF16, 4095, 8192, 8192, 2, flops, link));
  assert_true(tprt_cuda_choose_slices(TPRT_BF16, 4096, 8192, 8192, 8, flops, link));
  /* communication takes too long */
  assert_false(tprt_cuda_choose_slices(TPRT_BF16, 8192, 8192, 256, 8, flops, link));
  /* communication is negligible */
  assert_false(tprt_cuda_choose_slices(TPRT_BF16, 8192, 8192, 1 << 20, 8, flops, link));
  assert_false(tprt_cuda_choose_slices(TPRT_BF16, 8192, 8192, 8192, 8, 0, link));
  assert_false(tprt_cuda_choose_slices(TPRT_BF16, 8192, 8192, 8192, 8, flops, (double)NAN));
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_virtual_ranks),
                                     cmocka_unit_test(test_grid_per_rank),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_choice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
