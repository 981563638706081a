/* What the tests on a GPU ask of the driver, which they load as the library does: they need no toolkit. A call that fails ends the
 * program with its name. */
#ifndef TPRT_TEST_GPU_DEVICE_H
#define TPRT_TEST_GPU_DEVICE_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned long long device_memory;
typedef struct CUstream_st *device_stream;
typedef struct CUevent_st *device_event;
typedef struct CUgraph_st *device_graph;
typedef struct CUgraphExec_st *device_program;
typedef struct CUctx_st *device_context;

/* member, symbol, parameters */
#define DEVICE_CALLS(X)                                                                                                        \
  X(init, "cuInit", (unsigned flags))                                                                                          \
  X(count, "cuDeviceGetCount", (int *n))                                                                                       \
  X(name, "cuDeviceGetName", (char *name, int bytes, int device))                                                              \
  X(version, "cuDriverGetVersion", (int *version))                                                                             \
  X(context_retain, "cuDevicePrimaryCtxRetain", (device_context * context, int device))                                        \
  X(context_set, "cuCtxSetCurrent", (device_context context))                                                                  \
  X(can_reach, "cuDeviceCanAccessPeer", (int *reaches, int device, int peer))                                                  \
  X(reach, "cuCtxEnablePeerAccess", (device_context peer, unsigned flags))                                                     \
  X(allocate, "cuMemAlloc_v2", (device_memory * memory, size_t bytes))                                                         \
  X(release, "cuMemFree_v2", (device_memory memory))                                                                           \
  X(set, "cuMemsetD8_v2", (device_memory to, unsigned char value, size_t bytes))                                               \
  X(upload, "cuMemcpyHtoD_v2", (device_memory to, const void *from, size_t bytes))                                             \
  X(download, "cuMemcpyDtoH_v2", (void *to, device_memory from, size_t bytes))                                                 \
  X(stream_create, "cuStreamCreate", (device_stream * stream, unsigned flags))                                                 \
  X(stream_wait, "cuStreamSynchronize", (device_stream stream))                                                                \
  X(capture_begin, "cuStreamBeginCapture_v2", (device_stream stream, int mode))                                                \
  X(capture_end, "cuStreamEndCapture", (device_stream stream, device_graph * graph))                                           \
  X(instantiate, "cuGraphInstantiateWithFlags", (device_program * program, device_graph graph, unsigned long long flags))      \
  X(replay, "cuGraphLaunch", (device_program program, device_stream stream))                                                   \
  X(program_destroy, "cuGraphExecDestroy", (device_program program))                                                           \
  X(graph_destroy, "cuGraphDestroy", (device_graph graph))                                                                     \
  X(stream_destroy, "cuStreamDestroy_v2", (device_stream stream))                                                              \
  X(host_call, "cuLaunchHostFunc", (device_stream stream, void (*fn)(void *data), void *data))                                 \
  X(event_create, "cuEventCreate", (device_event * event, unsigned flags))                                                     \
  X(event_destroy, "cuEventDestroy_v2", (device_event event))                                                                  \
  X(event_record, "cuEventRecord", (device_event event, device_stream stream))                                                 \
  X(event_wait, "cuEventSynchronize", (device_event event))                                                                    \
  X(event_elapsed, "cuEventElapsedTime", (float *ms, device_event from, device_event to))

typedef struct device_calls {
#define MEMBER(member, symbol, parameters) int(*member) parameters;
  DEVICE_CALLS(MEMBER)
#undef MEMBER
} device_calls;
extern device_calls device;

/* DO(allocate, &memory, bytes). NULL: the driver has it not. */
#define DO(member, ...) device_did(device.member ? device.member(__VA_ARGS__) : DEVICE_NO_FUNCTION, #member)
enum { DEVICE_NO_FUNCTION = -1 };
void device_did(int result, const char *what);

/* Loads the driver (TPRT_CUDA_LIBRARY, or libcuda.so.1) and makes device 0 current. 77 for the exit status, if there is none. */
int device_open(void);

/* Captures what `enqueue` puts on the stream. */
device_program device_capture(device_stream stream, void (*enqueue)(void *user, device_stream stream), void *user);

#endif
