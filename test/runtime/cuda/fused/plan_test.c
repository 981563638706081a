/* What calls of fused kernels refuse, and why; what they launch; which algorithm is chosen. */
#include "cuda/fused/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static _Alignas(16) unsigned char memory[4096];

static fused_group group_of(int n_ranks, int rank) {
  fused_group group = {
      .config = {
          .size = sizeof group.config, .n_ranks = n_ranks, .rank = rank, .staging_bytes = 1 << 20}};
  for (int r = 0; r < n_ranks; r++)
    group.config.signals[r] = group.config.staging[r] = memory;
  for (int k = 0; k < FUSED_N_KERNELS; k++)
    group.n_ctas[k] = 16;
  return group;
}

static void expect(tprt_status got, tprt_status status, const char *text) {
  if (got != status || (status && !strstr(tprt_last_error(), text)))
    fail_msg("%s: \"%s\"; expected %s: \"%s\"", tprt_status_name(got), tprt_last_error(),
             tprt_status_name(status), text);
}

/* ---- Groups ---- */

static void test_groups(void **state) {
  (void)state;
  fused_group good = group_of(4, 1), g;
  expect(tprt__fused_check_config(&good.config), TPRT_OK, "");
#define REFUSED(change, text)                                                                      \
  g = good;                                                                                        \
  change;                                                                                          \
  expect(tprt__fused_check_config(&g.config), TPRT_INVALID_ARGUMENT, text)
  REFUSED(g.config.n_ranks = 0, "invalid group of 0 ranks; it must have 1 to 8");
  REFUSED(g.config.n_ranks = 9, "invalid group of 9 ranks");
  REFUSED(g.config.rank = 4, "rank 4 is out of range in a group of 4");
  REFUSED(g.config.rank = -2, "rank -2 is out of range in a group of 4");
  REFUSED(g.config.max_ctas = 257, "max_ctas is 257; it must be 0 to 256");
  REFUSED(g.config.signals[3] = NULL, "the signals of rank 3 are NULL");
  REFUSED(g.config.signals[2] = memory + 8, "signals of rank 2 is at");
  REFUSED(g.config.staging[2] = memory + 4, "staging of rank 2 is at");
  REFUSED(g.config.staging[1] = NULL, "staging_bytes is 1048576, but rank 1 has no staging");
#undef REFUSED
}

/* ---- Rows ---- */

static tprt_cuda_rows good_rows(void) {
  tprt_cuda_rows rows = {.size = sizeof rows,
                         .dtype = TPRT_BF16,
                         .tokens = 10,
                         .hidden = 256,
                         .algorithm = TPRT_CUDA_PULL,
                         .norm = TPRT_CUDA_LAYER_NORM,
                         .quantize = TPRT_CUDA_PER_GROUP,
                         .epsilon = 1e-5f,
                         .static_scale = (float *)memory,
                         .gamma = memory};
  for (int r = 0; r < 4; r++) {
    rows.input[r] = memory;
    rows.out[r] = rows.quantized[r] = memory + 1024;
    rows.scale[r] = (float *)(memory + 2048);
  }
  return rows;
}

static void test_rows(void **state) {
  (void)state;
  fused_group good = group_of(4, 1), g;
  tprt_cuda_rows rows;
  fused_launch launch = {.n_ctas = 77};
#define REFUSED(status, change, text)                                                              \
  g = good;                                                                                        \
  rows = good_rows();                                                                              \
  change;                                                                                          \
  expect(tprt__fused_plan_rows(&g, &rows, &launch), status, text);                                 \
  assert_int_equal(launch.n_ctas, 77)
  REFUSED(TPRT_INVALID_ARGUMENT, rows.size = 0, "tprt_cuda_rows.size is 0");
  REFUSED(TPRT_UNSUPPORTED, rows.dtype = TPRT_F64,
          "no fused kernel for type f64; supported are f32, f16 and bf16");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.tokens = -1, "invalid shape of rows: -1 x 256");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.tokens = INT64_MAX / 16, "invalid shape of rows");
  REFUSED(TPRT_UNSUPPORTED, rows.hidden = 252,
          "rows of 252 elements of bf16; fused kernels need a multiple of 8");
  REFUSED(TPRT_UNSUPPORTED, rows.hidden = 16512,
          "rows of 16512 elements; at most 16384 are supported with norm, bias or quantization");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.norm = (tprt_cuda_norm)3, "norm 3 does not exist");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.gamma = NULL, "a norm needs gamma");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.epsilon = -1, "epsilon -1 of the norm");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.norm = TPRT_CUDA_NO_NORM, "gamma and beta need a norm");
  REFUSED(TPRT_INVALID_ARGUMENT, (rows.norm = TPRT_CUDA_RMS_NORM, rows.beta = memory),
          "RMS norm has no beta");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.quantize = (tprt_cuda_quantize)4,
          "quantization 4 does not exist");
  REFUSED(TPRT_INVALID_ARGUMENT, (rows.quantize = TPRT_CUDA_STATIC, rows.static_scale = NULL),
          "needs static_scale");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.least_largest = -1,
          "scales: least_largest -1 and least_scale 0");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.least_scale = INFINITY,
          "scales: least_largest 0 and least_scale inf");
  REFUSED(TPRT_INVALID_ARGUMENT, (rows.quantize = TPRT_CUDA_STATIC, rows.least_scale = 1),
          "need computed scales (per token or per group)");
  REFUSED(TPRT_INVALID_ARGUMENT, (rows.quantize = TPRT_CUDA_NO_QUANTIZE, rows.divides = true),
          "divides needs quantization");
  REFUSED(TPRT_INVALID_ARGUMENT, (rows.blocks = 3, rows.algorithm = TPRT_CUDA_SLICES),
          "10 rows cannot be divided into 3 blocks");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.blocks = -1, "10 rows cannot be divided into -1 blocks");
  REFUSED(TPRT_INVALID_ARGUMENT, (rows.blocks = 2, rows.algorithm = TPRT_CUDA_PULL),
          "blocks need algorithm TPRT_CUDA_SLICES");
  REFUSED(
      TPRT_UNSUPPORTED,
      (rows =
           (tprt_cuda_rows){
               .size = sizeof rows, .dtype = TPRT_BF16, .tokens = 8, .hidden = 16392, .blocks = 2}),
      "rows of 16392 elements; at most 16384 are supported in blocks");
  REFUSED(TPRT_UNSUPPORTED, rows.hidden = 200,
          "quantization by groups of 128 needs rows of a multiple of that size, not of 200");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.gamma = memory + 2,
          "bias, gamma and beta need addresses that are multiples of 16");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.algorithm = (tprt_cuda_algorithm)4,
          "algorithm 4 does not exist");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.residual_sharded = true,
          "sharded tensors and input_sent need algorithm");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.input_sent = true,
          "sharded tensors and input_sent need algorithm");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.out[1] = memory,
          "out and input of rank 1 are the same buffer, which other ranks read");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.input[3] = NULL,
          "input is set for 3 of 4 ranks; other ranks access it");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.input[3] = memory + 8, "input of rank 3 is at");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.quantized[1] = NULL, "quantized is set for 0 of 1 ranks");
  REFUSED(TPRT_INVALID_ARGUMENT, rows.scale[1] = NULL, "scale is set for 0 of 1 ranks");
  REFUSED(TPRT_INVALID_ARGUMENT, (rows.algorithm = TPRT_CUDA_SLICES, rows.out[2] = NULL),
          "out is set for 3 of 4 ranks");
  REFUSED(TPRT_INVALID_ARGUMENT, (rows.quantize = TPRT_CUDA_NO_QUANTIZE, rows.out[1] = NULL),
          "rows have no outputs");
  REFUSED(TPRT_INVALID_ARGUMENT, (rows.algorithm = TPRT_CUDA_PUSH, g.config.staging_bytes = 40959),
          "the call needs 40960 bytes of staging, the group has 40959");
#undef REFUSED
}

static fused_launch launch_of(tprt_cuda_rows rows) {
  fused_group group = group_of(4, 1);
  fused_launch launch;
  expect(tprt__fused_plan_rows(&group, &rows, &launch), TPRT_OK, "");
  return launch;
}

static void test_ctas(void **state) {
  (void)state;
  tprt_cuda_group_config alone = group_of(4, TPRT_CUDA_ALL_RANKS).config,
                         beside = group_of(4, 1).config, one = group_of(1, 0).config;
  assert_int_equal(tprt__fused_ctas(&alone, 66), 66);
  assert_int_equal(tprt__fused_ctas(&alone, 400), 256);
  assert_int_equal(tprt__fused_ctas(&one, 264), 256);
  assert_int_equal(tprt__fused_ctas(&beside, 264), 64); /* other streams have room */
  assert_int_equal(tprt__fused_ctas(&beside, 20), 20);
  beside.max_ctas = 100;
  assert_int_equal(tprt__fused_ctas(&beside, 264), 100);
}

static void test_rows_launch(void **state) {
  (void)state;
  tprt_cuda_rows rows = good_rows();
  fused_launch launch = launch_of(rows);
  assert_string_equal(tprt__fused_names[launch.kernel], "tprt_reduce_short_rows_bf16");
  assert_int_equal(launch.n_ctas, 10);
  assert_int_equal(launch.n_threads, 32);
  assert_int_equal(launch.args.of.rows.row_vectors, 32);
  rows.hidden = 8192; /* the longest rows of which a thread has few values */
  launch = launch_of(rows);
  assert_string_equal(tprt__fused_names[launch.kernel], "tprt_reduce_short_rows_bf16");
  rows.hidden = 8320;
  launch = launch_of(rows);
  assert_string_equal(tprt__fused_names[launch.kernel], "tprt_reduce_rows_bf16");
  rows.hidden = 16384; /* the longest rows, which use all registers of all threads */
  launch = launch_of(rows);
  assert_string_equal(tprt__fused_names[launch.kernel], "tprt_reduce_rows_bf16");
  assert_int_equal(launch.n_threads, 512);
  rows.algorithm = TPRT_CUDA_SLICES;
  rows.hidden = 5120; /* 640 vectors: two for each thread */
  launch = launch_of(rows);
  assert_int_equal(launch.n_threads, 320);
  assert_int_equal(launch.n_ctas, 3); /* for 10 rows on 4 ranks */
  rows.tokens = 0;
  assert_int_equal(launch_of(rows).n_ctas, 0);
  rows = (tprt_cuda_rows){.size = sizeof rows, .dtype = TPRT_F32, .tokens = 1, .hidden = 1 << 20};
  for (int r = 0; r < 4; r++) {
    rows.input[r] = memory;
    rows.out[r] = memory + 16;
  }
  launch = launch_of(rows); /* no row operations: arbitrary split; fewer tokens than ranks */
  assert_string_equal(tprt__fused_names[launch.kernel], "tprt_reduce_short_rows_f32");
  assert_int_equal(launch.n_ctas, 16);
  assert_int_equal(launch.args.of.rows.row_vectors, 1024);
  assert_int_equal(launch.args.of.rows.algorithm, TPRT_CUDA_PULL);
  rows.out_sharded = true;
  launch = launch_of(rows);
  assert_int_equal(launch.args.of.rows.algorithm, TPRT_CUDA_SLICES);
  assert_int_equal(launch.args.of.rows.slice_vectors, (1 << 20) / 4);
}

/* The published thresholds; one-shot through staging requires staging. */
static void test_choice(void **state) {
  (void)state;
  static const struct {
    int64_t tokens;
    int n_ranks;
    size_t staging;
    tprt_cuda_algorithm algorithm;
  } rows[] = {
      {4, 4, 1 << 20, TPRT_CUDA_PUSH},
      {4, 4, 1 << 10, TPRT_CUDA_PULL},
      {3, 4, 0, TPRT_CUDA_PULL},
      {256, 4, 1 << 20, TPRT_CUDA_PULL},
      {257, 4, 1 << 20, TPRT_CUDA_SLICES},
      {64, 8, 0, TPRT_CUDA_PULL},
      {65, 8, 0, TPRT_CUDA_SLICES},
      {8192, 2, 0, TPRT_CUDA_PULL},
      {8193, 2, 0, TPRT_CUDA_SLICES},
      {100000, 1, 0, TPRT_CUDA_PULL},
      {0, 8, 0, TPRT_CUDA_PULL},
      {200, 3, 0, TPRT_CUDA_PULL},
      {2000, 5, 1 << 20, TPRT_CUDA_SLICES},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) /* of 8 KiB */
    assert_int_equal(
        tprt_cuda_choose(TPRT_BF16, rows[i].tokens, 4096, rows[i].n_ranks, rows[i].staging),
        rows[i].algorithm);
}

/* ---- Data exchange ---- */

static void test_exchanges(void **state) {
  (void)state;
  fused_group g = group_of(4, TPRT_CUDA_ALL_RANKS);
  const void *send[4] = {memory, memory, memory, memory};
  void *recv[4] = {memory, memory, memory, memory};
  fused_launch launch = {.n_ctas = 77};
  const int64_t shape[3] = {3, 8, 16}, negative[2] = {4, -1}, huge[2] = {1ll << 40, 1ll << 40},
                thin[2] = {4, 6};
  expect(tprt__fused_plan_all_gather(&g, (tprt_dtype)0, 3, shape, 0, send, recv, &launch),
         TPRT_INVALID_ARGUMENT, "type 0 does not exist");
  expect(tprt__fused_plan_all_gather(&g, TPRT_F32, 2, negative, 0, send, recv, &launch),
         TPRT_INVALID_ARGUMENT, "dimension 1 of the exchange has invalid size -1");
  expect(tprt__fused_plan_all_to_all(&g, TPRT_F32, 2, huge, 0, 1, send, recv, &launch),
         TPRT_INVALID_ARGUMENT, "dimension 1 of the exchange has invalid size 1099511627776");
  expect(tprt__fused_plan_all_gather(&g, TPRT_F32, 3, shape, 3, send, recv, &launch),
         TPRT_INVALID_ARGUMENT, "dim is 3, but the tensor has 3 dimensions");
  expect(tprt__fused_plan_all_to_all(&g, TPRT_F32, 3, shape, -1, 0, send, recv, &launch),
         TPRT_INVALID_ARGUMENT, "split_dim is -1");
  expect(tprt__fused_plan_all_to_all(&g, TPRT_F32, 3, shape, 1, 5, send, recv, &launch),
         TPRT_INVALID_ARGUMENT, "concat_dim is 5");
  expect(tprt__fused_plan_all_to_all(&g, TPRT_F32, 3, shape, 0, 1, send, recv, &launch),
         TPRT_INVALID_ARGUMENT, "4 ranks do not divide dimension 0 (size 3)");
  expect(tprt__fused_plan_all_gather(&g, TPRT_F32, 2, thin, 1, send, recv, &launch),
         TPRT_UNSUPPORTED, "runs have 24 bytes; the exchange needs multiples of 16");
  const int64_t many[2] = {1ll << 33, 4};
  expect(tprt__fused_plan_all_gather(&g, TPRT_F32, 2, many, 1, send, recv, &launch),
         TPRT_UNSUPPORTED,
         "pieces have 137438953472 bytes; the exchange supports less than 64 GiB");
  recv[2] = NULL;
  expect(tprt__fused_plan_all_gather(&g, TPRT_F32, 3, shape, 1, send, recv, &launch),
         TPRT_INVALID_ARGUMENT, "recv is set for 3 of 4 ranks");
  recv[2] = memory;
  send[1] = NULL;
  expect(tprt__fused_plan_all_gather(&g, TPRT_F32, 3, shape, 1, send, recv, &launch),
         TPRT_INVALID_ARGUMENT, "send is set for 3 of 4 ranks");
  assert_int_equal(launch.n_ctas, 77);
  send[1] = memory;
  expect(tprt__fused_plan_all_gather(&g, TPRT_F32, 3, shape, 1, send, recv, &launch), TPRT_OK, "");
  assert_int_equal(launch.n_ctas, 1);
}

static void test_entropy(void **state) {
  (void)state;
  fused_group g = group_of(4, 2);
  fused_launch launch = {.n_ctas = 77};
  tprt_cuda_entropy good = {.size = sizeof good, .dtype = TPRT_F16, .tokens = 100, .columns = 1000},
                    e;
  good.logits[2] = memory;
  good.target[2] = (int64_t *)memory;
  good.loss[2] = (float *)memory;
#define REFUSED(status, change, text)                                                              \
  e = good;                                                                                        \
  change;                                                                                          \
  expect(tprt__fused_plan_entropy(&g, &e, &launch), status, text);                                 \
  assert_int_equal(launch.n_ctas, 77)
  REFUSED(TPRT_INVALID_ARGUMENT, e.size = 1, "tprt_cuda_entropy.size is 1");
  REFUSED(TPRT_UNSUPPORTED, e.dtype = TPRT_I32, "no fused kernel for type i32");
  REFUSED(TPRT_INVALID_ARGUMENT, e.columns = 0, "invalid shape of logits: 100 x 0");
  REFUSED(TPRT_UNSUPPORTED, e.columns = 1001,
          "1001 columns of f16 per rank; the cross entropy needs a multiple of 8");
  REFUSED(TPRT_INVALID_ARGUMENT, e.logits[2] = NULL, "logits is set for 0 of 1 ranks");
  REFUSED(TPRT_INVALID_ARGUMENT, e.target[2] = NULL, "loss needs target");
  REFUSED(TPRT_INVALID_ARGUMENT, e.loss[2] = NULL, "the cross entropy has no outputs");
  REFUSED(TPRT_INVALID_ARGUMENT, e.target[2] = NULL; e.loss[2] = NULL;
          e.picked[2] = (float *)memory, "picked needs target");
  REFUSED(TPRT_UNSUPPORTED, e.target_dtype = TPRT_F32,
          "targets of type f32; they must be i64 or i32");
  REFUSED(TPRT_INVALID_ARGUMENT, e.pick = 3, "pick 3 does not exist");
  REFUSED(TPRT_INVALID_ARGUMENT, e.step = 3, "step 3 of the cross entropy does not exist");
  REFUSED(TPRT_INVALID_ARGUMENT, e.step = TPRT_CUDA_PARTS,
          "steps of the cross entropy are for groups of one rank, not of 4");
  REFUSED(TPRT_INVALID_ARGUMENT, e.tokens = 1 << 20,
          "the call needs 134217728 bytes of staging, the group has 1048576");
#undef REFUSED
  expect(tprt__fused_plan_entropy(&g, &good, &launch), TPRT_OK, "");
  assert_int_equal(launch.n_ctas, 16);
  assert_int_equal(launch.n_threads, 128);

  fused_group one = group_of(1, 0);
  good = (tprt_cuda_entropy){.size = sizeof good,
                             .dtype = TPRT_F32,
                             .tokens = 100,
                             .columns = 2000,
                             .step = TPRT_CUDA_FROM_PARTS,
                             .n_parts = 3,
                             .part = 2};
  good.parts[0] = memory;
  good.sum[0] = (float *)memory;
#define REFUSED(change, text)                                                                      \
  e = good;                                                                                        \
  change;                                                                                          \
  expect(tprt__fused_plan_entropy(&one, &e, &launch), TPRT_INVALID_ARGUMENT, text)
  REFUSED(e.part = 3, "part 3 of 3 of the columns");
  REFUSED(e.n_parts = 0, "part 2 of 0 of the columns");
  REFUSED(e.parts[0] = NULL, "parts is set for 0 of 1 ranks");
  REFUSED(e.sum[0] = NULL, "the cross entropy has no outputs");
  REFUSED(e.step = TPRT_CUDA_PARTS, "logits is set for 0 of 1 ranks");
#undef REFUSED
  expect(tprt__fused_plan_entropy(&one, &good, &launch), TPRT_OK, "");
  assert_int_equal(launch.n_ctas, 1);
  assert_int_equal(launch.args.of.entropy.n_parts, 3);
  assert_int_equal(launch.args.of.entropy.first_part, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_groups),  cmocka_unit_test(test_rows),
      cmocka_unit_test(test_ctas),    cmocka_unit_test(test_rows_launch),
      cmocka_unit_test(test_choice),  cmocka_unit_test(test_exchanges),
      cmocka_unit_test(test_entropy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
