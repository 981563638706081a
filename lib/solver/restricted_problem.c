/* Searches graphs of growing sets of promising strategies, under a memory limit. */
#include "solver/restricted_problem.h"

#include "solver/constrained.h"
#include "solver/memory.h"
#include "solver/repair.h"
#include "support/compare.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum {
  FIRST_PASSES = 10, /* message passes before the first core ... */
  PASSES = 5,        /* ... and before each other */
  FIRST_SHARE = 32,  /* average number of strategies per node in the first core */
  GROWTH = 2,        /* factor for the next core if this one found nothing better */
  MAX_CORES = 10,
  WORK_SHARE = 3,       /* maximum share of the remaining work for one core ... */
  MAX_TABLE_READS = 125 /* ... and maximum number of reads of the whole graph's tables */
};

#define FIRST_WORTH 0.1
#define WORTH_GROWTH 3.0

typedef struct picker {
  tp__price_ascent *c;
  tp__prices prices;
  tp__pool pool;
  const int *at;   /* kept in every core, like the answer */
  tp_cost **more;  /* by node and strategy: lower bound on the cost beyond the dual's bound */
  tp_cost *sorted; /* the same values, ascending */
  int64_t n;       /* strategies */
  int *members, n_members;
  tp_cost bound; /* the best bound, reached at these prices */
  double *price;
  int n_failed; /* cores in which no assignment fits */
} picker;

static tp_status start(picker *p, tp__price_ascent *c, const int *at) {
  const tp__wcsp *g = c->g;
  *p = (picker){.c = c, .at = at, .n = tp__wcsp_strategies(g)};
  p->more = tp__pool_calloc(&p->pool, (size_t)g->n_nodes, sizeof *p->more);
  p->sorted = tp__pool_alloc(&p->pool, (size_t)p->n, sizeof *p->sorted);
  p->members = tp__pool_alloc(&p->pool, (size_t)g->n_nodes, sizeof *p->members);
  p->price = tp__pool_alloc(&p->pool, (size_t)g->memory->n_times, sizeof *p->price);
  p->bound = INT64_MIN;
  bool ok = p->more && p->sorted && p->members && p->price;
  for (int v = 0; ok && v < g->n_nodes; v++)
    if (g->nodes[v].alive) {
      p->members[p->n_members++] = v;
      ok = (p->more[v] = tp__pool_alloc(&p->pool, (size_t)g->nodes[v].n, sizeof **p->more)) != NULL;
    }
  return ok ? tp__prices_create(c->g, &c->s->work, &p->prices) : TP_NO_MEMORY;
}

/* Passes messages at the current prices. False if there is no bound. */
static bool pass(picker *p, int passes) {
  bool valid = true;
  for (int i = 0; valid && i < passes && (i == 0 || !tp__search_spent(p->c->s)); i++)
    valid = tp__prices_pass(&p->prices, tp__search_control(p->c->s), &p->c->s->work);
  tp_cost bound = valid ? tp__prices_bound(&p->prices) : INT64_MIN;
  if (bound > p->bound) {
    p->bound = bound;
    memcpy(p->price, p->c->g->memory->price, (size_t)p->c->g->memory->n_times * sizeof *p->price);
  }
  p->c->bound = bound > p->c->bound ? bound : p->c->bound;
  return valid;
}

/* Returns the threshold on the extra cost that about `share` strategies per node meet. */
static tp_cost threshold(picker *p, int64_t share) {
  int64_t n = 0;
  for (int i = 0; i < p->n_members; i++) {
    int v = p->members[i];
    tp__dual_reduced_costs(&p->prices.dual, v, p->more[v]);
    memcpy(p->sorted + n, p->more[v], (size_t)p->c->g->nodes[v].n * sizeof *p->sorted);
    n += p->c->g->nodes[v].n;
  }
  p->c->s->work += p->prices.sweep;
  qsort(p->sorted, (size_t)n, sizeof *p->sorted, tp__compare_i64s);
  int64_t last = share * p->n_members;
  return p->sorted[last < n ? last : n - 1];
}

/* Returns the graph of the strategies that cost at most `most` beyond the bound. */
static tp__wcsp *make_core(const picker *p, tp_cost most) {
  const tp__wcsp *g = p->c->g;
  const tp__answer *answer = p->c->answer;
  bool found = answer->cost < TP_COST_FORBIDDEN;
  int largest = 1;
  for (int i = 0; i < p->n_members; i++)
    largest = g->nodes[p->members[i]].n > largest ? g->nodes[p->members[i]].n : largest;
  tp__wcsp *core = tp__wcsp_extract(g, p->members, p->n_members, -1, 0);
  bool *drop = tp__malloc((size_t)largest * sizeof *drop);
  bool ok = core && drop && tp__memory_extract(g, core, p->members, g->memory->capacity) == TP_OK;
  for (int i = 0; ok && i < p->n_members; i++) {
    int node = p->members[i];
    const tp__wnode *v = &g->nodes[node];
    for (int x = 0; x < v->n; x++)
      drop[x] = p->more[node][x] > most && !(p->at && v->label[x] == p->at[node]) &&
                !(found && v->label[x] == answer->choices[node]);
    ok = tp__wcsp_drop(core, i, drop) == TP_OK;
  }
  tp__free(drop);
  if (ok)
    return core;
  tp__wcsp_destroy(core);
  return NULL;
}

/* Copies the prices of a core, whose times are a subset of those of the graph. */
static void copy_prices(picker *p, const tp__wmemory *from) {
  tp__wmemory *to = p->c->g->memory;
  int k = 0;
  for (int t = 0; t < to->n_times; t++) {
    while (k < from->n_times && from->time[k] < to->time[t])
      k++;
    to->price[t] = k < from->n_times && from->time[k] == to->time[t] ? from->price[k] : 0;
  }
}

static double capacity_payment(const tp__wmemory *memory) {
  double paid = 0;
  for (int t = 0; t < memory->n_times; t++)
    paid += memory->price[t] * (double)memory->capacity[t];
  return paid;
}

/* Sets prices proportional to the excess of the cheapest strategies over the capacity. If there is
 * no excess, sets the same price everywhere. */
static tp_status price_excess(picker *p) {
  tp__wcsp *g = p->c->g;
  tp__wmemory *memory = g->memory;
  int *at = tp__calloc((size_t)g->n_nodes + 1, sizeof *at);
  tp__int128 *used = tp__malloc((size_t)memory->n_times * sizeof *used + 1);
  bool ok = at && used, exceeds = false;
  for (int i = 0; ok && i < p->n_members; i++) {
    int v = p->members[i];
    for (int x = 1; x < g->nodes[v].n; x++)
      at[v] = p->more[v][x] < p->more[v][at[v]] ? x : at[v];
  }
  if (ok)
    tp__usage_of(g, at, used);
  for (int t = 0; ok && t < memory->n_times; t++)
    exceeds |= used[t] > memory->capacity[t];
  for (int t = 0; ok && t < memory->n_times; t++)
    memory->price[t] = !exceeds                        ? 1
                       : used[t] > memory->capacity[t] ? (double)(used[t] - memory->capacity[t])
                                                       : 0;
  tp__free(at);
  tp__free(used);
  return ok ? TP_OK : TP_NO_MEMORY;
}

/* Sets prices after a core in which no assignment fits. Its prices show at which times memory is
 * short, but they diverge or do not exist yet. Scales them so that the whole capacity is worth a
 * share of the bound, which grows with every failure. */
static tp_status price_shortage(picker *p) {
  tp__wmemory *memory = p->c->g->memory;
  double worth = FIRST_WORTH * (p->c->bound > 0 ? (double)p->c->bound : 1);
  for (int i = 0; i < p->n_failed; i++)
    worth *= WORTH_GROWTH;
  p->n_failed++;
  if (capacity_payment(memory) <= 0 && price_excess(p))
    return TP_NO_MEMORY;
  double paid = capacity_payment(memory);
  for (int t = 0; paid > 0 && t < memory->n_times; t++)
    memory->price[t] *= worth / paid;
  return TP_OK;
}

static tp_status search_core(picker *p, tp_cost most, int64_t work) {
  tp__price_ascent *c = p->c;
  tp__search *s = c->s;
  tp__wcsp *core = make_core(p, most);
  tp__answer found = {.choices = tp__calloc((size_t)p->n_members + 1, sizeof *found.choices),
                      .cost = TP_COST_FORBIDDEN};
  tp_status status = core && found.choices ? TP_OK : TP_NO_MEMORY;
  tp_cost constant = c->g->constant;
  if (status == TP_OK && c->answer->cost < TP_COST_FORBIDDEN) {
    for (int i = 0; i < p->n_members; i++)
      found.choices[i] = c->answer->choices[p->members[i]];
    found.cost = c->answer->cost - constant;
  }
  tp_cost before = found.cost;
  int64_t whole_limit = s->work_limit;
  s->work_limit = s->work + work < whole_limit ? s->work + work : whole_limit;
  s->nested++;
  if (status == TP_OK)
    status = tp__constrained_restricted(s, core, c->limit - constant, &found);
  s->nested--;
  s->work_limit = whole_limit;
  if (status == TP_OK &&
      (found.cost < before || (found.nearest && c->answer->cost >= TP_COST_FORBIDDEN))) {
    for (int i = 0; i < p->n_members; i++)
      c->answer->choices[p->members[i]] = found.choices[i];
    tp__wcsp_complete(c->g, c->answer->choices);
    c->answer->nearest = found.nearest;
    if (found.cost < before) {
      c->answer->cost = found.cost + constant;
      c->limit = tp__limit_below(s, c->answer->cost);
    }
  }
  if (status == TP_OK) {
    copy_prices(p, core->memory);
    if (found.cost >= TP_COST_FORBIDDEN)
      status = price_shortage(p);
    tp__prices_set(&p->prices, &s->work);
  }
  tp__wcsp_destroy(core);
  tp__free(found.choices);
  return status;
}

/* Searches cores, which grow as long as they find nothing better. A core with all strategies that
 * can be part of a better assignment would be the whole pruned graph, so the search stops there. */
static tp_status search_cores(picker *p, bool *valid) {
  tp__price_ascent *c = p->c;
  tp__search *s = c->s;
  int64_t share = FIRST_SHARE, looks = MAX_TABLE_READS * tp__wcsp_entries(c->g);
  tp_status status = TP_OK;
  *valid = pass(p, FIRST_PASSES);
  for (int i = 0;
       status == TP_OK && *valid && i < MAX_CORES && c->bound < c->limit && !tp__search_spent(s);
       i++) {
    tp_cost most = threshold(p, share), before = c->limit;
    if (most >= p->sorted[p->n - 1] || most >= c->limit - tp__prices_bound(&p->prices))
      break;
    int64_t work = (s->work_limit - s->work) / WORK_SHARE;
    status = search_core(p, most, work < looks ? work : looks);
    tp__search_update(s, c->bound, c->answer->cost);
    if (status == TP_OK)
      *valid = pass(p, PASSES);
    if (c->limit == before && p->n_failed != 1)
      share *= GROWTH;
  }
  return status;
}

tp_status tp__restricted_problems(tp__price_ascent *c, const int *at) {
  picker p;
  bool valid = true;
  if (tp__wcsp_strategies(c->g) <= (int64_t)FIRST_SHARE * c->g->n_alive)
    return TP_OK; /* a core would contain all strategies */
  tp_status status = start(&p, c, at);
  c->s->multiplied = true;
  if (status == TP_OK)
    status = search_cores(&p, &valid);
  if (p.bound > INT64_MIN)
    memcpy(c->g->memory->price, p.price, (size_t)c->g->memory->n_times * sizeof *p.price);
  if (status == TP_OK && c->bound >= c->limit)
    status = TP_INFEASIBLE;
  valid &= !tp__search_must_finish(c->s); /* the graph is not searched any further */
  if (status == TP_OK && valid) {
    tp__prices_set(&p.prices, &c->s->work);
    valid = pass(&p, PASSES);
  }
  /* keeps the best assignment itself, because the search of the whole starts from it */
  if (status == TP_OK && valid)
    status = tp__prices_prune(&p.prices,
                              c->answer->cost < TP_COST_FORBIDDEN ? c->answer->cost + 1 : c->limit,
                              &c->s->work);
  tp__prices_clear(&p.prices);
  tp__pool_release(&p.pool);
  return status;
}
