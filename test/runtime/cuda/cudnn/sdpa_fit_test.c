/* Tests which attentions are given to cuDNN, and how they are described. */
#include "cuda/cudnn/sdpa.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { Q = TPRT_ATTENTION_Q, K, V, OUT = TPRT_ATTENTION_OUT, MAX, SUM };

static int64_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static tprt_abi_attention_loop loop(int64_t size, int64_t q, int64_t k, int64_t v, int64_t out,
                                    int64_t statistics) {
  return (tprt_abi_attention_loop){
      size, {[Q] = q, [K] = k, [V] = v, [OUT] = out, [MAX] = statistics, [SUM] = statistics}};
}

/* [2 batches, 12 rows, 3 heads, 4 members, 16 features]; keys and values [2, 20, 3, 16]; statistics
 * [2, 3, 4, 12]. */
static tprt_abi_fused_attention grouped(void) {
  return (tprt_abi_fused_attention){.outer = {loop(2, 2304, 960, 960, 2304, 144),
                                              loop(3, 64, 16, 16, 64, 48), loop(1, 0, 0, 0, 0, 0),
                                              loop(1, 0, 0, 0, 0, 0)},
                                    .group = loop(4, 16, 0, 0, 16, 12),
                                    .row = loop(12, 192, 0, 0, 192, 1),
                                    .column = loop(20, 0, 48, 48, 0, 0),
                                    .feature = loop(16, 1, 1, 0, 0, 0),
                                    .value = loop(16, 0, 0, 1, 1, 0),
                                    .scale = bits_of(0.25f),
                                    .hidden = bits_of(-INFINITY),
                                    .causal = 1,
                                    .offset = 8,
                                    .out_dtype = TPRT_BF16};
}

static tprt__sdpa described(const tprt_abi_fused_attention *words) {
  tprt__sdpa sdpa;
  assert_true(tprt__sdpa_of(TPRT_BF16, words, true, &sdpa));
  return sdpa;
}

static bool is_given(const tprt_abi_fused_attention *words) {
  tprt__sdpa sdpa;
  return tprt__sdpa_of(TPRT_BF16, words, true, &sdpa);
}

static void expect_strides(const tprt__sdpa *sdpa, int x, int64_t batch, int64_t head,
                           int64_t row) {
  assert_int_equal(sdpa->stride[x][SDPA_BATCH], batch);
  assert_int_equal(sdpa->stride[x][SDPA_HEAD], head);
  assert_int_equal(sdpa->stride[x][SDPA_ROW], row);
}

static void test_grouped(void **state) {
  const tprt_abi_fused_attention words = grouped();
  (void)state;
  tprt__sdpa sdpa = described(&words);
  assert_int_equal(sdpa.batch, 2);
  assert_int_equal(sdpa.heads, 12);
  assert_int_equal(sdpa.group, 4);
  assert_int_equal(sdpa.rows, 12);
  assert_int_equal(sdpa.columns, 20);
  expect_strides(&sdpa, SDPA_Q, 2304, 16, 192);
  expect_strides(&sdpa, SDPA_K, 960, 16, 48);
  expect_strides(&sdpa, SDPA_MAX, 144, 12, 1);
  assert_true(sdpa.causal);
  assert_true(tprt__sdpa_ends_with_columns(&sdpa));
}

/* Batches and heads in the other order; members of the group that do not follow each other as heads
 * do make a batch of the heads; three loops of which two are one. */
static void test_loops(void **state) {
  tprt_abi_fused_attention words = grouped();
  (void)state;
  words.outer[0] = grouped().outer[1];
  words.outer[1] = grouped().outer[0];
  tprt__sdpa sdpa = described(&words);
  assert_int_equal(sdpa.batch, 2);
  expect_strides(&sdpa, SDPA_V, 960, 16, 48);

  words = grouped();
  words.outer[0].size = 1;
  words.outer[1] = loop(3, 768, 320, 320, 768, 48); /* heads outside of rows */
  words.group = loop(4, 16, 0, 0, 16, 12);
  words.row = loop(12, 64, 0, 0, 64, 1);
  words.column = loop(20, 0, 16, 16, 0, 0);
  sdpa = described(&words);
  assert_int_equal(sdpa.batch, 3);
  assert_int_equal(sdpa.heads, 4);
  expect_strides(&sdpa, SDPA_Q, 768, 16, 64);
  expect_strides(&sdpa, SDPA_K, 320, 960, 16); /* there is one head of keys */
  words.outer[0] = loop(2, 2304, 960, 960, 2304, 144);
  assert_false(is_given(&words));

  words = grouped();
  words.group = loop(1, 0, 0, 0, 0, 0);
  words.outer[0] = loop(2, 4608, 1920, 1920, 4608, 288);
  words.outer[2] = loop(2, 2304, 960, 960, 2304, 144);
  words.outer[1] = loop(12, 16, 16, 16, 16, 12);
  words.column = loop(20, 0, 192, 192, 0, 0);
  sdpa = described(&words);
  assert_int_equal(sdpa.batch, 4);
  assert_int_equal(sdpa.heads, 12);
  words.outer[0].stride[V] = 1928;
  assert_false(is_given(&words));
}

/* A mask that hides nothing is none. */
static void test_masks(void **state) {
  tprt_abi_fused_attention words = grouped();
  (void)state;
  words.offset = 19;
  assert_false(described(&words).causal);
  words.offset = 18;
  assert_true(described(&words).causal);
  words.offset = 0;
  assert_true(described(&words).causal);
  words.offset = -1;
  assert_false(is_given(&words));
  words.offset = 0;
  words.hidden = bits_of(-1e30f);
  assert_true(is_given(&words));
  words.hidden = bits_of(-9e29f);
  assert_false(is_given(&words));
  words.causal = 0;
  assert_false(described(&words).causal);
}

static void test_refused(void **state) {
  (void)state;
#define REFUSED(change)                                                                            \
  do {                                                                                             \
    tprt_abi_fused_attention w = grouped();                                                        \
    change;                                                                                        \
    assert_false(is_given(&w));                                                                    \
  } while (0)
  REFUSED(w.scale = bits_of(-0.25f));
  REFUSED(w.scale = bits_of(0));
  REFUSED(w.mask = TPRT_ATTENTION_KEEP);
  REFUSED(w.dropout = TPRT_ATTENTION_MULTIPLY);
  REFUSED(w.cap = bits_of(2));
  REFUSED(w.position_dtype = TPRT_I32);
  REFUSED(w.out_dtype = TPRT_F32);
  REFUSED(w.feature.size = 12);
  REFUSED(w.value.size = 12);
  REFUSED(w.feature.stride[K] = 2);
  REFUSED(w.value.stride[OUT] = 2);
  REFUSED(w.row.stride[Q] = 196);
  REFUSED(w.column.stride[V] = 52);
  REFUSED(w.outer[0].stride[K] = 0); /* all batches share keys */
  REFUSED(w.outer[0].size = 0);
  REFUSED(w.row.size = 0);
  REFUSED(w.row.stride[MAX] = 2);
  REFUSED(w.outer[0].stride[SUM] = 288);
  REFUSED((w.outer[1].stride[SUM] = 52, w.group.stride[SUM] = 13));
  REFUSED((w.outer[1].stride[MAX] = 4, w.group.stride[MAX] = 1, w.row.stride[MAX] = 12));
  tprt_abi_fused_attention words = grouped();
  tprt__sdpa sdpa;
  assert_false(tprt__sdpa_of(TPRT_F32, &words, true, &sdpa));
  assert_true(tprt__sdpa_of(TPRT_BF16, &words, false, &sdpa));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_grouped), cmocka_unit_test(test_loops),
                                     cmocka_unit_test(test_masks), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
