/* Loads the emulated machine and gives tests access to it. */
#define _GNU_SOURCE 1
#include "machine.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct CUctx_st *context;
static fake_begin_fn *begin;
static fake_report_fn *look;
static int (*retain)(context *, int), (*release)(int), (*push)(context), (*pop)(context *);
static int (*capture_begin)(void *, int), (*capture_end)(void *, void **);
static int (*instantiate)(void **, void *, unsigned long long), (*graph_launch)(void *, void *);
static int (*graph_destroy)(void *), (*executable_destroy)(void *), (*synchronize)(void *);
static fake_idle_fn *idle;
static int (*stream_create)(void **, unsigned), (*stream_destroy)(void *);
static int (*allocate)(unsigned long long *, size_t), (*give_back)(unsigned long long);

static void find(void *library, const char *name, void *slot) {
  void *found = dlsym(library, name);
  if (!found)
    abort();
  memcpy(slot, &found, sizeof found);
}

void machine_start(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_NCCL, 1);
  setenv("TPRT_NCCL_LIBRARY", FAKE_NCCL, 1);
  setenv("TPRT_BACKEND", "nccl", 1);
  void *library = dlopen(FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    print_error("%s\n", dlerror());
    abort();
  }
  find(library, "fake_begin", &begin);
  find(library, "fake_look", &look);
  find(library, "cuDevicePrimaryCtxRetain", &retain);
  find(library, "cuDevicePrimaryCtxRelease_v2", &release);
  find(library, "cuCtxPushCurrent_v2", &push);
  find(library, "cuCtxPopCurrent_v2", &pop);
  find(library, "cuStreamBeginCapture_v2", &capture_begin);
  find(library, "cuStreamEndCapture", &capture_end);
  find(library, "cuGraphInstantiateWithFlags", &instantiate);
  find(library, "cuGraphLaunch", &graph_launch);
  find(library, "cuGraphDestroy", &graph_destroy);
  find(library, "cuGraphExecDestroy", &executable_destroy);
  find(library, "cuStreamSynchronize", &synchronize);
  find(library, "fake_idle", &idle);
  find(library, "cuStreamCreate", &stream_create);
  find(library, "cuStreamDestroy_v2", &stream_destroy);
  find(library, "cuMemAlloc_v2", &allocate);
  find(library, "cuMemFree_v2", &give_back);
  machine_begin((fake_plan){.most_delay_us = 0});
}

void machine_begin(fake_plan plan) {
  plan.n_devices = plan.n_devices ? plan.n_devices : 4;
  const char *version = getenv("FAKE_NCCL_VERSION");
  plan.nccl_version = plan.nccl_version ? plan.nccl_version : version ? atoi(version) : 22809;
  plan.cuda_code = plan.cuda_code ? plan.cuda_code : 999;
  plan.nccl_code = plan.nccl_code ? plan.nccl_code : 2;
  begin(&plan);
}

fake_report machine_look(void) {
  fake_report report;
  look(&report);
  return report;
}

void machine_expect_clean(void) {
  fake_report r = machine_look();
  if (r.n_violations || r.n_contexts || r.n_streams || r.n_events || r.n_allocations || r.n_comms ||
      r.n_factors || r.n_windows)
    fail_msg("%ld violations (%s); left: %d contexts, %d streams, %d events, %d allocations, %d "
             "communicators, %d factors, %d "
             "windows",
             r.n_violations, r.violation, r.n_contexts, r.n_streams, r.n_events, r.n_allocations,
             r.n_comms, r.n_factors, r.n_windows);
}

void *machine_alloc(int ordinal, size_t bytes) {
  context made, unused;
  unsigned long long at = 0;
  retain(&made, ordinal);
  push(made);
  if (allocate(&at, bytes ? bytes : 1))
    abort();
  pop(&unused);
  return (void *)(uintptr_t)at;
}

void machine_free(int ordinal, void *memory) {
  give_back((unsigned long long)(uintptr_t)memory);
  release(ordinal);
}

void *machine_stream(int ordinal) {
  context made, unused;
  void *stream;
  retain(&made, ordinal);
  push(made);
  if (stream_create(&stream, 1))
    abort();
  pop(&unused);
  return stream;
}

void machine_stream_destroy(int ordinal, void *stream) {
  stream_destroy(stream);
  release(ordinal);
}

void machine_capture_begin(void *stream, int mode) {
  if (capture_begin(stream, mode))
    abort();
}

void *machine_capture_end(void *stream) {
  void *graph, *executable;
  if (capture_end(stream, &graph))
    return NULL;
  if (instantiate(&executable, graph, 0) || graph_destroy(graph))
    abort();
  return executable;
}

void machine_replay(void *graph, void *stream) {
  if (graph_launch(graph, stream))
    abort();
}

void machine_graph_free(void *graph) {
  if (executable_destroy(graph))
    abort();
}

void machine_synchronize(void *stream) {
  if (synchronize(stream))
    abort();
}

void machine_capture(void *stream, bool begins) {
  if (begins) {
    machine_capture_begin(stream, MACHINE_RELAXED);
    return;
  }
  void *graph = machine_capture_end(stream);
  if (!graph)
    abort();
  machine_replay(graph, stream);
  machine_graph_free(graph);
}

void machine_delay(void *stream, int ms) { idle(stream, ms); }

tprt_config machine_config(void) {
  tprt_config config = test_config();
  config.backend = "nccl";
  return config;
}
