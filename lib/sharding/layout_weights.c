/* The costs of a graph's moves for one tensor. Shared by the searches from all its layouts, and
 * computed on first use. */
#include "sharding/layout.h"

#include <string.h>

/* A direct-mapped memo of prices, because the layouts of a tensor have few different local
 * sizes. */
enum { MEMO_BITS = 4, MEMO_WAYS = 1 << MEMO_BITS };

typedef struct tp__memo_entry {
  int64_t elements; /* -1: empty */
  tp_cost cost;
} memo;

/* Returns the local elements of a layout, and whether it divides all dimensions. */
static int64_t local_elements(const tp__layout_search *s, tp_spec spec, bool *divides) {
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
      *divides = false;
      local = tp__buffer_size(s->mesh, n, axes, s->sizes[d]);
    }
    elements = tp__multiply(elements, local);
  }
  return elements;
}

bool tp__edge_costs_fit(const tp__edge_costs *w, const tp__layout_search *s) {
  return w->graph == s->graph && w->element_size == s->element_size && w->outer == s->outer &&
         w->uneven == s->uneven && memcmp(w->sizes, s->sizes, sizeof w->sizes) == 0;
}

static tp_cost price(tp__edge_costs *w, const tp__layout_search *s, const tp__layout_edge *edge,
                     int64_t elements) {
  uint32_t way = (uint32_t)((uint64_t)elements * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MEMO_BITS));
  memo *m = &w->memos[edge->price * MEMO_WAYS + way];
  if (m->elements != elements) {
    const tp__price_class *of = &w->graph->prices[edge->price];
    m->elements = elements;
    m->cost = tp__move_cost(s->mesh, s->topology, of->kind, of->axes, elements, s->element_size);
  }
  return m->cost;
}

/* Lists the edges between layouts that divide all dimensions. */
static tp_status list_even(tp__edge_costs *w, const tp__layout_search *s) {
  const tp__layout_graph *g = w->graph;
  w->first_even = tp__calloc((size_t)g->n_states + 1, sizeof *w->first_even);
  w->even = tp__calloc((size_t)g->first_edge[g->n_states] + 1, sizeof *w->even);
  if (!w->first_even || !w->even)
    return TP_NO_MEMORY;
  uint32_t n = 0;
  for (uint32_t from = 0; from < g->n_states; from++) {
    for (uint32_t e = g->first_edge[from]; w->divides[from] && e < g->first_edge[from + 1]; e++) {
      const tp__layout_edge *edge = &g->edges[e];
      if (w->divides[edge->to])
        w->even[n++] =
            (tp__even_edge){price(w, s, edge, w->elements[from]), (uint16_t)edge->to, edge->kind};
    }
    w->first_even[from + 1] = n;
  }
  return TP_OK;
}

tp_status tp__edge_costs_create(const tp__layout_search *s, tp__edge_costs *weights) {
  const tp__layout_graph *g = s->graph;
  tp__edge_costs w = {
      .graph = g, .element_size = s->element_size, .outer = s->outer, .uneven = s->uneven};
  memcpy(w.sizes, s->sizes, sizeof w.sizes);
  w.elements = tp__calloc(g->n_states, sizeof *w.elements);
  w.divides = tp__calloc(g->n_states, sizeof *w.divides);
  w.costs = s->uneven ? tp__calloc((size_t)g->first_edge[g->n_states] + 1, sizeof *w.costs) : NULL;
  w.memos = tp__calloc((size_t)g->n_prices * MEMO_WAYS + 1, sizeof *w.memos);
  tp_status status =
      w.elements && w.divides && (w.costs || !s->uneven) && w.memos ? TP_OK : TP_NO_MEMORY;
  for (uint32_t i = 0; status == TP_OK && i < g->n_prices * MEMO_WAYS; i++)
    w.memos[i].elements = -1;
  for (uint32_t i = 0; status == TP_OK && i < g->n_states; i++)
    w.elements[i] = local_elements(s, g->states[i], &w.divides[i]);
  if (status == TP_OK)
    status = list_even(&w, s);
  if (status == TP_OK)
    *weights = w;
  else
    tp__edge_costs_destroy(&w);
  return status;
}

void tp__edge_costs_destroy(tp__edge_costs *w) {
  tp__free(w->memos);
  tp__free(w->costs);
  tp__free(w->even);
  tp__free(w->first_even);
  tp__free(w->divides);
  tp__free(w->elements);
  *w = (tp__edge_costs){0};
}

tp_cost tp__edge_cost(tp__edge_costs *w, const tp__layout_search *s, uint32_t from,
                      const tp__layout_edge *edge) {
  tp_cost *cost = &w->costs[edge - w->graph->edges];
  tp_spec a = w->graph->states[from], b = w->graph->states[edge->to];
  tp_step_kind kind = (tp_step_kind)edge->kind;
  int n_dims = w->graph->n_dims;
  if (*cost > 0)
    return *cost;
  if (w->divides[from] && w->divides[edge->to])
    *cost = price(w, s, edge, w->elements[from]);
  else if (!tp__move_keeps_prefix(s->mesh, kind, a, b, n_dims, s->sizes))
    *cost = TP_COST_FORBIDDEN;
  else /* more than the local elements, because uneven shards are padded */
    *cost = price(w, s, edge,
                  tp__multiply(s->outer, tp__move_elements(s->mesh, kind, a, b, n_dims, s->sizes)));
  return *cost;
}
