/* tensor.extract_slice and tensor.insert_slice as a value: read off an op, changed, written
 * back. */
#ifndef TP_RULES_SLICE_H
#define TP_RULES_SLICE_H

#include "rules/rule.h"

/* A number of the op: known, or an index value. */
typedef struct tp_mixed {
  int64_t fixed;
  MlirValue value; /* null: the number is `fixed` */
} tp_mixed;

typedef struct tp_slice {
  bool is_insert;
  int rank; /* of the large tensor */
  tp_mixed offsets[TP_MAX_RANK], strides[TP_MAX_RANK];
  int64_t sizes[TP_MAX_RANK];
  /* the dimension of the small tensor, -1 for one of size 1 that it does not have */
  int small_dim[TP_MAX_RANK];
} tp_slice;

/* How a split dimension is treated by the local form. */
typedef enum tp_cut {
  TP_CUT_WHOLE,  /* the slice takes all of it, or an element of every stride */
  TP_CUT_KEPT,   /* it cuts the dimension, which is not split */
  TP_CUT_WINDOW, /* large and small tensor are split; the points fetch what they read */
  /* the large tensor is split, the small one whole: each device deals with what it has of the
   * slice */
  TP_CUT_OWNED,
} tp_cut;

/* False when a size is not static, or the shapes do not fit. */
bool tp__slice_read(MlirOperation op, const tp_value_map *small, tp_slice *slice);

/* Does the slice take the whole dimension of `size`? */
bool tp__slice_is_whole(const tp_slice *slice, int d, int64_t size);

tp_cut tp__slice_cut(const tp_local *local, const tp_slice *slice, int d);

/* Makes the op the slice of these tensors: large; or small, large. */
void tp__slice_write(MlirOperation op, const tp_slice *slice, const MlirValue *tensors);
/* large[offsets][sizes][strides] with all dimensions, in front of `where`. */
MlirValue tp__slice_take(MlirOperation where, const tp_slice *slice, MlirValue large);
/* `large` with `small` at [offsets][sizes][strides]. */
MlirValue tp__slice_put(MlirOperation where, const tp_slice *slice, MlirValue small,
                        MlirValue large);

/* The number as an index value in front of `where`. */
MlirValue tp__mixed_value(MlirOperation where, tp_mixed number);
bool tp__mixed_is(tp_mixed number, int64_t value);

/* The local forms. */
tp_status tp__slice_localize_extract(const tp_local *local, tp_slice *slice);
tp_status tp__slice_localize_insert(const tp_local *local, tp_slice *slice);

#endif
