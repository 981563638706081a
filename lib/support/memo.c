/* Hash table for memoization, keyed by arrays of words. */
#include "support/memo.h"

#include <string.h>

struct tp_memo_entry {
  uint64_t hash;
  size_t size;
  void *key; /* NULL: free slot */
  void *value;
};

static tp_memo_entry *find(tp_memo_entry *entries, size_t capacity, uint64_t hash, const void *key,
                           size_t size) {
  size_t at = hash & (capacity - 1);
  while (entries[at].key && (entries[at].hash != hash || entries[at].size != size ||
                             memcmp(entries[at].key, key, size) != 0))
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
  uint64_t hash = tp__hash_words(words, n);
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
