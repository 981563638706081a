/* A map from values of the IR to integers. A zeroed struct is an empty map. */
#ifndef TP_PASSES_VALUE_MAP_H
#define TP_PASSES_VALUE_MAP_H

#include "ir/ir.h"

typedef struct tp__value_slot {
  const void *key; /* NULL: free */
  int64_t number;
} tp__value_slot;

typedef struct tp__value_map {
  tp__value_slot *slots; /* open addressing, at most half full */
  size_t n, capacity;
} tp__value_map;

/* The entry of `value`, or NULL. Valid until the next add. */
int64_t *tp__value_find(const tp__value_map *map, MlirValue value);
/* The entry of `value`, created with `initial` if there is none; NULL when memory runs out. */
int64_t *tp__value_add(tp__value_map *map, MlirValue value, int64_t initial);
void tp__value_map_destroy(tp__value_map *map);

#endif
