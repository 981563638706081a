/* Memory limits for random programs, and checks of the planner's claims about them. */
#ifndef FUZZ_LIMITS_H
#define FUZZ_LIMITS_H

#include "sandbox.h"

#include <mlir-c/IR.h>

/* Draws a limit between the smallest estimated peak and the peak of the plan without a limit, and
 * plans a copy of `module` within it. Checks the planner's claims:
 * - the plan uses no more than the limit, and costs no less than its bound
 * - for a limit equal to the peak of a known plan, the planner does not claim that no plan
 *   satisfies it, unless by its own memory estimate
 *
 * True: r->limit has a plan. Otherwise the outcome is in `r`. */
bool limit_draw(MlirModule module, const char *strategy, uint64_t seed, report *r);

#endif
