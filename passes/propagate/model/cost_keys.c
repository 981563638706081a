/* Keys of the planner's memos: everything that strategies and their costs depend on. */
#include "passes/propagate/model/planner.h"

#include <string.h>

void tp__memo_key_add(tp_memo_key *words, int64_t word) {
  if (words->n < TP_MAX_KEY_WORDS)
    words->words[words->n] = word;
  words->n++;
}

static void add_map(tp_memo_key *words, const tp_value_map *map) {
  tp__memo_key_add(words, map->is_tensor | map->is_init << 1 | map->is_unused << 2 |
                              map->has_combiner << 3 | !mlirOperationIsNull(map->in_place) << 4 |
                              map->is_updated << 5 | (int64_t)map->n_reads << 32 | map->rank << 8 |
                              (map->has_combiner ? (int64_t)map->combiner << 16 : 0));
  if (!map->is_tensor)
    return;
  tp__memo_key_add(words, map->element_size);
  for (int d = 0; d < map->rank; d++) {
    int64_t dim = map->dims[d].n_factors | (map->dims[d].window != NULL) << 8;
    for (int k = 0; k < map->dims[d].n_factors; k++)
      dim = dim << 8 | map->dims[d].factors[k];
    tp__memo_key_add(words, map->shape[d]);
    tp__memo_key_add(words, dim);
    if (map->dims[d].window) {
      tp__memo_key_add(words, map->dims[d].window->stride);
      tp__memo_key_add(words, map->dims[d].window->offset);
      tp__memo_key_add(words, map->dims[d].window->extent);
      tp__memo_key_add(words, map->dims[d].window->cyclic);
    }
  }
}

void tp__memo_key_add_rule(tp_memo_key *words, const tp_rule *rule) {
  int64_t work[3];
  _Static_assert(sizeof work[0] == sizeof rule->scalar_ops, "doubles are compared by their bits");
  memcpy(&work[0], &rule->contraction_flops, sizeof work[0]);
  memcpy(&work[1], &rule->scalar_ops, sizeof work[1]);
  memcpy(&work[2], &rule->points, sizeof work[2]);
  /* covers its `joining` callback, which affects costs */
  tp__memo_key_add(words, (int64_t)(intptr_t)rule->family);
  tp__memo_key_add(words, rule->peak);
  tp__memo_key_add(words, work[0]);
  tp__memo_key_add(words, work[1]);
  tp__memo_key_add(words, work[2]);
  tp__memo_key_add(words, rule->traffic.n_moves);
  tp__memo_key_add(words, rule->is_elementwise | rule->is_free << 1 | rule->n_factors << 8 |
                              rule->n_variants << 16 | (int64_t)rule->n_operands << 32 |
                              (int64_t)rule->n_results << 48);
  for (int f = 0; f < rule->n_factors; f++) {
    tp__memo_key_add(words, rule->factors[f].size);
    tp__memo_key_add(words, rule->factors[f].repeats_work << 17 |
                                rule->factors[f].must_divide << 16 | rule->factors[f].kind << 8);
  }
  for (int v = 0; v < rule->n_variants; v++) {
    tp__memo_key_add(words, rule->variants[v].combiner);
    tp__memo_key_add(words, (int64_t)rule->variants[v].operands);
    tp__memo_key_add(words, rule->variants[v].result);
  }
  for (int i = 0; i < rule->n_operands; i++)
    add_map(words, &rule->operands[i]);
  for (int i = 0; i < rule->n_results; i++)
    add_map(words, &rule->results[i]);
}

static bool number_rule(tp_planner *p, const tp_rule *rule, int64_t *word) {
  tp_memo_key key;
  key.n = 0;
  *word = 0;
  tp__memo_key_add_rule(&key, rule);
  if (key.n > TP_MAX_KEY_WORDS)
    return true;
  void **slot = tp__memo(&p->same_rules, p->problem.arena, key.words, key.n);
  if (slot && !*slot)
    *slot = (void *)(intptr_t)p->same_rules.count; /* rules are numbered from 1 */
  *word = slot ? (int64_t)(intptr_t)*slot : 0;
  return slot != NULL;
}

bool tp__rule_word(tp_planner *p, const tp_rule *rule, int64_t *word) {
  if (!rule->first)
    return number_rule(p, rule, word);
  int64_t first = (int64_t)(intptr_t)rule->first;
  void **slot = tp__memo(&p->first_rules, p->problem.arena, &first, 1);
  if (!slot || *slot) {
    *word = slot ? (int64_t)(intptr_t)*slot : 0;
    return slot != NULL;
  }
  bool ok = number_rule(p, rule, word);
  *slot = (void *)(intptr_t)*word;
  return ok;
}
