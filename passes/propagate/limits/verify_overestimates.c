/* Searches for plans whose estimated memory exceeds the limit, but which keep it when written.
 *
 * The solver's memory estimate is never less than the memory a plan holds, but may be more. A plan
 * whose estimate exceeds the limit is written into a copy of the module, where its memory is
 * measured. The first candidate is the plan that is cheapest without a limit: if it keeps the
 * limit, it is optimal. Else the problem is solved with a larger capacity, between the limit and
 * the estimate of that plan. Its solution costs no more than any plan whose estimate fits; its
 * bound is that of the larger capacity, so it holds for all plans whose estimate fits too. Before
 * capacities are tried, plans are listed (k_best.c). */
#include "passes/propagate/limits/memory_limited.h"
#include "passes/propagate/limits/reduced_planner.h"

#include <stdlib.h>
#include <string.h>

enum {
  ROUNDS = 6,    /* larger capacities that are tried */
  SHARE = 4,     /* each gets at most 1/SHARE of the work, and none starts once the work is spent */
  NEAR_SHARE = 8 /* 1/NEAR_SHARE of the work goes to listing plans */
};
#define ALL_ROOM (INT64_MAX - 1)

static bool same_nodes(const tp_planner *a, const tp_planner *b) {
  bool same = a->n_nodes == b->n_nodes;
  for (size_t i = 0; same && i < a->n_nodes; i++)
    same = a->nodes[i].kind == b->nodes[i].kind && a->nodes[i].n == b->nodes[i].n;
  return same;
}

tp_status tp__copy_open(const tp_planner *p, tp_copied *c) {
  *c = (tp_copied){.module = mlirModuleFromOperation(mlirOperationClone(p->pass->module)),
                   .pass = *p->pass};
  c->pass.module = mlirModuleGetOperation(c->module);
  c->handler = mlirContextAttachDiagnosticHandler(c->pass.context, tp__swallow, NULL, NULL);
  return tp__again_open(&c->pass, p, true, &c->again);
}

void tp__copy_close(tp_copied *c) {
  tp__again_close(&c->again);
  mlirContextDetachDiagnosticHandler(c->pass.context, c->handler);
  mlirModuleDestroy(c->module);
}

/* Peak memory of the solution's plan as written; INT64_MAX if it cannot be written. */
static int64_t held_by(const tp_planner *p, const tp_solution *solution) {
  int64_t held = INT64_MAX;
  if (p->is_restricted)
    return held; /* a module that is read again has all strategies */
  tp_copied copied;
  tp_planner *again = &copied.again.planner;
  bool ok = tp__copy_open(p, &copied) == TP_OK;
  if (ok && p->kept)
    ok = tp__planner_cut(again, p->kept) == TP_OK;
  ok = ok && tp__routes_build(again, false) == TP_OK && same_nodes(p, again);
  for (size_t i = 0; ok && i < p->n_nodes; i++)
    again->nodes[i].chosen = solution->choices[i];
  again->method = solution->method;
  if (ok && tp__plan_write(again) == TP_OK)
    held = again->peak;
  tp__copy_close(&copied);
  return held;
}

bool tp__keeps_limit(const tp_planner *p, const tp_solution *solution) {
  return held_by(p, solution) <= p->memory_limit;
}

/* Solves the problem of the planner with a capacity of `room` bytes, scalars included.
 * TP_INFEASIBLE: no plan was found, and `solution` has no choices. */
static tp_status solve_within(tp_planner *p, tp_solver_options options, int64_t room,
                              tp_solution *solution) {
  int64_t limit = p->memory_limit - tp__routes_numbers(p->routes);
  *solution = (tp_solution){0};
  tp_status status = tp_problem_set_limit(p->problem, room - tp__routes_numbers(p->routes));
  if (status == TP_OK)
    status = tp_solve(p->problem, &options, solution);
  if (status == TP_OK || status == TP_INFEASIBLE)
    status = tp_problem_set_limit(p->problem, limit) == TP_OK ? status : TP_INTERNAL;
  return status;
}

typedef struct beyond {
  tp_solution *best; /* may have no choices; its cost is that of the best plan */
  int *plain;        /* choices of a plan without routes that is cheaper than `best`; NULL: none */
  tp_cost cost;      /* of the best plan overall */
  tp_cost floor;     /* lower bound on the cost of any plan, with or without the limit */
  /* capacities: the plan found within `low` keeps the limit or is not cheaper; the plan found
   * within `high` does not keep the limit */
  int64_t low, high;
  int64_t more; /* estimate minus measured memory of the last plan */
} beyond;

/* Makes the plan of `other` the best, with routes or without. */
static void take(beyond *b, tp_solution *other, bool is_plain, tp_cost cost) {
  int64_t work = b->best->work;
  free(b->plain);
  b->plain = is_plain ? other->choices : NULL;
  b->cost = cost;
  tp_cost bound = other->lower_bound;
  if (is_plain) {
    other->choices = NULL;
    b->best->lower_bound =
        bound > b->best->lower_bound || !b->best->choices ? bound : b->best->lower_bound;
    b->best->method = other->method;
    return;
  }
  tp_solution_clear(b->best);
  *b->best = *other;
  b->best->work = work;
  *other = (tp_solution){0};
}

/* Takes the plan found within `room` if it costs less and keeps the limit. Else the bound of that
 * capacity becomes a bound for the limit. */
static void take_if_kept(tp_planner *p, int64_t room, tp_solution *other, beyond *b) {
  int64_t counted = (int64_t)other->peak.low + tp__routes_numbers(p->routes), held;
  bool is_cheaper = other->choices && other->cost < b->cost, is_taken = false;
  tp_cost cost;
  b->best->work += other->work;
  if (is_cheaper && (held = held_by(p, other)) <= p->memory_limit) {
    p->is_cut_short |= other->stopped;
    take(b, other, false, other->cost);
    is_taken = true;
  } else if (is_cheaper) {
    b->more = held < INT64_MAX ? counted - held : b->more;
    is_taken = tp__plain_held(p, other, &cost, NULL) <= p->memory_limit && cost < b->cost;
    p->is_cut_short |= is_taken && other->stopped;
    if (is_taken)
      take(b, other, true, cost);
  }
  if (is_cheaper && !is_taken)
    b->high = room < counted ? room : counted;
  else
    b->low = room;
  if (!is_cheaper && b->cost < TP_COST_FORBIDDEN && other->lower_bound > b->best->lower_bound)
    b->best->lower_bound = other->lower_bound;
  tp_solution_clear(other);
}

/* The condition that ends the search within a capacity: no plan there is cheaper than the best, or
 * the time is over. */
typedef struct room_end {
  tp_cost cost;
  const tp_clock *clock;
} room_end;

static bool is_room_done(const tp_solver_progress *progress, void *data) {
  const room_end *end = data;
  return tp_exact_cost_value(progress->lower_bound) >= (double)end->cost ||
         tp__clock_is_over(end->clock);
}

static tp_status search_rooms(tp_planner *p, tp_solver_options options, beyond *b) {
  tp_status status = TP_OK;
  int64_t most = b->best->work + options.work_budget;
  options.work_budget = options.work_budget / SHARE + 1;
  for (int round = 0; round < ROUNDS && b->high - b->low > 1 && status == TP_OK &&
                      b->best->work < most && !tp__clock_is_over(p->clock);
       round++) {
    int64_t room = p->memory_limit + b->more;
    if (round % 2 == 1 || room <= b->low || room >= b->high)
      room = b->low + (b->high - b->low) / 2;
    tp_solution other;
    room_end end = {b->cost, p->clock};
    options.interrupted = is_room_done;
    options.data = &end;
    status = solve_within(p, options, room, &other);
    if (status != TP_OK && status != TP_INFEASIBLE)
      break;
    status = TP_OK;
    take_if_kept(p, room, &other, b);
  }
  return status;
}

/* Sets the choices of the planner's nodes to the best plan. */
static tp_status choose(tp_planner *p, beyond *b) {
  tp_solution *best = b->best;
  if (best->lower_bound > b->cost) /* a bound from a capacity below the estimate of the best plan */
    best->lower_bound = b->cost;
  if (b->plain) {
    best->cost = b->cost;
    return tp__plain_take(p, b->plain);
  }
  for (size_t i = 0; i < p->n_nodes && best->choices; i++)
    p->nodes[i].chosen = best->choices[i];
  return best->choices ? TP_OK : TP_INFEASIBLE;
}

/* True if nothing can be gained or measured. A restricted planner cannot be measured, because a
 * module that is read again has all strategies. */
static bool is_final(const tp_planner *p, const tp_solution *best) {
  return p->is_restricted || tp__clock_is_over(p->clock) || tp__limit_is_impossible(p) ||
         (best->cost < TP_COST_FORBIDDEN &&
          (double)(best->cost - best->unlimited_bound) <= p->gap * (double)best->unlimited_bound);
}

/* Lists plans that are cheaper than the best; does nothing if the planner keeps only some of the
 * strategies. */
static tp_status look_nearby(tp_planner *p, const tp_solver_options *options, beyond *b) {
  tp_nearby near = {.cost = b->cost};
  if (p->kept)
    return TP_OK;
  tp_status status = tp__plan_nearby(p, options->work_budget / NEAR_SHARE, &near);
  b->best->work += near.work;
  p->is_cut_short |= tp__clock_is_over(p->clock);
  if (status == TP_OK && near.choices) {
    tp_solution found = {.choices = malloc((p->n_nodes + 1) * sizeof *found.choices),
                         .lower_bound = b->floor,
                         .method = "listing"};
    if (!found.choices)
      return tp__error(p->program.func, TP_NO_MEMORY, "out of memory");
    memcpy(found.choices, near.choices, p->n_nodes * sizeof *found.choices);
    take(b, &found, true, near.cost);
  }
  return status;
}

/* `cheapest` is the plan that is cheapest without a limit. */
static tp_status look_beyond(tp_planner *p, const tp_solver_options *options, tp_solution *cheapest,
                             beyond *b) {
  b->floor = cheapest->lower_bound;
  take_if_kept(p, ALL_ROOM, cheapest, b);
  if (b->cost <= b->floor)
    return TP_OK;
  tp_status status = look_nearby(p, options, b);
  return status == TP_OK ? search_rooms(p, *options, b) : status;
}

tp_status tp__solve_beyond(tp_planner *p, const tp_solver_options *options, tp_solution *best) {
  beyond b = {.best = best, .cost = best->cost, .low = p->memory_limit, .high = ALL_ROOM};
  tp_status status = TP_OK;
  if (!is_final(p, best)) {
    tp_solution cheapest;
    status = solve_within(p, *options, ALL_ROOM, &cheapest);
    if (status == TP_OK)
      status = look_beyond(p, options, &cheapest, &b);
  }
  if (status == TP_OK || status == TP_INFEASIBLE)
    status = choose(p, &b);
  free(b.plain);
  return status;
}
