/* Every allocation of the solver fails once, in turn: it must report that and leak nothing. */
#include "generate.h"

#include "support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void fail_each(const tp_problem *problem, const tp_solver_options *options) {
  int64_t before = tp__alloc_live();
  for (int64_t k = 1;; k++) {
    tp_solution s = {0};
    tp__alloc_fail(k, 1);
    tp_status status = tp_solve(problem, options, &s);
    bool reached = tp__alloc_count() >= k;
    tp__alloc_fail(0, 0);
    if (!reached) {
      assert_true(status == TP_OK || status == TP_INFEASIBLE);
      tp_solution_clear(&s);
      assert_true(tp__alloc_live() == before);
      return;
    }
    assert_int_equal(status, TP_NO_MEMORY);
    assert_true(tp__alloc_live() == before);
  }
}

static void solving(void **state) {
  (void)state;
  static const recipe recipes[] = {
      {SHAPE_GRID, 30, 5, 4, 100, 10, 0, true},
      {SHAPE_SPARSE, 30, 0, 4, 100, 0, 40, false},
      {SHAPE_CLIQUE, 7, 0, 4, 100, 0, 0, true},
  };
  tp_solver_options plain = {.size = sizeof plain};
  tp_solver_options no_tables = {
      .size = sizeof no_tables, .table_budget = 1, .work_budget = 100000};
  tp_solver_options small_tables = {
      .size = sizeof small_tables, .table_budget = 20, .work_budget = 200000};
  for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
    rng r = {i};
    tp_problem *p = generate(&r, &recipes[i]);
    fail_each(p, &plain);
    fail_each(p, &no_tables);
    fail_each(p, &small_tables);
    add_memory(p, &r, 4);
    fail_each(p, &small_tables);
    tp_problem_destroy(p);
  }
}

static void limited(void **state) {
  (void)state;
  enum { N = 2, S = 40 };
  int64_t usages[N * S];
  tp_solver_options o = {.size = sizeof o, .work_budget = 200000};
  rng r = {7};
  tp_problem *p = generate_tradeoffs(&r, N, S, usages);
  fail_each(p, &o);
  tp_problem_destroy(p);
}

static void other_decisions(void **state) {
  (void)state;
  rng r = {3};
  tp_problem *p = generate(&r, &(recipe){SHAPE_TREE, 12, 0, 4, 100, 0, 0, true});
  add_memory(p, &r, 4);
  int64_t before = tp__alloc_live();
  for (int64_t k = 1;; k++) {
    tp_cost bounds[4];
    tp__alloc_fail(k, 1);
    tp_status status = tp_solve_each(p, NULL, 1, bounds);
    bool reached = tp__alloc_count() >= k;
    tp__alloc_fail(0, 0);
    assert_true(tp__alloc_live() == before);
    assert_int_equal(status, reached ? TP_NO_MEMORY : TP_OK);
    if (!reached)
      break;
  }
  tp_problem_destroy(p);
}

/* Calls all functions of a sensitivity. Returns TP_NO_MEMORY, or the status of the last call. */
static tp_status use_sensitivity(const tp_problem *p, const bool *const *allowed) {
  tp_sensitivity *sensitivity = NULL;
  tp_cost bounds[4], bound;
  tp_solution solution = {0};
  tp_status status = tp_sensitivity_create(p, NULL, NULL, TP_COST_FORBIDDEN, &sensitivity);
  if (status == TP_OK)
    status = tp_sensitivity_bounds(sensitivity, 1, bounds);
  if (status == TP_OK)
    status = tp_sensitivity_solve(sensitivity, NULL, TP_COST_FORBIDDEN, &solution);
  if (status == TP_OK)
    status = tp_sensitivity_start(sensitivity, solution.choices, solution.lower_bound);
  tp_solution_clear(&solution);
  if (status == TP_OK)
    status = tp_sensitivity_bound(sensitivity, allowed, TP_COST_FORBIDDEN, &bound);
  if (status == TP_OK)
    status = tp_sensitivity_solve(sensitivity, allowed, TP_COST_FORBIDDEN, &solution);
  tp_solution_clear(&solution);
  tp_sensitivity_destroy(sensitivity);
  return status;
}

static void sensitivity(void **state) {
  (void)state;
  const bool last[4] = {false, false, false, true};
  const bool *allowed[12] = {NULL};
  for (int memory = 0; memory < 2; memory++) {
    rng r = {4};
    tp_problem *p = generate(&r, &(recipe){SHAPE_SPARSE, 12, 0, 4, 100, 0, 0, true});
    if (memory)
      add_memory(p, &r, 4);
    allowed[3] = memory ? NULL : last;
    int64_t before = tp__alloc_live();
    bool reached = true;
    for (int64_t k = 1; reached; k++) {
      tp__alloc_fail(k, 1);
      tp_status status = use_sensitivity(p, allowed);
      reached = tp__alloc_count() >= k;
      tp__alloc_fail(0, 0);
      assert_true(tp__alloc_live() == before);
      assert_true(reached ? status == TP_NO_MEMORY : status == TP_OK || status == TP_INFEASIBLE);
    }
    tp_problem_destroy(p);
  }
}

static void nearest(void **state) {
  (void)state;
  rng r = {5};
  tp_problem *p = generate(&r, &(recipe){SHAPE_SPARSE, 12, 0, 4, 100, 0, 0, true});
  bool *kept[12] = {NULL}, of_one[4] = {false};
  kept[2] = of_one;
  int64_t before = tp__alloc_live();
  bool reached = true;
  for (int64_t k = 1; reached; k++) {
    tp__alloc_fail(k, 1);
    tp_status status = tp_problem_keep_nearest(p, 1, kept);
    reached = tp__alloc_count() >= k;
    tp__alloc_fail(0, 0);
    assert_true(tp__alloc_live() == before);
    assert_int_equal(status, reached ? TP_NO_MEMORY : TP_OK);
  }
  tp_problem_destroy(p);
}

static void building(void **state) {
  (void)state;
  tp_cost costs[200] = {0};
  static tp_cost table[200 * 200];
  bool finished = false;
  const int n_nodes = getenv("TP_LONG") ? 100 : 40; /* the time is their square */
  int64_t before = tp__alloc_live();
  for (int64_t k = 1; !finished; k++) {
    tp__alloc_fail(k, 1);
    tp_problem *p = tp_problem_create();
    bool ok = p != NULL;
    for (int v = 0; ok && v < n_nodes; v++) {
      ok = tp_problem_add_node(p, 200, costs) == v;
      if (ok && v)
        ok = tp_problem_add_edge(p, v - 1, v, table) == TP_OK;
    }
    finished = tp__alloc_count() < k;
    tp__alloc_fail(0, 0);
    assert_true(ok == finished);
    tp_problem_destroy(p);
    assert_true(tp__alloc_live() == before);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(building),        cmocka_unit_test(solving),     cmocka_unit_test(limited),
      cmocka_unit_test(other_decisions), cmocka_unit_test(sensitivity), cmocka_unit_test(nearest)};
  return cmocka_run_group_tests_name("solver memory", tests, NULL, NULL);
}
