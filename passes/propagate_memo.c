/* What was computed once for equal ops, layouts and edges, found again by the bytes that it depends on.
 *
 * A deep program repeats its layers, so nearly all of its ops ask for strategies that were listed before. Keys are compared as bytes:
 * they are made of zeroed words, never of structs with padding. */
#include "passes/propagate.h"

#include <string.h>

struct tp_memo_entry {
  uint64_t hash;
  size_t size;
  void *key; /* NULL: free slot */
  void *value;
};

static uint64_t hash_of(const int64_t *words, size_t n) {
  uint64_t hash = n;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ (uint64_t)words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

static tp_memo_entry *find(tp_memo_entry *entries, size_t capacity, uint64_t hash, const void *key, size_t size) {
  size_t at = hash & (capacity - 1);
  while (entries[at].key && (entries[at].hash != hash || entries[at].size != size || memcmp(entries[at].key, key, size) != 0))
    at = (at + 1) & (capacity - 1);
  return &entries[at];
}

static tp_status grow(tp_memo *memo) {
  size_t capacity = memo->capacity ? 2 * memo->capacity : 256;
  tp_memo_entry *entries = tp__calloc(capacity, sizeof *entries);
  if (!entries)
    return TP_NO_MEMORY;
  for (size_t i = 0; i < memo->capacity; i++) {
    const tp_memo_entry *old = &memo->entries[i];
    if (old->key)
      *find(entries, capacity, old->hash, old->key, old->size) = *old;
  }
  tp__free(memo->entries);
  memo->entries = entries;
  memo->capacity = capacity;
  return TP_OK;
}

void **tp__memo(tp_memo *memo, tp__arena *arena, const int64_t *words, size_t n) {
  if (2 * (memo->count + 1) > memo->capacity && grow(memo) != TP_OK)
    return NULL;
  size_t size = n * sizeof *words;
  uint64_t hash = hash_of(words, n);
  tp_memo_entry *entry = find(memo->entries, memo->capacity, hash, words, size);
  if (entry->key)
    return &entry->value;
  void *key = tp__arena_alloc(arena, size);
  if (!key)
    return NULL;
  memcpy(key, words, size);
  *entry = (tp_memo_entry){.hash = hash, .size = size, .key = key};
  memo->count++;
  return &entry->value;
}

void tp__memo_destroy(tp_memo *memo) {
  tp__free(memo->entries);
  *memo = (tp_memo){0};
}

/* ---- keys ---- */

void tp__words_add(tp_words *words, int64_t word) {
  if (words->n < TP_MAX_WORDS)
    words->words[words->n] = word;
  words->n++;
}

static void add_map(tp_words *words, const tp_value_map *map) {
  tp__words_add(words, map->is_tensor | map->is_init << 1 | map->is_unused << 2 | map->has_combiner << 3 | map->rank << 8 |
                           (map->has_combiner ? (int64_t)map->combiner << 16 : 0));
  if (!map->is_tensor)
    return;
  tp__words_add(words, map->element_size);
  for (int d = 0; d < map->rank; d++) {
    int64_t dim = map->dims[d].n_factors | (map->dims[d].window != NULL) << 8;
    for (int k = 0; k < map->dims[d].n_factors; k++)
      dim = dim << 8 | map->dims[d].factors[k];
    tp__words_add(words, map->shape[d]);
    tp__words_add(words, dim);
    if (map->dims[d].window) {
      tp__words_add(words, map->dims[d].window->stride);
      tp__words_add(words, map->dims[d].window->offset);
      tp__words_add(words, map->dims[d].window->extent);
    }
  }
}

void tp__words_add_rule(tp_words *words, const tp_rule *rule) {
  int64_t work[2];
  _Static_assert(sizeof work[0] == sizeof rule->scalar_ops, "doubles are compared by their bits");
  memcpy(&work[0], &rule->contraction_flops, sizeof work[0]);
  memcpy(&work[1], &rule->scalar_ops, sizeof work[1]);
  tp__words_add(words, (int64_t)(intptr_t)rule->family); /* its `joining` has a part in the costs */
  tp__words_add(words, rule->peak);
  tp__words_add(words, work[0]);
  tp__words_add(words, work[1]);
  tp__words_add(words, rule->is_elementwise | rule->is_free << 1 | rule->n_factors << 8 | rule->n_variants << 16 |
                           (int64_t)rule->n_operands << 32 | (int64_t)rule->n_results << 48);
  for (int f = 0; f < rule->n_factors; f++) {
    tp__words_add(words, rule->factors[f].size);
    tp__words_add(words, rule->factors[f].repeats_work << 17 | rule->factors[f].must_divide << 16 | rule->factors[f].kind << 8);
  }
  for (int v = 0; v < rule->n_variants; v++) {
    tp__words_add(words, rule->variants[v].combiner);
    tp__words_add(words, (int64_t)rule->variants[v].operands);
  }
  for (int i = 0; i < rule->n_operands; i++)
    add_map(words, &rule->operands[i]);
  for (int i = 0; i < rule->n_results; i++)
    add_map(words, &rule->results[i]);
}

static bool number_rule(tp_planner *p, const tp_rule *rule, int64_t *word) {
  tp_words key;
  key.n = 0;
  *word = 0;
  tp__words_add_rule(&key, rule);
  if (key.n > TP_MAX_WORDS)
    return true;
  void **slot = tp__memo(&p->same_rules, p->arena, key.words, key.n);
  if (slot && !*slot)
    *slot = (void *)(intptr_t)p->same_rules.count; /* numbers from 1 */
  *word = slot ? (int64_t)(intptr_t)*slot : 0;
  return slot != NULL;
}

bool tp__rule_word(tp_planner *p, const tp_rule *rule, int64_t *word) {
  if (!rule->first)
    return number_rule(p, rule, word);
  int64_t first = (int64_t)(intptr_t)rule->first;
  void **slot = tp__memo(&p->first_rules, p->arena, &first, 1);
  if (!slot || *slot) {
    *word = slot ? (int64_t)(intptr_t)*slot : 0;
    return slot != NULL;
  }
  bool ok = number_rule(p, rule, word);
  *slot = (void *)(intptr_t)*word;
  return ok;
}
