/* Lowers queries for the position of this device in the mesh to arithmetic on tprt_abi_device. */
#include "passes/support/lower.h"

#include "ir/place.h"

/* Reads the axes that the op names. An op that names none means all axes. */
static tp_status read_runs(const tp__lowering *l, MlirOperation op, tp__axis_runs *runs) {
  TP_TRY(tp__read_axis_runs(op, "axes", &l->mesh, runs));
  return runs->n == 0 ? tp__all_axis_runs(op, &l->mesh, runs) : TP_OK;
}

static tp_status lower_multi_index(tp__lowering *l, MlirOperation op) {
  tp__axis_runs runs;
  TP_TRY(read_runs(l, op, &runs));
  for (int i = 0; i < runs.n; i++) {
    int axes[TP_MAX_AXES];
    for (int k = 0; k < runs.count[i]; k++)
      axes[k] = runs.first[i] + k;
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i),
                                  tp__build_group_rank(l, op, runs.count[i], axes));
  }
  mlirOperationDestroy(op);
  return TP_OK;
}

static tp_status lower_linear_index(tp__lowering *l, MlirOperation op) {
  tp__replace_op(op, tp__build_device(l, op));
  return TP_OK;
}

static tp_status lower_grid_shape(tp__lowering *l, MlirOperation op) {
  tp__axis_runs runs;
  TP_TRY(read_runs(l, op, &runs));
  for (int i = 0; i < runs.n; i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i),
                                  tp__index_constant(op, tp__run_size(&l->mesh, &runs, i)));
  mlirOperationDestroy(op);
  return TP_OK;
}

/* Computes the number of the device from its coordinates. The coordinates are the operands of the
 * op, one per axis of the grid. */
static MlirValue linear_index(tp__lowering *l, MlirOperation op, const tp__axis_runs *all) {
  MlirValue number = tp__index_constant(op, 0);
  for (int i = 0; i < all->n; i++) {
    MlirValue scaled = tp__binary(op, "arith.muli", number,
                                  tp__index_constant(op, tp__run_size(&l->mesh, all, i)));
    number = tp__binary(op, "arith.addi", scaled, mlirOperationGetOperand(op, i));
  }
  return number;
}

/* Lowers shard.neighbors_linear_indices. A neighbor has the number of this device plus or minus the
 * stride of the axis; beyond the border it is -1. */
static tp_status lower_neighbors(tp__lowering *l, MlirOperation op) {
  tp__axis_runs all, split;
  TP_TRY(tp__all_axis_runs(op, &l->mesh, &all));
  TP_TRY(tp__read_axis_runs(op, "split_axes", &l->mesh, &split));
  if (split.n != 1 || mlirOperationGetNumOperands(op) != all.n)
    return tp__error(op, TP_UNSUPPORTED,
                     "has %d split_axes and %d coordinates; expected one axis, and one coordinate "
                     "for each of the %d axes of the grid",
                     split.n, (int)mlirOperationGetNumOperands(op), all.n);
  int axis = 0;
  while (all.first[axis] != split.first[0])
    axis++;
  int64_t size = tp__run_size(&l->mesh, &split, 0);
  MlirValue stride = tp__index_constant(op, tp__run_move(&l->mesh, &split, 0, 0, 1));
  MlirValue at = mlirOperationGetOperand(op, axis), number = linear_index(l, op, &all);
  MlirValue nobody = tp__index_constant(op, -1);
  MlirValue first = tp__compare(op, TP_SLE, at, tp__index_constant(op, 0));
  MlirValue last = tp__compare(op, TP_SGE, at, tp__index_constant(op, size - 1));
  MlirValue down = tp__select(op, first, nobody, tp__binary(op, "arith.subi", number, stride));
  MlirValue up = tp__select(op, last, nobody, tp__binary(op, "arith.addi", number, stride));
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), down);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 1), up);
  mlirOperationDestroy(op);
  return TP_OK;
}

typedef struct index_row {
  const char *name;
  tp_status (*lower)(tp__lowering *l, MlirOperation op);
} index_row;

static const index_row *row_of(MlirOperation op) {
  static const index_row rows[] = {
      {"shard.process_multi_index", lower_multi_index},
      {"shard.process_linear_index", lower_linear_index},
      {"shard.neighbors_linear_indices", lower_neighbors},
      {"shard.grid_shape", lower_grid_shape},
  };
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].name))
      return &rows[i];
  return NULL;
}

bool tp__is_index(MlirOperation op) { return row_of(op) != NULL; }

tp_status tp__lower_index(tp__lowering *l, MlirOperation op) { return row_of(op)->lower(l, op); }
