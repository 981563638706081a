/* Verifies results with the reference evaluator. */
#include "run.h"

#include <math.h>
#include <stdlib.h>

/* max_steps: as many at most; 0: unknown. */
typedef struct watched {
  double start, max_steps;
} watched;

static int show_progress(void *user, double steps) {
  const watched *w = user;
  char text[80];
  double passed = cli_seconds() - w->start;
  bool is_known = w->max_steps > 0 && steps > 0;
  snprintf(text, sizeof text, "%.0f million operations so far", steps / 1e6);
  progress_detail(text, is_known ? passed * (w->max_steps - steps) / steps : -1, true);
  return 0;
}

tp_reference *evaluate(MlirModule module, const char *function, const tp_plan *plan,
                       const array *inputs, evaluation_mode mode, double max_steps, size_t why_size,
                       char *why) {
  watched shown = {.start = cli_seconds(), .max_steps = max_steps};
  const tp_reference_options asked = {.size = sizeof asked,
                                      .max_steps = max_steps,
                                      .progress = show_progress,
                                      .user = &shown,
                                      .without_bounds = mode == EVALUATE_EXACT,
                                      .with_noise =
                                          mode >= EVALUATE_NOISY ? mode - EVALUATE_NOISY + 1 : 0};
  tp_reference *made = NULL;
  int n = plan->n_arguments - plan->n_constants; /* the module has the values of constants */
  const void **data = calloc((size_t)plan->n_arguments + 1, sizeof *data);
  snprintf(why, why_size, "memory ran out");
  for (int i = 0; data && i < n; i++)
    data[i] = inputs[i].data;
  progress("evaluating the program");
  if (data && tp_reference_evaluate(module, function, data, &asked, why_size, why, &made) != TP_OK)
    made = NULL;
  free(data);
  return made;
}

/* Returns the max error of the numbers that the evaluator does not know, relative to one device. */
static double error_of_unknown(const array *a, const array *one, const tp_reference *reference,
                               int k) {
  double error = 0, value;
  for (int64_t i = 0; i < array_numbers(a); i++) {
    double x = array_get(a, i), y = array_get(one, i);
    if (!tp_reference_value(reference, k, i, &value, NULL) && x != y && !(isnan(x) && isnan(y)))
      error = fmax(error, isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY);
  }
  return error;
}

static comparison compare_integers(const array *value, const tp_reference *reference, int k) {
  comparison c = {.done = true, .error_of_one = -1, .error_of_rounding = -1};
  tp_reference_judgement judgement;
  tp_reference_judge(reference, k, value->data, &judgement);
  c.ok = judgement.first_wrong < 0 && 2 * judgement.n_known >= judgement.n_numbers;
  c.is_ill_conditioned = judgement.first_wrong < 0 && !c.ok;
  if (judgement.first_wrong >= 0)
    snprintf(c.what, sizeof c.what, "element %lld: %s", (long long)judgement.first_wrong,
             judgement.text);
  else if (judgement.n_known < judgement.n_numbers)
    snprintf(c.what, sizeof c.what, "%lld of %lld elements depend on rounding",
             (long long)(judgement.n_numbers - judgement.n_known), (long long)judgement.n_numbers);
  return c;
}

/* Errors of two correct results may differ by SEVERAL. MANY: noise changes each result once, but a
 * sum of n terms may round n times. */
enum { SEVERAL = 4, MANY = 1000 };
/* The allowance, in tolerances: for narrow types one tolerance is already large. */
#define MOST_OF_WIDE 50
#define MOST_OF_NARROW 2.5

double change_by_noise(const tp_reference *reference, const tp_reference *noisy, int k) {
  double change = 0, exact, other;
  for (int64_t i = 0; i < tp_reference_count(reference, k); i++)
    if (tp_reference_value(reference, k, i, &exact, NULL) && isfinite(exact)) {
      bool is_finite = tp_reference_value(noisy, k, i, &other, NULL) && isfinite(other);
      change = fmax(change, is_finite ? fabs(other - exact) : INFINITY);
    }
  return change;
}

/* The tolerance of a result that depends on numbers of the types in which it is computed. */
static double tolerance_of_types(const tp_reference_judgement *judgement) {
  return MOST_OF_NARROW * compare_tolerance_of_unit(judgement->unit);
}

/* Says whether rounding may still explain the error. */
static void consider_types(const array *value, const tp_reference_judgement *judgement,
                           comparison *c) {
  double most = tolerance_of_types(judgement);
  if (!value->type->narrow && c->error > c->tolerance && c->error <= most)
    c->rounding_tolerance = most;
}

/* True for an error that rounding explains, and that is small beside the numbers of the program:
 * the exact value is about 0, as a gradient may be, and what is left of its terms is their
 * rounding. */
static bool is_rounding_of_zero(double error, double change, double unit, double largest) {
  return error <= MANY * change && error <= MANY * unit * largest;
}

void compare_expected_floats(const array *value, const tp_reference *reference, double change,
                             double largest, int k, comparison *c) {
  tp_reference_judgement judgement;
  tp_reference_judge(reference, k, value->data, &judgement);
  double most = (value->type->narrow ? MOST_OF_NARROW : MOST_OF_WIDE) * c->tolerance;
  c->rounding_tolerance = fmax(most, tolerance_of_types(&judgement));
  compare_with_rounding(c, change);
  if (!c->ok && is_rounding_of_zero(c->error * c->scale, change, judgement.unit, largest)) {
    c->tolerance = MANY * judgement.unit * largest / c->scale;
    c->ok = true;
  }
  c->error_of_rounding = change / c->scale;
  c->is_ill_conditioned = !c->ok && c->error <= MANY * c->error_of_rounding;
}

void compare_expected_integers(const array *expected, const tp_reference *bounded, int k,
                               comparison *c) {
  tp_reference_judgement judgement;
  tp_reference_judge(bounded, k, expected->data, &judgement);
  bool decides = 2 * judgement.n_known < judgement.n_numbers;
  c->ok = judgement.first_wrong < 0 && !decides;
  c->is_ill_conditioned = judgement.first_wrong < 0 && decides;
}

comparison compare_with_evaluator(const array *value, const array *one,
                                  const tp_reference *reference, const tp_reference *noisy, int k,
                                  double least, double largest) {
  if (value->type->kind != 'f')
    return compare_integers(value, reference, k);
  comparison c = {.done = true,
                  .error_of_one = -1,
                  .error_of_rounding = -1,
                  .tolerance = fmax(compare_tolerance(value->type, false), least)};
  tp_reference_judgement judgement, of_one;
  tp_reference_judge(reference, k, value->data, &judgement);
  /* excludes masks, and is at most the reference's largest value */
  double scale = fmin(judgement.largest, compare_scale(one ? one : value));
  scale = scale > 0 ? scale : judgement.largest > 0 ? judgement.largest : 1;
  scale = fmax(scale, compare_least(value->type));
  c.error = judgement.error / scale;
  c.scale = scale;
  if (one) {
    tp_reference_judge(reference, k, one->data, &of_one);
    c.error_of_one = of_one.error / scale;
    c.error = fmax(c.error, error_of_unknown(value, one, reference, k) / scale);
    double allowed = SEVERAL * c.error_of_one;
    bool is_narrow = value->type->narrow || least > 0;
    double most = (is_narrow ? MOST_OF_NARROW : MOST_OF_WIDE) * c.tolerance;
    most = fmax(most, tolerance_of_types(&judgement));
    c.is_ill_conditioned = c.error > most && c.error <= allowed;
    c.tolerance = fmax(c.tolerance, fmin(allowed, most));
    c.is_doubtful = c.error > most && c.error_of_one > most;
    if (c.is_doubtful && noisy) {
      double change = change_by_noise(reference, noisy, k);
      double error = fmax(c.error, c.error_of_one) * scale;
      if (is_rounding_of_zero(error, change, judgement.unit, largest)) {
        c.is_ill_conditioned = c.is_doubtful = false;
        c.tolerance = fmax(c.tolerance, MANY * judgement.unit * largest / scale);
      } else if (c.is_ill_conditioned) {
        c.error_of_rounding = change / scale;
        c.is_ill_conditioned = c.error_of_one <= MANY * c.error_of_rounding;
      }
    }
  } else if (judgement.n_known < judgement.n_numbers) {
    c.error = INFINITY;
    snprintf(c.what, sizeof c.what, "%lld of %lld elements are not defined by the program",
             (long long)(judgement.n_numbers - judgement.n_known), (long long)judgement.n_numbers);
  }
  consider_types(value, &judgement, &c);
  c.ok = c.error <= c.tolerance;
  return c;
}

void compare_with_rounding(comparison *c, double change) {
  double allowed = SEVERAL * change / c->scale;
  c->tolerance = fmax(c->tolerance, fmin(allowed, c->rounding_tolerance));
  c->ok = c->error <= c->tolerance;
}
