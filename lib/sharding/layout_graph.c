/* The graph of all layouts of a view. Built once, and shared by all shapes that are searched in
 * it. */
#include "sharding/layout.h"

#include <stdlib.h>
#include <string.h>

/* Counts layouts by the number k of sharded axes. One more axis is replicated, partial, or takes
 * one of the n_dims + k positions in the ordered lists of axes. */
int64_t tp__layout_graph_count(int n_axes, int n_dims, bool partial) {
  int64_t with[TP_MAX_AXES + 1] = {1};
  int64_t unsharded = partial ? 2 : 1, sum = 0;
  for (int a = 0; a < n_axes; a++) {
    for (int k = a + 1; k > 0; k--)
      with[k] = with[k] * unsharded + with[k - 1] * (n_dims + k - 1);
    with[0] *= unsharded;
  }
  for (int k = 0; k <= n_axes; k++)
    sum += with[k];
  return sum;
}

/* ---- states ---- */

static uint32_t hash_bits(uint64_t bits) {
  bits *= UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((bits ^ bits >> 29) >> 16);
}

uint32_t tp__layout_graph_find(const tp__layout_graph *graph, tp_spec spec) {
  for (uint32_t at = hash_bits(spec.bits) & graph->slot_mask;; at = (at + 1) & graph->slot_mask) {
    uint32_t slot = graph->slots[at];
    if (slot == 0)
      return TP__NO_STATE;
    if (tp_spec_equal(graph->states[slot - 1], spec))
      return slot - 1;
  }
}

/* The layouts that are enumerated. A failure ends the enumeration. */
typedef struct listing {
  const tp_mesh *mesh;
  unsigned axes;
  int n_dims;
  bool partial;
  const tp__layout_filter *filter;
  tp_spec *states;
  size_t n, capacity;
} listing;

static tp_status add_state(listing *l, tp_spec spec) {
  void *states = l->states;
  if (l->filter && !l->filter->includes(l->filter->context, spec))
    return TP_OK;
  if (l->n == (size_t)(l->filter ? TP__MAX_CHOSEN_STATES : TP__MAX_STATES))
    return TP_UNSUPPORTED;
  TP_TRY(tp__grow(&states, &l->capacity, l->n + 1, sizeof *l->states));
  l->states = states;
  l->states[l->n++] = spec;
  return TP_OK;
}

/* Inserts `axis` as number `order` of the axes of `dim`, and moves later axes up. */
static tp_spec insert_axis(const tp_mesh *mesh, tp_spec spec, int axis, int dim, unsigned order) {
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    if (tp__byte_dim(byte) == dim && byte >> 4 >= order)
      tp__spec_set_byte(&spec, a, byte + 16);
  }
  tp__spec_set_byte(&spec, axis, order << 4 | (unsigned)(dim + 1));
  return spec;
}

/* Enumerates every layout of the axes from `axis` on, given those before. Each arrangement arises
 * exactly once, by inserting its axes one after the other. */
static tp_status enumerate(listing *l, int axis, tp_spec spec) {
  while (axis < l->mesh->n_axes && !(l->axes >> axis & 1))
    axis++;
  if (axis == l->mesh->n_axes)
    return add_state(l, spec);
  TP_TRY(enumerate(l, axis + 1, spec));
  for (int d = 0; d < l->n_dims; d++) {
    int axes[TP_MAX_AXES];
    int n = tp_spec_dim_axes(l->mesh, spec, d, axes);
    for (int order = 0; order <= n; order++)
      TP_TRY(enumerate(l, axis + 1, insert_axis(l->mesh, spec, axis, d, (unsigned)order)));
  }
  if (!l->partial)
    return TP_OK;
  tp__spec_set_byte(&spec, axis, TP__PARTIAL_BIT | TP_SUM);
  return enumerate(l, axis + 1, spec);
}

/* Numbers the layouts in the order in which they were enumerated. */
static tp_status create_states(tp__arena *arena, const listing *l, tp__layout_graph *graph) {
  uint32_t n_slots = 4;
  while (n_slots < 2 * (uint32_t)l->n)
    n_slots *= 2;
  graph->slot_mask = n_slots - 1;
  graph->slots = tp__arena_array(arena, n_slots, sizeof *graph->slots);
  graph->states = tp__arena_array(arena, l->n + 1, sizeof *graph->states);
  graph->first_edge = tp__arena_array(arena, l->n + 1, sizeof *graph->first_edge);
  if (!graph->slots || !graph->states || !graph->first_edge)
    return TP_NO_MEMORY;
  for (size_t i = 0; i < l->n; i++) {
    uint32_t at = hash_bits(l->states[i].bits) & graph->slot_mask;
    while (graph->slots[at])
      at = (at + 1) & graph->slot_mask;
    graph->states[i] = l->states[i];
    graph->slots[at] = (uint32_t)i + 1;
  }
  graph->n_states = (uint32_t)l->n;
  return TP_OK;
}

static tp_status list_states(tp__arena *arena, const tp_mesh *mesh, const tp__layout_filter *filter,
                             tp__layout_graph *graph) {
  listing l = {.mesh = mesh,
               .axes = graph->axes,
               .n_dims = graph->n_dims,
               .partial = graph->partial,
               .filter = filter};
  tp_status status = enumerate(&l, 0, tp_spec_replicated());
  if (status == TP_OK)
    status = create_states(arena, &l, graph);
  tp__free(l.states);
  return status;
}

/* ---- permutes: states with equal numbers of shards and parts ---- */

typedef struct counts {
  /* by dimension; the last entry counts the parts of partial axes */
  int32_t shards[TP_MAX_RANK + 1];
  uint32_t state;
} counts;

static counts count_shards(const tp_mesh *mesh, tp_spec spec, uint32_t state) {
  counts c = {.state = state};
  for (int d = 0; d <= TP_MAX_RANK; d++)
    c.shards[d] = 1;
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    if (byte == 0)
      continue;
    int d = byte & TP__PARTIAL_BIT ? TP_MAX_RANK : tp__byte_dim(byte);
    c.shards[d] *= (int32_t)mesh->axes[a].size;
  }
  return c;
}

static int compare_shards(const counts *a, const counts *b) {
  return memcmp(a->shards, b->shards, sizeof a->shards);
}

static int compare_counts(const void *a, const void *b) {
  const counts *x = a, *y = b;
  int order = compare_shards(x, y);
  return order ? order : (x->state > y->state) - (x->state < y->state);
}

/* ---- edges ---- */

typedef struct builder {
  const tp_mesh *mesh;
  tp__layout_graph *graph;
  bool is_part;       /* moves may lead to layouts that are not included */
  counts *sorted;     /* states, sorted so that equal counts are adjacent */
  uint32_t *position; /* of each state in `sorted` */
  tp__layout_edge *edges;
  size_t n_edges, capacity;
  uint16_t price_of[TP_STEP_MASK + 1][1 << TP_MAX_AXES]; /* price number + 1 */
} builder;

static tp_status add_edge(builder *b, tp_step_kind kind, unsigned axes, uint32_t to) {
  void *edges = b->edges;
  if (tp__grow(&edges, &b->capacity, b->n_edges + 1, sizeof *b->edges) != TP_OK)
    return TP_NO_MEMORY;
  b->edges = edges;
  uint16_t *price = &b->price_of[kind][axes];
  if (*price == 0) {
    b->graph->prices[b->graph->n_prices++] = (tp__price_class){kind, axes};
    *price = (uint16_t)b->graph->n_prices;
  }
  b->edges[b->n_edges++] = (tp__layout_edge){to, (uint16_t)(*price - 1), (uint16_t)kind};
  return TP_OK;
}

static tp_status add_move(void *context, tp_step_kind kind, unsigned axes, tp_spec to) {
  builder *b = context;
  uint32_t state = tp__layout_graph_find(b->graph, to);
  if (state == TP__NO_STATE)
    return b->is_part ? TP_OK : TP_INTERNAL;
  return add_edge(b, kind, axes, state);
}

static tp_status add_permutes(builder *b, uint32_t state) {
  const counts *self = &b->sorted[b->position[state]];
  const counts *end = b->sorted + b->graph->n_states;
  const counts *c = self;
  while (c > b->sorted && compare_shards(c - 1, self) == 0)
    c--;
  for (; c < end && compare_shards(c, self) == 0; c++) {
    if (c->state == state)
      continue;
    unsigned axes = tp__permute_axes(b->mesh, b->graph->states[state], b->graph->states[c->state]);
    TP_TRY(add_edge(b, TP_STEP_PERMUTE, axes, c->state));
  }
  return TP_OK;
}

static tp_status create_edges(tp__arena *arena, builder *b) {
  tp__layout_graph *graph = b->graph;
  graph->prices = tp__arena_array(arena, TP__COUNT(b->price_of) * TP__COUNT(b->price_of[0]),
                                  sizeof *graph->prices);
  b->sorted = tp__calloc(graph->n_states, sizeof *b->sorted);
  b->position = tp__calloc(graph->n_states, sizeof *b->position);
  if (!graph->prices || !b->sorted || !b->position)
    return TP_NO_MEMORY;
  for (uint32_t s = 0; s < graph->n_states; s++)
    b->sorted[s] = count_shards(b->mesh, graph->states[s], s);
  qsort(b->sorted, graph->n_states, sizeof *b->sorted, compare_counts);
  for (uint32_t i = 0; i < graph->n_states; i++)
    b->position[b->sorted[i].state] = i;
  for (uint32_t s = 0; s < graph->n_states; s++) {
    graph->first_edge[s] = (uint32_t)b->n_edges;
    TP_TRY(tp__layout_moves(b->mesh, graph->axes, graph->n_dims, graph->partial, graph->states[s],
                            add_move, b));
    TP_TRY(add_permutes(b, s));
  }
  graph->first_edge[graph->n_states] = (uint32_t)b->n_edges;
  graph->edges = tp__arena_array(arena, b->n_edges, sizeof *graph->edges);
  if (!graph->edges)
    return TP_NO_MEMORY;
  if (b->n_edges)
    memcpy(graph->edges, b->edges, b->n_edges * sizeof *graph->edges);
  return TP_OK;
}

static tp_status index_targets(tp__arena *arena, tp__layout_graph *graph) {
  uint32_t n_edges = graph->first_edge[graph->n_states];
  graph->first_into =
      tp__arena_array(arena, (size_t)graph->n_states + 1, sizeof *graph->first_into);
  graph->into = tp__arena_array(arena, (size_t)n_edges + 1, sizeof *graph->into);
  if (!graph->first_into || !graph->into)
    return TP_NO_MEMORY;
  /* during counting: sums for the states before; finally the end of the state itself */
  uint32_t *end = graph->first_into + 1;
  for (uint32_t e = 0; e < n_edges; e++)
    if (graph->edges[e].to + 1 < graph->n_states)
      end[graph->edges[e].to + 1]++;
  for (uint32_t s = 1; s < graph->n_states; s++)
    end[s] += end[s - 1];
  for (uint32_t s = 0; s < graph->n_states; s++)
    for (uint32_t e = graph->first_edge[s]; e < graph->first_edge[s + 1]; e++)
      graph->into[end[graph->edges[e].to]++] = (tp__in_edge){s, e};
  return TP_OK;
}

tp_status tp__layout_graph_create(tp__arena *arena, const tp_mesh *mesh, unsigned axes, int n_dims,
                                  bool partial, const tp__layout_filter *filter,
                                  tp__layout_graph **graph) {
  tp__layout_graph *made = tp__arena_alloc(arena, sizeof *made);
  builder *b = tp__calloc(1, sizeof *b);
  tp_status status = made && b ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK) {
    *made = (tp__layout_graph){.axes = axes, .n_dims = n_dims, .partial = partial};
    *b = (builder){.mesh = mesh, .graph = made, .is_part = filter != NULL};
    status = list_states(arena, mesh, filter, made);
  }
  if (status == TP_OK)
    status = create_edges(arena, b);
  if (status == TP_OK)
    status = index_targets(arena, made);
  if (b) {
    tp__free(b->edges);
    tp__free(b->position);
    tp__free(b->sorted);
  }
  tp__free(b);
  if (status == TP_OK)
    *graph = made;
  return status;
}
