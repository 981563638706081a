/* Hands the functions of a module as read by tp-propagate to tp-partition, which then need not read
 * them again. */
#ifndef TP_PASSES_FUNC_GRAPHS_H
#define TP_PASSES_FUNC_GRAPHS_H

#include "passes/registry.h"
#include "rules/func_graph.h"

typedef struct tp_func_graphs {
  size_t n;
  tp_func_graph *graphs; /* release with tp__free */
  tp__arena arena;       /* holds their rules */
  tp_mesh mesh;          /* of the grids and annotations that are written in the module */
} tp_func_graphs;

void tp__func_graphs_destroy(tp_func_graphs *graphs);
/* Moves the graphs into data that a pass leaves behind. If memory runs out, the data is NULL and
 * nothing is moved. */
tp_legacy tp__func_graphs_leave(const tp_func_graphs *graphs);
/* The graph of `func` in `left`, which may be NULL; NULL if there is none. */
tp_func_graph *tp__func_graphs_find(const tp_func_graphs *left, MlirOperation func);

#endif
