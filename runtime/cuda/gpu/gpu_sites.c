/* Loads and launches the kernels of sites. */
#include "cuda/gpu/gpu_inside.h"

#include "cuda/fused/image.h"
#include "cuda/kernels/site_args.h"

static const char *const names[GPU_N_SITE_KERNELS] = {
#define ROW(name, symbol) [GPU_##name] = symbol,
    GPU_SITE_KERNELS(ROW) GPU_ATTENTION_KERNELS(ROW)
#undef ROW
};

tprt_status tprt__gpu_site_kernel(tprt__gpu *gpu, gpu_site_kernel which) {
  tprt_status status = TPRT_OK;
  bool attends = which >= GPU_ATTENTION_F32;
  cuda_module *module = attends ? &gpu->attention : &gpu->sites;
  if (!*module)
    status = tprt__gpu_check(
        gpu, gpu->calls->module_load(module, attends ? tprt__attention_image : tprt__site_image),
        attends ? "the kernels of attention" : "the kernels of sites");
  if (!status && !gpu->site_kernels[which])
    status = tprt__gpu_check(
        gpu, gpu->calls->module_function(&gpu->site_kernels[which], *module, names[which]),
        names[which]);
  return status;
}

tprt_status tprt__gpu_site_launch_blocks(const tprt__gpu *gpu, cuda_stream stream,
                                         gpu_site_kernel which, unsigned n_blocks, unsigned n_rows,
                                         unsigned n_threads, const void *arguments) {
  void *pointers[] = {(void *)(uintptr_t)arguments};
  return tprt__gpu_check(gpu,
                         gpu->calls->kernel(gpu->site_kernels[which], n_blocks, n_rows, 1,
                                            n_threads, 1, 1, 0, stream, pointers, NULL),
                         names[which]);
}

/* Kernels loop over items beyond the grid, so the size of the grid affects only the speed. It
 * suffices for the largest GPUs. */
tprt_status tprt__gpu_site_launch(const tprt__gpu *gpu, cuda_stream stream, gpu_site_kernel which,
                                  uint64_t n_items, unsigned n_rows, const void *arguments) {
  enum { MAX_BLOCKS = 4096 };
  uint64_t n_blocks = (n_items + SITE_THREADS - 1) / SITE_THREADS;
  return tprt__gpu_site_launch_blocks(gpu, stream, which,
                                      (unsigned)(n_blocks < MAX_BLOCKS ? n_blocks : MAX_BLOCKS),
                                      n_rows, SITE_THREADS, arguments);
}

void tprt__gpu_sites_end(tprt__gpu *gpu) {
  if (gpu->sites)
    gpu->calls->module_unload(gpu->sites);
  if (gpu->attention)
    gpu->calls->module_unload(gpu->attention);
}
