/* Kernels of the fake driver, of the library and of programs. They run in the stream's thread, so
 * kernels of several devices can wait for each other. */
#define _GNU_SOURCE 1
#include "fake_inside.h"

#include "cuda/fused/launch.h"
#include "cuda/fused/plan.h"
#include "test/runtime/cuda/fake/fake_module.h"

#include <stdlib.h>

#define EXPORT_KERNEL(member, symbol, parameters)                                                  \
  extern cuda_result driver_##member parameters __asm__(symbol) TPRT_API;
KERNEL_CALLS(EXPORT_KERNEL)
EXPORT_KERNEL(function_attribute, "cuFuncSetAttribute",
              (cuda_function function, int attribute, int value))

cuda_result driver_function_attribute(cuda_function function, int attribute, int value) {
  return fake_set_attribute(function, attribute, value);
}

cuda_result driver_device_attribute(int *value, int attribute, int device) {
  int major, minor;
  (void)device;
  fake_capability(&major, &minor);
  *value = attribute == CUDA_MULTIPROCESSORS    ? FAKE_MULTIPROCESSORS
           : attribute == CUDA_CAPABILITY_MAJOR ? major
           : attribute == CUDA_CAPABILITY_MINOR ? minor
                                                : 1;
  return 0;
}

cuda_result driver_module_load(cuda_module *module, const void *image) {
  fake_enter();
  if (fake_device() < 0)
    return fake_leave(FAKE_INVALID_CONTEXT);
  if (fake_unsafe())
    return fake_leave(FAKE_CAPTURE_UNSUPPORTED);
  return fake_leave(fake_load(module, image, fake_device()));
}

cuda_result driver_module_unload(cuda_module module) {
  fake_unload(module);
  return 0;
}

/* Modules load lazily: a kernel is loaded when it is looked up, which may wait for the device. */
cuda_result driver_module_function(cuda_function *function, cuda_module module, const char *name) {
  cuda_result result = fake_find(function, module, name);
  fake_enter();
  if (!result)
    fake_settle(fake_device_of(*function), "a kernel is loaded");
  return fake_leave(result);
}

cuda_result driver_occupancy(int *n, cuda_function function, int threads, size_t shared_bytes) {
  (void)function, (void)threads, (void)shared_bytes;
  *n = FAKE_CTAS_EACH;
  return 0;
}

static void run(void *data) {
  if (fake_run(data)) {
    fake_enter();
    fake_violation("a kernel fails");
    fake_exit();
  }
}

static void release(void *data) {
  fake_launch *launch = data;
  free(launch->parameters);
  free(launch);
}

static cuda_result launch(const fake_launch *given, bool cooperative, cuda_stream stream,
                          void **parameters) {
  uint64_t n_ctas = (uint64_t)given->grid[0] * given->grid[1] * given->grid[2];
  if (n_ctas == 0 || given->block[0] == 0 || !fake_has_shared(given) ||
      ((cooperative || !fake_is_ptx(given->function)) && n_ctas > FAKE_RESIDENT))
    return FAKE_INVALID_VALUE;
  fake_launch *kept = malloc(sizeof *kept);
  *kept = *given;
  kept->parameters = fake_parameters(given->function, parameters);
  fake_enter();
  stream = fake_stream_of(stream);
  if (!stream || stream->device != fake_device() ||
      fake_device_of(given->function) != stream->device)
    fake_violation("a kernel, its stream and the current context are not of one device");
  fake_enqueue(stream, run, release, kept);
  return fake_leave(0);
}

cuda_result driver_kernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, cuda_stream stream, void **parameters,
                          void **extra) {
  const fake_launch given = {.function = function,
                             .grid = {grid_x, grid_y, grid_z},
                             .block = {block_x, block_y, block_z},
                             .shared_bytes = shared_bytes,
                             .find = fake_find_block};
  return extra ? FAKE_INVALID_VALUE : launch(&given, false, stream, parameters);
}

cuda_result driver_cooperative_kernel(cuda_function function, unsigned grid_x, unsigned grid_y,
                                      unsigned grid_z, unsigned block_x, unsigned block_y,
                                      unsigned block_z, unsigned shared_bytes, cuda_stream stream,
                                      void **parameters) {
  const fake_launch given = {.function = function,
                             .grid = {grid_x, grid_y, grid_z},
                             .block = {block_x, block_y, block_z},
                             .shared_bytes = shared_bytes,
                             .find = fake_find_block};
  return launch(&given, true, stream, parameters);
}
