/* Tests the solver against brute force, and its guarantees (bound, cost, determinism) on problems
 * too large for brute force. */
#include "generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns the lowest cost over all choices, by enumeration. `problem` has at most 12 nodes. */
static tp_cost brute_force(const tp_problem *problem, const int *sizes) {
  int choices[12] = {0}, n = tp_problem_n_nodes(problem);
  tp_cost best = TP_COST_FORBIDDEN;
  for (;;) {
    tp_cost cost = tp_problem_evaluate(problem, choices);
    best = cost < best ? cost : best;
    int v = 0;
    while (v < n && ++choices[v] == sizes[v])
      choices[v++] = 0;
    if (v == n)
      return best;
  }
}

static void check_against(const tp_problem *problem, const tp_solver_options *options, tp_cost best,
                          bool exact) {
  tp_solution s;
  tp_status status = tp_solve(problem, options, &s);
  if (status == TP_INFEASIBLE) {
    assert_true(s.cost == TP_COST_FORBIDDEN);
    assert_null(s.choices);
    assert_true(s.lower_bound <= best);
    if (exact || s.optimal)
      assert_true(best == TP_COST_FORBIDDEN);
  } else {
    assert_int_equal(status, TP_OK);
    assert_true(s.cost == tp_problem_evaluate(problem, s.choices));
    assert_true(s.cost < TP_COST_FORBIDDEN);
    assert_true(s.cost >= best);
    assert_true(s.lower_bound <= best);
    assert_true(s.optimal == (s.cost == s.lower_bound));
    if (exact)
      assert_true(s.optimal);
  }
  tp_solution_clear(&s);
}

static void against_brute_force(void **state) {
  (void)state;
  tp_solver_options no_tables = {.size = sizeof no_tables, .table_budget = 1};
  tp_solver_options small_tables = {.size = sizeof small_tables, .table_budget = 10};
  tp_solver_options little_work = {.size = sizeof little_work, .table_budget = 1, .work_budget = 1};
  for (int i = 0; i < 6000; i++) {
    rng r = {(uint64_t)i};
    recipe c = {.shape = (shape)(i % N_SHAPES), .columns = 3, .max_strategies = 2 + i / 7 % 4};
    c.n_nodes = c.max_strategies > 3 ? 1 + rng_below(&r, 7) : 1 + rng_below(&r, 10);
    c.max_cost = (int[]){3, 100, 1000000000}[i / 5 % 3];
    c.forbidden = (int[]){0, 0, 15, 30, 60}[i % 5];
    c.equalities = (int[]){0, 20, 50}[i / 3 % 3];
    int sizes[12];
    find_sizes(&c, r, sizes);
    tp_problem *p = generate(&r, &c);
    tp_cost best = brute_force(p, sizes);
    check_against(p, NULL, best, true);
    /* messages and branching solve problems of this size */
    check_against(p, &no_tables, best, true);
    check_against(p, &small_tables, best, true);
    check_against(p, &little_work, best, false);
    tp_problem_destroy(p);
  }
}

/* Stored choices of more than 256 strategies take two bytes. */
static void many_strategies(void **state) {
  (void)state;
  rng r = {99};
  int sizes[4] = {300, 8, 8, 8};
  static tp_cost random[2400];
  tp_problem *p = tp_problem_create();
  for (int v = 0; v < 4; v++) {
    for (int i = 0; i < 2400; i++)
      random[i] = rng_below(&r, 1000);
    assert_int_equal(tp_problem_add_node(p, sizes[v], random), v);
    for (int u = 0; u < v; u++) {
      for (int i = 0; i < 2400; i++)
        random[i] = rng_below(&r, 1000);
      assert_int_equal(tp_problem_add_edge(p, u, v, random), TP_OK);
    }
  }
  tp_solution s;
  assert_int_equal(tp_solve(p, NULL, &s), TP_OK);
  assert_true(s.optimal && s.width == 3 && s.cost == brute_force(p, sizes));
  assert_true(s.cost == tp_problem_evaluate(p, s.choices));
  tp_solution_clear(&s);
  tp_problem_destroy(p);
}

/* Saturating sums, and finite costs too large for message passing. */
static void huge_costs(void **state) {
  (void)state;
  tp_solver_options no_tables = {.size = sizeof no_tables, .table_budget = 1};
  for (int i = 0; i < 600; i++) {
    rng r = {(uint64_t)i + 77777};
    tp_problem *p = tp_problem_create();
    int sizes[12];
    for (int v = 0; v < 6; v++) {
      tp_cost costs[3] = {1000000000000000000, rng_below(&r, 9),
                          TP_COST_FORBIDDEN / (1 + rng_below(&r, 6))};
      sizes[v] = 1 + rng_below(&r, 3);
      assert_int_equal(tp_problem_add_node(p, sizes[v], costs), v);
    }
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < a; b++) {
        tp_cost table[9];
        for (int k = 0; k < 9; k++)
          table[k] = rng_below(&r, 3) ? rng_below(&r, 50) : 1000000000000000000;
        assert_int_equal(tp_problem_add_edge(p, a, b, table), TP_OK);
      }
    tp_cost best = brute_force(p, sizes);
    check_against(p, NULL, best, true);
    check_against(p, &no_tables, best, true);
    tp_problem_destroy(p);
  }
}

static void larger_ones_keep_their_promises(void **state) {
  (void)state;
  static const recipe recipes[] = {
      {SHAPE_GRID, 400, 20, 6, 1000, 0, 0, true},  {SHAPE_GRID, 400, 20, 6, 100000, 20, 0, true},
      {SHAPE_CLIQUE, 30, 0, 6, 1000, 0, 0, true},  {SHAPE_SPARSE, 500, 0, 8, 1000, 10, 0, true},
      {SHAPE_TREE, 3000, 0, 20, 1000, 0, 0, true}, {SHAPE_CYCLE, 3000, 0, 20, 1000, 10, 0, true},
  };
  for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
    rng r = {1000 + i};
    tp_problem *p = generate(&r, &recipes[i]);
    tp_solver_options o = {.size = sizeof o, .table_budget = 20000, .work_budget = 60000000};
    tp_solution s, again;
    assert_int_equal(tp_solve(p, &o, &s), TP_OK);
    assert_true(s.cost == tp_problem_evaluate(p, s.choices));
    assert_true(s.cost < TP_COST_FORBIDDEN);
    assert_true(s.lower_bound <= s.cost);
    if (recipes[i].shape == SHAPE_TREE || recipes[i].shape == SHAPE_CYCLE)
      assert_true(s.optimal);
    print_message(
        "%-7s %4d nodes: cost %lld, bound %lld, work %lld, %s\n",
        (const char *[]){"tree", "cycle", "grid", "clique", "sparse", "double"}[recipes[i].shape],
        tp_problem_n_nodes(p), (long long)s.cost, (long long)s.lower_bound, (long long)s.work,
        s.method);
    assert_int_equal(tp_solve(p, &o, &again), TP_OK);
    assert_memory_equal(s.choices, again.choices, (size_t)s.n_nodes * sizeof *s.choices);
    assert_true(s.lower_bound == again.lower_bound && s.work == again.work);
    tp_solution_clear(&s);
    tp_solution_clear(&again);
    tp_problem_destroy(p);
  }
}

/* A long chain of layers with the default options. */
static void layers(void **state) {
  (void)state;
  rng r = {5};
  tp_problem *p = generate_layers(&r, 10, 8);
  tp_solution s;
  assert_int_equal(tp_solve(p, NULL, &s), TP_OK);
  assert_true(s.optimal);
  assert_true(s.cost == tp_problem_evaluate(p, s.choices));
  tp_solution_clear(&s);
  tp_problem_destroy(p);
}

static void infeasible(void **state) {
  (void)state;
  /* Three nodes, two strategies, neighbors must differ: an odd cycle, which arc consistency alone
   * does not detect. */
  tp_problem *p = tp_problem_create();
  tp_cost differ[4] = {TP_COST_FORBIDDEN, 1, 1, TP_COST_FORBIDDEN}, zero[2] = {0, 0};
  for (int v = 0; v < 3; v++)
    assert_int_equal(tp_problem_add_node(p, 2, zero), v);
  for (int v = 0; v < 3; v++)
    assert_int_equal(tp_problem_add_edge(p, v, (v + 1) % 3, differ), TP_OK);
  tp_solution s;
  assert_int_equal(tp_solve(p, NULL, &s), TP_INFEASIBLE);
  assert_null(s.choices);
  assert_true(s.optimal && s.cost == TP_COST_FORBIDDEN && s.lower_bound == TP_COST_FORBIDDEN);
  tp_solution_clear(&s);
  tp_problem_destroy(p);
}

static void arguments(void **state) {
  (void)state;
  tp_problem *p = tp_problem_create();
  tp_cost costs[2] = {4, 2}, negative[2] = {0, -1}, table[4] = {1, 2, 3, 4};
  tp_solution s;
  assert_int_equal(tp_solve(p, NULL, &s), TP_OK); /* an empty problem costs nothing */
  assert_true(s.optimal && s.cost == 0 && s.n_nodes == 0);
  tp_solution_clear(&s);
  assert_int_equal(tp_problem_add_node(p, 0, costs), -1);
  assert_int_equal(tp_problem_add_node(p, 65536, costs), -1);
  assert_int_equal(tp_problem_add_node(p, 2, negative), -1);
  assert_int_equal(tp_problem_add_node(p, 2, costs), 0);
  assert_int_equal(tp_problem_add_node(p, 2, costs), 1);
  assert_int_equal(tp_problem_add_edge(p, 0, 0, table), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_add_edge(p, 0, 2, table), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_add_edge(p, -1, 1, table), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_add_edge(p, 0, 1, (tp_cost[]){0, 0, 0, -5}), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_add_edge(p, 1, 0, table), TP_OK);
  assert_int_equal(tp_problem_n_nodes(p), 2);
  assert_int_equal(tp_problem_n_edges(p), 1);
  assert_true(tp_problem_evaluate(p, (int[]){1, 0}) == 4 + 2 + 2);
  assert_true(tp_problem_evaluate(p, (int[]){1, 2}) == TP_COST_FORBIDDEN);
  tp_solver_options o = {0};
  assert_int_equal(tp_solve(p, &o, &s), TP_INVALID_ARGUMENT); /* size not set */
  assert_int_equal(tp_solve(p, NULL, &s), TP_OK);
  assert_true(s.cost == 8 && s.choices[0] == 1);
  tp_solution_clear(&s);
  tp_problem_destroy(p);
}

static void repeated_edges(void **state) {
  (void)state;
  tp_problem *p = tp_problem_create();
  tp_cost costs[3] = {0, 0, 0}, table[6] = {1, 2, 3, 4, 5, 0};
  for (int v = 0; v < 4; v++)
    assert_int_equal(tp_problem_add_node(p, v % 2 ? 3 : 2, costs), v);
  assert_int_equal(tp_problem_add_edge(p, 0, 1, table), TP_OK);
  assert_int_equal(tp_problem_repeat_edge(p, 2, 3, 0), TP_OK);
  assert_int_equal(tp_problem_repeat_edge(p, 2, 1, 1), TP_OK);
  /* reversed: other numbers of strategies */
  assert_int_equal(tp_problem_repeat_edge(p, 1, 0, 0), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_repeat_edge(p, 0, 0, 0), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_repeat_edge(p, 0, 4, 0), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_repeat_edge(p, 0, 1, 3), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_n_edges(p), 3);
  assert_true(tp_problem_evaluate(p, (int[]){0, 1, 1, 0}) == 2 + 4 + 5);
  tp_solution s;
  assert_int_equal(tp_solve(p, NULL, &s), TP_OK);
  assert_true(s.optimal && s.cost == 0);
  tp_solution_clear(&s);
  tp_problem_destroy(p);
}

static void nearest_strategies(void **state) {
  (void)state;
  tp_problem *p = tp_problem_create();
  const tp_cost costs[3] = {0, 1, 5}, none[3] = {0, 0, 0};
  const tp_cost table[9] = {9, 2, 0, 9, 1, TP_COST_FORBIDDEN, 0, 9, 9};
  assert_int_equal(tp_problem_add_node(p, 3, none), 0);
  assert_int_equal(tp_problem_add_node(p, 3, costs), 1);
  assert_int_equal(tp_problem_add_node(p, 3, none), 2);
  assert_int_equal(tp_problem_add_edge(p, 0, 1, table), TP_OK);
  assert_int_equal(tp_problem_add_edge(p, 1, 2, table), TP_OK);
  bool first[3] = {true, false, false}, second[3] = {false, false, true};
  bool *kept[3] = {first, second, NULL};
  assert_int_equal(tp_problem_keep_nearest(NULL, 1, kept), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_keep_nearest(p, -1, kept), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_problem_keep_nearest(p, 1, NULL), TP_INVALID_ARGUMENT);
  /* Node 0 beside strategy 2 of node 1: 0, forbidden, 9. Node 1 beside strategy 0 of node 0 and any
   * one of node 2: 9, 2 + 1 + 1, 5. */
  assert_int_equal(tp_problem_keep_nearest(p, 1, kept), TP_OK);
  assert_true(first[0] && !first[1] && !first[2]);
  assert_true(!second[0] && second[1] && second[2]);
  assert_int_equal(tp_problem_keep_nearest(p, 3, kept), TP_OK);
  assert_true(first[0] && first[1] && first[2] && second[0] && second[1] && second[2]);
  tp_problem_destroy(p);
}

/* Nodes without edges are decided at once, as those with edges: of equal strategies the last. */
static void nodes_without_edges(void **state) {
  (void)state;
  enum { MANY = 600 };
  tp_problem *p = tp_problem_create();
  tp_cost costs[4] = {3, 1, 1, TP_COST_FORBIDDEN}, table[4] = {5, 7, 6, 4}, equal[MANY] = {0};
  assert_int_equal(tp_problem_add_node(p, 4, costs), 0);
  assert_int_equal(tp_problem_add_node(p, 2, (tp_cost[]){0, 0}), 1);
  assert_int_equal(tp_problem_add_node(p, 1, costs), 2);
  assert_int_equal(tp_problem_add_node(p, 2, (tp_cost[]){0, 2}), 3);
  assert_int_equal(tp_problem_add_node(p, MANY, equal), 4); /* too many for dominance */
  assert_int_equal(tp_problem_add_edge(p, 1, 3, table), TP_OK);
  tp_solution s;
  assert_int_equal(tp_solve(p, NULL, &s), TP_OK);
  assert_true(s.optimal && s.cost == 1 + 3 + 5 && s.lower_bound == s.cost);
  static const int expected[] = {2, 0, 0, 0, 0};
  assert_memory_equal(s.choices, expected, sizeof expected);
  tp_solution_clear(&s);
  assert_int_equal(tp_problem_add_node(p, 1, &costs[3]), 5);
  assert_int_equal(tp_solve(p, NULL, &s), TP_INFEASIBLE);
  tp_solution_clear(&s);
  tp_problem_destroy(p);
}

enum { LAYERS = 12, WIDTH = 6, CHOICES = 4, KINDS = 9 };

/* Creates layers of six nodes with nine kinds of edges, including forbidden entries, reversed and
 * parallel edges. `shares`: edges share tables. */
static tp_problem *stack(rng r, bool shares) {
  tp_problem *p = tp_problem_create();
  tp_cost costs[WIDTH][CHOICES], tables[KINDS][CHOICES * CHOICES];
  for (int v = 0; v < WIDTH; v++)
    for (int x = 0; x < CHOICES; x++)
      costs[v][x] = rng_below(&r, 50);
  for (int k = 0; k < KINDS; k++)
    for (int i = 0; i < CHOICES * CHOICES; i++)
      tables[k][i] = i % 5 && rng_below(&r, 10) == 0 ? TP_COST_FORBIDDEN : rng_below(&r, 100);
  for (int v = 0; v < LAYERS * WIDTH; v++)
    assert_int_equal(tp_problem_add_node(p, CHOICES, costs[v % WIDTH]), v);
  for (int layer = 0; layer + 1 < LAYERS; layer++)
    for (int k = 0; k < KINDS; k++) {
      int a = layer * WIDTH + k % WIDTH, b = layer * WIDTH + (k * 5 + 3) % (2 * WIDTH);
      b += a == b;
      if (shares && layer > 0)
        assert_int_equal(tp_problem_repeat_edge(p, a, b, k), TP_OK);
      else
        assert_int_equal(tp_problem_add_edge(p, a, b, tables[k]), TP_OK);
    }
  return p;
}

/* Shared and repeated tables give the same answer. */
static void shared_tables(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    tp_problem *apart = stack((rng){seed}, false), *shared = stack((rng){seed}, true);
    tp_solver_options messages = {.size = sizeof messages, .table_budget = 1};
    for (int way = 0; way < 2; way++) {
      tp_solution a, b;
      assert_int_equal(tp_solve(apart, way ? &messages : NULL, &a), TP_OK);
      assert_int_equal(tp_solve(shared, way ? &messages : NULL, &b), TP_OK);
      assert_true(a.cost == b.cost && a.lower_bound == b.lower_bound);
      assert_memory_equal(a.choices, b.choices, LAYERS * WIDTH * sizeof *a.choices);
      assert_true(b.cost == tp_problem_evaluate(apart, b.choices));
      tp_solution_clear(&a);
      tp_solution_clear(&b);
    }
    tp_problem_destroy(apart);
    tp_problem_destroy(shared);
  }
}

/* A weight that thousands of ops share is a node tied to as many. Merging them takes work linear in
 * the number of their edges, not quadratic. */
static void many_tied_to_one(void **state) {
  (void)state;
  enum { TIED = 4000, N = 3, MOST_WORK_OF_EDGE = 100 };
  tp_cost equal[N * N], near[N * N], costs[N];
  for (int i = 0; i < N * N; i++) {
    equal[i] = i % N == i / N ? 0 : TP_COST_FORBIDDEN;
    near[i] = (i * 7) % 5;
  }
  for (int hub = 0; hub < 2; hub++) { /* the first node, the last */
    tp_problem *p = tp_problem_create();
    tp_cost best[N] = {0}, least = TP_COST_FORBIDDEN;
    for (int v = 0; v <= TIED; v++) {
      for (int x = 0; x < N; x++) {
        costs[x] = (v * 31 + x * 17) % 11;
        best[x] += costs[x];
      }
      assert_int_equal(tp_problem_add_node(p, N, costs), v);
    }
    int at = hub ? TIED : 0, first = hub ? 0 : 1, n_edges = 0;
    for (int i = 0; i < TIED; i++) {
      int v = first + i;
      assert_int_equal(n_edges++ ? tp_problem_repeat_edge(p, at, v, 0)
                                 : tp_problem_add_edge(p, at, v, equal),
                       TP_OK);
      for (int step = 1; step <= 2 && i + step < TIED; step++, n_edges++) {
        assert_int_equal(tp_problem_add_edge(p, v, v + step, near), TP_OK);
        for (int x = 0; x < N; x++)
          best[x] += near[x * N + x];
      }
    }
    for (int x = 0; x < N; x++)
      least = best[x] < least ? best[x] : least;
    tp_solution s;
    assert_int_equal(tp_solve(p, NULL, &s), TP_OK);
    assert_true(s.optimal && s.cost == least);
    assert_true(s.work < (int64_t)n_edges * MOST_WORK_OF_EDGE);
    tp_solution_clear(&s);
    tp_problem_destroy(p);
  }
}

/* An exact elimination ends the search, but at first takes sixty times the budget: it is not made,
 * and what is found without it is certified. */
static void no_elimination_far_beyond_the_budget(void **state) {
  (void)state;
  rng r = {30};
  recipe c = {SHAPE_SPARSE, 100, 7, 8, 100, 0, 0, false};
  tp_problem *p = generate(&r, &c);
  tp_solver_options little = {.size = sizeof little, .work_budget = 100000};
  tp_solution whole, part;
  assert_int_equal(tp_solve(p, NULL, &whole), TP_OK);
  assert_int_equal(tp_solve(p, &little, &part), TP_OK);
  assert_true(whole.optimal && whole.work > 40 * little.work_budget);
  assert_true(part.work < 5 * little.work_budget);
  assert_true(part.lower_bound <= whole.cost && part.cost >= whole.cost);
  tp_solution_clear(&whole);
  tp_solution_clear(&part);
  tp_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_tied_to_one),
      cmocka_unit_test(repeated_edges),
      cmocka_unit_test(nodes_without_edges),
      cmocka_unit_test(nearest_strategies),
      cmocka_unit_test(shared_tables),
      cmocka_unit_test(arguments),
      cmocka_unit_test(infeasible),
      cmocka_unit_test(against_brute_force),
      cmocka_unit_test(many_strategies),
      cmocka_unit_test(huge_costs),
      cmocka_unit_test(larger_ones_keep_their_promises),
      cmocka_unit_test(layers),
      cmocka_unit_test(no_elimination_far_beyond_the_budget),
  };
  return cmocka_run_group_tests_name("solver", tests, NULL, NULL);
}
