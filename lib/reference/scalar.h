/* Scalar operations of arith, math and complex. On tensors, they apply to each element. */
#ifndef TP_REFERENCE_SCALAR_H
#define TP_REFERENCE_SCALAR_H

#include "reference/number.h"

#include <mlir-c/IR.h>

typedef struct scalar_op scalar_op;
const scalar_op *tp__scalar_find(MlirStringRef name); /* NULL for other ops */

/* `of` is the kind of the last operand, `to` that of the result. `predicate` belongs to
 * comparisons. A complex number is two numbers, the real part first. */
typedef struct scalar_types {
  const kind *of, *to;
  int predicate;
} scalar_types;
/* Returns the predicate attribute of an op, or 0 if it has none. */
int tp__scalar_predicate(MlirOperation op);
/* Applies an op to `count` elements. The numbers of operand i start at operands[i], and consecutive
 * elements are steps[i] numbers apart (0: all elements share one value). */
void tp__scalar_apply_all(const scalar_op *op, const scalar_types *types, int n,
                          const number *const *operands, const int64_t *steps, int64_t count,
                          number *results);
/* True if the op has this name. Used to match the ops of a contraction: arith.extf, addf, mulf. */
bool tp__scalar_is(const scalar_op *op, const char *name);
void tp__scalar_apply(const scalar_op *op, const scalar_types *types, int n,
                      const number *const *operands, number *result);

#endif
