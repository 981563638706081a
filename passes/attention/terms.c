/* Arithmetic of terms.h. */
#include "passes/attention/terms.h"

tp_terms tp__terms_number(double number) {
  return (tp_terms){.n = number != 0, .of = {{.factor = number}}};
}

static bool is_alike(const tp_term *x, const tp_term *y) {
  return x->gradient == y->gradient && x->exponential == y->exponential && x->sum == y->sum &&
         x->dot == y->dot && x->tanh == y->tanh && x->dropout == y->dropout;
}

/* Adds a term; terms that cancel each other disappear. */
static bool append(tp_terms *to, const tp_term *x) {
  for (int i = 0; i < to->n; i++) {
    if (!is_alike(&to->of[i], x))
      continue;
    to->of[i].factor += x->factor;
    if (to->of[i].factor == 0)
      to->of[i] = to->of[--to->n];
    return true;
  }
  if (to->n == TP_MAX_TERMS)
    return false;
  to->of[to->n++] = *x;
  return true;
}

bool tp__terms_add(const tp_terms *x, double factor, const tp_terms *y, tp_terms *to) {
  tp_terms made = *x;
  if (x->selects != y->selects)
    return false;
  for (int i = 0; i < y->n; i++) {
    tp_term term = y->of[i];
    term.factor *= factor;
    if (!append(&made, &term))
      return false;
  }
  *to = made;
  return true;
}

static tp_term product(const tp_term *x, const tp_term *y) {
  return (tp_term){
      x->factor * y->factor,  x->gradient + y->gradient, x->exponential + y->exponential,
      x->sum + y->sum,        x->dot + y->dot,           x->tanh + y->tanh,
      x->dropout + y->dropout};
}

bool tp__terms_multiply(const tp_terms *x, const tp_terms *y, tp_terms *to) {
  tp_terms made = {.selects = x->selects | y->selects};
  for (int i = 0; i < x->n; i++)
    for (int k = 0; k < y->n; k++) {
      tp_term term = product(&x->of[i], &y->of[k]);
      if (!append(&made, &term))
        return false;
    }
  *to = made;
  return true;
}

bool tp__terms_divide(const tp_terms *x, const tp_terms *y, tp_terms *to) {
  if (y->n != 1 || y->selects)
    return false;
  const tp_term *by = &y->of[0];
  const tp_terms inverse = {.n = 1,
                            .of = {{1 / by->factor, -by->gradient, -by->exponential, -by->sum,
                                    -by->dot, -by->tanh, -by->dropout}}};
  return tp__terms_multiply(x, &inverse, to);
}

bool tp__terms_sum(const tp_terms *x, bool has_dropout, tp_terms *to) {
  tp_terms made = {.n = 0};
  if (x->selects)
    return false;
  for (int i = 0; i < x->n; i++) {
    tp_term term = x->of[i];
    if (term.exponential != 1 || term.gradient < 0 || term.gradient > 1 || term.tanh ||
        term.dropout != (has_dropout && term.gradient))
      return false;
    *(term.gradient ? &term.dot : &term.sum) += 1;
    term.exponential = term.gradient = term.dropout = 0;
    if (!append(&made, &term))
      return false;
  }
  *to = made;
  return true;
}

bool tp__terms_are_weight(const tp_terms *x, bool has_dropout, double *factor) {
  const tp_term weight = {.exponential = 1, .sum = -1, .dropout = has_dropout};
  *factor = x->n == 1 ? x->of[0].factor : 0;
  return x->n == 1 && !x->selects && is_alike(&x->of[0], &weight);
}

/* The factor of the term like `like`; 0: there is none. */
static double factor_of(const tp_terms *x, tp_term like) {
  for (int i = 0; i < x->n; i++)
    if (is_alike(&x->of[i], &like))
      return x->of[i].factor;
  return 0;
}

bool tp__terms_are_slope(const tp_terms *x, bool has_cap, bool has_dropout, double *factor) {
  tp_term direct = {.gradient = 1, .exponential = 1, .sum = -1, .dropout = has_dropout},
          mean = {.exponential = 1, .sum = -2, .dot = 1};
  bool fits = x->n == (has_cap ? 4 : 2);
  *factor = factor_of(x, direct);
  for (int power = 0; power <= 2 && fits; power += 2) { /* of tanh */
    double sign = power ? -1 : 1;
    direct.tanh = mean.tanh = power;
    fits = (power && !has_cap) ||
           (factor_of(x, direct) == sign * *factor && factor_of(x, mean) == -sign * *factor);
  }
  return fits && *factor != 0;
}
