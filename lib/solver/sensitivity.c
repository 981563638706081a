/* Solves variants of a problem that was solved before.
 *
 * The messages of the base are kept. A variant with other strategies differs from it at a few
 * nodes: newly forbidden strategies get a price there, newly allowed ones lose it, and after a few
 * passes the bound is certified again. By that bound, most strategies cost more than the best
 * assignment does. The rest is searched, at first only for assignments that cost little more than
 * the bound.
 *
 * If the best assignment of the base is known, the nodes around those that differ are decided again
 * before all that. Mostly this finds the best assignment of the variant, and the bound proves
 * it. */
#include "solver/control.h"
#include "solver/dual.h"
#include "solver/reduce.h"
#include "solver/search.h"
#include "support/support.h"

#include <string.h>

enum {
  BASE_PASSES = 80, /* maximum number of message passes over the base */
  /* a pass that gains less than 2^-17 of the bound is the last one, over the base ... */
  BASE_STALLED = 17,
  QUERY_PASSES = 16,  /* maximum number of passes over a variant */
  QUERY_STALLED = 14, /* ... and over a variant */
  BOUND_PASSES = 4,   /* if only a bound is requested */
  /* first search limit: 2^-18 above the bound, or as far above it as the base's cost is ... */
  NEAREST = 18,
  NEAR = 14,             /* ... but at most 2^-14 above it ... */
  FARTHER = 4,           /* ... and this many times farther if nothing is found */
  NEAR_NODES = 256,      /* decided again around the nodes that differ ... */
  NEAR_TABLES = 1 << 18, /* ... with tables of so many entries ... */
  NEAR_WORK = 20000000,  /* ... and this much work */
  /* how often the reductions of a search read each table entry, about; no budget ends them */
  REDUCTION_READS = 20,
  PRICE_SHIFT = 1, /* price of a strategy that is not allowed: half of the base's cost */
  TABLE_BUDGET = 20000000
};
#define QUERY_WORK 2000000000
#define MAX_PRICE ((tp_cost)1 << 52)

struct tp_sensitivity {
  const tp_problem *problem;
  tp_solver_options options;
  size_t *offset; /* by node, and the end: offset of its strategies among those of all nodes */
  bool *base;     /* by strategy of all nodes */
  tp__wcsp *g;    /* NULL: variants are solved from scratch */
  tp__code code;
  tp__dual dual;
  tp_cost price; /* of a strategy outside of the base, contained in the dual */
  tp_cost gap;   /* known cost of the base minus its bound */
  /* from tp_sensitivity_start: strategies in `g` by node (NULL: unknown), their cost, and a bound
   * on the cost of the base */
  int *start;
  tp_cost start_cost, floor;
};

/* ---- sets of strategies ---- */

/* Flattens the allowed strategies. For allowed[node] NULL, uses `others` (NULL: all). `flat` has
 * one entry per strategy. */
static void flatten(const tp_sensitivity *s, const bool *const *allowed, const bool *others,
                    bool *flat) {
  for (int v = 0; v < s->problem->n_nodes; v++)
    for (size_t i = s->offset[v]; i < s->offset[v + 1]; i++)
      flat[i] = allowed && allowed[v] ? allowed[v][i - s->offset[v]] : others ? others[i] : true;
}

static bool is_allowed(const tp_sensitivity *s, const bool *flat, int node, int x) {
  return flat[s->offset[node] + (size_t)s->g->nodes[node].label[x]];
}

/* ---- the base ---- */

/* Charges the price for strategies of the node that are in `from` but not in `to`, and refunds it
 * for those in `to` but not in `from`. */
static bool charge(const tp_sensitivity *s, tp__dual *dual, int node, const bool *from,
                   const bool *to, tp_cost *by) {
  const tp__wnode *v = &s->g->nodes[node];
  bool any = false;
  for (int x = 0; x < v->n; x++) {
    bool was = !from || is_allowed(s, from, node, x), is = is_allowed(s, to, node, x);
    by[x] = was == is ? 0 : was ? s->price : -s->price;
    any |= was != is;
  }
  return !any || tp__dual_shift(dual, node, by);
}

/* False if numbers left their range. */
static bool charge_all(const tp_sensitivity *s, tp__dual *dual, const bool *from, const bool *to,
                       tp_cost *by) {
  bool ok = true;
  for (int v = 0; ok && v < s->g->n_nodes; v++)
    if (s->g->nodes[v].alive)
      ok = charge(s, dual, v, from, to, by);
  return ok;
}

/* When to stop passing messages. */
typedef struct passing {
  int most;           /* number of passes */
  int stalled;        /* a pass that gains less than 2^-stalled of the bound is the last one */
  tp_cost enough;     /* bound that is enough */
  bool all;           /* less is worth nothing, so passes also end when it is out of reach */
  int64_t work_limit; /* 0: none */
} passing;

/* Passes messages until that says so, or a stop is requested. */
static void pass_messages(tp__dual *dual, const passing *until, tp__control *control,
                          int64_t *work) {
  bool stalls = false;
  for (int i = 0;
       i < until->most && !stalls && dual->bound < until->enough && !dual->exhausted &&
       !(until->work_limit > 0 && *work >= until->work_limit) && !tp__control_poll(control, *work);
       i++) {
    tp_cost before = dual->bound;
    tp__dual_pass(dual, control, work);
    tp_cost gain = dual->bound - before;
    /* each pass mostly gains less than half of what the one before did */
    stalls =
        gain < dual->bound >> until->stalled || (until->all && until->enough - dual->bound > gain);
  }
}

static tp_cost encode_cost(const tp_sensitivity *s, tp_cost cost) {
  return cost >= TP_COST_FORBIDDEN / s->code.step ? TP_COST_FORBIDDEN : cost * s->code.step;
}

/* Creates the graph with all strategies that have partners, and messages for those of the base. */
static tp_status begin(tp_sensitivity *s, tp_cost known) {
  int64_t work = 0;
  tp__control control;
  tp__control_start(&control, &s->options);
  tp_cost *by = tp__malloc((s->offset[s->problem->n_nodes] + 1) * sizeof *by);
  s->g = by ? tp__encode(s->problem, &s->code, false) : NULL;
  tp_status status = s->g ? tp__wcsp_prune(s->g, TP_COST_FORBIDDEN, &work) : TP_NO_MEMORY;
  bool hopeless = status == TP_INFEASIBLE;
  if (status == TP_OK)
    status = tp__dual_create(s->g, &s->dual);
  if (status == TP_OK) {
    known = encode_cost(s, known);
    s->price = (known < s->code.most ? known : s->code.most) >> PRICE_SHIFT;
    s->price = s->price < MAX_PRICE ? s->price + 1 : MAX_PRICE;
    hopeless = s->dual.exhausted || !charge_all(s, &s->dual, NULL, s->base, by);
    passing until = {.most = BASE_PASSES, .stalled = BASE_STALLED, .enough = known};
    pass_messages(&s->dual, &until, &control, &work);
  }
  s->gap = known > s->dual.bound ? known - s->dual.bound : 0;
  tp__free(by);
  if (hopeless) { /* nothing to start from */
    tp__dual_clear(&s->dual);
    tp__wcsp_destroy(s->g);
    s->g = NULL;
    return TP_OK;
  }
  return status;
}

tp_status tp_sensitivity_create(const tp_problem *problem, const tp_solver_options *options,
                                const bool *const *allowed, tp_cost known,
                                tp_sensitivity **sensitivity) {
  if (!problem || !sensitivity || problem->big || known < 0 ||
      (options && options->size < sizeof options->size))
    return TP_INVALID_ARGUMENT;
  tp_sensitivity *s = tp__calloc(1, sizeof *s);
  if (!s)
    return TP_NO_MEMORY;
  s->problem = problem;
  if (options)
    memcpy(&s->options, options,
           options->size < sizeof s->options ? options->size : sizeof s->options);
  s->options.size = sizeof s->options;
  s->options.time_limit = 0;
  tp_status status = TP_NO_MEMORY;
  s->offset = tp__calloc((size_t)problem->n_nodes + 1, sizeof *s->offset);
  for (int v = 0; s->offset && v < problem->n_nodes; v++)
    s->offset[v + 1] = s->offset[v] + (size_t)problem->nodes[v].n;
  if (s->offset)
    s->base = tp__malloc(s->offset[problem->n_nodes] + 1);
  if (s->base) {
    flatten(s, allowed, NULL, s->base);
    tp__code_choose(problem, TP__FORM_PLAIN, &s->code);
    status = problem->limit < 0 && problem->n_nodes > 0 ? begin(s, known) : TP_OK;
  }
  if (status == TP_OK)
    *sensitivity = s;
  else
    tp_sensitivity_destroy(s);
  return status;
}

tp_status tp_sensitivity_start(tp_sensitivity *s, const int *choices, tp_cost bound) {
  if (!s || !choices || bound < 0)
    return TP_INVALID_ARGUMENT;
  if (!s->g)
    return TP_OK;
  int *start = tp__malloc(((size_t)s->g->n_nodes + 1) * sizeof *start);
  if (!start)
    return TP_NO_MEMORY;
  bool valid = true, all = true; /* all: the graph has all of these strategies */
  for (int v = 0; v < s->g->n_nodes; v++) {
    valid &= choices[v] >= 0 && choices[v] < s->problem->nodes[v].n;
    start[v] = tp__wcsp_find(&s->g->nodes[v], choices[v]);
    all &= start[v] >= 0;
  }
  tp_cost cost = all ? tp__wcsp_evaluate(s->g, start) : TP_COST_FORBIDDEN;
  tp__free(cost < TP_COST_FORBIDDEN ? s->start : start);
  if (cost < TP_COST_FORBIDDEN) {
    s->start = start;
    s->start_cost = cost;
    s->floor = encode_cost(s, bound);
  }
  return valid ? TP_OK : TP_INVALID_ARGUMENT;
}

void tp_sensitivity_destroy(tp_sensitivity *s) {
  if (!s)
    return;
  tp__free(s->start);
  tp__dual_clear(&s->dual);
  tp__wcsp_destroy(s->g);
  tp__free(s->offset);
  tp__free(s->base);
  tp__free(s);
}

static tp_cost decoded(const tp_sensitivity *s, tp_cost bound) {
  unsigned __int128 cost =
      bound < TP_COST_FORBIDDEN ? tp__decode_bound(&s->code, bound) : TP_COST_FORBIDDEN;
  return cost < TP_COST_FORBIDDEN ? (tp_cost)cost : TP_COST_FORBIDDEN;
}

tp_status tp_sensitivity_bounds(const tp_sensitivity *s, int node, tp_cost *bounds) {
  if (!s || !bounds || node < 0 || node >= s->problem->n_nodes)
    return TP_INVALID_ARGUMENT;
  for (int x = 0; x < s->problem->nodes[node].n; x++)
    bounds[x] = s->g || !s->base[s->offset[node] + (size_t)x] ? TP_COST_FORBIDDEN
                                                              : s->problem->nodes[node].costs[x];
  if (!s->g)
    return TP_OK;
  tp_cost *least = tp__malloc((size_t)s->g->nodes[node].n * sizeof *least + 1);
  if (!least)
    return TP_NO_MEMORY;
  tp__dual_reduced_costs(&s->dual, node, least);
  for (int x = 0; x < s->g->nodes[node].n; x++)
    if (is_allowed(s, s->base, node, x))
      bounds[s->g->nodes[node].label[x]] = decoded(s, tp_cost_add(least[x], s->dual.bound));
  tp__free(least);
  return TP_OK;
}

/* ---- variants ---- */

/* A search of a variant. Costs are those of the graph. */
typedef struct query {
  const tp_sensitivity *s;
  const bool *allowed;
  tp__dual dual;
  tp_cost **least; /* by node: tp__dual_reduced_costs */
  bool **kept;     /* by node */
  tp_cost limit;   /* only assignments that cost less are searched for */
  tp_cost bound;   /* certified, for all assignments below the limit */
  tp_cost cost;    /* of `choices`; TP_COST_FORBIDDEN if there are none */
  int *choices;
  tp__search search;
  tp__pool pool;
} query;

static tp_status measure(query *q) {
  const tp__wcsp *g = q->s->g;
  q->least = tp__pool_calloc(&q->pool, (size_t)g->n_nodes, sizeof *q->least);
  q->kept = tp__pool_calloc(&q->pool, (size_t)g->n_nodes, sizeof *q->kept);
  bool ok = q->least && q->kept;
  for (int v = 0; ok && v < g->n_nodes; v++) {
    q->least[v] = tp__pool_alloc(&q->pool, (size_t)g->nodes[v].n, sizeof **q->least);
    q->kept[v] = tp__pool_alloc(&q->pool, (size_t)g->nodes[v].n, sizeof **q->kept);
    ok = q->least[v] && q->kept[v];
    if (ok)
      tp__dual_reduced_costs(&q->dual, v, q->least[v]);
  }
  q->search.work += 2 * tp__wcsp_entries(g);
  return ok ? TP_OK : TP_NO_MEMORY;
}

/* Marks the strategies that can be in an assignment of cost < limit. False if a node has none. */
static bool mark_below_limit(query *q, tp_cost limit) {
  const tp__wcsp *g = q->s->g;
  bool all = true;
  for (int v = 0; v < g->n_nodes; v++) {
    bool any = false;
    for (int x = 0; x < g->nodes[v].n; x++)
      any |= q->kept[v][x] =
          is_allowed(q->s, q->allowed, v, x) && tp_cost_add(q->dual.bound, q->least[v][x]) < limit;
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
    allowed = is_allowed(q->s, q->allowed, v, at[v]);
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

/* Lists the nodes whose strategies differ from those of the base, and then their neighbors, and so
 * on, up to NEAR_NODES of them. Returns their number. *fewer: the base has all strategies of the
 * variant. */
static int list_near(const query *q, bool *is_member, int *members, bool *fewer) {
  const tp_sensitivity *s = q->s;
  int n = 0;
  *fewer = true;
  for (int v = 0; v < s->problem->n_nodes; v++)
    for (size_t i = s->offset[v]; i < s->offset[v + 1]; i++) {
      *fewer &= !q->allowed[i] || s->base[i];
      if (q->allowed[i] != s->base[i] && !is_member[v] && n < NEAR_NODES) {
        is_member[v] = s->g->nodes[v].alive;
        members[n] = v;
        n += is_member[v];
      }
    }
  for (int i = 0; i < n; i++) {
    const tp__wnode *v = &s->g->nodes[members[i]];
    for (int k = 0; k < v->n_edges && n < NEAR_NODES; k++) {
      int other = tp__wcsp_view(s->g, v->edges[k], members[i]).other;
      if (!is_member[other])
        members[n++] = other;
      is_member[other] = true;
    }
  }
  return n;
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
  for (int i = 0; status == TP_OK && i < n; i++)
    for (int x = 0; x < part->nodes[i].n; x++)
      if (!is_allowed(s, q->allowed, members[i], x))
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
  size_t n_nodes = (size_t)q->s->problem->n_nodes;
  if (!q->s->start)
    return TP_OK;
  bool *is_member = tp__calloc(n_nodes + 1, sizeof *is_member), fewer = false;
  int *members = tp__malloc((n_nodes + 1) * sizeof *members);
  tp_status status = TP_NO_MEMORY;
  if (is_member && members) {
    int n = list_near(q, is_member, members, &fewer);
    status = decide_members(q, members, n);
    q->bound = fewer ? q->s->floor : 0;
  }
  tp__free(is_member);
  tp__free(members);
  return status;
}

/* Starts from the dual of the base. *ranged: numbers stayed in their range. */
static tp_status run_query(query *q, bool *ranged) {
  const tp_sensitivity *s = q->s;
  tp_cost *by = tp__malloc((s->offset[s->problem->n_nodes] + 1) * sizeof *by);
  tp_status status = by ? tp__dual_clone(&s->dual, &q->dual) : TP_NO_MEMORY;
  *ranged = status == TP_OK && charge_all(s, &q->dual, s->base, q->allowed, by);
  if (*ranged) {
    passing until = {.most = QUERY_PASSES,
                     .stalled = QUERY_STALLED,
                     .enough = q->cost < q->limit ? q->cost : q->limit,
                     .work_limit = q->search.work_limit};
    pass_messages(&q->dual, &until, q->search.control, &q->search.work);
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
  out.lower_bound = decoded(q->s, q->bound);
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

/* Solves the problem from scratch with all strategies forbidden that are not allowed. */
static tp_status solve_from_scratch(const tp_sensitivity *s, const bool *allowed,
                                    tp_solution *solution) {
  const tp_problem *problem = s->problem;
  size_t bytes = (size_t)problem->n_nodes * sizeof *problem->nodes;
  tp_problem shared = *problem;
  tp_cost *costs = tp__malloc((s->offset[problem->n_nodes] + 1) * sizeof *costs);
  shared.nodes = tp__malloc(bytes + 1);
  tp_status status = shared.nodes && costs ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK && bytes)
    memcpy(shared.nodes, problem->nodes, bytes);
  for (int v = 0; status == TP_OK && v < problem->n_nodes; v++) {
    shared.nodes[v].costs = costs + s->offset[v];
    for (int x = 0; x < problem->nodes[v].n; x++)
      shared.nodes[v].costs[x] =
          allowed[s->offset[v] + (size_t)x] ? problem->nodes[v].costs[x] : TP_COST_FORBIDDEN;
  }
  if (status == TP_OK)
    status = tp_solve(&shared, &s->options, solution);
  tp__free(shared.nodes);
  tp__free(costs);
  return status;
}

static tp_status solve_from_dual(const tp_sensitivity *s, const bool *allowed, tp_cost limit,
                                 tp_solution *solution) {
  bool ranged = false;
  tp__control control;
  tp__control_start(&control, &s->options);
  control.code = &s->code;
  query q = {.s = s, .allowed = allowed, .limit = encode_cost(s, limit), .cost = TP_COST_FORBIDDEN};
  q.search = (tp__search){
      .width = -1, .step = s->code.step, .threads = s->options.threads, .control = &control};
  q.search.table_budget = s->options.table_budget > 0 ? s->options.table_budget : TABLE_BUDGET;
  q.search.work_limit = s->options.work_budget > 0 ? s->options.work_budget : QUERY_WORK;
  q.choices = tp__calloc((size_t)s->problem->n_nodes + 1, sizeof *q.choices);
  tp_status status = q.choices ? search_near(&q) : TP_NO_MEMORY;
  bool proven = status == TP_OK && q.cost <= q.bound;
  if (status == TP_OK && !proven)
    status = run_query(&q, &ranged);
  ranged |= proven;
  if (status == TP_OK && ranged) {
    report(&q, solution);
    status = solution->choices ? TP_OK : TP_INFEASIBLE;
  }
  tp__dual_clear(&q.dual);
  tp__pool_release(&q.pool);
  tp__free(q.choices);
  return status == TP_OK && !ranged ? solve_from_scratch(s, allowed, solution) : status;
}

static tp_status bound_from_dual(const tp_sensitivity *s, const bool *allowed, tp_cost limit,
                                 tp_cost *bound) {
  tp__dual dual;
  tp__control control;
  tp__control_start(&control, &s->options);
  int64_t work = 0;
  tp_cost *by = tp__malloc((s->offset[s->problem->n_nodes] + 1) * sizeof *by);
  tp_status status = by ? tp__dual_clone(&s->dual, &dual) : TP_NO_MEMORY;
  if (status == TP_OK) {
    passing until = {.most = BOUND_PASSES,
                     .stalled = QUERY_STALLED,
                     .enough = encode_cost(s, limit),
                     .all = true};
    if (charge_all(s, &dual, s->base, allowed, by))
      pass_messages(&dual, &until, &control, &work);
    else
      dual.bound = 0;
    *bound = decoded(s, dual.bound);
    tp__dual_clear(&dual);
  }
  tp__free(by);
  return status;
}

tp_status tp_sensitivity_bound(const tp_sensitivity *s, const bool *const *allowed, tp_cost limit,
                               tp_cost *bound) {
  if (!s || !bound || limit < 0)
    return TP_INVALID_ARGUMENT;
  bool *flat = tp__malloc(s->offset[s->problem->n_nodes] + 1);
  if (!flat)
    return TP_NO_MEMORY;
  flatten(s, allowed, s->base, flat);
  tp_status status = TP_OK;
  *bound = 0;
  if (s->g)
    status = bound_from_dual(s, flat, limit, bound);
  tp__free(flat);
  return status;
}

tp_status tp_sensitivity_solve(const tp_sensitivity *s, const bool *const *allowed, tp_cost limit,
                               tp_solution *solution) {
  if (!s || !solution || limit < 0)
    return TP_INVALID_ARGUMENT;
  bool *flat = tp__malloc(s->offset[s->problem->n_nodes] + 1);
  if (!flat)
    return TP_NO_MEMORY;
  flatten(s, allowed, s->base, flat);
  tp_status status =
      s->g ? solve_from_dual(s, flat, limit, solution) : solve_from_scratch(s, flat, solution);
  tp__free(flat);
  return status;
}
