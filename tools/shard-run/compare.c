#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double compare_tolerance(const element *type, bool against_expected) {
  if (type->kind != 'f')
    return 0;
  if (type->narrow)
    return type->size == 1 ? 8e-2 : 2e-2; /* f8: the next number beside the largest */
  if (against_expected)
    return 1e-4;
  return type->size == 8 * type->parts ? 1e-12 : 1e-5;
}

static comparison differ(comparison c, const char *what, int64_t i, double value, double reference) {
  c.ok = false;
  c.error = INFINITY;
  snprintf(c.what, sizeof c.what, "%s at element %lld: %g, reference %g", what, (long long)i, value, reference);
  return c;
}

/* Integers are compared as bits, so that 64 of them count. */
static comparison compare_exact(const array *a, const array *b, comparison c) {
  for (int64_t i = 0; i < array_count(a); i++)
    if (memcmp((char *)a->data + i * a->type->size, (char *)b->data + i * a->type->size, (size_t)a->type->size) != 0)
      return differ(c, "different", i, array_get(a, i), array_get(b, i));
  return c;
}

comparison compare_arrays(const array *a, const array *b, bool against_expected) {
  comparison c = {.done = true, .ok = true, .error_of_one = -1, .tolerance = compare_tolerance(a->type, against_expected)};
  if (a->type->kind != 'f')
    return compare_exact(a, b, c);
  double largest = 0, error = 0;
  int64_t n = array_numbers(a);
  for (int64_t i = 0; i < n; i++) {
    double x = array_get(a, i), y = array_get(b, i);
    if (isnan(x) != isnan(y))
      return differ(c, "NaN on one side", i / a->type->parts, x, y);
    if (isinf(x) || isinf(y)) {
      if (x != y)
        return differ(c, "infinite on one side", i / a->type->parts, x, y);
    } else if (!isnan(x)) {
      largest = fmax(largest, fabs(y));
      error = fmax(error, fabs(x - y));
    }
  }
  c.error = largest > 0 ? error / largest : error;
  c.ok = c.error <= c.tolerance;
  return c;
}

bool is_constant(const array *a) {
  int64_t n = array_count(a);
  for (int64_t i = 1; i < n; i++)
    if (memcmp(a->data, (char *)a->data + i * a->type->size, (size_t)a->type->size) != 0)
      return false;
  return n > 1;
}
