/* The tables of costs that tp_reshard_costs looks up. */
#ifndef TP_LIB_SHARDING_RESHARD_TABLES_H
#define TP_LIB_SHARDING_RESHARD_TABLES_H

#include "support/memo.h"
#include "tp/reshard.h"

/* All tables of a cache. Empty if zeroed. */
typedef struct tp__reshard_tables {
  tp_memo tables; /* by shape and element size */
  tp__arena arena;
  size_t n_entries;
} tp__reshard_tables;

/* Returns those of the cache (reshard.c). */
tp__reshard_tables *tp__reshard_tables_of(tp_reshard_cache *cache);
void tp__reshard_tables_clear(tp__reshard_tables *tables);

#endif
