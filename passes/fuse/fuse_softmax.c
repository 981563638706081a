/* Fuses softmaxes of rows whose columns are split over devices. Unfused, they need three dependent
 * collectives: the row max, the sum of exponentials, and the picked element. The fused form
 * exchanges partial results in one collective with 16 bytes per row. */
#include "passes/fuse/fuse_softmax.h"

#include "ir/diagnostics.h"
#include "ir/place.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

enum { ROW_BYTES = 16 }; /* alignment of rows in the kernels: tprt/cuda.h */

MlirValue tp__softmax_picked(const tp__softmax_fusion *f) {
  return mlirOperationIsNull(f->summed) ? f->picked : mlirOperationGetResult(f->summed, 0);
}

/* ---- matching ---- */

static bool reduces_by(MlirOperation op, const char *reduction) {
  MlirAttribute attr = tp__inherent(op, "reduction");
  bool is_default = mlirAttributeIsNull(attr) && strcmp(reduction, "#shard<partial sum>") == 0;
  return is_default ||
         (!mlirAttributeIsNull(attr) &&
          mlirAttributeEqual(attr, tp__parse_attr(mlirOperationGetContext(op), reduction)));
}

static tp_status read_collective(tp__fuser *s, MlirOperation op, tp__softmax_fusion *f) {
  tp__axis_runs runs;
  int all[TP_MAX_AXES];
  *f = (tp__softmax_fusion){.largest = op, .mesh = &s->mesh};
  if (!reduces_by(op, "#shard<partial max>"))
    return TP_OK;
  tp_status status = tp__read_axis_runs(op, "grid_axes", &s->mesh, &runs);
  int n = status == TP_OK ? tp__axes_of_runs(&runs, all) : 0;
  for (int i = 0; i < n; i++)
    if (s->mesh.axes[all[i]].size > 1)
      f->axes[f->n_axes++] = all[i];
  if (f->n_axes > 0)
    f->rows = tp__find_row_max_input(mlirOperationGetOperand(op, 0));
  return status;
}

static bool is_of_group(const tp__softmax_fusion *f, MlirOperation op) {
  return tp__op_is(op, "shard.all_reduce") &&
         mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(f->largest)) &&
         reduces_by(op, "#shard<partial sum>") && mlirAttributeIsNull(tp__get(op, "tp.combiner")) &&
         mlirAttributeEqual(tp__inherent(op, "grid"), tp__inherent(f->largest, "grid")) &&
         mlirAttributeEqual(tp__inherent(op, "grid_axes"), tp__inherent(f->largest, "grid_axes")) &&
         mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(op, 0)),
                       mlirValueGetType(mlirOperationGetResult(op, 0)));
}

/* Returns the all-reduce of a value over the group if it is the only reader, else null. */
static MlirOperation summed_over_group(const tp__softmax_fusion *f, MlirValue value) {
  MlirOperation user = tp__is_used_once(value) ? mlirOpOperandGetOwner(mlirValueGetFirstUse(value))
                                               : (MlirOperation){NULL};
  return !mlirOperationIsNull(user) && is_of_group(f, user) ? user : (MlirOperation){NULL};
}

static bool is_f32(MlirValue value) {
  return mlirTypeIsAF32(tp__element_type(mlirValueGetType(value)));
}

static void find_sum(tp__rows *rows, tp__softmax_fusion *f) {
  int largest = tp__row_of_number(rows, mlirOperationGetResult(f->largest, 0));
  for (int i = 0; i < rows->n_ops && mlirOperationIsNull(f->sum); i++)
    for (intptr_t k = 0; k < mlirOperationGetNumResults(rows->ops[i]); k++) {
      MlirValue value = mlirOperationGetResult(rows->ops[i], k);
      if (is_f32(value) &&
          tp__match_row_exp_sum(rows, tp__row_of_number(rows, value), largest, &f->finite))
        f->sum = summed_over_group(f, value);
    }
}

/* ---- picked elements ---- */

/* True if the columns of each device start at (rank of the device in the group) * (columns per
 * device). */
static bool is_column_index(const tp__rows *rows, const tp__softmax_fusion *f) {
  int64_t columns = rows->shape[rows->rank - 1], n = tp_mesh_size(f->mesh);
  if (columns > INT32_MAX / n) /* comparisons may have 32 bits */
    return false;
  for (int64_t device = 0; device < n; device++) {
    int64_t rank = 0, first = 0;
    for (int i = 0; i < f->n_axes; i++)
      rank =
          rank * f->mesh->axes[f->axes[i]].size + tp_mesh_coordinate(f->mesh, device, f->axes[i]);
    if (!mlirValueIsNull(f->pick.first) &&
        !tp__value_on_device(f->pick.first, f->mesh, device, &first))
      return false;
    if (first != rank * columns)
      return false;
  }
  return true;
}

static bool is_target(MlirValue value) {
  MlirType type = tp__element_type(mlirValueGetType(value));
  return mlirTypeIsAInteger(type) &&
         (mlirIntegerTypeGetWidth(type) == 32 || mlirIntegerTypeGetWidth(type) == 64);
}

/* Moves the ops that compute the target before the call. False if one of them may not move. */
static bool move_target(MlirOperation where, MlirValue value, int depth) {
  enum { MAX_DEPTH = 16 };
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) ||
      !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(where)) ||
      mlirOperationIsBeforeInBlock(op, where))
    return true;
  if (depth == MAX_DEPTH || mlirOperationEqual(op, where) ||
      !(tp__op_has_dialect(op, "linalg") || tp__op_has_dialect(op, "arith") ||
        tp__op_is(op, "tensor.empty") || tp__is_reshape(op)))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!move_target(where, mlirOperationGetOperand(op, i), depth + 1))
      return false;
  mlirOperationMoveBefore(op, where);
  return true;
}

static void find_pick(tp__rows *rows, tp__softmax_fusion *f) {
  int largest = tp__row_of_number(rows, mlirOperationGetResult(f->largest, 0)),
      sum = tp__row_of_number(rows, mlirOperationGetResult(f->sum, 0)),
      shift = tp__row_shift(rows, largest, f->finite);
  for (int i = 0; i < rows->n_ops; i++)
    for (intptr_t k = 0; k < mlirOperationGetNumResults(rows->ops[i]); k++) {
      MlirValue value = mlirOperationGetResult(rows->ops[i], k);
      if (!is_f32(value) ||
          !tp__match_row_pick(rows, tp__row_of_number(rows, value), shift, sum, &f->pick) ||
          !is_target(f->pick.target) || !is_column_index(rows, f) ||
          !move_target(f->largest, f->pick.target, 0))
        continue;
      f->picked = value;
      f->summed = summed_over_group(f, value);
      return;
    }
}

/* ---- legality and cost ---- */

/* Returns true and the reason if no kernel can compute it. */
static bool find_obstacle(tp__fuser *s, const tp__softmax_fusion *f, const tp_fused_softmax *what,
                          bool has_kernels, char *text, size_t size) {
  long long row_bytes = (long long)(what->columns * what->element_size);
  if (!is_f32(mlirOperationGetResult(f->largest, 0)) ||
      !tp__is_kernel_type(tp__element_type(mlirValueGetType(f->rows))))
    snprintf(text, size, "the row maxima are not f32, or the rows have an unsupported type");
  else if (mlirOperationIsNull(f->sum))
    snprintf(text, size,
             "no sum of exponentials relative to the row maxima is reduced over the same devices");
  else if (!has_kernels)
    snprintf(text, size, "topology \"%s\" has no fused kernels that span all devices of the group",
             s->topology.name);
  else if (row_bytes % ROW_BYTES != 0)
    snprintf(text, size, "a row has %lld bytes on a device, not a multiple of %d", row_bytes,
             ROW_BYTES);
  else
    return false;
  return true;
}

static tp_fused_softmax describe(const tp__rows *rows, const tp__softmax_fusion *f) {
  int64_t tokens = 1;
  for (int d = 0; d < rows->rank - 1; d++)
    tokens *= rows->shape[d];
  return (tp_fused_softmax){.n_axes = f->n_axes,
                            .axes = f->axes,
                            .tokens = tokens,
                            .columns = rows->shape[rows->rank - 1],
                            .element_size =
                                tp__element_size(tp__element_type(mlirValueGetType(f->rows))),
                            .n_collectives = mlirOperationIsNull(f->summed) ? 2 : 3};
}

/* ---- rewriting ---- */

static bool is_unused(MlirOperation op) {
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, k))))
      return false;
  return true;
}

static void erase_dead(const tp__rows *rows, const tp__softmax_fusion *f) {
  if (!mlirOperationIsNull(f->summed))
    mlirOperationDestroy(f->summed);
  mlirOperationDestroy(f->sum);
  mlirOperationDestroy(f->largest);
  for (int i = rows->n_ops; i-- > 0;)
    if (is_unused(rows->ops[i]))
      mlirOperationDestroy(rows->ops[i]);
}

tp_status tp__fuse_softmax(tp__fuser *s, MlirOperation op, tp__fuse_outcome *outcome) {
  static const char *const picks[] = {[TPRT_CUDA_LOGIT] = ", a pick",
                                      [TPRT_CUDA_LESS_LARGEST] = ", a pick relative to the maximum",
                                      [TPRT_CUDA_LOG_PROBABILITY] =
                                          ", a pick of log-probabilities"};
  tp__softmax_fusion f;
  tp_cost fused, separate;
  char text[160];
  *outcome = TP_FUSE_NO_CANDIDATE;
  TP_TRY(read_collective(s, op, &f));
  if (mlirValueIsNull(f.rows))
    return TP_OK;
  tp__rows_begin(&s->rows, f.rows);
  if (!tp__match_row_max(&s->rows, tp__row_of_number(&s->rows, mlirOperationGetOperand(op, 0))))
    return TP_OK;
  tp__rows_follow(&s->rows, mlirOperationGetResult(op, 0));
  find_sum(&s->rows, &f);
  if (!mlirOperationIsNull(f.sum)) {
    tp__rows_follow(&s->rows, mlirOperationGetResult(f.sum, 0));
    find_pick(&s->rows, &f);
  }
  const tp_fused_softmax what = describe(&s->rows, &f);
  bool has_kernels = tp_cost_fused_softmax(&s->topology, &s->mesh, &what, &fused, &separate);
  if (find_obstacle(s, &f, &what, has_kernels, text, sizeof text)) {
    *outcome = TP_FUSE_BLOCKED;
    tp__remark(op, "is not fused: %s", text);
    return TP_OK;
  }
  bool is_fused = fused < separate || s->always;
  tp__remark(op,
             "is %sfused with sum of exponentials%s, %lld rows of %lld: one exchange takes %.1f "
             "us, separate ones %.1f us",
             is_fused ? "" : "not ", mlirValueIsNull(f.picked) ? "" : picks[f.pick.pick],
             (long long)what.tokens, (long long)what.columns, tp_cost_seconds(fused) * 1e6,
             tp_cost_seconds(separate) * 1e6);
  *outcome = is_fused ? TP_FUSE_DONE : TP_FUSE_SLOWER;
  if (!is_fused)
    return TP_OK;
  TP_TRY(tp__outline_softmax(s->module, s->name, &f));
  erase_dead(&s->rows, &f);
  return TP_OK;
}
