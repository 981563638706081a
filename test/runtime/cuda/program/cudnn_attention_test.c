/* Tests attention by cuDNN (TPRT_ATTENTION) on the fake driver and the fake cuDNN: which attentions
 * it computes, and that they are right against sums in f64; how it is chosen, the same on all
 * ranks; every call that fails; captured graphs. */
#define _GNU_SOURCE 1
#include "../fake/fake_cudnn.h"
#include "../kernels/attention_cases.h"
#include "cache_folder.h"
#include "test/runtime/harness/device.h"
#include "test/runtime/harness/long.h"
#include "test/runtime/harness/table.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LOWEST (-3.38953139e38f) /* of bf16 */

/* clang-format off */
static const attention_case cases[] = {
    /* name, type, batch, heads, group, rows, columns, features, values */
    {"plain", TPRT_BF16, 2, 2, 1, 20, 30, 16, 16, .hidden = -INFINITY},
    {"causal", TPRT_F16, 2, 2, 1, 20, 20, 16, 24, .causal = true, .hidden = -INFINITY},
    {"causal, last row sees all", TPRT_BF16, 2, 2, 4, 9, 30, 16, 16, .layout = HEADS_INSIDE, .causal = true, .offset = 21, .hidden = LOWEST},
    {"causal, shifted", TPRT_BF16, 2, 3, 2, 9, 30, 8, 8, .layout = HEADS_INSIDE, .causal = true, .offset = 4, .hidden = -INFINITY},
    {"causal, columns that no row sees", TPRT_F16, 1, 2, 2, 9, 30, 8, 8, .causal = true, .hidden = -INFINITY},
    {"causal, all seen", TPRT_BF16, 1, 2, 1, 9, 12, 8, 8, .causal = true, .offset = 11, .hidden = LOWEST},
    {"a row", TPRT_BF16, 2, 2, 8, 1, 50, 64, 64, .layout = HEADS_INSIDE, .hidden = LOWEST},
    {"zero rows", TPRT_BF16, 1, 2, 1, 9, 12, 8, 8, .causal = true, .zeroes_hidden = true, .hidden = -INFINITY},
};
/* What the kernels of this library compute although TPRT_ATTENTION=cudnn. */
static const attention_case others[] = {
    {"f32", TPRT_F32, 2, 2, 1, 20, 30, 16, 16, .hidden = -INFINITY},
    {"12 features", TPRT_BF16, 1, 2, 1, 20, 30, 12, 16, .hidden = -INFINITY},
    {"a mask", TPRT_BF16, 2, 2, 1, 9, 30, 16, 16, .mask = TPRT_ATTENTION_KEEP, .mask_dtype = TPRT_BOOL, .hidden = -INFINITY},
    {"a dropout", TPRT_BF16, 2, 2, 1, 9, 30, 16, 16, .dropout = TPRT_ATTENTION_KEEP_WEIGHT, .dropout_dtype = TPRT_BOOL, .hidden = -INFINITY},
    {"a cap", TPRT_BF16, 2, 2, 1, 9, 30, 16, 16, .cap = 2, .hidden = -INFINITY},
    {"a position", TPRT_BF16, 1, 2, 1, 9, 30, 16, 16, .causal = true, .position_dtype = TPRT_I32, .position = 7, .hidden = -INFINITY},
    {"rows that see nothing", TPRT_BF16, 1, 2, 1, 9, 30, 16, 16, .causal = true, .offset = -3, .zeroes_hidden = true, .hidden = -INFINITY},
    {"hidden scores that count", TPRT_BF16, 1, 2, 1, 9, 30, 16, 16, .causal = true, .hidden = -9},
    {"a wide result", TPRT_BF16, 1, 2, 1, 9, 30, 16, 16, .wide = true, .hidden = -INFINITY},
    {"statistics that are not dense", TPRT_BF16, 2, 2, 1, 9, 30, 16, 16, .hidden = -INFINITY},
};
/* clang-format on */
enum { N_CASES = sizeof cases / sizeof *cases, N_OTHERS = sizeof others / sizeof *others };

static fake_cudnn_begin_fn *begin;
static fake_cudnn_look_fn *look;
static void begin_with(fake_cudnn_plan plan) { begin(&plan); }

static fake_cudnn_report report(void) {
  fake_cudnn_report r;
  look(&r);
  if (r.n_violations)
    fail_msg("%s", r.violation);
  return r;
}

/* ---- a rank with an attention ---- */

typedef struct rank {
  pthread_t thread;
  tprt_comm *world;
  tprt_context *context;
  attention_case of;
  bool has_statistics, replays;
  const char *mode; /* of the fake driver while the program of a single rank is bound */
  size_t shift;     /* operands begin so many bytes behind an aligned address */
  tprt_status status;
  int errors;
  uint16_t *out; /* the result */
  size_t out_bytes;
  char attention[512], error[256];
} rank;

static tprt_abi_fused_attention words_of(const rank *r) {
  tprt_abi_fused_attention w = attention_words(&r->of);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    if ((x != TPRT_ATTENTION_MASK || r->of.mask) && (x != TPRT_ATTENTION_DROPOUT || r->of.dropout))
      attention_add_role(&w.operands, x, r->has_statistics, false);
  if (r->of.position_dtype)
    add_input(&w.operands, TPRT_IN_POSITION);
  return w;
}

static test_table make_program(const rank *r, int n_ranks) {
  const attention_case *c = &r->of;
  const int64_t shape[] = {c->batch, c->heads * c->group * c->rows, c->features}, size = n_ranks;
  const tprt_abi_fused_attention words = words_of(r);
  test_table made = table_make(1, &size);
  table_site(&made, TPRT_SITE_FUSED_ATTENTION, c->dtype, TPRT_NO_REDUCTION, 0, NULL, 3, shape,
             &words, N_WORDS_OF(tprt_abi_fused_attention));
  table_header(&made)->target = TPRT_TARGET_CUDA;
  return made;
}

static bool is_made(const rank *r, int x) {
  return x == TPRT_ATTENTION_OUT ||
         (r->has_statistics && (x == TPRT_ATTENTION_MAX || x == TPRT_ATTENTION_SUM));
}

/* What the program that is replayed calls; by one rank only. */
static const tprt_abi_operands *replayed;

static int32_t program_of_graph(tprt_context *context, void *const *inputs, void *const *outputs) {
  const fused_pointers pointers = {{[TPRT_IN_QUERIES] = {inputs[0]},
                                    [TPRT_IN_KEYS] = {inputs[1]},
                                    [TPRT_IN_VALUES] = {inputs[2]},
                                    [TPRT_OUT_TENSOR] = {outputs[0]}}};
  return call_fused(context, 0, replayed, &pointers);
}

static tprt_status call_or_replay(const rank *r, const tprt_abi_operands *operands,
                                  const fused_pointers *pointers) {
  void *const inputs[] = {pointers->of[TPRT_IN_QUERIES][0], pointers->of[TPRT_IN_KEYS][0],
                          pointers->of[TPRT_IN_VALUES][0]},
              *const outputs[] = {pointers->of[TPRT_OUT_TENSOR][0]};
  tprt_status status = TPRT_OK;
  const char *why = "";
  if (!r->replays)
    return (tprt_status)call_fused(r->context, 0, operands, pointers);
  replayed = operands;
  for (int i = 0; i < 4 && !status && !*why; i++)
    status = tprt_context_replay(r->context, program_of_graph, 3, inputs, 1, outputs, &why);
  if (*why)
    fail_msg("%s", why);
  return status;
}

static void run_attention(rank *r) {
  const tprt_abi_fused_attention words = words_of(r);
  attention_memory host;
  fused_pointers pointers = {{{NULL}}};
  void *memory[TPRT_ATTENTION_TENSORS] = {NULL}, *position = NULL;
  attention_fill(&r->of, &host);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS && !r->status; x++) {
    if (!host.of[x])
      continue;
    r->status = tprt_context_alloc(r->context, host.bytes[x] + r->shift, &memory[x]);
    char *at = (char *)memory[x] + r->shift;
    if (!r->status)
      r->status = tprt_context_upload(r->context, at, host.of[x], host.bytes[x]);
    if (attention_role(x, false))
      pointers.of[attention_role(x, false)][0] = at;
  }
  if (!r->status)
    r->status = tprt_context_alloc(r->context, sizeof host.position, &position);
  if (!r->status)
    r->status = tprt_context_upload(r->context, position, &host.position, sizeof host.position);
  pointers.of[TPRT_IN_POSITION][0] = position;
  if (!r->status)
    r->status = call_or_replay(r, &words.operands, &pointers);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS && !r->status; x++)
    if (is_made(r, x))
      r->status = tprt_context_download(r->context, host.of[x], (char *)memory[x] + r->shift,
                                        host.bytes[x]);
  if (!r->status)
    r->errors = attention_errors(&r->of, &host, "GPU") +
                (r->has_statistics ? attention_statistics_errors(&r->of, &host, "GPU") : 0);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    tprt_context_free(r->context, memory[x]);
  tprt_context_free(r->context, position);
  attention_free(&host);
}

static void *run_rank(void *data) {
  rank *r = data;
  test_table program = make_program(r, tprt_comm_size(r->world));
  if (r->mode)
    set_variable("FAKE_CUDA", r->mode);
  r->status = (tprt_status)tprt_abi_enter(r->context, program.words);
  if (r->mode)
    set_variable("FAKE_CUDA", "");
  if (!r->status)
    run_attention(r);
  if (!r->status) /* a rank whose program has no collective learns here that another one failed */
    r->status = tprt_barrier(r->world, NULL, NULL);
  snprintf(r->attention, sizeof r->attention, "%s", tprt_context_attention(r->context));
  snprintf(r->error, sizeof r->error, "%s", r->status ? tprt_context_error(r->context) : "");
  table_free(&program);
  return NULL;
}

/* Runs an attention on n ranks, the last of which has TPRT_ATTENTION=`of_last`. */
static void run_ranks(int n, const char *of_last, rank *ranks) {
  const tprt_config config = {.size = sizeof config, .backend = n > 1 ? "loopback" : "self"};
  const tprt_context_config on_gpu = {.size = sizeof on_gpu, .target = TPRT_TARGET_CUDA};
  const char *kept = getenv("TPRT_ATTENTION");
  char before[16];
  tprt_comm *worlds[2];
  snprintf(before, sizeof before, "%s", kept ? kept : "");
  assert_int_equal(tprt_world_create_threads(n, &config, worlds), TPRT_OK);
  for (int i = 0; i < n; i++) {
    ranks[i].world = worlds[i];
    if (i == n - 1)
      set_variable("TPRT_ATTENTION", of_last);
    if (getenv("FAKE_DEVICES"))
      set_variable("TPRT_DEVICE", i ? "1" : "0");
    assert_int_equal(tprt_context_create(worlds[i], &on_gpu, &ranks[i].context), TPRT_OK);
  }
  set_variable("TPRT_ATTENTION", kept ? before : NULL);
  set_variable("TPRT_DEVICE", NULL);
  for (int i = 0; i < n; i++)
    assert_int_equal(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]), 0);
  for (int i = 0; i < n; i++)
    pthread_join(ranks[i].thread, NULL);
  for (int i = 0; i < n; i++) {
    tprt_context_destroy(ranks[i].context);
    tprt_comm_destroy(ranks[i].world);
  }
  assert_int_equal(report().n_alive, 0);
}

static rank run_one(const attention_case *c, bool has_statistics, const char *setting) {
  rank r = {.of = *c, .has_statistics = has_statistics};
  r.of.dense_statistics = strcmp(c->name, "statistics that are not dense") != 0;
  run_ranks(1, setting, &r);
  if (r.status)
    fail_msg("%s: %s", c->name, r.error);
  if (r.errors)
    fail_msg("%s: %d errors", c->name, r.errors);
  return r;
}

static void expect_text(const rank *r, const char *text) {
  assert_string_equal(r->attention, text);
}

/* ---- tests ---- */

/* Comes first: a library that is loaded stays. */
static void test_library(void **state) {
  static const struct {
    const char *path;
    size_t version;
    const char *text;
  } rows[] = {
      {"/nonexistent.so", 0, "cuDNN: /nonexistent.so: cannot open shared object file"},
      {FAKE_BLASLT, 0, " has no cudnnGetErrorString; 9.10.2 or newer is needed"},
      {FAKE_CUDNN, 91001, " has version 91001; 91002 or newer is needed"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    set_variable("TPRT_CUDNN_LIBRARY", rows[i].path);
    begin_with((fake_cudnn_plan){.version = rows[i].version});
    rank pinned = {.of = cases[0]}, timed = {.of = cases[0]};
    run_ranks(1, "cudnn", &pinned);
    assert_int_equal(pinned.status, TPRT_UNSUPPORTED);
    if (!strstr(pinned.error, "TPRT_ATTENTION=cudnn: cuDNN: ") ||
        !strstr(pinned.error, rows[i].text))
      fail_msg("\"%s\" does not say \"%s\"", pinned.error, rows[i].text);
    run_ranks(1, "timed", &timed);
    assert_int_equal(timed.status, TPRT_OK);
    assert_int_equal(timed.errors, 0);
    if (strncmp(timed.attention, "own kernels: cuDNN: ", 20) != 0 ||
        !strstr(timed.attention, rows[i].text))
      fail_msg("\"%s\" does not say \"%s\"", timed.attention, rows[i].text);
  }
  set_variable("TPRT_CUDNN_LIBRARY", FAKE_CUDNN);
}

static void test_bad_value(void **state) {
  const tprt_config config = {.size = sizeof config, .backend = "self"};
  tprt_comm *world = NULL;
  (void)state;
  set_variable("TPRT_ATTENTION", "flash");
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_INVALID_ARGUMENT);
  assert_string_equal(tprt_last_error(),
                      "TPRT_ATTENTION is \"flash\"; it must be own, cudnn or timed");
  set_variable("TPRT_ATTENTION", NULL);
}

static void test_cases(void **state) {
  (void)state;
  begin_with((fake_cudnn_plan){.workspace = 4096});
  for (int i = 0; i < 2 * N_CASES; i++) {
    rank r = run_one(&cases[i / 2], i % 2, "cudnn");
    expect_text(&r, "cuDNN for 1 of 1 (pinned by TPRT_ATTENTION)");
    assert_int_equal(report().n_runs, i + 1);
  }
}

static void test_others(void **state) {
  (void)state;
  begin_with((fake_cudnn_plan){0});
  for (int i = 0; i < N_OTHERS; i++) {
    rank r = run_one(&others[i], i == N_OTHERS - 1, "cudnn");
    expect_text(&r, "cuDNN for 0 of 1 (pinned by TPRT_ATTENTION)");
  }
  /* it has no kernel, or none that always gives the same bits */
  begin_with((fake_cudnn_plan){.knows_nothing = true});
  run_one(&cases[0], false, "cudnn");
  begin_with((fake_cudnn_plan){.n_unfit = 2});
  run_one(&cases[0], false, "cudnn");
  assert_int_equal(report().n_runs, 0);
  begin_with((fake_cudnn_plan){.n_unfit = 1});
  run_one(&cases[0], false, "cudnn");
  assert_int_equal(report().n_by[1], 1);
  begin_with((fake_cudnn_plan){.falls_back = true});
  run_one(&cases[0], false, "cudnn");
  assert_int_equal(report().n_by[0], 1);
  begin_with((fake_cudnn_plan){.varies = true});
  run_one(&cases[0], false, "cudnn");
  assert_int_equal(report().n_by[1], 1);
}

/* Without the setting cuDNN is not called, nor on addresses that are not aligned. */
static void test_off(void **state) {
  static const char *const settings[] = {NULL, "own"};
  rank r;
  (void)state;
  begin_with((fake_cudnn_plan){0});
  for (int i = 0; i < 2; i++) {
    r = run_one(&cases[0], false, settings[i]);
    expect_text(&r, "");
    assert_int_equal(report().n_calls, 0);
  }
  r = (rank){.of = cases[0], .shift = 4};
  run_ranks(1, "cudnn", &r);
  assert_int_equal(r.status, TPRT_OK);
  assert_int_equal(r.errors, 0);
  expect_text(&r, "cuDNN for 1 of 1 (pinned by TPRT_ATTENTION)");
  assert_int_equal(report().n_runs, 0);
}

/* A captured graph has the attention, and replays compute it. */
static void test_graph(void **state) {
  rank r = {.of = cases[2], .replays = true};
  (void)state;
  begin_with((fake_cudnn_plan){.workspace = 64});
  run_ranks(1, "cudnn", &r);
  if (r.status)
    fail_msg("%s", r.error);
  assert_int_equal(r.errors, 0);
  assert_true(report().n_runs < 3);
}

/* TPRT_ATTENTION=timed: the faster one, stored in a file. */
static void test_timed(void **state) {
  static const char first[] =
      "cuDNN for %d of 1 (timed by rank 0: %d measured, %d from the cache, %d not timed)";
  char path[CACHE_PATH], text[256];
  rank r;
  (void)state;
  for (int slow = 0; slow < 2; slow++) {
    cache_files_clear();
    begin_with((fake_cudnn_plan){.ms = slow ? 1000 : 1e-6});
    for (int turn = 0; turn < 2; turn++) {
      r = run_one(&cases[1], true, "timed");
      snprintf(text, sizeof text, first, !slow, !turn, turn, 0);
      expect_text(&r, text);
      assert_int_equal(cache_files(path), 1);
      /* the file holds, although the other one is faster now */
      assert_int_equal(report().n_runs, turn ? !slow : 6 + !slow);
      begin_with((fake_cudnn_plan){.ms = slow ? 1e-6 : 1000});
    }
  }
  /* a file of something else is measured again */
  FILE *file = fopen(path, "w");
  fputs("tpshard gpu attention 1\n", file);
  fclose(file);
  r = run_one(&cases[1], true, "timed");
  expect_text(&r, "cuDNN for 1 of 1 (timed by rank 0: 1 measured, 0 from the cache, 0 not timed)");
  /* another version of cuDNN has a file of its own */
  begin_with((fake_cudnn_plan){.ms = 1000, .version = 92000});
  r = run_one(&cases[1], true, "timed");
  expect_text(&r, "cuDNN for 0 of 1 (timed by rank 0: 1 measured, 0 from the cache, 0 not timed)");
  assert_int_equal(cache_files(path), 2);
  /* what cannot be stored is not measured */
  set_variable("XDG_CACHE_HOME", "/dev/null");
  r = run_one(&cases[1], true, "timed");
  expect_text(&r, "cuDNN for 0 of 1 (timed by rank 0: 0 measured, 0 from the cache, 1 not timed)");
  cache_folder_use();
  /* nor what cuDNN does not have */
  r = run_one(&others[0], false, "timed");
  expect_text(&r, "cuDNN for 0 of 1 (timed by rank 0: 0 measured, 0 from the cache, 1 not timed)");
}

/* The ranks use the same. */
static void test_ranks(void **state) {
  static const struct {
    const char *of_last, *names, *text;
    long n_runs;
  } rows[] = {
      {"cudnn", NULL, "cuDNN for 1 of 1 (pinned by TPRT_ATTENTION)", 2},
      {"own", NULL, "own kernels: TPRT_ATTENTION is not the same on all ranks", 0},
      {"cudnn", "1", "own kernels: the ranks have different GPUs or versions of cuDNN", 0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    rank ranks[2] = {{.of = cases[1]}, {.of = cases[1]}};
    set_variable("FAKE_DEVICES", rows[i].names ? "2" : NULL);
    set_variable("FAKE_NAMES", rows[i].names);
    set_variable("TPRT_ATTENTION", "cudnn");
    begin_with((fake_cudnn_plan){0});
    run_ranks(2, rows[i].of_last, ranks);
    for (int r = 0; r < 2; r++) {
      if (ranks[r].status)
        fail_msg("%s", ranks[r].error);
      assert_int_equal(ranks[r].errors, 0);
      expect_text(&ranks[r], rows[i].text);
    }
    assert_int_equal(report().n_runs, rows[i].n_runs);
  }
  set_variable("FAKE_DEVICES", NULL);
  set_variable("FAKE_NAMES", NULL);
  /* A rank cannot do what rank 0 has chosen: all fail, rank 0 at the barrier at the latest. */
  rank ranks[2] = {{.of = cases[1]}, {.of = cases[1]}};
  begin_with((fake_cudnn_plan){.n_graphs = 1});
  run_ranks(2, "cudnn", ranks);
  assert_int_equal(ranks[0].status, TPRT_UNSUPPORTED);
  assert_int_equal(ranks[1].status, TPRT_UNSUPPORTED);
  assert_non_null(strstr(ranks[1].error, "the attention that rank 0 chose: cuDNN: it has no kernel "
                                         "for an attention"));
  set_variable("TPRT_ATTENTION", NULL);
}

/* Each call fails in turn: an error with cuDNN's text, and no object is left. If cuDNN is only
 * tried, another choice, which the text explains if it failed before it was timed. */
static void expect_faults(const char *setting) {
  enum { STATUS = 5001 };
  bool failed = true, is_timed = strcmp(setting, "timed") == 0;
  int n_errors = 0, n_explained = 0;
  for (long at = 1; failed; at += is_timed && !test_is_long() ? 7 : 1) {
    rank r = {.of = cases[2]};
    cache_files_clear();
    begin_with((fake_cudnn_plan){.fail_at = at, .status = STATUS, .workspace = 64, .ms = 1e-6});
    run_ranks(1, setting, &r);
    fake_cudnn_report seen = report();
    failed = *seen.failed;
    n_errors += r.status != TPRT_OK;
    n_explained += strstr(r.attention, "0 of 1") && strstr(r.attention, "(5001): injected)");
    assert_int_equal(r.errors, 0);
    if (r.status && (r.status != TPRT_DEVICE || !strstr(r.error, "(5001): injected")))
      fail_msg("%s: %s", seen.failed, r.error);
    if (!r.status && failed && !strstr(seen.failed, "estroy") && !is_timed)
      fail_msg("%s fails, and nothing is reported", seen.failed);
  }
  assert_true(is_timed ? n_explained > 10 : n_errors > 100);
}

static void test_faults(void **state) {
  (void)state;
  expect_faults("cudnn");
  expect_faults("timed");
  rank r = {.of = cases[0]};
  begin_with((fake_cudnn_plan){.fail_at = 1, .status = 4004});
  run_ranks(1, "cudnn", &r);
  assert_int_equal(r.status, TPRT_NO_MEMORY);
  assert_non_null(
      strstr(r.error, "TPRT_ATTENTION=cudnn: cuDNN: a handle: made up (4004): injected"));
}

/* Memory for the workspace is missing: an error. For the operands of a measurement: none. */
static void test_no_memory(void **state) {
  char path[CACHE_PATH];
  (void)state;
  cache_files_clear();
  rank r = {.of = cases[0], .mode = "allocate"};
  begin_with((fake_cudnn_plan){.workspace = 64});
  run_ranks(1, "cudnn", &r);
  assert_int_equal(r.status, TPRT_NO_MEMORY);
  r = (rank){.of = cases[0], .mode = "allocate"};
  begin_with((fake_cudnn_plan){0});
  run_ranks(1, "timed", &r);
  assert_int_equal(r.status, TPRT_OK);
  expect_text(&r, "cuDNN for 0 of 1 (timed by rank 0: 0 measured, 0 from the cache, 1 not timed)");
  assert_int_equal(cache_files(path), 0);
}

static int setup(void **state) {
  (void)state;
  set_variable("FAKE_CUDA", "");
  set_variable("TPRT_CUDA_LIBRARY", FAKE_DRIVER);
  set_variable("TPRT_CUDNN_LIBRARY", FAKE_CUDNN);
  set_variable("TPRT_ATTENTION", NULL);
  cache_folder_begin();
  void *library = dlopen(FAKE_CUDNN, RTLD_NOW | RTLD_LOCAL);
  void *found = library ? dlsym(library, "fake_cudnn_begin") : NULL;
  memcpy(&begin, &found, sizeof found);
  found = library ? dlsym(library, "fake_cudnn_look") : NULL;
  memcpy(&look, &found, sizeof found);
  return !begin || !look;
}

static int teardown(void **state) {
  (void)state;
  cache_folder_end();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_library), cmocka_unit_test(test_bad_value),
      cmocka_unit_test(test_cases),   cmocka_unit_test(test_others),
      cmocka_unit_test(test_off),     cmocka_unit_test(test_graph),
      cmocka_unit_test(test_timed),   cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_faults),  cmocka_unit_test(test_no_memory)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
