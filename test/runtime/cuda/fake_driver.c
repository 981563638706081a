/* Stands in for libcuda.so.1. Memory of the device is that of the host; a launch runs the kernel on an emulated machine and returns
 * when it has ended. FAKE_CUDA: "none" has no device, "broken" fails to start; each other word makes something fail that a group
 * needs, see fails_at. FAKE_DEVICES: how many there are, 1 without. */
#define _GNU_SOURCE 1
#include "cuda/launch.h"
#include "device.h"
#include "machine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT(member, symbol, parameters) extern cuda_result fake_##member parameters __asm__(symbol) TPRT_API;
TPRT_CUDA_CALLS(EXPORT)
LAUNCH_CALLS(EXPORT)
DEVICE_CALLS(EXPORT) /* those of its functions that the others have too are defined under their names */
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
  const char *text = getenv("FAKE_DEVICES");
  *n = text ? atoi(text) : 1;
  return CUDA_RESULT_SUCCESS;
}

/* ---- Context, modules ---- */

static int context, module, functions[FUSED_N_KERNELS];

cuda_result fake_context_current(launch_context *current) {
  *current = mode_is("no context") ? NULL : (launch_context)&context;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_device(int *number) {
  *number = 0;
  return fails_at("context device");
}

cuda_result fake_device_attribute(int *value, int attribute, int number) {
  (void)number;
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

/* ---- Launches, and graphs of them ---- */

typedef struct recorded {
  fused_kernel kernel;
  fused_args args;
  unsigned n_ctas, n_ranks, n_threads;
} recorded;

struct CUgraph_st {
  size_t n;
  recorded *launches;
};
struct CUgraphExec_st {
  struct CUgraph_st graph;
};
static device_graph capturing;

static cuda_result run(launch_function function, unsigned n_ctas, unsigned n_ranks, unsigned n_threads, void **parameters) {
  if (n_ctas * n_ranks > MULTIPROCESSORS * CTAS_EACH)
    return TOO_LARGE;
  if (n_ctas == 0 || n_ranks == 0 || n_threads == 0 || n_threads > FUSED_THREADS || n_threads % FUSED_WARP)
    return INVALID_VALUE;
  recorded l = {(fused_kernel)((int *)function - functions), *(const fused_args *)parameters[0], n_ctas, n_ranks, n_threads};
  if (capturing) {
    capturing->launches = realloc(capturing->launches, (capturing->n + 1) * sizeof l);
    capturing->launches[capturing->n++] = l;
  } else {
    machine_grid(l.kernel, &l.args, n_ctas, n_ranks, n_threads);
  }
  return fails_at("launch");
}

cuda_result fake_capture_begin(device_stream stream, int mode) {
  (void)stream, (void)mode;
  if (capturing)
    return INVALID_VALUE;
  capturing = calloc(1, sizeof *capturing);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_capture_end(device_stream stream, device_graph *graph) {
  (void)stream;
  *graph = capturing;
  capturing = NULL;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_instantiate(device_program *program, device_graph graph, unsigned long long flags) {
  (void)flags;
  *program = malloc(sizeof **program);
  (*program)->graph = *graph;
  graph->launches = NULL;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_replay(device_program program, device_stream stream) {
  (void)stream;
  for (size_t i = 0; i < program->graph.n; i++) {
    const recorded *l = &program->graph.launches[i];
    machine_grid(l->kernel, &l->args, l->n_ctas, l->n_ranks, l->n_threads);
  }
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_program_destroy(device_program program) {
  free(program->graph.launches);
  free(program);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_graph_destroy(device_graph graph) {
  free(graph->launches);
  free(graph);
  return CUDA_RESULT_SUCCESS;
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
  return capturing ? INVALID_VALUE : fails_at("synchronize");
}

cuda_result fake_copy_to_host(void *to, launch_address from, size_t bytes) {
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return fails_at("copy");
}

/* ---- What only the tests ask for ---- */

cuda_result fake_name(char *name, int bytes, int number) {
  (void)number;
  strncpy(name, "emulated", (size_t)bytes - 1);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_retain(device_context *retained, int number) {
  (void)number;
  *retained = (device_context)&context;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_set(device_context current) {
  (void)current;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_can_reach(int *reaches, int number, int peer) {
  *reaches = number != peer;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_reach(device_context peer, unsigned flags) {
  (void)flags;
  return peer ? CUDA_RESULT_SUCCESS : INVALID_VALUE;
}

cuda_result fake_allocate(device_memory *memory, size_t bytes) {
  *memory = (device_memory)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *memory ? CUDA_RESULT_SUCCESS : INVALID_VALUE;
}

cuda_result fake_release(device_memory memory) {
  free((void *)(uintptr_t)memory);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_set(device_memory to, unsigned char value, size_t bytes) {
  memset((void *)(uintptr_t)to, value, bytes);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_upload(device_memory to, const void *from, size_t bytes) {
  memcpy((void *)(uintptr_t)to, from, bytes);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_stream_create(device_stream *stream, unsigned flags) {
  *stream = flags == 1 ? (device_stream)&module : NULL;
  return *stream ? CUDA_RESULT_SUCCESS : INVALID_VALUE;
}

struct CUevent_st {
  struct timespec at;
};

cuda_result fake_event_create(device_event *event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof **event);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_event_destroy(device_event event) {
  free(event);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_event_record(device_event event, device_stream stream) {
  (void)stream;
  clock_gettime(CLOCK_MONOTONIC, &event->at);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_event_wait(device_event event) {
  (void)event;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_event_elapsed(float *ms, device_event from, device_event to) {
  *ms = (float)((double)(to->at.tv_sec - from->at.tv_sec) * 1e3 + (double)(to->at.tv_nsec - from->at.tv_nsec) * 1e-6);
  return CUDA_RESULT_SUCCESS;
}
