/* Chooses the branching node of a search under a memory limit. */
#ifndef TP_LIB_SOLVER_SPLIT_H
#define TP_LIB_SOLVER_SPLIT_H

#include "solver/wcsp.h"

/* A split of the graph: the strategies of one node, divided into groups. */
typedef struct tp__split {
  int node, n_groups;
  int *group; /* by strategy */
  int *rank;  /* groups sorted by their minimum reduced cost, most promising first */
} tp__split;

/* `g` must have alive nodes and memory; its prices must be meaningful. */
tp_status tp__split_create(const tp__wcsp *g, tp__split *how);
void tp__split_clear(tp__split *how);

#endif
