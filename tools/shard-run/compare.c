/* Compares two arrays within the tolerance of their element type. */
#include "compare.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double compare_tolerance_of_unit(double unit) {
  /* f8: the spacing of numbers next to the largest */
  return unit >= 0x1p-4 ? 8e-2 : unit >= 0x1p-11 ? 2e-2 : 0;
}

double compare_tolerance(const element *type, bool against_expected) {
  if (type->kind != 'f')
    return 0;
  if (type->narrow)
    return compare_tolerance_of_unit(type->size == 1 ? 0x1p-4 : 0x1p-8);
  if (against_expected)
    return 1e-4;
  return type->size == 8 * type->parts ? 1e-12 : 1e-5;
}

static comparison differ(comparison c, const char *what, int64_t i, double value,
                         double reference) {
  c.ok = false;
  c.error = INFINITY;
  snprintf(c.what, sizeof c.what, "%s at element %lld: %g, reference %g", what, (long long)i, value,
           reference);
  return c;
}

/* Compares integers bitwise, so that all 64 bits count. */
static comparison compare_exact(const array *a, const array *b, comparison c) {
  for (int64_t i = 0; i < array_count(a); i++)
    if (memcmp((char *)a->data + i * a->type->size, (char *)b->data + i * a->type->size,
               (size_t)a->type->size) != 0)
      return differ(c, "different", i, array_get(a, i), array_get(b, i));
  return c;
}

double compare_scale(const array *a) {
  double largest = INFINITY;
  for (;;) {
    /* the largest magnitude below the masks found so far, and the next lower one */
    double next = 0, below = 0;
    int64_t n = array_numbers(a), n_next = 0;
    for (int64_t i = 0; i < n; i++) {
      double x = fabs(array_get(a, i));
      if (!isfinite(x) || x >= largest)
        continue;
      if (x > next) {
        below = next;
        next = x;
        n_next = 0;
      } else if (x < next) {
        below = fmax(below, x);
      }
      n_next += x == next;
    }
    bool is_mask = next >= 1e4 && n_next > 1 && below <= 1e-4 * next && below > 0;
    if (!is_mask)
      return next;
    largest = next;
  }
}

double compare_least(const element *type) {
  if (type->size == 8 * type->parts)
    return DBL_MIN;
  bool is_f16 = type->size == 2 && type->name[0] == 'f';
  return is_f16 ? 0x1p-14 : type->size == 1 ? 0 : FLT_MIN;
}

comparison compare_arrays(const array *a, const array *b, bool against_expected, double least) {
  comparison c = {.done = true,
                  .ok = true,
                  .error_of_one = -1,
                  .error_of_rounding = -1,
                  .tolerance = compare_tolerance(a->type, against_expected)};
  if (a->type->kind != 'f')
    return compare_exact(a, b, c);
  c.tolerance = fmax(c.tolerance, least);
  double scale = compare_scale(b), error = 0;
  int64_t n = array_numbers(a);
  for (int64_t i = 0; i < n; i++) {
    double x = array_get(a, i), y = array_get(b, i);
    if (isnan(x) != isnan(y))
      return differ(c, "NaN on one side", i / a->type->parts, x, y);
    if (isinf(x) || isinf(y)) {
      if (x != y)
        return differ(c, "infinite on one side", i / a->type->parts, x, y);
    } else if (!isnan(x)) {
      error = fmax(error, fabs(x - y));
    }
  }
  c.scale = scale > 0 ? fmax(scale, compare_least(a->type)) : 1;
  c.error = error / c.scale;
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
