/* Helpers over the MLIR C API: strings, attributes, types, building and walking ops. Raw MLIR calls
 * are camelCase. */
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
/* Copies to a zero-terminated buffer; false when it does not fit. */
bool tp__ref_copy(MlirStringRef a, char *text, size_t size);
MlirStringRef tp__op_name(MlirOperation op); /* in shim.cpp: the C API goes through an identifier */
/* Operation name equals `name`, e.g. "linalg.generic". Inline, since most questions about ops begin
 * so: the lengths of literals are constants. */
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

/* ---- attributes ---- */
/* text is ours: asserts that it parses */
MlirAttribute tp__parse_attr(MlirContext context, const char *text);
MlirAttribute tp__attr_string(MlirContext context, const char *text);
MlirAttribute tp__attr_index(MlirContext context, int64_t value);
MlirAttribute tp__attr_i64(MlirContext context, int64_t value);
/* DenseI64ArrayAttr */
MlirAttribute tp__attr_i64s(MlirContext context, int n, const int64_t *values);
MlirNamedAttribute tp__named(MlirContext context, const char *name, MlirAttribute value);
/* Discardable ("tp.*"; in shim.cpp: most ops have none, and are asked often) and inherent
 * attributes; null attribute when absent. */
MlirAttribute tp__get(MlirOperation op, const char *name);
MlirAttribute tp__inherent(MlirOperation op, const char *name);
void tp__set(MlirOperation op, const char *name, MlirAttribute value);
void tp__remove(MlirOperation op, const char *name);
/* All attributes that are not properties of the op, as one dictionary; and another one in its
 * place. Ops that carry the same, and are to, need not be given it one by one. In shim.cpp. */
MlirAttribute tp__attributes(MlirOperation op);
void tp__set_attributes(MlirOperation op, MlirAttribute dictionary);
/* Attribute `name` of argument/result `i` of a func.func; null when absent. */
MlirAttribute tp__arg_attr(MlirOperation func, int i, const char *name);
MlirAttribute tp__result_attr(MlirOperation func, int i, const char *name);
/* Changing them: begin, any number of sets, end. The attributes of a function are one list, made
 * anew by end; one by one would be quadratic. A null value removes. begin fails with TP_NO_MEMORY
 * only, and then nothing is to be ended. */
typedef struct tp_boundary {
  MlirOperation func;
  bool is_args;
  int n;
  MlirAttribute *entries;
} tp_boundary;
tp_status tp__boundary_begin(MlirOperation func, bool is_args, tp_boundary *boundary);
void tp__boundary_set(tp_boundary *boundary, int i, const char *name, MlirAttribute value);
void tp__boundary_end(tp_boundary *boundary);
/* Entries of an array attribute of integers (ArrayAttr, DenseI64/I32/I16ArrayAttr); returns their
 * number, or -1. */
int tp__int_list(MlirAttribute attr, int max, int64_t *values);
/* The data of a dense_resource; false where there are not exactly `n` bytes, or memory ran out. */
bool tp__resource_bytes(MlirAttribute resource, size_t n, void *bytes);

/* ---- types ---- */
/* A tensor has at most that many elements, so that its bytes, and those of many tensors together,
 * are numbers of 64 bits. */
#define TP_MAX_ELEMENTS (INT64_C(1) << 50)
/* A ranked tensor of static shape, of these numbers of dimensions and elements? Fills rank and
 * shape (room for TP_MAX_RANK); false otherwise. */
bool tp__static_tensor(MlirType type, int *rank, int64_t *shape);
/* The rank and the sizes (negative: dynamic) of a ranked tensor, where its type keeps them; -1 for
 * other types. The C API tells them one by one, and looks each time for how the type tells shapes.
 * In shim.cpp. */
int tp__tensor_sizes(MlirType type, const int64_t **sizes);
bool tp__is_tensor(MlirType type);
/* same element type and encoding */
MlirType tp__tensor_like(MlirType type, int rank, const int64_t *shape);
MlirType tp__element_type(MlirType shaped);
/* Bytes of one element; i1 and index count 1 and 8. 0 for what is not among TP_ELEMENT_TYPES, the
 * types of tensors here: others have no form in memory on which compiled code, the runtime and
 * files agree. */
int64_t tp__element_size(MlirType element);
/* Refuses a tensor for which tp__static_tensor is false, not of one of these types, or not dense.
 * `what` and `i` name it in the message. */
tp_status tp__check_tensor(MlirOperation op, const char *what, int i, MlirType type);
/* Refuses a tensor with an encoding; any other type is fine. */
tp_status tp__check_dense(MlirOperation op, const char *what, int i, MlirType type);
/* as MLIR prints it, cut where it does not fit */
void tp__type_text(MlirType type, size_t size, char *text);
#define TP_ELEMENT_TYPES                                                                           \
  "f8E4M3FN, f16, bf16, f32, f64, i1, i8, i16, i32, i64, index, complex<f32>, complex<f64>"

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
  int n_regions; /* empty regions, filled by the caller */
} tp_build;

/* Creates the op; the caller inserts it. */
MlirOperation tp__create(const tp_build *build);
void tp__insert_before(MlirOperation where, MlirOperation op);
void tp__insert_after(MlirOperation where, MlirOperation op);
/* tensor.empty of a static tensor type, before `where`. */
MlirValue tp__empty(MlirOperation where, MlirType type);
/* A constant of any type, before `where`; that of a complex number is the list of its parts. */
MlirValue tp__constant(MlirOperation where, MlirType type, MlirAttribute value);
/* arith.constant of index type, before `where`. */
MlirValue tp__index_constant(MlirOperation where, int64_t value);
/* A binary op "arith.addi" etc. on equal types, before `where`. */
MlirValue tp__binary(MlirOperation where, const char *name, MlirValue a, MlirValue b);
/* arith.cmpi of two integers or indices, before `where`; `predicate` is arith's number of the
 * comparison. */
typedef enum tp_compare { TP_EQ, TP_NE, TP_SLT, TP_SLE, TP_SGT, TP_SGE, TP_ULT } tp_compare;
MlirValue tp__compare(MlirOperation where, tp_compare predicate, MlirValue a, MlirValue b);
/* arith.select, before `where`. */
MlirValue tp__select(MlirOperation where, MlirValue condition, MlirValue yes, MlirValue no);

/* tensor.expand_shape or tensor.collapse_shape, before `where`: dimension d of the `n_groups` of
 * the shorter shape is n_parts[d] dimensions of the longer one. The value itself where it has that
 * rank. */
MlirValue tp__regroup(MlirOperation where, MlirLocation location, MlirValue value, int rank,
                      const int64_t *sizes, int n_groups, const int *n_parts);
/* The elements of a tensor in their order, in another shape, before `where`; the value itself where
 * it has that shape. By way of one dimension. */
MlirValue tp__view(MlirOperation where, MlirLocation location, MlirValue value, int rank,
                   const int64_t *sizes);

/* A linalg.generic on tensors, or on buffers, which it has no results for. */
enum { TP_MAX_GENERIC_OPERANDS = 80, TP_MAX_GENERIC_LOOPS = 32 };
typedef struct tp_generic {
  MlirOperation where; /* it is inserted before it; null: the caller inserts it */
  MlirLocation location;
  int n_inputs, n_inits;
  const MlirValue *operands; /* inputs, then inits */
  const MlirAttribute *maps; /* of affine maps, one for each operand */
  /* iterator_types; null: loops that the first init does not have are reductions */
  MlirAttribute iterators;
} tp_generic;
/* Without a body, which the caller moves in, or: */
MlirOperation tp__build_generic(const tp_generic *generic);
/* Adds the body's block, with an argument for each operand and a linalg.yield of nothing; returns
 * that. */
MlirOperation tp__build_generic_body(MlirOperation op);

/* tensor.extract_slice of `sizes` elements from `offsets` on, with unit strides, before `where`;
 * the value itself where that is all of it. */
MlirValue tp__extract_slice(MlirOperation where, MlirValue value, const int64_t *offsets,
                            const int64_t *sizes);
/* The same from the index value `offset` on along `dim`, from 0 on along the others. */
MlirValue tp__extract_slice_at(MlirOperation where, MlirValue value, int dim, MlirValue offset,
                               const int64_t *sizes);
/* tensor.insert_slice of `part` at `offsets`, before `where`; `part` itself where it is all of
 * `into`. */
MlirValue tp__insert_slice(MlirOperation where, MlirValue part, MlirValue into,
                           const int64_t *offsets);
/* The same at the index value `offset` along `dim`, at 0 along the others. */
MlirValue tp__insert_slice_at(MlirOperation where, MlirValue part, MlirValue into, int dim,
                              MlirValue offset);

/* ---- walking ---- */
/* Calls are replaced by bodies up to this number of ops: a program whose functions call each other
 * twice would have no end. */
enum { TP_MAX_INLINED_OPS = 1 << 20 };
typedef tp_status (*tp_visit)(MlirOperation op, void *data);
/* Visits all ops nested in `op` in pre-order; stops at the first failure. The visitor may insert
 * ops and change the one it is given, but not erase it. */
tp_status tp__walk(MlirOperation op, tp_visit visit, void *data);
/* The same, but not inside the bodies of structured ops (linalg, tensor), where nothing has a
 * layout. */
tp_status tp__walk_outside(MlirOperation op, tp_visit visit, void *data);
/* Ops collected before they are changed. A zeroed struct is empty; free `items` with tp__free. add
 * fails with TP_NO_MEMORY and a diagnostic. */
typedef struct tp_op_list {
  size_t n, capacity;
  MlirOperation *items;
} tp_op_list;
tp_status tp__op_list_add(tp_op_list *list, MlirOperation op);

/* The function of a module that a func.call calls, if it has a body; null for declarations. */
MlirOperation tp__callee(MlirOperation module, MlirOperation call);
/* The op in front of this one in its block; null op for the first. The C API only goes forward. In
 * shim.cpp. */
MlirOperation tp__previous_op(MlirOperation op);
/* The op that defines `value`; null op for block arguments. */
MlirOperation tp__defining_op(MlirValue value);
/* The block in which `value` is defined, as a result or an argument. */
MlirBlock tp__block_of(MlirValue value);
/* Replaces all uses but those of `except`. */
void tp__replace_uses_except(MlirValue value, MlirValue with, MlirOperation except);
/* By any operand; by one operand. Both are quick, where the number of uses takes a look at each:
 * some values are used everywhere. */
bool tp__is_used(MlirValue value);
bool tp__is_used_once(MlirValue value);
int tp__n_uses(MlirValue value);
/* The enclosing func.func; null if none. */
MlirOperation tp__enclosing_func(MlirOperation op);
/* trips.c: how often the body of an scf.for, or of an scf.while that counts, runs; false for other
 * ops, and where that is not known. */
bool tp__loop_trips(MlirOperation op, double *trips);
/* True if `value` is defined outside all regions of `op`. */
bool tp__is_captured(MlirOperation op, MlirValue value);

#ifdef __cplusplus
}
#endif
#endif
