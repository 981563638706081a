/* Finds NCCL, checks its version and translates its errors. */
#define _GNU_SOURCE 1
#include "backends/nccl/nccl_library.h"

#include "base/env.h"
#include "tprt/nccl.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>

static nccl_library loaded;
#define ROW(member, symbol, parameters) {symbol, &loaded.member},
static const tprt__symbol required[] = {{"ncclGetErrorString", &loaded.error_text},
                                        {"ncclGetLastError", &loaded.last_error},
                                        NCCL_CALLS(ROW){NULL, NULL}};
static const tprt__symbol later[] = {NCCL_LATER_CALLS(ROW){NULL, NULL}};
#undef ROW

/* The only table of features: the version that introduced each feature which this backend uses or
 * refuses. */
static const struct {
  int since;
  const char *name, *help;
} features[] = {
    {NCCL_MIN_VERSION, "core",
     "collectives, transfers, premul_sum, non-blocking communicators, splitting of communicators"},
    {NCCL_SINCE_MEMORY, "registered memory",
     "tprt_mem_alloc and tprt_mem_register: buffers that NCCL moves without staging copies"},
    {NCCL_SINCE_F8, "f8", "reductions of f8e4m3 and f8e5m2 by NCCL, with TPRT_NCCL_RELAXED"},
    {NCCL_SINCE_TRAFFIC_CLASS, "traffic class", "the hint traffic_class"},
    {NCCL_SINCE_WINDOWS, "windows",
     "tprt_mem_register_all: memory that NCCL kernels access directly on peers; names of "
     "communicators in NCCL's logs"},
    {NCCL_SINCE_PIECES, "pieces",
     "native all_to_all, gather and scatter; in older versions they are sends and receives"},
};
enum { N_FEATURES = sizeof features / sizeof *features };

const char *tprt_nccl_feature_name(size_t i, int *since, const char **help) {
  if (i >= N_FEATURES)
    return NULL;
  if (since)
    *since = features[i].since;
  if (help)
    *help = features[i].help;
  return features[i].name;
}

static int or_unset(int64_t hint) { return hint == TPRT__UNSET ? INT_MIN : (int)hint; }

nccl_config tprt__nccl_config(const nccl_library *library, const tprt__comm_settings *settings) {
  nccl_config config = {.size = offsetof(nccl_config, traffic_class),
                        .magic = 0xcafebeef,
                        .version = NCCL_MIN_VERSION,
                        .cga_cluster_size = INT_MIN,
                        .min_ctas = or_unset(settings->hints[TPRT__HINT_MIN_CTAS]),
                        .max_ctas = or_unset(settings->hints[TPRT__HINT_MAX_CTAS]),
                        .split_share = INT_MIN,
                        .traffic_class = or_unset(settings->hints[TPRT__HINT_TRAFFIC_CLASS])};
  if (tprt__nccl_since(library, NCCL_SINCE_TRAFFIC_CLASS)) {
    config.size = offsetof(nccl_config, comm_name);
    config.version = NCCL_SINCE_TRAFFIC_CLASS;
  }
  if (tprt__nccl_since(library, NCCL_SINCE_WINDOWS)) { /* the version that has the name, too */
    config.size = sizeof config;
    config.comm_name = *settings->name ? settings->name : NULL;
  }
  return config;
}

static void format_version(int version, char text[16]) {
  snprintf(text, 16, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

static tprt_status resolve(void *library, const char *path) {
  const char *missing = tprt__symbols_find(library, required);
  if (missing)
    return tprt__fail(TPRT_UNSUPPORTED, "backend nccl: %s has no %s; NCCL 2.18 or newer is needed",
                      path, missing);
  tprt__symbols_find(library, later);
  char text[16];
  nccl_result result = loaded.get_version(&loaded.version);
  format_version(loaded.version, text);
  if (result == NCCL_RESULT_SUCCESS && loaded.version < NCCL_MIN_VERSION)
    return tprt__fail(TPRT_UNSUPPORTED, "backend nccl: %s is NCCL %s; 2.18 or newer is needed",
                      path, text);
  return tprt__nccl_check(&loaded, NULL, result, "ncclGetVersion");
}

/* Loads the driver first, because NCCL can be loaded without a device but is useless then. */
static tprt_status load(void) {
  tprt_status status = tprt__device_load(&loaded.device);
  if (status)
    return tprt__fail(status, "backend nccl: %s", tprt_last_error());
  const char *path = tprt__env_text(TPRT__ENV_NCCL_LIBRARY);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  status = library
               ? resolve(library, path)
               : tprt__fail(TPRT_UNSUPPORTED, "backend nccl: NCCL was not found: %s", dlerror());
  if (status && library)
    dlclose(library);
  return status;
}

tprt_status tprt__nccl_load(const nccl_library **library) {
  static tprt__once once = TPRT__ONCE;
  tprt_status status = tprt__load_once(&once, load);
  *library = status ? NULL : &loaded;
  return status;
}

tprt_status tprt__nccl_check(const nccl_library *library, nccl_comm comm, nccl_result result,
                             const char *what) {
  /* Chosen by the possible recovery. Invalid arguments and invalid usage are errors of this
   * library, or of the device. */
  static const tprt_status statuses[] = {
      [NCCL_RESULT_SUCCESS] = TPRT_OK,
      [1] = TPRT_DEVICE,
      [2] = TPRT_SYSTEM,
      [NCCL_RESULT_INTERNAL] = TPRT_DEVICE,
      [NCCL_RESULT_INVALID_ARGUMENT] = TPRT_DEVICE,
      [NCCL_RESULT_INVALID_USAGE] = TPRT_DEVICE,
      [NCCL_RESULT_REMOTE] = TPRT_PEER_DEAD,
  };
  enum { N_STATUSES = sizeof statuses / sizeof *statuses };
  if (result == NCCL_RESULT_SUCCESS || result == NCCL_RESULT_IN_PROGRESS)
    return TPRT_OK;
  tprt_status status = result > 0 && result < N_STATUSES ? statuses[result] : TPRT_DEVICE;
  const char *detail = library->last_error(comm), *text = library->error_text(result);
  return tprt__fail(status, "NCCL: %s: %s%s%s", what, text ? text : "unknown error",
                    detail && *detail ? ": " : "", detail ? detail : "");
}

tprt_status tprt_nccl_probe(tprt_nccl_info *info) {
  TPRT__NEED(info);
  const nccl_library *library;
  tprt_status status = tprt__nccl_load(&library);
  if (status)
    return status;
  *info = (tprt_nccl_info){.version = library->version};
  for (size_t i = 0; i < N_FEATURES; i++)
    info->features |= tprt__nccl_since(library, features[i].since) ? 1u << i : 0;
  return TPRT_OK;
}
