/* Tests tp_shard_cut and tp_shard_join against the definition of shards, element by element. */
#include "tp/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { RANK = 3, MAX_ELEMENTS = 2048, UNTOUCHED = -7 };

static int64_t count(const int64_t *shape) { return shape[0] * shape[1] * shape[2]; }

/* The layout of a 3-d tensor of i32 that is split along dimension dims[a] by axis a; -1: not. */
static tp_layout layout_of(const tp_mesh *mesh, const int64_t *shape, const int *dims,
                           const int *order) {
  tp_layout l = {.element_size = sizeof(int32_t), .rank = RANK};
  memcpy(l.shape, shape, RANK * sizeof *shape);
  for (int i = 0; i < mesh->n_axes; i++)
    if (dims[order[i]] >= 0)
      assert_int_equal(tp_spec_append(&l.spec, order[i], dims[order[i]]), TP_OK);
  tp_spec_local_shape(mesh, l.spec, RANK, shape, l.local);
  return l;
}

/* By definition: each axis of a dimension, major to minor, divides what is left of it into blocks
 * of ceil(size / axis). Returns whether the device has element `i`, and where in its buffer. */
static bool has(const tp_mesh *mesh, const tp_layout *l, int64_t device, int dim, int64_t i,
                int64_t *at) {
  int axes[TP_MAX_AXES], n = tp_spec_dim_axes(mesh, l->spec, dim, axes);
  int64_t size = l->shape[dim];
  for (int k = 0; k < n; k++) {
    int64_t n_blocks = mesh->axes[axes[k]].size, block = (size + n_blocks - 1) / n_blocks;
    if (i / block != tp_mesh_coordinate(mesh, device, axes[k]))
      return false;
    i %= block;
    size = block;
  }
  *at = i;
  return true;
}

static void check_shard(const tp_mesh *mesh, const tp_layout *l, int64_t device,
                        const int32_t *shard) {
  static int32_t expected[MAX_ELEMENTS];
  for (int64_t i = 0; i < count(l->local); i++)
    expected[i] = UNTOUCHED;
  int64_t i[RANK], at[RANK];
  for (i[0] = 0; i[0] < l->shape[0]; i[0]++)
    for (i[1] = 0; i[1] < l->shape[1]; i[1]++)
      for (i[2] = 0; i[2] < l->shape[2]; i[2]++)
        if (has(mesh, l, device, 0, i[0], &at[0]) && has(mesh, l, device, 1, i[1], &at[1]) &&
            has(mesh, l, device, 2, i[2], &at[2]))
          expected[(at[0] * l->local[1] + at[1]) * l->local[2] + at[2]] =
              (int32_t)((i[0] * l->shape[1] + i[1]) * l->shape[2] + i[2]);
  assert_memory_equal(shard, expected, (size_t)count(l->local) * sizeof *shard);
}

/* Cuts the tensor for all devices, compares each shard, and joins them. */
static void check_layout(const tp_mesh *mesh, const tp_layout *l) {
  static int32_t whole[MAX_ELEMENTS], joined[MAX_ELEMENTS], shard[MAX_ELEMENTS];
  assert_true(count(l->shape) <= MAX_ELEMENTS && count(l->local) <= MAX_ELEMENTS);
  memset(joined, 0xff, sizeof joined);
  for (int64_t i = 0; i < count(l->shape); i++)
    whole[i] = (int32_t)i;
  for (int64_t device = 0; device < tp_mesh_size(mesh); device++) {
    for (int64_t i = 0; i < count(l->local); i++)
      shard[i] = UNTOUCHED; /* padding stays as it is */
    assert_int_equal(tp_shard_cut(mesh, l, device, whole, shard), TP_OK);
    check_shard(mesh, l, device, shard);
    assert_int_equal(tp_shard_join(mesh, l, device, shard, joined), TP_OK);
  }
  assert_memory_equal(joined, whole, (size_t)count(l->shape) * sizeof *whole);
}

/* All ways to split a tensor by the axes of a mesh, in two orders of the axes; sizes that are
 * divided evenly, unevenly, and by more devices than they have elements. */
static void check_mesh(const tp_mesh *mesh) {
  static const int64_t shapes[][RANK] = {{8, 8, 8}, {7, 10, 3}, {1, 5, 2}, {3, 0, 4}};
  static const int up[] = {0, 1, 2}, down[] = {2, 1, 0};
  assert_int_equal(mesh->n_axes, 3);
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (int c = 0; c < 4 * 4 * 4; c++) {
      int dims[] = {c % 4 - 1, c / 4 % 4 - 1, c / 16 - 1};
      tp_layout a = layout_of(mesh, shapes[s], dims, up),
                b = layout_of(mesh, shapes[s], dims, down);
      check_layout(mesh, &a);
      check_layout(mesh, &b);
    }
}

static void test_axes(void **state) {
  (void)state;
  tp_mesh mesh;
  assert_int_equal(tp_mesh_parse("mesh", "x=2,y=3,z=2", NULL, 0, &mesh), TP_OK);
  check_mesh(&mesh);
}

static void test_sub_axes(void **state) {
  (void)state;
  tp_mesh mesh;
  assert_int_equal(tp_mesh_parse("mesh", "dp=3,tp=4", NULL, 0, &mesh), TP_OK);
  assert_int_equal(tp_mesh_refine(&mesh, "tp", 1, 2), TP_OK);
  check_mesh(&mesh);
}

static void test_scalar(void **state) {
  (void)state;
  tp_mesh mesh;
  double whole = 3, shard = 0;
  assert_int_equal(tp_mesh_parse("mesh", "2", NULL, 0, &mesh), TP_OK);
  tp_layout l = {.element_size = sizeof whole};
  assert_int_equal(tp_shard_cut(&mesh, &l, 1, &whole, &shard), TP_OK);
  assert_true(shard == 3);
}

static void test_errors(void **state) {
  (void)state;
  tp_mesh mesh;
  int32_t number = 0;
  assert_int_equal(tp_mesh_parse("mesh", "2", NULL, 0, &mesh), TP_OK);
  tp_layout l = {.element_size = sizeof number};
  assert_int_equal(tp_shard_cut(&mesh, &l, 2, &number, &number), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_shard_join(&mesh, &l, -1, &number, &number), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_spec_set_partial(&l.spec, 0, TP_SUM), TP_OK);
  assert_int_equal(tp_shard_cut(&mesh, &l, 0, &number, &number), TP_UNSUPPORTED);
  assert_int_equal(tp_shard_join(&mesh, &l, 0, &number, &number), TP_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_axes),
      cmocka_unit_test(test_sub_axes),
      cmocka_unit_test(test_scalar),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests_name("shard_copy", tests, NULL, NULL);
}
