/* Costs of reshards from many layouts of a tensor to many others, each computed once. A planner
 * asks for the same reshards of the same shape at every edge between a producer and a user. */
#include "sharding/reshard_tables.h"

#include <string.h>

enum {
  /* Layouts of one table, and entries of all tables of a cache, 8 bytes each. Beyond these, costs
   * are computed again. */
  MAX_LAYOUTS = 1024,
  MAX_ENTRIES = 1 << 22,
  FIRST_LAYOUTS = 32
};
#define UNKNOWN ((tp_cost) - 1)

/* The costs that are known for tensors of one shape. */
typedef struct tp__reshard_table table;

struct tp__reshard_table {
  tp_spec *specs;
  int n, capacity;
  int *slots;     /* hash table of 4 * capacity numbers + 1 of specs; 0: empty */
  tp_cost *costs; /* [from * capacity + to] */
};

static size_t slot_of(const table *t, tp_spec spec) {
  size_t mask = 4 * (size_t)t->capacity - 1;
  uint64_t hash = spec.bits * UINT64_C(0x9e3779b97f4a7c15);
  size_t at = (size_t)(hash >> 40) & mask;
  while (t->slots[at] && !tp_spec_equal(t->specs[t->slots[at] - 1], spec))
    at = (at + 1) & mask;
  return at;
}

/* Doubles the capacity. False if there is no room. */
static bool grow(tp__reshard_tables *all, table *t) {
  size_t old = (size_t)t->capacity, capacity = old ? 2 * old : FIRST_LAYOUTS,
         entries = capacity * capacity;
  if (capacity > MAX_LAYOUTS || all->n_entries + entries > MAX_ENTRIES)
    return false;
  table more = {.n = t->n, .capacity = (int)capacity};
  more.specs = tp__arena_array(&all->arena, capacity, sizeof *more.specs);
  more.slots = tp__arena_array(&all->arena, 4 * capacity, sizeof *more.slots);
  more.costs = tp__arena_array(&all->arena, entries, sizeof *more.costs);
  if (!more.specs || !more.slots || !more.costs)
    return false;
  memset(more.costs, 0xff, entries * sizeof *more.costs); /* UNKNOWN */
  for (int i = 0; i < t->n; i++) {
    more.specs[i] = t->specs[i];
    more.slots[slot_of(&more, t->specs[i])] = i + 1;
    memcpy(more.costs + (size_t)i * capacity, t->costs + (size_t)i * old, old * sizeof *t->costs);
  }
  all->n_entries += entries;
  *t = more;
  return true;
}

/* The number of a layout, a new one if need be; -1 if there is no room. */
static int number_of(tp__reshard_tables *all, table *t, tp_spec spec) {
  size_t at = t->capacity ? slot_of(t, spec) : 0;
  if (t->capacity && t->slots[at])
    return t->slots[at] - 1;
  if (t->n == t->capacity) {
    if (!grow(all, t))
      return -1;
    at = slot_of(t, spec);
  }
  t->specs[t->n] = spec;
  t->slots[at] = ++t->n;
  return t->n - 1;
}

static table *find_table(tp__reshard_tables *all, const tp_reshard_targets *targets) {
  int64_t key[TP_MAX_RANK + 1] = {targets->element_size};
  if (targets->rank < 0 || targets->rank > TP_MAX_RANK)
    return NULL;
  for (int d = 0; d < targets->rank; d++)
    key[1 + d] = targets->shape[d];
  void **slot = tp__memo(&all->tables, &all->arena, key, 1 + (size_t)targets->rank);
  if (slot && !*slot)
    *slot = tp__arena_alloc(&all->arena, sizeof(table));
  return slot ? *slot : NULL;
}

void tp__reshard_tables_clear(tp__reshard_tables *all) {
  tp__memo_destroy(&all->tables);
  tp__arena_destroy(&all->arena);
  *all = (tp__reshard_tables){0};
}

/* Numbers the targets in the table. */
static void number_targets(tp__reshard_tables *all, tp_reshard_targets *t) {
  t->is_numbered = true;
  t->table = find_table(all, t);
  for (int k = 0; t->table && k < t->n; k++)
    t->number[k] = number_of(all, t->table, t->to[k]);
}

void tp_reshard_costs(tp_reshard_cache *cache, tp_reshard_targets *t, tp_spec from,
                      tp_cost *costs) {
  tp__reshard_tables *all = tp__reshard_tables_of(cache);
  if (!t->is_numbered)
    number_targets(all, t);
  int row = t->table ? number_of(all, t->table, from) : -1;
  tp_cost *known = row >= 0 ? t->table->costs + (size_t)row * (size_t)t->table->capacity : NULL;
  for (int k = 0; k < t->n; k++) {
    tp_cost *entry = known && t->number[k] >= 0 ? &known[t->number[k]] : NULL;
    costs[k] = entry && *entry != UNKNOWN
                   ? *entry
                   : tp_reshard_cost(cache, from, t->to[k], t->rank, t->shape, t->element_size);
    if (entry)
      *entry = costs[k];
  }
}
