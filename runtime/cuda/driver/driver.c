/* Loads the CUDA driver and looks up its functions. */
#define _GNU_SOURCE 1
#include "cuda/driver/driver.h"

#include "base/env.h"
#include "tprt/cuda.h"

#include <dlfcn.h>

static tprt__cuda loaded;
static void *loaded_library;

static tprt_status find(void *library, const char *path, const tprt__symbol *symbols) {
  const char *missing = tprt__symbols_find(library, symbols);
  return missing ? tprt__fail(TPRT_UNSUPPORTED,
                              "CUDA: %s has no %s; a driver of CUDA 11 or newer is needed", path,
                              missing)
                 : TPRT_OK;
}

tprt_status tprt__cuda_check(const tprt__cuda *driver, cuda_result result, const char *what) {
  if (result == CUDA_RESULT_SUCCESS)
    return TPRT_OK;
  const char *name = NULL;
  driver->error_name(result, &name);
  return tprt__fail(TPRT_DEVICE, "CUDA: %s: %s (%d)", what, name ? name : "unknown error", result);
}

static tprt_status start(const char *path) {
  cuda_result result = loaded.init(0);
  int n = 0;
  if (result == CUDA_RESULT_SUCCESS)
    result = loaded.device_count(&n);
  if (result == CUDA_RESULT_NO_DEVICE || (result == CUDA_RESULT_SUCCESS && n == 0))
    return tprt__fail(TPRT_UNSUPPORTED, "CUDA: %s sees no device", path);
  return tprt__cuda_check(&loaded, result, "start of the driver");
}

static tprt_status load(void) {
  static const tprt__symbol symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &loaded.member},
      TPRT_CUDA_CALLS(ROW)
#undef ROW
          {NULL, NULL}};
  const char *path = tprt__env_text(TPRT__ENV_CUDA_LIBRARY);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  tprt_status status =
      library ? find(library, path, symbols)
              : tprt__fail(TPRT_UNSUPPORTED,
                           "CUDA: %s; it belongs to NVIDIA's driver, and a machine without GPU has "
                           "none",
                           dlerror());
  if (!status)
    status = start(path);
  if (status && library)
    dlclose(library);
  loaded_library = library;
  return status;
}

tprt_status tprt__cuda_load(const tprt__cuda **driver) {
  static tprt__once once = TPRT__ONCE;
  tprt_status status = tprt__load_once(&once, load);
  *driver = status ? NULL : &loaded;
  return status;
}

tprt_status tprt__cuda_find(const tprt__cuda **driver, const tprt__symbol *symbols) {
  tprt_status status = tprt__cuda_load(driver);
  return status ? status : find(loaded_library, tprt__env_text(TPRT__ENV_CUDA_LIBRARY), symbols);
}

tprt_status tprt_cuda_probe(tprt_cuda_info *info) {
  TPRT__NEED(info);
  const tprt__cuda *driver;
  tprt_status status = tprt__cuda_load(&driver);
  if (status)
    return status;
  tprt_cuda_info found = {0};
  status = tprt__cuda_check(driver, driver->driver_version(&found.driver_version), "its version");
  if (!status)
    status = tprt__cuda_check(driver, driver->device_count(&found.n_devices), "number of devices");
  if (!status)
    *info = found;
  return status;
}
