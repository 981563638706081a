/* A lower bound of the bytes of a path: the cheapest path among numbers of shards.
 *
 * What a move sends depends only on the numbers of shards of each dimension before and after it,
 * not on the axes that make them. So the numbers form a graph of their own, which has a node for
 * many layouts, and in which a permute leads nowhere. Its shortest paths bound those of the
 * layouts. (Rink et al., "Memory-efficient array redistribution through portable collective
 * communication", 2021, search this graph, and add one permute where the path needs it.) */
#include "sharding/layout_fewest.h"

#include <string.h>

/* Beyond this many nodes there is no bound but 0. */
enum { MAX_COUNTS = 1500 };

typedef struct node {
  tp__counts counts;
  int64_t devices; /* product of the counts */
  int64_t elements;
  int64_t bound; /* TP_COST_FORBIDDEN: `to` cannot be reached */
  bool done;
} node;

struct tp__bounds {
  tp__fewest problem;
  int n_places;
  int n; /* 0: too many */
  node *nodes;
  uint16_t *slots; /* hash table: node + 1; 0: free */
  size_t n_slots;  /* a power of two */
};

/* Bounds while their number of nodes is not known. */
typedef struct scratch {
  node nodes[MAX_COUNTS];
  uint16_t slots[4096];
} scratch;

/* ---- counts ---- */

tp__counts tp__counts_of(const tp__fewest *p, tp_spec spec) {
  tp__counts c;
  for (int i = 0; i < TP__MAX_PLACES; i++)
    c.n[i] = 1;
  for (int a = 0; a < p->mesh.n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    int place = byte & TP__PARTIAL_BIT ? p->n_dims : -1;
    for (int i = 0; i < p->n_dims && place < 0 && byte; i++)
      if (p->dims[i] == tp__byte_dim(byte))
        place = i;
    if (place >= 0)
      c.n[place] *= (int32_t)p->mesh.axes[a].size;
  }
  return c;
}

static int64_t local_size(const tp__fewest *p, const tp__counts *c, int place) {
  int64_t size = p->shape[p->dims[place]], n = c->n[place];
  return size / n + (size % n != 0);
}

static bool divides(const tp__fewest *p, const tp__counts *c, int place) {
  return p->shape[p->dims[place]] % c->n[place] == 0;
}

static int64_t other_elements(const tp__fewest *p) {
  int64_t elements = 1;
  unsigned split = 0;
  for (int i = 0; i < p->n_dims; i++)
    split |= 1u << p->dims[i];
  for (int d = 0; d < p->rank; d++)
    elements = tp__multiply(elements, split >> d & 1 ? 1 : p->shape[d]);
  return elements;
}

int64_t tp__counts_elements(const tp__fewest *p, const tp__counts *c) {
  int64_t elements = other_elements(p);
  for (int i = 0; i < p->n_dims; i++)
    elements = tp__multiply(elements, local_size(p, c, i));
  return elements;
}

int64_t tp__exchange_elements(const tp__fewest *p, const tp__counts *from, const tp__counts *to,
                              bool *several) {
  int64_t lost = 1, won = 1, elements = other_elements(p);
  int n_lost = 0, n_won = 0;
  bool even = true;
  for (int i = 0; i < p->n_dims; i++) {
    int32_t before = from->n[i], after = to->n[i];
    const tp__counts *larger = after > before ? to : from;
    /* a dimension that is joined has its own size before, a split one the sum of its pieces */
    elements = tp__multiply(elements, local_size(p, larger, i));
    if (before == after)
      continue;
    even &= divides(p, from, i) && divides(p, to, i);
    if (before % after == 0 && ++n_lost)
      lost *= before / after;
    else if (after % before == 0 && ++n_won)
      won *= after / before;
    else
      return -1;
  }
  *several = n_lost > 1 || n_won > 1;
  if (lost != won || n_lost == 0 || (n_lost > 1 && n_won > 1) || (*several && !even) ||
      (p->partial && from->n[p->n_dims] != to->n[p->n_dims]))
    return -1;
  return tp__multiply(lost - 1, elements);
}

/* ---- nodes ---- */

static uint16_t *find_slot(tp__bounds *b, const tp__counts *c) {
  uint64_t hash = 0;
  for (int i = 0; i < b->n_places; i++)
    hash = (hash ^ (uint64_t)c->n[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
  for (size_t at = hash >> 40;; at++) {
    uint16_t *slot = &b->slots[at & (b->n_slots - 1)];
    if (*slot == 0 || memcmp(&b->nodes[*slot - 1].counts, c, sizeof *c) == 0)
      return slot;
  }
}

static node *find_node(const tp__bounds *b, const tp__counts *c) {
  uint16_t slot = *find_slot((tp__bounds *)b, c);
  return slot ? (node *)&b->nodes[slot - 1] : NULL;
}

/* Adds the counts of all ways to give the axes from `axis` on to places. Equal axes go to places in
 * order, since which of them does not matter. False if there are too many. */
static bool add_nodes(tp__bounds *b, int axis, int64_t last_size, int first, tp__counts c) {
  const tp_mesh *mesh = &b->problem.mesh;
  if (axis == mesh->n_axes) {
    uint16_t *slot = find_slot(b, &c);
    if (*slot)
      return true;
    if (b->n == MAX_COUNTS)
      return false;
    node *made = &b->nodes[b->n++];
    *slot = (uint16_t)b->n;
    *made = (node){.counts = c,
                   .devices = 1,
                   .elements = tp__counts_elements(&b->problem, &c),
                   .bound = TP_COST_FORBIDDEN};
    for (int i = 0; i < b->n_places; i++)
      made->devices *= c.n[i];
    return true;
  }
  int64_t size = mesh->axes[axis].size;
  for (int i = size == last_size ? first : 0; i <= b->n_places; i++) {
    tp__counts with = c;
    if (i < b->n_places)
      with.n[i] *= (int32_t)size;
    if (!add_nodes(b, axis + 1, size, i, with))
      return false;
  }
  return true;
}

/* ---- distances to the goal ---- */

static void improve(tp__bounds *b, const tp__counts *before, const node *at, int64_t cost) {
  node *other = find_node(b, before);
  if (other && tp_cost_add(at->bound, cost) < other->bound)
    other->bound = tp_cost_add(at->bound, cost);
}

/* The moves to this node that change the count of place i by the factor k. */
static void improve_place(tp__bounds *b, const node *at, int i, int32_t k) {
  const tp__fewest *p = &b->problem;
  bool is_partial = i == p->n_dims;
  tp__counts fewer = at->counts, more = at->counts;
  more.n[i] *= k;
  if (is_partial) { /* all_reduce */
    const node *source = find_node(b, &more);
    if (source)
      improve(
          b, &more, at,
          tp__multiply(2 * (int64_t)(k - 1), source->elements / k + (source->elements % k != 0)));
  } else { /* all_gather */
    const node *source = find_node(b, &more);
    if (source)
      improve(b, &more, at, tp__multiply(k - 1, source->elements));
  }
  if (at->counts.n[i] % k != 0)
    return;
  fewer.n[i] /= k;
  if (!is_partial || p->may_mask)
    improve(b, &fewer, at, 0); /* slice, mask */
  if (is_partial || !p->partial)
    return;
  fewer.n[p->n_dims] *= k;
  improve(b, &fewer, at, tp__multiply(k - 1, at->elements)); /* reduce_scatter */
}

static void improve_exchanges(tp__bounds *b, const node *at) {
  bool several;
  for (int i = 0; i < b->n; i++) {
    const node *other = &b->nodes[i];
    if (other->done || other->devices != at->devices)
      continue;
    int64_t cost = tp__exchange_elements(&b->problem, &other->counts, &at->counts, &several);
    if (cost >= 0)
      improve(b, &other->counts, at, cost);
  }
}

static void settle(tp__bounds *b) {
  const tp_mesh *mesh = &b->problem.mesh;
  for (;;) {
    node *at = NULL;
    for (int i = 0; i < b->n; i++)
      if (!b->nodes[i].done && (!at || b->nodes[i].bound < at->bound))
        at = &b->nodes[i];
    if (!at || at->bound >= TP_COST_FORBIDDEN)
      return;
    at->done = true;
    /* an all_reduce may remove several axes at once; the other moves take one axis at a time */
    for (unsigned set = 1; set < 1u << mesh->n_axes; set++) {
      int64_t k = tp__axes_size(mesh, set);
      bool is_axis = (set & (set - 1)) == 0;
      for (int i = is_axis ? 0 : b->problem.n_dims; i < b->n_places && k > 1; i++)
        improve_place(b, at, i, (int32_t)k);
    }
    improve_exchanges(b, at);
  }
}

/* Copies nodes and slots into the arena, with the space that they need. */
static bool settle_down(tp__bounds *b, tp__arena *arena) {
  const node *nodes = b->nodes;
  size_t n_slots = 16;
  while (n_slots < 2 * (size_t)b->n)
    n_slots *= 2;
  b->nodes = tp__arena_array(arena, (size_t)b->n, sizeof *nodes);
  b->slots = tp__arena_array(arena, n_slots, sizeof *b->slots);
  b->n_slots = n_slots;
  if (!b->nodes || !b->slots)
    return false;
  for (int i = 0; i < b->n; i++) {
    uint16_t *slot = find_slot(b, &nodes[i].counts);
    b->nodes[i] = nodes[i];
    *slot = (uint16_t)(i + 1);
  }
  return true;
}

static bool fill(tp__bounds *b, tp__arena *arena) {
  tp__counts none, goal = tp__counts_of(&b->problem, b->problem.to);
  for (int i = 0; i < TP__MAX_PLACES; i++)
    none.n[i] = 1;
  if (!add_nodes(b, 0, 0, 0, none)) {
    b->n = 0;
    return true;
  }
  if (!settle_down(b, arena))
    return false;
  find_node(b, &goal)->bound = 0;
  settle(b);
  return true;
}

tp__bounds *tp__bounds_create(const tp__fewest *problem, tp__arena *arena) {
  tp__bounds *b = tp__arena_alloc(arena, sizeof *b);
  scratch *s = b ? tp__calloc(1, sizeof *s) : NULL;
  if (!s)
    return NULL;
  *b = (tp__bounds){.problem = *problem,
                    .n_places = problem->n_dims + problem->partial,
                    .nodes = s->nodes,
                    .slots = s->slots,
                    .n_slots = TP__COUNT(s->slots)};
  bool filled = fill(b, arena);
  tp__free(s);
  return filled ? b : NULL;
}

int64_t tp__bound(const tp__bounds *b, const tp__counts *from) {
  const node *at = b->n ? find_node(b, from) : NULL;
  return at ? at->bound : 0;
}
