/* Chooses the form of the costs and encodes them. */
#include "solver/encode.h"

#include "solver/memory.h"
#include "support/support.h"
#include "support/vectors.h"

enum {
  /* Integer messages round by a few units per node. With this scale, that is below one
   * picosecond. */
  MAX_STEP = 1024
};
#define ROOM_FOR_MESSAGES                                                                          \
  ((unsigned __int128)1 << 50) /* maximum scaled cost, so that messages cannot leave their range */
#define ROOM_FOR_SUMS ((unsigned __int128)1 << 60)

/* The costs of a node or an edge. */
typedef struct block {
  size_t n;
  const tp_cost *costs;
} block;

static block block_of(const tp_problem *problem, int i) {
  if (i < problem->n_nodes)
    return (block){(size_t)problem->nodes[i].n, problem->nodes[i].costs};
  const tp__problem_edge *edge = &problem->edges[i - problem->n_nodes];
  return (block){(size_t)problem->nodes[edge->a].n * (size_t)problem->nodes[edge->b].n,
                 edge->table};
}

static bool is_forbidden(const tp__code *code, tp_cost cost) {
  return code->form <= TP__FORM_AVOID && cost >= code->big;
}

/* Converts to units of the graph, before the shift and the step. */
static tp_cost weigh(const tp__code *code, tp_cost cost) {
  return code->form == TP__FORM_COUNT ? cost / code->big * code->weight + cost % code->big : cost;
}

/* Returns the minimum of all entries that are not forbidden. */
static tp_cost min_entry(const tp__code *code, block b) {
  tp_cost least = INT64_MAX;
  if (code->form == TP__FORM_PLAIN)
    return 0;
  for (size_t i = 0; i < b.n; i++)
    if (!is_forbidden(code, b.costs[i]) && weigh(code, b.costs[i]) < least)
      least = weigh(code, b.costs[i]);
  return least < INT64_MAX ? least : 0;
}

static tp_cost encode(const tp__code *code, tp_cost cost, tp_cost least) {
  return is_forbidden(code, cost) ? TP_COST_FORBIDDEN
                                  : ((weigh(code, cost) - least) >> code->shift) * code->step;
}

/* Chooses a weight above the sum of all remainders, so that a total decodes into multiples and
 * remainders. */
static void choose_weight(const tp_problem *problem, tp__code *code) {
  unsigned __int128 rests = 0;
  for (int i = 0; i < problem->n_nodes + problem->n_edges; i++) {
    block b = block_of(problem, i);
    tp_cost rest = 0;
    for (size_t k = 0; k < b.n; k++)
      rest = b.costs[k] % code->big > rest ? b.costs[k] % code->big : rest;
    rests += (unsigned __int128)rest;
  }
  /* otherwise unchanged */
  code->weight = rests < (unsigned __int128)code->big ? (tp_cost)rests + 1 : code->big;
}

/* Properties of a block. */
typedef struct extent {
  const tp_cost *costs;
  size_t n;
  /* in units of the graph: the minimum of the allowed entries, and their maximum beyond that */
  tp_cost least, most;
  tp_cost min_of_all; /* the minimum of all given costs ... */
  /* ... and the minimum avoided cost beyond that; INT64_MAX: none */
  tp_cost avoided;
} extent;

/* For unscaled costs, in one loop. */
VECTORS static extent measure_plain(tp_cost big, block b) {
  tp_cost least = INT64_MAX, most = 0, avoided = INT64_MAX;
  for (size_t k = 0; k < b.n; k++) {
    tp_cost cost = b.costs[k], allowed = cost < big ? cost : 0,
            forbidden = cost < big ? INT64_MAX : cost;
    least = cost < least ? cost : least;
    most = allowed > most ? allowed : most;
    avoided = forbidden < avoided ? forbidden : avoided;
  }
  return (extent){b.costs, b.n, 0, most, least, avoided < INT64_MAX ? avoided - least : INT64_MAX};
}

static extent measure(const tp__code *code, block b) {
  if (code->form == TP__FORM_PLAIN)
    return measure_plain(code->big, b);
  extent e = {.costs = b.costs,
              .n = b.n,
              .least = min_entry(code, b),
              .min_of_all = INT64_MAX,
              .avoided = INT64_MAX};
  for (size_t k = 0; k < b.n; k++) {
    e.min_of_all = b.costs[k] < e.min_of_all ? b.costs[k] : e.min_of_all;
    if (!is_forbidden(code, b.costs[k]) && weigh(code, b.costs[k]) - e.least > e.most)
      e.most = weigh(code, b.costs[k]) - e.least;
  }
  for (size_t k = 0; k < b.n; k++)
    if (b.costs[k] >= code->big && b.costs[k] - e.min_of_all < e.avoided)
      e.avoided = b.costs[k] - e.min_of_all;
  return e;
}

/* Sets the base and returns an upper bound on the excess of any assignment over it. Remembers most
 * arrays, because nodes with equal costs and repeated edges share them. */
static unsigned __int128 add_up(const tp_problem *problem, tp__code *code) {
  enum { BITS = 11 };
  extent known[1 << BITS] = {0};
  unsigned __int128 sum = 0, all_least = 0;
  tp_cost most_avoided = INT64_MAX;
  for (int i = 0; i < problem->n_nodes + problem->n_edges; i++) {
    block b = block_of(problem, i);
    extent *e = &known[(uintptr_t)b.costs * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS)];
    if (e->costs != b.costs || e->n != b.n)
      *e = measure(code, b);
    most_avoided = e->avoided < most_avoided ? e->avoided : most_avoided;
    code->base += (unsigned __int128)e->least;
    all_least += (unsigned __int128)e->min_of_all;
    sum += (unsigned __int128)e->most;
  }
  bool complete = most_avoided == INT64_MAX;
  code->avoided_bound =
      complete ? ~(unsigned __int128)0 : all_least + (unsigned __int128)most_avoided;
  return sum;
}

bool tp__code_choose(const tp_problem *problem, tp__form form, tp__code *code) {
  *code =
      (tp__code){.form = form, .step = 1, .big = problem->big ? problem->big : TP_COST_FORBIDDEN};
  if (form == TP__FORM_COUNT)
    choose_weight(problem, code);
  unsigned __int128 most = add_up(problem, code);
  if (form == TP__FORM_SHIFT)
    for (; most > ROOM_FOR_SUMS; most >>= 1)
      code->shift++;
  if (form != TP__FORM_PLAIN && most > ROOM_FOR_SUMS)
    return false;
  while (code->step < MAX_STEP && most * (unsigned __int128)code->step * 2 <= ROOM_FOR_MESSAGES)
    code->step *= 2;
  most *= (unsigned __int128)code->step;
  code->most = most < TP_COST_FORBIDDEN ? (tp_cost)most : TP_COST_FORBIDDEN - 1;
  return true;
}

static void encode_block(const tp__code *code, block b, tp_cost *to) {
  tp_cost least = min_entry(code, b);
  for (size_t i = 0; i < b.n; i++)
    to[i] = encode(code, b.costs[i], least);
}

/* Encodes the block in the graph's pool. With a shelf, once per key. NULL if memory runs out. */
static tp_cost *encoded(tp__wcsp *g, const tp__code *code, block b, const tp__hash_cons_key *key) {
  void *unshelved = NULL, **slot = g->cache ? tp__hash_cons_find(g->cache, key) : &unshelved;
  if (!slot || *slot)
    return slot ? *slot : NULL;
  tp_cost *costs = tp__pool_alloc(&g->pool, b.n, sizeof *costs);
  if (costs)
    encode_block(code, b, costs);
  return *slot = tp__wcsp_share(g, costs, b.n);
}

/* Identifies node costs by address, because equal ones share an array. */
static tp_status encode_node(tp__wcsp *g, const tp_problem *problem, const tp__code *code,
                             int node) {
  block b = block_of(problem, node);
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_COSTS);
  tp__hash_cons_add_array(&key, b.costs);
  tp_cost *costs = encoded(g, code, b, &key);
  return costs ? tp__wcsp_adopt_node(g, node, (int)b.n, costs) : TP_NO_MEMORY;
}

/* Identifies tables by address, because a repeated edge shares the table of another one. */
static tp_status encode_edge(tp__wcsp *g, const tp_problem *problem, const tp__code *code,
                             int edge) {
  const tp__problem_edge *e = &problem->edges[edge];
  block b = block_of(problem, problem->n_nodes + edge);
  tp__hash_cons_key key;
  tp__hash_cons_begin(&key, TP__HASH_CONS_ENCODE);
  tp__hash_cons_add_array(&key, b.costs);
  tp_cost *table = encoded(g, code, b, &key);
  if (!table)
    return TP_NO_MEMORY;
  return e->a < e->b ? tp__wcsp_adopt_edge(g, e->a, e->b, table)
                     : tp__wcsp_add_transposed(g, e->b, e->a, table);
}

/* Sharing pays off if most tables are repeated. Memory limits break the equality of nodes with
 * equal arrays. */
static bool wants_cache(const tp_problem *problem, const tp__code *code, bool limited) {
  return problem->n_repeated > problem->n_edges / 2 && !limited && code->form == TP__FORM_PLAIN;
}

static bool reserve_edges(tp__wcsp *g, const tp_problem *problem) {
  int *degree = tp__calloc((size_t)problem->n_nodes + 1, sizeof *degree);
  for (int e = 0; degree && e < problem->n_edges; e++) {
    degree[problem->edges[e].a]++;
    degree[problem->edges[e].b]++;
  }
  tp_status status = degree ? tp__wcsp_reserve_edges(g, degree, problem->n_edges) : TP_NO_MEMORY;
  tp__free(degree);
  return status == TP_OK;
}

tp__wcsp *tp__encode(const tp_problem *problem, const tp__code *code, bool limited) {
  limited &= problem->limit >= 0;
  tp__wcsp *g = tp__wcsp_create(problem->n_nodes);
  bool ok = g != NULL && reserve_edges(g, problem);
  if (ok && wants_cache(problem, code, limited))
    ok = (g->cache = tp__hash_cons_create()) != NULL;
  for (int v = 0; ok && v < problem->n_nodes; v++)
    ok = encode_node(g, problem, code, v) == TP_OK;
  for (int e = 0; ok && e < problem->n_edges; e++)
    ok = encode_edge(g, problem, code, e) == TP_OK;
  ok = ok && (!limited || tp__memory_attach(g, problem) == TP_OK);
  if (ok)
    return g;
  tp__wcsp_destroy(g);
  return NULL;
}

unsigned __int128 tp__decode_bound(const tp__code *code, tp_cost bound) {
  bound = bound > 0 ? bound : 0; /* costs of the graph are not negative */
  unsigned __int128 units = (unsigned __int128)(bound / code->step + (bound % code->step != 0));
  units = code->base + (units << code->shift);
  if (code->form == TP__FORM_COUNT)
    units = units / (unsigned __int128)code->weight * (unsigned __int128)code->big +
            units % (unsigned __int128)code->weight;
  return units;
}
