/* Hash table of rules, keyed by the structure of their ops. */
#include "rules/rule_cache.h"

#include "ir/op_equivalence.h"

#include <string.h>

/* A rule that others share. */
typedef struct tp_kept_rule {
  tp_rule rule;
  size_t last; /* where it stands in the list of met rules for the last time */
} tp_kept_rule;

typedef struct tp_rule_cache_entry {
  uint64_t hash;
  tp_kept_rule *kept; /* NULL: free */
} tp_rule_cache_entry;

static size_t next(const tp_rule_cache *alike, size_t at) {
  return (at + 1) & (alike->capacity - 1);
}

/* Returns the entry of an equal op, or the free entry where this op belongs. */
static tp_rule_cache_entry *find(const tp_rule_cache *alike, uint64_t hash, MlirOperation op) {
  size_t at = hash & (alike->capacity - 1);
  while (alike->entries[at].kept && (alike->entries[at].hash != hash ||
                                     !tp__ops_equivalent(alike->entries[at].kept->rule.op, op)))
    at = next(alike, at);
  return &alike->entries[at];
}

static tp_status grow(tp_rule_cache *alike) {
  tp_rule_cache bigger = {.count = alike->count,
                          .capacity = alike->capacity ? 2 * alike->capacity : 256};
  bigger.entries = tp__calloc(bigger.capacity, sizeof *bigger.entries);
  if (!bigger.entries)
    return TP_NO_MEMORY;
  for (size_t i = 0; i < alike->capacity; i++) {
    size_t at = alike->entries[i].hash & (bigger.capacity - 1);
    while (alike->entries[i].kept && bigger.entries[at].kept)
      at = next(&bigger, at);
    if (alike->entries[i].kept)
      bigger.entries[at] = alike->entries[i];
  }
  tp__free(alike->entries);
  alike->entries = bigger.entries;
  alike->capacity = bigger.capacity;
  return TP_OK;
}

/* True if `op` reads a pad in place. Its rule then also describes the pad, so it cannot be shared.
 * `rule` is the rule of `op` or of an equal op; without windows it cannot read a pad. */
static bool reads_in_place(const tp_rule *rule, MlirOperation op) {
  if (!tp__rule_has_window(rule))
    return false;
  for (int i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!mlirOperationIsNull(tp__read_in_place(op, i)))
      return true;
  return false;
}

/* Copies the rule of `first` with the values of `op`. Neither op captures tensors, so all values
 * are operands or results. */
static tp_status take(const tp_rule *first, MlirOperation op, tp__arena *arena, tp_rule *rule) {
  *rule = *first;
  rule->op = op;
  if (rule->n_operands > 0)
    rule->operands = tp__rule_maps(arena, rule->n_operands);
  rule->results = tp__rule_maps(arena, rule->n_results);
  if (!rule->operands || !rule->results)
    return tp__out_of_memory(op);
  for (int i = 0; i < rule->n_operands; i++) {
    rule->operands[i] = first->operands[i];
    rule->operands[i].value = mlirOperationGetOperand(op, i);
  }
  for (int i = 0; i < rule->n_results; i++) {
    rule->results[i] = first->results[i];
    rule->results[i].value = mlirOperationGetResult(op, i);
  }
  return TP_OK;
}

/* The rule that the next op probably has; NULL: unknown. Layers repeat, so ops are compared with
 * those of the layer before, as long as they are equal. */
static tp_kept_rule *probable(const tp_rule_cache *alike) {
  return alike->follows < alike->n_met ? alike->met[alike->follows] : NULL;
}

/* Records that an op has the rule. An op whose rule was not the probable one is followed as its
 * last equal op was. */
static tp_status step(tp_rule_cache *alike, tp_kept_rule *kept) {
  if (tp__grow((void **)&alike->met, &alike->met_capacity, alike->n_met + 1, sizeof *alike->met) !=
      TP_OK)
    return tp__out_of_memory(kept->rule.op);
  alike->follows = (probable(alike) == kept ? alike->follows : kept->last) + 1;
  kept->last = alike->n_met;
  alike->met[alike->n_met++] = kept;
  return TP_OK;
}

static tp_status keep(tp_rule_cache *alike, tp_rule_cache_entry *entry, uint64_t hash,
                      tp_rule *rule, tp__arena *arena) {
  tp_kept_rule *kept = tp__arena_alloc(arena, sizeof *kept);
  if (!kept)
    return tp__out_of_memory(rule->op);
  rule->first = &kept->rule;
  *kept = (tp_kept_rule){*rule, alike->n_met};
  *entry = (tp_rule_cache_entry){hash, kept};
  return step(alike, kept);
}

static bool has_own_rule(MlirOperation op) {
  return mlirDictionaryAttrGetNumElements(tp__attributes(op)) > 0 &&
         (!mlirAttributeIsNull(tp__get(op, "tp.rule")) ||
          !mlirAttributeIsNull(tp__get(op, "tp.rows")));
}

tp_status tp__rule_cached(tp_rule_cache *alike, MlirOperation op, bool unknown_replicate,
                          tp__arena *arena, tp_rule *rule) {
  uint64_t hash;
  bool has_own = has_own_rule(op);
  tp_kept_rule *kept = has_own ? NULL : probable(alike);
  if (kept && tp__ops_equivalent(kept->rule.op, op) && !reads_in_place(&kept->rule, op)) {
    TP_TRY(step(alike, kept));
    return take(&kept->rule, op, arena, rule);
  }
  if (has_own || !tp__op_structure_hash(op, &hash))
    return tp__rule_of(op, unknown_replicate, arena, rule);
  if (2 * (alike->count + 1) > alike->capacity && grow(alike) != TP_OK)
    return tp__out_of_memory(op);
  tp_rule_cache_entry *entry = find(alike, hash, op);
  if (entry->kept && !reads_in_place(&entry->kept->rule, op)) {
    TP_TRY(step(alike, entry->kept));
    return take(&entry->kept->rule, op, arena, rule);
  }
  TP_TRY(tp__rule_of(op, unknown_replicate, arena, rule));
  if (entry->kept || reads_in_place(rule, op) || !rule->family || !rule->family->follows_from_op ||
      !rule->family->follows_from_op(op))
    return TP_OK;
  alike->count++;
  return keep(alike, entry, hash, rule, arena);
}

void tp__rule_cache_destroy(tp_rule_cache *alike) {
  tp__free(alike->entries);
  tp__free(alike->met);
  *alike = (tp_rule_cache){0};
}
