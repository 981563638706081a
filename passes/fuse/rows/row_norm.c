/* Matches sums with bias and residual, and RMS and layer norms, as row expressions. */
#include "passes/fuse/rows/row_norm.h"

#include <math.h>

enum { MAX_PARTS = 8 };

static const tp__row_node *at(const tp__rows *rows, int node) { return &rows->nodes[node]; }

/* Returns the tensor if `node` is its element at the same place of the frame, or at the same place
 * of the row. */
static bool is_whole(const tp__rows *rows, int node, MlirValue *value) {
  int dims[TP_MAX_RANK];
  for (int d = 0; d < rows->rank; d++)
    dims[d] = d;
  if (!tp__row_is_along(rows, node, rows->rank, dims))
    return false;
  *value = at(rows, node)->value;
  return true;
}

static bool is_of_row(const tp__rows *rows, int node, MlirValue *value) {
  int dim = rows->rank - 1;
  if (!tp__row_is_along(rows, node, 1, &dim))
    return false;
  *value = at(rows, node)->value;
  return true;
}

/* ---- sums ---- */

bool tp__match_row_sum(const tp__rows *rows, int node, tp__row_sum *sum) {
  int parts[MAX_PARTS], n_roots = 0;
  int n = tp__row_parts(rows, TP_ROW_ADD, node, TP_ROW_UNKNOWN, MAX_PARTS, parts);
  MlirType element = tp__element_type(mlirValueGetType(rows->root));
  bool rounded =
      at(rows, node)->kind == TP_ROW_ROUND && mlirTypeEqual(at(rows, node)->type, element);
  *sum = (tp__row_sum){.node = node};
  if (n < 1 || (n > 1 && !rounded && !mlirTypeIsAF32(element)))
    return false;
  for (int i = 0; i < n; i++) {
    int part = tp__row_exact(rows, parts[i]);
    MlirValue value;
    if (tp__row_is_root(rows, part))
      n_roots++;
    else if (mlirValueIsNull(sum->residual) && is_whole(rows, part, &value) &&
             mlirTypeEqual(tp__element_type(mlirValueGetType(value)), element))
      sum->residual = value;
    else if (mlirValueIsNull(sum->bias) && is_of_row(rows, part, &value) &&
             mlirTypeEqual(tp__element_type(mlirValueGetType(value)), element))
      sum->bias = value;
    else
      return false;
  }
  return n_roots == 1;
}

/* ---- norms ---- */

static int exact_operand(const tp__rows *rows, int node) {
  return tp__row_exact(rows, at(rows, node)->a);
}

/* Bits of `seen`: which factors of a mean were found, the sum of the row and 1 / hidden. */
enum { SEEN_SUM = 1, SEEN_SHARE = 2, SEEN_MEAN = SEEN_SUM | SEEN_SHARE };

static int mean_factor(const tp__rows *rows, int part, int *summed) {
  double hidden = (double)rows->shape[rows->rank - 1];
  part = tp__row_exact(rows, part);
  if (at(rows, part)->kind == TP_ROW_SUM) {
    *summed = at(rows, part)->a;
    return SEEN_SUM;
  }
  bool share = tp__row_is_close(rows, part, 1 / hidden) ||
               (at(rows, part)->kind == TP_ROW_RECIPROCAL &&
                tp__row_is_close(rows, exact_operand(rows, part), hidden));
  return share ? SEEN_SHARE : 0;
}

/* Matches sign * mean(x). Returns x or TP_ROW_UNKNOWN. */
static int mean_of(const tp__rows *rows, int node, double sign) {
  int parts[MAX_PARTS],
      n = tp__row_parts(rows, TP_ROW_MULTIPLY, node, TP_ROW_UNKNOWN, MAX_PARTS, parts), seen = 0,
      summed = TP_ROW_UNKNOWN;
  double product = 1;
  for (int i = 0; i < n; i++) {
    int bit = mean_factor(rows, parts[i], &summed);
    if (bit == 0 && tp__row_is_close(rows, tp__row_exact(rows, parts[i]), -1))
      product = -product;
    else if (bit == 0 || seen & bit)
      return TP_ROW_UNKNOWN;
    seen |= bit;
  }
  return n > 0 && seen == SEEN_MEAN && product == sign ? summed : TP_ROW_UNKNOWN;
}

/* Matches x - mean(x). */
static bool is_centred(const tp__rows *rows, int node, int x) {
  int parts[2];
  if (tp__row_parts(rows, TP_ROW_ADD, node, x, 2, parts) != 2)
    return false;
  for (int i = 0; i < 2; i++)
    if (parts[i] == x && mean_of(rows, parts[1 - i], -1) == x)
      return true;
  return false;
}

static bool is_square(const tp__rows *rows, int node, int *of) {
  node = tp__row_exact(rows, node);
  if (node < 0 || at(rows, node)->kind != TP_ROW_MULTIPLY)
    return false;
  int a = at(rows, node)->a, b = at(rows, node)->b;
  *of = a;
  return a == b || tp__row_exact(rows, a) == tp__row_exact(rows, b);
}

/* Matches -mean(x)^2. */
static bool is_negative_square_of_mean(const tp__rows *rows, int node, int x) {
  int parts[MAX_PARTS],
      n = tp__row_parts(rows, TP_ROW_MULTIPLY, node, TP_ROW_UNKNOWN, MAX_PARTS, parts), n_sums = 0,
      n_shares = 0, n_signs = 0;
  for (int i = 0; i < n; i++) {
    int summed = TP_ROW_UNKNOWN, bit = mean_factor(rows, parts[i], &summed);
    n_sums += bit == SEEN_SUM && summed == x;
    n_shares += bit == SEEN_SHARE;
    n_signs += bit == 0 && tp__row_is_close(rows, tp__row_exact(rows, parts[i]), -1);
  }
  return n == 5 && n_sums == 2 && n_shares == 2 && n_signs == 1;
}

/* Returns TP_RMS_NORM if the n terms add up to the mean of squares of x, TP_LAYER_NORM if they add
 * up to its variance. */
static tp__row_norm_kind kind_of_spread(const tp__rows *rows, int n, const int *terms, int x) {
  int squared;
  if (n == 1 && at(rows, tp__row_exact(rows, terms[0]))->kind ==
                    TP_ROW_MAXIMUM) { /* max(variance, 0), where the variance is a difference */
    const tp__row_node *maximum = at(rows, tp__row_exact(rows, terms[0]));
    int parts[MAX_PARTS];
    bool a_is_zero = tp__row_is_close(rows, maximum->a, 0),
         b_is_zero = tp__row_is_close(rows, maximum->b, 0);
    int n_parts = a_is_zero || b_is_zero
                      ? tp__row_parts(rows, TP_ROW_ADD, a_is_zero ? maximum->b : maximum->a, x,
                                      MAX_PARTS, parts)
                      : 0;
    return n_parts == 2 ? kind_of_spread(rows, 2, parts, x) : TP_NO_NORM;
  }
  if (n == 1 && is_square(rows, mean_of(rows, terms[0], 1), &squared))
    return tp__row_exact(rows, squared) == tp__row_exact(rows, x) ? TP_RMS_NORM
           : is_centred(rows, tp__row_exact(rows, squared), x)    ? TP_LAYER_NORM
                                                                  : TP_NO_NORM;
  for (int i = 0; i < 2 && n == 2; i++)
    if (is_square(rows, mean_of(rows, terms[i], 1), &squared) &&
        tp__row_exact(rows, squared) == tp__row_exact(rows, x) &&
        is_negative_square_of_mean(rows, terms[1 - i], x))
      return TP_LAYER_NORM;
  return TP_NO_NORM;
}

/* Matches 1 / sqrt(spread + epsilon). Returns the kind of spread. */
static tp__row_norm_kind match_scale(const tp__rows *rows, int node, int x, double *epsilon) {
  int terms[MAX_PARTS], n_terms = 0;
  if (at(rows, node)->kind != TP_ROW_RECIPROCAL ||
      at(rows, exact_operand(rows, node))->kind != TP_ROW_SQRT)
    return TP_NO_NORM;
  int n =
      tp__row_parts(rows, TP_ROW_ADD, at(rows, exact_operand(rows, node))->a, x, MAX_PARTS, terms);
  bool found = false;
  *epsilon = 0;
  for (int i = 0; i < n; i++) {
    int term = tp__row_exact(rows, terms[i]);
    if (at(rows, term)->kind != TP_ROW_NUMBER)
      terms[n_terms++] = terms[i];
    else if (found)
      return TP_NO_NORM;
    else
      *epsilon = at(rows, term)->number;
    found |= at(rows, term)->kind == TP_ROW_NUMBER;
  }
  return n > 0 && *epsilon >= 0 && isfinite(*epsilon) ? kind_of_spread(rows, n_terms, terms, x)
                                                      : TP_NO_NORM;
}

/* Matches x * scale * gamma and (x - mean(x)) * scale * gamma. */
static bool match_product(const tp__rows *rows, int node, int x, tp__row_norm *norm) {
  int parts[MAX_PARTS], n = tp__row_parts(rows, TP_ROW_MULTIPLY, node, x, MAX_PARTS, parts);
  tp__row_norm_kind center = TP_NO_NORM;
  for (int i = 0; i < n; i++) {
    int part = tp__row_exact(rows, parts[i]);
    double epsilon;
    tp__row_norm_kind scale = match_scale(rows, part, x, &epsilon);
    if (scale != TP_NO_NORM && norm->kind == TP_NO_NORM) {
      norm->kind = scale;
      norm->epsilon = epsilon;
    } else if (center == TP_NO_NORM && (parts[i] == x || part == x)) {
      center = TP_RMS_NORM;
    } else if (center == TP_NO_NORM && is_centred(rows, part, x)) {
      center = TP_LAYER_NORM;
    } else if (!mlirValueIsNull(norm->gamma) || !is_of_row(rows, part, &norm->gamma)) {
      return false;
    }
  }
  return n > 0 && norm->kind != TP_NO_NORM && norm->kind == center && !mlirValueIsNull(norm->gamma);
}

bool tp__match_row_norm(const tp__rows *rows, int node, int x, tp__row_norm *norm) {
  int terms[2], n = node < 0 ? 0 : tp__row_parts(rows, TP_ROW_ADD, node, x, 2, terms);
  *norm = (tp__row_norm){0};
  if (n == 1)
    return match_product(rows, terms[0], x, norm);
  for (int i = 0; i < 2 && n == 2; i++) {
    *norm = (tp__row_norm){0};
    if (is_of_row(rows, tp__row_exact(rows, terms[1 - i]), &norm->beta) &&
        match_product(rows, terms[i], x, norm))
      return norm->kind == TP_LAYER_NORM;
  }
  return false;
}
