/* The second stream of a GPU, on which asynchronous collectives run. Events order the two streams
 * on the GPU, without waits on the host. */
#include "cuda/gpu/gpu_inside.h"

/* Creates the stream and its event. The GPU's context is current. */
static tprt_status make(tprt__gpu *gpu) {
  tprt_status status = TPRT_OK;
  if (!gpu->side_stream)
    status = tprt__gpu_check(
        gpu, gpu->device->stream_create(&gpu->side_stream, CUDA_STREAM_NON_BLOCKING), "a stream");
  if (!status && !gpu->fork_event)
    status = tprt__gpu_check(
        gpu, gpu->device->event_create(&gpu->fork_event, CUDA_EVENT_DISABLE_TIMING), "an event");
  return status;
}

/* A wait refers to the recording that was the latest when the wait was enqueued. */
tprt_status tprt__gpu_order(tprt__gpu *gpu, cuda_event event, cuda_stream from, cuda_stream to) {
  tprt_status status = tprt__gpu_check(gpu, gpu->device->event_record(event, from), "an event");
  return status
             ? status
             : tprt__gpu_check(gpu, gpu->device->stream_wait(to, event, 0), "waiting for an event");
}

tprt_status tprt__gpu_fork(tprt__gpu *gpu, void **stream) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = make(gpu);
  if (!status)
    status = tprt__gpu_order(gpu, gpu->fork_event, gpu->stream, gpu->side_stream);
  tprt__gpu_leave(gpu);
  if (!status)
    *stream = gpu->side_stream;
  return status;
}

tprt_status tprt__gpu_mark(tprt__gpu *gpu, tprt__gpu_event **mark) {
  cuda_event event = (cuda_event)*mark;
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  if (!event)
    status = tprt__gpu_check(gpu, gpu->device->event_create(&event, CUDA_EVENT_DISABLE_TIMING),
                             "an event");
  if (!status) {
    *mark = (tprt__gpu_event *)event;
    status = tprt__gpu_check(gpu, gpu->device->event_record(event, gpu->side_stream), "an event");
  }
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_await(tprt__gpu *gpu, const tprt__gpu_event *mark) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status =
      tprt__gpu_check(gpu, gpu->device->stream_wait(gpu->stream, (cuda_event)(uintptr_t)mark, 0),
                      "waiting for an event");
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_await_all(tprt__gpu *gpu) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt__gpu_order(gpu, gpu->fork_event, gpu->side_stream, gpu->stream);
  tprt__gpu_leave(gpu);
  return status;
}

void tprt__gpu_mark_free(const tprt__gpu *gpu, tprt__gpu_event *mark) {
  if (!mark || tprt__gpu_enter(gpu))
    return;
  gpu->device->event_destroy((cuda_event)mark);
  tprt__gpu_leave(gpu);
}

void tprt__gpu_side_stream_end(tprt__gpu *gpu) {
  if (gpu->side_stream) {
    gpu->calls->stream_synchronize(gpu->side_stream); /* for work left by a program that failed */
    gpu->device->stream_destroy(gpu->side_stream);
  }
  if (gpu->fork_event)
    gpu->device->event_destroy(gpu->fork_event);
}
