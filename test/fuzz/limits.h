/* Memory limits for random programs, and what a planner says of them. */
#ifndef FUZZ_LIMITS_H
#define FUZZ_LIMITS_H

#include "sandbox.h"

#include <mlir-c/IR.h>

/* Draws a limit between the least that a plan counts and what the plan without a limit holds, and
 * plans a copy of `module` within it. Checked is what planning says:
 *   the plan holds no more than the limit, and costs no less than its bound
 *   a limit of just what a plan holds that is known is not said to be kept by none, unless by what
 *     planning counts True: r->limit has a plan. Else the outcome is in `r`. */
bool limit_draw(MlirModule module, const char *strategy, uint64_t seed, report *r);

#endif
