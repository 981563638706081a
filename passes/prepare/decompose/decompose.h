/* Shared helpers of tp-decompose: they replace an op by the body of a function that is written as
 * text.
 *
 * In the text, $a, $b, ... stand for parts that the caller supplies. The function's arguments stand
 * for values that the caller passes, and its return value replaces the result of the op. The op's
 * tp.sharding moves to the op that produces the new value. */
#ifndef TP_PASSES_DECOMPOSE_H
#define TP_PASSES_DECOMPOSE_H

#include "passes/registry.h"
#include "passes/support/from_text.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "ir/value_range.h"
#include "support/support.h"

/* statistics of the pass */
enum { TP_DECOMPOSED };

enum { TP_MAX_PARTS = 16 };

typedef struct tp__parts {
  int n;
  tp__string list[TP_MAX_PARTS];
} tp__parts;

/* Returns the next part, still empty. The first part is $a. */
tp__string *tp__part(tp__parts *parts);
void tp__part_type(tp__parts *parts, MlirType type);
/* Appends a part: the tensor type with this shape and the element type of `like`. */
void tp__part_tensor(tp__parts *parts, MlirType like, int rank, const int64_t *shape);

/* Appends a projection such as affine_map<(d0, d1, d2) -> (d0, d2)>, which leaves out dimension
 * `skip` of the results. -1 leaves out none. */
void tp__append_map(tp__string *text, int rank, int skip);
/* Appends iterator types such as "parallel", "reduction", "parallel"; `reduction` is the index of
 * the reduction loop, -1 for none. */
void tp__append_iterators(tp__string *text, int rank, int reduction);

/* Parses the function that `format` describes, without adding it to the module. Returns a null op
 * after an error, which is reported at `op`. Frees the parts. */
MlirOperation tp__decomposition(MlirOperation op, const char *format, tp__parts *parts);
/* Replaces `op` by the body of `func`, with `values` as its arguments. */
void tp__decompose_into(MlirOperation op, MlirOperation func, int n, const MlirValue *values);
/* Parses `format` as tp__decomposition does and replaces `op` by the result. */
tp_status tp__decompose_by(MlirOperation op, const char *format, tp__parts *parts, int n,
                           const MlirValue *values);

/* decompose_sizes.c: makes static what is constant in slices, paddings and casts. */
tp_status tp__settle_sizes(MlirOperation module);

/* Decompositions, by subject. The caller has checked the tensors: static, dense, of supported
 * element types. */
tp_status tp__decompose_softmax(MlirOperation op);
/* True if an operand adds no elements. tp__decompose_concat drops it. If no operand is left, the
 * result is a tensor.empty. */
bool tp__concats_nothing(MlirOperation op);
tp_status tp__decompose_concat(MlirOperation op);
tp_status tp__decompose_generate(MlirOperation op);
/* True for a tensor.pad of static padding that computes its value from the index, or that is
 * negative along a dimension. */
bool tp__is_odd_pad(MlirOperation op);
tp_status tp__decompose_pad(MlirOperation op);
tp_status tp__decompose_dim(MlirOperation op);
tp_status tp__decompose_rank(MlirOperation op);
tp_status tp__decompose_bitcast(MlirOperation op);
tp_status tp__decompose_reshape(MlirOperation op);
tp_status tp__decompose_gather(MlirOperation op);
tp_status tp__decompose_scatter(MlirOperation op);
tp_status tp__decompose_pack(MlirOperation op);
tp_status tp__decompose_unpack(MlirOperation op);
/* True for a cast of an index to a narrower integer, unless its range shows that no bits are
 * lost. */
bool tp__loses_index(MlirOperation op);
tp_status tp__decompose_index_cast(MlirOperation op);
/* Computes the range of an integer that is made of constants and of the indices of structured ops
 * and loops. False: unknown. */
bool tp__index_range(MlirValue value, tp__range *range);
/* True for an scf.for in 64 bits whose counter, or whose number of values, needs more. */
bool tp__overflows_loop(MlirOperation op);
/* True for an scf.for in fewer than 64 bits, unless its bounds show that its type is wide enough.
 * tp__decompose_loop widens the counter. */
bool tp__wraps_loop(MlirOperation op);
tp_status tp__decompose_loop(MlirOperation op);
bool tp__is_odd_resource(MlirOperation op);
tp_status tp__decompose_resource(MlirOperation op);
tp_status tp__decompose_isinf(MlirOperation op);
tp_status tp__decompose_isnormal(MlirOperation op);
tp_status tp__decompose_clamp(MlirOperation op);
tp_status tp__decompose_truncf(MlirOperation op);
tp_status tp__decompose_fma(MlirOperation op);
/* A visitor. Its data is the tp_pass. */
tp_status tp__decompose_slice(MlirOperation op, void *pass);
/* True for a named op whose body must change if shards are uneven. tp__decompose_named turns it
 * into a linalg.generic. */
bool tp__hides_body(MlirOperation op);
tp_status tp__decompose_named(MlirOperation op);

#endif
