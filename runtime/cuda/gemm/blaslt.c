/* Loads cuBLASLt and translates its errors. */
#define _GNU_SOURCE 1
#include "cuda/gemm/blaslt.h"

#include "base/env.h"

#include <dlfcn.h>

static tprt__blaslt loaded;

static tprt_status resolve(void *library, const char *path) {
#define ROW(member, symbol, parameters) {symbol, &loaded.member},
  static const tprt__symbol symbols[] = {{"cublasLtGetStatusString", &loaded.text},
                                         {"cublasLtGetVersion", &loaded.version},
                                         BLASLT_CALLS(ROW){NULL, NULL}};
#undef ROW
  const char *missing = tprt__symbols_find(library, symbols);
  return missing ? tprt__fail(TPRT_UNSUPPORTED,
                              "cuBLASLt: %s has no %s; that of CUDA 11.4 or newer is needed", path,
                              missing)
                 : TPRT_OK;
}

static tprt_status load(void) {
  static const char *const by_version[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                           "libcublasLt.so.11"};
  const char *path = tprt__env_text(TPRT__ENV_BLASLT_LIBRARY);
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  for (size_t i = 0; i < sizeof by_version / sizeof *by_version && !path && !library; i++)
    library = dlopen(by_version[i], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return tprt__fail(TPRT_UNSUPPORTED, "cuBLASLt: %s", dlerror());
  tprt_status status = resolve(library, path ? path : "the library");
  if (status)
    dlclose(library);
  return status;
}

tprt_status tprt__blaslt_load(const tprt__blaslt **blaslt) {
  static tprt__once once = TPRT__ONCE;
  tprt_status status = tprt__load_once(&once, load);
  *blaslt = status ? NULL : &loaded;
  return status;
}

tprt_status tprt__blaslt_check(blaslt_status status, const char *what) {
  if (status == BLASLT_SUCCESS)
    return TPRT_OK;
  return tprt__fail(TPRT_DEVICE, "cuBLASLt: %s: %s (%d)", what, loaded.text(status), status);
}
