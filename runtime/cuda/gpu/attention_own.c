/* Attention and its gradient by the kernels of this library: on tensor cores, if type and layout
 * allow it, else by a kernel that supports all of them. */
#include "cuda/gpu/attention_makers.h"

#include "base/env.h"
#include "base/float_bits.h"
#include "cuda/kernels/attention_args.h"

#include <string.h>

enum { VECTOR = 8 /* 16-bit elements of 16 bytes */ };

/* A kernel, the rows (or, with `by_columns`, columns) of scores that a block has, and how it is
 * launched: with launch.n_rows > 1, so many blocks share the columns of a row. */
typedef struct attention_kernel {
  gpu_site_kernel which;
  int64_t tile;
  bool by_columns;
  gpu_launch launch; /* but for the number of blocks */
} attention_kernel;

/* Kernels that run one after the other. */
typedef struct kernel_list {
  int n;
  attention_kernel of[2];
} kernel_list;

typedef struct own_attention {
  attention_args arguments; /* everything but the addresses */
  void *partial;            /* parts of rows; NULL: no blocks share them */
  kernel_list general;
  kernel_list matrix; /* for tensor cores and aligned operands; may be empty */
} own_attention;

/* ---- planning ---- */

/* By type: the kernel for all layouts, those for tensor cores, and those for the tensor cores of
 * compute capability 9.0; and the same of the gradients of queries, and of keys and values. */
enum { N_SIZES = 4 };
typedef struct kernel_family {
  gpu_site_kernel general, matrix[N_SIZES], hopper[N_SIZES];
} kernel_family;
#define SIZES(kernel) {GPU_##kernel##_64, GPU_##kernel##_80, GPU_##kernel##_96, GPU_##kernel##_128}
static const struct {
  gpu_site_kernel combine; /* of parts of rows */
  kernel_family attention, parts, gradient[2];
} kernels[TPRT_N_DTYPES] = {
    [TPRT_F32] = {GPU_COMBINE_F32,
                  {GPU_ATTENTION_F32, {GPU_NO_KERNEL}, {GPU_NO_KERNEL}},
                  {GPU_PARTS_F32, {GPU_NO_KERNEL}, {GPU_NO_KERNEL}},
                  {{GPU_GRADIENT_ROWS_F32, {GPU_NO_KERNEL}, {GPU_NO_KERNEL}},
                   {GPU_GRADIENT_COLUMNS_F32, {GPU_NO_KERNEL}, {GPU_NO_KERNEL}}}},
    [TPRT_F16] = {GPU_COMBINE_F16,
                  {GPU_ATTENTION_F16,
                   SIZES(ATTENTION_F16),
                   {GPU_ATTENTION_F16_WGMMA_64, GPU_ATTENTION_F16_WGMMA_128,
                    GPU_ATTENTION_F16_WGMMA_128, GPU_ATTENTION_F16_WGMMA_128}},
                  {GPU_PARTS_F16, SIZES(PARTS_F16), {GPU_NO_KERNEL}},
                  {{GPU_GRADIENT_ROWS_F16, SIZES(GRADIENT_ROWS_F16), {GPU_NO_KERNEL}},
                   {GPU_GRADIENT_COLUMNS_F16, SIZES(GRADIENT_COLUMNS_F16), {GPU_NO_KERNEL}}}},
    [TPRT_BF16] = {GPU_COMBINE_BF16,
                   {GPU_ATTENTION_BF16,
                    SIZES(ATTENTION_BF16),
                    {GPU_ATTENTION_BF16_WGMMA_64, GPU_ATTENTION_BF16_WGMMA_128,
                     GPU_ATTENTION_BF16_WGMMA_128, GPU_ATTENTION_BF16_WGMMA_128}},
                   {GPU_PARTS_BF16, SIZES(PARTS_BF16), {GPU_NO_KERNEL}},
                   {{GPU_GRADIENT_ROWS_BF16, SIZES(GRADIENT_ROWS_BF16), {GPU_NO_KERNEL}},
                    {GPU_GRADIENT_COLUMNS_BF16, SIZES(GRADIENT_COLUMNS_BF16), {GPU_NO_KERNEL}}}},
};
/* By size: the most features of an operand, and as the kernels of compute capability 9.0 have
 * them. */
static const int64_t most_features[N_SIZES] = {64, 80, 96, 128},
                     hopper_features[N_SIZES] = {64, 128, 128, 128};

/* True if the loop moves by whole vectors in all other tensors. */
static bool steps_by_vectors(const attention_loop *loop) {
  bool fits = true;
  for (int x = 0; x < ATTENTION_TENSORS; x++)
    fits &= tprt__attention_is_scalar(x) || loop->size == 1 || loop->stride[x] % VECTOR == 0;
  return fits;
}

/* True if features lie next to each other in all tensors that have them. */
static bool is_dense(const attention_loop *features) {
  bool fits = true;
  for (int x = 0; x < ATTENTION_TENSORS; x++)
    fits &= features->stride[x] <= 1;
  return fits;
}

static bool has_vectors(const attention_args *a) {
  bool fits = a->feature.size % VECTOR == 0 && a->value.size % VECTOR == 0 &&
              is_dense(&a->feature) && is_dense(&a->value);
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

/* The kernels of an attention for all layouts. */
static kernel_list choose_general(tprt__attention_kind kind, tprt_dtype dtype) {
  const gpu_launch launch = {.n_rows = 1, .n_threads = ATTENTION_THREADS};
  gpu_launch of_gradient = launch;
  of_gradient.shared_bytes = ATTENTION_GRADIENT_SHARED;
  if (kind != TPRT__ATTENTION_GRADIENT)
    return (kernel_list){1, {{kernels[dtype].attention.general, ATTENTION_ROWS, false, launch}}};
  const kernel_family *families = kernels[dtype].gradient;
  return (kernel_list){2,
                       {{families[0].general, ATTENTION_ROWS, false, of_gradient},
                        {families[1].general, ATTENTION_COLUMNS, true, of_gradient}}};
}

/* Those for tensor cores; none, if type and layout do not allow it. */
static kernel_list choose_matrix(tprt__attention_kind kind, tprt_dtype dtype,
                                 const attention_args *a, bool hopper) {
  int64_t n = a->feature.size > a->value.size ? a->feature.size : a->value.size;
  gpu_launch launch = {.n_rows = 1, .n_threads = ATTENTION_THREADS};
  int size = 0;
  while (size < N_SIZES && n > most_features[size])
    size++;
  if (size == N_SIZES || !has_vectors(a) || !kernels[dtype].attention.matrix[size])
    return (kernel_list){.n = 0};
  if (kind == TPRT__ATTENTION_GRADIENT) {
    const kernel_family *families = kernels[dtype].gradient;
    launch.shared_bytes = (unsigned)ATTENTION_GRADIENT_MMA_SHARED(most_features[size]);
    return (kernel_list){2,
                         {{families[0].matrix[size], ATTENTION_MMA_ROWS, false, launch},
                          {families[1].matrix[size], ATTENTION_MMA_COLUMNS, true, launch}}};
  }
  const kernel_family *family = &kernels[dtype].attention;
  /* kernels of 9.0 lack these */
  if (!hopper || a->cap != 0 || a->zeroes_hidden || a->dropout_kind)
    return (kernel_list){1, {{family->matrix[size], ATTENTION_MMA_ROWS, false, launch}}};
  launch.n_threads = ATTENTION_WGMMA_THREADS;
  launch.shared_bytes = (unsigned)ATTENTION_WGMMA_SHARED(hopper_features[size]);
  return (kernel_list){1, {{family->hopper[size], ATTENTION_WGMMA_ROWS, false, launch}}};
}

/* Bits of the results that are wider than the operands. */
static uint32_t find_wide(tprt_dtype dtype, const tprt_abi_fused_attention *words) {
  uint32_t wide = words->out_dtype == TPRT_F32 ? 1u << ATTENTION_OUT : 0;
  for (int i = 0; i < 3; i++)
    wide |= words->gradient_dtypes[i] == TPRT_F32 ? 1u << (ATTENTION_GRADIENT_Q + i) : 0;
  return dtype == TPRT_F32 ? 0 : wide;
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
  static const attention_dropout dropouts[] = {[TPRT_ATTENTION_NO_DROPOUT] = ATTENTION_NO_DROPOUT,
                                               [TPRT_ATTENTION_KEEP_WEIGHT] = ATTENTION_KEEP_WEIGHT,
                                               [TPRT_ATTENTION_DROP_WEIGHT] = ATTENTION_DROP_WEIGHT,
                                               [TPRT_ATTENTION_MULTIPLY] = ATTENTION_MULTIPLY};
  bool adds_f32 = words->mask == TPRT_ATTENTION_ADD && words->mask_dtype == TPRT_F32;
  bool by_f32 = words->dropout == TPRT_ATTENTION_MULTIPLY && words->dropout_dtype == TPRT_F32;
  attention_args made = {.group = loop_of(&words->group),
                         .row = loop_of(&words->row),
                         .column = loop_of(&words->column),
                         .feature = loop_of(&words->feature),
                         .value = loop_of(&words->value),
                         .offset = words->offset,
                         .scale = float_of((uint32_t)words->scale),
                         .hidden = float_of((uint32_t)words->hidden),
                         .mask_kind = adds_f32 ? ATTENTION_ADD_F32 : masks[words->mask],
                         .dropout_kind = by_f32 ? ATTENTION_MULTIPLY_F32 : dropouts[words->dropout],
                         .dropout_scale = float_of((uint32_t)words->dropout_scale),
                         .zeroes_dropped = words->zeroes_dropped != 0,
                         .causal = words->causal != 0,
                         .position_bytes = words->position_dtype == TPRT_I64 ? 8 : 4,
                         .wide = find_wide(dtype, words),
                         .passes_hidden = words->passes_hidden != 0,
                         .zeroes_hidden = words->zeroes_hidden != 0,
                         .cap = float_of((uint32_t)words->cap)};
  for (int i = 0; i < ATTENTION_OUTER; i++)
    made.outer[i] = loop_of(&words->outer[i]);
  return made;
}

/* The number of blocks of a kernel; -1: too many for a grid. */
static int64_t count_blocks(const attention_args *a, const attention_kernel *kernel) {
  int64_t all = a->column.size, n;
  if (!kernel->by_columns && __builtin_mul_overflow(a->group.size, a->row.size, &all))
    return -1;
  n = (all + kernel->tile - 1) / kernel->tile;
  for (int i = 0; i < ATTENTION_OUTER; i++)
    if (__builtin_mul_overflow(n, a->outer[i].size, &n))
      return -1;
  return n <= INT32_MAX ? n : -1;
}

/* The kernel whose blocks share the columns of a row, in place of one whose blocks do not. */
static gpu_site_kernel in_parts(tprt_dtype dtype, gpu_site_kernel which) {
  const kernel_family *whole = &kernels[dtype].attention, *parts = &kernels[dtype].parts;
  for (int size = 0; size < N_SIZES; size++)
    if (which == whole->matrix[size])
      return parts->matrix[size];
  return parts->general;
}

/* Few rows with many columns, as in decoding, would occupy few multiprocessors. So blocks share the
 * columns of a row, and another kernel combines their parts. How many depends on the shape alone,
 * as results do. */
static void split(const attention_args *a, tprt_dtype dtype, int64_t tile_columns,
                  kernel_list *list) {
  enum { MANY_BLOCKS = 128, FEWEST_TILES = 4, MOST_PARTS = 32 };
  int64_t blocks = list->n == 1 ? count_blocks(a, &list->of[0]) : 0;
  if (blocks <= 0 || blocks > MANY_BLOCKS / 2)
    return;
  int64_t tiles = (a->column.size + tile_columns - 1) / tile_columns, n = MANY_BLOCKS / blocks;
  n = n < tiles / FEWEST_TILES ? n : tiles / FEWEST_TILES;
  n = n < MOST_PARTS ? n : MOST_PARTS;
  if (n < 2)
    return;
  list->of[0].which = in_parts(dtype, list->of[0].which);
  list->of[0].launch.n_rows = (unsigned)n;
  list->of[list->n++] = (attention_kernel){
      kernels[dtype].combine, 1, false, {.n_rows = 1, .n_threads = ATTENTION_THREADS}};
}

/* Memory for the parts of rows. */
static size_t partial_bytes(const attention_args *a, const kernel_list *list) {
  size_t n = list->n > 1 ? list->of[0].launch.n_rows : 0;
  return n == 0 ? 0
                : sizeof(float) * n * (size_t)count_blocks(a, &list->of[1]) *
                      ((size_t)a->value.size + ATTENTION_PARTIAL);
}

/* Loads the kernels; called in the GPU's context. */
static tprt_status load(tprt__gpu *gpu, const kernel_list *list) {
  enum { ALWAYS_ALLOWED = 48 << 10 };
  tprt_status status = TPRT_OK;
  for (int i = 0; i < list->n && !status; i++) {
    const attention_kernel *kernel = &list->of[i];
    status = tprt__gpu_site_kernel(gpu, kernel->which);
    if (!status && kernel->launch.shared_bytes > ALWAYS_ALLOWED)
      status = tprt__gpu_site_allow_shared(gpu, kernel->which, kernel->launch.shared_bytes);
  }
  return status;
}

static tprt_status plan(tprt__gpu *gpu, const tprt__attention_problem *problem, void **result) {
  _Static_assert(
      ATTENTION_TENSORS == (int)TPRT_ATTENTION_TENSORS && ATTENTION_Q == (int)TPRT_ATTENTION_Q &&
          ATTENTION_K == (int)TPRT_ATTENTION_K && ATTENTION_V == (int)TPRT_ATTENTION_V &&
          ATTENTION_MASK == (int)TPRT_ATTENTION_MASK &&
          ATTENTION_DROPOUT == (int)TPRT_ATTENTION_DROPOUT &&
          ATTENTION_OUT == (int)TPRT_ATTENTION_OUT && ATTENTION_MAX == (int)TPRT_ATTENTION_MAX &&
          ATTENTION_SUM == (int)TPRT_ATTENTION_SUM &&
          ATTENTION_GRADIENT == (int)TPRT_ATTENTION_GRADIENT &&
          ATTENTION_GRADIENT_Q == (int)TPRT_ATTENTION_GRADIENT_Q &&
          ATTENTION_GRADIENT_K == (int)TPRT_ATTENTION_GRADIENT_K &&
          ATTENTION_GRADIENT_V == (int)TPRT_ATTENTION_GRADIENT_V &&
          ATTENTION_OUTER == (int)TPRT_ATTENTION_OUTER &&
          ATTENTION_FEATURES == (int)TPRT_ATTENTION_FEATURES,
      "attention of kernels and of tables");
  tprt__attention_kind kind = problem->kind;
  tprt_dtype dtype = problem->dtype;
  attention_args arguments = describe(dtype, &problem->words);
  kernel_list general = choose_general(kind, dtype);
  for (int i = 0; i < general.n; i++)
    if (count_blocks(&arguments, &general.of[i]) < 0)
      return tprt__fail(TPRT_UNSUPPORTED,
                        "fused attention: more than 2^31 blocks of %d %s; a grid has no more",
                        (int)general.of[i].tile, general.of[i].by_columns ? "columns" : "rows");
  own_attention *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  bool may_split = kind != TPRT__ATTENTION_GRADIENT;
  if (may_split)
    split(&arguments, dtype, ATTENTION_COLUMNS, &general);
  *made = (own_attention){.arguments = arguments, .general = general};
  tprt_status status = tprt__gpu_enter(gpu);
  if (!status) {
    bool hopper = false;
    if (kind == TPRT__ATTENTION) /* its kernels write no statistics */
      status = wants_hopper(gpu, &hopper);
    made->matrix = choose_matrix(kind, dtype, &arguments, false);
    if (may_split)
      split(&arguments, dtype, ATTENTION_MMA_COLUMNS, &made->matrix);
    if (hopper && made->matrix.n == 1) /* whose blocks share no columns */
      made->matrix = choose_matrix(kind, dtype, &arguments, true);
    if (!status)
      status = load(gpu, &made->general);
    if (!status)
      status = load(gpu, &made->matrix);
    tprt__gpu_leave(gpu);
  }
  size_t of_general = may_split ? partial_bytes(&arguments, &made->general) : 0,
         of_matrix = may_split ? partial_bytes(&arguments, &made->matrix) : 0,
         bytes = of_general > of_matrix ? of_general : of_matrix;
  if (!status && bytes > 0)
    status = tprt__gpu_alloc(gpu, bytes, &made->partial);
  if (status)
    tprt__free(made);
  else
    *result = made;
  return status;
}

static void end(tprt__gpu *gpu, void *made) {
  own_attention *attention = made;
  tprt__gpu_free(gpu, attention->partial);
  tprt__free(attention);
}

/* ---- running ---- */

static attention_args address(const own_attention *attention,
                              const tprt__gpu_attention_buffers *buffers) {
  const void *const *of = buffers->of;
  attention_args a = attention->arguments;
  a.q = of[ATTENTION_Q];
  a.k = of[ATTENTION_K];
  a.v = of[ATTENTION_V];
  a.mask = of[ATTENTION_MASK];
  a.dropout = of[ATTENTION_DROPOUT];
  a.position = buffers->position;
  a.out = (void *)(uintptr_t)of[ATTENTION_OUT];
  a.max = (float *)(uintptr_t)of[ATTENTION_MAX];
  a.sum = (float *)(uintptr_t)of[ATTENTION_SUM];
  a.gradient = of[ATTENTION_GRADIENT];
  a.gradient_q = (void *)(uintptr_t)of[ATTENTION_GRADIENT_Q];
  a.gradient_k = (void *)(uintptr_t)of[ATTENTION_GRADIENT_K];
  a.gradient_v = (void *)(uintptr_t)of[ATTENTION_GRADIENT_V];
  a.partial = attention->partial;
  a.delta = buffers->workspace;
  return a;
}

static bool takes(const void *made, const tprt__gpu_attention_buffers *buffers) {
  (void)made;
  (void)buffers;
  return true;
}

static tprt_status run(tprt__gpu_queue queue, const void *made,
                       const tprt__gpu_attention_buffers *buffers) {
  const own_attention *attention = made;
  attention_args arguments = address(attention, buffers);
  const kernel_list *list = attention->matrix.n > 0 && tprt__attention_is_aligned(buffers)
                                ? &attention->matrix
                                : &attention->general;
  arguments.n_parts = list->of[0].launch.n_rows;
  tprt_status status = tprt__gpu_enter(queue.gpu);
  if (status)
    return status;
  for (int i = 0; i < list->n && !status; i++) {
    gpu_launch launch = list->of[i].launch;
    launch.n_blocks = (unsigned)count_blocks(&arguments, &list->of[i]);
    status =
        tprt__gpu_site_launch_as(queue.gpu, queue.stream, list->of[i].which, &launch, &arguments);
  }
  tprt__gpu_leave(queue.gpu);
  return status;
}

const tprt__attention_maker tprt__attention_by_own = {
    .name = "own", .plan = plan, .end = end, .takes = takes, .run = run};
