/* Tests contractions of programs that run side by side on a GPU (TPRT_SITE_FUSED_CONTRACTIONS).
 * Usage:
 *   beside cases [small]               projections of a Llama in bf16, on one GPU and on one of
 *                                      eight ranks: each has the bits that it has alone, when it
 *                                      is called and in a graph
 *   beside time TOKENS GB/s [small]    those of one of eight ranks in graphs, side by side and one
 *                                      after the other; beside the bytes that they move
 *
 * Exit status: 0, 1 after "wrong" on stderr, 77 without a GPU. The last lines on stdout are JSON
 * objects. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/device.h"
#include "test/runtime/harness/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tprt/tprt.h"

/* Products of one tensor [tokens, k] by matrices [k, columns]. */
typedef struct projections {
  const char *name;
  int64_t tokens, k;
  int n;
  int64_t columns[TPRT_MAX_MATMULS];
} projections;

/* A program with a site for each product, and one for all of them. Each product has a result of its
 * own and one beside the others. */
static struct {
  projections of;
  test_table table;
  tprt_abi_fused_contractions words;
} program;

enum {
  A,
  B0,
  ALONE = B0 + TPRT_MAX_MATMULS,
  BESIDE = ALONE + TPRT_MAX_MATMULS,
  N_BUFFERS = BESIDE + TPRT_MAX_MATMULS
};

static size_t bytes_of(const projections *p, int buffer) {
  int64_t columns = buffer == A ? 0 : p->columns[(buffer - B0) % TPRT_MAX_MATMULS];
  int64_t elements = buffer == A      ? p->tokens * p->k
                     : buffer < ALONE ? p->k * columns
                                      : p->tokens * columns;
  return 2 * (size_t)elements;
}

static void make_program(const projections *p) {
  static const int64_t one = 1;
  program.of = *p;
  program.table = table_make(1, &one);
  program.words = (tprt_abi_fused_contractions){.n = p->n};
  for (int i = 0; i < p->n; i++) {
    const tprt_abi_loop loops[] = {{p->tokens, {p->k, 0, p->columns[i]}},
                                   {p->columns[i], {0, 1, 1}},
                                   {p->k, {1, p->columns[i], 0}}};
    int64_t flat[12];
    memcpy(flat, loops, sizeof flat);
    table_contract(&program.table, TPRT_BF16, 3, flat)->dim = 1;
    add_input(&program.words.operands, TPRT_IN_A);
    add_input(&program.words.operands, TPRT_IN_B);
    add_output(&program.words.operands, TPRT_OUT_TENSOR);
    program.words.n_loops[i] = 3;
    memcpy(program.words.loops[i], loops, sizeof loops);
  }
  table_site(&program.table, TPRT_SITE_FUSED_CONTRACTIONS, TPRT_BF16, TPRT_NO_REDUCTION, 0, NULL, 0,
             NULL, &program.words, N_WORDS_OF(tprt_abi_fused_contractions));
  table_header(&program.table)->target = TPRT_TARGET_CUDA;
}

/* Entries of programs: their arguments are the operands, their results those of the calls. */
static int32_t alone(tprt_context *context, void *const *inputs, void *const *outputs) {
  int32_t status = tprt_abi_enter(context, program.table.words);
  for (int i = 0; i < program.of.n && !status; i++)
    status = tprt_abi_contract(context, i, inputs[A], inputs[B0 + i], outputs[i]);
  return status;
}

static int32_t beside(tprt_context *context, void *const *inputs, void *const *outputs) {
  fused_pointers pointers = {{{NULL}}};
  for (int i = 0; i < program.of.n; i++) {
    pointers.of[TPRT_IN_A][i] = inputs[A];
    pointers.of[TPRT_IN_B][i] = inputs[B0 + i];
    pointers.of[TPRT_OUT_TENSOR][i] = outputs[i];
  }
  int32_t status = tprt_abi_enter(context, program.table.words);
  return status ? status : call_fused(context, program.of.n, &program.words.operands, &pointers);
}

/* Small whole numbers and halves, so that sums differ where the order does. */
static void fill(uint16_t *memory, size_t n, uint32_t seed) {
  for (size_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    memory[i] = tprt_f32_to_bf16((float)((int)(seed >> 20) - 2048) / 1024);
  }
}

static void make_buffers(tprt_context *context, void *at[N_BUFFERS]) {
  for (int i = 0; i < N_BUFFERS; i++) {
    bool used = i == A || (i - B0) % TPRT_MAX_MATMULS < program.of.n;
    size_t bytes = used ? bytes_of(&program.of, i) : 0;
    at[i] = NULL;
    if (!bytes)
      continue;
    uint16_t *host = malloc(bytes);
    if (!host)
      abort();
    fill(host, bytes / 2, (uint32_t)i);
    device_need(tprt_context_alloc(context, bytes, &at[i]));
    device_need(tprt_context_upload(context, at[i], host, bytes));
    free(host);
  }
}

static void free_buffers(tprt_context *context, void *at[N_BUFFERS]) {
  for (int i = 0; i < N_BUFFERS; i++)
    tprt_context_free(context, at[i]);
}

static void replay(tprt_context *context, tprt_program_fn *entry, void *const *inputs,
                   void *const *outputs) {
  const char *why;
  device_need(tprt_context_replay(context, entry, B0 + TPRT_MAX_MATMULS, inputs, TPRT_MAX_MATMULS,
                                  outputs, &why));
}

/* Counts results that differ. */
static int compare(tprt_context *context, void *const at[N_BUFFERS]) {
  int errors = 0;
  for (int i = 0; i < program.of.n; i++) {
    size_t bytes = bytes_of(&program.of, ALONE + i);
    char *results[2] = {malloc(bytes), malloc(bytes)};
    if (!results[0] || !results[1])
      abort();
    device_need(tprt_context_download(context, results[0], at[ALONE + i], bytes));
    device_need(tprt_context_download(context, results[1], at[BESIDE + i], bytes));
    if (memcmp(results[0], results[1], bytes) != 0) {
      fprintf(stderr, "wrong: %s: product %d has other bits beside others\n", program.of.name, i);
      errors++;
    }
    free(results[0]);
    free(results[1]);
  }
  return errors;
}

static int run_cases(tprt_comm *world, bool small) {
  enum { CALLS = 4 };
  int64_t tokens = small ? 16 : 2048, k = small ? 64 : 4096, part = small ? 64 : 1;
  const projections cases[] = {
      {"queries, keys and values", tokens, k, 3, {4096 / part, 1024 / part, 1024 / part}},
      {"those of eight ranks", tokens, k, 3, {small ? 32 : 512, small ? 8 : 128, small ? 8 : 128}},
      {"gate and up of eight ranks", tokens, k, 2, {small ? 56 : 1792, small ? 56 : 1792}},
      {"those of 16 tokens", 16, k, 2, {small ? 56 : 1792, small ? 56 : 1792}},
      {"four", 16, k, 4, {128, 64, 256, 128}}};
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  int errors = 0, calls = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tprt_context *context;
    void *at[N_BUFFERS];
    make_program(&cases[i]);
    device_need(tprt_context_create(world, &config, &context));
    make_buffers(context, at);
    device_need((tprt_status)alone(context, at, at + ALONE));
    for (int c = 0; c < CALLS; c++, calls++) {
      replay(context, beside, at, at + BESIDE);
      errors += compare(context, at);
    }
    free_buffers(context, at);
    tprt_context_destroy(context);
    table_free(&program.table);
  }
  printf("{\"test\": \"beside\", \"calls\": %d, \"errors\": %d}\n", calls, errors);
  return errors != 0;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Returns the microseconds of a call. */
static double time_of(tprt_context *context, tprt_program_fn *entry, void *const at[N_BUFFERS],
                      int to) {
  enum { WARM = 5, CALLS = 50 };
  double begun = 0;
  for (int i = 0; i < WARM + CALLS; i++) {
    if (i == WARM) {
      device_need(tprt_context_synchronize(context));
      begun = now();
    }
    replay(context, entry, at, at + to);
  }
  device_need(tprt_context_synchronize(context));
  return (now() - begun) / CALLS * 1e6;
}

static int run_time(tprt_comm *world, int64_t tokens, double bandwidth, bool small) {
  const int64_t k = small ? 32 : 4096, parts = small ? 16 : 1;
  const projections cases[] = {
      {"queries, keys and values", tokens, k, 3, {512 / parts, 128 / parts, 128 / parts}},
      {"gate and up", tokens, k, 2, {1792 / parts, 1792 / parts}}};
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tprt_context *context;
    void *at[N_BUFFERS];
    make_program(&cases[i]);
    device_need(tprt_context_create(world, &config, &context));
    make_buffers(context, at);
    double after = time_of(context, alone, at, ALONE),
           together = time_of(context, beside, at, BESIDE), bytes = (double)bytes_of(&cases[i], A);
    for (int b = 0; b < cases[i].n; b++)
      bytes += (double)bytes_of(&cases[i], B0 + b) + (double)bytes_of(&cases[i], ALONE + b);
    printf("{\"test\": \"beside-time\", \"variant\": \"%s\", \"tokens\": %lld, \"us\": %.2f, "
           "\"alone_us\": %.2f, \"bytes_us\": %.2f}\n",
           cases[i].name, (long long)tokens, together, after, bytes / bandwidth * 1e-3);
    free_buffers(context, at);
    tprt_context_destroy(context);
    table_free(&program.table);
  }
  return 0;
}

int main(int argc, char **argv) {
  tprt_comm *world;
  const tprt_config config = {.size = sizeof config, .backend = "self"};
  bool small = argc > 2 && strcmp(argv[argc - 1], "small") == 0;
  int n = argc - small;
  bool cases = n == 2 && strcmp(argv[1], "cases") == 0,
       times = n == 4 && strcmp(argv[1], "time") == 0;
  if (!cases && !times) {
    fprintf(stderr, "usage: %s (cases | time TOKENS GB/s) [small]\n", argv[0]);
    return 2;
  }
  if (device_open() != 0)
    return 77;
  device_need(tprt_world_create_threads(1, &config, &world));
  int status =
      times ? run_time(world, atoll(argv[2]), atof(argv[3]), small) : run_cases(world, small);
  tprt_comm_destroy(world);
  return status;
}
