/* Runs attention and its gradient as programs for GPUs call them, on the fake driver. Every case is
 * compared with f64, also with misaligned operands. Invalid tables, failing calls and tensors
 * without rows are tried, too. */
#define _GNU_SOURCE 1
#include "../kernels/attention_cases.h"
#include "test/runtime/harness/long.h"
#include "test/runtime/harness/table.h"
#include "tprt/tprt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Sites of a case. */
typedef enum site_of_case { PLAIN, WITH_STATISTICS, GRADIENT, N_SITES } site_of_case;

static tprt_abi_fused_attention words_of(const attention_case *c, site_of_case which) {
  tprt_abi_fused_attention w = which == GRADIENT ? attention_gradient_words(c) : attention_words(c);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    if ((x != TPRT_ATTENTION_MASK || c->mask) && (x != TPRT_ATTENTION_DROPOUT || c->dropout))
      attention_add_role(&w.operands, x, which != PLAIN, which == GRADIENT);
  if (c->position_dtype)
    add_input(&w.operands, TPRT_IN_POSITION);
  if (which == GRADIENT)
    add_output(&w.operands, TPRT_OUT_WORKSPACE);
  return w;
}

static void add_case(test_table *t, const attention_case *c, site_of_case which) {
  const int64_t shape[] = {c->batch, c->heads * c->group * c->rows, c->features};
  const tprt_abi_fused_attention words = words_of(c, which);
  table_site(t, which == GRADIENT ? TPRT_SITE_FUSED_ATTENTION_GRADIENT : TPRT_SITE_FUSED_ATTENTION,
             c->dtype, TPRT_NO_REDUCTION, 0, NULL, 3, shape, &words,
             N_WORDS_OF(tprt_abi_fused_attention));
  table_header(t)->target = TPRT_TARGET_CUDA;
}

static const attention_case *find_case(const char *name) {
  for (int i = 0; i < n_attention_cases; i++)
    if (strcmp(attention_cases[i].name, name) == 0)
      return &attention_cases[i];
  fail_msg("there is no case %s", name);
  return NULL;
}

/* ---- a context of one rank ---- */

typedef struct world {
  tprt_comm *comm;
  tprt_context *context;
  test_table program;
} world;

/* With one site of each case, or (N_SITES) all. */
static world make_world(const attention_case *cases, int n, site_of_case which) {
  static const int64_t one = 1;
  world w = {.program = table_make(1, &one)};
  const tprt_config config = {.size = sizeof config, .backend = "self"};
  const tprt_context_config for_gpu = {.size = sizeof for_gpu, .target = TPRT_TARGET_CUDA};
  for (int i = 0; i < n * N_SITES; i++)
    if (which == N_SITES || which == (site_of_case)(i % N_SITES))
      add_case(&w.program, &cases[i / N_SITES], i % N_SITES);
  assert_int_equal(tprt_world_create_threads(1, &config, &w.comm), TPRT_OK);
  assert_int_equal(tprt_context_create(w.comm, &for_gpu, &w.context), TPRT_OK);
  return w;
}

static void end_world(world *w) {
  tprt_context_destroy(w->context);
  tprt_comm_destroy(w->comm);
  table_free(&w->program);
}

/* ---- results ---- */

/* Runs a site, and downloads what it makes. */
static void run_site(const world *w, int site, const attention_case *c, site_of_case which,
                     const fused_pointers *pointers, attention_memory *host) {
  const tprt_abi_fused_attention words = words_of(c, which);
  if (call_fused(w->context, site, &words.operands, pointers) != TPRT_OK)
    fail_msg("%s: %s", c->name, tprt_context_error(w->context));
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++) {
    tprt_operand role = attention_role(x, which == GRADIENT);
    bool is_made = role >= TPRT_OUT_TENSOR && !(which == PLAIN && role != TPRT_OUT_TENSOR);
    if (is_made)
      assert_int_equal(
          tprt_context_download(w->context, host->of[x], pointers->of[role][0], host->bytes[x]),
          TPRT_OK);
  }
}

/* Runs the sites of a case with operands that begin `shift` bytes behind an aligned address. */
static int run_case(const world *w, int first_site, const attention_case *c, size_t shift,
                    bool has_gradient) {
  enum { POSITION = TPRT_ATTENTION_TENSORS, WORKSPACE, N_BUFFERS };
  const char *what = shift ? "misaligned" : "aligned";
  attention_memory host;
  fused_pointers pointers = {{{NULL}}};
  void *device[N_BUFFERS] = {NULL};
  attention_fill(c, &host);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++) {
    if (!host.of[x])
      continue;
    assert_int_equal(tprt_context_alloc(w->context, host.bytes[x] + shift, &device[x]), TPRT_OK);
    for (int is_gradient = 0; is_gradient < 2; is_gradient++)
      if (attention_role(x, is_gradient))
        pointers.of[attention_role(x, is_gradient)][0] = (char *)device[x] + shift;
    assert_int_equal(
        tprt_context_upload(w->context, (char *)device[x] + shift, host.of[x], host.bytes[x]),
        TPRT_OK);
  }
  assert_int_equal(tprt_context_alloc(w->context, sizeof host.position, &device[POSITION]),
                   TPRT_OK);
  assert_int_equal(
      tprt_context_upload(w->context, device[POSITION], &host.position, sizeof host.position),
      TPRT_OK);
  pointers.of[TPRT_IN_POSITION][0] = device[POSITION];
  assert_int_equal(tprt_context_alloc(w->context, host.workspace_bytes, &device[WORKSPACE]),
                   TPRT_OK);
  pointers.of[TPRT_OUT_WORKSPACE][0] = device[WORKSPACE];
  run_site(w, first_site + PLAIN, c, PLAIN, &pointers, &host);
  int errors = attention_errors(c, &host, what);
  memset(host.of[TPRT_ATTENTION_OUT], 0xff, host.bytes[TPRT_ATTENTION_OUT]);
  run_site(w, first_site + WITH_STATISTICS, c, WITH_STATISTICS, &pointers, &host);
  errors += attention_errors(c, &host, what) + attention_statistics_errors(c, &host, what);
  if (has_gradient) {
    run_site(w, first_site + GRADIENT, c, GRADIENT, &pointers, &host);
    errors += attention_gradient_errors(c, &host, 3, what);
  }
  for (int x = 0; x < N_BUFFERS; x++)
    tprt_context_free(w->context, device[x]);
  attention_free(&host);
  return errors;
}

static void test_results(void **state) {
  (void)state;
  int errors = 0, n_large = 0;
  /* its kernels are for attention itself, on the tensor core */
  bool is_hopper = getenv("TPRT_HOPPER_ATTENTION") != NULL;
  world w = make_world(attention_cases, n_attention_cases, N_SITES);
  assert_int_equal(tprt_abi_enter(w.context, w.program.words), TPRT_OK);
  for (int i = 0; i < n_attention_cases; i++) {
    bool large = attention_cases[i].large;
    n_large += large;
    /* the tests of kernels have the large ones, which take most of the time */
    if (!test_is_long() &&
        ((large && n_large > 1) || (is_hopper && !attention_cases[i].by_tensor_core)))
      continue;
    bool shifts = !large && (test_is_long() || i % 3 == 0);
    errors += run_case(&w, i * N_SITES, &attention_cases[i], 0, !is_hopper);
    if (shifts)
      errors += run_case(&w, i * N_SITES, &attention_cases[i], sizeof(float), !is_hopper);
    for (int site = 0; site < (is_hopper ? GRADIENT : N_SITES); site++) {
      tprt_site_stats stats;
      assert_int_equal(tprt_context_site_stats(w.context, i * N_SITES + site, &stats), TPRT_OK);
      assert_int_equal(stats.calls, shifts ? 2 : 1);
      assert_int_equal(stats.bytes, 0);
    }
  }
  assert_int_equal(errors, 0);
  end_world(&w);
}

/* ---- invalid tables ---- */

/* A word of a case's site, and what refuses it. */
typedef struct refusal {
  const char *of;
  size_t word;
  int64_t value;
  const char *text;
} refusal;

static void expect_refusals(const refusal *rows, size_t n, site_of_case site) {
  static const int64_t one = 1;
  for (size_t i = 0; i < n; i++) {
    test_table t = table_make(1, &one);
    add_case(&t, find_case(rows[i].of), site);
    assert_true(table_refused(&t, rows[i].word, rows[i].value, rows[i].text));
    table_free(&t);
  }
}

static void test_tables(void **state) {
  (void)state;
#define WORD(member) EXTRA_WORD(tprt_abi_fused_attention, member)
  static const refusal rows[] = {
      {"f32", HEADER_WORD(target), TPRT_TARGET_HOST,
       "fused attention: fused sites are supported in GPU programs only"},
      {"f32", SITE_WORD(dtype), TPRT_F64, "fused attention: reduction none of queries of f64"},
      {"f32", SITE_WORD(reduction), TPRT_SUM, "fused attention: reduction sum of queries of f32"},
      {"f32", SITE_WORD(n_extra), 21, "fused attention: has 21 words of extra data, expected"},
      {"f32", SITE_WORD(dim), 1, "dim is 1"},
      {"f32", WORD(operands.inputs[0]), TPRT_IN_TENSOR, "fused attention: operands 0x"},
      {"f32", WORD(operands.outputs[0]), TPRT_OUT_SCALE, "fused attention: operands 0x"},
      {"f32", WORD(outer[3].size), -1, "size of an outer loop of an attention is -1"},
      {"f32", WORD(group.size), -1, "group of an attention is -1"},
      {"f32", WORD(row.size), INT64_MAX, "rows of an attention is"},
      {"f32", WORD(column.size), 0, "columns of an attention is 0"},
      {"f32", WORD(feature.size), 129, "features of an attention is 129; it must be from 1 to 128"},
      {"f32", WORD(value.size), 0, "features of the values of an attention is 0"},
      {"f32", WORD(row.stride[TPRT_ATTENTION_Q]), -1, "stride of an attention is -1"},
      {"f32", WORD(scale), 0x7f800000, "fused attention: scale inf and hidden score -inf"},
      {"f32", WORD(hidden), 0, "and hidden score 0; they must be finite, and negative"},
      {"f32", WORD(mask), TPRT_ATTENTION_KEEP, "mask of an attention is 1; it must be from 0 to 0"},
      {"f32", WORD(mask_dtype), TPRT_BOOL, "type 5 of the mask; it must be 0: there is none"},
      {"f32 hidden row", WORD(mask), TPRT_ATTENTION_NO_MASK, "mask of an attention is 0"},
      {"f32 hidden row", WORD(mask_dtype), TPRT_F32, "of the mask; it must be bool"},
      {"f32 added", WORD(mask_dtype), TPRT_BF16, "it must be f32 or that of the queries"},
      {"f32", WORD(dropout), TPRT_ATTENTION_MULTIPLY,
       "dropout of an attention is 3; it must be from 0 to 0"},
      {"f32", WORD(dropout_dtype), TPRT_BOOL, "of the dropout; it must be 0: there is none"},
      {"f32", WORD(dropout_scale), 0x3f800000, "scale 1 of the dropout; it must be positive"},
      {"f32 dropout", WORD(dropout), TPRT_ATTENTION_NO_DROPOUT, "dropout of an attention is 0"},
      {"f32 dropout", WORD(dropout_dtype), TPRT_F32, "of the dropout; it must be bool"},
      {"f32 dropout", WORD(dropout_scale), 0, "scale 0 of the dropout; it must be positive"},
      {"f32", WORD(zeroes_dropped), 1,
       "whether dropped weights are 0 is 1; it must be from 0 to 0"},
      {"f32 hidden row, dropout", WORD(zeroes_dropped), 1, "whether dropped weights are 0 is 1"},
      {"f32", WORD(causal), 2, "causal is 2"},
      {"f32", WORD(offset), 1, "offset of a causal mask is 1; it must be from 0 to 0"},
      {"f32 causal", WORD(offset), INT64_MIN, "offset of a causal mask is"},
      {"f32", WORD(position_dtype), TPRT_I32, "of the position; it must be that of an i32 or i64"},
      {"f32 decode", WORD(position_dtype), 0, "of the position; it must be that of an i32 or i64"},
      {"f32 decode", WORD(position_dtype), TPRT_F32, "of the position; it must be"},
      {"f32", WORD(out_dtype), TPRT_BF16, "of a result; it must be f32 or that of the queries"},
      {"f32", WORD(gradient_dtypes[1]), TPRT_F32, "type of a gradient of an attention is"},
      {"f32", WORD(passes_hidden), 1, "whether hidden scores pass gradients is 1"},
      {"f32", WORD(zeroes_hidden), 2, "whether rows of hidden scores are 0 is 2"},
      {"f32", WORD(cap), 0xbf800000, "a cap of -1; it must be finite, and not negative"},
  };
  static const refusal of_statistics[] = {
      {"f32", WORD(operands.n_outputs), 2, "outputs is"},
  };
  static const refusal of_gradient[] = {
      {"f32", WORD(passes_hidden), 2, "whether hidden scores pass gradients is 2"},
      {"f32", WORD(zeroes_hidden), 1, "whether rows of hidden scores are 0 is 1"},
      {"f32", WORD(gradient_dtypes[2]), TPRT_BF16, "of a result; it must be f32"},
      {"f32", WORD(row.size), 0, "rows of an attention is 0; it must be from 1"},
      {"f32", WORD(group.size), 0, "group of an attention is 0; it must be from 1"},
      {"f32", WORD(operands.inputs[0]), TPRT_IN_TENSOR, "fused gradient of attention: operands 0x"},
  };
  expect_refusals(rows, sizeof rows / sizeof *rows, PLAIN);
  expect_refusals(of_statistics, sizeof of_statistics / sizeof *of_statistics, WITH_STATISTICS);
  expect_refusals(of_gradient, sizeof of_gradient / sizeof *of_gradient, GRADIENT);
}

/* ---- failing calls ---- */

static void expect_failure(const char *mode, bool has_keys, tprt_status status, const char *text) {
  world w = make_world(find_case("f32"), 1, PLAIN);
  float *memory = NULL;
  assert_int_equal(tprt_context_alloc(w.context, 1 << 16, (void **)&memory), TPRT_OK);
  int32_t got = tprt_abi_enter(w.context, w.program.words);
  assert_int_equal(got, TPRT_OK);
  setenv("FAKE_CUDA", mode, 1);
  const tprt_abi_fused_attention words = words_of(find_case("f32"), PLAIN);
  fused_pointers pointers = {{[TPRT_IN_QUERIES] = {memory},
                              [TPRT_IN_KEYS] = {has_keys ? memory : NULL},
                              [TPRT_IN_VALUES] = {memory},
                              [TPRT_OUT_TENSOR] = {memory + (1 << 13)}}};
  got = call_fused(w.context, 0, &words.operands, &pointers);
  setenv("FAKE_CUDA", "", 1);
  assert_int_equal(got, status);
  if (!strstr(tprt_context_error(w.context), text))
    fail_msg("\"%s\" does not say \"%s\"", tprt_context_error(w.context), text);
  tprt_context_free(w.context, memory);
  end_world(&w);
}

static void expect_unbound(const attention_case *c, site_of_case which, const char *mode,
                           tprt_status status, const char *text) {
  world w = make_world(c, 1, which);
  setenv("FAKE_CUDA", mode, 1);
  int32_t got = tprt_abi_enter(w.context, w.program.words);
  setenv("FAKE_CUDA", "", 1);
  assert_int_equal(got, status);
  if (!strstr(tprt_context_error(w.context), text))
    fail_msg("\"%s\" does not say \"%s\"", tprt_context_error(w.context), text);
  end_world(&w);
}

static void test_failures(void **state) {
  (void)state;
  expect_failure("", false, TPRT_INVALID_ARGUMENT, "site 0: input 1 of the site is NULL");
  expect_failure("launch", true, TPRT_DEVICE, "tprt_attention_f32");
  expect_unbound(find_case("f32"), PLAIN, "load", TPRT_DEVICE, "the kernels of attention");
  expect_unbound(find_case("f32"), GRADIENT, "load", TPRT_DEVICE,
                 "the kernels of the gradient of attention");
  attention_case large = *find_case("f32");
  large.batch = large.heads = INT64_C(1) << 20;
  expect_unbound(&large, PLAIN, "", TPRT_UNSUPPORTED, "more than 2^31 blocks of 32 rows");
  large.rows = 1;
  large.batch = large.heads = INT64_C(1)
                              << 15; /* so many blocks of rows, and twice as many of columns */
  expect_unbound(&large, GRADIENT, "", TPRT_UNSUPPORTED, "more than 2^31 blocks of 32 columns");
}

/* Which kernels run: those of compute capability 9.0, and those of gradients, ask for more shared
 * memory than all kernels may, and that fails. */
static void test_choice(void **state) {
  static const struct {
    const char *name, *setting, *capability;
    const char *asks; /* NULL: for no more */
    site_of_case site;
  } rows[] = {
      {"bf16 64", "1", "9.0", "tprt_attention_bf16_wgmma_64", PLAIN},
      {"f16 128", "1", "9.0", "tprt_attention_f16_wgmma_128", PLAIN},
      {"bf16 80", "1", "9.0", "tprt_attention_bf16_wgmma_128", PLAIN},
      {"f16 128", "1", "8.0", NULL, PLAIN},
      {"f16 128", "1", "9.1", NULL, PLAIN},
      {"f16 128", "0", "9.0", NULL, PLAIN},
      {"f16 12 features", "1", "9.0", NULL, PLAIN},
      {"f32", "1", "9.0", NULL, PLAIN},
      /* they write no statistics */
      {"bf16 64", "1", "9.0", NULL, WITH_STATISTICS},
      {"bf16 64", "1", "9.0", "tprt_attention_gradient_rows_bf16", GRADIENT},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setenv("TPRT_HOPPER_ATTENTION", rows[i].setting, 1);
    setenv("FAKE_CAPABILITY", rows[i].capability, 1);
    expect_unbound(find_case(rows[i].name), rows[i].site, "function attribute",
                   rows[i].asks ? TPRT_DEVICE : TPRT_OK, rows[i].asks ? rows[i].asks : "");
  }
  unsetenv("FAKE_CAPABILITY");
  setenv("TPRT_HOPPER_ATTENTION", "1", 1);
  expect_unbound(find_case("f16 128"), PLAIN, "attributes", TPRT_DEVICE,
                 "attributes of the device");
  unsetenv("TPRT_HOPPER_ATTENTION");
}

/* Without rows there are no buffers. */
static void test_no_rows(void **state) {
  (void)state;
  attention_case none = *find_case("f32");
  none.rows = 0;
  world w = make_world(&none, 1, PLAIN);
  assert_int_equal(tprt_abi_enter(w.context, w.program.words), TPRT_OK);
  const tprt_abi_fused_attention words = words_of(&none, PLAIN);
  const fused_pointers pointers = {{{NULL}}};
  assert_int_equal(call_fused(w.context, 0, &words.operands, &pointers), TPRT_OK);
  end_world(&w);
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_results), cmocka_unit_test(test_tables),
                                     cmocka_unit_test(test_failures),
                                     cmocka_unit_test(test_no_rows), cmocka_unit_test(test_choice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
