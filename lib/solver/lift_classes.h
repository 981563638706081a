/* Nodes and edges of a graph that look alike: the partition that lifted messages work on. */
#ifndef TP_LIB_SOLVER_LIFT_CLASSES_H
#define TP_LIB_SOLVER_LIFT_CLASSES_H

#include "solver/wcsp.h"

/* What a node of a class has `times` of: edges of one class, of which it is end `end`. */
typedef struct tp__lift_item {
  int edge_class, end;
  int64_t times;
} tp__lift_item;

/* Alive nodes with equal costs and equal items. */
typedef struct tp__lift_nodes {
  int node; /* one of them, from the middle */
  int64_t count;
  int n; /* strategies */
  const tp_cost *cost;
  int n_items;
  tp__lift_item *items;
} tp__lift_nodes;

/* Alive edges with one table whose ends look alike. */
typedef struct tp__lift_edges {
  int64_t count;
  int rows, columns;
  const tp_cost *table;
} tp__lift_edges;

typedef struct tp__lift_classes {
  int n_nodes, n_edges; /* classes; those of nodes in the order of `node` */
  tp__lift_nodes *nodes;
  tp__lift_edges *edges;
  int *node_class, *edge_class; /* by node and edge of the graph, where alive */
} tp__lift_classes;

/* Finds the classes of `g`, which has a shelf: equal arrays are one. They are kept in `pool`.
 * TP_NO_MEMORY. */
tp_status tp__lift_classify(const tp__wcsp *g, tp__pool *pool, tp__lift_classes *classes);

#endif
