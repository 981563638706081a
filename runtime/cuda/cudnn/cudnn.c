/* Loads cuDNN and translates its errors. */
#define _GNU_SOURCE 1
#include "cuda/cudnn/cudnn.h"

#include "base/env.h"

#include <dlfcn.h>

/* 9.10.0 and 9.10.1 compute some attentions wrong, and older versions lack kernels for some. */
enum { OLDEST = 91002 };

static tprt__cudnn loaded;

static tprt_status resolve(void *library, const char *path) {
#define ROW(member, symbol, parameters) {symbol, &loaded.member},
  static const tprt__symbol symbols[] = {{"cudnnGetErrorString", &loaded.text},
                                         {"cudnnGetLastErrorString", &loaded.reason},
                                         {"cudnnGetVersion", &loaded.version},
                                         DNN_CALLS(ROW){NULL, NULL}};
#undef ROW
  const char *missing = tprt__symbols_find(library, symbols);
  if (missing)
    return tprt__fail(TPRT_UNSUPPORTED, "cuDNN: %s has no %s; 9.10.2 or newer is needed", path,
                      missing);
  size_t version = loaded.version();
  return version >= OLDEST
             ? TPRT_OK
             : tprt__fail(TPRT_UNSUPPORTED, "cuDNN: %s has version %zu; 91002 or newer is needed",
                          path, version);
}

static tprt_status load(void) {
  const char *path = tprt__env_text(TPRT__ENV_CUDNN_LIBRARY);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return tprt__fail(TPRT_UNSUPPORTED, "cuDNN: %s", dlerror());
  tprt_status status = resolve(library, path);
  if (status)
    dlclose(library);
  return status;
}

tprt_status tprt__cudnn_load(const tprt__cudnn **cudnn) {
  static tprt__once once = TPRT__ONCE;
  tprt_status status = tprt__load_once(&once, load);
  *cudnn = status ? NULL : &loaded;
  return status;
}

tprt_status tprt__cudnn_check(const tprt__cudnn *cudnn, cudnn_status status, const char *what) {
  char reason[256] = "";
  if (status == DNN_SUCCESS)
    return TPRT_OK;
  cudnn->reason(reason, sizeof reason);
  tprt_status is = status / 1000 * 1000 == DNN_NOT_SUPPORTED ? TPRT_UNSUPPORTED
                   : status == DNN_NO_DEVICE_MEMORY          ? TPRT_NO_MEMORY
                                                             : TPRT_DEVICE;
  return tprt__fail(is, "cuDNN: %s: %s (%d)%s%s", what, cudnn->text(status), status,
                    *reason ? ": " : "", reason);
}
