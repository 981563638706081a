/* Executes reshard paths on a small tensor and compares with the target sharding. */
#include "simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_SPECS = 3000 };

typedef struct setting {
  int n_axes;
  int64_t sizes[4];
  int rank;
  int64_t shape[SIM_MAX_RANK];
  tp_combiner combiner;
  int stride;      /* tests every stride-th pair of specs; 1: all */
  int64_t no_path; /* expected number of pairs without a path */
} setting;

static bool leads(const tp_mesh *mesh, tp_spec spec, tp_spec whole, int dim) {
  int few[TP_MAX_AXES], all[TP_MAX_AXES];
  int n = tp_spec_dim_axes(mesh, spec, dim, few), m = tp_spec_dim_axes(mesh, whole, dim, all);
  for (int i = 0; i < n; i++) {
    if (i >= m || few[i] != all[i])
      return false;
  }
  return true;
}

/* Checks a sharding on a path: it divides exactly, or it is an uneven sharding of the ends or leads
 * to one. */
static void check_layout(const tp_mesh *mesh, const setting *s, tp_spec spec, tp_spec from,
                         tp_spec to) {
  for (int d = 0; d < s->rank; d++) {
    if (s->shape[d] % tp_spec_dim_shards(mesh, spec, d) == 0)
      continue;
    assert_true(leads(mesh, spec, from, d) || leads(mesh, spec, to, d));
  }
}

/* Checks that the map of a permute is a bijection, and moves data only along the axes of the
 * step. */
static void check_permute(const tp_mesh *mesh, const tp_step *step) {
  int64_t sources[SIM_MAX_DEVICES];
  bool sends[SIM_MAX_DEVICES] = {false}, moves = false;
  assert_int_equal(tp_step_permute_sources(mesh, step, sources), TP_OK);
  for (int64_t to = 0; to < tp_mesh_size(mesh); to++) {
    int64_t source = sources[to];
    assert_in_range(source, 0, tp_mesh_size(mesh) - 1);
    assert_false(sends[source]);
    sends[source] = true;
    moves |= source != to;
    for (int a = 0; a < mesh->n_axes; a++) {
      bool in_group = false;
      for (int i = 0; i < step->n_axes; i++)
        in_group |= step->axes[i] == a;
      assert_true(in_group ||
                  tp_mesh_coordinate(mesh, source, a) == tp_mesh_coordinate(mesh, to, a));
    }
  }
  assert_true(moves);
}

static void check_pair(tp_reshard_cache *cache, const tp_mesh *mesh, const setting *s, tp_spec from,
                       tp_spec to, int64_t *no_path) {
  tp_reshard path;
  tp_cost cost = tp_reshard_cost(cache, from, to, s->rank, s->shape, 4), sum = 0;
  if (cost >= TP_COST_FORBIDDEN) {
    assert_int_equal(tp_reshard_path(cache, from, to, s->rank, s->shape, 4, &path), TP_UNSUPPORTED);
    ++*no_path;
    return;
  }
  assert_int_equal(tp_reshard_path(cache, from, to, s->rank, s->shape, 4, &path), TP_OK);
  assert_true(path.n_steps > 0 || cost == 0);
  sim tensor;
  tp_spec now = from;
  int64_t bytes = 0;
  sim_create(&tensor, mesh, from, s->rank, s->shape, s->combiner);
  for (int i = 0; i < path.n_steps; i++) {
    assert_true(tp_spec_equal(path.steps[i].from, now));
    now = path.steps[i].to;
    check_layout(mesh, s, now, from, to);
    if (path.steps[i].kind == TP_STEP_PERMUTE)
      check_permute(mesh, &path.steps[i]);
    sum += path.steps[i].cost;
    bytes += path.steps[i].bytes;
    sim_execute(&tensor, &path.steps[i]);
    if (!sim_holds(&tensor, now)) {
      char a[256], b[256], c[256];
      tp_spec_text(mesh, from, s->rank, a, sizeof a);
      tp_spec_text(mesh, to, s->rank, b, sizeof b);
      tp_spec_text(mesh, now, s->rank, c, sizeof c);
      fail_msg("%s -> %s: wrong after step %d (%s), at %s", a, b, i,
               tp_step_kind_name(path.steps[i].kind), c);
    }
  }
  assert_true(path.n_steps == 0 || tp_spec_equal(now, to));
  assert_true(sim_holds(&tensor, to));
  assert_true(sum == cost && path.cost == cost && path.bytes == bytes);
  sim_destroy(&tensor);
}

static void check_setting(const setting *s) {
  static tp_spec specs[MAX_SPECS];
  tp_mesh mesh = make_mesh(s->n_axes, s->sizes);
  tp_topology topology;
  assert_int_equal(tp_topology_load("cpu", &mesh, NULL, 0, &topology), TP_OK);
  tp_reshard_cache *cache = tp_reshard_cache_create(&mesh, &topology);
  assert_non_null(cache);
  int n = all_specs(&mesh, s->rank, true, s->combiner, MAX_SPECS, specs);
  assert_true(n < MAX_SPECS);
  int64_t no_path = 0;
  for (int64_t pair = 0; pair < (int64_t)n * n; pair += s->stride) {
    tp_spec from = specs[pair / n], to = specs[pair % n];
    bool exact = tp_spec_divides(&mesh, from, s->rank, s->shape) &&
                 tp_spec_divides(&mesh, to, s->rank, s->shape);
    int64_t before = no_path;
    check_pair(cache, &mesh, s, from, to, &no_path);
    if (exact)
      assert_true(no_path == before); /* sum and max have identities: every exact pair has a path */
  }
  assert_int_equal(no_path, s->no_path);
  tp_reshard_cache_destroy(cache);
}

static const setting settings[] = {
    {1, {2}, 0, {0}, TP_SUM, 1, 0},
    {2, {2, 2}, 0, {0}, TP_MAX, 1, 0},
    {1, {2}, 1, {8}, TP_SUM, 1, 0},
    {1, {4}, 2, {8, 4}, TP_SUM, 1, 0},
    {2, {2, 2}, 1, {8}, TP_MAX, 1, 0},
    {2, {2, 2}, 2, {8, 4}, TP_SUM, 1, 0},
    {2, {2, 2}, 3, {4, 4, 4}, TP_SUM, 1, 0},
    {2, {4, 2}, 2, {8, 8}, TP_SUM, 1, 0},
    {2, {4, 2}, 3, {8, 8, 8}, TP_MAX, 7, 0},
    {2, {3, 2}, 2, {6, 12}, TP_SUM, 1, 0},
    {3, {2, 2, 2}, 1, {8}, TP_SUM, 1, 0},
    {3, {2, 2, 2}, 2, {8, 8}, TP_SUM, 7, 0},
    {3, {2, 2, 2}, 3, {8, 8, 8}, TP_SUM, 211, 0},
    {3, {2, 4, 2}, 2, {16, 16}, TP_MAX, 53, 0},
    {3, {2, 1, 2}, 2, {4, 4}, TP_SUM, 3, 0},
    {2, {6, 4}, 2, {24, 24}, TP_SUM, 11, 0},
    /* sizes that some shardings do not divide */
    {2, {2, 4}, 1, {10}, TP_SUM, 1, 0},
    {2, {2, 2}, 2, {6, 4}, TP_SUM, 1, 0},
    {2, {3, 2}, 2, {7, 6}, TP_MAX, 1, 0},
    {3, {2, 2, 2}, 1, {10}, TP_SUM, 1, 0},
    {3, {2, 2, 2}, 2, {10, 4}, TP_SUM, 13, 0},
    {2, {2, 3}, 2, {1, 2}, TP_SUM, 1, 0},
    {2, {2, 2}, 2, {0, 4}, TP_SUM, 1, 0},
};

static void every_path_is_right(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
    check_setting(&settings[i]);
}

/* On meshes and ranks too large for a full search, the paths are still correct. */
static void large_meshes(void **state) {
  (void)state;
  setting s = {6, {0}, 4, {64, 64, 64, 5}, TP_SUM, 1, 0};
  int64_t sizes[] = {2, 2, 2, 2, 2, 2};
  static tp_spec pool[2000];
  tp_mesh mesh = make_mesh(6, sizes);
  tp_topology topology;
  assert_int_equal(tp_topology_load("h100", &mesh, NULL, 0, &topology), TP_OK);
  tp_reshard_cache *cache = tp_reshard_cache_create(&mesh, &topology);
  uint32_t seed = 1;
  int n = 0;
  while (n < 40) { /* random specs */
    tp_spec spec = tp_spec_replicated();
    for (int i = 0; i < 6; i++) {
      seed = seed * 1664525u + 1013904223u;
      int axis = (int)(seed >> 16) % 6, where = (int)(seed >> 24) % 6;
      if (where < 4)
        tp_spec_append(&spec, axis, where);
      if (where == 4)
        tp_spec_set_partial(&spec, axis, TP_SUM);
    }
    pool[n++] = spec;
  }
  int64_t no_path = 0;
  s.shape[0] = s.shape[1] = s.shape[2] = 8; /* 6 axes of 2 on one dimension of 8: uneven */
  for (int i = 0; i + 1 < n; i++)
    check_pair(cache, &mesh, &s, pool[i], pool[i + 1], &no_path);
  assert_int_equal(no_path, 0);
  tp_reshard_cache_destroy(cache);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_path_is_right),
      cmocka_unit_test(large_meshes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
