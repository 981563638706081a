/* With the objective "bytes", paths send no more than the cheapest path of an enumeration
 * (fewest.h), and move the data right. */
#include "fewest.h"
#include "simulator.h"

#include "sharding/reshard_bytes.h"
#include "support/support.h"
#include "test/runtime/harness/long.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a pair of layouts ---- */

typedef struct pair {
  fewest_problem p;
  tp_mesh mesh;
  tp_spec from, to;
} pair;

static tp_spec spec_of(const fewest_layout *l) {
  tp_spec spec = tp_spec_replicated();
  for (int i = 0; i < l->n; i++)
    assert_int_equal(l->place[i] == FEWEST_PARTIAL ? tp_spec_set_partial(&spec, l->axis[i], TP_SUM)
                                                   : tp_spec_append(&spec, l->axis[i], l->place[i]),
                     TP_OK);
  return spec;
}

static void finish_pair(pair *t) {
  t->mesh = make_mesh(t->p.n_axes, t->p.sizes);
  t->from = spec_of(&t->p.from);
  t->to = spec_of(&t->p.to);
}

static const char *describe(const pair *t) {
  static char text[1024];
  char a[256], b[256];
  size_t n = 0;
  tp_spec_text(&t->mesh, t->from, t->p.rank, a, sizeof a);
  tp_spec_text(&t->mesh, t->to, t->p.rank, b, sizeof b);
  for (int i = 0; i < t->p.n_axes; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", i ? "x" : "mesh ",
                          (long long)t->p.sizes[i]);
  for (int d = 0; d < t->p.rank; d++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", d ? "x" : ", tensor ",
                          (long long)t->p.shape[d]);
  snprintf(text + n, sizeof text - n, ", %s to %s", a, b);
  return text;
}

/* Elements of all copies that are worth the time of an execution. */
enum { MAX_EXECUTED = 300000 };

static bool is_small(const pair *t) {
  int64_t elements = tp_mesh_size(&t->mesh);
  for (int d = 0; d < t->p.rank; d++)
    elements *= t->p.shape[d];
  return elements <= MAX_EXECUTED;
}

/* Finds the path, executes it on data, and checks that planning prices it as it is. */
static void find(const pair *t, tp_reshard *path) {
  tp_topology topology;
  sim s;
  assert_int_equal(tp_topology_load("cpu", &t->mesh, NULL, 0, &topology), TP_OK);
  tp_topology_count_bytes(&topology, TP_BYTE_FLOPS);
  tp_reshard_cache *cache = tp_reshard_cache_create(&t->mesh, &topology);
  assert_non_null(cache);
  tp_cost cost = tp_reshard_cost(cache, t->from, t->to, t->p.rank, t->p.shape, t->p.element_size);
  if (tp_reshard_path(cache, t->from, t->to, t->p.rank, t->p.shape, t->p.element_size, path) !=
      TP_OK)
    fail_msg("%s: no path", describe(t));
  if (path->cost != cost)
    fail_msg("%s: a path of cost %lld, but planning sees %lld", describe(t), (long long)path->cost,
             (long long)cost);
  tp_reshard_cache_destroy(cache);
  if (path->n_steps == 0 || !is_small(t))
    return;
  sim_create(&s, &path->mesh, path->steps[0].from, t->p.rank, t->p.shape, TP_SUM);
  for (int i = 0; i < path->n_steps; i++) {
    assert_true(i == 0 || tp_spec_equal(path->steps[i].from, path->steps[i - 1].to));
    sim_execute(&s, &path->steps[i]);
    if (!sim_holds(&s, path->steps[i].to))
      fail_msg("%s: wrong after step %d (%s)", describe(t), i,
               tp_step_kind_name(path->steps[i].kind));
  }
  sim_destroy(&s);
}

/* ---- known cases ---- */

typedef struct known {
  int n_axes;
  int64_t sizes[6];
  int rank;
  int64_t shape[4];
  fewest_layout from, to;
  int64_t bytes; /* of f32 */
} known;

static const known cases[] = {
    /* six axes: slices first, gathers then */
    {6,
     {2, 2, 2, 2, 2, 2},
     4,
     {8, 8, 8, 8},
     {3, {0, 1, 2}, {0, 1, 1}},
     {3, {3, 4, 5}, {2, 2, 3}},
     1792},
    /* parts of both axes */
    {2, {4, 6}, 2, {12, 12}, {1, {1}, {0}}, {1, {0}, {0}}, 144},
    /* a layout on the way that neither end has, and that is uneven */
    {2, {2, 2}, 2, {4, 10}, {1, {0}, {1}}, {2, {0, 1}, {0, 0}}, 36},
    {3, {4, 6, 5}, 2, {12, 10}, {2, {0, 2}, {0, 1}}, {1, {1}, {0}}, 80},
    {3, {4, 2, 4}, 2, {16, 8}, {3, {2, 1, 0}, {0, 0, 1}}, {2, {0, 2}, {0, 0}}, 40},
};

static void known_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const known *k = &cases[i];
    pair t = {.p = {.n_axes = k->n_axes,
                    .rank = k->rank,
                    .element_size = 4,
                    .from = k->from,
                    .to = k->to,
                    .max_layouts = 200000}};
    tp_reshard path;
    memcpy(t.p.sizes, k->sizes, sizeof k->sizes);
    memcpy(t.p.shape, k->shape, sizeof k->shape);
    finish_pair(&t);
    find(&t, &path);
    assert_int_equal(path.bytes, k->bytes);
    assert_int_equal(fewest_bytes(&t.p), k->bytes);
  }
}

/* ---- random pairs ---- */

static uint64_t draw(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t x = *seed ^ *seed >> 29;
  return (x * UINT64_C(0xbf58476d1ce4e5b9)) >> 32;
}

static int below(uint64_t *seed, size_t n) { return (int)(draw(seed) % n); }

static fewest_layout draw_layout(uint64_t *seed, const fewest_problem *p, bool partial) {
  fewest_layout l = {0};
  int axes[FEWEST_AXES];
  for (int a = 0; a < p->n_axes; a++)
    axes[a] = a;
  for (int n = p->n_axes; n > 0; n--) {
    int at = below(seed, (size_t)n), axis = axes[at];
    int place = below(seed, (size_t)p->rank + 1 + partial);
    axes[at] = axes[n - 1];
    if (place == p->rank) /* copies */
      continue;
    l.axis[l.n] = axis;
    l.place[l.n++] = place < p->rank ? place : FEWEST_PARTIAL;
  }
  return l;
}

static int n_primes(int64_t size) {
  int n = 0;
  for (int64_t k = 2; size > 1; k++)
    for (; size % k == 0; size /= k)
      n++;
  return n;
}

/* Returns the number of layouts of n axes on `places` dimensions, with partials or without. */
static double count_layouts(int n, int places, bool partial) {
  double with[FEWEST_AXES + 1] = {1}, sum = 0;
  for (int a = 0; a < n; a++) {
    for (int k = a + 1; k > 0; k--)
      with[k] = with[k] * (1 + partial) + with[k - 1] * (places + k - 1);
    with[0] *= 1 + partial;
  }
  for (int k = 0; k <= n; k++)
    sum += with[k];
  return sum;
}

static void draw_pair(uint64_t *seed, double most, pair *t) {
  static const struct {
    int n;
    int64_t sizes[6];
  } meshes[] = {
      {1, {4}},
      {1, {6}},
      {1, {8}},
      {1, {12}},
      {2, {2, 2}},
      {2, {2, 3}},
      {2, {4, 2}},
      {2, {2, 6}},
      {2, {3, 3}},
      {2, {4, 3}},
      {2, {4, 4}},
      {2, {5, 4}},
      {2, {6, 4}},
      {2, {4, 6}},
      {2, {6, 6}},
      {2, {2, 9}},
      {2, {8, 4}},
      {2, {12, 5}},
      {2, {8, 8}},
      {2, {16, 4}},
      {3, {2, 2, 2}},
      {3, {2, 3, 2}},
      {3, {4, 2, 2}},
      {3, {2, 4, 3}},
      {3, {4, 2, 4}},
      {3, {2, 6, 5}},
      {3, {4, 3, 5}},
      {3, {3, 3, 7}},
      {3, {4, 4, 4}},
      {3, {2, 8, 4}},
      {4, {2, 2, 2, 2}},
      {4, {2, 3, 2, 4}},
      {4, {2, 2, 4, 2}},
      {4, {2, 4, 2, 4}},
      {5, {2, 2, 2, 2, 2}},
      {6, {2, 2, 2, 2, 2, 2}},
  };
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 36},
                       divisible[] = {12, 24, 36, 48, 60, 64, 72, 120, 144, 240, 960, 2880};
  for (;;) {
    int m = below(seed, sizeof meshes / sizeof meshes[0]), primes = 0;
    bool partial = below(seed, 4) == 0, exact = below(seed, 3) > 0;
    *t = (pair){.p = {.n_axes = meshes[m].n,
                      .rank = 1 + below(seed, FEWEST_RANK),
                      .element_size = INT64_C(1) << below(seed, 4),
                      .max_layouts = (int64_t)most + 1}};
    memcpy(t->p.sizes, meshes[m].sizes, sizeof meshes[m].sizes);
    for (int d = 0; d < t->p.rank; d++)
      t->p.shape[d] = exact ? divisible[below(seed, sizeof divisible / sizeof divisible[0])]
                            : sizes[below(seed, sizeof sizes / sizeof sizes[0])];
    for (int a = 0; a < t->p.n_axes; a++)
      primes += n_primes(t->p.sizes[a]);
    t->p.from = draw_layout(seed, &t->p, partial);
    t->p.to = draw_layout(seed, &t->p, partial && below(seed, 2));
    if (count_layouts(primes, t->p.rank, partial) <= most)
      break;
  }
  finish_pair(t);
}

static void random_pairs(void **state) {
  (void)state;
  int n = test_is_long() ? 10000 : 300, n_dearer = 0, n_uneven = 0, n_cut = 0, n_executed = 0,
      n_proven = 0;
  double most = test_is_long() ? 20000 : 2000;
  uint64_t seed = 20;
  for (int i = 0; i < n; i++) {
    pair t;
    tp_reshard path;
    draw_pair(&seed, most, &t);
    find(&t, &path);
    int64_t fewest = fewest_bytes(&t.p);
    assert_true(fewest >= 0);
    int64_t least =
        t.p.element_size * tp__least_elements(&t.mesh, t.from, t.to, t.p.rank, t.p.shape);
    if (least > fewest)
      fail_msg("%s: the closed form says %lld bytes, but %lld are enough", describe(&t),
               (long long)least, (long long)fewest);
    n_proven += fewest > 0 && least == fewest;
    n_uneven += !tp_spec_divides(&t.mesh, t.from, t.p.rank, t.p.shape) ||
                !tp_spec_divides(&t.mesh, t.to, t.p.rank, t.p.shape);
    n_executed += is_small(&t);
    n_cut += path.mesh.n_axes > t.mesh.n_axes;
    if (path.bytes < fewest)
      fail_msg("%s: %lld bytes, but the enumeration found %lld", describe(&t),
               (long long)path.bytes, (long long)fewest);
    /* the cost is that of an all_reduce in stages, which send less */
    if (path.bytes == fewest || path.cost / TP_BYTE_PS <= fewest)
      continue;
    n_dearer++;
    print_message("%s: %lld bytes, %lld are enough\n", describe(&t), (long long)path.bytes,
                  (long long)fewest);
  }
  print_message(
      "%d pairs compared (%d of uneven layouts, %d with cut axes, %d executed, %d proven in "
      "closed form), %d are dearer\n",
      n, n_uneven, n_cut, n_executed, n_proven, n_dearer);
  assert_int_equal(n_dearer, 0);
  assert_true(n_proven > n / 20);
}

/* Pairs that differ only in names share a search. What is found does not depend on what was asked
 * for before. */
static void shared_searches(void **state) {
  (void)state;
  static const int64_t sizes[] = {4, 2, 2};
  tp_mesh mesh = make_mesh(3, sizes);
  tp_topology topology;
  uint64_t seed = 7;
  assert_int_equal(tp_topology_load("cpu", &mesh, NULL, 0, &topology), TP_OK);
  tp_topology_count_bytes(&topology, TP_BYTE_FLOPS);
  tp_reshard_cache *shared = tp_reshard_cache_create(&mesh, &topology);
  for (int i = 0; i < 1000; i++) {
    static const int64_t shapes[] = {6, 16, 32, 48};
    pair t = {.p = {.n_axes = 3, .rank = 1 + below(&seed, 3), .element_size = 4}};
    tp_reshard path, again;
    memcpy(t.p.sizes, sizes, sizeof sizes);
    for (int d = 0; d < t.p.rank; d++)
      t.p.shape[d] = shapes[below(&seed, 4)];
    t.p.from = draw_layout(&seed, &t.p, true);
    t.p.to = draw_layout(&seed, &t.p, true);
    finish_pair(&t);
    tp_reshard_cache *fresh = tp_reshard_cache_create(&mesh, &topology);
    tp_cost cost = tp_reshard_cost(shared, t.from, t.to, t.p.rank, t.p.shape, 4);
    if (cost != tp_reshard_cost(fresh, t.from, t.to, t.p.rank, t.p.shape, 4))
      fail_msg("%s: the price depends on earlier ones", describe(&t));
    assert_int_equal(tp_reshard_path(shared, t.from, t.to, t.p.rank, t.p.shape, 4, &path), TP_OK);
    assert_int_equal(tp_reshard_path(fresh, t.from, t.to, t.p.rank, t.p.shape, 4, &again), TP_OK);
    if (path.cost != cost || again.cost != cost || path.n_steps != again.n_steps)
      fail_msg("%s: the path depends on earlier ones, or not as priced", describe(&t));
    tp_reshard_cache_destroy(fresh);
  }
  tp_reshard_cache_destroy(shared);
}

/* Every k-th allocation fails: the result is an error, and the cache stays usable. */
static void out_of_memory(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){4, 6});
  tp_topology topology;
  tp_spec from = tp_spec_replicated(), to = from;
  static const int64_t shape[] = {12, 12};
  assert_int_equal(tp_spec_append(&from, 1, 0), TP_OK);
  assert_int_equal(tp_spec_append(&to, 0, 0), TP_OK);
  assert_int_equal(tp_topology_load("cpu", &mesh, NULL, 0, &topology), TP_OK);
  tp_topology_count_bytes(&topology, TP_BYTE_FLOPS);
  int failures = 0;
  for (int64_t k = 1;; k++) {
    tp_reshard path = {0}, again;
    tp_reshard_cache *cache = tp_reshard_cache_create(&mesh, &topology);
    assert_non_null(cache);
    tp__alloc_fail(k, INT64_MAX);
    tp_status status = tp_reshard_path(cache, from, to, 2, shape, 4, &path);
    tp__alloc_fail(0, 0);
    assert_int_equal(tp_reshard_path(cache, from, to, 2, shape, 4, &again), TP_OK);
    assert_int_equal(again.bytes, 144);
    tp_reshard_cache_destroy(cache);
    failures += status != TP_OK;
    if (status == TP_OK && path.bytes == 144)
      break;
    assert_true(status == TP_NO_MEMORY);
  }
  assert_true(failures >= 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_cases),
      cmocka_unit_test(random_pairs),
      cmocka_unit_test(shared_searches),
      cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
