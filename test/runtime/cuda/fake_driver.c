/* Stands in for libcuda.so.1. FAKE_CUDA: "none" has no device, "broken" fails to start, else there is one. */
#define _GNU_SOURCE 1
#include "cuda/driver.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT(member, symbol, parameters) extern cuda_result fake_##member parameters __asm__(symbol) TPRT_API;
TPRT_CUDA_CALLS(EXPORT)
#undef EXPORT

enum { STUB_LIBRARY = 34 };

static bool mode_is(const char *mode) {
  const char *text = getenv("FAKE_CUDA");
  return text && strcmp(text, mode) == 0;
}

cuda_result fake_init(unsigned flags) {
  (void)flags;
  return mode_is("none") ? CUDA_RESULT_NO_DEVICE : mode_is("broken") ? STUB_LIBRARY : CUDA_RESULT_SUCCESS;
}

cuda_result fake_driver_version(int *version) {
  *version = 13000;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_error_name(cuda_result error, const char **name) {
  *name = error == STUB_LIBRARY ? "CUDA_ERROR_STUB_LIBRARY" : NULL;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_device_count(int *n) {
  *n = 1;
  return CUDA_RESULT_SUCCESS;
}
