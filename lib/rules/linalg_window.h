/* Windows of structured ops: dimensions indexed by more than a single loop.
 *
 * If an operand is indexed by c0 + c1 * d1 + c2 * d2 + ..., one of the loops may be split. For each
 * of its iterations, the other loops read a run of elements, which is its window. Examples are
 * convolution and pooling (2 * d1 + d4), a slice (d0 + 3) and a reversal (7 - d0). */
#ifndef TP_RULES_LINALG_WINDOW_H
#define TP_RULES_LINALG_WINDOW_H

#include "rules/body.h"
#include "rules/rule.h"

/* True if factor f is the first one of a dimension. */
bool tp__moves_along(const tp_value_map *map, int f);

/* Sets the windows of the inputs' dimensions, and fixes the loops that cannot be split. The sizes
 * of the loops, and the dimensions indexed by a single loop, must be known already. */
tp_status tp__linalg_windows(tp_rule *rule, MlirAttribute maps, const tp_body *body,
                             tp__arena *arena);

/* Fetches the elements that this device reads, and rebases the op's maps on the first fetched
 * element. */
tp_status tp__linalg_fetch(const tp_local *local);

#endif
