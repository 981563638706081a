/* Contractions of programs on a GPU: with cuBLASLt if they are GEMMs that it supports, else with a
 * kernel, which supports all of them. */
#include "cuda/gpu/gpu_inside.h"

#include "cpu/contract.h"
#include "cuda/gemm/fused_gemm.h"
#include "cuda/gemm/gemm_time.h"
#include "cuda/kernels/site_args.h"

#include <string.h>

enum {
  A,
  B,
  C,
  MIN_WORK = 512, /* multiplications in a GEMM */
  MAX_CALLS = 32, /* of cuBLASLt for one site */
  ALIGNMENT = 16,
};

struct tprt__gpu_contraction {
  bool by_blas;
  int lane;
  tprt_dtype types[3];    /* of A, B and C */
  gpu_site_kernel kernel; /* for operands that cuBLASLt does not support */
  site_contract arguments;
  bool has_bias;
  tprt_cuda_gemm gemm; /* everything but the addresses */
  bool has_algorithm;  /* else cuBLASLt's first choice */
  blaslt_algorithm algorithm;
  int64_t n_outer, n_inner;
  tprt__contraction product; /* its loops are those around the batch */
};

/* ---- GEMMs by cuBLASLt ---- */

static bool is_f8(tprt_dtype dtype) { return dtype == TPRT_F8E4M3 || dtype == TPRT_F8E5M2; }

static bool is_blas_type(tprt_dtype dtype) {
  return dtype == TPRT_F32 || dtype == TPRT_F64 || dtype == TPRT_F16 || dtype == TPRT_BF16;
}

static int64_t size_of(const tprt__gpu_contraction *c, int operand) {
  return (int64_t)tprt_dtype_size(c->types[operand]);
}

/* True if the GPU has tensor cores for f8: compute capability 8.9 or more. */
static bool multiplies_f8(const tprt__gpu *gpu) {
  int major = 0, minor = 0;
  (void)gpu->calls->device_attribute(&major, CUDA_CAPABILITY_MAJOR, gpu->number);
  (void)gpu->calls->device_attribute(&minor, CUDA_CAPABILITY_MINOR, gpu->number);
  return major > 8 || (major == 8 && minor >= 9);
}

/* Index of the left and of the right operand. */
static int left_of(const tprt__contraction *p) { return p->swapped ? B : A; }
static int right_of(const tprt__contraction *p) { return p->swapped ? A : B; }

/* True if n results that are `step` apart do not overlap: one lies after the other, or between the
 * other's rows. */
static bool are_disjoint(const tprt__gemm_args *g, int64_t step, int64_t n) {
  return step >= (g->m - 1) * g->ldc + g->n || (step >= g->n && step * (n - 1) + g->n <= g->ldc);
}

/* Turns the largest loop around the GEMM into its batch, and removes it from the loops. */
static void choose_batch(tprt__contraction *p, tprt_cuda_gemm *gemm) {
  int best = -1;
  for (int i = 0; i < p->n_outer; i++) {
    bool fits = are_disjoint(&p->gemm, p->outer[i].stride[C], p->outer[i].size);
    if (fits && p->outer[i].size <= INT32_MAX &&
        (best < 0 || p->outer[i].size > p->outer[best].size))
      best = i;
  }
  if (best < 0)
    return;
  gemm->batch = p->outer[best].size;
  gemm->step_a = p->outer[best].stride[left_of(p)];
  gemm->step_b = p->outer[best].stride[right_of(p)];
  gemm->step_out = p->outer[best].stride[C];
  for (int i = best; i < p->n_outer - 1; i++)
    p->outer[i] = p->outer[i + 1];
  p->n_outer--;
}

static int64_t iterations(const tprt_abi_loop *loops, int n) {
  int64_t product = 1;
  for (int i = 0; i < n; i++)
    product *= loops[i].size;
  return product;
}

/* Describes the contraction as GEMMs. Sums over several calls would be rounded after each call, so
 * they are for f32 and f64 only. */
static bool is_gemm(const tprt__gpu *gpu, const tprt__gpu_product *given,
                    tprt__gpu_contraction *made) {
  const tprt__contraction *of = given->of;
  tprt__contraction *p = &made->product;
  if (!is_blas_type(of->dtype) || (is_f8(made->types[A]) && !multiplies_f8(gpu)) ||
      !tprt__contraction_as_gemm(of, given->n_loops, given->loops, p))
    return false;
  const tprt__gemm_args *g = &p->gemm;
  made->gemm = (tprt_cuda_gemm){.size = sizeof made->gemm,
                                .dtype = made->types[left_of(p)],
                                .dtype_b = made->types[right_of(p)],
                                .out_dtype = of->dtype,
                                .tf32 = given->tf32 && made->types[A] == TPRT_F32,
                                .m = g->m,
                                .n = g->n,
                                .k = g->k,
                                .transpose_a = g->transpose_a,
                                .transpose_b = g->transpose_b,
                                .row_a = g->lda,
                                .row_b = g->ldb,
                                .row_out = g->ldc,
                                .alpha = 1};
  choose_batch(p, &made->gemm);
  made->n_outer = iterations(p->outer, p->n_outer);
  made->n_inner = iterations(p->inner, p->n_inner);
  bool is_large = g->m * g->n * g->k >= MIN_WORK,
       adds_once = made->n_inner == 1 || of->dtype == TPRT_F32 || of->dtype == TPRT_F64;
  return is_large && adds_once && made->n_outer <= MAX_CALLS &&
         made->n_inner <= MAX_CALLS / made->n_outer;
}

/* Adds the epilogue. Returns false unless there is a single GEMM whose columns are those of the
 * bias. */
static bool add_finish(const tprt__gpu *gpu, const tprt__gpu_finish *finish,
                       tprt__gpu_contraction *made) {
  const tprt__contraction *p = &made->product;
  made->gemm.epilogue = (tprt_cuda_epilogue)finish->function;
  /* The workspace stands for the address of the bias in the choice of an algorithm. */
  made->gemm.bias = finish->bias ? (const void *)(uintptr_t)gpu->lanes[made->lane].workspace : NULL;
  return made->n_outer == 1 && made->n_inner == 1 && !p->swapped && made->gemm.batch == 0;
}

/* Chooses between cuBLASLt and the kernel. The kernel runs shapes for which cuBLASLt has no
 * algorithm. A missing cuBLASLt is a failure. */
static tprt_status prepare(tprt__gpu *gpu, const tprt__gpu_finish *finish,
                           tprt__gpu_contraction *made) {
  if (finish && !add_finish(gpu, finish, made))
    return TPRT_OK;
  tprt_status status = tprt__cuda_gemm_prepare(gpu->lanes[made->lane].blas, &made->gemm);
  made->by_blas = !status;
  return status == TPRT_UNSUPPORTED ? TPRT_OK : status;
}

/* Adds the offsets, in elements, of one iteration of some loops. */
static void locate(const tprt_abi_loop *loops, int n, int64_t iteration, int64_t at[3]) {
  for (int i = n - 1; i >= 0; i--) {
    for (int x = A; x <= C; x++)
      at[x] += iteration % loops[i].size * loops[i].stride[x];
    iteration /= loops[i].size;
  }
}

static tprt_status multiply(tprt__gpu_queue queue, const tprt__gpu_contraction *c,
                            const void *const operands[3], const void *bias, void *out) {
  const tprt__contraction *p = &c->product;
  tprt_cuda_gemm gemm = c->gemm;
  tprt_status status = TPRT_OK;
  gemm.bias = bias;
  int left = left_of(p), right = right_of(p);
  for (int64_t i = 0; i < c->n_outer && !status; i++) {
    for (int64_t j = 0; j < c->n_inner && !status; j++) {
      int64_t at[3] = {0, 0, 0};
      locate(p->outer, p->n_outer, i, at);
      locate(p->inner, p->n_inner, j, at);
      gemm.a = (const char *)operands[left] + at[left] * size_of(c, left);
      gemm.b = (const char *)operands[right] + at[right] * size_of(c, right);
      gemm.out = (char *)out + at[C] * size_of(c, C);
      gemm.beta = p->overwrite && j == 0 ? 0 : 1;
      status = tprt__cuda_gemm_multiply(queue.gpu->lanes[c->lane].blas, &gemm,
                                        c->has_algorithm ? &c->algorithm : NULL, queue.stream);
    }
  }
  return status;
}

/* True if the addresses of all calls are aligned. */
static bool are_aligned(const tprt__gpu_contraction *c, const void *const operands[3],
                        const void *bias) {
  const tprt__contraction *p = &c->product;
  uintptr_t bits = (uintptr_t)bias;
  for (int x = A; x <= C; x++) {
    bits |= (uintptr_t)operands[x];
    for (int i = 0; i < p->n_outer; i++)
      bits |= (uintptr_t)(p->outer[i].stride[x] * size_of(c, x));
    for (int i = 0; i < p->n_inner; i++)
      bits |= (uintptr_t)(p->inner[i].stride[x] * size_of(c, x));
  }
  return bits % ALIGNMENT == 0;
}

/* ---- by a kernel ---- */

static const gpu_site_kernel kernels[TPRT_N_DTYPES] = {
    [TPRT_F32] = GPU_CONTRACT_F32,   [TPRT_F64] = GPU_CONTRACT_F64, [TPRT_F16] = GPU_CONTRACT_F16,
    [TPRT_BF16] = GPU_CONTRACT_BF16, [TPRT_I8] = GPU_CONTRACT_I8,   [TPRT_I16] = GPU_CONTRACT_I16,
    [TPRT_I32] = GPU_CONTRACT_I32,   [TPRT_I64] = GPU_CONTRACT_I64, [TPRT_U8] = GPU_CONTRACT_I8,
    [TPRT_U16] = GPU_CONTRACT_I16,   [TPRT_U32] = GPU_CONTRACT_I32, [TPRT_U64] = GPU_CONTRACT_I64,
};

/* Kernels for narrower factors and results of f32. */
static const gpu_site_kernel mixed_kernels[TPRT_N_DTYPES] = {
    [TPRT_F16] = GPU_CONTRACT_F16_F32,
    [TPRT_BF16] = GPU_CONTRACT_BF16_F32,
    [TPRT_F8E4M3] = GPU_CONTRACT_F8_F32,
    [TPRT_F8E5M2] = GPU_CONTRACT_F8_F32,
};

static site_loop loop_of(const tprt_abi_loop *loop) {
  return (site_loop){.size = loop->size,
                     .stride = {loop->stride[A], loop->stride[B], loop->stride[C]}};
}

static void describe(const tprt__contraction *of, site_contract *arguments) {
  *arguments = (site_contract){.m = loop_of(&of->m),
                               .n = loop_of(&of->n),
                               .k = loop_of(&of->k),
                               .n_outer = (uint32_t)of->n_outer,
                               .n_inner = (uint32_t)of->n_inner,
                               .overwrite = of->overwrite};
  for (int i = 0; i < of->n_outer; i++)
    arguments->loops[i] = loop_of(&of->outer[i]);
  for (int i = 0; i < of->n_inner; i++)
    arguments->loops[of->n_outer + i] = loop_of(&of->inner[i]);
}

static tprt_status launch(tprt__gpu_queue queue, const tprt__gpu_contraction *c, const void *a,
                          const void *b, const void *bias, void *out) {
  site_contract arguments = c->arguments;
  uint64_t n_tiles = (uint64_t)((arguments.m.size + SITE_TILE - 1) / SITE_TILE) *
                     (uint64_t)((arguments.n.size + SITE_TILE - 1) / SITE_TILE);
  for (uint32_t i = 0; i < arguments.n_outer; i++)
    n_tiles *= (uint64_t)arguments.loops[i].size;
  arguments.a = a;
  arguments.b = b;
  arguments.c = out;
  arguments.bias = bias;
  return tprt__gpu_site_launch(queue.gpu, queue.stream, c->kernel, n_tiles * SITE_THREADS, 1,
                               &arguments);
}

/* ---- entry points ---- */

tprt_status tprt__gpu_contraction_plan(tprt__gpu *gpu, const tprt__gpu_product *product,
                                       tprt__gpu_contraction **result) {
  const tprt__contraction *of = product->of;
  const tprt__gpu_finish *finish = product->finish;
  _Static_assert(SITE_NO_FUNCTION == (int)TPRT_CUDA_NOTHING && SITE_RELU == (int)TPRT_CUDA_RELU &&
                     SITE_GELU == (int)TPRT_CUDA_GELU,
                 "functions of kernels and of cuBLASLt");
  if (of->empty) {
    *result = NULL;
    return TPRT_OK;
  }
  tprt__gpu_contraction *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  for (int x = A; x < C; x++)
    made->types[x] = product->factors[x] ? product->factors[x] : of->dtype;
  made->types[C] = of->dtype;
  made->lane = product->lane;
  made->kernel = (made->types[A] == of->dtype ? kernels : mixed_kernels)[made->types[A]];
  describe(of, &made->arguments);
  made->arguments.a_is_e5m2 = made->types[A] == TPRT_F8E5M2;
  made->arguments.b_is_e5m2 = made->types[B] == TPRT_F8E5M2;
  made->arguments.function = finish ? finish->function : SITE_NO_FUNCTION;
  made->has_bias = finish && finish->bias;
  tprt_status status = tprt__gpu_enter(gpu);
  if (!status) {
    bool by_blas = is_gemm(gpu, product, made);
    status = tprt__gpu_make_lane(gpu, made->lane, by_blas);
    if (by_blas && !status)
      status = prepare(gpu, finish, made);
    if (!status)
      status = tprt__gpu_site_kernel(gpu, made->kernel);
    tprt__gpu_leave(gpu);
  }
  if (status)
    tprt__free(made);
  else
    *result = made;
  return status;
}

const tprt_cuda_gemm *tprt__gpu_contraction_gemm(const tprt__gpu_contraction *contraction) {
  return &contraction->gemm;
}

bool tprt__gpu_contraction_is_gemm(const tprt__gpu_contraction *contraction) {
  return contraction && contraction->by_blas;
}

tprt_status tprt__gpu_contraction_use(tprt__gpu *gpu, tprt__gpu_contraction *contraction,
                                      const tprt__gpu_algorithm *algorithm) {
  blaslt_algorithm given;
  memcpy(given.data, algorithm->words, sizeof given.data);
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt__cuda_gemm_accept(gpu->lanes[contraction->lane].blas, &contraction->gemm, &given);
  tprt__gpu_leave(gpu);
  if (status)
    return tprt__fail(status, "the algorithm that rank 0 chose: %s", tprt_last_error());
  contraction->has_algorithm = true;
  contraction->algorithm = given;
  return TPRT_OK;
}

void tprt__gpu_contraction_free(tprt__gpu_contraction *contraction) { tprt__free(contraction); }

/* In the GPU's context. */
static tprt_status enqueue(tprt__gpu_queue queue, const tprt__gpu_contraction *c, const void *a,
                           const void *b, const void *bias, void *out) {
  const void *const operands[3] = {a, b, out};
  return c->by_blas && are_aligned(c, operands, bias) ? multiply(queue, c, operands, bias, out)
                                                      : launch(queue, c, a, b, bias, out);
}

static tprt_status run(tprt__gpu_queue queue, const tprt__gpu_contraction *c, const void *a,
                       const void *b, const void *bias, void *out) {
  tprt_status status = c ? tprt__gpu_enter(queue.gpu) : TPRT_OK;
  if (status || !c)
    return status;
  status = enqueue(queue, c, a, b, bias, out);
  tprt__gpu_leave(queue.gpu);
  return status;
}

tprt_status tprt__gpu_contraction_run(tprt__gpu_queue queue, const tprt__gpu_contraction *c,
                                      const void *a, const void *b, void *out) {
  return run(queue, c, a, b, NULL, out);
}

/* The queue waits for the other lanes also if a contraction fails, so that a capture can end. */
tprt_status tprt__gpu_contractions_run(tprt__gpu_queue queue, int n,
                                       tprt__gpu_contraction *const *contractions,
                                       const tprt__gpu_operands *operands) {
  tprt_status status = tprt__gpu_enter(queue.gpu), joined;
  if (status)
    return status;
  status = tprt__gpu_lanes_begin(queue, n);
  for (int i = 0; i < n && !status; i++) {
    const tprt__gpu_queue lane = {queue.gpu, i ? queue.gpu->lanes[i].stream : queue.stream};
    const tprt__gpu_operands *o = &operands[i];
    status = enqueue(lane, contractions[i], o->a, o->b, o->bias, o->out);
  }
  joined = tprt__gpu_lanes_join(queue, n);
  tprt__gpu_leave(queue.gpu);
  return status ? status : joined;
}

tprt_status tprt__gpu_matmul_run(tprt__gpu_queue queue, const tprt__gpu_contraction *c,
                                 const void *a, const void *b, const void *bias, void *out) {
  if (c && !bias == c->has_bias)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "the bias is %p, and the site has %s", bias,
                      c->has_bias ? "one" : "none");
  return run(queue, c, a, b, bias, out);
}
