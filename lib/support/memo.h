/* Memoization of results by the words that they depend on.
 *
 * A deep program repeats its layers, so nearly all of its ops request results that are known
 * already. Keys are compared as bytes, so they must be words, never structs with padding. */
#ifndef TP_LIB_SUPPORT_MEMO_H
#define TP_LIB_SUPPORT_MEMO_H

#include "support/support.h"

/* A zeroed struct is a valid empty memo. */
typedef struct tp_memo_entry tp_memo_entry;
typedef struct tp_memo {
  tp_memo_entry *entries;
  size_t capacity, count;
} tp_memo;

/* Returns a hash of n words. Inline, because it is part of hot loops. */
static inline uint64_t tp__hash_words(const int64_t *words, size_t n) {
  const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15), other = UINT64_C(0xbf58476d1ce4e5b9);
  uint64_t hash = n * other;
  size_t i = 0;
  for (; i + 1 < n; i += 2) {
    unsigned __int128 product =
        (unsigned __int128)(hash ^ (uint64_t)words[i] ^ odd) * ((uint64_t)words[i + 1] ^ other);
    hash = (uint64_t)product ^ (uint64_t)(product >> 64);
  }
  if (i < n)
    hash = (hash ^ (uint64_t)words[i]) * odd;
  return hash ^ hash >> 32;
}

/* Returns the slot for this key, which holds NULL if the key is new; NULL if memory runs out. Valid
 * until the next call. Keys are stored in `arena`. */
void **tp__memo(tp_memo *memo, tp__arena *arena, const int64_t *words, size_t n);
void tp__memo_destroy(tp_memo *memo);

#endif
