/* Selects the strategies that cost least beside those already selected. */
#include "solver/problem.h"
#include "support/support.h"

/* The edges of each node, as indices, one node after the other. */
typedef struct incidence {
  int *first, *edge;
} incidence;

static bool list_edges(const tp_problem *problem, incidence *of) {
  of->first = tp__calloc((size_t)problem->n_nodes + 2, sizeof *of->first);
  of->edge = tp__calloc(2 * (size_t)problem->n_edges + 1, sizeof *of->edge);
  if (!of->first || !of->edge)
    return false;
  for (int e = 0; e < problem->n_edges; e++) {
    of->first[problem->edges[e].a + 2]++;
    of->first[problem->edges[e].b + 2]++;
  }
  for (int v = 0; v < problem->n_nodes; v++)
    of->first[v + 2] += of->first[v + 1];
  for (int e = 0; e < problem->n_edges; e++) {
    of->edge[of->first[problem->edges[e].a + 1]++] = e;
    of->edge[of->first[problem->edges[e].b + 1]++] = e;
  }
  return true;
}

/* Adds to each strategy of `node` the least entry that the edge has with a selected strategy of its
 * other endpoint. */
static void add_least(const tp_problem *problem, const tp__problem_edge *edge, int node,
                      const bool *kept, tp_cost *sum) {
  bool is_first = edge->a == node;
  int n = problem->nodes[node].n, n_other = problem->nodes[is_first ? edge->b : edge->a].n;
  size_t self = is_first ? (size_t)n_other : 1, far = is_first ? 1 : (size_t)n;
  for (int x = 0; x < n; x++) {
    tp_cost least = TP_COST_FORBIDDEN;
    for (int y = 0; y < n_other; y++) {
      tp_cost entry = edge->table[(size_t)x * self + (size_t)y * far];
      if ((!kept || kept[y]) && entry < least)
        least = entry;
    }
    sum[x] = tp_cost_add(sum[x], least);
  }
}

/* Selects the n strategies with the smallest sums, the lower number on ties. */
static void keep_least(tp_cost *sum, int n_strategies, int n, bool *kept) {
  for (int k = 0; k < n; k++) {
    int least = 0;
    for (int x = 1; x < n_strategies; x++)
      least = sum[x] < sum[least] ? x : least;
    if (sum[least] >= TP_COST_FORBIDDEN)
      return;
    kept[least] = true;
    sum[least] = TP_COST_FORBIDDEN;
  }
}

tp_status tp_problem_keep_nearest(const tp_problem *problem, int n, bool *const *kept) {
  if (!problem || n < 0 || !kept)
    return TP_INVALID_ARGUMENT;
  int most = 1;
  for (int v = 0; v < problem->n_nodes; v++)
    most = problem->nodes[v].n > most ? problem->nodes[v].n : most;
  incidence of = {0};
  tp_cost *sum = tp__malloc((size_t)most * sizeof *sum);
  bool ok = sum && list_edges(problem, &of);
  for (int v = 0; ok && v < problem->n_nodes; v++) {
    const tp__problem_node *node = &problem->nodes[v];
    if (!kept[v])
      continue;
    for (int x = 0; x < node->n; x++)
      sum[x] = node->costs[x];
    for (int i = of.first[v]; i < of.first[v + 1]; i++) {
      const tp__problem_edge *edge = &problem->edges[of.edge[i]];
      add_least(problem, edge, v, kept[edge->a == v ? edge->b : edge->a], sum);
    }
    keep_least(sum, node->n, n, kept[v]);
  }
  tp__free(sum);
  tp__free(of.first);
  tp__free(of.edge);
  return ok ? TP_OK : TP_NO_MEMORY;
}
