/* Driver functions for the tests on a GPU. The tests load the driver like the library does, so they
 * need no toolkit. If a call fails, the program ends with the name of the call. */
#ifndef TPRT_TEST_HARNESS_DEVICE_H
#define TPRT_TEST_HARNESS_DEVICE_H

#include "cuda/driver/driver.h"
#include "tprt/tprt.h"

typedef struct CUgraph_st *cuda_graph;
typedef struct CUgraphExec_st *cuda_program;

/* member, symbol, parameters */
#define DEVICE_CALLS(X)                                                                            \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(count, "cuDeviceGetCount", (int *n))                                                           \
  X(name, "cuDeviceGetName", (char *name, int bytes, int device))                                  \
  X(version, "cuDriverGetVersion", (int *version))                                                 \
  X(context_retain, "cuDevicePrimaryCtxRetain", (cuda_context * context, int device))              \
  X(context_set, "cuCtxSetCurrent", (cuda_context context))                                        \
  X(can_reach, "cuDeviceCanAccessPeer", (int *reaches, int device, int peer))                      \
  X(reach, "cuCtxEnablePeerAccess", (cuda_context peer, unsigned flags))                           \
  X(allocate, "cuMemAlloc_v2", (cuda_address * memory, size_t bytes))                              \
  X(release, "cuMemFree_v2", (cuda_address memory))                                                \
  X(set, "cuMemsetD8_v2", (cuda_address to, unsigned char value, size_t bytes))                    \
  X(upload, "cuMemcpyHtoD_v2", (cuda_address to, const void *from, size_t bytes))                  \
  X(download, "cuMemcpyDtoH_v2", (void *to, cuda_address from, size_t bytes))                      \
  X(stream_create, "cuStreamCreate", (cuda_stream * stream, unsigned flags))                       \
  X(stream_wait, "cuStreamSynchronize", (cuda_stream stream))                                      \
  X(capture_begin, "cuStreamBeginCapture_v2", (cuda_stream stream, int mode))                      \
  X(capture_end, "cuStreamEndCapture", (cuda_stream stream, cuda_graph * graph))                   \
  X(instantiate, "cuGraphInstantiateWithFlags",                                                    \
    (cuda_program * program, cuda_graph graph, unsigned long long flags))                          \
  X(replay, "cuGraphLaunch", (cuda_program program, cuda_stream stream))                           \
  X(program_destroy, "cuGraphExecDestroy", (cuda_program program))                                 \
  X(graph_destroy, "cuGraphDestroy", (cuda_graph graph))                                           \
  X(stream_destroy, "cuStreamDestroy_v2", (cuda_stream stream))                                    \
  X(host_call, "cuLaunchHostFunc", (cuda_stream stream, void (*fn)(void *data), void *data))       \
  X(event_create, "cuEventCreate", (cuda_event * event, unsigned flags))                           \
  X(event_destroy, "cuEventDestroy_v2", (cuda_event event))                                        \
  X(event_record, "cuEventRecord", (cuda_event event, cuda_stream stream))                         \
  X(event_wait, "cuEventSynchronize", (cuda_event event))                                          \
  X(event_elapsed, "cuEventElapsedTime", (float *ms, cuda_event from, cuda_event to))

typedef struct device_calls {
#define MEMBER(member, symbol, parameters) int(*member) parameters;
  DEVICE_CALLS(MEMBER)
#undef MEMBER
} device_calls;
extern device_calls device;

/* DO(allocate, &memory, bytes). NULL: the driver lacks the function. */
#define DO(member, ...)                                                                            \
  device_did(device.member ? device.member(__VA_ARGS__) : DEVICE_NO_FUNCTION, #member)
enum { DEVICE_NO_FUNCTION = -1 };
void device_did(int result, const char *what);
/* Ends the program with the last error of the library, unless a call of it succeeded. */
void device_need(tprt_status status);

/* Loads the driver (TPRT_CUDA_LIBRARY, or libcuda.so.1) and makes device 0 current. Returns 0, or
 * the exit status 77 if there is no driver or device. */
int device_open(void);

/* Set or copy, and wait until the GPU has done it: cuMemsetD8 and cuMemcpyHtoD may return before,
 * and streams that are created as non-blocking do not wait for them. */
void device_set(cuda_address to, unsigned char value, size_t bytes);
void device_upload(cuda_address to, const void *from, size_t bytes);

/* Captures the work that `enqueue` puts on the stream. */
cuda_program device_capture(cuda_stream stream, void (*enqueue)(void *user, cuda_stream stream),
                            void *user);

#endif
