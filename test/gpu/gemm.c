/* Products of matrices on a GPU. Usage:
 *   gemm products                 every product of the table, twice: against the oracle, and equal bits
 *   gemm slices N_RANKS [small]   products whose rows are summed over virtual ranks, in slices; without small also a large one
 * Exit status: 0, 1 after "wrong" on stderr, 77 without a GPU or cuBLASLt. The last line on stdout is a JSON object. */
#include "device.h"
#include "gemm_cases.h"

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
  DO(set, memory, 0, bytes);
  return (unsigned char *)(uintptr_t)memory;
}

static void need(tprt_status status) {
  if (status == TPRT_OK)
    return;
  fprintf(stderr, "wrong: %s: %s\n", tprt_status_name(status), tprt_last_error());
  exit(1);
}

static tprt_cuda_blas *make_blas(unsigned char *workspace) {
  const tprt_cuda_blas_config config = {.size = sizeof config, .workspace = workspace, .workspace_bytes = WORKSPACE};
  tprt_cuda_blas *blas = NULL;
  tprt_status status = tprt_cuda_blas_create(&config, &blas);
  if (status == TPRT_UNSUPPORTED) {
    fprintf(stderr, "no cuBLASLt: %s\n", tprt_last_error());
    exit(77);
  }
  need(status);
  return blas;
}

static int report(const char *what, int n_ranks, int calls, int errors) {
  printf("{\"test\": \"%s\", \"ranks\": %d, \"calls\": %d, \"errors\": %d}\n", what, n_ranks, calls, errors);
  return errors != 0;
}

/* ---- Single products ---- */

/* What cuBLASLt may be off by in gelu, whose tanh is that of the hardware: 2^-10.987 of at most 3. */
static const double GELU_SLACK = 2e-3;

static int products_of_table(void) {
  unsigned char *host[N_PRODUCT_BUFFERS], *there[N_PRODUCT_BUFFERS], *workspace = on_device(WORKSPACE);
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
        DO(upload, address(there[b]), host[b], GEMM_BYTES);
      tprt_cuda_gemm g = product_gemm(&products[i], there);
      need(tprt_cuda_multiply(blas, &g, stream));
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

/* ---- Sums of products over ranks ---- */

/* Multiples of 1/8: the products of few terms are exact, and so are their sums. */
static float number(int64_t i, int seed) { return (float)((i * 7 + seed * 13 + i / 11) % 17 - 8) / 8; }

typedef struct sum {
  int n_ranks;
  int64_t tokens, hidden, k;
  float *a[MOST_RANKS], *b[MOST_RANKS]; /* here */
  tprt_cuda_gemm gemms[MOST_RANKS];     /* there */
} sum;

static void *numbers(int64_t n, int seed, float **here) {
  *here = malloc((size_t)n * sizeof **here);
  for (int64_t i = 0; i < n; i++)
    (*here)[i] = number(i, seed);
  unsigned char *there = on_device((size_t)n * sizeof **here);
  DO(upload, address(there), *here, (size_t)n * sizeof **here);
  return there;
}

static double expected(const sum *s, int64_t t, int64_t h) {
  double x = 0;
  for (int r = 0; r < s->n_ranks; r++)
    for (int64_t k = 0; k < s->k; k++)
      x += (double)s->a[r][t * s->k + k] * (double)s->b[r][k * s->hidden + h];
  return x;
}

/* Some rows of every rank's result, which all have the same bits. */
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
        fprintf(stderr, "wrong: %d ranks: [%lld, %lld] is %g, expected %g\n", s->n_ranks, (long long)t, (long long)h,
                (double)of_first[t * s->hidden + h], expected(s, t, h));
        free(of_first);
        free(here);
        return errors + 1;
      }
  free(of_first);
  free(here);
  return errors;
}

static int sum_over_ranks(int n_ranks, int64_t tokens, int64_t hidden, int64_t k, tprt_cuda_blas *blas, cuda_stream stream) {
  enum { TURNS = 5 };
  sum s = {.n_ranks = n_ranks, .tokens = tokens, .hidden = hidden, .k = k};
  int64_t slice = (tokens + n_ranks - 1) / n_ranks;
  tprt_cuda_rows rows = {
      .size = sizeof rows, .dtype = TPRT_F32, .tokens = tokens, .hidden = hidden, .algorithm = TPRT_CUDA_SLICES};
  tprt_cuda_group_config config = {
      .size = sizeof config, .n_ranks = n_ranks, .rank = TPRT_CUDA_ALL_RANKS, .spin_limit = 1u << 26};
  tprt_cuda_group *group;
  int errors = 0;
  for (int r = 0; r < n_ranks; r++) {
    config.signals[r] = on_device(tprt_cuda_signal_bytes());
    rows.input[r] = on_device((size_t)(slice * n_ranks * hidden) * sizeof(float));
    rows.out[r] = on_device((size_t)(tokens * hidden) * sizeof(float));
    s.gemms[r] = (tprt_cuda_gemm){
        .size = sizeof *s.gemms, .dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = tokens, .n = hidden, .k = k, .alpha = 1};
    s.gemms[r].a = numbers(tokens * k, r, &s.a[r]);
    s.gemms[r].b = numbers(k * hidden, 20 + r, &s.b[r]);
  }
  need(tprt_cuda_group_create(&config, &group));
  for (int turn = 0; turn < TURNS && !errors; turn++) {
    need(tprt_cuda_multiply_reduce(group, blas, s.gemms, &rows, stream));
    need(tprt_cuda_group_check(group, stream));
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

static int slices(int n_ranks, bool small) {
  static const struct {
    int64_t tokens, hidden, k;
  } shapes[] = {{9, 24, 8}, {64, 132, 32}, {4096, 1024, 64}};
  int errors = 0, n = (int)(sizeof shapes / sizeof *shapes) - small;
  unsigned char *workspace = on_device(WORKSPACE);
  cuda_stream stream;
  DO(stream_create, &stream, 1);
  tprt_cuda_blas *blas = make_blas(workspace);
  for (int i = 0; i < n; i++)
    errors += sum_over_ranks(n_ranks, shapes[i].tokens, shapes[i].hidden, shapes[i].k, blas, stream);
  tprt_cuda_blas_destroy(blas);
  DO(release, address(workspace));
  return report("slices", n_ranks, 5 * n, errors);
}

int main(int argc, char **argv) {
  int status = device_open();
  if (status)
    return status;
  if (argc == 2 && strcmp(argv[1], "products") == 0)
    return products_of_table();
  int n_ranks = argc >= 3 ? atoi(argv[2]) : 0;
  if ((argc == 3 || argc == 4) && strcmp(argv[1], "slices") == 0 && n_ranks >= 1 && n_ranks <= MOST_RANKS)
    return slices(n_ranks, argc == 4 && strcmp(argv[3], "small") == 0);
  fprintf(stderr, "usage: gemm products | slices N_RANKS [small]\n");
  return 2;
}
