/* Modules and launches of the fake driver; fake_module.c executes them. */
#define _GNU_SOURCE 1
#include "cuda/fused/plan.h"
#include "fake_driver.h"
#include "fake_module.h"
#include "fake_stream.h"

#include <stdlib.h>

/* ---- Modules ---- */

cuda_result fake_module_load(cuda_module *loaded, const void *image) {
  cuda_result result = fake_unsafe();
  if (!result)
    result = fake_fails_at("load");
  return result ? result : fake_load(loaded, image, fake_current_device());
}

cuda_result fake_module_unload(cuda_module module) {
  fake_unload(module);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_module_function(cuda_function *function, cuda_module module, const char *name) {
  cuda_result result = fake_find(function, module, name);
  return result ? result : fake_fails_at("function");
}

cuda_result fake_occupancy(int *n, cuda_function function, int threads, size_t shared_bytes) {
  (void)function, (void)threads, (void)shared_bytes;
  *n = fake_mode_is("full") ? 0 : FAKE_CTAS_EACH;
  return fake_fails_at("occupancy");
}

/* ---- Launches ---- */

/* A host function in a stream. */
typedef struct host_call {
  void (*host)(void *data);
  void *data;
} host_call;

static cuda_result run(void *data) { return fake_run(data); }

static void release(void *data) {
  fake_launch *l = data;
  free(l->parameters);
  free(l);
}

/* ---- The calls ---- */

static cuda_result call_host(void *data) {
  const host_call *call = data;
  call->host(call->data);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_host_call(cuda_stream stream, void (*host)(void *data), void *data) {
  host_call *call = malloc(sizeof *call);
  if (!call)
    abort();
  *call = (host_call){host, data};
  return fake_enqueue(stream, (fake_task){.run = call_host, .data = call});
}

/* Launches a kernel. All CTAs of the library's kernels run concurrently, however they are launched,
 * because they wait for each other. */
static cuda_result launch_kernel(cuda_stream stream, const fake_launch *given, bool cooperative,
                                 void **parameters) {
  fake_launch l = *given;
  if (++fake_streams.n_launches == fake_streams.lose_launch)
    return CUDA_RESULT_SUCCESS;
  uint64_t n_ctas = (uint64_t)l.grid[0] * l.grid[1] * l.grid[2];
  if ((cooperative || !fake_is_ptx(l.function)) && n_ctas > FAKE_RESIDENT)
    return FAKE_TOO_LARGE;
  if (n_ctas == 0 || l.block[0] == 0 || !fake_has_shared(&l))
    return FAKE_INVALID_VALUE;
  if (!fake_is_ptx(l.function) && (l.block[0] > FUSED_THREADS || l.block[0] % FUSED_WARP))
    return FAKE_INVALID_VALUE;
  fake_note_launch();
  l.parameters = fake_parameters(l.function, parameters);
  fake_launch *kept = malloc(sizeof *kept);
  if (!kept)
    abort();
  *kept = l;
  cuda_result result =
      fake_enqueue(stream, (fake_task){.run = run, .release = release, .data = kept});
  return result ? result : fake_fails_at("launch");
}

cuda_result fake_kernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        cuda_stream stream, void **parameters, void **extra) {
  fake_launch l = {.function = function,
                   .grid = {grid_x, grid_y, grid_z},
                   .block = {block_x, block_y, block_z},
                   .shared_bytes = shared_bytes,
                   .find = fake_find_memory};
  return extra ? FAKE_INVALID_VALUE : launch_kernel(stream, &l, false, parameters);
}

cuda_result fake_cooperative_kernel(cuda_function function, unsigned grid_x, unsigned grid_y,
                                    unsigned grid_z, unsigned block_x, unsigned block_y,
                                    unsigned block_z, unsigned shared_bytes, cuda_stream stream,
                                    void **parameters) {
  fake_launch l = {.function = function,
                   .grid = {grid_x, grid_y, grid_z},
                   .block = {block_x, block_y, block_z},
                   .shared_bytes = shared_bytes,
                   .find = fake_find_memory};
  return launch_kernel(stream, &l, true, parameters);
}
