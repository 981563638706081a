/* Operations on scalars, which are also those on the elements of tensors: arith, math, complex. */
#ifndef REFERENCE_SCALAR_H
#define REFERENCE_SCALAR_H

#include "number.h"

#include <mlir-c/IR.h>

typedef struct scalar_op scalar_op;
const scalar_op *scalar_find(MlirStringRef name); /* NULL for other ops */

/* `of`: the type of the last operand, `to`: of the result; `predicate` of a comparison. A complex number is two, the real part first. */
typedef struct scalar_types {
  const kind *of, *to;
  int predicate;
} scalar_types;
/* The attribute that holds the predicate, if there is one. */
int scalar_predicate(MlirOperation op);
void scalar_apply(const scalar_op *op, const scalar_types *types, int n, const number *const *operands, number *result);

#endif
