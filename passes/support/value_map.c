/* A hash map from values of the IR to integers. */
#include "passes/support/value_map.h"

#include "support/support.h"

static tp__value_slot *probe(const tp__value_map *map, const void *key) {
  size_t i = (size_t)(((uint64_t)(uintptr_t)key >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
  for (i &= map->capacity - 1; map->slots[i].key && map->slots[i].key != key;
       i = (i + 1) & (map->capacity - 1))
    ;
  return map->slots + i;
}

static bool grow(tp__value_map *map) {
  tp__value_map bigger = {.n = map->n, .capacity = map->capacity ? 2 * map->capacity : 1024};
  bigger.slots = tp__calloc(bigger.capacity, sizeof *bigger.slots);
  if (!bigger.slots)
    return false;
  for (size_t i = 0; i < map->capacity; i++)
    if (map->slots[i].key)
      *probe(&bigger, map->slots[i].key) = map->slots[i];
  tp__free(map->slots);
  *map = bigger;
  return true;
}

int64_t *tp__value_find(const tp__value_map *map, MlirValue value) {
  tp__value_slot *slot = map->capacity ? probe(map, value.ptr) : NULL;
  return slot && slot->key ? &slot->number : NULL;
}

int64_t *tp__value_add(tp__value_map *map, MlirValue value, int64_t initial) {
  if (2 * (map->n + 1) > map->capacity && !grow(map))
    return NULL;
  tp__value_slot *slot = probe(map, value.ptr);
  if (!slot->key) {
    *slot = (tp__value_slot){value.ptr, initial};
    map->n++;
  }
  return &slot->number;
}

void tp__value_map_destroy(tp__value_map *map) {
  tp__free(map->slots);
  *map = (tp__value_map){0};
}
