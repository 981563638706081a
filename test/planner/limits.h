/* Plans within memory limits, against all plans. */
#ifndef PLANNER_LIMITS_H
#define PLANNER_LIMITS_H

#include "oracle.h"
#include "test/fuzz/base.h"

/* Draws limits between the least that planning counts and what the plan without a limit holds, and
 * tries all plans of `source` that cost less than what is planned within each, or any if it is
 * refused: a plan is written, planned again as it is, and says what it holds. One that keeps the
 * limit is a defect, unless there is something in it that planning is known to count with more than
 * it holds. */
verdict check_limits(const setting *s, MlirModule source, bool mixes, rng *r, totals *t);

#endif
