/* Hash table of rules, keyed by the structure of their ops. */
#include "rules/rule_cache.h"

#include "ir/op_equivalence.h"
#include "rules/in_place.h"

#include <string.h>

typedef struct tp_rule_cache_entry {
  uint64_t hash;
  const tp_rule *rule; /* NULL: free */
} tp_rule_cache_entry;

static size_t next(const tp_rule_cache *alike, size_t at) {
  return (at + 1) & (alike->capacity - 1);
}

/* Returns the entry of an equal op, or the free entry where this op belongs. */
static tp_rule_cache_entry *find(const tp_rule_cache *alike, uint64_t hash, MlirOperation op) {
  size_t at = hash & (alike->capacity - 1);
  while (alike->entries[at].rule &&
         (alike->entries[at].hash != hash || !tp__ops_equivalent(alike->entries[at].rule->op, op)))
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
    while (alike->entries[i].rule && bigger.entries[at].rule)
      at = next(&bigger, at);
    if (alike->entries[i].rule)
      bigger.entries[at] = alike->entries[i];
  }
  tp__free(alike->entries);
  *alike = bigger;
  return TP_OK;
}

static bool has_window(const tp_rule *rule) {
  for (int i = 0; i < rule->n_operands; i++)
    for (int d = 0; d < rule->operands[i].rank; d++)
      if (rule->operands[i].dims[d].window)
        return true;
  return false;
}

/* True if `op` reads a pad in place. Its rule then also describes the pad, so it cannot be shared.
 * `rule` is the rule of `op` or of an equal op; without windows it cannot read a pad. */
static bool reads_in_place(const tp_rule *rule, MlirOperation op) {
  if (!has_window(rule))
    return false;
  for (int i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!mlirOperationIsNull(tp__pad_in_place(op, i)))
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

static tp_status keep(tp_rule_cache_entry *entry, uint64_t hash, tp_rule *rule, tp__arena *arena) {
  tp_rule *copy = tp__arena_alloc(arena, sizeof *copy);
  if (!copy)
    return tp__out_of_memory(rule->op);
  rule->first = copy;
  *copy = *rule;
  *entry = (tp_rule_cache_entry){hash, copy};
  return TP_OK;
}

tp_status tp__rule_cached(tp_rule_cache *alike, MlirOperation op, bool unknown_replicate,
                          tp__arena *arena, tp_rule *rule) {
  uint64_t hash;
  bool has_own =
      !mlirAttributeIsNull(tp__get(op, "tp.rule")) || !mlirAttributeIsNull(tp__get(op, "tp.rows"));
  if (has_own || !tp__op_structure_hash(op, &hash))
    return tp__rule_of(op, unknown_replicate, arena, rule);
  if (2 * (alike->count + 1) > alike->capacity && grow(alike) != TP_OK)
    return tp__out_of_memory(op);
  tp_rule_cache_entry *entry = find(alike, hash, op);
  if (entry->rule && !reads_in_place(entry->rule, op))
    return take(entry->rule, op, arena, rule);
  TP_TRY(tp__rule_of(op, unknown_replicate, arena, rule));
  if (entry->rule || reads_in_place(rule, op) || !rule->family || !rule->family->follows_from_op ||
      !rule->family->follows_from_op(op))
    return TP_OK;
  alike->count++;
  return keep(entry, hash, rule, arena);
}

void tp__rule_cache_destroy(tp_rule_cache *alike) {
  tp__free(alike->entries);
  *alike = (tp_rule_cache){0};
}
