/* Rules of equal ops, read once.
 *
 * A deep program repeats its layers, and a rule looks at every op of a body. Where the rule follows
 * from the op alone (tp_family.follows_from_op), an equal op takes that of the first: factors,
 * variants, work, and the dims and shapes of its maps are shared, only values are its own. */
#ifndef TP_RULES_ALIKE_H
#define TP_RULES_ALIKE_H

#include "rules/rule.h"

/* The rules read so far, by what their ops look like. A zeroed struct is valid and empty. While it
 * is used no op that it has seen may change, but for the values of its operands. */
typedef struct tp_alike {
  size_t count, capacity;
  struct tp_alike_entry *entries;
} tp_alike;

/* As tp__rule_of. Rules that take something from another live as long as `arena`. */
tp_status tp__rule_alike(tp_alike *alike, MlirOperation op, bool unknown_replicate,
                         tp__arena *arena, tp_rule *rule);
void tp__alike_destroy(tp_alike *alike);

#endif
