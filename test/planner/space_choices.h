/* Decisions of a space: about an op, or about the sharding of a value. */
#ifndef PLANNER_SPACE_CHOICES_H
#define PLANNER_SPACE_CHOICES_H

#include "space.h"

/* Lists the choices of the op, cheapest first. False if there are too many, or an annotation is
 * rejected. */
bool space_decide_op(space *s, const tp_rule *rule, decision *d);
/* Lists the shardings of a value that passes through unchanged. */
void space_decide_layout(space *s, const value *v, tp_spec start, uint32_t open, site at,
                         decision *d);

#endif
