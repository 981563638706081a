/* The distances between all layouts of a field that are asked for: shortest paths from many
 * layouts, a group at a time. Where symmetries map one layout to another, one search serves
 * both. */
#include "sharding/layout_field.h"
#include "support/vectors.h"

#include <string.h>

/* The number of layouts from which paths are searched at the same time. Their distances to a layout
 * lie side by side and fill a cache line, so that a move is read once for all of them. */
enum { GROUP = 16 };

/* Distances stay below this, so that the sum of two, or of one and a cost of as much, is exact. */
#define MAX_DISTANCE (TP_FIELD_FAR >> 1)

typedef struct group {
  uint32_t costs[GROUP];
} group;

/* Visits the layouts in the order of their numbers or in reverse, and looks for a shorter path to
 * each over one of the layouts before it. Skips layouts for which nothing has changed. Returns true
 * if some distance became shorter. */
VECTORS static bool relax(const tp_reshard_field *f, const uint32_t *cost, bool up, group *groups,
                          bool *is_next) {
  bool is_changed = false;
  for (int i = 0; i < f->n_states; i++) {
    int s = up ? i : f->n_states - 1 - i;
    if (!is_next[s])
      continue;
    group least = groups[s];
    for (uint32_t k = f->into.first[s]; k < f->into.first[s + 1]; k++) {
      const uint32_t *other = groups[f->into.other[k]].costs;
      for (int g = 0; g < GROUP; g++) {
        uint32_t with = other[g] + cost[k];
        least.costs[g] = with < least.costs[g] ? with : least.costs[g];
      }
    }
    uint32_t change = 0;
    for (int g = 0; g < GROUP; g++)
      change |= least.costs[g] ^ groups[s].costs[g];
    groups[s] = least;
    is_next[s] = false;
    for (uint32_t k = f->out.first[s]; change && k < f->out.first[s + 1]; k++)
      is_next[f->out.other[k]] = true;
    is_changed |= change != 0;
  }
  return is_changed;
}

/* Returns a cost that no distance exceeds: that of the longest path to layout 0 plus that of the
 * longest one from there. TP_COST_FORBIDDEN if some layout cannot be reached. `costs`: scratch. */
static tp_cost bound_distances(tp_reshard_field *f, tp_cost *costs) {
  tp_cost sum = 0;
  for (int backward = 0; backward < 2; backward++) {
    tp_cost most = 0;
    for (int i = 0; i < f->n_states; i++)
      costs[i] = i == 0 ? 0 : TP_COST_FORBIDDEN;
    tp_reshard_field_spread(f, backward, costs);
    for (int i = 0; i < f->n_states; i++)
      most = costs[i] > most ? costs[i] : most;
    sum = tp_cost_add(sum, most);
  }
  return sum;
}

/* Computes the distances from the layouts of one group. */
static void find_group(const tp_reshard_field *f, const uint32_t *cost, int n, const int *sources,
                       group *groups, bool *is_next) {
  for (int s = 0; s < f->n_states; s++)
    for (int g = 0; g < GROUP; g++)
      groups[s].costs[g] = TP_FIELD_FAR;
  for (int g = 0; g < n; g++)
    groups[sources[g]].costs[g] = 0;
  memset(is_next, true, (size_t)f->n_states * sizeof *is_next);
  bool up = false;
  while (relax(f, cost, up, groups, is_next))
    up = !up;
}

static uint32_t *round_moves(const tp_reshard_field *f, int shift) {
  uint32_t n = f->into.first[f->n_states];
  uint32_t *costs = tp__calloc((size_t)n + 1, sizeof *costs);
  for (uint32_t k = 0; costs && k < n; k++) {
    tp_cost cost = f->into.cost[k] >> shift;
    costs[k] = (uint32_t)(cost < MAX_DISTANCE ? cost : MAX_DISTANCE);
  }
  return costs;
}

/* The table that is filled. Its rows are listed by place: states[place] is the layout. */
typedef struct table {
  const tp_reshard_field *f;
  int n;
  const int *states;
  int32_t *place; /* by layout; -1: none */
  bool *has_row;  /* by place: its row is filled, or will be with those of its group */
  tp__field_symmetries symmetries;
  /* by symmetry and place: the layout whose image has this place; -1: none */
  int32_t *origins;
  group *groups;
  uint32_t *distances;
} table;

static tp_status open_table(table *t) {
  size_t n = (size_t)t->n, n_states = (size_t)t->f->n_states;
  TP_TRY(tp__field_symmetries_find(t->f, &t->symmetries));
  t->place = tp__calloc(n_states + 1, sizeof *t->place);
  t->has_row = tp__calloc(n + 1, sizeof *t->has_row);
  t->origins = tp__calloc((size_t)t->symmetries.n * n + 1, sizeof *t->origins);
  t->groups = tp__calloc(n_states + 1, sizeof *t->groups);
  if (!t->place || !t->has_row || !t->origins || !t->groups)
    return TP_NO_MEMORY;
  for (size_t s = 0; s < n_states; s++)
    t->place[s] = -1;
  for (int i = 0; i < t->n; i++)
    t->place[t->states[i]] = i;
  for (int y = 0; y < t->symmetries.n; y++)
    for (size_t s = 0; s < n_states; s++) {
      int at = t->place[t->symmetries.images[y][s]];
      if (at >= 0)
        t->origins[(size_t)y * n + (size_t)at] = (int32_t)s;
    }
  return TP_OK;
}

static void close_table(table *t) {
  tp__free(t->groups);
  tp__free(t->origins);
  tp__free(t->has_row);
  tp__free(t->place);
  tp__field_symmetries_clear(&t->symmetries);
}

/* Lists the next sources whose rows are not those of images of earlier ones. */
static int next_sources(table *t, int *at, int *sources) {
  int n = 0;
  for (; *at < t->n && n < GROUP; ++*at) {
    if (t->has_row[*at])
      continue;
    int source = sources[n++] = t->states[*at];
    for (int y = 0; y < t->symmetries.n; y++) {
      int image = t->place[t->symmetries.images[y][source]];
      if (image >= 0)
        t->has_row[image] = true;
    }
  }
  return n;
}

/* Fills the rows of all images of a source, whose distances are those of number g of the group. */
static void fill_rows(const table *t, int source, int g) {
  size_t n = (size_t)t->n;
  for (int y = 0; y < t->symmetries.n; y++) {
    int at = t->place[t->symmetries.images[y][source]];
    for (size_t k = 0; at >= 0 && k < n; k++)
      t->distances[(size_t)at * n + k] = t->groups[t->origins[(size_t)y * n + k]].costs[g];
  }
}

static tp_status find_distances(table *t, int shift) {
  uint32_t *costs = round_moves(t->f, shift);
  bool *is_next = tp__calloc((size_t)t->f->n_states + 1, sizeof *is_next);
  tp_status status = costs && is_next ? open_table(t) : TP_NO_MEMORY;
  int sources[GROUP], count = 0, at = 0;
  while (status == TP_OK && (count = next_sources(t, &at, sources)) > 0) {
    find_group(t->f, costs, count, sources, t->groups, is_next);
    for (int g = 0; g < count; g++)
      fill_rows(t, sources[g], g);
  }
  close_table(t);
  tp__free(is_next);
  tp__free(costs);
  return status;
}

tp_status tp_reshard_field_distances(tp_reshard_field *f, int n, const int *states, int *shift,
                                     uint32_t *distances) {
  tp_cost *costs = tp__calloc((size_t)f->n_states + 1, sizeof *costs);
  if (!costs)
    return TP_NO_MEMORY;
  tp_cost most = bound_distances(f, costs);
  tp__free(costs);
  if (most >= TP_COST_FORBIDDEN)
    return TP_UNSUPPORTED;
  *shift = 0;
  while (most >> *shift >= MAX_DISTANCE)
    ++*shift;
  table t = {.f = f, .n = n, .states = states, .distances = distances};
  return find_distances(&t, *shift);
}
