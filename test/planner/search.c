/* Finds the cheapest plan of a space by branch and bound. */
#include "search.h"

#include <string.h>

enum { MAX_KEY = MAX_USES + 2 };

/* Cached cost of a value for its shardings. */
typedef struct price {
  uint64_t hash;
  int n; /* 0: free slot */
  uint64_t *key;
  tp_cost cost;
} price;

typedef struct search {
  const space *s;
  tp_reshard_cache *reshards;
  const search_options *how;
  unsigned beyond; /* bit set of allowed `beyond` reasons */
  int64_t steps;
  int accepts; /* calls of `accept` left */
  tp_cost best;
  int *chosen;      /* choice per decision */
  int *plan;        /* the best so far; may be NULL */
  int *last;        /* per value: the last decision that it depends on; -1: none */
  tp_cost *rest;    /* per decision: lower bound on the cost of all from it on */
  layouts *between; /* per value: shardings it may be resharded to once for all its uses */
  size_t capacity, count;
  price *prices;
} search;

/* ---- Cost of a value ---- */

static tp_cost change(const search *q, const value *v, tp_spec from, tp_spec to) {
  if (v->in_blocks)
    return tp_spec_equal(from, to) ? 0 : TP_COST_FORBIDDEN;
  return tp_reshard_cost(q->reshards, from, to, v->rank, v->shape, v->element_size);
}

/* Returns the cost of a reshard to the result of the function: to any allowed sharding. */
static tp_cost to_result(const search *q, const value *v, const layouts *result, tp_spec from) {
  tp_cost least = TP_COST_FORBIDDEN;
  for (int i = 0; i < result->n && least > 0; i++)
    if ((result->beyond[i] & ~q->beyond) == 0 || result->n == 1) {
      tp_cost cost = change(q, v, from, result->specs[i]);
      least = cost < least ? cost : least;
    }
  return least;
}

static tp_spec wanted(const search *q, use u) {
  const decision *d = &q->s->decisions[u.decision];
  return d->choices[q->chosen[u.decision]].in[u.input];
}

static tp_cost to_use(const search *q, const value *v, use u, tp_spec from) {
  return u.decision < 0 ? to_result(q, v, u.result, from) : change(q, v, from, wanted(q, u));
}

/* True if the op takes the value in this sharding before, so that one reshard serves both uses. */
static bool is_served(const search *q, const value *v, int u) {
  for (int k = 0; k < u; k++)
    if (v->uses[u].decision >= 0 && v->uses[k].decision == v->uses[u].decision &&
        tp_spec_equal(wanted(q, v->uses[k]), wanted(q, v->uses[u])))
      return true;
  return false;
}

/* With one use the reshard is direct; with several there may be an intermediate sharding, and the
 * reshard to it is paid for once. */
static tp_cost from_layout(search *q, int index, tp_spec made) {
  const value *v = &q->s->values[index];
  if (v->n_uses == 1)
    return to_use(q, v, v->uses[0], made);
  const layouts *between = &q->between[index];
  q->steps -= between->n * v->n_uses / 8;
  tp_cost least = TP_COST_FORBIDDEN;
  for (int c = 0; c < between->n; c++) {
    tp_cost sum = change(q, v, made, between->specs[c]);
    for (int u = 0; u < v->n_uses && sum < least; u++)
      if (!is_served(q, v, u))
        sum = tp_cost_add(sum, to_use(q, v, v->uses[u], between->specs[c]));
    least = sum < least ? sum : least;
  }
  return least;
}

/* Returns the cost of a free value, which is created for each use in the sharding of that use. */
static tp_cost free_value(const search *q, const value *v) {
  const decision *d = &q->s->decisions[v->decision];
  tp_cost sum = 0;
  for (int u = 0; u < v->n_uses; u++) {
    tp_cost least = TP_COST_FORBIDDEN;
    for (int k = 0; k < d->n; k++)
      if ((d->choices[k].beyond & ~q->beyond) == 0) {
        tp_cost cost = to_use(q, v, v->uses[u], d->choices[k].out[v->output]);
        least = cost < least ? cost : least;
      }
    sum = tp_cost_add(sum, least);
  }
  return sum;
}

static tp_cost value_cost(search *q, int index) {
  const value *v = &q->s->values[index];
  tp_cost cost = TP_COST_FORBIDDEN;
  if (v->n_uses == 0)
    return 0;
  if (v->decision >= 0 && q->s->decisions[v->decision].is_free) {
    cost = free_value(q, v);
  } else if (v->decision >= 0) {
    cost = from_layout(q, index,
                       q->s->decisions[v->decision].choices[q->chosen[v->decision]].out[v->output]);
  } else {
    for (int i = 0; i < v->argument.n; i++)
      if ((v->argument.beyond[i] & ~q->beyond) == 0) {
        tp_cost other = from_layout(q, index, v->argument.specs[i]);
        cost = other < cost ? other : cost;
      }
  }
  return cost >= TP_COST_FORBIDDEN ? cost : (tp_cost)((double)cost * v->trips);
}

/* ---- Cache ---- */

static price *find_price(price *prices, size_t capacity, uint64_t hash, const uint64_t *key,
                         int n) {
  size_t at = hash & (capacity - 1);
  while (prices[at].n && (prices[at].hash != hash || prices[at].n != n ||
                          memcmp(prices[at].key, key, (size_t)n * sizeof *key) != 0))
    at = (at + 1) & (capacity - 1);
  return &prices[at];
}

static void grow(search *q) {
  size_t capacity = q->capacity ? 2 * q->capacity : 1024;
  price *prices = tp__calloc(capacity, sizeof *prices);
  for (size_t i = 0; i < q->capacity; i++)
    if (q->prices[i].n)
      *find_price(prices, capacity, q->prices[i].hash, q->prices[i].key, q->prices[i].n) =
          q->prices[i];
  tp__free(q->prices);
  q->prices = prices;
  q->capacity = capacity;
}

static tp_cost remembered_cost(search *q, int index) {
  const value *v = &q->s->values[index];
  uint64_t key[MAX_KEY] = {(uint64_t)index + 1}, hash = 0;
  int n = 1;
  if (v->decision >= 0 && !q->s->decisions[v->decision].is_free)
    key[n++] = q->s->decisions[v->decision].choices[q->chosen[v->decision]].out[v->output].bits;
  for (int u = 0; u < v->n_uses; u++)
    if (v->uses[u].decision >= 0)
      key[n++] = wanted(q, v->uses[u]).bits;
  for (int i = 0; i < n; i++) {
    hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  if (2 * (q->count + 1) > q->capacity)
    grow(q);
  price *found = find_price(q->prices, q->capacity, hash, key, n);
  if (found->n)
    return found->cost;
  tp_cost cost = value_cost(q, index);
  uint64_t *kept = tp__arena_array(q->s->arena, (size_t)n, sizeof *kept);
  memcpy(kept, key, (size_t)n * sizeof *key);
  *found = (price){.hash = hash, .n = n, .key = kept, .cost = cost};
  q->count++;
  return cost;
}

/* ---- All plans ---- */

static void take(search *q, tp_cost sum) {
  if (sum >= q->best)
    return;
  if (q->how->accept && q->accepts-- <= 0)
    q->steps = -1;
  if (q->steps < 0 || (q->how->accept && !q->how->accept(q->how->data, q->chosen, sum)))
    return;
  if (q->plan)
    memcpy(q->plan, q->chosen, (size_t)q->s->n_decisions * sizeof *q->plan);
  q->best = sum;
}

/* `held`: bytes of the decided arguments and results. */
static void decide(search *q, int d, tp_cost sum, int64_t held) {
  if (q->steps-- <= 0)
    return;
  if (d == q->s->n_decisions) {
    take(q, sum);
    return;
  }
  const decision *now = &q->s->decisions[d];
  for (int k = 0; k < (now->is_free ? 1 : now->n); k++) {
    if ((now->choices[k].beyond & ~q->beyond) && !now->is_free)
      continue;
    int64_t bytes = held + now->choices[k].held;
    if (q->how->memory > 0 && bytes > q->how->memory)
      continue;
    q->chosen[d] = k;
    tp_cost next = now->is_free ? sum : tp_cost_add(sum, now->choices[k].cost);
    for (int v = 0; v < q->s->n_values && tp_cost_add(next, q->rest[d + 1]) < q->best; v++)
      if (q->last[v] == d)
        next = tp_cost_add(next, remembered_cost(q, v));
    if (tp_cost_add(next, q->rest[d + 1]) < q->best)
      decide(q, d + 1, next, bytes);
  }
}

static uint32_t combiners_of(const space *s, const value *v) {
  uint32_t set = 0;
  for (int u = -1; u < v->n_uses; u++) {
    int at = u < 0 ? v->decision : v->uses[u].decision;
    const decision *d = at < 0 ? NULL : &s->decisions[at];
    for (int k = 0; d && k < d->n; k++) {
      tp_spec spec = u < 0 ? d->choices[k].out[v->output] : d->choices[k].in[v->uses[u].input];
      for (int a = 0; a < s->mesh->n_axes; a++) {
        tp_place place = tp_spec_place(spec, a);
        if (place.kind == TP_PARTIAL)
          set |= 1u << place.combiner;
      }
    }
  }
  return set;
}

static void prepare(search *q) {
  const space *s = q->s;
  q->chosen = tp__arena_array(s->arena, (size_t)s->n_decisions + 1, sizeof *q->chosen);
  q->rest = tp__arena_array(s->arena, (size_t)s->n_decisions + 1, sizeof *q->rest);
  q->last = tp__arena_array(s->arena, (size_t)s->n_values + 1, sizeof *q->last);
  q->between = tp__arena_array(s->arena, (size_t)s->n_values + 1, sizeof *q->between);
  for (int d = s->n_decisions - 1; d >= 0; d--) {
    const decision *now = &s->decisions[d];
    tp_cost least = now->is_free ? 0 : TP_COST_FORBIDDEN;
    for (int k = 0; k < now->n && !now->is_free; k++)
      least = now->choices[k].cost < least ? now->choices[k].cost : least;
    q->rest[d] = tp_cost_add(q->rest[d + 1], least);
  }
  for (int v = 0; v < s->n_values; v++) {
    const value *at = &s->values[v];
    q->last[v] = at->decision;
    for (int u = 0; u < at->n_uses; u++)
      if (at->uses[u].decision > q->last[v])
        q->last[v] = at->uses[u].decision;
    if (at->n_uses > 1)
      q->between[v] = list_layouts(s, at, tp_spec_replicated(), UINT32_MAX, combiners_of(s, at));
  }
}

search_result search_plans(const space *s, tp_reshard_cache *reshards,
                           const search_options *options, int *plan) {
  search q = {.plan = plan,
              .s = s,
              .reshards = reshards,
              .how = options,
              .beyond = options->beyond,
              .steps = options->steps,
              .accepts = options->most_accepts,
              .best = options->limit};
  tp_cost sum = 0;
  prepare(&q);
  for (int v = 0; v < s->n_values; v++)
    if (q.last[v] < 0)
      sum = tp_cost_add(sum, remembered_cost(&q, v)); /* from an argument to a result */
  decide(&q, 0, sum, 0);
  tp__free(q.prices);
  return (search_result){.done = q.steps >= 0, .least = q.best};
}
