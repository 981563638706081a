/* Tests GEMM on a GPU. Usage:
 *   gemm products                 every GEMM of the table, twice: against the oracle, and bitwise
 *                                 equal
 *   gemm nan [small]              ReLU of NaN, which is NaN or 0, in GEMMs of many shapes and
 *                                 types; with small only in small ones
 *   gemm slices N_RANKS [small]   GEMMs with a reduction over virtual ranks, in slices; without
 *                                 small also a large one
 *   gemm gathers N_RANKS [small]  all-gather from virtual ranks followed by GEMMs, captured and
 *                                 replayed; likewise
 *
 * Exit status: 0, 1 after "wrong" on stderr, 77 without a GPU or cuBLASLt. The last line on stdout
 * is a JSON object. */
#include "test/runtime/cuda/gemm/gemm_cases.h"
#include "test/runtime/harness/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tprt/tprt.h"

enum { WORKSPACE = 32 << 20, MOST_RANKS = TPRT_CUDA_MAX_RANKS };

static cuda_address address(const void *pointer) { return (cuda_address)(uintptr_t)pointer; }

static unsigned char *on_device(size_t bytes) {
  cuda_address memory;
  DO(allocate, &memory, bytes);
  device_set(memory, 0, bytes);
  return (unsigned char *)(uintptr_t)memory;
}

static tprt_cuda_blas *make_blas(unsigned char *workspace) {
  const tprt_cuda_blas_config config = {
      .size = sizeof config, .workspace = workspace, .workspace_bytes = WORKSPACE};
  tprt_cuda_blas *blas = NULL;
  tprt_status status = tprt_cuda_blas_create(&config, &blas);
  if (status == TPRT_UNSUPPORTED) {
    fprintf(stderr, "no cuBLASLt: %s\n", tprt_last_error());
    exit(77);
  }
  device_need(status);
  return blas;
}

static int report(const char *what, int n_ranks, int calls, int errors) {
  printf("{\"test\": \"%s\", \"ranks\": %d, \"calls\": %d, \"errors\": %d}\n", what, n_ranks, calls,
         errors);
  return errors != 0;
}

/* ---- Single GEMMs ---- */

/* Allowed error of cuBLASLt's gelu, which uses the hardware tanh: 2^-10.987 of at most 3. */
static const double GELU_SLACK = 2e-3;

static int products_of_table(void) {
  unsigned char *host[N_PRODUCT_BUFFERS], *there[N_PRODUCT_BUFFERS],
      *workspace = on_device(WORKSPACE);
  unsigned char *old = malloc(GEMM_BYTES), *first = malloc(GEMM_BYTES);
  int errors = 0;
  cuda_stream stream;
  DO(stream_create, &stream, 1);
  for (int b = 0; b < N_PRODUCT_BUFFERS; b++) {
    host[b] = malloc(GEMM_BYTES);
    there[b] = on_device(GEMM_BYTES);
  }
  tprt_cuda_blas *blas = make_blas(workspace);
  for (int i = 0; i < n_products; i++)
    for (int turn = 0; turn < 2; turn++) {
      product_fill(&products[i], host);
      memcpy(old, host[OF_OUT], GEMM_BYTES);
      for (int b = 0; b < N_PRODUCT_BUFFERS; b++)
        device_upload(address(there[b]), host[b], GEMM_BYTES);
      tprt_cuda_gemm g = product_gemm(&products[i], there);
      tprt_status status = tprt_cuda_multiply(blas, &g, stream);
      if (status == TPRT_UNSUPPORTED && tprt_dtype_size(g.dtype) == 1)
        break; /* f8 needs compute capability 8.9 */
      device_need(status);
      DO(stream_wait, stream);
      for (int b = 0; b < N_PRODUCT_BUFFERS; b++)
        DO(download, host[b], address(there[b]), GEMM_BYTES);
      errors += product_check(&products[i], host, old, GELU_SLACK);
      if (turn && memcmp(first, host[OF_OUT], GEMM_BYTES) != 0) {
        fprintf(stderr, "wrong: product %d has other bits the second time\n", i);
        errors++;
      }
      memcpy(first, host[OF_OUT], GEMM_BYTES);
    }
  tprt_cuda_blas_destroy(blas);
  for (int b = 0; b < N_PRODUCT_BUFFERS; b++) {
    DO(release, address(there[b]));
    free(host[b]);
  }
  DO(release, address(workspace));
  free(old);
  free(first);
  return report("products", 1, 2 * n_products, errors);
}

/* ---- ReLU of NaN ---- */

typedef struct nan_case {
  tprt_dtype dtype, out_dtype;
  int64_t m, n, k;
  bool tf32, transpose_a, transpose_b, bias, aux;
} nan_case;

/* What a GEMM made of its row of NaN, and its wrong elements. */
typedef struct nan_count {
  int64_t kept, zero, wrong;
} nan_count;

/* A GEMM of ones, with a NaN in row 1 of a: after ReLU, this row is NaN or 0, and other elements
 * are the sum of ones, which 16-bit floats round. */
static nan_count count_nans(const nan_case *c, const unsigned char *out) {
  nan_count count = {0};
  for (int64_t i = 0; i < c->m * c->n; i++) {
    double got = product_load(c->out_dtype, out, i), sum = (double)(c->k + c->bias);
    if (i / c->n != 1)
      count.wrong += !(fabs(got - sum) <= sum / 256);
    else if (isnan(got))
      count.kept++;
    else
      *(got == 0 ? &count.zero : &count.wrong) += 1;
  }
  return count;
}

static nan_count multiply_nan(const nan_case *c, tprt_cuda_blas *blas, cuda_stream stream,
                              unsigned char *const there[N_PRODUCT_BUFFERS]) {
  int64_t counts[N_PRODUCT_BUFFERS] = {
      [OF_A] = c->m * c->k, [OF_B] = c->k * c->n, [OF_BIAS] = c->n};
  for (int b = 0; b < N_PRODUCT_BUFFERS; b++) {
    if (!counts[b])
      continue;
    tprt_dtype dtype = b == OF_BIAS ? c->out_dtype : c->dtype;
    size_t bytes = (size_t)counts[b] * tprt_dtype_size(dtype);
    unsigned char *here = malloc(bytes);
    for (int64_t i = 0; i < counts[b]; i++)
      product_store(dtype, here, i, 1);
    if (b == OF_A)
      product_store(dtype, here, c->transpose_a ? 1 : c->k, NAN);
    device_upload(address(there[b]), here, bytes);
    free(here);
  }
  tprt_cuda_gemm g = {.size = sizeof g,
                      .dtype = c->dtype,
                      .out_dtype = c->out_dtype,
                      .m = c->m,
                      .n = c->n,
                      .k = c->k,
                      .tf32 = c->tf32,
                      .transpose_a = c->transpose_a,
                      .transpose_b = c->transpose_b,
                      .alpha = 1,
                      .epilogue = TPRT_CUDA_RELU,
                      .a = there[OF_A],
                      .b = there[OF_B],
                      .out = there[OF_OUT],
                      .bias = c->bias ? there[OF_BIAS] : NULL,
                      .aux = c->aux ? there[OF_AUX] : NULL};
  device_need(tprt_cuda_multiply(blas, &g, stream));
  DO(stream_wait, stream);
  size_t bytes = (size_t)(c->m * c->n) * tprt_dtype_size(c->out_dtype);
  unsigned char *out = malloc(bytes);
  DO(download, out, address(there[OF_OUT]), bytes);
  nan_count count = count_nans(c, out);
  free(out);
  return count;
}

static int relu_of_nan(bool small) {
  static const int64_t sizes[][3] = {{6, 8, 8},         {64, 64, 64},    {130, 72, 40},
                                     {128, 256, 128},   {16, 4096, 512}, {512, 512, 2048},
                                     {1024, 2048, 512}, {2048, 64, 4096}};
  enum { SMALL = 3 };
  static const struct {
    tprt_dtype dtype, out_dtype;
    bool tf32;
  } types[] = {{TPRT_F32, TPRT_F32, false},
               {TPRT_F32, TPRT_F32, true},
               {TPRT_F16, TPRT_F16, false},
               {TPRT_BF16, TPRT_BF16, false},
               {TPRT_BF16, TPRT_F32, false}};
  enum { BYTES = 64 << 20 };
  unsigned char *there[N_PRODUCT_BUFFERS], *workspace = on_device(WORKSPACE);
  cuda_stream stream;
  DO(stream_create, &stream, 1);
  for (int b = 0; b < N_PRODUCT_BUFFERS; b++)
    there[b] = on_device(BYTES);
  tprt_cuda_blas *blas = make_blas(workspace);
  int calls = 0, kept = 0, mixed = 0, errors = 0;
  for (size_t s = 0; s < (small ? SMALL : sizeof sizes / sizeof *sizes); s++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
      for (int bits = 0; bits < 16; bits++) {
        nan_case c = {.dtype = types[t].dtype,
                      .out_dtype = types[t].out_dtype,
                      .m = sizes[s][0],
                      .n = sizes[s][1],
                      .k = sizes[s][2],
                      .tf32 = types[t].tf32,
                      .transpose_a = bits & 1,
                      .transpose_b = bits & 2,
                      .bias = bits & 4,
                      .aux = bits & 8};
        nan_count count = multiply_nan(&c, blas, stream, there);
        if (count.wrong)
          fprintf(stderr,
                  "wrong: %lldx%lldx%lld, types %d and %d, tf32 %d, options %d: %lld elements\n",
                  (long long)c.m, (long long)c.n, (long long)c.k, (int)c.dtype, (int)c.out_dtype,
                  c.tf32, bits, (long long)count.wrong);
        errors += count.wrong != 0;
        kept += count.kept > 0 && !count.zero;
        mixed += count.kept > 0 && count.zero > 0;
        calls++;
      }
  tprt_cuda_blas_destroy(blas);
  for (int b = 0; b < N_PRODUCT_BUFFERS; b++)
    DO(release, address(there[b]));
  DO(release, address(workspace));
  /* kept: the calls that kept NaN in the whole row; mixed: in a part of it */
  printf("{\"test\": \"relu-nan\", \"calls\": %d, \"kept\": %d, \"mixed\": %d, \"errors\": %d}\n",
         calls, kept, mixed, errors);
  return errors != 0;
}

/* ---- GEMM and reduction over ranks ---- */

/* Returns multiples of 1/8: products with few terms are exact, and so are their sums. */
static float number(int64_t i, int seed) {
  return (float)((i * 7 + seed * 13 + i / 11) % 17 - 8) / 8;
}

typedef struct sum {
  int n_ranks;
  int64_t tokens, hidden, k;
  float *a[MOST_RANKS], *b[MOST_RANKS]; /* on the host */
  tprt_cuda_gemm gemms[MOST_RANKS];     /* on the device */
} sum;

static void *numbers(int64_t n, int seed, float **here) {
  *here = malloc((size_t)n * sizeof **here);
  for (int64_t i = 0; i < n; i++)
    (*here)[i] = number(i, seed);
  unsigned char *there = on_device((size_t)n * sizeof **here);
  device_upload(address(there), *here, (size_t)n * sizeof **here);
  return there;
}

static double expected(const sum *s, int64_t t, int64_t h) {
  double x = 0;
  for (int r = 0; r < s->n_ranks; r++)
    for (int64_t k = 0; k < s->k; k++)
      x += (double)s->a[r][t * s->k + k] * (double)s->b[r][k * s->hidden + h];
  return x;
}

/* Checks some rows of every rank's result, which must be bitwise equal on all ranks. */
static int check_sum(const sum *s, const tprt_cuda_rows *rows) {
  size_t bytes = (size_t)(s->tokens * s->hidden) * sizeof(float);
  float *of_first = malloc(bytes), *here = malloc(bytes);
  int errors = 0;
  for (int r = 0; r < s->n_ranks; r++) {
    DO(download, r ? here : of_first, address(rows->out[r]), bytes);
    if (r && memcmp(here, of_first, bytes) != 0) {
      fprintf(stderr, "wrong: rank %d of %d has other bits than rank 0\n", r, s->n_ranks);
      errors++;
    }
  }
  for (int64_t t = 0; t < s->tokens; t += 1 + s->tokens / 37)
    for (int64_t h = 0; h < s->hidden; h++)
      if (fabs((double)of_first[t * s->hidden + h] - expected(s, t, h)) > 1e-4) {
        fprintf(stderr, "wrong: %d ranks: [%lld, %lld] is %g, expected %g\n", s->n_ranks,
                (long long)t, (long long)h, (double)of_first[t * s->hidden + h], expected(s, t, h));
        free(of_first);
        free(here);
        return errors + 1;
      }
  free(of_first);
  free(here);
  return errors;
}

static int sum_over_ranks(int n_ranks, int64_t tokens, int64_t hidden, int64_t k,
                          tprt_cuda_blas *blas, cuda_stream stream) {
  enum { TURNS = 5 };
  sum s = {.n_ranks = n_ranks, .tokens = tokens, .hidden = hidden, .k = k};
  int64_t slice = (tokens + n_ranks - 1) / n_ranks;
  tprt_cuda_rows rows = {.size = sizeof rows,
                         .dtype = TPRT_F32,
                         .tokens = tokens,
                         .hidden = hidden,
                         .algorithm = TPRT_CUDA_SLICES};
  tprt_cuda_group_config config = {.size = sizeof config,
                                   .n_ranks = n_ranks,
                                   .rank = TPRT_CUDA_ALL_RANKS,
                                   .spin_limit = 1u << 26};
  tprt_cuda_group *group;
  int errors = 0;
  for (int r = 0; r < n_ranks; r++) {
    config.signals[r] = on_device(tprt_cuda_signal_bytes());
    rows.input[r] = on_device((size_t)(slice * n_ranks * hidden) * sizeof(float));
    rows.out[r] = on_device((size_t)(tokens * hidden) * sizeof(float));
    s.gemms[r] = (tprt_cuda_gemm){.size = sizeof *s.gemms,
                                  .dtype = TPRT_F32,
                                  .out_dtype = TPRT_F32,
                                  .m = tokens,
                                  .n = hidden,
                                  .k = k,
                                  .alpha = 1};
    s.gemms[r].a = numbers(tokens * k, r, &s.a[r]);
    s.gemms[r].b = numbers(k * hidden, 20 + r, &s.b[r]);
  }
  device_need(tprt_cuda_group_create(&config, &group));
  for (int turn = 0; turn < TURNS && !errors; turn++) {
    device_need(tprt_cuda_multiply_reduce(group, blas, s.gemms, &rows, stream));
    device_need(tprt_cuda_group_check(group, stream));
    errors += check_sum(&s, &rows);
  }
  tprt_cuda_group_destroy(group);
  for (int r = 0; r < n_ranks; r++) {
    const void *all[] = {config.signals[r], rows.input[r], rows.out[r], s.gemms[r].a, s.gemms[r].b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      DO(release, address(all[i]));
    free(s.a[r]);
    free(s.b[r]);
  }
  return errors;
}

/* ---- All-gather and GEMMs ---- */

typedef struct gathered {
  tprt_cuda_group *group;
  tprt_cuda_copier *copier;
  tprt_cuda_blas *blas;
  tprt_cuda_gather rows;
  tprt_cuda_gemm gemms[MOST_RANKS];
  float *all, *b[MOST_RANKS]; /* on the host */
} gathered;

static void enqueue_gathered(void *user, cuda_stream stream) {
  gathered *g = user;
  device_need(
      tprt_cuda_gather_multiply(g->group, g->copier, g->blas, &g->rows, g->gemms, 1, stream));
}

/* Checks some rows of every rank's GEMMs, and all gathered rows. */
static int check_gathered(const gathered *g, int n_ranks) {
  const int64_t tokens = g->rows.tokens, width = g->rows.width, n = g->gemms[0].n;
  float *rows = malloc((size_t)(tokens * width) * sizeof *rows),
        *out = malloc((size_t)(tokens * n) * sizeof *out);
  int errors = 0;
  for (int r = 0; r < n_ranks && !errors; r++) {
    DO(download, rows, address(g->rows.gathered[r]), (size_t)(tokens * width) * sizeof *rows);
    DO(download, out, address(g->gemms[r].out), (size_t)(tokens * n) * sizeof *out);
    errors += memcmp(rows, g->all, (size_t)(tokens * width) * sizeof *rows) != 0;
    for (int64_t t = 0; t < tokens; t += 1 + tokens / 37)
      for (int64_t j = 0; j < n; j++) {
        double x = 0;
        for (int64_t k = 0; k < width; k++)
          x += (double)g->all[t * width + k] * (double)g->b[r][k * n + j];
        errors += !(fabs((double)out[t * n + j] - x) <= 1e-4);
      }
  }
  if (errors)
    fprintf(stderr, "wrong: %d ranks, %lld rows: %d elements of gathered rows or products\n",
            n_ranks, (long long)tokens, errors);
  free(rows);
  free(out);
  return errors;
}

static int gather_from_ranks(int n_ranks, int64_t tokens, int64_t n, int64_t width,
                             tprt_cuda_blas *blas, cuda_stream stream) {
  enum { TURNS = 5 };
  gathered g = {
      .blas = blas,
      .rows = {.size = sizeof g.rows, .dtype = TPRT_F32, .tokens = tokens, .width = width}};
  tprt_cuda_group_config config = {.size = sizeof config,
                                   .n_ranks = n_ranks,
                                   .rank = TPRT_CUDA_ALL_RANKS,
                                   .spin_limit = 1u << 26};
  int64_t slice = (tokens + n_ranks - 1) / n_ranks;
  int errors = 0;
  g.all = calloc((size_t)(slice * n_ranks * width), sizeof *g.all);
  for (int r = 0; r < n_ranks; r++) {
    config.signals[r] = on_device(tprt_cuda_signal_bytes());
    g.rows.input[r] = on_device((size_t)(slice * width) * sizeof(float));
    g.rows.gathered[r] = on_device((size_t)(tokens * width) * sizeof(float));
    g.gemms[r] = (tprt_cuda_gemm){.size = sizeof *g.gemms,
                                  .dtype = TPRT_F32,
                                  .out_dtype = TPRT_F32,
                                  .m = tokens,
                                  .n = n,
                                  .k = width,
                                  .alpha = 1};
    g.gemms[r].b = numbers(width * n, 20 + r, &g.b[r]);
    g.gemms[r].out = on_device((size_t)(tokens * n) * sizeof(float));
  }
  device_need(tprt_cuda_group_create(&config, &g.group));
  device_need(tprt_cuda_copier_create(&g.copier));
  cuda_program program = device_capture(stream, enqueue_gathered, &g);
  for (int turn = 0; turn < TURNS && !errors; turn++) {
    for (int64_t i = 0; i < tokens * width; i++)
      g.all[i] = number(i, turn);
    for (int r = 0; r < n_ranks; r++) {
      device_upload(address(g.rows.input[r]), g.all + r * slice * width,
                    (size_t)(slice * width) * sizeof(float));
      device_set(address(g.gemms[r].out), 0xff, (size_t)(tokens * n) * sizeof(float));
    }
    if (turn % 2)
      DO(replay, program, stream);
    else
      enqueue_gathered(&g, stream);
    device_need(tprt_cuda_group_check(g.group, stream));
    errors += check_gathered(&g, n_ranks);
  }
  DO(program_destroy, program);
  tprt_cuda_copier_destroy(g.copier);
  tprt_cuda_group_destroy(g.group);
  for (int r = 0; r < n_ranks; r++) {
    const void *all[] = {config.signals[r], g.rows.input[r], g.rows.gathered[r], g.gemms[r].b,
                         g.gemms[r].out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      DO(release, address(all[i]));
    free(g.b[r]);
  }
  free(g.all);
  return errors;
}

typedef int over_ranks_fn(int n_ranks, int64_t tokens, int64_t columns, int64_t k,
                          tprt_cuda_blas *blas, cuda_stream stream);

static int over_shapes(const char *what, over_ranks_fn *over_ranks, int n_ranks, bool small) {
  static const struct {
    int64_t tokens, columns, k;
  } shapes[] = {{9, 24, 8}, {64, 132, 32}, {4096, 1024, 64}};
  int errors = 0, n = (int)(sizeof shapes / sizeof *shapes) - small;
  unsigned char *workspace = on_device(WORKSPACE);
  cuda_stream stream;
  DO(stream_create, &stream, 1);
  tprt_cuda_blas *blas = make_blas(workspace);
  for (int i = 0; i < n; i++)
    errors += over_ranks(n_ranks, shapes[i].tokens, shapes[i].columns, shapes[i].k, blas, stream);
  tprt_cuda_blas_destroy(blas);
  DO(release, address(workspace));
  return report(what, n_ranks, 5 * n, errors);
}

int main(int argc, char **argv) {
  int status = device_open();
  if (status)
    return status;
  if (argc == 2 && strcmp(argv[1], "products") == 0)
    return products_of_table();
  if (argc == 2 && strcmp(argv[1], "nan") == 0)
    return relu_of_nan(false);
  if (argc == 3 && strcmp(argv[1], "nan") == 0 && strcmp(argv[2], "small") == 0)
    return relu_of_nan(true);
  int n_ranks = argc >= 3 ? atoi(argv[2]) : 0;
  bool small = argc == 4 && strcmp(argv[3], "small") == 0,
       ranks = (argc == 3 || argc == 4) && n_ranks >= 1 && n_ranks <= MOST_RANKS;
  if (ranks && strcmp(argv[1], "slices") == 0)
    return over_shapes("slices", sum_over_ranks, n_ranks, small);
  if (ranks && strcmp(argv[1], "gathers") == 0)
    return over_shapes("gathers", gather_from_ranks, n_ranks, small);
  fputs("usage: gemm products | nan [small] | slices N_RANKS [small] | gathers N_RANKS [small]\n",
        stderr);
  return 2;
}
