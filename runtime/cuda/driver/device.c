/* Loads the driver's functions for streams, events and memory, and chooses a rank's device. */
#include "cuda/driver/device.h"

#include "base/env.h"

static cuda_device_calls loaded;

static tprt_status load(void) {
  static const tprt__symbol symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &loaded.member},
      CUDA_DEVICE_CALLS(ROW)
#undef ROW
          {NULL, NULL}};
  return tprt__cuda_find(&loaded.driver, symbols);
}

tprt_status tprt__device_load(const cuda_device_calls **device) {
  static tprt__once once = TPRT__ONCE;
  *device = &loaded;
  return tprt__load_once(&once, load);
}

static cuda_priority_calls priority_calls;

static tprt_status load_priority(void) {
  static const tprt__symbol symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &priority_calls.member},
      CUDA_PRIORITY_CALLS(ROW)
#undef ROW
          {NULL, NULL}};
  return tprt__cuda_find(&priority_calls.driver, symbols);
}

tprt_status tprt__priority_load(const cuda_priority_calls **calls) {
  static tprt__once once = TPRT__ONCE;
  *calls = &priority_calls;
  return tprt__load_once(&once, load_priority);
}

tprt_status tprt__device_check(const cuda_device_calls *device, cuda_result result,
                               const char *what) {
  tprt_status status = tprt__cuda_check(device->driver, result, what);
  return result == CUDA_RESULT_OUT_OF_MEMORY ? tprt__fail(TPRT_NO_MEMORY, "%s", tprt_last_error())
                                             : status;
}

/* ---- entering a device ---- */

static _Thread_local struct {
  int depth;
  int capture_mode; /* of the thread before the first entry */
} entered;

cuda_result tprt__device_enter(const cuda_device_calls *device, cuda_context context) {
  cuda_result result = device->context_push(context);
  if (result)
    return result;
  if (entered.depth++ == 0) {
    entered.capture_mode = CUDA_CAPTURE_RELAXED;
    device->capture_mode(&entered.capture_mode);
  }
  return CUDA_RESULT_SUCCESS;
}

void tprt__device_leave(const cuda_device_calls *device) {
  cuda_context unused;
  if (--entered.depth == 0)
    device->capture_mode(&entered.capture_mode);
  device->context_pop(&unused);
}

/* ---- choosing a device ---- */

tprt_status tprt__device_choose(const cuda_device_calls *device, int64_t given, int host_rank,
                                int *ordinal) {
  cuda_context current = NULL;
  int n_devices = 0;
  int64_t chosen = given;
  tprt_status status = given < 0 ? tprt__env_number(TPRT__ENV_DEVICE, -1, &chosen) : TPRT_OK;
  if (!status)
    status =
        tprt__device_check(device, device->driver->device_count(&n_devices), "number of devices");
  if (!status && chosen < 0)
    status = tprt__device_check(device, device->context_current(&current), "the current device");
  if (status)
    return status;
  int of_current = 0;
  if (current) {
    status = tprt__device_check(device, device->context_device(&of_current), "the current device");
    chosen = of_current;
  } else if (chosen < 0) {
    /* a launcher may let each rank see its own device only */
    chosen = host_rank < 0 || n_devices == 1 ? 0 : host_rank;
  }
  if (!status && chosen >= n_devices)
    status = tprt__fail(TPRT_UNSUPPORTED,
                        "this rank needs device %lld; there are %d (select it with the hint "
                        "device or TPRT_DEVICE; "
                        "for several ranks on one device, use backend loopback)",
                        (long long)chosen, n_devices);
  *ordinal = (int)chosen;
  return status;
}
