/* Shared declarations of the rewrites of tp-raise. Each rewrite is a file raise_<name>.c with one
 * entry point, declared below.
 *
 * All rewrites are exact: they replace a value by a bitwise equal one or do nothing. */
#ifndef TP_PASSES_RAISE_H
#define TP_PASSES_RAISE_H

#include "ir/ir.h"
#include "ir/value_table.h"

enum { TP_RAISE_MAX_LOOPS = 16, TP_RAISE_MAX_OPERANDS = 64 };

/* State of the running pass. */
typedef struct tp__raise {
  int64_t *statistics;
  MlirAttribute parallel, reduction; /* the kinds of loops */
  /* destroyed ops on tensors, so that op lists collected earlier stay usable */
  tp_value_table gone;
  tp_value_table joined; /* reshapes that join the result of an op that was raised */
  int depth;             /* current depth of tp__destroy in a chain of unused ops */
  tp_status status;      /* TP_NO_MEMORY once memory ran out */
} tp__raise;

enum {
  TP_RAISED_LOOP,
  TP_RAISED_CONCAT,
  TP_RAISED_READ,
  TP_RAISED_LOOKUP,
  TP_RAISED_IOTA,
  TP_RAISED_FOLD,
  TP_RAISED_RESULT,
  TP_RAISED_PICK,
  TP_RAISED_INIT,
  TP_RAISED_ELEMENT,
  TP_RAISED_SORT,
  TP_RAISED_FILL,
  TP_RAISED_JOINED,
  TP_RAISED_PADDED_SUM,
};

/* A linalg.generic on tensors. */
typedef struct tp__generic {
  MlirOperation op;
  MlirBlock body;
  MlirOperation yield;
  int n_inputs, n_inits, n_loops;
  /* first and last iteration; hi < lo: unknown */
  int64_t lo[TP_RAISE_MAX_LOOPS], hi[TP_RAISE_MAX_LOOPS];
} tp__generic;

/* Reads `op`. False for other ops and for generics that the rewrites leave alone: on buffers, with
 * a library call, with tp.factors, or too large. */
bool tp__generic_read(MlirOperation op, tp__generic *generic);
MlirAffineMap tp__generic_map(const tp__generic *generic, int operand);
/* True if the range of every loop is known and not empty. */
bool tp__generic_is_static(const tp__generic *generic);
/* True if an output with this map gets every element written: each loop dimension occurs at most
 * once, and constants occur only in dimensions of size 1. Requires tp__generic_is_static. */
bool tp__map_covers(MlirAffineMap map, MlirType type);
/* True if the structured op with these maps writes every element of the output that is this
 * operand. Loops with zero iterations leave the init as the result. False also if it is unknown. */
bool tp__writes_all(MlirOperation op, MlirAttribute maps, int operand);
/* True if a result of a linalg.generic may keep elements of an init that has contents but that the
 * body does not read (a diagonal, a stride, one place, loops over nothing). Fusion and
 * bufferization treat such an init as a buffer without contents, and the result loses them. */
bool tp__loses_init(MlirOperation op);
/* Makes the body of a linalg.generic read such inits, without another result. It cannot fail: a
 * status, as decompositions return it. */
tp_status tp__read_lost_inits(MlirOperation op);
/* A tp_visit that does this to every linalg.generic, for passes behind others that simplify
 * bodies. */
tp_status tp__keep_inits(MlirOperation op, void *data);
/* True if the operands still determine the ranges of all loops without those in `without` (bit i:
 * operand i). */
bool tp__generic_has_ranges(const tp__generic *generic, uint64_t without);
/* Removes input i. Its block argument must have no uses. */
void tp__generic_drop_input(tp__generic *generic, int i);
/* Adds an input and returns its block argument in *argument, or that of an equal input if there is
 * one. False if there are too many operands. */
bool tp__generic_add_input(tp__generic *generic, MlirValue value, MlirAffineMap map,
                           MlirValue *argument);

/* True if the op may be erased when it has no uses: scalar arithmetic, reads of tensors, tensor ops
 * without side effects. */
bool tp__is_erasable(MlirOperation op);
/* Erases the op that defines `value` if it is erasable and unused, then recursively its unused
 * operands. */
void tp__erase_unused(tp__raise *raise, MlirValue value);
/* Destroys an op without uses, then recursively its unused operands. */
void tp__destroy(tp__raise *raise, MlirOperation op);

/* Returns value[offsets][sizes] before `where`, or the value itself if the slice covers all of
 * it. */
MlirValue tp__slice(MlirOperation where, MlirValue value, const int64_t *offsets,
                    const int64_t *sizes);
/* Copies discardable attributes. */
void tp__copy_discardable(MlirOperation from, MlirOperation to);
/* Builds an arith.constant of integer or index type before `where`. */
MlirValue tp__scalar_constant(MlirOperation where, MlirType type, int64_t value);

/* ---- integer analysis of bodies ---- */

/* loop + offset, or the constant `offset` when loop is -1. */
typedef struct tp__index {
  int loop;
  int64_t offset;
} tp__index;

/* True if `value` has this form at every iteration. Looks through casts, additions of constants,
 * clamps, comparisons and selects. */
bool tp__index_of(const tp__generic *generic, MlirValue value, tp__index *index);
/* Returns the smallest and largest value. The range of the loop must be known, as it is for every
 * index that tp__index_of returns. */
void tp__index_bounds(const tp__generic *generic, tp__index index, int64_t *lo, int64_t *hi);
/* True if the i1 value is the same at every iteration; writes it to *truth. */
bool tp__truth_of(const tp__generic *generic, MlirValue value, bool *truth);
/* True if this select, max or min always returns the same operand; writes its number to *which. */
bool tp__choice_of(const tp__generic *generic, MlirOperation op, int *which);

/* True if the two or more elements of a constant of this tensor type (DenseElementsAttr or a
 * resource) are first, first + 1, and so on along dimension *dim, and equal along the others, or,
 * as elements that are listed one by one, all `first` (*dim is -1). */
bool tp__counts_along(MlirAttribute value, MlirType type, int *dim, int64_t *first);

/* ---- rewrites; they return true if anything changed ---- */

/* Takes any linalg op with a body, and may replace it by a linalg.fill. */
bool tp__raise_fill(tp__raise *raise, MlirOperation op);
bool tp__raise_loops(tp__raise *raise, const tp__generic *generic);
/* May destroy the generic and replace it by a tensor.concat. */
bool tp__raise_concat(tp__raise *raise, const tp__generic *generic);
/* Calls `raise_one` for each tensor.extract at the top of the body; a branch may guard a read that
 * is out of bounds. Returns true if a call does. */
bool tp__raise_each_read(tp__raise *raise, tp__generic *generic,
                         bool (*raise_one)(tp__raise *raise, tp__generic *generic,
                                           MlirOperation read));
bool tp__raise_reads(tp__raise *raise, tp__generic *generic);
bool tp__raise_lookups(tp__raise *raise, tp__generic *generic);
bool tp__raise_iota(tp__raise *raise, tp__generic *generic);
bool tp__raise_fold(tp__raise *raise, tp__generic *generic);
/* May replace the generic by another one. */
bool tp__raise_results(tp__raise *raise, const tp__generic *generic);
/* May replace the generic by one with a third result. */
bool tp__raise_arg_reductions(tp__raise *raise, const tp__generic *generic);
/* Takes any linalg op with a body. */
void tp__raise_inits(tp__raise *raise, MlirOperation op);

/* Takes any linalg op, and may replace it by one with more loops. */
void tp__raise_joined(tp__raise *raise, MlirOperation op);
/* Takes any op, and may replace a sum of pads by a tensor.concat. */
void tp__raise_padded_sum(tp__raise *raise, MlirOperation op);

/* Rewrites all tensor.extract and tensor.insert of the module. */
tp_status tp__raise_elements(tp__raise *raise, MlirOperation module);
/* Shortens all sorts of the module. An error emits one diagnostic. */
tp_status tp__raise_sorts(tp__raise *raise, MlirOperation module);

#endif
