/* tp-raise: what its rewrites share. A rewrite is one file raise_<what>.c with one entry point,
 * below.
 *
 * All rewrites are exact: they replace a value by one that is equal bit for bit, or do nothing. */
#ifndef TP_PASSES_RAISE_H
#define TP_PASSES_RAISE_H

#include "ir/ir.h"
#include "ir/value_table.h"

enum { TP_RAISE_MAX_LOOPS = 16, TP_RAISE_MAX_OPERANDS = 64 };

/* The running pass. */
typedef struct tp__raise {
  int64_t *statistics;
  /* linalg ops that were destroyed, so that lists of them made before can be read on */
  tp_value_table gone;
  int depth;        /* of the chain of unused ops that is being erased */
  tp_status status; /* TP_NO_MEMORY once memory ran out */
} tp__raise;

enum {
  TP_RAISED_CONCAT,
  TP_RAISED_READ,
  TP_RAISED_LOOKUP,
  TP_RAISED_IOTA,
  TP_RAISED_FOLD,
  TP_RAISED_RESULT,
  TP_RAISED_PICK,
  TP_RAISED_INIT,
  TP_RAISED_ELEMENT,
};

/* A linalg.generic on tensors. */
typedef struct tp__generic {
  MlirOperation op;
  MlirBlock body;
  MlirOperation yield;
  int n_inputs, n_inits, n_loops;
  /* first and last iteration; hi < lo: not known */
  int64_t lo[TP_RAISE_MAX_LOOPS], hi[TP_RAISE_MAX_LOOPS];
} tp__generic;

/* False for other ops and for generics that rewrites leave alone: on buffers, bound to a library
 * call or by tp.factors, too large. */
bool tp__generic_read(MlirOperation op, tp__generic *generic);
MlirAffineMap tp__generic_map(const tp__generic *generic, int operand);
/* Is the range of every loop known and not empty? */
bool tp__generic_is_static(const tp__generic *generic);
/* Does an output with this map get every element written: each loop dimension at most once,
 * constants nowhere but in dimensions of size 1? Only together with tp__generic_is_static. */
bool tp__map_covers(MlirAffineMap map, MlirType type);
/* Does every iteration space of a structured op with these maps reach all elements of the output
 * that is this operand? Loops over nothing leave the init as the result. False also where it isn't
 * known. */
bool tp__writes_all(MlirOperation op, MlirAttribute maps, int operand);
/* Has a linalg.generic an init with content of which it may leave elements as they are, but that
 * its body does not read? Fusion and bufferization take such an init for room without content. The
 * check is a tp_visit, for when bodies have been simplified. */
bool tp__loses_init(MlirOperation op);
tp_status tp__check_inits(MlirOperation op, void *data);
#define TP_LOSES_INIT                                                                              \
  "may leave elements of a result as they are in its init, which the body does not read (a "       \
  "diagonal, a stride, one place, "                                                                \
  "loops over nothing); yield a select between the new value and the init in each place, or "      \
  "start from tensor.empty"
/* Would the ranges of all loops still follow from the operands, without those of `without` (bit per
 * operand)? */
bool tp__generic_has_ranges(const tp__generic *generic, uint64_t without);
/* Removes input i, whose block argument has no uses. */
void tp__generic_drop_input(tp__generic *generic, int i);
/* Adds an input and returns its block argument; returns that of an equal input if there is one.
 * False: no room. */
bool tp__generic_add_input(tp__generic *generic, MlirValue value, MlirAffineMap map,
                           MlirValue *argument);

/* May the op be erased when nothing uses it? Scalar arithmetic, reads of tensors, tensor ops
 * without effects. */
bool tp__is_erasable(MlirOperation op);
/* Erases the op that defines `value` if it is erasable and unused, and then what only it used. */
void tp__erase_unused(tp__raise *raise, MlirValue value);
/* Destroys an op that has no uses, and what only it used. */
void tp__destroy(tp__raise *raise, MlirOperation op);

/* value[offsets][sizes], before `where`; the value itself when that is all of it. */
MlirValue tp__slice(MlirOperation where, MlirValue value, const int64_t *offsets,
                    const int64_t *sizes);
/* Copies discardable attributes. */
void tp__copy_discardable(MlirOperation from, MlirOperation to);
/* arith.constant of integer or index type, before `where`. */
MlirValue tp__scalar_constant(MlirOperation where, MlirType type, int64_t value);

/* ---- what integers in a body are known to be ---- */

/* loop + offset, or the constant `offset` when loop is -1. */
typedef struct tp__index {
  int loop;
  int64_t offset;
} tp__index;

/* Is `value` such an integer, at every iteration? Looks through casts, sums with constants, clamps,
 * comparisons and selects. */
bool tp__index_of(const tp__generic *generic, MlirValue value, tp__index *index);
/* Least and greatest value; the loop's range must be known, as it is for every index that
 * tp__index_of gives. */
void tp__index_bounds(const tp__generic *generic, tp__index index, int64_t *lo, int64_t *hi);
/* Is the i1 value the same at every iteration? */
bool tp__truth_of(const tp__generic *generic, MlirValue value, bool *truth);
/* Is the result of this select, maximum or minimum always its operand `which`? */
bool tp__choice_of(const tp__generic *generic, MlirOperation op, int *which);

/* Are the n >= 2 elements of a constant (DenseElementsAttr or a resource) first, first + 1, ...? */
bool tp__counts_up(MlirAttribute elements, MlirType type, int64_t n, int64_t *first);

/* ---- the rewrites; true: something changed ---- */

/* The generic may be destroyed; then it is replaced by a tensor.concat. */
bool tp__raise_concat(tp__raise *raise, const tp__generic *generic);
bool tp__raise_reads(tp__raise *raise, tp__generic *generic);
bool tp__raise_lookups(tp__raise *raise, tp__generic *generic);
bool tp__raise_iota(tp__raise *raise, tp__generic *generic);
bool tp__raise_fold(tp__raise *raise, tp__generic *generic);
/* The generic may be replaced by another one. */
bool tp__raise_results(tp__raise *raise, const tp__generic *generic);
/* The generic may be replaced by one with a third result. */
bool tp__raise_arg_reductions(tp__raise *raise, const tp__generic *generic);
/* Any linalg op with a body. */
void tp__raise_inits(tp__raise *raise, MlirOperation op);

/* All tensor.extract and tensor.insert of the module. */
tp_status tp__raise_elements(tp__raise *raise, MlirOperation module);

#endif
