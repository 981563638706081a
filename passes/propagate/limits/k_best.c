/* Small functions within a memory limit: lists plans in order of cost and measures their memory.
 *
 * The planner's memory estimate may exceed the memory a plan holds (overestimates.c), so by
 * the estimate no plan, or only an expensive one, keeps the limit. Here plans are listed from the
 * cheapest on and written to measure their memory. Without routes the problem is small. The values
 * held at the peak of a plan are decided by few nodes, their producers and users. A plan that
 * agrees in all of these decisions holds as much memory, so any plan that holds less differs in at
 * least one. The other plans are partitioned by the first of these nodes at which they differ
 * (Lawler 1972), and the cheapest plan of each part is found. The search alternates between two
 * choices: the cheapest plan of all parts, which leads to the cheapest plan that keeps the limit,
 * and the plan with the least expected memory, which soon finds some plan that keeps the limit and
 * thus an upper bound on the cost.
 *
 * The listing ends when no part is left or the work is spent; the result depends on nothing else,
 * except a time limit. */
#include "passes/propagate/limits/search.h"

#include <stdlib.h>
#include <string.h>

enum {
  SHARE = 8,        /* of the work for plans counted with more than the limit, 1/SHARE */
  MAX_PLANS = 400,  /* plans that are written, at most */
  WRITING = 300000, /* work units for writing a plan */
  /* additional work units for each node; a unit is a few nanoseconds, as in the solver */
  OF_NODE = 20000
};

/* A plan that was written, with its memory. */
typedef struct examined {
  const int *choices; /* by node */
  int64_t held;
  tp_at_peak at_peak;
} examined;

/* A subset of all plans. */
typedef struct part {
  const bool *const *allowed; /* by node: the allowed strategies */
  const int *choices;         /* its cheapest plan */
  tp_cost cost;
  /* expected memory, estimated from the peak of the plan from which the part was split */
  int64_t seems;
  bool is_done;
} part;

/* The cheapest plan that keeps the limit. */
typedef struct best_plan {
  int *choices; /* by node of the planner, in its arena; NULL: none */
  tp_cost cost; /* only cheaper plans are searched for */
  int64_t work; /* work that was done */
} best_plan;

typedef struct listing {
  const tp_planner *p;
  /* without routes; its first n_first nodes are those of `p` that do not belong to routes, the
   * others are copies */
  tp_planner unrouted;
  size_t n_first;
  int *place; /* by node of `unrouted`: its number in `p` */
  tp_sensitivity *beside;
  part *parts;
  size_t n_parts, capacity;
  int64_t work;
  best_plan *best;
} listing;

/* ---- decisions of a node ---- */

/* One input or output of a node, whose layout the node decides, of a value that is held. */
typedef struct held_column {
  bool makes; /* it is an output */
  int column; /* index among outputs or inputs */
  const tp_planned_value *v;
} held_column;

enum { MAX_COLUMNS = 16 };

/* A node with its layouts that decide the memory at the peak of a plan. Layouts beyond MAX_COLUMNS
 * are left out. */
typedef struct site {
  int node, n;
  int64_t bytes; /* their total size in the plan */
  held_column columns[MAX_COLUMNS];
} site;

static void add_column(site *s, int node, held_column column) {
  if (s[node].n < MAX_COLUMNS)
    s[node].columns[s[node].n++] = column;
}

static tp_spec spec_of(const tp_node *node, const held_column *c, int s) {
  return c->makes ? node->out[s * node->n_out + c->column] : node->in[s * node->n_in + c->column];
}

static int64_t bytes_of(const listing *l, const site *at, int s) {
  const tp_node *node = &l->unrouted.problem.nodes[at->node];
  int64_t bytes = 0;
  for (int k = 0; k < at->n; k++) {
    const tp_planned_value *v = at->columns[k].v;
    bytes += tp__local_bytes(l->unrouted.problem.mesh, spec_of(node, &at->columns[k], s), v->rank,
                             v->shape, v->element_size);
  }
  return bytes;
}

static bool is_alike(const listing *l, const site *at, int s, int t) {
  const tp_node *node = &l->unrouted.problem.nodes[at->node];
  bool alike = true;
  for (int k = 0; k < at->n && alike; k++)
    alike = tp_spec_equal(spec_of(node, &at->columns[k], s), spec_of(node, &at->columns[k], t));
  return alike;
}

static int by_bytes(const void *a, const void *b) {
  const site *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : x->node - y->node;
}

/* Lists the sites of the plan, largest first; `sites` must have one element per node. Every
 * producer and user of a held value is a site. */
static int find_sites(const listing *l, const examined *plan, site *sites) {
  const tp_planner *unrouted = &l->unrouted;
  int n = 0;
  for (size_t i = 0; i < l->n_first; i++)
    sites[i] = (site){.node = (int)i};
  for (size_t k = 0; k < unrouted->problem.n_values; k++) {
    const tp_planned_value *v = &unrouted->problem.values[k];
    bool is_changed = plan->at_peak.changed[k];
    if (!is_changed && !plan->at_peak.made[k])
      continue;
    add_column(sites, v->node, (held_column){true, v->output, v});
    for (int u = 0; u < v->n_uses; u++)
      add_column(sites, v->uses[u].node, (held_column){false, v->uses[u].input, v});
  }
  for (size_t i = 0; i < l->n_first; i++)
    if (sites[i].n > 0) {
      sites[n] = sites[i];
      sites[n].bytes = bytes_of(l, &sites[n], plan->choices[sites[n].node]);
      n++;
    }
  qsort(sites, (size_t)n, sizeof *sites, by_bytes);
  return n;
}

/* ---- parts ---- */

/* Adds the part with these allowed strategies, if it has a plan cheaper than the best. */
static tp_status add_part(listing *l, const bool *const *allowed, const examined *beside,
                          int n_sites, const site *sites) {
  tp_solution solution;
  tp_planner *unrouted = &l->unrouted;
  tp_status status = tp_sensitivity_solve(l->beside, allowed, l->best->cost, &solution);
  l->work += status == TP_OK || status == TP_INFEASIBLE ? solution.work + OF_NODE : 0;
  if (status != TP_OK)
    return status == TP_INFEASIBLE ? TP_OK : tp__plan_no_memory(l->p);
  int *choices =
      tp__arena_array(unrouted->problem.arena, unrouted->problem.n_nodes + 1, sizeof *choices);
  status = choices ? tp__grow((void **)&l->parts, &l->capacity, l->n_parts + 1, sizeof *l->parts)
                   : TP_NO_MEMORY;
  if (status == TP_OK && solution.cost < l->best->cost) {
    memcpy(choices, solution.choices, unrouted->problem.n_nodes * sizeof *choices);
    part *now = &l->parts[l->n_parts++];
    *now = (part){.allowed = allowed,
                  .choices = choices,
                  .cost = solution.cost,
                  .seems = beside ? beside->held : 0};
    for (int i = 0; i < n_sites; i++)
      now->seems += bytes_of(l, &sites[i], choices[sites[i].node]) - sites[i].bytes;
  }
  tp_solution_clear(&solution);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(l->p);
}

/* Marks the allowed strategies of a site that agree with the chosen one in the deciding layouts, or
 * differ from it if `alike` is false. NULL when memory runs out. */
static const bool *row_of(const listing *l, const site *at, const bool *allowed, int chosen,
                          bool alike, bool *any) {
  const tp_node *node = &l->unrouted.problem.nodes[at->node];
  bool *row = tp__arena_array(l->unrouted.problem.arena, (size_t)node->n + 1, sizeof *row);
  *any = false;
  for (int s = 0; row && s < node->n; s++) {
    row[s] = (!allowed || allowed[s]) && is_alike(l, at, s, chosen) == alike;
    *any |= row[s];
  }
  return row;
}

/* Splits the plans other than a written one into parts. */
static tp_status add_parts(listing *l, const part *from, const examined *plan) {
  tp_planner *unrouted = &l->unrouted;
  site *sites = tp__calloc(l->n_first + 1, sizeof *sites);
  const bool **same = tp__calloc(unrouted->problem.n_nodes + 1, sizeof(const bool *));
  const bool *const *allowed = from->allowed; /* a copy: adding parts may move `from` */
  tp_status status = sites && same ? TP_OK : tp__plan_no_memory(l->p);
  int n = status == TP_OK ? find_sites(l, plan, sites) : 0;
  for (size_t i = 0; i < unrouted->problem.n_nodes && status == TP_OK; i++)
    same[i] = allowed ? allowed[i] : NULL;
  for (int i = 0; i < n && status == TP_OK; i++) {
    int node = sites[i].node, chosen = plan->choices[node];
    bool any, some;
    const bool **rows = tp__arena_array(unrouted->problem.arena, unrouted->problem.n_nodes + 1,
                                        sizeof(const bool *));
    const bool *other = row_of(l, &sites[i], same[node], chosen, false, &any);
    const bool *alike = row_of(l, &sites[i], same[node], chosen, true, &some);
    if (!rows || !other || !alike) {
      status = tp__plan_no_memory(l->p);
      break;
    }
    memcpy(rows, same, unrouted->problem.n_nodes * sizeof *rows);
    rows[node] = other;
    same[node] = alike;
    if (any)
      status = add_part(l, rows, plan, n, sites);
  }
  tp__free(sites);
  tp__free(same);
  return status;
}

/* The cheapest part, or the one with the least expected memory; NULL: no part is left. */
static part *next_part(const listing *l, bool min_memory) {
  part *next = NULL;
  for (size_t i = 0; i < l->n_parts; i++) {
    part *at = &l->parts[i];
    if (at->is_done || at->cost >= l->best->cost)
      continue;
    bool is_before = !next || (min_memory && at->seems != next->seems ? at->seems < next->seems
                                                                      : at->cost < next->cost);
    next = is_before ? at : next;
  }
  return next;
}

/* ---- plans ---- */

/* Writes the cheapest plan of the part, and takes it if it keeps the limit and is the best. */
static tp_status examine(listing *l, const part *at, const examined **plan) {
  const tp_planner *p = l->p;
  examined *now = tp__arena_alloc(p->problem.arena, sizeof *now);
  int *choices = tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof *choices);
  if (!now || !choices)
    return tp__plan_no_memory(p);
  *now = (examined){.choices = at->choices};
  now->at_peak.made =
      tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *now->at_peak.made);
  now->at_peak.changed =
      tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *now->at_peak.changed);
  if (!now->at_peak.made || !now->at_peak.changed)
    return tp__plan_no_memory(p);
  for (size_t i = 0; i < l->n_first; i++)
    choices[l->place[i]] = at->choices[i];
  tp_solution solution = {.choices = choices};
  tp_cost cost = TP_COST_FORBIDDEN;
  now->held = tp__unrouted_peak(p, &solution, &cost, &now->at_peak);
  l->work += WRITING + OF_NODE * (int64_t)p->problem.n_nodes;
  if (now->held <= p->limits.memory && cost < l->best->cost)
    *l->best = (best_plan){.choices = choices, .cost = cost};
  *plan = now->held < INT64_MAX ? now : NULL;
  return TP_OK;
}

static tp_status search(listing *l, int64_t work) {
  tp_status status = add_part(l, NULL, NULL, 0, NULL);
  for (int i = 0;
       i < MAX_PLANS && l->work < work && status == TP_OK && !tp__clock_is_over(l->p->limits.clock);
       i++) {
    part *at = next_part(l, i % 2 == 1);
    const examined *plan = NULL;
    if (!at)
      break;
    at->is_done = true;
    status = examine(l, at, &plan);
    if (status == TP_OK && plan && plan->held > l->p->limits.memory)
      status = add_parts(l, at, plan);
  }
  return status;
}

/* `work`: for the search of each part, at most. */
static tp_status open_listing(listing *l, int64_t work) {
  const tp_planner *p = l->p;
  l->place = tp__calloc(p->problem.n_nodes + 1, sizeof *l->place);
  if (!l->place)
    return tp__plan_no_memory(p);
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    if (!tp__is_of_routes(&p->problem.nodes[i]))
      l->place[l->n_first++] = (int)i;
  tp_status status = tp__unrouted_open(p, &l->unrouted);
  if (status == TP_OK)
    status = tp__plan_copies(&l->unrouted);
  if (status == TP_OK)
    status = tp__plan_make_problem(&l->unrouted, false, &l->unrouted.stated);
  tp_solver_options options = {.size = sizeof options, .work_budget = work};
  tp__clock_limit_solver(p->limits.clock, &options);
  if (status == TP_OK)
    status =
        tp_sensitivity_create(l->unrouted.stated, &options, NULL, TP_COST_FORBIDDEN, &l->beside);
  return status;
}

static bool applies(const tp_search *s) {
  const tp_overestimates *o = &s->over;
  return o->has_floor && o->cost > o->floor && !o->stated->kept;
}

static tp_status list_plans(const tp_planner *p, int64_t work, best_plan *best) {
  listing l = {.p = p, .best = best};
  tp_status status = open_listing(&l, work);
  if (status == TP_OK)
    status = search(&l, work);
  best->work = l.work;
  tp_sensitivity_destroy(l.beside);
  tp__unrouted_close(&l.unrouted);
  tp__free(l.place);
  tp__free(l.parts);
  return status;
}

static tp_status run(tp_search *s) {
  tp_overestimates *o = &s->over;
  tp_planner *p = o->stated;
  best_plan best = {.cost = o->cost};
  tp_status status = list_plans(p, o->options.work_budget / SHARE, &best);
  o->best.work += best.work;
  p->result.is_cut_short |= tp__clock_is_over(p->limits.clock);
  if (status != TP_OK || !best.choices)
    return status;
  tp_solution found = {.choices = tp__malloc((p->problem.n_nodes + 1) * sizeof *found.choices),
                       .lower_bound = o->floor,
                       .method = "listing"};
  if (!found.choices)
    return tp__plan_no_memory(p);
  memcpy(found.choices, best.choices, p->problem.n_nodes * sizeof *found.choices);
  tp__overestimates_take_unrouted(o, &found, best.cost);
  return TP_OK;
}

/* The k best plans by partitioning (Murty 1968, Lawler 1972). */
const tp_search_row tp__k_best_row = {"k best", applies, run};
