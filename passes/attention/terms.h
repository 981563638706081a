/* Scores and rows of the gradient of attention, as sums of products of what the softmax is made of.
 * Two programs that compute the same gradient in another order have equal sums. */
#ifndef TP_PASSES_ATTENTION_TERMS_H
#define TP_PASSES_ATTENTION_TERMS_H

#include <stdbool.h>
#include <stdint.h>

enum { TP_MAX_TERMS = 8 };

/* factor * g^gradient * e^exponential * s^sum * d^dot * t^tanh * k^dropout, where e is the
 * exponential of a score less the largest one, g the gradient of its weight behind the dropout, s
 * the sum of e over the columns, t the tanh of a score that has a cap, k the element of the
 * dropout, without its scale, and d the sum of e * g, or of e * g * k with a dropout. */
typedef struct tp_term {
  double factor;
  int gradient, exponential, sum, dot, tanh, dropout;
} tp_term;

typedef struct tp_terms {
  int n;
  tp_term of[TP_MAX_TERMS];
  uint32_t selects; /* bits: conditions without which the score is 0 */
} tp_terms;

tp_terms tp__terms_number(double number);
/* x + factor * y, x * y, x / y and the sum of x over the columns, of scores with a dropout if
 * `has_dropout`. False if it is no such sum of terms. */
bool tp__terms_add(const tp_terms *x, double factor, const tp_terms *y, tp_terms *to);
bool tp__terms_multiply(const tp_terms *x, const tp_terms *y, tp_terms *to);
bool tp__terms_divide(const tp_terms *x, const tp_terms *y, tp_terms *to);
bool tp__terms_sum(const tp_terms *x, bool has_dropout, tp_terms *to);

/* True for the weight e / s, or with a dropout for e * k / s, times *factor. */
bool tp__terms_are_weight(const tp_terms *x, bool has_dropout, double *factor);
/* True for the gradient of a score, e * g / s - e * d / s^2, times *factor; of a score with a cap
 * times 1 - t^2. With a dropout, k is a factor of the first term. */
bool tp__terms_are_slope(const tp_terms *x, bool has_cap, bool has_dropout, double *factor);

#endif
