/* Tests sharding specs. */
#include "tp/spec.h"

#include "simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void combiners(void **state) {
  (void)state;
  for (int i = 0; i < TP_N_COMBINERS; i++) {
    tp_combiner c = TP_N_COMBINERS;
    assert_true(tp_combiner_parse(tp_combiner_name((tp_combiner)i), &c));
    assert_int_equal(c, i);
  }
  tp_combiner c = TP_MAX;
  assert_false(tp_combiner_parse("mean", &c));
  assert_string_equal(tp_combiner_name((tp_combiner)99), "unknown");
}

static void places(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(4, (int64_t[]){2, 4, 3, 2});
  tp_spec spec = tp_spec_replicated();
  assert_int_equal(tp_spec_append(&spec, 1, 0), TP_OK);
  assert_int_equal(tp_spec_append(&spec, 3, 0), TP_OK);
  assert_int_equal(tp_spec_append(&spec, 0, 0), TP_OK);
  assert_int_equal(tp_spec_append(&spec, 0, 1), TP_INVALID_ARGUMENT); /* an axis is used once */
  assert_int_equal(tp_spec_set_partial(&spec, 1, TP_SUM), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_spec_append(&spec, 8, 0), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_spec_append(&spec, 2, TP_MAX_RANK), TP_INVALID_ARGUMENT);
  assert_false(tp_spec_has_partial(spec));
  assert_int_equal(tp_spec_set_partial(&spec, 2, TP_MAX), TP_OK);
  assert_true(tp_spec_has_partial(spec));
  int axes[TP_MAX_AXES];
  assert_int_equal(tp_spec_dim_axes(&mesh, spec, 0, axes), 3);
  assert_true(axes[0] == 1 && axes[1] == 3 && axes[2] == 0);
  assert_int_equal(tp_spec_dim_shards(&mesh, spec, 0), 16);
  assert_false(tp_spec_is_canonical(&mesh, spec));
  assert_int_equal(tp_spec_place(spec, 2).kind, TP_PARTIAL);
  assert_int_equal(tp_spec_place(spec, 2).combiner, TP_MAX);
  tp_spec_clear(&spec, 3); /* closes the gap */
  assert_int_equal(tp_spec_dim_axes(&mesh, spec, 0, axes), 2);
  assert_true(axes[0] == 1 && axes[1] == 0);
  assert_int_equal(tp_spec_place(spec, 0).order, 1);
  tp_spec_clear(&spec, 1);
  tp_spec_clear(&spec, 2);
  assert_true(tp_spec_is_canonical(&mesh, spec));
  tp_spec_clear(&spec, 0);
  assert_true(tp_spec_equal(spec, tp_spec_replicated()));
}

static void uneven_sizes(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){2, 4});
  tp_spec spec = tp_spec_replicated();
  tp_spec_append(&spec, 0, 0);
  tp_spec_append(&spec, 1, 0);
  int64_t shape[] = {10, 3}, local[2];
  tp_spec_local_shape(&mesh, spec, 2, shape, local);
  assert_true(local[0] == 2 && local[1] == 3); /* buffers 5, then 2 */
  assert_int_equal(tp_spec_local_elements(&mesh, spec, 2, shape), 6);
  assert_false(tp_spec_divides(&mesh, spec, 2, shape));
  static const int64_t valid[] = {2, 2, 1, 0, 2, 2, 1, 0}, offset[] = {0, 2, 4, 5, 5, 7, 9, 10};
  for (int64_t d = 0; d < 8; d++) {
    int64_t o, v;
    tp_spec_shard(&mesh, spec, 0, 10, d, &o, &v);
    assert_int_equal(v, valid[d]);
    assert_int_equal(o, offset[d]);
  }
  shape[0] = 16;
  assert_true(tp_spec_divides(&mesh, spec, 2, shape));
}

/* The shards of a dimension are disjoint and cover it, for every order of axes and every size. */
static void shards_cover(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(3, (int64_t[]){2, 3, 2});
  tp_spec specs[200];
  int n = all_specs(&mesh, 1, false, TP_SUM, 200, specs);
  assert_int_equal(n, 1 + 3 + 6 + 6);
  for (int i = 0; i < n; i++) {
    int64_t replicas = tp_mesh_size(&mesh) / tp_spec_dim_shards(&mesh, specs[i], 0);
    for (int64_t size = 0; size < 30; size++) {
      int64_t seen[30] = {0}, shape[1] = {size};
      for (int64_t d = 0; d < tp_mesh_size(&mesh); d++) {
        int64_t offset, valid;
        tp_spec_shard(&mesh, specs[i], 0, size, d, &offset, &valid);
        assert_true(valid <= tp_spec_local_elements(&mesh, specs[i], 1, shape) &&
                    offset + valid <= size);
        for (int64_t k = 0; k < valid; k++)
          seen[offset + k]++;
      }
      for (int64_t k = 0; k < size; k++)
        assert_int_equal(seen[k], replicas);
    }
  }
}

static void check_text(const tp_mesh *mesh, tp_spec spec, int rank, const char *expected) {
  char text[256];
  assert_int_equal(tp_spec_text(mesh, spec, rank, text, sizeof text), strlen(expected));
  assert_string_equal(text, expected);
  char few[8];
  assert_int_equal(tp_spec_text(mesh, spec, rank, few, sizeof few), strlen(expected));
  assert_memory_equal(few, expected, strlen(expected) < 7 ? strlen(expected) : 7);
}

static void prints(void **state) {
  (void)state;
  tp_mesh mesh;
  assert_int_equal(tp_mesh_parse("mesh", "dp=2,tp=8,m-x=2", NULL, 0, &mesh), TP_OK);
  assert_int_equal(tp_mesh_refine(&mesh, "tp", 2, 4), TP_OK);
  tp_spec spec = tp_spec_replicated();
  check_text(&mesh, spec, 0, "[]");
  check_text(&mesh, spec, 2, "[[], []]");
  tp_spec_append(&spec, 0, 1);
  tp_spec_append(&spec, 1, 1);
  check_text(&mesh, spec, 2, "[[], [\"dp\", \"tp:(1)2\"]]");
  tp_spec_append(&spec, 2, 1);
  check_text(&mesh, spec, 2, "[[], [\"dp\", \"tp\"]]");
  tp_spec_clear(&spec, 1);
  tp_spec_clear(&spec, 2);
  tp_spec_append(&spec, 2, 1);
  tp_spec_append(&spec, 1, 1);
  check_text(&mesh, spec, 2, "[[], [\"dp\", \"tp:(2)4\", \"tp:(1)2\"]]");
  spec = tp_spec_replicated();
  tp_spec_append(&spec, 0, 0);
  tp_spec_set_partial(&spec, 1, TP_SUM);
  check_text(&mesh, spec, 1, "{dims = [[\"dp\"]], partial = {\"tp:(1)2\" = \"sum\"}}");
  tp_spec_set_partial(&spec, 2, TP_SUM);
  tp_spec_set_partial(&spec, 3, TP_MAX);
  check_text(&mesh, spec, 1, "{dims = [[\"dp\"]], partial = {tp = \"sum\", \"m-x\" = \"max\"}}");
}

static void verifies(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){2, 4});
  char why[256];
  tp_spec good = tp_spec_replicated();
  tp_spec_append(&good, 0, 1);
  tp_spec_append(&good, 1, 1);
  assert_int_equal(tp_spec_verify(&mesh, good, 2, NULL, 0), TP_OK);
  assert_int_equal(tp_spec_verify(&mesh, good, 1, why, sizeof why), TP_INVALID_ARGUMENT);
  assert_string_equal(why, "axis \"a\" splits dimension 1, but the tensor has 1 dimensions");
  assert_int_equal(tp_spec_verify(&mesh, good, -1, why, sizeof why), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_spec_verify(&mesh, good, TP_MAX_RANK + 1, why, sizeof why),
                   TP_INVALID_ARGUMENT);
  static const uint64_t bad[] = {
      UINT64_C(0x01010000),  /* axes outside of the mesh */
      UINT64_C(0x0011),      /* order 1 without order 0 */
      UINT64_C(0x0101),      /* order 0 twice */
      UINT64_C(0x0010),      /* an order but no dimension */
      0x80 | TP_N_COMBINERS, /* invalid combiner */
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(tp_spec_verify(&mesh, (tp_spec){bad[i]}, 2, why, sizeof why),
                     TP_INVALID_ARGUMENT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(combiners),    cmocka_unit_test(places), cmocka_unit_test(uneven_sizes),
      cmocka_unit_test(shards_cover), cmocka_unit_test(prints), cmocka_unit_test(verifies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
