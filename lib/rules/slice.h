/* tensor.extract_slice and tensor.insert_slice as a struct: reads it from an op, and writes it back
 * after changes. */
#ifndef TP_RULES_SLICE_H
#define TP_RULES_SLICE_H

#include "rules/rule.h"

/* A static number or an index value of the op. */
typedef struct tp_mixed {
  int64_t fixed;
  MlirValue value; /* null: the number is `fixed` */
} tp_mixed;

typedef struct tp_slice {
  bool is_insert;
  int rank; /* of the large tensor */
  tp_mixed offsets[TP_MAX_RANK], strides[TP_MAX_RANK];
  int64_t sizes[TP_MAX_RANK];
  /* the dimension of the small tensor; -1 for a dimension of size 1 that it drops */
  int small_dim[TP_MAX_RANK];
} tp_slice;

/* How the local form treats a dimension. */
typedef enum tp_cut {
  TP_CUT_WHOLE, /* the slice covers it, or takes one element per stride */
  TP_CUT_KEPT,  /* the slice cuts the dimension, which is not split */
  /* large and small tensor are split; the points fetch the elements that they read */
  TP_CUT_WINDOW,
  /* The large tensor is split and the small one is whole: each device handles the part of the slice
   * that it owns. */
  TP_CUT_OWNED,
} tp_cut;

/* Reads a slice. False if a size is not static, or if the shapes do not match. */
bool tp__slice_read(MlirOperation op, const tp_value_map *small, tp_slice *slice);

/* True if the slice covers the whole dimension of `size`. */
bool tp__slice_is_whole(const tp_slice *slice, int d, int64_t size);

tp_cut tp__slice_cut(const tp_local *local, const tp_slice *slice, int d);

/* Rewrites the op as the slice of these tensors: {large}, or {small, large} for an insert. */
void tp__slice_write(MlirOperation op, const tp_slice *slice, const MlirValue *tensors);
/* Builds large[offsets][sizes][strides] before `where`, without dropping dimensions. */
MlirValue tp__slice_take(MlirOperation where, const tp_slice *slice, MlirValue large);
/* Builds `large` with `small` inserted at [offsets][sizes][strides]. */
MlirValue tp__slice_put(MlirOperation where, const tp_slice *slice, MlirValue small,
                        MlirValue large);

/* Builds the number as an index value before `where`. */
MlirValue tp__mixed_value(MlirOperation where, tp_mixed number);
bool tp__mixed_is(tp_mixed number, int64_t value);

/* Build the local forms. */
tp_status tp__slice_localize_extract(const tp_local *local, tp_slice *slice);
tp_status tp__slice_localize_insert(const tp_local *local, tp_slice *slice);

#endif
