/* Lowers collectives of the shard dialect to calls of tprt_abi_collective. */
#include "passes/support/lower.h"

#include "ir/collectives.h"
#include "ir/place.h"

#include "support/support.h"

#include <stdio.h>
#include <string.h>

/* Lowering of one op of the shard dialect: a site of `kind` (0: no site), followed by a slice of
 * this device's part if `slices` is set. */
typedef struct collective_row {
  const char *name;
  tprt_site_kind kind;
  bool reduces, rooted, slices;
  const char *dim, *split; /* attribute names */
} collective_row;

static const collective_row rows[] = {
    {.name = "shard.all_reduce", .kind = TPRT_SITE_ALL_REDUCE, .reduces = true},
    /* The result is undefined on devices other than the root, so all-reduce and all-gather are
     * valid refinements of reduce and gather. */
    {.name = "shard.reduce", .kind = TPRT_SITE_ALL_REDUCE, .reduces = true},
    {.name = "shard.all_gather", .kind = TPRT_SITE_ALL_GATHER, .dim = "gather_axis"},
    {.name = "shard.gather", .kind = TPRT_SITE_ALL_GATHER, .dim = "gather_axis"},
    {.name = "shard.reduce_scatter",
     .kind = TPRT_SITE_REDUCE_SCATTER,
     .reduces = true,
     .dim = "scatter_axis"},
    {.name = "shard.all_to_all",
     .kind = TPRT_SITE_ALL_TO_ALL,
     .dim = "concat_axis",
     .split = "split_axis"},
    {.name = "shard.broadcast", .kind = TPRT_SITE_BROADCAST, .rooted = true},
    {.name = "shard.scatter",
     .kind = TPRT_SITE_BROADCAST,
     .rooted = true,
     .slices = true,
     .dim = "scatter_axis"},
    {.name = "shard.all_slice", .slices = true, .dim = "slice_axis"},
};

typedef struct group {
  int n, axes[TP_MAX_AXES];
  int64_t size;
} group;

static tp_status read_group(tp__lowering *l, MlirOperation op, group *g) {
  tp__axis_runs runs;
  tp_status status = tp__read_axis_runs(op, "grid_axes", &l->mesh, &runs);
  g->n = status == TP_OK ? tp__axes_of_runs(&runs, g->axes) : 0;
  g->size = 1;
  for (int i = 0; i < g->n; i++)
    g->size *= l->mesh.axes[g->axes[i]].size;
  return status;
}

/* ---- slices ---- */

/* Extracts this device's part of `input` along `dim`. The index of the part is the rank of the
 * device in its group. */
static MlirValue emit_slice(tp__lowering *l, MlirOperation op, const group *g, MlirValue input,
                            int dim, MlirType result) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(result, &rank, shape);
  MlirValue offset = tp__build_group_rank(l, op, g->n, g->axes);
  offset = tp__binary(op, "arith.muli", offset, tp__index_constant(op, shape[dim]));
  return tp__extract_slice_at(op, input, dim, offset, shape);
}

/* ---- collectives ---- */

/* Writes to *root the rank of the op's root inside its group, as `device` sees it. The coordinates
 * of the root are constants or values that can be computed on each device at compile time; other
 * values are an error. */
static tp_status root_of(tp__lowering *l, MlirOperation op, const tp__axis_runs *runs,
                         int64_t device, int64_t *root) {
  *root = 0;
  for (int i = 0; i < runs->n; i++) {
    int64_t size = tp__run_size(&l->mesh, runs, i), coordinate;
    if (!tp__coordinate_on_device(op, "root", i, &l->mesh, device, &coordinate))
      return tp__error(op, TP_UNSUPPORTED,
                       "coordinate %d of the root is known only at run time; give a constant, or "
                       "compute it from constants by "
                       "integer arithmetic",
                       i);
    if (coordinate < 0 || coordinate >= size)
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "root coordinate %lld is outside its axis of size %lld",
                       (long long)coordinate, (long long)size);
    *root = *root * size + coordinate;
  }
  return TP_OK;
}

/* Reads the root of the op. It must be the same for all devices, because a site has one root for
 * all groups. */
static tp_status read_root(tp__lowering *l, MlirOperation op, int64_t *root) {
  tp__axis_runs runs;
  TP_TRY(tp__read_axis_runs(op, "grid_axes", &l->mesh, &runs));
  TP_TRY(root_of(l, op, &runs, 0, root));
  for (int64_t device = 1; device < tp_mesh_size(&l->mesh); device++) {
    int64_t other;
    TP_TRY(root_of(l, op, &runs, device, &other));
    if (other != *root)
      return tp__error(op, TP_UNSUPPORTED,
                       "devices 0 and %lld name different roots, %lld and %lld; the root has to "
                       "be the same in all groups",
                       (long long)device, (long long)*root, (long long)other);
  }
  return TP_OK;
}

static int64_t int_attr(MlirOperation op, const char *name) {
  return name ? mlirIntegerAttrGetValueInt(tp__inherent(op, name)) : 0;
}

static tp_status lower_row(tp__lowering *l, MlirOperation op, const collective_row *row) {
  group g;
  TP_TRY(read_group(l, op, &g));
  MlirValue value = mlirOperationGetOperand(op, 0);
  MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirTypeIsARankedTensor(result))
    return tp__error(
        op, TP_UNSUPPORTED,
        "operates on a memref; collectives are lowered on tensors, before bufferization");
  tprt_abi_site site;
  tp_status status = tp__site_begin(op, row->kind, g.n, g.axes, mlirValueGetType(value), &site);
  if (status == TP_OK && row->rooted)
    status = read_root(l, op, &site.root);
  if (status == TP_OK && row->reduces) {
    tp_combiner combiner;
    status = tp__collective_combiner(op, &combiner);
    if (status == TP_OK)
      site.reduction = tp__runtime_reduction(combiner, (tprt_dtype)site.dtype);
    if (status == TP_OK && site.reduction == TPRT_NO_REDUCTION)
      status =
          tp__error(op, TP_UNSUPPORTED, "reduction \"%s\" is not defined for this element type",
                    tp_combiner_name(combiner));
  }
  if (status != TP_OK)
    return status;
  if (g.size > 1) { /* in a group of one device every collective is the identity */
    bool only_slices = row->kind == 0;
    site.dim = row->slices ? 0 : int_attr(op, row->dim);
    site.split_dim = int_attr(op, row->split);
    if (!only_slices)
      value = tp__site_call(l, op, &site, 0, NULL, value,
                            row->slices ? mlirValueGetType(value) : result);
    if (row->slices)
      value = emit_slice(l, op, &g, value, (int)int_attr(op, row->dim), result);
  }
  tp__replace_op(op, value);
  return TP_OK;
}

tp_status tp__lower_collective(tp__lowering *l, MlirOperation op, bool *done) {
  *done = true;
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].name))
      return lower_row(l, op, rows + i);
  *done = false;
  return TP_OK;
}
