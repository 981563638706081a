/* Times the algorithms of a GEMM with events. */
#include "cuda/gemm/gemm_time.h"

#include "base/base.h"
#include "cuda/driver/stopwatch.h"
#include "cuda/gemm/gemm_plan.h"

#include <stdio.h>

/* ---- operands ---- */

enum { OF_A, OF_B, OF_OUT, OF_BIAS, N_OPERANDS };

typedef struct bench {
  const tprt_cuda_blas *blas;
  const cuda_device_calls *device;
  cuda_stream stream;
  tprt_cuda_gemm gemm;
  tprt__gemm_plan plan;
  cuda_address memory[N_OPERANDS];
} bench;

/* Bytes of a batch of matrices. */
static size_t bytes_of(tprt_dtype dtype, int64_t rows, int64_t columns, int64_t row, int64_t batch,
                       int64_t step) {
  return (size_t)((rows - 1) * row + columns + (batch - 1) * step) * tprt_dtype_size(dtype);
}

/* Allocates operands, whose bytes are those of numbers of about 1 in all types, so that the GPU
 * switches about as many bits as with real ones. */
static tprt_status make_operands(bench *b) {
  enum { ABOUT_ONE = 0x3c };
  tprt_cuda_gemm *g = &b->gemm;
  const size_t bytes[N_OPERANDS] = {
      [OF_A] = bytes_of(g->dtype, g->transpose_a ? g->k : g->m, g->transpose_a ? g->m : g->k,
                        g->row_a, g->batch, g->step_a),
      [OF_B] = bytes_of(g->dtype_b, g->transpose_b ? g->n : g->k, g->transpose_b ? g->k : g->n,
                        g->row_b, g->batch, g->step_b),
      [OF_OUT] = bytes_of(g->out_dtype, g->m, g->n, g->row_out, g->batch, g->step_out),
      [OF_BIAS] = g->bias ? (size_t)g->n * tprt_dtype_size(g->out_dtype) : 0,
  };
  tprt_status status = TPRT_OK;
  for (int i = 0; i < N_OPERANDS && !status; i++) {
    if (!bytes[i])
      continue;
    status = tprt__device_check(b->device, b->device->memory_alloc(&b->memory[i], bytes[i]),
                                "memory to time a product");
    if (!status)
      status = tprt__device_check(
          b->device, b->device->memory_set(b->memory[i], ABOUT_ONE, bytes[i], b->stream),
          "operands of a timed product");
  }
  g->a = (const void *)(uintptr_t)b->memory[OF_A];
  g->b = (const void *)(uintptr_t)b->memory[OF_B];
  g->out = (void *)(uintptr_t)b->memory[OF_OUT];
  g->bias = (const void *)(uintptr_t)b->memory[OF_BIAS];
  g->c = NULL;
  return status;
}

static void end_bench(bench *b) {
  tprt__gemm_plan_free(b->blas->lt, &b->plan);
  for (int i = 0; i < N_OPERANDS; i++)
    if (b->memory[i])
      b->device->memory_free(b->memory[i]);
}

static tprt_status begin_bench(bench *b) {
  tprt_status status = make_operands(b);
  return status ? status : tprt__gemm_plan_place(b->blas->lt, &b->gemm, &b->plan);
}

/* ---- times ---- */

typedef struct timed_product {
  const bench *of;
  const blaslt_algorithm *algorithm;
} timed_product;

/* A failure: cuBLASLt does not run the algorithm, and nothing was enqueued. */
static tprt_status run_product(void *data) {
  const timed_product *product = data;
  const bench *b = product->of;
  return tprt__gemm_plan_run(b->blas, &b->plan, &b->gemm, product->algorithm, b->stream)
             ? TPRT_UNSUPPORTED
             : TPRT_OK;
}

/* Times the algorithms one after the other. *fastest has the first one. */
static tprt_status time_all(const bench *b, const blaslt_algorithm *algorithms, int n,
                            tprt__timed_algorithm *fastest) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < n && !status; i++) {
    timed_product product = {b, &algorithms[i]};
    double us = 0;
    status = tprt__device_time(b->device, b->stream, run_product, &product, &us);
    if (!status && us > 0 && (fastest->us == 0 || us < TPRT__TAKEN_PART * fastest->us))
      *fastest = (tprt__timed_algorithm){algorithms[i], us};
  }
  return status;
}

tprt_status tprt__cuda_gemm_time(const tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                                 const cuda_device_calls *device, cuda_stream stream,
                                 tprt__timed_algorithm *fastest) {
  blaslt_algorithm algorithms[TPRT__MOST_ALGORITHMS];
  bench b = {.blas = blas, .device = device, .stream = stream};
  int n = 0;
  tprt_status status = tprt__gemm_read(gemm, false, &b.gemm);
  if (!status)
    status = tprt__gemm_plan_make(blas, &b.gemm, &b.plan);
  if (!status)
    status = tprt__gemm_plan_choose(blas, &b.plan, TPRT__MOST_ALGORITHMS, algorithms, &n);
  tprt__timed_algorithm found = {.algorithm = algorithms[0]};
  if (!status && n > 1)
    status = begin_bench(&b);
  if (!status && n > 1)
    status = time_all(&b, algorithms, n, &found);
  end_bench(&b);
  if (!status)
    *fastest = found;
  return status;
}

/* ---- given algorithms ---- */

tprt_status tprt__cuda_gemm_accept(const tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                                   const blaslt_algorithm *algorithm) {
  tprt_cuda_gemm g = {0};
  tprt__gemm_plan plan;
  tprt_status status = tprt__gemm_read(gemm, false, &g);
  if (!status)
    status = tprt__gemm_plan_make(blas, &g, &plan);
  if (status)
    return status;
  status = tprt__gemm_plan_check(blas, &plan, algorithm);
  tprt__gemm_plan_free(blas->lt, &plan);
  return status;
}

void tprt__cuda_gemm_print(const tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm, char *text,
                           size_t size) {
  tprt_cuda_gemm g = {0};
  *text = 0;
  if (tprt__gemm_read(gemm, false, &g))
    return;
  const tprt__gemm_problem p = tprt__gemm_problem_of(&g);
  snprintf(text, size,
           "cuBLASLt %zu, workspace %zu, alignment %d; %lld of %lld x %lld x %lld; rows %lld %lld "
           "%lld; steps %lld %lld %lld; types %d %d %d, sums %d, epilogue %d, transposed %d %d",
           blas->lt->version(), blas->config.workspace_bytes, (int)TPRT__GEMM_ALIGNMENT,
           (long long)p.batch, (long long)p.m, (long long)p.k, (long long)p.n, (long long)p.row_a,
           (long long)p.row_b, (long long)p.row_out, (long long)p.step_a, (long long)p.step_b,
           (long long)p.step_out, p.type, p.type_b, p.out_type, p.compute, p.epilogue,
           p.transpose_a, p.transpose_b);
}
