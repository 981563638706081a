/* A CUDA graph with a fused kernel in it: sums of rows over the ranks, normalized, captured once
 * and replayed with other inputs.
 *
 * The ranks are virtual, all on one GPU, so that one is enough; with a GPU for each rank the group
 * comes from tprt_cuda_group_attach and the memory from tprt_cuda_symmetric_create, and the calls
 * are the same. The driver is loaded as the library loads it, so this needs no CUDA toolkit. */
#include <tprt/cuda.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2, TOKENS = 4, HIDDEN = 64, COUNT = TOKENS * HIDDEN, RELAXED = 2 };
static const size_t bytes = COUNT * sizeof(float);

/* What is asked of the driver, as cuda.h declares it. */
static int (*retain_context)(void **context, int device), (*set_context)(void *context),
    (*allocate)(uint64_t *memory, size_t n),
    (*clear)(uint64_t memory, unsigned char value, size_t n),
    (*upload)(uint64_t to, const void *from, size_t n),
    (*download)(void *to, uint64_t from, size_t n), (*create_stream)(void **stream, unsigned flags),
    (*wait)(void *stream), (*begin_capture)(void *stream, int mode),
    (*end_capture)(void *stream, void **graph),
    (*instantiate)(void **program, void *graph, unsigned long long flags),
    (*launch)(void *program, void *stream);

static void load_driver(void) {
  const struct {
    const char *name;
    void *slot;
  } symbols[] = {{"cuDevicePrimaryCtxRetain", &retain_context},
                 {"cuCtxSetCurrent", &set_context},
                 {"cuMemAlloc_v2", &allocate},
                 {"cuMemsetD8_v2", &clear},
                 {"cuMemcpyHtoD_v2", &upload},
                 {"cuMemcpyDtoH_v2", &download},
                 {"cuStreamCreate", &create_stream},
                 {"cuStreamSynchronize", &wait},
                 {"cuStreamBeginCapture_v2", &begin_capture},
                 {"cuStreamEndCapture", &end_capture},
                 {"cuGraphInstantiateWithFlags", &instantiate},
                 {"cuGraphLaunch", &launch}};
  const char *path = getenv("TPRT_CUDA_LIBRARY");
  void *driver = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *found = driver ? dlsym(driver, symbols[i].name) : NULL;
    if (!found) {
      fprintf(stderr, "the driver has no %s\n", symbols[i].name);
      exit(1);
    }
    memcpy(symbols[i].slot, &found, sizeof found);
  }
}

static void expect(tprt_status status) {
  if (status == TPRT_OK)
    return;
  fprintf(stderr, "%s: %s\n", tprt_status_name(status), tprt_last_error());
  exit(1);
}

static void did(int result, const char *what) {
  if (result == 0)
    return;
  fprintf(stderr, "%s: CUDA error %d\n", what, result);
  exit(1);
}

/* cuMemsetD8 and cuMemcpyHtoD may return before the GPU has written, and a stream that was created
 * with CU_STREAM_NON_BLOCKING does not wait for them: the default stream, NULL, does. */
static void *device_memory(size_t n) {
  uint64_t memory;
  did(allocate(&memory, n), "allocate");
  did(clear(memory, 0, n), "clear");
  did(wait(NULL), "clear");
  return (void *)(uintptr_t)memory;
}

static void write_floats(const void *memory, const float *host, size_t n) {
  did(upload((uint64_t)(uintptr_t)memory, host, n), "upload");
  did(wait(NULL), "upload");
}

static void fill(const void *memory, float value) {
  float host[COUNT];
  for (int i = 0; i < COUNT; i++)
    host[i] = value;
  write_floats(memory, host, bytes);
}

int main(void) {
  tprt_cuda_info info;
  tprt_status status = tprt_cuda_probe(&info);
  if (status == TPRT_UNSUPPORTED) {
    printf("no GPU: %s\n", tprt_last_error());
    return 0;
  }
  expect(status);
  load_driver();
  void *context, *stream, *graph, *program;
  did(retain_context(&context, 0), "context");
  did(set_context(context), "context");
  did(create_stream(&stream, 1), "stream");

  tprt_cuda_group_config config = {
      .size = sizeof config, .n_ranks = N, .rank = TPRT_CUDA_ALL_RANKS};
  tprt_cuda_rows rows = {.size = sizeof rows,
                         .dtype = TPRT_F32,
                         .tokens = TOKENS,
                         .hidden = HIDDEN,
                         .algorithm = TPRT_CUDA_PULL,
                         .norm = TPRT_CUDA_RMS_NORM,
                         .gamma = device_memory(HIDDEN * sizeof(float))};
  for (int r = 0; r < N; r++) {
    config.signals[r] = device_memory(tprt_cuda_signal_bytes());
    rows.input[r] = device_memory(bytes);
    rows.residual_out[r] = device_memory(bytes);
    rows.out[r] = device_memory(bytes);
  }
  float gamma[HIDDEN];
  for (int i = 0; i < HIDDEN; i++)
    gamma[i] = 2;
  write_floats(rows.gamma, gamma, sizeof gamma);
  tprt_cuda_group *group;
  expect(tprt_cuda_group_create(&config, &group));

  /* Captured, not run. Arguments are checked here; nothing is left to the host when the graph is
   * launched. */
  did(begin_capture(stream, RELAXED), "begin of the capture");
  expect(tprt_cuda_reduce_rows(group, &rows, stream));
  did(end_capture(stream, &graph), "end of the capture");
  did(instantiate(&program, graph, 0), "graph");

  for (int replay = 1; replay <= 3; replay++) {
    for (int r = 0; r < N; r++)
      fill(rows.input[r], (float)(replay * (r + 1)));
    did(launch(program, stream), "launch");
    did(wait(stream), "stream");
    expect(tprt_cuda_group_check(group, stream));
    float sum[COUNT], out[COUNT];
    did(download(sum, (uint64_t)(uintptr_t)rows.residual_out[1], bytes), "download");
    did(download(out, (uint64_t)(uintptr_t)rows.out[1], bytes), "download");
    printf("replay %d: the sum is %g, normalized %g\n", replay, sum[COUNT - 1], out[COUNT - 1]);
  }
  tprt_cuda_group_destroy(group);
  return 0;
}
