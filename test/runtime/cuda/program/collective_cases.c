/* Programs of collectives, and worlds that run them. */
#define _GNU_SOURCE 1
#include "collective_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { MOST_BYTES = 16384, N_AXES = 2 };

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

static int group_of(const program *p, const row *r) { return r->whole ? p->n_ranks : p->n_inner; }

static int shape_of(const program *p, const row *r, int64_t *shape) {
  int n = 0;
  for (; n < MOST_DIMS && r->shape[n]; n++)
    shape[n] = r->shape[n] < 0 ? -r->shape[n] * group_of(p, r) : r->shape[n];
  return n;
}

void add_site(program *p, const row *r) {
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

program *make_empty(int n_outer, int n_inner) {
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

program *make_program(int n_outer, int n_inner, bool all) {
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
      if (tprt_reduction_supports(r.reduction, r.dtype) && r.reduction != TPRT_PREMUL_SUM)
        add_site(p, &r);
    }
  return p;
}

void free_program(program *p) {
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

size_t recv_bytes(const program *p, const row *r) {
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

void run_in_turns(const program *p, tprt_target target, const char *backend, bool splits, int ahead,
                  turns *reads, rank *ranks) {
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

void free_results(const program *p, rank *ranks) {
  for (int i = 0; i < p->n_ranks; i++)
    for (int site = 0; site < p->n_sites; site++)
      free(ranks[i].results[site]);
}
