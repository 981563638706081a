/* Searches in large functions under a memory limit.
 *
 * Routes make the problem some ten times larger than it is without a limit, so it is never stated
 * as a whole. The sketch of the routes (route_sketch.h) is solved at prices of memory, and the
 * problem of the routes for the strategies of its plans, which are few. */
#include "passes/propagate/limits/search.h"

#include <string.h>

enum {
  TIMES = 3,        /* number of times that get a price, at most */
  SOLVES = 5,       /* solves for each of these times */
  ROUNDS = 4,       /* of prices taken from the routes */
  SMALL_EXCESS = 8, /* the ascent ends when the limit is exceeded by less than this part of it */
  NEAREST = 3,      /* strategies per node that are added around plans */
  SHARE = 12        /* strategies kept per node, on average */
};
#define STATING 0.5 /* share of a time limit for stating the sketch */
/* Share of the cost that the whole capacity is worth at the first price. A plan that uses too
 * little memory is of more use than one that uses too much: the routes give prices for both
 * together. */
#define FIRST_WORTH 0.32
#define RISE 4.0 /* factor by which the price of a time rises */

static bool has_sketch(const tp_search *s) { return s->priced.sketch.problem.nodes && !s->is_over; }

/* ---- the cheapest plan without a limit ---- */

/* Takes the plan that is cheapest without a limit, whose estimate keeps it. It may cost more with
 * routes than in the sketch, because steps of a reshard do not fit or a shared copy had the layout
 * of a strategy that is left out. Then its strategies are only candidates. */
static tp_status try_cheapest(tp_search *s) {
  tp_priced *l = &s->priced;
  tp_planner reduced;
  tp_solution solution = {0};
  tp_solver_options options = tp__priced_options(l, 1);
  int64_t n_entries;
  const bool *const *kept = tp__select_strategies(s, l->cheapest, TP_ONLY_FOUND, &n_entries);
  if (!kept)
    return tp__plan_no_memory(s->p);
  tp_status status = tp__state_strategies(s->p, kept, true, &reduced);
  if (status == TP_OK) {
    tp_status solved = tp_solve(reduced.stated, &options, &solution);
    status = solved == TP_OK || solved == TP_INFEASIBLE ? TP_OK : tp__plan_no_memory(s->p);
    bool is_cheap = solved == TP_OK &&
                    (double)(solution.cost - l->bound) <= TP_NEAR * (double)l->bound &&
                    solution.cost < s->best.cost;
    if (is_cheap) {
      s->is_over = true;
      tp__choose(&reduced, &solution);
      tp__found_keep(s, &reduced);
    }
  }
  tp_solution_clear(&solution);
  tp__planner_drop(&reduced);
  return status;
}

static bool cheapest_applies(const tp_search *s) { return s->is_large && s->p->limits.memory >= 0; }

static tp_status open_sketch(tp_search *s) {
  tp_clock *clock = s->p->limits.clock;
  tp__clock_share(clock, s->end, STATING);
  s->priced.p = s->p;
  tp_status status = tp__priced_open(&s->priced);
  clock->deadline = s->end;
  s->is_over = s->priced.sketch.is_given_up;
  return status;
}

static tp_status run_cheapest(tp_search *s) {
  tp_priced *l = &s->priced;
  tp_clock *clock = s->p->limits.clock;
  tp_status status = open_sketch(s);
  if (status != TP_OK || s->is_over)
    return status;
  tp__sketch_used(&l->sketch, NULL, l->used);
  s->is_impossible = l->used[tp__priced_peak(l)] > l->limit;
  if (s->unlimited) {
    status = tp__priced_follow(l, s->unlimited);
    bool exceeds = status == TP_OK && l->used[tp__priced_peak(l)] > l->limit;
    if (exceeds || (status != TP_OK && status != TP_INFEASIBLE))
      return status;
  }
  tp__clock_phase("searching without the memory limit");
  clock->shows_plans = clock->shows_bounds = true;
  status = tp__priced_solve(l);
  clock->shows_plans = clock->shows_bounds = false;
  tp__clock_phase("searching");
  s->is_over = status == TP_INFEASIBLE;
  if (status != TP_OK)
    return status == TP_INFEASIBLE ? TP_OK : status;
  memcpy(l->cheapest, l->must, l->offset[l->n_first] * sizeof *l->must);
  if (l->used[tp__priced_peak(l)] <= l->limit)
    status = try_cheapest(s);
  s->floor = l->bound;
  return status;
}

/* The sketch without prices of memory. If its plan keeps the limit, it is optimal; else its cost is
 * a bound. This is the Lagrangian relaxation of the limit at price 0. If the plan without the limit
 * is known and exceeds the limit in the sketch too, the sketch is not solved, since prices mostly
 * give better bounds. */
const tp_search_row tp__cheapest_row = {"cheapest", cheapest_applies, run_cheapest};

/* ---- ascent of prices ---- */

/* Half of the work is reserved for the routes. */
static bool may_price(const tp_priced *l) {
  return l->left > l->p->limits.work / 2 && !tp__clock_is_over(l->p->limits.clock);
}

/* The last plan: its memory at a time, and its cost with the payments for all other times. */
typedef struct sample {
  double cost, used;
} sample;

static sample last_plan(const tp_priced *l, int64_t time) {
  sample s = {(double)tp_problem_evaluate(l->unpriced, l->choices), (double)l->used[time]};
  for (size_t t = 0; t < l->n_times; t++)
    s.cost += (int64_t)t == time ? 0 : l->price[t] * (double)l->used[t];
  return s;
}

/* Raises the price at a time until the plan that is found keeps the limit there. *under: it does.
 * Between that plan and the one before, which exceeds the limit, lies the price at which both cost
 * the same. */
static tp_status price_time(tp_priced *l, int64_t time, bool *under) {
  double capacity = l->limit > 1 ? (double)l->limit : 1;
  sample over = last_plan(l, time);
  l->price[time] =
      FIRST_WORTH * (double)(tp_problem_evaluate(l->unpriced, l->choices) + 1) / capacity;
  tp_status status = TP_OK;
  for (int i = 0; i < SOLVES && status == TP_OK && may_price(l); i++) {
    tp__priced_set(l, l->price);
    status = tp__priced_solve(l);
    *under = status == TP_OK && l->used[time] <= l->limit;
    if (*under)
      break;
    over = status == TP_OK ? last_plan(l, time) : over;
    l->price[time] *= RISE;
  }
  if (*under) {
    sample now = last_plan(l, time);
    l->between[time] = now.cost > over.cost ? (now.cost - over.cost) / (over.used - now.used) : 0;
  }
  return status;
}

static bool ascent_applies(const tp_search *s) { return has_sketch(s) && !s->is_impossible; }

/* Prices times at which the limit is exceeded by more than `excess`, most first. */
static tp_status price_times(tp_priced *l, int64_t excess) {
  tp_status status = TP_OK;
  bool under = true;
  for (; status == TP_OK && under && l->n_priced < TIMES && may_price(l) &&
         l->used[tp__priced_peak(l)] > l->limit + (l->n_priced > 0 ? excess : 0);
       l->n_priced++)
    status = price_time(l, tp__priced_peak(l), &under);
  return status;
}

static tp_status run_ascent(tp_search *s) {
  tp_status status = price_times(&s->priced, s->priced.limit / SMALL_EXCESS);
  return status == TP_INFEASIBLE ? TP_OK : status;
}

/* Prices of memory rise at the times at which the limit is exceeded most, until a plan of the
 * sketch exceeds it by little: a restricted problem with its strategies finds the other prices. The
 * prices are Lagrange multipliers (Everett 1963), and each solve gives a bound (Held and Karp
 * 1971). */
const tp_search_row tp__ascent_row = {"price ascent", ascent_applies, run_ascent};

/* ---- generation of strategies ---- */

static bool generation_applies(const tp_search *s) {
  return has_sketch(s) && !s->is_impossible && tp__search_is_open(s);
}

static tp_status run_generation(tp_search *s) {
  tp_priced *l = &s->priced;
  tp_status status = TP_OK;
  bool ascends = true;
  for (int round = 0; round < ROUNDS && status == TP_OK && tp__search_is_open(s); round++) {
    size_t n_must = l->n_must;
    status = tp__solve_strategies(s, TP_ONLY_FOUND);
    if (status != TP_OK || !tp__search_is_open(s) || tp__is_huge(s))
      break;
    bool is_found = s->best.cost < TP_COST_FORBIDDEN;
    if (ascends && !(is_found && l->has_routed))
      status = price_times(l, 0);
    else if (!l->has_routed)
      break; /* no other prices are known */
    ascends &= is_found && l->has_routed;
    tp__priced_set(l, l->has_routed ? l->routed : l->between);
    if (status == TP_OK)
      status = tp__priced_solve(l);
    if (l->n_must == n_must)
      break;
  }
  return status == TP_INFEASIBLE ? TP_OK : status;
}

/* Two solves alternate: the routes with the strategies of all plans of the sketch so far, and the
 * sketch at the prices of memory of that solution. Where there is none, or it has no prices, the
 * ascent goes on at other times. This is column generation: the restricted
 * problem gives prices, the relaxation gives strategies (Dantzig and Wolfe 1960). */
const tp_search_row tp__generation_row = {"generation", generation_applies, run_generation};

/* ---- strategies near a plan ---- */

static bool nearest_applies(const tp_search *s) { return generation_applies(s) && tp__is_huge(s); }

static tp_status price_exactly(tp_search *s) {
  tp_priced *l = &s->priced;
  tp__priced_set(l, l->has_routed ? l->routed : l->between);
  tp_status status = tp__priced_solve_exactly(l);
  return status == TP_INFEASIBLE ? TP_OK : status;
}

static tp_status run_nearest(tp_search *s) {
  tp_priced *l = &s->priced;
  bool is_priced = l->has_routed;
  tp_status status = is_priced ? price_exactly(s) : TP_OK;
  if (status != TP_OK || !tp__search_is_open(s))
    return status;
  tp__priced_set(l, is_priced ? l->routed : l->between);
  status = tp__priced_keep_nearest(l, NEAREST);
  if (status == TP_OK)
    status = tp__solve_strategies(s, TP_ONLY_FOUND);
  return status == TP_OK && !is_priced && tp__search_is_open(s) ? price_exactly(s) : status;
}

/* In functions with very many strategies: the routes are solved for the strategies that cost little
 * beside those of the plans found, at prices of memory. They are the neighborhood of these plans
 * (Shaw 1998). The sketch at the prices of a solution with routes, solved exactly, gives the
 * bound: messages to all strategies take longer, and tell few of them apart. */
const tp_search_row tp__nearest_row = {"nearest", nearest_applies, run_nearest};

/* ---- reduced costs ---- */

static bool reduced_cost_applies(const tp_search *s) {
  return generation_applies(s) && !tp__is_huge(s);
}

static tp_status run_reduced_cost(tp_search *s) {
  tp_priced *l = &s->priced;
  tp_cost threshold = 0;
  int64_t n_entries = 0;
  tp_status status = tp__priced_reduced_costs(l);
  if (status == TP_OK)
    status = tp__priced_threshold(l, SHARE, &threshold);
  if (status == TP_OK && !tp__select_strategies(s, l->must, s->best.cost, &n_entries))
    return tp__plan_no_memory(s->p);
  double effort = s->p->limits.effort;
  bool is_few = s->best.cost < TP_COST_FORBIDDEN && (double)n_entries <= TP_FEW_ENTRIES * effort;
  if (!is_few && !tp__found_exceeds(s, TP_NEAR / effort))
    return status;
  if (is_few || s->best.cost < threshold)
    threshold = s->best.cost;
  return status == TP_OK && tp__search_is_open(s) ? tp__solve_strategies(s, threshold) : status;
}

/* Messages over the sketch at the best prices give every strategy a lower bound on the cost of a
 * plan that uses it. The routes are solved for the strategies with the smallest bounds: for all
 * that may be part of a cheaper plan if they are few enough. Omitted strategies cost at least the
 * threshold, so the bound stays certified. This is variable fixing by reduced costs (Dantzig,
 * Fulkerson and Johnson 1954). */
const tp_search_row tp__reduced_cost_row = {"reduced costs", reduced_cost_applies,
                                            run_reduced_cost};
