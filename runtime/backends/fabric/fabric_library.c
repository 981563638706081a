/* Loads libfabric. */
#include "backends/fabric/fabric_endpoint.h"

#include "base/library.h"

#include <dlfcn.h>

static fabric_library loaded;

static const tprt__symbol symbols[] = {
    {"fi_getinfo", &loaded.get_info},    {"fi_freeinfo", &loaded.free_info},
    {"fi_dupinfo", &loaded.copy_info},   {"fi_fabric", &loaded.open_fabric},
    {"fi_strerror", &loaded.error_text}, {NULL, NULL},
};

/* The library is never unloaded: its providers may have threads. */
static tprt_status load(void) {
  const char *path = tprt__env_text(TPRT__ENV_FABRIC_LIBRARY);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "backend fabric: libfabric was not found: %s; install it (Debian: "
                      "libfabric1), or use backend tcp",
                      dlerror());
  const char *missing = tprt__symbols_find(library, symbols);
  return missing ? tprt__fail(TPRT_UNSUPPORTED, "backend fabric: %s has no %s", path, missing)
                 : TPRT_OK;
}

tprt_status tprt__fabric_load(void) {
  static tprt__once once = TPRT__ONCE;
  return tprt__load_once(&once, load);
}

const fabric_library *tprt__fabric_library(void) { return &loaded; }

tprt_status tprt__fabric_fail(const char *what, long code) {
  return tprt__fail(code == -FI_ENOMEM ? TPRT_NO_MEMORY : TPRT_SYSTEM, "backend fabric: %s: %s",
                    what, loaded.error_text((int)-code));
}
