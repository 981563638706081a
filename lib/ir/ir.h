/* Helpers over the MLIR C API: strings, attributes, types, and building and walking ops. Names in
 * camelCase are functions of MLIR itself. */
#ifndef TP_IR_IR_H
#define TP_IR_IR_H

#include "tp/spec.h"

#include <string.h>

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TP_LEN(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- names and strings ---- */
MlirStringRef tp__ref(const char *text);
bool tp__ref_is(MlirStringRef a, const char *text);
/* Copies into a zero-terminated buffer. False if it does not fit. */
bool tp__ref_copy(MlirStringRef a, char *text, size_t size);
/* For MLIR's print functions: appends the part to `string`, a tp__string. */
void tp__append_part(MlirStringRef part, void *string);
MlirStringRef tp__op_name(MlirOperation op); /* in shim.cpp; the C API would create an identifier */
/* True if the op has this name, e.g. "linalg.generic". Inline, because it is the most frequent
 * query and the lengths of literals are then constants. */
static inline bool tp__name_is(MlirStringRef own, const char *name) {
  size_t n = strlen(name);
  return own.length == n && memcmp(own.data, name, n) == 0;
}
static inline bool tp__op_is(MlirOperation op, const char *name) {
  return tp__name_is(tp__op_name(op), name);
}
static inline bool tp__op_has_dialect(MlirOperation op, const char *dialect) {
  MlirStringRef own = tp__op_name(op);
  size_t n = strlen(dialect);
  return own.length > n && memcmp(own.data, dialect, n) == 0 && own.data[n] == '.';
}
static inline bool tp__is_reshape(MlirOperation op) {
  return tp__op_is(op, "tensor.expand_shape") || tp__op_is(op, "tensor.collapse_shape");
}
/* True for a barrier, bufferization.alloc_tensor() copy(%x): the identity, but equal ops in front
 * of it and behind it are not joined. */
bool tp__is_barrier(MlirOperation op);
/* Finds the op's name in a table of `n` rows of `size` bytes, which begin with a name. Returns the
 * row; NULL if there is none. */
const void *tp__op_row(MlirOperation op, const void *rows, int n, size_t size);
/* True if the op has one of n names. */
static inline bool tp__op_is_any(MlirOperation op, int n, const char *const *names) {
  return tp__op_row(op, names, n, sizeof *names) != NULL;
}

/* ---- attributes ---- */
/* Parses text written by this library; asserts that it parses. */
MlirAttribute tp__parse_attr(MlirContext context, const char *text);
MlirAttribute tp__attr_string(MlirContext context, const char *text);
MlirAttribute tp__attr_index(MlirContext context, int64_t value);
MlirAttribute tp__attr_i64(MlirContext context, int64_t value);
/* DenseI64ArrayAttr */
MlirAttribute tp__attr_i64s(MlirContext context, int n, const int64_t *values);
MlirNamedAttribute tp__named(MlirContext context, const char *name, MlirAttribute value);
/* Discardable ("tp.*") and inherent attributes. Null attribute if absent. tp__get is in shim.cpp,
 * because it is called often and most ops have no discardable attributes. */
MlirAttribute tp__get(MlirOperation op, const char *name);
MlirAttribute tp__inherent(MlirOperation op, const char *name);
/* An inherent attribute, or else a discardable one: of unregistered ops, whose properties older
 * printers write among the discardable attributes. */
MlirAttribute tp__property(MlirOperation op, const char *name);
void tp__set(MlirOperation op, const char *name, MlirAttribute value);
void tp__remove(MlirOperation op, const char *name);
/* Get and set all discardable attributes of the op as one dictionary. This is faster than one by
 * one for many ops with the same attributes. In shim.cpp. */
MlirAttribute tp__attributes(MlirOperation op);
void tp__set_attributes(MlirOperation op, MlirAttribute dictionary);
/* Returns the index of the name that a string attribute equals; -1 if it is null or equals none. */
int tp__attr_which(MlirAttribute attr, int n, const char *const *names);
/* Returns attribute `name` of argument or result `i` of a func.func. Null if absent. */
MlirAttribute tp__arg_attr(MlirOperation func, int i, const char *name);
MlirAttribute tp__result_attr(MlirOperation func, int i, const char *name);
/* Returns the type of a func.func. */
MlirType tp__func_type(MlirOperation func);
/* Returns the type of the first result of an op. */
MlirType tp__result_type(MlirOperation op);
/* Returns map `i` of an array of affine maps. */
MlirAffineMap tp__map_at(MlirAttribute maps, intptr_t i);
/* Change the attributes of arguments or results: begin, any number of sets, end. The attributes of
 * a function form one list, which end rebuilds once; one at a time would be quadratic. A null value
 * removes an attribute. begin fails only with TP_NO_MEMORY, and then end must not be called. */
typedef struct tp_boundary {
  MlirOperation func;
  bool is_args;
  int n;
  MlirAttribute *entries;
} tp_boundary;
tp_status tp__boundary_begin(MlirOperation func, bool is_args, tp_boundary *boundary);
void tp__boundary_set(tp_boundary *boundary, int i, const char *name, MlirAttribute value);
void tp__boundary_end(tp_boundary *boundary);
/* Reads an attribute that is an array of integers (ArrayAttr, DenseI64/I32/I16ArrayAttr). Returns
 * the number of entries, or -1. */
int tp__int_list(MlirAttribute attr, int max, int64_t *values);
/* Points at the data of a dense_resource, which live as long as the context. False if it has none:
 * the C API's accessors assume that they exist (`dense_resource<__elided__>` has none). In
 * shim.cpp. */
bool tp__resource_data(MlirAttribute resource, const void **data, size_t *n);
/* Copies the data of a dense_resource. False if it does not have exactly `n` bytes. */
bool tp__resource_bytes(MlirAttribute resource, size_t n, void *bytes);

/* ---- types ---- */
/* The maximum number of elements of a tensor. It keeps the bytes of one tensor, and the sum over
 * many tensors, within 64 bits. */
#define TP_MAX_ELEMENTS (INT64_C(1) << 50)
/* True for a ranked tensor of static shape within TP_MAX_RANK and TP_MAX_ELEMENTS. Fills rank and
 * shape, which has TP_MAX_RANK entries. */
bool tp__static_tensor(MlirType type, int *rank, int64_t *shape);
/* Returns the rank of a ranked tensor, and points *sizes at the sizes stored in its type (negative:
 * dynamic). -1 for other types. In shim.cpp: the C API returns one size per call and looks up the
 * shape interface each time. */
int tp__tensor_sizes(MlirType type, const int64_t **sizes);
bool tp__is_tensor(MlirType type);
/* Returns a tensor type of this shape with the same element type and encoding. */
MlirType tp__tensor_like(MlirType type, int rank, const int64_t *shape);
MlirType tp__element_type(MlirType shaped);
/* True for i1. */
bool tp__is_bool(MlirType type);
/* The same, or the type itself if it is not shaped: structured ops also have operands that are
 * numbers. */
MlirType tp__number_type(MlirType type);
/* Return the rank, and the size of dimension `dim`, of a value of shaped type. */
int tp__value_rank(MlirValue value);
int64_t tp__value_size(MlirValue value, int dim);
/* Returns true for the floats of 8 bits: f8E4M3FN and f8E5M2. */
bool tp__is_f8(MlirType type);
/* Returns the bytes of one element; 1 for i1, 8 for index. 0 for types outside TP_ELEMENT_TYPES:
 * compiled code, runtime and files agree on a memory format only for these. */
int64_t tp__element_size(MlirType element);
/* Reports an error for a tensor for which tp__static_tensor is false, whose element type is not in
 * TP_ELEMENT_TYPES, or that is not dense. `what` and `i` name the value in the message. */
tp_status tp__check_tensor(MlirOperation op, const char *what, int i, MlirType type);
/* Reports an error for a tensor with an encoding. Accepts every other type. */
tp_status tp__check_dense(MlirOperation op, const char *what, int i, MlirType type);
/* Prints a type as MLIR does, truncated to `size`. */
void tp__type_text(MlirType type, size_t size, char *text);
#define TP_ELEMENT_TYPES                                                                           \
  "f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i1, i8, i16, i32, i64, index, complex<f32>, "            \
  "complex<f64>"

/* ---- building ---- */
typedef struct tp_build {
  const char *name;
  MlirLocation location;
  int n_operands;
  const MlirValue *operands;
  int n_results;
  const MlirType *results;
  int n_attributes;
  const MlirNamedAttribute *attributes;
  int n_regions; /* empty regions, which the caller fills */
} tp_build;

/* Creates the op. The caller inserts it. */
MlirOperation tp__create(const tp_build *build);
/* Creates a private func.func of this type with an empty region: a declaration, unless the caller
 * adds a block. The caller inserts it. */
MlirOperation tp__create_private_func(MlirLocation location, const char *name, MlirType type);
void tp__insert_before(MlirOperation where, MlirOperation op);
void tp__insert_after(MlirOperation where, MlirOperation op);
/* Builds tensor.empty of a static tensor type before `where`. */
MlirValue tp__empty(MlirOperation where, MlirType type);
/* Builds bufferization.alloc_tensor() copy(value) before `where`: a tensor that owns its elements,
 * and a barrier (tp__is_barrier) as long as tp-drop-barriers has not run. */
MlirValue tp__copy_of(MlirOperation where, MlirLocation location, MlirValue value);
/* Creates a linalg.fill of the tensor `init`. The caller inserts it. */
MlirOperation tp__create_fill(MlirLocation location, MlirValue number, MlirValue init);
/* Builds a linalg.fill of a tensor of this static type before `where`. */
MlirOperation tp__build_fill(MlirOperation where, MlirValue number, MlirType type);
/* Builds a constant of any type before `where`. The value of a complex constant is the list of its
 * parts. */
MlirValue tp__constant(MlirOperation where, MlirType type, MlirAttribute value);
/* Builds an arith.constant of index type before `where`. */
MlirValue tp__index_constant(MlirOperation where, int64_t value);
/* Builds a binary op such as "arith.addi" on equal types before `where`. */
MlirValue tp__binary(MlirOperation where, const char *name, MlirValue a, MlirValue b);
/* Builds an arith.cmpi of two integers or indices before `where`. The predicates have arith's
 * numbers. */
typedef enum tp_compare { TP_EQ, TP_NE, TP_SLT, TP_SLE, TP_SGT, TP_SGE, TP_ULT } tp_compare;
MlirValue tp__compare(MlirOperation where, tp_compare predicate, MlirValue a, MlirValue b);
/* Builds an arith.cmpf before `where`. ORD: no operand is NaN; UNO: one is; the others with U are
 * true then, too. The numbers are those of MLIR. */
typedef enum tp_compare_float {
  TP_FLOAT_OGT = 2,
  TP_FLOAT_OLT = 4,
  TP_FLOAT_ORD = 7,
  TP_FLOAT_UGT = 9,
  TP_FLOAT_ULT = 11,
  TP_FLOAT_UNO = 14
} tp_compare_float;
MlirValue tp__compare_floats(MlirOperation where, tp_compare_float predicate, MlirValue a,
                             MlirValue b);
/* Builds a cf.assert of an i1, which ends the run with this text where it does not hold. */
void tp__build_assert(MlirOperation where, MlirValue ok, const char *text);
/* Builds an arith.select before `where`. */
MlirValue tp__select(MlirOperation where, MlirValue condition, MlirValue yes, MlirValue no);
/* Builds an arith.index_cast, from or to an index, before `where`. */
MlirValue tp__index_cast(MlirOperation where, MlirValue value, MlirType type);
/* Builds element `i`, an index, of a list of integers before `where`. Returns it as an index. */
MlirValue tp__index_at(MlirOperation where, MlirValue list, MlirValue i);

/* Builds a tensor.expand_shape or tensor.collapse_shape before `where`. Dimension g of the shorter
 * shape, which has `n_groups`, corresponds to n_parts[g] dimensions of the longer one. Returns the
 * value itself if it already has rank `rank`. */
MlirValue tp__regroup(MlirOperation where, MlirLocation location, MlirValue value, int rank,
                      const int64_t *sizes, int n_groups, const int *n_parts);
/* Reshapes a tensor before `where`, by way of one dimension. Returns the value itself if it already
 * has that shape. */
MlirValue tp__view(MlirOperation where, MlirLocation location, MlirValue value, int rank,
                   const int64_t *sizes);
/* The same in the shape of `type`, at the location of `where`. */
MlirValue tp__view_as(MlirOperation where, MlirValue value, MlirType type);

/* A linalg.generic on tensors, or on buffers (then without results). */
enum { TP_MAX_GENERIC_OPERANDS = 80, TP_MAX_GENERIC_LOOPS = 32 };
typedef struct tp_generic {
  MlirOperation where; /* insertion point; null: the caller inserts the op */
  MlirLocation location;
  int n_inputs, n_inits;
  const MlirValue *operands; /* inputs, then inits */
  const MlirAttribute *maps; /* one affine map per operand */
  /* iterator_types; null: the loops that the first init does not use are reductions */
  MlirAttribute iterators;
} tp_generic;
/* Builds the op without a body. The caller moves one in, or calls tp__build_generic_body. */
MlirOperation tp__build_generic(const tp_generic *generic);
/* True if a result of the map depends on the loop. */
bool tp__map_has_loop(MlirAffineMap map, intptr_t loop);
/* Adds the body's block, with one argument per operand and an empty linalg.yield. Returns the
 * yield. */
MlirOperation tp__build_generic_body(MlirOperation op);

/* Builds a tensor.extract_slice of `sizes` elements starting at `offsets`, with unit strides,
 * before `where`. Returns the value itself if the slice covers it. */
MlirValue tp__extract_slice(MlirOperation where, MlirValue value, const int64_t *offsets,
                            const int64_t *sizes);
/* The same, starting at the index value `offset` along `dim` and at 0 along the others. */
MlirValue tp__extract_slice_at(MlirOperation where, MlirValue value, int dim, MlirValue offset,
                               const int64_t *sizes);
/* Builds a tensor.insert_slice of `part` at `offsets` before `where`. Returns `part` itself if it
 * covers `into`. */
MlirValue tp__insert_slice(MlirOperation where, MlirValue part, MlirValue into,
                           const int64_t *offsets);
/* The same at the index value `offset` along `dim` and at 0 along the others. */
MlirValue tp__insert_slice_at(MlirOperation where, MlirValue part, MlirValue into, int dim,
                              MlirValue offset);

/* ---- walking ---- */
/* Limit of ops created by inlining. If every function calls the next one twice, inlining grows
 * exponentially. */
enum { TP_MAX_INLINED_OPS = 1 << 20 };
typedef tp_status (*tp_visit)(MlirOperation op, void *data);
/* Visits all ops nested in `op` in pre-order; stops at the first failure. The visitor may insert
 * ops and change the visited op, but not erase it. */
tp_status tp__walk(MlirOperation op, tp_visit visit, void *data);
/* True if the body of a structured op asks for the number of an iteration (linalg.index). */
bool tp__asks_index(MlirOperation op);
/* The same as tp__walk, but skips the bodies of structured ops (linalg, tensor), whose values have
 * no sharding. */
tp_status tp__walk_outside(MlirOperation op, tp_visit visit, void *data);
/* The same for a set of these choices. In shim.cpp, because the C API checks each step, and most
 * ops of a deep program stand in bodies. */
enum {
  TP_WALK_OUTSIDE = 1,   /* skips the bodies of structured ops */
  TP_WALK_ANNOTATED = 2, /* skips ops without discardable attributes, but not functions */
};
tp_status tp__walk_some(MlirOperation op, unsigned choices, tp_visit visit, void *data);
/* Prefetches an op that will be visited soon: the ops of a deep program exceed the caches and are
 * not in order in memory. With `is_near` it prefetches the body, for which an earlier call must
 * have prefetched the op itself. In shim.cpp. */
void tp__prefetch_op(MlirOperation op, bool is_near);
/* True for a tensor constant that the program stores: one whose elements are not all equal. */
bool tp__is_stored_constant(MlirOperation op);
/* Bytes of the stored constants of a function, whole, equal ones once: every device holds them. */
tp_status tp__constant_bytes(MlirOperation func, int64_t *bytes);
/* The same for ops that the caller chooses: a tp_visit adds an op to a list, which is empty when it
 * is zeroed. tp__constants_end returns the bytes and frees the list. */
typedef struct tp__constants {
  size_t n, capacity;
  MlirAttribute *items;
} tp__constants;
tp_status tp__constants_add(MlirOperation op, void *constants);
int64_t tp__constants_end(tp__constants *constants);
/* A list of ops, for passes that collect ops before they change them. A zeroed struct is empty;
 * free `items` with tp__free. add fails with TP_NO_MEMORY and a diagnostic. */
typedef struct tp_op_list {
  size_t n, capacity;
  MlirOperation *items;
} tp_op_list;
tp_status tp__op_list_add(tp_op_list *list, MlirOperation op);
/* Copies the elements of a dense or dense_resource attribute as programs store them, row-major; i1
 * takes a byte. False if it is neither, or does not have exactly `n` bytes. */
bool tp__constant_data(MlirAttribute value, size_t n, void *bytes);
/* signature.c: appends arguments to a function, with the types and at the locations of the first
 * results of these ops; erases those arguments i for which erased[i]. */
tp_status tp__add_arguments(MlirOperation func, const tp_op_list *like);
tp_status tp__erase_arguments(MlirOperation func, const bool *erased);
/* Returns the number of ops nested in `op`. */
int tp__n_ops(MlirOperation op);
/* A visitor: adds each linalg.generic to `list`, a tp_op_list. */
tp_status tp__collect_generic(MlirOperation op, void *list);

/* Returns the function of the module that has this name. Null if there is none. */
MlirOperation tp__func_of_symbol(MlirOperation module, MlirStringRef name);
/* Returns the function of the module that a func.call calls. Null if it has no body. */
MlirOperation tp__callee(MlirOperation module, MlirOperation call);
/* Returns the declaration that a func.call calls. Null for other ops, and for functions that have a
 * body. */
MlirOperation tp__declaration(MlirOperation op);
/* True for a func.func with a body. */
bool tp__is_defined_func(MlirOperation op);
/* True for a func.func that is planned and partitioned: it has a body, and is not the comparator of
 * a sort (sort_call.h), which has tp.comparator. */
bool tp__is_planned_func(MlirOperation op);
/* The last op of a block, null if it is empty. MLIR finds terminators only where it knows their
 * dialect. */
MlirOperation tp__last_op(MlirBlock block);
/* Returns the first block of a region of the op; null if the region is empty. */
MlirBlock tp__region_block(MlirOperation op, int region);
/* Returns the attribute `dim`, a number, of a linalg.index or tensor.concat. */
int tp__dim_of(MlirOperation op);
/* Returns the previous op in the block; null for the first. In shim.cpp, because the C API only
 * goes forward. */
MlirOperation tp__previous_op(MlirOperation op);
/* Returns the op that defines `value`; null for block arguments. */
MlirOperation tp__defining_op(MlirValue value);
/* The same if the op has this name; otherwise null. */
MlirOperation tp__defined_by(MlirValue value, const char *name);
/* Returns the block that defines `value`, as an op result or as an argument. */
MlirBlock tp__block_of(MlirValue value);
/* Replaces all uses except those by `except`. */
void tp__replace_uses_except(MlirValue value, MlirValue with, MlirOperation except);
/* True if the value has any use; if it has exactly one. Both take constant time. tp__n_uses visits
 * every use, and some values have very many. */
bool tp__is_used(MlirValue value);
bool tp__is_used_once(MlirValue value);
int tp__n_uses(MlirValue value);
/* Returns the enclosing func.func; null if there is none. */
MlirOperation tp__enclosing_func(MlirOperation op);
/* trips.c: computes the trip count of an scf.for, or of an scf.while that counts. False for other
 * ops, or if the count is unknown. With tp.blocks it is an estimate. */
bool tp__loop_trips(MlirOperation op, double *trips);
/* A visitor that adds scf.for and scf.while to a tp_op_list. */
tp_status tp__collect_loops(MlirOperation op, void *list);
/* True if `value` is defined outside all regions of `op`. */
bool tp__is_captured(MlirOperation op, MlirValue value);
/* True if `op` is `around` or stands in a region of it. */
bool tp__is_inside(MlirOperation op, MlirOperation around);

#ifdef __cplusplus
}
#endif
#endif
