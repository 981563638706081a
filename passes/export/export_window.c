/* Windows of loop nests (export_window.h), and reductions over them as stablehlo.reduce_window. */
#include "passes/export/export_window.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

uint32_t tp__nest_loops_of(const tp_nest *n, MlirAffineMap map) {
  uint32_t set = 0;
  for (int l = 0; l < n->n_loops; l++)
    for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
      if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d), l))
        set |= UINT32_C(1) << l;
  return set;
}

/* ---- reading ---- */

static bool read_window(const tp_nest *n, MlirAffineExpr expr, uint32_t points, uint32_t *seen,
                        tp_window *w) {
  int64_t c[TP_NEST_MAX_LOOPS] = {0};
  *w = (tp_window){-1, -1, 0, 1, 1, 1, 1, 0, 0, 0};
  if (!tp__nest_linear(expr, 1, &w->at, c) || w->at < 0)
    return false;
  for (int l = 0; l < n->n_loops; l++) {
    if (c[l] == 0)
      continue;
    bool is_point = points >> l & 1;
    int *loop = is_point ? &w->point : &w->element;
    if (*loop >= 0 || c[l] < 0 || n->sizes[l] < 1 || *seen >> l & 1)
      return false;
    *seen |= UINT32_C(1) << l;
    *loop = l;
    *(is_point ? &w->stride : &w->dilation) = c[l];
    *(is_point ? &w->n_points : &w->n_elements) = n->sizes[l];
  }
  return true;
}

bool tp__windows_read(const tp_nest *n, int i, uint32_t points, tp_windows *w) {
  uint32_t seen = 0;
  *w = (tp_windows){.rank = (int)mlirAffineMapGetNumResults(n->maps[i])};
  if (!tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(n->op, i))) || w->rank > TP_MAX_RANK)
    return false;
  for (int d = 0; d < w->rank; d++)
    if (!read_window(n, mlirAffineMapGetResult(n->maps[i], d), points, &seen, &w->dims[d]))
      return false;
  return true;
}

/* ---- padding ---- */

static int64_t extent(const tp_window *w) {
  return (w->n_points - 1) * w->stride + (w->n_elements - 1) * w->dilation + 1;
}

/* Adds the padding of the pad that defines the value, and of one in front of it; *value becomes
 * what they pad. False if there is none that has the identity. */
static bool add_padding(MlirValue *value, tp_combiner combiner, int64_t *low, int64_t *between) {
  int64_t more[TP_MAX_RANK], apart[TP_MAX_RANK];
  MlirOperation pad = tp__defined_by(*value, "stablehlo.pad");
  if (mlirOperationIsNull(pad) ||
      !tp__attr_is_identity(tp__export_splat_of(mlirOperationGetOperand(pad, 1)), combiner))
    return false;
  int rank = tp__int_list(tp__get(pad, "edge_padding_low"), TP_MAX_RANK, more);
  (void)tp__int_list(tp__get(pad, "interior_padding"), TP_MAX_RANK, apart);
  for (int d = 0; d < rank; d++)
    if (between[d] > 0) /* elements are put apart once */
      return false;
  for (int d = 0; d < rank; d++) {
    low[d] += more[d];
    between[d] = apart[d];
  }
  *value = mlirOperationGetOperand(pad, 0);
  return true;
}

/* Takes over the padding of the value, if the windows can. */
static bool take_padding(tp_combiner combiner, tp_windows *w, MlirValue *value) {
  int64_t low[TP_MAX_RANK] = {0}, between[TP_MAX_RANK] = {0}, sizes[TP_MAX_RANK];
  MlirValue inner = *value;
  int rank = 0;
  if (!add_padding(&inner, combiner, low, between))
    return false;
  (void)add_padding(&inner, combiner, low, between);
  (void)tp__static_tensor(mlirValueGetType(inner), &rank, sizes);
  for (int d = 0; d < rank; d++) {
    tp_window *to = &w->dims[d];
    int64_t size = sizes[d] > 0 ? (sizes[d] - 1) * (between[d] + 1) + 1 : 0;
    to->low = low[d] - to->at;
    to->high = extent(to) - to->low - size;
    to->between = between[d];
    if (to->low < 0 || to->high <= -to->stride)
      return false;
    to->high = to->high < 0 ? 0 : to->high;
  }
  *value = inner;
  return true;
}

MlirValue tp__windows_operand(tp_export *x, const tp_nest *n, int i, tp_combiner combiner,
                              tp_windows *w) {
  MlirValue value = tp__export_operand(x, n->op, i);
  if (take_padding(combiner, w, &value))
    return value;
  for (int d = 0; d < w->rank; d++) {
    tp_window *of = &w->dims[d];
    int64_t size = mlirShapedTypeGetDimSize(mlirValueGetType(value), d), needed = extent(of);
    of->low = of->high = of->between = 0;
    if (of->at > 0 || size - needed >= of->stride)
      value = tp__nest_pick(x, value, d, of->at, 1, needed);
  }
  return value;
}

MlirNamedAttribute tp__windows_padding(tp_export *x, int n, const tp_window *const *dims) {
  int64_t both[2 * TP_MAX_RANK];
  for (int d = 0; d < n; d++) {
    both[2 * d] = dims[d]->low;
    both[2 * d + 1] = dims[d]->high;
  }
  MlirType type = tp__export_tensor(mlirIntegerTypeGet(x->context, 64), 2, (int64_t[]){n, 2});
  return tp__named(x->context, "padding", mlirDenseElementsAttrInt64Get(type, 2 * n, both));
}

/* ---- reductions over windows ---- */

/* The input whose elements result k combines as they are; -1 if there is none. */
static int reduced_input(const tp_nest *n, int k) {
  MlirOperation op = tp__defining_op(mlirOperationGetOperand(n->body.yield, k));
  MlirValue held = mlirBlockGetArgument(n->body.block, n->body.n_inputs + k);
  if (mlirOperationIsNull(op) || mlirOperationGetNumOperands(op) != 2)
    return -1;
  for (int side = 0; side < 2; side++) {
    MlirValue other = mlirOperationGetOperand(op, 1 - side);
    if (mlirValueEqual(mlirOperationGetOperand(op, side), held) &&
        mlirValueIsABlockArgument(other) && mlirBlockEqual(tp__block_of(other), n->body.block)) {
      int i = (int)mlirBlockArgumentGetArgNumber(other);
      return i < n->body.n_inputs ? i : -1;
    }
  }
  return -1;
}

static bool has_windows(const tp_windows *w) {
  for (int d = 0; d < w->rank; d++)
    if (w->dims[d].point >= 0 && w->dims[d].element >= 0)
      return true;
  return false;
}

/* The result has a dimension per dimension of the operand. */
static tp_status build_window(tp_export *x, const tp_nest *n, tp_windows *w, int input,
                              tp_combiner combiner, MlirValue *value) {
  const tp_window *dims[TP_MAX_RANK];
  int64_t size[TP_MAX_RANK], stride[TP_MAX_RANK], base[TP_MAX_RANK], dilation[TP_MAX_RANK];
  int64_t count[TP_MAX_RANK];
  MlirValue operand = tp__windows_operand(x, n, input, combiner, w);
  MlirType old = tp__element_type(mlirValueGetType(operand));
  MlirType element = tp__export_combined(old, combiner);
  MlirType number = tp__export_tensor(element, 0, NULL);
  MlirType type;
  for (int d = 0; d < w->rank; d++) {
    dims[d] = &w->dims[d];
    size[d] = w->dims[d].n_elements;
    stride[d] = w->dims[d].stride;
    base[d] = w->dims[d].between + 1;
    dilation[d] = w->dims[d].dilation;
    count[d] = w->dims[d].n_points;
  }
  type = tp__export_tensor(element, w->rank, count);
  MlirValue operands[] = {tp__export_bitcast(x, operand, element),
                          tp__export_splat(x, number, tp__export_identity(element, combiner))};
  MlirNamedAttribute attrs[] = {tp__export_list(x, "base_dilations", w->rank, base),
                                tp__windows_padding(x, w->rank, dims),
                                tp__export_list(x, "window_dilations", w->rank, dilation),
                                tp__export_list(x, "window_dimensions", w->rank, size),
                                tp__export_list(x, "window_strides", w->rank, stride)};
  MlirOperation op = tp__export_build_op(x, &(tp_build){.name = "stablehlo.reduce_window",
                                                        .n_operands = 2,
                                                        .operands = operands,
                                                        .n_results = 1,
                                                        .results = &type,
                                                        .n_attributes = TP_LEN(attrs),
                                                        .attributes = attrs,
                                                        .n_regions = 1});
  *value = tp__export_bitcast(x, mlirOperationGetResult(op, 0), old);
  return tp__export_combiner(x, n->op, combiner,
                             tp__export_region_block(x, op, 0, 2, (MlirType[]){number, number}));
}

/* Drops the dimensions without a loop of the result, and orders the others as result k has them. */
static tp_status order(tp_export *x, const tp_nest *n, int k, const tp_windows *w,
                       MlirValue *value) {
  int64_t loops[TP_NEST_MAX_LOOPS], sizes[TP_MAX_RANK], permutation[TP_MAX_RANK];
  int count, n_kept = 0, kept[TP_MAX_RANK];
  TP_TRY(tp__nest_result_loops(n, k, loops, &count));
  for (int d = 0; d < w->rank; d++)
    if (w->dims[d].point >= 0) {
      kept[n_kept] = w->dims[d].point;
      sizes[n_kept++] = w->dims[d].n_points;
    }
  *value = tp__export_reshape(x, *value, n_kept, sizes);
  for (int d = 0; d < count; d++)
    for (int i = 0; i < n_kept; i++)
      if (kept[i] == loops[d])
        permutation[d] = i;
  *value = tp__nest_add_units(x, n, k, tp__export_transpose(x, *value, permutation));
  return TP_OK;
}

typedef struct window_result {
  int input;
  tp_combiner combiner;
  tp_windows w;
} window_result;

enum { MAX_RESULTS = 4 };

static bool read_result(const tp_nest *n, int k, window_result *r) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(n->op, n->body.n_inputs + k));
  uint32_t points = tp__nest_loops_of(n, n->maps[n->body.n_inputs + k]);
  r->input = reduced_input(n, k);
  if (r->input < 0 || !tp__body_combiner(&n->body, k, &r->combiner) ||
      mlirAttributeIsNull(tp__export_identity(tp__element_type(type), r->combiner)) ||
      !tp__windows_read(n, r->input, points, &r->w) || !has_windows(&r->w))
    return false;
  /* all loops are of the operand */
  return tp__nest_loops_of(n, n->maps[r->input]) == (UINT32_C(1) << n->n_loops) - 1;
}

static tp_status reduce_result(tp_export *x, const tp_nest *n, int k, window_result *r) {
  MlirValue value, old = mlirOperationGetOperand(n->op, n->body.n_inputs + k);
  MlirOperation fill = tp__defined_by(old, "linalg.fill");
  TP_TRY(build_window(x, n, &r->w, r->input, r->combiner, &value));
  TP_TRY(order(x, n, k, &r->w, &value));
  if (mlirOperationIsNull(fill) || !tp__is_identity(mlirOperationGetOperand(fill, 0), r->combiner))
    value = tp__export_combine(x, r->combiner, tp__export_value(x, old), value);
  return tp__export_map(x, n->op, mlirOperationGetResult(n->op, k), value);
}

tp_status tp__nest_reduce_windows(tp_export *x, tp_nest *n, bool *done) {
  window_result results[MAX_RESULTS];
  int n_results = n->n_operands - n->body.n_inputs;
  if (n_results > MAX_RESULTS)
    return TP_OK;
  for (int k = 0; k < n_results; k++)
    if (!read_result(n, k, &results[k]))
      return TP_OK;
  *done = true;
  for (int k = 0; k < n_results; k++)
    TP_TRY(reduce_result(x, n, k, &results[k]));
  return TP_OK;
}
