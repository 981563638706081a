/* A library that was built without the headers of libfabric says so. */
#include "test/runtime/harness/harness.h"

#include <string.h>

static void test_missing(void **state) {
  (void)state;
  tprt_config config = test_config();
  tprt_comm *comm;
  config.backend = "fabric";
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_UNSUPPORTED);
  assert_non_null(
      strstr(tprt_last_error(), "this tprt was built without the headers of libfabric"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_missing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
