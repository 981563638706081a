/* Solves a variant of a problem from the messages of its base (sensitivity.c). */
#include "solver/sensitivity.h"

#include "solver/search.h"
#include "support/compare.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum {
  PASSES = 16, /* maximum number of message passes */
  /* first search limit: 2^-18 above the bound, or as far above it as the base's cost is ... */
  NEAREST = 18,
  NEAR = 14,             /* ... but at most 2^-14 above it ... */
  FARTHER = 4,           /* ... and this many times farther if nothing is found */
  LOCAL_NODES = 1024,    /* messages are passed over so many nodes, or over all if as many differ */
  NEAR_NODES = 256,      /* decided again around the nodes that differ ... */
  NEAR_TABLES = 1 << 18, /* ... with tables of so many entries ... */
  NEAR_WORK = 20000000,  /* ... and this much work */
  /* how often the reductions of a search read each table entry, about; no budget ends them */
  REDUCTION_READS = 20,
  TABLE_BUDGET = 20000000
};
#define WORK 2000000000

/* A search of a variant. Costs are those of the graph. */
typedef struct query {
  const tp_sensitivity *s;
  const bool *allowed;
  /* nodes whose strategies differ from those of the base, their neighbors, and so on */
  int *near, n_near;
  bool fewer;    /* the base has all strategies of the variant */
  bool is_local; /* few differ: messages are passed over the nodes of `near` only */
  tp__dual dual;
  const tp_cost **least; /* by node: tp__dual_reduced_costs */
  bool **kept;           /* by node */
  tp_cost limit;         /* only assignments that cost less are searched for */
  tp_cost bound;         /* certified, for all assignments below the limit */
  tp_cost cost;          /* of `choices`; TP_COST_FORBIDDEN if there are none */
  int *choices;
  tp__search search;
  tp__pool pool;
} query;

/* Computes the reduced costs of a node under the messages of the variant. */
static tp_status measure_node(query *q, int node) {
  const tp__wcsp *g = q->s->g;
  tp_cost *least = tp__pool_alloc(&q->pool, (size_t)g->nodes[node].n, sizeof *least);
  if (!least)
    return TP_NO_MEMORY;
  tp__dual_reduced_costs(&q->dual, node, least);
  for (int i = 0; i < g->nodes[node].n_edges; i++) {
    const int *ends = g->edges[g->nodes[node].edges[i]].node;
    q->search.work += (int64_t)g->nodes[ends[0]].n * g->nodes[ends[1]].n;
  }
  q->least[node] = least;
  return TP_OK;
}

/* Measures the nodes that the messages may have changed: those of `near` and their neighbors. */
static tp_status measure_near(query *q) {
  const tp__wcsp *g = q->s->g;
  tp_status status = TP_OK;
  for (int i = 0; status == TP_OK && i < q->n_near; i++) {
    const tp__wnode *v = &g->nodes[q->near[i]];
    if (q->least[q->near[i]] == q->s->least[q->near[i]])
      status = measure_node(q, q->near[i]);
    for (int k = 0; status == TP_OK && k < v->n_edges; k++) {
      int other = tp__wcsp_view(g, v->edges[k], q->near[i]).other;
      if (q->least[other] == q->s->least[other])
        status = measure_node(q, other);
    }
  }
  return status;
}

static tp_status measure(query *q) {
  const tp__wcsp *g = q->s->g;
  q->least = tp__pool_calloc(&q->pool, (size_t)g->n_nodes, sizeof *q->least);
  q->kept = tp__pool_calloc(&q->pool, (size_t)g->n_nodes, sizeof *q->kept);
  tp_status status = q->least && q->kept ? TP_OK : TP_NO_MEMORY;
  for (int v = 0; status == TP_OK && v < g->n_nodes; v++) {
    q->least[v] = q->s->least[v];
    q->kept[v] = tp__pool_alloc(&q->pool, (size_t)g->nodes[v].n, sizeof **q->kept);
    if (!q->kept[v])
      status = TP_NO_MEMORY;
    else if (!q->is_local)
      status = measure_node(q, v);
  }
  return status == TP_OK && q->is_local ? measure_near(q) : status;
}

/* Marks the strategies that can be in an assignment of cost < limit. False if a node has none. */
static bool mark_below_limit(query *q, tp_cost limit) {
  const tp__wcsp *g = q->s->g;
  bool all = true;
  for (int v = 0; v < g->n_nodes; v++) {
    bool any = false;
    for (int x = 0; x < g->nodes[v].n; x++)
      any |= q->kept[v][x] = tp__sensitivity_allows(q->s, q->allowed, v, x) &&
                             tp_cost_add(q->dual.bound, q->least[v][x]) < limit;
    all &= any;
  }
  return all;
}

/* True if the reductions of a search of the kept strategies would take more work than is left. */
static bool exceeds_work(const query *q) {
  const tp__wcsp *g = q->s->g;
  int64_t left = (q->search.work_limit - q->search.work) / REDUCTION_READS, entries = 0;
  for (int e = 0; e < g->n_edges && entries <= left; e++) {
    int64_t product = g->edges[e].node[0] >= 0;
    for (int end = 0; product > 0 && end < 2; end++) {
      int node = g->edges[e].node[end], n = 0;
      for (int x = 0; x < g->nodes[node].n; x++)
        n += q->kept[node][x];
      product *= n;
    }
    entries += product;
  }
  return entries > left;
}

/* Looks for an assignment of cost < limit. */
static tp_status search_below(query *q, tp_cost limit, tp_cost *bound) {
  int n = q->s->problem->n_nodes;
  *bound = limit;
  if (!mark_below_limit(q, limit))
    return TP_OK;
  bool is_proof = q->cost < TP_COST_FORBIDDEN || q->limit < TP_COST_FORBIDDEN;
  if (is_proof && exceeds_work(q)) { /* one is known, and is likely to be the best */
    *bound = q->dual.bound < limit ? q->dual.bound : limit;
    return TP_OK;
  }
  tp__wcsp *part = tp__dual_extract(&q->dual, q->kept);
  tp__answer answer = {.choices = tp__calloc((size_t)n + 1, sizeof *answer.choices)};
  tp_status status =
      part && answer.choices ? tp__wcsp_search(&q->search, part, limit, 0, &answer) : TP_NO_MEMORY;
  if (status == TP_OK) {
    *bound = answer.bound;
    if (answer.cost < q->cost) {
      q->cost = answer.cost;
      memcpy(q->choices, answer.choices, (size_t)n * sizeof *answer.choices);
    }
  }
  tp__free(answer.choices);
  tp__wcsp_destroy(part);
  return status;
}

/* Decodes an assignment without search. */
static tp_status decode(query *q) {
  const tp__wcsp *g = q->s->g;
  int *at = tp__calloc((size_t)g->n_nodes + 1, sizeof *at);
  tp_status status = at ? tp__dual_decode(&q->dual, at, &q->search.work) : TP_NO_MEMORY;
  bool allowed = status == TP_OK;
  for (int v = 0; allowed && v < g->n_nodes; v++)
    allowed = tp__sensitivity_allows(q->s, q->allowed, v, at[v]);
  tp_cost cost = allowed ? tp__wcsp_evaluate(g, at) : TP_COST_FORBIDDEN;
  if (cost < q->limit) {
    q->cost = cost;
    for (int v = 0; v < g->n_nodes; v++)
      q->choices[v] = g->nodes[v].label[at[v]];
  }
  tp__free(at);
  return status;
}

/* Searches with growing limits until the best assignment is found, or none is proven to exist below
 * the limit. */
static tp_status deepen(query *q) {
  tp_status status = measure(q);
  tp_cost ahead = q->s->gap < q->dual.bound >> NEAR ? q->s->gap : q->dual.bound >> NEAR;
  ahead = (ahead > q->dual.bound >> NEAREST ? ahead : q->dual.bound >> NEAREST) + q->s->code.step;
  for (; status == TP_OK; ahead *= FARTHER) {
    tp_cost most = q->cost < TP_COST_FORBIDDEN ? tp__limit_below(&q->search, q->cost) : q->limit,
            bound;
    tp_cost near = tp_cost_add(q->dual.bound, ahead);
    bool last = near >= most || ahead > TP_COST_FORBIDDEN / FARTHER;
    tp_cost limit = last ? most : near;
    status = search_below(q, limit, &bound);
    if (status == TP_OK && bound > q->bound)
      q->bound = bound;
    if (last || bound < limit || tp__search_spent(&q->search))
      break;
  }
  if (q->cost < TP_COST_FORBIDDEN && q->bound >= tp__limit_below(&q->search, q->cost))
    q->bound = q->cost;
  return status;
}

/* ---- near the best assignment of the base ---- */

/* Lists the nodes near those that differ, up to LOCAL_NODES of them, or all that differ. */
static tp_status list_near(query *q) {
  const tp_sensitivity *s = q->s;
  size_t n_nodes = (size_t)s->g->n_nodes;
  bool *is_near = tp__calloc(n_nodes + 1, sizeof *is_near);
  q->near = tp__pool_alloc(&q->pool, n_nodes + 1, sizeof *q->near);
  if (!is_near || !q->near) {
    tp__free(is_near);
    return TP_NO_MEMORY;
  }
  q->fewer = true;
  for (int v = 0; v < s->g->n_nodes; v++) {
    bool differs = false;
    for (size_t i = s->offset[v]; i < s->offset[v + 1]; i++) {
      q->fewer &= !q->allowed[i] || s->base[i];
      differs |= q->allowed[i] != s->base[i];
    }
    is_near[v] = differs && s->g->nodes[v].alive;
    if (is_near[v])
      q->near[q->n_near++] = v;
  }
  q->is_local = s->start && q->n_near < LOCAL_NODES && s->g->n_nodes > LOCAL_NODES;
  for (int i = 0; i < q->n_near; i++) {
    const tp__wnode *v = &s->g->nodes[q->near[i]];
    for (int k = 0; k < v->n_edges && q->n_near < LOCAL_NODES; k++) {
      int other = tp__wcsp_view(s->g, v->edges[k], q->near[i]).other;
      if (!is_near[other])
        q->near[q->n_near++] = other;
      is_near[other] = true;
    }
  }
  tp__free(is_near);
  return TP_OK;
}

/* Takes the answer for the members, with the start for all other nodes. */
static void take_near(query *q, const int *members, int n, const tp__answer *answer) {
  const tp__wcsp *g = q->s->g;
  for (int v = 0; v < g->n_nodes; v++)
    q->choices[v] = g->nodes[v].label[q->s->start[v]];
  for (int i = 0; i < n; i++)
    q->choices[members[i]] = answer->choices[i];
}

static tp_status decide_members(query *q, const int *members, int n) {
  const tp_sensitivity *s = q->s;
  tp_cost present;
  tp__wcsp *part = tp__wcsp_condition(s->g, members, n, s->start, &present);
  tp__answer answer = {.choices = tp__calloc((size_t)n + 1, sizeof *answer.choices)};
  tp__search search = q->search;
  tp_status status = part && answer.choices ? TP_OK : TP_NO_MEMORY;
  search.nested = 1;
  search.table_budget = search.table_budget < NEAR_TABLES ? search.table_budget : NEAR_TABLES;
  search.work_limit = search.work + NEAR_WORK;
  search.elimination_limit = 0; /* NEAR_TABLES limits it */
  for (int i = 0; status == TP_OK && i < n; i++)
    for (int x = 0; x < part->nodes[i].n; x++)
      if (!tp__sensitivity_allows(s, q->allowed, members[i], x))
        part->nodes[i].cost[x] = TP_COST_FORBIDDEN;
  tp_cost others = s->start_cost - present; /* the cost of all that stays */
  tp_cost limit = q->limit < TP_COST_FORBIDDEN ? q->limit - others : TP_COST_FORBIDDEN;
  if (status == TP_OK && limit > 0)
    status = tp__wcsp_search(&search, part, limit, 0, &answer);
  else
    answer.cost = TP_COST_FORBIDDEN;
  if (status == TP_OK && answer.cost < limit) {
    q->cost = others + answer.cost;
    take_near(q, members, n, &answer);
  }
  q->search.work = search.work;
  tp__wcsp_destroy(part);
  tp__free(answer.choices);
  return status;
}

/* Decides the nodes around those that differ again, if a start is known. */
static tp_status search_near(query *q) {
  if (!q->s->start)
    return TP_OK;
  q->bound = q->fewer ? q->s->floor : 0;
  return decide_members(q, q->near, q->n_near < NEAR_NODES ? q->n_near : NEAR_NODES);
}

/* Starts from the dual of the base. *ranged: numbers stayed in their range. */
static tp_status run_query(query *q, bool *ranged) {
  const tp_sensitivity *s = q->s;
  tp_cost *by = tp__malloc((s->offset[s->problem->n_nodes] + 1) * sizeof *by);
  tp_status status = by ? tp__dual_clone(&s->dual, &q->dual) : TP_NO_MEMORY;
  *ranged = status == TP_OK && tp__sensitivity_charge(s, &q->dual, q->allowed, by);
  if (*ranged) {
    if (q->is_local)
      qsort(q->near, (size_t)q->n_near, sizeof *q->near, tp__compare_ints);
    tp__passing until = {.most = PASSES,
                         .stalled = TP__VARIANT_STALLED,
                         .enough = q->cost < q->limit ? q->cost : q->limit,
                         .work_limit = q->search.work_limit,
                         .nodes = q->is_local ? q->near : NULL,
                         .n_nodes = q->n_near};
    tp__sensitivity_pass(&q->dual, &until, q->search.control, &q->search.work);
    q->bound = q->dual.bound > q->bound ? q->dual.bound : q->bound;
    if (q->cost == TP_COST_FORBIDDEN)
      status = decode(q);
    /* If the remaining gap to the limit is good enough, a search is not worthwhile. */
    tp__control_update(q->search.control, q->bound, q->cost < q->limit ? q->cost : q->limit);
    if (status == TP_OK && q->bound < q->limit && q->bound < q->cost &&
        !tp__search_spent(&q->search))
      status = deepen(q);
  }
  tp__free(by);
  return status;
}

static void report(query *q, tp_solution *solution) {
  const tp_problem *problem = q->s->problem;
  tp_solution out = {.n_nodes = problem->n_nodes,
                     .method = "messages of a solved problem + search",
                     .work = q->search.work,
                     .width = q->search.width};
  out.cost = TP_COST_FORBIDDEN;
  out.stopped = q->search.control->early;
  if (q->bound > q->limit)
    q->bound = q->limit;
  out.lower_bound = tp__sensitivity_decode(q->s, q->bound);
  out.optimal = q->bound >= q->limit;
  if (q->cost < TP_COST_FORBIDDEN) {
    out.choices = q->choices;
    q->choices = NULL;
    out.cost = tp_problem_evaluate(problem, out.choices);
    out.exact_cost = tp__exact((unsigned __int128)out.cost);
    out.optimal = out.cost == out.lower_bound;
  }
  out.exact_bound =
      tp__exact((unsigned __int128)(out.lower_bound < TP_COST_FORBIDDEN ? out.lower_bound : 0));
  *solution = out;
}

tp_status tp__variant_solve(const tp_sensitivity *s, const bool *allowed, tp_cost limit,
                            bool *solved, tp_solution *solution) {
  tp__control control;
  *solved = false;
  tp__control_start(&control, &s->options);
  control.code = &s->code;
  query q = {.s = s,
             .allowed = allowed,
             .limit = tp__sensitivity_encode(s, limit),
             .cost = TP_COST_FORBIDDEN};
  q.search = (tp__search){
      .width = -1, .step = s->code.step, .threads = s->options.threads, .control = &control};
  q.search.table_budget = s->options.table_budget > 0 ? s->options.table_budget : TABLE_BUDGET;
  q.search.elimination_limit = tp__elimination_limit(s->options.work_budget);
  q.search.work_limit = s->options.work_budget > 0 ? s->options.work_budget : WORK;
  q.choices = tp__calloc((size_t)s->problem->n_nodes + 1, sizeof *q.choices);
  tp_status status = q.choices ? list_near(&q) : TP_NO_MEMORY;
  if (status == TP_OK)
    status = search_near(&q);
  bool proven = status == TP_OK && q.cost <= q.bound;
  if (status == TP_OK && !proven)
    status = run_query(&q, solved);
  *solved |= proven;
  if (status == TP_OK && *solved) {
    report(&q, solution);
    status = solution->choices ? TP_OK : TP_INFEASIBLE;
  }
  tp__dual_clear(&q.dual);
  tp__pool_release(&q.pool);
  tp__free(q.choices);
  return status;
}
