/* Tests collectives of GPU programs: virtual ranks of one GPU, and ranks of several. All kinds,
 * types and reductions must be bitwise equal to the same program on the host, with late streams:
 * work before a collective in a rank's stream runs only when it is waited for, and so does work
 * after it. Collectives in two calls run in a second stream, in orders in which one stream is ahead
 * of the other. */
#define _GNU_SOURCE 1
#include "test/runtime/cuda/fake/fake_stream.h"
#include "test/runtime/harness/table.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { MOST_RANKS = 5, MOST_BYTES = 16384, MOST_SITES = 200, MOST_DIMS = 3, N_AXES = 2 };

/* A test site. A dimension of -k is k times the number of ranks. */
typedef struct row {
  tprt_site_kind kind;
  tprt_dtype dtype;
  tprt_reduction reduction;
  int64_t shape[MOST_DIMS]; /* ends at 0 */
  int dim, split;
  enum { APART, IN_PLACE, IN_OWN_PLACE } way; /* placement of the tensors */
  enum { RING, HALF } pairs;
  bool whole; /* group over all axes, else over the second */
} row;

static const row shapes[] = {
    {TPRT_SITE_ALL_REDUCE, TPRT_F32, TPRT_SUM, {64, 48}, 0, 0, IN_PLACE, RING, true},
    {TPRT_SITE_ALL_REDUCE, TPRT_BF16, TPRT_SUM, {33}, 0, 0, IN_PLACE, RING, true},
    {TPRT_SITE_ALL_REDUCE, TPRT_F16, TPRT_SUM, {1024}, 0, 0, APART, RING, false},
    {TPRT_SITE_ALL_REDUCE, TPRT_F64, TPRT_SUM, {1}, 0, 0, APART, RING, true},
    {TPRT_SITE_REDUCE_SCATTER, TPRT_F32, TPRT_SUM, {-2, 6}, 0, 0, APART, RING, true},
    {TPRT_SITE_REDUCE_SCATTER, TPRT_F32, TPRT_SUM, {-8, 4}, 0, 0, IN_OWN_PLACE, RING, true},
    {TPRT_SITE_REDUCE_SCATTER, TPRT_BF16, TPRT_SUM, {3, -4}, 1, 0, APART, RING, true},
    {TPRT_SITE_REDUCE_SCATTER, TPRT_BF16, TPRT_SUM, {3, -16, 2}, 1, 0, APART, RING, false},
    {TPRT_SITE_REDUCE_SCATTER, TPRT_C64, TPRT_PRODUCT, {3, -2}, 1, 0, APART, RING, true},
    {TPRT_SITE_ALL_GATHER, TPRT_F32, TPRT_NO_REDUCTION, {3, 4}, 0, 0, APART, RING, true},
    {TPRT_SITE_ALL_GATHER, TPRT_F32, TPRT_NO_REDUCTION, {3, 4}, 0, 0, IN_OWN_PLACE, RING, true},
    {TPRT_SITE_ALL_GATHER, TPRT_U8, TPRT_NO_REDUCTION, {5, 3}, 1, 0, APART, RING, true},
    {TPRT_SITE_ALL_GATHER, TPRT_BF16, TPRT_NO_REDUCTION, {2, 4, 8}, 1, 0, APART, RING, false},
    {TPRT_SITE_ALL_TO_ALL, TPRT_F32, TPRT_NO_REDUCTION, {3, -2, 4}, 0, 1, APART, RING, true},
    {TPRT_SITE_ALL_TO_ALL, TPRT_F16, TPRT_NO_REDUCTION, {-2, 3}, 1, 0, APART, RING, true},
    {TPRT_SITE_ALL_TO_ALL, TPRT_F64, TPRT_NO_REDUCTION, {-3, 2}, 0, 0, APART, RING, false},
    {TPRT_SITE_ALL_TO_ALL, TPRT_I8, TPRT_NO_REDUCTION, {3, 2, -5}, 0, 2, APART, RING, true},
    {TPRT_SITE_PERMUTE, TPRT_F32, TPRT_NO_REDUCTION, {6, 5}, 0, 0, APART, RING, true},
    {TPRT_SITE_PERMUTE, TPRT_I8, TPRT_NO_REDUCTION, {7}, 0, 0, APART, HALF, true},
    {TPRT_SITE_BROADCAST, TPRT_F32, TPRT_NO_REDUCTION, {12}, 0, 0, APART, RING, true},
    {TPRT_SITE_BROADCAST, TPRT_BF16, TPRT_NO_REDUCTION, {12}, 0, 0, IN_PLACE, RING, false},
};

/* ---- Programs ---- */

typedef struct program {
  int n_ranks, n_inner; /* ranks along all axes, and along the second */
  int n_sites;
  row rows[MOST_SITES];
  test_table tables[2]; /* by target */
} program;

static int group_of(const program *p, const row *r) { return r->whole ? p->n_ranks : p->n_inner; }

static int shape_of(const program *p, const row *r, int64_t *shape) {
  int n = 0;
  for (; n < MOST_DIMS && r->shape[n]; n++)
    shape[n] = r->shape[n] < 0 ? -r->shape[n] * group_of(p, r) : r->shape[n];
  return n;
}

static void add_site(program *p, const row *r) {
  static const int64_t both[] = {0, 1}, second[] = {1};
  int64_t shape[MOST_DIMS], pairs[2 * MOST_RANKS];
  int n_dims = shape_of(p, r, shape), n_pairs = 0;
  bool permutes = r->kind == TPRT_SITE_PERMUTE;
  for (int i = 0; permutes && i < p->n_ranks; i += r->pairs == HALF ? 2 : 1) {
    pairs[2 * n_pairs] = i;
    pairs[2 * n_pairs++ + 1] = (i + 1) % p->n_ranks;
  }
  for (int target = 0; target < 2; target++) {
    tprt_abi_site *site =
        table_site(&p->tables[target], r->kind, r->dtype, r->reduction,
                   permutes   ? 0
                   : r->whole ? 2
                              : 1,
                   r->whole ? both : second, n_dims, shape, pairs, 2 * (size_t)n_pairs);
    site->dim =
        r->kind == TPRT_SITE_BROADCAST || permutes || r->kind == TPRT_SITE_ALL_REDUCE ? 0 : r->dim;
    site->split_dim = r->kind == TPRT_SITE_ALL_TO_ALL ? r->split : 0;
    site->root = r->kind == TPRT_SITE_BROADCAST ? group_of(p, r) - 1 : 0;
  }
  p->rows[p->n_sites++] = *r;
}

/* Returns true if a reduction has a kernel; without one, binding the program is refused. */
static bool has_kernel(tprt_reduction reduction, tprt_dtype dtype) {
  bool is_integer = dtype >= TPRT_BOOL && dtype <= TPRT_U64;
  return reduction != TPRT_PREMUL_SUM && !(reduction == TPRT_AVG && is_integer);
}

static program *make_empty(int n_outer, int n_inner) {
  program *p = calloc(1, sizeof *p);
  const int64_t sizes[] = {n_outer, n_inner};
  p->n_ranks = n_outer * n_inner;
  p->n_inner = n_inner;
  for (int target = 0; target < 2; target++) {
    p->tables[target] = table_make(N_AXES, sizes);
    p->tables[target].words[16] = target;
  }
  return p;
}

static program *make_program(int n_outer, int n_inner, bool all) {
  program *p = make_empty(n_outer, n_inner);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    add_site(p, &shapes[i]);
  for (int dtype = 1; dtype < TPRT_N_DTYPES && all; dtype++)
    for (int reduction = 1; reduction < TPRT_N_REDUCTIONS; reduction++) {
      const row r = {TPRT_SITE_ALL_REDUCE,
                     (tprt_dtype)dtype,
                     (tprt_reduction)reduction,
                     {7, 11},
                     0,
                     0,
                     APART,
                     RING,
                     true};
      if (tprt_reduction_supports(r.reduction, r.dtype) && has_kernel(r.reduction, r.dtype))
        add_site(p, &r);
    }
  return p;
}

static void free_program(program *p) {
  table_free(&p->tables[0]);
  table_free(&p->tables[1]);
  free(p);
}

/* ---- Tensors ---- */

static size_t send_bytes(const program *p, const row *r) {
  int64_t shape[MOST_DIMS];
  size_t bytes = tprt_dtype_size(r->dtype);
  for (int d = shape_of(p, r, shape); d > 0; d--)
    bytes *= (size_t)shape[d - 1];
  return bytes;
}

static size_t recv_bytes(const program *p, const row *r) {
  size_t n = (size_t)group_of(p, r), bytes = send_bytes(p, r);
  return r->kind == TPRT_SITE_ALL_GATHER       ? bytes * n
         : r->kind == TPRT_SITE_REDUCE_SCATTER ? bytes / n
                                               : bytes;
}

static void fill(tprt_dtype dtype, unsigned char *memory, size_t bytes, uint32_t seed) {
  size_t size = tprt_dtype_size(dtype);
  for (size_t at = 0; at < bytes; at += size) {
    float f[4];
    double d[2];
    uint64_t word = 0;
    for (int i = 0; i < 4; i++) {
      seed = seed * 1664525u + 1013904223u;
      f[i] = (float)((int32_t)seed >> 8) * 0x1p-21f;
      f[i] = seed >> 28 == 0 ? -0.0f : seed >> 28 == 1 ? 0.0f : f[i];
      word = word << 24 ^ seed >> 8;
    }
    d[0] = (double)f[0] * 1.1;
    d[1] = (double)f[1] * 0.9;
    uint16_t half = dtype == TPRT_F16 ? tprt_f32_to_f16(f[0]) : tprt_f32_to_bf16(f[0]);
    word = dtype == TPRT_BOOL                             ? word & 1
           : dtype == TPRT_F8E4M3 || dtype == TPRT_F8E5M2 ? word & 0xbf
                                                          : word;
    const void *from = dtype == TPRT_F32 || dtype == TPRT_C64    ? (const void *)f
                       : dtype == TPRT_F64 || dtype == TPRT_C128 ? (const void *)d
                       : dtype == TPRT_F16 || dtype == TPRT_BF16 ? (const void *)&half
                                                                 : (const void *)&word;
    memcpy(memory + at, from, size);
  }
}

/* ---- Runs ---- */

/* Order of reads: all work of two ranks is enqueued before one of them reads its result, and the
 * other one reads after that. */
typedef struct turns {
  int first;
  pthread_barrier_t enqueued, read;
} turns;

typedef struct rank {
  pthread_t thread;
  const program *p;
  tprt_comm *world;
  tprt_target target;
  bool splits; /* uses two calls: start and wait */
  int ahead;   /* the rank whose thread arrives last and continues first; -1: any */
  int number;
  turns *turns; /* NULL: each reads as soon as it can */
  tprt_status status;
  char error[256];
  tprt_site_stats stats[MOST_SITES];
  unsigned char *results[MOST_SITES];
} rank;

static void copy(const rank *r, tprt_context *context, const void *from, void *to, size_t bytes) {
  if (r->target == TPRT_TARGET_HOST)
    memcpy(to, from, bytes);
  else
    (void)tprt_abi_copy(context, from, to, (int64_t)bytes);
}

static unsigned char *make(const rank *r, tprt_context *context, size_t bytes) {
  void *memory = r->target == TPRT_TARGET_HOST ? malloc(bytes) : NULL;
  if (!memory)
    assert_int_equal(tprt_context_alloc(context, bytes, &memory), TPRT_OK);
  return memory;
}

static void nap(bool wanted) {
  const struct timespec some = {.tv_nsec = 2000000};
  if (wanted)
    nanosleep(&some, NULL);
}

static tprt_status call(const rank *r, tprt_context *context, int site, const void *send,
                        void *recv) {
  if (!r->splits)
    return (tprt_status)tprt_abi_collective(context, site, send, recv);
  nap(r->ahead == r->number);
  tprt_status status = (tprt_status)tprt_abi_start(context, site, send, recv);
  nap(r->ahead >= 0 && r->ahead != r->number);
  return status ? status : (tprt_status)tprt_abi_wait(context, site, send, recv);
}

/* Sends from a copy of the data and overwrites the copy afterwards; both are enqueued. */
static tprt_status run_site(rank *r, tprt_context *context, int site, unsigned char *memory) {
  const row *s = &r->p->rows[site];
  size_t in = send_bytes(r->p, s), out = recv_bytes(r->p, s), room = in > out ? in : out;
  int me = s->whole ? r->number : r->number % r->p->n_inner;
  unsigned char *data = memory, *junk = memory + MOST_BYTES, *send = memory + 2 * MOST_BYTES,
                *recv = send + MOST_BYTES, *result = recv + MOST_BYTES;
  static const unsigned char nothing[MOST_BYTES];
  unsigned char host[MOST_BYTES];
  assert_true(room <= MOST_BYTES);
  fill(s->dtype, host, in, (uint32_t)(1000 * site + r->number));
  if (s->way == IN_PLACE)
    recv = send;
  else if (s->way == IN_OWN_PLACE && s->kind == TPRT_SITE_ALL_GATHER)
    send = recv + (size_t)me * in;
  else if (s->way == IN_OWN_PLACE)
    recv = send + (size_t)me * out;
  if (r->target == TPRT_TARGET_HOST) {
    memcpy(data, host, in);
    memcpy(junk, nothing, MOST_BYTES);
  } else {
    (void)tprt_context_upload(context, data, host, in);
    (void)tprt_context_upload(context, junk, nothing, MOST_BYTES);
  }
  copy(r, context, data, send, in);
  tprt_status status = call(r, context, site, send, recv);
  copy(r, context, recv, result, out);
  copy(r, context, junk, send, in);
  if (r->turns)
    pthread_barrier_wait(&r->turns->enqueued);
  if (r->turns && r->turns->first != r->number)
    pthread_barrier_wait(&r->turns->read);
  r->results[site] = malloc(out);
  if (r->target == TPRT_TARGET_HOST)
    memcpy(r->results[site], result, out);
  else if (!status)
    status = tprt_context_download(context, r->results[site], result, out);
  if (r->turns && r->turns->first == r->number)
    pthread_barrier_wait(&r->turns->read);
  return status ? status : tprt_context_site_stats(context, site, &r->stats[site]);
}

static void *run_rank(void *argument) {
  rank *r = argument;
  tprt_context *context = NULL;
  const tprt_context_config config = {.size = sizeof config, .target = r->target};
  r->status = tprt_context_create(r->world, &config, &context);
  if (r->status) {
    snprintf(r->error, sizeof r->error, "%s", tprt_last_error());
    return NULL;
  }
  r->status = (tprt_status)tprt_abi_enter(context, r->p->tables[r->target].words);
  unsigned char *memory = r->status ? NULL : make(r, context, 5 * MOST_BYTES);
  for (int site = 0; site < r->p->n_sites && !r->status; site++)
    r->status = run_site(r, context, site, memory);
  snprintf(r->error, sizeof r->error, "%s", tprt_context_error(context));
  if (r->target == TPRT_TARGET_HOST)
    free(memory);
  else
    tprt_context_free(context, memory);
  tprt_context_destroy(context);
  return NULL;
}

/* Threads first, so that their failures are those of the ranks. */
static void run_in_turns(const program *p, tprt_target target, const char *backend, bool splits,
                         int ahead, turns *reads, rank *ranks) {
  tprt_comm *worlds[MOST_RANKS];
  const tprt_config config = {
      .size = sizeof config, .backend = backend, .timeout_ns = INT64_C(20000000000)};
  assert_int_equal(tprt_world_create_threads(p->n_ranks, &config, worlds), TPRT_OK);
  for (int i = 0; i < p->n_ranks; i++) {
    ranks[i] = (rank){.p = p,
                      .world = worlds[i],
                      .target = target,
                      .splits = splits,
                      .ahead = ahead,
                      .turns = reads,
                      .number = i};
    assert_int_equal(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]), 0);
  }
  for (int i = 0; i < p->n_ranks; i++)
    pthread_join(ranks[i].thread, NULL);
  for (int i = 0; i < p->n_ranks; i++)
    tprt_comm_destroy(worlds[i]);
}

static void run_in_calls(const program *p, tprt_target target, const char *backend, bool splits,
                         rank *ranks) {
  run_in_turns(p, target, backend, splits, -1, NULL, ranks);
}

static void run(const program *p, tprt_target target, const char *backend, rank *ranks) {
  run_in_calls(p, target, backend, false, ranks);
}

static void free_results(const program *p, rank *ranks) {
  for (int i = 0; i < p->n_ranks; i++)
    for (int site = 0; site < p->n_sites; site++)
      free(ranks[i].results[site]);
}

static void compare(const program *p, const char *backend, bool splits) {
  rank *got = calloc(MOST_RANKS, sizeof *got), *expected = calloc(MOST_RANKS, sizeof *expected);
  run_in_calls(p, TPRT_TARGET_CUDA, backend, splits, got);
  run(p, TPRT_TARGET_HOST, "loopback", expected);
  for (int i = 0; i < p->n_ranks; i++) {
    if (got[i].status || expected[i].status)
      fail_msg("rank %d of %d: %s%s", i, p->n_ranks, got[i].error, expected[i].error);
    for (int site = 0; site < p->n_sites; site++) {
      const row *r = &p->rows[site];
      if (memcmp(got[i].results[site], expected[i].results[site], recv_bytes(p, r)) != 0)
        fail_msg("site %d, kind %d, %s %s: rank %d of %d has other bits than on the host", site,
                 r->kind, tprt_dtype_name(r->dtype), tprt_reduction_name(r->reduction), i,
                 p->n_ranks);
      assert_int_equal(got[i].stats[site].bytes, expected[i].stats[site].bytes);
      assert_int_equal(got[i].stats[site].calls, 1);
    }
  }
  free_results(p, got);
  free_results(p, expected);
  free(got);
  free(expected);
}

static void compare_meshes(const char *backend, bool all, bool splits) {
  static const int meshes[][2] = {{1, 2}, {1, 3}, {2, 2}, {5, 1}};
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
    program *p = make_program(meshes[i][0], meshes[i][1], all && i == 1);
    compare(p, backend, splits);
    free_program(p);
  }
}

static void set(const char *name, const char *value) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

static void test_virtual_ranks(void **state) {
  (void)state;
  compare_meshes("loopback", true, false);
}

static void test_late_streams(void **state) {
  (void)state;
  set("FAKE_LATE", "2");
  compare_meshes("loopback", false, false);
  set("FAKE_LATE", NULL);
}

static void test_several_gpus(void **state) {
  (void)state;
  set("FAKE_LATE", "2");
  set("FAKE_DEVICES", "3");    /* so some ranks share a device */
  set("FAKE_NO_CONTEXT", "1"); /* else they would use the thread's context */
  compare_meshes("loopback", false, false);
  /* the contexts differ, but access to the memory is enabled already */
  compare_meshes("loopback", false, false);
  set("FAKE_NO_CONTEXT", NULL);
  set("FAKE_DEVICES", NULL);
  set("FAKE_LATE", NULL);
}

/* A host backend: data is copied. */
static void test_through_the_host(void **state) {
  (void)state;
  set("FAKE_LATE", "2");
  compare_meshes("shm", false, false);
  compare_meshes("shm", false, true);
  set("FAKE_LATE", NULL);
}

/* ---- In two calls ---- */

/* Two ranks have four streams: all combinations of late ones. */
enum { N_ORDERS = 16 };

static void set_order(int number) {
  const char order[] = {number & 1 ? '1' : '0', number & 2 ? '1' : '0', number & 4 ? '1' : '0',
                        number & 8 ? '1' : '0', 0};
  set("FAKE_ORDER", order);
}

static void test_split_calls(void **state) {
  (void)state;
  compare_meshes("loopback", true, true);
  set("FAKE_LATE", "2");
  compare_meshes("loopback", false, true);
  set("FAKE_LATE", NULL);
  for (int i = 0; i < 4; i++) {
    static const char *const ways[] = {"01", "?", "001", "0?1"};
    set("FAKE_ORDER", ways[i]);
    set("FAKE_DEVICES", i % 2 ? "3" : NULL);
    set("FAKE_NO_CONTEXT", i % 2 ? "1" : NULL);
    compare_meshes("loopback", false, true);
  }
  set("FAKE_NO_CONTEXT", NULL);
  set("FAKE_DEVICES", NULL);
  set("FAKE_ORDER", NULL);
}

/* Of two ranks. */
static bool is_right(const program *p, int ahead, int first, const rank *expected) {
  rank *got = calloc(MOST_RANKS, sizeof *got);
  turns in_turns = {.first = first};
  bool right = true;
  pthread_barrier_init(&in_turns.enqueued, NULL, 2);
  pthread_barrier_init(&in_turns.read, NULL, 2);
  run_in_turns(p, TPRT_TARGET_CUDA, "loopback", true, ahead, &in_turns, got);
  pthread_barrier_destroy(&in_turns.enqueued);
  pthread_barrier_destroy(&in_turns.read);
  for (int i = 0; i < p->n_ranks; i++)
    for (int site = 0; site < p->n_sites; site++) {
      right &= !got[i].status && memcmp(got[i].results[site], expected[i].results[site],
                                        recv_bytes(p, &p->rows[site])) == 0;
    }
  free_results(p, got);
  free(got);
  return right;
}

/* Checks that each stream wait for an event is needed: without it results are wrong in some order,
 * and the fake driver detects every missing wait. */
static void test_each_wait_counts(void **state) {
  (void)state;
  static const row rows[] = {
      {TPRT_SITE_ALL_REDUCE, TPRT_F32, TPRT_SUM, {64, 48}, 0, 0, IN_PLACE, RING, true},
      {TPRT_SITE_PERMUTE, TPRT_F32, TPRT_NO_REDUCTION, {6, 5}, 0, 0, APART, RING, true}};
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL),
       *found = dlsym(library, "fake_waits_of_all");
  fake_waits_of_all_fn *waits_of_all;
  assert_non_null(found);
  memcpy(&waits_of_all, &found, sizeof found);
  fake_wait_plan *waits = waits_of_all();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    program *p = make_empty(1, 2);
    rank *expected = calloc(MOST_RANKS, sizeof *expected);
    add_site(p, &rows[i]);
    run(p, TPRT_TARGET_HOST, "loopback", expected);
    set_order(0);
    waits->n = waits->lose = 0;
    assert_true(is_right(p, -1, 0, expected));
    long n_waits = waits->n;
    /* Two waits of each rank with its second stream, and two for each synchronization of two
     * ranks. */
    assert_int_equal(n_waits, 4 + 2 * (rows[i].kind == TPRT_SITE_ALL_REDUCE ? 3 : 2));
    for (long lost = 1; lost <= n_waits; lost++) {
      bool right = true;
      for (int k = 0; k < 4 * N_ORDERS && right; k++) {
        set_order(k % N_ORDERS);
        waits->n = 0;
        waits->lose = lost;
        right = is_right(p, k / N_ORDERS % 2, k / N_ORDERS / 2, expected);
      }
      if (right)
        fail_msg("kind %d: nobody sees that wait %ld of %ld is not done", rows[i].kind, lost,
                 n_waits);
    }
    waits->lose = 0;
    free_results(p, expected);
    free(expected);
    free_program(p);
  }
  set("FAKE_ORDER", NULL);
  dlclose(library);
}

/* ---- Failures ---- */

static void expect_failure(const program *p, tprt_status status, const char *text) {
  rank *ranks = calloc(MOST_RANKS, sizeof *ranks);
  bool said = false;
  run(p, TPRT_TARGET_CUDA, "loopback", ranks);
  for (int i = 0; i < p->n_ranks; i++) {
    if (ranks[i].status != status)
      fail_msg("rank %d: status %d: %s", i, ranks[i].status, ranks[i].error);
    said |= strstr(ranks[i].error, text) != NULL;
  }
  if (!said)
    fail_msg("\"%s\" does not say \"%s\"", ranks[0].error, text);
  free_results(p, ranks);
  free(ranks);
}

/* All ranks get the error of the rank that failed. */
static void test_driver_that_fails(void **state) {
  (void)state;
  static const struct {
    const char *mode, *devices, *text;
    tprt_status status;
  } cases[] = {
      {"event", NULL, "CUDA: an event", TPRT_DEVICE},
      {"record", NULL, "site 0: CUDA: an event: CUDA_ERROR_STUB_LIBRARY", TPRT_DEVICE},
      {"wait", NULL, "site 0: CUDA: waiting for an event", TPRT_DEVICE},
      {"load", NULL, "site 0: CUDA: the kernels of sites", TPRT_DEVICE},
      {"function", NULL, "site 0: CUDA: tprt_reduce_f32", TPRT_DEVICE},
      {"launch", NULL, "site 0: CUDA: tprt_reduce_f32", TPRT_DEVICE},
      {"can reach", "2", "site 0: CUDA: whether a GPU reaches another's memory", TPRT_DEVICE},
      {"reach", "2", "site 0: CUDA: reaching another GPU's memory", TPRT_DEVICE},
      {"no peer", "2", "GPU 0 does not reach the memory of GPU 1; ranks on these need backend nccl",
       TPRT_UNSUPPORTED},
  };
  program *p = make_program(1, 3, false);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    set("FAKE_DEVICES", cases[i].devices);
    set("FAKE_NO_CONTEXT", cases[i].devices);
    set("FAKE_CUDA", cases[i].mode);
    expect_failure(p, cases[i].status, cases[i].text);
  }
  set("FAKE_CUDA", "");
  set("FAKE_DEVICES", NULL);
  set("FAKE_NO_CONTEXT", NULL);
  free_program(p);
}

static void test_no_kernel(void **state) {
  (void)state;
  const row r = {TPRT_SITE_ALL_REDUCE, TPRT_I32, TPRT_AVG, {7}, 0, 0, APART, RING, true};
  program *p = make_program(1, 2, false);
  add_site(p, &r);
  expect_failure(p, TPRT_UNSUPPORTED, "all_reduce: avg of i32 has no kernel for GPUs");
  free_program(p);
}

/* ---- One call for all ranks ---- */

typedef struct member {
  pthread_t thread;
  tprt_comm *world;
  void *memory;
  tprt_status status, result;
  char error[256];
  float sum;
} member;

static int n_calls;
static void *given;

/* Adds the values of all ranks to the first number of rank 0, with the driver. */
static tprt_status add_all(const void *const *arguments, int n_ranks, void *stream) {
  typedef int copy_fn(uint64_t to, uint64_t from, size_t bytes, void *stream);
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL),
       *found = dlsym(library, "cuMemcpyDtoDAsync_v2");
  copy_fn *copy_there;
  memcpy(&copy_there, &found, sizeof found);
  const member *first = arguments[0];
  n_calls++;
  given = stream;
  for (int i = 0; i < n_ranks; i++) {
    const member *m = arguments[i];
    if (copy_there((uint64_t)(uintptr_t)first->memory + (uint64_t)i * 4,
                   (uint64_t)(uintptr_t)m->memory + 64, 4, stream))
      return TPRT_DEVICE;
  }
  return first->result;
}

static void *run_member(void *argument) {
  member *m = argument;
  tprt_context *context = NULL;
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  float mine[17] = {[16] = (float)tprt_comm_rank(m->world) + 1}, all[4] = {0};
  assert_int_equal(tprt_context_create(m->world, &config, &context), TPRT_OK);
  void *data;
  (void)tprt_context_alloc(context, 128, &data);
  (void)tprt_context_alloc(context, 128, &m->memory);
  (void)tprt_context_upload(context, data, mine, sizeof mine);
  (void)tprt_abi_copy(context, data, m->memory, sizeof mine); /* executed late */
  m->status = tprt_context_together(context, m->world, add_all, m);
  snprintf(m->error, sizeof m->error, "%s", m->status ? tprt_last_error() : "");
  if (!m->status && tprt_comm_rank(m->world) == 0)
    (void)tprt_context_download(context, all, m->memory, sizeof all);
  (void)tprt_context_synchronize(context);
  (void)tprt_barrier(m->world, NULL, NULL); /* rank 0 has read its memory by then */
  m->sum = all[0] + 10 * all[1] + 100 * all[2];
  tprt_context_free(context, data);
  tprt_context_free(context, m->memory);
  tprt_context_destroy(context);
  return NULL;
}

static void run_together(int n, const char *backend, tprt_status result, member *members) {
  tprt_comm *worlds[MOST_RANKS];
  const tprt_config config = {.size = sizeof config, .backend = backend};
  assert_int_equal(tprt_world_create_threads(n, &config, worlds), TPRT_OK);
  n_calls = 0;
  for (int i = 0; i < n; i++) {
    members[i] = (member){.world = worlds[i], .result = result};
    assert_int_equal(pthread_create(&members[i].thread, NULL, run_member, &members[i]), 0);
  }
  for (int i = 0; i < n; i++)
    pthread_join(members[i].thread, NULL);
  for (int i = 0; i < n; i++)
    tprt_comm_destroy(worlds[i]);
}

static void test_together(void **state) {
  (void)state;
  member members[MOST_RANKS];
  set("FAKE_LATE", "2");
  run_together(3, "loopback", TPRT_OK, members);
  assert_int_equal(n_calls, 1);
  assert_non_null(given);
  assert_true(members[0].status == TPRT_OK && members[0].sum == 321.0f);
  run_together(1, "self", TPRT_OK, members);
  assert_true(members[0].status == TPRT_OK && members[0].sum == 1.0f);
  set("FAKE_LATE", NULL);
  run_together(2, "shm", TPRT_OK, members);
  assert_int_equal(members[1].status, TPRT_UNSUPPORTED);
  assert_non_null(
      strstr(members[1].error, "backend shm has no virtual ranks of one GPU; loopback has"));
  run_together(2, "loopback", TPRT_DEVICE, members);
  assert_int_equal(members[0].status, TPRT_DEVICE);
  assert_int_equal(members[1].status, TPRT_DEVICE);
  set("FAKE_DEVICES", "2");
  set("FAKE_NO_CONTEXT", "1");
  run_together(2, "loopback", TPRT_OK, members);
  set("FAKE_NO_CONTEXT", NULL);
  set("FAKE_DEVICES", NULL);
  assert_int_equal(members[0].status, TPRT_UNSUPPORTED);
  assert_non_null(strstr(
      members[0].error, "ranks 0 and 1 are on different GPUs, and one kernel is to work for both"));
}

int main(void) {
  set("FAKE_CUDA", "");
  set("TPRT_CUDA_LIBRARY", FAKE_DRIVER);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_virtual_ranks),     cmocka_unit_test(test_late_streams),
      cmocka_unit_test(test_several_gpus),      cmocka_unit_test(test_through_the_host),
      cmocka_unit_test(test_driver_that_fails), cmocka_unit_test(test_no_kernel),
      cmocka_unit_test(test_together),          cmocka_unit_test(test_split_calls),
      cmocka_unit_test(test_each_wait_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
