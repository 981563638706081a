/* Sites that gather rows and multiply them, in programs of virtual ranks on a driver that is none: against sums in f64; tables that are wrong; calls
 * that fail. */
#define _GNU_SOURCE 1
#include "fake_blaslt.h"
#include "table.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
  ROWS = 8,
  WIDTH = 12,
  MOST_RANKS = 4,
  MOST_COLUMNS = 20
}; /* [1, 8, 12] or [2, 4, 12], gathered along the second dimension */
static fake_blaslt_begin_fn *blaslt_begin;
static fake_blaslt_look_fn *blaslt_look;

typedef struct gather_case {
  tprt_dtype dtype;
  bool keeps; /* what is gathered is wanted, too */
  int n;
  int64_t columns[TPRT_GATHER_MOST], transposed[TPRT_GATHER_MOST];
  int64_t blocks;
} gather_case;

static const gather_case cases[] = {
    {TPRT_F32, true, 2, {16, 8, 0, 0}, {0, 1, 0, 0}, 1},
    {TPRT_BF16, false, 1, {20, 0, 0, 0}, {0, 0, 0, 0}, 1},
    {TPRT_F32, false, 4, {4, 12, 8, 20}, {1, 0, 0, 1}, 2},
    {TPRT_BF16, true, 1, {3, 0, 0, 0}, {0, 0, 0, 0}, 1}, /* slices of the product that are not aligned */
};
enum { N_CASES = sizeof cases / sizeof *cases };

static void add_case(test_table *t, const gather_case *c, int64_t n_ranks) {
  static const int64_t axis[] = {0};
  const int64_t shape[] = {c->blocks, ROWS / c->blocks / n_ranks, WIDTH};
  int64_t extra[1 + 2 * TPRT_GATHER_MOST] = {[TPRT_GATHER_N] = c->n};
  for (int i = 0; i < c->n; i++) {
    extra[TPRT_GATHER_COLUMNS + 2 * i] = c->columns[i];
    extra[TPRT_GATHER_TRANSPOSED + 2 * i] = c->transposed[i];
  }
  table_site(t, TPRT_SITE_GATHER_MULTIPLY, c->dtype, TPRT_NO_REDUCTION, 1, axis, 3, shape, extra, (size_t)(1 + 2 * c->n))[27] =
      1;
}

static test_table make_program(int64_t n_devices) {
  test_table t = table_make(1, &n_devices);
  for (int i = 0; i < N_CASES; i++)
    add_case(&t, &cases[i], n_devices);
  t.words[16] = TPRT_TARGET_CUDA;
  return t;
}

/* ---- Numbers ---- */

enum { LEFT = 5, RIGHT = 7, LATER = 20 }; /* rows of turn t are LEFT + LATER t; rank r's right factors are RIGHT + r */

static float number(int what, int64_t i) { return (float)((i * 7 + what * 13 + i / 11) % 17 - 8) / 8; }

static float load(tprt_dtype dtype, const void *from, int64_t i) {
  return dtype == TPRT_F32 ? ((const float *)from)[i] : tprt_bf16_to_f32(((const uint16_t *)from)[i]);
}

static void *upload(tprt_context *context, tprt_dtype dtype, int what, int64_t n) {
  float host[ROWS * WIDTH + WIDTH * MOST_COLUMNS];
  uint16_t narrow[ROWS * WIDTH + WIDTH * MOST_COLUMNS];
  void *memory = NULL;
  for (int64_t i = 0; i < n; i++) {
    host[i] = number(what, i);
    narrow[i] = tprt_f32_to_bf16(host[i]);
  }
  size_t bytes = (size_t)n * tprt_dtype_size(dtype);
  if (tprt_context_alloc(context, bytes, &memory) == TPRT_OK)
    (void)tprt_context_upload(context, memory, dtype == TPRT_F32 ? (const void *)host : narrow, bytes);
  return memory;
}

/* The rows of a rank, one block behind the other. */
static void upload_rows(tprt_context *context, const gather_case *c, int n_ranks, int rank, int left, char *memory) {
  int64_t each = ROWS / c->blocks / n_ranks * WIDTH, block = ROWS / c->blocks * WIDTH;
  size_t size = tprt_dtype_size(c->dtype);
  for (int64_t b = 0; b < c->blocks; b++)
    for (int64_t i = 0; i < each; i++) {
      float x = number(left, b * block + rank * each + i);
      uint16_t narrow = tprt_f32_to_bf16(x);
      const void *from = c->dtype == TPRT_F32 ? (const void *)&x : &narrow;
      (void)tprt_context_upload(context, memory + (size_t)(b * each + i) * size, from, size);
    }
}

static int check_product(const gather_case *c, int i, int rank, int left, const void *got) {
  double unit = c->dtype == TPRT_BF16 ? 0x1p-7 : 0x1p-20;
  for (int64_t row = 0; row < ROWS; row++)
    for (int64_t h = 0; h < c->columns[i]; h++) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < WIDTH; k++) {
        double x = (double)number(left, row * WIDTH + k) *
                   (double)number(RIGHT + rank, c->transposed[i] ? h * WIDTH + k : k * c->columns[i] + h);
        sum += x;
        size += fabs(x);
      }
      double x = (double)load(c->dtype, got, row * c->columns[i] + h);
      if (fabs(x - sum) <= unit * size)
        continue;
      fprintf(stderr, "wrong: case %d, rank %d, product %d [%lld, %lld] is %g, expected %g\n", (int)(c - cases), rank, i,
              (long long)row, (long long)h, x, sum);
      return 1;
    }
  return 0;
}

/* inputs: the rows and the factors; outputs: what is gathered and the products. NULL where there are none. */
enum { N_INPUTS = 1 + TPRT_GATHER_MOST, N_OUTPUTS = 1 + TPRT_GATHER_MOST };
static _Thread_local const test_table *table;
static _Thread_local int n_runs;

static int32_t call_site(tprt_context *context, int site, void *const *in, void *const *out) {
  n_runs++;
  if (tprt_abi_enter(context, table->words))
    return tprt_abi_status(context);
  return tprt_abi_gather_multiply(context, site, in[0], in[1], in[2], in[3], in[4], out[0], out[1], out[2], out[3], out[4]);
}

/* Programs of a site each. */
#define PROGRAM(site)                                                                                                          \
  static int32_t call_site##site(tprt_context *context, void *const *in, void *const *out) {                                   \
    return call_site(context, site, in, out);                                                                                  \
  }
PROGRAM(0)
PROGRAM(1)
PROGRAM(2)
PROGRAM(3)
static tprt_program_fn *const programs[N_CASES] = {call_site0, call_site1, call_site2, call_site3};

static int check_results(tprt_context *context, const gather_case *c, int rank, int left, void *const *out) {
  int errors = 0;
  char host[ROWS * MOST_COLUMNS * sizeof(float)];
  for (int k = 0; k < c->n && !errors; k++) {
    errors += tprt_context_download(context, host, out[1 + k], sizeof host) != TPRT_OK;
    errors += check_product(c, k, rank, left, host);
  }
  if (c->keeps)
    errors += tprt_context_download(context, host, out[0], sizeof host) != TPRT_OK;
  for (int64_t at = 0; at < ROWS * WIDTH && c->keeps; at++)
    errors += !(load(c->dtype, host, at) == number(left, at));
  return errors;
}

/* With other rows each time, called or, as a graph, replayed. */
static int run_case(tprt_context *context, tprt_comm *world, int i, bool replays) {
  enum { BYTES = ROWS * MOST_COLUMNS * sizeof(float) };
  const gather_case *c = &cases[i];
  int n_ranks = tprt_comm_size(world), rank = tprt_comm_rank(world), errors = 0;
  void *in[N_INPUTS] = {NULL}, *out[N_OUTPUTS] = {NULL};
  errors += tprt_context_alloc(context, BYTES, &in[0]) != TPRT_OK;
  for (int k = 0; k < c->n; k++) {
    in[1 + k] = upload(context, c->dtype, RIGHT + rank, WIDTH * c->columns[k]);
    errors += tprt_context_alloc(context, BYTES, &out[1 + k]) != TPRT_OK;
  }
  if (c->keeps)
    errors += tprt_context_alloc(context, BYTES, &out[0]) != TPRT_OK;
  n_runs = 0;
  for (int turn = 0; turn < (replays ? 5 : 2) && !errors; turn++) {
    const char *why = "";
    int left = LEFT + turn * LATER;
    upload_rows(context, c, n_ranks, rank, left, in[0]);
    errors += replays ? tprt_context_replay(context, programs[i], N_INPUTS, in, N_OUTPUTS, out, &why) != TPRT_OK
                      : programs[i](context, in, out) != TPRT_OK;
    if (*why)
      fprintf(stderr, "wrong: case %d is no graph: %s\n", i, why);
    errors += *why + check_results(context, c, rank, left, out);
  }
  for (int k = 0; k < N_INPUTS; k++)
    tprt_context_free(context, in[k]);
  for (int k = 0; k < N_OUTPUTS; k++)
    tprt_context_free(context, out[k]);
  return errors;
}

/* ---- Ranks ---- */

typedef struct player {
  tprt_comm *world;
  const test_table *program;
  int errors;
} player;

static tprt_context *make_context(tprt_comm *world) {
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  if (tprt_context_create(world, &config, &context) != TPRT_OK)
    fprintf(stderr, "wrong: %s\n", tprt_last_error());
  return context;
}

/* Each rank sends its rows to the others. */
static int check_bytes(tprt_context *context, int n_ranks) {
  int errors = 0;
  for (int i = 0; i < N_CASES; i++) {
    tprt_site_stats stats;
    errors += tprt_context_site_stats(context, i, &stats) != TPRT_OK || stats.calls != 2 ||
              stats.bytes != 2 * (n_ranks - 1) * (ROWS / n_ranks) * WIDTH * (int64_t)tprt_dtype_size(cases[i].dtype);
  }
  return errors;
}

static void *play(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  table = p->program;
  p->errors = !context || tprt_abi_enter(context, p->program->words) != TPRT_OK;
  for (int i = 0; i < N_CASES && !p->errors; i++)
    p->errors += run_case(context, p->world, i, false);
  if (context && *tprt_context_error(context))
    fprintf(stderr, "wrong: %s\n", tprt_context_error(context));
  if (!p->errors)
    p->errors += check_bytes(context, tprt_comm_size(p->world));
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

/* Each case runs as it is once, is captured, and launched again. */
static void *replay(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  table = p->program;
  p->errors = !context;
  for (int i = 0; i < N_CASES && !p->errors; i++) {
    p->errors += run_case(context, p->world, i, true);
    p->errors += n_runs != 2;
  }
  if (context && *tprt_context_error(context))
    fprintf(stderr, "wrong: %s\n", tprt_context_error(context));
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

static void *play_other(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  bool first = tprt_comm_rank(p->world) == 0;
  char *memory = NULL;
  (void)tprt_context_alloc(context, 8192, (void **)&memory);
  char *b = memory + 1024, *out = memory + 4096;
  p->errors = tprt_abi_enter(context, p->program->words) != TPRT_OK;
  int32_t got = tprt_abi_gather_multiply(context, first ? 0 : 2, memory, b, b, first ? NULL : b, first ? NULL : b, NULL, out,
                                         out + 1024, first ? NULL : out + 2048, first ? NULL : out + 3072);
  p->errors += got != TPRT_MISMATCH ||
               !strstr(tprt_context_error(context), "ranks 0 and 1 of the group multiply gathered rows at different sites");
  if (p->errors)
    fprintf(stderr, "wrong: status %d: %s\n", (int)got, tprt_context_error(context));
  tprt_context_free(context, memory);
  tprt_context_destroy(context);
  return NULL;
}

static int play_all(int n_ranks, const char *backend, void *(*how)(void *)) {
  tprt_comm *worlds[MOST_RANKS];
  player players[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  test_table program = make_program(n_ranks);
  const tprt_config config = {.size = sizeof config, .backend = backend};
  int errors = 0;
  assert_int_equal(tprt_world_create_threads(n_ranks, &config, worlds), TPRT_OK);
  for (int r = 0; r < n_ranks; r++) {
    players[r] = (player){.world = worlds[r], .program = &program};
    assert_int_equal(pthread_create(&threads[r], NULL, how, &players[r]), 0);
  }
  for (int r = 0; r < n_ranks; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n_ranks; r++) {
    errors += players[r].errors;
    tprt_comm_destroy(worlds[r]);
  }
  table_free(&program);
  return errors;
}

/* Products of cuBLASLt on a rank: those of slices, or large ones. */
static long products_of(const gather_case *c, int n_ranks, bool sliced) {
  enum { LEAST_WORK = 512 };
  long n = 0;
  for (int i = 0; i < c->n; i++)
    sliced = sliced && ROWS / c->blocks / n_ranks * c->columns[i] * (int64_t)tprt_dtype_size(c->dtype) % 16 == 0;
  for (int i = 0; i < c->n; i++)
    n += sliced ? n_ranks : ROWS * WIDTH * c->columns[i] >= LEAST_WORK;
  return n;
}

static void expect_products(int n_ranks, const char *backend, bool sliced) {
  const fake_blaslt_plan none = {0};
  fake_blaslt_report report;
  blaslt_begin(&none);
  assert_int_equal(play_all(n_ranks, backend, play), 0);
  blaslt_look(&report);
  assert_int_equal(report.n_violations, 0);
  long n = 0;
  for (int i = 0; i < N_CASES; i++)
    n += products_of(&cases[i], n_ranks, sliced);
  assert_int_equal(report.n_products, 2 * n_ranks * n);
}

static void test_ranks(void **state) {
  static const char *const late[] = {"0", "3"};
  (void)state;
  for (int l = 0; l < 2; l++) { /* streams that do what is waited for, and nothing else */
    setenv("FAKE_LATE", late[l], 1);
    expect_products(1, "self", true);
    expect_products(2, "loopback", true);
    expect_products(4, "loopback", true);
    expect_products(2, "shm", false);
  }
  setenv("FAKE_LATE", "0", 1);
  setenv("FAKE_NO_CONTEXT", "1", 1);
  setenv("FAKE_DEVICES", "2", 1);
  expect_products(2, "loopback", false);
  setenv("FAKE_DEVICES", "1", 1);
  unsetenv("FAKE_NO_CONTEXT");
}

/* What is captured is ordered by nothing but the events that were captured with it. */
static void test_graphs(void **state) {
  static const char *const orders[] = {"0", "1", "01", "10", "?", "?1"};
  const fake_blaslt_plan none = {0};
  (void)state;
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    setenv("FAKE_ORDER", orders[i], 1);
    for (int n = 1; n <= 4; n *= 2) {
      blaslt_begin(&none);
      assert_int_equal(play_all(n, n == 1 ? "self" : "loopback", replay), 0);
    }
  }
  unsetenv("FAKE_ORDER");
}

static void test_no_algorithm(void **state) {
  const fake_blaslt_plan plan = {.knows_nothing = true};
  fake_blaslt_report report;
  (void)state;
  blaslt_begin(&plan);
  assert_int_equal(play_all(2, "loopback", play), 0);
  blaslt_look(&report);
  assert_int_equal(report.n_products, 0);
}

static void test_different_sites(void **state) {
  const fake_blaslt_plan none = {0};
  (void)state;
  blaslt_begin(&none);
  assert_int_equal(play_all(2, "loopback", play_other), 0);
}

/* ---- What is wrong ---- */

static void test_tables(void **state) {
  enum { SITE = TPRT_ABI_HEADER_WORDS, EXTRA = SITE + TPRT_SITE_WORDS };
  static const struct {
    int word;
    int64_t value;
    const char *text;
  } rows[] = {
      {16, TPRT_TARGET_HOST, "rows are gathered for products in programs for GPUs only"},
      {SITE + 1, TPRT_F64, "gathered rows: reduction none of f64"},
      {SITE + 15, 0, "width of gathered rows is 0"},
      {SITE + 27, 2, "gathered rows: dimension 2 of a tensor of rank 3 is gathered"},
      {SITE + 31, 0, "gathered rows: there are no words of extra data"},
      {SITE + 31, 4, "gathered rows: 4 words of extra data, not 5"},
      {EXTRA + TPRT_GATHER_N, 5, "number of products is 5; it must be from 1 to 4"},
      {EXTRA + TPRT_GATHER_COLUMNS, 0, "columns of a product is 0"},
      {EXTRA + TPRT_GATHER_COLUMNS, INT64_C(1) << 60, "contraction: loop"},
      {EXTRA + TPRT_GATHER_TRANSPOSED + 2, 2, "transposed factor is 2"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t two = 2;
    test_table t = table_make(1, &two);
    add_case(&t, &cases[0], two);
    t.words[16] = TPRT_TARGET_CUDA;
    assert_int_equal(tprt_abi_check(t.words, t.n_words), TPRT_OK);
    t.words[rows[i].word] = rows[i].value;
    assert_int_equal(tprt_abi_check(t.words, t.n_words), TPRT_INVALID_ARGUMENT);
    if (!strstr(tprt_last_error(), rows[i].text))
      fail_msg("row %zu: \"%s\" does not say \"%s\"", i, tprt_last_error(), rows[i].text);
    table_free(&t);
  }
}

static void test_calls(void **state) {
  static const char *const texts[] = {"site 4 of the bound program is no product of gathered rows", "site 0: input is NULL",
                                      "site 0: b1 is (nil) and out1 is ", "site 0: b2 is "};
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table program = make_program(1);
  (void)state;
  for (int i = 0; i < 4; i++) {
    tprt_comm *world;
    assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
    tprt_context *context = make_context(world);
    void *any = context;
    assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
    assert_int_equal(tprt_abi_gather_multiply(context, i == 0 ? N_CASES : 0, i == 1 ? NULL : any, any, i == 2 ? NULL : any,
                                              i == 3 ? any : NULL, NULL, NULL, any, any, NULL, NULL),
                     TPRT_INVALID_ARGUMENT);
    if (!strstr(tprt_context_error(context), texts[i]))
      fail_msg("\"%s\" does not say \"%s\"", tprt_context_error(context), texts[i]);
    tprt_context_destroy(context);
    tprt_comm_destroy(world);
  }
  table_free(&program);
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  void *blaslt = dlopen(FAKE_BLASLT, RTLD_NOW | RTLD_LOCAL), *begin = blaslt ? dlsym(blaslt, "fake_blaslt_begin") : NULL,
       *look = blaslt ? dlsym(blaslt, "fake_blaslt_look") : NULL;
  memcpy(&blaslt_begin, &begin, sizeof begin);
  memcpy(&blaslt_look, &look, sizeof look);
  if (!begin || !look)
    return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks),        cmocka_unit_test(test_graphs),
                                     cmocka_unit_test(test_no_algorithm), cmocka_unit_test(test_different_sites),
                                     cmocka_unit_test(test_tables),       cmocka_unit_test(test_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
