/* Where a search branches under a memory limit. */
#ifndef TP_LIB_SOLVER_SPLIT_H
#define TP_LIB_SOLVER_SPLIT_H

#include "solver/wcsp.h"

/* How a graph is split: the strategies of a node in groups. */
typedef struct tp__split {
  int node, n_groups;
  int *group; /* by strategy */
  int *rank;  /* groups by the least cost in them, as messages left it: the most promising first */
} tp__split;

/* `g` has alive nodes and memory, prices in it say what memory is worth. */
tp_status tp__split_create(const tp__wcsp *g, tp__split *how);
void tp__split_clear(tp__split *how);

#endif
