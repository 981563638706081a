/* Matches matmuls whose rows are summed over devices. cuBLASLt computes them in slices and stores
 * each slice on the device that reduces it. */
#include "passes/fuse/fuse.h"

#include "ir/diagnostics.h"
#include "ir/work.h"
#include "passes/support/contraction.h"
#include "rules/body.h"

enum { ROW_BYTES = 16 }; /* alignment of slices: tprt/cuda_gemm.h */

/* ---- matching the matmul ---- */

/* Returns the producer of the rows, through reshapes that keep rows intact; null if there is none.
 * Sets *is_read_elsewhere if any of these values has other readers. */
static MlirOperation maker_of(MlirValue rows, bool *is_read_elsewhere) {
  int64_t hidden = mlirShapedTypeGetDimSize(mlirValueGetType(rows),
                                            mlirShapedTypeGetRank(mlirValueGetType(rows)) - 1);
  *is_read_elsewhere = false;
  for (;;) {
    MlirOperation op = tp__defining_op(rows);
    *is_read_elsewhere = *is_read_elsewhere || !tp__is_used_once(rows);
    if (mlirOperationIsNull(op) || !tp__is_reshape(op))
      return op;
    MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
    int64_t rank = mlirShapedTypeGetRank(from);
    if (rank == 0 || mlirShapedTypeGetDimSize(from, rank - 1) != hidden)
      return (MlirOperation){NULL};
    rows = mlirOperationGetOperand(op, 0);
  }
}

static bool has_type(MlirValue value, MlirType element) {
  return mlirTypeEqual(tp__element_type(mlirValueGetType(value)), element);
}

static bool is_empty(MlirOperation op) {
  tp__contraction c;
  bool empty = !tp__match_contraction(op, &c);
  for (int i = 0; i < c.n_loops && !empty; i++)
    empty = c.sizes[i] == 0;
  return empty;
}

void tp__read_matmul(MlirOperation op, int64_t slice_rows, tp__matmul *matmul) {
  MlirType element = tp__element_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  tp__factors factors = {.k = 0};
  *matmul = (tp__matmul){.op = op};
  if (!tp__is_zero_tensor(mlirOperationGetOperand(op, 2)))
    matmul->obstacle = "its init is not zero";
  else if (!has_type(mlirOperationGetOperand(op, 0), element) ||
           !has_type(mlirOperationGetOperand(op, 1), element))
    matmul->obstacle = "its operands have another type than its rows";
  else if (!tp__match_rows_by_matrix(op, 1, &factors))
    matmul->obstacle = "it is not a matmul of untransposed rows by a matrix";
  else if (is_empty(op))
    matmul->obstacle = "it has no elements, or its contracted dimension has size 0";
  else if (slice_rows * factors.k * tp__element_size(element) % ROW_BYTES != 0)
    matmul->obstacle = "slices of its left operand would not be aligned to 16 bytes";
  matmul->a = factors.a;
  matmul->b = factors.b;
  matmul->k = factors.k;
  matmul->transpose_b = factors.transpose_b;
}

static void find_matmul(tp__fusion *f, int64_t slice_rows) {
  bool is_read_elsewhere;
  MlirOperation op = maker_of(mlirOperationGetOperand(f->collective, 0), &is_read_elsewhere);
  tp__contraction c;
  f->matmul = (tp__matmul){.op = {NULL}};
  if (mlirOperationIsNull(op) || mlirOperationGetNumResults(op) != 1 ||
      !tp__match_contraction(op, &c))
    return;
  tp__read_matmul(op, slice_rows, &f->matmul);
  if (is_read_elsewhere)
    f->matmul.obstacle = "its result has other users";
}

/* ---- decision ---- */

/* Returns the number of rows that one device reduces, out of each block that the reduce-scatter
 * cuts, or out of all rows. */
static int64_t slice_rows(const tp__fusion *f, const tp_fused_rows *rows) {
  int64_t n = tp__fusion_devices(f),
          block = f->dim < 0 ? rows->tokens
                             : rows->tokens /
                                   tp__n_pieces(mlirOperationGetOperand(f->collective, 0), f->dim);
  return (block + n - 1) / n;
}

void tp__add_matmul(tp__fusion *f, const tp_topology *topology, bool always, tp_fused_rows *rows) {
  tp__matmul *matmul = &f->matmul;
  if (f->price.algorithm != TP_FUSED_SLICES)
    return;
  find_matmul(f, slice_rows(f, rows));
  if (mlirOperationIsNull(matmul->op))
    return;
  if (matmul->obstacle) {
    tp__remark(f->collective, "its matmul is not computed in slices: %s", matmul->obstacle);
    return;
  }
  tp_fused_rows with = *rows;
  MlirType element = tp__element_type(mlirValueGetType(matmul->a));
  with.k = matmul->k;
  with.peak = tp__peak_of(element, element);
  const tp_fused_price price = tp_cost_fused_rows(topology, f->mesh, &with);
  matmul->is_fused = always || (price.fused < price.separate && !price.unmeasured);
  if (matmul->is_fused) {
    f->price = price;
    *rows = with;
  } else if (price.unmeasured) {
    tp__remark(f->collective,
               "its matmul is not computed in slices, whose time is not known for %s",
               price.unmeasured);
  } else {
    tp__remark(f->collective,
               "its matmul is not computed in slices: in slices, with its rows, it takes %.1f us, "
               "and %.1f us as one",
               tp_cost_seconds(price.fused) * 1e6, tp_cost_seconds(price.separate) * 1e6);
  }
}

void tp__erase_matmul(const tp__fusion *f, MlirValue rows) {
  for (MlirOperation op = tp__defining_op(rows); !mlirOperationIsNull(op);
       op = tp__defining_op(rows)) {
    bool is_last = mlirOperationEqual(op, f->matmul.op);
    rows = mlirOperationGetOperand(op, 0);
    mlirOperationDestroy(op);
    if (is_last)
      return;
  }
}
