/* Decides whether one kernel can compute a reduction over devices with the row operations after it,
 * and whether that is faster. */
#include "passes/fuse/fuse.h"

#include "ir/diagnostics.h"
#include "ir/place.h"
#include "support/support.h"
#include "tprt/cuda.h"

#include <stdio.h>

enum { ROW_BYTES = 16 }; /* alignment of rows in the kernels: tprt/cuda.h */

/* ---- candidates ---- */

bool tp__is_sum(MlirOperation op) {
  MlirAttribute combiner = tp__get(op, "tp.combiner"), reduction = tp__inherent(op, "reduction");
  MlirContext context = mlirOperationGetContext(op);
  if (!mlirAttributeIsNull(combiner))
    return mlirAttributeIsAString(combiner) &&
           tp__ref_is(mlirStringAttrGetValue(combiner), tp_combiner_name(TP_SUM));
  return mlirAttributeIsNull(reduction) ||
         mlirAttributeEqual(reduction, tp__parse_attr(context, "#shard<partial sum>"));
}

bool tp__is_kernel_type(MlirType element) {
  return mlirTypeIsAF32(element) || mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
}

/* Reads a collective. It is a candidate if it sums floating-point rows over more than one
 * device. */
static tp_status read_collective(const tp__fuser *s, MlirOperation op, tp__fusion *f,
                                 bool *is_candidate) {
  tp__axis_runs runs;
  int all[TP_MAX_AXES], rank, result_rank;
  int64_t shape[TP_MAX_RANK];
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0)),
           to = mlirValueGetType(mlirOperationGetResult(op, 0));
  *f = (tp__fusion){.collective = op, .mesh = &s->mesh, .dim = -1};
  *is_candidate = false;
  if (!tp__is_sum(op) || !tp__static_tensor(from, &rank, shape) ||
      !tp__static_tensor(to, &result_rank, shape) || rank == 0 ||
      !tp__is_kernel_type(tp__element_type(to)) ||
      !mlirTypeEqual(tp__element_type(from), tp__element_type(to)))
    return TP_OK;
  tp_status status = tp__read_axis_runs(op, "grid_axes", &s->mesh, &runs);
  int n = status == TP_OK ? tp__axes_of_runs(&runs, all) : 0;
  for (int i = 0; i < n; i++)
    if (s->mesh.axes[all[i]].size > 1)
      f->axes[f->n_axes++] = all[i];
  if (tp__op_is(op, "shard.reduce_scatter"))
    f->dim = (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "scatter_axis"));
  *is_candidate = f->n_axes > 0;
  return status;
}

/* ---- legality and cost ---- */

static bool is_gathered(const tp__fusion *f, tp__fused_result result) {
  return f->made[result].is_made && !mlirOperationIsNull(f->made[result].gather);
}

/* Returns the number of kernels that the unfused row operations compile to. The scales of a norm
 * are another kernel if they are per group or if the norm is rounded. */
static int n_kernels(const tp__fusion *f) {
  bool adds = !mlirValueIsNull(f->sum.residual) || !mlirValueIsNull(f->sum.bias),
       rounds = !mlirTypeIsAF32(tp__element_type(mlirValueGetType(f->root))),
       scales = f->quantize.kind == TP_QUANTIZED_PER_GROUP ||
                (f->quantize.kind == TP_QUANTIZED_PER_TOKEN && rounds);
  if (f->norm.kind == TP_NO_NORM)
    return adds || f->quantize.kind != TP_NOT_QUANTIZED;
  return 1 + scales;
}

static tp_fused_rows describe(const tp__fuser *s, const tp__fusion *f) {
  int64_t n = tp__fusion_devices(f), tokens = 1, hidden = s->rows.shape[s->rows.rank - 1];
  int kernels = n_kernels(f);
  for (int d = 0; d < s->rows.rank - 1; d++)
    tokens *= s->rows.shape[d];
  return (tp_fused_rows){
      .n_axes = f->n_axes,
      .axes = f->axes,
      .tokens = f->dim >= 0 ? tokens * n : tokens,
      .hidden = hidden,
      .element_size = tp__element_size(tp__element_type(mlirValueGetType(f->root))),
      .scattered = f->dim >= 0,
      .n_kernels = kernels,
      .n_passed = kernels > 1 && !f->made[TP_RESULT_OUT].is_made,
      .n_operands = !mlirValueIsNull(f->sum.residual),
      .n_results = f->made[TP_RESULT_SUM].is_made + f->made[TP_RESULT_OUT].is_made,
      .n_gathered = is_gathered(f, TP_RESULT_OUT),
      .quantized = f->made[TP_RESULT_QUANTIZED].is_made,
      .n_scales = f->quantize.kind == TP_QUANTIZED_PER_GROUP
                      ? hidden / TP_ROW_KERNEL_GROUP
                      : f->quantize.kind == TP_QUANTIZED_PER_TOKEN,
      .quantized_gathered = is_gathered(f, TP_RESULT_QUANTIZED)};
}

/* Prints the work of the fused kernel besides the reduction, such as " with residual, RMS norm". */
static void print_work(const tp__fusion *f, char *text, size_t size) {
  static const char *const norms[] = {
      [TP_NO_NORM] = NULL, [TP_RMS_NORM] = "RMS norm", [TP_LAYER_NORM] = "layer norm"};
  static const char *const quantizations[] = {[TP_NOT_QUANTIZED] = NULL,
                                              [TP_QUANTIZED_STATIC] = "f8 with a given scale",
                                              [TP_QUANTIZED_PER_TOKEN] = "f8 with scales of rows",
                                              [TP_QUANTIZED_PER_GROUP] =
                                                  "f8 with scales of groups"};
  const char *parts[] = {
      f->matmul.is_fused ? "its matmul" : NULL,
      mlirValueIsNull(f->sum.bias) ? NULL : "bias",
      mlirValueIsNull(f->sum.residual) ? NULL : "residual",
      norms[f->norm.kind],
      quantizations[f->quantize.kind],
      is_gathered(f, TP_RESULT_OUT) || is_gathered(f, TP_RESULT_QUANTIZED) ? "all_gather" : NULL};
  size_t length = 0;
  text[0] = '\0';
  for (int i = 0; i < TP_LEN(parts); i++)
    if (parts[i])
      tp__text_printf(text, size, &length, "%s%s", length ? ", " : " with ", parts[i]);
}

static bool has_type_of_rows(const tp__fusion *f, MlirValue value) {
  return mlirValueIsNull(value) || mlirTypeEqual(tp__element_type(mlirValueGetType(value)),
                                                 tp__element_type(mlirValueGetType(f->root)));
}

/* Writes the reason if no kernel supports the fusion. False if one does. */
static bool find_obstacle(const tp__fuser *s, const tp__fusion *f, const tp_fused_rows *rows,
                          const bool *dead, char *text, size_t size) {
  bool needs_rows = f->norm.kind != TP_NO_NORM || f->quantize.kind != TP_NOT_QUANTIZED ||
                    !mlirValueIsNull(f->sum.bias);
  long long row_bytes = (long long)(rows->hidden * rows->element_size);
  if (f->price.algorithm == TP_FUSED_NONE)
    snprintf(text, size, "topology \"%s\" has no fused kernels that span all devices of the group",
             s->topology.name);
  else if (!mlirValueEqual(f->made[TP_RESULT_SUM].value, f->root) &&
           !tp__is_read_by_dead(&s->rows, dead, f->root))
    snprintf(text, size, "the reduced value has other users");
  else if (f->dim >= 0 && f->dim == (int)mlirShapedTypeGetRank(mlirValueGetType(
                                        mlirOperationGetResult(f->collective, 0))) -
                                        1)
    snprintf(text, size, "it scatters the column dimension %d, so devices hold only parts of rows",
             f->dim);
  else if (row_bytes % ROW_BYTES != 0)
    snprintf(text, size, "a row has %lld bytes, not a multiple of %d", row_bytes, ROW_BYTES);
  else if (rows->hidden > TPRT_CUDA_MAX_HIDDEN && needs_rows)
    snprintf(text, size, "a row has %lld elements, more than %d", (long long)rows->hidden,
             TPRT_CUDA_MAX_HIDDEN);
  else if (!has_type_of_rows(f, f->norm.gamma) || !has_type_of_rows(f, f->norm.beta))
    snprintf(text, size, "gamma or beta of the norm has another type than the rows");
  else
    return false;
  return true;
}

static void remark_price(const tp__fusion *f, const tp_fused_rows *rows, bool fused) {
  char work[96];
  print_work(f, work, sizeof work);
  tp__remark(f->collective, "%s%s, %lld rows of %lld: %s (%s) %s %.1f us, separate ones %.1f us",
             fused ? "is fused" : "is not fused", work, (long long)rows->tokens,
             (long long)rows->hidden,
             f->matmul.is_fused ? "matmul slices and one kernel" : "one kernel",
             tp_fused_name(f->price.algorithm), f->matmul.is_fused ? "take" : "takes",
             tp_cost_seconds(f->price.fused) * 1e6, tp_cost_seconds(f->price.separate) * 1e6);
}

static tp_status leave(MlirOperation op, const char *reason, tp__fuse_outcome *outcome) {
  *outcome = TP_FUSE_BLOCKED;
  tp__remark(op, "is not fused: %s", reason);
  return TP_OK;
}

/* Returns the op before which the call goes. It is after the collective and the residual; no op
 * before it reads the sum. */
static MlirOperation place_of(const tp__fusion *f) {
  MlirValue sum = f->made[TP_RESULT_SUM].value;
  MlirOperation op = mlirOpResultGetOwner(sum);
  return mlirValueEqual(sum, f->root) ? mlirOperationGetNextInBlock(op) : op;
}

tp_status tp__fuse_sum(tp__fuser *s, MlirOperation op, tp__fuse_outcome *outcome) {
  tp__fusion f;
  bool is_candidate, dead[TP_ROW_OPS] = {false};
  char text[160];
  *outcome = TP_FUSE_NO_CANDIDATE;
  TP_TRY(read_collective(s, op, &f, &is_candidate));
  if (!is_candidate)
    return TP_OK;
  f.root = tp__rows_root(op);
  tp__rows_begin_groups(&s->rows, f.root);
  tp__find_fused_rows(&s->rows, &f);
  tp__find_dead(&s->rows, &f, dead);
  tp__find_outputs(&s->rows, &f, dead);
  tp_fused_rows rows = describe(s, &f);
  f.price = tp_cost_fused_rows(&s->topology, &s->mesh, &rows);
  if (find_obstacle(s, &f, &rows, dead, text, sizeof text))
    return leave(op, text, outcome);
  tp__add_matmul(&f, &s->topology, s->always, &rows);
  bool fused = s->always || f.price.fused < f.price.separate;
  MlirOperation where = place_of(&f);
  if (fused && !tp__move_operands(&s->rows, &f, where))
    return leave(op, "an operand of its rows depends on the reduced value", outcome);
  remark_price(&f, &rows, fused);
  if (f.quantize.obstacle)
    tp__remark(op, "its quantization to f8 stays unfused: %s", f.quantize.obstacle);
  if (f.gather_obstacle)
    tp__remark(op, "its all_gather stays unfused: %s", f.gather_obstacle);
  *outcome = !fused ? TP_FUSE_SLOWER : f.matmul.is_fused ? TP_FUSE_WITH_MATMUL : TP_FUSE_DONE;
  if (!fused)
    return TP_OK;
  tp__outline_fusion(s->module, s->name, where, &f);
  tp__erase_fused(&s->rows, dead, &f);
  return TP_OK;
}
