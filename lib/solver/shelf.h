/* Arrays that equal parts of a graph share, and what was computed from them.
 *
 * A deep program repeats its layers, so most tables of its graph are one of few, and most steps of
 * a reduction were done before on the same arrays. While a graph has a shelf, none of its arrays
 * (costs, labels, tables) ever changes: a step makes new ones, or finds those that it made when it
 * had the same arrays at hand. Arrays are told apart by their address: those of costs and tables
 * are unified when they are made, so that two addresses are two contents. */
#ifndef TP_LIB_SOLVER_SHELF_H
#define TP_LIB_SOLVER_SHELF_H

#include "solver/pool.h"

#include <stdbool.h>
#include <stdint.h>

/* What was done. */
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

/* A step and what it was done on. With n > TP__SHELF_WORDS the key did not fit, and the step is not
 * on the shelf. */
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

/* NULL when memory runs out. */
tp__shelf *tp__shelf_create(void);
void tp__shelf_destroy(tp__shelf *shelf);

/* Where the result of the step belongs; NULL inside if it is new. Valid until the next call. A key
 * that did not fit gets a place that is always empty. NULL when memory runs out. */
void **tp__shelf_find(tp__shelf *shelf, const tp__shelf_key *key);

/* The array that stands for all with these n words: the first that was given, which has to stay as
 * it is. Places that tp__shelf_find gave stay valid. NULL when memory runs out. */
int64_t *tp__shelf_unify(tp__shelf *shelf, int64_t *array, size_t n);

#endif
