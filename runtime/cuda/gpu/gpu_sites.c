/* Loads and launches the kernels of sites. */
#include "cuda/gpu/gpu_inside.h"

#include "cuda/fused/image.h"
#include "cuda/kernels/site_args.h"

static const char *const names[GPU_N_SITE_KERNELS] = {
#define ROW(name, symbol) [GPU_##name] = symbol,
    GPU_SITE_KERNELS(ROW)
#undef ROW
};

tprt_status tprt__gpu_site_kernel(tprt__gpu *gpu, gpu_site_kernel which) {
  tprt_status status = TPRT_OK;
  if (!gpu->sites)
    status = tprt__gpu_check(gpu, gpu->calls->module_load(&gpu->sites, tprt__site_image),
                             "the kernels of sites");
  if (!status && !gpu->site_kernels[which])
    status = tprt__gpu_check(
        gpu, gpu->calls->module_function(&gpu->site_kernels[which], gpu->sites, names[which]),
        names[which]);
  return status;
}

/* Kernels loop over items beyond the grid, so the size of the grid affects only the speed. It
 * suffices for the largest GPUs. */
tprt_status tprt__gpu_site_launch(const tprt__gpu *gpu, cuda_stream stream, gpu_site_kernel which,
                                  uint64_t n_items, unsigned n_rows, const void *arguments) {
  enum { MAX_BLOCKS = 4096 };
  uint64_t n_blocks = (n_items + SITE_THREADS - 1) / SITE_THREADS;
  void *pointers[] = {(void *)(uintptr_t)arguments};
  return tprt__gpu_check(
      gpu,
      gpu->calls->kernel(gpu->site_kernels[which],
                         (unsigned)(n_blocks < MAX_BLOCKS ? n_blocks : MAX_BLOCKS), n_rows, 1,
                         SITE_THREADS, 1, 1, 0, stream, pointers, NULL),
      names[which]);
}

void tprt__gpu_sites_end(tprt__gpu *gpu) {
  if (gpu->sites)
    gpu->calls->module_unload(gpu->sites);
}
