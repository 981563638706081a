/* Programs of sites that all-gather rows and multiply them, with checks against f64. */
#define _GNU_SOURCE 1
#include "gathering_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const gather_case gather_cases[] = {
    {TPRT_F32, true, 2, {16, 8, 0, 0}, {0, 1, 0, 0}, 1},
    {TPRT_BF16, false, 1, {20, 0, 0, 0}, {0, 0, 0, 0}, 1},
    {TPRT_F32, false, 4, {4, 12, 8, 20}, {1, 0, 0, 1}, 2},
    /* unaligned slices of the GEMM */
    {TPRT_BF16, true, 1, {3, 0, 0, 0}, {0, 0, 0, 0}, 1},
};
const int n_gather_cases = sizeof gather_cases / sizeof *gather_cases;

tprt_abi_operands gather_operands_of(const gather_case *c) {
  tprt_abi_operands made = {0};
  add_input(&made, TPRT_IN_TENSOR);
  if (c->keeps)
    add_output(&made, TPRT_OUT_GATHERED);
  for (int i = 0; i < c->n; i++) {
    add_input(&made, TPRT_IN_B);
    add_output(&made, TPRT_OUT_TENSOR);
  }
  return made;
}

void add_gather_case(test_table *t, const gather_case *c, int64_t n_ranks) {
  static const int64_t axis[] = {0};
  const int64_t shape[] = {c->blocks, ALL_ROWS / c->blocks / n_ranks, WIDTH};
  tprt_abi_fused_gather extra = {.operands = gather_operands_of(c), .n_matmuls = c->n};
  for (int i = 0; i < c->n; i++) {
    extra.columns[i] = c->columns[i];
    extra.transpose_b[i] = c->transposed[i];
  }
  table_site(t, TPRT_SITE_FUSED_GATHER, c->dtype, TPRT_NO_REDUCTION, 1, axis, 3, shape, &extra,
             N_WORDS_OF(tprt_abi_fused_gather))
      ->dim = 1;
}

test_table make_gather_program(int64_t n_devices) {
  test_table t = table_make(1, &n_devices);
  for (int i = 0; i < n_gather_cases; i++)
    add_gather_case(&t, &gather_cases[i], n_devices);
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

/* ---- Numbers ---- */

/* in turn t the rows are LEFT + LATER t; rank r's right operands are RIGHT + r */
enum { LEFT = 5, RIGHT = 7, LATER = 20 };

static float number(int what, int64_t i) {
  return (float)((i * 7 + what * 13 + i / 11) % 17 - 8) / 8;
}

static float load(tprt_dtype dtype, const void *from, int64_t i) {
  return dtype == TPRT_F32 ? ((const float *)from)[i]
                           : tprt_bf16_to_f32(((const uint16_t *)from)[i]);
}

static void upload(tprt_context *context, tprt_dtype dtype, int what, int64_t n, void *to) {
  float host[WIDTH * MOST_COLUMNS];
  uint16_t narrow[WIDTH * MOST_COLUMNS];
  for (int64_t i = 0; i < n; i++) {
    host[i] = number(what, i);
    narrow[i] = tprt_f32_to_bf16(host[i]);
  }
  (void)tprt_context_upload(context, to, dtype == TPRT_F32 ? (const void *)host : narrow,
                            (size_t)n * tprt_dtype_size(dtype));
}

/* Uploads the rows of a rank, block by block. */
static void upload_rows(tprt_context *context, const gather_case *c, int n_ranks, int rank,
                        int left, char *memory) {
  int64_t each = ALL_ROWS / c->blocks / n_ranks * WIDTH, block = ALL_ROWS / c->blocks * WIDTH;
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
  for (int64_t row = 0; row < ALL_ROWS; row++)
    for (int64_t h = 0; h < c->columns[i]; h++) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < WIDTH; k++) {
        double x =
            (double)number(left, row * WIDTH + k) *
            (double)number(RIGHT + rank, c->transposed[i] ? h * WIDTH + k : k * c->columns[i] + h);
        sum += x;
        size += fabs(x);
      }
      double x = (double)load(c->dtype, got, row * c->columns[i] + h);
      if (fabs(x - sum) <= unit * size)
        continue;
      fprintf(stderr, "wrong: case %d, rank %d, product %d [%lld, %lld] is %g, expected %g\n",
              (int)(c - gather_cases), rank, i, (long long)row, (long long)h, x, sum);
      return 1;
    }
  return 0;
}

/* inputs: the rows and the right operands; outputs: the gathered rows and the GEMM results. NULL if
 * absent. */
_Thread_local size_t buffer_offset;
_Thread_local long most_pause_us;
_Thread_local const test_table *gather_program;
_Thread_local int n_runs;

static int32_t call_site(tprt_context *context, int site, void *const *in, void *const *out) {
  n_runs++;
  if (tprt_abi_enter(context, gather_program->words))
    return tprt_abi_status(context);
  const tprt_abi_operands operands = gather_operands_of(&gather_cases[site]);
  fused_pointers pointers = {{[TPRT_IN_TENSOR] = {in[0]}, [TPRT_OUT_GATHERED] = {out[0]}}};
  for (int i = 0; i < TPRT_MAX_MATMULS; i++) {
    pointers.of[TPRT_IN_B][i] = in[1 + i];
    pointers.of[TPRT_OUT_TENSOR][i] = out[1 + i];
  }
  return call_fused(context, site, &operands, &pointers);
}

/* Programs with one site each. */
#define PROGRAM(site)                                                                              \
  static int32_t call_site##site(tprt_context *context, void *const *in, void *const *out) {       \
    return call_site(context, site, in, out);                                                      \
  }
PROGRAM(0)
PROGRAM(1)
PROGRAM(2)
PROGRAM(3)
static tprt_program_fn *const programs[] = {call_site0, call_site1, call_site2, call_site3};

static int check_results(tprt_context *context, const gather_case *c, int rank, int left,
                         void *const *out, uint64_t *digest) {
  int errors = 0;
  char host[ALL_ROWS * MOST_COLUMNS * sizeof(float)];
  for (int k = c->keeps ? -1 : 0; k < c->n && !errors; k++) {
    size_t bytes = (size_t)(ALL_ROWS * (k < 0 ? WIDTH : c->columns[k])) * tprt_dtype_size(c->dtype);
    errors += tprt_context_download(context, host, out[1 + k], bytes) != TPRT_OK;
    for (size_t at = 0; digest && at < bytes; at++)
      *digest = (*digest ^ (unsigned char)host[at]) * UINT64_C(0x100000001b3);
    if (k >= 0)
      errors += check_product(c, k, rank, left, host);
    for (int64_t at = 0; at < ALL_ROWS * WIDTH && k < 0; at++)
      errors += !(load(c->dtype, host, at) == number(left, at));
  }
  return errors;
}

static void *allocate(tprt_context *context) {
  enum { BYTES = (ALL_ROWS * WIDTH + WIDTH * MOST_COLUMNS) * sizeof(float) };
  void *memory = NULL;
  (void)tprt_context_alloc(context, BYTES + buffer_offset, &memory);
  return memory;
}

static void *behind(void *memory) { return memory ? (char *)memory + buffer_offset : NULL; }

/* Pauses for a pseudo-random time up to the allowed one. */
static void pause_a_while(int seed) {
  uint32_t hash = (uint32_t)seed * 2654435761u;
  if (most_pause_us)
    nanosleep(&(struct timespec){.tv_nsec = (long)(hash >> 8) % most_pause_us * 1000}, NULL);
}

int run_gather_case(tprt_context *context, tprt_comm *world, int i, int n_turns, const char *graph,
                    uint64_t *digest) {
  const gather_case *c = &gather_cases[i];
  int n_ranks = tprt_comm_size(world), rank = tprt_comm_rank(world), errors = 0;
  void *memory[N_INPUTS + N_OUTPUTS] = {NULL}, *at[N_INPUTS + N_OUTPUTS], **in = at,
                          **out = at + N_INPUTS;
  memory[0] = allocate(context);
  memory[N_INPUTS] = c->keeps ? allocate(context) : NULL;
  for (int k = 0; k < c->n; k++) {
    memory[1 + k] = allocate(context);
    memory[N_INPUTS + 1 + k] = allocate(context);
  }
  for (int k = 0; k < N_INPUTS + N_OUTPUTS; k++)
    at[k] = behind(memory[k]);
  for (int k = 0; k < c->n; k++)
    upload(context, c->dtype, RIGHT + rank, WIDTH * c->columns[k], in[1 + k]);
  n_runs = 0;
  for (int turn = 0; turn < n_turns && !errors; turn++) {
    const char *why = "";
    int left = LEFT + turn * LATER;
    upload_rows(context, c, n_ranks, rank, left, in[0]);
    pause_a_while(turn * n_ranks + rank);
    errors += graph ? tprt_context_replay(context, programs[i], N_INPUTS, in, N_OUTPUTS, out,
                                          &why) != TPRT_OK
                    : programs[i](context, in, out) != TPRT_OK;
    if (graph && turn > 0 && (!strstr(why, graph) || !*why != !*graph)) {
      fprintf(stderr, "wrong: case %d is no graph because \"%s\", expected \"%s\"\n", i, why,
              graph);
      errors++;
    }
    errors += check_results(context, c, rank, left, out, digest);
  }
  for (int k = 0; k < N_INPUTS + N_OUTPUTS; k++)
    tprt_context_free(context, memory[k]);
  return errors;
}

bool has_slices(const gather_case *c, int n_ranks) {
  int64_t bytes = ALL_ROWS / c->blocks / n_ranks * (int64_t)tprt_dtype_size(c->dtype);
  bool aligned = bytes * WIDTH % 16 == 0;
  for (int i = 0; i < c->n; i++)
    aligned = aligned && bytes * c->columns[i] % 16 == 0;
  return aligned;
}
