/* Dijkstra's algorithm over the layouts of a view, from one layout to all others. */
#include "sharding/layout.h"

#include <string.h>

typedef struct run {
  const tp__search *search;
  const tp__graph *graph;
  tp__paths *paths;
  tp__weights *weights;
  bool *open;        /* by state: takes part */
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

/* An uneven layout takes part only on the way from or to such a layout. */
static bool takes_part(const tp__search *s, tp_spec spec) {
  for (int d = 0; d < s->graph->n_dims; d++)
    if (s->sizes[d] % tp_spec_dim_shards(s->mesh, spec, d) != 0 && !is_leading(s->mesh, spec, s->from, d) &&
        !is_leading(s->mesh, spec, s->goal, d))
      return false;
  return true;
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

static void relax(run *r, uint32_t state) {
  tp__paths *p = r->paths;
  tp_cost here = p->cost[state];
  uint8_t steps = (uint8_t)(p->steps[state] + 1);
  if (steps > TP_MAX_STEPS)
    return;
  for (uint32_t e = r->graph->first_edge[state]; e < r->graph->first_edge[state + 1]; e++) {
    const tp__edge *edge = &r->graph->edges[e];
    uint32_t to = edge->to;
    if (!r->open[to] || here > p->cost[to] || (edge->kind == TP_STEP_MASK && !r->may_mask))
      continue;
    tp_cost weight = r->weights->costs[e];
    tp_cost cost = tp_cost_add(here, weight ? weight : tp__weigh(r->weights, r->search, state, edge));
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
static tp_status create_run(const tp__search *search, tp__weights *weights, tp__paths *paths, run *r) {
  const tp__graph *g = search->graph;
  *r = (run){.search = search, .graph = g, .paths = paths, .weights = weights};
  r->open = tp__calloc(g->n_states, sizeof *r->open);
  r->heap = tp__calloc(g->n_states, sizeof *r->heap);
  r->heap_at = tp__calloc(g->n_states, sizeof *r->heap_at);
  return r->open && r->heap && r->heap_at ? TP_OK : TP_NO_MEMORY;
}

static void destroy_run(run *r) {
  tp__free(r->heap_at);
  tp__free(r->heap);
  tp__free(r->open);
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
    r->open[s] = r->weights->divides[s] || (r->search->uneven && takes_part(r->search, r->graph->states[s]));
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

tp_status tp__search_run(tp__arena *arena, const tp__search *search, tp__weights *weights, tp__paths **paths) {
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
  tp_status status = create_run(search, weights, before, &r);
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
