/* Tests the solver with a memory limit, and with costs beyond 64 bits, against brute force, and its
 * guarantees. */
#include "generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef unsigned __int128 exact;

enum { FEW_NODES = 9, MOST_NODES = 80, MOST_STRATEGIES = 5, MOST_EDGES = 160, TIMES = 8 };
#define BIG ((tp_cost)1000000000000000000)

/* A problem whose data the test can read. */
typedef struct known {
  int n_nodes, n_edges;
  int n[MOST_NODES], start[MOST_NODES], end[MOST_NODES], ends[MOST_EDGES][2];
  tp_cost cost[MOST_NODES][MOST_STRATEGIES], table[MOST_EDGES][MOST_STRATEGIES * MOST_STRATEGIES];
  int64_t usage[MOST_NODES][MOST_STRATEGIES], limit;
  bool lives_again; /* nodes use memory in a second live range, which may overlap the first */
  int again[MOST_NODES], again_end[MOST_NODES];
  int64_t again_usage[MOST_NODES][MOST_STRATEGIES];
} known;

typedef struct style {
  int max_cost, big; /* big: percent of big entries */
  tp_cost add;       /* added to every cost */
  int64_t unit;      /* unit of usages */
  bool mixed;        /* some nodes use 2^40 times more than others */
  int equal;         /* percent of edges that are equalities, if sizes agree */
} style;

static tp_cost random_cost(rng *r, const style *how) {
  return rng_below(r, 100) < how->big ? BIG + (rng_below(r, 4) ? 0 : rng_below(r, 1000))
                                      : how->add + rng_below(r, how->max_cost + 1);
}

static void draw_edge(known *k, rng *r, const style *how) {
  int a = rng_below(r, k->n_nodes), b = rng_below(r, k->n_nodes);
  if (a == b)
    return;
  int e = k->n_edges++;
  k->ends[e][0] = a;
  k->ends[e][1] = b;
  bool equal = k->n[a] == k->n[b] && rng_below(r, 100) < how->equal;
  for (int x = 0; x < k->n[a]; x++)
    for (int y = 0; y < k->n[b]; y++)
      k->table[e][x * k->n[b] + y] = equal ? (x == y ? 0 : BIG) : random_cost(r, how);
}

static void draw(known *k, rng *r, const style *how, int most_nodes) {
  *k = (known){.n_nodes = 1 + rng_below(r, most_nodes)};
  int most = k->n_nodes > 7 && most_nodes == FEW_NODES ? 3 : MOST_STRATEGIES;
  exact least_total = 0, most_total = 0;
  for (int v = 0; v < k->n_nodes; v++) {
    k->n[v] = 1 + rng_below(r, most);
    k->start[v] = rng_below(r, TIMES);
    k->end[v] = k->start[v] + rng_below(r, TIMES);
    int64_t least = INT64_MAX, largest = 0,
            unit = how->mixed && rng_below(r, 2) ? how->unit << 40 : how->unit;
    for (int x = 0; x < k->n[v]; x++) {
      k->cost[v][x] = random_cost(r, how);
      k->usage[v][x] = unit * rng_below(r, 100);
      least = k->usage[v][x] < least ? k->usage[v][x] : least;
      largest = k->usage[v][x] > largest ? k->usage[v][x] : largest;
    }
    least_total += (exact)least;
    most_total += (exact)largest;
  }
  for (int e = rng_below(r, 2 * most_nodes); e > 0; e--)
    draw_edge(k, r, how);
  exact limit = least_total / 2 + (most_total - least_total / 2) / 1000 * (exact)rng_below(r, 1001);
  if (most_total < 1000)
    limit = (exact)rng_below(r, (int)most_total + 1);
  k->limit = limit < INT64_MAX ? (int64_t)limit : INT64_MAX - 1;
}

/* Gives nodes a second live range, and raises the limit by a part of that. */
static void live_again(known *k, rng *r) {
  k->lives_again = true;
  for (int v = 0; v < k->n_nodes; v++) {
    k->again[v] = rng_below(r, TIMES);
    k->again_end[v] = k->again[v] + rng_below(r, TIMES / 2);
    for (int x = 0; x < k->n[v]; x++)
      k->again_usage[v][x] = k->usage[v][rng_below(r, k->n[v])];
  }
  k->limit = k->limit < INT64_MAX / 2 ? k->limit + k->limit / 2 : k->limit;
}

static tp_problem *build(const known *k, bool big) {
  tp_problem *p = tp_problem_create();
  if (big)
    assert_int_equal(tp_problem_set_big(p, BIG), TP_OK);
  assert_int_equal(tp_problem_set_limit(p, k->limit), TP_OK);
  for (int v = 0; v < k->n_nodes; v++) {
    assert_int_equal(tp_problem_add_node(p, k->n[v], k->cost[v]), v);
    assert_int_equal(tp_problem_set_usage(p, v, k->start[v], k->end[v], k->usage[v]), TP_OK);
    if (k->lives_again)
      assert_int_equal(tp_problem_add_usage(p, v, k->again[v], k->again_end[v], k->again_usage[v]),
                       TP_OK);
  }
  for (int e = 0; e < k->n_edges; e++)
    assert_int_equal(tp_problem_add_edge(p, k->ends[e][0], k->ends[e][1], k->table[e]), TP_OK);
  return p;
}

static bool fits(const known *k, const int *at) {
  for (int t = 0; t < 2 * TIMES; t++) {
    exact used = 0;
    for (int v = 0; v < k->n_nodes; v++)
      used += (k->start[v] <= t && t < k->end[v] ? (exact)k->usage[v][at[v]] : 0) +
              (k->lives_again && k->again[v] <= t && t < k->again_end[v]
                   ? (exact)k->again_usage[v][at[v]]
                   : 0);
    if (used > (exact)k->limit)
      return false;
  }
  return true;
}

static exact cost_of(const known *k, const int *at) {
  exact sum = 0;
  for (int v = 0; v < k->n_nodes; v++)
    sum += (exact)k->cost[v][at[v]];
  for (int e = 0; e < k->n_edges; e++)
    sum += (exact)k->table[e][at[k->ends[e][0]] * k->n[k->ends[e][1]] + at[k->ends[e][1]]];
  return sum;
}

/* Returns the lowest cost of all choices within the limit, with strategy `x` at `node` if node >=
 * 0; all ones if there is none. */
static exact brute_force(const known *k, int node, int x) {
  int at[MOST_NODES] = {0};
  exact best = ~(exact)0;
  for (;;) {
    exact cost = cost_of(k, at);
    if (cost < best && (node < 0 || at[node] == x) && fits(k, at))
      best = cost;
    int v = 0;
    while (v < k->n_nodes && ++at[v] == k->n[v])
      at[v++] = 0;
    if (v == k->n_nodes)
      return best;
  }
}

static exact wide(tp_exact_cost cost) { return ((exact)cost.high << 64) | cost.low; }

static void check(const known *k, const tp_problem *p, const tp_solver_options *o, exact best,
                  bool must_be_optimal) {
  tp_solution s;
  tp_status status = tp_solve(p, o, &s);
  if (best == ~(exact)0) {
    assert_int_equal(status, TP_INFEASIBLE);
    assert_null(s.choices);
    assert_true(s.optimal || !must_be_optimal);
  } else if (status == TP_OK) {
    assert_true(fits(k, s.choices));
    assert_true(wide(s.exact_cost) == cost_of(k, s.choices));
    assert_true(wide(s.exact_cost) >= best);
    assert_true(wide(s.exact_bound) <= best);
    assert_true((exact)s.unlimited_bound <= best &&
                (s.unlimited_bound == 0 || !s.choices || s.unlimited_bound <= s.cost));
    assert_true(s.optimal == (wide(s.exact_cost) == wide(s.exact_bound)));
    assert_true(s.optimal || !must_be_optimal);
  } else {
    assert_int_equal(status, TP_INFEASIBLE);
    assert_false(s.optimal || must_be_optimal);
    assert_true(wide(s.exact_bound) <= best);
  }
  tp_solution_clear(&s);
}

static void against_brute_force(void **state) {
  (void)state;
  static const style styles[] = {
      {10, 0, 0, 1, false, 20},
      {1000, 0, 0, 1, false, 0},
      {1000, 20, 0, 1, true, 30},
      {1000000000, 10, 0, 1000003, false, 10},
      {3, 30, 0, (int64_t)1 << 56, false, 50},
      {100, 60, 0, 1, false, 0},
  };
  tp_solver_options no_tables = {.size = sizeof no_tables, .table_budget = 1};
  tp_solver_options little_work = {.size = sizeof little_work, .table_budget = 1, .work_budget = 1};
  int n_infeasible = 0, n_big = 0;
  for (int i = 0; i < 6000; i++) {
    rng r = {(uint64_t)i + 4242};
    known k;
    draw(&k, &r, &styles[i % 6], FEW_NODES);
    if (i / 6 % 2)
      live_again(&k, &r);
    tp_problem *p = build(&k, true);
    exact best = brute_force(&k, -1, 0);
    n_infeasible += best == ~(exact)0;
    n_big += best != ~(exact)0 && best >= (exact)BIG;
    check(&k, p, NULL, best, true);
    check(&k, p, &no_tables, best, true);
    check(&k, p, &little_work, best, false);
    tp_problem_destroy(p);
  }
  print_message("%d infeasible, %d with big costs\n", n_infeasible, n_big);
  assert_true(n_infeasible > 100 && n_big > 100);
}

/* Makes big costs forbidden. */
static void forbid_big(known *k) {
  for (int v = 0; v < k->n_nodes; v++)
    for (int x = 0; x < k->n[v]; x++)
      k->cost[v][x] = k->cost[v][x] >= BIG ? TP_COST_FORBIDDEN : k->cost[v][x];
  for (int e = 0; e < k->n_edges; e++)
    for (int i = 0; i < k->n[k->ends[e][0]] * k->n[k->ends[e][1]]; i++)
      k->table[e][i] = k->table[e][i] >= BIG ? TP_COST_FORBIDDEN : k->table[e][i];
}

/* Plain costs, for which memory is first priced at single times: the optimum with much work, a
 * valid bound with any work. */
static void plain_costs(void **state) {
  (void)state;
  static const style styles[] = {
      {1000, 0, 0, 1, false, 0},
      {1000, 20, 0, 1, true, 30},
      {1000000000, 10, 0, 1000003, false, 10},
      {3, 30, 0, (int64_t)1 << 50, false, 50},
      {1000000, 0, (tp_cost)1 << 40, 1000, false, 0},
  };
  int n_bound = 0;
  for (int i = 0; i < 5000; i++) {
    rng r = {(uint64_t)i + 777};
    known k;
    draw(&k, &r, &styles[i % 5], FEW_NODES);
    if (i / 5 % 2)
      live_again(&k, &r);
    forbid_big(&k);
    tp_problem *p = build(&k, false);
    exact best = brute_force(&k, -1, 0);
    best = best >= (exact)TP_COST_FORBIDDEN ? ~(exact)0 : best;
    check(&k, p, NULL, best, true);
    for (int64_t work = 1; work <= 1000000; work *= 100) {
      tp_solver_options some = {.size = sizeof some, .table_budget = 1, .work_budget = work};
      check(&k, p, &some, best, false);
    }
    n_bound += best != ~(exact)0;
    tp_problem_destroy(p);
  }
  assert_true(n_bound > 1000);
}

/* A known cost above the optimum changes nothing. At or below it nothing need be found; the bound
 * is then that cost at most, and is no proof that there are no choices. */
static void known_costs(void **state) {
  (void)state;
  const style how = {1000, 20, 0, 1, true, 30};
  int n_excluded = 0;
  for (int i = 0; i < 2000; i++) {
    rng r = {(uint64_t)i + 99};
    known k;
    draw(&k, &r, &how, FEW_NODES);
    forbid_big(&k);
    tp_problem *p = build(&k, false);
    exact best = brute_force(&k, -1, 0);
    for (int more = -1; best > 1 && best < (exact)TP_COST_FORBIDDEN && more <= 1; more++) {
      tp_solver_options o = {.size = sizeof o, .known_cost = (tp_cost)best + more};
      check(&k, p, &o, best, more > 0);
      tp_solution s = {0};
      n_excluded += more <= 0 && tp_solve(p, &o, &s) == TP_INFEASIBLE;
      tp_solution_clear(&s);
    }
    tp_problem_destroy(p);
  }
  print_message("%d excluded\n", n_excluded);
  assert_true(n_excluded > 10);
}

/* Sums of more than 64 bits without negligible terms. If the numbers are too far apart for 64 bits,
 * truncation may prevent finding or proving the optimum, but the bound stays valid. */
static void beyond_64_bits(void **state) {
  (void)state;
  static const style styles[] = {
      {1000, 0, (tp_cost)1 << 60, 1, false, 0},
      {1000, 10, (tp_cost)1 << 59, 1, false, 10},
      {2000000000, 30, INT64_MAX - 2000000001, 1, false, 0},
  };
  for (int i = 0; i < 1500; i++) {
    rng r = {(uint64_t)i + 99};
    known k;
    draw(&k, &r, &styles[i % 3], FEW_NODES);
    tp_problem *p = build(&k, true);
    check(&k, p, NULL, brute_force(&k, -1, 0), i % 3 == 0);
    tp_problem_destroy(p);
  }
}

/* Reverses the order of the nodes: other reductions, prices and branches, the same optimum. */
static void turn_around(const known *k, known *turned) {
  *turned = *k;
  for (int v = 0; v < k->n_nodes; v++) {
    int to = k->n_nodes - 1 - v;
    turned->n[to] = k->n[v];
    turned->start[to] = k->start[v];
    turned->end[to] = k->end[v];
    memcpy(turned->cost[to], k->cost[v], sizeof k->cost[v]);
    memcpy(turned->usage[to], k->usage[v], sizeof k->usage[v]);
  }
  for (int e = 0; e < k->n_edges; e++)
    for (int i = 0; i < 2; i++)
      turned->ends[e][i] = k->n_nodes - 1 - k->ends[e][i];
}

static void the_order_does_not_matter(void **state) {
  (void)state;
  static const style styles[] = {
      {1000, 10, 0, 1, false, 10}, {20, 30, 0, 1000, false, 20}, {100000, 0, 0, 1, true, 0}};
  int n_feasible = 0, n_branched = 0;
  for (int i = 0; i < 150; i++) {
    rng r = {(uint64_t)i + 555};
    known k, turned;
    draw(&k, &r, &styles[i % 3], MOST_NODES);
    turn_around(&k, &turned);
    tp_problem *p = build(&k, true), *q = build(&turned, true);
    tp_solver_options o = {.size = sizeof o, .table_budget = i % 2 ? 1 : 0};
    tp_solution s, t;
    tp_status status = tp_solve(p, NULL, &s);
    assert_int_equal(status, tp_solve(q, &o, &t));
    assert_true(s.optimal && t.optimal);
    assert_true(wide(s.exact_cost) == wide(t.exact_cost));
    if (s.choices)
      assert_true(fits(&k, s.choices) && cost_of(&k, s.choices) == wide(s.exact_cost));
    n_feasible += status == TP_OK;
    n_branched += strstr(s.method, "branch") != NULL;
    tp_solution_clear(&s);
    tp_solution_clear(&t);
    tp_problem_destroy(p);
    tp_problem_destroy(q);
  }
  print_message("%d feasible, %d branched\n", n_feasible, n_branched);
  assert_true(n_feasible > 50 && n_branched > 10);
}

/* Restricting a node to several strategies gives the cheapest over each of them. */
static void allowing_some(const tp_problem *p, int node, int n, const tp_cost *bounds) {
  bool allowed[MOST_STRATEGIES];
  tp_cost best = TP_COST_FORBIDDEN;
  tp_solution s;
  for (int x = 0; x < n; x++) {
    allowed[x] = x % 2 == 0;
    best = allowed[x] && bounds[x] < best ? bounds[x] : best;
  }
  tp_status status = tp_solve_allowing(p, NULL, node, allowed, &s);
  assert_int_equal(status, best == TP_COST_FORBIDDEN ? TP_INFEASIBLE : TP_OK);
  assert_true(status != TP_OK ||
              (s.cost == best && s.lower_bound == best && allowed[s.choices[node]]));
  tp_solution_clear(&s);
  assert_int_equal(tp_solve_allowing(p, NULL, tp_problem_n_nodes(p), allowed, &s),
                   TP_INVALID_ARGUMENT);
}

static void other_decisions(void **state) {
  (void)state;
  static const style how = {1000, 0, 0, 1, false, 0};
  for (int i = 0; i < 200; i++) {
    rng r = {(uint64_t)i + 7};
    known k;
    draw(&k, &r, &how, FEW_NODES);
    tp_problem *p = build(&k, false);
    int node = rng_below(&r, k.n_nodes);
    tp_cost bounds[MOST_STRATEGIES];
    assert_int_equal(tp_solve_each(p, NULL, node, bounds), TP_OK);
    for (int x = 0; x < k.n[node]; x++) {
      exact best = brute_force(&k, node, x);
      assert_true(best == ~(exact)0 ? bounds[x] == TP_COST_FORBIDDEN : (exact)bounds[x] == best);
    }
    assert_int_equal(tp_solve_each(p, NULL, k.n_nodes, bounds), TP_INVALID_ARGUMENT);
    allowing_some(p, node, k.n[node], bounds);
    tp_problem_destroy(p);
  }
}

/* Nodes with many strategies, so that the relevant ones are searched first. */
static void of_many_strategies(void **state) {
  (void)state;
  enum { N = 3, S = 44 };
  const int count = getenv("TP_LONG") ? 200 : 80;
  int n_limited = 0;
  for (int i = 0; i < count; i++) {
    rng r = {(uint64_t)i + 99};
    int64_t usages[N * S];
    tp_problem *p = generate_tradeoffs(&r, N, S, usages);
    tp_cost best = TP_COST_FORBIDDEN, free = TP_COST_FORBIDDEN;
    int64_t limit = N * S * 10 * (1 + rng_below(&r, 10));
    tp_problem_set_limit(p, limit);
    for (int a[N] = {0}; a[2] < S;
         a[0] = (a[0] + 1) % S, a[1] = (a[1] + !a[0]) % S, a[2] += !a[0] && !a[1]) {
      tp_cost cost = tp_problem_evaluate(p, a);
      bool fits = usages[a[0]] + usages[S + a[1]] + usages[2 * S + a[2]] <= limit;
      best = fits && cost < best ? cost : best;
      free = cost < free ? cost : free;
    }
    tp_solver_options o = {.size = sizeof o, .work_budget = i % 2 ? 0 : 2000000};
    tp_solution s;
    tp_status status = tp_solve(p, &o, &s);
    assert_int_equal(status, best < TP_COST_FORBIDDEN ? TP_OK : TP_INFEASIBLE);
    assert_true(s.lower_bound <= best && s.lower_bound >= (best < TP_COST_FORBIDDEN ? free : 0));
    assert_true(s.optimal || i % 2 == 0);
    assert_true(status != TP_OK || (s.cost >= best && (!s.optimal || s.cost == best) &&
                                    s.peak.low <= (uint64_t)limit));
    n_limited += best > free;
    tp_solution_clear(&s);
    tp_problem_destroy(p);
  }
  print_message("%d of %d are limited\n", n_limited, count);
  assert_true(n_limited > count * 3 / 4);
}

/* Larger problems, with prices, neighborhoods and branching. */
static tp_problem *large(uint64_t seed, int n_nodes) {
  rng r = {seed};
  recipe c = {SHAPE_SPARSE, n_nodes, 0, 6, 1000, 10, 0, true};
  tp_problem *p = generate(&r, &c);
  add_memory(p, &r, 6);
  return p;
}

static void same_for_any_number_of_threads(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tp_problem *p = large(seed, 120);
    tp_solution first = {0};
    for (int threads = 0; threads <= 4; threads++) {
      tp_solver_options o = {.size = sizeof o, .work_budget = 300000000, .threads = threads};
      tp_solution s;
      tp_status status = tp_solve(p, &o, &s);
      assert_true(status == TP_OK || status == TP_INFEASIBLE);
      if (threads == 0) {
        first = s;
        print_message("cost %lld, bound %lld, %s, work %lld\n", (long long)s.cost,
                      (long long)s.lower_bound, s.method, (long long)s.work);
        continue;
      }
      assert_true(s.cost == first.cost && s.lower_bound == first.lower_bound &&
                  s.work == first.work);
      if (s.choices)
        assert_memory_equal(s.choices, first.choices, (size_t)s.n_nodes * sizeof *s.choices);
      tp_solution_clear(&s);
    }
    tp_solution_clear(&first);
    tp_problem_destroy(p);
  }
}

typedef struct patience {
  int left;
  bool found_seen;
  double bound;
} patience;

static bool lose_patience(const tp_solver_progress *progress, void *data) {
  patience *mine = data;
  double bound = tp_exact_cost_value(progress->lower_bound);
  assert_true(bound >= mine->bound); /* certified at every moment, so it never decreases */
  mine->bound = bound;
  mine->found_seen |= progress->found;
  return progress->found && --mine->left <= 0;
}

static void interrupted(void **state) {
  (void)state;
  tp_problem *p = large(8, 200);
  patience mine = {.left = 10};
  tp_solver_options o = {.size = sizeof o, .interrupted = lose_patience, .data = &mine};
  tp_solution s;
  assert_int_equal(tp_solve(p, &o, &s), TP_OK);
  assert_true(s.stopped && mine.found_seen && s.cost == tp_problem_evaluate(p, s.choices) &&
              s.lower_bound <= s.cost);
  tp_solution_clear(&s);
  o = (tp_solver_options){.size = sizeof o, .time_limit = 1e-9};
  tp_status status = tp_solve(p, &o, &s);
  assert_true(status == TP_OK || status == TP_INFEASIBLE);
  assert_true(s.stopped);
  tp_solution_clear(&s);
  o = (tp_solver_options){.size = sizeof o, .gap = 1.0};
  assert_int_equal(tp_solve(p, &o, &s), TP_OK);
  assert_true(!s.stopped && s.cost <= 2 * s.lower_bound);
  tp_solution_clear(&s);
  tp_problem_destroy(p);
}

static void infeasible(void **state) {
  (void)state;
  tp_problem *p = tp_problem_create();
  tp_cost costs[2] = {1, 2};
  int64_t usages[2] = {7, 9};
  for (int v = 0; v < 3; v++) {
    assert_int_equal(tp_problem_add_node(p, 2, costs), v);
    assert_int_equal(tp_problem_set_usage(p, v, v, 3 + v, usages), TP_OK);
  }
  assert_int_equal(tp_problem_set_limit(p, 20), TP_OK);
  tp_solution s;
  assert_int_equal(tp_solve(p, NULL, &s), TP_INFEASIBLE);
  assert_true(s.optimal && s.lower_bound == TP_COST_FORBIDDEN);
  assert_true(s.least_peak.low == 21 && s.least_peak_time == 2);
  tp_solution_clear(&s);
  assert_int_equal(tp_problem_set_limit(p, 21), TP_OK);
  assert_int_equal(tp_solve(p, NULL, &s), TP_OK);
  assert_true(s.optimal && s.cost == 3 && s.peak.low == 21 && s.peak_time == 2);
  tp_solution_clear(&s);
  tp_problem_destroy(p);
}

static void arguments(void **state) {
  (void)state;
  tp_problem *p = tp_problem_create();
  tp_cost costs[2] = {1, 2};
  assert_int_equal(tp_problem_set_big(p, 0), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_set_big(NULL, 1), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_add_node(p, 2, costs), 0);
  assert_int_equal(tp_problem_set_big(p, 5), TP_INVALID_ARGUMENT); /* after the first node */
  assert_int_equal(tp_problem_set_limit(p, -1), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_set_limit(p, INT64_MAX), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_set_usage(p, 1, 0, 1, (int64_t[]){1, 1}), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_set_usage(p, 0, 2, 1, (int64_t[]){1, 1}), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_set_usage(p, 0, 0, 1, (int64_t[]){1, -1}), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_add_usage(p, 1, 0, 1, (int64_t[]){1, 1}), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_add_usage(p, 0, 0, 1, (int64_t[]){1, -1}), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_add_usage(p, 0, 0, 1, (int64_t[]){9, 9}), TP_OK);
  assert_int_equal(tp_problem_add_usage(p, 0, 0, 1, (int64_t[]){9, 9}), TP_OK);
  /* a later call replaces the usage */
  assert_int_equal(tp_problem_set_usage(p, 0, 0, 1, (int64_t[]){2, 4}), TP_OK);
  assert_int_equal(tp_problem_add_usage(p, 0, 0, 2, (int64_t[]){3, 0}), TP_OK);
  assert_int_equal(tp_problem_set_limit(p, 4), TP_OK);
  tp_solution s;
  assert_int_equal(tp_solve(p, NULL, &s), TP_OK);
  assert_true(s.optimal && s.cost == 2 && s.choices[0] == 1);
  tp_solution_clear(&s);
  tp_problem_destroy(p);
  char text[40];
  tp_exact_cost_print((tp_exact_cost){UINT64_MAX, UINT64_MAX}, text);
  assert_string_equal(text, "340282366920938463463374607431768211455");
  tp_exact_cost_print((tp_exact_cost){0, 0}, text);
  assert_string_equal(text, "0");
}

/* The cheapest choice under these prices, minus the worth of the whole limit, costs no more than
 * the best one within the limit, and more than the cheapest of all. */
static void prices_of_memory(void **state) {
  (void)state;
  enum { N = 3, S = 30 };
  int n_priced = 0;
  for (int i = 0; i < 20; i++) {
    rng r = {(uint64_t)i + 7};
    int64_t usages[N * S], limit = N * S * 20;
    tp_problem *p = generate_tradeoffs(&r, N, S, usages);
    tp_solution s;
    tp_problem_set_limit(p, limit);
    assert_int_equal(tp_solve(p, NULL, &s), TP_OK);
    assert_true(s.optimal);
    double free = 1e300, priced = 1e300;
    for (int a[N] = {0}; s.n_prices > 0 && a[2] < S;
         a[0] = (a[0] + 1) % S, a[1] = (a[1] + !a[0]) % S, a[2] += !a[0] && !a[1]) {
      double cost = (double)tp_problem_evaluate(p, a);
      double used = (double)(usages[a[0]] + usages[S + a[1]] + usages[2 * S + a[2]]);
      double paid = cost + s.prices[0] * (used - (double)limit);
      free = cost < free ? cost : free;
      priced = paid < priced ? paid : priced;
    }
    if (s.n_prices > 0) {
      /* all nodes are live only at that time */
      assert_true(s.n_prices == 1 && s.price_times[0] == 0 && s.prices[0] > 0);
      assert_true(priced <= (double)s.cost + 1e-6 && priced > free);
      n_priced++;
    }
    tp_solution_clear(&s);
    assert_true(!s.prices && !s.price_times && s.n_prices == 0);
    tp_problem_destroy(p);
  }
  assert_int_equal(n_priced, 20); /* also where what is left of the problem fits in any case */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arguments),           cmocka_unit_test(infeasible),
      cmocka_unit_test(against_brute_force), cmocka_unit_test(plain_costs),
      cmocka_unit_test(beyond_64_bits),      cmocka_unit_test(of_many_strategies),
      cmocka_unit_test(prices_of_memory),    cmocka_unit_test(the_order_does_not_matter),
      cmocka_unit_test(other_decisions),     cmocka_unit_test(same_for_any_number_of_threads),
      cmocka_unit_test(interrupted),         cmocka_unit_test(known_costs),
  };
  return cmocka_run_group_tests_name("solver under a limit", tests, NULL, NULL);
}
