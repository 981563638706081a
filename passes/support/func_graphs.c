/* Stores the functions that tp-propagate has read until tp-partition uses them. */
#include "passes/support/func_graphs.h"

void tp__func_graphs_destroy(tp_func_graphs *p) {
  for (size_t i = 0; i < p->n; i++)
    tp__func_graph_destroy(&p->graphs[i]);
  tp__free(p->graphs);
  tp__arena_destroy(&p->arena);
}

static void drop(void *data) {
  tp__func_graphs_destroy(data);
  tp__free(data);
}

tp_legacy tp__func_graphs_leave(const tp_func_graphs *graphs) {
  tp_func_graphs *left = tp__malloc(sizeof *left);
  if (!left)
    return (tp_legacy){0};
  *left = *graphs;
  return (tp_legacy){left, drop};
}

tp_func_graph *tp__func_graphs_find(const tp_func_graphs *left, MlirOperation func) {
  for (size_t i = 0; left && i < left->n; i++)
    if (mlirOperationEqual(left->graphs[i].func, func))
      return &left->graphs[i];
  return NULL;
}
