/* Tests loading the driver: if it is missing, if another library has its name, and if it has no
 * device. */
#define _GNU_SOURCE 1
#include "tprt/cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_refused(const char *library, const char *mode, tprt_status status,
                           const char *text) {
  tprt_cuda_info info = {.driver_version = -1};
  setenv("TPRT_CUDA_LIBRARY", library, 1);
  setenv("FAKE_CUDA", mode, 1);
  assert_int_equal(tprt_cuda_probe(&info), status);
  if (!strstr(tprt_last_error(), text))
    fail_msg("\"%s\" does not say \"%s\"", tprt_last_error(), text);
  assert_int_equal(info.driver_version, -1);
  static _Alignas(16) unsigned char signals[16];
  tprt_cuda_group_config config = {.size = sizeof config, .n_ranks = 1, .signals = {signals}};
  tprt_cuda_group *group = NULL;
  assert_int_equal(tprt_cuda_group_create(&config, &group), status);
  assert_non_null(strstr(tprt_last_error(), text));
  assert_null(group);
}

static void test_refused(void **state) {
  (void)state;
  expect_refused("/nonexistent/libcuda.so", "", TPRT_UNSUPPORTED,
                 "CUDA: /nonexistent/libcuda.so: cannot open");
  expect_refused("libm.so.6", "", TPRT_UNSUPPORTED,
                 "CUDA: libm.so.6 has no cuInit; a driver of CUDA 11 or newer is needed");
  expect_refused(FAKE_DRIVER, "none", TPRT_UNSUPPORTED, "sees no device");
  expect_refused(FAKE_DRIVER, "broken", TPRT_DEVICE,
                 "CUDA: start of the driver: CUDA_ERROR_STUB_LIBRARY (34)");
}

/* After a failure, loading is tried again. */
static void test_found(void **state) {
  (void)state;
  tprt_cuda_info info = {0};
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("FAKE_CUDA", "", 1);
  assert_int_equal(tprt_cuda_probe(&info), TPRT_OK);
  assert_int_equal(info.driver_version, 13000);
  assert_int_equal(info.n_devices, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
