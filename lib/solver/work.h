/* Defines the unit of work: one random read of a table entry, about 2.5 ns. Sequential reads count
 * the same but take less. Operations that take time but read few entries count as an equivalent
 * number of entries. A work budget thus approximates a time budget, but is the same on every
 * machine. The numbers were measured on training steps under memory limits, with 2,500 and with
 * 30,000 nodes. */
#ifndef TP_LIB_SOLVER_WORK_H
#define TP_LIB_SOLVER_WORK_H

#include "solver/wcsp.h"

enum {
  TP__WORK_STEP = 40, /* a node of a reduction, in addition to its entries */
  /* sequential entries, read from both endpoints, in the time of one random read */
  TP__WORK_SEQUENTIAL_READS = 2,
  TP__WORK_VISIT = 14, /* an edge visited from one endpoint, in addition to its entries ... */
  /* ... if the tables exceed the cache: they are small, and each comes from memory */
  TP__WORK_UNCACHED_VISIT = 56,
  TP__WORK_PAYMENT = 3, /* the payment of one strategy for one of its loads */
  TP__CACHED_ENTRIES = 1 << 17
};

/* Returns the work of visiting every edge once from each endpoint, in addition to its entries. */
static inline int64_t tp__work_of_visits(const tp__wcsp *g) {
  int64_t visits = 0;
  for (int v = 0; v < g->n_nodes; v++)
    visits += g->nodes[v].alive ? g->nodes[v].n_edges : 0;
  return visits *
         (tp__wcsp_entries(g) > TP__CACHED_ENTRIES ? TP__WORK_UNCACHED_VISIT : TP__WORK_VISIT);
}

#endif
