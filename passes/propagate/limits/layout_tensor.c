/* Measures the distances between the layouts of tensors, and spreads costs over them.
 *
 * The table of distances between the layouts that edges ask about is made once, with 32 bits for
 * each. Then the costs of one column of layouts are spread over another by a product of a vector
 * and a matrix, with minimum and sum: consecutive memory, eight distances per instruction. Shortest
 * paths from many sources need fewer operations, but each of them at some other address. */
#include "passes/propagate/limits/layout_tensor.h"

#include "support/vectors.h"

#include <string.h>

enum { MAX_DISTANCES = 1 << 26, AT_ONCE = 4 };
/* Quotients from here on are larger than every distance: such a cost reaches nothing first. */
#define FAR (TP_FIELD_FAR >> 1)

/* ---- tensors ---- */

uint64_t tp__layout_order(const tp_planned_value *v) {
  uint64_t order = 0;
  for (int d = 0; d < v->rank; d++) {
    uint64_t place = 0;
    for (int k = 0; k < v->rank; k++)
      place += v->shape[k] < v->shape[d] || (v->shape[k] == v->shape[d] && k < d);
    order |= place << (4 * d);
  }
  return order;
}

tp_spec tp__layout_sorted(uint64_t order, tp_spec spec) {
  tp_spec sorted = spec;
  for (int at = 0; at < 8 * TP_MAX_AXES; at += 8) {
    uint64_t byte = spec.bits >> at & 0xff;
    if ((byte & 0x80) || !(byte & 15))
      continue;
    uint64_t dim = order >> (4 * ((byte & 15) - 1)) & 15;
    sorted.bits = (sorted.bits & ~(UINT64_C(15) << at)) | (dim + 1) << at;
  }
  return sorted;
}

static void sort_shape(const tp_planned_value *v, int64_t *shape) {
  uint64_t order = tp__layout_order(v);
  for (int d = 0; d < v->rank; d++)
    shape[order >> (4 * d) & 15] = v->shape[d];
}

tp_layout_tensor *tp__layout_tensor(tp_layout_tensors *tensors, const tp_planned_value *v,
                                    bool is_new) {
  int64_t shape[TP_MAX_RANK];
  size_t shape_bytes = (size_t)v->rank * sizeof *shape;
  tp_layout_tensor *c = tensors->first;
  sort_shape(v, shape);
  while (c && (c->rank != v->rank || c->element_size != v->element_size || c->trips != v->trips ||
               memcmp(c->shape, shape, shape_bytes) != 0))
    c = c->next;
  if (!c && is_new && (c = tp__arena_alloc(tensors->arena, sizeof *c))) {
    *c = (tp_layout_tensor){.next = tensors->first,
                            .rank = v->rank,
                            .element_size = v->element_size,
                            .trips = v->trips};
    memcpy(c->shape, shape, shape_bytes);
    tensors->first = c;
  }
  return c;
}

int tp__layout_tensor_place(const tp_layout_tensor *c, uint64_t order, tp_spec spec) {
  return c->place[tp_reshard_field_number(c->field, tp__layout_sorted(order, spec))];
}

/* Gives the layouts that edges ask about their places. */
static tp_status number_places(tp_layout_tensor *c) {
  int n = tp_reshard_field_size(c->field);
  c->place = tp__calloc((size_t)n + 1, sizeof *c->place);
  c->number = tp__calloc(c->n + 1, sizeof *c->number);
  if (!c->place || !c->number)
    return TP_NO_MEMORY;
  for (int i = 0; i < n; i++)
    c->place[i] = -1;
  for (size_t i = 0; i < c->n; i++) {
    int number = tp_reshard_field_number(c->field, c->specs[i]);
    if (c->place[number] >= 0)
      continue;
    c->number[c->n_places] = number;
    c->place[number] = c->n_places++;
  }
  return TP_OK;
}

static tp_status measure(tp_layout_tensors *tensors, tp_layout_tensor *c) {
  int64_t n = (int64_t)c->n_places * c->n_places;
  if (tensors->n_distances + n > MAX_DISTANCES)
    return TP_OK;
  tp_status status = TP_NO_MEMORY;
  c->distances = tp__calloc((size_t)n + 1, sizeof *c->distances);
  if (c->distances)
    status = tp_reshard_field_distances(c->field, c->n_places, c->number, &c->shift, c->distances);
  if (status == TP_OK) {
    tensors->n_distances += n;
  } else {
    tp__free(c->distances);
    c->distances = NULL;
  }
  return status == TP_UNSUPPORTED ? TP_OK : status;
}

tp_status tp__layout_tensors_measure(tp_layout_tensors *tensors, tp_planner *p) {
  size_t most = 1, places = 1;
  for (tp_layout_tensor *c = tensors->first; c; c = c->next) {
    TP_TRY(tp__plan_cancelled(p));
    tp_status status =
        tp_reshard_field_create(p->problem.reshards, c->rank, c->shape, c->element_size, c->trips,
                                (int)c->n, c->specs, &c->field);
    if (status == TP_UNSUPPORTED)
      continue;
    TP_TRY(status);
    TP_TRY(number_places(c));
    TP_TRY(measure(tensors, c));
    size_t n = (size_t)tp_reshard_field_size(c->field);
    most = n > most ? n : most;
    places = (size_t)c->n_places > places ? (size_t)c->n_places : places;
  }
  tensors->by_number = tp__arena_array(tensors->arena, most, sizeof *tensors->by_number);
  tensors->costs = tp__arena_array(tensors->arena, places, sizeof *tensors->costs);
  tensors->quotients = tp__arena_array(tensors->arena, places, sizeof *tensors->quotients);
  return tensors->by_number && tensors->costs && tensors->quotients ? TP_OK : TP_NO_MEMORY;
}

void tp__layout_tensors_destroy(tp_layout_tensors *tensors) {
  for (tp_layout_tensor *c = tensors->first; c; c = c->next) {
    tp_reshard_field_destroy(c->field);
    tp__free(c->specs);
    tp__free(c->place);
    tp__free(c->number);
    tp__free(c->distances);
  }
}

/* ---- spreading ---- */

/* Lowers to[i] to the sums with the rows' distances. */
VECTORS static void lower(int n, const uint32_t *const *rows, const uint32_t *costs, uint32_t *to) {
  const uint32_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  for (int i = 0; i < n; i++) {
    uint32_t x = a[i] + costs[0], y = b[i] + costs[1], z = c[i] + costs[2], w = d[i] + costs[3];
    x = x < y ? x : y;
    z = z < w ? z : w;
    x = x < z ? x : z;
    to[i] = x < to[i] ? x : to[i];
  }
}

/* least[k]: the minimum over i of costs[i] plus the distance in row k. */
VECTORS static void find_least(int n, const uint32_t *const *rows, const uint32_t *costs,
                               uint32_t *least) {
  const uint32_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  uint32_t x = UINT32_MAX, y = UINT32_MAX, z = UINT32_MAX, w = UINT32_MAX;
  for (int i = 0; i < n; i++) {
    uint32_t cost = costs[i];
    x = a[i] + cost < x ? a[i] + cost : x;
    y = b[i] + cost < y ? b[i] + cost : y;
    z = c[i] + cost < z ? c[i] + cost : z;
    w = d[i] + cost < w ? d[i] + cost : w;
  }
  least[0] = x;
  least[1] = y;
  least[2] = z;
  least[3] = w;
}

static const uint32_t *row_of(const tp_layout_tensor *c, int place) {
  return c->distances + (size_t)place * (size_t)c->n_places;
}

static tp_cost cost_of(const tp_layout_tensor *c, uint32_t quotient) {
  return quotient < TP_FIELD_FAR ? (tp_cost)quotient << c->shift : TP_IMPOSSIBLE;
}

static bool is_near(const tp_layout_tensor *c, tp_cost cost) {
  return cost < TP_IMPOSSIBLE && cost >> c->shift < FAR;
}

static void spread_forward(const tp_layout_tensors *t, const tp_layout_tensor *c, int n_far,
                           const int *far_places, const tp_cost *far, int n_near,
                           const int *near_places, tp_cost *near) {
  const uint32_t *rows[AT_ONCE];
  uint32_t costs[AT_ONCE];
  int n = 0;
  for (int i = 0; i < c->n_places; i++)
    t->quotients[i] = TP_FIELD_FAR;
  for (int y = 0; y < n_far; y++) {
    if (is_near(c, far[y])) {
      rows[n] = row_of(c, far_places[y]);
      costs[n++] = (uint32_t)(far[y] >> c->shift);
    }
    if (n == 0 || (n < AT_ONCE && y + 1 < n_far))
      continue;
    for (; n < AT_ONCE; n++) {
      rows[n] = rows[0];
      costs[n] = costs[0];
    }
    lower(c->n_places, rows, costs, t->quotients);
    n = 0;
  }
  for (int x = 0; x < n_near; x++)
    near[x] = cost_of(c, t->quotients[near_places[x]]);
}

static void spread_backward(const tp_layout_tensors *t, const tp_layout_tensor *c, int n_far,
                            const int *far_places, const tp_cost *far, int n_near,
                            const int *near_places, tp_cost *near) {
  for (int i = 0; i < c->n_places; i++)
    t->quotients[i] = TP_FIELD_FAR;
  for (int y = 0; y < n_far; y++) {
    uint32_t *at = &t->quotients[far_places[y]];
    if (is_near(c, far[y]) && far[y] >> c->shift < *at)
      *at = (uint32_t)(far[y] >> c->shift);
  }
  for (int x = 0; x < n_near; x += AT_ONCE) {
    const uint32_t *rows[AT_ONCE];
    uint32_t least[AT_ONCE];
    for (int k = 0; k < AT_ONCE; k++)
      rows[k] = row_of(c, near_places[x + k < n_near ? x + k : x]);
    find_least(c->n_places, rows, t->quotients, least);
    for (int k = 0; k < AT_ONCE && x + k < n_near; k++)
      near[x + k] = cost_of(c, least[k]);
  }
}

/* The same without a table. */
static void spread_field(const tp_layout_tensors *t, const tp_layout_tensor *c, bool backward,
                         int n_far, const int *far_places, const tp_cost *far, int n_near,
                         const int *near_places, tp_cost *near) {
  int n = tp_reshard_field_size(c->field);
  for (int i = 0; i < n; i++)
    t->by_number[i] = TP_COST_FORBIDDEN;
  for (int y = 0; y < n_far; y++) {
    tp_cost *at = &t->by_number[c->number[far_places[y]]];
    if (far[y] < TP_IMPOSSIBLE && far[y] < *at)
      *at = far[y];
  }
  tp_reshard_field_spread(c->field, backward, t->by_number);
  for (int x = 0; x < n_near; x++)
    near[x] = t->by_number[c->number[near_places[x]]];
}

void tp__layout_tensor_spread(const tp_layout_tensors *t, const tp_layout_tensor *c, bool backward,
                              int n_far, const int *far_places, const tp_cost *far, int n_near,
                              const int *near_places, tp_cost *near) {
  if (!c->distances)
    spread_field(t, c, backward, n_far, far_places, far, n_near, near_places, near);
  else if (backward)
    spread_backward(t, c, n_far, far_places, far, n_near, near_places, near);
  else
    spread_forward(t, c, n_far, far_places, far, n_near, near_places, near);
}

void tp__layout_tensor_distances(const tp_layout_tensors *t, const tp_layout_tensor *c,
                                 uint64_t order, tp_spec from, int n, const tp_spec *to,
                                 tp_cost *costs) {
  int at = tp__layout_tensor_place(c, order, from);
  if (!c->distances) {
    for (int i = 0; i < tp_reshard_field_size(c->field); i++)
      t->by_number[i] = i == c->number[at] ? 0 : TP_COST_FORBIDDEN;
    tp_reshard_field_spread(c->field, false, t->by_number);
  }
  for (int k = 0; k < n; k++) {
    int place = tp__layout_tensor_place(c, order, to[k]);
    costs[k] = c->distances ? cost_of(c, row_of(c, at)[place]) : t->by_number[c->number[place]];
  }
}
