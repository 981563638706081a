/* Products of matrices with their oracle: a table that runs with the cuBLASLt of the tests and with
 * a real one. */
#ifndef TPRT_TEST_CUDA_GEMM_CASES_H
#define TPRT_TEST_CUDA_GEMM_CASES_H

#include "tprt/cuda_gemm.h"

/* Bytes of every buffer, more than any of the products needs. */
enum { GEMM_BYTES = 1 << 16 };

typedef struct product {
  tprt_dtype dtype, out_dtype;
  int64_t m, n, k, batch;
  bool transpose_a, transpose_b, tf32, bias, gradient, aux, has_c, shared_b;
  bool nan; /* the first number of the bias */
  int pad;  /* of each row */
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

/* Fills the buffers, on the host. */
void product_fill(const product *p, unsigned char *const host[N_PRODUCT_BUFFERS]);
/* The call, with buffers where the device finds them. */
tprt_cuda_gemm product_gemm(const product *p, unsigned char *const on_device[N_PRODUCT_BUFFERS]);
/* Compares with the oracle, given `out` as it was before; gelu may be wrong by `slack`. 0, or 1
 * after a message. */
int product_check(const product *p, unsigned char *const host[N_PRODUCT_BUFFERS],
                  const unsigned char *old, double slack);
/* Element [l, j] of b times [i, l] of a; i < 0: of b alone. */
double product_term(const product *p, unsigned char *const host[N_PRODUCT_BUFFERS], int64_t batch,
                    int64_t i, int64_t j, int64_t l);

float product_load(tprt_dtype dtype, const void *from, int64_t i);
void product_store(tprt_dtype dtype, void *to, int64_t i, float x);
/* Multiples of 1/8 between -1 and 1: exact in every type; so are the sums of their products in
 * f32. */
void product_numbers(tprt_dtype dtype, void *to, int seed);

#endif
