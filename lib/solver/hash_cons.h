/* A cache of arrays that equal parts of a graph share, and of the results computed from them (hash
 * consing).
 *
 * A deep program repeats its layers, so its graph has few distinct tables, and most reduction steps
 * repeat earlier steps on the same arrays. While a graph has a shelf, none of its arrays (costs,
 * labels, tables) ever changes. A step creates new arrays, or reuses its earlier result for the
 * same arrays. The address identifies an array: new cost arrays and tables are unified, so
 * different addresses mean different contents. */
#ifndef TP_LIB_SOLVER_HASH_CONS_H
#define TP_LIB_SOLVER_HASH_CONS_H

#include "solver/pool.h"

#include <stdbool.h>
#include <stdint.h>

/* The kind of step. */
typedef enum tp__hash_cons_step {
  TP__HASH_CONS_ENCODE,
  TP__HASH_CONS_COSTS,
  TP__HASH_CONS_LABELS,
  TP__HASH_CONS_NORMALIZE,
  TP__HASH_CONS_STAR,
  TP__HASH_CONS_DOMINATED,
  TP__HASH_CONS_MASK,
  TP__HASH_CONS_DROP,
  TP__HASH_CONS_ABSORB,
  TP__HASH_CONS_BETWEEN,
  TP__HASH_CONS_MOVE,
  TP__HASH_CONS_SUM,
  TP__HASH_CONS_TRANSPOSE,
  TP__HASH_CONS_ALONG,
} tp__hash_cons_step;

typedef struct tp__hash_cons tp__hash_cons;

enum { TP__HASH_CONS_WORDS = 512 };

/* A step and its inputs. With n > TP__HASH_CONS_WORDS the key did not fit, and the result is not
 * cached. */
typedef struct tp__hash_cons_key {
  size_t n;
  int64_t words[TP__HASH_CONS_WORDS];
} tp__hash_cons_key;

static inline void tp__hash_cons_begin(tp__hash_cons_key *key, tp__hash_cons_step step) {
  key->n = 1;
  key->words[0] = step;
}

static inline void tp__hash_cons_add(tp__hash_cons_key *key, int64_t word) {
  if (key->n < TP__HASH_CONS_WORDS)
    key->words[key->n] = word;
  key->n++;
}

static inline void tp__hash_cons_add_array(tp__hash_cons_key *key, const void *array) {
  tp__hash_cons_add(key, (int64_t)(intptr_t)array);
}

/* Returns NULL if memory runs out. */
tp__hash_cons *tp__hash_cons_create(void);
void tp__hash_cons_destroy(tp__hash_cons *cache);

/* Returns the slot for the result of the step, which holds NULL if it is new. Valid until the next
 * call. A key that did not fit gets a slot that is always empty. NULL if memory runs out. */
void **tp__hash_cons_find(tp__hash_cons *cache, const tp__hash_cons_key *key);

/* Returns the canonical array with these n words: the first that was passed in, which must stay
 * unchanged. Slots returned by tp__hash_cons_find stay valid. NULL if memory runs out. */
int64_t *tp__hash_cons_unify(tp__hash_cons *cache, int64_t *array, size_t n);

#endif
