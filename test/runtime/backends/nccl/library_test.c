/* Tests loading NCCL: missing, another library under its name, too old; and the real one, if
 * available. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "tprt/nccl.h"

#include <stdlib.h>
#include <string.h>

static void expect_refused(const char *driver, const char *library, const char *text) {
  tprt_nccl_info info = {.version = -1};
  setenv("TPRT_CUDA_LIBRARY", driver, 1);
  setenv("TPRT_NCCL_LIBRARY", library, 1);
  assert_int_equal(tprt_nccl_probe(&info), TPRT_UNSUPPORTED);
  if (!strstr(tprt_last_error(), text))
    fail_msg("\"%s\" does not say \"%s\"", tprt_last_error(), text);
  assert_int_equal(info.version, -1);
}

static void test_refused(void **state) {
  (void)state;
  expect_refused("/nonexistent/libcuda.so", FAKE_NCCL,
                 "backend nccl: CUDA: /nonexistent/libcuda.so: cannot open");
  expect_refused(FAKE_NCCL, "/nonexistent/libnccl.so",
                 "backend nccl: NCCL was not found: /nonexistent/libnccl.so");
  expect_refused(FAKE_NCCL, "libm.so.6",
                 "libm.so.6 has no ncclGetErrorString; NCCL 2.18 or newer is needed");
  machine_begin((fake_plan){.nccl_version = 21703});
  expect_refused(FAKE_NCCL, FAKE_NCCL, "is NCCL 2.17.3; 2.18 or newer is needed");
  tprt_comm *comms[1];
  const tprt_config config = machine_config();
  assert_int_equal(tprt_world_create_threads(1, &config, comms), TPRT_UNSUPPORTED);
}

/* The features by version, according to the table; a real library has every function that is
 * called. */
static void test_found(void **state) {
  (void)state;
  tprt_nccl_info info;
  int since;
  const char *help;
  machine_begin((fake_plan){.nccl_version = 22304});
  setenv("TPRT_NCCL_LIBRARY", *REAL_NCCL ? REAL_NCCL : FAKE_NCCL, 1);
  assert_int_equal(tprt_nccl_probe(&info), TPRT_OK);
  assert_true(info.version >= 21800);
  print_message("%s: version %d\n", *REAL_NCCL ? REAL_NCCL : "the stand-in", info.version);
  size_t i = 0;
  for (; tprt_nccl_feature_name(i, &since, &help); i++)
    assert_true(*help && (info.features >> i & 1) == (info.version >= since));
  assert_true(i >= 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_found)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
