/* Tests sensitivity analysis against brute force and against solving from scratch. */
#include "generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_NODES = 10, MOST_STRATEGIES = 6 };

/* A small problem, and its allowed strategies. */
typedef struct small {
  tp_problem *problem;
  int n_nodes, sizes[MOST_NODES];
  bool base[MOST_NODES][MOST_STRATEGIES], asked[MOST_NODES][MOST_STRATEGIES];
} small;

static tp_cost brute_force(const small *s, bool (*allowed)[MOST_STRATEGIES], int node,
                           int strategy) {
  int choices[MOST_NODES] = {0};
  tp_cost best = TP_COST_FORBIDDEN;
  for (;;) {
    bool counts = node < 0 || choices[node] == strategy;
    for (int v = 0; v < s->n_nodes; v++)
      counts &= allowed[v][choices[v]];
    tp_cost cost = counts ? tp_problem_evaluate(s->problem, choices) : TP_COST_FORBIDDEN;
    best = cost < best ? cost : best;
    int v = 0;
    while (v < s->n_nodes && ++choices[v] == s->sizes[v])
      choices[v++] = 0;
    if (v == s->n_nodes)
      return best;
  }
}

/* Restricts some nodes to some strategies. */
static void draw_allowed(const small *s, rng *r, bool (*allowed)[MOST_STRATEGIES]) {
  int share = 1 + rng_below(r, 4);
  for (int v = 0; v < s->n_nodes; v++) {
    bool all = rng_below(r, share) > 0;
    for (int x = 0; x < s->sizes[v]; x++)
      allowed[v][x] = all || rng_below(r, 2);
  }
}

static small draw(int i, rng *r) {
  small s = {0};
  recipe c = {.shape = (shape)(i % N_SHAPES), .columns = 3, .max_strategies = 2 + i / 7 % 4};
  c.n_nodes = c.max_strategies > 3 ? 1 + rng_below(r, 6) : 1 + rng_below(r, 9);
  c.max_cost = (int[]){3, 100, 1000000000}[i / 5 % 3];
  c.forbidden = (int[]){0, 0, 15, 30, 60}[i % 5];
  c.equalities = (int[]){0, 20, 50}[i / 3 % 3];
  find_sizes(&c, *r, s.sizes);
  s.problem = generate(r, &c);
  s.n_nodes = tp_problem_n_nodes(s.problem);
  draw_allowed(&s, r, s.base);
  return s;
}

static void list(const small *s, bool (*allowed)[MOST_STRATEGIES], const bool **rows) {
  for (int v = 0; v < s->n_nodes; v++)
    rows[v] = allowed[v];
}

/* Checks that no reduced cost exceeds the brute-force value; returns how many equal it. */
static int check_bounds(small *s, const tp_sensitivity *sensitivity, tp_cost best) {
  int n_exact = 0;
  tp_cost least = TP_COST_FORBIDDEN;
  for (int v = 0; v < s->n_nodes; v++) {
    tp_cost bounds[MOST_STRATEGIES];
    assert_int_equal(tp_sensitivity_bounds(sensitivity, v, bounds), TP_OK);
    for (int x = 0; x < s->sizes[v]; x++) {
      tp_cost cost = s->base[v][x] ? brute_force(s, s->base, v, x) : TP_COST_FORBIDDEN;
      assert_true(bounds[x] <= cost);
      assert_true(s->base[v][x] || bounds[x] == TP_COST_FORBIDDEN);
      n_exact += bounds[x] == cost;
      least = bounds[x] < least ? bounds[x] : least;
    }
  }
  assert_true(least <= best);
  return n_exact;
}

static void check_solution(const small *s, const tp_sensitivity *sensitivity,
                           const bool *const *allowed, tp_cost limit, tp_cost best) {
  tp_solution found;
  tp_status status = tp_sensitivity_solve(sensitivity, allowed, limit, &found);
  tp_cost below = limit < best ? limit : best, bound;
  assert_int_equal(tp_sensitivity_bound(sensitivity, allowed, limit, &bound), TP_OK);
  assert_true(bound <= best);
  assert_true(found.optimal);
  assert_true(found.lower_bound <= best);
  if (status == TP_OK) {
    assert_true(found.cost == tp_problem_evaluate(s->problem, found.choices) &&
                found.cost == best && found.lower_bound == best);
    for (int v = 0; v < s->n_nodes; v++)
      assert_true(found.choices[v] >= 0 && found.choices[v] < s->sizes[v] &&
                  s->asked[v][found.choices[v]]);
  } else {
    assert_int_equal(status, TP_INFEASIBLE);
    assert_null(found.choices);
    assert_true(best >= limit && found.lower_bound >= below);
  }
  tp_solution_clear(&found);
}

/* Lets variants start from the best choices of the base; false if there are none. */
static bool start_from_best(const small *s, tp_sensitivity *sensitivity) {
  tp_solution best;
  tp_status status = tp_sensitivity_solve(sensitivity, NULL, TP_COST_FORBIDDEN, &best);
  if (status == TP_OK)
    assert_int_equal(tp_sensitivity_start(sensitivity, best.choices,
                                          tp_problem_evaluate(s->problem, best.choices)),
                     TP_OK);
  tp_solution_clear(&best);
  return status == TP_OK;
}

static void against_brute_force(void **state) {
  (void)state;
  tp_solver_options no_tables = {.size = sizeof no_tables, .table_budget = 1};
  int n_exact = 0, n_bounds = 0, n_started = 0;
  for (int i = 0; i < 10000; i++) {
    rng r = {(uint64_t)i};
    small s = draw(i, &r);
    const bool *base[MOST_NODES], *asked[MOST_NODES];
    tp_cost best = brute_force(&s, s.base, -1, 0);
    tp_sensitivity *sensitivity;
    list(&s, s.base, base);
    list(&s, s.asked, asked);
    assert_int_equal(tp_sensitivity_create(s.problem, i % 2 ? &no_tables : NULL, base,
                                           i % 3 ? best : TP_COST_FORBIDDEN, &sensitivity),
                     TP_OK);
    n_exact += check_bounds(&s, sensitivity, best);
    if (i / 2 % 2)
      n_started += start_from_best(&s, sensitivity);
    for (int v = 0; v < s.n_nodes; v++)
      n_bounds += s.sizes[v];
    for (int k = 0; k < 3; k++) {
      draw_allowed(&s, &r, s.asked);
      tp_cost other = brute_force(&s, s.asked, -1, 0);
      tp_cost limit = k == 0 || other >= TP_COST_FORBIDDEN
                          ? TP_COST_FORBIDDEN
                          : other / 2 + rng_below(&r, (int)(other / 2 + 3));
      check_solution(&s, sensitivity, asked, limit, other);
    }
    memcpy(s.asked, s.base, sizeof s.asked);
    check_solution(&s, sensitivity, NULL, TP_COST_FORBIDDEN, best);
    tp_sensitivity_destroy(sensitivity);
    tp_problem_destroy(s.problem);
  }
  print_message("%d of %d bounds are exact\n", n_exact, n_bounds);
  assert_true(n_exact > n_bounds / 2 && n_started > 1000);
}

static bool at_once(const tp_solver_progress *progress, void *data) {
  (void)progress;
  ++*(int *)data;
  return true;
}

/* A search that ends at the requested gap, or on request: its bounds are valid and give the
 * remaining gap. */
static void ended_early(void **state) {
  (void)state;
  int n_asked = 0, n_near = 0, n_stopped = 0;
  tp_solver_options near = {.size = sizeof near, .table_budget = 1, .gap = 0.25};
  tp_solver_options stopped = {
      .size = sizeof stopped, .table_budget = 1, .interrupted = at_once, .data = &n_asked};
  for (int i = 0; i < 4000; i++) {
    rng r = {(uint64_t)i};
    small s = draw(i, &r);
    const bool *base[MOST_NODES], *asked[MOST_NODES];
    tp_sensitivity *sensitivity;
    tp_solution found;
    tp_cost bound, best = brute_force(&s, s.base, -1, 0);
    list(&s, s.base, base);
    list(&s, s.asked, asked);
    draw_allowed(&s, &r, s.asked);
    tp_cost other = brute_force(&s, s.asked, -1, 0);
    assert_int_equal(
        tp_sensitivity_create(s.problem, i % 2 ? &near : &stopped, base, best, &sensitivity),
        TP_OK);
    check_bounds(&s, sensitivity, best);
    assert_int_equal(tp_sensitivity_bound(sensitivity, asked, TP_COST_FORBIDDEN, &bound), TP_OK);
    tp_status status = tp_sensitivity_solve(sensitivity, asked, TP_COST_FORBIDDEN, &found);
    assert_true(bound <= other && found.lower_bound <= other);
    assert_true(status == TP_OK
                    ? found.cost >= other &&
                          found.cost == tp_problem_evaluate(s.problem, found.choices)
                    : status == TP_INFEASIBLE && (other >= TP_COST_FORBIDDEN || found.stopped));
    if (i % 2) {
      assert_true(status != TP_OK ||
                  (double)(found.cost - found.lower_bound) <= 0.25 * (double)found.lower_bound);
      n_near += status == TP_OK && !found.optimal;
    }
    assert_true(i % 2 ? !found.stopped : found.stopped || found.optimal);
    n_stopped += found.stopped;
    tp_solution_clear(&found);
    tp_sensitivity_destroy(sensitivity);
    tp_problem_destroy(s.problem);
  }
  assert_true(n_near > 0 && n_stopped > 0 && n_asked >= n_stopped);
}

/* Larger problems, whose equal parts share tables: same results as tp_solve. TP_LONG=1: more
 * questions about each; the large one takes most of the time. */
static void against_solving(void **state) {
  (void)state;
  for (int i = 0; i < 7; i++) {
    rng r = {(uint64_t)i};
    /* in the last one, messages are passed only near what differs, and prove less */
    bool is_large = i == 6;
    tp_problem *p = generate_layers(&r, is_large ? 60 : 8, 12);
    tp_solution best;
    tp_sensitivity *sensitivity;
    assert_int_equal(tp_solve(p, NULL, &best), TP_OK);
    assert_int_equal(tp_sensitivity_create(p, NULL, NULL, best.cost, &sensitivity), TP_OK);
    if (i % 2 || is_large)
      assert_int_equal(tp_sensitivity_start(sensitivity, best.choices, best.cost), TP_OK);
    assert_true(!is_large || best.n_nodes > 1024);
    const bool **asked = calloc((size_t)best.n_nodes, sizeof *asked);
    for (int k = 0; k < (getenv("TP_LONG") ? 10 : is_large ? 1 : 3); k++) {
      int node = rng_below(&r, best.n_nodes);
      tp_cost bounds[12];
      bool others[12];
      assert_int_equal(tp_sensitivity_bounds(sensitivity, node, bounds), TP_OK);
      for (int x = 0; x < 12; x++)
        others[x] = x != best.choices[node];
      tp_solution expected, found;
      asked[node] = others;
      assert_int_equal(tp_solve_allowing(p, NULL, node, others, &expected), TP_OK);
      assert_int_equal(tp_sensitivity_solve(sensitivity, asked, TP_COST_FORBIDDEN, &found), TP_OK);
      assert_true(expected.optimal && found.cost == expected.cost);
      assert_true(is_large ? found.lower_bound <= found.cost : found.optimal);
      assert_true(bounds[found.choices[node]] <= found.cost &&
                  bounds[best.choices[node]] <= best.cost);
      asked[node] = NULL;
      tp_solution_clear(&expected);
      tp_solution_clear(&found);
    }
    free(asked);
    tp_sensitivity_destroy(sensitivity);
    tp_solution_clear(&best);
    tp_problem_destroy(p);
  }
}

/* Nothing is learned from these problems, and the answers are still correct. */
static void solved_anew(void **state) {
  (void)state;
  rng r = {5};
  recipe c = {SHAPE_SPARSE, 8, 0, 4, 100, 10, 0, true};
  tp_solution expected, found;
  tp_sensitivity *sensitivity;
  tp_cost bounds[4];
  tp_problem *p = generate(&r, &c);
  add_memory(p, &r, 4);
  tp_status status = tp_solve(p, NULL, &expected);
  assert_int_equal(tp_sensitivity_create(p, NULL, NULL, TP_COST_FORBIDDEN, &sensitivity), TP_OK);
  assert_int_equal(tp_sensitivity_solve(sensitivity, NULL, TP_COST_FORBIDDEN, &found), status);
  assert_true(found.cost == expected.cost && found.peak.low == expected.peak.low);
  assert_int_equal(tp_sensitivity_bounds(sensitivity, 0, bounds), TP_OK);
  assert_true(bounds[0] <= expected.cost);
  tp_sensitivity_destroy(sensitivity);
  tp_solution_clear(&expected);
  tp_solution_clear(&found);
  tp_problem_destroy(p);

  /* Costs too large for messages. */
  p = tp_problem_create();
  tp_cost costs[2] = {(tp_cost)1 << 58, (tp_cost)1 << 59}, table[4] = {0, 1, 1, 0};
  const bool second[2] = {false, true}, *asked[2] = {second, NULL};
  assert_int_equal(tp_problem_add_node(p, 2, costs), 0);
  assert_int_equal(tp_problem_add_node(p, 2, costs), 1);
  assert_int_equal(tp_problem_add_edge(p, 0, 1, table), TP_OK);
  assert_int_equal(tp_sensitivity_create(p, NULL, NULL, TP_COST_FORBIDDEN, &sensitivity), TP_OK);
  assert_int_equal(tp_sensitivity_solve(sensitivity, asked, TP_COST_FORBIDDEN, &found), TP_OK);
  assert_true(found.cost == costs[1] + costs[0] + 1 && found.optimal);
  tp_solution_clear(&found);
  tp_sensitivity_destroy(sensitivity);
  tp_problem_destroy(p);
}

/* With the best choices of the base, little work finds what is best beside them. */
static void with_little_work(void **state) {
  (void)state;
  int n_best = 0, n_without = 0;
  for (int i = 0; i < 6; i++) {
    rng r = {(uint64_t)i};
    tp_problem *p = generate_layers(&r, 8, 12);
    tp_solver_options little = {.size = sizeof little, .work_budget = 1};
    tp_solution best;
    tp_sensitivity *with, *without;
    assert_int_equal(tp_solve(p, NULL, &best), TP_OK);
    assert_int_equal(tp_sensitivity_create(p, &little, NULL, best.cost, &with), TP_OK);
    assert_int_equal(tp_sensitivity_create(p, &little, NULL, best.cost, &without), TP_OK);
    assert_int_equal(tp_sensitivity_start(with, best.choices, best.lower_bound), TP_OK);
    const bool **asked = calloc((size_t)best.n_nodes, sizeof *asked);
    for (int k = 0; k < 10; k++) {
      int node = rng_below(&r, best.n_nodes);
      bool others[12];
      for (int x = 0; x < 12; x++)
        others[x] = x != best.choices[node];
      asked[node] = others;
      tp_solution expected, found, alone;
      assert_int_equal(tp_solve_allowing(p, NULL, node, others, &expected), TP_OK);
      assert_int_equal(tp_sensitivity_solve(with, asked, TP_COST_FORBIDDEN, &found), TP_OK);
      assert_true(found.cost == tp_problem_evaluate(p, found.choices));
      assert_true(found.cost >= expected.cost && found.lower_bound <= expected.cost);
      assert_true(found.choices[node] != best.choices[node]);
      n_best += found.cost == expected.cost;
      if (tp_sensitivity_solve(without, asked, TP_COST_FORBIDDEN, &alone) == TP_OK)
        n_without += alone.cost == expected.cost;
      asked[node] = NULL;
      tp_solution_clear(&expected);
      tp_solution_clear(&found);
      tp_solution_clear(&alone);
    }
    free(asked);
    tp_solution_clear(&best);
    tp_sensitivity_destroy(with);
    tp_sensitivity_destroy(without);
    tp_problem_destroy(p);
  }
  print_message("%d of 60 are the best, %d without the start\n", n_best, n_without);
  assert_true(n_best > 54 && n_without < n_best);
}

static void arguments(void **state) {
  (void)state;
  tp_cost cost = 1, bound;
  tp_solution found;
  tp_sensitivity *sensitivity = NULL;
  tp_solver_options no_size = {0};
  tp_problem *p = tp_problem_create(), *big = tp_problem_create();
  assert_int_equal(tp_problem_set_big(big, 10), TP_OK);
  assert_int_equal(tp_problem_add_node(p, 1, &cost), 0);
  assert_int_equal(tp_sensitivity_create(NULL, NULL, NULL, 0, &sensitivity), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_create(p, NULL, NULL, 0, NULL), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_create(p, NULL, NULL, -1, &sensitivity), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_create(p, &no_size, NULL, 0, &sensitivity), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_create(big, NULL, NULL, 0, &sensitivity), TP_INVALID_ARGUMENT);
  assert_null(sensitivity);
  assert_int_equal(tp_sensitivity_create(p, NULL, NULL, 1, &sensitivity), TP_OK);
  assert_int_equal(tp_sensitivity_bounds(sensitivity, 1, &bound), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_bounds(sensitivity, 0, NULL), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_bounds(sensitivity, 0, &bound), TP_OK);
  assert_true(bound == 1);
  assert_int_equal(tp_sensitivity_solve(sensitivity, NULL, -1, &found), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_solve(sensitivity, NULL, TP_COST_FORBIDDEN, NULL),
                   TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_bound(sensitivity, NULL, 0, NULL), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_bound(sensitivity, NULL, -1, &bound), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_start(NULL, &(int){0}, 0), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_start(sensitivity, NULL, 0), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_start(sensitivity, &(int){0}, -1), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_sensitivity_start(sensitivity, &(int){7}, 0), TP_INVALID_ARGUMENT);
  tp_sensitivity_destroy(sensitivity);
  tp_sensitivity_destroy(NULL);
  tp_problem_destroy(p);
  tp_problem_destroy(big);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(against_brute_force), cmocka_unit_test(ended_early),
      cmocka_unit_test(against_solving),     cmocka_unit_test(with_little_work),
      cmocka_unit_test(solved_anew),         cmocka_unit_test(arguments)};
  return cmocka_run_group_tests_name("solver sensitivity", tests, NULL, NULL);
}
