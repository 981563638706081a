/* Tests the table of values and ops: keys are addresses, far apart or adjacent. */
#include "ir/value_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const void *key(uintptr_t start, uintptr_t step, int i) {
  return (const void *)(start + step * (uintptr_t)i);
}

/* Inserts n keys `step` bytes apart, twice, into a table with room for `reserved`, and looks them
 * up and others. */
static void check(uintptr_t step, int n, size_t reserved) {
  enum { START = 1 << 20 };
  tp_value_table table = {0};
  if (reserved > 0)
    assert_int_equal(tp__table_reserve(&table, reserved), TP_OK);
  size_t capacity = table.capacity;
  for (int i = 0; i < n; i++)
    assert_int_equal(tp__table_put(&table, key(START, step, i), -2), TP_OK);
  for (int i = 0; i < n; i++)
    assert_int_equal(tp__table_put(&table, key(START, step, i), i), TP_OK);
  assert_int_equal(table.count, n);
  if (reserved >= (size_t)n)
    assert_int_equal(table.capacity, capacity);
  for (int i = 0; i < n; i++) {
    assert_int_equal(tp__table_get(&table, key(START, step, i)), i);
    assert_int_equal(tp__table_get(&table, key(START + 1, step, i)), -1);
  }
  assert_int_equal(tp__table_get(&table, key(START, step, n)), -1);
  tp__table_destroy(&table);
}

static void finds_keys(void **state) {
  (void)state;
  static const uintptr_t steps[] = {8, 48, 64, 200, 4096, 3 * 4096 + 8, 1 << 20};
  for (int s = 0; s < TP_LEN(steps); s++)
    for (int n = 1; n <= 10000; n *= 10)
      for (size_t reserved = 0; reserved <= 10000; reserved += 5000)
        check(steps[s], n, reserved);
}

static void keeps_keys_when_it_reserves(void **state) {
  (void)state;
  enum { N = 100, STEP = 48 };
  tp_value_table table = {0};
  for (int i = 0; i < N; i++)
    assert_int_equal(tp__table_put(&table, key(STEP, STEP, i), i), TP_OK);
  assert_int_equal(tp__table_reserve(&table, 10 * N), TP_OK);
  assert_int_equal(tp__table_reserve(&table, 1), TP_OK);
  assert_true(table.capacity >= 20 * N);
  for (int i = 0; i < N; i++)
    assert_int_equal(tp__table_get(&table, key(STEP, STEP, i)), i);
  tp__table_destroy(&table);
}

static void is_empty_at_first(void **state) {
  (void)state;
  tp_value_table table = {0};
  assert_int_equal(tp__table_get(&table, &table), -1);
  tp__table_destroy(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(is_empty_at_first),
      cmocka_unit_test(finds_keys),
      cmocka_unit_test(keeps_keys_when_it_reserves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
