/* Times work of a stream with events. */
#include "cuda/driver/stopwatch.h"

enum { TURNS = 5 };

/* X(member, symbol, parameters) */
#define CUDA_TIME_CALLS(X)                                                                         \
  X(event_wait, "cuEventSynchronize", (cuda_event event))                                          \
  X(event_elapsed, "cuEventElapsedTime", (float *ms, cuda_event from, cuda_event to))

static struct {
  const tprt__cuda *driver;
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  CUDA_TIME_CALLS(MEMBER)
#undef MEMBER
} calls;

static tprt_status load(void) {
  static const tprt__symbol symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &calls.member},
      CUDA_TIME_CALLS(ROW)
#undef ROW
          {NULL, NULL}};
  return tprt__cuda_find(&calls.driver, symbols);
}

typedef struct watch {
  const cuda_device_calls *device;
  cuda_stream stream;
  cuda_event begin, end;
} watch;

static tprt_status begin_watch(watch *w) {
  tprt_status status =
      tprt__device_check(w->device, w->device->event_create(&w->begin, 0), "an event");
  return status ? status
                : tprt__device_check(w->device, w->device->event_create(&w->end, 0), "an event");
}

static void end_watch(const watch *w) {
  if (w->begin)
    w->device->event_destroy(w->begin);
  if (w->end)
    w->device->event_destroy(w->end);
}

static tprt_status time_turn(const watch *w, tprt__timed_fn *call, void *data, bool *refused,
                             float *ms) {
  tprt_status status =
      tprt__device_check(w->device, w->device->event_record(w->begin, w->stream), "an event");
  *refused = !status && call(data);
  if (!status)
    status = tprt__device_check(w->device, w->device->event_record(w->end, w->stream), "an event");
  if (!status)
    status = tprt__device_check(w->device, calls.event_wait(w->end), "timed work");
  return status ? status
                : tprt__device_check(w->device, calls.event_elapsed(ms, w->begin, w->end),
                                     "the time of work");
}

tprt_status tprt__device_time(const cuda_device_calls *device, cuda_stream stream,
                              tprt__timed_fn *call, void *data, double *us) {
  static tprt__once once = TPRT__ONCE;
  watch w = {.device = device, .stream = stream};
  bool refused = false;
  float ms = 0, least = 0;
  tprt_status status = tprt__load_once(&once, load);
  if (!status)
    status = begin_watch(&w);
  for (int turn = 0; turn <= TURNS && !status && !refused; turn++) {
    status = time_turn(&w, call, data, &refused, &ms);
    least = turn <= 1 || ms < least ? ms : least;
  }
  end_watch(&w);
  if (!status)
    *us = refused ? 0 : least > 0 ? 1e3 * (double)least : 1e-3;
  return status;
}
