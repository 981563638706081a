/* A cache of arrays that equal parts of a graph share, and of the results computed from them (hash
 * consing).
 *
 * A deep program repeats its layers, so its graph has few distinct tables, and most reduction steps
 * repeat earlier steps on the same arrays. While a graph has a shelf, none of its arrays (costs,
 * labels, tables) ever changes. A step creates new arrays, or reuses its earlier result for the
 * same arrays. The address identifies an array: new cost arrays and tables are unified, so
 * different addresses mean different contents. */
#ifndef TP_LIB_SOLVER_SHELF_H
#define TP_LIB_SOLVER_SHELF_H

#include "solver/pool.h"

#include <stdbool.h>
#include <stdint.h>

/* The kind of step. */
typedef enum tp__shelf_step {
  TP__SHELF_ENCODE,
  TP__SHELF_COSTS,
  TP__SHELF_LABELS,
  TP__SHELF_NORMALISE,
  TP__SHELF_STAR,
  TP__SHELF_DOMINATED,
  TP__SHELF_MASK,
  TP__SHELF_DROP,
  TP__SHELF_ABSORB,
  TP__SHELF_BETWEEN,
  TP__SHELF_SUM,
  TP__SHELF_TURN,
  TP__SHELF_ALONG,
} tp__shelf_step;

typedef struct tp__shelf tp__shelf;

enum { TP__SHELF_WORDS = 512 };

/* A step and its inputs. With n > TP__SHELF_WORDS the key did not fit, and the result is not
 * cached. */
typedef struct tp__shelf_key {
  size_t n;
  int64_t words[TP__SHELF_WORDS];
} tp__shelf_key;

static inline void tp__shelf_begin(tp__shelf_key *key, tp__shelf_step step) {
  key->n = 1;
  key->words[0] = step;
}

static inline void tp__shelf_add(tp__shelf_key *key, int64_t word) {
  if (key->n < TP__SHELF_WORDS)
    key->words[key->n] = word;
  key->n++;
}

static inline void tp__shelf_add_array(tp__shelf_key *key, const void *array) {
  tp__shelf_add(key, (int64_t)(intptr_t)array);
}

/* Returns NULL if memory runs out. */
tp__shelf *tp__shelf_create(void);
void tp__shelf_destroy(tp__shelf *shelf);

/* Returns the slot for the result of the step, which holds NULL if it is new. Valid until the next
 * call. A key that did not fit gets a slot that is always empty. NULL if memory runs out. */
void **tp__shelf_find(tp__shelf *shelf, const tp__shelf_key *key);

/* Returns the canonical array with these n words: the first that was passed in, which must stay
 * unchanged. Slots returned by tp__shelf_find stay valid. NULL if memory runs out. */
int64_t *tp__shelf_unify(tp__shelf *shelf, int64_t *array, size_t n);

#endif
