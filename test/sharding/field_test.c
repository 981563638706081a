/* Tests distances from many layouts at once against those between two. */
#include "exhaustive.h"
#include "sharding/layout_field.h"
#include "simulator.h"
#include "tp/reshard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
  tp_mesh mesh;
  tp_topology topology;
  tp_reshard_cache *cache;
  exhaustive all;
  tp_reshard_field *field;
  tp_cost *costs;
} fixture;

/* The layouts of interest are the first `n` of all, or all. */
static void begin(fixture *f, int n_axes, const int64_t *sizes, int rank, const int64_t *shape,
                  double times, int n) {
  f->mesh = make_mesh(n_axes, sizes);
  assert_int_equal(tp_topology_load("a100", &f->mesh, NULL, 0, &f->topology), TP_OK);
  f->cache = tp_reshard_cache_create(&f->mesh, &f->topology);
  assert_non_null(f->cache);
  assert_true(exhaustive_create(&f->all, &f->mesh, &f->topology, rank, shape, 4, 1,
                                (tp_combiner[]){TP_SUM}));
  assert_int_equal(tp_reshard_field_create(f->cache, rank, shape, 4, times, n ? n : f->all.n,
                                           f->all.specs, &f->field),
                   TP_OK);
  f->costs = calloc((size_t)tp_reshard_field_size(f->field), sizeof *f->costs);
  assert_non_null(f->costs);
}

static void end(fixture *f) {
  free(f->costs);
  tp_reshard_field_destroy(f->field);
  exhaustive_destroy(&f->all);
  tp_reshard_cache_destroy(f->cache);
}

static void spread_from(const fixture *f, int spec, bool backward) {
  for (int i = 0; i < tp_reshard_field_size(f->field); i++)
    f->costs[i] = TP_COST_FORBIDDEN;
  f->costs[tp_reshard_field_number(f->field, f->all.specs[spec])] = 0;
  tp_reshard_field_spread(f->field, backward, f->costs);
}

static tp_cost cost_at(const fixture *f, int spec) {
  return f->costs[tp_reshard_field_number(f->field, f->all.specs[spec])];
}

static void check_pairs(int n_axes, const int64_t *sizes, int rank, const int64_t *shape,
                        bool is_even) {
  fixture f;
  begin(&f, n_axes, sizes, rank, shape, 1, 0);
  for (int a = 0; a < f.all.n; a++)
    for (int backward = 0; backward < 2; backward++) {
      spread_from(&f, a, backward);
      for (int b = 0; b < f.all.n; b++) {
        tp_spec from = f.all.specs[backward ? b : a], to = f.all.specs[backward ? a : b];
        tp_cost exact = tp_reshard_cost(f.cache, from, to, rank, shape, 4);
        if (is_even)
          assert_int_equal(cost_at(&f, b), exact);
        else
          assert_true(cost_at(&f, b) <= exact);
      }
    }
  end(&f);
}

static void pairs(void **state) {
  (void)state;
  check_pairs(2, (int64_t[]){4, 2}, 2, (int64_t[]){4096, 8192}, true);
  check_pairs(2, (int64_t[]){4, 2}, 3, (int64_t[]){64, 64, 64}, true);
  check_pairs(3, (int64_t[]){2, 2, 2}, 2, (int64_t[]){64, 8}, true);
  /* some shardings do not divide */
  check_pairs(2, (int64_t[]){4, 2}, 2, (int64_t[]){4, 6}, false);
  check_pairs(2, (int64_t[]){3, 2}, 2, (int64_t[]){10, 7}, false);
  check_pairs(1, (int64_t[]){1}, 2, (int64_t[]){10, 7}, false);
}

/* Costs of several layouts: the least sum, also of negative ones. */
static void many_sources(void **state) {
  (void)state;
  static const int64_t shape[] = {64, 64};
  fixture f;
  begin(&f, 2, (int64_t[]){4, 2}, 2, shape, 1, 0);
  for (int i = 0; i < tp_reshard_field_size(f.field); i++)
    f.costs[i] = TP_COST_FORBIDDEN;
  tp_cost given[64];
  int n = f.all.n < 64 ? f.all.n : 64;
  for (int a = 0; a < n; a++) {
    given[a] = a % 3 == 0 ? (tp_cost)(a * 7919 % 101) * 1000000 - 30000000 : TP_COST_FORBIDDEN;
    f.costs[tp_reshard_field_number(f.field, f.all.specs[a])] = given[a];
  }
  tp_reshard_field_spread(f.field, false, f.costs);
  for (int b = 0; b < f.all.n; b++) {
    tp_cost least = TP_COST_FORBIDDEN;
    for (int a = 0; a < n; a++) {
      tp_cost sum =
          given[a] + tp_reshard_cost(f.cache, f.all.specs[a], f.all.specs[b], 2, shape, 4);
      least = given[a] < TP_COST_FORBIDDEN && sum < least ? sum : least;
    }
    assert_int_equal(cost_at(&f, b), least);
  }
  end(&f);
}

/* Every move is rounded down, so a path is at most as far below as it has moves. */
static void multiples(void **state) {
  (void)state;
  static const int64_t shape[] = {64, 64};
  fixture f;
  begin(&f, 2, (int64_t[]){4, 2}, 2, shape, 2.5, 0);
  spread_from(&f, 0, false);
  for (int b = 0; b < f.all.n; b++) {
    double exact =
        2.5 * (double)tp_reshard_cost(f.cache, f.all.specs[0], f.all.specs[b], 2, shape, 4);
    assert_true((double)cost_at(&f, b) <= exact);
    assert_true((double)cost_at(&f, b) > exact - TP_MAX_STEPS);
  }
  end(&f);
}

/* The table of distances has those of single spreads. Costs that do not fit into it are rounded
 * down, at most by a unit for each move. */
static void check_table(int n_axes, const int64_t *sizes, int rank, const int64_t *shape,
                        double times, bool fits) {
  fixture f;
  begin(&f, n_axes, sizes, rank, shape, times, 0);
  int n = tp_reshard_field_size(f.field), shift = -1;
  int *numbers = calloc((size_t)f.all.n, sizeof *numbers);
  uint32_t *table = calloc((size_t)f.all.n * (size_t)f.all.n, sizeof *table);
  assert_true(n > 0 && numbers && table);
  /* in another order than in the field, and not all of them */
  int n_asked = 0;
  for (int i = f.all.n - 1; i >= 0; i -= 1 + (i % 7 == 0))
    numbers[n_asked++] = tp_reshard_field_number(f.field, f.all.specs[i]);
  assert_int_equal(tp_reshard_field_distances(f.field, n_asked, numbers, &shift, table), TP_OK);
  for (int a = 0; a < n_asked; a++) {
    for (int i = 0; i < n; i++)
      f.costs[i] = i == numbers[a] ? 0 : TP_COST_FORBIDDEN;
    tp_reshard_field_spread(f.field, false, f.costs);
    for (int b = 0; b < n_asked; b++) {
      tp_cost distance = (tp_cost)table[a * n_asked + b] << shift, exact = f.costs[numbers[b]];
      assert_true(table[a * n_asked + b] < TP_FIELD_FAR / 2);
      assert_true(distance <= exact);
      assert_true(distance > exact - ((tp_cost)TP_MAX_STEPS << shift));
      if (shift == 0)
        assert_int_equal(distance, exact);
    }
  }
  assert_int_equal(shift == 0, fits);
  free(table);
  free(numbers);
  end(&f);
}

static void tables(void **state) {
  (void)state;
  check_table(2, (int64_t[]){4, 2}, 2, (int64_t[]){4096, 8192}, 1, false);
  check_table(3, (int64_t[]){2, 2, 2}, 2, (int64_t[]){64, 8}, 2.5, true);
  check_table(2, (int64_t[]){3, 2}, 2, (int64_t[]){10, 7}, 1, true);
  check_table(1, (int64_t[]){1}, 2, (int64_t[]){10, 7}, 1, true);
  check_table(2, (int64_t[]){4, 2}, 3, (int64_t[]){64, 64, 64}, 1e5, false);
  /* dimensions and axes that may be exchanged, also on uneven dimensions */
  check_table(2, (int64_t[]){2, 2}, 2, (int64_t[]){64, 64}, 1, true);
  check_table(3, (int64_t[]){2, 2, 2}, 2, (int64_t[]){6, 6}, 1, true);
  check_table(2, (int64_t[]){4, 4}, 2, (int64_t[]){64, 64}, 1, true);
}

static void check_symmetries(int n_axes, const int64_t *sizes, int rank, const int64_t *shape,
                             int n) {
  fixture f;
  tp__field_symmetries found;
  begin(&f, n_axes, sizes, rank, shape, 1, 0);
  assert_int_equal(tp__field_symmetries_find(f.field, &found), TP_OK);
  assert_int_equal(found.n, n);
  tp__field_symmetries_clear(&found);
  end(&f);
}

static void symmetries(void **state) {
  (void)state;
  check_symmetries(2, (int64_t[]){4, 2}, 2, (int64_t[]){64, 32}, 1);
  check_symmetries(2, (int64_t[]){4, 2}, 2, (int64_t[]){64, 64}, 2);
  check_symmetries(2, (int64_t[]){2, 2}, 2, (int64_t[]){64, 64}, 4);
  check_symmetries(3, (int64_t[]){2, 2, 2}, 2, (int64_t[]){64, 32}, 6);
  /* two nodes of eight devices: the axes have other links */
  check_symmetries(2, (int64_t[]){4, 4}, 2, (int64_t[]){64, 32}, 1);
}

/* Partials of another combiner have the same numbers. */
static void combiners(void **state) {
  (void)state;
  fixture f;
  begin(&f, 2, (int64_t[]){4, 2}, 2, (int64_t[]){64, 64}, 1, 0);
  tp_spec sum = tp_spec_replicated(), max = sum;
  assert_int_equal(tp_spec_set_partial(&sum, 0, TP_SUM), TP_OK);
  assert_int_equal(tp_spec_set_partial(&max, 0, TP_MAX), TP_OK);
  assert_true(tp_reshard_field_number(f.field, sum) >= 0);
  assert_int_equal(tp_reshard_field_number(f.field, sum), tp_reshard_field_number(f.field, max));
  end(&f);
}

enum { FIVE = 5, RANK = 3 };

/* Each axis is replicated, partial, or splits a dimension that it divides. */
static tp_spec five_axes(const int64_t *shape, unsigned number) {
  tp_spec spec = tp_spec_replicated();
  int64_t left[RANK];
  memcpy(left, shape, sizeof left);
  for (int a = 0; a < FIVE; a++, number /= RANK + 2) {
    int d = (int)(number % (RANK + 2));
    if (d == RANK)
      assert_int_equal(tp_spec_set_partial(&spec, a, TP_SUM), TP_OK);
    if (d >= RANK || left[d] % 2)
      continue;
    assert_int_equal(tp_spec_append(&spec, a, d), TP_OK);
    left[d] /= 2;
  }
  return spec;
}

/* A tensor with more layouts than a search may have: distances are those that are known of a pair,
 * or less where a path leads through more axes and dimensions than that search has. Most are
 * equal. */
static void more_layouts_than_a_search(void **state) {
  (void)state;
  static const int64_t shape[RANK] = {64, 16, 2};
  enum { N = 60, STEP = 51 };
  tp_mesh mesh = make_mesh(FIVE, (int64_t[FIVE]){2, 2, 2, 2, 2});
  tp_topology topology;
  tp_reshard_field *field = NULL;
  tp_spec specs[N];
  int n_equal = 0;
  for (unsigned i = 0; i < N; i++)
    specs[i] = five_axes(shape, i * STEP);
  assert_int_equal(tp_topology_load("a100", &mesh, NULL, 0, &topology), TP_OK);
  tp_reshard_cache *cache = tp_reshard_cache_create(&mesh, &topology);
  assert_int_equal(tp_reshard_field_create(cache, RANK, shape, 4, 1, N, specs, &field), TP_OK);
  int n = tp_reshard_field_size(field);
  tp_cost *costs = calloc((size_t)n, sizeof *costs);
  assert_non_null(costs);
  for (int a = 0; a < N; a++) {
    for (int i = 0; i < n; i++)
      costs[i] = i == tp_reshard_field_number(field, specs[a]) ? 0 : TP_COST_FORBIDDEN;
    tp_reshard_field_spread(field, false, costs);
    for (int b = 0; b < N; b++) {
      tp_cost known = tp_reshard_cost(cache, specs[a], specs[b], RANK, shape, 4),
              bound = costs[tp_reshard_field_number(field, specs[b])];
      assert_true(bound <= known);
      assert_true(bound > 0 || tp_spec_equal(specs[a], specs[b]));
      n_equal += bound == known;
    }
  }
  assert_true(n_equal > N * N / 2);
  free(costs);
  tp_reshard_field_destroy(field);
  tp_reshard_cache_destroy(cache);
}

static void too_many_layouts(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(7, (int64_t[]){2, 2, 2, 2, 2, 2, 2});
  tp_topology topology;
  tp_reshard_field *field = NULL;
  tp_spec spec = tp_spec_replicated();
  assert_int_equal(tp_topology_load("a100", &mesh, NULL, 0, &topology), TP_OK);
  tp_reshard_cache *cache = tp_reshard_cache_create(&mesh, &topology);
  assert_int_equal(
      tp_reshard_field_create(cache, 4, (int64_t[]){128, 128, 128, 128}, 4, 1, 1, &spec, &field),
      TP_UNSUPPORTED);
  assert_null(field);
  tp_reshard_cache_destroy(cache);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs),
      cmocka_unit_test(many_sources),
      cmocka_unit_test(multiples),
      cmocka_unit_test(tables),
      cmocka_unit_test(symmetries),
      cmocka_unit_test(combiners),
      cmocka_unit_test(too_many_layouts),
      cmocka_unit_test(more_layouts_than_a_search),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
