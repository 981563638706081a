/* Checks the arguments of GEMMs by cuBLASLt, and fills in their defaults. */
#include "cuda/gemm/gemm_plan.h"

enum { ALIGNMENT = TPRT__GEMM_ALIGNMENT };

static bool is_gradient(tprt_cuda_epilogue e) {
  return e == TPRT_CUDA_RELU_GRADIENT || e == TPRT_CUDA_GELU_GRADIENT;
}

static bool is_f8(tprt_dtype dtype) { return dtype == TPRT_F8E4M3 || dtype == TPRT_F8E5M2; }

static tprt_status check_f8(const tprt_cuda_gemm *g) {
  enum { UNIT = 16 };
  bool to = g->out_dtype == TPRT_F32 || g->out_dtype == TPRT_F16 || g->out_dtype == TPRT_BF16;
  if (!is_f8(g->dtype) || !is_f8(g->dtype_b) || !to ||
      (g->dtype == TPRT_F8E5M2 && g->dtype_b == TPRT_F8E5M2))
    return tprt__fail(TPRT_UNSUPPORTED,
                      "cuBLASLt: unsupported matmul of %s and %s to %s; f8 is multiplied by f8, of "
                      "which one is f8e4m3, to f32, f16 or bf16",
                      tprt_dtype_name(g->dtype), tprt_dtype_name(g->dtype_b),
                      tprt_dtype_name(g->out_dtype));
  if (g->transpose_a || !g->transpose_b)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "cuBLASLt: f8 is multiplied along contiguous terms only: a is not "
                      "transposed, and b is");
  if ((g->k | g->n | g->row_a | g->row_b | g->row_out | g->step_a | g->step_b | g->step_out) % UNIT)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "cuBLASLt: a matmul of f8 has k %lld and n %lld, rows of %lld, %lld and %lld "
                      "elements, and steps of %lld, %lld and %lld; all must be multiples of %d",
                      (long long)g->k, (long long)g->n, (long long)g->row_a, (long long)g->row_b,
                      (long long)g->row_out, (long long)g->step_a, (long long)g->step_b,
                      (long long)g->step_out, UNIT);
  if (g->epilogue || g->bias || g->bias_gradient)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "cuBLASLt: matmuls of f8 have neither an epilogue nor a bias here");
  return TPRT_OK;
}

static tprt_status check_types(const tprt_cuda_gemm *g) {
  bool is_wider = g->out_dtype == TPRT_F32 && g->dtype != TPRT_F64;
  if (g->tf32 && g->dtype != TPRT_F32)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "cuBLASLt: tf32 needs operands of f32, not of %s",
                      tprt_dtype_name(g->dtype));
  if (is_f8(g->dtype) || is_f8(g->dtype_b))
    return check_f8(g);
  if (g->dtype_b != g->dtype)
    return tprt__fail(TPRT_UNSUPPORTED, "cuBLASLt: unsupported matmul of %s and %s",
                      tprt_dtype_name(g->dtype), tprt_dtype_name(g->dtype_b));
  if (tprt__blaslt_type(g->dtype) < 0 || (g->out_dtype != g->dtype && !is_wider))
    return tprt__fail(TPRT_UNSUPPORTED,
                      "cuBLASLt: unsupported matmul of %s to %s; supported are f32, f64, f16 and "
                      "bf16, to the same type, and f16 and bf16 to f32",
                      tprt_dtype_name(g->dtype), tprt_dtype_name(g->out_dtype));
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

tprt_status tprt__gemm_read(const tprt_cuda_gemm *given, bool placed, tprt_cuda_gemm *g) {
  tprt_status status = tprt__struct_copy(g, sizeof *g, given, "tprt_cuda_gemm");
  if (status)
    return status;
  g->batch = g->batch ? g->batch : 1;
  g->dtype_b = g->dtype_b ? g->dtype_b : g->dtype;
  g->row_a = g->row_a ? g->row_a : g->transpose_a ? g->m : g->k;
  g->row_b = g->row_b ? g->row_b : g->transpose_b ? g->k : g->n;
  g->row_out = g->row_out ? g->row_out : g->n;
  status = check_types(g);
  if (!status)
    status = check_shape(g);
  if (!status)
    status = check_epilogue(g);
  return status || !placed ? status : check_pointers(g);
}
