/* GEMMs by cuBLASLt. cuBLASLt is column-major: the row-major out = op(a) op(b) is its out' = op(b)'
 * op(a)'. So our b is its A, our a is its B, and a row of ours is a column there. Its descriptions
 * of GEMMs, without addresses, are cached by shape. */
#include "cuda/gemm/fused_gemm.h"

#include "cuda/gemm/blaslt.h"

#include <string.h>

enum { MAX_PLANS = 512, ALIGNMENT = 16 };

/* Key of the cache, on which the choice of an algorithm depends. Compared bytewise, so it must be
 * zeroed first. */
typedef struct problem {
  int64_t m, n, k, batch;
  int64_t row_a, row_b, row_out, step_a, step_b, step_out;
  int32_t type, out_type, compute, epilogue;
  int32_t transpose_a, transpose_b;
} problem;

typedef struct plan {
  problem of;
  blaslt_operation operation;
  blaslt_layout a, b, out; /* our operands */
  blaslt_algorithm algorithm;
} plan;

struct tprt_cuda_blas {
  tprt_cuda_blas_config config;
  const tprt__blaslt *lt;
  blaslt_handle handle;
  int n_plans, oldest; /* if there are MOST_PLANS plans, a new one replaces the oldest */
  plan *plans;
};

#define SET(set, object, attribute, value, what)                                                   \
  tprt__blaslt_check((set)(object, attribute, &(value), sizeof(value)), what)

/* ---- handles ---- */

tprt_status tprt_cuda_blas_create(const tprt_cuda_blas_config *config, tprt_cuda_blas **blas) {
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

static void free_plan(const tprt__blaslt *lt, plan *p) {
  if (p->operation)
    lt->operation_destroy(p->operation);
  blaslt_layout layouts[] = {p->a, p->b, p->out};
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
    if (layouts[i])
      lt->layout_destroy(layouts[i]);
  *p = (plan){.operation = NULL};
}

void tprt_cuda_blas_destroy(tprt_cuda_blas *blas) {
  if (!blas)
    return;
  for (int i = 0; i < blas->n_plans; i++)
    free_plan(blas->lt, &blas->plans[i]);
  blas->lt->destroy(blas->handle);
  tprt__free(blas->plans);
  tprt__free(blas);
}

/* ---- arguments ---- */

int64_t tprt_cuda_aux_row(tprt_cuda_epilogue epilogue, int64_t n) {
  int64_t unit = epilogue == TPRT_CUDA_RELU || epilogue == TPRT_CUDA_RELU_GRADIENT ? 128 : 8;
  return (n + unit - 1) / unit * unit;
}

static bool is_gradient(tprt_cuda_epilogue e) {
  return e == TPRT_CUDA_RELU_GRADIENT || e == TPRT_CUDA_GELU_GRADIENT;
}

static int type_of(tprt_dtype dtype) {
  return dtype == TPRT_F32    ? BLASLT_F32
         : dtype == TPRT_F64  ? BLASLT_F64
         : dtype == TPRT_F16  ? BLASLT_F16
         : dtype == TPRT_BF16 ? BLASLT_BF16
                              : -1;
}

static tprt_status check_types(const tprt_cuda_gemm *g) {
  bool is_wider = g->out_dtype == TPRT_F32 && g->dtype != TPRT_F64;
  if (type_of(g->dtype) < 0 || (g->out_dtype != g->dtype && !is_wider))
    return tprt__fail(TPRT_UNSUPPORTED,
                      "cuBLASLt: unsupported matmul of %s to %s; supported are f32, f64, f16 and "
                      "bf16, to the same type, and f16 and bf16 to f32",
                      tprt_dtype_name(g->dtype), tprt_dtype_name(g->out_dtype));
  if (g->tf32 && g->dtype != TPRT_F32)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "cuBLASLt: tf32 needs operands of f32, not of %s",
                      tprt_dtype_name(g->dtype));
  return TPRT_OK;
}

/* Checks a matrix with rows of `columns` elements that are `row` apart. The next matrix of the
 * batch begins `step` elements later: after this one, or within its first row. Matrices that are
 * `shared` may overlap. */
static tprt_status check_matrix(const char *name, int64_t rows, int64_t columns, int64_t row,
                                int64_t step, int64_t batch, bool shared) {
  if (row < columns)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "cuBLASLt: rows of %s have a stride of %lld elements, but a length of %lld",
                      name, (long long)row, (long long)columns);
  if (row > INT64_MAX / 8 / rows)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "cuBLASLt: %s is too large: %lld rows with a stride of %lld elements", name,
                      (long long)rows, (long long)row);
  bool apart = shared || batch == 1 || step >= (rows - 1) * row + columns;
  if (step < 0 || (!apart && (step < columns || step > (row - columns) / (batch - 1))))
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "cuBLASLt: matrices %s have a batch stride of %lld elements, but a size of %lld", name,
        (long long)step, (long long)((rows - 1) * row + columns));
  return TPRT_OK;
}

static tprt_status check_shape(const tprt_cuda_gemm *g) {
  if (g->m < 0 || g->n < 0 || g->k < 0 || g->batch < 1 || g->batch > INT32_MAX)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "cuBLASLt: invalid sizes: %lld matmuls of %lld x %lld x %lld",
                      (long long)g->batch, (long long)g->m, (long long)g->k, (long long)g->n);
  if (g->m == 0 || g->n == 0)
    return TPRT_OK;
  if (g->k == 0)
    return tprt__fail(TPRT_UNSUPPORTED, "cuBLASLt: the contracted dimension k has size 0");
  int64_t batch = g->batch;
  tprt_status status = check_matrix("a", g->transpose_a ? g->k : g->m, g->transpose_a ? g->m : g->k,
                                    g->row_a, g->step_a, batch, true);
  if (!status)
    status = check_matrix("b", g->transpose_b ? g->n : g->k, g->transpose_b ? g->k : g->n, g->row_b,
                          g->step_b, batch, true);
  return status ? status : check_matrix("out", g->m, g->n, g->row_out, g->step_out, batch, false);
}

static tprt_status check_epilogue(const tprt_cuda_gemm *g) {
  bool gradient = is_gradient(g->epilogue);
  if ((unsigned)g->epilogue >= TPRT_CUDA_N_EPILOGUES)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "cuBLASLt: epilogue %d does not exist",
                      (int)g->epilogue);
  if (gradient && !g->aux)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "cuBLASLt: a gradient needs aux, which the forward matmul writes");
  if (g->epilogue == TPRT_CUDA_NOTHING && g->aux)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "cuBLASLt: aux needs an epilogue with an activation function");
  if (gradient && g->bias)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "cuBLASLt: a gradient epilogue takes no bias");
  if (g->bias_gradient &&
      (g->bias || g->epilogue == TPRT_CUDA_RELU || g->epilogue == TPRT_CUDA_GELU))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "cuBLASLt: a bias gradient excludes a bias and an activation function");
  if (g->dtype == TPRT_F64 && (g->epilogue || g->bias || g->bias_gradient))
    return tprt__fail(TPRT_UNSUPPORTED,
                      "cuBLASLt: matmuls of f64 have neither an epilogue nor a bias");
  if (g->bias_gradient && g->batch > 1)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "cuBLASLt: a bias gradient of %lld matmuls; only one is supported",
                      (long long)g->batch);
  return TPRT_OK;
}

static tprt_status check_pointers(const tprt_cuda_gemm *g) {
  const struct {
    const char *name;
    const void *pointer;
    bool needed;
  } rows[] = {
      {"a", g->a, true},
      {"b", g->b, true},
      {"out", g->out, true},
      {"c", g->c, false},
      {"bias", g->bias, false},
      {"aux", g->aux, false},
      {"bias_gradient", g->bias_gradient, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].needed && !rows[i].pointer)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "cuBLASLt: %s is NULL", rows[i].name);
    if ((uintptr_t)rows[i].pointer % ALIGNMENT)
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "cuBLASLt: %s is at %p; addresses must be multiples of %d", rows[i].name,
                        rows[i].pointer, ALIGNMENT);
  }
  return TPRT_OK;
}

/* Fills in the defaults, and checks everything but the addresses. */
static tprt_status read_gemm(const tprt_cuda_gemm *given, tprt_cuda_gemm *g) {
  tprt_status status = tprt__struct_copy(g, sizeof *g, given, "tprt_cuda_gemm");
  if (status)
    return status;
  g->batch = g->batch ? g->batch : 1;
  g->row_a = g->row_a ? g->row_a : g->transpose_a ? g->m : g->k;
  g->row_b = g->row_b ? g->row_b : g->transpose_b ? g->k : g->n;
  g->row_out = g->row_out ? g->row_out : g->n;
  status = check_types(g);
  if (!status)
    status = check_shape(g);
  return status ? status : check_epilogue(g);
}

/* ---- plans ---- */

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

static problem problem_of(const tprt_cuda_gemm *g) {
  problem p;
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
  p.type = type_of(g->dtype);
  p.out_type = type_of(g->out_dtype);
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

static tprt_status describe(const tprt__blaslt *lt, const tprt_cuda_gemm *g, plan *p) {
  const problem *o = &p->of;
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
    status = make_layout(lt, o->type, o->transpose_b ? o->n : o->k, o->transpose_b ? o->k : o->n,
                         o->row_b, o->batch, o->step_b, &p->b);
  return status
             ? status
             : make_layout(lt, o->out_type, o->m, o->n, o->row_out, o->batch, o->step_out, &p->out);
}

/* Sets the addresses, which are not part of a plan. */
static tprt_status place(const tprt__blaslt *lt, const tprt_cuda_gemm *g, const plan *p) {
  const void *vector = g->bias ? g->bias : g->bias_gradient;
  tprt_status status = TPRT_OK;
  if (vector)
    status = SET(lt->operation_set, p->operation, BLASLT_BIAS, vector, "the bias");
  if (!status && g->aux)
    status = SET(lt->operation_set, p->operation, BLASLT_AUX, g->aux, "aux");
  return status;
}

static tprt_status choose(tprt_cuda_blas *blas, plan *p) {
  static const int alignments[] = {BLASLT_ALIGNMENT_A, BLASLT_ALIGNMENT_B, BLASLT_ALIGNMENT_C,
                                   BLASLT_ALIGNMENT_D};
  const tprt__blaslt *lt = blas->lt;
  const problem *o = &p->of;
  blaslt_preference preference = NULL;
  blaslt_choice choice = {.state = BLASLT_SUCCESS};
  uint64_t bytes = blas->config.workspace_bytes;
  uint32_t alignment = ALIGNMENT, reductions = BLASLT_REDUCTION_F32;
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
    found = lt->choose(blas->handle, p->operation, p->b, p->a, p->out, p->out, preference, 1,
                       &choice, &n_found);
    if (found != BLASLT_NOT_SUPPORTED)
      status = tprt__blaslt_check(found, "choosing an algorithm");
  }
  if (preference)
    lt->preference_destroy(preference);
  if (status)
    return status;
  if (found || n_found == 0 || choice.state)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "cuBLASLt: no algorithm for %lld matmuls of %lld x %lld x %lld with epilogue %d",
        (long long)o->batch, (long long)o->m, (long long)o->k, (long long)o->n, o->epilogue);
  p->algorithm = choice.algorithm;
  return TPRT_OK;
}

static tprt_status find_plan(tprt_cuda_blas *blas, const tprt_cuda_gemm *g, plan **found) {
  plan made = {.of = problem_of(g)};
  for (int i = 0; i < blas->n_plans; i++)
    if (memcmp(&blas->plans[i].of, &made.of, sizeof made.of) == 0) {
      *found = &blas->plans[i];
      return place(blas->lt, g, *found);
    }
  tprt_status status = describe(blas->lt, g, &made);
  if (!status)
    status = place(blas->lt, g, &made); /* the choice depends on them */
  if (!status)
    status = choose(blas, &made);
  if (status) {
    free_plan(blas->lt, &made);
    return status;
  }
  int at = blas->n_plans < MAX_PLANS ? blas->n_plans++ : blas->oldest;
  blas->oldest = (at + 1) % MAX_PLANS;
  free_plan(blas->lt, &blas->plans[at]);
  blas->plans[at] = made;
  *found = &blas->plans[at];
  return TPRT_OK;
}

/* Finds the plan of a GEMM. *found is NULL if there is nothing to compute. */
static tprt_status prepare(tprt_cuda_blas *blas, const tprt_cuda_gemm *given, bool placed,
                           tprt_cuda_gemm *g, plan **found) {
  tprt_status status = read_gemm(given, g);
  *found = NULL;
  if (!status && placed)
    status = check_pointers(g);
  return status || g->m == 0 || g->n == 0 ? status : find_plan(blas, g, found);
}

tprt_status tprt__cuda_gemm_prepare(tprt_cuda_blas *blas, const tprt_cuda_gemm *given) {
  tprt_cuda_gemm g = {0};
  plan *p;
  return prepare(blas, given, false, &g, &p);
}

tprt_status tprt__cuda_gemm_check(tprt_cuda_blas *blas, const tprt_cuda_gemm *given,
                                  tprt_cuda_stream stream) {
  (void)stream;
  tprt_cuda_gemm g = {0};
  plan *p;
  return prepare(blas, given, true, &g, &p);
}

tprt_status tprt_cuda_multiply(tprt_cuda_blas *blas, const tprt_cuda_gemm *given,
                               tprt_cuda_stream stream) {
  tprt_cuda_gemm copy = {0}, *g = &copy;
  plan *p;
  tprt_status status = prepare(blas, given, true, g, &p);
  if (status || !p)
    return status;
  const void *c = g->c ? g->c : g->out;
  const tprt_cuda_blas_config *config = &blas->config;
  const double wide_alpha = (double)g->alpha, wide_beta = (double)g->beta;
  bool is_wide = g->dtype == TPRT_F64; /* then alpha and beta are f64 as well */
  const void *alpha = is_wide ? (const void *)&wide_alpha : &g->alpha,
             *beta = is_wide ? (const void *)&wide_beta : &g->beta;
  return tprt__blaslt_check(blas->lt->multiply(blas->handle, p->operation, alpha, g->b, p->b, g->a,
                                               p->a, beta, c, p->out, g->out, p->out, &p->algorithm,
                                               config->workspace, config->workspace_bytes, stream),
                            "a product");
}
