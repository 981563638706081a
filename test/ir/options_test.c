/* Tests the public table of the options of passes and pipelines. */
#include "tp/cost.h"
#include "tp/passes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static tp_option_info find(const char *pass, const char *option) {
  for (int i = 0; i < tp_pass_count(); i++)
    for (int k = 0; k < tp_pass_get(i).n_options; k++)
      if (strcmp(tp_pass_get(i).name, pass) == 0 && strcmp(tp_pass_option(i, k).name, option) == 0)
        return tp_pass_option(i, k);
  fail_msg("%s has no option %s", pass, option);
  return (tp_option_info){0};
}

/* Returns true if the values "a|b|c" have this name. */
static bool has_name(const char *values, const char *name) {
  char list[256], key[64];
  snprintf(list, sizeof list, "|%s|", values);
  snprintf(key, sizeof key, "|%s|", name);
  return strstr(list, key) != NULL;
}

static void every_option_is_complete(void **state) {
  (void)state;
  for (int i = 0; i < tp_pass_count(); i++)
    for (int k = 0; k < tp_pass_get(i).n_options; k++) {
      tp_option_info option = tp_pass_option(i, k);
      assert_true(option.name && *option.name && option.help && *option.help);
      assert_true(option.values && *option.values && option.default_value);
      if (option.type == TP_OPTION_BOOL || option.type == TP_OPTION_CHOICE)
        assert_true(has_name(option.values, option.default_value));
      for (int j = 0; j < k; j++)
        assert_string_not_equal(option.name, tp_pass_option(i, j).name);
    }
}

static void behind_the_end_is_nothing(void **state) {
  (void)state;
  assert_null(tp_pass_option(0, tp_pass_get(0).n_options).name);
  assert_null(tp_pass_option(0, -1).name);
  assert_null(tp_pass_option(tp_pass_count(), 0).name);
  assert_null(tp_pass_option(-1, 0).name);
}

static void pipelines_inherit(void **state) {
  (void)state;
  tp_option_info of_pass = find("tp-propagate", "gap"), of_pipeline = find("tp-spmd", "gap");
  assert_int_equal(of_pipeline.type, TP_OPTION_NUMBER);
  assert_string_equal(of_pipeline.values, "0..<1");
  assert_ptr_equal(of_pipeline.help, of_pass.help);
  assert_string_equal(of_pipeline.default_value, of_pass.default_value);
  assert_string_equal(find("tp-fuse-collectives", "fuse").default_value, "faster");
  assert_string_equal(find("tp-spmd", "fuse").default_value, "no");
}

static tp_status check_value(const char *option, const char *value, char why[256]) {
  for (int i = 0; i < tp_pass_count(); i++)
    for (int k = 0; k < tp_pass_get(i).n_options; k++)
      if (strcmp(tp_pass_get(i).name, "tp-spmd") == 0 &&
          strcmp(tp_pass_option(i, k).name, option) == 0)
        return tp_pass_option_check(i, k, value, 256, why);
  fail_msg("tp-spmd has no option %s", option);
  return TP_NOT_FOUND;
}

static void values_are_checked(void **state) {
  static const struct {
    const char *option, *value, *why; /* "": allowed */
  } rows[] = {
      {"memory-limit", "80GB", ""},
      {"memory-limit", "topology", ""},
      {"memory-limit", "80gigs",
       "invalid memory-limit '80gigs': expected bytes with a unit (B, KB, MB, GB, TB, KiB, MiB, "
       "GiB, TiB), as in 80GB, or topology"},
      {"objective", "bytes", ""},
      {"objective", "byte",
       "objective 'byte' is not known; use time or bytes (did you mean 'bytes'?)"},
      {"gap", "0.5", ""},
      {"gap", "1", "gap '1' is not a number from 0 to below 1"},
      {"mesh", "anything", ""},
  };
  char why[256];
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(check_value(rows[i].option, rows[i].value, why),
                     *rows[i].why ? TP_INVALID_ARGUMENT : TP_OK);
    assert_string_equal(why, rows[i].why);
  }
  assert_int_equal(tp_pass_option_check(-1, 0, "1", sizeof why, why), TP_NOT_FOUND);
  assert_string_equal(why, "");
}

static void objectives_are_in_order(void **state) {
  (void)state;
  char names[64] = "";
  for (int i = 0; i < TP_N_OBJECTIVES; i++) {
    strcat(names, i > 0 ? "|" : "");
    strcat(names, tp_objective_name((tp_objective)i));
  }
  static const char *const passes[] = {"tp-propagate", "tp-partition", "tp-stage-collectives"};
  for (int i = 0; i < 3; i++)
    assert_string_equal(find(passes[i], "objective").values, names);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_option_is_complete), cmocka_unit_test(behind_the_end_is_nothing),
      cmocka_unit_test(values_are_checked),       cmocka_unit_test(pipelines_inherit),
      cmocka_unit_test(objectives_are_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
