/* Bounds the number of strategies of a decision.
 *
 * The number of strategies is exponential in the number of mesh axes: an op with seven factors has
 * 4096 on four axes, and the table between two such ops has the product. The strategies with the
 * least work per device and the layouts requested by most ops are kept. Dropped ones are counted
 * and reported: cost and bound hold for the kept strategies only. */
#include "passes/propagate/model/planner.h"

#include <stdlib.h>
#include <string.h>

typedef struct rank {
  tp_cost cost;
  int index;
} rank;

static int by_cost(const void *x, const void *y) {
  const rank *a = x, *b = y;
  return a->cost != b->cost ? (a->cost < b->cost ? -1 : 1)
                            : (a->index > b->index) - (a->index < b->index);
}

static int by_index(const void *x, const void *y) {
  const rank *a = x, *b = y;
  return (a->index > b->index) - (a->index < b->index);
}

tp_status tp__select_cheapest(tp__arena *arena, const tp_cost *costs, int n, int max, int **kept) {
  rank *ranks = tp__arena_array(arena, (size_t)n, sizeof *ranks);
  int *list = tp__arena_array(arena, (size_t)max, sizeof *list);
  if (!ranks || !list)
    return TP_NO_MEMORY;
  for (int i = 0; i < n; i++)
    ranks[i] = (rank){costs[i], i};
  qsort(ranks + 1, (size_t)n - 1, sizeof *ranks, by_cost);
  qsort(ranks + 1, (size_t)max - 1, sizeof *ranks, by_index);
  for (int i = 0; i < max; i++)
    list[i] = ranks[i].index;
  *kept = list;
  return TP_OK;
}

/* ---- sets of layouts ---- */

enum { N_SLOTS = 2 * TP_MAX_FOUND };
_Static_assert((N_SLOTS & (N_SLOTS - 1)) == 0, "slots are found by a mask");

struct tp_layout_set {
  int n;
  tp_spec specs[TP_MAX_FOUND];
  tp_cost rarity[TP_MAX_FOUND]; /* minus the number of times it was added */
  uint16_t slots[N_SLOTS];      /* number of a layout + 1, 0: free */
  /* slot of each layout: most sets are small, and only used slots are cleared */
  uint16_t taken[TP_MAX_FOUND];
};
_Static_assert((int)TP_MAX_FOUND < UINT16_MAX && (int)N_SLOTS - 1 <= UINT16_MAX,
               "numbers fit the slots, and theirs fit too");

tp_layout_set *tp__layout_set_empty(tp_planner *p) {
  tp_layout_set *set = p->set_scratch;
  if (!set && !(set = p->set_scratch = tp__arena_alloc(p->problem.arena, sizeof *set)))
    return NULL;
  while (set->n > 0)
    set->slots[set->taken[--set->n]] = 0;
  return set;
}

void tp__layout_set_add(tp_layout_set *set, tp_spec spec) {
  size_t at = (spec.bits * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (N_SLOTS - 1);
  while (set->slots[at] && !tp_spec_equal(set->specs[set->slots[at] - 1], spec))
    at = (at + 1) & (N_SLOTS - 1);
  if (!set->slots[at] && set->n == TP_MAX_FOUND)
    return;
  if (!set->slots[at]) {
    set->specs[set->n] = spec;
    set->taken[set->n] = (uint16_t)at;
    set->rarity[set->n++] = 0;
    set->slots[at] = (uint16_t)set->n;
  }
  set->rarity[set->slots[at] - 1]--;
}

tp_status tp__layout_set_list(tp_planner *p, const tp_layout_set *set, const tp_spec **specs,
                              int *n, int *left_out) {
  int *kept;
  *specs = set->specs;
  *n = set->n;
  *left_out = 0;
  if (set->n <= TP_MAX_STRATEGIES)
    return TP_OK;
  tp_spec *list = tp__arena_array(p->problem.arena, TP_MAX_STRATEGIES, sizeof *list);
  if (!list ||
      tp__select_cheapest(p->problem.arena, set->rarity, set->n, TP_MAX_STRATEGIES, &kept) != TP_OK)
    return TP_NO_MEMORY;
  for (int i = 0; i < TP_MAX_STRATEGIES; i++)
    list[i] = set->specs[kept[i]];
  *specs = list;
  *n = TP_MAX_STRATEGIES;
  *left_out = set->n - TP_MAX_STRATEGIES;
  return TP_OK;
}
