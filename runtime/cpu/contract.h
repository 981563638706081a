/* Strided contractions: c += a * b or c = a * b, summed over the dimensions that c lacks. */
#ifndef TPRT_RUNTIME_CONTRACT_H
#define TPRT_RUNTIME_CONTRACT_H

#include "base/types.h"
#include "cpu/blas.h"
#include "tprt/abi.h"

enum { TPRT__MAX_CONTRACT_DIMS = 32 };

/* A planned contraction. One loop each is chosen as the m, n and k of a GEMM (size 1 if there is
 * none); the other loops are nested around it. */
typedef struct tprt__contraction {
  tprt_dtype dtype;
  const tprt__dtype_info *type;
  enum { TPRT__CONTRACT_DIRECT, TPRT__CONTRACT_PACKED, TPRT__CONTRACT_INTEGER } algorithm;
  bool empty;           /* some loop has no iterations */
  bool overwrite;       /* c = a * b */
  bool swapped;         /* direct: B is the left operand */
  tprt__gemm_args gemm; /* direct: everything but the pointers */
  tprt_abi_loop m, n, k;
  int n_outer, n_inner; /* number of the loops that c has, and of those that are summed over */
  tprt_abi_loop outer[TPRT__MAX_CONTRACT_DIMS], inner[TPRT__MAX_CONTRACT_DIMS];
} tprt__contraction;

/* Plans the contraction of n_loops loops. With `overwrite` C is not read. */
tprt_status tprt__contraction_plan(tprt_dtype dtype, int64_t n_loops, const tprt_abi_loop *loops,
                                   bool overwrite, tprt__contraction *plan);

/* Plans the same contraction around the largest GEMM that its strides allow, whatever its type: for
 * a GEMM library of the caller. Returns false if there is none. */
bool tprt__contraction_as_gemm(const tprt__contraction *plan, int64_t n_loops,
                               const tprt_abi_loop *loops, tprt__contraction *product);

/* Bytes of scratch memory that tprt__contraction_run needs in `how`. */
size_t tprt__contraction_scratch(const tprt__contraction *plan);

void tprt__contraction_run(const tprt__contraction *plan, const tprt__gemm_settings *how,
                           const void *a, const void *b, void *c);

#endif
