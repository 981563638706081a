/* Computes ranges of integer values by interval arithmetic. */
#include "ir/value_range.h"

#include "ir/ir.h"
#include "ir/place.h"
#include "support/support.h"

enum { BUDGET = 500 };

typedef struct query {
  const tp_mesh *mesh;
  tp__range_leaf leaf;
  void *data;
  int budget; /* number of ops that may still be visited; operands are followed as a tree */
} query;

typedef bool (*combine_fn)(tp__range a, tp__range b, tp__range *to);

static bool range_of(query *q, MlirValue value, tp__range *range);

static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

static bool add(tp__range a, tp__range b, tp__range *to) {
  return !__builtin_add_overflow(a.low, b.low, &to->low) &&
         !__builtin_add_overflow(a.high, b.high, &to->high);
}

static bool subtract(tp__range a, tp__range b, tp__range *to) {
  return !__builtin_sub_overflow(a.low, b.high, &to->low) &&
         !__builtin_sub_overflow(a.high, b.low, &to->high);
}

static bool multiply(tp__range a, tp__range b, tp__range *to) {
  int64_t x[4];
  if (__builtin_mul_overflow(a.low, b.low, &x[0]) || __builtin_mul_overflow(a.low, b.high, &x[1]) ||
      __builtin_mul_overflow(a.high, b.low, &x[2]) || __builtin_mul_overflow(a.high, b.high, &x[3]))
    return false;
  *to = (tp__range){min_of(min_of(x[0], x[1]), min_of(x[2], x[3])),
                    max_of(max_of(x[0], x[1]), max_of(x[2], x[3]))};
  return true;
}

/* All roundings agree for numbers that are not negative. */
static bool divide(tp__range a, tp__range b, tp__range *to) {
  *to = (tp__range){b.high > 0 ? a.low / b.high : 0, b.low > 0 ? a.high / b.low : 0};
  return a.low >= 0 && b.low > 0;
}

static bool divide_up(tp__range a, tp__range b, tp__range *to) {
  if (!divide(a, b, to))
    return false;
  to->low += a.low % b.high != 0;
  to->high += a.high % b.low != 0;
  return true;
}

static bool remainder_of(tp__range a, tp__range b, tp__range *to) {
  *to = (tp__range){0, min_of(a.high, b.high - 1)};
  return a.low >= 0 && b.low > 0;
}

static bool largest(tp__range a, tp__range b, tp__range *to) {
  *to = (tp__range){max_of(a.low, b.low), max_of(a.high, b.high)};
  return true;
}

static bool smallest(tp__range a, tp__range b, tp__range *to) {
  *to = (tp__range){min_of(a.low, b.low), min_of(a.high, b.high)};
  return true;
}

static const struct {
  const char *name;
  combine_fn combine;
  bool is_unsigned; /* the range must have no negative numbers */
} binaries[] = {
    {"arith.addi", add, false},
    {"arith.subi", subtract, false},
    {"arith.muli", multiply, false},
    {"arith.divsi", divide, false},
    {"arith.divui", divide, true},
    {"arith.floordivsi", divide, false},
    {"arith.ceildivsi", divide_up, false},
    {"arith.ceildivui", divide_up, true},
    {"arith.remsi", remainder_of, false},

    {"arith.maxsi", largest, false},
    {"arith.maxui", largest, true},
    {"arith.minsi", smallest, false},
    {"arith.minui", smallest, true},
};

static const struct {
  const char *name;
  bool is_unsigned;
} casts[] = {{"arith.index_cast", false},
             {"arith.extsi", false},
             {"arith.trunci", false},
             {"arith.index_castui", true},
             {"arith.extui", true}};

static bool device_index(const query *q, MlirOperation op, int result, tp__range *range) {
  tp__axis_runs runs;
  bool is_linear = tp__op_is(op, "shard.process_linear_index");
  if (!q->mesh || !(is_linear || tp__op_is(op, "shard.process_multi_index")) ||
      tp__all_axis_runs(op, q->mesh, &runs) != TP_OK)
    return false;
  tp__axis_runs named;
  if (!is_linear && tp__read_axis_runs(op, "axes", q->mesh, &named) != TP_OK)
    return false;
  if (!is_linear && named.n > 0)
    runs = named;
  int64_t n = 1;
  for (int i = 0; i < runs.n; i++)
    n *= is_linear || i == result ? tp__run_size(q->mesh, &runs, i) : 1;
  *range = (tp__range){0, n - 1};
  return true;
}

static bool constant(MlirOperation op, tp__range *range) {
  MlirAttribute value = tp__inherent(op, "value");
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAInteger(value))
    return false;
  range->low = range->high = mlirIntegerAttrGetValueInt(value);
  return true;
}

static bool of_op(query *q, MlirOperation op, int result, tp__range *range) {
  tp__range a, b;
  if (tp__op_is(op, "arith.constant"))
    return constant(op, range);
  for (int i = 0; i < TP_LEN(casts); i++)
    if (tp__op_is(op, casts[i].name))
      return range_of(q, mlirOperationGetOperand(op, 0), range) &&
             (!casts[i].is_unsigned || range->low >= 0);
  if (tp__op_is(op, "arith.remui")) { /* bounded by the divisor, whatever is divided */
    if (!range_of(q, mlirOperationGetOperand(op, 1), &b) || b.low <= 0)
      return false;
    bool known = range_of(q, mlirOperationGetOperand(op, 0), &a) && a.low >= 0;
    *range = (tp__range){0, known ? min_of(a.high, b.high - 1) : b.high - 1};
    return true;
  }
  for (int i = 0; i < TP_LEN(binaries); i++)
    if (tp__op_is(op, binaries[i].name))
      return range_of(q, mlirOperationGetOperand(op, 0), &a) &&
             range_of(q, mlirOperationGetOperand(op, 1), &b) &&
             (!binaries[i].is_unsigned || (a.low >= 0 && b.low >= 0)) &&
             binaries[i].combine(a, b, range);
  if (tp__op_is(op, "arith.select")) {
    bool known = range_of(q, mlirOperationGetOperand(op, 1), &a) &&
                 range_of(q, mlirOperationGetOperand(op, 2), &b);
    *range = known ? (tp__range){min_of(a.low, b.low), max_of(a.high, b.high)} : a;
    return known;
  }
  return device_index(q, op, result, range);
}

static bool fits(MlirType type, tp__range range) {
  int64_t width = mlirTypeIsAIndex(type) ? 64 : (int64_t)mlirIntegerTypeGetWidth(type);
  return width >= 64 ||
         (range.low >= -(INT64_C(1) << (width - 1)) && range.high < INT64_C(1) << (width - 1));
}

static bool range_of(query *q, MlirValue value, tp__range *range) {
  MlirType type = mlirValueGetType(value);
  MlirOperation op = tp__defining_op(value);
  *range = (tp__range){0, 0};
  if (q->budget-- <= 0 || !(mlirTypeIsAIndex(type) ||
                            (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) <= 64)))
    return false;
  bool known =
      (q->leaf && q->leaf(q->data, value, range)) ||
      (!mlirOperationIsNull(op) && of_op(q, op, (int)mlirOpResultGetResultNumber(value), range));
  return known && fits(type, *range);
}

bool tp__value_range(MlirValue value, const tp_mesh *mesh, tp__range_leaf leaf, void *data,
                     tp__range *range) {
  query q = {mesh, leaf, data, BUDGET};
  return range_of(&q, value, range);
}
