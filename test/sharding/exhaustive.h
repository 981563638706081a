/* The cheapest way from one layout to another by looking at everything: all layouts of a tensor,
 * every two of them tested for being one move apart, and a search over these. Slow, and independent
 * of the library's search: moves are told by what they do to the places of axes and to the offsets
 * of shards (tp_spec_shard), prices are those of tp/cost.h. */
#ifndef TEST_SHARDING_EXHAUSTIVE_H
#define TEST_SHARDING_EXHAUSTIVE_H

#include "tp/reshard.h"

enum { EXHAUSTIVE_MOST = 400 }; /* layouts */

typedef struct exhaustive {
  const tp_mesh *mesh;
  const tp_topology *topology;
  int rank;
  int64_t shape[TP_MAX_RANK];
  int64_t element_size;
  int n;
  tp_spec *specs;
  tp_spec *bare;  /* the same without axes of size 1, which mean nothing */
  tp_cost *edges; /* from specs[i] to specs[j]: entry i * n + j */
} exhaustive;

/* All layouts, with partials of each of `n_combiners` combiners. False when they are too many, or
 * memory runs out. */
bool exhaustive_create(exhaustive *e, const tp_mesh *mesh, const tp_topology *topology, int rank,
                       const int64_t *shape, int64_t element_size, int n_combiners,
                       const tp_combiner *combiners);
/* `spec` without axes of size 1. */
tp_spec exhaustive_bare(const tp_mesh *mesh, tp_spec spec);
void exhaustive_destroy(exhaustive *e);

/* The cost of the cheapest path, TP_COST_FORBIDDEN when there is none. On the way are layouts that
 * divide, and on dimensions that one of both ends does not divide the first axes of that end. */
tp_cost exhaustive_cost(const exhaustive *e, int from, int to);

#endif
