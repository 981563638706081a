/* GEMM cases with their oracle: a table that runs with the fake cuBLASLt and with a real one. */
#ifndef TPRT_TEST_CUDA_GEMM_CASES_H
#define TPRT_TEST_CUDA_GEMM_CASES_H

#include "tprt/cuda_gemm.h"

/* Size of every buffer in bytes, larger than any case needs. */
enum { GEMM_BYTES = 1 << 16 };

typedef struct product {
  tprt_dtype dtype, out_dtype;
  tprt_dtype dtype_b; /* 0: dtype */
  int64_t m, n, k, batch;
  bool transpose_a, transpose_b, tf32, bias, gradient, aux, has_c, shared_b;
  bool nan; /* as first number of the bias */
  int pad;  /* padding of each row */
  float alpha, beta;
  tprt_cuda_epilogue epilogue;
} product;

extern const product products[];
extern const int n_products;

typedef enum product_buffer {
  OF_A,
  OF_B,
  OF_C,
  OF_OUT,
  OF_BIAS,
  OF_GRADIENT,
  OF_AUX,
  N_PRODUCT_BUFFERS
} product_buffer;

/* Fills the buffers on the host. */
void product_fill(const product *p, unsigned char *const host[N_PRODUCT_BUFFERS]);
/* Returns the call, with buffers at their device addresses. */
tprt_cuda_gemm product_gemm(const product *p, unsigned char *const on_device[N_PRODUCT_BUFFERS]);
/* Compares `out` with the oracle, given its previous contents; gelu may differ by `slack`. 0, or 1
 * after a message. */
int product_check(const product *p, unsigned char *const host[N_PRODUCT_BUFFERS],
                  const unsigned char *old, double slack);
/* Returns element [l, j] of b times [i, l] of a; i < 0: element of b only. */
double product_term(const product *p, unsigned char *const host[N_PRODUCT_BUFFERS], int64_t batch,
                    int64_t i, int64_t j, int64_t l);

double product_load(tprt_dtype dtype, const void *from, int64_t i);
void product_store(tprt_dtype dtype, void *to, int64_t i, double x);
/* Writes multiples of 1/8 between -1 and 1: exact in every type, and so are sums of their products
 * in f32. */
void product_numbers(tprt_dtype dtype, void *to, int seed);

#endif
