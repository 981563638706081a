/* Loads and launches the kernels of sites. */
#include "cuda/gpu/gpu_inside.h"

#include "cuda/fused/image.h"
#include "cuda/kernels/site_args.h"

static const struct {
  const char *symbol;
  gpu_site_module module;
} kernels[GPU_N_SITE_KERNELS] = {
#define OF_SITES(name, symbol) [GPU_##name] = {symbol, GPU_SITES},
#define OF_ATTENTION(name, symbol) [GPU_##name] = {symbol, GPU_ATTENTION},
#define OF_GRADIENT(name, symbol) [GPU_##name] = {symbol, GPU_GRADIENT},
#define OF_PARTS(name, symbol) [GPU_##name] = {symbol, GPU_PARTS},
#define OF_HOPPER(name, symbol) [GPU_##name] = {symbol, GPU_HOPPER},
    GPU_SITE_KERNELS(OF_SITES) GPU_ATTENTION_KERNELS(OF_ATTENTION) GPU_GRADIENT_KERNELS(OF_GRADIENT)
        GPU_PARTS_KERNELS(OF_PARTS) GPU_HOPPER_KERNELS(OF_HOPPER)};

static const struct {
  const char *image, *what;
} modules[] = {
    [GPU_SITES] = {tprt__site_image, "the kernels of sites"},
    [GPU_ATTENTION] = {tprt__attention_image, "the kernels of attention"},
    [GPU_GRADIENT] = {tprt__gradient_image, "the kernels of the gradient of attention"},
    [GPU_PARTS] = {tprt__parts_image, "the kernels of attention in parts"},
    [GPU_HOPPER] = {tprt__hopper_image, "the kernels of attention for compute capability 9.0"},
};

tprt_status tprt__gpu_site_kernel(tprt__gpu *gpu, gpu_site_kernel which) {
  tprt_status status = TPRT_OK;
  gpu_site_module of = kernels[which].module;
  if (!gpu->modules[of])
    status = tprt__gpu_check(gpu, gpu->calls->module_load(&gpu->modules[of], modules[of].image),
                             modules[of].what);
  if (!status && !gpu->site_kernels[which])
    status = tprt__gpu_check(gpu,
                             gpu->calls->module_function(&gpu->site_kernels[which],
                                                         gpu->modules[of], kernels[which].symbol),
                             kernels[which].symbol);
  return status;
}

tprt_status tprt__gpu_site_allow_shared(const tprt__gpu *gpu, gpu_site_kernel which,
                                        unsigned bytes) {
  return tprt__gpu_check(gpu,
                         gpu->calls->function_attribute(gpu->site_kernels[which],
                                                        CUDA_MOST_DYNAMIC_SHARED_BYTES, (int)bytes),
                         kernels[which].symbol);
}

tprt_status tprt__gpu_site_launch_as(const tprt__gpu *gpu, cuda_stream stream,
                                     gpu_site_kernel which, const gpu_launch *launch,
                                     const void *arguments) {
  void *pointers[] = {(void *)(uintptr_t)arguments};
  return tprt__gpu_check(gpu,
                         gpu->calls->kernel(gpu->site_kernels[which], launch->n_blocks,
                                            launch->n_rows, 1, launch->n_threads, 1, 1,
                                            launch->shared_bytes, stream, pointers, NULL),
                         kernels[which].symbol);
}

/* Kernels loop over items beyond the grid, so the size of the grid affects only the speed. It
 * suffices for the largest GPUs. */
tprt_status tprt__gpu_site_launch(const tprt__gpu *gpu, cuda_stream stream, gpu_site_kernel which,
                                  uint64_t n_items, unsigned n_rows, const void *arguments) {
  enum { MAX_BLOCKS = 4096 };
  uint64_t n_blocks = (n_items + SITE_THREADS - 1) / SITE_THREADS;
  const gpu_launch launch = {.n_blocks = (unsigned)(n_blocks < MAX_BLOCKS ? n_blocks : MAX_BLOCKS),
                             .n_rows = n_rows,
                             .n_threads = SITE_THREADS};
  return tprt__gpu_site_launch_as(gpu, stream, which, &launch, arguments);
}

void tprt__gpu_sites_end(tprt__gpu *gpu) {
  for (int i = 0; i < GPU_N_SITE_MODULES; i++)
    if (gpu->modules[i])
      gpu->calls->module_unload(gpu->modules[i]);
}
