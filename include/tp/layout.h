/* Layouts: how the arguments, the results and the values of ops of a planned program lie on the
 * devices, as data; and how arrays are cut into shards and joined again. No type of MLIR occurs.
 *
 *     const tp_layouts *layouts = result->layouts;            (tp/text.h, wants_layouts)
 *     const tp_layout *x = &layouts->items[0];                the first argument
 *     int axes[TP_MAX_AXES], n = tp_spec_dim_axes(&layouts->mesh, x->spec, 0, axes);
 *     for (int64_t device = 0; device < tp_mesh_size(&layouts->mesh); device++)
 *       tp_shard_cut(&layouts->mesh, x, device, whole, shards[device]);
 *
 * tp/spec.h explains specs: which axes split a dimension (tp_spec_dim_axes), which are partial
 * (tp_spec_place). The axes are those of the mesh of the layouts, where an axis that the plan
 * splits is several.
 *
 * Ownership: layouts own everything that they point to. Thread rule: layouts are read-only. */
#ifndef TP_LAYOUT_H
#define TP_LAYOUT_H

#include "tp/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tp_layout_kind {
  TP_LAYOUT_ARGUMENT,  /* of a function */
  TP_LAYOUT_RESULT,    /* of a function */
  TP_LAYOUT_OP_RESULT, /* of an op */
} tp_layout_kind;

/* One tensor. Texts are never NULL; "" means that there is none. */
typedef struct tp_layout {
  tp_layout_kind kind;
  const char *function; /* the function that it is of or in */
  /* TP_LAYOUT_OP_RESULT: the op, "linalg.matmul"; a change of layout is a "shard.shard" */
  const char *op;
  int32_t n_op;  /* TP_LAYOUT_OP_RESULT: the number of the op among those of the function, from 0 */
  int32_t index; /* the number of the argument or result, from 0 */
  const char *name;     /* tp.name; else of an argument the name in the source, "w2" for %w2 */
  const char *location; /* of the op or function, as MLIR prints it */
  const char *element;  /* element type as MLIR prints it: "f32" */
  int64_t element_size; /* bytes */
  int32_t rank;         /* 0 for scalars */
  int64_t shape[TP_MAX_RANK]; /* of the whole tensor */
  int64_t local[TP_MAX_RANK]; /* of the buffer of one device */
  int64_t bytes;              /* of the buffer of one device */
  tp_spec spec;               /* on the mesh of the layouts */
  const char *sharding;       /* the spec as text */
} tp_layout;

typedef struct tp_layouts {
  tp_mesh mesh; /* refined by the sub-axes of the plan */
  /* Function by function, in program order: the arguments, the results, and the results of ops that
   * are tensors. */
  int32_t n;
  const tp_layout *items;
} tp_layouts;

/* NULL is allowed. */
TP_API void tp_layouts_destroy(tp_layouts *layouts);

/* ---- Shards of arrays ---- */

/* Computes which part of the whole tensor is on a device: `rank` offsets and sizes, of elements.
 * Sizes are less than those of the buffer where the tensor is not divided evenly, and may be 0. */
TP_API void tp_shard_box(const tp_mesh *mesh, const tp_layout *layout, int64_t device, int64_t *at,
                         int64_t *size);

/* Copies the part of a device from the whole tensor to the device's buffer. Both are dense and
 * row-major, of shape `shape` and `local`. Padding of the buffer is not written: programs accept
 * any content. TP_INVALID_ARGUMENT if there is no such device; TP_UNSUPPORTED if the tensor is
 * partial, so that it has no whole to cut. */
TP_API tp_status tp_shard_cut(const tp_mesh *mesh, const tp_layout *layout, int64_t device,
                              const void *whole, void *shard);
/* Copies the part of a device back: after a call for each device the tensor is whole. Devices that
 * hold the same part write the same place; one of them is enough. Errors: as above. */
TP_API tp_status tp_shard_join(const tp_mesh *mesh, const tp_layout *layout, int64_t device,
                               const void *shard, void *whole);

/* Copies a box of `size` elements from position `from_at` of one dense row-major array to position
 * `to_at` of another one, which must not overlap. Nothing is copied if a size is 0. */
typedef struct tp_box_copy {
  int32_t rank;
  int64_t element_size;
  const int64_t *size;
  const int64_t *from_shape, *from_at;
  const int64_t *to_shape, *to_at;
} tp_box_copy;
TP_API void tp_copy_box(const tp_box_copy *box, const void *from, void *to);

#ifdef __cplusplus
}
#endif
#endif
