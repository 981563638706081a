/* The entry point tp_solve: chooses the form of the costs, the limits of work, and reports the
 * result. */
#include "solver/constrained.h"
#include "solver/few_price_search.h"
#include "solver/reduce.h"
#include "solver/relax.h"
#include "support/support.h"

#include <string.h>

enum {
  DEFAULT_TABLE_BUDGET = 20000000,
  WORK_PER_ENTRY = 2000, /* default work: this many reads of every table, ... */
  MIN_WORK = 300000000,  /* ... but at least this, ... */
  MORE = 4,              /* work factor for the next run, if only time limits the search */
  MAX_TIMES = 1 << 20
};
#define MAX_WORK 6000000000     /* ... and at most this */
#define RELAXED_WORK 2000000000 /* without the memory limit */
#define MIN_MEMORY_WORK 50000000000
#define MAX_MEMORY_WORK 500000000000
#define MAX_TABLE_BUDGET ((int64_t)1 << 32)

typedef unsigned __int128 exact;

/* The results so far, over all forms that were tried. */
typedef struct result {
  int *choices; /* the best assignment; valid if found */
  /* nearest: not found, but `choices` exceeds the memory by little */
  bool found, nearest, proven_empty;
  exact cost, bound, unlimited;
  tp__search s;
} result;

static const char *method_name(const tp__search *s) {
  static const char *const names[2][2][2] = {
      /* [passed messages][eliminated][branched] */
      {{"reduction", "reduction"}, {"elimination", "elimination"}},
      {{"message passing + local search", "message passing + branch and bound"},
       {"message passing + elimination", "message passing + branch and bound + elimination"}}};
  static const char *const with_memory[2] = {"multipliers + local search",
                                             "multipliers + branch and bound"};
  return s->multiplied ? with_memory[s->branched]
                       : names[s->passed_messages][s->width >= 0][s->branched];
}

/* False if the capacity suffices for everything: reductions then leave no times. */
static bool has_limit(const tp__wcsp *g) { return g->memory && g->memory->n_times > 0; }

static int64_t work_budget(const tp__wcsp *g, const tp_solver_options *o) {
  if (o->work_budget > 0)
    return o->work_budget;
  if (o->time_limit > 0 && has_limit(g))
    return INT64_MAX / 4; /* the time decides */
  int64_t least = has_limit(g) ? MIN_MEMORY_WORK : MIN_WORK,
          most = has_limit(g) ? MAX_MEMORY_WORK : MAX_WORK;
  int64_t work = WORK_PER_ENTRY * tp__wcsp_entries(g);
  work = work > least ? work : least;
  return work < most ? work : most;
}

/* One attempt to solve the problem in one form, with `times` the usual work. *settled: more work
 * would not improve the result. */
typedef struct attempt {
  const tp_problem *problem;
  const tp_solver_options *options;
  const tp__code *code;
  int64_t times;
  bool settled;
  tp_cost unlimited; /* a lower bound without the limit */
} attempt;

static void limit_work(tp__search *s, const tp__wcsp *g, const attempt *a) {
  s->work_limit = s->work + a->times * work_budget(g, a->options);
  if (s->control)
    s->control->progress.work_limit = s->work_limit;
}

static tp_status search_free(tp__search *s, tp__wcsp *g, attempt *a, tp_cost limit,
                             tp__answer *answer) {
  limit_work(s, g, a);
  tp_status status = tp__wcsp_search(s, g, limit, 0, answer);
  a->settled = answer->bound >= answer->cost || answer->bound >= limit;
  return status;
}

static tp_status search_whole(tp__search *s, attempt *a, tp__answer *answer) {
  tp__wcsp *g = tp__encode(a->problem, a->code, false);
  tp_status status = g ? search_free(s, g, a, TP_COST_FORBIDDEN, answer) : TP_NO_MEMORY;
  tp__wcsp_destroy(g);
  return status;
}

/* Converts prices by time of the problem into prices by time of the graph. Each of these represents
 * the times since the previous one. */
static void start_prices(tp__wmemory *memory, const tp__coarse_prices *coarse) {
  for (int k = 0; k < coarse->n; k++) {
    int t = 0;
    while (t + 1 < memory->n_times && memory->time[t] < coarse->time[k])
      t++;
    if (memory->n_times > 0)
      memory->price[t] += coarse->price[k];
  }
}

/* Keeps the assignment found by coarse prices unless the answer is cheaper. */
static void keep_coarse(const tp__coarse_prices *coarse, int n_nodes, tp__answer *answer) {
  if (answer->cost < TP_COST_FORBIDDEN || coarse->cost >= TP_COST_FORBIDDEN)
    return;
  memcpy(answer->choices, coarse->choices, (size_t)n_nodes * sizeof *answer->choices);
  answer->cost = coarse->cost;
  answer->nearest = false;
  answer->bound = answer->bound < coarse->cost ? answer->bound : coarse->cost;
}

/* The known cost as a cost of the graph. TP_COST_FORBIDDEN: none is known. */
static tp_cost known_cost(const attempt *a) {
  exact known = a->options->known_cost > 0 ? (exact)a->options->known_cost : 0,
        base = a->code->base;
  if (known == 0 || a->code->form != TP__FORM_PLAIN)
    return TP_COST_FORBIDDEN;
  exact cost = known > base ? (known - base) * (exact)a->code->step : 0;
  return cost < TP_COST_FORBIDDEN ? (tp_cost)cost : TP_COST_FORBIDDEN;
}

/* Searches the graph with memory for an assignment cheaper than the known one. */
static tp_status search_priced(tp__search *s, tp__wcsp *g, attempt *a, const tp__answer *relaxed,
                               const tp__coarse_prices *coarse, tp__answer *answer) {
  bool known = coarse->cost < TP_COST_FORBIDDEN;
  tp_cost limit = known ? tp__limit_below(s, coarse->cost) : a->code->most + 1;
  if (known_cost(a) < TP_COST_FORBIDDEN && tp__limit_below(s, known_cost(a)) < limit)
    limit = tp__limit_below(s, known_cost(a));
  s->time_prices.n = 0;
  start_prices(g->memory, coarse);
  tp_status status = tp__wcsp_reduce(g, limit, s->table_budget, tp__search_control(s), &s->work);
  answer->bound = status == TP_INFEASIBLE ? TP_COST_FORBIDDEN : relaxed->bound;
  if (status)
    return status == TP_INFEASIBLE ? TP_OK : status;
  if (!has_limit(g))
    return search_free(s, g, a, limit, answer);
  limit_work(s, g, a);
  answer->bound = coarse->bound > relaxed->bound ? coarse->bound : relaxed->bound;
  bool is_near = relaxed->cost < TP_COST_FORBIDDEN;
  const int *near = known ? coarse->choices : is_near ? relaxed->choices : NULL;
  status = tp__constrained_search(s, g, limit, near, answer);
  return status == TP_OK ? tp__search_keep_prices(s, g->memory, g->memory->price) : status;
}

/* `relaxed` is the answer for the problem without its limit; it does not fit. */
static tp_status search_limited(tp__search *s, attempt *a, const tp__answer *relaxed,
                                tp__answer *answer) {
  const tp_problem *problem = a->problem;
  int64_t work = (a->options->work_budget > 0 ? a->options->work_budget : RELAXED_WORK) / 2;
  tp__coarse_prices coarse = {.bound = INT64_MIN, .cost = TP_COST_FORBIDDEN};
  coarse.choices = tp__calloc((size_t)problem->n_nodes + 1, sizeof *coarse.choices);
  tp_status status = coarse.choices ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK && a->code->form == TP__FORM_PLAIN && relaxed->cost < TP_COST_FORBIDDEN)
    status = tp__find_coarse_prices(s, problem, a->code, work, relaxed, &coarse);
  tp__wcsp *g = status == TP_OK ? tp__encode(problem, a->code, true) : NULL;
  if (status == TP_OK)
    status = g ? search_priced(s, g, a, relaxed, &coarse, answer) : TP_NO_MEMORY;
  if (status == TP_OK)
    keep_coarse(&coarse, problem->n_nodes, answer);
  if (answer->bound > known_cost(a))
    answer->bound = known_cost(a);
  tp__wcsp_destroy(g);
  tp__free(coarse.choices);
  return status;
}

/* Solves without the limit first. Under most limits the cheapest assignment fits, and its cost is a
 * lower bound in any case. If not even the minimum usage of all nodes fits, nothing needs to be
 * solved. */
static tp_status search_relaxed(tp__search *s, attempt *a, tp__answer *relaxed, tp__answer *answer,
                                bool *done) {
  int64_t work = a->options->work_budget > 0 ? a->options->work_budget : RELAXED_WORK, time;
  exact least;
  bool fits;
  if (tp__problem_peak(a->problem, NULL, &time, &least))
    return TP_NO_MEMORY;
  *done = least > (exact)a->problem->limit;
  if (*done)
    return TP_OK;
  tp_status status = tp__relax(s, a->problem, a->code, work, relaxed, &fits);
  *done = fits || relaxed->bound >= TP_COST_FORBIDDEN;
  if (status == TP_OK && *done) {
    memcpy(answer->choices, relaxed->choices,
           (size_t)a->problem->n_nodes * sizeof *answer->choices);
    answer->cost = relaxed->cost;
    answer->bound = relaxed->bound;
  }
  a->unlimited = relaxed->bound;
  tp__search_update(s, relaxed->bound, answer->cost);
  return status;
}

static tp_status search_coded(tp__search *s, attempt *a, tp__answer *answer) {
  const tp_solver_options *o = a->options;
  bool limited = a->problem->limit >= 0, done = false;
  tp__answer relaxed = {.choices =
                            tp__calloc((size_t)a->problem->n_nodes + 1, sizeof *relaxed.choices)};
  tp_status status = relaxed.choices ? TP_OK : TP_NO_MEMORY;
  s->step = a->code->step;
  s->table_budget = o->table_budget > 0 ? o->table_budget : DEFAULT_TABLE_BUDGET;
  s->table_budget = s->table_budget < MAX_TABLE_BUDGET ? s->table_budget : MAX_TABLE_BUDGET;
  s->threads = o->threads;
  s->elimination_limit = tp__elimination_limit(o->work_budget);
  a->settled = true;
  answer->cost = answer->bound = TP_COST_FORBIDDEN;
  if (status == TP_OK && limited)
    status = search_relaxed(s, a, &relaxed, answer, &done);
  if (status == TP_OK && limited && !done)
    status = search_limited(s, a, &relaxed, answer);
  else if (status == TP_OK && !done)
    status = search_whole(s, a, answer);
  tp__free(relaxed.choices);
  return status;
}

/* Adds the findings for one form to the result. */
static void add_result(const tp_problem *problem, const attempt *a, const tp__answer *answer,
                       result *r) {
  const tp__code *code = a->code;
  bool empty = answer->bound >= TP_COST_FORBIDDEN;
  exact bound = empty ? ~(exact)0 : tp__decode_bound(code, answer->bound);
  if (code->form == TP__FORM_AVOID && bound > code->avoided_bound)
    bound = code->avoided_bound;
  else
    r->proven_empty = empty;
  r->bound = bound > r->bound ? bound : r->bound;
  exact unlimited = a->unlimited < TP_COST_FORBIDDEN ? tp__decode_bound(code, a->unlimited) : 0;
  if (code->form == TP__FORM_PLAIN && problem->limit >= 0)
    r->unlimited = unlimited;
  exact cost =
      answer->cost < TP_COST_FORBIDDEN ? tp__problem_exact_cost(problem, answer->choices) : 0;
  bool better = answer->cost < TP_COST_FORBIDDEN && (!r->found || cost < r->cost);
  if (better || (answer->nearest && !r->found)) {
    memcpy(r->choices, answer->choices, (size_t)problem->n_nodes * sizeof *r->choices);
    r->found = better;
    r->nearest = answer->nearest;
    r->cost = cost;
  }
}

/* Solves the problem in one form. Without memory, the work is distributed in advance; so under a
 * time limit it starts again with more work as long as time remains. */
static tp_status solve_coded(const tp_problem *problem, const tp_solver_options *o,
                             const tp__code *code, tp__control *control, result *r) {
  int *choices = tp__calloc((size_t)problem->n_nodes + 1, sizeof *choices);
  tp_status status = choices ? TP_OK : TP_NO_MEMORY;
  bool by_time = o->time_limit > 0 && o->work_budget <= 0;
  control->code = code;
  r->s.control = o->interrupted || o->time_limit > 0 || o->gap > 0 ? control : NULL;
  attempt a = {.problem = problem, .options = o, .code = code};
  for (a.times = 1; status == TP_OK && !a.settled; a.times *= MORE) {
    tp__answer answer = {.choices = choices};
    status = search_coded(&r->s, &a, &answer);
    if (status == TP_OK)
      add_result(problem, &a, &answer, r);
    a.settled |= !by_time || atomic_load(&control->stop) || a.times > MAX_TIMES;
  }
  tp__free(choices);
  return status;
}

/* Handles big costs: first forbids them, and allows them if that does not settle the problem. */
static tp_status solve_forms(const tp_problem *problem, const tp_solver_options *o,
                             tp__control *control, result *r) {
  tp__code code;
  if (!problem->big) {
    tp__code_choose(problem, TP__FORM_PLAIN, &code);
    return solve_coded(problem, o, &code, control, r);
  }
  if (tp__code_choose(problem, TP__FORM_AVOID, &code)) {
    TP_TRY(solve_coded(problem, o, &code, control, r));
    if ((r->found && r->cost <= code.avoided_bound) || atomic_load(&control->stop))
      return TP_OK;
  }
  if (!tp__code_choose(problem, TP__FORM_COUNT, &code))
    tp__code_choose(problem, TP__FORM_SHIFT, &code);
  return solve_coded(problem, o, &code, control, r);
}

static tp_cost saturate(exact cost) {
  return cost < TP_COST_FORBIDDEN ? (tp_cost)cost : TP_COST_FORBIDDEN;
}

static tp_status report_memory(const tp_problem *problem, const result *r, tp_solution *solution) {
  exact usage = 0;
  if (problem->limit < 0)
    return TP_OK;
  if (tp__problem_peak(problem, NULL, &solution->least_peak_time, &usage))
    return TP_NO_MEMORY;
  solution->least_peak = tp__exact(usage);
  const int *choices = r->found || r->nearest ? r->choices : NULL;
  if (choices && tp__problem_peak(problem, choices, &solution->peak_time, &usage))
    return TP_NO_MEMORY;
  solution->peak = choices ? tp__exact(usage) : (tp_exact_cost){0, 0};
  return TP_OK;
}

static void report(const tp_problem *problem, result *r, const tp__control *control,
                   tp_solution *solution) {
  const tp__search *s = &r->s;
  solution->n_nodes = problem->n_nodes;
  solution->method = method_name(s);
  solution->work = s->work;
  solution->width = s->width;
  solution->stopped = control->early;
  solution->seconds = tp__control_seconds(control);
  if (r->found && r->bound > r->cost)
    r->bound = r->cost;
  solution->cost = r->found ? saturate(r->cost) : TP_COST_FORBIDDEN;
  solution->lower_bound = r->proven_empty ? TP_COST_FORBIDDEN : saturate(r->bound);
  solution->unlimited_bound = saturate(r->unlimited);
  solution->exact_cost = tp__exact(r->cost);
  solution->exact_bound = tp__exact(r->proven_empty ? 0 : r->bound);
  solution->optimal = r->found ? r->bound == r->cost : r->proven_empty;
  if (r->found) {
    solution->choices = r->choices;
    r->choices = NULL;
  }
  if (r->s.time_prices.n > 0) {
    solution->n_prices = r->s.time_prices.n;
    solution->price_times = r->s.time_prices.time;
    solution->prices = r->s.time_prices.price;
    r->s.time_prices = (tp__time_prices){0};
  }
}

tp_status tp_solve(const tp_problem *problem, const tp_solver_options *options,
                   tp_solution *solution) {
  tp_solver_options o = {0};
  if (!problem || !solution || (options && options->size < sizeof options->size))
    return TP_INVALID_ARGUMENT;
  if (options)
    memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
  tp__control control;
  tp__control_start(&control, &o);
  result r = {.s = {.width = -1}};
  r.choices = tp__calloc((size_t)problem->n_nodes + 1, sizeof *r.choices);
  tp_status status = r.choices ? solve_forms(problem, &o, &control, &r) : TP_NO_MEMORY;
  tp_solution out = {0};
  if (status == TP_OK)
    status = report_memory(problem, &r, &out);
  if (status == TP_OK) {
    report(problem, &r, &control, &out);
    *solution = out;
    status = r.found ? TP_OK : TP_INFEASIBLE;
  }
  tp__free(r.choices);
  tp__free(r.s.time_prices.time);
  tp__free(r.s.time_prices.price);
  return status;
}

void tp_solution_clear(tp_solution *solution) {
  tp__free(solution->choices);
  tp__free(solution->price_times);
  tp__free(solution->prices);
  *solution = (tp_solution){0};
}

void tp_exact_cost_print(tp_exact_cost cost, char text[40]) {
  exact value = ((exact)cost.high << 64) | cost.low;
  char digits[40];
  int n = 0;
  do {
    digits[n++] = (char)('0' + (int)(value % 10));
    value /= 10;
  } while (value);
  for (int i = 0; i < n; i++)
    text[i] = digits[n - 1 - i];
  text[n] = 0;
}
