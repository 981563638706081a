/* Tests reshard paths: optimal, deterministic, and equal to known solutions. */
#include "exhaustive.h"
#include "sharding/layout.h"
#include "simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_SPECS = 300 };

static tp_reshard_cache *make_cache(const tp_mesh *mesh, const char *name, tp_topology *topology) {
  assert_int_equal(tp_topology_load(name, mesh, NULL, 0, topology), TP_OK);
  tp_reshard_cache *cache = tp_reshard_cache_create(mesh, topology);
  assert_non_null(cache);
  return cache;
}

/* ---- The path is the cheapest ---- */

static void check_optimal(int n_axes, const int64_t *sizes, int rank, const int64_t *shape,
                          const char *topology_name) {
  tp_mesh mesh = make_mesh(n_axes, sizes);
  tp_topology topology;
  tp_reshard_cache *cache = make_cache(&mesh, topology_name, &topology);
  exhaustive all;
  assert_true(
      exhaustive_create(&all, &mesh, &topology, rank, shape, 4, 1, (tp_combiner[]){TP_SUM}));
  for (int from = 0; from < all.n; from++)
    for (int to = 0; to < all.n; to++) {
      tp_cost least = exhaustive_cost(&all, from, to);
      tp_reshard path = {.cost = TP_COST_FORBIDDEN};
      assert_int_equal(tp_reshard_cost(cache, all.specs[from], all.specs[to], rank, shape, 4),
                       least);
      /* distances are computed separately from paths */
      tp_reshard_path(cache, all.specs[from], all.specs[to], rank, shape, 4, &path);
      assert_int_equal(path.cost, least);
    }
  exhaustive_destroy(&all);
  tp_reshard_cache_destroy(cache);
}

static void optimal(void **state) {
  (void)state;
  static const int64_t wide[] = {64, 64, 64}, large[] = {4096, 8192}, small[] = {4, 4},
                       partly[] = {4, 6};
  static const int64_t three[] = {12, 36}, odd[] = {10, 7}, tiny[] = {10, 2, 1};
  for (const char *const *name = tp_topology_names(); *name; name++) {
    check_optimal(2, (int64_t[]){4, 2}, 3, wide, *name);
    check_optimal(2, (int64_t[]){4, 2}, 2, large, *name);
    check_optimal(2, (int64_t[]){2, 2}, 2, small, *name);
    check_optimal(2, (int64_t[]){4, 2}, 2, partly, *name); /* some shardings do not divide */
    check_optimal(2, (int64_t[]){3, 2}, 2, odd, *name);
    check_optimal(2, (int64_t[]){2, 4}, 3, tiny, *name);
    check_optimal(2, (int64_t[]){3, 2}, 2, three, *name);
    check_optimal(3, (int64_t[]){2, 2, 2}, 2, large, *name);
  }
}

/* ---- Known paths ---- */

typedef struct place_row {
  int axis, dim; /* dim -1: partial sum */
} place_row;

typedef struct golden {
  const char *what;
  int n_axes;
  int64_t sizes[3];
  int n_from;
  place_row from[3];
  int n_to;
  place_row to[3];
  int n_steps;
  struct {
    tp_step_kind kind;
    int n_axes;
    int axes[3];
    int64_t bytes;
  } steps[3];
} golden;

static tp_spec make_spec(int n, const place_row *rows) {
  tp_spec spec = tp_spec_replicated();
  for (int i = 0; i < n; i++) {
    tp_status status = rows[i].dim < 0 ? tp_spec_set_partial(&spec, rows[i].axis, TP_SUM)
                                       : tp_spec_append(&spec, rows[i].axis, rows[i].dim);
    assert_int_equal(status, TP_OK);
  }
  return spec;
}

/* A float tensor of 1024 x 2048: 8 MiB. */
static const int64_t MIB = 1 << 20;
#define MB(x) ((int64_t)(x) << 20)

/* clang-format off */
static const golden goldens[] = {
    {"one gather over both axes", 2, {4, 2}, 2, {{0, 0}, {1, 0}}, 0, {{0}}, 1,
     {{TP_STEP_ALL_GATHER, 2, {0, 1}, MB(7)}}},
    {"and in the order of the layout", 2, {4, 2}, 2, {{1, 0}, {0, 0}}, 0, {{0}}, 1,
     {{TP_STEP_ALL_GATHER, 2, {1, 0}, MB(7)}}},
    {"only the minor axis", 2, {4, 2}, 2, {{0, 0}, {1, 0}}, 1, {{0, 0}}, 1, {{TP_STEP_ALL_GATHER, 1, {1}, MB(1)}}},
    {"a slice is local", 2, {4, 2}, 0, {{0}}, 2, {{0, 1}, {1, 1}}, 1, {{TP_STEP_SLICE, 2, {0, 1}, 0}}},
    {"two partials in one step", 2, {4, 2}, 2, {{0, -1}, {1, -1}}, 0, {{0}}, 1,
     {{TP_STEP_ALL_REDUCE, 2, {0, 1}, MB(14)}}},
    {"partial to sharded", 2, {4, 2}, 1, {{0, -1}}, 1, {{0, 1}}, 1, {{TP_STEP_REDUCE_SCATTER, 1, {0}, MB(6)}}},
    {"partials to shards", 2, {4, 2}, 2, {{0, -1}, {1, -1}}, 2, {{1, 1}, {0, 1}}, 1,
     {{TP_STEP_REDUCE_SCATTER, 2, {1, 0}, MB(7)}}},
    {"all to all", 1, {8}, 1, {{0, 0}}, 1, {{0, 1}}, 1, {{TP_STEP_ALL_TO_ALL, 1, {0}, 7 * MB(1) / 8}}},
    {"all to all of two axes", 2, {4, 2}, 2, {{0, 0}, {1, 0}}, 2, {{0, 1}, {1, 1}}, 1,
     {{TP_STEP_ALL_TO_ALL, 2, {0, 1}, 7 * MB(1) / 8}}},
    {"equal axes swap by a permute", 2, {4, 4}, 2, {{0, 0}, {1, 1}}, 2, {{1, 0}, {0, 1}}, 1,
     {{TP_STEP_PERMUTE, 2, {0, 1}, MB(1) / 2}}},
    {"axes of a dimension in another order", 2, {4, 2}, 2, {{0, 0}, {1, 0}}, 2, {{1, 0}, {0, 0}}, 1,
     {{TP_STEP_PERMUTE, 2, {0, 1}, MB(1)}}},
    {"shards move to the other axis", 2, {4, 4}, 1, {{0, 0}}, 1, {{1, 0}}, 1, {{TP_STEP_PERMUTE, 2, {0, 1}, MB(2)}}},
    {"replicated to partial", 2, {4, 2}, 0, {{0}}, 1, {{1, -1}}, 1, {{TP_STEP_MASK, 1, {1}, 0}}},
    {"slice first, then reduce less", 2, {4, 2}, 1, {{0, -1}}, 1, {{1, 0}}, 2,
     {{TP_STEP_SLICE, 1, {1}, 0}, {TP_STEP_ALL_REDUCE, 1, {0}, MB(6)}}},
    {"axes of size 1 are no steps", 3, {4, 1, 2}, 2, {{1, 0}, {0, 0}}, 1, {{0, 0}}, 0, {{TP_STEP_MASK, 0, {0}, 0}}},
};
/* clang-format on */

static void known_paths(void **state) {
  (void)state;
  assert_int_equal(MB(1), MIB);
  static const int64_t shape[] = {1024, 2048};
  for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
    const golden *g = &goldens[i];
    tp_mesh mesh = make_mesh(g->n_axes, g->sizes);
    tp_topology topology;
    tp_reshard_cache *cache = make_cache(&mesh, "cpu", &topology);
    tp_reshard path;
    tp_spec from = make_spec(g->n_from, g->from), to = make_spec(g->n_to, g->to);
    assert_int_equal(tp_reshard_path(cache, from, to, 2, shape, 4, &path), TP_OK);
    bool same = path.n_steps == g->n_steps;
    for (int s = 0; same && s < g->n_steps; s++) {
      same = path.steps[s].kind == g->steps[s].kind && path.steps[s].bytes == g->steps[s].bytes &&
             path.steps[s].n_axes == g->steps[s].n_axes;
      for (int a = 0; same && a < g->steps[s].n_axes; a++)
        same = path.steps[s].axes[a] == g->steps[s].axes[a];
    }
    if (!same)
      fail_msg("%s", g->what);
    tp_reshard_cache_destroy(cache);
  }
}

/* Swapping axes of different sizes is not a permute, but has a path. */
/* Two axes leave one dimension for two, or two for one, in one all-to-all of 7/8 of a device's
 * data; axis by axis it would be 3/4 and 1/2. */
static void exchanges(void **state) {
  (void)state;
  static const int64_t shape[] = {64, 64, 64}, uneven[] = {64, 60, 63};
  static const place_row together[] = {{0, 0}, {1, 0}}, apart[] = {{0, 1}, {1, 2}};
  tp_mesh mesh = make_mesh(2, (int64_t[]){4, 2});
  tp_topology topology;
  assert_int_equal(tp_topology_load("h100", &mesh, NULL, 0, &topology), TP_OK);
  tp_topology_count_bytes(&topology, TP_BYTE_FLOPS);
  tp_reshard_cache *cache = tp_reshard_cache_create(&mesh, &topology);
  assert_non_null(cache);
  tp_spec rows = make_spec(2, together), others = make_spec(2, apart);
  tp_reshard path;
  for (int back = 0; back < 2; back++) {
    assert_int_equal(
        tp_reshard_path(cache, back ? others : rows, back ? rows : others, 3, shape, 4, &path),
        TP_OK);
    assert_int_equal(path.n_steps, 1);
    const tp_step *step = &path.steps[0];
    assert_int_equal(step->kind, TP_STEP_ALL_TO_ALL);
    assert_true(step->n_axes == 2 && step->axes[0] == 0 && step->axes[1] == 1);
    assert_int_equal(step->dim, back ? -1 : 0);
    assert_int_equal(step->to_dim, back ? 0 : -1);
    assert_int_equal(step->bytes, 7 * (64 * 64 * 64 * 4 / 8) / 8);
  }
  /* Unequal slices are not an all-to-all. */
  assert_int_equal(tp_reshard_path(cache, rows, others, 3, uneven, 4, &path), TP_OK);
  for (int i = 0; i < path.n_steps; i++)
    assert_true(path.steps[i].kind != TP_STEP_ALL_TO_ALL ||
                (path.steps[i].dim >= 0 && path.steps[i].to_dim >= 0));
  tp_reshard_cache_destroy(cache);
}

static void unequal_swap(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){4, 2});
  tp_topology topology;
  tp_reshard_cache *cache = make_cache(&mesh, "cpu", &topology);
  static const int64_t shape[] = {1024, 2048};
  tp_spec from = make_spec(2, (place_row[]){{0, 0}, {1, 1}}),
          to = make_spec(2, (place_row[]){{1, 0}, {0, 1}});
  tp_reshard path;
  assert_int_equal(tp_reshard_path(cache, from, to, 2, shape, 4, &path), TP_OK);
  assert_in_range(path.n_steps, 2, 3);
  assert_true(path.bytes <= MB(5) / 2); /* never through a replicated tensor */
  tp_reshard_cache_destroy(cache);
}

static void no_paths(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){2, 2});
  tp_topology topology;
  tp_reshard_cache *cache = make_cache(&mesh, "cpu", &topology);
  static const int64_t shape[] = {8}, negative[] = {-1};
  tp_spec none = tp_spec_replicated(), sum = none, max = none, mean = none, mixed = none,
          dim1 = none, split = none;
  tp_spec_set_partial(&sum, 0, TP_SUM);
  tp_spec_set_partial(&max, 0, TP_MAX);
  tp_spec_set_partial(&mean, 0, TP_AVERAGE);
  tp_spec_set_partial(&mixed, 0, TP_SUM);
  tp_spec_set_partial(&mixed, 1, TP_MAX);
  tp_spec_append(&dim1, 0, 1);
  tp_spec_append(&split, 0, 0);
  tp_reshard path;
  assert_int_equal(tp_reshard_cost(cache, sum, mean, 1, shape, 4), TP_COST_FORBIDDEN);
  assert_int_equal(tp_reshard_path(cache, sum, mean, 1, shape, 4, &path), TP_UNSUPPORTED);
  assert_int_equal(tp_reshard_cost(cache, none, mean, 1, shape, 4), TP_COST_FORBIDDEN);
  assert_int_equal(tp_reshard_cost(cache, mixed, none, 1, shape, 4), TP_COST_FORBIDDEN);
  assert_int_equal(tp_reshard_cost(cache, mixed, mixed, 1, shape, 4), 0);
  assert_int_equal(tp_reshard_cost(cache, none, split, 1, negative, 4), TP_COST_FORBIDDEN);
  assert_int_equal(tp_reshard_cost(cache, none, dim1, 1, shape, 4), TP_COST_FORBIDDEN);
  assert_int_equal(tp_reshard_path(cache, none, dim1, 1, shape, 4, &path), TP_INVALID_ARGUMENT);
  assert_true(tp_reshard_cost(cache, mean, none, 1, shape, 4) < TP_COST_FORBIDDEN);
  assert_true(tp_reshard_cost(cache, mean, split, 1, shape, 4) < TP_COST_FORBIDDEN);
  tp_reshard_cache_destroy(cache);
}

/* Returns true if all partial axes of both shardings have the same combiner. */
static bool one_combiner(const tp_mesh *mesh, tp_spec a, tp_spec b) {
  unsigned seen = 0;
  for (int i = 0; i < mesh->n_axes; i++) {
    tp_place x = tp_spec_place(a, i), y = tp_spec_place(b, i);
    seen |= (x.kind == TP_PARTIAL ? 1u << x.combiner : 0) |
            (y.kind == TP_PARTIAL ? 1u << y.combiner : 0);
  }
  return (seen & (seen - 1)) == 0;
}

/* From one combiner to another: all partials of the first are reduced before the first partial of
 * the other appears. A cache that forgets everything before each search gives the same answers. */
static void other_combiner(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){4, 2});
  tp_topology topology;
  tp_reshard_cache *cache = make_cache(&mesh, "cpu", &topology),
                   *small = make_cache(&mesh, "cpu", &topology);
  static const int64_t shapes[][2] = {{8, 64}, {7, 5}};
  tp__reshard_cache_limit(small, 1);
  for (int k = 0; k < 2; k++) {
    exhaustive all;
    assert_true(exhaustive_create(&all, &mesh, &topology, 2, shapes[k], 4, 2,
                                  (tp_combiner[]){TP_SUM, TP_MAX}));
    for (int pair = 0; pair < all.n * all.n; pair++) {
      tp_reshard path;
      tp_spec from = all.specs[pair / all.n], to = all.specs[pair % all.n];
      assert_int_equal(tp_reshard_path(small, from, to, 2, shapes[k], 4, &path), TP_OK);
      assert_int_equal(path.cost, exhaustive_cost(&all, pair / all.n, pair % all.n));
      assert_int_equal(tp_reshard_cost(cache, from, to, 2, shapes[k], 4), path.cost);
      for (int s = 0; s < path.n_steps; s++)
        assert_true(one_combiner(&mesh, path.steps[s].from, path.steps[s].to));
    }
    exhaustive_destroy(&all);
  }
  tp_reshard_cache_destroy(small);
  tp_reshard_cache_destroy(cache);
}

/* ---- Properties ---- */

static void triangle_and_determinism(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(3, (int64_t[]){2, 4, 2});
  tp_topology topology;
  tp_reshard_cache *one = make_cache(&mesh, "h100", &topology),
                   *two = make_cache(&mesh, "h100", &topology);
  static const int64_t shape[] = {256, 4096};
  tp_spec specs[MAX_SPECS];
  int n = all_specs(&mesh, 2, true, TP_SUM, MAX_SPECS, specs);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      tp_cost direct = tp_reshard_cost(one, specs[i], specs[j], 2, shape, 2);
      for (int k = 0; k < n; k += 3) {
        if (tp_spec_has_partial(specs[k]) && !tp_spec_has_partial(specs[i]) &&
            !tp_spec_has_partial(specs[j]))
          continue;
        tp_cost around = tp_cost_add(tp_reshard_cost(one, specs[i], specs[k], 2, shape, 2),
                                     tp_reshard_cost(one, specs[k], specs[j], 2, shape, 2));
        assert_true(direct <= around);
      }
    }
  }
  for (int i = n - 1; i >= 0; i--) { /* queries the second cache in another order */
    for (int j = n - 1; j >= 0; j -= 5) {
      tp_reshard a, b;
      memset(&a, 0, sizeof a);
      memset(&b, 0, sizeof b);
      assert_int_equal(tp_reshard_path(one, specs[i], specs[j], 2, shape, 2, &a), TP_OK);
      assert_int_equal(tp_reshard_path(two, specs[i], specs[j], 2, shape, 2, &b), TP_OK);
      assert_true(a.n_steps == b.n_steps && a.cost == b.cost && a.bytes == b.bytes);
      for (int s = 0; s < a.n_steps; s++) {
        assert_int_equal(a.steps[s].kind, b.steps[s].kind);
        assert_true(tp_spec_equal(a.steps[s].to, b.steps[s].to));
      }
    }
  }
  tp_reshard_cache_destroy(one);
  tp_reshard_cache_destroy(two);
}

/* A cache with evictions gives the same answers. */
static void small_cache(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){4, 2});
  tp_topology topology;
  tp_reshard_cache *large = make_cache(&mesh, "cpu", &topology),
                   *small = make_cache(&mesh, "cpu", &topology);
  tp__reshard_cache_limit(small, 40); /* two searches of 18 states */
  tp_spec specs[MAX_SPECS];
  int n = all_specs(&mesh, 2, true, TP_SUM, MAX_SPECS, specs);
  for (int64_t size = 8; size <= 64; size += 8) {
    int64_t shape[] = {size, 8};
    for (int pair = 0; pair < n * n; pair++) {
      tp_spec from = specs[pair % n], to = specs[pair / n];
      assert_int_equal(tp_reshard_cost(small, from, to, 2, shape, 4),
                       tp_reshard_cost(large, from, to, 2, shape, 4));
    }
  }
  tp_reshard_cache_destroy(small);
  tp_reshard_cache_destroy(large);
}

/* Rows of costs equal single costs, when they are computed and when they are found again, also for
 * more layouts than a table has room for. */
static void rows_of_costs(void **state) {
  (void)state;
  enum { MANY = 4000, AT_ONCE = 100 };
  tp_mesh mesh = make_mesh(5, (int64_t[]){2, 2, 2, 2, 2});
  tp_topology topology;
  tp_reshard_cache *rows = make_cache(&mesh, "cpu", &topology),
                   *single = make_cache(&mesh, "cpu", &topology);
  static const int64_t shapes[][2] = {{64, 32}, {32, 64}};
  tp_spec *specs = calloc(MANY, sizeof *specs);
  int n = all_specs(&mesh, 2, true, TP_SUM, MANY, specs), number[AT_ONCE];
  tp_cost costs[AT_ONCE];
  assert_true(n > 2 * 1024 && n < MANY);
  for (int pass = 0; pass < 2; pass++)
    for (int first = 0; first < n; first += AT_ONCE) {
      int at_once = n - first < AT_ONCE ? n - first : AT_ONCE;
      tp_reshard_targets targets = {.rank = 2,
                                    .shape = shapes[first / AT_ONCE % 2],
                                    .element_size = 4,
                                    .n = at_once,
                                    .to = specs + first,
                                    .number = number};
      for (int from = 0; from < n; from += 37) {
        tp_reshard_costs(rows, &targets, specs[from], costs);
        for (int k = 0; k < at_once; k++)
          assert_int_equal(costs[k], tp_reshard_cost(single, specs[from], specs[first + k], 2,
                                                     targets.shape, 4));
      }
    }
  free(specs);
  tp_reshard_cache_destroy(rows);
  tp_reshard_cache_destroy(single);
}

/* On a mesh too large for a full search, the common part of two shardings stays fixed. */
static void shared_axes_stay(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(8, (int64_t[]){2, 2, 2, 2, 2, 2, 2, 2});
  tp_topology topology;
  tp_reshard_cache *cache = make_cache(&mesh, "cpu", &topology);
  static const int order[2][2][4] = {{{0, 1, 2, 3}, {4, 5, 6, 7}}, {{0, 1, 3, 2}, {4, 5, 7, 6}}};
  static const int64_t shape[] = {1024, 1024};
  tp_spec specs[2] = {{0}, {0}};
  for (int i = 0; i < 16; i++)
    assert_int_equal(tp_spec_append(&specs[i / 8], order[i / 8][i / 4 % 2][i % 4], i / 4 % 2),
                     TP_OK);
  tp_reshard path;
  assert_int_equal(tp_reshard_path(cache, specs[0], specs[1], 2, shape, 4, &path), TP_OK);
  assert_int_equal(path.n_steps, 4); /* gathers two axes of each dimension, slices them again */
  for (int i = 0; i < 4; i++) {
    assert_int_equal(path.steps[i].kind, i < 2 ? TP_STEP_ALL_GATHER : TP_STEP_SLICE);
    assert_int_equal(path.steps[i].n_axes, 2);
  }
  assert_int_equal(tp_reshard_cost(cache, specs[0], specs[1], 2, shape, 4), path.cost);
  tp_reshard_cache_destroy(cache);
}

/* Every k-th allocation fails: the result is an error or correct, and the cache stays usable. */
static void out_of_memory(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){4, 2});
  tp_topology topology;
  assert_int_equal(tp_topology_load("cpu", &mesh, NULL, 0, &topology), TP_OK);
  static const int64_t shape[] = {64, 64};
  tp_spec from = make_spec(1, (place_row[]){{0, 0}}), to = make_spec(1, (place_row[]){{0, 1}});
  int failures = 0;
  for (int64_t k = 1;; k++) {
    tp_reshard path;
    tp__alloc_fail(k, INT64_MAX);
    tp_reshard_cache *cache = tp_reshard_cache_create(&mesh, &topology);
    tp_status status = cache ? tp_reshard_path(cache, from, to, 2, shape, 4, &path) : TP_NO_MEMORY;
    tp__alloc_fail(0, 0);
    if (cache) {
      tp_reshard again;
      assert_int_equal(tp_reshard_path(cache, from, to, 2, shape, 4, &again), TP_OK);
      assert_int_equal(again.n_steps, 1);
    }
    tp_reshard_cache_destroy(cache);
    if (status == TP_OK)
      break;
    assert_int_equal(status, TP_NO_MEMORY);
    failures++;
  }
  assert_true(failures >= 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(optimal),
      cmocka_unit_test(known_paths),
      cmocka_unit_test(unequal_swap),
      cmocka_unit_test(exchanges),
      cmocka_unit_test(no_paths),
      cmocka_unit_test(other_combiner),
      cmocka_unit_test(triangle_and_determinism),
      cmocka_unit_test(small_cache),
      cmocka_unit_test(rows_of_costs),
      cmocka_unit_test(shared_axes_stay),
      cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
