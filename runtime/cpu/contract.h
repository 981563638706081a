/* Strided contractions: c += a * b or c = a * b, summed over the dimensions that c lacks. */
#ifndef TPRT_RUNTIME_CONTRACT_H
#define TPRT_RUNTIME_CONTRACT_H

#include "base/types.h"
#include "cpu/blas.h"
#include "tprt/abi.h"

enum { TPRT__MAX_CONTRACT_DIMS = 32 };

/* A contraction brought into a form that runs. Of its loops, one each is chosen as the m, n and k
 * of a matrix product (size 1 if there is none), the rest are loops around it. */
typedef struct tprt__contraction {
  tprt_dtype dtype;
  const tprt__dtype_info *type;
  enum { TPRT__CONTRACT_DIRECT, TPRT__CONTRACT_PACKED, TPRT__CONTRACT_INTEGER } way;
  bool empty;           /* some loop has no iterations */
  bool overwrite;       /* c = a * b */
  bool swapped;         /* direct: B is the left operand */
  tprt__gemm_args gemm; /* direct: all but the pointers */
  tprt_abi_loop m, n, k;
  int n_outer, n_inner; /* loops that c has, and loops that are summed over */
  tprt_abi_loop outer[TPRT__MAX_CONTRACT_DIMS], inner[TPRT__MAX_CONTRACT_DIMS];
} tprt__contraction;

/* Plans the contraction of n_loops loops. With `overwrite` C is not read. */
tprt_status tprt__contraction_plan(tprt_dtype dtype, int64_t n_loops, const tprt_abi_loop *loops,
                                   bool overwrite, tprt__contraction *plan);

/* The same contraction with the largest matrix product as its m, n and k that strides allow,
 * whatever its type: for a library that multiplies matrices of it. False if there is none. */
bool tprt__contraction_product(const tprt__contraction *plan, int64_t n_loops,
                               const tprt_abi_loop *loops, tprt__contraction *product);

/* Bytes of scratch that tprt__contraction_run needs in `how`. */
size_t tprt__contraction_scratch(const tprt__contraction *plan);

void tprt__contraction_run(const tprt__contraction *plan, const tprt__gemm_how *how, const void *a,
                           const void *b, void *c);

#endif
