/* The symmetries of a field: two dimensions of one size may change places, and so may two axes of
 * one size whose collectives cost the same. Each symmetry is checked against all moves, so that
 * distances between images are known to be those between the layouts themselves. */
#include "sharding/layout_field.h"

#include <string.h>

/* An exchange of two dimensions of the view, or else of two axes. */
typedef struct exchange {
  bool of_axes;
  int a, b;
} exchange;

static tp_spec exchanged(const tp_reshard_field *f, const exchange *x, tp_spec spec) {
  tp_spec to = spec;
  if (x->of_axes) {
    tp__spec_set_byte(&to, x->a, tp__spec_byte(spec, x->b));
    tp__spec_set_byte(&to, x->b, tp__spec_byte(spec, x->a));
    return to;
  }
  for (int axis = 0; axis < f->mesh.n_axes; axis++) {
    unsigned byte = tp__spec_byte(spec, axis);
    int d = tp__byte_dim(byte);
    if (d == x->a || d == x->b)
      tp__spec_set_byte(&to, axis, (byte & 0x70) | (unsigned)((d == x->a ? x->b : x->a) + 1));
  }
  return to;
}

/* Finds the image of each layout. False if one of them is not included in the field. */
static bool find_images(const tp_reshard_field *f, const exchange *x, int32_t *images) {
  const tp__layout_graph *g = f->graph;
  for (uint32_t s = 0; s < g->n_states; s++) {
    if (f->number[s] < 0)
      continue;
    uint32_t to = tp__layout_graph_find(g, exchanged(f, x, g->states[s]));
    if (to == TP__NO_STATE || f->number[to] < 0)
      return false;
    images[f->number[s]] = f->number[to];
  }
  return true;
}

/* True if the image of no move costs more than the move. As an exchange undoes itself, they then
 * cost the same. `costs`: scratch, by layout, all TP_COST_FORBIDDEN. */
static bool keeps_costs(const tp_reshard_field *f, const int32_t *images, tp_cost *costs) {
  const tp__field_moves *m = &f->out;
  bool keeps = true;
  for (int s = 0; s < f->n_states && keeps; s++) {
    uint32_t first = m->first[images[s]], last = m->first[images[s] + 1];
    for (uint32_t k = first; k < last; k++)
      costs[m->other[k]] = m->cost[k] < costs[m->other[k]] ? m->cost[k] : costs[m->other[k]];
    for (uint32_t k = m->first[s]; k < m->first[s + 1] && keeps; k++)
      keeps = costs[images[m->other[k]]] <= m->cost[k];
    for (uint32_t k = first; k < last; k++)
      costs[m->other[k]] = TP_COST_FORBIDDEN;
  }
  return keeps;
}

static bool is_known(const tp__field_symmetries *y, int n_states, const int32_t *images) {
  for (int i = 0; i < y->n; i++)
    if (memcmp(y->images[i], images, (size_t)n_states * sizeof *images) == 0)
      return true;
  return false;
}

static int32_t *add_images(tp__field_symmetries *y, int n_states) {
  int32_t *images = tp__calloc((size_t)n_states + 1, sizeof *images);
  if (images)
    y->images[y->n++] = images;
  return images;
}

/* Adds what the exchange makes of each known symmetry, and of those that are added. */
static tp_status combine(const tp_reshard_field *f, const int32_t *exchange_images,
                         int32_t *scratch, tp__field_symmetries *y) {
  for (int i = 0; i < y->n && y->n < TP__MAX_SYMMETRIES; i++) {
    for (int s = 0; s < f->n_states; s++)
      scratch[s] = exchange_images[y->images[i][s]];
    if (is_known(y, f->n_states, scratch))
      continue;
    int32_t *images = add_images(y, f->n_states);
    if (!images)
      return TP_NO_MEMORY;
    memcpy(images, scratch, (size_t)f->n_states * sizeof *images);
  }
  return TP_OK;
}

static bool is_possible(const tp_reshard_field *f, const exchange *x) {
  return x->of_axes
             ? f->mesh.axes[x->a].size > 1 && f->mesh.axes[x->a].size == f->mesh.axes[x->b].size
             : f->sizes[x->a] == f->sizes[x->b];
}

static tp_status add_exchanges(const tp_reshard_field *f, bool of_axes, int32_t *images,
                               int32_t *scratch, tp_cost *costs, tp__field_symmetries *y) {
  int n = of_axes ? f->mesh.n_axes : f->view.n_dims;
  for (int a = 0; a < n; a++)
    for (int b = a + 1; b < n; b++) {
      const exchange x = {of_axes, a, b};
      if (is_possible(f, &x) && find_images(f, &x, images) && keeps_costs(f, images, costs))
        TP_TRY(combine(f, images, scratch, y));
    }
  return TP_OK;
}

tp_status tp__field_symmetries_find(const tp_reshard_field *f, tp__field_symmetries *y) {
  size_t n = (size_t)f->n_states + 1;
  int32_t *images = tp__calloc(n, sizeof *images), *scratch = tp__calloc(n, sizeof *scratch);
  tp_cost *costs = tp__calloc(n, sizeof *costs);
  *y = (tp__field_symmetries){0};
  int32_t *same = add_images(y, f->n_states);
  tp_status status = images && scratch && costs && same ? TP_OK : TP_NO_MEMORY;
  for (int s = 0; s < f->n_states && status == TP_OK; s++) {
    same[s] = s;
    costs[s] = TP_COST_FORBIDDEN;
  }
  for (int of_axes = 0; of_axes < 2 && status == TP_OK; of_axes++)
    status = add_exchanges(f, of_axes, images, scratch, costs, y);
  tp__free(costs);
  tp__free(scratch);
  tp__free(images);
  return status;
}

void tp__field_symmetries_clear(tp__field_symmetries *y) {
  for (int i = 0; i < y->n; i++)
    tp__free(y->images[i]);
  *y = (tp__field_symmetries){0};
}
