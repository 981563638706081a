/* Matches the quantization of rows to f8 as row expressions. */
#include "passes/fuse/rows/row_quantize.h"

#include <float.h>
#include <math.h>

static const double MAX_F8 = 448;

static const tp__row_node *at(const tp__rows *rows, int node) { return &rows->nodes[node]; }

/* Returns the other operand of a commutative node that has a constant operand; TP_ROW_UNKNOWN if
 * neither operand is a constant. */
static int operand_with_number(const tp__rows *rows, int node, tp__row_kind kind, double *number) {
  const tp__row_node *n = at(rows, node);
  if (n->kind != kind)
    return TP_ROW_UNKNOWN;
  bool first = at(rows, n->a)->kind == TP_ROW_NUMBER;
  if (!first && at(rows, n->b)->kind != TP_ROW_NUMBER)
    return TP_ROW_UNKNOWN;
  *number = at(rows, first ? n->a : n->b)->number;
  return first ? n->b : n->a;
}

/* Returns x of max(min(x, 448), -448), with min and max in any order. */
static int of_clamp(const tp__rows *rows, int node) {
  static const tp__row_kind kinds[] = {TP_ROW_MAXIMUM, TP_ROW_MINIMUM};
  static const double signs[] = {-1, 1};
  for (int first = 0; first < 2; first++) {
    int x = node;
    for (int i = 0; i < 2 && x >= 0; i++) {
      double number = NAN;
      int k = first ^ i;
      x = operand_with_number(rows, x, kinds[k], &number);
      x = number == signs[k] * MAX_F8 ? x : TP_ROW_UNKNOWN;
    }
    if (x >= 0)
      return x;
  }
  return TP_ROW_UNKNOWN;
}

/* Returns s of y / s. */
static int divisor_of(const tp__rows *rows, int node, int y) {
  const tp__row_node *n = at(rows, node);
  if (n->kind != TP_ROW_MULTIPLY || (n->a != y && n->b != y))
    return TP_ROW_UNKNOWN;
  int other = n->a == y ? n->b : n->a;
  return at(rows, other)->kind == TP_ROW_RECIPROCAL ? at(rows, other)->a : TP_ROW_UNKNOWN;
}

/* Returns x of x / 448. */
static int of_share(const tp__rows *rows, int node) {
  const tp__row_node *n = at(rows, node);
  if (n->kind != TP_ROW_MULTIPLY)
    return TP_ROW_UNKNOWN;
  for (int i = 0; i < 2; i++) {
    int number = i ? n->a : n->b;
    bool inverse = at(rows, number)->kind == TP_ROW_RECIPROCAL &&
                   tp__row_is_close(rows, at(rows, number)->a, MAX_F8);
    if (inverse || tp__row_is_close(rows, number, 1 / MAX_F8))
      return i ? n->b : n->a;
  }
  return TP_ROW_UNKNOWN;
}

/* Matches max(max |y|, least). The max is over the row or over its group; TP_NOT_QUANTIZED for
 * other forms. Intermediate rounding is ignored: the max of rounded numbers is one of these
 * numbers. */
static tp__row_quantize_kind match_max_abs(const tp__rows *rows, int node, int y, double *least) {
  enum { MAX_PARTS = 4 };
  int parts[MAX_PARTS], n_largest = 0;
  int n = tp__row_parts(rows, TP_ROW_MAXIMUM, node, TP_ROW_UNKNOWN, MAX_PARTS, parts);
  tp__row_quantize_kind kind = TP_NOT_QUANTIZED;
  *least = 0;
  for (int i = 0; i < n; i++) {
    const tp__row_node *part = at(rows, tp__row_exact(rows, parts[i]));
    if (part->kind == TP_ROW_NUMBER) {
      *least = fmax(*least, part->number);
      continue;
    }
    kind = part->kind == TP_ROW_REDUCE_MAX         ? TP_QUANTIZED_PER_TOKEN
           : part->kind == TP_ROW_GROUP_REDUCE_MAX ? TP_QUANTIZED_PER_GROUP
                                                   : TP_NOT_QUANTIZED;
    const tp__row_node *magnitude =
        kind == TP_NOT_QUANTIZED ? part : at(rows, tp__row_exact(rows, part->a));
    if (magnitude->kind != TP_ROW_ABSOLUTE || magnitude->a != y)
      return TP_NOT_QUANTIZED;
    n_largest++;
  }
  return n_largest == 1 ? kind : TP_NOT_QUANTIZED;
}

static bool is_valid_min(double number) { return number >= 0 && number <= (double)FLT_MAX; }

/* Matches the scale. Returns NULL or the obstacle. */
static const char *match_scale(const tp__rows *rows, int node, int y, tp__row_quantization *q) {
  q->scale = node;
  if (tp__row_is_along(rows, node, 0, NULL)) {
    q->kind = TP_QUANTIZED_STATIC;
    q->static_scale = at(rows, node)->value;
    return mlirTypeIsAF32(tp__element_type(mlirValueGetType(q->static_scale)))
               ? NULL
               : "its scale is not f32";
  }
  int guarded = operand_with_number(rows, node, TP_ROW_MAXIMUM, &q->least_scale),
      share = of_share(rows, guarded < 0 ? node : guarded);
  q->least_scale = guarded < 0 ? 0 : q->least_scale;
  q->kind = share < 0 ? TP_NOT_QUANTIZED : match_max_abs(rows, share, y, &q->least_largest);
  if (q->kind == TP_NOT_QUANTIZED || !is_valid_min(q->least_largest) ||
      !is_valid_min(q->least_scale))
    return "its scale is neither a given value nor the largest magnitude of its row or group / 448 "
           "in f32";
  if (q->kind == TP_QUANTIZED_PER_GROUP && rows->group != TP_ROW_KERNEL_GROUP)
    return "its groups do not have 128 elements";
  return q->least_largest > 0 || q->least_scale > 0 ? NULL
                                                    : "its scale is 0 for a row or group of zeros";
}

bool tp__match_row_quantization(const tp__rows *rows, int node, int y,
                                tp__row_quantization *quantization) {
  *quantization = (tp__row_quantization){.scale = TP_ROW_UNKNOWN};
  if (node < 0 || y < 0 || at(rows, node)->kind != TP_ROW_ROUND ||
      !mlirTypeIsAFloat8E4M3FN(at(rows, node)->type))
    return false;
  int x = of_clamp(rows, at(rows, node)->a),
      scale = x < 0 ? TP_ROW_UNKNOWN : divisor_of(rows, x, y);
  const char *obstacle = x < 0       ? "it is not clamped to [-448, 448]"
                         : scale < 0 ? "it is not a row divided by a scale in f32"
                                     : match_scale(rows, scale, y, quantization);
  if (obstacle)
    *quantization = (tp__row_quantization){.scale = TP_ROW_UNKNOWN, .obstacle = obstacle};
  return !obstacle;
}
