/* Partitions the nodes and edges of a graph into classes that lifted messages treat as equal. */
#ifndef TP_LIB_SOLVER_LIFT_CLASSES_H
#define TP_LIB_SOLVER_LIFT_CLASSES_H

#include "solver/wcsp.h"

/* The edges of one class at a node of a class: `times` of them, of which the node is endpoint
 * `end`. */
typedef struct tp__lift_item {
  int edge_class, end;
  int64_t times;
} tp__lift_item;

/* Alive nodes with equal costs and equal items. */
typedef struct tp__lift_nodes {
  int node; /* the middle one of them */
  int64_t count;
  int n; /* strategies */
  const tp_cost *cost;
  int n_items;
  tp__lift_item *items;
} tp__lift_nodes;

/* Alive edges with the same table and equal endpoints. */
typedef struct tp__lift_edges {
  int64_t count;
  int rows, columns;
  const tp_cost *table;
} tp__lift_edges;

typedef struct tp__lift_classes {
  int n_nodes, n_edges; /* numbers of classes; node classes are sorted by `node` */
  tp__lift_nodes *nodes;
  tp__lift_edges *edges;
  int *node_class, *edge_class; /* by alive node and edge of the graph */
} tp__lift_classes;

/* Finds the classes of `g`, which has a shelf, so that equal arrays have the same address. The
 * surroundings of the nodes of a class agree up to `radius` edges away. Allocates in `pool`.
 * TP_NO_MEMORY. */
tp_status tp__lift_classify(const tp__wcsp *g, int radius, tp__pool *pool,
                            tp__lift_classes *classes);

#endif
