/* Shares the rules of equal ops.
 *
 * A deep program repeats its layers, and rules inspect every op of a body. If a rule depends on the
 * op alone (tp_family.follows_from_op), an equal op reuses the rule of the first one. Factors,
 * variants, work, and the dims and shapes of the maps are shared; only the values differ. */
#ifndef TP_RULES_RULE_CACHE_H
#define TP_RULES_RULE_CACHE_H

#include "rules/rule.h"

/* The rules read so far, hashed by the structure of their ops. A zeroed struct is valid and empty.
 * While the table is in use, the ops that it has seen must not change, except for the values of
 * their operands. */
typedef struct tp_rule_cache {
  size_t count, capacity;
  struct tp_rule_cache_entry *entries;
  struct tp_kept_rule **met; /* those of all ops, in the order in which they were read */
  size_t n_met, met_capacity;
  size_t follows; /* where the rule that the next op probably has stands in `met` */
} tp_rule_cache;

/* Like tp__rule_of. A rule that shares data with another one lives as long as `arena`. */
tp_status tp__rule_cached(tp_rule_cache *alike, MlirOperation op, bool unknown_replicate,
                          tp__arena *arena, tp_rule *rule);
void tp__rule_cache_destroy(tp_rule_cache *alike);

#endif
