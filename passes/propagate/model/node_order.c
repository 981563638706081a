/* The order in which the solver sees the nodes.
 *
 * The solver passes messages along the numbers of nodes, once up and once down. Connected nodes
 * should therefore have close numbers: an argument stands just before its first use, a copy just
 * behind its producer. In program order all arguments would come first and all copies last, and
 * messages would need several times as many passes. */
#include "passes/propagate/model/planner.h"

#include <string.h>

typedef struct lists {
  int *ahead;  /* by node: the first argument whose first use is there, -1: none */
  int *behind; /* by node: the first copy of one of its values, -1: none */
  int *next;   /* by argument or copy: the next one in its list, -1: none */
  bool *moves; /* by node: it is in a list */
} lists;

static void push(lists *l, int *list, int node, int at) {
  l->next[node] = list[at];
  list[at] = node;
  l->moves[node] = true;
}

/* Runs backwards, so that lists keep the order of the values. */
static void fill_lists(const tp_planner *p, lists *l) {
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    l->ahead[i] = l->behind[i] = l->next[i] = -1;
  for (size_t k = p->problem.n_values; k > 0; k--) {
    const tp_planned_value *v = &p->problem.values[k - 1];
    if (v->copy >= 0)
      push(l, l->behind, v->copy, v->node);
    if (p->problem.nodes[v->node].kind == TP_NODE_ARG && v->n_uses > 0)
      push(l, l->ahead, v->node, v->uses[0].node);
  }
}

static int put(const lists *l, int node, int n, int *place) {
  place[node] = n++;
  for (int copy = l->behind[node]; copy >= 0; copy = l->next[copy])
    place[copy] = n++;
  return n;
}

/* Sets place[i] to the new number of node i. */
static void choose_places(const tp_planner *p, const lists *l, int *place) {
  int n = 0;
  for (int i = 0; i < (int)p->problem.n_nodes; i++) {
    if (l->moves[i])
      continue;
    for (int arg = l->ahead[i]; arg >= 0; arg = l->next[arg])
      n = put(l, arg, n, place);
    n = put(l, i, n, place);
  }
}

static void renumber(tp_planner *p, const int *place, tp_node *nodes) {
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    nodes[place[i]] = p->problem.nodes[i];
  if (p->problem.n_nodes > 0) /* a function without tensors has no array of nodes */
    memcpy(p->problem.nodes, nodes, p->problem.n_nodes * sizeof *nodes);
  for (size_t k = 0; k < p->problem.n_values; k++) {
    tp_planned_value *v = &p->problem.values[k];
    v->node = place[v->node];
    v->copy = v->copy >= 0 ? place[v->copy] : -1;
    for (int u = 0; u < v->n_uses; u++)
      v->uses[u].node = place[v->uses[u].node];
  }
}

tp_status tp__order_nodes(tp_planner *p) {
  size_t n = p->problem.n_nodes;
  int *numbers = tp__calloc(4 * n + 1, sizeof *numbers);
  bool *moves = tp__calloc(n + 1, sizeof *moves);
  tp_node *nodes = tp__calloc(n + 1, sizeof *nodes);
  bool ok = numbers && moves && nodes;
  if (ok) {
    lists l = {.ahead = numbers, .behind = numbers + n, .next = numbers + 2 * n, .moves = moves};
    fill_lists(p, &l);
    choose_places(p, &l, numbers + 3 * n);
    renumber(p, numbers + 3 * n, nodes);
  }
  tp__free(numbers);
  tp__free(moves);
  tp__free(nodes);
  return ok ? TP_OK : tp__out_of_memory(p->problem.graph.func);
}
