/* Operations on scalars, which are also those on the elements of tensors: arith, math, complex. */
#ifndef TP_REFERENCE_SCALAR_H
#define TP_REFERENCE_SCALAR_H

#include "reference/number.h"

#include <mlir-c/IR.h>

typedef struct scalar_op scalar_op;
const scalar_op *tp__scalar_find(MlirStringRef name); /* NULL for other ops */

/* `of`: the type of the last operand, `to`: of the result; `predicate` of a comparison. A complex
 * number is two, the real part first. */
typedef struct scalar_types {
  const kind *of, *to;
  int predicate;
} scalar_types;
/* The attribute that holds the predicate, if there is one. */
int tp__scalar_predicate(MlirOperation op);
/* Of `count` elements; the numbers of operand i begin at operands[i], and steps[i] numbers stand
 * between those of two elements (0: all have the same). */
void tp__scalar_apply_all(const scalar_op *op, const scalar_types *types, int n,
                          const number *const *operands, const int64_t *steps, int64_t count,
                          number *results);
/* Conversions of floats that a wider type holds exactly, sums, and products: what a contraction is
 * made of. */
bool tp__scalar_is(const scalar_op *op, const char *name);
void tp__scalar_apply(const scalar_op *op, const scalar_types *types, int n,
                      const number *const *operands, number *result);

#endif
