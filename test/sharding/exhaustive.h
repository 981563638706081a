/* Exhaustive search for the cheapest reshard: enumerates all shardings of a tensor, tests each pair
 * for being one move apart, and searches over these. Slow, and independent of the library's search:
 * moves are recognized by their effect on the positions of axes and on shard offsets
 * (tp_spec_shard); costs are those of tp/cost.h. */
#ifndef TEST_SHARDING_EXHAUSTIVE_H
#define TEST_SHARDING_EXHAUSTIVE_H

#include "tp/reshard.h"

enum { EXHAUSTIVE_MOST = 400 }; /* max number of shardings */

typedef struct exhaustive {
  const tp_mesh *mesh;
  const tp_topology *topology;
  int rank;
  int64_t shape[TP_MAX_RANK];
  int64_t element_size;
  int n;
  tp_spec *specs;
  tp_spec *bare;  /* the same without axes of size 1, which have no effect */
  tp_cost *edges; /* from specs[i] to specs[j]: entry i * n + j */
} exhaustive;

/* Enumerates all shardings, with partials of each of `n_combiners` combiners. False if there are
 * too many, or memory runs out. */
bool exhaustive_create(exhaustive *e, const tp_mesh *mesh, const tp_topology *topology, int rank,
                       const int64_t *shape, int64_t element_size, int n_combiners,
                       const tp_combiner *combiners);
/* Returns `spec` without axes of size 1. */
tp_spec exhaustive_bare(const tp_mesh *mesh, tp_spec spec);
void exhaustive_destroy(exhaustive *e);

/* Returns the cost of the cheapest path, TP_COST_FORBIDDEN if there is none. Intermediate shardings
 * divide; on dimensions that `from` or `to` does not divide, they may also have the leading axes of
 * that one. */
tp_cost exhaustive_cost(const exhaustive *e, int from, int to);

#endif
