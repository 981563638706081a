/* Plans large functions under a memory limit.
 *
 * Routes make the problem some ten times larger than it is without a limit, so it is never stated
 * as a whole:
 * 1. The sketch of the routes (route_sketch.h) is solved, first without prices of memory. If its
 *    plan fits, it is optimal.
 * 2. Else prices of memory rise at the times at which the limit is exceeded most, until a plan
 *    keeps the limit (priced_strategies.c).
 * 3. The problem of the routes is stated for the strategies of all plans found so far, which are
 *    few, and solved. The result is the plan. Its prices of memory are then used in the sketch,
 *    where they give a better bound for all strategies and find other plans. Both solves
 *    alternate until nothing new is found.
 * 4. If the bound is still far from the plan, or there is no plan, messages over the sketch give
 *    every strategy a reduced cost: a lower bound on the cost of a plan that uses it. The problem
 *    of the routes is stated for the strategies with the least reduced cost. Omitted strategies
 *    cost at least the threshold, so the bound stays certified.
 * 5. Plans from these strategies whose estimated memory exceeds the limit are written, and may keep
 *    it (verify_overestimates.c).
 *
 * With a time limit, fast plans are tried first (price_search.c), and the problem of the routes is
 * solved for the strategies of all of them. */
#include "passes/propagate/limits/memory_limited.h"
#include "passes/propagate/limits/reduced_planner.h"
#include "passes/propagate/limits/seed_strategies.h"

#include "passes/propagate/limits/priced_strategies.h"

#include <string.h>

enum {
  /* entries of the tables between producers and users, above which a function is large */
  LARGE = 200000,
  SHARE = 12,       /* strategies kept per node, on average */
  FEW = 200000,     /* entries as above, up to which a proof is attempted */
  FOUND_SHARE = 2,  /* 1/FOUND_SHARE of the work goes to the strategies of plans that were found */
  BEYOND_SHARE = 4, /* 1/BEYOND_SHARE to plans from them whose estimated memory exceeds the limit */
  PROOF_SHARE = 16, /* 1/PROOF_SHARE if the plan is good enough and little can be gained */
  ROUNDS = 4        /* of prices taken from the routes */
};
/* a threshold below every cost: only strategies of plans that were found */
#define ONLY_FOUND INT64_MIN
#define FOUND_GAP 0.0005 /* accepted gap for those */
#define NEAR 0.005       /* gap below which the plan is not improved further */
#define GOOD 0.001       /* gap below which more strategies serve only the proof */
#define FIRST_SHARE 0.5  /* share of a time limit for a first plan that keeps the memory limit */
#define GRACE 0.7        /* at least this many seconds of processor time for it */
#define TRIED_SHARE 0.9  /* share of the rest for the strategies of the plans tried before */
#define TRIED_GRACE 0.3  /* at least this many seconds for them */

static int64_t entries(const tp_planner *p, const size_t *n_kept) {
  int64_t sum = 0;
  for (size_t k = 0; k < p->n_values; k++)
    for (int u = 0; u < p->values[k].n_uses; u++) {
      int a = p->values[k].node, b = p->values[k].uses[u].node;
      sum += n_kept ? (int64_t)(n_kept[a] * n_kept[b]) : (int64_t)p->nodes[a].n * p->nodes[b].n;
    }
  return sum;
}

bool tp__is_large(const tp_planner *p) { return entries(p, NULL) > LARGE; }

/* Selects the strategies that can be part of a plan of cost < most, and those in `must`. */
static const bool *const *choose(const tp_priced *l, const bool *must, tp_cost most,
                                 int64_t *n_entries) {
  const tp_planner *p = l->p;
  const bool **rows = tp__arena_array(p->arena, l->n_first + 1, sizeof(const bool *));
  bool *kept = tp__arena_array(p->arena, l->offset[l->n_first] + 1, sizeof *kept);
  size_t *n_kept = tp__arena_array(p->arena, l->n_first + 1, sizeof *n_kept);
  if (!rows || !kept || !n_kept)
    return NULL;
  for (size_t i = 0; i < l->n_first; i++) {
    rows[i] = kept + l->offset[i];
    for (size_t at = l->offset[i]; at < l->offset[i + 1]; at++)
      n_kept[i] += kept[at] = must[at] || l->least[at] < most;
  }
  *n_entries = entries(p, n_kept);
  return rows;
}

/* ---- the routes ---- */

/* Marks the strategies of a solution of a cut planner, by their numbers among all strategies. */
static void must_keep_cut(tp_priced *l, const tp_planner *cut, const int *choices) {
  for (size_t i = 0, k = 0; i < l->n_first; i++, k++) {
    while (tp__is_of_routes(&cut->nodes[k]))
      k++;
    int left = choices[k];
    for (int s = 0; s < l->p->nodes[i].n; s++)
      if (cut->kept[i][s] && left-- == 0)
        tp__priced_keep(l, i, s);
  }
}

/* Makes the planner with routes for some strategies, and its problem. */
static tp_status state(const tp_planner *p, const bool *const *kept, bool is_limited,
                       tp_planner *cut) {
  tp_status status = tp__planner_copy(p, cut);
  if (status == TP_OK)
    status = tp__planner_cut(cut, kept);
  if (status == TP_OK)
    status = tp__routes_build(cut, false);
  return status == TP_OK ? tp__plan_make_problem(cut, is_limited, &cut->problem) : status;
}

static void choose_nodes(tp_planner *p, const tp_solution *solution) {
  for (size_t i = 0; i < p->n_nodes; i++)
    p->nodes[i].chosen = solution->choices[i];
}

/* Tries the plan that is cheapest without a limit, and takes it if it keeps the limit: by its
 * estimate, or as written. It may cost more with routes than in the sketch, because steps of a
 * reshard do not fit or a shared copy had the layout of a strategy that is left out. Then its
 * strategies are only candidates. */
static tp_status try_cheapest(tp_priced *l, bool is_counted, bool *taken) {
  tp_planner cut, *p = l->p;
  tp_solution solution = {0};
  tp_solver_options options = tp__priced_options(l, 1);
  int64_t n_entries;
  const bool *const *kept = choose(l, l->cheapest, ONLY_FOUND, &n_entries);
  if (!kept)
    return tp__plan_no_memory(p);
  tp_status status = state(p, kept, is_counted, &cut);
  if (status == TP_OK) {
    tp_status solved = tp_solve(cut.problem, &options, &solution);
    status = solved == TP_OK || solved == TP_INFEASIBLE ? TP_OK : tp__plan_no_memory(p);
    bool is_cheap =
        solved == TP_OK && (double)(solution.cost - l->bound) <= NEAR * (double)l->bound;
    *taken = is_cheap && (is_counted || tp__keeps_limit(&cut, &solution));
  }
  if (status == TP_OK && *taken) {
    p->cost = solution.cost;
    p->bound = l->bound < p->cost ? l->bound : p->cost;
    p->method = solution.method;
    choose_nodes(&cut, &solution);
    tp__planner_take(p, &cut);
  }
  tp_solution_clear(&solution);
  tp__planner_drop(&cut);
  return status;
}

/* The result of solving for some strategies. */
typedef struct found {
  tp_planner planner; /* has the plan; without nodes: no plan yet */
  tp_cost cost;
  const char *method;
  int64_t width;
  tp_exact_cost peak; /* without a plan: the smallest peak that was tried */
  tp_cost most;       /* strategies with a lower bound below this were tried */
} found;

/* Plans that are found first if there is a clock. */
typedef struct early {
  tp_late_plan plain; /* without routes, found by prices */
  found tried;        /* with routes, from the strategies of all plans tried for `plain` */
} early;

/* Makes the plan of a cut planner, whose nodes are chosen, the best so far. Takes over the
 * planner. */
static void keep_found(tp_planner *cut, const tp_solution *solution, found *f) {
  f->cost = solution->cost;
  f->method = solution->method;
  f->width = solution->width;
  tp__planner_drop(&f->planner);
  f->planner = *cut;
  if (f->planner.routes)
    tp__routes_move(f->planner.routes, &f->planner);
}

static bool is_beyond(const tp_priced *l, const found *f, double gap) {
  return f->cost >= TP_COST_FORBIDDEN || (double)(f->cost - l->bound) > gap * (double)l->bound;
}

/* The divisor of the total work for strategies below `most`. With more effort, a smaller gap is
 * required before only the proof is left. */
static int share_of(const tp_priced *l, const found *f, tp_cost most) {
  if (most == ONLY_FOUND)
    return FOUND_SHARE;
  return is_beyond(l, f, GOOD / l->p->effort) ? 1 : PROOF_SHARE;
}

/* Solves for the strategies that can be part of a plan of cost < most, and those of plans already
 * found. */
static tp_status solve_below(tp_priced *l, tp_cost most, found *f) {
  tp_planner cut;
  tp_solution solution = {0};
  tp_solver_options options = tp__priced_options(l, share_of(l, f, most));
  int64_t n_entries;
  const bool *const *kept = choose(l, l->must, most, &n_entries);
  if (most == ONLY_FOUND && options.gap < FOUND_GAP / l->p->effort)
    options.gap = FOUND_GAP / l->p->effort;
  if (!kept)
    return tp__plan_no_memory(l->p);
  f->most = most;
  tp_status status = state(l->p, kept, true, &cut);
  if (status != TP_OK) {
    tp__planner_drop(&cut);
    return status;
  }
  status = tp_solve(cut.problem, &options, &solution);
  if (status != TP_OK && status != TP_INFEASIBLE)
    status = tp__plan_no_memory(l->p);
  if (status == TP_OK || status == TP_INFEASIBLE) {
    l->p->is_cut_short |= solution.stopped;
    tp__priced_spend(l, solution.work);
    tp_cost bound = solution.lower_bound < most ? solution.lower_bound : most;
    l->bound = bound > l->bound ? bound : l->bound;
    tp__priced_take(l, &solution);
    f->peak = status == TP_OK ? f->peak : solution.peak;
  }
  if (status == TP_OK && solution.cost < f->cost) {
    must_keep_cut(l, &cut, solution.choices);
    choose_nodes(&cut, &solution);
    keep_found(&cut, &solution, f);
    cut = (tp_planner){0};
  }
  tp_solution_clear(&solution);
  tp__planner_drop(&cut);
  return status == TP_INFEASIBLE ? TP_OK : status;
}

/* Solves for the strategies of all plans that were tried: if each of them holds too much, a
 * combination may hold less. */
static tp_status solve_tried(tp_planner *p, early *e) {
  tp_planner cut;
  tp_solution solution = {0};
  tp_solver_options options = {.size = sizeof options,
                               .gap = p->gap > FOUND_GAP ? p->gap : FOUND_GAP};
  options.work_budget = p->limited_work / FOUND_SHARE;
  tp__clock_heed(p->clock, &options);
  tp_status status = state(p, e->plain.tried, true, &cut);
  if (status == TP_OK) {
    status = tp_solve(cut.problem, &options, &solution);
    p->work += solution.work;
    if (status != TP_OK && status != TP_INFEASIBLE)
      status = tp__plan_no_memory(p);
  }
  if (status == TP_OK) {
    choose_nodes(&cut, &solution);
    keep_found(&cut, &solution, &e->tried);
    cut = (tp_planner){0};
  }
  tp_solution_clear(&solution);
  tp__planner_drop(&cut);
  return status == TP_INFEASIBLE ? TP_OK : status;
}

/* With a clock: searches for any plan that keeps the limit, whatever its cost. */
static tp_status plan_early(tp_planner *p, early *e) {
  *e = (early){.plain.cost = TP_COST_FORBIDDEN, .tried.cost = TP_COST_FORBIDDEN};
  if (!p->clock->is_limited || p->is_restricted)
    return TP_OK;
  double end = p->clock->deadline;
  tp__clock_share(p->clock, end, FIRST_SHARE);
  tp__clock_extend(p->clock, GRACE);
  tp_status status = tp__plan_lean(p, &e->plain);
  tp__clock_share(p->clock, end, TRIED_SHARE);
  tp__clock_extend(p->clock, TRIED_GRACE);
  if (status == TP_OK && e->plain.tried)
    status = solve_tried(p, e);
  tp__clock_extend(p->clock, 0);
  p->clock->deadline = end;
  return status;
}

/* Emits the error that no plan was found. */
static tp_status fail(tp_priced *l, const found *f) {
  tp_solution solution = {.peak = f->peak, .optimal = l->bound >= TP_COST_FORBIDDEN};
  tp__sketch_used(&l->sketch, NULL, l->used);
  solution.least_peak_time = tp__priced_peak(l);
  solution.least_peak.low = (uint64_t)l->used[solution.least_peak_time];
  solution.optimal |= l->used[solution.least_peak_time] > l->limit;
  if (l->p->is_cut_short && !solution.optimal)
    return tp__clock_exceeded(l->p);
  return tp__plan_infeasible(&l->sketch, &solution);
}

static bool is_open(const tp_priced *l, const found *f) {
  return is_beyond(l, f, l->p->gap) && l->bound < f->cost && !tp__clock_is_over(l->p->clock);
}

/* True if more strategies are worth trying. */
static bool is_far(const tp_priced *l, const found *f) {
  return is_beyond(l, f, NEAR / l->p->effort);
}

/* Alternates between two solves: the routes with the strategies of all sketch plans so far, and the
 * sketch at the memory prices of that solution. */
static tp_status generate(tp_priced *l, found *f) {
  tp_status status = TP_OK;
  for (int round = 0; round < ROUNDS && status == TP_OK && is_open(l, f); round++) {
    size_t n_must = l->n_must;
    status = solve_below(l, ONLY_FOUND, f);
    tp__priced_set(l, l->price);
    if (status == TP_OK && is_open(l, f))
      status = tp__priced_solve(l);
    if (l->n_must == n_must)
      break;
  }
  return status == TP_INFEASIBLE ? TP_OK : status;
}

/* Solves for the strategies with the least lower bounds at the best prices: for all that may be
 * part of a cheaper plan if they are few enough. */
static tp_status widen(tp_priced *l, found *f) {
  tp_cost most = 0;
  int64_t n_entries = 0;
  tp_status status = tp__priced_least(l);
  if (status == TP_OK)
    status = tp__priced_threshold(l, SHARE, &most);
  if (status == TP_OK && !choose(l, l->must, f->cost, &n_entries))
    return tp__plan_no_memory(l->p);
  bool is_few = f->cost < TP_COST_FORBIDDEN && (double)n_entries <= FEW * l->p->effort;
  if (!is_few && !is_far(l, f))
    return status;
  if (is_few || f->cost < most)
    most = f->cost;
  return status == TP_OK && is_open(l, f) ? solve_below(l, most, f) : status;
}

/* Searches for plans whose estimated memory exceeds the limit, but which keep it when written and
 * cost less. They use the strategies of all plans found, or all strategies tried if these are few.
 * `floor`: a lower bound on the cost of any plan, with or without the limit. */
static tp_status look_beyond(tp_priced *l, tp_cost floor, found *f) {
  tp_planner cut, *p = l->p;
  tp_solver_options options = tp__priced_options(l, BEYOND_SHARE);
  bool is_found = f->cost < TP_COST_FORBIDDEN;
  int64_t n_entries;
  if (p->is_restricted || l->left <= 0 || tp__clock_is_over(p->clock) ||
      (is_found && (double)(f->cost - floor) <= NEAR / p->effort * (double)floor))
    return TP_OK;
  const bool *const *kept = choose(l, l->must, f->most, &n_entries);
  if (kept && n_entries > FEW)
    kept = choose(l, l->must, ONLY_FOUND, &n_entries);
  if (!kept)
    return tp__plan_no_memory(p);
  tp_solution solution = {.cost = f->cost};
  tp_status status = state(p, kept, true, &cut);
  if (status == TP_OK)
    status = tp__solve_beyond(&cut, &options, &solution);
  tp__priced_spend(l, solution.work);
  if (status == TP_OK) {
    p->is_cut_short |= cut.is_cut_short;
    keep_found(&cut, &solution, f);
    cut = (tp_planner){0};
  }
  tp_solution_clear(&solution);
  tp__planner_drop(&cut);
  return status == TP_INFEASIBLE ? TP_OK : status;
}

static void take(tp_priced *l, found *f) {
  tp_planner *p = l->p;
  p->cost = f->cost;
  p->bound = l->bound < f->cost ? l->bound : f->cost;
  p->method = f->method;
  p->width = f->width;
  tp__planner_take(p, &f->planner);
}

static tp_status take_plain(tp_priced *l, const tp_late_plan *plain) {
  tp_planner *p = l->p;
  tp_status status = tp__plain_take(p, plain->choices);
  p->cost = plain->cost;
  p->bound = l->bound < p->cost ? l->bound : p->cost;
  p->method = plain->method;
  return status;
}

/* Takes the cheapest plan found. TP_INFEASIBLE: there is none. */
static tp_status take_best(tp_priced *l, early *e, found *f) {
  found *best = e->tried.cost < f->cost ? &e->tried : f;
  bool is_plain = e->plain.cost < best->cost;
  if (best == f && !is_plain && f->cost >= TP_COST_FORBIDDEN)
    return TP_INFEASIBLE;
  tp_cost least = best == f && !is_plain ? 0 : tp__least_cost(l->p);
  l->bound = least > l->bound ? least : l->bound;
  l->p->is_cut_short |= best != f || is_plain;
  if (is_plain)
    return take_plain(l, &e->plain);
  take(l, best);
  return TP_OK;
}

/* Searches for a plan within the limit. */
static tp_status search(tp_priced *l, found *f) {
  tp_status status = tp__priced_search(l);
  if (status == TP_OK)
    status = generate(l, f);
  if (status == TP_OK && is_open(l, f))
    status = widen(l, f);
  return status;
}

/* Tries the plan that is cheapest without a limit first: by its estimate if that fits, else as
 * written, because the estimate may exceed the memory that is held. */
static tp_status plan(tp_priced *l, early *e, found *f) {
  bool taken = false, fits = false;
  tp__sketch_used(&l->sketch, NULL, l->used);
  bool hopeless = l->used[tp__priced_peak(l)] > l->limit;
  tp_status status = tp__priced_solve(l);
  if (status == TP_INFEASIBLE)
    return take_best(l, e, f) == TP_OK ? TP_OK : fail(l, f);
  memcpy(l->cheapest, l->must, l->offset[l->n_first] * sizeof *l->must);
  fits = status == TP_OK && l->used[tp__priced_peak(l)] <= l->limit;
  if (status == TP_OK &&
      /* writing a plan takes as long as another reading of the module */
      (fits || !tp__clock_is_over(l->p->clock)))
    status = try_cheapest(l, fits, &taken);
  tp_cost floor = l->bound;
  if (status == TP_OK && !taken && !hopeless)
    status = search(l, f);
  if (status == TP_OK && !taken && !tp__limit_is_impossible(&l->sketch))
    status = look_beyond(l, floor, f);
  if (status != TP_OK || taken)
    return status;
  status = take_best(l, e, f);
  return status == TP_INFEASIBLE ? fail(l, f) : status;
}

tp_status tp__plan_limited(tp_planner *p) {
  tp_priced l = {.p = p};
  found f = {.cost = TP_COST_FORBIDDEN, .most = ONLY_FOUND};
  early e;
  double end = p->clock->deadline;
  tp_status status = plan_early(p, &e);
  tp__clock_share(p->clock, end, TP_STATING);
  if (status == TP_OK)
    status = tp__priced_open(&l);
  p->clock->deadline = end;
  bool late = l.sketch.is_given_up; /* there was no time for the sketch */
  if (status == TP_OK)
    status = late ? take_best(&l, &e, &f) : plan(&l, &e, &f);
  tp__priced_close(&l);
  tp__planner_drop(&f.planner);
  tp__planner_drop(&e.tried.planner);
  return late && status == TP_INFEASIBLE ? tp__plan_late(p) : status;
}
