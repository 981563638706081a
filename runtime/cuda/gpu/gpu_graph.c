/* Captures the work of ranks in a CUDA graph, and launches it repeatedly. Ranks whose streams wait
 * for each other share a graph. It begins and ends in the stream of the first of them: a stream
 * that waits for captured work is captured too. */
#define _GNU_SOURCE 1
#include "cuda/gpu/gpu_inside.h"

#include <time.h>

typedef struct CUgraph_st *cuda_graph;
typedef struct CUgraphExec_st *cuda_executable;

/* X(member, symbol, parameters) */
#define GRAPH_CALLS(X)                                                                             \
  X(capture_begin, "cuStreamBeginCapture_v2", (cuda_stream stream, int mode))                      \
  X(capture_end, "cuStreamEndCapture", (cuda_stream stream, cuda_graph * graph))                   \
  X(instantiate, "cuGraphInstantiateWithFlags",                                                    \
    (cuda_executable * executable, cuda_graph graph, unsigned long long flags))                    \
  X(graph_launch, "cuGraphLaunch", (cuda_executable executable, cuda_stream stream))               \
  X(graph_destroy, "cuGraphDestroy", (cuda_graph graph))                                           \
  X(executable_destroy, "cuGraphExecDestroy", (cuda_executable executable))

static struct {
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  GRAPH_CALLS(MEMBER)
#undef MEMBER
} calls;

struct tprt__gpu_graph {
  cuda_executable executable;
};

static tprt_status load_graph_calls(void) {
  static const tprt__cuda *driver;
  static const tprt__symbol symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &calls.member},
      GRAPH_CALLS(ROW)
#undef ROW
          {NULL, NULL}};
  return tprt__cuda_find(&driver, symbols);
}

tprt_status tprt__gpu_graphs_load(void) {
  static tprt__once once = TPRT__ONCE;
  return tprt__load_once(&once, load_graph_calls);
}

/* Makes later work of the other streams wait for the current work of the first one. */
static tprt_status follow_first(tprt__gpu *const *gpus, int n) {
  tprt_status status = TPRT_OK;
  for (int i = 1; i < n && !status; i++)
    status = tprt__gpu_follow((tprt__gpu_queue){gpus[i], gpus[i]->stream},
                              (tprt__gpu_queue){gpus[0], gpus[0]->stream});
  return status;
}

static tprt_status lead_first(tprt__gpu *const *gpus, int n) {
  tprt_status status = TPRT_OK;
  for (int i = 1; i < n && !status; i++)
    status = tprt__gpu_follow((tprt__gpu_queue){gpus[0], gpus[0]->stream},
                              (tprt__gpu_queue){gpus[i], gpus[i]->stream});
  return status;
}

void tprt__gpu_capture_abandon(tprt__gpu *gpu, int64_t timeout_ns) {
  enum { NAP_NS = 50000 };
  const struct timespec nap = {.tv_nsec = NAP_NS};
  int64_t end = tprt__deadline(timeout_ns);
  int capturing = CUDA_CAPTURE_NONE;
  cuda_graph graph = NULL;
  if (tprt__gpu_enter(gpu))
    return;
  if (!calls.capture_end(gpu->stream, &graph) && graph)
    calls.graph_destroy(graph);
  /* if it began on another stream, its rank ends it, maybe later */
  while (!gpu->device->stream_capturing(gpu->stream, &capturing) &&
         capturing != CUDA_CAPTURE_NONE && tprt__now() < end)
    nanosleep(&nap, NULL);
  tprt__gpu_leave(gpu);
}

tprt_status tprt__gpu_capture_begin(tprt__gpu *const *gpus, int n) {
  tprt__gpu *first = gpus[0];
  tprt_status status = tprt__gpu_enter(first);
  if (status)
    return status;
  status = tprt__gpu_check(first, calls.capture_begin(first->stream, CUDA_CAPTURE_RELAXED),
                           "beginning a capture");
  tprt__gpu_leave(first);
  if (status)
    return status;
  status = follow_first(gpus, n);
  if (status)
    tprt__gpu_capture_abandon(first, 0);
  return status;
}

/* Ends the capture and instantiates the graph. Called in the context of the first GPU. */
static tprt_status finish(tprt__gpu *first, tprt__gpu_graph *made) {
  cuda_graph graph = NULL;
  tprt_status status =
      tprt__gpu_check(first, calls.capture_end(first->stream, &graph), "ending a capture");
  if (status)
    return status;
  status = tprt__gpu_check(first, calls.instantiate(&made->executable, graph, 0),
                           "instantiating a graph");
  calls.graph_destroy(graph);
  return status;
}

tprt_status tprt__gpu_capture_end(tprt__gpu *const *gpus, int n, tprt__gpu_graph **result) {
  tprt__gpu *first = gpus[0];
  tprt__gpu_graph *made = tprt__alloc(sizeof *made);
  tprt_status status = made ? lead_first(gpus, n) : tprt__fail_memory(sizeof *made);
  if (!status)
    status = tprt__gpu_enter(first);
  if (status) {
    tprt__free(made);
    return status;
  }
  status = finish(first, made);
  tprt__gpu_leave(first);
  if (status)
    tprt__free(made);
  else
    *result = made;
  return status;
}

tprt_status tprt__gpu_graph_launch(tprt__gpu *const *gpus, int n, const tprt__gpu_graph *graph) {
  tprt__gpu *first = gpus[0];
  tprt_status status = lead_first(gpus, n);
  if (!status)
    status = tprt__gpu_enter(first);
  if (status)
    return status;
  status = tprt__gpu_check(first, calls.graph_launch(graph->executable, first->stream),
                           "launching a graph");
  tprt__gpu_leave(first);
  return status ? status : follow_first(gpus, n);
}

void tprt__gpu_graph_free(const tprt__gpu *first, tprt__gpu_graph *graph) {
  if (!graph || tprt__gpu_enter(first))
    return;
  calls.executable_destroy(graph->executable);
  tprt__gpu_leave(first);
  tprt__free(graph);
}
