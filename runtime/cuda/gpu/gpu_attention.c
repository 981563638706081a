/* Attention of programs on a GPU: on tensor cores, if type and layout allow it, else by a kernel
 * that supports all of them. */
#include "cuda/gpu/gpu_inside.h"

#include "base/env.h"
#include "base/float_bits.h"
#include "cuda/kernels/attention_args.h"

#include <string.h>

enum { VECTOR = 8 /* 16-bit elements of 16 bytes */, ALIGNMENT = 16 };

/* A kernel, the rows of scores that a block has, and how it is launched. */
typedef struct attention_kernel {
  gpu_site_kernel which;
  int64_t rows;
  gpu_launch launch; /* but for the number of blocks */
} attention_kernel;

struct tprt__gpu_attention {
  attention_args arguments; /* everything but the addresses */
  attention_kernel general;
  attention_kernel matrix; /* for tensor cores and aligned operands; GPU_NO_KERNEL: none */
};

/* ---- planning ---- */

/* By type: the kernel for all layouts, those for tensor cores, and those for the tensor cores of
 * compute capability 9.0. */
enum { N_SIZES = 4 };
static const struct {
  gpu_site_kernel general, matrix[N_SIZES], hopper[N_SIZES];
} kernels[TPRT_N_DTYPES] = {
    [TPRT_F32] = {GPU_ATTENTION_F32, {GPU_NO_KERNEL}, {GPU_NO_KERNEL}},
    [TPRT_F16] = {GPU_ATTENTION_F16,
                  {GPU_ATTENTION_F16_64, GPU_ATTENTION_F16_80, GPU_ATTENTION_F16_96,
                   GPU_ATTENTION_F16_128},
                  {GPU_ATTENTION_F16_WGMMA_64, GPU_ATTENTION_F16_WGMMA_128,
                   GPU_ATTENTION_F16_WGMMA_128, GPU_ATTENTION_F16_WGMMA_128}},
    [TPRT_BF16] = {GPU_ATTENTION_BF16,
                   {GPU_ATTENTION_BF16_64, GPU_ATTENTION_BF16_80, GPU_ATTENTION_BF16_96,
                    GPU_ATTENTION_BF16_128},
                   {GPU_ATTENTION_BF16_WGMMA_64, GPU_ATTENTION_BF16_WGMMA_128,
                    GPU_ATTENTION_BF16_WGMMA_128, GPU_ATTENTION_BF16_WGMMA_128}},
};
/* By size: the most features of an operand, and as the kernels of compute capability 9.0 have
 * them. */
static const int64_t most_features[N_SIZES] = {64, 80, 96, 128},
                     hopper_features[N_SIZES] = {64, 128, 128, 128};

/* True if the loop moves by whole vectors in all tensors but the mask. */
static bool steps_by_vectors(const attention_loop *loop) {
  bool fits = true;
  for (int x = 0; x < ATTENTION_TENSORS; x++)
    fits &= x == ATTENTION_MASK || loop->size == 1 || loop->stride[x] % VECTOR == 0;
  return fits;
}

static bool has_vectors(const attention_args *a) {
  bool fits = a->feature.size % VECTOR == 0 && a->value.size % VECTOR == 0 &&
              a->feature.stride[ATTENTION_Q] == 1 && a->feature.stride[ATTENTION_K] == 1 &&
              a->value.stride[ATTENTION_V] == 1 && a->value.stride[ATTENTION_OUT] == 1;
  for (int i = 0; i < ATTENTION_OUTER; i++)
    fits &= steps_by_vectors(&a->outer[i]);
  return fits && steps_by_vectors(&a->group) && steps_by_vectors(&a->row) &&
         steps_by_vectors(&a->column);
}

/* Whether the kernels of compute capability 9.0 are allowed, and the device has it. */
static tprt_status wants_hopper(const tprt__gpu *gpu, bool *wants) {
  int major = 0, minor = 0;
  int64_t allowed = 0;
  tprt_status status = tprt__env_number(TPRT__ENV_HOPPER_ATTENTION, 0, &allowed);
  *wants = false;
  if (status || !allowed)
    return status;
  status =
      tprt__gpu_check(gpu, gpu->calls->device_attribute(&major, CUDA_CAPABILITY_MAJOR, gpu->number),
                      "attributes of the device");
  if (!status)
    status = tprt__gpu_check(
        gpu, gpu->calls->device_attribute(&minor, CUDA_CAPABILITY_MINOR, gpu->number),
        "attributes of the device");
  *wants = !status && major == 9 && minor == 0;
  return status;
}

static attention_kernel choose_matrix(tprt_dtype dtype, const attention_args *a, bool hopper) {
  int64_t n = a->feature.size > a->value.size ? a->feature.size : a->value.size;
  int size = 0;
  while (size < N_SIZES && n > most_features[size])
    size++;
  if (size == N_SIZES || !has_vectors(a) || !kernels[dtype].matrix[size])
    return (attention_kernel){.which = GPU_NO_KERNEL};
  if (hopper)
    return (attention_kernel){
        kernels[dtype].hopper[size],
        ATTENTION_WGMMA_ROWS,
        {.n_rows = 1,
         .n_threads = ATTENTION_WGMMA_THREADS,
         .shared_bytes = (unsigned)ATTENTION_WGMMA_SHARED(hopper_features[size])}};
  return (attention_kernel){kernels[dtype].matrix[size],
                            ATTENTION_MMA_ROWS,
                            {.n_rows = 1, .n_threads = ATTENTION_THREADS}};
}

static attention_loop loop_of(const tprt_abi_attention_loop *loop) {
  attention_loop made = {.size = loop->size};
  memcpy(made.stride, loop->stride, sizeof made.stride);
  return made;
}

static attention_args describe(tprt_dtype dtype, const tprt_abi_fused_attention *words) {
  static const attention_mask masks[] = {[TPRT_ATTENTION_NO_MASK] = ATTENTION_NO_MASK,
                                         [TPRT_ATTENTION_KEEP] = ATTENTION_KEEP,
                                         [TPRT_ATTENTION_HIDE] = ATTENTION_HIDE,
                                         [TPRT_ATTENTION_ADD] = ATTENTION_ADD};
  bool adds_f32 = words->mask == TPRT_ATTENTION_ADD && words->mask_dtype == TPRT_F32;
  attention_args made = {.group = loop_of(&words->group),
                         .row = loop_of(&words->row),
                         .column = loop_of(&words->column),
                         .feature = loop_of(&words->feature),
                         .value = loop_of(&words->value),
                         .offset = words->offset,
                         .scale = float_of((uint32_t)words->scale),
                         .hidden = float_of((uint32_t)words->hidden),
                         .mask_kind = adds_f32 ? ATTENTION_ADD_F32 : masks[words->mask],
                         .causal = words->causal != 0,
                         .position_bytes = words->position_dtype == TPRT_I64 ? 8 : 4,
                         .wide = words->out_dtype == TPRT_F32 && dtype != TPRT_F32};
  for (int i = 0; i < ATTENTION_OUTER; i++)
    made.outer[i] = loop_of(&words->outer[i]);
  return made;
}

/* The number of blocks that have `rows` rows each; -1: too many for a grid. */
static int64_t count_blocks(const attention_args *a, int64_t rows) {
  int64_t all, n;
  if (__builtin_mul_overflow(a->group.size, a->row.size, &all))
    return -1;
  n = (all + rows - 1) / rows;
  for (int i = 0; i < ATTENTION_OUTER; i++)
    if (__builtin_mul_overflow(n, a->outer[i].size, &n))
      return -1;
  return n <= INT32_MAX ? n : -1;
}

tprt_status tprt__gpu_attention_plan(tprt__gpu *gpu, tprt_dtype dtype,
                                     const tprt_abi_fused_attention *words,
                                     tprt__gpu_attention **result) {
  _Static_assert(
      ATTENTION_TENSORS == (int)TPRT_ATTENTION_TENSORS && ATTENTION_Q == (int)TPRT_ATTENTION_Q &&
          ATTENTION_K == (int)TPRT_ATTENTION_K && ATTENTION_V == (int)TPRT_ATTENTION_V &&
          ATTENTION_MASK == (int)TPRT_ATTENTION_MASK && ATTENTION_OUT == (int)TPRT_ATTENTION_OUT &&
          ATTENTION_OUTER == (int)TPRT_ATTENTION_OUTER &&
          ATTENTION_FEATURES == (int)TPRT_ATTENTION_FEATURES,
      "attention of kernels and of tables");
  attention_args arguments = describe(dtype, words);
  if (count_blocks(&arguments, ATTENTION_ROWS) < 0)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "fused attention: more than 2^31 blocks of %d rows; a grid has no more",
                      ATTENTION_ROWS);
  tprt__gpu_attention *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  made->arguments = arguments;
  made->general = (attention_kernel){
      kernels[dtype].general, ATTENTION_ROWS, {.n_rows = 1, .n_threads = ATTENTION_THREADS}};
  tprt_status status = tprt__gpu_enter(gpu);
  if (!status) {
    bool hopper;
    status = wants_hopper(gpu, &hopper);
    made->matrix = choose_matrix(dtype, &arguments, hopper);
    if (!status)
      status = tprt__gpu_site_kernel(gpu, made->general.which);
    if (!status && made->matrix.which)
      status = tprt__gpu_site_kernel(gpu, made->matrix.which);
    if (!status && made->matrix.launch.shared_bytes)
      status =
          tprt__gpu_site_allow_shared(gpu, made->matrix.which, made->matrix.launch.shared_bytes);
    tprt__gpu_leave(gpu);
  }
  if (status)
    tprt__free(made);
  else
    *result = made;
  return status;
}

void tprt__gpu_attention_free(tprt__gpu_attention *attention) { tprt__free(attention); }

bool tprt__gpu_attention_is_empty(const tprt__gpu_attention *attention) {
  return count_blocks(&attention->arguments, ATTENTION_ROWS) == 0;
}

/* ---- running ---- */

tprt_status tprt__gpu_attention_run(tprt__gpu_queue queue, const tprt__gpu_attention *attention,
                                    const tprt__gpu_attention_buffers *buffers) {
  attention_args arguments = attention->arguments;
  arguments.q = buffers->q;
  arguments.k = buffers->k;
  arguments.v = buffers->v;
  arguments.mask = buffers->mask;
  arguments.position = buffers->position;
  arguments.out = buffers->out;
  bool aligned = ((uintptr_t)buffers->q | (uintptr_t)buffers->k | (uintptr_t)buffers->v |
                  (uintptr_t)buffers->out) %
                     ALIGNMENT ==
                 0;
  const attention_kernel *kernel =
      attention->matrix.which && aligned ? &attention->matrix : &attention->general;
  gpu_launch launch = kernel->launch;
  launch.n_blocks = (unsigned)count_blocks(&arguments, kernel->rows);
  tprt_status status = tprt__gpu_enter(queue.gpu);
  if (status)
    return status;
  status = tprt__gpu_site_launch_as(queue.gpu, queue.stream, kernel->which, &launch, &arguments);
  tprt__gpu_leave(queue.gpu);
  return status;
}
