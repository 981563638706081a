/* Tests early ends of a search, at any point: the result is certified, and little work is done
 * after the request. */
#include "generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Requests the end at the given call of `interrupted`; never if 0. */
typedef struct asker {
  int64_t at, n_asked;
  int64_t work; /* work spent at that call */
} asker;

static bool is_due(const tp_solver_progress *progress, void *data) {
  asker *a = data;
  a->n_asked++;
  if (a->n_asked == a->at)
    a->work = progress->work;
  return a->at > 0 && a->n_asked >= a->at;
}

static tp_problem *layers(rng *r) { return generate_layers(r, 30, 12); }

static tp_problem *layers_in_memory(rng *r) {
  tp_problem *p = generate_layers(r, 12, 8);
  add_memory(p, r, 8);
  return p;
}

static tp_problem *grid(rng *r) {
  recipe c = {.shape = SHAPE_GRID,
              .n_nodes = 80,
              .columns = 4,
              .max_strategies = 28,
              .max_cost = 1000000,
              .feasible = true};
  return generate(r, &c);
}

static tp_problem *ring_of_choices(rng *r) {
  int64_t *usages = malloc((size_t)60 * 8 * sizeof *usages);
  assert_non_null(usages);
  tp_problem *p = generate_tradeoffs(r, 60, 8, usages);
  free(usages);
  return p;
}

static tp_problem *sparse(rng *r) {
  recipe c = {.shape = SHAPE_SPARSE,
              .n_nodes = 60,
              .max_strategies = 12,
              .max_cost = 100,
              .forbidden = 20,
              .feasible = true};
  return generate(r, &c);
}

/* `most_after`: max work after the request. This is a few passes over the tables; the whole search
 * makes up to 75 million accesses. */
typedef struct kind {
  const char *name;
  tp_problem *(*make)(rng *r);
  int64_t most_after;
  bool always_found; /* a choice is found no matter when the search ends */
} kind;

static const kind kinds[] = {
    {"layers", layers, 800000, true},
    {"grid", grid, 200000, true},
    {"sparse", sparse, 200000, false},
    {"layers in memory", layers_in_memory, 400000, false},
    {"ring of choices", ring_of_choices, 2000000, false},
};

static int64_t check(const kind *k, const tp_problem *problem, int64_t at,
                     const tp_solution *best) {
  asker a = {.at = at};
  tp_solver_options options = {
      .size = sizeof options, .work_budget = 30000000, .interrupted = is_due, .data = &a};
  tp_solution s;
  tp_status status = tp_solve(problem, &options, &s);
  if (status == TP_OK) {
    assert_true(s.cost == tp_problem_evaluate(problem, s.choices));
    assert_true(s.lower_bound <= s.cost && (!best->choices || s.lower_bound <= best->cost));
    assert_true(s.cost >= best->lower_bound);
  } else {
    assert_int_equal(status, TP_INFEASIBLE);
    assert_true(!s.optimal || !best->choices);
    assert_false(k->always_found);
  }
  assert_true(s.stopped == (a.n_asked >= at));
  int64_t after = s.stopped ? s.work - a.work : 0;
  if (after > k->most_after)
    fail_msg("%s: %lld entries are looked at after question %lld, at %lld", k->name,
             (long long)after, (long long)at, (long long)a.work);
  tp_solution_clear(&s);
  return after;
}

/* Tests every call up to the 20th, and some later ones. */
static void test_little_is_done_afterwards(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    rng r = {i};
    tp_problem *problem = kinds[i].make(&r);
    asker never = {0};
    tp_solver_options options = {
        .size = sizeof options, .work_budget = 30000000, .interrupted = is_due, .data = &never};
    tp_solution best;
    tp_status status = tp_solve(problem, &options, &best);
    assert_true(status == TP_OK || status == TP_INFEASIBLE);
    assert_false(best.stopped);
    assert_true(never.n_asked > 2);
    int64_t most = 0;
    for (int64_t at = 1; at <= never.n_asked; at = at < 20 ? at + 1 : at + at / 3) {
      int64_t after = check(&kinds[i], problem, at, &best);
      most = after > most ? after : most;
    }
    print_message("%s: %lld questions, %lld entries; at most %lld after one\n", kinds[i].name,
                  (long long)never.n_asked, (long long)best.work, (long long)most);
    tp_solution_clear(&best);
    tp_problem_destroy(problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_little_is_done_afterwards)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
