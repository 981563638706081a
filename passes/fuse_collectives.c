/* tp-fuse-collectives: sums over devices become functions together with what is done to the rows of the sum, where kernels that reach the other
 * devices' memory do it faster.
 *
 * Which values of a program are the bias, the residual and the norm behind a sum is decided on expressions of their elements (row_expression.h),
 * not on ops. The function is left in one piece by fusion and is a call of the runtime on machines with such kernels; tp-inline-calls undoes it. */
#include "passes/fuse.h"
#include "passes/fuse_softmax.h"
#include "passes/table.h"

#include "ir/diagnostics.h"
#include "ir/place.h"
#include "support/support.h"
#include "tprt/cuda.h"

#include <stdio.h>
#include <string.h>

enum { STAT_FUSED, STAT_PRODUCTS, STAT_GATHERS, STAT_SLOWER, STAT_OTHER };

enum { ROW_BYTES = 16 }; /* rows of the kernels are multiples of it: tprt/cuda.h */

typedef struct fuser {
  tp_pass *pass;
  tp_mesh mesh;
  tp_topology topology;
  bool always;
  tp_op_list ops;
  tp__rows rows;
} fuser;

/* ---- what may be fused ---- */

static bool is_sum(MlirOperation op) {
  MlirAttribute combiner = tp__get(op, "tp.combiner"), reduction = tp__inherent(op, "reduction");
  MlirContext context = mlirOperationGetContext(op);
  if (!mlirAttributeIsNull(combiner))
    return mlirAttributeIsAString(combiner) && tp__ref_is(mlirStringAttrGetValue(combiner), tp_combiner_name(TP_SUM));
  return mlirAttributeIsNull(reduction) || mlirAttributeEqual(reduction, tp__parse_attr(context, "#shard<partial sum>"));
}

static bool is_kernel_type(MlirType element) {
  return mlirTypeIsAF32(element) || mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
}

/* Sums over more than one device of rows of floats: what this pass is about. */
static tp_status read_collective(const fuser *s, MlirOperation op, tp__fusion *f, bool *is_candidate) {
  tp__axis_runs runs;
  int all[TP_MAX_AXES], rank, result_rank;
  int64_t shape[TP_MAX_RANK];
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0)), to = mlirValueGetType(mlirOperationGetResult(op, 0));
  *f = (tp__fusion){.collective = op, .mesh = &s->mesh, .dim = -1};
  *is_candidate = false;
  if (!is_sum(op) || !tp__static_tensor(from, &rank, shape) || !tp__static_tensor(to, &result_rank, shape) || rank == 0 ||
      !is_kernel_type(tp__element_type(to)) || !mlirTypeEqual(tp__element_type(from), tp__element_type(to)))
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

/* ---- what stands behind it ---- */

/* The gather that undoes the reduce_scatter, if it is all that reads `value`, which has as many elements. */
static MlirOperation find_gather(const tp__fusion *f, MlirValue value) {
  MlirOperation op = tp__is_used_once(value) ? mlirOpOperandGetOwner(mlirValueGetFirstUse(value)) : (MlirOperation){NULL};
  bool undoes = !mlirOperationIsNull(op) && f->dim >= 0 && tp__op_is(op, "shard.all_gather") &&
                mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(f->collective)) &&
                mlirAttributeEqual(tp__inherent(op, "grid"), tp__inherent(f->collective, "grid")) &&
                mlirAttributeEqual(tp__inherent(op, "grid_axes"), tp__inherent(f->collective, "grid_axes")) &&
                tp__n_pieces(value, (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "gather_axis"))) ==
                    tp__n_pieces(mlirOperationGetResult(f->collective, 0), f->dim);
  return undoes ? op : (MlirOperation){NULL};
}

/* ---- what is left over ---- */

static bool is_operand(const tp__fusion *f, MlirOperation op) {
  const MlirValue operands[] = {f->sum.residual, f->sum.bias, f->norm.gamma, f->norm.beta, f->quantise.static_scale};
  for (int i = 0; i < TP_LEN(operands); i++)
    if (!mlirValueIsNull(operands[i]) && mlirOperationEqual(tp__defining_op(operands[i]), op))
      return true;
  return false;
}

/* Is every use of `value` by one of the dead ops? */
static bool is_read_by_dead(const tp__rows *rows, const bool *dead, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    bool is_dead = false;
    for (int i = 0; i < rows->n_ops && !is_dead; i++)
      is_dead = dead[i] && mlirOperationEqual(rows->ops[i], mlirOpOperandGetOwner(use));
    if (!is_dead)
      return false;
  }
  return true;
}

static bool is_result(const tp__fusion *f, MlirValue value) {
  const MlirValue results[] = {f->sum_value, f->norm_value, f->quantised_value, f->scale_value};
  for (int i = 0; i < TP_LEN(results); i++)
    if (!mlirValueIsNull(results[i]) && mlirValueEqual(results[i], value))
      return true;
  return false;
}

/* Which ops behind the collective nobody needs when its results come from the fusion. */
static void find_dead(const tp__rows *rows, const tp__fusion *f, bool *dead) {
  for (int i = rows->n_ops; i-- > 0;) {
    dead[i] = !is_operand(f, rows->ops[i]);
    for (intptr_t k = 0; k < mlirOperationGetNumResults(rows->ops[i]) && dead[i]; k++) {
      MlirValue value = mlirOperationGetResult(rows->ops[i], k);
      dead[i] = is_result(f, value) || is_read_by_dead(rows, dead, value);
    }
  }
}

static void erase_dead(const tp__rows *rows, const bool *dead, const tp__fusion *f) {
  if (!mlirOperationIsNull(f->gather))
    mlirOperationDestroy(f->gather);
  for (int i = rows->n_ops; i-- > 0;)
    if (dead[i])
      mlirOperationDestroy(rows->ops[i]);
  for (MlirOperation op = mlirOpResultGetOwner(f->root); !mlirOperationEqual(op, f->collective);) {
    MlirOperation before = mlirOpResultGetOwner(mlirOperationGetOperand(op, 0));
    mlirOperationDestroy(op);
    op = before;
  }
  MlirValue summed = mlirOperationGetOperand(f->collective, 0);
  mlirOperationDestroy(f->collective);
  if (f->product.is_fused)
    tp__erase_product(f, summed);
}

/* ---- order ---- */

bool tp__move_before(MlirOperation where, const tp__rows *rows, MlirValue value, int depth) {
  enum { MOST_DEEP = 16 };
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) || !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(where)) ||
      mlirOperationIsBeforeInBlock(op, where))
    return true;
  for (int i = 0; rows && i < rows->n_ops; i++)
    if (mlirOperationEqual(rows->ops[i], op))
      return false;
  if (depth == MOST_DEEP || mlirOperationEqual(op, where) ||
      !(tp__op_has_dialect(op, "linalg") || tp__op_has_dialect(op, "arith") || tp__op_is(op, "tensor.empty") ||
        tp__is_reshape(op)))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!tp__move_before(where, rows, mlirOperationGetOperand(op, i), depth + 1))
      return false;
  mlirOperationMoveBefore(op, where);
  return true;
}

/* In front of what the call stands: behind the collective and the residual, and nothing that reads the sum is in front of it. */
static MlirOperation place_of(const tp__fusion *f) {
  MlirOperation sum = mlirOpResultGetOwner(f->sum_value);
  return mlirValueEqual(f->sum_value, f->root) ? mlirOperationGetNextInBlock(sum) : sum;
}

/* Brings what the call reads in front of it. */
static bool move_operands(const tp__rows *rows, const tp__fusion *f, MlirOperation where) {
  const MlirValue operands[] = {f->sum.residual, f->sum.bias, f->norm.gamma, f->norm.beta, f->quantise.static_scale};
  for (int i = 0; i < TP_LEN(operands); i++)
    if (!mlirValueIsNull(operands[i]) && !tp__move_before(where, rows, operands[i], 0))
      return false;
  return true;
}

/* ---- may it, and is it worth while? ---- */

static bool has_work(const tp__fusion *f) {
  return !mlirValueIsNull(f->sum.residual) || !mlirValueIsNull(f->sum.bias) || f->norm.kind != TP_NO_NORM ||
         f->quantise.kind != TP_NOT_QUANTISED;
}

static tp_fused_rows describe(const fuser *s, const tp__fusion *f) {
  int64_t n = tp__fusion_devices(f), tokens = 1;
  for (int d = 0; d < s->rows.rank - 1; d++)
    tokens *= s->rows.shape[d];
  return (tp_fused_rows){.n_axes = f->n_axes,
                         .axes = f->axes,
                         .tokens = f->dim >= 0 ? tokens * n : tokens,
                         .hidden = s->rows.shape[s->rows.rank - 1],
                         .element_size = tp__element_size(tp__element_type(mlirValueGetType(f->root))),
                         .scattered = f->dim >= 0,
                         .gathered = !mlirOperationIsNull(f->gather),
                         .computes = has_work(f),
                         .n_operands = !mlirValueIsNull(f->sum.residual),
                         .n_results = 1 + f->keeps_sum + (f->quantise.kind != TP_NOT_QUANTISED && f->keeps_out)};
}

/* One text of what a kernel does beside the sum: "residual, RMS norm". */
static void print_work(const tp__fusion *f, char *text, size_t size) {
  static const char *const norms[] = {[TP_NO_NORM] = NULL, [TP_RMS_NORM] = "RMS norm", [TP_LAYER_NORM] = "layer norm"};
  static const char *const quantisations[] = {[TP_NOT_QUANTISED] = NULL,
                                              [TP_QUANTISED_STATIC] = "f8 by a scale",
                                              [TP_QUANTISED_PER_TOKEN] = "f8 by scales of rows",
                                              [TP_QUANTISED_PER_GROUP] = "f8 by scales of groups"};
  const char *parts[] = {f->product.is_fused ? "its product" : NULL,
                         mlirValueIsNull(f->sum.bias) ? NULL : "bias",
                         mlirValueIsNull(f->sum.residual) ? NULL : "residual",
                         norms[f->norm.kind],
                         quantisations[f->quantise.kind],
                         mlirOperationIsNull(f->gather) ? NULL : "all_gather"};
  size_t length = 0;
  text[0] = '\0';
  for (int i = 0; i < TP_LEN(parts); i++)
    if (parts[i])
      tp__text_printf(text, size, &length, "%s%s", length ? ", " : " with ", parts[i]);
}

static bool has_type_of_rows(const tp__fusion *f, MlirValue value) {
  return mlirValueIsNull(value) ||
         mlirTypeEqual(tp__element_type(mlirValueGetType(value)), tp__element_type(mlirValueGetType(f->root)));
}

/* Why no kernel does it; false where one does. */
static bool find_obstacle(const fuser *s, const tp__fusion *f, const tp_fused_rows *rows, const bool *dead, char *text,
                          size_t size) {
  bool needs_rows = f->norm.kind != TP_NO_NORM || f->quantise.kind != TP_NOT_QUANTISED || !mlirValueIsNull(f->sum.bias);
  long long row_bytes = (long long)(rows->hidden * rows->element_size);
  if (f->price.algorithm == TP_FUSED_NONE)
    snprintf(text, size, "topology \"%s\" has no kernels that reach all devices of its group", s->topology.name);
  else if (!mlirValueEqual(f->sum_value, f->root) && !is_read_by_dead(&s->rows, dead, f->root))
    snprintf(text, size, "the sum over the devices is used elsewhere, too");
  else if (f->dim >= 0 && f->dim == (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(f->collective, 0))) - 1)
    snprintf(text, size, "it scatters dimension %d, along which rows go", f->dim);
  else if (row_bytes % ROW_BYTES != 0)
    snprintf(text, size, "a row has %lld bytes, no multiple of %d", row_bytes, ROW_BYTES);
  else if (rows->hidden > TPRT_CUDA_MAX_HIDDEN && needs_rows)
    snprintf(text, size, "a row has %lld elements, more than %d", (long long)rows->hidden, TPRT_CUDA_MAX_HIDDEN);
  else if (!has_type_of_rows(f, f->norm.gamma) || !has_type_of_rows(f, f->norm.beta))
    snprintf(text, size, "the factors of the norm have another type than the rows");
  else
    return false;
  return true;
}

static void remark_price(const tp__fusion *f, const tp_fused_rows *rows, bool fused) {
  char work[96];
  print_work(f, work, sizeof work);
  tp__remark(f->collective, "%s%s, %lld rows of %lld: %s (%s) %s %.1f us, separate ones %.1f us",
             fused ? "is fused" : "is not fused", work, (long long)rows->tokens, (long long)rows->hidden,
             f->product.is_fused ? "slices of the product and one kernel" : "one kernel", tp_fused_name(f->price.algorithm),
             f->product.is_fused ? "take" : "takes", tp_cost_seconds(f->price.fused) * 1e6,
             tp_cost_seconds(f->price.separate) * 1e6);
}

static tp_status leave(fuser *s, MlirOperation op, const char *reason) {
  s->pass->statistics[STAT_OTHER]++;
  tp__remark(op, "is not fused: %s", reason);
  return TP_OK;
}

static tp_status fuse(fuser *s, MlirOperation op) {
  tp__fusion f;
  bool is_candidate, dead[TP_ROW_OPS] = {false};
  char text[160];
  tp_status status = read_collective(s, op, &f, &is_candidate);
  if (status != TP_OK || !is_candidate)
    return status;
  f.root = tp__rows_root(op);
  tp__rows_begin_groups(&s->rows, f.root);
  tp__find_fused_rows(&s->rows, &f);
  f.gather = find_gather(&f, tp__fused_out(&f));
  find_dead(&s->rows, &f, dead);
  f.keeps_out = f.quantise.kind == TP_NOT_QUANTISED || !is_read_by_dead(&s->rows, dead, tp__fused_out(&f));
  f.keeps_sum = f.norm.kind != TP_NO_NORM && !is_read_by_dead(&s->rows, dead, f.sum_value);
  tp_fused_rows rows = describe(s, &f);
  f.price = tp_cost_fused_rows(&s->topology, &s->mesh, &rows);
  if (find_obstacle(s, &f, &rows, dead, text, sizeof text))
    return leave(s, op, text);
  if (f.quantise.kind == TP_NOT_QUANTISED)
    tp__add_product(&f, &s->topology, s->always, &rows);
  bool faster = f.price.fused < f.price.separate, fused = faster || s->always;
  MlirOperation where = place_of(&f);
  if (fused && !move_operands(&s->rows, &f, where))
    return leave(s, op, "an operand of its rows is made of the sum");
  remark_price(&f, &rows, fused);
  if (f.quantise.obstacle)
    tp__remark(op, "what becomes f8 of its rows is left apart: %s", f.quantise.obstacle);
  s->pass->statistics[fused ? STAT_FUSED : STAT_SLOWER]++;
  s->pass->statistics[STAT_PRODUCTS] += f.product.is_fused;
  if (!fused)
    return TP_OK;
  snprintf(text, sizeof text, "tp.fused.%lld", (long long)s->pass->statistics[STAT_FUSED] - 1);
  tp__outline_fusion(s->pass->module, text, where, &f);
  erase_dead(&s->rows, dead, &f);
  return TP_OK;
}

static tp_status fuse_softmax(fuser *s, MlirOperation op) {
  static const int statistics[] = {[TP_FUSE_DONE] = STAT_FUSED, [TP_FUSE_SLOWER] = STAT_SLOWER, [TP_FUSE_OTHER] = STAT_OTHER};
  char name[32];
  tp__fuse_outcome outcome;
  snprintf(name, sizeof name, "tp.fused.%lld", (long long)s->pass->statistics[STAT_FUSED]);
  const tp__softmax_fuser with = {.module = s->pass->module,
                                  .mesh = &s->mesh,
                                  .topology = &s->topology,
                                  .always = s->always,
                                  .rows = &s->rows,
                                  .name = name};
  tp_status status = tp__fuse_softmax(&with, op, &outcome);
  if (outcome != TP_FUSE_NOTHING)
    s->pass->statistics[statistics[outcome]]++;
  return status;
}

static tp_status collect_largest(MlirOperation op, void *data) {
  fuser *s = data;
  return tp__op_is(op, "shard.all_reduce") && !is_sum(op) ? tp__op_list_add(&s->ops, op) : TP_OK;
}

/* Is it in a function that this pass wrote? */
static bool is_written(MlirOperation op) { return !mlirAttributeIsNull(tp__get(tp__enclosing_func(op), "tp.fused")); }

static tp_status collect(MlirOperation op, void *data) {
  fuser *s = data;
  bool reduces = tp__op_is(op, "shard.all_reduce") || tp__op_is(op, "shard.reduce_scatter");
  return reduces && !is_written(op) ? tp__op_list_add(&s->ops, op) : TP_OK;
}

static tp_status fuse_gather(fuser *s, MlirOperation op) {
  static const int statistics[] = {
      [TP_GATHER_FUSED] = STAT_GATHERS, [TP_GATHER_SLOWER] = STAT_SLOWER, [TP_GATHER_OTHER] = STAT_OTHER};
  int64_t *counts = s->pass->statistics;
  char name[32];
  tp__gather_outcome outcome = TP_GATHER_NOTHING;
  snprintf(name, sizeof name, "tp.fused.%lld", (long long)(counts[STAT_FUSED] + counts[STAT_GATHERS]));
  const tp__gather_fuser with = {
      .module = s->pass->module, .mesh = &s->mesh, .topology = &s->topology, .always = s->always, .name = name};
  tp_status status = tp__fuse_gather(&with, op, &outcome);
  if (outcome != TP_GATHER_NOTHING)
    counts[statistics[outcome]]++;
  return status;
}

/* Those that no sum has taken; also not those in functions that this pass has written. */
static tp_status collect_gather(MlirOperation op, void *data) {
  fuser *s = data;
  bool is_left = tp__op_is(op, "shard.all_gather") && mlirAttributeIsNull(tp__get(tp__enclosing_func(op), "tp.fused"));
  return is_left ? tp__op_list_add(&s->ops, op) : TP_OK;
}

static tp_status run(tp_pass *pass) {
  const char *when = tp__pass_option(pass, "fuse");
  if (strcmp(when, "no") != 0 && strcmp(when, "faster") != 0 && strcmp(when, "always") != 0)
    return tp__error(pass->module, TP_INVALID_ARGUMENT, "fuse=%s: expected no, faster or always", when);
  if (strcmp(when, "no") == 0)
    return TP_OK;
  if (!tp__is_local(pass->module))
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "the module is not partitioned (no tp.phase = \"local\"); run tp-partition first");
  fuser *s = tp__calloc(1, sizeof *s);
  if (!s)
    return tp__error(pass->module, TP_NO_MEMORY, "out of memory");
  s->pass = pass;
  s->always = strcmp(when, "always") == 0;
  tp_status status = tp__module_mesh(pass->module, NULL, &s->mesh);
  if (status == TP_OK && s->mesh.n_axes > 0)
    status = tp__load_topology(pass->module, tp__pass_option(pass, "topology"), &s->mesh, &s->topology);
  if (status == TP_OK && s->mesh.n_axes > 0)
    status = tp__walk(pass->module, collect_largest, s);
  for (size_t i = 0; i < s->ops.n && status == TP_OK; i++)
    status = fuse_softmax(s, s->ops.items[i]);
  s->ops.n = 0; /* softmaxes have taken some sums away */
  if (status == TP_OK && s->mesh.n_axes > 0)
    status = tp__walk(pass->module, collect, s);
  for (size_t i = 0; i < s->ops.n && status == TP_OK; i++)
    status = fuse(s, s->ops.items[i]);
  s->ops.n = 0;
  if (status == TP_OK && s->mesh.n_axes > 0)
    status = tp__walk(pass->module, collect_gather, s);
  for (size_t i = 0; i < s->ops.n && status == TP_OK; i++)
    status = fuse_gather(s, s->ops.items[i]);
  tp__free(s->ops.items);
  tp__free(s);
  return status;
}

static const tp_option_row options[] = {
    {"topology", "cpu", "cost model, see tp-propagate; its kernels key says what there is to fuse for"},
    {"fuse", "faster", "faster: where one kernel is modelled to take less time; always: wherever there is one; no: nowhere"},
};

static const tp_statistic_row statistics[] = {
    [STAT_FUSED] = {"fused", "sums over devices that became one kernel with what follows"},
    [STAT_PRODUCTS] = {"products", "those whose product is computed in slices, each sent while the next is computed"},
    [STAT_GATHERS] = {"gathers", "gathers of rows whose slices are copied while others are multiplied"},
    [STAT_SLOWER] = {"slower", "those for which separate kernels are modelled to be faster"},
    [STAT_OTHER] = {"other", "those that no kernel does together with what follows"},
};

const tp_pass_row tp__fuse_collectives_row = {
    .name = "tp-fuse-collectives",
    .summary = "Make one kernel of a sum over devices and the residual and norm behind it",
    .description =
        "Requires: tp.phase = \"local\", tensors, calls inlined. Establishes: an all_reduce or reduce_scatter of a "
        "sum of f32, f16 or bf16, "
        "with a bias, a residual, an RMS or layer norm of the rows behind it and the all_gather that undoes the "
        "reduce_scatter, is a call of a private "
        "function whose tp.fused says what it is and which algorithm of tprt/cuda.h does it, where the topology has "
        "such kernels and they are modelled to be faster. A product of rows and a matrix that such a sum in slices is the only "
        "reader of becomes part of the function, to be computed in slices, where that is modelled to be faster. So does "
        "what divides such rows by a scale that is given, one a row or one for every 128 elements, clamps them and rounds them "
        "to f8E4M3FN, unless a "
        "remark "
        "says why not. So are an "
        "all_gather of rows that is left and the products of them. "
        "Of rows of f32, or widened to it, that are cut into columns, the largest, the sum of exponentials relative to it and "
        "what an index compared with columns picks "
        "are such a function, too: one exchange. A remark at "
        "each such collective says both times, or what stands in the way. Breaks: nothing; tp-inline-calls brings the ops "
        "back, in the kernel's order of "
        "additions and with its roundings: once behind the residual, once behind the norm.",
    .options = options,
    .n_options = TP_LEN(options),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
