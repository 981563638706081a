/* Times all-reduce + residual + RMS norm on one GPU with virtual ranks, fused and unfused, next to
 * the time that their bytes take: timing TOKENS HIDDEN N_RANKS GIGABYTES_PER_SECOND [small], in
 * bf16. Prints a JSON object per variant. small: few replays, for emulated GPUs.
 *
 * Calls are replayed from a graph. Buffers are used in turn, so that none is in the cache from the
 * previous call. A single GPU says nothing about links between GPUs. */
#include "test/runtime/harness/device.h"
#include "tprt/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = TPRT_CUDA_MAX_RANKS, CALLS = 12, REPLAYS = 20, FEW_REPLAYS = 3, WARM = 3 };
static const size_t beyond_cache = 256u << 20;

/* One set of tensors, by rank. */
typedef struct tensors {
  void *input[MAX_RANKS], *sum[MAX_RANKS], *residual[MAX_RANKS], *residual_out[MAX_RANKS],
      *out[MAX_RANKS];
} tensors;

typedef struct bench {
  int n_ranks, n_sets, n_replays;
  int64_t tokens, hidden;
  /* all ranks; and each rank alone, for local work */
  tprt_cuda_group *group, *alone[MAX_RANKS];
  tensors *sets;
  void *gamma;
  cuda_stream stream;
} bench;

/* All memory of the run. */
static cuda_address taken[4096];
static size_t n_taken;

static void *on_device(size_t bytes) {
  if (n_taken == sizeof taken / sizeof *taken)
    abort();
  cuda_address memory;
  DO(allocate, &memory, bytes);
  device_set(memory, 0x3c, bytes); /* 0.0115 in bf16 */
  taken[n_taken++] = memory;
  return (void *)(uintptr_t)memory;
}

static void *zeroed(size_t bytes) {
  void *memory = on_device(bytes);
  device_set((cuda_address)(uintptr_t)memory, 0, bytes);
  return memory;
}

static tprt_cuda_group *make_group(int n_ranks) {
  tprt_cuda_group_config config = {
      .size = sizeof config, .n_ranks = n_ranks, .rank = TPRT_CUDA_ALL_RANKS};
  tprt_cuda_group *group;
  for (int r = 0; r < n_ranks; r++)
    config.signals[r] = zeroed(tprt_cuda_signal_bytes());
  device_need(tprt_cuda_group_create(&config, &group));
  return group;
}

/* ---- Variants ---- */

static tprt_cuda_rows rows_of(const bench *b, tprt_cuda_algorithm algorithm) {
  return (tprt_cuda_rows){.size = sizeof(tprt_cuda_rows),
                          .dtype = TPRT_BF16,
                          .tokens = b->tokens,
                          .hidden = b->hidden,
                          .algorithm = algorithm};
}

static void norm(const bench *b, tprt_cuda_rows *rows) {
  rows->norm = TPRT_CUDA_RMS_NORM;
  rows->gamma = b->gamma;
  rows->epsilon = 1e-5f;
}

#define SET(field, pointers) memcpy(rows.field, pointers, sizeof rows.field)

static void all_reduce(const bench *b, const tensors *t) {
  tprt_cuda_rows rows = rows_of(b, TPRT_CUDA_SLICES);
  SET(input, t->input);
  SET(out, t->sum);
  device_need(tprt_cuda_reduce_rows(b->group, &rows, b->stream));
}

/* On each rank alone: r = sum + residual, y = norm(r), the unfused kernels after a collective. */
static void add_and_norm(const bench *b, const tensors *t, bool add, bool normalize) {
  for (int r = 0; r < b->n_ranks; r++) {
    tprt_cuda_rows rows = rows_of(b, TPRT_CUDA_PULL);
    rows.input[0] = add ? t->sum[r] : t->residual_out[r];
    rows.residual[0] = add ? t->residual[r] : NULL;
    rows.residual_out[0] = add ? t->residual_out[r] : NULL;
    rows.out[0] = normalize ? t->out[r] : NULL;
    if (normalize)
      norm(b, &rows);
    device_need(tprt_cuda_reduce_rows(b->alone[r], &rows, b->stream));
  }
}

static void fused(const bench *b, const tensors *t, tprt_cuda_algorithm algorithm, bool sharded) {
  tprt_cuda_rows rows = rows_of(b, algorithm);
  norm(b, &rows);
  rows.residual_sharded = sharded;
  SET(input, t->input);
  SET(residual, t->residual);
  SET(residual_out, t->residual_out);
  SET(out, t->out);
  device_need(tprt_cuda_reduce_rows(b->group, &rows, b->stream));
}

static void unfused_separate(const bench *b, const tensors *t) {
  all_reduce(b, t);
  add_and_norm(b, t, true, false);
  add_and_norm(b, t, false, true);
}
static void unfused_best(const bench *b, const tensors *t) {
  all_reduce(b, t);
  add_and_norm(b, t, true, true);
}
static void one_shot(const bench *b, const tensors *t) { fused(b, t, TPRT_CUDA_PULL, false); }
static void two_shot(const bench *b, const tensors *t) { fused(b, t, TPRT_CUDA_SLICES, false); }
static void sharded(const bench *b, const tensors *t) { fused(b, t, TPRT_CUDA_SLICES, true); }

/* A variant. Memory traffic in multiples of the tensor: per_rank * n_ranks + once. Inputs that all
 * ranks read count once, because they are then in the cache. */
typedef struct variant {
  const char *name;
  void (*enqueue)(const bench *b, const tensors *t);
  int per_rank, once;
} variant;
static const variant variants[] = {
    {"unfused: all-reduce, add, norm", unfused_separate, 7, 0},
    {"unfused: all-reduce, add and norm", unfused_best, 6, 0},
    {"fused, one shot", one_shot, 4, 0},
    {"fused, two shots, residual replicated", two_shot, 3, 1},
    {"fused, two shots, residual sharded", sharded, 2, 2},
};

/* ---- Measuring ---- */

typedef struct work {
  const bench *b;
  const variant *v;
} work;

static void enqueue_calls(void *user, cuda_stream stream) {
  const work *w = user;
  (void)stream; /* unused: the bench's stream is used */
  for (int i = 0; i < CALLS; i++)
    w->v->enqueue(w->b, &w->b->sets[i % w->b->n_sets]);
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* Returns the microseconds of a call: the minimum and the median. */
static void measure(const bench *b, const variant *v, double *least, double *median) {
  work w = {b, v};
  cuda_program program = device_capture(b->stream, enqueue_calls, &w);
  cuda_event from, to;
  float ms[REPLAYS];
  DO(event_create, &from, 0);
  DO(event_create, &to, 0);
  for (int i = -WARM; i < b->n_replays; i++) {
    DO(event_record, from, b->stream);
    DO(replay, program, b->stream);
    DO(event_record, to, b->stream);
    DO(event_wait, to);
    DO(event_elapsed, &ms[i < 0 ? 0 : i], from, to);
  }
  DO(program_destroy, program);
  DO(event_destroy, from);
  DO(event_destroy, to);
  qsort(ms, (size_t)b->n_replays, sizeof *ms, ascending);
  *least = 1000.0 * (double)ms[0] / CALLS;
  *median = 1000.0 * (double)ms[b->n_replays / 2] / CALLS;
}

int main(int argc, char **argv) {
  bool small = argc == 6 && strcmp(argv[5], "small") == 0;
  if (argc - small != 5) {
    fprintf(stderr, "usage: timing TOKENS HIDDEN N_RANKS GIGABYTES_PER_SECOND [small]\n");
    return 2;
  }
  int status = device_open();
  if (status)
    return status;
  bench b = {.tokens = atoll(argv[1]),
             .hidden = atoll(argv[2]),
             .n_ranks = atoi(argv[3]),
             .n_replays = small ? FEW_REPLAYS : REPLAYS};
  size_t bytes = (size_t)(b.tokens * b.hidden) * 2, of_set = 5 * bytes * (size_t)b.n_ranks;
  b.n_sets = (int)((beyond_cache + of_set - 1) / of_set);
  b.n_sets = b.n_sets < CALLS ? b.n_sets : CALLS;
  b.sets = calloc((size_t)b.n_sets, sizeof *b.sets);
  for (int i = 0; i < b.n_sets; i++)
    for (int r = 0; r < b.n_ranks; r++) {
      b.sets[i].input[r] = on_device(bytes);
      b.sets[i].sum[r] = on_device(bytes);
      b.sets[i].residual[r] = on_device(bytes);
      b.sets[i].residual_out[r] = on_device(bytes);
      b.sets[i].out[r] = on_device(bytes);
    }
  b.gamma = on_device((size_t)b.hidden * 2);
  b.group = make_group(b.n_ranks);
  for (int r = 0; r < b.n_ranks; r++)
    b.alone[r] = make_group(1);
  DO(stream_create, &b.stream, 1);
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    double least, median,
        moved = (double)bytes * (variants[i].per_rank * b.n_ranks + variants[i].once);
    measure(&b, &variants[i], &least, &median);
    double bound = moved / (atof(argv[4]) * 1e3);
    printf("{\"test\": \"time\", \"tokens\": %lld, \"hidden\": %lld, \"ranks\": %d, \"variant\": "
           "\"%s\", \"bytes\": %.0f, "
           "\"bound_us\": %.1f, \"least_us\": %.1f, \"median_us\": %.1f, \"times_bound\": %.2f}\n",
           (long long)b.tokens, (long long)b.hidden, b.n_ranks, variants[i].name, moved, bound,
           least, median, median / bound);
  }
  tprt_cuda_group_destroy(b.group);
  for (int r = 0; r < b.n_ranks; r++)
    tprt_cuda_group_destroy(b.alone[r]);
  for (size_t i = 0; i < n_taken; i++)
    DO(release, taken[i]);
  free(b.sets);
  return 0;
}
