/* Makes sizes static. Exporters and upstream lowerings pass constant sizes, strides and padding as
 * operands, or hide a known size behind a tensor.cast; here they become static numbers. Padding
 * that only the run knows is checked when it runs. */
#include "passes/prepare/decompose/decompose.h"

#include <stdio.h>

#include "rules/padding.h"

enum { MAX_LISTS = 3 };

/* An op with lists of numbers, each of which is static or an operand. */
typedef struct lists_row {
  const char *op;
  int n_first; /* operands before those of the lists */
  int n_lists;
  int n_kept; /* the first lists stay as they are: offsets, which types do not depend on */
  const char *lists[MAX_LISTS];
} lists_row;

static const lists_row rows[] = {
    {"tensor.extract_slice", 1, 3, 1, {"static_offsets", "static_sizes", "static_strides"}},
    {"tensor.insert_slice", 2, 3, 1, {"static_offsets", "static_sizes", "static_strides"}},
    {"tensor.pad", 1, 2, 0, {"static_low", "static_high"}},
};

typedef int64_t numbers[TP_MAX_RANK];

static bool is_static(MlirType type) {
  return tp__is_tensor(type) && mlirShapedTypeHasStaticShape(type);
}

static const lists_row *find_row(MlirOperation op) {
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].op))
      return &rows[i];
  return NULL;
}

/* Reads the lists, with the value of every constant operand; `left` has the other operands. Returns
 * the rank of the lists; -1 if all stays as it is. */
static int read_lists(MlirOperation op, const lists_row *row, numbers *lists, int *n_left,
                      MlirValue *left) {
  int rank = -1, at = row->n_first;
  bool changes = !is_static(mlirValueGetType(mlirOperationGetResult(op, 0)));
  for (int k = 0; k < row->n_lists; k++) {
    int n = tp__int_list(tp__inherent(op, row->lists[k]), TP_MAX_RANK, lists[k]);
    if (n < 0 || (k > 0 && n != rank))
      return -1;
    rank = n;
    n_left[k] = 0;
    for (int d = 0; d < n; d++) {
      tp__range range;
      if (lists[k][d] != mlirShapedTypeGetDynamicSize())
        continue;
      MlirValue value = mlirOperationGetOperand(op, at++);
      if (k >= row->n_kept && tp__value_range(value, NULL, NULL, NULL, &range) &&
          range.low == range.high) {
        lists[k][d] = range.low;
        changes = true;
      } else {
        *left++ = value;
        n_left[k]++;
      }
    }
  }
  return changes ? rank : -1;
}

/* Upstream's verifier refuses a static slice outside of its tensor; at run time it is an error. */
static bool is_inside(MlirOperation op, const lists_row *row, numbers *lists, int rank) {
  MlirValue whole = mlirOperationGetOperand(op, row->n_first - 1);
  int64_t unknown = mlirShapedTypeGetDynamicSize();
  for (int d = 0; d < rank; d++) {
    int64_t offset = lists[0][d], size = lists[1][d], stride = lists[2][d];
    int64_t first = offset == unknown ? 0 : offset, last;
    if (size == unknown || stride == unknown)
      continue;
    if (size < 0 || stride < 1 || first < 0 || __builtin_mul_overflow(size - 1, stride, &last) ||
        __builtin_add_overflow(first, last, &last) || last >= tp__value_size(whole, d))
      return false;
  }
  return true;
}

/* A dimension becomes as long as the padding makes it. */
static tp_status size_padded(MlirOperation op, numbers *lists, int rank, int64_t *shape) {
  int64_t unknown = mlirShapedTypeGetDynamicSize();
  for (int d = 0; d < rank; d++) {
    int64_t size = tp__value_size(mlirOperationGetOperand(op, 0), d);
    if (size < 0 || lists[0][d] == unknown || lists[1][d] == unknown ||
        __builtin_add_overflow(size, lists[0][d], &size) ||
        __builtin_add_overflow(size, lists[1][d], &size))
      continue;
    if (size < 0 || (shape[d] != unknown && shape[d] != size))
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "pads %lld elements of dimension %d by %lld before and %lld behind, but the "
                       "result has %lld",
                       (long long)tp__value_size(mlirOperationGetOperand(op, 0), d), d,
                       (long long)lists[0][d], (long long)lists[1][d], (long long)shape[d]);
    shape[d] = size;
  }
  return TP_OK;
}

static void set_type(MlirOperation op, int rank, const int64_t *shape) {
  MlirValue result = mlirOperationGetResult(op, 0);
  mlirValueSetType(result, tp__tensor_like(mlirValueGetType(result), rank, shape));
}

static tp_status set_sizes(MlirOperation op, numbers *lists, int rank) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  numbers shape;
  if (mlirShapedTypeGetRank(type) != rank)
    return TP_OK; /* a slice without dimensions of size 1 */
  for (int d = 0; d < rank; d++)
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  if (tp__op_is(op, "tensor.pad"))
    TP_TRY(size_padded(op, lists, rank, shape));
  for (int d = 0; d < rank && tp__op_is(op, "tensor.extract_slice"); d++)
    shape[d] = lists[1][d];
  if (!tp__op_is(op, "tensor.insert_slice"))
    set_type(op, rank, shape);
  return TP_OK;
}

static tp_status settle_lists(MlirOperation op, const lists_row *row) {
  MlirContext context = mlirOperationGetContext(op);
  numbers lists[MAX_LISTS];
  MlirValue operands[2 + MAX_LISTS * TP_MAX_RANK];
  int n_left[MAX_LISTS], n = row->n_first;
  int32_t segments[2 + MAX_LISTS];
  int rank = read_lists(op, row, lists, n_left, operands + row->n_first);
  if (rank < 0 || (row->n_lists == MAX_LISTS && !is_inside(op, row, lists, rank)))
    return TP_OK;
  TP_TRY(set_sizes(op, lists, rank));
  for (int i = 0; i < row->n_first; i++) {
    operands[i] = mlirOperationGetOperand(op, i);
    segments[i] = 1;
  }
  for (int k = 0; k < row->n_lists; k++) {
    segments[row->n_first + k] = n_left[k];
    n += n_left[k];
    mlirOperationSetInherentAttributeByName(op, tp__ref(row->lists[k]),
                                            mlirDenseI64ArrayGet(context, rank, lists[k]));
  }
  mlirOperationSetOperands(op, n, operands);
  mlirOperationSetInherentAttributeByName(
      op, tp__ref("operandSegmentSizes"),
      mlirDenseI32ArrayGet(context, row->n_first + row->n_lists, segments));
  return TP_OK;
}

/* ---- padding that is known at run time ---- */

static void build_assert(MlirOperation op, int d, MlirValue ok) {
  char text[120];
  snprintf(text, sizeof text,
           "the padding of dimension %d is negative, or does not give the size of the result", d);
  tp__build_assert(op, ok, text);
}

static bool is_number(MlirValue value, int64_t number) {
  tp__range range;
  return tp__value_range(value, NULL, NULL, NULL, &range) && range.low == number &&
         range.high == number;
}

/* True if an op of this name computes the value, with the number as operand i. */
static bool computes(MlirValue value, const char *name, int i, int64_t number) {
  MlirOperation op = tp__defining_op(value);
  return !mlirOperationIsNull(op) && tp__op_is(op, name) &&
         is_number(mlirOperationGetOperand(op, i), number);
}

/* True if the padding is computed as by check_padding, and so fits. */
static bool fits(MlirValue low, MlirValue high, int64_t added) {
  return computes(low, "arith.maxsi", 1, 0) &&
         computes(mlirOperationGetOperand(tp__defining_op(low), 0), "arith.minsi", 1, added) &&
         computes(high, "arith.subi", 0, added) &&
         mlirValueEqual(mlirOperationGetOperand(tp__defining_op(high), 1), low);
}

/* Dimension d gets `added` elements in all. low, high: the operands with its padding; -1: it is
 * static, and `known`. Ends the run if the numbers do not fit: stores would be out of bounds. */
static void check_padding(MlirOperation op, int d, int64_t added, int low, int high,
                          int64_t known) {
  if (low < 0 || high < 0) {
    int at = low < 0 ? high : low;
    MlirValue wanted = tp__index_constant(op, added - known);
    build_assert(op, d, tp__compare(op, TP_EQ, mlirOperationGetOperand(op, at), wanted));
    mlirOperationSetOperand(op, at, wanted);
    return;
  }
  MlirValue before = mlirOperationGetOperand(op, low), behind = mlirOperationGetOperand(op, high);
  if (fits(before, behind, added))
    return;
  MlirValue total = tp__index_constant(op, added), inside, rest;
  inside = tp__binary(op, "arith.maxsi", tp__binary(op, "arith.minsi", before, total),
                      tp__index_constant(op, 0));
  rest = tp__binary(op, "arith.subi", total, inside);
  build_assert(op, d,
               tp__binary(op, "arith.andi", tp__compare(op, TP_EQ, before, inside),
                          tp__compare(op, TP_EQ, behind, rest)));
  mlirOperationSetOperand(op, low, inside);
  mlirOperationSetOperand(op, high, rest);
}

static void check_pad(MlirOperation op) {
  MlirValue from = mlirOperationGetOperand(op, 0), to = mlirOperationGetResult(op, 0);
  int64_t unknown = mlirShapedTypeGetDynamicSize();
  numbers low, high;
  int rank = tp__int_list(tp__inherent(op, "static_low"), TP_MAX_RANK, low), n_low = 0, n_high = 0;
  if (rank < 0 || tp__int_list(tp__inherent(op, "static_high"), TP_MAX_RANK, high) != rank ||
      !is_static(mlirValueGetType(from)) || !is_static(mlirValueGetType(to)))
    return;
  for (int d = 0; d < rank; d++)
    n_low += low[d] == unknown;
  for (int d = 0, at = 1; d < rank; d++) {
    int before = low[d] == unknown ? at++ : -1, behind = -1;
    if (high[d] == unknown)
      behind = 1 + n_low + n_high++;
    if (before >= 0 || behind >= 0)
      check_padding(op, d, tp__value_size(to, d) - tp__value_size(from, d), before, behind,
                    before < 0 ? low[d] : high[d]);
  }
}

/* ---- casts ---- */

/* A concatenation of tensors whose sizes are known again has a known size. */
static void size_concat(MlirOperation op) {
  int64_t dim = mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  numbers shape;
  int rank = 0;
  if (is_static(type) || mlirShapedTypeGetRank(type) > TP_MAX_RANK)
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirType from = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!is_static(from))
      return;
    rank = (int)mlirShapedTypeGetRank(from);
    for (int d = 0; d < rank; d++) {
      int64_t size = mlirShapedTypeGetDimSize(from, d);
      shape[d] = i > 0 && d == dim ? shape[d] + size : size;
    }
  }
  set_type(op, rank, shape);
}

/* Ops whose types follow from those of their operands, or that take operands of any size. */
static bool takes_static(MlirOperation user) {
  static const char *const names[] = {"tensor.concat",       "tensor.cast", "tensor.extract_slice",
                                      "tensor.insert_slice", "tensor.dim",  "tensor.pad"};
  for (int i = 0; i < TP_LEN(names); i++)
    if (tp__op_is(user, names[i]))
      return true;
  return false;
}

/* Uses of a cast that forgets sizes read what it casts; so do all uses of one that changes
 * nothing any more. */
static void look_through(MlirOperation cast) {
  MlirValue from = mlirOperationGetOperand(cast, 0), to = mlirOperationGetResult(cast, 0);
  bool is_same = mlirTypeEqual(mlirValueGetType(from), mlirValueGetType(to));
  if (!is_static(mlirValueGetType(from)) || (!is_same && is_static(mlirValueGetType(to))))
    return;
  MlirOpOperand use = mlirValueGetFirstUse(to);
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand next = mlirOpOperandGetNextUse(use);
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (is_same || takes_static(user))
      mlirOperationSetOperand(user, mlirOpOperandGetOperandNumber(use), from);
    use = next;
  }
}

static tp_status settle(MlirOperation op, void *data) {
  const lists_row *row = find_row(op);
  bool is_cast = tp__op_is(op, "tensor.cast");
  if (row)
    TP_TRY(settle_lists(op, row));
  if (tp__op_is(op, "tensor.pad")) {
    check_pad(op);
    return settle_lists(op, row);
  }
  if (tp__op_is(op, "tensor.concat"))
    size_concat(op);
  if (!is_cast || !mlirAttributeIsNull(tp__get(op, "tp.sharding")) ||
      !tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, 0))))
    return TP_OK;
  look_through(op);
  return tp__is_used(mlirOperationGetResult(op, 0)) ? TP_OK : tp__op_list_add(data, op);
}

tp_status tp__settle_sizes(MlirOperation module) {
  tp_op_list unused = {0};
  tp_status status = tp__walk(module, settle, &unused);
  for (size_t i = 0; i < unused.n; i++)
    mlirOperationDestroy(unused.items[i]);
  tp__free(unused.items);
  return status;
}
