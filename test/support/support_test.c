/* Tests the support library: allocation, arenas, strings, the environment. */
#define _GNU_SOURCE 1
#include "support/support.h"

#include "tp/env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void status_names(void **state) {
  (void)state;
  for (int i = TP_OK; i <= TP_CANCELLED; i++)
    assert_string_not_equal(tp_status_name((tp_status)i), "unknown status");
  assert_string_equal(tp_status_name(TP_NO_MEMORY), "no memory");
  assert_string_equal(tp_status_name((tp_status)99), "unknown status");
}

static void allocation_hook(void **state) {
  (void)state;
  tp__alloc_fail(2, INT64_MAX);
  void *first = tp__malloc(8);
  assert_non_null(first);
  assert_null(tp__malloc(8));
  assert_null(tp__calloc(1, 8)); /* and all later ones */
  assert_null(tp__realloc(first, 2, 8));
  tp__alloc_fail(0, 0);
  void *grown = tp__realloc(first, 2, 8);
  assert_non_null(grown);
  assert_null(tp__realloc(grown, SIZE_MAX, 8)); /* overflow, and `grown` is still valid */
  memset(grown, 1, 16);
  tp__free(grown);
  assert_null(tp__calloc(SIZE_MAX, 8));
}

static void allocation_counts(void **state) {
  (void)state;
  int64_t live = tp__alloc_live();
  tp__alloc_fail(2, 1);
  char *first = tp__strdup("one");
  assert_null(tp__strdup("two"));
  char *third = tp__strdup("three"); /* only the second fails */
  assert_string_equal(first, "one");
  assert_string_equal(third, "three");
  assert_int_equal(tp__alloc_count(), 3);
  assert_int_equal(tp__alloc_live(), live + 2);
  first = tp__realloc(first, 100, 1);
  void *none = tp__realloc(NULL, 100, 1);
  assert_int_equal(tp__alloc_live(), live + 3);
  tp__free(first);
  tp__free(third);
  tp__free(none);
  tp__free(NULL);
  assert_int_equal(tp__alloc_live(), live);
  tp__alloc_fail(0, 0);
  assert_int_equal(tp__alloc_count(), 0);
}

static void growing(void **state) {
  (void)state;
  void *items = NULL;
  size_t capacity = 0;
  assert_int_equal(tp__grow(&items, &capacity, 3, sizeof(int)), TP_OK);
  assert_true(capacity >= 3);
  size_t before = capacity;
  assert_int_equal(tp__grow(&items, &capacity, before, sizeof(int)), TP_OK);
  assert_int_equal(capacity, before);
  assert_int_equal(tp__grow(&items, &capacity, before + 1, sizeof(int)), TP_OK);
  assert_true(capacity >= 2 * before);
  assert_int_equal(tp__grow(&items, &capacity, SIZE_MAX, sizeof(int)), TP_NO_MEMORY);
  tp__free(items);
}

static void arena(void **state) {
  (void)state;
  tp__arena arena = {0};
  char *blocks[200];
  /* zeroed, aligned, disjoint; smaller and larger than a block */
  for (size_t i = 0; i < 200; i++) {
    size_t size = i % 50 == 49 ? 100000 : i;
    blocks[i] = tp__arena_alloc(&arena, size);
    assert_non_null(blocks[i]);
    assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
    for (size_t k = 0; k < size; k++)
      assert_int_equal(blocks[i][k], 0);
    memset(blocks[i], (int)i, size);
  }
  for (size_t i = 0; i < 200; i++) {
    size_t size = i % 50 == 49 ? 100000 : i;
    for (size_t k = 0; k < size; k++)
      assert_int_equal((unsigned char)blocks[i][k], i);
  }
  assert_string_equal(tp__arena_strdup(&arena, "mesh"), "mesh");
  assert_string_equal(tp__arena_strndup(&arena, "mesh", 2), "me");
  assert_string_equal(tp__arena_printf(&arena, "%s=%d", "dp", 4), "dp=4");
  assert_null(tp__arena_array(&arena, SIZE_MAX, 2));
  assert_null(tp__arena_alloc(&arena, SIZE_MAX));
  assert_null(tp__arena_alloc(&arena, SIZE_MAX - 100));
  tp__arena_destroy(&arena);
  tp__alloc_fail(1, INT64_MAX);
  assert_null(tp__arena_alloc(&arena, 8));
  assert_null(tp__arena_printf(&arena, "%d", 1));
  tp__alloc_fail(0, 0);
  assert_non_null(tp__arena_alloc(&arena, 8)); /* usable after failure and after destroy */
  tp__arena_destroy(&arena);
}

static void strings(void **state) {
  (void)state;
  tp__string s = {0};
  assert_string_equal(tp__string_text(&s), "");
  for (int i = 0; i < 100; i++)
    assert_int_equal(tp__string_printf(&s, "%d,", i), TP_OK);
  assert_int_equal(s.length, 10 * 2 + 90 * 3);
  assert_int_equal(strlen(tp__string_text(&s)), s.length);
  assert_int_equal(tp__string_append(&s, "end"), TP_OK);
  tp__string unnumbered = {0};
  assert_int_equal(tp__string_append_without_numbers(&unnumbered, "12 l3_w45, x", '*'), TP_OK);
  assert_int_equal(tp__string_append_without_numbers(&unnumbered, "", '*'), TP_OK);
  assert_string_equal(tp__string_text(&unnumbered), "* l*_w*, x");
  tp__string_destroy(&unnumbered);
  char *text = tp__string_take(&s);
  assert_memory_equal(text, "0,1,2,", 6);
  assert_string_equal(text + strlen(text) - 6, "99,end");
  tp__free(text);
  assert_string_equal(tp__string_text(&s), ""); /* empty after take */
  text = tp__string_take(&s);
  assert_string_equal(text, "");
  tp__free(text);

  assert_int_equal(tp__string_append(&s, "x"), TP_OK);
  tp__alloc_fail(1, INT64_MAX);
  assert_int_equal(tp__string_printf(&s, "%0999d", 1), TP_NO_MEMORY);
  tp__alloc_fail(0, 0);
  assert_int_equal(tp__string_append(&s, "y"), TP_NO_MEMORY); /* sticky */
  assert_true(s.failed);
  assert_string_equal(tp__string_text(&s), "x");
  assert_null(tp__string_take(&s));
  assert_int_equal(tp__string_append(&s, "z"), TP_OK);
  tp__string_clear(&s);
  assert_string_equal(tp__string_text(&s), "");
  tp__string_destroy(&s);
}

static void texts(void **state) {
  (void)state;
  char text[8] = "";
  size_t length = 0;
  tp__text_printf(text, sizeof text, &length, "%s", "abcde");
  tp__text_printf(text, sizeof text, &length, "%s", "fghij");
  tp__text_printf(text, sizeof text, &length, "%s", "k");
  assert_int_equal(length, 11);
  assert_string_equal(text, "abcdefg");
  length = 0;
  tp__text_printf(NULL, 0, &length, "%d", 12345);
  assert_int_equal(length, 5);
}

static void sizes_and_times(void **state) {
  (void)state;
  assert_string_equal(tp__bytes_text(0).chars, "0 B");
  assert_string_equal(tp__bytes_text(1023).chars, "1023 B");
  assert_string_equal(tp__bytes_text(1536).chars, "1.5 KiB");
  assert_string_equal(tp__bytes_text(-(3 << 20)).chars, "-3.0 MiB");
  assert_string_equal(tp__bytes_text(INT64_C(5) << 52).chars, "20480.0 TiB");
  assert_string_equal(tp__seconds_text(0).chars, "0.000 us");
  assert_string_equal(tp__seconds_text(2.6e-9).chars, "0.003 us");
  assert_string_equal(tp__seconds_text(99.9994e-6).chars, "99.999 us");
  assert_string_equal(tp__seconds_text(99.9996e-6).chars, "100.0 us");
  assert_string_equal(tp__seconds_text(999.94e-6).chars, "999.9 us");
  assert_string_equal(tp__seconds_text(999.96e-6).chars, "1.000 ms");
  assert_string_equal(tp__seconds_text(-0.0125).chars, "-12.500 ms");
  assert_string_equal(tp__seconds_text(4321).chars, "4321.0 s");
}

static void closest_words(void **state) {
  (void)state;
  static const char *const words[] = {"sharding", "role", "updates", "rule"};
  int n = (int)TP__COUNT(words);
  assert_string_equal(tp__closest_word("shardings", 9, n, words), "sharding");
  assert_string_equal(tp__closest_word("shardnig", 8, n, words), "sharding"); /* an exchange */
  assert_string_equal(tp__closest_word("role", 4, n, words), "role");
  assert_string_equal(tp__closest_word("rope", 4, n, words), "role");
  assert_string_equal(tp__closest_word("rxle", 4, n, words), "role"); /* of equal ones the first */
  assert_string_equal(tp__closest_word("SHARD_ING", 9, n, words),
                      "sharding"); /* case, and one edit */
  assert_null(tp__closest_word("cpu", 3, 1, (const char *const[]){"gpu"}));
  assert_string_equal(tp__closest_word("pd", 2, 1, (const char *const[]){"dp"}), "dp");
  assert_null(tp__closest_word("tp.param", 8, 1, (const char *const[]){"tp.pairs"}));
  assert_null(tp__closest_word("memory", 6, n, words));
  char too_long[100];
  memset(too_long, 'r', sizeof too_long);
  assert_null(tp__closest_word(too_long, sizeof too_long, n, words));
}

static void visible_names(void **state) {
  (void)state;
  char shown[128];
  const char *seen = "params/wq \xc3\xa9 \xd7\xa9 \xe2\x80\x8d \xf0\x9f\x94\xa5 \xff\xe2\x80";
  assert_int_equal(tp__visible(seen, "", sizeof shown, shown), strlen(seen));
  assert_string_equal(shown, seen);
  const char *unseen = "a\x07\x1b[1m\n\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf.";
  tp__visible(unseen, "", sizeof shown, shown);
  assert_string_equal(shown, "a\\u0007\\u001b[1m\\u000a\\u007f\\u009b\\u202e\\u2066\\ufeff.");
  assert_int_equal(tp__visible(unseen, "", 0, NULL), strlen(shown));
  assert_int_equal(tp__visible("a\nb\tc", "\n", 6, shown), 10); /* the text is longer */
  assert_string_equal(shown, "a\nb\\u");
  assert_int_equal(tp__visible("", "", sizeof shown, shown), 0);
  assert_string_equal(shown, "");
}

static void environment(void **state) {
  (void)state;
  char warning[256];
  size_t n;
  const tp_env_var *table = tp_env(&n);
  for (size_t i = 0; i < n; i++)
    assert_int_equal(setenv(table[i].name, "/", 1), 0);
  setenv("TP_SIZE", "4", 1); /* of another program */
  assert_false(tp_env_warning(0, sizeof warning, warning));
  setenv("TP_TOPOLGY_PATH", "x", 1);
  assert_true(tp_env_warning(0, sizeof warning, warning));
  assert_string_equal(warning, "the environment sets TP_TOPOLGY_PATH, which is not a variable of "
                               "tpshard; did you mean TP_TOPOLOGY_PATH?");
  assert_false(tp_env_warning(1, sizeof warning, warning));
  setenv("TPSHARD_NEW", "", 1); /* like none, but ours */
  assert_true(tp_env_warning(1, sizeof warning, warning));
  assert_non_null(
      strstr(warning, "TPSHARD_NEW, which is not a variable of tpshard; docs/reference/"));
  setenv("TP_TOPOLOGY_PATH", "/::/no/such/folder", 1);
  assert_true(tp_env_warning(2, sizeof warning, warning));
  assert_string_equal(warning, "TP_TOPOLOGY_PATH: there is no folder '/no/such/folder'");
  assert_false(tp_env_warning(3, sizeof warning, warning));
  assert_true(tp_env_warning(0, 8, warning));
  assert_string_equal(warning, "the env");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(status_names),    cmocka_unit_test(closest_words),
      cmocka_unit_test(allocation_hook), cmocka_unit_test(allocation_counts),
      cmocka_unit_test(growing),         cmocka_unit_test(arena),
      cmocka_unit_test(strings),         cmocka_unit_test(texts),
      cmocka_unit_test(sizes_and_times), cmocka_unit_test(environment),
      cmocka_unit_test(visible_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
