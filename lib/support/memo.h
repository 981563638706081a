/* What was computed before, found again by the words that it depends on.
 *
 * A deep program repeats its layers, so nearly all of its ops ask for what was found out before.
 * Keys are compared as bytes: they are words, never structs with padding. */
#ifndef TP_LIB_SUPPORT_MEMO_H
#define TP_LIB_SUPPORT_MEMO_H

#include "support/support.h"

/* A zeroed struct is a valid empty memo. */
typedef struct tp_memo_entry tp_memo_entry;
typedef struct tp_memo {
  tp_memo_entry *entries;
  size_t capacity, count;
} tp_memo;

/* The slot of the value for this key, NULL inside when the key is new; NULL when memory runs out.
 * Valid until the next call. Keys are kept in `arena`. */
void **tp__memo(tp_memo *memo, tp__arena *arena, const int64_t *words, size_t n);
void tp__memo_destroy(tp_memo *memo);

#endif
