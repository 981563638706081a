/* Builds one upstream collective. Shared by the files that expand reshard steps. */
#ifndef TP_IR_COLLECTIVE_OP_H
#define TP_IR_COLLECTIVE_OP_H

#include "ir/collectives.h"

/* The insertion point of a collective, and the step that it implements. */
typedef struct tp__collective {
  MlirOperation where;
  MlirContext context;
  MlirLocation location;
  const tp_mesh *mesh;
  const tp_step *step;
  MlirType result;
} tp__collective;

/* Builds shard.<name> over the axes of the step, with grid, grid_axes and up to two index
 * attributes. Reducing ops also get their reduction kind. */
MlirValue tp__build_collective(const tp__collective *c, const char *name, MlirValue value,
                               const char *index_name, int64_t index, const char *index2_name,
                               int64_t index2, bool reduces);

/* exchange.c: builds an all_to_all step between more than two dimensions. Its local shapes are
 * `before` and `after`. */
MlirValue tp__build_exchange(const tp__collective *c, MlirValue value, int rank,
                             const int64_t *before, const int64_t *after);

/* uneven_shards.c. Padding has no specified contents. */

/* Pads a dimension of local size `size` to the equal shards that the axes of the step split it
 * into. */
MlirValue tp__fill_up(const tp__collective *c, MlirValue value, int dim, int64_t size);
/* The reverse, after a gather: leaves `size` elements of the dimension. */
MlirValue tp__strip(const tp__collective *c, MlirValue value, int dim, int64_t size);
/* True if the axes of a slice step divide the dimension of the value. */
bool tp__is_even_slice(const tp__collective *c, MlirValue value);
/* Cuts this device's shard of any other size from the value. The result is a view of the value,
 * unless a shard has both elements and padding; then it is a copy of the shard. */
MlirValue tp__uneven_slice(const tp__collective *c, MlirValue value);

#endif
