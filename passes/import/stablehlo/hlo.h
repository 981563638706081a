/* Shared by the files of tp-import-stablehlo: the table of ops, the conversion of one function, and
 * builders.
 *
 * A converter builds new ops in front of hlo->where and records the values that replace the results
 * of the old op. Old ops keep their operands and types, in which integers may be unsigned, until
 * the whole function is converted; then they are destroyed. MLIR does not verify ops of an
 * unregistered dialect, so a converter checks whatever it relies on.
 *
 * The same converters serve bodies of reductions and comparators, whose tensors of rank 0 become
 * numbers (hlo->scalar). */
#ifndef TP_PASSES_IMPORT_STABLEHLO_HLO_H
#define TP_PASSES_IMPORT_STABLEHLO_HLO_H

#include "ir/annotation.h"
#include "passes/registry.h"
#include "passes/support/value_map.h"
#include "support/support.h"

/* ---- the conversion ---- */

typedef struct tp_hlo {
  tp_pass *pass;
  MlirOperation module;
  MlirContext context;
  tp__value_map map;      /* old value -> address of its replacement */
  MlirOperation where;    /* new ops are inserted in front of it */
  MlirLocation location;  /* of the op that is converted */
  tp_mesh mesh;           /* of the module; without axes: none */
  bool uses_grid;         /* new ops name the grid of the mesh */
  bool scalar;            /* in a body: tensors of rank 0 are numbers */
  bool keeps_unknown;     /* ops without a translation stay */
  bool pointwise;         /* in a body that converts one op: all tensors are numbers */
  tp_op_list done;        /* converted ops, destroyed at the end */
  tp_op_list comparators; /* functions that were copied into sorts, removed at the end */
  tp_op_list casts;       /* of unsigned values of other ops, replaced at the end */
} tp_hlo;

typedef struct tp_hlo_row tp_hlo_row;

/* Converts one op whose numbers of operands, results and regions are those of its row, and whose
 * tensors have static shape and element types of TP_ELEMENT_TYPES or unsigned. */
typedef tp_status tp_hlo_convert(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row);

/* TP_HLO_MAX_VALUES: of a loop, a branch or a reduction. */
enum { TP_HLO_ANY = -1, TP_HLO_MAX_VALUES = 4096 };

/* An op of the table: converted, or refused with a reason. */
struct tp_hlo_row {
  const char *name;                        /* "stablehlo.add" */
  int8_t n_operands, n_results, n_regions; /* or TP_HLO_ANY */
  tp_hlo_convert *convert;
  /* of elementwise ops: their tp_hlo_elementwise; of chlo.broadcast_*: the name of the op on
   * operands of one shape; of refused ops: TP_HLO_OR_KEEP if they stay when
   * the user asks for it */
  const void *detail;
  const char *becomes; /* for the reference page; of a refused op: why, and the way out */
};

#define TP_HLO_OR_KEEP ", or keep it by unknown-ops=replicate for an export to StableHLO"

/* Tables of the files; each ends with a row without a name. */
extern const tp_hlo_row tp__hlo_elementwise_rows[], tp__hlo_shape_rows[], tp__hlo_control_rows[],
    tp__hlo_reduce_rows[], tp__hlo_contraction_rows[], tp__hlo_window_rows[], tp__hlo_index_rows[],
    tp__hlo_scatter_rows[], tp__hlo_random_rows[], tp__hlo_sort_rows[], tp__hlo_custom_rows[],
    tp__hlo_collective_rows[], tp__hlo_fourier_rows[], tp__hlo_expand_rows[],
    tp__hlo_refused_rows[];

/* The row of an op of the dialects stablehlo and chlo; NULL if there is none. */
const tp_hlo_row *tp__hlo_row(MlirOperation op);

/* Converts one op. */
tp_status tp__hlo_convert_one(tp_hlo *hlo, MlirOperation op);
/* Converts the ops of a block in front of hlo->where. Stops in front of the terminator, which
 * *end receives. Its operands are looked up by tp__hlo_value. */
tp_status tp__hlo_block(tp_hlo *hlo, MlirBlock block, MlirOperation *end);
/* Converts a region of `op` into `block`, which must be empty and has an argument per argument of
 * the region: fills it with the converted ops and a terminator `end_name`, whose operands are the
 * values that the region returns. *terminator may be NULL. */
tp_status tp__hlo_region(tp_hlo *hlo, MlirOperation op, int region, MlirBlock block,
                         const char *end_name, MlirOperation *terminator);
/* The same for the body of a structured op: numbers in place of tensors of rank 0. `yield` is the
 * existing terminator of the block, in front of which the ops are built, and whose operands are
 * set. arguments[i] replaces argument i of the region. */
tp_status tp__hlo_body(tp_hlo *hlo, MlirOperation op, int region, MlirOperation yield, int n,
                       const MlirValue *arguments);

/* Ops of complex numbers take no tensors: an elementwise op on such tensors becomes the body of a
 * linalg.generic. */
bool tp__hlo_needs_body(const tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row);
tp_status tp__hlo_in_body(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row);

/* ---- ops that stay (hlo_kept.c) ---- */

/* Decides whether an op of the dialects stays: one that has a rule, or one without a translation if
 * the user asks for it. Then prepares it: what has no rule gets one that splits nothing, and
 * attributes keep what the conversion changes. */
tp_status tp__hlo_keep(tp_hlo *hlo, MlirOperation op, bool *stays);
/* Converts a custom call of ApproxTopK. */
tp_status tp__hlo_approximate_top_k(tp_hlo *hlo, MlirOperation op);
/* Refuses custom calls that may not stay. is_kept: a call that stays if the user asks for it. */
tp_status tp__hlo_check_custom_call(MlirOperation op, bool *is_kept);
/* Checks that operands and results are tensors that programs may have. */
tp_status tp__hlo_check_values(MlirOperation op);

/* Refuses an op in the body of another op. */
tp_status tp__hlo_not_in_body(const tp_hlo *hlo, MlirOperation op);

/* Replaces an op of torch-mlir's dialect tm_tensor by one of StableHLO (tm_tensor.c). */
bool tp__hlo_is_tm_tensor(MlirOperation op);
tp_status tp__hlo_from_tm_tensor(MlirOperation op);

/* Inlines the calls in bodies of reductions and the like, before anything is converted. */
tp_status tp__hlo_inline_calls(MlirOperation module);

/* ---- values and types ---- */

/* The value that replaces an old value. */
MlirValue tp__hlo_value(tp_hlo *hlo, MlirValue old);
MlirValue tp__hlo_operand(tp_hlo *hlo, MlirOperation op, int i);
/* Records the replacement of a value, or of result 0 of `op`. */
tp_status tp__hlo_map(tp_hlo *hlo, MlirOperation op, MlirValue old, MlirValue now);
tp_status tp__hlo_replace(tp_hlo *hlo, MlirOperation op, MlirValue now);
/* Records the results of `now` as replacements of those of `op`. */
tp_status tp__hlo_replace_all(tp_hlo *hlo, MlirOperation op, MlirOperation now);

/* The type of the replacement: integers without sign; in a body, the element type of tensors that
 * are numbers there. */
MlirType tp__hlo_type(const tp_hlo *hlo, MlirType old);
MlirType tp__hlo_result_type(const tp_hlo *hlo, MlirOperation op, int i);
/* The type of the shape of `like` with this element type; the element type itself if `like` is a
 * number. */
MlirType tp__hlo_with_element(MlirType like, MlirType element);
/* The old type of an operand, and its element type; its shape. */
MlirType tp__hlo_operand_type(MlirOperation op, int i);
MlirType tp__hlo_operand_element(MlirOperation op, int i);
MlirType tp__hlo_result_element(MlirOperation op, int i);
typedef struct tp_hlo_shape {
  int rank;
  int64_t sizes[TP_MAX_RANK];
} tp_hlo_shape;
tp_hlo_shape tp__hlo_shape(MlirType type);
int64_t tp__hlo_elements(const tp_hlo_shape *shape);
bool tp__hlo_same_shape(MlirType a, MlirType b);

/* The kind of an element type. */
typedef enum tp_hlo_kind {
  TP_HLO_FLOAT,
  TP_HLO_SIGNED,
  TP_HLO_UNSIGNED,
  TP_HLO_BOOL,
  TP_HLO_COMPLEX,
  TP_HLO_KINDS
} tp_hlo_kind;
tp_hlo_kind tp__hlo_kind(MlirType element);
const char *tp__hlo_kind_text(tp_hlo_kind kind);

/* ---- attributes ---- */

/* Reads a list of exactly n integers (array<i64: ...>, or dense<...> : tensor<nxi64>). Absent: all
 * are `missing`. */
tp_status tp__hlo_ints(MlirOperation op, const char *name, int n, int64_t missing, int64_t *values);
/* The same for a list of at most `max` integers; *n receives their number. Absent: none. */
tp_status tp__hlo_int_list(MlirOperation op, const char *name, int max, int *n, int64_t *values);
/* Reads an integer attribute; absent: `missing`. */
tp_status tp__hlo_int(MlirOperation op, const char *name, int64_t missing, int64_t *value);
/* Reads a list of dimensions of a tensor of this rank: in range and different. */
tp_status tp__hlo_dims(MlirOperation op, const char *name, int rank, int *n, int64_t *dims);
/* Reads a keyword such as `LT` of #stablehlo<comparison_direction LT>; absent: "". */
tp_status tp__hlo_keyword(MlirOperation op, const char *name, size_t size, char *text);
/* A field of a structure such as #stablehlo.dot<lhs_contracting_dimensions = [1], ...>. */
tp_status tp__hlo_field_list(MlirOperation op, const char *name, const char *field, int max, int *n,
                             int64_t *values);
tp_status tp__hlo_field_int(MlirOperation op, const char *name, const char *field, int64_t missing,
                            int64_t *value);
/* The text of an opaque attribute; empty if there is none. */
MlirStringRef tp__hlo_text(MlirOperation op, const char *name);

/* True if a list has the value; if its values are different dimensions of a tensor of this rank. */
bool tp__hlo_has(int n, const int64_t *list, int64_t value);
bool tp__hlo_in_range(int n, const int64_t *list, int rank);

/* ---- builders: in front of hlo->where, at hlo->location ---- */

MlirOperation tp__hlo_build_op(tp_hlo *hlo, const tp_build *build);
MlirValue tp__hlo_build(tp_hlo *hlo, const char *name, MlirType type, int n,
                        const MlirValue *operands);
MlirValue tp__hlo_unary(tp_hlo *hlo, const char *name, MlirValue a);
MlirValue tp__hlo_binary(tp_hlo *hlo, const char *name, MlirValue a, MlirValue b);
MlirValue tp__hlo_convert_to(tp_hlo *hlo, const char *name, MlirType type, MlirValue a);
MlirValue tp__hlo_select(tp_hlo *hlo, MlirValue condition, MlirValue yes, MlirValue no);
/* arith.cmpi and arith.cmpf by arith's names of predicates: "slt", "oeq". The result has the shape
 * of the operands. */
MlirValue tp__hlo_compare(tp_hlo *hlo, const char *predicate, MlirValue a, MlirValue b);
/* A constant of a type: a number, or a tensor all of whose elements are equal. */
MlirValue tp__hlo_int_constant(tp_hlo *hlo, MlirType type, int64_t value);
MlirValue tp__hlo_float_constant(tp_hlo *hlo, MlirType type, double value);
MlirValue tp__hlo_constant(tp_hlo *hlo, MlirType type, MlirAttribute element);
/* The number 0 of an element type. */
MlirValue tp__hlo_zero(tp_hlo *hlo, MlirType element);
/* The element of a constant all of whose elements are equal; null for other values. */
MlirAttribute tp__hlo_splat_of(MlirValue value);
/* The number in a tensor of rank 0. */
MlirValue tp__hlo_number(tp_hlo *hlo, MlirValue value);
/* The number in a tensor of rank 0 as an index. is_unsigned: of its old type. */
MlirValue tp__hlo_index(tp_hlo *hlo, MlirValue value, bool is_unsigned);
/* A tensor of this type all of whose elements are the number in a tensor of rank 0: linalg.fill. */
MlirValue tp__hlo_fill(tp_hlo *hlo, MlirType type, MlirValue number);
/* A linalg.generic without body, and its yield. Maps are lists of expressions over the loops. */
MlirOperation tp__hlo_generic(tp_hlo *hlo, int n_inputs, int n_inits, const MlirValue *operands,
                              const MlirAttribute *maps, MlirOperation *yield);
MlirValue tp__hlo_body_arg(MlirOperation generic, int i);
/* linalg.index: the number of an iteration of a loop. */
MlirValue tp__hlo_loop_index(tp_hlo *hlo, int loop);
/* The affine map over n_loops loops with these expressions. */
MlirAttribute tp__hlo_map_of(tp_hlo *hlo, int n_loops, int n, const MlirAffineExpr *results);
/* The map whose result i is loop loops[i]; a negative number is the constant 0. */
MlirAttribute tp__hlo_loop_map(tp_hlo *hlo, int n_loops, int n, const int *loops);
/* A copy of `value` as `type`: dimension d of the value is dimension dims[d] of the result; one of
 * size 1 is repeated. */
MlirValue tp__hlo_broadcast(tp_hlo *hlo, MlirValue value, MlirType type, const int64_t *dims);
/* A tensor of numbers whose elements are their positions along a dimension. */
MlirValue tp__hlo_iota(tp_hlo *hlo, MlirType type, int dim);
/* A value in another shape with as many elements. */
MlirValue tp__hlo_reshape(tp_hlo *hlo, MlirValue value, const tp_hlo_shape *to);
/* Reverses the order of the elements along n dimensions. */
MlirValue tp__hlo_reverse(tp_hlo *hlo, MlirValue value, int n, const int64_t *dims);
/* Puts `between` copies of the number `with` between neighboring elements, and `low` and `high` at
 * the ends. Negative `low` and `high` cut off. */
MlirValue tp__hlo_pad(tp_hlo *hlo, MlirValue value, MlirValue with, const int64_t *low,
                      const int64_t *high, const int64_t *between);
/* A slice with static offsets, sizes and strides. */
MlirValue tp__hlo_slice(tp_hlo *hlo, MlirValue value, const int64_t *offsets, const int64_t *sizes,
                        const int64_t *strides);
/* `into` with `part` inserted at static offsets and strides. */
MlirValue tp__hlo_insert(tp_hlo *hlo, MlirValue part, MlirValue into, const int64_t *offsets,
                         const int64_t *strides);

#endif
