/* Coverage of the fuzzer: which families of rules were sharded, and how, read from the plan that
 * tp-propagate writes. */
#ifndef FUZZ_COVERAGE_H
#define FUZZ_COVERAGE_H

#include "sandbox.h"

#include <mlir-c/IR.h>
#include <stdio.h>

/* Plans a copy of the module and records its ops in r->coverage. */
void coverage_measure(MlirModule module, const char *strategy, report *r);

typedef struct coverage {
  int64_t counts[N_FAMILIES_SEEN][N_KINDS][2];
} coverage;
void coverage_add(coverage *c, const report *r);
/* Prints the table; `reasons`: also why some cells are always empty. */
void coverage_print(const coverage *c, bool reasons, FILE *file);

#endif
