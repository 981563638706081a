/* Dijkstra's algorithm over the layouts of a view, from one layout to all others. */
#include "sharding/layout.h"

#include <string.h>

typedef struct extra_edge {
  uint32_t edge, next; /* next: index + 1; 0: none */
} extra_edge;

typedef struct run {
  const tp__layout_search *search;
  const tp__layout_graph *graph;
  tp__layout_paths *paths;
  tp__edge_costs *weights;
  bool *open; /* by state: included in the search */
  /* by state that divides: its first edge to an included uneven state, + 1; 0: none ... */
  uint32_t *extra;
  extra_edge *extras; /* ... and the list of all such edges */
  uint32_t n_extras;
  uint32_t *heap;    /* states, minimum first */
  uint32_t *heap_at; /* by state: position in the heap + 1; 0: never in the heap; SETTLED: done */
  uint32_t n_heap;
  bool may_mask;
} run;

#define SETTLED UINT32_MAX

/* ---- included layouts ---- */

/* True if the axes of `spec` on `dim` are the leading axes of `whole`. */
static bool is_leading(const tp_mesh *mesh, tp_spec spec, tp_spec whole, int dim) {
  int few[TP_MAX_AXES], all[TP_MAX_AXES];
  int n = tp_spec_dim_axes(mesh, spec, dim, few);
  if (n > tp_spec_dim_axes(mesh, whole, dim, all))
    return false;
  return memcmp(few, all, (size_t)n * sizeof *few) == 0;
}

/* True if the search includes the layout. On each dimension that it splits unevenly, its axes must
 * be the leading axes of `from` or of the goal. */
static bool is_searched(const tp__layout_search *s, tp_spec spec) {
  for (int d = 0; d < s->graph->n_dims; d++)
    if (s->sizes[d] % tp_spec_dim_shards(s->mesh, spec, d) != 0 &&
        !is_leading(s->mesh, spec, s->from, d) && !is_leading(s->mesh, spec, s->goal, d))
      return false;
  return true;
}

/* True if the search with this goal is valid for paths to this layout: its axes on dimensions that
 * it does not divide must equal those of the goal. */
static bool is_answered(const tp__layout_search *s, tp_spec spec, bool divides) {
  tp_spec uneven = tp_spec_replicated();
  for (int d = 0; d < s->graph->n_dims && !divides; d++) {
    bool is_uneven = s->sizes[d] % tp_spec_dim_shards(s->mesh, spec, d) != 0;
    for (int a = 0; a < s->mesh->n_axes && is_uneven; a++)
      if (tp__byte_dim(tp__spec_byte(spec, a)) == d)
        tp__spec_set_byte(&uneven, a, tp__spec_byte(spec, a));
  }
  return tp_spec_equal(uneven, s->goal);
}

static void mark_answered(const tp__layout_search *s, const tp__edge_costs *weights,
                          tp__layout_paths *paths) {
  for (uint32_t i = 0; i < s->graph->n_states; i++)
    paths->answered[i] = is_answered(s, s->graph->states[i], weights->divides[i]);
}

/* ---- heap ---- */

/* The order in which states are settled: cost, number of steps, number of the state. It is total,
 * so the result does not depend on the heap. */
static bool before(const tp__layout_paths *p, uint32_t a, uint32_t b) {
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

/* Moves `state` up in the heap after it was added or its key decreased. */
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

/* Relaxes an edge to `to`; `steps` is at most TP_MAX_STEPS. Unreached states have cost
 * TP_COST_FORBIDDEN and 0 steps, so a forbidden edge never improves them. */
static inline void reach(run *r, uint32_t from, unsigned kind, uint32_t to, tp_cost cost,
                         uint8_t steps) {
  tp__layout_paths *p = r->paths;
  if (cost > p->cost[to] || (cost == p->cost[to] && steps >= p->steps[to]))
    return;
  p->cost[to] = cost;
  p->steps[to] = steps;
  if (p->previous) {
    p->previous[to] = from;
    p->kind[to] = (uint8_t)kind;
  }
  raise_state(r, to);
}

/* Relaxes an edge with an uneven endpoint. */
static void reach_uneven(run *r, uint32_t from, const tp__layout_edge *edge) {
  tp__layout_paths *p = r->paths;
  if (p->steps[from] < TP_MAX_STEPS && p->cost[from] <= p->cost[edge->to] &&
      (edge->kind != TP_STEP_MASK || r->may_mask))
    reach(r, from, edge->kind, edge->to,
          tp_cost_add(p->cost[from], tp__edge_cost(r->weights, r->search, from, edge)),
          (uint8_t)(p->steps[from] + 1));
}

static void relax_even(run *r, uint32_t state) {
  const tp__edge_costs *w = r->weights;
  tp_cost here = r->paths->cost[state];
  uint8_t steps = (uint8_t)(r->paths->steps[state] + 1);
  if (steps > TP_MAX_STEPS)
    return;
  for (uint32_t e = w->first_even[state]; e < w->first_even[state + 1]; e++)
    if (w->even[e].kind != TP_STEP_MASK || r->may_mask)
      reach(r, state, w->even[e].kind, w->even[e].to, here + w->even[e].cost, steps);
  for (uint32_t x = r->extra[state]; x; x = r->extras[x - 1].next)
    reach_uneven(r, state, &r->graph->edges[r->extras[x - 1].edge]);
}

static void relax(run *r, uint32_t state) {
  const tp__layout_graph *g = r->graph;
  if (r->weights->divides[state]) {
    relax_even(r, state);
    return;
  }
  for (uint32_t e = g->first_edge[state]; e < g->first_edge[state + 1]; e++)
    if (r->open[g->edges[e].to])
      reach_uneven(r, state, &g->edges[e]);
}

static void settle_all(run *r) {
  while (r->n_heap > 0)
    relax(r, take_first(r));
}

/* ---- runs ---- */

/* Includes an uneven layout: adds the edges to it to the lists of the layouts that divide, before
 * those with higher numbers. */
static tp_status open_uneven(run *r, uint32_t state, size_t *capacity) {
  const tp__layout_graph *g = r->graph;
  uint32_t first = g->first_into[state], end = g->first_into[state + 1];
  void *extras = r->extras;
  if (tp__grow(&extras, capacity, r->n_extras + (size_t)(end - first), sizeof *r->extras) != TP_OK)
    return TP_NO_MEMORY;
  r->extras = extras;
  r->open[state] = true;
  for (uint32_t i = end; i > first; i--) {
    tp__in_edge into = g->into[i - 1];
    if (!r->weights->divides[into.from])
      continue;
    r->extras[r->n_extras] = (extra_edge){into.edge, r->extra[into.from]};
    r->extra[into.from] = ++r->n_extras;
  }
  return TP_OK;
}

/* Includes all layouts that the search needs. */
static tp_status open_states(run *r) {
  size_t capacity = 0;
  for (uint32_t s = r->graph->n_states; s > 0; s--) {
    if (r->weights->divides[s - 1])
      r->open[s - 1] = true;
    else if (r->search->uneven && is_searched(r->search, r->graph->states[s - 1]))
      TP_TRY(open_uneven(r, s - 1, &capacity));
  }
  return TP_OK;
}

/* Allocates the scratch of a run. destroy_run frees it. */
static tp_status create_run(const tp__layout_search *search, tp__edge_costs *weights,
                            tp__layout_paths *paths, run *r) {
  const tp__layout_graph *g = search->graph;
  *r = (run){.search = search,
             .graph = g,
             .paths = paths,
             .weights = weights,
             .may_mask = search->may_mask};
  r->open = tp__calloc(g->n_states, sizeof *r->open);
  r->extra = tp__calloc(g->n_states, sizeof *r->extra);
  r->heap = tp__calloc(g->n_states, sizeof *r->heap);
  r->heap_at = tp__calloc(g->n_states, sizeof *r->heap_at);
  return r->open && r->extra && r->heap && r->heap_at ? open_states(r) : TP_NO_MEMORY;
}

static void destroy_run(run *r) {
  tp__free(r->heap_at);
  tp__free(r->heap);
  tp__free(r->extras);
  tp__free(r->extra);
  tp__free(r->open);
}

static tp__layout_paths *create_paths(tp__arena *arena, const tp__layout_graph *graph,
                                      bool distances) {
  size_t n = graph->n_states;
  tp__layout_paths *paths = tp__arena_alloc(arena, sizeof *paths);
  if (!paths)
    return NULL;
  *paths = (tp__layout_paths){.graph = graph};
  paths->cost = tp__arena_array(arena, n, sizeof *paths->cost);
  paths->steps = tp__arena_array(arena, n, sizeof *paths->steps);
  paths->answered = tp__arena_array(arena, n, sizeof *paths->answered);
  paths->previous = distances ? NULL : tp__arena_array(arena, n, sizeof *paths->previous);
  paths->kind = distances ? NULL : tp__arena_array(arena, n, sizeof *paths->kind);
  return paths->cost && paths->steps && paths->answered &&
                 (distances || (paths->previous && paths->kind))
             ? paths
             : NULL;
}

static void start_at(run *r, uint32_t from) {
  for (uint32_t s = 0; s < r->graph->n_states; s++)
    r->paths->cost[s] = TP_COST_FORBIDDEN;
  r->paths->cost[from] = 0;
  raise_state(r, from);
}

/* Continues the search from all layouts without partials that the first part reached, because only
 * there the combiner may change. */
static void start_second_part(run *r, const tp__layout_paths *before) {
  memset(r->heap_at, 0, r->graph->n_states * sizeof *r->heap_at);
  r->may_mask = r->search->may_mask_after;
  r->paths->before = before;
  for (uint32_t s = 0; s < r->graph->n_states; s++) {
    bool begins = before->cost[s] < TP_COST_FORBIDDEN && !tp_spec_has_partial(r->graph->states[s]);
    r->paths->cost[s] = begins ? before->cost[s] : TP_COST_FORBIDDEN;
    r->paths->steps[s] = begins ? before->steps[s] : 0;
    if (r->paths->previous)
      r->paths->previous[s] = s;
    if (begins)
      raise_state(r, s);
  }
}

tp_status tp__layout_search_run(tp__arena *arena, const tp__layout_search *search,
                                tp__edge_costs *weights, bool distances, tp__layout_paths **paths) {
  const tp__layout_graph *g = search->graph;
  uint32_t from = tp__layout_graph_find(g, search->from);
  if (from == TP__NO_STATE)
    return TP_INVALID_ARGUMENT;
  tp__layout_paths *made = create_paths(arena, g, distances), *before = made;
  if (made && search->changes_combiner)
    made = create_paths(arena, g, distances);
  if (!made)
    return TP_NO_MEMORY;
  run r;
  tp_status status = create_run(search, weights, before, &r);
  if (status == TP_OK) {
    start_at(&r, from);
    settle_all(&r);
    if (search->changes_combiner) {
      r.paths = made;
      start_second_part(&r, before);
      settle_all(&r);
    }
    mark_answered(search, weights, made);
    *paths = made;
  }
  destroy_run(&r);
  return status;
}

/* Keeps the known distances unless the new layouts shorten them: relaxes all edges to the new
 * layouts and continues the search from there. */
tp_status tp__layout_search_extend(tp__arena *arena, const tp__layout_search *search,
                                   tp__edge_costs *weights, const tp__layout_paths *known,
                                   tp__layout_paths **paths) {
  const tp__layout_graph *g = search->graph;
  tp__layout_paths *made = create_paths(arena, g, true);
  if (!made)
    return TP_NO_MEMORY;
  memcpy(made->cost, known->cost, g->n_states * sizeof *made->cost);
  memcpy(made->steps, known->steps, g->n_states * sizeof *made->steps);
  run r;
  tp_status status = create_run(search, weights, made, &r);
  for (uint32_t s = 0; s < g->n_states && status == TP_OK; s++) {
    if (!r.open[s] || weights->divides[s])
      continue;
    for (uint32_t i = g->first_into[s]; i < g->first_into[s + 1]; i++)
      if (r.open[g->into[i].from])
        reach_uneven(&r, g->into[i].from, &g->edges[g->into[i].edge]);
  }
  if (status == TP_OK) {
    settle_all(&r);
    mark_answered(search, weights, made);
    *paths = made;
  }
  destroy_run(&r);
  return status;
}
