/* Loads the CUDA driver for the GPU tests. */
#define _GNU_SOURCE 1
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

device_calls device;

void device_did(int result, const char *what) {
  if (result == 0)
    return;
  if (result == DEVICE_NO_FUNCTION)
    fprintf(stderr,
            "wrong: %s: the driver has no such function; one of CUDA 11.4 or newer is needed\n",
            what);
  else
    fprintf(stderr, "wrong: %s: CUDA error %d\n", what, result);
  exit(1);
}

int device_open(void) {
  static const struct {
    const char *name;
    void *slot;
  } symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &device.member},
      DEVICE_CALLS(ROW)
#undef ROW
  };
  const char *path = getenv("TPRT_CUDA_LIBRARY");
  void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "no GPU: %s\n", dlerror());
    return 77;
  }
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *found = dlsym(library, symbols[i].name);
    memcpy(symbols[i].slot, &found, sizeof found);
  }
  int n = 0;
  if (!device.init || device.init(0) != 0 || !device.count || device.count(&n) != 0 || n == 0) {
    fprintf(stderr, "no GPU: the driver sees none\n");
    return 77;
  }
  cuda_context context;
  DO(context_retain, &context, 0);
  DO(context_set, context);
  return 0;
}

void device_need(tprt_status status) {
  if (status == TPRT_OK)
    return;
  fprintf(stderr, "wrong: %s: %s\n", tprt_status_name(status), tprt_last_error());
  exit(1);
}

void device_set(cuda_address to, unsigned char value, size_t bytes) {
  DO(set, to, value, bytes);
  DO(stream_wait, NULL);
}

void device_upload(cuda_address to, const void *from, size_t bytes) {
  DO(upload, to, from, bytes);
  DO(stream_wait, NULL);
}

cuda_program device_capture(cuda_stream stream, void (*enqueue)(void *user, cuda_stream stream),
                            void *user) {
  enum { RELAXED = 2 };
  cuda_graph graph;
  cuda_program program;
  DO(capture_begin, stream, RELAXED);
  enqueue(user, stream);
  DO(capture_end, stream, &graph);
  DO(instantiate, &program, graph, 0);
  DO(graph_destroy, graph);
  return program;
}
