#include "solver/shelf.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
  uint64_t hash;
  size_t n;
  int64_t *key; /* NULL: free */
  void *result;
} entry;

struct tp__shelf {
  tp__pool pool; /* the keys */
  size_t count, capacity;
  entry *entries;
  void *nowhere; /* for keys that did not fit */
};

enum { FIRST_CAPACITY = 1024 };

tp__shelf *tp__shelf_create(void) {
  tp__shelf *shelf = calloc(1, sizeof *shelf);
  if (!shelf)
    return NULL;
  shelf->capacity = FIRST_CAPACITY;
  shelf->entries = calloc(shelf->capacity, sizeof *shelf->entries);
  if (shelf->entries)
    return shelf;
  free(shelf);
  return NULL;
}

void tp__shelf_destroy(tp__shelf *shelf) {
  if (!shelf)
    return;
  tp__pool_release(&shelf->pool);
  free(shelf->entries);
  free(shelf);
}

static uint64_t hash_of(const tp__shelf_key *key) {
  uint64_t hash = key->n;
  for (size_t i = 0; i < key->n; i++) {
    hash = (hash ^ (uint64_t)key->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

static entry *place(entry *entries, size_t capacity, uint64_t hash, const int64_t *words, size_t n) {
  size_t at = hash & (capacity - 1);
  while (entries[at].key &&
         (entries[at].hash != hash || entries[at].n != n || memcmp(entries[at].key, words, n * sizeof *words) != 0))
    at = (at + 1) & (capacity - 1);
  return &entries[at];
}

static bool grow(tp__shelf *shelf) {
  size_t capacity = 2 * shelf->capacity;
  entry *entries = calloc(capacity, sizeof *entries);
  if (!entries)
    return false;
  for (size_t i = 0; i < shelf->capacity; i++) {
    const entry *old = &shelf->entries[i];
    if (old->key)
      *place(entries, capacity, old->hash, old->key, old->n) = *old;
  }
  free(shelf->entries);
  shelf->entries = entries;
  shelf->capacity = capacity;
  return true;
}

void **tp__shelf_find(tp__shelf *shelf, const tp__shelf_key *key) {
  shelf->nowhere = NULL;
  if (key->n > TP__SHELF_WORDS)
    return &shelf->nowhere;
  if (2 * (shelf->count + 1) > shelf->capacity && !grow(shelf))
    return NULL;
  uint64_t hash = hash_of(key);
  entry *e = place(shelf->entries, shelf->capacity, hash, key->words, key->n);
  if (e->key)
    return &e->result;
  int64_t *words = tp__pool_take(&shelf->pool, key->n, sizeof *words);
  if (!words)
    return NULL;
  memcpy(words, key->words, key->n * sizeof *words);
  *e = (entry){.hash = hash, .n = key->n, .key = words};
  shelf->count++;
  return &e->result;
}
