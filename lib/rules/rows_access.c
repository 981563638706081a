/* Gathers and scatters of whole rows: what they read and write. */
#include "rules/rows_inside.h"

#include "ir/scatter.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

static bool is_loop(MlirAffineMap map, int dim, int loop) {
  MlirAffineExpr expr = mlirAffineMapGetResult(map, dim);
  return mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == loop;
}

/* True if the map is (rows, 1, 2, ...), where `rows` is a loop. */
static bool reads_rows(MlirAffineMap map, int rows) {
  intptr_t n = mlirAffineMapGetNumResults(map);
  bool fits = n > 0 && is_loop(map, 0, rows);
  for (int d = 1; d < n && fits; d++)
    fits = is_loop(map, d, d);
  return fits;
}

/* True if the operand has one number for each iteration of loop `rows`: [n] or [n, 1]. */
static bool is_position_of(MlirOperation op, int operand, int rows) {
  MlirAffineMap map = tp__map_at(tp__inherent(op, "indexing_maps"), operand);
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, operand));
  intptr_t rank = mlirAffineMapGetNumResults(map);
  MlirType element = tp__number_type(type);
  return tp__is_tensor(type) && mlirTypeIsAInteger(element) &&
         mlirIntegerTypeGetWidth(element) >= 32 && (rank == 1 || rank == 2) &&
         is_loop(map, 0, rows) && (rank == 1 || mlirShapedTypeGetDimSize(type, 1) == 1);
}

static int body_argument(MlirOperation op, MlirValue value) {
  return mlirValueIsABlockArgument(value) &&
                 mlirBlockEqual(mlirBlockArgumentGetOwner(value), tp__region_block(op, 0))
             ? (int)mlirBlockArgumentGetArgNumber(value)
             : -1;
}

static bool is_constant(MlirValue value, int64_t wanted) {
  MlirOperation constant = tp__defined_by(value, "arith.constant");
  return !mlirOperationIsNull(constant) &&
         mlirIntegerAttrGetValueInt(tp__inherent(constant, "value")) == wanted;
}

/* Returns the block argument that a position is, as an index, and limited to [0, n) or not limited;
 * -1: it is another value. n < 0: any limits, which were checked before. */
static int position_argument(MlirOperation op, MlirValue position, int64_t n) {
  static const char *const limits[] = {"arith.minsi", "arith.maxsi"};
  for (int i = 0; i < TP_LEN(limits); i++) {
    MlirOperation limit = tp__defined_by(position, limits[i]);
    if (mlirOperationIsNull(limit))
      continue;
    if (n >= 0 && !is_constant(mlirOperationGetOperand(limit, 1), i == 0 ? n - 1 : 0))
      return -1;
    position = mlirOperationGetOperand(limit, 0);
  }
  MlirOperation cast = tp__defined_by(position, "arith.index_cast");
  return mlirOperationIsNull(cast) ? -1 : body_argument(op, mlirOperationGetOperand(cast, 0));
}

static bool is_index(MlirValue value, int loop) {
  MlirOperation index = tp__defined_by(value, "linalg.index");
  return !mlirOperationIsNull(index) && tp__dim_of(index) == loop;
}

static bool gather_of(MlirOperation op, int n_loops, bool is_local, tp_row_access *access) {
  MlirOperation yield = mlirBlockGetTerminator(tp__region_block(op, 0));
  MlirOperation read = tp__defined_by(mlirOperationGetOperand(yield, 0), "tensor.extract");
  if (mlirOperationIsNull(read))
    return false;
  access->table = mlirOperationGetOperand(read, 0);
  if (!tp__is_captured(op, access->table) || tp__value_rank(access->table) != n_loops)
    return false;
  access->index = position_argument(op, mlirOperationGetOperand(read, 1),
                                    is_local ? -1 : tp__value_size(access->table, 0));
  bool fits = access->index >= 0 && is_position_of(op, access->index, 0);
  for (int d = 1; d < n_loops && fits; d++)
    fits = is_index(mlirOperationGetOperand(read, 1 + d), d) &&
           (is_local ||
            tp__value_size(access->table, d) == tp__value_size(mlirOperationGetResult(op, 0), d));
  return fits;
}

/* The input whose element replaces `old`, or is added to it; -1: neither. */
static int update_of(MlirOperation op, MlirValue value, int old, bool *adds) {
  int direct = body_argument(op, value);
  *adds = false;
  if (direct >= 0)
    return direct;
  static const char *const sums[] = {"arith.addf", "arith.addi"};
  for (int i = 0; i < TP_LEN(sums); i++) {
    MlirOperation sum = tp__defined_by(value, sums[i]);
    if (mlirOperationIsNull(sum) || body_argument(op, mlirOperationGetOperand(sum, 0)) != old)
      continue;
    *adds = true;
    return body_argument(op, mlirOperationGetOperand(sum, 1));
  }
  return -1;
}

static bool scatter_of(MlirOperation op, MlirAttribute maps, int n_inputs, tp_row_access *access) {
  tp_scatter s;
  if (!tp__scatter_match(op, &s) || s.n_targets != 1 || s.targets[0].loop != 0 ||
      !mlirValueIsNull(s.targets[0].offset) ||
      !mlirValueEqual(s.condition, mlirOperationGetResult(s.targets[0].compare, 0)))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(s.body);
  MlirOperation select = tp__defined_by(mlirOperationGetOperand(yield, 0), "arith.select");
  MlirOperation cast = tp__defined_by(s.targets[0].position, "arith.index_cast");
  if (mlirOperationIsNull(cast) || mlirOperationIsNull(select))
    return false;
  access->scatters = true;
  access->index = body_argument(op, mlirOperationGetOperand(cast, 0));
  access->updates = update_of(op, mlirOperationGetOperand(select, 1), n_inputs, &access->adds);
  int rows = s.n_loops - 1; /* the loop over the updates, which results do not have */
  return access->index >= 0 && access->index < n_inputs && access->updates >= 0 &&
         access->updates < n_inputs && access->updates != access->index &&
         body_argument(op, mlirOperationGetOperand(select, 2)) == n_inputs &&
         is_position_of(op, access->index, rows) &&
         reads_rows(tp__map_at(maps, access->updates), rows) &&
         reads_rows(tp__map_at(maps, n_inputs), 0) &&
         mlirAffineMapGetNumResults(tp__map_at(maps, n_inputs)) == rows &&
         mlirAffineMapGetNumResults(tp__map_at(maps, access->updates)) == rows;
}

bool tp__rows_access(MlirOperation op, bool is_local, tp_row_access *access) {
  *access = (tp_row_access){.index = -1, .updates = -1};
  int64_t segments[2];
  if (!tp__op_is(op, "linalg.generic") ||
      tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) != 2 || segments[1] != 1 ||
      !tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, segments[0]))))
    return false;
  MlirAttribute maps = tp__inherent(op, "indexing_maps");
  MlirAffineMap map = tp__map_at(maps, segments[0]);
  int n_loops = (int)mlirAffineMapGetNumDims(map);
  if (mlirAffineMapIsIdentity(map))
    return gather_of(op, n_loops, is_local, access);
  return scatter_of(op, maps, (int)segments[0], access);
}

bool tp__row_access_of(MlirOperation op, tp_row_access *access) {
  return tp__rows_access(op, false, access);
}
