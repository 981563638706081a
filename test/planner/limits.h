/* Checks plans within memory limits against all plans. */
#ifndef PLANNER_LIMITS_H
#define PLANNER_LIMITS_H

#include "oracle.h"
#include "test/fuzz/generate/base.h"

/* Draws limits between the smallest estimated peak and the peak of the plan without a limit. For
 * each, tries all plans of `source` that cost less than the planner's plan, or all plans if it
 * refused: each plan is written, planned again unchanged, and reports its peak. A plan within the
 * limit is a defect, unless it contains something whose memory the planner is known to
 * overestimate. */
verdict check_limits(const setting *s, MlirModule source, bool mixes, rng *r, totals *t);

#endif
