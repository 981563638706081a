/* Hash table from pointers to integers, with open addressing. */
#include "ir/value_table.h"

enum { FIRST_CAPACITY = 256 };

/* Key and value are adjacent, so that a lookup in a large table costs one cache miss. Keys that are
 * close in memory have entries that are close in the table, because neighboring ops are often
 * looked up together. */
typedef struct tp_value_entry {
  const void *key; /* NULL: free */
  int value;
} tp_value_entry;

static size_t start_of(const tp_value_table *table, const void *key) {
  /* PAGE: log2 of the bytes of a page. PLACES: log2 of the consecutive entries in which the lookups
   * of the keys of one page start. */
  enum { PAGE = 12, PLACES = 6 };
  uint64_t address = (uint64_t)(uintptr_t)key,
           page = (address >> PAGE) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  uint64_t within = address >> (PAGE - PLACES) & ((1 << PLACES) - 1);
  return (size_t)(page << PLACES | within) & (table->capacity - 1);
}

static tp_value_entry *place(const tp_value_table *table, const void *key) {
  size_t i = start_of(table, key);
  while (table->entries[i].key && table->entries[i].key != key)
    i = (i + 1) & (table->capacity - 1);
  return &table->entries[i];
}

static tp_status resize(tp_value_table *table, size_t capacity) {
  tp_value_table bigger = {.count = table->count, .capacity = capacity};
  bigger.entries = tp__calloc(bigger.capacity, sizeof *bigger.entries);
  if (!bigger.entries)
    return TP_NO_MEMORY;
  for (size_t i = 0; i < table->capacity; i++)
    if (table->entries[i].key)
      *place(&bigger, table->entries[i].key) = table->entries[i];
  tp__table_destroy(table);
  *table = bigger;
  return TP_OK;
}

static tp_status grow(tp_value_table *table) {
  return resize(table, table->capacity ? 2 * table->capacity : FIRST_CAPACITY);
}

tp_status tp__table_reserve(tp_value_table *table, size_t n) {
  size_t capacity = FIRST_CAPACITY;
  while (capacity / 2 < n)
    capacity *= 2;
  return capacity <= table->capacity ? TP_OK : resize(table, capacity);
}

tp_status tp__table_put(tp_value_table *table, const void *key, int value) {
  if (2 * (table->count + 1) > table->capacity && grow(table) != TP_OK)
    return TP_NO_MEMORY;
  tp_value_entry *entry = place(table, key);
  table->count += entry->key == NULL;
  *entry = (tp_value_entry){key, value};
  return TP_OK;
}

int tp__table_get(const tp_value_table *table, const void *key) {
  if (table->capacity == 0)
    return -1;
  const tp_value_entry *entry = place(table, key);
  return entry->key ? entry->value : -1;
}

void tp__table_prefetch(const tp_value_table *table, const void *key) {
  if (table->capacity > 0)
    __builtin_prefetch(&table->entries[start_of(table, key)]);
}

void tp__table_destroy(tp_value_table *table) {
  tp__free(table->entries);
  *table = (tp_value_table){0};
}
