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

/* Returns the slot for this key, which holds NULL if the key is new; NULL if memory runs out. Valid
 * until the next call. Keys are stored in `arena`. */
void **tp__memo(tp_memo *memo, tp__arena *arena, const int64_t *words, size_t n);
void tp__memo_destroy(tp_memo *memo);

#endif
