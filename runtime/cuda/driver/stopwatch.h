/* Times work of a stream with events. */
#ifndef TPRT_RUNTIME_CUDA_STOPWATCH_H
#define TPRT_RUNTIME_CUDA_STOPWATCH_H

#include "cuda/driver/device.h"

/* Something is taken in place of an earlier choice if its time is below this part of the other's:
 * smaller differences are noise. */
static const double TPRT__TAKEN_PART = 0.98;

/* Enqueues the work that is timed. After a failure nothing was enqueued. */
typedef tprt_status tprt__timed_fn(void *data);

/* Times a call: the least of five turns, after one that is not timed. *us: 0 if the call fails.
 * Waits for the stream, which must not be captured. */
tprt_status tprt__device_time(const cuda_device_calls *device, cuda_stream stream,
                              tprt__timed_fn *call, void *data, double *us);

#endif
