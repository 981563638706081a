/* Creates and normalizes nodes of row expressions. Equal nodes are shared. */
#include "passes/fuse/rows/row_nodes.h"

#include <math.h>
#include <string.h>

/* ---- nodes ---- */

/* Compares bitwise: 0 and -0 differ, and a NaN equals itself. */
static bool same_number(double x, double y) {
  uint64_t x_bits, y_bits;
  memcpy(&x_bits, &x, sizeof x);
  memcpy(&y_bits, &y, sizeof y);
  return x_bits == y_bits;
}

static bool same_node(const tp__row_node *x, const tp__row_node *y) {
  return x->kind == y->kind && x->a == y->a && x->b == y->b && same_number(x->number, y->number) &&
         x->value.ptr == y->value.ptr && x->type.ptr == y->type.ptr &&
         memcmp(x->dims, y->dims, sizeof x->dims) == 0;
}

static int add_node(tp__rows *rows, const tp__row_node *node) {
  for (int i = 0; i < rows->n; i++)
    if (same_node(&rows->nodes[i], node))
      return i;
  if (rows->n == TP_ROW_NODES)
    return TP_ROW_UNKNOWN;
  rows->nodes[rows->n] = *node;
  return rows->n++;
}

static int number_node(tp__rows *rows, double number) {
  return add_node(rows, &(tp__row_node){.kind = TP_ROW_NUMBER, .a = -1, .b = -1, .number = number});
}

static bool is_number(const tp__rows *rows, int node, double number) {
  return rows->nodes[node].kind == TP_ROW_NUMBER && rows->nodes[node].number == number;
}

/* Returns the neutral element of the op, or NaN if it has none. */
static double neutral_of(tp__row_kind kind) {
  return kind == TP_ROW_ADD        ? 0
         : kind == TP_ROW_MULTIPLY ? 1
         : kind == TP_ROW_MAXIMUM  ? -INFINITY
         : kind == TP_ROW_MINIMUM  ? INFINITY
                                   : NAN;
}

/* True for a node that is 1 where a condition is true and 0 elsewhere. */
static bool is_choice(const tp__rows *rows, int node) {
  return rows->nodes[node].kind == TP_ROW_WHERE && is_number(rows, rows->nodes[node].b, 1);
}

int tp__row_op_node(tp__rows *rows, tp__row_kind kind, int a, int b) {
  bool commutes = kind == TP_ROW_ADD || kind == TP_ROW_MULTIPLY || kind == TP_ROW_MAXIMUM ||
                  kind == TP_ROW_MINIMUM || kind == TP_ROW_EQUAL,
       two = commutes || kind == TP_ROW_WHERE;
  if (a < 0 || (two && b < 0))
    return TP_ROW_UNKNOWN;
  if (commutes && b < a)
    return tp__row_op_node(rows, kind, b, a);
  if (kind == TP_ROW_MULTIPLY && a == b && rows->nodes[a].kind == TP_ROW_ABSOLUTE)
    a = b = rows->nodes[a].a;
  if (commutes && (is_number(rows, a, neutral_of(kind)) || is_number(rows, b, neutral_of(kind))))
    return is_number(rows, a, neutral_of(kind)) ? b : a;
  if (kind == TP_ROW_MULTIPLY && a != b && (is_choice(rows, a) || is_choice(rows, b)))
    return tp__row_op_node(rows, TP_ROW_WHERE, rows->nodes[is_choice(rows, a) ? a : b].a,
                           is_choice(rows, a) ? b : a);
  return add_node(rows, &(tp__row_node){.kind = kind, .a = a, .b = two ? b : -1});
}

static int negative_node(tp__rows *rows, int a) {
  return tp__row_op_node(rows, TP_ROW_MULTIPLY, number_node(rows, -1), a);
}

static int power_node(tp__rows *rows, int base, int exponent) {
  if (base < 0 || exponent < 0 || rows->nodes[exponent].kind != TP_ROW_NUMBER)
    return TP_ROW_UNKNOWN;
  double n = rows->nodes[exponent].number;
  if (n == 2)
    return tp__row_op_node(rows, TP_ROW_MULTIPLY, base, base);
  if (n == 0.5)
    return tp__row_op_node(rows, TP_ROW_SQRT, base, -1);
  return n == -0.5 ? tp__row_op_node(rows, TP_ROW_RECIPROCAL,
                                     tp__row_op_node(rows, TP_ROW_SQRT, base, -1), -1)
                   : TP_ROW_UNKNOWN;
}

static int round_node(tp__rows *rows, int a, MlirType type) {
  if (a < 0)
    return TP_ROW_UNKNOWN;
  if (rows->nodes[a].kind == TP_ROW_NUMBER && mlirTypeIsAF32(type))
    return number_node(rows, (double)(float)rows->nodes[a].number);
  return add_node(rows, &(tp__row_node){.kind = TP_ROW_ROUND, .a = a, .b = -1, .type = type});
}

int tp__row_value_node(tp__rows *rows, MlirValue value, int rank, const int *dims) {
  tp__row_node node = {.kind = TP_ROW_VALUE, .a = -1, .b = -1, .value = value};
  memcpy(node.dims, dims, (size_t)rank * sizeof *dims);
  return add_node(rows, &node);
}

int tp__row_column_node(tp__rows *rows) {
  return add_node(rows, &(tp__row_node){.kind = TP_ROW_COLUMN, .a = -1, .b = -1});
}

int tp__row_exact(const tp__rows *rows, int node) {
  while (node >= 0 && rows->nodes[node].kind == TP_ROW_ROUND)
    node = rows->nodes[node].a;
  return node;
}

int tp__row_parts(const tp__rows *rows, tp__row_kind kind, int node, int whole, int max,
                  int *parts) {
  int n = 0, stack[TP_ROW_NODES], top = 0;
  stack[top++] = node;
  while (top > 0) {
    int i = stack[--top], exact = tp__row_exact(rows, i);
    if (i != whole && exact >= 0 && rows->nodes[exact].kind == kind && top + 2 <= TP_ROW_NODES) {
      stack[top++] = rows->nodes[exact].b;
      stack[top++] = rows->nodes[exact].a;
    } else if (n == max) {
      return -1;
    } else {
      parts[n++] = i;
    }
  }
  return n;
}

/* Returns the first index from `i` on whose dimension in `dims` is longer than 1, or n. The frame
 * itself may have dimensions of size 1. */
static int next_long(const tp__rows *rows, int n, const int *dims, int i) {
  while (i < n && rows->shape[dims[i]] == 1)
    i++;
  return i;
}

bool tp__row_is_along(const tp__rows *rows, int node, int n, const int *dims) {
  int rank, at = next_long(rows, n, dims, 0);
  int64_t shape[TP_MAX_RANK];
  if (node < 0 || rows->nodes[node].kind != TP_ROW_VALUE ||
      !tp__static_tensor(mlirValueGetType(rows->nodes[node].value), &rank, shape))
    return false;
  for (int d = 0; d < rank; d++) {
    if (rows->nodes[node].dims[d] == TP_ROW_UNIT)
      continue;
    if (at == n || rows->nodes[node].dims[d] != dims[at])
      return false;
    at = next_long(rows, n, dims, at + 1);
  }
  return at == n;
}

/* ---- constants ---- */

int tp__row_number_node(tp__rows *rows, MlirAttribute attr) {
  if (mlirAttributeIsNull(attr))
    return TP_ROW_UNKNOWN;
  if (mlirAttributeIsAFloat(attr))
    return number_node(rows, mlirFloatAttrGetValueDouble(attr));
  if (mlirAttributeIsADenseElements(attr) && mlirDenseElementsAttrIsSplat(attr) &&
      mlirTypeIsAFloat(tp__element_type(mlirAttributeGetType(attr))))
    return number_node(rows, mlirFloatAttrGetValueDouble(mlirDenseElementsAttrGetSplatValue(attr)));
  return mlirAttributeIsAInteger(attr)
             ? number_node(rows, (double)mlirIntegerAttrGetValueSInt(attr))
             : TP_ROW_UNKNOWN;
}

/* ---- scalar ops ---- */

typedef enum scalar_op {
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  NEGATE,
  ROOT,
  INVERSE_ROOT,
  POWER,
  ABSOLUTE,
  MAXIMUM,
  MINIMUM,
  EXPONENTIAL,
  LOGARITHM,
  TANGENT,
  WIDEN,
  NARROW,
  ADD_INTEGERS,
  SAME_INTEGER,
  NUMBER_OF_CONDITION,
  COMPARE_INTEGERS,
  COMPARE,
  FINITE,
  SELECT
} scalar_op;

static const struct {
  const char *name;
  scalar_op op;
  int n_operands;
} scalar_ops[] = {
    {"arith.addf", ADD, 2},
    {"arith.subf", SUBTRACT, 2},
    {"arith.mulf", MULTIPLY, 2},
    {"arith.divf", DIVIDE, 2},
    {"arith.negf", NEGATE, 1},
    {"math.sqrt", ROOT, 1},
    {"math.rsqrt", INVERSE_ROOT, 1},
    {"math.powf", POWER, 2},
    {"math.fpowi", POWER, 2},
    {"math.absf", ABSOLUTE, 1},
    {"arith.extf", WIDEN, 1},
    {"arith.truncf", NARROW, 1},
    {"arith.maximumf", MAXIMUM, 2},
    {"arith.maxnumf", MAXIMUM, 2},
    {"arith.minimumf", MINIMUM, 2},
    {"math.exp", EXPONENTIAL, 1},
    {"math.log", LOGARITHM, 1},
    {"math.tanh", TANGENT, 1},
    {"arith.addi", ADD_INTEGERS, 2},
    {"arith.index_cast", SAME_INTEGER, 1},
    {"arith.extsi", SAME_INTEGER, 1},
    {"arith.sitofp", SAME_INTEGER, 1},
    {"arith.uitofp", NUMBER_OF_CONDITION, 1},
    {"arith.extui", NUMBER_OF_CONDITION, 1},
    {"arith.cmpi", COMPARE_INTEGERS, 2},
    {"arith.cmpf", COMPARE, 2},
    {"math.isfinite", FINITE, 1},
    {"arith.select", SELECT, 3},
};

/* Adds integers: a column index plus a scalar of the function. Other additions are not
 * supported. */
static int add_integers(tp__rows *rows, int a, int b) {
  if (a < 0 || b < 0)
    return TP_ROW_UNKNOWN;
  if (rows->nodes[b].kind == TP_ROW_COLUMN)
    return add_integers(rows, b, a);
  if (rows->nodes[a].kind != TP_ROW_COLUMN || !mlirValueIsNull(rows->nodes[a].value) ||
      rows->nodes[b].kind != TP_ROW_VALUE ||
      mlirTypeIsAShaped(mlirValueGetType(rows->nodes[b].value)))
    return TP_ROW_UNKNOWN;
  tp__row_node column = rows->nodes[a];
  column.value = rows->nodes[b].value;
  return add_node(rows, &column);
}

/* True for a conversion of a column index to fewer than 32 bits, which may change it. */
static bool is_narrow_column(const tp__rows *rows, MlirOperation op, int a) {
  MlirType to = mlirValueGetType(mlirOperationGetResult(op, 0));
  return a >= 0 && rows->nodes[a].kind == TP_ROW_COLUMN && mlirTypeIsAInteger(to) &&
         mlirIntegerTypeGetWidth(to) < 32;
}

/* Returns the node of an integer conversion, which keeps the value. Conversions to floating point
 * are followed only for 0/1 choices. */
static int same_integer(const tp__rows *rows, MlirOperation op, int a) {
  if (is_narrow_column(rows, op, a))
    return TP_ROW_UNKNOWN;
  return tp__op_is(op, "arith.sitofp") && (a < 0 || rows->nodes[a].kind != TP_ROW_WHERE)
             ? TP_ROW_UNKNOWN
             : a;
}

static int number_of_condition(tp__rows *rows, int a) {
  bool is_condition =
      a >= 0 && (rows->nodes[a].kind == TP_ROW_EQUAL || rows->nodes[a].kind == TP_ROW_FINITE);
  bool is_number = a >= 0 && is_choice(rows, a);
  return is_condition ? tp__row_op_node(rows, TP_ROW_WHERE, a, number_node(rows, 1))
         : is_number  ? a
                      : TP_ROW_UNKNOWN;
}

static int64_t predicate_of(MlirOperation op) {
  return mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate"));
}

/* Matches |a| < infinity and |a| != infinity. */
static int compare(tp__rows *rows, MlirOperation op, int a, int b) {
  enum { LESS = 4, DIFFERENT = 6 }; /* ordered predicates of arith.cmpf */
  int64_t predicate = predicate_of(op);
  bool finite = a >= 0 && b >= 0 && rows->nodes[a].kind == TP_ROW_ABSOLUTE &&
                is_number(rows, b, INFINITY) && (predicate == LESS || predicate == DIFFERENT);
  return finite ? tp__row_op_node(rows, TP_ROW_FINITE, rows->nodes[a].a, -1) : TP_ROW_UNKNOWN;
}

static int select_node(tp__rows *rows, const int *operands) {
  bool known = operands[0] >= 0 && operands[1] >= 0 && operands[2] >= 0 &&
               is_number(rows, operands[2], 0) &&
               (rows->nodes[operands[0]].kind == TP_ROW_EQUAL ||
                rows->nodes[operands[0]].kind == TP_ROW_FINITE);
  return known ? tp__row_op_node(rows, TP_ROW_WHERE, operands[0], operands[1]) : TP_ROW_UNKNOWN;
}

static int apply(tp__rows *rows, scalar_op op, MlirOperation of, const int *operands) {
  int a = operands[0], b = operands[1];
  switch (op) {
  case ADD:
    return tp__row_op_node(rows, TP_ROW_ADD, a, b);
  case SUBTRACT:
    return tp__row_op_node(rows, TP_ROW_ADD, a, negative_node(rows, b));
  case MULTIPLY:
    return tp__row_op_node(rows, TP_ROW_MULTIPLY, a, b);
  case DIVIDE:
    return tp__row_op_node(rows, TP_ROW_MULTIPLY, a,
                           tp__row_op_node(rows, TP_ROW_RECIPROCAL, b, -1));
  case NEGATE:
    return negative_node(rows, a);
  case ROOT:
    return tp__row_op_node(rows, TP_ROW_SQRT, a, -1);
  case INVERSE_ROOT:
    return tp__row_op_node(rows, TP_ROW_RECIPROCAL, tp__row_op_node(rows, TP_ROW_SQRT, a, -1), -1);
  case POWER:
    return power_node(rows, a, b);
  case ABSOLUTE:
    return tp__row_op_node(rows, TP_ROW_ABSOLUTE, a, -1);
  case MAXIMUM:
    return tp__row_op_node(rows, TP_ROW_MAXIMUM, a, b);
  case MINIMUM:
    return tp__row_op_node(rows, TP_ROW_MINIMUM, a, b);
  case EXPONENTIAL:
    return tp__row_op_node(rows, TP_ROW_EXPONENTIAL, a, -1);
  case LOGARITHM:
    return tp__row_op_node(rows, TP_ROW_LOGARITHM, a, -1);
  case TANGENT:
    return tp__row_op_node(rows, TP_ROW_TANH, a, -1);
  case WIDEN:
  case NARROW:
    return a;
  case ADD_INTEGERS:
    return add_integers(rows, a, b);
  case SAME_INTEGER:
    return same_integer(rows, of, a);
  case NUMBER_OF_CONDITION:
    return number_of_condition(rows, a);
  case COMPARE_INTEGERS:
    return predicate_of(of) == 0 ? tp__row_op_node(rows, TP_ROW_EQUAL, a, b) : TP_ROW_UNKNOWN;
  case COMPARE:
    return compare(rows, of, a, b);
  case FINITE:
    return tp__row_op_node(rows, TP_ROW_FINITE, a, -1);
  case SELECT:
    return select_node(rows, operands);
  }
  return TP_ROW_UNKNOWN;
}

static int find_scalar_op(MlirOperation op) {
  for (int i = 0; i < TP_LEN(scalar_ops); i++)
    if (tp__op_is(op, scalar_ops[i].name))
      return i;
  return -1;
}

int tp__row_op_operands(MlirOperation op) {
  int i = find_scalar_op(op);
  return i < 0 ? 0 : scalar_ops[i].n_operands;
}

/* Results narrower than f32 are rounded. */
int tp__row_apply(tp__rows *rows, MlirOperation op, const int *operands) {
  int i = find_scalar_op(op);
  if (i < 0)
    return TP_ROW_UNKNOWN;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0)),
           element = mlirTypeIsAShaped(type) ? tp__element_type(type) : type;
  int node = apply(rows, scalar_ops[i].op, op, operands);
  bool narrow = scalar_ops[i].op == NARROW || mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
  return narrow && scalar_ops[i].op != WIDEN ? round_node(rows, node, element) : node;
}

/* ---- questions ---- */

bool tp__row_is_root(const tp__rows *rows, int node) {
  int dims[TP_MAX_RANK];
  for (int d = 0; d < rows->rank; d++)
    dims[d] = d;
  return node >= 0 && rows->nodes[node].kind == TP_ROW_VALUE &&
         mlirValueEqual(rows->nodes[node].value, rows->root) &&
         tp__row_is_along(rows, node, rows->rank, dims);
}

bool tp__row_is_close(const tp__rows *rows, int node, double number) {
  return rows->nodes[node].kind == TP_ROW_NUMBER &&
         fabs(rows->nodes[node].number - number) <= 1e-6 * fabs(number);
}
