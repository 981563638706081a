/* How work is counted. The unit is an entry of a table looked at by itself, some 2.5 ns; entries
 * looked at in rows count as much and take less. What takes time and looks at few entries counts as
 * if it were so many, so that a budget is a time, and yet the same on every machine. The numbers
 * are measured: training steps within memory limits, of 2,500 and of 30,000 nodes. */
#ifndef TP_LIB_SOLVER_WORK_H
#define TP_LIB_SOLVER_WORK_H

#include "solver/wcsp.h"

enum {
  TP__WORK_STEP = 40,   /* a node of a reduction, beside its entries */
  TP__WORK_IN_ROWS = 2, /* entries that messages look at, from both ends, in the time of one */
  TP__WORK_VISIT = 14,  /* an edge from one of its ends, beside its entries ... */
  /* ... where the tables exceed a cache: they are small, and each comes from memory */
  TP__WORK_FAR_VISIT = 56,
  TP__WORK_PAYMENT = 3, /* what one strategy pays for one of its loads */
  TP__CACHED_ENTRIES = 1 << 17
};

/* Of looking along every edge once from each end, beside its entries. */
static inline int64_t tp__work_of_visits(const tp__wcsp *g) {
  int64_t visits = 0;
  for (int v = 0; v < g->n_nodes; v++)
    visits += g->nodes[v].alive ? g->nodes[v].n_edges : 0;
  return visits * (tp__wcsp_entries(g) > TP__CACHED_ENTRIES ? TP__WORK_FAR_VISIT : TP__WORK_VISIT);
}

#endif
