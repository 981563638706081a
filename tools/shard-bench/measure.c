/* Times one operation on all ranks: checks one call, then times rounds of calls; rank 0 prints
 * median and minimum. */
#include "measure.h"

#include "tools/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_ROUNDS = 101, MAX_CALLS = 20000 };

/* ---- Sizes ---- */

int64_t bench_elements(const bench_job *job, int i) {
  int64_t per_rank = job->sizes[i] / (int64_t)tprt_dtype_size(job->dtype) / job->n_ranks;
  return (per_rank > 0 ? per_rank : 1) * job->n_ranks;
}

int64_t bench_send_elements(const bench_job *job, int64_t elements) {
  return job->kind == TPRT_OP_ALL_GATHER ? elements / job->n_ranks : elements;
}

int64_t bench_recv_elements(const bench_job *job, int64_t elements) {
  return job->kind == TPRT_OP_REDUCE_SCATTER ? elements / job->n_ranks : elements;
}

int64_t bench_piece(const bench_job *job, int64_t elements, int piece) {
  return elements * piece / job->n_pieces;
}

/* ---- Elements ---- */

static void put(tprt_dtype dtype, void *buffer, int64_t i, int value) {
  switch (dtype) {
  case TPRT_F32:
    ((float *)buffer)[i] = (float)value;
    break;
  case TPRT_F64:
    ((double *)buffer)[i] = value;
    break;
  case TPRT_F16:
    ((uint16_t *)buffer)[i] = tprt_f32_to_f16((float)value);
    break;
  case TPRT_BF16:
    ((uint16_t *)buffer)[i] = tprt_f32_to_bf16((float)value);
    break;
  default: { /* integers, little-endian */
    size_t size = tprt_dtype_size(dtype);
    int64_t wide = value;
    memcpy((char *)buffer + (size_t)i * size, &wide, size);
  }
  }
}

static double get(tprt_dtype dtype, const void *buffer, int64_t i) {
  switch (dtype) {
  case TPRT_F32:
    return ((const float *)buffer)[i];
  case TPRT_F64:
    return ((const double *)buffer)[i];
  case TPRT_F16:
    return tprt_f16_to_f32(((const uint16_t *)buffer)[i]);
  case TPRT_BF16:
    return tprt_bf16_to_f32(((const uint16_t *)buffer)[i]);
  default: { /* sums of sent values are small and not negative */
    size_t size = tprt_dtype_size(dtype);
    int64_t wide = 0;
    memcpy(&wide, (const char *)buffer + (size_t)i * size, size);
    return (double)wide;
  }
  }
}

/* Returns element i of rank r's send tensor: pseudo-random 0 or 1, so that sums are exact in every
 * type and misplaced pieces are detected. */
static int sent(int r, int64_t i) {
  uint64_t bits = ((uint64_t)i * BENCH_MAX_RANKS + (uint64_t)r + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return (int)(bits >> 61 & 1);
}

static int sum(const bench_job *job, int64_t i) {
  int total = 0;
  for (int r = 0; r < job->n_ranks; r++)
    total += sent(r, i);
  return total;
}

/* Returns the expected element i of rank r's recv tensor; `chunk` elements of the full tensor
 * belong to each rank. */
static int received(const bench_job *job, int r, int64_t i, int64_t chunk) {
  switch (job->kind) {
  case TPRT_OP_ALL_REDUCE:
    return sum(job, i);
  case TPRT_OP_REDUCE_SCATTER:
    return sum(job, r * chunk + i);
  case TPRT_OP_ALL_GATHER:
    return sent((int)(i / chunk), i % chunk);
  case TPRT_OP_ALL_TO_ALL:
    return sent((int)(i / chunk), r * chunk + i % chunk);
  case TPRT_OP_BROADCAST:
    return sent(0, i);
  default: /* permute: a ring */
    return sent((r + job->n_ranks - 1) % job->n_ranks, i);
  }
}

static void *allocate(const bench_rank *rank, size_t bytes) {
  void *memory = calloc(bytes ? bytes : 1, 1);
  if (memory)
    return memory;
  cli_print("rank %d: no memory for %zu bytes\n", rank->rank, bytes);
  exit(1);
}

static void write_zeros(const bench_rank *rank, void *to, size_t bytes) {
  if (!rank->upload) {
    memset(to, 0, bytes);
    return;
  }
  void *zeros = allocate(rank, bytes);
  rank->upload(rank->state, to, zeros, bytes);
  free(zeros);
}

/* Checks every element of the recv tensor. */
static void compare(const bench_job *job, const bench_rank *rank, const void *recv,
                    int64_t elements) {
  for (int64_t i = 0; i < bench_recv_elements(job, elements); i++) {
    double got = get(job->dtype, recv, i),
           wanted = received(job, rank->rank, i, elements / job->n_ranks);
    if (got != wanted) {
      cli_print("%s: rank %d: element %lld of %lld is %g, not %g\n", tprt_op_kind_name(job->kind),
                rank->rank, (long long)i, (long long)bench_recv_elements(job, elements), got,
                wanted);
      exit(1);
    }
  }
}

/* Fills the send tensor, runs the operation once and checks the result. */
static void check(const bench_job *job, const bench_rank *rank, void *send, void *recv,
                  int64_t elements) {
  size_t size = tprt_dtype_size(job->dtype);
  size_t send_bytes = (size_t)bench_send_elements(job, elements) * size,
         recv_bytes = (size_t)bench_recv_elements(job, elements) * size;
  void *here =
      rank->upload ? allocate(rank, send_bytes > recv_bytes ? send_bytes : recv_bytes) : NULL;
  for (int64_t i = 0; i < bench_send_elements(job, elements); i++)
    put(job->dtype, here ? here : send, i, sent(rank->rank, i));
  if (here)
    rank->upload(rank->state, send, here, send_bytes);
  rank->run(rank->state, job, send, recv, elements);
  if (here)
    rank->download(rank->state, here, recv, recv_bytes);
  compare(job, rank, here ? here : recv, elements);
  free(here);
  if (job->in_place) /* zeros, so that repeated sums stay exact */
    write_zeros(rank, send, send_bytes);
}

/* ---- Timing ---- */

int bench_compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The memory of a rank. An operation takes a part of it; fresh ones (bench_job) take turns. */
typedef struct memory {
  char *send, *recv;
  size_t bytes, used;
} memory;

/* Times operations of their own: on parts that no cache has, except what the rank has just written
 * to send. Returns the median, since the scheduler interrupts some. */
static double time_fresh_calls(const bench_job *job, const bench_rank *rank, memory *m,
                               int64_t elements, int n) {
  enum { LINE = 64, MOST = 64 };
  double seconds[MOST];
  size_t bytes = ((size_t)elements * tprt_dtype_size(job->dtype) + LINE - 1) / LINE * LINE;
  n = n < MOST ? n : MOST;
  for (int i = 0; i < n; i++) {
    if (m->used + bytes > m->bytes)
      m->used = 0;
    char *send = m->send + m->used, *recv = m->recv + m->used;
    m->used += bytes;
    write_zeros(rank, send,
                (size_t)bench_send_elements(job, elements) * tprt_dtype_size(job->dtype));
    rank->largest(rank->state, 0);
    double begin = cli_seconds();
    rank->run(rank->state, job, send, recv, elements);
    seconds[i] = cli_seconds() - begin;
  }
  qsort(seconds, (size_t)n, sizeof *seconds, bench_compare);
  return seconds[n / 2];
}

/* Returns the seconds of one of about n calls. */
static double time_calls(const bench_job *job, const bench_rank *rank, memory *m, int64_t elements,
                         int n) {
  if (job->fresh)
    return time_fresh_calls(job, rank, m, elements, n);
  rank->largest(rank->state, 0); /* synchronizes the ranks before timing */
  double begin = cli_seconds();
  for (int i = 0; i < n; i++)
    rank->run(rank->state, job, m->send, m->recv, elements);
  return (cli_seconds() - begin) / n;
}

static void measure_size(const bench_job *job, const bench_rank *rank, memory *m, int index) {
  double rounds[MAX_ROUNDS];
  int64_t elements = bench_elements(job, index);
  check(job, rank, m->send, m->recv, elements);
  double guess = time_calls(job, rank, m, elements, 3);
  double calls = job->round_seconds / rank->largest(rank->state, guess > 1e-9 ? guess : 1e-9);
  int n = calls < 1 ? 1 : calls > MAX_CALLS ? MAX_CALLS : (int)calls;
  for (int i = 0; i < job->n_rounds; i++)
    rounds[i] = time_calls(job, rank, m, elements, n);
  qsort(rounds, (size_t)job->n_rounds, sizeof *rounds, bench_compare);
  double median = rounds[job->n_rounds / 2] * 1e6, minimum = rounds[0] * 1e6;
  if (rank->report) {
    rank->report(rank->state, index, median, minimum);
  } else if (rank->rank == 0) {
    printf("%d %.4f %.4f\n", index, median, minimum);
    fflush(stdout);
  }
}

void bench_measure(const bench_job *job, const bench_rank *rank) {
  enum { FRESH_BYTES = 32 << 20 }; /* more than the caches of a processor hold for a rank */
  int64_t most = 0;
  for (int i = 0; i < job->n_sizes; i++)
    most = bench_elements(job, i) > most ? bench_elements(job, i) : most;
  memory m = {.bytes = (size_t)most * tprt_dtype_size(job->dtype)};
  m.bytes = job->fresh && m.bytes < FRESH_BYTES ? FRESH_BYTES : m.bytes;
  m.send = rank->take(rank->state, m.bytes);
  m.recv = job->in_place ? m.send : rank->take(rank->state, m.bytes);
  if (!m.send || !m.recv) {
    cli_print("rank %d: no memory for buffers of %zu bytes\n", rank->rank, m.bytes);
    exit(1);
  }
  for (int i = 0; i < job->n_sizes; i++)
    measure_size(job, rank, &m, i);
  if (m.recv != m.send)
    rank->give(rank->state, m.recv);
  rank->give(rank->state, m.send);
}

/* ---- Command-line arguments ---- */

void bench_print_args(const bench_job *job, char texts[BENCH_N_ARGS][BENCH_MAX_ARG]) {
  size_t length = 0;
  snprintf(texts[0], BENCH_MAX_ARG, "%d", job->kind);
  snprintf(texts[1], BENCH_MAX_ARG, "%d", job->dtype);
  snprintf(texts[2], BENCH_MAX_ARG, "%d", job->in_place);
  snprintf(texts[3], BENCH_MAX_ARG, "%d", job->n_ranks);
  snprintf(texts[4], BENCH_MAX_ARG, "%d", job->n_rounds);
  snprintf(texts[5], BENCH_MAX_ARG, "%.9g", job->round_seconds);
  snprintf(texts[7], BENCH_MAX_ARG, "%d", job->n_pieces);
  texts[6][0] = 0;
  for (int i = 0; i < job->n_sizes; i++)
    length += (size_t)snprintf(texts[6] + length, BENCH_MAX_ARG - length, "%s%lld", i ? "," : "",
                               (long long)job->sizes[i]);
}

bool bench_read_args(char **texts, bench_job *job) {
  char *at = texts[6];
  *job = (bench_job){.kind = (tprt_op_kind)atoi(texts[0]),
                     .dtype = (tprt_dtype)atoi(texts[1]),
                     .in_place = atoi(texts[2]) != 0,
                     .n_ranks = atoi(texts[3]),
                     .n_rounds = atoi(texts[4]),
                     .n_pieces = atoi(texts[7]),
                     .round_seconds = atof(texts[5])};
  while (*at && job->n_sizes < BENCH_MAX_SIZES) {
    job->sizes[job->n_sizes++] = strtoll(at, &at, 10);
    at += *at == ',';
  }
  return tprt_op_kind_name(job->kind) && tprt_dtype_size(job->dtype) > 0 && job->n_ranks >= 1 &&
         job->n_ranks <= BENCH_MAX_RANKS && job->n_pieces >= 1 &&
         job->n_pieces <= BENCH_MAX_PIECES && job->n_rounds >= 1 && job->n_rounds <= MAX_ROUNDS &&
         job->n_sizes >= 1 && *at == 0;
}
