/* Tests lifted messages, on stacks of equal layers that share a node. */
#include "generate.h"

#include "solver/encode.h"
#include "solver/lift.h"
#include "solver/lift_plan.h"
#include "solver/reduce.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WIDTH = 6, CHOICES = 4, KINDS = 10 };

/* Creates layers of six nodes, and a node connected to all layers, with kinds of edges within a
 * layer, to the next one, and to the shared node. Layers with a number in `odd` have different
 * costs. `forbidden`: percent of entries. */
static tp_problem *stack_of(rng r, int n_layers, int forbidden, bool shares, bool odd,
                            tp_cost unit) {
  tp_problem *p = tp_problem_create();
  tp_cost costs[WIDTH][CHOICES], tables[KINDS][CHOICES * CHOICES];
  for (int v = 0; v < WIDTH; v++)
    for (int x = 0; x < CHOICES; x++)
      costs[v][x] = unit * rng_below(&r, 500);
  for (int k = 0; k < KINDS; k++)
    for (int i = 0; i < CHOICES * CHOICES; i++)
      tables[k][i] =
          i % 5 && rng_below(&r, 100) < forbidden ? TP_COST_FORBIDDEN : unit * rng_below(&r, 1000);
  for (int v = 0; v < n_layers * WIDTH; v++) {
    tp_cost cost[CHOICES];
    for (int x = 0; x < CHOICES; x++)
      cost[x] = costs[v % WIDTH][x] + (odd ? v / WIDTH * (x + 1) * 37 % 151 : 0);
    assert_int_equal(tp_problem_add_node(p, CHOICES, cost), v);
  }
  int shared = tp_problem_add_node(p, CHOICES, costs[0]);
  for (int layer = 0; layer + 1 < n_layers; layer++)
    for (int k = 0; k < KINDS; k++) {
      int a = layer * WIDTH + k % WIDTH, b = layer * WIDTH + (k * 5 + 3) % (2 * WIDTH);
      b = k == KINDS - 1 ? shared : b + (a == b);
      if (shares && layer > 0)
        assert_int_equal(tp_problem_repeat_edge(p, a, b, k), TP_OK);
      else
        assert_int_equal(tp_problem_add_edge(p, a, b, tables[k]), TP_OK);
    }
  return p;
}

static tp_problem *stack(rng r, int n_layers, int forbidden, bool shares, bool odd) {
  return stack_of(r, n_layers, forbidden, shares, odd, 1);
}

/* Returns the problem as a graph, reduced without creating tables, so that most of it remains. */
static tp__wcsp *graph_of(const tp_problem *problem) {
  tp__code code;
  int64_t work = 0;
  tp__code_choose(problem, TP__FORM_PLAIN, &code);
  tp__wcsp *g = tp__encode(problem, &code, false);
  assert_non_null(g);
  assert_non_null(g->cache);
  assert_int_equal(tp__wcsp_reduce(g, TP_COST_FORBIDDEN, 0, NULL, &work), TP_OK);
  return g;
}

static void choose(rng *r, const tp__wcsp *g, int *at) {
  for (int v = 0; v < g->n_nodes; v++)
    at[v] = g->nodes[v].alive ? rng_below(r, g->nodes[v].n) : 0;
}

/* Lifts a stack. Every choice keeps its cost, and none costs less than the constant. Returns
 * whether the constant has grown. */
static bool lifts_alike(uint64_t seed, int forbidden, tp_cost unit) {
  tp_problem *p = stack_of((rng){seed}, 150, forbidden, true, false, unit);
  tp__wcsp *g = graph_of(p);
  tp_cost before[50], first = g->constant;
  int *at = calloc((size_t)g->n_nodes, sizeof *at);
  rng r = {seed};
  for (int i = 0; i < 50; i++) {
    choose(&r, g, at);
    before[i] = tp__wcsp_evaluate(g, at);
    assert_true(forbidden || before[i] < TP_COST_FORBIDDEN);
  }
  int64_t work = 0;
  bool lifted;
  assert_int_equal(tp__lift(g, NULL, &work, &lifted), TP_OK);
  assert_true(lifted == (g->constant > first));
  r = (rng){seed};
  for (int i = 0; i < 50; i++) {
    choose(&r, g, at);
    assert_true(tp__wcsp_evaluate(g, at) == before[i]);
  }
  for (int v = 0; v < g->n_nodes; v++)
    for (int x = 0; g->nodes[v].alive && x < g->nodes[v].n; x++)
      assert_true(g->nodes[v].cost[x] >= 0);
  for (int e = 0; e < g->n_edges; e++)
    for (int i = 0; g->edges[e].node[0] >= 0 &&
                    i < g->nodes[g->edges[e].node[0]].n * g->nodes[g->edges[e].node[1]].n;
         i++)
      assert_true(g->edges[e].table[i] >= 0);
  free(at);
  tp__wcsp_destroy(g);
  tp_problem_destroy(p);
  return lifted;
}

static void keeps_all_costs(void **state) {
  (void)state;
  int lifts = 0;
  for (uint64_t seed = 1; seed <= 10; seed++) /* without forbidden entries, all have a cost */
    lifts += lifts_alike(seed, seed % 2 ? 0 : 10, 1);
  assert_true(lifts >= 8);
}

/* The sum of the costs of all layers at the shared node is outside of the range of messages. The
 * layers are lifted nevertheless. */
static void large_sums(void **state) {
  (void)state;
  int lifts = 0;
  for (uint64_t seed = 1; seed <= 10; seed++)
    lifts += lifts_alike(seed, 0, (tp_cost)1 << 39);
  assert_true(lifts >= 8);
}

/* Messages pass many layers within one lift: less than an eighth of the initial bound gap
 * remains. */
static void passes_layers(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    tp_problem *p = stack((rng){seed}, 300, 0, true, false);
    tp__wcsp *g = graph_of(p);
    tp_solution solution;
    tp__code code;
    int64_t work = 0;
    bool lifted;
    assert_int_equal(tp_solve(p, NULL, &solution), TP_OK);
    assert_true(solution.optimal && tp__code_choose(p, TP__FORM_PLAIN, &code));
    tp_cost optimum = solution.cost * code.step, first = g->constant;
    assert_int_equal(tp__lift(g, NULL, &work, &lifted), TP_OK);
    assert_true(lifted && g->constant <= optimum);
    assert_true(8 * (optimum - g->constant) < optimum - first);
    tp_solution_clear(&solution);
    tp__wcsp_destroy(g);
    tp_problem_destroy(p);
  }
}

/* Problems without repetition are left unchanged. */
static void needs_repetition(void **state) {
  (void)state;
  tp_problem *p = stack((rng){3}, 150, 10, true, true);
  tp__wcsp *g = graph_of(p);
  int64_t work = 0;
  bool lifted;
  tp_cost first = g->constant;
  assert_int_equal(tp__lift(g, NULL, &work, &lifted), TP_OK);
  assert_true(!lifted && g->constant == first && work == 0);
  tp__wcsp_destroy(g);
  tp_problem_destroy(p);
}

/* With enough layers for a lift, the optimum is unchanged. */
static void same_optimum(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    tp_problem *apart = stack((rng){seed}, 120, 10, false, false),
               *shared = stack((rng){seed}, 120, 10, true, false);
    tp_solution a, b;
    tp_solver_options messages = {.size = sizeof messages, .table_budget = 1};
    assert_int_equal(tp_solve(apart, &messages, &a), TP_OK);
    assert_int_equal(tp_solve(shared, &messages, &b), TP_OK);
    assert_true(b.cost == tp_problem_evaluate(apart, b.choices));
    assert_true(b.lower_bound <= a.cost && a.lower_bound <= b.cost);
    assert_true(!a.optimal || !b.optimal || a.cost == b.cost);
    tp_solution_clear(&a);
    tp_solution_clear(&b);
    tp_problem_destroy(apart);
    tp_problem_destroy(shared);
  }
}

/* The least cost of the assignments in which all layers are equal. */
static tp_cost least_of_equal_layers(const tp__wcsp *g) {
  int *at = calloc((size_t)g->n_nodes, sizeof *at), n = 1;
  tp_cost least = TP_COST_FORBIDDEN;
  for (int i = 0; i <= WIDTH; i++)
    n *= CHOICES;
  for (int i = 0; i < n; i++) {
    for (int v = 0; v < g->n_nodes; v++) {
      int digit = v == g->n_nodes - 1 ? WIDTH : v % WIDTH, left = i;
      for (int k = 0; k < digit; k++)
        left /= CHOICES;
      at[v] = left % CHOICES;
    }
    tp_cost cost = tp__wcsp_evaluate(g, at);
    least = cost < least ? cost : least;
  }
  free(at);
  return least;
}

/* The assignment that repeats is at least as good as any with equal layers, since those near the
 * borders are decided apart; and layers farther inside are equal. */
static void repeats_layers(void **state) {
  (void)state;
  enum { LAYERS = 60 };
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tp_problem *p = stack((rng){seed}, LAYERS, 0, true, false);
    tp__code code;
    tp__search search = {.table_budget = 1 << 20, .work_limit = INT64_MAX / 2, .step = 1};
    bool found;
    assert_true(tp__code_choose(p, TP__FORM_PLAIN, &code));
    tp__wcsp *g = tp__encode(p, &code, false);
    assert_non_null(g);
    int *at = calloc((size_t)g->n_nodes, sizeof *at);
    assert_int_equal(tp__lift_plan(&search, g, at, &found), TP_OK);
    assert_true(found);
    assert_true(tp__wcsp_evaluate(g, at) <= least_of_equal_layers(g));
    for (int v = 10 * WIDTH; v < (LAYERS - 10) * WIDTH; v++)
      assert_int_equal(at[v], at[v % WIDTH + 20 * WIDTH]);
    free(at);
    tp__wcsp_destroy(g);
    tp_problem_destroy(p);
  }
}

/* Where nothing repeats, there is no such assignment. */
static void repeats_nothing(void **state) {
  (void)state;
  tp_problem *p = stack((rng){3}, 60, 0, true, true);
  tp__wcsp *g = graph_of(p);
  tp__search search = {.table_budget = 1 << 20, .work_limit = INT64_MAX / 2, .step = 1};
  int *at = calloc((size_t)g->n_nodes, sizeof *at);
  bool found = true;
  assert_int_equal(tp__lift_plan(&search, g, at, &found), TP_OK);
  assert_false(found);
  free(at);
  tp__wcsp_destroy(g);
  tp_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_all_costs), cmocka_unit_test(large_sums),
      cmocka_unit_test(passes_layers),   cmocka_unit_test(needs_repetition),
      cmocka_unit_test(same_optimum),    cmocka_unit_test(repeats_layers),
      cmocka_unit_test(repeats_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
