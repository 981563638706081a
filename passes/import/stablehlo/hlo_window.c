/* Ops over windows: convolution, reduce_window and select_and_scatter. */
#include "passes/import/stablehlo/hlo_window.h"
#include "passes/import/stablehlo/hlo_contraction.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* The number of windows along dimension `d` of an input of `size` elements; -1: invalid. */
static int64_t count_windows(const tp_hlo_windows *w, int d, int64_t size) {
  int64_t padded, extent;
  if (w->size[d] < 1 || w->stride[d] < 1 || w->dilation[d] < 1 || w->between[d] < 0 ||
      w->low[d] > TP_MAX_ELEMENTS || w->high[d] > TP_MAX_ELEMENTS || w->low[d] < -TP_MAX_ELEMENTS ||
      w->high[d] < -TP_MAX_ELEMENTS || __builtin_mul_overflow(size, w->between[d] + 1, &padded) ||
      __builtin_mul_overflow(w->size[d] - 1, w->dilation[d], &extent) || extent > TP_MAX_ELEMENTS)
    return -1;
  padded = (size > 0 ? padded - w->between[d] : 0) + w->low[d] + w->high[d];
  return padded < 0 ? -1 : padded < extent + 1 ? 0 : (padded - extent - 1) / w->stride[d] + 1;
}

/* Reads a dense tensor of rank x 2: what is added in front of and behind each dimension. */
static tp_status read_padding(MlirOperation op, tp_hlo_windows *w) {
  int64_t both[2 * TP_MAX_RANK];
  TP_TRY(tp__hlo_ints(op, "padding", 2 * w->rank, 0, both));
  for (int d = 0; d < w->rank; d++) {
    w->low[d] = both[2 * d];
    w->high[d] = both[2 * d + 1];
  }
  return TP_OK;
}

static tp_status no_windows(MlirOperation op, int d) {
  return tp__error(op, TP_INVALID_ARGUMENT,
                   "the windows along dimension %d do not fit the input and the result: size, "
                   "stride, dilation and padding are wrong",
                   d);
}

/* stride * loop + dilation * window_loop; a window of one element has no loop. */
static MlirAffineExpr window_at(tp_hlo *hlo, const tp_hlo_windows *w, int d, int loop,
                                int window_loop) {
  MlirAffineExpr at = mlirAffineMulExprGet(mlirAffineDimExprGet(hlo->context, loop),
                                           mlirAffineConstantExprGet(hlo->context, w->stride[d]));
  return window_loop < 0
             ? at
             : mlirAffineAddExprGet(
                   at,
                   mlirAffineMulExprGet(mlirAffineDimExprGet(hlo->context, window_loop),
                                        mlirAffineConstantExprGet(hlo->context, w->dilation[d])));
}

/* Numbers the loops over windows from `first` on; returns the number of all loops. */
static int number_windows(const tp_hlo_windows *w, int first, int *loops) {
  for (int d = 0; d < w->rank; d++)
    loops[d] = w->size[d] > 1 ? first++ : -1;
  return first;
}

/* A tensor without contents, whose shape gives the loops over windows their sizes, and its map. */
static MlirValue window_shape(tp_hlo *hlo, const tp_hlo_windows *w, const int *loops, int n_loops,
                              MlirType element, MlirAttribute *map) {
  int64_t sizes[TP_MAX_RANK];
  int used[TP_MAX_RANK], n = 0;
  for (int d = 0; d < w->rank; d++)
    if (loops[d] >= 0) {
      sizes[n] = w->size[d];
      used[n++] = loops[d];
    }
  *map = tp__hlo_loop_map(hlo, n_loops, n, used);
  return tp__hlo_build(hlo, "tensor.empty",
                       mlirRankedTensorTypeGet(n, sizes, element, (MlirAttribute){NULL}), 0, NULL);
}

/* ---- convolution ---- */

typedef struct convolution {
  tp_hlo_windows w; /* by spatial dimension */
  int64_t reversed[TP_MAX_RANK];
  /* dimensions: 0 batch or output feature, 1 input feature, 2 + i spatial dimension i */
  int dims[3][2 + TP_MAX_RANK];
  int64_t feature_groups, batch_groups;
  tp_hlo_shape lhs, rhs, result;
} convolution;

/* Reads a list such as [b, 0, 1, f] into dims; `first` and `second` are its letters. */
static bool read_dims(MlirStringRef text, size_t *at, char first, char second, int rank,
                      int *dims) {
  int n = 0;
  for (int i = 0; i < rank; i++)
    dims[i] = -1;
  while (*at < text.length && text.data[*at] != '[')
    ++*at;
  for (++*at; *at < text.length && text.data[*at] != ']'; ++*at) {
    char c = text.data[*at];
    int which = c == first ? 0 : c == second ? 1 : c >= '0' && c <= '9' ? 2 + c - '0' : -1;
    if (c == ' ' || c == ',')
      continue;
    if (which < 0 || which >= rank || dims[which] >= 0)
      return false;
    dims[which] = n++;
  }
  return n == rank && *at < text.length;
}

static tp_status read_convolution(MlirOperation op, convolution *c) {
  MlirStringRef text = tp__hlo_text(op, "dimension_numbers");
  size_t at = 0;
  c->lhs = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  c->rhs = tp__hlo_shape(tp__hlo_operand_type(op, 1));
  c->result = tp__hlo_shape(tp__result_type(op));
  int rank = c->lhs.rank, n = rank - 2;
  if (n < 0 || c->rhs.rank != rank || c->result.rank != rank ||
      !read_dims(text, &at, 'b', 'f', rank, c->dims[0]) ||
      !read_dims(text, &at, 'o', 'i', rank, c->dims[1]) ||
      !read_dims(text, &at, 'b', 'f', rank, c->dims[2]))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "dimension_numbers must name every dimension of operands and result, as in "
                     "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]");
  c->w.rank = n;
  TP_TRY(tp__hlo_ints(op, "window_strides", n, 1, c->w.stride));
  TP_TRY(tp__hlo_ints(op, "lhs_dilation", n, 1, c->w.between));
  TP_TRY(tp__hlo_ints(op, "rhs_dilation", n, 1, c->w.dilation));
  TP_TRY(tp__hlo_ints(op, "window_reversal", n, 0, c->reversed));
  TP_TRY(read_padding(op, &c->w));
  TP_TRY(tp__hlo_int(op, "feature_group_count", 1, &c->feature_groups));
  TP_TRY(tp__hlo_int(op, "batch_group_count", 1, &c->batch_groups));
  for (int i = 0; i < n; i++) {
    c->w.between[i]--;
    c->w.size[i] = c->rhs.sizes[c->dims[1][2 + i]];
    int64_t count = count_windows(&c->w, i, c->lhs.sizes[c->dims[0][2 + i]]);
    if (count < 0 || count != c->result.sizes[c->dims[2][2 + i]])
      return no_windows(op, i);
  }
  return TP_OK;
}

static tp_status check_convolution(MlirOperation op, const convolution *c) {
  int64_t batch = c->lhs.sizes[c->dims[0][0]], in = c->lhs.sizes[c->dims[0][1]];
  int64_t out = c->rhs.sizes[c->dims[1][0]], kernel_in = c->rhs.sizes[c->dims[1][1]];
  int64_t f = c->feature_groups, b = c->batch_groups;
  bool ok = f >= 1 && b >= 1 && (f == 1 || b == 1) && in == kernel_in * f && out % f == 0 &&
            out % b == 0 && batch % b == 0 && c->result.sizes[c->dims[2][0]] == batch / b &&
            c->result.sizes[c->dims[2][1]] == out;
  return ok ? TP_OK
            : tp__error(op, TP_INVALID_ARGUMENT,
                        "%lld feature groups and %lld batch groups do not fit %lld input features "
                        "(%lld of the kernel), %lld output features and a batch of %lld",
                        (long long)f, (long long)b, (long long)in, (long long)kernel_in,
                        (long long)out, (long long)batch);
}

/* Splits dimension `dim` of a value into `groups` and the rest. */
static MlirValue split_dim(tp_hlo *hlo, MlirValue value, int dim, int64_t groups) {
  tp_hlo_shape from = tp__hlo_shape(mlirValueGetType(value)), to = {.rank = from.rank + 1};
  int parts[TP_MAX_RANK];
  for (int d = 0, k = 0; d < from.rank; d++) {
    parts[d] = 1 + (d == dim);
    to.sizes[k++] = d == dim ? groups : from.sizes[d];
    if (d == dim)
      to.sizes[k++] = from.sizes[d] / groups;
  }
  return tp__regroup(hlo->where, hlo->location, value, to.rank, to.sizes, from.rank, parts);
}

/* Pads the image, whose dimension `split` is split into groups first; -1: none is. A reshape behind
 * the pad would keep the convolution from reading the pad in place. */
static MlirValue pad_image(tp_hlo *hlo, MlirOperation op, const convolution *c, int split,
                           int64_t groups) {
  int64_t low[TP_MAX_RANK] = {0}, high[TP_MAX_RANK] = {0}, between[TP_MAX_RANK] = {0};
  MlirValue image = tp__hlo_operand(hlo, op, 0);
  MlirType element = tp__element_type(mlirValueGetType(image));
  if (split >= 0)
    image = split_dim(hlo, image, split, groups);
  for (int i = 0; i < c->w.rank; i++) {
    int d = c->dims[0][2 + i];
    d += split >= 0 && d > split;
    low[d] = c->w.low[i];
    high[d] = c->w.high[i];
    between[d] = c->w.between[i];
  }
  return tp__hlo_pad(hlo, image, tp__hlo_zero(hlo, element), low, high, between);
}

static MlirValue reverse_kernel(tp_hlo *hlo, MlirOperation op, const convolution *c) {
  int64_t dims[TP_MAX_RANK];
  int n = 0;
  for (int i = 0; i < c->w.rank; i++)
    if (c->reversed[i] && c->w.size[i] > 1)
      dims[n++] = c->dims[1][2 + i];
  return tp__hlo_reverse(hlo, tp__hlo_operand(hlo, op, 1), n, dims);
}

/* Loops: those of the result, whose output features are groups and features in a group if there are
 * groups, then windows and input features. */
static MlirValue build_convolution(tp_hlo *hlo, MlirOperation op, const convolution *c) {
  int64_t groups = c->feature_groups * c->batch_groups;
  bool grouped = groups > 1;
  int split = grouped ? c->dims[0][c->batch_groups > 1 ? 0 : 1] : -1;
  MlirValue lhs = pad_image(hlo, op, c, split, groups), rhs = reverse_kernel(hlo, op, c);
  MlirAffineExpr lhs_at[TP_MAX_RANK + 1], rhs_at[TP_MAX_RANK + 1];
  int loops[TP_MAX_RANK], spatial[TP_MAX_RANK], n = 0, batch = 0, group = -1, feature = 0;
  tp_hlo_contraction k = {0};
  if (grouped)
    rhs = split_dim(hlo, rhs, c->dims[1][0], groups);
  for (int d = 0; d < c->result.rank; d++) {
    if (d == c->dims[2][1] && grouped) {
      k.result.sizes[n] = groups;
      group = n++;
    }
    k.result.sizes[n] = d == c->dims[2][1] ? c->result.sizes[d] / groups : c->result.sizes[d];
    *(d == c->dims[2][1] ? &feature : d == c->dims[2][0] ? &batch : &spatial[d]) = n++;
  }
  k.result.rank = n;
  int input = number_windows(&c->w, n, loops);
  k.n_loops = input + 1;
  int n_lhs = 0, n_rhs = 0;
  for (int d = 0; d < c->lhs.rank; d++) {
    int i = 0;
    while (c->dims[0][i] != d)
      i++;
    if (d == split)
      lhs_at[n_lhs++] = mlirAffineDimExprGet(hlo->context, group);
    lhs_at[n_lhs++] = i < 2 ? mlirAffineDimExprGet(hlo->context, i == 0 ? batch : input)
                            : window_at(hlo, &c->w, i - 2, spatial[c->dims[2][i]], loops[i - 2]);
    for (i = 0; c->dims[1][i] != d; i++)
      ;
    if (grouped && i == 0)
      rhs_at[n_rhs++] = mlirAffineDimExprGet(hlo->context, group);
    rhs_at[n_rhs++] = i < 2 ? mlirAffineDimExprGet(hlo->context, i == 0 ? feature : input)
                      : loops[i - 2] < 0 ? mlirAffineConstantExprGet(hlo->context, 0)
                                         : mlirAffineDimExprGet(hlo->context, loops[i - 2]);
  }
  k.operands[0] = lhs;
  k.operands[1] = rhs;
  k.maps[0] = tp__hlo_map_of(hlo, k.n_loops, n_lhs, lhs_at);
  k.maps[1] = tp__hlo_map_of(hlo, k.n_loops, n_rhs, rhs_at);
  return tp__hlo_reshape(hlo, tp__hlo_contract(hlo, op, &k), &c->result);
}

static tp_status convolution_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  convolution c = {0};
  TP_TRY(read_convolution(op, &c));
  TP_TRY(check_convolution(op, &c));
  if (hlo->scalar || c.lhs.rank >= TP_MAX_RANK)
    return tp__error(op, TP_UNSUPPORTED,
                     "is supported outside of the bodies of other ops, with at most %d dimensions",
                     TP_MAX_RANK - 1);
  return tp__hlo_replace(hlo, op, build_convolution(hlo, op, &c));
}

/* ---- reduce_window ---- */

static tp_status read_windows(MlirOperation op, int input, int result, tp_hlo_windows *w) {
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, input));
  tp_hlo_shape to = tp__hlo_shape(mlirValueGetType(
      result < 0 ? mlirOperationGetOperand(op, 1) : mlirOperationGetResult(op, result)));
  w->rank = from.rank;
  TP_TRY(tp__hlo_ints(op, "window_dimensions", from.rank, 1, w->size));
  TP_TRY(tp__hlo_ints(op, "window_strides", from.rank, 1, w->stride));
  TP_TRY(tp__hlo_ints(op, "base_dilations", from.rank, 1, w->between));
  TP_TRY(tp__hlo_ints(op, "window_dilations", from.rank, 1, w->dilation));
  TP_TRY(read_padding(op, w));
  for (int d = 0; d < from.rank; d++) {
    w->between[d]--;
    int64_t n = count_windows(w, d, from.sizes[d]);
    if (to.rank != from.rank || n < 0 || n != to.sizes[d])
      return no_windows(op, d);
  }
  return TP_OK;
}

static tp_status check_reduce_window(MlirOperation op, int n) {
  if (n < 1 || n > TP_HLO_MAX_WINDOWED || mlirOperationGetNumOperands(op) != 2 * n)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d operands and %d results; it needs an input and an initial value per "
                     "result, and at most %d results",
                     (int)mlirOperationGetNumOperands(op), n, TP_HLO_MAX_WINDOWED);
  for (int i = 0; i < n; i++)
    if (tp__hlo_shape(tp__hlo_operand_type(op, n + i)).rank != 0 ||
        !mlirTypeEqual(tp__hlo_operand_element(op, n + i), tp__hlo_operand_element(op, i)) ||
        !mlirTypeEqual(tp__hlo_result_element(op, i), tp__hlo_operand_element(op, i)))
      return tp__error(
          op, TP_INVALID_ARGUMENT,
          "operand %d, the initial value of result %d, must be a tensor of rank 0 with "
          "elements as those of input and result",
          n + i, i);
  return TP_OK;
}

tp_status tp__hlo_reduce_windows(tp_hlo *hlo, MlirOperation op, int n, const tp_hlo_windows *w,
                                 const MlirValue *values, const MlirType *types,
                                 MlirValue *results) {
  int loops[TP_MAX_RANK], all[TP_MAX_RANK];
  MlirValue operands[2 * TP_HLO_MAX_WINDOWED + 1], arguments[2 * TP_HLO_MAX_WINDOWED];
  MlirAttribute maps[2 * TP_HLO_MAX_WINDOWED + 1];
  MlirAffineExpr at[TP_MAX_RANK];
  int n_loops = number_windows(w, w->rank, loops);
  for (int d = 0; d < w->rank; d++) {
    all[d] = d;
    at[d] = window_at(hlo, w, d, d, loops[d]);
  }
  for (int i = 0; i < n; i++) {
    MlirValue initial = tp__hlo_operand(hlo, op, n + i);
    operands[i] = tp__hlo_pad(hlo, values[i], initial, w->low, w->high, w->between);
    operands[n + 1 + i] = tp__hlo_fill(hlo, types[i], initial);
    maps[i] = tp__hlo_map_of(hlo, n_loops, w->rank, at);
    maps[n + 1 + i] = tp__hlo_loop_map(hlo, n_loops, w->rank, all);
  }
  operands[n] = window_shape(hlo, w, loops, n_loops,
                             tp__element_type(mlirValueGetType(operands[0])), &maps[n]);
  MlirOperation yield, generic = tp__hlo_generic(hlo, n + 1, n, operands, maps, &yield);
  for (int i = 0; i < n; i++) {
    arguments[i] = tp__hlo_body_arg(generic, n + 1 + i);
    arguments[n + i] = tp__hlo_body_arg(generic, i);
    results[i] = mlirOperationGetResult(generic, i);
  }
  TP_TRY(tp__hlo_body(hlo, op, 0, yield, 2 * n, arguments));
  return mlirOperationGetNumOperands(yield) == n
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT, "region 0 must return a value per result");
}

static tp_status reduce_window(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int n = (int)mlirOperationGetNumResults(op), dim;
  MlirValue values[TP_HLO_MAX_WINDOWED], results[TP_HLO_MAX_WINDOWED];
  MlirType types[TP_HLO_MAX_WINDOWED];
  bool backward;
  tp_hlo_windows w = {0};
  TP_TRY(check_reduce_window(op, n));
  for (int i = 0; i < n; i++) {
    TP_TRY(read_windows(op, i, i, &w));
    values[i] = tp__hlo_operand(hlo, op, i);
    types[i] = tp__hlo_result_type(hlo, op, i);
  }
  tp_hlo_shape shape = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  bool is_running = tp__hlo_is_running(&w, &shape, &dim, &backward);
  TP_TRY(is_running ? tp__hlo_reduce_running(hlo, op, n, dim, backward, values, results)
                    : tp__hlo_reduce_windows(hlo, op, n, &w, values, types, results));
  for (int i = 0; i < n; i++)
    TP_TRY(tp__hlo_map(hlo, op, mlirOperationGetResult(op, i), results[i]));
  return TP_OK;
}

/* ---- select_and_scatter ---- */

static MlirValue index_number(tp_hlo *hlo, int64_t value) {
  return tp__hlo_int_constant(hlo, mlirIndexTypeGet(hlo->context), value);
}

/* The number of an element of the operand, row-major, from its position; *inside: whether the
 * position lies in it. `step` gives the position along a dimension. */
typedef struct numbered {
  MlirValue number, inside;
} numbered;

static numbered number_element(tp_hlo *hlo, const tp_hlo_windows *w, const tp_hlo_shape *shape,
                               const int *loops) {
  numbered n = {.number = index_number(hlo, 0)};
  for (int d = 0; d < w->rank; d++) {
    MlirValue at = tp__hlo_loop_index(hlo, d);
    if (loops) { /* of an element of a window */
      at = tp__hlo_binary(hlo, "arith.muli", at, index_number(hlo, w->stride[d]));
      if (loops[d] >= 0)
        at = tp__hlo_binary(hlo, "arith.addi", at, tp__hlo_loop_index(hlo, loops[d]));
      at = tp__hlo_binary(hlo, "arith.subi", at, index_number(hlo, w->low[d]));
      if (w->low[d] > 0 || w->high[d] > 0) {
        MlirValue inside = tp__hlo_compare(hlo, "ult", at, index_number(hlo, shape->sizes[d]));
        n.inside = mlirValueIsNull(n.inside) ? inside
                                             : tp__hlo_binary(hlo, "arith.andi", n.inside, inside);
      }
    }
    n.number = tp__hlo_binary(hlo, "arith.muli", n.number, index_number(hlo, shape->sizes[d]));
    n.number = tp__hlo_binary(hlo, "arith.addi", n.number, at);
  }
  n.number =
      tp__hlo_convert_to(hlo, "arith.index_cast", mlirIntegerTypeGet(hlo->context, 64), n.number);
  return n;
}

/* The number of the element that is selected in each window, found like the first result of an
 * argmax: a value is kept while select(value, next) holds. */
static tp_status select_elements(tp_hlo *hlo, MlirOperation op, const tp_hlo_windows *w,
                                 MlirValue *selected) {
  int loops[TP_MAX_RANK], all[TP_MAX_RANK], n_loops = number_windows(w, w->rank, loops);
  MlirType source = tp__hlo_type(hlo, tp__hlo_operand_type(op, 1));
  tp_hlo_shape shape = tp__hlo_shape(tp__hlo_operand_type(op, 0)), to = tp__hlo_shape(source);
  MlirType i64 = mlirIntegerTypeGet(hlo->context, 64);
  MlirType numbers = mlirRankedTensorTypeGet(to.rank, to.sizes, i64, (MlirAttribute){NULL});
  MlirValue zero = tp__hlo_zero(hlo, tp__element_type(source));
  MlirAffineExpr at[TP_MAX_RANK];
  for (int d = 0; d < w->rank; d++) {
    all[d] = d;
    at[d] = window_at(hlo, w, d, d, loops[d]);
  }
  MlirAttribute maps[4] = {tp__hlo_map_of(hlo, n_loops, w->rank, at)};
  MlirValue operands[4] = {
      tp__hlo_pad(hlo, tp__hlo_operand(hlo, op, 0), zero, w->low, w->high, w->between)};
  operands[1] = window_shape(hlo, w, loops, n_loops, tp__element_type(source), &maps[1]);
  operands[2] = tp__hlo_fill(hlo, source, zero);
  operands[3] = tp__hlo_fill(hlo, numbers, tp__hlo_int_constant(hlo, i64, -1));
  maps[2] = maps[3] = tp__hlo_loop_map(hlo, n_loops, w->rank, all);
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 2, 2, operands, maps, &yield);
  MlirValue best = tp__hlo_body_arg(generic, 2), best_number = tp__hlo_body_arg(generic, 3);
  MlirValue next = tp__hlo_body_arg(generic, 0);
  TP_TRY(tp__hlo_body(hlo, op, 0, yield, 2, (MlirValue[]){best, next}));
  if (mlirOperationGetNumOperands(yield) != 1)
    return tp__error(op, TP_INVALID_ARGUMENT, "region 0 must return one tensor<i1>");
  hlo->where = yield;
  numbered n = number_element(hlo, w, &shape, loops);
  MlirValue keep = mlirOperationGetOperand(yield, 0);
  MlirValue has_any = tp__hlo_compare(hlo, "sge", best_number, tp__hlo_int_constant(hlo, i64, 0));
  keep = tp__hlo_binary(hlo, "arith.andi", keep, has_any);
  if (!mlirValueIsNull(n.inside)) {
    MlirType bit = mlirIntegerTypeGet(hlo->context, 1);
    MlirValue outside =
        tp__hlo_binary(hlo, "arith.xori", n.inside, tp__hlo_int_constant(hlo, bit, -1));
    keep = tp__hlo_binary(hlo, "arith.ori", keep, outside);
  }
  MlirValue values[] = {tp__hlo_select(hlo, keep, best, next),
                        tp__hlo_select(hlo, keep, best_number, n.number)};
  mlirOperationSetOperands(yield, 2, values);
  hlo->where = outer;
  *selected = mlirOperationGetResult(generic, 1);
  return TP_OK;
}

/* Each element of the operand collects the values of the windows that have selected it. The sources
 * and the numbers are put `stride` apart, so that windows that share an element are neighbors. */
static tp_status scatter_values(tp_hlo *hlo, MlirOperation op, const tp_hlo_windows *w,
                                MlirValue selected) {
  tp_hlo_windows back = {.rank = w->rank};
  MlirType type = tp__hlo_result_type(hlo, op, 0), i64 = mlirIntegerTypeGet(hlo->context, 64);
  tp_hlo_shape shape = tp__hlo_shape(type);
  MlirValue source = tp__hlo_operand(hlo, op, 1);
  tp_hlo_shape from = tp__hlo_shape(mlirValueGetType(source));
  int loops[TP_MAX_RANK], all[TP_MAX_RANK];
  MlirAffineExpr at[TP_MAX_RANK];
  for (int d = 0; d < w->rank; d++) {
    back.size[d] = w->size[d];
    back.stride[d] = back.dilation[d] = 1;
    back.between[d] = w->stride[d] - 1;
    back.low[d] = w->size[d] - 1 - w->low[d];
    back.high[d] = shape.sizes[d] + w->low[d] - (from.sizes[d] - 1) * w->stride[d] - 1;
    all[d] = d;
  }
  int n_loops = number_windows(&back, w->rank, loops);
  for (int d = 0; d < w->rank; d++)
    at[d] = window_at(hlo, &back, d, d, loops[d]);
  MlirAttribute maps[4];
  MlirValue operands[4];
  operands[0] = tp__hlo_pad(hlo, source, tp__hlo_zero(hlo, tp__element_type(type)), back.low,
                            back.high, back.between);
  operands[1] = tp__hlo_pad(hlo, selected, tp__hlo_int_constant(hlo, i64, -1), back.low, back.high,
                            back.between);
  operands[2] = window_shape(hlo, &back, loops, n_loops, tp__element_type(type), &maps[2]);
  operands[3] = tp__hlo_fill(hlo, type, tp__hlo_operand(hlo, op, 2));
  maps[0] = maps[1] = tp__hlo_map_of(hlo, n_loops, w->rank, at);
  maps[3] = tp__hlo_loop_map(hlo, n_loops, w->rank, all);
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 3, 1, operands, maps, &yield);
  MlirValue total = tp__hlo_body_arg(generic, 3);
  TP_TRY(tp__hlo_body(hlo, op, 1, yield, 2, (MlirValue[]){total, tp__hlo_body_arg(generic, 0)}));
  if (mlirOperationGetNumOperands(yield) != 1)
    return tp__error(op, TP_INVALID_ARGUMENT, "region 1 must return one value");
  hlo->where = yield;
  MlirValue number = number_element(hlo, w, &shape, NULL).number;
  MlirValue is_own = tp__hlo_compare(hlo, "eq", tp__hlo_body_arg(generic, 1), number);
  MlirValue value = tp__hlo_select(hlo, is_own, mlirOperationGetOperand(yield, 0), total);
  mlirOperationSetOperands(yield, 1, &value);
  hlo->where = outer;
  return tp__hlo_replace(hlo, op, mlirOperationGetResult(generic, 0));
}

static tp_status select_and_scatter(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  tp_hlo_windows w = {0};
  MlirValue selected;
  TP_TRY(read_windows(op, 0, -1, &w));
  bool same = tp__hlo_shape(tp__hlo_operand_type(op, 2)).rank == 0;
  for (int i = 0; i < 3; i++)
    same &= mlirTypeEqual(tp__hlo_operand_element(op, i), tp__hlo_result_element(op, 0));
  if (!same || !tp__hlo_same_shape(tp__hlo_operand_type(op, 0), tp__result_type(op)))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "operand 0 and the result must have one type, and the source and the initial "
                     "value its elements");
  TP_TRY(select_elements(hlo, op, &w, &selected));
  return scatter_values(hlo, op, &w, selected);
}

const tp_hlo_row tp__hlo_window_rows[] = {
    {"stablehlo.convolution", 2, 1, 0, convolution_op, NULL, "linalg.generic, and tensor.pad"},
    {"stablehlo.reduce_window", TP_HLO_ANY, TP_HLO_ANY, 1, reduce_window, NULL,
     "linalg.generic, and tensor.pad"},
    {"stablehlo.select_and_scatter", 3, 1, 2, select_and_scatter, NULL,
     "two linalg.generic: which element each window selects, and the sums"},
    {NULL},
};
