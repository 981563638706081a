/* Windows of structured ops: indexing expressions that are more than a loop.
 *
 * Where an operand is indexed by c0 + c1 * d1 + c2 * d2 + ..., one of the loops may be split: the
 * run of elements that the others make of each of its points is its window. That is a convolution
 * or pooling (2 * d1 + d4), a slice (d0 + 3), a reversal (7 - d0). */
#ifndef TP_RULES_LINALG_WINDOW_H
#define TP_RULES_LINALG_WINDOW_H

#include "rules/body.h"
#include "rules/rule.h"

/* Gives the dimensions of inputs their windows, and fixes the loops that cannot be split. The sizes
 * of the loops are known, and so are the dimensions that are plain loops. */
tp_status tp__linalg_windows(tp_rule *rule, MlirAttribute maps, const tp_body *body,
                             tp__arena *arena);

/* Fetches what this device reads, and makes the maps of the op count from the first element
 * fetched. */
tp_status tp__linalg_fetch(const tp_local *local);

#endif
