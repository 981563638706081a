/* Building upstream `shard` ops: layout changes of the plan, and the collectives they expand to. */
#ifndef TP_IR_COLLECTIVES_H
#define TP_IR_COLLECTIVES_H

#include "ir/annotation.h"

#include "tp/reshard.h"

/* `shard.shard value to (shard.sharding ...) {tp.sharding = ...}` in front of `where`, at
 * `location`; returns its result. split_axes is truthful where upstream can say it: whole axes of
 * the unrefined mesh. */
MlirValue tp__build_layout_change(MlirOperation where, MlirLocation location, MlirValue value,
                                  const tp_mesh *mesh, tp_annotation annotation);

/* The same in two steps, for many changes to one layout: what their ops are made of, and the
 * ops. */
typedef struct tp_layout_change {
  MlirType type;
  MlirNamedAttribute layout[3]; /* of shard.sharding */
  MlirNamedAttribute note;      /* of shard.shard */
} tp_layout_change;
tp_layout_change tp__layout_change(MlirContext context, const tp_mesh *mesh, int rank,
                                   tp_annotation annotation);
MlirValue tp__insert_layout_change(MlirOperation where, MlirLocation location, MlirValue value,
                                   const tp_layout_change *to);

/* Expands one reshard step on a local value, in front of `where`; returns the new local value.
 * `global_shape` has `rank` entries. Null when memory runs out. */
MlirValue tp__build_step(MlirOperation where, MlirOperation module, MlirValue value,
                         const tp_mesh *mesh, const tp_step *step, int rank,
                         const int64_t *global_shape);

/* A permute of `value` over the whole mesh, in front of `where`, as a call of a private declaration
 * that is added to `module`: pairs of [source, destination] devices. A source may serve several
 * destinations; a device that is no destination gets zeros. Null when memory runs out. */
MlirValue tp__build_permute(MlirOperation where, MlirOperation module, MlirValue value,
                            int64_t n_pairs, const int64_t (*pairs)[2]);

/* The coordinate of this device along `axes` (major to minor) as one index value, in front of
 * `where`. */
MlirValue tp__build_group_index(MlirOperation where, const tp_mesh *mesh, int n, const int *axes);

/* The identity of `combiner` as an attribute of element type `type`; null when there is none. */
MlirAttribute tp__identity_attr(MlirType type, tp_combiner combiner);

#endif
