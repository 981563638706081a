/* A second opinion: what a program computes, from its text alone.
 *
 * Programs of linalg, tensor, arith, math, complex, scf and func are evaluated op by op and element by element, as their documentation
 * says, on numbers that know how wrong a right implementation may be (number.h). Nothing of the compiler is used but MLIR's parser: a
 * defect that one device and many have in common shows here. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "number.h"

#include <mlir-c/IR.h>
#include <stddef.h>

enum { REFERENCE_MAX_RANK = 16 };

/* A value: a tensor, or a scalar, which has no dimensions. */
typedef struct tensor {
  const kind *kind;
  int rank;
  int64_t shape[REFERENCE_MAX_RANK];
  int64_t n;       /* elements */
  number *numbers; /* n * kind->parts, rows first */
} tensor;

typedef struct reference reference;

/* `why` gets the reason (op that is not known, or program that does what is undefined) when an evaluation fails. */
reference *reference_create(MlirModule module, size_t why_size, char *why);
void reference_destroy(reference *r); /* and all tensors it made */
tensor *reference_tensor(reference *r, const kind *k, int rank, const int64_t *shape);
/* Runs the function `name` on these arguments; `results` has room for as many as it has. */
bool reference_run(reference *r, const char *name, int n_arguments, tensor *const *arguments, tensor **results);
/* It failed because something in the program is not evaluated here. */
bool reference_lacks(const reference *r);

#endif
