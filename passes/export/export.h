/* Shared by the files of tp-export-stablehlo: the state of the export, values and builders.
 *
 * The export works like the import (passes/import/stablehlo/hlo.h): an exporter builds ops of
 * StableHLO in front of x->where and records the values that replace the results of the old op. Old
 * ops keep their operands until their function is exported, and are destroyed then.
 *
 * Numbers and indices become tensors of rank 0; indices are i64. */
#ifndef TP_PASSES_EXPORT_H
#define TP_PASSES_EXPORT_H

#include "ir/annotation.h"
#include "passes/registry.h"
#include "passes/support/value_map.h"
#include "support/support.h"

typedef struct tp_export {
  tp_pass *pass;
  MlirOperation module;
  MlirContext context;
  tp_mesh mesh;
  tp__value_map map;     /* old value -> address of its replacement */
  MlirOperation where;   /* new ops are inserted in front of it */
  MlirLocation location; /* of the op that is exported */
  int64_t n_channels;    /* of collectives so far */
  tp_op_list done;       /* exported ops, destroyed at the end */
} tp_export;

enum { TP_EXPORT_MAX_VALUES = 4096 };

typedef tp_status tp_exporter(tp_export *x, MlirOperation op);
typedef struct tp_export_row {
  const char *name;
  tp_exporter *run;
} tp_export_row;

/* Tables of the files; each ends with a row without a name. */
extern const tp_export_row tp__export_tensor_rows[], tp__export_control_rows[],
    tp__export_collective_rows[], tp__export_linalg_rows[];

/* Exports an op by its table. */
tp_status tp__export_op(tp_export *x, MlirOperation op);
/* Exports the ops of a block in front of x->where, but not its terminator, which *end receives. */
tp_status tp__export_block(tp_export *x, MlirBlock block, MlirOperation *end);
/* Exports a region of `op` into `block`. The arguments of `block` replace those of the region. The
 * block ends in stablehlo.return, with the operands of the region's terminator from number `first`
 * on; a negative `first` means operand 0 alone. */
tp_status tp__export_region(tp_export *x, MlirOperation op, int region, MlirBlock block, int first);

/* True if the program is per device, on more than one. */
bool tp__export_is_split(const tp_export *x);
/* Exports the arguments and results of a function, whose body is exported (export_boundary.c).
 * Private functions are called by exported ones alone, whose integers have no sign. */
tp_status tp__export_boundary(tp_export *x, MlirOperation func, bool is_entry);

/* ---- values and types ---- */

MlirValue tp__export_value(tp_export *x, MlirValue old);
MlirValue tp__export_operand(tp_export *x, MlirOperation op, int i);
tp_status tp__export_map(tp_export *x, MlirOperation op, MlirValue old, MlirValue now);
tp_status tp__export_replace(tp_export *x, MlirOperation op, MlirValue now);
tp_status tp__export_replace_all(tp_export *x, MlirOperation op, MlirOperation now);
/* The type of the replacement of a value of this type. */
MlirType tp__export_type(MlirType old);
/* The tensor type of this shape. */
MlirType tp__export_tensor(MlirType element, int rank, const int64_t *sizes);
/* The integer type of the same width that is unsigned. */
MlirType tp__export_unsigned(MlirType element);

/* ---- builders ---- */

/* An attribute of the dialect by its text, "#stablehlo<comparison_direction LT>". */
MlirAttribute tp__export_attr(tp_export *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
MlirNamedAttribute tp__export_list(tp_export *x, const char *name, int n, const int64_t *values);
/* The precision of a contraction with sums of this type: what the program asked for, if f32. */
MlirNamedAttribute tp__export_precision(tp_export *x, MlirType sum);
MlirOperation tp__export_build_op(tp_export *x, const tp_build *build);
MlirValue tp__export_build(tp_export *x, const char *name, MlirType type, int n,
                           const MlirValue *operands, int n_attributes,
                           const MlirNamedAttribute *attributes);
/* A constant of a type all of whose elements are this attribute, a number of the element type. */
MlirValue tp__export_splat(tp_export *x, MlirType type, MlirAttribute element);
/* The element of an exported constant, or of the broadcast of a number that is one, all of whose
 * elements are equal; null for other values. */
MlirAttribute tp__export_splat_of(MlirValue value);
MlirValue tp__export_int(tp_export *x, MlirType type, int64_t value);
/* Dimension d of the value is dimension dims[d] of the result; one of size 1 is repeated. */
MlirValue tp__export_broadcast(tp_export *x, MlirValue value, MlirType type, const int64_t *dims);
MlirValue tp__export_reshape(tp_export *x, MlirValue value, int rank, const int64_t *sizes);
MlirValue tp__export_transpose(tp_export *x, MlirValue value, const int64_t *permutation);
MlirValue tp__export_slice(tp_export *x, MlirValue value, const int64_t *offsets,
                           const int64_t *sizes, const int64_t *strides);
MlirValue tp__export_reverse(tp_export *x, MlirValue value, int64_t dim);
MlirValue tp__export_concat(tp_export *x, int n, const MlirValue *values, int64_t dim);
/* The dimension numbers of stablehlo.gather. */
typedef struct tp_export_gather {
  int n_slices, n_indexed, n_batches, index_dim;
  const int64_t *slices;     /* dimensions of the result */
  const int64_t *indexed;    /* of the source: they have a position, and their slices size 1 */
  const int64_t *batch_dims; /* of the source, each with ... */
  const int64_t *batches;    /* ... the dimension of the positions that belongs to it */
} tp_export_gather;
MlirAttribute tp__export_gather_dims(tp_export *x, const tp_export_gather *dims);
/* The same bits as elements of another type; the value itself if it has that type. */
MlirValue tp__export_bitcast(tp_export *x, MlirValue value, MlirType element);
/* stablehlo.convert to elements of another type. */
MlirValue tp__export_convert(tp_export *x, MlirValue value, MlirType element);
MlirValue tp__export_binary(tp_export *x, const char *name, MlirValue a, MlirValue b);
/* stablehlo.compare: of integers by the sign of their type, of floats as numbers; the second, of
 * floats in IEEE 754 totalOrder. */
MlirValue tp__export_compare(tp_export *x, const char *direction, MlirValue a, MlirValue b);
MlirValue tp__export_compare_total(tp_export *x, const char *direction, MlirValue a, MlirValue b);
/* A block with arguments of these types in a new region of an op. */
MlirBlock tp__export_region_block(tp_export *x, MlirOperation op, int region, int n,
                                  const MlirType *types);
/* stablehlo.reduce of values along dimensions, by a region that the caller fills: *block has the
 * accumulators, then the values. */
MlirOperation tp__export_reduce(tp_export *x, int n, const MlirValue *values,
                                const MlirValue *initial, int n_dims, const int64_t *dims,
                                MlirBlock *block);

/* ---- elementwise ops (export_elementwise.c) ---- */

/* Exports one op of arith, math or complex. `operands` are tensors of one shape, of which the
 * result's type is `like` with its own element type; scalars are spread. *now is null if the op is
 * not in the table. */
tp_status tp__export_elementwise(tp_export *x, MlirOperation op, int n, MlirValue *operands,
                                 MlirValue *now);

/* Exports a structured op other than linalg.fill (export_linalg.c). */
tp_status tp__export_structured(tp_export *x, MlirOperation op);
/* Replaces all exchanges of rows of the module by gathers on all devices (export_route.c). */
tp_status tp__export_expand_routes(MlirOperation module);
/* Exports a permute (export_collective.c). */
tp_status tp__export_permute(tp_export *x, MlirOperation op);
/* Exports a sort (ir/sort_call.h). */
tp_status tp__export_sort(tp_export *x, MlirOperation op);
/* Writes an op of StableHLO or CHLO that the import kept (export_kept.c). */
tp_status tp__export_kept(tp_export *x, MlirOperation op);

/* ---- several ops that are one of StableHLO (export_idioms.c) ---- */

/* The float by whose place in IEEE 754 totalOrder this integer compares; null for other values. */
MlirValue tp__export_total_order_of(MlirValue value);
/* The conversion of a float to an integer around which `value` is the last of three selects that
 * saturate, as it does itself; otherwise `value`. */
MlirValue tp__export_saturated(tp_export *x, MlirValue value);

/* ---- combiners (export_combiner.c) ---- */

/* Fills the block of a reduction, whose arguments are two numbers, and ends it. */
tp_status tp__export_combiner(tp_export *x, MlirOperation op, tp_combiner combiner,
                              MlirBlock block);
/* The identity of a combiner as a number; null if it has none. */
MlirAttribute tp__export_identity(MlirType element, tp_combiner combiner);
/* The type of elements that a combiner combines: unsigned for the maximum and minimum of unsigned
 * numbers, so that the region is one op, for which compilers have kernels. */
MlirType tp__export_combined(MlirType element, tp_combiner combiner);
/* Combines two tensors of one shape. */
MlirValue tp__export_combine(tp_export *x, tp_combiner combiner, MlirValue a, MlirValue b);

#endif
