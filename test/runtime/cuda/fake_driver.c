/* Stands in for libcuda.so.1. Memory of the device is that of the host; a launch runs the kernel on an emulated machine and returns
 * when it has ended. FAKE_CUDA: "none" has no device, "broken" fails to start; each other word makes something fail that a group
 * needs, see fails_at. */
#define _GNU_SOURCE 1
#include "cuda/launch.h"
#include "machine.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT(member, symbol, parameters) extern cuda_result fake_##member parameters __asm__(symbol) TPRT_API;
TPRT_CUDA_CALLS(EXPORT)
LAUNCH_CALLS(EXPORT)
#undef EXPORT

enum { INVALID_VALUE = 1, STUB_LIBRARY = 34, NOT_FOUND = 500, TOO_LARGE = 720, MULTIPROCESSORS = 4, CTAS_EACH = 2 };

static bool mode_is(const char *mode) {
  const char *text = getenv("FAKE_CUDA");
  return text && strcmp(text, mode) == 0;
}

static cuda_result fails_at(const char *mode) { return mode_is(mode) ? STUB_LIBRARY : CUDA_RESULT_SUCCESS; }

cuda_result fake_init(unsigned flags) {
  (void)flags;
  return mode_is("none") ? CUDA_RESULT_NO_DEVICE : fails_at("broken");
}

cuda_result fake_driver_version(int *version) {
  *version = 13000;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_error_name(cuda_result error, const char **name) {
  *name = error == STUB_LIBRARY ? "CUDA_ERROR_STUB_LIBRARY"
          : error == TOO_LARGE  ? "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"
                                : NULL;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_device_count(int *n) {
  *n = 1;
  return CUDA_RESULT_SUCCESS;
}

/* ---- Context, modules ---- */

static int context, module, functions[FUSED_N_KERNELS];

cuda_result fake_context_current(launch_context *current) {
  *current = mode_is("no context") ? NULL : (launch_context)&context;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_device(int *device) {
  *device = 0;
  return fails_at("context device");
}

cuda_result fake_device_attribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == LAUNCH_MULTIPROCESSORS    ? MULTIPROCESSORS
           : attribute == LAUNCH_CAPABILITY_MAJOR ? (mode_is("old") ? 7 : 9)
           : attribute == LAUNCH_CAPABILITY_MINOR ? (mode_is("old") ? 5 : 0)
           : attribute == LAUNCH_COOPERATIVE      ? !mode_is("not cooperative")
                                                  : -1;
  return fails_at("attributes");
}

cuda_result fake_module_load(launch_module *loaded, const void *image) {
  static const unsigned char fat_binary[] = {0x50, 0xed, 0x55, 0xba};
  if (memcmp(image, fat_binary, sizeof fat_binary) != 0 && strncmp(image, "// Generated", 12) != 0)
    return INVALID_VALUE;
  *loaded = (launch_module)&module;
  return fails_at("load");
}

cuda_result fake_module_unload(launch_module unloaded) {
  (void)unloaded;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_module_function(launch_function *function, launch_module loaded, const char *name) {
  (void)loaded;
  for (int k = 0; k < FUSED_N_KERNELS; k++)
    if (strcmp(name, tprt__fused_names[k]) == 0) {
      *function = (launch_function)&functions[k];
      return fails_at("function");
    }
  return NOT_FOUND;
}

cuda_result fake_occupancy(int *n, launch_function function, int threads, size_t shared_bytes) {
  (void)function, (void)threads, (void)shared_bytes;
  *n = mode_is("full") ? 0 : CTAS_EACH;
  return fails_at("occupancy");
}

/* ---- Launches ---- */

static cuda_result run(launch_function function, unsigned n_ctas, unsigned n_ranks, unsigned n_threads, void **parameters) {
  if (n_ctas * n_ranks > MULTIPROCESSORS * CTAS_EACH)
    return TOO_LARGE;
  if (n_ctas == 0 || n_ranks == 0 || n_threads == 0 || n_threads > FUSED_THREADS || n_threads % FUSED_WARP)
    return INVALID_VALUE;
  machine_grid((fused_kernel)((int *)function - functions), parameters[0], n_ctas, n_ranks, n_threads);
  return fails_at("launch");
}

cuda_result fake_kernel(launch_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, launch_stream stream, void **parameters,
                        void **extra) {
  (void)grid_z, (void)block_y, (void)block_z, (void)shared_bytes, (void)stream, (void)extra;
  return run(function, grid_x, grid_y, block_x, parameters);
}

cuda_result fake_cooperative_kernel(launch_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                    launch_stream stream, void **parameters) {
  return fake_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, NULL);
}

cuda_result fake_stream_synchronize(launch_stream stream) {
  (void)stream;
  return fails_at("synchronize");
}

cuda_result fake_copy_to_host(void *to, launch_address from, size_t bytes) {
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return fails_at("copy");
}
