/* The searches for a plan within limits, and the state they share.
 *
 * A search is a row of the table in searches.c. Rows are tried in order. No search calls another:
 * each leaves the best plan so far, a bound, and what it has learned in the state, for the searches
 * behind it. */
#ifndef TP_PASSES_PROPAGATE_SEARCH_H
#define TP_PASSES_PROPAGATE_SEARCH_H

#include "passes/propagate/limits/priced_sketch.h"
#include "passes/propagate/limits/reduced_planner.h"
#include "passes/propagate/limits/seed_strategies.h"

/* The best plan so far. */
typedef struct tp_found {
  /* TP_COST_FORBIDDEN: no plan. For an overlapped objective, the simulated time */
  tp_cost cost;
  /* The plan, as choices of the nodes of a planner of its own; without nodes: `unrouted` has it. */
  tp_planner planner;
  const int *unrouted; /* by node of the function: a plan without routes */
  const char *method;
  bool is_early; /* found in a share of the time: another run may find another plan */
} tp_found;

/* The last plan whose memory was measured without routes. */
typedef struct tp_unrouted_trial {
  int *choices; /* by node of the stated planner, in its arena; NULL: none */
  int64_t held;
  tp_cost cost;
} tp_unrouted_trial;

/* Plans whose estimated memory may exceed the limit, and which keep it when written. The problem of
 * the routes is stated for all strategies, or for those of good plans in large functions. */
typedef struct tp_overestimates {
  tp_planner *stated; /* the planner with this problem; NULL: it is not stated */
  tp_planner reduced; /* that planner, if it has only some of the strategies */
  tp_solver_options options;
  tp_solution best; /* the best plan with routes; may have no choices, then its cost is known */
  int *unrouted;    /* choices of a plan without routes that is cheaper than `best`; NULL: none */
  tp_cost cost;     /* of the best plan overall */
  tp_cost floor;    /* lower bound on the cost of any plan, with or without the limit */
  bool has_floor;   /* the problem without the limit was solved */
  /* capacities: the plan found within `low` keeps the limit or is not cheaper; the plan found
   * within `high` does not keep the limit */
  int64_t low, high;
  tp_cost high_cost; /* of that plan */
  int64_t excess;    /* estimate minus measured memory of the last plan */
  tp_unrouted_trial trial;
} tp_overestimates;

typedef struct tp_search {
  tp_planner *p; /* the problem, its limits, and in the end the plan */
  bool is_large; /* the problem of the routes is stated only for some strategies */
  bool has_many; /* there is no memory limit, and there are too many strategies to state them all */
  double end;    /* deadline of all searches together */
  tp_found best;
  tp_cost floor; /* lower bound on the cost of any plan, with or without the limit */
  bool is_slack; /* the plan without the memory limit keeps it: it is `best`, `floor` its bound */
  const int *unlimited; /* by node: that plan, if it does not keep the limit; NULL: unknown */

  /* little time */
  tp_seeds seeds;
  bool is_solved;  /* the problem of all strategies was solved, and its plan is in `p` */
  bool is_planned; /* there are too many strategies for that, and `best` has the plan */
  /* by node: the strategies of all plans tried by prices; NULL: none were tried */
  const bool *const *tried;

  /* large functions under a memory limit */
  /* The sketch, and the certified bound. Without nodes: it is not open. */
  tp_priced priced;
  tp_cost threshold;      /* strategies with a reduced cost below this were tried */
  tp_exact_cost min_peak; /* without a plan: the smallest estimated peak that was tried */
  bool is_over;           /* the plan is optimal, or there is none */
  bool is_impossible;     /* by what is counted, every plan exceeds the limit */

  tp_overestimates over;
} tp_search;

typedef struct tp_search_row {
  const char *name;
  bool (*applies)(const tp_search *search);
  /* Finding no plan is no error. An error is reported, and ends planning. */
  tp_status (*run)(tp_search *search);
} tp_search_row;

extern const tp_search_row tp__seed_row, tp__neighborhood_row; /* seed_search.c */
extern const tp_search_row tp__price_row, tp__tried_row;       /* price_search.c */
extern const tp_search_row tp__slack_row;                      /* slack_limit.c */
extern const tp_search_row tp__many_row;                       /* many_strategies.c */
extern const tp_search_row tp__whole_row;                      /* whole_problem.c */
extern const tp_search_row tp__cheapest_row, tp__ascent_row, tp__generation_row, tp__nearest_row,
    tp__reduced_cost_row;                                         /* sketch_search.c */
extern const tp_search_row tp__unlimited_row, tp__capacities_row; /* overestimates.c */
extern const tp_search_row tp__k_best_row;                        /* k_best.c */

/* many_strategies.c */
bool tp__has_many_strategies(const tp_planner *planner);

/* searches.c: true if the function is planned in a given time, or the search was ended. */
bool tp__has_little_time(const tp_search *search);

/* ---- found.c: the best plan so far ---- */

/* The cost by which plans are compared. */
tp_cost tp__plan_worth(const tp_planner *planner);
/* Makes the plan of a planner of its own the best so far. Takes over the planner. */
void tp__found_keep(tp_search *search, tp_planner *planner);
/* Makes a plan without routes the best so far. */
void tp__found_keep_unrouted(tp_search *search, const int *choices, tp_cost cost,
                             const char *method);
/* True if the best plan costs more than the bound by more than this share. */
bool tp__found_exceeds(const tp_search *search, double gap);
/* True if a better plan or a better bound is needed, and there is time. */
bool tp__search_is_open(const tp_search *search);

/* ---- restricted_routes.c: the problem of the routes for some strategies ---- */

enum { TP_FEW_ENTRIES = 200000 }; /* entries of tables between producers and users */
/* A threshold below every cost: only strategies of plans that were found. */
#define TP_ONLY_FOUND INT64_MIN
/* Gap below which a plan of a large function is not improved further. */
#define TP_NEAR 0.005

/* Selects the strategies with a reduced cost below `threshold`, and those marked in `must`. NULL
 * when memory runs out. */
const bool *const *tp__select_strategies(const tp_search *search, const bool *must,
                                         tp_cost threshold, int64_t *n_entries);
/* Makes a planner with routes for some strategies, and its problem. Must be dropped also when it
 * fails. */
tp_status tp__state_strategies(const tp_planner *planner, const bool *const *kept, bool limited,
                               tp_planner *reduced);
/* Solves for the strategies with a reduced cost below `threshold`, and those of plans already
 * found. */
tp_status tp__solve_strategies(tp_search *search, tp_cost threshold);
/* True if the problem of the routes is so large that it is stated only for some strategies. */
bool tp__is_large(const tp_planner *planner);
/* True if there is a plan, and too many strategies for lower bounds of each of them. */
bool tp__is_huge(const tp_search *search);
/* Sets the choices of the nodes of a planner, and its cost. */
void tp__choose(tp_planner *planner, const tp_solution *solution);

/* ---- overestimates.c ---- */

/* Makes a plan without routes the best of those; takes its choices. */
void tp__overestimates_take_unrouted(tp_overestimates *over, tp_solution *found, tp_cost cost);
/* Sets the stated planner, its result included, to the best of those. TP_INFEASIBLE: there is
 * none. */
tp_status tp__overestimates_choose(tp_overestimates *over);

#endif
