#include "ir/value_table.h"

static size_t slot_of(const tp_value_table *table, const void *key) {
  uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
  size_t i = (size_t)(h >> 20) & (table->capacity - 1);
  while (table->keys[i] && table->keys[i] != key)
    i = (i + 1) & (table->capacity - 1);
  return i;
}

static tp_status grow(tp_value_table *table) {
  tp_value_table bigger = {.capacity = table->capacity ? 2 * table->capacity : 256};
  bigger.keys = tp__calloc(bigger.capacity, sizeof *bigger.keys);
  bigger.values = tp__calloc(bigger.capacity, sizeof *bigger.values);
  if (!bigger.keys || !bigger.values) {
    tp__table_destroy(&bigger);
    return TP_NO_MEMORY;
  }
  for (size_t i = 0; i < table->capacity; i++)
    if (table->keys[i]) {
      size_t at = slot_of(&bigger, table->keys[i]);
      bigger.keys[at] = table->keys[i];
      bigger.values[at] = table->values[i];
    }
  bigger.count = table->count;
  tp__table_destroy(table);
  *table = bigger;
  return TP_OK;
}

tp_status tp__table_put(tp_value_table *table, const void *key, int value) {
  if (2 * (table->count + 1) > table->capacity && grow(table) != TP_OK)
    return TP_NO_MEMORY;
  size_t i = slot_of(table, key);
  table->count += table->keys[i] == NULL;
  table->keys[i] = key;
  table->values[i] = value;
  return TP_OK;
}

int tp__table_get(const tp_value_table *table, const void *key) {
  if (table->capacity == 0)
    return -1;
  size_t i = slot_of(table, key);
  return table->keys[i] ? table->values[i] : -1;
}

void tp__table_destroy(tp_value_table *table) {
  tp__free(table->keys);
  tp__free(table->values);
  *table = (tp_value_table){0};
}
