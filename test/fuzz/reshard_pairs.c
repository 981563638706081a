/* Checks reshard paths of random spec pairs against an exhaustive search and a data simulator. */
#include "reshard_pairs.h"

#include "test/sharding/exhaustive.h"
#include "test/sharding/simulator.h"

#include <stdio.h>

/* A tensor on a mesh that is small enough for an exhaustive search: at most 8 devices and 400
 * shardings. */
typedef struct tensor {
  tp_mesh mesh;
  tp_topology topology;
  int rank;
  int64_t shape[3];
  int64_t element_size;
  tp_combiner combiners[2];
  int n_combiners;
} tensor;

static void draw(rng *r, tensor *t) {
  static const struct {
    int n;
    int64_t sizes[3];
  } meshes[] = {{1, {2}},    {1, {3}},    {1, {5}},    {1, {8}},    {2, {2, 2}},    {2, {2, 3}},
                {2, {4, 2}}, {2, {2, 4}}, {2, {3, 2}}, {2, {1, 4}}, {3, {2, 2, 2}}, {3, {2, 1, 3}}};
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16};
  static const tp_combiner combiners[] = {TP_SUM, TP_MAX, TP_MIN, TP_PRODUCT, TP_AVERAGE};
  int m = rng_below(r, COUNT(meshes)), n_topologies = 0;
  const char *const *topologies = tp_topology_names();
  t->mesh = make_mesh(meshes[m].n, meshes[m].sizes);
  while (topologies[n_topologies])
    n_topologies++;
  tp_topology_load(topologies[rng_below(r, n_topologies)], &t->mesh, NULL, 0, &t->topology);
  t->rank = 1 + rng_below(r, meshes[m].n == 3 ? 2 : 3);
  t->element_size = INT64_C(1) << rng_below(r, 4);
  for (int d = 0; d < t->rank; d++)
    t->shape[d] = sizes[rng_below(r, COUNT(sizes))];
  t->n_combiners = rng_below(r, 3);
  t->combiners[0] = combiners[rng_below(r, COUNT(combiners))];
  do
    t->combiners[1] = combiners[rng_below(r, COUNT(combiners))];
  while (t->combiners[1] == t->combiners[0]);
}

static void describe(const tensor *t, tp_spec from, tp_spec to, const char *what, int64_t ours,
                     int64_t wanted, report *r) {
  char a[160], b[160], shape[80] = "", mesh[80] = "";
  size_t n = 0, m = 0;
  for (int d = 0; d < t->rank; d++)
    n += (size_t)snprintf(shape + n, sizeof shape - n, "%s%lld", d ? "x" : "",
                          (long long)t->shape[d]);
  for (int i = 0; i < t->mesh.n_axes; i++)
    m += (size_t)snprintf(mesh + m, sizeof mesh - m, "%s%lld", i ? "x" : "",
                          (long long)t->mesh.axes[i].size);
  tp_spec_text(&t->mesh, from, t->rank, a, sizeof a);
  tp_spec_text(&t->mesh, to, t->rank, b, sizeof b);
  snprintf(r->message, sizeof r->message,
           "%s of %lld bytes an element on mesh %s (%s), %s to %s: %s %lld, should be %lld", shape,
           (long long)t->element_size, mesh, t->topology.name, a, b, what, (long long)ours,
           (long long)wanted);
}

/* Returns true if the simulator supports the combiners. */
static bool can_simulate(const tensor *t) {
  for (int c = 0; c < t->n_combiners; c++)
    if (t->combiners[c] != TP_SUM && t->combiners[c] != TP_MAX)
      return false;
  return true;
}

static tp_combiner combiner_of(const tp_mesh *mesh, tp_spec spec, tp_combiner otherwise) {
  for (int a = 0; a < mesh->n_axes; a++)
    if (mesh->axes[a].size > 1 && tp_spec_place(spec, a).kind == TP_PARTIAL)
      return tp_spec_place(spec, a).combiner;
  return otherwise;
}

/* Executes the path step by step and checks the data. */
static bool moves_data_right(const tensor *t, tp_spec from, tp_spec to, const tp_reshard *path) {
  sim s;
  tp_spec now = from;
  bool connected = true;
  sim_create(&s, &t->mesh, from, t->rank, t->shape, combiner_of(&t->mesh, from, TP_SUM));
  for (int i = 0; i < path->n_steps && connected; i++) {
    s.combiner = combiner_of(&t->mesh, path->steps[i].to, combiner_of(&t->mesh, now, s.combiner));
    connected = tp_spec_equal(path->steps[i].from, now);
    sim_execute(&s, &path->steps[i]);
    now = path->steps[i].to;
  }
  s.combiner = combiner_of(&t->mesh, to, s.combiner);
  connected = connected &&
              tp_spec_equal(exhaustive_bare(&t->mesh, now), exhaustive_bare(&t->mesh, to)) &&
              sim_holds(&s, to);
  sim_destroy(&s);
  return connected;
}

static bool check_pair(const tensor *t, const exhaustive *all, tp_reshard_cache *cache, int from,
                       int to, report *r) {
  tp_spec a = all->specs[from], b = all->specs[to];
  tp_reshard path = {0};
  tp_cost least = exhaustive_cost(all, from, to),
          cost = tp_reshard_cost(cache, a, b, t->rank, t->shape, t->element_size);
  tp_status status = tp_reshard_path(cache, a, b, t->rank, t->shape, t->element_size, &path);
  if (cost != least || (status == TP_OK) != (least < TP_COST_FORBIDDEN) ||
      (status == TP_OK && path.cost != cost)) {
    describe(t, a, b, cost != least ? "a cost of" : "a path with the cost",
             cost != least ? cost : path.cost, least, r);
    return false;
  }
  if (status == TP_OK && can_simulate(t) && !moves_data_right(t, a, b, &path)) {
    describe(t, a, b, "steps that end elsewhere, of", path.n_steps, path.n_steps, r);
    return false;
  }
  return true;
}

void check_pairs(void *data, report *r) {
  pairs *p = data;
  rng numbers = {p->seed * UINT64_C(0xBF58476D1CE4E5B9) + 11};
  tensor t;
  exhaustive all;
  do
    draw(&numbers, &t);
  while (!exhaustive_create(&all, &t.mesh, &t.topology, t.rank, t.shape, t.element_size,
                            t.n_combiners, t.combiners));
  tp_reshard_cache *cache = tp_reshard_cache_create(&t.mesh, &t.topology);
  r->outcome = VERIFIED;
  for (r->progress = 0; r->progress < p->wanted && r->outcome == VERIFIED; r->progress++)
    if (!check_pair(&t, &all, cache, rng_below(&numbers, all.n), rng_below(&numbers, all.n), r))
      r->outcome = MISMATCH;
  tp_reshard_cache_destroy(cache);
  exhaustive_destroy(&all);
}
