/* Refinement of meshes, and of the specs and topologies on them. */
#include "sharding/cut.h"

/* Lists the distinct primes of a number, ascending. */
static int distinct_primes(int64_t n, int64_t primes[16]) {
  int count = 0;
  for (int64_t p = 2; n > 1; p = p > n / p ? n : p + 1) {
    if (n % p != 0)
      continue;
    primes[count++] = p;
    while (n % p == 0)
      n /= p;
  }
  return count;
}

static bool is_composite(int64_t n) {
  int64_t primes[16];
  return distinct_primes(n, primes) > 0 && primes[0] < n;
}

/* Returns the largest axis that can be cut; -1: none. `open` is the set of those that may be. */
static int largest_composite(const tp_mesh *mesh, unsigned open) {
  int largest = -1;
  for (int a = 0; a < mesh->n_axes; a++)
    if ((open >> a & 1) && is_composite(mesh->axes[a].size) &&
        (largest < 0 || mesh->axes[a].size > mesh->axes[largest].size))
      largest = a;
  return largest;
}

bool tp__mesh_cut(const tp_mesh *mesh, unsigned keep, int order, tp_mesh *cut) {
  unsigned open = ~keep;
  *cut = *mesh;
  for (int a; cut->n_axes < TP_MAX_AXES && (a = largest_composite(cut, open)) >= 0;) {
    tp_axis axis = cut->axes[a];
    int64_t primes[16];
    int n = distinct_primes(axis.size, primes);
    unsigned minor = open >> a, major = open & ((1u << a) - 1);
    tp_mesh_refine(cut, axis.name, 1, axis.pre * primes[order % n]);
    order /= n;
    /* both parts stay open, and the axes behind them move up by one */
    open = minor << (a + 1) | 1u << a | major;
  }
  return order == 0;
}

int tp__cut_run(const tp_mesh *mesh, const tp_mesh *refined, int axis, int *first) {
  return tp_mesh_find(refined, mesh->axes[axis].name, mesh->axes[axis].pre, mesh->axes[axis].size,
                      first);
}

tp_spec tp__spec_cut(const tp_mesh *mesh, const tp_mesh *refined, tp_spec spec) {
  tp_spec cut = tp_spec_replicated();
  unsigned orders[TP_MAX_RANK + 1] = {0};
  int first[TP_MAX_AXES] = {0}, n[TP_MAX_AXES];
  for (int a = 0; a < mesh->n_axes; a++)
    n[a] = tp__spec_byte(spec, a) ? tp__cut_run(mesh, refined, a, &first[a]) : 0;
  for (int order = 0; order < TP_MAX_AXES; order++)
    for (int a = 0; a < mesh->n_axes; a++) {
      unsigned byte = tp__spec_byte(spec, a);
      int dim = tp__byte_dim(byte);
      for (int i = first[a]; i < first[a] + n[a]; i++) {
        if (dim < 0)
          tp__spec_set_byte(&cut, i, byte);
        else if ((int)(byte >> 4) == order)
          tp__spec_set_byte(&cut, i, orders[dim]++ << 4 | (byte & 15));
      }
    }
  return cut;
}

tp_spec tp__spec_join(const tp_mesh *mesh, const tp_mesh *refined, tp_spec spec) {
  tp_spec joined = tp_spec_replicated();
  unsigned orders[TP_MAX_RANK + 1] = {0};
  for (int order = 0; order < TP_MAX_AXES; order++)
    for (int a = 0; a < mesh->n_axes; a++) {
      int first;
      if (tp__cut_run(mesh, refined, a, &first) == 0)
        continue;
      unsigned byte = tp__spec_byte(spec, first);
      int dim = tp__byte_dim(byte);
      if (dim < 0)
        tp__spec_set_byte(&joined, a, byte);
      else if ((int)(byte >> 4) == order)
        tp__spec_set_byte(&joined, a, orders[dim]++ << 4 | (byte & 15));
    }
  return joined;
}

tp_topology tp__topology_cut(const tp_topology *topology, const tp_mesh *mesh,
                             const tp_mesh *refined) {
  tp_topology cut = *topology;
  for (int a = 0; a < mesh->n_axes; a++) {
    int first, n = tp__cut_run(mesh, refined, a, &first);
    for (int i = first; i < first + n; i++)
      cut.links[i] = topology->links[a];
  }
  return cut;
}
