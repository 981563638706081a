/* Plans of GEMMs: what cuBLASLt is told about a GEMM, except for addresses, and its algorithm.
 *
 * cuBLASLt is column-major: the row-major out = op(a) op(b) is its out' = op(b)' op(a)'. So our b
 * is its A, our a is its B, and a row of ours is a column there. */
#ifndef TPRT_RUNTIME_CUDA_GEMM_PLAN_H
#define TPRT_RUNTIME_CUDA_GEMM_PLAN_H

#include "cuda/gemm/blaslt.h"
#include "tprt/cuda_gemm.h"

enum { TPRT__GEMM_ALIGNMENT = 16 }; /* of all addresses, in bytes */

/* Everything on which the choice of an algorithm depends. Compared bytewise, so it must be zeroed
 * first. */
typedef struct tprt__gemm_problem {
  int64_t m, n, k, batch;
  int64_t row_a, row_b, row_out, step_a, step_b, step_out;
  int32_t type, type_b, out_type, compute, epilogue;
  int32_t transpose_a, transpose_b, unused; /* no padding, because it is compared bytewise */
} tprt__gemm_problem;

typedef struct tprt__gemm_plan {
  tprt__gemm_problem of;
  bool is_given;              /* the algorithm was given by the caller */
  blaslt_algorithm algorithm; /* else it is cuBLASLt's first choice */
  blaslt_operation operation;
  blaslt_layout a, b, out; /* our operands */
} tprt__gemm_plan;

struct tprt_cuda_blas {
  tprt_cuda_blas_config config;
  const tprt__blaslt *lt;
  blaslt_handle handle;
  int n_plans, oldest; /* if the array is full, a new plan replaces the oldest */
  tprt__gemm_plan *plans;
};

/* ---- gemm_arguments.c ---- */
/* Fills in the defaults, and checks everything; the addresses only if they are `placed`. */
tprt_status tprt__gemm_read(const tprt_cuda_gemm *given, bool placed, tprt_cuda_gemm *g);

/* ---- gemm_plan.c; all take a GEMM that tprt__gemm_read has filled in ---- */
/* The type in cuBLASLt; -1 if it has no matmuls of this type. */
int tprt__blaslt_type(tprt_dtype dtype);
tprt__gemm_problem tprt__gemm_problem_of(const tprt_cuda_gemm *g);
/* Makes a plan without an algorithm, with the addresses of this GEMM. */
tprt_status tprt__gemm_plan_make(const tprt_cuda_blas *blas, const tprt_cuda_gemm *g,
                                 tprt__gemm_plan *plan);
void tprt__gemm_plan_free(const tprt__blaslt *lt, tprt__gemm_plan *plan);
/* Sets the addresses of this GEMM that are not arguments of the multiplication. */
tprt_status tprt__gemm_plan_place(const tprt__blaslt *lt, const tprt_cuda_gemm *g,
                                  const tprt__gemm_plan *plan);
/* Gives the first algorithms of cuBLASLt's heuristics that use a fixed order of summation, round
 * once, and fit into the workspace: at least one, at most `most`. TPRT_UNSUPPORTED if there is
 * none. */
enum { TPRT__MOST_ALGORITHMS = 8 };
tprt_status tprt__gemm_plan_choose(const tprt_cuda_blas *blas, const tprt__gemm_plan *plan,
                                   int most, blaslt_algorithm *found, int *n_found);
/* TPRT_UNSUPPORTED if an algorithm cannot compute this GEMM on this GPU, or not within the
 * workspace. */
tprt_status tprt__gemm_plan_check(const tprt_cuda_blas *blas, const tprt__gemm_plan *plan,
                                  const blaslt_algorithm *algorithm);
/* Enqueues the GEMM by an algorithm. Returns cuBLASLt's status. */
blaslt_status tprt__gemm_plan_run(const tprt_cuda_blas *blas, const tprt__gemm_plan *plan,
                                  const tprt_cuda_gemm *g, const blaslt_algorithm *algorithm,
                                  cuda_stream stream);

#endif
