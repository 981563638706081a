#include "solver/problem.h"

#include <limits.h>
#include <stdlib.h>

/* Strategy numbers fit 16 bits: the exact elimination stores them so. */
enum { MAX_STRATEGIES = 65535 };

tp_problem *tp_problem_create(void) { return calloc(1, sizeof(tp_problem)); }

void tp_problem_destroy(tp_problem *problem) {
  if (!problem)
    return;
  tp__pool_release(&problem->pool);
  free(problem->nodes);
  free(problem->edges);
  free(problem);
}

/* Makes room for one more element of an array that doubles. */
static bool reserve(void **array, int n, int *room, size_t size) {
  if (n < *room)
    return true;
  if (n > INT_MAX / 4)
    return false;
  int more = *room ? *room * 2 : 64;
  void *moved = realloc(*array, (size_t)more * size);
  if (!moved)
    return false;
  *array = moved;
  *room = more;
  return true;
}

static bool costs_valid(size_t n, const tp_cost *costs) {
  for (size_t i = 0; i < n; i++)
    if (costs[i] < 0)
      return false;
  return true;
}

/* A copy in which every forbidden entry is exactly TP_COST_FORBIDDEN. */
static tp_cost *copy_costs(tp__pool *pool, size_t n, const tp_cost *costs) {
  tp_cost *copy = tp__pool_take(pool, n, sizeof *copy);
  for (size_t i = 0; copy && i < n; i++)
    copy[i] = costs[i] < TP_COST_FORBIDDEN ? costs[i] : TP_COST_FORBIDDEN;
  return copy;
}

int tp_problem_add_node(tp_problem *problem, int n, const tp_cost *costs) {
  if (!problem || !costs || n < 1 || n > MAX_STRATEGIES || !costs_valid((size_t)n, costs))
    return -1;
  void *nodes = problem->nodes;
  bool room = reserve(&nodes, problem->n_nodes, &problem->room_nodes, sizeof *problem->nodes);
  problem->nodes = nodes;
  tp_cost *copy = room ? copy_costs(&problem->pool, (size_t)n, costs) : NULL;
  if (!copy)
    return -1;
  problem->nodes[problem->n_nodes] = (tp__problem_node){n, copy};
  return problem->n_nodes++;
}

static bool nodes_valid(const tp_problem *problem, int a, int b) {
  return a != b && a >= 0 && b >= 0 && a < problem->n_nodes && b < problem->n_nodes;
}

static tp_status append_edge(tp_problem *problem, tp__problem_edge edge) {
  void *edges = problem->edges;
  bool room = reserve(&edges, problem->n_edges, &problem->room_edges, sizeof *problem->edges);
  problem->edges = edges;
  if (!room)
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
  tp__problem_edge edge = {.a = a, .b = b, .table = copy_costs(&problem->pool, entries, table)};
  if (!edge.table)
    return TP_NO_MEMORY;
  for (size_t i = 0; i < entries; i++)
    if (edge.table[i] < TP_COST_FORBIDDEN && edge.table[i] > edge.most)
      edge.most = edge.table[i];
  return append_edge(problem, edge);
}

tp_status tp_problem_repeat_edge(tp_problem *problem, int a, int b, int edge) {
  if (!problem || !nodes_valid(problem, a, b) || edge < 0 || edge >= problem->n_edges)
    return TP_INVALID_ARGUMENT;
  tp__problem_edge like = problem->edges[edge];
  if (problem->nodes[a].n != problem->nodes[like.a].n || problem->nodes[b].n != problem->nodes[like.b].n)
    return TP_INVALID_ARGUMENT;
  like.a = a;
  like.b = b;
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
