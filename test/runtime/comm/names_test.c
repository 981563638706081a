/* Tests names: of operations and their inverse, of operations and libraries that tprt does not
 * have, and the suggestions for misspelled ones. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <string.h>

static void test_operations(void **state) {
  (void)state;
  for (int i = 1; i < TPRT_N_OP_KINDS; i++)
    assert_int_equal(tprt_op_kind_parse(tprt_op_kind_name((tprt_op_kind)i)), i);
  assert_int_equal(tprt_op_kind_parse("all_reduc"), 0);
  assert_string_equal(tprt_last_error(),
                      "there is no operation \"all_reduc\"; did you mean all_reduce?");
  assert_int_equal(tprt_op_kind_parse("fly"), 0);
  assert_string_equal(tprt_last_error(), "there is no operation \"fly\"");
}

/* Every name of another library comes with something that tprt has. */
static void test_others(void **state) {
  (void)state;
  static const struct {
    const char *name, *instead;
  } operations[] = {
      {"all_reduce_sparse", "all_gather_v"},
      {"sparse_all_reduce", "all_gather_v"},
      {"reduce_sparse", "all_gather_v"},
      {"sparse_reduce", "all_gather_v"},
      {"all_to_all_v_dynamic", "all_to_all_v"},
      {"all_to_all_v_dynamic_dispatch", "all_to_all_v"},
      {"all_to_all_v_dynamic_combine", "all_to_all_v"},
      {"all_to_all_v_dedup", "all_to_all_v"},
      {"all_gather_persistent", "tprt_schedule_create"},
      {"reduce_scatter_quantized", "all_to_all"},
  };
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    assert_int_equal(tprt_op_kind_parse(operations[i].name), 0);
    assert_int_equal(strncmp(tprt_last_error(), operations[i].name, strlen(operations[i].name)), 0);
    assert_non_null(strstr(tprt_last_error() + strlen(operations[i].name), operations[i].instead));
  }
  static const char *const libraries[] = {"ncclx", "NCCLX", "rccl", "gloo", "ofi", "ucc"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    const tprt_config config = {.size = sizeof config, .backend = libraries[i]};
    tprt_comm *comm;
    assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_UNSUPPORTED);
    assert_non_null(strstr(tprt_last_error(), "there is no backend"));
    assert_non_null(strstr(tprt_last_error(), "backend "));
  }
  const tprt_config config = {.size = sizeof config, .backend = "sham"};
  tprt_comm *comm;
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations),
                                     cmocka_unit_test(test_others)};
  return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
