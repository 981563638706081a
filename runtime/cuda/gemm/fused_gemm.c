/* GEMMs by cuBLASLt. Plans, without addresses, are cached by shape. */
#include "cuda/gemm/fused_gemm.h"

#include "cuda/gemm/gemm_plan.h"

#include <string.h>

enum { MAX_PLANS = 512 };

/* ---- handles ---- */

tprt_status tprt_cuda_blas_create(const tprt_cuda_blas_config *config, tprt_cuda_blas **blas) {
  TPRT__NEED(config);
  TPRT__NEED(blas);
  tprt_cuda_blas made = {0};
  tprt_status status =
      tprt__struct_copy(&made.config, sizeof made.config, config, "tprt_cuda_blas_config");
  if (status)
    return status;
  if (made.config.workspace_bytes &&
      (!made.config.workspace || (uintptr_t)made.config.workspace % 256))
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "cuBLASLt: invalid workspace of %zu bytes at %p; its address must be a multiple of 256",
        made.config.workspace_bytes, made.config.workspace);
  status = tprt__blaslt_load(&made.lt);
  if (!status)
    status = tprt__blaslt_check(made.lt->create(&made.handle), "making a handle");
  if (status)
    return status;
  tprt_cuda_blas *kept = tprt__alloc(sizeof *kept);
  made.plans = tprt__alloc(MAX_PLANS * sizeof *made.plans);
  if (!kept || !made.plans) {
    made.lt->destroy(made.handle);
    tprt__free(kept);
    tprt__free(made.plans);
    return tprt__fail_memory(sizeof *kept + MAX_PLANS * sizeof *made.plans);
  }
  *kept = made;
  *blas = kept;
  return TPRT_OK;
}

void tprt_cuda_blas_destroy(tprt_cuda_blas *blas) {
  if (!blas)
    return;
  for (int i = 0; i < blas->n_plans; i++)
    tprt__gemm_plan_free(blas->lt, &blas->plans[i]);
  blas->lt->destroy(blas->handle);
  tprt__free(blas->plans);
  tprt__free(blas);
}

int64_t tprt_cuda_aux_row(tprt_cuda_epilogue epilogue, int64_t n) {
  int64_t unit = epilogue == TPRT_CUDA_RELU || epilogue == TPRT_CUDA_RELU_GRADIENT ? 128 : 8;
  return (n + unit - 1) / unit * unit;
}

/* ---- plans ---- */

/* Finds the plan with this algorithm; NULL: that of cuBLASLt's first choice. */
static tprt__gemm_plan *find_plan(const tprt_cuda_blas *blas, const tprt__gemm_problem *of,
                                  const blaslt_algorithm *algorithm) {
  for (int i = 0; i < blas->n_plans; i++) {
    tprt__gemm_plan *at = &blas->plans[i];
    if (at->is_given == (algorithm != NULL) && memcmp(&at->of, of, sizeof *of) == 0 &&
        (!algorithm || memcmp(&at->algorithm, algorithm, sizeof *algorithm) == 0))
      return at;
  }
  return NULL;
}

static tprt_status keep_plan(tprt_cuda_blas *blas, const tprt_cuda_gemm *g,
                             const blaslt_algorithm *algorithm, tprt__gemm_plan **kept) {
  tprt__gemm_plan made;
  int n;
  tprt_status status = tprt__gemm_plan_make(blas, g, &made);
  if (status)
    return status;
  if (algorithm)
    made.algorithm = *algorithm;
  else
    status = tprt__gemm_plan_choose(blas, &made, 1, &made.algorithm, &n);
  made.is_given = algorithm != NULL;
  if (status) {
    tprt__gemm_plan_free(blas->lt, &made);
    return status;
  }
  int at = blas->n_plans < MAX_PLANS ? blas->n_plans++ : blas->oldest;
  blas->oldest = (at + 1) % MAX_PLANS;
  tprt__gemm_plan_free(blas->lt, &blas->plans[at]);
  blas->plans[at] = made;
  *kept = &blas->plans[at];
  return TPRT_OK;
}

/* Finds or makes the plan of a GEMM. *found is NULL if there is nothing to compute. */
static tprt_status prepare(tprt_cuda_blas *blas, const tprt_cuda_gemm *given, bool placed,
                           const blaslt_algorithm *algorithm, tprt_cuda_gemm *g,
                           tprt__gemm_plan **found) {
  *found = NULL;
  tprt_status status = tprt__gemm_read(given, placed, g);
  if (status || g->m == 0 || g->n == 0)
    return status;
  const tprt__gemm_problem of = tprt__gemm_problem_of(g);
  *found = find_plan(blas, &of, algorithm);
  return *found ? tprt__gemm_plan_place(blas->lt, g, *found) : keep_plan(blas, g, algorithm, found);
}

tprt_status tprt__cuda_gemm_prepare(tprt_cuda_blas *blas, const tprt_cuda_gemm *given) {
  tprt_cuda_gemm g = {0};
  tprt__gemm_plan *p;
  return prepare(blas, given, false, NULL, &g, &p);
}

tprt_status tprt__cuda_gemm_check(tprt_cuda_blas *blas, const tprt_cuda_gemm *given,
                                  tprt_cuda_stream stream) {
  (void)stream;
  tprt_cuda_gemm g = {0};
  tprt__gemm_plan *p;
  return prepare(blas, given, true, NULL, &g, &p);
}

tprt_status tprt__cuda_gemm_multiply(tprt_cuda_blas *blas, const tprt_cuda_gemm *given,
                                     const blaslt_algorithm *algorithm, tprt_cuda_stream stream) {
  tprt_cuda_gemm g = {0};
  tprt__gemm_plan *p;
  tprt_status status = prepare(blas, given, true, algorithm, &g, &p);
  return status || !p ? status
                      : tprt__blaslt_check(tprt__gemm_plan_run(blas, p, &g, &p->algorithm, stream),
                                           "a product");
}

tprt_status tprt_cuda_multiply(tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                               tprt_cuda_stream stream) {
  TPRT__NEED(blas);
  TPRT__NEED(gemm);
  return tprt__cuda_gemm_multiply(blas, gemm, NULL, stream);
}
