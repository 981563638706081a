/* Fuses an all-gather of rows with the matmuls that read them: slices are copied while other slices
 * are multiplied. */
#include "passes/fuse/fuse_bodies.h"

#include "passes/support/contraction.h"
#include "passes/support/lower.h"

#include "ir/diagnostics.h"
#include "ir/place.h"
#include "ir/work.h"

#include <stdio.h>

typedef struct gathering {
  tp__fuser *with;
  MlirOperation gather;
  int dim, n_axes, axes[TP_MAX_AXES];
  int rank;
  int64_t shape[TP_MAX_RANK]; /* shape of the gathered tensor */
  tp_gathered_rows rows;
  int n;
  tp__matmul matmuls[TP_MAX_GATHERED];
  /* reshape of the gathered tensor that each matmul reads, or null */
  MlirOperation views[TP_MAX_GATHERED];
  bool is_read;         /* ops other than these matmuls read the gathered tensor */
  const char *obstacle; /* why a matmul was rejected */
} gathering;

/* ---- matching ---- */

static tp_status read_gather(gathering *g, bool *is_candidate) {
  tp__axis_runs runs;
  int all[TP_MAX_AXES];
  MlirType type = mlirValueGetType(mlirOperationGetResult(g->gather, 0)),
           element = tp__element_type(type);
  *is_candidate = false;
  if (!tp__static_tensor(type, &g->rank, g->shape) || g->rank < 2 ||
      !(mlirTypeIsAF32(element) || mlirTypeIsAF16(element) || mlirTypeIsABF16(element)))
    return TP_OK;
  tp_status status = tp__read_axis_runs(g->gather, "grid_axes", &g->with->mesh, &runs);
  int n = status == TP_OK ? tp__axes_of_runs(&runs, all) : 0;
  for (int i = 0; i < n; i++)
    if (g->with->mesh.axes[all[i]].size > 1)
      g->axes[g->n_axes++] = all[i];
  g->dim = (int)mlirIntegerAttrGetValueInt(tp__inherent(g->gather, "gather_axis"));
  g->rows = (tp_gathered_rows){.n_axes = g->n_axes,
                               .axes = g->axes,
                               .tokens = 1,
                               .width = g->shape[g->rank - 1],
                               .element_size = tp__element_size(element),
                               .peak = tp__peak_of(element, element)};
  for (int d = 0; d < g->rank - 1; d++)
    g->rows.tokens *= g->shape[d];
  *is_candidate = g->n_axes > 0;
  return status;
}

static int64_t n_devices(const gathering *g) {
  int64_t n = 1;
  for (int i = 0; i < g->n_axes; i++)
    n *= g->with->mesh.axes[g->axes[i]].size;
  return n;
}

/* Adds a matmul of the rows `left`, or records why it is rejected. */
static void add_matmul(gathering *g, MlirOperation op, MlirValue left, MlirOperation view) {
  enum { ROW_BYTES = 16 };
  tp__matmul matmul;
  int64_t slice =
      g->rows.tokens / n_devices(g) / tp__n_pieces(mlirOperationGetResult(g->gather, 0), g->dim);
  tp__read_matmul(op, slice, &matmul);
  MlirType out = mlirValueGetType(mlirOperationGetResult(op, 0));
  int64_t rank = mlirShapedTypeGetRank(out),
          columns = rank ? mlirShapedTypeGetDimSize(out, rank - 1) : 1;
  if (!matmul.obstacle && (!mlirValueEqual(matmul.a, left) || mlirValueEqual(matmul.b, left)))
    matmul.obstacle = "it is not a matmul of these rows, untransposed, by a matrix";
  else if (!matmul.obstacle && slice * columns * g->rows.element_size % ROW_BYTES != 0)
    matmul.obstacle = "its slices would not be aligned to 16 bytes";
  else if (!matmul.obstacle && g->n == TP_MAX_GATHERED)
    matmul.obstacle = "the all_gather already has four fused matmuls";
  if (matmul.obstacle) {
    g->is_read = true;
    g->obstacle = g->obstacle ? g->obstacle : matmul.obstacle;
    return;
  }
  g->rows.columns[g->n] = columns;
  g->views[g->n] = view;
  g->matmuls[g->n++] = matmul;
}

/* Finds the matmuls that read the rows, also through reshapes that keep rows intact. */
static void find_matmuls(gathering *g, MlirValue rows, MlirOperation view) {
  for (MlirOpOperand use = mlirValueGetFirstUse(rows); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    tp__contraction c;
    int rank = 0;
    int64_t shape[TP_MAX_RANK];
    bool here = mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(g->gather));
    if (here && tp__is_reshape(op) && mlirOperationIsNull(view) &&
        tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &rank, shape) &&
        rank > 1 && shape[rank - 1] == g->rows.width)
      find_matmuls(g, mlirOperationGetResult(op, 0), op);
    else if (here && mlirOperationGetNumResults(op) == 1 && tp__match_contraction(op, &c))
      add_matmul(g, op, rows, view);
    else
      g->is_read = true;
  }
}

/* Writes the reason if the fusion is impossible. False if it is possible. */
static bool find_obstacle(const gathering *g, tp_fused_algorithm algorithm, char *text,
                          size_t size) {
  if (algorithm == TP_FUSED_NONE)
    snprintf(text, size, "topology \"%s\" has no fused kernels that span all devices of the group",
             g->with->topology.name);
  else if (g->dim == g->rank - 1)
    snprintf(text, size, "it gathers the column dimension %d, so devices hold only parts of rows",
             g->dim);
  else if (g->n == 0)
    snprintf(text, size, "unsupported matmul: %s", g->obstacle);
  else
    return false;
  return true;
}

/* ---- the function ---- */

static const char *const factor_names[TP_MAX_GATHERED] = {"b0", "b1", "b2", "b3"};
static const char *const out_names[TP_MAX_GATHERED] = {"out0", "out1", "out2", "out3"};

static MlirAttribute describe(const gathering *g) {
  MlirContext context = mlirOperationGetContext(g->gather);
  const char *operands[1 + TP_MAX_GATHERED] = {"input"},
                           *results[1 + TP_MAX_GATHERED] = {"gathered"};
  MlirAttribute transposed[TP_MAX_GATHERED];
  for (int i = 0; i < g->n; i++) {
    operands[1 + i] = factor_names[i];
    results[g->is_read + i] = out_names[i];
    transposed[i] = mlirBoolAttrGet(context, g->matmuls[i].transpose_b);
  }
  MlirNamedAttribute entries[] = {
      tp__named(context, "kind", tp__attr_string(context, "gather_multiply")),
      tp__named(context, "axes", tp__fused_axes(context, &g->with->mesh, g->n_axes, g->axes)),
      tp__named(context, "dim", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), g->dim)),
      tp__named(context, "operands", tp__fused_names(context, 1 + g->n, operands)),
      tp__named(context, "results", tp__fused_names(context, g->is_read + g->n, results)),
      tp__named(context, "transposed", mlirArrayAttrGet(context, g->n, transposed)),
  };
  return mlirDictionaryAttrGet(context, TP_LEN(entries), entries);
}

static void fill_func(const gathering *g, MlirBlock block) {
  MlirLocation location = mlirOperationGetLocation(g->gather);
  MlirOperation end = tp__create(&(tp_build){.name = "func.return", .location = location});
  MlirOperation gather = mlirOperationClone(g->gather);
  MlirValue results[1 + TP_MAX_GATHERED];
  mlirBlockAppendOwnedOperation(block, end);
  mlirOperationSetOperand(gather, 0, mlirBlockGetArgument(block, 0));
  tp__insert_before(end, gather);
  results[0] = mlirOperationGetResult(gather, 0);
  for (int i = 0; i < g->n; i++) {
    const tp__matmul *matmul = &g->matmuls[i];
    MlirValue out =
        tp__build_matmul(end, mlirOperationGetResult(gather, 0), mlirBlockGetArgument(block, 1 + i),
                         matmul->transpose_b, g->rows.tokens, g->rows.columns[i], matmul->k);
    int rank;
    int64_t shape[TP_MAX_RANK];
    tp__static_tensor(mlirValueGetType(mlirOperationGetResult(matmul->op, 0)), &rank, shape);
    results[g->is_read + i] = tp__view(end, location, out, rank, shape);
  }
  mlirOperationSetOperands(end, g->is_read + g->n, results);
}

static void outline(const gathering *g) {
  MlirContext context = mlirOperationGetContext(g->gather);
  MlirValue operands[1 + TP_MAX_GATHERED] = {mlirOperationGetOperand(g->gather, 0)},
                         gathered = mlirOperationGetResult(g->gather, 0);
  MlirType inputs[1 + TP_MAX_GATHERED] = {mlirValueGetType(operands[0])},
                      results[1 + TP_MAX_GATHERED] = {mlirValueGetType(gathered)};
  MlirBlock block;
  for (int i = 0; i < g->n; i++) {
    operands[1 + i] = g->matmuls[i].b;
    inputs[1 + i] = mlirValueGetType(operands[1 + i]);
    results[g->is_read + i] = mlirValueGetType(mlirOperationGetResult(g->matmuls[i].op, 0));
  }
  tp__build_fused_func(g->with->module, g->with->name, mlirOperationGetLocation(g->gather),
                       describe(g), 1 + g->n, inputs, g->is_read + g->n, results, &block);
  fill_func(g, block);
  MlirNamedAttribute callee =
      tp__named(context, "callee", mlirFlatSymbolRefAttrGet(context, tp__ref(g->with->name)));
  MlirOperation call =
      tp__build(g->gather, "func.call", 1 + g->n, operands, g->is_read + g->n, results, 1, &callee);
  for (int i = 0; i < g->n; i++)
    tp__replace_op(g->matmuls[i].op, mlirOperationGetResult(call, g->is_read + i));
  for (int i = 0; i < g->n; i++) {
    bool is_gone = mlirOperationIsNull(g->views[i]);
    for (int k = 0; k < i && !is_gone; k++)
      is_gone = mlirOperationEqual(g->views[i], g->views[k]);
    if (!is_gone && !tp__is_used(mlirOperationGetResult(g->views[i], 0)))
      mlirOperationDestroy(g->views[i]);
  }
  if (g->is_read)
    mlirValueReplaceAllUsesOfWith(gathered, mlirOperationGetResult(call, 0));
  if (!tp__is_used(gathered))
    mlirOperationDestroy(g->gather);
}

static tp_status leave(const gathering *g, const char *why, tp__fuse_outcome *outcome) {
  *outcome = TP_FUSE_BLOCKED;
  tp__remark(g->gather, "is not done in slices with its matmuls: %s", why);
  return TP_OK;
}

tp_status tp__fuse_gather(tp__fuser *with, MlirOperation op, tp__fuse_outcome *outcome) {
  gathering g = {.with = with, .gather = op};
  bool is_candidate;
  char text[160];
  *outcome = TP_FUSE_NO_CANDIDATE;
  TP_TRY(read_gather(&g, &is_candidate));
  if (!is_candidate)
    return TP_OK;
  find_matmuls(&g, mlirOperationGetResult(op, 0), (MlirOperation){NULL});
  if (g.n == 0 && !g.obstacle)
    return TP_OK;
  g.rows.n = g.n;
  const tp_fused_price price = tp_cost_gathered_rows(&with->topology, &with->mesh, &g.rows);
  if (find_obstacle(&g, price.algorithm, text, sizeof text))
    return leave(&g, text, outcome);
  if (price.unmeasured && !with->always) {
    snprintf(text, sizeof text, "the time is not known for %s", price.unmeasured);
    return leave(&g, text, outcome);
  }
  bool fused = with->always || price.fused < price.separate;
  for (int i = 0; i < g.n && fused; i++)
    if (!tp__move_before(op, NULL, g.matmuls[i].b, 0))
      return leave(&g, "a matrix depends on the gathered rows", outcome);
  tp__remark(op,
             "%s in slices with %d matmul%s: %lld rows of %lld take %.1f us, separate ones %.1f us",
             fused ? "is done" : "is not done", g.n, g.n == 1 ? "" : "s", (long long)g.rows.tokens,
             (long long)g.rows.width, tp_cost_seconds(price.fused) * 1e6,
             tp_cost_seconds(price.separate) * 1e6);
  *outcome = fused ? TP_FUSE_DONE : TP_FUSE_SLOWER;
  if (fused)
    outline(&g);
  return TP_OK;
}
