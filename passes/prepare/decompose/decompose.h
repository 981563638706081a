/* What the files of tp-decompose share: an op is replaced by the ops of a function that is written
 * as text.
 *
 * In the text $a, $b, ... stand for the parts that the caller gives. The arguments of the function
 * stand for values that the caller names, what it returns replaces the results of the op, and the
 * layout that the op was annotated with goes to what gives the result. */
#ifndef TP_PASSES_DECOMPOSE_H
#define TP_PASSES_DECOMPOSE_H

#include "passes/registry.h"
#include "passes/support/from_text.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

/* Statistics of the pass. */
enum { TP_DECOMPOSED };

enum { TP_MAX_PARTS = 16 };

typedef struct tp__parts {
  int n;
  tp__string list[TP_MAX_PARTS];
} tp__parts;

/* The next part, to be filled: the first one is $a. */
tp__string *tp__part(tp__parts *parts);
void tp__part_type(tp__parts *parts, MlirType type);
/* The tensor type of this shape with the elements of `like`. */
void tp__part_tensor(tp__parts *parts, MlirType like, int rank, const int64_t *shape);

/* affine_map<(d0, d1, d2) -> (d0, d2)>, without the dimension `skip` among the results; -1 skips
 * none. */
void tp__append_map(tp__string *text, int rank, int skip);
/* "parallel", "reduction", "parallel"; -1: no reduction. */
void tp__append_iterators(tp__string *text, int rank, int reduction);

/* The function that `format` gives, not yet part of the module; a null op after an error at `op`.
 * Frees the parts. */
MlirOperation tp__decomposition(MlirOperation op, const char *format, tp__parts *parts);
/* Puts the body of `func` in the place of `op`, with `values` for its arguments. */
void tp__decompose_into(MlirOperation op, MlirOperation func, int n, const MlirValue *values);
/* Both. */
tp_status tp__decompose_by(MlirOperation op, const char *format, tp__parts *parts, int n,
                           const MlirValue *values);

/* The ops, by subject. Tensors have been checked: static, dense, of supported elements. */
tp_status tp__decompose_softmax(MlirOperation op);
tp_status tp__decompose_generate(MlirOperation op);
tp_status tp__decompose_dim(MlirOperation op);
tp_status tp__decompose_rank(MlirOperation op);
tp_status tp__decompose_bitcast(MlirOperation op);
tp_status tp__decompose_reshape(MlirOperation op);
tp_status tp__decompose_gather(MlirOperation op);
tp_status tp__decompose_scatter(MlirOperation op);
tp_status tp__decompose_pack(MlirOperation op);
tp_status tp__decompose_unpack(MlirOperation op);
bool tp__is_odd_resource(MlirOperation op);
tp_status tp__decompose_resource(MlirOperation op);
tp_status tp__decompose_isinf(MlirOperation op);
tp_status tp__decompose_isnormal(MlirOperation op);
tp_status tp__decompose_fma(MlirOperation op);
/* A visitor; its data is the tp_pass. */
tp_status tp__decompose_slice(MlirOperation op, void *pass);
/* A named op whose body has to be changed where shards are uneven, as a linalg.generic. */
bool tp__hides_body(MlirOperation op);
tp_status tp__decompose_named(MlirOperation op);

#endif
