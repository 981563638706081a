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

cuda_result fake_context_current(cuda_context *current) {
  *current = mode_is("no context") ? NULL : (cuda_context)&context;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_device(int *number) {
  *number = 0;
  return fails_at("context device");
}

cuda_result fake_device_attribute(int *value, int attribute, int number) {
  (void)number;
  *value = attribute == CUDA_MULTIPROCESSORS    ? MULTIPROCESSORS
           : attribute == CUDA_CAPABILITY_MAJOR ? (mode_is("old") ? 7 : 9)
           : attribute == CUDA_CAPABILITY_MINOR ? (mode_is("old") ? 5 : 0)
           : attribute == CUDA_COOPERATIVE      ? !mode_is("not cooperative")
                                                : -1;
  return fails_at("attributes");
}

cuda_result fake_module_load(cuda_module *loaded, const void *image) {
  static const unsigned char fat_binary[] = {0x50, 0xed, 0x55, 0xba};
  if (memcmp(image, fat_binary, sizeof fat_binary) != 0 && strncmp(image, "// Generated", 12) != 0)
    return INVALID_VALUE;
  *loaded = (cuda_module)&module;
  return fails_at("load");
}

cuda_result fake_module_unload(cuda_module unloaded) {
  (void)unloaded;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_module_function(cuda_function *function, cuda_module loaded, const char *name) {
  (void)loaded;
  for (int k = 0; k < FUSED_N_KERNELS; k++)
    if (strcmp(name, tprt__fused_names[k]) == 0) {
      *function = (cuda_function)&functions[k];
      return fails_at("function");
    }
  return NOT_FOUND;
}

cuda_result fake_occupancy(int *n, cuda_function function, int threads, size_t shared_bytes) {
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
static cuda_graph capturing;

static cuda_result run(cuda_function function, unsigned n_ctas, unsigned n_ranks, unsigned n_threads, void **parameters) {
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

cuda_result fake_capture_begin(cuda_stream stream, int mode) {
  (void)stream, (void)mode;
  if (capturing)
    return INVALID_VALUE;
  capturing = calloc(1, sizeof *capturing);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_capture_end(cuda_stream stream, cuda_graph *graph) {
  (void)stream;
  *graph = capturing;
  capturing = NULL;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_instantiate(cuda_program *program, cuda_graph graph, unsigned long long flags) {
  (void)flags;
  *program = malloc(sizeof **program);
  (*program)->graph = *graph;
  graph->launches = NULL;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_replay(cuda_program program, cuda_stream stream) {
  (void)stream;
  for (size_t i = 0; i < program->graph.n; i++) {
    const recorded *l = &program->graph.launches[i];
    machine_grid(l->kernel, &l->args, l->n_ctas, l->n_ranks, l->n_threads);
  }
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_program_destroy(cuda_program program) {
  free(program->graph.launches);
  free(program);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_graph_destroy(cuda_graph graph) {
  free(graph->launches);
  free(graph);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_kernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **parameters,
                        void **extra) {
  (void)grid_z, (void)block_y, (void)block_z, (void)shared_bytes, (void)stream, (void)extra;
  return run(function, grid_x, grid_y, block_x, parameters);
}

cuda_result fake_cooperative_kernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                    unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream,
                                    void **parameters) {
  return fake_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, NULL);
}

cuda_result fake_stream_synchronize(cuda_stream stream) {
  (void)stream;
  return capturing ? INVALID_VALUE : fails_at("synchronize");
}

cuda_result fake_copy_to_host(void *to, cuda_address from, size_t bytes) {
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return fails_at("copy");
}

/* ---- What only the tests ask for ---- */

cuda_result fake_name(char *name, int bytes, int number) {
  (void)number;
  strncpy(name, "emulated", (size_t)bytes - 1);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_retain(cuda_context *retained, int number) {
  (void)number;
  *retained = (cuda_context)&context;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_set(cuda_context current) {
  (void)current;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_can_reach(int *reaches, int number, int peer) {
  *reaches = number != peer;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_reach(cuda_context peer, unsigned flags) {
  (void)flags;
  return peer ? CUDA_RESULT_SUCCESS : INVALID_VALUE;
}

cuda_result fake_allocate(cuda_address *memory, size_t bytes) {
  *memory = (cuda_address)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *memory ? CUDA_RESULT_SUCCESS : INVALID_VALUE;
}

cuda_result fake_release(cuda_address memory) {
  free((void *)(uintptr_t)memory);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_set(cuda_address to, unsigned char value, size_t bytes) {
  memset((void *)(uintptr_t)to, value, bytes);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_upload(cuda_address to, const void *from, size_t bytes) {
  memcpy((void *)(uintptr_t)to, from, bytes);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_stream_create(cuda_stream *stream, unsigned flags) {
  *stream = flags == 1 ? (cuda_stream)&module : NULL;
  return *stream ? CUDA_RESULT_SUCCESS : INVALID_VALUE;
}

struct CUevent_st {
  struct timespec at;
};

cuda_result fake_event_create(cuda_event *event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof **event);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_event_destroy(cuda_event event) {
  free(event);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_event_record(cuda_event event, cuda_stream stream) {
  (void)stream;
  clock_gettime(CLOCK_MONOTONIC, &event->at);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_event_wait(cuda_event event) {
  (void)event;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_event_elapsed(float *ms, cuda_event from, cuda_event to) {
  *ms = (float)((double)(to->at.tv_sec - from->at.tv_sec) * 1e3 + (double)(to->at.tv_nsec - from->at.tv_nsec) * 1e-6);
  return CUDA_RESULT_SUCCESS;
}
