/* Matches the epilogues of cuBLASLt (bias, ReLU, GELU with tanh) as expressions of elements. */
#include "passes/fuse/rows/row_activation.h"

#include <math.h>

enum { MAX_PARTS = 8 };

static const double ROOT = 0.7978845608028654,
                    /* sqrt(2 / pi); Hendrycks and Gimpel, Gaussian Error Linear Units, 2016 */
    CUBE = 0.044715;

static const tp__row_node *at(const tp__rows *rows, int node) { return &rows->nodes[node]; }

/* True if the node is a constant near `number`. The tolerance is that of the program's element
 * type, because constants of f16 and bf16 programs may have this type. */
static bool is_number_near(const tp__rows *rows, int node, double number) {
  MlirType element = tp__element_type(mlirValueGetType(rows->root));
  double error = mlirTypeIsABF16(element) ? 0x1p-8 : mlirTypeIsAF16(element) ? 0x1p-10 : 1e-6;
  node = tp__row_exact(rows, node);
  return at(rows, node)->kind == TP_ROW_NUMBER &&
         fabs(at(rows, node)->number - number) <= error * fabs(number);
}

static bool same(const tp__rows *rows, int a, int b) {
  return tp__row_exact(rows, a) == tp__row_exact(rows, b);
}

/* Matches root or root + bias. */
static bool match_sum(const tp__rows *rows, int node, int n_columns, MlirValue *bias) {
  int parts[2], n = tp__row_parts(rows, TP_ROW_ADD, node, TP_ROW_UNKNOWN, 2, parts),
                columns[TP_MAX_RANK], n_roots = 0;
  *bias = (MlirValue){NULL};
  for (int i = 0; i < n_columns; i++)
    columns[i] = rows->rank - n_columns + i;
  for (int i = 0; i < n; i++) {
    int part = tp__row_exact(rows, parts[i]);
    if (tp__row_is_root(rows, part))
      n_roots++;
    else if (tp__row_is_along(rows, part, n_columns, columns))
      *bias = at(rows, part)->value;
  }
  return n > 0 && n_roots == 1 && (n == 1 || !mlirValueIsNull(*bias));
}

/* Splits a product into factors and removes one constant near `number`. Returns the number of the
 * other factors, or -1 if there is no such constant. */
static int factors_with(const tp__rows *rows, int node, int whole, double number, int *factors) {
  int parts[MAX_PARTS], n = tp__row_parts(rows, TP_ROW_MULTIPLY, node, whole, MAX_PARTS, parts),
                        kept = 0;
  bool found = false;
  for (int i = 0; i < n; i++)
    if (!found && is_number_near(rows, parts[i], number))
      found = true;
    else
      factors[kept++] = parts[i];
  return found ? kept : -1;
}

/* Matches number * x^power. */
static bool is_power(const tp__rows *rows, int node, int x, double number, int power) {
  int factors[MAX_PARTS], n = factors_with(rows, node, x, number, factors);
  for (int i = 0; i < n; i++)
    if (!same(rows, factors[i], x))
      return false;
  return n == power;
}

/* Matches x + 0.044715 x^3, or with x factored out (`without_x`) 1 + 0.044715 x^2. */
static bool is_bent(const tp__rows *rows, int node, int x, bool without_x) {
  int parts[2];
  if (tp__row_parts(rows, TP_ROW_ADD, node, x, 2, parts) != 2)
    return false;
  for (int i = 0; i < 2; i++) {
    bool first = without_x ? is_number_near(rows, parts[i], 1) : same(rows, parts[i], x);
    if (first && is_power(rows, parts[1 - i], x, CUBE, without_x ? 2 : 3))
      return true;
  }
  return false;
}

/* Matches tanh(sqrt(2 / pi) (x + 0.044715 x^3)). */
static bool is_tangent(const tp__rows *rows, int node, int x) {
  node = tp__row_exact(rows, node);
  if (at(rows, node)->kind != TP_ROW_TANH)
    return false;
  int factors[MAX_PARTS], n = factors_with(rows, at(rows, node)->a, x, ROOT, factors);
  if (n == 1)
    return is_bent(rows, factors[0], x, false);
  for (int i = 0; i < 2 && n == 2; i++)
    if (same(rows, factors[i], x) && is_bent(rows, factors[1 - i], x, true))
      return true;
  return false;
}

/* Matches 1 + tanh(..). */
static bool is_share(const tp__rows *rows, int node, int x) {
  int parts[2];
  if (tp__row_parts(rows, TP_ROW_ADD, node, TP_ROW_UNKNOWN, 2, parts) != 2)
    return false;
  for (int i = 0; i < 2; i++)
    if (is_number_near(rows, parts[i], 1) && is_tangent(rows, parts[1 - i], x))
      return true;
  return false;
}

/* Returns x of gelu(x), else TP_ROW_UNKNOWN. */
static int of_gelu(const tp__rows *rows, int node) {
  int factors[MAX_PARTS];
  if (factors_with(rows, node, TP_ROW_UNKNOWN, 0.5, factors) != 2)
    return TP_ROW_UNKNOWN;
  for (int i = 0; i < 2; i++)
    if (is_share(rows, factors[1 - i], factors[i]))
      return factors[i];
  return TP_ROW_UNKNOWN;
}

/* Returns x of max(x, 0), else TP_ROW_UNKNOWN. */
static int of_relu(const tp__rows *rows, int node) {
  node = tp__row_exact(rows, node);
  const tp__row_node *n = at(rows, node);
  if (n->kind != TP_ROW_MAXIMUM)
    return TP_ROW_UNKNOWN;
  bool first = at(rows, n->a)->kind == TP_ROW_NUMBER;
  int number = first ? n->a : n->b;
  return at(rows, number)->kind == TP_ROW_NUMBER && at(rows, number)->number == 0
             ? (first ? n->b : n->a)
             : TP_ROW_UNKNOWN;
}

bool tp__match_row_activation(const tp__rows *rows, int node, int n_columns,
                              tp__row_activation *activation) {
  if (node < 0)
    return false;
  const struct {
    tp__row_function function;
    int x;
  } forms[] = {{TP_ROW_RELU, of_relu(rows, node)},
               {TP_ROW_GELU, of_gelu(rows, node)},
               {TP_ROW_IDENTITY, node}};
  for (int i = 0; i < TP_LEN(forms); i++) {
    activation->function = forms[i].function;
    if (forms[i].x >= 0 && match_sum(rows, forms[i].x, n_columns, &activation->bias))
      return activation->function != TP_ROW_IDENTITY || !mlirValueIsNull(activation->bias);
  }
  return false;
}

bool tp__is_sum_with_rows(const tp__rows *rows, int node, int n_columns) {
  int parts[2], dims[TP_MAX_RANK],
      n = node < 0 ? 0 : tp__row_parts(rows, TP_ROW_ADD, node, TP_ROW_UNKNOWN, 2, parts);
  for (int d = 0; d < rows->rank; d++)
    dims[d] = d;
  for (int i = 0; i < 2 && n == 2; i++) {
    int other = tp__row_exact(rows, parts[1 - i]);
    if (tp__row_is_root(rows, tp__row_exact(rows, parts[i])) &&
        at(rows, other)->kind == TP_ROW_VALUE && !tp__row_is_root(rows, other))
      return !tp__row_is_along(rows, other, rows->rank, dims) &&
             !tp__row_is_along(rows, other, n_columns, dims + rows->rank - n_columns);
  }
  return false;
}
