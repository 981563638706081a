/* Builds ops of upstream's `shard` dialect: the reshards of the plan, and the collectives they
 * expand to. */
#ifndef TP_IR_COLLECTIVES_H
#define TP_IR_COLLECTIVES_H

#include "ir/annotation.h"

#include "tp/reshard.h"

/* Builds `shard.shard value to (shard.sharding ...) {tp.sharding = ...}` before `where`, at
 * `location`, and returns its result. split_axes is exact where upstream can express the sharding:
 * whole axes of the unrefined mesh. */
MlirValue tp__build_reshard(MlirOperation where, MlirLocation location, MlirValue value,
                            const tp_mesh *mesh, tp_annotation annotation);

/* The same in two steps, for many reshards to one sharding: first the attributes, then the ops. */
typedef struct tp_reshard_attrs {
  MlirType type;
  MlirNamedAttribute layout[3]; /* of shard.sharding */
  MlirNamedAttribute note;      /* of shard.shard */
} tp_reshard_attrs;
tp_reshard_attrs tp__reshard_attrs(MlirContext context, const tp_mesh *mesh, int rank,
                                   tp_annotation annotation);
MlirValue tp__insert_reshard(MlirOperation where, MlirLocation location, MlirValue value,
                             const tp_reshard_attrs *to);

/* Expands one reshard step of a local value before `where`, and returns the new local value.
 * `global_shape` has `rank` entries. Null if memory runs out. */
MlirValue tp__build_step(MlirOperation where, MlirOperation module, MlirValue value,
                         const tp_mesh *mesh, const tp_step *step, int rank,
                         const int64_t *global_shape);

/* Creates a shard.all_slice (`cuts`) or all_gather of `value` in dimension `dim`, by n axes of the
 * mesh, major to minor. The caller inserts it. */
MlirOperation tp__create_border(MlirLocation location, const tp_mesh *mesh, bool cuts,
                                MlirValue value, int dim, int n, const int *axes);

/* Builds a permute of `value` over the whole mesh before `where`: a call of a private declaration,
 * which is added to `module`. `pairs` holds [source, destination] devices. A source may serve
 * several destinations. A device that is not a destination receives zeros. Null if memory runs
 * out. */
MlirValue tp__build_permute(MlirOperation where, MlirOperation module, MlirValue value,
                            int64_t n_pairs, const int64_t (*pairs)[2]);

/* True if the op is a permute: a call with tp.pairs. */
bool tp__is_permute(MlirOperation op);

/* Builds the linear index of this device along `axes` (major to minor) before `where`, as a value
 * of index type. */
MlirValue tp__build_group_index(MlirOperation where, const tp_mesh *mesh, int n, const int *axes);

/* Reads the combiner of a reducing collective: its tp.combiner, else its reduction, else a sum. */
tp_status tp__collective_combiner(MlirOperation op, tp_combiner *combiner);

/* Returns the identity of `combiner` as an attribute of type `type`. Null if there is none. */
MlirAttribute tp__identity_attr(MlirType type, tp_combiner combiner);

#endif
