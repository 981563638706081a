/* A stream for copies. One event suffices: a stream that waits for it waits for the recording that
 * was the latest when the wait was enqueued. */
#include "cuda/gemm/copier.h"

#include "cuda/driver/device.h"

#include <stdint.h>

static cuda_result (*copy_async)(cuda_address to, cuda_address from, size_t bytes,
                                 cuda_stream stream);

struct tprt_cuda_copier {
  const cuda_device_calls *device;
  cuda_stream stream;
  cuda_event event;
};

static tprt_status load(void) {
  static const tprt__symbol symbols[] = {{"cuMemcpyAsync", &copy_async}, {NULL, NULL}};
  const tprt__cuda *driver;
  return tprt__cuda_find(&driver, symbols);
}

static tprt_status check(const tprt_cuda_copier *copier, cuda_result result, const char *what) {
  return tprt__device_check(copier->device, result, what);
}

tprt_status tprt_cuda_copier_create(tprt_cuda_copier **copier) {
  TPRT__NEED(copier);
  static tprt__once once = TPRT__ONCE;
  tprt_cuda_copier made = {0};
  tprt_status status = tprt__load_once(&once, load);
  if (!status)
    status = tprt__device_load(&made.device);
  if (!status)
    status = check(&made, made.device->stream_create(&made.stream, CUDA_STREAM_NON_BLOCKING),
                   "a stream for copies");
  if (status)
    return status;
  status = check(&made, made.device->event_create(&made.event, CUDA_EVENT_DISABLE_TIMING),
                 "an event for copies");
  tprt_cuda_copier *kept = status ? NULL : tprt__alloc(sizeof *kept);
  if (!status && !kept)
    status = tprt__fail_memory(sizeof *kept);
  if (status) {
    if (made.event)
      made.device->event_destroy(made.event);
    made.device->stream_destroy(made.stream);
    return status;
  }
  *kept = made;
  *copier = kept;
  return TPRT_OK;
}

void tprt_cuda_copier_destroy(tprt_cuda_copier *copier) {
  if (!copier)
    return;
  copier->device->event_destroy(copier->event);
  copier->device->stream_destroy(copier->stream);
  tprt__free(copier);
}

/* Makes later work in `to` wait for the current work of `from`. */
static tprt_status order(tprt_cuda_copier *copier, cuda_stream from, cuda_stream to) {
  tprt_status status =
      check(copier, copier->device->event_record(copier->event, from), "an event between streams");
  return status ? status
                : check(copier, copier->device->stream_wait(to, copier->event, 0),
                        "a stream that waits for another");
}

tprt_status tprt__copier_fork(tprt_cuda_copier *copier, tprt_cuda_stream stream) {
  return order(copier, stream, copier->stream);
}

tprt_status tprt__copier_join(tprt_cuda_copier *copier, tprt_cuda_stream stream) {
  return order(copier, copier->stream, stream);
}

static tprt_status copy_run(const tprt_cuda_copier *copier, char *to, const char *from,
                            size_t bytes) {
  return check(copier,
               copy_async(tprt__cuda_address(to), tprt__cuda_address(from), bytes, copier->stream),
               "a copy of rows");
}

/* The maximum pitch of a copy, on all GPUs. */
enum { MAX_PITCH = INT32_MAX };

tprt_status tprt__copier_copy(tprt_cuda_copier *copier, const tprt__copier_runs *r) {
  const cuda_copy_2d copy = {.source_type = CUDA_MEMORY_UNIFIED,
                             .source = tprt__cuda_address(r->from),
                             .source_pitch = r->from_step,
                             .target_type = CUDA_MEMORY_UNIFIED,
                             .target = tprt__cuda_address(r->to),
                             .target_pitch = r->to_step,
                             .width = r->bytes,
                             .height = r->n};
  tprt_status status = TPRT_OK;
  if (r->n > 1 && r->from_step <= MAX_PITCH && r->to_step <= MAX_PITCH)
    return check(copier, copier->device->memory_copy_2d(&copy, copier->stream), "a copy of rows");
  for (size_t i = 0; i < r->n && !status; i++)
    status = copy_run(copier, (char *)r->to + i * r->to_step,
                      (const char *)r->from + i * r->from_step, r->bytes);
  return status;
}

tprt_cuda_stream tprt__copier_stream(const tprt_cuda_copier *copier) { return copier->stream; }
