/* Questions about the place of this device in the mesh -> arithmetic on tprt_abi_device. */
#include "passes/lower.h"

/* The grid axes an op names, as runs of axes of the refined mesh: run i is [first[i], first[i] + count[i]). */
typedef struct axis_runs {
  int n, first[TP_MAX_AXES], count[TP_MAX_AXES];
} axis_runs;

static tp_status read_runs(tp__lowering *l, MlirOperation op, const char *attr, axis_runs *runs) {
  bool refined = !tp__ref_is(mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "grid")), l->mesh.name);
  int n_grid = refined ? l->mesh.n_axes : l->mesh.n_parents;
  int64_t list[TP_MAX_AXES];
  int n = tp__int_list(tp__inherent(op, attr), TP_MAX_AXES, list);
  if (n <= 0) { /* none named: all */
    n = n_grid;
    for (int i = 0; i < n; i++)
      list[i] = i;
  }
  runs->n = n;
  for (int i = 0; i < n; i++) {
    if (list[i] < 0 || list[i] >= n_grid)
      return tp__error(op, TP_INVALID_ARGUMENT, "grid axis %lld is out of range", (long long)list[i]);
    runs->first[i] = refined ? (int)list[i] : -1;
    runs->count[i] = refined ? 1 : 0;
    for (int a = 0; a < l->mesh.n_axes && !refined; a++)
      if (l->mesh.axes[a].parent == list[i]) {
        runs->first[i] = runs->first[i] < 0 ? a : runs->first[i];
        runs->count[i]++;
      }
  }
  return TP_OK;
}

static MlirValue coordinate(tp__lowering *l, MlirOperation op, const axis_runs *runs, int i) {
  int axes[TP_MAX_AXES];
  for (int k = 0; k < runs->count[i]; k++)
    axes[k] = runs->first[i] + k;
  return tp__build_group_rank(l, op, runs->count[i], axes);
}

static tp_status lower_multi_index(tp__lowering *l, MlirOperation op) {
  axis_runs runs;
  tp_status status = read_runs(l, op, "axes", &runs);
  if (status != TP_OK)
    return status;
  for (int i = 0; i < runs.n; i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), coordinate(l, op, &runs, i));
  mlirOperationDestroy(op);
  return TP_OK;
}

static tp_status lower_linear_index(tp__lowering *l, MlirOperation op) {
  tp__replace_op(op, tp__build_device(l, op));
  return TP_OK;
}

static tp_status lower_grid_shape(tp__lowering *l, MlirOperation op) {
  axis_runs runs;
  tp_status status = read_runs(l, op, "axes", &runs);
  if (status != TP_OK)
    return status;
  for (int i = 0; i < runs.n; i++) {
    int64_t size = 1;
    for (int k = 0; k < runs.count[i]; k++)
      size *= l->mesh.axes[runs.first[i] + k].size;
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), tp__index_constant(op, size));
  }
  mlirOperationDestroy(op);
  return TP_OK;
}

tp_status tp__lower_index(tp__lowering *l, MlirOperation op, bool *done) {
  static const struct {
    const char *name;
    tp_status (*lower)(tp__lowering *l, MlirOperation op);
  } table[] = {
      {"shard.process_multi_index", lower_multi_index},
      {"shard.process_linear_index", lower_linear_index},
      {"shard.grid_shape", lower_grid_shape},
  };
  for (int i = 0; i < TP_LEN(table); i++)
    if (tp__op_is(op, table[i].name)) {
      *done = true;
      return table[i].lower(l, op);
    }
  *done = false;
  return TP_OK;
}
