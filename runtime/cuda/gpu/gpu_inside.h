/* Internals of a context's GPU, shared by the gpu_*.c files. */
#ifndef TPRT_RUNTIME_CUDA_GPU_INSIDE_H
#define TPRT_RUNTIME_CUDA_GPU_INSIDE_H

#include "base/cache_file.h"
#include "cuda/driver/device.h"
#include "cuda/gpu/gpu_context.h"
#include "tprt/cuda_gemm.h"

/* X(member, symbol, parameters): functions that programs need in addition to cuda/device.h. */
#define CUDA_PROGRAM_CALLS(X)                                                                      \
  X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))             \
  X(device_name, "cuDeviceGetName", (char *name, int bytes, int device))                           \
  X(module_load, "cuModuleLoadData", (cuda_module * module, const void *image))                    \
  X(module_unload, "cuModuleUnload", (cuda_module module))                                         \
  X(module_function, "cuModuleGetFunction",                                                        \
    (cuda_function * function, cuda_module module, const char *name))                              \
  X(function_attribute, "cuFuncSetAttribute", (cuda_function function, int attribute, int value))  \
  X(kernel, "cuLaunchKernel",                                                                      \
    (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream,                \
     void **parameters, void **extra))                                                             \
  X(can_reach, "cuDeviceCanAccessPeer", (int *reaches, int device, int peer))                      \
  X(reach, "cuCtxEnablePeerAccess", (cuda_context peer, unsigned flags))                           \
  X(stream_synchronize, "cuStreamSynchronize", (cuda_stream stream))                               \
  X(to_host, "cuMemcpyDtoHAsync_v2",                                                               \
    (void *to, cuda_address from, size_t bytes, cuda_stream stream))                               \
  X(from_host, "cuMemcpyHtoDAsync_v2",                                                             \
    (cuda_address to, const void *from, size_t bytes, cuda_stream stream))

typedef struct cuda_program_calls {
  const tprt__cuda *driver;
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  CUDA_PROGRAM_CALLS(MEMBER)
#undef MEMBER
} cuda_program_calls;

/* The kernels of site_kernels.cu: reductions by the combined type, moves by the bytes of a word,
 * contractions by type. */
#define GPU_SITE_KERNELS(X)                                                                        \
  X(REDUCE_F32, "tprt_reduce_f32")                                                                 \
  X(REDUCE_F64, "tprt_reduce_f64")                                                                 \
  X(REDUCE_F16, "tprt_reduce_f16")                                                                 \
  X(REDUCE_BF16, "tprt_reduce_bf16")                                                               \
  X(REDUCE_F8E4M3, "tprt_reduce_f8e4m3")                                                           \
  X(REDUCE_F8E5M2, "tprt_reduce_f8e5m2")                                                           \
  X(REDUCE_I8, "tprt_reduce_i8")                                                                   \
  X(REDUCE_I16, "tprt_reduce_i16")                                                                 \
  X(REDUCE_I32, "tprt_reduce_i32")                                                                 \
  X(REDUCE_I64, "tprt_reduce_i64")                                                                 \
  X(REDUCE_C64, "tprt_reduce_c64")                                                                 \
  X(REDUCE_C128, "tprt_reduce_c128")                                                               \
  X(MOVE_1, "tprt_move_1")                                                                         \
  X(MOVE_2, "tprt_move_2")                                                                         \
  X(MOVE_4, "tprt_move_4")                                                                         \
  X(MOVE_8, "tprt_move_8")                                                                         \
  X(MOVE_16, "tprt_move_16")                                                                       \
  X(CONTRACT_F32, "tprt_contract_f32")                                                             \
  X(CONTRACT_F64, "tprt_contract_f64")                                                             \
  X(CONTRACT_F16, "tprt_contract_f16")                                                             \
  X(CONTRACT_BF16, "tprt_contract_bf16")                                                           \
  X(CONTRACT_I8, "tprt_contract_i8")                                                               \
  X(CONTRACT_I16, "tprt_contract_i16")                                                             \
  X(CONTRACT_I32, "tprt_contract_i32")                                                             \
  X(CONTRACT_I64, "tprt_contract_i64")                                                             \
  X(CONTRACT_F16_F32, "tprt_contract_f16_f32")                                                     \
  X(CONTRACT_BF16_F32, "tprt_contract_bf16_f32")                                                   \
  X(CONTRACT_F8_F32, "tprt_contract_f8_f32")

/* The kernels of attention_kernels.cu, by type; for tensor cores also by the most features. */
#define GPU_ATTENTION_KERNELS(X)                                                                   \
  X(ATTENTION_F32, "tprt_attention_f32")                                                           \
  X(ATTENTION_F16, "tprt_attention_f16")                                                           \
  X(ATTENTION_BF16, "tprt_attention_bf16")                                                         \
  X(ATTENTION_F16_64, "tprt_attention_f16_64")                                                     \
  X(ATTENTION_F16_80, "tprt_attention_f16_80")                                                     \
  X(ATTENTION_F16_96, "tprt_attention_f16_96")                                                     \
  X(ATTENTION_F16_128, "tprt_attention_f16_128")                                                   \
  X(ATTENTION_BF16_64, "tprt_attention_bf16_64")                                                   \
  X(ATTENTION_BF16_80, "tprt_attention_bf16_80")                                                   \
  X(ATTENTION_BF16_96, "tprt_attention_bf16_96")                                                   \
  X(ATTENTION_BF16_128, "tprt_attention_bf16_128")

/* Those of attention_gradient_kernels.cu: of queries, over rows; of keys and values, over
 * columns. */
#define GPU_GRADIENT_KERNELS(X)                                                                    \
  X(GRADIENT_ROWS_F32, "tprt_attention_gradient_rows_f32")                                         \
  X(GRADIENT_ROWS_F16, "tprt_attention_gradient_rows_f16")                                         \
  X(GRADIENT_ROWS_BF16, "tprt_attention_gradient_rows_bf16")                                       \
  X(GRADIENT_ROWS_F16_64, "tprt_attention_gradient_rows_f16_64")                                   \
  X(GRADIENT_ROWS_F16_80, "tprt_attention_gradient_rows_f16_80")                                   \
  X(GRADIENT_ROWS_F16_96, "tprt_attention_gradient_rows_f16_96")                                   \
  X(GRADIENT_ROWS_F16_128, "tprt_attention_gradient_rows_f16_128")                                 \
  X(GRADIENT_ROWS_BF16_64, "tprt_attention_gradient_rows_bf16_64")                                 \
  X(GRADIENT_ROWS_BF16_80, "tprt_attention_gradient_rows_bf16_80")                                 \
  X(GRADIENT_ROWS_BF16_96, "tprt_attention_gradient_rows_bf16_96")                                 \
  X(GRADIENT_ROWS_BF16_128, "tprt_attention_gradient_rows_bf16_128")                               \
  X(GRADIENT_COLUMNS_F32, "tprt_attention_gradient_columns_f32")                                   \
  X(GRADIENT_COLUMNS_F16, "tprt_attention_gradient_columns_f16")                                   \
  X(GRADIENT_COLUMNS_BF16, "tprt_attention_gradient_columns_bf16")                                 \
  X(GRADIENT_COLUMNS_F16_64, "tprt_attention_gradient_columns_f16_64")                             \
  X(GRADIENT_COLUMNS_F16_80, "tprt_attention_gradient_columns_f16_80")                             \
  X(GRADIENT_COLUMNS_F16_96, "tprt_attention_gradient_columns_f16_96")                             \
  X(GRADIENT_COLUMNS_F16_128, "tprt_attention_gradient_columns_f16_128")                           \
  X(GRADIENT_COLUMNS_BF16_64, "tprt_attention_gradient_columns_bf16_64")                           \
  X(GRADIENT_COLUMNS_BF16_80, "tprt_attention_gradient_columns_bf16_80")                           \
  X(GRADIENT_COLUMNS_BF16_96, "tprt_attention_gradient_columns_bf16_96")                           \
  X(GRADIENT_COLUMNS_BF16_128, "tprt_attention_gradient_columns_bf16_128")

/* Those of attention_parts_kernels.cu. */
#define GPU_PARTS_KERNELS(X)                                                                       \
  X(PARTS_F32, "tprt_attention_parts_f32")                                                         \
  X(PARTS_F16, "tprt_attention_parts_f16")                                                         \
  X(PARTS_BF16, "tprt_attention_parts_bf16")                                                       \
  X(PARTS_F16_64, "tprt_attention_parts_f16_64")                                                   \
  X(PARTS_F16_80, "tprt_attention_parts_f16_80")                                                   \
  X(PARTS_F16_96, "tprt_attention_parts_f16_96")                                                   \
  X(PARTS_F16_128, "tprt_attention_parts_f16_128")                                                 \
  X(PARTS_BF16_64, "tprt_attention_parts_bf16_64")                                                 \
  X(PARTS_BF16_80, "tprt_attention_parts_bf16_80")                                                 \
  X(PARTS_BF16_96, "tprt_attention_parts_bf16_96")                                                 \
  X(PARTS_BF16_128, "tprt_attention_parts_bf16_128")                                               \
  X(COMBINE_F32, "tprt_attention_combine_f32")                                                     \
  X(COMBINE_F16, "tprt_attention_combine_f16")                                                     \
  X(COMBINE_BF16, "tprt_attention_combine_bf16")

/* Those of attention_hopper_kernels.cu, for compute capability 9.0. */
#define GPU_HOPPER_KERNELS(X)                                                                      \
  X(ATTENTION_F16_WGMMA_64, "tprt_attention_f16_wgmma_64")                                         \
  X(ATTENTION_F16_WGMMA_128, "tprt_attention_f16_wgmma_128")                                       \
  X(ATTENTION_BF16_WGMMA_64, "tprt_attention_bf16_wgmma_64")                                       \
  X(ATTENTION_BF16_WGMMA_128, "tprt_attention_bf16_wgmma_128")

typedef enum gpu_site_kernel {
  GPU_NO_KERNEL,
#define MEMBER(name, symbol) GPU_##name,
  GPU_SITE_KERNELS(MEMBER) GPU_ATTENTION_KERNELS(MEMBER) GPU_GRADIENT_KERNELS(MEMBER)
      GPU_PARTS_KERNELS(MEMBER) GPU_HOPPER_KERNELS(MEMBER)
#undef MEMBER
          GPU_N_SITE_KERNELS,
} gpu_site_kernel;

/* The images that have them. */
typedef enum gpu_site_module {
  GPU_SITES,
  GPU_ATTENTION,
  GPU_GRADIENT,
  GPU_PARTS,
  GPU_HOPPER,
  GPU_N_SITE_MODULES
} gpu_site_module;

/* How a kernel is launched. */
typedef struct gpu_launch {
  unsigned n_blocks, n_rows; /* the grid */
  unsigned n_threads;
  unsigned shared_bytes; /* of a block, beside what the kernel declares */
} gpu_launch;

typedef struct gpu_constant {
  struct gpu_constant *next;
  const void *host;
  size_t bytes;
  cuda_address memory;
} gpu_constant;

/* What contractions that run side by side do not share. */
typedef struct gpu_lane {
  tprt_cuda_blas *blas; /* NULL: no site has needed a GEMM yet */
  cuda_address workspace;
  cuda_stream stream; /* NULL in lane 0, which uses the stream of the caller */
  cuda_event ended;   /* its last work */
} gpu_lane;

struct tprt__gpu {
  const cuda_device_calls *device;
  const cuda_program_calls *calls;
  int number;
  cuda_context context;
  cuda_stream stream;
  cuda_event join_event;   /* marks where another stream has to wait */
  cuda_stream side_stream; /* the second stream; NULL: not used yet */
  cuda_event fork_event;   /* orders the two streams */
  uint64_t identity;       /* unique among all objects of this type ever created */
  uint64_t *reached;       /* identities of the GPUs whose memory this one can access */
  int n_reached, reached_capacity;
  gpu_constant *constants;
  /* NULL: no site has needed a kernel of it yet */
  cuda_module modules[GPU_N_SITE_MODULES];
  cuda_function site_kernels[GPU_N_SITE_KERNELS];
  gpu_lane lanes[TPRT_MAX_MATMULS];
  struct cudnnContext *cudnn_handle;   /* NULL: no attention has needed it yet */
  struct cudnn_attention *cudnn_ended; /* attentions of programs that have ended */
};

/* ---- gpu_context.c ---- */
/* Returns TPRT_OK, or TPRT_NO_MEMORY or TPRT_DEVICE with the driver's text. `what` names the
 * call. */
tprt_status tprt__gpu_check(const tprt__gpu *gpu, cuda_result result, const char *what);
/* Makes the GPU's context current in this thread, as the driver requires. tprt__gpu_leave restores
 * the caller's context. */
tprt_status tprt__gpu_enter(const tprt__gpu *gpu);
void tprt__gpu_leave(const tprt__gpu *gpu);

/* ---- gpu_sites.c; called in the GPU's context ---- */
/* Loads the image that has the kernel, once, and looks it up. */
tprt_status tprt__gpu_site_kernel(tprt__gpu *gpu, gpu_site_kernel which);
/* Enqueues a kernel that was looked up, with a struct as its argument: n_items in one dimension of
 * the grid and n_rows in the other. */
tprt_status tprt__gpu_site_launch(const tprt__gpu *gpu, cuda_stream stream, gpu_site_kernel which,
                                  uint64_t n_items, unsigned n_rows, const void *arguments);
/* The same with a given grid. */
tprt_status tprt__gpu_site_launch_as(const tprt__gpu *gpu, cuda_stream stream,
                                     gpu_site_kernel which, const gpu_launch *launch,
                                     const void *arguments);
/* Lets a kernel that was looked up ask for so much shared memory when it is launched. */
tprt_status tprt__gpu_site_allow_shared(const tprt__gpu *gpu, gpu_site_kernel which,
                                        unsigned bytes);
void tprt__gpu_sites_end(tprt__gpu *gpu);

/* ---- gpu_lanes.c; called in the GPU's context ---- */
/* Makes what a lane lacks: its stream, and with `blas` a cuBLASLt handle and its workspace. */
tprt_status tprt__gpu_make_lane(tprt__gpu *gpu, int lane, bool blas);
/* Lets lanes 1 to n - 1 wait for the current work of the queue, and the queue for theirs. */
tprt_status tprt__gpu_lanes_begin(tprt__gpu_queue queue, int n);
tprt_status tprt__gpu_lanes_join(tprt__gpu_queue queue, int n);
/* Waits for work that a program which failed has left. */
void tprt__gpu_lanes_end(tprt__gpu *gpu);

/* ---- side_stream.c; called in the GPU's context ---- */
/* Makes later work in `to` wait for the current work of `from`. The event may be reused at once. */
tprt_status tprt__gpu_order(tprt__gpu *gpu, cuda_event event, cuda_stream from, cuda_stream to);
void tprt__gpu_side_stream_end(tprt__gpu *gpu);

/* ---- gpu_contract.c; called in the GPU's context ---- */
/* Returns the GEMM of a contraction by cuBLASLt, without addresses. */
const tprt_cuda_gemm *tprt__gpu_contraction_gemm(const tprt__gpu_contraction *contraction);

/* ---- attention_cudnn.c; called in the GPU's context ---- */
void tprt__gpu_cudnn_end(tprt__gpu *gpu);

/* ---- gpu_timing.c ---- */
/* How a choice that takes time is made once and kept in a file. `data` holds the choice. */
typedef struct tprt__gpu_measurement {
  /* called in the GPU's context; TPRT_NO_MEMORY: the operands do not fit into memory */
  tprt_status (*measure)(void *data);
  void (*print)(const void *data, char text[TPRT__CACHE_TEXT]);
  bool (*parse)(const char *text, void *data); /* false: the text is not a choice */
} tprt__gpu_measurement;
/* Reads a choice from its file; without one, measures it and writes the file. *how says which of
 * the two. It is TPRT__GPU_NOT_TIMED, and `data` does not hold a choice, if the file cannot be
 * written, the operands do not fit into memory, or the GPU's stream is being captured. Called in
 * the GPU's context. */
tprt_status tprt__gpu_measured(tprt__gpu *gpu, const tprt__cache *cache,
                               const tprt__gpu_measurement *measurement, void *data,
                               tprt__gpu_timing *how);
/* Writes the name and the size of the GPU. */
void tprt__gpu_device_text(const tprt__gpu *gpu, char *text, size_t size);

#endif
