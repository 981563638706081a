/* Hash tables for cached results and unified arrays. */
#include "solver/hash_cons.h"

#include "support/memo.h"
#include "support/support.h"

#include <string.h>

typedef struct entry {
  uint64_t hash;
  size_t n;
  const int64_t *key; /* NULL: free */
  void *result;
} entry;

typedef struct table {
  size_t count, capacity;
  entry *entries;
} table;

struct tp__hash_cons {
  tp__pool pool; /* the keys of results */
  table results, arrays;
  void *nowhere; /* the slot for keys that did not fit */
};

enum { FIRST_CAPACITY = 1024 };

static bool start(table *t) {
  *t = (table){.capacity = FIRST_CAPACITY,
               .entries = tp__calloc(FIRST_CAPACITY, sizeof *t->entries)};
  return t->entries != NULL;
}

tp__hash_cons *tp__hash_cons_create(void) {
  tp__hash_cons *cache = tp__calloc(1, sizeof *cache);
  if (cache && start(&cache->results) && start(&cache->arrays))
    return cache;
  tp__hash_cons_destroy(cache);
  return NULL;
}

void tp__hash_cons_destroy(tp__hash_cons *cache) {
  if (!cache)
    return;
  tp__pool_release(&cache->pool);
  tp__free(cache->results.entries);
  tp__free(cache->arrays.entries);
  tp__free(cache);
}

static entry *place(const table *t, uint64_t hash, const int64_t *words, size_t n) {
  size_t at = hash & (t->capacity - 1);
  while (t->entries[at].key && (t->entries[at].hash != hash || t->entries[at].n != n ||
                                memcmp(t->entries[at].key, words, n * sizeof *words) != 0))
    at = (at + 1) & (t->capacity - 1);
  return &t->entries[at];
}

/* Ensures capacity for one more entry. */
static bool grow(table *t) {
  if (2 * (t->count + 1) <= t->capacity)
    return true;
  table bigger = {.count = t->count, .capacity = 2 * t->capacity};
  bigger.entries = tp__calloc(bigger.capacity, sizeof *bigger.entries);
  if (!bigger.entries)
    return false;
  for (size_t i = 0; i < t->capacity; i++) {
    const entry *old = &t->entries[i];
    size_t at = old->hash & (bigger.capacity - 1);
    while (old->key && bigger.entries[at].key)
      at = (at + 1) & (bigger.capacity - 1);
    if (old->key)
      bigger.entries[at] = *old;
  }
  tp__free(t->entries);
  *t = bigger;
  return true;
}

void **tp__hash_cons_find(tp__hash_cons *cache, const tp__hash_cons_key *key) {
  cache->nowhere = NULL;
  if (key->n > TP__HASH_CONS_WORDS)
    return &cache->nowhere;
  if (!grow(&cache->results))
    return NULL;
  uint64_t hash = tp__hash_words(key->words, key->n);
  entry *e = place(&cache->results, hash, key->words, key->n);
  if (e->key)
    return &e->result;
  int64_t *words = tp__pool_alloc(&cache->pool, key->n, sizeof *words);
  if (!words)
    return NULL;
  memcpy(words, key->words, key->n * sizeof *words);
  *e = (entry){.hash = hash, .n = key->n, .key = words};
  cache->results.count++;
  return &e->result;
}

int64_t *tp__hash_cons_unify(tp__hash_cons *cache, int64_t *array, size_t n) {
  if (!grow(&cache->arrays))
    return NULL;
  uint64_t hash = tp__hash_words(array, n);
  entry *e = place(&cache->arrays, hash, array, n);
  if (!e->key) {
    *e = (entry){.hash = hash, .n = n, .key = array, .result = array};
    cache->arrays.count++;
  }
  return e->result;
}
