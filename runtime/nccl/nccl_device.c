/* The driver's functions for streams, events and memory. */
#include "nccl/nccl_device.h"

#include "env.h"

#include <pthread.h>
#include <string.h>

static device_calls loaded;

static const struct {
  const char *name;
  void *slot; /* a function pointer */
} symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &loaded.member},
    DEVICE_CALLS(ROW)
#undef ROW
};

static tprt_status resolve(void) {
  tprt_status status = tprt__cuda_load(&loaded.driver);
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols && !status; i++)
    status = tprt__cuda_symbol(symbols[i].name, symbols[i].slot);
  return status;
}

tprt_status tprt__device_load(const device_calls **device) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool done;
  pthread_mutex_lock(&lock);
  tprt_status status = done ? TPRT_OK : resolve();
  done = !status;
  pthread_mutex_unlock(&lock);
  *device = &loaded;
  return status;
}

tprt_status tprt__device_check(const device_calls *device, cuda_result result, const char *what) {
  tprt_status status = tprt__cuda_check(device->driver, result, what);
  return result == DEVICE_OUT_OF_MEMORY ? tprt__fail(TPRT_NO_MEMORY, "%s", tprt_last_error()) : status;
}

tprt_status tprt__device_choose(const device_calls *device, int host_rank, int *ordinal) {
  device_context current = NULL;
  int n_devices = 0;
  int64_t chosen;
  tprt_status status = tprt__env_number(TPRT__ENV_DEVICE, -1, &chosen);
  if (!status)
    status = tprt__device_check(device, device->driver->device_count(&n_devices), "number of devices");
  if (!status && chosen < 0)
    status = tprt__device_check(device, device->context_current(&current), "the current device");
  if (status)
    return status;
  int of_current = 0;
  if (current) {
    status = tprt__device_check(device, device->context_device(&of_current), "the current device");
    chosen = of_current;
  } else if (chosen < 0) {
    chosen = host_rank < 0 ? 0 : host_rank;
  }
  if (!status && chosen >= n_devices)
    status = tprt__fail(TPRT_UNSUPPORTED,
                        "this rank needs device %lld; there are %d (TPRT_DEVICE chooses; several ranks on one "
                        "device are virtual ranks: backend loopback)",
                        (long long)chosen, n_devices);
  *ordinal = (int)chosen;
  return status;
}
