/* Uniform-cost search over layouts (Dijkstra 1959), one for every way to cut the axes. */
#include "fewest.h"

#include <stdlib.h>
#include <string.h>

/* A layout as a word of four bits per axis and place in the order: lists[d] has the axes of
 * dimension d from major (low bits) to minor, each + 1. */
typedef struct state {
  uint32_t lists[FEWEST_RANK];
  uint8_t partial; /* set of axes */
} state;

typedef struct entry {
  state at;
  int64_t sent;
  bool done;
  bool permuted; /* the moves of an earlier layout with equal shards include its permutes */
} entry;

typedef struct world {
  int n_axes, rank;
  int64_t sizes[FEWEST_AXES], shape[FEWEST_RANK];
  state goal;
  bool with_partial;
  int64_t limit; /* of elements: what is known to be enough */
  entry *entries;
  int64_t n, most;
  int32_t *table; /* entry + 1 */
  int64_t n_table;
  int64_t *heap; /* pairs of elements and entry */
  int64_t n_heap, heap_room;
  bool full;
} world;

/* ---- states ---- */

static int length(uint32_t list) {
  int n = 0;
  for (; list; list >>= 4)
    n++;
  return n;
}

static int axis_at(uint32_t list, int i) { return (int)(list >> (4 * i) & 15) - 1; }

static uint32_t put(uint32_t list, int axis) {
  return list | (uint32_t)(axis + 1) << (4 * length(list));
}

static uint32_t first_of(uint32_t list, int n) {
  return n == 8 ? list : list & ((1u << 4 * n) - 1);
}

static unsigned axes_in(const world *w, const state *s) {
  unsigned set = s->partial;
  for (int d = 0; d < w->rank; d++)
    for (uint32_t list = s->lists[d]; list; list >>= 4)
      set |= 1u << ((list & 15) - 1);
  return set;
}

static int64_t shards(const world *w, uint32_t list) {
  int64_t n = 1;
  for (; list; list >>= 4)
    n *= w->sizes[(list & 15) - 1];
  return n;
}

static int64_t buffer(const world *w, const state *s, int d) {
  int64_t n = shards(w, s->lists[d]);
  return (w->shape[d] + n - 1) / n;
}

static int64_t elements(const world *w, const state *s) {
  int64_t n = 1;
  for (int d = 0; d < w->rank; d++)
    n *= buffer(w, s, d);
  return n;
}

static bool even(const world *w, const state *s, int d) {
  return w->shape[d] % shards(w, s->lists[d]) == 0;
}

/* ---- queue and table ---- */

static void heap_push(world *w, int64_t sent, int64_t number) {
  if (2 * (w->n_heap + 1) > w->heap_room) {
    w->heap_room = 4 * (w->n_heap + 64);
    w->heap = realloc(w->heap, (size_t)w->heap_room * sizeof *w->heap);
    if (!w->heap)
      abort();
  }
  int64_t at = w->n_heap++;
  while (at > 0 && w->heap[(at - 1) / 2 * 2] > sent) {
    memcpy(&w->heap[2 * at], &w->heap[(at - 1) / 2 * 2], 2 * sizeof *w->heap);
    at = (at - 1) / 2;
  }
  w->heap[2 * at] = sent;
  w->heap[2 * at + 1] = number;
}

static int64_t heap_pop(world *w, int64_t *sent) {
  int64_t number = w->heap[1], last[2], at = 0;
  *sent = w->heap[0];
  w->n_heap--;
  memcpy(last, &w->heap[2 * w->n_heap], sizeof last);
  for (int64_t child; (child = 2 * at + 1) < w->n_heap; at = child) {
    if (child + 1 < w->n_heap && w->heap[2 * child + 2] < w->heap[2 * child])
      child++;
    if (w->heap[2 * child] >= last[0])
      break;
    memcpy(&w->heap[2 * at], &w->heap[2 * child], 2 * sizeof *w->heap);
  }
  memcpy(&w->heap[2 * at], last, sizeof last);
  return number;
}

static bool same_state(const state *a, const state *b) {
  return memcmp(a->lists, b->lists, sizeof a->lists) == 0 && a->partial == b->partial;
}

/* Records a way to a layout. Returns its entry; NULL if the way is too long. */
static entry *meet(world *w, const state *s, int64_t sent) {
  uint64_t hash = s->partial;
  if (sent >= w->limit || w->full)
    return NULL;
  for (int d = 0; d < FEWEST_RANK; d++)
    hash = (hash * 1000003) ^ s->lists[d];
  hash ^= hash >> 17;
  int64_t at = (int64_t)(hash % (uint64_t)w->n_table);
  while (w->table[at] && !same_state(&w->entries[w->table[at] - 1].at, s))
    at = (at + 1) % w->n_table;
  if (!w->table[at] && w->n == w->most) {
    w->full = true;
    return NULL;
  }
  if (!w->table[at]) {
    w->entries[w->n] = (entry){*s, INT64_MAX, false, false};
    w->table[at] = (int32_t)++w->n;
  }
  entry *e = &w->entries[w->table[at] - 1];
  if (sent < e->sent) {
    e->sent = sent;
    heap_push(w, sent, w->table[at] - 1);
  }
  return e;
}

/* ---- moves ---- */

static void local_moves(world *w, const state *s, int64_t sent) {
  unsigned used = axes_in(w, s);
  for (int a = 0; a < w->n_axes; a++) {
    state to = *s;
    if (used >> a & 1)
      continue;
    to.partial |= (uint8_t)(1u << a);
    if (w->with_partial)
      meet(w, &to, sent);
    for (int d = 0; d < w->rank; d++) {
      to = *s;
      to.lists[d] = put(to.lists[d], a);
      meet(w, &to, sent);
    }
  }
}

static void gathers(world *w, const state *s, int64_t sent) {
  for (int d = 0; d < w->rank; d++) {
    int n = length(s->lists[d]);
    state to = *s;
    if (n == 0)
      continue;
    to.lists[d] = first_of(s->lists[d], n - 1);
    meet(w, &to, sent + (w->sizes[axis_at(s->lists[d], n - 1)] - 1) * elements(w, s));
  }
}

static void reductions(world *w, const state *s, int64_t sent) {
  for (unsigned set = s->partial; set; set = (set - 1) & s->partial) {
    int64_t n = 1, local = elements(w, s);
    state to = *s;
    to.partial &= (uint8_t)~set;
    for (int a = 0; a < w->n_axes; a++)
      n *= set >> a & 1 ? w->sizes[a] : 1;
    meet(w, &to, sent + 2 * (n - 1) * ((local + n - 1) / n));
    for (int a = 0; a < w->n_axes; a++)
      for (int d = 0; d < w->rank && set == 1u << a; d++) {
        to.lists[d] = put(s->lists[d], a);
        meet(w, &to, sent + (n - 1) * elements(w, &to));
        to.lists[d] = s->lists[d];
      }
  }
}

/* An all_to_all in the making: `taken` from dimensions, `to` receives. */
typedef struct exchange {
  const state *from;
  int64_t sent, n;
  unsigned losers, winners;
  uint32_t taken[FEWEST_RANK];
} exchange;

static int count(unsigned set) {
  int n = 0;
  for (; set; set &= set - 1)
    n++;
  return n;
}

static void finish(world *w, const exchange *x, const state *to) {
  bool several = count(x->losers | x->winners) > 2;
  int64_t piece = 1; /* for each of the n devices: what is sent to it, padded */
  for (int d = 0; d < w->rank; d++) {
    bool changes = (x->losers | x->winners) >> d & 1;
    if (several && changes && (!even(w, x->from, d) || !even(w, to, d)))
      return;
    piece *= x->winners >> d & 1 ? buffer(w, to, d) : buffer(w, x->from, d);
  }
  meet(w, to, x->sent + (x->n - 1) * piece);
}

/* Gives the taken axes, in any interleaving of their lists, to dimensions that lost none. */
static void give(world *w, exchange *x, const state *to) {
  bool left = false;
  for (int d = 0; d < w->rank; d++) {
    uint32_t list = x->taken[d];
    if (!list)
      continue;
    left = true;
    x->taken[d] = list >> 4;
    for (int e = 0; e < w->rank; e++) {
      state with = *to;
      unsigned winners = x->winners;
      if (x->losers >> e & 1 || (count(x->losers) > 1 && winners && winners != 1u << e))
        continue;
      with.lists[e] = put(with.lists[e], axis_at(list, 0));
      x->winners |= 1u << e;
      give(w, x, &with);
      x->winners = winners;
    }
    x->taken[d] = list;
  }
  if (!left && x->losers)
    finish(w, x, to);
}

/* Enumerates the ways to remove some minor axes from dimension d and from each later dimension. */
static void take(world *w, exchange *x, int d, const state *to) {
  if (d >= w->rank || d >= FEWEST_RANK) {
    give(w, x, to);
    return;
  }
  int n = length(to->lists[d]);
  take(w, x, d + 1, to);
  for (int keep = n - 1; keep >= 0; keep--) {
    exchange more = *x;
    state rest = *to;
    rest.lists[d] = first_of(to->lists[d], keep);
    more.taken[d] = to->lists[d] >> (4 * keep);
    more.n *= shards(w, more.taken[d]);
    more.losers |= 1u << d;
    take(w, &more, d + 1, &rest);
  }
}

/* Layouts with the same shards as `s`, built dimension by dimension. */
static void permutes(world *w, const state *s, int64_t sent, int d, uint32_t list, state *to,
                     unsigned used) {
  int64_t want = d < w->rank ? shards(w, s->lists[d]) : 1, have = shards(w, list);
  if (d == w->rank) {
    int64_t parts = 1;
    for (int a = 0; a < w->n_axes; a++)
      parts *= s->partial >> a & 1 ? w->sizes[a] : 1;
    for (unsigned set = 0; set < 1u << w->n_axes; set++) {
      int64_t n = 1;
      for (int a = 0; a < w->n_axes; a++)
        n *= set >> a & 1 ? w->sizes[a] : 1;
      to->partial = (uint8_t)set;
      entry *e = n == parts && !(set & used) ? meet(w, to, sent) : NULL;
      if (e)
        e->permuted = true;
    }
    return;
  }
  if (have == want) {
    bool equal = length(list) == length(s->lists[d]);
    for (int i = 0; i < length(list) && equal; i++)
      equal = w->sizes[axis_at(list, i)] == w->sizes[axis_at(s->lists[d], i)];
    to->lists[d] = list;
    if (equal || even(w, s, d)) /* uneven shards are equal if axes of equal sizes make them */
      permutes(w, s, sent, d + 1, 0, to, used);
    return;
  }
  for (int a = 0; a < w->n_axes; a++)
    if (!(used >> a & 1) && want / have % w->sizes[a] == 0)
      permutes(w, s, sent, d, put(list, a), to, used | 1u << a);
}

/* ---- search ---- */

/* Returns the elements that a device has to send, if they are less than the limit. */
static int64_t search(world *w, const state *from) {
  w->n_table = 2 * w->most + 1;
  w->entries = malloc((size_t)w->most * sizeof *w->entries);
  w->table = calloc((size_t)w->n_table, sizeof *w->table);
  if (!w->entries || !w->table)
    abort();
  int64_t found = w->limit;
  meet(w, from, 0);
  while (w->n_heap > 0 && !w->full) {
    int64_t sent, number = heap_pop(w, &sent);
    state s = w->entries[number].at, to = {{0}, 0};
    exchange x = {.from = &s, .sent = sent, .n = 1};
    if (w->entries[number].done)
      continue;
    w->entries[number].done = true;
    if (same_state(&s, &w->goal)) {
      found = sent;
      break;
    }
    local_moves(w, &s, sent);
    gathers(w, &s, sent);
    reductions(w, &s, sent);
    take(w, &x, 0, &s);
    if (!w->entries[number].permuted)
      permutes(w, &s, sent + elements(w, &s), 0, 0, &to, 0);
  }
  free(w->heap);
  free(w->table);
  free(w->entries);
  return found;
}

/* ---- cuts ---- */

static bool splits_unevenly(const fewest_problem *p, const fewest_layout *l, int axis) {
  int64_t n[FEWEST_RANK] = {1, 1, 1, 1};
  for (int i = 0; i < l->n; i++)
    if (l->place[i] >= 0)
      n[l->place[i]] *= p->sizes[l->axis[i]];
  for (int i = 0; i < l->n; i++)
    if (l->axis[i] == axis && l->place[i] >= 0)
      return p->shape[l->place[i]] % n[l->place[i]] != 0;
  return false;
}

typedef struct cutting {
  const fewest_problem *p;
  int n;                          /* parts */
  int64_t sizes[4 * FEWEST_AXES]; /* of the parts */
  int first[FEWEST_AXES + 1];     /* part of each axis */
  int64_t fewest;                 /* elements */
  bool failed;
} cutting;

static state state_of(const cutting *c, const fewest_layout *l) {
  state s = {{0}, 0};
  for (int i = 0; i < l->n; i++)
    for (int k = c->first[l->axis[i]]; k < c->first[l->axis[i] + 1]; k++) {
      if (l->place[i] >= 0)
        s.lists[l->place[i]] = put(s.lists[l->place[i]], k);
      else
        s.partial |= (uint8_t)(1u << k);
    }
  return s;
}

static void search_cut(cutting *c) {
  world w = {.n_axes = c->n, .rank = c->p->rank, .limit = c->fewest, .most = c->p->max_layouts};
  memcpy(w.sizes, c->sizes, sizeof w.sizes);
  memcpy(w.shape, c->p->shape, sizeof w.shape);
  w.goal = state_of(c, &c->p->to);
  state from = state_of(c, &c->p->from);
  w.with_partial = w.goal.partial || from.partial;
  c->fewest = search(&w, &from);
  c->failed |= w.full;
}

/* Cuts the rest of an axis in every order of its primes, then the axes behind it. */
static void cut(cutting *c, int axis, int64_t rest) {
  if (axis == c->p->n_axes) {
    search_cut(c);
    return;
  }
  if (rest == 1) {
    c->first[axis + 1] = c->n;
    cut(c, axis + 1, axis + 1 < c->p->n_axes ? c->p->sizes[axis + 1] : 1);
    return;
  }
  bool whole = splits_unevenly(c->p, &c->p->from, axis) || splits_unevenly(c->p, &c->p->to, axis);
  for (int64_t part = 2; part <= rest && !c->failed; part++) {
    bool is_prime = true;
    for (int64_t k = 2; k < part; k++)
      is_prime &= part % k != 0;
    if (rest % part != 0 || (whole ? part != rest : !is_prime))
      continue;
    if (c->n == FEWEST_AXES) {
      c->failed = true;
      return;
    }
    c->sizes[c->n++] = part;
    cut(c, axis, rest / part);
    c->n--;
  }
}

int64_t fewest_bytes(const fewest_problem *problem) {
  cutting c = {.p = problem, .fewest = INT64_MAX / problem->element_size};
  cut(&c, 0, problem->sizes[0]);
  return c.failed ? -1 : c.fewest * problem->element_size;
}
