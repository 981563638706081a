/* Scatter: a linalg.generic over the elements of the result and all updates, which takes the
 * updates whose position is that of the element:
 *
 *   result[r, c] = for u in updates: if index[u] == r then combine(result[r, c], update[u, c])
 *
 * So the rules of structured ops hold: elements of the result are split with a comparison of
 * global positions, and split updates give partial results. tp-expand-scatters visits only the
 * elements that an update changes. An update whose window is not inside of the operand is dropped,
 * as by XLA.
 *
 * One window at a constant position inside of the operand, as of x.at[1:-1].set(y), is inserted:
 * split tensors exchange their borders only. If it is combined (x.at[1:-1].add(y)), a large one is
 * combined with its slice of the operand first. A small one, or a constant, is whole on every
 * device at little cost, and the general form then needs no communication. */
#include "passes/import/stablehlo/hlo.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { MAX_SCATTERED = 16 };

typedef struct scatter {
  int n;                                                /* inputs */
  int n_windows, n_inserted, n_batching, n_mapped;      /* entries of the lists */
  int64_t windows[TP_MAX_RANK];                         /* dimensions of updates */
  int64_t inserted[TP_MAX_RANK], batching[TP_MAX_RANK]; /* of inputs */
  int64_t index_batching[TP_MAX_RANK];                  /* of indices */
  int64_t mapped[TP_MAX_RANK];                          /* of inputs, per component */
  int64_t vector_dim;
  tp_hlo_shape input, indices, update;
  int64_t sizes[TP_MAX_RANK];    /* of the window, along each dimension of inputs */
  int update_loops[TP_MAX_RANK]; /* loop of each dimension of updates */
  int index_loops[TP_MAX_RANK];  /* loop of each dimension of indices; -1: the components */
  int window_loops[TP_MAX_RANK]; /* loop over a window that is smaller than its dimension; -1 */
  int n_loops;
} scatter;

static tp_status read_scatter(MlirOperation op, scatter *s) {
  static const char name[] = "scatter_dimension_numbers";
  int n;
  s->n = (int)mlirOperationGetNumResults(op);
  if (s->n < 1 || s->n > MAX_SCATTERED || mlirOperationGetNumOperands(op) != 2 * s->n + 1)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d operands and %d results; it needs an input and an update per result, "
                     "and indices, and at most %d results",
                     (int)mlirOperationGetNumOperands(op), s->n, MAX_SCATTERED);
  s->input = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  s->indices = tp__hlo_shape(tp__hlo_operand_type(op, s->n));
  s->update = tp__hlo_shape(tp__hlo_operand_type(op, s->n + 1));
  TP_TRY(
      tp__hlo_field_list(op, name, "update_window_dims", TP_MAX_RANK, &s->n_windows, s->windows));
  TP_TRY(tp__hlo_field_list(op, name, "inserted_window_dims", TP_MAX_RANK, &s->n_inserted,
                            s->inserted));
  TP_TRY(tp__hlo_field_list(op, name, "input_batching_dims", TP_MAX_RANK, &s->n_batching,
                            s->batching));
  TP_TRY(tp__hlo_field_list(op, name, "scatter_indices_batching_dims", TP_MAX_RANK, &n,
                            s->index_batching));
  TP_TRY(tp__hlo_field_list(op, name, "scatter_dims_to_operand_dims", TP_MAX_RANK, &s->n_mapped,
                            s->mapped));
  TP_TRY(tp__hlo_field_int(op, name, "index_vector_dim", 0, &s->vector_dim));
  return n == s->n_batching ? TP_OK
                            : tp__error(op, TP_INVALID_ARGUMENT,
                                        "%s: input_batching_dims and scatter_indices_batching_dims "
                                        "must be as many",
                                        name);
}

static bool valid_lists(MlirOperation op, const scatter *s) {
  tp_hlo_kind kind = tp__hlo_kind(tp__hlo_operand_element(op, s->n));
  int64_t components =
      s->vector_dim >= 0 && s->vector_dim < s->indices.rank ? s->indices.sizes[s->vector_dim] : 1;
  bool ok = (kind == TP_HLO_SIGNED || kind == TP_HLO_UNSIGNED) && s->vector_dim >= 0 &&
            s->vector_dim <= s->indices.rank && components == s->n_mapped &&
            tp__hlo_in_range(s->n_windows, s->windows, s->update.rank) &&
            tp__hlo_in_range(s->n_inserted, s->inserted, s->input.rank) &&
            tp__hlo_in_range(s->n_batching, s->batching, s->input.rank) &&
            tp__hlo_in_range(s->n_batching, s->index_batching, s->indices.rank) &&
            tp__hlo_in_range(s->n_mapped, s->mapped, s->input.rank) &&
            s->n_windows + s->n_inserted + s->n_batching == s->input.rank;
  for (int i = 0; ok && i < s->n_batching; i++)
    ok = s->index_batching[i] != s->vector_dim &&
         s->indices.sizes[s->index_batching[i]] == s->input.sizes[s->batching[i]];
  for (int i = 0; ok && i < s->n; i++)
    ok = mlirTypeEqual(tp__hlo_operand_type(op, i),
                       mlirValueGetType(mlirOperationGetResult(op, i))) &&
         tp__hlo_same_shape(tp__hlo_operand_type(op, i), tp__hlo_operand_type(op, 0)) &&
         tp__hlo_same_shape(tp__hlo_operand_type(op, s->n + 1 + i),
                            tp__hlo_operand_type(op, s->n + 1)) &&
         mlirTypeEqual(tp__hlo_operand_element(op, s->n + 1 + i), tp__hlo_operand_element(op, i));
  return ok;
}

/* Numbers the loops: dimensions of the inputs, then the dimensions of the updates that are no
 * batch, then windows that are smaller than their dimension. False if shapes do not fit. */
static bool number_loops(scatter *s) {
  int at = 0, window = 0;
  s->n_loops = s->input.rank;
  for (int d = 0; d < s->indices.rank; d++) {
    s->index_loops[d] = -1;
    if (d == s->vector_dim)
      continue;
    for (int i = 0; i < s->n_batching; i++)
      if (s->index_batching[i] == d)
        s->index_loops[d] = (int)s->batching[i];
    if (s->index_loops[d] < 0)
      s->index_loops[d] = s->n_loops++;
    while (at < s->update.rank && tp__hlo_has(s->n_windows, s->windows, at))
      at++;
    if (at >= s->update.rank || s->update.sizes[at] != s->indices.sizes[d])
      return false;
    s->update_loops[at++] = s->index_loops[d];
  }
  while (at < s->update.rank && tp__hlo_has(s->n_windows, s->windows, at))
    at++;
  if (at != s->update.rank)
    return false;
  for (int d = 0; d < s->input.rank; d++) {
    bool is_window =
        !tp__hlo_has(s->n_inserted, s->inserted, d) && !tp__hlo_has(s->n_batching, s->batching, d);
    s->window_loops[d] = -1;
    s->sizes[d] = 1;
    if (!is_window)
      continue;
    int64_t dim = s->windows[window++];
    s->sizes[d] = s->update.sizes[dim];
    if (s->sizes[d] > s->input.sizes[d])
      return false;
    if (s->sizes[d] < s->input.sizes[d])
      s->window_loops[d] = s->n_loops++;
    s->update_loops[dim] = s->window_loops[d] < 0 ? d : s->window_loops[d];
  }
  return s->n_loops <= TP_MAX_GENERIC_LOOPS;
}

/* ---- building ---- */

static MlirValue both(tp_hlo *hlo, MlirValue a, MlirValue b) {
  return mlirValueIsNull(a) ? b : tp__hlo_binary(hlo, "arith.andi", a, b);
}

/* Adds to `condition` that the update of this iteration meets the element along dimension `d`. */
static MlirValue meets(tp_hlo *hlo, MlirOperation op, const scatter *s, MlirOperation generic,
                       int d, MlirValue condition) {
  MlirType index = mlirIndexTypeGet(hlo->context);
  bool is_signed = tp__hlo_kind(tp__hlo_operand_element(op, s->n)) == TP_HLO_SIGNED;
  MlirValue start = {NULL};
  int64_t last = s->input.sizes[d] - s->sizes[d];
  for (int i = 0; i < s->n_mapped; i++)
    if (s->mapped[i] == d)
      start = tp__hlo_index(hlo, tp__hlo_body_arg(generic, i), !is_signed);
  bool is_given = !mlirValueIsNull(start);
  if (tp__hlo_has(s->n_batching, s->batching, d) || (!is_given && last == 0))
    return condition;
  if (!is_given)
    start = tp__hlo_int_constant(hlo, index, 0);
  if (last == 0 && s->sizes[d] > 1) /* the window is the whole dimension */
    return both(hlo, condition,
                tp__hlo_compare(hlo, "eq", start, tp__hlo_int_constant(hlo, index, 0)));
  MlirValue at = start;
  if (s->window_loops[d] >= 0 && s->sizes[d] > 1) {
    if (is_given)
      condition =
          both(hlo, condition,
               tp__hlo_compare(hlo, "ult", start, tp__hlo_int_constant(hlo, index, last + 1)));
    at = tp__hlo_binary(hlo, "arith.addi", start, tp__hlo_loop_index(hlo, s->window_loops[d]));
  }
  return both(hlo, condition, tp__hlo_compare(hlo, "eq", at, tp__hlo_loop_index(hlo, d)));
}

static void read_operands(tp_hlo *hlo, MlirOperation op, const scatter *s, MlirValue *operands,
                          MlirAttribute *maps) {
  MlirAffineExpr at[TP_MAX_RANK];
  int all[TP_MAX_RANK];
  for (int i = 0; i < s->n_mapped; i++) {
    for (int d = 0; d < s->indices.rank; d++)
      at[d] = s->index_loops[d] < 0 ? mlirAffineConstantExprGet(hlo->context, i)
                                    : mlirAffineDimExprGet(hlo->context, s->index_loops[d]);
    operands[i] = tp__hlo_operand(hlo, op, s->n);
    maps[i] = tp__hlo_map_of(hlo, s->n_loops, s->indices.rank, at);
  }
  for (int d = 0; d < s->input.rank; d++)
    all[d] = d;
  for (int i = 0; i < s->n; i++) {
    operands[s->n_mapped + i] = tp__hlo_operand(hlo, op, s->n + 1 + i);
    maps[s->n_mapped + i] = tp__hlo_loop_map(hlo, s->n_loops, s->update.rank, s->update_loops);
    operands[s->n_mapped + s->n + i] = tp__hlo_operand(hlo, op, i);
    maps[s->n_mapped + s->n + i] = tp__hlo_loop_map(hlo, s->n_loops, s->input.rank, all);
  }
}

static tp_status build_scatter(tp_hlo *hlo, MlirOperation op, const scatter *s) {
  MlirValue operands[TP_MAX_RANK + 2 * MAX_SCATTERED], arguments[2 * MAX_SCATTERED];
  MlirAttribute maps[TP_MAX_RANK + 2 * MAX_SCATTERED];
  MlirOperation yield, outer = hlo->where;
  MlirValue condition = {NULL};
  read_operands(hlo, op, s, operands, maps);
  MlirOperation generic = tp__hlo_generic(hlo, s->n_mapped + s->n, s->n, operands, maps, &yield);
  for (int i = 0; i < s->n; i++) {
    arguments[i] = tp__hlo_body_arg(generic, s->n_mapped + s->n + i);
    arguments[s->n + i] = tp__hlo_body_arg(generic, s->n_mapped + i);
  }
  TP_TRY(tp__hlo_body(hlo, op, 0, yield, 2 * s->n, arguments));
  if (mlirOperationGetNumOperands(yield) != s->n)
    return tp__error(op, TP_INVALID_ARGUMENT, "region 0 must return a value per result");
  hlo->where = yield;
  for (int d = 0; d < s->input.rank; d++)
    condition = meets(hlo, op, s, generic, d, condition);
  for (int i = 0; i < s->n && !mlirValueIsNull(condition); i++)
    arguments[i] = tp__hlo_select(hlo, condition, mlirOperationGetOperand(yield, i), arguments[i]);
  if (!mlirValueIsNull(condition))
    mlirOperationSetOperands(yield, s->n, arguments);
  hlo->where = outer;
  return tp__hlo_replace_all(hlo, op, generic);
}

/* ---- one window ---- */

/* Reads element i of a tensor of integers, if it is a constant. */
static bool constant_at(MlirValue value, int64_t i, int64_t *number) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op))
    return false;
  if (tp__op_is(op, "tensor.expand_shape") || tp__op_is(op, "tensor.collapse_shape"))
    return constant_at(mlirOperationGetOperand(op, 0), i, number);
  if (tp__op_is(op, "tensor.concat") && tp__hlo_shape(mlirValueGetType(value)).rank == 1) {
    for (int k = 0; k < (int)mlirOperationGetNumOperands(op); k++) {
      tp_hlo_shape part = tp__hlo_shape(tp__hlo_operand_type(op, k));
      if (i < part.sizes[0])
        return constant_at(mlirOperationGetOperand(op, k), i, number);
      i -= part.sizes[0];
    }
  }
  if (!tp__op_is(op, "arith.constant"))
    return false;
  MlirAttribute elements = tp__inherent(op, "value");
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(value));
  uint64_t at[TP_MAX_RANK];
  for (int d = shape.rank - 1; d >= 0; d--) {
    at[d] = (uint64_t)(i % shape.sizes[d]);
    i /= shape.sizes[d];
  }
  if (!mlirAttributeIsADenseElements(elements) ||
      !mlirElementsAttrIsValidIndex(elements, shape.rank, at))
    return false;
  *number = mlirIntegerAttrGetValueInt(mlirElementsAttrGetValue(elements, shape.rank, at));
  return true;
}

/* Finds the window of a scatter that has one, at a constant position inside of the operand. */
static bool has_window(tp_hlo *hlo, MlirOperation op, const scatter *s, int64_t *offsets) {
  int64_t n = tp__hlo_elements(&s->indices);
  MlirValue indices = tp__hlo_operand(hlo, op, s->n);
  if (s->n_batching > 0 || n != s->n_mapped)
    return false;
  for (int d = 0; d < s->input.rank; d++)
    offsets[d] = 0;
  for (int i = 0; i < s->n_mapped; i++) {
    int64_t *at = offsets + s->mapped[i];
    if (!constant_at(indices, i, at) || *at < 0 ||
        *at > s->input.sizes[s->mapped[i]] - s->sizes[s->mapped[i]])
      return false;
  }
  return true;
}

/* True if the body of a scatter gives its updates. */
static bool gives_updates(MlirOperation op, int n) {
  MlirBlock body = tp__region_block(op, 0);
  MlirOperation end = tp__last_op(body);
  bool ok = !mlirOperationIsNull(end) && mlirBlockGetNumArguments(body) == 2 * n &&
            mlirOperationGetNumOperands(end) == n;
  for (int i = 0; i < n && ok; i++)
    ok = mlirValueEqual(mlirOperationGetOperand(end, i), mlirBlockGetArgument(body, n + i));
  return ok;
}

/* True if each update covers a quarter or more of each dimension, and is no constant with equal
 * elements. */
static bool are_large(tp_hlo *hlo, MlirOperation op, const scatter *s) {
  bool ok = true;
  for (int d = 0; d < s->input.rank; d++)
    ok &= 4 * s->sizes[d] >= s->input.sizes[d];
  for (int i = 0; i < s->n; i++)
    ok &= mlirAttributeIsNull(tp__hlo_splat_of(tp__hlo_operand(hlo, op, s->n + 1 + i)));
  return ok;
}

/* Finds the window that is inserted, after it is combined if need be. */
static bool find_window(tp_hlo *hlo, MlirOperation op, const scatter *s, int64_t *offsets) {
  return has_window(hlo, op, s, offsets) && (gives_updates(op, s->n) || are_large(hlo, op, s));
}

/* Combines slices of the inputs with the updates. parts[i] is the update of input i, and becomes
 * its new slice. */
static tp_status combine(tp_hlo *hlo, MlirOperation op, const scatter *s, const int64_t *offsets,
                         const int64_t *ones, MlirValue *parts) {
  MlirValue operands[2 * MAX_SCATTERED], arguments[2 * MAX_SCATTERED];
  MlirAttribute maps[2 * MAX_SCATTERED];
  int all[TP_MAX_RANK];
  MlirOperation yield;
  for (int d = 0; d < s->input.rank; d++)
    all[d] = d;
  for (int i = 0; i < s->n; i++) {
    operands[i] = parts[i];
    operands[s->n + i] = tp__hlo_slice(hlo, tp__hlo_operand(hlo, op, i), offsets, s->sizes, ones);
    maps[i] = maps[s->n + i] = tp__hlo_loop_map(hlo, s->input.rank, s->input.rank, all);
  }
  MlirOperation generic = tp__hlo_generic(hlo, s->n, s->n, operands, maps, &yield);
  for (int i = 0; i < s->n; i++) {
    arguments[i] = tp__hlo_body_arg(generic, s->n + i);
    arguments[s->n + i] = tp__hlo_body_arg(generic, i);
    parts[i] = mlirOperationGetResult(generic, i);
  }
  TP_TRY(tp__hlo_body(hlo, op, 0, yield, 2 * s->n, arguments));
  return mlirOperationGetNumOperands(yield) == s->n
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT, "region 0 must return a value per result");
}

static tp_status build_window(tp_hlo *hlo, MlirOperation op, const scatter *s,
                              const int64_t *offsets) {
  MlirValue parts[MAX_SCATTERED];
  int64_t ones[TP_MAX_RANK];
  tp_hlo_shape window = {.rank = s->input.rank};
  for (int d = 0; d < window.rank; d++) {
    window.sizes[d] = s->sizes[d];
    ones[d] = 1;
  }
  for (int i = 0; i < s->n; i++)
    parts[i] = tp__hlo_reshape(hlo, tp__hlo_operand(hlo, op, s->n + 1 + i), &window);
  if (!gives_updates(op, s->n))
    TP_TRY(combine(hlo, op, s, offsets, ones, parts));
  for (int i = 0; i < s->n; i++)
    TP_TRY(tp__hlo_map(hlo, op, mlirOperationGetResult(op, i),
                       tp__hlo_insert(hlo, parts[i], tp__hlo_operand(hlo, op, i), offsets, ones)));
  return TP_OK;
}

static tp_status scatter_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  scatter s = {0};
  int64_t offsets[TP_MAX_RANK];
  TP_TRY(read_scatter(op, &s));
  if (!valid_lists(op, &s) || !number_loops(&s))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "scatter_dimension_numbers do not fit the types of its operands");
  if (hlo->scalar)
    return tp__error(op, TP_UNSUPPORTED, "is not supported in the body of another op");
  if (tp__hlo_elements(&s.update) > 0)
    return find_window(hlo, op, &s, offsets) ? build_window(hlo, op, &s, offsets)
                                             : build_scatter(hlo, op, &s);
  for (int i = 0; i < s.n; i++)
    TP_TRY(tp__hlo_map(hlo, op, mlirOperationGetResult(op, i), tp__hlo_operand(hlo, op, i)));
  return TP_OK;
}

const tp_hlo_row tp__hlo_scatter_rows[] = {
    {"stablehlo.scatter", TP_HLO_ANY, TP_HLO_ANY, 1, scatter_op, NULL,
     "linalg.generic that takes the updates of each element; of one window at a constant position: "
     "tensor.insert_slice"},
    {NULL},
};
