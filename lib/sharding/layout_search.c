/* Dijkstra's algorithm over the layouts of a view, from one layout to all others. */
#include "sharding/layout.h"

#include <string.h>

/* A direct-mapped memo of prices: a search meets few different local sizes. */
enum { MEMO_BITS = 4, MEMO_WAYS = 1 << MEMO_BITS };

typedef struct memo {
  int64_t elements; /* -1: none yet */
  tp_cost cost;
} memo;

typedef struct run {
  const tp__search *search;
  const tp__graph *graph;
  tp__paths *paths;
  int64_t *elements; /* local elements by state; -1: this layout must not be used */
  bool *divides;     /* by state: no dimension is uneven; between two such layouts every move is free of padding */
  memo *memos;       /* n_prices times MEMO_WAYS */
  uint32_t *heap;    /* states, least first */
  uint32_t *heap_at; /* by state: its place in the heap + 1; 0: never in it; SETTLED: done */
  uint32_t n_heap;
  bool may_mask;
} run;

#define SETTLED UINT32_MAX

/* ---- which layouts take part ---- */

/* The axes of `spec` on `dim` are the first ones of those of `whole`. */
static bool is_leading(const tp_mesh *mesh, tp_spec spec, tp_spec whole, int dim) {
  int few[TP_MAX_AXES], all[TP_MAX_AXES];
  int n = tp_spec_dim_axes(mesh, spec, dim, few);
  if (n > tp_spec_dim_axes(mesh, whole, dim, all))
    return false;
  return memcmp(few, all, (size_t)n * sizeof *few) == 0;
}

/* The local elements of a layout, -1 if it takes no part: one that is uneven does only on the way from or to such a layout. */
static int64_t local_elements(const tp__search *s, tp_spec spec, bool *divides) {
  int64_t shards[TP_MAX_RANK], elements = s->outer;
  *divides = true;
  for (int d = 0; d < s->graph->n_dims; d++)
    shards[d] = 1;
  for (int a = 0; a < s->mesh->n_axes; a++) {
    int d = tp__byte_dim(tp__spec_byte(spec, a));
    if (d >= 0)
      shards[d] *= s->mesh->axes[a].size;
  }
  for (int d = 0; d < s->graph->n_dims; d++) {
    int64_t local = s->sizes[d] / shards[d];
    if (local * shards[d] != s->sizes[d]) {
      int axes[TP_MAX_AXES], n = tp_spec_dim_axes(s->mesh, spec, d, axes);
      if (!s->uneven || (!is_leading(s->mesh, spec, s->from, d) && !is_leading(s->mesh, spec, s->goal, d)))
        return -1;
      *divides = false;
      local = tp__buffer_size(s->mesh, n, axes, s->sizes[d]);
    }
    elements = tp__multiply(elements, local);
  }
  return elements;
}

/* ---- heap ---- */

/* Order of settling: cost, number of steps, number of the state; total, so the result does not depend on the heap. */
static bool before(const tp__paths *p, uint32_t a, uint32_t b) {
  if (p->cost[a] != p->cost[b])
    return p->cost[a] < p->cost[b];
  if (p->steps[a] != p->steps[b])
    return p->steps[a] < p->steps[b];
  return a < b;
}

static void place(run *r, uint32_t at, uint32_t state) {
  r->heap[at] = state;
  r->heap_at[state] = at + 1;
}

/* `state` is new in the heap, or comes earlier than before. */
static void raise_state(run *r, uint32_t state) {
  uint32_t at = r->heap_at[state] ? r->heap_at[state] - 1 : r->n_heap++;
  while (at > 0 && before(r->paths, state, r->heap[(at - 1) / 2])) {
    place(r, at, r->heap[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  place(r, at, state);
}

static uint32_t take_first(run *r) {
  uint32_t first = r->heap[0], last = r->heap[--r->n_heap], at = 0;
  r->heap_at[first] = SETTLED;
  if (r->n_heap == 0)
    return first;
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= r->n_heap)
      break;
    if (child + 1 < r->n_heap && before(r->paths, r->heap[child + 1], r->heap[child]))
      child++;
    if (!before(r->paths, r->heap[child], last))
      break;
    place(r, at, r->heap[child]);
    at = child;
  }
  place(r, at, last);
  return first;
}

/* ---- search ---- */

static tp_cost edge_cost(run *r, const tp__edge *edge, int64_t elements) {
  uint32_t way = (uint32_t)((uint64_t)elements * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MEMO_BITS));
  memo *m = &r->memos[edge->price * MEMO_WAYS + way];
  if (m->elements != elements) {
    const tp__price *price = &r->graph->prices[edge->price];
    m->elements = elements;
    m->cost = tp__move_cost(r->search->mesh, r->search->topology, price->kind, price->axes, elements, r->search->element_size);
  }
  return m->cost;
}

static bool allowed(const run *r, uint32_t state, const tp__edge *edge) {
  const tp__search *s = r->search;
  if (r->elements[edge->to] < 0 || r->heap_at[edge->to] == SETTLED)
    return false;
  if (edge->kind == TP_STEP_MASK && !r->may_mask)
    return false;
  return !s->uneven || (r->divides[state] && r->divides[edge->to]) ||
         tp__move_keeps_prefix(s->mesh, (tp_step_kind)edge->kind, r->graph->states[state], r->graph->states[edge->to],
                               r->graph->n_dims, s->sizes);
}

/* The local elements that a move works on: more than the layout has where uneven shards are filled up. */
static int64_t moved_elements(const run *r, uint32_t state, const tp__edge *edge) {
  const tp__search *s = r->search;
  if (!s->uneven || (r->divides[state] && r->divides[edge->to]))
    return r->elements[state];
  return tp__multiply(s->outer, tp__move_elements(s->mesh, (tp_step_kind)edge->kind, r->graph->states[state],
                                                  r->graph->states[edge->to], r->graph->n_dims, s->sizes));
}

static void relax(run *r, uint32_t state) {
  tp__paths *p = r->paths;
  uint8_t steps = (uint8_t)(p->steps[state] + 1);
  if (steps > TP_MAX_STEPS)
    return;
  for (uint32_t e = r->graph->first_edge[state]; e < r->graph->first_edge[state + 1]; e++) {
    const tp__edge *edge = &r->graph->edges[e];
    if (p->cost[state] > p->cost[edge->to] || !allowed(r, state, edge))
      continue;
    tp_cost cost = tp_cost_add(p->cost[state], edge_cost(r, edge, moved_elements(r, state, edge)));
    uint32_t to = edge->to;
    if (cost >= TP_COST_FORBIDDEN || cost > p->cost[to] || (cost == p->cost[to] && steps >= p->steps[to]))
      continue;
    p->cost[to] = cost;
    p->steps[to] = steps;
    p->previous[to] = state;
    p->kind[to] = (uint8_t)edge->kind;
    raise_state(r, to);
  }
}

/* Scratch of a run, given back at its end. */
static tp_status create_run(const tp__search *search, tp__paths *paths, run *r) {
  const tp__graph *g = search->graph;
  *r = (run){.search = search, .graph = g, .paths = paths};
  r->elements = tp__calloc(g->n_states, sizeof *r->elements);
  r->divides = tp__calloc(g->n_states, sizeof *r->divides);
  r->heap = tp__calloc(g->n_states, sizeof *r->heap);
  r->heap_at = tp__calloc(g->n_states, sizeof *r->heap_at);
  r->memos = tp__calloc((size_t)g->n_prices * MEMO_WAYS, sizeof *r->memos);
  if (!r->elements || !r->divides || !r->heap || !r->heap_at || !r->memos)
    return TP_NO_MEMORY;
  for (uint32_t i = 0; i < g->n_prices * MEMO_WAYS; i++)
    r->memos[i].elements = -1;
  return TP_OK;
}

static void destroy_run(run *r) {
  tp__free(r->memos);
  tp__free(r->heap_at);
  tp__free(r->heap);
  tp__free(r->divides);
  tp__free(r->elements);
}

static tp__paths *create_paths(tp__arena *arena, const tp__graph *graph) {
  size_t n = graph->n_states;
  tp__paths *paths = tp__arena_alloc(arena, sizeof *paths);
  if (!paths)
    return NULL;
  paths->graph = graph;
  paths->cost = tp__arena_array(arena, n, sizeof *paths->cost);
  paths->previous = tp__arena_array(arena, n, sizeof *paths->previous);
  paths->kind = tp__arena_array(arena, n, sizeof *paths->kind);
  paths->steps = tp__arena_array(arena, n, sizeof *paths->steps);
  return paths->cost && paths->previous && paths->kind && paths->steps ? paths : NULL;
}

static void settle_all(run *r) {
  while (r->n_heap > 0)
    relax(r, take_first(r));
}

static void start_at(run *r, uint32_t from) {
  for (uint32_t s = 0; s < r->graph->n_states; s++) {
    r->paths->cost[s] = TP_COST_FORBIDDEN;
    r->elements[s] = local_elements(r->search, r->graph->states[s], &r->divides[s]);
  }
  r->paths->cost[from] = 0;
  r->may_mask = r->search->may_mask;
  raise_state(r, from);
}

/* The search goes on from all layouts without partials that the first part reached: there the combiner may change. */
static void start_behind(run *r, const tp__paths *before) {
  memset(r->heap_at, 0, r->graph->n_states * sizeof *r->heap_at);
  r->may_mask = r->search->may_mask_after;
  r->paths->before = before;
  for (uint32_t s = 0; s < r->graph->n_states; s++) {
    bool begins = before->cost[s] < TP_COST_FORBIDDEN && !tp_spec_has_partial(r->graph->states[s]);
    r->paths->cost[s] = begins ? before->cost[s] : TP_COST_FORBIDDEN;
    r->paths->steps[s] = begins ? before->steps[s] : 0;
    r->paths->previous[s] = s;
    if (begins)
      raise_state(r, s);
  }
}

tp_status tp__search_run(tp__arena *arena, const tp__search *search, tp__paths **paths) {
  const tp__graph *g = search->graph;
  uint32_t from = tp__graph_find(g, search->from);
  if (from == TP__NO_STATE)
    return TP_INVALID_ARGUMENT;
  tp__paths *made = create_paths(arena, g), *before = made;
  if (made && search->changes_combiner)
    made = create_paths(arena, g);
  if (!made)
    return TP_NO_MEMORY;
  run r;
  tp_status status = create_run(search, before, &r);
  if (status == TP_OK) {
    start_at(&r, from);
    settle_all(&r);
    if (search->changes_combiner) {
      r.paths = made;
      start_behind(&r, before);
      settle_all(&r);
    }
    *paths = made;
  }
  destroy_run(&r);
  return status;
}
