/* tp-stage-collectives: splits collectives over several axes into stages if the cost model predicts
 * a lower time.
 *
 * The axes that a stage gathers, scatters or exchanges get dimensions of their own, in the order of
 * the group: [n0 * n1 * s] is viewed as [n0][n1][s]. Stages may then run in any order, and only
 * they move data; the reshapes are views. An all-reduce scatters along a dimension that the number
 * of pieces divides, or along all elements flattened to one dimension. */
#include "passes/registry.h"

#include "ir/annotation.h"
#include "ir/place.h"
#include "support/support.h"

#include "tp/cost.h"

#include <stdio.h>
#include <string.h>

enum { STAT_STAGED };

typedef struct stager {
  tp_pass *pass;
  tp_mesh mesh;
  tp_topology topology;
  tp_op_list ops;
} stager;

typedef struct collective_row {
  const char *name;
  tp_collective kind;
  bool reduces;
  /* attribute names: dimension along which pieces are joined or cut; dimension that an all-to-all
   * cuts */
  const char *dim, *split;
} collective_row;

static const collective_row rows[] = {
    {"shard.all_gather", TP_ALL_GATHER, false, "gather_axis", NULL},
    {"shard.reduce_scatter", TP_REDUCE_SCATTER, true, "scatter_axis", NULL},
    {"shard.all_reduce", TP_ALL_REDUCE, true, NULL, NULL},
    {"shard.all_to_all", TP_ALL_TO_ALL, false, "concat_axis", "split_axis"},
};

static const char *name_of(tp_collective kind) {
  for (int i = 0; i < TP_LEN(rows); i++)
    if (rows[i].kind == kind)
      return rows[i].name;
  return NULL;
}

/* ---- shapes ---- */

typedef struct shape {
  int rank;
  int64_t sizes[TP_MAX_RANK];
} shape;

static shape shape_of(MlirValue value) {
  shape s;
  tp__static_tensor(mlirValueGetType(value), &s.rank, s.sizes);
  return s;
}

static MlirValue reshape(MlirOperation where, MlirValue value, const shape *to, int n_groups,
                         const int *n_parts) {
  return tp__regroup(where, mlirOperationGetLocation(where), value, to->rank, to->sizes, n_groups,
                     n_parts);
}

/* ---- stages ---- */

/* Builds one stage on `value`. It joins or cuts dimension `dim`; an all-to-all cuts dimension
 * `split`. */
static MlirValue build_stage(const stager *s, MlirOperation op, const tp_stage *stage,
                             MlirValue value, int dim, int split) {
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute grid, grid_axes, reduction = tp__inherent(op, "reduction"),
                                 combiner = tp__get(op, "tp.combiner");
  shape to = shape_of(value);
  int64_t n_devices = 1;
  const collective_row *row = NULL;
  MlirNamedAttribute attrs[6];
  int n = 0;
  for (int i = 0; i < TP_LEN(rows); i++)
    row = rows[i].kind == stage->kind ? &rows[i] : row;
  for (int i = 0; i < stage->n_axes; i++)
    n_devices *= s->mesh.axes[stage->axes[i]].size;
  tp__grid_axes(context, &s->mesh, stage->n_axes, stage->axes, &grid, &grid_axes);
  attrs[n++] = tp__named(context, "grid", grid);
  attrs[n++] = tp__named(context, "grid_axes", grid_axes);
  if (row->dim)
    attrs[n++] = tp__named(context, row->dim, tp__attr_index(context, dim));
  if (row->split)
    attrs[n++] = tp__named(context, row->split, tp__attr_index(context, split));
  if (row->reduces && !mlirAttributeIsNull(reduction))
    attrs[n++] = tp__named(context, "reduction", reduction);
  if (row->reduces && !mlirAttributeIsNull(combiner))
    attrs[n++] = tp__named(context, "tp.combiner", combiner);
  if (stage->kind == TP_ALL_GATHER || stage->kind == TP_ALL_TO_ALL)
    to.sizes[dim] *= n_devices;
  if (stage->kind == TP_REDUCE_SCATTER || stage->kind == TP_ALL_TO_ALL)
    to.sizes[stage->kind == TP_ALL_TO_ALL ? split : dim] /= n_devices;
  MlirType type = tp__tensor_like(mlirValueGetType(value), to.rank, to.sizes);
  MlirOperation made = tp__create(&(tp_build){.name = name_of(stage->kind),
                                              .location = mlirOperationGetLocation(op),
                                              .n_operands = 1,
                                              .operands = &value,
                                              .n_results = 1,
                                              .results = &type,
                                              .n_attributes = n,
                                              .attributes = attrs});
  tp__insert_before(op, made);
  return mlirOperationGetResult(made, 0);
}

/* Builds the stages of an all-reduce along one dimension: reduce-scatter, all-reduce (if the form
 * has one), all-gather. If no dimension is divisible, it works on all elements flattened to one
 * dimension. */
static MlirValue stage_all_reduce(const stager *s, MlirOperation op, const tp_form *form) {
  MlirValue value = mlirOperationGetOperand(op, 0);
  shape whole = shape_of(value), line = {.rank = 1, .sizes = {1}};
  int64_t n = 1;
  int dim = 0;
  for (int i = 0; i < form->stages[0].n_axes; i++)
    n *= s->mesh.axes[form->stages[0].axes[i]].size;
  for (int d = 0; d < whole.rank; d++)
    line.sizes[0] *= whole.sizes[d];
  while (dim < whole.rank && whole.sizes[dim] % n != 0)
    dim++;
  bool as_line = dim == whole.rank;
  if (as_line) {
    value = reshape(op, value, &line, 1, &whole.rank);
    dim = 0;
  }
  for (int i = 0; i < form->n_stages; i++)
    value = build_stage(s, op, &form->stages[i], value, dim, 0);
  return as_line ? reshape(op, value, &whole, 1, &whole.rank) : value;
}

/* Builds the two stages of any other collective, each along a dimension of its own. `axes` are the
 * axes of the group, major to minor. */
static MlirValue stage_pair(const stager *s, MlirOperation op, const tp_form *form,
                            const int axes[2], int dim, int split) {
  MlirValue value = mlirOperationGetOperand(op, 0);
  shape before = shape_of(value), after = shape_of(mlirOperationGetResult(op, 0)), apart = {0};
  int n_parts[TP_MAX_RANK], first[TP_MAX_RANK];
  for (int d = 0; d < before.rank; d++) {
    bool cut = form->stages[0].kind == TP_REDUCE_SCATTER ? d == dim : d == split;
    n_parts[d] = d == dim || d == split ? 3 : 1;
    first[d] = apart.rank;
    for (int i = 0; i < n_parts[d] - 1; i++)
      apart.sizes[apart.rank++] = cut ? s->mesh.axes[axes[i]].size : 1;
    apart.sizes[apart.rank++] =
        cut && n_parts[d] == 3
            ? before.sizes[d] / (s->mesh.axes[axes[0]].size * s->mesh.axes[axes[1]].size)
            : before.sizes[d];
  }
  value = reshape(op, value, &apart, before.rank, n_parts);
  for (int i = 0; i < form->n_stages; i++) {
    int place = form->stages[i].axes[0] == axes[0] ? 0 : 1;
    value = build_stage(s, op, &form->stages[i], value, first[dim] + place,
                        split < 0 ? 0 : first[split] + place);
  }
  return reshape(op, value, &after, before.rank, n_parts);
}

/* ---- ops ---- */

/* True if the reduction may be staged. An integer average of averages would be rounded twice, and
 * the properties of a generic reduction are unknown. */
static bool may_be_cut(MlirOperation op) {
  char text[16] = "";
  MlirAttribute combiner = tp__get(op, "tp.combiner"), reduction = tp__inherent(op, "reduction");
  MlirContext context = mlirOperationGetContext(op);
  if (!mlirAttributeIsNull(combiner))
    return mlirAttributeIsAString(combiner) &&
           tp__ref_copy(mlirStringAttrGetValue(combiner), text, sizeof text) &&
           strcmp(text, tp_combiner_name(TP_AVERAGE)) != 0;
  return mlirAttributeIsNull(reduction) ||
         (!mlirAttributeEqual(reduction, tp__parse_attr(context, "#shard<partial average>")) &&
          !mlirAttributeEqual(reduction, tp__parse_attr(context, "#shard<partial generic>")));
}

static tp_status read_axes(const stager *s, MlirOperation op, int *n, int axes[TP_MAX_AXES]) {
  tp__axis_runs runs;
  int all[TP_MAX_AXES];
  tp_status status = tp__read_axis_runs(op, "grid_axes", &s->mesh, &runs);
  int n_all = status == TP_OK ? tp__axes_of_runs(&runs, all) : 0;
  *n = 0;
  for (int i = 0; i < n_all; i++)
    if (s->mesh.axes[all[i]].size > 1)
      axes[(*n)++] = all[i];
  return status;
}

static int dim_attr(MlirOperation op, const char *name) {
  return name ? (int)mlirIntegerAttrGetValueInt(tp__inherent(op, name)) : -1;
}

static tp_status stage(stager *s, MlirOperation op) {
  const collective_row *row = tp__op_row(op, rows, TP_LEN(rows), sizeof *rows);
  MlirValue operand = mlirOperationGetOperand(op, 0), staged;
  int n, axes[TP_MAX_AXES], rank;
  int64_t sizes[TP_MAX_RANK], elements = 1;
  tp_status status = read_axes(s, op, &n, axes);
  if (!mlirAttributeIsNull(tp__get(op, "tp.ring"))) /* a later pass turns it into permutes */
    return status;
  if (status != TP_OK || n == 0 || (row->reduces && !may_be_cut(op)) ||
      !tp__static_tensor(
          mlirValueGetType(row->kind == TP_ALL_GATHER ? mlirOperationGetResult(op, 0) : operand),
          &rank, sizes))
    return status;
  for (int d = 0; d < rank; d++)
    elements *= sizes[d];
  tp_form form = tp_cost_form(&s->topology, &s->mesh, row->kind, n, axes, elements,
                              tp__element_size(tp__element_type(mlirValueGetType(operand))));
  int dim = dim_attr(op, row->dim), split = dim_attr(op, row->split);
  /* number of dimensions that staging adds */
  int more = row->kind == TP_ALL_REDUCE ? 0 : split >= 0 && split != dim ? 4 : 2;
  if (form.n_stages < 2 || rank + more > TP_MAX_RANK)
    return TP_OK;
  staged = row->kind == TP_ALL_REDUCE ? stage_all_reduce(s, op, &form)
                                      : stage_pair(s, op, &form, axes, dim, split);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), staged);
  mlirOperationDestroy(op);
  s->pass->statistics[STAT_STAGED]++;
  return TP_OK;
}

static tp_status collect(MlirOperation op, void *data) {
  stager *s = data;
  return tp__op_row(op, rows, TP_LEN(rows), sizeof *rows) ? tp__op_list_add(&s->ops, op) : TP_OK;
}

typedef struct settings {
  const char *topology;
  tp_objective objective;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  stager s = {.pass = pass};
  if (!tp__is_local(pass->module))
    return tp__error(
        pass->module, TP_INVALID_ARGUMENT,
        "the module is not partitioned (no tp.phase = \"local\"); run tp-partition first");
  tp_status status = tp__module_mesh(pass->module, NULL, &s.mesh);
  if (status != TP_OK || s.mesh.n_axes == 0)
    return status;
  status = tp__load_prices(pass->module, given->topology, given->objective, TP_BYTE_FLOPS, &s.mesh,
                           &s.topology);
  if (status == TP_OK)
    status = tp__walk(pass->module, collect, &s);
  for (size_t i = 0; i < s.ops.n && status == TP_OK; i++)
    status = stage(&s, s.ops.items[i]);
  tp__free(s.ops.items);
  return status;
}

static const tp_option_row options[] = {
    {"topology", "cpu", "cost model, see tp-propagate", TP_TEXT(settings, topology, "NAME|FILE")},
    {"objective", "time", "that of the plan, see tp-propagate",
     TP_CHOICE(settings, objective, "time|bytes")},
};

static const tp_statistic_row statistics[] = {
    [STAT_STAGED] = {"staged", "collectives split into stages"}};

const tp_pass_row tp__stage_collectives_row = {
    .name = "tp-stage-collectives",
    .summary =
        "Split collectives over several axes into stages where that costs less by the cost model",
    .description =
        "Requires: tp.phase = \"local\", as tp-partition leaves it. Establishes: an all_reduce "
        "over several axes may be a reduce_scatter, an all_reduce of the pieces and an all_gather; "
        "an all_gather, reduce_scatter or all_to_all over two axes may run axis by axis. These are "
        "the forms that tp-propagate has priced. Averages stay as they are. Breaks: nothing; float "
        "sums are rounded in another order.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
