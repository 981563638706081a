/* A hash table from MLIR values and ops (by pointer) to small integers. */
#ifndef TP_IR_VALUE_TABLE_H
#define TP_IR_VALUE_TABLE_H

#include "ir/ir.h"
#include "support/support.h"

typedef struct tp_value_table {
  struct tp_value_entry *entries;
  size_t capacity; /* a power of two; 0 when empty */
  size_t count;
} tp_value_table;

/* A zeroed table is empty. */
/* Makes room for n keys, which then need not be moved while the table grows. TP_NO_MEMORY */
tp_status tp__table_reserve(tp_value_table *table, size_t n);
tp_status tp__table_put(tp_value_table *table, const void *key, int value); /* TP_NO_MEMORY */
/* Returns -1 if absent. */
int tp__table_get(const tp_value_table *table, const void *key);
/* Prefetches the slot of a key that will be looked up or inserted soon. */
void tp__table_prefetch(const tp_value_table *table, const void *key);
void tp__table_destroy(tp_value_table *table);

#endif
