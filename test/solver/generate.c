/* Generates random problems for the solver's tests. */
#include "generate.h"

#include <stdlib.h>

int rng_below(rng *r, int n) { /* splitmix64: Steele, Lea, Flood 2014 */
  uint64_t z = r->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (int)((z ^ (z >> 31)) % (uint64_t)n);
}

static tp_cost random_cost(rng *r, const recipe *c, bool first) {
  return rng_below(r, 100) < c->forbidden && !(first && c->feasible)
             ? TP_COST_FORBIDDEN
             : rng_below(r, c->max_cost + 1);
}

static void add_edge(tp_problem *p, rng *r, const recipe *c, const int *n, int a, int b) {
  tp_cost *table = malloc((size_t)(n[a] * n[b]) * sizeof *table);
  bool equality = n[a] == n[b] && rng_below(r, 100) < c->equalities;
  int shift = rng_below(r, n[a]);
  for (int x = 0; x < n[a]; x++)
    for (int y = 0; y < n[b]; y++)
      table[x * n[b] + y] =
          equality && y != (x + shift) % n[a] ? TP_COST_FORBIDDEN : random_cost(r, c, x + y == 0);
  tp_problem_add_edge(p, a, b, table);
  free(table);
}

static void add_edges(tp_problem *p, rng *r, const recipe *c, const int *n) {
  for (int b = 1; b < c->n_nodes; b++)
    switch (c->shape) {
    case SHAPE_TREE:
      add_edge(p, r, c, n, b, rng_below(r, b));
      break;
    case SHAPE_CYCLE:
      add_edge(p, r, c, n, b - 1, b);
      if (b == c->n_nodes - 1 && b > 1)
        add_edge(p, r, c, n, b, 0);
      break;
    case SHAPE_GRID:
      if (b % c->columns)
        add_edge(p, r, c, n, b - 1, b);
      if (b >= c->columns)
        add_edge(p, r, c, n, b, b - c->columns);
      break;
    case SHAPE_CLIQUE:
      for (int a = 0; a < b; a++)
        add_edge(p, r, c, n, a, b);
      break;
    case SHAPE_SPARSE: /* not always connected */
      for (int k = rng_below(r, 4); k > 0; k--)
        add_edge(p, r, c, n, rng_below(r, b), b);
      break;
    case SHAPE_PARALLEL:
      add_edge(p, r, c, n, b - 1, b);
      add_edge(p, r, c, n, b, b - 1);
      break;
    case N_SHAPES:
      break;
    }
}

tp_problem *generate(rng *r, const recipe *c) {
  tp_problem *p = tp_problem_create();
  int *n = malloc((size_t)c->n_nodes * sizeof *n);
  tp_cost *costs = malloc((size_t)c->max_strategies * sizeof *costs);
  for (int v = 0; v < c->n_nodes; v++) {
    n[v] = 1 + rng_below(r, c->max_strategies);
    for (int x = 0; x < n[v]; x++)
      costs[x] = random_cost(r, c, x == 0);
    tp_problem_add_node(p, n[v], costs);
  }
  add_edges(p, r, c, n);
  free(n);
  free(costs);
  return p;
}

void find_sizes(const recipe *c, rng r, int *sizes) {
  for (int v = 0; v < c->n_nodes; v++) {
    sizes[v] = 1 + rng_below(&r, c->max_strategies);
    for (int x = 0; x < sizes[v]; x++) /* repeats the draws of `generate` for the node's costs */
      if (rng_below(&r, 100) >= c->forbidden)
        rng_below(&r, c->max_cost + 1);
  }
}

void add_memory(tp_problem *problem, rng *r, int max_strategies) {
  int n = tp_problem_n_nodes(problem);
  for (int v = 0; v < n; v++) {
    int64_t usages[8] = {500};
    for (int x = 1; x < max_strategies; x++)
      usages[x] = rng_below(r, 1000);
    int start = rng_below(r, n);
    tp_problem_set_usage(problem, v, start, start + 1 + rng_below(r, n / 4 + 1), usages);
  }
  tp_problem_set_limit(problem, 500 * (n / 6 + 1));
}

tp_problem *generate_tradeoffs(rng *r, int n_nodes, int n_strategies, int64_t *usages) {
  tp_problem *p = tp_problem_create();
  size_t n = (size_t)n_strategies;
  tp_cost *costs = malloc(n * sizeof *costs), *table = malloc(n * n * sizeof *table);
  for (int v = 0; v < n_nodes; v++, usages += n) {
    for (int x = 0; x < n_strategies; x++) {
      costs[x] = 100 * (n_strategies - x) + rng_below(r, 100);
      usages[x] = 100 * x + rng_below(r, 100);
    }
    tp_problem_add_node(p, n_strategies, costs);
    tp_problem_set_usage(p, v, 0, 1, usages);
  }
  for (int v = 0; v < n_nodes; v++) {
    for (size_t i = 0; i < n * n; i++)
      table[i] = rng_below(r, 400);
    if (n_nodes > 1)
      tp_problem_add_edge(p, v, (v + 1) % n_nodes, table);
  }
  tp_problem_set_limit(p, (int64_t)n_nodes * n_strategies * 40);
  free(costs);
  free(table);
  return p;
}

/* Adds an edge between strategies that stand for shardings: the reshard cost grows with their
 * distance, plus the weight of the tensor. */
static void add_reshard(tp_problem *p, rng *r, int n, int a, int b) {
  tp_cost *table = malloc((size_t)(n * n) * sizeof *table);
  tp_cost weight = 1000000 * (tp_cost)(1 + rng_below(r, 40));
  int shift = rng_below(r, 4) ? 0 : rng_below(r, n);
  for (int x = 0; x < n; x++)
    for (int y = 0; y < n; y++) {
      int bits = x ^ ((y + shift) % n), steps = 0;
      for (; bits; bits >>= 1)
        steps += bits & 1;
      table[x * n + y] = steps * weight + (steps ? 1000 * (tp_cost)rng_below(r, 2000) : 0);
    }
  tp_problem_add_edge(p, a, b, table);
  free(table);
}

tp_problem *generate_layers(rng *r, int n_layers, int n_strategies) {
  /* forward operations of a layer, each with its operands; -1 is the incoming residual stream */
  static const int reads[10][2] = {{-1, -1}, {0, 0},  {0, 0}, {0, 0}, {1, 2},
                                   {3, 4},   {5, -1}, {6, 6}, {7, 7}, {8, 6}};
  enum { PER_LAYER = 10 };
  tp_problem *p = tp_problem_create();
  tp_cost *costs = malloc((size_t)n_strategies * sizeof *costs);
  for (int v = 0; v < 2 * PER_LAYER * n_layers; v++) { /* forward, then backward */
    for (int x = 0; x < n_strategies; x++)
      costs[x] = 1000 * (tp_cost)rng_below(r, 60000);
    tp_problem_add_node(p, n_strategies, costs);
  }
  int backward = PER_LAYER * n_layers;
  for (int v = 0; v < backward; v++)
    for (int k = 0; k < 2; k++) {
      int read = reads[v % PER_LAYER][k];
      int from = read < 0 ? v / PER_LAYER * PER_LAYER - 1 : v / PER_LAYER * PER_LAYER + read;
      if (from < 0 || (k == 1 && read == reads[v % PER_LAYER][0]))
        continue;
      add_reshard(p, r, n_strategies, from, v);
      /* gradients flow in the opposite direction */
      add_reshard(p, r, n_strategies, backward + v, backward + from);
      if (k == 0)
        add_reshard(p, r, n_strategies, from, backward + v); /* and they need the operand */
    }
  free(costs);
  return p;
}
