/* A tensor of integers, sharded over devices in memory, and reshard steps that are executed on it
 * by their definition.
 *
 * Independent of the library's search: uses only sizes (tp_spec_local_shape), the position of a
 * shard (tp_spec_shard) and the map of a permute. Rows beyond the valid size of an uneven shard
 * hold garbage. */
#ifndef TEST_SHARDING_SIMULATOR_H
#define TEST_SHARDING_SIMULATOR_H

#include "tp/reshard.h"

enum { SIM_MAX_DEVICES = 128, SIM_MAX_RANK = 4 };

typedef struct sim {
  const tp_mesh *mesh;
  int rank;
  int64_t shape[SIM_MAX_RANK];
  tp_combiner combiner;
  int64_t local[SIM_MAX_RANK]; /* shape of every buffer */
  int64_t *buffers[SIM_MAX_DEVICES];
} sim;

/* Creates the test tensor with the sharding `spec`; the parts of a partial sharding differ between
 * devices. */
void sim_create(sim *s, const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape,
                tp_combiner combiner);
void sim_destroy(sim *s);
void sim_execute(sim *s, const tp_step *step);
/* Returns true if the buffers are the test tensor with sharding `spec`: every valid element of
 * every device is correct after combining the partial axes, and copies are equal. */
bool sim_holds(const sim *s, tp_spec spec);

/* Enumerates all specs of a tensor of `rank` dimensions, with partials of `combiner` if `partial`.
 * Returns their number; `specs` has `room` entries. */
int all_specs(const tp_mesh *mesh, int rank, bool partial, tp_combiner combiner, int room,
              tp_spec *specs);

/* Returns a mesh "m" with axes "a", "b", ... */
tp_mesh make_mesh(int n, const int64_t *sizes);

#endif
