/* Finds the ops computed from rows, which row expressions can follow. */
#include "passes/fuse/rows/row_places.h"

bool tp__row_is_followed(const tp__rows *rows, MlirOperation op) {
  for (int i = 0; i < rows->n_ops; i++)
    if (mlirOperationEqual(rows->ops[i], op))
      return true;
  return false;
}

/* Accepts only ops that compute numbers. Other ops, such as assertions, must stay. */
static tp_status is_pure(MlirOperation op, void *data) {
  (void)data;
  return tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math") ||
                 tp__op_has_dialect(op, "linalg")
             ? TP_OK
             : TP_UNSUPPORTED;
}

/* True if the op can be followed. An op with more loops than the frame is a contraction; a grouped
 * view adds one loop. */
static bool is_understood(const tp__rows *rows, MlirOperation op, bool sees_groups) {
  MlirAttribute maps;
  int64_t sizes[TP_MAX_RANK];
  int dims[TP_MAX_RANK];
  if (tp__row_maps(op, &maps)) {
    int n_loops = 0, n_dims = sees_groups;
    if (!tp__row_loop_sizes(rows, op, maps, sizes) || tp__walk(op, is_pure, NULL) != TP_OK)
      return false;
    for (intptr_t i = 0; i < mlirAffineMapGetNumDims(tp__map_at(maps, 0)); i++)
      n_loops += sizes[i] != 1;
    for (int d = 0; d < rows->rank; d++)
      n_dims += rows->shape[d] != 1;
    if (n_loops > n_dims)
      return false;
  } else if (!tp__is_reshape(op) && !tp__row_is_elementwise(op)) {
    return false;
  }
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++)
    if (tp__row_form_of(rows, mlirOperationGetResult(op, k), dims) == TP_ROW_OTHER)
      return false;
  return true;
}

/* True if the op views rows in the frame's groups. The first group size found becomes that of the
 * frame, but TP_ROW_KERNEL_GROUP, which the kernels support, replaces any other. */
static bool sees_groups(tp__rows *rows, MlirOperation op) {
  int64_t group = rows->has_groups ? tp__row_group_of(rows, op) : 0;
  if (group && (!rows->group || group == TP_ROW_KERNEL_GROUP))
    rows->group = group;
  return group && group == rows->group;
}

static void follow_users(tp__rows *rows, MlirBlock block, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (rows->n_ops < TP_ROW_OPS && mlirBlockEqual(mlirOperationGetBlock(user), block) &&
        !tp__row_is_followed(rows, user) && is_understood(rows, user, sees_groups(rows, user)))
      rows->ops[rows->n_ops++] = user;
  }
}

void tp__rows_follow(tp__rows *rows, MlirValue value) {
  MlirBlock block = tp__block_of(value);
  int first = rows->n_ops;
  rows->n_known = 0;
  follow_users(rows, block, value);
  for (int i = first; i < rows->n_ops; i++)
    for (intptr_t k = 0; k < mlirOperationGetNumResults(rows->ops[i]); k++)
      follow_users(rows, block, mlirOperationGetResult(rows->ops[i], k));
  for (int i = 1; i < rows->n_ops; i++) {
    MlirOperation op = rows->ops[i];
    int at = i;
    for (; at > 0 && mlirOperationIsBeforeInBlock(op, rows->ops[at - 1]); at--)
      rows->ops[at] = rows->ops[at - 1];
    rows->ops[at] = op;
  }
}

MlirValue tp__rows_root(MlirOperation op) {
  MlirValue root = mlirOperationGetResult(op, 0);
  for (;;) {
    MlirOperation user = tp__is_used_once(root) ? mlirOpOperandGetOwner(mlirValueGetFirstUse(root))
                                                : (MlirOperation){NULL};
    int rank, next_rank;
    int64_t shape[TP_MAX_RANK], next_shape[TP_MAX_RANK];
    if (mlirOperationIsNull(user) || !tp__is_reshape(user) ||
        !mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(op)) ||
        !tp__static_tensor(mlirValueGetType(root), &rank, shape) ||
        !tp__static_tensor(mlirValueGetType(mlirOperationGetResult(user, 0)), &next_rank,
                           next_shape) ||
        next_rank == 0 || next_shape[next_rank - 1] != shape[rank - 1])
      return root;
    root = mlirOperationGetResult(user, 0);
  }
}

static void begin(tp__rows *rows, MlirValue root, bool has_groups) {
  rows->n = rows->n_ops = rows->depth = 0;
  rows->has_groups = has_groups;
  rows->group = 0;
  rows->root = root;
  tp__static_tensor(mlirValueGetType(root), &rows->rank, rows->shape);
  tp__rows_follow(rows, root);
}

void tp__rows_begin(tp__rows *rows, MlirValue root) { begin(rows, root, false); }

void tp__rows_begin_groups(tp__rows *rows, MlirValue root) { begin(rows, root, true); }
