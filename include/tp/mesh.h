/* Meshes: named axes over devices, and their refinement into sub-axes.
 *
 * A mesh is a list of axes, major to minor. The linear number of the device at coordinates (c0, c1,
 * ...) is row-major, ((c0 * s1) + c1) * s2 + c2 ... An axis may be split into sub-axes, major to
 * minor. A sub-axis of axis "tp" is written tp:(pre)size as in Shardy: `pre` is the product of the
 * sizes of the sub-axes before it, so an 8-way "tp" split 2x4 is tp:(1)2, tp:(2)4. Splitting does
 * not change the device numbering.
 *
 * All sharding computations work on the axes of one tp_mesh, which may be a refined one. A refined
 * mesh records for each axis the axis of the original ("parent") mesh that it belongs to.
 *
 * Ownership: plain values, copied freely; no allocation. Thread rule: safe everywhere. */
#ifndef TP_MESH_H
#define TP_MESH_H

#include "tp/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TP_MAX_AXES = 8,       /* axes of a mesh after splitting */
  TP_MAX_AXIS_NAME = 32, /* bytes of an axis or mesh name, with the terminating zero */
};

typedef struct tp_axis {
  char name[TP_MAX_AXIS_NAME]; /* name of the parent axis, e.g. "tp" */
  int64_t size;                /* number of devices along this axis, >= 1 */
  /* product of the sizes of the preceding sub-axes of the same parent; 1 for a whole axis */
  int64_t pre;
  int64_t parent_size; /* size of the parent axis; == size for a whole axis */
  int parent;          /* index of the parent axis in the unrefined mesh */
} tp_axis;

typedef struct tp_mesh {
  char name[TP_MAX_AXIS_NAME]; /* symbol name, e.g. "mesh" */
  int n_axes;
  int n_parents; /* number of axes of the unrefined mesh */
  tp_axis axes[TP_MAX_AXES];
} tp_mesh;

/* Creates a mesh of whole axes. `names` and `sizes` have n entries. Errors: TP_INVALID_ARGUMENT if
 * n is outside [1, TP_MAX_AXES]; if a size is < 1; if a name is empty, too long, repeated, or
 * contains one of `:()" ,?=`; or if the mesh has more than 2^31 - 1 devices. */
TP_API tp_status tp_mesh_create(const char *name, int n, const char *const *names,
                                const int64_t *sizes, tp_mesh *mesh);

/* Creates a mesh from text: axes with sizes, "dp=2,tp=4", or sizes alone, "2x4" or "2,4" or "8".
 * Sizes are decimal digits; spaces and signs are refused. Sizes alone give the axes tp; dp and tp;
 * or x, y, z, u, v, w, s, t. Errors as tp_mesh_create; `why` (may be NULL, else why_size bytes)
 * receives a message that quotes the text. */
TP_API tp_status tp_mesh_parse(const char *name, const char *text, char *why, size_t why_size,
                               tp_mesh *mesh);

/* Returns the number of devices. */
TP_API int64_t tp_mesh_size(const tp_mesh *mesh);

/* Refines `mesh` so that it has the boundaries of a sub-axis: afterwards some axis of parent `name`
 * starts at `pre` and some axis ends at pre*size. Errors: TP_NOT_FOUND (no such axis),
 * TP_INVALID_ARGUMENT (pre*size does not divide the axis, an existing cut makes the split
 * impossible, or more than TP_MAX_AXES axes would be needed). */
TP_API tp_status tp_mesh_refine(tp_mesh *mesh, const char *name, int64_t pre, int64_t size);

/* True if some axis is a proper sub-axis. */
TP_API bool tp_mesh_is_refined(const tp_mesh *mesh);

/* Returns the unrefined mesh of `mesh`. */
TP_API tp_mesh tp_mesh_parent(const tp_mesh *mesh);

/* Finds the consecutive axes of `mesh` that make up `name` (pre == 0: the whole axis) or the
 * sub-axis name:(pre)size. Returns the number of axes and the first in *first; 0 if there is no
 * such axis or the boundaries do not match. */
TP_API int tp_mesh_find(const tp_mesh *mesh, const char *name, int64_t pre, int64_t size,
                        int *first);

/* Returns the stride of `axis` in the linear device number, in devices. */
TP_API int64_t tp_mesh_stride(const tp_mesh *mesh, int axis);

/* Returns the coordinate of device `device` along `axis`. */
TP_API int64_t tp_mesh_coordinate(const tp_mesh *mesh, int64_t device, int axis);

/* Writes axes [first, first+n), which are adjacent and of one parent, as one name: "tp" or
 * "tp:(1)2". Returns the length without the terminating zero, as snprintf does. */
TP_API int tp_mesh_axis_text(const tp_mesh *mesh, int first, int n, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
