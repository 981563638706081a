/* Driver functions that users call but the library does not: copies to and from the host,
 * synchronization, graphs, host functions. */
#define _GNU_SOURCE 1
#include "fake_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_SUPPORTED = 801 };

typedef void host_fn(void *data);

/* A graph and its executables: one object. */
typedef struct fake_graph {
  int references; /* includes launches that have not ended */
  struct fake_task *tasks;
} fake_graph;

#define FAKE_USER_CALLS(X)                                                                         \
  X(name, "cuDeviceGetName", (char *name, int bytes, int device))                                  \
  X(context_set, "cuCtxSetCurrent", (cuda_context context))                                        \
  X(upload, "cuMemcpyHtoD_v2", (cuda_address to, const void *from, size_t bytes))                  \
  X(download, "cuMemcpyDtoH_v2", (void *to, cuda_address from, size_t bytes))                      \
  X(to_host, "cuMemcpyDtoHAsync_v2",                                                               \
    (void *to, cuda_address from, size_t bytes, cuda_stream stream))                               \
  X(from_host, "cuMemcpyHtoDAsync_v2",                                                             \
    (cuda_address to, const void *from, size_t bytes, cuda_stream stream))                         \
  X(can_reach, "cuDeviceCanAccessPeer", (int *reaches, int device, int peer))                      \
  X(reach, "cuCtxEnablePeerAccess", (cuda_context peer, unsigned flags))                           \
  X(handle_of, "cuIpcGetMemHandle", (cuda_ipc_handle * handle, cuda_address memory))               \
  X(open, "cuIpcOpenMemHandle_v2",                                                                 \
    (cuda_address * memory, cuda_ipc_handle handle, unsigned flags))                               \
  X(close, "cuIpcCloseMemHandle", (cuda_address memory))                                           \
  X(stream_synchronize, "cuStreamSynchronize", (cuda_stream stream))                               \
  X(host_call, "cuLaunchHostFunc", (cuda_stream stream, host_fn * fn, void *data))                 \
  X(capture_begin, "cuStreamBeginCapture_v2", (cuda_stream stream, int mode))                      \
  X(capture_end, "cuStreamEndCapture", (cuda_stream stream, fake_graph * *graph))                  \
  X(instantiate, "cuGraphInstantiateWithFlags",                                                    \
    (fake_graph * *program, fake_graph * graph, unsigned long long flags))                         \
  X(replay, "cuGraphLaunch", (fake_graph * program, cuda_stream stream))                           \
  X(program_destroy, "cuGraphExecDestroy", (fake_graph * program))                                 \
  X(graph_destroy, "cuGraphDestroy", (fake_graph * graph))
#define EXPORT(member, symbol, parameters)                                                         \
  extern cuda_result user_##member parameters __asm__(symbol) TPRT_API;
FAKE_USER_CALLS(EXPORT)
#undef EXPORT

cuda_result user_name(char *name, int bytes, int device) {
  snprintf(name, (size_t)bytes, "made-up device");
  return device >= 0 && device < fake_now.n_devices ? 0 : FAKE_INVALID_VALUE;
}

cuda_result user_context_set(cuda_context context) {
  fake_enter();
  return fake_leave(fake_set_context(context) ? 0 : FAKE_INVALID_CONTEXT);
}

/* Waits until a stream is empty, with the lock held. */
static cuda_result finish(cuda_stream given) {
  cuda_stream stream = fake_stream_of(given);
  if (!stream)
    return FAKE_INVALID_CONTEXT;
  if (stream->capture) {
    stream->capture->invalid = true;
    return FAKE_CAPTURE_UNSUPPORTED;
  }
  fake_let_run(stream);
  while (stream->head || stream->busy)
    fake_wait();
  return 0;
}

static cuda_result check_memory(const void *on_device, size_t bytes, const char *what) {
  if (fake_device() < 0)
    return FAKE_INVALID_CONTEXT;
  return !bytes || fake_owns(fake_device(), on_device, bytes, what) ? 0 : FAKE_INVALID_VALUE;
}

/* A copy from pageable memory, which has been read already. */
typedef struct staged_copy {
  void *to;
  size_t bytes;
  char from[];
} staged_copy;

static void run_staged(void *data) {
  const staged_copy *copy = data;
  memcpy(copy->to, copy->from, copy->bytes);
}

/* With the lock held. */
static cuda_result enqueue_staged(cuda_stream given, void *to, const void *from, size_t bytes,
                                  const char *what) {
  cuda_result result = check_memory(to, bytes, what);
  cuda_stream stream = fake_stream_of(given);
  if (result || !stream)
    return result ? result : FAKE_INVALID_CONTEXT;
  if (stream->capture) {
    stream->capture->invalid = true;
    return FAKE_CAPTURE_UNSUPPORTED;
  }
  staged_copy *copy = malloc(sizeof *copy + bytes);
  if (!copy)
    abort();
  *copy = (staged_copy){.to = to, .bytes = bytes};
  memcpy(copy->from, from, bytes);
  fake_enqueue(stream, run_staged, free, copy);
  return 0;
}

/* Copies after everything in a stream, and waits for it, with the lock held. */
static cuda_result copy_to_host(void *to, const void *from, size_t bytes, cuda_stream stream,
                                const char *what) {
  cuda_result result = finish(stream);
  if (!result)
    result = check_memory(from, bytes, what);
  if (!result)
    memcpy(to, from, bytes);
  return result;
}

/* The real driver waits for earlier work of the default stream and may return before the device has
 * written, and streams that were created with CU_STREAM_NON_BLOCKING do not wait for the default
 * stream. So the copy is always late here: it stays in the default stream. */
cuda_result user_upload(cuda_address to, const void *from, size_t bytes) {
  fake_enter();
  cuda_result result = fake_unsafe();
  if (!result)
    result = finish(NULL);
  if (!result)
    result = enqueue_staged(NULL, (void *)(uintptr_t)to, from, bytes, "cuMemcpyHtoD");
  if (!result)
    fake_stream_of(NULL)->holds = true;
  return fake_leave(result);
}

cuda_result user_download(void *to, cuda_address from, size_t bytes) {
  const void *at = (const void *)(uintptr_t)from;
  fake_enter();
  cuda_result result = fake_unsafe();
  return fake_leave(result ? result : copy_to_host(to, at, bytes, NULL, "cuMemcpyDtoH"));
}

cuda_result user_stream_synchronize(cuda_stream stream) {
  fake_enter();
  cuda_result result = fake_unsafe();
  return fake_leave(result ? result : finish(stream));
}

/* Functions that programs use. Copies from pageable memory have been read when they return, copies
 * to it are complete. */
cuda_result user_to_host(void *to, cuda_address from, size_t bytes, cuda_stream stream) {
  const void *at = (const void *)(uintptr_t)from;
  fake_enter();
  return fake_leave(copy_to_host(to, at, bytes, stream, "cuMemcpyDtoHAsync"));
}

cuda_result user_from_host(cuda_address to, const void *from, size_t bytes, cuda_stream stream) {
  void *at = (void *)(uintptr_t)to;
  fake_enter();
  return fake_leave(enqueue_staged(stream, at, from, bytes, "cuMemcpyHtoDAsync"));
}

cuda_result user_can_reach(int *reaches, int device, int peer) {
  *reaches = device != peer && !fake_now.no_peers;
  return 0;
}

/* Reports if access is enabled already. */
cuda_result user_reach(cuda_context peer, unsigned flags) {
  (void)peer;
  return flags ? FAKE_INVALID_VALUE : CUDA_RESULT_PEER_ACCESS_ALREADY_ENABLED;
}

/* Ranks that are processes have separate memory, except for transfers by NCCL. */
cuda_result user_handle_of(cuda_ipc_handle *handle, cuda_address memory) {
  (void)handle, (void)memory;
  return NOT_SUPPORTED;
}

cuda_result user_open(cuda_address *memory, cuda_ipc_handle handle, unsigned flags) {
  (void)memory, (void)handle, (void)flags;
  return NOT_SUPPORTED;
}

cuda_result user_close(cuda_address memory) {
  (void)memory;
  return FAKE_INVALID_VALUE;
}

cuda_result user_host_call(cuda_stream stream, host_fn *fn, void *data) {
  fake_enter();
  stream = fake_stream_of(stream);
  if (stream && fn)
    fake_enqueue(stream, fn, NULL, data);
  return fake_leave(stream && fn ? 0 : FAKE_INVALID_VALUE);
}

/* ---- Graphs ---- */

cuda_result user_capture_begin(cuda_stream stream, int mode) {
  fake_enter();
  if (!stream || stream->capture || mode < FAKE_CAPTURE_GLOBAL || mode > FAKE_CAPTURE_RELAXED)
    return fake_leave(FAKE_INVALID_VALUE);
  fake_capture_begin(stream, mode);
  return fake_leave(0);
}

cuda_result user_capture_end(cuda_stream stream, fake_graph **graph) {
  struct fake_task *tasks;
  fake_enter();
  *graph = NULL;
  if (!stream || !stream->capture || stream->capture->first != stream)
    return fake_leave(FAKE_INVALID_VALUE);
  cuda_result result = fake_capture_end(stream, &tasks);
  if (result)
    return fake_leave(result);
  fake_graph *made = calloc(1, sizeof *made);
  *made = (fake_graph){.references = 1, .tasks = tasks};
  *graph = made;
  return fake_leave(0);
}

cuda_result user_instantiate(fake_graph **program, fake_graph *graph, unsigned long long flags) {
  fake_enter();
  if (flags || graph->references > 1)
    return fake_leave(NOT_SUPPORTED);
  graph->references++;
  *program = graph;
  return fake_leave(0);
}

static void run_graph(void *data) { fake_run_tasks(((fake_graph *)data)->tasks); }

/* With the lock held. */
static void unlink_graph(void *data) {
  fake_graph *graph = data;
  if (--graph->references)
    return;
  fake_free_tasks(graph->tasks);
  free(graph);
}

cuda_result user_replay(fake_graph *program, cuda_stream stream) {
  fake_enter();
  stream = fake_stream_of(stream);
  if (!stream)
    return fake_leave(FAKE_INVALID_CONTEXT);
  program->references++;
  fake_enqueue(stream, run_graph, unlink_graph, program);
  return fake_leave(0);
}

cuda_result user_program_destroy(fake_graph *program) {
  fake_enter();
  unlink_graph(program);
  return fake_leave(0);
}

cuda_result user_graph_destroy(fake_graph *graph) {
  fake_enter();
  unlink_graph(graph);
  return fake_leave(0);
}
