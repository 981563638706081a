/* Meshes whose axes are cut into sub-axes, and specs on them. A mesh refines another one of the
 * same devices if every axis of the other is a run of its own axes. */
#ifndef TP_LIB_SHARDING_CUT_H
#define TP_LIB_SHARDING_CUT_H

#include "sharding/sharding.h"

/* Cuts the axes outside of the set `keep` into primes, in the order with number `order`: 0 is
 * ascending from major to minor. False if there is no such order; those below 64 are numbered with
 * gaps. If there are more than TP_MAX_AXES parts, the largest axes are cut first and the rest
 * stays. */
enum { TP__N_CUT_ORDERS = 64 };
bool tp__mesh_cut(const tp_mesh *mesh, unsigned keep, int order, tp_mesh *cut);
/* Returns the first of the axes of `refined` that make up `axis` of `mesh`, and their number. */
int tp__cut_run(const tp_mesh *mesh, const tp_mesh *refined, int axis, int *first);
/* Converts a spec to a refinement of its mesh. */
tp_spec tp__spec_cut(const tp_mesh *mesh, const tp_mesh *refined, tp_spec spec);
/* Converts a spec from `refined` back to `mesh`. In the spec, the parts of every axis of `mesh` are
 * adjacent. */
tp_spec tp__spec_join(const tp_mesh *mesh, const tp_mesh *refined, tp_spec spec);
/* Converts a topology to a refinement of its mesh: a sub-axis has the lines of its axis. */
tp_topology tp__topology_cut(const tp_topology *topology, const tp_mesh *mesh,
                             const tp_mesh *refined);

#endif
