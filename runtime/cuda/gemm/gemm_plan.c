/* Describes GEMMs to cuBLASLt, and asks it for algorithms. */
#include "cuda/gemm/gemm_plan.h"

#include <string.h>

#define SET(set, object, attribute, value, what)                                                   \
  tprt__blaslt_check((set)(object, attribute, &(value), sizeof(value)), what)

int tprt__blaslt_type(tprt_dtype dtype) {
  static const struct {
    tprt_dtype dtype;
    int type;
  } rows[] = {{TPRT_F32, BLASLT_F32},   {TPRT_F64, BLASLT_F64},       {TPRT_F16, BLASLT_F16},
              {TPRT_BF16, BLASLT_BF16}, {TPRT_F8E4M3, BLASLT_F8E4M3}, {TPRT_F8E5M2, BLASLT_F8E5M2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].dtype == dtype)
      return rows[i].type;
  return -1;
}

/* ---- descriptions ---- */

static int32_t epilogue_of(const tprt_cuda_gemm *g) {
  int32_t bits = g->bias ? BLASLT_WITH_BIAS : 0, aux = g->aux ? BLASLT_WITH_AUX : 0;
  int32_t gradient = g->bias_gradient ? BLASLT_WITH_BIAS_GRADIENT : 0;
  switch (g->epilogue) {
  case TPRT_CUDA_RELU:
    return BLASLT_WITH_RELU | bits | aux;
  case TPRT_CUDA_GELU:
    return BLASLT_WITH_GELU | bits | aux;
  case TPRT_CUDA_RELU_GRADIENT:
    return BLASLT_WITH_RELU_GRADIENT | gradient;
  case TPRT_CUDA_GELU_GRADIENT:
    return BLASLT_WITH_GELU_GRADIENT | gradient;
  default: /* our b is its A */
    return gradient ? BLASLT_WITH_SUM_OF_A : bits ? bits : BLASLT_WITH_NOTHING;
  }
}

tprt__gemm_problem tprt__gemm_problem_of(const tprt_cuda_gemm *g) {
  tprt__gemm_problem p;
  memset(&p, 0, sizeof p);
  p.m = g->m;
  p.n = g->n;
  p.k = g->k;
  p.batch = g->batch;
  p.row_a = g->row_a;
  p.row_b = g->row_b;
  p.row_out = g->row_out;
  p.step_a = g->batch > 1 ? g->step_a : 0;
  p.step_b = g->batch > 1 ? g->step_b : 0;
  p.step_out = g->batch > 1 ? g->step_out : 0;
  p.type = tprt__blaslt_type(g->dtype);
  p.type_b = tprt__blaslt_type(g->dtype_b);
  p.out_type = tprt__blaslt_type(g->out_dtype);
  p.compute = g->tf32                ? BLASLT_COMPUTE_TF32
              : g->dtype == TPRT_F64 ? BLASLT_COMPUTE_F64
                                     : BLASLT_COMPUTE_F32;
  p.epilogue = epilogue_of(g);
  p.transpose_a = g->transpose_a;
  p.transpose_b = g->transpose_b;
  return p;
}

static tprt_status make_layout(const tprt__blaslt *lt, int type, int64_t rows, int64_t columns,
                               int64_t row, int64_t batch, int64_t step, blaslt_layout *layout) {
  int32_t count = (int32_t)batch;
  tprt_status status = tprt__blaslt_check(
      lt->layout_create(layout, type, (uint64_t)columns, (uint64_t)rows, row), "a layout");
  if (!status && batch > 1)
    status = SET(lt->layout_set, *layout, BLASLT_LAYOUT_BATCH, count, "a layout's batch");
  if (!status && batch > 1)
    status = SET(lt->layout_set, *layout, BLASLT_LAYOUT_STEP, step, "a layout's step");
  return status;
}

static tprt_status describe(const tprt__blaslt *lt, const tprt_cuda_gemm *g, tprt__gemm_plan *p) {
  const tprt__gemm_problem *o = &p->of;
  int32_t of_b = o->transpose_b ? BLASLT_TRANSPOSED : BLASLT_PLAIN,
          of_a = o->transpose_a ? BLASLT_TRANSPOSED : BLASLT_PLAIN;
  int64_t aux_row = tprt_cuda_aux_row(g->epilogue, o->n), aux_step = aux_row * o->m;
  uint32_t epilogue = (uint32_t)o->epilogue;
  int scale = o->type == BLASLT_F64 ? BLASLT_F64 : BLASLT_F32;
  tprt_status status =
      tprt__blaslt_check(lt->operation_create(&p->operation, o->compute, scale), "an operation");
  if (!status)
    status = SET(lt->operation_set, p->operation, BLASLT_TRANSPOSE_A, of_b, "transposing");
  if (!status)
    status = SET(lt->operation_set, p->operation, BLASLT_TRANSPOSE_B, of_a, "transposing");
  if (!status)
    status = SET(lt->operation_set, p->operation, BLASLT_EPILOGUE, epilogue, "the epilogue");
  if (!status && g->aux)
    status = SET(lt->operation_set, p->operation, BLASLT_AUX_LEADING, aux_row, "rows of aux");
  if (!status && g->aux && o->batch > 1)
    status = SET(lt->operation_set, p->operation, BLASLT_AUX_STEP, aux_step, "matrices of aux");
  if (!status)
    status = make_layout(lt, o->type, o->transpose_a ? o->k : o->m, o->transpose_a ? o->m : o->k,
                         o->row_a, o->batch, o->step_a, &p->a);
  if (!status)
    status = make_layout(lt, o->type_b, o->transpose_b ? o->n : o->k, o->transpose_b ? o->k : o->n,
                         o->row_b, o->batch, o->step_b, &p->b);
  return status
             ? status
             : make_layout(lt, o->out_type, o->m, o->n, o->row_out, o->batch, o->step_out, &p->out);
}

tprt_status tprt__gemm_plan_place(const tprt__blaslt *lt, const tprt_cuda_gemm *g,
                                  const tprt__gemm_plan *p) {
  const void *vector = g->bias ? g->bias : g->bias_gradient;
  tprt_status status = TPRT_OK;
  if (vector)
    status = SET(lt->operation_set, p->operation, BLASLT_BIAS, vector, "the bias");
  if (!status && g->aux)
    status = SET(lt->operation_set, p->operation, BLASLT_AUX, g->aux, "aux");
  return status;
}

void tprt__gemm_plan_free(const tprt__blaslt *lt, tprt__gemm_plan *p) {
  if (p->operation)
    lt->operation_destroy(p->operation);
  blaslt_layout layouts[] = {p->a, p->b, p->out};
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
    if (layouts[i])
      lt->layout_destroy(layouts[i]);
  *p = (tprt__gemm_plan){.operation = NULL};
}

tprt_status tprt__gemm_plan_make(const tprt_cuda_blas *blas, const tprt_cuda_gemm *g,
                                 tprt__gemm_plan *plan) {
  tprt__gemm_plan made = {.of = tprt__gemm_problem_of(g)};
  tprt_status status = describe(blas->lt, g, &made);
  if (!status)
    status = tprt__gemm_plan_place(blas->lt, g, &made); /* the choice depends on them */
  if (status)
    tprt__gemm_plan_free(blas->lt, &made);
  else
    *plan = made;
  return status;
}

/* ---- algorithms ---- */

static tprt_status no_algorithm(const tprt__gemm_problem *o) {
  return tprt__fail(
      TPRT_UNSUPPORTED,
      "cuBLASLt: no algorithm for %lld matmuls of %lld x %lld x %lld with epilogue %d",
      (long long)o->batch, (long long)o->m, (long long)o->k, (long long)o->n, o->epilogue);
}

tprt_status tprt__gemm_plan_choose(const tprt_cuda_blas *blas, const tprt__gemm_plan *p, int most,
                                   blaslt_algorithm *chosen, int *n_chosen) {
  static const int alignments[] = {BLASLT_ALIGNMENT_A, BLASLT_ALIGNMENT_B, BLASLT_ALIGNMENT_C,
                                   BLASLT_ALIGNMENT_D};
  const tprt__blaslt *lt = blas->lt;
  blaslt_preference preference = NULL;
  blaslt_choice choices[TPRT__MOST_ALGORITHMS] = {{.state = BLASLT_SUCCESS}};
  uint64_t bytes = blas->config.workspace_bytes;
  uint32_t alignment = TPRT__GEMM_ALIGNMENT, reductions = BLASLT_REDUCTION_F32;
  int n_found = 0;
  tprt_status status = tprt__blaslt_check(lt->preference_create(&preference), "preferences");
  if (!status)
    status = SET(lt->preference_set, preference, BLASLT_WORKSPACE_BYTES, bytes,
                 "the size of the workspace");
  if (!status)
    status =
        SET(lt->preference_set, preference, BLASLT_REDUCTIONS, reductions, "reduction schemes");
  for (size_t i = 0; i < sizeof alignments / sizeof *alignments && !status; i++)
    status = SET(lt->preference_set, preference, alignments[i], alignment, "alignment");
  blaslt_status found = BLASLT_SUCCESS;
  if (!status) {
    found = lt->choose(blas->handle, p->operation, p->b, p->a, p->out, p->out, preference, most,
                       choices, &n_found);
    if (found != BLASLT_NOT_SUPPORTED)
      status = tprt__blaslt_check(found, "choosing an algorithm");
  }
  if (preference)
    lt->preference_destroy(preference);
  if (status)
    return status;
  *n_chosen = 0;
  for (int i = 0; i < n_found && !found; i++)
    if (choices[i].state == BLASLT_SUCCESS)
      chosen[(*n_chosen)++] = choices[i].algorithm;
  return *n_chosen ? TPRT_OK : no_algorithm(&p->of);
}

tprt_status tprt__gemm_plan_check(const tprt_cuda_blas *blas, const tprt__gemm_plan *p,
                                  const blaslt_algorithm *algorithm) {
  blaslt_choice result = {.state = BLASLT_SUCCESS};
  blaslt_status refused =
      blas->lt->check(blas->handle, p->operation, p->b, p->a, p->out, p->out, algorithm, &result);
  if (refused || result.state)
    return tprt__fail(TPRT_UNSUPPORTED, "cuBLASLt: an algorithm cannot be used here: %s",
                      blas->lt->text(refused ? refused : result.state));
  return result.workspace_bytes <= blas->config.workspace_bytes
             ? TPRT_OK
             : tprt__fail(TPRT_UNSUPPORTED,
                          "cuBLASLt: an algorithm needs a workspace of %zu bytes; it is %zu bytes",
                          result.workspace_bytes, blas->config.workspace_bytes);
}

blaslt_status tprt__gemm_plan_run(const tprt_cuda_blas *blas, const tprt__gemm_plan *p,
                                  const tprt_cuda_gemm *g, const blaslt_algorithm *algorithm,
                                  cuda_stream stream) {
  const void *c = g->c ? g->c : g->out;
  const tprt_cuda_blas_config *config = &blas->config;
  const double wide_alpha = (double)g->alpha, wide_beta = (double)g->beta;
  bool is_wide = g->dtype == TPRT_F64; /* then alpha and beta are f64 as well */
  const void *alpha = is_wide ? (const void *)&wide_alpha : &g->alpha,
             *beta = is_wide ? (const void *)&wide_beta : &g->beta;
  return blas->lt->multiply(blas->handle, p->operation, alpha, g->b, p->b, g->a, p->a, beta, c,
                            p->out, g->out, p->out, algorithm, config->workspace,
                            config->workspace_bytes, stream);
}
