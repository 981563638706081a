/* Builds and evaluates problems. */
#include "solver/problem.h"

#include "support/support.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Strategy numbers fit into 16 bits, because exact elimination stores them so. */
enum { MAX_STRATEGIES = 65535 };

tp_problem *tp_problem_create(void) {
  tp_problem *problem = tp__calloc(1, sizeof *problem);
  tp__hash_cons *costs = problem ? tp__hash_cons_create() : NULL;
  if (!costs) {
    tp__free(problem);
    return NULL;
  }
  problem->limit = -1;
  problem->costs = costs;
  return problem;
}

void tp_problem_destroy(tp_problem *problem) {
  if (!problem)
    return;
  tp__pool_release(&problem->pool);
  tp__hash_cons_destroy(problem->costs);
  tp__free(problem->nodes);
  tp__free(problem->edges);
  tp__free(problem);
}

/* Ensures capacity for one more element of an array that doubles. */
static bool reserve(void **array, int n, int *capacity, size_t size) {
  if (n < *capacity)
    return true;
  if (n > INT_MAX / 4)
    return false;
  int more = *capacity ? *capacity * 2 : 64;
  void *moved = tp__realloc(*array, (size_t)more, size);
  if (!moved)
    return false;
  *array = moved;
  *capacity = more;
  return true;
}

static bool costs_valid(size_t n, const tp_cost *costs) {
  for (size_t i = 0; i < n; i++)
    if (costs[i] < 0)
      return false;
  return true;
}

/* Copies costs; every forbidden entry becomes exactly TP_COST_FORBIDDEN. */
static tp_cost *copy_costs(tp_problem *problem, size_t n, const tp_cost *costs) {
  tp_cost *copy = tp__pool_alloc(&problem->pool, n, sizeof *copy);
  for (size_t i = 0; copy && i < n; i++)
    copy[i] = costs[i] < TP_COST_FORBIDDEN || problem->big ? costs[i] : TP_COST_FORBIDDEN;
  return copy;
}

/* Returns the array that nodes with these costs share. NULL if memory runs out. */
static tp_cost *node_costs(tp_problem *problem, size_t n, const tp_cost *costs) {
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_COSTS);
  for (size_t i = 0; i < n; i++)
    tp__hash_cons_add(&key, costs[i]);
  void **slot = tp__hash_cons_find(problem->costs, &key);
  if (slot && !*slot)
    *slot = copy_costs(problem, n, costs);
  return slot ? *slot : NULL;
}

tp_status tp_problem_set_big(tp_problem *problem, tp_cost big) {
  if (!problem || problem->n_nodes || big < 1)
    return TP_INVALID_ARGUMENT;
  problem->big = big;
  return TP_OK;
}

tp_status tp_problem_set_limit(tp_problem *problem, int64_t limit) {
  if (!problem || limit < 0 || limit == INT64_MAX)
    return TP_INVALID_ARGUMENT;
  problem->limit = limit;
  return TP_OK;
}

/* Ensures capacity for one more life. */
static bool reserve_life(tp_problem *problem, tp__problem_node *v) {
  if (v->n_live_ranges < v->live_range_capacity)
    return true;
  int capacity = v->live_range_capacity ? 2 * v->live_range_capacity : 1;
  tp__problem_live_range *more = tp__pool_calloc(&problem->pool, (size_t)capacity, sizeof *more);
  if (!more)
    return false;
  if (v->n_live_ranges)
    memcpy(more, v->lives, (size_t)v->n_live_ranges * sizeof *more);
  v->lives = more;
  v->live_range_capacity = capacity;
  return true;
}

static bool usage_valid(const tp_problem *problem, int node, int64_t start, int64_t end,
                        const int64_t *usages) {
  return problem && usages && node >= 0 && node < problem->n_nodes && start <= end &&
         costs_valid((size_t)problem->nodes[node].n, usages);
}

tp_status tp_problem_add_usage(tp_problem *problem, int node, int64_t start, int64_t end,
                               const int64_t *usages) {
  if (!usage_valid(problem, node, start, end, usages))
    return TP_INVALID_ARGUMENT;
  tp__problem_node *v = &problem->nodes[node];
  int64_t *copy = reserve_life(problem, v) ? v->lives[v->n_live_ranges].usages : NULL;
  if (v->n_live_ranges < v->live_range_capacity &&
      !copy) /* otherwise reuse the array of a replaced life */
    copy = tp__pool_alloc(&problem->pool, (size_t)v->n, sizeof *copy);
  if (!copy)
    return TP_NO_MEMORY;
  memcpy(copy, usages, (size_t)v->n * sizeof *copy);
  v->lives[v->n_live_ranges++] = (tp__problem_live_range){start, end, copy};
  return TP_OK;
}

tp_status tp_problem_set_usage(tp_problem *problem, int node, int64_t start, int64_t end,
                               const int64_t *usages) {
  if (!usage_valid(problem, node, start, end, usages))
    return TP_INVALID_ARGUMENT;
  problem->nodes[node].n_live_ranges = 0;
  return tp_problem_add_usage(problem, node, start, end, usages);
}

int tp_problem_add_node(tp_problem *problem, int n, const tp_cost *costs) {
  if (!problem || !costs || n < 1 || n > MAX_STRATEGIES || !costs_valid((size_t)n, costs))
    return -1;
  void *nodes = problem->nodes;
  bool capacity =
      reserve(&nodes, problem->n_nodes, &problem->node_capacity, sizeof *problem->nodes);
  problem->nodes = nodes;
  tp_cost *copy = capacity ? node_costs(problem, (size_t)n, costs) : NULL;
  if (!copy)
    return -1;
  problem->nodes[problem->n_nodes] = (tp__problem_node){.n = n, .costs = copy};
  return problem->n_nodes++;
}

static bool nodes_valid(const tp_problem *problem, int a, int b) {
  return a != b && a >= 0 && b >= 0 && a < problem->n_nodes && b < problem->n_nodes;
}

static tp_status append_edge(tp_problem *problem, tp__problem_edge edge) {
  void *edges = problem->edges;
  bool capacity =
      reserve(&edges, problem->n_edges, &problem->edge_capacity, sizeof *problem->edges);
  problem->edges = edges;
  if (!capacity)
    return TP_NO_MEMORY;
  problem->edges[problem->n_edges++] = edge;
  return TP_OK;
}

tp_status tp_problem_add_edge(tp_problem *problem, int a, int b, const tp_cost *table) {
  if (!problem || !table || !nodes_valid(problem, a, b))
    return TP_INVALID_ARGUMENT;
  size_t entries = (size_t)problem->nodes[a].n * (size_t)problem->nodes[b].n;
  if (!costs_valid(entries, table))
    return TP_INVALID_ARGUMENT;
  tp__problem_edge edge = {.a = a, .b = b, .table = copy_costs(problem, entries, table)};
  if (!edge.table)
    return TP_NO_MEMORY;
  return append_edge(problem, edge);
}

tp_status tp_problem_repeat_edge(tp_problem *problem, int a, int b, int edge) {
  if (!problem || !nodes_valid(problem, a, b) || edge < 0 || edge >= problem->n_edges)
    return TP_INVALID_ARGUMENT;
  tp__problem_edge like = problem->edges[edge];
  if (problem->nodes[a].n != problem->nodes[like.a].n ||
      problem->nodes[b].n != problem->nodes[like.b].n)
    return TP_INVALID_ARGUMENT;
  like.a = a;
  like.b = b;
  problem->n_repeated++;
  return append_edge(problem, like);
}

int tp_problem_n_nodes(const tp_problem *problem) { return problem->n_nodes; }
int tp_problem_n_edges(const tp_problem *problem) { return problem->n_edges; }

tp_cost tp_problem_evaluate(const tp_problem *problem, const int *choices) {
  tp_cost sum = 0;
  for (int i = 0; i < problem->n_nodes; i++) {
    if (choices[i] < 0 || choices[i] >= problem->nodes[i].n)
      return TP_COST_FORBIDDEN;
    sum = tp_cost_add(sum, problem->nodes[i].costs[choices[i]]);
  }
  for (int e = 0; e < problem->n_edges; e++) {
    const tp__problem_edge *edge = &problem->edges[e];
    size_t row = (size_t)choices[edge->a] * (size_t)problem->nodes[edge->b].n;
    sum = tp_cost_add(sum, edge->table[row + (size_t)choices[edge->b]]);
  }
  return sum;
}

unsigned __int128 tp__problem_exact_cost(const tp_problem *problem, const int *choices) {
  unsigned __int128 sum = 0;
  for (int i = 0; i < problem->n_nodes; i++)
    sum += (unsigned __int128)problem->nodes[i].costs[choices[i]];
  for (int e = 0; e < problem->n_edges; e++) {
    const tp__problem_edge *edge = &problem->edges[e];
    size_t row = (size_t)choices[edge->a] * (size_t)problem->nodes[edge->b].n;
    sum += (unsigned __int128)edge->table[row + (size_t)choices[edge->b]];
  }
  return sum;
}

typedef struct change {
  int64_t at, amount; /* negative at the end of an interval */
} change;

static int compare_changes(const void *a, const void *b) {
  const change *x = a, *y = b;
  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  /* ends first, because intervals are half-open */
  return (x->amount > y->amount) - (x->amount < y->amount);
}

/* `choice` < 0: the minimum over all strategies. */
static int64_t used_in(const tp__problem_node *node, const tp__problem_live_range *life,
                       int choice) {
  if (life->start == life->end)
    return 0;
  if (choice >= 0)
    return life->usages[choice];
  int64_t least = life->usages[0];
  for (int x = 1; x < node->n; x++)
    least = life->usages[x] < least ? life->usages[x] : least;
  return least;
}

size_t tp__problem_n_live_ranges(const tp_problem *problem) {
  size_t n = 0;
  for (int v = 0; v < problem->n_nodes; v++)
    n += (size_t)problem->nodes[v].n_live_ranges;
  return n;
}

tp_status tp__problem_peak(const tp_problem *problem, const int *choices, int64_t *time,
                           unsigned __int128 *usage) {
  change *changes = tp__malloc(2 * tp__problem_n_live_ranges(problem) * sizeof *changes + 1);
  if (!changes)
    return TP_NO_MEMORY;
  size_t n = 0;
  for (int v = 0; v < problem->n_nodes; v++) {
    const tp__problem_node *node = &problem->nodes[v];
    for (int i = 0; i < node->n_live_ranges; i++) {
      const tp__problem_live_range *life = &node->lives[i];
      int64_t amount = used_in(node, life, choices ? choices[v] : -1);
      if (amount == 0)
        continue;
      changes[n++] = (change){life->start, amount};
      changes[n++] = (change){life->end, -amount};
    }
  }
  if (n)
    qsort(changes, n, sizeof *changes, compare_changes);
  __int128 sum = 0, most = 0;
  *time = 0;
  for (size_t i = 0; i < n; i++) {
    sum += changes[i].amount;
    if (sum > most) {
      most = sum;
      *time = changes[i].at;
    }
  }
  *usage = (unsigned __int128)most;
  tp__free(changes);
  return TP_OK;
}
