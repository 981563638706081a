/* Spreads costs over the layouts of one tensor: shortest paths from many layouts at once. */
#include "sharding/layout_field.h"
#include "support/vectors.h"

#include <stdlib.h>
#include <string.h>

/* ---- included layouts ---- */

/* Graphs of more than TP__MAX_STATES layouts are made of the included layouts only, up to this
 * many layouts in all. */
enum { MAX_PREFIXES = 512, MAX_LAYOUTS = 1 << 17 };

/* The axes on uneven dimensions of the given layouts, with all their leading parts. */
typedef struct prefixes {
  int n;
  struct {
    int dim;
    uint64_t axes;
  } items[MAX_PREFIXES];
  bool is_full; /* `items` overflowed; then no uneven layout is left out */
} prefixes;

/* Encodes the first `n` of the axes. */
static uint64_t encode(int n, const int *axes) {
  uint64_t code = 0;
  for (int i = 0; i < n; i++)
    code = code << 4 | (uint64_t)(axes[i] + 1);
  return code;
}

static bool has_prefix(const prefixes *p, int dim, uint64_t axes) {
  for (int i = 0; i < p->n; i++)
    if (p->items[i].dim == dim && p->items[i].axes == axes)
      return true;
  return p->is_full;
}

static void add_prefix(prefixes *p, int dim, uint64_t axes) {
  if (has_prefix(p, dim, axes))
    return;
  p->is_full |= p->n == MAX_PREFIXES;
  if (p->n < MAX_PREFIXES) {
    p->items[p->n].dim = dim;
    p->items[p->n++].axes = axes;
  }
}

static void add_prefixes(prefixes *p, const tp_mesh *mesh, const tp__layout_view *view,
                         const int64_t *shape, tp_spec spec) {
  for (int d = 0; d < view->n_dims; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(mesh, spec, d, axes);
    if (n == 0 || shape[view->dims[d]] % tp_spec_dim_shards(mesh, spec, d) == 0)
      continue;
    for (int k = 1; k <= n; k++)
      add_prefix(p, d, encode(k, axes));
  }
}

/* Adds the prefixes on the other dimensions of the same size, so that exchanging these is a
 * symmetry (layout_symmetry.c). */
static void add_symmetric(prefixes *p, const tp__layout_view *view, const int64_t *shape) {
  for (int i = 0; i < p->n; i++) {
    int dim = p->items[i].dim;
    for (int d = 0; d < view->n_dims; d++)
      if (shape[view->dims[d]] == shape[view->dims[dim]])
        add_prefix(p, d, p->items[i].axes);
  }
}

static bool is_included(const prefixes *p, const tp_mesh *mesh, const tp__layout_view *view,
                        const int64_t *shape, tp_spec spec) {
  for (int d = 0; d < view->n_dims; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(mesh, spec, d, axes);
    if (n > 0 && shape[view->dims[d]] % tp_spec_dim_shards(mesh, spec, d) != 0 &&
        !has_prefix(p, d, encode(n, axes)))
      return false;
  }
  return true;
}

/* ---- creation ---- */

/* The view of all axes, and of all dimensions that axes can divide or that a given layout
 * splits. Returns the number of its layouts. */
static int64_t choose_view(tp_reshard_field *f, int rank, const int64_t *shape, int n,
                           const tp_spec *specs) {
  int64_t devices = 1;
  int n_axes = 0;
  unsigned dims = 0;
  for (int a = 0; a < f->mesh.n_axes; a++) {
    devices *= f->mesh.axes[a].size;
    f->axes |= (unsigned)(f->mesh.axes[a].size > 1) << a;
    n_axes += f->mesh.axes[a].size > 1;
  }
  for (int i = 0; i < n; i++)
    for (int a = 0; a < f->mesh.n_axes; a++)
      if ((f->axes >> a & 1) && tp__byte_dim(tp__spec_byte(specs[i], a)) >= 0)
        dims |= 1u << tp__byte_dim(tp__spec_byte(specs[i], a));
  f->view = (tp__layout_view){.axes = f->axes, .full = true, .outer = 1};
  for (int d = 0; d < rank; d++) {
    f->view.place[d] = -1;
    if ((dims >> d & 1) || tp__gcd(shape[d], devices) > 1) {
      f->view.place[d] = (int8_t)f->view.n_dims;
      f->view.dims[f->view.n_dims++] = d;
    } else {
      f->view.outer = tp__multiply(f->view.outer, shape[d]);
    }
  }
  return tp__layout_graph_count(n_axes, f->view.n_dims, true);
}

static tp_cost times_cost(tp_cost cost, double times) {
  double product = (double)cost * times;
  return cost >= TP_COST_FORBIDDEN || product >= (double)TP_COST_FORBIDDEN ? TP_COST_FORBIDDEN
                                                                           : (tp_cost)product;
}

static tp_status allocate(tp__field_moves *m, size_t n_states, size_t n_moves) {
  m->first = tp__calloc(n_states + 2, sizeof *m->first);
  m->other = tp__calloc(n_moves + 1, sizeof *m->other);
  m->cost = tp__calloc(n_moves + 1, sizeof *m->cost);
  return m->first && m->other && m->cost ? TP_OK : TP_NO_MEMORY;
}

static void release(tp__field_moves *m) {
  tp__free(m->first);
  tp__free(m->other);
  tp__free(m->cost);
}

/* Appends to the list of `state`. While lists are filled, first[i + 1] is the end of list i. */
static void append(tp__field_moves *m, int32_t state, int32_t other, tp_cost cost) {
  uint32_t at = m->first[state + 1]++;
  m->other[at] = other;
  m->cost[at] = cost;
}

typedef struct field_moves {
  tp_reshard_field *f;
  tp__edge_costs weights;
  tp__layout_search search;
  double times;
} field_moves;

/* Calls `visit` for all possible moves between included layouts. */
static void for_each_move(field_moves *b,
                          void visit(tp_reshard_field *, int32_t, int32_t, tp_cost)) {
  const tp__layout_graph *g = b->f->graph;
  for (uint32_t s = 0; s < g->n_states; s++)
    for (uint32_t e = g->first_edge[s]; b->f->number[s] >= 0 && e < g->first_edge[s + 1]; e++) {
      int32_t to = b->f->number[g->edges[e].to];
      tp_cost cost =
          to < 0 ? TP_COST_FORBIDDEN
                 : times_cost(tp__edge_cost(&b->weights, &b->search, s, &g->edges[e]), b->times);
      if (cost < TP_COST_FORBIDDEN)
        visit(b->f, b->f->number[s], to, cost);
    }
}

static void count_move(tp_reshard_field *f, int32_t from, int32_t to, tp_cost cost) {
  (void)cost;
  f->out.first[from + 2]++;
  f->into.first[to + 2]++;
}

static void add_move(tp_reshard_field *f, int32_t from, int32_t to, tp_cost cost) {
  append(&f->out, from, to, cost);
  append(&f->into, to, from, cost);
}

static tp_status add_moves(field_moves *b) {
  tp_reshard_field *f = b->f;
  size_t n_moves = f->graph->first_edge[f->graph->n_states];
  f->queue = tp__calloc((size_t)f->n_states + 1, sizeof *f->queue);
  f->is_queued = tp__calloc((size_t)f->n_states + 1, sizeof *f->is_queued);
  if (!f->queue || !f->is_queued)
    return TP_NO_MEMORY;
  TP_TRY(allocate(&f->out, (size_t)f->n_states, n_moves));
  TP_TRY(allocate(&f->into, (size_t)f->n_states, n_moves));
  for_each_move(b, count_move);
  for (int i = 2; i <= f->n_states + 1; i++) {
    f->out.first[i] += f->out.first[i - 1];
    f->into.first[i] += f->into.first[i - 1];
  }
  for_each_move(b, add_move);
  return TP_OK;
}

typedef struct ranked {
  int64_t shards; /* and copies that are to be added */
  uint32_t state;
} ranked;

static int by_shards(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  return x->shards != y->shards ? (x->shards < y->shards ? -1 : 1)
                                : (x->state > y->state) - (x->state < y->state);
}

/* Numbers the included layouts by the number of their shards. Cheap paths split first and gather
 * last, so that a sweep up and one down find most of them. */
static tp_status number_states(tp_reshard_field *f) {
  ranked *list = tp__calloc((size_t)f->n_states + 1, sizeof *list);
  int n = 0;
  if (!list)
    return TP_NO_MEMORY;
  for (uint32_t s = 0; s < f->graph->n_states; s++) {
    if (f->number[s] < 0)
      continue;
    list[n] = (ranked){1, s};
    for (int a = 0; a < f->mesh.n_axes; a++)
      if (tp__spec_byte(f->graph->states[s], a))
        list[n].shards *= f->mesh.axes[a].size;
    n++;
  }
  qsort(list, (size_t)n, sizeof *list, by_shards);
  for (int i = 0; i < n; i++)
    f->number[list[i].state] = i;
  tp__free(list);
  return TP_OK;
}

/* The layouts that are included: those that divide the shape, and the uneven ones of interest. */
typedef struct inclusion {
  const tp_reshard_field *f;
  const int64_t *shape;
  prefixes uneven;
} inclusion;

static bool includes(const void *context, tp_spec spec) {
  const inclusion *i = context;
  return is_included(&i->uneven, &i->f->mesh, &i->f->view, i->shape, spec);
}

/* Finds the graph: the shared one of all layouts if they are few, else one of those included. */
static tp_status find_graph(tp__cache *cache, tp_reshard_field *f, const inclusion *included,
                            int64_t n_layouts) {
  tp__layout_graph *graph;
  const tp__layout_filter filter = {includes, included};
  if (n_layouts > MAX_LAYOUTS)
    return TP_UNSUPPORTED;
  TP_TRY(n_layouts <= TP__MAX_STATES
             ? tp__cache_graph(cache, f->axes, f->view.n_dims, true, &graph)
             : tp__layout_graph_create(&f->arena, &f->mesh, f->axes, f->view.n_dims, true, &filter,
                                       &graph));
  f->graph = graph;
  f->number = tp__calloc(graph->n_states, sizeof *f->number);
  if (!f->number)
    return TP_NO_MEMORY;
  for (uint32_t s = 0; s < graph->n_states; s++)
    f->number[s] = includes(included, graph->states[s]) ? f->n_states++ : -1;
  return number_states(f);
}

static tp_status fill(tp__cache *cache, tp_reshard_field *f, const int64_t *shape,
                      int64_t element_size, double times) {
  field_moves b = {.f = f,
                   .search = {.mesh = &f->mesh,
                              .topology = &cache->topology,
                              .graph = f->graph,
                              .element_size = element_size,
                              .outer = f->view.outer,
                              .uneven = true,
                              .may_mask = true},
                   .times = times};
  for (int d = 0; d < f->view.n_dims; d++)
    b.search.sizes[d] = f->sizes[d] = shape[f->view.dims[d]];
  TP_TRY(tp__edge_costs_create(&b.search, &b.weights));
  tp_status status = add_moves(&b);
  tp__edge_costs_destroy(&b.weights);
  return status;
}

static tp_status make_field(tp__cache *cache, tp_reshard_field *f, int rank, const int64_t *shape,
                            int n, const tp_spec *specs) {
  inclusion *included = tp__calloc(1, sizeof *included);
  if (!included)
    return TP_NO_MEMORY;
  int64_t n_layouts = choose_view(f, rank, shape, n, specs);
  included->f = f;
  included->shape = shape;
  for (int i = 0; i < n; i++)
    add_prefixes(&included->uneven, &f->mesh, &f->view, shape,
                 tp__layout_view_project(&f->mesh, &f->view, specs[i]));
  add_symmetric(&included->uneven, &f->view, shape);
  tp_status status = find_graph(cache, f, included, n_layouts);
  tp__free(included);
  return status;
}

tp_status tp_reshard_field_create(tp_reshard_cache *cache, int rank, const int64_t *shape,
                                  int64_t element_size, double times, int n, const tp_spec *specs,
                                  tp_reshard_field **field) {
  tp_reshard_field *f = tp__calloc(1, sizeof *f);
  if (!f)
    return TP_NO_MEMORY;
  tp__cache *searches = tp__reshard_searches(cache);
  f->mesh = searches->mesh;
  tp_status status = make_field(searches, f, rank, shape, n, specs);
  if (status == TP_OK)
    status = fill(searches, f, shape, element_size, times);
  if (status == TP_OK)
    *field = f;
  else
    tp_reshard_field_destroy(f);
  return status;
}

void tp_reshard_field_destroy(tp_reshard_field *f) {
  if (!f)
    return;
  tp__free(f->is_queued);
  tp__free(f->queue);
  release(&f->into);
  release(&f->out);
  tp__arena_destroy(&f->arena);
  tp__free(f->number);
  tp__free(f);
}

int tp_reshard_field_size(const tp_reshard_field *f) { return f->n_states; }

int tp_reshard_field_number(const tp_reshard_field *f, tp_spec spec) {
  uint32_t state =
      tp__layout_graph_find(f->graph, tp__layout_view_project(&f->mesh, &f->view, spec));
  return state == TP__NO_STATE ? -1 : f->number[state];
}

/* ---- spreading ---- */

/* Lowers the cost of every layout to that of a path that ends with one more move, in the order of
 * their numbers or in reverse. Lists the layouts that changed; returns their number. */
VECTORS static int sweep(int n, const tp__field_moves *m, bool up, tp_cost *costs,
                         int32_t *changed) {
  int n_changed = 0;
  for (int i = 0; i < n; i++) {
    int s = up ? i : n - 1 - i;
    const int32_t *other = m->other + m->first[s];
    const tp_cost *cost = m->cost + m->first[s];
    int count = (int)(m->first[s + 1] - m->first[s]);
    tp_cost least = costs[s];
    for (int k = 0; k < count; k++) {
      tp_cost with = costs[other[k]] + cost[k];
      least = with < least ? with : least;
    }
    changed[n_changed] = s;
    n_changed += least < costs[s];
    costs[s] = least;
  }
  return n_changed;
}

/* Continues from the layouts in the queue until no path is cheaper. */
static void follow(const tp_reshard_field *f, const tp__field_moves *m, int n_queued,
                   tp_cost *costs) {
  int n = f->n_states, at = 0;
  for (int i = 0; i < n_queued; i++)
    f->is_queued[f->queue[i]] = true;
  while (n_queued > 0) {
    int32_t s = f->queue[at];
    at = at + 1 < n ? at + 1 : 0;
    n_queued--;
    f->is_queued[s] = false;
    for (uint32_t k = m->first[s]; k < m->first[s + 1]; k++) {
      int32_t to = m->other[k];
      if (costs[s] + m->cost[k] >= costs[to])
        continue;
      costs[to] = costs[s] + m->cost[k];
      if (f->is_queued[to])
        continue;
      int end = at + n_queued++;
      f->queue[end < n ? end : end - n] = to;
      f->is_queued[to] = true;
    }
  }
}

void tp_reshard_field_spread(tp_reshard_field *f, bool backward, tp_cost *costs) {
  const tp__field_moves *before = backward ? &f->out : &f->into,
                        *after = backward ? &f->into : &f->out;
  sweep(f->n_states, before, false, costs, f->queue);
  follow(f, after, sweep(f->n_states, before, true, costs, f->queue), costs);
}
